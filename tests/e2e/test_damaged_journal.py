"""A league whose journal was damaged: nothing that was accepted is ever lost in silence.

Leagues are killed in the middle, and their journal is damaged in many ways, with and without the other files that a
manager leaves behind. For each the manager must refuse to start and say why, or have lost nothing.
"""

import json
import shutil
import sqlite3
import sys
import unittest
from contextlib import closing
from pathlib import Path

import support_path  # noqa: F401
from league_testing import IS_NIGHTLY, LeagueTest, Program, limits, wait_until, write_limits

PATIENT = limits(
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)
LEAGUE = "cup"
FRAME = 4096 + 24  # of a write-ahead log; its header has 32 bytes


def facts(journal):
    """Agents and results of a journal, or of a copy of it."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()
    named = {"AGENT_REGISTERED": "agent", "MATCH_REPORTED": "match", "MATCH_FORFEITED": "match"}
    return {json.loads(payload)[named[kind]] for kind, payload in rows if kind in named}


def claims(copy):
    """Which results and agents the files beside the journal hold, read in another way than the manager does."""
    found = set()
    for path in copy.glob("data/matches/*/*.json"):
        if json.loads(path.read_text())["state"] == "FINISHED":
            found.add(path.stem)
    for path in copy.glob("logs/league/*/*.jsonl"):
        for line in path.read_text().splitlines():
            if '"dir":"out","kind":"reply"' not in line:
                continue
            record = json.loads(line)
            answer = json.loads(record["raw"]).get("result", {})
            if answer.get("status") == "ok" and record["conversation_id"].startswith("convr"):
                found.add(record["match_id"])
            if answer.get("status") == "ACCEPTED":
                found.add(answer.get("player_id") or answer.get("referee_id"))
    return found


def truncate(part):
    """Cuts a file: to a share of it, to so many bytes, or by so many from its end."""
    def damage(path):
        size = path.stat().st_size
        wanted = int(size * part) if isinstance(part, float) else part if part >= 0 else size + part
        with open(path, "r+b") as file:
            file.truncate(max(0, min(size, wanted)))
    return damage


def flip(part):
    """Turns the bits of one byte: at a share of the file, or at an offset."""
    def damage(path):
        size = path.stat().st_size
        at = min(int(size * part) if isinstance(part, float) else part, size - 1)
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 0xFF]))
    return damage


DAMAGES = {  # name -> [(file, what happens to it)]
    "log removed": [("-wal", Path.unlink)],
    "log emptied": [("-wal", truncate(0))],
    "only the log's header": [("-wal", truncate(32))],
    "a quarter of the log": [("-wal", truncate(0.25))],
    "half of the log": [("-wal", truncate(0.5))],
    "three quarters of the log": [("-wal", truncate(0.75))],
    "log without its last frame": [("-wal", truncate(-FRAME))],
    "log without its last byte": [("-wal", truncate(-1))],
    "salt of the log": [("-wal", flip(17))],
    "checksum of the log": [("-wal", flip(25))],
    "first frame of the log": [("-wal", flip(32 + 20))],
    "first page in the log": [("-wal", flip(32 + 24 + 100))],
    "byte in the middle of the log": [("-wal", flip(0.5))],
    "byte near the end of the log": [("-wal", flip(0.9))],
    "journal removed": [("", Path.unlink)],
    "journal emptied": [("", truncate(0))],
    "half of the journal": [("", truncate(0.5))],
    "one page of the journal": [("", truncate(4096))],
    "both removed": [("", Path.unlink), ("-wal", Path.unlink)],
    "both emptied": [("", truncate(0)), ("-wal", truncate(0))],
    "journal emptied, log removed": [("", truncate(0)), ("-wal", Path.unlink)],
    "directory removed": [("directory", None)],
    "index of the log removed": [("-shm", Path.unlink)],
    "index of the log damaged": [("-shm", flip(100))],
}
# What is gone besides, as in a league of an older program, one that was copied without it, or one without --logs.
WITHOUT = {
    "": [],
    "without tables": ["data/leagues"],
    "without logs": ["logs"],
    "without mark": ["data/journal.mark"],
    "with the log alone": ["data/journal.mark", "data/leagues", "data/matches"],
    "with matches alone": ["data/journal.mark", "data/leagues", "logs"],
}
REFUSALS = ("is behind", "is damaged", "is empty", "is gone")


class DamagedJournals(LeagueTest):
    def start_manager_on(self, directory, *arguments, port=0):
        program = Program("league_manager", [
            "--port", port, "--data", directory / "data", "--logs", directory / "logs", "--log-level", "warn",
            "--config", self.config, "--league", LEAGUE, *arguments], self.directory)
        self.programs.append(program)
        (url, _), = program.ready()
        return program, url

    def setUp(self):
        super().setUp()
        self.config = write_limits(self.directory, PATIENT)

    def make_snapshots(self):
        """Copies of a league whose manager was killed: early, in the middle, and when it was over."""
        data = ["--data", self.directory / "data"]
        program, url = self.start_manager_on(self.directory, "--players", 6, "--referees", 1)
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        agents = ["--manager", url]
        self.start("referee", *agents, "--name", "whistle", *data, limits=PATIENT).ready()
        self.start("player", *agents, "--name", "bot", "--count", 6, "--strategy", "slow:60", *data,
                   limits=PATIENT).ready(6)
        manager = type("Manager", (), {"url": url})()
        snapshots = []
        for matches in (3, 8, 15):
            wait_until(lambda: self.status(manager)["matches_completed"] >= matches, 60, f"{matches} matches")
            wait_until(lambda: sum(fact.startswith("R") and "M" in fact for fact in claims(self.directory)) >= matches,
                       20, "the log has them too")
            program.kill()
            snapshots.append(self.directory / f"after_{matches}")
            # The players live on and replace their files meanwhile.
            shutil.copytree(self.directory / "data", snapshots[-1] / "data", ignore=shutil.ignore_patterns("*.new"))
            shutil.copytree(self.directory / "logs", snapshots[-1] / "logs")
            program, _ = self.start_manager_on(self.directory, port=port)
        self.kill_programs()
        return snapshots

    def damaged_copy(self, snapshot, damage, without):
        """The damaged directory; nothing if there is nothing to damage."""
        copy = self.directory / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(snapshot, copy)
        for name in without:
            path = copy / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for suffix, change in DAMAGES[damage]:
            journal = copy / "data" / "journal" / "journal.sqlite"
            if suffix == "directory":
                shutil.rmtree(journal.parent)
                continue
            path = journal.with_name(journal.name + suffix)
            if not path.exists() or path.stat().st_size == 0:
                return None
            change(path)
        return copy

    @staticmethod
    def content(copy):
        """Everything that a refusal must leave alone; SQLite may make an empty log."""
        journal = copy / "data" / "journal"
        files = [*(copy / "data" / "leagues").rglob("*.json"), *(copy / "data" / "matches").rglob("*.json"),
                 *journal.glob("journal.sqlite"), *journal.glob("*-wal"), *copy.glob("logs/league/*/*")]
        return {path: path.read_bytes() for path in files if path.stat().st_size}

    def outcome(self, copy, before):
        """`refused` or `kept`; anything else fails."""
        files = self.content(copy)
        if not (copy / "data" / "journal.mark").exists():
            before = before & claims(copy)
        program = Program("league_manager", [
            "--port", 0, "--data", copy / "data", "--logs", copy / "logs", "--config", self.config, "--league",
            LEAGUE, "--log-level", "warn"], self.directory)
        self.programs.append(program)
        try:
            program.ready()
        except AssertionError:
            self.assertEqual(program.process.wait(20), 2, program.stderr())
            text = program.stderr()
            self.assertTrue(any(refusal in text for refusal in REFUSALS), text)
            self.assertRegex(text, "backup|--new", "the remedy")
            self.assertEqual(self.content(copy), files, "a refusal changes nothing")
            return "refused"
        program.kill()
        self.assertEqual(before - facts(copy / "data" / "journal" / "journal.sqlite"), set(), "lost in silence")
        return "kept"

    def test_nothing_is_lost_in_silence(self):
        snapshots = self.make_snapshots()
        counts = {"refused": 0, "kept": 0}
        for number, snapshot in enumerate(snapshots):
            before = facts(self.intact(snapshot))
            for place, damage in enumerate(DAMAGES):
                for variant, without in WITHOUT.items():
                    # Every second damage to the league in the middle in all variants, the others to whole directories:
                    # all of them at night, else each to one of the three leagues.
                    if variant and (number != 1 or place % 2 == 1 or "index" in damage):
                        continue
                    if not IS_NIGHTLY and not variant and place % 3 != number:
                        continue
                    copy = self.damaged_copy(snapshot, damage, without)
                    if copy is None:
                        continue
                    with self.subTest(snapshot=snapshot.name, damage=damage, variant=variant):
                        counts[self.outcome(copy, before)] += 1
        print(f"damages: {counts}", file=sys.stderr)
        self.assertGreaterEqual(sum(counts.values()), 90 if IS_NIGHTLY else 50, counts)
        self.assertGreaterEqual(counts["refused"], 38 if IS_NIGHTLY else 30, counts)

    def intact(self, snapshot):
        copy = self.directory / "intact"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(snapshot / "data" / "journal", copy)
        return copy / "journal.sqlite"

    def test_nobody_is_refused_without_need(self):
        snapshots = self.make_snapshots()
        for snapshot in snapshots:
            for variant, without in WITHOUT.items():
                with self.subTest(snapshot=snapshot.name, variant=variant):
                    copy = self.directory / "copy"
                    shutil.rmtree(copy, ignore_errors=True)
                    shutil.copytree(snapshot, copy)
                    for name in without:
                        path = copy / name
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    before = facts(self.intact(snapshot))
                    for end in (Program.kill, Program.stop, Program.stop):
                        program, _ = self.start_manager_on(copy)
                        end(program)
                    self.assertEqual(facts(copy / "data/journal/journal.sqlite"), before)
        self.assert_new_leagues_begin(snapshots[1])

    def assert_new_leagues_begin(self, snapshot):
        """In a directory of agents alone, after an archived league, and on that one itself."""
        agents = self.directory / "agents_only"
        for name in ("agents", "players", "matches"):
            shutil.copytree(snapshot / "data" / name, agents / "data" / name)
        program, _ = self.start_manager_on(agents)
        program.stop()
        copy = self.directory / "again"
        shutil.copytree(snapshot, copy)
        shutil.rmtree(copy / "data" / "journal")
        program, _ = self.start_manager_on(copy, "--new")
        program.kill()
        program, _ = self.start_manager_on(copy)
        program.stop()
        archive, = (copy / "data" / "archive").iterdir()
        self.assertTrue((archive / "leagues").exists())


if __name__ == "__main__":
    unittest.main()
