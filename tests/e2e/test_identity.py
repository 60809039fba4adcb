"""Who an agent is, and how it stays that: other spellings, other leagues, lost tokens, other addresses."""

import json
import sqlite3
import subprocess
import threading
import unittest
from contextlib import closing
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest, limits, player_registration, rpc
from scripted_bot import Bot, Raw


def at(manager, host):
    """The manager's URL with another name of this machine."""
    return f"http://{host}:{urlsplit(manager.url).port}/mcp"


class IdentityTest(LeagueTest):
    def setUp(self):
        super().setUp()
        self.bot_data = self.directory / "bots"

    def start_bot(self, url, *options, name="alpha"):
        return self.start("player", "--manager", url, "--name", name, "--data", self.bot_data, *options)

    def enter(self, url, *options):
        """The id that the bot gets; then it stops."""
        program = self.start_bot(url, *options)
        (_, identity), = program.ready()
        program.stop()
        return identity

    def kept(self, number=1):
        middle = "" if number == 1 else f".{number}"
        return json.loads((self.bot_data / "agents" / f"player_alpha{middle}.json").read_text())

    def new_token(self, manager, agent, *options, key=None):
        key = key or self.directory / "data" / "operator.key"
        command = [BIN / "league", "admin", "new-token", manager.url, agent, "--operator-key", key, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


class Resuming(IdentityTest):
    def test_another_spelling_of_the_managers_address_is_the_same_manager(self):
        manager = self.start_manager(5, 1)
        self.assertEqual(self.enter(at(manager, "127.0.0.1")), "P01")
        first = self.kept()["auth_token"]
        for host in ("localhost", "127.0.0.1", "LOCALHOST"):
            with self.subTest(host=host):
                self.assertEqual(self.enter(at(manager, host)), "P01")
                self.assertEqual(self.kept()["auth_token"], first)
        self.assertEqual(self.status(manager)["players"], 1)
        self.assertEqual([path.name for path in (self.bot_data / "agents").glob("*.json")], ["player_alpha.json"])

    def test_the_manager_may_come_back_at_another_port(self):
        manager = self.start_manager(5, 1)
        self.assertEqual(self.enter(manager.url), "P01")
        manager.program.stop()
        moved = self.start_manager(5, 1)
        self.assertEqual(self.enter(moved.url), "P01")
        self.assertEqual(self.status(moved)["players"], 1)

    def test_two_leagues_two_identities(self):
        one = self.start_manager(5, 1, "--league", "one")
        two = self.start_manager(5, 1, "--league", "two", data="two")
        self.start_players(two, 1, name="first_of_two")
        self.assertEqual(self.enter(one.url), "P01")
        token = self.kept()["auth_token"]
        self.assertEqual(self.enter(two.url), "P02")
        self.assertEqual((self.kept()["id"], self.kept()["auth_token"]), ("P01", token), "nothing is overwritten")
        self.assertEqual((self.kept(2)["id"], self.kept(2)["league_id"]), ("P02", "two"))
        self.assertEqual(self.enter(one.url), "P01")
        self.assertEqual(self.enter(two.url), "P02")
        self.assertEqual((self.status(one)["players"], self.status(two)["players"]), (1, 2))

    def test_a_new_league_at_the_same_address_is_entered_anew(self):
        old = self.start_manager(5, 1)
        self.assertEqual(self.enter(old.url), "P01")
        token = self.kept()["auth_token"]
        old.program.stop()
        new = self.start_manager(5, 1, "--new")
        self.start_players(new, 1, name="first")
        self.assertEqual(self.enter(new.url), "P02")
        self.assertEqual(self.kept()["auth_token"], token)
        self.assertEqual(self.enter(new.url), "P02")


class LostTokens(IdentityTest):
    def test_the_operator_gives_a_seat_a_new_token(self):
        manager = self.start_manager(2, 1)
        self.start_players(manager, 1, "slow:300", name="other")
        bot = self.start_bot(manager.url, "--strategy", "slow:300")
        (_, identity), = bot.ready()
        old = self.kept()["auth_token"]
        referee = self.start("referee", "--manager", manager.url)
        referee.ready()
        self.wait_until_logged("GAME_INVITATION", 1)
        bot.kill()
        (self.bot_data / "agents" / "player_alpha.json").unlink()
        lost = self.start_bot(manager.url)
        self.assertEqual(lost.process.wait(20), 2)
        self.assertIn("the league has started", lost.stderr())
        file = self.directory / "new.token"
        made = self.new_token(manager, identity, "--token-file", file)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        token = file.read_text().strip()
        self.assertNotIn(token, made.stdout)
        self.assertNotEqual(token, old)
        stale = rpc(manager.url, "register_player",
                    player_registration("alpha", "http://127.0.0.1:9/mcp", auth_token=old))
        self.assertEqual(stale.error_code(), "E012", "the old one is void")
        again = self.start_bot(manager.url, "--token", file)
        (_, back), = again.ready()
        self.assertEqual((back, self.kept()["auth_token"]), (identity, token))
        self.wait_until_over(manager)
        again.stop()
        self.assertEqual(self.enter(manager.url), identity, "without the option, too")
        self.assertIn("OPERATOR", [event["recognised_by"] for event in self.events("AGENT_REREGISTERED")])
        for path in self.logs.rglob("*"):
            if path.is_file():
                self.assertNotIn(token.encode(), path.read_bytes(), path.name)

    def events(self, kind):
        file = self.directory / "data" / "journal" / "journal.sqlite"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            rows = journal.execute("SELECT payload FROM entries WHERE type = ? ORDER BY sequence", [kind]).fetchall()
        return [json.loads(payload) for payload, in rows]

    def test_what_the_command_refuses(self):
        manager = self.start_manager(5, 1)
        self.enter(manager.url)
        for agent, code in (("P02", 1), ("REF01", 1), ("nobody", 1)):
            refused = self.new_token(manager, agent)
            self.assertEqual(refused.returncode, code, refused.stderr)
            self.assertIn("such as P07", refused.stderr)
        wrong = self.directory / "wrong.key"
        wrong.write_text("op_this_is_not_the_key\n")
        wrong.chmod(0o600)
        refused = self.new_token(manager, "P01", key=wrong)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("operator_key", refused.stderr)
        self.assertEqual(self.new_token(manager, "P01", key=self.directory / "none").returncode, 2)
        self.assertEqual(self.enter(manager.url), "P01", "nothing of it changed the token")
        printed = self.new_token(manager, "P01", "--json")
        self.assertEqual(sorted(json.loads(printed.stdout)), ["agent_id", "auth_token", "league_id"])

    def test_a_bot_with_a_void_token_is_told_what_to_do(self):
        manager = self.start_manager(2, 1)
        self.enter(manager.url)
        self.start_players(manager, 1, name="other")
        self.start_referee(manager)
        self.wait_until_over(manager)
        self.assertEqual(self.new_token(manager, "P01").returncode, 0)
        stale = self.start_bot(manager.url)
        self.assertEqual(stale.process.wait(20), 2)
        self.assertIn("league admin new-token", stale.stderr())
        self.assertEqual(self.kept()["id"], "P01", "the file stays")


class Moving(LeagueTest):
    def test_a_player_in_a_match_is_called_where_it_is_now(self):
        patient = limits(retry={"max_attempts": 3, "delay_ms": 1500})
        manager = self.start_manager(2, 1, limits=patient)
        asked = threading.Event()

        class Leaving(Bot):
            def answer(bot, frame):
                if frame["method"] == "choose_parity":
                    asked.set()
                    return Raw(None)
                return Bot.answer(bot, frame)

        old, other, new = Leaving("mover"), Bot("other"), Bot("mover")
        for bot in (old, other, new):
            self.addCleanup(bot.close)
        nonce = "5" * 32  # with the token alone it could not move during a match
        old.join(manager, registration_nonce=nonce)
        other.join(manager)
        self.start_referee(manager, limits=patient)
        self.assertTrue(asked.wait(15), "the player that hung up was asked for its choice")
        again = player_registration("mover", new.url, auth_token=old.token, registration_nonce=nonce)
        new.take_identity(rpc(manager.url, "register_player", again))
        self.assertEqual(new.id, old.id)
        new.wait_for("CHOOSE_PARITY_CALL")
        new.wait_for("GAME_OVER")
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)
        self.stop_programs()
        verified = subprocess.run([BIN / "league", "audit", "verify", self.directory], capture_output=True, text=True,
                                  timeout=60, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)


if __name__ == "__main__":
    unittest.main()
