"""Leagues that the real programs played, and files of theirs that somebody changed, removed or made anew with its own key."""

import atexit
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import log_builder
import verify_log
from cases import CASES, Case, add, fault, missing
from resealing import Resealing, key_of, read_lines, reseal

SOURCE = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("LEAGUE_BIN_DIR", SOURCE / "build" / "bin"))
LEAGUE = "league_test"  # as the leagues that are made, so that places are named alike
BASE = Path(tempfile.gettempdir()) / f"league_corpus_base_{os.getpid()}"


def prepare(names):
    """Plays one league, if any case needs it, before the cases are dealt out to processes."""
    if not any(CASES[name].real for name in names):
        return
    atexit.register(shutil.rmtree, BASE, ignore_errors=True)
    done = subprocess.run([BIN / "league", "up", "--players", "3", "--referees", "1", "--strategies", "even,odd,random", "--league", LEAGUE,
                           "--data", BASE / "data", "--logs", BASE / "logs", "--json"], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(f"league up ended with {done.returncode}: {done.stderr[-1000:]}")


def real(name, *expected, **more):
    """`change(directory)` alters a copy of the league."""
    def register(change):
        def build(directory):
            shutil.copytree(BASE, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.stderr.log"))
            if change:
                change(directory)
        add(Case(f"real/{name}", "real", list(expected), build, real=True, **more))
        return change
    return register


real("untouched", short=True)(None)


# --- Files that are made from the journal ---------------------------------------------------------------------------
STANDINGS, ROUNDS = f"data/leagues/{LEAGUE}/standings.json", f"data/leagues/{LEAGUE}/rounds.json"
MATCH, HISTORY = f"data/matches/{LEAGUE}/R1M1.json", "data/players/P01/history.json"


def edited(path, change):
    """As its owner could: only the value is another, the layout stays."""
    def files(directory):
        text = (directory / path).read_text()
        new = change(text)
        assert new != text, f"nothing was changed in {path}"
        (directory / path).write_text(new)
    return files


def replaced(old, new):
    return lambda text: text.replace(old, new, 1)


def with_value(change):
    """The file as JSON of the same layout as far as verifiers may care: not at all."""
    def rewrite(text):
        value = json.loads(text)
        change(value)
        return json.dumps(value, indent=1) + "\n"
    return rewrite


real("standings-points", fault("projection.standings"), short=True)(edited(STANDINGS, lambda t: t.replace('"points":', '"points":1', 1)))
real("standings-champion", fault("projection.standings"))(edited(STANDINGS, replaced('"champion":"P', '"champion":"P9')))
real("standings-space", fault("projection.standings"))(edited(STANDINGS, lambda t: t + " "))
real("standings-empty", fault("projection.standings"))(edited(STANDINGS, lambda t: ""))
real("standings-no-json", fault("projection.standings"))(edited(STANDINGS, lambda t: "x" + t))
real("standings-ahead", fault("projection.ahead"), short=True)(edited(STANDINGS, replaced('"journal_entry":', '"journal_entry":9')))
real("rounds-ahead", fault("projection.ahead"))(edited(ROUNDS, replaced('"journal_entry":', '"journal_entry":9')))
real("rounds-winner", fault("projection.rounds"), short=True)(edited(ROUNDS, replaced('"result":"', '"result":"X')))
real("rounds-choices", fault("projection.rounds"))(edited(ROUNDS, replaced('"even"', '"odd"')))
real("rounds-empty", fault("projection.rounds"))(edited(ROUNDS, lambda t: ""))
for _name, _value in (("null", None), ("text", "5"), ("negative", -1), ("fraction", 1.5), ("list", [])):
    real(f"standings-entry-{_name}", fault("projection.standings"))(
        edited(STANDINGS, with_value(lambda value, entry=_value: value.update(journal_entry=entry))))


def other_winner(value):
    result = value["result"]
    players = list(result["score"])
    result["winner"] = players[1] if result["winner"] == players[0] else players[0]
    result["score"] = {player: 3 * (player == result["winner"]) for player in players}


def flip(choices, key):
    choices[key] = "odd" if choices[key] == "even" else "even"


real("match-winner", fault("projection.match"), short=True)(edited(MATCH, with_value(other_winner)))
real("match-number", fault("projection.match"))(edited(MATCH, with_value(lambda v: v["result"]["details"].update(
    drawn_number=v["result"]["details"]["drawn_number"] % 10 + 1))))
real("match-choice", fault("projection.match"))(edited(MATCH, with_value(lambda v: flip(v["result"]["details"]["choices"], "P01")
                                                                       if "P01" in v["result"]["score"] else
                                                                       flip(v["result"]["details"]["choices"], "P02"))))
for _name, _text in (("empty", ""), ("no-json", "{"), ("list", "[]"), ("null", "null"), ("deep", "[" * 50_000)):
    real(f"match-{_name}", agree_only=True)(edited(MATCH, lambda text, new=_text: new))
    real(f"history-{_name}", agree_only=True)(edited(HISTORY, lambda text, new=_text: new))
real("history-result", fault("projection.history"), short=True)(edited(HISTORY, with_value(lambda v: v["matches"][0].update(
    result={"WIN": "LOSS", "LOSS": "WIN", "DRAW": "WIN"}[v["matches"][0]["result"]]))))
real("history-choice", fault("projection.history"))(edited(HISTORY, with_value(lambda v: flip(v["matches"][0], "my_choice"))))
real("history-number", fault("projection.history"))(edited(HISTORY, with_value(lambda v: v["matches"][0].update(
    drawn_number=v["matches"][0]["drawn_number"] % 10 + 1))))
for _path in (MATCH, HISTORY, STANDINGS, ROUNDS, f"data/matches/{LEAGUE}", "data/players", "data/leagues"):
    def _removed(directory, path=_path):
        target = directory / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    real(f"without-{_path.split('/')[-1]}")(_removed)


# --- The journal ----------------------------------------------------------------------------------------------------
JOURNAL = "data/journal/journal.sqlite"


def gone(*paths):
    def files(directory):
        for path in paths:
            target = directory / path
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    return files


def in_journal(statement):
    def files(directory):
        with closing(sqlite3.connect(directory / JOURNAL)) as journal:
            journal.execute(statement)
            journal.commit()
    return files


def bytes_of(path, change):
    def files(directory):
        data = bytearray((directory / path).read_bytes())
        (directory / path).write_bytes(change(data))
    return files


real("journal-is-gone", missing("journal.absent", (JOURNAL, 0)), exact=False)(gone("data/journal"))
real("data-is-gone", missing("journal.absent", (JOURNAL, 0)))(gone("data"))
real("data-is-kept-elsewhere", arguments=("--without", "journal"))(gone("data"))
real("logs-are-gone", missing("log.absent"), exact=False, short=True, same_places=False)(gone("logs"))
real("journal-entry-is-changed", fault("journal.damaged"), exact=False, short=True)(
    in_journal("UPDATE entries SET payload = replace(payload, 'even', 'Even') WHERE sequence = 2"))
real("journal-lacks-its-end", fault("journal.missing"), exact=False)(in_journal("DELETE FROM entries WHERE sequence > 10"))
real("journal-lacks-an-entry", fault("journal.damaged"), exact=False)(in_journal("DELETE FROM entries WHERE sequence = 5"))
real("journal-is-empty", exact=False, agree_only=True)(bytes_of(JOURNAL, lambda data: b""))
real("journal-is-no-database", fault("journal.damaged"), exact=False)(bytes_of(JOURNAL, lambda data: b"dear diary " * 1000))
real("journal-is-cut", exact=False, agree_only=True)(bytes_of(JOURNAL, lambda data: data[:len(data) // 2]))


def rechained(change):
    """As the manager could rewrite its journal: `change(type, payload)` gives each payload, and all digests fit."""
    def files(directory):
        changes, digest = 0, bytes(32)
        with closing(sqlite3.connect(directory / JOURNAL)) as journal:
            for number, kind, payload in journal.execute("SELECT sequence, type, payload FROM entries ORDER BY sequence").fetchall():
                new = change(kind, payload)
                changes += new != payload
                digest = hashlib.sha256(digest + f"{kind}\n{new}".encode()).digest()
                journal.execute("UPDATE entries SET payload = ?, digest = ? WHERE sequence = ?", (new, digest, number))
            journal.commit()
        assert changes, "nothing was changed in the journal"
    return files


def once(kind, old, new):
    """In the first event of a type that has it."""
    done = []

    def change(of, payload):
        if of != kind or old not in payload or done:
            return payload
        done.append(payload)
        return payload.replace(old, new, 1)
    return change


for _name, _change in (("a-version", once("AGENT_REGISTERED", '"version":"', '"version":"9')), ("a-number", once("MATCH_REPORTED", '"drawn_number":', '"drawn_number":9')),
                       ("an-attempt", once("MATCH_ASSIGNED", '"attempt":1', '"attempt":2')), ("a-round", once("ROUND_COMPLETED", '"wins":', '"wins":9')),
                       ("an-address", once("AGENT_REGISTERED", "127.0.0.1", "127.0.0.2")), ("a-time", once("ROUND_STARTED", '"at":"20', '"at":"19'))):
    real(f"journal-is-rewritten-in-{_name}", fault("journal.head"), exact=False, same_places=False, short=_name == "a-version")(
        lambda directory, change=_change: rechained(lambda kind, payload: change(kind, payload))(directory))
for _name, _change in (("a-payoff", once("LEAGUE_CREATED", '"winner":3', '"winner":103')), ("a-field", once("LEAGUE_CREATED", '"technical":', '"more":1,"technical":')),
                       ("its-name", once("LEAGUE_CREATED", '"game_type":"even_odd"', '"game_type":"odd_even"'))):
    real(f"journal-has-no-game-by-{_name}", fault("journal.damaged"), exact=False, short=_name == "a-payoff")(
        lambda directory, change=_change: rechained(lambda kind, payload: change(kind, payload))(directory))


def rewritten_without_keys(directory):
    """A finished league in which one player's nonce and commitment are others everywhere: the seals, which would need keys, are gone, like all that
    tells of them, and all digests are right."""
    with closing(sqlite3.connect(directory / JOURNAL)) as journal:
        event = next(event for payload, in journal.execute("SELECT payload FROM entries WHERE type = 'MATCH_REPORTED' ORDER BY sequence")
                     if (event := json.loads(payload)).get("evidence", {}).get("A", {}).get("nonce"))
    match, result, evidence = event["match"], event["result"], event["evidence"]
    logs = [path for path in (directory / "logs").rglob("*.jsonl")]
    report = next(json.loads(line["raw"])["params"] for path in logs for line in read_lines(path)
                  if line.get("message_type") == "MATCH_RESULT_REPORT" and line.get("match_id") == match and line["dir"] == "in")
    seed = bytes.fromhex(report["result"]["details"]["draw_proof"])
    choices = [result["choice_a"], result["choice_b"]]
    nonce = next(nonce for n in itertools.count() if log_builder.draw(seed, match, choices, [
        nonce := hashlib.sha256(str(n).encode()).hexdigest(), evidence["B"].get("nonce", "")]) == result["drawn_number"])
    player = next(player for player, known in report["result"]["details"]["choice_nonces"].items() if known == evidence["A"]["nonce"])
    commitment = log_builder.choice_commitment(log_builder.draw_commitment(seed, match), match, player, choices[0], nonce)

    def swapped(text):
        return text.replace(evidence["A"]["nonce"], nonce).replace(evidence["A"]["commitment"], commitment)

    rechained(lambda kind, payload: swapped(payload))(directory)
    for path in [*(directory / "data").rglob("*.json"), *(directory / "data").rglob("*.csv")]:
        path.write_text(swapped(path.read_text()))
    for path in logs:
        lines = [line for line in read_lines(path) if "seal" not in line and "note" not in line]
        for line in (line for line in lines if line.get("raw")):
            body = verify_log.parse_object(line["raw"]) or {}  # of some only what differs from another stands there
            for message in (body.get("params"), body.get("result")):
                for key in ("log_head", "journal_head"):
                    message.pop(key, None) if isinstance(message, dict) else None
            line["raw"] = swapped(json.dumps(body, separators=(",", ":"), ensure_ascii=False) if body else line["raw"])
            line["raw_sha256"] = hashlib.sha256(line["raw_sha256"].encode()).hexdigest()
        Resealing(path, None).write(lines)
    for path in (directory / "logs").rglob("*.seal.json"):
        path.unlink()


real("rewritten-without-keys", fault("attestation.differs"), exact=False, same_places=False, short=True)(rewritten_without_keys)


# --- Logs that their owners seal anew -------------------------------------------------------------------------------
def own_key(directory, agent):
    """The key file of an agent: the one whose public key stands in its log."""
    log = directory / f"logs/agents/{agent}.log.jsonl"
    public = json.loads(log.open().readline())["public_key"]
    return next(key for key in map(key_of, (directory / "data" / "agents").glob("*.log.key")) if key.public_key == public)


def resealed(agent, change):
    def files(directory):
        reseal(directory / f"logs/agents/{agent}.log.jsonl", own_key(directory, agent), change)
    return files


def other_choice(lines):
    line = next(line for line in lines if line.get("message_type") == "CHOOSE_PARITY_RESPONSE" and line["dir"] == "out")
    raw = line["raw"]
    line["raw"] = raw.replace('"parity_choice":"even"', '"parity_choice":"odd"') if '"even"' in raw else raw.replace('"odd"', '"even"')
    assert line["raw"] != raw



for _player in ("P01", "P02", "P03"):
    real(f"{_player}-says-that-it-chose-otherwise", fault("transfer.differs"), exact=False)(resealed(_player, other_choice))
    real(f"{_player}-seals-the-same-again")(resealed(_player, lambda lines: None))
    real(f"{_player}-left-its-answers-out", fault("transfer.one_sided"), missing("choice.absent"), fault("witness.agent_head"))(resealed(
        _player, lambda lines: [line for line in lines if line.get("message_type") != "CHOOSE_PARITY_RESPONSE"]))
    real(f"{_player}-left-its-matches-out", missing("choice.absent"), exact=False)(resealed(
        _player, lambda lines: [line for line in lines if not line.get("match_id")]))
real("referee-seals-the-same-again")(resealed("REF01", lambda lines: None))
real("referee-left-its-reports-out", fault("transfer.one_sided"), exact=False)(resealed(
    "REF01", lambda lines: [line for line in lines if line.get("message_type") != "MATCH_RESULT_REPORT"]))


def manager_again(change):
    def files(directory):
        reseal(directory / f"logs/league/{LEAGUE}/league.log.jsonl", key_of(directory / "data" / "log.key"), change)
    return files


real("manager-seals-the-same-again")(manager_again(lambda lines: None))
real("manager-rewrote-its-log", fault("witness.head"), exact=False)(manager_again(lambda lines: lines[1].update(transport="tcp")))
real("manager-left-a-report-out", fault("witness.head"), exact=False)(manager_again(
    lambda lines: [line for line in lines if not (line.get("message_type") == "MATCH_RESULT_REPORT" and line.get("match_id") == "R2M1")]))
real("manager-changed-a-report", fault("transfer.differs"), fault("witness.head"), exact=False, same_places=False)(manager_again(lambda lines: [
    line.update(raw=line["raw"].replace('"drawn_number":', '"drawn_number":9')) for line in lines
    if line.get("message_type") == "MATCH_RESULT_REPORT"] and None))
