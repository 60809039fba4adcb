"""One case, and more, for each rule that the other files do not find alone: records, secrets, segments, the order of a match,
its deadlines and its clock, tables and the journal."""

import copy
import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path

import log_builder
from cases import Case, MANAGER, add, fault, incident, made, new_league, own_file, report_at
from clean import asked, before_end, call_of, league_error
from commitments import lost_by
from damage import P02, records, rewritten
from lies import R1, R2, details_of, report_of
from resealing import Line, Resealing, read_lines

UNBOUND = {"commitments": False}


# --- Lines and records ----------------------------------------------------------------------------------------------
def _no_line(lines):
    """A line without prev and hash, and a chain that goes on behind it."""
    return lines


def _line_without_chain(directory):
    league = new_league().play()
    league.write(directory)
    path = directory / own_file(P02)
    lines = read_lines(path)
    first = Resealing(path, league.logs[P02].signer).write(lines[:8])
    head = path.read_bytes()
    rest = Resealing(path, league.logs[P02].signer, first.prev, first.seq, first.agent).write(lines[8:])
    path.write_bytes(head + b'{"note":"hello"}\n' + path.read_bytes())
    return rest and league


add(Case("record/line-without-chain", "record", [fault("line.form", (own_file(P02), 9))], _line_without_chain, short=True))


def record_with(name, change, *expected, agent=P02, wanted=None, **more):
    """Changes one record that nothing else depends on: a call to ping that came in."""
    def rewrite(league):
        record, = league.find(agent, **(wanted or {"dir": "in", "kind": "request", "conversation_id": "convping001"}))
        change(record)

    def plan(league):
        before_end(lambda league: asked(league, agent, call_of("ping", {}), {"status": "ok"}, conversation="convping001"))(league)
    made("record", name, *expected, plan=plan, **more)(rewrite)


PING = {"conversation_id": "convping001", "dir": "in", "kind": "request"}
for _key, _value in (("dir", "up"), ("dir", None), ("time", "yesterday"), ("time", "2026-02-30T00:00:00.000000Z"), ("kind", "")):
    record_with(f"{_key}-is-{str(_value)[:12] or 'empty'}", lambda record, key=_key, value=_value: record.fields.update({key: value}),
                fault("record.form"))


def _other_conversation(league):
    """A referee's own record of its call names another conversation than the call."""
    plan = league.plans[R1]
    record = league.find(MANAGER, "ROUND_COMPLETED", dir="out", kind="request")[0]
    record["conversation_id"] = "convother001"


made("record", "other-conversation", fault("record.conversation"), short=True)(_other_conversation)
for _reference, _keep in ((999, [1, 1]), (1, [1, 1]), (0, [0, 0])):
    def _refers(record, reference=_reference, keep=_keep):
        record["raw_ref"], record["raw_keep"] = reference, keep
    record_with(f"refers-to-{_reference}", _refers, fault("record.reference"), short=_reference == 999)


def _listed(league, description):
    """A stranger has the manager list its tools; the record of the answer."""
    tools = [{"name": "ping", "description": description * 40}] * 20
    asked(league, MANAGER, call_of("tools/list", {}), {"tools": tools}, conversation=None)
    return league.log(MANAGER).records()[-1]


def _refers(league, record, base):
    """Of `record` stands only what differs from `base`, which may be referred to."""
    whole, known = record.frame.raw(), base.frame.raw()
    before = next((i for i, (a, b) in enumerate(zip(whole, known)) if a != b), min(len(whole), len(known)))
    record["raw_ref"], record["raw_keep"] = league.log(MANAGER).records().index(base) + 1, [before, 0]
    record["raw"] = whole[before:]


def answers(name, others, *expected, base_of="reply", **more):
    """An answer that stands in the log once, is referred to, then `others` more of them, and the first again."""
    def step(league):
        first = _listed(league, "a")
        if base_of == "request":
            first = league.log(MANAGER).records()[-2]
        first["broadcast"] = True
        if base_of == "reply":
            _refers(league, _listed(league, "a"), first)
        for other in range(others):
            _listed(league, "bcdefghi"[other])["broadcast"] = True
        _refers(league, _listed(league, "a"), first)
    made("record", name, *expected, plan=before_end(step), **more)(None)


answers("answers-by-reference", 7, short=True)
answers("answer-refers-too-far-back", 8, fault("record.reference"), short=True)
answers("answer-refers-to-a-request", 0, fault("record.reference"), base_of="request")


def _token(record):
    record["raw"] = record.frame.raw().replace('"params":{}', '"params":{"note":"tok_ref01_abcdefghijklmnop"}')


def _value(record):
    record["raw"] = record.frame.raw().replace('"params":{}', '"params":{"auth_token":"hunter2"}')


record_with("token", _token, fault("secret.token"), short=True)
record_with("secret", _value, fault("secret.value"), short=True)
for _word in ("password", "draw_seed", "operator_key", "registration_nonce", "cookie", "player_A_credential"):
    record_with(f"secret-{_word}", lambda record, word=_word: record.fields.update(
        raw=record.frame.raw().replace('"params":{}', '"params":{"a":[{"%s":"hunter2"}]}' % word)), fault("secret.value"))


# --- Segments -------------------------------------------------------------------------------------------------------
def segments(change=None, under_other_name=False):
    """P02's log in two files; `change(header of the second, header of the first, rename)`."""
    def build(directory):
        league = new_league().play()
        league.write(directory)
        path = directory / own_file(P02)
        lines = read_lines(path)
        cut = len(lines) // 2
        seq = max(line["seq"] for line in lines[:cut] if "seq" in line)
        header = Line(next(line for line in reversed(lines[:cut]) if "format" in line), segment=2, first_seq=seq + 1)
        first = [Line(line) for line in lines[:cut]]
        second = [header, *lines[cut:]]
        if change:
            change(first, second)
        old = path.with_name("P02.log.000001.jsonl")
        signer = league.logs[P02].signer
        one = Resealing(old, signer).write(first)
        if under_other_name:
            temporary = Line(header, agent="player:p02")
            second[0] = Line(header, continues="ab" * 32 if under_other_name == "wrong" else one.prev)
            one.prev, second = "0" * 64, [temporary, *second]
        Resealing(path, signer, one.prev, one.seq, "player:P02").write(second, renumber=True)
        return league
    return build


def renamed(name):
    def build(directory):
        league = segments()(directory)
        old = directory / "logs/agents/P02.log.000001.jsonl"
        old.rename(old.with_name(name))
        return league
    return build


add(Case("segment/two", "segment", [], segments(), short=True))
add(Case("segment/that-goes-on-an-older-log", "segment", [], segments(under_other_name="right")))
add(Case("segment/that-goes-on-another-log", "segment", [fault("chain.continues")], segments(under_other_name="wrong"), short=True))
add(Case("segment/missing", "segment", [fault("segment.missing")], renamed("P02.log.000002.jsonl"), short=True))


def packed(change=None, keeps_plain=False):
    """As `segments`, the closed one compressed; `change` makes other bytes of it."""
    def build(directory):
        league = segments()(directory)
        plain = directory / "logs/agents/P02.log.000001.jsonl"
        packed = gzip.compress(plain.read_bytes(), mtime=0)
        plain.with_name(plain.name + ".gz").write_bytes(change(packed) if change else packed)
        if not keeps_plain:
            plain.unlink()
        return league
    return build


def _packed_otherwise(packed):
    return gzip.compress(gzip.decompress(packed).replace(b"even", b"evil", 1), mtime=0)


UNREADABLE = ("logs/agents/P02.log.000001.jsonl.gz", 0)
add(Case("segment/compressed", "segment", [], packed(), short=True))
add(Case("segment/compressed-and-still-there", "segment", [], packed(lambda packed: packed[:40], keeps_plain=True)))
add(Case("segment/compressed-and-cut", "segment", [fault("file.unreadable", UNREADABLE)], packed(lambda packed: packed[:-9]), exact=False,
         short=True))
add(Case("segment/compressed-twice", "segment", [fault("file.unreadable", UNREADABLE)], packed(lambda packed: packed * 2), exact=False))
add(Case("segment/compressed-with-zeros-behind", "segment", [fault("file.unreadable", UNREADABLE)], packed(lambda packed: packed + b"\0" * 8),
         exact=False))
add(Case("segment/compressed-after-a-change", "segment", [fault("chain.hash")], packed(_packed_otherwise), exact=False, short=True))


def _number_three(first, second):
    first[0]["segment"] = 3


add(Case("segment/of-another-number", "segment", [fault("segment.number")], segments(_number_three), short=True))


# --- Who says what, and in which order ------------------------------------------------------------------------------
made("order", "report-of-another-referee", fault("authority.report", report_at(R1)), plan=lost_by("a", "GAME_INVITATION", "E009"),
     options=UNBOUND, short=True)(lambda league: _reported_by_another(league))


def _reported_by_another(league):
    """REF02 reports, in its own log and name, a match that REF01 played."""
    plan = league.plans[R1]
    other = next(r for r in league.referees if r != plan.referee)
    old, new = league.log(plan.referee), league.log(other)
    frame = league.reports(R1)[-1]
    frame.message["sender"] = f"referee:{other}"
    calls = {r["call"] for r in old.records() if r["message_type"] == "MATCH_RESULT_REPORT" and r["match_id"] == R1}
    moved = [r for r in old.records() if r["call"] in calls]
    old.items = [item for item in old.items if item not in moved]
    at = max(i for i, item in enumerate(new.items) if isinstance(item, log_builder.Header)) + 1
    for number, record in enumerate(moved):
        record["call"] = 900
        new.items.insert(at + number, record)
    for place in (at + len(moved), at):
        new.items.insert(place, log_builder.Seal(league.start_time))
    for record in league.find(MANAGER, match=R1):
        if record["peer"] == f"referee:{plan.referee}":
            record["peer"] = f"referee:{other}"
    told = {(log.agent, r["call"]) for log in league.logs.values() for r in log.records() if r["message_type"] == "GAME_OVER"}
    for log in league.logs.values():
        log.items = [item for item in log.items if not (isinstance(item, log_builder.Record) and item["match_id"] == R1
                                                        and (log.agent, item["call"]) in told)]


def sent_in_the_name_of(sender):
    def change(league):
        plan = league.plans[R1]
        for frame in {id(r.frame): r.frame for r in league.find(plan.a, "GAME_INVITATION", R1)}.values():
            frame.message["sender"] = sender
    return change


made("order", "invitation-in-the-name-of-a-player", fault("authority.sender"), fault("authority.peer"), options=UNBOUND, exact=False)(
    sent_in_the_name_of("player:P02"))


@made("order", "manager-sends-in-another-name", fault("authority.sender"), short=True)
def _other_name(league):
    record = league.find(MANAGER, "ROUND_COMPLETED", dir="out", kind="request")[-1]
    record.message.pop("log_head")
    record.own().message["sender"] = "league_manager:LM01"
    record["raw_sha256"] = log_builder.sha256_of(league.find(record["peer"], "ROUND_COMPLETED", dir="in")[-1].frame.raw())


@made("order", "news-of-the-manager-from-a-stranger", fault("authority.peer"), short=True)
def _other_peer(league):
    league.find("P02", "ROUND_COMPLETED", dir="in")[0]["peer"] = "player:P99"


def moved(agent, kind, match, nanoseconds, direction, occurrence=0):
    """The owner's log says another time on its clock."""
    def change(league):
        league.find(agent, kind, match, dir=direction)[occurrence]["mono_ns"] += nanoseconds
    return change


def of_referee(match, kind, nanoseconds, direction):
    return lambda league: moved(league.plans[match].referee, kind, match, nanoseconds, direction)(league)


SECOND = 10**9
made("order", "choice-before-join", fault("order.choice_before_join"), options=UNBOUND, short=True)(of_referee(R1, "GAME_JOIN_ACK", SECOND, "in"))
made("order", "over-before-report", fault("order.over_before_report"), short=True)(of_referee(R1, "GAME_OVER", -5 * 10**6, "out"))
made("order", "answer-before-call", fault("order.choice_before_call"), plan=lost_by("b", "CHOOSE_PARITY_CALL", "E001"))(
    of_referee(R1, "CHOOSE_PARITY_RESPONSE", -SECOND, "in"))


@made("order", "join-before-invitation", fault("order.join_before_invitation"), plan=lost_by("b", "GAME_INVITATION", "E009"))
def _join_before_invitation(league):
    of_referee(R1, "GAME_JOIN_ACK", -SECOND, "in")(league)
    report_of(league, R1)["result"]["details"]["replays"] = 1  # who has joined and is invited is played with again


@made("order", "asked-though-it-refused", fault("order.choice_after_refusal"), options=UNBOUND)
def _refused(league):
    plan = league.plans[R1]
    for frame in {id(r.frame): r.frame for r in league.find(plan.a, "GAME_JOIN_ACK", R1, dir="out")}.values():
        frame.message["accept"] = False


made("order", "report-before-choices", fault("order.report_before_choices"))(of_referee(R1, "MATCH_RESULT_REPORT", -6 * 10**6, "out"))


@made("order", "invitation-after-the-end", fault("order.after_end"), plan=lost_by("b", "GAME_INVITATION", "E009"))
def _invited_after_the_end(league):
    """Once more, behind GAME_OVER, a call that never arrives."""
    plan = league.plans[R1]
    log = league.log(plan.referee)
    failed = [r for r in log.records() if r["match_id"] == R1 and r["peer"] == f"player:{plan.b}" and r["message_type"] == "GAME_INVITATION"][-2:]
    over = [r for r in log.records() if r["match_id"] == R1 and r["message_type"] == "GAME_OVER"][-1]
    more = copy.deepcopy(failed)
    for record in more:
        record["call"], record["mono_ns"] = 800, over["mono_ns"] + 10**6
    at = log.items.index(over) + 2
    log.items[at:at] = more




@made("order", "asked-again-without-cause", fault("retry.without_cause"), options=UNBOUND, short=True)
def _again(league):
    repeat(league, 1)


@made("order", "asked-too-often", fault("retry.too_many"), fault("retry.without_cause"), options=UNBOUND, exact=False)
def _too_often(league):
    repeat(league, 7)


@made("order", "asked-seven-times-after-failures", fault("retry.too_many"), options=UNBOUND, short=True)
def _seven(league):
    """Six calls that never reached the player stand before the one that did."""
    plan = league.plans[R1]
    log = league.log(plan.referee)
    call, = [r for r in league.find(plan.referee, "CHOOSE_PARITY_CALL", R1) if r["peer"] == f"player:{plan.a}"]
    at = log.items.index(call)
    for n in range(6):
        failed, no_answer = copy.deepcopy(call), copy.deepcopy(call)
        failed["call"] = no_answer["call"] = 800 + n
        failed["mono_ns"] -= (12 - 2 * n) * 1000
        no_answer["mono_ns"] = failed["mono_ns"] + 1000
        no_answer.frame = None
        no_answer.fields.update(dir="in", kind="failure", verdict="E009", fault="nobody is there")
        log.items[at:at] = [failed, no_answer]
        at += 2


def repeat(league, times):
    """The call for a choice and its answer stand so many times more in the logs of both."""
    plan = league.plans[R1]
    for agent, peer in ((plan.referee, f"player:{plan.a}"), (plan.a, f"referee:{plan.referee}")):
        log = league.log(agent)
        both = [r for r in log.records() if r["match_id"] == R1 and r["peer"] == peer
                and r["message_type"] in ("CHOOSE_PARITY_CALL", "CHOOSE_PARITY_RESPONSE")]
        for n in range(times):
            more = copy.deepcopy(both)
            at = log.items.index(both[-1]) + 1
            for record in more:
                record["call"] = 800 + n
            log.items[at:at] = more


@made("order", "late-choice-is-taken", fault("deadline.late_choice"), options=UNBOUND, short=True)
def _late(league):
    plan = league.plans[R1]
    call, = [r for r in league.find(plan.referee, "CHOOSE_PARITY_CALL", R1) if r["peer"] == f"player:{plan.a}"]
    call.message["deadline"] = call.message["timestamp"]
    call["time"] = "2026-01-15T10:29:00" + call["time"][19:]


@made("order", "message-against-its-schema", fault("schema"), short=True)
def _schema(league):
    for frame in {id(r.frame): r.frame for r in league.find(MANAGER, "ROUND_COMPLETED", dir="out", kind="request")}.values():
        frame.message["matches_completed"] = "one"


# --- The fair clock -------------------------------------------------------------------------------------------------
def failures(change):
    return details_of(R1, lambda details: [change(failure) for failure in details["failures"]])


def later(text, seconds):
    return log_builder.log_time(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ") + timedelta(seconds=seconds))


TIMED_OUT = {"plan": lost_by("a", "CHOOSE_PARITY_CALL", "E001")}
made("clock", "no-proof", fault("clock.unproven", report_at(R1)), short=True, **TIMED_OUT)(failures(lambda one: one.pop("clock")))
made("clock", "wrong-mark", fault("clock.arithmetic", report_at(R1)), short=True, **TIMED_OUT)(
    failures(lambda one: one["clock"].update(scheduling_delay_us=10**6)))
made("clock", "lost-though-the-referee-was-late", fault("clock.void_loss", report_at(R1)), short=True, **TIMED_OUT)(
    failures(lambda one: one["clock"].update(scheduling_delay_us=10**6, void=True)))
LIMIT = fault("clock.limit", report_at(R1), R1)
for _limit, _expected in ((2_999, ()), (1_999, (LIMIT,)), (0, (LIMIT,)), (7_001, ()), (8_001, (LIMIT,)), (20_000, (LIMIT,))):
    made("clock", f"limit-of-{_limit}", *_expected, short=_limit == 20_000, **TIMED_OUT)(
        failures(lambda one, limit=_limit: one["clock"].update(limit_ms=limit)))
made("clock", "rest-of-the-time-in-a-later-call", **TIMED_OUT)(
    failures(lambda one: one["clock"].update(limit_ms=900, sent_at=later(one["clock"]["sent_at"], 4.1))))
made("clock", "replayed-too-often", fault("clock.replays", report_at(R1)), short=True)(details_of(R1, lambda details: details.update(replays=4)))


# --- The table and the journal --------------------------------------------------------------------------------------
def final_rows(change):
    def all_copies(league):
        for frame in {id(r.frame): r.frame for r in league.find(MANAGER, "LEAGUE_COMPLETED", dir="out")}.values():
            change(frame.message["final_standings"])
    return all_copies


for _key in ("points", "wins", "draws", "losses", "rank"):
    for _row in (0, 2):
        made("table", f"{_key}-of-row-{_row + 1}", fault("table.differs"), short=_key == "points" and _row == 0)(
            final_rows(lambda rows, key=_key, row=_row: rows[row].update({key: rows[row][key] + 1})))
made("table", "order", fault("table.differs"), exact=False)(final_rows(lambda rows: rows.reverse()))
made("table", "another-player", fault("table.players"), exact=False)(
    final_rows(lambda rows: [row.update(player_id="P09") for row in rows if row["player_id"] == "P03"]))


def voided_in_the_table(names):
    def all_copies(league):
        for frame in {id(r.frame): r.frame for r in league.find(MANAGER, "LEAGUE_COMPLETED", dir="out")}.values():
            frame.message["voided_matches"] = names
    return all_copies


for _name, _voided in (("a-match", ["R1M1"]), ("no-match", ["R9M9"])):
    made("table", f"leaves-out-{_name}-that-is-not-void", fault("table.voided"), exact=False, short=_name == "a-match")(voided_in_the_table(_voided))
made("table", "without-a-row", fault("table.players"), short=True)(final_rows(lambda rows: rows.pop()))


@made("table", "head-of-a-line-that-is-gone", fault("witness.head"), short=True)
def _rewritten(league):
    league.freeze()
    league.log(MANAGER).records()[0]["elapsed_us"] = 5


def kept_results(change):
    def files(directory):
        path = directory / "data" / "results.json"
        content = json.loads(path.read_text())
        text = change(content)
        path.write_text(text if isinstance(text, str) else json.dumps(content))
    return files


def journal(name, rule, change, **more):
    made("journal", name, fault(rule), files=kept_results(change), **more)(None)


def void_in_the_journal(content):
    content["voided"] = [{"match_id": "R1M1", "by": "Ann", "reason": "hung"}]


made("journal", "void-match-that-the-table-counts", fault("table.voided"), incident("match.voided", None, "R1M1 is void, by Ann (hung)"),
     files=kept_results(void_in_the_journal), short=True)(None)


def void_everywhere(league):
    whole = league.results
    league.results = {match: plan for match, plan in whole.items() if match != "R1M1"}
    rows = league.standings()
    league.results = whole
    final_rows(lambda old: old.__setitem__(slice(None), rows))(league)
    voided_in_the_table(["R1M1"])(league)


made("journal", "void-match", incident("match.voided", None, "R1M1 is void, by Ann (hung)"), files=kept_results(void_in_the_journal), short=True)(void_everywhere)
made("journal", "void-match-without-the-journal", incident("match.voided"), files=lambda directory: (directory / "data" / "results.json").unlink(),
     arguments=("--without", "journal"))(void_everywhere)

EVEN_ODD = json.loads((Path(__file__).resolve().parents[2] / "games" / "even_odd.json").read_text())
OTHER = {"A": "B", "B": "A", "DRAW": "A", "NONE": "A"}
for _at in range(3):
    journal(f"other-result-{_at}", "journal.differs", lambda content, at=_at: content["results"][at].update(
        outcome=OTHER[content["results"][at]["outcome"]]), short=_at == 0)
    journal(f"without-result-{_at}", "journal.missing", lambda content, at=_at: content["results"].pop(at) and None, short=_at == 0)
    journal(f"result-twice-{_at}", "journal.twice", lambda content, at=_at: content["results"].append(content["results"][at]), short=_at == 0)
for _name, _text in (("empty", ""), ("no-json", "hello"), ("list", "[]"), ("other", '{"format":"x"}'),
                     ("results-text", '{"format":"league.results","results":"x"}'),
                     ("row-text", '{"format":"league.results","results":["x"]}'), ("null", "null")):
    journal(f"damaged-{_name}", "journal.damaged", lambda content, text=_text: text or " ", short=_name == "no-json")
for _name, _change in (
        ("points-256", lambda row: row.update(points={"A": 256, "B": 0})), ("points-negative", lambda row: row.update(points={"A": 3, "B": -1})),
        ("points-huge", lambda row: row.update(points={"A": 1 << 70, "B": 0})), ("points-text", lambda row: row.update(points="3:0")),
        ("points-one", lambda row: row.update(points={"A": 1})), ("points-of-no-match", lambda row: row.update(points={"A": 2, "B": 2})),
        ("points-of-another-outcome", lambda row: row.update(outcome="A", points={"A": 0, "B": 3})),
        ("points-of-a-loss", lambda row: row.update(by="MANAGER", outcome="A", points={"A": 1, "B": 1}))):
    journal(f"damaged-{_name}", "journal.damaged", lambda content, change=_change: change(content["results"][0]), short=_name == "points-256")
for _name, _game in (("text", "x"), ("payoff-101", {"technical": {"winner": 101, "loser": 0, "both": 0}}), ("more", {"more": 1}),
                     ("words", {"choices": ["even"] * 20_000})):
    journal(f"damaged-game-{_name}", "journal.damaged", lambda content, game=_game: content.update(
        game=EVEN_ODD | game if isinstance(game, dict) else game), short=_name == "words")
for _at, _results in (("now", 0), ("2026-01-01T00:00:00Z", 99), ("2026-01-01T00:00:00Z", "x")):
    journal(f"damaged-given-up-{_results}", "journal.damaged", lambda content, at=_at, results=_results: content.update(
        given_up=[{"at": at, "text": "x", "results": results}]))


def _result_without_report(league):
    """The journal has a result of which no log has a report, and nobody was told."""
    for log in league.logs.values():
        calls = {r["call"] for r in log.records() if r["message_type"] in ("MATCH_RESULT_REPORT", "GAME_OVER") and r["match_id"] == "R3M1"}
        log.items = [i for i in log.items if not (isinstance(i, log_builder.Record) and i["call"] in calls)]


made("journal", "result-without-report", fault("journal.unlogged"), short=True)(_result_without_report)


# --- The game ---------------------------------------------------------------------------------------------------------
def _another_game_for_one(league):
    """The manager tells one player that failing costs less than the others know."""
    other = {**EVEN_ODD, "technical": {"winner": 2, "loser": 0, "both": 0}}
    for agent in league.logs:
        for record in league.log(agent).records():
            message = record.message
            if isinstance(message, dict) and str(message.get("message_type")).endswith("REGISTER_RESPONSE"):
                message["game"] = other if message.get("player_id") == "P02" else EVEN_ODD


made("record", "another-game-for-one", fault("game.differs"), short=True)(_another_game_for_one)
