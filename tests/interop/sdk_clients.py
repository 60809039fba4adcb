"""The official TypeScript SDK, the client of its second version, also through the gateway, and the inspector's command line, as clients of our programs on every transport that they
have: initialize, lists, calls, resources."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from conformance import start
from node_tools import DIRECTORY, ROOT, install, program

PACKAGES = ["@modelcontextprotocol/sdk@1.32.2", "ws@8.23.0"]
SECOND = ["@modelcontextprotocol/client@2.4.0"]
INSPECTOR = ["@modelcontextprotocol/inspector@2.12.0"]


def run(arguments, directory):
    done = subprocess.run(arguments, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    print(f"  {'ok    ' if done.returncode == 0 else 'FAILED'} {' '.join(arguments[1:])[:150]}")
    if done.returncode != 0:
        print(done.stdout[-1500:], done.stderr[-1500:])
    return done


def play_a_league(sdk, scratch):
    """Two chat programs, over HTTP and a WebSocket, and a player of ours; how many of them failed."""
    common = ["--logs", scratch + "/league"]
    manager, url = start([program("league_manager"), "--port", "0", "--data", scratch + "/league", "--players", "3", "--referees", "1", *common])
    agents = [manager]
    try:
        for agent in (["referee", "--admission-key", scratch + "/league/referee.key"], ["player"]):
            agents.append(start([program(agent[0]), "--port", "0", "--manager", url, *agent[1:], *common])[0])
        script = sdk / "sdk_host.mjs"
        shutil.copy(ROOT / "tests" / "interop" / "sdk_host.mjs", script)
        addresses = (url, "ws" + url.removeprefix("http"))
        hosts = [subprocess.Popen(["node", str(script), address], cwd=sdk, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                 for address in addresses]
        failures = 0
        for host in hosts:
            said, _ = host.communicate(timeout=120)
            print(f"  {'ok    ' if host.returncode == 0 else 'FAILED'} {' '.join(host.args[1:])}")
            if host.returncode != 0:
                failures += 1
                print(said[-1500:])
        return failures
    finally:
        for agent in agents:
            agent.terminate()
            agent.wait(timeout=10)


def main():
    sdk = install("sdk", PACKAGES)
    inspector = install("inspector", INSPECTOR)
    second = install("sdk2", SECOND)
    shutil.copy(ROOT / "tests" / "interop" / "sdk2_clients.mjs", second / "sdk2_clients.mjs")
    script = sdk / "sdk_clients.mjs"
    shutil.copy(ROOT / "tests" / "interop" / "sdk_clients.mjs", script)
    failures = 0
    with tempfile.TemporaryDirectory(dir=DIRECTORY) as scratch:
        player = [program("player"), "--standalone", "--logs", scratch + "/player"]
        manager = [program("league_manager"), "--port", "0", "--data", scratch + "/data", "--logs", scratch + "/manager"]
        for role, arguments in (("player", player + ["--port", "0"]), ("manager", manager)):
            process, url = start(arguments)
            host = url.split("//")[1].split("/")[0]
            try:
                for address in (url, f"ws://{host}/mcp", f"sse+http://{host}/sse"):
                    failures += run(["node", str(script), address, role], sdk).returncode != 0
                gateway, front = start([program("league"), "gateway", "--backend", url, "--port", "0"])
                for address in (url, front):
                    for mode in ("auto", "legacy"):
                        failures += run(["node", "sdk2_clients.mjs", address, mode], second).returncode != 0
                gateway.terminate()
                gateway.wait(timeout=10)
                done = run(["npx", "--offline", "mcp-inspector", "--cli", url, "--transport", "http", "--method", "tools/list"],
                           inspector)
                failures += done.returncode != 0 or not json.loads(done.stdout)["tools"]
                done = run(["npx", "--offline", "mcp-inspector", "--cli", url, "--transport", "http", "--method", "tools/call",
                            "--tool-name", "ping"], inspector)
                failures += done.returncode != 0
            finally:
                process.terminate()
                process.wait(timeout=10)
        failures += play_a_league(sdk, scratch)
        command = " ".join(player + ["--transport", "stdio"])
        failures += run(["node", str(script), f"stdio:{command}", "player"], sdk).returncode != 0
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    sys.exit(main())
