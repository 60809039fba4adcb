"""Games as files: whole leagues of the real programs, interrupted and continued, which both verifiers judge by the
definition that the league carries; and what the programs say of a file that is no game."""

import json
import random
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, LeagueTest

sys.path.insert(0, str(SOURCE / "tests" / "crash"))
from interrupt_up import InterruptedLeague, interrupt_often, verify_log  # noqa: E402

FIFTH = {"game_type": "stag_hunt", "choices": ["stag", "hare"],
         "payoffs": {"stag": {"stag": 9, "hare": 0}, "hare": {"stag": 7, "hare": 5}},
         "technical": {"winner": 7, "loser": 0, "both": 0}}


class GamesTest(LeagueTest):
    def write(self, game, name="game.json"):
        file = self.directory / name
        file.write_text(json.dumps(game))
        return file

    def run_league(self, *words):
        return subprocess.run([BIN / "league", *map(str, words)], capture_output=True, timeout=60, text=True)


class WholeLeagues(GamesTest):
    def play(self, game, transports, words, directory=None):
        league = InterruptedLeague(directory or self.directory, "--game", str(game), "--transport", transports, players=4, meetings=2,
                                   strategy=",".join([*words, "slow:60", "tit_for_tat"]))
        self.addCleanup(league.end)
        interrupt_often(league, 2, random.Random(5))
        result = league.finish()
        league.check(result)
        return result

    def test_each_game_over_two_transports_with_restarts(self):
        for name, transports, words in (("matching_pennies", "http,tcp", ["heads", "markov"]),
                                        ("rock_paper_scissors", "websocket,outward", ["paper", "frequency"]),
                                        ("prisoners_dilemma", "unix,stdio", ["defect", "grim"])):
            with self.subTest(game=name):
                directory = self.directory / name
                directory.mkdir()
                points = {row["display_name"].rsplit("-", 1)[0]: row["points"]
                          for row in self.play(name, transports, words, directory)["standings"]}
                if name == "prisoners_dilemma":
                    self.assertGreater(points["defect"], points["tit_for_tat"])  # it exploits the random one most

    def test_a_fifth_game_is_a_file(self):
        self.play(self.write(FIFTH), "http,outward", ["hare", "win_stay_lose_shift"])
        created = verify_log.Journal(str(self.directory)).game
        self.assertEqual((created.name, created.choices), ("stag_hunt", ("stag", "hare")))


class Definitions(GamesTest):
    def test_a_mistake_is_named_with_file_place_and_rule(self):
        missing, unknown, wrong = (json.loads(json.dumps(FIFTH)) for _ in range(3))
        del missing["payoffs"]["stag"]["hare"]
        unknown["payoffs"]["deer"] = {}
        wrong["payoffs"]["hare"]["stag"] = "7"
        for game, text in ((missing, "/payoffs/stag/hare: is missing"),
                           (unknown, "/payoffs/deer: is none of the choices stag, hare"),
                           (wrong, "/payoffs/hare/stag: must be a whole number from 0 to 100")):
            file = self.write(game, "bad.json")
            for command in (["up", "--game", file], ["spar", "random", "--game", file]):
                done = self.run_league(*command)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"bad.json: {text}", done.stderr)
            done = subprocess.run([BIN / "league_manager", "--game", file], capture_output=True, timeout=30, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"bad.json: {text}", done.stderr)

    def test_who_knows_the_game_with_other_rules_ends_before_the_first_match(self):
        manager = self.start_manager(2, 1, "--game", str(self.write(FIFTH)))
        other = self.write({**FIFTH, "technical": {"winner": 9, "loser": 0, "both": 0}}, "other.json")
        for program, admission in (("referee", self.admission(manager)), ("player", [])):
            agent = self.start(program, "--manager", manager.url, "--name", "whistle", *admission, "--game", str(other))
            self.assertNotEqual(agent.process.wait(30), 0)
            self.assertIn("two games are called stag_hunt and differ", agent.whole_stderr())
        self.assertEqual(self.status(manager)["matches_completed"], 0)

    def test_a_bot_is_checked_and_spars_in_the_game(self):
        done = self.run_league("spar", "rock", "--against", "paper", "--matches", "20", "--game", "rock_paper_scissors")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("wins 20, draws 0, losses 0", done.stdout)
        bot = self.start_standalone()
        done = self.run_league("check", bot, "--game", "prisoners_dilemma", "--format", "json")
        report = json.loads(done.stdout)
        failed = [one["id"] for one in report["bots"][0]["checks"] if one["outcome"] == "failed"]
        self.assertEqual((done.returncode, failed), (0, []), done.stdout)

    def start_standalone(self):
        player = self.start("player", "--standalone", "--strategy", "tit_for_tat")
        return player.ready()[0][0]


if __name__ == "__main__":
    unittest.main(verbosity=2)
