echo 1 >a.txt
printf '1\n2\n' >b.txt
