"""npm's servers are killed and started again: behind the gateway, and as a player in a league. Nothing is lost but the
call in flight."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import everything
import node_tools
import sdk_player
from sdk_clients import PACKAGES


def children_of(pid):
    return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def behind_the_gateway(league, script):
    for transport in ("streamableHttp", "sse", "stdio"):
        port = everything.free_port()
        server = None if transport == "stdio" else everything.Everything(script, transport, port)
        url = server.url if server else f"stdio:node {script} stdio"
        gateway = subprocess.Popen([league, "gateway", "--backend", url, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
        try:
            address = json.loads(gateway.stdout.readline())["ready"]
            for life in range(3):
                said = everything.call(league, address, "echo", f"message=life {life}")
                assert said.returncode == 0 and f"life {life}" in said.stdout, f"{transport}, life {life}: {said}"
                if server:
                    server.stop()
                    server = everything.Everything(script, transport, port)
                else:
                    for child in children_of(gateway.pid):
                        os.kill(child, signal.SIGKILL)
            print(f"ok: server-everything over {transport} was killed twice behind the gateway")
        finally:
            gateway.terminate()
            gateway.wait(20)
            gateway.stdout.close()
            if server:
                server.stop()


def start_player(script, port, said):
    process = subprocess.Popen(["node", str(script), str(port)], stdout=open(said, "ab"), stderr=subprocess.STDOUT)
    everything.wait_for(port, process)
    return process


def in_a_league():
    sdk = node_tools.install("sdk", PACKAGES)
    script = sdk / "sdk_player_http.mjs"
    shutil.copy(node_tools.ROOT / "tests" / "interop" / "sdk_player_http.mjs", script)
    port = everything.free_port()
    endpoint = f"http://127.0.0.1:{port}/mcp"
    with tempfile.TemporaryDirectory(dir=node_tools.DIRECTORY) as scratch:
        directory = pathlib.Path(scratch)
        said = directory / "said"
        player = start_player(script, port, said)
        running = sdk_player.League(directory, "127.0.0.1")
        try:
            sdk_player.league("enter", running.url, "--name", "sdk", "--endpoint", endpoint)
            deadline = time.monotonic() + 30
            while "chooses in R1" not in said.read_text():
                assert time.monotonic() < deadline, said.read_text()
                time.sleep(0.01)
            player.kill()
            player.wait()
            player = start_player(script, port, said)
            status = sdk_player.wait_for_end(running)
        finally:
            running.stop()
            player.kill()
            player.wait()
        words = said.read_text()
        assert status["technical_losses"] == 0, (status, words)
        assert words.count("chooses in R") >= sdk_player.OURS, words
        assert words.count("initialized") >= 2, "it was initialised again"
        assert json.loads(sdk_player.league("audit", "verify", directory, "--json").stdout)["faults"] == []
        print("ok: a server of the SDK was killed and started again in a league and played on")


def main():
    league = node_tools.program("league")
    directory = node_tools.install("everything", [everything.PACKAGE])
    script = directory / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    behind_the_gateway(league, script)
    in_a_league()
    return 0


if __name__ == "__main__":
    sys.exit(main())
