"""An MCP server of the transport of 2024-11-05 (HTTP with SSE), with every way to go wrong. Standard library only.

`Backend()` listens on a free port; its attributes say how it behaves, `streams` and `posts` what it saw.
"""

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = [
    {"name": "echo", "description": "says it again", "inputSchema": {"type": "object"}},
    {"name": "secret", "description": "not for everybody", "inputSchema": {"type": "object"}},
    {"name": "slow", "description": "takes its time", "inputSchema": {"type": "object"}},
]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


class Backend:
    def __init__(self):
        self.endpoint = "/message?session={session}"
        self.stream_status = 200
        self.content_type = "text/event-stream"
        self.post_status = 202
        self.silent = set()  # methods that are not answered
        self.closes_at = None  # a method at which the stream ends
        self.requires = None  # a predicate over (path, headers), else 401
        self.pages = False  # tools one by one, with cursors
        self.pings = False  # pings the client before it answers initialize
        self.streams = []  # (path, headers) of each GET
        self.posts = []  # (path, headers, message)
        self.open_streams = 0
        self._lock = threading.Lock()
        self._queues = {}
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_address[1]
        self.url = f"sse+http://127.0.0.1:{self.port}/sse"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        for waiting in list(self._queues.values()):
            waiting.put(None)
        self._server.shutdown()
        self._server.server_close()

    def methods(self):
        return [message.get("method", "response") for _, _, message in self.posts]

    def _result(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "legacy", "version": "1"}}
        if method == "tools/list":
            if not self.pages:
                return {"tools": TOOLS}
            at = int(params.get("cursor", 0))
            page = {"tools": [TOOLS[at]]}
            return {**page, "nextCursor": str(at + 1)} if at + 1 < len(TOOLS) else page
        arguments = params.get("arguments") or {}
        return {"content": [{"type": "text", "text": json.dumps(arguments)}], "isError": False}

    def _serve_stream(self, handler):
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            self.streams.append((handler.path, headers))
            session = str(len(self.streams))
            events = self._queues[session] = queue.Queue()
        allowed = self.requires is None or self.requires(handler.path, headers)
        status = self.stream_status if allowed else 401
        handler.send_response(status)
        handler.send_header("Content-Type", self.content_type if status == 200 else "text/plain")
        handler.end_headers()
        if status != 200 or self.content_type != "text/event-stream":
            handler.wfile.write(b"no stream for you")
            return
        with self._lock:
            self.open_streams += 1
        try:
            if self.endpoint is not None:
                where = self.endpoint.format(session=session, port=self.port)
                handler.wfile.write(f"event: endpoint\ndata: {where}\n\n".encode())
                handler.wfile.flush()
            self._write_events(handler, events)
        except OSError:
            pass
        finally:
            with self._lock:
                self.open_streams -= 1

    @staticmethod
    def _write_events(handler, events):
        while True:
            try:
                message = events.get(timeout=0.1)
            except queue.Empty:
                handler.wfile.write(b": still here\n\n")  # fails when the other side has gone
                handler.wfile.flush()
                continue
            if message is None:
                return
            handler.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
            handler.wfile.flush()

    def _serve_post(self, handler):
        message = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        if handler.path.startswith("/message"):
            with self._lock:
                self.posts.append((handler.path, headers, message))
        # Clients of later transports POST to the stream's own path.
        status = self.post_status if handler.path.startswith("/message") else 404
        handler.send_response(status)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        events = self._queues.get(handler.path.partition("session=")[2].partition("&")[0])
        if events is None or self.post_status != 202:
            return
        method = message.get("method")
        if method is not None and method == self.closes_at:
            events.put(None)
        elif "id" in message and method and method not in self.silent:
            if self.pings and method == "initialize":
                events.put({"jsonrpc": "2.0", "id": "are-you-there", "method": "ping"})
            name = (message.get("params") or {}).get("name")
            if method == "tools/call" and name not in {tool["name"] for tool in TOOLS}:
                events.put({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": "Unknown tool"}})
            elif name != "slow":
                events.put({"jsonrpc": "2.0", "id": message["id"], "result": self._result(message)})

    def _handler(backend):  # noqa: N805 - the closure's self is the handler
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self):
                backend._serve_stream(self)

            def do_POST(self):
                backend._serve_post(self)

            def log_message(self, *_):
                pass

        return Handler
