"""What floods, drips and lies at the socket: it is refused clearly, and an honest caller does not feel it."""

import contextlib
import gzip
import http.client
import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest, message, player_registration, rpc, wait_until
from scripted_bot import Bot

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'


def address(manager):
    parts = urlsplit(manager.url)
    return "127.0.0.1", parts.port


def connect(manager):
    return socket.create_connection(address(manager), timeout=10)


def head(*lines, host="localhost"):
    whole = ["POST /mcp HTTP/1.1", f"Host: {host}", *lines]
    if not any(line.lower().startswith("content-type") for line in lines):
        whole.append("Content-Type: application/json")
    return ("\r\n".join(whole) + "\r\n\r\n").encode()


def sized(body, *lines):
    return head(f"Content-Length: {len(body)}", *lines) + body


def read_answer(connection):
    """(status, body) of one HTTP answer; the status is 0 if the connection was closed without one."""
    response = http.client.HTTPResponse(connection)
    try:
        response.begin()
        return response.status, response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return 0, ""


def exchange(manager, data):
    with connect(manager) as connection:
        with contextlib.suppress(OSError):  # it may refuse before everything is sent
            connection.sendall(data)
        return read_answer(connection)


class HostileRequests(LeagueTest):
    def setUp(self):
        super().setUp()
        self.manager = self.start_manager(4, 1)

    def assert_refused(self, answer, status, *texts, rpc_code=None):
        self.assertEqual(answer[0], status, answer)
        error = json.loads(answer[1])["error"]
        self.assertTrue(error["message"])
        for text in texts:
            self.assertIn(text, answer[1])
        if rpc_code is not None:
            self.assertEqual(error["code"], rpc_code, answer)
        self.assert_alive()

    def assert_alive(self):
        self.assertEqual(rpc(self.manager.url, "ping").status, 200)
        self.assertTrue(self.manager.program.is_running)

    def resident(self):
        statm = Path(f"/proc/{self.manager.program.process.pid}/statm").read_text()
        return int(statm.split()[1]) * resource.getpagesize()

    def test_head(self):
        manager = self.manager
        length = f"Content-Length: {len(PING)}"
        for name, data, status in (
            ("two lengths", head(length, "Content-Length: 5") + PING, 400),
            ("two equal lengths", head(length, length) + PING, 400),
            ("length and chunks", head(length, "Transfer-Encoding: chunked") + PING, 400),
            ("negative length", head("Content-Length: -1") + PING, 400),
            ("a length that is no number", head("Content-Length: 0x10") + PING, 400),
            ("compressed", sized(PING, "Content-Encoding: gzip"), 415),
            ("another type", sized(PING, "Content-Type: text/plain"), 415),
            ("a web page", sized(PING, "Origin: http://evil.example"), 403),
            ("no host", b"POST /mcp HTTP/1.1\r\n" + length.encode() + b"\r\n\r\n" + PING, 400),
            ("another host", head(length, host="evil.example") + PING, 403),
            ("two hosts", head(length, "Host: localhost") + PING, 400),
            ("a long head", head(length, "X-Filler: " + "x" * 20000) + PING, 431),
            ("a method that is none here", b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
            ("a path that is none", b"POST /other HTTP/1.1\r\nHost: localhost\r\n" + length.encode() + b"\r\n\r\n" + PING,
             404),
            ("a declared 64 MB", head("Content-Length: 67108864") + b"x", 413),
        ):
            with self.subTest(name):
                self.assert_refused(exchange(manager, data), status)

    def test_noise_is_answered_or_hung_up_on(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"\x00" * 200 + b"\r\n\r\n", b"\r\n" * 50 + b"x\r\n\r\n",
                     b"POST /mcp\r\n\r\n", b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n"):
            with self.subTest(data[:12]):
                status, _ = exchange(self.manager, data)
                self.assertIn(status, (0, 400, 404, 405, 501, 505))
                self.assert_alive()

    def test_bodies(self):
        nested = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 40 + b"]" * 40 + b"}"
        for name, body, status, code, text in (
            ("nested", nested, 400, -32600, "E024"), ("deep", deep, 400, -32600, "E024"),
            ("twice", b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}', 400, -32600, "E026"),
            ("no JSON", b"{", 400, -32700, "E002"), ("nothing", b"", 400, -32700, ""),
            ("not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', 400, -32700, "E002"),
            ("a number", b"5", 400, -32600, ""), ("an empty batch", b"[]", 400, -32600, ""),
        ):
            with self.subTest(name):
                self.assert_refused(exchange(self.manager, sized(body)), status, text, rpc_code=code)

    def test_long_sender(self):
        request = player_registration("x", "http://127.0.0.1:5001/mcp", sender="player:" + "a" * 30_000)
        answer = rpc(self.manager.url, "register_player", request)
        self.assertEqual(answer.error_code(), "E025", answer)
        self.assertIn("at most 256 characters", answer.text)
        self.assertLess(len(answer.text), 2000, "it is not echoed")
        self.assert_alive()

    def test_chunked_flood(self):
        """64 MB in chunks: the limit of the body holds, whatever the framing."""
        with connect(self.manager) as connection:
            connection.sendall(head("Transfer-Encoding: chunked"))
            chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
            before = self.resident()
            with contextlib.suppress(OSError):
                for _ in range(64):
                    connection.sendall(chunk)
            self.assertLess(self.resident() - before, 8 << 20, "nobody keeps it")
            status, body = read_answer(connection)
        self.assertIn(status, (0, 413), body)
        small = exchange(self.manager, head("Transfer-Encoding: chunked") + b"100000\r\n" + b"x" * 300_000)
        self.assert_refused(small, 413)

    def test_gzip_bomb(self):
        bomb = gzip.compress(b"[" * 20_000_000)
        self.assertLess(len(bomb), 200_000)
        self.assert_refused(exchange(self.manager, sized(bomb, "Content-Encoding: gzip")), 415)

    def test_a_batch_costs_what_its_calls_cost(self):
        """With the default budgets, an address has as much of each batch as of its calls one by one."""
        query = {"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": message("LEAGUE_QUERY", "player:P01", "tok_p01_guess")}
        batch = sized(json.dumps([{**query, "id": i} for i in range(64)]).encode())
        status, body = exchange(self.manager, batch)
        self.assertEqual((status, {one["id"] for one in json.loads(body)}), (200, set(range(64))))
        def records():
            return sum(log.read_bytes().count(b'"dir":"in","kind":"request"') for log in self.logs.rglob("*.jsonl"))

        wait_until(lambda: records() == 64, 10, "each call has a record of its own")
        most = 400  # 25,600 calls, more than twice what an address has at once
        taken = next(i for i in range(most) if exchange(self.manager, batch)[0] == 429)
        self.assertLess(taken * 64, 12_000)
        self.assertEqual(rpc(self.manager.url, "league_query", query["params"]).status, 429)
        self.assertEqual(rpc(self.manager.url, "ping", {"operator_key": self.operator_key()}).status, 200)

    def test_memory_does_not_grow_with_floods(self):
        big = sized(b'{"jsonrpc":"2.0","id":1,"method":"' + b"m" * 250_000 + b'"}')
        for _ in range(20):
            exchange(self.manager, big)
        before = self.resident()
        statuses = {exchange(self.manager, big)[0] for _ in range(200)}
        self.assertLess(self.resident() - before, 64 << 20)
        self.assertIn(429, statuses, "what one address may have written down is used up")
        known = rpc(self.manager.url, "ping", {"operator_key": self.operator_key()})
        self.assertEqual(known.status, 200, "who shows a credential is not charged for it")


class Crowds(LeagueTest):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def test_five_hundred_registrations_at_once(self):
        manager = self.start_manager(500, 1)
        waiting = selectors.DefaultSelector()
        bodies = {}
        for i in range(500):
            request = player_registration(f"bot{i}", f"http://127.0.0.1:{20000 + i}/mcp")
            frame = {"jsonrpc": "2.0", "id": i, "method": "register_player", "params": request}
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(address(manager))
            waiting.register(connection, selectors.EVENT_WRITE, sized(json.dumps(frame).encode(), "Connection: close"))
            bodies[connection] = b""
            self.addCleanup(connection.close)
        identities = []
        deadline = time.monotonic() + 30
        while len(identities) < 500:
            self.assertLess(time.monotonic(), deadline, f"only {len(identities)} are answered")
            for key, _ in waiting.select(1):
                connection = key.fileobj
                if key.data is not None:
                    connection.send(key.data)
                    waiting.modify(connection, selectors.EVENT_READ, None)
                    continue
                data = connection.recv(65536)
                bodies[connection] += data
                if data:
                    continue
                waiting.unregister(connection)
                result = json.loads(bodies[connection].partition(b"\r\n\r\n")[2])["result"]
                self.assertEqual(result["status"], "ACCEPTED", result)
                identities.append((result["player_id"], result["auth_token"]))
        self.assertEqual(len(set(identities)), 500)
        self.assertEqual(len({player for player, _ in identities}), 500)
        self.assertEqual(self.status(manager)["players"], 500)

    def test_an_honest_call_beside_idle_half_and_dripping_clients(self):
        manager = self.start_manager(4, 1)
        crowd = contextlib.ExitStack()
        self.addCleanup(crowd.close)
        for _ in range(1000):
            crowd.enter_context(connect(manager))
        for _ in range(200):
            crowd.enter_context(connect(manager)).sendall(head("Content-Length: 100") + b"{")
        drips = [crowd.enter_context(connect(manager)) for _ in range(50)]
        stop = threading.Event()

        def drip():
            data = iter(head("X-Slow: " + "y" * 4000))
            while not stop.wait(1.0):
                byte = bytes([next(data)])
                for connection in drips:
                    with contextlib.suppress(OSError):
                        connection.send(byte)

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            took = self.time_calls(manager, 600)
        finally:
            stop.set()
            dripping.join()
        p99 = sorted(took)[int(len(took) * 0.99)]
        print(f"# an honest call takes p50 {sorted(took)[len(took) // 2] * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms")
        self.assertLess(p99, 0.050)
        wait_until(lambda: self.are_refused(drips), 10, "dripping clients are sent away with 408")
        self.assertTrue(manager.program.is_running)

    @staticmethod
    def time_calls(manager, count):
        took = []
        connection = http.client.HTTPConnection(*address(manager), timeout=10)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(count):
            start = time.monotonic()
            connection.request("POST", "/mcp", PING, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            took.append(time.monotonic() - start)
            assert response.status == 200
            time.sleep(0.002)  # spread over the drips
        connection.close()
        return took

    @staticmethod
    def are_refused(connections):
        for connection in connections:
            connection.setblocking(False)
            try:
                if b"408" not in connection.recv(4096, socket.MSG_PEEK)[:20]:
                    return False
            except BlockingIOError:
                return False
            except OSError:
                pass
        return True


class Exhaustion(LeagueTest):
    def test_a_server_without_descriptors_lives_and_comes_back(self):
        manager = self.start_manager(4, 1)
        pid = manager.program.process.pid
        in_use = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (in_use + 10, in_use + 10))
        crowd = [connect(manager) for _ in range(60)]
        before = cpu_seconds(pid)
        time.sleep(0.5)
        self.assertLess(cpu_seconds(pid) - before, 0.25, "it spins")
        self.assertTrue(manager.program.is_running)
        for connection in crowd:
            connection.close()
        wait_until(lambda: rpc(manager.url, "ping", timeout=5).status == 200, 10, "an honest call is answered again")

    def test_one_address_has_64_connections(self):
        script = Path(__file__).with_name("connections_from_one_address.py")
        if subprocess.run(["unshare", "-rn", "ip", "link"], capture_output=True, timeout=10).returncode != 0:
            self.skipTest("no network namespaces here")
        process = subprocess.run(["unshare", "-rn", sys.executable, script, BIN / "league_manager", self.directory],
                                 capture_output=True, text=True, timeout=30)
        self.assertEqual(process.stdout.split("\n")[:2], ["64", "again"], process.stderr)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Stopping(LeagueTest):
    def assert_stops(self, program):
        start = time.monotonic()
        self.assertEqual(program.stop(), 0, program.stderr())
        self.assertLess(time.monotonic() - start, 1.0, program.name)

    def test_all_programs_stop_within_a_second(self):
        manager = self.start_manager(3, 1)
        referee = self.start_referee(manager)
        player, = self.start_players(manager, 1)
        idle = [connect(manager) for _ in range(50)]
        half = connect(manager)
        half.sendall(b"POST /mcp HTTP/1.1\r\n")
        for agent in (player, referee, manager):
            self.assert_stops(agent.program)
        for connection in (*idle, half):
            connection.close()

    def test_they_stop_in_the_middle_of_a_slow_match(self):
        release = threading.Event()
        self.addCleanup(release.set)
        slow = Bot("slow")
        self.addCleanup(slow.close)
        exact = slow.answer
        slow.answer = lambda frame: release.wait(20) and exact(frame)
        manager = self.start_manager(2, 1)
        slow.join(manager)
        player, = self.start_players(manager, 1)
        referee = self.start_referee(manager)
        slow.wait_for("GAME_INVITATION")
        for agent in (referee, player, manager):
            self.assert_stops(agent.program)


if __name__ == "__main__":
    unittest.main()
