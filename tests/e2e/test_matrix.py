"""A league per transport and mode, and players that come in every way: registered, entered, started by their callers,
called with the handshake of the Model Context Protocol or without. Nobody loses for the way."""

import json
import shlex
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, write_limits

TRANSPORTS = ("http", "sse", "websocket", "tcp", "unix", "stdio", "http,sse,websocket,stdio,tcp,unix")
MODES = ("open", "strict")
PLAIN = SOURCE / "tests" / "support" / "plain_mcp_bot.py"


class Matrix(LeagueTest):
    def verify(self, directory):
        done = subprocess.run([BIN / "league", "audit", "verify", directory, "--json"], capture_output=True, text=True,
                              timeout=60)
        return json.loads(done.stdout)["faults"]

    def play(self, cell):
        """A whole league of our own programs."""
        transport, mode = cell
        directory = self.directory / f"{'all' if ',' in transport else transport}_{mode}"
        directory.mkdir()
        done = subprocess.run(
            [BIN / "league", "up", "--players", "4", "--referees", "2", "--strategies", "even,odd", "--transport", transport,
             "--mode", mode, "--config", write_limits(directory, limits()), "--data", directory / "data", "--logs",
             directory / "logs", "--json"],
            capture_output=True, text=True, timeout=60, cwd=directory)
        return cell, done, directory

    def test_a_league_per_transport_and_mode(self):
        cells = [(transport, mode) for transport in TRANSPORTS for mode in MODES]
        with ThreadPoolExecutor(3) as pool:
            for (transport, mode), done, directory in pool.map(self.play, cells):
                with self.subTest(transport=transport, mode=mode):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    outcome = json.loads(done.stdout)
                    self.assertEqual((outcome["matches"], outcome["technical_losses"]), (6, 0), done.stderr)
                    self.assertEqual(self.verify(directory), [])
                    self.assert_players_are_known(Log(directory / "logs"), transport)

    def assert_players_are_known(self, log, transport):
        """Every player, wherever its process runs, answers as its seat: with a credential and a commitment."""
        answers = [record for record in log.records if record["agent"].startswith("referee:")
                   and record["dir"] == "in" and record.get("message_type") == "GAME_JOIN_ACK"]
        self.assertEqual(len(answers), 12)
        for record in answers:
            message = self.message_in(json.loads(record["raw"]))
            self.assertIn("auth_token", message, record["peer"])
            self.assertIn("choice_commitment", message, record["peer"])
            self.assertEqual(record["said_by"], record["peer"])
            self.assertEqual(record.get("leniencies", []), [])
        players = {record["agent"] for record in log.records
                   if record["agent"].startswith("player:") and record.get("match_id")}
        self.assertEqual(players, {f"player:P0{number}" for number in range(1, 5)})
        if transport == "stdio":
            told = [record for record in log.records if record["agent"].startswith("player:")
                    and record["dir"] == "in" and record.get("message_type") == "LEAGUE_REGISTER_RESPONSE"]
            self.assertEqual(len(told), 4, "the manager's process of each player, and no referee's, is told who it is")

    @staticmethod
    def message_in(frame):
        result = frame["result"]
        return result.get("structuredContent", result)

    def standalone(self, transport):
        """A player that somebody enters; its endpoint."""
        more = ["--socket", self.directory / "player.sock"] if transport == "unix" else []
        program = self.start("player", "--standalone", "--transport", transport, "--name", transport.replace("-", "_"), *more)
        (url, _), = program.ready()
        return url

    def plain(self, transport):
        """A server that demands the handshake; its endpoint."""
        process = subprocess.Popen([sys.executable, PLAIN, "--transport", transport], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        port = int(process.stdout.readline())
        return {"http": f"http://127.0.0.1:{port}/mcp", "websocket": f"ws://127.0.0.1:{port}/mcp",
                "tcp": f"tcp://127.0.0.1:{port}"}[transport]

    def child(self, *arguments):
        return "stdio:" + " ".join(shlex.quote(str(word)) for word in [BIN / "player", "--transport", "stdio", *arguments])

    def enter(self, mode, endpoints):
        """A league of these players; the summary of the manager and the winner-less rows."""
        allowed = f"stdio:{BIN / 'player'},stdio:{sys.executable},unix:{self.directory}/"
        manager = self.start_manager(len(endpoints), 1, "--mode", mode, "--endpoints", "local," + allowed)
        self.start_referee(manager, "--mode", mode, "--endpoints", "any," + allowed)
        for name, endpoint in endpoints.items():
            done = subprocess.run([BIN / "league", "enter", manager.url, "--name", name, "--endpoint", endpoint],
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_until_over(manager)
        rows = self.standings(manager)
        self.stop_programs()
        return rows

    def test_entered_players_in_open_mode(self):
        endpoints = {f"bare {way}": self.standalone(way) for way in ("http", "sse", "websocket", "tcp", "unix")}
        endpoints |= {f"handshake {way}": self.plain(way) for way in ("http", "websocket", "tcp")}
        endpoints["bare child"] = self.child("--name", "bare_child", "--logs", self.logs)
        endpoints["known child"] = self.child("--name", "known_child", "--logs", self.logs, "--data", self.directory / "own")
        endpoints["handshake child"] = f"stdio:{sys.executable} {PLAIN}"
        rows = self.enter("open", endpoints)
        self.assertEqual({row["display_name"] for row in rows}, set(endpoints))
        self.assertEqual([row for row in rows if row.get("technical_losses")], [])
        log = Log(self.logs)
        results = [record for record in log.records if record["agent"] == "league_manager" and record["dir"] == "in"
                   and record.get("message_type") == "MATCH_RESULT_REPORT"]
        lost = [record["match_id"] for record in results if "TECHNICAL_LOSS" in record.get("raw", "")]
        self.assertEqual(lost, [])
        self.assert_verified()

    def test_a_child_in_strict_mode_knows_who_it_is(self):
        """Without a token nobody plays in strict mode. A child has one if it has a directory for it."""
        known = {f"known {number}": self.child("--name", f"known_{number}", "--mode", "strict", "--logs", self.logs,
                                               "--data", self.directory / "own") for number in (1, 2)}
        unknown = {"unknown": self.child("--name", "unknown", "--mode", "strict", "--logs", self.logs)}
        rows = {row["display_name"]: row for row in self.enter("strict", known | unknown)}
        self.assertEqual(rows["unknown"]["points"], 0)
        for name in known:
            self.assertGreaterEqual(rows[name]["points"], 3, "it beats the unknown one")
            self.assertEqual(rows[name].get("technical_losses", 0), 0)


if __name__ == "__main__":
    unittest.main()
