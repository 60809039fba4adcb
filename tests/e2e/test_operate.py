"""What an operator does to a running league, with the real programs: it is carried out, journalled, shown and verified."""

import json
import signal
import sqlite3
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from contextlib import closing
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits, rpc, snapshot_of, wait_until

SLOW = limits(league={"announcement_grace_ms": 250})


def league(*arguments):
    return subprocess.run([str(BIN / "league"), *map(str, arguments)], capture_output=True, text=True, timeout=60)


class OperateTest(LeagueTest):
    log_level = "info"

    def setUp(self):
        super().setUp()
        self.key = self.directory / "data" / "operator.key"

    def admin(self, manager, act, *arguments, code=0):
        done = league("admin", act, manager.url, *arguments, "--operator-key", self.key, "--by", "Ann")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def verified(self):
        """What both verifiers say of the league; they must not accuse anybody."""
        program = league("audit", "verify", self.directory, "--json")
        self.assertEqual(program.returncode, 0, program.stdout)
        script = subprocess.run([sys.executable, SOURCE / "scripts" / "verify_log.py", self.directory, "--json"],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(script.returncode, 0, script.stdout)
        return [sorted((one["rule"], one["text"]) for one in json.loads(text)["incidents"]) for text in (program.stdout, script.stdout)]

    def test_a_seat_that_is_freed_before_the_start_plays_nothing(self):
        manager = self.start_manager(5, 1)
        for name in ("Žluť", "gone", "third", "fourth"):
            self.start_players(manager, 1, name=name)
        self.assertIn("'Žluť'", manager.program.stderr())
        seat, = (row["player_id"] for row in self.standings(manager) if row["display_name"] == "gone")
        self.admin(manager, "remove", seat, "--reason", "asked for it")
        self.start_referee(manager)
        done = league("start", manager.url, "--operator-key", self.key)
        self.assertEqual(done.returncode, 0, done.stderr)
        status = self.wait_until_over(manager)
        self.assertEqual((status["total_matches"], status["technical_losses"]), (3, 0))
        table = self.standings(manager)
        self.assertEqual({row["display_name"] for row in table}, {"Žluť", "third", "fourth"})
        self.assertNotIn(seat, {row["player_id"] for row in table})
        self.stop_programs()
        self.verified()

    def metrics(self, manager):
        with urllib.request.urlopen(manager.url.removesuffix("/mcp") + "/metrics", timeout=5) as answer:
            return dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))

    def test_a_disputed_match_is_void_and_played_again(self):
        manager = self.start_manager(6, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:200", name="thinker")
        self.start_players(manager, 5)
        self.start_referee(manager, limits=SLOW)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        self.admin(manager, "pause", "--wait", "30", "--reason", "somebody disputes R1M2")
        self.assertTrue(self.status(manager)["paused"])
        self.assertEqual(self.status(manager)["matches_in_play"], 0)
        before = self.status(manager)
        self.assertIn("no result yet", self.admin(manager, "void", "R5M1", "--reason", "no", code=1))
        self.admin(manager, "void", "R1M2", "--replay", "--reason", "REF01 was restarted")
        self.admin(manager, "void", "R1M2", "--reason", "again", code=1)
        self.admin(manager, "void", "R1M3", "--reason", "<b>both cheated</b>")
        self.admin(manager, "announce", "We go on at once")
        self.admin(manager, "extend", "60")

        # Nothing of this is lost with the manager.
        manager.program.kill()
        manager = self.continued(manager)
        status = self.status(manager)
        self.assertTrue(status["paused"])
        self.assertEqual(status["voided"], {"R1M2": "R6M1", "R1M3": None})
        self.assertEqual(status["matches_completed"], before["matches_completed"] - 2)
        self.assertEqual(status["current_round"], before["current_round"], "a paused league begins nothing")
        self.admin(manager, "resume")
        status = self.wait_until_over(manager)
        self.assertEqual((status["total_rounds"], status["matches_completed"], status["total_matches"]), (6, 14, 14))
        self.assertIn("is completed", self.admin(manager, "pause", code=1))
        told = manager.program.whole_stderr()
        # What the agents answer to the end of the league is still being written.
        wait_until(lambda: self.metrics(manager)["league_journal_waiting"] == "0", 5, "everything is in the journal")
        metrics = self.metrics(manager)
        self.assertEqual((metrics["league_matches_voided_total"], metrics["league_paused"]), ("2", "0"))
        self.assertGreater(float(metrics["league_journal_commit_seconds"]), 0)
        self.stop_programs()

        program, script = self.verified()
        for incidents in (program, script):
            voided = [text for rule, text in incidents if rule == "match.voided"]
            self.assertEqual(len(voided), 2, incidents)
            self.assertTrue(any("R1M2 is void, by Ann (REF01 was restarted); played again as R6M1" in text for text in voided), voided)
        self.assertIn("the league continues (by Ann)", told)
        for match in ("R1M2", "R6M1"):
            self.assertIn("R1M2 is void, by Ann (REF01 was restarted); played again as R6M1",
                          league("audit", "explain", self.directory, match).stdout)
        exported = self.directory / "export"
        done = league("export", self.directory, "--out", exported, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (exported / "matches.csv").read_text().splitlines()
        self.assertEqual(sum(",VOID," in row for row in rows), 2)
        self.assertEqual([row.split(",")[1] for row in rows if row.endswith(",R1M2,1")], ["R6M1"])
        self.assert_site_tells()

    def assert_site_tells(self):
        site = self.directory / "site"
        done = league("export", self.directory, "--site", site)
        self.assertEqual(done.returncode, 0, done.stderr)
        snapshot = snapshot_of(site)
        acts = [act[1:] for act in snapshot["view"]["acts"]]
        self.assertIn(["VOID_MATCH", "R1M2", "R6M1", None, "REF01 was restarted", "Ann"], acts)
        self.assertIn(["VOID_MATCH", "R1M3", "", None, "<b>both cheated</b>", "Ann"], acts)
        self.assertEqual(len(snapshot["view"]["matches"]), len(snapshot["match"]))
        for match, decided in {"R1M2": "void", "R1M3": "void", "R6M1": "referee"}.items():
            self.assertEqual(snapshot["match"][match]["match"][14], decided)
            self.assertTrue(snapshot["match"][match]["transcript"], match)

    def test_a_manager_that_is_killed_in_the_middle_of_a_replay(self):
        manager = self.start_manager(4, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:700", name="thinker")
        self.start_players(manager, 3)
        self.start_referee(manager, limits=SLOW)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        self.admin(manager, "void", "R1M1", "--replay", "--reason", "a test")
        wait_until(lambda: (self.status(manager)["current_round"], self.status(manager)["matches_in_play"]) == (4, 1), 60, "the replay")
        manager.program.kill()
        manager = self.continued(manager)
        status = self.wait_until_over(manager)
        self.assertEqual((status["total_rounds"], status["matches_completed"], status["technical_losses"]), (4, 6, 0))
        self.assertEqual(sum(event["match"] == "R4M1" for event in self.journalled("MATCH_ASSIGNED")), 2)
        self.stop_programs()
        for incidents in self.verified():
            self.assertIn("R1M1 is void, by Ann (a test); played again as R4M1", str(incidents))

    def test_the_operator_ends_a_league(self):
        manager = self.start_manager(6, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:200", name="thinker")
        self.start_players(manager, 5)
        self.start_referee(manager, limits=SLOW)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "round 2")
        self.admin(manager, "end", "--reason", "the lesson is over")
        status = self.wait_until_over(manager)
        self.assertTrue(status["ended_early"])
        self.assertLess(status["matches_completed"], 15)
        self.stop_programs()
        self.verified()

    def readiness(self, manager):
        try:
            with urllib.request.urlopen(manager.url.removesuffix("/mcp") + "/readyz", timeout=5) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return f"{error.code}: {error.read().decode()}"

    def slow_league(self, *options):
        manager = self.start_manager(6, 1, *options, limits=SLOW)
        self.start_players(manager, 6, "slow:700")
        self.start_referee(manager, "--max-matches", 2, limits=SLOW)
        wait_until(lambda: self.status(manager)["matches_in_play"] == 2, 30, "two matches are played")
        return manager

    def continued(self, manager):
        program = self.start("league_manager", "--data", self.directory / "data", port=urlsplit(manager.url).port, limits=SLOW)
        (url, league_id), = program.ready()
        return Agent(program, url, league_id)

    def journalled(self, kind):
        with closing(sqlite3.connect(f"file:{self.directory}/data/journal/journal.sqlite?mode=ro", uri=True)) as journal:
            return [json.loads(text) for text, in journal.execute("SELECT payload FROM entries WHERE type = ?", (kind,))]

    def test_a_manager_that_ends_lets_matches_end(self):
        manager = self.slow_league("--drain", 30)
        self.assertEqual(self.readiness(manager), "ready\n")
        manager.program.process.terminate()
        wait_until(lambda: self.readiness(manager) == "503: no match may start: the manager is about to end\n", 5, "not ready")
        self.assertTrue(self.status(manager)["paused"])
        self.assertEqual(manager.program.process.wait(20), 0)
        self.assertEqual((len(self.journalled("MATCH_REPORTED")), len(self.journalled("MATCH_ASSIGNED"))), (2, 2),
                         "what was played has ended, and the third match of the round has not begun")
        manager = self.continued(manager)
        wait_until(lambda: self.status(manager)["current_round"] >= 2, 30, "the league goes on by itself")
        self.assertEqual(self.journalled("MATCH_RELEASED"), [], "nobody has played for nothing")
        self.assertEqual([(act["act"], act["by"]) for act in self.journalled("OPERATOR_ACTED")],
                         [("PAUSE", "league_manager"), ("RESUME", "league_manager")])
        self.admin(manager, "end")
        self.wait_until_ended(manager)
        self.stop_programs()
        self.verified()

    def test_a_second_signal_ends_a_manager_at_once(self):
        manager = self.slow_league("--drain", 600)
        manager.program.process.terminate()
        wait_until(lambda: self.readiness(manager).startswith("503"), 5, "not ready")
        manager.program.process.terminate()
        self.assertEqual(manager.program.process.wait(10), 0)
        self.assertIn("unfinished matches: 2", manager.program.whole_stderr())
        manager = self.continued(manager)
        self.assertNotIn("paused", self.status(manager))
        self.admin(manager, "end")
        self.wait_until_ended(manager)

    def test_referees_that_end_one_after_the_other_cost_no_match(self):
        manager = self.start_manager(6, 2, limits=SLOW)
        self.start_players(manager, 6, "slow:400")
        referees = [self.draining_referee(manager, name) for name in ("one", "two")]
        for name in ("one", "two", "one"):
            one = next(one for one in referees if one.name == name)
            wait_until(lambda: self.has_open_match(one.id), 30, f"{name} plays")
            one.program.process.terminate()
            wait_until(lambda: self.state_of(manager, one.id) == ("SUSPENDED", "DRAINING"), 5, "the manager knows")
            self.assertEqual(one.program.process.wait(20), 0)
            self.assertFalse(self.has_open_match(one.id), "what it had is reported")
            self.assertEqual(self.state_of(manager, one.id), ("SUSPENDED", "DRAINING"))
            referees.remove(one)
            referees.append(self.draining_referee(manager, name))
            self.assertEqual((referees[-1].id, self.state_of(manager, one.id)[0]), (one.id, "ACTIVE"))
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)
        self.assertEqual((len(self.journalled("MATCH_ASSIGNED")), len(self.journalled("MATCH_REPORTED"))), (15, 15),
                         "each match is played once")
        for kind in ("MATCH_RELEASED", "MATCH_FORFEITED", "FAILURE_COUNTED"):
            self.assertEqual(self.journalled(kind), [])
        self.stop_programs()
        self.verified()

    def test_the_only_referee_ends_and_comes_back(self):
        manager = self.start_manager(4, 1, limits=SLOW)
        self.start_players(manager, 4, "slow:150")
        referee = self.draining_referee(manager, "one", "--max-matches", 1)
        wait_until(lambda: self.has_open_match(referee.id), 30, "a match is played")
        self.assertEqual(referee.program.stop(), 0)
        self.assertEqual(self.status(manager)["matches_in_play"], 0)
        self.draining_referee(manager, "one")
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)
        self.assertEqual((len(self.journalled("MATCH_ASSIGNED")), self.journalled("MATCH_RELEASED")), (6, []))

    def test_a_second_signal_ends_a_referee_at_once(self):
        manager = self.start_manager(2, 1, limits=SLOW)
        self.start_players(manager, 2, "slow:2000")
        referee = self.draining_referee(manager, "one")
        wait_until(lambda: not rpc(referee.url, "get_match_state", {"match_id": "R1M1"}).error_code(), 30, "a match is played")
        referee.program.process.terminate()
        wait_until(lambda: self.state_of(manager, referee.id)[1] == "DRAINING", 5, "the manager knows")
        referee.program.process.terminate()
        self.assertEqual(referee.program.process.wait(10), 0)
        self.assertIn("unfinished matches: 1", referee.program.whole_stderr())
        self.draining_referee(manager, "one")
        status = self.wait_until_over(manager)
        self.assertEqual(status["technical_losses"], 0, "its match begins anew")

    def test_a_referee_may_leave_before_the_league_starts(self):
        manager = self.start_manager(2, 1)
        referee = self.draining_referee(manager, "one")
        self.assertEqual(referee.program.stop(seconds=10), 0)
        self.draining_referee(manager, "one")
        self.start_players(manager, 2)
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)

    def test_a_referee_without_a_manager_does_not_wait_for_it(self):
        manager = self.start_manager(2, 1)
        referee = self.draining_referee(manager, "one")
        manager.program.kill()
        self.assertEqual(referee.program.stop(seconds=10), 0)

    def test_a_referee_that_does_not_know_what_it_leaves_unfinished_says_so(self):
        manager = self.start_manager(2, 1)
        referee = self.draining_referee(manager, "one")
        manager.program.process.send_signal(signal.SIGSTOP)
        try:
            referee.program.process.terminate()
            wait_until(lambda: "drain_referee" in self.log_of(referee.id), 10, "it has asked")
            referee.program.process.terminate()
            self.assertEqual(referee.program.process.wait(10), 0)
        finally:
            manager.program.process.send_signal(signal.SIGCONT)
        self.assertIn("has not said whether more matches are assigned", referee.program.whole_stderr())

    def log_of(self, agent):
        return "".join(path.read_text(errors="replace") for path in (self.logs / "agents").glob(f"{agent}*.jsonl"))

    def test_nobody_sends_another_referee_away(self):
        manager = self.start_manager(2, 1)
        self.start_players(manager, 2, "slow:200", "--data", self.directory / "bots")
        referee = self.draining_referee(manager, "one")
        token = next(json.loads(file.read_text())["auth_token"] for file in (self.directory / "bots").rglob("player_*1.json"))
        for sender, shown in ((f"referee:{referee.id}", token), (f"referee:{referee.id}", ""), ("player:P01", token), (5, [])):
            answer = rpc(manager.url, "drain_referee", {"sender": sender, "auth_token": shown})
            self.assertIn(answer.error_code(), ("E011", "E012"), f"{sender}: {answer}")
        self.assertEqual(self.state_of(manager, referee.id)[1], "")
        self.assertEqual(self.wait_until_over(manager)["technical_losses"], 0)

    def draining_referee(self, manager, name, *options):
        one = self.start_referee(manager, "--drain", 60, "--data", self.directory / "staff", *options, name=name, limits=SLOW)
        one.name = name
        return one

    def has_open_match(self, referee):
        open_matches = set()
        with closing(sqlite3.connect(f"file:{self.directory}/data/journal/journal.sqlite?mode=ro", uri=True)) as journal:
            for kind, text in journal.execute("SELECT type, payload FROM entries ORDER BY sequence"):
                event = json.loads(text)
                if kind == "MATCH_ASSIGNED" and f"REF{event['referee'] + 1:02}" == referee:
                    open_matches.add(event["match"])
                elif kind in ("MATCH_REPORTED", "MATCH_RELEASED", "MATCH_FORFEITED"):
                    open_matches.discard(event["match"])
        return open_matches

    def state_of(self, manager, agent):
        rows = rpc(manager.url, "get_agents").result()["agents"]
        return next((row["state"], row.get("reason", "")) for row in rows if row["agent_id"] == agent)

    def wait_until_ended(self, manager):
        wait_until(lambda: self.status(manager)["state"] == "COMPLETED", 30, "the league is over")

    def test_a_stranger_can_do_none_of_it(self):
        manager = self.start_manager(2, 1)
        wrong = self.directory / "wrong.key"
        wrong.write_text("f" * 64)
        wrong.chmod(0o600)
        for act in (["pause"], ["resume"], ["extend", "5"], ["announce", "x"], ["void", "R1M1", "--reason", "x"], ["end"],
                    ["remove", "P01", "--reason", "x"], ["restore", "P01"]):
            done = league("admin", act[0], manager.url, *act[1:], "--operator-key", wrong)
            self.assertEqual(done.returncode, 1, act)
            self.assertIn("operator", done.stderr)
        key = self.operator_key()
        pause = {"act": "PAUSE", "by": "x", "reason": "x"}
        for arguments in (pause, {**pause, "operator_key": ""}, {**pause, "operator_key": None}, {**pause, "operator_key": [key]},
                          {**pause, "operator_key": key + "0"}, {**pause, "operator_key": key[:-1]},
                          {**pause, "operator_key": (self.directory / "data" / "referee.key").read_text().strip()}):
            self.assert_refused(manager, arguments)
        self.assertNotIn("paused", self.status(manager))
        self.start_players(manager, 2)
        for arguments in ({"act": "pause"}, {"act": 5}, {}, {"act": "VOID_MATCH", "match_id": "../R1M1", "reason": "x"},
                          {"act": "VOID_MATCH", "match_id": ["R1M1"], "reason": "x"}, {"act": "VOID_MATCH", "match_id": "R1M1", "reason": 5},
                          {"act": "EXTEND_ROUND", "seconds": -1}, {"act": "EXTEND_ROUND", "seconds": 1e99}, {"act": "ANNOUNCE"},
                          {"act": "EXTEND_ROUND", "seconds": 2 ** 63}, {"act": "END_LEAGUE"}):
            self.assert_refused(manager, {"operator_key": key, **arguments})
        self.assertEqual(self.journalled("OPERATOR_ACTED"), [])

    def assert_refused(self, manager, arguments):
        answer = rpc(manager.url, "operate_league", arguments)
        said = answer.json.get("error") or answer.result()
        self.assertTrue("error_code" in said or "code" in said, f"{arguments}: {said}")
        self.assertNotIn(self.operator_key(), json.dumps(answer.json))


if __name__ == "__main__":
    unittest.main()
