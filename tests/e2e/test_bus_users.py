"""Our programs over brokers that know their users, as `league bus-config` makes them: streams, clusters, TLS."""

import json
import ssl
import subprocess
import unittest

import support_path  # noqa: F401
from bus_config import LEAGUE, BusConfigTest, free_ports
from league_testing import BIN, Agent, wait_until
from nats_broker import NatsBroker
from nats_client import SERVER, Broker, NatsClient, NatsError


@unittest.skipUnless(SERVER, "nats-server is not installed")
class OurPrograms(BusConfigTest):
    def start_broker(self, *options):
        self.config = self.made("--players", 4, "--referees", 2, *options)
        self.broker = Broker(self.directory, "-D", "-c", self.directory / self.config["servers"][0])
        self.addCleanup(self.broker.stop)

    def access(self, name):
        return ["--bus", self.broker.url, "--bus-credentials", self.directory / self.config["credentials"][name]]

    def play(self):
        """A league in which everybody has a user of its own; the manager."""
        try:
            manager = self.start_manager(4, 2, "--league", LEAGUE, *self.access("manager"))
        except AssertionError as failed:
            if "libnats" in str(failed):
                self.skipTest("the programs are built without NATS")
            raise
        on_bus = Agent(manager.program, f"nats:manager/{LEAGUE}", LEAGUE)
        for number in (1, 2):
            self.start_referee(on_bus, *self.access(f"referee0{number}"), name=f"whistle{number}")
        for number in (1, 2, 3, 4):
            self.start_players(on_bus, 1, "random", *self.access(f"player0{number}"), name=f"bot{number}")
        status = self.wait_until_over(manager)
        self.assertEqual((status["total_matches"], status["technical_losses"]), (6, 0))
        return manager

    def operate(self, *arguments):
        """One of the tools, with the operator's credentials."""
        return subprocess.run([BIN / "league", *map(str, [*arguments, *self.access("operator")])], cwd=self.directory,
                              timeout=30, capture_output=True, text=True, check=False)

    def events(self, *arguments):
        return self.operate("events", "--league", LEAGUE, "--json", *arguments)

    def assert_nothing_was_refused(self):
        self.stop_programs()
        self.broker.stop()
        refused = [line for line in self.broker.log.read_text().splitlines() if "Violation" in line]
        self.assertEqual(refused, [])

    def test_a_league_needs_no_more_than_its_users_may(self):
        self.start_broker("--jetstream", "streams")
        self.play()
        self.assertEqual(self.events("--durable", "archive", "--count", 10).returncode, 0)
        self.assert_nothing_was_refused()

    def test_without_streams_nobody_asks_for_any(self):
        self.start_broker()
        manager = self.play()
        asked = self.events("--durable", "archive")
        self.assertEqual(asked.returncode, 2)
        self.assertIn("--durable needs streams", asked.stderr)
        manager.program.stop()
        self.start_manager(4, 2, "--league", LEAGUE, *self.access("manager"))
        for option in ("--replicate", "--standby"):
            program = self.start("league_manager", "--data", self.directory / "other", *self.access("manager"), option)
            self.assertEqual(program.process.wait(20), 2)
            self.assertIn(option + " needs streams", program.stderr())
            self.assertIn("bus-config --jetstream", program.stderr())
        self.assertFalse((self.directory / "other").exists(), "nothing was begun")
        self.assert_nothing_was_refused()

    def test_a_user_of_the_streams_that_is_refused_keeps_nobody_else_out(self):
        self.start_broker("--jetstream", "streams")
        self.play()
        for name in ("operator", "manager"):
            file = self.directory / self.config["credentials"][name]
            credentials = json.loads(file.read_text())
            credentials["streams"]["password"] = "another"
            file.write_text(json.dumps(credentials))
        called = self.operate("call", f"nats:manager/{LEAGUE}", "get_league_status")
        self.assertEqual(called.returncode, 0, called.stderr)
        refused = self.events("--durable", "archive")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("streams: no connection to nats://", refused.stderr)
        manager = self.start("league_manager", "--data", self.directory / "other", *self.access("manager"))
        self.assertEqual(manager.process.wait(20), 2)
        self.assertIn("streams: no connection to nats://", manager.stderr())


@unittest.skipUnless(SERVER, "nats-server is not installed")
class Clusters(BusConfigTest):
    def certificates(self):
        """A certificate for 127.0.0.1 of an authority of the test's own."""
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True, timeout=60)

        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
        openssl("req", *curve, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=broker")
        (self.directory / "names").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", "names", "-out", "cert.pem")
        return ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-ca", "ca.pem"]

    def accept(self, config):
        for server in config["servers"]:
            done = subprocess.run([SERVER, "-t", "-c", self.directory / server], capture_output=True, text=True,
                                  timeout=30, cwd="/", check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("is valid", done.stderr + done.stdout)

    def test_the_broker_accepts_all_kinds(self):
        tls = self.certificates()
        cluster = ["--cluster", "a.example,10.0.0.2:4333:6333,[::1]"]
        kinds = [], ["--jetstream", "streams"], tls, cluster, [*cluster, *tls, "--jetstream", "js"]
        for number, more in enumerate(kinds):
            with self.subTest(more=more):
                self.accept(self.made("--players", 3, "--dir", f"bus{number}", *more))
        self.accept(self.made("--players", 1, "--dir", 'odd "name" #1', "--jetstream", 'odd "streams" \\ #1'))

    def test_with_tls_an_agent_needs_its_credentials_file_only(self):
        port, = free_ports(1)
        config = self.made("--players", 1, "--listen", f"127.0.0.1:{port}", *self.certificates())
        broker = NatsBroker(config=self.directory / config["servers"][0], port=port).start()
        self.addCleanup(broker.close)
        (self.directory / "ca.pem").unlink()  # as on another machine
        access = {name: ["--bus-credentials", self.directory / file] for name, file in config["credentials"].items()}
        self.start_manager(2, 1, "--league", LEAGUE, *access["manager"])
        asked = subprocess.run([BIN / "league", "call", f"nats:manager/{LEAGUE}", "get_league_status",
                                *map(str, access["operator"])], timeout=30, capture_output=True, text=True, check=False)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        missing = self.bus_config("--players", 1, "--dir", "b", "--tls-cert", "cert.pem", "--tls-key", "key.pem",
                                  "--tls-ca", "ca.pem", code=2)
        self.assertIn("ca.pem cannot be read", missing.stderr)

    def test_two_brokers_with_tls(self):
        ports = free_ports(4)
        addresses = f"127.0.0.1:{ports[0]}:{ports[1]},127.0.0.1:{ports[2]}:{ports[3]}"
        config = self.made("--players", 1, "--cluster", addresses, *self.certificates())
        for server in config["servers"]:
            process = subprocess.Popen([SERVER, "-c", self.directory / server], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            self.addCleanup(lambda p=process: (p.kill(), p.wait(10)))
        trusting = ssl.create_default_context(cafile=self.directory / "ca.pem")
        manager = self.connect(config, "manager", ports[0], trusting)
        player = self.connect(config, "player01", ports[2], trusting)
        discovers = "mcp.discovery." + player.inbox.removeprefix("_INBOX.")
        discovery = manager.sub("mcp.discovery.*")

        def arrives():
            player.pub(discovers, b"over the route", player.inbox + ".x")
            player.flush()
            return discovery.waiting()

        answers = player.sub(player.inbox + ".x")
        wait_until(arrives, 20, "the brokers have found each other")
        manager.pub(discovery.next().reply, b"back")
        manager.flush()
        self.assertEqual(answers.next().data, b"back")
        with self.assertRaises(NatsError):
            NatsClient.of(self.directory / config["credentials"]["player01"], ports[0])  # in the clear

    def connect(self, config, name, port, trusting):
        def tried():
            try:
                return NatsClient.of(self.directory / config["credentials"][name], port, tls=trusting)
            except OSError:
                return None

        client = wait_until(tried, 10, f"the broker at {port}")
        self.addCleanup(client.close)
        return client


if __name__ == "__main__":
    unittest.main()
