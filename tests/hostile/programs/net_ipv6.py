# Connects by the newer protocol.
import os
import socket

for place in (("::1", int(os.environ["PROBE_PORT"])), ("2606:4700:4700::1111", 80)):
    try:
        socket.create_connection(place, timeout=2)
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
