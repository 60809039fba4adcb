"""Two managers of one league: whatever becomes of the one that leads, the other goes on where it was.

A stand-by takes over 5 to 6 seconds after the leader's last sign of life; most of the time here is that.
"""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
from contextlib import closing

import support_path  # noqa: F401
from conversation_log import Log
from gathered import gather
from league_testing import BIN, Agent, nightly, wait_until
from nats_broker import NatsBroker
from nats_client import NatsClient
from test_bus import MATCHES, PATIENT, PLAYERS, REFEREES, BusTest
from test_metrics import read, samples_of

# A round is announced, has a table and a summary; the league has an end.
EVENTS = 3 * (PLAYERS - 1) + 1


class StandbyTest(BusTest):
    store = ""  # further lines of the broker's configuration
    incidents = ()  # that both verifiers name

    def setUp(self):
        super().setUp()
        self.streams = self.directory / "streams"
        config = self.directory / "broker.conf"
        config.write_text(f'jetstream {{\nstore_dir: "{self.streams}"\n{self.store}\n}}\n')
        self.start_broker(config)

    def start_broker(self, config, **options):
        self.broker.close()
        self.broker = NatsBroker(config=config, **options).start()
        self.addCleanup(self.broker.close)

    def empty_broker(self):
        """It has lost all that it had acknowledged."""
        self.broker.kill()
        shutil.rmtree(self.streams)
        self.broker.start()

    def ask(self, subject, request=None):
        with NatsClient(self.broker.port) as client:
            return client.request(f"$JS.API.{subject}", json.dumps(request or {}).encode()).json()

    def journal_streams(self):
        return [name for name in self.ask("STREAM.NAMES")["streams"] or () if name.startswith("LEAGUE_STREAM_")]

    def manager(self, data, *arguments):
        """A manager on a machine of its own: its data and its logs are nobody else's."""
        ours, self.logs = self.logs, self.directory / data / "logs"
        try:
            return self.start("league_manager", "--players", PLAYERS, "--referees", REFEREES, "--data",
                              self.directory / data, *arguments)
        finally:
            self.logs = ours

    def standing_by(self, data):
        """A manager that follows: it has the keys, and says whom it follows."""
        (self.directory / data).mkdir()
        for name in ("secret.key", "operator.key", "referee.key"):
            shutil.copy2(self.directory / "one" / name, self.directory / data / name)
        program = self.manager(data, "--standby")
        self.wait_until_follows(program)
        return program

    def wait_until_follows(self, program):
        wait_until(lambda: "stands by" in program.stderr(), 10, "the other manager follows")

    def leads(self, program, seconds=20):
        (url, league), = program.ready(seconds=seconds)
        return Agent(program, url, league)

    def begin(self, strategy="slow:20", options=()):
        """A league that has begun, with one manager that leads and one that stands by."""
        manager = self.leads(self.manager("one", "--replicate", *options))
        second = self.standing_by("two")
        self.start_agents(manager, strategy)
        return manager, second

    def start_agents(self, manager, strategy="slow:20"):
        for i in range(REFEREES):
            self.start_referee(manager, name=f"whistle{i}")
        for i in range(2):
            self.start_players(manager, PLAYERS // 2, strategy, name=f"bot{i}_")

    def status(self, manager):
        try:
            return super().status(manager)
        except OSError as gone:
            raise AssertionError(f"{gone}: {manager.program.stderr()}") from None

    def replication(self, manager):
        return self.status(manager)["replication"]

    def entries(self, data):
        file = self.directory / data / "journal" / "journal.sqlite"
        if not file.exists():
            return []
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            return journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()

    def wait_until_same(self, seconds=20):
        wait_until(lambda: self.entries("one") == self.entries("two"), seconds, "both journals are the same")

    def reported(self, data):
        return sum(kind == "MATCH_REPORTED" for kind, _ in self.entries(data))

    def wait_for_reports(self, data, count, seconds=30):
        wait_until(lambda: self.reported(data) >= count, seconds, f"{count} matches are reported")

    def events(self, *kinds, data=None):
        return super().events(*kinds, data=data or self.data_of_the_last)

    def assert_whole(self, manager, seconds=40):
        self.assert_from(manager)
        super().assert_whole(manager, seconds)

    def assert_from(self, manager):
        """From now on, `events` reads the journal of this manager."""
        given = manager.program.arguments
        self.data_of_the_last = given[given.index("--data") + 1]

    def assert_logs_agree(self):
        """By the journal of the manager that led last, and the logs of all."""
        self.stop_programs()
        machines = {data: self.directory / data / "logs" for data in ("one", "two") if (self.directory / data).exists()}
        logs = {"agents": self.logs / "agents", **machines}
        evidence = gather(self.directory / "evidence", self.data_of_the_last, logs)
        self.assert_verified(*self.incidents, directory=evidence)

    def assert_answers_hold(self):
        """Whatever a referee was told is recorded stands in the journal, as it was reported."""
        log = Log(self.logs)
        reports = {record["conversation_id"]: record["message"] for record in log.matching(dir="out", kind="request")
                   if record.get("message_type") == "MATCH_RESULT_REPORT"}
        answers = [record for record in log.matching(dir="in", kind="reply", peer="league_manager")
                   if record.get("conversation_id") in reports]
        taken = [record["conversation_id"] for record in answers if '"error' not in record["body"]]
        self.assertNotIn("E031", "".join(record["body"] for record in answers), "a manager that no longer led answered")
        self.assertGreater(len(taken), MATCHES // 2)
        journal = {event["match"]: event for event in self.events("MATCH_REPORTED")}
        for report in map(reports.get, taken):
            event, details = journal[report["match_id"]], report["result"]["details"]
            self.assertEqual((event["attempt"], event["result"]["drawn_number"]),
                             (details["attempt"], details["drawn_number"]), report)


class TakingOver(StandbyTest):
    def test_the_first_lets_matches_end_and_hands_over(self):
        manager, second = self.begin(options=("--drain", 20))
        self.wait_for_reports("one", 4)
        self.assertEqual(manager.program.stop(), 0)
        again = self.leads(second)
        had = self.entries("one")
        self.assertEqual(self.entries("two")[:len(had)], had)
        self.assert_whole(again)
        self.assertEqual([(event["act"], event["by"]) for event in self.events("OPERATOR_ACTED")],
                         [("PAUSE", "league_manager"), ("RESUME", "league_manager")])
        self.assertEqual(self.events("MATCH_RELEASED"), [], "no match was played for nothing")

    def test_the_first_is_held_up_and_follows_and_leads_again(self):
        """What a supervisor does with a manager that has ended is done here by the test."""
        manager, second = self.begin("slow:40")
        self.wait_for_reports("one", 4)
        manager.program.process.send_signal(signal.SIGSTOP)
        again = self.leads(second)
        self.wait_for_reports("two", 8)
        manager.program.process.send_signal(signal.SIGCONT)
        self.assertEqual(manager.program.process.wait(10), 2)
        self.assertIn("this manager no longer leads and ends: ", manager.program.stderr())
        third = self.manager("one", "--replicate")
        self.wait_until_follows(third)
        self.wait_for_reports("two", 16)
        again.program.kill()
        self.assert_whole(self.leads(third))
        self.assert_answers_hold()

    @nightly
    def test_they_take_turns(self):
        """Whoever leads is killed, again and again, and comes back as the second."""
        manager, second = self.begin("slow:60")
        leader, other = "one", "two"
        for matches in (4, 9, 14, 19):
            self.wait_for_reports(leader, matches)
            manager.program.kill()
            manager = self.leads(second)
            leader, other = other, leader
            second = self.manager(other, "--replicate")
            self.wait_until_follows(second)
        self.wait_until_over(manager, 40)
        self.wait_until_same()
        self.assert_whole(manager)
        self.assert_answers_hold()


class WithUsers(StandbyTest):
    """A broker that knows its users: both managers are the manager, and have its user at the streams."""

    def setUp(self):
        super().setUp()
        made = subprocess.run([BIN / "league", "bus-config", "--json", "--players", str(PLAYERS), "--referees",
                               str(REFEREES), "--league", "cup", "--jetstream", "kept"], cwd=self.directory,
                              capture_output=True, timeout=60, check=True)
        self.config = json.loads(made.stdout)
        self.start_broker(self.directory / self.config["servers"][0], log=self.directory / "broker.log")

    def credentials(self, name):
        return ["--bus-credentials", self.directory / self.config["credentials"][name]]

    def manager(self, data, *arguments):
        return super().manager(data, "--league", "cup", *self.credentials("manager"), *arguments)

    def start_agents(self, manager, strategy="slow:20"):
        for i in range(1, REFEREES + 1):
            self.start_referee(manager, *self.credentials(f"referee0{i}"), name=f"whistle{i}")
        for i in range(1, PLAYERS + 1):
            self.start_players(manager, 1, strategy, *self.credentials(f"player0{i}"), name=f"bot{i}")

    def test_the_first_is_killed(self):
        manager, second = self.begin()
        self.wait_for_reports("one", 14)
        before = self.replication(manager)
        manager.program.kill()
        again = self.leads(second)
        now = self.replication(again)
        self.assertEqual((again.id, now["stream"]), ("cup", before["stream"]))
        self.assertNotEqual(now["leader"], before["leader"])
        self.assertGreater(now["term"], before["term"])
        self.wait_until_over(again)
        self.assert_events_are_read()
        self.assert_whole(again)
        self.assert_answers_hold()
        terms = [event["term"] for event in self.events("LEAGUE_CONTINUED") if "term" in event]
        self.assertEqual(len(terms), 2, "only the death of the first ended its term")
        self.assertNotIn("Violation", (self.directory / "broker.log").read_text())

    def assert_events_are_read(self):
        """All of the league, by an operator, from the stream: no takeover leaves a gap for outsiders."""
        read_all = subprocess.run([BIN / "league", "events", "--bus", self.broker.url, *self.credentials("operator"),
                                   "--durable", "archive", "--json", "--count", str(EVENTS)],
                                  capture_output=True, text=True, timeout=30, check=True)
        numbers = [json.loads(line)["sequence"] for line in read_all.stdout.splitlines()]
        self.assertEqual(numbers, list(range(1, EVENTS + 1)))


class LosingStreams(StandbyTest):
    # A referee does not play an attempt again that it has finished for a manager that is lost.
    patience = {**PATIENT, "league": {**PATIENT["league"], "match_watchdog_ms": 3000}}

    def test_the_broker_loses_everything_twice_and_then_the_stream(self):
        manager, second = self.begin("slow:40")
        self.wait_for_reports("one", 6)
        self.empty_broker()
        time.sleep(2)  # the managers are in the middle of opening another stream, or have just done so
        self.empty_broker()
        self.wait_for_reports("one", 12)
        stream = wait_until(lambda: max(self.journal_streams(), default=None), 10, "there is a stream again")
        self.assertIn("error", self.ask(f"STREAM.PURGE.{stream}"), "nobody may empty it")
        self.assertNotIn("error", self.ask(f"STREAM.DELETE.{stream}"))
        self.wait_for_reports("one", 18)
        self.assertNotIn(stream, self.journal_streams(), "it is never made again")
        self.wait_until_over(manager)
        self.wait_until_same()
        self.assertTrue(second.is_running, second.stderr())
        self.assert_whole(manager)
        self.assert_answers_hold()

    def test_a_leader_is_lost_with_the_stream(self):
        """What only these had is lost, and the operator decides that, nobody else."""
        manager, second = self.begin("slow:60")
        self.wait_for_reports("one", 4)
        manager.program.kill()
        manager = self.leads(second)  # alone: nobody else has what it writes
        self.wait_for_reports("two", 12)
        name = self.replication(manager)["leader"]
        manager.program.kill()
        self.empty_broker()
        first = self.manager("one", "--standby")
        wait_until(lambda: "has lost messages" in first.stderr(), 15, "the first says what it waits for")
        said = re.search(r"entries up to (\d+), waits for (\S+), which may .* --lose-after (\d+)`", first.stderr())
        self.assertEqual(said.groups(), (str(len(self.entries("one"))), name, said[1]))
        decided = subprocess.run([BIN / "league", "admin", "lead", self.directory / "one", "--lose-after", said[1]],
                                 capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(decided.returncode, 0, decided.stderr)
        again = self.leads(first)
        self.assertFalse((self.directory / "one" / "lose_after").exists())
        back = self.manager("two", "--replicate")
        wait_until(lambda: "are put aside" in back.stderr(), 10, "the second gives up what it had alone")
        self.assertTrue(list((self.directory / "two" / "put_aside").iterdir()))
        self.wait_until_over(again)
        self.wait_until_same()
        self.incidents = ["journal.given_up"]
        self.assert_whole(again)


class AFullStore(StandbyTest):
    store = "max_file_store: 8MB"
    patience = {**PATIENT, "bus": {**PATIENT["bus"], "events_max_mib": 1, "journal_max_mib": 1}}

    def test_the_league_is_paused_until_there_is_room(self):
        manager, _ = self.begin("slow:300")
        self.wait_for_reports("one", 4)
        self.assertNotIn("error", self.ask("STREAM.CREATE.OTHER", {"name": "OTHER", "subjects": ["other"]}))
        with NatsClient(self.broker.port) as client:
            wait_until(lambda: "error" in client.request("other", b"x" * 100_000).json(), 20, "the store is full")
        self.wait_until_said(manager, "the stream's store is full, so the league is paused")
        self.assertIn("store is full", self.replication(manager)["waits_for"])
        self.assertLess(self.status(manager)["matches_completed"], MATCHES)
        self.assertNotIn("error", self.ask("STREAM.DELETE.OTHER"))
        self.assert_whole(manager)
        self.assert_answers_hold()


class Beginning(StandbyTest):
    def test_a_league_of_one_manager_gets_others(self):
        """As a league does whose managers shared it in an older way: its local journal is what goes on."""
        manager = self.leads(self.manager("one"))
        self.start_agents(manager, "slow:40")
        self.wait_for_reports("one", 4)
        self.assertEqual(manager.program.stop(), 0)
        manager = self.leads(self.manager("one", "--replicate"), seconds=10)
        self.wait_for_reports("one", 12)
        self.assertEqual(self.replication(manager)["standbys"], [], "it answers on its own")
        second = self.standing_by("two")
        self.wait_until_over(manager)
        self.wait_until_same()
        self.assert_shown(manager)
        self.assertTrue(second.is_running)
        self.assert_whole(manager)

    def assert_shown(self, manager):
        """What the status says of replication, and the same by /metrics."""
        status, samples = wait_until(lambda: self.shown_when_all_have(manager), 10, "the stand-by is in sync")
        self.assertLess(status["standbys"][0]["silent_seconds"], 2)
        self.assertEqual((status["stream"], status["waits_for"], status["store_max_bytes"]), (1, "", 512 << 20))
        self.assertGreater(status["store_bytes"], 0)
        self.assertEqual(samples["league_replication_term"], status["term"])
        self.assertGreater(samples["league_journal_store_ratio"], 0)

    def shown_when_all_have(self, manager):
        """None while somebody lacks entries, or there are new ones between the two questions."""
        status = self.replication(manager)
        samples = samples_of(read(manager.url.removesuffix("/mcp") + "/metrics"))
        label = f'{{name="{status["standbys"][0]["name"]}"}}'
        had = {samples.get(name) for name in ("league_replication_acknowledged", "league_replication_written",
                                              "league_standby_entries" + label)}
        had |= {status["acknowledged"], status["written"], status["standbys"][0]["entries"], len(self.entries("one"))}
        is_in_sync = status["standbys"][0]["in_sync"] and samples["league_standby_in_sync" + label] == 1
        return (status, samples) if is_in_sync and len(had) == 1 else None

    def test_the_second_needs_the_key(self):
        manager = self.leads(self.manager("one", "--replicate"))
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
        self.assertTrue(manager.program.is_running)

    def test_a_copy_of_the_directory_has_another_name(self):
        first = self.leads(self.manager("one", "--replicate"))
        name = self.replication(first)["leader"]
        first.program.kill()
        shutil.copytree(self.directory / "one", self.directory / "two")
        copy = self.manager("two", "--replicate")
        again = self.leads(self.manager("one", "--replicate"), seconds=5)
        self.assertEqual((again.id, self.replication(again)["leader"]), (first.id, name))
        self.wait_until_follows(copy)
        self.assertIn(f"is led by '{name}'", copy.stderr())
        other, = wait_until(lambda: self.replication(again)["standbys"], 5, "the copy is heard")
        self.assertNotEqual(other["name"], name)

    def test_a_new_league_needs_the_old_one_to_be_over(self):
        manager = self.leads(self.manager("one", "--replicate"))
        name, stream = self.replication(manager)["leader"], f"LEAGUE_STREAM_1_{manager.id}"
        created = self.ask(f"STREAM.INFO.{stream}")["created"]
        program = self.manager("two", "--replicate", "--new")
        self.assertEqual(program.process.wait(10), 2)
        self.assertIn(name, program.stderr())
        self.assertTrue(manager.program.is_running)
        manager.program.kill()
        again = self.leads(self.manager("one", "--replicate", "--new"), seconds=10)
        self.assert_from(again)
        self.assertEqual(len(self.events("LEAGUE_CREATED")), 1)
        self.assertTrue(list((self.directory / "one" / "archive").iterdir()))
        self.assertEqual(self.journal_streams(), [stream])
        self.assertNotEqual(self.ask(f"STREAM.INFO.{stream}")["created"], created)

    def test_what_cannot_be(self):
        for arguments in (["--replicate", "--ephemeral"], ["--standby", "--ephemeral"], ["--replicate", "sync"]):
            program = self.start("league_manager", *arguments)
            self.assertNotEqual(program.process.wait(10), 0, arguments)
        decided = subprocess.run([BIN / "league", "admin", "lead", self.directory / "nowhere", "--lose-after", "3"],
                                 capture_output=True, timeout=20, check=False)
        self.assertEqual(decided.returncode, 2)

    def test_a_broker_without_streams_is_said(self):
        self.broker.close()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)
        program = self.manager("one", "--replicate")
        wait_until(lambda: "no JetStream" in program.stderr(), 10, "it says what is missing")
        self.assertEqual(program.stop(), 0)


if __name__ == "__main__":
    unittest.main()
