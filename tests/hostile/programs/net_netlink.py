# Asks the kernel for its network devices.
import socket

for protocol in range(20):
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        print("ESCAPED", protocol)
    except OSError as error:
        print("refused", error)
