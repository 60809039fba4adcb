"""Rewrites a finished log as its owner could: lines are changed, then numbers, chain and seals are made right again."""

import hashlib
import json
from pathlib import Path

import cases  # noqa: F401  (finds tests/support)
from log_builder import Signer, compact, curve


def key_of(path):
    """The private key of a program: `log.key` and `data/agents/*.log.key` hold 64 hexadecimal digits."""
    return Signer(seed=bytes.fromhex(Path(path).read_text().split()[0]))


class Line(dict):
    """One line without prev and hash. `text`: written in its place; `signature`: of a seal, in place of the right one."""

    text = None
    signature = None
    is_kept = False  # neither number nor signature is made right


def read_lines(path):
    lines = []
    for text in path.read_bytes().split(b"\n")[:-1]:
        line = Line(json.loads(text))
        line.pop("prev"), line.pop("hash")
        lines.append(line)
    return lines


def chained(text, prev):
    covered = text[:-1].encode() + b',"prev":"' + prev.encode()
    digest = hashlib.sha256(covered).hexdigest()
    return covered + b'","hash":"' + digest.encode() + b'"}', digest


class Resealing:
    """Writes lines into `path`, each behind the one before, signed by `signer`."""

    def __init__(self, path, signer, prev="0" * 64, seq=0, agent=""):
        self.path, self.signer, self.prev, self.seq, self.agent = path, signer, prev, seq, agent
        self.kept = None

    def write(self, lines, renumber=True, ending=b"\n"):
        out = []
        for line in lines:
            text = line.text or compact(self._right(line, renumber))
            data, self.prev = chained(text, self.prev)
            out.append(data)
        self.path.write_bytes(b"\n".join(out) + (ending if out else b""))
        if self.kept:
            name = self.path.name.split(".log.")[0] + ".seal.json"
            self.path.with_name(name).write_text(compact(self.kept) + "\n")
        return self

    def _right(self, line, renumber):
        if "format" in line:
            self.agent = line.get("agent", self.agent)
            if renumber and not line.is_kept:
                line["first_seq"] = self.seq + 1
        elif "note" in line:
            pass
        elif "seal" in line:
            self._sign(line, renumber and not line.is_kept)
        elif renumber and not line.is_kept:
            self.seq += 1
            line["seq"] = self.seq
        elif isinstance(line.get("seq"), int):
            self.seq = line["seq"]
        return line

    def _sign(self, line, renumber):
        if renumber:
            line["seal"] = self.seq
        closed = line.get("closed") is True
        line["signature"] = line.signature or self.signer.sign(
            curve.signed_text(self.agent, line["seal"], line["time"], closed, self.prev))
        self.kept = {"format": "league.conversation-log.seal", "version": 2, "agent": self.agent,
                     "public_key": self.signer.public_key, "seal": line["seal"], "time": line["time"], "closed": closed,
                     "head": self.prev, "signature": line["signature"]}


def reseal(path, signer, change, **options):
    """`change(lines)` alters the list in place or returns another one."""
    lines = read_lines(path)
    lines = change(lines) or lines
    return Resealing(path, signer).write(lines, **options)
