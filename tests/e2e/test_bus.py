"""Leagues over a message bus: broker, programs and link go away and come back, and nothing is lost."""

import json
import signal
import socket
import sqlite3
import subprocess
import time
import unittest
from collections import Counter
from contextlib import closing

import support_path  # noqa: F401
from league_testing import BIN, Agent, LeagueTest, Program, limits, player_registration, rpc, wait_until, write_limits
from nats_broker import NatsBroker, why_no_bus
from nats_client import NatsClient
from network_namespaces import Namespaces

PLAYERS, REFEREES = 8, 2
MATCHES = PLAYERS * (PLAYERS - 1) // 2
# Who is away for a moment must not be given up, and what was asked of a dead process is soon asked of the next.
PATIENT = limits(
    bus={"keep_alive_ms": 200},
    time_limits_ms={"GAME_INVITATION": 3000, "CHOOSE_PARITY_CALL": 3000, "GAME_OVER": 3000},
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)

# A machine that is busy with something else must not hold a program up for twice as long.
UNHURRIED = {**PATIENT, "bus": {"keep_alive_ms": 1000}}
# Longer than the link is cut, with the time that TCP takes to notice that it is healed.
FAR_AWAY = {**PATIENT, "time_limits_ms": {"GAME_INVITATION": 15000, "CHOOSE_PARITY_CALL": 15000, "GAME_OVER": 15000}}


class BusTest(LeagueTest):
    patience = PATIENT

    @classmethod
    def setUpClass(cls):
        if why := why_no_bus(BIN):
            raise unittest.SkipTest(why)

    def setUp(self):
        super().setUp()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)

    def start(self, name, *arguments, limits=None, port=0, prefix=()):
        """All programs have the limits of their test's class. `prefix` is a command that runs another."""
        config = self.directory / "league.toml"
        if not config.exists():
            write_limits(self.directory, self.patience)
        own = ["--port", port, "--bus", self.broker.url, "--config", config, "--logs", self.logs]
        first, *command = [*prefix, BIN / name, *own, *arguments]
        program = Program(first, command, self.directory)
        self.programs.append(program)
        return program

    def start_manager(self, players=PLAYERS, referees=REFEREES, *arguments, data="data"):
        return super().start_manager(players, referees, *arguments, data=data)

    def start_referee(self, manager, *arguments, name="whistle"):
        agents = self.directory / "agents"
        return super().start_referee(self.by_bus(manager), "--data", agents, *arguments, name=name)

    def start_players(self, manager, count, strategy="slow:20", *arguments, name="bot"):
        agents = self.directory / "agents"
        return super().start_players(self.by_bus(manager), count, strategy, "--data", agents, *arguments, name=name)

    def by_bus(self, manager):
        """The manager as agents are told of it; its own URL serves the test."""
        return Agent(manager.program, "nats:manager/" + manager.id, manager.id)

    def start_league(self, strategy="slow:20", processes=2):
        """A league in which all have registered: the manager, the referees, and one player of each process."""
        manager = self.start_manager()
        referees = [self.start_referee(manager, name=f"whistle{i}") for i in range(REFEREES)]
        each = PLAYERS // processes
        players = [self.start_players(manager, each, strategy, name=f"bot{i}_")[0] for i in range(processes)]
        return manager, referees, players

    def manager_again(self):
        (url, league_id), = (program := self.start("league_manager", "--data", self.directory / "data")).ready()
        return Agent(program, url, league_id)

    def events(self, *kinds, data="data"):
        file = self.directory / data / "journal" / "journal.sqlite"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            rows = journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()
        return [json.loads(payload) for kind, payload in rows if kind in kinds]

    def wait_for_matches(self, count, seconds=20):
        wait_until(lambda: len(self.events("MATCH_REPORTED")) >= count, seconds, f"{count} matches are played")

    def wait_until_said(self, agent, text, seconds=10):
        wait_until(lambda: text in said(agent), seconds, f"{agent.program.name} says '{text}'")

    def assert_whole(self, manager, seconds=30):
        """The league ended, each match once, and everybody's logs agree."""
        status = self.wait_until_over(manager, seconds)
        self.assertEqual(status["matches_completed"], MATCHES)
        self.assert_table_agrees(manager)
        self.assert_journal()
        self.assert_logs_agree()

    def assert_journal(self):
        ends = Counter(event["match"] for event in self.events("MATCH_REPORTED", "MATCH_FORFEITED"))
        self.assertEqual((len(ends), max(ends.values())), (MATCHES, 1), ends)
        registered = Counter(event["agent"] for event in self.events("AGENT_REGISTERED"))
        self.assertEqual(len(registered), PLAYERS + REFEREES)
        self.assertEqual(set(registered.values()), {1}, "nobody registered twice")
        lost = [event["summary"]["technical_losses"] for event in self.events("ROUND_COMPLETED")]
        self.assertEqual(sum(lost), 0, "nobody lost for the way between")

    def assert_logs_agree(self, directory=None):
        self.stop_programs()
        done = subprocess.run([BIN / "league", "audit", "verify", directory or self.directory, "--json"],
                              capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual(report["faults"], [], "the logs agree with each other")


def said(agent):
    return agent.program.stderr_path.read_text(errors="replace")


def session_of(agent):
    return agent.url.removeprefix("nats:")


class ComingBack(BusTest):
    def test_the_broker_dies(self):
        manager, referees, players = self.start_league()
        for matches in (6, 14):
            self.wait_for_matches(matches)
            self.broker.kill()
            self.wait_until_said(players[0], "is lost", 5)
            self.broker.start()
        self.assert_whole(manager)

    def test_the_broker_dies_while_programs_start(self):
        self.broker.kill()
        with socket.create_server(("127.0.0.1", self.broker.port)) as dying:
            program = self.start("league_manager", "--players", 2, "--referees", 1, "--data", self.directory / "data")
            dying.settimeout(10)
            dying.accept()[0].close()
        self.broker.start()
        (url, league_id), = program.ready(seconds=10)
        self.start_players(Agent(program, url, league_id), 2)

    def test_the_manager_dies(self):
        manager, referees, players = self.start_league()
        self.wait_for_matches(6)
        manager.program.kill()
        for agent in (*referees, *players):
            self.wait_until_said(agent, "the manager is silent")
        manager = self.manager_again()
        for agent in (*referees, *players):
            self.wait_until_said(agent, "the manager is back")
        self.assert_whole(manager)

    def test_players_die(self):
        manager, _, players = self.start_league("slow:40")
        kept = {path.name: path.read_text() for path in (self.directory / "agents" / "agents").glob("player_*.session")}
        self.assertEqual(len(kept), PLAYERS)
        self.wait_for_matches(6)
        players[0].program.kill()
        again = self.start_players(manager, PLAYERS // 2, "slow:40", name="bot0_")
        self.assertIn((players[0].id, players[0].url), [(player.id, player.url) for player in again])
        self.assertIn(session_of(players[0]) + "\n", kept.values())
        self.assert_whole(manager)
        for name, session in kept.items():
            file = self.directory / "agents" / "agents" / name
            self.assertEqual((file.read_text(), file.stat().st_mode & 0o777), (session, 0o600))

    def test_a_referee_dies(self):
        manager, referees, _ = self.start_league("slow:200")
        self.wait_for_matches(8)  # two rounds: the next begins now
        wait_until(lambda: self.open_matches(0), 10, "the referee plays")
        referees[0].program.kill()
        interrupted = self.open_matches(0)
        again = self.start_referee(manager, name="whistle0")
        self.assertEqual((again.id, again.url), (referees[0].id, referees[0].url))
        self.assert_whole(manager)
        reported = {event["match"]: event["attempt"] for event in self.events("MATCH_REPORTED")}
        self.assertTrue(any(reported[match] > 1 for match in interrupted), "what it had begun is another attempt")

    def open_matches(self, referee):
        """The matches that the referee with this number plays."""
        reported = {event["match"] for event in self.events("MATCH_REPORTED")}
        return {event["match"] for event in self.events("MATCH_ASSIGNED") if event["referee"] == referee} - reported


class KilledInMidCall(BusTest):
    """With the usual limits: a player has 30 seconds for its choice."""
    patience = limits(bus={"keep_alive_ms": 1000})

    def test_the_open_call_is_made_again(self):
        manager = self.start_manager(2, 1)
        self.start_referee(manager)
        first, = self.start_players(manager, 1, "slow:1000", name="one")
        self.start_players(manager, 1, "even", name="two")
        log = self.logs / "agents" / f"{first.id}.log.jsonl"
        wait_until(lambda: log.exists() and b"CHOOSE_PARITY_CALL" in log.read_bytes(), 20, "the player is asked")
        first.program.kill()
        self.start_players(manager, 1, "even", name="one")
        self.wait_for_matches(1, seconds=8)
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)
        self.assert_logs_agree()


class OneBroker(BusTest):
    def test_two_leagues_do_not_mix(self):
        leagues = ["league_a", "league_b"]
        managers, agents = [], []
        for i, league in enumerate(leagues):
            self.logs = self.directory / league / "logs"
            managers.append(self.start_manager(4, 1, "--league", league, data=f"{league}/data"))
            referee = self.start_referee(managers[i], name=f"whistle{i}")
            players = self.start_players(managers[i], 4, name=f"bot{i}_")
            agents.append([agent.url for agent in (referee, *players)])
        self.logs = self.directory
        for league, manager, those in zip(leagues, managers, agents):
            self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)
            registered = self.events("AGENT_REGISTERED", data=f"{league}/data")
            self.assertEqual(sorted(event["profile"]["endpoint"] for event in registered), sorted(those))
        for league in leagues:
            self.assert_logs_agree(directory=self.directory / league)

    def test_a_session_of_somebody_else(self):
        manager = self.start_manager()
        victim = self.start_players(manager, 1, name="victim")[0]
        mine = "f" * 32
        with NatsClient(self.broker.port, inbox="_INBOX." + mine) as client:
            headers = {"Mcp-Session-Id": mine, "League-Id": manager.id}
            attached = client.request("mcp.discovery", rpc_request("session/attach"), headers)
            self.assertEqual(attached.json()["result"]["in"], f"mcp.session.{mine}.in")
            calls = client.sub(f"mcp.session.{mine}.out")
            stolen = player_registration("thief", victim.url)
            self.assert_refused(client.request(f"mcp.session.{mine}.in", rpc_request("register_player", stolen)).json())
            self.assert_refused(rpc(manager.url, "register_player", stolen).json)
            own = player_registration("honest", "nats:" + mine)
            self.assert_refused(rpc(manager.url, "register_player", own).json)
            answer = client.request(f"mcp.session.{mine}.in", rpc_request("register_player", own)).json()
            self.assertEqual(answer["result"]["status"], "ACCEPTED", answer)
            self.assertEqual(calls.waiting(), len([m for m in calls.messages if m.data.startswith(b": keepalive")]))

    def test_a_handshake_at_discovery(self):
        """Whoever knows no more than the Model Context Protocol begins its session there."""
        manager = self.start_manager()
        mine = "e" * 32
        with NatsClient(self.broker.port, inbox="_INBOX." + mine) as client:
            ours = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            headers = {"League-Id": manager.id}
            answer = client.request(f"mcp.discovery.{mine}", rpc_request("initialize", ours), headers).json()["result"]
            self.assertEqual(answer["protocolVersion"], "2025-06-18")
            self.assertIn("tools", answer["capabilities"])
            self.assertIn("name", answer["serverInfo"])
            listed = client.request(f"mcp.session.{mine}.in", rpc_request("tools/list")).json()
            self.assertIn("register_player", json.dumps(listed))

    def test_a_flood_is_not_written_down(self):
        manager = self.start_manager()
        flooder, other = "a" * 32, "b" * 32
        with NatsClient(self.broker.port, inbox="_INBOX." + flooder) as client:
            client.request(f"mcp.discovery.{flooder}", rpc_request("session/attach"))
            for _ in range(500):
                client.pub(f"mcp.session.{flooder}.in", rpc_request("ping", {"x": "y" * 60_000}))
            for _ in range(15_000):
                client.pub(f"mcp.session.{flooder}.in", rpc_request("ping"))
            client.flush()
            self.wait_until_said(manager, "beyond its budget", 20)
            with NatsClient(self.broker.port, inbox="_INBOX." + other) as honest:
                honest.request(f"mcp.discovery.{other}", rpc_request("session/attach"))
                self.assertIn("result", honest.request(f"mcp.session.{other}.in", rpc_request("ping")).json())
        self.stop_programs()
        written = sum(file.stat().st_size for file in self.logs.rglob("*.jsonl"))
        self.assertLess(written, 14 << 20, "of 30 MB, and the answers")

    def assert_refused(self, answer):
        """The refusal says what to do."""
        self.assertIn("mcp.session.SESSION.in", json.dumps(answer), answer)
        self.assertNotIn("ACCEPTED", json.dumps(answer))


def rpc_request(method, params=None):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


class SignsOfLife(BusTest):
    patience = UNHURRIED

    def test_who_is_frozen_is_missed(self):
        manager, _, players = self.start_league("slow:20")
        frozen = players[0].program.process
        frozen.send_signal(signal.SIGSTOP)
        self.addCleanup(frozen.send_signal, signal.SIGCONT)
        self.wait_until_said(manager, "is silent on the bus")
        frozen.send_signal(signal.SIGCONT)
        self.wait_until_said(manager, "is back on the bus")
        self.assert_whole(manager)
        missed = {line.split()[3] for line in said(manager).splitlines() if "is silent on the bus" in line}
        self.assertLessEqual(missed, set(self.ids_of("bot0_")), "only who was frozen")

    def ids_of(self, names):
        registered = self.events("AGENT_REGISTERED")
        return [event["agent"] for event in registered if event["profile"]["display_name"].startswith(names)]

    def test_who_is_busy_is_not(self):
        manager = self.start_manager(40, REFEREES)
        referees = [self.start_referee(manager, name=f"whistle{i}") for i in range(REFEREES)]
        players = self.start_players(manager, 40, "random")
        status = self.wait_until_over(manager)
        self.assertEqual((status["matches_completed"], status["technical_losses"]), (780, 0))
        for agent in (manager, *referees, players[0]):
            self.assertNotIn("is silent", said(agent))


@unittest.skipUnless(Namespaces.are_possible(), "network namespaces need root and iproute2")
class TwoHosts(BusTest):
    """Players on another host than everybody else."""

    patience = FAR_AWAY

    def setUp(self):
        LeagueTest.setUp(self)
        self.hosts = Namespaces()
        self.addCleanup(self.hosts.close)
        self.broker = NatsBroker(address=self.hosts.addresses[0], prefix=self.hosts.inside(0)).start()
        self.addCleanup(self.broker.close)
        self.addCleanup(self.kill_programs)

    def start(self, name, *arguments, **options):
        command = self.hosts.inside(1 if name == "player" else 0)
        return super().start(name, *arguments, prefix=command, **options)

    def test_the_link_is_cut(self):
        manager, _, players = self.start_league("slow:60")
        self.wait_for_matches(8)
        self.hosts.cut()
        healing = time.monotonic() + 3
        self.wait_until_said(manager, "is silent on the bus")
        self.wait_until_said(players[0], "silent")
        wait_until(lambda: time.monotonic() >= healing, 4, "three seconds are over")
        self.hosts.heal()
        wait_until(lambda: self.events("LEAGUE_COMPLETED"), 40, "the league is over")
        self.assertEqual(len(self.events("MATCH_REPORTED")), MATCHES)
        self.assert_journal()
        self.assert_logs_agree()


if __name__ == "__main__":
    unittest.main()
