"""`league check` and `spar` with bots that come to the checker: those of the client libraries' READMEs, in both ways; and
bots that do wrong what only such a bot can do wrong."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, IS_NIGHTLY, SOURCE

CLIENTS = SOURCE / "clients"
# The program, the bot and the library, and the language of code in the README.
LANGUAGES = {"python": ("python3", "bot.py", "league_player.py", "python"), "javascript": ("node", "bot.mjs", "league_player.js", "js")}
FALSE_BOT = """
import sys, time
sys.path.insert(0, {library!r})
import league_player
{fault}
while True:
    bot = league_player.Player("false-bot")
    bot.choose(lambda match: match.choices[0])
    bot.run(data={data!r})
    if not {returns}:
        time.sleep(1000)
"""
NEVER_OPENS_AGAIN = """
first = league_player.Seat.open
def open(seat, connection):
    if seat.session:
        time.sleep(1000)
    first(seat, connection)
league_player.Seat.open = open
"""
PROMISES_ANEW = """
first = league_player.Calls.answer
def answer(calls, request, remaining):
    if request["method"] == "handle_game_invitation":
        calls.identity.matches.pop(request["params"].get("match_id"), None)
    return first(calls, request, remaining)
league_player.Calls.answer = answer
"""


class CheckLibraries(unittest.TestCase):
    def setUp(self):
        self.place = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def report(self, *words, expects=0):
        done = subprocess.run([str(word) for word in (BIN / "league", "check", "--format", "json", *words)], capture_output=True,
                              text=True, timeout=200, cwd=self.place)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)["bots"][0]
        self.assertEqual(done.returncode, expects, (report["level"], self.failed(report)))
        return report

    @staticmethod
    def failed(report):
        return {one["id"]: one["got"] for one in report["checks"] if one["outcome"] not in ("passed", "skipped")}

    @staticmethod
    def passed(report, clause):
        return {one["id"] for one in report["checks"] if one["outcome"] == "passed" and one["id"].startswith(clause)}

    def write_bot(self, language):
        """The bot of the library's README, beside the library; the README's text."""
        program, bot, library, name = LANGUAGES[language]
        if not shutil.which(program):
            self.skipTest(f"{program} is missing")
        readme = (CLIENTS / language / "README.md").read_text()
        code = re.search(rf"```{name}\n(.*?)```", readme, re.S).group(1)
        self.assertLessEqual(len(code.splitlines()), 10, "a bot of ten lines")
        (self.place / bot).write_text(code)
        shutil.copy(CLIENTS / language / library, self.place)
        if language == "javascript":
            (self.place / "package.json").write_text('{"type": "module"}')
        return readme

    def check_both_ways(self, language):
        readme = self.write_bot(language)
        start, = re.findall(r'^league check --start "(.*)" --require robust$', readme, re.M)
        # All checks take 20 s; every day one library has them, in the way in which the libraries connect by default.
        is_complete = IS_NIGHTLY or language == "python"
        report = self.report("--start", start, "--require", "robust", *([] if is_complete else ["--fast"]))
        self.assertEqual(self.failed(report), {})
        self.assertGreaterEqual(len(self.passed(report, "P-13.")), 5 if is_complete else 3)
        self.assertGreaterEqual(report["counts"]["passed"], 200 if is_complete else 150)
        (self.place / "check.json").unlink()
        report = self.report("--start", start + " --serve {port}", "--require", "robust", *([] if IS_NIGHTLY else ["--fast"]))
        self.assertEqual(self.failed(report), {})

    def test_python(self):
        self.check_both_ways("python")

    def test_javascript(self):
        self.check_both_ways("javascript")

    def test_our_player(self):
        start = f"{BIN / 'player'} --transport outward --manager {{manager}} --data {self.place}/data --logs {self.place}/logs"
        report = self.report("--start", start, "--fast", "--require", "robust")
        self.assertEqual(self.failed(report), {})

    def test_bots_that_come_spar(self):
        self.write_bot("python")
        command = "python3 bot.py --manager {manager} --data %s.json"
        done = subprocess.run([BIN / "league", "spar", command % "one", "--against", command % "two", "--matches", "20"],
                              capture_output=True, text=True, timeout=60, cwd=self.place)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("(0 for failures of its own)"), 2, done.stdout)

    def check_false_bot(self, check, fault="", returns=False):
        (self.place / "false.py").write_text(FALSE_BOT.format(library=str(CLIENTS / "python"), fault=fault, returns=returns,
                                                              data=str(self.place / "false.json")))
        return self.report("--start", "python3 false.py --manager {manager}", "--only", check, expects=1)

    def test_a_bot_that_takes_its_seat_back(self):
        check = "P-13.7/stops-when-taken-over"
        self.assertIn(check, self.failed(self.check_false_bot(check, returns=True)))

    def test_a_bot_that_does_not_open_another_session(self):
        check = "P-13.7/new-session"
        self.assertIn(check, self.failed(self.check_false_bot(check, NEVER_OPENS_AGAIN)))

    def test_a_bot_that_promises_something_else(self):
        check = "P-13.8/same-answer-again"
        self.assertIn(check, self.failed(self.check_false_bot(check, PROMISES_ANEW)))


class Readmes(unittest.TestCase):
    def test_the_messages_are_those_of_the_library(self):
        for language, (_, _, library, _) in LANGUAGES.items():
            text = (CLIENTS / language / library).read_text()
            text = re.sub(r'"\s*\n\s*f?"', "", text)  # one text over two lines
            section = (CLIENTS / language / "README.md").read_text().partition("## When it fails")[2]
            for message in re.findall(r"^\| `(.*?)` \|", section, re.M):
                for part in re.split(r"[…;]|\(\) |E\d\d\d|R\d+M\d+|P\d\d|ECONNREFUSED|Connection refused", message):
                    self.assertTrue(part.strip(" :") in text, f"{language}: {message}: {part!r}")

    def test_the_examples_are_those_of_the_readmes(self):
        for language, (_, bot, _, name) in LANGUAGES.items():
            readme = (CLIENTS / language / "README.md").read_text()
            code = re.search(rf"```{name}\n(.*?)```", readme, re.S).group(1)
            example = (CLIENTS / language / bot.replace("bot", "example")).read_text()
            lines = [line.split("  //")[0].split("  #")[0].rstrip() for line in code.splitlines()]
            self.assertTrue(example.endswith("\n".join(lines) + "\n"), f"{language}: {example}")


if __name__ == "__main__":
    unittest.main()
