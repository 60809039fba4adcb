"""Thousands of MCP clients that watch a league, in one thread: over event streams and WebSockets. Standard library only."""

import asyncio
import base64
import json
import os
import random
import struct
import time

REVISION = "2025-11-25"
STANDINGS = "league://standings"


def _frame(method, params, request_id=None):
    frame = {"jsonrpc": "2.0", "method": method, "params": params}
    if request_id is not None:
        frame["id"] = request_id
    return json.dumps(frame).encode()


INITIALIZE = _frame("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "crowd", "version": "1"}}, 1)
INITIALIZED = _frame("notifications/initialized", {})
SUBSCRIBE = _frame("resources/subscribe", {"uri": STANDINGS}, 2)


def _asked_wait(refusal):
    """How long a manager that is asked too much wants one to wait, in seconds; not all come back at once."""
    return refusal["error"]["data"]["retry_after_ms"] / 1000 + random.uniform(0.1, 0.5)


class Spectator:
    """One client; `arrivals` holds the monotonic time of each news of the table."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        self.arrivals = []
        self.lost = False
        self._writers = []

    async def _connect(self):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        self._writers.append(writer)
        return reader, writer

    def news(self, message):
        if message.get("method") == "notifications/resources/updated" and message["params"]["uri"] == STANDINGS:
            self.arrivals.append(time.monotonic())

    def vanish(self):
        """As a killed process does: the sockets are reset."""
        for writer in self._writers:
            writer.transport.abort()


class StreamSpectator(Spectator):
    """Streamable HTTP: a session, a GET stream, a subscription."""

    async def watch(self):
        reader, writer = await self._connect()
        head, _ = await self._post(reader, writer, INITIALIZE, {})
        session = {"Mcp-Session-Id": head["mcp-session-id"], "MCP-Protocol-Version": REVISION}
        await self._post(reader, writer, INITIALIZED, session)
        stream, stream_writer = await self._connect()
        while True:
            stream_writer.write(self._head("GET", {"Accept": "text/event-stream", **session}))
            status, head = await self._read_head(stream)
            if status != 429:
                break
            await asyncio.sleep(_asked_wait(json.loads(await stream.readexactly(int(head["content-length"])))))
        assert status == 200, status
        await self._post(reader, writer, SUBSCRIBE, session)
        writer.close()
        self._task = asyncio.create_task(self._listen(stream))

    async def _listen(self, stream):
        try:
            async for line in stream:
                if line.startswith(b"data: {"):
                    self.news(json.loads(line[6:]))
        except OSError:
            pass
        self.lost = True

    def _head(self, method, headers, length=None):
        lines = [f"{method} /mcp HTTP/1.1", f"Host: {self.host}:{self.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if length is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {length}", "Accept: application/json, text/event-stream"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def _read_head(self, reader):
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) if "session" not in line.lower() else
                       [line.split(": ", 1)[0].lower(), line.split(": ", 1)[1]] for line in lines[1:] if ": " in line)
        return int(lines[0].split()[1]), headers

    async def _post(self, reader, writer, body, headers):
        while True:
            writer.write(self._head("POST", headers, len(body)) + body)
            status, head = await self._read_head(reader)
            answer = await reader.readexactly(int(head.get("content-length", 0)))
            if status != 429:
                break
            await asyncio.sleep(_asked_wait(json.loads(answer)))
        assert status in (200, 202), status
        return head, answer


class SocketSpectator(Spectator):
    """One WebSocket: everything on it."""

    async def watch(self):
        reader, writer = await self._connect()
        key = base64.b64encode(os.urandom(16)).decode()
        while True:
            writer.write((f"GET /mcp HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp\r\n\r\n").encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 429 " not in head.split(b"\r\n")[0]:
                break
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await asyncio.sleep(_asked_wait(json.loads(await reader.readexactly(length))))
        assert b" 101 " in head.split(b"\r\n")[0] + b" ", head
        await self._ask(reader, writer, INITIALIZE)
        await self._ask(reader, writer, INITIALIZED, SUBSCRIBE)
        self._task = asyncio.create_task(self._listen(reader))

    async def _ask(self, reader, writer, *bodies):
        """Sends these, of which the last is answered; again where that is refused for the moment."""
        while True:
            for body in bodies:
                self._send(writer, body)
            while "id" not in (answer := await self._receive(reader)):
                pass
            if "retry_after_ms" not in answer.get("error", {}).get("data", {}):
                return
            await asyncio.sleep(_asked_wait(answer))

    async def _listen(self, reader):
        try:
            while True:
                self.news(await self._receive(reader))
        except (OSError, asyncio.IncompleteReadError):
            self.lost = True

    @staticmethod
    def _send(writer, body, opcode=1):
        mask = os.urandom(4)
        size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + struct.pack(">H", len(body))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(body))
        writer.write(bytes([0x80 | opcode]) + size + mask + masked)

    async def _receive(self, reader):
        while True:
            first, size = await reader.readexactly(2)
            if size == 126:
                size, = struct.unpack(">H", await reader.readexactly(2))
            elif size == 127:
                size, = struct.unpack(">Q", await reader.readexactly(8))
            body = await reader.readexactly(size)
            if first & 0x0F == 1:
                return json.loads(body)
            if first & 0x0F == 8:
                raise OSError("closed by the server")
            if first & 0x0F == 9:
                self._send(self._writers[-1], body, opcode=10)


async def gather_crowd(spectators, at_once=100):
    """Has all of them watch, so many at a time."""
    gate = asyncio.Semaphore(at_once)

    async def enter(spectator):
        async with gate:
            await spectator.watch()

    await asyncio.gather(*map(enter, spectators))
