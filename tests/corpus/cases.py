"""What a case of the corpus is: a league with one thing wrong (or nothing), and what both verifiers must say of it."""

import functools
import itertools
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import log_builder  # noqa: E402

log_builder.Signer.sign = functools.lru_cache(100_000)(log_builder.Signer.sign)
log_builder.Signer = functools.lru_cache(1000)(log_builder.Signer)

MANAGER = "league_manager"
# Rules that only `league audit verify` has; every other rule must be found by scripts/verify_log.py too.
ONLY_PROGRAM = {
    "schema", "authority.sender", "authority.peer", "projection.standings", "projection.rounds", "projection.ahead",
    "journal.differs", "journal.missing", "journal.twice", "journal.unlogged",
    "clock.unproven", "clock.void_loss", "clock.arithmetic", "clock.replays",
}
FAMILIES_OF_PROGRAM = ("order.", "retry.", "deadline.")


def is_for_both(rule):
    return rule not in ONLY_PROGRAM and not rule.startswith(FAMILIES_OF_PROGRAM)


@dataclass(frozen=True)
class Finding:
    """`at` says where: (file, line), (agent, what its record holds), or None where the place does not matter. `texts`
    must stand in the finding's text."""

    severity: str
    rule: str
    at: tuple = None
    texts: tuple = ()


def fault(rule, at=None, *texts):
    return Finding("faults", rule, at, texts)


def missing(rule, at=None, *texts):
    return Finding("missing", rule, at, texts)


def incident(rule, at=None, *texts):
    return Finding("incidents", rule, at, texts)


@dataclass
class Case:
    name: str
    family: str
    expected: list
    build: callable  # (directory) -> a League or None
    arguments: tuple = ()
    exact: bool = True  # no other faults and nothing else missing
    agree_only: bool = False  # whatever they say: both the same, and no crash
    same_places: bool = True  # both name the same files and lines, not only the same rules
    real: bool = False  # needs a league that the programs played
    short: bool = False
    places: dict = field(default_factory=dict)

    @property
    def exit_code(self):
        return int(any(one.severity != "incidents" for one in self.expected))


CASES = {}


def add(case):
    if case.name in CASES:
        raise ValueError(f"two cases are called {case.name}")
    CASES[case.name] = case


def made(family, name, *expected, plan=None, files=None, options=None, finish=True, **more):
    """Registers a league that is made by hand: `plan(league)` before it is played, then the decorated function changes
    what stands in the logs (their owners seal it anew), then `files(directory)` changes the files."""

    def register(change):
        def build(directory):
            league = new_league(**(options or {}))
            if plan:
                plan(league)
            league.play()
            if change:
                change(league)
            league.write(directory)
            if files:
                files(directory)
            return league

        add(Case(f"{family}/{name}", family, list(expected), build, **more))
        return change

    return register


def new_league(**options):
    """Three players, two referees; everybody commits. All three matches are decided or drawn by play. Logs are sealed
    after the first round and at the end: signatures are what takes the time."""
    league = log_builder.League(**{"players": 3, "referees": 2, "seed": 7, **options})
    sealed = []

    def seal_all(closed=False, only=None):
        if closed or not sealed:
            log_builder.League.seal_all(league, closed, only)
        sealed.append(closed)
    league.seal_all = seal_all
    return league


def own_file(agent):
    short = agent.split(":")[-1]
    return "logs/league/league_test/league.log.jsonl" if agent == MANAGER else f"logs/agents/{short}.log.jsonl"


def seal_file(agent):
    return own_file(agent).replace(".log.jsonl", ".seal.json")


def lines_of(path):
    return path.read_bytes().split(b"\n")[:-1]


def put_lines(path, lines):
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def line_where(path, wanted):
    """The number of the first line whose keys have the wanted values; with `nth` the one of that number."""
    nth = wanted.get("nth", 0)
    wanted = {key: value for key, value in wanted.items() if key != "nth"}
    found = []
    for number, line in enumerate(lines_of(path), 1):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if all(record.get(key) == value for key, value in wanted.items()):
            found.append(number)
    return found[nth] if found else 0


def report_at(match):
    """The record of a match's report in the manager's log."""
    return MANAGER, {"message_type": "MATCH_RESULT_REPORT", "match_id": match, "dir": "in", "kind": "request"}


def last_line(agent):
    return agent, "last"


def last_record(agent):
    return agent, "last record"


def place_of(at, directory):
    """(file, line) as the verifiers must name it."""
    if at is None:
        return None
    where, what = at
    if isinstance(what, int):
        return where, what
    path = own_file(where)
    if what == "last":
        return path, len(lines_of(directory / path))
    if what == "last record":
        return path, max(n for n, line in enumerate(lines_of(directory / path), 1) if line.startswith(b'{"seq"'))
    return path, line_where(directory / path, what)


def chance(seed):
    """Numbers that are the same in each run."""
    import random
    return random.Random(seed)


def product(*lists):
    return itertools.product(*lists)
