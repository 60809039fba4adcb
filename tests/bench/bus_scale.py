"""How much faster a league over a message bus is with more referees.

    bus_scale.py [--players 256] [--think 20] [--referees 1,2,4,8] [--rounds 6] [--json]

For each number of referee processes one league with the same bots, which think before each choice, and referees of
capacity 8, on one broker. A league is watched for some rounds and not played to its end. Speeds are matches from the
start of the second round to the end of the last one watched, divided by the time between. Beside each stands how busy
all processors of the machine were meanwhile: bots and broker take their share, and a machine that has nothing left to
give cannot show what one more referee would bring.
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

from league_testing import BIN  # noqa: E402
from nats_broker import NatsBroker  # noqa: E402

CAPACITY = 8
PLAYER_PROCESSES = 2


def processor_ticks():
    """Of all processors since the machine started: (busy, all)."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


class Bench:
    """The processes of one league."""

    def __init__(self, directory, options, referees):
        self.directory, self.options, self.referees = directory, options, referees
        self.processes = []
        self.limits = directory / "limits.json"
        self.limits.write_text(json.dumps({"league": {"broadcasts": 1 if options.broadcasts else 0}}))

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
        with open(self.directory / f"{program}{len(self.processes)}.err", "wb") as errors:
            process = subprocess.Popen([os.path.join(BIN, program), *map(str, arguments), "--bus", self.broker.url,
                                        "--logs", self.directory / "logs", "--log-level", "warn", "--limits", self.limits],
                                       stdout=subprocess.PIPE, stderr=errors, text=True)
        self.processes.append(process)
        return process

    def play(self):
        """Over the watched rounds: matches per second, and the share of the processors' time that was used."""
        players = self.options.players
        manager = self.start("league_manager", "--port", 0, "--players", players, "--referees", self.referees,
                             "--data", self.directory / "data")
        url = manager.stdout.readline().split()[1]
        for i in range(self.referees):
            self.start("referee", "--name", f"whistle{i}", "--max-matches", CAPACITY)
        for i in range(PLAYER_PROCESSES):
            count = players // PLAYER_PROCESSES + (1 if i < players % PLAYER_PROCESSES else 0)
            self.start("player", "--name", f"bot{i}_", "--count", count, "--strategy", f"slow:{self.options.think}")
        return self.watch(url)

    def watch(self, url):
        per_round = self.options.players // 2
        first, last = per_round, per_round * (1 + self.options.rounds)
        began = None
        while True:
            time.sleep(0.05)
            done = self.status(url)["matches_completed"]
            now = time.monotonic()
            if began is None and done >= first:
                began, first, ticks = now, done, processor_ticks()
            if done >= last:
                busy, total = (b - a for a, b in zip(ticks, processor_ticks()))
                return (done - first) / (now - began), busy / total

    @staticmethod
    def status(url):
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "get_league_status", "params": {}})
        connection.request("POST", place.path, body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["result"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--players", type=int, default=256)
    parser.add_argument("--think", type=int, default=20, metavar="MS")
    parser.add_argument("--referees", default="1,2,4,8")
    parser.add_argument("--rounds", type=int, default=6, help="that are watched, after the first")
    parser.add_argument("--broadcasts", action="store_true", help="tell everybody of every round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    speeds, loads = {}, {}
    # Removed at the end: a file system is slow at making files where it has just removed thousands (ext4), which the
    # next league would feel.
    with tempfile.TemporaryDirectory(prefix="bus_scale_") as directory:
        for referees in [int(n) for n in options.referees.split(",")]:
            own = Path(directory) / str(referees)
            own.mkdir()
            with Bench(own, options, referees) as bench:
                speeds[referees], loads[referees] = bench.play()
            one = speeds[min(speeds)] / min(speeds)
            if not options.json:
                print(f"{referees} referees: {speeds[referees]:7.1f} matches/s, "
                      f"{speeds[referees] / one / referees:.2f} of {referees} times one, "
                      f"processors {loads[referees]:.0%} busy", flush=True)
    if options.json:
        print(json.dumps({"players": options.players, "think_ms": options.think, "matches_per_second": speeds,
                          "processors_busy": loads}))


if __name__ == "__main__":
    main()
