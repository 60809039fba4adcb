"""Strangers at the seats: four clients that flood them and `await_calls` beside a league of players that come to the manager; and a
player that asks too often."""

import contextlib
import itertools
import json
import secrets
import tempfile
import threading
import time
import unittest
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import support_path  # noqa: F401
from conversation_log import Log
from flood import PLAYERS, Count, clients_at, league_beside_flood, open_halves, request, send_all
from league_testing import limits, message
from seat_testing import SeatTest, open_seat

SECONDS = 6
OUTWARD = ["--transport", "outward"]
# 50 ms is what an idle machine has to spare tenfold (docs/measurements.md); a busy one must not fail here.
GENEROUS_MS = 250


def at_seats(number):
    """A call with a false credential, at a seat that there is, at one that there is not, or at a path of no sense."""
    path = ("/seats/P01", "/seats/P02", f"/seats/P{number % 100:02}", f"/seats/{secrets.token_hex(8)}", "/seats/", "/seats/P01/../P02")
    body = message("GAME_INVITATION", "referee:REF01", secrets.token_hex(32), match_id=f"R{1 + number % 7}M1", league_id="league")
    return request("handle_game_invitation", body, path[number % len(path)])


def polls(number):
    player = f"P{1 + number % PLAYERS:02}"
    return request("await_calls", {"session": f"tok_seat_{player}_{secrets.token_hex(16)}_{secrets.token_hex(32)}", "wait_s": 25})


def huge(number):
    return request("choose_parity", {"auth_token": secrets.token_hex(32), "match_id": "R1M1", "filler": "x" * 250_000}, "/seats/P01")


MAKERS = {"at seats": at_seats, "polls": polls, "huge bodies": huge}
SLOW = "slow bodies"


def client(kind, address, seconds, results):
    count, until = Count(), time.monotonic() + seconds
    if kind == SLOW:
        open_halves(address, count, until, at_seats(0))
    else:
        threads = [threading.Thread(target=send_all, args=(address, MAKERS[kind], i * 100_000, count, until), daemon=True)
                   for i in range(2 if kind == "huge bodies" else 8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 5)
    results.put((kind, {"sent": count.sent, "connections": count.connections, "answers": dict(sorted(count.answers.items()))}))


def flood_seats(url, seconds):
    return clients_at([("127.0.0.1", urlsplit(url).port)], seconds, client, (*MAKERS, SLOW))


def nobody(_url, _seconds):
    return contextlib.nullcontext({})


class Strangers(unittest.TestCase):
    def test_nothing_reaches_the_players_and_nobody_is_slower(self):
        told = {}
        for name, flood in (("alone", nobody), ("flooded", flood_seats)):
            with tempfile.TemporaryDirectory(prefix="league_e2e_") as place:
                told[name] = league_beside_flood(Path(place), SECONDS, flood, OUTWARD)
                log = Log(Path(place) / "logs")
            print(f"{name}: p50 {told[name]['p50_ms']:.1f} ms, p99 {told[name]['p99_ms']:.1f} ms; {told[name]['clients']}", flush=True)
            self.assertEqual(told[name]["lost"], 0, told)
            self.assertEqual(told[name]["honest_failures"], [], told)
            calls = [r for r in log.records if r["agent"].startswith("player:") and r["dir"] == "in" and r["kind"] == "request"]
            self.assertTrue(calls)
            self.assertLessEqual({r["peer"] for r in calls}, {"league_manager", "referee:REF01", "referee:REF02"})
            self.assertFalse([r for r in calls if "verdict" in r])
        self.assertLess(told["flooded"]["p99_ms"], told["alone"]["p99_ms"] + GENEROUS_MS, told)
        for kind in ("at seats", "polls"):
            self.assertGreater(told["flooded"]["clients"][kind]["answers"].get(429, 0), 0, told)


class Impatient(SeatTest):
    def test_a_player_that_asks_too_often_is_told_to_wait(self):
        """Its own budget, and nobody else's; its session goes on."""
        few = limits(budgets={"player_requests_per_second": 5, "burst_seconds": 1})
        manager = self.start_manager(3, 1, limits=few)
        (player, token), (other, foreign) = (self.register_outward(manager, name) for name in ("alpha", "beta"))
        session = open_seat(manager, player, token).result()["session"]

        def ask(session):
            connection = HTTPConnection(urlsplit(manager.url).netloc, timeout=10)
            with contextlib.closing(connection):
                frame = {"jsonrpc": "2.0", "id": 1, "method": "await_calls", "params": {"session": session, "wait_s": 0}}
                connection.request("POST", "/mcp", json.dumps(frame), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer, json.loads(answer.read())

        refused = next(answer for answer, _ in (ask(session) for _ in itertools.count()) if answer.status != 200)
        self.assertEqual(refused.status, 429)
        wait = int(refused.headers["Retry-After"])
        self.assertGreaterEqual(wait, 1)
        answer, body = ask(open_seat(manager, other, foreign).result()["session"])
        self.assertEqual((answer.status, body["result"]["calls"]), (200, []), "the other's budget is its own")
        self.assertFalse(threading.Event().wait(wait))  # as it was told
        answer, body = ask(session)
        self.assertEqual((answer.status, body["result"]["calls"]), (200, []))


if __name__ == "__main__":
    unittest.main()
