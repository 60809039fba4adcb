"""deploy/nginx/league.conf, as it is but for its names, in front of a manager: a league is played, watched and guarded
through it. Skipped without nginx and openssl."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import support_path  # noqa: F401
from league_testing import SOURCE, LeagueTest, Program, referee_registration, wait_until

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:{SOURCE}/build/packages/usr/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipUnless(NGINX and shutil.which("openssl"), "nginx or openssl is not on this machine")
class ReverseProxy(LeagueTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.url = f"https://localhost:{self.port}/mcp"
        self.certificate = self.directory / "league.crt"
        key = self.directory / "league.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                        self.certificate], check=True, capture_output=True)
        self.backend = free_port()  # which the ready line does not say beside --advertise
        program = self.start("league_manager", "--players", 2, "--referees", 1, "--data", self.directory / "data",
                             "--allow-host", "localhost", "--advertise", self.url, port=self.backend)
        self.assertEqual(program.ready()[0][0], self.url)
        self.start_nginx(key)
        self.trusting = ssl.create_default_context(cafile=self.certificate)

    def start_nginx(self, key):
        site = (SOURCE / "deploy" / "nginx" / "league.conf").read_text(encoding="utf-8")
        names = {
            "listen 443 ": f"listen 127.0.0.1:{self.port} ",
            "server_name league.example.org": "server_name localhost",
            "/var/log/nginx/league.log": f"{self.directory}/access.log",
            "/etc/ssl/league.crt": str(self.certificate),
            "/etc/ssl/league.key": str(key),
            "server 127.0.0.1:8000": f"server 127.0.0.1:{self.backend}",
        }
        for name, own in names.items():
            self.assertIn(name, site)
            site = site.replace(name, own)
        (self.directory / "site.conf").write_text(site)
        whole = self.directory / "nginx.conf"
        temporary = "".join(f"{kind}_temp_path {self.directory}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        whole.write_text(f"daemon off; pid {self.directory}/nginx.pid; error_log {self.directory}/nginx.log; events {{}}\n"
                         f"http {{ {temporary} include {self.directory}/site.conf; }}\n")
        server = Program(NGINX, ["-p", self.directory, "-c", whole], self.directory)
        self.programs.append(server)

        def listens():
            self.assertTrue(server.is_running, server.stderr())
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", self.port)) == 0

        wait_until(listens, 10, "nginx listens")

    def ask(self, path, body=None, headers=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"https://localhost:{self.port}{path}", data,
                                         {"Content-Type": "application/json", **(headers or {})})
        return urllib.request.urlopen(request, timeout=10, context=self.trusting)

    def test_a_league_is_played_and_watched_through_it(self):
        with self.ask("/live/events") as stream:
            begun = time.monotonic()
            lines = [stream.readline().decode() for _ in range(5)]
            self.assertIn("event: snapshot\n", lines)
            self.assertLess(time.monotonic() - begun, 5, "events are held back")
            self.assertEqual(stream.headers["Content-Type"].split(";")[0], "text/event-stream")
        with self.ask("/") as page:
            self.assertIn(b"<main", page.read())
        environment = {"SSL_CERT_FILE": str(self.certificate)}
        key = self.directory / "data" / "referee.key"
        agents = [("referee", "https", ["--name", "whistle", "--admission-key", key]),
                  ("player", "https", ["--name", "one"]),
                  ("player", "wss", ["--name", "two"])]
        for name, scheme, own in agents:
            common = ["--manager", self.url.replace("https", scheme), "--port", "0", "--logs", self.logs]
            program = Program(name, [*common, *own], self.directory, environment)
            self.programs.append(program)
            program.ready()
        over = wait_until(self.is_over, 30, "the league is over")
        self.assertEqual(over["technical_losses"], 0, over)

    def is_over(self):
        with self.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "get_league_status", "params": {}}) as answer:
            status = json.load(answer)["result"]
        return status if status["champion"] else None

    def test_whoever_comes_through_it_is_not_of_this_machine(self):
        call = {"jsonrpc": "2.0", "id": 1, "method": "register_referee",
                "params": referee_registration("liar", "http://localhost:1/mcp")}
        # Saying it oneself changes nothing: the proxy adds what it saw.
        for headers in ({}, {"X-Forwarded-For": ""}, {"Forwarded": ""}):
            with self.ask("/mcp", call, headers) as answer:
                self.assertIn("E016", answer.read().decode())

    def test_it_does_not_log_codes(self):
        with self.ask("/mcp?registration_code=SECRET-CODE", {"jsonrpc": "2.0", "id": 1, "method": "ping"}):
            pass
        log = self.directory / "access.log"
        wait_until(lambda: "POST /mcp" in log.read_text(), 10, "the call is logged")
        self.assertNotIn("SECRET", log.read_text())

    def test_what_it_keeps_back(self):
        with self.ask("/metrics") as metrics:  # this machine may
            self.assertIn(b"league_state", metrics.read())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.ask("/mcp", {"pad": "x" * 3_000_000}).close()
        self.assertEqual(refused.exception.code, 413)
        refused.exception.close()
        with self.assertRaises(urllib.error.HTTPError) as foreign:  # a name that the manager does not have
            self.ask("/mcp", {}, {"Host": "evil.example"}).close()
        self.assertEqual(foreign.exception.code, 403)
        foreign.exception.close()


if __name__ == "__main__":
    unittest.main()
