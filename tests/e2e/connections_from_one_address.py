"""Opens 80 connections to a manager from one address that is not loopback, and prints how many stay.

Runs in a network namespace of its own (`unshare -rn`), in which nothing but this script and its manager exists.
Usage: connections_from_one_address.py LEAGUE_MANAGER DIRECTORY
"""

import socket
import subprocess
import sys
import time

ADDRESS = "10.99.0.1"


def main(program, directory):
    for command in ("link set lo up", f"address add {ADDRESS}/32 dev lo"):
        subprocess.run(["ip", *command.split()], check=True)
    manager = subprocess.Popen(
        [program, "--players", "2", "--referees", "1", "--bind", ADDRESS, "--port", "8000", "--allow-host", ADDRESS,
         "--data", directory + "/data", "--logs", directory + "/logs", "--log-level", "error"],
        stdout=subprocess.PIPE, text=True)
    try:
        if not manager.stdout.readline().startswith("ready"):
            raise SystemExit("the manager did not start")
        connections = [socket.create_connection((ADDRESS, 8000), timeout=5) for _ in range(80)]
        time.sleep(0.3)  # what is turned away is closed by now
        stay = [c for c in connections if is_open(c)]
        print(len(stay))
        for connection in connections:
            connection.close()
        time.sleep(0.3)
        again = socket.create_connection((ADDRESS, 8000), timeout=5)
        time.sleep(0.1)
        print("again" if is_open(again) else "never again")
    finally:
        manager.terminate()
        manager.wait(5)


def is_open(connection):
    """Nothing has come of it: no refusal and no end."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
