"""`league connect`: bots that exist, at a seat: one that registers itself over HTTP, one on standard streams, plain MCP servers."""

import collections
import csv
import signal
import socket
import stat
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, rpc, wait_until

BOTS = SOURCE / "examples" / "bots"
PLAIN = SOURCE / "tests" / "support" / "plain_mcp_bot.py"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Connect(LeagueTest):
    def setUp(self):
        super().setUp()
        self.outputs = {}

    def run_beside(self, name, *command):
        self.outputs[name] = self.directory / f"{name}.output"
        with open(self.outputs[name], "ab") as output:
            process = subprocess.Popen([*map(str, command)], cwd=self.directory, stdout=output, stderr=output)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def connect(self, name, url, *options):
        process = self.run_beside(name, BIN / "league", "connect", url, "--data", self.directory / "seats", *options)
        return process

    def said(self, name):
        return self.outputs[name].read_text()

    def wait_until_said(self, name, text, seconds=20):
        wait_until(lambda: text in self.said(name), seconds, f"{name} says {text!r}: {self.said(name)}")

    def fairness(self):
        """How often a match had each fairness."""
        tables = self.directory / "tables"
        done = subprocess.run([str(BIN / "league"), "export", str(self.directory), "--format", "csv", "--out", str(tables)],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(tables / "matches.csv", newline="") as file:
            return collections.Counter(row["fairness"] for row in csv.DictReader(file))

    def test_bots_of_all_kinds_play_a_league(self):
        manager = self.start_manager(6, 1)
        self.start_referee(manager)
        self.start_players(manager, 1)
        listen = free_port()
        self.connect("http", manager.url, "--listen", listen)
        self.wait_until_said("http", "the bot's manager is")
        self.run_beside("bot", sys.executable, BOTS / "python" / "bot.py", "--manager", f"http://localhost:{listen}/mcp")
        self.connect("shell", manager.url, "--bot", f"stdio:sh {BOTS / 'shell' / 'bot.sh'}", "--name", "old shell")
        self.connect("plain", manager.url, "--bot", f"stdio:{sys.executable} {SOURCE / 'examples' / 'player_stdio.py'}")
        server = subprocess.Popen([sys.executable, str(PLAIN), "--transport", "http", "--port", "0"], stdout=subprocess.PIPE,
                                  text=True)
        for clean_up in (server.stdout.close, server.wait, server.kill):
            self.addCleanup(clean_up)
        port = int(server.stdout.readline())
        self.connect("plain_http", manager.url, "--bot", f"http://127.0.0.1:{port}/mcp", "--name", "plain over http")
        standalone = self.start("player", "--standalone", "--name", "served", "--transport", "tcp")
        (endpoint, *_), = standalone.ready()
        self.connect("tcp", manager.url, "--bot", endpoint, "--name", "ours over tcp")
        status = self.wait_until_over(manager, 60)
        self.assert_table_agrees(manager)
        agents = rpc(manager.url, "get_agents").result()["agents"]
        players = {row["display_name"]: row["agent_id"] for row in agents if row["kind"] == "player"}
        self.assertLessEqual({"python_bot", "old shell", "player_stdio", "plain over http"}, set(players))
        self.stop_programs()
        self.assertEqual(status["technical_losses"], 0, {name: self.said(name) for name in self.outputs})
        reports = Log(self.logs).accepted_reports()
        self.assertEqual(len(reports), 15)
        for match, (report, *_) in reports.items():
            self.assertEqual(report["result"]["details"].get("failures", []), [], match)
        self.assert_verified()
        self.assertEqual(self.said("bot").split()[:1], ["ACCEPTED"])
        # The Python starter and our player commit and sign their answers, through the seat as without it.
        self.assertEqual(self.fairness()["both"], 1, self.fairness())

    def test_it_is_back_after_the_manager_and_ends_when_taken_over(self):
        slow = limits(retry={"delay_ms": 300}, league={"start_delay_ms": 100})
        port = free_port()
        command = f"stdio:sh {BOTS / 'shell' / 'bot.sh'}"
        self.connect("first", f"http://localhost:{port}", "--bot", command, "--name", "shell")
        self.wait_until_said("first", "the manager does not answer, so this tries again")
        program = self.start("league_manager", "--players", 3, "--referees", 1, "--data", self.directory / "data", limits=slow,
                             port=port)
        (url, _), = program.ready()
        self.wait_until_said("first", "connected; waiting for matches")
        self.assertIn("shell is P01 of league", self.said("first"))
        file = self.directory / "seats" / "connect_shell.json"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        program.kill()
        self.wait_until_said("first", "lost: ")
        program = self.start("league_manager", "--data", self.directory / "data", limits=slow, port=port)
        program.ready()
        self.wait_until_said("first", "back\n")
        second = self.connect("second", url, "--bot", command, "--name", "shell")
        self.wait_until_said("first", "taken over: ")
        self.wait_until_said("second", "P01 again")
        self.wait_until_said("second", "connected")
        manager = type("Manager", (), {"url": url, "program": program})()
        self.start_referee(manager)
        self.start_players(manager, 2)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["technical_losses"], 0, self.said("second"))
        second.send_signal(signal.SIGINT)
        self.assertEqual(second.wait(10), 0)
        self.stop_programs()
        self.assert_verified()

    def run_connect(self, *arguments):
        return subprocess.run([BIN / "league", "connect", *map(str, arguments)], cwd=self.directory, capture_output=True, text=True,
                              timeout=30)

    def test_what_is_wrong_is_said(self):
        manager = self.start_manager(2, 1)
        for arguments, code, text in [
                ((manager.url,), 2, "--bot"),
                (("tcp://localhost:8000", "--bot", "http://localhost:1/mcp"), 2, "begins with http"),
                ((manager.url, "--bot", "http://localhost:1/mcp"), 2, "--name"),
                ((manager.url, "--bot", "stdio:false", "--name", "x" * 51), 1, "display_name"),
        ]:
            done = self.run_connect(*arguments)
            self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
            self.assertIn(text, done.stderr, arguments)

    def test_a_bot_that_registers_itself_elsewhere_is_told_of(self):
        """It refuses the league's calls, and the user learns what to do."""
        manager = self.start_manager(2, 1)
        self.start_referee(manager)
        port = free_port()
        self.run_beside("bot", sys.executable, BOTS / "python" / "bot.py", "--manager", "http://localhost:1/mcp", "--port", port)
        self.connect("connect", manager.url, "--bot", f"http://127.0.0.1:{port}/mcp", "--name", "stray")
        self.wait_until_said("connect", "connected")
        self.start_players(manager, 1)
        self.wait_until_said("connect", "a bot that registers itself must do that here: see --listen")


if __name__ == "__main__":
    unittest.main()
