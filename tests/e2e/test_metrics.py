"""/metrics after the last match of a real league in which everything happens that is counted: what it says of matches,
agents and the operator is what the journal holds, and what it says of calls is what the conversation log holds."""

import json
import re
import sqlite3
import subprocess
import time
import unittest
import urllib.error
import urllib.request
from collections import Counter
from contextlib import closing

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, player_registration, post, referee_registration, rpc, wait_until

HURRIED = limits(time_limits_ms={"CHOOSE_PARITY_CALL": 400, "GAME_INVITATION": 400, "GAME_OVER": 400, "ROUND_ANNOUNCEMENT": 400},
                 retry={"max_attempts": 2, "delay_ms": 10},
                 league={"announcement_grace_ms": 100, "referee_ping_interval_ms": 250, "referee_ping_failures": 2})
ROLES = ("player", "referee", "league_manager")
WRONG = ("x" * 4096, "no json", '{"jsonrpc":"2.0","id":1,"method":"' + "m" * 300 + '"}', '{"a":' * 500, "\x00\x01", "[]")


def read(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def samples_of(text):
    """name{labels} -> value."""
    return {key: float(value) for key, value in (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def sample(name, **labels):
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


class Metrics(LeagueTest):
    def setUp(self):
        super().setUp()
        self.manager = self.start_manager(6, 2, limits=HURRIED)
        self.base = self.manager.url.removesuffix("/mcp")

    def admin(self, act, *arguments):
        done = subprocess.run([BIN / "league", "admin", act, self.manager.url, *arguments, "--operator-key",
                               self.directory / "data" / "operator.key", "--by", "Ann"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def play_an_eventful_league(self):
        self.admin("pause")
        for wrong in ({"game_types": ["chess"]}, {"protocol_version": "1.0.0"}, {"display_name": ""}):
            rpc(self.manager.url, "register_player", player_registration("stranger", "http://127.0.0.1:9/mcp", meta=wrong))
        rpc(self.manager.url, "register_referee", referee_registration("stranger", "http://169.254.169.254/mcp"))
        for body in WRONG:
            post(self.manager.url, body.encode())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            read(self.base + "/no/such/page")
        refused.exception.close()
        self.start_players(self.manager, 3, "slow:60", name="good", limits=HURRIED)
        self.start_players(self.manager, 1, "invalid", name="bad", limits=HURRIED)
        self.start_players(self.manager, 1, "silent", name="mute", limits=HURRIED)
        last = self.start_players(self.manager, 1, "slow:60", name="sorry", limits=HURRIED)[0].id
        self.start_referee(self.manager, name="one", limits=HURRIED)
        gone = self.start_referee(self.manager, name="two", limits=HURRIED)
        self.admin("resume")
        wait_until(lambda: self.status(self.manager)["current_round"] >= 2, 30, "round 2")
        self.admin("remove", last, "--reason", "asked for it")
        gone.program.kill()
        self.admin("pause", "--wait", "30")
        self.admin("void", "R1M1", "--replay", "--reason", "disputed")
        self.admin("void", "R1M2", "--reason", "disputed")
        self.admin("announce", "we go on")
        self.admin("extend", "60")
        self.admin("resume")
        wait_until(lambda: self.status(self.manager)["current_round"] >= 4, 60, "round 4")
        self.admin("restore", last)
        self.wait_until_over(self.manager)

    def settled_metrics(self):
        """The page once nothing moves any more: the last news have reached everybody."""
        known = []

        def is_settled():
            text = read(self.base + "/metrics")
            if known[-1:] != [text] or samples_of(text)["league_calls_unanswered"] > 0:
                known.clear()
            known.append(text)
            time.sleep(0.2)
            return len(known) > 5  # a second, in which a call would have been counted even on a busy machine

        wait_until(is_settled, 30, "the metrics have settled")
        return known[-1]

    def test_equal_the_journal_and_the_log_after_the_last_match(self):
        self.play_an_eventful_league()
        text = self.settled_metrics()
        found = samples_of(text)
        self.assertEqual((read(self.base + "/healthz"), read(self.base + "/readyz")), ("ok\n", "ready\n"))
        status = self.status(self.manager)
        agents = rpc(self.manager.url, "get_agents").result()["agents"]
        self.stop_programs()

        expected = self.journal_says()
        counted = Counter((row["kind"], row["state"]) for row in agents)
        for role in ("player", "referee"):
            for state in ("REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"):
                expected[sample("league_agents", role=role, state=state)] = counted[role, state]
        expected.update({"league_round": status["total_rounds"], "league_rounds": status["total_rounds"],
                         "league_matches": status["total_matches"], "league_matches_waiting": 0, "league_matches_in_play": 0,
                         "league_paused": 0, "league_journal_waiting": 0, sample("league_state", state="COMPLETED"): 1,
                         sample("league_state", state="RUNNING"): 0, sample("league_state", state="REGISTERING"): 0})
        expected.update(self.log_says())
        own = ("league_log_", "league_spectators", "league_journal_commit_seconds")  # of the moment, or of the process
        told = {key: value for key, value in found.items()
                if not key.startswith(own) and not re.search(r"_bucket|_seconds_sum", key)}
        self.assertEqual({key: (told.get(key), expected.get(key)) for key in {*told, *expected}
                          if told.get(key) != expected.get(key)}, {}, "what the page says, and journal and log")
        self.assert_export_agrees(found)
        self.assert_dashboard_knows(text)

    def journal_says(self):
        """What the journal determines, of every series."""
        file = self.directory / "data" / "journal" / "journal.sqlite"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
            events = [(kind, json.loads(text)) for kind, text in journal.execute("SELECT type, payload FROM entries ORDER BY sequence")]
        counts = Counter({"league_matches_voided_total": 0, "league_matches_taken_back_total": 0})
        for kind, event in events:
            if kind in ("MATCH_REPORTED", "MATCH_FORFEITED"):
                result = event["result"]
                how = "technical_loss" if "technical_reason" in result else "draw" if result["outcome"] == "DRAW" else "win"
                counts[sample("league_matches_finished_total", result=how)] += 1
            if kind == "MATCH_REPORTED":
                for side in event["evidence"].values():
                    for call, field in (("GAME_INVITATION", "join_us"), ("CHOOSE_PARITY_CALL", "choice_us")):
                        counts[sample("league_answer_seconds_count", call=call)] += field in side
            elif kind == "MATCH_FORFEITED":
                counts[sample("league_matches_forfeited_total", reason=event["result"]["technical_reason"])] += 1
            elif kind == "FAILURE_COUNTED" and "cause" in event:
                counts[sample("league_technical_losses_total", error_code=event["cause"]["error_code"])] += 1
            elif kind == "AGENT_REGISTERED":
                role = "referee" if event["agent"].startswith("REF") else "player"
                counts[sample("league_registrations_total", role=role)] += 1
            elif kind == "MATCH_ASSIGNED":
                counts["league_matches_assigned_total"] += 1
            elif kind == "MATCH_RELEASED":
                counts["league_matches_taken_back_total"] += 1
            elif kind == "OPERATOR_ACTED":
                counts[sample("league_operator_acts_total", act=event["act"])] += 1
                counts["league_matches_voided_total"] += "match" in event
            elif kind == "AGENT_STATE_CHANGED" and "by" in event:
                act = {"SHUT_DOWN_BY_OPERATOR": "SHUT_DOWN", "RESTORED_BY_OPERATOR": "RESTORE"}[event["reason"]]
                counts[sample("league_operator_acts_total", act=act)] += 1
        # The league was as eventful as it was to be.
        for key, least in ((sample("league_technical_losses_total", error_code="E001"), 2),
                           (sample("league_technical_losses_total", error_code="E004"), 2),
                           (sample("league_matches_forfeited_total", reason="PLAYER_SHUT_DOWN"), 1),
                           (sample("league_operator_acts_total", act="PAUSE"), 2),
                           ("league_matches_voided_total", 2)):
            self.assertGreaterEqual(counts[key], least, key)
        return dict(counts)

    def log_says(self):
        """Calls by direction, role and type, and their errors, as the manager's own log holds them."""
        log = Log(self.logs / "league")
        counts, open_calls = Counter(), {}
        for record in log.records:
            is_request = record["kind"] == "request"
            # Who calls the manager has to prove who it is; whom the manager calls it has chosen.
            speaker = "said_by" if is_request and record["dir"] == "in" else "peer"
            role = record.get(speaker, "").split(":")[0]
            kind = {"role": role if role in ROLES else "other", "type": self.known_type(record)}
            if is_request and record["dir"] == "out":
                open_calls[record["call"]] = kind
                continue
            if is_request:
                kind = {"direction": "in", **kind}
            elif record["dir"] == "in" and record.get("call") in open_calls:
                kind = {"direction": "out", **open_calls.pop(record["call"])}
            else:
                continue
            counts[sample("league_call_seconds_count", **kind)] += 1
            if "verdict" in record:
                counts[sample("league_call_errors_total", **kind, error_code=record["verdict"])] += 1
        self.assertEqual(open_calls, {})
        return {**counts, **self.refusals_of(log), "league_calls_unanswered": 0}

    def refusals_of(self, log):
        """Registrations that were answered with a rejection or an error."""
        counts, asked = Counter(), {}
        for record in log.records:
            kind = record.get("message_type", "")
            if record["kind"] == "request" and kind.endswith("_REGISTER_REQUEST"):
                asked[record["call"]] = "referee" if kind.startswith("REFEREE") else "player"
            elif record["kind"] == "reply" and record.get("call") in asked:
                if code := re.search(r'"error_code":\s*"(E\d+)"', record["body"]):
                    counts[sample("league_registrations_refused_total", role=asked[record["call"]], error_code=code[1])] += 1
        self.assertEqual(sum(counts.values()), 4, counts)
        return counts

    @staticmethod
    def known_type(record):
        name = record.get("message_type", "")
        return name if (SOURCE / "schemas" / f"{name.lower()}.schema.json").exists() else "other"

    def assert_export_agrees(self, found):
        done = subprocess.run([BIN / "league", "export", self.directory, "--out", self.directory / "export", "--format", "csv"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (self.directory / "export" / "matches.csv").read_text().splitlines()[1:]
        finished = sum(value for key, value in found.items() if key.startswith("league_matches_finished_total"))
        self.assertEqual((len(rows), sum(",VOID," in row for row in rows)), (finished, found["league_matches_voided_total"]))

    def assert_dashboard_knows(self, text):
        dashboard = json.loads((SOURCE / "packaging" / "grafana" / "league.json").read_text())
        shown = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
        names = {key.split("{")[0] for key in samples_of(text)} | set(re.findall("(?m)^# TYPE ([a-z_]+)", text))
        self.assertEqual(set(re.findall(r"league_\w+", shown)) - names, set())


if __name__ == "__main__":
    unittest.main()
