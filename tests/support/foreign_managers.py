"""League managers as other people write them: each plays a whole league in the dialect of one public code base.

Standard library only. A manager serves at `url`; `play()` waits for its agents, has every pair play once and returns the
results. What came is in `calls`, as of any scripted bot.
"""

import itertools
import threading
from datetime import datetime, timezone

from league_testing import post
from scripted_bot import Bot, message_in


class ForeignManager(Bot):
    """What all have in common. The subclasses say how they register, start referees and take reports."""

    sender = "league_manager"

    def __init__(self):
        self.players = {}
        self.referees = {}
        self.reports = {}
        self.refusals = []  # what our agents answered with an error
        self._changed = threading.Condition()
        super().__init__("foreign manager")
        self.league_id = "league_foreign"

    def now(self):
        return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def envelope(self, message_type, **fields):
        return {"protocol": "league.v2", "message_type": message_type, "sender": self.sender, "timestamp": self.now(),
                "conversation_id": "conv-of-the-manager", "league_id": self.league_id, **fields}

    def token_of(self, agent):
        return "foreign-" + agent

    # --- what is called -----------------------------------------------------------------------------------------

    def answer(self, frame):
        message, method = message_in(frame), frame.get("method")
        kind = message.get("message_type") or method
        if kind in ("LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"):
            return self.result(frame, self.register(kind, message))
        if kind == "MATCH_RESULT_REPORT":
            return self.result(frame, self.take(message))
        known = self.other(method, message)
        if known is None:
            return {"jsonrpc": "2.0", "id": frame.get("id"), "error": {"code": -32601, "message": "Method not found"}}
        return self.result(frame, known)

    def result(self, frame, message):
        return {"jsonrpc": "2.0", "id": frame.get("id"), "result": message}

    def other(self, method, message):
        return None

    def register(self, kind, message):
        is_player = kind == "LEAGUE_REGISTER_REQUEST"
        meta = message["player_meta" if is_player else "referee_meta"]
        with self._changed:
            agents = self.players if is_player else self.referees
            identity = ("P" if is_player else "REF") + f"{len(agents) + 1:02}"
            agents[identity] = meta["contact_endpoint"]
            self._changed.notify_all()
        kind = kind.replace("REQUEST", "RESPONSE")
        return self.envelope(kind, **{"player_id" if is_player else "referee_id": identity}, **self.accepted(identity))

    def accepted(self, identity):
        return {"status": "ACCEPTED", "auth_token": self.token_of(identity), "reason": None}

    def take(self, message):
        with self._changed:
            self.reports[message["match_id"]] = message
            self._changed.notify_all()
        return {"status": "ok"}

    # --- what is said -------------------------------------------------------------------------------------------

    def say(self, url, method, params):
        answer = post(url, {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).json
        if "error" in answer:
            self.refusals.append((method, answer["error"]))
        return answer

    def wait(self, condition, what, seconds=20):
        with self._changed:
            if not self._changed.wait_for(condition, seconds):
                raise AssertionError(f"no {what} within {seconds} s; reports: {sorted(self.reports)}")

    def play(self, players=2):
        """Every pair plays once, one match a round; returns the reports by match."""
        self.wait(lambda: len(self.players) >= players and self.referees, "registrations")
        pairs = list(itertools.combinations(sorted(self.players), 2))
        for number, (a, b) in enumerate(pairs, 1):
            match = f"R{number}M1"
            self.announce(number, match, a, b)
            self.start(number, match, a, b)
            self.wait(lambda: match in self.reports, "report of " + match)
            self.broadcast("update_standings", "LEAGUE_STANDINGS_UPDATE", round_id=number, standings=self.table())
        rows = self.table()
        champion = {"player_id": rows[0]["player_id"], "display_name": "x", "points": rows[0]["points"]}
        self.broadcast("notify_league_completed", "LEAGUE_COMPLETED", total_rounds=len(pairs), total_matches=len(pairs),
                       champion=champion, final_standings=rows)
        return self.reports

    def announced(self, number, match, a, b):
        return {"match_id": match, "game_type": "even_odd", "player_A_id": a, "player_B_id": b,
                "referee_endpoint": self.referees["REF01"]}

    def announce(self, number, match, a, b):
        self.broadcast("notify_round", "ROUND_ANNOUNCEMENT", round_id=number,
                       matches=[self.announced(number, match, a, b)])

    def broadcast(self, method, kind, **fields):
        for player in self.players:
            self.say(self.players[player], method, self.envelope(kind, **self.shown_to(player), **fields))

    def shown_to(self, agent):
        return {}

    def table(self):
        rows = [self.row(player) for player in self.players]
        return sorted(rows, key=lambda row: -row["points"])

    def row(self, player):
        scores = [r["result"]["score"][player] for r in self.reports.values() if player in r["result"]["score"]]
        return {"player_id": player, "display_name": player, self.played: len(scores), "wins": scores.count(3),
                "draws": scores.count(1), "losses": scores.count(0), "points": sum(scores)}

    played = "played"


class TokenlessManager(ForeignManager):
    """ACCEPTED without a token; ROUND_ANNOUNCEMENT to the referee too, which asks for addresses; no ranks."""

    played = "games_played"

    def accepted(self, identity):
        return {"status": "ACCEPTED"}

    def start(self, number, match, a, b):
        self.say(self.referees["REF01"], "notify_round",
                 self.envelope("ROUND_ANNOUNCEMENT", round_id=number, matches=[self.announced(number, match, a, b)]))

    def other(self, method, message):
        if message.get("query_type") != "GET_REGISTRATIONS":
            return None
        return {"players": [{"player_id": p, "contact_endpoint": url} for p, url in self.players.items()]}


class WrappingManager(ForeignManager):
    """REGISTERED inside result.response, league_manager:LM01, two time zones; one method for everything."""

    sender = "league_manager:LM01"
    played = "matches_played"

    def now(self):
        return datetime.now(timezone.utc).isoformat() + "Z"

    def accepted(self, identity):
        return {"status": "REGISTERED", "auth_token": self.token_of(identity)}

    def result(self, frame, message):
        return {"jsonrpc": "2.0", "id": frame.get("id"), "result": {"response": message}}

    def shown_to(self, agent):
        return {"auth_token": "the-managers-own-token"}

    def start(self, number, match, a, b):
        row = {**self.announced(number, match, a, b), "referee_id": "REF01",
               "player_A_endpoint": self.players[a], "player_B_endpoint": self.players[b]}
        message = self.envelope("ROUND_ANNOUNCEMENT", round_id=number, matches=[row])
        self.say(self.referees["REF01"], "handle_message", {"message": message})


class StartingManager(ForeignManager):
    """Starts each match by START_MATCH, in turn with its sisters; reads flat reports."""

    sender = "league_manager:LEAGUE_MANAGER_01"

    def shown_to(self, agent):
        return {"auth_token": self.token_of(agent)}

    def start(self, number, match, a, b):
        referee = self.referees["REF01"]
        addresses = {"player_a_endpoint": self.players[a], "player_b_endpoint": self.players[b]}
        if number % 3 == 1:
            message = self.envelope("START_MATCH", auth_token=self.token_of("REF01"), round_id=number, match_id=match,
                                    player_a_id=a, player_b_id=b, **addresses)
            answer = self.say(referee, "START_MATCH", message)
            assert answer["result"]["message_type"] == "START_MATCH_ACK", answer
        elif number % 3 == 2:
            arguments = {"match_id": match, "league_id": self.league_id, "round_id": number, "player_A_id": a,
                         "player_B_id": b, "player_A_endpoint": self.players[a], "player_B_endpoint": self.players[b]}
            self.say(referee, "tools/call", {"name": "start_match", "arguments": arguments})
        else:
            message = self.envelope("MATCH_ASSIGNMENT", match_id=match, player1_id=a, player2_id=b,
                                    player1_endpoint=self.players[a], player2_endpoint=self.players[b])
            self.say(referee, "assign_match", message)

    def take(self, message):
        assert message["winner_id"] == message["result"]["winner"], message
        assert set(message["players"]) == set(message["result"]["score"]), message
        return super().take(message) | {"message_type": "MATCH_RESULT_ACK"}


class BareManager(TokenlessManager):
    """Reads and sends messages without JSON-RPC; it does not know what a method is."""

    def answer(self, frame):
        if "jsonrpc" in frame:
            return {"error": "Unknown message type"}
        answer = super().answer(frame)
        return answer.get("result", {"error": "Unknown message type"})

    def say(self, url, method, params):
        answer = post(url, params).json
        if "error" in answer:
            self.refusals.append((method, answer["error"]))
        return answer


class PolledManager(ForeignManager):
    """Never calls its referee, which asks for what is PENDING."""

    def __init__(self):
        self.pending = []
        super().__init__()

    def start(self, number, match, a, b):
        self.pending.append({"match_id": match, "round": number, "player_A_id": a, "player_B_id": b, "status": "PENDING"})

    def other(self, method, message):
        if message.get("query_type") == "GET_REGISTRATIONS":
            return {"players": [{"player_id": p, "endpoint": url} for p, url in self.players.items()]}
        if method == "get_assigned_matches":
            assert message["referee_id"] == "REF01", message
            return {"matches": [m for m in self.pending if m["match_id"] not in self.reports]}
        return None
