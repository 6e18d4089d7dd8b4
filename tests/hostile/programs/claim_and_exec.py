# Becomes a shell that cannot find its command.
import os

os.execv("/bin/sh", ["sh", "-c", "exec /no/such/python3 main.py"])
