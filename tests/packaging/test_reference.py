"""Every option and command of every --help is in the man page, and completes in bash, zsh and fish."""

import functools
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, SOURCE

PROGRAMS = ("league", "league_manager", "referee", "player")
BUILD = Path(os.environ.get("LEAGUE_BUILD_DIR", SOURCE / "build")) / "packaging"


def said_by(*words):
    return subprocess.run([BIN / words[0], *words[1:]], check=True, capture_output=True, text=True, timeout=30).stdout


def read_help(words):
    """Yields (words of the command, its options, its commands) for a program and everything below it.

    Read from the text that people see, not from the table that pages and completions are made from."""
    options, commands, section = [], [], ""
    for line in said_by(*words, "--help").splitlines():
        if re.match(r"\S.*:$", line):
            section = line
        elif section == "Options:" and re.match(r"  -", line):
            names = re.match(r"  (\S+)", line).group(1)
            options += [re.sub(r"\{.*\}|=.*", "", name) for name in names.split(",")]
        elif section == "Subcommands:" and re.match(r"  \S", line):
            commands.append(line.split()[0])
    yield words, options, commands
    for command in commands:
        yield from read_help([*words, command])


@functools.cache
def all_help():
    return {program: list(read_help([program])) for program in PROGRAMS}


class Reference(unittest.TestCase):
    def setUp(self):
        self.helps = all_help()


class Help(Reference):
    def test_was_understood(self):
        commands = {" ".join(words) for words, _, _ in self.helps["league"]}
        self.assertLessEqual({"league up", "league admin new-token", "league audit verify"}, commands)
        for program in PROGRAMS:
            self.assertIn("--version", self.helps[program][0][1])
            for words, options, _ in self.helps[program]:
                self.assertIn("--help", options, words)
        self.assertIn("--data", self.helps["league_manager"][0][1])


class ManPages(Reference):
    def rendered(self, program):
        page = BUILD / "man" / f"{program}.1"
        if not shutil.which("man"):
            self.skipTest("there is no man here")
        plain = {**os.environ, "MANWIDTH": "200", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
        shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, timeout=60, env=plain)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        return re.sub(r".\x08", "", shown.stdout)

    def test_have_every_option_and_command(self):
        for program in PROGRAMS:
            page = (BUILD / "man" / f"{program}.1").read_text()
            self.assertNotRegex(page, "@[A-Z]+@", "everything is filled in")
            place = 0
            for words, options, _ in self.helps[program]:
                # In the part of the page that is about this command.
                if len(words) > 1:
                    place = page.index("\\fB" + " ".join(words).replace("-", "\\-") + "\\fR", place)
                for option in options:
                    self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", page[place:], words)

    def test_are_good_roff_and_say_what_help_says(self):
        for program in PROGRAMS:
            shown = self.rendered(program)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES", "SEE ALSO"):
                self.assertRegex(shown, rf"(?m)^{section}$", program)
            for words, options, _ in self.helps[program]:
                for option in options:
                    self.assertRegex(shown, rf"{option}(?![\w-])", words)
        self.assertIn("league up --players 8 --referees 2", self.rendered("league"))

    def test_give_the_version_of_the_programs(self):
        version = re.search(r"VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text().split("project(")[1]).group(1)
        for program in PROGRAMS:
            self.assertEqual(said_by(program, "--version").strip(), version)
            self.assertIn(f"Even/Odd league {version}", (BUILD / "man" / f"{program}.1").read_text().splitlines()[0])


BASH = r"""
source "$1"
while IFS= read -r line; do
  read -r -a COMP_WORDS <<<"$line"
  [ "${line%.}" = "$line" ] || COMP_WORDS[-1]=${COMP_WORDS[-1]%.}   # a full stop ends the word at the cursor
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
  "_league_complete_${COMP_WORDS[0]}"
  echo "${COMPREPLY[*]}"
done
"""


class BashCompletion(Reference):
    def complete(self, program, lines, directory="/"):
        """What bash offers for each of `lines`, whose last word is the one at the cursor."""
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", BUILD / "bash" / program], cwd=directory,
                              input="".join(f"{line}.\n" for line in lines), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split() for line in done.stdout.splitlines()]

    def test_every_option_and_command_completes(self):
        for program in PROGRAMS:
            lines, wanted = [], []
            for words, options, commands in self.helps[program]:
                for name in [*options, *commands]:
                    lines.append(" ".join([*words, name[:-1] if len(name) > 3 else name]))
                    wanted.append(name)
            for line, name, offered in zip(lines, wanted, self.complete(program, lines), strict=True):
                self.assertIn(name, offered, line)

    def test_offers_only_what_fits(self):
        offered = self.complete("league", ["league ", "league u", "league up --players 4 --ref", "league admin ",
                                           "league nonsense --vers"])
        self.assertIn("audit", offered[0])
        self.assertEqual(offered[1], ["up"])
        self.assertEqual(offered[2], ["--referees"])
        self.assertEqual(set(offered[3]), set(next(row for row in self.helps["league"] if row[0] == ["league", "admin"])[2]))
        self.assertEqual(offered[4], ["--version"])

    def test_values(self):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "league.toml").touch()
            offered = self.complete("league", ["league up --mode ", "league up --mode s", "league up --mode = st",
                                               "league up --mode =", "league up --players ",
                                               "league up --config lea"], directory)
        self.assertEqual(offered, [["open", "strict"], ["strict"], ["strict"], ["open", "strict"], [], ["league.toml"]])


class OtherShells(Reference):
    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("there is no fish here")
        for program in PROGRAMS:
            wanted = [(" ".join([*words, name[:-1]]), name)
                      for words, options, commands in self.helps[program]
                      for name in [*options, *commands] if len(name) > 3]
            script = f"source {BUILD}/fish/{program}.fish\n" + "".join(
                f"echo (complete -C '{line}' | cut -f1)\n" for line, _ in wanted)
            done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for (line, name), offered in zip(wanted, done.stdout.splitlines(), strict=True):
                self.assertIn(name, offered.split(), line)

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("there is no zsh here")
        for program in PROGRAMS:
            file = BUILD / "zsh" / f"_{program}"
            subprocess.run(["zsh", "-n", file], check=True, timeout=60)
            text = file.read_text()
            for words, options, commands in self.helps[program]:
                body = text.split("_" + "_".join(words) + "() {", 1)[1].split("\n}", 1)[0]
                for option in options:
                    self.assertRegex(body, rf"'\*?{option}=?\[", words)
                for command in commands:
                    self.assertIn(f"'{command}:", body, words)


if __name__ == "__main__":
    unittest.main()
