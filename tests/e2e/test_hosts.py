"""Chat programs play with nothing but the manager's tools: whole leagues, late and double choices, silence, lost sessions, other
people's words, a manager that is killed."""

import contextlib
import csv
import http.client
import json
import subprocess
import tarfile
import threading
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, LeagueTest, limits, rpc, wait_until

REVISION = "2025-06-18"
TIME = {"invitation_ms": 4000, "choice_ms": 4000}
LIMITS = limits(seat_limits=TIME)


def exchange(url, frame, headers):
    """The answer to a request, whatever form it has, what came before it, and the answer's headers."""
    parts = urlsplit(url)
    always = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)) as connection:
        connection.request("POST", parts.path, json.dumps(frame), {**always, **headers})
        response = connection.getresponse()
        if response.headers["Content-Type"].startswith("application/json"):
            return json.loads(response.read()), [], response.headers
        messages = [json.loads(line[6:]) for line in response.read().splitlines() if line.startswith(b"data: {")]
        return messages[-1], messages[:-1], response.headers


class Host:
    """A client of MCP that knows nothing but what the server's list of tools says."""

    def __init__(self, url):
        self.url, self.number, self.word = url, 0, None
        self.headers = {}
        self.greeting = self.ask("initialize", {"protocolVersion": REVISION, "capabilities": {},
                                                "clientInfo": {"name": "chat", "version": "1"}})["result"]
        self.tools = {tool["name"]: tool for tool in self.ask("tools/list")["result"]["tools"]}

    def ask(self, method, params=None):
        self.number += 1
        frame = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}
        answer, self.heard, headers = exchange(self.url, frame, self.headers)
        if method == "initialize":
            self.headers = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": REVISION}
        return answer

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def use(self, name, **arguments):
        """The structured answer of a call that succeeds."""
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"], result
        return result["structuredContent"]

    def refused(self, name, **arguments):
        """The code and the text of a call that is refused."""
        result = self.call(name, **arguments)
        assert result.get("isError"), result
        text = result["content"][0]["text"]
        try:
            said = json.loads(text)
        except ValueError:
            return "", text
        return said["error_code"], said["error_description"]

    def join(self, name, **more):
        told = self.use("join_league", display_name=name, **more)
        self.word = told["player"]
        return told

    def until(self, *states, **arguments):
        """What await_turn says when the state is one of these."""
        while True:
            told = self.use("await_turn", **arguments)
            if told["state"] in states:
                return told

    def play_to_the_end(self, choose=lambda told: told["choices"][0]):
        while True:
            told = self.until("choose", "over")
            if told["state"] == "over":
                return told
            self.use("play", choice=choose(told))


class Hosts(LeagueTest):
    def in_background(self, work):
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def fairness_of_matches(self):
        tables = self.directory / "tables"
        done = subprocess.run([str(BIN / "league"), "export", str(self.directory), "--format", "csv", "--out", str(tables)],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(tables / "matches.csv", newline="") as file:
            return {row["match_id"]: row["fairness"] for row in csv.DictReader(file)}

    def agents(self, manager):
        return {row["agent_id"]: row for row in rpc(manager.url, "get_agents").result()["agents"]}

    def test_a_league_with_two_hosts(self):
        manager = self.start_manager(4, 1, limits=LIMITS)
        self.start_referee(manager, limits=LIMITS)
        alice, bob = Host(manager.url), Host(manager.url)
        self.assertEqual(set(alice.tools), {"await_turn", "get_league_status", "get_standings", "join_league", "my_results", "ping", "play"})
        self.assertLess(len(json.dumps(list(alice.tools.values()))), 11_000)
        self.assertIn("join_league", alice.greeting["instructions"])
        first = alice.join("Alice of chat")
        self.assertEqual((first["player_id"], first["state"]), ("P01", "waiting"))
        self.assertEqual(alice.join("Alice of chat"), first, "the same again")
        self.assertEqual(alice.refused("join_league", display_name="Another")[0], "E020")
        self.assertEqual(bob.refused("join_league", display_name="alice of CHAT")[0], "E020")
        bob.join("Bob")
        ends = {}
        threads = [self.in_background(lambda: ends.update(alice=alice.play_to_the_end())),
                   self.in_background(lambda: ends.update(bob=bob.play_to_the_end(lambda told: told["choices"][1])))]
        self.start_players(manager, 2)
        status = self.wait_until_over(manager, 60)
        for thread in threads:
            thread.join(30)
        self.assertEqual(status["technical_losses"], 0)
        self.assertEqual({end["state"] for end in ends.values()}, {"over"})
        mine = alice.use("my_results")
        self.assertEqual((mine["played"], len(mine["results"])), (3, 3))
        self.assertEqual({row["your_choice"] for row in mine["results"]}, {"even"})
        self.assertIn("Rank ", mine["text"])
        self.assertEqual(self.agents(manager)["P01"]["connection"], "host")
        self.assert_table_agrees(manager)
        self.stop_programs()
        self.assert_verified()
        log = Log(self.logs)
        for match, (report, *_) in log.accepted_reports().items():
            self.assertEqual(report["result"]["details"]["draw_version"], 2, match)
        fairness = self.fairness_of_matches()
        self.assertEqual(sorted(fairness.values()), ["both"] + ["hosted"] * 5, fairness)
        hosted = next(match for match, word in fairness.items() if word == "hosted")
        done = subprocess.run([str(BIN / "league"), "audit", "explain", str(self.directory), hosted], capture_output=True, text=True, timeout=60)
        self.assertIn("fairness: hosted", done.stdout)
        # A bundle keeps what the verifiers need of it.
        archive = self.directory / "bundle.tgz"
        done = subprocess.run([str(BIN / "league"), "audit", "bundle", str(self.directory), str(archive)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with tarfile.open(archive) as bundle:
            name = next(one for one in bundle.getnames() if one.endswith("results.json"))
            content = json.loads(bundle.extractfile(name).read())
        self.assertEqual(content["hosted"], ["P01", "P02"])
        self.assertEqual({row["match_id"]: row["fairness"] for row in content["results"]}, fairness)
        # The words are the players' tokens: nowhere in the logs.
        text = "".join(path.read_text(errors="replace") for path in self.logs.rglob("*.jsonl"))
        for host in (alice, bob):
            self.assertNotIn(host.word, text)

    def test_who_left_before_the_start_is_not_the_bot_that_has_the_seat_now(self):
        manager = self.start_manager(2, 1, limits=LIMITS)
        for way in ("withdrawn", "removed"):
            host = Host(manager.url)
            self.assertEqual(host.join("Alice")["player_id"], "P01")
            if way == "withdrawn":
                rpc(manager.url, "withdraw", {"auth_token": host.word, "sender": "player:P01"}).result()
                continue
            done = subprocess.run([str(BIN / "league"), "admin", "remove", manager.url, "P01", "--operator-key",
                                   str(self.directory / "data" / "operator.key")], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.start_referee(manager, limits=LIMITS)
        self.assertEqual({player.id for player in self.start_players(manager, 2)}, {"P01", "P02"})
        self.wait_until_over(manager)
        self.stop_programs()
        self.assertEqual(set(self.fairness_of_matches().values()), {"both"})
        self.assert_verified()
        archive, bundle = self.directory / "bundle.tgz", self.directory / "bundle"
        subprocess.run([str(BIN / "league"), "audit", "bundle", str(self.directory), str(archive)], capture_output=True, timeout=60, check=True)
        with tarfile.open(archive) as packed:
            packed.extractall(bundle, filter="data")
        self.assert_verified(directory=bundle, arguments=("--without", "keys,journal,operations,others"))

    def test_late_twice_and_wrong(self):
        manager = self.start_manager(2, 1, limits=LIMITS)
        self.start_referee(manager, limits=LIMITS)
        host = Host(manager.url)
        self.assertEqual(host.refused("play", choice="even")[0], "E005")
        self.assertEqual(host.refused("await_turn", player="tok_p01_guess")[0], "E012")
        self.assertEqual(host.refused("join_league")[0], "E003")
        self.assertTrue(host.call("play")["isError"])
        host.join("host")
        self.assertEqual(host.refused("play", choice="even")[0], "E031")
        self.start_players(manager, 1)
        told = host.until("choose")
        self.assertEqual((told["choices"], told["opponent"]["player_id"]), (["even", "odd"], "P02"))
        self.assertLessEqual(told["remaining_s"], 4)
        code, text = host.refused("play", choice="seven")
        self.assertEqual(code, "E004")
        self.assertIn("even", text)
        self.assertEqual(host.use("play", choice=" ODD ")["choice"], "odd")
        code, text = host.refused("play", choice="even")
        self.assertIn(code, ("E007", "E031"))  # the match may be over by now
        end = host.until("over")
        self.assertEqual(end["results"][0]["your_choice"], "odd")
        self.assertEqual(host.refused("play", choice="even")[0], "E031")
        self.wait_until_over(manager)
        self.stop_programs()
        self.assert_verified()

    def test_whoever_is_silent_loses_and_comes_back(self):
        manager = self.start_manager(4, 1, limits=LIMITS)
        self.start_referee(manager, limits=LIMITS)
        host = Host(manager.url)
        host.join("sleeper")
        self.start_players(manager, 3, "slow:600")  # so that a round is not over before the host is back
        self.assertEqual(host.until("choose")["match_id"][:2], "R1")
        wait_until(lambda: self.agents(manager)["P01"]["state"] == "SUSPENDED", 15, "the host is suspended")
        code, text = host.refused("play", choice="even")
        self.assertEqual(code, "E031")
        self.assertIn("too late", text)
        self.assertEqual(host.use("my_results")["state"], "SUSPENDED")
        end = host.play_to_the_end()
        self.assertEqual(self.agents(manager)["P01"]["state"], "ACTIVE")
        lost = [row for row in host.use("my_results")["results"] if "lost_by" in row]
        self.assertGreaterEqual(len(lost), 1)
        self.assertLessEqual(len(lost), 2)
        self.assertEqual(end["state"], "over")
        self.wait_until_over(manager)
        self.stop_programs()
        self.assert_verified()

    def test_a_lost_session_and_other_peoples_words(self):
        manager = self.start_manager(2, 1, limits=LIMITS)
        self.start_referee(manager, limits=LIMITS)
        lost = Host(manager.url)
        lost.join("forgetful")
        found = Host(manager.url)
        self.assertEqual(found.refused("await_turn")[0], "E005")
        self.assertEqual(found.refused("join_league", player=lost.word[:-1] + "x")[0], "E012")
        back = found.use("join_league", player=lost.word)
        self.assertEqual((back["player_id"], back["player"]), ("P01", lost.word))
        self.assertEqual(lost.refused("await_turn")[0], "E005", "the newer session plays")
        # Without any session, by the word alone; and a revision that has none.
        plain = rpc(manager.url, "tools/call", {"name": "my_results", "arguments": {"player": lost.word}}).result()
        self.assertEqual(plain["structuredContent"]["player_id"], "P01")
        other = Host(manager.url)
        other.join("other")
        other_end = self.in_background(other.play_to_the_end)
        end = found.play_to_the_end()
        other_end.join(30)
        self.assertEqual(len(end["results"]), 1)
        self.wait_until_over(manager)
        self.stop_programs()
        self.assert_verified()

    def test_a_manager_that_is_killed_after_the_choice(self):
        """The choice is kept, the session is not: the word brings the player back, and the match is played with that choice."""
        manager = self.start_manager(3, 1, "--registration-window", 60, limits=LIMITS)
        host = Host(manager.url)
        host.join("patient")
        self.start_referee(manager, limits=LIMITS)
        self.start_players(manager, 2, "slow:1500")
        told = host.until("choose")
        host.use("play", choice="odd")
        manager.program.kill()
        again = self.start("league_manager", "--players", 3, "--referees", 1, "--data", self.directory / "data",
                           limits=LIMITS, port=urlsplit(manager.url).port)
        again.ready()
        back = Host(manager.url)
        self.assertEqual(back.use("join_league", player=host.word)["player_id"], "P01")
        end = back.play_to_the_end()
        self.assertEqual(end["state"], "over")
        self.wait_until_over(manager)
        self.stop_programs()
        details = Log(self.logs).accepted_reports()[told["match_id"]][0]["result"]["details"]
        self.assertEqual((details["termination"], details["choices"]["P01"]), ("NORMAL", "odd"))
        self.assert_verified()

    def test_progress_while_nothing_happens(self):
        manager = self.start_manager(2, 1, limits=LIMITS)
        host = Host(manager.url)
        host.join("waiter")
        host.until("waiting", wait_s=0)
        answer = host.ask("tools/call", {"name": "await_turn", "arguments": {"wait_s": 6}, "_meta": {"progressToken": "p"}})
        self.assertEqual(answer["result"]["structuredContent"]["state"], "waiting")
        self.assertEqual({one["method"] for one in host.heard}, {"notifications/progress"})
        self.assertGreaterEqual(len(host.heard), 2)
        self.assertEqual(host.heard[0]["params"]["progressToken"], "p")

    def test_many_strangers_and_a_full_league(self):
        manager = self.start_manager(2, 1, limits=LIMITS)
        hosts = [Host(manager.url) for _ in range(40)]
        answers = [host.call("join_league", display_name=f"stranger {number}") for number, host in enumerate(hosts)]
        self.assertEqual([answer.get("isError", False) for answer in answers].count(False), 2)
        self.assertEqual({json.loads(answer["content"][0]["text"])["error_code"] for answer in answers if answer.get("isError")}, {"E017"})
        self.assertEqual(len([one for one in self.agents(manager) if one.startswith("P")]), 2)

    def test_codes_are_for_hosts_too(self):
        file, names = self.directory / "codes.csv", self.directory / "names.csv"
        names.write_text("name\nAnn\nBob\n")
        done = subprocess.run([str(BIN / "league"), "admin", "codes", "make", "--codes", str(file), "--names", str(names)], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, newline="", encoding="utf-8-sig") as rows:
            code = next(csv.DictReader(rows))["code"]
        manager = self.start_manager(2, 1, "--registration-codes", file, limits=LIMITS)
        host = Host(manager.url)
        self.assertEqual(host.refused("join_league", display_name="x")[0], "E016")
        self.assertEqual(host.refused("join_league", display_name="x", code=code[:-1] + ("a" if code[-1].lower() != "a" else "b"))[0], "E016")
        self.assertTrue(host.call("join_league", display_name="x" * 60, code=code)["isError"])
        host.ask("prompts/get", {"name": "play_a_match", "arguments": {"display_name": "x", "code": code}})
        told = host.join("x", code=code)
        self.assertEqual(told["display_name"], "Ann")
        self.assertEqual(host.join("x", code=code), told)
        self.stop_programs()
        text = "".join(path.read_text(errors="replace") for path in self.logs.rglob("*.jsonl"))
        self.assertNotIn(code, text)


if __name__ == "__main__":
    unittest.main()
