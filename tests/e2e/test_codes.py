"""A class that registers with codes: what the operator makes and revokes, bots with a right code, a wrong one,
another's and none, what spectators see of it, and what is left of it when the manager is killed."""

import csv
import json
import subprocess
import sys
import unittest
import urllib.request

import support_path  # noqa: F401
from league_testing import BIN, FAST, SOURCE, Agent, LeagueTest, limits, player_registration, post, rpc, wait_until
from scripted_bot import Bot

HERE = "http://127.0.0.1:{}/mcp"
COURSE = """name,team,email,student
Ann Author,red,ann.author@example.org,17
Bob,red,bob@example.org,18
Cid,,,19
"""


def snapshot(manager):
    """What a spectator is told first: text and JSON."""
    with urllib.request.urlopen(manager.url.removesuffix("/mcp") + "/live/events", timeout=5) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                text = line[len("data: "):].decode()
                return text, json.loads(text)
    raise AssertionError("no snapshot")


class ClassWithCodes(LeagueTest):
    def setUp(self):
        super().setUp()
        names = self.directory / "course.csv"
        names.write_text(COURSE)
        self.file = self.directory / "codes.csv"
        self.league("make", "--names", names)

    def league(self, *arguments, code=0):
        done = subprocess.run([BIN / "league", "admin", "codes", arguments[0], "--codes", self.file,
                               *map(str, arguments[1:])], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def codes(self):
        with open(self.file, newline="") as rows:
            return {row["name"]: row["code"] for row in csv.DictReader(rows)}

    def start_class(self, *arguments, players=3, **options):
        self.manager = self.start_manager(players, 1, "--registration-codes", self.file, *arguments, **options)
        return self.manager

    def register(self, name, port, code=None, **changes):
        meta = {} if code is None else {"registration_code": code}
        return rpc(self.manager.url, "register_player",
                   player_registration(name, HERE.format(port), meta=meta, sender="player:bot", **changes))

    def names(self):
        return {row["player_id"]: row["display_name"] for row in self.standings(self.manager)}

    def shown(self):
        return snapshot(self.manager)[1]["registrations"]

    def wait_until_told(self, event):
        wait_until(lambda: event in str(snapshot(self.manager)[1]["log"]), 10, f"the operator is told {event}")

    def start_again(self, **options):
        self.manager.program.kill()
        program = self.start("league_manager", "--data", self.directory / "data", "--registration-codes", self.file,
                             limits=FAST, **options)
        (url, league_id), = program.ready()
        self.manager = Agent(program, url, league_id)


class Registration(ClassWithCodes):
    def test_right_wrong_anothers_and_none(self):
        codes = self.codes()
        self.start_class()
        for name, code, why in (("bob", "not-a-code-of-ours", "not a code of this"), ("Bob", None, "is missing"),
                                ("Bob", codes["Cid"], "belongs to"), ("Bob", codes["Bob"] + "x", "not a code of this")):
            result = self.register(name, 5001, code).result()
            self.assertEqual((result["status"], result["error_code"]), ("REJECTED", "E016"), result)
            self.assertIn(why, result["reason"])
            self.assertNotIn("auth_token", result)
        first = self.register("some bot", 5001, codes["Bob"]).result()
        self.assertEqual((first["status"], first["player_id"]), ("ACCEPTED", "P01"))
        self.assertEqual(self.names()["P01"], "Bob", "the operator's list names it")
        taken = self.register("some bot", 5002, codes["Bob"])
        self.assertEqual(taken.error_code(), "E020", "a code is good for one seat")
        again = self.register("some bot", 5001, codes["Bob"]).result()
        self.assertEqual((again["status"], again["player_id"]), ("ACCEPTED", "P01"), "the same bot, started again")
        moved = self.register("other name", 5003, auth_token=again["auth_token"]).result()
        self.assertEqual(moved["player_id"], "P01", "with its token it needs no code")
        self.assertEqual(self.names()["P01"], "Bob")
        shown = self.shown()
        self.assertEqual(shown["expected"], [["Ann Author", "red", -1, 1], ["Bob", "red", 0, 1], ["Cid", "", -1, 1]])
        refused = {(name, row, code): (times, text) for _, name, row, code, text, times, _ in shown["refused"]}
        self.assertEqual({key: times for key, (times, _) in refused.items()},
                         {("bob", 1, "E016"): 1, ("Bob", 1, "E016"): 3, ("some bot", 1, "E020"): 1})

    def test_what_is_refused_for_its_envelope_still_names_the_codes_owner(self):
        codes = self.codes()
        manager = self.start_class()
        frame = {"jsonrpc": "2.0", "id": 1, "method": "register_player",
                 "params": player_registration("Žluť", HERE.format(9001), timestamp="2025-01-15T10:30:00+02:00", sender="player:zlut")}
        url = f"{manager.url}?registration_code={codes['Bob'].upper().replace('-', '')}"
        self.assertEqual(post(url, frame).error_code(), "E021")
        told = f"player 'Žluť' at {HERE.format(9001)}, with the code of 'Bob', is refused: E021"
        wait_until(lambda: told in manager.program.stderr(), 5, told)
        bob = [row[0] for row in self.shown()["expected"]].index("Bob")
        self.assertIn(["player", "Žluť", bob, "E021"], [row[:4] for row in self.shown()["refused"]])

    def test_a_freed_seat_and_its_code_can_be_taken_again(self):
        codes = self.codes()
        manager = self.start_class()
        self.assertEqual(self.register("Bob", 9001, codes["Bob"]).error_code(), None)
        self.assertEqual(self.register("Bob", 9002, codes["Bob"]).error_code(), "E020")
        done = subprocess.run([BIN / "league", "admin", "remove", manager.url, "P01", "--reason", "x", "--operator-key",
                               self.directory / "data" / "operator.key"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), {})
        self.assertEqual(self.register("Bob", 9002, codes["Bob"]).error_code(), None)
        self.assertEqual(self.names(), {"P01": "Bob"})

    def test_a_whole_league_with_a_bot_that_knows_nothing_of_codes(self):
        codes = self.codes()
        self.start_class()
        # Someone else's bot has the code in the URL, another in a header; our player has a file.
        bot = self.start_program([sys.executable, SOURCE / "examples" / "bots" / "python" / "bot.py", "--manager",
                                  f"{self.manager.url}?registration_code={codes['Ann Author']}"])
        wait_until(lambda: self.status(self.manager)["players"] == 1, 10, "the bot is in")
        self.assertEqual(self.names()["P01"], "Ann Author")
        scripted = Bot("whatever")
        self.addCleanup(scripted.close)
        frame = {"jsonrpc": "2.0", "id": 1, "method": "register_player",
                 "params": player_registration("x", scripted.url)}
        self.assertEqual(post(self.manager.url, frame, {"X-Registration-Code": "wrong-wrong"}).error_code(), "E016")
        scripted.take_identity(post(self.manager.url, frame, {"X-Registration-Code": codes["Bob"]}))
        for name in ("Cid", "Dan"):
            player = self.start("player", "--manager", self.manager.url, "--name", name,
                                "--registration-code", self.file)
            if name == "Dan":
                self.assertEqual(player.process.wait(10), 2)
                self.assertIn('no registration code for "Dan"', player.stderr())
            else:
                player.ready()
        self.start_referee(self.manager)
        self.wait_until_over(self.manager)
        self.assertEqual(set(self.names().values()), {"Ann Author", "Bob", "Cid"})
        text, _ = snapshot(self.manager)
        bot.terminate()
        bot.wait(5)
        self.stop_programs()
        self.assert_verified()
        secrets = [*codes.values(), "@example.org", "wrong-wrong"]
        for secret in secrets:
            self.assertNotIn(secret, text)
        private = {self.file, self.directory / "course.csv"}
        for path in self.directory.rglob("*"):
            if path in private or not path.is_file():
                continue
            content = path.read_bytes()
            for secret in secrets:
                self.assertNotIn(secret.encode(), content, path)

    def start_program(self, command):
        bot = subprocess.Popen([*map(str, command), "--data", str(self.directory / "bot.json")], cwd=self.directory,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(bot.wait, 5)
        self.addCleanup(bot.kill)
        return bot

    def test_a_killed_manager_knows_codes_and_seats(self):
        codes = self.codes()
        self.start_class()
        first = self.register("bot", 5001, codes["Bob"]).result()
        self.start_again()
        self.assertEqual(self.shown()["expected"][1], ["Bob", "red", 0, 1])
        self.assertEqual(self.register("bot", 5002, codes["Bob"]).error_code(), "E020")
        self.assertEqual(self.register("bot", 5002, "not-a-code-of-ours").error_code(), "E016")
        self.assertEqual(self.register("bot", 5002, auth_token=first["auth_token"]).result()["player_id"], "P01")
        self.assertEqual(self.register("bot", 5003, codes["Cid"]).result()["player_id"], "P02")
        self.manager.program.kill()
        program = self.start("league_manager", "--data", self.directory / "data", limits=FAST)
        (url, league_id), = program.ready()
        self.manager = Agent(program, url, league_id)
        self.assertIn("there is no --registration-codes", program.whole_stderr())
        for code in (None, codes["Ann Author"]):
            self.assertEqual(self.register("stranger", 5004, code).error_code(), "E016", "nobody new without the file")
        self.assertEqual(self.register("bot", 5002, auth_token=first["auth_token"]).result()["player_id"], "P01")

    def test_guesses_are_bounded(self):
        codes = self.codes()
        few = limits(budgets={"registrations_per_second": 1, "burst_seconds": 5})
        self.start_class(limits=few)
        answers = [self.register(f"guess{i}", 5001, f"guess-number-{i:04}") for i in range(30)]
        refused = [answer for answer in answers if answer.status == 429]
        self.assertGreater(len(refused), 20)
        # A right guess beyond the budget is not told from a wrong one.
        self.assertEqual(self.register("guess", 5001, codes["Bob"]).status, 429)
        self.assertEqual(self.status(self.manager)["players"], 0)


class Operator(ClassWithCodes):
    def test_make_keeps_what_is_there(self):
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        codes = self.codes()
        self.assertEqual(list(codes), ["Ann Author", "Bob", "Cid"])
        for code in codes.values():
            self.assertRegex(code, "^([a-z2-7]{4}-){3}[a-z2-7]{4}$")
        self.assertEqual(len(set(codes.values())), 3)
        late = self.directory / "late.csv"
        late.write_text("name;email\nbob;x@example.org\nDora;dora@example.org\n")
        self.assertIn("1 new code, 4 players", self.league("make", "--names", late))
        self.assertEqual({name: code for name, code in self.codes().items() if name != "Dora"}, codes)
        text = self.file.read_text()
        self.assertIn("dora@example.org", text)
        self.assertIn("ann.author@example.org,17", text, "other columns stay")
        late.write_text("surname\nDora\n")
        self.assertIn("late.csv: line 1: there is no column \"name\"", self.league("make", "--names", late, code=2))

    def test_a_running_manager_learns_of_new_and_revoked_codes(self):
        codes = self.codes()
        self.start_class()
        ann = self.register("a", 5001, codes["Ann Author"]).result()
        self.assertIn("Bob", self.league("revoke", "bob"))
        self.assertNotIn(codes["Cid"], self.league("revoke", codes["Cid"]))
        self.league("revoke", "Ann Author")
        self.assertIn("no line has this code", self.league("revoke", "Zoe", code=1))
        self.assertIn("has no code", self.league("revoke", "Bob", code=1))
        self.wait_until_told("no line has a code")
        self.assertEqual(self.register("c", 5003, codes["Cid"]).result()["status"], "ACCEPTED",
                         "a file that would let nobody in is refused, and the codes of before stay")
        self.league("make")
        self.wait_until_told("reloaded: 3 codes for 3 players")
        self.assertEqual(self.register("b", 5002, codes["Bob"]).error_code(), "E016", "the old code is revoked")
        self.assertEqual(self.register("a", 5009, codes["Ann Author"]).error_code(), "E016")
        self.assertEqual(self.register("a", 5009, self.codes()["Ann Author"]).error_code(), "E020", "her seat lives")
        self.assertEqual(self.register("a", 5001, auth_token=ann["auth_token"]).result()["player_id"], "P01")
        self.assertEqual(self.register("b", 5002, self.codes()["Bob"]).result()["player_id"], "P03")
        self.file.chmod(0o644)
        self.wait_until_told("chmod 600")
        self.start_again_is_refused()

    def start_again_is_refused(self):
        self.manager.program.kill()
        program = self.start("league_manager", "--data", self.directory / "data", "--registration-codes", self.file)
        self.assertEqual(program.process.wait(10), 2, "codes that others can read let nobody in")


if __name__ == "__main__":
    unittest.main()
