#!/usr/bin/env python3
"""A server that asks a line server (line.py) about each request, over a connection that the client's connection keeps.

front.py PORT LINE_PORT
"""
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.line = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def finish(self):
        self.line.close()
        super().finish()

    def do_GET(self):
        self.line.sendall(b"?\n")
        body = self.line.recv(100)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", int(sys.argv[1])), Front).serve_forever()
