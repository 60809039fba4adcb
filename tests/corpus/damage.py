"""Logs that somebody damaged, with and without the owner's key: the chain, the numbers, the seals."""

import json
import shutil

from cases import (MANAGER, add, Case, chance, fault, lines_of, made, new_league, own_file, put_lines, seal_file)
from resealing import Line, reseal

AGENTS = (MANAGER, "referee:REF01", "player:P02")


def damaged(family, name, agent, change, *expected, **more):
    """`change(lines)` alters the lines (bytes) of the agent's file; nothing is made right again."""

    def files(directory):
        path = directory / own_file(agent)
        lines = lines_of(path)
        put_lines(path, change(lines) or lines)

    made(family, name, *expected, files=files, **more)(None)


def rewritten(family, name, agent, change, *expected, options=None, **more):
    """`change(lines)` alters the lines, and the owner chains and seals them anew."""

    def build(directory):
        league = new_league(**(options or {}))
        league.play().write(directory)
        reseal(directory / own_file(agent), league.logs[agent].signer, change)
        return league

    add(Case(f"{family}/{name}", family, list(expected), build, **more))


# --- Without the key: at some lines of three logs -------------------------------------------------------------------
def flipped(k):
    def change(lines):
        at = lines[k].index(b'"', 12 + len(lines[k]) // 3) - 1
        lines[k] = lines[k][:at] + bytes([lines[k][at] ^ 1]) + lines[k][at + 1:]
    return change


def removed(k):
    return lambda lines: lines[:k] + lines[k + 1:]


def doubled(k):
    return lambda lines: lines[:k + 1] + lines[k:]


def exchanged(k):
    return lambda lines: lines[:k] + [lines[k + 1], lines[k]] + lines[k + 2:]


def garbage(k):
    return lambda lines: lines[:k] + [b"garbage"] + lines[k:]


def cut(k):
    return lambda lines: lines[:k]


def overwritten(k):
    return lambda lines: lines[:k] + [b"\0" * len(lines[k])] + lines[k + 1:]


KINDS = {
    "flip": (flipped, lambda file, k: [fault("chain.hash", (file, k + 1))]),
    "loss": (removed, lambda file, k: [fault("chain.prev", (file, k + 1))]),
    "double": (doubled, lambda file, k: [fault("chain.prev", (file, k + 2))]),
    "exchange": (exchanged, lambda file, k: [fault("chain.prev", (file, k + 1))]),
    "garbage": (garbage, lambda file, k: [fault("line.form", (file, k + 1))]),
    "cut": (cut, lambda file, k: [fault("log.truncated", (file, k))]),
    "zeros": (overwritten, lambda file, k: [fault("line.form", (file, k + 1))]),
}


def register_damages():
    random = chance(14)
    for agent in AGENTS:
        file = own_file(agent)
        for kind, (change, expected) in KINDS.items():
            for nth, k in enumerate(sorted(random.sample(range(1, 30), 4))):
                damaged("damage", f"{kind}-{agent.split(':')[-1]}-{k}", agent, change(k), *expected(file, k), exact=False, same_places=False,
                        short=kind == "flip" and agent == MANAGER and nth == 1)


register_damages()


def other_transport(lines, k):
    lines[k] = lines[k].replace(b'"transport":"http"', b'"transport":"HTTP"')
    assert b"HTTP" in lines[k], lines[k]


P02, REF01 = "player:P02", "referee:REF01"
damaged("chain", "changed-line", P02, lambda lines: other_transport(lines, 9),
        fault("chain.hash", (own_file(P02), 10)), short=True)
damaged("chain", "changed-line-of-manager", MANAGER, lambda lines: other_transport(lines, 22),
        fault("chain.hash", (own_file(MANAGER), 23)))


def _changed_and_hashed(k):
    """A changed line with a right hash of its own: the next line betrays it."""
    def change(directory):
        path = directory / own_file(P02)
        lines = lines_of(path)
        line = json.loads(lines[k])
        prev = line["prev"]
        line = Line({key: value for key, value in line.items() if key not in ("prev", "hash")}, transport="tcp")
        from resealing import chained, compact
        lines[k] = chained(compact(line), prev)[0]
        put_lines(path, lines)
    return change


made("chain", "changed-line-with-its-hash", fault("chain.prev", (own_file(P02), 11)), files=_changed_and_hashed(9),
     short=True)(None)


# --- With the key ---------------------------------------------------------------------------------------------------
def records(lines):
    return [k for k, line in enumerate(lines) if "seq" in line]


def seals(lines):
    return [k for k, line in enumerate(lines) if "seal" in line]


def new_line(text):
    line = Line()
    line.text = text
    return line


rewritten("chain", "other-kind-of-line", P02, lambda lines: lines.insert(7, new_line('{"note":"hello"}')),
          fault("line.kind", (own_file(P02), 8)), short=True)
rewritten("chain", "header-of-another-version", P02,
          lambda lines: lines.insert(7, new_line('{"format":"league.conversation-log","version":4,"agent":"player:P02","first_seq":4}')),
          fault("header.form", (own_file(P02), 8)), short=True)
for _name, _text in (("no-format", '{"format":"another","version":2,"agent":"player:P02","first_seq":4}'),
                     ("format-null", '{"format":null,"version":2}'), ("version-text", '{"format":"league.conversation-log","version":"2"}'),
                     ("empty", '{"format":"league.conversation-log"}'), ("cut", '{"format":"league.conversation-log"')):
    rewritten("chain", f"header-{_name}", P02, lambda lines, text=_text: lines.insert(7, new_line(text + "" * 0)),
              fault("header.form", (own_file(P02), 8)), exact=_name != "cut")


def _record_first(lines):
    first = records(lines)[0]
    lines.insert(0, lines.pop(first))


rewritten("chain", "record-before-the-header", P02, _record_first, fault("header.missing", (own_file(P02), 1)), short=True)


def _gap(step):
    def change(lines):
        chosen = records(lines)
        for k in chosen[len(chosen) // 2:]:
            lines[k]["seq"] += step
        for k in range(chosen[len(chosen) // 2], len(lines)):
            if "seal" in lines[k]:
                lines[k]["seal"] += step
            elif "format" in lines[k]:
                lines[k]["first_seq"] += step
            lines[k].is_kept = True
        for line in lines:
            line.is_kept = True
        change.at = chosen[len(chosen) // 2] + 1
    return change


for _step in (1, -1, 1000):
    rewritten("chain", f"numbers-jump-by-{_step}", P02, _gap(_step), fault("seq.gap"), short=_step == 1)


def _seal(change):
    def of_first(lines):
        change(lines[seals(lines)[0]])
    return of_first


def _wrong_number(seal):
    seal["seal"], seal.is_kept = 2, True


def _wrong_signature(seal):
    seal.signature = "00" * 64


rewritten("seal", "of-another-record", P02, _seal(_wrong_number), fault("seal.seq"), short=True)
rewritten("seal", "wrong-signature", P02, _seal(_wrong_signature), fault("seal.signature"), short=True)
for _name, _bad in (("short", "00"), ("upper-case", "AB" * 64), ("empty", ""), ("no-hex", "zz" * 64)):
    rewritten("seal", f"signature-{_name}", P02, _seal(lambda seal, bad=_bad: setattr(seal, "signature", bad or "0")),
              fault("seal.signature"))
for _name, _text in (("text", '{"seal":"3","time":"2026-01-15T10:30:00.000000Z","signature":"00"}'),
                     ("negative", '{"seal":-1,"time":"2026-01-15T10:30:00.000000Z","signature":"00"}'),
                     ("null", '{"seal":null,"time":"2026-01-15T10:30:00.000000Z"}'), ("no-time", '{"seal":3,"signature":"00"}'),
                     ("closed-text", '{"seal":3,"time":"2026-01-15T10:30:00.000000Z","closed":"yes","signature":"00"}'),
                     ("closed-null", '{"seal":3,"time":"2026-01-15T10:30:00.000000Z","closed":null,"signature":"00"}'),
                     ("closed-number", '{"seal":3,"time":"2026-01-15T10:30:00.000000Z","closed":1,"signature":"00"}'),
                     ("bad-time", '{"seal":3,"time":"2026-02-30T10:30:00Z","signature":"00"}')):
    rewritten("seal", f"form-{_name}", P02, lambda lines, text=_text: lines.insert(7, new_line(text)),
              fault("seal.form", (own_file(P02), 8)), short=_name == "text")


def _of_seal(agent, change):
    def files(directory):
        path = directory / seal_file(agent)
        kept = json.loads(path.read_text())
        text = change(kept)
        path.write_text(text if isinstance(text, str) else json.dumps(kept, separators=(",", ":")) + "\n")
    return files


def _foreign_key(league_seed):
    def files(directory):
        other = new_league(seed=league_seed).play()
        other.logs[P02].agent = "player:P02"
        spare = directory / "spare"
        other.write(spare)
        shutil.copy(spare / seal_file(P02), directory / seal_file(P02))
        shutil.rmtree(spare)
    return files


made("seal", "kept-of-another-key", fault("seal.key", (seal_file(P02), 1)), files=_foreign_key(8), short=True)(None)
made("seal", "kept-is-gone", fault("seal.missing", (seal_file(P02), 0)),
     files=lambda directory: (directory / seal_file(P02)).unlink(), short=True)(None)
made("seal", "kept-of-manager-is-gone", fault("seal.missing", (seal_file(MANAGER), 0)),
     files=lambda directory: (directory / seal_file(MANAGER)).unlink())(None)
for _key in ("format", "version", "agent", "public_key", "seal", "time", "closed", "head", "signature"):
    made("seal", f"kept-without-{_key}", fault("seal.form", (seal_file(P02), 1)),
         files=_of_seal(P02, lambda kept, key=_key: kept.pop(key) and None))(None)
for _name, _text in (("empty", ""), ("no-json", "hello\n"), ("list", "[]\n"), ("two-lines", "{}\n{}\n"), ("null", "null\n"),
                     ("spaces", None), ("deep", "[" * 100000)):
    made("seal", f"kept-{_name}", fault("seal.form", (seal_file(P02), 1)),
         files=_of_seal(P02, lambda kept, text=_text: json.dumps(kept) if text is None else text))(None)
made("seal", "kept-with-other-number", fault("seal.signature", (seal_file(P02), 1)),
     files=_of_seal(P02, lambda kept: kept.update(seal=kept["seal"] - 1)), exact=False)(None)


# --- The end of a log -----------------------------------------------------------------------------------------------
def _without_last_seal(directory):
    path = directory / own_file(P02)
    put_lines(path, lines_of(path)[:-1])


made("end", "last-seal-is-gone", fault("log.truncated"), files=_without_last_seal, short=True)(None)


def _goes_on(lines):
    """A record behind the seal of a program that had ended, and another such seal."""
    more = Line(lines[records(lines)[-2]])
    more["call"] = 900
    lines.append(more)
    lines.append(Line(lines[seals(lines)[-1]]))


rewritten("end", "goes-on-after-its-end", P02, _goes_on, fault("line.after_end"), short=True)


def _unended(directory):
    """A killed program's log whose last whole line has no line feed."""
    league = new_league()
    league.play()
    items = league.logs[P02].items
    items[-1].closed = False
    league.write(directory)
    path = directory / own_file(P02)
    lines = lines_of(path)
    from resealing import Resealing, read_lines
    more = Line(read_lines(path)[-2])
    tail = Resealing(directory / "tail", None, json.loads(lines[-1])["hash"], seq=more["seq"]).write([more], ending=b"")
    path.write_bytes(path.read_bytes() + tail.path.read_bytes())
    tail.path.unlink()
    return league


add(Case("end/last-line-without-line-feed", "end", [], _unended, short=True))


def _torn(directory):
    path = directory / own_file(P02)
    path.write_bytes(path.read_bytes() + b'{"seq":99,"ti')


made("end", "torn-line-after-the-end", fault("line.after_end"), fault("log.truncated"), files=_torn)(None)
