"""A call of a tool is executed at most once, over every transport, whenever the connection breaks."""

import json
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, LeagueTest, rpc

BOT = SOURCE / "tests" / "support" / "plain_mcp_bot.py"
SCHEMES = {"http": "http://127.0.0.1:{}/mcp", "sse": "sse+http://127.0.0.1:{}/sse",
           "websocket": "ws://127.0.0.1:{}/mcp", "tcp": "tcp://127.0.0.1:{}"}
WAYS = [*SCHEMES, "stdio"]
MOMENTS = ("before", "in", "after")
ARGUMENTS = json.dumps({"match_id": "R1M1"})


class AtMostOnce(LeagueTest):
    def server(self, way, moment):
        """An MCP server whose connection breaks at that moment; its endpoint, and the file of its executions."""
        executions = self.directory / f"{way}_{moment}"
        command = [sys.executable, str(BOT), "--transport", way, "--drops", moment, "--executions", str(executions)]
        if way == "stdio":
            return "stdio:" + " ".join(command), executions
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return SCHEMES[way].format(int(process.stdout.readline())), executions

    @staticmethod
    def count(executions):
        return len(executions.read_text()) if executions.exists() else 0

    def call(self, case):
        endpoint, executions = self.server(*case)
        done = subprocess.run([BIN / "league", "call", endpoint, "choose_parity", ARGUMENTS], capture_output=True,
                              text=True, timeout=30)
        return case, done, self.count(executions)

    def test_a_call_over_every_transport(self):
        cases = [(way, moment) for way in WAYS for moment in MOMENTS]
        with ThreadPoolExecutor(4) as pool:
            for (way, moment), done, count in pool.map(self.call, cases):
                with self.subTest(way=way, moment=moment):
                    self.assertLessEqual(count, 1, done.stderr)
                    if moment == "before":
                        self.assertEqual(done.returncode == 0, count == 1, done.stderr)
                    else:
                        self.assertEqual(count, 1, done.stderr)
                    if moment == "after":
                        self.assertEqual(done.returncode, 0, done.stderr)
                    if moment == "in":
                        self.assertNotEqual(done.returncode, 0, done.stdout)
                        if way == "http":
                            self.assertIn("may have been executed", done.stderr)

    def test_a_call_through_the_gateway(self):
        for way in ("http", "sse", "tcp"):
            with self.subTest(way=way):
                endpoint, executions = self.server(way, "in")
                gateway = subprocess.Popen(
                    [BIN / "league", "gateway", "--backend", endpoint, "--port", "0", "--call-timeout", "3000", "--json"],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                url = json.loads(gateway.stdout.readline())["ready"]
                for number in range(1, 4):
                    answer = rpc(url, "tools/call", {"name": "choose_parity", "arguments": {"match_id": "R1M1"}})
                    self.assertIn("error", answer.json, answer)
                    self.assertLessEqual(self.count(executions), number)
                gateway.terminate()
                gateway.wait(10)
                gateway.stdout.close()
                self.assertGreater(self.count(executions), 0)


if __name__ == "__main__":
    unittest.main()
