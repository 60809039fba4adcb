"""One league of everything that plays: ordinary players, both client libraries in both ways, a laptop whose network is gone for ten
seconds, an old bot by `league connect`, a referee of ours and a third party's; and the same when the manager is killed."""

import contextlib
import threading
import unittest
from urllib.parse import urlsplit

import support_path  # noqa: F401
from foreign_referee import DIALECTS, ForeignReferee
from league_testing import BIN, SOURCE, limits, wait_until
from network_namespaces import Namespaces
from relay import Relay
from seat_testing import SeatTest

GONE = 10  # seconds
# Three attempts last longer than the network is gone; what a dead manager was asked is soon asked again.
PATIENT = limits(retry={"delay_ms": 1000}, league={"start_delay_ms": 100}, time_limits_ms={"GAME_INVITATION": 5000})
LIBRARY_BOTS = {"python_out": ("python",), "python_served": ("python", "--serve", 0),
                "node_out": ("javascript",), "node_served": ("javascript", "--serve", 0)}
OLD = "old shell"
COMMITTING = {*LIBRARY_BOTS, "laptop", "bot1", "bot2", "bot3"}


class OtherHost:
    """Where the laptop is: on another host of this machine, or, if the machine has none, behind a relay of this process."""

    def __init__(self, case):
        self.hosts = Namespaces() if Namespaces.are_possible() else None
        if self.hosts:
            case.addCleanup(self.hosts.close)
            stack = contextlib.ExitStack()
            case.addCleanup(stack.close)
            stack.enter_context(self.hosts.entered(0))  # everybody else
        else:
            print("network namespaces need root and iproute2: a relay is cut instead", flush=True)

    def reach(self, case, manager):
        """The command before that of a program there, and the manager's address as it is seen there."""
        port = urlsplit(manager.url).port
        if self.hosts:
            return self.hosts.inside(1), f"http://{self.hosts.addresses[0]}:{port}"
        self.link = Relay(port)
        case.addCleanup(self.link.close)
        return [], f"http://127.0.0.1:{self.link.port}"

    def cut(self):
        self.hosts.cut() if self.hosts else self.link.cut_off()

    def heal(self):
        self.hosts.heal() if self.hosts else self.link.heal()


class MixedLeague(SeatTest):
    def start_league(self):
        self.place = OtherHost(self)
        bind = ["--bind", "0.0.0.0", "--allow-host", self.place.hosts.addresses[0]] if self.place.hosts else []
        manager = self.start_lasting_manager(9, 2, *bind, limits=PATIENT)
        self.start_players(manager, 3, "slow:60", "--data", self.directory / "data", limits=PATIENT)
        for name, (language, *options) in LIBRARY_BOTS.items():
            self.start_library_bot(name, manager.url, *options, language=language)
        prefix, url = self.place.reach(self, manager)
        self.start_library_bot("laptop", url, prefix=prefix)
        self.run_beside("connect", BIN / "league", "connect", manager.url, "--bot", f"stdio:sh {SOURCE / 'examples/bots/shell/bot.sh'}",
                        "--name", OLD, "--data", self.directory / "connect")
        wait_until(lambda: len(self.players_by_name(manager)) == 9, 30, "all players are in")
        self.foreign = ForeignReferee("foreign", DIALECTS[0])
        self.addCleanup(self.foreign.close)
        self.foreign.join_as_referee(manager)
        self.start_referee(manager, "--data", self.directory / "data", limits=PATIENT)
        wait_until(lambda: self.status(manager)["matches_completed"] >= 6, 30, "it plays")
        return manager

    def assert_all_is_well(self, manager, besides=None):
        status = self.wait_until_over(manager, 60)
        self.assert_table_agrees(manager)
        players = self.players_by_name(manager)
        connections = {name: row.get("connection", "") for name, row in players.items()}
        self.stop_programs()
        self.assert_played_by_choice(status, besides and players[besides]["agent_id"])
        self.assert_verified("result.unproven")
        self.assertEqual(connections.pop(OLD), "websocket")
        for name, connection in connections.items():
            self.assertEqual(connection, "poll" if name in ("python_out", "node_out", "laptop") else "", name)
        # Where both commit, and the referee can ask for it, nobody can have steered the match.
        ids = {row["agent_id"]: name for name, row in players.items()}
        by_foreign = set(self.foreign.played) & set(status["unproven"])
        self.assertTrue(by_foreign)
        matches = self.exported_matches()
        self.assertEqual(len(matches), 36)
        for match in matches:
            both_commit = {ids[match["player_A_id"]], ids[match["player_B_id"]]} <= COMMITTING
            if match["match_id"] not in by_foreign:
                self.assertEqual(match["fairness"] == "both", both_commit, match)

    def test_a_laptop_loses_its_network_for_ten_seconds(self):
        manager = self.start_league()
        self.place.cut()
        self.assertFalse(threading.Event().wait(GONE))  # how long it is gone is what this is about
        self.assertFalse(self.status(manager)["champion"], "the laptop is needed")
        self.place.heal()
        self.assert_all_is_well(manager, besides="laptop")

    def test_the_manager_is_killed_in_the_middle(self):
        manager = self.start_league()
        manager.program.kill()
        manager.restart()
        self.assert_all_is_well(manager)


if __name__ == "__main__":
    unittest.main()
