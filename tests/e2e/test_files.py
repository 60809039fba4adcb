"""The data directory as files: what the programs write, what `league export` makes again, and disks that fail."""

import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest
from pathlib import Path

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, Agent, LeagueTest, Program, limits, snapshot_of, wait_until, write_limits

sys.path.insert(0, str(SOURCE / "scripts"))
import verify_log  # noqa: E402  (its Ed25519 is another than ours)

PATIENT = limits(
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)
UNSHARE = shutil.which("unshare")


def can_mount():
    """Whether a program can be given a disk of its own."""
    if os.geteuid() != 0 or not UNSHARE:
        return False
    probe = subprocess.run([UNSHARE, "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True)
    return probe.returncode == 0


CAN_MOUNT = can_mount()
NEEDS_MOUNT = unittest.skipUnless(CAN_MOUNT, "a small disk needs root and `unshare -m`: not tried here")


def tree(directory):
    """path -> content of all files below."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in Path(directory).rglob("*") if path.is_file()}


class FilesTest(LeagueTest):
    @property
    def data(self):
        return self.directory / "data"

    def league_files(self):
        return self.data / "leagues" / "league_files"

    def export(self, *arguments, expect=0, **options):
        done = subprocess.run([BIN / "league", "export", *map(str, arguments)], capture_output=True, timeout=30, **options)
        self.assertEqual(done.returncode, expect, done)
        return done.stdout.decode(), done.stderr.decode()

    def play(self, players=4, strategy="random,opposite", wait=True):
        manager = self.start_manager(players, 1, "--league", "league_files", limits=PATIENT)
        self.start_referee(manager, "--data", self.data, limits=PATIENT)
        self.start_players(manager, players, strategy, "--data", self.data, limits=PATIENT)
        if wait:
            self.wait_until_over(manager, 30)
            self.wait_until_logged("LEAGUE_COMPLETED", players + 1)
            # The referee sends these after its report is accepted, so perhaps after the end.
            self.wait_until_logged("GAME_OVER", players * (players - 1))
        return manager

    def on_small_disk(self, name, arguments, mounts):
        """A program with a tmpfs of its own in each of `mounts` (directory -> size)."""
        script = "".join(f"mkdir -p '{place}' && mount -t tmpfs -o size={size} tmpfs '{place}' && "
                         for place, size in mounts.items()) + 'exec "$@"'
        config = write_limits(self.directory, PATIENT, f"{name}.toml")
        program = Program(UNSHARE, ["-m", "sh", "-c", script, "sh", BIN / name, "--port", 0, "--config", config,
                                    "--log-level", "warn", *arguments], self.directory)
        self.programs.append(program)
        return program


def digests(entries):
    """The digest of the journal up to each of its entries."""
    digest, all_of_them = bytes(32), []
    for kind, payload in entries:
        digest = hashlib.sha256(digest + kind.encode() + b"\n" + payload.encode()).digest()
        all_of_them.append(digest.hex())
    return all_of_them


class TheEnd(FilesTest):
    def test_it_is_signed_and_binds_journal_and_receipts(self):
        self.play(players=2)
        self.stop_programs()
        with contextlib.closing(sqlite3.connect(self.data / "journal" / "journal.sqlite")) as journal:
            entries = journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()
        chain = digests(entries)
        self.assertTrue(json.loads(entries[0][1])["files_keyed"])
        log = Log(self.logs)
        for kind in ("ROUND_COMPLETED", "LEAGUE_COMPLETED"):
            for message in log.messages(kind):
                head = message["journal_head"]
                self.assertEqual(chain[head["seq"] - 1], head["hash"], kind)
        signed = {json.dumps(message["attestation"], sort_keys=True) for message in log.messages("LEAGUE_COMPLETED")}
        self.assertEqual(len(signed), 1, "everybody has got the same")
        attestation = json.loads(signed.pop())
        key = json.loads((self.league_files() / "standings.json").read_text())["league_key"]
        statement = attestation["statement"]
        self.assertTrue(statement.startswith(f"league.result 1\n{key}\ntable "), statement)
        self.assertTrue(verify_log.is_signature(key, statement, attestation["signature"]))
        end = [kind for kind, _ in entries].index("LEAGUE_COMPLETED")
        self.assertIn(f"\njournal {end + 1} {chain[end]}\n", statement)
        lines = [json.loads(line) for path in log.files if path.name == "league.log.jsonl"
                 for line in path.read_text().splitlines()]
        notes = [line["content"]["keys"] for line in lines if line.get("note") == "receipt_keys"]
        self.assertEqual([sorted(note) for note in notes], [["P01", "P02"]])
        for keys in notes[0].values():
            self.assertRegex(keys[-1], r"^[0-9a-f]{64}$")


class Published(FilesTest):
    def test_the_files_of_a_whole_league(self):
        manager = self.play()
        rows = self.standings(manager)
        self.stop_programs()
        table = json.loads((self.league_files() / "standings.json").read_text())
        self.assertEqual(table["schema_version"], "1.0.0")
        self.assertEqual(table["status"], "COMPLETED")
        self.assertEqual(table["standings"], rows)
        rounds = json.loads((self.league_files() / "rounds.json").read_text())["rounds"]
        played = {match["match_id"]: match for one in rounds for match in one["matches"]}
        self.assertEqual(len(played), 6)
        matches = self.data / "matches" / "league_files"
        self.assertEqual(sorted(path.stem for path in matches.iterdir()), sorted(played))
        for name, summary in played.items():
            match = json.loads((matches / f"{name}.json").read_text())
            self.assertEqual(match["state"], "FINISHED")
            self.assertEqual(match["result"]["winner"], summary["winner_player_id"])
            self.assertEqual(match["result"]["details"]["drawn_number"], summary["drawn_number"])
            said = [line["message_type"] for line in match["transcript"]]
            self.assertEqual(said.count("CHOOSE_PARITY_RESPONSE"), 2)
            self.assertEqual(said.count("GAME_OVER"), 2)
        for row in rows:
            history = json.loads((self.data / "players" / row["player_id"] / "history.json").read_text())
            self.assertEqual(history["display_name"], row["display_name"])
            self.assertEqual({key: history["stats"][key] for key in ("wins", "draws", "losses")},
                             {key: row[key] for key in ("wins", "draws", "losses")})
        key = table["league_key"]
        self.assertRegex(key, r"^[0-9a-f]{64}$")
        for name, content in tree(self.data).items():
            self.assertFalse(name.endswith(".new"), name)
            if name.split("/")[0] in ("leagues", "matches", "players"):
                self.assertIn(key.encode(), content, name)
            if name.split("/")[0] in ("leagues", "matches", "players"):
                self.assertNotIn(b"tok_", content, name)

    def test_export_makes_them_again(self):
        manager = self.play()
        there = self.directory / "there"
        self.export(self.directory, "--out", there)  # beside a running manager
        beside = tree(there / "leagues")
        self.stop_programs()
        before = {part: tree(self.data / part) for part in ("leagues", "matches", "players")}
        self.assertEqual(beside, before["leagues"])
        for part in before:
            shutil.rmtree(self.data / part)
        self.export(self.directory)
        self.assertEqual(tree(self.data / "leagues"), before["leagues"])
        self.assertEqual(tree(self.data / "players"), before["players"])
        after = tree(self.data / "matches")
        self.assertEqual(sorted(after), sorted(before["matches"]))
        for name, content in after.items():
            made, written = json.loads(content), json.loads(before["matches"][name])
            for key in ("attempt", "referee_id", "player_A_id", "draw_commitment", "result", "state"):
                self.assertEqual(made[key], written[key], name)
            self.assertEqual(sorted(line["message_type"] for line in made["transcript"]),
                             sorted(line["message_type"] for line in written["transcript"]))
        self.export(self.directory, "--format", "html", "--out", there)
        self.export(self.directory, "--format", "csv", "--out", there)
        self.assertEqual(len(snapshot_of(there)["match"]), 6)
        self.assertEqual(len((there / "standings.csv").read_bytes().split(b"\r\n")), 6)

    def test_a_manager_that_was_killed_writes_them_again(self):
        manager = self.play()
        manager.program.kill()
        shutil.rmtree(self.data / "leagues", ignore_errors=True)
        again = self.start("league_manager", "--data", self.data, limits=PATIENT)
        again.ready()
        wait_until(lambda: (self.league_files() / "rounds.json").exists(), 10, "the files are there again")
        again.stop()
        written = tree(self.data / "leagues")
        there = self.directory / "there"
        self.export(self.directory, "--out", there)
        self.assertEqual(tree(there / "leagues"), written)

    def test_a_killed_player_goes_on_with_its_history(self):
        manager = self.start_manager(4, 1, limits=PATIENT)
        self.start_referee(manager, limits=PATIENT)
        self.start_players(manager, 3, "slow:300", limits=PATIENT)
        arguments = ["--manager", manager.url, "--name", "loner", "--data", self.data]
        player = self.start("player", *arguments, limits=PATIENT)
        (_, identity), = player.ready()
        history = self.data / "players" / identity / "history.json"
        wait_until(lambda: history.exists() and json.loads(history.read_text())["matches"], 20, "a match is remembered")
        before = json.loads(history.read_text())["matches"]
        player.kill()
        player = self.start("player", *arguments, limits=PATIENT)
        player.ready()
        self.wait_until_over(manager, 40)
        player.stop()
        after = json.loads(history.read_text())["matches"]
        self.assertEqual(after[: len(before)], before)
        self.assertEqual(len({match["match_id"] for match in after}), len(after))

    def test_export_from_a_directory_that_cannot_be_written(self):
        self.play()
        self.programs[0].kill()  # the manager: its write-ahead log is still there
        self.stop_programs()
        there = self.directory / "there"
        self.export(self.directory, "--out", there)
        expected = tree(there)
        if not CAN_MOUNT:
            self.skipTest("a read-only disk needs root and `unshare -m`")
        for shm in (True, False):
            if not shm:
                (self.data / "journal" / "journal.sqlite-shm").unlink(missing_ok=True)
            fresh = self.directory / f"fresh_{shm}"
            script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" export "$3" --out "$4"'
            done = subprocess.run([UNSHARE, "-m", "sh", "-c", script, "sh", self.data, BIN / "league", self.directory,
                                   fresh], capture_output=True, timeout=30)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(tree(fresh / "leagues"), tree(there / "leagues"))
        self.assertEqual(tree(there), expected)


class Refused(FilesTest):
    """Wrong directories: exit code 2, a text that names the file, and nothing overwritten."""

    def refusal(self, name, *arguments, user=None, file_size=None, data=None):
        def restrict():
            if file_size is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        done = subprocess.run(
            [BIN / name, "--port", "0", "--data", data or self.data, "--logs", self.logs, *map(str, arguments)],
            capture_output=True, timeout=20, user=user, preexec_fn=restrict, cwd="/")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def test_a_full_disk_at_the_start(self):
        for name in ("league_manager", "referee", "player"):
            with self.subTest(name):
                data = self.directory / name
                self.assertRegex(self.refusal(name, file_size=0, data=data), r"File too large|disk")
                self.assertEqual({path: content for path, content in tree(data).items() if content}, {})

    @unittest.skipIf(os.geteuid() != 0, "only root can start a program as somebody else")
    def test_a_directory_that_cannot_be_written(self):
        self.directory.chmod(0o755)
        self.data.mkdir()
        for name in ("league_manager", "referee", "player"):
            with self.subTest(name):
                self.assertIn("Permission denied", self.refusal(name, user=65534))
                self.assertEqual(tree(self.data), {})

    def test_files_in_the_way(self):
        for name, way in (("league_manager", "leagues"), ("referee", "matches")):
            with self.subTest(name):
                data = self.directory / name
                data.mkdir()
                (data / way).write_text("my diary")
                self.assertIn("Not a directory", self.refusal(name, data=data))
                self.assertEqual((data / way).read_text(), "my diary")

    def test_a_damaged_identity(self):
        for name in ("referee", "player"):
            kept = self.data / "agents" / f"{name}_{name}.json"
            kept.parent.mkdir(parents=True, exist_ok=True)
            for content, expected in (('{"schema_version":1', "is not a JSON object"),
                                      ('{"schema_version":9}', "is of another version")):
                with self.subTest(name + content):
                    kept.write_text(content)
                    kept.chmod(0o600)
                    text = self.refusal(name, "--name", name)
                    self.assertIn(expected, text)
                    self.assertIn(str(kept), text)
                    self.assertEqual(kept.read_text(), content)

    def test_a_damaged_history(self):
        self.play()
        self.stop_programs()
        history = self.data / "players" / "P01" / "history.json"
        name = json.loads(history.read_text())["display_name"]
        manager = json.loads((self.data / "agents" / f"player_{name}.json").read_text())["manager"]
        whole = history.read_bytes()
        for content, expected in ((whole[:-20], "is damaged"), (whole.replace(b"1.0.0", b"7.0.0"), "schema_version")):
            history.write_bytes(content)
            text = self.refusal("player", "--name", name, "--manager", manager)
            self.assertIn(expected, text)
            self.assertIn("history.json", text)
            self.assertEqual(history.read_bytes(), content)

    def test_export_of_a_damaged_journal(self):
        self.play()
        self.stop_programs()
        before = tree(self.data / "leagues")
        with contextlib.closing(sqlite3.connect(self.data / "journal" / "journal.sqlite")) as journal:
            journal.execute("UPDATE entries SET payload = payload || ' ' WHERE sequence = 2")
            journal.commit()
        _, text = self.export(self.directory, expect=2)
        self.assertIn("entry 2 does not match its digest", text)
        self.assertEqual(tree(self.data / "leagues"), before)


@NEEDS_MOUNT
class FullDisks(FilesTest):
    def test_a_journal_that_fills_its_disk_stops_the_league(self):
        manager = self.on_small_disk(
            "league_manager", ["--players", 40, "--referees", 1, "--data", self.data, "--logs", self.logs],
            {self.data / "journal": "320k"})
        (url, identity), = manager.ready()
        agent = Agent(manager, url, identity)
        self.start_referee(agent, limits=PATIENT)
        self.start("player", "--manager", url, "--name", "bot", "--count", 40, limits=PATIENT)
        self.assertEqual(manager.process.wait(60), 2)
        self.assertIn("the disk is full; free some space and start again", manager.stderr())
        # Nobody was told of anything that is not in the journal; the projection is of what is in it.
        table = json.loads((self.data / "leagues" / identity / "standings.json").read_text())
        self.assertEqual(table["status"], "RUNNING")

    def test_a_projection_that_cannot_be_written_stops_nobody(self):
        manager = self.on_small_disk(
            "league_manager", ["--players", 12, "--referees", 1, "--data", self.data, "--logs", self.logs],
            {self.data / "leagues": "8k"})
        (url, identity), = manager.ready()
        agent = Agent(manager, url, identity)
        referee = self.on_small_disk("referee", ["--manager", url, "--data", self.directory / "referee", "--logs", self.logs],
                                     {self.directory / "referee" / "matches": "16k"})
        referee.ready()
        self.start_players(agent, 12, limits=PATIENT)
        self.wait_until_over(agent, 30)
        self.assert_table_agrees(agent)
        self.assertEqual(referee.stop(), 0)
        self.assertEqual(manager.stop(), 0)
        for program, name in ((manager, "rounds.json"), (referee, "REF01.jsonl")):
            self.assertRegex(program.stderr(), rf"cannot write \S*{name}: No space left on device: the league continues")
        self.programs[-1].stop()
        self.export(self.directory)
        rounds = json.loads((self.data / "leagues" / identity / "rounds.json").read_text())
        self.assertEqual(len(rounds["rounds"]), 11)

    def test_no_match_starts_while_the_disk_of_the_log_is_nearly_full(self):
        logs = self.directory / "manager_logs"
        manager = self.on_small_disk(
            "league_manager", ["--players", 4, "--referees", 1, "--data", self.data, "--logs", logs],
            {logs: "300m"})
        (url, identity), = manager.ready()
        inside = Path(f"/proc/{manager.process.pid}/root{logs}")
        ballast = inside / "ballast"
        with open(ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 280 << 20)
        agent = Agent(manager, url, identity)
        self.start_referee(agent, limits=PATIENT)
        self.start_players(agent, 4, limits=PATIENT)
        wait_until(lambda: self.status(agent)["state"] == "RUNNING", 10, "the league has begun")
        time.sleep(1.5)  # longer than the manager waits before it looks again
        self.assertEqual(self.status(agent)["matches_completed"], 0)
        ballast.unlink()
        self.wait_until_over(agent, 30)

    def test_a_log_that_cannot_be_written_loses_no_record(self):
        logs = self.directory / "player_logs"
        manager = self.start_manager(4, 1, limits=PATIENT)
        self.start_referee(manager, limits=PATIENT)
        player = self.on_small_disk("player", ["--manager", manager.url, "--name", "bot", "--count", 4, "--logs", logs],
                                    {logs: "24k"})
        player.ready(4)
        self.wait_until_over(manager, 30)
        root = Path(f"/proc/{player.process.pid}/root")
        subprocess.run(["nsenter", "-t", str(player.process.pid), "-m", "mount", "-o", "remount,size=10m", str(logs)], check=True)
        inside = Path(f"{root}{logs}") / "agents"

        def all_told():
            texts = [path.read_text(errors="replace") for path in inside.glob("P*.log.jsonl")]
            return sum('"message_type":"LEAGUE_COMPLETED"' in text for text in texts) == 4

        wait_until(all_told, 20, "the logs have been written to their ends")
        for path in inside.glob("P*.log.jsonl"):
            numbers = [json.loads(line)["seq"] for line in path.read_text().splitlines() if '"seq":' in line[:10]]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))


if __name__ == "__main__":
    unittest.main()
