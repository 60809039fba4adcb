"""Plays leagues over a message bus with two managers, kills anybody at random, and checks that nothing was lost.

    standby_kills.py [--replicate sync|async] --kills 50 [--seed S] [--keep DIR] [--verbose]

As bus_kills.py, but each league has two managers with directories of their own, of which one leads. Whoever ends
because it does not lead any more is started again, as a supervisor would; a directory that holds what the league does
not have is emptied as the manager says. With `sync` the rules are those of bus_kills.py, and at the end both journals
are the same. With `async` only managers that lead are killed, and it is counted what died with them: that is no fault.
"""

import contextlib
import re
import shutil
import sqlite3
import sys
import time

import bus_kills  # noqa: F401  (finds the modules below)
import crash
import crash_checks
from bus_kills import BusLeague
from crash import PLAYERS, REFEREES, Part, free_ports
from league_testing import wait_until
from nats_broker import NatsBroker

NAMES = ("one", "two")


class Manager(Part):
    """One of two. `data` is a machine's directory: nobody else's."""

    def __init__(self, league, name, port, common):
        self.data = league.directory / name
        self.url = f"http://localhost:{port}/mcp"
        self.first_time = True
        super().__init__(league, "league_manager", 1, [
            *common, "--port", port, "--players", PLAYERS, "--referees", REFEREES, "--data", self.data,
            "--logs", self.data / "logs", "--replicate", league.replication])

    def start(self, fault=None):
        plain = self.arguments
        # Who comes later never begins a league, whatever the broker has forgotten.
        if not self.first_time or self is not self.league.managers[0]:
            self.arguments = [*plain, "--standby"]
        self.first_time = False
        super().start(fault)
        self.arguments = plain

    def said(self):
        """All of it: what it said of itself may be long ago."""
        return self.program.stderr_path.read_text(errors="replace")

    def leads(self):
        """Whether it has taken the lead; with nobody to follow it, it may be unable to say so to anybody."""
        return self.program.is_running and "this manager leads" in self.said()

    def follows(self):
        return self.program.is_running and not self.leads() and "stands by" in self.said()

    def entries(self):
        file = self.data / "journal" / "journal.sqlite"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            return journal.execute("SELECT type, payload FROM entries ORDER BY sequence").fetchall()


class StandbyLeague(BusLeague):
    hurry = {**BusLeague.hurry, "bus": {**BusLeague.hurry["bus"], "lease_ms": 1500}}
    replication = "sync"
    lost = 0  # events that died with managers ...
    lossy = 0  # ... and with how many of these
    deaths = 0  # of managers that led
    managers = ()

    def name_parts(self):
        super().name_parts()
        first = free_ports(2)
        common = ["--limits", self.directory / "limits.json", "--bus", self.broker.url]
        self.managers = [Manager(self, name, first + i, common) for i, name in enumerate(NAMES)]
        self.manager = self.managers[0]
        self.admit(self.manager.data)

    @property
    def parts(self):
        return [*self.managers, *self.referees, *self.players]

    def play(self):
        self.streams = self.directory / "streams"
        self.broker = NatsBroker(jetstream_dir=self.streams).start()
        try:
            self.name_parts()
            self.begin()
            while self.kills < self.kills_wanted and not self.is_over():
                self.misfortune()
            self.wait_for_the_end()
            self.check()
            self.restart_and_check()
        finally:
            for part in self.parts if self.managers else []:
                if part.program and part.program.is_running:
                    part.program.kill()
            self.broker.close()

    def begin(self):
        one, two = self.managers
        one.start()
        one.program.ready()
        self.follow(two, one)
        for part in (*self.referees, *self.players):
            part.start()

    def follow(self, manager, leader):
        """With a directory that has nothing but the keys."""
        manager.data.mkdir(exist_ok=True)
        for key in ("secret.key", "operator.key", "referee.key"):
            shutil.copy2(leader.data / key, manager.data / key)
        manager.start()
        wait_until(lambda: manager.follows() or manager.leads(), 20, "the other manager follows")

    def supervise_broker(self):
        """nats-server 2.9 crashes if somebody reads a stream that it is just creating (jsMsgGetRequest), as managers do
        when it has lost its streams."""
        if not self.broker.is_running():
            self.log("the broker has crashed and is started again")
            self.start_broker()

    def supervise(self):
        """Starts managers that have ended by themselves, and the broker."""
        self.supervise_broker()
        for manager in self.managers:
            if manager.program.is_running:
                continue
            code, said = manager.program.process.wait(1), manager.said()
            if code != 2:
                raise AssertionError(f"a manager ended with {code}: {said}")
            if other := re.search(r"events that the league does not have, from event (\d+) on", said):
                self.empty(manager, int(other[1]))
            else:
                self.log("a manager is started again: " + said.strip().split("\n")[-1][-150:])
                manager.start()

    def empty(self, manager, first):
        """Does what the manager says that is to be done with a directory that went another way."""
        lost = [kind for kind, _ in manager.entries()[first - 1:]]
        self.lost += len(lost)
        self.lossy += bool(lost)
        self.log(f"{len(lost)} events died with a manager: {', '.join(lost)[:200]}")
        plain = manager.arguments
        manager.arguments = [*plain, "--new"]
        manager.start()
        manager.arguments = plain
        wait_until(lambda: not manager.program.is_running, 20, "its directory is archived")
        other = self.managers[1 - self.managers.index(manager)]
        shutil.copy2(other.data / "secret.key", manager.data / "secret.key")
        manager.start()

    def leader(self):
        """Who leads now; None: nobody."""
        for manager in self.managers:
            if manager.leads():
                self.manager, self.url = manager, manager.url
                return manager
        return None

    def status(self):
        self.supervise()
        return super().status() if self.leader() else None

    def misfortune(self):
        self.supervise()
        victims = [self.broker, *self.managers * 2, *self.referees, *self.players]
        time.sleep(min(1, self.random.expovariate(1 / 0.2)))
        victim = self.random.choice(victims)
        if victim in self.managers:
            return self.kill_manager(victim)
        if victim is self.broker:
            return self.kill_broker()
        victim.program.process.kill()
        return self.revive(victim)

    def kill_manager(self, manager):
        has_led = manager.leads()
        manager.program.process.kill()
        manager.program.process.wait(10)
        self.kills += 1
        self.log(f"kill {self.kills}: manager {manager.data.name}, which {'led' if has_led else 'stood by'}")
        if has_led and self.random.random() < 0.5:
            self.wait_for_another(manager)
        manager.start()

    def wait_for_another(self, manager):
        other = self.managers[1 - self.managers.index(manager)]

        def leads():
            self.supervise_broker()
            if not other.program.is_running:
                return True  # it cannot, and says why: the supervisor's
            return other.leads()

        wait_until(leads, 20, "the other manager leads")

    def kill_broker(self):
        self.broker.kill()
        self.kills += 1
        is_lost = self.random.randrange(4) == 0
        if is_lost:
            shutil.rmtree(self.streams, ignore_errors=True)
        self.log(f"kill {self.kills}: the broker{', with what it kept' if is_lost else ''}")
        time.sleep(self.random.random() * 0.5)
        self.start_broker()

    def start_broker(self):
        with contextlib.suppress(RuntimeError):  # if it crashes at once, supervise_broker() starts it again
            self.broker.start()

    def wait_for_the_end(self):
        self.supervise()
        super().wait_for_the_end()
        wait_until(self.status, crash.PATIENCE, "a manager leads")

    def check(self):
        wait_until(self.status, crash.PATIENCE, "a manager leads")
        self.data = self.manager.data
        super().check()

    def restart_and_check(self):
        """The other one has the same table."""
        before = self.standings()
        first = self.manager
        wait_until(self.have_the_same, 20, "both journals are the same")
        first.program.kill()
        self.wait_for_another(first)
        first.start()  # else nothing is answered
        wait_until(self.status, 20, "the other manager answers")
        if self.standings() != before:
            self.verdict.wrong.append("the other manager has another table")
        self.check_logs()

    def have_the_same(self):
        self.supervise()
        one, two = (manager.entries() for manager in self.managers)
        return one == two


class AsyncLeague(StandbyLeague):
    replication = "async"

    def begin(self):
        super().begin()
        wait_until(lambda: (self.status() or {}).get("matches_completed", 0) > 0, 30, "the league has begun")

    def misfortune(self):
        """Only who leads, and only when the other is there."""
        leader = self.leader()
        if not leader:
            return self.supervise()
        time.sleep(self.random.random())
        if not self.is_over():
            leader.program.process.kill()
            leader.program.process.wait(10)
            self.kills += 1
            self.deaths += 1
            self.wait_for_another(leader)
            leader.start()
            wait_until(self.is_followed, 20, "it follows")
        return None

    def is_followed(self):
        self.supervise()
        return any(manager.follows() for manager in self.managers)

    def check_reports(self, journal, acknowledged):
        """What referees were told and the league has forgotten was played again: no fault, but counted."""
        forgotten = crash_checks.Verdict()
        crash_checks.check_reports(journal, acknowledged, forgotten)
        print(f"  {self.deaths} leading managers died: {self.lost} events with {self.lossy} of them, "
              f"{len(forgotten.all())} acknowledged reports among these", flush=True)

    def check_logs(self):
        """They say what the league does not know any more."""


def main():
    replication = "sync"
    if "--replicate" in sys.argv:
        place = sys.argv.index("--replicate")
        replication = sys.argv[place + 1]
        del sys.argv[place:place + 2]
    if replication not in ("sync", "async"):
        sys.exit("--replicate is sync or async")
    return crash.main(StandbyLeague if replication == "sync" else AsyncLeague)


if __name__ == "__main__":
    sys.exit(main())
