"""The bots in examples/ play whole leagues beside ours, without a technical loss, in open and strict mode."""

import json
import shutil
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest


class ExamplesPlay(LeagueTest):
    def play(self, command, mode):
        manager = self.start_manager(4, 1, "--mode", mode)
        self.start_referee(manager, "--mode", mode)
        self.start_players(manager, 2)
        bots = [
            subprocess.Popen([*command, manager.url, f"guest{i}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True) for i in (1, 2)
        ]
        for bot in bots:
            self.addCleanup(bot.stdout.close)
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["total_matches"], 6)
        self.assertEqual(status["technical_losses"], 0)
        for bot in bots:
            self.assertRegex(bot.stdout.readline(), r"registered as P\d\d")
            self.assertIn(status["champion"]["display_name"], bot.stdout.readline())
        self.stop_programs()
        log = Log(self.logs)
        self.assertEqual(log.leniencies(), set(), "the examples are exact")
        for match, (report, *_) in log.accepted_reports().items():
            details = report["result"]["details"]
            self.assertEqual(len(details.get("choice_nonces", {})), 2, f"{match}: both players have bound the draw")

    def test_python_bot(self):
        self.play([sys.executable, SOURCE / "examples" / "player.py"], "open")

    def test_python_bot_in_strict_mode(self):
        self.play([sys.executable, SOURCE / "examples" / "player.py"], "strict")

    @unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
    def test_node_bot_in_strict_mode(self):
        self.play(["node", SOURCE / "examples" / "player.mjs"], "strict")

    def test_python_bot_says_why_it_was_not_accepted(self):
        manager = self.start_manager(2, 1)
        self.start_players(manager, 2)
        full = subprocess.run([sys.executable, SOURCE / "examples" / "player.py", manager.url], capture_output=True,
                              text=True, timeout=10)
        self.assertEqual(full.returncode, 1)
        self.assertIn("E017", full.stderr)

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

    def test_python_bots_are_short(self):
        server = (SOURCE / "examples" / "player_stdio.py").read_text().splitlines()
        self.assertLess(len(server), 60)
        code = (SOURCE / "examples" / "player.py").read_text().splitlines()
        self.assertLess(len([line for line in code if line.strip()]), 60)


if __name__ == "__main__":
    unittest.main()
