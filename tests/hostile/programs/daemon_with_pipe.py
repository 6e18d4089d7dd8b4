# Leaves a process behind that holds on to the output.
import os
import time

if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(0.01)
        os.write(1, b"still here\n")
print("left one behind")
