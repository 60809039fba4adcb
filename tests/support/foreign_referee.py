"""Referees as other people write them, from the transcripts of what they send: each is started in its own way and reports in its own form.

A `Dialect` says how a match reaches the referee, `form` how it writes a result. None of them knows match credentials, seeds or attempts: each
shows players its own manager token, as the published protocol has it.
"""

import contextlib
import json
import random
import threading
from dataclasses import dataclass
from typing import Callable

from league_testing import message, now, post, rpc
from scripted_bot import Bot, Raw


def json_error(frame, code, text):
    return {"jsonrpc": "2.0", "id": frame.get("id"), "error": {"code": code, "message": text}}


def result(frame, value):
    return {"jsonrpc": "2.0", "id": frame.get("id"), "result": value}


# --- how a match reaches the referee: frame -> list of its matches, or None for a call that it does not know -----------------------------------


def the_match(params, a="player_A", b="player_B"):
    return {"match_id": params["match_id"], "round_id": params.get("round_id", params.get("round")),
            "players": {params[f"{a}_id"]: params[f"{a}_endpoint"], params[f"{b}_id"]: params[f"{b}_endpoint"]}}


def by_referee_id(bot, frame):
    if frame["method"] != "notify_round":
        return None
    params = frame["params"]
    return [the_match({**one, "round_id": params["round_id"]}) for one in params["matches"] if one["referee_id"] == bot.id]


def by_endpoint(bot, frame):
    if frame["method"] != "ROUND_ANNOUNCEMENT":
        return None
    params = frame["params"]
    return [the_match({**one, "round_id": params["round_id"]}) for one in params["matches"] if one["referee_endpoint"] == bot.url]


def by_start_match(bot, frame):
    if frame["method"] != "START_MATCH":
        return None
    params = frame["params"]
    for name in ("protocol", "message_type", "sender", "conversation_id", "match_id", "round_id", "player_a_id", "player_b_id"):
        assert params[name] is not None, name
    assert params["message_type"] == "START_MATCH"
    assert params["sender"] == "league_manager:LM01"
    return [the_match(params, "player_a", "player_b")]


def by_bare_start_match(bot, frame):
    if frame["method"] != "START_MATCH":
        return None
    params = frame["params"]
    return [{"match_id": params["match_id"], "round_id": params["round_id"],
             "players": {params["player_a"]: params["player_a_endpoint"], params["player_b"]: params["player_b_endpoint"]}}]


def by_tools_call(bot, frame):
    if frame["method"] != "tools/call" or frame["params"]["name"] != "start_match":
        return None
    arguments = frame["params"]["arguments"]
    assert arguments["league_id"] == bot.league_id
    return [the_match(arguments)]


def by_assign_match(bot, frame):
    if frame["method"] != "assign_match":
        return None
    params = frame["params"]
    assert params["message_type"] == "MATCH_ASSIGNMENT"
    return [the_match(params, "player1", "player2")]


def by_handle_message(bot, frame):
    inner = frame["params"].get("message") if isinstance(frame.get("params"), dict) else None
    if frame["method"] != "handle_message" or not inner:
        return None
    if inner["message_type"] != "ROUND_ANNOUNCEMENT":
        return []
    return [the_match({**one, "round_id": inner["round_id"]}) for one in inner["matches"]]


def by_nothing(bot, frame):
    return None


def by_acknowledging(bot, frame):
    """It says yes to everything and plays nothing."""
    return []


def by_start_match_after_a_yes(bot, frame):
    """It says yes to announcements, too, but plays only what START_MATCH gives it."""
    return by_start_match(bot, frame) if frame["method"] == "START_MATCH" else []


@dataclass
class Dialect:
    name: str
    started_by: Callable
    error: tuple = (-32601, "Method not found")  # what it says to a call that it does not know
    status: int = 200  # of that
    polls: bool = False
    first_poll: float = 0.1  # seconds after its registration


DIALECTS = [
    Dialect("round_by_id", by_referee_id),
    Dialect("round_by_endpoint", by_endpoint),
    Dialect("start_match", by_start_match, status=404),
    Dialect("bare_start_match", by_bare_start_match, error=(-32603, "Unknown method")),
    Dialect("tools_call", by_tools_call, error=(-32603, "Unknown tool")),
    Dialect("assign_match", by_assign_match),
    Dialect("handle_message", by_handle_message, error=(-32000, "Missing required fields: message")),
    Dialect("polling", by_nothing, polls=True),
]


# --- what it reports: (players, points, choices, number) -> fields of MATCH_RESULT_REPORT -----------------------------------------------------


def winner_of(points):
    return next((player for player, value in points.items() if value == 3), None)


def plain(points, choices, number):
    return {"result": {"winner": winner_of(points), "score": points, "details": {"drawn_number": number, "choices": choices}}}


def without_details(points, choices, number):
    return {"result": {"winner": winner_of(points), "score": points}}


def flat(points, choices, number):
    return {"result": {"winner_id": winner_of(points), "drawn_number": number or 0, "choices": choices,
                       "players": {player: {"result": {3: "WIN", 1: "DRAW", 0: "LOSS"}[value], "points": value}
                                   for player, value in points.items()}}}


def no_points_for_draws(points, choices, number):
    told = {player: 0 if value == 1 else value for player, value in points.items()}
    return {"result": {"winner": winner_of(points), "score": told, "details": {"drawn_number": number, "choices": choices}}}


FORMS = [plain, without_details, flat, no_points_for_draws]


class ForeignReferee(Bot):
    """Plays what it is given, with its own token towards players. `numbers` are what it draws, again from the first."""

    def __init__(self, name, dialect, form=plain, numbers=(4, 7)):
        self.dialect, self.form, self.numbers = dialect, form, list(numbers)
        self.played, self.answers, self.manager, self.reported = [], [], None, None
        self._stop = threading.Event()
        super().__init__(name)

    def join_as_referee(self, manager, **meta):
        self.manager = manager
        super().join_as_referee(manager, **meta)
        if self.dialect.polls:
            self._begin(self._poll)
        return self

    @staticmethod
    def _begin(work, *arguments):
        def run():
            with contextlib.suppress(OSError):  # the others have ended
                work(*arguments)

        threading.Thread(target=run, daemon=True).start()

    def close(self):
        self._stop.set()
        super().close()

    def answer(self, frame):
        if "method" not in frame:
            return Raw(b"Internal Server Error", 500)
        matches = self.dialect.started_by(self, frame)
        if matches is None:
            error = json_error(frame, *self.dialect.error)
            return error if self.dialect.status == 200 else Raw(json.dumps(error).encode(), self.dialect.status)
        for match in matches:
            self._begin(self.play, match)
        return result(frame, {"status": "ok", "message_type": "START_MATCH_ACK"})

    def _poll(self):
        self._stop.wait(self.dialect.first_poll)
        while not self._stop.wait(0.1):
            known = rpc(self.manager.url, "league_query", {"query_type": "GET_REGISTRATIONS", "auth_token": self.token}).result()
            given = rpc(self.manager.url, "get_assigned_matches", {"referee_id": self.id, "auth_token": self.token}).result()
            where = {one["player_id"]: one["endpoint"] for one in (known or {}).get("players", [])}
            for one in (given or {}).get("matches", []):
                pair = (one["player_A_id"], one["player_B_id"])
                if one["status"] == "PENDING" and set(pair) <= set(where):
                    self.play({"match_id": one["match_id"], "round_id": one["round"], "players": {p: where[p] for p in pair}})

    # -- the match
    def play(self, match):
        players = list(match["players"])
        conversation = f"conv-{self.name}-{match['match_id']}"
        shared = {"conversation_id": conversation, "league_id": self.league_id, "round_id": match["round_id"],
                  "match_id": match["match_id"], "game_type": "even_odd"}

        def ask(player, method, message_type, **fields):
            body = message(message_type, f"referee:{self.id}", self.token, **shared, **fields)
            answer = rpc(match["players"][player], method, body)
            self.answers.append(answer)
            return answer.result() or {}

        roles = ("PLAYER_A", "PLAYER_B")
        joined = [ask(one, "handle_game_invitation", "GAME_INVITATION", role_in_match=roles[i], opponent_id=players[1 - i]).get("accept")
                  for i, one in enumerate(players)]
        choices = dict.fromkeys(players)
        number = None
        if all(joined):
            for i, one in enumerate(players):
                choices[one] = ask(one, "choose_parity", "CHOOSE_PARITY_CALL", player_id=one, deadline=now(),
                                   context={"opponent_id": players[1 - i]}).get("parity_choice")
        if all(choices.values()):
            number = self.numbers[len(self.played) % len(self.numbers)] if self.numbers else random.randint(1, 10)
            right = [one for one in players if choices[one] == ("odd" if number % 2 else "even")]
            points = {one: 1 if len(right) != 1 else 3 * (one in right) for one in players}
        else:
            points = {one: 3 * (choices[one] is not None or bool(joined[i]) and not joined[1 - i]) for i, one in enumerate(players)}
        self.played.append(match["match_id"])
        fields = {**shared, **self.form(points, choices, number)}
        self.reported = post(self.manager.url, {"jsonrpc": "2.0", "id": 1, "method": "report_match_result",
                                                "params": message("MATCH_RESULT_REPORT", f"referee:{self.id}", self.token, **fields)})
        if self.reported.error_code():  # another attempt at this match has been reported: there is nothing to announce
            return
        over = {"winner_player_id": winner_of(points), "drawn_number": number, "choices": choices,
                "status": "WIN" if winner_of(points) else "DRAW", "reason": "played"}
        for one in players:
            ask(one, "notify_match_result", "GAME_OVER", game_result=over)
