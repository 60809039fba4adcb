#!/usr/bin/env python3
"""Plays leagues of the real programs in which nobody is at fault, with strangers who call them, odd bots, restarts, kills and
full disks: both verifiers must exit with 0 (incidents may be told), for the directory and for its bundle. In a bundle, lines
with seeds that may be used again are masked, which is nobody's fault.

    tests/corpus/honest_leagues.py              all of them
    tests/corpus/honest_leagues.py --short      some (scripts/test)
    tests/corpus/honest_leagues.py REGEX        those whose name it matches; --list only names them; --keep DIR keeps what failed

The programs are taken from LEAGUE_BIN_DIR, else from build/bin. Exit codes: 0 no alarm, 1 a false one.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import traceback
import unittest
from pathlib import Path

from guests import GUESTS
from league_testing import BIN, FAST, SOURCE, Agent, LeagueTest, limits, wait_until, write_limits
from nats_broker import why_no_bus
from scripted_bot import Bot, exact_reply

sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
from foreign_bots import STYLES, ForeignBot  # noqa: E402

# Programs that are away for a moment must not be given up.
PATIENT = limits(league={"referee_ping_interval_ms": 200, "referee_ping_failures": 50, "max_match_attempts": 15},
                 life_cycle={"suspend_after_failed_matches": 1000}, retry={"delay_ms": 100})
LEAGUES, SHORT = {}, set()


class Skipped(Exception):
    """This machine cannot play such a league."""


def league(name, *arguments, short=False, **options):
    def register(play):
        LEAGUES[name] = lambda test: play(test, *arguments, **options)
        if short:
            SHORT.add(name)
        return play
    return register


class Honest(LeagueTest):
    """One league in its directory; what it holds is verified when it is over."""

    def runTest(self):
        pass

    def tearDown(self):
        pass

    def urls(self):
        return [agent.url for agent in self.agents if agent.url.startswith("http")]

    def begin(self, players=3, referees=1, strategy="random,even,odd", limits=FAST, own_players=None, **options):
        """Manager, referees and players of ours, which keep keys and logs."""
        self.agents = []
        self.manager = self.start_manager(players, referees, limits=limits)
        for number in range(referees):
            self.agents.append(self.start_referee(self.manager, "--data", self.directory / "referees", name=f"whistle{number}", limits=limits))
        self.players = self.start_players(self.manager, own_players or players, strategy, "--data", self.directory / "players",
                                          limits=limits) if own_players != 0 else []
        self.agents += self.players

    def bot(self, kind, *arguments):
        bot = kind(*arguments)
        self.addCleanup(bot.close)
        return bot

    def finish(self, seconds=60):
        self.wait_until_over(self.manager, seconds)
        time.sleep(0.2)  # the last news may be on its way
        self.stop_programs()


# --- The way of the messages ----------------------------------------------------------------------------------------
def up(test, *arguments):
    """`league up`: everything is started by one command."""
    done = subprocess.run([BIN / "league", "up", "--config", write_limits(test.directory, FAST), "--data", test.directory / "data", "--logs", test.logs, "--json", *arguments],
                          capture_output=True, text=True, timeout=120, cwd=test.directory, check=False)
    if done.returncode:
        raise AssertionError(f"league up ended with {done.returncode}: {done.stderr[-2000:]}")


_WAYS = ("http", "sse", "websocket", "stdio", "tcp", "unix")
for _way in _WAYS:
    league(f"up-{_way}", "--players", "4", "--referees", "2", "--transport", _way)(up)
league("up-all-transports", "--players", "7", "--referees", "2", "--transport", ",".join(_WAYS), short=True)(up)
for _strategies in ("slow:200,random", "silent,random,even", "crash,random,odd", "garbage,even,odd", "invalid,even,odd", "wrong-match,even,odd",
                    "no-token,even,odd", "huge,even,odd"):
    league(f"up-{_strategies.split(',')[0].replace(':', '-')}-players", "--players", "3", "--strategies", _strategies,
           short=_strategies.startswith("crash"))(up)
for _players, _referees in ((2, 1), (5, 3), (7, 2)):
    league(f"up-{_players}-players-{_referees}-referees", "--players", str(_players), "--referees", str(_referees))(up)
league("up-strict", "--players", "3", "--mode", "strict")(up)


@league("bus")
def bus(test):
    why = why_no_bus(BIN)
    if why:
        raise Skipped(why)
    up(test, "--players", "4", "--referees", "2", "--bus")


# --- Strangers ------------------------------------------------------------------------------------------------------
def with_guests(test, *names):
    """They call before the league begins, while it is played, and when it is over."""
    slow = limits(time_limits_ms={"CHOOSE_PARITY_CALL": 5000})
    test.agents = []
    test.manager = test.start_manager(4, 1, limits=slow)
    test.agents.append(test.start_referee(test.manager, limits=slow))
    test.agents += test.start_players(test.manager, 2, "slow:30", limits=slow)
    for name in names:
        GUESTS[name](test)
    test.agents += test.start_players(test.manager, 2, "slow:30", name="late", limits=slow)
    for name in names:
        GUESTS[name](test)
    test.wait_until_over(test.manager, 60)
    for name in names:
        GUESTS[name](test)
    test.finish()


for _name in GUESTS:
    if _name not in ("registration-with-extra-fields", "registration-in-another-name"):  # they would be taken before the start
        league(f"guest-{_name}", _name)(with_guests)
league("all-guests", *(name for name in GUESTS if not name.startswith("registration")), short=True)(with_guests)


def late_guests(test, *names):
    test.begin(players=3, strategy="slow:30")
    for name in names:
        GUESTS[name](test)
    test.finish()


for _name in ("registration-with-extra-fields", "registration-in-another-name"):
    league(f"guest-{_name}", _name, short=True)(late_guests)


# --- Odd bots -------------------------------------------------------------------------------------------------------
def with_bots(test, *styles):
    test.begin(players=len(styles) + 2, own_players=2)
    for style in styles:
        test.bot(ForeignBot, style).join(test.manager)
    test.finish()


for _style in STYLES:
    league(f"bot-{_style.name}", _style, short=_style.name == "only_the_choice")(with_bots)


class AckBot(Bot):
    """Its acknowledgements are what somebody else could take for statements."""

    def reply(self, frame):
        call = frame.get("params", {})
        answer = exact_reply(self, call)
        if "message_type" in answer:
            return answer
        return {"status": "ok", "message_type": call.get("message_type"), "sender": "league_manager", "log_head": {"seq": 1, "hash": "ee" * 32},
                "match_id": "R1M1", "draw_proof": "00" * 32, "conversation_id": "somewhere else"}


class OtherIds(Bot):
    """Answers with another conversation, league, round and an extra field or two."""

    def reply(self, frame):
        answer = exact_reply(self, frame.get("params", {}))
        if "message_type" in answer:
            answer |= {"conversation_id": "c" * 120, "league_id": "another", "round_id": 77, "draw_proof": "00" * 32, "draw_commitment": "ee" * 32,
                       "choice_nonce": "00" * 32}
        return answer


@league("bots-that-name-other-ids", OtherIds, short=True)
@league("bots-with-talkative-acknowledgements", AckBot, short=True)
def with_bot(test, kind):
    test.begin(players=3, own_players=2)
    test.bot(kind, "odd").join(test.manager)
    test.finish()


@league("entered-players")
def entered(test):
    """A player that registers by `league enter` has no log and no key."""
    test.begin(players=3, own_players=2)
    bot = test.bot(Bot, "entered")
    done = subprocess.run([BIN / "league", "enter", test.manager.url, "--name", "entered", "--endpoint", bot.url, "--json"],
                          capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    bot.id, bot.token = "P03", "none"
    test.finish()


# --- Restarts and kills ---------------------------------------------------------------------------------------------
def manager_again(test):
    program = test.start("league_manager", "--data", test.directory / "data", port=test.manager.url.split(":")[2].split("/")[0], limits=PATIENT)
    (url, identity), = program.ready()
    test.manager = Agent(program, url, identity)


def referee_again(test):
    test.start_referee(test.manager, "--data", test.directory / "referees", name="whistle0", limits=PATIENT)


def players_again(test):
    test.start_players(test.manager, 4, "slow:20", "--data", test.directory / "players", limits=PATIENT)


def restarted(test, kill, *who):
    test.begin(players=4, strategy="slow:20", limits=PATIENT)
    wait_until(lambda: test.status(test.manager)["current_round"] >= 2, 30, "the second round is played")
    programs = {"manager": test.manager.program, "referee": test.agents[0].program, "players": test.players[0].program}
    for name in who:
        programs[name].kill() if kill else programs[name].stop()
    for name in who:
        {"manager": manager_again, "referee": referee_again, "players": players_again}[name](test)
    test.finish()


for _who in (("manager",), ("referee",), ("players",), ("manager", "referee"), ("referee", "players"), ("manager", "referee", "players")):
    league(f"killed-{'-'.join(_who)}", True, *_who, short=_who == ("manager",))(restarted)
    league(f"restarted-{'-'.join(_who)}", False, *_who)(restarted)


def interrupted(test, seed):
    """Stopped for good at some moment of the game, in some order, by signals of which each program gets one or two."""
    chance = random.Random(seed)
    test.begin(players=chance.choice([4, 6]), referees=chance.choice([1, 2]), strategy="slow:150,slow:500,random",
               limits=limits(time_limits_ms={"CHOOSE_PARITY_CALL": 3000}))
    time.sleep(chance.uniform(0, 4))
    programs = chance.sample(test.programs, len(test.programs))
    for program in programs[:chance.randrange(3)]:
        program.process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0, 1.5))
    for program in programs:
        program.process.send_signal(chance.choice([signal.SIGTERM, signal.SIGKILL]))
        program.process.send_signal(signal.SIGCONT)
        time.sleep(chance.choice([0, chance.uniform(0, 0.6)]))
    for program in programs:
        program.process.wait(30)


for _seed in range(20):
    league(f"interrupted-{_seed}", _seed, short=_seed < 2)(interrupted)


@league("second-league-in-the-same-place")
def second_league(test):
    """`--new`: what the first league left is nobody's fault in the second."""
    test.begin(players=3)
    test.finish()
    test.manager = test.start_manager(3, 1, "--new")
    test.start_referee(test.manager, "--data", test.directory / "referees2", name="other")
    test.start_players(test.manager, 3, "random", "--data", test.directory / "players2", name="other")
    test.finish()


@league("two-leagues-in-the-same-data", short=True)
def same_data(test):
    """`league up --new`: players keep the histories of the league before."""
    for new in ((), ("--new",)):
        test.manager = test.start_manager(3, 1, *new)
        test.agents = [test.start_referee(test.manager, "--data", test.directory / "data", name="whistle")]
        test.agents += test.start_players(test.manager, 3, "random", "--data", test.directory / "data")
        test.finish()


@league("copied-while-it-is-played", short=True)
def copied(test):
    """One file after the other, each somewhat later."""
    test.begin(players=4, strategy="slow:100")
    wait_until(lambda: test.status(test.manager)["current_round"] >= 2, 30, "the second round is played")
    copy = test.directory / "copy"
    for path in sorted((path for folder in ("logs", "data") for path in (test.directory / folder).rglob("*") if path.is_file()), key=lambda path: path.name):
        target = copy / path.relative_to(test.directory)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        time.sleep(0.01)
    test.finish()
    test.wrong += verdicts(copy, may_lack=RUNNING)
    shutil.rmtree(copy)


# --- A full disk ----------------------------------------------------------------------------------------------------
def full_disk(test, who):
    """One program's logs lie on a small disk that is full until the operator makes room."""
    disk = test.directory / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", disk], capture_output=True, check=False).returncode:
        raise Skipped("no small disk can be mounted here")
    test.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
    all_logs = test.logs
    test.agents = []
    test.logs = disk if who == "manager" else all_logs
    test.manager = test.start_manager(3, 1)
    test.logs = disk if who == "referee" else all_logs
    test.start_referee(test.manager)
    test.logs = disk if who == "player" else all_logs
    test.start_players(test.manager, 3, "random")
    wait_until(lambda: test.status(test.manager)["champion"] or shutil.disk_usage(disk).free < 4096, 20, "the disk is full")
    subprocess.run(["mount", "-o", "remount,size=1g", disk], check=True)  # the operator makes room
    test.finish()
    test.logs = all_logs
    for path in disk.rglob("*.json*"):
        target = all_logs / path.relative_to(disk)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


for _who in ("manager", "referee", "player"):
    league(f"full-disk-{_who}", _who)(full_disk)


# What the copy of a running league may lack.
RUNNING = {"log.truncated", "log.short", "witness.head", "journal.missing", "journal.damaged", "projection.ahead", "log.absent"}


# --- Running them ---------------------------------------------------------------------------------------------------
def verdicts(directory, may_lack=()):
    """What each verifier has against the league; nothing is right. `may_lack`: rules of missing evidence that are no fault."""
    for command in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
        done = subprocess.run([*command, "--json", directory], capture_output=True, text=True, timeout=300, check=False)
        report = json.loads(done.stdout) if done.returncode in (0, 1) else {"faults": [done.stderr[-500:]], "missing": []}
        for finding in report["faults"] + [one for one in report["missing"] if one["rule"] not in may_lack]:
            yield f"{Path(command[-1]).name} of {directory.name} exits {done.returncode}: {finding}"


def unpacked_bundle(directory):
    archive = directory / "bundle.tar"
    packed = subprocess.run([BIN / "league", "audit", "bundle", directory, archive], capture_output=True, text=True, timeout=300, check=False)
    if packed.returncode not in (0, 1):
        raise AssertionError(packed.stderr)
    with tarfile.open(archive) as files:
        files.extractall(directory / "unpacked")
    return directory / "unpacked" / "league-bundle"


def run(name, keep):
    test = Honest()
    test.setUp()
    try:
        test.wrong = []
        LEAGUES[name](test)
        wrong = [*test.wrong, *verdicts(test.directory)]
        wrong += verdicts(unpacked_bundle(test.directory), may_lack={"line.masked", "bundle.left_out"})
        if wrong and keep:
            shutil.copytree(test.directory, Path(keep) / name, dirs_exist_ok=True)
        return "FAILED" if wrong else "ok", wrong
    except (Skipped, unittest.SkipTest) as why:
        return "skipped", [str(why)]
    except Exception:  # noqa: BLE001
        return "FAILED", [traceback.format_exc()]
    finally:
        test.doCleanups()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regex", nargs="?", default="", metavar="REGEX")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    names = [name for name in LEAGUES if re.search(options.regex, name) and (name in SHORT or not options.short)]
    if options.list:
        print(*names, f"{len(names)} leagues", sep="\n")
        return 0
    counts, started = {"ok": 0, "skipped": 0, "FAILED": 0}, time.monotonic()
    for name in names:
        begun = time.monotonic()
        how, sentences = run(name, options.keep)
        counts[how] += 1
        print(f"{how} {name} ({time.monotonic() - begun:.1f} s)", *sentences, sep="\n  ", flush=True)
    print(f"{len(names)} leagues: {counts['ok']} without alarm, {counts['FAILED']} failed, {counts['skipped']} skipped, {time.monotonic() - started:.0f} s")
    return int(counts["FAILED"] > 0)


if __name__ == "__main__":
    sys.exit(main())
