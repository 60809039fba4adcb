"""`league check` sees through the dialects of bots in the wild: each plays, and its deviation is named."""

import json
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import support_path  # noqa: F401
from foreign_bots import STYLES, ForeignBot
from league_testing import BIN

# What the checker does not look for.
NOT_NAMED = {"method_alias", "params_message", "params_arguments", "ack_method_not_found", "ack_without_json"}
# What depends on whose token it is, or on how it came, which the checker reports as a failed check.
AS_CHECKS = {"missing_reply_token": "P-8/join-token", "foreign_reply_token": "P-8/join-token",
             "reply_with_error_status": "P-1/join-http-200", "null_optional_field": "P-8/join-token"}


class Manager:
    """The address at which the checker waits for the bot."""

    def __init__(self, url):
        self.url = url


def check(style):
    """The report on a bot in this style."""
    words = [BIN / "league", "check", "--listen", "0", "--fast", "--format", "json", "--wait", "10"]
    # Without those of clause 1 that are about HTTP: they wait, and are the same whatever the dialect.
    for checks in ("P-1/join*", "P-1/choice*", "P-2", "P-4.3", "P-4.7", "P-4.9", "P-8"):
        words += ["--only", checks]
    checker = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", checker.stderr.readline()).group()
    bot = ForeignBot(style)
    bot._server.handle_error = lambda *_: None  # pylint: disable=protected-access; it prints what the bot chokes on
    try:
        bot.join(Manager(address))
        out, err = checker.communicate(timeout=30)
    finally:
        checker.kill()
        bot.close()
    assert out, err
    return json.loads(out)["bots"][0]


class Dialects(unittest.TestCase):
    def test_each_style_plays_and_its_leniencies_are_named(self):
        with ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(check, STYLES))
        for style, report in zip(STYLES, reports):
            with self.subTest(style.name):
                failed = {one["id"] for one in report["checks"] if one["outcome"] == "failed"}
                self.assertEqual({one["id"] for one in report["checks"] if one.get("basic") and one["outcome"] != "passed"}, set())
                self.assertEqual([one["id"] for one in report["checks"] if one["outcome"] == "harness"], [])
                for leniency in style.leniencies - NOT_NAMED - set(AS_CHECKS):
                    self.assertIn(leniency, report["leniencies"])
                for leniency in style.leniencies & set(AS_CHECKS):
                    self.assertIn(AS_CHECKS[leniency], failed)


if __name__ == "__main__":
    unittest.main()
