"""What happens to leagues of two managers in standby_kills.py: faults of managers, broker and agents, which overlap."""

import contextlib
import shutil
import time
from collections import Counter

from nats_client import NatsClient, NatsError

# Each is a method of Faults; the weight says how often it is chosen.
FAULTS = {"kill_manager": 5, "freeze_manager": 4, "stop_manager": 2, "cut_manager": 3, "kill_broker": 3,
          "empty_broker": 3, "delete_stream": 2, "fill_store": 2, "kill_agent": 4, "kill_everybody": 1}


class Faults:
    """Part of a StandbyLeague. A fault returns what it did, or None if it was not possible now."""

    longest = 30  # seconds that a fault lasts at most

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.due = []  # (time, action) of what happens later
        self.by_kind = Counter()
        self.begun = time.monotonic()
        self.is_broker_away = self.is_full = False

    def misfortune(self):
        self.wait(min(3, self.random.expovariate(1 / 0.7)))
        kind, = self.random.choices(list(FAULTS), FAULTS.values())
        done = getattr(self, kind)()
        if not done:
            return
        self.kills += 1
        self.by_kind[kind] += 1
        self.progress_at = time.monotonic()
        self.log_fault(f"fault {self.kills}: {kind}, {done}")
        if self.random.random() < 0.6:
            self.recover()

    def log_fault(self, text):
        """Also for the reader of a directory that was kept."""
        line = f"{time.monotonic() - self.begun:6.1f} s: {text}"
        self.log(line)
        with open(self.directory / "faults.txt", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def later(self, seconds, action):
        self.due.append((time.monotonic() + seconds, action))

    def do_what_is_due(self):
        for one in [one for one in self.due if one[0] <= time.monotonic()]:
            self.due.remove(one)
            one[1]()

    def duration(self):
        """Of a fault: mostly some seconds."""
        return min(self.longest, 3 + self.random.expovariate(1 / 5))

    # --- Managers -------------------------------------------------------------------------------

    def victim(self):
        """The leader, mostly."""
        well = [manager for manager in self.managers if manager.is_well and not manager.stopping_since]
        leader = self.leader()
        if leader in well and self.random.random() < 0.5:
            return leader
        return self.random.choice(well) if well else None

    def kill_manager(self):
        if not (manager := self.victim()):
            return None
        said = manager.title()
        manager.kill()
        self.bring_back(manager)
        return said

    def bring_back(self, manager):
        """At once, later, or only when it is needed."""
        kind = self.random.random()
        if kind < 0.4:
            manager.start()
        elif kind < 0.8:
            self.later(self.random.uniform(0.2, min(15, self.longest)), manager.start)

    def stop_manager(self):
        if not (manager := self.victim()):
            return None
        manager.stopping_since = time.monotonic()
        manager.program.process.terminate()
        return manager.title()

    def freeze_manager(self):
        if not (manager := self.victim()):
            return None
        said, seconds, program = manager.title(), self.duration(), manager.program
        manager.freeze(True, program)
        self.later(seconds, lambda: manager.freeze(False, program))
        return f"{said}, for {seconds:.1f} s"

    def cut_manager(self):
        if not (manager := self.victim()):
            return None
        seconds = self.duration()
        manager.link.cut_off()
        self.later(seconds, manager.link.heal)
        return f"{manager.title()}, for {seconds:.1f} s"

    # --- The broker -----------------------------------------------------------------------------

    def kill_broker(self):
        if self.is_broker_away:
            return None
        seconds = self.random.uniform(0, min(self.longest, self.random.choice((1, 1, 12))))
        self.stop_broker()
        self.later(seconds, self.start_broker)
        return f"for {seconds:.1f} s"

    def stop_broker(self):
        self.is_broker_away = True
        self.broker.kill()

    def start_broker(self):
        self.is_broker_away = False
        with contextlib.suppress(RuntimeError):  # if it crashes at once, it is started again
            self.broker.start()

    def empty_broker(self):
        """Up to four times, in the middle of what the managers do about it."""
        after, said = 0, []
        for _ in range(self.random.randint(1, 4)):
            self.later(after, self.lose_streams)
            said.append(f"{after:.1f} s")
            after += self.random.uniform(0.5, 5)
        return "after " + ", ".join(said)

    def lose_streams(self):
        self.stop_broker()
        self.is_full = False
        shutil.rmtree(self.streams, ignore_errors=True)
        self.start_broker()

    def at_streams(self, act):
        """What `act` returns, which can ask the broker's API as the manager's user; None if the broker is away."""
        credentials = self.directory / self.config["credentials"]["manager"]
        try:
            with NatsClient.of(credentials, self.broker.port, at_streams=True) as client:
                return act(lambda subject, **request: client.request(f"$JS.API.{subject}", request, seconds=2).json())
        except (NatsError, OSError, AssertionError, LookupError, ValueError):  # or there is no stream now
            return None

    def newest_stream(self, ask):
        names = [name for name in ask("STREAM.NAMES")["streams"] or () if name.startswith("LEAGUE_STREAM_")]
        return max(names, key=lambda name: int(name.split("_")[2]))

    def delete_stream(self):
        """As an operator who cleans up at the wrong moment."""
        def delete(ask):
            name = self.newest_stream(ask)
            return name if "error" not in ask(f"STREAM.DELETE.{name}") else None

        return self.at_streams(delete)

    def fill_store(self):
        """The stream must not grow, for some seconds."""
        def fill(ask):
            before = ask(f"STREAM.INFO.{self.newest_stream(ask)}")
            self.limit(ask, {**before["config"], "max_bytes": max(1, before["state"]["bytes"])})
            return before["config"]

        if self.is_full or not (config := self.at_streams(fill)):
            return None
        seconds = self.duration()
        self.is_full = True
        self.later(seconds, lambda: self.make_room(config))
        return f"{config['name']}, for {seconds:.1f} s"

    def limit(self, ask, config):
        ask(f"STREAM.UPDATE.{config['name']}", **config)

    def make_room(self, config):
        if self.is_broker_away:
            return self.later(1, lambda: self.make_room(config))
        self.is_full = False
        return self.at_streams(lambda ask: self.limit(ask, config))

    # --- Agents, and everybody ------------------------------------------------------------------

    def kill_agent(self):
        part = self.random.choice([*self.referees * 3, *self.players])
        self.kill_and_start(part)
        return part.name

    def kill_and_start(self, part):
        part.program.kill()
        part.start()

    def kill_everybody(self):
        is_lost = self.random.randrange(3) == 0
        self.stop_broker()
        for manager in self.managers:
            if manager.is_running:
                manager.kill()
            self.due = [one for one in self.due if one[1] != manager.start]
            self.later(self.random.uniform(0, 5), manager.start)
        for part in (*self.referees, *self.players):
            self.kill_and_start(part)
        if is_lost:
            self.is_full = False
            shutil.rmtree(self.streams, ignore_errors=True)
        self.later(self.random.uniform(0, 2), self.start_broker)
        return "the broker as well" + (", with what it kept" if is_lost else "")
