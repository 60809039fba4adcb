"""A class of thirty, ten of whose bots are broken, each in its own way: every author is told what to fix, by the bot's own
calls; one of them is repaired in the middle and plays on; the manager's stderr alone explains the table. With the default
limits."""

import json
import unittest
from collections import Counter

import support_path  # noqa: F401
from league_testing import LeagueTest, message
from scripted_bot import Bot, Raw

CHOOSE = "CHOOSE_PARITY_CALL"


class Faulty(Bot):
    """Breaks its answers to one type of message by `fault(bot, frame, answer)`, until it is repaired."""

    def __init__(self, name, message_type, fault):
        super().__init__(name)
        self.message_type = message_type
        self.fault = fault

    def answer(self, frame):
        answer = super().answer(frame)
        if self.fault is None or answer["result"].get("message_type", "status") != self.message_type:
            return answer
        return self.fault(self, frame, answer)


def with_fields(**changes):
    """An answer with other fields; None leaves one out."""
    def fault(bot, frame, answer):
        for name, value in changes.items():
            answer["result"].pop(name, None)
            if value is not None:
                answer["result"][name] = value
        return answer
    return fault


def raised(bot, frame, answer):
    return Raw(b"Traceback (most recent call last):\n  ZeroDivisionError: division by zero", status=500)


def no_json(bot, frame, answer):
    return Raw(b"my choice is even")


def refused(bot, frame, answer):
    return {"jsonrpc": "2.0", "id": frame["id"], "error": {"code": -32000, "message": "name 'parity' is not defined"}}


def an_acknowledgement(bot, frame, answer):
    return {"jsonrpc": "2.0", "id": frame["id"], "result": {"status": "ok"}}


JOIN, CHOICE = "GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"
# name: the answer that is broken, how, and what its author must be able to read
FAULTS = {
    "raises": (CHOICE, raised, ["500", "ZeroDivisionError"]),
    "undecided": (CHOICE, with_fields(parity_choice="perhaps"), ["parity_choice", "perhaps"]),
    "forgets": (CHOICE, with_fields(parity_choice=None), ["parity_choice"]),
    "elsewhere": (CHOICE, with_fields(match_id="R99M99"), ["names match", "R99M99"]),
    "empty": (CHOICE, with_fields(parity_choice=""), ["parity_choice"]),
    "plain_text": (CHOICE, no_json, ["JSON"]),
    "undefined": (CHOICE, refused, ["name 'parity' is not defined"]),
    "nods": (CHOICE, an_acknowledgement, ["CHOOSE_PARITY_RESPONSE"]),
    "declines": (JOIN, with_fields(accept=False), ["accept"]),
    "yesterday": (JOIN, with_fields(timestamp="yesterday"), ["timestamp", "yesterday"]),
}


class ClassOfThirty(LeagueTest):
    log_level = "info"

    def test_everybody_is_told(self):
        manager = self.start_manager(30, 2, "--log-format", "json", limits={})
        faulty = {}
        for name, (message_type, fault, _) in FAULTS.items():
            faulty[name] = Faulty(name, message_type, fault)
            self.addCleanup(faulty[name].close)
            faulty[name].join(manager)
        self.start_players(manager, 20, "random")
        for name in ("one", "two"):
            self.start_referee(manager, name=name, limits={})

        repaired = faulty["undecided"]
        suspended = repaired.wait_for("LEAGUE_ERROR", 60, where=lambda m: m.get("context", {}).get("state") == "SUSPENDED")
        repaired.fault = None
        repaired.wait_for("LEAGUE_ERROR", 60, where=lambda m: m.get("context", {}).get("state") == "ACTIVE")
        status = self.wait_until_over(manager, 120)

        with self.subTest("each author can fix the bot from what the bot was told"):
            for name, (_, _, words) in FAULTS.items():
                told = [json.dumps(m, ensure_ascii=False) for m in faulty[name].received("LEAGUE_ERROR")]
                for word in words:
                    self.assertTrue(any(word in text for text in told), f"{name} was not told of {word}: {told[:3]}")
        self.assertIn("parity_choice", json.dumps(suspended), "the suspension says why, too")

        lines = [json.loads(line) for line in manager.program.whole_stderr().splitlines() if line.startswith("{")]
        losses = Counter(line["agent"] for line in lines if line.get("event") == "TECHNICAL_LOSS")
        with self.subTest("nobody but the ten has lost for a failure, and nine of them always"):
            self.assertEqual(set(losses), {bot.id for bot in faulty.values()})
            self.assertLess(losses[repaired.id], 27)
            for name, bot in faulty.items():
                if bot is not repaired:
                    # Who meets a bot that does not join is not asked for a choice, and wins.
                    self.assertEqual(losses[bot.id], 29 if FAULTS[name][0] == JOIN else 27, name)
        with self.subTest("the operator's lines explain the table"):
            lost = [line for line in lines if line.get("event") == "TECHNICAL_LOSS"]
            self.assertEqual(len({line["match"] for line in lost}), status["technical_losses"])
            for line in lost:
                self.assertRegex(line["message"], rf"^{line['agent']} '.*' loses {line['match']} technically: {line['call']}: {line['error_code']} ")
            table = {row["player_id"]: row["losses"] for row in self.standings(manager)}
            for bot in faulty.values():
                self.assertGreaterEqual(table[bot.id], losses[bot.id])


if __name__ == "__main__":
    unittest.main()
