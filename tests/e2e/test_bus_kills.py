"""Broker, manager, referees and players of leagues on a message bus die at random, fifty times in all."""

import os
import random
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN
from nats_broker import why_no_bus

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "crash"))
import bus_kills  # noqa: E402

KILLS = (17, 17, 16)


class AnybodyDies(unittest.TestCase):
    def setUp(self):
        if why := why_no_bus(BIN):
            self.skipTest(why)

    def test_nothing_is_lost(self):
        seed = int(os.environ.get("LEAGUE_TEST_SEED", random.SystemRandom().randrange(10**6)))
        print(f"seed {seed}", flush=True)
        with ThreadPoolExecutor(len(KILLS)) as leagues:
            for faults in list(leagues.map(self.play, range(seed, seed + len(KILLS)), KILLS)):
                self.assertEqual(faults, [], f"seed {seed}")

    def play(self, seed, kills):
        """What is wrong with a league in which so many were killed."""
        with tempfile.TemporaryDirectory(prefix="league_kills_") as directory:
            league = bus_kills.BusLeague(Path(directory), seed, kills, lambda text: None)
            league.play()
            faults = [f"league {seed}: {fault}" for fault in league.verdict.all()]
            return faults if league.kills == kills else [*faults, f"league {seed}: only {league.kills} kills"]


if __name__ == "__main__":
    unittest.main()
