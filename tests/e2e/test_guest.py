"""Our player and referee in leagues of other people's managers: in open mode they play, in strict mode they refuse."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import support_path  # noqa: F401
from conversation_log import Log
from foreign_managers import BareManager, PolledManager, StartingManager, TokenlessManager, WrappingManager
from league_testing import BIN, LeagueTest, post


class Guest(LeagueTest):
    def manager(self, kind):
        manager = kind()
        self.addCleanup(manager.close)
        return manager

    def play(self, kind, players, leniencies):
        manager = self.manager(kind)
        self.start_guest("referee", manager, "whistle")
        for number in range(players):
            self.start_guest("player", manager, f"guest{number}")
        reports = manager.play(players)
        self.stop_programs()
        self.assertEqual(len(reports), players * (players - 1) // 2)
        self.assertEqual(manager.refusals, [])
        for report in reports.values():
            self.assertIn(sorted(report["result"]["score"].values()), ([0, 3], [1, 1]))
            self.assertIsNotNone(report["result"]["details"]["drawn_number"], report)
        log = Log(self.logs)
        self.assertLessEqual(leniencies, {name for r in log.records for name in r.get("leniencies", [])})
        choices = log.messages("CHOOSE_PARITY_RESPONSE")
        self.assertTrue(choices)
        for message in choices:
            self.assertEqual(message["choice"], message["parity_choice"])
        for message in log.messages("GAME_JOIN_ACK"):
            self.assertNotIn("choice_commitment", message)
        self.assert_nothing_is_wrong()
        return log

    def assert_nothing_is_wrong(self):
        """Neither verifier accuses the guests, whose manager's log nobody has."""
        script = Path(__file__).parents[2] / "scripts" / "verify_log.py"
        verifiers = [BIN / "league", "audit", "verify"], [sys.executable, script]
        for verifier in verifiers:
            command = [*verifier, self.logs, "--without", "league_manager"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def start_guest(self, program, manager, name, *arguments):
        data = self.directory / "agents_data"
        return self.start(program, "--manager", manager.url, "--name", name, "--data", data, *arguments).ready()[0]

    def test_one_that_gives_no_tokens(self):
        log = self.play(TokenlessManager, 3, {
            "accepted_without_token", "missing_call_token", "missing_rank", "played_field", "foreign_conversation_id"})
        for message in log.messages("CHOOSE_PARITY_RESPONSE") + log.messages("MATCH_RESULT_REPORT"):
            self.assertNotIn("auth_token", message)

    def test_one_that_speaks_without_json_rpc(self):
        self.play(BareManager, 3, {"bare_request_body", "bare_reply_body", "accepted_without_token"})

    def test_one_that_wraps_its_answers(self):
        self.play(WrappingManager, 3, {
            "status_registered", "result_response", "sender_manager_with_id", "timestamp_zone_twice",
            "foreign_call_token", "method_generic", "played_field"})

    def test_one_that_starts_its_referees(self):
        self.play(StartingManager, 3, {"method_alias", "method_tools_call", "missing_call_token"})

    def test_one_that_waits_to_be_asked(self):
        self.play(PolledManager, 2, {"missing_call_token"})

    def test_addresses_come_from_the_operators_file_where_nobody_tells_them(self):
        manager = self.manager(StartingManager)
        manager.start = lambda number, match, a, b: manager.say(manager.referees["REF01"], "START_MATCH", manager.envelope(
            "START_MATCH", round_id=number, match_id=match, player_a_id=a, player_b_id=b))
        for number in range(2):
            self.start_guest("player", manager, f"guest{number}")
        addresses = self.directory / "players.json"
        addresses.write_text(json.dumps(manager.players))
        self.start_guest("referee", manager, "whistle", "--players-file", addresses)
        self.assertEqual(list(manager.play(2)), ["R1M1"])
        addresses.write_text("{}")
        program = self.start("referee", "--manager", manager.url, "--name", "other", "--players-file", addresses)
        self.assertEqual(program.process.wait(20), 2)
        self.assertIn("names no player", program.stderr())

    def test_who_comes_back_is_still_a_guest(self):
        """A restart in the middle of a league: the same identity file, the same address, the next match is played."""
        manager = self.manager(StartingManager)
        self.start_guest("referee", manager, "whistle")
        players = [self.start_guest("player", manager, f"guest{number}") for number in range(2)]
        first = manager.play(2)
        self.assertEqual(list(first), ["R1M1"])
        original = manager.register
        manager.register = lambda kind, m: {
            **manager.envelope("LEAGUE_REGISTER_RESPONSE"), "status": "ACCEPTED", "player_id": "P02",
            "auth_token": m["auth_token"]}
        self.programs[-1].kill()
        self.assertEqual(self.start_guest("player", manager, "guest1"), players[1])
        manager.register = original
        manager.start(2, "R2M1", "P01", "P02")
        manager.wait(lambda: "R2M1" in manager.reports, "report of R2M1")
        self.assertIsNotNone(manager.reports["R2M1"]["result"]["details"]["drawn_number"])

    def test_strict_mode_refuses_all_of_them(self):
        for kind in (TokenlessManager, WrappingManager):
            with self.subTest(kind=kind.__name__):
                manager = self.manager(kind)
                program = self.start("player", "--manager", manager.url, "--name", kind.__name__, "--mode", "strict")
                self.assertEqual(program.process.wait(20), 2)

    def test_a_strict_guest_obeys_nobody_without_its_token(self):
        manager = self.manager(StartingManager)
        # Registers exactly, but for what its manager is called.
        manager.sender = "league_manager"
        original = manager.register
        manager.register = lambda kind, m: {**original(kind, m), "conversation_id": m["conversation_id"]}
        url = self.start_guest("referee", manager, "strict", "--mode", "strict")[0]
        for method in ("START_MATCH", "start_match", "assign_match", "notify_round"):
            answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {
                "match_id": "R1M1", "round_id": 1, "player_a": "P01", "player_b": "P02"}}).json
            self.assertIn("error", answer, method)

    def test_who_was_at_home_stays_at_home(self):
        """The manager of a league of ours is followed, at its address, by somebody who says less."""
        home = self.start_manager(2, 1)
        self.start_referee(home)
        data = self.directory / "agents_data"
        player = self.start("player", "--manager", home.url, "--name", "homely", "--data", data)
        url, identity = player.ready()[0]
        kept = json.loads(next((data / "agents").glob("player_homely.json")).read_text())
        self.assertTrue(kept["match_credentials"] and kept["league_key"])
        player.stop()
        manager = self.manager(StartingManager)
        # Same machine, another port: the token may be shown there, and comes back with less beside it.
        manager.register = lambda kind, m: {
            **manager.envelope("LEAGUE_REGISTER_RESPONSE"), "status": "ACCEPTED", "player_id": identity,
            "auth_token": kept["auth_token"], "conversation_id": m["conversation_id"]}
        url = self.start("player", "--manager", manager.url, "--name", "homely", "--data", data).ready()[0][0]
        answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": "notify_round_completed", "params":
                            manager.envelope("ROUND_COMPLETED", round_id=1)}).json
        self.assertEqual(answer["error"]["data"]["error_code"], "E011")
        kept = json.loads(next((data / "agents").glob("player_homely.json")).read_text())
        self.assertTrue(kept["match_credentials"] and kept["league_key"])

    def test_a_reply_that_is_not_understood_is_named(self):
        manager = self.manager(StartingManager)
        manager.register = lambda kind, m: {"welcome": "P07", "auth_token": "a-secret-token-of-the-manager"}
        program = self.start("player", "--manager", manager.url, "--name", "puzzled")
        self.assertEqual(program.process.wait(20), 2)
        text = program.whole_stderr()
        self.assertIn("welcome", text)
        self.assertNotIn("secret-token-of", text)

    def test_enter_goes_by_the_status(self):
        manager = self.manager(TokenlessManager)
        known = manager.answer
        unknown = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}
        manager.answer = lambda frame: known(frame) if frame["method"] == "LEAGUE_REGISTER_REQUEST" else unknown
        self.assertEqual(self.enter(manager), (0, "clever is P01 of league_foreign\n"))
        manager.register = lambda kind, m: {"status": "REJECTED", "reason": "the league is full", "auth_token": "x"}
        self.assertEqual(self.enter(manager)[0], 1)

    def enter(self, manager):
        command = [BIN / "league", "enter", manager.url, "--name", "clever", "--endpoint", "http://127.0.0.1:9/mcp"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main()
