"""Builds sealed conversation logs of whole leagues by hand (docs/audit.md), honest or forged by their own owners.

    league = League(players=3)          # who plays what: league.plans["R1M1"], to be changed before play()
    league.play()
    league.find("referee:REF01", "MATCH_RESULT_REPORT", "R1M1", dir="out")[0].message["result"]["winner"] = "P02"
    league.write(directory)

The two records of a message share one Frame: whoever changes its message lets both sides tell the same story. `record.own()`
separates one side. Whatever is changed, write() numbers, chains and seals anew with the owner's key, as the owner could;
freeze() before the change keeps what the manager's broadcasts told of its log. rechain() does the same with finished lines.
Standard library only.
"""

import copy
import hashlib
import hmac
import json
import random
import re
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import verify_log as curve  # noqa: E402  (the arithmetic of Ed25519; signing is here)

START = datetime(2026, 1, 15, 10, 30, tzinfo=timezone.utc)
MANAGER = "league_manager"
SEAL_INTERVAL = timedelta(seconds=5)


# --- Ed25519 (RFC 8032) ---------------------------------------------------------------------------------------------
def _powers_of_base():
    point, table = curve.BASE, []
    for _ in range(256):
        table.append(point)
        point = curve.point_add(point, point)
    return table


_POWERS = _powers_of_base()


def _times_base(scalar):
    result = (0, 1, 1, 0)
    for bit in range(256):
        if scalar >> bit & 1:
            result = curve.point_add(result, _POWERS[bit])
    return result


class Signer:
    """A private key, made of any text, or of its 32 secret bytes as a key file holds them."""

    def __init__(self, name="", seed=None):
        digest = hashlib.sha512(seed or hashlib.sha256(name.encode()).digest()).digest()
        self._scalar = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
        self._prefix = digest[32:]
        self._public = curve.point_compress(_times_base(self._scalar))
        self.public_key = self._public.hex()

    def sign(self, text):
        data = text.encode()
        r = int.from_bytes(hashlib.sha512(self._prefix + data).digest(), "little") % curve.ORDER
        shown = curve.point_compress(_times_base(r))
        h = int.from_bytes(hashlib.sha512(shown + self._public + data).digest(), "little") % curve.ORDER
        return (shown + ((r + h * self._scalar) % curve.ORDER).to_bytes(32, "little")).hex()


# --- Logs -----------------------------------------------------------------------------------------------------------
def log_time(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def wire_time(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_of_frame = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=lambda head: head.value).encode


class Head:
    """The end of the manager's log as a broadcast tells it; known when the manager's log is written."""

    def __init__(self):
        self.value = {"seq": 0, "hash": "0" * 64}

    def __deepcopy__(self, memo):
        return self


class Frame:
    """One JSON-RPC message on the wire. `body` may also be a str: sent as it is."""

    def __init__(self, body):
        self.body = body

    @property
    def message(self):
        return self.body.get("params", self.body.get("result"))

    def raw(self):
        if isinstance(self.body, str):
            return self.body
        return _of_frame(self.body)


class Record:
    """A record before it is numbered. `fields` are its keys, `frame` what was sent (None: a failure)."""

    FIRST = ("seq", "time", "mono_ns", "dir", "kind", "call", "peer", "said_by", "transport", "context", "conversation_id",
             "message_type", "match_id", "http_status", "elapsed_us", "leniencies", "verdict", "fault", "broadcast",
             "raw_ref", "raw_keep", "raw_bytes", "raw_sha256", "raw", "raw_base64")

    def __init__(self, frame, **fields):
        self.frame = frame
        self.fields = {key: value for key, value in fields.items() if value is not None}

    @property
    def message(self):
        return self.frame.message if self.frame is not None else {}

    def __getitem__(self, key):
        return self.fields.get(key)

    def __setitem__(self, key, value):
        self.fields[key] = value

    def own(self):
        """From now on this side's record is its own: what is changed in it, the other side does not have."""
        self.frame = copy.deepcopy(self.frame)
        return self

    def line(self, seq):
        whole = {"seq": seq, **self.fields}
        if self.frame is not None:
            raw = self.frame.raw()
            whole.setdefault("raw_sha256", hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest())
            whole.setdefault("raw", raw)
        order = {key: at for at, key in enumerate(self.FIRST)}
        return {key: whole[key] for key in sorted(whole, key=lambda key: order.get(key, 99))}


class Header:
    def __init__(self, agent, key="", **fields):
        self.agent, self.key, self.fields = agent, key, fields


class Note:
    """A note of format version 3, at the time of the record that follows it."""

    def __init__(self, at, mono, name, content):
        self.at, self.mono, self.name, self.content = at, mono, name, content


class Seal:
    def __init__(self, at, closed=False, head=None):
        self.at, self.closed, self.head = at, closed, head


def closed_line(text, prev):
    """`text` is an object without its closing brace."""
    covered = f'{text},"prev":"{prev}'
    digest = hashlib.sha256(covered.encode("utf-8", "surrogatepass")).hexdigest()
    return f'{covered}","hash":"{digest}"}}', digest


def _signature(signer, agent, seq, when, closed, prev):
    return signer.sign(curve.signed_text(agent, seq, when, closed, prev))


def _kept_seal(agent, key, seq, when, closed, prev, signature):
    return compact({"format": "league.conversation-log.seal", "version": 2, "agent": agent, "public_key": key,
                    "seal": seq, "time": when, "closed": closed, "head": prev, "signature": signature}) + "\n"


class AgentLog:
    """One agent's log: `items` are Headers, Records and Seals in their order."""

    def __init__(self, agent, path, signer, version=2):
        self.agent, self.path, self.signer, self.version = agent, path, signer, version
        self.items = []
        self.calls = 0

    def records(self):
        return [item for item in self.items if isinstance(item, Record)]

    def next_call(self):
        self.calls += 1
        return self.calls

    def render(self):
        """The log's text and that of the newest seal (None if there is none)."""
        lines, prev, seq, agent, kept = [], "0" * 64, 0, self.agent, None
        for item in self.items:
            if isinstance(item, Header):
                agent = item.agent
                fields = {"format": "league.conversation-log", "version": self.version, "agent": agent}
                fields |= {key: item.fields[key] for key in ("league_id", "league_key") if item.fields.get(key)}
                fields |= {"created": log_time(item.fields["created"]), "segment": 1, "first_seq": seq + 1}
                fields |= {"public_key": item.key} if item.key else {}
                fields |= {"seal_interval_ms": 5000} if self.version > 2 else {}
                fields |= {"starts": True} if item.fields.get("starts") else {}
            elif isinstance(item, Note):
                fields = {"note": item.name, "time": log_time(item.at), "mono_ns": item.mono, "content": item.content}
            elif isinstance(item, Seal):
                when = log_time(item.at)
                signature = _signature(self.signer, agent, seq, when, item.closed, prev)
                fields = {"seal": seq, "time": when, **({"closed": True} if item.closed else {}), "signature": signature}
                kept = _kept_seal(agent, self.signer.public_key, seq, when, item.closed, prev, signature)
                if item.head:
                    item.head.value = {"seq": seq, "hash": prev}
            else:
                seq += 1
                fields = item.line(seq)
            line, prev = closed_line(compact(fields)[:-1], prev)
            lines.append(line)
        return "".join(line + "\n" for line in lines), kept

    def write(self, directory):
        path = Path(directory) / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text, seal = self.render()
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        if seal:
            path.with_name(path.name.replace(".log.jsonl", ".seal.json")).write_text(seal)
        return path


def rechain(path, signer=None):
    """Makes hashes right again in a log file whose lines somebody has changed, added or taken out, and with the owner's
    key also the numbers of its seals, their signatures and the seal beside the log."""
    path = Path(path)
    lines, prev, agent, seq, kept = [], "0" * 64, "", 0, None
    for line in path.read_bytes().decode("utf-8", "surrogatepass").split("\n")[:-1]:
        text = re.sub(r',"prev":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"}\Z', "", line)
        if text.startswith('{"format":'):
            agent = json.loads(text + "}").get("agent", "")
        elif text.startswith('{"seq":'):
            seq = int(re.match(r'\{"seq":(\d{0,18})', text)[1] or 0)
        elif text.startswith('{"seal":') and signer:
            seal = json.loads(text + "}")
            closed = seal.get("closed") is True
            signature = _signature(signer, agent, seq, seal["time"], closed, prev)
            text = compact({"seal": seq, "time": seal["time"], **({"closed": True} if closed else {}),
                            "signature": signature})[:-1]
            kept = _kept_seal(agent, signer.public_key, seq, seal["time"], closed, prev, signature)
        line, prev = closed_line(text, prev)
        lines.append(line)
    path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass"))
    if kept:
        path.with_name(path.name.replace(".log.jsonl", ".seal.json")).write_text(kept)


# --- A league -------------------------------------------------------------------------------------------------------
def sha256_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def draw_commitment(seed, match):
    return hashlib.sha256(seed + match.encode()).hexdigest()


def choice_commitment(promise, match, player, choice, nonce):
    return sha256_of(f"{promise}|{match}|{player}|{choice}|{nonce}")


def draw(seed, match, choices, nonces=None):
    """docs/protocol.md, "The draw": version 2 where `nonces` (of A and of B; absent ones empty) are given."""
    for counter in range(1 << 30):
        parts = [match, *choices, *(nonces or ()), str(counter)]
        for byte in hmac.digest(seed, "|".join(parts).encode(), hashlib.sha256):
            if byte < 250:
                return byte % 10 + 1
    raise AssertionError


class Plan:
    """What is to happen in one match; everything may be changed before League.play()."""

    def __init__(self, match, round_id, a, b, referee, chance):
        self.match, self.round_id, self.a, self.b, self.referee = match, round_id, a, b, referee
        self.seed = chance.randbytes(32)
        self.choices = {player: chance.choice(("even", "odd")) for player in (a, b)}
        self.nonces = {player: chance.randbytes(32).hex() for player in (a, b)}
        # Who commits.
        self.commits = {a, b}
        # Player to (call, error code): it loses by it. Codes E001 and E009 have no answer, E004 has a bad one.
        self.lost = {}
        # How many attempts are given up after both have chosen, before one counts; each by another referee if there is one.
        self.abandoned = 0

    @property
    def players(self):
        return self.a, self.b

    @property
    def promise(self):
        return draw_commitment(self.seed, self.match)

    def commitment(self, player):
        return choice_commitment(self.promise, self.match, player, self.choices[player], self.nonces[player])

    def commitments(self):
        return {player: self.commitment(player) for player in self.players if player in self.commits}

    def number(self):
        nonces = [self.nonces[player] if player in self.commits else "" for player in self.players]
        return draw(self.seed, self.match, [self.choices[p] for p in self.players], nonces if self.commits else None)

    def winner(self):
        """Player id or None; lost matches and the rules."""
        if self.lost:
            left = [player for player in self.players if player not in self.lost]
            return left[0] if len(left) == 1 else None
        right = [p for p in self.players if self.choices[p] == ("odd" if self.number() % 2 else "even")]
        return right[0] if len(right) == 1 else None

    def points(self):
        winner = self.winner()
        if winner is None:
            return dict.fromkeys(self.players, 0 if self.lost else 1)
        return {player: 3 if player == winner else 0 for player in self.players}

    def termination(self):
        if not self.lost:
            return "NORMAL"
        if len(self.lost) == 2:
            return "BOTH_FAILED"
        (call, code), = self.lost.values()
        side = "JOIN" if call == "GAME_INVITATION" else "CHOICE"
        names = {"E001": f"TIMEOUT_{side}", "E009": f"CONNECTION_{side}", "E004": "INVALID_CHOICE", "E037": "DECLINED",
                 "E040": "COMMITMENT_MISMATCH"}
        return names.get(code, "INVALID_REPLY")


class League:
    """`old`: logs as they were before records had `call`, headers `league_key`, and players commitments. `version`: of the log's
    format; from 3 on records say whose token was checked. `receipts`: players have declared them, so the manager asks about losses."""

    def __init__(self, players=3, referees=1, seed=1, league_id="league_test", old=False, commitments=True, start=START, version=2, receipts=False,
                 meetings=None):
        chance = random.Random(seed)
        self.league_id, self.old, self.now, self.start_time, self.version = league_id, old, start, start, version
        self.meetings = meetings
        self.receipts, self.given_receipts, self.questions, self.keeps_questions = receipts, {}, [], True
        self.asked_at = {}  # by player: when the call that fails is made
        self.name = f"{league_id}:{seed}"
        self.signer = Signer("league:" + self.name)
        self.key = self.signer.public_key
        self.players = [f"P{n:02}" for n in range(1, players + 1)]
        self.referees = [f"REF{n:02}" for n in range(1, referees + 1)]
        self.logs, self.plans, self.results = {}, {}, {}
        self.attempts = {}
        for agent in [MANAGER] + [f"referee:{r}" for r in self.referees] + [f"player:{p}" for p in self.players]:
            path = (f"logs/league/{league_id}/league.log.jsonl" if agent == MANAGER else
                    f"logs/agents/{agent.split(':')[1]}.log.jsonl")
            self.logs[agent] = AgentLog(agent, path, Signer(f"{self.name}:{agent}"), version)
        ring = self.players + ([None] if players % 2 else [])
        for round_id in range(1, (len(ring) - 1) * (meetings or 1) + 1):
            pairs = [(ring[i], ring[-1 - i]) for i in range(len(ring) // 2)]
            pairs = [pair for pair in pairs if None not in pair]
            for n, (a, b) in enumerate(pairs, 1):
                a, b = (b, a) if (round_id + n) % 2 else (a, b)
                match = f"R{round_id}M{n}"
                referee = self.referees[(round_id + n) % referees]
                self.plans[match] = Plan(match, round_id, a, b, referee, chance)
                if old or not commitments:
                    self.plans[match].commits = set()
            ring = [ring[0], ring[-1], *ring[1:-1]]

    # -- what tests look for
    def log(self, agent):
        """By its id or whole name."""
        return next(log for name, log in self.logs.items() if name in (agent, f"player:{agent}", f"referee:{agent}"))

    def find(self, agent, message_type=None, match=None, **fields):
        """The records of an agent's log whose message (or awaited message) is of that type and match."""
        found = self.log(agent).records()
        fields |= {"message_type": message_type} if message_type else {}
        fields |= {"match_id": match} if match else {}
        return [record for record in found if all(record[key] == value for key, value in fields.items())]

    def reports(self, match):
        """The Frames of the match's reports, in order."""
        return [record.frame for record in self.find(MANAGER, "MATCH_RESULT_REPORT", match, dir="in")]

    # -- how it is played
    def tick(self, milliseconds=2):
        self.now += timedelta(milliseconds=milliseconds)
        return self.now

    def note(self, agent, direction, kind, peer, frame, call, **fields):
        at = self.tick()
        fields.setdefault("conversation_id", "convtest001")
        self.seal_in_time(self.log(agent), at)
        mono = int((at - self.start_time) / timedelta(microseconds=1)) * 1000 + 10**12
        record = Record(frame, time=log_time(at), mono_ns=mono, dir=direction, kind=kind,
                        call=None if self.old else call, peer=peer, transport="http", **fields)
        self.log(agent).items.append(record)
        return record

    @staticmethod
    def seal_in_time(log, now):
        """As a program does: five seconds after the first record that no seal covers."""
        first = None
        for item in reversed(log.items):
            if isinstance(item, Seal) or (isinstance(item, Header) and item.fields.get("starts")):
                break
            first = item if isinstance(item, Record) else first
        if first is not None:
            due = datetime.strptime(first["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc) + SEAL_INTERVAL
            if now > due:
                log.items.append(Seal(due, False, Head()))

    def message(self, message_type, sender, token, conversation, **fields):
        return {"protocol": "league.v2", "message_type": message_type, "sender": sender, "timestamp": wire_time(self.now),
                "conversation_id": conversation, **({"auth_token": token} if token else {}), **fields}

    def call(self, sender, receiver, method, message, reply, peer=None, **fields):
        """A request and its answer in both logs; `reply` is a result, None for a time-out, or a function of none."""
        kind, conversation = message["message_type"], message["conversation_id"]
        fields = {"conversation_id": conversation, "match_id": message.get("match_id"), **fields}
        own, theirs = self.log(sender).next_call(), self.log(receiver).next_call()
        frame = Frame({"jsonrpc": "2.0", "id": own, "method": method, "params": message})
        sent = self.note(sender, "out", "request", receiver, frame, own, message_type=kind, **fields)
        got = self.note(receiver, "in", "request", peer or sender, frame, theirs, message_type=kind, said_by=self.speaker(sender, message), **fields)
        if reply is None:
            self.tick(5000)
            failure = self.note(sender, "in", "failure", receiver, None, own, message_type=kind, verdict="E001",
                                fault="no answer", elapsed_us=5_000_000, **fields)
            return sent, got, failure
        reply = reply() if callable(reply) else reply
        answer = Frame({"jsonrpc": "2.0", "id": own, "result": reply})
        named = reply.get("message_type")  # an acknowledgement is of no type
        out = self.note(receiver, "out", "reply", peer or sender, answer, theirs, message_type=named, http_status=200, **fields)
        back = self.note(sender, "in", "reply", receiver, answer, own, message_type=named, http_status=200, elapsed_us=900,
                         said_by=self.speaker(receiver, reply), **fields)
        return sent, got, out, back

    def speaker(self, agent, message):
        """Whose token was checked, or who has registered; nobody in what carries no token."""
        kind = message.get("message_type", "")
        is_known = kind.endswith("REGISTER_REQUEST") or (message.get("auth_token") and not kind.endswith("REGISTER_RESPONSE"))
        return agent if self.version > 2 and is_known else None

    def token(self, agent):
        return f"tok_{agent.lower()}_"[:8] + "..."

    def seal_all(self, closed=False, only=None):
        for name, log in self.logs.items():
            if only is None or name in only:
                log.items.append(Seal(self.tick(), closed, Head()))

    def newest_head(self):
        return next((item.head for item in reversed(self.logs[MANAGER].items) if isinstance(item, Seal)), None)

    def identity(self):
        return {} if self.old else {"league_key": self.key}

    def begin(self):
        for name, log in self.logs.items():
            if name == MANAGER:
                log.items.append(Header(name, log.signer.public_key, created=self.tick(), starts=True,
                                        league_id=self.league_id, **self.identity()))
            else:
                log.items.append(Header(name.lower(), log.signer.public_key, created=self.tick(), starts=True))

    def register(self, agent):
        role, short = agent.split(":")
        kind, method = (("REFEREE", "register_referee") if role == "referee" else ("LEAGUE", "register_player"))
        meta = {"display_name": short.lower(), "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": f"http://localhost:8{int(short[-2:]):03}/mcp",
                "log_public_key": self.log(agent).signer.public_key,
                **({"receipts": True} if self.receipts and role == "player" else {})}
        if role == "referee":
            meta |= {"max_concurrent_matches": 10, "assignments_in_ack": True, **({} if self.old else {"match_credentials": True})}
        alias = f"{role}:{short.lower()}"
        request = self.message(f"{kind}_REGISTER_REQUEST", alias, None, f"conv{role}{short.lower()}reg001",
                               **{f"{'referee' if role == 'referee' else 'player'}_meta": meta})

        def answer():
            return self.message(f"{kind}_REGISTER_RESPONSE", MANAGER, self.token(short), request["conversation_id"],
                                league_id=self.league_id, status="ACCEPTED", reason=None, **{f"{role}_id": short},
                                **({} if self.old else {"match_credentials": True, "league_key": self.key}))
        self.call(agent, MANAGER, method, request, answer, peer="127.0.0.1:40000")
        self.log(agent).items.append(Header(agent, self.log(agent).signer.public_key, created=self.tick(),
                                            league_id=self.league_id, **self.identity()))

    def broadcast(self, agents, message_type, method, conversation, **fields):
        head = self.newest_head()
        for agent in agents:
            message = self.message(message_type, MANAGER, self.token(agent.split(":")[1]), conversation,
                                   league_id=self.league_id, **copy.deepcopy(fields), **({"log_head": head} if head else {}))
            self.call(MANAGER, agent, method, message, {"status": "ok"})

    def shown(self, plan, referee=None):
        referee = referee or plan.referee
        return {"match_id": plan.match, "game_type": "even_odd", "player_A_id": plan.a, "player_B_id": plan.b,
                "referee_endpoint": "http://localhost:8001/mcp", "referee_id": referee, "draw_commitment": plan.promise}

    def assignment(self, plan, attempt, referee):
        return {**self.shown(plan, referee), "attempt": attempt, "conversation_id": f"convr{plan.match[1:].lower()}{attempt:03}",
                "player_A_endpoint": "http://localhost:8101/mcp", "player_B_endpoint": "http://localhost:8102/mcp",
                "player_A_credential": "aaaaaaaa...", "player_B_credential": "bbbbbbbb...",
                "player_A_token_hash": "cd" * 32, "player_B_token_hash": "ef" * 32, "draw_seed": plan.seed.hex()[:8] + "..."}

    def announce(self, round_id):
        plans = [plan for plan in self.plans.values() if plan.round_id == round_id]
        players = [f"player:{p}" for p in self.players]
        self.broadcast(players, "ROUND_ANNOUNCEMENT", "notify_round", f"convround{round_id}round_announcement",
                       round_id=round_id, matches=[self.shown(plan) for plan in plans])
        for referee in self.referees:
            own = [self.assignment(plan, 1, referee) for plan in plans if plan.referee == referee]
            if own:
                self.assign(referee, round_id, own)

    def assign(self, referee, round_id, matches):
        self.broadcast([f"referee:{referee}"], "ROUND_ANNOUNCEMENT", "notify_round",
                       f"convround{round_id}round_announcement", round_id=round_id, matches=matches)

    def ask(self, plan, player, attempt, referee, kind, **fields):
        """GAME_INVITATION or CHOOSE_PARITY_CALL to one player, with what the plan wants."""
        conversation = f"convr{plan.match[1:].lower()}{attempt:03}"
        call = self.message(kind, f"referee:{referee}", "aaaaaaaa...", conversation, league_id=self.league_id,
                            round_id=plan.round_id, match_id=plan.match, game_type="even_odd", player_id=player, **fields)
        answer = "GAME_JOIN_ACK" if kind == "GAME_INVITATION" else "CHOOSE_PARITY_RESPONSE"
        method = "handle_game_invitation" if kind == "GAME_INVITATION" else "choose_parity"
        reply = self.message(answer, f"player:{player}", self.token(player), conversation, league_id=self.league_id,
                             round_id=plan.round_id, match_id=plan.match, player_id=player)
        if kind == "GAME_INVITATION":
            reply |= {"arrival_timestamp": wire_time(self.now), "accept": True}
            reply |= {"choice_commitment": plan.commitment(player)} if player in plan.commits else {}
        else:
            reply |= {"parity_choice": plan.choices[player]}
            reply |= {"choice_nonce": plan.nonces[player]} if player in plan.commits else {}
        if self.receipts:
            call.setdefault("context", {}).update(attempt=attempt, play=0)
            reply["receipt"] = self.receipt(plan, attempt, player)["join" if kind == "GAME_INVITATION" else "choice"]
        failed_call, code = plan.lost.get(player, (None, None)) if attempt > plan.abandoned else (None, None)
        if failed_call != kind:
            self.call(f"referee:{referee}", f"player:{player}", method, call, reply)
            return True
        self.asked_at[player] = self.now
        for _ in range(3):
            self.fail(plan, player, referee, kind, code, method, call, reply)
        return False

    # -- receipts
    def receipt_key(self, player):
        return sha256_of(f"receipt key:{self.name}:{player}")

    def receipt(self, plan, attempt, player):
        """JOIN and CHOICE of one player in the first play of an attempt."""
        opponent = plan.b if player == plan.a else plan.a
        scope = f"{self.key}|{plan.match}|{attempt}|0|{plan.promise}"
        own, theirs = (plan.commitment(p) if p in plan.commits else "" for p in (player, opponent))
        nonce = plan.nonces[player] if player in plan.commits else ""
        texts = {"join": f"JOIN|{scope}|true|{own}", "choice": f"CHOICE|{scope}|{plan.choices[player]}|{nonce}|{theirs}"}
        return {name: hmac.new(self.receipt_key(player).encode(), text.encode(), hashlib.sha256).hexdigest() for name, text in texts.items()}

    def decline_receipt(self, plan, attempt, player):
        text = f"JOIN|{self.key}|{plan.match}|{attempt}|0|{plan.promise}|false|"
        return hmac.new(self.receipt_key(player).encode(), text.encode(), hashlib.sha256).hexdigest()

    def ask_players(self, plan, attempt):
        """Before it accepts a loss the manager asks both players what they got."""
        self.questions.append({"match_id": plan.match, "attempt": attempt, "players": list(plan.players)})
        for player in plan.players if self.keeps_questions else ():
            agent = f"player:{player}"
            own, theirs = self.log(MANAGER).next_call(), self.log(agent).next_call()
            question = Frame({"jsonrpc": "2.0", "id": own, "method": "get_match_record", "params": {"auth_token": self.token(player), "match_id": plan.match}})
            answer = Frame({"jsonrpc": "2.0", "id": own, "result": {"match_id": plan.match, "player_id": player, "calls": []}})
            for log, direction, kind, peer, frame, call in ((MANAGER, "out", "request", agent, question, own), (agent, "in", "request", MANAGER, question, theirs),
                                                            (agent, "out", "reply", MANAGER, answer, theirs), (MANAGER, "in", "reply", agent, answer, own)):
                self.note(log, direction, kind, peer, frame, call, match_id=plan.match, conversation_id="convasked001",
                          said_by=MANAGER if (log, kind) == (agent, "request") else None)

    def fail(self, plan, player, referee, kind, code, method, call, reply):
        if code in ("E001", "E009"):
            self.call(f"referee:{referee}", f"player:{player}", method, call, None)
            return
        bad = copy.deepcopy(reply)
        if kind == "GAME_INVITATION":
            bad["accept"] = False
        elif code == "E040":
            bad["choice_nonce"] = "00" * 32
        else:
            bad["parity_choice"] = "Even"
        *_, back = self.call(f"referee:{referee}", f"player:{player}", method, call, bad)
        back["verdict"], back["fault"] = code, "no valid answer"

    def play_attempt(self, plan, attempt, referee):
        """Up to the choices; returns who lost."""
        lost = {p for p in plan.players
                if not self.ask(plan, p, attempt, referee, "GAME_INVITATION", draw_commitment=plan.promise,
                                role_in_match="PLAYER_A" if p == plan.a else "PLAYER_B",
                                opponent_id=plan.b if p == plan.a else plan.a)}
        if lost:
            return lost
        for p in plan.players:
            opponent = plan.b if p == plan.a else plan.a
            context = {"opponent_id": opponent, "round_id": plan.round_id, "draw_commitment": plan.promise,
                       "your_standings": {"wins": 0, "losses": 0, "draws": 0}}
            context |= {"opponent_commitment": plan.commitment(opponent)} if opponent in plan.commits else {}
            if not self.ask(plan, p, attempt, referee, "CHOOSE_PARITY_CALL", context=context,
                            deadline=wire_time(self.now + timedelta(seconds=5))):
                lost.add(p)
        return lost

    def details(self, plan, attempt):
        played = not plan.lost
        joined = all(call != "GAME_INVITATION" for call, _ in plan.lost.values())
        details = {"drawn_number": plan.number() if played else None,
                   "number_parity": ("odd" if plan.number() % 2 else "even") if played else None,
                   "choices": {p: plan.choices[p] if joined and p not in plan.lost else None for p in plan.players},
                   "attempt": attempt, "termination": plan.termination(), "draw_proof": plan.seed.hex()}
        if plan.lost:
            details["failures"] = [self.failure(player, call, code) for player, (call, code) in plan.lost.items() for _ in range(3)]
        counting = plan.commitments() if joined else {}
        if not self.old:
            details["draw_version"] = 2 if counting else 1
        if counting:
            details["choice_commitments"] = counting
            nonces = {p: plan.nonces[p] for p in counting if p not in plan.lost}
            details |= {"choice_nonces": nonces} if nonces else {}
        if self.receipts:
            details["receipts"] = {p: self.receipt(plan, attempt, p) for p in plan.players if joined and p not in plan.lost}
            details["receipts"] |= {p: {"join": self.decline_receipt(plan, attempt, p), "choice": ""}
                                    for p, (_, code) in plan.lost.items() if code == "E037"}
        return details

    def failure(self, player, call, code):
        failure = {"player_id": player, "call": call, "error_code": code, "elapsed_ms": 5000, "attempt": 1}
        failure |= {"phase": {"E009": "connect", "E001": "sent"}.get(code, "answered")} if self.version > 2 else {}
        if code == "E001":
            failure["clock"] = {"limit_ms": 5000, "sent_at": log_time(self.asked_at.get(player, self.now - timedelta(seconds=5))), "gave_up_at": log_time(self.now),
                                "scheduling_delay_us": 300, "canary_us": 800, "void": False}
        return failure

    def report(self, plan, attempt, referee, answer=None):
        details = self.details(plan, attempt)
        conversation = f"convr{plan.match[1:].lower()}{attempt:03}"
        report = self.message("MATCH_RESULT_REPORT", f"referee:{referee}", self.token(referee), conversation,
                              league_id=self.league_id, round_id=plan.round_id, match_id=plan.match, game_type="even_odd",
                              result={"winner": plan.winner(), "score": plan.points(), "details": details})
        self.given_receipts[plan.match] = details.get("receipts", {})

        def accepted():
            if self.receipts and plan.lost:
                self.ask_players(plan, attempt)
            return answer or {"status": "ok"}
        records = self.call(f"referee:{referee}", MANAGER, "report_match_result", report, accepted)
        self.results[plan.match] = plan
        status = "TECHNICAL_LOSS" if plan.lost else "WIN" if plan.winner() else "DRAW"
        shown = {key: details[key] for key in ("drawn_number", "number_parity", "choices")}
        proof = {key: details[key] for key in ("draw_proof", "draw_version", "choice_commitments", "choice_nonces") if key in details}
        for player in plan.players:
            over = self.message("GAME_OVER", f"referee:{referee}", "aaaaaaaa...", conversation, league_id=self.league_id,
                                round_id=plan.round_id, match_id=plan.match, game_type="even_odd",
                                game_result={"status": status, "winner_player_id": plan.winner(), **shown, "reason": "played"},
                                reason="played", **copy.deepcopy(proof))
            self.call(f"referee:{referee}", f"player:{player}", "notify_match_result", over, {"status": "ok"})
        return records

    def play_match(self, plan):
        others = [r for r in self.referees if r != plan.referee] or [plan.referee]
        for attempt in range(1, plan.abandoned + 1):
            self.play_attempt(plan, attempt, plan.referee if attempt == 1 else others[0])
            self.assign(others[0], plan.round_id, [self.assignment(plan, attempt + 1, others[0])])
        referee = plan.referee if not plan.abandoned else others[0]
        self.play_attempt(plan, plan.abandoned + 1, referee)
        self.report(plan, plan.abandoned + 1, referee)

    def standings(self):
        """The rows of the final table (docs/protocol.md, "Rank")."""
        rows = {p: {"played": 0, "wins": 0, "draws": 0, "losses": 0, "points": 0} for p in self.players}
        for plan in self.results.values():
            for player, points in plan.points().items():
                name = "wins" if points == 3 else "draws" if points == 1 else "losses"
                for key, more in (("played", 1), (name, 1), ("points", points)):
                    rows[player][key] += more
        among = dict.fromkeys(rows, 0)
        for plan in self.results.values():
            if rows[plan.a]["points"] == rows[plan.b]["points"]:
                for player, points in plan.points().items():
                    among[player] += points
        keys = {p: (-row["points"], -among[p], -row["wins"], row["draws"]) for p, row in rows.items()}
        order = sorted(rows, key=lambda p: (keys[p], int(p[1:])))
        ranks = {}
        for at, player in enumerate(order, 1):
            same = at > 1 and keys[player] == keys[order[at - 2]]
            ranks[player] = ranks[order[at - 2]] if same else at
        return [{"rank": ranks[p], "player_id": p, "display_name": p.lower(), **rows[p]} for p in order]

    def end_round(self, round_id, last):
        own = [plan for plan in self.plans.values() if plan.round_id == round_id]
        everybody = [name for name in self.logs if name != MANAGER]
        players = [name for name in everybody if name.startswith("player:")]
        self.broadcast(players, "LEAGUE_STANDINGS_UPDATE", "update_standings", f"convround{round_id}league_standings_update",
                       round_id=round_id, standings=self.standings(), total_players=len(self.players))
        technical = sum(bool(plan.lost) for plan in own)
        draws = sum(not plan.lost and plan.winner() is None for plan in own)
        self.broadcast(everybody, "ROUND_COMPLETED", "notify_round_completed", f"convround{round_id}round_completed",
                       round_id=round_id, matches_completed=len(own), matches_played=len(own),
                       next_round_id=None if last else round_id + 1,
                       summary={"total_matches": len(own), "wins": len(own) - technical - draws, "draws": draws,
                                "technical_losses": technical})

    def play(self, rounds=None, end=True):
        self.begin()
        for agent in [name for name in self.logs if name != MANAGER]:
            self.register(agent)
        count = max(plan.round_id for plan in self.plans.values())
        for round_id in range(1, (rounds or count) + 1):
            self.announce(round_id)
            for plan in self.plans.values():
                if plan.round_id == round_id:
                    self.play_match(plan)
            self.seal_all()
            self.end_round(round_id, round_id == count)
        if end:
            self.finish(count)
        return self

    def finish(self, count):
        rows = self.standings()
        champion = {key: rows[0][key] for key in ("player_id", "display_name", "points")}
        signed = {"attestation": self.attestation(rows)} if self.version > 2 else {}
        self.broadcast([name for name in self.logs if name != MANAGER], "LEAGUE_COMPLETED", "notify_league_completed",
                       "convleagueleague_completed", total_rounds=count, total_matches=len(self.plans), champion=champion,
                       final_standings=rows, **({"meetings": self.meetings} if self.meetings else {}), **signed)
        if self.receipts:
            manager = self.log(MANAGER)
            manager.items.append(Note(self.tick(), manager.records()[-1]["mono_ns"] + 10**6, "receipt_keys",
                                      {"keys": {player: [self.receipt_key(player)] for player in self.players}}))
        self.seal_all(closed=True)

    def attestation(self, rows):
        """The signed end (docs/protocol.md). There is no journal here, so nobody can compare the other lines."""
        table = "".join("|".join(str(row[key]) for key in ("rank", "player_id", "played", "wins", "draws", "losses", "points")) + "\n" for row in rows)
        statement = (f"league.result 1\n{self.key}\ntable {sha256_of(table)}\nresults {sha256_of('')}\njournal 1 {sha256_of('journal')}\n"
                     f"heads 0 {sha256_of('')}\n")
        return {"statement": statement, "signature": self.signer.sign(statement)}

    # -- what it leaves behind
    def freeze(self):
        """What broadcasts have told of the manager's log stays, whatever becomes of that log."""
        self.logs[MANAGER].render()
        for log in self.logs.values():
            for record in log.records():
                if record.frame is not None and isinstance(record.frame.body, dict):
                    message = record.message
                    if isinstance(message, dict) and isinstance(message.get("log_head"), Head):
                        message["log_head"] = dict(message["log_head"].value)

    def results_json(self):
        """What a bundle has in place of the journal."""
        rows = []
        for match, plan in self.results.items():
            points = plan.points()
            outcome = {(3, 0): "A", (0, 3): "B", (1, 1): "DRAW"}.get((points[plan.a], points[plan.b]), "NONE")
            rows.append({"match_id": match, "outcome": outcome, "by": "REPORT",
                         "reason": "" if not plan.lost else plan.termination(), "draw_seed": plan.seed.hex()})
        stated = {"meetings": self.meetings} if self.meetings else {}
        if not self.receipts:
            return {"format": "league.results", "version": 1, "results": rows, **stated}
        for row in rows:
            plan = self.plans[row["match_id"]]
            row["receipts"] = {side: {"state": "valid", **self.given_receipts[plan.match].get(player, {"join": "", "choice": ""})}
                               for side, player in zip("AB", plan.players)}
        return {"format": "league.results", "version": 1, "league_key": self.key, "files_keyed": True, "with_receipts": self.players,
                "questions": self.questions, "results": rows}

    def write(self, directory, results=True, only=None):
        directory = Path(directory)
        self.logs[MANAGER].render()
        for name, log in self.logs.items():
            if only is None or name in only:
                log.write(directory)
        if results:
            (directory / "data").mkdir(parents=True, exist_ok=True)
            (directory / "data" / "results.json").write_text(json.dumps(self.results_json(), indent=1) + "\n")
        return directory
