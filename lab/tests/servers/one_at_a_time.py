"""Serves one connection at a time, and only two more may wait: one_at_a_time.py PORT DELAY_MS"""

import socket
import sys
import time

PORT, DELAY_S = int(sys.argv[1]), float(sys.argv[2]) / 1000
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"

with socket.create_server(("127.0.0.1", PORT), backlog=1) as listener:
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                connection.recv(65536)
                time.sleep(DELAY_S)
                connection.sendall(ANSWER)
            except OSError:
                pass  # A client that has given up.
