# Makes empty files without end where shared memory is.
import os
import time

try:
    for number in range(10_000_000):
        os.close(os.open(f"/dev/shm/{number}", os.O_CREAT | os.O_WRONLY))
except OSError:
    time.sleep(60)
