"""The end of a log: what a killed program leaves, and what its owner cut off."""

from datetime import datetime, timedelta

import log_builder
from cases import MANAGER, fault, incident, last_record, made, missing, report_at
from clean import asked, before_end, call_of
from commitments import lost_by
from lies import R1, report_of


def late_news(span, quiet=0):
    """After the last match nothing is said for `quiet` seconds; the end of the league comes `span` seconds after that of
    the round."""
    def plan(league):
        of_round, of_league = league.end_round, league.finish

        def end_round(number, last):
            league.tick(quiet * 1000 if last else 1)
            of_round(number, last)

        def finish(count):
            league.tick(span * 1000)
            of_league(count)
        league.end_round, league.finish = end_round, finish
    return plan


def ends_after_matches(agent, seal=True):
    """Everything after the last GAME_OVER and its answer is gone; with a seal behind it, or only that of the round."""
    def change(league):
        items = league.log(agent).items
        last = max(i for i, item in enumerate(items) if isinstance(item, log_builder.Record) and item["match_id"])
        del items[last + 1:]
        if seal:
            items.append(log_builder.Seal(league.now, False))
    return change


made("end", "hour-is-missing", fault("log.short", last_record("player:P02")), plan=late_news(3600), short=True)(
    ends_after_matches("player:P02"))
made("end", "six-seconds-are-missing", fault("log.short", last_record("player:P02")), plan=late_news(6))(
    ends_after_matches("player:P02"))
made("end", "six-seconds-of-a-referee-are-missing", fault("log.short", last_record("referee:REF01")), plan=late_news(6))(
    ends_after_matches("referee:REF01"))
made("end", "hour-is-missing-unsealed", fault("log.short", last_record("player:P02")), plan=late_news(3600))(
    ends_after_matches("player:P02", seal=False))
made("end", "killed", incident("log.tail_lost"), plan=late_news(1), short=True)(ends_after_matches("player:P02", seal=False))
made("end", "killed-sealed-till-there", incident("log.tail_lost"), plan=late_news(2))(ends_after_matches("player:P02"))
made("end", "killed-after-a-quiet-hour", incident("log.tail_lost"), plan=late_news(1, quiet=3600))(
    ends_after_matches("player:P02", seal=False))
made("end", "killed-referee", incident("log.tail_lost"), plan=late_news(2))(ends_after_matches("referee:REF02", seal=False))


def closes_after_matches(agent):
    """It says that it ended in order, but others got answers of it later."""
    def change(league):
        ends_after_matches(agent, seal=False)(league)
        league.log(agent).items.append(log_builder.Seal(league.now, True))
    return change


made("end", "closed-too-early", fault("transfer.one_sided"), plan=late_news(1), short=True)(closes_after_matches("player:P02"))
made("end", "closed-an-hour-too-early", fault("transfer.one_sided"), plan=late_news(3600))(closes_after_matches("player:P03"))


@made("end", "last-round-is-missing", fault("log.short", last_record("player:P02")), plan=late_news(3600), exact=False)
def _last_round(league):
    items = league.log("player:P02").items
    last = max(i for i, item in enumerate(items) if isinstance(item, log_builder.Record) and item["match_id"] and item["match_id"] < "R3")
    del items[last + 1:]
    items.append(log_builder.Seal(league.now, False))


def next_run(league, agent, created):
    """The header that the agent's next process writes."""
    return log_builder.Header(agent, league.log(agent).signer.public_key, created=created, starts=True,
                              league_id=league.league_id, **league.identity())


def second_run(seconds):
    """The player is killed, starts again `seconds` later, and goes on; what it lost lies between."""
    def change(league):
        log = league.log("player:P02")
        at = next(i for i, item in enumerate(log.items) if isinstance(item, log_builder.Record)
                  and item["message_type"] == "LEAGUE_STANDINGS_UPDATE" and item["dir"] == "in")
        lost = [i for i in range(at, len(log.items)) if isinstance(log.items[i], log_builder.Record)][:4]
        for i in reversed(lost):
            del log.items[i]
        log.items.insert(at, next_run(league, "player:P02", league.start_time + timedelta(seconds=seconds)))
    return change


made("end", "killed-and-started-again", incident("log.tail_lost"))(second_run(2))
made("end", "started-again-without-loss", )(lambda league: league.log("player:P02").items.insert(
    4, next_run(league, "player:P02", league.now)))


def instant_of(record):
    return datetime.fromisoformat(record["time"].replace("Z", "+00:00"))


def starts_again_at(league, agent, wanted):
    """A second process of the agent begins with the first record that is wanted; returns where its header stands."""
    log = league.log(agent)
    at = next(i for i, item in enumerate(log.items) if isinstance(item, log_builder.Record) and wanted(item))
    log.items.insert(at, next_run(league, agent, instant_of(log.items[at]) - timedelta(milliseconds=1)))
    return at


@made("end", "killed-before-its-first-record", incident("log.tail_lost"), short=True)
def _only_a_header(league):
    items = league.log("player:P02").items
    at = starts_again_at(league, "player:P02", lambda record: record["message_type"] == "GAME_INVITATION")
    items[:at] = [item for item in items[:at] if isinstance(item, log_builder.Header)]


@made("end", "killed-in-a-match-that-it-then-finished", incident("log.tail_lost"), short=True)
def _lost_invitation(league):
    items = league.log("player:P02").items
    at = starts_again_at(league, "player:P02", lambda record: record["message_type"] == "CHOOSE_PARITY_CALL")
    match = items[at + 1]["match_id"]
    items[:at] = [item for item in items[:at] if not (isinstance(item, log_builder.Record) and item["match_id"] == match)]


@made("end", "killed-referee-that-had-not-recorded-the-answer", incident("log.tail_lost"), short=True)
def _lost_answer(league):
    """An answer is recorded when it has been dealt with: behind the call that it led to."""
    items = league.log("referee:REF01").items
    call = max(i for i, item in enumerate(items) if isinstance(item, log_builder.Record) and item["message_type"] == "CHOOSE_PARITY_CALL")
    del items[call + 1:]
    match, peer = items[call]["match_id"], items[call]["peer"]
    joined = next(item for item in items if isinstance(item, log_builder.Record) and item["match_id"] == match
                  and item["peer"] == peer and item["message_type"] == "GAME_JOIN_ACK")
    items.remove(joined)


@made("end", "killed-referee-whose-next-call-fails", plan=lost_by("a", "GAME_INVITATION", "E009"), short=True)
def _lost_failure(league):
    """The kill loses the first call's failure; the second call fails, too, which is the reason for the third."""
    agent = f"referee:{league.plans[R1].referee}"
    items = league.log(agent).items
    first, failure, second = [i for i, item in enumerate(items) if isinstance(item, log_builder.Record)
                              and item["match_id"] == R1 and item["peer"] == f"player:{league.plans[R1].a}"][:3]
    items.insert(second, next_run(league, agent, instant_of(items[second]) - timedelta(milliseconds=1)))
    del items[failure]


@made("end", "killed-referee-that-forgot-a-commitment", incident("commitment.forgotten", report_at(R1), "REF0"), short=True,
      plan=lost_by("a", "CHOOSE_PARITY_CALL", "E009"))
def _forgotten(league):
    """Its next process reports the loss of a player that cannot be reached, and knows nothing of what the one before handed over."""
    plan = league.plans[R1]
    agent = f"referee:{plan.referee}"
    items = league.log(agent).items
    at = next(i for i, item in enumerate(items) if isinstance(item, log_builder.Record) and item["match_id"] == R1
              and item["peer"] == f"player:{plan.a}" and item["message_type"] == "CHOOSE_PARITY_CALL")
    items.insert(at, next_run(league, agent, instant_of(items[at]) - timedelta(milliseconds=1)))
    del report_of(league, R1)["result"]["details"]["choice_commitments"][plan.a]


PONG = {"jsonrpc": "2.0", "id": 9, "result": {"status": "ok"}}


@made("end", "killed-between-two-answers-that-are-alike", incident("log.tail_lost"), short=True,
      plan=before_end(lambda league: league.tick(5000), lambda league: asked(league, "player:P02", call_of("ping", {}), PONG)))
def _alike(league):
    """The first of them is lost; the second one must not tell how far the clocks are apart."""
    manager = league.log(MANAGER)
    lost_from = max(i for i, item in enumerate(manager.items) if isinstance(item, log_builder.Record)
                    and item["message_type"] == "LEAGUE_STANDINGS_UPDATE" and item["peer"] == "player:P02")
    second_run(2)(league)
    when = manager.items[lost_from]["time"]
    asked = manager.next_call()
    league.note(MANAGER, "out", "request", "player:P02", log_builder.Frame(call_of("ping", {})), asked)
    league.note(MANAGER, "in", "reply", "player:P02", log_builder.Frame(PONG), asked, http_status=200)
    for record in manager.items[-2:]:
        record["time"] = when
    manager.items[lost_from + 1:lost_from + 1] = [manager.items.pop(-2), manager.items.pop()]
