"""The systemd units: what systemd says of them, and that their command lines play a league."""

import json
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, wait_until

UNITS = SOURCE / "packaging" / "systemd"
KINDS = ("manager", "referee", "player")


class Unit:
    """A template unit as systemd reads it: the keys of [Service], each with all its values."""

    def __init__(self, kind):
        self.kind = kind
        self.text = (UNITS / f"league-{kind}@.service").read_text()
        self.keys = {}
        for key, value in re.findall(r"(?m)^(\w+)=(.*)$", self.text):
            self.keys.setdefault(key, []).append(value)

    def one(self, key):
        values = self.keys[key]
        assert len(values) == 1, (self.kind, key, values)
        return values[0]

    def command(self, instance, directory, settings):
        """The words that systemd would start, with `directory` in place of /var, and `settings` as its environment file."""
        place = {"%i": instance, "%S": str(directory / "lib"), "%L": str(directory / "log")}
        expand = lambda text: re.sub("%[iSL]", lambda found: place[found[0]], text)  # noqa: E731
        variables = dict(expand(value).split("=", 1) for value in self.keys["Environment"])
        variables |= settings
        words = []
        for word in self.one("ExecStart").split():
            if re.fullmatch(r"\$\w+", word):
                words += shlex.split(variables[word[1:]])
            else:
                words.append(expand(re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], word)))
        return [BIN / words[0], *words[1:]]


class Units(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.units = {kind: Unit(kind) for kind in KINDS}

    def test_are_right_for_systemd(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze here")
        for kind, unit in self.units.items():
            file = self.directory / f"league-{kind}@.service"
            program = unit.one("ExecStart").split()[0]
            file.write_text(unit.text.replace(f"ExecStart={program}", f"ExecStart={BIN / program}"))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", file], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_are_locked_up(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze here")
        for kind in KINDS:
            # 10 is exposed, 0 is sealed off; what is left is mostly the network.
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20",
                                   UNITS / f"league-{kind}@.service"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_run_as_a_user_of_their_own_and_start_again(self):
        for unit in self.units.values():
            self.assertEqual(unit.one("DynamicUser"), "yes")
            self.assertEqual(unit.one("Restart"), "on-failure")
            self.assertEqual(unit.one("StartLimitIntervalSec"), "0")
            # What the command line writes is what the unit may write.
            self.assertIn(f"--data %S/{unit.one('StateDirectory')} ", unit.one("ExecStart"))
            self.assertIn(f"--logs %L/{unit.one('LogsDirectory')} ", unit.one("ExecStart"))

    def start(self, kind, instance, **settings):
        words = self.units[kind].command(instance, self.directory, settings)
        for place in ("lib", "log"):
            (self.directory / place / "league" / f"{kind}-{instance}").mkdir(parents=True)
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_their_command_lines_play_a_league(self):
        manager = self.start("manager", "cup", LEAGUE_PORT="0", LEAGUE_OPTIONS='--players 2 --referees 1 --league "the_cup"')
        address = manager.stdout.readline().split()[1]
        agents = [self.start("referee", "whistle", LEAGUE_OPTIONS=f"--manager {address}"),
                  self.start("player", "alpha", LEAGUE_OPTIONS=f"--manager {address} --strategy even"),
                  self.start("player", "beta", LEAGUE_NAME="The Other", LEAGUE_OPTIONS=f"--manager {address}")]

        def league():
            told = subprocess.run([BIN / "league", "status", "--json", address], capture_output=True, text=True, timeout=30)
            told = json.loads(told.stdout)
            return told if told["state"] == "COMPLETED" else None

        finished = wait_until(league, 30, "the league is played")
        self.assertEqual((finished["league_id"], finished["matches_completed"]), ("the_cup", 1))
        self.assertEqual({row["display_name"] for row in finished["standings"]}, {"alpha", "The Other"})
        self.assertTrue((self.directory / "lib/league/manager-cup/journal").exists())
        self.assertTrue(any((self.directory / "log/league/manager-cup").iterdir()))
        for process in [*agents, manager]:
            process.terminate()
            # Restart=on-failure would start another one again.
            self.assertEqual(process.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
