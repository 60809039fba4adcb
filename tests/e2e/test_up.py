"""`league up --data DIR`: interrupted, continued with nothing else to say, finished, contradicted."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

import support_path  # noqa: F401
from league_testing import BIN, SOURCE, Agent, LeagueTest, rpc, wait_until
from nats_broker import why_no_bus
from scripted_bot import Bot

sys.path.insert(0, str(SOURCE / "tests" / "crash"))
from interrupt_up import InterruptedLeague, interrupt_often, verify_log  # noqa: E402


class UpTest(LeagueTest):
    def skip_without_bus(self):
        if why := why_no_bus(BIN):
            self.skipTest(why)

    def league(self, *options, **settings):
        league = InterruptedLeague(self.directory, *options, **settings)
        self.addCleanup(league.end)
        return league

    def refused(self, *options, data=None):
        """What `league up` says that ends with exit code 2."""
        done = subprocess.run([BIN / "league", "up", "--data", data or self.directory / "data", *map(str, options)],
                              capture_output=True, timeout=30, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        return done.stderr


class Interrupted(UpTest):
    def test_by_both_signals_before_the_start_and_on_the_way(self):
        # So slow that the league is not over before the last signal, on a machine that is busy, too.
        league = self.league(players=6, strategy="slow:250")
        interrupt_often(league, 6, random.Random(2))
        league.check(league.finish())

    def test_on_a_bus_of_its_own(self):
        self.skip_without_bus()
        league = self.league("--bus", players=4, strategy="slow:60")
        interrupt_often(league, 2, random.Random(3))
        league.check(league.finish())

    def test_at_sockets_and_on_standard_streams(self):
        league = self.league("--transport", "unix,stdio", players=4, strategy="slow:60")
        interrupt_often(league, 2, random.Random(4))
        league.check(league.finish())

    def test_with_logs_whose_closed_segments_are_compressed(self):
        league = self.league(players=16, strategy="slow:5", settings={"log": {"segment_mib": 1}})
        league.start()
        wait_until(lambda: list(self.logs.rglob("*.jsonl.gz")), 30, "a segment is compressed")
        league.interrupt(signal.SIGKILL)
        league.check(league.finish())
        packed = [path.name for path in self.logs.rglob("*.jsonl.gz")]
        self.assertTrue(packed)
        for path in self.logs.rglob("*.jsonl.gz"):
            self.assertFalse(path.with_suffix("").exists(), path)
        bundle = self.directory / "bundle.tar.gz"
        subprocess.run([BIN / "league", "audit", "bundle", self.directory, bundle], check=True, capture_output=True, timeout=60)
        subprocess.run(["tar", "-xzf", bundle, "-C", self.directory], check=True)
        unpacked = next(self.directory.glob("league-bundle*"))
        self.assertEqual(list(unpacked.rglob("*.gz")), [])
        done = subprocess.run([BIN / "league", "audit", "verify", unpacked, "--json", "--without", "keys,journal,operations,others"],
                              capture_output=True, timeout=120)
        self.assertEqual((done.returncode, json.loads(done.stdout)["faults"]), (0, []))
        self.assertEqual(verify_log.verify(str(unpacked), False)["faults"], [])

    def test_its_programs_do_not_outlive_it(self):
        league = self.league(players=4, strategy="slow:60")
        league.start()
        league.wait_for(1)
        children = children_of(league.process.pid)
        self.assertEqual(len(children), 1 + 2 + 4)
        league.interrupt(signal.SIGKILL)
        wait_until(lambda: not [child for child in children if is_alive(child)], 2, "no program is left")

    def test_a_player_from_outside_finds_its_league_again(self):
        league = self.league("--external", "1", players=4, strategy="slow:60")
        league.start()
        port = wait_until(league.port, 10, "the manager has its port")
        guest = Bot("guest")
        self.addCleanup(guest.close)
        guest.join(Agent(None, f"http://127.0.0.1:{port}/mcp", ""))
        league.wait_for(1)
        league.interrupt(signal.SIGKILL)
        result = league.finish()
        self.assertEqual(league.port(), port)
        self.assertEqual(result["technical_losses"], 0)
        guest.wait_for("LEAGUE_COMPLETED")
        league.check(result)


class Meetings(UpTest):
    def test_each_pair_meets_three_times_also_after_an_interruption(self):
        league = self.league(meetings=3, players=4, strategy="slow:60")
        league.start()
        league.wait_for(2)
        league.interrupt(signal.SIGKILL)
        result = league.finish()
        league.check(result)  # with both verifiers
        self.assertEqual((result["rounds"], result["matches"]), (9, 18))
        self.assertEqual({row["played"] for row in result["standings"]}, {9})
        self.assertIn("--meetings 2 contradicts", self.refused("--meetings", "2"))
        rounds = json.loads(next((self.directory / "data" / "leagues").glob("*/rounds.json")).read_text())["rounds"]
        met = {(*sorted((match["player_A_id"], match["player_B_id"])), match["meeting"]): match["player_A_id"]
               for one in rounds for match in one["matches"]}
        self.assertEqual(len(met), 18)
        for one, two, meeting in met:
            self.assertEqual(met[one, two, meeting] == met[one, two, 1], meeting % 2 == 1, "roles change each time")


def children_of(pid):
    return {int(child) for task in os.listdir(f"/proc/{pid}/task")
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()}


def bind_when_free(listener, port):
    """Takes the port as soon as the killed manager has let go of it."""
    def is_bound():
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True

    wait_until(is_bound, 5, f"port {port} is free")


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Told(UpTest):
    """What is missing is said within three seconds, and again when it changes."""

    def wait_for_text(self, league, text, seconds=10):
        wait_until(lambda: text in league.stderr(), seconds, f"`{text}` is said")

    def test_a_broker_that_is_not_there(self):
        self.skip_without_bus()
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            bus = f"nats://127.0.0.1:{nobody.getsockname()[1]}"
            league = self.league(f"--bus={bus}", players=4)
            league.start()
            self.wait_for_text(league, f"the bus at {bus} cannot be reached")
            league.interrupt(signal.SIGINT)

    def test_a_manager_that_does_not_answer(self):
        league = self.league(players=4, strategy="slow:60")
        league.start()
        league.wait_for(1)
        manager, = (child for child in children_of(league.process.pid)
                    if Path(f"/proc/{child}/comm").read_text().strip() == "league_manager")
        os.kill(manager, signal.SIGSTOP)
        try:
            self.wait_for_text(league, "the league manager does not answer")
        finally:
            os.kill(manager, signal.SIGCONT)
        self.wait_for_text(league, "the league manager answers again")
        out, _ = league.process.communicate(timeout=60)
        self.assertEqual(league.process.returncode, 0, league.stderr())
        self.assertRegex(out, b"champion: |first, not decided: ")

    def test_an_agent_whose_manager_does_not_answer(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
            for name in ("player", "referee"):
                agent = self.start(name, "--manager", url, "--name", name)
                wait_until(lambda: f"the league manager at {url} does not answer" in agent.stderr(), 3, "it is said")
                agent.stop()
                self.assertNotIn("has answered", agent.stderr())


class Refused(UpTest):
    def test_what_contradicts_the_league_by_name(self):
        league = self.league("--seed", "7", players=4, strategy="slow:60")
        league.start()
        league.wait_for(1)
        league.interrupt(signal.SIGINT)
        for option, value in (("--players", 6), ("--referees", 1), ("--strategies", "odd"), ("--seed", 8),
                              ("--league", "other"), ("--transport", "tcp"), ("--mode", "strict"), ("--external", 1),
                              ("--logs", self.directory / "elsewhere")):
            self.assertIn(f"{option} {value} contradicts the league", self.refused(option, value))
        result = league.finish()
        league.check(result)
        self.assertIn("--players 6 contradicts the league", self.refused("--players", 6))
        again = subprocess.run([BIN / "league", "up", "--data", league.data, "--json"], capture_output=True, timeout=30)
        self.assertEqual(json.loads(again.stdout), result)

    def test_the_directory_of_another_program(self):
        manager = self.start_manager(4, 1)
        self.assertIn("did not begin", self.refused())
        self.assertTrue(manager.program.is_running)
        self.assertFalse((self.directory / "data" / "league_up.lock").exists())
        self.assertEqual(rpc(manager.url, "get_league_status").result()["players"], 0)

    def test_a_directory_in_which_another_one_runs(self):
        league = self.league("--external", "1", players=4, strategy="slow:60")
        league.start()
        wait_until(league.port, 10, "the manager has its port")
        text = self.refused()
        self.assertIn(f"process {league.process.pid} has it", text)
        self.assertIn("waiting for another run", text)
        league.interrupt(signal.SIGINT)

    def test_a_port_that_somebody_else_has_now(self):
        league = self.league(players=4, strategy="slow:60")
        league.start()
        league.wait_for(1)
        league.interrupt(signal.SIGKILL)
        with socket.socket() as usurper:
            usurper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bind_when_free(usurper, league.port())
            usurper.listen()
            self.assertIn(f"{league.port()}", self.refused())
        league.check(league.finish())


if __name__ == "__main__":
    unittest.main()
