"""Bots with one planted fault each, and the check of `league check` that has to catch it.

    python3 mutants.py NAME --manager URL --port N --data FILE     serves one of them
    python3 mutants.py                                             lists them

The clean bot is examples/bots/python/bot.py; a mutant changes one thing about it. `MUTANTS` maps a name to the id of
the check and to what plants the fault.
"""

import json
import os
import secrets
import sys
import time
from pathlib import Path

BOT = Path(__file__).resolve().parents[2] / "examples" / "bots" / "python" / "bot.py"
MUTANTS = {}
INVITE, CALL, OVER = "handle_game_invitation", "choose_parity", "notify_match_result"
bot = {}  # the clean bot's names; functions in it look each other up here


def mutant(check, name=None):
    """Registers a function that plants a fault in the bot's names."""

    def register(plant):
        MUTANTS[name or plant.__name__] = (check, plant)
        return plant

    return register


def replies(check, name, change, kinds=("GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE")):
    """A fault in what the bot sends: `change` gets the message."""

    def plant():
        clean = bot["message"]

        def spoilt(message_type, call, **fields):
            message = clean(message_type, call, **fields)
            if message_type in kinds:
                changed = change(message)
                return message if changed is None else changed
            return message

        bot["message"] = spoilt

    MUTANTS[name] = (check, plant)


def answers(check, name, change):
    """A fault in the frame: `change` gets the answer as an object and the request's bytes."""

    def plant():
        clean = bot["answer"]
        bot["answer"] = lambda body: change(clean(body), body)

    MUTANTS[name] = (check, plant)


JOIN, CHOICE = ("GAME_JOIN_ACK",), ("CHOOSE_PARITY_RESPONSE",)


def drop(field):
    return lambda message: message.pop(field, None) and None


def put(field, value):
    return lambda message: message.update({field: value})


# --- the envelope of both answers ------------------------------------------------------------------------------------
replies("P-2/join-protocol", "protocol_missing", drop("protocol"), JOIN)
replies("P-2/choice-protocol", "choice_protocol_missing", drop("protocol"), CHOICE)
replies("P-4.9/choice-answered", "protocol_other", put("protocol", "league.v1"), CHOICE)
replies("P-2/join-message-type", "join_type_missing", drop("message_type"), JOIN)
replies("P-4.7/join-accepts", "join_type_wrong", put("message_type", "JOIN_ACK"), JOIN)
replies("P-2/choice-message-type", "choice_type_missing", drop("message_type"), CHOICE)
replies("P-2/join-sender", "join_sender_is_name", put("sender", "player:alpha"), JOIN)
replies("P-4.7/join-accepts", "sender_without_role", lambda m: m.update(sender=m["player_id"]), JOIN)
replies("P-2/choice-sender", "sender_is_name", put("sender", "player:alpha"), CHOICE)
replies("P-3/join-timestamp", "join_timestamp_missing", drop("timestamp"), JOIN)
replies("P-3/choice-timestamp", "choice_timestamp_missing", drop("timestamp"), CHOICE)
replies("P-4.7/join-accepts", "timestamp_local", put("timestamp", time.strftime("%Y-%m-%dT%H:%M:%S")), JOIN)
replies("P-4.9/choice-answered", "timestamp_number", put("timestamp", 1736937000), CHOICE)
replies("P-3/join-timestamp-now", "timestamp_fixed", put("timestamp", "2020-01-01T00:00:00Z"), JOIN)
replies("P-2/join-conversation", "conversation_own", put("conversation_id", "convmine"), JOIN)
replies("P-2/choice-conversation", "conversation_missing", drop("conversation_id"), CHOICE)
replies("P-8/join-token", "token_missing", drop("auth_token"), JOIN)
replies("P-8/choice-token", "token_placeholder", put("auth_token", "tok_placeholder"), CHOICE)
replies("P-1/join-size", "answer_huge", put("padding", "x" * 300_000), JOIN)
replies("P-2/join-round-id", "round_as_text", lambda m: m.update(round_id="R%s" % m.get("round_id")), JOIN)
replies("P-2/choice-league-id", "league_other", put("league_id", "league_other"), CHOICE)

# --- the answers' own fields -----------------------------------------------------------------------------------------
replies("P-4.7/join-match-id", "join_match_missing", drop("match_id"), JOIN)
replies("P-4.9/choice-match-id", "choice_match_missing", drop("match_id"), CHOICE)
replies("P-4.9/choice-answered", "choice_match_wrong", put("match_id", "R1M1"), CHOICE)
replies("P-4.7/join-player-id", "player_id_fixed", put("player_id", "P99"), JOIN)
replies("P-4.9/choice-player-id", "choice_player_missing", drop("player_id"), CHOICE)
replies("P-4.7/join-accepts", "accept_as_text", put("accept", "true"), JOIN)
replies("P-4.7/join-accepts", "accept_false", put("accept", False), JOIN)
replies("P-4.7/join-accept-boolean", "accepted_for_accept",
        lambda m: m.update(accepted=m.pop("accept")), JOIN)
replies("P-4.7/join-arrival-timestamp", "arrival_missing", drop("arrival_timestamp"), JOIN)
replies("P-4.9/parity-choice-lower-case", "choice_capital", lambda m: m.update(parity_choice=m["parity_choice"].title()),
        CHOICE)
replies("P-4.9/parity-choice-lower-case", "choice_number", put("parity_choice", 0), CHOICE)
replies("P-4.9/choice-field-name", "choice_field_name", lambda m: m.update(choice=m.pop("parity_choice")), CHOICE)
replies("P-4.9/parity-choice-lower-case", "choice_blank", lambda m: m.update(parity_choice=m["parity_choice"] + " "), CHOICE)


@mutant("P-4.9/parity-choice-lower-case")
def choice_upper_case():
    """It commits to its own word, so everything but the word is as it should be."""
    clean = bot["choose_word"]
    bot["choose_word"] = lambda call: clean(call).upper()


# --- commitments -----------------------------------------------------------------------------------------------------
replies("P-4.7/join-accepts", "commitment_upper_case",
        lambda m: m.update(choice_commitment=m.get("choice_commitment", "").upper()), JOIN)
replies("P-7.25/opens-commitment", "commitment_unopened", put("choice_commitment", "ab" * 32), JOIN)
replies("P-7.25/nonce-form", "nonce_short", lambda m: m.update(choice_nonce=(m.get("choice_nonce") or "")[:16]), CHOICE)
replies("P-7.25/opens-commitment", "nonce_other", lambda m: m.update(choice_nonce=secrets.token_hex(32)), CHOICE)
replies("P-7.22/no-seed-no-commitment", "commits_always",
        lambda m: m.setdefault("choice_commitment", "cd" * 32) and None, JOIN)


@mutant("P-7.22/fresh-nonce")
def nonce_reused():
    class Fixed:
        choice = staticmethod(secrets.choice)
        token_hex = staticmethod(lambda size: "7" * 2 * size)

    bot["secrets"] = Fixed


@mutant("P-7.28/second-invitation")
def second_invitation_resets():
    clean = bot["METHODS"]["handle_game_invitation"][0]
    set_handler(INVITE, lambda call, mine, at: mine.pop("nonce", None) and None or clean(call, mine, at))


@mutant("P-6/same-choice-again")
def chooses_anew():
    clean = bot["METHODS"]["choose_parity"][0]

    def choose(call, mine, at):
        if "choice" in mine:
            mine["choice"] = secrets.choice(["even", "odd"])
        return clean(call, mine, at)

    set_handler("choose_parity", choose)


def set_handler(method, handler):
    bot["METHODS"][method] = (handler, bot["METHODS"][method][1])


def no_assertion(name, check, change):
    """The bot does not notice one lie of GAME_OVER: it is straightened out before the bot looks at it."""

    def plant():
        clean = bot["judge"]

        def judge(call, mine):
            call = json.loads(json.dumps(call))
            change(call, mine)
            clean(call, mine)

        bot["judge"] = judge

    MUTANTS[name] = (check, plant)


def straighten_number(call, mine):
    me, order = bot["me"]["player_id"], [bot["me"]["player_id"], mine["opponent"]]
    if not mine["is_a"]:
        order.reverse()
    choices, nonces, bound = call["game_result"]["choices"], call["choice_nonces"], call["choice_commitments"]
    parts = [call["match_id"], *(choices[id] for id in order), *(nonces[id] if id in bound else "" for id in order)]
    number = bot["draw_number"](call["draw_proof"], parts)
    if me in choices:
        call["game_result"]["drawn_number"] = number


def straighten_winner(call, mine):
    result = call["game_result"]
    parity = "odd" if result["drawn_number"] % 2 else "even"
    right = [id for id, choice in result["choices"].items() if choice == parity]
    result["winner_player_id"] = right[0] if len(right) == 1 else None


no_assertion("own_choice_unchecked", "P-7.40/own-choice",
             lambda call, mine: call["game_result"]["choices"].update({bot["me"]["player_id"]: mine["choice"]}))
no_assertion("opponent_commitment_unchecked", "P-7.40/opponent-commitment",
             lambda call, mine: call["choice_commitments"].update({mine["opponent"]: mine["handed"]}))
no_assertion("number_unchecked", "P-7.40/number", straighten_number)
no_assertion("winner_unchecked", "P-7.40/winner", straighten_winner)


@mutant("P-7.40/seed")
def believes_everything():
    bot["judge"] = lambda call, mine: None


@mutant("P-7.40/dispute-told")
def tells_nobody():
    clean = bot["post"]
    bot["post"] = lambda method, params: None if method == "league_query" else clean(method, params)


# --- JSON-RPC --------------------------------------------------------------------------------------------------------
answers("P-1/join-id-echoed", "id_missing", lambda answer, body: {**answer, "id": None})
answers("P-1/string-id", "id_as_number", lambda answer, body: {**answer, "id": 7 if isinstance(answer["id"], str) else answer["id"]})
answers("P-1/large-id", "id_as_float", lambda answer, body: {**answer, "id": float(answer["id"]) if isinstance(answer["id"], int) and answer["id"] > 2**50 else answer["id"]})
answers("P-1/id-zero", "id_zero_lost", lambda answer, body: {**answer, "id": answer["id"] or None})
answers("P-1/join-jsonrpc", "version_missing", lambda answer, body: {k: v for k, v in answer.items() if k != "jsonrpc"})
answers("P-1/join-place", "result_wrapped", lambda answer, body: {**answer, "result": {"response": answer["result"]}} if "result" in answer else answer)
answers("P-1/join-no-null-error", "error_null", lambda answer, body: {**answer, "error": answer.get("error")})
answers("P-5/unknown-method", "unknown_method_ok", lambda answer, body: {"jsonrpc": "2.0", "id": answer["id"], "result": {"status": "ok"}} if answer.get("error", {}).get("code") == -32601 else answer)
answers("P-5/parse-error", "parse_error_code", lambda answer, body: {**answer, "error": {"code": -32603, "message": "?"}} if answer.get("error", {}).get("code") == -32700 else answer)
answers("P-5/no-own-codes", "own_error_code", lambda answer, body: {**answer, "error": {**answer["error"], "code": -32000}} if answer.get("error", {}).get("code") == -32602 else answer)
answers("P-5/bad-message-error-code", "error_without_data", lambda answer, body: {**answer, "error": {**answer["error"], "data": None}} if "error" in answer else answer)
answers("P-4.10/game-over-acknowledged", "game_over_refused", lambda answer, body: {"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32602, "message": "no"}} if b"notify_match_result" in body else answer)
answers("P-4/ping", "no_ping", lambda answer, body: {"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32601, "message": "no"}} if b'"ping"' in body else answer)
answers("P-4.17/no-token-echoed", "token_in_error", lambda answer, body: {**answer, "error": {**answer["error"], "message": str(body)}} if "error" in answer else answer)
answers("P-8/own-token-not-leaked", "own_token_leaked", lambda answer, body: {**answer, "error": {**answer["error"], "message": bot["me"].get("auth_token", "")}} if "error" in answer else answer)


REWRITTEN = {  # changes in the bot's text, for what no function holds
    "content_type_text": ("application/json\\r\\nContent-Length", "text/plain\\r\\nContent-Length"),
    "http_created": ("HTTP/1.1 200 OK", "HTTP/1.1 201 Created"),
}
MUTANTS["content_type_text"] = ("P-1/join-content-type", lambda: None)
MUTANTS["http_created"] = ("P-1/join-http-200", lambda: None)


@mutant("P-1/half-a-request")
def one_thread():
    import http.server

    bot["ThreadingHTTPServer"] = http.server.HTTPServer


def is_invited(call):
    return "nonce" in bot["matches"].get(call["match_id"], {})


# --- what is right, and refused --------------------------------------------------------------------------------------
def refuses(check, name, method, bad):
    def plant():
        clean = bot["METHODS"][method][0]

        def handler(call, *rest):
            if bad(call):
                raise bot["Refused"]("E023", "INVALID_FIELD_VALUE", "x", "not with me")
            return clean(call, *rest)

        set_handler(method, handler)

    MUTANTS[name] = (check, plant)


refuses("P-3/accepts-compact", "compact_time_refused", INVITE, lambda c: "-" not in c["timestamp"] and ":" not in c["timestamp"])
refuses("P-3/accepts-fraction", "fraction_refused", INVITE, lambda c: ".5Z" in c["timestamp"])
refuses("P-3/accepts-zero-offset", "offset_refused", INVITE, lambda c: c["timestamp"].endswith("00:00"))
refuses("P-9/past-deadline", "past_deadline_refused", CALL, lambda c: c["deadline"] < "2021")
refuses("P-2/protocol-minor", "minor_version_refused", INVITE, lambda c: c["protocol"] != "league.v2")
refuses("P-2/extra-field", "extra_field_refused", INVITE, lambda c: isinstance(c.get("league_check_extra"), str))
refuses("P-2/long-conversation", "long_conversation_refused", INVITE, lambda c: len(c["conversation_id"]) > 64)
refuses("P-4.7/join-answered", "player_b_refused", INVITE, lambda c: c["role_in_match"] == "PLAYER_B")
refuses("P-4.6/large-opponent-id", "opponent_id_two_digits", INVITE, lambda c: len(c["opponent_id"]) > 3)
refuses("P-4.8/no-context", "context_required", CALL, lambda c: "context" not in c)
refuses("P-4.8/no-standings", "standings_required", CALL, lambda c: "your_standings" not in (c.get("context") or {}))
refuses("P-6/second-invitation", "second_invitation_refused", INVITE, lambda c: is_invited(c))
refuses("P-4.10/technical-loss-acknowledged", "technical_loss_refused", OVER, lambda c: c["game_result"]["drawn_number"] is None)
refuses("P-4.5/unannounced-match", "announcement_required", INVITE, lambda c: c["round_id"] > 900 and c["round_id"] < 999)


@mutant("P-6/choice-without-invitation")
def invitation_required():
    """It does not declare receipts: who does may refuse such a call."""
    clean, post = bot["METHODS"][CALL][0], bot["post"]

    def choose(call, mine, at):
        if "nonce" not in mine:
            raise bot["Refused"]("E023", "INVALID_FIELD_VALUE", "match_id", "not invited")
        return clean(call, mine, at)

    def declare_nothing(method, params):
        params.get("player_meta", {}).pop("receipts", None)
        return post(method, params)

    set_handler(CALL, choose)
    bot["post"] = declare_nothing


@mutant("P-4.10/game-over-twice")
def game_over_once():
    clean = bot["METHODS"][OVER][0]
    seen = set()

    def handler(call):
        if call["match_id"] in seen:
            raise KeyError(call["match_id"])
        seen.add(call["match_id"])
        return clean(call)

    set_handler(OVER, handler)


# --- what is wrong, and accepted -------------------------------------------------------------------------------------
@mutant("P-8/wrong-credential")
def obeys_everybody():
    bot["check_caller"] = lambda call: 1


@mutant("P-8/missing-credential")
def no_token_no_check():
    clean = bot["check_caller"]
    bot["check_caller"] = lambda call: clean(call) if call.get("auth_token") else 1


@mutant("P-8/credential-of-another-match")
def one_credential_for_all():
    clean = bot["check_caller"]

    def check(call):
        try:
            return clean(call)
        except bot["Refused"]:
            return clean({**call, "match_id": "R77M7"})

    bot["check_caller"] = check


@mutant("P-8/later-attempt")
def first_attempt_only():
    clean = bot["hmac"].new

    class OneAttempt:
        compare_digest = staticmethod(bot["hmac"].compare_digest)
        new = staticmethod(lambda key, text, how: clean(key, text if text.endswith(b"#1") or b"#" not in text else b"x", how))

    bot["hmac"] = OneAttempt


@mutant("P-2/missing-match-id")
def takes_any_message():
    bot["check_message"] = lambda call, required: None
    clean = bot["play"]
    bot["check_caller"] = lambda call: 1

    def play(handler, call, attempt):
        return clean(handler, {"match_id": "R7M%d" % secrets.randbelow(10**6), **call}, attempt)

    bot["play"] = play


@mutant("P-3/rejects-offset")
def takes_any_time():
    clean = bot["check_message"]
    bot["check_message"] = lambda call, required: clean(
        {**call, "timestamp": "2025-01-15T10:30:00Z"} if isinstance(call, dict) else call, required)


# --- hostile input, crowds, restarts ---------------------------------------------------------------------------------
def dies(check, name, deadly):
    def plant():
        clean = bot["answer"]

        def answer(body):
            if deadly(body):
                os._exit(1)
            return clean(body)

        bot["answer"] = answer

    MUTANTS[name] = (check, plant)


dies("P-1/no-length", "dies_of_empty_body", lambda body: body == b"")
dies("P-5/deep-json", "dies_of_deep_json", lambda body: body.startswith(b"[[[[["))
dies("P-5/object-for-text", "dies_of_objects", lambda body: b"$ne" in body)
dies("P-5/huge-text", "dies_of_long_text", lambda body: b"x" * 5000 in body)


@mutant("P-6/parallel-matches")
def one_match_at_a_time():
    last = {}
    join, choose = bot["METHODS"][INVITE][0], bot["METHODS"][CALL][0]

    def remember(call, mine, at):
        last["match"] = mine
        return join(call, mine, at)

    set_handler(INVITE, remember)
    set_handler(CALL, lambda call, mine, at: choose(call, last.get("match", mine), at))


@mutant("P-6/many-matches")
def slower_each_time():
    invite, over, count = bot["METHODS"][INVITE][0], bot["METHODS"][OVER][0], [0]

    def finish(call):
        count[0] += 1
        return over(call)

    set_handler(OVER, finish)
    set_handler(INVITE, lambda *call: time.sleep(min(count[0], 200) / 1000) or invite(*call))


@mutant("P-8/returns-with-token")
def forgets_who_it_was():
    bot["os"] = type("Forgetful", (), {"path": type("P", (), {"exists": staticmethod(lambda path: False)}),
                                      "replace": staticmethod(os.replace), "umask": staticmethod(os.umask)})


@mutant("P-7.28/commitment-survives-restart")
def forgets_promises():
    clean = bot["save"]

    def save():
        kept, bot["matches"] = bot["matches"], {}
        clean()
        bot["matches"] = kept

    bot["save"] = save


@mutant("P-6/join-quick")
def slow():
    clean = bot["METHODS"][INVITE][0]
    set_handler(INVITE, lambda *call: time.sleep(1.2) or clean(*call))


# --- receipts --------------------------------------------------------------------------------------------------------
def signs(check, name, change):
    """A fault in receipts: `change` gets the key and the parts of the text, and returns both."""

    def plant():
        clean = bot["keyed"]

        def keyed(key, *parts):
            if parts[0] in ("JOIN", "CHOICE"):
                key, parts = change(key, list(parts))
            return clean(key, *parts)

        bot["keyed"] = keyed

    MUTANTS[name] = (check, plant)


def part(number, value):
    """Another value of a part: 0 is the kind, 1 the league key, then match, attempt, play, draw commitment, ..."""
    return lambda key, parts: (key, [*parts[:number], value, *parts[number + 1:]])


replies("P-4.7/join-accepts", "commits_never", drop("choice_commitment"), JOIN)
replies("P-7.61/join-receipt", "receipt_never_sent", drop("receipt"))
signs("P-7.61/join-receipt", "receipt_key_as_bytes", lambda key, parts: (bytes.fromhex(key).decode("latin-1"), parts))
signs("P-7.61/join-receipt", "receipt_with_token", lambda key, parts: (bot["me"]["auth_token"], parts))
signs("P-7.61/join-receipt", "receipt_of_league_id", part(1, "league_check"))
signs("P-7.61/choice-receipt", "receipt_without_nonce", lambda key, parts: (key, [one for i, one in enumerate(parts) if i != 7]))
signs("P-7.62/receipt-of-attempt", "receipt_of_first_attempt", part(3, 1))
signs("P-7.62/receipt-of-play", "receipt_of_first_play", part(4, 0))
signs("P-7.61/receipt-without-seed", "receipt_null_seed", lambda key, parts: (key, [*parts[:5], parts[5] or "null", *parts[6:]]))
signs("P-7.61/receipt-of-lone-choice", "receipt_null_commitment",
      lambda key, parts: (key, [*parts[:-1], parts[-1] or "null"]))
replies("P-8.16/join-answer-credential", "token_in_join", lambda m: m.update(auth_token=bot["me"]["auth_token"]), JOIN)
replies("P-8.16/choice-answer-credential", "token_in_choice", lambda m: m.update(auth_token=bot["me"]["auth_token"]), CHOICE)
replies("P-8.15/receipt-key-kept", "receipt_key_shown", lambda m: m.update(receipt_key=bot["home"].get("receipt_key")))


@mutant("P-7.63/one-choice-receipt")
def signs_any_commitment():
    clean = bot["METHODS"][CALL][0]
    set_handler(CALL, lambda call, mine, at: mine.pop("handed", None) and None or clean(call, mine, at))


@mutant("P-7.63/no-earlier-attempt")
def signs_earlier_attempts():
    clean = bot["METHODS"][CALL][0]

    def choose(call, mine, at):
        if "at" in mine:
            mine["at"] = at
        return clean(call, mine, at)

    set_handler(CALL, choose)


@mutant("P-7.63/announced-seed")
def forgets_announcements():
    set_handler("notify_round", lambda call: None)


@mutant("P-7.63/attempt-contradicts")
def believes_context():
    clean = bot["play"]

    def play(handler, call, attempt):
        if isinstance(call.get("context"), dict):
            attempt = call["context"].get("attempt", attempt)
        return clean(handler, call, attempt)

    bot["play"] = play


def tells(check, name, change):
    """A fault in get_match_record: `change` gets the answer and the call."""

    def plant():
        clean = bot["match_record"]

        def match_record(call):
            record = json.loads(json.dumps(clean(call)))
            return change(record, call) or record

        bot["match_record"] = match_record

    MUTANTS[name] = (check, plant)


def refuse_unknown(record, call):
    if not record["calls"]:
        raise bot["Refused"]("E023", "INVALID_FIELD_VALUE", "match_id", "unknown match")


def show_choice(record, call):
    for one in record["calls"]:
        one["choice"] = bot["matches"][call["match_id"]].get("choice")


tells("P-7.66/record-answered", "record_without_receipts", lambda record, call: [one.pop("receipt", 0) for one in record["calls"]] and None)
tells("P-7.66/record-answered", "record_without_times", lambda record, call: [one.pop("answered_at", 0) for one in record["calls"]] and None)
tells("P-7.66/record-empty", "record_refused", refuse_unknown)
tells("P-7.66/record-refused", "record_without_refusals",
      lambda record, call: {**record, "calls": [one for one in record["calls"] if "refused" not in one]})
tells("P-7.66/record-hides-choice", "record_shows_choice", show_choice)


@mutant("P-7.66/record-for-strangers")
def tells_everybody():
    clean = bot["match_record"]
    bot["match_record"] = lambda call: clean({**call, "auth_token": bot["me"]["auth_token"]})


@mutant("P-7.61/receipt-after-restart")
def forgets_receipt_key():
    clean = bot["save"]

    def save():
        kept, bot["home"] = bot["home"], {}
        clean()
        bot["home"] = kept

    bot["save"] = save


# --- registration ----------------------------------------------------------------------------------------------------
def registers(check, name, change):
    def plant():
        clean = bot["post"]

        def post(method, params):
            if method == "register_player":
                params = json.loads(json.dumps(params))
                method = change(params) or method
            return clean(method, params)

        bot["post"] = post

    MUTANTS[name] = (check, plant)


registers("P-8.15/returns-with-nonce", "nonce_of_the_day", lambda p: p.update(registration_nonce=secrets.token_hex(16)))
registers("P-4.3/method", "registers_by_type", lambda p: "LEAGUE_REGISTER_REQUEST")
registers("P-4.3/version", "version_not_semantic", lambda p: p["player_meta"].update(version="one"))
registers("P-4.3/game-types", "game_types_as_text", lambda p: p["player_meta"].update(game_types="even_odd"))
registers("P-4.3/display-name", "name_missing", lambda p: p["player_meta"].pop("display_name") and None)
registers("P-2/register-sender", "sender_with_blanks", lambda p: p.update(sender="player:my bot"))
registers("P-2/register-protocol", "register_protocol_missing", lambda p: p.pop("protocol") and None)
registers("P-6/protocol-version", "version_league_v2", lambda p: p["player_meta"].update(protocol_version="league.v2"))
registers("P-3/register-timestamp", "register_time_local", lambda p: p.update(timestamp="2025-01-15 10:30:00"))


# --- serving ---------------------------------------------------------------------------------------------------------
def serve(name):
    """Runs the bot with the fault `name`; `clean` has none."""
    text = BOT.read_text()
    if name in REWRITTEN:
        old, new = REWRITTEN[name]
        assert old in text, old
        text = text.replace(old, new)
    main = text.index('if __name__ == "__main__"')
    bot["__name__"] = "bot_under_test"
    exec(compile(text[:main], str(BOT), "exec"), bot)  # pylint: disable=exec-used
    if name != "clean":
        MUTANTS[name][1]()
    bot["__name__"] = "__main__"
    exec(compile("\n" * text[:main].count("\n") + text[main:], str(BOT), "exec"), bot)  # pylint: disable=exec-used


if __name__ == "__main__":
    if len(sys.argv) < 2:
        for mutant_name, (check_id, _) in MUTANTS.items():
            print(f"{mutant_name:32} {check_id}")
        sys.exit(0)
    serve(sys.argv.pop(1))
