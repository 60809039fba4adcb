"""What a referee that keeps to the rules reports, computed from the protocol's description of the draw."""

import hashlib
import hmac

FAILURE = {"call": "GAME_INVITATION", "error_code": "E009", "elapsed_ms": 5, "attempt": 1}


def drawn_number(seed, match_id, choice_a, choice_b):
    """Draw version 1: docs/protocol.md, "The draw"."""
    counter = 0
    while True:
        text = f"{match_id}|{choice_a}|{choice_b}|{counter}".encode()
        for byte in hmac.digest(bytes.fromhex(seed), text, hashlib.sha256):
            if byte < 250:
                return byte % 10 + 1
        counter += 1


def result_of(match, choice_a="even", choice_b="odd"):
    """The `result` of an assigned match in which the players chose so."""
    a, b = match["player_A_id"], match["player_B_id"]
    number = drawn_number(match["draw_seed"], match["match_id"], choice_a, choice_b)
    parity = "odd" if number % 2 else "even"
    right = [choice == parity for choice in (choice_a, choice_b)]
    winner = None if right[0] == right[1] else (a if right[0] else b)
    score = {player: 1 if winner is None else 3 * (player == winner) for player in (a, b)}
    return {"winner": winner, "score": score,
            "details": {"drawn_number": number, "number_parity": parity, "choices": {a: choice_a, b: choice_b},
                        "attempt": match["attempt"], "termination": "NORMAL", "failures": [], "draw_version": 1,
                        "draw_proof": match["draw_seed"]}}


def technical_result_of(match, **failure):
    """The same match, lost by player B for the failure that is given: by default a connection that failed."""
    a, b = match["player_A_id"], match["player_B_id"]
    return {"winner": a, "score": {a: 3, b: 0},
            "details": {"drawn_number": None, "number_parity": None, "choices": {a: None, b: None},
                        "attempt": match["attempt"], "termination": "CONNECTION_JOIN",
                        "failures": [{**FAILURE, "player_id": b, **failure}], "draw_proof": match["draw_seed"]}}


def report(referee, manager, match, result, **changes):
    """Reports `result` of the assigned `match`; `changes` replace fields of the message."""
    fields = {"round_id": 1, "match_id": match["match_id"], "game_type": "even_odd",
              "conversation_id": match["conversation_id"], "result": result, **changes}
    return referee.say(manager, "report_match_result", "MATCH_RESULT_REPORT", role="referee", **fields)
