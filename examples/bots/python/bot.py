"""A whole bot: python3 bot.py --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE].

Plays every game. Needs nothing but Python 3. Your strategy goes into choose_word.
"""
import argparse, hashlib, hmac, json, os, re, secrets, sys, threading, time, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

me, home = {}, {}  # what every message carries; what else the manager gave us, which no message carries
matches = {}  # what we have promised and answered, by match: the last 20
lock = threading.RLock()
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever http_proxy says

EVEN_ODD = {"game_type": "even_odd", "choices": ["even", "odd"], "drawn": ["odd", "even"] * 5,
            "payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
                        "odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}}}

def game():  # as the manager defines it; docs/games.md
    told = home.get("game")
    return told if isinstance(told, dict) and "choices" in told else EVEN_ODD

def choose_word(call):  # the strategy: write your own
    return secrets.choice(game()["choices"])

# --- Messages ---------------------------------------------------------------------------------------------
TIMESTAMP = re.compile(r"(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)")
ALLOWED = {"protocol": r"league\.v2(\.\d+)?", "message_type": r"\w{1,40}", "conversation_id": ".{1,100}",
           "role_in_match": "PLAYER_[AB]"}

class Refused(Exception):
    """Code, name, field, text: becomes a JSON-RPC error."""

def now(precision="seconds"):
    return datetime.now(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")

def message(message_type, call, **fields):  # goes back to the conversation and match of its call
    same = {key: call[key] for key in ("conversation_id", "round_id", "match_id") if key in call}
    head = {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + me["player_id"]}
    return {**head, "timestamp": now(), **me, **same, **fields}

def check_message(call, required):
    if not isinstance(call, dict):
        raise Refused("E002", "MALFORMED_MESSAGE", "", "params is no object")
    allowed = {**ALLOWED, "game_type": re.escape(game()["game_type"])}
    for field in ["protocol", "message_type", "sender", "timestamp", "conversation_id", *required]:
        if call.get(field) is None:
            raise Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing")
        if not isinstance(call[field], str) or not re.fullmatch(allowed.get(field, ".*"), call[field], re.S):
            code = {"protocol": "E018", "game_type": "E028"}.get(field, "E023")
            raise Refused(code, "INVALID_FIELD_VALUE", field, field + " has no allowed value")
    form = TIMESTAMP.fullmatch(call["timestamp"])
    try:
        datetime(*(int(form[i]) for i in (1, 3, 4, 5, 7, 8)), 0 if not form[2] or form[6] else None)
    except (TypeError, ValueError):
        raise Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is no UTC time of the protocol")

def keyed(key, *parts):  # HMAC-SHA-256 of parts that are joined by |
    return hmac.new(key.encode(), "|".join(map(str, parts)).encode(), "sha256").hexdigest()

def check_caller(call):  # the manager shows our token, a referee what only we and the manager can compute
    shown, match, token = str(call.get("auth_token") or ""), call.get("match_id"), me["auth_token"]
    proofs = {keyed(token, f"{match}#{n}"): n for n in range(1, 17)} if match else {token: 0}
    for proof, attempt in proofs.items():
        if hmac.compare_digest(shown.encode(), proof.encode()):
            return attempt  # at the match; the manager's calls have none
    hashed = "token:" + hashlib.sha256(shown.encode()).hexdigest() if shown else "none"
    if hmac.compare_digest(hashed, matches.get(match, {}).get("credential", "match")):
        return 1  # a third party's referee, of which the manager has announced what it shows
    raise Refused("E012" if shown else "E011", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is wrong")

# --- Playing ----------------------------------------------------------------------------------------------
def save():  # before anything leaves that binds us
    with open(options.data + ".new", "w") as file:
        json.dump({"me": me, "home": home, "matches": matches}, file)
    os.replace(options.data + ".new", options.data)

def match_of(match_id):
    while match_id not in matches and len(matches) >= 20:
        del matches[next(iter(matches))]  # the oldest
    return matches.setdefault(match_id, {"calls": []})

def announced(call):  # the manager promises the seed of each match
    for match in call.get("matches", []):
        if me["player_id"] in (match["player_A_id"], match["player_B_id"]):
            mine = match_of(match["match_id"])
            mine["draw"] = mine.get("draw") or match.get("draw_commitment")
            mine["credential"] = match.get("referee_credential", "match")

def commitment(draw, match_id, player_id, choice, nonce):
    return hashlib.sha256("|".join([draw, match_id, player_id, choice, nonce]).encode()).hexdigest()

def join(call, mine, at):
    draw, bound = call.get("draw_commitment"), None
    if not draw and mine.get("credential", "match") != "match":
        mine["draw"] = None  # a third party's referee need not know the seed, and then nobody commits
    mine["draw"] = mine.get("draw") or draw
    if mine["draw"] != draw:
        raise Refused("E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised")
    if "nonce" in mine and at < mine["at"]:
        raise Refused("E033", "STALE_ATTEMPT", "context", "a later attempt has begun")
    if "nonce" not in mine or mine.get("shown_alone") and at != mine["at"]:  # else the same promise again
        mine.update(choice=choose_word(call), nonce=secrets.token_hex(32), shown_alone=False,
                    opponent=call["opponent_id"], is_a=call["role_in_match"] == "PLAYER_A")
        mine.pop("handed", None)
    mine["at"] = at
    if draw:
        bound = commitment(draw, call["match_id"], me["player_id"], mine["choice"], mine["nonce"])
    fields = {"accept": True, **({"choice_commitment": bound} if bound else {})}
    return "GAME_JOIN_ACK", fields, ["JOIN", "true", bound or ""]

def choose(call, mine, at):
    theirs = (call.get("context") or {}).get("opponent_commitment")
    if mine.get("at") != at and ("at" in mine or "receipt_key" in home):
        raise Refused("E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt")
    mine.setdefault("choice", choose_word(call))  # without an invitation we are bound to nothing
    if mine.setdefault("handed", theirs) != theirs:
        dispute(call, "I was handed two commitments of my opponent")
        raise Refused("E040", "COMMITMENT_MISMATCH", "context/opponent_commitment", "there was another one")
    mine["shown_alone"] = not theirs  # then the next attempt at this match needs a fresh choice
    nonce = mine.get("nonce") if mine.get("draw") else None
    fields = {"parity_choice": mine["choice"], **({"choice_nonce": nonce} if nonce else {})}
    return "CHOOSE_PARITY_RESPONSE", fields, ["CHOICE", mine["choice"], nonce or "", theirs or ""]

def play(handler, call, attempt):
    """Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot
    report what we have not said. The calls are noted for get_match_record, which the manager asks if a
    referee says that we have failed."""
    mine, match_id, begin = match_of(call["match_id"]), call["match_id"], time.monotonic()
    context = call.get("context") or {}
    at = [attempt, context.get("play", 0)]
    note = {"message_type": call["message_type"], "attempt": attempt, "play": at[1]}
    note["at"] = now("microseconds")
    mine["calls"] = [*mine["calls"][-31:], note]
    try:
        if context.get("attempt", attempt) != attempt:
            raise Refused("E023", "INVALID_FIELD_VALUE", "context/attempt", "not what the credential proves")
        message_type, fields, (kind, *said) = handler(call, mine, at)
        if "receipt_key" in home and "attempt" in context:
            about = [home["league_key"], match_id, *at, mine["draw"] or ""]
            fields["receipt"] = keyed(home["receipt_key"], kind, *about, *said)
        note.update(fields)
        if "receipt_key" in home:  # a referee never sees our token
            fields["auth_token"] = keyed(me["auth_token"], "answer", f"{match_id}#{attempt}")
        if kind == "JOIN":
            fields["arrival_timestamp"] = now()
        else:
            note["opponent_commitment"] = mine["handed"]
        return message(message_type, call, **fields)
    except Refused as why:
        note.update(refused=why.args[0], reason=why.args[3], caller_fault=True)
        raise
    finally:
        note.update(answered_at=now("microseconds"), answer_ms=round(1000 * (time.monotonic() - begin)))
        save()

def match_record(call):
    if not hmac.compare_digest(str(call.get("auth_token")).encode(), me["auth_token"].encode()):
        raise Refused("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is not my own")
    calls = matches.get(call["match_id"], {}).get("calls", [])
    return {"match_id": call["match_id"], "player_id": me["player_id"], "calls": calls}

# --- Results ----------------------------------------------------------------------------------------------
def draw_number(seed, parts, size, counter=0):
    text = "|".join([*parts, str(counter)])
    for byte in hmac.new(bytes.fromhex(seed), text.encode(), "sha256").digest():
        if byte < 256 - 256 % size:
            return byte % size + 1
    return draw_number(seed, parts, size, counter + 1)

def points(role, own, other, number):
    payoffs = game()["roles"][role] if "roles" in game() else game()["payoffs"]
    return (payoffs[game()["drawn"][number - 1]] if number else payoffs)[own][other]

def judge(call, mine):  # does it follow from the promised seed and from what both have bound themselves to?
    assert "nonce" in mine and "handed" in mine, "I was not asked for a choice"
    self, other, match, result = me["player_id"], mine["opponent"], call["match_id"], call["game_result"]
    choices, bound, nonces = result["choices"], call["choice_commitments"], call["choice_nonces"]
    seed = hashlib.sha256(bytes.fromhex(call["draw_proof"]) + match.encode()).hexdigest()
    assert seed == mine["draw"], "another seed was promised"
    assert choices[self] == mine["choice"] and nonces[self] == mine["nonce"], "I did not choose that"
    assert bound.get(other) == mine["handed"], "the opponent's commitment is another one"
    for player in {self, *bound}:
        opened = commitment(mine["draw"], match, player, choices[player], nonces[player])
        assert opened == bound[player], f"the commitment of {player} is not opened"
    order = [self, other] if mine["is_a"] else [other, self]
    used = [nonces[player] if player in bound else "" for player in order]
    (a, b), size = [choices[player] for player in order], len(game().get("drawn", []))
    number = draw_number(call["draw_proof"], [match, a, b, *used], size) if size else None
    lead = points("PLAYER_A", a, b, number) - points("PLAYER_B", b, a, number)
    winner = order[lead < 0] if lead else None
    truth = f"the number is {number}, the winner {winner}"
    assert (result["drawn_number"], result["winner_player_id"]) == (number, winner), truth

def dispute(call, why):  # goes to the manager and stays open
    query = message("LEAGUE_QUERY", call, query_type="DISPUTE_MATCH",
                    query_params={"match_id": call["match_id"], "reason": why})
    threading.Thread(target=post, args=("league_query", query)).start()

def game_over(call):
    mine = matches.get(call["match_id"])
    try:
        if call["game_result"]["status"] != "TECHNICAL_LOSS":
            if mine and mine.get("draw"):
                judge(call, mine)
        elif mine and "receipt_key" in home and call["game_result"]["winner_player_id"] != me["player_id"]:
            slowest = max((one["answer_ms"] for one in mine["calls"]), default=0)
            if slowest < 5000:
                dispute(call, f"I got {len(mine['calls'])} calls and answered each within {slowest} ms")
    except (AssertionError, ValueError, KeyError, TypeError, AttributeError) as why:
        dispute(call, str(why))
        raise Refused("E035", "INVALID_RESULT", "game_result", f"the result does not follow: {why}")

# --- JSON-RPC ---------------------------------------------------------------------------------------------
NEWS = ["notify_round_completed", "notify_league_completed", "notify_league_error", "notify_game_error",
        "update_standings"]
PLAY = {"handle_game_invitation": (join, ["match_id", "game_type", "role_in_match", "opponent_id"]),
        "choose_parity": (choose, ["match_id"])}
METHODS = {"notify_match_result": (game_over, ["match_id"]), "notify_round": (announced, []),
           "get_player_state": (lambda call: {"player_id": me["player_id"]}, []),
           **{name: (lambda call: None, []) for name in NEWS}, **PLAY}

def answer(body):
    id = None
    def error(code, text, data=None):
        return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text, "data": data}}
    try:
        frame = json.loads(body)
        id, method, call = frame.get("id"), frame["method"] + "", frame.get("params")
        with lock:
            if method == "ping":
                result = None
            elif method == "get_match_record":
                result = match_record(call)
            elif method not in METHODS:
                return error(-32601, "Method not found")
            else:
                handler, required = METHODS[method]
                check_message(call, required)
                attempt = check_caller(call)
                result = play(handler, call, attempt) if method in PLAY else handler(call)
        return {"jsonrpc": "2.0", "id": id, "result": result or {"status": "ok"}}
    except Refused as why:
        code, name, field, text = why.args
        data = {"error_code": code, "error_name": name, "field": "/" + field if field else ""}
        return error(-32602, "Invalid params: " + text, data)
    except (ValueError, RecursionError):
        return error(-32700, "Parse error")
    except (AttributeError, KeyError, TypeError):
        return error(-32600, "Invalid Request")

def post(method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    call = urllib.request.Request(options.manager, body, {"Content-Type": "application/json"})
    answer = json.load(direct.open(call, timeout=10))
    if not isinstance(answer, dict) or not isinstance(answer.get("result"), dict):
        raise ValueError(f"the answer has no result: {answer}"[:300])
    return answer["result"]

def register(is_first=True):
    """Shows the token and nonce of before, so that we come back as who we were, and get our receipt_key.
    Tries until the manager answers."""
    meta = {"display_name": options.name, "version": "1.0.0", "game_types": ["even_odd"], "receipts": True,
            "protocol_version": "2.1.0", "game_definitions": True,
            "contact_endpoint": f"http://{options.host}:{server.server_address[1]}/mcp"}
    nonce = home.setdefault("registration_nonce", secrets.token_hex(16))
    request = message("LEAGUE_REGISTER_REQUEST", {"conversation_id": "conv" + secrets.token_hex(16)},
                      player_meta=meta, registration_nonce=nonce)
    try:
        reply = post("register_player", request)
    except (OSError, ValueError) as why:
        if is_first:
            print(f"{options.manager}: {why}; trying again every 2 s", file=sys.stderr, flush=True)
        return threading.Timer(2, register, [False]).start()
    print(*filter(None, map(reply.get, ("status", "player_id", "reason", "error_description"))), flush=True)
    if reply.get("status") != "ACCEPTED":
        os._exit(1)
    with lock:
        me.update({key: reply[key] for key in ("player_id", "auth_token", "league_id")})
        home.update({key: reply[key] for key in ("receipt_key", "league_key", "game") if reply.get(key)})
        save()

class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, timeout = "HTTP/1.1", -1, 60  # keeps connections, answers in one piece

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        if size > 1 << 20:
            return self.send_error(413)
        body = json.dumps(answer(self.rfile.read(size))).encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.wfile.write(head.encode() + body)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"manager": "http://localhost:8000/mcp", "host": "127.0.0.1", "port": "0",
                          "name": "python_bot", "data": "python_bot.json"}.items():
        parser.add_argument("--" + name, default=default)
    options = parser.parse_args()
    os.umask(0o077)  # nobody else may read the token
    me["player_id"] = re.sub(r"[^A-Za-z0-9_]", "_", options.name)
    if os.path.exists(options.data):
        kept = json.load(open(options.data))
        me, home, matches = kept["me"], kept.get("home", {}), kept["matches"]
    ThreadingHTTPServer.request_queue_size = 100  # callers at once that may wait
    address = "127.0.0.1" if options.host == "127.0.0.1" else "", int(options.port)
    server = ThreadingHTTPServer(address, Handler)  # listens from here on
    threading.Thread(target=register, daemon=True).start()
    server.serve_forever()
