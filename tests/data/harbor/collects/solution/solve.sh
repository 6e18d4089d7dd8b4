printf 'b\na\n' >words.txt
