"""`league call` as the client that the conformance suite tests: client_under_test.py URL, with the scenario's name and
what it wants to be called in the environment, as the suite gives them. Lists the tools and calls each that the scenario
has, with arguments made from its schema or those that the suite names."""
import json
import os
import subprocess
import sys

from node_tools import program


def argument(schema):
    """Any value that the schema allows."""
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"integer": 3, "number": 5, "boolean": True, "array": [], "object": {}}.get(kind, "text")


def arguments(tool, tools):
    """What the tool wants; one that wants a schema gets that of the first tool, as it was listed."""
    schema = tool.get("inputSchema", {})
    properties = schema.get("properties", {})
    found = {name: argument(properties.get(name, {})) for name in schema.get("required", properties)}
    if "schema" in found:
        found["schema"] = tools[0]["inputSchema"]
    return found


def call(url, *words):
    done = subprocess.run([program("league"), "call", url, *words, "--json", "--accept-defaults", "--timeout", "20000"], capture_output=True,
                          text=True, timeout=30, check=False)
    print(words[:2], done.returncode, done.stdout[:300], done.stderr[:300], file=sys.stderr)
    return done


def main():
    url = sys.argv[-1]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    listed = call(url, "--list")
    if listed.returncode != 0:
        return listed.returncode
    tools = json.loads(listed.stdout)["tools"]
    calls = context.get("toolCalls") or [{"name": tool["name"], "arguments": arguments(tool, tools)} for tool in tools]
    codes = [call(url, one["name"], json.dumps(one.get("arguments", {}))).returncode for one in calls]
    return 2 if 2 in codes else 0  # 1: the server said no, which some of these servers do


if __name__ == "__main__":
    sys.exit(main())
