"""The checks of the crash tests find what they are for."""

import hashlib
import json
import sqlite3
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

import crash_checks

MATCHES = {"R1M1": ("P01", "P02"), "R2M1": ("P03", "P01"), "R3M1": ("P02", "P03")}


def reported(match, outcome="A", attempt=1):
    return ("MATCH_REPORTED", {"match": match, "attempt": attempt, "referee": 0, "result": {"outcome": outcome}})


def sound():
    agents = [("AGENT_REGISTERED", {"agent": agent, "profile": {"display_name": "the " + agent}})
              for agent in ("P01", "P02", "P03", "REF01")]
    rounds = [("ROUND_STARTED", {"round": n, "draw_seeds": [f"seed {n}"]}) for n in (1, 2, 3)]
    results = [reported("R1M1"), reported("R2M1", "DRAW", 2), reported("R3M1", "B")]
    return [*agents, *rounds, *results, ("LEAGUE_COMPLETED", {"champion": 0})]


ROWS = [{"player_id": player, "played": 2, "wins": wins, "draws": draws, "losses": losses, "points": points}
        for player, wins, draws, losses, points in (("P01", 1, 1, 0, 4), ("P03", 1, 1, 0, 4), ("P02", 0, 0, 2, 0))]


class CrashChecks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = Path(temporary.name) / "journal.sqlite"

    def verdict(self, events, acknowledged=None, rows=ROWS, statement=None):
        self.path.unlink(missing_ok=True)
        digest = bytes(32)
        with closing(sqlite3.connect(self.path)) as database:
            database.execute("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, type, payload, digest)")
            for sequence, (kind, event) in enumerate(events, 1):
                payload = json.dumps(event)
                digest = hashlib.sha256(digest + kind.encode() + b"\n" + payload.encode()).digest()
                database.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (sequence, kind, payload, digest))
            if statement:
                database.execute(statement)
            database.commit()
        verdict = crash_checks.Verdict()
        journal = crash_checks.Journal(self.path)
        verdict.other += journal.faults
        crash_checks.check_matches(journal, 3, verdict)
        crash_checks.check_reports(journal, acknowledged or {}, verdict)
        crash_checks.check_agents(journal, 3, 1, verdict)
        crash_checks.check_table(journal, MATCHES, rows, verdict)
        return verdict

    def test_a_sound_league(self):
        verdict = self.verdict(sound(), {"R1M1": {1}, "R2M1": {2, }, "R3M1": {None}})
        self.assertEqual(verdict.all(), [])

    def test_a_match_without_result(self):
        events = [event for event in sound() if event[1].get("match") != "R2M1"]
        self.assertEqual(len(self.verdict(events).lost), 1)

    def test_an_acknowledged_report_that_is_gone(self):
        events = [("MATCH_FORFEITED" if event.get("match") == "R2M1" else kind, event) for kind, event in sound()]
        self.assertEqual(len(self.verdict(events, {"R2M1": {2}}).lost), 1)

    def test_two_results(self):
        self.assertEqual(len(self.verdict([*sound(), reported("R1M1", "B", 2)]).doubled), 1)

    def test_two_attempts_acknowledged(self):
        self.assertEqual(len(self.verdict(sound(), {"R2M1": {1, 2}}).doubled), 1)
        self.assertEqual(len(self.verdict(sound(), {"R2M1": {1}}).doubled), 1)

    def test_a_wrong_table(self):
        rows = [{**ROWS[0], "points": 7}, *ROWS[1:]]
        self.assertEqual(len(self.verdict(sound(), rows=rows).wrong), 1)
        self.assertEqual(len(self.verdict(sound(), rows=ROWS[::-1]).wrong), 1)

    def test_an_agent_that_is_there_twice(self):
        events = [("AGENT_REGISTERED", {"agent": "P04", "profile": {"display_name": "the P01"}}), *sound()]
        self.assertEqual(len(self.verdict(events).registered_twice), 1)

    def test_another_seed_and_a_changed_entry(self):
        again = ("ROUND_STARTED", {"round": 1, "draw_seeds": ["another"]})
        self.assertEqual(len(self.verdict([*sound(), again]).other), 1)
        changed = self.verdict(sound(), statement="UPDATE entries SET payload = payload || ' ' WHERE sequence = 3")
        self.assertGreater(len(changed.other), 0)


if __name__ == "__main__":
    unittest.main()
