# Asks for names.
import socket

for name in ("example.com", "localhost.localdomain.example"):
    try:
        socket.getaddrinfo(name, 80)
        print("ESCAPED", name)
    except OSError as error:
        print("refused", error)
