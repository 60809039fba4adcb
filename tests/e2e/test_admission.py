"""Who is let in: referees from elsewhere with the manager's key, players with a code where the operator gave codes (a
class with codes: test_codes.py)."""

import socket
import subprocess
import tarfile
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, Agent, LeagueTest, player_registration, post, referee_registration, rpc
from scripted_bot import Bot
from test_gateway import Gateway

HERE = "http://127.0.0.1:{}/mcp"
CODES = """code,name
code-of-alpha-1234,alpha
code-of-beta-5678,The Beta
code-of-duo1-90,duo1
code-of-duo2-90,duo2
"""


def own_address():
    """An address of this machine that is not loopback; None where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") or address == "0.0.0.0" else address


class AdmissionTest(LeagueTest):
    def private(self, name, content):
        path = self.directory / name
        path.write_text(content)
        path.chmod(0o600)
        return path

    def referee_key(self):
        return (self.directory / "data" / "referee.key").read_text().strip()

    def assert_not_admitted(self, answer, field):
        result = answer.result()
        self.assertEqual((result["status"], result["error_code"]), ("REJECTED", "E016"), answer)
        self.assertIn(field, result["reason"])
        self.assertNotIn("auth_token", result)
        return result["reason"]


class Referees(AdmissionTest):
    def register(self, url, name="stranger", port=5001, headers=None, **meta):
        frame = {"jsonrpc": "2.0", "id": 1, "method": "register_referee",
                 "params": referee_registration(name, HERE.format(port), meta=meta)}
        return post(url, frame, headers)

    def open_manager(self, *options):
        """A manager that listens beyond loopback, and its URL from outside."""
        address = own_address()
        if address is None:
            self.skipTest("this machine has no address but loopback")
        manager = self.start_manager(2, 1, "--bind", "0.0.0.0", "--allow-host", address, "--endpoints", "any", *options)
        return manager, f"http://{address}:{urlsplit(manager.url).port}/mcp"

    def test_a_stranger_from_elsewhere_needs_the_key(self):
        manager, outside = self.open_manager()
        self.assertEqual((self.directory / "data" / "referee.key").stat().st_mode & 0o777, 0o600)
        self.assertIn("referee.key", self.assert_not_admitted(self.register(outside), "admission_key"))
        guess = "ref_" + "a" * 52
        wrong = self.register(outside, admission_key=guess)
        self.assertNotIn(guess[:20], self.assert_not_admitted(wrong, "admission_key"))
        self.assertEqual(self.status(manager)["referees"], 0)
        admitted = self.register(outside, admission_key=self.referee_key()).result()
        self.assertEqual(admitted["referee_id"], "REF01", admitted)
        back = post(outside, {"jsonrpc": "2.0", "id": 1, "method": "register_referee", "params": referee_registration(
            "stranger", HERE.format(5001), auth_token=admitted["auth_token"])})
        self.assertEqual(back.result()["status"], "ACCEPTED", "who was admitted comes back with its token")

    def test_the_operator_is_told_who_can_register(self):
        manager, _ = self.open_manager()
        said = manager.program.stderr()
        for text in ("0.0.0.0", "--registration-codes", "referee.key", "--admit-referees"):
            self.assertIn(text, said)
        self.assertNotIn(self.referee_key(), said)
        local = self.start_manager(2, 1, "--league", "local", data="local")
        self.assertNotIn("--registration-codes", local.program.stderr())

    def test_our_referee_hands_the_key_over(self):
        manager, outside = self.open_manager()
        far = Agent(manager.program, outside, manager.id)
        alone = self.start("referee", "--manager", outside, "--name", "keyless")
        self.assertEqual(alone.process.wait(20), 2)
        self.assertIn("--admission-key", alone.stderr())
        self.start_players(far, 2)
        self.start_referee(far)  # with --admission-key
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)

    def test_this_machines_referees_need_none_unless_a_proxy_speaks_for_them(self):
        manager = self.start_manager(2, 3)
        for header in ("X-Forwarded-For", "Forwarded", "Via"):
            with self.subTest(header=header):
                self.assert_not_admitted(self.register(manager.url, headers={header: "192.0.2.9"}), "admission_key")
        self.assertEqual(self.register(manager.url).result()["status"], "ACCEPTED")

    def test_our_gateway_does_not_make_a_stranger_local(self):
        manager = self.start_manager(2, 3)
        gateway = Gateway(manager.url)
        self.addCleanup(gateway.stderr.close)
        self.addCleanup(gateway.stop)
        _, frame = gateway.call("register_referee", referee_registration("stranger", HERE.format(5001)))
        answer = frame["result"]["structuredContent"]
        self.assertEqual((answer["status"], answer["error_code"]), ("REJECTED", "E016"), answer)
        self.assertEqual(self.status(manager)["referees"], 0)

    def test_open_referees(self):
        _, outside = self.open_manager("--open-referees")
        self.assertEqual(self.register(outside).result()["status"], "ACCEPTED")

    def test_admit_referees(self):
        manager = self.start_manager(2, 1, "--admit-referees")
        self.assert_not_admitted(self.register(manager.url), "admission_key")
        self.start_referee(manager)  # with --admission-key
        self.assertEqual(self.status(manager)["referees"], 1)

    def test_both_options_contradict_each_other(self):
        program = self.start("league_manager", "--open-referees", "--admit-referees")
        self.assertEqual(program.process.wait(10), 2)

    def test_league_up_passes_it_by_itself(self):
        address = own_address()
        if address is None:
            self.skipTest("this machine has no address but loopback")
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        done = subprocess.run(
            [BIN / "league", "up", "--players", "2", "--port", str(port), "--bind", "0.0.0.0", "--allow-host", address,
             "--advertise", f"http://{address}:{port}/mcp", "--data", self.directory / "data", "--logs", self.logs,
             "--json"], cwd=self.directory, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Players(AdmissionTest):
    def setUp(self):
        super().setUp()
        self.codes = self.private("codes.csv", CODES)

    def start_limited(self, players=4):
        self.manager = self.start_manager(players, 1, "--registration-codes", self.codes)
        return self.manager

    def register(self, name, port, code=None, **changes):
        meta = {} if code is None else {"registration_code": code}
        request = player_registration(name, HERE.format(port), meta=meta, sender="player:bot", **changes)
        return rpc(self.manager.url, "register_player", request)

    def test_codes_good_bad_and_used_twice(self):
        self.start_limited()
        missing = self.assert_not_admitted(self.register("alpha", 5001), "registration_code")
        self.assertIn("--registration-code", missing)
        for code in ("code-of-nobody-1", "alpha", "code-of-alpha-123"):
            with self.subTest(code=code):
                reason = self.assert_not_admitted(self.register("alpha", 5001, code), "registration_code")
                self.assertNotIn("code-of", reason)
        others = self.assert_not_admitted(self.register("alpha", 5001, "code-of-beta-5678"), "registration_code")
        self.assertIn("The Beta", others)
        first = self.register("Alpha", 5001, "code-of-alpha-1234").result()
        self.assertEqual((first["status"], first["player_id"]), ("ACCEPTED", "P01"))
        again = self.register("alpha", 5002, "code-of-alpha-1234")
        self.assertEqual(again.error_code(), "E020", "a code is good for one bot")
        self.assertEqual(self.status(self.manager)["players"], 1)
        back = self.register("alpha", 5002, auth_token=first["auth_token"]).result()
        self.assertEqual(back["player_id"], "P01", "with its token a bot needs no code")

    def test_our_programs_have_an_option_for_it(self):
        self.start_limited()
        keyless = self.start("player", "--manager", self.manager.url, "--name", "alpha")
        self.assertEqual(keyless.process.wait(20), 2)
        self.assertIn("--registration-code", keyless.stderr())
        own = self.private("own.code", "code-of-alpha-1234\n")
        self.start("player", "--manager", self.manager.url, "--name", "alpha", "--registration-code", own).ready()
        duo = self.start("player", "--manager", self.manager.url, "--name", "duo", "--count", 2, "--registration-code",
                         self.codes)
        duo.ready(2)
        entered = subprocess.run(
            [BIN / "league", "enter", self.manager.url, "--name", "the beta", "--endpoint", HERE.format(5009),
             "--registration-code", self.private("beta.code", "code-of-beta-5678\n")],
            capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(entered.returncode, 0, entered.stderr)
        self.assertEqual(self.status(self.manager)["players"], 4)

    def test_a_file_that_is_wrong_is_refused_with_its_line(self):
        for content, text in (("code-of-alpha-1234,alpha\n", "line 1: there is no column"), ("", "is empty"),
                              ("code,name\nshort,a\n", "line 2: the code has 5"), ("code,name\n,a\n", "no line has a code"),
                              ("code,name\ncode-of-alpha-1234,a\ncode-of-alpha-1234,b\n", "line 3: the code is also in line")):
            with self.subTest(content=content):
                program = self.start("league_manager", "--registration-codes", self.private("bad.csv", content))
                self.assertEqual(program.process.wait(10), 2)
                self.assertIn("bad.csv", program.stderr())
                self.assertIn(text, program.stderr())
                self.assertNotIn("code-of", program.stderr())
        self.codes.chmod(0o644)
        program = self.start("league_manager", "--registration-codes", self.codes)
        self.assertEqual(program.process.wait(10), 2)
        self.assertIn("chmod 600", program.stderr())


class Secrets(AdmissionTest):
    EMAIL = "ann.author@example.org"

    def test_no_log_page_or_bundle_shows_a_key_a_code_or_an_email_address(self):
        codes = self.private("codes.csv", CODES)
        manager = self.start_manager(2, 1, "--registration-codes", codes, "--admit-referees")
        bot = Bot("alpha")
        self.addCleanup(bot.close)
        for code in ("code-of-nobody-1", "code-of-alpha-1234"):  # what is refused is masked, too
            meta = {"registration_code": code, "contact_email": self.EMAIL}
            answer = rpc(manager.url, "register_player", player_registration("alpha", bot.url, meta=meta))
        bot.take_identity(answer)
        guess = "ref_" + "b" * 52
        rpc(manager.url, "register_referee",
            referee_registration("x", HERE.format(5001), meta={"admission_key": guess}))
        self.start("player", "--manager", manager.url, "--name", "the beta", "--registration-code",
                   self.private("own.code", "code-of-beta-5678\n"), "--data", self.directory / "bots").ready()
        self.start_referee(manager, "--data", self.directory / "bots")
        self.wait_until_over(manager)
        key = self.referee_key()
        self.stop_programs()
        archive, page = self.directory / "bundle.tar", self.directory / "page"
        for command in (["audit", "bundle", self.directory, archive],
                        ["export", self.directory, "--format", "html", "--out", page],
                        ["audit", "verify", self.directory]):
            done = subprocess.run([BIN / "league", *map(str, command)], capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with tarfile.open(archive) as packed:
            packed.extractall(self.directory / "unpacked")
        secrets = (key, guess, self.EMAIL, "ann.author", "code-of-alpha-1234", "code-of-beta-5678", "code-of-nobody-1")
        published = [self.logs, self.directory / "unpacked", page, self.directory / "data" / "leagues",
                     *(program.stderr_path for program in self.programs)]
        files = [path for place in published for path in ([place] if place.is_file() else place.rglob("*"))]
        self.assertTrue(any(b"registration_code" in path.read_bytes() for path in files if path.is_file()))
        for path in files:
            content = path.read_bytes() if path.is_file() else b""
            for secret in secrets:
                self.assertNotIn(secret.encode(), content, path.name)


if __name__ == "__main__":
    unittest.main()
