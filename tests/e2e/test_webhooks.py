"""Webhooks: other people's servers hear of a league, signed, again where they failed, and nobody waits for them."""

import base64
import hashlib
import hmac
import json
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import support_path  # noqa: F401
from league_testing import LeagueTest, rpc, wait_until


class Receiver:
    """Takes webhooks; answers the first `failures` of them with 500."""

    def __init__(self, failures=0):
        self.taken = []  # (headers, body)
        self.refused = []
        self.lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.lock:
                    is_refused = len(receiver.refused) < failures
                    (receiver.refused if is_refused else receiver.taken).append((dict(self.headers), body))
                self.send_response(500 if is_refused else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?of=league"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Webhooks(LeagueTest):
    def test_a_league_is_told_with_signatures_and_nobody_waits(self):
        receiver = Receiver(failures=1)
        self.addCleanup(receiver.close)
        silent = socket.create_server(("127.0.0.1", 0))  # takes connections and never answers
        self.addCleanup(silent.close)
        manager = self.start_manager(4, 1, "--webhook", receiver.url, "--webhook",
                                     f"http://127.0.0.1:{silent.getsockname()[1]}/")
        rpc(manager.url, "operate_league", {"operator_key": (self.directory / "data" / "operator.key").read_text().strip(),
                                            "act": "ANNOUNCE", "by": "Ann", "reason": "welcome"}).result()
        wait_until(lambda: len(receiver.taken) == 1, 20, "the announcement")
        self.start_referee(manager)
        self.start_players(manager, 4)
        self.wait_until_over(manager, 30)
        wait_until(lambda: len(receiver.taken) == 6, 20, "an announcement, start, three rounds and the end")
        secret = (self.directory / "data" / "webhook.secret").read_text().strip()
        self.assertEqual((self.directory / "data" / "webhook.secret").stat().st_mode & 0o777, 0o600)
        key = base64.b64decode(secret.removeprefix("whsec_"))
        for headers, body in receiver.taken:
            signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
            expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
            self.assertEqual(headers["webhook-signature"], expected)
        messages = [json.loads(body) for _, body in receiver.taken]
        acted = messages.pop(0)
        self.assertEqual((acted["type"], acted["data"]["act"], acted["data"]["by"]), ("operator.acted", "ANNOUNCE", "Ann"))
        self.assertEqual([one["type"] for one in messages],
                         ["league.started", "round.completed", "round.completed", "round.completed", "league.completed"])
        self.assertEqual([one["data"].get("round") for one in messages[1:4]], [1, 2, 3])
        self.assertEqual(len({headers["webhook-id"] for headers, _ in receiver.taken}), 6)
        self.assertEqual(receiver.refused[0][0]["webhook-id"], receiver.taken[0][0]["webhook-id"])
        table = messages[-1]["data"]["standings"]
        self.assertEqual([row["player_id"] for row in table], [row["player_id"] for row in self.standings(manager)])
        text = json.dumps(messages)
        for secret_word in ("tok_", "127.0.0.1"):
            self.assertNotIn(secret_word, text)
        self.assertIn("is tried again", manager.program.whole_stderr())
        self.assertEqual(manager.program.stop(), 0)

    def test_a_webhook_that_is_no_url_is_refused_at_the_start(self):
        program = self.start("league_manager", "--data", self.directory / "data", "--webhook", "ftp://example.org/x")
        self.assertEqual(program.process.wait(20), 2)
        self.assertIn("webhook:", program.stderr())


if __name__ == "__main__":
    unittest.main()
