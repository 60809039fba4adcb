"""The fair clock at seats: what the manager keeps from a player is not the player's fault, what the player keeps is, and a manager
that lies about it gains no more than three plays."""

import contextlib
import os
import signal
import threading
import unittest
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import Agent, limits, rpc
from scripted_bot import Bot, exact_reply
from seat_testing import SeatTest, open_seat

# One attempt, so that one time-out is a loss.
ONE_CHANCE = limits(retry={"max_attempts": 1, "delay_ms": 100},
                    time_limits_ms={"GAME_INVITATION": 5000, "CHOOSE_PARITY_CALL": 900},
                    league={"referee_ping_interval_ms": 60000})


class Sitting(Agent):
    """A player at its seat, faultless but for what `before(call)` does: if that is true, the call gets no answer."""

    def __init__(self, manager, identity, token, before):
        super().__init__(None, manager.url, identity)
        self.token, self.before, self.manager = token, before, manager
        self.session = open_seat(manager, identity, token).result()["session"]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def play(self):
        answers = []
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                given = {"session": self.session, "wait_s": 1, "answers": answers}
                calls = rpc(self.manager.url, "await_calls", given).result()["calls"]
                answers = [{"jsonrpc": "2.0", "id": one["request"]["id"], "result": exact_reply(self, one["request"]["params"])}
                           for one in calls if not self.before(one["request"]["params"])]


class Liar(ThreadingHTTPServer):
    """A manager's seats as a liar would keep them: each time-out is said to be the seat's delay of a quarter of an hour."""

    def __init__(self, manager):
        at = urlsplit(manager.url).netloc

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with contextlib.closing(HTTPConnection(at, timeout=30)) as connection:
                    connection.request("POST", self.path, body, dict(self.headers))
                    answer = connection.getresponse()
                    data = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                if answer.status == 504:
                    self.send_header("League-Seat-Delay-Us", "900000000")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/mcp"


class SeatsClock(SeatTest):
    def play(self, before, between=None):
        """A match between a player at a seat and another one; the details of its report."""
        self.manager = manager = self.start_manager(2, 1, limits=ONE_CHANCE)
        player = Sitting(manager, *self.register_outward(manager, "seated"), before)
        self.addCleanup(player.over.set)
        other = Bot("served")
        self.addCleanup(other.close)
        other.join(manager)
        through = manager
        if between:
            through = between(manager)
            self.addCleanup(through.server_close)
            self.addCleanup(through.shutdown)
        program = self.start("referee", "--manager", through.url, "--name", "whistle", *self.admission(manager), limits=ONE_CHANCE)
        program.ready()
        self.wait_until_over(manager, 40)
        player.over.set()
        player.thread.join()
        self.stop_programs()
        self.assert_verified()
        report, = Log(self.logs).accepted_reports()["R1M1"]
        return report["result"]["details"]

    def test_a_manager_that_stands_still_costs_the_player_nothing(self):
        stopped = []

        def stand_still(call):
            if call.get("message_type") == "CHOOSE_PARITY_CALL" and not stopped:
                pid = self.manager.program.process.pid
                stopped.append(pid)
                os.kill(pid, signal.SIGSTOP)
                threading.Timer(2.5, os.kill, (pid, signal.SIGCONT)).start()  # longer than limit and grace

        details = self.play(stand_still)
        self.assertTrue(stopped)
        self.assertEqual(details["termination"], "NORMAL", details)
        self.assertEqual(details["replays"], 1)
        for failure in details["failures"]:
            self.assertEqual(failure["error_code"], "E001", failure)
            self.assertTrue(failure["clock"]["void"], failure)
        self.assertTrue(any(one["clock"].get("seat_delay_us", 0) > 900_000 for one in details["failures"]), details)

    def test_a_player_that_stands_still_loses(self):
        details = self.play(lambda call: call.get("message_type") == "CHOOSE_PARITY_CALL")
        failure = details["failures"][-1]
        self.assertEqual((failure["error_code"], failure["phase"]), ("E001", "sent"), failure)
        # A busy machine may make manager or referee late in earnest.
        clock = failure["clock"]
        late = max(clock["scheduling_delay_us"], clock["canary_us"], clock.get("seat_delay_us", 0))
        self.assertEqual(clock["void"], late > 50_000, failure)
        self.assertEqual(details["termination"], "TIMEOUT_CHOICE", details)

    def test_a_manager_that_lies_gains_three_plays(self):
        details = self.play(lambda call: call.get("message_type") == "CHOOSE_PARITY_CALL", Liar)
        self.assertEqual(details["termination"], "TIMEOUT_CHOICE", details)
        self.assertEqual(details["replays"], 3)
        self.assertEqual(len(details["failures"]), 4)
        for failure in details["failures"]:
            self.assertTrue(failure["clock"]["void"])
            self.assertLessEqual(failure["clock"]["seat_delay_us"], 1000 * (failure["elapsed_ms"] + 1), "it is bounded")


if __name__ == "__main__":
    unittest.main()
