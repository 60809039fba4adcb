"""Conversation logs on a disk that is full: nobody is accused of what the disk did."""

import contextlib
import json
import os
import signal
import subprocess
import unittest

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest, limits, wait_until

# Matches begin until nothing is left: the logs must bear that too.
ON_AND_ON = limits(log={"min_free_mib": 0, "seal_interval_ms": 200},
                   time_limits_ms={"GAME_INVITATION": 60000, "CHOOSE_PARITY_CALL": 60000})


@unittest.skipIf(os.geteuid() != 0, "only root can mount a small disk")
class FullDisk(LeagueTest):
    def setUp(self):
        super().setUp()
        self.logs.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", self.logs], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.logs], check=True)
        self.addCleanup(self.kill_programs)
        self.ballast = self.logs / "ballast"

    def free(self):
        disk = os.statvfs(self.logs)
        return disk.f_bavail * disk.f_frsize

    def make_room(self):
        self.ballast.unlink()

    def play_until_it_is_full(self):
        """A league in the middle of which its logs find no room: the disk is filled while a match waits for a player that
        stands still. That match ends then; the next begins if the manager has not yet seen that the disk is full."""
        self.manager = self.start_manager(6, 1, limits=ON_AND_ON)
        self.start_referee(self.manager, limits=ON_AND_ON)
        for i in range(4):  # a process each: it tries 5 s to write what it has left, for one log after the other
            self.start_players(self.manager, 1, "slow:5", name=f"bot{i}", limits=ON_AND_ON)
        self.start_players(self.manager, 1, "slow:5", name="still", limits=ON_AND_ON)
        still = self.programs[-1].process
        still.send_signal(signal.SIGSTOP)
        self.addCleanup(still.send_signal, signal.SIGCONT)
        self.start_players(self.manager, 1, "random", name="last", limits=ON_AND_ON)
        self.wait_for_matches(2)
        with open(self.ballast, "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(b"x" * 4096):
                pass
        self.assertEqual(self.free(), 0)
        still.send_signal(signal.SIGCONT)
        self.wait_for_matches(3)

    def wait_for_matches(self, count):
        wait_until(lambda: self.status(self.manager)["matches_completed"] >= count, 30, f"{count} matches")

    def assert_no_fault(self):
        done = subprocess.run([BIN / "league", "audit", "verify", self.directory, "--json"], capture_output=True,
                              timeout=60)
        self.assertEqual(json.loads(done.stdout)["faults"], [])

    def test_a_league_goes_on_when_there_is_room_again(self):
        self.play_until_it_is_full()
        self.make_room()
        self.wait_until_over(self.manager, 60)
        self.wait_until_logged("LEAGUE_COMPLETED", 7)
        self.stop_programs()
        self.assert_no_fault()

    def test_programs_that_end_while_it_is_full(self):
        self.play_until_it_is_full()
        for program in reversed(self.programs):
            program.process.terminate()
        for program in self.programs:
            program.process.wait(60)
        self.make_room()
        self.assert_no_fault()

    def test_programs_that_are_killed_while_it_is_full(self):
        self.play_until_it_is_full()
        self.kill_programs()
        self.make_room()
        self.assert_no_fault()


if __name__ == "__main__":
    unittest.main()
