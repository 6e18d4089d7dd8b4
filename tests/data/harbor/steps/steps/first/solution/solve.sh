echo 1 >count.txt
