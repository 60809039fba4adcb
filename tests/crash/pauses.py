"""Plays leagues whose programs stand still for 2 to 9 seconds at random, and checks that nobody is blamed for it.

    pauses.py --pauses 200 [--bus] [--seed S] [--keep DIR] [--verbose]

One program at a time is stopped (SIGSTOP) and goes on later: manager, referees, players, each second time right after
a round was announced, so that assignments are under way. With --bus the programs know each other by a broker only,
and there are three more misfortunes: the broker stands still, links to it are cut for as long (nothing gets through
and nothing is closed), and it is killed with everything that it keeps. The broker of every third league has hardly
any room for streams. All limits are the defaults: no pause is long enough for a technical loss, each league ends, and
none stands still for longer than STALL seconds while all programs run.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import crash  # noqa: E402
from bus_kills import BusLeague  # noqa: E402
from crash import CrashLeague  # noqa: E402
from nats_broker import NatsBroker  # noqa: E402
from relay import Relay  # noqa: E402

SHORTEST, LONGEST = 2, 9  # seconds
STALL = 45  # the limit of a choice, 30 s, and a round of pings


class Pauses:
    """The misfortunes of a league over HTTP. `kills` counts all of them."""

    strategy = "slow:300"

    def misfortune(self):
        if self.random.random() < 0.5:
            self.wait_for_round()
        time.sleep(self.random.random() * 0.5)
        victim = self.random.choice(self.parts)
        self.stand_still(victim.name, victim.program.process.pid)

    def wait_for_round(self):
        before = self.round()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and self.round() == before and not self.is_over():
            time.sleep(0.01)

    def round(self):
        status = self.status()
        return status and status.get("current_round")

    def duration(self):
        return self.random.uniform(SHORTEST, LONGEST)

    def stand_still(self, name, pid):
        seconds = self.duration()
        self.kills += 1
        self.log(f"pause {self.kills}: {Path(name).name} for {seconds:.1f} s in round {self.round()}")
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        self.recover()

    def recover(self):
        """Waits until a match has ended since, for half of the pauses: the others come on top of each other."""
        if self.random.random() < 0.5:
            return
        before, started = self.matches_done(), time.monotonic()
        while not self.is_over() and self.matches_done() <= before:
            time.sleep(0.05)
            if time.monotonic() - started > STALL:
                raise AssertionError(f"nothing ended for {STALL} s after pause {self.kills}: {self.status()}")

    def matches_done(self):
        status = self.status()
        return status["matches_completed"] if status else 1 << 30

    def check_reports(self, journal, acknowledged):
        super().check_reports(journal, acknowledged)
        for event in journal.of("MATCH_REPORTED", "MATCH_FORFEITED"):
            if event["result"].get("drawn_number") is None:
                self.verdict.other.append(f"{event['match']} was not played: {event['result']}")


class PauseLeague(Pauses, CrashLeague):
    def next_fault(self):
        return None


class BusPauseLeague(Pauses, BusLeague):
    """Everybody reaches the broker through a link of its own."""

    def __init__(self, directory, seed, kills, log):
        super().__init__(directory, seed, kills, log)
        if self.random.randrange(3) == 0 and self.streams:
            config = directory / "broker.conf"
            config.write_text(f'jetstream {{ store_dir: "{self.streams}", max_file_store: 1MB }}\n')
            self.broker = NatsBroker(config=config)

    def name_parts(self):
        super().name_parts()
        self.links = {}
        for part in self.parts:
            self.links[part] = Relay(self.broker.port)
            part.arguments = [self.links[part].url if argument == self.broker.url else argument for argument in part.arguments]

    def play(self):
        try:
            super().play()
        finally:
            for link in self.links.values():
                link.close()

    def misfortune(self):
        kind = self.random.random()
        if kind < 0.15:
            self.stand_still("broker", self.broker.pid)
        elif kind < 0.4:
            part = self.random.choice(self.parts)
            self.kills += 1
            self.log(f"cut {self.kills}: {Path(part.name).name}")
            with self.links[part].cut():
                time.sleep(self.duration())
            self.recover()
        elif kind < 0.5:
            self.kill_broker(wiped=True)
        else:
            super().misfortune()


if __name__ == "__main__":
    league_type = PauseLeague
    if "--bus" in sys.argv:
        sys.argv.remove("--bus")
        league_type = BusPauseLeague
    sys.argv = [argument.replace("--pauses", "--kills") for argument in sys.argv]
    sys.exit(crash.main(league_type))
