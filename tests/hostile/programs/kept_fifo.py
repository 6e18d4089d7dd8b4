# Puts a pipe that never gives anything where a kept file is expected.
import os

os.mkfifo("kept")
