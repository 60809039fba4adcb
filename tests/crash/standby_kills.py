"""Plays leagues of two managers over a message bus, lets happen what can, and checks that nothing was lost.

    standby_kills.py --kills 50 [--seed S] [--hurry] [--keep DIR] [--verbose]

As bus_kills.py, but each league has two managers on machines of their own, of which one leads, and everybody has a
user of `league bus-config`. Managers are killed, frozen, terminated and cut off from the broker; the broker is killed
and emptied, and its stream is deleted or full; agents are killed, and everybody at once. These faults overlap. Whoever
has ended is started again at once, later, or only when the other manager waits for it; a manager that ends because it
does not lead any more is started again as by a supervisor. After each league, every report that a referee was told is
recorded is in the journal, both journals are the same, and both verifiers accuse nobody. It is also measured how long
nobody was answered although a manager with every answered report and a broker were there.
"""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import bus_kills  # noqa: F401  (finds the modules below)
import crash
from bus_kills import BusLeague
from crash import PLAYERS, REFEREES, Part, free_ports
from gathered import gather
from league_testing import BIN, SOURCE, wait_until
from nats_broker import NatsBroker
from relay import Relay
from standby_faults import Faults

LEAGUE = "league_2026_even_odd"
NAMES = ("one", "two")
# Seconds: a takeover takes 6, a stand-by that is gone is waited for 11, a choice may take 30.
STALL = 60
# So many seconds after the last fault, nobody may ask the operator to give up entries any more.
ASKED_IN_VAIN = 30
LONGEST_STOP = 40
SECONDS_BETWEEN_LOOKS = 0.2
ANSWERED = re.compile(rb'match_id\\":\\"(\w+)')
PUT_ASIDE = re.compile(r"entries (\d+) to (\d+) of this journal were never acknowledged and are put aside")


class Manager(Part):
    """One of two. `data` is a machine's directory: nobody else's; `link` is its way to the broker."""

    def __init__(self, league, name, port, arguments):
        self.data = league.directory / name
        self.url = f"http://localhost:{port}/mcp"
        self.link = Relay(league.broker.port)
        self.is_away = False  # it has ended, and the league knows when it starts again
        self.is_frozen = False
        self.stopping_since = None
        self.questions, self.asked_at = 0, 0  # when it last asked the operator to give up entries
        super().__init__(league, "league_manager", 1, [
            *arguments, "--port", port, "--bus", self.link.url, "--data", self.data, "--logs", self.data / "logs"])

    def start(self, fault=None):
        if self.is_running:
            return
        self.is_away, self.is_frozen, self.stopping_since = False, False, None
        self.questions, self.asked_at = 0, 0
        # Only the first begins the league, once.
        begins = self.program is None and self is self.league.managers[0]
        plain, self.arguments = self.arguments, [*self.arguments, "--replicate" if begins else "--standby"]
        super().start(fault)
        self.arguments = plain

    def kill(self):
        self.is_away, self.is_frozen = True, False
        self.program.kill()

    def freeze(self, is_frozen, program):
        """Unless it has been started again meanwhile."""
        if program is self.program and self.is_running:
            self.is_frozen = is_frozen
            program.process.send_signal(signal.SIGSTOP if is_frozen else signal.SIGCONT)

    @property
    def is_running(self):
        return self.program is not None and self.program.is_running

    @property
    def is_well(self):
        return self.is_running and not self.is_frozen and not self.link.is_cut

    def said(self):
        return self.program.whole_stderr() if self.program else ""

    def last_line(self):
        return self.said().strip().rpartition("\n")[2][-300:]

    def term(self):
        """In which it leads, as far as it knows; 0: it does not."""
        found = re.findall(r"this manager leads league \S+ in term (\d+)", self.said()) if self.is_running else []
        return int(found[-1]) if found else 0

    def title(self):
        return f"manager {self.data.name}, which {'leads' if self.term() else 'stands by'}"

    def follows(self):
        return self.is_running and not self.term() and "stands by" in self.said()

    def note_questions(self):
        asked = self.said().count("--lose-after")
        if asked > self.questions:
            self.questions, self.asked_at = asked, time.monotonic()

    def waits_for(self, other):
        """It repeats that every ten seconds."""
        return time.monotonic() - self.asked_at < 12 and not other.is_well

    def entries(self, columns="type, payload", where=""):
        file = self.data / "journal" / "journal.sqlite"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            return journal.execute(f"SELECT {columns} FROM entries {where} ORDER BY sequence").fetchall()

    def count(self, kind):
        """The entries of this kind; -1: its journal cannot be read now."""
        try:
            return len(self.entries("sequence", f"WHERE type = '{kind}'"))
        except sqlite3.Error:
            return -1


class AnsweredReports:
    """The matches that are recorded, as the referees' logs say, which are read while they grow."""

    def __init__(self, logs):
        self.logs, self.places, self.matches = logs, {}, set()

    def count(self):
        for path in self.logs.glob("agents/REF*.jsonl"):
            with contextlib.suppress(FileNotFoundError):  # renamed by a referee that starts again
                self.read(path)
        return len(self.matches)

    def read(self, path):
        with open(path, "rb") as file:
            file.seek(self.places.get(path, 0))
            whole, end, _ = file.read().rpartition(b"\n")
        self.places[path] = self.places.get(path, 0) + len(whole) + len(end)
        for line in whole.split(b"\n"):
            if b'"kind":"reply"' in line and b'"dir":"in"' in line and b'status\\":\\"ok' in line:
                self.matches.update(ANSWERED.findall(line))


class StandbyLeague(Faults, BusLeague):
    strategy = "slow:800"

    def __init__(self, directory, seed, kills, log):
        super().__init__(directory, seed, kills, log)
        self.managers = ()
        self.reports = AnsweredReports(directory / "logs")
        self.answered = self.restarts = self.needed = self.put_aside = 0
        self.longest_gap = 0
        self.looked_at = 0
        self.faultless_since = self.progress_at = time.monotonic()

    def play(self):
        made = subprocess.run([BIN / "league", "bus-config", "--json", "--players", str(PLAYERS), "--referees",
                               str(REFEREES), "--league", LEAGUE, "--jetstream", "kept"], cwd=self.directory,
                              capture_output=True, timeout=60, check=True)
        self.config = json.loads(made.stdout)
        self.streams = self.directory / "kept"
        self.broker = NatsBroker(config=self.directory / self.config["servers"][0],
                                 log=self.directory / "broker.log").start()
        try:
            self.name_parts()
            self.begin()
            while self.kills < self.kills_wanted and not self.is_over():
                self.misfortune()
            self.settle()
            self.wait_for_the_end()
            self.check()
            self.restart_and_check()
        finally:
            for part in self.parts if self.managers else []:
                if part.program and part.program.is_running:
                    part.program.kill()
            for manager in self.managers:
                manager.link.close()
            self.broker.close()

    def name_parts(self):
        config = ["--config", self.limits_file]
        manager = [*config, "--players", PLAYERS, "--referees", REFEREES, "--league", LEAGUE]
        first = free_ports(len(NAMES))
        self.managers = [Manager(self, name, first + i, [*manager, *self.credentials("manager")])
                         for i, name in enumerate(NAMES)]
        key = self.admit(self.managers[0].data)
        agent = [*config, "--logs", self.directory / "logs", "--bus", self.broker.url, "--data",
                 self.directory / "agents"]
        self.referees = [Part(self, "referee", 1, [
            *agent, "--name", f"whistle{i}", "--admission-key", key, *self.credentials(f"referee{i:02}")])
            for i in range(1, REFEREES + 1)]
        self.players = [Part(self, "player", 1, [
            *agent, "--name", f"bot{i}", "--strategy", self.strategy, *self.credentials(f"player{i:02}")])
            for i in range(1, PLAYERS + 1)]

    def credentials(self, name):
        return ["--bus-credentials", self.directory / self.config["credentials"][name]]

    @property
    def parts(self):
        return [*self.managers, *self.referees, *self.players]

    def begin(self):
        one, two = self.managers
        one.start()
        one.program.ready()
        two.data.mkdir()
        for key in ("secret.key", "operator.key", "referee.key"):
            shutil.copy2(one.data / key, two.data / key)
        two.start()
        wait_until(two.follows, 20, "the other manager follows")
        for part in (*self.referees, *self.players):
            part.start()

    # --- What goes on all the time --------------------------------------------------------------

    def wait(self, seconds):
        end = time.monotonic() + seconds
        self.tick()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))
            self.tick()

    def tick(self):
        self.do_what_is_due()
        if not self.broker.is_running() and not self.is_broker_away:
            # nats-server 2.9 crashes if somebody reads a stream that it is just creating.
            self.log_fault("the broker has crashed and is started again")
            self.start_broker()
        for manager in self.managers:
            self.supervise(manager)
        if time.monotonic() - self.looked_at > SECONDS_BETWEEN_LOOKS:
            self.looked_at = time.monotonic()
            self.watch()

    def supervise(self, manager):
        if manager.is_away or manager.program is None:
            return
        if manager.is_running:
            if manager.stopping_since and time.monotonic() - manager.stopping_since > LONGEST_STOP:
                raise AssertionError(f"a manager does not stop: {manager.last_line()}")
            return
        code = manager.program.process.wait(1)
        manager.is_away = True
        if manager.stopping_since and code in (0, 2):
            self.log_fault(f"manager {manager.data.name} has stopped with {code}")
            return self.bring_back(manager)
        if code != 2:
            raise AssertionError(f"a manager ended with {code}: {manager.said()[-1000:]}")
        self.restarts += 1
        self.log_fault(f"manager {manager.data.name} is started again: {manager.last_line()}")
        self.later(0.5, manager.start)

    def watch(self):
        now, before = time.monotonic(), self.answered
        self.answered = self.reports.count()
        for manager in self.managers:
            manager.note_questions()
        if self.answered > before or not self.can_go_on():
            self.progress_at = now
        self.longest_gap = max(self.longest_gap, now - self.progress_at)
        if now - self.progress_at > STALL:
            raise AssertionError(f"nothing was answered for {STALL} s: {self.last_lines()}")
        if self.is_broker_away or self.is_full or not all(manager.is_well for manager in self.managers):
            self.faultless_since = now
        if any(manager.asked_at > self.faultless_since + ASKED_IN_VAIN for manager in self.managers):
            raise AssertionError(f"a manager waits in vain: {self.last_lines()}")

    def last_lines(self):
        return {manager.data.name: manager.last_line() for manager in self.managers}

    def can_go_on(self):
        """Whether a manager with every answered report is there and knows that, and a broker with room."""
        if self.is_broker_away or self.is_full or not self.answered:
            return False
        whole = [manager for manager in self.managers
                 if manager.is_well and manager.count("MATCH_REPORTED") >= self.answered]
        has_ended = any(manager.count("LEAGUE_COMPLETED") > 0 for manager in whole)
        return bool(whole) and not has_ended and not any(map(self.waits_for_other, whole))

    def waits_for_other(self, manager):
        return manager.waits_for(self.managers[1 - self.managers.index(manager)])

    def recover(self):
        """Waits until a referee is answered; not after each fault, so that others come on top of it."""
        before, begun = self.answered, time.monotonic()
        while self.answered == before and not self.is_over():
            self.wait(0.1)
            waited = time.monotonic() - begun
            if waited > self.longest + STALL:
                raise AssertionError(f"nothing was answered for {waited:.0f} s: {self.last_lines()}")
            if waited > ASKED_IN_VAIN or any(map(self.waits_for_other, self.managers)):
                self.start_the_dead()

    def start_the_dead(self):
        """Managers that were to stay dead until they are needed."""
        for manager in self.managers:
            if manager.is_away and not any(action == manager.start for _, action in self.due):
                self.needed += 1
                self.log_fault(f"manager {manager.data.name} is needed")
                manager.start()

    def settle(self):
        """All faults are over, and everybody is there."""
        wait_until(self.is_settled, self.longest + STALL, "all faults are over and both managers run")

    def is_settled(self):
        self.tick()
        if self.due or any(manager.stopping_since for manager in self.managers):
            return False
        self.start_the_dead()
        return all(manager.is_running for manager in self.managers)

    def leader(self):
        """Who leads now; None: nobody."""
        leading = [manager for manager in self.managers if manager.term() and not manager.is_frozen]
        if not leading:
            return None
        self.manager = max(leading, key=Manager.term)
        self.url = self.manager.url
        return self.manager

    def status(self):
        self.tick()
        return super().status() if self.leader() else None

    # --- The end --------------------------------------------------------------------------------

    def wait_for_the_end(self):
        wait_until(self.is_over, crash.PATIENCE, "the league is over")
        self.settle()
        super().wait_for_the_end()

    def check(self):
        wait_until(self.status, crash.PATIENCE, "a manager leads")
        self.data = self.manager.data
        super().check()

    def restart_and_check(self):
        """The other one has the same journal, and the same table."""
        wait_until(self.have_the_same, 30, "both journals are the same")
        before, first = self.standings(), self.manager
        first.kill()
        wait_until(self.status, 20, "the other manager leads")
        if self.standings() != before:
            self.verdict.wrong.append("the other manager has another table")
        first.start()
        wait_until(first.follows, 20, "the first follows")
        wait_until(self.have_the_same, 30, "both journals are the same again")
        self.check_logs()
        said = "".join(path.read_text(errors="replace") for path in self.directory.glob("league_manager_*.stderr"))
        self.put_aside = sum(int(last) - int(first) + 1 for first, last in PUT_ASIDE.findall(said))

    def have_the_same(self):
        self.tick()
        one, two = (manager.entries() for manager in self.managers)
        return one == two

    def check_logs(self):
        for part in reversed(self.parts):
            try:
                part.program.stop()
            except subprocess.TimeoutExpired:
                self.verdict.other.append(f"{part.name} does not stop: {part.program.stderr()[-1000:]}")
                part.program.kill()
        machines = {manager.data.name: manager.data / "logs" for manager in self.managers}
        evidence = gather(self.directory / "evidence", self.manager.data,
                          {"agents": self.directory / "logs" / "agents", **machines})
        for command in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
            done = subprocess.run([*command, evidence], capture_output=True, text=True, timeout=120, check=False)
            if done.returncode:
                said = (done.stdout + done.stderr)[-1500:]
                self.verdict.other.append(f"{command[-1]} ends with {done.returncode}: {said}")


class StandbyTotals(crash.Totals):
    def __init__(self):
        super().__init__()
        self.by_kind, self.longest_gap, self.put_aside, self.needed, self.restarts = Counter(), 0, 0, 0, 0

    def add(self, league):
        super().add(league)
        self.by_kind += league.by_kind
        self.longest_gap = max(self.longest_gap, league.longest_gap)
        self.put_aside += league.put_aside
        self.needed += league.needed
        self.restarts += league.restarts

    def __str__(self):
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.by_kind.most_common())
        return (f"{super().__str__()}; longest gap {self.longest_gap:.1f} s; {kinds}; {self.put_aside} entries put "
                f"aside, {self.restarts} managers restarted by a supervisor, {self.needed} because they were needed")


if __name__ == "__main__":
    sys.exit(crash.main(StandbyLeague, StandbyTotals()))
