# Sends every signal to the first process, to its parent and to everyone.
import os
import signal

for number in signal.valid_signals():
    for target in (1, os.getppid(), -1):
        try:
            if target != -1 or number == signal.SIGKILL:
                os.kill(target, number)
        except OSError as error:
            print("refused", error)
print("still here")
