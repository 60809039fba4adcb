"""Bots with one quirk each. Some play in spite of it, some lose every match; which is which, a league decides."""

import http.server
import json
import time
from dataclasses import dataclass, field
from typing import Callable

import support_path  # noqa: F401
from foreign_bots import STYLES, ForeignBot, Style, in_result
from scripted_bot import Raw, exact_reply, message_in

JOIN, CHOOSE, OVER = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"


@dataclass
class Quirk:
    """`answer(bot, frame, call)` returns what the bot sends, or None for what its style says."""

    name: str
    answer: Callable = lambda bot, frame, call: None
    style: Style = field(default_factory=lambda: Style("exact", set()))
    is_single_threaded: bool = False


def at(kind, answer):
    """A quirk in the answer to one type of message."""
    return lambda bot, frame, call: answer(bot, frame, call) if call.get("message_type") == kind else None


def says(kind, **fields):
    """Other values of fields; None leaves the field out."""

    def answer(bot, frame, call):
        reply = {**exact_reply(bot, call), **fields}
        return in_result(frame, {name: value for name, value in reply.items() if value is not None})

    return at(kind, answer)


def raw(kind, body, status=200):
    return at(kind, lambda bot, frame, call: Raw(body, status))


def refuses(kind, code, text, **data):
    return at(kind, lambda bot, frame, call: {"jsonrpc": "2.0", "id": frame["id"],
                                              "error": {"code": code, "message": text, "data": data}})


def rewritten(kind, old, new):
    """The exact answer with another spelling in its bytes."""

    def answer(bot, frame, call):
        text = json.dumps(in_result(frame, exact_reply(bot, call)))
        assert old(frame) in text, (old(frame), text)
        return Raw(text.replace(old(frame), new(frame)).encode())

    return at(kind, answer)


def silent(bot, frame, call):
    time.sleep(7)
    return Raw(None)


def one_match_at_a_time(bot, frame, call):
    """It declines until the last match is over, and refuses to choose twice."""
    played = bot.__dict__.setdefault("open_matches", {})
    match, kind = call.get("match_id"), call.get("message_type")
    if kind == JOIN and played:
        return in_result(frame, {**exact_reply(bot, call), "accept": False})
    if kind == JOIN:
        played[match] = 0
    if kind == CHOOSE:
        played[match] = played.get(match, 0) + 1
        if played[match] > 1:
            return refuses(CHOOSE, -32602, "chosen already")(bot, frame, call)
    if kind == OVER:
        played.pop(match, None)
    return None


def is_of_style(*names):
    return [Quirk(style.name, style=style) for style in STYLES if style.name in names]


QUIRKS = [
    *is_of_style("type_as_method", "tools_call", "one_method", "mcp_tools", "posts_back", "bare_body", "as_request",
                 "null_error", "no_id", "text_id", "error_status", "choice", "status", "only_the_choice", "null_token",
                 "own_token", "started_as_p04", "own_conversation", "no_envelope", "knows_no_news", "old_http"),
    Quirk("accept_false", says(JOIN, accept=False)),
    Quirk("accept_text", says(JOIN, accept="true")),
    Quirk("no_accept", says(JOIN, accept=None)),
    Quirk("arrival_with_offset", says(JOIN, arrival_timestamp="2026-01-15T10:30:00+02:00")),
    Quirk("impossible_date", says(CHOOSE, timestamp="2026-02-30T10:30:00Z")),
    Quirk("other_protocol", says(JOIN, protocol="league.v3")),
    Quirk("sender_number", says(JOIN, sender=7)),
    Quirk("choice_capital", says(CHOOSE, parity_choice="Even")),
    Quirk("choice_number", says(CHOOSE, parity_choice=0)),
    Quirk("choice_elsewhere", says(CHOOSE, parity_choice=None, selection="even")),
    Quirk("other_match", says(CHOOSE, match_id="R9M9")),
    Quirk("receipt_only", at(JOIN, lambda bot, frame, call: in_result(frame, {"status": "RECEIVED"}))),
    Quirk("result_array", at(CHOOSE, lambda bot, frame, call: in_result(frame, ["even"]))),
    Quirk("result_null", at(JOIN, lambda bot, frame, call: in_result(frame, None))),
    Quirk("round_id_as_float", rewritten(JOIN, lambda frame: f'"round_id": {message_in(frame)["round_id"]}',
                                         lambda frame: f'"round_id": {message_in(frame)["round_id"]}.0')),
    Quirk("id_as_float", rewritten(JOIN, lambda frame: f'"id": {frame["id"]}', lambda frame: f'"id": {frame["id"]}.0')),
    Quirk("page_500", raw(JOIN, b"<html>Internal Server Error</html>", 500)),
    Quirk("page_200", raw(JOIN, b"<html>hello</html>")),
    Quirk("redirect", raw(JOIN, b"", 307)),
    Quirk("empty_body", raw(CHOOSE, b"")),
    Quirk("garbage", raw(CHOOSE, b'{"jsonrpc": "2.0", "id')),
    Quirk("created", at(JOIN, lambda bot, frame, call: Raw(json.dumps(in_result(frame, exact_reply(bot, call))).encode(), 201))),
    Quirk("huge", says(JOIN, padding="x" * (2 << 20))),
    Quirk("hangs_up", at(CHOOSE, lambda bot, frame, call: Raw(None))),
    Quirk("silent", at(CHOOSE, silent)),
    Quirk("slow", at(CHOOSE, lambda bot, frame, call: time.sleep(0.1))),
    Quirk("refuses_credential", refuses(JOIN, -32602, "bad token", error_code="E012")),
    Quirk("no_tools", lambda bot, frame, call: {"jsonrpc": "2.0", "id": frame["id"],
                                                "error": {"code": -32601, "message": "Method not found"}}),
    Quirk("disputes", refuses(OVER, -32602, "I do not believe it")),
    Quirk("one_match_at_a_time", one_match_at_a_time),
    Quirk("one_thread", is_single_threaded=True),
]


class QuirkBot(ForeignBot):
    def __init__(self, quirk):
        self.quirk = quirk
        super().__init__(quirk.style)
        self.name = quirk.name
        if quirk.is_single_threaded:
            self._server.process_request = lambda *words: http.server.HTTPServer.process_request(self._server, *words)
        self._server.handle_error = lambda *_: None  # it prints what a bot chokes on

    def answer(self, frame):
        special = self.quirk.answer(self, frame, message_in(frame))
        return super().answer(frame) if special is None else special
