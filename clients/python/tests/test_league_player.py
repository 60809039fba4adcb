"""The client library against a fake manager: its seat, its memory, its rules, and what goes wrong."""

import contextlib
import hashlib
import http.client
import io
import json
import os
import socket
import stat
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import league_player  # noqa: E402
from fake_manager import FakeManager, Fault, RefereedMatch, keyed  # noqa: E402
from league_player import Player  # noqa: E402

GAMES = Path(__file__).resolve().parents[3] / "games"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class LeaguePlayerTest(unittest.TestCase):
    """A manager, and bots in threads, with what they print."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.manager = FakeManager()
        self.addCleanup(self.manager.stop)
        self.out, self.err = io.StringIO(), io.StringIO()
        for redirected in (contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err)):
            redirected.__enter__()
            self.addCleanup(redirected.__exit__, None, None, None)
        for name, value in {"FIRST_DELAY": 0.01, "LONGEST_DELAY": 0.05}.items():
            patch = mock.patch.object(Player, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def bot(self, choose=lambda match: "even", name="my-bot"):
        bot = Player(name)
        bot.choose(choose)
        return bot

    def slow_bot(self, choosing, may_choose):
        self.addCleanup(may_choose.set)
        return self.bot(lambda match: choosing.set() or may_choose.wait(5) and "odd" or "even")

    def run_bot(self, bot, manager=None, **options):
        """Runs it in a thread; the thread's `outcome` is what run() raised."""
        options.setdefault("data", str(self.folder / "bot.json"))

        def run():
            try:
                bot.run(manager or self.manager.url, **options)
            except SystemExit as why:
                thread.outcome = str(why)
        thread = threading.Thread(target=run)
        thread.outcome = None
        thread.start()

        def stop():
            bot.stop()
            thread.join(5)
            self.assertFalse(thread.is_alive(), "the bot stops")
        self.addCleanup(stop)
        thread.stop = stop
        return thread

    def start(self, bot=None, **options):
        """A bot that has its seat and polls."""
        bot = bot or self.bot()
        opened = len(self.manager.opened)
        thread = self.run_bot(bot, **options)
        self.manager.wait(lambda: len(self.manager.opened) > opened and self.manager.waiting)
        return bot, thread

    def stored(self, name="bot.json"):
        return json.loads((self.folder / name).read_text())


class Playing(LeaguePlayerTest):
    def test_registers_and_opens_its_seat(self):
        self.start(code="secret-code")
        request = self.manager.registrations[0]
        self.assertEqual(request["player_meta"], {
            "display_name": "my-bot", "version": league_player.__version__, "game_types": ["even_odd"],
            "receipts": True, "protocol_version": "2.1.0", "contact_endpoint": "outward",
            "registration_code": "secret-code"})
        self.assertEqual(request["sender"], "player:my_bot")
        self.assertEqual(request["message_type"], "LEAGUE_REGISTER_REQUEST")
        self.assertRegex(request["registration_nonce"], "^[0-9a-f]{32}$")
        self.assertRegex(self.manager.opened[0]["nonce"], "^[A-Za-z0-9_-]{16,64}$")
        self.assertEqual(self.manager.turns[0], {"session": self.manager.session, "wait_s": 0, "answers": []})
        self.assertEqual(self.manager.turns[1]["wait_s"], 25)
        self.assertIn("my-bot is P07 in league_test", self.out.getvalue())
        self.assertEqual(self.err.getvalue(), "")

    def test_plays_a_match(self):
        asked, told = [], []
        bot = self.bot(lambda match: asked.append(match) or "odd")
        bot.on_result(told.append)
        self.start(bot)
        match = RefereedMatch(self.manager, opponent_choice="even")
        joined, answer, acknowledged = match.play()
        bound = match.commitment("P07", "odd", answer["choice_nonce"])
        about = f"{self.manager.league_key}|R1M1|1|0|{match.draw}"
        self.assertEqual((joined["accept"], joined["choice_commitment"]), (True, bound))
        self.assertEqual(answer["parity_choice"], "odd")
        self.assertEqual(joined["receipt"], keyed(self.manager.receipt_key, f"JOIN|{about}|true|{bound}"))
        said = f"CHOICE|{about}|odd|{answer['choice_nonce']}|{match.bound}"
        self.assertEqual(answer["receipt"], keyed(self.manager.receipt_key, said))
        for message in (joined, answer):
            self.assertEqual(message["auth_token"], keyed(self.manager.token, "answer|R1M1#1"))
            self.assertEqual((message["conversation_id"], message["match_id"]), ("convR1M1", "R1M1"))
        self.assertEqual(acknowledged, {"status": "ok"})
        self.assertEqual(len(asked), 1, "the choice is made at the invitation, and only there")
        self.assertEqual((asked[0].id, asked[0].opponent, asked[0].round, asked[0].choices, asked[0].history),
                         ("R1M1", "P03", 1, ["even", "odd"], []))
        self.assertTrue(0 < asked[0].seconds_left <= 4, asked[0].deadline)
        self.manager.wait(lambda: told)
        self.assertEqual(told[0][:5], ("R1M1", 1, "P03", "odd", "even"))
        self.assertEqual((told[0].outcome in ("win", "loss"), told[0].technical), (True, False))
        self.assertEqual(self.manager.queries, [])

    def test_knows_earlier_matches_and_the_table(self):
        asked = []
        _, thread = self.start(self.bot(lambda match: asked.append(match) or "even"))
        for number, opponent in enumerate(("even", "odd"), 1):
            RefereedMatch(self.manager, f"R{number}M1", number, opponent).play()
        table = [{"rank": 1, "player_id": "P07"}]
        self.manager.call("update_standings", self.of_manager("LEAGUE_STANDINGS_UPDATE", standings=table))
        thread.stop()
        self.start(self.bot(lambda match: asked.append(match) or "even"))
        RefereedMatch(self.manager, "R3M1", 3, "even").play()
        self.assertEqual([len(match.history) for match in asked], [0, 1, 2])
        self.assertEqual([result.opponent_choice for result in asked[2].meetings], ["even", "odd"])
        self.assertEqual(asked[2].history[0].outcome, "draw")

    def of_manager(self, message_type, **fields):
        return {"protocol": "league.v2", "message_type": message_type, "sender": "league_manager",
                "timestamp": "20250115T103000Z", "conversation_id": "convnews",
                "auth_token": self.manager.token, **fields}

    def test_shows_the_table_to_choose(self):
        asked = []
        self.start(self.bot(lambda match: asked.append(match) or "even"))
        table = [{"rank": 1, "player_id": "P07"}]
        self.manager.call("update_standings", self.of_manager("LEAGUE_STANDINGS_UPDATE", standings=table))
        RefereedMatch(self.manager).play()
        self.assertEqual(asked[0].standings, table)

    def test_offers_the_choices_of_the_call(self):
        self.start(self.bot(lambda match: match.choices[-1]))
        match = RefereedMatch(self.manager, game={"choices": ["rock", "paper"]})
        joined = self.manager.call("handle_game_invitation", match.invitation())["result"]
        self.assertTrue(joined["accept"])
        answer = self.manager.call("choose_parity", match.question())["result"]
        self.assertEqual(answer["parity_choice"], "paper")

    def test_judges_by_the_definition_of_another_game(self):
        """It comes with the answer to the registration; nothing is drawn."""
        pennies = json.loads((GAMES / "matching_pennies.json").read_text())
        self.manager.game = pennies
        bot = Player("my-bot", game="matching_pennies")
        bot.choose(lambda match: match.choices[0])
        self.start(bot)
        self.assertEqual(self.manager.registrations[0]["player_meta"]["game_types"], ["matching_pennies"])
        undrawn = {"drawn_number": None, "number_parity": None}
        for number, (told, is_true) in enumerate(((None, False), ("P03", False), ("P07", True)), 1):
            match = RefereedMatch(self.manager, f"R{number}M1", opponent_choice="heads")
            self.manager.call("handle_game_invitation", match.invitation())
            answer = self.manager.call("choose_parity", match.question())["result"]
            self.assertEqual(answer["parity_choice"], "heads", "player A wins with equal words")
            over = match.over(answer, **undrawn, winner_player_id=told, status="WIN" if told else "DRAW")
            self.assertEqual("result" in self.manager.call("notify_match_result", over), is_true)

    def test_even_odd_is_what_it_was_whatever_the_manager_says(self):
        even_odd = json.loads((GAMES / "even_odd.json").read_text())
        for drawn in ([], ["odd"], ["odd", "even"] * 51, None):
            self.assertFalse(league_player.is_game({**even_odd, "drawn": drawn}, "even_odd"), drawn)
        self.manager.game = {**even_odd, "drawn": ["odd", "odd"]}
        self.start(self.bot(lambda match: "even"))
        RefereedMatch(self.manager).play()

    def test_a_slow_choice_delays_nobody_and_leaves_at_once(self):
        may_choose = threading.Event()
        self.addCleanup(may_choose.set)
        self.start(self.bot(lambda match: may_choose.wait(5) and "odd" if match.id == "R1M1" else "even"))
        slow, quick = RefereedMatch(self.manager), RefereedMatch(self.manager, "R1M2")
        opened = self.manager.begin("handle_game_invitation", slow.invitation())
        repeated = self.manager.begin("handle_game_invitation", slow.invitation())
        quick.play()
        self.manager.wait(lambda: self.manager.waiting)  # so only a second connection can answer
        may_choose.set()
        joined = [self.manager.end(call)["result"]["choice_commitment"] for call in (opened, repeated)]
        self.assertEqual(joined[0], joined[1], "the repeated invitation gets the same promise")
        self.assertTrue(any(turn["wait_s"] == 0 and turn["answers"] for turn in self.manager.turns))
        self.manager.wait(lambda: self.manager.waiting)

    def test_answers_in_each_dialect(self):
        self.start()
        for number, method in enumerate(["GAME_INVITATION", "receive_game_invitation", "handle_message",
                                         "mcp_message"]):
            message = RefereedMatch(self.manager, f"R1M{number}").invitation()
            call = {"message": message} if method == "handle_message" else message
            self.assertTrue(self.manager.call(method, call)["result"]["accept"], method)
        match = RefereedMatch(self.manager, "R2M1")
        call = {"name": "handle_game_invitation", "arguments": match.invitation()}
        result = self.manager.call("tools/call", call)["result"]
        self.assertTrue(result["structuredContent"]["accept"])
        self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        for method in ("initialize", "dance"):
            self.assertEqual(self.manager.call(method, match.invitation())["error"]["code"], -32601)
        self.assertEqual(self.manager.call("ping", {})["result"], {"status": "ok"})

    def test_accepts_the_announced_token_of_a_foreign_referee(self):
        self.start()
        match = RefereedMatch(self.manager)
        theirs = {"auth_token": "tok_theirs", "context": {}}
        shown = match.invitation(**theirs, draw_commitment=None)
        refused = self.manager.call("handle_game_invitation", shown)
        self.assertEqual(refused["error"]["data"]["error_code"], "E012")
        announced = {"match_id": "R1M1", "player_A_id": "P07", "player_B_id": "P03",
                     "draw_commitment": match.draw,
                     "referee_credential": "token:" + hashlib.sha256(b"tok_theirs").hexdigest()}
        self.manager.call("notify_round", self.of_manager("ROUND_ANNOUNCEMENT", matches=[announced]))
        joined = self.manager.call("handle_game_invitation", shown)["result"]
        self.assertTrue(joined["accept"])
        self.assertEqual(joined["auth_token"], keyed(self.manager.token, "answer|R1M1#1"))
        self.assertNotIn("choice_commitment", joined)
        other = match.invitation(**theirs, draw_commitment="0" * 64)
        refused = self.manager.call("handle_game_invitation", other)
        self.assertEqual(refused["error"]["data"]["error_code"], "E040", "no seed, but no other one either")
        answer = self.manager.call("choose_parity", match.question(**theirs))["result"]
        self.assertEqual((answer["parity_choice"], "choice_nonce" in answer), ("even", False))
        over = match.message("GAME_OVER", auth_token="tok_theirs", game_result={
            "status": "WIN", "winner_player_id": "P03", "drawn_number": 7, "number_parity": "odd",
            "reason": "", "choices": {"P07": "even", "P03": "odd"}})
        self.assertEqual(self.manager.call("notify_match_result", over)["result"], {"status": "ok"})
        self.assertEqual(self.stored()["results"], [["R1M1", 1, "P03", "even", "odd", 7, "loss", False]])
        stranger = RefereedMatch(self.manager, "R1M2").invitation(auth_token="tok_theirs")
        self.assertIn("error", self.manager.call("handle_game_invitation", stranger))

    def test_refuses_strangers_other_seeds_and_broken_messages(self):
        self.start()
        match = RefereedMatch(self.manager)
        for changes, code in [({"auth_token": "wrong"}, "E012"), ({"auth_token": None}, "E011"),
                              ({"match_id": None}, "E003"), ({"protocol": "league.v3"}, "E018"),
                              ({"timestamp": "2025-02-30T10:00:00Z"}, "E021"), ({"context": "text"}, "E023"),
                              ({"context": {"attempt": 2}}, "E023"), ({"round_id": float("inf")}, "E023"),
                              ({"context": {"attempt": 1, "opponent_commitment": 1e999}}, "E023")]:
            refused = self.manager.call("handle_game_invitation", match.invitation(**changes))
            self.assertEqual(refused["error"]["data"]["error_code"], code, changes)
            self.assertEqual(refused["error"]["code"], -32602)
        match.play()
        for draw in ("0" * 64, None):
            other = self.manager.call("handle_game_invitation", match.invitation(draw_commitment=draw))
            self.assertEqual(other["error"]["data"]["error_code"], "E040", draw)

    def test_refuses_and_disputes_a_false_result(self):
        self.start()
        for number, changes in enumerate([{"drawn_number": 11}, {"winner_player_id": "P09"},
                                          {"choices": {"P07": "odd", "P03": "odd"}}], 1):
            match = RefereedMatch(self.manager, f"R{number}M1")
            self.manager.call("handle_game_invitation", match.invitation())
            answer = self.manager.call("choose_parity", match.question())["result"]
            refused = self.manager.call("notify_match_result", match.over(answer, **changes))
            self.assertEqual(refused["error"]["data"]["error_code"], "E035", changes)
            self.manager.wait(lambda: len(self.manager.queries) == number)
            self.assertEqual(self.manager.queries[-1]["query_type"], "DISPUTE_MATCH")
            self.assertEqual(self.manager.queries[-1]["query_params"]["match_id"], match.id)
        self.assertIn("my-bot: disputes R1M1: ", self.err.getvalue())

    def test_tells_the_manager_what_it_answered(self):
        self.start()
        joined, answer, _ = RefereedMatch(self.manager).play()
        question = {"auth_token": self.manager.token, "match_id": "R1M1"}
        record = self.manager.call("get_match_record", question)["result"]
        self.assertEqual([call["message_type"] for call in record["calls"]],
                         ["GAME_INVITATION", "CHOOSE_PARITY_CALL"])
        self.assertEqual(record["calls"][1]["receipt"], answer["receipt"])
        self.assertNotIn("auth_token", json.dumps(record))
        refused = self.manager.call("get_match_record", {"auth_token": "wrong", "match_id": "R1M1"})
        self.assertEqual(refused["error"]["data"]["error_code"], "E012")

    def test_a_technical_loss_is_disputed_and_remembered(self):
        told = []
        bot = self.bot()
        bot.on_result(told.append)
        self.start(bot)
        match = RefereedMatch(self.manager)
        self.manager.call("handle_game_invitation", match.invitation())
        result = {"status": "TECHNICAL_LOSS", "winner_player_id": "P03", "drawn_number": None,
                  "number_parity": None, "reason": "", "choices": {"P07": None, "P03": "odd"}}
        for _ in range(2):  # told twice, disputed and remembered once
            answer = self.manager.call("notify_match_result", match.message("GAME_OVER", game_result=result))
            self.assertEqual(answer["result"], {"status": "ok"})
        self.manager.wait(lambda: self.manager.queries and told)
        self.assertEqual((len(self.manager.queries), len(told)), (1, 1))
        self.assertEqual(self.stored()["results"], [["R1M1", 1, "P03", None, "odd", None, "loss", True]])

    def test_a_technical_loss_is_disputed_that_is_told_before_its_time_is_over(self):
        choosing, may_choose = threading.Event(), threading.Event()
        self.start(self.slow_bot(choosing, may_choose))
        match = RefereedMatch(self.manager)
        self.manager.begin("handle_game_invitation", match.invitation())
        self.assertTrue(choosing.wait(5))
        result = {"status": "TECHNICAL_LOSS", "winner_player_id": "P03", "drawn_number": None,
                  "number_parity": None, "reason": "", "choices": {"P07": None, "P03": None}}
        self.manager.call("notify_match_result", match.message("GAME_OVER", game_result=result))
        self.manager.wait(lambda: self.manager.queries)
        self.assertRegex(self.manager.queries[0]["query_params"]["reason"],
                         r"^I still had (3|4)\.\d s to answer GAME_INVITATION$")


class AuthorsFaults(LeaguePlayerTest):
    def test_an_exception_is_printed_once_and_the_bot_plays_on(self):
        self.start(self.bot(lambda match: {}["nothing"]))
        for number in (1, 2):
            self.assertEqual(RefereedMatch(self.manager, f"R{number}M1").play()[1]["parity_choice"], "even")
        self.assertEqual(self.err.getvalue().count("KeyError: 'nothing'"), 1)
        self.assertIn("my-bot: choose failed; so the bot chooses 'even'", self.err.getvalue())

    def test_a_word_of_another_game_is_printed_once(self):
        self.start(self.bot(lambda match: "Even"))
        for number in (1, 2):
            self.assertEqual(RefereedMatch(self.manager, f"R{number}M1").play()[1]["parity_choice"], "even")
        self.assertEqual(self.err.getvalue().count("choose returned 'Even'"), 1)

    def test_a_result_that_nobody_can_handle(self):
        bot, told = self.bot(), []
        bot.on_result(lambda result: told.append(result) or 1 / 0)
        self.start(bot)
        for number in (1, 2):
            RefereedMatch(self.manager, f"R{number}M1").play()
        self.manager.wait(lambda: len(told) == 2)
        self.assertEqual(self.err.getvalue().count("my-bot: on_result failed"), 1)

    def test_exit_is_no_way_out_of_a_match(self):
        self.start(self.bot(lambda match: sys.exit(1)))
        self.assertEqual(RefereedMatch(self.manager).play()[1]["parity_choice"], "even")

    def test_what_it_does_to_its_match_is_its_own(self):
        self.start(self.bot(lambda match: match.choices.pop()))
        for number in (1, 2):
            answer = RefereedMatch(self.manager, f"R{number}M1").play()[1]
            self.assertEqual(answer["parity_choice"], "even", "it returned what was not a choice any more")

    def test_without_a_function(self):
        with self.assertRaisesRegex(SystemExit, "mark one with @bot.choose"):
            Player("my-bot").run(self.manager.url)


class Seats(LeaguePlayerTest):
    def test_another_program_takes_over(self):
        _, thread = self.start()
        self.manager.take_over()
        thread.join(5)
        self.assertEqual((thread.is_alive(), thread.outcome), (False, None))
        self.assertEqual(self.err.getvalue(),
                         "my-bot: another program has opened this bot's seat, so this one stops\n")

    def test_another_program_takes_over_between_two_polls(self):
        choosing, may_choose = threading.Event(), threading.Event()
        _, thread = self.start(self.slow_bot(choosing, may_choose))
        self.manager.begin("handle_game_invitation", RefereedMatch(self.manager).invitation())
        self.assertTrue(choosing.wait(5))
        self.manager.wait(lambda: self.manager.waiting)
        self.manager.faults.append(Fault(200, "E016", "a newer session took over", {}))
        may_choose.set()
        thread.join(5)
        self.assertFalse(thread.is_alive())
        self.assertIn("another program", self.err.getvalue())

    def test_its_own_new_session_is_no_other_program(self):
        bot, _ = self.start()
        old = bot.seat.session
        self.manager.forget_session()
        self.manager.wait(lambda: len(self.manager.opened) == 2 and self.manager.waiting)
        self.manager.was_session.add(old)
        late = league_player.Connection(bot.addresses[0])
        self.addCleanup(late.http.close)
        bot.seat.exchange(late, old, [], 0)
        self.assertFalse(bot.stopping.is_set())

    def test_an_unknown_session_is_opened_again(self):
        self.start()
        match = RefereedMatch(self.manager)
        self.manager.call("handle_game_invitation", match.invitation())
        self.manager.forget_session()
        answer = self.manager.call("choose_parity", match.question())["result"]
        self.assertEqual(answer["parity_choice"], "even")
        self.assertEqual((len(self.manager.opened), len(self.manager.registrations)), (2, 1))
        self.assertEqual(self.err.getvalue(), "")

    def test_a_call_that_was_open_is_answered_in_the_new_session(self):
        choosing, may_choose = threading.Event(), threading.Event()
        self.start(self.slow_bot(choosing, may_choose))
        call = self.manager.begin("handle_game_invitation", RefereedMatch(self.manager).invitation())
        self.assertTrue(choosing.wait(5))
        self.manager.forget_session()
        self.manager.wait(lambda: len(self.manager.opened) == 2 and len(call.sessions) == 2)
        may_choose.set()
        self.assertTrue(self.manager.end(call)["result"]["accept"])

    def test_the_manager_restarts(self):
        choosing, may_choose = threading.Event(), threading.Event()
        self.start(self.slow_bot(choosing, may_choose))
        self.manager.begin("handle_game_invitation", RefereedMatch(self.manager).invitation())
        self.assertTrue(choosing.wait(5))
        self.manager.wait(lambda: self.manager.waiting)
        self.manager.stop()
        self.manager.ids = iter(range(1, 100))
        self.manager.start()
        self.manager.wait(lambda: self.manager.waiting)
        ping = self.manager.begin("get_player_state", {})  # has the id of the call that was open before
        may_choose.set()
        self.assertIn("error", self.manager.end(ping), "the old answer is not taken for this call's")
        self.assertTrue(RefereedMatch(self.manager, "R2M1").play()[0]["accept"])
        self.assertEqual(len(self.manager.registrations), 1)
        self.assertEqual(self.err.getvalue().count("\n"), 2, self.err.getvalue())
        self.assertIn(f"my-bot: connected to http://localhost:{self.manager.port}\n", self.err.getvalue())

    def test_connection_refused_then_back(self):
        self.manager.stop()
        bot = self.bot()
        tried, attempts = threading.Event(), []
        waited = bot.delay

        def delay(failures):
            attempts.append(failures)
            if len(attempts) > 3:
                tried.set()
            return waited(failures)
        bot.delay = delay
        self.run_bot(bot)
        self.assertTrue(tried.wait(5))
        self.assertEqual(attempts[:4], [0, 1, 2, 3])
        self.manager.start()
        self.manager.wait(lambda: self.manager.waiting)
        self.assertEqual(attempts, sorted(attempts))
        attempts.clear()
        self.manager.stop()
        self.manager.wait(lambda: attempts)
        self.assertEqual(attempts[0], 0, "the next failure waits as shortly as the first")
        self.manager.start()
        self.manager.wait(lambda: self.manager.waiting)
        self.assertRegex(self.err.getvalue(),
                         r"\Amy-bot: http://localhost:\d+: Connection refused; trying again\n"
                         r"my-bot: connected to http://localhost:\d+\n"
                         r"my-bot: http://localhost:\d+: [^\n]*; trying again\n"
                         r"my-bot: connected to http://localhost:\d+\n\Z")

    def test_the_next_address_is_used(self):
        nobody = f"127.0.0.1:{free_port()}"
        for addresses in (f"{nobody} , {self.manager.url}", [nobody, self.manager.url]):
            opened = len(self.manager.opened)
            thread = self.run_bot(self.bot(), addresses)
            self.manager.wait(lambda: len(self.manager.opened) > opened and self.manager.waiting)
            thread.stop()

    def test_a_seat_that_is_refused_leads_to_a_new_registration(self):
        self.start()
        self.manager.token = "tok_of_another_league"
        self.manager.league_key = "f" * 64
        self.manager.forget_session()
        self.manager.wait(lambda: len(self.manager.opened) == 3 and self.manager.waiting)
        self.assertEqual(["auth_token" in one for one in self.manager.registrations], [False, True, False])
        self.assertIn("registers anew", self.err.getvalue())

    def test_it_waits_when_it_asks_too_often(self):
        choosing = threading.Event()
        self.start(self.bot(lambda match: choosing.set() or "odd"))
        busy = Fault(429, "E091", "too many", {"retry_after_ms": 20})
        with self.manager.state:
            self.manager.faults = [busy, busy]
        self.assertTrue(RefereedMatch(self.manager).play()[0]["accept"])
        self.assertEqual((self.manager.faults, len(self.manager.opened), self.err.getvalue()), ([], 1, ""))

    def test_an_answer_that_cannot_be_handed_in_is_made_again(self):
        choosing, may_choose = threading.Event(), threading.Event()
        self.start(self.slow_bot(choosing, may_choose))
        call = self.manager.begin("handle_game_invitation", RefereedMatch(self.manager).invitation())
        self.assertTrue(choosing.wait(5))
        self.manager.wait(lambda: self.manager.waiting)
        self.manager.faults.append(Fault(500, -32603, "internal error", {}))
        may_choose.set()
        self.assertTrue(self.manager.end(call)["result"]["accept"])
        self.assertEqual(len(self.manager.opened), 2)

    def test_calls_of_another_form(self):
        wrong = [{"calls": [1]}, {"calls": "text"}, {"calls": [{"request": {}}]}]
        serve = self.manager.await_calls
        self.manager.await_calls = lambda params: wrong.pop() if wrong else serve(params)
        self.start()
        self.assertEqual((wrong, len(self.manager.opened)), ([], 4))
        self.assertIn("calls of another form; trying again", self.err.getvalue())

    def test_a_manager_without_seats(self):
        unknown = Fault(200, -32601, "Method not found", {})
        with mock.patch.object(FakeManager, "open_seat", side_effect=unknown):
            thread = self.run_bot(self.bot())
            thread.join(5)
        self.assertEqual(thread.outcome, "my-bot: this league has no seats; give the bot a port to serve")

    def test_an_answer_that_is_none(self):
        for status, body in ((502, "<html>Bad gateway</html>"), (200, "[]"), (200, "{}")):
            connection = league_player.Connection("http://127.0.0.1:1/mcp")
            with mock.patch.object(connection, "connect"), mock.patch.object(connection, "http") as http:
                http.getresponse.return_value.configure_mock(status=status, headers={})
                http.getresponse.return_value.read.return_value = body.encode()
                text = f"HTTP {status}, and no answer of a league"
                with self.assertRaisesRegex(league_player.Unreachable, text):
                    connection.call("ping", {})


class Memory(LeaguePlayerTest):
    def test_comes_back_as_the_same_player(self):
        _, thread = self.start()
        thread.stop()
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "bot.json").st_mode), 0o600)
        self.start()
        first, second = self.manager.registrations
        self.assertEqual((first.get("auth_token"), second["auth_token"]), (None, self.manager.token))
        self.assertEqual(first["registration_nonce"], second["registration_nonce"])
        self.assertEqual(self.stored()["home"]["receipt_key"], self.manager.receipt_key)

    def test_keeps_its_promise_over_a_restart(self):
        words = iter(["odd", "even"])
        _, thread = self.start(self.bot(lambda match: next(words)))
        match = RefereedMatch(self.manager)
        before = self.manager.call("handle_game_invitation", match.invitation())["result"]
        thread.stop()
        self.start(self.bot(lambda match: next(words)))
        again = self.manager.call("handle_game_invitation", match.invitation())["result"]
        self.assertEqual(again["choice_commitment"], before["choice_commitment"])

    def test_shows_its_token_to_no_other_manager(self):
        _, thread = self.start()
        thread.stop()
        with_token = self.stored()
        other = FakeManager("league_other")
        self.addCleanup(other.stop)
        thread = self.run_bot(self.bot(), other.url)
        other.wait(lambda: other.waiting)
        self.assertNotIn("auth_token", other.registrations[0])
        self.assertNotEqual(other.registrations[0]["registration_nonce"],
                            with_token["home"]["registration_nonce"])
        thread.stop()
        self.assertEqual(self.stored(), with_token)
        self.assertEqual(self.stored("bot.2.json")["me"]["auth_token"], other.token)
        self.start()
        self.assertEqual(self.manager.registrations[-1]["auth_token"], self.manager.token)

    def test_addresses_that_were_given_together_are_one_league(self):
        nobody = f"http://127.0.0.1:{free_port()}"
        for addresses in ([self.manager.url, nobody], [self.manager.url]):
            self.start(manager=addresses)[1].stop()
        self.assertEqual(len(self.stored()["managers"]), 2)
        identity = league_player.Identity(self.folder / "bot.json", [nobody], "my-bot")
        self.assertEqual(identity.me["auth_token"], self.manager.token)

    def test_another_identity_gets_another_file(self):
        self.start()[1].stop()
        old = self.stored()
        self.manager.register = lambda request: {
            "status": "ACCEPTED", "player_id": self.manager.player_id, "auth_token": self.manager.token,
            "league_id": "league_next", "league_key": "0" * 64, "receipt_key": "1" * 64}
        self.start()[1].stop()
        self.assertEqual(self.stored(), old)
        self.assertEqual(self.stored("bot.2.json")["home"], {
            "registration_nonce": old["home"]["registration_nonce"], "league_key": "0" * 64,
            "receipt_key": "1" * 64})

    def test_another_league_at_the_same_address(self):
        _, thread = self.start()
        thread.stop()
        old = self.stored()
        self.manager.token, self.manager.league_key = "tok_new", "0" * 64
        _, thread = self.start()
        thread.stop()
        self.assertEqual(self.stored(), old)
        self.assertEqual(self.stored("bot.2.json")["me"]["auth_token"], "tok_new")
        self.start()
        self.assertEqual(self.manager.registrations[-1]["auth_token"], "tok_new", "the newest is tried first")

    def test_a_rejection_ends_it_with_the_reason(self):
        rejected = {"status": "REJECTED", "error_code": "E020", "reason": "name is taken"}
        self.manager.register = lambda request: rejected
        thread = self.run_bot(self.bot())
        thread.join(5)
        self.assertRegex(thread.outcome, r"my-bot: not admitted at http://localhost:\d+: name is taken")

    def test_an_overloaded_manager_is_asked_again(self):
        answers = [{"error_code": "E091", "error_description": "overloaded", "retryable": True}]
        self.manager.register = lambda request: answers.pop() if answers else self.manager.accept(request)
        self.start()
        nonces = {request["registration_nonce"] for request in self.manager.registrations}
        self.assertEqual((len(self.manager.registrations), len(nonces)), (2, 1))

    def test_a_damaged_file_is_not_overwritten(self):
        (self.folder / "bot.json").write_text("{")
        thread = self.run_bot(self.bot())
        thread.join(5)
        self.assertIn("move it away", thread.outcome)
        self.assertEqual((self.folder / "bot.json").read_text(), "{")


class Serving(LeaguePlayerTest):
    def serve(self, bot=None):
        self.run_bot(bot or self.bot(), serve=0)
        self.manager.wait(lambda: self.manager.registrations)
        return self.manager.registrations[0]["player_meta"]["contact_endpoint"]

    def post(self, endpoint, body):
        connection = http.client.HTTPConnection(endpoint.split("/")[2], timeout=5)
        self.addCleanup(connection.close)
        connection.request("POST", "/mcp", body)
        response = connection.getresponse()
        return response.status, json.loads(response.read()) if response.status == 200 else None

    def test_answers_at_the_address_that_it_registers(self):
        endpoint = self.serve()
        self.assertRegex(endpoint, r"^http://127\.0\.0\.1:\d+/mcp$")
        ping = json.dumps({"jsonrpc": "2.0", "id": "one", "method": "ping"})
        answer = {"jsonrpc": "2.0", "id": "one", "result": {"status": "ok"}}
        self.assertEqual(self.post(endpoint, ping), (200, answer))
        for body, code in ((b"{", -32700), (b"\xff", -32700), (b"[]", -32600), (b'{"method": 1}', -32600)):
            self.assertEqual(self.post(endpoint, body)[1]["error"]["code"], code, body)
        self.assertEqual(self.manager.opened, [])

    def test_says_why_it_is_rejected(self):
        rejected = {"status": "REJECTED", "error_code": "E027", "reason": "local only"}
        self.manager.register = lambda request: rejected
        thread = self.run_bot(self.bot(), serve=0)
        thread.join(5)
        self.assertIn("local only", thread.outcome)

    def test_a_port_that_is_taken(self):
        thread = self.run_bot(self.bot(), serve=self.manager.port)
        thread.join(5)
        self.assertRegex(thread.outcome, r"port \d+: Address already in use")


class Parts(unittest.TestCase):
    def test_addresses(self):
        for given, address in {"localhost:8000": "http://localhost:8000/mcp", "http://h:1/": "http://h:1/mcp",
                               "https://h/league/mcp": "https://h/league/mcp",
                               "http://h?registration_code=c": "http://h/mcp?registration_code=c"}.items():
            self.assertEqual(league_player.address_of(given), address)
        for given in ("nats://h:1", "http://", "", "http://h:80000", "http://[h"):
            with self.assertRaises(SystemExit):
                league_player.address_of(given)
        self.assertEqual(league_player.origin_of("https://[::1]/mcp?registration_code=c"),
                         "https://localhost:443")

    def test_times(self):
        for text in ("2025-01-15T10:30:00Z", "20250115T10:30:00Z", "20250115T103000.5+00:00"):
            self.assertTrue(league_player.is_utc_time(text), text)
        for text in ("2025-01-15T103000Z", "2025-01-15T10:30:00", "2025-02-30T10:30:00Z",
                     "2025-01-15T10:30:00+02:00", "2025-01-15 10:30:00Z"):
            self.assertFalse(league_player.is_utc_time(text), text)

    def test_proxies_are_for_distant_managers(self):
        proxies = {"http_proxy": "http://me:secret@proxy.example:3128", "no_proxy": "near.example"}
        with mock.patch.dict(os.environ, proxies):
            for host in ("localhost", "127.0.0.1", "[::1]", "192.168.0.7", "arena", "near.example"):
                near = league_player.Connection(f"http://{host}:8000/mcp")
                self.assertNotIn("proxy", near.http.host, host)
            far = league_player.Connection("http://arena.example/mcp?x=1")
        self.assertEqual((far.http.host, far.http.port, far.target),
                         ("proxy.example", 3128, "http://arena.example/mcp?x=1"))
        self.assertEqual(far.headers["Proxy-Authorization"], "Basic bWU6c2VjcmV0")

    def test_delays_grow_to_ten_seconds_with_jitter(self):
        bot = Player("my-bot")
        for failures, longest in ((0, 0.25), (3, 2), (6, 10), (5000, 10)):
            for _ in range(20):
                self.assertTrue(longest / 2 <= bot.delay(failures) <= longest)

    def test_the_command_line(self):
        bot = Player("my-bot")
        bot.choose(lambda match: "even")
        words = "bot.py --manager http://h:1,http://h:2 --serve 8101 --code c --name other".split()
        for given in ((), ("http://ignored",)):
            with mock.patch.object(sys, "argv", words), mock.patch.object(bot, "run_server") as served, \
                    mock.patch.object(league_player, "Identity") as identity:
                bot.run(*given)
            self.assertEqual(served.call_args[0], (8101, None))
            self.assertEqual(bot.addresses, ["http://h:1/mcp", "http://h:2/mcp"])
            self.assertEqual((bot.name, bot.code), ("other", "c"))
            self.assertEqual(str(identity.call_args[0][0]), "other.json")

    def test_text_of_others_is_one_line(self):
        self.assertEqual(league_player.shown("a\x1b[31m\nb"), "a [31m b")


if __name__ == "__main__":
    unittest.main()
