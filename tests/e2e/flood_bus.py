"""Four clients with the credentials of one player flood a broker and the league manager behind it, beside a league of
eight whose agents have users of their own: with `tools/list`, with wrong tokens, with registrations, and with messages
of which they send a half. Limits are the defaults.

    tests/e2e/flood_bus.py [--seconds 90] [--leagues 5] [--json]

Prints and judges the same as flood.py; the honest player's calls go over the bus too.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

import support_path  # noqa: F401
import flood
from flood import PLAYERS, ROUNDS, bytes_below, finished_rounds, percentile
from league_testing import BIN, Program, message, player_registration, rpc, wait_until
from nats_client import Broker, NatsClient, NatsError

LEAGUE = "league_flooded"
FLOODER = f"player{PLAYERS + 1:02d}"


def frame(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def bodies(kind):
    for number in range(64):
        if kind == "wrong tokens":
            yield frame("league_query", message("LEAGUE_QUERY", "player:P01", f"tok_p01_{number:052x}", league_id=LEAGUE,
                                                query_type="GET_STANDINGS"))
        elif kind == "registrations":
            yield frame("register_player", player_registration(f"flood{number}", f"http://127.0.0.1:{1024 + number}/mcp"))
        else:
            yield frame("tools/list", {})


def client(kind, credentials, port, seconds, results):
    """One flooding process: what it sends is made beforehand. A bus pushes back on nobody, so it would take the processor
    from the league that a client elsewhere would leave alone."""
    os.nice(19)
    count, until = {"sent": 0, "connections": 0, "received_bytes": 0}, time.monotonic() + seconds
    session = json.loads(Path(credentials).read_text())["session"]
    entrance, inbox = f"mcp.session.{session}.in", f"_INBOX.{session}.{kind.split()[0].replace('/', '_')}"
    half = kind == "half-sent"
    batch = b"".join(b"PUB %s %s %d\r\n%s\r\n" % (entrance.encode(), inbox.encode(), len(body), body) for body in bodies(kind))
    while time.monotonic() < until:
        with contextlib.suppress(OSError, AssertionError, NatsError), NatsClient.of(credentials, port) as nats:
            count["connections"] += 1
            nats.sub(inbox)
            nats.request(f"mcp.discovery.{session}", frame("session/attach", {}))
            if half:
                nats.send(batch[:len(batch) // 2])
                time.sleep(min(1.0, max(0.0, until - time.monotonic())))
                continue
            reader = threading.Thread(target=read_all, args=(nats, count, until), daemon=True)
            reader.start()
            while time.monotonic() < until:
                nats.send(batch)
                count["sent"] += 64
        time.sleep(0.01)
    results.put((kind, count))


def read_all(nats, count, until):
    with contextlib.suppress(OSError, ValueError):
        nats.socket.settimeout(None)
        while time.monotonic() < until and (data := nats.socket.recv(1 << 16)):
            count["received_bytes"] += len(data)
            if b"PING\r\n" in data:
                nats.send(b"PONG\r\n")


class Bus:
    """A broker that knows its users, and the programs of a league that has begun to register."""

    def __init__(self, directory):
        self.directory = Path(directory)
        made = subprocess.run([BIN / "league", "bus-config", "--json", "--league", LEAGUE, "--players", str(PLAYERS + 2),
                               "--referees", "2"], cwd=self.directory, capture_output=True, text=True, check=True)
        self.config = json.loads(made.stdout)
        self.broker = Broker(self.directory, "-c", self.directory / self.config["servers"][0])
        self.programs = []
        self.manager = self.start("league_manager", "manager", "--league", LEAGUE, "--players", PLAYERS, "--referees", 2,
                                  "--data", self.directory / "data", "--port", 0)
        (self.url, _), = self.manager.ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            if program.is_running:
                program.kill()
        self.broker.stop()

    def credentials(self, name):
        return self.directory / self.config["credentials"][name]

    def start(self, program, user, *arguments):
        self.programs.append(Program(program, ["--bus", self.broker.url, "--bus-credentials", self.credentials(user),
                                               "--logs", self.directory / "logs", *arguments], self.directory))
        return self.programs[-1]

    def start_players(self, first, strategy):
        for number in range(first, PLAYERS + 1):
            self.start("player", f"player{number:02d}", "--name", f"bot{number}", "--strategy", strategy).ready()

    def start_referees(self, *arguments):
        for number in (1, 2):
            self.start("referee", f"referee0{number}", "--name", f"whistle{number}", "--admission-key",
                       self.directory / "data" / "referee.key", *arguments)

    def flooded(self, seconds):
        return flood.clients_at([self.credentials(FLOODER), self.broker.port], seconds, client)


class HonestPlayer:
    """Registers over the bus, plays at random, and asks for the table ten times a second, each on a thread of its own."""

    def __init__(self, bus):
        self.nats = NatsClient.of(bus.credentials("player01"), bus.broker.port)
        self.other = NatsClient.of(bus.credentials("player01"), bus.broker.port)
        self.session = json.loads(bus.credentials("player01").read_text())["session"]
        self.times, self.failures = [], []
        self.calls = self.nats.sub(f"mcp.session.{self.session}.out")
        self.nats.request(f"mcp.discovery.{self.session}", frame("session/attach", {}))
        joined = self.nats.request(f"mcp.session.{self.session}.in", frame("register_player", player_registration(
            "honest", f"nats:{self.session}"))).json()["result"]
        self.id, self.token = joined["player_id"], joined["auth_token"]
        threading.Thread(target=self.play, daemon=True).start()

    def play(self):
        """Until the broker ends."""
        choose = random.Random(1)
        with contextlib.suppress(OSError, ValueError, NatsError):
            while True:
                call = self.calls.next(600)
                asked = call.json() if call.data.startswith(b"{") else {}
                if call.reply and "id" in asked:
                    self.nats.pub(call.reply, {"jsonrpc": "2.0", "id": asked["id"],
                                               "result": self.answer(asked.get("params", {}), choose)})

    def answer(self, params, choose):
        kind = {"GAME_INVITATION": "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL": "CHOOSE_PARITY_RESPONSE"}.get(params.get("message_type"))
        if kind is None:
            return {"status": "ok"}
        more = {"accept": True, "arrival_timestamp": params["timestamp"]} if kind == "GAME_JOIN_ACK" else {
            "parity_choice": choose.choice(["even", "odd"])}
        return {**message(kind, "player:" + self.id, self.token), "conversation_id": params["conversation_id"],
                "match_id": params["match_id"], "player_id": self.id, **more}

    def ask_until(self, end):
        query = frame("league_query", message("LEAGUE_QUERY", "player:" + self.id, self.token, league_id=LEAGUE,
                                              query_type="GET_STANDINGS"))
        while time.monotonic() < end:
            begun = time.monotonic()
            try:
                answer = self.other.request(f"mcp.session.{self.session}.in", query, seconds=10)
                if b"LEAGUE_QUERY_RESPONSE" not in answer.data:
                    self.failures.append(answer.data[:200].decode(errors="replace"))
            except (OSError, AssertionError, NatsError) as fault:
                self.failures.append(repr(fault))
            self.times.append(time.monotonic() - begun)
            time.sleep(max(0.0, 0.1 - (time.monotonic() - begun)))


def league_beside_flood(directory, seconds):
    with Bus(directory) as bus:
        honest = HonestPlayer(bus)
        thinking = min(4000, max(20, int(seconds * 1000 / (ROUNDS * 2 * 2))))
        bus.start_players(2, f"slow:{thinking}")
        with bus.flooded(seconds) as clients:
            before, begun = bytes_below(bus.directory / "logs"), time.monotonic()
            bus.start_referees("--max-matches", 1)
            honest.ask_until(begun + seconds)
            grown, took = bytes_below(bus.directory / "logs") - before, time.monotonic() - begun
        key = (bus.directory / "data" / "operator.key").read_text().strip()
        wait_until(lambda: (rpc(bus.url, "get_league_status", {"operator_key": key}).result() or {}).get("state") == "COMPLETED",
                   60 + seconds, "the league is over")
        rounds = wait_until(lambda: finished_rounds(bus.directory), 10, "the rounds are written")
        matches = [match for one in rounds for match in one["matches"]]
        return {"clients": clients, "honest_calls": len(honest.times), "honest_failures": honest.failures[:3],
                "p50_ms": 1000 * percentile(honest.times, 0.5), "p99_ms": 1000 * percentile(honest.times, 0.99),
                "log_bytes": grown, "log_bytes_per_second": grown / took, "matches": len(matches),
                "lost": sum(match["result"] == "TECHNICAL_LOSS" or match["attempt"] > 1 for match in matches),
                "said": [line for line in bus.manager.whole_stderr().splitlines() if "beyond its budget" in line][-4:]}


def full_speed(with_flood):
    with tempfile.TemporaryDirectory(prefix="flood_") as place, Bus(place) as bus:
        bus.start_players(1, "random")
        with bus.flooded(flood.SETTLING + 4) if with_flood else contextlib.nullcontext():
            time.sleep(flood.SETTLING)
            bus.start_referees()
            rounds = wait_until(lambda: finished_rounds(bus.directory), 60, "the league is over")
        matches = [match for one in rounds for match in one["matches"]]
        if any(match["result"] == "TECHNICAL_LOSS" for match in matches):
            raise SystemExit("a league at full speed had technical losses")
        begun, ended = (datetime.fromisoformat(text.replace("Z", "+00:00"))
                        for text in (rounds[0]["started_at"], rounds[-1]["completed_at"]))
        return len(matches) / (ended - begun).total_seconds()


if __name__ == "__main__":
    sys.exit(flood.main(__doc__, league_beside_flood, full_speed))
