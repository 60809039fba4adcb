"""A time-out counts only if the referee itself was on time: a league with a referee that stands still for a while."""

import os
import signal
import subprocess
import threading
import time
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, LeagueTest, limits
from scripted_bot import Bot

# One attempt, so that one time-out is a loss. 5 % of the limit are less than 50 ms.
ONE_CHANCE = limits(
    retry={"max_attempts": 1, "delay_ms": 100},
    time_limits_ms={"GAME_INVITATION": 5000, "CHOOSE_PARITY_CALL": 900},
)


class LateBot(Bot):
    """Lets its first CHOOSE_PARITY_CALL run out, and meanwhile does `meanwhile()`."""

    meanwhile = staticmethod(lambda: None)

    def reply(self, frame):
        message = frame.get("params", {})
        if message.get("message_type") == "CHOOSE_PARITY_CALL" and len(self.received("CHOOSE_PARITY_CALL")) == 1:
            self.meanwhile()
            time.sleep(1.5)
        return super().reply(frame)


class FairClock(LeagueTest):
    def play(self, meanwhile):
        manager = self.start_manager(2, 1, limits=ONE_CHANCE)
        referee = self.start_referee(manager, limits=ONE_CHANCE)
        bots = [LateBot("late"), Bot("punctual")]
        for bot in bots:
            self.addCleanup(bot.close)
        bots[0].meanwhile = lambda: meanwhile(referee.program.process.pid)
        for bot in bots:
            bot.join(manager)
        self.wait_until_over(manager, 30)
        self.stop_programs()
        audit = subprocess.run([BIN / "league", "audit", "verify", self.directory], capture_output=True, text=True,
                               timeout=60)
        self.assertEqual(audit.returncode, 0, audit.stdout + audit.stderr)
        report, = Log(self.logs).accepted_reports()["R1M1"]
        return report["result"]["details"], bots

    def test_a_loss_for_time_is_void_when_the_referee_stood_still(self):
        def stop_for_a_while(pid):
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(0.5, os.kill, (pid, signal.SIGCONT)).start()

        details, bots = self.play(stop_for_a_while)
        self.assertEqual(details["termination"], "NORMAL", details)
        self.assertEqual(details["replays"], 1)
        failure, = details["failures"]
        proof = failure["clock"]
        self.assertTrue(proof["void"], proof)
        self.assertGreater(proof["scheduling_delay_us"], 400_000)
        self.assertEqual(proof["limit_ms"], 900)
        self.assertLess(proof["sent_at"], proof["gave_up_at"])
        for bot in bots:
            self.assertEqual(len(bot.received("GAME_INVITATION")), 2)
        error = bots[0].wait_for("GAME_ERROR")
        self.assertIn("played again", error["consequence"])

    def test_a_loss_for_time_stands_when_the_referee_was_on_time(self):
        # A busy machine may make the referee late in earnest: then the bot is right to get its second chance.
        details, _ = self.play(lambda pid: None)
        failure = details["failures"][0]
        late = max(failure["clock"]["scheduling_delay_us"], failure["clock"]["canary_us"])
        self.assertEqual(failure["clock"]["void"], late > 50_000, failure)
        self.assertEqual(details["termination"], "NORMAL" if late > 50_000 else "TIMEOUT_CHOICE", details)
        self.assertEqual(details.get("replays", 0), 1 if late > 50_000 else 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
