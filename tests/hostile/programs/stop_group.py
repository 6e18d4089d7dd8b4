# Stops its whole group, children first, and never goes on.
import os
import signal
import time

for _ in range(4):
    if os.fork() == 0:
        while True:
            time.sleep(1)
os.killpg(0, signal.SIGSTOP)
while True:
    time.sleep(1)
