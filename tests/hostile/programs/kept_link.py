# Puts a link to a file of the system where a kept file is expected.
import os

os.symlink("/etc/passwd", "kept")
os.symlink("/proc/1/environ", "other")
