"""The bot of docs/writing_a_player.md, built from the page's own code blocks: plays a league in strict mode and loses
nothing by failing, reaches `robust`, and finds false results and strangers."""

import hashlib
import json
import re
import shlex
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest

PAGE = (SOURCE / "docs" / "writing_a_player.md").read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL).group(1)


def python_of(title):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", section(title), re.MULTILINE | re.DOTALL))


class PageBotPlays(LeagueTest):
    def play(self, mode, ours, bots):
        (self.directory / "bot.py").write_text(python_of("Build it"))
        manager = self.start_manager(ours + bots, 1, "--mode", mode)
        self.start_referee(manager, "--mode", mode)
        if ours:
            self.start_players(manager, ours)
        running = []
        for i in range(bots):
            bot = subprocess.Popen([sys.executable, "bot.py", manager.url, f"page{i}", f"page{i}.json"], cwd=self.directory,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for clean_up in (bot.stdout.close, bot.stderr.close, bot.wait, bot.kill):
                self.addCleanup(clean_up)
            running.append(bot)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["technical_losses"], 0)
        for bot in running:
            lines = [bot.stdout.readline() for _ in range(ours + bots + 1)]  # registered, its matches, the champion
            self.assertRegex(lines[0], r"registered as P\d\d")
            # GAME_OVER of the last match and the end of the league come from two programs, in any order.
            self.assertEqual(sum(status["champion"]["display_name"] in line for line in lines[1:]), 1, lines)
            bot.kill()
            self.assertEqual(bot.stderr.read(), "")
        self.stop_programs()
        log = Log(self.logs)
        self.assertEqual(log.leniencies(), set())
        for match, (report, *_) in log.accepted_reports().items():
            details = report["result"]["details"]
            self.assertEqual(len(details.get("choice_nonces", {})), 2, f"{match} is bound by both")
            self.assertEqual({player: sorted(one) for player, one in details["receipts"].items()},
                             dict.fromkeys(details["choice_nonces"], ["choice", "join"]), f"both have signed {match}")

    def test_among_ours_in_strict_mode(self):
        self.play("strict", ours=2, bots=2)

    def test_among_themselves_in_strict_mode(self):
        self.play("strict", ours=0, bots=3)

    def test_the_page_has_a_command_that_builds_it(self):
        command = re.search(r"^```\n(sed .*?)\n```", section("Build it"), re.MULTILINE | re.DOTALL).group(1)
        built = self.directory / "bot.py"
        subprocess.run(command.replace(">bot.py", f">{built}"), shell=True, cwd=SOURCE, check=True)
        self.assertEqual([line for line in built.read_text().splitlines() if line],
                         [line for line in python_of("Build it").splitlines() if line])

    def test_the_page_checks_it(self):
        (self.directory / "bot.py").write_text(python_of("Build it"))
        command = re.search(r"^build/bin/league (check .*)$", section("Check it"), re.MULTILINE).group(1)
        report = json.loads(subprocess.run([BIN / "league", *shlex.split(command), "--format", "json"],
                                           cwd=self.directory, capture_output=True, text=True, timeout=90).stdout)["bots"][0]
        failed = {one["id"]: one["got"] for one in report["checks"] if one["outcome"] not in ("passed", "skipped")}
        self.assertEqual((report["level"], failed), ("robust", {}))

    def test_it_comes_back_as_the_same_player(self):
        (self.directory / "bot.py").write_text(python_of("Build it"))
        manager = self.start_manager(2, 1)
        names = []
        for _ in range(2):
            bot = subprocess.Popen([sys.executable, "bot.py", manager.url, "again", "again.json"], cwd=self.directory,
                                   stdout=subprocess.PIPE, text=True)
            names.append(bot.stdout.readline())
            bot.kill()
            bot.wait()
            bot.stdout.close()
        self.assertRegex(names[0], r"registered as P\d\d")
        self.assertEqual(names[1], names[0])

    def test_it_says_why_it_was_not_accepted(self):
        (self.directory / "bot.py").write_text(python_of("Build it"))
        manager = self.start_manager(2, 1)
        self.start_players(manager, 2)
        full = subprocess.run([sys.executable, self.directory / "bot.py", manager.url, "late", self.directory / "late.json"],
                              capture_output=True, text=True, timeout=10)
        self.assertEqual((full.returncode, full.stderr), (1, ""))
        self.assertIn("not accepted:", full.stdout)


class PageChecks(unittest.TestCase):
    """The match is that of the examples in docs/protocol.md."""

    def setUp(self):
        protocol = (SOURCE / "docs" / "protocol.md").read_text()
        frames = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", protocol, re.MULTILINE | re.DOTALL)]
        self.messages = {}
        for message in [frame.get("params", frame.get("result")) for frame in frames]:
            if message:
                self.messages.setdefault(message["message_type"], message)
        self.over = self.messages["GAME_OVER"]
        told = self.messages["CHOOSE_PARITY_CALL"]["context"]["opponent_commitment"]
        self.promise = {"draw": self.messages["GAME_INVITATION"]["draw_commitment"], "choice": "even", "role": "PLAYER_A",
                        "opponent_commitment": told}
        token = self.messages["LEAGUE_REGISTER_RESPONSE"]["auth_token"]
        self.page = {"me": {"player_id": "P01", "auth_token": token}}
        code = python_of("Build it")
        functions = [re.search(rf"^def {name}\(.*?(?=^\S)", code + "\nend", re.MULTILINE | re.DOTALL).group()
                     for name in ("commitment", "keyed", "false_in", "attempt_of")]
        exec("import hashlib, hmac, itertools\n" + "".join(functions), self.page)

    def false_in(self, **changed):
        return self.page["false_in"]({**self.over, **changed}, self.promise)

    def test_an_honest_result_is_right(self):
        self.assertIsNone(self.false_in())

    def test_each_lie_is_named(self):
        result = self.over["game_result"]
        self.assertIn("the seed", self.false_in(draw_proof="00" * 32))
        self.assertIn("not my choice", self.false_in(game_result={**result, "choices": {"P01": "odd", "P02": "odd"}}))
        self.assertIn("opponent's commitment", self.false_in(choice_commitments={
            **self.over["choice_commitments"], "P02": "00" * 32}))
        self.assertIn("does not open", self.false_in(choice_nonces={**self.over["choice_nonces"], "P02": "00" * 32}))
        self.assertIn("the number", self.false_in(game_result={**result, "drawn_number": result["drawn_number"] % 10 + 1}))
        self.assertIn("the winner", self.false_in(game_result={**result, "winner_player_id": "P99"}))

    def test_a_stranger_is_known_by_what_it_shows(self):
        call = self.messages["CHOOSE_PARITY_CALL"]
        self.assertEqual(self.page["attempt_of"](call), 1)
        for shown in ("", self.page["me"]["auth_token"], "00" * 32):
            self.assertIsNone(self.page["attempt_of"]({**call, "auth_token": shown}), shown)
        self.assertIsNone(self.page["attempt_of"]({**call, "match_id": "R1M2"}))


if __name__ == "__main__":
    unittest.main()
