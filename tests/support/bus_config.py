"""What tests of `league bus-config` share: its files in the test's directory, and ports for brokers."""

import json
import random
import socket
import subprocess

from league_testing import BIN, LeagueTest

LEAGUE = "league_test"


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
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def made(self, *arguments):
        """What `--json` says."""
        return json.loads(self.bus_config("--json", "--league", LEAGUE, *arguments).stdout)
