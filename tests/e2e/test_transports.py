"""The same league over every transport: the same logical transcript, only the context differs."""

import json
import subprocess
import unittest
from collections import Counter

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, LeagueTest, limits, write_limits
from nats_broker import why_no_bus

PLAYERS, REFEREES = 8, 2
MATCHES = PLAYERS * (PLAYERS - 1) // 2
# What the referees' logs say of the way to their players.
WAYS = {
    "http": {"http"},
    "sse": {"sse"},
    "websocket": {"websocket"},
    "stdio": {"subprocess"},
    "tcp": {"tcp"},
    "unix": {"unix"},
    "nats": {"nats"},
    "http,sse,websocket,stdio,tcp,unix": {"http", "sse", "websocket", "subprocess", "tcp", "unix"},
}
BROADCASTS = {"ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}
MATCH_TYPES = {
    "GAME_INVITATION", "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL", "CHOOSE_PARITY_RESPONSE", "GAME_OVER",
}


def match_transcripts(log):
    """How often each course of a match was taken, seen by the referees and without what differs from match to match."""
    courses = {}
    for record in log.records:
        if record["agent"].startswith("referee:") and record.get("match_id") and record.get("message_type") in MATCH_TYPES:
            step = (record["dir"], record["kind"], record["message_type"], record.get("verdict"))
            courses.setdefault(record["match_id"], []).append(step)
    return Counter(tuple(sorted(steps, key=str)) for steps in courses.values())


def league_transcript(log):
    """What the manager said and heard about the league as a whole: how often each type of message went which way. What
    it tells many is counted where it arrives: on a bus it is published once. How referees get their matches is another
    matter: there they come for them."""
    counted = Counter()
    for record in log.records:
        kind = record.get("message_type", "")
        if not kind.isupper() or kind in MATCH_TYPES or kind == "LEAGUE_QUERY":
            continue
        # Players on standard streams are told how they were registered.
        role = record["agent"].partition(":")[0]
        is_told = record["kind"] == "request" or (role, record["dir"]) == ("league_manager", "in")
        if kind == "LEAGUE_REGISTER_RESPONSE" and is_told:
            continue
        is_news = kind in BROADCASTS and (role, kind) != ("referee", "ROUND_ANNOUNCEMENT")
        if is_news and role != "league_manager" and record["dir"] == "in" or kind not in BROADCASTS and role == "league_manager":
            counted[role, record["dir"], record["kind"], kind, record.get("verdict")] += 1
    return counted


class SameLeague(LeagueTest):
    def play(self, transport):
        """A whole league; its logs. `nats` is no `--transport`, but a broker between the programs."""
        directory = self.directory / ("all" if "," in transport else transport)
        directory.mkdir()
        way = ["--bus"] if transport == "nats" else ["--transport", transport]
        done = subprocess.run(
            [BIN / "league", "up", "--players", str(PLAYERS), "--referees", str(REFEREES), "--strategies", "even,odd",
             *way, "--config", write_limits(directory, limits()), "--data", directory / "data", "--logs", directory / "logs", "--json"],
            capture_output=True, text=True, timeout=60, cwd=directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = json.loads(done.stdout)
        self.assertEqual(outcome["matches"], MATCHES)
        self.assertEqual(outcome["technical_losses"], 0, done.stderr)
        self.assertEqual(sum(row["points"] for row in outcome["standings"]),
                         3 * MATCHES - sum(row["draws"] for row in outcome["standings"]) // 2)
        verified = subprocess.run([BIN / "league", "audit", "verify", directory, "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(verified.stdout)["faults"], [], "the logs agree with each other")
        return Log(directory / "logs")

    def test_over_every_transport(self):
        plain = self.play("http")
        matches, league = match_transcripts(plain), league_transcript(plain)
        self.assertEqual(sum(matches.values()), MATCHES)
        self.assertEqual(len(matches), 1, "all matches took the same course")
        self.assertGreater(len(league), 8)
        for transport, ways in WAYS.items():
            with self.subTest(transport=transport):
                if transport == "nats" and (why := why_no_bus(BIN)):
                    self.skipTest(why)
                log = plain if transport == "http" else self.play(transport)
                self.assertEqual(match_transcripts(log), matches)
                self.assertEqual(league_transcript(log), league)
                answers = [r for r in log.records
                           if r["agent"].startswith("referee:") and r["kind"] == "reply" and r["dir"] == "in"
                           and r.get("message_type") == "CHOOSE_PARITY_RESPONSE"]
                self.assertEqual(len(answers), 2 * MATCHES)
                self.assertEqual({r["transport"] for r in answers}, ways)
                for record in answers:
                    self.assert_context(record)
                asked = [r for r in log.records
                         if r["agent"].startswith("referee:") and r["kind"] == "request" and r["dir"] == "out"
                         and r.get("message_type") == "CHOOSE_PARITY_CALL"]
                self.assertEqual(len(asked), 2 * MATCHES)
                for record in asked:
                    self.assert_context_of_call(record)

    def assert_context(self, record):
        """The way of a message is in the log, with what its transport knows."""
        context = record.get("context", {})
        known = {"http": {"connection", "remote", "method", "uri"}, "sse": {"stream"}, "websocket": {"frame", "final", "connection"},
                 "tcp": {"connection", "remote", "local"}, "unix": {"connection"}, "subprocess": {"process"},
                 "nats": {"subject", "session", "connection"}}
        self.assertLessEqual(known[record["transport"]], set(context), record)

    def assert_context_of_call(self, record):
        """And where a call goes."""
        keys = {"http": {"remote", "method", "uri"}, "nats": {"subject"}}
        self.assertLessEqual(keys.get(record["transport"], {"remote"}), set(record.get("context", {})), record)


if __name__ == "__main__":
    unittest.main()
