"""A referee that lies, one lie for each sentence of protocol §7 and one for "a referee never sees a player's token" (§8), against the real
programs. Each lie has one of four ends: the report is refused (with which code), the match is played again by the other referee, the lie has no
effect, or it is accepted and both verifiers find it. Its player wins by none but those that docs/rough_edges.md names.
"""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits, message, player_registration, rpc
from lying_referee import (OTHER, ZEROS, Crier, Denier, FalseReceipts, Liar, Lie, ReceiptBot, changed, commitment_of, number_of)

SEED = int(os.environ.get("LEAGUE_TEST_SEED", "20251127"))
EIGHTS = "8" * 64


# --- what the liar does between two players of others: it favours A and harms B --------------------------------------------------------------


def refused(make):
    """Reports a lie about an honest match, then the truth."""

    def tell(play):
        code = play.play_honestly().report(make(play))
        play.later = play.end_honestly()
        return code

    return tell


def harmless(before=lambda play: None, expected=()):
    """Does something that the players refuse, then plays honestly."""

    def tell(play):
        before(play)
        assert tuple(play.refusals) == tuple(expected), f"the players have refused {play.refusals}"
        return play.end_honestly()

    return tell


def reported(make):
    return lambda play: play.play_honestly().report(make(play))


def accepted(make):
    def tell(play):
        result = make(play.play_honestly())
        code = play.report(result)
        play.announce(result)
        return code

    return tell


def invented(play, player):
    """Other contents for one player, opened as they should be."""
    choice = OTHER[play.chosen[player]["parity_choice"]] if player in play.chosen else "even"
    return {"parity_choice": choice, "choice_nonce": EIGHTS,
            "choice_commitment": commitment_of(play.promise, play.id, player, choice, EIGHTS)}


def other_number(play):
    number = play.result()["details"]["drawn_number"] % 10 + 1
    return changed(play.result(), drawn_number=number, number_parity="odd" if number % 2 else "even")


def other_winner(play):
    winner = play.b if play.result()["winner"] == play.a else play.a
    return changed(play.result(), winner=winner, score={play.a: 3 * (winner == play.a), play.b: 3 * (winner == play.b)})


def without(play, field, player):
    """The true result without what one player gave of this kind."""
    result = play.result()
    del result["details"][field][player]
    return result


def withholds(play):
    for player in play.players:
        play.invite(player)
    play.ask(play.a, play.commitment(play.b))
    play.ask(play.b, None)
    code = play.report(play.result())
    # The match has another referee now. What the liar still has is worth nothing.
    play.call(play.b, "handle_game_invitation", "GAME_INVITATION", role_in_match="PLAYER_B", opponent_id=play.a, player_id=play.b,
              draw_commitment=play.promise, context={"attempt": 2, "play": 0})
    assert play.refusals == ["E023"], play.refusals
    return code


def hands_over_another(play):
    for player in play.players:
        play.invite(player)
    play.ask(play.a, play.commitment(play.b))
    play.ask(play.b, EIGHTS)
    return play.report(play.result())


def invents_answers(play):
    play.play_honestly()
    return play.report(play.result(**{play.b: {**invented(play, play.b), "receipts": {"join": ZEROS, "choice": ZEROS}}}))


def invents_a_player(play):
    play.invite(play.a)
    made = invented(play, play.b)
    play.ask(play.a, made["choice_commitment"])
    return play.report(play.result(**{play.b: made}))


def invents_replays(play):
    return play.play_honestly().report(changed(play.result(), replays=2))


def shows_receipts_of_another_play(play):
    play.play_honestly()
    first = play.result()["details"]["receipts"]
    play.play_honestly(1)
    result = changed(play.result(), replays=1, receipts=first)
    code = play.report(result)
    play.announce(result)
    return code


def reports_twice(play):
    code = play.end_honestly()
    assert code is None, code
    return play.report(other_winner(play))


def reports_anothers_match(play):
    mine = {one.match for one in play.liar.lies if one.match} | set(play.liar.honest)
    round_id, matches = play.round_id, play.liar.matches_in_a_round
    others = [f"R{round_id}M{i}" for i in range(1, matches + 1)]
    codes = {play.report(play.loss(play.b), match_id=one) for one in others if one not in mine and one != play.id} - {"E033", "E035"}
    play.end_honestly()
    return codes


def registers_as(play):
    """With all that it has: nothing of it is the player's token."""
    play.play_honestly()
    seen = [*play.seen, *play.credentials.values(), play.liar.token, *(play.assigned[f"player_{side}_{what}"] for side in "AB"
                                                                   for what in ("token_hash", "answer_hash"))]
    url = play.liar.manager.url
    for secret in seen:
        for nonce in ({}, {"registration_nonce": "9" * 32}):
            request = player_registration("thief", play.liar.url, meta={"receipts": True}, **nonce)
            request = {**request, "auth_token": secret, "sender": f"player:{play.b}"}
            answer = rpc(url, "register_player", request)
            assert (answer.result() or {}).get("status") != "ACCEPTED" and "receipt_key" not in answer.text, answer
        for tool in ("withdraw", "get_my_report"):
            refused = rpc(url, tool, {"sender": f"player:{play.b}", "auth_token": secret, "reason": "tired"})
            assert refused.error_code() == "E012", (tool, refused)
        asked = rpc(url, "league_query", message("LEAGUE_QUERY", f"player:{play.b}", secret, query_type="GET_PLAYER_STATS",
                                                 league_id=play.liar.league_id))
        assert asked.error_code(), asked
        assert rpc(play.urls[play.b], "get_match_record", {"auth_token": secret, "match_id": play.id}).error_code(), "read a player's record"
    return play.end_honestly()


def tells_one_another_result(play):
    play.play_honestly()
    code = play.report(play.result())
    play.announce(play.result(), [play.a])
    refusals = play.announce(other_winner(play), [play.b])
    assert refusals == 1, "the player has believed it"
    return code


def tells_nobody(play):
    return play.play_honestly().report(play.result())


def invites_twice(play):
    first = play.invite(play.b)["choice_commitment"]
    assert play.invite(play.b)["choice_commitment"] == first, "a second invitation resets nothing"


# --- what it does together with a player ---------------------------------------------------------------------------------------------------------


def partners(play):
    mine = play.liar.accomplice
    return mine, play.other(mine.id)


def ground(play, mine, victim):
    """What the accomplice has to say to win, now that the victim has opened its choice."""
    theirs = play.chosen[victim]
    choice = OTHER[theirs["parity_choice"]]
    while True:
        nonce = mine.nonce()
        choices = [choice if player == mine.id else theirs["parity_choice"] for player in play.players]
        nonces = [nonce if player == mine.id else theirs["choice_nonce"] for player in play.players]
        if ("odd" if number_of(play.seed, play.id, choices, nonces) % 2 else "even") == choice:
            return choice, nonce


def answers_for(play, mine, choice, nonce, handed, replay=0, is_bound=True):
    """The accomplice's answers, with true receipts of them."""
    bound = commitment_of(play.promise, play.id, mine.id, choice, nonce) if is_bound else ""
    scope = (play.id, play.attempt, replay, play.promise)
    play.joined[mine.id] = {"choice_commitment": bound, "receipt": mine.receipt("JOIN", *scope, "true", bound)}
    play.chosen[mine.id] = {"parity_choice": choice, "choice_nonce": nonce if is_bound else None,
                            "receipt": mine.receipt("CHOICE", *scope, choice, nonce if is_bound else "", handed)}
    return bound


def again_honestly(play):
    """As a replay of the fair clock, so that the league goes on."""
    play.joined, play.chosen = {}, {}
    play.play_honestly(1)
    play.later = play.report(changed(play.result(), replays=1))
    play.announce(play.result())


def asks_first(play):
    mine, victim = partners(play)
    play.invite(victim)
    play.ask(victim, None)
    answers_for(play, mine, *ground(play, mine, victim), play.commitment(victim))
    result = play.result()
    assert result["winner"] == mine.id
    return play.report(result)


def asks_first_and_is_not_bound(play, with_receipts=True):
    mine, victim = partners(play)
    play.invite(victim)
    play.ask(victim, None)
    answers_for(play, mine, OTHER[play.chosen[victim]["parity_choice"]], EIGHTS, play.commitment(victim), is_bound=False)
    if not with_receipts:
        play.joined[mine.id].pop("receipt")
        play.chosen[mine.id].pop("receipt")
    code = play.report(play.result())
    again_honestly(play)
    return code


def opens_twice(play, replay=0, is_bare_first=False):
    """Has the victim open its choice, then hands it the commitment that wins."""
    mine, victim = partners(play)
    play.invite(victim, bare=is_bare_first)
    first = answers_for(play, mine, "even", EIGHTS, play.commitment(victim))
    play.ask(victim, first, bare=is_bare_first)
    made = ground(play, mine, victim)
    if replay or is_bare_first:
        play.invite(victim, replay)
    second = answers_for(play, mine, *made, play.commitment(victim), replay)
    play.ask(victim, second, replay)
    assert play.refusals == ["E040"], f"the victim has refused {play.refusals}"
    return play.report(changed(play.result(), **({"replays": replay} if replay else {})))


def dislikes_the_number(play):
    mine, victim = partners(play)
    play.invite(victim)
    bound = answers_for(play, mine, "even", EIGHTS, play.commitment(victim))
    play.ask(victim, bound)
    return play.report(play.loss(victim, call="CHOOSE_PARITY_CALL", termination="TIMEOUT_CHOICE"))


E035, E041 = "E035", "E041"
AGAIN = "again"  # by the other referee
HERE = "here"  # by the liar, which then tells the truth

# name, what it does, the code of the report, where the match is decided
LIES = [
    ("another number", refused(other_number), E035, HERE),
    ("another winner", refused(other_winner), E035, HERE),
    ("another score", refused(lambda play: changed(play.result(), score={play.a: 2, play.b: 0})), E035, HERE),
    ("another seed", refused(lambda play: changed(play.result(), draw_proof=ZEROS)), E035, HERE),
    ("no seed", refused(lambda play: changed(play.result(), draw_proof=None)), E035, HERE),
    ("swaps a choice", refused(lambda play: play.result(**{play.b: {"parity_choice": OTHER[play.chosen[play.b]["parity_choice"]]}})), E035, HERE),
    ("swaps a choice and drops what bound it", refused(lambda play: play.result(**{play.b: {
        "parity_choice": OTHER[play.chosen[play.b]["parity_choice"]], "choice_commitment": None, "choice_nonce": None}})), E035, HERE),
    ("drops a commitment", refused(lambda play: play.result(**{play.b: {"choice_commitment": None, "choice_nonce": None}})), E035, HERE),
    ("drops a commitment and all receipts", refused(lambda play: changed(
        play.result(**{play.b: {"choice_commitment": None, "choice_nonce": None}}), receipts={})), E035, HERE),
    ("drops a nonce", refused(lambda play: without(play, "choice_nonces", play.b)), E035, HERE),
    ("another attempt", refused(lambda play: changed(play.result(), attempt=2)), "E033", HERE),
    ("an invitation with another promise", harmless(lambda play: play.invite(play.b, draw_commitment=ZEROS), ["E040"]), None, HERE),
    ("an invitation without a promise", harmless(lambda play: play.invite(play.b, draw_commitment=None), ["E040"]), None, HERE),
    ("a call of another attempt", harmless(lambda play: play.invite(play.b, context={"attempt": 2}), ["E023"]), None, HERE),
    ("the other player's credential", harmless(lambda play: play.invite(play.b, token=play.credentials[play.a]), ["E012"]), None, HERE),
    ("no credential", harmless(lambda play: play.invite(play.b, token=None), ["E011"]), None, HERE),
    ("asks whom it has not invited", harmless(lambda play: play.ask(play.b, EIGHTS), ["E031"]), None, HERE),
    ("invites twice", harmless(invites_twice), None, HERE),
    ("receipts of zeros", accepted(lambda play: changed(play.result(), receipts={player: {"join": ZEROS, "choice": ZEROS}
                                                                                for player in play.players})), None, HERE),
    ("no receipts", accepted(lambda play: changed(play.result(), receipts={})), None, HERE),
    ("receipts of the other player", accepted(lambda play: play.result(**{play.b: {"receipts": {
        "join": play.joined[play.a]["receipt"], "choice": play.chosen[play.a]["receipt"]}}})), None, HERE),
    ("a receipt of the other call", accepted(lambda play: play.result(**{play.b: {"receipts": {
        "join": play.chosen[play.b]["receipt"], "choice": play.joined[play.b]["receipt"]}}})), None, HERE),
    ("receipts of another play", shows_receipts_of_another_play, None, HERE),
    ("reports twice", reports_twice, "E034", HERE),
    ("reports another's match", reports_anothers_match, {"E032"}, HERE),
    ("registers with all that it saw", registers_as, None, HERE),
    ("tells one player another result", tells_one_another_result, None, HERE),
    ("tells nobody", tells_nobody, None, HERE),
    ("withholds a commitment from one side", withholds, E035, AGAIN),
    ("hands over another commitment", hands_over_another, E035, AGAIN),
    ("invents answers", invents_answers, E035, AGAIN),
    ("invents a player's whole play", invents_a_player, E035, AGAIN),
    ("invents replays", invents_replays, E035, AGAIN),
]
TOGETHER = [
    ("asks the victim before its own player is bound", asks_first, E035, AGAIN),
    ("and reports its own player as not bound", asks_first_and_is_not_bound, E035, HERE),
    ("and without receipts", lambda play: asks_first_and_is_not_bound(play, with_receipts=False), E035, HERE),
    ("hands over two commitments in one play", opens_twice, E035, AGAIN),
    ("hands over two commitments in two plays", lambda play: opens_twice(play, replay=1), E035, AGAIN),
    ("hands over two commitments, the first without an attempt", lambda play: opens_twice(play, is_bare_first=True), E035, AGAIN),
    ("dislikes the number", dislikes_the_number, E041, AGAIN),
]


# --- losses ----------------------------------------------------------------------------------------------------------------------------------------


def lost(*sides, calls=0, before=None, with_receipts=False, **fields):
    """Invents a loss of these sides after `calls` honest calls to each player."""

    def tell(play):
        if calls:
            for player in play.players:
                play.invite(player)
        if calls > 1:
            for player in play.players:
                play.ask(player, play.commitment(play.other(player)))
        if before:
            before(play)
        result = play.loss(*({"a": play.a, "b": play.b}[side] for side in sides), **fields)
        if not with_receipts:
            result["details"].pop("receipts", None)
        code = play.report(result)
        if code is None:
            play.announce(result)
        elif code == E035 and not with_receipts:
            play.later = play.end_honestly()
        return code

    return tell


CHOICE = {"calls": 2, "call": "CHOOSE_PARITY_CALL"}
LOSSES = [
    ("never invited: no answer", lost("b"), E041, AGAIN),
    ("never invited: the connection broke", lost("b", code="E009", termination="CONNECTION_JOIN"), E041, AGAIN),
    ("declined", lost("b", calls=1, code="E037", phase="answered", termination="DECLINED"), E041, AGAIN),
    ("declined at connect", lost("b", calls=1, code="E037", phase="connect", termination="DECLINED"), E041, AGAIN),
    ("both failed", lost("a", "b", calls=1, termination="BOTH_FAILED"), E041, AGAIN),
    ("no answer to the call", lost("b", **CHOICE, termination="TIMEOUT_CHOICE"), E041, AGAIN),
    ("an invalid choice", lost("b", **CHOICE, code="E004", phase="answered", termination="INVALID_CHOICE"), E041, AGAIN),
    ("a nonce that does not open", lost("b", **CHOICE, code="E040", phase="answered", termination="COMMITMENT_MISMATCH"), E041, AGAIN),
    ("a foreign token", lost("b", **CHOICE, code="E012", phase="answered", termination="INVALID_CHOICE"), E041, AGAIN),
    ("an invalid choice that was only sent", lost("b", **CHOICE, code="E004", termination="INVALID_CHOICE"), E041, AGAIN),
    ("no phase", lost("b", calls=1, phase=None), E041, AGAIN),
    ("refused, for the call's own fault", lost("b", before=lambda play: play.invite(play.b, draw_commitment=ZEROS), code="E040",
                                               phase="answered", termination="COMMITMENT_MISMATCH"), E041, AGAIN),
    ("declined, with a receipt that says the contrary", lost("b", calls=1, with_receipts=True, code="E037", phase="answered",
                                                             termination="DECLINED"), E035, AGAIN),
    ("suspended and silent", lost("b", code="E038", call="ping", phase="connect", termination="PLAYER_UNAVAILABLE"), E035, HERE),
    ("the winner failed", refused(lambda play: changed(play.loss(play.a), winner=play.a, score={play.a: 3, play.b: 0})), E035, HERE),
    ("nobody failed", refused(lambda play: changed(play.loss(play.b), failures=[])), E035, HERE),
    # What is left to a liar: docs/rough_edges.md.
    ("never called: not reached", lost("b", code="E009", phase="connect", termination="CONNECTION_JOIN"), None, HERE),
    ("not reached after its choice", lost("b", **CHOICE, code="E009", phase="connect", termination="CONNECTION_CHOICE"), None, HERE),
    ("no time to connect", lost("b", calls=1, code="E001", phase="connect"), None, HERE),
]
AT_CONNECT = [name for name, *_ in LOSSES[-3:]]


class Journal:
    """The events of the stopped manager, by match."""

    def __init__(self, directory):
        path = directory / "data" / "journal" / "journal.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.entries = [(kind, json.loads(payload)) for kind, payload in database.execute("SELECT type, payload FROM entries ORDER BY sequence")]

    def of(self, kind, match=None):
        return [entry for name, entry in self.entries if name == kind and match in (None, entry.get("match"))]


class LyingReferee(LeagueTest):
    def setUp(self):
        super().setUp()
        print(f"{self.id()}: LEAGUE_TEST_SEED={SEED}", file=sys.stderr)
        self.dice = random.Random(SEED)

    def bot(self, kind, *arguments):
        bot = kind(*arguments)
        self.addCleanup(bot.close)
        return bot

    def play(self, players, lies, together=(), referees=2, **options):
        """A whole league; returns its lies, its journal and what it stood at before it ended."""
        manager = self.start_manager(players, referees, limits=limits(**options))
        accomplice = self.bot(ReceiptBot, "accomplice", self.dice) if together else None
        told = [Lie(name, tell) for name, tell, *_ in lies] + [Lie(name, tell, True) for name, tell, *_ in together]
        expected = {name: rest for name, _, *rest in [*lies, *together]}
        liar = self.bot(Liar, "liar", told, accomplice)
        liar.matches_in_a_round = players // 2
        liar.join_as_referee(manager)
        if referees > 1:
            self.honest = self.start_referee(manager, "--max-matches", 1)
        count = players - (1 if accomplice else 0)
        self.start_players(manager, count // 2, "random", "--seed", SEED)
        if accomplice:
            accomplice.join(manager)
        self.start_players(manager, count - count // 2, "random", "--seed", SEED + 1, name="other")
        self.wait_until_over(manager, 60)
        status = self.status(manager)
        self.stop_programs()
        self.assertEqual(liar.untold, [], "the league was too short")
        return liar, told, expected, Journal(self.directory), status

    def assert_found(self, faults, incidents=()):
        """Both verifiers find these faults and no others, and at least these incidents: each a rule and what its text names."""
        for command in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
            done = subprocess.run([*map(str, command), "--json", str(self.directory)], capture_output=True, text=True, timeout=120)
            name = Path(command[-1]).name
            self.assertEqual(done.returncode, 1 if faults else 0, f"{name}: {done.stdout[:4000]}{done.stderr}")
            report = json.loads(done.stdout)
            said = [f"{one['rule']}: {one['text']}" for one in report["faults"] + report["missing"]]
            self.assertEqual(sorted(one.split(":")[0] for one in said), sorted(rule for rule, *_ in faults), f"{name}: {said}")
            noted = [f"{one['rule']}: {one['text']}" for one in report["incidents"]]
            for wanted, texts in ((faults, said), (incidents, noted)):
                for rule, *parts in wanted:
                    self.assertTrue(any(text.startswith(rule + ":") and all(part in text for part in parts) for text in texts),
                                    f"{name} does not say {rule} {parts}: {texts}")

    def judge(self, lies, expected, journal, referee_index=0):
        """Each lie had its end. Prints the table."""
        for lie in lies:
            code, where = expected[lie.name]
            reports = journal.of("MATCH_REPORTED", lie.match)
            releases = [one["reason"] for one in journal.of("MATCH_RELEASED", lie.match)]
            said = [f"{word['player']}: {word['word']}" for one in journal.of("PLAYERS_ASKED", lie.match) for word in one["words"]]
            by = "nobody" if not reports else "the liar" if reports[-1]["referee"] == referee_index else "the other"
            print(f"{lie.name:60} {lie.match:7} {lie.code!s:8} {by:10} {reports[-1].get('fairness') if reports else '':8} "
                  f"{','.join(releases)} {said} {lie.error or ''}", file=sys.stderr)
            with self.subTest(lie.name):
                self.assertIsNone(lie.error)
                self.assertEqual(lie.code, code)
                self.assertEqual(len(reports), 1)
                self.assertEqual(by, "the other" if where == AGAIN and hasattr(self, "honest") else "the liar")
                self.assertEqual(len(releases), 1 if where == AGAIN else 0)
                self.assertIsNone(getattr(lie.play, "later", None))

    def test_what_receipts_tell(self):
        liar, lies, expected, journal, status = self.play(16, LIES, TOGETHER)
        self.judge(lies, expected, journal)
        by_name = {lie.name: lie.match for lie in lies}
        for name in ("receipts of zeros", "no receipts", "receipts of the other player", "a receipt of the other call", "receipts of another play"):
            (report,) = journal.of("MATCH_REPORTED", by_name[name])
            self.assertEqual(report["fairness"], "both", f"{name}: the players' own receipts were taken")
        self.assertIn(by_name["tells one player another result"], status["disputed"])
        # The accomplice, which was bound in the liar's attempts, commits anew in the honest referee's.
        twice = ("hands over two commitments in one play", "hands over two commitments in two plays",
                 "hands over two commitments, the first without an attempt", "dislikes the number")
        self.assert_found([("over.contradicts", liar.id, by_name["tells one player another result"]),
                           *(("commitment.second", by_name[name]) for name in twice)])

    def test_losses(self):
        liar, lies, expected, journal, status = self.play(24, LOSSES)
        self.judge(lies, expected, journal)
        for lie in lies:
            if lie.name in AT_CONNECT:
                with self.subTest(lie.name):
                    asked = [word for one in journal.of("PLAYERS_ASKED", lie.match) for word in one["words"]]
                    self.assertEqual({one["word"] for one in asked}, {"confirms"})
                    self.assertTrue(any("the manager reaches the player" in one["text"] for one in asked), asked)
                    self.assertIn(lie.play.b, status["disputed"][lie.match], "the player disputes it by itself")
        self.assert_found([], [("loss.contradicted", next(lie.match for lie in lies if lie.name == "not reached after its choice"))])

    def test_a_liar_that_is_the_only_referee(self):
        """Nobody else can play the match again. It stands, disputed, and both verifiers name the liar."""
        lies = [("an invalid choice", lost("b", **CHOICE, code="E004", phase="answered", termination="INVALID_CHOICE"), None, HERE),
                ("invents answers", invents_answers, "E035", AGAIN)]
        liar, lies, expected, journal, status = self.play(3, lies, referees=1)
        self.judge(lies, expected, journal)
        loss, answers = (lie.match for lie in lies)
        self.assertEqual(set(status["disputed"]), {loss}, "the receipts refute invented answers, also those of the only referee")
        self.assertEqual(journal.of("MATCH_REPORTED", answers)[0]["fairness"], "both")
        self.assert_found([("loss.contradicted", loss, liar.id)])

    def test_players_that_lie_harm_only_themselves(self):
        """Three sybils that cry "I answered", one player with receipts of zeros, one that denies everything; two honest referees."""
        manager = self.start_manager(9, 2, limits=limits(life_cycle={"suspend_after_failed_matches": 100}))
        for name in ("first", "second"):
            self.start_referee(manager, name=name)
        criers = {self.bot(Crier, f"crier_{i}", self.dice).join(manager).id for i in range(3)}
        zeros = self.bot(FalseReceipts, "zeros", self.dice).join(manager).id
        denier = self.bot(Denier, "denier", self.dice).join(manager).id
        honest = {one.id for one in self.start_players(manager, 4, "random", "--seed", SEED)}
        self.wait_until_over(manager, 60)
        self.assertEqual(len(self.assert_table_agrees(manager)), 9)
        self.stop_programs()
        journal = Journal(self.directory)
        reports = {one["match"]: one for one in journal.of("MATCH_REPORTED")}
        self.assertEqual(len(reports), 36)
        pairs = {}
        for announced in Log(self.logs).messages("ROUND_ANNOUNCEMENT"):
            pairs.update({one["match_id"]: {one["player_A_id"], one["player_B_id"]} for one in announced["matches"]})
        for match, report in reports.items():
            with self.subTest(f"{match}: {sorted(pairs[match])}"):
                self.assertLessEqual(report["attempt"], 2)
                if pairs[match] <= honest | {zeros}:
                    self.assertEqual(report["attempt"], 1, "nobody is made to play twice")
                if pairs[match] <= honest:
                    self.assertEqual(report["fairness"], "both")
                elif not pairs[match] & criers:
                    self.assertEqual(report["fairness"], "claimed")
        released = [pairs[one["match"]] for one in journal.of("MATCH_RELEASED")]
        for player in (*criers, denier):
            self.assertLessEqual(sum(player in pair for pair in released), 3 + len(criers), f"{player} is not believed for ever")
        for word in ("REFEREE_LOST", "SUSPENDED"):
            self.assertNotIn(word, manager.program.whole_stderr(), "no referee is out of work")
        self.assert_found([], [("receipt.invalid", zeros), ("receipt.invalid", denier)])


if __name__ == "__main__":
    unittest.main()
