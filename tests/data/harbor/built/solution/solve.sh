paste -sd+ /data/numbers.txt | python3 -c 'print(eval(input()))' >$TOTAL_FILE
