"""Conversation logs under attack: what two verifiers that know nothing of each other find, and where."""

import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import unittest

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, LeagueTest, rpc
from scripted_bot import Bot, exact_reply, message_in

sys.path.insert(0, str(SOURCE / "scripts"))
import verify_log  # noqa: E402


def rechained(lines):
    """The lines with hashes that are right again, as somebody would leave them who has no key."""
    prev, out = "0" * 64, []
    for line in lines:
        covered = line[: line.rindex(b',"prev":"')] + b',"prev":"' + prev.encode()
        prev = hashlib.sha256(covered).hexdigest()
        out.append(covered + b'","hash":"' + prev.encode() + b'"}')
    return out


class Audit(LeagueTest):
    def setUp(self):
        super().setUp()
        manager = self.start_manager(4, 1)
        self.start_referee(manager)
        self.start_players(manager, 4, "even,odd,random,opposite")  # the first two have a winner
        self.wait_until_over(manager, 20)
        self.wait_until_logged("LEAGUE_COMPLETED", 5)
        self.stop_programs()
        self.manager_log = next((self.logs / "league").rglob("league.log.jsonl"))
        self.referee_log = self.logs / "agents" / "REF01.log.jsonl"

    def by_program(self, *options):
        process = subprocess.run([BIN / "league", "audit", "verify", self.directory, "--json", *options],
                                 capture_output=True, text=True, timeout=60)
        report = json.loads(process.stdout)
        self.assertEqual(process.returncode, 0 if report["ok"] else 1, process.stderr)
        return report

    def by_script(self, chain_only=False):
        return verify_log.verify(str(self.directory), chain_only)

    @staticmethod
    def found(report):
        return sorted((fault["file"], fault["line"], fault["rule"]) for fault in report["faults"])

    def assert_both_find(self, path, data, line, what):
        """Damages a file, lets both verifiers look, and puts the file back."""
        good = path.read_bytes()
        path.write_bytes(data)
        one, other = self.by_program("--chain-only"), self.by_script(True)
        path.write_bytes(good)
        self.assertEqual(self.found(one), self.found(other), what)
        places = [fault["line"] for fault in one["faults"] if fault["file"] == str(path)]
        self.assertTrue(any(abs(place - line) <= 1 for place in places), f"{what}, line {line}: {one['faults']}")

    def test_a_league_that_ended_in_order_is_right(self):
        for report in (self.by_program(), self.by_program("--chain-only"), self.by_script()):
            self.assertEqual(report["faults"], [])
            self.assertEqual(report["notes"], [])
            self.assertGreater(report["records"], 100)
        # Everybody was told where the manager's log had come to.
        for path in (self.logs / "agents").glob("*.log.jsonl"):
            self.assertIn(b"log_head", path.read_bytes(), path)

    def test_every_kind_of_damage_is_found_where_it_is_by_both(self):
        for path in (self.manager_log, self.referee_log):
            lines = path.read_bytes().splitlines(keepends=True)
            for k in range(0, len(lines), 9):
                self.assert_both_find(path, b"".join(lines[:k] + lines[k + 1:]), k + 1, "loss")
                self.assert_both_find(path, b"".join(lines[:k] + [lines[k // 2]] + lines[k:]), k + 1, "addition")
                self.assert_both_find(path, b"".join(lines[:k]), k, "cut")
                if k:
                    swapped = lines[:k - 1] + [lines[k], lines[k - 1]] + lines[k + 1:]
                    self.assert_both_find(path, b"".join(swapped), k, "exchange")

    def test_flipped_bits_are_found_where_they_are_by_both(self):
        chance = random.Random(5)
        paths = sorted([*self.logs.rglob("*.log.jsonl"), *self.logs.rglob("*.seal.json")])
        for _ in range(60):
            path = chance.choice(paths)
            data = bytearray(path.read_bytes())
            at = chance.randrange(len(data))
            line = data.count(b"\n", 0, at) + 1
            data[at] ^= 1 << chance.randrange(8)
            self.assert_both_find(path, bytes(data), line, f"flip at {at} of {path.name}")

    def rewrite(self, path, change):
        """Changes records and makes the hashes right again; returns what both verifiers find beside the seals."""
        good = path.read_bytes()
        lines = []
        for line in good.splitlines():
            record = json.loads(line)
            if "raw" in record:
                before = json.dumps(record["raw"])
                after = json.dumps(change(record, record["raw"]))
                line = json.dumps(record, separators=(",", ":")).replace(before, after, 1).encode()
            lines.append(line)
        path.write_bytes(b"\n".join(rechained(lines)) + b"\n")
        rules = [{fault["rule"] for fault in report["faults"]} for report in (self.by_program(), self.by_script())]
        path.write_bytes(good)
        for found in rules:
            self.assertTrue(any(rule.startswith("seal.") or rule.startswith("log.") for rule in found), found)
        return rules

    def test_a_forged_result_is_found_by_both(self):
        def in_reports(old, new):
            def change(record, raw):
                report = record.get("message_type") == "MATCH_RESULT_REPORT" and '"termination":"NORMAL"' in raw
                return old.sub(new, raw) if report else raw
            return change

        changes = {
            "draw.number": in_reports(re.compile(r'"drawn_number":\d+'), '"drawn_number":11'),
            "draw.proof": in_reports(re.compile(r'"draw_proof":"..'), '"draw_proof":"zz'),
            "result.winner": in_reports(re.compile(r'"winner":(null|"P\d+")'), '"winner":"P99"'),
            "table.differs": in_reports(re.compile(r'"winner":(?:null|"P\d+"),"score":{"(P\d+)":\d,"(P\d+)":\d}'),
                                        r'"winner":null,"score":{"\1":1,"\2":1}'),
        }
        for rule, change in changes.items():
            for found in self.rewrite(self.manager_log, change):
                # One finding a match: that the referee's copy has another text comes first.
                self.assertTrue(found & {rule, "transfer.differs"}, (rule, found))

    def test_a_token_in_a_log_is_found_by_both(self):
        def change(_, raw):
            return raw.replace("tok_ref0...", "tok_ref01_abcdefghijklmnop")
        for found in self.rewrite(self.referee_log, change):
            self.assertIn("secret.token", found)
            self.assertIn("secret.value", found)

    def test_a_promise_to_one_player_is_found_by_both(self):
        def change(record, raw):
            if record.get("message_type") != "CHOOSE_PARITY_CALL":
                return raw
            return raw.replace('"draw_commitment":"', '"draw_commitment":"0', 1)
        for found in self.rewrite(self.referee_log, change):
            self.assertIn("draw.commitment", found)

    def test_witnesses_speak_against_a_manager_that_rewrites_its_log(self):
        for found in self.rewrite(self.manager_log, lambda record, raw: raw + " " if record["seq"] == 3 else raw):
            self.assertIn("witness.head", found)

    def test_the_order_of_a_match_is_checked(self):
        lines = self.referee_log.read_bytes().splitlines()
        good = self.referee_log.read_bytes()
        # The last acknowledgement comes, by its own clock, after everything else.
        at = max(i for i, line in enumerate(lines) if b'"message_type":"GAME_JOIN_ACK"' in line)
        record = json.loads(lines[at])
        lines[at] = lines[at].replace(b'"mono_ns":%d' % record["mono_ns"], b'"mono_ns":%d' % (record["mono_ns"] * 2))
        self.referee_log.write_bytes(b"\n".join(rechained(lines)) + b"\n")
        rules = {fault["rule"] for fault in self.by_program()["faults"]}
        self.referee_log.write_bytes(good)
        self.assertIn("order.choice_before_join", rules)

    def test_a_missing_log_or_segment_is_found(self):
        for path in (self.referee_log, self.manager_log):
            kept = path.with_suffix(".kept")
            shutil.move(path, kept)
            one, other = self.by_program("--chain-only"), self.by_script(True)
            shutil.move(kept, path)
            self.assertEqual(self.found(one), self.found(other))
            self.assertIn("log.missing", {fault["rule"] for fault in one["faults"]})

    def test_a_directory_without_logs_is_an_error(self):
        empty = self.directory / "empty"
        empty.mkdir()
        process = subprocess.run([BIN / "league", "audit", "verify", empty], capture_output=True, text=True, timeout=20)
        self.assertEqual(process.returncode, 2)
        self.assertIn("no conversation logs", process.stderr)
        self.assertIsNone(verify_log.verify(str(empty), False))


class Strange(Bot):
    """A player that plays by the rules and is careless about everything else."""

    def reply(self, frame):
        call = message_in(frame)
        answer = exact_reply(self, call)
        if "message_type" in answer:
            return {**answer, "conversation_id": "convofmyown" + call.get("match_id", "")}
        return {**answer, "message_type": "GAME_OVER", "sender": "player:somebody", "conversation_id": "c" * 150}


class Guests(LeagueTest):
    """What strangers may say without anybody being accused of damage."""

    def test_unusual_conversation_ids_are_no_damage(self):
        manager = self.start_manager(4, 1)
        self.start_referee(manager)
        self.start_players(manager, 3)
        bot = Strange("strange")
        self.addCleanup(bot.close)
        bot.join(manager)
        for conversation in ("c" * 101, None, "", "tok_p01_" + "a" * 52, "c" * 100_000, "\u00e4" * 101):
            answer = bot.say(manager, "league_query", "LEAGUE_QUERY", query_type="GET_STANDINGS",
                             conversation_id=conversation)
            self.assertIn(answer.result()["message_type"], ("LEAGUE_ERROR", "LEAGUE_QUERY_RESPONSE"))
        rpc(manager.url, "start_league", {"operator_key": "op_" + "a" * 52})
        self.wait_until_over(manager, 20)
        self.wait_until_logged("LEAGUE_COMPLETED", 4)
        self.stop_programs()
        rules = {fault["rule"] for fault in verify_log.verify(str(self.directory), False)["faults"]}
        self.assertEqual(rules & {"record.conversation", "secret.token", "secret.value"}, set())
        lines = next((self.logs / "league").rglob("league.log.jsonl")).read_text().splitlines()
        records = [json.loads(line) for line in lines if line.startswith('{"seq"')]
        said = [record for record in records if record.get("conversation_id") == "c" * 101]
        self.assertEqual([(record["kind"], record["verdict"]) for record in said], [("request", "E024")])
        answers = [record for record in records if record["call"] == said[0]["call"] and record["kind"] == "reply"]
        self.assertEqual([record["conversation_id"] for record in answers], ["converror"])
        requests = [record["call"] for record in records if record["kind"] == "request"]
        self.assertEqual(len(requests), len(set(requests)), "each call has a number of its own")


if __name__ == "__main__":
    unittest.main()
