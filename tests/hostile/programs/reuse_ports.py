# Serves on ports, leaves connections half closed, and ends without a word to its peers.
import os
import socket

for port in (8000, 8080, 5000):
    server = socket.socket()
    server.bind(("127.0.0.1", port))
    server.listen()
    client = socket.create_connection(("127.0.0.1", port))
    other, _ = server.accept()
    other.close()
    client.recv(1)
    server.close()
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0service-{port}")
    abstract.listen()
    held, sender = socket.socketpair()
    socket.send_fds(sender, [b"x"], [abstract.fileno(), held.fileno(), sender.fileno()])
print("still here", flush=True)
os._exit(0)
