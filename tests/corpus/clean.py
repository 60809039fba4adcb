"""What strangers and odd bots leave in the logs of an honest league: none of it is anybody's fault (docs/protocol.md,
"What counts as evidence")."""

import log_builder
from cases import MANAGER, incident, made
from commitments import lost_by
from lies import R1, R2, details_of, foreign, report_of

STRANGER = "127.0.0.1:55555"


def before_end(*steps):
    """Runs each step when all matches are over and the logs still open."""
    def plan(league):
        finish = league.finish

        def later(count):
            for step in steps:
                step(league)
            finish(count)
        league.finish = later
    return plan


def asked(league, agent, body, answer, verdict=None, peer=STRANGER, conversation="convguest001", kind="", **more):
    """Somebody who keeps no log calls an agent. `body` is the whole frame; a dictionary or a text."""
    call = league.log(agent).next_call()
    fields = {"conversation_id": conversation, **more, **({"verdict": verdict, "fault": "refused"} if verdict else {})}
    fields = {key: value for key, value in fields.items() if value is not None}
    fields.setdefault("conversation_id", None)
    league.note(agent, "in", "request", peer, log_builder.Frame(body), call, message_type=kind or None, **fields)
    answer = answer if "jsonrpc" in answer else {"jsonrpc": "2.0", "id": 1, "result": answer}
    league.note(agent, "out", "reply", peer, log_builder.Frame(answer), call, http_status=200, **fields)


def refused(code):
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no", "data": {"error_code": code}}}


def league_error(league, code, original):
    return league.message("LEAGUE_ERROR", MANAGER, None, "convguest001", league_id=league.league_id, error_code=code,
                          error_name="NAME", error_description="no", original_message_type=original)


def call_of(method, params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def guest(name, short=False, **options):
    """Registers an honest league with one strange call, made by the decorated function."""
    def register(step):
        made("clean", name, plan=before_end(step), short=short, **options)(None)
        return step
    return register


# --- At the manager -------------------------------------------------------------------------------------------------
@guest("wrong-operator-key", short=True)
def _operator(league):
    asked(league, MANAGER, call_of("start_league", {"operator_key": "op_gues..."}), refused("E016"), "E016", kind="start_league")


@guest("wrong-operator-key-in-full")
def _operator_in_full(league):
    """The key that a stranger made up is nobody's secret; our logs mask it all the same."""
    asked(league, MANAGER, call_of("start_league", {"operator_key": "guess..."}), league_error(league, "E016", "start_league"), "E016")


@guest("long-conversation", short=True)
def _long(league):
    long = "c" * 101
    body = league.message("LEAGUE_QUERY", "player:P01", league.token("P01"), long, league_id=league.league_id,
                          query_type="GET_STANDINGS")
    asked(league, MANAGER, call_of("league_query", body), league_error(league, "E022", "LEAGUE_QUERY"), "E022", conversation=long,
          kind="LEAGUE_QUERY")


@guest("very-long-conversation-that-is-answered")
def _longer(league):
    long = "c" * 5000
    body = league.message("LEAGUE_QUERY", "player:P01", league.token("P01"), long, league_id=league.league_id,
                          query_type="GET_STANDINGS")
    asked(league, MANAGER, call_of("league_query", body), league_error(league, "E022", "LEAGUE_QUERY"), "E022", conversation=None,
          kind="LEAGUE_QUERY")


def _no_conversation(league):
    body = league.message("LEAGUE_QUERY", "player:P03", league.token("P03"), "x", league_id=league.league_id, query_type="GET_STANDINGS")
    del body["conversation_id"]
    answer = league.message("LEAGUE_QUERY_RESPONSE", MANAGER, None, "convmade001", league_id=league.league_id,
                            query_type="GET_STANDINGS", success=True, data={"standings": []})
    asked(league, MANAGER, call_of("league_query", body), answer, kind="LEAGUE_QUERY", conversation=None, peer="player:P03",
          leniencies=["missing_conversation_id"])


@made("clean", "query-without-conversation", plan=before_end(_no_conversation), short=True)
def _of_a_bot(league):
    from evidence import unregistered_key
    unregistered_key(league, "player:P03")


EXTRAS = {
    "draw_proof": "00" * 32, "matches": [{"match_id": R1, "player_A_id": "P03", "player_B_id": "P01", "draw_commitment": "ee" * 32,
                                          "conversation_id": "convr1m1001", "referee_id": "REF02", "attempt": 9}],
    "log_head": {"seq": 3, "hash": "ee" * 32}, "final_standings": [{"player_id": "P01", "rank": 1}], "draw_commitment": "ee" * 32,
    "match_id": R1, "result": {"winner": "P02", "score": {"P02": 3}}, "context": {"draw_commitment": "ee" * 32, "opponent_commitment": "11" * 32},
    "parity_choice": "odd", "choice_commitment": "ee" * 32, "log_public_key": "ee" * 32, "league_key": "ee" * 32, "status": "ACCEPTED",
    "player_id": "P01", "query_type": "DISPUTE_MATCH", "sender": "league_manager",
}


def registration(league, sender="player:guest", verdict="E019", accepted=False, meta=None, **extra):
    meta = {"display_name": "guest", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": "http://localhost:9/mcp",
            **(meta or {})}
    body = league.message("LEAGUE_REGISTER_REQUEST", sender, None, "convguest001", player_meta=meta)
    body.update(extra)
    answer = league.message("LEAGUE_REGISTER_RESPONSE", MANAGER, None, "convguest001", league_id=league.league_id,
                            status="REJECTED", player_id=None, reason="the league has begun", error_code="E019")
    asked(league, MANAGER, call_of("register_player", body), answer, None if accepted else verdict, kind="LEAGUE_REGISTER_REQUEST",
          match_id=extra.get("match_id"))


for _key, _value in EXTRAS.items():
    for _verdict in (True, False):
        guest(f"registration-with-{_key}{'' if _verdict else '-that-is-taken'}")(
            lambda league, key=_key, value=_value, verdict=_verdict: registration(league, accepted=not verdict, **{key: value}))


@guest("registration-with-everything", short=True)
def _everything(league):
    registration(league, **EXTRAS)


for _sender in ("league_manager", "referee:REF01", "player:P01", "player:P99", "nobody", ""):
    guest(f"registration-in-the-name-of-{_sender or 'nothing'}", short=_sender == "league_manager")(
        lambda league, sender=_sender: registration(league, sender=sender))


@guest("registration-with-another-agents-key")
def _key(league):
    registration(league, meta={"log_public_key": league.log("P01").signer.public_key})


def report(league, sender, verdict, change=None, match=R1):
    plan = league.plans[match]
    body = league.message("MATCH_RESULT_REPORT", sender, "tok_gues...", f"conv{match.lower()}001", league_id=league.league_id,
                          round_id=1, match_id=match, game_type="even_odd",
                          result={"winner": plan.a, "score": {plan.a: 3, plan.b: 0}, "details": {"draw_proof": "00" * 32, "drawn_number": 11}})
    body.update(change or {})
    asked(league, MANAGER, call_of("report_match_result", body), league_error(league, verdict, "MATCH_RESULT_REPORT"), verdict,
          kind="MATCH_RESULT_REPORT", match_id=body["match_id"], conversation=body["conversation_id"])


for _sender, _code in (("player:P01", "E014"), ("referee:REF02", "E032"), ("referee:REF09", "E013"), ("league_manager", "E014")):
    guest(f"report-of-{_sender.replace(':', '-')}", short=_code == "E032")(
        lambda league, sender=_sender, code=_code: report(league, sender, code))
guest("report-of-an-unknown-match")(lambda league: report(league, "referee:REF01", "E030", {"match_id": "R9M9"}))
for _body in ("", "hello", "[]", "null", "5", '"text"', "{", '{"jsonrpc":"2.0"}', '{"params":[1,2]}', '{"params":{"matches":5}}', "[" * 3000):
    guest(f"body-{_body[:12].translate({ord(c): '_' for c in chr(34) + '{}[]:,. '}) or 'empty'}-{len(_body)}")(
        lambda league, body=_body: asked(league, MANAGER, body, refused("E003"), "E003", conversation=None))
guest("unknown-method")(lambda league: asked(league, MANAGER, call_of("make_coffee", {}), {
    "jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "unknown method"}}, conversation=None))


# --- At players and referees ----------------------------------------------------------------------------------------
@guest("error-of-a-stranger", short=True)
def _stranger_error(league):
    body = league_error(league, "E012", "LEAGUE_REGISTER_REQUEST")
    asked(league, "P02", call_of("notify_league_error", body), {"status": "ok"}, kind="LEAGUE_ERROR", leniencies=["missing_call_token"])


@guest("error-of-a-stranger-to-a-referee")
def _stranger_error_to_referee(league):
    body = league_error(league, "E035", "MATCH_RESULT_REPORT") | {"match_id": R1, "log_head": {"seq": 2, "hash": "ee" * 32}}
    asked(league, "REF01", call_of("notify_league_error", body), {"status": "ok"}, kind="LEAGUE_ERROR", match_id=R1)


def news_of_a_stranger(kind, method, verdict, leniency=None, agent="P02", **fields):
    def step(league):
        body = league.message(kind, MANAGER, None, "convstranger001", league_id=league.league_id, **fields)
        more = {"leniencies": [leniency]} if leniency else {}
        asked(league, agent, call_of(method, body), refused("E011") if verdict else {"status": "ok"}, verdict, kind=kind, **more)
    return step


FALSE_MATCH = [{"match_id": R1, "game_type": "even_odd", "player_A_id": "P02", "player_B_id": "P01", "referee_endpoint": "http://localhost:1/mcp",
                "referee_id": "REF02", "draw_commitment": "ee" * 32, "conversation_id": "convr1m1001", "attempt": 3}]
HEAD = {"seq": 5, "hash": "ee" * 32}
for _verdict, _leniency in (("E011", None), (None, "missing_call_token"), (None, "foreign_call_token")):
    _how = _verdict or _leniency
    guest(f"announcement-of-a-stranger-{_how}", short=_how == "foreign_call_token")(news_of_a_stranger(
        "ROUND_ANNOUNCEMENT", "notify_round", _verdict, _leniency, round_id=1, matches=FALSE_MATCH, log_head=HEAD))
    guest(f"end-of-a-stranger-{_how}")(news_of_a_stranger(
        "LEAGUE_COMPLETED", "notify_league_completed", _verdict, _leniency, total_rounds=3, total_matches=3, log_head=HEAD,
        champion={"player_id": "P02", "display_name": "p02", "points": 99}, final_standings=[]))
    guest(f"game-over-of-a-stranger-{_how}")(news_of_a_stranger(
        "GAME_OVER", "notify_match_result", _verdict, _leniency, match_id=R1, round_id=1, game_type="even_odd", draw_proof="00" * 32,
        reason="x", game_result={"status": "DRAW", "winner_player_id": None, "drawn_number": 3, "number_parity": "odd", "choices": {}, "reason": "x"}))


@guest("calls-of-a-stranger")
def _calls(league):
    plan = league.plans[R1]
    context = {"opponent_id": plan.b, "round_id": 1, "your_standings": {"wins": 0, "losses": 0, "draws": 0},
               "draw_commitment": "ee" * 32, "opponent_commitment": "dd" * 32}
    for kind, method, more in (("GAME_INVITATION", "handle_game_invitation", {"role_in_match": "PLAYER_A", "opponent_id": plan.b,
                                                                              "draw_commitment": "ee" * 32}),
                               ("CHOOSE_PARITY_CALL", "choose_parity", {"player_id": plan.a, "context": context,
                                                                        "deadline": "2026-01-15T11:00:00Z"})):
        body = league.message(kind, f"referee:{plan.referee}", None, "convstranger1", league_id=league.league_id, round_id=1,
                              match_id=R1, game_type="even_odd", **more)
        asked(league, plan.a, call_of(method, body), refused("E011"), "E011", kind=kind, match_id=R1, conversation="convstranger1")


# --- Bots that answer in their own way ------------------------------------------------------------------------------
def answers_with(agent, kind, change, leniency):
    """An odd bot without a log: in all its answers of that kind, something is changed that the caller overlooked."""
    def after(league):
        from evidence import unregistered_key
        for name, log in league.logs.items():
            for record in log.records():
                if record["peer"] == f"player:{agent}" and record["kind"] == "reply" and record["dir"] == "in":
                    message = record.message
                    if message.get("message_type") == kind or (kind is None and "message_type" not in message):
                        change(message)
                        record["leniencies"] = [leniency]
        unregistered_key(league, f"player:{agent}")
    return after


for _field, _value in (("conversation_id", "another"), ("conversation_id", ""), ("conversation_id", "c" * 200), ("league_id", "other"),
                       ("round_id", 77), ("round_id", "R1"), ("sender", "player:P99"), ("player_id", "P04"), ("auth_token", "x..."),
                       ("draw_proof", "00" * 32), ("draw_commitment", "ee" * 32), ("log_head", HEAD), ("matches", FALSE_MATCH)):
    for _kind in ("GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"):
        made("clean", f"{_kind.lower()}-with-{_field}-{str(_value)[:8].translate({ord(c): '_' for c in chr(39) + '[]{}: '})}",
             options={"commitments": False}, short=_value == "another" and _kind == "CHOOSE_PARITY_RESPONSE")(
                 answers_with("P02", _kind, lambda message, field=_field, value=_value: message.update({field: value}), "foreign_reply"))
for _field, _value in (("message_type", "ROUND_COMPLETED"), ("message_type", "MATCH_RESULT_REPORT"), ("message_type", "LEAGUE_COMPLETED"),
                       ("message_type", "REGISTER"), ("message_type", 7), ("log_head", HEAD), ("matches", FALSE_MATCH),
                       ("draw_proof", "00" * 32), ("sender", MANAGER)):
    made("clean", f"acknowledgement-with-{_field}-{str(_value)[:12].translate({ord(c): '_' for c in chr(39) + '[]{}: '})}",
         short=_value == "ROUND_COMPLETED")(
        answers_with("P02", None, lambda message, field=_field, value=_value: message.update({field: value}), "none"))


@made("clean", "report-in-another-conversation", short=True)
def _foreign_conversation(league):
    """A third-party referee, without a log, calls its report what it likes."""
    from evidence import unregistered_key
    referee = league.plans[R2].referee
    foreign(league, referee)
    for frame in league.reports(R2):
        frame.message["conversation_id"] = "my own conversation"
    for record in league.find(MANAGER, match=R2):
        if record["peer"] == f"referee:{referee}":
            record["conversation_id"] = "my own conversation"
            if record["dir"] == "in":
                record["leniencies"] = ["foreign_conversation"]
    unregistered_key(league, f"referee:{referee}")


@made("clean", "report-without-attempt-and-version-of-a-foreign-referee", options={"commitments": False})
def _bare_report(league):
    foreign(league, league.plans[R1].referee)
    details_of(R1, lambda details: [details.pop(key, None) for key in ("attempt", "draw_version", "choice_commitments", "failures")])(league)


made("clean", "unproven-report-without-details", incident("result.unproven"), options={"commitments": False})(
    lambda league: (foreign(league, league.plans[R1].referee), report_of(league, R1)["result"].update(details={}),
                    [r.message.pop("draw_proof", None) for p in league.plans[R1].players for r in league.find(p, "GAME_OVER", R1, dir="in")]))


# --- Entered players, disputes, the rest ----------------------------------------------------------------------------
@made("clean", "player-entered-by-hand", short=True)
def _entered(league):
    from evidence import unregistered_key
    unregistered_key(league, "player:P03")


@guest("status-calls")
def _status(league):
    for agent in (MANAGER, "REF01", "P01"):
        asked(league, agent, call_of("ping", {}), {"status": "ok"}, conversation=None, kind="ping")


def disputes(player, match, accepted=True, reason="my choice was another"):
    def step(league):
        body = league.message("LEAGUE_QUERY", f"player:{player}", league.token(player), "convdispute001", league_id=league.league_id,
                              query_type="DISPUTE_MATCH", query_params={"match_id": match, "reason": reason})
        answer = (league.message("LEAGUE_QUERY_RESPONSE", MANAGER, None, "convdispute001", league_id=league.league_id,
                                 query_type="DISPUTE_MATCH", success=True, data={"match_id": match, "disputed": True})
                  if accepted else league_error(league, "E012", "LEAGUE_QUERY") | {"conversation_id": "convdispute001"})
        records = league.call(f"player:{player}", MANAGER, "league_query", body, answer)
        if not accepted:
            for record in records[1:]:
                record["verdict"], record["fault"] = "E012", "refused"
    return step


made("dispute", "accepted", incident("match.disputed", None, R1), plan=before_end(disputes("P02", R1)), short=True)(None)
made("dispute", "of-two-players", incident("match.disputed", None, R1),
     plan=before_end(disputes("P02", R1), disputes("P03", R1)))(None)
made("dispute", "refused", plan=before_end(disputes("P02", R1, accepted=False)))(None)
made("dispute", "with-a-long-reason", incident("match.disputed"), plan=before_end(disputes("P02", R1, reason="x" * 500)))(None)


@guest("dispute-of-a-stranger")
def _strange_dispute(league):
    body = league.message("LEAGUE_QUERY", "player:P02", None, "convguest001", league_id=league.league_id, query_type="DISPUTE_MATCH",
                          query_params={"match_id": R1, "reason": "x"})
    asked(league, MANAGER, call_of("league_query", body), league_error(league, "E011", "LEAGUE_QUERY"), "E011", kind="LEAGUE_QUERY")


def both_plans(*plans):
    def plan(league):
        for one in plans:
            one(league)
    return plan


made("clean", "losses-of-all-kinds", plan=both_plans(lost_by("a", "CHOOSE_PARITY_CALL", "E001", R1), lost_by("b", "GAME_INVITATION", "E009", R2),
                                                    lost_by("a", "CHOOSE_PARITY_CALL", "E004", "R3M1")), short=True)(None)
for _seed in range(1, 6):
    made("clean", f"league-{_seed}", options={"seed": _seed, "players": 4 + _seed % 2})(None)
    made("clean", f"old-league-{_seed}", options={"seed": _seed, "old": True})(None)
