"""An agent behind an address: python server.py [PORT], then http://127.0.0.1:PORT/chat."""

import json
import signal
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from calculator import answer

FOLDER = tempfile.TemporaryDirectory(prefix="calculator-")  # deleted at the end


class Chat(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = answer(asked["message"], asked["history"], FOLDER.name)
        data = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with ThreadingHTTPServer(("127.0.0.1", port), Chat) as server:
        print(f"http://127.0.0.1:{server.server_port}/chat", flush=True)
        server.serve_forever()
