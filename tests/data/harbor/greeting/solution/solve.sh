echo hello >hello.txt
