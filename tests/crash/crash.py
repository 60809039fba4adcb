"""Plays leagues of the real programs, kills them again and again, and checks that nothing was lost.

    crash.py --kills 50 [--seed S] [--seconds LIMIT] [--hurry] [--keep DIR] [--verbose]

Each league has twelve players in three processes, two referees and a manager. The manager dies at places of its
journal (before and after the write, before and after the answer), its disk fails (full, torn write, no flush), and
everybody is killed with SIGKILL at random instants; whoever has died is started again on its data directory. At the
end of each league journal, table and logs must agree. Exit code 0: nothing was lost, doubled or wrong.
"""

import argparse
import contextlib
import json
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import crash_checks  # noqa: E402
from league_testing import BIN, Program, rpc, wait_until, without_figures, write_limits  # noqa: E402

FAULTY_MANAGER = Path("..") / "tests" / "league_manager_faulty"  # from the programs' directory
DEATHS = ["before_write", "after_write", "before_answer", "after_answer"]
DISK_FAULTS = ["disk_full", "torn_write", "sync_error"]
PLAYER_PROCESSES = 3
PLAYERS_EACH = 4
PLAYERS = PLAYER_PROCESSES * PLAYERS_EACH
REFEREES = 2
KILLS_PER_LEAGUE = 17
PATIENCE = 90  # seconds for the end of one league after its last kill

# With --hurry a call that has died with somebody is not waited for as long as by default; nothing else is changed.
HURRY = {"time_limits_ms": {"GAME_INVITATION": 1000, "CHOOSE_PARITY_CALL": 2000}}


def free_ports(count):
    """The first of `count` consecutive ports that are free now."""
    for _ in range(200):
        first = random.randrange(20000, 30000)
        with contextlib.ExitStack() as sockets:
            try:
                for port in range(first, first + count):
                    one = sockets.enter_context(socket.socket())
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    one.bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise RuntimeError("no free ports")


class Part:
    """One program of a league, started again whenever it has died."""

    def __init__(self, league, name, agents, arguments):
        self.league = league
        self.name = name
        self.agents = agents
        self.arguments = arguments
        self.program = None
        self.ids = None
        self.is_known = False

    def start(self, fault=None):
        environment = {"LEAGUE_FAULT": fault} if fault else {}
        self.program = Program(self.name, self.arguments, self.league.directory, environment)
        self.fault = fault
        self.is_known = False

    def check_identity(self, verdict):
        """Reads the `ready` lines of a program that has got its ids; they are the same after each start."""
        ids = [identity for _, identity in self.program.ready(self.agents, 30)]
        self.is_known = True
        if self.ids is None:
            self.ids = ids
        elif sorted(ids) != sorted(self.ids):
            verdict.registered_twice.append(f"{self.name} was {self.ids} and is now {ids}")


class CrashLeague:
    limits = {}  # the defaults
    hurry = HURRY
    strategy = "slow:80"

    def __init__(self, directory, seed, kills, log):
        self.directory = directory
        self.data = directory / "data"  # the manager's
        self.random = random.Random(seed)
        self.kills_wanted = kills
        self.kills = 0
        self.faults = 0  # of the kills, those at a place of the journal
        self.log = log
        self.verdict = crash_checks.Verdict()
        first = free_ports(1 + REFEREES + PLAYERS)
        self.url = f"http://localhost:{first}/mcp"
        self.limits_file = write_limits(directory, self.limits)
        common = ["--config", self.limits_file, "--logs", directory / "logs", "--log-level", "warn"]
        self.manager = Part(self, str(FAULTY_MANAGER), 1, [
            *common, "--port", first, "--players", PLAYERS, "--referees", REFEREES, "--data", directory / "data"])
        agent = [*common, "--manager", self.url, "--data", directory / "agents"]
        self.referees = [Part(self, "referee", 1, [*agent, "--port", first + 1 + i, "--name", f"whistle{i}"])
                         for i in range(REFEREES)]
        self.players = [
            Part(self, "player", PLAYERS_EACH, [
                *agent, "--port", first + 1 + REFEREES + i * PLAYERS_EACH, "--name", f"bot{i}_",
                "--count", PLAYERS_EACH, "--strategy", self.strategy])
            for i in range(PLAYER_PROCESSES)]

    @property
    def parts(self):
        return [self.manager, *self.referees, *self.players]

    def play(self):
        try:
            for part in self.parts:
                part.start(self.next_fault() if part is self.manager else None)
            while self.kills < self.kills_wanted and not self.is_over():
                self.misfortune()
            self.manager_lives_on()
            self.wait_for_the_end()
            self.check()
            self.restart_and_check()
            self.check_logs()
        finally:
            for part in self.parts:
                if part.program and part.program.is_running:
                    part.program.kill()

    def next_fault(self):
        """Where the manager's next life ends by itself, if it comes so far."""
        kind = self.random.random()
        if kind < 0.25:
            return None
        point = self.random.choice(DEATHS if kind < 0.85 else DISK_FAULTS)
        return f"{point}:{1 + int(self.random.expovariate(1 / 6))}"

    def misfortune(self):
        """Waits a moment, then kills somebody, unless the manager has died by itself meanwhile."""
        deadline = time.monotonic() + self.random.expovariate(1 / 0.2)
        while time.monotonic() < deadline and self.manager.program.is_running:
            time.sleep(0.005)
        if not self.manager.program.is_running:
            self.faults += 1
            return self.revive(self.manager, self.next_fault())
        # A manager that will die by itself is mostly left to it.
        managers = 1 if self.manager.fault else 6
        victim = self.random.choice([self.manager] * managers + self.referees * 2 + self.players)
        victim.program.process.send_signal(signal.SIGKILL)
        self.revive(victim, self.next_fault() if victim is self.manager else None)

    def revive(self, part, fault=None):
        code = part.program.process.wait(10)
        self.kills += 1
        self.log(f"kill {self.kills}: {Path(part.name).name} ended with {code}, fault {part.fault}")
        has_broken_disk = part.fault is not None and part.fault.split(":")[0] in DISK_FAULTS
        if code != -signal.SIGKILL and not (code == 2 and has_broken_disk):
            raise AssertionError(f"{part.name} ended with {code}: {part.program.stderr()}")
        if self.random.random() < 0.5:
            time.sleep(self.random.random() * 0.3)
        part.start(fault)

    def manager_lives_on(self):
        """The last manager has no fault planned."""
        if self.manager.fault or not self.manager.program.is_running:
            self.manager.program.process.kill()
            self.revive(self.manager)

    def status(self):
        """None while the manager is away, or refuses because its disk has failed."""
        try:
            result = rpc(self.url, "get_league_status", timeout=5).result()
        except OSError:
            return None
        return result if result and "state" in result else None

    def is_over(self):
        status = self.status()
        return bool(status and status["state"] == "COMPLETED")

    def wait_for_the_end(self):
        for part in self.parts:
            if not part.program.is_running:
                self.verdict.other.append(f"{part.name} ended: {part.program.stderr()}")
        try:
            wait_until(self.is_over, PATIENCE, "the league is over")
        except AssertionError as late:
            self.verdict.other.append(f"{late}: {self.status()}")

    def standings(self):
        return without_figures(rpc(self.url, "get_standings", {"limit": 50}).result()["standings"])

    def schedule(self):
        """match id -> its players, from the manager's files. Nobody is asked in a player's name: its log would lack that."""
        path = self.data / "leagues" / "league_2026_even_odd" / "rounds.json"
        wait_until(lambda: path.exists() and json.loads(path.read_text())["status"] == "COMPLETED", PATIENCE,
                   "the manager's files have the end of the league")
        return {match["match_id"]: (match["player_A_id"], match["player_B_id"])
                for found in json.loads(path.read_text())["rounds"] for match in found["matches"]}

    def check(self):
        for part in [*self.referees, *self.players]:
            if part.program.is_running:
                part.check_identity(self.verdict)
        journal = crash_checks.Journal(self.data / "journal" / "journal.sqlite")
        self.verdict.other += journal.faults
        acknowledged = crash_checks.acknowledged(self.directory / "logs")
        self.log(f"{len(journal.events)} events, {len(acknowledged)} acknowledged reports in the referees' logs")
        crash_checks.check_matches(journal, PLAYERS, self.verdict)
        self.check_reports(journal, acknowledged)
        crash_checks.check_agents(journal, PLAYERS, REFEREES, self.verdict)
        crash_checks.check_table(journal, self.schedule(), self.standings(), self.verdict)

    def check_reports(self, journal, acknowledged):
        crash_checks.check_reports(journal, acknowledged, self.verdict)

    def restart_and_check(self):
        """The table that a replay of the journal gives is the same."""
        before = self.standings()
        self.manager.program.kill()
        self.manager.start()
        self.manager.program.ready()
        if self.standings() != before:
            self.verdict.wrong.append("a restart changes the table")

    def check_logs(self):
        """Everybody's logs agree with each other, and with the journal."""
        for part in reversed(self.parts):
            if part.program.is_running:
                part.program.stop()
        command = [BIN / "league", "audit", "verify", self.directory, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.verdict.other += [f"audit: {fault}" for fault in json.loads(done.stdout)["faults"]]


class Totals:
    def __init__(self):
        self.kills = self.leagues = self.lost = self.doubled = self.wrong = self.twice = self.other = 0

    def add(self, league):
        self.kills += league.kills
        self.leagues += 1
        self.lost += len(league.verdict.lost)
        self.doubled += len(league.verdict.doubled)
        self.wrong += len(league.verdict.wrong)
        self.twice += len(league.verdict.registered_twice)
        self.other += len(league.verdict.other)

    def __str__(self):
        return (f"kills {self.kills}, leagues {self.leagues}, lost {self.lost}, doubled {self.doubled}, "
                f"wrong tables {self.wrong}, registered twice {self.twice}, other faults {self.other}")

    def is_clean(self):
        return not (self.lost or self.doubled or self.wrong or self.twice or self.other)


def main(league_type=CrashLeague, totals=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None, help="repeats a run, as far as the machine lets it")
    parser.add_argument("--seconds", type=float, default=None, help="begin no further league after so long")
    parser.add_argument("--hurry", action="store_true", help="shorter time limits for answers than by default")
    parser.add_argument("--keep", type=Path, default=None, help="keep the directories of leagues with a fault here")
    parser.add_argument("--verbose", action="store_true", help="name every kill")
    options = parser.parse_args()
    if options.hurry:
        league_type.limits = league_type.hurry
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}, programs from {BIN}", flush=True)
    started = time.monotonic()
    totals = totals or Totals()
    while totals.kills < options.kills:
        if options.seconds and time.monotonic() - started > options.seconds:
            print(f"not enough time: {totals}")
            return 1
        play_one(league_type, options, seed + totals.leagues, totals)
    print(f"{totals}; {time.monotonic() - started:.0f} s", flush=True)
    return 0 if totals.is_clean() else 1


def play_one(league_type, options, seed, totals):
    directory = Path(tempfile.mkdtemp(prefix="league_crash_"))
    log = (lambda text: print(text, flush=True)) if options.verbose else (lambda text: None)
    league = league_type(directory, seed, min(KILLS_PER_LEAGUE, options.kills - totals.kills), log)
    try:
        league.play()
    except (AssertionError, OSError, LookupError, sqlite3.Error) as problem:
        league.verdict.other.append(f"{type(problem).__name__}: {problem}")
    totals.add(league)
    print(f"league {totals.leagues}, seed {seed}: {league.kills} kills, {league.faults} of them at places "
          f"of the journal, {len(league.verdict.all())} faults", flush=True)
    for fault in league.verdict.all():
        print(f"  {fault}")
    if league.verdict.all() and options.keep:
        shutil.copytree(directory, options.keep / f"seed_{seed}", dirs_exist_ok=True)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
