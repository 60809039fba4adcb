"""axe-core, run in a real browser over every view of the live page and every stage of the page on which people play: no
finding."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser, chromium  # noqa: E402
from league_testing import LeagueTest, limits  # noqa: E402

from node_tools import install, skip  # noqa: E402

PACKAGE = "axe-core@4.14.1"
VIEWS = ["standings", "cross", "rounds", "registration", "players", "fairness", "log", "operate", "match/R1M1", "players/P01"]
SCREENS = [(390, 844, "light"), (390, 844, "dark"), (1280, 800, "light"), (1280, 800, "dark")]


class Accessibility(LeagueTest):
    def setUp(self):
        super().setUp()
        self.axe = (install("axe", [PACKAGE]) / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def findings(self):
        """What axe has to say of the page as it is now, in lines that people can read."""
        report = json.loads(self.browser.evaluate(
            "axe.run(document).then((r) => JSON.stringify([...r.violations, ...r.incomplete.filter(i => i.impact === 'critical')]))"))
        return [f"{rule['id']}: {rule['help']}: {node['html'][:160]} ({node['any'][0]['message'] if node['any'] else ''})"
                for rule in report for node in rule["nodes"]]

    def test_every_view_of_the_live_page(self):
        manager = self.start_manager(6, 1)
        base = manager.url.removesuffix("/mcp")
        self.browser.view(1280, 800)
        self.browser.open(base + "/")
        self.browser.wait_for("document.querySelector('#main')?.childElementCount > 0")
        self.browser.evaluate(self.axe + ";0")
        self.assertEqual(self.findings(), [], "before anybody is there")
        self.start_referee(manager)
        self.start_players(manager, 5, "random")
        self.start_players(manager, 1, "garbage", name="noise")
        self.browser.wait_for("document.querySelector('#state').textContent === 'finished'", 90)
        found = {}
        for width, height, theme in SCREENS:
            self.browser.view(width, height, theme)
            for view in VIEWS:
                self.browser.evaluate(f"location.hash = {view!r}")
                self.browser.wait_for(f"document.querySelector('#main').dataset.view === {view.split('/')[0]!r}")
                for finding in self.findings():
                    found.setdefault(finding, []).append(f"{view} {width} {theme}")
        self.assert_none(found)

    def assert_none(self, found):
        if found:
            self.fail("\n".join(f"{finding}\n    {', '.join(where)}" for finding, where in found.items()))

    def test_every_stage_of_the_page_on_which_people_play(self):
        short = limits(seat_limits={"invitation_ms": 20_000, "choice_ms": 20_000})
        manager = self.start_manager(3, 1, limits=short)
        base = manager.url.removesuffix("/mcp")
        self.start_referee(manager, limits=short)
        other = Browser()
        self.addCleanup(other.close)
        found = {}

        def look(stage):
            for width, height, theme in SCREENS:
                self.browser.view(width, height, theme)
                for finding in self.findings():
                    found.setdefault(finding, []).append(f"{stage} {width} {theme}")

        def until(page, *stages):
            page.wait_for(f"{list(stages)}.includes(document.querySelector('#main').dataset.stage)", 30)

        def sit(page, name):
            page.open(base + "/play")
            page.wait_for("document.querySelector('#form')")
            if page is self.browser:
                page.evaluate(self.axe + ";0")
                look("form")
            page.evaluate(f"document.querySelector('input').value = '{name}'; document.querySelector('#form button').click()")

        choose = "document.querySelector('.choice').click()"
        sit(self.browser, "Ada")
        until(self.browser, "waiting")
        look("waiting")
        sit(other, "Bob")
        self.start_players(manager, 1)
        until(self.browser, "choosing")
        look("choosing")
        self.browser.evaluate(choose)
        until(self.browser, "sealed", "result")
        look("sealed or result")
        for _ in range(3):
            other.evaluate("document.querySelector('.choice')?.click()")
        until(self.browser, "result", "choosing")
        self.browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        look("result")
        until(self.browser, "choosing", "missed")
        until(self.browser, "missed")
        look("missed")
        self.assert_none(found)


if __name__ == "__main__":
    if not chromium():
        skip("there is no chromium here")
    unittest.main()
