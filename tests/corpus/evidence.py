"""Evidence that is not there: logs, seals, the journal, the end of a log. Missing is not false, and what is said to be kept
elsewhere is not missing."""

import hashlib
import json
import shutil
from datetime import datetime, timedelta

import log_builder
from cases import (Case, MANAGER, add, fault, incident, last_record, lines_of, made, missing, new_league, own_file, put_lines,
                   report_at, seal_file)
from clean import asked, before_end, call_of
from commitments import lost_by
from lies import R1, report_of
from resealing import Line, Resealing

AGENTS = (MANAGER, "referee:REF01", "referee:REF02", "player:P01", "player:P02", "player:P03")


def short_name(agent):
    return agent.split(":")[-1]


def without(*paths):
    def files(directory):
        for path in paths:
            target = directory / path
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    return files


MANIFEST = ("MANIFEST.json", 0)


def manifest(*left_out, change=None):
    """`change(list of files)` makes the list another one than that of the files that are there; without it there is none."""
    def files(directory):
        content = {"format": "league.bundle", "left_out": list(left_out)}
        if change:
            paths = sorted(path for path in directory.rglob("*") if path.is_file())
            content["files"] = [{"path": str(path.relative_to(directory)), "bytes": path.stat().st_size,
                                 "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in paths]
            change(content["files"])
        (directory / "MANIFEST.json").write_text(json.dumps(content))
    return files


def both(*steps):
    def files(directory):
        for step in steps:
            step(directory)
    return files


# --- Whole logs -----------------------------------------------------------------------------------------------------
for _agent in AGENTS:
    _gone = without(own_file(_agent), seal_file(_agent))
    _id = short_name(_agent)
    made("absent", f"log-{_id}", missing("log.absent", (own_file(_agent), 0), _id), files=_gone, short=_id == "P03")(None)
    made("absent", f"log-{_id}-kept-elsewhere", files=_gone, arguments=("--without", _id), short=_id == "P03")(None)
    made("absent", f"log-{_id}-but-the-seal", fault("log.missing", (own_file(_agent), 0)), files=without(own_file(_agent)),
         short=_id == "P01")(None)
    for _how, _entry in (("left-out", {"what": own_file(_agent), "why": "not ours"}),
                         ("left-out-by-agent", {"agent": _id, "what": "its log", "why": "x"})):
        made("absent", f"log-{_id}-{_how}", missing("log.absent", (own_file(_agent), 0)), missing("bundle.left_out", MANIFEST),
             files=both(_gone, manifest(_entry)), short=_id == "P03")(None)
        made("absent", f"log-{_id}-{_how}-and-named", files=both(_gone, manifest(_entry)), arguments=("--without", _id))(None)
    if _id != "P01":
        made("absent", f"log-{_id}-another-is-left-out", missing("log.absent", (own_file(_agent), 0)), missing("bundle.left_out", MANIFEST),
             files=both(_gone, manifest({"what": "logs/agents/P01.log.jsonl", "why": "not ours"})))(None)
        made("absent", f"log-{_id}-without-another", missing("log.absent", (own_file(_agent), 0)), files=_gone,
             arguments=("--without", "P01"))(None)

made("absent", "log-P03-of-format-3", missing("log.absent", (own_file("player:P03"), 0), "P03"), files=without(own_file("player:P03"), seal_file("player:P03")),
     options={"version": 3}, short=True)(None)

_PLAYERS = ("player:P01", "player:P02", "player:P03")
_REFEREES = ("referee:REF01", "referee:REF02")


def gone(agents):
    return without(*(path for agent in agents for path in (own_file(agent), seal_file(agent))))


for _name, _agents in (("players", _PLAYERS), ("referees", _REFEREES), ("agents", _PLAYERS + _REFEREES)):
    made("absent", f"all-{_name}", *(missing("log.absent", (own_file(agent), 0)) for agent in _agents), files=gone(_agents))(None)
    made("absent", f"all-{_name}-kept-elsewhere", files=gone(_agents),
         arguments=("--without", ",".join(short_name(agent) for agent in _agents)))(None)
    made("absent", f"all-{_name}-but-the-first-kept-elsewhere", missing("log.absent", (own_file(_agents[0]), 0)),
         files=gone(_agents), arguments=("--without", ",".join(short_name(agent) for agent in _agents[1:])))(None)

made("absent", "journal", missing("journal.absent", ("data/journal/journal.sqlite", 0)), files=without("data/results.json"),
     short=True)(None)
made("absent", "data", missing("journal.absent", ("data/journal/journal.sqlite", 0)), files=without("data"))(None)
made("absent", "journal-kept-elsewhere", files=without("data"), arguments=("--without", "journal"))(None)
made("absent", "journal-and-log", missing("journal.absent"), missing("log.absent", (own_file("player:P02"), 0)),
     files=both(without("data"), gone(["player:P02"])))(None)
made("absent", "journal-and-log-kept-elsewhere", files=both(without("data"), gone(["player:P02"])),
     arguments=("--without", "journal,P02"))(None)
made("absent", "all-but-data", missing("log.absent"), files=without("logs"), exact=False, same_places=False)(None)


# --- What a bundle says of itself ------------------------------------------------------------------------------------
SECRETS = {"name": "secrets", "what": "data/agents/", "why": "tokens and private keys"}
for _name, _without in (("nothing", None), ("another", "tokens"), ("its-name", "secrets"), ("its-text", "data/agents/")):
    made("bundle", f"leaves-something-out-and-the-caller-names-{_name}", *([missing("bundle.left_out", MANIFEST, "tokens and private keys")]
                                                                         if _name in ("nothing", "another") else []),
         files=manifest(SECRETS), arguments=("--without", _without) if _without else (), short=_name in ("nothing", "its-name"))(None)
made("bundle", "as-listed", files=manifest(change=lambda files: None), short=True)(None)
made("bundle", "without-a-file", missing("bundle.file", ("data/players/P09/history.json", 0)), short=True,
     files=manifest(change=lambda files: files.append({"path": "data/players/P09/history.json", "bytes": 1, "sha256": "ab" * 32})))(None)
made("bundle", "with-another-file", missing("bundle.file", ("data/results.json", 0)),
     files=manifest(change=lambda files: files.pop(0)))(None)
made("bundle", "with-a-file-of-another-digest", fault("bundle.differs", ("data/results.json", 0)), short=True,
     files=manifest(change=lambda files: files[0].update(sha256="ab" * 32)))(None)
for _name, _text in (("no-json", "{"), ("list", "[]"), ("empty", "")):
    made("bundle", f"manifest-{_name}", fault("bundle.differs", MANIFEST),
         files=lambda directory, text=_text: (directory / "MANIFEST.json").write_text(text))(None)
for _key in ("files", "left_out", "redacted_lines"):
    for _name, _value in (("text", "x"), ("list", [None, 5, "x", []]), ("rows", [{"path": 5, "what": 5, "file": 5, "line": "x"}])):
        made("bundle", f"{_key}-is-a-{_name}", agree_only=True, files=lambda directory, key=_key, value=_value: (
            directory / "MANIFEST.json").write_text(json.dumps({key: value})))(None)


# --- A log that names the league and holds nothing of it ------------------------------------------------------------
def only_its_beginning(agent):
    def files(directory):
        path = directory / own_file(agent)
        lines = lines_of(path)
        second, = [at for at, line in enumerate(lines) if at > 0 and line.startswith(b'{"format"')]
        put_lines(path, lines[:second + 1])
        (directory / seal_file(agent)).unlink()
    return files


made("absent", "all-but-the-names-in-the-log-of-P03", files=only_its_beginning("player:P03"), short=True)(None)


# --- Lines that were masked when a bundle was packed -----------------------------------------------------------------
def changed_lines(agent, *numbers, listed):
    """`listed`: the numbers of the lines that the MANIFEST names."""
    def files(directory):
        path = directory / own_file(agent)
        lines = lines_of(path)
        for number in numbers:
            line = lines[number - 1].replace(b'"transport":"http"', b'"transport":"HTTP"')
            assert line != lines[number - 1], line
            lines[number - 1] = line
        put_lines(path, lines)
        entries = [{"file": own_file(agent), "line": number} for number in listed]
        (directory / "MANIFEST.json").write_text(json.dumps({"format": "league.bundle", "redacted_lines": entries}))
    return files


for _agent, _line in (("player:P02", 10), (MANAGER, 23)):
    made("masked", f"line-of-{short_name(_agent)}", missing("line.masked", (own_file(_agent), _line)),
         files=changed_lines(_agent, _line, listed=[_line]), short=_agent == MANAGER)(None)
made("masked", "another-line-was-changed-too", missing("line.masked", (own_file("player:P02"), 10)),
     fault("chain.hash", (own_file("player:P02"), 11)), files=changed_lines("player:P02", 10, 11, listed=[10]), short=True)(None)
made("masked", "only-another-line-is-listed", fault("chain.hash", (own_file("player:P02"), 10)),
     files=changed_lines("player:P02", 10, listed=[9, 11, -10, "10", None]))(None)
made("masked", "nothing-was-changed", files=changed_lines("player:P02", listed=[10]))(None)


# --- Bots without a key ---------------------------------------------------------------------------------------------
def unregistered_key(league, agent):
    """The agent never registered a log key, and keeps no log."""
    for record in league.find(agent, dir="out", kind="request"):
        if (record["message_type"] or "").endswith("REGISTER_REQUEST"):
            meta = record.message.get("player_meta") or record.message.get("referee_meta")
            meta.pop("log_public_key")
    del league.logs[league.log(agent).agent]


for _agent in AGENTS[1:]:
    made("absent", f"bot-{short_name(_agent)}-without-log")(
        lambda league, agent=_agent: unregistered_key(league, agent))


@made("absent", "all-players-are-bots-without-logs", short=True)
def _bots(league):
    for agent in _PLAYERS:
        unregistered_key(league, agent)


@made("absent", "key-of-another", fault("key.unregistered"), short=True)
def _other_key(league):
    log = league.logs["player:P02"]
    log.signer = log_builder.Signer("somebody else")
    for item in log.items:
        if isinstance(item, log_builder.Header):
            item.key = log.signer.public_key


# --- The end of a log -----------------------------------------------------------------------------------------------
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


# --- A match that a player's log does not have -----------------------------------------------------------------------
def forgotten(agent, match, *types):
    """Its owner left these messages of one match and their answers out of its log."""
    def change(league):
        log = league.log(agent)
        calls = {record["call"] for record in log.records() if record["match_id"] == match and record["message_type"] in types}
        log.items = [item for item in log.items if not (isinstance(item, log_builder.Record) and item["match_id"] == match
                                                        and item["call"] in calls)]
    return change


def of_player(player):
    def plan(league):
        plan.match = next(p.match for p in league.plans.values() if player in p.players)
    return plan


for _type in ("GAME_INVITATION", "CHOOSE_PARITY_CALL"):
    made("absent", f"{_type.lower()}-of-a-played-match", missing("choice.absent", None, "R1M1"), exact=False,
         plan=lambda league: [p.commits.clear() for p in league.plans.values()])(
             lambda league, kind=_type: forgotten(f"player:{league.plans['R1M1'].a}", "R1M1", kind)(league))


def _never_asked(league):
    """A referee that keeps no log reports a choice for which it never asked."""
    player, referee = league.plans["R1M1"].a, league.plans["R1M1"].referee
    forgotten(f"player:{player}", "R1M1", "CHOOSE_PARITY_CALL", "CHOOSE_PARITY_RESPONSE")(league)
    unregistered_key(league, f"referee:{referee}")


made("absent", "call-of-a-played-match", missing("choice.absent", report_at("R1M1"), "R1M1"), options={"commitments": False}, short=True)(
    _never_asked)


# --- A run that was killed before its first seal ----------------------------------------------------------------------
def _killed_after_restart(directory):
    """P02 ended in order, came back, and was killed at once: the seal of its first end is still the newest."""
    league = new_league().play()
    league.write(directory)
    path = directory / own_file("player:P02")
    prev = json.loads(path.read_bytes().splitlines()[-1])["hash"]
    path.rename(path.with_name("P02.log.000001.jsonl"))
    kept = json.loads((directory / seal_file("player:P02")).read_text())
    header = Line({"format": "league.conversation-log", "version": 2, "agent": "player:P02", "league_id": league.league_id, **league.identity(),
                   "created": log_builder.log_time(league.tick(10_000)), "segment": 2, "first_seq": kept["seal"] + 1,
                   "public_key": kept["public_key"], "starts": True})
    Resealing(path, None, prev, kept["seal"], "player:P02").write([header], renumber=False)
    return league


add(Case("end/killed-right-after-a-restart", "end", [], _killed_after_restart))
