"""`league gateway` in front of a server of the transport of 2024 that misbehaves in every way, and of a child."""

import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import support_path  # noqa: F401
from legacy_sse_server import Backend
from league_testing import BIN, player_registration, rpc, wait_until

SECRET = "s3cret-value-4711"


class Gateway:
    """The real program; `post` speaks JSON-RPC to it."""

    def __init__(self, backend, *options, logs=None, environment=None):
        command = [str(BIN / "league"), "gateway", "--backend", backend, "--port", "0", "--json", *map(str, options)]
        if logs:
            command += ["--logs", str(logs)]
        self.stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.stderr, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        assert line, self.errors()
        self.url = json.loads(line)["ready"]
        self.port = urlsplit(self.url).port

    def errors(self):
        self.stderr.seek(0)
        return self.stderr.read().decode("utf-8", "replace")

    def post(self, method, params=None, headers=None, id=1, seconds=15):
        body = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
        if id is not None:
            body["id"] = id
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("POST", "/mcp", json.dumps(body),
                               {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})})
            response = connection.getresponse()
            text = response.read()
            self.headers = dict(response.getheaders())
            if response.getheader("Content-Type", "").startswith("text/event-stream"):
                data = [line[6:] for line in text.decode().splitlines() if line.startswith("data: ")]
                self.events = [json.loads(one) for one in data if one]
                return response.status, self.events[-1]
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def call(self, tool, arguments=None, **more):
        return self.post("tools/call", {"name": tool, "arguments": arguments or {}}, **more)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.terminate()
        code = self.process.wait(10)
        self.process.stdout.close()
        return code


class GatewayTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="league_gateway_")
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)

    def backend(self):
        backend = Backend()
        self.addCleanup(backend.stop)
        return backend

    def gateway(self, backend, *options, **more):
        gateway = Gateway(backend, *options, **more)
        self.addCleanup(gateway.stderr.close)
        self.addCleanup(lambda: gateway.process.poll() is None and gateway.stop())
        return gateway

    def records(self):
        records = []
        for file in self.directory.rglob("*.jsonl"):
            records += [json.loads(line) for line in file.read_text().splitlines()]
        return [record for record in records if "dir" in record]


class LegacyBackend(GatewayTest):
    def test_only_tools_open_a_channel_and_each_its_own(self):
        backend = self.backend()
        gateway = self.gateway(backend.url)
        status, answer = gateway.post("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
        self.assertEqual((status, answer["result"]["protocolVersion"]), (200, "2025-06-18"))
        self.assertEqual(gateway.post("notifications/initialized", id=None), (202, None))
        self.assertEqual(gateway.post("ping")[1]["result"], {})
        self.assertEqual(gateway.post("resources/list")[1]["error"]["code"], -32601)
        self.assertEqual(backend.streams, [])
        self.assertEqual([tool["name"] for tool in gateway.post("tools/list")[1]["result"]["tools"]], ["echo", "secret", "slow"])
        self.assertEqual(backend.methods(), ["initialize", "notifications/initialized", "tools/list"])
        answer = gateway.call("echo", {"a": 1}, id="mine")[1]
        self.assertEqual(answer["id"], "mine")
        self.assertEqual(json.loads(answer["result"]["content"][0]["text"]), {"a": 1})
        self.assertEqual(len(backend.streams), 2)
        self.assertEqual(gateway.call("unknown")[1]["error"]["code"], -32602)
        wait_until(lambda: backend.open_streams == 0, 5, "channels are closed with their answers")

    def test_the_servers_pings_are_answered(self):
        backend = self.backend()
        backend.pings = True
        gateway = self.gateway(backend.url)
        self.assertIn("result", gateway.call("echo")[1])
        self.assertIn("response", backend.methods())

    def test_headers_go_along_but_for_those_of_the_post(self):
        backend = self.backend()
        gateway = self.gateway(backend.url)
        gateway.call("echo", headers={"Authorization": "Bearer client", "Cookie": "a=b", "X-Tenant": "one",
                                      "MCP-Protocol-Version": "2025-06-18", "Connection": "X-Hop", "X-Hop": "1"})
        path, headers = backend.streams[0]
        self.assertEqual(headers["authorization"], "Bearer client")
        self.assertEqual(headers["cookie"], "a=b")
        self.assertEqual(headers["x-tenant"], "one")
        self.assertEqual(headers["via"], "1.1 league-gateway")
        self.assertEqual(headers["accept"], "text/event-stream")
        self.assertEqual(headers["host"], f"127.0.0.1:{backend.port}")
        for name in ("content-type", "content-length", "x-hop", "mcp-protocol-version", "transfer-encoding"):
            self.assertNotIn(name, headers)
        for _, posted, _ in backend.posts:
            self.assertEqual(posted["x-tenant"], "one")
            self.assertTrue(posted["content-type"].startswith("application/json"))

    def test_credentials_of_the_operator(self):
        for option, is_right in {
            "header:X-API-Key=KEY": lambda path, headers: headers.get("x-api-key") == SECRET,
            "bearer:KEY": lambda path, headers: headers.get("authorization") == f"Bearer {SECRET}",
            "query:api_key=KEY": lambda path, headers: f"api_key={SECRET}" in path,
        }.items():
            with self.subTest(option=option):
                backend = self.backend()
                backend.requires = is_right
                gateway = self.gateway(backend.url, "--credential", option, logs=self.directory, environment={"KEY": SECRET})
                self.assertIn("result", gateway.call("echo", headers={"Authorization": "Bearer client"})[1])
                seen = json.dumps(backend.streams)
                self.assertNotIn("Bearer client", seen, "the client's own is for the gateway")
                backend.requires = lambda path, headers: False
                answer = gateway.call("echo")[1]
                self.assertEqual(answer["error"]["data"]["http_status"], 401)
                self.assertEqual(answer["error"]["data"]["phase"], "wait_endpoint")
                gateway.stop()
                everything = json.dumps(answer) + gateway.errors() + "".join(
                    file.read_text() for file in self.directory.rglob("*.jsonl"))
                self.assertNotIn(SECRET, everything)

    def test_a_credential_that_is_not_there(self):
        done = subprocess.run([BIN / "league", "gateway", "--backend", "sse+http://127.0.0.1:1/sse", "--port", "0",
                               "--credential", "bearer:NOT_THERE_4711"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("NOT_THERE_4711", done.stderr)

    def test_the_allow_list(self):
        backend = self.backend()
        backend.pages = True
        gateway = self.gateway(backend.url, "--allow-tool", "echo", "--allow-tool", "slow")
        names, cursor = [], None
        while True:
            result = gateway.post("tools/list", {"cursor": cursor} if cursor else {})[1]["result"]
            names += [tool["name"] for tool in result["tools"]]
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        self.assertEqual(names, ["echo", "slow"])
        streams = len(backend.streams)
        self.assertEqual(gateway.call("secret")[1]["error"]["code"], -32602)
        self.assertEqual(len(backend.streams), streams, "it is refused here")
        self.assertIn("result", gateway.call("echo")[1])

    def test_faults_are_clear_errors_of_json_rpc(self):
        def change(**attributes):
            def apply(backend):
                for name, value in attributes.items():
                    setattr(backend, name, value)
            return apply

        for name, (apply, phase) in {
            "401": (change(stream_status=401), "wait_endpoint"),
            "404": (change(stream_status=404), "wait_endpoint"),
            "500": (change(stream_status=500), "wait_endpoint"),
            "no events": (change(content_type="application/json"), "wait_endpoint"),
            "foreign origin": (change(endpoint="http://example.org/message"), "wait_endpoint"),
            "foreign port": (change(endpoint="http://127.0.0.1:1/message"), "wait_endpoint"),
            "no endpoint": (change(endpoint=None), "wait_endpoint"),
            "refused posts": (change(post_status=403), "initializing"),
            "silent at initialize": (change(silent={"initialize"}), "initializing"),
            "closed at initialize": (change(closes_at="initialize"), "initializing"),
            "silent at the call": (change(silent={"tools/call"}), "wait_response"),
            "closed at the call": (change(closes_at="tools/call"), "wait_response"),
        }.items():
            with self.subTest(fault=name):
                backend = self.backend()
                apply(backend)
                gateway = self.gateway(backend.url, "--call-timeout", 1200, "--connect-timeout", 600)
                status, answer = gateway.call("echo")
                self.assertEqual(status, {"401": 401, "refused posts": 403}.get(name, 200))
                self.assertEqual(answer["id"], 1)
                self.assertEqual(answer["error"]["code"], -32603)
                self.assertEqual(answer["error"]["data"]["phase"], phase, answer)
                self.assertTrue(answer["error"]["message"].startswith("gateway: "))
                wait_until(lambda: backend.open_streams == 0, 5, "nothing is left")
                gateway.stop()

    def test_absolute_and_relative_endpoints(self):
        for endpoint in ("message?session={session}", "/message?session={session}", "http://127.0.0.1:{port}/message?session={session}"):
            with self.subTest(endpoint=endpoint):
                backend = self.backend()
                backend.endpoint = endpoint
                self.assertIn("result", self.gateway(backend.url).call("echo")[1])

    def test_nobody_there(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            gateway = self.gateway(f"sse+http://127.0.0.1:{unused.getsockname()[1]}/sse")
            answer = gateway.call("echo")[1]
        self.assertEqual(answer["error"]["data"]["phase"], "wait_endpoint")

    def test_clients_that_vanish_leave_nothing(self):
        backend = self.backend()
        gateway = self.gateway(backend.url, "--call-timeout", 60000)
        self.assertIn("result", gateway.call("echo")[1])
        wait_until(lambda: backend.open_streams == 0, 5, "the first channel is closed")
        before = gateway.descriptors()
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow", "arguments": {}}}).encode()
        head = (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n").encode()
        clients = []
        for _ in range(200):
            client = socket.create_connection(("127.0.0.1", gateway.port))
            client.sendall(head + body)
            clients.append(client)
        wait_until(lambda: backend.methods().count("tools/call") == 201, 30, "all calls are under way")
        self.assertEqual(backend.open_streams, 200)
        for client in clients:
            client.close()
        wait_until(lambda: backend.open_streams == 0, 20, "the channels are closed with their clients")
        wait_until(lambda: gateway.descriptors() <= before + 4, 10, "no descriptor is left")
        self.assertIn("result", gateway.call("echo")[1])

    def test_both_sides_are_in_the_log_under_one_conversation(self):
        backend = self.backend()
        gateway = self.gateway(backend.url, logs=self.directory)
        gateway.call("echo", {"conversation_id": "convr1m1001"})
        self.assertEqual(gateway.stop(), 0)
        records = [record for record in self.records() if record.get("conversation_id") == "convr1m1001"]
        courses = [(record["dir"], record["kind"], record["transport"]) for record in records]
        self.assertIn(("in", "request", "http"), courses)
        self.assertIn(("out", "reply", "http"), courses)
        self.assertGreaterEqual(courses.count(("out", "request", "sse")), 3)
        self.assertGreaterEqual(courses.count(("in", "reply", "sse")), 2)
        inbound = [record for record in records if record["dir"] == "in" and record["transport"] == "sse"]
        self.assertTrue(all(record.get("context", {}).get("stream") or record.get("context") for record in inbound), inbound)


CHILD = textwrap.dedent('''
    import json, os, sys, time
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message:
            continue
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "child", "version": "7"}}
        elif method == "tools/list":
            result = {"tools": [{"name": "pid", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call" and params["name"] == "die":
            os._exit(3)
        elif method == "tools/call" and params["name"] == "large":
            result = {"content": [{"type": "text", "text": "x" * params["arguments"]["size"]}]}
        elif method == "tools/call":
            token = (params.get("_meta") or {}).get("progressToken")
            if token is not None:
                print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}), flush=True)
            if params["name"] == "announce":
                print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
            result = {"content": [{"type": "text", "text": json.dumps({"pid": os.getpid(), **params.get("arguments", {})})}]}
        elif method == "resources/list":
            result = {"resources": []}
        else:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
''')


class HttpBackend(http.server.BaseHTTPRequestHandler):
    """A server with sessions, of which it knows those that `sessions` holds; `gone` is its answer to the others."""

    def log_message(self, *_):
        pass

    def answer(self, status, body, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(data), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if server.challenge:
            return self.answer(401, {"error": "invalid_token"}, WWW_Authenticate=server.challenge)
        method, id = message["method"], message.get("id")
        server.seen.append(method)
        server.shown.append((method, self.headers.get("Mcp-Session-Id")))
        if method == "initialize":
            server.sessions.add(name := f"s{len(server.seen)}")
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}
            return self.answer(200, {"jsonrpc": "2.0", "id": id, "result": result}, Mcp_Session_Id=name)
        if self.headers.get("Mcp-Session-Id") not in server.sessions:
            return self.answer(server.gone, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}})
        if id is None:
            return self.answer(202, None)
        self.answer(200, {"jsonrpc": "2.0", "id": id, "result": {"content": []}})

    def do_GET(self):
        self.answer(405, None)

    do_DELETE = do_GET


class SharedServer(GatewayTest):
    def server(self, port=0):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), HttpBackend)
        server.sessions, server.seen, server.shown, server.gone, server.challenge = set(), [], [], 400, None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def test_a_server_that_was_started_again_is_initialised_again(self):
        first = self.server()
        gateway = self.gateway(f"http://127.0.0.1:{first.server_port}/mcp")
        self.assertIn("result", gateway.call("t")[1])
        for gone in (400, 404):
            first.gone = gone
            first.sessions.clear()
            self.assertIn("result", gateway.call("t")[1], f"it forgot everything and answers {gone}")
        first.shutdown()
        first.server_close()
        self.assertIn("error", gateway.call("t")[1], "nobody is there")
        second = self.server(first.server_port)
        second.gone = 500
        self.assertIn("result", gateway.call("t")[1])
        self.assertEqual(second.seen.count("tools/call"), 1, "it was not shown the old session")

    def shake_hands(self, gateway):
        """The header field of a client's session."""
        answer = gateway.post("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})[1]
        return {"Mcp-Session-Id": gateway.headers["Mcp-Session-Id"]} if "result" in answer else answer["error"]

    def test_each_client_has_a_session_and_keeps_what_it_set(self):
        server = self.server()
        gateway = self.gateway(f"http://127.0.0.1:{server.server_port}/mcp")
        clients = [self.shake_hands(gateway) for _ in range(2)]
        for client, level in zip(clients, ("debug", "error")):
            gateway.post("logging/setLevel", {"level": level}, headers=client)
        sessions = [session for method, session in server.shown if method == "logging/setLevel"]
        self.assertEqual(len(set(sessions)), 2)
        server.gone = 404
        server.sessions.clear()
        server.seen.clear()
        self.assertIn("result", gateway.call("t", headers=clients[0])[1])
        self.assertEqual(sorted(server.seen), ["initialize", "logging/setLevel", "notifications/initialized", "tools/call", "tools/call"])

    def test_sessions_of_clients_are_bounded(self):
        server = self.server()
        gateway = self.gateway(f"http://127.0.0.1:{server.server_port}/mcp", "--max-own-sessions", 3)
        answers = [self.shake_hands(gateway) for _ in range(20)]
        self.assertEqual(["Mcp-Session-Id" in one for one in answers], [True] * 3 + [False] * 17)
        self.assertIn("in use", answers[-1]["message"])
        self.assertIn("result", gateway.call("t", headers=answers[0])[1], "a flood takes nobody's session away")
        self.assertIn("result", gateway.call("t")[1])

    def test_a_challenge_reaches_the_client(self):
        server = self.server()
        server.challenge = 'Bearer resource_metadata="https://example.org/x"'
        gateway = self.gateway(f"http://127.0.0.1:{server.server_port}/mcp")
        status, answer = gateway.call("t")
        self.assertEqual(status, 401)
        self.assertEqual(gateway.headers["WWW-Authenticate"], server.challenge)
        self.assertEqual(answer["error"]["data"]["www_authenticate"], server.challenge)
        server.challenge = None
        self.assertIn("result", gateway.call("t")[1])


class SharedChild(GatewayTest):
    def setUp(self):
        super().setUp()
        self.script = self.directory / "child.py"
        self.script.write_text(CHILD)
        self.command = f"stdio:{sys.executable} {self.script}"

    def pid(self, gateway):
        answer = gateway.call("pid")[1]
        return json.loads(answer["result"]["content"][0]["text"])["pid"] if "result" in answer else None

    def test_one_child_for_all_clients(self):
        gateway = self.gateway(self.command)
        answer = gateway.post("initialize", {"protocolVersion": "2025-06-18"})[1]["result"]
        self.assertEqual(answer["serverInfo"]["name"], "child")
        self.assertIn("resources", answer["capabilities"])
        self.assertTrue(gateway.headers.get("Mcp-Session-Id"))
        self.assertEqual(gateway.post("resources/list")[1]["result"], {"resources": []})
        self.assertEqual(gateway.post("nonsense")[1]["error"]["code"], -32601)
        first = self.pid(gateway)
        self.assertEqual(self.pid(gateway), first)
        status, answer = gateway.call("pid", id="text id")
        self.assertEqual(answer["id"], "text id")

    def test_progress_comes_under_the_clients_token(self):
        gateway = self.gateway(self.command)
        gateway.post("tools/call", {"name": "pid", "arguments": {}, "_meta": {"progressToken": "mine"}})
        self.assertEqual(gateway.events[0]["params"]["progressToken"], "mine")

    def test_a_child_that_dies_is_begun_again(self):
        gateway = self.gateway(self.command)
        first = self.pid(gateway)
        answer = gateway.call("die")[1]
        self.assertEqual(answer["error"]["code"], -32603)
        again = wait_until(lambda: self.pid(gateway), 10, "a new child answers")
        self.assertNotEqual(again, first)
        self.assertIn("lost", gateway.errors())
        gateway.stop()
        wait_until(lambda: not Path(f"/proc/{again}").exists(), 10, "the child ends with the gateway")

    def test_calls_wait_for_the_child_that_comes_next(self):
        gateway = self.gateway(self.command)
        for _ in range(3):
            gateway.call("die")
            self.assertIn("result", gateway.call("pid")[1], "only the call in flight is lost")

    def test_large_results_pass_and_larger_ones_fail_alone(self):
        gateway = self.gateway(self.command, "--max-result", 3)
        first = self.pid(gateway)
        for size in (2 << 20, 2 << 20):
            self.assertEqual(len(gateway.call("large", {"size": size})[1]["result"]["content"][0]["text"]), size)
        answer = gateway.call("large", {"size": 4 << 20})[1]
        self.assertEqual((answer["id"], answer["error"]["code"]), (1, -32603))
        self.assertIn("longer than 3145728 bytes", answer["error"]["message"])
        self.assertEqual(self.pid(gateway), first, "the child goes on")

    def test_nobody_learns_how_the_child_was_started(self):
        gateway = self.gateway(f"{self.command} --key {SECRET}")
        answers = [gateway.call("die")[1], self.gateway(f"stdio:/no/such/program --key {SECRET}").call("pid")[1]]
        for answer in answers:
            self.assertEqual(answer["error"]["code"], -32603)
            self.assertNotIn(SECRET, json.dumps(answer))
            self.assertNotIn("/no/such", json.dumps(answer))
            self.assertNotIn(str(self.script), json.dumps(answer))

    def test_a_connection_may_be_initialised_twice(self):
        line = {"jsonrpc": "2.0", "method": "initialize",
                "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
        done = subprocess.run([BIN / "league", "gateway", "--backend", self.command, "--stdio"], text=True, capture_output=True,
                              input="".join(json.dumps({**line, "id": id}) + "\n" for id in (1, 2)), timeout=30)
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        self.assertIn("result", answers[1])
        self.assertIn("result", answers[2])

    def test_the_allow_list_holds_here_too(self):
        gateway = self.gateway(self.command, "--allow-tool", "echo")
        self.assertEqual(gateway.post("tools/list")[1]["result"]["tools"], [])
        self.assertEqual(gateway.call("pid")[1]["error"]["code"], -32602)

    def test_http_as_a_stdio_server(self):
        gateway = self.gateway(self.command)
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "pid", "arguments": {"a": 5}}},
        ]
        done = subprocess.run([BIN / "league", "gateway", "--backend", gateway.url, "--stdio"], text=True, capture_output=True,
                              input="".join(json.dumps(line) + "\n" for line in lines), timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(answers[1]["result"]["serverInfo"]["name"], "child")
        self.assertEqual(json.loads(answers[2]["result"]["content"][0]["text"])["a"], 5)


class Subscriptions(GatewayTest):
    """A manager of ours speaks 2026-07-28, so its subscriptions pass."""

    def manager(self):
        process = subprocess.Popen([BIN / "league_manager", "--port", "0", "--data", self.directory / "data", "--logs",
                                    self.directory / "logs"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 10)
        self.addCleanup(process.terminate)
        return process.stdout.readline().split()[1]

    def listen(self, gateway, id):
        body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {
            "notifications": {"resourceSubscriptions": ["league://standings"]},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
        connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=15)
        connection.request("POST", "/mcp", body, {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"})
        response = connection.getresponse()
        self.addCleanup(response.close)
        self.addCleanup(connection.close)
        return response

    @staticmethod
    def next_event(response):
        while not (line := response.readline()).startswith(b"data: "):
            assert line, "the stream has ended"
        return json.loads(line[6:])

    def test_news_reach_each_listener_under_its_own_id_until_it_leaves(self):
        manager = self.manager()
        gateway = self.gateway(manager)
        capabilities = gateway.post("server/discover", {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}},
            headers={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"})[1]["result"]["capabilities"]
        self.assertIs(capabilities["resources"]["subscribe"], True)
        tag = "io.modelcontextprotocol/subscriptionId"
        streams = {id: self.listen(gateway, id) for id in ("mine", 4711)}
        for id, stream in streams.items():
            event = self.next_event(stream)
            self.assertEqual((event["method"], event["params"]["_meta"][tag]), ("notifications/subscriptions/acknowledged", id))
        request = player_registration("early", "http://127.0.0.1:9/mcp")
        self.assertEqual(rpc(manager, request["message_type"], request).result()["status"], "ACCEPTED")
        for id, stream in streams.items():
            event = self.next_event(stream)
            self.assertEqual((event["method"], event["params"]["uri"]), ("notifications/resources/updated", "league://standings"))
            self.assertEqual(event["params"]["_meta"][tag], id)
        before = gateway.descriptors()
        for stream in streams.values():
            stream.close()
        wait_until(lambda: gateway.descriptors() <= before - 4, 15, "both sides of both streams are closed")
        self.assertIn("result", gateway.post("tools/list")[1])


class Call(GatewayTest):
    def setUp(self):
        super().setUp()
        self.script = self.directory / "child.py"
        self.script.write_text(CHILD)

    def league_call(self, *words):
        return subprocess.run([BIN / "league", "call", *map(str, words)], capture_output=True, text=True, timeout=30)

    def test_a_child(self):
        url = f"stdio:{sys.executable} {self.script}"
        done = self.league_call(url, "pid", "a=1", "--json", "--verbose")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(json.loads(done.stdout)["content"][0]["text"])["a"], 1)
        self.assertIn("2025-06-18", done.stderr)
        self.assertIn("subprocess", done.stderr)
        self.assertIn("pid", self.league_call(url, "--list").stdout)

    def test_a_legacy_server_by_its_plain_address(self):
        backend = self.backend()
        done = self.league_call(f"http://127.0.0.1:{backend.port}/sse", "echo", '{"b":[1]}', "--verbose")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"b": [1]})
        self.assertIn("MCP 2024-11-05 over sse", done.stderr)
        self.assertEqual(self.league_call(backend.url, "unknown").returncode, 1)

    def test_wrong_usage_and_nobody_there(self):
        self.assertEqual(self.league_call("tcp://127.0.0.1:1", "x").returncode, 2)
        self.assertEqual(self.league_call("ftp://x", "x").returncode, 2)
        self.assertEqual(self.league_call("http://127.0.0.1:1").returncode, 2)
        self.assertEqual(self.league_call("http://127.0.0.1:1", "x", "not-an-argument").returncode, 2)


if __name__ == "__main__":
    unittest.main()
