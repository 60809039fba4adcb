"""Agents of tests: an HTTP server whose every answer a test decides. Standard library only."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

from league_testing import message, player_registration, referee_registration, rpc


class Raw:
    """An answer that is sent as it is; body None closes the connection without one."""

    def __init__(self, body=b"", status=200):
        self.body = body
        self.status = status


class Bot:
    """Serves at `url`. `answer(frame)` returns what to send: a dictionary (the whole JSON body) or a Raw.

    `calls` holds every JSON body that came, in order. A bot may register by `join`; then `id` and `token`
    are its identity.
    """

    http_version = "HTTP/1.1"
    has_threads = True  # False: it serves one connection after the other

    def __init__(self, name="odd"):
        self.name = name
        self.id = ""
        self.token = ""
        self.league_id = ""
        self.calls = []
        self.traces = []  # conversation and `traceparent` of each call
        self._arrived = threading.Condition()
        self._server = (_Server if self.has_threads else HTTPServer)(("127.0.0.1", 0), _handler_of(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, frame):
        return {"jsonrpc": "2.0", "id": frame.get("id"), "result": self.reply(frame)}

    def reply(self, frame):
        """The league message that answers `frame`; exactly what the protocol asks for."""
        return exact_reply(self, frame.get("params", {}))

    def note(self, frame):
        with self._arrived:
            self.calls.append(frame)
            self._arrived.notify_all()

    def received(self, message_type):
        """The messages of this type that came so far."""
        with self._arrived:
            found = [message_in(frame) for frame in self.calls]
        return [m for m in found if m.get("message_type") == message_type]

    def wait_for(self, message_type, seconds=10, where=lambda m: True):
        """The first message of this type that came or comes and fits `where`."""
        deadline = time.monotonic() + seconds
        while True:
            found = [m for m in self.received(message_type) if where(m)]
            if found:
                return found[0]
            with self._arrived:
                if not self._arrived.wait(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"{self.name} got no {message_type} within {seconds} s")

    def join(self, manager, **changes):
        """Registers as a player in the exact form."""
        return self.take_identity(rpc(manager.url, "register_player", player_registration(self.name, self.url, **changes)))

    def join_as_referee(self, manager, **meta):
        request = referee_registration(self.name, self.url, meta=meta)
        return self.take_identity(rpc(manager.url, "register_referee", request))

    def take_identity(self, answer):
        result = (answer.json or {}).get("result", answer.json)
        result = result.get("structuredContent", result)
        if result.get("status") != "ACCEPTED":
            raise AssertionError(f"{self.name} was not accepted: {answer}")
        self.id = result.get("player_id") or result.get("referee_id")
        self.token = result["auth_token"]
        self.league_id = result["league_id"]
        return self

    def say(self, manager, method, message_type, role="player", **fields):
        """Sends a message of its own to the manager, with its id and token unless told otherwise."""
        fields.setdefault("token", self.token)
        fields.setdefault("league_id", self.league_id)
        sender = fields.pop("sender", f"{role}:{self.id}")
        return rpc(manager.url, method, message(message_type, sender, **fields))


def message_in(frame):
    """The league message in a request, whichever of our ways of calling carried it."""
    params = frame.get("params") if isinstance(frame, dict) else None
    if not isinstance(params, dict):
        return frame if isinstance(frame, dict) and "message_type" in frame else {}
    inner = params.get("arguments", params.get("message"))
    return inner if isinstance(inner, dict) else params


def exact_reply(bot, call):
    """What a faultless player answers to `call`."""
    shared = {name: call.get(name) for name in ("conversation_id", "league_id", "round_id", "match_id")}
    if call.get("message_type") == "GAME_INVITATION":
        more = {"player_id": bot.id, "arrival_timestamp": call["timestamp"], "accept": True}
        return message("GAME_JOIN_ACK", "player:" + bot.id, bot.token, **shared, **more)
    if call.get("message_type") == "CHOOSE_PARITY_CALL":
        more = {"player_id": bot.id, "parity_choice": "even"}
        return message("CHOOSE_PARITY_RESPONSE", "player:" + bot.id, bot.token, **shared, **more)
    return {"status": "ok"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A caller that hung up is no news; every other fault is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _handler_of(bot):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = bot.http_version
        wbufsize = -1  # head and body leave together

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            frame = json.loads(body)
            bot.traces.append((message_in(frame).get("conversation_id"), self.headers.get("traceparent")))
            bot.note(frame)
            answer = bot.answer(frame)
            if isinstance(answer, Raw):
                data, status = answer.body, answer.status
            else:
                data, status = json.dumps(answer).encode(), 200
            if data is None:
                self.close_connection = True
                return
            try:
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()
            except OSError:
                self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler
