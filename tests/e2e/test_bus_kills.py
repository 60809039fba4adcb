"""Broker, managers, referees and players of leagues on a message bus die at random; in one of the leagues there are
two managers, which are also frozen and cut off, and streams are lost.

The seed says who dies; LEAGUE_TEST_SEED gives another one. scripts/bus-soak does more of it, with the default limits.
"""

import os
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, IS_NIGHTLY
from nats_broker import why_no_bus

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "crash"))
import bus_kills  # noqa: E402
import standby_kills  # noqa: E402


class HurriedStandbyLeague(standby_kills.StandbyLeague):
    """Faults of two managers and their broker that are soon over."""
    longest = 4
    strategy = "slow:300"


LEAGUES = ((bus_kills.BusLeague, 18), (bus_kills.BusLeague, 18), (HurriedStandbyLeague, 20 if IS_NIGHTLY else 4))


class AnybodyDies(unittest.TestCase):
    def setUp(self):
        if why := why_no_bus(BIN):
            self.skipTest(why)

    def test_nothing_is_lost(self):
        seed = int(os.environ.get("LEAGUE_TEST_SEED", 1))
        print(f"seed {seed}", flush=True)
        with ThreadPoolExecutor(len(LEAGUES)) as leagues:
            for faults in list(leagues.map(self.play, range(seed, seed + len(LEAGUES)), LEAGUES)):
                self.assertEqual(faults, [], f"seed {seed}")

    def play(self, seed, kind):
        """What is wrong with leagues in which so many were killed; one may end before all of them are."""
        league_type, kills = kind
        for attempt in range(5):
            own_seed = seed + 1000 * attempt
            league_type.limits = league_type.hurry
            with tempfile.TemporaryDirectory(prefix="league_kills_") as directory:
                league = league_type(Path(directory), own_seed, kills, lambda text: None)
                league.play()
                faults = [f"league {own_seed}: {fault}" for fault in league.verdict.all()]
            kills -= league.kills
            if faults or kills <= 0:
                return faults
        return [f"leagues {seed}: {kills} kills are missing"]


if __name__ == "__main__":
    unittest.main()
