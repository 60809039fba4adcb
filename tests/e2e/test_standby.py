"""Two managers of one league: whatever becomes of the one that leads, the other goes on where it was."""

import json
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest
from contextlib import closing

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, Agent, limits, nightly, wait_until
from nats_broker import NatsBroker
from nats_client import NatsClient
from test_bus import MATCHES, PATIENT, PLAYERS, REFEREES, BusTest, said

LEASE = 3
QUICK = {**PATIENT, "bus": {"keep_alive_ms": 200, "lease_ms": LEASE * 1000}}


class StandbyTest(BusTest):
    patience = QUICK

    def setUp(self):
        super().setUp()
        self.broker.close()
        streams = tempfile.mkdtemp(prefix="league_streams_")
        self.addCleanup(shutil.rmtree, streams, ignore_errors=True)
        self.broker = NatsBroker(jetstream_dir=streams).start()
        self.addCleanup(self.broker.close)

    def manager(self, data, *arguments, **options):
        """A manager on a machine of its own: its data and its logs are nobody else's."""
        return self.start("league_manager", "--players", PLAYERS, "--referees", REFEREES, "--data",
                          self.directory / data, *arguments, logs=self.directory / data / "logs", **options)

    def start(self, name, *arguments, logs=None, **options):
        if logs is None:
            return super().start(name, *arguments, **options)
        ours, self.logs = self.logs, logs
        try:
            return super().start(name, *arguments, **options)
        finally:
            self.logs = ours

    def standing_by(self, data, *arguments, key_of="one"):
        """A manager that follows: it has the key, and says whom it follows."""
        (self.directory / data).mkdir(exist_ok=True)
        for name in ("secret.key", "operator.key", "referee.key"):
            shutil.copy2(self.directory / key_of / name, self.directory / data / name)
        program = self.manager(data, "--standby", *arguments)
        self.wait_until_follows(program)
        return program

    def wait_until_follows(self, program):
        wait_until(lambda: "stands by" in program.stderr(), 10, "the other manager follows")

    def leads(self, program, seconds=20):
        (url, league), = program.ready(seconds=seconds)
        return Agent(program, url, league)

    def begin(self, mode="sync", strategy="slow:20", options=()):
        """A league that has begun, with one manager that leads and one that stands by."""
        first = self.manager("one", "--replicate", mode, *options)
        manager = self.leads(first)
        # On its own it answers only with `async`.
        second = self.standing_by("two", "--replicate", "async")
        for i in range(REFEREES):
            self.start_referee(manager, name=f"whistle{i}")
        self.players = [self.start_players(manager, PLAYERS // 2, strategy, name=f"bot{i}_")[0] for i in range(2)]
        return manager, second

    def entries(self, data):
        file = self.directory / data / "journal" / "journal.sqlite"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            return journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()

    def reported(self, data):
        return sum(kind == "MATCH_REPORTED" for kind, _ in self.entries(data))

    def wait_for_reports(self, data, count, seconds=30):
        wait_until(lambda: self.reported(data) >= count, seconds, f"{count} matches are reported")

    def events(self, *kinds, data="two"):
        return super().events(*kinds, data=data)

    def assert_answers_hold(self, data="two"):
        """Whatever a referee was told is recorded stands in the journal, as it was reported."""
        log = Log(self.logs)
        reports = {record["conversation_id"]: record["message"] for record in log.matching(dir="out", kind="request")
                   if record.get("message_type") == "MATCH_RESULT_REPORT"}
        answers = [record for record in log.matching(dir="in", kind="reply", peer="league_manager")
                   if record.get("conversation_id") in reports]
        taken = [record["conversation_id"] for record in answers if '"error' not in record["body"]]
        self.assertGreater(len(taken), MATCHES // 2)
        journal = {event["match"]: event for event in self.events("MATCH_REPORTED", data=data)}
        for report in map(reports.get, taken):
            event, details = journal[report["match_id"]], report["result"]["details"]
            self.assertEqual((event["attempt"], event["result"]["drawn_number"]),
                             (details["attempt"], details["drawn_number"]), report)

    def common(self, one="one", other="two"):
        """How many entries of `one` the other's journal begins with, and how many it has besides."""
        mine, theirs = self.entries(one), self.entries(other)
        same = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))
        return same, len(mine) - same


class TakingOver(StandbyTest):
    def test_the_first_is_killed(self):
        manager, second = self.begin()
        self.wait_for_reports("one", 8)
        manager.program.kill()
        self.assert_whole(self.leads(second))
        self.assert_answers_hold()
        terms = [event["term"] for event in self.events("LEAGUE_CONTINUED") if "term" in event]
        self.assertEqual(len(terms), 2)
        self.assertLess(terms[0], terms[1])

    def test_the_first_lets_matches_end_and_hands_over(self):
        manager, second = self.begin(options=("--drain", 20))
        self.wait_for_reports("one", 4)
        self.assertEqual(manager.program.stop(), 0)
        self.assert_whole(self.leads(second))
        self.assertEqual([(event["act"], event["by"]) for event in self.events("OPERATOR_ACTED")],
                         [("PAUSE", "league_manager"), ("RESUME", "league_manager")])
        self.assertEqual(self.events("MATCH_RELEASED"), [], "no match was played for nothing")

    def test_the_first_is_held_up_and_goes_on(self):
        manager, second = self.begin()
        self.wait_for_reports("one", 8)
        manager.program.process.send_signal(signal.SIGSTOP)
        again = self.leads(second)
        self.wait_for_reports("two", 12)
        manager.program.process.send_signal(signal.SIGCONT)
        self.assertEqual(manager.program.process.wait(10), 2)
        self.assertIn("no longer leads", manager.program.stderr())
        self.assert_whole(again)
        self.assert_answers_hold()

    def test_the_first_comes_back_as_the_second(self):
        manager, second = self.begin()
        self.wait_for_reports("one", 4)
        manager.program.kill()
        again = self.leads(second)
        third = self.manager("one", "--replicate", "async")
        self.wait_until_follows(third)
        self.wait_for_reports("two", 14)
        again.program.kill()
        self.assert_whole(self.leads(third), data="one")

    @nightly
    def test_they_take_turns(self):
        """Both wait for each other's word. Whoever leads is killed, again and again, and comes back as the second."""
        manager, second = self.begin(strategy="slow:60")
        second.kill()
        leader, other = "one", "two"
        for matches in (4, 9, 14, 19):
            follower = self.manager(other, "--replicate", "sync")
            self.wait_until_follows(follower)
            self.wait_for_reports(leader, matches)
            manager.program.kill()
            manager = self.leads(follower)
            leader, other = other, leader
        self.wait_until_follows(self.manager(other, "--replicate", "sync"))
        self.wait_until_over(manager, 40)
        # While both run: who stops last writes down that others have gone.
        wait_until(lambda: self.common(leader, other)[1] == 0, 20, "both journals are the same")
        self.assert_whole(manager, data=leader)

    def assert_whole(self, manager, seconds=40, data="two"):
        self.events_of = data
        super().assert_whole(manager, seconds)

    def assert_journal(self):
        if self.events_of == "one":
            plain, self.events = self.events, lambda *kinds: StandbyTest.events(self, *kinds, data="one")
            self.addCleanup(setattr, self, "events", plain)
        super().assert_journal()


class GivingBack(StandbyTest):
    """A lead that is not given back stands for another minute."""
    patience = {**QUICK, "bus": {**QUICK["bus"], "lease_ms": 60_000}}

    def test_the_first_stops_in_order(self):
        manager, second = self.begin("async")
        self.wait_for_reports("one", 8)
        self.assertEqual(manager.program.stop(), 0)
        again = self.leads(second)
        self.assertEqual(self.common()[1], 0, "the second has everything")
        self.assert_whole(again)


class StartedAgain(StandbyTest):
    """The word of a manager that was killed stands for another minute."""
    patience = {**QUICK, "bus": {**QUICK["bus"], "lease_ms": 60_000}}

    def setUp(self):
        super().setUp()
        self.first = self.leads(self.manager("one", "--replicate", "async"))
        self.first.program.kill()

    def test_it_leads_at_once(self):
        again = self.leads(self.manager("one", "--replicate", "async"), seconds=10)
        self.assertEqual(again.id, self.first.id)
        again.program.kill()
        self.leads(self.manager("one", "--replicate", "async"), seconds=10)

    def test_a_new_league_begins_at_once(self):
        self.leads(self.manager("one", "--replicate", "async", "--new"), seconds=10)
        self.assertEqual(len(self.events("LEAGUE_CREATED", data="one")), 1)

    def test_one_that_cannot_serve_lets_another_lead(self):
        failing = self.manager("one", "--replicate", "async", port=self.broker.port)
        self.assertEqual(failing.process.wait(20), 2)
        self.assertIn("leads league", failing.stderr())
        (self.directory / "two").mkdir()
        shutil.copy2(self.directory / "one" / "secret.key", self.directory / "two")
        self.leads(self.manager("two", "--standby"), seconds=10)

    def test_a_copy_of_the_directory_waits(self):
        shutil.copytree(self.directory / "one", self.directory / "two")
        copy = self.manager("two", "--replicate", "async")
        self.wait_until_follows(copy)
        again = self.leads(self.manager("one", "--replicate", "async"), seconds=10)
        self.assertTrue(copy.is_running)
        self.assertTrue(again.program.is_running)


class WithUsers(StandbyTest):
    """A broker that knows its users: both managers are the manager, and have its user at the streams."""

    def setUp(self):
        super().setUp()
        made = subprocess.run([BIN / "league", "bus-config", "--json", "--players", str(PLAYERS), "--referees",
                               str(REFEREES), "--league", "cup", "--jetstream", "kept"], cwd=self.directory,
                              capture_output=True, timeout=60, check=True)
        self.config = json.loads(made.stdout)
        self.broker.close()
        self.broker = NatsBroker(config=self.directory / self.config["servers"][0],
                                 log=self.directory / "broker.log").start()
        self.addCleanup(self.broker.close)

    def credentials(self, name):
        return self.directory / self.config["credentials"][name]

    def manager(self, data, *arguments):
        return super().manager(data, "--league", "cup", "--bus-credentials", self.credentials("manager"), *arguments)

    def client(self, name, **options):
        client = NatsClient.of(self.credentials(name), self.broker.port, **options)
        self.addCleanup(client.close)
        return client

    def test_one_follows_the_other(self):
        manager = self.leads(self.manager("one", "--replicate", "sync"))
        second = self.standing_by("two")
        wait_until(lambda: (self.directory / "two" / "journal" / "journal.sqlite").exists()
                   and self.common("one", "two")[1] == 0, 10, "the second has everything")
        manager.program.kill()
        self.assertEqual(self.leads(second).id, "cup")

    def test_a_league_in_which_everybody_has_a_user(self):
        first = self.manager("one", "--replicate", "sync")
        manager = self.leads(first)
        second = self.standing_by("two", "--replicate", "async")
        for i in range(REFEREES):
            self.start_referee(manager, "--bus-credentials", self.credentials(f"referee0{i + 1}"), name=f"whistle{i}")
        for i in range(PLAYERS):
            self.start_players(manager, 1, "slow:20", "--bus-credentials", self.credentials(f"player0{i + 1}"),
                               name=f"bot{i}")
        self.wait_for_reports("one", 14)
        self.assertTrue(first.is_running, first.stderr())
        first.kill()
        again = self.leads(second)
        terms = [event["term"] for event in self.events("LEAGUE_CONTINUED") if "term" in event]
        self.assertEqual(len(terms), 2, "only the death of the first ended its term")
        self.wait_until_over(again, 60)
        self.assert_each_match_once()
        self.assert_events_are_read()
        self.assert_logs_agree()
        self.assertNotIn("Violation", (self.directory / "broker.log").read_text())

    def assert_each_match_once(self):
        played = [event["match"] for event in self.events("MATCH_REPORTED")]
        self.assertEqual((len(played), len(set(played))), (MATCHES, MATCHES))

    def assert_events_are_read(self):
        """By an operator, from the stream."""
        read = subprocess.run([BIN / "league", "events", "--bus", self.broker.url, "--bus-credentials",
                               self.credentials("operator"), "--durable", "archive", "--json", "--count", "5"],
                              capture_output=True, text=True, timeout=30, check=True)
        numbers = [json.loads(line)["sequence"] for line in read.stdout.splitlines()]
        self.assertEqual(numbers, [1, 2, 3, 4, 5])


class Replicating(StandbyTest):
    def test_without_a_follower_nothing_is_answered(self):
        first = self.manager("one", "--replicate", "sync")
        manager = self.leads(first)
        waiting = self.start("player", "--manager", "nats:manager/" + manager.id, "--name", "early")
        wait_until(lambda: "nothing is answered" in said(manager), 20, "the manager says what it waits for")
        with self.assertRaises(AssertionError):
            waiting.ready(seconds=0.2)
        self.standing_by("two")
        waiting.ready()
        self.assertEqual(len(self.events("AGENT_REGISTERED")), 1)

    def test_the_second_needs_the_key(self):
        manager = self.leads(self.manager("one", "--replicate", "async"))
        program = self.manager("two", "--standby")
        self.assertEqual(program.process.wait(10), 2)
        self.assertIn("secret.key", program.stderr())
        self.assertFalse((self.directory / "two" / "secret.key").exists())
        (self.directory / "three").mkdir()
        (self.directory / "three" / "secret.key").write_bytes(bytes(32))
        (self.directory / "three" / "secret.key").chmod(0o600)
        self.start_players(manager, 1)
        program = self.manager("three", "--standby")
        self.assertEqual(program.process.wait(10), 2)
        self.assertIn("is not the key of league", program.stderr())

    def test_a_directory_that_went_another_way_is_refused(self):
        manager, second = self.begin("async")
        self.wait_for_reports("one", 4)
        wait_until(lambda: self.reported("two") >= 4, 10, "the second has it too")
        second.kill()
        manager.program.kill()
        with closing(sqlite3.connect(self.directory / "two" / "journal" / "journal.sqlite")) as journal:
            count = journal.execute("SELECT count(*) FROM entries").fetchone()[0]
        # What the first wrote last without anybody having it stands against what the second writes then.
        again = self.leads(self.manager("two", "--standby"))
        wait_until(lambda: len(self.entries("two")) > count, 10, "the second goes on")
        more = self.common()[1]
        program = self.manager("one", "--replicate", "async")
        if more > 0:
            self.assertEqual(program.process.wait(10), 2)
            self.assertIn("--new", program.stderr())
        else:
            self.wait_until_follows(program)
        self.assertTrue(again.program.is_running)

    def test_what_cannot_be(self):
        for arguments in (["--replicate", "sync", "--ephemeral"], ["--standby", "--ephemeral"],
                          ["--replicate", "often"]):
            program = self.start("league_manager", *arguments)
            self.assertNotEqual(program.process.wait(10), 0, arguments)

    def test_a_broker_without_streams_is_said(self):
        self.broker.close()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)
        program = self.manager("one", "--replicate", "async")
        wait_until(lambda: "no JetStream" in program.stderr(), 10, "it says what is missing")
        self.assertEqual(program.stop(), 0)


if __name__ == "__main__":
    unittest.main()
