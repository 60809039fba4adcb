"""`league check`, `spar` and `play` with agents on a message bus, at `nats:SESSION` or registering over it."""

import json
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest
from nats_broker import NatsBroker, why_no_bus


class BusCheck(LeagueTest):
    def setUp(self):
        if why := why_no_bus(BIN):
            self.skipTest(why)
        super().setUp()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)

    def league(self, *words, code=0, bus=True):
        words = [BIN / "league", *map(str, words), *(["--bus", self.broker.url] if bus else [])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=self.directory)
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def report(self, *words):
        text = self.league("check", *words, "--format", "json", "--require", "robust")
        report = json.loads(text)["bots"][0]
        self.assertEqual([one for one in report["checks"] if one["outcome"] not in ("passed", "skipped")], [])
        return report

    def session(self):
        """Where a player of ours is that nobody has registered."""
        program = self.start("player", "--standalone", "--name", "solo", "--strategy", "even", "--bus", self.broker.url)
        (url, *_), = program.ready()
        return url

    def start_word(self, program, *words):
        return " ".join(map(str, (BIN / program, "--manager {manager} --mode strict --bus", self.broker.url,
                                  "--logs", self.logs, *words)))

    def test_a_player_at_its_session(self):
        report = self.report(self.session())
        self.assertGreaterEqual(report["counts"]["passed"], 140)

    def test_a_player_that_registers_over_the_bus(self):
        report = self.report("--start", self.start_word("player", "--data", self.directory / "data"))
        self.assertGreaterEqual(report["counts"]["passed"], 190)
        self.assertIn(" at nats:", report["subject"])

    def test_a_referee_that_registers_over_the_bus(self):
        report = self.report("--role", "referee", "--start", self.start_word("referee"))
        self.assertGreaterEqual(report["counts"]["passed"], 80)

    def test_nobody_is_there(self):
        self.assertIn("nobody listens", self.league("check", "nats:nobody-there", "--fast", code=2))
        self.assertIn("nobody listens", self.league("play", "nats:nobody-there", "even", code=2))
        self.assertIn("--bus", self.league("check", "nats:nobody-there", bus=False, code=2))

    def test_sparring(self):
        session = self.session()
        self.assertIn("draws 0", self.league("spar", session, "--against", "odd", "--matches", 20))
        self.assertIn(f"CHOOSE_PARITY_CALL to {session}", self.league("play", "odd", session))


if __name__ == "__main__":
    unittest.main()
