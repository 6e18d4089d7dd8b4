# Takes memory in many processes, each of which is modest.
import os
import time

for _ in range(20):
    if os.fork() == 0:
        held = bytearray(b"x") * 40_000_000
        time.sleep(60)
time.sleep(60)
