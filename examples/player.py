#!/usr/bin/env python3
"""A complete Even/Odd bot: python3 player.py [MANAGER_URL [NAME]]. Python 3, nothing to install."""
import hashlib, json, random, secrets, sys, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

manager, name = (sys.argv[1:] + ["http://localhost:8000/mcp", "python_bot"][len(sys.argv) - 1:])[:2]
me = {"player_id": name}  # once registered: player_id, auth_token, league_id
promises = {}  # the choice of each match, made when we are invited

def message(message_type, call, **fields):  # goes back to the conversation and match of its call
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    same = {key: call[key] for key in ("conversation_id", "round_id", "match_id") if key in call}
    return {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + me["player_id"],
            "timestamp": now, **me, **same, **fields}

def promise(call):  # binds us to a choice that nobody can read yet; a repeated invitation gets the same one
    match_id, draw = call["match_id"], call["draw_commitment"]
    mine = promises.get(match_id)
    if not mine or mine["draw"] != draw or mine["shown_alone"]:
        mine = promises[match_id] = {"draw": draw, "shown_alone": False, "choice": random.choice(["even", "odd"]),
                                     "nonce": secrets.token_hex(32)}
    text = "|".join([draw, match_id, me["player_id"], mine["choice"], mine["nonce"]])
    return {"choice_commitment": hashlib.sha256(text.encode()).hexdigest()}

def reveal(call):  # the whole game: the choice, and the nonce that shows that it is the promised one
    mine = promises.get(call["match_id"])
    if not mine: return {"parity_choice": random.choice(["even", "odd"])}
    mine["shown_alone"] = "opponent_commitment" not in call.get("context", {})  # then choose anew if we play again
    return {"parity_choice": mine["choice"], "choice_nonce": mine["nonce"]}

class Player(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1  # keeps connections, sends an answer in one piece

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        call, result = request["params"], {"status": "ok"}  # enough for everything that is only news
        if request["method"] == "handle_game_invitation":
            bound = promise(call) if "draw_commitment" in call else {}
            result = message("GAME_JOIN_ACK", call, arrival_timestamp=call["timestamp"], accept=True, **bound)
        elif request["method"] == "choose_parity":
            result = message("CHOOSE_PARITY_RESPONSE", call, **reveal(call))
        elif request["method"] == "notify_match_result":
            promises.pop(call["match_id"], None)
        elif request["method"] == "notify_league_completed":
            print("the champion is", call["champion"]["display_name"], flush=True)
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", 0), Player)  # listens from here on
meta = {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": f"http://127.0.0.1:{server.server_address[1]}/mcp"}
params = message("LEAGUE_REGISTER_REQUEST", {"conversation_id": "convregister"}, player_meta=meta)
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": params}).encode()
call = urllib.request.Request(manager, body, {"Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(call))["result"]
if "auth_token" not in answer: sys.exit(f"not accepted: {answer}")
me = {key: answer[key] for key in ("player_id", "auth_token", "league_id")}
print("registered as", me["player_id"], flush=True)
server.serve_forever()
