# Opens raw sockets.
import socket

for family, protocol in ((socket.AF_INET, 1), (socket.AF_INET, 255), (socket.AF_INET6, 58)):
    try:
        socket.socket(family, socket.SOCK_RAW, protocol)
        print("ESCAPED", family)
    except OSError as error:
        print("refused", error)
