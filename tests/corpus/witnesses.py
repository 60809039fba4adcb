"""Two sides of one story: records of a message in two logs, a referee that tells players something else than the manager, seals
that were taken out; and honest leagues in which the same only seems to have happened."""

import copy
from datetime import timedelta

import log_builder
from cases import MANAGER, Case, add, fault, incident, lines_of, made, missing, new_league, own_file, put_lines, report_at
from clean import FALSE_MATCH, HEAD, asked, before_end, call_of, disputes
from ends import instant_of, late_news, next_run, starts_again_at
from evidence import unregistered_key
from lies import R1, R2, UNBOUND, foreign
from singles import kept_results

V3 = {"version": 3}
made("version", "3", options=V3, short=True)(None)


# --- Seals ----------------------------------------------------------------------------------------------------------
def without_late_seal(agent, excuse=None):
    """Of a program that went on writing: the seal before the end of the league is gone. `excuse`: a note in its place."""
    def change(league):
        log = league.log(agent)
        end = next(i for i, item in enumerate(log.items) if isinstance(item, log_builder.Record) and item["message_type"] == "LEAGUE_COMPLETED")
        last = max(i for i in range(end) if isinstance(log.items[i], log_builder.Seal))
        since = max(i for i in range(last) if isinstance(log.items[i], log_builder.Seal)) + 1
        mono = [item["mono_ns"] for item in (log.items[since], log.items[end])]
        log.items[last:last + 1] = [log_builder.Note(league.now, mono[1], excuse, {"from": mono[0], "to": mono[1] + 10**9})] if excuse else []
    return change


def at_its_end(agent):
    return agent, {"message_type": "LEAGUE_COMPLETED", "kind": "request"}


for _agent in ("player:P02", "referee:REF01", MANAGER):
    made("seal", f"is-gone-of-{_agent.split(':')[-1]}", missing("seal.absent", at_its_end(_agent)), plan=late_news(12),
         short=_agent == "player:P02")(without_late_seal(_agent))
made("seal", "is-gone-of-format-3", missing("seal.absent", at_its_end("player:P02")), plan=late_news(12), options=V3)(without_late_seal("player:P02"))
made("seal", "is-late-and-says-so", plan=late_news(12), options=V3, short=True)(without_late_seal("player:P02", "seal_delayed"))
made("seal", "is-late-and-another-note-is-there", missing("seal.absent"), plan=late_news(12), options=V3)(without_late_seal("player:P02", "hello"))
made("seal", "is-nine-seconds-late", plan=late_news(9))(without_late_seal("player:P02"))


# --- One message in two logs ----------------------------------------------------------------------------------------
def edited(agent, kind, change, match=None, direction="in", keeps_digest=True):
    """In its own record of one message the owner says something else."""
    def edit(league):
        record = league.find(agent, kind, match, dir=direction)[0]
        digest = log_builder.sha256_of(record.frame.raw())
        change(record.own().message)
        if keeps_digest:
            record["raw_sha256"] = digest
    return edit


def another_reason(message):
    message["reason"] = "the dog ate it"


OVER_OF_P02 = {"message_type": "GAME_OVER", "dir": "in"}
made("copies", "received", fault("transfer.differs", ("player:P02", OVER_OF_P02), "REF01"), options=V3, short=True)(
    edited("P02", "GAME_OVER", another_reason))
made("copies", "received-in-format-2")(edited("P02", "GAME_OVER", another_reason))
made("copies", "sent", fault("transfer.differs"), options=V3)(edited("REF01", "GAME_OVER", another_reason, direction="out"))
made("copies", "received-with-another-credential", fault("transfer.differs", ("player:P02", OVER_OF_P02)), options=V3)(edited("P02", "GAME_OVER", lambda message: message.update(auth_token="tok_p02_...")))


def unasked(agent, kind):
    """The request is gone from the owner's log, the answer is still there."""
    def change(league):
        log = league.log(agent)
        log.items.remove(next(r for r in log.records() if r["message_type"] == kind and r["dir"] == "in"))
    return change


made("receiver", "lacks-a-request", fault("reply.orphan"), plan=before_end(lambda league: asked(
    league, "P02", call_of("ping", {}), {"status": "ok"}, kind="ping")), short=True)(unasked("P02", "ping"))
made("receiver", "lacks-game-over", fault("reply.orphan"), fault("transfer.one_sided"))(unasked("P02", "GAME_OVER"))


def second_answer(league, agent, direction, **changed):
    log = league.log(agent)
    first = next(r for r in log.records() if r["kind"] == "reply" and r["dir"] == direction and r["message_type"] == "GAME_JOIN_ACK")
    again = copy.deepcopy(first)
    again.message.update(changed)
    log.items.insert(log.items.index(first) + 1, again)


made("receiver", "answers-twice", fault("reply.second"), options=UNBOUND, short=True)(lambda league: second_answer(league, "P02", "out", accept=False))
made("receiver", "answers-the-same-twice", options=UNBOUND)(lambda league: second_answer(league, "P02", "out"))


@made("receiver", "answers-after-the-time-limit", plan=lambda league: league.plans[R1].lost.update({league.plans[R1].a: ("CHOOSE_PARITY_CALL", "E001")}))
def _late_answer(league):
    """A failure ends the call for the referee; what comes then belongs to it all the same."""
    plan = league.plans[R1]
    log = league.log(plan.referee)
    failed = next(r for r in log.records() if r["kind"] == "failure" and r["match_id"] == R1)
    own = next(r for r in league.log(plan.a).records() if r["kind"] == "request" and r["message_type"] == "CHOOSE_PARITY_CALL" and r["match_id"] == R1)
    frame = log_builder.Frame({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "too late"}})
    for record, owner, direction in ((failed, log, "in"), (own, league.log(plan.a), "out")):
        late = copy.deepcopy(record)
        late.frame = frame
        late.fields.update(dir=direction, kind="reply", verdict="E001", fault="too late")
        owner.items.insert(owner.items.index(record) + 1, late)


def acknowledged_alike(league):
    """All acknowledgements have the same bytes, so each could be the answer to any call."""
    for log in league.logs.values():
        for record in log.records():
            if record["kind"] == "reply" and record.message == {"status": "ok"}:
                record.frame.body["id"] = 1


def deleted(agent, kind):
    def change(league):
        acknowledged_alike(league)
        log = league.log(agent)
        calls = [r["call"] for r in log.records() if r["message_type"] == kind and r["dir"] == "in"][:1]
        log.items = [item for item in log.items if not (isinstance(item, log_builder.Record) and item["call"] in calls
                                                        and (item["message_type"] or kind) == kind and item["peer"] != "127.0.0.1:40000")]
    return change


for _kind in ("GAME_OVER", "ROUND_COMPLETED", "LEAGUE_STANDINGS_UPDATE"):
    made("receiver", f"has-deleted-{_kind.lower()}", fault("transfer.one_sided"), short=_kind == "GAME_OVER")(deleted("P02", _kind))
for _at, _expected in (("2099-01-01T00:00:00Z", []), ("2001-01-01T00:00:00Z", [fault("transfer.one_sided")])):
    made("receiver", f"has-deleted-news-and-its-seat-since-{_at[:4]}", *_expected, short=True, files=kept_results(
        lambda content, at=_at: content.update(seated_anew={"player:P02": at})))(deleted("P02", "ROUND_COMPLETED"))
made("receiver", "has-deleted-game-over-and-its-seat-is-new", fault("transfer.one_sided"), files=kept_results(
    lambda content: content.update(seated_anew={"player:P02": "2099-01-01T00:00:00Z"})))(deleted("P02", "GAME_OVER"))
made("receiver", "acknowledges-alike")(acknowledged_alike)


# --- GAME_OVER ------------------------------------------------------------------------------------------------------
def told_otherwise(change, only=None):
    def after(league):
        plan = league.plans[R1]
        for player in [only(plan)] if only else plan.players:
            for record in league.find(player, "GAME_OVER", R1, dir="in", kind="request"):
                change(record.message, plan)
    return after


def another_winner(message, plan):
    result = message["game_result"]
    result.update(status="WIN", winner_player_id=plan.b if result["winner_player_id"] == plan.a else plan.a)


def another_choice(message, plan):
    choices = message["game_result"]["choices"]
    message["game_result"]["choices"] = {**choices, plan.b: {"even": "odd", "odd": "even"}[choices[plan.b]]}


TOLD = fault("over.contradicts", None, R1)
made("over", "another-winner", TOLD, short=True)(told_otherwise(another_winner))
made("over", "another-winner-to-one-player", TOLD)(told_otherwise(another_winner, lambda plan: plan.a))
made("over", "another-number", TOLD)(told_otherwise(lambda message, plan: message["game_result"].update(
    drawn_number=message["game_result"]["drawn_number"] % 10 + 1)))
made("over", "no-number", TOLD, short=True)(told_otherwise(lambda message, plan: message["game_result"].update(drawn_number=None)))
made("over", "another-choice", TOLD)(told_otherwise(another_choice))
made("over", "without-choices")(told_otherwise(lambda message, plan: message["game_result"].update(choices={})))


# --- Commitments that count ------------------------------------------------------------------------------------------
def asked_with(commitment):
    """The referee asks B for its choice before A is bound, or shows it something else."""
    def change(league):
        plan = league.plans[R1]
        for record in league.find(plan.b, "CHOOSE_PARITY_CALL", R1, dir="in"):
            context = record.message["context"]
            context.pop("opponent_commitment")
            context.update({"opponent_commitment": commitment} if commitment else {})
    return change


HANDED = fault("commitment.handed", report_at(R1), R1)
made("handed", "nothing", HANDED, short=True)(asked_with(None))
made("handed", "another", HANDED)(asked_with("ee" * 32))


@made("handed", "another-to-a-player-that-was-started-again", short=True)
def _handed_between_runs(league):
    """What a killed player still has of the match may be of an earlier play: its log proves nothing then."""
    plan = league.plans[R1]
    asked_with("ee" * 32)(league)
    agent = f"player:{plan.b}"
    items = league.log(agent).items
    call = next(record for record in league.find(plan.b, "CHOOSE_PARITY_CALL", R1, dir="in"))
    items.insert(items.index(call), next_run(league, agent, instant_of(call) - timedelta(milliseconds=1)))


@made("handed", "only-when-it-asked-again", HANDED, fault("retry.without_cause"))
def _asked_again(league):
    """The first call, which B answered, lacks the commitment; the second has it."""
    plan = league.plans[R1]
    for agent, peer in ((plan.b, f"referee:{plan.referee}"), (plan.referee, f"player:{plan.b}")):
        log = league.log(agent)
        both = [r for r in log.records() if r["match_id"] == R1 and r["peer"] == peer
                and r["message_type"] in ("CHOOSE_PARITY_CALL", "CHOOSE_PARITY_RESPONSE")]
        first = copy.deepcopy(both)
        first[0].message["context"].pop("opponent_commitment")
        for record in first:
            record["call"] = 700
        at = log.items.index(both[0])
        log.items[at:at] = first





@made("handed", "in-a-call-that-was-not-answered")
def _not_answered(league):
    """A call without it that never had an answer binds nobody."""
    plan = league.plans[R1]
    log = league.log(plan.b)
    call = next(r for r in log.records() if r["message_type"] == "CHOOSE_PARITY_CALL" and r["match_id"] == R1)
    first = copy.deepcopy(call)
    first.message["context"].pop("opponent_commitment")
    first.fields.update(call=700, verdict="E012", fault="no credential")
    log.items.insert(log.items.index(call), first)


@made("handed", "nothing-by-a-log-with-a-gap")
def _broken_run(league):
    plan = league.plans[R1]
    asked_with(None)(league)
    starts_again_at(league, f"player:{plan.b}", lambda record: record["message_type"] == "CHOOSE_PARITY_CALL" and record["match_id"] == R1)


@made("handed", "before-it-came", HANDED)
def _joined_late(league):
    """By the referee's own clock, A was asked before B had joined."""
    plan = league.plans[R1]
    log = league.log(plan.referee)
    call = next(r for r in log.records() if r["message_type"] == "CHOOSE_PARITY_CALL" and r["peer"] == f"player:{plan.a}" and r["match_id"] == R1)
    joined = next(r for r in log.records() if r["message_type"] == "GAME_JOIN_ACK" and r["peer"] == f"player:{plan.b}" and r["match_id"] == R1)
    joined["mono_ns"] = call["mono_ns"] + 1000


# --- Who said it ----------------------------------------------------------------------------------------------------
def announced_by(said_by):
    def step(league):
        body = league.message("ROUND_ANNOUNCEMENT", MANAGER, None, "convstranger001", league_id=league.league_id, round_id=1, matches=FALSE_MATCH,
                              log_head=HEAD)
        asked(league, "P02", call_of("notify_round", body), {"status": "ok"}, kind="ROUND_ANNOUNCEMENT", peer=MANAGER,
              conversation="convstranger001", said_by=said_by)
    return step


made("said", "by-nobody-who-was-checked", plan=before_end(announced_by(None)), options=V3, short=True)(None)
made("said", "by-the-manager", fault("draw.commitment"), fault("witness.head"), plan=before_end(announced_by(MANAGER)), options=V3, exact=False)(None)


# --- What only seems to be wrong --------------------------------------------------------------------------------------
def in_conversations(called, reported):
    """A third-party referee names its conversations as it likes."""
    def change(league):
        plan = league.plans[R1]
        foreign(league, plan.referee)
        for log in league.logs.values():
            for record in log.records():
                own = (record["peer"] or "") == f"referee:{plan.referee}" or log.agent == f"referee:{plan.referee}"
                name = reported if record["message_type"] in ("MATCH_RESULT_REPORT", None) else called
                if record["match_id"] == R1 and own and name:
                    record["conversation_id"] = name
                    if record.frame is not None and "conversation_id" in record.message:
                        record.message["conversation_id"] = name
    return change


for _name, _called, _reported in (("calls", "convmine", None), ("reports", None, "convmine"), ("calls-and-reports", "convmine", "convyours")):
    made("clean", f"foreign-referee-{_name}-in-its-own-conversation", short=_name == "reports")(in_conversations(_called, _reported))


def assigned_twice(league):
    """The first referee refused the match, so it is the same attempt that another gets."""
    def begin(plan, play=league.play_match):
        if plan.match == R1:
            plan.referee = next(r for r in league.referees if r != plan.referee)
            message = league.message("MATCH_ASSIGNMENT", MANAGER, league.token(plan.referee), f"convr{R1[1:].lower()}001", league_id=league.league_id,
                                     round_id=1, **league.assignment(plan, 1, plan.referee))
            league.call(MANAGER, f"referee:{plan.referee}", "assign_match", message, {"status": "ok"})
        play(plan)
    league.play_match = begin


made("clean", "match-that-one-referee-refused", plan=assigned_twice, short=True)(lambda league: foreign(league, league.plans[R1].referee))


@made("clean", "match-that-was-announced-with-a-later-round", short=True)
def _announced_late(league):
    for frame in {id(r.frame): r.frame for r in league.find(MANAGER, "ROUND_ANNOUNCEMENT", dir="out")}.values():
        if frame.message["round_id"] == 1:
            frame.message["round_id"] = 2


# --- A copy of a league that is being played ---------------------------------------------------------------------------
def copied(name, *expected, change, **more):
    """Two rounds are over; `change(directory)` lets some files be older than others."""
    def build(directory):
        league = new_league().play(rounds=2, end=False)
        log_builder.League.seal_all(league)
        league.write(directory)
        change(directory)
        return league
    add(Case(f"copy/{name}", "copy", list(expected), build, **more))


def ends_early(agent, lines):
    def files(directory):
        path = directory / own_file(agent)
        put_lines(path, lines_of(path)[:-lines])
    return files


copied("all-at-once", change=lambda directory: None, short=True)
copied("log-before-its-seal", missing("log.truncated", None, "league backup"), change=ends_early("player:P02", 3), exact=False, short=True)


# --- Disputes -------------------------------------------------------------------------------------------------------
DRAW, HANDOVER = "the draw_proof is false", "the opponent's commitment is not the one that was handed over before"
made("dispute", "of-what-the-records-decide", incident("match.disputed", None, R1, "support the report"),
     plan=before_end(disputes("P02", R1, reason=DRAW)))(None)
made("dispute", "of-an-opponent-without-a-log", incident("match.disputed", None, R1, "do not decide"), plan=before_end(disputes("P02", R1)),
     options=UNBOUND, short=True)(lambda league: unregistered_key(league, f"player:{next(p for p in league.plans[R1].players if p != 'P02')}"))
made("dispute", "of-a-steered-draw", incident("match.disputed", None, R1, "the sealed records support P"), HANDED,
     plan=before_end(lambda league: disputes(league.plans[R1].b, R1, reason=HANDOVER)(league)))(asked_with(None))
