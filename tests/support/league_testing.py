"""The vocabulary of the end-to-end tests: start the three programs, call them, wait, read their logs.

The executables come from the directory in LEAGUE_BIN_DIR. Every test has its own temporary directory, uses
free ports only and ends its children by their process id. Standard library only.
"""

import contextlib
import gzip
import http.client
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

SOURCE = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("LEAGUE_BIN_DIR", SOURCE / "build" / "bin"))

# Some tests are too long for scripts/test, or have a larger form: `scripts/nightly long` runs these.
IS_NIGHTLY = os.environ.get("LEAGUE_NIGHTLY") == "1"
nightly = unittest.skipUnless(IS_NIGHTLY, "too long for every day: scripts/nightly long")

# Leagues of tests must not wait as long as real ones. Everything that is not named keeps its default.
FAST = {
    "time_limits_ms": {"CHOOSE_PARITY_CALL": 5000},
    "retry": {"delay_ms": 50},
}


# A token as the manager makes them; logs show the first eight characters at most.
WHOLE_TOKEN = re.compile(rb"tok_\w+?_[a-z2-7]{8,}")


def limits(**sections):
    """FAST with the given sections laid over it: limits(retry={"max_attempts": 1})."""
    merged = {name: dict(values) for name, values in FAST.items()}
    for name, values in sections.items():
        merged.setdefault(name, {}).update(values)
    return merged


def write_limits(directory, limits, name="league.toml"):
    """A file for --config with these limits."""
    path = directory / name
    with path.open("w") as file:
        for section, keys in limits.items():
            print(f"[limits.{section}]", *(f"{key} = {value}" for key, value in keys.items()), sep="\n", file=file)
    return path


def wait_until(condition, seconds, what):
    """Returns the first true value of `condition()`; fails after `seconds`, naming `what`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def snapshot_of(site):
    """The league in a site of `league export`."""
    return json.loads((site / "snapshot.js").read_text(encoding="utf-8").splitlines()[2])


class Answer:
    """What an HTTP call brought: `status`, `text`, and `json` (None if the body is no JSON)."""

    def __init__(self, status, body):
        self.status = status
        self.text = body.decode("utf-8", "replace")
        try:
            self.json = json.loads(body) if body else None
        except ValueError:
            self.json = None

    def result(self):
        return (self.json or {}).get("result")

    def error_code(self):
        """The league's code, wherever this kind of refusal carries it; None for a success."""
        if not isinstance(self.json, dict):
            return None
        if "error" in self.json:
            return (self.json["error"].get("data") or {}).get("error_code")
        result = self.json.get("result", self.json)
        if not isinstance(result, dict):
            return None
        if result.get("isError") and "structuredContent" not in result:
            result = json.loads(result["content"][0]["text"])
        result = result.get("structuredContent", result)
        return result.get("error_code") or (result.get("error") or {}).get("error_code")

    def __repr__(self):
        return f"HTTP {self.status} {self.text[:600]}"


def post(url, body, headers=None, timeout=15):
    """One POST on its own connection."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    with contextlib.closing(connection):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", parts.path + (f"?{parts.query}" if parts.query else ""), data, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, response.read())


def rpc(url, method, params=None, timeout=15):
    """Calls `method` by JSON-RPC."""
    frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params if params is not None else {}}
    return post(url, frame, timeout=timeout)


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def message(message_type, sender, token=None, **fields):
    """A message of league.v2; a field that is given as None is left out."""
    whole = {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": sender,
        "timestamp": now(),
        "conversation_id": "convtest001",
        "auth_token": token,
        **fields,
    }
    return {name: value for name, value in whole.items() if value is not None}


def player_registration(name, endpoint, **changes):
    """LEAGUE_REGISTER_REQUEST; `meta` changes player_meta, everything else the message."""
    meta = {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint}
    meta.update(changes.pop("meta", {}))
    return {**message("LEAGUE_REGISTER_REQUEST", "player:" + name, player_meta=meta), **changes}


def referee_registration(name, endpoint, **changes):
    meta = {
        "display_name": name,
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": endpoint,
        "max_concurrent_matches": 4,
    }
    meta.update(changes.pop("meta", {}))
    return {**message("REFEREE_REGISTER_REQUEST", "referee:" + name, referee_meta=meta), **changes}


def without_figures(rows):
    """Rows of a table without the figures beside the points, which follow when there is time."""
    return [{key: row[key] for key in row.keys() - {"rating", "rating_error", "p_first"}} for row in rows]


class Program:
    """One of our executables as a child process."""

    def __init__(self, name, arguments, directory, environment=None):
        self.name = name
        self.arguments = [str(argument) for argument in arguments]
        self.stderr_path = directory / f"{Path(name).name}_{time.monotonic_ns()}.stderr"
        self._lines = queue.Queue()
        with open(self.stderr_path, "wb") as stderr:
            self.process = subprocess.Popen(
                [str(BIN / name), *map(str, arguments)], stdout=subprocess.PIPE, stderr=stderr, cwd=directory,
                env={**os.environ, **(environment or {})},
            )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.decode().split())
        self._lines.put(None)

    def ready(self, count=1, seconds=30):
        """The [(URL, ID)] of `count` lines `ready URL ID`."""
        found = []
        deadline = time.monotonic() + seconds
        while len(found) < count:
            try:
                line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{self.name} is not ready in {seconds} s: {self.stderr()}") from None
            if line is None:
                raise AssertionError(f"{self.name} ended: {self.stderr()}")
            if line and line[0] == "ready":
                found.append((line[1], line[2] if len(line) > 2 else ""))
        return found

    def stderr(self):
        return self.whole_stderr()[-3000:]

    def whole_stderr(self):
        return self.stderr_path.read_text(errors="replace")

    @property
    def is_running(self):
        return self.process.poll() is None

    def stop(self, seconds=20):
        """SIGTERM; returns the exit code."""
        self.process.terminate()
        return self.process.wait(seconds)

    def kill(self):
        self.process.kill()
        self.process.wait(5)


class Agent:
    """A program that serves under `url` and is known as `id`."""

    def __init__(self, program, url, identity):
        self.program = program
        self.url = url
        self.id = identity


class LeagueTest(unittest.TestCase):
    """Base of all end-to-end tests. `self.directory` holds `data/` and `logs/` of this test."""

    log_level = "warn"

    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="league_e2e_")
        self.addCleanup(self._temporary.cleanup)
        self.directory = Path(self._temporary.name)
        self.logs = self.directory / "logs"
        self.programs = []
        self.addCleanup(self.kill_programs)
        self._configs = 0

    def tearDown(self):
        """Whatever a test is about: no log of it shows a token."""
        for path in [*self.logs.rglob("*.jsonl"), *self.logs.rglob("*.jsonl.gz")]:
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            self.assertIsNone(WHOLE_TOKEN.search(content), f"{path.name} shows a token")

    def kill_programs(self):
        crashes = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL}
        crashed = [program for program in self.programs if program.process.poll() in crashes]
        for program in self.programs:
            if program.is_running:
                program.kill()
        self.assertEqual([(program.name, program.process.returncode, program.stderr()) for program in crashed], [],
                         "whatever a test is about: no program of it crashes")

    def start(self, name, *arguments, limits=FAST, port=0):
        self._configs += 1
        config = write_limits(self.directory, limits, f"config_{self._configs}.toml")
        common = ["--port", port, "--config", config, "--logs", self.logs, "--log-level", self.log_level]
        program = Program(name, [*common, *arguments], self.directory)
        self.programs.append(program)
        return program

    def start_manager(self, players, referees, *arguments, limits=FAST, data="data"):
        """The league manager; `.id` is the league's id."""
        program = self.start(
            "league_manager", "--players", players, "--referees", referees, "--data", self.directory / data,
            *arguments, limits=limits,
        )
        (url, league_id), = program.ready()
        return Agent(program, url, league_id)

    def admission(self, manager):
        """The options that admit a referee, wherever it registers from; none where the manager has no key."""
        given = manager.program.arguments if hasattr(manager, "program") else []
        key = Path(given[given.index("--data") + 1]) / "referee.key" if "--data" in given else None
        return ["--admission-key", key] if key and key.exists() else []

    def start_referee(self, manager, *arguments, name="whistle", limits=FAST):
        program = self.start("referee", "--manager", manager.url, "--name", name, *self.admission(manager), *arguments,
                             limits=limits)
        (url, identity), = program.ready()
        return Agent(program, url, identity)

    def start_players(self, manager, count, strategy="random", *arguments, name="bot", limits=FAST):
        """`count` players of one process."""
        program = self.start(
            "player", "--manager", manager.url, "--name", name, "--count", count, "--strategy", strategy,
            *arguments, limits=limits,
        )
        return [Agent(program, url, identity) for url, identity in program.ready(count)]

    def operator_key(self):
        return (self.directory / "data" / "operator.key").read_text().strip()

    def status(self, manager):
        return rpc(manager.url, "get_league_status").result()

    def standings(self, manager):
        """The whole table, page by page, without the figures beside the points: these follow when there is time."""
        rows = []
        while True:
            page = rpc(manager.url, "get_standings", {"offset": len(rows), "limit": 50}).result()
            rows += without_figures(page["standings"])
            if not page["standings"] or len(rows) >= page["total_players"]:
                return rows

    def wait_until_over(self, manager, seconds=60):
        """Waits for the end of the league and returns its status."""

        def over():
            status = self.status(manager)
            return status if status["champion"] and status["matches_completed"] == status["total_matches"] else None

        try:
            return wait_until(over, seconds, "the league is over")
        except AssertionError as late:
            said = "".join(manager.program.stderr().splitlines(keepends=True)[-40:])
            raise AssertionError(f"{late}; it stands at {self.status(manager)}\n{said}") from None

    def wait_until_logged(self, message_type, count, seconds=10):
        """Waits until the agents' logs hold so many requests of this type that came in."""
        wanted = f'"message_type":"{message_type}"'

        def arrived():
            files = [path.read_text(errors="replace") for path in (self.logs / "agents").glob("*.jsonl")]
            return sum(wanted in line and '"dir":"in","kind":"request"' in line
                       for text in files for line in text.splitlines()) >= count

        wait_until(arrived, seconds, f"{count} {message_type} have arrived")

    def stop_programs(self):
        """Ends all programs in order, so that their logs are complete."""
        for program in reversed(self.programs):
            if program.is_running:
                program.stop()

    def assert_verified(self, *said, directory=None, arguments=()):
        """Both verifiers accuse nobody in what the stopped programs have written, and print each of `said`."""
        commands = ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"])
        for command in commands:
            done = subprocess.run([*map(str, command), str(directory or self.directory), *arguments], capture_output=True, text=True,
                                  timeout=120)
            self.assertEqual(done.returncode, 0, f"{Path(command[-1]).name}: {done.stdout}{done.stderr}")
            for text in said:
                self.assertIn(text, done.stdout)

    def assert_table_agrees(self, manager):
        """Each decided match gave 3 points, each draw 2; every player played everybody once."""
        status = self.status(manager)
        rows = self.standings(manager)
        self.assertEqual(len(rows), status["players"])
        for row in rows:
            self.assertEqual(row["played"], status["players"] - 1, row)
            self.assertEqual(row["wins"] + row["draws"] + row["losses"], row["played"], row)
            self.assertEqual(row["points"], 3 * row["wins"] + row["draws"], row)
        self.assertEqual(sum(row["played"] for row in rows), 2 * status["total_matches"])
        self.assertEqual(sum(row["draws"] for row in rows), 2 * status["draws"])
        self.assertEqual(
            status["wins"] + status["draws"] + status["technical_losses"], status["total_matches"], status
        )
        self.assertEqual([row["rank"] for row in rows], sorted(row["rank"] for row in rows))
        self.assertEqual(status["champion"]["player_id"], rows[0]["player_id"])
        return rows
