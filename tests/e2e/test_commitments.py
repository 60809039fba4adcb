"""Our player binds itself to its choice, also over a crash, and tells the manager what is false."""

import hashlib
import hmac
import json
import threading
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import LeagueTest, limits, wait_until
from scripted_bot import Bot, message_in


class Declining(Bot):
    """Declines every invitation, and vouches for that."""

    def take_identity(self, answer):
        given = answer.result()
        self.league_key, self.receipt_key = given["league_key"], given["receipt_key"]
        return super().take_identity(answer)

    def reply(self, frame):
        call, exact = message_in(frame), super().reply(frame)
        if call.get("message_type") != "GAME_INVITATION":
            return exact
        told = call.get("context", {})
        text = "|".join(["JOIN", self.league_key, call["match_id"], str(told.get("attempt", 1)), str(told.get("play", 0)),
                         call["draw_commitment"], "false", ""])
        return {**exact, "accept": False, "receipt": hmac.new(self.receipt_key.encode(), text.encode(), hashlib.sha256).hexdigest()}


class Commitments(LeagueTest):
    def start_alpha(self, manager):
        """Our player, with a data directory of its own."""
        alpha, = self.start_players(manager, 1, "random", "--data", self.directory / "alpha", name="alpha")
        return alpha

    def notes(self):
        """What the player has noted of its matches, in the order of the file."""
        path = self.directory / "alpha" / "agents" / "player_alpha.open_matches.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def reports(self):
        self.stop_programs()
        return [reports[0] for reports in Log(self.logs).accepted_reports().values()]

    def test_a_player_that_is_killed_between_invitation_and_call_keeps_its_promise(self):
        # It may die before its GAME_JOIN_ACK has left, or after: the referee asks until it is back.
        patient = limits(time_limits_ms={"GAME_INVITATION": 20000}, retry={"delay_ms": 500, "max_attempts": 40})
        manager = self.start_manager(2, 1, limits=patient)
        alpha = self.start_alpha(manager)
        may_join = threading.Event()
        slow = Bot("slow")
        self.addCleanup(slow.close)
        self.addCleanup(may_join.set)

        def answer(frame):
            if message_in(frame).get("message_type") == "GAME_INVITATION":
                may_join.wait(20)  # until it joins, nobody is asked for a choice
            return {"jsonrpc": "2.0", "id": frame.get("id"), "result": slow.reply(frame)}

        slow.answer = answer
        slow.join(manager)
        self.start_referee(manager, limits=patient)
        wait_until(self.notes, 10, "the player has joined")
        promised = self.notes()[-1]
        alpha.program.kill()
        again = self.start_alpha(manager)
        self.assertEqual(again.id, alpha.id)
        may_join.set()
        status = self.wait_until_over(manager, 20)
        self.assertEqual(status["technical_losses"], 0)
        wait_until(lambda: self.notes()[-1].get("over"), 10, "the note is gone")
        (report,) = self.reports()
        details = report["result"]["details"]
        self.assertEqual(details["choices"][alpha.id], promised["choice"])
        self.assertEqual(details["choice_nonces"], {alpha.id: promised["choice_nonce"]})
        self.assertEqual(details["draw_version"], 2)

    def test_who_declines_with_a_receipt_is_believed_by_everybody(self):
        manager = self.start_manager(2, 1)
        bot = Declining("declining")
        self.addCleanup(bot.close)
        bot.join(manager, meta={"receipts": True})
        self.start_alpha(manager)
        self.start_referee(manager)
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 1)
        report, = self.reports()
        self.assertEqual(report["result"]["details"]["failures"][-1]["error_code"], "E037")
        self.assertFalse([call for call in bot.calls if "get_match_record" in json.dumps(call)], "there was nothing to ask")
        self.assert_verified()

    def test_without_commitments_everybody_plays_as_before(self):
        manager = self.start_manager(3, 1)
        self.start_players(manager, 3, "random", "--no-commitments")
        self.start_referee(manager)
        self.wait_until_over(manager, 20)
        for report in self.reports():
            self.assertNotIn("choice_commitments", report["result"]["details"])
            self.assertEqual(report["result"]["details"].get("draw_version", 1), 1)

    def test_each_misbehaviour_with_a_commitment_loses_its_matches(self):
        for strategy in ("bad-commitment", "bad-nonce", "no-nonce", "other-choice"):
            with self.subTest(strategy=strategy):
                manager = self.start_manager(2, 1, data=strategy)
                self.start_players(manager, 1, strategy, name="liar")
                self.start_players(manager, 1, "even", name="honest")
                self.start_referee(manager)
                status = self.wait_until_over(manager, 20)
                self.assertEqual(status["technical_losses"], 1)
                self.assertEqual(status["champion"]["display_name"], "honest")
                self.stop_programs()


if __name__ == "__main__":
    unittest.main()
