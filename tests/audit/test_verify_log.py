"""scripts/verify_log.py against leagues that were built by hand: honest ones, liars with their own keys, missing evidence."""

import copy
import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
import zlib
from datetime import timedelta
from pathlib import Path

import support_path
import verify_log
from log_builder import MANAGER, Frame, Header, League, Seal, closed_line, draw, log_time, rechain

NONCE = "ab" * 32
GAMES = Path(__file__).resolve().parents[2] / "games"


def other(choice):
    return "odd" if choice == "even" else "even"


def details(league, match):
    return league.reports(match)[-1].message["result"]["details"]


def tell(league, match, choices=None, number=None, winner="by the rules"):
    """Lets the referee tell another story of a match, in its report as in GAME_OVER, that fits together."""
    plan = league.plans[match]
    told = {**{p: plan.choices[p] for p in plan.players}, **(choices or {})}
    nonces = [plan.nonces[p] if p in plan.commits else "" for p in plan.players]
    number = number or draw(plan.seed, match, [told[p] for p in plan.players], nonces if plan.commits else None)
    right = [p for p in plan.players if told[p] == ("odd" if number % 2 else "even")]
    winner = (right[0] if len(right) == 1 else None) if winner == "by the rules" else winner
    shown = {"drawn_number": number, "number_parity": "odd" if number % 2 else "even", "choices": told}
    for report in league.reports(match):
        report.message["result"]["winner"] = winner
        report.message["result"]["score"] = {p: (1 if winner is None else 3 if p == winner else 0) for p in plan.players}
        report.message["result"]["details"].update(copy.deepcopy(shown))
    for player in plan.players:
        for record in league.find(player, "GAME_OVER", match):
            record.message["game_result"].update(copy.deepcopy(shown), winner_player_id=winner)


def take_out(league, agent, match, *types):
    log = league.log(agent)
    log.items = [item for item in log.items if not (hasattr(item, "fields") and item.fields.get("match_id") == match
                                                    and (not types or item.fields.get("message_type") in types))]
class Games(unittest.TestCase):
    """What docs/games.md forbids is no game, as for the program (game/definition_test.cpp)."""

    PAYOFFS = {"a": {"a": 1, "b": 0}, "b": {"a": 3, "b": 1}}
    GAME = {"game_type": "g", "choices": ["a", "b"], "payoffs": PAYOFFS, "technical": {"winner": 3, "loser": 0, "both": 0}}

    def test_what_is_a_game(self):
        drawn = {"drawn": ["a", "b"] * 50, "payoffs": {"a": self.PAYOFFS, "b": self.PAYOFFS}}
        roles = {name: value for name, value in self.GAME.items() if name != "payoffs"} | {"roles": {"PLAYER_A": self.PAYOFFS, "PLAYER_B": self.PAYOFFS}}
        whole = {"a": {"a": 1.0, "b": -0.0}, "b": {"a": 100, "b": 1e2}}
        for good in (self.GAME, self.GAME | drawn, roles, self.GAME | {"payoffs": whole}, *map(json.loads, map(Path.read_text, GAMES.glob("*.json")))):
            self.assertIsNotNone(verify_log.Game.read(good), good)

    def test_what_is_none(self):
        def payoffs(points):
            return {"payoffs": {"a": {"a": 1, "b": points}, "b": {"a": 3, "b": 1}}}

        changes = [{name: value} for name in ("game_type", "choices", "payoffs", "technical") for value in (None, [], {}, 5, "x y", True)]
        changes += map(payoffs, (-1, 101, 0.5, True, "1", None, 10**400, 1e300))
        changes += [{"choices": choices} for choices in (["a", "a"], ["a"], ["a", "b", "c"], ["a", ["b"]], ["a", "b\n"], ["a" * 33, "b"], "ab")]
        changes += [{"drawn": drawn} for drawn in (None, ["a"], ["a", "c"], ["a", []], ["a", "b"] * 51, "ab", ["a", "b"])]
        changes += [{"more": 1}, {"roles": {"PLAYER_A": self.PAYOFFS, "PLAYER_B": self.PAYOFFS}}, {"payoffs": self.PAYOFFS | {"c": {}}},
                    {"game_type": "G"}, {"game_type": "g" * 41}, {"technical": {"winner": 1, "loser": 1, "both": 0}},
                    {"technical": {"winner": 3, "loser": 0, "both": 0, "more": 0}}]
        for change in changes:
            self.assertIsNone(verify_log.Game.read(self.GAME | change), change)
        for bad in (None, [], "game", 5, *({key: value for key, value in self.GAME.items() if key != gone} for gone in self.GAME)):
            self.assertIsNone(verify_log.Game.read(bad), bad)

    def test_a_huge_one_costs_no_time(self):
        words = [str(n) for n in range(20_000)]
        for choices in (words, ["a"] * 20_000, [["a"] * 9] * 20_000):
            self.assertIsNone(verify_log.Game.read(self.GAME | {"choices": choices, "drawn": choices}))


class LogTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)

    def report(self, league=None, without=(), **options):
        if league is not None:
            league.write(self.directory, **options)
        return verify_log.verify(str(self.directory), without=without)

    def rules(self, report):
        return tuple(sorted({finding["rule"] for finding in report[name]}) for name in ("faults", "missing", "incidents"))

    def assert_found(self, league, faults=(), missing=(), incidents=(), only=True, **options):
        report = self.report(league, **options)
        found = self.rules(report)
        if only:
            self.assertEqual(found, (sorted(faults), sorted(missing), sorted(incidents)), json.dumps(report, indent=1)[-3000:])
        for rules, wanted in zip(found, (faults, missing, incidents)):
            self.assertLessEqual(set(wanted), set(rules))
        self.assertEqual(report["ok"], not found[0] and not found[1])
        return report


class Honest(LogTest):
    def test_leagues_of_every_kind_are_clean(self):
        for players, referees, options in ((2, 1, {}), (3, 1, {}), (4, 2, {}), (5, 2, {"commitments": False}), (3, 1, {"old": True})):
            with self.subTest(players=players, **options):
                self.setUp()
                self.assert_found(League(players, referees, seed=players, **options).play())

    def test_losses_of_every_kind_are_clean(self):
        for call, code in (("GAME_INVITATION", "E001"), ("GAME_INVITATION", "E009"), ("GAME_INVITATION", "E037"),
                           ("CHOOSE_PARITY_CALL", "E001"), ("CHOOSE_PARITY_CALL", "E004"), ("CHOOSE_PARITY_CALL", "E040")):
            for both in (False, True):
                with self.subTest(call=call, code=code, both=both):
                    self.setUp()
                    league = League(3, seed=7)
                    plan = league.plans["R2M1"]
                    plan.lost = {p: (call, code) for p in (plan.players if both else plan.players[:1])}
                    self.assert_found(league.play())

    def test_one_who_commits_is_enough_for_version_2(self):
        league = League(2)
        league.plans["R1M1"].commits = {"P02"}
        league.play()
        self.assertEqual(details(league, "R1M1")["draw_version"], 2)
        self.assert_found(league)

    def test_an_attempt_that_was_given_up_is_an_incident(self):
        for commits in (True, False):
            self.setUp()
            league = League(3, 2, commitments=commits)
            league.plans["R2M1"].abandoned = 1
            report = self.assert_found(league.play(), incidents=["draw.abandoned"])
            self.assertIn("R2M1", report["incidents"][0]["text"])

    def test_a_fresh_choice_after_a_reveal_where_only_one_had_committed(self):
        league = League(2, 2)
        plan = league.plans["R1M1"]
        plan.commits, plan.abandoned = {plan.a}, 1
        league.play()
        for record in league.find(plan.a, "GAME_JOIN_ACK", "R1M1", conversation_id="convr1m1001"):
            record.message["choice_commitment"] = "cd" * 32
        for record in league.find(plan.b, "CHOOSE_PARITY_CALL", "R1M1", conversation_id="convr1m1001", kind="request"):
            record.message["context"]["opponent_commitment"] = "cd" * 32
        self.assert_found(league, incidents=["draw.abandoned"])

    def test_a_bundle_with_an_agents_log_left_out(self):
        league = League(3).play()
        league.write(self.directory, only=[name for name in league.logs if name != "player:P03"])
        (self.directory / "MANIFEST.json").write_text(json.dumps({"left_out": [{"what": "logs/agents/P03.log.jsonl", "why": "its owner has it"}]}))
        self.assert_found(None, missing=["bundle.left_out", "log.absent"])
        self.assert_found(None, without=["P03"])

    def test_a_player_without_a_log_key_needs_no_log(self):
        league = League(3).play()
        for record in league.find(MANAGER, "LEAGUE_REGISTER_REQUEST"):
            if record.message["sender"] == "player:p03":
                del record.message["player_meta"]["log_public_key"]
        league.write(self.directory, only=[name for name in league.logs if name != "player:P03"])
        self.assert_found(None)

    def test_a_player_that_is_killed_loses_what_it_could_not_write(self):
        league = League(3).play()
        log = league.log("P02")
        at = max(i for i, item in enumerate(log.items) if isinstance(item, Seal) and not item.closed)
        del log.items[at + 1:]  # nothing but news and acknowledgements of the last few milliseconds
        self.assert_found(league, incidents=["log.tail_lost"])

    def test_a_player_that_is_killed_within_a_match(self):
        league = League(3).play()
        log = league.log("P02")
        at = [i for i, item in enumerate(log.items) if hasattr(item, "fields") and item.fields.get("message_type") == "GAME_JOIN_ACK"][-1]
        del log.items[at:]
        self.assert_found(league, incidents=["log.tail_lost"])

    def test_a_player_that_is_killed_before_the_first_seal_after_its_restart(self):
        league = League(2).play()
        league.write(self.directory)
        path = self.directory / "logs/agents/P02.log.jsonl"
        path.rename(path.with_name("P02.log.000001.jsonl"))
        whole = path.with_name("P02.log.000001.jsonl").read_bytes()
        seal = json.loads(whole.splitlines()[-1])
        header = {"format": "league.conversation-log", "version": 2, "agent": "player:P02", "league_id": league.league_id, **league.identity(),
                  "created": log_time(league.tick()), "segment": 2, "first_seq": seal["seal"] + 1,
                  "public_key": league.log("P02").signer.public_key, "starts": True}
        line = closed_line(json.dumps(header, separators=(",", ":"))[:-1], seal["hash"])[0]
        for name, content in (("it wrote its header", line + "\n"), ("it wrote a part of it", line[:50]), ("it wrote nothing", "")):
            with self.subTest(name):
                path.write_text(content)
                self.assertEqual(self.rules(self.report()), ([], [], []))
        older = path.with_name("P02.log.000001.jsonl")
        older.write_bytes(b"".join(line + b"\n" for line in whole.splitlines()[:-1]))
        path.unlink()
        self.assertIn("log.truncated", self.rules(self.report())[0])

    def test_a_commitment_that_the_player_takes_back_when_the_match_is_played_again(self):
        """Only one had committed; the referee's clock was late, and the second time it joins without a commitment."""
        league = League(2).play()
        plan = league.plans["R1M1"]
        for agent in (plan.a, plan.referee):
            log = league.log(agent)
            first = [r for r in log.records() if r["match_id"] == "R1M1" and plan.a in (agent, (r["peer"] or "").split(":")[-1])
                     and r["message_type"] in ("GAME_INVITATION", "GAME_JOIN_ACK")]
            self.assertEqual(len(first), 2)
            again = copy.deepcopy(first)
            for record in again:
                record["call"] = 900
            again[1].message.pop("choice_commitment")
            at = log.items.index(first[1]) + 1
            log.items[at:at] = again
        for record in league.find(plan.b, "CHOOSE_PARITY_CALL", "R1M1"):
            record.message["context"].pop("opponent_commitment", None)
        shown = details(league, "R1M1")
        del shown["choice_commitments"][plan.a], shown["choice_nonces"][plan.a]
        self.assertNotIn("commitment.dropped", self.rules(self.report(league))[0])

    def test_the_clock_of_another_machine(self):
        league = League(3, start=League(2).now + timedelta(days=1)).play()
        for record in league.log("P01").records():
            moment = verify_log.seconds_of(record["time"]) + 3600
            record["time"] = log_time(league.start_time.fromtimestamp(moment, league.start_time.tzinfo))
        self.assert_found(league)


class NobodyIsAccusedFalsely(LogTest):
    """What a stranger, a bot or an accident leaves in honest logs."""

    def setUp(self):
        super().setUp()
        self.league = League(3).play()

    def stranger(self, receiver, message, reply=None, peer="127.0.0.1:50000", **fields):
        """A request at `receiver` that nobody of the league sent."""
        own = self.league.log(receiver).next_call()
        items, closing = self.league.log(receiver).items, self.league.log(receiver).items.pop()
        frame = Frame({"jsonrpc": "2.0", "id": 1, "method": "x", "params": message})
        fields = {"conversation_id": message.get("conversation_id"), "message_type": message.get("message_type"), **fields}
        self.league.note(receiver, "in", "request", peer, frame, own, **fields)
        for part in ("verdict", "fault", "leniencies"):
            fields.pop(part, None)
        answer = Frame({"jsonrpc": "2.0", "id": 1, "result": reply or {"status": "ok"}})
        self.league.note(receiver, "out", "reply", peer, answer, own, http_status=200, **fields)
        items.append(closing)

    def message(self, kind, sender, **fields):
        return {**self.league.message(kind, sender, None, "convstranger001", league_id=self.league.league_id), **fields}

    EXTRAS = {"draw_proof": "11" * 32, "log_head": {"seq": 3, "hash": "22" * 32}, "draw_commitment": "33" * 32, "match_id": "R1M1",
              "choice_commitment": "44" * 32, "final_standings": [{"player_id": "P01", "rank": 1}],
              "matches": [{"match_id": "R1M1", "draw_commitment": "55" * 32, "player_A_id": "P03", "player_B_id": "P02", "referee_id": "REF09",
                           "attempt": 1, "conversation_id": "convr1m1001"}],
              "context": {"draw_commitment": "66" * 32}}

    def error(self):
        return self.message("LEAGUE_ERROR", MANAGER, error_code="E023", error_name="INVALID_FIELD_VALUE", error_description="no",
                            original_message_type="LEAGUE_REGISTER_REQUEST")

    def test_registrations_with_spoofed_senders_and_extra_fields(self):
        meta = {"player_meta": {"log_public_key": "77" * 32}}
        for sender in (MANAGER, "player:P01", "referee:REF01"):
            for kind in ("LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"):
                self.stranger(MANAGER, self.message(kind, sender, **meta, **self.EXTRAS), self.error(), peer=sender)
                rejected = self.message(kind.replace("REQUEST", "RESPONSE"), MANAGER, status="REJECTED", player_id="P01", referee_id="REF01")
                self.stranger(MANAGER, self.message(kind, sender, **meta, **self.EXTRAS), rejected)
        self.assert_found(self.league)

    def test_a_registration_counts_for_the_id_in_the_answer(self):
        answer = self.message("LEAGUE_REGISTER_RESPONSE", MANAGER, status="ACCEPTED", player_id="P04")
        meta = {"player_meta": {"log_public_key": "77" * 32}}
        self.stranger(MANAGER, self.message("LEAGUE_REGISTER_REQUEST", "player:P01", **meta), answer)
        report = self.assert_found(self.league, missing=["log.absent"])
        self.assertIn("P04", report["missing"][0]["text"])

    def test_errors_news_and_calls_of_strangers(self):
        for receiver in ("P01", "REF01"):
            self.stranger(receiver, {**self.error(), **self.EXTRAS})
            for kind in ("ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "GAME_OVER", "CHOOSE_PARITY_CALL", "GAME_INVITATION"):
                for fields in ({"verdict": "E012", "fault": "no"}, {"leniencies": ["missing_call_token"]}, {"leniencies": ["foreign_call_token"]}):
                    for sender in (MANAGER, "referee:REF01", "player:P02"):
                        self.stranger(receiver, self.message(kind, sender, **self.EXTRAS), peer=sender, match_id="R1M1", **fields)
        self.assert_found(self.league)

    def test_a_stranger_that_plays_referee_for_a_player(self):
        self.stranger("P01", self.message("CHOOSE_PARITY_CALL", "referee:REF77", **self.EXTRAS), match_id="R1M1")
        self.stranger("P01", self.message("GAME_OVER", "referee:REF77", **self.EXTRAS), match_id="R1M1")
        self.assert_found(self.league)

    def test_an_operator_key_that_is_wrong_and_queries_without_conversation(self):
        self.stranger(MANAGER, {"operator_key": "wrong..."}, {"status": "refused"})
        query = self.message("LEAGUE_QUERY", "player:P01")
        del query["conversation_id"]
        self.stranger(MANAGER, query, self.error(), conversation_id="convgenerated001", verdict="E003", fault="no")
        self.stranger(MANAGER, query, self.error())
        self.stranger(MANAGER, {**query, "conversation_id": "c" * 101}, self.error(), verdict="E024", fault="no")
        self.assert_found(self.league)

    def test_a_dispute_that_was_not_accepted(self):
        self.stranger(MANAGER, self.message("LEAGUE_QUERY", "player:P01", query_type="DISPUTE_MATCH", query_params={"match_id": "R1M1"}), self.error())
        self.assert_found(self.league)

    def test_replies_that_name_other_things(self):
        for change in ({"conversation_id": "other"}, {"league_id": "other"}, {"round_id": 99}, {"sender": MANAGER, **self.EXTRAS}):
            with self.subTest(change=sorted(change)):
                LogTest.setUp(self)
                league = League(3).play()
                for kind in ("GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"):
                    for record in league.find("REF01", kind, dir="in"):
                        record.message.update({k: v for k, v in change.items() if k not in ("match_id", "choice_commitment")})
                self.assert_found(league)

    def test_acknowledgements_that_name_a_message_type(self):
        for record in self.league.find(MANAGER, dir="in", kind="reply") + self.league.find("REF01", dir="in", kind="reply"):
            if record.message == {"status": "ok"} and record["peer"] != MANAGER:
                record.message.update(message_type="ROUND_ANNOUNCEMENT", sender=MANAGER, **{k: v for k, v in self.EXTRAS.items() if k != "match_id"})
        self.assert_found(self.league)

    def test_a_foreign_referee_with_conversations_of_its_own(self):
        league = League(3, commitments=False)
        league.play()
        for record in league.find(MANAGER, "REFEREE_REGISTER_REQUEST"):
            record.message["referee_meta"].pop("match_credentials", None)
        for agent in league.logs:
            for record in league.find(agent):
                if agent != MANAGER or record["message_type"] == "MATCH_RESULT_REPORT" or record["peer"] == "referee:REF01":
                    if str(record["conversation_id"]).startswith("convr1m1") or str(record["conversation_id"]).startswith("convr2m1"):
                        record["conversation_id"] = "theirs"
                        if "conversation_id" in record.message:
                            record.message["conversation_id"] = "theirs"
        self.assert_found(league)

    def test_a_foreign_referee_without_a_seed_is_unproven(self):
        league = League(3, commitments=False).play()
        for record in league.find(MANAGER, "REFEREE_REGISTER_REQUEST"):
            del record.message["referee_meta"]["match_credentials"]
        for match in league.plans:
            del details(league, match)["draw_proof"]
        report = self.assert_found(league, incidents=["result.unproven"])
        self.assertEqual(report["incidents"][0]["count"], 3)

    def test_an_earlier_league_in_the_same_files(self):
        earlier, later = League(3, seed=1).play(), None
        later = League(3, seed=2, start=earlier.now + timedelta(minutes=1))
        later.play()
        for name, log in later.logs.items():
            if name != MANAGER:
                log.items = earlier.logs[name].items + log.items
                log.signer = earlier.logs[name].signer
                for item in log.items:
                    if isinstance(item, Header):
                        item.key = log.signer.public_key
                for item in log.items:
                    if isinstance(item, Seal):
                        item.closed = item.closed and item is log.items[-1]
        for record in later.find(MANAGER):
            for meta in ("player_meta", "referee_meta"):
                if meta in record.message:
                    short = record.message["sender"].split(":")[1].upper()
                    record.message[meta]["log_public_key"] = later.log(short).signer.public_key
        report = self.assert_found(later)
        self.assertTrue(any("another league" in note for note in report["notes"]))


    def test_an_earlier_league_that_was_put_aside(self):
        for old in (False, True):
            with self.subTest(old=old):
                LogTest.setUp(self)
                earlier = League(4, seed=1, old=old).play()
                later = League(3, seed=2, start=earlier.now + timedelta(minutes=1)).play()
                for log in earlier.logs.values():
                    log.path = log.path.replace("logs/", "logs/archive/1a2b3c4d/")
                earlier.write(self.directory, results=False)
                self.assert_found(later)
                Path(self.directory / later.log("P02").path).unlink()
                self.assert_found(None, ["log.missing"])
                Path(self.directory / later.log("P02").path.replace(".log.jsonl", ".seal.json")).unlink()
                self.assert_found(None, missing=["log.absent"])

    def test_an_old_log_that_is_continued(self):
        """The first headers know no key of the league, later ones do."""
        league = League(3).play()
        for log in league.logs.values():
            for item in log.items[:len(log.items) // 2]:
                if isinstance(item, Header):
                    item.fields.pop("league_key", None)
        for log in league.logs.values():
            at = next(i for i, item in enumerate(log.items) if isinstance(item, Seal)) + 1
            log.items.insert(at, Header(log.agent, log.signer.public_key, created=league.now, league_id=league.league_id, **league.identity()))
        self.assert_found(league)


class Liars(LogTest):
    """Each rule by a case that only it finds."""

    def league(self, **options):
        return League(3, **options).play()

    def test_invented_choices(self):
        league = self.league(commitments=False)
        plan = league.plans["R1M1"]
        tell(league, "R1M1", {plan.a: other(plan.choices[plan.a])})
        report = self.assert_found(league, ["choice.differs"], only=False)
        fault, = (f for f in report["faults"] if f["rule"] == "choice.differs")
        for word in (f"player:{plan.a}", "referee:REF01", "one of the two records is false"):
            self.assertIn(word, fault["text"])
        self.assertIn("league.log.jsonl", fault["file"])

    def test_an_invented_number(self):
        league = self.league(commitments=False)
        number = league.plans["R1M1"].number()
        tell(league, "R1M1", number=(number + 1) % 10 + 1, winner=league.plans["R1M1"].winner())
        self.assert_found(league, ["draw.number"])

    def test_another_winner_than_the_number_gives(self):
        league = self.league(commitments=False)
        plan = league.plans["R2M1"]
        tell(league, "R2M1", winner=plan.a if plan.winner() != plan.a else plan.b)
        self.assert_found(league, ["draw.winner", "table.differs"])

    def told(self, league, definitions):
        """The manager tells its agents these definitions, one after the other."""
        answers = [record.message for log in league.logs.values() for record in log.records()
                   if isinstance(record.message, dict) and str(record.message.get("message_type")).endswith("REGISTER_RESPONSE")]
        for place, message in enumerate(answers):
            message["game"] = definitions[place % len(definitions)]
        return league

    def test_results_are_judged_by_the_definition_that_the_league_carries(self):
        even_odd = json.loads((GAMES / "even_odd.json").read_text())
        self.assert_found(self.told(self.league(), [even_odd]))
        for kind, own, other in (("even", "even", "odd"), ("odd", "odd", "even")):
            even_odd["payoffs"][kind][own][other] = 2
        report = self.report(self.told(self.league(), [even_odd]))
        self.assertIn("result.score", self.rules(report)[0])

    def test_agents_that_were_told_different_games(self):
        even_odd = json.loads((GAMES / "even_odd.json").read_text())
        other = {**even_odd, "technical": {"winner": 2, "loser": 0, "both": 0}}
        self.assert_found(self.told(self.league(), [even_odd, other]), ["game.differs"], only=False)

    def test_a_definition_that_is_none_says_nothing(self):
        for nonsense in ({}, {"game_type": "even_odd", "choices": [[]]}, {"choices": {}, "technical": 1, "game_type": None}):
            self.setUp()
            self.assert_found(self.told(self.league(), [nonsense]))

    def test_a_match_whose_report_is_no_result_says_nothing_of_the_table(self):
        league = self.league()
        plan = league.plans["R1M1"]
        league.reports("R1M1")[-1].message["result"].update(winner=plan.a, score={plan.a: 2, plan.b: 0})
        self.assertEqual(self.rules(self.report(league))[0], ["result.score"])

    def test_a_loss_of_somebody_with_a_point_is_contradicted_by_nobody(self):
        league = self.league()
        plan = league.plans["R1M1"]
        plan.lost = {plan.b: ("CHOOSE_PARITY_CALL", "E001")}
        result = {"winner": None, "score": dict.fromkeys(plan.players, 1), "details": league.details(plan, 1)}
        league.reports("R1M1")[0].message["result"] = result
        found = self.rules(self.report(league))
        self.assertIn("result.score", found[0])
        self.assertNotIn("loss.contradicted", found[0] + found[2])

    def test_answers_that_their_player_left_out_differ_from_nothing(self):
        league = self.league()
        plan = league.plans["R1M1"]
        log = league.log(plan.a)
        log.items = [item for item in log.items if not (hasattr(item, "fields") and item.fields.get("match_id") == "R1M1"
                                                        and item.fields.get("message_type") == "CHOOSE_PARITY_RESPONSE")]
        self.assert_found(league, ["transfer.one_sided"], ["choice.absent"])

    def test_a_promise_is_broken_where_it_was_told(self):
        for told, where in (("ROUND_ANNOUNCEMENT", "logs/league/"), ("GAME_INVITATION", "logs/agents/REF01")):
            with self.subTest(told):
                self.setUp()
                league = self.league()
                plan = league.plans["R1M1"]
                record = league.find(plan.a, told, "R1M1" if told == "GAME_INVITATION" else None, dir="in")[0]
                if told == "GAME_INVITATION":
                    record.message["draw_commitment"] = "ab" * 32
                else:
                    record.message["matches"][0]["draw_commitment"] = "ab" * 32
                report = self.report(league)
                self.assertIn(where, [f["file"] for f in report["faults"] if f["rule"] == "draw.commitment"][0])

    def test_a_table_that_does_not_follow(self):
        league = self.league()
        for record in league.find(MANAGER, "LEAGUE_COMPLETED", dir="out"):
            record.message["final_standings"][0]["points"] += 1
        self.assert_found(league, ["table.differs"])

    def test_a_table_of_several_meetings(self):
        self.assert_found(self.league(meetings=3), [])
        fewer = self.league(meetings=3)
        fewer.meetings = 2  # the bundle says so, and counts more than the message
        self.assert_found(fewer, ["table.players"])
        league = self.league(meetings=2)
        for record in league.find(MANAGER, "LEAGUE_COMPLETED", dir="out"):
            record.message["final_standings"][0]["points"] += 1
        self.assert_found(league, ["table.differs"])

    def test_a_match_that_is_given_in_a_call_of_its_own(self):
        """As third-party referees take it: START_MATCH is the only announcement of who has the match."""
        for referee, accused in (("REF01", False), ("REF02", True)):
            with self.subTest(referee=referee):
                league = self.league()
                for record in league.find(MANAGER, "ROUND_ANNOUNCEMENT", dir="out", kind="request"):
                    match = record.message["matches"][0]
                    if match["match_id"] == "R1M1" and "attempt" in match:
                        record.message.update({**match, "message_type": "START_MATCH", "referee_id": referee, "matches": []})
                        record.fields["message_type"] = "START_MATCH"
                self.assertEqual("authority.report" in self.rules(self.report(league))[0], accused)

    def test_facts_of_the_report_that_are_not_those_of_the_match(self):
        def change(league, rule):
            report = league.reports("R1M1")[0].message
            result, plan = report["result"], league.plans["R1M1"]
            if rule == "result.round":
                report["round_id"] = 2
            elif rule == "result.game":
                report["game_type"] = "chess"
            elif rule == "result.attempt":
                result["details"]["attempt"] = 2
            elif rule == "result.number":
                result["details"]["number_parity"] = other(result["details"]["number_parity"])
            elif rule == "result.winner":
                result["winner"] = plan.a if result["winner"] != plan.a else plan.b
            elif rule == "result.score":
                result["score"] = {plan.a: 2, plan.b: 1}
            elif rule == "result.form":
                result["score"] = {plan.a: "3", plan.b: 0}
            elif rule == "draw.version":
                result["details"]["draw_version"] = 1
            elif rule == "draw.proof":
                result["details"]["draw_proof"] = "01" * 32
            elif rule == "draw.unrevealed":
                del result["details"]["draw_proof"]
            elif rule == "authority.report":
                report["sender"] = "referee:REF02"
        for rule in ("result.round", "result.game", "result.attempt", "result.number", "result.winner", "result.score", "result.form",
                     "draw.version", "draw.proof", "draw.unrevealed", "authority.report"):
            with self.subTest(rule=rule):
                self.setUp()
                league = self.league()
                change(league, rule)
                self.assertIn(rule, self.rules(self.report(league))[0])

    def test_a_number_after_a_technical_loss(self):
        league = League(3)
        plan = league.plans["R1M1"]
        plan.lost = {plan.a: ("CHOOSE_PARITY_CALL", "E001")}
        league.play()
        details(league, "R1M1").update(drawn_number=3, number_parity="odd")
        self.assert_found(league, ["result.number"])

    def test_the_one_who_failed_wins(self):
        league = League(3)
        plan = league.plans["R1M1"]
        plan.lost = {plan.a: ("CHOOSE_PARITY_CALL", "E001")}
        league.play()
        league.reports("R1M1")[0].message["result"].update(winner=plan.a, score={plan.a: 3, plan.b: 0})
        self.assert_found(league, ["result.winner", "table.differs"])

    def test_a_second_result(self):
        league = self.league()
        plan = league.plans["R3M1"]
        again = copy.deepcopy(plan)
        for choices in (("even", "even"), ("even", "odd"), ("odd", "even"), ("odd", "odd")):
            if again.points() == plan.points():
                again.choices = dict(zip(plan.players, choices))
        for name in league.logs:
            league.logs[name].items.pop()
        league.report(again, 1, plan.referee)
        league.seal_all(closed=True)
        self.assertIn("result.second", self.rules(self.report(league))[0])

    def test_an_identical_repeat_is_none(self):
        league = self.league()
        for name in league.logs:
            league.logs[name].items.pop()
        league.report(league.plans["R3M1"], 1, "REF01")
        league.seal_all(closed=True)
        self.assert_found(league)

    def test_a_match_that_nobody_announced(self):
        league = self.league()
        league.reports("R1M1")[0].message["match_id"] = "R9M9"
        self.assertIn("result.unknown_match", self.rules(self.report(league))[0])

    def test_losses_that_the_players_log_contradicts(self):
        for code, severity in (("E001", "incidents"), ("E009", "incidents"), ("E004", "faults"), ("E040", "faults"), ("E012", "incidents")):
            with self.subTest(code=code):
                self.setUp()
                league = League(3).play()
                plan = league.plans["R1M1"]
                plan.lost = {plan.b: ("CHOOSE_PARITY_CALL", code)}
                report = league.reports("R1M1")[0].message
                report["result"] = {"winner": plan.a, "score": plan.points(), "details": league.details(plan, 1)}
                found = self.report(league)
                self.assertIn("loss.contradicted", [finding["rule"] for finding in found[severity]])

    def test_a_late_answer_contradicts_nothing(self):
        league = League(3).play()
        plan = league.plans["R1M1"]
        plan.lost = {plan.b: ("CHOOSE_PARITY_CALL", "E001")}
        league.reports("R1M1")[0].message["result"] = {"winner": plan.a, "score": plan.points(), "details": league.details(plan, 1)}
        answer, = league.find(plan.b, "CHOOSE_PARITY_RESPONSE", "R1M1")
        answer["time"] = log_time(league.start_time + timedelta(seconds=100))
        self.assertNotIn("loss.contradicted", [f["rule"] for f in self.report(league)["incidents"]])

    def test_a_player_without_records_of_a_match_that_was_played(self):
        league = self.league()
        plan = league.plans["R2M1"]
        take_out(league, plan.a, "R2M1")
        report = self.assert_found(league, missing=["choice.absent"], faults=["transfer.one_sided"])
        self.assertIn(f"Ask {plan.a}", report["missing"][0]["text"])

    def test_a_log_that_was_cut_off_by_its_owner(self):
        league = self.league()
        league.log("P02").items.pop()
        log = league.log("P02")
        for item in log.records()[8:]:
            item.frame = item.own().frame  # the others' messages are not changed
        late = [record for record in league.find("REF01", peer="player:P02", dir="in")]
        late[-1]["time"] = log_time(league.now + timedelta(seconds=6))
        log.items = [item for item in log.items if not (hasattr(item, "fields") and "dir" in item.fields)][:2] + log.records()[:4]
        report = self.report(league)
        self.assertIn("log.short", self.rules(report)[0])
        self.assertEqual([f["file"] for f in report["faults"] if f["rule"] == "log.short"], [str(self.directory / "logs/agents/P02.log.jsonl")])

    def test_a_message_whose_sender_has_no_record_of_it(self):
        league = self.league()
        record = league.find("REF01", "GAME_OVER", "R1M1", dir="out")[0].own()
        record.message["reason"] = "changed afterwards"
        self.assert_found(league, ["transfer.one_sided"])

    def test_a_promise_to_one_player(self):
        league = self.league()
        league.find("REF01", "CHOOSE_PARITY_CALL", "R1M1", dir="out")[0].message["context"]["draw_commitment"] = "99" * 32
        self.assert_found(league, ["draw.commitment"])

    def test_a_seed_that_one_player_is_shown(self):
        league = self.league()
        plan = league.plans["R1M1"]
        league.find(plan.a, "GAME_OVER", "R1M1")[0].message["draw_proof"] = "99" * 32
        report = self.assert_found(league, ["draw.proof"])
        self.assertIn(plan.a, report["faults"][0]["file"])

    def test_a_manager_that_rewrites_its_log(self):
        league = self.league()
        league.freeze()
        league.find(MANAGER, "LEAGUE_REGISTER_REQUEST")[0].own().message["player_meta"]["display_name"] = "another"
        self.assertIn("witness.head", self.rules(self.report(league))[0])

    def test_a_key_that_was_not_registered(self):
        league = self.league()
        meta = league.find(MANAGER, "LEAGUE_REGISTER_REQUEST")[0].message["player_meta"]
        meta["log_public_key"] = "12" * 32
        self.assert_found(league, ["key.unregistered"])

    def test_a_record_in_another_conversation_than_its_message(self):
        league = self.league()
        league.find("REF01", "GAME_OVER", "R1M1", dir="out")[0]["conversation_id"] = "elsewhere"
        self.assert_found(league, ["record.conversation"])

    def test_a_dispute_says_whose_word_the_records_support(self):
        for lie, word in ((True, "the sealed records support P02 (choice.differs"), (False, "support the report")):
            self.setUp()
            league = League(3, commitments=False).play()
            plan = league.plans["R1M1"]
            if lie:
                tell(league, "R1M1", {plan.a: other(plan.choices[plan.a])})
            closing = {name: league.logs[name].items.pop() for name in league.logs}
            query = league.message("LEAGUE_QUERY", f"player:{plan.a}", "tok_p01_...", "convq1", league_id=league.league_id,
                                   query_type="DISPUTE_MATCH", query_params={"match_id": "R1M1", "reason": "choices"})
            answer = league.message("LEAGUE_QUERY_RESPONSE", MANAGER, None, "convq1", league_id=league.league_id, query_type="DISPUTE_MATCH",
                                    success=True, data={"match_id": "R1M1", "disputed": True})
            league.call(f"player:{plan.a}", MANAGER, "league_query", query, answer)
            for name, seal in closing.items():
                league.logs[name].items.append(seal)
            report = self.assert_found(league, incidents=["match.disputed"], only=False)
            text, = (f["text"] for f in report["incidents"] if f["rule"] == "match.disputed")
            self.assertIn(word, text)


class Commitments(LogTest):
    def test_a_dropped_commitment(self):
        league = League(2).play()
        plan = league.plans["R1M1"]
        told = details(league, "R1M1")
        del told["choice_commitments"][plan.a], told["choice_nonces"][plan.a]
        told["drawn_number"] = draw(plan.seed, "R1M1", [plan.choices[p] for p in plan.players], ["", plan.nonces[plan.b]])
        self.assert_found(league, ["commitment.dropped"], only=False)

    def test_a_commitment_that_was_never_handed_over(self):
        league = League(2).play()
        plan = league.plans["R1M1"]
        del league.find(plan.b, "CHOOSE_PARITY_CALL", "R1M1")[0].message["context"]["opponent_commitment"]
        told = details(league, "R1M1")
        del told["choice_commitments"][plan.a]
        self.assertIn("commitment.dropped", self.rules(self.report(league))[0])

    def test_nonces_that_do_not_open(self):
        for nonce in (NONCE, "short", 7, None):
            with self.subTest(nonce=nonce):
                self.setUp()
                league = League(2).play()
                plan = league.plans["R1M1"]
                details(league, "R1M1")["choice_nonces"][plan.a] = nonce
                self.assertIn("commitment.opening", self.rules(self.report(league))[0])

    def test_a_second_commitment(self):
        for player in (0, 1):
            self.setUp()
            league = League(2, 2)
            plan = league.plans["R1M1"]
            plan.abandoned = 1
            league.play()
            liar, opponent = (plan.a, plan.b) if player == 0 else (plan.b, plan.a)
            for record in league.find(liar, "GAME_JOIN_ACK", "R1M1", conversation_id="convr1m1001"):
                record.message["choice_commitment"] = "cd" * 32
            for record in league.find(opponent, "CHOOSE_PARITY_CALL", "R1M1", conversation_id="convr1m1001", kind="request"):
                record.message["context"]["opponent_commitment"] = "cd" * 32
            report = self.assert_found(league, ["commitment.second"], incidents=["draw.abandoned"])
            self.assertIn(f"player:{liar}", report["faults"][0]["text"])

    def test_an_attempt_that_is_delivered_after_the_end_binds_nobody(self):
        league = League(2).play(end=False)
        plan = league.plans["R1M1"]
        nonce, plan.nonces[plan.b] = plan.nonces[plan.b], "cd" * 32
        league.assign(plan.referee, 1, [league.assignment(plan, 2, plan.referee)])
        league.play_attempt(plan, 2, plan.referee)
        plan.nonces[plan.b] = nonce
        league.finish(1)
        self.assert_found(league, incidents=["draw.abandoned"])

    def test_a_commitment_that_nobody_made(self):
        league = League(2, commitments=False).play()
        plan = league.plans["R1M1"]
        plan.commits = {plan.a}
        told = league.details(plan, 1)
        plan.commits = set()
        report = league.reports("R1M1")[0].message["result"]
        right = [p for p in plan.players if plan.choices[p] == told["number_parity"]]
        winner = right[0] if len(right) == 1 else None
        report.update(details=told, winner=winner, score={p: 1 if winner is None else 3 if p == winner else 0 for p in plan.players})
        self.assert_found(league, ["commitment.handed"], only=False)


class Completeness(LogTest):
    def setUp(self):
        super().setUp()
        self.league = League(3).play()

    def remove(self, *agents):
        for agent in agents:
            for suffix in (".log.jsonl", ".seal.json"):
                Path(str(self.directory / self.league.log(agent).path).replace(".log.jsonl", suffix)).unlink()

    def test_every_log_that_is_gone_is_missed(self):
        for agent, short in (("player:P02", "P02"), ("referee:REF01", "REF01"), (MANAGER, MANAGER)):
            with self.subTest(agent=agent):
                self.setUp()
                self.report(self.league)
                self.remove(agent)
                report = self.assert_found(None, missing=["log.absent"])
                self.assertIn(f"--without {short}", report["missing"][0]["text"])
                self.assertEqual(report["missing"][0]["line"], 0)
                self.assert_found(None, without=[short])

    def test_a_log_that_is_gone_while_its_seal_is_there_is_a_fault(self):
        self.report(self.league)
        (self.directory / "logs/agents/P02.log.jsonl").unlink()
        self.assert_found(None, faults=["log.missing"])

    def test_no_journal(self):
        self.assert_found(self.league, missing=["journal.absent"], results=False)
        self.assert_found(None, without=["journal"])

    def test_no_logs_but_a_journal(self):
        (self.directory / "data/journal").mkdir(parents=True)
        (self.directory / "data/journal/journal.sqlite").write_bytes(b"")
        self.assert_found(None, missing=["log.absent"])

    def test_nothing_at_all(self):
        self.assertIsNone(verify_log.verify(str(self.directory)))

    def test_files_that_contradict_the_reports(self):
        self.league.write(self.directory)
        plan = self.league.plans["R1M1"]
        result = copy.deepcopy(self.league.reports("R1M1")[0].message["result"])
        match = {"league_id": "league_test", "league_key": self.league.key, "round_id": 1, "match_id": "R1M1", "game_type": "even_odd", "attempt": 1,
                 "referee_id": plan.referee, "player_A_id": plan.a, "player_B_id": plan.b, "draw_commitment": plan.promise, "made_by": "referee",
                 "state": "FINISHED", "result": result}
        path = self.directory / "data/matches/league_test/R1M1.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(match))
        own = {3: "WIN", 1: "DRAW", 0: "LOSS"}[plan.points()[plan.a]]
        row = {"league_id": "league_test", "league_key": self.league.key, "match_id": "R1M1", "round_id": 1, "opponent_id": plan.b, "result": own, "drawn_number": plan.number(),
               "my_choice": plan.choices[plan.a], "opponent_choice": plan.choices[plan.b]}
        history = self.directory / f"data/players/{plan.a}/history.json"
        history.parent.mkdir(parents=True)
        history.write_text(json.dumps({"player_id": plan.a, "matches": [row]}))
        self.assert_found(None)
        for key, value in (("attempt", 2), ("referee_id", "REF09"), ("player_A_id", "P09"), ("draw_commitment", "00" * 32), ("result", None)):
            path.write_text(json.dumps({**match, key: value}))
            self.assert_found(None, ["projection.match"])
        path.write_text("{")
        self.assert_found(None, ["projection.match"])
        path.unlink()
        common = path.with_name("REF01.jsonl")  # no file of its own yet; a killed referee leaves a line without its end
        common.write_text(json.dumps(match) + "\n{\"match_id\":\"R1\n" + json.dumps(match))
        self.assert_found(None)
        common.write_text("\n" + json.dumps({**match, "attempt": 2}) + "\n")
        self.assert_found(None, ["projection.match"])
        common.unlink()
        match["result"]["details"]["drawn_number"] = 11
        path.write_text(json.dumps(match))
        history.write_text(json.dumps({"player_id": plan.a, "matches": [{**row, "drawn_number": 11}]}))
        self.assert_found(None, ["projection.history", "projection.match"])
        for own in ({"league_key": "ab" * 32}, {"league_key": None}):  # another league's, and of nobody knows which
            path.write_text(json.dumps({**match, **own}))
            history.write_text(json.dumps({"player_id": plan.a, "matches": [{**row, "drawn_number": 11, **own}]}))
            report = self.assert_found(None)
            self.assertGreaterEqual(sum("file.key" in note for note in report["notes"]), 2, report["notes"])
        results = json.loads((self.directory / "data/results.json").read_text())
        (self.directory / "data/results.json").write_text(json.dumps({**results, "files_keyed": True}))
        self.assert_found(None, ["projection.history", "projection.match"])

    def test_files_without_end_are_an_error_in_bounded_memory(self):
        """A closed segment without a line feed, and a megabyte that unpacks to a gigabyte."""
        self.league.write(self.directory)
        packed = zlib.compressobj(9, wbits=31)
        with open(self.directory / "logs/agents/P01.log.000001.jsonl.gz", "wb") as stream:
            for _ in range(1025):
                stream.write(packed.compress(b"\n" * (1 << 20)))
            stream.write(packed.flush())
        with open(self.directory / "logs/agents/P02.log.000001.jsonl", "wb") as stream:
            stream.truncate(1 << 30)
        script = support_path.SOURCE / "scripts/verify_log.py"
        done = subprocess.run(["/bin/sh", "-c", f"ulimit -v 400000; exec {sys.executable} {script} --json {self.directory}"], capture_output=True,
                              text=True, check=False)
        faults = [(Path(fault["file"]).name, fault["rule"]) for fault in json.loads(done.stdout)["faults"]]
        for name in ("P01.log.000001.jsonl.gz", "P02.log.000001.jsonl"):
            self.assertIn((name, "file.unreadable"), faults, done.stderr)

    def test_several_leagues_below_one_directory(self):
        for seed in (1, 2):
            League(2, seed=seed).play().write(self.directory / f"run{seed}")
        report = self.assert_found(None)
        self.assertEqual([league["ok"] for league in report["leagues"]], [True, True])
        (self.directory / "run2/data/results.json").unlink()
        report = self.assert_found(None, missing=["journal.absent"])
        self.assertEqual([league["ok"] for league in report["leagues"]], [True, False])


class Hostile(LogTest):
    """Nothing that stands in a file crashes the verifier."""

    VALUES = [None, True, -1, 0, 1 << 70, 1.5, "", "x" * 5000, [], {}, [[]], {"a": {"b": []}}, [1, 2], "\ud800", "R1M1", {"message_type": 3}]

    def test_every_key_of_a_record_with_every_type(self):
        league = League(2).play()
        keys = sorted({key for log in league.logs.values() for record in log.records() for key in record.fields}
                      | {"raw", "raw_ref", "raw_keep", "raw_bytes", "raw_sha256", "leniencies", "verdict", "broadcast", "context"})
        for key in keys:
            league = League(2).play()
            for n, record in enumerate(league.log("P01").records() + league.log(MANAGER).records()):
                record[key] = self.VALUES[n % len(self.VALUES)]
                if key == "raw_keep":
                    record["raw_ref"] = 1
            self.setUp()
            report = self.report(league)
            self.assertIsInstance(json.dumps(report), str)

    def walk(self, value, path=()):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield path + (key,)
                yield from self.walk(inner, path + (key,))
        elif isinstance(value, list):
            for n, inner in enumerate(value):
                yield path + (n,)
                yield from self.walk(inner, path + (n,))

    def test_every_field_of_every_message_with_every_type(self):
        league = League(2, 2)
        league.plans["R1M1"].lost = {"P01": ("CHOOSE_PARITY_CALL", "E001")}
        league.play()
        bodies = {}
        for log in league.logs.values():
            for record in log.records():
                if record.frame is not None:
                    bodies.setdefault((record.message.get("message_type"), record["kind"]), record.frame)
        changes = [(frame, path, value) for frame in bodies.values() for path in self.walk(frame.body)
                   for value in (self.VALUES[zlib.crc32(repr(path).encode()) % len(self.VALUES)], self.VALUES[len(str(path)) % len(self.VALUES)])]
        for frame, path, value in changes[::3]:
            good = frame.body
            frame.body = copy.deepcopy(good)
            place = frame.body
            for part in path[:-1]:
                place = place[part]
            place[path[-1]] = value
            league.write(self.directory, only=[MANAGER])  # the others stay as they were
            self.report()
            frame.body = good

    def test_bodies_that_are_no_messages(self):
        league = League(2).play()
        bodies = ["", "[" * 100_000, '{"a":' * 900 + "1" + "}" * 900, '{"params":' * 400 + "{}" + "}" * 400, "NaN", '{"params":NaN}', '{"params":1e999}',
                  '{"params":{"round_id":' + "9" * 5000 + "}}", '{"a":"\\ud800"}', '{"a":1,"a":2}', "\x00", '"text"', "null", '{"result":{"content":[{"text":"{"}]}}',
                  '{"result":{"content":[3]}}', '{"params":{"message":{"message_type":[]}}}']
        for n, record in enumerate(league.log("P01").records() + league.log(MANAGER).records()):
            record.frame = Frame(bodies[n % len(bodies)])
        self.assertIsInstance(self.report(league), dict)

    def test_files_that_are_no_logs(self):
        League(2).play().write(self.directory)
        for content in (b"", b"\n" * 5, b"\0" * 1000, b"\xff\xfe{\0}\0", b'{"seq":' + b"9" * 5000 + b"}\n", b"{" * 100_000, b'{"format":' + b"[" * 5000,
                        bytes(range(256)) * 20):
            for name in ("logs/agents/P01.log.jsonl", "logs/agents/P01.seal.json", "logs/agents/X.log.000001.jsonl", "MANIFEST.json",
                         "data/matches/league_test/R1M1.json", "data/players/P01/history.json"):
                with self.subTest(name=name, content=content[:20]):
                    path = self.directory / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    before = path.read_bytes() if path.exists() else None
                    path.write_bytes(content)
                    self.assertIsInstance(self.report(), dict)
                    path.unlink()
                    if before is not None:
                        path.write_bytes(before)

    def test_lines_with_good_hashes_and_nonsense(self):
        League(2).play().write(self.directory)
        path = self.directory / "logs/agents/P01.log.jsonl"
        good = path.read_bytes().splitlines(keepends=True)
        for line in ('{"seq":' + "9" * 5000, '{"seq":3,"time":[]', '{"seq":{},"dir":"in"', '{"format":{}', '{"format":"league.conversation-log","version":2,"agent":[]',
                     '{"format":"league.conversation-log","version":2,"agent":"a","created":7', '{"seal":"x"', '{"seal":' + "9" * 400,
                     '{"seal":1,"time":"2026-01-01T00:00:00Z","signature":[]', '{"seq":3,"dir":"in","kind":"request","time":"2026-99-01T00:00:00Z"'):
            whole = f'{line},"prev":"{"0" * 64}","hash":"{"0" * 64}"}}\n'
            path.write_bytes(b"".join(good[:4] + [whole.encode()] + good[4:]))
            rechain(path)
            report = self.report()
            self.assertFalse(report["ok"])

    def test_names_of_files_that_are_no_text(self):
        League(2).play().write(self.directory)
        try:
            (self.directory / "logs" / "agents" / "\udcff\udcfe.log.jsonl").write_bytes(b"x\n")
        except (OSError, UnicodeError):
            self.skipTest("this file system has no such names")
        script = support_path.SOURCE / "scripts" / "verify_log.py"
        for option in ([], ["--json"]):
            done = subprocess.run([sys.executable, script, self.directory, *option], capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (1, b""))


class Output(LogTest):
    SCRIPT = support_path.SOURCE / "scripts" / "verify_log.py"

    def run_script(self, *options):
        return subprocess.run([sys.executable, self.SCRIPT, self.directory, *options], capture_output=True, text=True, timeout=60)

    def test_the_first_fault_comes_first_and_incidents_of_a_kind_are_one_line(self):
        league = League(5, 2, commitments=False)
        for plan in league.plans.values():
            plan.abandoned = 1
        league.play()
        tell(league, "R1M1", number=(league.plans["R1M1"].number() + 1) % 10 + 1, winner=league.plans["R1M1"].winner())
        league.write(self.directory)
        done = self.run_script()
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1)
        self.assertIn("draw.number", lines[0])
        self.assertEqual(len([line for line in lines if "draw.abandoned" in line]), 1)
        self.assertIn("10 times", done.stdout)
        self.assertEqual(len([line for line in lines if line.startswith("Not checked here")]), 1)

    def test_json_names_what_is_not_checked(self):
        League(2).play().write(self.directory)
        done = self.run_script("--json")
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["ok"]), (0, True))
        self.assertIn("schema", report["unchecked"])
        self.assertEqual(set(report), {"ok", "records", "records_per_second", "logs", "faults", "missing", "incidents", "left_out", "notes", "unchecked",
                                       "leagues"})

    def test_without(self):
        League(2).play().write(self.directory, results=False)
        self.assertEqual(self.run_script().returncode, 1)
        self.assertEqual(self.run_script("--without", "P09,journal").returncode, 0)

    def test_no_logs(self):
        self.assertEqual(self.run_script().returncode, 2)


class Signatures(unittest.TestCase):
    def test_known_signatures(self):
        # RFC 8032, 7.1, tests 1 and 2.
        known = [("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
                 ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "r",
                  "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")]
        for key, text, signature in known:
            self.assertTrue(verify_log.is_signature(key, text, signature))
            self.assertFalse(verify_log.is_signature(key, text + "x", signature))
            self.assertFalse(verify_log.is_signature(key, text, signature[:-2] + "10"))
        self.assertFalse(verify_log.is_signature("ff" * 32, "", known[0][2]))

    def test_the_builder_signs_as_the_document_says(self):
        league = League(2)
        signer = league.logs[MANAGER].signer
        self.assertTrue(verify_log.is_signature(signer.public_key, "text", signer.sign("text")))
        self.assertEqual(len(hashlib.sha256(signer.public_key.encode()).digest()), 32)


if __name__ == "__main__":
    unittest.main()
