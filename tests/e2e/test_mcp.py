"""Clients of MCP look around in a league that is being played: they learn what they may, harm nothing, and the logs stay clean."""

import asyncio
import contextlib
import http.client
import json
import queue
import subprocess
import sys
import threading
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Answer, LeagueTest, wait_until
from spectators import SocketSpectator

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
STANDINGS = "league://standings"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "visitor", "version": "1"},
}
BOTH = "application/json, text/event-stream"


def exchange(url, verb, body=None, headers=None):
    """One HTTP exchange on its own connection: the answer and its headers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=15)
    with contextlib.closing(connection):
        data = None if body is None else json.dumps(body).encode()
        always = {"Content-Type": "application/json", "Accept": BOTH} if data else {}
        connection.request(verb, parts.path, data, {**always, **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, response.read()), response.headers


def request(method, params=None, number=1):
    frame = {"jsonrpc": "2.0", "id": number, "method": method}
    return frame if params is None else {**frame, "params": params}


class Visitor:
    """A client with a session."""

    def __init__(self, url, revision):
        self.url = url
        self.revision = revision
        answer, headers = exchange(url, "POST", request("initialize", {
            "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "visitor", "version": "1"}}))
        assert answer.status == 200, answer
        self.greeting = answer.json["result"]
        self.session = headers["Mcp-Session-Id"]
        self.headers = {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": revision}
        acknowledged, _ = exchange(url, "POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)
        assert acknowledged.status == 202 and not acknowledged.text, acknowledged

    def call(self, method, params=None, **headers):
        return exchange(self.url, "POST", request(method, params), {**self.headers, **headers})[0]

    def listen(self):
        """Opens the stream; what comes by it is put into the queue that this returns, None at its end."""
        news = queue.Queue()
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.request("GET", parts.path, headers={"Accept": "text/event-stream", **self.headers})
        response = connection.getresponse()
        assert response.status == 200 and response.headers["Content-Type"].startswith("text/event-stream"), response.status

        def read():
            with contextlib.suppress(OSError), contextlib.closing(connection):
                for line in response:
                    if line.startswith(b"data: {"):
                        news.put(json.loads(line[6:]))
            news.put(None)

        threading.Thread(target=read, daemon=True).start()
        return news

    def leave(self):
        return exchange(self.url, "DELETE", headers=self.headers)[0]


class Mcp(LeagueTest):
    def setUp(self):
        super().setUp()
        self.sessions = []

    def visitor(self, url, revision=LEGACY[-1]):
        visitor = Visitor(url, revision)
        self.assertEqual(visitor.greeting["protocolVersion"], revision)
        self.sessions.append(visitor.session)
        return visitor

    def modern(self, url, method, params=None, code=200, **headers):
        named = (params or {}).get("name") or (params or {}).get("uri")
        derived = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": named} if named else {}), **headers}
        answer, _ = exchange(url, "POST", request(method, {**(params or {}), "_meta": META}), derived)
        self.assertEqual(answer.status, code, answer)
        return answer

    def test_visitors_of_a_league(self):
        manager = self.start_manager(4, 1)
        watcher = self.visitor(manager.url)
        news = watcher.listen()
        self.assertEqual(watcher.call("resources/subscribe", {"uri": STANDINGS}).status, 200)
        socket = self.watch_by_socket(manager)
        referee = self.start_referee(manager, "--data", self.directory / "data")
        players = self.start_players(manager, 4, "slow:200", "--data", self.directory / "data")
        while not self.status(manager)["champion"]:
            for agent in (manager, referee, players[0], players[3]):
                self.look_around(agent.url)
            self.break_rules(manager.url)
            self.read_the_league(manager)
        status = self.wait_until_over(manager)
        self.assertEqual(status["technical_losses"], 0)
        self.assert_table_agrees(manager)
        self.assert_explained(manager)
        self.assert_news(watcher, news, socket)
        self.wait_until_logged("LEAGUE_COMPLETED", 5)
        self.stop_programs()
        self.assert_clean_logs()

    def watch_by_socket(self, manager):
        """Somebody who listens by WebSocket."""
        where = urlsplit(manager.url)
        spectator = SocketSpectator(where.hostname, where.port)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(spectator.watch(), loop).result(15)

        def end():
            loop.call_soon_threadsafe(spectator.vanish)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

        self.addCleanup(end)
        return spectator

    def look_around(self, url):
        """What every agent shows to everybody, in each revision."""
        for revision in LEGACY:
            visitor = self.visitor(url, revision)
            tools = {tool["name"]: tool for tool in visitor.call("tools/list").result()["tools"]}
            self.assertIn("ping", tools)
            self.assertTrue(all(tool["inputSchema"]["type"] == "object" for tool in tools.values()))
            self.assertEqual(visitor.call("ping").result(), {})
            self.assertFalse(visitor.call("tools/call", {"name": "ping", "arguments": {}}).result().get("isError", False))
            self.assertEqual(visitor.leave().status, 204)
            self.assertEqual(visitor.call("tools/list").status, 404, "the session has ended")
            self.assertEqual(visitor.leave().status, 404)
        discovered = self.modern(url, "server/discover").result()
        self.assertIn(MODERN, discovered["supportedVersions"])
        self.assertEqual({tool["name"] for tool in self.modern(url, "tools/list").result()["tools"]}, set(tools))

    def break_rules(self, url):
        """Each is refused, and nobody suffers."""
        listed = request("tools/list")
        for headers, status in (({"Mcp-Session-Id": "nobody"}, 404), ({"MCP-Protocol-Version": "1999-01-01"}, 400)):
            self.assertEqual(exchange(url, "POST", listed, headers)[0].status, status, headers)
        self.assertEqual(exchange(url, "GET", headers={"Accept": "text/event-stream", "Mcp-Session-Id": "nobody"})[0].status, 404)
        self.assertEqual(exchange(url, "DELETE", headers={"Mcp-Session-Id": "nobody"})[0].status, 404)
        self.modern(url, "tools/list", code=400, **{"Mcp-Method": "tools/call"})
        self.modern(url, "initialize", code=404)
        visitor = self.visitor(url)
        self.assertEqual(visitor.call("tools/call", {"name": "nothing", "arguments": {}}).json["error"]["code"], -32602)
        self.assertEqual(visitor.call("nothing/there").json["error"]["code"], -32601)
        wrong = visitor.call("tools/call", {"name": "get_standings", "arguments": {"limit": "all"}})
        self.assertTrue(wrong.result()["isError"])
        forged = visitor.call("tools/call", {"name": "report_match_result", "arguments": {"winner": "P01"}})
        self.assertTrue(forged.result()["isError"])
        self.assertEqual(visitor.leave().status, 204)

    def read_the_league(self, manager):
        visitor = self.visitor(manager.url)
        table = visitor.call("tools/call", {"name": "get_standings", "arguments": {"limit": 2}}).result()["structuredContent"]
        self.assertLessEqual(len(table["standings"]), 2)
        uris = {resource["uri"] for resource in visitor.call("resources/list").result()["resources"]}
        self.assertEqual(uris, {STANDINGS, "league://schedule", "league://news"})
        templates = visitor.call("resources/templates/list").result()["resourceTemplates"]
        self.assertEqual({template["uriTemplate"] for template in templates}, {"league://round/{round}", "league://match/{match_id}"})
        table = self.content(visitor.call("resources/read", {"uri": STANDINGS}))
        self.assertEqual(table["league_id"], manager.id)
        schedule = self.content(self.modern(manager.url, "resources/read", {"uri": "league://schedule"}))
        for row in schedule["matches"][:1]:
            match = self.content(visitor.call("resources/read", {"uri": "league://match/" + row["match_id"]}))
            self.assertEqual(match["player_A_id"], row["player_A_id"])
        self.assertEqual(visitor.call("resources/read", {"uri": "league://match/R99M99"}).json["error"]["code"], -32002)
        self.assertEqual(visitor.leave().status, 204)

    def assert_explained(self, manager):
        """The manager's prompt says how a match ended, and its arguments can be completed; nobody is offered a bus."""
        visitor = self.visitor(manager.url)
        prompts = {prompt["name"]: prompt for prompt in visitor.call("prompts/list").result()["prompts"]}
        self.assertEqual(set(prompts), {"play_a_match", "why_did_i_lose"})
        how, = visitor.call("prompts/get", {"name": "play_a_match", "arguments": {"display_name": "x"}}).result()["messages"]
        self.assertIn("join_league", how["content"]["text"])
        prompt = prompts["why_did_i_lose"]
        reference = {"type": "ref/prompt", "name": prompt["name"]}
        matches = visitor.call("completion/complete", {"ref": reference, "argument": {"name": "match_id", "value": "R1"}}).result()
        self.assertEqual(matches["completion"], {"values": ["R1M1", "R1M2"], "hasMore": False})
        players = visitor.call("completion/complete", {"ref": reference, "argument": {"name": "player_id", "value": ""},
                                                       "context": {"arguments": {"match_id": "R1M1"}}}).result()["completion"]["values"]
        self.assertEqual(len(players), 2)
        for arguments in ({"match_id": "R1M1"}, {"match_id": "R1M1", "player_id": players[0]}):
            message, = visitor.call("prompts/get", {"name": prompt["name"], "arguments": arguments}).result()["messages"]
            self.assertIn("drawn number: ", message["content"]["text"])
            self.assertIn(players[1] + " chose ", message["content"]["text"])
            self.assertNotIn("tok_", message["content"]["text"])
        for wrong in ({"match_id": "R99M99"}, {"match_id": 7}, {"match_id": "R1M1", "player_id": "P99"}, {}):
            answer = visitor.call("prompts/get", {"name": prompt["name"], "arguments": wrong})
            self.assertEqual(answer.json["error"]["code"], -32602, wrong)
        names = {tool["name"] for tool in visitor.call("tools/list").result()["tools"]}
        self.assertNotIn("events_subscribe", names)
        self.assertEqual(visitor.leave().status, 204)

    def content(self, answer):
        item, = answer.result()["contents"]
        return json.loads(item["text"])

    def assert_news(self, watcher, news, socket):
        """Each report of a match changed the table; news of the stream and of the socket are the same."""
        self.assertFalse(socket.lost)
        wait_until(lambda: len(socket.arrivals) >= 6, 5, "the socket has heard of six matches")
        self.assertEqual(watcher.leave().status, 204)
        heard = list(iter(lambda: news.get(timeout=5), None))
        self.assertEqual({message["params"]["uri"] for message in heard}, {STANDINGS})
        self.assertEqual({message["method"] for message in heard}, {"notifications/resources/updated"})
        self.assertGreaterEqual(len(heard), 6)

    def assert_clean_logs(self):
        for verifier in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
            verified = subprocess.run([*verifier, self.directory], capture_output=True, text=True, timeout=60)
            self.assertEqual(verified.returncode, 0, verified.stdout[-3000:] + verified.stderr)
        written = b"".join(path.read_bytes() for path in self.directory.rglob("*") if path.is_file())
        shown = [session for session in self.sessions if session.encode() in written]
        self.assertEqual(shown, [], "sessions in full")
        self.assertIn(b'"resources/read"', written, "what visitors did is in the logs")


if __name__ == "__main__":
    unittest.main()
