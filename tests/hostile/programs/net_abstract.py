# Connects to a socket of the host that has a name but no place.
import os
import socket

try:
    socket.socket(socket.AF_UNIX).connect("\0" + os.environ["PROBE_SOCKET"])
    print("ESCAPED")
except OSError as error:
    print("refused", error)
