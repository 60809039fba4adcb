"""What `league audit` says about real leagues: of good bots, of bad ones, and of one that was stopped."""

import base64
import hashlib
import hmac
import json
import re
import signal
import sqlite3
import subprocess
import sys
import tarfile
import unittest

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, message, rpc, wait_until

# Number by match id, seed and choices: the values that game/draw_test.cpp expects of the program.
KNOWN_DRAWS = {
    ("R1M1", "00" * 32): {"even even": 3, "even odd": 4, "odd even": 1, "odd odd": 3},
    ("R12M345", "00" * 32): {"even even": 9, "even odd": 8, "odd even": 10, "odd odd": 1},  # 8: 0xfd is rejected
    ("R12M345", "ff" * 32): {"even even": 8, "even odd": 4, "odd even": 3, "odd odd": 9},
}
IMPATIENT = limits(
    retry={"max_attempts": 2, "delay_ms": 20},
    time_limits_ms={
        "GAME_INVITATION": 600, "CHOOSE_PARITY_CALL": 600, "GAME_OVER": 300, "GAME_ERROR": 300,
        "ROUND_ANNOUNCEMENT": 500, "LEAGUE_STANDINGS_UPDATE": 500, "ROUND_COMPLETED": 500, "LEAGUE_COMPLETED": 500,
    },
)


class AuditTools(LeagueTest):
    def audit(self, *arguments, code=0, codes=None):
        process = subprocess.run([BIN / "league", "audit", *arguments], capture_output=True, text=True, timeout=60)
        self.assertIn(process.returncode, codes or [code], process.stdout[-2000:] + process.stderr)
        return process.stdout

    def verify_draw(self, *arguments):
        script = SOURCE / "docs" / "verify_draw.py"
        return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, timeout=20).returncode

    def played_league(self):
        manager = self.start_manager(4, 1)
        self.start_referee(manager, "--data", self.directory / "data")
        self.start_players(manager, 4, "random,opposite", "--data", self.directory / "data")
        self.wait_until_over(manager, 20)
        self.wait_until_logged("LEAGUE_COMPLETED", 5)
        self.stop_programs()

    def test_the_script_verifies_known_draws(self):
        for (match, seed), numbers in KNOWN_DRAWS.items():
            promise = hashlib.sha256(bytes.fromhex(seed) + match.encode()).hexdigest()
            for choices, number in numbers.items():
                self.assertEqual(self.verify_draw(promise, seed, match, *choices.split(), number), 0)
                self.assertEqual(self.verify_draw(promise, seed, match, *choices.split(), number % 10 + 1), 1)
            self.assertEqual(self.verify_draw(promise, "01" * 32, match, "even", "odd", numbers["even odd"]), 1)

    def test_a_player_verifies_its_draws_with_what_it_was_told(self):
        self.played_league()
        promises = {}
        verified = 0
        for record in Log(self.logs).matching(agent="player:P01", dir="in"):
            body = record["message"]
            for match in body.get("matches", []):
                promises.setdefault(match["match_id"], match)
            if body.get("message_type") == "GAME_OVER":
                match = promises[body["match_id"]]
                choices = [body["game_result"]["choices"][match[player]] for player in ("player_A_id", "player_B_id")]
                nonces = [body["choice_nonces"][match[player]] for player in ("player_A_id", "player_B_id")]
                self.assertEqual(body["draw_version"], 2)
                self.assertEqual(0, self.verify_draw(match["draw_commitment"], body["draw_proof"], body["match_id"],
                                                     *choices, body["game_result"]["drawn_number"], *nonces))
                verified += 1
        self.assertEqual(verified, 3)

    def test_tables_that_do_not_follow_from_the_journal_are_found(self):
        self.played_league()
        for name, old, new in (("standings", '"points":', '"points":1'), ("rounds", '"drawn_number":', '"drawn_number":1')):
            path, = (self.directory / "data" / "leagues").rglob(name + ".json")
            good = path.read_text()
            path.write_text(good.replace(old, new, 1))
            faults = json.loads(self.audit("verify", self.directory, "--json", code=1))["faults"]
            self.assertEqual({fault["rule"] for fault in faults}, {"projection." + name})
            line = 1 + good[:good.index(old)].count("\n")
            self.assertIn(line, [fault["line"] for fault in faults])
            path.write_text(good)
        self.audit("verify", self.directory)

    def test_the_commands_of_the_manual_work(self):
        self.played_league()
        manual = (SOURCE / "docs" / "auditing.md").read_text().split("## By hand")[1].split("\n## ")[0]
        blocks = re.findall(r"^```\n(.*?)^```", manual, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 7)
        outputs = []
        for block in (block for block in blocks if "python3 docs/" not in block):
            script = "LOG=agents/P01.log.jsonl\n" + block
            outputs.append(subprocess.run(["bash", "-c", script], cwd=self.logs, capture_output=True, text=True,
                                          timeout=20).stdout.splitlines())
        chain, seal, witness, transfer, draw, opening = outputs
        self.assertEqual(len({re.search("[0-9a-f]{64}", line).group() for line in chain}), 1, chain)
        self.assertEqual(seal[:2], ["Signature Verified Successfully", "1"])
        self.assertGreaterEqual(int(seal[2]), 1)
        self.assertGreaterEqual(int(witness[0]), 1)
        self.assertEqual(transfer, ["agents/P01.log.jsonl", "agents/REF01.log.jsonl"])
        self.assertEqual({re.match(r"\w+", line).group() for line in draw},
                         {"draw_commitment", "opponent_commitment", "drawn_number", "choices", "draw_proof", "draw_version",
                          "choice_commitments", "choice_nonces", "role_in_match"}, draw)
        self.assertRegex(opening[0], "^[0-9a-f]{64}  -$")

    def test_a_league_of_good_bots(self):
        self.played_league()
        self.assertIn("nothing is wrong", self.audit("verify", self.directory))
        self.audit("find", self.directory, "--error", "any", code=1)
        text = self.audit("explain", self.directory, "R1M1")
        for part in ("GAME_INVITATION", "CHOOSE_PARITY_RESPONSE", "the number was", "so both run on the same machine"):
            self.assertIn(part, text)
        self.assertNotIn("whose fault", text)

    def test_a_league_of_bad_bots_is_explained_and_not_accused(self):
        bad = ["slow:2500", "silent", "garbage", "invalid", "wrong-match", "crash"]
        manager = self.start_manager(len(bad) + 2, 1, limits=IMPATIENT)
        self.start_referee(manager, limits=IMPATIENT)
        ids = {}
        for strategy in bad:
            agent, = self.start_players(manager, 1, strategy, name="bad_" + strategy.split(":")[0].replace("-", "_"))
            ids[agent.id] = strategy
        self.start_players(manager, 2, "random", name="good")
        self.wait_until_over(manager, 60)
        self.wait_until_logged("LEAGUE_COMPLETED", 3)
        self.stop_programs()
        report = json.loads(self.audit("verify", self.directory, "--json", codes=[0, 1]))
        self.assertEqual([], report["faults"] + report["missing"])
        ended_by_manager = {i["text"].split()[0] for i in report["incidents"] if i["rule"] == "draw.unrevealed"}
        for match in ended_by_manager:
            self.assertIn("ended by the manager itself", self.audit("explain", self.directory, match))
        explained = set()
        for record in Log(self.logs).matching(agent="referee:REF01", message_type="MATCH_RESULT_REPORT"):
            text = self.audit("explain", self.directory, record["match_id"])
            if "TECHNICAL_LOSS" not in text:
                continue
            self.assertIn("whose fault it was", text)
            for player, strategy in ids.items():
                if f"The fault is player:{player}'s" in text:
                    explained.add(strategy)
        self.assertEqual(explained, set(bad))
        for code in ("E001", "E004", "E009", "E010", "E015"):
            self.assertIn(code, self.audit("find", self.directory, "--error", code))

    def test_a_page_runs_nothing_that_a_bot_has_written(self):
        manager = self.start_manager(2, 1)
        evil = "<script>alert('x')</script>"
        meta = {"display_name": evil, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": "http://localhost:9/mcp"}
        rpc(manager.url, "register_player",
            {**message("LEAGUE_REGISTER_REQUEST", "player:x", player_meta=meta), "conversation_id": evil})
        wait_until(lambda: evil.encode() in b"".join(p.read_bytes() for p in self.logs.rglob("*.jsonl")), 5, "logged")
        page = self.directory / "page.html"
        self.audit("explain", self.directory, evil, "--html", page)
        text = page.read_text()
        self.assertIn("&lt;script&gt;", text)
        self.assertNotIn("<script", text)

    def stopped_league(self):
        """A league that is stopped in the middle of a round, so that there are seeds that nobody may know."""
        patient = limits(time_limits_ms={"CHOOSE_PARITY_CALL": 5000})
        manager = self.start_manager(6, 1, limits=patient)
        referee = self.start_referee(manager, "--max-matches", 1, "--data", self.directory / "data", limits=patient)
        self.start_players(manager, 6, "slow:600", "--data", self.directory / "data")
        wait_until(lambda: self.status(manager)["matches_completed"] >= 1, 30, "the first match is over")
        # The second match has begun, and its players think. Without them its referee would report technical losses.
        referee.program.stop()
        self.stop_programs()

    def secrets_of(self, data):
        """Everything that must not leave the house, by name."""
        secrets = {name: (data / name).read_text().strip() for name in ("operator.key", "log.key")}
        key = (data / "secret.key").read_bytes()
        secrets["secret.key"] = key.hex()
        secrets["secret.key, base 32"] = base64.b32encode(key).decode().lower().rstrip("=")
        for path in (data / "agents").iterdir():
            if path.suffix == ".key":
                secrets[path.name] = path.read_text().strip()
            elif path.suffix == ".json":
                identity = json.loads(path.read_text())
                secrets[path.name] = identity["auth_token"]
                for match in (f"R{r}M{n}" for r in range(1, 6) for n in range(1, 4)):
                    digest = hmac.digest(identity["auth_token"].encode(), f"{match}#1".encode(), "sha256")
                    secrets[f"credential of {identity['id']} in {match}"] = digest.hex()
        with sqlite3.connect(data / "journal" / "journal.sqlite") as journal:
            for (payload,) in journal.execute("SELECT payload FROM entries WHERE type = 'AGENT_REGISTERED'"):
                event = json.loads(payload)
                secrets["nonce of " + event["agent"]] = event["credential"]["nonce"]
        open_seeds = self.unfinished_seeds(data)
        self.assertTrue(open_seeds)
        return {**secrets, **open_seeds}

    def unfinished_seeds(self, data):
        """The seeds of the matches that have no result in the journal, by name."""
        seeds, finished = {}, set()
        with sqlite3.connect(data / "journal" / "journal.sqlite") as journal:
            for kind, payload in journal.execute("SELECT type, payload FROM entries ORDER BY sequence"):
                event = json.loads(payload)
                if kind == "ROUND_STARTED":
                    for number, match in enumerate(event["matches"] if "matches" in event else event["draw_seeds"], 1):
                        seed = match["draw_seed"] if isinstance(match, dict) else match
                        seeds[f"R{event['round']}M{number}"] = seed
                elif kind in ("MATCH_REPORTED", "MATCH_FORFEITED"):
                    finished.add(event["match"])
        return {f"seed of {match}": seed for match, seed in seeds.items() if match not in finished}

    def unpack(self, archive):
        with tarfile.open(archive) as packed:
            packed.extractall(self.directory / archive.stem)
        return self.directory / archive.stem / "league-bundle"

    def assert_holds_none(self, bundle, secrets):
        for path in [p for p in bundle.rglob("*") if p.is_file()]:
            content = path.read_bytes()
            for name, secret in secrets.items():
                self.assertNotIn(secret.encode(), content, f"{path} holds {name}")
                self.assertNotIn(bytes.fromhex(secret) if len(secret) == 64 and " " not in secret
                                 and all(c in "0123456789abcdef" for c in secret) else b"\0\1\2\3", content)

    def test_a_bundle_can_be_verified_and_holds_no_secret(self):
        self.stopped_league()
        secrets = self.secrets_of(self.directory / "data")
        archive = self.directory / "clean.tar.gz"
        self.audit("bundle", self.directory, archive)
        bundle = self.unpack(archive)
        self.assert_holds_none(bundle, secrets)
        self.assertIn("left out of the bundle: data/journal/", self.audit("verify", bundle, code=1))
        self.assertIn("nothing is wrong", self.audit("verify", bundle, "--without", "keys,journal,operations,others"))
        manifest = json.loads((bundle / "MANIFEST.json").read_text())
        self.assertEqual(manifest["redacted_lines"], [])
        self.assertTrue(manifest["left_out"])
        listed = {file["path"]: file["sha256"] for file in manifest["files"]}
        there = {str(p.relative_to(bundle)): hashlib.sha256(p.read_bytes()).hexdigest()
                 for p in bundle.rglob("*") if p.is_file() and p.name != "MANIFEST.json"}
        self.assertEqual(listed, there)
        self.assertIn("data/results.json", there)
        self.audit("bundle", self.directory, archive, code=2)  # it is there already

    def test_an_honest_referee_is_not_accused_when_a_bundle_masks_a_line_of_its_log(self):
        """A report that the manager did not accept holds a seed that may be used again, so the bundle masks it."""
        patient = limits(time_limits_ms={"CHOOSE_PARITY_CALL": 5000, "MATCH_RESULT_REPORT": 500})
        manager = self.start_manager(2, 1, limits=patient)
        self.start_referee(manager, limits=patient)
        self.start_players(manager, 2, "slow:1000")
        self.wait_until_logged("GAME_INVITATION", 2, 30)
        manager.program.process.send_signal(signal.SIGSTOP)

        def reports():
            return Log(self.logs).matching(agent="referee:REF01", dir="out", kind="request", message_type="MATCH_RESULT_REPORT")

        wait_until(reports, 30, "a report was not answered")
        manager.program.kill()
        self.stop_programs()
        proof = reports()[0]["message"]["result"]["details"]["draw_proof"]
        self.assertEqual(list(self.unfinished_seeds(self.directory / "data").values()), [proof])
        archive = self.directory / "killed.tar.gz"
        self.audit("bundle", self.directory, archive, code=1)
        bundle = self.unpack(archive)
        self.assert_holds_none(bundle, {"the seed": proof})
        manifest = json.loads((bundle / "MANIFEST.json").read_text())
        masked = {(str(bundle / line["file"]), line["line"]) for line in manifest["redacted_lines"]}
        self.assertEqual({file for file, _ in masked}, {str(bundle / "logs" / "agents" / "REF01.log.jsonl")})
        for command in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
            verified = subprocess.run([*command, "--json", "--without", "keys,journal,operations,others", bundle], capture_output=True, text=True, timeout=60)
            self.assertEqual(verified.returncode, 1, verified.stdout)
            report = json.loads(verified.stdout)
            self.assertEqual(report["faults"], [])
            self.assertEqual({(one["file"], one["line"]) for one in report["missing"]}, masked)
            self.assertEqual({one["rule"] for one in report["missing"]}, {"line.masked"})

    def test_secrets_that_are_where_none_should_be_stay_at_home(self):
        self.stopped_league()
        data = self.directory / "data"
        secrets = self.secrets_of(data)
        everything = json.dumps(secrets) + "\n" + "\n".join(secrets.values()) + "\n"
        (self.logs / "notes.stderr.log").write_text(everything)
        (self.logs / "notes.txt").write_text(everything)
        (data / "notes.json").write_text(everything)
        for folder in ("leagues/x", "matches/x", "players/P01"):
            (data / folder).mkdir(parents=True, exist_ok=True)
            shown = {name: value for name, value in secrets.items() if not name.startswith("credential")}
            (data / folder / "planted.json").write_text(json.dumps({"planted": shown}))
            (data / folder / "link.json").symlink_to(data / "operator.key")
        (data / "players" / "P01" / "credentials.json").write_text(
            json.dumps({"match_credentials": {"auth_token": v for n, v in secrets.items() if n.startswith("cred")}}))
        log = self.logs / "agents" / "P01.log.jsonl"
        for name in ("operator.key", "log.key", "player_bot_1.json"):
            secret = next(value for key, value in secrets.items() if key == name or key.startswith("player"))
            with open(log, "a") as planted:
                planted.write('{"seq":0,"raw":"%s"}\n' % secret)
        archive = self.directory / "planted.tar"
        self.audit("bundle", self.directory, archive, code=1)
        bundle = self.unpack(archive)
        self.assert_holds_none(bundle, secrets)
        self.assertEqual([p for p in bundle.rglob("link.json")], [])
        named = {line["file"] for line in json.loads((bundle / "MANIFEST.json").read_text())["redacted_lines"]}
        self.assertIn("logs/agents/P01.log.jsonl", named)
        self.assertIn("data/leagues/x/planted.json", named)


if __name__ == "__main__":
    unittest.main()
