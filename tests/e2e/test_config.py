"""One file of settings: the programs read it, flags come before it, and faults are told with place and rule."""

import json
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, Program, post, wait_until


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


class ConfigFile(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="league_config_")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.file = self.directory / "league.toml"

    def test_the_file_that_is_shipped_is_right(self):
        shipped = Path(__file__).parents[2] / "config" / "league.toml"
        code, out, err = run(BIN / "league", "config", "check", shipped)
        self.assertEqual((code, err), (0, ""), out)

    def test_every_fault_is_told_with_its_place(self):
        self.file.write_text("[league_manager]\nplayers = 99999\n[referee]\nprt = 3\n[limits.retry]\nmax_attempts = 1000\n")
        code, _, err = run(BIN / "league", "config", "check", self.file)
        self.assertEqual(code, 1)
        for fault in (":2:1: --players: Value 99999 not in range", ":4:1: there is no option prt in [referee]",
                      ":6:1: limits: /retry/max_attempts: 1000 is not between 1 and 100"):
            self.assertIn(f"{self.file}{fault}", err)
        code, _, err = run(BIN / "league_manager", "--config", self.file)
        self.assertEqual(code, 2)
        self.assertIn(f"{self.file}:2:1: ", err)
        code, _, err = run(BIN / "league_manager", "--config", self.directory / "none.toml")
        self.assertEqual(code, 2)
        self.assertIn("none.toml", err)

    def test_what_is_shown_says_where_it_comes_from(self):
        self.file.write_text("[league_manager]\nplayers = 3\nmode = 'strict'\n[limits.retry]\nmax_attempts = 2\n")
        code, out, err = run(BIN / "league", "config", "show", "--json", self.file, "league_manager", "--players", "4")
        self.assertEqual((code, err), (0, ""))
        rows = {row["name"]: (row["value"], row["from"]) for row in json.loads(out)["league_manager"]}
        self.assertEqual(rows["players"], ("4", "command line"))
        self.assertEqual(rows["mode"], ("strict", f"{self.file}:3:1"))
        self.assertEqual(rows["bind"], ("127.0.0.1", "default"))
        code, out, _ = run(BIN / "league", "config", "show", "--json", self.file, "limits")
        rows = {row["name"]: (row["value"], row["from"]) for row in json.loads(out)["limits"]}
        self.assertEqual(rows["retry.max_attempts"], ("2", f"{self.file}:5:1"))
        self.assertEqual(rows["retry.delay_ms"], ("2000", "default"))

    def test_a_league_is_played_with_it_and_goes_on_without_it(self):
        self.file.write_text("[up]\nplayers = 2\nstrategies = 'even,odd'\nmode = 'strict'\n"
                             "[limits.time_limits_ms]\nCHOOSE_PARITY_CALL = 7000\n")
        words = [BIN / "league", "up", "--data", self.directory / "data", "--logs", self.directory / "logs"]
        code, out, err = run(*words, "--config", self.file, "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["matches"], 1)
        kept = json.loads((self.directory / "data" / "league_up.json").read_text())
        self.assertEqual(kept["options"]["mode"], "strict")
        self.assertEqual(kept["limits"], {"time_limits_ms": {"CHOOSE_PARITY_CALL": 7000}})
        code, out, _ = run(BIN / "league", "config", "show", "--json", self.directory / "data" / "league_up.toml", "limits")
        self.assertEqual([row["value"] for row in json.loads(out)["limits"] if row["from"] != "default"], ["7000"])
        self.file.write_text("[up]\nplayers = 3\n")
        code, _, err = run(*words, "--config", self.file)
        self.assertEqual(code, 2)
        self.assertIn("--players", err)

    def test_a_running_manager_reads_it_again(self):
        self.file.write_text(f"[league_manager]\nport = 0\nlog-format = 'json'\ndata = '{self.directory / 'data'}'\n"
                             f"logs = '{self.directory / 'logs'}'\n[limits.budgets]\nstranger_requests_per_second = 300\n")
        manager = Program("league_manager", ["--config", self.file], self.directory)
        self.addCleanup(manager.kill)
        (url, _), = manager.ready()

        def told(event, count=1):
            def lines():
                found = [json.loads(line) for line in manager.whole_stderr().splitlines() if f'"{event}"' in line]
                return found if len(found) >= count else None

            return wait_until(lines, 10, event)[-1]["message"]

        text = self.file.read_text()
        self.file.write_text(text.replace("= 300", "= 5") + "[limits.retry]\nmax_attempts = 2\n")
        manager.process.send_signal(signal.SIGHUP)
        said = told("SETTINGS_READ")
        self.assertIn("new budgets apply from now on", said)
        self.assertIn("a restart is needed for retry.max_attempts", said)
        self.file.write_text(text + "[limits.retry]\nmax_attempts = 0\n")
        manager.process.send_signal(signal.SIGHUP)
        self.assertIn("max_attempts: 0 is not between", told("SETTINGS_REFUSED"))
        self.file.write_text("[league_manager\n")
        manager.process.send_signal(signal.SIGHUP)
        told("SETTINGS_REFUSED", 2)
        # 5 requests in a second, 30 seconds' worth at once: the rest is refused, by a manager that goes on.
        statuses = [post(url, {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status for _ in range(200)]
        self.assertIn(429, statuses)
        self.assertEqual(statuses[0], 200)
        self.assertEqual(manager.stop(), 0)


if __name__ == "__main__":
    unittest.main()
