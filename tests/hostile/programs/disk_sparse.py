# Makes a file of a terabyte that holds nothing.
import os

for place in ("sparse", "/tmp/sparse", "/dev/shm/sparse"):
    try:
        with open(place, "wb") as file:
            os.truncate(file.fileno(), 1 << 40)
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
