"""Strangers who call the programs of a running league: each does one thing that must stand in nobody's way and be laid at
nobody's door."""

from cases import MANAGER  # noqa: F401  (finds tests/support)
from league_testing import message, player_registration, post, referee_registration, rpc

HASH = "ee" * 32
FALSE_MATCH = {"match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P02", "player_B_id": "P01", "referee_id": "REF01",
               "referee_endpoint": "http://localhost:1/mcp", "draw_commitment": HASH, "conversation_id": "convr1m1001", "attempt": 7}
EXTRAS = {"draw_proof": "00" * 32, "matches": [FALSE_MATCH], "log_head": {"seq": 3, "hash": HASH}, "draw_commitment": HASH,
          "final_standings": [{"player_id": "P01", "rank": 1, "points": 99}], "match_id": "R1M1", "parity_choice": "odd",
          "context": {"draw_commitment": HASH, "opponent_commitment": HASH}, "result": {"winner": "P02", "score": {"P02": 3}}}


def wrong_operator_key(league):
    for key in ("guess", "", "op_" + "a" * 40, 5, None, ["x"]):
        rpc(league.manager.url, "start_league", {"operator_key": key})


def long_conversation(league):
    for length in (100, 101, 5000):
        for method, kind in (("league_query", "LEAGUE_QUERY"), ("report_match_result", "MATCH_RESULT_REPORT"), ("register_player", "LEAGUE_REGISTER_REQUEST")):
            rpc(league.manager.url, method, message(kind, "player:P01", "nobody's", conversation_id="c" * length, query_type="GET_STANDINGS"))


def query_without_conversation(league):
    body = message("LEAGUE_QUERY", "player:P01", query_type="GET_STANDINGS", league_id=league.manager.id)
    del body["conversation_id"]
    rpc(league.manager.url, "league_query", body)
    rpc(league.manager.url, "league_query", {"query_type": "GET_STANDINGS"})
    rpc(league.manager.url, "league_query", {})
    rpc(league.manager.url, "get_standings", {"conversation_id": None})


def registration_with_extra_fields(league):
    for key, value in EXTRAS.items():
        rpc(league.manager.url, "register_player", player_registration("late" + key, "http://127.0.0.1:9/mcp", **{key: value}))
    rpc(league.manager.url, "register_referee", referee_registration("late", "http://127.0.0.1:9/mcp", **EXTRAS))


def registration_in_another_name(league):
    for sender in (MANAGER, "referee:REF01", "player:P01", "player:P99", "nobody", ""):
        rpc(league.manager.url, "register_player", player_registration("guest", "http://127.0.0.1:9/mcp", sender=sender))
        rpc(league.manager.url, "register_player", player_registration("guest", "http://127.0.0.1:9/mcp", sender=sender,
                                                                       meta={"log_public_key": HASH}))


def error_of_a_stranger(league):
    for url in league.urls():
        body = message("LEAGUE_ERROR", MANAGER, error_code="E012", error_name="AUTH_TOKEN_INVALID", error_description="you are out",
                       original_message_type="MATCH_RESULT_REPORT", match_id="R1M1")
        rpc(url, "notify_league_error", body)
        rpc(url, "notify_league_error", body | {"auth_token": "wrong", "log_head": {"seq": 1, "hash": HASH}})


def false_news(league):
    for url in league.urls():
        for token in (None, "wrong"):
            shared = {"league_id": league.manager.id, "round_id": 1, "log_head": {"seq": 9, "hash": HASH}}
            rpc(url, "notify_round", message("ROUND_ANNOUNCEMENT", MANAGER, token, matches=[FALSE_MATCH], **shared))
            rpc(url, "notify_league_completed", message("LEAGUE_COMPLETED", MANAGER, token, total_rounds=1, total_matches=1, final_standings=[],
                                                        champion={"player_id": "P01", "display_name": "x", "points": 9}, **shared))
            rpc(url, "notify_match_result", message("GAME_OVER", "referee:REF01", token, match_id="R1M1", game_type="even_odd", draw_proof="00" * 32,
                                                    game_result={"status": "DRAW", "winner_player_id": None, "drawn_number": 3, "number_parity": "odd",
                                                                 "choices": {"P01": "even"}, "reason": "x"}, **shared))


def false_calls(league):
    for url in league.urls():
        for kind, method in (("GAME_INVITATION", "handle_game_invitation"), ("CHOOSE_PARITY_CALL", "choose_parity")):
            rpc(url, method, message(kind, "referee:REF01", None, league_id=league.manager.id, round_id=1, match_id="R1M1", game_type="even_odd",
                                     role_in_match="PLAYER_A", opponent_id="P02", player_id="P01", deadline="2030-01-01T00:00:00Z",
                                     draw_commitment=HASH, context={"opponent_id": "P02", "draw_commitment": HASH, "opponent_commitment": HASH}))


def false_reports(league):
    for sender in ("referee:REF01", "referee:REF09", "player:P01", MANAGER):
        for token in (None, "wrong"):
            rpc(league.manager.url, "report_match_result",
                message("MATCH_RESULT_REPORT", sender, token, league_id=league.manager.id, round_id=1, match_id="R1M1", game_type="even_odd",
                        conversation_id="convr1m1001", result={"winner": "P01", "score": {"P01": 3, "P02": 0},
                                                               "details": {"draw_proof": "00" * 32, "drawn_number": 4, "choices": {"P01": "even"}}}))


def posted_answers(league):
    """Answers to calls that nobody made, or made to somebody else, as calls of their own."""
    for url in league.urls():
        for player in ("P01", "P02", "P09"):
            for token in (None, "wrong"):
                shared = {"league_id": league.manager.id, "round_id": 1, "match_id": "R1M1", "player_id": player, "conversation_id": "convr1m1001"}
                join = message("GAME_JOIN_ACK", f"player:{player}", token, accept=False, arrival_timestamp="2025-01-15T10:30:00Z",
                               choice_commitment=HASH, **shared)
                choice = message("CHOOSE_PARITY_RESPONSE", f"player:{player}", token, parity_choice="odd", choice_nonce=HASH, **shared)
                for body in (join, choice):
                    rpc(url, body["message_type"], body)
                    post(url, body)


def work_of_others(league):
    for token in (None, "wrong", 5):
        rpc(league.manager.url, "get_assigned_matches", {"referee_id": "REF01", "auth_token": token})
        rpc(league.manager.url, "league_query", {"query_type": "GET_REGISTRATIONS", "auth_token": token})
    post(league.manager.url.replace("/mcp", "/register"), {"display_name": "guest", "endpoint": "http://127.0.0.1:9/mcp"})


def disputes(league):
    rpc(league.manager.url, "league_query", message("LEAGUE_QUERY", "player:P01", "wrong", league_id=league.manager.id,
                                                    query_type="DISPUTE_MATCH", query_params={"match_id": "R1M1", "reason": "x"}))


def noise(league):
    for body in (b"", b"hello", b"[]", b"null", b'{"jsonrpc":"2.0"}', b'{"params":{"matches":5}}', b"[" * 2000, b"\xff\xfe", b'{"a":"\\ud800"}',
                 b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"log_head":{"seq":-1,"hash":5},"message_type":["x"]}}'):
        for url in (league.manager.url, *league.urls()):
            try:
                post(url, body)
            except OSError:
                pass


def tools(league):
    for url in (league.manager.url, *league.urls()):
        for method in ("ping", "make_coffee", "get_player_state", "get_match_state", "start_match", "get_league_status"):
            rpc(url, method, {"conversation_id": "c" * 300, "match_id": "R1M1", "draw_proof": "00" * 32})


GUESTS = {one.__name__.replace("_", "-"): one for one in (
    wrong_operator_key, long_conversation, query_without_conversation, registration_with_extra_fields, registration_in_another_name,
    error_of_a_stranger, false_news, false_calls, false_reports, posted_answers, work_of_others, disputes, noise, tools)}
