"""Answers every request after a delay: delay.py PORT DELAY_MS [DIE_AFTER_REQUESTS]

With WORKERS=n in its environment no more than n requests are served at once: n / delay is all it can do.
With SILENT_AFTER=n it takes requests and connections for ever after n answers, and answers none of them.
"""

import asyncio
import os
import sys

PORT, DELAY_S = int(sys.argv[1]), float(sys.argv[2]) / 1000
DIE_AFTER = int(sys.argv[3]) if len(sys.argv) > 3 else None
WORKERS = asyncio.Semaphore(int(os.environ.get("WORKERS", "1000000")))
SILENT_AFTER = int(os.environ.get("SILENT_AFTER", "0"))
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
answered = 0


async def talk(reader, writer):
    global answered
    while not reader.at_eof():
        if await reader.readline() == b"\r\n":
            if SILENT_AFTER and answered >= SILENT_AFTER:
                print("java.lang.OutOfMemoryError: as a JVM would say it", flush=True)
                await asyncio.Event().wait()
            async with WORKERS:
                await asyncio.sleep(DELAY_S)
            writer.write(ANSWER)
            answered += 1
            if DIE_AFTER and answered >= DIE_AFTER:
                print("the reason is the last line of the log", flush=True)
                os._exit(3)
    writer.close()


async def main():
    async with await asyncio.start_server(talk, "127.0.0.1", PORT, backlog=1000) as server:
        await server.serve_forever()


asyncio.run(main())
