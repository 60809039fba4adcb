"""Agent states with the real programs: a bot dies and comes back, the manager is killed, and everybody is told."""

import hashlib
import json
import os
import subprocess
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, Agent, LeagueTest, limits, wait_until
from scripted_bot import Bot, Raw

QUICK = limits(retry={"delay_ms": 20, "max_attempts": 2})


def league(*arguments):
    return subprocess.run([str(BIN / "league"), *map(str, arguments)], capture_output=True, text=True, timeout=30)


class Broken(Bot):
    """Answers every call with an exception, as bots do, until it is repaired."""

    is_broken = True

    def answer(self, frame):
        if self.is_broken and frame.get("method") in ("handle_game_invitation", "ping"):
            return Raw(b"Traceback (most recent call last):\n\x1b[2J ZeroDivisionError", status=500)
        return super().answer(frame)


class StatesTest(LeagueTest):
    log_level = "info"

    def play_until(self, manager, round_id):
        wait_until(lambda: self.status(manager)["current_round"] >= round_id, 30, f"round {round_id}")

    def own_report(self, manager, bot):
        file = self.directory / "bot.json"
        file.write_text(json.dumps({"me": {"player_id": bot.id, "auth_token": bot.token}, "matches": {}}))
        done = league("call", manager.url, "get_my_report", "--token", file, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["structuredContent"]

    def test_a_bot_that_is_repaired_plays_again_also_after_a_crash_of_the_manager(self):
        slow = limits(retry={"delay_ms": 20, "max_attempts": 2}, league={"announcement_grace_ms": 250})
        manager = self.start_manager(12, 1, "--log-format", "json", limits=slow)
        broken = Broken("broken")
        self.addCleanup(broken.close)
        broken.join(manager)
        # Somebody takes its time in each round, so that there is time to look.
        self.start_players(manager, 1, "slow:300", name="thinker")
        self.start_players(manager, 10)
        self.start_referee(manager, limits=slow)
        told = broken.wait_for("LEAGUE_ERROR", 30, where=lambda m: m["error_code"] == "E094")
        self.assertEqual(told["context"]["state"], "SUSPENDED")
        self.assertIn("E010", told["error_description"])

        shown = league("status", "--all", "--json", manager.url)
        agent, = [one for one in json.loads(shown.stdout)["agents"] if one["agent_id"] == broken.id]
        self.assertEqual((agent["state"], agent["reason"]), ("SUSPENDED", "FAILED_MATCHES"))
        self.assertIn("HTTP 500", agent["detail"])
        text = league("status", "--all", manager.url).stdout
        self.assertIn("SUSPENDED", text)
        self.assertNotIn("\x1b", text)

        before = self.own_report(manager, broken)
        self.assertEqual(before["state"], "SUSPENDED")
        fault = before["faults"][0]
        self.assertEqual((fault["error_code"], fault["clause"], fault["lost_match"]), ("E010", "1.2", True))
        self.assertIn("HTTP 500", fault["text"])
        self.assertIn("exception", fault["remedy"])

        manager.program.kill()
        told_before = manager.program.whole_stderr()
        program = self.start("league_manager", "--data", self.directory / "data", port=urlsplit(manager.url).port, limits=slow)
        (url, league_id), = program.ready()
        again = Agent(program, url, league_id)
        after = self.own_report(again, broken)
        lost = [one for one in before["faults"] if one["lost_match"]]
        self.assertEqual([one for one in after["faults"] if one["lost_match"]][:len(lost)], lost, "the journal knows them")
        self.assertGreater(after["measured_since"], before["measured_since"], "it does not know the rest")
        broken.is_broken = False
        broken.wait_for("LEAGUE_ERROR", 30, where=lambda m: m.get("context", {}).get("state") == "ACTIVE")
        status = self.wait_until_over(again)
        self.assertLess(status["technical_losses"], 11)
        traced = [(conversation, trace) for conversation, trace in broken.traces if conversation and conversation.startswith("convr")]
        self.assertGreater(len(traced), 10)
        for conversation, trace in traced:
            trace_id = hashlib.sha256(f"{again.id}/{conversation}".encode()).hexdigest()[:32]
            self.assertRegex(trace, rf"^00-{trace_id}-[0-9a-f]{{16}}-01$")
        self.assertEqual(len({trace for _, trace in traced}), len(traced), "each call is a span of its own")

        lines = [json.loads(line) for line in told_before.splitlines() if line.startswith("{")]
        events = [line.get("event") for line in lines]
        self.assertEqual(events.count("REGISTERED"), 13)
        for event in ("LEAGUE_OPENED", "LEAGUE_STARTED", "ROUND_STARTED", "ROUND_COMPLETED", "TECHNICAL_LOSS", "AGENT_STATE_CHANGED"):
            self.assertIn(event, events)
        loss = next(line for line in lines if line.get("event") == "TECHNICAL_LOSS")
        self.assertEqual((loss["agent"], loss["call"], loss["error_code"]), (broken.id, "GAME_INVITATION", "E010"))
        after = program.whole_stderr()
        self.assertIn("is ACTIVE (PLAYED)", after)
        self.assertIn("continues at", after)
        self.assertNotIn("\x1b", told_before + after)
        self.stop_programs()

        audited = league("audit", "log", self.directory, broken.id)
        self.assertEqual(audited.returncode, 1, audited.stderr)
        self.assertIn("SUSPENDED  FAILED_MATCHES", audited.stdout)
        self.assertIn("ACTIVE  PLAYED", audited.stdout)
        self.assertIn("GAME_INVITATION: E010 INVALID_REPLY (HTTP 500", audited.stdout)
        verified = league("audit", "verify", self.directory)
        self.assertIn(verified.returncode, (0, 1), verified.stderr)
        self.assertNotIn("projection.", verified.stdout)

    def test_the_operator_shuts_down_and_restores(self):
        manager = self.start_manager(8, 1, limits=QUICK)
        self.start_players(manager, 1, "slow:300", name="thinker")
        players = self.start_players(manager, 7)
        self.start_referee(manager, limits=QUICK)
        self.play_until(manager, 1)
        key = self.directory / "data" / "operator.key"
        victim = players[0].id
        refused = league("admin", "remove", manager.url, "P99", "--operator-key", key, "--reason", "x")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        done = league("admin", "remove", manager.url, victim, "--operator-key", key, "--reason", "cheats")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SHUTDOWN", league("status", "--all", manager.url).stdout)
        self.play_until(manager, 4)
        self.assertEqual(league("admin", "restore", manager.url, victim, "--operator-key", key).returncode, 0)
        status = self.wait_until_over(manager)
        self.assertGreaterEqual(status["technical_losses"], 1)
        self.assertLess(status["technical_losses"], 7)
        self.assertIn("SHUT_DOWN_BY_OPERATOR: cheats", manager.program.whole_stderr())

    def test_a_manager_that_is_not_there_is_told_at_once(self):
        referee = self.start("referee", "--manager", "http://127.0.0.1:9/mcp", "--name", "lonely")
        wait_until(lambda: "lonely is not registered: the league manager at http://127.0.0.1:9/mcp does not answer" in referee.whole_stderr(),
                   4, "the referee says what is missing")

    def test_a_window_that_closes_too_early_is_told(self):
        manager = self.start_manager(4, 1, "--registration-window", "1")
        wait_until(lambda: "the league cannot start yet: a league needs at least 2 players" in manager.program.whole_stderr(), 4,
                   "the manager says what is missing")
        self.start_referee(manager)
        self.start_players(manager, 2)
        self.wait_until_over(manager)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    unittest.main()
