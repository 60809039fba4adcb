"""`league call` and `league gateway` against npm's server-everything on each of its transports."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import node_tools

PACKAGE = "@modelcontextprotocol/server-everything@2025.9.12"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port, process):
    for _ in range(300):
        if process.poll() is not None:
            raise AssertionError(f"server-everything ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("server-everything does not listen")


class Everything:
    """The server on one of its transports; `url` is where it can be called."""

    def __init__(self, script, transport, port=None):
        self.process = None
        if transport == "stdio":
            self.url = f"stdio:node {script} stdio"
            return
        port = port or free_port()
        self.process = subprocess.Popen(["node", str(script), transport], env={**os.environ, "PORT": str(port)},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(port, self.process)
        self.url = {"sse": f"sse+http://127.0.0.1:{port}/sse", "streamableHttp": f"http://127.0.0.1:{port}/mcp"}[transport]

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def call(league, *words):
    return subprocess.run([league, "call", *words], capture_output=True, text=True, timeout=60)


def check(league, url, what):
    listed = call(league, url, "--list", "--json", "--verbose")
    assert listed.returncode == 0, f"{what}: {listed.stderr}"
    names = {tool["name"] for tool in json.loads(listed.stdout)["tools"]}
    assert "echo" in names, f"{what}: {names}"
    said = call(league, url, "echo", "message=hello")
    assert said.returncode == 0 and "hello" in said.stdout, f"{what}: {said.stdout} {said.stderr}"
    unknown = call(league, url, "no_such_tool")
    assert unknown.returncode == 1, f"{what}: {unknown.returncode} {unknown.stdout} {unknown.stderr}"
    print(f"ok: {what}: {listed.stderr.strip()}; {len(names)} tools")


def check_gateway(league, url, what):
    gateway = subprocess.Popen([league, "gateway", "--backend", url, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        check(league, json.loads(gateway.stdout.readline())["ready"], f"gateway in front of {what}")
    finally:
        gateway.terminate()
        assert gateway.wait(20) == 0
        gateway.stdout.close()


def main():
    league = node_tools.program("league")
    directory = node_tools.install("everything", [PACKAGE])
    package = directory / "node_modules" / "@modelcontextprotocol" / "server-everything"
    script = package / "dist" / "index.js"
    for transport in ("stdio", "sse", "streamableHttp"):
        server = Everything(pathlib.Path(script), transport)
        try:
            check(league, server.url, f"server-everything over {transport}")
            if transport == "streamableHttp":
                check(league, server.url.replace("http://127.0.0.1", "127.0.0.1"), "the same by a short address")
            check_gateway(league, server.url, f"server-everything over {transport}")
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
