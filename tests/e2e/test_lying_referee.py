"""A referee that lies, one lie for each sentence of protocol §7 and one for "a referee never sees a player's token" (§8), against the real
programs. Each lie has one of four ends: the report is refused (with which code), the match is played again by the other referee, the lie has no
effect, or it is accepted and both verifiers find it. Its player wins by none but those that docs/rough_edges.md names.
"""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import support_path  # noqa: F401
from conversation_log import Log
from league_testing import BIN, SOURCE, LeagueTest, limits
from lying_referee import Crier, Denier, FalseReceipts, Liar, Lie, ReceiptBot, Thinker
from referee_lies import AGAIN, AT_CONNECT, CHOICE, HERE, LIES, LOSSES, TOGETHER, invents_answers, lost

SEED = int(os.environ.get("LEAGUE_TEST_SEED", "20251127"))


class Journal:
    """The events of the stopped manager, by match."""

    def __init__(self, directory):
        path = directory / "data" / "journal" / "journal.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.entries = [(kind, json.loads(payload)) for kind, payload in database.execute("SELECT type, payload FROM entries ORDER BY sequence")]

    def of(self, kind, match=None):
        return [entry for name, entry in self.entries if name == kind and match in (None, entry.get("match"))]


class LyingReferee(LeagueTest):
    def setUp(self):
        super().setUp()
        print(f"{self.id()}: LEAGUE_TEST_SEED={SEED}", file=sys.stderr)
        self.dice = random.Random(SEED)

    def bot(self, kind, *arguments):
        bot = kind(*arguments)
        self.addCleanup(bot.close)
        return bot

    def play(self, players, lies, together=(), referees=2, **options):
        """A whole league; returns its lies, its journal and what it stood at before it ended."""
        manager = self.start_manager(players, referees, limits=limits(**options))
        accomplice = self.bot(ReceiptBot, "accomplice", self.dice) if together else None
        told = [Lie(name, tell) for name, tell, *_ in lies] + [Lie(name, tell, True) for name, tell, *_ in together]
        expected = {name: rest for name, _, *rest in [*lies, *together]}
        liar = self.bot(Liar, "liar", told, accomplice)
        liar.matches_in_a_round = players // 2
        liar.join_as_referee(manager)
        if referees > 1:
            self.honest = self.start_referee(manager, "--max-matches", 1)
        count = players - (1 if accomplice else 0)
        self.start_players(manager, count // 2, "random", "--seed", SEED)
        if accomplice:
            accomplice.join(manager)
        self.start_players(manager, count - count // 2, "random", "--seed", SEED + 1, name="other")
        self.wait_until_over(manager, 60)
        status = self.status(manager)
        self.stop_programs()
        self.assertEqual(liar.untold, [], "the league was too short")
        return liar, told, expected, Journal(self.directory), status

    def assert_found(self, faults, incidents=()):
        """Both verifiers find these faults and no others, and at least these incidents: each a rule and what its text names."""
        for command in ([BIN / "league", "audit", "verify"], [sys.executable, SOURCE / "scripts" / "verify_log.py"]):
            done = subprocess.run([*map(str, command), "--json", str(self.directory)], capture_output=True, text=True, timeout=120)
            name = Path(command[-1]).name
            self.assertEqual(done.returncode, 1 if faults else 0, f"{name}: {done.stdout[:4000]}{done.stderr}")
            report = json.loads(done.stdout)
            said = [f"{one['rule']}: {one['text']}" for one in report["faults"] + report["missing"]]
            self.assertEqual(sorted(one.split(":")[0] for one in said), sorted(rule for rule, *_ in faults), f"{name}: {said}")
            noted = [f"{one['rule']}: {one['text']}" for one in report["incidents"]]
            for wanted, texts in ((faults, said), (incidents, noted)):
                for rule, *parts in wanted:
                    self.assertTrue(any(text.startswith(rule + ":") and all(part in text for part in parts) for text in texts),
                                    f"{name} does not say {rule} {parts}: {texts}")

    def judge(self, lies, expected, journal, referee_index=0):
        """Each lie had its end. Prints the table."""
        for lie in lies:
            code, where = expected[lie.name]
            reports = journal.of("MATCH_REPORTED", lie.match)
            releases = [one["reason"] for one in journal.of("MATCH_RELEASED", lie.match)]
            said = [f"{word['player']}: {word['word']}" for one in journal.of("PLAYERS_ASKED", lie.match) for word in one["words"]]
            by = "nobody" if not reports else "the liar" if reports[-1]["referee"] == referee_index else "the other"
            print(f"{lie.name:60} {lie.match:7} {lie.code!s:8} {by:10} {reports[-1].get('fairness') if reports else '':8} "
                  f"{','.join(releases)} {said} {lie.error or ''}", file=sys.stderr)
            with self.subTest(lie.name):
                self.assertIsNone(lie.error)
                self.assertEqual(lie.code, code)
                self.assertEqual(len(reports), 1)
                self.assertEqual(by, "the other" if where == AGAIN and hasattr(self, "honest") else "the liar")
                self.assertEqual(len(releases), 1 if where == AGAIN else 0)
                self.assertIsNone(getattr(lie.play, "later", None))

    def test_what_receipts_tell(self):
        liar, lies, expected, journal, status = self.play(16, LIES, TOGETHER)
        self.judge(lies, expected, journal)
        by_name = {lie.name: lie.match for lie in lies}
        for name in ("receipts of zeros", "no receipts", "receipts of the other player", "a receipt of the other call", "receipts of another play"):
            (report,) = journal.of("MATCH_REPORTED", by_name[name])
            self.assertEqual(report["fairness"], "both", f"{name}: the players' own receipts were taken")
        self.assertIn(by_name["tells one player another result"], status["disputed"])
        # The accomplice, which was bound in the liar's attempts, commits anew in the honest referee's.
        twice = ("hands over two commitments in one play", "hands over two commitments in two plays",
                 "hands over two commitments, the first without an attempt", "dislikes the number")
        self.assert_found([("over.contradicts", liar.id, by_name["tells one player another result"]),
                           *(("commitment.second", by_name[name]) for name in twice)])

    def test_losses(self):
        liar, lies, expected, journal, status = self.play(24, LOSSES)
        self.judge(lies, expected, journal)
        for lie in lies:
            if lie.name in AT_CONNECT:
                with self.subTest(lie.name):
                    asked = [word for one in journal.of("PLAYERS_ASKED", lie.match) for word in one["words"]]
                    self.assertEqual({one["word"] for one in asked}, {"confirms"})
                    self.assertTrue(any("the manager reaches the player" in one["text"] for one in asked), asked)
                    self.assertIn(lie.play.b, status["disputed"][lie.match], "the player disputes it by itself")
        self.assert_found([], [("loss.contradicted", next(lie.match for lie in lies if lie.name == "not reached after its choice"))])

    def test_a_liar_that_is_the_only_referee(self):
        """Nobody else can play the match again. It stands, disputed, and both verifiers name the liar."""
        lies = [("an invalid choice", lost("b", **CHOICE, code="E004", phase="answered", termination="INVALID_CHOICE"), None, HERE),
                ("invents answers", invents_answers, "E035", AGAIN)]
        liar, lies, expected, journal, status = self.play(3, lies, referees=1)
        self.judge(lies, expected, journal)
        loss, answers = (lie.match for lie in lies)
        self.assertEqual(set(status["disputed"]), {loss}, "the receipts refute invented answers, also those of the only referee")
        self.assertEqual(journal.of("MATCH_REPORTED", answers)[0]["fairness"], "both")
        self.assert_found([("loss.contradicted", loss, liar.id)])

    def test_a_person_has_its_time(self):
        """A second after it has invited a person, the liar reports that the time of twenty seconds is over."""
        manager = self.start_manager(2, 2, limits=limits(seat_limits={"invitation_ms": 20_000, "choice_ms": 20_000}))
        codes = []

        def hurry(play):
            other = play.other(person.id)
            threading.Thread(target=play.invite, args=(person.id,), daemon=True).start()
            play.invite(other)
            while play.id not in person.records:
                time.sleep(0.01)
            for limit in (5000, 20_000):
                result = play.loss(person.id)
                result["details"]["failures"][0].update(attempt=1, elapsed_ms=limit)
                result["details"]["failures"][0]["clock"]["limit_ms"] = limit
                codes.append(play.report(result))

        lie = Lie("hurries a person", hurry)
        self.bot(Liar, "liar", [lie]).join_as_referee(manager)
        person = self.bot(Thinker, "person", self.dice).take_a_seat(manager)
        self.addCleanup(person.leave)
        self.start_players(manager, 1, "random", "--seed", SEED)
        self.start_referee(manager)
        self.wait_until_over(manager, 60)
        status = self.status(manager)
        person.leave()
        self.stop_programs()
        self.assertIsNone(lie.error)
        self.assertEqual(codes, ["E035", "E041"])
        self.assertEqual(status["technical_losses"], 0)
        self.assertNotIn("disputed", status)
        journal = Journal(self.directory)
        self.assertEqual([word["word"] for one in journal.of("PLAYERS_ASKED") for word in one["words"]], ["still_open"])
        (report,) = journal.of("MATCH_REPORTED")
        self.assertEqual((report["referee"], report["attempt"], report["fairness"]), (1, 2, "both"))
        self.assert_found([])

    def test_players_that_lie_harm_only_themselves(self):
        """Three sybils that cry "I answered", one player with receipts of zeros, one that denies everything; two honest referees."""
        manager = self.start_manager(9, 2, limits=limits(life_cycle={"suspend_after_failed_matches": 100}))
        for name in ("first", "second"):
            self.start_referee(manager, name=name)
        criers = {self.bot(Crier, f"crier_{i}", self.dice).join(manager).id for i in range(3)}
        zeros = self.bot(FalseReceipts, "zeros", self.dice).join(manager).id
        denier = self.bot(Denier, "denier", self.dice).join(manager).id
        honest = {one.id for one in self.start_players(manager, 4, "random", "--seed", SEED)}
        self.wait_until_over(manager, 60)
        self.assertEqual(len(self.assert_table_agrees(manager)), 9)
        self.stop_programs()
        journal = Journal(self.directory)
        reports = {one["match"]: one for one in journal.of("MATCH_REPORTED")}
        self.assertEqual(len(reports), 36)
        pairs = {}
        for announced in Log(self.logs).messages("ROUND_ANNOUNCEMENT"):
            pairs.update({one["match_id"]: {one["player_A_id"], one["player_B_id"]} for one in announced["matches"]})
        for match, report in reports.items():
            with self.subTest(f"{match}: {sorted(pairs[match])}"):
                self.assertLessEqual(report["attempt"], 2)
                if pairs[match] <= honest | {zeros}:
                    self.assertEqual(report["attempt"], 1, "nobody is made to play twice")
                if pairs[match] <= honest:
                    self.assertEqual(report["fairness"], "both")
                elif not pairs[match] & criers:
                    self.assertEqual(report["fairness"], "claimed")
        released = [pairs[one["match"]] for one in journal.of("MATCH_RELEASED")]
        for player in (*criers, denier):
            self.assertLessEqual(sum(player in pair for pair in released), 3 + len(criers), f"{player} is not believed for ever")
        for word in ("REFEREE_LOST", "SUSPENDED"):
            self.assertNotIn(word, manager.program.whole_stderr(), "no referee is out of work")
        self.assert_found([], [("receipt.invalid", zeros), ("receipt.invalid", denier)])


if __name__ == "__main__":
    unittest.main()
