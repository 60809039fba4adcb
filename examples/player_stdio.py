#!/usr/bin/env python3
"""A player that is nothing but an MCP server on standard streams: python3 player_stdio.py [FILE].

It chooses what others chose least often so far. The manager and each referee start a copy of it, so what it
remembers is in FILE (default: player_stdio.jsonl), one finished match a line, and not in a variable. For the
same reason it cannot sign its answers: whoever starts it can answer in its name.
"""
import json, random, sys

file = sys.argv[1] if len(sys.argv) > 1 else "player_stdio.jsonl"

def history():
    try:
        return [json.loads(line) for line in open(file)]
    except FileNotFoundError:
        return []

def handle_game_invitation(call):
    return {"accept": True}

def choose_parity(call):  # the whole game
    self = call["player_id"]
    words = call.get("context", {}).get("game", {}).get("choices", ["even", "odd"])
    theirs = [choice for match in history() for player, choice in match.items() if player != self]
    rarest = min(map(theirs.count, words))
    return {"parity_choice": random.choice([word for word in words if theirs.count(word) == rarest])}

def notify_match_result(call):
    with open(file, "a") as matches:
        matches.write(json.dumps(call["game_result"].get("choices", {})) + "\n")
    return {"status": "noted"}

TOOLS = {tool.__name__: tool for tool in (handle_game_invitation, choose_parity, notify_match_result)}

def answer(method, params):
    """The member `result` or `error` of the answer."""
    if method == "initialize":
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "player_stdio", "version": "1.0.0"}}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    if params["name"] not in TOOLS:
        return {"error": {"code": -32602, "message": "Unknown tool"}}
    result = TOOLS[params["name"]](params["arguments"])
    return {"result": {"content": [{"type": "text", "text": json.dumps(result)}]}}

for line in sys.stdin:  # a message a line; ends when the caller closes the stream
    request = json.loads(line)
    if "method" in request and "id" in request:
        reply = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
