"""Games as files: whole leagues of the real programs, interrupted and continued, which both verifiers judge by the
definition that the league carries; and what the programs say of a file that is no game."""

import csv
import json
import random
import subprocess
import sys
import unittest
from collections import Counter
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits, wait_until
from nats_broker import NatsBroker, why_no_bus

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


class VoidAndKilled(GamesTest):
    """A match of a league is void and played again, and the manager is killed in the middle."""

    # Who is away for a moment must not be given up.
    patience = limits(bus={"keep_alive_ms": 200}, retry={"delay_ms": 100}, life_cycle={"suspend_after_failed_matches": 1000},
                      league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15})
    bus = ()

    def start(self, name, *arguments, limits=None, port=0):
        return super().start(name, *self.bus, *arguments, limits=self.patience, port=port)

    def start_league(self, game, *transports):
        """Four players have registered, a slow one and another one of each kind, so that the league has a middle."""
        endpoints = ("--endpoints", f"any,unix:{self.directory}/")
        manager = self.start_manager(4, 2, "--game", game, "--meetings", 2, *endpoints)
        told = Agent(manager.program, f"nats:manager/{manager.id}", manager.id) if self.bus else manager
        for i, strategies in enumerate((("slow:100", "frequency"), ("slow:100", "markov"))):
            self.start_referee(told, "--data", self.directory / "agents", *endpoints, name=f"whistle{i}")
            for transport, strategy in zip(transports, strategies):
                way = [] if self.bus else ["--transport", transport]
                if transport == "unix":
                    way += ["--socket", self.directory / f"player{i}.sock"]
                self.start_players(told, 1, strategy, "--data", self.directory / "agents", *way, name=strategy.split(":")[0] + str(i))
        return manager

    def play(self, game, *transports):
        manager = self.start_league(game, *transports)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        done = self.run_league("admin", "void", manager.url, "R1M1", "--replay", "--reason", "disputed", "--by", "Ann",
                               "--operator-key", self.directory / "data" / "operator.key")
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until(lambda: self.status(manager)["current_round"] >= 3, 30, "round 3")
        manager.program.kill()
        manager.program = self.start("league_manager", "--data", self.directory / "data", port=urlsplit(manager.url).port)
        manager.program.ready()
        status = self.wait_until_over(manager)
        self.assertEqual((status["matches_completed"], status["total_matches"], status["technical_losses"]), (12, 12, 0))
        self.assertEqual(status["voided"], {"R1M1": "R7M1"})
        table = {row["player_id"]: row["points"] for row in self.standings(manager)}
        self.stop_programs()
        self.assertEqual(table, self.points_by_the_file(game))
        self.assert_verified("R1M1 is void, by Ann (disputed); played again as R7M1")

    def points_by_the_file(self, game):
        """What the choices in the matches that count are worth."""
        payoffs = json.loads((SOURCE / "games" / f"{game}.json").read_text())["payoffs"]
        exported = self.run_league("export", self.directory, "--out", self.directory / "export", "--format", "csv")
        self.assertEqual(exported.returncode, 0, exported.stderr)
        points = Counter()
        with open(self.directory / "export" / "matches.csv", encoding="utf-8-sig") as file:
            for match in csv.DictReader(file):
                if match["result"] == "VOID":
                    continue
                for own, other in ("AB", "BA"):
                    points[match[f"player_{own}_id"]] += payoffs[match[f"choice_{own}"]][match[f"choice_{other}"]]
        return points

    def test_over_sockets(self):
        self.play("prisoners_dilemma", "unix", "websocket")

    def test_three_words_over_sockets(self):
        self.play("rock_paper_scissors", "unix", "websocket")

    def test_over_a_bus(self):
        self.over_a_bus("prisoners_dilemma")

    def test_three_words_over_a_bus(self):
        self.over_a_bus("rock_paper_scissors")

    def over_a_bus(self, game):
        if why := why_no_bus(BIN):
            self.skipTest(why)
        with NatsBroker() as broker:
            self.bus = ("--bus", broker.url)
            self.play(game, "nats", "nats")


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
        self.assertEqual(self.start_referee(manager, name="another").id, "REF01")

    def test_processes_that_referees_start_know_the_game_that_only_the_manager_has(self):
        allowed = f"stdio:{BIN / 'player'}"
        manager = self.start_manager(2, 1, "--game", str(self.write(FIFTH)), "--endpoints", f"local,{allowed}")
        self.start_referee(manager, "--endpoints", f"any,{allowed}")
        self.start_players(manager, 1)
        child = f"{allowed} --transport stdio --name child --strategy tit_for_tat --data {self.directory}/child --logs {self.logs}"
        entered = self.run_league("enter", manager.url, "--name", "child", "--game", "stag_hunt", "--endpoint", child)
        self.assertEqual(entered.returncode, 0, entered.stderr)
        status = self.wait_until_over(manager)
        self.assertEqual((status["matches_completed"], status["technical_losses"]), (1, 0), manager.program.stderr())
        self.stop_programs()  # and with them their children, which write logs
        self.assert_verified()

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
