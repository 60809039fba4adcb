"""A referee that lies: the manager refuses what does not follow from seed, choices and nonces, and the match stays open."""

import copy
import hashlib
import unittest

import support_path  # noqa: F401
import true_report
from conversation_log import Log
from league_testing import LeagueTest
from scripted_bot import Bot


def changed(result, path, value):
    """A copy with the value at `path` (keys separated by dots) replaced; None takes it away."""
    copied = copy.deepcopy(result)
    *outer, last = path.split(".")
    place = copied
    for key in outer:
        place = place[key]
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return copied


class FalseReports(LeagueTest):
    def setUp(self):
        super().setUp()
        self.manager = self.start_manager(2, 1)
        for name in ("p0", "p1"):
            self.bot(name).join(self.manager)

    def bot(self, name):
        bot = Bot(name)
        self.addCleanup(bot.close)
        return bot

    def referee(self, **meta):
        """A referee of the test's own, and its match."""
        referee = self.bot("r0").join_as_referee(self.manager, **meta)
        return referee, referee.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]

    def test_an_assigned_referee_that_lies_is_refused(self):
        referee, match = self.referee(match_credentials=True)
        a, b = match["player_A_id"], match["player_B_id"]
        true = true_report.result_of(match)
        number = true["details"]["drawn_number"]
        lost = true_report.technical_result_of(match)
        commitment = hashlib.sha256(b"x").hexdigest()
        clock = {"limit_ms": 5000, "gave_up_at": "2025-01-15T10:30:00.000000Z", "scheduling_delay_us": 0, "canary_us": 0,
                 "void": False}
        swapped = {a: true["details"]["choices"][b], b: true["details"]["choices"][a]}
        other_winner = {**true, "winner": b if true["winner"] == a else a,
                        "score": {a: 3 * (true["winner"] != a), b: 3 * (true["winner"] == a)}}
        lies = {
            "another seed": changed(true, "details.draw_proof", "00" * 32),
            "no seed": changed(true, "details.draw_proof", None),
            "a seed that is none": changed(true, "details.draw_proof", "zz"),
            "another number": changed(true, "details.drawn_number", number % 10 + 1),
            "number 0": changed(true, "details.drawn_number", 0),
            "number 11": changed(true, "details.drawn_number", 11),
            "no number": changed(true, "details.drawn_number", None),
            "lying parity": changed(true, "details.number_parity", "odd" if number % 2 == 0 else "even"),
            "a choice that is none": changed(true, f"details.choices.{a}", "both"),
            "a choice is missing": changed(true, f"details.choices.{a}", None),
            "the other winner": other_winner,
            "a winner who does not play": {**true, "winner": "P99"},
            "more points": {**true, "score": {a: 2, b: 0}},
            "points for a stranger": {**true, "score": {**true["score"], "P99": 3}},
            "draw version 2 without commitments": changed(true, "details.draw_version", 2),
            "a commitment nobody opened": changed(true, "details.choice_commitments", {a: commitment}),
            "a nonce without a commitment": changed(true, "details.choice_nonces", {a: commitment}),
            "a technical loss without a failure": changed(lost, "details.failures", []),
            "a technical loss by the winner's failure": true_report.technical_result_of(match, player_id=a),
            "a time-out without evidence": true_report.technical_result_of(match, error_code="E001"),
            "a time-out of a late referee": true_report.technical_result_of(
                match, error_code="E001", clock={**clock, "canary_us": 900000, "void": True}),
            "a technical loss with a number": changed(lost, "details.drawn_number", 4),
            "a technical loss without the seed": changed(lost, "details.draw_proof", None),
        }
        if swapped != true["details"]["choices"] and true["winner"]:
            lies["swapped choices"] = changed(true, "details.choices", swapped)
        for lie, result in lies.items():
            with self.subTest(lie):
                answer = true_report.report(referee, self.manager, match, result)
                self.assertEqual(answer.error_code(), "E035", f"{lie}: {answer}")
                self.assertLess(len(answer.text), 2000)
        for lie, change in {"another round": {"round_id": 2}, "another game": {"game_type": "chess"},
                            "another conversation": {"conversation_id": "convr1m1009"}}.items():
            with self.subTest(lie):
                answer = true_report.report(referee, self.manager, match, true, **change)
                self.assertEqual(answer.error_code(), "E035", f"{lie}: {answer}")
        self.assertEqual(self.status(self.manager)["matches_completed"], 0, "no lie has become a result")
        self.assertIsNone(true_report.report(referee, self.manager, match, true).error_code())
        self.assertNotIn("unproven", self.status(self.manager))

    def test_a_referee_of_other_origin_may_keep_the_seed_and_everybody_sees_it(self):
        referee, match = self.referee()
        result = changed(true_report.result_of(match), "details.draw_proof", None)
        self.assertIsNone(true_report.report(referee, self.manager, match, result).error_code())
        self.assertEqual(self.status(self.manager)["unproven"], ["R1M1"])
        self.stop_programs()
        self.assertIn("unproven", self.manager.program.stderr())


class StrictOperator(FalseReports):
    """The same league, whose operator accepts nothing without proof."""

    def setUp(self):
        LeagueTest.setUp(self)
        self.manager = self.start_manager(2, 1, "--unproven-referees", "none")
        for name in ("p0", "p1"):
            self.bot(name).join(self.manager)

    def test_a_referee_of_other_origin_may_keep_the_seed_and_everybody_sees_it(self):
        referee, match = self.referee()
        true = true_report.result_of(match)
        answer = true_report.report(referee, self.manager, match, changed(true, "details.draw_proof", None))
        self.assertEqual(answer.error_code(), "E035")
        self.assertIn("--unproven-referees", answer.text)
        self.assertIsNone(true_report.report(referee, self.manager, match, true).error_code())


class Disputes(LeagueTest):
    """A player that says that a result is false is heard, and nothing else changes."""

    def test_a_dispute_is_kept_and_shown(self):
        manager = self.start_manager(2, 1)
        players = []
        for name in ("p0", "p1"):
            bot = Bot(name)
            self.addCleanup(bot.close)
            players.append(bot.join(manager))
        referee = Bot("r0")
        self.addCleanup(referee.close)
        referee.join_as_referee(manager, match_credentials=True)
        match = referee.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]

        def dispute(bot, match_id="R1M1", **fields):
            answer = bot.say(manager, "league_query", "LEAGUE_QUERY", query_type="DISPUTE_MATCH",
                             query_params={"match_id": match_id, "reason": "my choice was odd\n\x1b[2J forged line"}, **fields)
            return answer.result() or {}

        self.assertFalse(dispute(players[0])["success"], "there is no result yet")
        self.assertIsNone(true_report.report(referee, manager, match, true_report.result_of(match)).error_code())
        self.assertFalse(dispute(players[0], "R9M9")["success"])
        self.assertFalse(dispute(referee, role="referee")["success"], "a referee disputes nothing")
        standings = self.standings(manager)
        for _ in range(2):
            answer = dispute(players[0])
            self.assertTrue(answer["success"] and answer["data"]["disputed"], answer)
        self.assertEqual(self.status(manager)["disputed"], {"R1M1": [players[0].id]})
        self.assertEqual(self.standings(manager), standings, "the result stands")
        self.stop_programs()
        self.assertEqual(manager.program.stderr().count("disputes the result of R1M1"), 1)
        self.assertNotIn("\x1b", manager.program.stderr(), "a stranger's words do nothing to the operator's terminal")
        self.assertIn("DISPUTE_MATCH", Log(self.logs).text())


if __name__ == "__main__":
    unittest.main()
