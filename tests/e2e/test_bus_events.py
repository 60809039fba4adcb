"""What a league on a bus tells everybody: published once, signed, kept by the broker, read again."""

import json
import shutil
import subprocess
import sys
import unittest
import urllib.request
import uuid
from pathlib import Path

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, Agent, LeagueTest, Program, limits, rpc, wait_until
from nats_broker import NatsBroker, why_no_bus
from nats_client import SERVER, Broker, NatsClient

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import verify_log  # noqa: E402  (its Ed25519 is another than ours)

LEAGUE = "league_test"
STREAM = f"LEAGUE_EVENTS_{LEAGUE}"
SUBJECTS = f"mcp.events.{LEAGUE}.>"
PLAYERS = 8
ROUNDS = PLAYERS - 1
# A round is announced, has a table and a summary; the league has an end.
EVENTS = 3 * ROUNDS + 1
BROADCASTS = {"ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}
PATIENT = limits(
    bus={"keep_alive_ms": 200},
    time_limits_ms={"GAME_INVITATION": 3000, "CHOOSE_PARITY_CALL": 3000, "GAME_OVER": 3000},
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)


def is_signed(payload, key):
    """As docs/protocol.md says that a bot may check it."""
    signature = json.loads(payload)["params"]["signature"]
    return verify_log.is_signature(key, payload.decode().replace(signature, "", 1), signature)


class EventsTest(LeagueTest):
    @classmethod
    def setUpClass(cls):
        if why := why_no_bus(BIN):
            raise unittest.SkipTest(why)

    def setUp(self):
        super().setUp()
        self.broker = NatsBroker(jetstream_dir=self.directory / "streams").start()
        self.addCleanup(self.broker.close)
        self.bus = ["--bus", self.broker.url]

    def start(self, name, *arguments, limits=None, port=0):
        return super().start(name, *self.bus, *arguments, limits=PATIENT, port=port)

    def start_manager(self, players=PLAYERS, referees=1, *arguments):
        manager = super().start_manager(players, referees, "--league", LEAGUE, *arguments)
        self.url, manager.url = manager.url, "nats:manager/" + LEAGUE
        return manager

    def start_all(self, strategy="slow:20"):
        """A manager with everybody who plays; `self.url` is where it can be asked."""
        manager = self.start_manager()
        data = ["--data", self.directory / "agents"]
        self.start_referee(manager, *data)
        self.start_players(manager, PLAYERS, strategy, *data)
        return manager

    def manager_again(self):
        (self.url, _), = self.start("league_manager", "--data", self.directory / "data").ready()

    def wait_for_end(self, seconds=40):
        return self.wait_until_over(Agent(None, self.url, LEAGUE), seconds)

    def broadcast_key(self):
        return rpc(self.url, "get_league_status").result()["broadcast_key"]

    def read_events(self, *arguments, name="events"):
        """`league events --json`, in the background."""
        return EventReader(self.directory / f"{name}.jsonl", [*self.bus, *arguments], self)

    def verify_logs(self):
        self.stop_programs()
        done = subprocess.run([BIN / "league", "audit", "verify", self.directory, "--json"], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(json.loads(done.stdout)["faults"], [])
        return Log(self.logs)


class HttpReader:
    """Who listens to the answer of events_subscribe. A context manager."""

    def __init__(self, url, **arguments):
        call = {"jsonrpc": "2.0", "id": 1, "method": "events_subscribe", "params": arguments}
        request = urllib.request.Request(url, json.dumps(call).encode(), {
            "Content-Type": "application/json", "Accept": "text/event-stream"})
        self._answer = urllib.request.urlopen(request, timeout=20)
        assert self._answer.headers["Content-Type"] == "text/event-stream", self._answer.read()
        begun = json.loads(self._event()["data"])
        assert begun["method"] == "notifications/events_subscribed", begun

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._answer.close()

    def next(self):
        """The number and the payload of the next event."""
        event = self._event()
        return int(event["id"]), event["data"]

    def _event(self):
        fields = {}
        for line in iter(self._answer.readline, b""):
            name, _, value = line.rstrip(b"\n").partition(b": ")
            if name:
                fields[name.decode()] = value
            elif "data" in fields:
                return fields
        raise AssertionError("the stream has ended")


class EventReader:
    """A `league events --json` whose output goes to a file, to which a next one of that file adds."""

    def __init__(self, file, arguments, test):
        self.file = file
        with open(file, "ab") as out, open(file.with_suffix(".stderr"), "ab") as err:
            self.process = subprocess.Popen([BIN / "league", "events", "--json", "--league", LEAGUE,
                                             *map(str, arguments)], stdout=out, stderr=err)
        test.addCleanup(self.kill)

    def lines(self):
        whole = self.file.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.split("\n") if line]

    def sequences(self):
        return [line["sequence"] for line in self.lines()]

    def wait_for(self, count, seconds=20):
        wait_until(lambda: len(self.lines()) >= count, seconds, f"{count} events are read")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(5)


class Published(EventsTest):
    def test_once_for_everybody_and_signed(self):
        with NatsClient(self.broker.port) as client:
            heard = client.sub(SUBJECTS)
            client.flush()
            self.start_all("random")
            key = self.broadcast_key()
            self.wait_for_end()
            payloads = [heard.next().data for _ in range(EVENTS)]
            self.assertEqual(heard.waiting(), 0, "one publish for each broadcast")
        self.wait_until_logged("LEAGUE_COMPLETED", PLAYERS)
        for payload in payloads:
            self.assertTrue(is_signed(payload, key), payload)
            self.assertFalse(is_signed(payload.replace(b"league_manager", b"league_hacker"), key))
            self.assertNotIn(b"auth_token", payload)
            self.assertNotIn("id", json.loads(payload))
        log = self.verify_logs()
        sent = [r for r in log.matching(agent="league_manager") if r.get("message_type") in BROADCASTS and r["dir"] == "out"]
        self.assertEqual(len([r for r in sent if r["peer"] == "everybody"]), EVENTS)
        for number in range(1, PLAYERS + 1):
            heard = [r for r in log.matching(agent=f"player:P{number:02}")
                     if r.get("message_type") in BROADCASTS and r["dir"] == "in"]
            self.assertEqual(len(heard), EVENTS)
            self.assertEqual({(r["peer"], r.get("verdict")) for r in heard}, {("league_manager", None)})

    def test_in_their_order_and_before_the_matches(self):
        self.start_all("random")
        self.wait_for_end()
        log = self.verify_logs()
        sent = [r for r in log.matching(agent="league_manager") if r.get("message_type") == "ROUND_ANNOUNCEMENT" and r["dir"] == "out"]
        published = {r["conversation_id"]: r["mono_ns"] for r in sent if r["peer"] == "everybody"}
        self.assertEqual(len(published), ROUNDS)
        for record in sent:
            self.assertLessEqual(published[record["conversation_id"]], record["mono_ns"], "referees get their matches later")
        # An event and a call take different ways, so on a busy machine a player may see the invitation before its round's
        # announcement, and the next one before the match's GAME_OVER.
        for record in log.matching(agent="player:P01"):
            if record.get("message_type") == "GAME_OVER" and record["dir"] == "in":
                announced = [r["conversation_id"] for r in log.matching(agent="player:P01")
                             if r.get("message_type") == "ROUND_ANNOUNCEMENT" and r["mono_ns"] < record["mono_ns"]]
                match = record["match_id"]
                self.assertGreaterEqual(len(announced), int(match[1:match.index("M")]), match)

    def test_a_bot_that_does_not_listen_is_called(self):
        manager = self.start_manager(2, 1)
        self.start_referee(manager)
        self.start_players(manager, 1)
        bot = LeagueTest.start(self, "player", "--manager", self.url, "--name", "by_http", "--strategy", "even")
        bot.ready()
        self.wait_for_end()
        for number in (1, 2):  # who is called hears of the end when its turn comes
            file = self.logs / "agents" / f"P{number:02}.log.jsonl"
            wait_until(lambda file=file: b"LEAGUE_COMPLETED" in file.read_bytes(), 10, f"{file.name} has the end")
        log = self.verify_logs()
        for number in (1, 2):
            heard = [r["message_type"] for r in log.matching(agent=f"player:P{number:02}")
                     if r.get("message_type") in BROADCASTS and r["dir"] == "in"]
            self.assertEqual(sorted(heard), sorted(BROADCASTS))

    def test_a_broker_that_keeps_nothing(self):
        self.broker.close()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)
        self.bus = ["--bus", self.broker.url]
        manager = self.start_all("random")
        self.wait_for_end()
        wait_until(lambda: "stores no events" in manager.program.stderr(), 10, "the manager says so")
        log = self.verify_logs()
        heard = [r for r in log.matching(agent="player:P01") if r.get("message_type") in BROADCASTS and r["dir"] == "in"]
        self.assertEqual(len(heard), EVENTS)


class Read(EventsTest):
    def test_a_durable_reader_goes_on_where_it_was_killed(self):
        self.start_all("slow:150")
        wait_until(lambda: self.status_of("matches_completed") >= 4, 20, "a round is played")
        reader = self.read_events("--durable", "archive", "--key", self.broadcast_key())
        reader.wait_for(4)
        reader.kill()
        before = len(reader.lines())
        wait_until(lambda: self.status_of("current_round") >= min(ROUNDS, before // 3 + 3), 30, "the league goes on")
        reader = self.read_events("--durable", "archive", "--key", self.broadcast_key())
        self.wait_for_end()
        reader.wait_for(EVENTS)
        got = reader.sequences()
        self.assertEqual(sorted(set(got)), list(range(1, EVENTS + 1)), "no gap")
        # Who is killed between writing a line and acknowledging it gets that one again, by its number.
        self.assertLessEqual(len(got) - len(set(got)), 1, got)
        self.assertTrue(all(line["verified"] for line in reader.lines()))

    def test_what_was_acknowledged_does_not_come_again(self):
        self.start_all("random")
        self.wait_for_end()
        reader = self.read_events("--durable", "archive", "--count", "5")
        self.assertEqual(reader.process.wait(10), 0)
        with NatsClient(self.broker.port) as client:
            wait_until(lambda: client.request(f"$JS.API.CONSUMER.INFO.{STREAM}.archive").json()["ack_floor"]["stream_seq"] == 5,
                       10, "the broker knows what was read")
        reader = self.read_events("--durable", "archive")
        reader.wait_for(EVENTS)
        self.assertEqual(reader.sequences(), list(range(1, EVENTS + 1)))
        reader.kill()
        other = self.read_events("--durable", "other", "--after", EVENTS - 1, name="other")
        other.wait_for(1)
        self.assertEqual(other.lines()[0]["event"]["params"]["message_type"], "LEAGUE_COMPLETED")
        self.assertIsNone(other.lines()[0]["verified"], "there was no key")

    def test_events_come_again_after_the_manager_was_away(self):
        manager = self.start_all("slow:40")
        reader = self.read_events("--after", 0)
        reader.wait_for(4)
        manager.program.kill()
        wait_until(lambda: "is silent" in reader.file.with_suffix(".stderr").read_text(), 10, "the reader misses it")
        self.manager_again()
        self.wait_for_end()
        reader.wait_for(EVENTS)
        self.assertEqual(reader.sequences(), list(range(1, len(reader.lines()) + 1)), "no gap, and nothing twice")
        kinds = [line["event"]["params"]["message_type"] for line in reader.lines()]
        self.assertEqual(kinds.count("LEAGUE_COMPLETED"), 1)

    def test_a_broker_that_has_lost_its_events(self):
        self.start_all("slow:40")
        readers = [self.read_events("--after", 0), self.read_events("--durable", "archive", name="durable")]
        for reader in readers:
            reader.wait_for(7)
        self.broker.kill()
        shutil.rmtree(self.directory / "streams")
        self.broker.start()
        self.wait_for_end()
        late = self.read_events("--after", 1000, name="late")
        late.wait_for(1)
        with NatsClient(self.broker.port) as client:
            last = client.request(f"$JS.API.STREAM.INFO.{STREAM}").json()["state"]["last_seq"]
        for reader in (*readers, late):
            wait_until(lambda: reader.sequences()[-1] == last, 20, "the new stream is read to its end")
            new = reader.sequences()[-last:]
            self.assertEqual(new, list(range(1, last + 1)), "from its first")
            old = reader.sequences()[:-last]
            self.assertEqual(old, list(range(1, len(old) + 1)), "and the old one before")
            self.assertIn("has lost its events", reader.file.with_suffix(".stderr").read_text())

    def test_only_what_was_asked_for(self):
        self.start_all("random")
        self.wait_for_end()
        reader = self.read_events("--after", 0, "--types", "ROUND_COMPLETED,league_completed", "--count", ROUNDS + 1)
        self.assertEqual(reader.process.wait(10), 0)
        kinds = [line["event"]["params"]["message_type"] for line in reader.lines()]
        self.assertEqual(kinds, ["ROUND_COMPLETED"] * ROUNDS + ["LEAGUE_COMPLETED"])

    def test_the_tool_as_a_bot_calls_it(self):
        self.start_all("random")
        self.wait_for_end()
        mine = "e" * 32
        with NatsClient(self.broker.port, inbox="_INBOX." + mine) as client:
            out = client.sub(f"mcp.session.{mine}.out")
            call = {"jsonrpc": "2.0", "id": 1, "method": "events_subscribe", "params": {"after": EVENTS - 1}}
            client.request("mcp.discovery", {"jsonrpc": "2.0", "id": 1, "method": "session/attach"},
                           {"Mcp-Session-Id": mine, "League-Id": LEAGUE})
            answer = client.request(f"mcp.session.{mine}.in", call).json()["result"]
            self.assertEqual((answer["subject"], answer["is_kept"]), (f"mcp.session.{mine}.out", True))
            event = out.next()
            while event.data.startswith(b": keepalive"):
                event = out.next()
            self.assertEqual(event.headers["Content-Type"], "text/event-stream")
            number, kind, data = event.data.decode().rstrip("\n").split("\n")
            self.assertEqual((number, kind), (f"id: {EVENTS}", "event: message"))
            self.assertTrue(is_signed(data.removeprefix("data: ").encode(), self.broadcast_key()))
            call["params"] = {"after": "1"}
            refused = json.dumps(client.request(f"mcp.session.{mine}.in", call).json())
            self.assertIn("after must be the number of an event", refused)
            call["params"] = {"types": ["round_completed", "tables"]}
            refused = json.dumps(client.request(f"mcp.session.{mine}.in", call).json())
            self.assertIn("E023", refused)
            self.assertIn("round_announcement, league_standings_update, round_completed, league_completed", refused)

    def test_a_client_that_has_said_hello_gets_events_too(self):
        self.start_all("random")
        self.wait_for_end()
        mine = str(uuid.uuid4())
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": {"name": "test", "version": "1"}}}
        with NatsClient(self.broker.port, inbox="_INBOX." + mine) as client:
            out = client.sub(f"mcp.session.{mine}.out")
            client.pub("mcp.discovery", hello, reply=f"mcp.session.{mine}.out")  # without a header
            self.assertEqual(out.next().json()["result"]["protocolVersion"], "2025-06-18")
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                    "params": {"name": "events_subscribe", "arguments": {"after": 0}}}
            client.pub(f"mcp.session.{mine}.in", {"jsonrpc": "2.0", "method": "notifications/initialized"})
            answer = client.request(f"mcp.session.{mine}.in", call).json()["result"]["structuredContent"]
            self.assertEqual(answer["subject"], f"mcp.session.{mine}.out")
            events = 0
            while events < EVENTS:
                events += out.next().data.startswith(b"id: ")

    def test_over_http_they_are_a_stream(self):
        self.start_all("slow:10")
        with HttpReader(self.url) as first:
            wait_until(lambda: self.status_of("matches_completed") > 8, 20, "some rounds are over")
            with HttpReader(self.url, after=0, types=["round_completed"]) as rounds, HttpReader(self.url, after=0) as all_:
                self.wait_for_end()
                everything = [all_.next() for _ in range(EVENTS)]
                self.assertEqual([number for number, _ in everything], list(range(1, EVENTS + 1)))
                key = self.broadcast_key()
                self.assertTrue(all(is_signed(event, key) for _, event in everything))
                self.assertEqual([rounds.next() for _ in range(ROUNDS)],
                                 [(number, event) for number, event in everything if b'"ROUND_COMPLETED"' in event])
                self.assertEqual(first.next()[0] + 1, first.next()[0], "only what happened since")
        self.verify_logs()

    def test_over_http_strangers_take_nobodys_place(self):
        self.start_manager()
        crowd = [HttpReader(self.url) for _ in range(50)]  # all that one address may have would be more
        for reader in crowd[:25]:
            reader.close()
        mine = "d" * 32
        with NatsClient(self.broker.port, inbox="_INBOX." + mine) as client:
            client.request(f"mcp.discovery.{mine}", {"jsonrpc": "2.0", "id": 1, "method": "session/attach"})
            call = {"jsonrpc": "2.0", "id": 1, "method": "events_subscribe"}
            answer = client.request(f"mcp.session.{mine}.in", call).json()["result"]
            self.assertEqual(answer["status"], "ok")
        for reader in crowd[25:]:
            reader.close()

    def test_over_http_it_says_what_it_needs(self):
        self.start_manager()
        refusal = rpc(self.url, "events_subscribe").json
        self.assertIn("Accept: text/event-stream", json.dumps(refusal))

    def status_of(self, key):
        return rpc(self.url, "get_league_status").result()[key]


@unittest.skipUnless(SERVER, "nats-server is not installed")
class Forged(EventsTest):
    """With a broker that knows its users."""

    def setUp(self):
        super().setUp()
        subprocess.run([BIN / "league", "bus-config", "--players", "2", "--referees", "1", "--league", LEAGUE,
                        "--jetstream", "guarded"], cwd=self.directory, check=True, capture_output=True, timeout=60)
        self.guarded = Broker(self.directory, "-c", self.directory / "bus" / "server.conf")
        self.addCleanup(self.guarded.kill)

    def credentials(self, name):
        return self.directory / "bus" / "credentials" / f"{name}.json"

    def as_user(self, name):
        self.bus = ["--bus", self.guarded.url, "--bus-credentials", self.credentials(name)]

    def client(self, name, **options):
        return NatsClient.of(self.credentials(name), self.guarded.port, **options)

    def forgery(self):
        message = {"protocol": "league.v2", "message_type": "LEAGUE_COMPLETED", "sender": "league_manager",
                   "timestamp": "2026-01-01T00:00:00Z", "conversation_id": "conv", "league_id": LEAGUE,
                   "signature": "ab" * 64}
        return {"jsonrpc": "2.0", "method": "notify_league_completed", "params": message}

    def test_only_the_manager_can_publish_and_only_with_its_key(self):
        self.as_user("manager")
        manager = self.start_manager(2, 1)
        self.as_user("referee01")
        referee = self.start_referee(manager)
        players = []
        for number in (1, 2):
            self.as_user(f"player0{number}")
            players += self.start_players(manager, 1, "slow:20", name=f"bot{number}_")
        for name in ("player01", "referee01", "operator"):
            with self.client(name) as client:
                client.pub(f"mcp.events.{LEAGUE}.league_completed", self.forgery())
                self.assertTrue(client.refusals(), name)
        with self.client("manager", at_streams=True) as stolen:
            stolen.pub(f"mcp.events.{LEAGUE}.league_completed", self.forgery())
            self.assertEqual(stolen.refusals(), [])
        for agent in (referee, *players):
            wait_until(lambda one=agent: "was dropped" in one.program.stderr(), 10, "the forgery is noticed")
        self.wait_for_end()
        self.as_user("operator")
        reader = self.read_events("--durable", "archive", "--key", self.broadcast_key())
        reader.wait_for(5)
        verified = [line["verified"] for line in reader.lines()]
        self.assertEqual((verified.count(False), verified.count(True)), (1, 4))
        self.stop_programs()
        dropped = [r for r in Log(self.logs).records if r.get("verdict") == "E012" and r["dir"] == "in"]
        self.assertEqual(len(dropped), 3)


if __name__ == "__main__":
    unittest.main()
