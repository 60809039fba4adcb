"""`league new-bot`: the bots that it writes play a league, as they are."""

import shutil
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest

LANGUAGES = {"python": [sys.executable, "bot.py"], "javascript": ["node", "bot.mjs"]}


class NewBot(LeagueTest):
    def make(self, language, directory, *options):
        return subprocess.run([BIN / "league", "new-bot", language, directory, *options], capture_output=True, text=True,
                              timeout=20)

    def start_bot(self, language, directory, manager):
        bot = subprocess.Popen([*LANGUAGES[language], "--manager", manager.url], cwd=directory, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        for clean_up in (bot.stderr.close, bot.wait, bot.kill):
            self.addCleanup(clean_up)

    def test_its_bots_play_a_league(self):
        languages = [language for language, (program, _) in LANGUAGES.items() if shutil.which(program)]
        manager = self.start_manager(2 + len(languages), 1)
        self.start_referee(manager)
        self.start_players(manager, 2)
        for language in languages:
            directory = self.directory / "bots" / f"{language} bot"
            done = self.make(language, directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(LANGUAGES[language][1], done.stdout)
            self.start_bot(language, directory, manager)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["technical_losses"], 0)
        names = {row["display_name"] for row in self.standings(manager)}
        self.assertLessEqual({f"{language} bot" for language in languages}, names)
        self.stop_programs()
        self.assert_verified()

    def test_what_is_there_stays(self):
        directory = self.directory / "mine"
        self.assertEqual(self.make("python", directory, "--name", "mine").returncode, 0)
        (directory / "bot.py").write_text("my strategy")
        again = self.make("javascript", directory)
        self.assertEqual(again.returncode, 2)
        self.assertIn("is not empty, and nothing is overwritten: it has README.md and 2 more", again.stderr)
        self.assertEqual((directory / "bot.py").read_text(), "my strategy")
        self.assertEqual(self.make("cobol", self.directory / "other").returncode, 2)


if __name__ == "__main__":
    unittest.main()
