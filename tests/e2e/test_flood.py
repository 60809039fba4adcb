"""A short form of scripts/flood-soak: four flooding clients beside a league of eight, with default limits."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from flood import LIMITS, SOURCE, league_beside_flood
from league_testing import BIN


def allowed_log_bytes(seconds):
    """By the budgets of one address, with what the league and the honest player write."""
    shown = subprocess.run([BIN / "league", "config", "show", "--json", SOURCE / "config" / "league.toml", "limits"],
                           capture_output=True, timeout=60, check=True).stdout
    limits = {row["name"]: int(row["value"]) for row in json.loads(shown)["limits"]}
    rate = 1024 * (limits["budgets.stranger_log_kib_per_second"] + limits["budgets.registration_log_kib_per_second"])
    return rate * (limits["budgets.burst_seconds"] + seconds) + 5_000_000


class Flood(unittest.TestCase):
    def test_nobody_is_harmed(self):
        with tempfile.TemporaryDirectory(prefix="league_e2e_") as directory:
            told = league_beside_flood(Path(directory), 12)
        self.assertEqual(told["lost"], 0, told)
        self.assertEqual(told["honest_failures"], [], told)
        self.assertLess(told["p99_ms"], LIMITS["p99_ms"], told)
        # Within so short a time comes all that one address may have written at once.
        self.assertLess(told["log_bytes"], allowed_log_bytes(12), told)
        for kind in ("tools/list", "wrong tokens", "registrations"):
            self.assertGreater(told["clients"][kind]["answers"].get(429, 0), 0, told)
        self.assertTrue(any("requests beyond its budget were refused" in line for line in told["said"]), told)


if __name__ == "__main__":
    unittest.main()
