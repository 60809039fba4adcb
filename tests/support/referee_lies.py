"""What test_lying_referee's liar says: each lie is its name, a function of the match (lying_referee.Play) that tells it, the code with which its
report is refused (None: it is not), and who plays the match in the end.
"""

from league_testing import message, player_registration, rpc
from lying_referee import OTHER, ZEROS, changed, commitment_of, number_of

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
    codes = {play.report(play.loss(play.b), match_id=one) for one in others if one not in mine and one != play.id}
    codes -= {"E031", "E033", "E035"}  # of matches that are not assigned yet, or over
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
