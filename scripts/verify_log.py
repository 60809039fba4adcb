#!/usr/bin/env python3
"""Verifies the conversation logs of a league: a second opinion beside `league audit verify`.

Written from docs/audit.md and docs/protocol.md alone, with nothing but Python's standard library.

    scripts/verify_log.py DIR [--json] [--chain-only] [--without P03,REF01,league_manager,journal]

DIR holds logs/ and data/ (or is such a logs directory, or has leagues below it, each of which is checked by itself).
Three classes of findings: faults (a contradiction), missing (evidence that is not there), incidents (no rule is broken).
Exit codes: 0 neither faults nor missing, 1 there are some, 2 there are no logs.
"""
import argparse
import collections
import contextlib
import datetime
import functools
import hashlib
import hmac
import itertools
import json
import math
import os
import re
import statistics
import sys
import time
import zlib

try:
    import sqlite3
except ImportError:  # some builds of Python come without it
    sqlite3 = None

NO_LINE = "0" * 64
HEX64 = re.compile(r"[0-9a-f]{64}\Z")
LINE_END = re.compile(rb',"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"}\Z')
SECRET_WORDS = ("token", "credential", "operatorkey", "drawseed", "secret", "password", "cookie", "authorization",
                "registrationnonce", "privatekey", "admissionkey", "registrationcode", "receiptkey")
TOKEN = re.compile(rb"tok_[0-9A-Za-z_-]{8,}")
MANAGER = "league_manager"
# What a kill may take: the lines since the last seal, which is never older.
TAIL_SECONDS = 5.0
# What a log that ends too early shows; it may also be the copy of one that is being written.
AT_THE_END = ("log.truncated", "log.short", "witness.head", "witness.agent_head", "journal.head",
              "journal.damaged")
ASK_FOR_BACKUP = ("The league was still running, so this may be a copy whose files are of different moments. Make one with "
                  "`league backup`, or when the programs have stopped.")
MOST_OF_A_KIND = 100
# What `league audit verify` has and this one does not.
UNCHECKED = ["schema", "authority.sender", "authority.peer", "order.*", "retry.*", "deadline.*",
             "clock.unproven", "clock.void_loss", "clock.arithmetic", "clock.replays",
             "projection.standings", "projection.rounds", "projection.ahead", "journal.missing", "journal.twice",
             "journal.unlogged", "journal.differs"]

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


def point_double(a):
    x2, y2 = a[0] * a[0] % P, a[1] * a[1] % P
    sum_, c = x2 + y2, 2 * a[2] * a[2] % P
    e, g = sum_ - (a[0] + a[1]) ** 2 % P, x2 - y2
    f = c + g
    return e * f % P, g * sum_ % P, f * g % P, e * sum_ % P


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


def point_compress(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def point_decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def multiples(point):
    """0 to 15 times the point."""
    found = [(0, 1, 1, 0)]
    for _ in range(15):
        found.append(point_add(found[-1], point))
    return found


OF_BASE = multiples(BASE)


@functools.lru_cache(1024)
def of_minus(key):
    """The multiples of -A, where A is the point of a public key; None if it is none."""
    a = point_decompress(key)
    return None if a is None else multiples((P - a[0], a[1], a[2], P - a[3]))


def difference(s, h, of_minus_a):
    """s*BASE - h*A: one chain of doublings for both, four bits at a time."""
    result = (0, 1, 1, 0)
    for bit in range(252, -1, -4):
        for _ in range(4):
            result = point_double(result)
        for table, digit in ((OF_BASE, s >> bit & 15), (of_minus_a, h >> bit & 15)):
            if digit:
                result = point_add(result, table[digit])
    return result


@functools.lru_cache(1024)
def is_signature(public_key, text, signature):
    """Whether `signature` of `text` was made with the private half of `public_key`; all but text hexadecimal."""
    if not HEX64.match(public_key) or not re.match(r"[0-9a-f]{128}\Z", signature):
        return False
    key, signature = bytes.fromhex(public_key), bytes.fromhex(signature)
    s = int.from_bytes(signature[32:], "little")
    if of_minus(key) is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + text.encode()).digest()
    return point_compress(difference(s, int.from_bytes(digest, "little") % ORDER, of_minus(key))) == signature[:32]


# --- JSON that anybody may have written -----------------------------------------------------------------------------
def unique_keys(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def no_constant(name):
    raise ValueError(name + " is not JSON")


DECODER = json.JSONDecoder(object_pairs_hook=unique_keys, parse_constant=no_constant)


def parse_object(text):
    """The JSON object in bytes or text; None for everything else."""
    try:
        text = text if isinstance(text, str) else text.decode()
        value = DECODER.decode(text)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_json(path):
    """The JSON object in a file of modest size; None if there is none."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > 64 << 20:
            return None
        with open(path, "rb") as stream:
            return parse_object(stream.read())
    except OSError:
        return None


def text_of(value, key):
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def dict_of(value, key):
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_of(value, key):
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def texts_of_list(value, key):
    return frozenset(text for text in list_of(value, key) if isinstance(text, str))


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def is_integer(value):
    return is_number(value) or (isinstance(value, int) and is_number(-value))


def number_of(value, key):
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, float) and found.is_integer() and abs(found) <= 1 << 53:
        found = int(found)  # for JSON Schema 1.0 is an integer
    return found if is_number(found) else None


def shown(text, most=80):
    """Foreign text for a person: short, and nothing that a terminal obeys."""
    text = text if isinstance(text, str) else json.dumps(text)[:200]
    text = text if len(text) <= most else text[:most - 3] + "..."
    return "".join(c if c.isprintable() else "?" for c in text)


def seconds_of(text):
    """Seconds since 1970 of a time in UTC; None if it is none."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|\+00:00)\Z", text, re.ASCII)
    if not match:
        return None
    try:
        moment = datetime.datetime.fromisoformat(match[1]).replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return None
    return moment.timestamp() + float(match[2] or 0)


def microseconds_of(text):
    """The same in microseconds, in each form that a message may have (docs/protocol.md)."""
    match = re.match(r"(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)\Z", text, re.ASCII)
    if not match or (match[2] and not match[6]):
        return None
    try:
        moment = datetime.datetime(*(int(match[part]) for part in (1, 3, 4, 5, 7, 8)), tzinfo=datetime.timezone.utc)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000 + int((match[9] or "0").ljust(6, "0")[:6])


# --- Logs -----------------------------------------------------------------------------------------------------------
def signed_text(agent, seal, when, closed, head):
    return f"league.conversation-log seal 2\n{agent}\n{seal}\n{when}\n{'closed' if closed else 'open'}\n{head}\n"


LONGEST_LOG = 1 << 30  # bytes of a compressed file's content
LONGEST_LINE = 16 << 20


def blocks_of(file):
    """The bytes of a log file in pieces; of a compressed one (one whole gzip member) its content."""
    unpacking = zlib.decompressobj(wbits=31) if file.endswith(".gz") else None
    total = 0
    with open(file, "rb") as stream:
        while packed := stream.read(1 << 16):
            if unpacking is None:
                yield packed
            while unpacking and packed and not unpacking.eof:
                block = unpacking.decompress(packed, 1 << 20)
                packed = unpacking.unconsumed_tail
                total += len(block)
                if total > LONGEST_LOG:
                    raise zlib.error("it is too long")
                yield block
            if unpacking and (packed or unpacking.unused_data):
                raise zlib.error("it is not one whole gzip member")
    if unpacking and not unpacking.eof:
        raise zlib.error("it is not one whole gzip member")


def split_lines(blocks):
    """The lines without their line feeds, and at last what follows the last one."""
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    yield rest


def check_length(blocks):
    """Reads to the end, for what cannot be read and for lines that no log has."""
    length = 0
    for block in blocks:
        end = block.rfind(b"\n")
        length = length + len(block) if end < 0 else len(block) - end - 1
        if length > LONGEST_LINE:
            raise zlib.error("a line of it is too long")


def lines_of_log(file):
    """The lines of a log file, and what follows the last of them. Nothing of a file that cannot be read to its end is taken."""
    if not os.path.exists(file) and os.path.exists(file + ".gz"):
        file += ".gz"  # compressed since its name was read
    if file.endswith(".gz") or os.path.getsize(file) > LONGEST_LINE:
        check_length(blocks_of(file))
    return split_lines(blocks_of(file))


def find_logs(directory):
    """The logs below a directory: path without a number to its files in order."""
    logs = {}
    for folder, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            match = re.match(r"(.+)\.log(?:\.\d{6}\.jsonl(?:\.gz)?|\.jsonl)\Z", name, re.DOTALL)
            if not os.path.isfile(os.path.join(folder, name)):
                continue
            if match:
                logs.setdefault(os.path.join(folder, match[1] + ".log.jsonl"), []).append(os.path.join(folder, name))
            elif name.endswith(".seal.json"):
                logs.setdefault(os.path.join(folder, name[:-len(".seal.json")] + ".log.jsonl"), [])
    for path, files in logs.items():
        files.sort(key=lambda file: (file == path, file))
        for plain in [file for file in files if file + ".gz" in files]:  # a program was killed between the two
            files.remove(plain + ".gz")
    return logs


class Run:
    """What one process wrote: from a header with `starts` to the next one."""

    def __init__(self, begin, place):
        self.begin = self.end = begin
        self.place, self.closed = place, False


class Section:
    """What follows a header: one agent's part in one league. `league` is found when all logs are read."""

    def __init__(self, chain, header, run, place):
        self.chain, self.agent, self.key = chain, text_of(header, "agent"), text_of(header, "public_key")
        self.league_id, self.league_key = text_of(header, "league_id"), text_of(header, "league_key")
        self.created = seconds_of(text_of(header, "created")) or 0.0
        self.run, self.place, self.league, self.version = run, place, None, header["version"]


class SealWatch:
    """Finds records that no seal followed in time, though their program went on writing (docs/audit.md, `seal.absent`)."""

    def __init__(self):
        self.limit, self.first, self.delays, self.is_told = 10_000_000_000, None, [], False

    def begin(self, interval, is_new_run):
        self.limit = (min(interval, 60_000) + 5000) * 1_000_000
        if is_new_run:
            self.sealed()

    def sealed(self):
        self.first, self.delays, self.is_told = None, [], False

    def is_late(self, mono):
        """Whether this record is the first one since the last seal that comes too late."""
        self.first = mono if self.first is None else min(mono, self.first)
        late = mono - self.first
        if self.is_told or late // 1_000_000 * 1_000_000 <= self.limit:
            return False
        self.is_told = not any(begin <= self.first and end >= mono for begin, end in self.delays)
        return self.is_told


HEADER_TEXTS = ("agent", "league_id", "league_key", "created", "public_key", "continues")


class Chain:
    """Goes through one log: docs/audit.md, "The chain" and "Seals"."""

    def __init__(self, path, files, on_record=None):
        self.path, self.files, self.on_record = path, files, on_record
        self.faults, self.notes, self.gaps, self.remarks = [], [], [], []
        self.watch, self.version, self.names_starts, self.sealed = SealWatch(), 0, False, (0, 0)
        self.file, self.line = path, 0
        self.names, self.keys, self.hashes, self.closing = set(), set(), {}, set()
        self.sections, self.runs = [], []
        self.agent = self.key = ""
        self.stated, self.computed, self.before_file = NO_LINE, None, NO_LINE
        self.seq = self.older_seq = self.records = self.unsealed = 0
        self.first = self.closed = self.torn = self.seals = self.is_changed = False
        self.restarts = self.untied = self.broken = False

    def fault(self, rule, text):
        self.faults.append({"file": self.file, "line": self.line, "rule": rule, "text": text})

    def run(self):
        for number, file in enumerate(self.files, 1):
            self.file, self.line, self.first = file, 0, True
            self.segment = number
            if file != self.path and not file.endswith((f".log.{number:06d}.jsonl", f".log.{number:06d}.jsonl.gz")):
                self.fault("segment.missing", f"segment {number} should come before it")
            try:
                lines = lines_of_log(file)
                rest = next(lines)
            except (OSError, zlib.error) as error:
                self.fault("file.unreadable", f"it cannot be read: {getattr(error, 'strerror', None) or error}")
                self.watch.sealed()
                continue
            self.torn = False
            for following in lines:
                self.line += 1
                self.take(rest)
                rest = following
            if rest or not self.line:
                self.line += bool(rest)
                self.torn = not self.first  # who is killed while it begins a file took nothing from those before
                if self.closed and rest and self.torn:
                    self.fault("line.after_end", "a part of a line follows the last seal")
        self.check_kept_seal()
        if self.unsealed:
            self.notes.append(f"{self.file}:{self.line}: unsealed lines at the end: {self.unsealed}")
        return self

    def take(self, line):
        end = LINE_END.search(line)
        if not end:
            self.fault("line.form", "it does not end with prev and hash")
            self.computed, self.broken = None, True
            self.watch.sealed()
            return
        if self.closed and not self.first:
            self.fault("line.after_end", "a line follows the last seal")
        self.closed = False
        prev, stated = end[1].decode(), end[2].decode()
        computed = hashlib.sha256(line[:-76]).hexdigest()
        self.is_changed = computed != stated
        if self.is_changed:
            self.fault("chain.hash", "its hash is not that of the line: the line was changed")
        self.restarts = self.first and prev == NO_LINE and self.stated != NO_LINE
        if prev not in (self.stated, self.computed) and not self.restarts and not self.broken:
            self.fault("chain.prev", "it does not follow the line before it")
        if self.first:
            self.before_file = self.stated
        self.broken, self.stated, self.computed = False, stated, computed
        is_header = line.startswith(b'{"format":')
        if self.first and not is_header:
            self.fault("header.missing", "the first line of the file is not a header")
        self.unsealed += 1
        if line.startswith(b'{"seq":'):
            self.take_record(line)
        elif is_header:
            self.take_header(line)
        elif line.startswith(b'{"seal":'):
            self.take_seal(line, prev)
        elif self.version > 2 and line.startswith(b'{"note":'):
            self.take_note(line)
        else:
            self.watch.sealed()
            self.fault("line.kind", "it is not a header, a record, a seal or a note")
        self.first = False
        self.hashes[stated] = self.seq

    def take_record(self, line):
        digits = re.match(rb'{"seq":(\d{0,18})', line)[1]
        seq = int(digits) if digits else 0
        if seq != self.seq + 1:
            self.fault("seq.gap", f"record {seq} follows record {self.seq}")
        self.seq = seq
        self.records += 1
        mono = re.search(rb'"mono_ns":(-?\d{1,400})', line)
        if mono and is_integer(int(mono[1])) and self.watch.is_late(int(mono[1])):
            self.gaps += [(section, (self.file, self.line)) for section in self.sections[-1:]]
        if self.on_record:
            self.on_record(self, line)

    def take_note(self, line):
        note = parse_object(line)
        content = dict_of(note, "content")
        good = text_of(note, "note") and is_integer(note.get("mono_ns")) and isinstance(note.get("content"), dict) and (
            seconds_of(text_of(note, "time")) is not None)
        if good and note["note"] == "seal_delayed":
            good = is_integer(content.get("from")) and is_integer(content.get("to"))
            self.watch.delays += [(content["from"], content["to"])] if good else []
        elif good and self.sections and not self.is_changed:
            self.remarks.append((note["note"], content, self.sections[-1], (self.segment, self.line)))
        if not good:
            self.fault("line.kind", "it is not a note: a key is missing or has the wrong type")

    def take_header(self, line):
        header = parse_object(line)
        if (not header or header.get("format") != "league.conversation-log" or header.get("version") not in (2, 3)
                or not is_number(header["version"]) or any(not isinstance(header.get(key, ""), str) for key in HEADER_TEXTS)
                or not isinstance(header.get("starts", True), bool) or not is_number(header.get("segment", 1))
                or not is_number(header.get("seal_interval_ms", 1))):
            return self.fault("header.form", "it is not a header of format version 2 or 3")
        self.version = header["version"]
        self.note_section(header)
        self.names_starts = self.names_starts or header.get("starts", False)
        # The oldest logs do not say where a run begins, but each of them begins a file.
        self.watch.begin(header.get("seal_interval_ms", 5000), header.get("starts") or (self.first and not self.names_starts))
        if self.first:
            self.untied = self.restarts
        if "continues" in header:
            if header["continues"] != self.before_file:
                self.fault("chain.continues", "it continues a different log than the segment before")
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
            self.fault("seq.gap", "first_seq does not come after the older log's last record")
        if self.first:
            self.older_seq = self.seq
        self.seq = first - 1
        return None

    def note_section(self, header):
        self.agent, self.key = text_of(header, "agent"), text_of(header, "public_key")
        self.names.add(self.agent)
        if self.key:
            self.keys.add(self.key)
        place = (self.file, self.line)
        if header.get("starts") or not self.runs:
            self.runs.append(Run(seconds_of(text_of(header, "created")) or 0.0, place))
        self.sections.append(Section(self, header, self.runs[-1], place))

    def take_seal(self, line, prev):
        seal = parse_object(line)
        good = seal and is_number(seal.get("seal")) and seconds_of(text_of(seal, "time")) is not None
        if not good or not isinstance(seal.get("closed", True), bool):
            return self.fault("seal.form", "it is not a seal")
        self.unsealed, self.seals = 0, True
        self.watch.sealed()
        self.closed = seal.get("closed") is True
        if self.closed:
            self.closing.add(prev)
        if self.runs:
            self.runs[-1].closed = self.closed
        if seal["seal"] != self.seq:
            self.fault("seal.seq", "it does not name the last record")
        text = signed_text(self.agent, seal["seal"], seal["time"], self.closed, prev)
        if not is_signature(self.key, text, text_of(seal, "signature")):
            self.fault("seal.signature", f"its signature is not that of {shown(self.agent)}'s key")
        else:
            self.sealed = self.segment, self.line
        return None

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
                self.fault("seal.missing", "the log has seals, but its newest seal file is missing")
                self.file, self.line = end
            return
        self.file, self.line = kept, 1
        seal = self.kept_seal(content)
        if not seal:
            self.fault("seal.form", "it is not a seal")
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
            self.check_reaches(seal)
        self.file, self.line = end

    @staticmethod
    def kept_seal(content):
        seal = parse_object(content)
        keys = ("agent", "public_key", "time", "head", "signature")
        if not (seal and all(isinstance(seal.get(key), str) for key in keys) and is_number(seal.get("seal"))
                and isinstance(seal.get("closed"), bool) and seconds_of(seal["time"]) is not None):
            return None
        form = {"format": "league.conversation-log.seal", "version": 2, "agent": seal["agent"],
                "public_key": seal["public_key"], "seal": seal["seal"], "time": seal["time"],
                "closed": seal["closed"], "head": seal["head"], "signature": seal["signature"]}
        return seal if json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" == content else None

    def check_reaches(self, seal):
        """A program that came back may have been killed before its first seal: then the last one of the run before stands there."""
        if seal["head"] not in self.hashes:
            self.fault("log.truncated", f"the log ends here after record {self.seq}; its sealed line after record "
                                        f"{seal['seal']} is missing")
        elif seal["closed"] and seal["head"] not in self.closing:
            self.fault("log.truncated", "the log was closed properly, but its last seal is missing")
        elif seal["closed"] and self.closed and self.torn:
            self.fault("log.truncated", "the log was closed properly, but its last line is cut off")


# --- The game (docs/games.md) -----------------------------------------------------------------------------------------
def is_points(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 100 and value == int(value)


def has_members(value, names):
    return isinstance(value, dict) and value.keys() == set(names)


def is_definition(value):
    """Whether this is the content of a game's file: exactly the fields that docs/games.md names, each within its limits."""
    if not isinstance(value, dict) or value.keys() - {"game_type", "choices", "drawn", "payoffs", "roles", "technical"}:
        return False
    name, choices, technical = (value.get(key) for key in ("game_type", "choices", "technical"))
    if not (isinstance(name, str) and re.match(r"[a-z0-9_]{1,40}\Z", name) and isinstance(choices, list) and 2 <= len(choices) <= 15):
        return False
    if not all(isinstance(word, str) and re.match(r"[A-Za-z0-9_-]{1,32}\Z", word) for word in choices) or len(set(choices)) < len(choices):
        return False
    drawn = value.get("drawn") if "drawn" in value else ()
    if "drawn" in value and not (isinstance(drawn, list) and 2 <= len(drawn) <= 100 and all(isinstance(kind, str) and kind in choices for kind in drawn)):
        return False
    if ("payoffs" in value) == ("roles" in value) or ("roles" in value and not has_members(value["roles"], ("PLAYER_A", "PLAYER_B"))):
        return False
    tables = list(value["roles"].values()) if "roles" in value else [value["payoffs"]]
    for _ in range(3 if drawn else 2):  # by the kind of the number, own choice, choice of the other
        if not all(has_members(table, choices) for table in tables):
            return False
        tables = [inner for table in tables for inner in table.values()]
    return (has_members(technical, ("winner", "loser", "both")) and all(map(is_points, (*tables, *technical.values())))
            and technical["winner"] > technical["loser"])


class Game:
    """Two players choose a word each, perhaps a number is drawn, and each pair of words has its payoffs."""

    def __init__(self, definition):
        self.name, self.choices = definition["game_type"], tuple(definition["choices"])
        self.kinds = tuple(definition.get("drawn", ()))  # of the numbers 1, 2, ...
        roles = definition.get("roles") or dict.fromkeys(("PLAYER_A", "PLAYER_B"), definition.get("payoffs"))
        self.payoffs = [roles[role] for role in ("PLAYER_A", "PLAYER_B")]
        won, lost, both = (definition["technical"][name] for name in ("winner", "loser", "both"))
        self.technical = {(both, both): "NONE", (lost, won): "B", (won, lost): "A"}
        self.scores = {self.score(pair, kind) for pair in itertools.product(self.choices, repeat=2) for kind in set(self.kinds) or {None}}

    @classmethod
    def read(cls, definition):
        """None for what is no game. Nothing is scored before all of it is known to be of modest size."""
        return cls(definition) if is_definition(definition) else None

    def score(self, chosen, kind):
        tables = [payoffs[kind] if self.kinds else payoffs for payoffs in self.payoffs]
        return tables[0][chosen[0]][chosen[1]], tables[1][chosen[1]][chosen[0]]

    def outcome(self, points, is_technical):
        """What a score shows: A, B, DRAW or NONE; None where no match ends with it."""
        technical = self.technical.get(points)
        if technical and is_technical or points not in self.scores:
            return technical
        return "A" if points[0] > points[1] else "B" if points[0] < points[1] else "DRAW"

    def number(self, seed, match, choices, nonces):
        """Draw version 2 where `nonces` are given (of A and of B; an absent one is empty), else version 1."""
        size = len(self.kinds)
        for counter in itertools.count():
            text = "|".join([match, *choices, *(nonces or ()), str(counter)])
            for byte in hmac.digest(seed, text.encode(), hashlib.sha256):
                if byte < 256 - 256 % size:
                    return byte % size + 1

    def kind(self, number):
        return self.kinds[number - 1] if is_integer(number) and 1 <= number <= len(self.kinds) else None


EVEN_ODD = Game({"game_type": "even_odd", "choices": ["even", "odd"], "drawn": ["odd", "even"] * 5,
                 "payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
                             "odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}},
                 "technical": {"winner": 3, "loser": 0, "both": 0}})  # what leagues play whose records do not say it


def draw_commitment(seed, match):
    return hashlib.sha256(seed + match.encode()).hexdigest()


def choice_commitment(promise, match, player, choice, nonce):
    return hashlib.sha256(f"{promise}|{match}|{player}|{choice}|{nonce}".encode()).hexdigest()


# --- What the records say -------------------------------------------------------------------------------------------
@functools.lru_cache(4096)
def is_secret_key(key):
    plain = key.lower().replace("_", "").replace("-", "")
    return not plain.endswith("tokenhash") and any(word in plain for word in SECRET_WORDS)


@functools.lru_cache(256)  # everybody gets the same news
def read_body(text):
    """The JSON object of a frame, which nobody may change, and whether a secret stands in it."""
    body = parse_object(text)
    return body, body is not None and has_secret(body)


def has_secret(value):
    waiting = [(value, False)]
    while waiting:
        inner, secret = waiting.pop()
        if isinstance(inner, dict):
            waiting += [(found, secret or is_secret_key(key)) for key, found in inner.items()]
        elif isinstance(inner, list):
            waiting += [(found, secret) for found in inner]
        elif secret and isinstance(inner, str) and inner and not inner.endswith("..."):
            return True
    return False


SECRET_FIELD = re.compile(r"""(\\*["'])([\w-]{0,60}(?i:token|credential|key|seed|secret|password|cookie|authorization|nonce|code|email)[\w-]{0,60})"""
                          r"""\1\s*[:=]\s*\1(.*?)(?<!\\)\1""", re.DOTALL)


def without_secrets(text):
    """A body without the values that each log shortens in its own way, to compare what two logs have of one message."""
    def hidden(field):
        """Of a secret what a log shows of it: at most 8 characters, nothing of what people made."""
        name = field[2].lower().replace("_", "").replace("-", "")
        kept = "" if "email" in name or "registrationcode" in name else field[3][:8].rstrip(".")
        return f"{field[2]}={kept}" if is_secret_key(field[2]) or "email" in name else field[0]
    return re.sub(r"(tok_[\w-]{4})[\w-]*(\.\.\.)?", r"\1", SECRET_FIELD.sub(hidden, text))


def league_message(body):
    """What a frame carries, in any of the places that docs/protocol.md ("What open mode accepts") names."""
    for place, names in (("params", ("arguments", "message")), ("result", ("structuredContent", "response"))):
        found = body.get(place)
        if not isinstance(found, dict):
            continue
        inner = [found[name] for name in names if isinstance(found.get(name), dict)]
        if "message_type" not in found and inner:
            return inner[0]
        texts = [text_of(part, "text") for part in list_of(found, "content")[:1]]
        return (parse_object(texts[0]) if "message_type" not in found and texts else None) or found
    return {} if body.keys() & {"jsonrpc", "method", "params", "result", "error"} else body


# Keys of a record and the type that each must have.
TEXTS = ("time", "dir", "kind", "peer", "said_by", "transport", "conversation_id", "message_type", "match_id", "verdict", "fault", "raw",
         "raw_base64", "raw_sha256")
NUMBERS = ("mono_ns", "call", "http_status", "elapsed_us", "raw_bytes", "raw_ref")
ANSWERS = {"GAME_INVITATION": "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL": "CHOOSE_PARITY_RESPONSE",
           "REFEREE_REGISTER_REQUEST": "REFEREE_REGISTER_RESPONSE", "LEAGUE_REGISTER_REQUEST": "LEAGUE_REGISTER_RESPONSE",
           "LEAGUE_QUERY": "LEAGUE_QUERY_RESPONSE"}
GAME_CALLS = ("GAME_INVITATION", "CHOOSE_PARITY_CALL")
# They give one match to a third-party referee, which is announced in no other way.
MATCH_STARTERS = ("START_MATCH", "MATCH_ASSIGNMENT")
COMPLETED = ("ROUND_COMPLETED", "LEAGUE_COMPLETED")
HEAD_TELLERS = ("ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", *COMPLETED)
# Requests whose receiver checks a token: only these are held against their sender's log.
TOKEN_CHECKED = {*HEAD_TELLERS, "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "MATCH_RESULT_REPORT", "LEAGUE_QUERY",
                 "GAME_ERROR"}
# Who acknowledged one of these must have it in its log; the rules about choices ask for the calls of a match.
DELIVERED = {*HEAD_TELLERS, "GAME_OVER", "MATCH_RESULT_REPORT"}
AGENT_ID = re.compile(r"(P|REF)[0-9]{2,9}\Z")
NO_TOKEN = ("missing_call_token", "foreign_call_token")


def is_record(record):
    if record is None or record.get("dir") not in ("in", "out") or not record.get("kind"):
        return False
    leniencies = record.get("leniencies", [])
    return (all(isinstance(record.get(key, ""), str) for key in TEXTS) and all(is_number(record.get(key, 0)) for key in NUMBERS)
            and isinstance(record.get("context", {}), dict) and isinstance(record.get("broadcast", True), bool)
            and isinstance(leniencies, list) and all(isinstance(name, str) for name in leniencies)
            and (is_keep(record["raw_keep"]) if "raw_keep" in record else "raw_ref" not in record)
            and seconds_of(text_of(record, "time")) is not None)


def is_agent(peer):
    return peer == MANAGER or peer.startswith(("player:", "referee:"))


def is_keep(keep):
    return isinstance(keep, list) and len(keep) == 2 and all(is_number(part) for part in keep)


class Said:
    """One record as far as it matters: `message` is the league's, `asked` of a reply the request that it answers, `said_by` the
    agent whose token or credential was checked (of format version 3)."""

    __slots__ = ("section", "place", "line", "time", "mono", "out", "kind", "peer", "said_by", "conversation", "type", "match",
                 "accepted", "checked", "leniencies", "verdict", "digest", "tool", "message", "failed", "asked", "answer")

    def __init__(self, chain, record):
        self.section, self.place, self.line = chain.sections[-1], (chain.file, chain.line), (chain.segment, chain.line)
        self.time, self.mono = seconds_of(record["time"]), record.get("mono_ns", 0)
        self.out, self.kind, self.peer = record["dir"] == "out", record["kind"], text_of(record, "peer")
        self.conversation, self.type = text_of(record, "conversation_id"), text_of(record, "message_type")
        self.match, self.leniencies = text_of(record, "match_id"), record.get("leniencies", [])
        self.verdict = text_of(record, "verdict")
        self.accepted = "verdict" not in record and self.kind != "failure"
        says_who = self.section.version > 2 and not self.out
        self.said_by = text_of(record, "said_by") if says_who else ""
        self.checked = self.accepted and (bool(self.said_by) if says_who else not any(name in NO_TOKEN for name in self.leniencies))
        self.digest, self.tool = text_of(record, "raw_sha256"), ""
        self.message, self.failed, self.asked, self.answer = {}, False, None, None

    @property
    def sender(self):
        """Who said it, as far as somebody checked that; else who is named in it."""
        return self.said_by or text_of(self.message, "sender")

    @property
    def other(self):
        """Whose log must have it too."""
        return self.said_by or self.peer

    @property
    def is_sealed(self):
        return self.line < self.section.chain.sealed

    @property
    def match_id(self):
        return text_of(self.message, "match_id") or self.match

    @property
    def stated(self):
        """The type that the message names; one without a name is of the type by which it came."""
        return text_of(self.message, "message_type") or self.type

    @property
    def promise(self):
        """The commitment of the draw that a call of a match names."""
        return text_of(self.message, "draw_commitment") or text_of(dict_of(self.message, "context"), "draw_commitment")

    @property
    def allowed(self):
        """When a call with a deadline was written, and how long there is for the answer, by the message, in microseconds."""
        until, sent = (microseconds_of(text_of(self.message, key)) for key in ("deadline", "timestamp"))
        return (None, None) if until is None or sent is None else (sent, until - sent)

    @property
    def callee(self):
        return self.peer if self.out else self.section.agent

    @property
    def valid_answer(self):
        """The answer to this request, if it is no refusal and of the type that the request asks for."""
        answer = self.answer
        if answer is None or answer.kind != "reply" or not answer.accepted or answer.failed:
            return None
        asked = ANSWERS.get(self.stated)
        return answer if answer.stated == asked else None


class LogFacts:
    """What one log states, as far as its owner is entitled to state it or was told it by somebody who is."""

    def __init__(self):
        self.faults = []
        # Digests of what it sent, and of requests that came, to when; what others must have sent; what others must have received;
        # what others' records can be compared with.
        self.sent, self.heard, self.received, self.delivered, self.copies = {}, {}, [], [], []
        # (run, call) -> digest of its answer; answers without a request, or that are not the first.
        self.answered, self.strays = {}, []
        # (section, match entry as a tuple) -> time and place
        self.announced = {}
        self.registered, self.reports, self.finals, self.disputes, self.heads = [], [], [], [], []
        self.ends = []  # LEAGUE_COMPLETED as it came
        # What the manager told of its journal; what agents told it of their logs; which player it asked about a match.
        self.journal_heads, self.agent_heads, self.questions = [], [], []
        # Calls of a match, with their answers: of players inbound, of referees outbound.
        self.calls, self.overs = [], []
        # Bodies that later records may refer to: those of requests and those of answers.
        self.broadcasts, self.answers, self.open, self.file = [], [], {}, None

    def fault(self, place, rule, text):
        self.faults.append({"file": place[0], "line": place[1], "rule": rule, "text": text})

    def begin(self, chain):
        if chain.file != self.file:
            self.file, self.broadcasts, self.answers = chain.file, [], []

    def take(self, chain, line):
        place = (chain.file, chain.line)
        self.begin(chain)
        record = parse_object(line)
        if TOKEN.search(line):
            self.fault(place, "secret.token", "it contains an unmasked token")
        if not is_record(record):
            return self.fault(place, "record.form", "a key is missing or has a value of another type than docs/audit.md gives it")
        if not chain.sections:
            return None  # a file without a header
        said = Said(chain, record)
        said.section.run.end, said.section.run.place = said.time, place
        text = self.body_of(chain, record)
        body, shows_secret = read_body(text) if "raw_bytes" not in record else (None, False)
        if body is not None:
            if shows_secret:
                self.fault(place, "secret.value", "the value of a secret field is not masked")
            said.message = league_message(body)
            tool = text_of(body, "method")
            said.tool = text_of(dict_of(body, "params"), "name") if tool == "tools/call" else tool
            failed = body.get("error") is not None and "result" not in body
            said.failed = failed or said.message.get("message_type") == "LEAGUE_ERROR"
        self.tie(chain, said, record)
        if HEX64.match(said.digest):
            self.note_transfer(said, record, text, chain.is_changed)
        self.check_conversation(said)
        if said.accepted or said.said_by and said.stated == "GAME_OVER":  # a player refuses one that is false
            self.note(said)
        return None

    def body_of(self, chain, record):
        raw = text_of(record, "raw")
        known = self.broadcasts if record["kind"] == "request" else self.answers
        if "raw_ref" not in record:
            if "broadcast" in record:
                known.append((chain.seq, raw))
                del known[:-8]
            return raw
        base = next((text for seq, text in known if seq == record["raw_ref"]), None)
        if base is None:
            self.fault((chain.file, chain.line), "record.reference", "raw_ref names no record of this file that may be referred to")
            return ""
        base, (before, after) = base.encode(), record["raw_keep"]  # lengths are in bytes
        return (base[:before] + raw.encode() + base[max(0, len(base) - after):]).decode(errors="replace")

    def tie(self, chain, said, record):
        """Finds the request that a reply or failure answers: by `call`, in older logs by conversation, peer and type."""
        call = record.get("call")
        run = id(said.section.run)
        self.note_stray(said, (len(chain.runs), call))
        if said.kind == "request":
            self.open.setdefault((run, said.out, said.conversation if call is None else call), []).append(said)
            return
        key = run, not said.out, said.conversation if call is None else call
        waiting = self.open.get(key, [])
        fits = [asked for asked in waiting if call is not None or asked.peer == said.peer
                or not is_agent(asked.peer) or not is_agent(said.peer)]
        fits = [asked for asked in fits if said.type in (asked.type, ANSWERS.get(asked.type))] or fits
        if fits:
            said.asked, fits[0].answer = fits[0], said
            waiting.remove(fits[0])
            if not waiting:
                del self.open[key]

    def note_stray(self, said, key):
        """An answer may follow the failure of its call, and may come again; another one may not."""
        if key[1] is None:
            return
        known = self.answered.get(key)
        if said.kind != "request" and known is None:
            self.strays.append((said, "reply.orphan", "it answers a request that is not in this log"))
        elif said.kind == "reply" and known and known != said.digest:
            self.strays.append((said, "reply.second", "this call already has another answer"))
        self.answered[key] = (said.digest if said.kind == "reply" else "") or known or ""

    def note_transfer(self, said, record, text, is_changed):
        """What the other side's log must have too; the text of a changed line proves nothing."""
        text = text or text_of(record, "raw_base64")
        if text and not is_changed:
            self.copies.append((said.digest, hash(text), said))
        if said.out:
            self.sent.setdefault(said.digest, said.time)
            return
        if said.kind == "request":
            self.heard.setdefault(said.digest, said.time)
        is_taken = said.accepted and record.get("http_status", 200) <= 200
        if is_taken and (said.kind == "reply" or (said.type in TOKEN_CHECKED and said.checked)):
            self.received.append(said)
        if is_taken and said.kind == "reply" and said.asked and said.asked.stated in DELIVERED and HEX64.match(said.asked.digest):
            self.delivered.append(said.asked)

    def check_conversation(self, said):
        wire = text_of(said.message, "conversation_id")
        judged = said.kind == "request" and said.accepted and not said.leniencies and said.message.get("message_type")
        if judged and wire and wire != said.conversation and not (said.out and said.section.agent.startswith("player:")):
            self.fault(said.place, "record.conversation", "the record and the message name different conversations")

    def note(self, said):
        kind, agent = said.stated, said.section.agent
        from_manager = said.sender == MANAGER
        if said.kind == "request":
            if kind in HEAD_TELLERS and from_manager and said.checked and not (said.out and agent != MANAGER):
                self.note_broadcast(said, kind, agent)
            elif kind in MATCH_STARTERS and agent == MANAGER and said.out and said.checked:
                self.note_matches(said, [said.message])
            elif kind in GAME_CALLS:
                is_to_player = agent.startswith("player:") and not said.out and said.sender.startswith("referee:")
                if is_to_player or (agent.startswith("referee:") and said.out):
                    self.calls.append(said)
            elif kind == "GAME_OVER" and not said.out and (said.checked or said.said_by) and agent.startswith("player:"):
                self.overs.append(said)
            elif said.tool == "get_match_record" and agent == MANAGER and said.out and said.peer.startswith("player:"):
                self.questions.append(said)
        elif agent == MANAGER and said.out and said.asked and not said.failed and said.asked.accepted:
            self.note_answer(said)
        elif agent == MANAGER and said.section.version > 2 and said.asked and said.asked.stated in COMPLETED and isinstance(said.message.get("log_head"), dict):
            self.agent_heads.append(said)

    def note_broadcast(self, said, kind, agent):
        head = said.message.get("log_head")
        if not said.out and isinstance(head, dict):
            self.heads.append((number_of(head, "seq"), text_of(head, "hash"), said))
        if kind in COMPLETED and isinstance(said.message.get("journal_head"), dict):
            self.journal_heads.append(said)
        if kind == "ROUND_ANNOUNCEMENT":
            self.note_matches(said, list_of(said.message, "matches"))
        elif kind == "LEAGUE_COMPLETED":
            (self.finals if said.out else self.ends).append(said)

    def note_matches(self, said, matches):
        for match in matches:
            if not text_of(match, "match_id"):
                continue
            texts = [text_of(match, key) for key in ("match_id", "draw_commitment", "player_A_id", "player_B_id", "game_type",
                                                     "referee_id", "conversation_id")]
            numbers = [round_number(said.message.get("round_id")), number_of(match, "attempt")]
            self.announced.setdefault((said.section, *texts, *numbers), (said.time, said.place))

    def note_answer(self, said):
        """What the manager accepted: the request is the fact, its answer the proof."""
        asked = said.asked
        kind = asked.stated
        if isinstance(said.message.get("matches"), list):
            self.note_matches(said, said.message["matches"])
        if kind == "MATCH_RESULT_REPORT":
            self.reports.append(asked)
        elif kind in ("REFEREE_REGISTER_REQUEST", "LEAGUE_REGISTER_REQUEST") and said.message.get("status") == "ACCEPTED":
            role, meta = ("referee", "referee_meta") if kind.startswith("REFEREE") else ("player", "player_meta")
            name = text_of(said.message, role + "_id")
            if AGENT_ID.match(name):
                self.registered.append((f"{role}:{name}", dict_of(asked.message, meta), said))
        elif (kind == "LEAGUE_QUERY" and asked.message.get("query_type") == "DISPUTE_MATCH" and asked.checked
              and said.message.get("success") is True):
            self.disputes.append(asked)


def round_number(value):
    """A round as it came: 1, or "R1" and "ROUND_1" as some bots write it."""
    match = re.match(r"(?:R|ROUND_)(\d{1,6})\Z", value, re.ASCII) if isinstance(value, str) else None
    return int(match[1]) if match else value if is_number(value) else None


# --- One league -----------------------------------------------------------------------------------------------------
class Findings:
    def __init__(self):
        self.faults, self.missing, self.incidents, self.notes, self.left_out = [], [], [], [], []

    @staticmethod
    def add(found, place, rule, text):
        found.append({"file": place[0], "line": place[1], "rule": rule, "text": text})

    def fault(self, place, rule, text):
        self.add(self.faults, place, rule, text)

    def miss(self, place, rule, text):
        self.add(self.missing, place, rule, text)

    def incident(self, place, rule, text):
        self.add(self.incidents, place, rule, text)


def usual_ways(differences):
    """Agent to the median of its differences."""
    ways = {}
    for agent, difference in differences:
        ways.setdefault(agent, []).append(difference)
    return {agent: statistics.median_high(of) for agent, of in ways.items()}


def texts_of(chain, places):
    """Place to the text of the record there without secrets, and whether it was cut off."""
    facts, texts = LogFacts(), {}

    def take(chain, line):
        record, place = parse_object(line), (chain.file, chain.line)
        if is_record(record):
            facts.begin(chain)
            text = facts.body_of(chain, record) or text_of(record, "raw_base64")
            if place in places:
                texts[place] = without_secrets(text), "raw_bytes" in record
    Chain(chain.path, chain.files, take).run()
    return texts


def are_alike(one, other):
    """Texts that were cut off as far as both go, without a margin in which a secret may have been cut in two."""
    if not one[1] and not other[1]:
        return one[0] == other[0]
    both = max(0, min(len(one[0]), len(other[0])) - 128)
    return one[0][:both] == other[0][:both]


class Announced:
    """What the manager said about one match before it was played. `commitments`: each with the time and place where it
    stands first; the promised one comes first."""

    def __init__(self):
        self.pair, self.commitments, self.rounds, self.games, self.referees = None, {}, set(), set(), set()
        # Attempt to (conversation, the referees that were asked, of which all but the last may have refused); conversation to attempt.
        self.assigned, self.attempts = {}, {}
        self.since, self.given = None, {}  # when a referee was first given it; conversation to when

    def promise(self, commitment, time, place):
        if commitment and (commitment not in self.commitments or time < self.commitments[commitment][0]):
            self.commitments[commitment] = time, place

    def first_place(self):
        return next(iter(self.commitments.values()))[1]


class AcceptedLoss:
    """An operator went on from an older journal (docs/audit.md, "Given up"). `decided`: the matches that had a result then;
    `later`: whether others have one by now."""

    def __init__(self, when, text, decided, place):
        self.when, self.time, self.text, self.decided, self.place = when, seconds_of(when), text, frozenset(decided), place
        self.later = False

    def covers(self, match, at):
        return at < self.time and match not in self.decided


def journal_entries(path):
    """Number, type, payload and digest of all entries; none if they cannot be read, None if it is not a database."""
    if sqlite3 is None:
        return []
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    is_open = False
    with contextlib.suppress(OSError):
        is_open = os.path.getsize(path + "-wal") > 0
    # SQLite leaves files behind, or cannot read where nobody may write, unless it is told that nothing will change.
    for mode in ("mode=ro", "immutable=1") if is_open else ("immutable=1",):
        try:
            with contextlib.closing(sqlite3.connect(f"file:{quoted}?{mode}", uri=True)) as journal:
                return journal.execute("SELECT sequence, type, payload, digest FROM entries ORDER BY sequence").fetchall()
        except sqlite3.Error as error:
            if type(error) is sqlite3.DatabaseError:
                return None
    return []


def is_results(content):
    """Whether this is a bundle's results.json, with nothing that no match of its game ends with."""
    if text_of(content, "format") != "league.results" or not isinstance(content.get("results"), list):
        return False
    game = EVEN_ODD if content.get("game") is None else Game.read(content["game"])
    rows, given_up = content["results"], content.get("given_up")
    return (game is not None and all(is_result(row, game) for row in rows) and isinstance(content.get("voided"), (list, type(None)))
            and (given_up is None or (isinstance(given_up, list) and all(
                seconds_of(text_of(row, "at")) is not None and -1 < (row["results"] if is_number(row.get("results")) else -1) <= len(rows)
                for row in given_up))))


def is_result(row, game):
    outcome = text_of(row, "outcome")
    if outcome not in ("A", "B", "DRAW", "NONE") or not text_of(row, "match_id"):
        return False
    if row.get("points") is None:  # older bundles
        return True
    points = tuple(number_of(row["points"], side) for side in "AB")
    if text_of(row, "by") == "MANAGER" or text_of(row, "reason"):
        return game.technical.get(points) == ("NONE" if outcome == "DRAW" else outcome)
    return game.outcome(points, False) == outcome


class Journal:
    """What the manager's journal says of the newest league in a directory, or a bundle's results.json, which has less of it."""

    def __init__(self, directory):
        self.given_up, self.voided = [], None
        self.damage = ""  # what is wrong with the file
        self.league_key, self.files_keyed, self.declared, self.meetings = "", False, set(), None
        self.game = None
        self.digests = []  # up to each entry, chained
        self.results = {}  # match -> by_manager, attempt, referee, result
        self.receipts = {}  # match -> those of A and of B
        self.hosted = frozenset()  # players that the manager runs, by the latest profiles
        self.seats = set()  # agents that have registered
        self.seated_anew = {}  # agent whose seat somebody else had before -> since when it is its own
        self.fairness = {}  # match -> what the manager calls it, and whom the manager ran when it ended
        self.asked = set()  # (match, attempt, player)
        self.heads = []  # (agent, number and hash of its line, entry)
        self.decided = []  # (entry, match, what `results` has of it, or None where it was made void), in order
        self.cuts = []  # (time, entry): what was said before that time of this entry and later ones need not be true any more
        self.assigned = {}
        path = os.path.join(directory, "data", "journal", "journal.sqlite")
        self.path = path if os.path.isfile(path) else os.path.join(directory, "data", "results.json")
        self.is_there = os.path.isfile(self.path)
        if self.path == path:
            self.read_entries()
        elif self.is_there:
            self.read_bundle(read_json(self.path))
        for past in self.given_up:
            past.later = set(self.results) > past.decided

    def read_entries(self):
        self.voided, digest, is_damaged = {}, bytes(32), False
        entries = journal_entries(self.path)
        if entries is None:
            self.damage = "it cannot be read"
        for number, kind, payload, stored in entries or ():
            kind, payload = (part if isinstance(part, str) else "" for part in (kind, payload))
            digest = hashlib.sha256(digest + f"{kind}\n{payload}".encode("utf-8", "surrogatepass")).digest()
            self.digests.append(digest.hex())
            is_damaged = is_damaged or stored != digest or number != len(self.digests)
            self.take(number, kind, parse_object(payload))
        if is_damaged:
            self.damage = "an entry was changed or is missing"
        if self.damage:
            self.files_keyed, self.declared, self.digests, self.results, self.receipts, self.asked, self.heads = False, set(), [], {}, {}, set(), []
            self.fairness, self.seated_anew = {}, {}

    def take(self, number, kind, event):
        match = text_of(event, "match")
        if kind == "LEAGUE_CREATED":
            self.league_key, self.files_keyed = text_of(event, "league_key"), event is not None and event.get("files_keyed") is True
            self.meetings = number_of(event, "meetings")
            if event and event.get("game") is not None:
                self.game = Game.read(event["game"])
                if self.game is None or self.game.name != event.get("game_type"):
                    self.game, self.damage = None, "its first entry defines no game, or another one than it names"
        elif kind in ("AGENT_REGISTERED", "AGENT_REREGISTERED"):
            player, profile = text_of(event, "agent").split(":")[-1], dict_of(event, "profile")
            if kind == "AGENT_REGISTERED" and player in self.seats:  # freed before the start
                self.seated_anew[agent_of(player)] = seconds_of(text_of(event, "at")) or 0.0
                self.declared.discard(player)
            self.seats.add(player)
            if profile.get("receipts") is True:
                self.declared.add(player)
            if (profile.get("played_by") == "host") != (player in self.hosted):
                self.hosted ^= {player}
        elif kind == "MATCH_ASSIGNED":
            self.assigned[match] = number_of(event, "attempt") or 0, id_by_index("REF", event, "referee")
        elif kind in ("MATCH_REPORTED", "MATCH_FORFEITED"):
            self.results[match] = kind == "MATCH_FORFEITED", *self.assigned.get(match, (0, "-")), dict_of(event, "result")
            self.decided.append((number, match, self.results[match]))
            self.fairness[match] = text_of(event, "fairness"), self.hosted
            if "receipts" in (event or {}):
                self.receipts[match] = [dict_of(event["receipts"], side) for side in "AB"]
        elif kind == "PLAYERS_ASKED":
            self.asked |= {(match, number_of(event, "attempt"), id_by_index("P", word, "player")) for word in list_of(event, "words")}
        elif kind == "LOG_HEADS":
            self.heads += [(text_of(head, "agent"), (number_of(head, "seq"), text_of(head, "hash")), number) for head in list_of(event, "heads")]
        elif kind == "OPERATOR_ACTED" and match:
            self.decided.append((number, match, None))
            self.voided[match] = text_of(event, "by"), text_of(event, "reason"), text_of(event, "replay"), (self.path, number)
        elif kind == "LEAGUE_CONTINUED":
            at = seconds_of(text_of(event, "at"))
            if at is not None and (event.get("term") or text_of(event, "given_up")):
                self.cuts.append((at, 0 if text_of(event, "given_up") else number))
            if text_of(event, "given_up") and at is not None:
                self.given_up.append(AcceptedLoss(event["at"], event["given_up"], set(self.results), (self.path, number)))

    def read_bundle(self, content):
        if not is_results(content):
            self.damage = "it is not from a bundle, or a result in it is not one of its game"
            return
        self.voided = {match: (text_of(row, "by"), text_of(row, "reason"), text_of(row, "replayed_as"), (self.path, 0))
                       for row in list_of(content, "voided") if (match := text_of(row, "match_id"))}
        self.league_key, self.files_keyed = text_of(content, "league_key"), content is not None and content.get("files_keyed") is True
        self.meetings, self.game = number_of(content, "meetings"), Game.read(content.get("game"))
        self.declared = {player for player in list_of(content, "with_receipts") if isinstance(player, str)}
        self.hosted = texts_of_list(content, "hosted")
        self.seated_anew = {agent: at for agent in dict_of(content, "seated_anew")
                            if (at := seconds_of(text_of(content["seated_anew"], agent))) is not None}
        self.asked = {(text_of(row, "match_id"), number_of(row, "attempt"), player) for row in list_of(content, "questions")
                      for player in list_of(row, "players") if isinstance(player, str)}
        rows = list_of(content, "results")
        for row in rows:
            match = text_of(row, "match_id")
            self.results[match] = text_of(row, "by") == "MANAGER", 0, "", {"outcome": row.get("outcome")} if isinstance(row, dict) else {}
            is_told = isinstance(row, dict) and isinstance(row.get("hosted"), list)
            self.fairness[match] = text_of(row, "fairness"), texts_of_list(row, "hosted") if is_told else self.hosted
            if dict_of(row, "receipts"):
                self.receipts[match] = [dict_of(row["receipts"], side) for side in "AB"]
        decided = [text_of(row, "match_id") for row in rows]
        self.given_up = [AcceptedLoss(row["at"], text_of(row, "text"), decided[:row["results"]], (self.path, 0))
                         for row in list_of(content, "given_up")
                         if seconds_of(text_of(row, "at")) is not None and number_of(row, "results") is not None]

    def has_head(self, seq, digest):
        return seq is not None and 0 < seq <= len(self.digests) and self.digests[seq - 1] == digest

    def results_text(self, entry, pairs):
        """The results that are signed with the league's end (docs/protocol.md)."""
        until = [(match, row) for at, match, row in self.decided if at <= entry]
        results, voided, lines = {match: row for match, row in until if row}, {match for match, row in until if not row}, []
        for match, (_, attempt, referee, result) in sorted(results.items(), key=lambda one: place_in_schedule(one[0])):
            winner = {"A": 0, "B": 1}.get(text_of(result, "outcome"))
            number = number_of(result, "drawn_number")
            shown_choices = [text_of(result, name) or "-" for name in ("choice_a", "choice_b")]
            lines.append("|".join([match, str(attempt), referee or "-", "-" if winner is None or not pairs.get(match) else pairs[match][winner],
                                   str(number or "-"), *shown_choices, text_of(result, "technical_reason") or "NORMAL",
                                   "VOID" if match in voided else "-"]))
        return "".join(line + "\n" for line in lines)

    def heads_text(self, entry):
        newest = {agent.split(":")[-1]: head for agent, head, at in self.heads if at <= entry}
        return len(newest), "".join(f"{agent} {seq} {digest}\n" for agent, (seq, digest) in sorted(newest.items()))


def agent_of(seat):
    return ("referee:" if seat.startswith("REF") else "player:") + seat


def id_by_index(prefix, value, key):
    """The journal numbers agents from 0."""
    index = number_of(value, key)
    return "" if index is None else f"{prefix}{index + 1:02}"


def place_in_schedule(match):
    parts = re.match(r"R(\d{1,9})M(\d{1,9})", match, re.ASCII)
    return (int(parts[1]), int(parts[2]), match) if parts else (1 << 40, 0, match)


class Forgetting:
    """Takes out of a league what one AcceptedLoss has made void: what happened before it to matches that had no result then. Where
    a match was announced anew, the promise of its seed tells which play a record is of; else its time does."""

    def __init__(self, league, past):
        self.league, self.past = league, past
        self.old, self.new = self.promises()
        given = {}
        for entry, at, _, _ in league.announced:
            if entry[6]:
                given.setdefault(entry[0], []).append((at, entry[6]))
        self.reported_before, self.reported_since = set(), set()
        for said in league.reports:
            known = self.reported_before if said.time < past.time else self.reported_since
            last = max((one for one in given.get(said.match_id, ()) if one[0] <= said.time), default=(0, ""))
            known |= {(said.match_id, said.conversation), (said.match_id, last[1])}  # it may report in a conversation of its own
        self.lost = {}

    def promises(self):
        """Match to the commitments that the manager gave before and since; by its own log where that has them. A round that
        the journal still has keeps its own, so only where there are new ones the others are replaced."""
        first = {}
        for entry, at, _, by_manager in self.league.announced:
            known = first.get(entry[:2], (not by_manager, at))
            first[entry[:2]] = min(known, (not by_manager, at))
        old, new = {}, {}
        for (match, commitment), (_, at) in first.items():
            if commitment and match not in self.past.decided:
                (old if at < self.past.time else new).setdefault(match, set()).add(commitment)
        return {match: names for match, names in old.items() if match in new}, new

    def is_void(self, said, match=None):
        return self.past.covers(match or said.match_id, said.time)

    def is_replaced(self, match, commitment):
        return commitment in self.old.get(match, ())

    def run(self):
        league, past = self.league, self.past
        for said in league.reports:
            if self.is_void(said):
                self.lost.setdefault(said.match_id, text_of(said.message.get("result"), "winner") or "nobody")
        league.forgotten |= set(self.lost)
        league.reports = [said for said in league.reports if not self.is_void(said)]
        league.disputes = [said for said in league.disputes
                           if not self.is_void(said, text_of(dict_of(said.message, "query_params"), "match_id"))]
        league.overs = [said for said in league.overs if not self.is_void_over(said)]
        for (agent, match), calls in league.calls.items():
            league.calls[agent, match] = self.remaining(match, calls)
        league.announced = [self.as_now(*one) for one in league.announced if not self.is_replaced(*one[0][:2])]
        if self.lost or past.later:
            league.finals = [said for said in league.finals if said.time >= past.time]
        results = ", ".join(f"{shown(match)} ({shown(winner)} had won)" for match, winner in sorted(self.lost.items()))
        league.found.incident(past.place, "journal.given_up",
                              f"the operator continued with an older journal at {past.when} ({shown(past.text, 500)}); accepted "
                              f"results that no longer count ({len(self.lost)})" + (f": {results}" if results else ""))

    def is_void_over(self, said):
        seed = text_of(said.message, "draw_proof")
        is_void = self.is_void(said) or (HEX64.match(seed) is not None and self.is_replaced(
            said.match_id, draw_commitment(bytes.fromhex(seed), said.match_id)))
        self.league.forgotten |= {said.match_id} if is_void else set()
        return is_void

    def remaining(self, match, calls):
        """Of the calls that one log has of a match: those of the play that counts."""
        mine = [call for call in calls if not self.is_replaced(match, call.promise)]
        since = {(call.conversation, call.callee) for call in mine
                 if call.stated == "GAME_INVITATION" and call.time >= self.past.time}
        mine = [call for call in mine if call.promise in self.new.get(match, ()) or not self.is_void(call, match)
                or self.goes_on(match, call, since)]
        self.league.forgotten |= {match} if len(mine) < len(calls) else set()
        return mine

    def goes_on(self, match, call, since):
        """A referee that kept running has played this to its end and reported it since; or the clock of this log is late."""
        attempt = match, call.conversation
        return attempt in self.reported_since and attempt not in self.reported_before and (call.conversation, call.callee) not in since

    def as_now(self, entry, at, place, by_manager):
        """The promise still holds, but not to which referee the match was given then."""
        if self.past.covers(entry[0], at):
            entry = (*entry[:5], "", "", entry[7], None)
        return entry, at, place, by_manager


# The rules that judge what was said about one match, the most fundamental first: of one match one finding is kept.
ONCE = {rule: rank for rank, rule in enumerate((
    "transfer.differs", "result.form", "draw.unrevealed", "draw.proof", "commitment.handed", "commitment.dropped", "commitment.second",
    "choice.differs", "loss.unheard", "loss.contradicted", "commitment.opening", "draw.version", "draw.number", "result.number", "result.score",
    "result.winner", "draw.winner", "receipt.false", "over.contradicts"))}


LISTS = ("finals", "ends", "disputes", "overs", "journal_heads", "agent_heads", "questions")


class League:
    """All that the logs of one league say, and whether it agrees."""

    def __init__(self, chains, sections, findings, is_newest):
        self.chains, self.sections, self.found, self.is_newest = chains, sections, findings, is_newest
        self.mine = set(map(id, sections))
        self.matches, self.keys, self.at_home, self.declared = {}, {}, set(), set()
        self.registered, self.reports, self.heads, self.with_receipts = [], [], [], set()
        for name in LISTS:
            setattr(self, name, [])
        # (agent, match) -> the calls that its log has, in order
        self.calls = {}
        # What the manager said of matches: (entry, time, place, whether its own log has it)
        self.announced = []
        # Matches of which something was given up.
        self.forgotten = set()
        self.results, self.accepted = {}, {}  # the first report of a match; all of them
        self.logs = {}
        for section in sections:
            self.logs.setdefault(section.agent, [])
        self.knows_identity = any(s.league_key for s in sections if s.agent == MANAGER)
        for chain in sorted(chains, key=lambda chain: MANAGER not in chain.names):  # what the manager's own log says comes first
            self.gather(chain)

    # -- gathering
    def facts(self, kept, section_of):
        return [fact for fact in kept if id(section_of(fact)) in self.mine]

    def gather(self, chain):
        facts = chain.facts
        own = {section.agent for section in chain.sections if id(section) in self.mine}
        for agent in own:
            self.logs[agent].append(chain)
        for entry, (at, place) in facts.announced.items():
            if id(entry[0]) in self.mine:
                self.announced.append((entry[1:], at, place, entry[0].agent == MANAGER))
        for agent, meta, said in (registered := self.facts(facts.registered, lambda fact: fact[2].section)):
            self.declared.add(agent)
            if text_of(meta, "log_public_key"):
                self.keys.setdefault(agent, {}).setdefault(text_of(meta, "log_public_key"), said.place)
            if meta.get("match_credentials") is True:
                self.at_home.add(agent)
            if meta.get("receipts") is True:
                self.with_receipts.add(agent.split(":")[-1])
        self.registered += registered
        self.reports += self.facts(facts.reports, lambda said: said.section)
        for name in LISTS:
            setattr(self, name, getattr(self, name) + self.facts(getattr(facts, name), lambda said: said.section))
        self.heads += self.facts(facts.heads, lambda fact: fact[2].section)
        for said in self.facts(facts.calls, lambda said: said.section):
            self.calls.setdefault((said.section.agent, said.match_id), []).append(said)

    def note_match(self, entry, at, place):
        match, commitment, a, b, game, referee, conversation, round_id, attempt = entry
        known = self.matches.setdefault(match, Announced())
        known.promise(commitment, at, place)
        known.pair = known.pair or ((a, b) if a and b else None)
        known.rounds |= {round_id} - {None}
        known.games |= {game} - {""}
        known.referees |= {f"referee:{referee}"} if referee else set()
        if conversation and attempt is not None:
            known.assigned.setdefault(attempt, (conversation, []))[1].append(referee)
            known.since = at if known.since is None else min(known.since, at)
            known.given[conversation] = min(at, known.given.get(conversation, at))
            known.attempts.setdefault(conversation, attempt)

    # -- checking
    def check(self, directory, without):
        self.managers = self.logs.get(MANAGER, [])
        self.journal = Journal(directory) if self.is_newest else None
        self.given_up = self.journal.given_up if self.journal else []
        if self.journal and self.journal.damage:
            self.found.fault((os.path.join(directory, "data"), 0), "journal.damaged", f"{self.journal.path}: {self.journal.damage}")
        self.check_game()
        for past in self.given_up:
            Forgetting(self, past).run()
        for entry, at, place, _ in self.announced:
            self.note_match(entry, at, place)
        for said in self.reports:
            known = self.matches.get(said.match_id)
            if known:
                known.referees.add(said.sender)
        self.check_heads()
        self.check_promises()
        self.check_keys()
        self.check_seals()
        self.check_transfers()
        self.check_copies()
        self.check_strays()
        for said in self.reports:
            Report(self, said).check()
        self.check_overs()
        self.check_seconds()
        Losses(self).check()
        self.check_receipts()
        self.check_hosted()
        Witnesses(self).check()
        self.judge_once()
        self.note_undrawn()
        self.note_abandoned()
        self.note_steered()
        self.note_disputes()
        self.note_voided(self.journal.voided if self.journal else None)
        for said in self.final():
            self.check_table(said)
        if self.is_newest:
            Files(self, directory).check()

    def check_game(self):
        """The definition in the journal is the one that the agents were told."""
        told = [(game, said) for _, _, said in self.registered if said.section.agent == MANAGER and (game := Game.read(said.message.get("game")))]
        kept = self.journal and self.journal.game
        self.game = kept or next((game for game, _ in told), EVEN_ODD)
        for game, said in told:
            if vars(game) != vars(self.game):
                return self.found.fault(said.place, "game.differs", f"the manager told another game than {shown(self.game.name)} as the league plays it")
        return None

    def check_heads(self):
        for seq, head, said in self.heads:
            if self.managers and not any(chain.hashes.get(head, -1) == seq for chain in self.managers):
                self.found.fault(said.place, "witness.head", f"the manager's log had a line {shown(head)} after record {seq}; it is gone")

    @property
    def is_running(self):
        """Whether nothing here says that the league is over: then its files may have been copied one after the other."""
        return bool(self.managers) and not any(chain.closed for chain in self.managers) and not self.finals and not self.ends

    def check_promises(self):
        """Players are also told by the match's referee which seed was promised."""
        for (agent, match), calls in self.calls.items():
            known = self.matches.setdefault(match, Announced())
            for said in calls:
                entitled = said.sender in known.referees or not known.referees
                if entitled and (said.checked or said.out):
                    known.promise(said.promise, said.time, said.place)
        for match, known in self.matches.items():
            if len(known.commitments) > 1:
                _, place = min(list(known.commitments.values())[1:])
                self.found.fault(place, "draw.commitment", f"{shown(match)} has several commitments: not everybody got the same one")

    def check_keys(self):
        for agent in self.declared:
            keys = self.keys.get(agent, {})
            if not keys:  # its seals prove nothing, and nothing is expected of them
                continue
            for chain in self.logs.get(agent, []):
                used = {s.key for s in chain.sections if s.agent == agent and id(s) in self.mine and s.key}
                if used - set(keys):
                    self.found.fault((chain.files[-1], 1), "key.unregistered", f"{agent} seals with a key that it has not registered")

    def is_keeper(self, agent):
        """Whether it registered a log key, so that its log must be whole and sealed."""
        return agent == MANAGER or agent in self.keys

    def check_seals(self):
        for agent, chains in self.logs.items():
            for section, place in (gap for chain in chains for gap in chain.gaps if self.is_keeper(agent)):
                if id(section) in self.mine and section.agent == agent:
                    self.found.miss(place, "seal.absent", "the log has no seal before this record, though its program went on writing for longer "
                                    f"than it may leave lines unsealed. Ask {agent.split(':')[-1]} for the log as it was written.")

    def runs_of(self, agent):
        return [run for chain in self.logs.get(agent, []) for run in chain.runs]

    def runs_at(self, agent, at):
        """Of each of its logs the run that had begun last by then: two managers, each with its own log, are one agent."""
        begun = [[run for run in chain.runs if run.begin <= at] for chain in self.logs.get(agent, [])]
        return [max(runs, key=lambda run: run.begin) for runs in begun if runs]

    def check_transfers(self):
        """What somebody took for good, its sender must have a record of, and what somebody acknowledged, its receiver, unless a kill
        took the end of the log."""
        lost = {}
        sent, heard = ({agent: dict(fact for chain in chains for fact in getattr(chain.facts, name).items())
                        for agent, chains in self.logs.items()} for name in ("sent", "heard"))
        for agent, chains in self.logs.items():
            received, delivered = ([said for chain in chains for said in getattr(chain.facts, name) if id(said.section) in self.mine
                                    and said.other in sent and said.other != agent] for name in ("received", "delivered"))
            # The usual message tells how far two clocks are apart: of two alike ones one may be lost and the wrong two compared.
            late = usual_ways((said.other, said.time - sent[said.other][said.digest]) for said in received if said.digest in sent[said.other])
            for said in received:
                if said.digest not in sent[said.other] and not self.is_of_another(said):
                    self.judge_unsent(said, said.time - late.get(said.other, 0.0), lost)
            late = {peer: -way for peer, way in late.items()} | usual_ways(
                (said.other, heard[said.other][said.digest] - said.time) for said in delivered if said.digest in heard[said.other])
            for said in delivered:
                if said.digest not in heard[said.other] and said.other in late and not self.is_of_another(said):
                    self.judge_unheard(said, said.time + late[said.other])
        for run, (agent, first, last, count) in lost.items():
            self.judge_tail(run, agent, last - first, count)

    def is_of_another(self, said):
        """Whether this went to, or came from, somebody who had the id before: its seat was freed before the start, and the manager may tell it
        so when it is given again already."""
        since = self.journal.seated_anew.get(said.other) if self.journal and said.section.agent == MANAGER else None
        return since is not None and (said.asked.time if said.kind == "reply" and said.asked else said.time) < since + 1

    def check_strays(self):
        """In a log of which a line is damaged or malformed, that may be the request."""
        for chain in self.chains:
            is_damaged = chain.faults or any(fault["rule"] == "record.form" for fault in chain.facts.faults)
            for said, rule, text in chain.facts.strays:
                is_lost = is_damaged or not (said.section.run.closed or said.time <= said.section.run.end - 1)
                if id(said.section) in self.mine and (rule == "reply.second" or not is_lost):
                    self.found.fault(said.place, rule, text)

    def check_copies(self):
        """Two records of one message say the same (docs/audit.md, `transfer.differs`)."""
        copies = [copy for chain in sorted(self.chains, key=lambda chain: chain.path) for copy in chain.facts.copies
                  if id(copy[2].section) in self.mine]
        known, suspects = {}, {}
        for digest, text, _ in copies:
            if known.setdefault(digest, text) != text:
                suspects[digest] = []
        for digest, _, said in copies if suspects else ():
            if digest in suspects:
                suspects[digest].append(said)
        wanted = {said.place for same in suspects.values() for said in same}
        texts = {}
        for chain in {id(said.section.chain): said.section.chain for same in suspects.values() for said in same}.values():
            texts |= texts_of(chain, wanted)
        for same in suspects.values():
            self.compare_copies(same, next((said for said in same if said.out), same[0]), texts)

    def compare_copies(self, copies, first, texts):
        for said in copies:
            if said.section.chain is first.section.chain or are_alike(texts[said.place], texts[first.place]):
                continue
            text = (f"the logs of {first.section.agent} ({first.place[0]}:{first.place[1]}) and {said.section.agent} have a message with the same "
                    "digest, but not the same text: one of the two was rewritten")
            if min(first.section.version, said.section.version) > 2:
                self.found.fault(said.place, "transfer.differs", text)
            else:
                self.found.notes.append(f"{said.place[0]}:{said.place[1]}: transfer.differs: {text}")
            return

    def judge_unheard(self, said, at):
        """The receiver's clock showed `at`; what came a second before its end may be lost."""
        runs = self.runs_at(said.other, at + 1)
        if runs and all(run.closed or at <= run.end - 1 for run in runs) and not self.is_lost(said.other, at - 1, at + 1):
            self.found.fault(said.place, "transfer.one_sided", f"{said.other} has acknowledged this {said.stated}, but its own log does not have it")

    def judge_unsent(self, said, at, lost):
        runs = self.runs_at(said.other, at) or self.runs_of(said.other)[:1]
        # Some messages are quicker than the usual one by which clocks are compared.
        unfinished = [run for run in runs if not run.closed and at > run.end - 1]
        if unfinished:
            run = max(unfinished, key=lambda run: run.end)
            agent, first, last, count = lost.get(run, (said.other, at, at, 0))
            lost[run] = agent, min(first, at), max(last, at), count + 1
        elif runs:
            self.found.fault(said.place, "transfer.one_sided", f"{said.other} has no record of having sent this")

    def judge_tail(self, run, agent, span, count):
        """A log may have been quiet for long before it was killed, so what counts is the time that the lost messages fill."""
        text = f"{agent}'s log ends here; other logs contain later messages that it sent: {count}, within {span:.1f} s"
        if span > TAIL_SECONDS:
            self.found.fault(run.place, "log.short", text)
        else:
            self.found.incident(run.place, "log.tail_lost", text + ": what a kill may take")

    def is_lost(self, agent, first, last):
        """The agent's run behind whose unsealed end something of this time may have stood; None if there is none."""
        runs = sorted(self.runs_of(agent), key=lambda run: run.begin)
        for run, after in zip(runs, [*runs[1:], None]):
            if not run.closed and last > run.end and (after is None or first < after.begin):
                return run
        return None

    def seed_of(self, match, proof, place):
        known = self.matches.get(match)
        if not HEX64.match(proof):
            self.found.fault(place, "draw.proof", "draw_proof is not a seed of 256 bits")
        elif known is None or draw_commitment(bytes.fromhex(proof), match) not in known.commitments:
            self.found.fault(place, "draw.proof", "the revealed seed is not the one that was committed to")
        else:
            return bytes.fromhex(proof)
        return None

    def check_overs(self):
        """GAME_OVER reveals the seed that was promised, and tells the result that the manager accepted."""
        seen, contradicting = set(), set()
        for said in sorted(self.overs, key=lambda said: said.section.chain.path):
            proof, known = text_of(said.message, "draw_proof"), self.matches.get(said.match_id)
            key = said.section.agent, said.match_id, proof
            if not known or said.sender not in known.referees:
                continue
            if proof and key not in seen:
                seen.add(key)
                self.seed_of(said.match_id, proof, said.place)
            told = [report.contradicts(said) for report in self.accepted.get(said.match_id, ()) if report.said.sender == said.sender]
            if told and all(told) and said.is_sealed and said.match_id not in contradicting:
                contradicting.add(said.match_id)
                self.found.fault(said.place, "over.contradicts", f"{said.sender} told {said.section.agent} another result of {said.match_id} than "
                                                                 f"the one that it reported: {told[0]}")

    def judge_once(self):
        """What the later ones of these rules find of a match follows from what the earlier ones found."""
        matches = {}
        for said in itertools.chain(self.reports, self.overs, (call for calls in self.calls.values() for call in calls)):
            for one in (said, said.answer) if said.stated in GAME_CALLS else (said,):
                if one is not None:
                    matches.setdefault(one.place, said.match_id)
        best = {}
        for fault in self.found.faults:
            match, rank = matches.get((fault["file"], fault["line"])), ONCE.get(fault["rule"])
            if match and rank is not None:
                best[match] = min(best.get(match, (rank, fault)), (rank, fault), key=lambda one: one[0])
        self.found.faults = [fault for fault in self.found.faults if fault["rule"] not in ONCE
                             or best.get(matches.get((fault["file"], fault["line"])), (0, fault))[1] is fault]

    # -- what players and referees wrote down of a match
    def own_calls(self, agent, match, conversation, sender=None):
        """The calls of one attempt in somebody's log. A third-party referee may call in one conversation and report in another."""
        calls, known = self.calls.get((agent, match), []), self.matches.get(match)
        own = [call for call in calls if call.conversation == conversation]
        if own or sender is None or known is None:
            return own
        return [call for call in calls if call.sender == sender
                and not (conversation in known.attempts and call.conversation in known.attempts)]

    def answers(self, agent, match, conversation, kind, player=None, sender=None):
        """The valid-looking answers to calls of this kind that the log of `agent` has (of a referee: by this player)."""
        found = []
        for call in self.own_calls(agent, match, conversation, sender):
            is_own = player is None or call.peer == player
            if call.stated == kind and is_own and call.valid_answer and (call.checked or call.out):
                found.append(call.answer)
        return found

    def attempts(self, match):
        known = self.matches[match]
        conversations = {call.conversation: call.time for calls in self.calls_of(match) for call in reversed(calls)}
        return sorted(conversations, key=lambda name: (known.attempts.get(name, 1 << 40), conversations[name]))

    def calls_of(self, match):
        return [calls for (_, of), calls in self.calls.items() if of == match]

    def handed_over(self, match, conversation, player, opponent, sender=None):
        """The commitment of `player` in the last call that its opponent's log has; None if there is no such call."""
        calls = [call for call in self.own_calls(f"player:{opponent}", match, conversation, sender)
                 if call.stated == "CHOOSE_PARITY_CALL" and call.checked]
        return handed_in(calls[-1]) if calls else None

    @staticmethod
    def answered_call(calls, replays):
        """Of the calls of one attempt to one player: the call for a choice that it answered first in the last play. A second invitation
        begins no other play, unless there were as many `replays`."""
        found, is_invited_again = None, False
        for call in (call for call in calls if call.valid_answer and (call.checked or call.out)):
            if call.stated == "GAME_INVITATION":
                is_invited_again = is_invited_again or (found is not None and call.valid_answer.message.get("accept") is not False)
                continue
            plays = [number_of(dict_of(one.message, "context"), "play") for one in (call, found or call)]
            if found is None or (plays[0] > plays[1] if None not in plays else is_invited_again and replays > 0):
                replays -= found is not None
                found, is_invited_again = call, False
        return found

    def handed_by_referee(self, match, conversation, player):
        """The same by the log of the referee itself, where its opponent has none."""
        for (agent, of), calls in self.calls.items():
            if of == match and agent.startswith("referee:"):
                for call in reversed(calls):
                    if call.conversation == conversation and call.peer != f"player:{player}" and dict_of(call.message, "context"):
                        return text_of(dict_of(call.message, "context"), "opponent_commitment")
        return None

    def check_seconds(self):
        """If both commitments counted once, they hold for the match (docs/protocol.md)."""
        for match, known in self.matches.items():
            attempts = [name for name in self.attempts(match) if not self.is_after_the_end(match, name)] if known.pair else []
            for at, first in enumerate(attempts):
                bound = {}
                for player, opponent in (known.pair, known.pair[::-1]):
                    told = self.handed_over(match, first, player, opponent)
                    bound[player] = told if told is not None else self.handed_by_referee(match, first, player)
                    given = [text_of(ack.message, "choice_commitment") for ack in self.answers(f"player:{player}", match, first, "GAME_INVITATION")]
                    if bound[player] is None and f"player:{opponent}" not in self.logs:
                        bound[player] = given[-1] if given else None  # nobody says what its opponent was told
                    if given and bound[player] not in given:  # what a referee handed over, but the player never gave, binds nobody
                        bound[player] = None
                if not all(bound.values()):
                    continue
                for later in attempts[at + 1:]:
                    for player in known.pair:
                        self.check_second(match, first, later, player, bound[player])
                break

    def is_after_the_end(self, match, conversation):
        """Whether a late invitation was answered when a player had been told the end of another attempt: with the commitments
        opened, and forgotten, this binds nobody unless a result comes of it. Clocks differ: each log is compared with itself."""
        if any(said.match_id == match and said.conversation == conversation for said in self.reports):
            return False
        acks = [ack for player in self.matches[match].pair for ack in self.answers(f"player:{player}", match, conversation, "GAME_INVITATION")]
        return any(over.match_id == match and over.section.agent == ack.section.agent and over.time <= ack.time
                   for over in self.overs for ack in acks)

    def check_second(self, match, first, later, player, bound):
        own = self.answers(f"player:{player}", match, later, "GAME_INVITATION")
        heard = [answer for (agent, of), calls in self.calls.items() if of == match and agent.startswith("referee:")
                 for answer in self.answers(agent, match, later, "GAME_INVITATION", f"player:{player}") if answer.checked]
        report = next((said for said in self.reports if said.match_id == match and said.conversation == later), None)
        for ack in own or heard:
            if ack.message.get("accept") is not False and text_of(ack.message, "choice_commitment") != bound:
                return self.found.fault(report.place if report else ack.place, "commitment.second",
                                        f"player:{player} had committed to another choice of {match} in {shown(first)}; both "
                                        "commitments counted, so they hold for the match")
        opponent = next(p for p in self.matches[match].pair if p != player)
        handed = self.handed_over(match, later, player, opponent)
        if not own and handed is not None and handed != bound and report:
            self.found.fault(report.place, "commitment.second", f"player:{player} had committed to another choice of {match} in {shown(first)} than "
                                                                f"player:{opponent} was told in {shown(later)}")
        return None

    def note_undrawn(self):
        shown_to_players = {said.match_id for said in self.overs if text_of(said.message, "draw_proof")}
        for match, known in self.matches.items():
            kept = self.journal.results.get(match) if self.journal else None
            is_reported = match in self.results or match in shown_to_players or (kept is not None and not kept[0])
            if known.commitments and self.finals and not is_reported:
                self.found.incident(known.first_place(), "draw.unrevealed",
                                    f"{shown(match)} was ended by the manager: nothing was drawn, and its seed was revealed to nobody")

    def note_abandoned(self):
        """Who knows the seed knows the result as soon as both have chosen, and could give up what it dislikes."""
        for match, known in self.matches.items():
            result = self.results.get(match)
            if result is None or not known.pair:
                continue
            for conversation in self.attempts(match):
                counts = any(call.conversation == conversation for p in known.pair
                             for call in self.own_calls("player:" + p, match, result.conversation, result.said.sender))
                if counts or conversation == result.conversation or result.conversation not in known.attempts:
                    continue
                chose = [answer for agent in ("player:" + p for p in known.pair)
                         for answer in self.answers(agent, match, conversation, "CHOOSE_PARITY_CALL")[-1:]]
                if len(chose) < 2:
                    chose = [answers[-1] for referee in known.referees for p in known.pair
                             if (answers := self.answers(referee, match, conversation, "CHOOSE_PARITY_CALL", "player:" + p))]
                if len(chose) == 2:
                    attempt = known.assigned.get(known.attempts.get(conversation), ("", ["its referee"]))
                    self.found.incident(chose[-1].place, "draw.abandoned",
                                        f"both players of {match} had chosen in {shown(conversation)}, which {attempt[1][-1]} gave up; "
                                        "the result is of another attempt")

    def note_steered(self):
        """Of two players only one is bound: whoever shows the other what it opened can let it win (docs/protocol.md)."""
        counts = {}
        for _, told in sorted(self.results.items()):
            bound = [player in told.commitments for player in told.pair]
            if told.is_normal and told.winner and bound[0] != bound[1]:
                count = counts.setdefault(told.said.sender, [0, 0, told.place])
                count[0] += 1
                count[1] += told.winner == told.pair[bound[0]]
        for referee, (all_, won, place) in sorted(counts.items()):
            if sum(math.comb(all_, k) for k in range(won, all_ + 1)) / 2**all_ < 1e-4:
                self.found.incident(place, "draw.steered", f"of {all_} decided matches of {referee} in which one player had committed, the other won "
                                                           f"{won}: in honest play that is rarer than once in 10,000 leagues")

    def published_keys(self):
        """Player to the receipt keys that the manager published at the end, under a seal."""
        keys = {}
        for chain in self.managers:
            for name, content, section, line in chain.remarks:
                if name == "receipt_keys" and id(section) in self.mine and section.agent == MANAGER and line < chain.sealed:
                    for player, own in dict_of(content, "keys").items():
                        keys.setdefault(player, []).extend(key for key in own if isinstance(key, str)) if isinstance(own, list) else None
        return keys

    def check_receipts(self):
        """What the manager found of the players' receipts, and, once the keys are known, whether that is so."""
        keys = self.published_keys()
        for match, both in sorted((self.journal.receipts if self.journal else {}).items()):
            told = self.accepted.get(match, [None])[-1]
            for player, own in zip(told.pair, both) if told else ():
                state = text_of(own, "state")
                if state in ("absent", "invalid"):
                    self.found.incident(told.place, "receipt.invalid",
                                        f"the receipts of player:{player} for {match} are {state}: nobody but its referee says what it answered")
                elif state == "valid" and keys and not told.has_receipts(player, own, keys.get(player, ())):
                    self.found.fault(told.place, "receipt.false", f"the manager has accepted receipts of player:{player} for {match} as valid, "
                                                                  "but they are not those of the reported answers")

    def check_hosted(self):
        """The manager calls no match fairer than `hosted` in which it runs a player."""
        for match, (fairness, hosted) in sorted((self.journal.fairness if self.journal else {}).items()):
            told = self.accepted.get(match, [None])[-1]
            if told and fairness in ("both", "one") and hosted & set(told.pair):
                self.found.fault(told.place, "fairness.hosted", f"the manager calls {match} \"{fairness}\", but it runs a player of that match "
                                                                "itself, whose choice it knows before that is revealed")

    def note_disputes(self):
        places = {}
        for fault in self.found.faults:
            places.setdefault((fault["file"], fault["line"]), set()).add(fault["rule"])
        for said in self.disputes:
            match, player = text_of(dict_of(said.message, "query_params"), "match_id"), said.sender.split(":")[-1]
            told = self.results.get(match)
            against = set().union(*(places.get(one.place, ()) for one in (*((told,) if told else ()), *self.overs) if one.match_id == match)) - {
                "draw.commitment"}
            word = ("there is no report of it" if told is None
                    else f"the sealed records support {player} ({', '.join(sorted(against))})" if against
                    else "the sealed records support the report that the manager accepted" if told.is_supported(player)
                    else "the records do not decide")
            self.found.incident(said.place, "match.disputed", f"{shown(said.sender)} disputes {shown(match)}: {word}")

    def final(self):
        """Where the newest final table stands first, if there is one: a match that is made void later has another one sent."""
        def told(said):
            return said.message.get("final_standings"), said.message.get("voided_matches")
        return [said for said in self.finals if told(said) == told(self.finals[-1])][:1]

    def note_voided(self, kept):
        """A void match is a fact and not a fault, if the final table leaves out the same ones as the journal."""
        for said in self.final():
            told = {match for match in list_of(said.message, "voided_matches") if isinstance(match, str)}
            if kept is not None and told != set(kept):
                self.found.fault(said.place, "table.voided",
                                 "the matches that the final table leaves out are not those that are void in the journal")
            for match in sorted(told if kept is None else ()):
                self.found.incident(said.place, "match.voided", f"{shown(match)} is void: by the final table it counts for nobody")
        for match, (by, reason, replay, place) in (kept or {}).items():
            self.found.incident(place, "match.voided", f"{shown(match)} is void, by {shown(by)} ({shown(reason, 300)})"
                                                       + (f"; played again as {shown(replay)}" if replay else ""))

    def check_table(self, final):
        """Points, then points among all who are tied (if all of them have met equally often), then wins, then fewer draws, then the id."""
        rows = list_of(final.message, "final_standings")
        tally = {text_of(row, "player_id"): [0, 0, 0, 0] for row in rows}  # points, wins, draws, losses
        voided = list_of(final.message, "voided_matches")
        games = [(*self.matches[match].pair, *result.points, result.outcome) for match, result in self.results.items()
                 if result.points and match not in voided]
        for a, b, *_ in games:
            if a not in tally or b not in tally:
                return self.found.fault(final.place, "table.players", f"{shown(a)} or {shown(b)} has played but has no row")
        kept = self.journal if self.journal and self.journal.is_there else None
        stated = kept.meetings if kept else number_of(final.message, "meetings")  # None: an older manager
        results = collections.Counter(frozenset(self.matches[match].pair) for match, result in self.results.items() if result.points)
        met = collections.Counter(frozenset((a, b)) for a, b, *_ in games)
        if max(met.values(), default=0) > (stated or 1):
            return self.found.fault(final.place, "table.players", "two players have met more often than the league says")
        whole = [pair for pair, times in results.items() if times >= (stated or 1)]
        if len(whole) < len(rows) * (len(rows) - 1) // 2 or any(known.pair and not getattr(self.results.get(match), "points", None)
                                                                for match, known in self.matches.items()):
            return None  # the manager itself ended some matches, or their reports are no results: only its journal knows how
        for a, b, points_a, points_b, outcome in games:
            for player, own, side in ((a, points_a, "A"), (b, points_b, "B")):
                tally[player][0] += own
                tally[player][1 if outcome == side else 2 if outcome == "DRAW" else 3] += 1
        among, is_equal = dict.fromkeys(tally, 0), {}
        for points in {t[0] for t in tally.values()}:
            tied = [player for player, t in tally.items() if t[0] == points]
            is_equal[points] = len({met[frozenset(pair)] for pair in itertools.combinations(tied, 2)}) < 2
        for a, b, points_a, points_b, _ in games:
            if tally[a][0] == tally[b][0] and (stated is None or is_equal[tally[a][0]]):
                among[a] += points_a
                among[b] += points_b
        key = {player: (-t[0], -among[player], -t[1], t[2]) for player, t in tally.items()}
        order = sorted(tally, key=lambda player: (key[player], id_number(player), player))
        return self.compare_rows(final, rows, tally, key, order)

    def compare_rows(self, final, rows, tally, key, order):
        rank = 0
        if len(order) < len(rows):
            return self.found.fault(final.place, "table.differs", "the final table names a player twice")
        for i, (player, row) in enumerate(zip(order, rows)):
            if i == 0 or key[player] != key[order[i - 1]]:
                rank = i + 1
            points, wins, draws, losses = tally[player]
            told = [row.get(k) for k in ("player_id", "rank", "points", "wins", "draws", "losses", "played")]
            if told != [player, rank, points, wins, draws, losses, wins + draws + losses]:
                return self.found.fault(final.place, "table.differs",
                                        f"row {i + 1} of the final table does not follow from the results")
        return None


def id_number(player):
    match = re.match(r"\D*(\d{1,15})\Z", player, re.ASCII)
    return int(match[1]) if match else 0


def result_of(message):
    """The result of a report, also where a third-party referee writes it in another shape; None where there is none."""
    given = message.get("result")
    if given is None and {"winner", "winner_id", "winner_player_id", "score", "players"} & set(message):
        given = {key: message[key] for key in ("winner", "score") if key in message}
    if not isinstance(given, dict):
        return None
    result = dict(given)
    for source in (given, message):
        for name, ours in (("winner_id", "winner"), ("winner_player_id", "winner"), ("scores", "score")):
            if name in source:
                result.setdefault(ours, source[name])
        players = source.get("players")
        if isinstance(players, dict) and "score" not in result and all(isinstance(row, dict) and "points" in row for row in players.values()):
            result["score"] = {player: row["points"] for player, row in players.items()}
            winners = [player for player, row in players.items() if row.get("result") == "WIN"]
            result.setdefault("winner", winners[-1] if winners else None)
    details = result.get("details")
    if not isinstance(details, (dict, type(None))):
        return result
    details = result["details"] = dict(details or {})
    for source in (given, message):
        for name in ("drawn_number", "number_parity", "choices", "termination"):
            if name in source:
                details.setdefault(name, source[name])
    if given.get("status") == "TECHNICAL_LOSS":
        details.setdefault("termination", "TECHNICAL_LOSS")
    number, score = details.get("drawn_number"), result.get("score")
    # A draw of Even/Odd with 0:0 that says nothing of a failure is one: the manager gave a point to each.
    if (message.get("game_type", "even_odd") == "even_odd" and is_integer(number) and number != 0
            and "termination" not in details and result.get("winner") is None and isinstance(score, dict)
            and len(score) == 2 and all(is_integer(points) and points == 0 for points in score.values())):
        result["score"] = dict.fromkeys(score, 1)
    return result


class Report:
    """One report that the manager accepted."""

    def __init__(self, league, said):
        self.league, self.said, self.found = league, said, league.found
        self.match = self.match_id = said.match_id
        self.place, self.conversation = said.place, said.conversation
        self.decided = said.answer.time if said.answer else said.time
        self.result = result_of(said.message) or {}
        self.details = dict_of(self.result, "details")
        self.points = self.winner = self.outcome = None
        termination = self.details.get("termination")
        self.termination = termination if isinstance(termination, str) else ""
        number = self.details.get("drawn_number")
        # A third-party referee may name no termination; then a number says that it was played.
        self.is_normal = self.termination == "NORMAL" or (not self.termination and number is not None and number != 0)
        self.is_technical = bool(self.termination) and not self.is_normal
        self.choices = dict_of(self.details, "choices")
        self.commitments, self.nonces = (
            {player: text for player, text in dict_of(self.details, name).items() if isinstance(text, str)}
            for name in ("choice_commitments", "choice_nonces"))

    def fault(self, rule, text):
        self.found.fault(self.place, rule, text)

    def check(self):
        known = self.league.matches.get(self.match)
        if known is None or known.pair is None:
            return self.fault("result.unknown_match", f"{shown(self.match)} was never announced")
        self.known, self.pair = known, known.pair
        named = next(iter(known.games), "") or text_of(self.said.message, "game_type")
        self.rules = self.league.game if self.league.game.name == named else EVEN_ODD if named in ("", EVEN_ODD.name) else None
        self.failed = {text_of(failure, "player_id") for failure in list_of(self.details, "failures")} & set(self.pair)
        self.check_authority()
        if not self.check_form():
            return None
        count = len(self.found.faults)
        self.check_score()
        self.is_consistent = len(self.found.faults) == count
        self.check_places()
        self.league.accepted.setdefault(self.match, []).append(self)
        earlier = self.league.results.setdefault(self.match, self)
        if (earlier.points, earlier.winner) != (self.points, self.winner):
            self.fault("result.second", f"{self.match} already has a different result")
        self.is_home = self.said.sender in self.league.at_home or not self.league.knows_identity
        self.check_draw()
        for player, opponent in (self.pair, self.pair[::-1]):
            self.check_choice(player, opponent)
            self.check_limits(player)
            self.check_loss(player)
            self.check_sealed(player, opponent)
        return None

    def check_authority(self):
        known = self.known
        attempt = known.attempts.get(self.conversation)
        own = known.assigned[attempt] if attempt is not None else ("", [])
        asked = own[1] if own[0] == self.conversation and any(own[1]) else [one for _, asked in known.assigned.values() for one in asked]
        assigned = {f"referee:{referee}" for referee in asked if referee}
        if assigned and self.said.sender not in assigned:
            self.fault("authority.report", f"{shown(self.said.sender)} reported a match of {', '.join(sorted(assigned))}")

    def check_form(self):
        score = self.result.get("score")
        winner = self.result.get("winner")
        good = (isinstance(score, dict) and set(self.pair) <= set(score) and all(map(is_integer, score.values())) and (winner is None or isinstance(winner, str))
                and isinstance(self.result.get("details"), (dict, type(None))))
        if not good:
            self.fault("result.form", "it is no result: score, winner or details are missing or of another type")
            return False
        self.points, self.winner = tuple(score[p] for p in self.pair), winner or None
        return True

    def check_score(self):
        if not self.rules:
            self.points = None
            return None  # `league audit verify` notes it
        self.outcome = self.rules.outcome(self.points, self.is_technical)
        if not self.outcome:
            self.points = None
            return self.fault("result.score", f"a score of {shown(self.result['score'])} is none of this game")
        winner = dict(zip("AB", self.pair)).get(self.outcome)
        if self.winner != winner:
            return self.fault("result.winner", f"by the score {shown(winner)} won, not {shown(self.winner)}")
        wrong = self.outcome == "NONE" if self.is_normal else False
        if self.is_technical:
            wrong = self.outcome == "DRAW" or (self.termination == "BOTH_FAILED") != (self.outcome == "NONE")
        if wrong:
            return self.fault("result.score", f"{self.points[0]}:{self.points[1]} is no score of a match with termination {shown(self.termination)}")
        if self.is_technical and self.failed == {self.winner}:
            return self.fault("result.winner", f"{self.winner} won, though nobody else failed")
        return None

    def check_places(self):
        message, known = self.said.message, self.known
        told, named = round_number(message.get("round_id")), re.match(r"R(\d{1,6})M\d+\Z", self.match, re.ASCII)
        rounds = known.rounds | ({int(named[1])} if named else set())  # a match that was over at once is announced with a later round's
        if told is not None and known.rounds and told not in rounds:
            self.fault("result.round", f"{self.match} is of round {sorted(rounds)[0]}, not {told}")
        game = text_of(message, "game_type")
        if game and known.games and game not in known.games:
            self.fault("result.game", f"{self.match} is a match of {shown(sorted(known.games)[0])}, not of {shown(game)}")
        attempt = number_of(self.details, "attempt")
        judged = self.said.sender in self.league.at_home or not self.league.knows_identity
        if judged and attempt is not None and known.assigned:
            own = known.attempts.get(self.conversation, attempt)
            if attempt not in known.assigned or attempt != own:
                self.fault("result.attempt", f"it says that it is of attempt {attempt}, which was not the one assigned")

    def contradicts(self, over):
        """In what a GAME_OVER tells another result than the report; None if in nothing. What one of them lacks, or has in another form, is
        not compared."""
        told = dict_of(over.message, "game_result")
        if "winner_player_id" in told and isinstance(told["winner_player_id"], (str, type(None))) and (
                told["winner_player_id"] or None) != (self.winner or None):
            return "the winner"
        number, drawn = told.get("drawn_number", ""), self.details.get("drawn_number")
        if is_integer(drawn) and (number is None or is_integer(number)) and number != drawn:
            return "the number"
        for key, theirs in (("choices", told), ("choice_commitments", over.message), ("choice_nonces", over.message)):
            for player, value in dict_of(theirs, key).items():
                if isinstance(value, str) and text_of(dict_of(self.details, key), player) not in ("", value):
                    return f"{key} of {shown(player)}"
        return None

    # -- the draw
    def check_draw(self):
        proof = text_of(self.details, "draw_proof")
        version = self.details.get("draw_version", 1)
        version = number_of(self.details, "draw_version") if isinstance(version, float) else version
        if (self.is_normal or "draw_version" in self.details) and (version != (2 if self.commitments else 1) or not is_number(version)):
            self.fault("draw.version", f"{self.match}: draw version {shown(version)} with {len(self.commitments)} commitments")
        seed = None
        if proof:
            seed = self.league.seed_of(self.match, proof, self.place)
        elif self.is_home or self.said.sender not in self.league.declared:
            self.fault("draw.unrevealed", f"the report of {self.match} does not reveal the seed of the draw")
        else:
            self.found.incident(self.place, "result.unproven", f"{self.said.sender} is a third-party referee and reported {self.match} without its seed")
        is_open = self.check_openings(draw_commitment(seed, self.match) if seed else next(iter(self.known.commitments), ""))
        listed = self.details.get("choice_commitments", {})
        is_formed = isinstance(listed, dict) and all(isinstance(value, str) for value in listed.values())
        if self.rules and self.is_normal:
            self.check_play(seed if is_open and is_formed else None)
        elif self.is_technical and (self.details.get("drawn_number") not in (None, 0) or text_of(self.details, "number_parity")):
            self.fault("result.number", f"nothing is drawn after a technical loss, as {self.match} was")

    def check_play(self, seed):
        rules = self.rules
        chosen = [text_of(self.choices, p) for p in self.pair]
        number, parity = self.details.get("drawn_number"), text_of(self.details, "number_parity")
        if any(choice not in rules.choices for choice in chosen):
            return self.fault("result.form", f"{self.match} was played, but the report lacks its two choices")
        if number is not None if not rules.kinds else not is_number(number) or not rules.kind(number):
            return self.fault("draw.number", f"{shown(number)} is no number of this game")
        if seed is not None and rules.kinds:
            nonces = [text_of(self.nonces, p) if p in self.commitments else "" for p in self.pair] if self.commitments else None
            right = rules.number(seed, self.match, chosen, nonces)
            if number != right:
                return self.fault("draw.number", f"the seed, the choices and the nonces of {self.match} give {right}, not {number}")
        if parity and parity != rules.kind(number):
            self.fault("result.number", f"{shown(parity)} is not the parity of {number}")
        right = rules.score(chosen, rules.kind(number))
        if self.is_consistent and self.outcome != rules.outcome(right, False):
            self.fault("draw.winner", f"by the rules {self.match} has another winner")
        elif self.is_consistent and self.points != right:
            self.fault("result.score", f"by the rules {self.match} ends {right[0]}:{right[1]}")
        return None

    def check_openings(self, promise):
        """False where a listed commitment is not opened."""
        for player in self.pair:
            nonce, commitment = self.nonces.get(player), self.commitments.get(player)
            if nonce is not None and not HEX64.match(nonce):
                self.fault("commitment.opening", f"the nonce of {player} in {self.match} is none")
                return False
            opened = choice_commitment(promise, self.match, player, text_of(self.choices, player), nonce or "")
            if self.is_normal and commitment is not None and (nonce is None or commitment != opened):
                self.fault("commitment.opening", f"the commitment of {player} in {self.match} is not opened by its choice and nonce")
                return False
        return True

    # -- the players' own records
    def answers(self, player, kind):
        return self.league.answers(f"player:{player}", self.match, self.conversation, kind, sender=self.said.sender)

    def heard(self, player, kind):
        """What the log of the referee that reported has of this player."""
        return self.league.answers(self.said.sender, self.match, self.conversation, kind, f"player:{player}")

    def check_choice(self, player, opponent):
        told = self.choices.get(player)
        agent = f"player:{player}"
        own, heard = ([choice for answer in answers(player, "CHOOSE_PARITY_CALL") if (choice := choice_of(answer))]
                      for answers in (self.answers, self.heard))
        if agent in self.league.logs and agent in self.league.keys and self.is_normal:
            self.check_presence(agent, bool(own))
        witness = own or (heard if agent not in self.league.logs else [])
        if not isinstance(told, str) or not told or not witness or told in witness:
            return
        over = [dict_of(dict_of(said.message, "game_result"), "choices").get(player) for said in self.league.overs
                if said.section.agent == f"player:{opponent}" and said.match_id == self.match]
        also = (f"; the referee's own log has {shown(heard[-1])}" if heard and own else "") + (
            f"; player:{opponent} was told {shown(over[-1])}" if over else "")
        whose = f"the sealed log of {agent}" if own else f"the log of {self.said.sender}"
        self.fault("choice.differs", f"{self.said.sender} reported {shown(told)} of {agent} in {self.match}, but {whose} has "
                                     f"{shown(witness[-1])}: one of the two records is false{also}")

    def check_presence(self, agent, chose):
        """A match that was played stands in the player's log."""
        calls = self.league.own_calls(agent, self.match, self.conversation, self.said.sender)
        kinds = {call.stated for call in calls}
        lacking = [name for name, there in (("invitation", "GAME_INVITATION" in kinds), ("call", "CHOOSE_PARITY_CALL" in kinds),
                                            ("answer", chose)) if not there]
        if not lacking:
            return
        since = self.league.matches[self.match].since
        run = self.league.is_lost(agent, self.said.time if since is None else since, self.said.time)
        if run:
            return self.found.incident(run.place, "log.tail_lost", f"{agent}'s log ends before {self.match}, or in it")
        self.found.miss(self.place, "choice.absent", f"{self.match} was played, but the log of {agent} has no {', no '.join(lacking)} of it. "
                                                     f"Ask {agent.split(':')[1]} for its whole log, or use --without {agent.split(':')[1]}.")

    def has_lost(self, player):
        """In a match that somebody lost by a failure."""
        return player != self.winner and (self.winner is not None or self.termination == "BOTH_FAILED")

    def has_declined(self, player):
        """Whether this player lost because it declined the invitation."""
        codes = [text_of(failure, "error_code") for failure in list_of(self.details, "failures") if text_of(failure, "player_id") == player]
        return codes[-1:] == ["E037"] and self.has_lost(player)

    def proves_decline(self, player):
        """Whether its own receipt says so: then it was not asked. Whether the receipt is the player's, check_receipts finds."""
        join = text_of(dict_of(dict_of(self.details, "receipts"), player), "join")
        states = {own: text_of(one, "state") for own, one in zip(self.pair, (self.league.journal.receipts if self.league.journal else {}).get(self.match, ()))}
        return self.has_declined(player) and bool(join) and (self.league.journal is None or states.get(player) == "valid")

    def check_limits(self, player):
        """By the calls in its own log the player had the time that the report says. Which call failed tells the referee's own clock: others may
        have another limit, since after an invalid answer only the rest of the time is left."""
        calls = [call for call in self.league.own_calls(f"player:{player}", self.match, self.conversation, self.said.sender) if call.checked]
        for failure in list_of(self.details, "failures") if self.is_technical else ():
            limit, at = stated_limit(failure), microseconds_of(text_of(dict_of(failure, "clock"), "sent_at"))
            if text_of(failure, "player_id") != player or limit is None or at is None:
                continue
            had = [allowed for call in calls if call.stated == text_of(failure, "call") for sent, allowed in [call.allowed]
                   if allowed is not None and abs(sent - at) <= 2_000_000]
            if had and all(abs(limit - allowed) > 3_000_000 for allowed in had):
                return self.fault("clock.limit", f"{self.said.sender} reported that player:{player} had {limit // 1000} ms at "
                                                 f"{shown(text_of(failure, 'call'))} of {self.match}, but by the call in the player's own sealed "
                                                 f"log it had {had[-1] // 1000} ms")
        return None

    def check_loss(self, player):
        if not self.is_technical or self.points is None or not self.has_lost(player):
            return
        if self.failed and player not in self.failed:
            return
        failures = [failure for failure in list_of(self.details, "failures") if text_of(failure, "player_id") == player]
        last = failures[-1] if failures else {}
        code, kind = text_of(last, "error_code"), text_of(last, "call")
        if code == "E038" or self.termination == "PLAYER_UNAVAILABLE":
            return
        calls = self.league.own_calls(f"player:{player}", self.match, self.conversation, self.said.sender)
        calls = [call for call in calls if call.checked and call.stated == (kind or call.stated)]
        # Where the report does not say which call failed, it may have been either.
        asked = [[call for call in calls if call.stated == one] for one in ([kind] if kind else GAME_CALLS)]
        if not all(of and self.is_timely(of[-1], last) and self.is_valid(player, of[-1]) for of in asked):
            return
        network = code in ("E001", "E009") or (not code and re.search("TIMEOUT|CONNECTION", self.termination, re.I))
        masked = code in ("E011", "E012", "E014")
        text = (f"{self.match} was lost by player:{player} for {code or shown(self.termination)}, but its sealed log has a valid answer in "
                f"time to {shown(calls[-1].message.get('message_type'))}")
        if network or masked:
            self.found.incident(self.place, "loss.contradicted", text + (": it was lost on the way, or one of the two records is false"
                                                                         if network else "; whether its token was right cannot be seen"))
        else:
            self.fault("loss.contradicted", f"{text}: the record of {self.said.sender} or that of player:{player} is false")

    @staticmethod
    def is_timely(call, failure):
        if not call.valid_answer or "verdict" in call.answer.message:
            return False
        # The call itself says how much time there was; the referee, afterwards, only what that leaves open: messages have whole seconds,
        # and invitations may have no deadline.
        limit, (_, allowed) = stated_limit(failure), call.allowed
        if limit is None or (allowed is not None and abs(limit - allowed) > 1_000_000):
            limit = allowed if allowed is not None else 5_000_000 if call.stated == "GAME_INVITATION" else 30_000_000
        return round((call.answer.time - call.time) * 1e6) <= limit

    def is_valid(self, player, call):
        """Whether the answer is one that a referee must take."""
        answer, kind = call.answer.message, call.stated
        if text_of(answer, "match_id") not in ("", self.match):
            return False
        if kind == "GAME_INVITATION":
            commitment = answer.get("choice_commitment")
            return answer.get("accept") is True and (commitment is None or (isinstance(commitment, str) and bool(HEX64.match(commitment))))
        choice = answer.get("parity_choice")
        if not isinstance(choice, str) or choice not in (self.rules.choices if self.rules else ()):
            return False
        acks = self.answers(player, "GAME_INVITATION")
        commitment = text_of(acks[-1].message, "choice_commitment") if acks else ""
        nonce = text_of(answer, "choice_nonce")
        promises = list(self.known.commitments)
        return not commitment or (bool(HEX64.match(nonce)) and any(
            choice_commitment(promise, self.match, player, choice, nonce) == commitment for promise in promises))

    def check_sealed(self, player, opponent):
        """Commitments: those that the players' logs hold, and those that the report lists."""
        league = self.league
        listed = self.commitments.get(player)
        given = self.given(player)
        made = [commitment for commitment in given if commitment]
        call, is_proof = self.handed_to(opponent)
        handed = handed_in(call) if call else league.handed_over(self.match, self.conversation, player, opponent, self.said.sender)
        if listed is not None and is_proof and handed != listed and (not handed or listed in made):
            return self.fault("commitment.handed", f"the report of {self.match} lists a commitment of player:{player} as one that counts, but the "
                                                   f"call that player:{opponent} answered, in its own sealed log, has {'another' if handed else 'none'}")
        if listed is not None and self.joined_late(player, opponent, listed):
            return self.fault("commitment.handed", f"by the own log of {self.said.sender} its call to player:{opponent} in {self.match} left before "
                                                   f"player:{player} had joined with the commitment that the report lists")
        holder = None
        if handed and listed is None:
            if self.is_of_killed_referee():
                return self.found.incident(self.place, "commitment.forgotten", f"{self.said.sender}, which was started again during {self.match}, "
                                           f"reported a loss without the commitment of player:{player} that it had handed over: it was killed, or "
                                           "ended itself")
            holder = opponent
        elif made and listed is not None and listed not in made:
            holder = player
        elif listed is None and given and given[-1] and self.is_normal and self.is_home:  # what it gave last was handed over
            holder = player
        if holder:
            return self.fault("commitment.dropped", f"the sealed log of player:{holder} has a commitment of player:{player} in {self.match}, and the "
                                                    f"report has {'another' if listed else 'none'}: one of the two records is false")
        logs = [agent for agent in (f"player:{player}", f"player:{opponent}") if agent in league.logs]
        if listed is not None and logs and listed not in made and listed != handed:
            self.found.incident(self.place, "commitment.claimed", f"the report of {self.match} lists a commitment of player:{player} that no "
                                                                  "sealed record of the players holds")
        return None

    def has_receipts(self, player, own, keys):
        """Whether these are the player's receipts of what the report says that it answered."""
        opponent = self.pair[self.pair[0] == player]
        attempt = number_of(self.details, "attempt") or 1
        promise = next(iter(self.known.commitments), "")
        scope = f"{self.said.section.league}|{self.match}|{attempt}|{self.replays}|{promise}"
        accept = "false" if self.has_declined(player) else "true"
        texts = {"join": f"JOIN|{scope}|{accept}|{self.commitments.get(player, '')}",
                 "choice": f"CHOICE|{scope}|{text_of(self.choices, player)}|{self.nonces.get(player, '')}|{self.commitments.get(opponent, '')}"}
        return all(any(hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest() == own[name] for key in keys)
                   for name, text in texts.items() if text_of(own, name))

    @property
    def replays(self):
        return number_of(self.details, "replays") or 0

    def handed_to(self, player):
        """The call for a choice that this player answered, by its own log, and whether one run wrote and sealed all of the match."""
        calls = self.league.own_calls(f"player:{player}", self.match, self.conversation, self.said.sender)
        call = self.league.answered_call(calls, self.replays)
        return call, call is not None and call.is_sealed and len({id(one.section.run) for one in calls}) == 1 and any(
            one.stated == "GAME_INVITATION" for one in calls)

    def is_of_killed_referee(self):
        """A referee that was killed during the attempt and started again reports a loss: it may not know what it handed over before."""
        calls = self.league.own_calls(self.said.sender, self.match, self.conversation)
        return self.is_technical and len({id(call.section.run) for call in calls}) > 1

    def joined_late(self, player, opponent, listed):
        """By the clock and the log of the referee itself, the opponent was asked before the player had joined. No other log can tell."""
        calls = self.league.own_calls(self.said.sender, self.match, self.conversation)
        asked = self.league.answered_call([call for call in calls if call.peer == f"player:{opponent}"], self.replays)
        joined = next((call.answer for call in calls if call.peer == f"player:{player}" and call.stated == "GAME_INVITATION" and call.valid_answer
                       and text_of(call.answer.message, "choice_commitment") == listed), None)
        return bool(self.is_normal and asked and joined) and asked.section.run is joined.section.run and asked.mono < joined.mono

    def is_supported(self, player):
        """Whether sealed records decide all that this player can have disputed: both choices, what bound them, seed, number and winner.
        Of a loss it can be checked that the player's own log has no answer to what it was asked last."""
        if player not in self.pair:
            return False
        own = self.league.own_calls(f"player:{player}", self.match, self.conversation, self.said.sender)
        if self.is_technical:
            return bool(own) and own[-1].is_sealed and own[-1].answer is None
        opponent = self.pair[self.pair[0] == player]
        call, is_proof = self.handed_to(player)
        bound = self.commitments.get(opponent)
        is_known = (bound is not None and bound == handed_in(call) if call else False) or self.choices.get(opponent) in [
            choice_of(answer) for answer in self.answers(opponent, "CHOOSE_PARITY_CALL")]
        return is_proof and is_known and bool(text_of(self.details, "draw_proof")) and self.choices.get(player) == choice_of(call.answer)

    def given(self, player):
        """The commitments that the player's own log has, in order, empty where it gave none; without a promised seed nobody commits."""
        return [text_of(answer.message, "choice_commitment") for answer in self.answers(player, "GAME_INVITATION")
                if answer.message.get("accept") is not False and text_of(answer.asked.message, "draw_commitment")]


def handed_in(call):
    return text_of(dict_of(call.message, "context"), "opponent_commitment")


def stated_limit(failure):
    """What a player had for its answer, in microseconds, by the referee's record of a time-out."""
    limit = number_of(dict_of(failure, "clock"), "limit_ms") if text_of(failure, "error_code") == "E001" else None
    return limit if limit is None else limit * 1000


def choice_of(answer):
    return text_of(answer.message, "parity_choice") or text_of(answer.message, "choice")


class Losses:
    """Technical losses at a call that had left its referee (docs/protocol.md, "Losses are heard on both sides")."""

    def __init__(self, league):
        self.league, self.found = league, league.found

    def check(self):
        unseen = {}
        for report in (report for _, reports in sorted(self.league.accepted.items()) for report in reports):
            for player in report.pair if report.points else ():
                call = self.heard_call(report, player) if report.has_lost(player) and not report.is_normal else ""
                if call:
                    self.check_question(report, player)
                if call and self.is_unwitnessed(report, player, call):
                    unseen.setdefault(report.said.sender, []).append((report, player, call))
        for referee, losses in sorted(unseen.items()):
            for report, player, call in losses:
                self.found.incident(report.place, "loss.unwitnessed",
                                    f"{referee} reported that player:{player} lost {report.match} at {shown(call)}, a call that the player's log, "
                                    f"which is unbroken, does not have; such losses of this referee: {len(losses)}")

    @staticmethod
    def heard_call(report, player):
        failures = [failure for failure in list_of(report.details, "failures") if text_of(failure, "player_id") == player]
        return text_of(failures[-1], "call") if failures and text_of(failures[-1], "phase") in ("sent", "answered") else ""

    def check_question(self, report, player):
        league, journal = self.league, self.league.journal
        if player not in league.with_receipts | (journal.declared if journal else set()) or report.proves_decline(player):
            return
        attempt = number_of(report.details, "attempt") or report.known.attempts.get(report.conversation)
        is_noted = journal is None or not journal.results or any(
            match == report.match and who == player and (attempt is None or at == attempt) for match, at, who in journal.asked)
        if not is_noted or not self.is_logged(report, player):
            self.found.fault(report.place, "loss.unheard", f"the manager accepted that player:{player} lost {report.match}, but its "
                                                           f"{'log' if is_noted else 'journal'} does not show that it asked the player")

    def is_logged(self, report, player):
        """Whether the manager's log has the question, or may have lost it."""
        first, last = report.known.since or report.said.time, report.decided
        if not self.league.managers or self.league.is_lost(MANAGER, first, last):
            return True
        return any(said.match_id == report.match and said.peer == f"player:{player}" and first <= said.time <= last for said in self.league.questions)

    def is_unwitnessed(self, report, player, call):
        since, until = report.known.given.get(report.conversation), report.decided
        runs = self.league.runs_of(f"player:{player}")
        if since is None or not any(run.begin <= since and until <= run.end for run in runs):
            return False
        own = self.league.own_calls(f"player:{player}", report.match, report.conversation, report.said.sender)
        return not any(said.stated == call for said in own)


class Witnesses:
    """What the manager and the agents told each other of the ends of their logs, of the journal, and of the league."""

    def __init__(self, league):
        self.league, self.found, self.journal = league, league.found, league.journal
        self.key = next((section.league_key for section in league.sections if section.league_key), "")

    def check(self):
        self.check_agents()
        if self.journal and self.journal.digests:
            self.check_journal()
        self.check_ends()

    def check_agents(self):
        """One finding for each agent: what it has rewritten, it has rewritten to the end."""
        told = [(said.peer, (number_of(said.message["log_head"], "seq"), text_of(said.message["log_head"], "hash")), said.place)
                for said in self.league.agent_heads]
        told += [(agent, head, (self.journal.path, entry)) for agent, head, entry in (self.journal.heads if self.journal else ())]
        accused = set()
        for agent, (seq, digest), place in told:
            agent = agent if ":" in agent else f"{'referee' if agent.startswith('REF') else 'player'}:{agent}"
            chains = self.league.logs.get(agent)
            if chains and agent not in accused and not any(chain.hashes.get(digest, -1) == seq for chain in chains):
                accused.add(agent)
                self.found.fault(place, "witness.agent_head", f"{agent} told the manager that its log had a line {shown(digest, 16)} after record {seq}; "
                                                              "it has none: the log was cut off or rewritten")

    def in_order(self, told):
        return sorted(told, key=lambda said: (said.section.agent != MANAGER, said.section.chain.path))

    def check_journal(self):
        """One finding: whoever changes an entry changes the digests of all that follow."""
        false = [(number_of(head, "seq") or 0, said) for said in self.in_order(self.league.journal_heads)
                 if isinstance(head := said.message["journal_head"], dict) and said.is_sealed
                 and not any(said.time < at and (number_of(head, "seq") or 0) >= entry for at, entry in self.journal.cuts)
                 and not self.journal.has_head(number_of(head, "seq"), text_of(head, "hash"))]
        if false:
            seq, said = min(false, key=lambda one: one[0])
            self.found.fault(said.place, "journal.head", f"the manager said what digest its journal had after entry {seq}; it has another one: "
                                                         "the journal was cut off or changed")

    def check_ends(self):
        judged, is_absent = set(), False
        for said in self.in_order([*self.league.finals, *self.league.ends]):
            signed, rows = said.message.get("attestation"), list_of(said.message, "final_standings")
            if not isinstance(signed, dict):
                if said.out and said.section.version > 2 and self.key and not is_absent:
                    self.found.miss(said.place, "attestation.absent", "the league's end is not signed. Ask the operator of the league for its logs of "
                                                                      "the programs' current version")
                    is_absent = True
                continue
            statement, signature = text_of(signed, "statement"), text_of(signed, "signature")
            if (statement, signature, json.dumps(rows)) in judged:
                continue
            judged.add((statement, signature, json.dumps(rows)))
            if self.key and not is_signature(self.key, statement, signature):
                self.found.fault(said.place, "attestation.signature", "the signature of the league's end is not that of the league's key")
            elif line := self.other_line(statement, rows):
                self.found.fault(said.place, "attestation.differs", f"the signed end of the league does not fit {line}")

    def other_line(self, statement, rows):
        """What a line of the statement contradicts; None if nothing."""
        lines = statement.split("\n")
        told = dict(line.split(" ", 1) for line in lines[2:-1] if " " in line)
        if lines[0] != "league.result 1" or lines[-1] or len(lines) < 3 or any(" " not in line for line in lines[2:-1]):
            return "its form"
        if self.key and lines[1] != self.key:
            return "the league's key"
        keys = ("played", "wins", "draws", "losses", "points")
        table = "".join("|".join([str(number_of(row, "rank") or 0), text_of(row, "player_id"),
                                  *(str(number_of(row, key) or 0) for key in keys)]) + "\n" for row in rows)
        if told.get("table") != sha256_of(table):
            return "the table"
        if not self.journal or not self.journal.digests:
            return None
        number, _, digest = told.get("journal", "").partition(" ")
        if not re.match(r"\d{1,15}\Z", number, re.ASCII) or not self.journal.has_head(int(number), digest):
            return "the journal"
        count, heads = self.journal.heads_text(int(number))
        pairs = {match: known.pair for match, known in self.league.matches.items()}
        return ("the heads of the logs" if told.get("heads") != f"{count} {sha256_of(heads)}" else
                "the results" if told.get("results") != sha256_of(self.journal.results_text(int(number), pairs)) else None)


def sha256_of(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Files:
    """The files in data/ that a reader may take for the truth: of matches and of players' histories. One that names the league's key, or
    names none though all of them must, is compared in all fields; of other files differences are only notes."""

    def __init__(self, league, directory):
        self.league, self.found, self.journal = league, league.found, league.journal
        self.data = os.path.join(directory, "data")
        self.key = next((section.league_key for section in league.sections if section.league_key), "") or self.journal.league_key
        self.ids = {section.league_id for section in league.sections if section.agent == MANAGER}

    def check(self):
        for folder, _, names in sorted(os.walk(os.path.join(self.data, "matches"))):
            for name in sorted(name for name in names if name.endswith(".json")):
                self.check_file(os.path.join(folder, name), "projection.match", self.check_match)
            for name in sorted(name for name in names if name.endswith(".jsonl")):
                self.check_matches(os.path.join(folder, name))
        for folder, _, names in sorted(os.walk(os.path.join(self.data, "players"))):
            for name in sorted(name for name in names if name.endswith("history.json")):
                self.check_file(os.path.join(folder, name), "projection.history", self.check_history)

    def check_file(self, path, rule, check):
        file = read_json(path)
        if file is not None:
            return check(path, file)
        if os.path.getsize(path):  # a power failure leaves empty ones
            self.found.fault((path, 0), rule, "it is not a JSON object")
        return None

    def owner(self, inner, outer):
        """Whether it is this league's; None if nothing says so."""
        key = text_of(inner, "league_key") or text_of(outer, "league_key")
        if key and self.key:
            return key == self.key
        if text_of(inner, "league_id") not in self.ids:
            return False
        return True if self.journal.files_keyed and not key else None

    def note(self, path, text):
        self.found.notes.append(f"{path}: file.key: {text}")

    def differs(self, path, rule, is_own, text, line=0):
        if is_own:
            self.found.fault((path, line), rule, text)
        else:
            self.note(path, text + ", but it does not say of which league it is")

    def known(self, match):
        """The pair, the last accepted report and the journal's (by_manager, attempt, referee, result) of a match that has a result."""
        announced, kept = self.league.matches.get(match), self.journal.results.get(match)
        if announced is None or announced.pair is None or (self.journal.results and kept is None):
            return None
        reports = [report for report in self.league.accepted.get(match, ()) if report.points]
        return (announced, reports[-1] if reports else None, kept) if kept or reports else None

    def check_match(self, path, file):
        is_own = self.owner(file, file)
        if is_own is not False and os.path.basename(path) != text_of(file, "match_id") + ".json":
            return self.differs(path, "projection.match", is_own, "it names another match")
        return self.check_record(path, file)

    def check_matches(self, path):
        """The records that a referee has not yet written to files of their own. A line that is cut off is what a killed program leaves."""
        with open(path, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(4 << 20), b""), 1):
                if record := parse_object(line):
                    self.check_record(path, record, number)

    def check_record(self, path, file, line=0):
        is_own, match = self.owner(file, file), text_of(file, "match_id")
        if is_own is False:
            return self.note(path, "it is a file of another league")
        known = self.known(match)
        if not known or file.get("state") != "FINISHED":
            return None
        ended = seconds_of(text_of((list_of(file, "lifecycle") or [None])[-1], "at")) or float("inf")
        is_forgotten = match in self.league.forgotten and text_of(file, "draw_commitment") not in known[0].commitments
        if is_forgotten or any(past.covers(match, ended) for past in self.league.given_up):
            return None
        if field := self.other_field(file, match, *known):
            self.differs(path, "projection.match", is_own, f"its {field} of {shown(match)} is not that of the match that the manager accepted", line)
        return None

    def other_field(self, file, match, announced, report, kept):
        """The first field of a match's file that the evidence contradicts."""
        by_manager, attempt = kept[:2] if kept else (False, 0)
        attempt = 0 if by_manager else attempt or (number_of(report.details, "attempt") or 0 if report else 0)
        promise, steps = text_of(file, "draw_commitment"), list_of(file, "lifecycle")
        right = {
            "player_A_id": text_of(file, "player_A_id") == announced.pair[0], "player_B_id": text_of(file, "player_B_id") == announced.pair[1],
            "round_id": self.is_round(file, match, announced), "game_type": not announced.games or text_of(file, "game_type") in announced.games,
            "draw_commitment": promise in announced.commitments if promise else not announced.commitments,
            "result": not by_manager or file.get("made_by") != "referee", "attempt": not attempt or number_of(file, "attempt") == attempt,
            "referee_id": by_manager or not report or text_of(file, "referee_id") == report.said.sender.split(":")[-1],
            "lifecycle": not steps or text_of(steps[-1], "state") == "FINISHED"}
        return next((field for field, is_right in right.items() if not is_right), None) or (
            None if by_manager or not report else "result" if not self.has_result(file, report) else self.other_line(file, report))

    @staticmethod
    def is_round(file, match, announced):
        named = re.match(r"R(\d{1,6})M\d+\Z", match, re.ASCII)
        rounds = announced.rounds | ({int(named[1])} if named else set())
        return not rounds or number_of(file, "round_id") in rounds

    @staticmethod
    def has_result(file, report):
        """What `league export` makes has less than the report."""
        told, own = (json.loads(without_secrets(json.dumps(result))) if isinstance(result, dict) else {}
                     for result in (file.get("result"), report.said.message.get("result")))
        if file.get("made_by") == "referee":
            return told == own
        ours, theirs = dict_of(told, "details"), dict_of(own, "details")
        return all(told.get(key) == own.get(key) for key in ("winner", "score")) and all(ours[key] == theirs[key] for key in set(ours) & set(theirs))

    def other_line(self, file, report):
        """Whether the transcript holds an answer that the referee's own log does not have."""
        said = {}
        for call in self.league.own_calls(report.said.sender, report.match, report.conversation):
            if call.valid_answer:
                said.setdefault(call.peer.split(":")[-1], set()).update(text_of(call.answer.message, key) for key in (
                    "parity_choice", "choice", "choice_nonce", "choice_commitment"))
        is_false = any(value and value not in said[text_of(line, "from")] for line in list_of(file, "transcript") if text_of(line, "from") in said
                       for value in (text_of(line, key) for key in ("parity_choice", "choice_nonce", "choice_commitment")))
        return "transcript" if is_false else None

    def check_history(self, path, file):
        player, rows = text_of(file, "player_id"), list_of(file, "matches")
        if os.path.basename(os.path.dirname(path)) != player or not isinstance(file.get("matches"), list):
            return self.differs(path, "projection.history", self.owner(file, file), "its player or list is wrong")
        owners = [self.owner(row, file) for row in rows]
        for row, is_own in zip(rows, owners):
            match = text_of(row, "match_id")
            known = self.known(match) if is_own is not False and match not in self.league.forgotten else None
            field = self.other_in_row(player, row, match, *known) if known else None
            if field:  # after a given-up play a player keeps the first result that it was told
                self.differs(path, "projection.history", is_own, f"its {field} of {shown(match)} is not that of the match that the manager accepted")
        if False in owners:
            self.note(path, "it has matches of another league")
        stats, results = dict_of(file, "stats"), [text_of(row, "result") for row in rows]
        counts = {"wins": results.count("WIN"), "losses": results.count("LOSS"), "draws": results.count("DRAW"), "total_matches": len(rows)}
        if stats and len(rows) < 10_000 and any((number_of(stats, name) or 0) != count for name, count in counts.items()):
            self.differs(path, "projection.history", False not in owners and self.owner(file, file), "its stats are not those of its matches")
        return None

    def other_in_row(self, player, row, match, announced, report, kept):
        by_manager, result = (kept[0], kept[3]) if kept else (False, {})
        if player not in announced.pair:
            return "result"
        side = announced.pair.index(player)
        outcome = text_of(result, "outcome") or (report.outcome if report else None) or "NONE"
        opponent = announced.pair[1 - side]
        number = number_of(result, "drawn_number") or (number_of(report.details, "drawn_number") if report and not by_manager else None)
        right = {"result": row.get("result") == ("DRAW" if outcome == "DRAW" else "WIN" if outcome == "AB"[side] else "LOSS"),
                 "opponent_id": text_of(row, "opponent_id") in ("", opponent), "round_id": self.is_round(row, match, announced),
                 "drawn_number": not number or row.get("drawn_number") == number}
        if report and not by_manager:
            right["technical"] = not isinstance(row.get("technical"), bool) or row["technical"] != report.is_normal
            for key, of in (("my_choice", player), ("opponent_choice", opponent)):
                told, reported = text_of(row, key), text_of(report.choices, of)
                right[key] = told == reported or (not report.is_normal and not (told and reported))
        return next((field for field, is_right in right.items() if not is_right), None)


# --- Leagues in one directory ---------------------------------------------------------------------------------------
def archive_of(path, directory):
    """The part of logs/archive/ that a log of an earlier league was put aside to; empty for the others."""
    match = re.search(r"(?:^|/)archive/[^/]+/", os.path.relpath(path, directory).replace(os.sep, "/"))
    return match[0] if match else ""


def group(chains):
    """Gives each section its league: by the league's key, in older logs by its id and by which manager began last before it."""
    epochs = []  # (when a manager began, league id and archive, league)
    merged = {}
    for chain in chains:
        before = None
        for section in (s for s in chain.sections if s.agent == MANAGER):
            name = section.league_id + chain.archive
            section.league = section.league_key or "id:" + name
            epochs.append((section.created, name, section.league))
            if section.league_key and before and not before.league_key and before.league_id == section.league_id:
                merged[before.league] = section.league  # the same league, continued by a newer program
            before = section
    epochs.sort(key=lambda epoch: epoch[0])
    for chain in chains:
        after = None
        for section in reversed(chain.sections):
            name = section.league_id + chain.archive
            if section.league is None and section.league_key:
                section.league = section.league_key
            elif section.league is None and section.league_id:
                fitting = [league for begin, of, league in epochs if of == name and begin <= section.created + 1]
                section.league = fitting[-1] if fitting else "id:" + name
            elif section.league is None and after is not None:
                section.league = after.league  # it had no id yet
                section.agent = after.agent
            after = section
    sections = [section for chain in chains for section in chain.sections]
    for section in sections:
        section.league = merged.get(section.league, section.league)
    return sections


class Manifest:
    """What a bundle says of itself. It is no permission: what it leaves out must be named by --without."""

    def __init__(self, directory, without, found):
        self.directory, self.without, self.found = directory, without, found
        self.path, self.left_out = os.path.join(directory, "MANIFEST.json"), []

    def check(self):
        if not os.path.exists(self.path):
            return self
        manifest = read_json(self.path)
        if manifest is None:
            self.found.fault((self.path, 0), "bundle.differs", "it is not a JSON object")
        elif "files" in manifest:
            self.check_files(manifest)
        for entry in list_of(manifest, "left_out"):
            self.check_left_out(entry)
        return self

    def check_left_out(self, entry):
        what = text_of(entry, "what")
        name = text_of(entry, "name") or text_of(entry, "agent").split(":")[-1] or what
        text = f"{shown(what or name, 200)} ({shown(text_of(entry, 'why'), 200)})"
        self.left_out.append(text)
        paths = {"journal": "data/journal", MANAGER: "logs/league"}
        named = {name, what} & self.without or any(
            paths.get(one, f"logs/agents/{one.split(':')[-1]}.log.jsonl") in what for one in self.without)
        if not named:
            self.found.miss((self.path, 0), "bundle.left_out",
                            f"the bundle leaves out {text}. Ask whoever packed it for that, or use --without {shown(name, 200)}")

    def check_files(self, manifest):
        listed = {text_of(file, "path"): text_of(file, "sha256") for file in list_of(manifest, "files")}
        there = {os.path.relpath(os.path.join(folder, name), self.directory) for folder, _, names in os.walk(self.directory) for name in names
                 if os.path.isfile(os.path.join(folder, name))} - {"MANIFEST.json"}
        for path in sorted(there | set(listed)):
            place = os.path.join(self.directory, shown(path, 200)), 0
            if path in there and path in listed:
                if file_digest(os.path.join(self.directory, path)) != listed[path]:
                    self.found.fault(place, "bundle.differs", "it is not the file that MANIFEST.json lists: its digest is another one")
                continue
            text = "MANIFEST.json lists it, but it is not there" if path in listed else "the bundle's MANIFEST.json does not list this file"
            self.found.miss(place, "bundle.file", text + ". Ask whoever packed the bundle for the whole of it")


def file_digest(path):
    digest = hashlib.sha256()
    with contextlib.suppress(OSError), open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def masked_lines(directory):
    """(file below `directory`, line) of the lines in which a bundle masked secrets, as its MANIFEST lists them."""
    manifest = read_json(os.path.join(directory, "MANIFEST.json"))
    return {(text_of(entry, "file"), number_of(entry, "line")) for entry in list_of(manifest, "redacted_lines")}


class Completeness:
    """Whether what should be in the directory is there."""

    def __init__(self, directory, chains, excused, found):
        self.directory, self.chains, self.excused, self.found = directory, chains, excused, found
        self.data = os.path.join(directory, "data")
        self.has_journal = os.path.exists(os.path.join(self.data, "journal", "journal.sqlite"))
        self.has_results = os.path.exists(os.path.join(self.data, "results.json"))

    def check(self, league, name, sections):
        managers = [chain for chain in self.chains if MANAGER in chain.names and not chain.archive]
        # Of a log that is gone while its seal is there, log.missing tells.
        sealed = [chain.path for chain in self.chains if not chain.files]
        if not managers and MANAGER not in self.excused and not any("league.log.jsonl" in path for path in sealed):
            names = sorted({s.league_id for s in sections if s.league_id})
            path = os.path.join(self.directory, "logs", *(["league", names[0], "league.log.jsonl"] if names and safe(names[0]) else []))
            self.found.miss((path, 0), "log.absent", "the manager's log is not there, so nothing tells who took part and what was accepted. Ask the "
                            "operator for logs/league/, or use --without league_manager.")
        if managers and not self.has_journal and not self.has_results and "journal" not in self.excused:
            self.found.miss((os.path.join(self.data, "journal", "journal.sqlite"), 0), "journal.absent",
                            "the manager's journal is not there. Ask the operator for data/journal/ or a bundle's data/results.json, or use --without journal.")
        if league:
            own = [section for section in sections if section.league == name]
            self.check_agents(league, sealed, {s.agent for s in own}, {s.key for s in own})

    def check_agents(self, league, sealed, names, used):
        for agent, keys in sorted(league.keys.items()):
            short = agent.split(":")[1]
            path = os.path.join(self.directory, "logs", "agents", short + ".log.jsonl")
            if agent in names or used & set(keys) or path in sealed or {agent, short} & self.excused:
                continue
            self.found.miss((path, 0), "log.absent", f"{agent} registered a log key, but its log is not there. Ask {short} for "
                                                     f"logs/agents/{short}.log.jsonl, or use --without {short}.")


def safe(name):
    return re.match(r"[\w.-]{1,100}\Z", name, re.ASCII)


def read_chains(directory, chain_only):
    logs = os.path.join(directory, "logs")
    chains = []
    for path, files in sorted(find_logs(logs if os.path.isdir(logs) else directory).items()):
        facts = LogFacts()
        chain = Chain(path, files, None if chain_only else facts.take).run()
        chain.facts, chain.archive = facts, archive_of(path, logs)
        chains.append(chain)
    return chains


def check_directory(directory, chain_only, without):
    """Findings about one directory with logs/ and data/; None if there is nothing to look at."""
    chains = read_chains(directory, chain_only)
    found = Findings()
    found.left_out = Manifest(directory, without, found).check().left_out
    completeness = Completeness(directory, chains, without, found)
    if not chains and not (completeness.has_journal or completeness.has_results):
        return None
    masked = masked_lines(directory)
    for chain in chains:
        for fault in chain.faults:
            if fault["rule"] == "chain.hash" and (os.path.relpath(fault["file"], directory), fault["line"]) in masked:
                # The line is no longer what its agent wrote, and its agent is not to blame.
                found.miss((fault["file"], fault["line"]), "line.masked", "a secret in this line was masked when the bundle was packed, so its hash "
                           "cannot be checked and it proves nothing. Ask the operator of the league for the line, or for a bundle made after the league's end.")
            else:
                found.faults.append(fault)
        found.faults += chain.facts.faults
        found.notes += chain.notes
    if not chain_only:
        sections = group(chains)
        by_league = {}
        for section in sections:
            by_league.setdefault(section.league, []).append(section)
        led, newest = set(), None
        for chain in chains:
            for section in (s for s in chain.sections if s.agent == MANAGER):
                led.add(section.league)
                if not chain.archive and (newest is None or section.created >= newest.created):
                    newest = section
        newest = newest.league if newest else None
        leagues = {name: League(chains, own, found, name == newest) for name, own in by_league.items() if name is not None}
        for name, league in leagues.items():
            if name not in led and led:
                found.notes.append(f"{len(league.sections)} parts of logs are of another league ({shown(name)}), whose manager's log is not here")
            league.check(directory, without)
        completeness.check(leagues.get(newest), newest, sections)
        if newest in leagues and leagues[newest].is_running:
            found.missing += [{**fault, "text": f"{fault['text']}. {ASK_FOR_BACKUP}"} for fault in found.faults if fault["rule"] in AT_THE_END]
            found.faults = [fault for fault in found.faults if fault["rule"] not in AT_THE_END]
    return chains, found


def find_leagues(directory):
    """The directory itself, or those below it that have logs/."""
    if os.path.isdir(os.path.join(directory, "logs")) or os.path.isdir(os.path.join(directory, "data")):
        return [directory]
    below = []
    for folder, names, _ in os.walk(directory):
        if "logs" in names and folder != directory:
            below.append(folder)
            names.clear()
    return sorted(below) or [directory]


def limited(findings):
    """At most so many of a kind, each with the number of all of its kind."""
    counts, kept = {}, []
    for finding in findings:
        counts[finding["rule"]] = counts.get(finding["rule"], 0) + 1
        if counts[finding["rule"]] <= MOST_OF_A_KIND:
            kept.append(finding)
    return [{**finding, "count": counts[finding["rule"]]} for finding in kept]


def unique(findings):
    seen, kept = set(), []
    for finding in sorted(findings, key=lambda finding: (finding["file"], finding["line"])):
        key = finding["file"], finding["line"], finding["rule"], finding["text"] if not finding["line"] else ""
        if key not in seen:
            seen.add(key)
            kept.append(finding)
    return kept


def verify(directory, chain_only=False, without=()):
    """The report on a directory as --json prints it; None if there are no logs."""
    started = time.monotonic()
    report = {"ok": True, "records": 0, "records_per_second": 0, "logs": 0, "faults": [], "missing": [], "incidents": [],
              "left_out": [], "notes": [], "unchecked": UNCHECKED, "leagues": []}
    for folder in find_leagues(directory):
        checked = check_directory(folder, chain_only, set(without))
        if checked is None:
            continue
        chains, found = checked
        report["faults"] += unique(found.faults)
        report["missing"] += unique(found.missing)
        report["incidents"] += found.incidents
        report["notes"] += found.notes
        report["left_out"] += found.left_out
        report["records"] += sum(chain.records for chain in chains)
        report["logs"] += len(chains)
        report["leagues"].append({"directory": folder, "ok": not found.faults and not found.missing, "logs": len(chains)})
    if not report["leagues"]:
        return None
    report["incidents"] = limited(sorted(report["incidents"], key=lambda finding: (finding["rule"], finding["file"], finding["line"])))
    report["ok"] = not report["faults"] and not report["missing"]
    report["records_per_second"] = report["records"] / max(time.monotonic() - started, 1e-9)
    return report


def print_report(report):
    for text in report["left_out"]:
        print("left out of the bundle:", text)
    for name, label in (("faults", ""), ("missing", "missing: ")):
        for finding in report[name]:
            print("{file}:{line}: {label}{rule}: {text}".format(label=label, **finding))
    for rule, found in itertools.groupby(report["incidents"], key=lambda finding: finding["rule"]):
        first = next(found)
        count = f" ({first['count']} times, this is the first)" if first["count"] > 1 else ""
        print("{file}:{line}: incident: {rule}: {text}".format(**first) + count)
    for note in report["notes"]:
        print(note, "(no fault)")
    print("Not checked here, but by `league audit verify`:", ", ".join(report["unchecked"]))
    verdict = [f"{len(report[name])} {name}" for name in ("faults", "missing") if report[name]]
    print(report["records"], "records in", report["logs"], "logs:", " and ".join(verdict) if verdict else "nothing is wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--chain-only", action="store_true", help="only hashes, numbers and seals")
    parser.add_argument("--without", metavar="IDS", action="append", default=[],
                        help="what is kept elsewhere: P03,REF01,league_manager,journal, or what a bundle's MANIFEST leaves out")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    report = verify(options.directory, options.chain_only, {*options.without, *",".join(options.without).split(",")} - {""})
    if report is None:
        print(f"{options.directory} contains no conversation logs", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report))
    else:
        print_report(report)
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
