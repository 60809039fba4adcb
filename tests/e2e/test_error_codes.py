"""Every code of the project's one table (common/core/error_code.cpp) is provoked over HTTP.

A code counts when it came back in an answer, in a GAME_ERROR that a player got, in a report of a referee, or as
the verdict of a record in a conversation log. The last test compares with the table.
"""

import json
import re
import threading
import unittest

import support_path  # noqa: F401
import true_report
from conversation_log import Log
from league_testing import SOURCE, LeagueTest, limits, message, now, player_registration, post, rpc, wait_until
from scripted_bot import Bot, Raw, message_in

HERE = "http://127.0.0.1:{}/mcp"
HEX = "ab" * 32


def table():
    """{E001: TIMEOUT_ERROR, ...} as the source says."""
    source = (SOURCE / "common" / "core" / "error_code.cpp").read_text()
    return dict(re.findall(r'\{k\w+,\s*"(E\d{3})",\s*"(\w+)"', source))


class ErrorCodes(LeagueTest):
    provoked = {}

    def provoke(self, code, source):
        self.provoked.setdefault(code, source)

    def answers(self, code, answer):
        self.assertEqual(answer.error_code(), code, answer)
        if '"REJECTED"' not in answer.text:  # a rejection has its reason beside the code
            self.assertIn(table()[code], answer.text, "the name goes with the code")
        self.provoke(code, answer.text)

    def bot(self, name="bot", kind=Bot):
        bot = kind(name)
        self.addCleanup(bot.close)
        return bot

    # --- what the manager says to a registration or a query ---

    def test_messages_to_the_manager(self):
        manager = self.start_manager(2, 1)
        url = manager.url
        bot = self.bot().join(manager)

        def register(**changes):
            return rpc(url, "register_player", player_registration("x", HERE.format(5001), **changes))

        self.answers("E002", post(url, b'{"jsonrpc": "2.0", '))
        self.answers("E003", register(player_meta=None))
        self.answers("E006", rpc(url, "handle_message", message("FOO_BAR", "player:P01")))
        self.answers("E007", rpc(url, "GAME_OVER", message("GAME_OVER", "referee:REF01")))
        self.answers("E018", register(protocol="league.v3"))
        self.answers("E021", register(timestamp="yesterday"))
        self.answers("E022", register(meta={"display_name": 5}))
        self.answers("E023", register(meta={"version": "new"}))
        self.answers("E024", register(meta={"display_name": "x" * 200}))
        self.answers("E025", register(sender="spectator:1"))
        twice = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}'
        self.answers("E026", post(url, twice))
        self.answers("E027", register(meta={"contact_endpoint": "http://169.254.169.254/mcp"}))
        self.answers("E028", register(meta={"game_types": ["chess"]}))
        self.answers("E020", rpc(url, "register_player", player_registration("other", bot.url)))

        def query(**changes):
            return bot.say(manager, "league_query", "LEAGUE_QUERY", **{"query_type": "GET_STANDINGS", **changes})

        self.answers("E005", query(sender="player:P77"))
        self.answers("E008", query(league_id="another_league"))
        self.answers("E011", query(token=None))
        self.answers("E012", query(token="tok_p01_wrong"))
        self.answers("E029", query(query_type="GET_RICH"))
        self.answers("E013", query(sender="referee:REF77"))
        self.answers("E014", query(sender="league_manager"))
        self.answers("E016", rpc(url, "start_league", {"operator_key": "op_this_is_not_the_key"}))
        self.answers("E039", rpc(url, "start_league", {"operator_key": self.operator_key()}))
        self.bot("second").join(manager)
        self.answers("E017", register())

    def test_late(self):
        manager = self.start_manager(2, 1)
        for name in ("one", "two"):
            self.bot(name).join(manager)
        self.start_referee(manager)
        self.wait_until_over(manager)
        self.answers("E019", rpc(manager.url, "register_player", player_registration("late", HERE.format(5001))))

    # --- reports, from a referee that the test plays itself ---

    def test_reports(self):
        manager = self.start_manager(4, 2)
        for i in range(4):
            self.bot(f"p{i}").join(manager)
        first, second = (self.bot(name).join_as_referee(manager, match_credentials=True) for name in ("r1", "r2"))
        match = first.wait_for("ROUND_ANNOUNCEMENT")["matches"][0]
        true = true_report.result_of(match)

        def report(referee=first, result=true, **changes):
            return true_report.report(referee, manager, match, result, **changes)

        self.answers("E030", report(match_id="R99M9"))
        self.answers("E031", report(match_id="R2M1"))
        self.answers("E032", report(second))
        self.answers("E033", report(result={**true, "details": {**true["details"], "attempt": 7}}))
        self.answers("E035", report(result={**true, "score": {player: 1 for player in true["score"]}}
                                    if true["winner"] else {**true, "score": {p: 3 for p in true["score"]}}))
        self.assertIsNone(report().error_code())
        self.answers("E034", report(result=true_report.technical_result_of(match)))

    # --- what a referee makes of a player's answers ---

    def test_answers_of_players(self):
        def choosing(change):
            """A player that answers the invitation exactly and the choice by `change(frame, exact answer)`."""

            class Kind(Bot):
                def answer(bot, frame):
                    exact = Bot.answer(bot, frame)
                    is_choice = message_in(frame).get("message_type") == "CHOOSE_PARITY_CALL"
                    return change(frame, exact) if is_choice else exact

            return Kind

        def with_result(**fields):
            return lambda frame, exact: {**exact, "result": {**exact["result"], **fields}}

        class Declining(Bot):
            def reply(bot, frame):
                exact = Bot.reply(bot, frame)
                return {**exact, "accept": False} if "accept" in exact else exact

        class Unopened(Bot):
            """Commits itself and does not say to what."""

            def reply(bot, frame):
                exact = Bot.reply(bot, frame)
                return {**exact, "choice_commitment": HEX} if "accept" in exact else exact

        never = threading.Event()
        self.addCleanup(never.set)
        players = {
            "E001": choosing(lambda frame, exact: never.wait(3) or exact),
            "E004": choosing(with_result(parity_choice="Even")),
            "E009": choosing(lambda frame, exact: Raw(None)),
            "E010": choosing(lambda frame, exact: Raw(b"even")),
            "E015": choosing(with_result(match_id="R9M9")),
            "E037": Declining,
            "E040": Unopened,
            "E093": choosing(with_result(padding="x" * 2_000_000)),
        }
        impatient = limits(retry={"max_attempts": 1}, time_limits_ms={"CHOOSE_PARITY_CALL": 500})
        manager = self.start_manager(len(players) + 1, 1, limits=impatient)
        self.bot("honest").join(manager)
        bots = {code: self.bot(code, kind).join(manager) for code, kind in players.items()}
        self.start_referee(manager, "--max-matches", 16, limits=impatient)
        for code, bot in bots.items():
            with self.subTest(code=code):
                told = bot.wait_for("GAME_ERROR", 20, where=lambda m, code=code: m["error_code"] == code)
                self.assertEqual(told["error_name"], table()[code])
                self.assertEqual(told["affected_player"], bot.id)
                self.assertTrue(told["error_description"])
                self.provoke(code, json.dumps(told))
        told = bots["E010"].wait_for("LEAGUE_ERROR", 20, where=lambda m: m["error_code"] == "E094")
        self.assertEqual((told["error_name"], told["context"]["state"]), (table()["E094"], "SUSPENDED"))
        self.assertEqual(told["auth_token"], bots["E010"].token)
        self.provoke("E094", json.dumps(told))

    def test_a_managers_own_fault(self):
        """A bot's fault is never ours (E010), but a manager's is, and the report is sent again."""
        manager = FailingManager("manager")
        self.addCleanup(manager.close)
        referee = self.start_referee(manager, limits=limits(retry={"max_attempts": 1}))
        arguments = {"auth_token": manager.given, "match": assignment("R1M1", HERE.format(9))}
        wait_until(lambda: rpc(referee.url, "start_match", arguments).error_code() is None, 5, "the match starts")
        manager.wait_for("MATCH_RESULT_REPORT", 20)
        wait_until(lambda: "E090" in Log(self.logs).verdicts(), 10, "the answer is noted as the manager's fault")
        self.provoke("E090", "verdict of the answer to a report")

    # --- a player that is gone for good ---

    def test_shut_down_player(self):
        strict = limits(life_cycle={"suspend_after_failed_matches": 1, "shutdown_after_failed_matches": 1}, retry={"max_attempts": 1})
        manager = self.start_manager(3, 1, limits=strict)
        gone = self.bot("gone", type("Gone", (Bot,), {"answer": lambda bot, frame: Raw(None)})).join(manager)
        for name in ("one", "two"):
            self.bot(name).join(manager)
        self.start_referee(manager, limits=strict)
        self.wait_until_over(manager)
        request = player_registration("gone", gone.url, auth_token=gone.token)
        self.answers("E038", rpc(manager.url, "register_player", request))

    # --- what a referee says to its manager, whom the test plays ---

    def test_a_referees_places(self):
        manager = OnlyRegistering("manager")
        self.addCleanup(manager.close)
        slow = self.bot("slow", type("Slow", (Bot,), {"answer": lambda bot, frame: release.wait(5) or Bot.answer(bot, frame)}))
        release = threading.Event()
        self.addCleanup(release.set)
        referee = self.start_referee(manager, "--max-matches", 1)

        def start(number):
            arguments = {"auth_token": manager.given, "round_id": 1, "match": assignment(f"R1M{number}", slow.url)}
            return rpc(referee.url, "start_match", arguments)

        wait_until(lambda: start(1).error_code() is None, 5, "the first match starts")
        self.answers("E036", start(2))
        # What is under way when a program is stopped ends with E092, in its log.
        self.assertEqual(referee.program.stop(), 0)
        self.assertIn("E092", Log(self.logs).verdicts())
        self.provoke("E092", "verdict of a call that was given up")

    def test_overload(self):
        """A referee whose disk is nearly full takes no match."""
        manager = OnlyRegistering("manager")
        self.addCleanup(manager.close)
        referee = self.start_referee(manager, limits=limits(log={"min_free_mib": 1 << 20}))
        arguments = {"auth_token": manager.given, "match": assignment("R1M1", HERE.format(9))}
        wait_until(lambda: rpc(referee.url, "start_match", arguments).error_code() != "E013", 5, "it is registered")
        self.answers("E091", rpc(referee.url, "start_match", arguments))

    def test_z_all_are_provoked(self):
        """Runs last: the tests of a class run by name."""
        elsewhere = {"E041"}  # needs two referees and a bot with receipts: test_examples.py, test_lying_referee.py
        missing = sorted(set(table()) - set(self.provoked) - elsewhere)
        self.assertEqual(missing, [], "codes of the table that no test provokes")
        self.assertGreaterEqual(len(table()), 40)


class OnlyRegistering(Bot):
    """A league manager that gives an identity and says no more."""

    given = "tok_ref01_" + "a" * 52

    def reply(self, frame):
        call = message_in(frame)
        if call.get("message_type") != "REFEREE_REGISTER_REQUEST":
            return {"status": "ok"}
        return {"protocol": "league.v2", "message_type": "REFEREE_REGISTER_RESPONSE", "sender": "league_manager",
                "timestamp": now(), "conversation_id": call["conversation_id"], "status": "ACCEPTED",
                "referee_id": "REF01", "auth_token": self.given, "league_id": "scripted_league", "reason": None}


class FailingManager(OnlyRegistering):
    """Throws when it gets a report."""

    def answer(self, frame):
        if message_in(frame).get("message_type") != "MATCH_RESULT_REPORT":
            return super().answer(frame)
        return {"jsonrpc": "2.0", "id": frame["id"], "error": {"code": -32603, "message": "out of luck"}}


def assignment(match_id, endpoint):
    return {
        "match_id": match_id, "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
        "referee_endpoint": HERE.format(1), "referee_id": "REF01", "draw_commitment": HEX, "attempt": 1,
        "conversation_id": f"conv{match_id.lower()}001", "player_A_endpoint": endpoint, "player_B_endpoint": endpoint,
        "player_A_credential": "credential-a", "player_B_credential": "credential-b", "player_A_token_hash": HEX,
        "player_B_token_hash": HEX, "draw_seed": HEX,
    }


if __name__ == "__main__":
    unittest.main()
