"""Players as other people write them: each departs from the protocol in its own way (docs/protocol.md, Tolerance).

A `Style` says how one bot registers and how it answers. STYLES is the league of them all; `leniencies` are the
names that the conversation logs must then hold for it.
"""

import json
import threading
from dataclasses import dataclass
from typing import Callable

import support_path  # noqa: F401
from league_testing import now, player_registration, post
from scripted_bot import Bot, Raw, exact_reply, message_in


def compact_now():
    return now().replace("-", "").replace(":", "")


# --- how the registration reaches the manager: request message -> HTTP body -------------------------------------


def by_method(method):
    return lambda request: {"jsonrpc": "2.0", "id": 1, "method": method, "params": request}


def in_message(method):
    return lambda request: {"jsonrpc": "2.0", "id": "a", "method": method, "params": {"message": request}}


def in_arguments(method):
    return lambda request: {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"arguments": request}}


def tools_call(request):
    params = {"name": "register_player", "arguments": request}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def bare(request):
    return request


# --- where the reply sits: (frame, message) -> HTTP body --------------------------------------------------------


def in_result(frame, reply):
    return {"jsonrpc": "2.0", "id": frame.get("id"), "result": reply}


def in_response(frame, reply):
    return in_result(frame, {"response": reply})


def in_structured_content(frame, reply):
    return in_result(frame, {"content": [], "structuredContent": reply, "isError": False})


def in_text(frame, reply):
    return in_result(frame, {"content": [{"type": "text", "text": json.dumps(reply)}]})


def as_request(frame, reply):
    return {"jsonrpc": "2.0", "id": frame.get("id"), "method": reply.get("message_type", "ack"), "params": reply}


def bare_reply(frame, reply):
    return reply


def beside_null_error(frame, reply):
    return {**in_result(frame, reply), "error": None}


def without_id(frame, reply):
    return {"jsonrpc": "2.0", "result": reply}


def id_as_text(frame, reply):
    return {"jsonrpc": "2.0", "id": str(frame.get("id")), "result": reply}


def id_as_one(frame, reply):
    return {**in_result(frame, reply), "id": 1}


def id_with_fraction(frame, reply):
    return {**in_result(frame, reply), "id": float(frame["id"])}


def with_status(status):
    return lambda frame, reply: Raw(json.dumps(in_result(frame, reply)).encode(), status)


# --- what the reply says: changes to an exact message, in place --------------------------------------------------


def unchanged(reply):
    pass


def without(*names):
    def change(reply):
        for name in names:
            reply.pop(name, None)

    return change


def replaced(old, new, value=lambda v: v):
    def change(reply):
        if old in reply:
            reply[new] = value(reply.pop(old))

    return change


def time_as(make):
    def change(reply):
        for name in ("timestamp", "arrival_timestamp"):
            if name in reply:
                reply[name] = make()

    return change


def several(*changes):
    def change(reply):
        for one in changes:
            one(reply)

    return change


ENVELOPE = ("protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token", "league_id",
            "round_id", "match_id", "player_id", "arrival_timestamp")


@dataclass
class Style:
    name: str
    leniencies: set
    register: Callable = by_method("register_player")
    request: Callable = unchanged
    wrap: Callable = in_result
    reply: Callable = unchanged
    methods: Callable = lambda method: True  # those that the bot knows; the others are answered by -32601
    notifications: Callable = None  # how it answers calls that expect no message; None: like the others
    http_version: str = "HTTP/1.1"
    status: int = 200  # of -32601
    error: tuple = (-32601, "Method not found")  # of the methods that it does not know
    tools: Callable = lambda name: True  # the same for the tool names of tools/call
    only_bare: bool = False  # it reads messages without JSON-RPC, and says ok to everything else
    posts_back: bool = False  # it answers RECEIVED and calls the referee with its answer


def not_found(status=200, code=-32601, text="Method not found"):
    def answer(frame):
        error = {"code": code, "message": text}
        return Raw(json.dumps({"jsonrpc": "2.0", "id": frame.get("id"), "error": error}).encode(), status)

    return answer


STYLES = [
    # The names of methods.
    Style("type_as_method", {"method_message_type"}, by_method("LEAGUE_REGISTER_REQUEST"),
          methods=lambda method: method.isupper()),
    Style("lower_case_type", {"method_lower_case_type"}, by_method("league_register_request"),
          methods=lambda method: method.isupper(), status=404),
    Style("receive", {"method_alias"}, by_method("receive_league_register_request")),
    Style("handle_message", {"method_generic"}, by_method("handle_message")),
    Style("mcp_message", {"method_generic"}, by_method("mcp_message")),
    Style("own_method", {"method_unknown_routed"}, by_method("hello_league")),
    Style("tools_call", {"method_tools_call"}, tools_call, wrap=in_text,
          methods=lambda method: method == "tools/call"),
    Style("lower_case_methods", set(), methods=lambda method: method in ("game_invitation", "choose_parity_call", "game_over")),
    Style("alias_for_one", {"missing_conversation_id", "foreign_reply_token"}, status=404,
          methods=lambda method: method in ("handle_game_invitation", "parity_choose", "notify_match_result"),
          reply=several(without("conversation_id"), lambda reply: "auth_token" in reply and reply.update(auth_token="placeholder"))),
    Style("one_method", {"method_generic", "params_message", "missing_message_type", "missing_protocol"}, in_message("handle_message"),
          methods=lambda method: method == "handle_message", error=(-32000, "Missing required fields: message"),
          reply=without("message_type", "protocol")),
    Style("mcp_tools", {"method_tools_call", "status_ack"}, tools_call, wrap=in_text,
          methods=lambda method: method == "tools/call", error=(-32603, "Unknown method"),
          tools=lambda name: name in ("choose_parity", "receive_game_invitation", "receive_game_over", "notify_standings"),
          reply=lambda reply: reply.pop("accept", None) and reply.update(status="ACK")),
    Style("posts_back", {"answer_posted_back"}, posts_back=True),
    Style("posts_back_names",
          {"answer_posted_back", "foreign_conversation_id", "foreign_league_id", "foreign_round_id", "foreign_reply_sender"},
          reply=lambda reply: reply.update(conversation_id="my-own", league_id="my_league", round_id=99, sender="player:my_name"),
          posts_back=True),
    # Where the message sits.
    Style("params_message", {"params_message", "result_response"}, in_message("register_player"), wrap=in_response),
    Style("params_arguments", {"params_arguments", "result_structured_content"}, in_arguments("handle_message"),
          wrap=in_structured_content),
    Style("bare_body", {"bare_request_body", "bare_reply_body"}, bare, wrap=bare_reply),
    Style("only_bare", {"bare_request_body", "bare_reply_body"}, bare, wrap=bare_reply, only_bare=True),
    Style("as_request", {"reply_as_request"}, wrap=as_request),
    # JSON-RPC.
    Style("null_error", {"null_error_beside_result"}, wrap=beside_null_error),
    Style("no_id", {"id_not_echoed"}, wrap=without_id),
    Style("text_id", {"id_type_changed"}, wrap=id_as_text),
    Style("same_id", {"foreign_id"}, wrap=id_as_one),
    Style("fractions", set(), wrap=id_with_fraction,
          reply=lambda reply: "round_id" in reply and reply.update(round_id=float(reply["round_id"]))),
    Style("error_status", {"reply_with_error_status"}, wrap=with_status(500)),
    Style("client_error_status", {"reply_with_error_status"}, wrap=with_status(404)),
    # Fields.
    Style("choice", {"choice_field", "accepted_field"},
          reply=several(replaced("parity_choice", "choice"), replaced("accept", "accepted"))),
    Style("status", {"status_for_accept"}, reply=replaced("accept", "status", lambda v: "ACCEPTED")),
    Style("bare_ack", {"bare_acknowledgement"},
          reply=lambda reply: reply.pop("accept", None) and (reply.clear(), reply.update(status="ACK"))),
    Style("only_the_choice",
          {"missing_protocol", "missing_message_type", "missing_sender", "missing_timestamp",
           "missing_conversation_id", "missing_player_id", "missing_match_id", "missing_arrival_timestamp",
           "missing_reply_token"},
          reply=without(*ENVELOPE)),
    Style("no_token", {"missing_reply_token"}, reply=without("auth_token")),
    Style("null_token", {"null_optional_field", "missing_reply_token"},
          reply=lambda reply: "auth_token" in reply and reply.update(auth_token=None)),
    Style("empty_token", {"empty_optional_field"}, request=lambda request: request.update(auth_token="")),
    Style("own_token", {"foreign_reply_token"},
          reply=lambda reply: "auth_token" in reply and reply.update(auth_token="my-own-secret")),
    Style("round_text", {"round_id_text"},
          reply=lambda reply: "round_id" in reply and reply.update(round_id=f"R{reply['round_id']}")),
    Style("players", {"sender_plural_role"}, request=replaced("sender", "sender", lambda s: "players:x"),
          reply=replaced("sender", "sender", lambda s: s.replace("player:", "players:"))),
    Style("own_sender", {"foreign_reply_sender"},
          reply=lambda reply: "sender" in reply and reply.update(sender="player:my_name")),
    Style("started_as_p04", {"foreign_reply_player"},
          reply=lambda reply: "player_id" in reply and reply.update(player_id="P04", sender="player:P04")),
    Style("own_conversation", {"foreign_conversation_id"},
          reply=lambda reply: "message_type" in reply and reply.update(conversation_id="my-own-conversation")),
    Style("own_league", {"foreign_league_id"}, reply=lambda reply: "message_type" in reply and reply.update(league_id="my_league")),
    Style("own_round", {"foreign_round_id"}, reply=lambda reply: "round_id" in reply and reply.update(round_id=99)),
    Style("no_envelope", {"missing_protocol", "missing_message_type", "missing_sender", "missing_timestamp", "missing_conversation_id"},
          request=without("protocol", "message_type", "sender", "timestamp", "conversation_id")),
    Style("no_version", {"missing_version", "protocol_version_text"},
          request=lambda request: (request["player_meta"].pop("version"), request["player_meta"].update(protocol_version="league.v2"))),
    Style("short_request", {"missing_sender", "missing_timestamp", "missing_conversation_id"},
          request=without("sender", "timestamp", "conversation_id")),
    # Times, acknowledgements, HTTP.
    Style("compact_time", set(), request=time_as(compact_now), reply=time_as(compact_now)),
    Style("half_compact_time", set(), reply=time_as(lambda: now().replace("-", ""))),
    Style("offset_time", set(), request=time_as(lambda: now().replace("Z", "+00:00")),
          reply=time_as(lambda: now().replace("Z", ".123456+00:00"))),
    Style("knows_no_news", {"ack_method_not_found"},
          methods=lambda method: method in ("handle_game_invitation", "choose_parity")),
    Style("no_content", {"ack_without_json"}, notifications=lambda frame: Raw(b"", 204)),
    Style("plain_ok", {"ack_without_json"}, notifications=lambda frame: Raw(b"OK", 200)),
    Style("old_http", set(), http_version="HTTP/1.0"),
]


class ForeignBot(Bot):
    """One player in the given style."""

    def __init__(self, style):
        self.style = style
        self.http_version = style.http_version
        super().__init__(style.name)

    def join(self, manager):
        return self.take_identity(self.try_to_join(manager))

    def post_back(self, call, reply):
        """Calls the referee of the match with the answer; the announcement says where that is."""
        if "match_id" not in call:
            return
        announced = self.wait_for("ROUND_ANNOUNCEMENT", where=lambda m: any(one["match_id"] == call["match_id"] for one in m["matches"]))
        referee = next(one["referee_endpoint"] for one in announced["matches"] if one["match_id"] == call["match_id"])
        post(referee, {"jsonrpc": "2.0", "id": 1, "method": reply["message_type"], "params": reply})

    def try_to_join(self, manager):
        request = player_registration(self.name, self.url)
        self.style.request(request)
        return post(manager.url, self.style.register(request))

    def answer(self, frame):
        style = self.style
        if style.only_bare and "jsonrpc" in frame:
            return {"status": "ok"}
        if not style.only_bare and not isinstance(frame.get("id"), int):
            return Raw(b"Internal Server Error", 500)  # several take integer ids only
        is_known = style.only_bare or style.methods(frame["method"]) and (frame["method"] != "tools/call" or style.tools(frame["params"]["name"]))
        if not is_known:
            return not_found(style.status, *style.error)(frame)
        call = message_in(frame)
        reply = exact_reply(self, call)
        if style.posts_back and "message_type" in reply:
            style.reply(reply)
            threading.Thread(target=self.post_back, args=(call, reply), daemon=True).start()
            return in_result(frame, {"status": "RECEIVED"})
        if "message_type" not in reply:
            return style.notifications(frame) if style.notifications else in_result(frame, reply)
        style.reply(reply)
        return style.wrap(frame, reply)
