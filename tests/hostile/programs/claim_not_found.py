# Says what a shell and a loader say of a missing command, and leaves as they do.
import os

for text in ("python3: No such file or directory", "sh: 1: python3: not found"):
    os.write(2, (text + "\n").encode())
os._exit(127)
