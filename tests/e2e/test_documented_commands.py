"""Commands in the documents name programs, commands and options that there are: code blocks and `inline code` alike.
What the programs print for machines and send to each other is named there, too."""

import functools
import json
import re
import shlex
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, LeagueTest

sys.path.insert(0, str(SOURCE / "tests" / "docs"))
from markdown import pages, split  # noqa: E402

PROGRAMS = ("league", "league_manager", "referee", "player")
HISTORY = ("CHANGELOG.md", "docs/decisions.md")  # they name options that are gone


@functools.cache
def help_of(*command):
    said = subprocess.run([BIN / command[0], *command[1:], "--help"], capture_output=True, text=True, timeout=20)
    return said.stdout if said.returncode == 0 else None


def commands_of(program):
    """The program's subcommands, by its help."""
    part = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_of(*program) or "", re.MULTILINE)
    return set(re.findall(r"^  ([a-z][a-z-]*) ", part.group(1), re.MULTILINE)) if part else set()


def words_of(text):
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # a quotation mark that is not closed: not a command
        return []


def shown(page):
    """Every piece of code on a page, as (place, text); lines that are continued are one."""
    text = page.read_text()
    blocks, prose = split(text)
    name = page.relative_to(SOURCE).as_posix()
    for block in blocks:
        for line in block.text.replace("\\\n", " ").splitlines():
            yield f"{name}, block at line {block.line}", re.sub(r"^(?:[a-z]?\$ |[A-Z_]+=\S* )+", "", line.strip())
    for paragraph in re.split(r"\n\s*\n", "\n".join(line for _, line in prose)):
        for span in re.findall(r"`([^`]+)`", paragraph):
            yield name, " ".join(span.split())


def programs_called(text):
    """The calls of our programs in a line of shell, each as its words."""
    for piece in re.split(r"\s*(?:&&|;|\||&)\s*", text):
        words = words_of(piece)
        while words and words[0] in ("exec", "time", "do"):
            words.pop(0)
        if words and words[0].removeprefix("build/bin/") in PROGRAMS and len(words) > 1:
            yield [words[0].removeprefix("build/bin/"), *words[1:]]


def fields_of(message):
    """The names of all fields of a message; ids of players are none."""
    if isinstance(message, list):
        return set().union(*(fields_of(item) for item in message)) if message else set()
    if not isinstance(message, dict):
        return set()
    own = {name for name in message if not re.fullmatch(r"P\d+", name)}
    return own.union(*(fields_of(value) for value in message.values()))


class DocumentedCommands(unittest.TestCase):
    def test_options_and_commands_exist(self):
        checked = 0
        for page in pages():
            if page.relative_to(SOURCE).as_posix() in HISTORY:
                continue
            for place, text in shown(page):
                for words in programs_called(text):
                    program, arguments = [words[0]], words[1:]
                    while arguments and arguments[0] in commands_of(tuple(program)):
                        program.append(arguments.pop(0))
                    if program == ["league"] and arguments and re.fullmatch("[a-z][a-z-]*", arguments[0]):
                        self.fail(f"{place}: `league` has no command {arguments[0]}")
                    for option in (word.split("=")[0] for word in arguments if re.match("--[a-z]", word)):
                        with self.subTest(place=place, command=" ".join(program), option=option):
                            self.assertRegex(help_of(*program), rf"(?m)(?<![\w-]){option}(?![\w-])")
                        checked += 1
        self.assertGreater(checked, 100)

    def test_scripts_exist(self):
        for page in pages():
            for place, text in shown(page):
                for script in re.findall(r"(?<![\w/])scripts/[\w.-]+", text):
                    self.assertTrue((SOURCE / script).exists(), f"{place}: {script}")


class DocumentedOutput(LeagueTest):
    def test_a_league_prints_and_sends_what_is_documented(self):
        page = (SOURCE / "docs" / "settings.md").read_text()
        row = re.search(r"^\| `league up --json` \| (.*) \|$", page, re.MULTILINE).group(1)
        optional = {"shared_first_place", "disputed", "luck", "luck_sentence"}
        keys = {re.match(r"\w+", key).group() for key in re.findall(r"`([^`]+)`", row)} - optional
        said = subprocess.run([BIN / "league", "up", "--players", "2", "--data", self.directory / "data", "--logs",
                               self.directory / "logs", "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(keys - set(json.loads(said.stdout)), set())
        self.every_field_is_in_the_protocol()

    def every_field_is_in_the_protocol(self):
        page = (SOURCE / "docs" / "protocol.md").read_text()
        sent = set()
        for log in (self.directory / "logs").rglob("*.jsonl"):
            for record in map(json.loads, log.read_text().splitlines()):
                if "raw" in record and "raw_ref" not in record:
                    frame = json.loads(record["raw"])
                    sent |= fields_of(frame.get("params", frame.get("result")))
        self.assertGreater(len(sent), 60)
        unknown = [name for name in sorted(sent)
                   if not re.search(rf"""[`".]{name.replace('player_B', 'player_A')}[`":]""", page)]
        self.assertEqual(unknown, [])


if __name__ == "__main__":
    unittest.main()
