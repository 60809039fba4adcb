"""`league check` with the starter bots that use no library: each reaches its level, in Even/Odd and in another game."""

import shutil
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import IS_NIGHTLY
from test_check import BOTS, CheckTest


class StarterBots(CheckTest):
    def check(self, command, is_whole=IS_NIGHTLY):
        """In full, or as much as there is time for; then in another game, at least what depends on the game."""
        words = ["--start", f"{command} --manager {{manager}} --port {{port}} --data {self.place}/bot.json"]
        complete = ["--require", "robust"]
        self.assertEqual(self.not_passed(self.report(*words, *(complete if is_whole else ["--require", "plays", "--fast"]))), {})
        (self.place / "bot.json").unlink()
        of_the_game = complete if IS_NIGHTLY else ["--only", "P-4*", "--only", "P-7*", "--fast"]
        self.assertEqual(self.not_passed(self.report(*words, *of_the_game, "--game", "rock_paper_scissors")), {})

    def check_that_it_plays(self, endpoint):
        self.assertIn(self.report(endpoint, "--require", "plays", "--fast")["level"], ("plays", "conforms"))
        report = self.report(endpoint, "--only", "P-4.7", "--only", "P-4.9", "--fast", "--game", "rock_paper_scissors")
        self.assertEqual(self.not_passed(report), {})

    def test_python(self):
        self.check(f"python3 {BOTS}/python/bot.py", is_whole=True)

    @unittest.skipUnless(shutil.which("node"), "node is missing")
    def test_node(self):
        self.check(f"node {BOTS}/node/bot.mjs")

    @unittest.skipUnless(shutil.which("c++") and shutil.which("pkg-config"), "a C++ compiler or pkg-config is missing")
    def test_cpp(self):
        # The compile definitions of Debian's package are part of the library's ABI.
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "cpp-httplib"], capture_output=True, text=True)
        if found.returncode != 0:
            self.skipTest("cpp-httplib is missing")
        words = ["-std=c++20", "-O0", BOTS / "cpp" / "bot.cpp", "-o", self.place / "bot", *found.stdout.split(), "-lcrypto", "-lpthread"]
        subprocess.run(["c++", *map(str, words)], check=True)
        self.check(f"{self.place}/bot")

    @unittest.skipUnless(shutil.which("go"), "go is missing")
    def test_go(self):
        subprocess.run(["go", "build", "-o", self.place / "bot", BOTS / "go" / "bot.go"], check=True)
        self.check(f"{self.place}/bot")

    @unittest.skipUnless(shutil.which("java"), "java is missing")
    def test_java(self):
        self.check(f"java {BOTS}/java/Bot.java")

    def test_shell(self):
        self.check_that_it_plays(f"stdio:{BOTS}/shell/bot.sh")

    @unittest.skipUnless(shutil.which("rustc"), "rustc is missing")
    def test_rust(self):
        subprocess.run(["rustc", "-O", BOTS / "rust" / "bot.rs", "-o", self.place / "bot"], check=True)
        self.check_that_it_plays(f"stdio:{self.place}/bot")


if __name__ == "__main__":
    unittest.main()
