"""What an operator does to a running league, with the real programs: it is carried out, journalled, shown and verified."""

import json
import subprocess
import sys
import unittest
import urllib.request
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits, wait_until

SLOW = limits(league={"announcement_grace_ms": 250})


def league(*arguments):
    return subprocess.run([str(BIN / "league"), *map(str, arguments)], capture_output=True, text=True, timeout=60)


class OperateTest(LeagueTest):
    log_level = "info"

    def setUp(self):
        super().setUp()
        self.key = self.directory / "data" / "operator.key"

    def admin(self, manager, act, *arguments, code=0):
        done = league("admin", act, manager.url, *arguments, "--operator-key", self.key, "--by", "Ann")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def verified(self):
        """What both verifiers say of the league; they must not accuse anybody."""
        program = league("audit", "verify", self.directory, "--json")
        self.assertEqual(program.returncode, 0, program.stdout)
        script = subprocess.run([sys.executable, SOURCE / "scripts" / "verify_log.py", self.directory, "--json"],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(script.returncode, 0, script.stdout)
        return [sorted((one["rule"], one["text"]) for one in json.loads(text)["incidents"]) for text in (program.stdout, script.stdout)]

    def test_a_disputed_match_is_void_and_played_again(self):
        manager = self.start_manager(6, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:200", name="thinker")
        self.start_players(manager, 5)
        self.start_referee(manager, limits=SLOW)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        self.admin(manager, "pause", "--wait", "30", "--reason", "somebody disputes R1M2")
        self.assertTrue(self.status(manager)["paused"])
        self.assertEqual(self.status(manager)["matches_in_play"], 0)
        before = self.status(manager)
        self.assertIn("no result yet", self.admin(manager, "void", "R5M1", "--reason", "no", code=1))
        self.admin(manager, "void", "R1M2", "--replay", "--reason", "REF01 was restarted")
        self.admin(manager, "void", "R1M2", "--reason", "again", code=1)
        self.admin(manager, "void", "R1M3", "--reason", "both cheated")
        self.admin(manager, "announce", "We go on at once")
        self.admin(manager, "extend", "60")

        # Nothing of this is lost with the manager.
        manager.program.kill()
        program = self.start("league_manager", "--data", self.directory / "data", port=urlsplit(manager.url).port, limits=SLOW)
        (url, league_id), = program.ready()
        manager = Agent(program, url, league_id)
        status = self.status(manager)
        self.assertTrue(status["paused"])
        self.assertEqual(status["voided"], {"R1M2": "R6M1", "R1M3": None})
        self.assertEqual(status["matches_completed"], before["matches_completed"] - 2)
        self.assertEqual(status["current_round"], before["current_round"], "a paused league begins nothing")
        self.admin(manager, "resume")
        status = self.wait_until_over(manager)
        self.assertEqual((status["total_rounds"], status["matches_completed"], status["total_matches"]), (6, 14, 14))
        self.assertIn("is completed", self.admin(manager, "pause", code=1))
        told = program.whole_stderr()
        with urllib.request.urlopen(manager.url.removesuffix("/mcp") + "/metrics", timeout=5) as answer:
            metrics = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))
        self.assertEqual((metrics["league_matches_voided_total"], metrics["league_paused"], metrics["league_journal_waiting"]),
                         ("2", "0", "0"))
        self.assertGreater(float(metrics["league_journal_commit_seconds"]), 0)
        self.stop_programs()

        program, script = self.verified()
        for incidents in (program, script):
            voided = [text for rule, text in incidents if rule == "match.voided"]
            self.assertEqual(len(voided), 2, incidents)
            self.assertTrue(any("R1M2 is void, by Ann (REF01 was restarted); played again as R6M1" in text for text in voided), voided)
        self.assertIn("the league goes on (by Ann)", told)
        exported = self.directory / "export"
        done = league("export", self.directory, "--out", exported, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (exported / "matches.csv").read_text().splitlines()
        self.assertEqual(sum(",VOID," in row for row in rows), 2)
        self.assertEqual([row.split(",")[1] for row in rows if row.endswith(",R1M2")], ["R6M1"])

    def test_the_operator_ends_a_league(self):
        manager = self.start_manager(6, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:200", name="thinker")
        self.start_players(manager, 5)
        self.start_referee(manager, limits=SLOW)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        self.admin(manager, "end", "--reason", "the lesson is over")
        status = self.wait_until_over(manager)
        self.assertTrue(status["ended_early"])
        self.assertLess(status["matches_completed"], 15)
        self.stop_programs()
        self.verified()

    def test_a_stranger_can_do_none_of_it(self):
        manager = self.start_manager(2, 1)
        wrong = self.directory / "wrong.key"
        wrong.write_text("f" * 64)
        wrong.chmod(0o600)
        for act in (["pause"], ["resume"], ["extend", "5"], ["announce", "x"], ["void", "R1M1", "--reason", "x"], ["end"],
                    ["disqualify", "P01"], ["withdraw", "P01"], ["restore", "P01"]):
            done = league("admin", act[0], manager.url, *act[1:], "--operator-key", wrong)
            self.assertEqual(done.returncode, 1, act)
            self.assertIn("operator", done.stderr)
        self.assertNotIn("paused", self.status(manager))


if __name__ == "__main__":
    unittest.main()
