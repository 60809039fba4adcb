"""False reports, by referees that seal their own logs, and accepted by a manager that does not look: what the verifiers
must find in the logs of the others, or in the report alone."""

import copy

import log_builder
from cases import MANAGER, Case, add, fault, incident, made, new_league, report_at

R1, R2, R3 = "R1M1", "R2M1", "R3M1"
OTHER = {"even": "odd", "odd": "even"}
UNBOUND = {"commitments": False}


def report_of(league, match):
    return league.reports(match)[-1].message


def both_ways(league, plan):
    """(player, referee) of the match by whole names."""
    return f"player:{plan.a}", f"referee:{plan.referee}"


# --- Choices --------------------------------------------------------------------------------------------------------
def chose_otherwise(league, match, player, in_referees_log=True, keeps_hash=True):
    """In truth `player` chose the other word: so says its log. The referee's says what the referee wishes."""
    plan = league.plans[match]
    own, = league.find(player, "CHOOSE_PARITY_RESPONSE", match, dir="out")
    theirs, = [r for r in league.find(plan.referee, "CHOOSE_PARITY_RESPONSE", match, dir="in") if r["peer"] == f"player:{player}"]
    own.own().message["parity_choice"] = OTHER[plan.choices[player]]
    if not in_referees_log:
        theirs.frame = own.frame
    elif keeps_hash:
        theirs["raw_sha256"] = log_builder.sha256_of(own.frame.raw())


for _match in (R1, R2, R3):
    for _side in ("a", "b"):
        for _where in ("forged", "honest"):
            made("choices", f"invented-{_match}-{_side}-{_where}-log", fault("choice.differs", report_at(_match), _match), options=UNBOUND,
                 short=_match == R1 and _side == "a" and _where == "forged")(
                lambda league, match=_match, side=_side, where=_where: chose_otherwise(
                    league, match, getattr(league.plans[match], side), in_referees_log=where == "forged"))


@made("choices", "names-who-and-what", fault("choice.differs", report_at(R1), R1), options=UNBOUND)
def _names(league):
    chose_otherwise(league, R1, league.plans[R1].a)


@made("choices", "both-invented", fault("choice.differs", report_at(R2)), options=UNBOUND)
def _both(league):
    for player in league.plans[R2].players:
        chose_otherwise(league, R2, player)


@made("choices", "forged-without-care", fault("choice.differs", report_at(R1)), fault("transfer.one_sided"), options=UNBOUND)
def _careless(league):
    chose_otherwise(league, R1, league.plans[R1].b, keeps_hash=False)


def _swap(league):
    plan = league.plans[R1]
    plan.choices = {plan.a: "even", plan.b: "odd"}


@made("choices", "swapped", fault("choice.differs", report_at(R1)), plan=_swap, options=UNBOUND)
def _swapped(league):
    for player in league.plans[R1].players:
        chose_otherwise(league, R1, player)


for _word in ("Even", "", "heads", None, 2, True, ["even"], {"even": 1}):
    _shown = _word if isinstance(_word, (str, bool)) or not _word else type(_word).__name__

    @made("choices", f"no-word-{_shown}", fault("result.form", report_at(R1)), options=UNBOUND, exact=False)
    def _no_word(league, word=_word):
        plan = league.plans[R1]
        report_of(league, R1)["result"]["details"]["choices"][plan.a] = word


# --- The number and the seed ----------------------------------------------------------------------------------------
def invented_number(match, by, shown=None):
    def plan(league):
        one = league.plans[match]
        drawn = one.number()
        number = (drawn + by - 1) % 10 + 1 if shown is None else shown
        one.number = lambda: number
    return plan


for _match in (R1, R2, R3):
    for _by in (1, 2, 5):
        made("number", f"{_match}-plus-{_by}", fault("draw.number", report_at(_match)), plan=invented_number(_match, _by),
             short=_match == R1 and _by == 1)(None)
    made("number", f"{_match}-plus-1-unbound", fault("draw.number", report_at(_match)), plan=invented_number(_match, 1),
         options=UNBOUND)(None)


def details_of(match, change):
    """Changes `result.details` of a report as it was sent and accepted."""
    return lambda league: change(report_of(league, match)["result"]["details"])


def result_of(match, change):
    return lambda league: change(report_of(league, match)["result"], league.plans[match])


for _number in (0, 11, -1, 10**30, 7.5, "7", None, True, [], {}):
    made("number", f"shown-{str(_number)[:12]}", fault("draw.number", report_at(R1)), exact=False)(
        details_of(R1, lambda details, number=_number: details.update(drawn_number=number)))
made("number", "not-shown", fault("draw.number", report_at(R1)), exact=False)(details_of(R1, lambda details: details.pop("drawn_number")))
for _parity in ("other", "Even", 5, "prime"):  # what is no text counts as absent
    @made("number", f"parity-{_parity}", fault("result.number", report_at(R1)) if _parity != 5 else fault("schema"), short=_parity == "other")
    def _parity_lie(league, parity=_parity):
        details = report_of(league, R1)["result"]["details"]
        details["number_parity"] = OTHER[details["number_parity"]] if parity == "other" else parity


def same_in_game_over(league, match, key, value):
    """What the report says, GAME_OVER says too (or neither)."""
    for player in league.plans[match].players:
        for record in league.find(player, "GAME_OVER", match, dir="in"):
            if value is None:
                record.message.pop(key, None)
            else:
                record.message[key] = value
    details = report_of(league, match)["result"]["details"]
    if value is None:
        details.pop(key, None)
    else:
        details[key] = value


made("seed", "not-revealed", fault("draw.unrevealed", report_at(R1)), short=True)(
    lambda league: same_in_game_over(league, R1, "draw_proof", None))
made("seed", "not-revealed-in-the-report", fault("draw.unrevealed", report_at(R2)))(
    details_of(R2, lambda details: details.pop("draw_proof")))
for _proof in ("00" * 32, "zz" * 32, "00" * 31, "00" * 33, "AB" * 32, "x", " " + "00" * 32):
    made("seed", f"another-{_proof[:3].strip()}-{len(_proof)}", fault("draw.proof", report_at(R1)), short=_proof == "00" * 32)(
        details_of(R1, lambda details, proof=_proof: details.update(draw_proof=proof)))
made("seed", "of-another-match", fault("draw.proof", report_at(R1)))(
    lambda league: same_in_game_over(league, R1, "draw_proof", league.plans[R2].seed.hex()))
for _proof in (5, [], {}, True):
    made("seed", f"of-type-{type(_proof).__name__}", fault("draw.unrevealed", report_at(R1)))(
        details_of(R1, lambda details, proof=_proof: details.update(draw_proof=proof)))


@made("seed", "another-in-game-over", fault("draw.proof"), short=False)
def _game_over(league):
    for player in league.plans[R1].players:
        for record in league.find(player, "GAME_OVER", R1, dir="in"):
            record.message["draw_proof"] = "11" * 32


@made("seed", "another-promise-to-one-player", fault("draw.commitment"), options=UNBOUND, short=True)
def _promise(league):
    for record in league.find("P02", "ROUND_ANNOUNCEMENT", dir="in"):
        for match in record.message["matches"]:
            if match["match_id"] == R1:
                match["draw_commitment"] = "ab" * 32


@made("seed", "another-promise-in-a-call", fault("draw.commitment"), options=UNBOUND)
def _promise_in_call(league):
    plan = league.plans[R1]
    for record in league.find(plan.a, "CHOOSE_PARITY_CALL", R1, dir="in"):
        record.message["context"]["draw_commitment"] = "cd" * 32


@made("seed", "another-promise-in-an-invitation", fault("draw.commitment"), options=UNBOUND)
def _promise_in_invitation(league):
    plan = league.plans[R1]
    for record in league.find(plan.a, "GAME_INVITATION", R1, dir="in"):
        record.message["draw_commitment"] = "cd" * 32


# --- Winner and points ----------------------------------------------------------------------------------------------
def wins(match, winner_of):
    def plan(league):
        one = league.plans[match]
        true = one.winner()
        one.winner = lambda: winner_of(one, true)
    return plan


def another_winner(plan, true):
    return plan.b if true == plan.a else plan.a


for _match in (R1, R2, R3):
    made("winner", f"another-{_match}", fault("draw.winner", report_at(_match)), plan=wins(_match, another_winner), short=_match == R1)(None)
    made("winner", f"another-{_match}-unbound", fault("draw.winner", report_at(_match)), plan=wins(_match, another_winner),
         options=UNBOUND)(None)


def decided(league):
    """R1M1 is won by its player A."""
    plan = league.plans[R1]
    plan.choices[plan.a] = "even"
    plan.choices[plan.b] = "odd"
    while plan.number() % 2:
        plan.seed = log_builder.hashlib.sha256(plan.seed).digest()


made("winner", "draw-of-a-won-match", fault("draw.winner", report_at(R1)),
     plan=lambda league: (decided(league), setattr(league.plans[R1], "winner", lambda: None)))(None)


def contradicting(name, rule, change, **more):
    """The report's result contradicts itself; what follows from it (table, journal) is not looked at here."""
    made("winner", name, fault(rule, report_at(R1)), plan=decided, exact=False, **more)(result_of(R1, change))


contradicting("score-of-two", "result.score", lambda result, plan: result.update(score={plan.a: 2, plan.b: 0}))
contradicting("score-of-both", "result.score", lambda result, plan: result.update(score={plan.a: 3, plan.b: 3}))
contradicting("score-negative", "result.score", lambda result, plan: result.update(score={plan.a: 3, plan.b: -3}))
contradicting("score-of-others", "result.winner", lambda result, plan: result.update(score={plan.a: 0, plan.b: 3}))
contradicting("score-of-a-draw", "result.winner", lambda result, plan: result.update(score={plan.a: 1, plan.b: 1}))
contradicting("score-of-nobody", "result.score", lambda result, plan: result.update(score={plan.a: 0, plan.b: 0}, winner=None))
contradicting("winner-is-nobody", "result.winner", lambda result, plan: result.update(winner=None))
contradicting("winner-is-a-stranger", "result.winner", lambda result, plan: result.update(winner="P99"))


# --- The same lies in the forms of third-party referees: another shape hides nothing -------------------------------------
def in_another_form(result, winner, points, details=None):
    for key in ("winner", "score"):
        result.pop(key)
    result.update(winner_id=winner, players={player: {"result": "WIN" if value == 3 else "LOSS", "points": value} for player, value in points.items()})
    result["details"].update(details or {})


contradicting("other-form-winner", "draw.winner", lambda result, plan: in_another_form(result, plan.b, {plan.a: 0, plan.b: 3}), short=True)
contradicting("other-form-score", "result.winner", lambda result, plan: in_another_form(result, plan.a, {plan.a: 0, plan.b: 3}))
contradicting("other-form-seed", "draw.proof", lambda result, plan: in_another_form(result, plan.a, {plan.a: 3, plan.b: 0}, {"draw_proof": "66" * 32}))
contradicting("other-form-without-points", "result.form", lambda result, plan: (result.pop("score"), result.update(players=7)))


def draw_without_points(result, plan):
    """A won match as a draw of 0:0, which nobody counts as one."""
    result.update(winner=None, score={plan.a: 0, plan.b: 0})
    result["details"].pop("termination")


contradicting("no-points-for-a-win", "draw.winner", draw_without_points)

for _name, _value in (("null", None), ("list", []), ("text", "won"), ("number", 3), ("empty", {})):
    contradicting(f"result-is-{_name}", "result.form", lambda result, plan: None)
    made("form", f"result-{_name}", fault("result.form", report_at(R1)), exact=False)(
        lambda league, value=_value: report_of(league, R1).update(result=value))
    made("form", f"score-{_name}", fault("result.form", report_at(R1)), exact=False)(
        lambda league, value=_value: report_of(league, R1)["result"].update(score=value))
    if _name == "null":  # counts as absent
        made("form", "details-null", fault("draw.unrevealed", report_at(R1)), options=UNBOUND)(
            lambda league: report_of(league, R1)["result"].update(details=None))
    elif _name != "empty":
        made("form", f"details-{_name}", fault("result.form", report_at(R1)), exact=False)(
            lambda league, value=_value: report_of(league, R1)["result"].update(details=value))
    if _name not in ("null", "text"):
        made("form", f"winner-{_name}", fault("result.form", report_at(R1)), exact=False)(
            lambda league, value=_value: report_of(league, R1)["result"].update(winner=value))
for _points in ("3", None, 3.0, True, [3], 10**30, -0.0):
    made("form", f"points-{_points}", fault("result.form", report_at(R1)), exact=False, agree_only=_points in (3.0, -0.0))(
        result_of(R1, lambda result, plan, points=_points: result["score"].update({plan.a: points})))
for _name in [name for name in list(__import__("cases").CASES) if name.startswith("winner/result-is-")]:
    del __import__("cases").CASES[_name]


# --- What the report is about ---------------------------------------------------------------------------------------
def about(name, rule, change, match=R1, **more):
    made("about", name, fault(rule, report_at(match)), **more)(lambda league: change(report_of(league, match)))


about("round-2", "result.round", lambda report: report.update(round_id=2), short=True)
about("round-99", "result.round", lambda report: report.update(round_id=99))
about("round-of-last", "result.round", lambda report: report.update(round_id=1), match=R3)
about("chess", "result.game", lambda report: report.update(game_type="chess"), short=True)
about("game-in-capitals", "result.game", lambda report: report.update(game_type="EVEN_ODD"))
about("attempt-2", "result.attempt", lambda report: report["result"]["details"].update(attempt=2), short=True)
about("attempt-0", "result.attempt", lambda report: report["result"]["details"].update(attempt=0))
about("attempt-huge", "result.attempt", lambda report: report["result"]["details"].update(attempt=10**6))


def _second_attempt(league):
    league.plans[R1].abandoned = 1


made("about", "attempt-1-of-2", fault("result.attempt", report_at(R1)), incident("draw.abandoned"), plan=_second_attempt)(
    details_of(R1, lambda details: details.update(attempt=1)))
made("about", "given-up-and-played-again", incident("draw.abandoned", None, R1), plan=_second_attempt)(None)


@made("about", "match-of-another-referee", fault("authority.report", report_at(R1)), exact=False)
def _other_referee(league):
    plan = league.plans[R1]
    other = next(r for r in league.referees if r != plan.referee)
    for frame in league.reports(R1):
        frame.message["sender"] = f"referee:{other}"


def add_report(league, match, change, again=True):
    """Another accepted report at the end, as the referee sent it."""
    plan = league.plans[match]
    report = copy.deepcopy(report_of(league, match))
    change(report, plan)
    end = {name: log.items.pop() for name, log in league.logs.items()}
    league.call(f"referee:{plan.referee}", MANAGER, "report_match_result", report, {"status": "ok"})
    for name, item in end.items():
        item.at = league.tick()
        league.logs[name].items.append(item)


def _opposite(report, plan):
    result = report["result"]
    result["winner"] = plan.b if result["winner"] != plan.b else plan.a
    result["score"] = {p: 3 * (p == result["winner"]) for p in plan.players}


def _technical(report, plan):
    """Another result that contradicts nothing but the first."""
    details = report["result"]["details"]
    details.update(termination="CONNECTION_CHOICE", drawn_number=None, number_parity=None, draw_version=1)
    for key in ("choice_commitments", "choice_nonces"):
        details.pop(key, None)
    loser = plan.a if report["result"]["winner"] == plan.a else plan.b
    details["choices"] = dict.fromkeys(plan.players)
    details["failures"] = [{"player_id": loser, "call": "GAME_INVITATION", "error_code": "E009", "elapsed_ms": 1, "attempt": n}
                           for n in (1, 2, 3)]
    details["termination"] = "CONNECTION_JOIN"
    winner = plan.b if loser == plan.a else plan.a
    report["result"].update(winner=winner, score={p: 3 * (p == winner) for p in plan.players})


made("second", "other-winner", fault("result.second"), exact=False)(lambda league: add_report(league, R1, _opposite))
made("second", "other-kind", fault("result.second"), options=UNBOUND, short=True)(lambda league: add_report(league, R1, _technical))
made("second", "without-form", fault("result.form"), short=True)(
    lambda league: add_report(league, R1, lambda report, plan: report.update(result={})))
made("second", "identical")(lambda league: add_report(league, R1, lambda report, plan: None))
made("second", "of-a-match-that-nobody-announced", fault("result.unknown_match"), short=True)(
    lambda league: add_report(league, R1, lambda report, plan: report.update(match_id="R9M9")))
for _id in ("", "R0M0", "r1m1", "R1M1 ", "x" * 1000, "R1M2"):
    made("second", f"of-match-{_id[:8] or 'empty'}", fault("result.unknown_match"), exact=False)(
        lambda league, match=_id: add_report(league, R1, lambda report, plan: report.update(match_id=match)))


# --- A third-party referee ---------------------------------------------------------------------------------------
def foreign(league, referee):
    """The referee never said that it knows match credentials."""
    for frame in {id(r.frame): r.frame for r in league.find(referee, "REFEREE_REGISTER_REQUEST")}.values():
        frame.message["referee_meta"].pop("match_credentials")


@made("foreign", "without-a-seed", incident("result.unproven", report_at(R1), R1), short=True)
def _unproven(league):
    foreign(league, league.plans[R1].referee)
    same_in_game_over(league, R1, "draw_proof", None)


@made("foreign", "with-a-wrong-seed", fault("draw.proof", report_at(R1)))
def _foreign_wrong(league):
    foreign(league, league.plans[R1].referee)
    same_in_game_over(league, R1, "draw_proof", "12" * 32)


@made("foreign", "with-its-seed")
def _foreign_right(league):
    foreign(league, league.plans[R1].referee)


@made("foreign", "without-a-seed-and-with-invented-choices", fault("choice.differs", report_at(R1)), incident("result.unproven"),
      options=UNBOUND)
def _foreign_choice(league):
    foreign(league, league.plans[R1].referee)
    same_in_game_over(league, R1, "draw_proof", None)
    chose_otherwise(league, R1, league.plans[R1].a)
