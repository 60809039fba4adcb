"""Logs of a league with seats that their owners have rewritten, with their own keys: a manager that abuses the word with which it
marks what it passes on, and agents that say that they were called, or answered, otherwise. Both verifiers name them."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, SOURCE
from seat_testing import SeatTest

sys.path.insert(0, str(SOURCE / "tests" / "corpus"))
from resealing import key_of, reseal  # noqa: E402

OTHER = {"even": "odd", "odd": "even"}
VERIFIERS = {"program": [BIN / "league", "audit", "verify"], "script": [sys.executable, SOURCE / "scripts" / "verify_log.py"]}


def chosen_otherwise(record):
    record["raw"] = re.sub(r'"parity_choice":"(\w+)"', lambda found: f'"parity_choice":"{OTHER[found[1]]}"', record["raw"])


def with_its_digest(record):
    chosen_otherwise(record)
    record["raw_sha256"] = hashlib.sha256(record["raw"].encode()).hexdigest()


def unmarked(record):
    del record["via"]


def passed_on_for_another(record):
    """A report of which it says that it has passed it on, for a referee that did not send it."""
    record.update(via="seat", peer="referee:REF07", said_by="referee:REF07")


def from_somebody_else(record):
    record["via"] = "seat"
    record["raw"] = record["raw"].replace('"sender":"player:P', '"sender":"player:Q')


def passed_on(record):
    return record.get("via") == "seat" and record.get("message_type") == "CHOOSE_PARITY_RESPONSE"


def answers(record):
    return record.get("message_type") == "CHOOSE_PARITY_RESPONSE"


def reports(record):
    return record.get("message_type") == "MATCH_RESULT_REPORT" and record["kind"] == "request"


# Whose log, which records, what it makes of them, what the program must find in each, and the script. That the log was rewritten
# is found in any case, since its recipients have heads of it; these are what a manager is caught by that lies from the start.
LIES = [
    ("manager", passed_on, chosen_otherwise, {"transfer.differs"}, {"transfer.differs"}),
    ("manager", passed_on, unmarked, {"authority.sender"}, set()),
    ("manager", reports, passed_on_for_another, {"authority.peer"}, {"authority.report"}),
    ("player", answers, chosen_otherwise, {"transfer.differs"}, {"transfer.differs"}),
    ("player", answers, with_its_digest, {"choice.differs", "transfer.one_sided"}, {"choice.differs", "transfer.one_sided"}),
    ("player", answers, from_somebody_else, {"transfer.differs"}, {"transfer.differs"}),
    ("referee", answers, with_its_digest, {"transfer.one_sided"}, {"transfer.one_sided"}),
    ("referee", answers, from_somebody_else, {"authority.peer"}, {"transfer.differs"}),
]
REWRITTEN = {"manager": "witness.head", "player": "witness.agent_head", "referee": "witness.agent_head"}


class Lies(SeatTest):
    def play(self):
        manager = self.start_manager(3, 1)
        self.start_referee(manager, "--data", self.directory / "data")
        self.liar, _ = self.start_outward(manager, 2, name="out")
        self.start_players(manager, 1, "random", "--data", self.directory / "data")
        self.wait_until_over(manager, 30)
        self.wait_until_logged("LEAGUE_COMPLETED", 4)
        self.stop_programs()
        self.assert_verified()
        league = next((self.logs / "league").rglob("league.log.jsonl")).relative_to(self.directory)
        identity = next(path for path in (self.directory / "data" / "agents").glob("player_out*.json")
                        if json.loads(path.read_text())["id"] == self.liar)
        self.owners = {"manager": (league, "data/log.key"),
                       "player": (f"logs/agents/{self.liar}.log.jsonl", f"data/agents/{identity.stem}.log.key"),
                       "referee": ("logs/agents/REF01.log.jsonl", "data/agents/referee_whistle.log.key")}

    def told(self, owner, which, lie):
        """The rules that each verifier says are broken when the owner of a log has rewritten these records."""
        log, key = self.owners[owner]
        with tempfile.TemporaryDirectory(prefix="league_e2e_") as place:
            copy = Path(place) / "league"
            shutil.copytree(self.directory, copy)

            def rewrite(lines):
                found = [line for line in lines if which(line)]
                self.assertTrue(found, (owner, lie.__name__))
                for line in found:
                    lie(line)

            reseal(copy / log, key_of(copy / key), rewrite)
            for name, command in VERIFIERS.items():
                done = subprocess.run([*map(str, command), "--json", str(copy)], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 1, (owner, lie.__name__, done.stdout[:1000], done.stderr))
                yield name, {one["rule"] for one in json.loads(done.stdout)["faults"]}

    def test_they_are_found(self):
        self.play()
        for owner, which, lie, by_program, by_script in LIES:
            expected = {"program": by_program, "script": by_script}
            for name, found in self.told(owner, which, lie):
                self.assertLessEqual(expected[name] | {REWRITTEN[owner]}, found, (owner, lie.__name__, name))


if __name__ == "__main__":
    unittest.main()
