# Prints a gigabyte.
import os

for _ in range(1000):
    os.write(1, b"x" * 1_000_000)
