"""`league check` with the real programs: ours reach `robust` in strict mode, formats hold."""

import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, wait_until

BOTS = SOURCE / "examples" / "bots"
VOID = {"meta", "br", "hr", "link", "input"}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Opens all that is folded, and tells how wide the page in each frame has become.
MEASURE = """<script>onload = () => {
  document.body.dataset.widths = [...document.querySelectorAll("iframe")].map(({contentDocument: page}) => {
    for (const one of page.querySelectorAll("details")) one.open = true;
    return page.querySelector("h1") ? page.documentElement.scrollWidth : 99999;
  });
};</script>"""


class Site:
    """Serves pages on this machine and remembers what was asked for."""

    def __init__(self, pages):
        self.pages, self.asked = dict(pages), []

    def __enter__(self):
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                self.send_response(200 if self.path in site.pages else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(site.pages.get(self.path, "").encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Page(HTMLParser):
    """Follows the tags of a page: each that is opened is closed, and nothing is fetched."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.fetched, self.errors = [], 0, [], []

    def handle_starttag(self, tag, attrs):
        self.rows += tag == "tr"
        self.fetched += [value for name, value in attrs if name in ("src", "href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(tag)


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.place = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def league(self, *words, expects=0):
        done = subprocess.run([BIN / "league", *map(str, words)], capture_output=True, text=True, timeout=90, cwd=self.place)
        self.assertEqual(done.returncode, expects, done.stdout[-3000:] + done.stderr)
        return done.stdout

    def report(self, *words, expects=0):
        words = [BIN / "league", "check", "--format", "json", *words]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=150, cwd=self.place)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)["bots"][0]
        self.assertEqual(done.returncode, expects, (report["level"], self.not_passed(report)))
        return report

    def not_passed(self, report):
        return {one["id"]: one["got"] for one in report["checks"] if one["outcome"] not in ("passed", "skipped")}

    def start(self, program, *words):
        return f"{BIN / program} --port {{port}} --mode strict --logs {self.place}/logs " + " ".join(words)


class OurPrograms(CheckTest):
    def test_player_is_robust(self):
        start = self.start("player", "--manager {manager}", f"--data {self.place}/data")
        report = self.report("--start", start, "--require", "robust")
        self.assertEqual(self.not_passed(report), {})
        self.assertGreaterEqual(report["counts"]["passed"], 200)
        self.assertEqual(report["leniencies"], [])

    def test_player_is_checked_within_five_seconds(self):
        start = self.start("player", "--manager {manager}", f"--data {self.place}/data")
        report = self.report("--start", start, "--fast", "--require", "robust")
        self.assertLess(report["milliseconds"], 5000)

    def test_a_bot_that_leaves_no_time_for_its_checks_is_not_robust(self):
        start = self.start("player", "--manager {manager}", "--strategy slow:700", f"--data {self.place}/data")
        report = self.report("--start", start, "--fast", "--require", "robust", expects=1)
        self.assertGreater(report["not_tried"], 0)
        self.assertNotEqual(report["level"], "robust")
        self.assertEqual(self.not_passed(report), {})

    def test_referee_is_robust(self):
        report = self.report("--role", "referee", "--start", self.start("referee", "--manager {manager}"), "--require", "robust")
        self.assertEqual(self.not_passed(report), {})
        self.assertGreaterEqual(report["counts"]["passed"], 80)

    def test_manager_is_robust(self):
        words = ("--players 3", "--referees 2", f"--data {self.place}/data")
        report = self.report("--role", "manager", "--players", 3, "--referees", 2, "--start", self.start("league_manager", *words),
                             "--require", "robust")
        self.assertEqual(self.not_passed(report), {})
        self.assertGreaterEqual(report["counts"]["passed"], 60)

    def test_all_are_robust_in_another_game(self):
        league = f"--players 3 --referees 2 --data {self.place}/league --game prisoners_dilemma"
        for words in (("--start", self.start("player", "--manager {manager}", f"--data {self.place}/data")),
                      ("--role", "referee", "--start", self.start("referee", "--manager {manager}")),
                      ("--role", "manager", "--players", 3, "--referees", 2, "--start", self.start("league_manager", league))):
            report = self.report(*words, "--fast", "--require", "robust", "--game", "prisoners_dilemma")
            self.assertEqual(self.not_passed(report), {})

    def test_misbehaving_player_is_found_out(self):
        start = self.start("player", "--manager {manager}", "--strategy invalid")
        report = self.report("--start", start, "--fast", expects=1)
        self.assertIn("P-4.9/parity-choice-lower-case", self.not_passed(report))
        self.assertEqual(report["level"], "none")

    def test_a_wrong_spelling_is_told_once_and_the_rest_is_checked(self):
        start = f"python3 {SOURCE}/tests/mutants/mutants.py choice_upper_case --manager {{manager}} --port {{port}} --data {self.place}/bot.json"
        report = self.report("--start", start, "--fast", expects=1)
        self.assertEqual(list(self.not_passed(report)), ["P-4.9/parity-choice-lower-case"])
        self.assertEqual(report["level"], "none")
        self.assertGreater(report["counts"]["passed"], 150)

    def test_other_transports(self):
        for endpoint in (f"stdio:{BIN / 'player'} --standalone --transport stdio --logs {self.place}/logs",):
            report = self.report(endpoint, "--fast")
            self.assertEqual(self.not_passed(report), {})


class Findings(CheckTest):
    """One fault of the bot is one finding, told first."""

    def check(self, *words):
        """The page's bot with a change, checked; the text of the report."""
        bot = self.place / "bot.py"
        text = (BOTS / "python" / "bot.py").read_text()
        for old, new in words:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        bot.write_text(text)
        start = f"python3 {bot} --manager {{manager}} --port {{port}} --data {self.place}/bot.json"
        return self.league("check", "--start", start, "--fast", expects=1)

    def test_the_end_of_the_process(self):
        text = self.check(("def choose(", "def choose(*_):\n    os.write(2, b'no more')\n    os._exit(3)\n\n\ndef chose("))
        self.assertEqual(re.findall(r"FAILED (\S+)", text), ["P-4.9/choice-answered"], text)
        for words in ("exit code 3", "while answering CHOOSE_PARITY_CALL", "no more"):
            self.assertIn(words, text)
        self.assertLess(text.index("level       none"), text.index("FAILED"))
        self.assertLess(len(text.splitlines()), 50)

    def test_a_bot_that_takes_its_own_token_only(self):
        text = self.check(("def check_caller(", """def check_caller(call):
    if call.get("auth_token") != me.get("auth_token"):
        raise Refused("E012", "AUTH_TOKEN_INVALID", "auth_token", "this is not my token")
    return 1


def check_caller_before("""))
        self.assertEqual(re.findall(r"FAILED (\S+)", text), ["P-4.7/join-answered"], text)
        self.assertIn("1. Accept calls with the match credential", text)

    def test_silence(self):
        text = self.check(("def choose(", "def choose(*_):\n    time.sleep(30)\n\n\ndef chose("))
        self.assertEqual(re.findall(r"FAILED (\S+)", text), ["P-4.9/choice-answered"], text)
        self.assertIn("no answer within 4 s", text)


class Reports(CheckTest):
    def run_bad(self, *words, expects=1):
        start = self.start("player", "--manager {manager}", "--strategy invalid")
        return self.league("check", "--start", start, "--fast", "--only", "P-4.9", *words, expects=expects)

    def test_text_says_what_how_and_where(self):
        short = self.run_bad()
        self.assertIn("level       not decided", short)
        self.assertNotIn("curl -sS", short)
        text = self.run_bad("--verbose")
        for word in ("P-4.9/parity-choice-lower-case", "/result/parity_choice", "curl -sS", "lower case", "level"):
            self.assertIn(word, text)
        self.assertNotRegex(text, r"tok_p07_\w")

    @unittest.skipUnless(shutil.which("curl") and shutil.which("openssl"), "curl or openssl is missing")
    def test_the_line_that_repeats_a_request_runs(self):
        words = [BIN / "league", "check", "--listen", "0", "--fast", "--only", "P-4.9/parity-choice-lower-case", "--format", "json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as checker:
            manager = re.search(r"http://\S+", checker.stderr.readline()).group()
            bot = subprocess.Popen(["python3", SOURCE / "tests/mutants/mutants.py", "choice_capital", "--manager", manager,
                                    "--port", "0", "--data", self.place / "bot.json"], stdout=subprocess.DEVNULL)
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
            line = json.loads(checker.communicate(timeout=30)[0])["bots"][0]["checks"][0]["repeat"]
        token = json.loads((self.place / "bot.json").read_text())["me"]["auth_token"]
        self.assertNotIn(token, line)
        done = subprocess.run(["sh", "-c", line], env={**os.environ, "TOKEN": token}, capture_output=True, text=True)
        self.assertRegex(json.loads(done.stdout)["result"]["parity_choice"], "Even|Odd")
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TOKEN: set it to the auth_token", done.stderr)

    def test_junit_is_xml(self):
        suite = xml.fromstring(self.run_bad("--format", "junit")).find("testsuite")
        self.assertGreater(int(suite.get("failures")), 0)

    def test_gradescope_has_points(self):
        tests = json.loads(self.run_bad("--format", "gradescope"))["tests"]
        self.assertTrue(any(test["score"] == 0 for test in tests))
        self.assertTrue(all(test["max_score"] in (1, 2) for test in tests))

    def test_page_needs_no_network(self):
        page = Page()
        page.feed(self.run_bad("--format", "html"))
        self.assertEqual((page.open, page.errors, page.fetched), ([], [], []))

    @unittest.skipUnless(BROWSER, "chromium is missing")
    def test_pages_in_a_browser(self):
        hostile = self.start("player", "--manager {manager}", "--strategy invalid",
                             "--name '<img src=/stolen onerror=fetch(1)></script><h1>xx'")
        long_name = f"stdio:{BOTS}/shell/bot.sh {'x' * 180}"
        pages = {"/one": self.league("check", "--start", hostile, "--fast", "--format", "html", expects=1),
                 "/matrix": self.league("check", long_name, long_name, "--only", "P-4*", "--fast", "--format", "html", expects=1)}
        frames = [(path, width) for path in pages for width in (390, 1280)]
        pages["/"] = "".join(f'<iframe src="{path}" width="{width}" height="844"></iframe>' for path, width in frames) + MEASURE
        with Site(pages) as site:
            words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
                     f"--user-data-dir={self.place}/browser", site.url + "/"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertNotIn("CONSOLE", done.stderr)
        self.assertLessEqual(set(site.asked), {*pages, "/favicon.ico"}, "the pages need nothing else")
        widths = re.search(r'data-widths="([\d,]+)"', done.stdout)[1].split(",")
        for (path, width), found in zip(frames, map(int, widths), strict=True):
            self.assertLessEqual(found, width, f"{path} scrolls sideways")

    def test_matrix_of_several_bots(self):
        bots = [f"stdio:{BOTS}/shell/bot.sh", f"stdio:{BIN / 'player'} --standalone --transport stdio --logs {self.place}/logs"]
        page = Page()
        page.feed(self.league("check", *bots, "--only", "P-2*", "--format", "html", expects=1))
        self.assertGreater(page.rows, 5)
        self.assertEqual((page.open, page.errors, page.fetched), ([], [], []))

    def test_baseline_forgives_and_gets_stale(self):
        failing = [one["id"] for one in json.loads(self.run_bad("--format", "json"))["bots"][0]["checks"] if one["outcome"] == "failed"]
        known = self.place / "known"
        known.write_text("\n".join(failing))
        self.run_bad("--baseline", known, expects=0)
        known.write_text("\n".join([*failing, "P-4.9/no-such-check"]))
        self.assertIn("STALE", self.run_bad("--baseline", known, expects=1))


class Places(CheckTest):
    def test_nobody_there(self):
        self.league("check", "http://127.0.0.1:1/mcp", expects=2)

    def test_bot_that_never_registers(self):
        self.league("check", "--start", "sleep 20", "--wait", 1, expects=2)

    def test_command_that_ends_is_not_waited_for(self):
        done = subprocess.run([BIN / "league", "check", "--start", "false"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has ended", done.stderr)
        self.assertIn("league check http://", done.stderr)

    def test_ctrl_c_ends_a_check_and_its_bot(self):
        pid_file = self.place / "pid"
        script = self.place / "bot.sh"
        script.write_text(f"echo $$ >{pid_file}.new && mv {pid_file}.new {pid_file} && exec sleep 600\n")
        check = subprocess.Popen([BIN / "league", "check", "--start", f"sh {script}"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(check.wait)
        self.addCleanup(check.kill)
        wait_until(pid_file.exists, 10, "the bot has started")
        check.send_signal(signal.SIGINT)
        self.assertEqual(check.wait(10), -signal.SIGINT)
        state = Path("/proc", pid_file.read_text().strip(), "stat")
        wait_until(lambda: not state.exists() or " Z " in state.read_text(), 10, "the bot has ended, too")

    def test_no_bot_named(self):
        self.league("check", expects=2)


class Sparring(CheckTest):
    def test_scores_add_up(self):
        text = self.league("spar", "even", "--against", "odd", "--matches", 40)
        self.assertIn("95 % confidence", text)
        self.assertIn("draws 0", text)

    def test_silent_bot_loses(self):
        text = self.league("spar", "random", "--against", "silent", "--matches", 1, "--limit", 100, "--retry", 10)
        self.assertIn("lost by TIMEOUT_JOIN: 1", text)

    def test_bot_that_registers_is_called_with_credentials(self):
        bot = f"python3 {SOURCE / 'examples/bots/python/bot.py'} --manager {{manager}} --port {{port}} --data {self.place}/bot.json"
        text = self.league("spar", bot, "--against", "odd", "--matches", 5)
        self.assertEqual(text.count("(0 for failures of its own)"), 2, text)

    def test_bot_that_ends_without_registering(self):
        self.league("spar", "false {manager}", expects=2)

    def test_an_answer_above_the_limit_is_lost_as_in_a_league(self):
        text = self.league("spar", "random", "--against", "huge", "--matches", 1, "--retry", 10)
        self.assertIn("larger than 1048576 bytes", text)

    def test_mode_is_that_of_a_league(self):
        for mode, failures in (("open", 0), ("strict", 1)):
            bot = f"python3 {SOURCE}/tests/mutants/mutants.py error_null --manager {{manager}} --port {{port}} --data {self.place}/{mode}.json"
            text = self.league("spar", bot, "--against", "odd", "--matches", 1, "--retry", 10, "--mode", mode)
            self.assertIn(f"({failures} for failures of its own)", text)

    def test_one_match_is_told(self):
        told = self.league("play", "even", "odd")
        self.assertIn("CHOOSE_PARITY_CALL to odd", told)
        self.assertRegex(told, "even: chose even, [03] points?\\n")
        self.assertRegex(told, "odd: chose odd, [03] points?\\n")

    def test_a_person_plays_and_recomputes_every_draw(self):
        words = [BIN / "league", "play", "--me", "--matches", "3", "--against", "odd"]
        done = subprocess.run([*map(str, words)], input="e\no\neven\n", capture_output=True, text=True, timeout=30)
        proofs = re.findall(r"^  python3 docs/(verify_draw\.py.*)$", done.stdout, re.M)
        self.assertEqual((done.returncode, len(proofs)), (0, 3), done.stdout + done.stderr)
        for proof in proofs:
            checked = subprocess.run(["python3", *proof.split()], capture_output=True, text=True, cwd=SOURCE / "docs")
            self.assertEqual(checked.stdout, "fair\n", proof)
        words = [BIN / "league", "play", "--me"]
        done = subprocess.run([*map(str, words)], input="", capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
