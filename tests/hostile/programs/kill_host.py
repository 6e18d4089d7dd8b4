# Sends a signal to every process number.
import os

for number in range(2, 70_000):
    if number not in (os.getpid(), os.getppid()):
        try:
            os.kill(number, 9)
            print("ESCAPED", number)
        except OSError:
            continue
print("refused")
