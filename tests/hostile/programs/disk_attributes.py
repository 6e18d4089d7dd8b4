# Hangs attributes on one file without end.
import os

os.close(os.open("file", os.O_CREAT | os.O_WRONLY))
for number in range(10_000_000):
    os.setxattr("file", f"user.{number}", b"x" * 60_000)
print("ESCAPED")
