"""Bots that are slow, silent, crashing or lying lose their own matches and nobody else's."""

import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import LeagueTest, limits

# Attempts are few and short, so that the league of a dead bot still ends soon.
IMPATIENT = limits(
    retry={"max_attempts": 2, "delay_ms": 20},
    time_limits_ms={
        "GAME_INVITATION": 600, "CHOOSE_PARITY_CALL": 600, "GAME_OVER": 300, "GAME_ERROR": 300,
        "ROUND_ANNOUNCEMENT": 500, "LEAGUE_STANDINGS_UPDATE": 500, "ROUND_COMPLETED": 500, "LEAGUE_COMPLETED": 500,
    },
)

# For bots that answer at once; a megabyte may take a busy machine longer than what is impatient allows.
NOBODY_IS_LATE = {**IMPATIENT, "time_limits_ms": {}}

# How a bot's first lost match ended, and the code of the failure that the report names.
EXPECTED = {
    "slow:2500": ("TIMEOUT_JOIN", "E001"),
    "silent": ("TIMEOUT_JOIN", "E001"),
    "crash": ("CONNECTION_CHOICE", "E009"),
    "garbage": ("INVALID_REPLY", "E010"),
    "invalid": ("INVALID_CHOICE", "E004"),
    "wrong-match": ("WRONG_MATCH", "E015"),
    "huge": ("INVALID_REPLY", "E093"),
}
# What may follow once the referee has given up on a bot: it is pinged, then it is taken to be gone.
LATER = {"PLAYER_UNAVAILABLE", "CONNECTION_JOIN"}


class Misbehaviour(LeagueTest):
    def play(self, honest, bad_strategies, referee_options=(), patience=IMPATIENT):
        manager = self.start_manager(honest + len(bad_strategies), 1, limits=patience)
        self.start_referee(manager, "--max-matches", 16, *referee_options, limits=patience)
        bad = {}
        # One is first in its matches; the others soon meet honest ones, before they are taken to be gone.
        self.start_bad(manager, bad_strategies[:1], bad)
        good = {p.id for p in self.start_players(manager, honest, "random,even,odd,alternate")}
        self.start_bad(manager, bad_strategies[1:], bad)
        status = self.wait_until_over(manager, 60)
        self.assert_table_agrees(manager)
        rows = {row["player_id"]: row for row in self.standings(manager)}
        self.stop_programs()
        return status, rows, good, bad, Log(self.logs)

    def start_bad(self, manager, strategies, bad):
        for strategy in strategies:
            agent, = self.start_players(manager, 1, strategy, name="bad_" + strategy.split(":")[0].replace("-", "_"))
            bad[agent.id] = strategy

    def assert_others_untouched(self, good, log):
        reports = log.accepted_reports()
        honest = [r[0] for r in reports.values() if set(r[0]["result"]["score"]) <= good]
        self.assertEqual(len(honest), len(good) * (len(good) - 1) // 2)
        for report in honest:
            details = report["result"]["details"]
            self.assertEqual(details["termination"], "NORMAL", report)
            # What was the referee's own delay on a busy machine, and counts for nobody, is no bot's doing.
            failures = [one for one in details.get("failures", []) if not one.get("clock", {}).get("void")]
            self.assertEqual(failures, [], report)
            self.assertIn(details["drawn_number"], range(1, 11), report)

    def assert_losses_named(self, bad, log):
        """Every match against a bad bot is its technical loss, and the report says why."""
        first_reasons = {}
        for match, (report, *_) in sorted(log.accepted_reports().items(), key=lambda kv: int(kv[0][1:].split("M")[0])):
            culprits = [player for player in report["result"]["score"] if player in bad]
            if not culprits:
                continue
            details = report["result"]["details"]
            if details["termination"] == "BOTH_FAILED":
                self.assertIsNone(report["result"]["winner"], report)
                self.assertEqual(len(culprits), 2, report)
            elif len(culprits) == 2:
                # The one that failed the invitation lost; the other was never asked to choose.
                culprits = [player for player in culprits if report["result"]["score"][player] == 0]
                self.assertEqual(len(culprits), 1, report)
            else:
                player, = culprits
                self.assertEqual(report["result"]["score"][player], 0, report)
                self.assertEqual(sum(report["result"]["score"].values()), 3, report)
                reason, _ = EXPECTED[bad[player]]
                self.assertIn(details["termination"], {reason, *LATER}, f"{bad[player]}: {report}")
                first_reasons.setdefault(player, details)
            for player in culprits:
                named = [f for f in details["failures"] if f["player_id"] == player]
                self.assertTrue(named, f"{match} does not name the failure of {bad[player]}: {details}")
        for player, strategy in bad.items():
            reason, code = EXPECTED[strategy]
            details = first_reasons[player]
            with self.subTest(strategy=strategy):
                self.assertEqual(details["termination"], reason, details)
                self.assertIn(code, {f["error_code"] for f in details["failures"]}, details)
                told = [r for r in log.matching(dir="out", kind="request", message_type="GAME_ERROR")
                        if r["message"]["affected_player"] == player]
                self.assertIn(code, {r["message"]["error_code"] for r in told}, "the referee tells the player")

    def test_a_match_waits_for_no_other_one(self):
        # Six calls at once; one after the other, the last bot would be asked 2.5 s late, in its own time.
        few = limits(calls={"game": 1})
        manager = self.start_manager(6, 1)
        self.start_referee(manager, "--max-matches", 3, limits=few)
        self.start_players(manager, 6, "slow:500")
        self.wait_until_over(manager, 60)
        self.stop_programs()
        waits = [record["elapsed_us"] for answer in ("GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE")
                 for record in Log(self.logs).matching(dir="in", kind="reply", message_type=answer)]
        self.assertEqual(len(waits), 2 * 2 * 15)
        self.assertLess(max(waits), 2_000_000)

    def test_slow_silent_crash_garbage_in_a_league_of_twelve(self):
        status, _, good, bad, log = self.play(8, ["slow:2500", "silent", "crash", "garbage"])
        self.assertEqual(status["total_matches"], 66)
        self.assertEqual(status["technical_losses"], 66 - 28)
        self.assert_others_untouched(good, log)
        self.assert_losses_named(bad, log)

    def test_invalid_wrong_match_and_huge(self):
        status, _, good, bad, log = self.play(4, ["invalid", "wrong-match", "huge"], patience=NOBODY_IS_LATE)
        self.assertEqual(status["total_matches"], 21)
        self.assertEqual(status["technical_losses"], 21 - 6)
        self.assert_others_untouched(good, log)
        self.assert_losses_named(bad, log)

    def test_without_token_is_a_leniency(self):
        status, _, _, bad, log = self.play(2, ["no-token"])
        self.assertEqual(status["technical_losses"], 0)
        player, = bad
        self.assertIn("missing_reply_token", log.leniencies(peer="player:" + player))

    def test_without_token_is_refused_in_strict_mode(self):
        status, _, _, bad, log = self.play(2, ["no-token"], ["--mode", "strict"])
        self.assertEqual(status["technical_losses"], 2)
        reasons = {r[0]["result"]["details"]["termination"] for r in log.accepted_reports().values()}
        self.assertEqual(reasons, {"NORMAL", "AUTH_FAILED"})
        self.assertIn("E011", log.verdicts())


if __name__ == "__main__":
    unittest.main()
