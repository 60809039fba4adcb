"""Who may register, when, and under which identity."""

import socket
import threading
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import LeagueTest, player_registration, post, referee_registration, rpc, wait_until
from scripted_bot import Bot

HERE = "http://127.0.0.1:{}/mcp"


class Registration(LeagueTest):
    def register(self, request):
        return rpc(self.manager.url, "register_player", request)

    def assert_rejected(self, answer, code):
        """A well-formed registration that is not acceptable gets its RESPONSE, with the reason."""
        result = answer.result()
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(result["message_type"], "LEAGUE_REGISTER_RESPONSE", answer)
        self.assertEqual((result["status"], result["player_id"], result["error_code"]), ("REJECTED", None, code))
        self.assertTrue(result["reason"])
        self.assertNotIn("auth_token", result)

    def assert_league_error(self, answer, code):
        """A malformed one gets LEAGUE_ERROR."""
        result = answer.result()
        self.assertEqual(result["message_type"], "LEAGUE_ERROR", answer)
        self.assertEqual(result["error_code"], code, answer)
        self.assertEqual(result["original_message_type"], "LEAGUE_REGISTER_REQUEST", answer)

    def accepted(self, request):
        result = self.register(request).result()
        self.assertEqual(result["status"], "ACCEPTED", result)
        return result

    def query(self, identity):
        fields = {"league_id": identity["league_id"], "query_type": "GET_NEXT_MATCH"}
        bot = type("Speaker", (), {"id": identity["player_id"], "token": identity["auth_token"],
                                   "league_id": identity["league_id"]})
        return Bot.say(bot, self.manager, "league_query", "LEAGUE_QUERY", **fields)


class BeforeTheStart(Registration):
    def setUp(self):
        super().setUp()
        self.manager = self.start_manager(5, 1)

    def test_response_is_whole(self):
        result = self.accepted(player_registration("alpha", HERE.format(5001), conversation_id="convmine42"))
        self.assertEqual(result["conversation_id"], "convmine42")
        self.assertEqual((result["player_id"], result["league_id"]), ("P01", self.manager.id))
        self.assertIsNone(result["reason"])
        self.assertRegex(result["auth_token"], r"^tok_p01_[a-z2-7]{52}$")

    def test_repeated_nonce_is_the_same_identity(self):
        request = player_registration("alpha", HERE.format(5001), registration_nonce="n" * 40)
        first = self.accepted(request)
        again = self.accepted(request)
        self.assertEqual([again[k] for k in ("player_id", "auth_token")], [first[k] for k in ("player_id", "auth_token")])
        self.assertEqual(self.status(self.manager)["players"], 1)
        stolen = player_registration("beta", HERE.format(5002), registration_nonce="n" * 40)
        self.assert_rejected(self.register(stolen), "E020")

    def test_same_endpoint_and_name_before_the_start(self):
        first = self.accepted(player_registration("alpha", HERE.format(5001)))
        self.assertIsNone(self.query(first).error_code())
        again = self.accepted(player_registration("alpha", HERE.format(5001)))
        self.assertEqual(again["player_id"], first["player_id"])
        self.assertNotEqual(again["auth_token"], first["auth_token"])
        self.assertEqual(self.query(first).error_code(), "E012", "the old token is void")
        self.assertIsNone(self.query(again).error_code())
        self.assertEqual(self.status(self.manager)["players"], 1)

    def test_same_endpoint_with_another_name(self):
        self.accepted(player_registration("alpha", HERE.format(5001)))
        self.assert_rejected(self.register(player_registration("beta", HERE.format(5001))), "E020")
        answer = rpc(self.manager.url, "register_referee", referee_registration("alpha", HERE.format(5001)))
        self.assertEqual(answer.error_code(), "E020")

    def test_one_name_is_one_player(self):
        self.accepted(player_registration("Alpha", HERE.format(5001)))
        for name in ("Alpha", "alpha", " ALPHA "):
            with self.subTest(name=name):
                answer = self.register(player_registration(name, HERE.format(5002), sender="player:other"))
                self.assert_rejected(answer, "E020")
                self.assertIn("P01", answer.result()["reason"])
        referee = rpc(self.manager.url, "register_referee", referee_registration("Alpha", HERE.format(5003)))
        self.assertEqual(referee.result()["referee_id"], "REF01", "a referee may have a player's name")

    def test_one_address_is_one_agent(self):
        self.accepted(player_registration("alpha", "http://127.0.0.1:5001/mcp"))
        for spelling in ("http://localhost:5001/mcp", "http://LOCALHOST:5001/mcp/", "http://[::1]:5001/mcp",
                         "http://[::ffff:127.0.0.1]:5001/mcp"):
            with self.subTest(spelling=spelling):
                self.assert_rejected(self.register(player_registration("beta", spelling)), "E020")
        self.accepted(player_registration("beta", "http://127.0.0.1:5001/other"))

    def test_a_wrong_token_is_no_new_identity(self):
        first = self.accepted(player_registration("alpha", HERE.format(5001)))
        wrong = "tok_p01_" + "a" * 52
        answer = self.register(player_registration("alpha", HERE.format(5001), auth_token=wrong))
        self.assert_rejected(answer, "E012")
        self.assertNotIn(wrong, answer.text)
        self.assert_rejected(self.register(player_registration("new", HERE.format(5002), auth_token="stale")), "E012")
        self.assertEqual(self.status(self.manager)["players"], 1)
        self.assertIsNone(self.query(first).error_code(), "the right one is as good as before")

    def test_with_the_token_a_player_may_move(self):
        first = self.accepted(player_registration("alpha", HERE.format(5001)))
        moved = self.accepted(player_registration("alpha", HERE.format(5002), auth_token=first["auth_token"]))
        self.assertEqual((moved["player_id"], moved["auth_token"]), (first["player_id"], first["auth_token"]))

    def test_versions(self):
        for version, good in (("2.0.0", True), ("2.1.0", True), ("2.99.1", True), ("3.0.0", False), ("1.9.9", False)):
            request = player_registration("v", HERE.format(5001), meta={"protocol_version": version})
            with self.subTest(version=version):
                if good:
                    self.accepted(request)
                else:
                    self.assert_rejected(self.register(request), "E018")

    def test_endpoints(self):
        for endpoint in (
            "http://169.254.169.254/latest", "http://[fe80::1]:80/", "http://[::ffff:169.254.169.254]/",
            "ftp://localhost/mcp", "file:///etc/passwd", "http://user:pw@localhost:5001/mcp", "http://8.8.8.8/mcp",
            "http://0.0.0.0:80/", "http://224.0.0.1/", "http://2852039166/", "http://localhost:99999/mcp",
        ):
            with self.subTest(endpoint=endpoint):
                answer = self.register(player_registration("e", endpoint))
                self.assertIn(answer.error_code(), ("E027", "E023"), answer)
        self.assertEqual(self.status(self.manager)["players"], 0)
        for i, endpoint in enumerate(("http://10.1.2.3:80/mcp", "http://192.168.0.7/mcp", "http://[::1]:5005/mcp",
                                      "http://localhost:5006/mcp", "http://127.0.0.1:5007")):
            with self.subTest(endpoint=endpoint):
                self.accepted(player_registration(f"e{i}", endpoint))

    def test_malformed(self):
        def with_meta(**meta):
            return player_registration("m", HERE.format(5001), meta=meta)

        without_meta = player_registration("m", HERE.format(5001))
        del without_meta["player_meta"]
        null_name = with_meta(display_name=None)
        for request, code in (
            (without_meta, "E003"), (null_name, "E003"), (with_meta(display_name=7), "E022"),
            (with_meta(display_name=""), "E023"), (with_meta(display_name="x" * 51), "E024"),
            (with_meta(version="one"), "E023"), (with_meta(game_types=[]), "E023"),
            (player_registration("m", HERE.format(5001), protocol="league.v3"), "E018"),
            (player_registration("m", HERE.format(5001), timestamp="2025-02-30T10:00:00Z"), "E021"),
            (player_registration("m", HERE.format(5001), timestamp="2025-01-15T10:30:00+02:00"), "E021"),
            (player_registration("m", HERE.format(5001), sender="wizard:1"), "E025"),
            (player_registration("m", HERE.format(5001), conversation_id="c" * 101), "E024"),
        ):
            with self.subTest(code=code, request=request):
                self.assert_league_error(self.register(request), code)
        self.assert_rejected(self.register(with_meta(game_types=["chess"])), "E028")

    def test_rest_registrations_are_told_where_to_go(self):
        answer = post(self.manager.url.replace("/mcp", "/register"), {"display_name": "rest", "endpoint": HERE.format(5001)})
        self.assertEqual(answer.status, 404, answer)
        for word in ("/mcp", "register_player", "player_meta"):
            self.assertIn(word, answer.text)
        self.assertEqual(self.status(self.manager)["players"], 0)
        told = f"player 'rest' at {HERE.format(5001)} is refused: E007"
        wait_until(lambda: told in self.manager.program.stderr(), 5, told)
        self.stop_programs()
        record, = [r for r in Log(self.logs).matching(agent="league_manager", dir="in") if "rest" in str(r)]
        self.assertEqual(record["verdict"], "E007")

    def test_full(self):
        for i in range(5):
            self.accepted(player_registration(f"bot{i}", HERE.format(5000 + i)))
        self.assert_rejected(self.register(player_registration("late", HERE.format(5010))), "E017")

    def test_a_taken_port_leaves_no_seat_behind(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            player = self.start("player", "--manager", self.manager.url, "--count", 2, port=taken.getsockname()[1] - 1)
            self.assertEqual(player.process.wait(20), 2)
        self.assertIn("in use", player.whole_stderr())
        self.assertEqual(rpc(self.manager.url, "get_agents").result()["agents"], [])


class StrictMode(Registration):
    def test_endpoint_and_name_are_no_proof(self):
        self.manager = self.start_manager(5, 1, "--mode", "strict")
        first = self.accepted(player_registration("alpha", HERE.format(5001)))
        self.assert_rejected(self.register(player_registration("alpha", HERE.format(5001))), "E020")
        back = self.accepted(player_registration("alpha", HERE.format(5001), auth_token=first["auth_token"]))
        self.assertEqual(back["player_id"], first["player_id"])


class AfterTheStart(Registration):
    def test_late_and_returning(self):
        self.manager = self.start_manager(2, 1)
        held = threading.Event()

        class Patient(Bot):
            def answer(bot, frame):
                if frame["method"] == "choose_parity":
                    held.wait(3)
                return Bot.answer(bot, frame)

        bots = [Patient("one"), Bot("two")]
        for bot in bots:
            self.addCleanup(bot.close)
            bot.join(self.manager)
        self.start_referee(self.manager)
        bots[0].wait_for("GAME_INVITATION")
        self.assert_rejected(self.register(player_registration("late", HERE.format(5001))), "E019")
        self.assert_rejected(self.register(player_registration("two", bots[1].url)), "E019")
        back = self.accepted(player_registration("two", bots[1].url, auth_token=bots[1].token))
        self.assertEqual((back["player_id"], back["auth_token"]), (bots[1].id, bots[1].token))
        held.set()
        self.assertEqual(self.wait_until_over(self.manager)["technical_losses"], 0)


if __name__ == "__main__":
    unittest.main()
