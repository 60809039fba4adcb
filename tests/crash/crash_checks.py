"""What must hold of a league after any number of crashes, read from its journal and its logs. Standard library only."""

import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing

POINTS = {"A": (3, 0), "B": (0, 3), "DRAW": (1, 1), "NONE": (0, 0)}


class Journal:
    """The events of a league; `faults` says what is wrong with the journal itself."""

    def __init__(self, path):
        self.events = []
        self.faults = []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT sequence, type, payload, digest FROM entries ORDER BY sequence").fetchall()
        before = bytes(32)
        for expected, (sequence, kind, payload, digest) in enumerate(rows, 1):
            before = hashlib.sha256(before + kind.encode() + b"\n" + payload.encode()).digest()
            if sequence != expected:
                self.faults.append(f"entry {expected} is missing")
            if digest != before:
                self.faults.append(f"entry {sequence} does not match its digest")
            self.events.append((kind, json.loads(payload)))

    def of(self, *kinds):
        return [event for kind, event in self.events if kind in kinds]


def pairings(players):
    """The league's schedule (circle-1) is checked elsewhere; here only who can meet: everybody once."""
    return players * (players - 1) // 2


def acknowledged(logs):
    """match -> the attempts whose report a referee's log shows as accepted. A log may end in the middle of a line."""
    found = defaultdict(set)
    for path in (logs / "agents").glob("REF*.jsonl"):
        for line in path.read_text(errors="replace").splitlines():
            if '"kind":"reply"' not in line or '"dir":"in"' not in line:
                continue
            try:
                record = json.loads(line)
                result = json.loads(record.get("raw", "")).get("result")
            except (ValueError, AttributeError):
                continue
            conversation = record.get("conversation_id") or record.get("conv") or ""
            if not isinstance(result, dict) or result.get("status") != "ok" or "match_id" not in result:
                continue
            prefix = "conv" + result["match_id"].lower()
            attempt = conversation[len(prefix):] if conversation.startswith(prefix) else ""
            found[result["match_id"]].add(int(attempt) if attempt.isdigit() else None)
    return found


class Verdict:
    """The result of one league."""

    def __init__(self):
        self.lost = []
        self.doubled = []
        self.wrong = []
        self.registered_twice = []
        self.other = []

    def all(self):
        return self.lost + self.doubled + self.wrong + self.registered_twice + self.other


def check_reports(journal, acknowledged_reports, verdict):
    """What referees were told is what the journal has."""
    reported = {event["match"]: event["attempt"] for event in journal.of("MATCH_REPORTED")}
    for match, attempts in acknowledged_reports.items():
        if match not in reported:
            verdict.lost.append(f"the report of {match} was acknowledged and is not in the journal")
        elif len(attempts) > 1 or not attempts <= {reported[match], None}:
            verdict.doubled.append(f"{match}: attempts {attempts} acknowledged, {reported[match]} journalled")


def check_matches(journal, players, verdict):
    ends = Counter(event["match"] for event in journal.of("MATCH_REPORTED", "MATCH_FORFEITED"))
    if len(ends) < pairings(players):
        verdict.lost.append(f"{pairings(players) - len(ends)} matches have no result")
    verdict.doubled += [f"{match} has {count} results" for match, count in ends.items() if count > 1]
    seeds = {}
    for event in journal.of("ROUND_STARTED"):
        for number, seed in enumerate(event["draw_seeds"], 1):
            if seeds.setdefault(f"R{event['round']}M{number}", seed) != seed:
                verdict.other.append(f"R{event['round']}M{number} has two seeds")


def check_agents(journal, players, referees, verdict):
    registered = journal.of("AGENT_REGISTERED")
    ids = Counter(event["agent"] for event in registered)
    names = Counter(event["profile"]["display_name"] for event in registered)
    verdict.registered_twice += [f"{who} is registered {n} times" for who, n in (ids + names).items() if n > 1]
    if len(ids) != players + referees:
        verdict.other.append(f"{len(ids)} agents are registered, not {players + referees}")


def recomputed_table(journal, matches):
    """player id -> (played, wins, draws, losses, points), from the results alone; `matches`: id -> (A, B)."""
    table = defaultdict(lambda: [0, 0, 0, 0, 0])
    for event in journal.of("MATCH_REPORTED", "MATCH_FORFEITED"):
        outcome = event["result"]["outcome"]
        for player, points, other in zip(matches[event["match"]], POINTS[outcome], reversed(POINTS[outcome])):
            row = table[player]
            row[0] += 1
            row[1 if points > other else 2 if outcome == "DRAW" else 3] += 1
            row[4] += points
    return {player: tuple(row) for player, row in table.items()}


def check_table(journal, matches, rows, verdict):
    shown = {row["player_id"]: tuple(row[k] for k in ("played", "wins", "draws", "losses", "points")) for row in rows}
    expected = recomputed_table(journal, matches)
    if shown != expected:
        verdict.wrong.append(f"the table is {shown}, its recomputation {expected}")
    if [row["points"] for row in rows] != sorted((row["points"] for row in rows), reverse=True):
        verdict.wrong.append("the table is not in order")
    completed = journal.of("LEAGUE_COMPLETED")
    if len(completed) != 1:
        verdict.other.append(f"the league was completed {len(completed)} times")
