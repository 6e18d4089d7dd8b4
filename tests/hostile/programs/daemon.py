# Leaves a process behind that writes a file later.
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3):
            os.close(number)
        time.sleep(2)
        with open(os.environ["PROBE_FILE"] + ".daemon", "w") as file:
            file.write("ESCAPED")
        time.sleep(600)
    os._exit(0)
os.wait()
print("left one behind")
