"""A referee that knows protocol §7 as well as ours, and can depart from it in any single step; and players that give receipts.

`Play` has one method for each step of a match, and `Liar` tells one lie of its list in each match that it gets. Everything that is drawn here
comes from the seed that the test prints.
"""

import copy
import hashlib
import hmac
import queue
import random
import threading
from datetime import datetime, timedelta, timezone

from league_testing import message, now, player_registration, rpc
from scripted_bot import Bot, exact_reply, message_in

ZEROS = "0" * 64
OTHER = {"even": "odd", "odd": "even"}


def keyed(key, text):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def commitment_of(promise, match, player, choice, nonce):
    return hashlib.sha256("|".join([promise, match, player, choice, nonce]).encode()).hexdigest()


def number_of(seed, match, choices, nonces=()):
    """Draw version 2 where nonces are given, else 1: docs/protocol.md, "The draw"."""
    counter = 0
    while True:
        text = "|".join([match, *choices, *nonces, str(counter)]).encode()
        for byte in hmac.digest(bytes.fromhex(seed), text, hashlib.sha256):
            if byte < 250:
                return byte % 10 + 1
        counter += 1


def in_seconds(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class ReceiptBot(Bot):
    """A faultless player that gives receipts. `dice` decides its choices and nonces."""

    def __init__(self, name, dice):
        self.dice = dice
        self.key = self.league_key = ""
        self.matches, self.records, self.promises = {}, {}, {}
        self._mutex = threading.Lock()
        super().__init__(name)

    def join(self, manager, **meta):
        nonce = f"{self.dice.getrandbits(128):032x}"
        request = player_registration(self.name, self.url, meta={"receipts": True, **meta}, registration_nonce=nonce)
        answer = rpc(manager.url, "register_player", request)
        self.take_identity(answer)
        self.key, self.league_key = answer.result()["receipt_key"], answer.result()["league_key"]
        return self

    def nonce(self):
        return f"{self.dice.getrandbits(256):064x}"

    def receipt(self, kind, match, attempt, play, promise, *said):
        return keyed(self.key, "|".join([kind, self.league_key, match, str(attempt), str(play), promise, *said]))

    def reply(self, frame):
        params = frame.get("params") if isinstance(frame.get("params"), dict) else {}
        if "get_match_record" in (frame.get("method"), params.get("name")):
            return self.match_record(params.get("arguments", params)["match_id"])
        call = message_in(frame)
        kind = call.get("message_type")
        if kind == "ROUND_ANNOUNCEMENT":
            self.promises.update({one["match_id"]: one["draw_commitment"] for one in call["matches"]})
        if kind not in ("GAME_INVITATION", "CHOOSE_PARITY_CALL"):
            return exact_reply(self, call)
        with self._mutex:
            reply = {**exact_reply(self, call), **self.play(call)}
            reply["auth_token"] = keyed(self.token, f"answer|{call['match_id']}#{call['context']['attempt']}")
            noted = {name: reply[name] for name in ("accept", "choice_commitment", "parity_choice", "choice_nonce", "receipt") if name in reply}
            handed = call["context"].get("opponent_commitment")
            self.records.setdefault(call["match_id"], []).append(
                {"message_type": kind, "attempt": call["context"]["attempt"], "play": call["context"].get("play", 0), "at": now(),
                 "answered_at": now(), "answer_ms": 1, **noted, **({"opponent_commitment": handed} if handed else {})})
        return reply

    def play(self, call):
        match, attempt, play = call["match_id"], call["context"]["attempt"], call["context"].get("play", 0)
        if call["message_type"] == "GAME_INVITATION":
            self.promises.setdefault(match, call["draw_commitment"])
            mine = self.matches.setdefault(match, (self.dice.choice(["even", "odd"]), self.nonce()))
            bound = commitment_of(self.promises[match], match, self.id, *mine)
            return {"choice_commitment": bound, "receipt": self.receipt("JOIN", match, attempt, play, self.promises[match], "true", bound)}
        choice, nonce = self.matches[match]
        handed = call["context"].get("opponent_commitment", "")
        return {"parity_choice": choice, "choice_nonce": nonce,
                "receipt": self.receipt("CHOICE", match, attempt, play, self.promises[match], choice, nonce, handed)}

    def match_record(self, match):
        return {"match_id": match, "player_id": self.id, "calls": self.records.get(match, [])}


class Thinker(ReceiptBot):
    """A person at a seat that has not answered the invitation of the first attempt yet."""

    def take_a_seat(self, manager):
        self.url = "outward"
        self.join(manager, played_by="person")
        proof = {"player_id": self.id, "timestamp": now(), "nonce": f"{self.dice.getrandbits(128):032x}"}
        proof["proof"] = keyed(self.token, f"seat|{proof['timestamp']}|{proof['nonce']}")
        session = rpc(manager.url, "open_seat", proof).result()["session"]
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._sit, args=(manager, session), daemon=True)
        self.thread.start()
        return self

    def _sit(self, manager, session):
        answers = []
        while not self.is_over.is_set():
            turn = rpc(manager.url, "await_calls", {"session": session, "wait_s": 1, "answers": answers}).result()
            answers = []
            for request in (call["request"] for call in turn["calls"]):
                call = message_in(request)
                if call.get("message_type") == "GAME_INVITATION" and call["context"]["attempt"] == 1:
                    self.records[call["match_id"]] = [{"message_type": "GAME_INVITATION", "attempt": 1, "play": 0, "at": now()}]
                else:
                    answers.append({"jsonrpc": "2.0", "id": request["id"], "result": self.reply(request)})

    def leave(self):
        self.is_over.set()
        self.thread.join()


class Crier(ReceiptBot):
    """Answers no call of a match, and swears to the manager that it has answered each."""

    def answer(self, frame):
        params = frame.get("params") or {}
        if message_in(frame).get("message_type") in ("GAME_INVITATION", "CHOOSE_PARITY_CALL"):
            return {"jsonrpc": "2.0", "id": frame.get("id"), "error": {"code": -32000, "message": "it is broken"}}
        return super().answer({**frame, "params": params})

    def match_record(self, match):
        calls = [{"message_type": "GAME_INVITATION", "attempt": attempt, "play": 0, "at": now(), "answered_at": now(), "answer_ms": 1,
                  "accept": True} for attempt in range(1, 7)]
        return {"match_id": match, "player_id": self.id, "calls": calls}


class FalseReceipts(ReceiptBot):
    """Plays well, and its receipts are zeros, also for the manager."""

    def receipt(self, *_):
        return ZEROS


class Denier(FalseReceipts):
    """And it says to the manager that nobody has called it."""

    def match_record(self, match):
        return {"match_id": match, "player_id": self.id, "calls": []}


class Play:
    """One assigned match, and what the players have answered in it."""

    def __init__(self, liar, assigned, round_id):
        self.liar, self.assigned, self.round_id = liar, assigned, round_id
        self.id, self.attempt, self.seed = assigned["match_id"], assigned["attempt"], assigned["draw_seed"]
        self.promise = assigned["draw_commitment"]
        self.a, self.b = assigned["player_A_id"], assigned["player_B_id"]
        self.players = (self.a, self.b)
        self.urls = {self.a: assigned["player_A_endpoint"], self.b: assigned["player_B_endpoint"]}
        self.credentials = {self.a: assigned["player_A_credential"], self.b: assigned["player_B_credential"]}
        self.joined, self.chosen, self.refusals = {}, {}, []
        self.seen = []  # every secret that a player has shown

    def other(self, player):
        return self.b if player == self.a else self.a

    # -- the calls
    def call(self, player, method, message_type, **fields):
        token = fields.pop("token", self.credentials[player])
        whole = {"conversation_id": self.assigned["conversation_id"], "league_id": self.liar.league_id, "round_id": self.round_id,
                 "match_id": self.id, "game_type": "even_odd", **fields}
        answer = rpc(self.urls[player], method, message(message_type, f"referee:{self.liar.id}", token, **whole))
        if answer.error_code():
            self.refusals.append(answer.error_code())
        shown = answer.result() or {}
        self.seen += [shown[name] for name in ("auth_token", "receipt", "choice_commitment", "choice_nonce") if shown.get(name)]
        return shown

    def invite(self, player, play=0, context=None, bare=False, **fields):
        """`bare`: without attempt and play."""
        fields = {"role_in_match": "PLAYER_A" if player == self.a else "PLAYER_B", "opponent_id": self.other(player), "player_id": player,
                  "draw_commitment": self.promise, "context": None if bare else {"attempt": self.attempt, "play": play, **(context or {})}, **fields}
        answer = self.call(player, "handle_game_invitation", "GAME_INVITATION", **fields)
        if answer.get("accept"):
            self.joined[player] = answer
        return answer

    def ask(self, player, handed=None, play=0, context=None, bare=False, **fields):
        told = {"opponent_id": self.other(player), "draw_commitment": self.promise, **(context or {})}
        if not bare:
            told = {"attempt": self.attempt, "play": play, **told}
        if handed:
            told["opponent_commitment"] = handed
        answer = self.call(player, "choose_parity", "CHOOSE_PARITY_CALL", player_id=player, deadline=in_seconds(5), context=told, **fields)
        if answer.get("parity_choice"):
            self.chosen[player] = answer
        return answer

    def commitment(self, player):
        return self.joined[player]["choice_commitment"]

    def play_honestly(self, play=0):
        for player in self.players:
            self.invite(player, play)
        for player in self.players:
            self.ask(player, self.commitment(self.other(player)), play)
        return self

    # -- what is reported
    def result(self, **changes):
        """The true result of what the players have answered; `changes` replace what they have: {player: fields} of an answer to either call."""
        said = {player: {**self.joined.get(player, {}), **self.chosen.get(player, {}), **changes.get(player, {})} for player in self.players}
        for player in self.players:  # each of the two answers has a receipt
            said[player]["receipts"] = {"join": self.joined.get(player, {}).get("receipt"), "choice": self.chosen.get(player, {}).get("receipt"),
                                        **changes.get(player, {}).get("receipts", {})}
        bound = {player: one["choice_commitment"] for player, one in said.items() if one.get("choice_commitment")}
        nonces = {player: said[player]["choice_nonce"] for player in bound}
        choices = {player: one["parity_choice"] for player, one in said.items()}
        number = number_of(self.seed, self.id, choices.values(), [nonces.get(player, "") for player in self.players] if bound else ())
        parity = "odd" if number % 2 else "even"
        right = [player for player in self.players if choices[player] == parity]
        winner = right[0] if len(right) == 1 else None
        receipts = {player: {name: text for name, text in one["receipts"].items() if text} for player, one in said.items()}
        details = {"drawn_number": number, "number_parity": parity, "choices": choices, "attempt": self.attempt, "termination": "NORMAL",
                   "failures": [], "draw_version": 2 if bound else 1, "draw_proof": self.seed, "choice_commitments": bound,
                   "choice_nonces": nonces, "receipts": receipts}
        return {"winner": winner, "score": {player: 1 if winner is None else 3 * (player == winner) for player in self.players},
                "details": details}

    def loss(self, *losers, call="GAME_INVITATION", code="E001", phase="sent", termination="TIMEOUT_JOIN"):
        """A technical loss, in the form of an honest one."""
        failures = []
        for loser in losers:
            failure = {"player_id": loser, "call": call, "error_code": code, "elapsed_ms": 5000, "attempt": 3, "phase": phase}
            if phase is None:
                del failure["phase"]
            if code == "E001":
                failure["clock"] = {"limit_ms": 5000, "gave_up_at": now()[:-1] + ".000000Z", "scheduling_delay_us": 0, "canary_us": 0, "void": False}
            failures.append(failure)
        winner = None if len(losers) == 2 else self.other(losers[0])
        details = {"drawn_number": None, "number_parity": None, "choices": dict.fromkeys(self.players), "attempt": self.attempt,
                   "termination": termination, "failures": failures, "draw_proof": self.seed}
        if self.chosen:
            details["draw_version"] = 2
            details["choice_commitments"] = {player: self.commitment(player) for player in self.players}
        if self.joined:
            details["receipts"] = {player: {"join": one["receipt"]} for player, one in self.joined.items() if one.get("receipt")}
        return {"winner": winner, "score": {player: 3 * (player == winner) for player in self.players}, "details": details}

    def report(self, result, **changes):
        fields = {"round_id": self.round_id, "match_id": self.id, "game_type": "even_odd",
                  "conversation_id": self.assigned["conversation_id"], "result": result, **changes}
        answer = self.liar.say(self.liar.manager, "report_match_result", "MATCH_RESULT_REPORT", role="referee", **fields)
        return answer.error_code()

    def announce(self, result, players=None):
        """GAME_OVER; returns how many players did not take it."""
        details, winner, before = result["details"], result["winner"], len(self.refusals)
        status = "TECHNICAL_LOSS" if details["termination"] != "NORMAL" else "WIN" if winner else "DRAW"
        over = {"status": status, "winner_player_id": winner, "drawn_number": details["drawn_number"], "number_parity": details["number_parity"],
                "choices": details["choices"], "reason": "as drawn"}
        proof = {name: details[name] for name in ("draw_proof", "draw_version", "choice_commitments", "choice_nonces") if name in details}
        for player in players or self.players:
            self.call(player, "notify_match_result", "GAME_OVER", game_result=over, **proof)
        return len(self.refusals) - before

    def end_honestly(self):
        """From wherever the lie has left the match."""
        for player in self.players:
            self.joined.get(player) or self.invite(player)
        for player in self.players:
            self.chosen.get(player) or self.ask(player, self.commitment(self.other(player)))
        result = self.result()
        code = self.report(result)
        if code is None:
            self.announce(result)
        return code


class Lie:
    """`tell(play)` returns the code that the report got, None if it was accepted."""

    def __init__(self, name, tell, with_accomplice=False):
        self.name, self.tell, self.with_accomplice = name, tell, with_accomplice
        self.match = self.code = self.error = self.play = None


class Liar(Bot):
    """Our kind of referee for the manager (it declares match credentials), without a log. One lie a match, in their order; when none is left
    that suits a match, it is honest."""

    def __init__(self, name, lies, accomplice=None):
        self.lies, self.accomplice = list(lies), accomplice
        self.manager = None
        self.honest = {}
        self._given = queue.Queue()
        super().__init__(name)
        threading.Thread(target=self._work, daemon=True).start()

    def join_as_referee(self, manager, **meta):
        self.manager = manager
        return super().join_as_referee(manager, match_credentials=True, max_concurrent_matches=16, **meta)

    def reply(self, frame):
        call = message_in(frame)
        if call.get("message_type") == "ROUND_ANNOUNCEMENT":
            for match in call["matches"]:
                if match.get("draw_seed"):
                    self._given.put(Play(self, match, call["round_id"]))
        return {"status": "ok"}

    def _work(self):
        while True:
            play = self._given.get()
            try:
                self._play(play)
            except (OSError, KeyError) as problem:  # KeyError: a player has refused a call that an honest match needs
                self.honest[play.id] = repr(problem)

    def _play(self, play):
        with_accomplice = self.accomplice is not None and self.accomplice.id in play.players
        lie = next((one for one in self.lies if one.match is None and one.with_accomplice == with_accomplice and play.attempt == 1), None)
        if lie is None:
            self.honest[play.id] = play.end_honestly()
            return
        lie.match, lie.play = play.id, play
        try:
            lie.code = lie.tell(play)
        except (OSError, KeyError, AssertionError) as problem:
            lie.error = repr(problem)

    @property
    def untold(self):
        return [lie.name for lie in self.lies if lie.match is None]


def changed(result, **details):
    """A copy with fields of `winner`, `score` or details replaced; None takes one away."""
    copied = copy.deepcopy(result)
    for name, value in details.items():
        place = copied if name in ("winner", "score") else copied["details"]
        if value is None:
            place.pop(name)
        else:
            place[name] = value
    return copied
