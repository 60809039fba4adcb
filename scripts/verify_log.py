#!/usr/bin/env python3
"""Verifies the conversation logs of a league: a second opinion beside `league audit verify`.

Written from docs/audit.md alone, with nothing but Python's standard library.

    scripts/verify_log.py DIR [--json] [--chain-only]

DIR holds logs/ (or is such a directory). Exit codes: 0 nothing is wrong, 1 there are faults, 2 there are no logs.
"""
import argparse
import datetime
import hashlib
import hmac
import json
import os
import re
import sys
import time

NO_LINE = "0" * 64
HEX64 = re.compile(r"[0-9a-f]{64}\Z")
LINE_END = re.compile(rb',"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"}\Z')
SECRET_WORDS = ("token", "credential", "operatorkey", "drawseed", "secret", "password", "cookie", "authorization",
                "registrationnonce", "privatekey")
TOKEN = re.compile(rb"tok_[0-9A-Za-z_-]{8,}")

# --- Ed25519 (RFC 8032, section 6), verification only ---------------------------------------------------------------
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def point_add(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    return (f - e) * (h - g) % P, (h + g) * (f + e) % P, (h - g) * (h + g) % P, (f - e) * (f + e) % P


def point_multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_equal(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def recover_x(y, sign):
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if x2 == 0:
        return None if sign else 0
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * SQRT_M1 % P
    if (x * x - x2) % P:
        return None
    return P - x if (x & 1) != sign else x


def point_decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def is_signature(public_key, text, signature):
    """Whether `signature` of `text` was made with the private half of `public_key`; all but text hexadecimal."""
    if not HEX64.match(public_key) or not re.match(r"[0-9a-f]{128}\Z", signature):
        return False
    key, signature = bytes.fromhex(public_key), bytes.fromhex(signature)
    a, r = point_decompress(key), point_decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + text.encode()).digest()
    h = int.from_bytes(digest, "little") % ORDER
    return point_equal(point_multiply(s, BASE), point_add(r, point_multiply(h, a)))


# --- Logs -----------------------------------------------------------------------------------------------------------
def signed_text(agent, seal, when, closed, head):
    return f"league.conversation-log seal 2\n{agent}\n{seal}\n{when}\n{'closed' if closed else 'open'}\n{head}\n"


def find_logs(directory):
    """The logs below a directory: path without a number to its files in order."""
    logs = {}
    for folder, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            match = re.match(r"(.+)\.log(\.\d{6})?\.jsonl\Z", name)
            if match:
                logs.setdefault(os.path.join(folder, match[1] + ".log.jsonl"), []).append(os.path.join(folder, name))
            elif name.endswith(".seal.json"):
                logs.setdefault(os.path.join(folder, name[:-len(".seal.json")] + ".log.jsonl"), [])
    for path, files in logs.items():
        files.sort(key=lambda file: (file == path, file))
    return logs


def parse_object(text):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_of(value, key):
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def league_message(body):
    """What a frame carries as parameters or result, or inside a tools/call of MCP and its answer."""
    for place, of_tools in (("params", "arguments"), ("result", "structuredContent")):
        found = body.get(place)
        if isinstance(found, dict):
            inner = found.get(of_tools)
            return inner if "message_type" not in found and isinstance(inner, dict) else found
    return {}


class Chain:
    """Goes through one log: docs/audit.md, "The chain" and "Seals"."""

    def __init__(self, path, files, on_record=None):
        self.path, self.files, self.on_record = path, files, on_record
        self.faults, self.notes = [], []
        self.file, self.line = path, 0
        self.names, self.keys, self.hashes = set(), set(), set()
        self.agent = self.key = ""
        self.stated, self.computed, self.before_file = NO_LINE, None, NO_LINE
        self.seq = self.older_seq = self.records = self.unsealed = 0
        self.first = self.closed = self.torn = self.seals = False
        self.restarts = self.untied = self.broken = False

    def fault(self, rule, text):
        self.faults.append({"file": self.file, "line": self.line, "rule": rule, "text": text})

    def run(self):
        for number, file in enumerate(self.files, 1):
            self.file, self.line, self.first = file, 0, True
            self.segment = number
            if file != self.path and not file.endswith(f".log.{number:06d}.jsonl"):
                self.fault("segment.missing", f"segment {number} should come before it")
            with open(file, "rb") as stream:
                content = stream.read()
            self.torn = False
            *lines, rest = content.split(b"\n")
            for line in lines:
                self.line += 1
                self.take(line)
            if rest or not content:
                self.line += bool(rest)
                self.torn = True
                if self.closed and rest:
                    self.fault("line.after_end", "a part of a line follows the last seal")
                if LINE_END.search(rest):
                    self.fault("line.unended", "its line feed is missing")
        self.check_kept_seal()
        if self.unsealed:
            self.notes.append(f"{self.file}:{self.line}: the last {self.unsealed} lines are unsealed")
        return self

    def take(self, line):
        end = LINE_END.search(line)
        if not end:
            self.fault("line.form", "it does not end with prev and hash")
            self.computed, self.broken = None, True
            return
        if self.closed and not self.first:
            self.fault("line.after_end", "a line follows the last seal")
        self.closed = False
        prev, stated = end[1].decode(), end[2].decode()
        computed = hashlib.sha256(line[:-76]).hexdigest()
        if computed != stated:
            self.fault("chain.hash", "its hash is not that of the line: the line was changed")
        self.restarts = self.first and prev == NO_LINE and self.stated != NO_LINE
        if prev not in (self.stated, self.computed) and not self.restarts and not self.broken:
            self.fault("chain.prev", "it does not follow the line before it")
        if self.first:
            self.before_file = self.stated
        self.broken, self.stated, self.computed = False, stated, computed
        is_header = line.startswith(b'{"format":')
        if self.first and not is_header:
            self.fault("header.missing", "the first line of the file is no header")
        self.unsealed += 1
        if line.startswith(b'{"seq":'):
            self.take_record(line)
        elif is_header:
            self.take_header(line)
        elif line.startswith(b'{"seal":'):
            self.take_seal(line, prev)
        else:
            self.fault("line.kind", "it is neither header nor record nor seal")
        self.first = False
        self.hashes.add(stated)

    def take_record(self, line):
        digits = re.match(rb'{"seq":(\d*)', line)[1]
        seq = int(digits) if digits else 0
        if seq != self.seq + 1:
            self.fault("seq.gap", f"record {seq} follows record {self.seq}")
        self.seq = seq
        self.records += 1
        if self.on_record:
            self.on_record(self, line)

    def take_header(self, line):
        header = parse_object(line)
        if not header or header.get("format") != "league.conversation-log" or header.get("version") != 2:
            return self.fault("header.form", "it is no header of format version 2")
        self.agent, self.key = text_of(header, "agent"), text_of(header, "public_key")
        self.names.add(self.agent)
        if self.key:
            self.keys.add(self.key)
        if self.first:
            self.untied = self.restarts
        if "continues" in header:
            if header["continues"] != self.before_file:
                self.fault("chain.continues", "it goes on another log than the segment before")
            self.untied = False
        elif not self.first and self.untied:
            self.fault("chain.continues", "it does not say which line of the older log it follows")
            self.untied = False
        if not (self.first and self.restarts) and self.file != self.path and header.get("segment") != self.segment:
            self.fault("segment.number", "the header is that of another segment")
        first = header.get("first_seq")
        if not is_number(first) or first == 0:
            return self.fault("header.form", "first_seq is missing")
        if first != self.seq + 1 and "continues" not in header and not self.restarts:
            self.fault("seq.gap", f"first_seq is {first} after record {self.seq}")
        if "continues" in header and first < self.older_seq + 1:
            self.fault("seq.gap", "first_seq is not behind the older log's last record")
        if self.first:
            self.older_seq = self.seq
        self.seq = first - 1

    def take_seal(self, line, prev):
        seal = parse_object(line)
        if not seal or not is_number(seal.get("seal")) or not is_time(text_of(seal, "time")):
            return self.fault("seal.form", "it is no seal")
        self.unsealed, self.seals = 0, True
        self.closed = seal.get("closed") is True
        if seal["seal"] != self.seq:
            self.fault("seal.seq", "it names another record than the last one")
        text = signed_text(self.agent, seal["seal"], seal["time"], self.closed, prev)
        if not is_signature(self.key, text, text_of(seal, "signature")):
            self.fault("seal.signature", f"its signature is not that of {self.agent}'s key")

    def check_kept_seal(self):
        """The seal beside the log: the log must reach as far as it says."""
        end = self.file, self.line
        kept = self.path[:-len(".log.jsonl")] + ".seal.json"
        try:
            with open(kept, "rb") as stream:
                content = stream.read()
        except OSError:
            if self.seals:
                self.file, self.line = kept, 0
                self.fault("seal.missing", "the log has seals, but the newest does not stand beside it")
                self.file, self.line = end
            return
        self.file, self.line = kept, 1
        seal = parse_object(content)
        keys = ("agent", "public_key", "time", "head", "signature")
        good = (seal and all(isinstance(seal.get(key), str) for key in keys) and is_number(seal.get("seal"))
                and isinstance(seal.get("closed"), bool) and is_time(seal["time"]))
        if good:
            form = {"format": "league.conversation-log.seal", "version": 2, "agent": seal["agent"],
                    "public_key": seal["public_key"], "seal": seal["seal"], "time": seal["time"],
                    "closed": seal["closed"], "head": seal["head"], "signature": seal["signature"]}
            good = json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" == content
        if not good:
            self.fault("seal.form", "it is no seal")
        elif not is_signature(seal["public_key"], signed_text(seal["agent"], seal["seal"], seal["time"],
                                                              seal["closed"], seal["head"]), seal["signature"]):
            self.fault("seal.signature", "its signature is not that of the key that it names")
        elif self.keys and seal["public_key"] not in self.keys:
            self.fault("seal.key", "it was made with a key that the log does not name")
        elif not self.files:
            self.file, self.line = self.path, 0
            self.fault("log.missing", f"{kept} says that there is a log, but there is none")
        else:
            self.file, self.line = end
            if seal["head"] not in self.hashes:
                self.fault("log.truncated", f"the log ends here after record {self.seq}; its sealed line after record "
                                            f"{seal['seal']} is missing")
            elif seal["closed"] and not self.closed:
                self.fault("log.truncated", "the log was closed in order, but its last seal is missing")
            elif seal["closed"] and self.torn:
                self.fault("log.truncated", "the log was closed in order, but its last line is cut off")
        self.file, self.line = end


def is_time(text):
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|\+00:00)\Z", text)
    if not match:
        return False
    try:
        datetime.datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return True


# --- What the records say -------------------------------------------------------------------------------------------
def is_secret_key(key):
    plain = key.lower().replace("_", "").replace("-", "")
    return not plain.endswith("tokenhash") and any(word in plain for word in SECRET_WORDS)


def has_secret(value, secret=False):
    if isinstance(value, dict):
        return any(has_secret(inner, secret or is_secret_key(key)) for key, inner in value.items())
    if isinstance(value, list):
        return any(has_secret(inner, secret) for inner in value)
    return secret and isinstance(value, str) and value != "" and not value.endswith("...")


def drawn_number(seed, match_id, choice_a, choice_b):
    counter = 0
    while True:
        text = f"{match_id}|{choice_a}|{choice_b}|{counter}".encode()
        for byte in hmac.new(seed, text, hashlib.sha256).digest():
            if byte < 250:
                return byte % 10 + 1
        counter += 1


class Records:
    """Gathers from all logs what only all together can answer."""

    def __init__(self):
        self.faults = []
        self.witnesses, self.commitments, self.pairings, self.reports, self.proofs = [], {}, {}, [], []
        self.pending, self.broadcasts, self.final = {}, {}, None

    def fault(self, place, rule, text):
        self.faults.append({"file": place[0], "line": place[1], "rule": rule, "text": text})

    def take(self, chain, line):
        place = (chain.file, chain.line)
        if TOKEN.search(line):
            self.fault(place, "secret.token", "a token stands in it unmasked")
        record = parse_object(line)
        if record is None or record.get("dir") not in ("in", "out"):
            return self.fault(place, "record.form", "it is no record")
        body = parse_object(self.body_of(chain, record))
        if body is None or "raw_bytes" in record:
            return None
        if has_secret(body):
            self.fault(place, "secret.value", "the value of a secret field is not masked")
        message = league_message(body)
        if "verdict" not in record:
            self.take_message(chain, record, body, message, place)
        return None

    def body_of(self, chain, record):
        raw = text_of(record, "raw")
        known = self.broadcasts.setdefault(chain.file, [])
        if "raw_ref" not in record:
            if "broadcast" in record:
                known.append((record["seq"], raw))
                del known[:-8]
            return raw
        base = next((text for seq, text in known if seq == record["raw_ref"]), None)
        if base is None:
            self.fault((chain.file, chain.line), "record.reference", "raw_ref names no broadcast of this file")
            return ""
        base, (before, after) = base.encode(), record["raw_keep"]  # lengths are in bytes
        whole = base[:before] + raw.encode() + base[len(base) - after:]
        return whole.decode(errors="replace")

    def take_message(self, chain, record, body, message, place):
        manager = chain.agent == "league_manager"
        head = message.get("log_head")
        if isinstance(head, dict) and record["dir"] == "in" and message.get("sender") == "league_manager":
            self.witnesses.append((head.get("seq"), head.get("hash"), place))
        if message.get("sender") == "league_manager" or (manager and record["dir"] == "out"):
            for match in message.get("matches") if isinstance(message.get("matches"), list) else []:
                self.note_commitment(text_of(match, "match_id"), text_of(match, "draw_commitment"), place)
                pair = text_of(match, "player_A_id"), text_of(match, "player_B_id")
                self.pairings.setdefault(text_of(match, "match_id"), pair)
        self.note_commitment(text_of(message, "match_id"), text_of(message.get("context"), "draw_commitment"), place)
        if text_of(message, "draw_proof"):
            self.proofs.append((text_of(message, "match_id"), message["draw_proof"], place))
        if manager:
            self.take_at_manager(record, body, message, place)

    def take_at_manager(self, record, body, message, place):
        conversation, kind = text_of(record, "conversation_id"), text_of(record, "message_type")
        if record["dir"] == "in" and kind == "MATCH_RESULT_REPORT":
            self.pending[conversation] = message, place
        elif record["dir"] == "out" and record.get("kind") == "reply" and conversation in self.pending:
            report = self.pending.pop(conversation)
            if "result" in body and kind != "LEAGUE_ERROR":
                self.reports.append(report)
        if record["dir"] == "out" and kind == "LEAGUE_COMPLETED" and isinstance(message.get("final_standings"), list):
            self.final = message["final_standings"], place

    def note_commitment(self, match, commitment, place):
        if commitment:
            self.commitments.setdefault(match, {}).setdefault(commitment, place)

    def check(self, chains):
        managers = [chain for chain in chains if "league_manager" in chain.names]
        for seq, head, place in self.witnesses:
            if managers and not any(head in chain.hashes for chain in managers):
                self.fault(place, "witness.head", f"the manager's log had a line {head} after record {seq}; it is gone")
        for match, seen in self.commitments.items():
            if len(seen) > 1:
                self.fault(list(seen.values())[-1], "draw.commitment", f"{match} has several commitments")
        for match, proof, place in self.proofs:
            self.seed_of(match, proof, place)
        results = {}
        for message, place in self.reports:
            self.check_report(message, place, results)
        if self.final:
            self.check_table(results)

    def seed_of(self, match, proof, place):
        try:
            seed = bytes.fromhex(proof)
        except ValueError:
            seed = b""
        if len(seed) != 32:
            return self.fault(place, "draw.proof", "draw_proof is no seed of 256 bits")
        if hashlib.sha256(seed + match.encode()).hexdigest() not in self.commitments.get(match, {}):
            return self.fault(place, "draw.proof", "the revealed seed is not the one that was committed to")
        return seed

    def check_report(self, message, place, results):
        match, result = text_of(message, "match_id"), message.get("result")
        if match not in self.pairings:
            return self.fault(place, "result.unknown_match", f"{match} was never announced")
        a, b = self.pairings[match]
        score = result.get("score", {})
        points = score.get(a), score.get(b)
        winner = {(3, 0): a, (0, 3): b, (1, 1): None, (0, 0): None}.get(points, "?")
        if winner != result.get("winner"):
            return self.fault(place, "result.form", "the score is no result of this game")
        if results.setdefault(match, points) != points:
            self.fault(place, "result.second", f"{match} has another result already")
        details = result.get("details") if isinstance(result.get("details"), dict) else {}
        normal = details.get("termination") == "NORMAL"
        proof = text_of(details, "draw_proof")
        if not proof:
            return self.fault(place, "draw.unrevealed", f"the report of {match} does not reveal the seed of the draw")
        seed = self.seed_of(match, proof, place)
        if seed is None or not normal:
            return None
        choices = [text_of(details.get("choices"), player) for player in (a, b)]
        number = drawn_number(seed, match, *choices)
        if details.get("drawn_number") != number:
            return self.fault(place, "draw.number", f"the seed and the choices give {number}")
        right = [choice == ("odd" if number % 2 else "even") for choice in choices]
        expected = None if right[0] == right[1] else (a if right[0] else b)
        if result.get("winner") != expected:
            self.fault(place, "draw.winner", "by the rules it is another winner")
        return None

    def check_table(self, results):
        """Points, then points among all who are tied, then wins, then fewer draws, then the id."""
        rows, place = self.final
        if len(results) < len(rows) * (len(rows) - 1) // 2:
            return  # the manager itself ended some matches: only its journal knows how
        tally = {text_of(row, "player_id"): [0, 0, 0, 0] for row in rows}  # points, wins, draws, losses
        games = [(*self.pairings[match], *points) for match, points in results.items()]
        for a, b, points_a, points_b in games:
            for player, own in ((a, points_a), (b, points_b)):
                tally[player][0] += own
                tally[player][{3: 1, 1: 2, 0: 3}[own]] += 1
        among = dict.fromkeys(tally, 0)
        for a, b, points_a, points_b in games:
            if tally[a][0] == tally[b][0]:
                among[a] += points_a
                among[b] += points_b
        key = {player: (-t[0], -among[player], -t[1], t[2]) for player, t in tally.items()}
        order = sorted(tally, key=lambda player: (key[player], int(player.lstrip("P") or 0)))
        rank = 0
        for i, (player, row) in enumerate(zip(order, rows)):
            if i == 0 or key[player] != key[order[i - 1]]:
                rank = i + 1
            points, wins, draws, losses = tally[player]
            shown = [row.get(k) for k in ("player_id", "rank", "points", "wins", "draws", "losses")]
            if shown != [player, rank, points, wins, draws, losses]:
                return self.fault(place, "table.differs",
                                  f"row {i + 1} of the final table does not follow from the results")
        return None


def verify(directory, chain_only):
    started = time.monotonic()
    logs = os.path.join(directory, "logs")
    found = find_logs(logs if os.path.isdir(logs) else directory)
    if not found:
        return None
    records = Records()
    chains = [Chain(path, files, None if chain_only else records.take).run() for path, files in sorted(found.items())]
    if not chain_only:
        records.check(chains)
    faults = [fault for chain in chains for fault in chain.faults] + records.faults
    faults.sort(key=lambda fault: (fault["file"], fault["line"]))
    count = sum(chain.records for chain in chains)
    return {"ok": not faults, "records": count, "records_per_second": count / max(time.monotonic() - started, 1e-9),
            "logs": len(chains), "faults": faults, "notes": [note for chain in chains for note in chain.notes]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--chain-only", action="store_true", help="only hashes, numbers and seals")
    options = parser.parse_args()
    report = verify(options.directory, options.chain_only)
    if report is None:
        print(f"{options.directory} holds no conversation logs", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report))
    else:
        for fault in report["faults"]:
            print("{file}:{line}: {rule}: {text}".format(**fault))
        for note in report["notes"]:
            print(note, "(no fault)")
        print(report["records"], "records in", report["logs"], "logs:",
              "nothing is wrong" if report["ok"] else f"{len(report['faults'])} faults")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
