"""What `cmake --install` puts where, and that it plays from there."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import SOURCE

BUILD = Path(os.environ.get("LEAGUE_BUILD_DIR", SOURCE / "build"))
PROGRAMS = ("league", "league_manager", "referee", "player")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.prefix = Path(directory.name) / "usr"
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "league"],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def files(self, place):
        return {str(path.relative_to(self.prefix / place)) for path in (self.prefix / place).rglob("*") if path.is_file()}

    def test_every_kind_of_file_has_its_place(self):
        self.assertEqual(self.files("bin"), {*PROGRAMS, "league-audit", "league-bench", "league-check", "league-gateway"})
        self.assertEqual(self.files("share/man/man1"), {f"{program}.1" for program in PROGRAMS})
        self.assertEqual(self.files("share/bash-completion/completions"), set(PROGRAMS))
        self.assertEqual(self.files("share/zsh/vendor-completions"), {f"_{program}" for program in PROGRAMS})
        self.assertEqual(self.files("share/fish/vendor_completions.d"), {f"{program}.fish" for program in PROGRAMS})
        self.assertEqual(self.files("lib/systemd/system"),
                         {f"league-{kind}@.service" for kind in ("manager", "referee", "player")})
        schemas = SOURCE / "schemas"
        self.assertEqual(self.files("share/league/schemas"), {str(path.relative_to(schemas)) for path in schemas.rglob("*.json")})
        self.assertIn("config/league.toml", self.files("share/league"))
        documents = self.files("share/doc/league")
        self.assertLessEqual({"README.md", "CHANGELOG.md", "LICENSE", "copyright", "docs/operating.md", "docs/install.md",
                              "docs/verify_draw.py", "docs/verify_ratings.py", "docs/table.md", "examples/bots/python/bot.py", "scripts/verify_log.py"}, documents)
        self.assertLessEqual({f"docs/{page}.md" for page in ("operating_in_a_network", "recovery", "security")}, documents)
        self.assertFalse({"docs/decisions.md", "docs/measurements.md"} & documents)
        self.assertFalse([name for name in documents if "__pycache__" in name or name.endswith(".pyc")])

    def test_nothing_is_installed_elsewhere(self):
        tops = {"/".join(path.relative_to(self.prefix).parts[:2]) for path in self.prefix.rglob("*") if path.is_file()}
        self.assertEqual({top for top in tops if not top.startswith("bin/")},
                         {"share/man", "share/bash-completion", "share/zsh", "share/fish", "share/league", "share/doc", "lib/systemd"})

    def test_links_of_installed_documents_lead_somewhere(self):
        root = self.prefix / "share/doc/league"
        checked = 0
        for document in root.rglob("*.md"):
            for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
                # Links into the sources lead nowhere without them.
                if "://" not in target and re.search(r"\.(md|py|mjs|json)$|schemas|examples", target):
                    checked += 1
                    self.assertTrue((document.parent / target).exists(), f"{document.relative_to(root)} links to {target}")
        self.assertGreater(checked, 20)

    def test_programs_need_nothing_of_the_build(self):
        for program in PROGRAMS:
            self.assertNotIn(str(BUILD).encode(), subprocess.run(["readelf", "-d", self.prefix / "bin" / program],
                                                                 check=True, capture_output=True, timeout=60).stdout)

    def test_plays_a_league_from_anywhere(self):
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run([self.prefix / "bin/league", "up", "--players", "4", "--referees", "1", "--json"],
                                  cwd=directory, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            league = json.loads(done.stdout)
            self.assertEqual((league["matches"], league["technical_losses"]), (6, 0))
            self.assertEqual(os.listdir(directory), ["runs"])
            verified = subprocess.run([self.prefix / "share/doc/league/scripts/verify_log.py", Path(directory) / "runs"],
                                      capture_output=True, text=True, timeout=60)
            self.assertEqual(verified.returncode, 0, verified.stdout)


if __name__ == "__main__":
    unittest.main()
