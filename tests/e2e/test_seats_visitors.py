"""Who may call a player at its seat, and when: a third party's referee with its own token, the credential of an attempt that is
over; and a player that takes a seat and then reads nothing."""

import concurrent.futures
import contextlib
import json
import time
import unittest
from http.client import HTTPConnection
from urllib.parse import urlsplit

import support_path  # noqa: F401
from browser import WebSocket
from league_testing import limits, message, rpc, wait_until
from scripted_bot import Bot
from seat_testing import SeatTest, credential, open_seat, origin, seat_request

# The referee of these tests begins a match only when they say so.
PATIENT = limits(league={"start_watchdog_ms": 60000, "referee_ping_interval_ms": 60000, "start_delay_ms": 0})
QUICK = limits(time_limits_ms={"GAME_INVITATION": 100}, league={"start_watchdog_ms": 60000, "referee_ping_interval_ms": 60000})


class Visitors(SeatTest):
    def start_league(self, players, limits=PATIENT):
        """A manager, a third party's referee that does nothing by itself, and players: by id, the token of each."""
        self.manager = self.start_lasting_manager(players, 1, limits=limits)
        self.referee = Bot("visitor")
        self.addCleanup(self.referee.close)
        self.referee.join_as_referee(self.manager)
        self.tokens = dict(self.register_outward(self.manager, name) for name in ("alpha", "beta", "gamma")[:players - 1])
        self.assert_refused(self.visit("P01", "GAME_INVITATION", "R1M1"))  # nothing is scheduled yet
        self.tokens.update([self.register_outward(self.manager, "last")])

    def visit(self, player, message_type, match, token=None, method=None, timeout=15, **fields):
        """A call of the referee at a seat."""
        methods = {"GAME_INVITATION": "handle_game_invitation", "CHOOSE_PARITY_CALL": "choose_parity",
                   "GAME_OVER": "notify_match_result", "GAME_ERROR": "notify_game_error"}
        shared = {"league_id": self.manager.id, "round_id": int(match[1]), "match_id": match, "game_type": "even_odd"}
        body = message(message_type, "referee:" + self.referee.id, token or self.referee.token, **shared, **fields)
        return rpc(f"{origin(self.manager)}/seats/{player}", method or methods[message_type], body, timeout=timeout)

    def sessions(self):
        return {player: open_seat(self.manager, player, token).result()["session"] for player, token in self.tokens.items()}

    def arrived(self, session):
        """The methods of the calls that wait at a seat, but for the manager's own, answered with `ok`."""
        methods, answers = [], []
        while True:
            given = {"session": session, "wait_s": 0, "answers": answers}
            requests = [one["request"] for one in rpc(self.manager.url, "await_calls", given).result()["calls"]]
            if not requests:
                return methods
            answers = [{"jsonrpc": "2.0", "id": one["id"], "result": {"status": "ok"}} for one in requests]
            methods += [one["method"] for one in requests if one["params"]["sender"] != "league_manager"]

    def assert_passes(self, session, player, message_type, match, **fields):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            call = pool.submit(self.visit, player, message_type, match, **fields)
            wait_until(lambda: call.done() or self.arrived(session), 10, "it arrives at the seat")
            answer = call.result()
        self.assertEqual(answer.result(), {"status": "ok"}, answer)

    def assigned(self, match):
        """Waits until the referee has been given the match; returns its players."""
        told = self.referee.wait_for("ROUND_ANNOUNCEMENT", where=lambda m: any(one["match_id"] == match for one in m["matches"]))
        one = next(one for one in told["matches"] if one["match_id"] == match)
        return one["player_A_id"], one["player_B_id"]

    def report(self, match, players):
        fields = {"round_id": int(match[1]), "match_id": match, "game_type": "even_odd", "result": {
            "winner": players[0], "score": {players[0]: 3, players[1]: 0},
            "details": {"drawn_number": 4, "choices": {players[0]: "even", players[1]: "odd"}}}}
        answer = self.referee.say(self.manager, "report_match_result", "MATCH_RESULT_REPORT", role="referee", **fields)
        self.assertIsNone(answer.error_code(), answer)

    def assert_refused(self, answer, code="E012"):
        self.assertEqual(answer.error_code(), code, answer)

    def test_a_third_partys_referee_gets_in_during_its_match(self):
        self.start_league(3)
        pair = self.assigned("R1M1")
        player, absent = pair[0], next(one for one in self.tokens if one not in pair)
        sessions = self.sessions()
        for session in sessions.values():
            self.arrived(session)
        # During its match: the four messages of a match, and nothing else, at the seats of its players only.
        for message_type in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_ERROR", "GAME_OVER"):
            self.assert_passes(sessions[player], player, message_type, "R1M1")
        self.assert_refused(self.visit(absent, "GAME_INVITATION", "R1M1"))
        self.assert_refused(self.visit(player, "GAME_INVITATION", "R2M1"))  # before it
        self.assert_refused(self.visit(player, "GAME_INVITATION", "R1M1", token="tok_ref01_" + "a" * 52))
        for method, message_type in (("notify_round", "ROUND_ANNOUNCEMENT"), ("update_standings", "LEAGUE_STANDINGS_UPDATE"),
                                     ("notify_league_error", "LEAGUE_ERROR"), ("get_match_record", "GAME_INVITATION"),
                                     ("tools/list", "GAME_INVITATION"), ("await_calls", "GAME_INVITATION")):
            self.assert_refused(self.visit(player, message_type, "R1M1", method=method))
        # A player's own credential for this attempt is a match credential; that of another attempt is not.
        self.assert_refused(self.visit(player, "GAME_INVITATION", "R1M1", token=credential(self.tokens[player], "R1M1", 2)))
        # After it: no more questions, but results until the round after it is over.
        self.report("R1M1", pair)
        self.assigned("R2M1")
        self.assert_refused(self.visit(player, "GAME_INVITATION", "R1M1"), "E031")
        self.assert_refused(self.visit(player, "CHOOSE_PARITY_CALL", "R1M1"), "E031")
        self.assert_passes(sessions[player], player, "GAME_OVER", "R1M1")
        self.report("R2M1", self.assigned("R2M1"))
        self.assigned("R3M1")
        for message_type in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_ERROR", "GAME_OVER"):
            self.assert_refused(self.visit(player, message_type, "R1M1"))
        for one, session in sessions.items():
            self.assertEqual(self.arrived(session), [], f"nothing else has reached {one}")

    def test_a_credential_of_a_closed_attempt(self):
        self.start_league(2)
        player, _ = self.assigned("R1M1")
        token = self.tokens[player]
        self.assert_passes(self.sessions()[player], player, "GAME_INVITATION", "R1M1", token=credential(token, "R1M1", 1))
        self.manager.program.kill()
        self.referee.calls.clear()
        self.manager.restart()
        self.assigned("R1M1")
        session = self.sessions()[player]
        self.assert_refused(self.visit(player, "GAME_INVITATION", "R1M1", token=credential(token, "R1M1", 1)))
        self.assertEqual(self.arrived(session), [])
        self.assert_passes(session, player, "GAME_INVITATION", "R1M1", token=credential(token, "R1M1", 2))

    def test_a_caller_says_how_long_it_waits(self):
        self.start_league(2, limits=QUICK)
        player, _ = self.assigned("R1M1")
        self.sessions()
        body = message("GAME_INVITATION", "referee:" + self.referee.id, self.referee.token, match_id="R1M1")
        frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "handle_game_invitation", "params": body})
        for said, is_long in ({"League-Time-Limit-Ms": "2000"}, True), ({}, False), ({"League-Time-Limit-Ms": "600001"}, False), \
                             ({"League-Time-Limit-Ms": "x"}, False):
            begun = time.monotonic()
            with contextlib.closing(HTTPConnection(urlsplit(self.manager.url).netloc, timeout=15)) as connection:
                connection.request("POST", f"/seats/{player}", frame, {"Content-Type": "application/json", **said})
                answer = connection.getresponse()
                self.assertEqual(answer.status, 504, answer.read())
                self.assertGreaterEqual(int(answer.headers["League-Seat-Delay-Us"]), 0)
            self.assertEqual(time.monotonic() - begun >= 2, is_long, said)

    def test_who_reads_nothing_loses_the_session_and_keeps_the_seat(self):
        self.start_league(2, limits=QUICK)
        player, _ = self.assigned("R1M1")
        web_socket = WebSocket(self.manager.url.replace("http://", "ws://"))
        self.addCleanup(web_socket.socket.close)
        web_socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "open_seat",
                                    "params": seat_request(player, self.tokens[player])}))
        wait_until(lambda: self.connection(player) == "websocket", 10, "it has its seat")
        large = {"filler": "x" * 30_000}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            def called():
                for one in [pool.submit(self.visit, player, "GAME_INVITATION", "R1M1", **large) for _ in range(7)]:
                    self.assertIn(one.result().status, (429, 504))
                return self.connection(player) == "away"

            wait_until(called, 40, "its session has ended")
        session = self.sessions()[player]
        self.assertEqual(self.connection(player), "poll")
        self.assert_passes(session, player, "GAME_ERROR", "R1M1")

    def connection(self, player):
        agents = rpc(self.manager.url, "get_agents").result()["agents"]
        return next(row.get("connection") for row in agents if row["agent_id"] == player)


if __name__ == "__main__":
    unittest.main()
