"""A league that goes on: managers, referees and players that come back, and data directories that are wrong."""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
from contextlib import closing
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits, wait_until

sys.path.insert(0, str(SOURCE / "scripts"))
import verify_log  # noqa: E402

# Referees and players that are away for a moment must not be given up.
PATIENT = limits(
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)


def port_of(agent):
    return urlsplit(agent.url).port


class ContinuationTest(LeagueTest):
    @property
    def data(self):
        return self.directory / "data"

    @property
    def journal(self):
        return self.data / "journal" / "journal.sqlite"

    def events(self):
        with closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True)) as journal:
            return journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()

    def count(self, event_type):
        return sum(event == event_type for event, _ in self.events())

    def manager_again(self, port=0, *arguments):
        """A manager on the data directory, without a word about its league."""
        program = self.start("league_manager", "--data", self.data, *arguments, port=port, limits=PATIENT)
        (url, league_id), = program.ready()
        return Agent(program, url, league_id)

    def refusal(self, *arguments, user=None, file_size=None):
        """What a manager says that ends with exit code 2."""

        def restrict():
            if file_size is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        done = subprocess.run(
            [BIN / "league_manager", "--port", "0", *([] if "--data" in arguments else ["--data", self.data]),
             "--logs", self.logs, *map(str, arguments)],
            capture_output=True, timeout=20, user=user, preexec_fn=restrict, cwd="/",
        )
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()


class ComingBack(ContinuationTest):
    def start_league(self, strategy="slow:20"):
        manager = self.start_manager(6, 1, limits=PATIENT)
        referee = self.start_referee(manager, "--data", self.directory / "referee", limits=PATIENT)
        players = self.start_players(manager, 6, strategy, "--data", self.directory / "players", limits=PATIENT)
        return manager, referee, players

    def assert_whole(self, manager):
        status = self.wait_until_over(manager, 40)
        self.assertEqual(status["matches_completed"], 15)
        self.assert_table_agrees(manager)
        ends = [payload for event, payload in self.events() if event in ("MATCH_REPORTED", "MATCH_FORFEITED")]
        self.assertEqual(len(ends), 15, "each match ended once")
        self.assertEqual(self.count("AGENT_REGISTERED"), 7, "nobody registered twice")

    def test_the_manager_is_killed_again_and_again(self):
        manager, _, _ = self.start_league()
        for round_id in (1, 2, 3):
            wait_until(lambda: self.status(manager)["current_round"] >= round_id, 20, f"round {round_id} is played")
            manager.program.kill()
            manager = self.manager_again(port_of(manager))
        self.assert_whole(manager)
        self.assertEqual(self.count("LEAGUE_CONTINUED"), 3)

    def test_a_finished_league_can_be_looked_at(self):
        manager, _, _ = self.start_league("random")
        self.wait_until_over(manager)
        table = self.standings(manager)
        wait_until(lambda: self.count("NEWS_DELIVERED") == 11, 10, "all news has been delivered")
        manager.program.kill()
        before = self.events()
        manager = self.manager_again(port_of(manager))
        self.assertEqual(self.standings(manager), table)
        self.assertEqual(manager.program.stop(), 0)
        self.assertEqual(self.events(), before, "nothing was added")

    def test_the_referee_comes_back_as_who_it_was(self):
        manager, referee, _ = self.start_league()
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 20, "the second round is played")
        referee.program.kill()
        again = self.start_referee(manager, "--data", self.directory / "referee", limits=PATIENT)
        self.assertEqual((again.id, again.url), (referee.id, referee.url))
        self.assert_whole(manager)
        mode = (self.directory / "referee" / "agents" / "referee_whistle.json").stat().st_mode
        self.assertEqual(mode & 0o777, 0o600)

    def test_players_come_back_as_who_they_were(self):
        manager, _, players = self.start_league()
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 20, "the second round is played")
        players[0].program.kill()
        again = self.start_players(
            manager, 6, "slow:20", "--data", self.directory / "players", limits=PATIENT)
        self.assertEqual({p.id: p.url for p in again}, {p.id: p.url for p in players})
        self.assert_whole(manager)

    def test_all_at_once(self):
        manager, referee, players = self.start_league()
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 20, "the second round is played")
        for agent in (manager, referee, players[0]):
            agent.program.kill()
        manager = self.manager_again(port_of(manager))
        self.start_referee(manager, "--data", self.directory / "referee", limits=PATIENT)
        self.start_players(manager, 6, "slow:20", "--data", self.directory / "players", limits=PATIENT)
        self.assert_whole(manager)


class NewLeagues(ContinuationTest):
    def test_new_archives_and_never_overwrites(self):
        first = self.start_manager(4, 1)
        self.start_players(first, 2)
        first.program.stop()
        second = self.manager_again(0, "--new")
        self.assertEqual(self.status(second)["players"], 0)
        second.program.stop()
        archive, = (self.data / "archive").iterdir()
        self.assertEqual(sorted(path.name for path in archive.iterdir()), ["journal", "journal.mark", "leagues", "log.key", "operator.key", "secret.key"])
        third = self.start("league_manager", "--data", archive)
        (url, _), = third.ready()
        status = self.status(Agent(third, url, ""))
        self.assertEqual((status["players"], status["players_expected"]), (2, 4))

    def play(self, *arguments):
        """A whole league of the agents of these directories; all programs end in order."""
        manager = self.start_manager(4, 1, *arguments)
        self.start_referee(manager, "--data", self.directory / "referee")
        players = self.start_players(manager, 3, "random", "--data", self.directory / "players")
        self.start_players(manager, 1, "random", name="passer_by")
        self.wait_until_over(manager, 20)
        key = self.status(manager)["league_key"]
        self.stop_programs()
        self.assertEqual(len(players), 3)
        return key

    def assert_verified(self, data, logs):
        """Both verifiers find nothing wrong with the league that these directories hold, nothing else beside it."""
        place = self.directory / "one_league"
        shutil.copytree(logs, place / "logs", ignore=shutil.ignore_patterns("archive"))
        shutil.copytree(data, place / "data", ignore=shutil.ignore_patterns("archive"))
        done = subprocess.run([BIN / "league", "audit", "verify", place, "--json"], capture_output=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["faults"]), (0, []))
        self.assertEqual(report["logs"], 6)
        self.assertEqual(verify_log.verify(str(place), False)["faults"], [])
        shutil.rmtree(place)

    def test_each_league_has_logs_of_its_own(self):
        first = self.play()
        second = self.play("--new")
        third = self.play("--new")
        self.assertEqual(len({first, second, third}), 3, "a league is known by its key")
        self.assert_verified(self.data, self.logs)
        archives = sorted((self.data / "archive").iterdir(), key=lambda path: path.stat().st_mtime)
        for key, data in zip((first, second), archives):
            self.assert_verified(data, self.logs / "archive" / key[:8])
        self.assertEqual(len(list((self.logs / "archive").iterdir())), 2)
        for path in self.logs.rglob("*.log.jsonl"):
            keys = set(re.findall(rb'"league_key":"([0-9a-f]{64})"', path.read_bytes()))
            self.assertLessEqual(len(keys), 1, path)

    def test_logs_of_earlier_leagues_go_and_those_of_the_present_one_stay(self):
        first = self.play()
        second = self.play("--new")
        self.assertIn('"soon" is neither days', self.refusal("--keep-logs", "soon"))
        archive = self.logs / "archive"
        kept = sorted(path.name for path in (self.logs / "agents").iterdir())
        manager = self.manager_again(0, "--keep-logs", "30d")
        self.assertEqual([path.name for path in archive.iterdir()], [first[:8]])
        manager.program.stop()
        manager = self.manager_again(0, "--keep-logs", "1K")
        self.assertEqual(list(archive.iterdir()), [])
        self.assertEqual(self.status(manager)["league_key"], second)
        manager.program.stop()
        self.assertEqual(sorted(path.name for path in (self.logs / "agents").iterdir()), kept)
        self.assert_verified(self.data, self.logs)

    def test_who_goes_on_with_an_archived_league_finds_its_log_again(self):
        first = self.play()
        self.play("--new")
        archive, = (self.data / "archive").iterdir()
        again = self.start("league_manager", "--data", archive)
        (url, league_id), = again.ready()
        self.assertEqual(self.status(Agent(again, url, league_id))["league_key"], first)
        again.stop()
        log = self.logs / "league" / league_id / "league.log.jsonl"
        self.assertIn(first.encode(), log.read_bytes())
        self.assertTrue(log.with_name("league.log.000001.jsonl").exists())

    def test_two_managers_do_not_write_one_log(self):
        manager = self.start_manager(4, 1)
        text = self.refusal("--data", self.directory / "other_data")
        self.assertIn(f"process {manager.program.process.pid} has it", text)
        self.assertIn("--logs", text)

    def test_another_league_is_not_taken_for_this_one(self):
        self.start_manager(4, 1).program.stop()
        before = self.events()
        for option, value in (("--players", 5), ("--referees", 2), ("--league", "another")):
            text = self.refusal(option, value)
            self.assertIn(f"{option} {value} was given", text)
            self.assertIn("--new", text)
        self.assertEqual(self.events(), before)

    def test_ephemeral_leagues_keep_nothing(self):
        self.start_manager(4, 1, "--ephemeral").program.stop()
        self.assertFalse(self.journal.exists())


class WrongDirectories(ContinuationTest):
    def setUp(self):
        super().setUp()
        manager = self.start_manager(4, 1)
        self.start_players(manager, 2)
        self.manager = manager

    def assert_unchanged_after(self, expected, **restrictions):
        files = [self.journal, *(self.data / "leagues").rglob("*.json")]
        self.assertEqual(len(files), 3)
        before = [path.read_bytes() for path in files]
        text = self.refusal(**restrictions)
        self.assertIn(expected, text)
        self.assertEqual([path.read_bytes() for path in files], before)

    def stop(self):
        self.assertEqual(self.manager.program.stop(), 0)

    def test_two_managers(self):
        self.assertIn(f"process {self.manager.program.process.pid} has it", self.refusal())
        self.assertIn(f"process {self.manager.program.process.pid} has it", self.refusal("--new"))
        self.assertTrue(self.manager.program.is_running)

    def test_a_damaged_journal(self):
        self.stop()
        with open(self.journal, "r+b") as journal:
            journal.seek(4096)
            journal.write(b"\xff" * 200)
        self.assert_unchanged_after("is damaged")

    def test_a_changed_entry(self):
        self.stop()
        with closing(sqlite3.connect(self.journal)) as journal:
            journal.execute("UPDATE entries SET payload = replace(payload, 'bot', 'bat') WHERE sequence = 2")
            journal.commit()
        self.assert_unchanged_after("entry 2 does not match its digest")

    def test_another_version(self):
        self.stop()
        with closing(sqlite3.connect(self.journal)) as journal:
            journal.execute("PRAGMA user_version = 7")
        self.assert_unchanged_after("has version 7")

    def test_something_else(self):
        self.stop()
        self.journal.write_text("dear diary, today I learned that names of files promise nothing")
        self.assert_unchanged_after("is not a journal")

    def test_no_key(self):
        self.stop()
        (self.data / "secret.key").unlink()
        self.assert_unchanged_after("secret.key is missing")
        self.assertFalse((self.data / "secret.key").exists(), "a key that fits nothing would be worse than none")

    def test_another_key(self):
        self.stop()
        (self.data / "secret.key").write_bytes(os.urandom(32))
        self.assert_unchanged_after("does not belong to the league")

    def test_a_full_disk(self):
        self.stop()
        self.assert_unchanged_after("", file_size=0)
        shutil.rmtree(self.data)
        self.refusal(file_size=0)
        self.assertFalse(self.journal.exists() and self.journal.stat().st_size)

    @unittest.skipIf(os.geteuid() != 0, "only root can start a program as somebody else")
    def test_a_directory_that_cannot_be_written(self):
        self.stop()
        for path in (self.directory, self.data, self.data / "journal"):
            path.chmod(0o755)
        self.assert_unchanged_after("Permission denied", user=65534)


if __name__ == "__main__":
    unittest.main()
