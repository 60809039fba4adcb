"""What a cheating player may try: every attempt is refused with its code, stands in the log, and shows no token."""

import threading
import unittest

import support_path  # noqa: F401
import true_report
from conversation_log import Log
from league_testing import LeagueTest, limits, message, player_registration, rpc
from scripted_bot import Bot

# Match ids and results as the attacker would like them.
STOLEN = {
    "round_id": 1,
    "match_id": "R1M1",
    "game_type": "even_odd",
    "result": {"winner": "P01", "score": {"P01": 3, "P02": 0},
               "details": {"drawn_number": 2, "choices": {"P01": "even", "P02": "odd"}}},
}


class Attacks(LeagueTest):
    def setUp(self):
        super().setUp()
        self.manager = self.start_manager(2, 1, limits=limits(time_limits_ms={"CHOOSE_PARITY_CALL": 20000}))
        self.attacker = self.bot("attacker", Bot).join(self.manager)

    def bot(self, name, kind):
        bot = kind(name)
        self.addCleanup(bot.close)
        return bot

    def assert_refused(self, answer, code):
        self.assertEqual(answer.error_code(), code, answer)

    def assert_logged(self, log, code, message_type):
        found = [r for r in log.matching(dir="in", kind="request", verdict=code) if r["message_type"] == message_type]
        self.assertTrue(found, f"no record of a {message_type} that was refused with {code}")
        self.assertTrue(all(r["fault"] for r in found))

    def assert_no_token_in_logs(self, secrets):
        text = Log(self.logs).text()
        self.assertGreater(len(text), 1000)
        for secret in secrets:
            self.assertNotIn(secret, text)

    def test_report_a_result(self):
        self.start_referee(self.manager)
        for sender, code in (("player:P01", "E014"), ("referee:REF01", "E012"), ("referee:P01", "E013")):
            answer = self.attacker.say(self.manager, "report_match_result", "MATCH_RESULT_REPORT", sender=sender,
                                       **STOLEN)
            self.assert_refused(answer, code)
        without = self.attacker.say(self.manager, "report_match_result", "MATCH_RESULT_REPORT",
                                    sender="referee:REF01", token=None, **STOLEN)
        self.assert_refused(without, "E011")
        self.stop_programs()
        log = Log(self.logs)
        for code in ("E011", "E012", "E013", "E014"):
            self.assert_logged(log, code, "MATCH_RESULT_REPORT")
        self.assert_no_token_in_logs([self.attacker.token])

    def test_take_anothers_identity_or_token(self):
        victim, = self.start_players(self.manager, 1)
        as_victim = self.attacker.say(self.manager, "league_query", "LEAGUE_QUERY", sender="player:" + victim.id,
                                      query_type="GET_STANDINGS")
        self.assert_refused(as_victim, "E012")
        as_manager = self.attacker.say(self.manager, "league_query", "LEAGUE_QUERY", sender="league_manager",
                                       query_type="GET_STANDINGS")
        self.assert_refused(as_manager, "E014")
        guess = "tok_" + victim.id.lower() + "_" + "a" * 52
        guessed = self.attacker.say(self.manager, "league_query", "LEAGUE_QUERY", sender="player:" + victim.id,
                                    token=guess, query_type="GET_STANDINGS")
        self.assert_refused(guessed, "E012")
        self.assertNotIn(guess, guessed.text, "not even a wrong token is echoed")
        takeover = player_registration("bot", victim.url)
        takeover["player_meta"]["display_name"] = "not_bot"
        self.assert_refused(rpc(self.manager.url, "register_player", takeover), "E020")
        self.stop_programs()
        log = Log(self.logs)
        self.assert_logged(log, "E012", "LEAGUE_QUERY")
        self.assert_logged(log, "E014", "LEAGUE_QUERY")
        self.assert_no_token_in_logs([self.attacker.token, guess])

    def test_pose_as_the_manager_or_a_referee_to_a_player(self):
        victim, = self.start_players(self.manager, 1)
        news = {"league_id": self.manager.id, "round_id": 1}
        for sender in ("league_manager", "referee:REF01"):
            over = message("GAME_INVITATION" if sender != "league_manager" else "ROUND_COMPLETED", sender,
                           self.attacker.token, **news, match_id="R1M1", game_type="even_odd",
                           role_in_match="PLAYER_A", opponent_id="P01", matches_completed=1, next_round_id=None,
                           summary={"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0})
            over.setdefault("next_round_id", None)
            self.assert_refused(rpc(victim.url, over["message_type"], over), "E012")
        self.assert_refused(rpc(victim.url, "get_player_state", {"auth_token": self.attacker.token}), "E012")
        self.assert_refused(rpc(victim.url, "get_player_state"), "E011")

    def test_start_the_league(self):
        for arguments, code in (({}, "E011"), ({"operator_key": "op_guess_guess_guess"}, "E016"),
                                ({"operator_key": self.attacker.token}, "E016")):
            self.assert_refused(rpc(self.manager.url, "start_league", arguments), code)
        self.assertEqual(self.status(self.manager)["state"], "REGISTERING")
        self.stop_programs()
        log = Log(self.logs)
        self.assert_logged(log, "E016", "start_league")
        self.assert_no_token_in_logs([self.attacker.token, self.operator_key(), "op_guess_guess_guess"])

    def test_start_a_match(self):
        referee = self.start_referee(self.manager)
        for token, code in ((None, "E011"), (self.attacker.token, "E012")):
            arguments = {"match": {}, **({"auth_token": token} if token else {})}
            self.assert_refused(rpc(referee.url, "start_match", arguments), code)
        copy = message("ROUND_ANNOUNCEMENT", "league_manager", self.attacker.token, league_id=self.manager.id,
                       round_id=1, matches=[])
        self.assert_refused(rpc(referee.url, "notify_round", copy), "E012")
        self.stop_programs()
        self.assert_logged(Log(self.logs), "E012", "start_match")

    def test_read_the_opponents_choice(self):
        """While the attacker holds back its own choice, nobody tells it the other's, nor the number's seed."""
        peeked = {}

        class Peeper(Bot):
            def answer(bot, frame):
                if frame["params"].get("message_type") == "CHOOSE_PARITY_CALL":
                    bot.wait_for_other.wait(10)
                    peeked["state"] = rpc(referee.url, "get_match_state", {"match_id": frame["params"]["match_id"]})
                    peeked["schedule"] = bot.say(self.manager, "league_query", "LEAGUE_QUERY",
                                                 query_type="GET_SCHEDULE")
                    peeked["player"] = rpc(victim.url, "get_player_state", {"auth_token": bot.token})
                    peeked["call"] = frame["params"]
                return Bot.answer(bot, frame)

        manager = self.start_manager(2, 1, "--league", "peeping", data="peeping", limits=limits(
            time_limits_ms={"CHOOSE_PARITY_CALL": 20000}))
        self.manager = manager
        peeper = self.bot("peeper", Peeper)
        peeper.wait_for_other = threading.Event()
        peeper.join(manager)
        chosen = {}

        class Honest(Bot):
            def answer(bot, frame):
                if frame["params"].get("message_type") == "CHOOSE_PARITY_CALL":
                    chosen["at"] = True
                    peeper.wait_for_other.set()
                return Bot.answer(bot, frame)

        victim = self.bot("honest", Honest).join(manager)
        referee = self.start_referee(manager)
        self.wait_until_over(manager, 20)
        state = peeked["state"].result()
        self.assertEqual(state["state"], "COLLECTING_CHOICES")
        self.assertNotIn("choice", state["players"][victim.id])
        self.assertNotIn("drawn_number", state)
        for name in ("state", "schedule", "call", "player"):
            text = str(peeked[name])
            self.assertNotIn("draw_seed", text)
            self.assertNotIn('"parity_choice"', text if name != "player" else "")
        over = peeper.wait_for("GAME_OVER")
        self.assertNotIn(over["draw_proof"], str(peeked["state"]) + str(peeked["schedule"]) + str(peeked["call"]))
        after = rpc(referee.url, "get_match_state", {"match_id": "R1M1"}).result()
        self.assertEqual(after["players"][victim.id]["choice"], "even")
        credentials = {m["auth_token"] for b in (peeper, victim) for m in b.received("GAME_INVITATION")}
        self.assertEqual(len(credentials), 2)
        answer = peeper.say(manager, "league_query", "LEAGUE_QUERY", token=credentials.pop(),
                            query_type="GET_STANDINGS")
        self.assert_refused(answer, "E012")
        self.stop_programs()
        self.assert_no_token_in_logs([peeper.token, victim.token, *credentials])


class CheatingReferees(LeagueTest):
    """A referee that is ours to script holds real assignments and reports them as it likes."""

    def test_replay_change_and_steal_reports(self):
        manager = self.start_manager(4, 2)
        players = []
        for i in range(4):
            bot = Bot(f"bot{i}")
            self.addCleanup(bot.close)
            players.append(bot.join(manager))
        referees = []
        for i in range(2):
            bot = Bot(f"r{i}")
            self.addCleanup(bot.close)
            referees.append(bot.join_as_referee(manager, match_credentials=True))
        first, second = referees
        match = first.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]
        self.assertNotIn("player_A_token", match)
        true = true_report.result_of(match)

        def report(referee, result=true):
            return true_report.report(referee, manager, match, result)

        self.assertEqual(report(second).error_code(), "E032")
        accepted = report(first)
        self.assertIsNone(accepted.error_code(), accepted)
        repeated = report(first)
        self.assertEqual(repeated.result(), accepted.result(), "an identical repeat gets the same answer")
        self.assertEqual(report(first, true_report.technical_result_of(match)).error_code(), "E034")
        self.assertEqual(report(second).error_code(), "E032")
        self.assertEqual(self.status(manager)["matches_completed"], 1)
        for player, points in true["score"].items():
            row = next(row for row in self.standings(manager) if row["player_id"] == player)
            self.assertEqual((row["points"], row["played"]), (points, 1))
        self.stop_programs()
        log = Log(self.logs)
        self.assertLessEqual({"E032", "E034"}, log.verdicts())
        text = log.text()
        for bot in players + referees:
            self.assertNotIn(bot.token, text)
        unplayed = second.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]
        self.assertIn(match["draw_seed"], text, "a report reveals the seed")
        for credential in (match["player_A_credential"], match["player_B_credential"], unplayed["draw_seed"],
                           unplayed["player_A_credential"]):
            self.assertNotIn(credential, text, "what an assignment carries is masked")


if __name__ == "__main__":
    unittest.main()
