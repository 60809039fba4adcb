"""People who play in a browser (/play), in real browsers: they choose with mouse and keys, reload, walk away at every
point, open a second tab; the manager is killed meanwhile; programs say that they are people. Skipped without Chromium."""

import contextlib
import csv
import json
import resource
import socket
import subprocess
import threading
import time
import unittest
import urllib.request
from urllib.parse import urlsplit

import support_path  # noqa: F401
from browser import Browser, chromium
from conversation_log import Log
from league_testing import BIN, Agent, LeagueTest, limits, player_registration, rpc, wait_until
from test_hosts import Host

SECONDS = 4  # that a person has in these tests
PATIENT = limits(seat_limits={"invitation_ms": 1000 * SECONDS, "choice_ms": 1000 * SECONDS})


def snapshot(base):
    """What a spectator is told first."""
    with urllib.request.urlopen(base + "/live/events", timeout=5) as stream:
        return json.loads(next(line for line in stream if line.startswith(b"data: "))[len("data: "):])


@unittest.skipUnless(chromium(), "there is no chromium here")
class People(LeagueTest):
    def open_league(self, players, *arguments, bots=0, limits=PATIENT):
        self.manager = self.start_manager(players, 1, *arguments, limits=limits)
        self.base = self.manager.url.removesuffix("/mcp")
        self.start_referee(self.manager, limits=limits)
        if bots:
            self.start_players(self.manager, bots)
        return self.manager

    def open_browser(self, is_plain=False):
        """`is_plain`: as if the page came over plain HTTP from another machine, where browsers offer no crypto.subtle."""
        browser = Browser()
        self.addCleanup(browser.close)
        browser.view(1280, 800)
        if is_plain:
            browser.call("Page.addScriptToEvaluateOnNewDocument",
                         source="Object.defineProperty(Crypto.prototype, 'subtle', {value: undefined})")
        return browser

    def sit(self, name, browser=None):
        page = browser or self.open_browser()
        page.open(self.base + "/play")
        page.wait_for("document.querySelector('#form')")
        page.evaluate(f"document.querySelector('input').value = {name!r}; document.querySelector('#form button').click()")
        self.wait_for_stage(page, "waiting", "choosing")
        return page

    @staticmethod
    def stage(page):
        return page.evaluate("document.querySelector('#main')?.dataset.stage")

    def wait_for_stage(self, page, *stages, seconds=20):
        return wait_until(lambda: (now := self.stage(page)) in stages and now, seconds,
                          f"{stages}; it is {self.stage(page)}: {page.evaluate('document.body.textContent')}")

    @staticmethod
    def click(page, choice):
        """If the turn is not over by now."""
        page.evaluate(f"document.querySelector('[data-choice={choice}]')?.click()")

    @staticmethod
    def press(page, key):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    @staticmethod
    def walk_away(page):
        page.open("about:blank")

    def agent(self, name):
        agents = rpc(self.manager.url, "get_agents").result()["agents"]
        return next(one for one in agents if one.get("display_name") == name)

    def fairness(self):
        tables = self.directory / "tables"
        subprocess.run([str(BIN / "league"), "export", str(self.directory), "--format", "csv", "--out", str(tables)],
                       check=True, capture_output=True, timeout=60)
        with open(tables / "matches.csv", newline="") as file:
            return {row["match_id"]: row["fairness"] for row in csv.DictReader(file)}

    def assert_no_problems(self, *pages, is_restarted=False):
        for page in pages:
            problems = [one for one in page.problems if not (is_restarted and ("net::ERR" in one or "Failed to load" in one))]
            self.assertEqual(problems, [])
            foreign = {url for url in page.requests if not url.startswith((self.base + "/", "about:", "data:"))}
            self.assertEqual(foreign, set())

    def test_a_league_of_bots_a_chat_program_and_people_of_whom_one_walks_away(self):
        self.open_league(6, bots=3)
        host = Host(self.manager.url)
        host.join("Chat")
        chat = threading.Thread(target=host.play_to_the_end)
        chat.start()
        self.addCleanup(chat.join)
        ada, bob = self.sit("Ada"), self.sit("Bob", self.open_browser(is_plain=True))
        turns, checked, is_there = 0, 0, True
        while self.status(self.manager)["state"] != "COMPLETED":
            if self.stage(ada) == "choosing":
                turns += 1
                if turns == 1:
                    ada.call("Page.reload")
                    self.wait_for_stage(ada, "choosing")
                    self.assertEqual(ada.evaluate("document.activeElement.id"), "choices")
                    self.press(ada, "o")
                elif turns == 2:
                    self.click(ada, "even")
                    ada.call("Page.reload")  # with a choice that may have left or not
                else:
                    self.click(ada, "even")
                wait_until(lambda: self.stage(ada) not in ("choosing", "sealing", "entering", None) or turns == 2, 10,
                           "Ada's choice is taken")
            checked += "✓" in (ada.evaluate("document.querySelector('#main')?.textContent") or "")
            if is_there and self.stage(bob) == "choosing":
                self.click(bob, "odd")
            elif is_there and self.stage(bob) == "result":
                is_there = False
                self.assertEqual(bob.evaluate("typeof crypto.subtle"), "undefined")
                self.assertIn("Checked by this page", bob.evaluate("document.body.textContent"))
                self.walk_away(bob)
        self.wait_for_stage(ada, "result", "over")
        self.assertGreater(checked, 0)
        ada.wait_for("document.body.textContent.includes('The league is over')")
        self.assert_no_problems(ada, bob)
        status = self.wait_until_over(self.manager)
        self.assertEqual(status["technical_losses"], 4, "all matches of Bob but the first")
        self.assertEqual([self.agent(one)["played_by"] for one in ("Ada", "Bob")], ["person", "person"])
        self.assertEqual((self.agent("Ada")["state"], self.agent("Bob")["state"]), ("ACTIVE", "SUSPENDED"))
        self.assert_bots_did_not_wait(snapshot(self.base))
        self.stop_programs()
        self.assert_verified()
        fairness = self.fairness()
        self.assertLessEqual({"both", "hosted"}, set(fairness.values()))
        self.assertEqual(len(Log(self.logs).accepted_reports()) - sum(how in ("both", "hosted") for how in fairness.values()), 4)

    def assert_bots_did_not_wait(self, view):
        """In the round that waited for Bob, the match between bots ended at once."""
        begun = {one: start for one, start, _ in view["rounds"]}
        waited = 0
        for row in view["matches"]:
            round_id, _, a, b, finished = row[0], row[1], row[2], row[3], row[13]
            took = finished - begun[round_id]
            if a < 3 and b < 3:
                self.assertLess(took, 1000 * SECONDS / 2, row)
            waited += took >= 1000 * SECONDS - 100
        self.assertEqual(waited, 1, "one match has waited; the later ones were lost at once")

    def test_a_choice_is_kept_while_a_telephone_sleeps(self):
        self.open_league(2)
        ada, bob = self.sit("Ada"), self.sit("Bob")
        self.wait_for_stage(ada, "choosing")
        self.click(ada, "odd")
        self.wait_for_stage(ada, "sealed")
        self.walk_away(ada)
        self.wait_for_stage(bob, "choosing")
        self.click(bob, "even")
        self.wait_for_stage(bob, "sealed")
        ada.open(self.base + "/play")  # the call to reveal waits for it
        self.wait_for_stage(bob, "result")
        self.wait_for_stage(ada, "result", "over")
        self.assertEqual(self.wait_until_over(self.manager)["technical_losses"], 0)
        self.stop_programs()
        self.assert_verified()
        self.assertEqual(self.fairness(), {"R1M1": "both"})

    def test_who_does_not_choose_is_asked_whether_it_is_there(self):
        self.open_league(4, bots=3)
        ada = self.sit("Ada")
        self.wait_for_stage(ada, "missed", seconds=3 * SECONDS)
        # Its page polls no more, so the next matches do not wait.
        self.wait_until_over(self.manager)
        self.assertEqual(self.agent("Ada")["state"], "SUSPENDED")
        self.assertEqual(self.agent("Ada")["failed_matches"], 3)
        self.assertEqual(self.agent("Ada")["connection"], "away")
        view = snapshot(self.base)
        took = [row[13] - view["rounds"][row[0] - 1][1] for row in view["matches"]]
        self.assertEqual(sum(one > 1000 * SECONDS / 3 for one in took), 1, took)
        ada.evaluate("document.querySelector('#back').click()")
        self.wait_for_stage(ada, "waiting", "result", "over")
        self.assert_no_problems(ada)
        self.stop_programs()
        self.assert_verified()

    def test_who_is_back_plays_the_next_match(self):
        self.open_league(3)
        ada, bob = self.sit("Ada"), self.sit("Bob")
        cid = self.sit("Cid")
        slow = wait_until(lambda: next((one for one in (ada, bob, cid) if self.stage(one) == "choosing"), None), 10,
                          "somebody is asked")
        others = [one for one in (ada, bob, cid) if one is not slow]
        while self.stage(slow) != "missed":
            for one in others:
                if self.stage(one) == "choosing":
                    self.click(one, "odd")
        wait_until(lambda: sum(self.agent(one)["failed_matches"] for one in ("Ada", "Bob", "Cid")) == 1, 10, "it is lost")
        slow.evaluate("document.querySelector('#back').click()")
        while self.status(self.manager)["state"] != "COMPLETED":
            for one in (ada, bob, cid):
                if self.stage(one) == "choosing":
                    self.click(one, "even")
        self.assertEqual(self.wait_until_over(self.manager)["technical_losses"], 1)
        self.assertEqual({self.agent(one)["state"] for one in ("Ada", "Bob", "Cid")}, {"ACTIVE"})

    def test_a_second_tab_takes_over_and_the_first_one_says_so(self):
        self.open_league(2)
        first = self.sit("Ada")
        second = first.new_tab()
        second.open(self.base + "/play")
        self.wait_for_stage(second, "waiting")
        self.wait_for_stage(first, "elsewhere")
        bob = self.sit("Bob")
        self.wait_for_stage(second, "choosing")
        first.evaluate("document.querySelector('#back').click()")
        self.wait_for_stage(first, "choosing")
        self.wait_for_stage(second, "elsewhere")
        self.click(first, "odd")
        self.click(bob, "odd")
        self.wait_for_stage(first, "result", "over")
        self.assertEqual(self.wait_until_over(self.manager)["technical_losses"], 0)
        self.assert_no_problems(first, second, bob)

    def test_a_manager_that_is_killed_in_a_match_of_a_person(self):
        patient = limits(seat_limits={"invitation_ms": 15_000, "choice_ms": 15_000})
        manager = self.open_league(2, limits=patient)
        ada, bob = self.sit("Ada"), self.sit("Bob")
        self.wait_for_stage(ada, "choosing")
        self.click(ada, "odd")
        self.wait_for_stage(ada, "sealed")
        self.wait_for_stage(bob, "choosing")
        port = int(self.base.rsplit(":", 1)[1])
        manager.program.kill()
        program = self.start("league_manager", "--data", self.directory / "data", limits=patient, port=port)
        (url, league_id), = program.ready()
        self.manager = Agent(program, url, league_id)
        bob.wait_for("!document.querySelector('#connection').textContent")
        self.click(bob, "even")
        self.wait_for_stage(ada, "result", "over", seconds=30)
        self.assertEqual(self.wait_until_over(self.manager)["technical_losses"], 0)
        self.assert_no_problems(ada, bob, is_restarted=True)
        self.stop_programs()
        self.assert_verified()

    def test_a_code_comes_in_the_fragment_and_admits_one_person(self):
        names, codes = self.directory / "course.csv", self.directory / "codes.csv"
        names.write_text("name\nAda Lovelace\nBob\n")
        subprocess.run([str(BIN / "league"), "admin", "codes", "make", "--names", str(names), "--codes", str(codes)],
                       check=True, capture_output=True, timeout=20)
        with open(codes, newline="") as rows:
            code = next(csv.DictReader(rows))["code"]
        self.open_league(2, "--registration-codes", codes)
        ada = self.open_browser()
        ada.open(f"{self.base}/play#code={code}")
        ada.wait_for("document.querySelector('#form')")
        self.assertEqual(ada.evaluate("location.href"), self.base + "/play")
        self.assertEqual(ada.evaluate("document.querySelector('input').value"), code)
        ada.evaluate("document.querySelector('#form button').click()")
        self.wait_for_stage(ada, "waiting")
        ada.wait_for("document.querySelector('#headline').textContent.includes('Ada Lovelace')")
        thief = self.open_browser()
        thief.open(f"{self.base}/play#code={code}")
        thief.wait_for("document.querySelector('#form')")
        thief.evaluate("document.querySelector('#form button').click()")
        thief.wait_for("document.querySelector('#fault')")
        self.assertIn("already", thief.evaluate("document.querySelector('#fault').textContent"))
        thief.evaluate("document.querySelector('input').value = 'guess'; document.querySelector('#form button').click()")
        thief.wait_for("document.querySelector('#fault')?.textContent.includes('not one of this league')")
        self.assertEqual(self.stage(ada), "waiting")
        self.assertFalse([url for url in ada.requests + thief.requests if code in url])

    def test_up_leaves_a_seat_and_says_where(self):
        with subprocess.Popen([str(BIN / "league"), "up", "--players", "1", "--seats", "1", "--data",
                               str(self.directory / "data"), "--logs", str(self.logs)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as up:
            self.addCleanup(up.kill)
            line = next(line for line in up.stderr if line.startswith("play at "))
            self.assertRegex(line, r"^play at http://\S+/play \(1 seat\); the league starts when all seats are taken\n$")
            self.base = line.split()[2].removesuffix("/play")
            ada = self.sit("Ada")
            self.wait_for_stage(ada, "choosing")
            self.click(ada, "odd")
            self.wait_for_stage(ada, "result", "over")
            out, said = up.communicate(timeout=30)
        self.assertEqual(up.returncode, 0, said)
        self.assertIn("arrived: Ada is", said)
        self.assertIn("Ada", out)
        self.assert_verified()

    def test_who_has_a_seat_plays_though_thousands_watch(self):
        watchers = 2300  # more than the manager admits
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if most != resource.RLIM_INFINITY and most < 2 * watchers:
            self.skipTest("too few files may be open here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * watchers, most))
        self.open_league(3)
        ada = self.sit("Ada")
        address = urlsplit(self.base)
        with contextlib.ExitStack() as open_streams:
            for _ in range(watchers):
                stream = open_streams.enter_context(socket.create_connection((address.hostname, address.port), timeout=5))
                stream.sendall(f"GET /live/events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            self.start_players(self.manager, 2)
            self.wait_for_stage(ada, "choosing")
            ada.call("Page.reload")
            self.wait_for_stage(ada, "choosing")
            while self.status(self.manager)["state"] != "COMPLETED":
                if self.stage(ada) == "choosing":
                    self.click(ada, "odd")
            self.wait_for_stage(ada, "result", "over")
        self.assertEqual(self.status(self.manager)["technical_losses"], 0)

    def test_the_live_page_leads_here_while_people_may_come(self):
        self.open_league(3)
        page = self.open_browser()
        page.open(self.base + "/")
        page.wait_for("document.querySelector('#play') && !document.querySelector('#play').hidden")
        for name in ("Ada", "Bob", "Cid"):
            rpc(self.manager.url, "register_player",
                player_registration(name, "outward", meta={"played_by": "person"}))
        page.wait_for("document.querySelector('#play').hidden")

    def test_who_says_that_it_is_a_person_gains_only_time_and_the_operator_bounds_how_many(self):
        quick = limits(seat_limits={"invitation_ms": 1500, "choice_ms": 1500}, league={"people": 2})
        self.open_league(5, limits=quick)
        answers = [rpc(self.manager.url, "register_player",
                       player_registration(f"tab{i}", "outward", meta={"played_by": "person"})).result()
                   for i in range(200)]
        self.assertEqual([one["player_id"] for one in answers if one["status"] == "ACCEPTED"], ["P01", "P02"])
        self.assertEqual({one["error_code"] for one in answers if one["status"] == "REJECTED"}, {"E017"})
        self.start_players(self.manager, 3)
        begun = time.monotonic()
        status = self.wait_until_over(self.manager)
        # Nobody sits there: each of the two costs its league one wait, whatever it claims.
        self.assertLess(time.monotonic() - begun, 2 * 2 * 1.5 + 6)
        self.assertEqual(status["technical_losses"], 7)
        self.stop_programs()
        self.assert_verified()


if __name__ == "__main__":
    unittest.main()
