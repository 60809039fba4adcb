"""`league watch` in a terminal of its own, which is narrow, has no colours, or is none: what it draws, what its keys do."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unittest
from fcntl import ioctl

import support_path  # noqa: F401
from league_testing import BIN, LeagueTest, limits, wait_until

HOSTILE = "evil \u05d0 x"
SLOW = limits(league={"announcement_grace_ms": 250})

FIRST = "champion: |first, not decided: "  # by luck

class Terminal:
    """A pseudo-terminal with a `league watch` in it."""

    def __init__(self, url, columns=100, rows=24, **environment):
        self.controller, terminal = pty.openpty()
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {**os.environ, "TERM": "xterm", **environment}
        variables.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
        self.process = subprocess.Popen([str(BIN / "league"), "watch", url], stdin=terminal, stdout=terminal,
                                        stderr=terminal, env=variables, start_new_session=True)
        os.close(terminal)
        self.written = ""

    def read(self):
        while select.select([self.controller], [], [], 0)[0]:
            try:
                some = os.read(self.controller, 65536)
            except OSError:  # the other end is closed
                return self.written
            self.written += some.decode(errors="replace")
        return self.written

    def frame(self):
        """The last whole picture, as lines."""
        frames = self.read().split("\x1b[H")
        whole = [frame for frame in frames[1:] if "\x1b[J" in frame]
        return [line.replace("\x1b[K", "") for line in whole[-1].split("\x1b[J")[0].split("\r\n")] if whole else []

    def wait_for(self, text, seconds=10):
        wait_until(lambda: any(text in line for line in self.frame()), seconds, f"{text!r} is shown: {self.frame()}")

    def press(self, key):
        os.write(self.controller, key.encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(5)
        os.close(self.controller)


def plain(line):
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


class Watch(LeagueTest):
    def terminal(self, manager, **options):
        terminal = Terminal(manager.url, **options)
        self.addCleanup(terminal.close)
        return terminal

    def league(self):
        manager = self.start_manager(4, 1, limits=SLOW)
        self.start_players(manager, 1, "slow:500", name=HOSTILE)
        self.start_players(manager, 3)
        self.start_referee(manager, limits=SLOW)
        return manager

    def test_keys_show_the_views(self):
        manager = self.league()
        terminal = self.terminal(manager)
        terminal.wait_for("[m] matches")
        terminal.wait_for("rank  id")
        terminal.press("m")
        terminal.wait_for("round 1 of 3")
        terminal.wait_for("R1M1")
        terminal.press("a")
        terminal.wait_for("in a row")
        terminal.wait_for("REF01")
        terminal.press("n")
        terminal.wait_for("registered from")
        self.wait_until_over(manager)
        terminal.press("m")
        terminal.wait_for("round 3 of 3")
        terminal.press("h")
        terminal.wait_for("round 2 of 3")
        terminal.wait_for("evil")
        self.assertNotIn("\u202e", terminal.read())
        self.assertNotIn("\x07", terminal.read())
        terminal.press("q")
        self.assertEqual(terminal.process.wait(5), 0)
        self.assertRegex(terminal.read().split("\x1b[?1049l")[-1], FIRST, "the table stays")
        self.assertIn("\x1b[1m", terminal.read())

    def test_a_narrow_terminal_without_colours(self):
        terminal = self.terminal(self.league(), columns=30, rows=8, NO_COLOR="1")
        terminal.wait_for("rank")
        for key in "manmt":
            terminal.press(key)
            terminal.wait_for("[" + ("t" if key != "t" else "m") + "]")
            self.assertTrue(all(len(line) < 30 for line in terminal.frame()), terminal.frame())
            self.assertLess(len(terminal.frame()), 8)
        self.assertNotRegex(terminal.read(), r"\x1b\[[0-9;]*m")
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.process.wait(5), 0)
        self.assertIn("\x1b[?25h", terminal.read(), "the cursor is back")

    def test_a_dumb_terminal_gets_lines(self):
        manager = self.league()
        terminal = self.terminal(manager, TERM="dumb")
        self.assertEqual(terminal.process.wait(60), 0)
        said = terminal.read()
        self.assertNotIn("\x1b", said)
        self.assertRegex(said, r"round \d of 3, \d of 6 matches")
        self.assertRegex(said, FIRST)


if __name__ == "__main__":
    unittest.main()
