"""Tools on a message bus: `league call` to a session, `league gateway` before an agent on the bus and before one that is not."""

import json
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest
from nats_broker import NatsBroker, why_no_bus


class BusBridges(LeagueTest):
    def setUp(self):
        if why := why_no_bus(BIN):
            self.skipTest(why)
        super().setUp()
        self.broker = NatsBroker().start()
        self.addCleanup(self.broker.close)

    def call(self, url, *words, code=0):
        done = subprocess.run([BIN / "league", "call", url, *words, "--json", "--timeout", "8000"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout) if code == 0 else done.stderr

    def on_bus(self, url, *words, code=0):
        return self.call(url, *words, "--bus", self.broker.url, code=code)

    def player(self, *arguments):
        program = self.start("player", "--standalone", "--name", "solo", "--strategy", "even", *arguments)
        (url, *_), = program.ready()
        return url

    def gateway(self, *arguments):
        process = subprocess.Popen([BIN / "league", "gateway", "--bus", self.broker.url, "--json", *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 10)
        self.addCleanup(process.terminate)
        return json.loads(process.stdout.readline())["ready"]

    def test_a_person_calls_the_manager_and_a_player(self):
        program = self.start("league_manager", "--players", "2", "--data", self.directory / "data", "--bus", self.broker.url)
        program.ready()
        status = self.on_bus("nats:manager", "get_league_status")
        self.assertEqual(status["structuredContent"]["state"], "REGISTERING")
        solo = self.player("--bus", self.broker.url)
        self.assertRegex(solo, r"^nats:[0-9a-f]{32}$")
        names = [tool["name"] for tool in self.on_bus(solo, "--list")["tools"]]
        self.assertIn("choose_parity", names)

    def test_who_is_not_there_is_named(self):
        self.assertIn("nobody listens", self.on_bus("nats:nobody-there", "--list", code=2))
        self.assertIn("--bus", self.call("nats:manager", "--list", code=2))

    def test_two_players_do_not_share_a_session(self):
        file = self.directory / "credentials.json"
        file.write_text(json.dumps({"user": "u", "password": "p", "session": "session-of-one"}))
        done = subprocess.run([BIN / "player", "--count", "2", "--bus", self.broker.url, "--bus-credentials", file,
                               "--logs", self.logs], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("one session", done.stderr)

    def test_a_gateway_brings_web_clients_to_an_agent_on_the_bus(self):
        web = self.gateway("--backend", self.player("--bus", self.broker.url), "--port", "0")
        self.assertTrue(web.startswith("http://"))
        self.assertIn("get_player_state", [tool["name"] for tool in self.call(web, "--list")["tools"]])
        self.assertFalse(self.call(web, "get_player_state").get("isError", False))

    def test_a_gateway_brings_the_bus_to_an_agent_on_the_web(self):
        session = self.gateway("--backend", self.player(), "--on-bus")
        self.assertTrue(session.startswith("nats:"))
        self.assertFalse(self.on_bus(session, "get_player_state").get("isError", False))


if __name__ == "__main__":
    unittest.main()
