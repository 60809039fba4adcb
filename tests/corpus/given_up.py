"""Leagues that went on from an older copy of their journal (`--accept-loss` of earlier versions): what was played since that copy
was made is played again. With the note in the journal nobody is accused; without it there are two histories, as before."""

import copy
import json
import random
from datetime import datetime, timedelta

import log_builder
from cases import MANAGER, fault, incident, made
from clean import disputes
from lies import report_of

NOTE = ("data/results.json", 0)
TEXT = "journal.mark names entry 22"


def note_of(league, kept):
    """Stands in the journal from now on: the operator has `kept` results and no more."""
    league.tick(2000)
    league.given_up = [*getattr(league, "given_up", []), {"at": log_builder.log_time(league.now), "text": TEXT, "results": kept}]
    league.tick(20)


def again(league, plan, by_another=True):
    """Other choices and nonces, since nothing of the old play binds the players, and another referee."""
    chance = random.Random(f"{league.now} {plan.match}")
    plan.choices = {player: chance.choice(("even", "odd")) for player in plan.players}
    plan.nonces = {player: chance.randbytes(32).hex() for player in plan.players}
    if by_another:
        plan.referee = next(referee for referee in league.referees if referee != plan.referee)
    league.results.pop(plan.match, None)
    return chance


def slow_down(records, clock):
    """The clock of who wrote them is so late."""
    for record in records:
        at = datetime.strptime(record["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
        record["time"] = log_builder.log_time(at - clock)


def lengths(league):
    return {player: len(league.log(player).items) for player in league.players}


def records_since(league, before):
    return [item for player, first in before.items() for item in league.log(player).items[first:]
            if isinstance(item, log_builder.Record)]


def played_again(*kept, noted=True, told_end=True, by_another=True, keeps_running=False, before=None, clock=timedelta()):
    """Before the league ends all rounds after the first so many are begun again, with new seeds; for each number once more.
    `keeps_running`: a referee goes on with the old play of each match until it hears of the new one. `before(league)` happens
    before the first note. `clock`: that of the players is so late."""
    def change(league):
        finish, seal_all, results_json = league.finish, league.seal_all, league.results_json

        def go_on_from(number, count):
            log = league.log(MANAGER)
            if noted:
                note_of(league, number)
            log.items.append(log_builder.Header(MANAGER, log.signer.public_key, created=league.tick(), starts=True,
                                                league_id=league.league_id, **league.identity()))
            for plan in list(league.plans.values())[number:]:
                old = copy.deepcopy(plan)
                plan.seed = again(league, plan, by_another).randbytes(32)
                league.announce(plan.round_id)
                if keeps_running:
                    league.play_attempt(old, 1, old.referee)
                league.play_match(plan)
                league.end_round(plan.round_id, plan.round_id == count)

        def finish_again(count):
            if before:
                before(league)
            lines = lengths(league)
            for number in kept:
                if told_end:
                    league.seal_all = lambda *_, **__: None
                    finish(count)
                    league.seal_all = seal_all
                go_on_from(number, count)
            slow_down(records_since(league, lines), clock)
            finish(count)
        league.finish = finish_again
        league.results_json = lambda: {**results_json(), **({"given_up": league.given_up} if noted else {})}
    return change


def late_news(league):
    """P01 was told the end of R2M1, or of R3M1, only after the manager was back."""
    for match in ("R2M1", "R3M1"):
        for record in league.find("P01", "GAME_OVER", match, dir="in", kind="request"):
            slow_down([record], timedelta(seconds=-3))


for _kept in range(3):
    made("given-up", f"all-but-{_kept}", incident("journal.given_up", NOTE, TEXT, f"no longer count ({3 - _kept})", "R3M1 ("),
         plan=played_again(_kept), short=_kept == 1)(None)
made("given-up", "before-the-end", incident("journal.given_up", NOTE, TEXT), plan=played_again(1, told_end=False))(None)
made("given-up", "by-a-late-clock", incident("journal.given_up", NOTE, TEXT),
     plan=played_again(1, told_end=False, clock=timedelta(milliseconds=90)))(None)
made("given-up", "while-a-referee-keeps-running", incident("journal.given_up", NOTE, TEXT),
     plan=played_again(1, by_another=False, keeps_running=True))(None)
made("given-up", "while-news-is-on-its-way", incident("journal.given_up", NOTE, TEXT),
     plan=played_again(1, by_another=False, before=late_news))(None)
made("given-up", "what-was-disputed", incident("journal.given_up", NOTE, TEXT), plan=played_again(1, before=disputes("P01", "R2M1")))(None)
made("given-up", "nothing", incident("journal.given_up", NOTE, "no longer count (0)"), plan=played_again(3))(None)
made("given-up", "without-a-note", fault("draw.commitment"), plan=played_again(1, noted=False),
     exact=False, same_places=False, short=True)(None)
for _first, _second in ((0, 1), (1, 0), (1, 1), (2, 1)):
    made("given-up", f"all-but-{_first}-then-all-but-{_second}", incident("journal.given_up", NOTE, f"no longer count ({3 - _second})"),
         plan=played_again(_first, _second), short=_first == 0)(None)


def _other_winner(league):
    """The new report of R2M1 gives the match to somebody else than its number does."""
    report = report_of(league, "R2M1")["result"]
    a, b = league.plans["R2M1"].players
    loser = b if report["winner"] == a else a
    report["winner"], report["score"] = loser, {p: 3 if p == loser else 0 for p in (a, b)}


made("given-up", "a-lie-since", incident("journal.given_up", NOTE), fault("draw.winner"), plan=played_again(1), exact=False, short=True)(
    _other_winner)


def _old_lie(league):
    """The report of R2M1 that does not count any more is false; that of R1M1, which was kept, is right."""
    report = league.reports("R2M1")[0].message["result"]["details"]
    report["draw_proof"] = "00" * 32


made("given-up", "a-lie-before", incident("journal.given_up", NOTE), plan=played_again(1))(_old_lie)


def _kept_lie(league):
    league.reports("R1M1")[0].message["result"]["details"]["draw_proof"] = "00" * 32


made("given-up", "a-lie-that-was-kept", incident("journal.given_up", NOTE), fault("draw.proof"), plan=played_again(1), exact=False)(_kept_lie)


def same_round(noted=True, attempt=2, reported=True, begins_again=True, clock=timedelta()):
    """Of four players the second match of the first round is played again, with the seed that the journal still has; a
    referee that was started again may take it for the attempt that it was. Unless it `begins_again` its
    referee kept running: it has played the match already, and reports it to the manager that came back. `clock`: that of the
    players is so late."""
    def change(league):
        play_match, results_json = league.play_match, league.results_json

        def replay(plan):
            if plan.match != "R1M2":
                return play_match(plan)
            if reported:
                play_match(plan)
            else:
                league.play_attempt(plan, attempt, plan.referee)
            if noted:
                note_of(league, 1)
            if begins_again:
                again(league, plan)
            lines = lengths(league)
            league.assign(plan.referee, 1, [league.assignment(plan, attempt, plan.referee)])
            if begins_again:
                league.play_attempt(plan, attempt, plan.referee)
            league.report(plan, attempt, plan.referee)
            slow_down(records_since(league, lines), clock)
            return None
        league.play_match = replay
        league.results_json = lambda: {**results_json(), **({"given_up": league.given_up} if noted else {})}
    return change


def in_same_round(name, *expected, files=None, short=False, exact=True, **more):
    made("given-up", f"in-the-same-round-{name}", *expected, options={"players": 4}, plan=same_round(**more), files=files, exact=exact,
         short=short)(None)


def files_of_then(at):
    """The files of a player and a referee that kept running have a result that nobody else has."""
    def files(directory):
        key = json.loads((directory / "logs/league/league_test/league.log.jsonl").open().readline())["league_key"]
        row = {"league_id": "league_test", "league_key": key, "match_id": "R1M2", "opponent_id": "P09", "result": "NONE", "drawn_number": 3}
        for player in ("P01", "P02", "P03", "P04"):
            path = directory / "data" / "players" / player / "history.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"player_id": player, "matches": [row]}))
        report = next(json.loads(record["raw"])["params"] for path in directory.glob("logs/league/*/*.jsonl")
                      for record in map(json.loads, path.read_text().split("\n")[:-1])
                      if record.get("message_type") == "MATCH_RESULT_REPORT" and record["match_id"] == "R1M2")
        path = directory / "data" / "matches" / "league_test" / "R1M2.json"
        path.parent.mkdir(parents=True)
        promise = log_builder.draw_commitment(bytes.fromhex(report["result"]["details"]["draw_proof"]), "R1M2")
        path.write_text(json.dumps({
            "league_id": "league_test", "league_key": key, "match_id": "R1M2", "state": "FINISHED", "attempt": 1, "draw_commitment": promise,
            "result": {**report["result"], "winner": "P09"}, "lifecycle": [{"state": "FINISHED", "at": at}]}))
    return files


GIVEN_UP = incident("journal.given_up", NOTE, "R1M2 (")
for _attempt in (1, 2):
    in_same_round(f"as-attempt-{_attempt}", GIVEN_UP, attempt=_attempt, short=_attempt == 2)
in_same_round("by-a-late-clock", GIVEN_UP, clock=timedelta(milliseconds=90))
in_same_round("reported-since", incident("journal.given_up", NOTE, "no longer count (0)"), attempt=1, reported=False, begins_again=False,
              short=True)
in_same_round("invited-again", incident("journal.given_up", NOTE, "no longer count (0)"), attempt=1, reported=False)
in_same_round("with-files-of-then", GIVEN_UP, attempt=1, files=files_of_then("2026-01-15T10:30:00Z"), short=True)
in_same_round("with-files-of-now", GIVEN_UP, fault("projection.match"), attempt=1, files=files_of_then("2027-01-15T10:30:00Z"))
in_same_round("without-a-note", fault("commitment.second"), noted=False, exact=False)
