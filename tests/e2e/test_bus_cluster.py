"""A cluster of brokers that keeps each stream three times: one of them may go, whichever it is."""

import json
import subprocess
import unittest
from collections import Counter
from unittest import mock

import support_path  # noqa: F401
from bus_config import free_ports
from league_testing import BIN, Agent, wait_until
from nats_broker import NatsBroker
from nats_client import NatsClient, NatsError
from test_bus import MATCHES, PATIENT, PLAYERS, REFEREES, BusTest

BROKERS = 3
STREAMS = ["LEAGUE_EVENTS_cup", "LEAGUE_STREAM_1_cup"]


class ThreeBrokers(BusTest):
    patience = {**PATIENT, "bus": {"keep_alive_ms": 500, "replicas": 3}}

    def setUp(self):
        super().setUp()
        ports = free_ports(2 * BROKERS)
        addresses = [f"127.0.0.1:{client}:{route}" for client, route in zip(ports[:BROKERS], ports[BROKERS:])]
        made = subprocess.run([BIN / "league", "bus-config", "--json", "--players", str(PLAYERS), "--referees",
                               str(REFEREES), "--league", "cup", "--jetstream", "kept", "--cluster",
                               ",".join(addresses)], cwd=self.directory, capture_output=True, timeout=60, check=True)
        config = json.loads(made.stdout)
        self.credentials = {name: self.directory / file for name, file in config["credentials"].items()}
        self.broker.close()
        self.brokers = [NatsBroker(config=self.directory / server, port=port)
                        for server, port in zip(config["servers"], ports)]
        for broker in self.brokers:
            broker.start()
            self.addCleanup(broker.close)
        self.url = ",".join(broker.url for broker in self.brokers)
        self.broker = mock.Mock(url=self.url)
        wait_until(lambda: self.ask("$JS.API.INFO"), 40, "the cluster has found together")

    def ask(self, subject):
        """What a broker that is there answers to the manager's user at the streams; None: not now."""
        broker = next(broker for broker in self.brokers if broker.is_running())
        try:
            with NatsClient.of(self.credentials["manager"], broker.port, at_streams=True) as client:
                answer = client.request(subject, seconds=2).json()
            return None if "error" in answer else answer
        except (NatsError, OSError, AssertionError):
            return None

    def stream(self, name):
        return wait_until(lambda: self.ask(f"$JS.API.STREAM.INFO.{name}"), 40, f"the cluster has {name}")

    def is_current(self, name):
        """Whether all brokers have what the stream has."""
        cluster = self.stream(name).get("cluster", {})
        others = cluster.get("replicas", [])
        return bool(cluster.get("leader")) and len(others) == BROKERS - 1 and all(one["current"] for one in others)

    def manager(self, data, *arguments):
        return self.start("league_manager", "--players", PLAYERS, "--referees", REFEREES, "--league", "cup", "--data",
                          self.directory / data, "--bus-credentials", self.credentials["manager"], *arguments)

    def leads(self, program, seconds=60):
        (url, league), = program.ready(seconds=seconds)
        return Agent(program, url, league)

    def start_agents(self, manager):
        for i in range(REFEREES):
            self.start_referee(manager, "--bus-credentials", self.credentials[f"referee0{i + 1}"], name=f"whistle{i}")
        for i in range(PLAYERS):
            self.start_players(manager, 1, "slow:100", "--bus-credentials", self.credentials[f"player0{i + 1}"],
                               name=f"bot{i}")

    def wait_until_all_have(self):
        for name in STREAMS:
            self.assertEqual(self.stream(name)["config"]["num_replicas"], BROKERS, name)
            wait_until(lambda one=name: self.is_current(one), 20, f"all have {name}")

    def kill_the_writer_of(self, *streams):
        leaders = Counter(self.stream(name)["cluster"]["leader"] for name in streams)
        self.brokers[int(leaders.most_common(1)[0][0].removeprefix("broker-")) - 1].kill()

    def test_the_broker_that_keeps_the_streams_dies(self):
        program = self.manager("data", "--replicate")
        manager = self.leads(program)
        self.start_agents(manager)
        self.wait_for_matches(4)
        self.wait_until_all_have()
        self.kill_the_writer_of(*STREAMS)
        status = self.wait_until_over(manager, 90)
        self.assertEqual((status["matches_completed"], status["technical_losses"]), (MATCHES, 0))
        self.assert_table_agrees(manager)
        self.assert_journal()
        self.assertTrue(program.is_running, "it leads")
        for name in STREAMS:
            self.assertGreater(self.stream(name)["state"]["last_seq"], 0, name)
        wait_until(self.has_all_rounds, 20, "the stream has every event of the league")
        self.assert_logs_agree()

    def has_all_rounds(self):
        """Announcement, table and end of each round, and the end of the league."""
        return self.stream("LEAGUE_EVENTS_cup")["state"]["messages"] >= 3 * (PLAYERS - 1) + 1


if __name__ == "__main__":
    unittest.main()
