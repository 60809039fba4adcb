"""Leagues at a broker that keeps streams, and loses them, or has no room for them: every league ends."""

import json
import shutil
import signal
import unittest

import support_path  # noqa: F401
from league_testing import wait_until
from nats_broker import NatsBroker
from nats_client import NatsClient
import test_bus
from test_bus import MATCHES, PATIENT, PLAYERS, REFEREES, UNHURRIED, said


class StreamsTest(test_bus.BusTest):
    def setUp(self):
        super().setUp()
        self.broker.close()
        self.streams = self.directory / "streams"
        self.broker = NatsBroker(jetstream_dir=self.streams).start()
        self.addCleanup(self.broker.close)

    def records_of(self, agent_id):
        """What the log of an agent holds, as text: programs are to be stopped before."""
        return (self.logs / "agents" / f"{agent_id}.log.jsonl").read_text()

    def ask(self, subject, request=None):
        with NatsClient(self.broker.port) as client:
            return client.request(f"$JS.API.{subject}", json.dumps(request or {}).encode()).json()

    def open_matches(self, referee):
        reported = {event["match"] for event in self.events("MATCH_REPORTED")}
        return {event["match"] for event in self.events("MATCH_ASSIGNED") if event["referee"] == referee} - reported


class WithStreams(StreamsTest):
    def test_matches_are_assigned_as_everywhere(self):
        manager, referees, _ = self.start_league("random")
        self.assert_whole(manager)
        for referee in referees:
            self.assertIn('"message_type":"ROUND_ANNOUNCEMENT"', self.records_of(referee.id))
        self.assertEqual({event["referee"] for event in self.events("MATCH_REPORTED")}, set(range(REFEREES)))
        self.assertEqual(self.ask("STREAM.NAMES")["streams"], [f"LEAGUE_EVENTS_{manager.id}"])

    def test_a_referee_that_never_comes_back(self):
        self.patience = {**self.patience, "league": {**self.patience["league"], "referee_ping_failures": 5}}
        manager, referees, _ = self.start_league("slow:200")
        self.wait_for_matches(4)
        wait_until(lambda: self.open_matches(0), 10, "the referee plays")
        referees[0].program.kill()
        interrupted = self.open_matches(0)
        self.assert_whole(manager)
        reported = {event["match"]: event for event in self.events("MATCH_REPORTED")}
        for match in interrupted:
            self.assertEqual((reported[match]["attempt"], reported[match]["referee"]), (2, 1))

    def test_the_manager_dies(self):
        manager, _, _ = self.start_league("slow:60")
        self.wait_for_matches(6)
        manager.program.kill()
        self.assert_whole(self.manager_again())

    def test_the_broker_loses_what_it_had_acknowledged(self):
        manager, _, _ = self.start_league("slow:60")
        self.wait_for_matches(6)
        self.broker.kill()
        shutil.rmtree(self.streams)
        self.broker.start()
        self.assert_whole(manager, seconds=60)
        self.assertGreater(self.ask(f"STREAM.INFO.LEAGUE_EVENTS_{manager.id}")["state"]["messages"], 0)

    def test_a_manager_that_is_there_before_its_broker(self):
        self.broker.kill()
        manager = self.start_manager()
        self.broker.start()
        for i in range(REFEREES):
            self.start_referee(manager, name=f"whistle{i}")
        self.start_players(manager, PLAYERS, "slow:50")
        self.assert_whole(manager)


class AFullStore(StreamsTest):
    def fill(self):
        """A stream of somebody else takes all that the broker has."""
        self.broker.close()
        config = self.directory / "tight.conf"
        config.write_text(f'jetstream {{ store_dir: "{self.streams}", max_file_store: 1MB, max_memory_store: 1MB }}\n')
        self.broker = NatsBroker(config=config).start()
        self.addCleanup(self.broker.close)
        self.assertNotIn("error", self.ask("STREAM.CREATE.FULL", {"name": "FULL", "subjects": ["full"]}))
        with NatsClient(self.broker.port) as client:
            for _ in range(20):
                if "error" in client.request("full", b"x" * 100_000).json():
                    return
        self.fail("it is never full")

    def test_keeps_no_events_and_stops_no_league(self):
        self.fill()
        manager, _, _ = self.start_league("slow:20")
        self.wait_until_said(manager, "so nobody can read them later", 30)
        self.assert_whole(manager)
        self.assertEqual(said(manager).count("so nobody can read them later"), 1)

    def test_a_journal_without_room_pauses_the_league(self):
        """Its own limit is reached here; in test_standby.py, the broker's is."""
        self.patience = {**self.patience, "bus": {**PATIENT["bus"], "events_max_mib": 1, "journal_max_mib": 1}}
        manager = self.start_manager(PLAYERS, REFEREES, "--replicate")
        configs = {}
        for name in (f"LEAGUE_EVENTS_{manager.id}", f"LEAGUE_STREAM_1_{manager.id}"):
            configs[name] = self.ask(f"STREAM.INFO.{name}")["config"]
            self.assertEqual(configs[name]["max_bytes"], 1 << 20)
            # Next to no room from now on: below what it holds, it would lose messages.
            used = self.ask(f"STREAM.INFO.{name}")["state"]["bytes"]
            self.limit(configs[name], max_bytes=used + 1000, discard="new")
        program = self.start("referee", "--manager", "nats:manager/" + manager.id, "--name", "whistle0",
                             *self.admission(manager), "--data", self.directory / "agents")
        self.wait_until_said(manager, "the stream's store is full, so the league is paused")
        with self.assertRaises(AssertionError):
            program.ready(seconds=0.2)
        self.assertIn("store is full", self.status(manager)["replication"]["waits_for"])
        self.limit(configs[f"LEAGUE_STREAM_1_{manager.id}"])
        program.ready()
        self.start_referee(manager, name="whistle1")
        self.start_players(manager, PLAYERS, "slow:20")
        self.assert_whole(manager)

    def limit(self, config, **changes):
        self.assertNotIn("error", self.ask(f"STREAM.UPDATE.{config['name']}", {**config, **changes}))


class Silence(StreamsTest):
    patience = UNHURRIED

    def test_is_a_state_of_the_agent(self):
        manager, _, players = self.start_league("slow:100")
        frozen = players[0].program.process
        frozen.send_signal(signal.SIGSTOP)
        self.addCleanup(frozen.send_signal, signal.SIGCONT)
        self.wait_until_said(manager, "is silent on the bus")
        wait_until(lambda: self.changes("SUSPENDED"), 5, "the journal says so")
        frozen.send_signal(signal.SIGCONT)
        self.wait_until_said(manager, "is back on the bus")
        wait_until(lambda: set(self.changes("ACTIVE")) >= {(agent, "HEARD_AGAIN") for agent, reason in
                                                           self.changes("SUSPENDED") if reason == "SILENT"}, 5,
                   "they are active again")
        self.assertIn("SILENT", {reason for _, reason in self.changes("SUSPENDED")})
        status = self.wait_until_over(manager)
        self.assertEqual(status["matches_completed"], MATCHES)
        self.assertNotIn("REF", " ".join(agent for agent, _ in self.changes("SUSPENDED")))
        self.assertIn("is back", said(manager))

    def changes(self, state):
        return [(event["agent"], event["reason"]) for event in self.events("AGENT_STATE_CHANGED")
                if event["to"] == state]


if __name__ == "__main__":
    unittest.main()
