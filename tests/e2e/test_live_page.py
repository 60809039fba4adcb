"""The live page in a real browser: every view, live updates, a restart of the manager, hostile names, sixty players; no
error on its console and no request to anybody else. Skipped where there is no Chromium."""

import base64
import gzip
import hashlib
import json
import os
import re
import subprocess
import unittest
import urllib.error
import urllib.request

import support_path  # noqa: F401
from browser import Browser, chromium
from league_testing import BIN, FAST, SOURCE, LeagueTest, limits, player_registration, rpc, wait_until
from scripted_bot import Bot, exact_reply, message_in

HOSTILE = ["<script>window.pwned=1</script>", "evil \u05d0\u05d1\u05d2", "x" * 50, "\U0001f600 & \"quotes\" 'too'",
           "<img src=x onerror=pwned=1>"]
VIEWS = {"standings": "Standings", "cross": "Cross table", "rounds": "Matches of round",
         "registration": "Refused registrations", "players": "Players",
         "fairness": "Numbers drawn", "log": "Messages for the operator", "operate": "Operator’s key"}
LIVE_ONLY = ("registration", "log", "operate")


class Wrong(Bot):
    """Chooses nothing that can be chosen, each time with another nonce."""

    def reply(self, frame):
        message = exact_reply(self, message_in(frame))
        if "parity_choice" in message:
            message |= {"parity_choice": 0, "choice_nonce": os.urandom(32).hex()}
        return message


def read(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


@unittest.skipUnless(chromium(), "there is no chromium here")
class LivePage(LeagueTest):
    def open_page(self, manager):
        self.base = manager.url.removesuffix("/mcp")
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        self.browser.view(1280, 800)
        self.browser.open(self.base + "/")
        self.browser.wait_for("document.querySelector('#main')?.childElementCount > 0")

    def text(self, selector="#main"):
        return self.browser.evaluate(f"document.querySelector({selector!r}).textContent")

    def show(self, place):
        view = place.split("/")[0]
        self.browser.evaluate(f"location.hash = {place!r}")
        self.browser.wait_for(f"document.querySelector('#main').dataset.view === {view!r}")

    def see_all_views(self):
        for view, caption in VIEWS.items():
            self.show(view)
            self.assertIn(caption, self.text())
            self.assertEqual(self.browser.evaluate("document.querySelector('[aria-current=page]').hash"), "#" + view)

    def assert_fits(self, width, height, without=()):
        """Nothing but what scrolls by itself is wider than the screen, in no view."""
        self.browser.view(width, height, "dark")
        for view in [view for view in [*VIEWS, "match"] if view not in without]:
            self.show(view)
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, view)

    def assert_well_behaved(self, is_restarted=False):
        problems = [text for text in self.browser.problems
                    if not (is_restarted and "/live/" in text and ("net::ERR" in text or "Failed to load" in text))]
        self.assertEqual(problems, [])
        foreign = {url for url in self.browser.requests if not url.startswith((self.base + "/", "about:", "data:"))}
        self.assertEqual(foreign, set())
        self.assertIsNone(self.browser.evaluate("window.pwned ?? null"))

    def export_site(self):
        site = self.directory / "site"
        done = subprocess.run([BIN / "league", "export", self.directory, "--site", site], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return site

    def open_site(self, site):
        """As a reader does who has the directory on the disk."""
        self.browser.requests.clear()
        self.base = site.as_uri()
        self.browser.open(f"{self.base}/index.html")
        self.browser.wait_for("location.protocol === 'file:' && document.querySelector('#main')?.childElementCount > 0")

    def texts(self, places):
        """What the page shows at each of these places, without what only a manager or only an export knows."""
        told = {}
        for place in places:
            self.show(place)
            if place.startswith("match"):
                self.browser.wait_for("document.querySelector('.verdict')")
            if place.startswith("players/"):
                self.browser.wait_for("document.querySelector('#main').textContent.includes('States')")
            told[place] = self.browser.evaluate(
                "(() => { const main = document.querySelector('#main').cloneNode(true);"
                "for (const one of main.querySelectorAll('details, section'))"
                "  if (/^(News|What its referee)/.test(one.textContent)) one.remove(); return main.textContent; })()")
        return told

    def assert_a_site_shows_the_same(self, *places):
        places = [view for view in VIEWS if view not in LIVE_ONLY] + list(places)
        live = self.texts(places)
        site = self.export_site()
        with urllib.request.urlopen(self.base + "/page.js", timeout=5) as script:
            self.assertEqual(script.read(), (site / "page.js").read_bytes(), "there is one renderer")
        self.open_site(site)
        self.assertEqual(self.texts(places), live)
        shown = self.browser.evaluate("[...document.querySelectorAll('#views a')].map((link) => link.hash.slice(1))")
        self.assertEqual(set(shown), {*VIEWS, "match"} - set(LIVE_ONLY), "nothing that needs a manager")
        self.assertIn("as of", self.text("#headline"))
        return site

    def test_hostile_names_and_a_restart_in_the_middle(self):
        manager = self.start_manager(len(HOSTILE), 1)
        self.open_page(manager)
        self.assertIn("0 of 5 players", self.text())
        for name in HOSTILE:
            self.start_players(manager, 1, "slow:300", name=name)
        self.browser.wait_for("document.querySelectorAll('.games li').length === 5")
        self.start_referee(manager)
        self.browser.wait_for("document.querySelector('#state').textContent === 'running'")
        self.browser.wait_for("document.querySelector('.form .result')")
        for name in HOSTILE[:2]:
            self.assertIn(name, self.text())
        port = manager.url.split(":")[2].split("/")[0]
        manager.program.stop()
        self.browser.wait_for("document.querySelector('#connection').textContent.includes('does not answer')")
        again = self.start("league_manager", "--data", self.directory / "data", limits=FAST, port=port)
        again.ready()
        self.browser.wait_for("document.querySelector('#connection').textContent === ''")
        self.browser.wait_for("document.querySelector('#state').textContent === 'finished'", 60)
        self.see_all_views()
        self.show("match/R1M1")
        self.browser.wait_for("document.querySelector('.verdict')")
        self.assertIn("everything follows", self.text(".verdict"))
        self.show("fairness")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.verdict.bad').length"), 0)
        self.assertIn("it equals the manager’s table", self.text())
        self.show("players/P01")
        self.assertIn(HOSTILE[0], self.text())
        self.assertIn("4 finished matches", self.text())
        # Whoever has won: the longest name could have.
        self.browser.evaluate("document.querySelector('#champion .name').textContent = 'x'.repeat(64)")
        self.assert_fits(390, 844)
        self.assert_well_behaved(is_restarted=True)
        self.browser.problems.clear()
        site = self.assert_a_site_shows_the_same("match/R1M1", "players/P01")
        self.show("match/R1M1")
        self.assertIn("GAME_JOIN_ACK", self.text("details ol.log"), "the site has what the referee's log says")
        self.assert_fits(390, 844, LIVE_ONLY)
        self.assert_well_behaved()
        self.without_javascript(site)

    def without_javascript(self, site):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(f"{site.as_uri()}/index.html")
        self.browser.wait_for("document.querySelector('noscript table')?.getBoundingClientRect().height > 0")
        heading, *rows = self.browser.evaluate(
            "[...document.querySelectorAll('noscript tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertEqual(heading, ["Rank", "Name", "Points", "Played", "Won", "Drawn", "Lost"])
        self.assertEqual({row[1] for row in rows}, set(HOSTILE))
        self.assertEqual([row[3] for row in rows], ["4"] * 5)

    def register(self, manager, name, port, code):
        return rpc(manager.url, "register_player", player_registration(
            name, f"http://127.0.0.1:{port}/mcp", sender="player:bot",
            meta={"registration_code": code, "contact_email": "ann@example.org"}))

    def test_registration_with_codes(self):
        codes = self.directory / "codes.csv"
        codes.write_text("code,name,team,email\ncode-of-ann,Ann Author,red,ann@example.org\ncode-of-bob,Bob,,\n"
                         f",{HOSTILE[0]},{HOSTILE[1]},\n")
        codes.chmod(0o600)
        manager = self.start_manager(3, 1, "--registration-codes", codes)
        self.open_page(manager)
        self.show("registration")
        self.assertIn("0 of 3 expected players in, 3 missing", self.text("caption"))
        self.assertIn("None since the manager was started", self.text())
        self.register(manager, "bob", 9001, "a-wrong-code")
        self.browser.wait_for("document.querySelector('#main tbody tr').textContent.includes('not a code of this league')")
        self.assertIn("Bob", self.text("#main tbody tr"), "who tries comes first")
        self.register(manager, "annbot", 9002, "code-of-ann")
        self.register(manager, HOSTILE[4], 9003, "code-of-ann")
        self.browser.wait_for("document.querySelector('caption').textContent.includes('1 of 3')")
        self.browser.wait_for("document.querySelectorAll('#main table')[1]?.textContent.includes('E020')")
        self.assertIn("missing, and has no code", self.text())
        self.assertIn(HOSTILE[4], self.text())
        self.assertIn("inasP01", self.text().replace(" ", ""))
        codes.write_text(codes.read_text().replace("Bob,,", "Bob,blue,"))
        self.browser.wait_for("document.querySelector('#main tbody').textContent.includes('blue')")
        for secret in ("code-of", "a-wrong-code", "example.org"):
            self.assertNotIn(secret, self.browser.evaluate("document.documentElement.outerHTML"))
        scrolls = "document.querySelectorAll('#main .scroll[tabindex=\"0\"][role=region][aria-label]').length"
        self.assertEqual(self.browser.evaluate(scrolls), 2, "the keyboard reaches what scrolls, and it has a name")
        self.assert_fits(390, 844)
        self.assert_well_behaved()

    def act(self, key, act, **fields):
        """Fills the fields, presses the button, and returns what the page says then."""
        for field, text in {"key": key, "by": "Ann", **fields}.items():
            self.browser.evaluate(f"document.getElementById('operate-{field}').value = {text!r}")
        self.browser.evaluate("document.querySelector('.operate [role=status]').textContent = ''")
        self.browser.evaluate("window.confirm = () => true")
        self.browser.evaluate(f"document.querySelector('[data-act={act}]').click()")
        self.browser.wait_for("document.querySelector('.operate [role=status]').textContent !== ''")
        return self.text(".operate [role=status]")

    def test_the_operator_acts_from_the_page(self):
        slow = limits(league={"announcement_grace_ms": 250})
        manager = self.start_manager(4, 1, limits=slow)
        self.open_page(manager)
        self.start_players(manager, 1, "slow:300", name="thinker")
        self.start_players(manager, 3)
        self.start_referee(manager, limits=slow)
        self.browser.wait_for("document.querySelector('#state').textContent === 'running'")
        self.show("operate")
        self.assertIn("operator", self.act("f" * 64, "pause"))
        self.assertNotIn("paused", self.status(manager))
        key = (self.directory / "data" / "operator.key").read_text().strip()
        self.browser.wait_for("document.querySelector('#headline').textContent.includes('Round 2')")
        self.assertEqual(self.act(key, "pause"), "The league is paused.")
        self.browser.wait_for("document.querySelector('[data-act=resume]')")
        self.assertIn("Paused", self.text("#headline"))
        self.assertIn("reason is missing", self.act(key, "void", match="R1M1"))
        self.browser.evaluate("document.getElementById('operate-replay').checked = true")
        self.assertEqual(self.act(key, "void", match="R1M1", reason="<b>disputed</b>"), "The match is void.")
        self.assertEqual(self.act(key, "announce", text="<i>We go on</i>"), "Announced.")
        self.show("match/R1M1")
        self.browser.wait_for("document.querySelector('.outcome')?.textContent.includes('void')")
        self.browser.wait_for("document.querySelector('#main').textContent.includes('Made void by Ann: <b>disputed</b>.')")
        self.show("operate")
        self.act(key, "resume", reason="")  # the page that was just opened may still show what it said last
        self.browser.wait_for("document.querySelector('.operate [role=status]').textContent === 'The league continues.'")
        status = self.wait_until_over(manager)
        self.assertEqual((status["voided"], status["total_rounds"]), ({"R1M1": "R4M1"}, 4))
        self.show("match/R4M1")
        self.browser.wait_for("document.querySelector('#main').textContent.includes('It replaces R1M1, which is void.')")
        self.show("match/R1M1")
        self.browser.wait_for("document.querySelector('[href=\"#match/R4M1\"]')")
        self.show("log")
        self.browser.wait_for("document.querySelector('#main').textContent.includes('<i>We go on</i> (by Ann)')")
        self.show("cross")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.result.V').length"), 1, "the legend, and no match")
        self.assert_well_behaved()

    def test_equal_faults_are_one_and_names_are_shown(self):
        manager = self.start_manager(4, 1, limits=limits(league={"announcement_grace_ms": 250}))
        bot = Wrong("always_wrong_and_long_in_name")
        self.addCleanup(bot.close)
        bot.join(manager)
        self.start_players(manager, 3, name="thirty-characters-long-for-us")
        self.start_referee(manager)
        self.open_page(manager)
        self.browser.wait_for("document.querySelector('#state').textContent === 'finished'", 60)
        self.show("players")
        causes = self.browser.evaluate("[...document.querySelectorAll('.causes div')].map((one) => one.textContent)")
        self.assertEqual(len(causes), 1, causes)
        self.assertRegex(causes[0], r"^3 × CHOOSE_PARITY_CALL E004: .*parity_choice.*\(last R3M\d\)$")
        self.assertNotIn("nonce", causes[0])
        self.show("standings")
        self.assertIn("always_wrong_and_long_in_name", self.text(".series-names"))
        self.browser.wait_for("document.querySelector('.standings').textContent.includes('Rating')")  # it makes the table wider
        cut = "[...document.querySelectorAll('.agent .name')].filter((one) => one.scrollWidth > one.clientWidth).length"
        for view in ("standings", "cross", "fairness", "players"):
            self.show(view)
            self.assertEqual(self.browser.evaluate(cut), 0, view)
        inner = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length"
        self.show("fairness")
        self.assertEqual(self.browser.evaluate(inner), 0)
        self.show("match/R1M1")
        self.browser.wait_for("document.querySelector('.lane-name')")
        self.assertIn("thirty-characters-long-", self.text(".sequence"))
        self.browser.wait_for("document.title.includes('thirty-characters-long-for-us')")
        self.assert_well_behaved()

    def test_sixty_players(self):
        manager = self.start_manager(60, 2)
        self.open_page(manager)
        for name in ("one", "two"):
            self.start_referee(manager, "--max-matches", 30, name=name)
        self.start_players(manager, 60, "random")
        self.browser.wait_for("document.querySelector('#state').textContent === 'finished'", 90)
        self.show("cross")
        self.browser.wait_for("document.querySelectorAll('.cross td .result').length === 60 * 59")
        self.see_all_views()
        self.assert_fits(390, 844)
        self.assert_fits(1920, 1080)
        self.assert_well_behaved()
        self.assert_a_site_shows_the_same("match/R59M30", "players/P60", "rounds/1")
        self.assert_fits(390, 844, LIVE_ONLY)
        self.assert_well_behaved()

    def read_logs(self, *files):
        """What the page says of log files, one text each."""
        self.browser.choose_files("#log-files", files)
        said = "[...document.querySelectorAll('.checks li')].map((row) => row.textContent)"
        names = json.dumps([file.name for file in files])
        self.browser.wait_for(f"((said) => said.length === {len(files)} && said.every((text, i) => "
                              f"text.startsWith({names}[i]) && !text.endsWith('reading …')))({said})")
        return self.browser.evaluate(said)

    def test_the_chain_of_a_log(self):
        manager = self.start_manager(2, 1)
        self.open_page(manager)
        self.start_referee(manager)
        self.start_players(manager, 2, "random")
        self.browser.wait_for("document.querySelector('#state').textContent === 'finished'", 30)
        self.show("fairness")
        whole = next(self.logs.rglob("REF01.log.jsonl")).read_bytes()
        lines = whole.splitlines(keepends=True)
        self.assertGreater(len(lines), 8)
        files = {"whole": whole,
                 "changed": whole.replace(b"GAME_JOIN_ACK", b"GAME_JOIN_ACX", 1),
                 "taken_out": b"".join(lines[:4] + lines[5:]),
                 "exchanged": b"".join([*lines[:4], lines[5], lines[4], *lines[6:]]),
                 "forged": b"".join([*lines[:4], self.with_own_hash(lines[4]), *lines[5:]]),
                 "killed": whole[:-30],
                 "no_log": b"\x00\xff\n[1]\n"}
        for name, content in files.items():
            (self.directory / f"{name}.jsonl").write_bytes(content)
        (self.directory / "packed.jsonl.gz").write_bytes(gzip.compress(whole))
        (self.directory / "broken.jsonl.gz").write_bytes(b"no gzip")
        names = [*(f"{name}.jsonl" for name in files), "packed.jsonl.gz", "broken.jsonl.gz"]
        said = dict(zip(names, self.read_logs(*(self.directory / name for name in names))))
        for name in ("whole.jsonl", "packed.jsonl.gz"):
            self.assertIn(f"{len(lines)} lines of referee:REF01", said[name])
        self.assertIn("it was changed", said["changed.jsonl"])
        self.assertIn("line 5: it does not follow", said["taken_out.jsonl"])
        self.assertIn("line 5: it does not follow", said["exchanged.jsonl"])
        self.assertIn("line 6: it does not follow", said["forged.jsonl"])
        self.assertIn("The last line is not whole", said["killed.jsonl"])
        self.assertIn("line 1: it is not a JSON object", said["no_log.jsonl"])
        self.assertIn("cannot be read", said["broken.jsonl.gz"])
        self.assertEqual([name for name, text in said.items() if "in one chain" in text],
                         ["whole.jsonl", "killed.jsonl", "packed.jsonl.gz"])
        self.assert_well_behaved()

    @staticmethod
    def with_own_hash(line):
        """The line, changed by somebody who knows how its hash is made."""
        covered = line[:-77].replace(b'"dir":"', b'"dir":"x', 1)
        return covered + b'","hash":"' + hashlib.sha256(covered).hexdigest().encode() + b'"}\n'

    def test_its_own_sha_256(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        module = base64.b64encode((SOURCE / "web" / "verify.js").read_bytes()).decode()
        for size in (0, 55, 56, 64, 119, 1000):
            text = "a" * size
            digest = self.browser.evaluate(f"import('data:text/javascript;base64,{module}').then((m) => m.hex(m.sha256(m.ascii({text!r}))))")
            self.assertEqual(digest, hashlib.sha256(text.encode()).hexdigest())


class Pages(LeagueTest):
    def test_who_may_look(self):
        manager = self.start_manager(2, 1)
        base = manager.url.removesuffix("/mcp")
        with urllib.request.urlopen(base + "/", timeout=5) as page:
            self.assertIn("default-src 'self'", page.headers["Content-Security-Policy"])
            self.assertIn(b"<main", page.read())
        for host in ("evil.example", "127.0.0.1.evil.example"):  # a name that was made to point here
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(base + "/live/events", headers={"Host": host}), timeout=5)
            self.assertEqual(refused.exception.code, 403)
            refused.exception.close()
        with urllib.request.urlopen(base + "/live/events", timeout=5) as stream:
            lines = [stream.readline().decode() for _ in range(5)]
            self.assertIn("event: snapshot\n", lines)

    def test_who_watches_sees_the_end_of_a_manager_that_ends_with_its_league(self):
        manager = self.start_manager(2, 1)
        with urllib.request.urlopen(manager.url.removesuffix("/mcp") + "/live/events", timeout=30) as stream:
            self.start_players(manager, 2, "random")
            self.start_referee(manager)
            wait_until(lambda: self.status(manager)["state"] == "COMPLETED", 30, "the league is over")
            manager.program.process.terminate()
            told = [json.loads(line[6:]) for line in stream.read().decode().splitlines() if line.startswith("data: {")]
        self.assertEqual((told[-1]["league"]["state"], told[-1]["league"]["finished"]), ("COMPLETED", 1))
        self.assertEqual(manager.program.process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
