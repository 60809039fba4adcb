"""deploy/: the manifests are YAML, name only options and pages that the programs have, and their commands play a league.
Nothing here starts a container or a cluster."""

import json
import os
import re
import shlex
import socket
import subprocess
import unittest
import urllib.request

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, wait_until
from nats_broker import NatsBroker, find_nats_server

try:
    import yaml
except ImportError:
    yaml = None

DEPLOY = SOURCE / "deploy"
PROGRAMS = ("league_manager", "referee")


def documents(file):
    return [one for one in yaml.safe_load_all((DEPLOY / file).read_text(encoding="utf-8")) if one]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipUnless(yaml, "python3-yaml is not on this machine")
class Deploy(LeagueTest):
    def test_every_option_exists(self):
        known = {}
        for program in PROGRAMS:
            table = json.loads(subprocess.run([BIN / program, "--options-as-json"], capture_output=True, check=True).stdout)
            known[program] = {name for option in table["options"] for name in option["names"]}
        seen = set()
        for program, words in self.command_lines():
            for word in re.findall(r"(?<!\S)--[a-z-]+", " ".join(words)):
                self.assertIn(word, known[program], f"{program} {words}")
                seen.add(program)
        self.assertEqual(seen, set(PROGRAMS))

    @staticmethod
    def command_lines():
        for service in documents("compose.yaml")[0]["services"].values():
            program = re.search(r"exec (\w+)(.*)", service["command"][2], re.DOTALL)
            yield program[1], program[2].split()
        for one in documents("kubernetes/league.yaml"):
            for container in one["spec"]["template"]["spec"]["containers"] if one["kind"] == "StatefulSet" else []:
                yield container["command"][0], list(map(str, container["args"]))

    def test_services_volumes_and_secrets_belong_together(self):
        for file in ("kubernetes/league.yaml", "kubernetes/broker.yaml"):
            whole = documents(file)
            services = {one["metadata"]["name"]: one["spec"]["selector"] for one in whole if one["kind"] == "Service"}
            for one in whole:
                if one["kind"] != "StatefulSet":
                    continue
                pod = one["spec"]["template"]
                self.assertEqual(services[one["spec"]["serviceName"]], pod["metadata"]["labels"])
                self.assertEqual(one["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"])
                volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])}
                volumes |= {claim["metadata"]["name"] for claim in one["spec"]["volumeClaimTemplates"]}
                for container in pod["spec"].get("initContainers", []) + pod["spec"]["containers"]:
                    self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
                    self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])

    def test_ports_probes_and_patience_fit_the_programs(self):
        manager = self.start_manager(2, 1)
        whole = documents("kubernetes/league.yaml")
        ports = {one["metadata"]["name"]: one["spec"]["ports"][0]["port"] for one in whole if one["kind"] == "Service"}
        for one in whole:
            if one["kind"] != "StatefulSet":
                continue
            pod = one["spec"]["template"]["spec"]
            container, = pod["containers"]
            port = int(self.option(container["args"], "--port"))
            self.assertEqual([port], [one["containerPort"] for one in container["ports"]])
            self.assertEqual(port, ports[one["spec"]["serviceName"]])
            self.assertGreater(pod["terminationGracePeriodSeconds"], int(self.option(container["args"], "--drain")))
            for kind in ("livenessProbe", "readinessProbe"):
                probe = container.get(kind, {})
                if "httpGet" in probe:
                    self.assertEqual(probe["httpGet"]["port"], port)
                    self.assert_answered(manager, probe["httpGet"]["path"], probe["httpGet"]["httpHeaders"])
                elif probe:
                    self.assertEqual(probe["tcpSocket"]["port"], port)
            notes = one["spec"]["template"]["metadata"].get("annotations", {})
            if notes:
                self.assertEqual(notes["prometheus.io/port"], str(port))
                self.assert_answered(manager, notes["prometheus.io/path"], [])
        for service in documents("compose.yaml")[0]["services"].values():
            words = service["command"][2].split()
            self.assertGreater(int(service["stop_grace_period"].removesuffix("s")), int(self.option(words, "--drain")))
            for published in service.get("ports", []):
                self.assertEqual(published.split(":")[-1], self.option(words, "--port"))

    @staticmethod
    def option(words, name):
        return str(words[words.index(name) + 1])

    def assert_answered(self, manager, path, headers):
        named = {one["name"]: one["value"] for one in headers}
        with urllib.request.urlopen(urllib.request.Request(manager.url.removesuffix("/mcp") + path, headers=named), timeout=5) as answer:
            self.assertEqual(answer.status, 200)

    def test_the_commands_of_the_manifests_play(self):
        sets = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in documents("kubernetes/league.yaml")
                if one["kind"] == "StatefulSet"}
        secret = "a-key-of-more-than-sixteen-characters\n"
        port = free_port()
        for name in ("manager", "referee-0", "referee-1"):
            container, = sets[name.split("-")[0]]["containers"]
            home = self.directory / name
            (home / "data").mkdir(parents=True)
            for key in (home / "data" / "referee.key", home / "data" / "operator.key", home / "referee.key"):
                key.touch(mode=0o600)
                key.write_text(secret)
            words = [str(word).replace("$(POD_NAME)", name).replace("http://manager:8000", f"http://localhost:{port}")
                     for word in container["args"]]
            own = {"--port": port, "--players": 2}
            if name != "manager":
                own["--port"] = free_port()
                words = self.at_home(words, name, own["--port"], "$(POD_IP)")
            words = [str(own.get(before, word)) for before, word in zip([None, *words], words)]
            self.run_service("exec " + shlex.join([*container["command"], *words]), home)
        self.play_with_two_referees(port)

    def test_the_commands_of_the_compose_file_play(self):
        services = documents("compose.yaml")[0]["services"]
        secret = self.directory / "secret"
        secret.write_text("a-key-of-more-than-sixteen-characters\n")
        port = free_port()
        for name, copies in (("manager", 1), ("referee", 2)):
            for i in range(copies):
                home = self.directory / f"{name}{i}"
                home.mkdir()
                script = services[name]["command"][2].replace("$$", "$")
                own_port = free_port()
                script, = self.at_home([script], f"-{i}", own_port, "$self")
                for word, own in {"/run/secrets/referee_key": str(secret), "/tmp/referee.key": f"{home}/referee.key",
                                  "http://manager:8000": f"http://localhost:{port}", "--port 8000": f"--port {port}",
                                  "--port 8001": f"--port {own_port}", "$(hostname)": f"{i}"}.items():
                    script = script.replace(word, own)
                self.run_service(script, home)
        self.play_with_two_referees(port)

    @unittest.skipUnless(find_nats_server(), "nats-server is not installed")
    def test_the_broker_starts_with_the_secret_as_documented(self):
        text = (DEPLOY / "kubernetes" / "broker.yaml").read_text()
        make, = re.findall(r"^#   league (bus-config .*)$", text, re.MULTILINE)
        create, = re.findall(r"^#   kubectl create secret generic league-broker (.*)$", text, re.MULTILINE)
        subprocess.run([BIN / "league", *make.split()], cwd=self.directory, check=True, capture_output=True, timeout=60)
        secret = self.directory / "etc"
        secret.mkdir()
        for option in create.split():
            file = self.directory / option.removeprefix("--from-file=")
            (secret / file.name).write_bytes(file.read_bytes())
        broker = next(one for one in documents("kubernetes/broker.yaml") if one["kind"] == "StatefulSet")
        pod = broker["spec"]["template"]["spec"]
        config = secret / pod["containers"][0]["args"][1].rpartition("/")[2]
        port = pod["containers"][0]["ports"][0]["containerPort"]
        self.assertIn(f'listen: "0.0.0.0:{port}"', config.read_text(), "a pod does not have its service's address")
        credentials = json.loads((self.directory / "bus" / "credentials" / "player01.json").read_text())
        self.assertEqual(credentials["url"], f"nats://broker:{port}")
        mounts = [one["mountPath"] for one in pod["containers"][0]["volumeMounts"]]
        text, mounted = re.subn(r'store_dir: "(.*)"', f'store_dir: "{self.directory}/streams"', config.read_text())
        self.assertEqual(mounted, 1)
        self.assertIn(re.search(r'store_dir: "(.*)"', config.read_text())[1], mounts)
        config.write_text(text)
        with NatsBroker(config=config) as running:
            self.assertTrue(running.is_running())

    @staticmethod
    def at_home(words, name, port, address):
        """A referee's words with an address of this machine that is not localhost, as on another machine."""
        own = f"127.0.0.{2 + int(name.rsplit('-', 1)[1])}"
        return [word.replace(f"{address}:8001", f"{own}:{port}").replace(address, own) for word in words]

    def play_with_two_referees(self, port):
        manager = Agent(None, f"http://localhost:{port}/mcp", "")

        def referees():
            try:
                return self.status(manager)["referees"]
            except ConnectionRefusedError:
                return 0  # the manager is not there yet

        wait_until(lambda: referees() == 2, 20, "both referees are in")
        self.start_players(manager, 2, name="bot")
        over = wait_until(lambda: (lambda s: s if s["champion"] else None)(self.status(manager)), 30, "the league is over")
        self.assertEqual(over["technical_losses"], 0)

    def run_service(self, script, home):
        with open(home / "output", "wb") as output:
            process = subprocess.Popen(["sh", "-c", script], cwd=home, stdout=output, stderr=subprocess.STDOUT,
                                       env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "LEAGUE_HOST": "localhost",
                                            "LEAGUE_PLAYERS": "2"})
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.terminate)


if __name__ == "__main__":
    unittest.main()
