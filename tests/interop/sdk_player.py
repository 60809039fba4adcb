"""A server of the official TypeScript SDK plays a league on standard streams, beside our players."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from node_tools import DIRECTORY, ROOT, install, program
from sdk_clients import PACKAGES

OURS = 3
COMMAND = "stdio:node "


class League:
    """A manager with a referee and our players as processes; the files are in `directory`."""

    def __init__(self, directory, endpoint):
        self.directory = directory
        self.processes = []
        logs = ["--logs", directory / "logs"]
        self.url = self._start("league_manager", "--port", 0, "--data", directory / "data", "--players", OURS + 1,
                               "--referees", 1, "--endpoints", "local," + endpoint, *logs)
        self._start("referee", "--port", 0, "--manager", self.url, "--endpoints", "any," + endpoint, *logs)
        self._start("player", "--port", 0, "--manager", self.url, "--count", OURS, "--strategy", "odd", *logs)

    def _start(self, name, *arguments):
        process = subprocess.Popen([program(name), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        line = process.stdout.readline().split()
        assert line and line[0] == "ready", f"{name} did not start: {line}"
        return line[1]

    def status(self):
        return json.loads(league("status", self.url, "--json").stdout)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=10)
            process.stdout.close()


def league(*arguments):
    done = subprocess.run([program("league"), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, f"league {arguments}: {done.returncode} {done.stdout} {done.stderr}"
    return done


def wait_for_end(running):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = running.status()
        if status["state"] == "COMPLETED":
            return status
        time.sleep(0.1)
    raise AssertionError(f"the league does not end: {running.status()}")


def main():
    sdk = install("sdk", PACKAGES)
    script = sdk / "sdk_player.mjs"
    shutil.copy(ROOT / "tests" / "interop" / "sdk_player.mjs", script)
    endpoint = COMMAND + str(script)
    with tempfile.TemporaryDirectory(dir=DIRECTORY) as scratch:
        directory = pathlib.Path(scratch)
        running = League(directory, endpoint)
        try:
            entry = json.loads(league("enter", running.url, "--name", "sdk", "--endpoint", endpoint, "--json").stdout)
            status = wait_for_end(running)
        finally:
            running.stop()
        assert status["technical_losses"] == 0, status
        assert status["matches_completed"] == OURS * (OURS + 1) // 2, status
        assert status["draws"] == OURS * (OURS - 1) // 2, f"only ours choose alike: {status}"
        assert json.loads(league("audit", "verify", directory, "--json").stdout)["faults"] == []
        said = "".join(file.read_text() for file in (directory / "logs" / "children").iterdir())
        assert said.count("invited to R") == said.count("chooses in R") == OURS, said
        print(f"ok: a server of the SDK played {OURS} matches as {entry['player_id']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
