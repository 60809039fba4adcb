"""An ordinary MCP server that plays: it offers tools and knows nothing of the league's dialect. Standard library only.

  plain_mcp_bot.py                          on the standard streams
  plain_mcp_bot.py --transport http         streamable HTTP at /mcp (prints its port), or sse, websocket, tcp

It is strict: before `initialize` nothing is answered but with an error, methods that it does not have are -32601, tools
that it does not have are -32602, and over HTTP session, Accept and version are demanded. What it refuses and what it
plays stands on stderr.
"""

import argparse
import base64
import hashlib
import json
import os
import queue
import signal
import socket
import socketserver
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TOOLS = ("handle_game_invitation", "choose_parity", "notify_match_result")
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
options = None


def note(what):
    print(what, file=sys.stderr, flush=True)


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Dropped(Exception):
    """The connection ends here, without an answer."""


class Session:
    """One client, from initialize on."""

    def __init__(self):
        self.revision = None
        self.is_ready = False

    def handle(self, message):
        """The answer to a request; None for everything else."""
        if message.get("method") == "notifications/initialized" and self.revision:
            self.is_ready = True
        if "id" not in message or "method" not in message:
            return None
        try:
            result = self._result(message["method"], message.get("params") or {})
            return {"jsonrpc": "2.0", "id": message["id"], "result": result}
        except Refused as refused:
            note(f"refused {message['method']}: {refused.code} {refused}")
            return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": refused.code, "message": str(refused)}}

    def _result(self, method, params):
        if method == "initialize":
            return self._initialize(params)
        if method == "ping" and self.revision:
            return {}
        if not self.is_ready:
            raise Refused(-32600, "not initialized")
        if method == "tools/list":
            schema = {"type": "object", "properties": {"match_id": {"type": "string"}}}
            return {"tools": [{"name": name, "description": f"{name}!", "inputSchema": schema} for name in TOOLS]}
        if method == "tools/call":
            return self._call(params)
        raise Refused(-32601, "Method not found")

    def _initialize(self, params):
        if self.revision:
            raise Refused(-32600, "already initialized")
        asked = params["protocolVersion"]
        if not isinstance(params["capabilities"], dict) or not params["clientInfo"]["name"]:
            raise Refused(-32602, "no client")
        self.revision = asked if asked in REVISIONS else REVISIONS[-1]
        note(f"initialized by {params['clientInfo']['name']}")
        return {"protocolVersion": self.revision, "capabilities": {"tools": {}},
                "serverInfo": {"name": "plain-mcp-bot", "version": "1.0.0"}}

    @staticmethod
    def _call(params):
        name, arguments = params.get("name"), params.get("arguments") or {}
        if name not in TOOLS:
            raise Refused(-32602, f"Unknown tool: {name}")
        note(f"{name} {arguments.get('match_id', '')}")
        if options.executions:
            with open(options.executions, "a") as file:
                file.write("x")
        if options.drops == "in":
            raise Dropped
        if name == "choose_parity":
            die_if_wanted(arguments["match_id"])
        if options.fails and name == "choose_parity":
            return {"content": [{"type": "text", "text": "I cannot decide"}], "isError": True}
        results = {"handle_game_invitation": {"accept": True}, "choose_parity": {"parity_choice": options.choice}}
        result = results.get(name, {"noted": True})
        whole = {"content": [{"type": "text", "text": json.dumps(result)}], "isError": False}
        return {**whole, "structuredContent": result} if options.content == "structured" else whole


def die_if_wanted(match):
    """In the middle of a call, as with kill -9."""
    if options.dies_in_round and match.startswith(f"R{options.dies_in_round}M"):
        if options.dies_once:
            try:
                os.close(os.open(options.dies_once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        note(f"dies in {match}")
        os.kill(os.getpid(), signal.SIGKILL)


def is_dropped_after(message):
    """Whether the connection ends once this message is handled."""
    last = {"before": "notifications/initialized", "after": "tools/call"}.get(options.drops)
    return last is not None and message.get("method") == last


def serve_lines(lines, write):
    """One client that writes a message a line, in pieces of any iterable of bytes or text."""
    session = Session()
    try:
        answer_lines(session, lines, write)
    except Dropped:
        pass


def answer_lines(session, lines, write):
    for line in lines:
        message = json.loads(line)
        if options.chatty and message.get("method") == "tools/call":
            for more in ({"id": f"ping-{message['id']}", "method": "ping"}, {"id": "roots", "method": "roots/list"},
                         {"method": "notifications/message", "params": {"level": "info", "data": "thinking"}}):
                write(json.dumps({"jsonrpc": "2.0", **more}) + "\n")
        if options.chatty and "method" not in message:
            note(f"heard {json.dumps({key: message[key] for key in message if key != 'jsonrpc'}, sort_keys=True)}")
        answer = session.handle(message)
        if answer is not None:
            write(json.dumps(answer) + "\n")
        if is_dropped_after(message):
            return


class LineHandler(socketserver.StreamRequestHandler):
    def handle(self):
        serve_lines(self.rfile, lambda text: self.wfile.write(text.encode()))


class WebHandler(BaseHTTPRequestHandler):
    """What the three servers over HTTP share."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *_):
        pass

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def send(self, status, text="", content_type="text/plain", **headers):
        """The whole answer; `headers` with _ for -."""
        if status >= 400:
            note(f"refused {self.command} {self.path}: HTTP {status} {text}")
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


class StreamableHandler(WebHandler):
    sessions = {}

    def do_GET(self):
        self.send(405, "no stream", Allow="POST, DELETE")

    def do_DELETE(self):
        self.send(200 if self.sessions.pop(self.headers.get("Mcp-Session-Id"), None) else 404)

    def do_POST(self):
        message = self.body()
        accept = self.headers.get("Accept", "")
        if self.path != "/mcp":
            return self.send(404)
        if "application/json" not in accept or "text/event-stream" not in accept:
            return self.send(406, "Not Acceptable: Client must accept both application/json and text/event-stream")
        name = self.headers.get("Mcp-Session-Id")
        if message.get("method") == "initialize" and name is None:
            session, name = Session(), os.urandom(16).hex()
            self.sessions[name] = session
        elif name is None:
            return self.send(400, "Bad Request: Mcp-Session-Id header is required")
        else:
            session = self.sessions.get(name)
            if session is None:
                return self.send(404, "no such session")
            if self.headers.get("MCP-Protocol-Version") != session.revision:
                return self.send(400, "the revision that was agreed upon is required")
        try:
            self.reply(session.handle(message), name)
        except Dropped:
            return self.drop()
        if is_dropped_after(message):
            self.drop()

    def reply(self, answer, session):
        if answer is None:
            self.send(202)
        elif options.answers == "events":
            event = f"event: message\ndata: {json.dumps(answer)}\n\n"
            self.send(200, event, "text/event-stream", Mcp_Session_Id=session)
        else:
            self.send(200, json.dumps(answer), "application/json", Mcp_Session_Id=session)


class LegacyHandler(WebHandler):
    """HTTP with SSE, as in the revision of 2024-11-05."""

    streams = {}

    def do_GET(self):
        if self.path != "/sse":
            return self.send(404)
        if "text/event-stream" not in self.headers.get("Accept", ""):
            return self.send(406)
        name, answers = os.urandom(16).hex(), queue.Queue()
        self.streams[name] = (Session(), answers)
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        event, data = "endpoint", f"/messages?session_id={name}"
        try:
            while True:
                self.wfile.write(f"event: {event}\r\ndata: {data}\r\n\r\n".encode())
                self.wfile.flush()
                event, data = "message", json.dumps(answers.get())
        except OSError:
            del self.streams[name]

    def do_POST(self):
        message = self.body()
        found = self.streams.get(self.path.partition("/messages?session_id=")[2])
        if found is None:
            return self.send(404, "no such session")
        session, answers = found
        try:
            answer = session.handle(message)
        except Dropped:
            return self.drop()
        self.send(202, "Accepted")
        if answer is not None:
            answers.put(answer)
        if is_dropped_after(message):
            self.drop()


class WebSocketHandler(WebHandler):
    """Whole text frames below 64 KiB, which is all that a player's messages need."""

    def do_GET(self):
        if self.path != "/mcp" or self.headers.get("Upgrade", "").lower() != "websocket":
            return self.send(426, "Upgrade Required", Upgrade="websocket")
        self.close_connection = True
        key = hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + GUID).digest()
        self.send_response_only(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(key).decode())
        if "mcp" in self.headers.get("Sec-WebSocket-Protocol", ""):
            self.send_header("Sec-WebSocket-Protocol", "mcp")
        self.end_headers()
        self.wfile.flush()
        serve_lines(self.texts(), self.send_text)

    def do_POST(self):
        self.body()
        self.send(405, Allow="GET")

    def send_frame(self, opcode, data):
        size = bytes([len(data)]) if len(data) < 126 else bytes([126]) + len(data).to_bytes(2, "big")
        self.wfile.write(bytes([0x80 | opcode]) + size + data)
        self.wfile.flush()

    def send_text(self, text):
        self.send_frame(1, text.strip().encode())

    def texts(self):
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return
            length = head[1] & 0x7F
            if length == 126:
                length = int.from_bytes(self.rfile.read(2), "big")
            mask = self.rfile.read(4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(length)))
            opcode = head[0] & 0x0F
            if opcode == 8:
                return self.send_frame(8, data[:2])
            if opcode == 9:
                self.send_frame(10, data)
            elif opcode == 1:
                yield data.decode()


class WebServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class LineServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def serve_port():
    handlers = {"http": StreamableHandler, "sse": LegacyHandler, "websocket": WebSocketHandler}
    address = ("127.0.0.1", options.port)
    if options.transport == "tcp":
        server = LineServer(address, LineHandler)
    else:
        server = WebServer(address, handlers[options.transport])
    print(server.server_address[1], flush=True)
    server.serve_forever()


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transport", choices=("stdio", "http", "sse", "websocket", "tcp"), default="stdio")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--choice", choices=("even", "odd"), default="even")
    parser.add_argument("--content", choices=("text", "structured"), default="text", help="where results stand")
    parser.add_argument("--answers", choices=("json", "events"), default="json", help="over streamable HTTP")
    parser.add_argument("--fails", action="store_true", help="its choice is always an error of the tool")
    parser.add_argument("--chatty", action="store_true", help="asks and tells the client before it answers a call")
    parser.add_argument("--banner", action="store_true", help="greets on stdout, as MCP forbids")
    parser.add_argument("--starts-after", type=float, default=0, help="seconds, as if there were much to load")
    parser.add_argument("--executions", help="this file gets a character for each call of a tool")
    parser.add_argument("--drops", choices=("before", "in", "after"),
                        help="ends the connection before a call of a tool, in place of its answer, or after it")
    parser.add_argument("--dies-in-round", type=int, default=0, help="at each choice of that round")
    parser.add_argument("--dies-once", help="but only while this file is not there; it is made")
    options = parser.parse_args()
    time.sleep(options.starts_after)
    if options.transport != "stdio":
        return serve_port()
    if options.banner:
        print("Plain MCP bot, version 1.0.0\n\nlistening on stdio", flush=True)
    serve_lines(sys.stdin, lambda text: print(text, end="", flush=True))


if __name__ == "__main__":
    main()
