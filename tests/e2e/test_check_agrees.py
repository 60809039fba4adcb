"""`league check` and a league agree about every quirk: who plays, says the checker, loses nothing in the league."""

import json
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, LeagueTest, limits, wait_until
from quirks import QUIRKS, QuirkBot

ROUNDS = 4  # so that each meets an opponent that joins
BASIC = ("P-4.3/accepted", "P-4.3/game-types", "P-4.3/contact-endpoint", "P-4.3/endpoint-answers", "P-4.7/join-answered",
         "P-4.7/join-accepts", "P-4.9/choice-answered", "P-4.9/parity-choice-lower-case")


class Manager:
    """The address at which the checker waits for the bot."""

    def __init__(self, url):
        self.url = url


def failed_basics(quirk):
    """The basic checks that the bot fails."""
    words = [BIN / "league", "check", "--listen", "0", "--fast", "--format", "json", "--wait", "30"]
    for check in BASIC:
        words += ["--only", check]
    checker = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", checker.stderr.readline()).group()
    bot = QuirkBot(quirk)
    try:
        bot.join(Manager(address))
        out, err = checker.communicate(timeout=60)
    finally:
        checker.kill()
        bot.close()
    assert out, err
    checks = json.loads(out)["bots"][0]["checks"]
    assert {one["id"] for one in checks if one.get("basic")} == set(BASIC), checks
    return {one["id"] for one in checks if one["outcome"] not in ("passed", "skipped")}


class Agreement(LeagueTest):
    def losers(self):
        """The quirks that lost a match by a failure of their own, in a league of all of them."""
        slow = limits(time_limits_ms={"GAME_INVITATION": 2500, "CHOOSE_PARITY_CALL": 2500}, retry={"delay_ms": 50})
        manager = self.start_manager(len(QUIRKS), 1, limits=slow)
        self.start_referee(manager, "--max-matches", len(QUIRKS), limits=slow)
        bots = {}
        for quirk in QUIRKS:
            bot = QuirkBot(quirk)
            self.addCleanup(bot.close)
            bots[bot.join(manager).id] = quirk.name
        wanted = ROUNDS * (len(QUIRKS) // 2)
        wait_until(lambda: self.status(manager)["matches_completed"] >= wanted, 240, f"{ROUNDS} rounds are over")
        self.stop_programs()
        lost = set()
        for (report, *_) in Log(self.logs).accepted_reports().values():
            details = report["result"]["details"]
            if details.get("termination") != "NORMAL":
                lost |= {one["player_id"] for one in details["failures"]} - {report["result"]["winner"]}
        return {bots[player] for player in lost}

    def test_who_plays_loses_nothing(self):
        self.assertGreaterEqual(len(QUIRKS), 40)
        self.assertEqual(len(QUIRKS) % 2, 0, "with a bye, a bot plays fewer matches")
        losers = self.losers()
        with ThreadPoolExecutor(3) as pool:
            failed = dict(zip([quirk.name for quirk in QUIRKS], pool.map(failed_basics, QUIRKS)))
        for name, checks in failed.items():
            with self.subTest(name):
                self.assertEqual(bool(checks), name in losers, sorted(checks))
                self.assertLessEqual(len(checks), 1, "one finding for one fault")
        # The table would prove nothing if the league took everything, or nothing.
        self.assertGreater(len(losers), 15)
        self.assertLess(len(losers), len(QUIRKS) - 15)


if __name__ == "__main__":
    unittest.main()
