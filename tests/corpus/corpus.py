#!/usr/bin/env python3
"""Runs `league audit verify` and scripts/verify_log.py over a corpus of leagues in each of which one thing is wrong, or
nothing: both must say what the case states, at the place that it states, and the same.

    tests/corpus/corpus.py              all cases
    tests/corpus/corpus.py --short      at least one case of each rule (scripts/test)
    tests/corpus/corpus.py REGEX        the cases whose name it matches; --list only names them
    tests/corpus/corpus.py --make DIR REGEX     leaves the leagues in DIR

The program is taken from LEAGUE_BIN_DIR, else from build/bin. Exit codes: 0 all is as stated, 1 it is not.
"""

import argparse
import concurrent.futures
import contextlib
import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("LEAGUE_BIN_DIR", SOURCE / "build" / "bin"))
CLASSES = ("faults", "missing", "incidents")

import cases  # noqa: E402
import clean, commitments, damage, ends, evidence, given_up, hostile, lies, played, receipts, singles, witnesses  # noqa: E401,E402,F401  (they register cases)
import verify_log  # noqa: E402
from cases import CASES, is_for_both  # noqa: E402

# Most lines are alike in most leagues.
for name in ("is_signature", "read_body"):
    setattr(verify_log, name, functools.lru_cache(20_000)(getattr(verify_log, name).__wrapped__))


def by_program(arguments):
    done = subprocess.run([str(BIN / "league"), "audit", "verify", *arguments], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def by_script(arguments):
    done = subprocess.run([sys.executable, str(SOURCE / "scripts" / "verify_log.py"), *arguments], capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def by_script_here(arguments):
    """The script within this process: it need not check the signature of a log again that many leagues have alike."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    sys.argv = ["verify_log.py", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = verify_log.main()
        except SystemExit as ended:
            code = ended.code
        except Exception:  # noqa: BLE001  (whatever it is, the script must not end like this)
            traceback.print_exc()
            code = 1
    for stream in (out, err):
        stream.seek(0)
    return code, out.read(), err.read()


VERIFIERS = {"program": by_program, "script": by_script_here}


class Verdict:
    """What one verifier says of a directory."""

    def __init__(self, name, arguments, directory):
        self.name = name
        self.code, out, err = VERIFIERS[name]([*arguments, str(directory), "--json"])
        self.stderr = err.strip()
        try:
            self.report = json.loads(out)
        except ValueError:
            self.report = {}
        self.found = {kind: [self._finding(one, directory) for one in self.report.get(kind, [])] for kind in CLASSES}

    @staticmethod
    def _finding(one, directory):
        file = one.get("file", "").removeprefix(str(directory)).lstrip("/")
        return {**one, "file": file}

    @property
    def has_crashed(self):
        return self.code not in (0, 1) or not self.report or "Traceback" in self.stderr

    def rules(self, kind):
        return {one["rule"] for one in self.found[kind]}

    def keys(self, kind):
        return {(one["rule"], one["file"], one["line"]) for one in self.found[kind] if is_for_both(one["rule"])}

    def lines(self):
        return [f"    {self.name}: {kind} {one['rule']} {one['file']}:{one['line']}: {one.get('text', '')[:150]}"
                for kind in CLASSES for one in self.found[kind][:6]]


def wrong_with(case, verdict, directory):
    """What a verdict lacks or has too much of, as sentences."""
    expected = [one for one in case.expected if verdict.name == "program" or is_for_both(one.rule)]
    code = int(any(one.severity != "incidents" for one in expected))
    if verdict.has_crashed:
        return [f"{verdict.name} crashed: exit code {verdict.code}, {verdict.stderr[-300:]}"]
    if case.agree_only:
        return []
    said = []
    if case.exact and verdict.code != code:
        said.append(f"{verdict.name} exits {verdict.code}, not {code}")
    for one in expected:
        said += lacking(one, verdict, directory)
    if case.exact:
        for kind in ("faults", "missing"):
            more = verdict.rules(kind) - {one.rule for one in expected if one.severity == kind}
            more -= {"schema"} if code else set()  # what is wrong on purpose need not follow its schema
            said += [f"{verdict.name} has {kind} {rule} too" for rule in sorted(more)]
    return said


def lacking(one, verdict, directory):
    same = [found for found in verdict.found[one.severity] if found["rule"] == one.rule]
    if not same:
        return [f"{verdict.name} has no {one.severity} {one.rule}"]
    place = cases.place_of(one.at, directory)
    if place and place not in [(found["file"], found["line"]) for found in same]:
        return [f"{verdict.name} says {one.rule} of {same[0]['file']}:{same[0]['line']}, not of {place[0]}:{place[1]}"]
    texts = [text for text in one.texts if not any(text in found["text"] for found in same)]
    return [f"{verdict.name}: {one.rule} does not name {text}" for text in texts]


def disagreements(program, script, case):
    """Rules for both that only one of them found. A line that was damaged says nothing else for certain."""
    said = []
    for kind in ("faults", "missing") if case.same_places else ():
        for name, more in (("program", program.keys(kind) - script.keys(kind)), ("script", script.keys(kind) - program.keys(kind))):
            said += [f"only the {name} has {kind} {rule} at {file}:{line}" for rule, file, line in sorted(more)[:5]]
    rules = [{rule for rule in verdict.rules("incidents") if is_for_both(rule)} for verdict in (program, script)]
    if case.exact and rules[0] != rules[1]:
        said.append(f"the program has incidents {sorted(rules[0])}, the script {sorted(rules[1])}")
    return said


def run(name, keep=None, only=None):
    """The sentences about what is wrong with one case; empty if all is as stated."""
    case = CASES[name]
    directory = Path(keep) / name if keep else Path(tempfile.mkdtemp(prefix="league_corpus_"))
    directory.mkdir(parents=True, exist_ok=True)
    try:
        case.build(directory)
        verdicts = [Verdict(verifier, case.arguments, directory) for verifier in VERIFIERS if only in (None, verifier)]
        said = [sentence for verdict in verdicts for sentence in wrong_with(case, verdict, directory)]
        if not only and not any(verdict.has_crashed for verdict in verdicts):
            said += disagreements(*verdicts, case)
        return said + ([line for verdict in verdicts for line in verdict.lines()] if said else [])
    except Exception:  # noqa: BLE001  (a case that cannot be made is told like one that fails)
        return ["it cannot be made: " + traceback.format_exc()]
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def rules_without_case():
    """Rules of docs/audit.md that no case finds alone (but for incidents): could be switched off, and nothing would fail."""
    table = re.findall(r"^\| (`[a-z_.`, ]+`)(?: \(missing\))? \|", (SOURCE / "docs" / "audit.md").read_text(), re.MULTILINE)
    rules = {rule for row in table for rule in re.findall(r"`([a-z_]+\.[a-z_]+)`", row)}
    told = [{e.rule for e in case.expected if e.severity != "incidents"} or {e.rule for e in case.expected}
            for case in CASES.values() if case.exact]
    alone = {rule for rules in told if len(rules) == 1 for rule in rules}
    # Nothing is unreadable for whoever runs the tests as root; the journal's head is in the signed end, too.
    return sorted(rules - alone - {"file.unreadable", "journal.head"})


def selected(options):
    names = [name for name, case in CASES.items() if case.short or not options.short]
    return [name for name in names if re.search(options.regex, name)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regex", nargs="?", default="", metavar="REGEX")
    parser.add_argument("--short", action="store_true", help="at least one case of each rule")
    parser.add_argument("--list", action="store_true", help="name the cases and what they expect")
    parser.add_argument("--make", metavar="DIR", help="leave the leagues in DIR/CASE")
    parser.add_argument("--processes", action="store_true", help="start scripts/verify_log.py anew for each case")
    parser.add_argument("--only", choices=("program", "script"), help="run only one of the verifiers")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many cases at a time (2)")
    return parser.parse_args()


def main():
    options = arguments()
    names = selected(options)
    if options.list:
        for name in names:
            told = ", ".join(f"{e.severity} {e.rule}" for e in CASES[name].expected)
            print(name, "->", "both agree" if CASES[name].agree_only else told or "clean")
        print(len(names), "cases")
        return 0
    started, failed = time.monotonic(), 0
    if options.processes:
        VERIFIERS["script"] = by_script
    played.prepare(names)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for name, said in zip(names, pool.map(run, names, [options.make] * len(names), [options.only] * len(names))):
            if said:
                failed += 1
                print(f"FAILED {name}", *said, sep="\n  ", flush=True)
    for rule in rules_without_case() if not options.regex else []:
        failed += 1
        print(f"FAILED no case finds {rule} alone")
    print(f"{len(names)} cases, {failed} not as stated, {time.monotonic() - started:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
