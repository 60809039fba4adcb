"""Interrupts one league of `league up` again and again, by Ctrl-C and by kill -9, and continues it each time.

    interrupt_up.py --times 20 [--seed S] [--players N] [--keep DIR] [-- OPTIONS OF league up]

The first interruptions come before the league has started, the others spread over its course. What Ctrl-C prints is
what continues the league; after kill -9 it is `league up --data DIR`. In the end every match was played once, nobody
has lost one technically, the finished league says that it is finished, and both verifiers find nothing wrong.
Exit code 0: all of that is so.
"""

import argparse
import json
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from league_testing import BIN, SOURCE, limits, rpc, wait_until, write_limits  # noqa: E402

sys.path.insert(0, str(SOURCE / "scripts"))
import verify_log  # noqa: E402

LIMITS = limits(league={"start_delay_ms": 20})
PATIENCE = 90  # seconds until a league that nobody interrupts any more is over


class InterruptedLeague:
    """One league of `league up` in `directory`, whose `data/` and `logs/` it fills."""

    def __init__(self, directory, *options, players=8, meetings=1, strategy="slow:60", settings=None):
        self.directory = directory
        self.data = directory / "data"
        self.logs = directory / "logs"
        config = write_limits(directory, {**LIMITS, **(settings or {})})
        self.first = [str(BIN / "league"), "up", "--data", str(self.data), "--logs", str(self.logs),
                      "--players", str(players), "--meetings", str(meetings), "--referees", "2", "--strategies", strategy,
                      "--config", str(config), *options]
        self.command = self.first
        self.total = players * (players - 1) // 2 * meetings
        self.process = None
        self.runs = 0

    def start(self, *options):
        """Begins or continues the league; whatever else is said stands in `options`."""
        self.runs += 1
        if not (self.data / "league_up.json").exists():
            self.command = self.first  # it was interrupted before there was anything to continue
        with open(self.directory / f"up_{self.runs}.stderr", "wb") as stderr:
            self.process = subprocess.Popen([*self.command, *options], stdout=subprocess.PIPE, stderr=stderr,
                                            cwd=self.directory)
        self.command = [str(BIN / "league"), "up", "--data", str(self.data)]

    def stderr(self):
        return (self.directory / f"up_{self.runs}.stderr").read_text(errors="replace")

    def port(self):
        try:
            return json.loads((self.data / "league_up.json").read_text())["options"]["port"]
        except (OSError, ValueError):
            return 0

    def completed(self):
        """Matches that are over, as the manager tells; 0 while there is none."""
        if self.process.poll() is not None:
            raise AssertionError(f"`league up` ended with {self.process.returncode}: {self.stderr()}")
        try:
            return rpc(f"http://127.0.0.1:{self.port()}/mcp", "get_league_status", timeout=2).result()["matches_completed"]
        except (OSError, AttributeError, TypeError, KeyError):
            return 0

    def wait_for(self, matches):
        wait_until(lambda: self.completed() >= matches, PATIENCE, f"{matches} matches are played")

    def interrupt(self, number):
        """By this signal; Ctrl-C is answered with the line that continues the league."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=30)
        if number == signal.SIGKILL:
            return
        if self.process.returncode == -number and not self.stderr():
            return  # the program had not even begun to listen for it
        assert self.process.returncode == 1, (self.process.returncode, self.stderr())
        last = self.stderr().rstrip().splitlines()[-1]
        before, _, line = last.partition(": ")
        assert before == "to continue the league", last
        self.command = shlex.split(line)
        assert b"interrupted" in out or "\ninterrupted" in "\n" + self.stderr(), out

    def finish(self):
        """Lets the league end and returns its result."""
        self.start("--json")
        out, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, (self.process.returncode, self.stderr())
        return json.loads(out)

    def check(self, result):
        """The league ended right, and says so."""
        assert result["state"] == "COMPLETED", result
        assert (result["matches"], result["technical_losses"]) == (self.total, 0), result
        journal = f"file:{self.data / 'journal' / 'journal.sqlite'}?mode=ro"
        with closing(sqlite3.connect(journal, uri=True)) as entries:
            counted = dict(entries.execute("SELECT type, count(*) FROM entries GROUP BY type"))
        assert counted["MATCH_REPORTED"] == self.total, counted
        assert counted["AGENT_REGISTERED"] == len(result["standings"]) + 2, counted
        again = subprocess.run([BIN / "league", "up", "--data", self.data], capture_output=True, timeout=30, text=True)
        assert again.returncode == 0 and "is finished" in again.stdout, again
        assert len(again.stdout.splitlines()) == 2, again.stdout
        done = subprocess.run([BIN / "league", "audit", "verify", self.directory, "--json"], capture_output=True, timeout=120)
        report = json.loads(done.stdout)
        assert (done.returncode, report["faults"]) == (0, []), report
        faults = verify_log.verify(str(self.directory), False)["faults"]
        assert faults == [], faults

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def interrupt_often(league, times, chance):
    """Interrupts `league` so often and continues it; returns how often it was by which signal."""
    early = min(3, times // 3)
    by_signal = {signal.SIGINT: 0, signal.SIGKILL: 0}
    for i in range(times):
        league.start()
        if i < early:
            time.sleep(chance.uniform(0, 0.6))
        else:
            league.wait_for((i - early) * league.total // (times - early + 1))
            time.sleep(chance.uniform(0, 0.15))
        number = signal.SIGINT if i % 2 == 0 else signal.SIGKILL
        by_signal[number] += 1
        league.interrupt(number)
    return by_signal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--players", type=int, default=12)
    parser.add_argument("--keep", type=Path, help="where a league that failed is left")
    parser.add_argument("options", nargs="*", help="more options of `league up`")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="league_up_"))
    league = InterruptedLeague(directory, *arguments.options, players=arguments.players, strategy="slow:100")
    begin = time.monotonic()
    try:
        by_signal = interrupt_often(league, arguments.times, random.Random(arguments.seed))
        league.check(league.finish())
    except (AssertionError, subprocess.TimeoutExpired) as failure:
        league.end()
        kept = directory
        if arguments.keep:
            kept = arguments.keep / f"up_{arguments.seed}"
            shutil.copytree(directory, kept, dirs_exist_ok=True)
        print(f"FAILED with --seed {arguments.seed}, kept in {kept}: {failure}", file=sys.stderr)
        return 1
    shutil.rmtree(directory)
    print(f"{by_signal[signal.SIGINT]} times Ctrl-C, {by_signal[signal.SIGKILL]} times kill -9; {league.total} matches, "
          f"no technical loss, no fault; {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
