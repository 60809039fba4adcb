"""Four clients flood a league manager over HTTP, beside a league of eight: with `tools/list`, with wrong tokens, with
registrations, and with requests of which they send a half. Limits and credentials are the defaults.

    tests/e2e/flood.py [--seconds 90] [--leagues 5] [--json]

Prints what the four clients got, and four numbers: matches that were lost technically or played more than once, the
99th percentile of an honest player's calls, the growth of all logs, and how fast leagues at full speed are in
comparison with those without a flood. Exit code 0 if all four are within their limits.
"""

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import queue
import socket
import statistics
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import SOURCE, Program, message, player_registration, rpc, wait_until
from scripted_bot import Bot

CONNECTIONS = 8  # of one client, each with requests sent before their answers are there
BATCH = 16
HALF_SENT = 256
PLAYERS = 8
ROUNDS = PLAYERS - 1
SETTLING = 4  # seconds from a flood's begin until its clients have used up what each may ask at once
LIMITS = {"lost": 0, "p99_ms": 50.0, "log_bytes_per_second": 1_000_000, "speed_ratio": 0.7}


# --- The four clients -----------------------------------------------------------------------------------------------
def request(method, params, path="/mcp"):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return b"POST " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
           b"Content-Length: %d\r\n\r\n" % len(body) + body


def tools(_number):
    return request("tools/list", {})


def wrong_tokens(number):
    token = f"tok_p01_{number:052x}"
    return request("league_query", message("LEAGUE_QUERY", "player:P01", token, league_id="league", query_type="GET_STANDINGS"))


def registrations(number):
    return request("register_player", player_registration(f"flood{number}", f"http://127.0.0.1:{1024 + number % 60000}/mcp"))


class Count:
    """What one client sent and got; its threads add to it."""

    def __init__(self):
        self.sent, self.answers, self.received, self.connections = 0, {}, 0, 0

    def note_answers(self, text):
        for line in text.split(b"HTTP/1.1 ")[1:]:
            self.answers[int(line[:3])] = self.answers.get(int(line[:3]), 0) + 1


def read_all(connection, count, until):
    """Throws away what comes, but for the statuses."""
    rest = b""
    with contextlib.suppress(OSError):
        while time.monotonic() < until and (data := connection.recv(65536)):
            count.received += len(data)
            whole = rest + data
            cut = max(whole.rfind(b"HTTP/1.1 "), 0)
            count.note_answers(whole[:cut])
            rest = whole[cut:][:65536]
    if b"HTTP/1.1 " in rest[:9] and len(rest) > 12:
        count.note_answers(rest)


def send_all(address, make, first, count, until):
    # Made beforehand: this is to cost the manager's machine as little as a client elsewhere would.
    batches = [b"".join(make(first + BATCH * i + j) for j in range(BATCH)) for i in range(64)]
    while (left := until - time.monotonic()) > 0:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=left) as connection:
            count.connections += 1
            reader = threading.Thread(target=read_all, args=(connection, count, until), daemon=True)
            reader.start()
            for batch in itertools.cycle(batches):
                connection.sendall(batch)
                count.sent += BATCH
                if time.monotonic() > until:
                    break
        time.sleep(0.01)


def open_halves(address, count, until, whole=tools(0)):
    half = whole[:60]
    opened = []
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            connection = socket.create_connection(address, timeout=1)
            connection.sendall(half)
            opened.append(connection)
            count.sent += 1
            count.connections += 1
        if len(opened) >= HALF_SENT:
            opened.pop(0).close()
            time.sleep(0.002)
    for connection in opened:
        connection.close()


def client(kind, address, seconds, results):
    """One flooding process."""
    count, until = Count(), time.monotonic() + seconds
    if kind == "half-sent":
        open_halves(address, count, until)
    else:
        make = {"tools/list": tools, "wrong tokens": wrong_tokens, "registrations": registrations}[kind]
        threads = [threading.Thread(target=send_all, args=(address, make, i * 100_000, count, until), daemon=True)
                   for i in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 5)
    results.put((kind, {"sent": count.sent, "connections": count.connections, "received_bytes": count.received,
                        "answers": dict(sorted(count.answers.items()))}))


KINDS = ("tools/list", "wrong tokens", "registrations", "half-sent")


def elsewhere(target, *arguments):
    """Runs a client so that it takes only the processor time that the league leaves: its own machine would be another."""
    os.nice(19)
    target(*arguments)


@contextlib.contextmanager
def clients_at(place, seconds, target, kinds=KINDS):
    """Runs `target`(kind, *place, seconds, results) for each kind in a process of its own meanwhile; yields a dictionary
    that holds at the end what they did."""
    results, done = multiprocessing.Queue(), {}
    clients = [multiprocessing.Process(target=elsewhere, args=(target, kind, *place, seconds, results), daemon=True)
               for kind in kinds]
    for one in clients:
        one.start()
    try:
        yield done
    finally:
        deadline = time.monotonic() + seconds + 10
        while len(done) < len(clients) and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                kind, counts = results.get(timeout=0.5)
                done[kind] = counts
        for one in clients:
            one.terminate()
            one.join()


def flood(url, seconds):
    return clients_at([("127.0.0.1", urlsplit(url).port)], seconds, client)


# --- A league beside them -------------------------------------------------------------------------------------------
def bytes_below(directory):
    return sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class HonestPlayer:
    """A registered player: plays, and asks for the table twenty-five times a second on a connection that it keeps: so often that
    the 99th percentile of twelve seconds is that of many calls, and not the second slowest of a hundred."""

    def __init__(self, manager_url):
        self.bot = Bot("honest").join(type("Manager", (), {"url": manager_url}))
        self.address = ("127.0.0.1", urlsplit(manager_url).port)
        self.times, self.failures = [], []

    def ask_until(self, is_over):
        query = message("LEAGUE_QUERY", "player:" + self.bot.id, self.bot.token, league_id=self.bot.league_id,
                        query_type="GET_STANDINGS")
        data = request("league_query", query)
        connection = None
        while not is_over():
            begun = time.monotonic()
            try:
                connection = connection or socket.create_connection(self.address, timeout=10)
                connection.sendall(data)
                answer = self.read(connection)
                if b" 200 " not in answer[:20] or b"LEAGUE_QUERY_RESPONSE" not in answer:
                    self.failures.append(answer[:200].decode(errors="replace"))
            except OSError as fault:
                self.failures.append(str(fault))
                connection = None
            self.times.append(time.monotonic() - begun)
            time.sleep(max(0.0, 0.04 - (time.monotonic() - begun)))

    @staticmethod
    def read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536) or HonestPlayer.ended()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")))
        while len(body) < length:
            body += connection.recv(65536) or HonestPlayer.ended()
        return head + body

    @staticmethod
    def ended():
        raise OSError("the manager closed the connection")


@contextlib.contextmanager
def running(directory):
    """Yields what starts a program; ends all of them."""
    programs = []

    def start(name, *arguments):
        programs.append(Program(name, ["--port", 0, "--logs", directory / "logs", *arguments], directory))
        return programs[-1]

    try:
        yield start
    finally:
        for program in reversed(programs):
            if program.is_running:
                program.kill()


def finished_rounds(directory):
    """The rounds of a league that is over; None before."""
    for path in (directory / "data" / "leagues").glob("*/rounds.json"):
        rounds = json.loads(path.read_text())
        return rounds["rounds"] if rounds["status"] == "COMPLETED" else None
    return None


def league_beside_flood(directory, seconds, flood=flood, players=()):
    """A league of eight whose bots think so long that it lasts as long as the flood. `players`: more options of theirs."""
    with running(directory) as start:
        manager = start("league_manager", "--players", PLAYERS, "--referees", 2, "--data", directory / "data")
        (url, _), = manager.ready()
        honest = HonestPlayer(url)
        # Four matches a round, two at a time, of two answers each; well within the limits of both.
        thinking = min(4000, max(20, int(seconds * 1000 / (ROUNDS * 2 * 2))))
        start("player", "--manager", url, "--name", "bot", "--count", PLAYERS - 1, "--strategy", f"slow:{thinking}", *players).ready(PLAYERS - 1)
        with flood(url, seconds) as clients:
            before, begun = bytes_below(directory / "logs"), time.monotonic()
            for name in ("whistle", "flag"):
                start("referee", "--manager", url, "--name", name, "--max-matches", 1)
            asking = threading.Thread(target=honest.ask_until, args=(lambda: time.monotonic() > begun + seconds,))
            asking.start()
            asking.join()
            grown, took = bytes_below(directory / "logs") - before, time.monotonic() - begun
        key = (directory / "data" / "operator.key").read_text().strip()

        def status():
            return rpc(url, "get_league_status", {"operator_key": key}).result() or {}

        wait_until(lambda: status().get("state") == "COMPLETED", 60 + seconds, "the league is over")
        rounds = wait_until(lambda: finished_rounds(directory), 10, "the rounds are written")
        matches = [match for one in rounds for match in one["matches"]]
        return {"clients": clients, "honest_calls": len(honest.times), "honest_failures": honest.failures[:3],
                "p50_ms": 1000 * percentile(honest.times, 0.5), "p99_ms": 1000 * percentile(honest.times, 0.99),
                "log_bytes": grown, "log_bytes_per_second": grown / took, "matches": len(matches),
                "lost": sum(match["result"] == "TECHNICAL_LOSS" or match["attempt"] > 1 for match in matches),
                "said": [line for line in manager.whole_stderr().splitlines() if "refused" in line][-4:]}


def full_speed(with_flood):
    """Matches per second of a league of eight that plays as fast as it can. The flood begins when the players are in,
    whose seats it would take, and some seconds before the league."""
    with tempfile.TemporaryDirectory(prefix="flood_") as place, running(Path(place)) as start:
        directory = Path(place)
        manager = start("league_manager", "--players", PLAYERS, "--referees", 2, "--data", directory / "data")
        (url, _), = manager.ready()
        start("player", "--manager", url, "--name", "bot", "--count", PLAYERS).ready(PLAYERS)
        with flood(url, SETTLING + 4) if with_flood else contextlib.nullcontext():
            time.sleep(SETTLING)
            for name in ("whistle", "flag"):
                start("referee", "--manager", url, "--name", name, "--admission-key", directory / "data" / "referee.key")
            rounds = wait_until(lambda: finished_rounds(directory), 60, "the league is over")
        matches = [match for one in rounds for match in one["matches"]]
        if any(match["result"] == "TECHNICAL_LOSS" for match in matches):
            raise SystemExit("a league at full speed had technical losses")
        begun, ended = (datetime.fromisoformat(text.replace("Z", "+00:00"))
                        for text in (rounds[0]["started_at"], rounds[-1]["completed_at"]))
        return len(matches) / (ended - begun).total_seconds()


def main(told_of=__doc__, league_beside_flood=league_beside_flood, full_speed=full_speed):
    parser = argparse.ArgumentParser(description=told_of, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=90, help="of the flood beside the league that thinks")
    parser.add_argument("--leagues", type=int, default=5, help="at full speed, with and without a flood; 0: none")
    parser.add_argument("--json", action="store_true", help="one object for machines")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flood_") as directory:
        told = league_beside_flood(Path(directory), options.seconds)
    if options.leagues:
        alone, flooded = [], []
        for _ in range(options.leagues):  # in turn, so that both have the same machine
            alone.append(full_speed(False))
            flooded.append(full_speed(True))
        told["matches_per_second_alone"], told["matches_per_second_flooded"] = alone, flooded
        told["speed_ratio"] = statistics.median(flooded) / statistics.median(alone)
    is_good = (not told["honest_failures"] and told["lost"] == LIMITS["lost"] and told["p99_ms"] < LIMITS["p99_ms"]
               and told["log_bytes_per_second"] < LIMITS["log_bytes_per_second"]
               and told.get("speed_ratio", 1) >= LIMITS["speed_ratio"])
    if options.json:
        print(json.dumps(told, indent=1))
    else:
        for kind, counts in told["clients"].items():
            print(f"{kind}: {counts}")
        for line in told["said"]:
            print(f"manager: {line}")
        print(f"{told['lost']} of {told['matches']} matches lost or repeated; honest p50 {told['p50_ms']:.1f} ms, "
              f"p99 {told['p99_ms']:.1f} ms of {told['honest_calls']} calls, failures {told['honest_failures']}; "
              f"logs {told['log_bytes_per_second'] / 1000:.0f} kB/s; speed {told.get('speed_ratio', 'not measured')}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
