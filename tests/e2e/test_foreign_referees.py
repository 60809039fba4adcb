"""Third-party referees in a league of ours: each is started in its own dialect, and one that cannot be costs nobody a wait."""

import hashlib
import shutil
import subprocess
import sys
import time
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from foreign_referee import DIALECTS, FORMS, Dialect, ForeignReferee, by_acknowledging, by_nothing, by_start_match_after_a_yes, flat, no_points_for_draws, plain, without_details
from league_testing import SOURCE, LeagueTest, limits, rpc, wait_until
from scripted_bot import Bot, exact_reply


class Chooser(Bot):
    """A faultless player that always says the same."""

    def __init__(self, name, choice):
        self.choice = choice
        super().__init__(name)

    def reply(self, frame):
        reply = exact_reply(self, frame.get("params", {}))
        if "parity_choice" in reply:
            reply["parity_choice"] = self.choice
        return reply


def lying(points, choices, number):
    """The loser has won."""
    return flat({player: 3 - value for player, value in points.items()}, choices, number)


class ForeignReferees(LeagueTest):
    def players(self, manager, count):
        for i in range(count):
            bot = Chooser(f"chooser_{i}", ("even", "odd")[i % 2])
            self.addCleanup(bot.close)
            bot.join(manager)

    def referee(self, manager, dialect, form=plain, **meta):
        referee = ForeignReferee(f"{dialect.name}_{form.__name__}", dialect, form)
        self.addCleanup(referee.close)
        return referee.join_as_referee(manager, **meta)

    def play(self, dialect, form=plain, players=3):
        manager = self.start_manager(players, 1)
        self.players(manager, players)
        referee = self.referee(manager, dialect, form)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(len(referee.played), status["total_matches"], referee.played)
        self.assertEqual(len(status["unproven"]), status["total_matches"])
        self.assertEqual(status["technical_losses"], 0, manager.program.stderr())
        self.assert_table_agrees(manager)
        self.stop_programs()
        self.assertNotIn("ASSIGNMENT_REFUSED", manager.program.stderr())
        self.assertNotIn("has not accepted", manager.program.stderr())
        self.assert_verified("result.unproven")
        return referee, status

    def searched(self, referee):
        """Methods of calls by which no match began, each with how often it came."""
        unknown = [str(frame["method"]) for frame in referee.calls
                   if "method" in frame and referee.dialect.started_by(referee, frame) is None]
        return {name: unknown.count(name) for name in unknown}

    def test_what_worked_is_remembered(self):
        referee, _ = self.play(next(one for one in DIALECTS if one.name == "assign_match"), players=4)
        self.assertLessEqual(self.searched(referee).get("START_MATCH", 0), 2, self.searched(referee))

    def test_players_are_told_whose_token_to_expect(self):
        manager = self.start_manager(2, 1)
        bots = [Chooser(name, "even") for name in ("a", "b")]
        for bot in bots:
            self.addCleanup(bot.close)
            bot.join(manager)
        referee = self.referee(manager, DIALECTS[0])
        self.wait_until_over(manager, 30)
        told = bots[0].wait_for("ROUND_ANNOUNCEMENT")
        self.assertEqual(told["auth_token"], bots[0].token)
        self.assertEqual([one["referee_credential"] for one in told["matches"]],
                         ["token:" + hashlib.sha256(referee.token.encode()).hexdigest()])

    def test_a_referee_that_cannot_be_started_costs_no_wait(self):
        deaf = Dialect("deaf", by_nothing)
        manager = self.start_manager(2, 2, limits={})
        referee = self.referee(manager, deaf)
        ours = self.start_referee(manager)
        begun = time.monotonic()
        bots = [Chooser(name, "even") for name in ("a", "b")]
        for bot in bots:
            self.addCleanup(bot.close)
            bot.join(manager)
        self.wait_until_over(manager, 30)
        self.assertLess(time.monotonic() - begun, 20, "the limit of a match is 157 s")
        self.assertEqual(referee.played, [])
        self.stop_programs()
        self.assertIn("has refused R1M1", manager.program.stderr())
        self.assertIn("knows none of the calls", manager.program.stderr())
        # The players were told of a referee that shows its token; now it is one of ours.
        told = bots[0].received("ROUND_ANNOUNCEMENT")
        self.assertEqual(told[-1]["matches"][0]["referee_credential"], "match", told)
        self.assertIn(ours.id, told[-1]["matches"][0]["referee_id"])

    def test_a_referee_that_says_yes_and_does_nothing_is_noticed(self):
        manager = self.start_manager(2, 2, limits=limits(league={"start_watchdog_ms": 300}))
        idle = self.referee(manager, Dialect("idle", by_acknowledging))
        self.start_referee(manager)
        self.start_players(manager, 2, "random")
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["technical_losses"], 0)
        self.stop_programs()
        stderr = manager.program.stderr()
        self.assertIn("'idle_plain' has acknowledged R1M1 and not begun it within start_watchdog_ms: it is started", stderr)
        self.assertIn("the match goes to another referee", stderr)
        self.assertIn("START_MATCH", [frame["method"] for frame in idle.calls])
        self.assert_verified()

    def test_the_next_way_of_starting_is_tried_where_one_does_nothing(self):
        manager = self.start_manager(2, 1, limits=limits(league={"start_watchdog_ms": 300}))
        self.players(manager, 2)
        referee = self.referee(manager, Dialect("second_way", by_start_match_after_a_yes))
        self.wait_until_over(manager, 30)
        self.assertEqual(referee.played, ["R1M1"])
        self.stop_programs()
        self.assertNotIn("goes to another referee", manager.program.stderr())

    def test_a_mixed_league(self):
        """Four origins of referees share the rounds; sums are right and both verifiers accuse nobody."""
        self.play_mixed(self.players)

    def test_a_mixed_league_of_our_own_players(self):
        """They accept the tokens that the announcements name, for those matches only."""
        self.play_mixed(lambda manager, count: self.start_players(manager, count, "random"))

    def test_a_mixed_league_of_starters(self):
        """So do they; where the referee promises no seed they do not commit, elsewhere they do."""
        python, node = ([program, SOURCE / "examples" / "bots" / file] for program, file in
                        ((sys.executable, "python/bot.py"), ("node", "node/bot.mjs")))

        def start(manager, count):
            for i in range(count):
                command = node if i % 2 and shutil.which("node") else python
                bot = subprocess.Popen([*map(str, command), "--manager", manager.url, "--name", f"starter{i}", "--data",
                                        self.directory / f"starter{i}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.addCleanup(bot.wait)
                self.addCleanup(bot.kill)

        self.play_mixed(start)

    def play_mixed(self, start_players):
        manager = self.start_manager(8, 4)
        foreign = [self.referee(manager, one, form) for one, form in
                   zip((DIALECTS[0], DIALECTS[2], DIALECTS[-1]), (flat, without_details, no_points_for_draws))]
        self.start_referee(manager)
        start_players(manager, 8)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["technical_losses"], 0, manager.program.stderr())
        self.assert_table_agrees(manager)
        by_foreign = sorted(match for one in foreign for match in one.played)
        self.assertEqual(sorted(status["unproven"]), by_foreign, "of our own referee each result is proven")
        # The one that polls loses its matches to the others if it asks too late.
        self.assertTrue(all(one.played for one in foreign if not one.dialect.polls))
        self.assertLess(len(by_foreign), status["total_matches"])
        self.stop_programs()
        # None of the foreign can pass receipts on, so nobody is told that any are missing.
        self.assertNotIn("RECEIPTS_DOUBTFUL", manager.program.whole_stderr())
        self.assertFalse([m for m in Log(self.logs).messages("LEAGUE_ERROR") if "receipts" in m.get("context", {})])
        self.assert_verified("result.unproven")

    def test_a_referee_of_other_origin_that_lies_is_refused(self):
        manager = self.start_manager(2, 1)
        self.players(manager, 2)
        liar = self.referee(manager, DIALECTS[0], lying)
        wait_until(lambda: liar.reported, 10, "the lie is told")
        self.assertEqual(liar.reported.error_code(), "E035", liar.reported)
        self.assertEqual(self.status(manager)["matches_completed"], 0)
        wait_until(lambda: "for R1M1 is refused: E035" in manager.program.stderr(), 10, "the operator knows")

    def test_a_lone_referee_that_has_not_polled_yet_is_waited_for(self):
        late = Dialect("late_poller", by_nothing, polls=True, first_poll=3)
        self.play(late, players=2)

    def test_an_error_is_a_refusal(self):
        class Busy(ForeignReferee):
            def answer(self, frame):
                self.answers.append(frame)
                return {"jsonrpc": "2.0", "id": frame["id"], "error": {"code": -32603, "message": "I am broken"}}

        manager = self.start_manager(2, 2, limits={})
        busy = Busy("busy", DIALECTS[0])
        self.addCleanup(busy.close)
        busy.join_as_referee(manager)
        self.start_referee(manager)
        self.players(manager, 2)
        self.wait_until_over(manager, 20)
        self.stop_programs()
        self.assertIn("I am broken", manager.program.stderr())

    def test_a_match_is_pending_for_who_has_seen_its_players(self):
        """A poller asks for players first. A match that begins in between must not be PENDING while it knows none of them."""
        manager = self.start_manager(2, 1)
        poller = Bot("poller")
        self.addCleanup(poller.close)
        poller.join_as_referee(manager)

        def ask(method, **params):
            return rpc(manager.url, method, {"referee_id": poller.id, "auth_token": poller.token, **params}).result()

        self.assertEqual(ask("league_query", query_type="GET_REGISTRATIONS")["players"], [])
        self.players(manager, 2)
        poller.wait_for("ROUND_ANNOUNCEMENT")
        self.assertEqual(ask("get_assigned_matches")["matches"], [])
        self.assertEqual(len(ask("league_query", query_type="GET_REGISTRATIONS")["players"]), 2)
        self.assertEqual([one["status"] for one in ask("get_assigned_matches")["matches"]], ["PENDING"])
        self.assertEqual([one["status"] for one in ask("get_assigned_matches")["matches"]], ["IN_PROGRESS"])

    def test_a_referee_that_polls_need_not_be_reachable(self):
        class Thinker(Chooser):
            def reply(self, frame):
                if "choose" in str(frame.get("method")):
                    time.sleep(0.5)  # pings fail meanwhile
                return super().reply(frame)

        # Time for the first question of the referee, and far less than a match takes.
        quick = limits(league={"referee_ping_interval_ms": 50, "referee_ping_failures": 8}, retry={"delay_ms": 200})
        manager = self.start_manager(2, 1, limits=quick)
        for name in ("a", "b"):
            bot = Thinker(name, "even")
            self.addCleanup(bot.close)
            bot.join(manager)
        polling = next(one for one in DIALECTS if one.polls)
        referee = self.referee(manager, polling, contact_endpoint="http://127.0.0.1:9/mcp")
        status = self.wait_until_over(manager, 30)
        self.assertEqual(len(referee.played), 1, status)
        self.assertEqual(status["technical_losses"], 0)
        self.stop_programs()
        for word in ("REFEREE_LOST", "SUSPENDED"):
            self.assertNotIn(word, manager.program.stderr())

    def test_polling_shows_a_referee_its_own_matches_only(self):
        manager = self.start_manager(4, 2)
        self.players(manager, 3)
        first, second = Bot("first"), Bot("second")
        for bot in (first, second):
            self.addCleanup(bot.close)
            bot.join_as_referee(manager)
        last = Chooser("last", "odd")
        self.addCleanup(last.close)
        last.join(manager)
        seen = []
        for bot in (first, second):
            bot.wait_for("ROUND_ANNOUNCEMENT")
            answer = rpc(manager.url, "get_assigned_matches", {"referee_id": "REF01", "auth_token": bot.token})
            seen.append({one["match_id"]: one for one in answer.result()["matches"]})
            self.assertEqual({one["referee_id"] for one in seen[-1].values()}, {bot.id})
            players = rpc(manager.url, "league_query", {"query_type": "GET_REGISTRATIONS", "auth_token": bot.token}).result()["players"]
            expected = {one[side] for one in seen[-1].values() for side in ("player_A_id", "player_B_id")}
            self.assertEqual({one["player_id"] for one in players}, expected)
        self.assertEqual(sorted({**seen[0], **seen[1]}), ["R1M1", "R1M2"])
        for token in (None, "tok_ref01_wrong", last.token):
            for method, params in (("get_assigned_matches", {"referee_id": first.id}), ("league_query", {"query_type": "GET_REGISTRATIONS"})):
                answer = rpc(manager.url, method, {**params, **({"auth_token": token} if token else {})})
                self.assertIsNotNone(answer.error_code(), f"{method} with {token}: {answer}")
                self.assertNotIn("chooser", answer.text)
        asked = last.say(manager, "league_query", "LEAGUE_QUERY", query_type="GET_REGISTRATIONS")
        self.assertEqual(asked.error_code(), "E016", asked)


def case(dialect, form):
    def test(self):
        referee, _ = self.play(dialect, form)
        self.assertIsNone(referee.reported.error_code(), referee.reported)

    return test


for one in DIALECTS:
    setattr(ForeignReferees, f"test_dialect_{one.name}", case(one, plain))
for form in FORMS[1:]:
    setattr(ForeignReferees, f"test_form_{form.__name__}", case(DIALECTS[0], form))

if __name__ == "__main__":
    unittest.main()
