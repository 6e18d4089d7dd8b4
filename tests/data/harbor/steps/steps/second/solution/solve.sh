echo $(($(cat count.txt) + 1)) >count.txt
