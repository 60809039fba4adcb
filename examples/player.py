#!/usr/bin/env python3
"""A complete Even/Odd bot: python3 player.py [MANAGER_URL [NAME]]. Python 3, nothing to install."""
import json, random, sys, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

manager, name = (sys.argv[1:] + ["http://localhost:8000/mcp", "python_bot"][len(sys.argv) - 1:])[:2]
me = {"player_id": name}  # after the registration also auth_token and league_id

def message(message_type, call, **fields):  # a reply goes back to the conversation of its call
    return {"protocol": "league.v2", "message_type": message_type, "sender": f"player:{me['player_id']}",
            "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), **me, **fields,
            **{key: call[key] for key in ("conversation_id", "round_id", "match_id") if key in call}}

def reply(method, call):
    if method == "handle_game_invitation":
        return message("GAME_JOIN_ACK", call, arrival_timestamp=call["timestamp"], accept=True)
    if method == "choose_parity":  # the whole game: say "even" or "odd"
        return message("CHOOSE_PARITY_RESPONSE", call, parity_choice=random.choice(["even", "odd"]))
    if method == "notify_league_completed":
        print("the champion is", call["champion"]["display_name"], flush=True)
    return {"status": "ok"}  # everything else is news

class Player(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1  # keep connections, send an answer in one piece
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = reply(request["method"], request.get("params", {}))
        body = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Player)  # it listens from here on
meta = {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": f"http://127.0.0.1:{server.server_address[1]}/mcp"}
request = {"jsonrpc": "2.0", "id": 1, "method": "register_player", "params":
           message("LEAGUE_REGISTER_REQUEST", {"conversation_id": "convregister"}, player_meta=meta)}
headers = {"Content-Type": "application/json"}
with urllib.request.urlopen(urllib.request.Request(manager, json.dumps(request).encode(), headers)) as response:
    answer = json.load(response)["result"]
if answer.get("status") != "ACCEPTED":
    sys.exit(f"not accepted: {answer}")
me = {key: answer[key] for key in ("player_id", "auth_token", "league_id")}
print("registered as", me["player_id"], flush=True)
server.serve_forever()
