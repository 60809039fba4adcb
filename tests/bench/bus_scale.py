"""How much faster a league over a message bus is with more referees.

    bus_scale.py [--players 4096] [--think 20] [--referees 1,2,4,8] [--rounds 1] [--repeat 3] [--json]

For each number of referee processes one league with the same bots, which think before each answer to a game call, and referees of
capacity 8, on one broker. A league is watched for some rounds and not played to its end. Speeds are matches from the
end of the first round to the end of the last one watched, divided by the time between: rounds are long beside the pause
between two, in which the last matches of one end and the first of the next begin. Beside each stands how busy
all processors of the machine were meanwhile: bots and broker take their share, and a machine that has nothing left to
give cannot show what one more referee would bring.

A shared host gives more in one minute than in the next, so all is measured several times in turn, and the one with the
median speed of each number counts.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from league_testing import BIN, write_limits  # noqa: E402
from nats_broker import NatsBroker  # noqa: E402

CAPACITY = 8


def processor_ticks():
    """Of all processors since the machine started: (busy, all)."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def process_seconds(pid):
    """Of the processors, that this process has used."""
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Measured:
    """What one league showed while it was watched."""

    def __init__(self, matches, seconds, busy, costs):
        self.speed = matches / seconds
        self.busy = busy
        self.costs = {name: round(1000 * cost / matches, 2) for name, cost in costs.items()}


class Bench:
    """The processes of one league."""

    def __init__(self, directory, options, referees):
        self.directory, self.options, self.referees = directory, options, referees
        self.processes, self.kinds = [], {}
        self.config = write_limits(directory, {"league": {"broadcasts": 1 if options.broadcasts else 0}})

    def __enter__(self):
        self.broker = NatsBroker(jetstream_dir=self.directory / "streams").start()
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
        self.broker.close()

    def start(self, program, *arguments):
        # Only what the manager says is read: a pipe that nobody reads stops who writes to it.
        output = subprocess.PIPE if program == "league_manager" else subprocess.DEVNULL
        with open(self.directory / f"{program}{len(self.processes)}.err", "wb") as errors:
            process = subprocess.Popen([os.path.join(BIN, program), *map(str, arguments), "--bus", self.broker.url],
                                       stdout=output, stderr=errors, text=True)
        self.processes.append(process)
        self.kinds.setdefault(program, []).append(process.pid)
        return process

    def seconds_used(self):
        used = {kind: sum(map(process_seconds, pids)) for kind, pids in self.kinds.items()}
        return {**used, "broker": process_seconds(self.broker.pid)}

    def start_agent(self, program, *arguments):
        return self.start(program, *arguments, "--logs", self.directory / "logs", "--log-level", "warn", "--config",
                          self.config)

    def play(self):
        """What the watched rounds showed."""
        players = self.options.players
        manager = self.start_agent("league_manager", "--port", 0, "--players", players, "--referees", self.referees,
                                   "--data", self.directory / "data")
        url = manager.stdout.readline().split()[1]
        for i in range(self.referees):
            self.start_agent("referee", "--name", f"whistle{i}", "--max-matches", CAPACITY,
                             "--admission-key", self.directory / "data" / "referee.key")
        self.start_agent("player", "--name", "bot", "--count", players, "--strategy", f"slow:{self.options.think}")
        return self.watch(url)

    def watch(self, url):
        per_round = self.options.players // 2
        first, last = per_round, per_round * (1 + self.options.rounds)
        began = None
        while True:
            time.sleep(0.2)
            if ended := [process.args[0] for process in self.processes if process.poll() is not None]:
                sys.exit(f"ended before its league: {ended[0]}")
            done = self.status(url)["matches_completed"]
            now = time.monotonic()
            if began is None and done >= first:
                began, first, ticks, used = now, done, processor_ticks(), self.seconds_used()
            elif began is not None and done >= last:
                busy, total = (b - a for a, b in zip(ticks, processor_ticks()))
                costs = {kind: seconds - used[kind] for kind, seconds in self.seconds_used().items()}
                return Measured(done - first, now - began, busy / total, costs)

    @staticmethod
    def status(url):
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "get_league_status", "params": {}})
        connection.request("POST", place.path, body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["result"]


def line(referees, found, one):
    """`one`: the speed of one referee."""
    costs = ", ".join(f"{kind} {cost:.2f}" for kind, cost in found.costs.items())
    return (f"{referees} referees: {found.speed:7.1f} matches/s, {found.speed / one / referees:.2f} of {referees} "
            f"times one, processors {found.busy:.0%} busy; ms a match: {costs}")


def median(measured):
    """Of what was measured the one with the median speed, the slower of two."""
    return sorted(measured, key=lambda one: one.speed)[(len(measured) - 1) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--players", type=int, default=4096)
    parser.add_argument("--think", type=int, default=20, metavar="MS")
    parser.add_argument("--referees", default="1,2,4,8")
    parser.add_argument("--rounds", type=int, default=1, help="that are watched, after the first")
    parser.add_argument("--broadcasts", action="store_true", help="tell everybody of every round")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    numbers = [int(n) for n in options.referees.split(",")]
    measured = {n: [] for n in numbers}
    # Removed at the end: a file system is slow at making files where it has just removed thousands (ext4), which the
    # next league would feel.
    with tempfile.TemporaryDirectory(prefix="bus_scale_") as directory:
        for turn in range(options.repeat):
            for referees in numbers:
                own = Path(directory) / f"{turn}_{referees}"
                own.mkdir()
                with Bench(own, options, referees) as bench:
                    measured[referees].append(bench.play())
                if not options.json:
                    one = measured[numbers[0]][-1].speed / numbers[0]
                    print(line(referees, measured[referees][-1], one), flush=True)
    medians = {n: median(found) for n, found in measured.items()}
    if options.json:
        print(json.dumps({"players": options.players, "think_ms": options.think,
                          "referees": {n: vars(found) for n, found in medians.items()}}))
    elif options.repeat > 1:
        print(f"medians of {options.repeat}:")
        for n in numbers:
            print(line(n, medians[n], medians[numbers[0]].speed / numbers[0]))


if __name__ == "__main__":
    main()
