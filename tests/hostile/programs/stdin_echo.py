# Sends a large input back.
import sys

sys.stdout.write(sys.stdin.read())
