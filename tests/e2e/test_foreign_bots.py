"""A league of other people's bots: open mode plays with all of them and names what it put up with, strict mode refuses."""

import copy
import dataclasses
import subprocess
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from foreign_bots import STYLES, ForeignBot
from league_testing import BIN, LeagueTest, limits, nightly, now, player_registration, rpc
from scripted_bot import Bot, Raw, exact_reply, message_in

# Acknowledgements of news and the choice of method are free in both modes; so is the form of a time.
FREE_IN_STRICT = {"ack_method_not_found", "ack_without_json"}


class ForeignBots(LeagueTest):
    def bots(self, styles):
        made = [ForeignBot(style) for style in styles]
        for bot in made:
            self.addCleanup(bot.close)
        return made

    def test_the_first_third_plays_in_open_mode(self):
        self.play_in_open_mode(STYLES[::3])

    def test_the_second_third_plays_in_open_mode(self):
        self.play_in_open_mode(STYLES[1::3])

    def test_the_last_third_plays_in_open_mode(self):
        self.play_in_open_mode(STYLES[2::3])

    @nightly
    def test_all_play_with_each_other(self):
        self.play_in_open_mode(STYLES)

    def play_in_open_mode(self, styles):
        bots = self.bots(styles)
        ours = 2
        manager = self.start_manager(len(bots) + ours, 1)
        self.start_referee(manager, "--max-matches", 8)
        self.start_players(manager, ours)
        for bot in bots:
            bot.join(manager)
        status = self.wait_until_over(manager, 60)
        self.assert_table_agrees(manager)
        for bot in bots:
            if bot.style.methods("notify_league_completed"):
                bot.wait_for("LEAGUE_COMPLETED")
        self.stop_programs()
        self.assert_verified()
        log = Log(self.logs)
        failures = [f for (r, *_) in log.accepted_reports().values() for f in r["result"]["details"].get("failures", [])]
        self.assertEqual(failures, [])
        self.assertEqual(status["technical_losses"], 0)
        for bot in bots:
            with self.subTest(style=bot.style.name):
                self.assertLessEqual(bot.style.leniencies,
                                     log.leniencies(peer="player:" + bot.id) | self.at_registration(log, bot))

    @staticmethod
    def at_registration(log, bot):
        records = log.matching(agent="league_manager", dir="in", message_type="LEAGUE_REGISTER_REQUEST")
        return {name for r in records if bot.url in r["body"] for name in r.get("leniencies", [])}

    def test_bots_that_serve_one_connection_after_the_other(self):
        """The idle connection of one of our programs must not keep the others away from such a bot."""
        class OneThread(ForeignBot):
            has_threads = False

        style = next(one for one in STYLES if one.name == "type_as_method")
        bots = [OneThread(dataclasses.replace(style, name=f"one_thread_{i}")) for i in range(2)]
        for bot in bots:
            self.addCleanup(bot.close)
        manager = self.start_manager(4, 1)
        self.start_referee(manager)
        self.start_players(manager, 2)
        for bot in bots:
            bot.join(manager)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["technical_losses"], 0, manager.program.stderr())
        self.stop_programs()
        self.assert_verified()

    def test_a_server_without_our_tools_is_searched_once(self):
        class Toolless(Bot):
            def answer(self, frame):
                method = frame.get("method", "")
                if method == "initialize":
                    return {"jsonrpc": "2.0", "id": frame["id"],
                            "result": {"protocolVersion": frame["params"]["protocolVersion"], "capabilities": {"tools": {}},
                                       "serverInfo": {"name": "toolless", "version": "1.0.0"}}}
                if method.startswith("notifications/"):
                    return Raw(b"", 202)
                code, text = (-32602, "Unknown tool") if method == "tools/call" else (-32601, "Method not found")
                return {"jsonrpc": "2.0", "id": frame.get("id"), "error": {"code": code, "message": text}}

        manager = self.start_manager(2, 1)
        self.start_referee(manager)
        self.start_players(manager, 1)
        bot = Toolless("toolless")
        self.addCleanup(bot.close)
        bot.join(manager)
        status = self.wait_until_over(manager, 30)
        self.assertEqual(status["technical_losses"], 1)
        self.stop_programs()
        self.assert_verified()
        invited = [frame for frame in bot.calls if message_in(frame).get("message_type") == "GAME_INVITATION"]
        self.assertLess(len(invited), 20, "13 ways of calling, and one call for each further attempt")
        self.assertLess(len(bot.calls), 100)
        found = subprocess.run([BIN / "league", "audit", "find", self.logs, "--error", "any"], capture_output=True, text=True,
                               timeout=60)
        self.assertNotIn("another way", found.stdout)
        self.assertIn("E010", found.stdout)

    def test_strict_mode_refuses_registrations(self):
        manager = self.start_manager(100, 1, "--mode", "strict")
        for bot in self.bots(STYLES):
            with self.subTest(style=bot.style.name):
                answer = bot.try_to_join(manager)
                exact = self.registers_exactly(bot.style)
                self.assertEqual(answer.error_code() is None, exact, answer)
                if exact:
                    self.assertEqual(answer.result()["status"], "ACCEPTED")

    @staticmethod
    def registers_exactly(style):
        """Whether the style departs from the protocol in its replies only."""
        probe = player_registration("probe", "http://127.0.0.1:1/mcp")
        before = copy.deepcopy({k: v for k, v in probe.items() if "time" not in k})
        style.request(probe)
        body = style.register(probe)
        after = {k: v for k, v in probe.items() if "time" not in k}
        return before == after and "timestamp" in probe and body.get("method") == "register_player" and \
            body.get("params") is probe

    def test_strict_referee_refuses_replies(self):
        styles = [s for s in STYLES if self.lenient_reply(s)]
        self.assertGreater(len(styles), 15)
        bots = self.bots(styles)
        manager = self.start_manager(len(bots) + 1, 1, limits=limits(retry={"max_invalid_answers": 1}))
        self.start_referee(manager, "--mode", "strict", "--max-matches", 8,
                           limits=limits(retry={"max_invalid_answers": 1}))
        honest, = self.start_players(manager, 1)
        for bot in bots:
            bot.join(manager)
        status = self.wait_until_over(manager, 60)
        self.assertEqual(status["technical_losses"], status["total_matches"])
        self.stop_programs()
        self.assert_verified()
        log = Log(self.logs)
        for report, in log.accepted_reports().values():
            details = report["result"]["details"]
            if honest.id in report["result"]["score"]:
                self.assertEqual(report["result"]["winner"], honest.id, report)
                self.assertIn(details["termination"], {"INVALID_REPLY", "AUTH_FAILED", "PLAYER_UNAVAILABLE"}, report)
            self.assertTrue(details["failures"], report)
        for bot in bots:
            faults = [r["fault"] for r in log.matching(peer="player:" + bot.id, kind="reply") if "fault" in r]
            self.assertTrue(faults, f"no reason is given for {bot.style.name}")

    @staticmethod
    def lenient_reply(style):
        """Whether strict mode must refuse what this bot answers to a game call."""
        if not style.methods("choose_parity") or style.posts_back:
            return False
        bot = type("Anyone", (), {"id": "P01", "token": "t"})
        call = {"message_type": "GAME_INVITATION", "timestamp": now(), "conversation_id": "c", "round_id": 1,
                "match_id": "R1M1", "league_id": "l"}
        exact = exact_reply(bot, call)
        reply = dict(exact)
        style.reply(reply)
        wrapped = style.wrap({"id": 1}, reply)
        if isinstance(wrapped, Raw):
            return wrapped.status != 200
        same = {k: v for k, v in reply.items() if "time" not in k} == {k: v for k, v in exact.items() if "time" not in k}
        return not same or wrapped != {"jsonrpc": "2.0", "id": 1, "result": reply} or set(reply) != set(exact)


class ForeignManagers(LeagueTest):
    def test_our_player_joins_and_plays_with_a_loose_manager(self):
        """REGISTERED for ACCEPTED, a manager with an id, an answer in result.response: all are understood."""
        league = LooseManager()
        self.addCleanup(league.close)
        player, = self.start_players(league, 1, "even")
        self.assertEqual(player.id, "P07")
        answer = rpc(player.url, "get_player_state", {"auth_token": "a-token-of-theirs"})
        self.assertIsNone(answer.error_code(), answer)
        self.stop_programs()
        self.assertLessEqual({"status_registered", "sender_manager_with_id"}, Log(self.logs).leniencies())


class LooseManager(Bot):
    def reply(self, frame):
        call = message_in(frame)
        return {"protocol": "league.v2", "message_type": "LEAGUE_REGISTER_RESPONSE", "sender": "league_manager:LM01",
                "timestamp": now(), "conversation_id": call["conversation_id"], "status": "REGISTERED",
                "player_id": "P07", "auth_token": "a-token-of-theirs", "league_id": "their_league", "reason": None}


if __name__ == "__main__":
    unittest.main()
