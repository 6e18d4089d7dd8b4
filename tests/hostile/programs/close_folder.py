# Closes its own folder to everybody.
import os

os.chmod("/tmp", 0)
os.chmod("/sandbox", 0)
