"""JSON lines as other people speak them: foreign clients of real players on standard streams, TCP and Unix sockets."""

import json
import signal
import socket
import struct
import subprocess
import unittest
from contextlib import ExitStack
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest, Program, limits, wait_until

SOCKETS = ("tcp", "unix")


def request(number, method="ping", **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


def line(frame):
    return json.dumps(frame).encode() + b"\n"


class LineClient:
    """One connection to a player. All waits end after 10 s."""

    def __init__(self, url):
        if url.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(10)
            try:
                self.socket.connect(url.removeprefix("unix:"))
            except OSError:
                self.socket.close()
                raise
        else:
            parts = urlsplit(url)
            self.socket = socket.create_connection((parts.hostname, parts.port), timeout=10)
        self.lines = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def say(self, data):
        self.socket.sendall(data)

    def hear(self):
        """The next message; None at the end."""
        text = self.lines.readline()
        return json.loads(text) if text else None

    def ask(self, frame):
        self.say(line(frame))
        return self.hear()

    def die(self):
        """Ends with a reset, as the kernel does for a process that was killed with unread input."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.lines.close()
        self.socket.close()


class StandardStreams(LeagueTest):
    def player(self, *arguments):
        """A player of ours as the child of somebody else; its stdout is ours alone."""
        child = subprocess.Popen(
            [BIN / "player", "--transport", "stdio", "--standalone", "--logs", self.logs, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory)
        self.addCleanup(lambda: (child.poll() is None and child.kill(), child.wait(5), child.stdin.close(),
                                 child.stdout.close(), child.stderr.close()))
        return child

    def run_with(self, data):
        """Everything at once, then the end of the input: (messages of stdout, exit code)."""
        child = self.player()
        out, _ = child.communicate(data, timeout=20)
        self.assertTrue(out.endswith(b"\n") or not out, out[-80:])
        return [json.loads(text) for text in out.splitlines()], child.returncode

    def test_all_is_answered_before_the_end_of_the_input_ends_it(self):
        said = b"".join(line(request(number)) for number in range(2000))
        heard, code = self.run_with(said)
        self.assertEqual(sorted(one["id"] for one in heard), list(range(2000)))
        self.assertTrue(all("result" in one for one in heard))
        self.assertEqual(code, 0)

    def test_stdout_holds_nothing_but_answers(self):
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        hello = request("h", "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        said = b"\r\n\n" + line(hello) + line(notification) + b"no json\n" + line(request(7, "no_such_method")) + line(request(8, "tools/list"))[:-1]
        heard, code = self.run_with(said)
        by_id = {one["id"]: one for one in heard}
        self.assertEqual(set(by_id), {"h", None, 7, 8}, "the last line counts without its end")
        self.assertEqual(by_id["h"]["result"]["protocolVersion"], "2025-06-18")
        self.assertEqual(by_id[None]["error"]["code"], -32700)
        self.assertEqual(by_id[7]["error"]["code"], -32601)
        self.assertIn("choose_parity", {tool["name"] for tool in by_id[8]["result"]["tools"]})
        self.assertEqual(len(heard), 4)
        self.assertEqual(code, 0)

    def test_lines_in_pieces(self):
        child = self.player()
        for number in range(3):
            text = line(request(number, "tools/list"))
            for at in range(0, len(text), 5):
                child.stdin.write(text[at:at + 5])
                child.stdin.flush()
            self.assertEqual(json.loads(child.stdout.readline())["id"], number)
        child.stdin.close()
        self.assertEqual(child.wait(10), 0)

    def test_a_line_of_ten_megabytes(self):
        child = self.player()
        child.stdin.write(line(request(1)))
        child.stdin.flush()
        self.assertEqual(json.loads(child.stdout.readline())["id"], 1)
        child.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"' + b"x" * 10_000_000 + b'"}}\n')
        child.stdin.write(line(request(3)))
        child.stdin.close()
        refusal, answer = map(json.loads, child.stdout.readlines())
        self.assertEqual(refusal["id"], 2)
        self.assertIn("longer than 262144 bytes", refusal["error"]["message"])
        self.assertEqual(answer["id"], 3, "the line is skipped, and the program goes on")
        self.assertEqual(child.wait(10), 0)

    def test_it_ends_with_who_reads_it(self):
        child = self.player()
        child.stdout.close()
        child.stdin.write(line(request(1)))
        child.stdin.flush()
        self.assertEqual(child.wait(10), 0)

    def test_it_ends_when_it_is_told_to(self):
        child = self.player()
        child.stdin.write(line(request(1)))
        child.stdin.flush()
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(10), 0)
        self.assertEqual(child.stdout.read(), b"")

    def test_no_input_at_all(self):
        self.assertEqual(self.run_with(b""), ([], 0))


class Sockets(LeagueTest):
    def player(self, transport):
        """The URL of a player that plays for nobody, and its program."""
        program = Program("player", ["--transport", transport, "--standalone", "--logs", self.logs, "--port", 0,
                                     "--socket", self.directory / "bot.sock"], self.directory)
        self.programs.append(program)
        (url, _), = program.ready()
        self.assertTrue(url.startswith(transport + ":"), url)
        return url, program

    def each(self):
        for transport in SOCKETS:
            with self.subTest(transport=transport):
                yield self.player(transport)

    def test_many_requests_in_flight(self):
        for url, _ in self.each():
            with LineClient(url) as client:
                client.say(b"".join(line(request(number)) for number in range(500)))
                heard = [client.hear() for _ in range(500)]
                self.assertEqual({one["id"] for one in heard}, set(range(500)))
                self.assertTrue(all("result" in one for one in heard))

    def test_the_end_of_the_input_lets_answers_come(self):
        for url, _ in self.each():
            with LineClient(url) as client:
                client.say(b"".join(line(request(number, "tools/list")) for number in range(50)))
                client.socket.shutdown(socket.SHUT_WR)
                self.assertEqual({client.hear()["id"] for _ in range(50)}, set(range(50)))
                self.assertIsNone(client.hear())

    def test_half_a_line_holds_nobody_else(self):
        for url, _ in self.each():
            with LineClient(url) as slow, LineClient(url) as quick:
                text = line(request("slow"))
                slow.say(text[:20])
                self.assertEqual(quick.ask(request("quick"))["id"], "quick")
                slow.say(text[20:] + text[:5])
                self.assertEqual(slow.hear()["id"], "slow")

    def test_a_line_of_ten_megabytes_is_skipped(self):
        for url, _ in self.each():
            with LineClient(url) as greedy, LineClient(url) as honest:
                greedy.say(b"x" * 10_000_000 + b"\n")
                answer = greedy.hear()
                self.assertIn("longer than 262144 bytes", answer["error"]["message"])
                self.assertIsNone(answer["id"])
                self.assertEqual(greedy.ask(request(2))["id"], 2, "the connection goes on")
                self.assertIn("result", honest.ask(request(1)))

    def test_clients_that_die(self):
        for url, _ in self.each():
            for number in range(50):
                client = LineClient(url)
                client.say(b"".join(line(request(n, "tools/list")) for n in range(20)) + b'{"half')
                client.die() if number % 2 else client.__exit__()
            with LineClient(url) as client:
                self.assertIn("result", client.ask(request(1)))

    def test_many_connections(self):
        for url, _ in self.each():
            with ExitStack() as stack:
                clients = [stack.enter_context(LineClient(url)) for _ in range(300)]
                for number, client in enumerate(clients):
                    client.say(line(request(number)))
                for number, client in enumerate(clients):
                    self.assertEqual(client.hear()["id"], number)

    def test_a_server_that_is_told_to_end(self):
        for url, program in self.each():
            with LineClient(url) as client:
                self.assertIn("result", client.ask(request(1)))
                self.assertEqual(program.stop(), 0)
                self.assertIsNone(client.hear())

    def test_a_killed_server_and_the_next_one_in_its_place(self):
        for url, program in self.each():
            with LineClient(url) as client:
                self.assertIn("result", client.ask(request(1)))
                program.kill()
                self.assertIsNone(client.hear())
            with self.assertRaises(OSError):
                LineClient(url)
            again, _ = self.player(url.split(":")[0])
            with LineClient(again) as client:
                self.assertIn("result", client.ask(request(1)))


class KilledInTheLeague(LeagueTest):
    def test_players_that_are_killed_lose(self):
        """A league with one player that dies on each kind of socket: everybody else's matches are played."""
        fast = limits(retry={"delay_ms": 20}, time_limits_ms={"CHOOSE_PARITY_CALL": 1000, "GAME_JOIN_ACK": 1000})
        sockets = f"local,unix:{self.directory}/"
        manager = self.start_manager(4, 1, "--endpoints", sockets, limits=fast)
        doomed = []
        for transport in SOCKETS:
            doomed += self.start_players(manager, 1, "random", "--transport", transport, "--socket", self.directory / "p.sock",
                                         name=transport, limits=fast)
        self.start_players(manager, 2, "random", "--transport", "tcp", name="well", limits=fast)
        for one in doomed:  # only now: a port of one that was killed could be given to one that is well
            one.program.kill()
        self.start_referee(manager, "--endpoints", sockets, limits=fast)
        status = self.wait_until_over(manager)
        self.assertEqual(status["total_matches"], 6)
        table = {row["player_id"]: row for row in self.standings(manager)}
        for one in doomed:
            self.assertEqual(table[one.id]["points"], 0)
        self.assertEqual(sum(row["played"] for row in table.values()), 12)
        wait_until(lambda: self.status(manager)["technical_losses"] == 5, 5, "five matches without one of the players")


if __name__ == "__main__":
    unittest.main()
