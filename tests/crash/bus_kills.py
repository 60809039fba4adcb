"""Plays leagues over a message bus, kills broker and programs at random, and checks that nothing was lost.

    bus_kills.py --kills 50 [--seed S] [--keep DIR] [--verbose]

Each league has twelve players in three processes, two referees, a manager and a broker of its own. Whoever was killed
is started again, programs on their data directories. The broker of every fourth league keeps no streams; that of the
others has them, but for one time in four, when it has lost all that it had acknowledged. At the end of each league
journal, table and logs must agree. Exit code 0: nothing was lost, doubled or wrong.
"""

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import crash  # noqa: E402
from crash import PLAYER_PROCESSES, PLAYERS, PLAYERS_EACH, REFEREES, CrashLeague, Part, free_ports  # noqa: E402
from nats_broker import NatsBroker  # noqa: E402


class BusLeague(CrashLeague):
    """A league whose programs know each other by the broker only; the manager's HTTP is for the test."""

    hurry = {**crash.HURRY, "bus": {"keep_alive_ms": 200}}

    def __init__(self, directory, seed, kills, log):
        super().__init__(directory, seed, kills, log)
        self.streams = directory / "streams" if self.random.randrange(4) else None
        self.broker = NatsBroker(jetstream_dir=self.streams)
        self.port = free_ports(1)
        self.url = f"http://localhost:{self.port}/mcp"

    def play(self):
        self.broker.start()
        try:
            self.name_parts()
            super().play()
        finally:
            self.broker.close()

    def name_parts(self):
        here = self.directory
        common = ["--config", self.limits_file, "--logs", here / "logs", "--bus", self.broker.url]
        self.manager = Part(self, "league_manager", 1, [
            *common, "--port", self.port, "--players", PLAYERS, "--referees", REFEREES, "--data", here / "data"])
        agent = [*common, "--data", here / "agents"]
        key = self.admit(here / "data")
        self.referees = [Part(self, "referee", 1, [*agent, "--name", f"whistle{i}", "--admission-key", key])
                         for i in range(REFEREES)]
        self.players = [
            Part(self, "player", PLAYERS_EACH, [
                *agent, "--name", f"bot{i}_", "--count", PLAYERS_EACH, "--strategy", self.strategy])
            for i in range(PLAYER_PROCESSES)]

    def admit(self, data):
        """Has the manager of this directory ask for the referees' key, which is the operator's own: all programs start
        at once. Returns its file."""
        key = self.directory / "referee.key"
        key.write_text("ref_of_the_leagues_that_are_killed\n")
        key.chmod(0o600)
        data.mkdir(exist_ok=True)
        shutil.copy2(key, data / "referee.key")
        return key

    def next_fault(self):
        """Only kills: what a manager's death at a place of its journal does is crash.py's."""
        return None

    def misfortune(self):
        time.sleep(min(1, self.random.expovariate(1 / 0.2)))
        victim = self.random.choice([self.broker, self.manager] * 2 + self.referees + self.players)
        if victim is not self.broker:
            victim.program.process.kill()
            return self.revive(victim)
        self.kill_broker(wiped=self.random.randrange(4) == 0)

    def kill_broker(self, wiped):
        self.broker.kill()
        self.kills += 1
        if wiped and self.streams:
            shutil.rmtree(self.streams, ignore_errors=True)
        self.log(f"kill {self.kills}: the broker{', with what it kept' if wiped and self.streams else ''}")
        time.sleep(self.random.random() * 0.5)
        self.broker.start()


if __name__ == "__main__":
    sys.exit(crash.main(BusLeague))
