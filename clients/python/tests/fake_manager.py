"""A league manager with seats, and a referee, for the tests of the client library: their wire, no league."""

import hashlib
import hmac
import itertools
import json
import secrets
import socket
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def keyed(key, text):
    return hmac.new(key.encode(), text.encode(), "sha256").hexdigest()


class Fault(Exception):
    """HTTP status, error code, text, further data."""


class Call:
    """An open call at the player's seat."""

    def __init__(self, request):
        self.request, self.sessions, self.answer = request, set(), None


class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = 200, {"jsonrpc": "2.0", "id": request["id"]}
        try:
            body["result"] = self.server.manager.serve(request["method"], request["params"])
        except Fault as why:
            status, code, text, data = why.args
            if status == 200 and request["method"] in ("open_seat", "await_calls") and isinstance(code, str):
                body["result"] = {"message_type": "LEAGUE_ERROR", "error_code": code, "error_description": text}
            else:  # a manager refuses by a result, a server that is none by an error
                body["error"] = {"code": code if isinstance(code, int) else -32602, "message": text,
                                 "data": {"error_code": code, **data}}
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, manager, port):
        self.manager, self.connections = manager, []
        super().__init__(("127.0.0.1", port), Handler)

    def get_request(self):
        accepted = super().get_request()
        self.connections.append(accepted[0])
        return accepted

    def handle_error(self, request, client_address):
        pass


class FakeManager:
    """Thread-safe. `state` is notified of whatever happens."""

    def __init__(self, league="league_test", port=0):
        self.league, self.player_id = league, "P07"
        self.token, self.league_key = "tok_" + secrets.token_hex(20), secrets.token_hex(32)
        self.receipt_key, self.game = secrets.token_hex(32), None
        self.state = threading.Condition()
        self.registrations, self.opened, self.turns, self.queries = [], [], [], []
        self.register = self.accept  # a test may set another
        self.faults = []  # of the next await_calls
        self.session, self.was_session, self.calls, self.waiting = None, set(), [], None
        self.nonces, self.ids = set(), itertools.count(1)
        self.port, self.server = port, None
        self.start()

    # As a server

    def start(self):
        self.server = Server(self, self.port)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """As if it had been killed: connections end, sessions and calls are forgotten."""
        if self.server is None:
            return
        self.server.shutdown()
        self.server.server_close()
        for connection in self.server.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.server = None
        with self.state:
            self.session, self.was_session, self.calls, self.waiting = None, set(), [], None
            self.state.notify_all()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # As a manager

    def serve(self, method, params):
        with self.state:
            try:
                if method == "register_player":
                    self.registrations.append(params)
                    return self.register(params)
                if method == "league_query":
                    self.queries.append(params)
                    return {"message_type": "LEAGUE_QUERY_RESPONSE", "success": True}
                if method == "open_seat":
                    return self.open_seat(params)
                if method == "await_calls":
                    return self.await_calls(params)
            finally:
                self.state.notify_all()
        raise Fault(200, -32601, "Method not found", {})

    def accept(self, params):
        accepted = {"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "reason": None,
                    "player_id": self.player_id, "auth_token": self.token, "league_id": self.league,
                    "match_credentials": True, "league_key": self.league_key,
                    **({"game": self.game} if self.game else {})}
        known = params.get("auth_token")
        if known not in (None, self.token):
            return {"status": "REJECTED", "error_code": "E012", "reason": "an unknown auth_token"}
        return accepted if known else {**accepted, "receipt_key": self.receipt_key}

    def open_seat(self, params):
        self.opened.append(params)
        stamp = datetime.strptime(params["timestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        if abs((datetime.now(timezone.utc) - stamp).total_seconds()) > 300:
            raise Fault(200, "E021", "the timestamp is old", {})
        proof = keyed(self.token, f"seat|{params['timestamp']}|{params['nonce']}")
        shown = params["player_id"], params["proof"]
        if shown != (self.player_id, proof) or params["nonce"] in self.nonces:
            raise Fault(200, "E012", "no such seat", {})
        self.nonces.add(params["nonce"])
        self.was_session.add(self.session)
        self.session, self.waiting = secrets.token_hex(16), None
        return {"session": self.session, "player_id": self.player_id, "wait_s": 25, "connection": "poll"}

    def await_calls(self, params):
        session, turn = params["session"], object()
        self.turns.append(params)
        if self.faults:
            raise self.faults.pop(0)
        if session in self.was_session - {None}:
            raise Fault(200, "E016", "a newer session took over", {})
        if session != self.session:
            raise Fault(200, "E012", "no such session", {})
        for answer in params.get("answers", []):
            for call in self.calls:
                if call.request["id"] == answer["id"] and call.answer is None:
                    call.answer = answer
        self.waiting = turn if params["wait_s"] else None
        self.state.notify_all()

        def due():
            return [call for call in self.calls if call.answer is None and session not in call.sessions]

        def is_over():
            return due() or self.waiting is not turn or self.session != session
        self.state.wait_for(is_over, params["wait_s"])
        if session in self.was_session:
            return {"calls": [], "ended": "taken_over"}
        calls = due() if self.session == session else []
        for call in calls:
            call.sessions.add(session)
        if self.waiting is turn:
            self.waiting = None
        return {"calls": [{"request": call.request, "remaining_ms": 4000} for call in calls]}

    def take_over(self):
        """As if another program had opened the seat."""
        with self.state:
            self.was_session.add(self.session)
            self.session = secrets.token_hex(16)
            self.state.notify_all()

    def forget_session(self):
        with self.state:
            self.session = None
            self.state.notify_all()

    # As a referee

    def begin(self, method, params):
        call = Call({"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params})
        with self.state:
            self.calls.append(call)
            self.state.notify_all()
        return call

    def end(self, call, seconds=5):
        with self.state:
            if not self.state.wait_for(lambda: call.answer is not None, seconds):
                raise AssertionError(f"{call.request['method']} was not answered")
        return call.answer

    def call(self, method, params):
        return self.end(self.begin(method, params))

    def wait(self, condition, seconds=5):
        """Also for what happens in a bot, which does not notify `state`."""
        end = time.monotonic() + seconds
        with self.state:
            while not self.state.wait_for(condition, 0.01):
                if time.monotonic() > end:
                    raise AssertionError("it did not happen in time")


class RefereedMatch:
    """A match of the player of `manager`, who is player A, against P03, who commits to its choice too."""

    def __init__(self, manager, match_id="R1M1", round_id=1, opponent_choice="odd", game=None):
        self.manager, self.id, self.round_id = manager, match_id, round_id
        self.opponent_choice, self.opponent_nonce = opponent_choice, secrets.token_hex(32)
        self.seed = secrets.token_bytes(32)
        self.draw = hashlib.sha256(self.seed + match_id.encode()).hexdigest()
        self.game = {"game": game} if game else {}
        self.bound = self.commitment("P03", opponent_choice, self.opponent_nonce)

    def commitment(self, player, choice, nonce):
        return hashlib.sha256("|".join([self.draw, self.id, player, choice, nonce]).encode()).hexdigest()

    def message(self, message_type, **fields):
        return {"protocol": "league.v2", "message_type": message_type, "sender": "referee:REF01",
                "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "conv" + self.id,
                "league_id": self.manager.league, "round_id": self.round_id, "match_id": self.id,
                "auth_token": keyed(self.manager.token, self.id + "#1"),
                "game_type": self.manager.game["game_type"] if self.manager.game else "even_odd", **fields}

    def invitation(self, **fields):
        return self.message("GAME_INVITATION", **{
            "role_in_match": "PLAYER_A", "opponent_id": "P03", "draw_commitment": self.draw,
            "context": {"attempt": 1, "play": 0, **self.game}, **fields})

    def question(self, **fields):
        return self.message("CHOOSE_PARITY_CALL", **{
            "player_id": self.manager.player_id, "deadline": "2025-01-15T10:30:30Z",
            "context": {"attempt": 1, "play": 0, "opponent_id": "P03", "opponent_commitment": self.bound,
                        **self.game}, **fields})

    def number(self, choice, nonce):
        for counter in itertools.count():
            text = "|".join([self.id, choice, self.opponent_choice, nonce, self.opponent_nonce, str(counter)])
            for byte in hmac.new(self.seed, text.encode(), "sha256").digest():
                if byte < 250:
                    return byte % 10 + 1

    def over(self, answer, **changes):
        """The true GAME_OVER after the player's answer to the question; `changes` are of its result."""
        me, choice, nonce = self.manager.player_id, answer["parity_choice"], answer["choice_nonce"]
        number = self.number(choice, nonce)
        parity = "odd" if number % 2 else "even"
        right = [player for player, one in ((me, choice), ("P03", self.opponent_choice)) if one == parity]
        winner = right[0] if len(right) == 1 else None
        result = {"status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
                  "number_parity": parity, "choices": {me: choice, "P03": self.opponent_choice}, "reason": "",
                  **changes}
        return self.message("GAME_OVER", game_result=result, draw_proof=self.seed.hex(),
                            choice_commitments={me: self.commitment(me, choice, nonce), "P03": self.bound},
                            choice_nonces={me: nonce, "P03": self.opponent_nonce})

    def play(self):
        """The three answers' results."""
        joined = self.manager.call("handle_game_invitation", self.invitation())["result"]
        answer = self.manager.call("choose_parity", self.question())["result"]
        return joined, answer, self.manager.call("notify_match_result", self.over(answer))["result"]
