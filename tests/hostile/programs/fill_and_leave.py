# Fills every place to the last byte and the last name, so that nothing about it can be written.
import contextlib
import os

for place in ("/sandbox", "/tmp", "/dev/shm"):
    number = 0
    with contextlib.suppress(OSError):
        while True:
            number += 1
            with open(f"{place}/{number}", "wb", 0) as file:
                while file.tell() < 15_000_000:
                    file.write(bytes(1 << 20))
    for size in (1 << 16, 4096, 1):
        with contextlib.suppress(OSError), open(f"{place}/last", "ab", 0) as file:
            while True:
                file.write(bytes(size))
os._exit(127)
