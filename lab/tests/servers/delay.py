"""Answers every request after a delay: delay.py PORT DELAY_MS [DIE_AFTER_REQUESTS]

With WORKERS=n in its environment no more than n requests are served at once: n / delay is all it can do.
With SILENT_AFTER=n it takes requests and connections for ever after n answers, and answers none of them.
With STOP_AFTER=n it stops itself after n answers, as SIGSTOP does.
With MOST_CONNECTIONS=n it responds with 503 to every request while it has more than n connections.
Its answer to /die is its last one.

Answers are counted to requests of a load alone: whether it is ready may be asked twice.
"""

import asyncio
import os
import signal
import sys

PORT, DELAY_S = int(sys.argv[1]), float(sys.argv[2]) / 1000
DIE_AFTER = int(sys.argv[3]) if len(sys.argv) > 3 else None
WORKERS = asyncio.Semaphore(int(os.environ.get("WORKERS", "1000000")))
SILENT_AFTER = int(os.environ.get("SILENT_AFTER", "1000000000"))
STOP_AFTER = int(os.environ.get("STOP_AFTER", "0"))
MOST_CONNECTIONS = int(os.environ.get("MOST_CONNECTIONS", "1000000"))
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
LOADS = (b"threadcount/", b"ApacheBench/")
answered = connections = 0
is_silent = False


async def talk(reader, writer):
    global connections
    connections += 1
    try:
        while head := await read_head(reader):
            await respond(writer, *head)
    except ConnectionError:
        pass
    finally:
        connections -= 1
        writer.close()


async def read_head(reader):
    """The path of a request, and whether it is one of a load; None: the client has gone."""
    words, is_of_load = (await reader.readline()).split(b" "), False
    while (line := await reader.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"user-agent":
            is_of_load = value.strip().startswith(LOADS)
    return (words[1], is_of_load) if line else None


async def respond(writer, path, is_of_load):
    global answered, is_silent
    is_silent = is_silent or (is_of_load and answered >= SILENT_AFTER)
    if is_silent:
        print("java.lang.OutOfMemoryError: as a JVM would say it", flush=True)
        await asyncio.Event().wait()
    async with WORKERS:
        await asyncio.sleep(DELAY_S)
    writer.write(REFUSAL if connections > MOST_CONNECTIONS else ANSWER)
    answered += is_of_load
    if is_of_load and answered == STOP_AFTER:
        os.kill(os.getpid(), signal.SIGSTOP)
    if path == b"/die" or (DIE_AFTER and answered >= DIE_AFTER):
        print("the reason is the last line of the log", flush=True)
        os._exit(3)


async def main():
    async with await asyncio.start_server(talk, "127.0.0.1", PORT, backlog=1000) as server:
        await server.serve_forever()


asyncio.run(main())
