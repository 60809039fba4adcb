"""`league bench` measures real leagues, and its figures agree with each other."""

import json
import re
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, LeagueTest

PLAYERS = 32


class Bench(LeagueTest):
    def bench(self, *options):
        done = subprocess.run([BIN / "league", "bench", "--dir", self.directory / "bench", *options],
                              capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_consistent(self, run):
        matches = PLAYERS * (PLAYERS - 1) // 2
        self.assertEqual(run["players"], PLAYERS)
        self.assertEqual(run["matches"], matches * run["leagues"], "all leagues were played to their end")
        self.assertGreaterEqual(run["seconds"], 1)
        self.assertEqual(run["failed_calls"], 0)
        self.assertAlmostEqual(run["matches_per_second"], run["matches"] / run["seconds"], delta=1)
        floor = (run["floor_before_matches_per_second"] + run["floor_after_matches_per_second"]) / 2
        self.assertAlmostEqual(run["ratio_to_floor"], run["matches_per_second"] / floor, delta=0.001)
        self.assertLess(run["ratio_to_floor"], 1)
        self.assertGreater(run["log_bytes_per_match"], 1000)
        self.assertAlmostEqual(sum(run["cpu_share"].values()), 1, delta=0.01)
        self.assertEqual(set(run["processes"]), {"league_manager", "player", "referee"})
        for process in run["processes"].values():
            self.assertAlmostEqual(sum(process["work_us_per_call"].values()), process["cpu_us_per_call"], delta=0.5)
            self.assertGreater(process["voluntary_switches_per_call"], 0)

    def assert_documented(self, found):
        page = (SOURCE / "docs" / "settings.md").read_text()
        row = re.search(r"^\| `league bench --json` \| (.*) \|$", page, re.MULTILINE).group(1)
        keys = {*found, *found["single_match"], *found["league"], *found["league"]["processes"]["player"]}
        self.assertEqual([key for key in sorted(keys) if not re.search(rf"\b{key}\b", row)], [])

    def test_the_figures_agree(self):
        found = json.loads(self.bench("--players", str(PLAYERS), "--seconds", "1", "--json"))
        self.assertEqual([size["players"] for size in found["sizes"]], [PLAYERS])
        self.assertEqual(found["league"], found["sizes"][0]["league"])
        for kind in ("match_path", "league"):
            self.assert_consistent(found[kind])
            if "no_samples" in found:
                self.assertEqual(set(found[kind]["cpu_share"]), {"kernel", "other"})
            else:
                self.assertGreater(found[kind]["code_samples"], 10)
                self.assertLess(found[kind]["cpu_share"].get("other", 0), 0.15)
        single = found["single_match"]
        self.assertEqual(single["calls"], 7 * single["matches"])
        self.assertLessEqual(single["call_p50_us"], single["call_p99_us"])
        self.assertFalse((self.directory / "bench").exists(), "the logs are removed")
        self.assert_documented(found)


if __name__ == "__main__":
    unittest.main()
