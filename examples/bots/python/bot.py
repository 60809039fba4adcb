"""A whole Even/Odd bot: python3 bot.py --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE]. Needs nothing but Python 3."""
import argparse, hashlib, hmac, json, os, re, secrets, threading, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
me, matches, lock = {}, {}, threading.RLock()  # who the manager says we are; what we have promised in each open match
TIMESTAMP = re.compile(r"(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)")
ALLOWED = {"protocol": r"league\.v2(\.\d+)?", "conversation_id": ".{1,100}", "game_type": "even_odd", "role_in_match": "PLAYER_[AB]"}
class Refused(Exception): pass  # becomes a JSON-RPC error that names the league's code and the field
def choose_word(call): return secrets.choice(["even", "odd"])  # the game: write your own
def now(): return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
def message(message_type, call, **fields):  # goes back to the conversation and match of its call
    same = {key: call[key] for key in ("conversation_id", "round_id", "match_id") if key in call}
    head = {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + me["player_id"], "timestamp": now()}
    return {**head, **me, **same, **fields}
def check_message(call, required):
    if not isinstance(call, dict): raise Refused("E002", "MALFORMED_MESSAGE", "", "params is no object")
    for field in ["protocol", "message_type", "sender", "timestamp", "conversation_id", *required]:
        if call.get(field) is None: raise Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing")
        if not isinstance(call[field], str) or not re.fullmatch(ALLOWED.get(field, ".*"), call[field], re.S):
            raise Refused("E018" if field == "protocol" else "E023", "INVALID_FIELD_VALUE", field, field + " has no allowed value")
    form = TIMESTAMP.fullmatch(call["timestamp"])
    try: datetime(*(int(form[i]) for i in (1, 3, 4, 5, 7, 8)), 0 if not form[2] or form[6] else None)
    except (TypeError, ValueError): raise Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is not UTC in a form of the protocol")
def check_caller(call):  # the manager shows our own token, a referee what only we and the manager can compute from it
    shown, match, token = str(call.get("auth_token") or ""), call.get("match_id"), me["auth_token"]
    right = [hmac.new(token.encode(), f"{match}#{n}".encode(), "sha256").hexdigest() for n in range(1, 17)] if match else [token]
    if not any(hmac.compare_digest(shown.encode(), one.encode()) for one in right):
        raise Refused("E012" if shown else "E011", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong")
def save():  # before anything leaves that binds us
    with open(options.data + ".new", "w") as file: json.dump({"me": me, "matches": matches}, file)
    os.replace(options.data + ".new", options.data)
def commitment(draw, match_id, player_id, choice, nonce):
    return hashlib.sha256("|".join([draw, match_id, player_id, choice, nonce]).encode()).hexdigest()
def join(call):
    draw, mine, bound = call.get("draw_commitment"), matches.get(call["match_id"]), {}
    if not mine or mine["draw"] != draw or mine.get("shown_alone"):  # else it is a repetition and gets the same promise
        mine = matches[call["match_id"]] = {"draw": draw, "choice": choose_word(call), "nonce": secrets.token_hex(32),
                                            "opponent": call["opponent_id"], "is_a": call["role_in_match"] == "PLAYER_A"}
    if draw: bound["choice_commitment"] = commitment(draw, call["match_id"], me["player_id"], mine["choice"], mine["nonce"])
    save()
    return message("GAME_JOIN_ACK", call, arrival_timestamp=now(), accept=True, **bound)
def choose(call):
    mine = matches.setdefault(call["match_id"], {"draw": None, "choice": choose_word(call), "nonce": None})
    mine.setdefault("handed", (call.get("context") or {}).get("opponent_commitment"))
    mine["shown_alone"] = not mine["handed"]  # then the next attempt at this match needs a fresh choice
    save()
    return message("CHOOSE_PARITY_RESPONSE", call, parity_choice=mine["choice"], **({"choice_nonce": mine["nonce"]} if mine["draw"] else {}))
def draw_number(seed, parts, counter=0):
    for byte in hmac.new(bytes.fromhex(seed), "|".join([*parts, str(counter)]).encode(), "sha256").digest():
        if byte < 250: return byte % 10 + 1
    return draw_number(seed, parts, counter + 1)
def judge(call, mine):  # the result has to follow from the promised seed and from what both have bound themselves to
    self, other, match, result = me["player_id"], mine["opponent"], call["match_id"], call["game_result"]
    choices, bound, nonces = result["choices"], call["choice_commitments"], call["choice_nonces"]
    order = [self, other] if mine["is_a"] else [other, self]
    assert hashlib.sha256(bytes.fromhex(call["draw_proof"]) + match.encode()).hexdigest() == mine["draw"], "another seed was promised"
    assert choices[self] == mine["choice"] and nonces[self] == mine["nonce"], "I did not choose that"
    assert bound.get(other) == mine["handed"], "the opponent's commitment is another one"
    for player in bound: assert commitment(mine["draw"], match, player, choices[player], nonces[player]) == bound[player], "not opened"
    number = draw_number(call["draw_proof"], [match, *(choices[id] for id in order), *(nonces[id] if id in bound else "" for id in order)])
    right = [id for id in order if choices[id] == ("odd" if number % 2 else "even")]
    winner = right[0] if len(right) == 1 else None
    assert (result["drawn_number"], result["winner_player_id"]) == (number, winner), f"the number is {number}, the winner {winner}"
def game_over(call):
    try:
        if (mine := matches.get(call["match_id"])) and mine["draw"] and call["game_result"]["status"] != "TECHNICAL_LOSS": judge(call, mine)
    except (AssertionError, ValueError, KeyError, TypeError, AttributeError) as why:  # the dispute goes to the manager and stays open
        query = message("LEAGUE_QUERY", call, query_type="DISPUTE_MATCH", query_params={"match_id": call["match_id"], "reason": str(why)})
        threading.Thread(target=post, args=("league_query", query)).start()
        raise Refused("E035", "INVALID_RESULT", "game_result", f"the result does not follow: {why}")
    matches.pop(call["match_id"], None)
NEWS = ["notify_round", "update_standings", "notify_round_completed", "notify_league_completed", "notify_league_error", "notify_game_error"]
METHODS = {"handle_game_invitation": (join, ["match_id", "game_type", "role_in_match", "opponent_id"]), "choose_parity": (choose, ["match_id"]),
           "notify_match_result": (game_over, ["match_id"]), "get_player_state": (lambda call: {"player_id": me["player_id"]}, []), **{name: (lambda call: None, []) for name in NEWS}}
def answer(body):
    id = None
    def error(code, text, data=None): return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text, "data": data}}
    try:
        frame = json.loads(body)
        id, method, call = frame.get("id"), frame["method"] + "", frame.get("params")
        if method == "ping": return {"jsonrpc": "2.0", "id": id, "result": {"status": "ok"}}
        handler, required = METHODS.get(method) or (None, [])
        if not handler: return error(-32601, "Method not found")
        with lock:
            check_message(call, required)
            check_caller(call)
            return {"jsonrpc": "2.0", "id": id, "result": handler(call) or {"status": "ok"}}
    except Refused as why: return error(-32602, "Invalid params: " + why.args[3], dict(zip(("error_code", "error_name", "field"), why.args)))
    except (ValueError, RecursionError): return error(-32700, "Parse error")
    except (AttributeError, KeyError, TypeError): return error(-32600, "Invalid Request")
def post(method, params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    call = urllib.request.Request(options.manager, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(call, timeout=10))["result"]
def register():  # shows the token of before, so that we come back as who we were; tries until the manager answers
    meta = {"display_name": options.name, "version": "1.0.0", "game_types": ["even_odd"], "protocol_version": "2.1.0", "contact_endpoint": f"http://{options.host}:{server.server_address[1]}/mcp"}
    nonce = secrets.token_hex(16)
    request = message("LEAGUE_REGISTER_REQUEST", {"conversation_id": "conv" + nonce}, player_meta=meta, registration_nonce=nonce)
    try: reply = post("register_player", request)
    except (OSError, ValueError, KeyError): return threading.Timer(2, register).start()
    print(*filter(None, map(reply.get, ("status", "player_id", "reason", "error_description"))), flush=True)
    if reply.get("status") != "ACCEPTED": os._exit(1)
    with lock: me.update({key: reply[key] for key in ("player_id", "auth_token", "league_id")}); save()
class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, timeout = "HTTP/1.1", -1, 60  # keeps connections, sends an answer in one piece
    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        if size > 1 << 20: return self.send_error(413)
        body = json.dumps(answer(self.rfile.read(size))).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
if __name__ == "__main__":
    parser, words = argparse.ArgumentParser(description=__doc__), ["manager", "http://localhost:8000/mcp", "host", "127.0.0.1", "port", "0", "name", "python_bot", "data", "python_bot.json"]
    for name, default in zip(words[::2], words[1::2]): parser.add_argument("--" + name, default=default)
    options, _ = parser.parse_args(), os.umask(0o077)  # nobody else may read the token
    me = {"player_id": re.sub(r"\W", "_", options.name)}
    if os.path.exists(options.data): me, matches = json.load(open(options.data)).values()
    ThreadingHTTPServer.request_queue_size = 100  # callers at once that may wait
    server = ThreadingHTTPServer(("127.0.0.1" if options.host == "127.0.0.1" else "", int(options.port)), Handler)  # listens from here on
    threading.Thread(target=register, daemon=True).start()
    server.serve_forever()
