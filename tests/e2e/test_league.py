"""Whole leagues of the three programs: matches, table, champion, the 18 messages on the wire."""

import json
import os
import signal
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from draft07 import violations
from league_testing import SOURCE, LeagueTest, limits, rpc, wait_until
from scripted_bot import Bot

STRATEGIES = "random,even,odd,alternate,frequency,opposite"


def message_types():
    """The 18, as the names of the schema files say them."""
    stems = {path.name.removesuffix(".schema.json") for path in (SOURCE / "schemas").glob("*.schema.json")}
    return {stem.upper() for stem in stems - {"envelope", "jsonrpc"}}


class WholeLeague(LeagueTest):
    def test_eight_players_two_referees(self):
        manager = self.start_manager(8, 2)
        referees = [self.start_referee(manager, name=f"whistle{i}") for i in (1, 2)]
        self.start_players(manager, 8, STRATEGIES)
        status = self.wait_until_over(manager, 20)
        self.assertEqual(status["total_matches"], 28)
        self.assertEqual(status["technical_losses"], 0)
        rows = self.assert_table_agrees(manager)
        self.assertEqual(sum(row["points"] for row in rows), 3 * status["wins"] + 2 * status["draws"])
        self.wait_until_logged("GAME_OVER", 2 * 28)
        self.wait_until_logged("LEAGUE_COMPLETED", 8 + 2)
        self.stop_programs()
        log = Log(self.logs)
        by_referee = {r.id: len(log.matching(agent="referee:" + r.id, message_type="MATCH_RESULT_REPORT", dir="out"))
                      for r in referees}
        self.assertEqual(sum(by_referee.values()), 28)
        self.assertLessEqual(abs(by_referee["REF01"] - by_referee["REF02"]), 8, "the load is even")
        lenient = [r for r in log.records if r.get("leniencies")]
        self.assertEqual(lenient, [], "our programs are exact")
        self.assertEqual(log.verdicts(), set(), "our programs refuse nothing of each other")

    def test_fifty_players_lose_and_double_no_match(self):
        manager = self.start_manager(50, 2)
        for i in (1, 2):
            self.start_referee(manager, "--max-matches", 16, name=f"whistle{i}")
        self.start_players(manager, 50, STRATEGIES)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["matches_completed"], 1225)
        self.assertEqual(status["technical_losses"], 0)
        self.assert_table_agrees(manager)
        self.stop_programs()
        reports = Log(self.logs).accepted_reports()
        self.assertEqual(len(reports), 1225)
        self.assertEqual([match for match, accepted in reports.items() if len(accepted) != 1], [])
        pairs = {frozenset(accepted[0]["result"]["score"]) for accepted in reports.values()}
        self.assertEqual(len(pairs), 1225, "everybody meets everybody once")

    def test_all_message_types_appear_and_validate(self):
        manager = self.start_manager(3, 1)
        self.start_players(manager, 2)
        clumsy = Bot("clumsy")
        self.addCleanup(clumsy.close)
        clumsy.answer = lambda frame: self.wrong_once(clumsy, frame)
        clumsy.join(manager)
        refused = clumsy.say(manager, "league_query", "LEAGUE_QUERY", token="wrong", query_type="GET_STANDINGS")
        self.assertEqual(refused.error_code(), "E012")
        asked = clumsy.say(manager, "league_query", "LEAGUE_QUERY", query_type="GET_SCHEDULE")
        self.assertTrue(asked.result()["success"])
        self.start_referee(manager)
        self.wait_until_over(manager)
        clumsy.wait_for("LEAGUE_COMPLETED")
        self.stop_programs()
        log = Log(self.logs)
        types = message_types()
        self.assertEqual(len(types), 18)
        for name in sorted(types):
            with self.subTest(message_type=name):
                schema = json.loads((SOURCE / "schemas" / f"{name.lower()}.schema.json").read_text())
                found = [m for m in log.messages(name) if m.get("parity_choice") != "Even"]
                self.assertTrue(found, f"{name} is on no wire")
                for one in found:
                    self.assertEqual(violations(schema, one), [], one)

    @staticmethod
    def wrong_once(bot, frame):
        """An exact player, whose first choice is none."""
        answer = Bot.answer(bot, frame)
        first = len(bot.received("CHOOSE_PARITY_CALL")) == 1
        if first and "parity_choice" in answer["result"]:
            answer["result"]["parity_choice"] = "Even"
        return answer

    def test_a_league_starts_by_the_operators_key(self):
        manager = self.start_manager(10, 1)
        self.start_players(manager, 3)
        self.start_referee(manager)
        started = rpc(manager.url, "start_league", {"operator_key": self.operator_key()})
        self.assertIsNone(started.error_code(), started)
        self.assertEqual(self.wait_until_over(manager)["total_matches"], 3)

    def test_a_league_starts_when_the_window_closes(self):
        manager = self.start_manager(10, 1, "--registration-window", 1)
        self.start_players(manager, 4)
        self.start_referee(manager)
        self.assertEqual(self.wait_until_over(manager)["total_matches"], 6)


class ARefereeDies(LeagueTest):
    def test_the_league_ends_and_counts_each_match_once(self):
        quick = limits(league={"referee_ping_interval_ms": 100, "referee_ping_failures": 2},
                       time_limits_ms={"ROUND_ANNOUNCEMENT": 500, "ROUND_COMPLETED": 500})
        manager = self.start_manager(8, 2, limits=quick)
        first = self.start_referee(manager, name="first", limits=quick)
        self.start_referee(manager, name="second", limits=quick)
        self.start_players(manager, 7, limits=quick)
        # The slow player keeps matches open, so that the referee dies in the middle of one.
        self.start_players(manager, 1, "slow:150", name="slow", limits=quick)
        wait_until(lambda: self.status(manager)["matches_completed"] >= 5, 20, "five matches are played")
        os.kill(first.program.process.pid, signal.SIGKILL)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["matches_completed"], 28)
        self.assertEqual(status["technical_losses"], 0, "no player pays for a dead referee")
        self.assert_table_agrees(manager)
        self.stop_programs()
        reports = Log(self.logs).accepted_reports()
        self.assertEqual(sorted(map(len, reports.values())), [1] * 28)
        again = [r for r in reports.values() if r[0]["result"]["details"]["attempt"] > 1]
        self.assertTrue(again, "what the dead referee had was played by the other")


if __name__ == "__main__":
    unittest.main()
