"""A player for a league of bots (protocol league.v2), in one file that needs nothing but Python 3.9.

    from league_player import Player
    bot = Player("my-bot")

    @bot.choose
    def choose(match):
        return "even"

    bot.run("http://localhost:8000")

`choose` gets a `Match` and returns one of `match.choices`. Everything else is done here: the bot
registers, joins its matches, commits to each choice before anybody can know the other one, signs its
answers, checks each result, and comes back as the same player after a restart. It opens the connection to
the league itself, so it plays from behind any firewall; `run(..., serve=8101)` makes it an HTTP server
that the league calls. `Player("my-bot", game="prisoners_dilemma")` plays another game than Even/Odd.

Each call has a thread of its own, so a slow `choose` delays no other match, and `choose` may run for
several matches at a time. One lock guards what the bot knows; it is not held while `choose` runs or while
the network is waited for.
"""
from __future__ import annotations

import argparse, base64, hashlib, hmac, http.client, ipaddress, itertools, json, math, os, pathlib, queue
import random, re, secrets, selectors, socket, socketserver, sys, threading, time, traceback, urllib.request
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

__all__ = ["Match", "Player", "Result"]
__version__ = "0.2.0"
Json = Dict[str, Any]
EVEN_ODD = {"game_type": "even_odd", "choices": ["even", "odd"], "drawn": ["odd", "even"] * 5,
            "payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
                        "odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}}}
JOIN_SECONDS = 5.0  # how long a referee waits for the answer to an invitation, with which we commit

class Result(NamedTuple):
    """A finished match of this bot. A choice is None if it was not made, `number` if none was drawn."""
    id: str
    round: Optional[int]
    opponent: str
    choice: Optional[str]
    opponent_choice: Optional[str]
    number: Optional[int]
    outcome: str  # "win", "draw" or "loss"
    technical: bool  # decided because a player failed

@dataclass(frozen=True)
class Match:
    """What `choose` knows about the match for which it chooses."""
    id: str
    player_id: str  # this bot
    opponent: str  # an id, such as "P03"
    round: Optional[int]
    choices: List[str]
    standings: List[Json]  # the last table: rows with rank, player_id, display_name, points, ...
    history: List[Result]  # all finished matches of this bot, the oldest first
    deadline: datetime  # in UTC; a later choice does not count
    call: Json  # the message that asks, with all its fields

    @property
    def meetings(self) -> List[Result]:
        """The finished matches against this opponent, the oldest first."""
        return [result for result in self.history if result.opponent == self.opponent]

    @property
    def seconds_left(self) -> float:
        """Until the deadline; 0 when it has passed."""
        return max(0.0, (self.deadline - datetime.now(timezone.utc)).total_seconds())

class Refused(Exception):
    """Code, name, field, text: a call that is refused with a JSON-RPC error."""

class Rejected(Exception):
    """The league does not admit this bot, and asking again would not help."""

class Unreachable(Exception):
    """The manager did not answer, or not as a manager does."""

class CallError(Exception):
    """The manager answered with an error. `retry_after` is in seconds, and set where we asked too often."""
    def __init__(self, code: str, text: str, retry_after: Optional[float] = None) -> None:
        super().__init__(f"{code}: {text}")
        self.code, self.retry_after = code, retry_after

# --- Messages ---------------------------------------------------------------------------------------------
TIMESTAMP = re.compile(r"(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)")
ALLOWED = {"protocol": r"league\.v2(\.\d+)?", "message_type": r"\w{1,40}", "conversation_id": ".{1,100}",
           "match_id": ".{1,64}", "role_in_match": "PLAYER_[AB]"}
METHODS = {"GAME_INVITATION": "handle_game_invitation", "CHOOSE_PARITY_CALL": "choose_parity",
           "GAME_OVER": "notify_match_result", "GAME_ERROR": "notify_game_error",
           "ROUND_ANNOUNCEMENT": "notify_round", "LEAGUE_STANDINGS_UPDATE": "update_standings",
           "ROUND_COMPLETED": "notify_round_completed", "LEAGUE_COMPLETED": "notify_league_completed",
           "LEAGUE_ERROR": "notify_league_error"}
PLAY = ("handle_game_invitation", "choose_parity")
OF_REFEREE = {PLAY[0]: ["match_id", "game_type", "role_in_match", "opponent_id"],
              **dict.fromkeys([PLAY[1], "notify_match_result", "notify_game_error"], ["match_id"])}

def now(precision: str = "seconds") -> str:
    return datetime.now(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")

def is_utc_time(text: str) -> bool:
    form = TIMESTAMP.fullmatch(text)
    try:  # a date with hyphens needs a time with colons
        return form is not None and bool(datetime(*(int(form[i]) for i in (1, 3, 4, 5, 7, 8)))) and (
            not form[2] or bool(form[6]))
    except ValueError:  # 30 February
        return False

def shown(text: Any, longest: int = 600) -> str:
    """Text of others for a terminal: one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:longest]

def keyed(key: str, *parts: Any) -> str:
    """HMAC-SHA-256 of `parts`, joined by |."""
    return hmac.new(key.encode(), "|".join(map(str, parts)).encode(), "sha256").hexdigest()

def is_same(shown_secret: Any, secret: str) -> bool:
    return bool(secret) and hmac.compare_digest(str(shown_secret).encode("utf-8", "replace"), secret.encode())

def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

def draw_number(seed: bytes, parts: Sequence[str], size: int, counter: int = 0) -> int:
    for byte in hmac.new(seed, "|".join([*parts, str(counter)]).encode(), "sha256").digest():
        if byte < 256 - 256 % size:
            return byte % size + 1
    return draw_number(seed, parts, size, counter + 1)

def score_of(game: Json, chosen: Sequence[str], kind: Optional[str]) -> Any:
    """The points of players A and B by a game's definition; `kind` is that of the drawn number."""
    roles = game.get("roles") or {"PLAYER_A": game["payoffs"], "PLAYER_B": game["payoffs"]}
    tables = [roles["PLAYER_A"], roles["PLAYER_B"]]
    a, b = tables if kind is None else [table[kind] for table in tables]
    return a[chosen[0]][chosen[1]], b[chosen[1]][chosen[0]]

def is_game(game: Any, name: str) -> bool:
    try:
        points = [score for pair in itertools.product(game["choices"], repeat=2)
                  for kind in game.get("drawn", [None]) for score in score_of(game, pair, kind)]
        is_drawn = "drawn" not in game or 2 <= len(game["drawn"]) <= 100
        return game["game_type"] == name and is_drawn and all(isinstance(one, int) for one in points)
    except (AttributeError, KeyError, TypeError):
        return False

def route(method: Any, params: Any) -> Any:
    """Our name of the method, and its message, in each of the ways in which referees call a player."""
    if method == "tools/call":
        method, params = params["name"], params["arguments"]
    if isinstance(params, dict) and isinstance(params.get("message"), dict):
        params = params["message"]
    name = str(method).upper()
    if name in ("HANDLE_MESSAGE", "MCP_MESSAGE", "PARITY_CHOOSE"):
        name = str(params.get("message_type"))
    return METHODS.get(name[8:] if name.startswith("RECEIVE_") else name, method), params

# --- What a bot must not forget ---------------------------------------------------------------------------
def address_of(manager: str) -> str:
    """The address as we call it: with a scheme, and with /mcp where it has no path."""
    try:
        parts = urlsplit(manager.strip() if "://" in manager else "http://" + manager.strip())
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # such as port 80000
        is_address = False
    if not is_address:
        raise SystemExit(f"{shown(manager)} is no address of a league; one is http://localhost:8000")
    return urlunsplit(parts._replace(path="/mcp" if parts.path in ("", "/") else parts.path))

def origin_of(address: str) -> str:
    """Whom a token is shown to. Contains no registration code, so it can be printed."""
    parts = urlsplit(address)
    host = re.sub(r"^(127(\.\d+){3}|::1)$", "localhost", parts.hostname or "")
    return f"{parts.scheme}://{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

class Identity:
    """Who the bot is in one league, and what it promised and answered there, in a file that only its owner
    can read. A token is shown only to the managers that it was used with. A file is never overwritten with
    another identity: that one is stored in NAME.2.json, and so on. Not thread-safe."""
    def __init__(self, file: pathlib.Path, addresses: Sequence[str], name: str) -> None:
        self.first, self.name, self.addressed = file, name, [origin_of(address) for address in addresses]
        self.game: Any = None  # as the manager describes it
        self.refused: List[pathlib.Path] = []  # by the manager, which did not know the token
        self.load()

    @property
    def id(self) -> str:
        return str(self.me["player_id"])  # before the registration a temporary name

    def files(self) -> List[pathlib.Path]:
        """The files that exist and, as the last, the next one that does not."""
        found = [self.first]
        while found[-1].exists():
            found.append(self.first.with_name(f"{self.first.stem}.{len(found) + 1}{self.first.suffix}"))
        return found

    def load(self) -> None:
        """Becomes the identity that is known to one of the managers, or a new one."""
        kept: Json = {}
        *existing, self.file = self.files()
        for file in existing:  # the newest that fits is taken
            try:
                content = json.loads(file.read_text())
                if set(content.get("managers", [])) & set(self.addressed) and file not in self.refused:
                    self.file, kept = file, content
            except (ValueError, AttributeError, OSError) as why:
                raise SystemExit(f"{file} is not readable ({why}); move it away to register as a new player")
        # `me` is in every message, `home` is in none; `matches` are the last 20.
        self.managers = sorted({*kept.get("managers", []), *self.addressed})
        self.me: Json = kept.get("me") or {"player_id": re.sub("[^A-Za-z0-9_]", "_", self.name)[:64]}
        self.home: Json = kept.get("home") or {"registration_nonce": secrets.token_hex(16)}
        self.matches: Dict[str, Json] = kept.get("matches", {})
        self.results = [Result(*result) for result in kept.get("results", [])]

    def adopt(self, reply: Json) -> None:
        """Becomes who the manager says in its answer to the registration."""
        me = {key: reply[key] for key in ("player_id", "auth_token", "league_id") if reply.get(key)}
        home = {key: reply[key] for key in ("receipt_key", "league_key") if reply.get(key)}
        old = {**self.me, **self.home}
        if "auth_token" in old and any(old.get(key) != value for key, value in {**me, **home}.items()
                                       if key in ("player_id", "league_id", "league_key")):
            self.file, self.matches, self.results = self.files()[-1], {}, []
            self.home = {"registration_nonce": old["registration_nonce"]}
        self.me = me
        self.game = reply.get("game")
        self.home.update(home)  # an answer without them, to our token alone, takes nothing away

    def save(self) -> None:
        kept = {"managers": self.managers, "me": self.me, "home": self.home, "matches": self.matches,
                "results": self.results}
        new = f"{self.file}.new"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(json.dumps(kept))
        os.replace(new, self.file)

    def match(self, match_id: str) -> Json:
        while match_id not in self.matches and len(self.matches) >= 20:
            del self.matches[next(iter(self.matches))]  # the oldest
        return self.matches.setdefault(match_id, {"calls": []})

# --- Answering the league's calls -------------------------------------------------------------------------
class Calls:
    """Answers the calls of managers and referees, whichever way they come. Thread-safe."""
    def __init__(self, player: Player, identity: Identity) -> None:
        self.player, self.identity, self.lock = player, identity, threading.Condition()
        self.standings: List[Json] = []
        self.busy: List[str] = []  # matches of which a call is being answered

    def answer_bytes(self, body: bytes) -> Json:
        try:
            return self.answer(json.loads(body))
        except (ValueError, RecursionError):
            return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}

    def answer(self, frame: Any, remaining: float = JOIN_SECONDS) -> Json:
        """The JSON-RPC response to a request whose caller waits `remaining` seconds."""
        number = frame.get("id") if isinstance(frame, dict) else None
        is_finite = isinstance(number, (str, int)) or isinstance(number, float) and math.isfinite(number)
        response: Json = {"jsonrpc": "2.0", "id": number if is_finite else None}
        if not isinstance(frame, dict) or not isinstance(frame.get("method"), str):
            return {**response, "error": {"code": -32600, "message": "Invalid Request"}}
        try:
            result = self.result(*route(frame["method"], frame.get("params")), remaining) or {"status": "ok"}
            text = json.dumps(result, allow_nan=False)  # raises for what a caller must not make us repeat
            if frame["method"] == "tools/call":
                content = [{"type": "text", "text": text}]
                result = {"content": content, "structuredContent": result, "isError": False}
            return {**response, "result": result}
        except NotImplementedError:
            return {**response, "error": {"code": -32601, "message": "Method not found"}}
        except Refused as why:
            code, name, field, text = why.args
        except Exception as why:  # a value of a type that nobody sends: the bot must play on
            code, name, field, text = "E023", "INVALID_FIELD_VALUE", "", type(why).__name__
        data = {"error_code": code, "error_name": name, "field": "/" + field if field else ""}
        return {**response, "error": {"code": -32602, "message": "Invalid params: " + text, "data": data}}

    def result(self, method: Any, call: Any, remaining: float) -> Optional[Json]:
        if method == "ping":
            return None
        if method == "get_match_record":
            return self.match_record(call)
        if method not in METHODS.values() and method != "get_player_state":
            raise NotImplementedError
        self.check_message(call, OF_REFEREE.get(method, []))
        with self.lock:
            attempt = self.check_caller(method, call)
        if method in PLAY:
            return self.play(self.join if method == PLAY[0] else self.choose, call, attempt, remaining)
        with self.lock:
            return getattr(self, method)(call)

    def check_message(self, call: Any, required: List[str]) -> None:
        if not isinstance(call, dict):
            raise Refused("E002", "MALFORMED_MESSAGE", "", "params is no object")
        allowed = {**ALLOWED, "game_type": re.escape(self.player.game)}
        for field in ["protocol", "message_type", "sender", "timestamp", "conversation_id", *required]:
            if call.get(field) is None:
                raise Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing")
            form = allowed.get(field, ".*")
            if not isinstance(call[field], str) or not re.fullmatch(form, call[field], re.DOTALL):
                code = "E018" if field == "protocol" else "E021" if field == "timestamp" else "E023"
                raise Refused(code, "INVALID_FIELD_VALUE", field, field + " has no allowed value")
        if not is_utc_time(call["timestamp"]):
            raise Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is not a UTC time")
        context, types = call.get("context") or {}, (str, type(None))
        if not isinstance(context, dict) or not isinstance(context.get("opponent_commitment"), types):
            raise Refused("E023", "INVALID_FIELD_VALUE", "context", "context has no allowed value")
        if not isinstance(call.get("draw_commitment"), types):
            raise Refused("E023", "INVALID_FIELD_VALUE", "draw_commitment", "draw_commitment is no text")

    def check_caller(self, method: str, call: Json) -> int:
        """The attempt at the match that a referee's credential proves; 0 for the manager. The manager shows
        our own token, a referee what only we and the manager can compute."""
        credential, token = call.get("auth_token") or "", self.identity.me.get("auth_token", "")
        if "league_id" in self.identity.me and "league_key" not in self.identity.home:
            return 1  # a league of other origin: its referees show what we cannot check
        if method not in OF_REFEREE and is_same(credential, token):
            return 0
        if method in OF_REFEREE and token:
            for attempt in range(1, 17):
                if is_same(credential, keyed(token, f"{call['match_id']}#{attempt}")):
                    return attempt
            # Of a referee of other origin the manager announces what it will show.
            announced = self.identity.matches.get(call["match_id"], {}).get("credential", "")
            shown_hash = "token:" + sha256(str(credential)) if credential else "none"
            if is_same(shown_hash, announced):
                return 1
        code, name = ("E012", "AUTH_TOKEN_INVALID") if credential else ("E011", "AUTH_TOKEN_MISSING")
        raise Refused(code, name, "auth_token", "auth_token is not what this caller has to show")

    def message(self, message_type: str, call: Json, **fields: Any) -> Json:
        """A message of ours, in the conversation and match of `call`."""
        same = {key: call[key] for key in ("conversation_id", "round_id", "match_id") if key in call}
        head = {"protocol": "league.v2", "message_type": message_type, "timestamp": now(),
                "sender": "player:" + self.identity.id}
        return {**head, **self.identity.me, **same, **fields}

    def save(self) -> None:
        try:
            self.identity.save()
        except OSError as why:  # better to play on; but after a restart the bot would not know its promises
            self.player.report("file", f"cannot write {self.identity.file}: {why.strerror}")

    # Playing

    def play(self, handler: Callable[..., Any], call: Json, attempt: int, remaining: float) -> Json:
        """Answers a call of a match, with a receipt: only we and the manager can make one, so a referee
        cannot report what we have not said. The call is noted for get_match_record, which the manager asks
        if a referee says that we have failed."""
        match_id, begin, context = call["match_id"], time.monotonic(), call.get("context") or {}
        at = [attempt, int(context.get("play") or 0)]
        note = {"message_type": call["message_type"], "attempt": attempt, "play": at[1]}
        note["at"] = now("microseconds")
        with self.lock:
            mine = self.identity.match(match_id)
            mine["calls"] = [*mine["calls"][-31:], note]
            mine["until"] = time.time() + remaining
            while match_id in self.busy:  # the author is choosing, and this call gets the same choice
                self.lock.wait()
            self.busy.append(match_id)
            try:
                if context.get("attempt", attempt) != attempt:
                    raise Refused("E023", "INVALID_FIELD_VALUE", "context/attempt", "not what is proved")
                message_type, fields, said = handler(call, mine, at, begin + remaining - time.monotonic())
                home, token = self.identity.home, self.identity.me.get("auth_token", "")
                if "receipt_key" in home and "attempt" in context:
                    about = [home["league_key"], match_id, *at, mine.get("draw") or ""]
                    fields["receipt"] = keyed(home["receipt_key"], said[0], *about, *said[1:])
                note.update(fields)
                if handler == self.choose:
                    note["opponent_commitment"] = mine["handed"]
                else:
                    fields["arrival_timestamp"] = now()
                if "receipt_key" in home:  # a referee never sees our token
                    fields["auth_token"] = keyed(token, "answer", f"{match_id}#{attempt}")
                return self.message(message_type, call, **fields)
            except Refused as why:
                note.update(refused=why.args[0], reason=why.args[3], caller_fault=True)
                raise
            finally:
                note["answered_at"] = now("microseconds")
                note["answer_ms"] = round(1000 * (time.monotonic() - begin))
                self.busy.remove(match_id)
                self.lock.notify_all()
                self.save()  # before anything leaves that binds us

    def commitment(self, call: Json, mine: Json, player: str, choice: str, nonce: str) -> str:
        return sha256("|".join([mine["draw"], call["match_id"], player, choice, nonce]))

    def join(self, call: Json, mine: Json, at: List[int], left: float) -> Any:
        draw, bound = call.get("draw_commitment"), ""
        promised = mine.get("announced") or mine.get("draw")
        # A referee of other origin may draw without the league's seed, but not with another one.
        may_be_missing = not promised or mine.get("credential", "match") != "match"
        if draw != promised and (not may_be_missing or draw and promised):
            raise Refused("E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised")
        if "nonce" in mine and at < mine["at"]:
            raise Refused("E033", "STALE_ATTEMPT", "context", "a later attempt has begun")
        if "nonce" not in mine or mine["shown_alone"] and at != mine["at"]:  # else the same promise again
            mine.update(choice=self.ask(call, left), nonce=secrets.token_hex(32), shown_alone=False,
                        opponent=call["opponent_id"], is_a=call["role_in_match"] == "PLAYER_A")
            mine.pop("handed", None)
        mine.update(at=at, draw=draw)
        if draw:
            bound = self.commitment(call, mine, self.identity.id, mine["choice"], mine["nonce"])
        fields = {"accept": True, **({"choice_commitment": bound} if bound else {})}
        return "GAME_JOIN_ACK", fields, ["JOIN", "true", bound]

    def choose(self, call: Json, mine: Json, at: List[int], left: float) -> Any:
        theirs = (call.get("context") or {}).get("opponent_commitment")
        if mine.get("at") != at and ("at" in mine or "receipt_key" in self.identity.home):
            raise Refused("E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt")
        if "choice" not in mine:  # without an invitation we are bound to nothing
            mine["choice"] = self.ask(call, left)
        if mine.setdefault("handed", theirs) != theirs:
            self.dispute(call, "I was handed two commitments of my opponent")
            raise Refused("E040", "COMMITMENT_MISMATCH", "context/opponent_commitment", "there was another")
        mine["shown_alone"] = not theirs  # then the next attempt at this match needs a fresh choice
        nonce = mine.get("nonce") if mine.get("draw") else None
        fields = {"parity_choice": mine["choice"], **({"choice_nonce": nonce} if nonce else {})}
        return "CHOOSE_PARITY_RESPONSE", fields, ["CHOICE", mine["choice"], nonce or "", theirs or ""]

    @property
    def game(self) -> Optional[Json]:
        """The definition of the game, which the manager sends; Even/Odd is known, and others may not be."""
        if self.player.game == "even_odd":
            return EVEN_ODD
        told = self.identity.game
        return told if is_game(told, self.player.game) else None

    def ask(self, call: Json, left: float) -> str:
        """Lets the author choose, without the lock, which is held here; the match stays busy."""
        context = call.get("context") or {}
        words = context["game"].get("choices") if isinstance(context.get("game"), dict) else None
        match = Match(
            id=call["match_id"], player_id=self.identity.id, round=call.get("round_id"), call=call,
            opponent=call.get("opponent_id") or context.get("opponent_id") or "",
            choices=list(words or (self.game or {}).get("choices", [])), standings=list(self.standings),
            history=list(self.identity.results),
            deadline=datetime.now(timezone.utc) + timedelta(seconds=left))
        self.lock.release()
        try:
            return self.player.ask(match)
        finally:
            self.lock.acquire()

    def match_record(self, call: Json) -> Json:
        if not is_same(call.get("auth_token"), self.identity.me.get("auth_token", "")):
            raise Refused("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is not my own")
        with self.lock:
            calls = [dict(note) for note in self.identity.matches.get(call["match_id"], {}).get("calls", [])]
        return {"match_id": call["match_id"], "player_id": self.identity.id, "calls": calls}

    # News, each handled under the name of its method

    def notify_round(self, call: Json) -> None:
        for match in call["matches"]:
            if self.identity.id in (match["player_A_id"], match["player_B_id"]):
                mine = self.identity.match(match["match_id"])
                if match.get("draw_commitment"):  # the manager promises the seed of each match
                    mine.setdefault("announced", match["draw_commitment"])
                mine["credential"] = str(match.get("referee_credential") or "match")

    def update_standings(self, call: Json) -> None:
        self.standings = [row for row in call["standings"] if isinstance(row, dict)]

    def notify_round_completed(self, call: Json) -> None:
        pass

    def notify_league_completed(self, call: Json) -> None:
        self.update_standings({"standings": call.get("final_standings") or []})
        ranks = [row.get("rank") for row in self.standings if row.get("player_id") == self.identity.id]
        own = f", and {self.player.name} has rank {ranks[0]}" if ranks else ""
        self.player.say(f"the league is over: the champion is {call['champion']['display_name']}{own}")

    def notify_league_error(self, call: Json) -> None:
        about = [call.get(key) for key in ("match_id", "error_code", "error_description", "action_required")]
        self.player.warn("the league says: " + " ".join(str(text) for text in about if text))

    notify_game_error = notify_league_error

    def get_player_state(self, call: Json) -> Json:
        return {"player_id": self.identity.id, "matches_played": len(self.identity.results)}

    # Results

    def notify_match_result(self, call: Json) -> None:
        result, me, match_id = call["game_result"], self.identity.id, call["match_id"]
        is_technical, winner = result["status"] == "TECHNICAL_LOSS", result["winner_player_id"]
        mine, results = self.identity.matches.get(match_id), self.identity.results
        try:
            if mine and mine.get("draw") and not is_technical:
                self.judge(call, result, mine)
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            self.dispute(call, str(why))
            raise Refused("E035", "INVALID_RESULT", "game_result", f"the result does not follow: {why}")
        if any(one.id == match_id for one in results):
            return  # it is told again
        if mine and is_technical and winner != me and "receipt_key" in self.identity.home:
            slowest = max((note.get("answer_ms", 1e6) for note in mine["calls"]), default=0)
            left = mine.get("until", 0) - time.time()
            if mine["calls"] and "answer_ms" not in mine["calls"][-1] and left > 1:
                self.dispute(call, f"I still had {left:.1f} s to answer {mine['calls'][-1]['message_type']}")
            elif slowest < 1000 * JOIN_SECONDS:
                self.dispute(call, f"I got {len(mine['calls'])} calls and answered each within {slowest} ms")
        choices = result.get("choices") or {}
        opponent = next((player for player in choices if player != me), "")
        outcome = "win" if winner == me else "draw" if result["status"] == "DRAW" else "loss"
        made = choices.get(me), choices.get(opponent)
        results.append(Result(match_id, call.get("round_id"), opponent, *made, result.get("drawn_number"),
                              outcome, is_technical))
        del results[:-500]
        self.save()
        self.player.results.put(results[-1])

    def judge(self, call: Json, result: Json, mine: Json) -> None:
        """Raises ValueError unless the result follows from the promised seed and what both are bound to."""
        def need(is_true: bool, otherwise: str) -> None:
            if not is_true:
                raise ValueError(otherwise)
        need("nonce" in mine and "handed" in mine, "I was not asked for a choice")
        me, other, match_id, seed = self.identity.id, mine["opponent"], call["match_id"], call["draw_proof"]
        choices, bound, nonces = result["choices"], call["choice_commitments"], call["choice_nonces"]
        promised = hashlib.sha256(bytes.fromhex(seed) + match_id.encode()).hexdigest()
        need(promised == mine["draw"], "another seed was promised")
        need(choices[me] == mine["choice"] and nonces[me] == mine["nonce"], "I did not choose that")
        need(bound.get(other) == mine["handed"], "the opponent's commitment is another one")
        for player in {me, *bound}:
            opened = self.commitment(call, mine, player, choices[player], nonces[player])
            need(opened == bound[player], f"the commitment of {player} is not opened")
        if not self.game:  # its manager has not said what follows from the choices
            return
        order, number, kind = [me, other] if mine["is_a"] else [other, me], None, None
        if "drawn" in self.game:
            used = [nonces[player] if player in bound else "" for player in order]
            number = draw_number(bytes.fromhex(seed), [match_id, *(choices[one] for one in order), *used],
                                 len(self.game["drawn"]))
            kind = self.game["drawn"][number - 1]
        a, b = score_of(self.game, [choices[one] for one in order], kind)
        winner = order[0] if a > b else order[1] if a < b else None
        need(result["drawn_number"] == number, f"the number is {number}")
        need(result["winner_player_id"] == winner, f"the winner is {winner}")

    def dispute(self, call: Json, why: str) -> None:  # goes to the manager and stays open
        self.player.warn(f"disputes {call['match_id']}: {why}")
        self.player.tell_manager("league_query", self.message(
            "LEAGUE_QUERY", call, query_type="DISPUTE_MATCH",
            query_params={"match_id": call["match_id"], "reason": why}))

# --- Reaching the manager ---------------------------------------------------------------------------------
def proxy_for(parts: SplitResult) -> Optional[SplitResult]:
    """The proxy that the environment names for an address; none for this machine and for private networks."""
    host = parts.hostname or ""
    try:
        is_near = ipaddress.ip_address(host).is_private
    except ValueError:
        is_near = "." not in host
    if is_near or urllib.request.proxy_bypass(host):
        return None
    proxy = urllib.request.getproxies().get(parts.scheme)
    return urlsplit(proxy if "://" in proxy else "http://" + proxy) if proxy else None

class Connection:
    """A connection to a manager, kept open between calls. For one thread, but any may `abort` its call."""
    def __init__(self, address: str) -> None:
        parts, self.address, self.headers = urlsplit(address), address, {"Content-Type": "application/json"}
        proxy, is_secure = proxy_for(parts), parts.scheme == "https"
        near, login = proxy or parts, {}
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        self.http = kind(near.hostname or "", near.port or (443 if near.scheme == "https" else 80))
        self.target = urlunsplit(("", "", parts.path, parts.query, ""))
        self.is_aborted = False
        if proxy and proxy.username:
            user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
            login = {"Proxy-Authorization": "Basic " + base64.b64encode(user).decode()}
        if proxy and is_secure:
            self.http.set_tunnel(parts.hostname or "", parts.port or 443, login)
        elif proxy:
            self.target, self.headers = address, {**self.headers, **login}

    def call(self, method: str, params: Json, timeout: float = 10) -> Json:
        """The result. Raises CallError, or Unreachable, after which the call may have arrived or not."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        try:
            self.connect(timeout)
            self.http.request("POST", self.target, body, self.headers)
            response = self.http.getresponse()
            status, headers, text = response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException) as why:
            self.http.close()
            text = getattr(why, "strerror", None) or str(why) or type(why).__name__
            raise Unreachable(shown(text)) from None
        try:
            answer = json.loads(text)
            result = answer.get("result")
            if isinstance(result, dict):
                if result.get("message_type") == "LEAGUE_ERROR" and method in ("open_seat", "await_calls"):
                    raise CallError(str(result.get("error_code")), shown(result.get("error_description")))
                return result
            error, data = answer.get("error") or {}, (answer.get("error") or {}).get("data") or {}
        except (ValueError, AttributeError, RecursionError):
            error, data = {}, {}
        if status == 429:
            after = headers.get("Retry-After", "")
            wait = data.get("retry_after_ms", 1000 * int(after) if after.isdigit() else 1000) / 1000
            raise CallError("HTTP 429", "too many requests", wait)
        if error:
            raise CallError(str(data.get("error_code") or error.get("code")), shown(error.get("message")))
        moved = f", which points to {headers['Location']}" if "Location" in headers else ""
        raise Unreachable(shown(f"HTTP {status}{moved or ', and no answer of a league'}"))

    def connect(self, timeout: float) -> None:
        if self.http.sock:
            with selectors.DefaultSelector() as selector:
                selector.register(self.http.sock, selectors.EVENT_READ)
                if selector.select(0):
                    self.http.close()  # the other side has closed what was idle
        self.http.timeout = 5
        if not self.http.sock:
            self.http.connect()
            self.http.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            # A network that is gone shows after 7 s, long before a poll's own time is over.
            for option, value in {"TCP_KEEPIDLE": 3, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 2,
                                  "TCP_USER_TIMEOUT": 7000}.items():
                if hasattr(socket, option):  # not on each system
                    self.http.sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        if self.is_aborted:  # perhaps before there was a socket to shut down
            raise ConnectionAbortedError("the connection was given up")
        self.http.sock.settimeout(timeout)

    def abort(self) -> None:
        """Ends the present call, and lets each later one fail."""
        self.is_aborted = True
        try:
            self.http.sock.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):  # it is not open
            pass

class Seat:
    """Gets the league's calls by long poll and hands in the answers. An answer that becomes ready while a
    poll waits leaves by a second connection, and the manager then ends that poll. After any failure a new
    session is opened, in which the manager repeats what is unanswered. Answers of the old session are
    dropped, because after a restart of the manager their ids may be those of other calls. Thread-safe."""
    def __init__(self, player: Player, calls: Calls) -> None:
        self.player, self.calls, self.state = player, calls, threading.Condition()
        self.session, self.answers = "", []  # type: str, List[Json]
        self.unanswered = 0  # calls that are being answered
        self.is_waiting = self.is_taken_over = False
        self.connection: Optional[Connection] = None

    def open(self, connection: Connection) -> None:
        me, timestamp, nonce = self.calls.identity.me, now(), secrets.token_urlsafe(24)
        with self.state:
            self.session, self.answers, self.connection = "", [], connection
        reply = connection.call("open_seat", {
            "player_id": me["player_id"], "timestamp": timestamp, "nonce": nonce,
            "proof": keyed(me.get("auth_token", ""), "seat", timestamp, nonce)})
        if not isinstance(reply.get("session"), str):
            raise Unreachable("the answer to open_seat has no session")
        with self.state:
            self.session = reply["session"]

    def play(self, connection: Connection, succeeded: Callable[[], None]) -> None:
        """Plays in a session, and in another one when the manager has restarted and does not know it."""
        while not self.player.stopping.is_set():
            self.open(connection)
            has_worked = False
            try:
                while not self.player.stopping.is_set():
                    self.poll(connection, 25 if has_worked else 0)  # the first one shows that it works
                    has_worked = True
                    succeeded()
            except CallError as why:
                if why.code != "E012" or not has_worked:
                    raise

    def poll(self, connection: Connection, seconds: int) -> None:
        """Hands in what is answered, and waits for the next calls."""
        with self.state:
            self.state.wait_for(lambda: not self.unanswered, 0.01)  # quick answers leave with this poll
            session, answers, self.answers, self.is_waiting = self.session, self.answers, [], True
        try:
            self.exchange(connection, session, answers, seconds)
        finally:
            with self.state:
                self.is_waiting = False

    def hand_in(self) -> None:
        """Sends answers while a poll waits; in a thread of its own."""
        own: Any = None
        is_over = self.player.stopping.is_set
        while True:
            with self.state:
                self.state.wait_for(lambda: self.answers and self.is_waiting or is_over())
                session, answers, self.answers, polling = self.session, self.answers, [], self.connection
            if own and (is_over() or own.address != polling.address):
                own = own.http.close()
            if is_over():
                return
            own = own or Connection(polling.address)
            try:
                self.exchange(own, session, answers, 0)
            except (CallError, Unreachable):
                polling.abort()  # its thread then opens a new session

    def exchange(self, connection: Connection, session: str, answers: List[Json], wait: int) -> None:
        turn = {"session": session, "wait_s": wait, "answers": answers}
        try:
            reply = connection.call("await_calls", turn, wait + 10)
        except CallError as why:
            if why.code != "E016" and why.retry_after is None:
                raise
            reply = {"ended": "taken_over"} if why.code == "E016" else {}
            if why.retry_after is not None:
                with self.state:
                    self.answers[:0] = answers if session == self.session else []
                self.player.stopping.wait(why.retry_after)
        if reply.get("ended") == "taken_over" and session == self.session:  # else by this program itself
            self.is_taken_over = True
            self.player.stop()
        try:
            calls = [(one["request"], one["remaining_ms"] / 1000) for one in reply.get("calls", [])]
        except (KeyError, TypeError):
            raise Unreachable("the answer to await_calls has calls of another form")
        for request, remaining in calls:
            with self.state:
                self.unanswered += 1
            # The manager limits how many calls are open at a seat, and so these threads.
            threading.Thread(target=self.answer, args=(session, request, remaining), daemon=True).start()

    def answer(self, session: str, request: Json, remaining: float) -> None:
        response = self.calls.answer(request, remaining)
        with self.state:
            self.unanswered -= 1
            if session == self.session and response["id"] is not None:
                self.answers.append(response)
            self.state.notify_all()

class Server(ThreadingHTTPServer):
    """Lets the league call the bot, as the alternative to a seat."""
    request_queue_size, daemon_threads = 100, True

    def __init__(self, address: Any, calls: Calls) -> None:
        self.calls = calls
        super().__init__(address, Handler)

    def server_bind(self) -> None:  # without looking up this machine's name, which can take seconds
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the caller has hung up

class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, timeout = "HTTP/1.1", -1, 60  # keeps connections, answers in one piece
    server: Server

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length") or ""
        if not re.fullmatch("[0-9]{1,9}", size) or int(size) > 1 << 20:
            self.close_connection = True
            return self.send_error(413 if size.isdecimal() else 411)
        body = json.dumps(self.server.calls.answer_bytes(self.rfile.read(int(size)))).encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.wfile.write(head.encode() + body)

    def log_message(self, *_: Any) -> None:
        pass

# --- The bot ----------------------------------------------------------------------------------------------
class Player:
    """A bot. Give it a function that chooses, then `run` it. The league's table shows `name`."""
    FIRST_DELAY, LONGEST_DELAY = 0.25, 10.0  # seconds before asking an unreachable manager again

    def __init__(self, name: str, game: str = "even_odd") -> None:
        self.name, self.game, self.stopping = name, game, threading.Event()
        self.results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self.reported: List[str] = []
        self.chooser: Optional[Callable[[Match], str]] = None
        self.listener: Optional[Callable[[Result], Any]] = None
        self.seat: Optional[Seat] = None
        self.server: Optional[Server] = None

    def choose(self, function: Callable[[Match], str]) -> Callable[[Match], str]:
        """Decorator of the function that gets a `Match` and returns one of `match.choices`."""
        self.chooser = function
        return function

    def on_result(self, function: Callable[[Result], Any]) -> Callable[[Result], Any]:
        """Decorator of a function that gets the `Result` of each match, one after the other."""
        self.listener = function
        return function

    def run(self, manager: Union[str, Sequence[str], None] = None, serve: Optional[int] = None,
            host: Optional[str] = None, code: Optional[str] = None, data: Optional[str] = None) -> None:
        """Plays until `stop`, Ctrl-C, or until another program takes over the bot's session.

        manager  address of the league; several addresses of one league in a list, or separated by commas
        serve    listen on this port (0: any free one) and let the league call, instead of connecting to it
        host     with serve: the name or address by which the league reaches this machine
        code     registration code, if the league asks for one
        data     file that stores who the bot is, with its token (default: NAME.json in the working directory)

        Without a manager, or if the command line has --manager, these come from the command line. Raises
        SystemExit with the reason if the league does not admit the bot."""
        if manager is None or any(word.split("=")[0] == "--manager" for word in sys.argv[1:]):
            parser = argparse.ArgumentParser(allow_abbrev=False)
            parser.add_argument("--manager", default="http://localhost:8000", help="address of the league")
            parser.add_argument("--serve", default=serve, type=int, metavar="PORT",
                                help="listen and let the league call, instead of connecting to it")
            for option, default, text in (
                    ("host", host, "with --serve: the name by which the league reaches this machine"),
                    ("code", code, "registration code, if the league asks for one"),
                    ("data", data, "file with the bot's id and token"),
                    ("name", self.name, "in the table of the league")):
                parser.add_argument("--" + option, default=default, help=text)
            given = parser.parse_args() if manager is None else parser.parse_known_args()[0]
            manager, serve, host, code, data = given.manager, given.serve, given.host, given.code, given.data
            self.name = given.name
        if self.chooser is None:
            raise SystemExit(f"{self.name} has no function that chooses: mark one with @bot.choose")
        self.code = code
        several = manager.split(",") if isinstance(manager, str) else manager
        self.addresses = [address_of(one) for one in several]
        file = pathlib.Path(data or re.sub(r"[^\w.-]", "_", self.name) + ".json")
        self.calls = Calls(self, Identity(file, self.addresses, self.name))
        threading.Thread(target=self.tell_results, daemon=True).start()
        try:
            if serve is None:
                self.run_seat()
            else:
                self.run_server(serve, host)
        except Rejected as why:
            raise SystemExit(f"{self.name}: {why}") from None
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()

    def stop(self) -> None:
        """Lets `run` return. Any thread may call it."""
        self.stopping.set()
        if self.seat:
            with self.seat.state:
                self.seat.state.notify_all()
            if self.seat.connection:
                self.seat.connection.abort()
        if self.server:
            threading.Thread(target=self.server.shutdown, daemon=True).start()

    # Talking to the author

    def say(self, text: str) -> None:
        print(shown(text), flush=True)

    def warn(self, text: str) -> None:
        print(f"{self.name}: {shown(text)}", file=sys.stderr, flush=True)

    def report(self, kind: str, text: str, trace: str = "") -> None:
        """Prints the first failure of each kind."""
        if kind not in self.reported:
            self.reported.append(kind)
            self.warn(text)
            print(trace, end="", file=sys.stderr, flush=True)

    def ask(self, match: Match) -> str:
        """The author's choice or, if the function fails, the first of the game's."""
        instead = f"so the bot chooses {match.choices[0]!r}, and will whenever that happens"
        try:
            choice = self.chooser(match)  # type: ignore[misc]
            if choice in match.choices:
                return choice
            self.report("choice", f"choose returned {choice!r}, which is none of {match.choices}; {instead}")
        except (Exception, SystemExit):
            self.report("choose", f"choose failed; {instead}", traceback.format_exc())
        return match.choices[0]

    def tell_results(self) -> None:
        while True:
            result = self.results.get()
            try:
                if self.listener:
                    self.listener(result)
            except (Exception, SystemExit):
                self.report("on_result", "on_result failed", traceback.format_exc())

    # Talking to the manager

    def delay(self, failures: int) -> float:  # random, so that many bots do not come back in one moment
        return min(self.LONGEST_DELAY, self.FIRST_DELAY * 2 ** min(failures, 20)) * random.uniform(0.5, 1)

    def tell_manager(self, method: str, message: Json) -> None:
        """Makes a call in the background."""
        def attempts() -> None:
            for failures in range(5):
                connection = Connection(self.addresses[0])
                try:
                    connection.call(method, message)
                    return
                except CallError as why:
                    return self.report(method, f"{method}: {why}")
                except Unreachable:
                    self.stopping.wait(self.delay(failures))
                finally:
                    connection.http.close()
        threading.Thread(target=attempts, daemon=True).start()

    def register(self, connection: Connection, endpoint: str) -> None:
        """Shows the token and nonce of before, to come back as who we were and to get our receipt_key."""
        calls, identity = self.calls, self.calls.identity
        meta = {"display_name": self.name, "version": __version__, "game_types": [self.game],
                "contact_endpoint": endpoint, "protocol_version": "2.1.0", "receipts": True}
        if self.code:
            meta["registration_code"] = self.code
        conversation = {"conversation_id": "conv" + secrets.token_hex(16)}
        while True:
            with calls.lock:
                calls.save()  # so that the same request can be repeated after a crash
            nonce = identity.home["registration_nonce"]
            reply = connection.call("register_player", calls.message(
                "LEAGUE_REGISTER_REQUEST", conversation, player_meta=meta, registration_nonce=nonce))
            if reply.get("status") == "ACCEPTED" and isinstance(reply.get("player_id"), str):
                break
            reason = shown(reply.get("reason") or reply.get("error_description") or "no reason given")
            if reply.get("retryable") or str(reply.get("error_code")).startswith("E09"):
                raise Unreachable(reason)
            if reply.get("error_code") != "E012" or "auth_token" not in identity.me:
                raise Rejected(f"not admitted at {origin_of(connection.address)}: {reason}")
            self.warn(f"the league does not know the token in {identity.file}; the bot registers anew")
            with calls.lock:
                identity.refused.append(identity.file)
                identity.load()
        with calls.lock:
            identity.adopt(reply)
            calls.save()
        self.say(f"{self.name} is {identity.id} in {identity.me.get('league_id', 'the league')} at "
                 f"{origin_of(connection.address)}; {identity.file} stores its token")

    def keep_trying(self, use: Callable[[Connection, Callable[[], None]], None]) -> None:
        """Calls `use` with a connection until it returns or the bot stops: after a failure at the next
        address, and when all have failed, later and later. `use` tells what it gets whenever it succeeds."""
        failures = 0
        def succeeded() -> None:
            nonlocal failures
            failures = 0
            if "network" in self.reported:
                self.reported.remove("network")
                self.warn("connected to " + origin_of(self.addresses[0]))
        while not self.stopping.is_set():
            connection = Connection(self.addresses[0])
            try:
                return use(connection, succeeded)
            except (CallError, Unreachable) as why:
                if self.stopping.is_set():
                    return
                hint = "; is the clock of this machine right?" if str(why).startswith("E021") else ""
                self.report("network", f"{origin_of(connection.address)}: {why}{hint}; trying again")
            finally:
                connection.http.close()
            self.addresses = [*self.addresses[1:], self.addresses[0]]
            failures += 1
            if failures % len(self.addresses) == 0:
                self.stopping.wait(self.delay(failures // len(self.addresses) - 1))

    def run_seat(self) -> None:
        seat = self.seat = Seat(self, self.calls)
        threading.Thread(target=seat.hand_in, daemon=True).start()
        is_known = False
        def play(connection: Connection, succeeded: Callable[[], None]) -> None:
            nonlocal is_known
            if not is_known:
                self.register(connection, "outward")
            is_known = True
            try:
                seat.play(connection, succeeded)
            except CallError as why:
                is_known = why.code != "E012"  # else the league may have forgotten the bot
                if why.code == "-32601":
                    raise Rejected("this league has no seats; give the bot a port to serve")
                raise
        self.keep_trying(play)
        if seat.is_taken_over:
            self.warn("another program has opened this bot's seat, so this one stops")

    def run_server(self, port: int, host: Optional[str]) -> None:
        try:
            if host is None:  # the address from which this machine reaches the manager
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.connect((urlsplit(self.addresses[0]).hostname, 9))
                    host = str(probe.getsockname()[0])
            server = self.server = Server(("127.0.0.1" if host == "127.0.0.1" else "", port), self.calls)
        except OSError as why:
            raise Rejected(f"cannot be called at {host or 'this machine'}, port {port}: {why.strerror}")
        endpoint, rejection = f"http://{host}:{server.server_address[1]}/mcp", []  # type: str, List[Rejected]
        def register(connection: Connection, succeeded: Callable[[], None]) -> None:
            self.register(connection, endpoint)
            succeeded()
        def admission() -> None:
            try:
                self.keep_trying(register)
            except Rejected as why:
                rejection.append(why)
                self.stop()
        threading.Thread(target=admission, daemon=True).start()
        server.serve_forever(0.1)  # from here on calls are answered, so it registers when it can be called
        server.server_close()
        if rejection:
            raise rejection[0]
