"""The vocabulary of the tests of seats: bots that come to the manager, and what a client of a seat does by hand."""

import csv
import hashlib
import hmac
import secrets
import socket
import subprocess
import sys
from urllib.parse import urlsplit

from conversation_log import Log
from league_testing import BIN, SOURCE, Agent, LeagueTest, now, player_registration, post, rpc

CLIENTS = SOURCE / "clients"
# A bot of each client library: the program that runs it, the end of its name, and its text.
LIBRARIES = {
    "python": (sys.executable, "py", """
import sys
sys.path.insert(0, {library!r})
from league_player import Player
bot = Player({name!r})
@bot.choose
def choose(match):
    return match.choices[0]
bot.run()
"""),
    "javascript": ("node", "mjs", """
import {{ Player }} from {library!r};
await new Player({name!r}).choose((match) => match.choices[0]).run();
"""),
}


def origin(manager):
    return "http://" + urlsplit(manager.url).netloc


def seat_request(player, token, **changes):
    """What `open_seat` takes."""
    given = {"player_id": player, "timestamp": now(), "nonce": secrets.token_hex(16), **changes}
    text = f"seat|{given['timestamp']}|{given['nonce']}"
    given.setdefault("proof", hmac.new(token.encode(), text.encode(), hashlib.sha256).hexdigest())
    return given


def open_seat(manager, player, token, **changes):
    return rpc(manager.url, "open_seat", seat_request(player, token, **changes))


def credential(token, match, attempt=1):
    """What the referee of a match shows a player that has this token."""
    return hmac.new(token.encode(), f"{match}#{attempt}".encode(), hashlib.sha256).hexdigest()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class SeatTest(LeagueTest):
    log_level = "info"

    def run_beside(self, name, *command):
        """A program whose output goes to the file NAME.output."""
        with open(self.directory / f"{name}.output", "ab") as output:
            process = subprocess.Popen([*map(str, command)], cwd=self.directory, stdout=output, stderr=output)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self, name):
        return (self.directory / f"{name}.output").read_text()

    def start_library_bot(self, name, managers, *options, language="python", prefix=(), file=None):
        """`prefix` is a command that runs another. The output is in `said(file)`, which is by default the bot's name."""
        program, ending, text = LIBRARIES[language]
        library = CLIENTS / language / ("" if language == "python" else "league_player.js")
        path = self.directory / f"{name}.{ending}"
        path.write_text(text.format(library=str(library), name=name))
        data = self.directory / f"{name}.json"
        return self.run_beside(file or name, *prefix, program, path, "--manager", managers, "--data", data, *options)

    def start_outward(self, manager, count, name="out"):
        program = self.start("player", "--manager", manager.url, "--name", name, "--count", count, "--transport", "outward",
                             "--data", self.directory / "data")
        return [identity for _, identity in program.ready(count)]

    def register_outward(self, manager, name):
        answer = post(manager.url, {"jsonrpc": "2.0", "id": 1, "method": "register_player",
                                    "params": player_registration(name, "outward")}).result()
        self.assertEqual(answer["status"], "ACCEPTED", answer)
        return answer["player_id"], answer["auth_token"]

    def start_lasting_manager(self, players, referees, *arguments, limits):
        """A manager that can be killed: `restart` continues its league under the same address."""
        port = free_port()
        options = ["--data", self.directory / "data", *arguments]
        program = self.start("league_manager", "--players", players, "--referees", referees, *options, limits=limits, port=port)
        (url, league), = program.ready()
        manager = Agent(program, url, league)

        def restart(*more):
            manager.program = self.start("league_manager", *options, *more, limits=limits, port=port)
            manager.program.ready()

        manager.restart = restart
        return manager

    def players_by_name(self, manager):
        agents = rpc(manager.url, "get_agents").result()["agents"]
        return {row["display_name"]: row for row in agents if row["kind"] == "player"}

    def assert_played_by_choice(self, status, besides=None):
        """No match was decided by a failure, and no call has failed but those of the player `besides`."""
        self.assertEqual(status["technical_losses"], 0)
        for match, (report, *_) in Log(self.logs).accepted_reports().items():
            failures = report["result"].get("details", {}).get("failures", [])
            self.assertEqual([one for one in failures if one["player_id"] != besides], [], match)

    def exported_matches(self):
        tables = self.directory / "tables"
        done = subprocess.run([str(BIN / "league"), "export", str(self.directory), "--format", "csv", "--out", str(tables)],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(tables / "matches.csv", newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))
