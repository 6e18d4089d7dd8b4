# Leaves a process behind that reads what the next step is given.
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.2)
        with open("/sandbox/caught", "w") as file:
            file.write("ESCAPED")
        time.sleep(60)
    os._exit(0)
os.wait()
