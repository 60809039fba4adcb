"""The bots in examples/ play whole leagues beside ours, without a technical loss, in open and strict mode."""

import hmac
import http.server
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import unittest
import urllib.request
from contextlib import closing

import support_path  # noqa: F401
import true_report
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, wait_until
from scripted_bot import Bot

BOTS = SOURCE / "examples" / "bots"
STONES = ("red", "green", "blue")


def payoffs(weight):
    """By the kind of the number and both choices; no two players' are alike."""
    return {kind: {own: {other: (weight * k + 3 * i + j) % 8 for j, other in enumerate(STONES)} for i, own in enumerate(STONES)}
            for k, kind in enumerate(STONES)}


# Whatever a game can have: three words, numbers of which there are not ten, and roles.
GAME = {"game_type": "stones", "choices": STONES, "drawn": ["red", "green", "blue", "blue", "green"],
        "roles": {"PLAYER_A": payoffs(2), "PLAYER_B": payoffs(5)}, "technical": {"winner": 7, "loser": 0, "both": 0}}


class ExamplesPlay(LeagueTest):
    def play(self, mode, *command, host=("--host", "127.0.0.2")):
        """Two of the bots and two of ours; the second bot is reached at another address of this machine."""
        manager = self.start_manager(4, 1, "--mode", mode)
        self.start_referee(manager, "--mode", mode)
        self.start_players(manager, 2)
        bots = [
            subprocess.Popen([*command, "--manager", manager.url, "--name", f"guest{i}", "--data", self.directory / f"guest{i}",
                              *(host if i == 2 else ())], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for i in (1, 2)
        ]
        for bot in bots:
            self.addCleanup(bot.stdout.close)
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["total_matches"], 6)
        self.assertEqual(status["technical_losses"], 0)
        for bot in bots:
            self.assertRegex(bot.stdout.readline(), r"ACCEPTED P\d\d")
        self.stop_programs()
        log = Log(self.logs)
        called = {re.sub(r"\d+/mcp$", "", at) for at in re.findall(r'contact_endpoint\\*":\s*\\*"([^"\\]+)', log.text())}
        self.assertEqual("http://127.0.0.2:" in called, bool(host), called)
        self.assertEqual(log.leniencies(), set(), "the examples are exact")
        for match, (report, *_) in log.accepted_reports().items():
            details = report["result"]["details"]
            self.assertEqual(len(details.get("choice_nonces", {})), 2, f"{match}: both players have bound the draw")
            self.assertEqual({player: sorted(one) for player, one in details["receipts"].items()},
                             dict.fromkeys(details["choice_nonces"], ["choice", "join"]), f"{match}: both have signed")
        self.assertEqual(self.states_of_receipts(), {"valid"})

    def test_bots_in_a_game_of_which_they_know_nothing(self):
        """The definition comes with the registration: the bots choose from its words, and judge the results by it."""
        file = self.directory / "stones.json"
        file.write_text(json.dumps(GAME))
        bots = [[sys.executable, BOTS / "python" / "bot.py"], [sys.executable, BOTS / "python" / "bot.py"]]
        if shutil.which("node"):
            bots.append(["node", BOTS / "node" / "bot.mjs"])
        if shutil.which("go"):
            subprocess.run(["go", "build", "-o", self.directory / "bot", BOTS / "go" / "bot.go"], check=True)
            bots.append([self.directory / "bot"])
        if shutil.which("java"):
            bots.append(["java", BOTS / "java" / "Bot.java"])
        manager = self.start_manager(len(bots), 1, "--mode", "strict", "--game", str(file))
        self.start_referee(manager, "--mode", "strict")
        for i, bot in enumerate(bots):
            process = subprocess.Popen([*bot, "--manager", manager.url, "--name", f"guest{i}", "--data", self.directory / f"guest{i}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        status = self.wait_until_over(manager, 30)
        self.assertEqual((status["total_matches"], status["technical_losses"]), (len(bots) * (len(bots) - 1) // 2, 0))
        self.stop_programs()
        log = Log(self.logs)
        self.assertEqual(log.leniencies(), set())
        self.assertNotIn("DISPUTE_MATCH", log.text())
        for match, (report, *_) in log.accepted_reports().items():
            self.assertLessEqual(set(report["result"]["details"]["choices"].values()), set(STONES), match)
        self.assert_verified()

    def states_of_receipts(self):
        """What the manager has found about the receipts in the reports of the league."""
        file = self.directory / "data" / "journal" / "journal.sqlite"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            rows = journal.execute("SELECT payload FROM entries WHERE type = 'MATCH_REPORTED'").fetchall()
        self.assertTrue(rows)
        return {one["state"] for payload, in rows for one in json.loads(payload)["receipts"].values()}

    def test_python_bot(self):
        self.play("open", sys.executable, BOTS / "python" / "bot.py")

    def test_python_bot_in_strict_mode(self):
        self.play("strict", sys.executable, BOTS / "python" / "bot.py")

    @unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
    def test_node_bot_in_strict_mode(self):
        self.play("strict", "node", BOTS / "node" / "bot.mjs")

    @unittest.skipUnless(shutil.which("go"), "Go is not installed")
    def test_go_bot_in_strict_mode(self):
        subprocess.run(["go", "build", "-o", self.directory / "bot", BOTS / "go" / "bot.go"], check=True)
        self.play("strict", self.directory / "bot")

    @unittest.skipUnless(shutil.which("java"), "Java is not installed")
    def test_java_bot_in_strict_mode(self):
        self.play("strict", "java", BOTS / "java" / "Bot.java", host=())

    def test_bots_say_why_they_were_not_accepted(self):
        manager = self.start_manager(2, 1)
        self.start_players(manager, 2)
        commands = [[sys.executable, BOTS / "python" / "bot.py"]]
        if shutil.which("node"):
            commands.append(["node", BOTS / "node" / "bot.mjs"])
        for command in commands:
            full = subprocess.run([*command, "--manager", manager.url, "--data", self.directory / "guest"], capture_output=True,
                                  text=True, timeout=10)
            self.assertEqual(full.returncode, 1)
            self.assertRegex(full.stdout, r"REJECTED.*already has all of its players \(2\)")
            self.assertFalse((self.directory / "guest").exists(), "nothing to come back with")

    def test_python_server_on_standard_streams(self):
        memory = self.directory / "memory.jsonl"
        memory.write_text('{"P98": "even", "P99": "even"}\n')
        command = f"stdio:{sys.executable} {SOURCE / 'examples' / 'player_stdio.py'}"
        manager = self.start_manager(4, 1, "--endpoints", "local," + command)
        self.start_referee(manager, "--endpoints", "any," + command)
        self.start_players(manager, 3, "even")
        entered = subprocess.run([BIN / "league", "enter", manager.url, "--name", "clever",
                                  "--endpoint", f"{command} {memory}"], capture_output=True, text=True, timeout=10)
        self.assertEqual(entered.returncode, 0, entered.stderr)
        status = self.wait_until_over(manager, 30)
        self.assertEqual((status["total_matches"], status["technical_losses"]), (6, 0))
        self.stop_programs()
        matches = [json.loads(line) for line in memory.read_text().splitlines()[1:]]
        own, = set.intersection(*(set(match) for match in matches))
        self.assertEqual(len(matches), 3)
        self.assertEqual([match[own] for match in matches], ["odd"] * 3, "it has seen that others choose even")
        self.assertEqual(list((self.logs / "children").glob("*")), [], "it says nothing on stderr")

    def test_the_server_on_standard_streams_is_short(self):
        self.assertLess(len((SOURCE / "examples" / "player_stdio.py").read_text().splitlines()), 60)

    def test_bots_have_no_long_lines(self):
        nats = SOURCE / "examples" / "nats_player" / "player.mjs"
        for bot in [*BOTS.glob("*/[bB]ot.*"), SOURCE / "examples" / "player_stdio.py", nats]:
            self.assertEqual([line for line in bot.read_text().splitlines() if len(line) > 110], [], bot)


class ExamplesSayWhy(LeagueTest):
    """A bot that cannot register says why, once, on stderr; it ignores proxies; and its name can have any letters."""

    def commands(self):
        yield [sys.executable, "-u", BOTS / "python" / "bot.py"]
        if shutil.which("node"):
            yield ["node", BOTS / "node" / "bot.mjs"]

    def start_bot(self, command, manager, *more, **environment):
        bot = subprocess.Popen([*command, "--manager", manager, "--data", self.directory / "guest", *more],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        for clean_up in (bot.stdout.close, bot.stderr.close, bot.wait, bot.kill):
            self.addCleanup(clean_up)
        return bot

    def test_first_failure_is_told(self):
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)  # 501 to a POST
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/mcp"
        for command in self.commands():
            for url, why in ((nobody, "refused|ECONNREFUSED"), ("localhost:8000/mcp", "url|URL|scheme"),
                             (f"http://127.0.0.1:{proxy.server_address[1]}/mcp", "501")):
                line = self.start_bot(command, url).stderr.readline()
                self.assertTrue(line.startswith(url + ": "), line)
                self.assertRegex(line, why)
                self.assertIn("trying again", line)

    def test_proxies_are_ignored_and_names_have_any_letters(self):
        for command in self.commands():
            manager = self.start_manager(2, 1, "--new")
            nowhere = "http://127.0.0.1:9"
            bot = self.start_bot(command, manager.url, "--name", "José", http_proxy=nowhere, HTTP_PROXY=nowhere)
            self.assertEqual(bot.stdout.readline(), "ACCEPTED P01\n")
            self.assertEqual([row["display_name"] for row in self.standings(manager)], ["José"])
            self.stop_programs()
            (self.directory / "guest").unlink()


class ExamplesAreHeard(LeagueTest):
    """A referee invents the loss of a bot that it never called: the manager asks the bot, and believes it."""

    def check(self, *command):
        manager = self.start_manager(2, 2)
        liar = Bot("liar")
        self.addCleanup(liar.close)
        liar.join_as_referee(manager, match_credentials=True)
        bots = [subprocess.Popen([*command, "--manager", manager.url, "--name", f"guest{i}", "--data", self.directory / f"guest{i}"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in (1, 2)]
        for bot in bots:
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
        wait_until(lambda: all((self.directory / f"guest{i}").exists() for i in (1, 2)), 10, "both bots are registered")
        self.start_referee(manager)
        match = liar.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]
        lie = true_report.technical_result_of(match, phase="sent")
        self.assertEqual(true_report.report(liar, manager, match, lie).error_code(), "E041")
        status = self.wait_until_over(manager, 30)
        self.assertEqual((status["matches_completed"], status["technical_losses"]), (1, 0), "our referee has played it")

    def test_python_bot(self):
        self.check(sys.executable, BOTS / "python" / "bot.py")

    @unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
    def test_node_bot(self):
        self.check("node", BOTS / "node" / "bot.mjs")


class OtherManager(http.server.BaseHTTPRequestHandler):
    """A manager that knows no receipts: gives an id and a token, and remembers what it was asked."""

    TOKEN = "tok_p01_of_another_manager"

    def do_POST(self):
        frame = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append(frame)
        reply = {"status": "ACCEPTED", "player_id": "P01", "auth_token": self.TOKEN, "league_id": "another"}
        body = json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": reply}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ExamplesElsewhere(LeagueTest):
    """At a manager that gives no receipt key, a bot sends nothing that belongs to receipts."""

    def check(self, *command):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherManager)
        server.calls = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        bot = subprocess.Popen([*command, "--manager", url, "--data", self.directory / "guest"], stdout=subprocess.PIPE,
                               text=True)
        for clean_up in (bot.stdout.close, bot.wait, bot.kill):
            self.addCleanup(clean_up)
        self.assertEqual(bot.stdout.readline(), "ACCEPTED P01\n")
        wait_until((self.directory / "guest").exists, 5, "the bot has stored its token")
        self.endpoint = server.calls[0]["params"]["player_meta"]["contact_endpoint"]
        join = self.ask("handle_game_invitation", game_type="even_odd", role_in_match="PLAYER_A", opponent_id="P02")
        choice = self.ask("choose_parity", context={"attempt": 1, "play": 0})
        for reply in (join, choice):
            self.assertEqual(reply["auth_token"], OtherManager.TOKEN)
            self.assertNotIn("receipt", reply)
        over = {"status": "TECHNICAL_LOSS", "winner_player_id": "P02", "drawn_number": None, "choices": {}}
        self.ask("notify_match_result", game_result=over)
        self.ask("notify_match_result", game_result=over)  # by then a dispute would have been on its way
        self.assertEqual(len(server.calls), 1, "nothing is disputed there")

    def ask(self, method, **fields):
        credential = hmac.new(OtherManager.TOKEN.encode(), b"R1M1#1", "sha256").hexdigest()
        call = {"protocol": "league.v2", "message_type": "CALL", "sender": "referee:REF01", "match_id": "R1M1",
                "timestamp": "2026-01-15T10:30:00Z", "conversation_id": "conv1", "auth_token": credential, **fields}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": call}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.endpoint, body), timeout=10) as reply:
            return json.load(reply)["result"]

    def test_python_bot(self):
        self.check(sys.executable, BOTS / "python" / "bot.py")

    @unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
    def test_node_bot(self):
        self.check("node", BOTS / "node" / "bot.mjs")


if __name__ == "__main__":
    unittest.main()
