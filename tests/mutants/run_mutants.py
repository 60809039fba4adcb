"""Checks the checker: each mutant is caught by its check, and clean bots raise no alarm.

    python3 run_mutants.py [--short | --clean N] [NAME ...]

Without a word every mutant gets the whole fast check, and the clean bot twenty; `--short` asks only the check in
question. At least 95 % of the mutants have to be caught. `--clean N` checks the starter bots whose toolchains are there,
in turn, N times in all.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import BOT, MUTANTS

LEAGUE = Path(os.environ["LEAGUE_BIN_DIR"]) / "league"
MUTANT = Path(__file__).resolve().parent / "mutants.py"
LEAST_CAUGHT = 0.95


def starter_bots(place):
    """The commands of the bots that are robust, by language; built in `place`."""
    bots, pkg_config = BOT.parents[1], shutil.which("pkg-config")
    httplib = subprocess.run([pkg_config or "false", "--cflags", "--libs", "cpp-httplib"], capture_output=True, text=True)
    candidates = [("python", sys.executable, [], f"{sys.executable} {BOT}"),
                  ("node", "node", [], f"node {bots}/node/bot.mjs"),
                  ("go", "go", ["go", "build", "-o", f"{place}/go_bot", f"{bots}/go/bot.go"], f"{place}/go_bot"),
                  ("java", "javac", ["javac", "-d", place, f"{bots}/java/Bot.java"], f"java -cp {place} Bot"),
                  ("cpp", "c++" if httplib.returncode == 0 else "pkg-config and cpp-httplib",
                   ["c++", "-std=c++20", f"{bots}/cpp/bot.cpp", "-o", f"{place}/cpp_bot", *httplib.stdout.split(), "-lcrypto"],
                   f"{place}/cpp_bot")]
    for language, tool, build, command in candidates:
        if not shutil.which(tool):
            print(f"{language}: skipped, {tool} is missing")
            continue
        if build:
            subprocess.run(build, check=True)
        yield language, command


def check(bot, only=None):
    """The findings of one run of the bot that the command `bot` starts, by id."""
    with tempfile.TemporaryDirectory() as place:
        command = f"{bot} --manager {{manager}} --port {{port}} --data {place}/bot.json"
        words = [LEAGUE, "check", "--start", command, "--fast", "--wait", "30", "--format", "json"]
        done = subprocess.run([*words, *(["--only", only] if only else [])], capture_output=True, text=True, timeout=60)
        if not done.stdout:
            raise AssertionError(f"{bot}: {done.stderr}")
        return {finding["id"]: finding for finding in json.loads(done.stdout)["bots"][0]["checks"]}


def fate(name, short):
    wanted = MUTANTS[name][0]
    findings = check(f"{sys.executable} {MUTANT} {name}", wanted if short else None)
    outcome = findings.get(wanted, {}).get("outcome")
    if outcome == "failed":
        return name, None
    failed = sorted(id for id, finding in findings.items() if finding["outcome"] == "failed")
    return name, f"{wanted} is {outcome} ({findings.get(wanted, {}).get('got', '')}); failed: {failed[:6]}"


def alarms(number, language, command):
    """What was found in a clean bot."""
    bad = {id: f["got"] for id, f in check(command).items() if f["outcome"] in ("failed", "flaky", "harness")}
    return f"clean run {number}, {language}: {bad}" if bad else None


def main():
    words = sys.argv[1:]
    short = "--short" in words
    clean_runs = int(words[words.index("--clean") + 1]) if "--clean" in words else (2 if short else 20)
    names = [word for word in words if word in MUTANTS] or ([] if "--clean" in words else list(MUTANTS))
    assert len(MUTANTS) >= 60, len(MUTANTS)
    with ThreadPoolExecutor(2) as pool:
        fates = dict(pool.map(lambda name: fate(name, short), names))
    missed = {name: why for name, why in fates.items() if why}
    for name, why in missed.items():
        print(f"not caught: {name}: {why}")
    with tempfile.TemporaryDirectory() as place:
        bots = list(starter_bots(place)) if "--clean" in words else [("python", f"{sys.executable} {MUTANT} clean")]
        # One after the other: an alarm because two runs share a processor would be none.
        runs = zip(range(clean_runs), itertools.cycle(bots))
        false = [why for number, bot in runs if (why := alarms(number, *bot))]
    print(*false, sep="\n")
    print(f"{len(names) - len(missed)} of {len(names)} mutants caught, {len(false)} false alarms in {clean_runs} clean runs")
    is_enough = len(missed) <= (1 - LEAST_CAUGHT) * len(names)
    sys.exit(0 if is_enough and not false else 1)


if __name__ == "__main__":
    main()
