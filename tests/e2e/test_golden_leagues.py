"""Leagues of older programs (tests/golden/leagues): they still verify, and one that was killed goes on."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest
from contextlib import closing

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits

GOLDEN = SOURCE / "tests" / "golden" / "leagues"
LEAGUE = "golden_cup"
PATIENT = limits(
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 100, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)


def token(secret, identity, nonce):
    """As the manager makes them."""
    mac = hmac.new(secret, f"{LEAGUE}|{identity}|{nonce}".encode(), hashlib.sha256).digest()
    return f"tok_{identity.lower()}_" + base64.b32encode(mac).decode().rstrip("=").lower()


class GoldenLeagues(LeagueTest):
    def verify(self, league):
        copy = self.directory / league
        shutil.copytree(GOLDEN / league, copy)
        for command in ([BIN / "league", "audit", "verify", copy],
                        [sys.executable, SOURCE / "scripts" / "verify_log.py", copy]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_finished_league_verifies(self):
        self.verify("finished")

    def test_a_killed_league_verifies(self):
        self.verify("half")

    def own(self, data):
        """Gives the league in `data` a secret of its own; returns the agents' registrations and tokens by id."""
        secret = os.urandom(32)
        (data / "secret.key").write_bytes(secret)
        (data / "secret.key").chmod(0o600)
        agents = {}
        with closing(sqlite3.connect(data / "journal" / "journal.sqlite")) as journal:
            digest = bytes(32)
            for sequence, kind, text in journal.execute(
                    "SELECT sequence, type, payload FROM entries ORDER BY sequence").fetchall():
                event = json.loads(text)
                if kind == "AGENT_REGISTERED":
                    agents[event["agent"]] = (event, token(secret, event["agent"], event["credential"]["nonce"]))
                    event["credential"]["token_hash"] = hashlib.sha256(agents[event["agent"]][1].encode()).hexdigest()
                    # The recorded ports may meanwhile be another program's here, and an address belongs to one agent.
                    event["profile"]["endpoint"] = f"http://localhost:{20000 + sequence}/mcp"
                    text = json.dumps(event, separators=(",", ":"), sort_keys=True)
                digest = hashlib.sha256(digest + f"{kind}\n{text}".encode()).digest()
                journal.execute("UPDATE entries SET payload = ?, digest = ? WHERE sequence = ?", (text, digest, sequence))
            journal.commit()
        return agents

    def results(self, data):
        with closing(sqlite3.connect(f"file:{data}/journal/journal.sqlite?mode=ro", uri=True)) as journal:
            rows = journal.execute("SELECT payload FROM entries WHERE type = 'MATCH_REPORTED'").fetchall()
        return {event["match"]: event["result"] for event in (json.loads(row[0]) for row in rows)}

    def test_a_killed_league_goes_on(self):
        data = self.directory / "data"
        shutil.copytree(GOLDEN / "half" / "data", data)
        shutil.copytree(GOLDEN / "half" / "logs", self.logs)
        agents = self.own(data)
        before = self.results(data)
        self.assertGreaterEqual(len(before), 3)
        program = self.start("league_manager", "--data", data, limits=PATIENT)
        (url, _), = program.ready()
        manager = Agent(program, url, LEAGUE)
        self.assertEqual(self.status(manager)["matches_completed"], len(before))
        (data / "agents").mkdir()
        for identity, (event, secret) in agents.items():
            name = event["profile"]["display_name"]
            role = "referee" if identity.startswith("REF") else "player"
            kept = {"schema_version": 1, "manager": url, "port": 0, "id": identity, "auth_token": secret,
                    "league_id": LEAGUE}
            path = data / "agents" / f"{role}_{name}.json"
            path.write_text(json.dumps(kept))
            path.chmod(0o600)
        players = self.start_players(manager, 4, "random", "--data", data, limits=PATIENT)
        referee = self.start_referee(manager, "--data", data, limits=PATIENT)
        self.assertEqual(sorted(agent.id for agent in [*players, referee]), sorted(agents))
        self.assertEqual(self.wait_until_over(manager)["matches_completed"], 6)
        self.assert_table_agrees(manager)
        after = self.results(data)
        self.assertEqual({match: after[match] for match in before}, before)


if __name__ == "__main__":
    unittest.main()
