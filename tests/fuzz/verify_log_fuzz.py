"""Looks for logs that break scripts/verify_log.py: it may find fault with anything, but never ends with a traceback.

    verify_log_fuzz.py [--seconds N] [--seed S] [--script FILE] [--keep DIR]

Takes the golden leagues, changes them at random (bytes, lines, values of JSON, whole files) and runs the verifier on
each, in this process, so that many are tried. Prints the seed, how many were tried, and each input that broke it,
which is kept in DIR. Exit code 0: none did.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "leagues"
MOST_LINES = 60  # of a file: small leagues are verified quickly
ODD = [None, True, False, 0, -1, 1, 2**63, 2**70, -2**63, 1.5, 1e308, "", "x", "\x00", "\ud800", "P01", "R1M1", "é" * 300,
       "9" * 400, [], [[]], {}, {"a": {}}, [None], [1, 2], ["x", "y"], "2025-01-15T10:30:00Z", "9999-99-99T99:99:99Z",
       "0" * 64, "f" * 128, "{", '{"jsonrpc":"2.0","result":[]}', "player:P01", "league_manager"]
TOKENS = [b"\x00", b"\xff\xfe", b"\n", b"\r\n", b"{", b"}", b"[" * 500, b'"', b"\\", b"\\u", b"\\ud800", b"1e999", b"-0", b"NaN",
          b"Infinity", b",,", b'{"seal":', b'{"format":', b'{"seq":', b"\xe2\x82", b"\xef\xbb\xbf"]


def load(script):
    spec = importlib.util.spec_from_file_location("verify_log_under_test", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(script.parent))
    spec.loader.exec_module(module)
    return module


def rechain(content):
    """The lines with hashes that fit again, so that the verifier looks further than these."""
    before, lines = b"0" * 64, []
    for line in content.split(b"\n"):
        if line.endswith(b'"}') and b',"prev":"' in line:
            covered = line[:line.rindex(b',"prev":"')] + b',"prev":"' + before
            before = hashlib.sha256(covered).hexdigest().encode()
            line = covered + b'","hash":"' + before + b'"}'
        lines.append(line)
    return b"\n".join(lines)


class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def spots(self, value, path=()):
        """Every place of a JSON value, also within bodies that stand in it as strings."""
        yield path
        if isinstance(value, dict):
            for key in value:
                yield from self.spots(value[key], (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.spots(item, (*path, index))

    def changed_json(self, value):
        path = self.random.choice(list(self.spots(value)))
        if not path:
            return self.random.choice(ODD)
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        last = path[-1]
        what = self.random.randrange(5)
        if last == "raw" and isinstance(holder[last], str) and self.random.random() < 0.8:
            with contextlib.suppress(ValueError, RecursionError):
                body = json.loads(holder[last])
                holder[last] = json.dumps(self.changed_json(body))
                return value
        if what == 0:
            del holder[last]
        elif what == 1 and isinstance(holder, dict):
            holder[self.random.choice(["raw_ref", "raw_keep", "raw_bytes", "call", "verdict", "leniencies", "continues",
                                       "league_key", "starts", "raw_base64", "context", "segment", "first_seq",
                                       "match_id", "draw_version", "choice_nonces"])] = self.random.choice(ODD)
        elif what == 2 and isinstance(holder[last], str) and holder[last]:
            text = holder[last]
            at = self.random.randrange(len(text))
            holder[last] = text[:at] + self.random.choice("0fPR{}\"\\é\x00") + text[at + 1:]
        else:
            holder[last] = self.random.choice(ODD)
        return value

    def changed_line(self, line):
        if self.random.random() < 0.75:
            with contextlib.suppress(ValueError, RecursionError):
                text = json.dumps(self.changed_json(json.loads(line)), separators=(",", ":"))
                return text.encode("utf-8", "surrogatepass")
        at = self.random.randrange(len(line) + 1)
        return line[:at] + self.random.choice(TOKENS) + line[at + self.random.choice([0, 1, 8, 10**6]):]

    def changed_file(self, content):
        lines = content.split(b"\n")
        for _ in range(self.random.choice([1, 1, 1, 2, 5])):
            index = self.random.randrange(len(lines))
            what = self.random.randrange(10)
            if what == 0:
                del lines[index]
                lines = lines or [b""]
            elif what == 1:
                lines.insert(index, self.random.choice(lines))
            elif what == 2:
                other = self.random.randrange(len(lines))
                lines[index], lines[other] = lines[other], lines[index]
            elif what == 3:
                lines = lines[:index + 1]
            else:
                lines[index] = self.changed_line(lines[index])
        content = b"\n".join(lines)
        return rechain(content) if self.random.random() < 0.7 else content

    def change(self, directory):
        files = [path for path in sorted(directory.rglob("*")) if path.is_file() and "sqlite" not in path.name]
        for path in self.random.sample(files, min(len(files), self.random.choice([1, 1, 2, 4]))):
            what = self.random.randrange(12)
            if what == 0:
                path.unlink()
            elif what == 1:
                path.write_bytes(b"")
            elif what == 2:
                path.unlink()
                path.mkdir()
            elif what == 3:
                path.write_bytes(self.random.choice(files).read_bytes() if all(f.is_file() for f in files) else b"x")
            else:
                path.write_bytes(self.changed_file(path.read_bytes()))


def small_copies(directory):
    """The golden leagues, their logs cut short, under `directory`."""
    for league in sorted(GOLDEN.iterdir()):
        if not league.is_dir():
            continue
        copy = directory / league.name
        shutil.copytree(league, copy)
        for path in copy.rglob("*.jsonl"):
            path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:MOST_LINES]))
        yield copy


def run(module, directory):
    """What the verifier printed if it broke; nothing if it ended as it should."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            sys.argv = ["verify_log.py", str(directory)]
            code = module.main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: B902: whatever it is, it is what is looked for
        return traceback.format_exc()
    said = out.buffer.getvalue().decode()
    if code not in (None, 0, 1, 2):
        return f"exit code {code}\n{said}"
    return "Traceback" in said and said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--script", type=Path, default=SOURCE / "scripts" / "verify_log.py")
    parser.add_argument("--keep", type=Path, default=SOURCE / "build-fuzz" / "findings")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    module = load(options.script.resolve())
    check_signature = module.is_signature
    mutator = Mutator(options.seed)
    tried, broken = 0, {}
    with tempfile.TemporaryDirectory(prefix="league_verify_fuzz_") as temporary:
        leagues = list(small_copies(Path(temporary)))
        deadline = time.monotonic() + options.seconds
        while time.monotonic() < deadline:
            work = Path(temporary) / "work"
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(mutator.random.choice(leagues), work)
            mutator.change(work)
            tried += 1
            # Signatures are right or wrong in no time, but now and then, when they are checked.
            luck = mutator.random.random()
            module.is_signature = check_signature if luck < 0.05 else (lambda *_, luck=luck: luck < 0.9)
            text = run(module, work)
            if not text:
                continue
            last = [line for line in text.splitlines() if line.startswith("  File")][-1:] or [text[:80]]
            if last[0] in broken:
                continue
            broken[last[0]] = text
            kept = options.keep / f"verify_log-{options.seed}-{tried}"
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(work, kept, dirs_exist_ok=True)
            print(f"{kept}:\n{text}")
    print(f"{tried} leagues tried, {len(broken)} kinds of breakage")
    return 1 if broken or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
