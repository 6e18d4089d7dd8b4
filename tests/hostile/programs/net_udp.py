# Sends datagrams.
import os
import socket

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for place in (("1.1.1.1", 53), ("224.0.0.1", 9999)):
    try:
        sender.sendto(b"x", place)
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
sender.sendto(b"x", ("127.0.0.1", int(os.environ["PROBE_PORT"])))
