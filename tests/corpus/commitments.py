"""Choices that players bound, and what false referees make of them (docs/protocol.md, "Players bind the draw")."""

from datetime import datetime, timedelta

import log_builder
from cases import fault, incident, made, report_at
from lies import OTHER, R1, R2, R3, chose_otherwise, details_of, report_of


def one_commits(match=R1, side="a"):
    """Only one of the two players of the match has bound its choice."""
    def plan(league):
        one = league.plans[match]
        one.commits = {getattr(one, side)}
    return plan


def nobody_commits(league):
    for plan in league.plans.values():
        plan.commits.clear()


# --- Honest ---------------------------------------------------------------------------------------------------------
made("bound", "both", short=True)(None)
made("bound", "one-a", plan=one_commits(R1, "a"), short=True)(None)
made("bound", "one-b", plan=one_commits(R1, "b"))(None)
made("bound", "none", plan=nobody_commits)(None)
made("bound", "before-there-were-commitments", options={"old": True}, short=True)(None)


def lost_by(side, call, code, match=R1):
    def plan(league):
        one = league.plans[match]
        one.lost = {getattr(one, side): (call, code)}
    return plan


for _code in ("E001", "E009", "E004", "E040"):
    made("bound", f"lost-by-{_code}-at-the-choice", plan=lost_by("a", "CHOOSE_PARITY_CALL", _code))(None)
for _code in ("E001", "E009"):
    made("bound", f"lost-by-{_code}-at-the-invitation", plan=lost_by("b", "GAME_INVITATION", _code))(None)
made("bound", "given-up-by-one", incident("draw.abandoned"),
     plan=lambda league: (one_commits()(league), setattr(league.plans[R1], "abandoned", 1)), agree_only=True)(None)


# --- The version of the draw ----------------------------------------------------------------------------------------
def redrawn(league, match, version, nonces):
    """The report as it would be with this version and these nonces: only the version is false."""
    plan = league.plans[match]
    number = log_builder.draw(plan.seed, match, [plan.choices[p] for p in plan.players], nonces if version == 2 else None)
    return number, version


for _version in (1, 3, 0, -2, None, "2", 2.0):
    @made("version", f"{_version}-where-both-committed", fault("draw.version", report_at(R1)), short=_version == 1,
          agree_only=_version == 2.0)
    def _version_lie(league, version=_version):
        details = report_of(league, R1)["result"]["details"]
        details["draw_version"] = version
        if version is None:
            del details["draw_version"]


@made("version", "2-where-nobody-committed", fault("draw.version", report_at(R1)), plan=nobody_commits)
def _version_two(league):
    report_of(league, R1)["result"]["details"]["draw_version"] = 2


def old_draw(league):
    """The number is drawn as if nobody had committed."""
    plan = league.plans[R1]
    number = log_builder.draw(plan.seed, R1, [plan.choices[p] for p in plan.players])
    while number == plan.number():
        plan.seed = log_builder.hashlib.sha256(plan.seed).digest()
        number = log_builder.draw(plan.seed, R1, [plan.choices[p] for p in plan.players])
    plan.number = lambda: number


made("version", "number-of-version-1", fault("draw.number", report_at(R1)), plan=old_draw)(None)


# --- Commitments that go, change or appear --------------------------------------------------------------------------
def without_commitment(league, match, player, nonces=True):
    """The report hides that the player had committed; the number is drawn without its nonce."""
    plan = league.plans[match]
    truth = {p: plan.commitment(p) for p in plan.commits}
    details = report_of(league, match)["result"]["details"]
    for key in ("choice_commitments", "choice_nonces")[: 1 + nonces]:
        details[key].pop(player, None)
        if not details[key]:
            del details[key]
    left = [plan.nonces[p] if p in truth and p != player else "" for p in plan.players]
    number = log_builder.draw(plan.seed, match, [plan.choices[p] for p in plan.players], left if any(left) else None)
    details.update(drawn_number=number, number_parity="odd" if number % 2 else "even", draw_version=2 if any(left) else 1)


def same_winner_without(match, player_of):
    """A seed with which the match ends the same without this player's nonce, so that nothing but the hiding is false."""
    def plan(league):
        one = league.plans[match]
        player = player_of(one)
        while True:
            one.seed = log_builder.hashlib.sha256(one.seed).digest()
            left = [one.nonces[p] if p in one.commits and p != player else "" for p in one.players]
            number = log_builder.draw(one.seed, match, [one.choices[p] for p in one.players], left if any(left) else None)
            right = [p for p in one.players if one.choices[p] == ("odd" if number % 2 else "even")]
            if (right[0] if len(right) == 1 else None) == one.winner():
                return
    return plan


for _match in (R1, R2):
    for _side in ("a", "b"):
        made("dropped", f"{_match}-{_side}", fault("commitment.dropped", report_at(_match)),
             plan=same_winner_without(_match, lambda one, side=_side: getattr(one, side)), short=_match == R1 and _side == "a")(
                 lambda league, match=_match, side=_side: without_commitment(league, match, getattr(league.plans[match], side)))


@made("dropped", "both", fault("commitment.dropped", report_at(R1)), exact=False)
def _both_dropped(league):
    for player in league.plans[R1].players:
        without_commitment(league, R1, player)


def only_one(league):
    one_commits()(league)
    same_winner_without(R1, lambda one: one.a)(league)


made("dropped", "the-only-one", fault("commitment.dropped", report_at(R1)), plan=only_one)(
    lambda league: without_commitment(league, R1, league.plans[R1].a))


@made("dropped", "another-in-the-report", fault("commitment.dropped", report_at(R1)), exact=False)
def _another(league):
    """The referee swaps commitment, nonce and choice of a player for its own: all of them fit."""
    plan = league.plans[R1]
    nonce = "5" * 64
    choice = OTHER[plan.choices[plan.a]]
    details = report_of(league, R1)["result"]["details"]
    details["choices"][plan.a] = choice
    details["choice_nonces"][plan.a] = nonce
    details["choice_commitments"][plan.a] = log_builder.choice_commitment(plan.promise, R1, plan.a, choice, nonce)


for _name, _bad in (("missing", None), ("another", "5" * 64), ("short", "ab"), ("capitals", "AB" * 32), ("number", 5), ("list", [])):
    @made("opening", f"nonce-{_name}", fault("commitment.opening", report_at(R1)), exact=False)
    def _nonce(league, bad=_bad):
        details = report_of(league, R1)["result"]["details"]
        player = league.plans[R1].a
        if bad is None:
            del details["choice_nonces"][player]
        else:
            details["choice_nonces"][player] = bad


@made("opening", "no-nonces", fault("commitment.opening", report_at(R1)), exact=False)
def _no_nonces(league):
    del report_of(league, R1)["result"]["details"]["choice_nonces"]


def other_nonce(league):
    """Referee and player agree on a false opening: the number is drawn with it, and everybody says so."""
    plan = league.plans[R1]
    kept = plan.commitment(plan.a)
    plan.nonces[plan.a] = "6" * 64
    right = plan.commitment
    plan.commitment = lambda player: kept if player == plan.a else right(player)


made("opening", "wrong-nonce-that-all-accept", fault("commitment.opening", report_at(R1)), plan=other_nonce, short=True)(None)


@made("opening", "another-choice-than-committed", fault("choice.differs", report_at(R1)))
def _other_choice(league):
    """The player answers with the word that it had not committed to; its log says so, the report has the right one."""
    chose_otherwise(league, R1, league.plans[R1].a)


def claims(commitment, nonce=None):
    def change(league):
        details = report_of(league, R1)["result"]["details"]
        player = league.plans[R1].b
        details.setdefault("choice_commitments", {})[player] = commitment
        if nonce:
            details.setdefault("choice_nonces", {})[player] = nonce
    return change


def claimed(league):
    """The report lists a commitment of player B which its JOIN_ACK does not hold, and its opponent keeps no log."""
    from evidence import unregistered_key
    plan = league.plans[R1]
    for record in league.find(plan.b, "GAME_JOIN_ACK", R1) + league.find(plan.referee, "GAME_JOIN_ACK", R1):
        if record.message.get("player_id") == plan.b:
            record.message.pop("choice_commitment", None)
    unregistered_key(league, f"player:{plan.a}")


made("claimed", "by-the-referee-alone", incident("commitment.claimed", report_at(R1), R1), short=True)(claimed)
for _bad in ("x", "AB" * 32, 7, None):
    made("claimed", f"malformed-{_bad if _bad is None else type(_bad).__name__ + str(_bad)[:2]}", agree_only=True,
         plan=one_commits(R1, "a"))(claims(_bad, "1" * 64))


# --- Later attempts -------------------------------------------------------------------------------------------------
def played_twice(league):
    league.plans[R1].abandoned = 1


made("second-attempt", "the-same-commitments", incident("draw.abandoned"), plan=played_twice, short=True)(None)


def fresh_in_second(league, missing):
    """Player A answers the second invitation with another commitment (or none), opens that, and the draw follows it."""
    plan = league.plans[R1]
    second = f"convr{R1[1:].lower()}002"
    nonce = "7" * 64
    fresh = log_builder.choice_commitment(plan.promise, R1, plan.a, plan.choices[plan.a], nonce)
    for name, key, value in (("GAME_JOIN_ACK", "choice_commitment", fresh), ("CHOOSE_PARITY_RESPONSE", "choice_nonce", nonce)):
        for frame in {id(r.frame): r.frame for r in league.find(plan.a, name, R1, conversation_id=second)}.values():
            frame.message.pop(key, None)
            if not missing:
                frame.message[key] = value
    for record in league.find(plan.b, "CHOOSE_PARITY_CALL", R1, conversation_id=second):
        record.message["context"].pop("opponent_commitment", None)
        if not missing:
            record.message["context"]["opponent_commitment"] = fresh
    details = report_of(league, R1)["result"]["details"]
    details["choice_commitments"].pop(plan.a)
    details["choice_nonces"].pop(plan.a)
    nonces = [plan.nonces[p] if p != plan.a else "" for p in plan.players]
    if not missing:
        details["choice_commitments"][plan.a], details["choice_nonces"][plan.a] = fresh, nonce
        nonces = [plan.nonces[p] if p != plan.a else nonce for p in plan.players]
    number = log_builder.draw(plan.seed, R1, [plan.choices[p] for p in plan.players], nonces)
    details.update(drawn_number=number, number_parity="odd" if number % 2 else "even")


def twice_with_same_winner(nonce):
    def plan(league):
        played_twice(league)
        one = league.plans[R1]
        while True:
            one.seed = log_builder.hashlib.sha256(one.seed).digest()
            number = log_builder.draw(one.seed, R1, [one.choices[p] for p in one.players],
                                      [one.nonces[p] if p != one.a else nonce for p in one.players])
            right = [p for p in one.players if one.choices[p] == ("odd" if number % 2 else "even")]
            if (right[0] if len(right) == 1 else None) == one.winner():
                return
    return plan


made("second-attempt", "another-commitment", fault("commitment.second", None, R1), incident("draw.abandoned"),
     plan=twice_with_same_winner("7" * 64), short=True)(lambda league: fresh_in_second(league, missing=False))
made("second-attempt", "no-commitment", fault("commitment.second", None, R1), incident("draw.abandoned"),
     plan=twice_with_same_winner(""))(lambda league: fresh_in_second(league, missing=True))


# --- Lost matches ---------------------------------------------------------------------------------------------------
def answered_in_time(code, call="CHOOSE_PARITY_CALL"):
    """The referee says that the player lost; its own log has the call and its valid answer."""
    def change(league):
        plan = league.plans[R1]
        kind = "CHOOSE_PARITY_RESPONSE" if call == "CHOOSE_PARITY_CALL" else "GAME_JOIN_ACK"
        asked = league.find(plan.a, call, R1, dir="in", kind="request")
        for record in asked:
            found = [r for r in league.log(plan.a).records() if r["call"] == record["call"] and r["dir"] == "out"]
            answer = league.message(kind, f"player:{plan.a}", league.token(plan.a), record["conversation_id"],
                                    league_id=league.league_id, round_id=1, match_id=R1, player_id=plan.a)
            if kind == "GAME_JOIN_ACK":
                answer |= {"arrival_timestamp": answer["timestamp"], "accept": True}
            else:
                answer |= {"parity_choice": plan.choices[plan.a]}
            if plan.a in plan.commits:
                answer |= ({"choice_commitment": plan.commitment(plan.a)} if kind == "GAME_JOIN_ACK" else
                           {"choice_nonce": plan.nonces[plan.a]})
            if found:
                found[0].own().frame.body["result"] = answer
            else:
                add_answer(league, plan, record, answer, kind)
    return change


def add_answer(league, plan, record, answer, kind):
    log = league.log(plan.a)
    fields = {k: v for k, v in record.fields.items() if k not in ("raw", "raw_sha256", "elapsed_us")}
    fields.update(dir="out", kind="reply", message_type=kind, http_status=200)
    frame = log_builder.Frame({"jsonrpc": "2.0", "id": record.frame.body["id"], "result": answer})
    log.items.insert(log.items.index(record) + 1, log_builder.Record(frame, **fields))


for _code in ("E001", "E009"):
    made("loss", f"{_code}-though-it-answered", incident("loss.contradicted", report_at(R1)), short=_code == "E001",
         plan=lost_by("a", "CHOOSE_PARITY_CALL", _code))(answered_in_time(_code))
    made("loss", f"{_code}-though-it-joined", incident("loss.contradicted", report_at(R1)),
         plan=lost_by("a", "GAME_INVITATION", _code))(answered_in_time(_code, "GAME_INVITATION"))
for _code in ("E004", "E040"):
    made("loss", f"{_code}-though-it-was-right", fault("loss.contradicted", report_at(R1)), short=_code == "E004",
         plan=lost_by("a", "CHOOSE_PARITY_CALL", _code), exact=False)(answered_in_time(_code))
    made("loss", f"{_code}-though-it-was-right-unbound", fault("loss.contradicted", report_at(R1)), options={"commitments": False},
         plan=lost_by("b" if _code == "E040" else "a", "CHOOSE_PARITY_CALL", "E004"), exact=False, agree_only=_code == "E040")(
             answered_in_time(_code))
# What the referee says afterwards of the time does not count.
ANSWERED = answered_in_time("E001")


def answered_and(**changes):
    """An answer in time, and changes to the failure that cost the match: of its clock, or of itself."""
    def change(league):
        ANSWERED(league)
        for failure in report_of(league, R1)["result"]["details"]["failures"]:
            clock = failure.setdefault("clock", {})
            for key, value in changes.items():
                of = failure if key in ("elapsed_ms", "clock") else clock
                of.update({key: value}) if value is not None else of.pop(key)
    return change


def answered_after(seconds, **changes):
    def change(league):
        answered_and(**changes)(league)
        answer = league.find(league.plans[R1].a, "CHOOSE_PARITY_RESPONSE", R1, dir="out")[-1]
        answer["time"] = log_builder.log_time(datetime.strptime(answer["time"], "%Y-%m-%dT%H:%M:%S.%fZ") + timedelta(seconds=seconds))
    return change


def in_another_form(league):
    """As a referee of other origin may write instants."""
    ANSWERED(league)
    calls = {id(record.message): record.message for record in league.find(league.plans[R1].a, "CHOOSE_PARITY_CALL", R1, dir="in")}
    for call in calls.values():
        for key in ("timestamp", "deadline"):
            call[key] = call[key].replace("-", "").replace(":", "").replace("Z", ".250+00:00")
    for failure in report_of(league, R1)["result"]["details"]["failures"]:
        failure["clock"]["limit_ms"] = 1


LOST_BY_TIME, CONTRADICTED = {"plan": lost_by("a", "CHOOSE_PARITY_CALL", "E001")}, incident("loss.contradicted", report_at(R1))
LIMIT = fault("clock.limit", report_at(R1), R1)
for _name, _change, _expected in (
        ("shorter-limit", answered_and(limit_ms=1), (LIMIT, CONTRADICTED)), ("no-time", answered_and(elapsed_ms=1), (CONTRADICTED,)),
        ("shorter-limit-with-a-fraction", answered_and(limit_ms=1.0), (LIMIT, CONTRADICTED)), ("no-whole-limit", answered_and(limit_ms=1.5), (fault("schema"), CONTRADICTED)),
        ("shorter-limit-of-another-call", answered_and(limit_ms=1, sent_at="2026-01-15T10:00:00.000000Z"), (CONTRADICTED,)),
        ("shorter-limit-of-no-call", answered_and(limit_ms=1, sent_at=None), (CONTRADICTED,)),
        ("no-limit", answered_and(clock=None), (fault("clock.unproven", report_at(R1)), CONTRADICTED)),
        ("shorter-limit-in-another-form", in_another_form, (LIMIT, CONTRADICTED)), ("longer-limit", answered_and(limit_ms=10**18), (LIMIT, CONTRADICTED)),
        ("longer-limit-and-a-late-answer", answered_after(6, limit_ms=20_000), (LIMIT,)),
        ("limit-within-its-second", answered_and(limit_ms=4001), (CONTRADICTED,)), ("answer-at-the-last-moment", answered_after(4.9), (CONTRADICTED,)),
        ("answer-too-late-by-the-limit-within-its-second", answered_after(4.5, limit_ms=4001), ()), ("late-answer", answered_after(5.1), ())):
    made("loss", f"with-{_name}", *_expected, short=_name in ("shorter-limit", "no-time"), **LOST_BY_TIME)(_change)
made("loss", "for-a-wrong-answer-with-a-limit", fault("loss.contradicted", report_at(R1)), exact=False,
     plan=lost_by("a", "CHOOSE_PARITY_CALL", "E004"))(answered_and(limit_ms=0, elapsed_ms=0))
for _number in (1, 7, 10):
    made("loss", f"with-number-{_number}", fault("result.number", report_at(R1)),
         plan=lost_by("a", "CHOOSE_PARITY_CALL", "E001"))(
             details_of(R1, lambda details, number=_number: details.update(drawn_number=number,
                                                                           number_parity="odd" if number % 2 else "even")))


def loser_wins(league):
    lost_by("a", "CHOOSE_PARITY_CALL", "E001")(league)
    plan = league.plans[R1]
    plan.winner = lambda: plan.a


made("loss", "whose-loser-wins", fault("result.winner", report_at(R1)), plan=loser_wins, short=True)(None)


def lost_and_drawn(league):
    lost_by("a", "CHOOSE_PARITY_CALL", "E001")(league)
    plan = league.plans[R1]
    plan.winner = lambda: None
    plan.points = lambda: dict.fromkeys(plan.players, 1)


made("loss", "that-is-a-draw", fault("result.score", report_at(R1)), plan=lost_and_drawn, short=True)(None)
made("loss", "without-seed", fault("draw.unrevealed", report_at(R1)), plan=lost_by("a", "CHOOSE_PARITY_CALL", "E001"))(
    details_of(R1, lambda details: details.pop("draw_proof")))
made("loss", "of-both", plan=lambda league: league.plans[R1].lost.update(
    dict.fromkeys(league.plans[R1].players, ("CHOOSE_PARITY_CALL", "E001"))))(None)
made("bound", "all-matches-given-up-once", incident("draw.abandoned"),
     plan=lambda league: [setattr(league.plans[m], "abandoned", 1) for m in (R1, R2, R3)])(None)
