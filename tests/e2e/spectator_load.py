"""What spectators of the live page cost a league: leagues at full speed with and without them, in turn. scripts/spectator-load runs it."""

import argparse
import json
import os
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from multiprocessing import Pipe, Process
from pathlib import Path
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, rpc

STRATEGIES = "random,even,odd,alternate,frequency,opposite"  # those of `league bench`
LIMIT = 0.05  # of the matches per second


class Crowd(Process):
    """Streams of the live page in a process of their own, which says how many are open and, at the end, how many bytes came."""

    def __init__(self, url, size):
        self.ours, self.theirs = Pipe()
        self.where = urlsplit(url)
        self.size = size
        super().__init__(daemon=True)

    def run(self):
        # One takes its events apart; of the others the kernel throws away what has come, as copying it would cost the league.
        poll, streams = select.epoll(), {}
        request = f"GET /live/events HTTP/1.1\r\nHost: {self.where.netloc}\r\nAccept: text/event-stream\r\n\r\n".encode()
        for _ in range(self.size):
            stream = socket.create_connection((self.where.hostname, self.where.port))
            stream.sendall(request)
            stream.setblocking(False)
            streams[stream.fileno()] = stream
            poll.register(stream, select.EPOLLIN)
        reader, text, counts, buffer = next(iter(streams)), b"", dict.fromkeys(streams, 0), bytearray(1 << 20)
        poll.register(self.theirs, select.EPOLLIN)
        is_told, lost = False, 0
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.theirs.fileno():
                    self.theirs.recv()
                    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith(b"data: {")]
                    done = sum(row[4] == "COMPLETED" for row in {tuple(row[:2]): row for event in events for row in event["matches"]}.values())
                    self.theirs.send({"bytes": sum(counts.values()), "lost": lost, "events": len(events), "matches": done})
                    continue
                stream = streams[descriptor]
                got = stream.recv_into(buffer, len(buffer), 0 if descriptor == reader else socket.MSG_TRUNC)
                if got == 0:
                    poll.unregister(descriptor)
                    lost += 1
                    continue
                counts[descriptor] += got
                if descriptor == reader:
                    text += buffer[:got]
            if not is_told and all(counts.values()):
                self.theirs.send(len(counts))
                is_told = True

    def seen(self, matches):
        """What came, once everything is there; the last updates come as late as the manager's budget for them allows."""
        deadline = time.monotonic() + 60
        while True:
            self.ours.send(None)
            row = self.ours.recv()
            if row["lost"]:
                raise SystemExit(f"spectators were cut off: {row}")
            if row["matches"] == matches:
                self.kill()
                self.join()
                return row
            if time.monotonic() > deadline:
                raise SystemExit(f"spectators have not seen all of {matches} matches: {row}")
            time.sleep(0.2)


def processor_seconds(process):
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def start(directory, name, *arguments, lines=1):
    command = [BIN / name, "--port", "0", "--data", directory / "data", "--logs", directory / "logs", *map(str, arguments)]
    with (directory / f"{name}.err").open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=directory, text=True)
    words = [process.stdout.readline().split() for _ in range(lines)]
    if not words[-1] or words[-1][0] != "ready":
        raise SystemExit(f"{name} is not ready: {(directory / f'{name}.err').read_text()}")
    return process, words[0][1]


def play(players, spectators):
    """One league; its speed, the processor time of its programs, and what the spectators got."""
    with tempfile.TemporaryDirectory(prefix="spectators_") as name:
        directory, programs = Path(name), []
        try:
            manager, url = start(directory, "league_manager", "--players", players, "--referees", 1)
            programs.append(manager)
            crowd = Crowd(url, spectators) if spectators else None
            if crowd:
                crowd.start()
                if not crowd.ours.poll(60) or crowd.ours.recv() != spectators:
                    raise SystemExit("the spectators have not all got the page's snapshot within a minute")
            programs.append(start(directory, "player", "--count", players, "--manager", url, "--strategy", STRATEGIES, lines=players)[0])
            before = [processor_seconds(program) for program in programs]
            programs.append(start(directory, "referee", "--manager", url, "--max-matches", 32)[0])
            deadline = time.monotonic() + 300
            while (status := rpc(url, "get_league_status").result())["state"] != "COMPLETED":
                if time.monotonic() > deadline:
                    raise SystemExit(f"the league has not ended within five minutes: {status}")
                time.sleep(0.2)
            spent = [processor_seconds(program) - used for program, used in zip(programs, [*before, 0])]
            seconds = (datetime.fromisoformat(status["completed_at"]) - datetime.fromisoformat(status["started_at"])).total_seconds()
            row = {"rate": status["total_matches"] / seconds, "seconds": seconds, "manager": spent[0], "all": sum(spent)}
            if crowd:
                row |= crowd.seen(status["total_matches"])
            return row
        finally:
            for program in programs:
                program.kill()
                program.wait()
                program.stdout.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectators", type=int, default=1000)
    parser.add_argument("--players", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    pairs = []
    for number in range(options.pairs):
        order = (0, options.spectators) if number % 2 == 0 else (options.spectators, 0)
        rows = {count: play(options.players, count) for count in order}
        pairs.append((rows[0], rows[options.spectators]))
        alone, watched = pairs[-1]
        print(f"{alone['rate']:.0f} matches/s alone, {watched['rate']:.0f} with {options.spectators} spectators; processor time of the "
              f"manager {alone['manager']:.2f} s and {watched['manager']:.2f} s; {watched['events']} events, {watched['bytes'] / 1e6:.0f} MB",
              file=sys.stderr, flush=True)
    lost = 1 - statistics.median(watched["rate"] / alone["rate"] for alone, watched in pairs)
    cost = statistics.median(watched["manager"] - alone["manager"] for alone, watched in pairs) / statistics.median(alone["all"] for alone, _ in pairs)
    if options.json:
        print(json.dumps({"spectators": options.spectators, "lost": lost, "cost": cost, "pairs": pairs}))
    else:
        print(f"{options.spectators} spectators cost {100 * lost:.1f} % of the matches per second (median of {len(pairs)} pairs), and the manager "
              f"{100 * cost:.1f} % of the processor time of the league's programs")
    return 0 if lost <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
