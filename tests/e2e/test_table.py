"""What stands beside the points: ratings with errors, who may be the strongest, and how much is luck (docs/table.md)."""

import csv
import json
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from browser import Browser, chromium
from league_testing import BIN, SOURCE, LeagueTest, rpc, wait_until


class Table(LeagueTest):
    def up(self, players, *options):
        done = subprocess.run([BIN / "league", "up", "--players", str(players), "--referees", "2", "--data", self.directory / "data",
                               "--logs", self.directory / "logs", *options], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def export(self, *options):
        done = subprocess.run([BIN / "league", "export", self.directory, *options], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self):
        with open(self.directory / "csv" / "standings.csv", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def browser(self, site, view):
        browser = Browser()
        self.addCleanup(browser.close)
        browser.open(f"{site.as_uri()}/index.html#{view}")
        browser.wait_for("document.querySelector('main table')")
        return browser

    def test_the_figures_are_those_of_an_independent_script(self):
        told = json.loads(self.up(10, "--meetings", "2", "--json"))
        self.export("--format", "csv", "--out", self.directory / "csv")
        rounds = next((self.directory / "data" / "leagues").glob("*/rounds.json"))
        script = [sys.executable, SOURCE / "docs" / "verify_ratings.py", rounds, self.directory / "csv" / "standings.csv"]
        done = subprocess.run(script, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"as uneven with {told['luck']}\n", done.stdout, "integers only, so there is no difference at all")
        for row, own in zip(self.rows(), told["standings"]):
            self.assertAlmostEqual(float(row["rating"]), own["rating"], delta=1e-6)
            self.assertAlmostEqual(float(row["rating_error"]), own["rating_error"], delta=1e-6)
            self.assertAlmostEqual(float(row["p_first"]), own["p_first"], delta=1e-4)
        self.assertAlmostEqual(sum(own["p_first"] for own in told["standings"]), 1, delta=1e-9)
        changed = (self.directory / "csv" / "standings.csv").read_text("utf-8").replace(self.rows()[3]["rating"], "1600.0000000")
        (self.directory / "csv" / "standings.csv").write_text(changed, "utf-8")
        self.assertEqual(subprocess.run(script, capture_output=True, timeout=120).returncode, 1)

    @unittest.skipUnless(chromium(), "there is no chromium here")
    def test_the_page_shows_each_meeting(self):
        self.up(5, "--meetings", "3")
        self.export("--site", self.directory / "site")
        browser = self.browser(self.directory / "site", "cross")
        self.assertEqual(browser.evaluate("document.querySelectorAll('table.cross .result').length"), 5 * 4 * 3)
        self.assertEqual(browser.evaluate("document.querySelector('table.cross tbody tr').cells[2].textContent.length"), 3)
        browser.evaluate("location.hash = 'standings'")
        browser.wait_for("document.querySelector('table.standings')")
        self.assertEqual(browser.evaluate("document.querySelectorAll('.why details').length"), 5, "the page makes the same table")
        self.assertEqual(browser.problems, [])

    def test_of_sixty_random_bots_the_page_says_that_it_is_luck(self):
        # One league of equal players in twenty is less even than that; three in a row are none.
        for _ in range(3):
            text = self.up(60, "--strategies", "random")
            if "may be luck" in text:
                break
            subprocess.run(["rm", "-r", self.directory / "data", self.directory / "logs"], check=True)
        self.assertIn("first, not decided: random-", text)
        self.assertIn("This table may be luck: equal players would give a table at least this uneven in ", text)
        self.assertIn("rating     ±    first", text)
        site = self.directory / "site"
        self.export("--site", site)
        self.assertIn("This table may be luck", (site / "index.html").read_text("utf-8"), "also without JavaScript")
        if not chromium():
            return
        browser = self.browser(site, "standings")
        browser.wait_for("document.querySelector('.luck')?.textContent.includes('This table may be luck')")
        self.assertIn("First, not decided", browser.evaluate("document.querySelector('#champion').textContent"))
        self.assertIn(" ± ", browser.evaluate("document.querySelector('table.standings tbody').textContent"))
        self.assertEqual(browser.problems, [])

    def test_a_manager_tells_the_figures_of_the_last_round(self):
        manager = self.start_manager(4, 1)
        self.start_referee(manager)
        self.start_players(manager, 4, "random")
        self.wait_until_over(manager, 20)

        def rated():
            answer = rpc(manager.url, "get_standings", {}).result()
            return answer["standings"] if answer.get("rated_matches") == 6 else None
        rows = wait_until(rated, 10, "the figures are known")
        self.assertAlmostEqual(sum(row["rating"] for row in rows), 6000, delta=1e-5)
        self.assertAlmostEqual(sum(row["p_first"] for row in rows), 1, delta=1e-9)
        done = subprocess.run([BIN / "league", "status", manager.url], capture_output=True, text=True, timeout=30)
        self.assertIn("first, not decided: ", done.stdout)
        self.assertIn("This table may be luck", done.stdout)
        told = json.loads(subprocess.run([BIN / "league", "status", manager.url, "--json"], capture_output=True, timeout=30).stdout)
        self.assertIs(told["champion"]["decided"], False)
        self.assertEqual([row["rating"] for row in told["standings"]], [row["rating"] for row in rows])


if __name__ == "__main__":
    unittest.main()
