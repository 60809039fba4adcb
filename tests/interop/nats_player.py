"""The bot of examples/nats_player, with the npm package `nats`, plays a league on a bus beside our players."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from node_tools import DIRECTORY, ROOT, install, program, skip

sys.path.insert(0, str(ROOT / "tests" / "support"))
from nats_broker import why_no_bus  # noqa: E402
from nats_client import Broker  # noqa: E402

EXAMPLE = ROOT / "examples" / "nats_player"
PLAYERS = 4


def wait_for_line(lines, pattern, heard):
    """The first match among the lines; all of them are kept in `heard`."""
    for line in lines:
        heard.append(line)
        found = re.search(pattern, line)
        if found:
            return found
    raise AssertionError(f"no {pattern!r} in {''.join(heard)}")


def play(directory, bot_directory, url, game):
    """One league with a place for the bot: what `league up` says of it, and what the bot said."""
    league = subprocess.Popen(
        [program("league"), "up", f"--bus={url}", "--players", str(PLAYERS), "--external", "1", "--json",
         "--game", game, "--data", directory / "data", "--logs", directory / "logs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watchdog = threading.Timer(90, league.kill)
    watchdog.start()
    bot = None
    heard = []
    try:
        wait_for_line(league.stderr, "register your 1 player", heard)
        bot = subprocess.Popen(["node", bot_directory / "player.mjs", "guest", directory / "guest.json"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "NATS_URL": url})
        said, words = league.communicate(timeout=90)
        heard.append(words)
        assert league.returncode == 0, f"{league.returncode} {said} {''.join(heard)}"
        return json.loads(said), bot.communicate(timeout=20)[0], bot.returncode
    finally:
        watchdog.cancel()
        for process in (bot, league):
            if process is not None:
                process.kill()
                process.wait(10)


def main():
    if why := why_no_bus(pathlib.Path(program("league")).parent):
        skip(why)
    wanted = json.loads((EXAMPLE / "package.json").read_text())["dependencies"]
    bot_directory = install("nats_player", [f"{name}@{version}" for name, version in wanted.items()])
    shutil.copy(EXAMPLE / "player.mjs", bot_directory / "player.mjs")
    for game in ("even_odd", "rock_paper_scissors"):
        check(bot_directory, game)
    return 0


def check(bot_directory, game):
    with tempfile.TemporaryDirectory(dir=DIRECTORY) as scratch:
        directory = pathlib.Path(scratch)
        broker = Broker(directory)
        try:
            result, said, code = play(directory, bot_directory, broker.url, game)
        finally:
            broker.stop()
        assert code == 0, f"the bot ended with {code}: {said}"
        own = re.search(r"registered as (P\d\d)", said)
        assert own, said
        assert f"the champion is {result['champion']['display_name']}" in said, (result, said)
        assert result["technical_losses"] == 0, result
        assert result["matches"] == PLAYERS * (PLAYERS - 1) // 2, result
        assert json.loads((directory / "guest.json").read_text())["player_id"] == own[1]
        verified = subprocess.run([program("league"), "audit", "verify", directory, "--json"], capture_output=True,
                                  text=True, timeout=60, check=False)
        assert json.loads(verified.stdout)["faults"] == [], verified.stdout
        print(f"ok: a bot with the npm package nats played {PLAYERS - 1} matches of {game} as {own[1]}")


if __name__ == "__main__":
    sys.exit(main())
