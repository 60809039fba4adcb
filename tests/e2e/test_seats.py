"""Players that come to the manager: polls and WebSockets in one league with ordinary players, strangers at a seat, a second
client, a manager that is killed."""

import contextlib
import json
import secrets
import subprocess
import unittest
from datetime import datetime, timedelta, timezone

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, limits, player_registration, post, rpc, wait_until
from seat_testing import SeatTest, credential, open_seat, origin


class Seats(SeatTest):
    def test_a_league_of_polls_and_sockets_and_ordinary_players(self):
        manager = self.start_manager(6, 2)
        for name in ("one", "two"):
            self.start_referee(manager, name=name)
        self.start_players(manager, 2)
        sockets = self.start_outward(manager, 2)
        for name in ("polls_a", "polls_b"):
            self.start_library_bot(name, manager.url)
        status = self.wait_until_over(manager, 60)
        self.assert_table_agrees(manager)
        agents = {row["agent_id"]: row for row in rpc(manager.url, "get_agents").result()["agents"]}
        self.assertEqual({agents[one]["connection"] for one in sockets}, {"websocket"})
        self.assertEqual(sorted(row.get("connection", "") for row in agents.values() if row["kind"] == "player"),
                         ["", "", "poll", "poll", "websocket", "websocket"])
        self.stop_programs()
        self.assert_played_by_choice(status)
        self.assert_verified()
        log = Log(self.logs)
        passed = [r for r in log.matching(agent="league_manager", dir="in") if r.get("via") == "seat"]
        self.assertTrue(passed)
        # Sessions and what is carried over them appear in no log: the messages do, once.
        self.assertFalse(any(r.get("message_type") in ("await_calls", "open_seat") for r in log.matching(agent="league_manager")))
        done = subprocess.run([str(BIN / "league"), "audit", "explain", str(self.directory), "R1M1"], capture_output=True,
                              text=True, timeout=60)
        self.assertIn("fairness: both", done.stdout)
        self.assertNotIn("sent GAME_INVITATION to league_manager", done.stdout)
        fairness = {match["fairness"] for match in self.exported_matches()}
        self.assertEqual(fairness, {"both"})

    def test_strangers_do_not_get_past_the_door(self):
        manager = self.start_manager(3, 1)
        player, token = self.register_outward(manager, "alpha")
        other, foreign = self.register_outward(manager, "beta")
        session = open_seat(manager, player, token).result()["session"]
        refused = {
            "another's token": open_seat(manager, player, foreign),
            "no such player": open_seat(manager, "P99", token),
            "a proof of nothing": open_seat(manager, player, token, proof="0" * 64),
        }
        said = {name: answer.result() for name, answer in refused.items()}
        for name, answer in said.items():
            self.assertEqual(answer.get("error_code"), "E012", (name, answer))
        self.assertEqual(len({answer["error_description"] for answer in said.values()}), 1, "it discloses nothing")
        self.assertEqual(open_seat(manager, player, token, timestamp="2020-01-01T00:00:00Z").result()["error_code"], "E021")
        nonce = secrets.token_hex(16)
        self.assertIn("session", open_seat(manager, other, foreign, nonce=nonce).result())
        self.assertEqual(open_seat(manager, other, foreign, nonce=nonce).result()["error_code"], "E012", "said twice")
        for stranger in ("", "tok_seat_", session[:-1], session.replace("P01", "P02")):
            answer = rpc(manager.url, "await_calls", {"session": stranger, "wait_s": 0}).result()
            self.assertEqual(answer.get("error_code"), "E012", stranger)

        seat = f"{origin(manager)}/seats/{player}"
        calls = {
            "without a credential": ("choose_parity", {"match_id": "R1M1"}),
            "with the player's own token": ("choose_parity", {"match_id": "R1M1", "auth_token": token}),
            "with a guess": ("handle_game_invitation", {"match_id": "R1M1", "auth_token": "0" * 64}),
            "another message": ("notify_round", {"auth_token": token}),
            "another method": ("tools/list", {}),
            "of a session": ("await_calls", {"session": session}),
        }
        for name, (method, params) in calls.items():
            answer = rpc(seat, method, params)
            self.assertEqual(answer.error_code(), "E012", (name, answer))
        self.assertEqual(rpc(seat, "ping").status, 200)
        self.assertEqual(rpc(f"{origin(manager)}/seats/P03", "ping").status, 503)
        nothing = rpc(manager.url, "await_calls", {"session": session, "wait_s": 0}).result()
        self.assertEqual(nothing["calls"], [], "nothing has reached the player")
        refusal = post(manager.url, {"jsonrpc": "2.0", "id": 1, "method": "register_player",
                                     "params": player_registration("gamma", seat)}).result()
        self.assertEqual((refusal["status"], refusal["error_code"]), ("REJECTED", "E027"))
        self.assertIn("was refused at the seat", manager.program.stderr())

    def test_a_second_client_takes_over_and_the_first_says_so(self):
        manager = self.start_manager(4, 1)
        first = self.start_library_bot("twice", manager.url)
        wait_until(lambda: "P01 has come to its seat" in manager.program.stderr(), 20, "the first is there")
        second = self.start_library_bot("twice", manager.url, file="second")
        first.wait(20)
        self.assertIn("another program has opened", self.said("twice"))
        self.assertIsNone(second.poll())

    def test_a_proof_and_a_nonce_count_once_and_are_bounded(self):
        manager = self.start_manager(2, 1)
        player, token = self.register_outward(manager, "alpha")
        for nonce in ("short", "x" * 65, "x" * 100_000, "with a blank in it"):
            self.assertEqual(open_seat(manager, player, token, nonce=nonce).result()["error_code"], "E012", nonce[:70])
        nonce = secrets.token_hex(16)
        late = (datetime.now(timezone.utc) + timedelta(minutes=5, seconds=20)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.assertEqual(open_seat(manager, player, token, nonce=nonce, timestamp=late).result()["error_code"], "E021")
        self.assertEqual(open_seat(manager, player, token, nonce=nonce).result()["error_code"], "E012", "it was used up")
        session = open_seat(manager, player, token).result()["session"]
        rpc(f"{origin(manager)}/seats/{player}", "await_calls", {"session": session})
        rpc(manager.url, "await_call", {"session": session})
        self.stop_programs()
        logged = b"".join(path.read_bytes() for path in self.logs.rglob("*.jsonl"))
        self.assertNotIn(session.encode(), logged)
        self.assertNotIn(b"proof", logged)

    def test_what_a_player_says_at_its_own_seat_is_nobody_elses_word(self):
        """A player can make its match credential itself; a result that it sends itself accuses nobody."""
        quick = limits(time_limits_ms={"GAME_INVITATION": 1000, "CHOOSE_PARITY_CALL": 1000}, retry={"max_attempts": 1})
        manager = self.start_manager(3, 1, limits=quick)
        player, token = self.register_outward(manager, "alpha")
        session = open_seat(manager, player, token).result()["session"]
        self.start_players(manager, 2)
        self.start_referee(manager, limits=quick)
        call = None
        while call is None:
            for one in rpc(manager.url, "await_calls", {"session": session, "wait_s": 5}).result()["calls"]:
                call = one["request"] if one["request"]["method"] == "handle_game_invitation" else call
        match = call["params"]["match_id"]
        self.assertEqual(call["params"]["auth_token"], credential(token, match))
        false = {**call["params"], "message_type": "GAME_ERROR", "error_code": "E001", "error_name": "TIMEOUT_ERROR",
                 "error_description": "false", "affected_player": player, "action_required": "NONE", "retry_info":
                 {"retry_count": 1, "max_retries": 3}, "consequence": "none"}
        with contextlib.suppress(OSError):
            post(f"{origin(manager)}/seats/{player}", {"jsonrpc": "2.0", "id": 77, "method": "notify_game_error", "params": false},
                 timeout=1)
        self.wait_until_over(manager, 60)
        self.stop_programs()
        log = Log(self.logs)
        self.assertTrue([r for r in log.matching(agent="league_manager", dir="in", message_type="GAME_ERROR") if "via" in r])
        self.assertFalse([r for r in log.matching(agent="league_manager", dir="in") if "via" in r and "said_by" in r])
        self.assert_verified()

    def test_a_manager_that_ends_blames_no_player(self):
        """SIGTERM while calls are open at seats: they are made again later, and are nobody's fault."""
        manager = self.start_manager(2, 1)
        for name in ("alpha", "beta"):
            self.register_outward(manager, name)
        self.start_referee(manager)
        wait_until(lambda: "round 1" in manager.program.stderr(), 20, "it has begun")
        self.wait_until_sent("GAME_INVITATION", 2)
        manager.program.stop()
        log = Log(self.logs)
        self.assertFalse(log.matching(agent="referee:REF01", message_type="GAME_ERROR"))
        self.assertFalse([r for r in log.matching(agent="referee:REF01") if r.get("verdict") == "E010"])

    def wait_until_sent(self, message_type, count):
        def sent():
            files = [path.read_text(errors="replace") for path in (self.logs / "agents").glob("REF*.jsonl")]
            return sum(f'"message_type":"{message_type}"' in line for text in files for line in text.splitlines()) >= count

        wait_until(sent, 10, f"{count} {message_type} are sent")

    def test_a_manager_that_is_killed_finds_everybody_back(self):
        slow = limits(retry={"delay_ms": 300}, league={"start_delay_ms": 100})
        manager = self.start_lasting_manager(5, 1, limits=slow)
        self.start_referee(manager)
        self.start_players(manager, 2, "slow:50", "--data", self.directory / "data")
        self.start_outward(manager, 2)
        self.start_library_bot("polls", manager.url)
        wait_until(lambda: self.status(manager)["matches_completed"] >= 2, 30, "it plays")
        manager.program.kill()
        manager.restart()
        status = self.wait_until_over(manager, 90)
        self.assert_table_agrees(manager)
        self.stop_programs()
        self.assertEqual(status["technical_losses"], 0)
        self.assert_verified()

    def test_a_second_league_in_the_same_folder(self):
        """Bots that still run, and programs that are started again, become players of the new league; an old token opens nothing."""
        quick = limits(league={"start_delay_ms": 100})
        manager = self.start_lasting_manager(4, 1, limits=quick)
        for name, language in (("python", "python"), ("node", "javascript")):
            self.start_library_bot(name, manager.url, language=language)
        wait_until(lambda: len(self.players_by_name(manager)) == 2, 20, "the libraries' bots are in")
        for second in (False, True):
            if second:
                self.stop_programs()
                manager.restart("--new", "--players", 4, "--referees", 1)
                for player, token in tokens.items():
                    self.assertEqual(open_seat(manager, player, token).result()["error_code"], "E012", player)
            self.start_outward(manager, 2)
            self.start_referee(manager, "--data", self.directory / "data")
            self.wait_until_over(manager, 60)
            self.assert_table_agrees(manager)
            self.assertEqual(set(self.players_by_name(manager)), {"python", "node", "out1", "out2"})
            identities = [json.loads(path.read_text()) for path in (self.directory / "data" / "agents").glob("player_out*.json")]
            tokens = {one["id"]: one["auth_token"] for one in identities}
        self.stop_programs()
        self.assert_verified()
        self.assertIn("the bot registers anew", self.said("python"))


if __name__ == "__main__":
    unittest.main()
