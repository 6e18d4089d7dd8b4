# Makes empty files without end, which need no room but names.
import os

number = 0
while True:
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
    number += 1
