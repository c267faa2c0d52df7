#!/usr/bin/env python3
"""A server that does not speak HTTP: a line for each line, after so many milliseconds of CPU. Each connection has a process of
its own, as in PostgreSQL, or all share one thread. At SIGTERM it writes its environment's PASSWORD to a file.

line.py PORT CPU_MS TERMINATED_FILE [processes|one-process]
"""
import asyncio
import os
import signal
import socketserver
import sys
import time

PORT, CPU_S, TERMINATED = int(sys.argv[1]), float(sys.argv[2]) / 1000, sys.argv[3]


def use_cpu():
    end = time.process_time() + CPU_S
    while time.process_time() < end:
        pass


class Line(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for _ in self.rfile:
            use_cpu()
            self.wfile.write(b"!\n")


class Processes(socketserver.ForkingTCPServer):
    allow_reuse_address = True
    request_queue_size = 64
    max_children = 1000
    # Its processes end when their connections do.
    block_on_close = False


async def talk(reader, writer):
    while await reader.readline():
        use_cpu()
        writer.write(b"!\n")
    writer.close()


async def one_process():
    async with await asyncio.start_server(talk, "127.0.0.1", PORT, backlog=64) as server:
        await server.serve_forever()


def terminated(*_):
    with open(TERMINATED, "w", encoding="utf-8") as file:
        file.write(os.environ.get("PASSWORD", "none"))
    os._exit(0)


signal.signal(signal.SIGTERM, terminated)
if sys.argv[4:] == ["one-process"]:
    asyncio.run(one_process())
else:
    Processes(("127.0.0.1", PORT), Line).serve_forever()
