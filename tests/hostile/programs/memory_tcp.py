# Takes the kernel's memory in connections that nobody reads.
import contextlib
import os
import socket
import time

listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
for _ in range(16):
    if os.fork() == 0:
        held = []
        with contextlib.suppress(OSError):
            while True:
                one = socket.create_connection(listener.getsockname(), 1)
                other, _ = listener.accept()
                held += [one, other]
                for end in (one, other):
                    end.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            end.send(b"x" * 65536)
        time.sleep(60)
time.sleep(60)
