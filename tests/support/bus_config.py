"""What tests of `league bus-config` share: its files in the test's directory, and ports for brokers."""

import json
import os
import random
import socket
import subprocess
from pathlib import Path

from league_testing import BIN, LeagueTest
from nats_broker import find_nats_server

LEAGUE = "league_test"


def same_broker():
    """The environment in which `league bus-config` asks the broker of the tests for its version, and no other one."""
    server, path = find_nats_server(), os.environ.get("PATH", "")
    return {**os.environ, "PATH": f"{Path(server).parent}:{path}" if server else path}


def free_ports(count):
    """Ports that are free now, where the system gives none to others."""
    ports = []
    while len(ports) < count:
        port = random.randrange(12000, 20000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports


class BusConfigTest(LeagueTest):
    def bus_config(self, *arguments, code=0):
        done = subprocess.run([BIN / "league", "bus-config", *map(str, arguments)], cwd=self.directory, timeout=60,
                              capture_output=True, text=True, check=False, env=same_broker())
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def made(self, *arguments):
        """What `--json` says."""
        return json.loads(self.bus_config("--json", "--league", LEAGUE, *arguments).stdout)
