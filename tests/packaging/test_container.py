"""The Containerfile: what it copies and installs exists, and what it makes is small, not root, and watched.

Builds nothing: `scripts/package --container` does that, where there is a builder.
"""

import json
import re
import shlex
import shutil
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import BIN, SOURCE


def instructions():
    """(name, rest) of each instruction, with continued lines joined."""
    text = re.sub(r"(?m)^\s*#.*\n", "", (SOURCE / "Containerfile").read_text())
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            name, rest = line.split(None, 1)
            yield name, rest.strip()


class Containerfile(unittest.TestCase):
    def setUp(self):
        self.stages = []
        for name, rest in instructions():
            if name == "FROM":
                self.stages.append([])
            if self.stages:  # what stands before the first is for all of them
                self.stages[-1].append((name, rest))

    def all_of(self, wanted, stage=-1):
        return [rest for name, rest in self.stages[stage] if name == wanted]

    def test_builds_in_one_stage_and_runs_in_another(self):
        self.assertEqual(len(self.stages), 2)
        base = {self.all_of("FROM", stage)[0].split()[0] for stage in (0, 1)}
        self.assertEqual(len(base), 1, "the package belongs to one release of Debian")
        runs = " ".join(self.all_of("RUN"))
        for builder in ("g++", "cmake", "-dev", "scripts/"):
            self.assertNotIn(builder, runs)
        self.assertIn("rm -rf /var/lib/apt/lists", runs)

    def test_what_it_copies_is_there_and_not_ignored(self):
        ignored = [line for line in (SOURCE / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
        copied = [word for rest in self.all_of("COPY", 0) for word in shlex.split(rest)[:-1]]
        self.assertIn(".", copied)
        for path in copied:
            self.assertTrue((SOURCE / path).exists(), path)
            self.assertFalse([rule for rule in ignored if path.split("/")[0] == rule], path)
        tracked = subprocess.run(["git", "-C", SOURCE, "ls-files"], capture_output=True, text=True, timeout=60)
        for path in tracked.stdout.splitlines():
            self.assertNotIn(path.split("/")[0], ignored, "a file of the project would not be copied")

    def test_scripts_that_it_runs_exist(self):
        runs = " ".join(self.all_of("RUN", 0))
        scripts = re.findall(r"scripts/[\w.]+", runs)
        self.assertTrue(scripts)
        for script in scripts:
            self.assertTrue((SOURCE / script).is_file(), script)
        mounted = re.search(r"source=/source/(\S+?),", " ".join(self.all_of("RUN")))
        self.assertIn(f"$root/{mounted[1]}", (SOURCE / "scripts/package").read_text())

    def test_another_package_makes_another_image(self):
        # A mount does not count when a builder looks for a cached layer; a copied file does.
        last = self.stages[-1]
        copy, install = (next(i for i, (name, rest) in enumerate(last) if name == wanted and "from=build" in rest)
                         for wanted in ("COPY", "RUN"))
        self.assertLess(copy, install)
        copied = re.search(r"/source/(\S+)", last[copy][1])[1]
        self.assertRegex(" ".join(self.all_of("RUN", 0)), rf"sha256sum build/package/\S+ > {re.escape(copied)}")

    def test_packages_that_it_names_exist(self):
        if not shutil.which("apt-cache"):
            self.skipTest("there is no apt-cache here")
        named = set()
        for stage in (0, 1):
            for run in self.all_of("RUN", stage):
                for words in re.findall(r"(?:apt-get install|install_packages)([^&']*)", run):
                    named |= {word for word in words.split() if not word.startswith(("-", "/", "$"))}
        self.assertTrue(named)
        for package in named:
            found = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True, timeout=60).stdout
            self.assertIn("Candidate: ", found.replace("Candidate: (none)", ""), package)

    def test_is_not_root_and_is_watched(self):
        names = [name for name, _ in self.stages[-1]]
        user = self.all_of("USER")[-1]
        self.assertNotIn(user, ("root", "0"))
        self.assertRegex(" ".join(self.all_of("RUN")), rf"useradd .*--uid \d+ .*{user}\b")
        self.assertLess(names.index("USER"), names.index("CMD"))
        self.assertEqual(self.all_of("VOLUME"), self.all_of("WORKDIR"))
        self.assertRegex(" ".join(self.all_of("RUN")), re.escape(self.all_of("WORKDIR")[0]))

    def test_its_command_lines_are_those_of_our_programs(self):
        port = self.all_of("EXPOSE")[0]
        manager = json.loads(self.all_of("CMD")[0])
        check = json.loads(self.all_of("HEALTHCHECK")[0].split("CMD", 1)[1])
        self.assertEqual(check, ["league", "status", f"http://localhost:{port}/mcp"])
        for words in (manager, check):
            told = subprocess.run([BIN / words[0], *(word for word in words[1:2] if not word.startswith("-")), "--help"],
                                  check=True, capture_output=True, text=True, timeout=30).stdout
            for word in words[1:]:
                if word.startswith("-"):
                    self.assertIn(f"  {word} ", told)
        told = subprocess.run([BIN / manager[0], "--help"], check=True, capture_output=True, text=True, timeout=30).stdout
        self.assertRegex(told, rf"--port [^\n]*={port}\n")


if __name__ == "__main__":
    unittest.main()
