"""`league backup`: a copy of a running league with which it can be continued."""

import json
import shutil
import stat
import subprocess
import sys
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, limits, wait_until

VERIFIERS = {"program": [BIN / "league", "audit", "verify"], "script": [sys.executable, SOURCE / "scripts" / "verify_log.py"]}

PATIENT = limits(
    league={"referee_ping_interval_ms": 200, "referee_ping_failures": 200, "max_match_attempts": 15},
    life_cycle={"suspend_after_failed_matches": 1000},
    retry={"delay_ms": 100},
)


class BackupTest(LeagueTest):
    @property
    def data(self):
        return self.directory / "data"

    def back_up(self, *words, code=0):
        done = subprocess.run([BIN / "league", "backup", *map(str, words)], capture_output=True, text=True,
                              cwd=self.directory, timeout=30, check=False)
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def start_league(self, strategy="slow:20"):
        self.manager = self.start_manager(6, 1, limits=PATIENT)
        self.start_players(self.manager, 6, strategy, "--data", self.directory / "agents", limits=PATIENT)
        self.start_first_referee()

    def start_first_referee(self):
        self.referee = self.start_referee(self.manager, "--data", self.directory / "agents", limits=PATIENT)

    def manager_again(self, *arguments):
        program = self.start("league_manager", "--data", self.data, *arguments,
                             port=urlsplit(self.manager.url).port, limits=PATIENT)
        (url, league_id), = program.ready()
        self.manager = Agent(program, url, league_id)

    def wait_for_matches(self, count):
        wait_until(lambda: self.status(self.manager)["matches_completed"] >= count, 30, f"{count} matches")

    def accepted_in_log(self):
        """The matches whose accepted reports stand in the manager's log, which is written up to 100 ms later."""
        lines = [json.loads(line) for path in self.logs.glob("league/*/*.jsonl")
                 for line in path.read_text().split("\n")[:-1] if '"dir":"out","kind":"reply"' in line]
        return {line["match_id"] for line in lines if line.get("conversation_id", "").startswith("convr")
                and json.loads(line["raw"]).get("result", {}).get("status") == "ok"}

    def verify(self):
        """What both verifiers say of a league in which nothing is wrong: rule to texts of the incidents, by verifier."""
        self.stop_programs()
        incidents = {}
        for name, command in VERIFIERS.items():
            done = subprocess.run([*command, self.directory, "--json"], capture_output=True, text=True, timeout=120, check=False)
            report = json.loads(done.stdout)
            self.assertEqual((report["faults"], report["missing"], done.returncode), ([], [], 0), name)
            incidents[name] = {}
            for one in report["incidents"]:
                incidents[name].setdefault(one["rule"], []).append(one["text"])
        return incidents

    def test_a_league_is_restored_in_the_middle_and_goes_on_to_its_end(self):
        self.start_league()
        self.wait_for_matches(4)
        self.referee.program.kill()  # nothing is accepted after the copy
        summary = json.loads(self.back_up("copy", "--json"))
        self.assertGreaterEqual(summary["matches_completed"], 4)
        before = self.standings(self.manager)
        self.manager.program.kill()
        shutil.rmtree(self.data)
        shutil.copytree(self.directory / "copy", self.data)
        self.manager_again()
        self.assertEqual(self.standings(self.manager), before)
        self.start_first_referee()
        status = self.wait_until_over(self.manager)
        self.assertEqual(status["matches_completed"], 15)
        self.assert_table_agrees(self.manager)
        self.verify()

    def test_an_older_copy_is_restored_with_its_logs(self):
        self.start_league("slow:300")
        self.wait_for_matches(3)
        shutil.copytree(self.logs, self.directory / "logs_then")
        self.back_up("data", "copy")
        kept = json.loads(self.back_up("copy", "copy2", "--json"))["matches_completed"]
        self.wait_for_matches(kept + 3)
        wait_until(lambda: len(self.accepted_in_log()) >= kept + 3, 20, "the log has them too")
        self.kill_programs()
        shutil.rmtree(self.data)
        shutil.copytree(self.directory / "copy", self.data)
        done = subprocess.run(
            [BIN / "league_manager", "--port", "0", "--data", self.data, "--logs", self.logs], capture_output=True,
            text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("league.log.jsonl says that", done.stderr)
        self.assertIn("Back up and restore", done.stderr)
        self.logs.rename(self.directory / "logs_after")
        (self.directory / "logs_then").rename(self.logs)
        self.manager_again()
        self.start_players(self.manager, 6, "slow:20", "--data", self.directory / "agents", limits=PATIENT)
        self.start_first_referee()
        status = self.wait_until_over(self.manager)
        self.assertEqual(status["matches_completed"], 15)
        self.assert_table_agrees(self.manager)
        self.verify()

    def test_the_copy_is_whole_and_secret(self):
        self.start_league()
        self.wait_for_matches(1)
        shutil.copytree(self.directory / "agents" / "agents", self.data / "agents")
        self.back_up("copy")
        copy = self.directory / "copy"
        names = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file())
        self.assertEqual([name for name in names if not name.startswith("agents/")],
                         ["journal/journal.sqlite", "log.key", "operator.key", "referee.key", "secret.key"])
        self.assertIn("agents/player_bot1.json", names)
        self.assertFalse([name for name in names if name.endswith(".lock")])
        for name in names:
            if name != "journal/journal.sqlite":
                self.assertEqual(stat.S_IMODE((copy / name).stat().st_mode), 0o600, name)
                self.assertEqual((copy / name).read_bytes(), (self.data / name).read_bytes())
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((copy / "journal").stat().st_mode), 0o700)

    def test_refusals(self):
        self.assertIn("contains no league", self.back_up("copy", code=2))
        self.start_manager(2, 1).program.stop()
        self.back_up("copy")
        self.assertIn("not empty", self.back_up("copy", code=2))
        (self.directory / "empty").mkdir()
        self.back_up("empty/")
        self.assertTrue((self.directory / "empty" / "journal" / "journal.sqlite").exists())
        with open(self.data / "journal" / "journal.sqlite", "r+b") as journal:
            journal.seek(4096)
            journal.write(b"\xff" * 200)
        self.assertIn("is damaged", self.back_up("damaged", code=2))
        self.assertEqual(list(self.directory.glob("damaged*")), [])


if __name__ == "__main__":
    unittest.main()
