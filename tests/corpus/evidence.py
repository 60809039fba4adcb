"""Evidence that is not there: logs, seals, the journal. Missing is not false, and what is said to be kept
elsewhere is not missing."""

import hashlib
import json
import shutil

import log_builder
from cases import (Case, MANAGER, add, fault, lines_of, made, missing, new_league, own_file, put_lines,
                   report_at, seal_file)
from clean import asked
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
