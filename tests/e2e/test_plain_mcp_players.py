"""Plain MCP servers, which know nothing of the league, play in it like everybody else, whatever their transport."""

import json
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, wait_until

BOT = SOURCE / "tests" / "support" / "plain_mcp_bot.py"
# What may be run and called on this machine, for those who allow it.
COMMANDS = f"stdio:{sys.executable} {BOT}"
SCHEMES = {"http": "http://127.0.0.1:{}/mcp", "websocket": "ws://127.0.0.1:{}/mcp", "tcp": "tcp://127.0.0.1:{}"}
# A bot that is started again while it is called is there at the second or third attempt.
PATIENT = limits(retry={"delay_ms": 4000})


class PlainBot:
    """The server in tests/support/plain_mcp_bot.py as a process that listens at `endpoint`."""

    def __init__(self, directory, transport, *arguments, port=0):
        self.command = [sys.executable, str(BOT), "--transport", transport, *map(str, arguments)]
        self.stderr_path = directory / f"plain_{transport}_{len(list(directory.iterdir()))}.stderr"
        self.start(port)
        self.endpoint = SCHEMES[transport].format(self.port)

    def start(self, port):
        with open(self.stderr_path, "ab") as stderr:
            self.process = subprocess.Popen([*self.command, "--port", str(port)], stdout=subprocess.PIPE, stderr=stderr,
                                            text=True)
        self.port = int(self.process.stdout.readline())

    def start_again_when_dead(self):
        wait_until(lambda: self.process.poll() is not None, 20, "it has died")
        self.process.stdout.close()
        self.start(self.port)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stderr(self):
        return self.stderr_path.read_text()


class PlainMcp(LeagueTest):
    def bot(self, transport, *arguments):
        bot = PlainBot(self.directory, transport, *arguments)
        self.addCleanup(bot.stop)
        return bot

    @staticmethod
    def command(*arguments):
        """The endpoint of a bot on standard streams."""
        return " ".join([COMMANDS, *map(str, arguments)])

    def enter(self, manager, name, endpoint, *options):
        """`league enter`; the finished process."""
        return subprocess.run([BIN / "league", "enter", manager.url, "--name", name, "--endpoint", endpoint, *options],
                              capture_output=True, text=True, timeout=30)

    def enter_all(self, manager, endpoints):
        """name -> endpoint; returns name -> player_id."""
        ids = {}
        for name, endpoint in endpoints.items():
            done = self.enter(manager, name, endpoint, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            entry = json.loads(done.stdout)
            said = (entry["display_name"], entry["contact_endpoint"], entry["league_id"])
            self.assertEqual(said, (name, endpoint, manager.id))
            self.assertNotIn("tok_", done.stdout + done.stderr)
            ids[name] = entry["player_id"]
        return ids

    def begin(self, endpoints, *, ours, limits=limits()):
        """A league of our players and those at `endpoints`; its manager and name -> player_id."""
        manager = self.start_manager(ours + len(endpoints), 1, "--endpoints", "local," + COMMANDS, limits=limits)
        self.start_referee(manager, "--endpoints", "any," + COMMANDS, limits=limits)
        self.start_players(manager, ours, "odd", limits=limits)
        return manager, self.enter_all(manager, endpoints)

    def finish(self, manager, seconds=60):
        """The status at the end, the rows of the table by player, and the log, which agrees with itself."""
        status = self.wait_until_over(manager, seconds)
        rows = {row["player_id"]: row for row in self.assert_table_agrees(manager)}
        self.stop_programs()
        verified = subprocess.run([BIN / "league", "audit", "verify", self.directory, "--json"], capture_output=True,
                                  text=True, timeout=60)
        self.assertEqual(json.loads(verified.stdout)["faults"], [])
        self.assertEqual(verified.returncode, 0, verified.stdout)
        return status, rows, Log(self.logs)

    def choices(self, log, player):
        """What the referee's log holds of this player's answers to choose_parity."""
        return [r for r in log.matching(peer="player:" + player, kind="reply", dir="in")
                if r["agent"].startswith("referee:") and r.get("message_type") == "CHOOSE_PARITY_RESPONSE"
                and "verdict" not in r]

    def child_logs(self):
        return "".join(file.read_text() for file in (self.logs / "children").glob("*.stderr.log"))


class TheyPlay(PlainMcp):
    def play(self, endpoints, ways, ours):
        manager, ids = self.begin(endpoints, ours=ours)
        status, rows, log = self.finish(manager)
        rounds = ours + len(endpoints) - 1
        self.assertEqual(status["technical_losses"], 0)
        self.assertEqual(status["total_matches"], rounds * (rounds + 1) // 2)
        for name, (transports, context) in ways.items():
            with self.subTest(player=name):
                self.assertEqual(rows[ids[name]]["played"], rounds)
                answers = self.choices(log, ids[name])
                self.assertEqual(len(answers), rounds)
                self.assertLessEqual({record["transport"] for record in answers}, transports)
                for record in answers:
                    self.assertLessEqual(context, set(record.get("context", {})), record)
                    self.assertIn("missing_message_type", record["leniencies"], "it knows nothing of envelopes")
        for report, in log.accepted_reports().values():
            self.assertEqual(report["result"]["details"].get("failures", []), [], report)
            self.assertEqual(report["result"]["details"]["termination"], "NORMAL", report)
        return ids, log

    def test_on_standard_streams_and_http(self):
        http = self.bot("http", "--content", "structured")
        self.play({"child": self.command(), "web": http.endpoint},
                  {"child": ({"subprocess"}, {"process"}), "web": ({"http"}, {"method", "uri"})}, ours=2)
        for said in (http.stderr(), self.child_logs()):
            self.assertIn("initialized by", said)
            self.assertIn("notify_match_result R3M", said, "the news for which it has a tool")
            self.assertNotIn("already initialized", said)
        self.assertRegex(http.stderr(), "refused POST /mcp: HTTP 40[06]", "it is strict, so somebody found out")

    def test_on_events_websocket_and_lines(self):
        bots = {name: self.bot(*how) for name, how in {
            "events": ("http", "--answers", "events"), "socket": ("websocket", "--content", "structured"),
            "lines": ("tcp",)}.items()}
        endpoints = {name: bot.endpoint for name, bot in bots.items()}
        self.play({**endpoints, "child": self.command("--content", "structured")},
                  {"events": ({"sse"}, {"stream"}), "socket": ({"websocket"}, {"connection", "frame"}),
                   "lines": ({"tcp"}, {"connection", "remote"}), "child": ({"subprocess"}, {"process"})}, ours=1)

    def test_news_without_a_tool_are_no_failures(self):
        """They would suspend and in the end shut down whoever has no tool for them."""
        manager, ids = self.begin({"child": self.command()}, ours=3)
        _, rows, log = self.finish(manager)
        self.assertIn("refused tools/call: -32602 Unknown tool: notify_league_completed", self.child_logs())
        self.assertEqual(rows[ids["child"]]["played"], 3)
        unwanted = [r for r in log.matching(peer="player:" + ids["child"], agent="league_manager") if "verdict" in r]
        searches = [r for r in unwanted if r["fault"].startswith("the peer does not know the method; trying")]
        self.assertEqual(unwanted, searches)
        self.assertLessEqual(len(searches), 1, "the other name of LEAGUE_STANDINGS_UPDATE, once")


class TheyAreOdd(PlainMcp):
    def play(self, *arguments, limits=limits()):
        """A league of three of ours and a child; the details of the child's matches and all that it said."""
        manager, ids = self.begin({"child": self.command(*arguments)}, ours=3, limits=limits)
        status, _, log = self.finish(manager)
        results = [report["result"] for report, in log.accepted_reports().values()]
        details = [result["details"] for result in results if ids["child"] in result["score"]]
        others = [result["details"] for result in results if ids["child"] not in result["score"]]
        self.assertEqual([len(details), len(others)], [3, 3])
        for one in others:
            self.assertEqual((one["termination"], one.get("failures", [])), ("NORMAL", []))
        self.assertEqual(status["technical_losses"], sum(one["termination"] != "NORMAL" for one in details))
        return details, self.child_logs()

    def test_one_that_asks_and_tells_while_it_is_called(self):
        details, said = self.play("--chatty")
        self.assertEqual([one["termination"] for one in details], ["NORMAL"] * 3)
        self.assertRegex(said, r'heard {"id": "ping-\d+", "result": {}}')
        self.assertIn('heard {"error": {"code": -32601', said, "what this client does not have")

    def test_one_that_greets_on_stdout(self):
        self.assertEqual([one["termination"] for one in self.play("--banner")[0]], ["NORMAL"] * 3)

    def test_one_whose_tool_fails(self):
        self.assertEqual([one["termination"] for one in self.play("--fails")[0]], ["INVALID_REPLY"] * 3)

    def test_one_that_comes_up_slowly(self):
        """Its first call is over before it is there; the next attempt finds it."""
        slow = limits(time_limits_ms={"GAME_INVITATION": 2000})
        details, said = self.play("--starts-after", 3, limits=slow)
        self.assertEqual([one["termination"] for one in details], ["NORMAL"] * 3)
        failures = [{failure["error_code"] for failure in one.get("failures", [])} for one in details]
        self.assertEqual(failures, [{"E001"}, set(), set()])
        self.assertEqual(said.count("initialized by"), 2, "one child of the manager, one of the referee")


class TheyDie(PlainMcp):
    def test_a_child_that_always_dies_in_a_round_loses_that_match_only(self):
        manager, ids = self.begin({"mortal": self.command("--dies-in-round", 2), "child": self.command()}, ours=2)
        status, rows, log = self.finish(manager)
        self.assertEqual(status["technical_losses"], 1)
        self.assertEqual(rows[ids["mortal"]]["losses"] >= 1, True)
        for match, (report,) in log.accepted_reports().items():
            result = report["result"]
            dies_here = match.startswith("R2M") and ids["mortal"] in result["score"]
            self.assertEqual(result["details"]["termination"], "CONNECTION_CHOICE" if dies_here else "NORMAL", report)
            if dies_here:
                self.assertNotEqual(result["winner"], ids["mortal"])
                self.assertEqual({failure["error_code"] for failure in result["details"]["failures"]}, {"E009"})
        self.assertEqual(len(self.choices(log, ids["mortal"])), 2, "in rounds 1 and 3")
        self.assertIn("dies in R2M", self.child_logs())

    def test_a_child_that_dies_once_is_back_at_the_next_attempt(self):
        endpoint = self.command("--dies-in-round", 2, "--dies-once", self.directory / "dead")
        manager, ids = self.begin({"mortal": endpoint}, ours=3)
        status, _, log = self.finish(manager)
        self.assertTrue((self.directory / "dead").exists())
        self.assertEqual(status["technical_losses"], 0)
        self.assertEqual(len(self.choices(log, ids["mortal"])), 3)

    def test_servers_that_are_started_again_are_initialised_again(self):
        bots = {name: self.bot(name, "--dies-in-round", 2, "--dies-once", self.directory / ("dead_" + name))
                for name in ("http", "websocket")}
        manager, ids = self.begin({name: bot.endpoint for name, bot in bots.items()}, ours=2, limits=PATIENT)
        # All at once: one after another, the last may be back only after its last attempt.
        with ThreadPoolExecutor() as threads:
            list(threads.map(PlainBot.start_again_when_dead, bots.values()))
        status, _, log = self.finish(manager)
        self.assertEqual(status["technical_losses"], 0)
        for name, bot in bots.items():
            self.assertEqual(len(self.choices(log, ids[name])), 3, name)
            before, _, after = bot.stderr().partition("dies in R2M")
            self.assertIn("initialized by", before)
            self.assertIn("initialized by", after)


class TheyAreNotWelcome(PlainMcp):
    def test_strangers_cannot_have_commands_run_or_sockets_called(self):
        manager = self.start_manager(2, 1)
        for name, endpoint in {"a": self.command(), "b": "stdio:cat /etc/hostname", "c": "unix:/run/x.sock"}.items():
            done = self.enter(manager, name, endpoint, "--json")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(done.stdout, "")
            self.assertIn("rejected", done.stderr)
            self.assertIn("--endpoints", done.stderr)
        self.assertEqual(self.status(manager)["players"], 0)
        self.assertFalse((self.logs / "children").exists() and list((self.logs / "children").iterdir()))

    def test_http_with_sse_is_no_way_to_call_a_player(self):
        done = self.enter(self.start_manager(2, 1), "old", "sse+http://127.0.0.1:1/sse", "--json")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the scheme must be http, https, ws, wss or tcp", done.stderr)

    def test_a_policy_names_commands_word_by_word(self):
        manager = self.start_manager(2, 1, "--endpoints", "local," + COMMANDS + " --choice odd")
        self.assertEqual(self.enter(manager, "even", self.command("--choice", "even")).returncode, 1)
        done = self.enter(manager, "odd", self.command("--choice", "odd", "--content", "structured"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^odd is P01 of \S+\n$")

    def test_nobody_there(self):
        gone = self.start_manager(2, 1)
        gone.program.stop()
        self.assertEqual(self.enter(gone, "late", "http://127.0.0.1:1/mcp").returncode, 2)

    def test_the_token_is_kept_where_one_asks_for_it(self):
        manager = self.start_manager(2, 1)
        file = self.directory / "token"
        done = self.enter(manager, "bot", "http://127.0.0.1:1/mcp", "--token-file", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(file.read_text(), r"^tok_\S+\n$")
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertNotIn("tok_", done.stdout + done.stderr)

    def test_a_referee_that_does_not_allow_the_command_refuses_the_match(self):
        """What runs on a referee's machine is for its own operator to say; the match ends without a winner."""
        manager = self.start_manager(3, 1, "--endpoints", "local," + COMMANDS)
        referee = self.start_referee(manager)
        self.start_players(manager, 2)
        ids = self.enter_all(manager, {"child": self.command()})
        _, rows, log = self.finish(manager, 30)
        self.assertEqual(rows[ids["child"]]["points"], 0)
        reports = log.accepted_reports()
        self.assertEqual(len(reports), 1, "that of the match without the child")
        for report, in reports.values():
            self.assertNotIn(ids["child"], report["result"]["score"])
            self.assertEqual(report["result"]["details"]["termination"], "NORMAL")
        refused = [json.loads(r["body"])["result"] for r in log.matching(agent="league_manager", kind="reply", dir="in")
                   if '"refused"' in r["body"]]
        self.assertEqual(len(refused), 6, "two matches, three attempts each")
        for answer in refused:
            reason = answer["reasons"][answer["refused"][0]]
            self.assertEqual(reason["error_code"], "E027")
            self.assertIn(f"endpoint {COMMANDS}: commands are run only where", reason["error_description"])
            self.assertIn("the league's operator names them: --endpoints", reason["error_description"])
        told = referee.program.stderr()
        for match in {match for answer in refused for match in answer["refused"]}:
            self.assertIn(f"match {match} is refused: endpoint stdio:", told)
        said = self.child_logs()
        self.assertIn("initialized by league", said)
        self.assertNotIn("handle_game_invitation", said)

    def test_refusals_are_held_against_no_referee(self):
        """Five matches, three attempts each: as failures they would be more than enough to shut the referee down."""
        manager = self.start_manager(6, 1, "--endpoints", "local," + COMMANDS)
        self.start_referee(manager, "--max-matches", 1)
        self.start_players(manager, 5)
        ids = self.enter_all(manager, {"child": self.command()})
        status, rows, log = self.finish(manager, 20)
        self.assertEqual(status["technical_losses"], 5)
        reports = [report for report, in log.accepted_reports().values()]
        self.assertEqual(len(reports), 10)
        self.assertEqual({report["result"]["details"]["termination"] for report in reports}, {"NORMAL"})
        self.assertEqual(rows[ids["child"]]["points"], 0)


if __name__ == "__main__":
    unittest.main()
