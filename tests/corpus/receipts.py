"""What binds the manager: receipts of players, losses about which it has to ask, the ends of logs that it was told, the signed end of
the league, and files that carry the league's key."""

import json

import log_builder
from cases import MANAGER, Case, add, fault, incident, made, missing, new_league, report_at
from commitments import lost_by
from lies import R1, report_of
from singles import kept_results

BOUND = {"version": 3, "receipts": True}


# --- Receipts -------------------------------------------------------------------------------------------------------
def receipts_of(change, match=R1, side="A"):
    return kept_results(lambda content: [change(row["receipts"][side]) for row in content["results"] if row["match_id"] == match] and None)


def without_keys(league):
    log = league.log(MANAGER)
    log.items = [item for item in log.items if not isinstance(item, log_builder.Note)]


FALSE = fault("receipt.false", report_at(R1), R1)
made("receipts", "valid", options=BOUND, short=True)(None)
for _name in ("join", "choice"):
    made("receipts", f"another-{_name}-than-what-was-reported", FALSE, options=BOUND, short=_name == "choice",
         files=receipts_of(lambda own, name=_name: own.update({name: "00" * 32})))(None)
made("receipts", "of-the-opponent", FALSE, options=BOUND, files=kept_results(
    lambda content: [row["receipts"].update(A=row["receipts"]["B"]) for row in content["results"] if row["match_id"] == R1] and None))(None)
made("receipts", "another-while-the-keys-are-secret", options=BOUND, files=receipts_of(lambda own: own.update(choice="00" * 32)))(without_keys)
for _state in ("absent", "invalid"):
    made("receipts", _state, incident("receipt.invalid", report_at(R1), R1), options=BOUND, short=_state == "absent",
         files=receipts_of(lambda own, state=_state: own.update(state=state, join="", choice="")))(None)
made("receipts", "not-declared", options=BOUND, files=receipts_of(lambda own: own.update(state="not_declared", join="", choice="")))(None)
for _name, _value in (("null", None), ("list", []), ("number", 5), ("text", "x"), ("deep", {"join": {}, "choice": [], "state": 5})):
    made("receipts", f"written-as-{_name}", agree_only=True, options=BOUND,
         files=kept_results(lambda content, value=_value: [row["receipts"].update(A=value) for row in content["results"]] and None))(None)


# --- Players that the manager runs -------------------------------------------------------------------------------------
def hosted(fairness, player="P02"):
    return kept_results(lambda content: [content.update(hosted=[player]), *(row.update(fairness=fairness) for row in content["results"]
                                                                            if row["match_id"] == R1)] and None)


for _fairness, _expected in (("both", True), ("one", True), ("hosted", False), ("claimed", False), ("none", False)):
    made("hosted", f"called-{_fairness}", *([fault("fairness.hosted", report_at(R1), R1)] if _expected else []), options=BOUND,
         short=_fairness == "both", files=hosted(_fairness))(None)
for _player in ("P01", "P99"):  # who has no match in this round, and nobody
    made("hosted", f"another-player-{_player}", options=BOUND, files=hosted("both", _player))(None)
made("hosted", "when-the-match-ended", fault("fairness.hosted", report_at(R1), R1), options=BOUND, short=True, files=kept_results(
    lambda content: [row.update(fairness="both", hosted=["P02"]) for row in content["results"] if row["match_id"] == R1] and None))(None)
made("hosted", "after-the-match-ended", options=BOUND, short=True, files=kept_results(
    lambda content: [content.update(hosted=["P02"]), *(row.update(fairness="both", hosted=[]) for row in content["results"])] and None))(None)
for _value in ([], "x", {"player:P01": 5, "player:P02": "now", "P01": "2099-01-01T00:00:00Z"}):
    made("hosted", f"seated-anew-{type(_value).__name__}", options=BOUND, files=kept_results(
        lambda content, value=_value: content.update(seated_anew=value)))(None)


# --- Losses ---------------------------------------------------------------------------------------------------------
def lost(code, call="CHOOSE_PARITY_CALL", asks=True):
    def plan(league):
        lost_by("a", call, code)(league)
        league.keeps_questions = asks
    return plan


def no_questions(content):
    content["questions"] = []


UNHEARD = fault("loss.unheard", report_at(R1), R1)
for _code in ("E001", "E004", "E009"):
    made("heard", f"loss-by-{_code}", options=BOUND, plan=lost(_code), short=_code == "E001")(None)
for _code, _expected in (("E001", [UNHEARD]), ("E004", [UNHEARD]), ("E009", [])):
    made("heard", f"loss-by-{_code}-without-a-question", *_expected, options=BOUND, plan=lost(_code, asks=False), files=kept_results(no_questions),
         short=_code == "E001")(None)


def declined(league):
    lost("E037", "GAME_INVITATION", asks=False)(league)


def _without_receipt(league):
    report_of(league, R1)["result"]["details"]["receipts"].clear()


made("heard", "declined-with-a-receipt", options=BOUND, plan=declined, files=kept_results(no_questions), short=True)(None)
made("heard", "declined-without-a-receipt", UNHEARD, options=BOUND, plan=declined, files=kept_results(no_questions), short=True)(_without_receipt)
made("heard", "loss-with-a-question-in-the-journal-only", UNHEARD, options=BOUND, plan=lost("E001", asks=False))(None)
made("heard", "loss-with-a-question-in-the-log-only", UNHEARD, options=BOUND, plan=lost("E001"), files=kept_results(no_questions))(None)
made("heard", "loss-of-a-player-without-receipts", options={"version": 3}, plan=lost("E001"))(None)


@made("heard", "loss-at-a-call-that-never-came", incident("loss.unwitnessed", report_at(R1), R1), options=BOUND, plan=lost("E001"), short=True)
def _unwitnessed(league):
    log = league.log(league.plans[R1].a)
    log.items = [item for item in log.items if not (isinstance(item, log_builder.Record) and item["match_id"] == R1
                                                    and item["message_type"] == "CHOOSE_PARITY_CALL")]


# --- Draws that one player alone was bound in ------------------------------------------------------------------------
def won_by_the_unbound(but):
    """B is never bound and wins all its matches but so many."""
    def plan(league):
        for n, one in enumerate(league.plans.values()):
            one.commits = {one.a}
            one.choices = {one.a: "even", one.b: "odd"}
            while one.winner() != (one.a if n < but else one.b):
                one.seed = log_builder.hashlib.sha256(one.seed).digest()
    return plan


SIX = {"players": 6, "referees": 1}
made("steered", "all", incident("draw.steered", None, "REF01"), options=SIX, plan=won_by_the_unbound(0), short=True)(None)
made("steered", "all-but-three", options=SIX, plan=won_by_the_unbound(3))(None)


# --- The ends of logs, and of the league ------------------------------------------------------------------------------
def answers_head(head):
    """The manager's log says that P02 told it where its log ends."""
    def change(league):
        call = league.find(MANAGER, "LEAGUE_COMPLETED", dir="out", peer="player:P02")[0]["call"]
        frame, = {id(r.frame): r.frame for r in league.log(MANAGER).records() if r["call"] == call and r["kind"] == "reply"}.values()
        frame.message["log_head"] = head
    return change


made("heads", "of-a-line-that-is-gone", fault("witness.agent_head", None, "player:P02"), options={"version": 3}, short=True)(
    answers_head({"seq": 3, "hash": "ee" * 32}))
for _head in (None, "x", 5, [], {}, {"seq": "x", "hash": 5}):
    made("heads", f"as-{json.dumps(_head).translate({ord(c): None for c in chr(34) + '{}[]:, '}) or type(_head).__name__}", agree_only=True,
         options={"version": 3})(answers_head(_head))


def signed_end(change):
    def after(league):
        for frame in {id(r.frame): r.frame for r in league.find(MANAGER, "LEAGUE_COMPLETED", dir="out", kind="request")}.values():
            change(frame.message, league)
    return after


def other_table(message, league):
    signed = message["attestation"]
    signed["statement"] = signed["statement"].replace("table ", "table 0")
    signed["signature"] = league.signer.sign(signed["statement"])


END = (MANAGER, {"message_type": "LEAGUE_COMPLETED", "kind": "request"})
V3 = {"version": 3}
made("signed", "nothing", missing("attestation.absent", END), options=V3, short=True)(signed_end(lambda message, _: message.pop("attestation")))
made("signed", "nothing-in-format-2")(None)
made("signed", "by-nobody", fault("attestation.signature", END), options=V3, short=True)(
    signed_end(lambda message, _: message["attestation"].update(signature="00" * 64)))
made("signed", "by-another-league", fault("attestation.signature", END), options=V3)(signed_end(
    lambda message, _: message["attestation"].update(signature=log_builder.Signer("another").sign(message["attestation"]["statement"]))))
made("signed", "another-table", fault("attestation.differs", END), options=V3, short=True)(signed_end(other_table))
for _name, _value in (("null", None), ("text", "x"), ("empty", {}), ("texts", {"statement": 5, "signature": []})):
    made("signed", f"attestation-{_name}", agree_only=True, options=V3)(signed_end(lambda message, _, value=_value: message.update(attestation=value)))


# --- Files with a key -------------------------------------------------------------------------------------------------
def with_files(name, *expected, match=None, row=None, **more):
    """A referee's file of R1M1 and the history of its player A; `match` and `row` are changes of the true ones."""
    def build(directory):
        league = new_league(**BOUND).play()
        league.write(directory)
        plan = league.plans[R1]
        file = {"league_id": league.league_id, "league_key": league.key, "round_id": 1, "match_id": R1, "game_type": "even_odd", "attempt": 1,
                "referee_id": plan.referee, "player_A_id": plan.a, "player_B_id": plan.b, "draw_commitment": plan.promise, "made_by": "referee",
                "state": "FINISHED", "result": league.reports(R1)[0].message["result"], "lifecycle": [{"state": "FINISHED", "at": "2026-01-15T10:30:01Z"}],
                "transcript": [{"from": plan.a, "parity_choice": plan.choices[plan.a]}]}
        own = {"league_id": league.league_id, "league_key": league.key, "match_id": R1, "round_id": 1, "opponent_id": plan.b, "technical": False,
               "result": {3: "WIN", 1: "DRAW", 0: "LOSS"}[plan.points()[plan.a]], "drawn_number": plan.number(), "my_choice": plan.choices[plan.a],
               "opponent_choice": plan.choices[plan.b]}
        own.update(row or {})
        counts = {kind: int(own["result"] == word) for kind, word in (("wins", "WIN"), ("losses", "LOSS"), ("draws", "DRAW"))}
        history = {"player_id": plan.a, "stats": {"total_matches": 1, **counts}, "matches": [own]}
        for path, content in ((f"matches/league_test/{R1}.json", match if isinstance(match, str) else {**file, **(match or {})}),
                              (f"players/{plan.a}/history.json", history)):
            path = directory / "data" / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return league
    add(Case(f"files/{name}", "files", list(expected), build, **more))


OTHER_KEY = {"league_key": "ab" * 32}
IN_MATCH, IN_HISTORY = fault("projection.match"), fault("projection.history")
with_files("right", short=True)
for _key, _value in (("attempt", 2), ("referee_id", "REF09"), ("player_A_id", "P09"), ("player_B_id", "P09"), ("round_id", 2), ("game_type", "chess"),
                     ("draw_commitment", "00" * 32), ("draw_commitment", None), ("result", {}), ("result", None), ("match_id", "R2M1"),
                     ("lifecycle", [{"state": "REFUSED", "at": "2026-01-15T10:30:01Z"}]), ("transcript", [{"from": "P02", "parity_choice": "x"},
                                                                                                         {"from": "P03", "parity_choice": "x"}])):
    with_files(f"match-with-another-{_key}-{str(_value)[:4].strip('{}[]') or 'empty'}", IN_MATCH, match={_key: _value}, short=_key == "attempt")
with_files("match-with-another-attempt-of-another-league", match={**OTHER_KEY, "attempt": 2}, short=True)
with_files("match-without-a-key", IN_MATCH, match={"league_key": None, "attempt": 2})
with_files("match-that-is-no-json", IN_MATCH, match="{")
with_files("match-that-is-empty", match="")
for _key, _value in (("result", "NONE"), ("opponent_id", "P09"), ("round_id", 3), ("drawn_number", 11), ("my_choice", "x"), ("opponent_choice", None),
                     ("technical", True)):
    with_files(f"history-with-another-{_key}", IN_HISTORY, row={_key: _value}, short=_key == "round_id")
with_files("history-of-an-earlier-league", row={**OTHER_KEY, "result": "NONE", "drawn_number": 3}, short=True)
