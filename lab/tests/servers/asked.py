"""Writes each request on a line of its own, and answers: asked.py PORT [CERTIFICATE KEY]

/status/404 is answered with 404, /never not at all, everything else with 200.
"""

import asyncio
import json
import ssl
import sys

PORT = int(sys.argv[1])
TLS = None
if len(sys.argv) > 2:
    TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    TLS.load_cert_chain(sys.argv[2], sys.argv[3])


async def talk(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        first, *lines = head.decode().split("\r\n")[:-2]
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split(" ")
        print(json.dumps({"method": method, "path": path, "headers": headers, "body": body.decode()}), flush=True)
        if path == "/never":
            await asyncio.sleep(3600)
        status = int(path.split("/")[2]) if path.startswith("/status/") else 200
        writer.write(f"HTTP/1.1 {status} As asked\r\nContent-Length: 3\r\n\r\nok\n".encode())


async def quietly(reader, writer):
    try:
        await talk(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    writer.close()


async def main():
    async with await asyncio.start_server(quietly, "127.0.0.1", PORT, ssl=TLS, backlog=1000) as server:
        await server.serve_forever()


asyncio.run(main())
