"""docs/verify_ratings.py: a published tournament, what can be known by hand, and what a table says that is none of it."""

import contextlib
import csv
import io
import json
import math
import random
import tempfile
import unittest
from pathlib import Path

import support_path  # noqa: F401  (docs/)
import verify_ratings

# Baseball, American League East, 1987: A. Agresti, Categorical Data Analysis, table 10.10 and its fit, relative to Baltimore.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = ((0, 7, 9, 7, 7, 9, 11), (6, 0, 7, 5, 11, 9, 9), (4, 6, 0, 7, 7, 8, 12), (6, 8, 6, 0, 6, 7, 10), (6, 2, 6, 7, 0, 7, 12),
        (4, 4, 5, 6, 6, 0, 6), (2, 4, 1, 3, 1, 7, 0))
PUBLISHED = (1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0)


def league(matches):
    """(A, B, winner or None) each."""
    return {"league_id": "x", "rounds": [{"matches": [
        {"player_A_id": a, "player_B_id": b, "winner_player_id": winner, "result": "WIN" if winner else "DRAW"} for a, b, winner in matches]}]}


class Ratings(unittest.TestCase):
    def test_a_published_tournament(self):
        played = league((TEAMS[a], TEAMS[b], TEAMS[a]) for a, row in enumerate(WINS) for b, wins in enumerate(row) for _ in range(wins))
        table, luck = verify_ratings.figures(played)
        for team, published in zip(TEAMS, PUBLISHED):
            self.assertAlmostEqual((table[team][0] - table["Baltimore"][0]) / verify_ratings.SCALE, published, delta=0.06)
        self.assertLess(luck, 0.01)

    def test_void_matches_and_technical_losses_say_nothing(self):
        played = league([("P01", "P02", "P01"), ("P01", "P03", None)])
        for result in ("VOID", "TECHNICAL_LOSS"):
            played["rounds"][0]["matches"].append({"player_A_id": "P04", "player_B_id": "P01", "winner_player_id": "P04", "result": result})
        played["rounds"].append({"matches": [{"player_A_id": "P04", "player_B_id": "P01", "status": "PENDING"}]})
        self.assertEqual(list(verify_ratings.figures(played)[0]), ["P01", "P02", "P03"])

    def test_normal_numbers(self):
        numbers = verify_ratings.normals(verify_ratings.split_mix(1))
        sample = [next(numbers) for _ in range(20000)]
        self.assertAlmostEqual(sum(sample) / len(sample), 0, delta=0.03)
        self.assertAlmostEqual(math.sqrt(sum(one * one for one in sample) / len(sample)), 1, delta=0.02)
        self.assertEqual(next(verify_ratings.split_mix(0)), 0xE220A8397B1DCDAF, "as its author published it")

    def test_a_winner_is_one_of_the_two(self):
        for winner, result in (("P03", "WIN"), (None, "WIN"), ("P01", "DRAW"), ("P03", "DRAW")):
            played = league([("P01", "P02", None)])
            played["rounds"][0]["matches"][0].update(winner_player_id=winner, result=result)
            with self.assertRaises(SystemExit):
                verify_ratings.figures(played)

    def test_the_formula_is_that_of_the_samples(self):
        chance = random.Random(7)
        matches = [(a, b, chance.choice((a, b, None))) for a in range(20) for b in range(a) for _ in range(2)]
        won = [match for match in matches if match[2] is not None]
        balance = [sum(1 if match[2] == i else -1 for match in won if i in match[:2]) for i in range(20)]
        by_formula = verify_ratings.luck_by_formula(matches, len(won), sum(one * one for one in balance))
        self.assertAlmostEqual(by_formula, verify_ratings.luck({"league_id": "x"}, matches, 20), delta=0.02)
        self.assertEqual(verify_ratings.luck_by_formula([(0, 1, 0)] * 2, 1, 2), 1)

    def test_the_sentence(self):
        for luck, often in ((0.634, "may be luck: * in 63 of 100 leagues."), (0.0042, "is hardly luck: * in 4 of 1,000 leagues."),
                            (0, "is hardly luck: * in fewer than 1 of 1,000 leagues."), (1, "may be luck: * in nearly every league.")):
            self.assertEqual(verify_ratings.sentence(luck), "This table " + often.replace(
                "*", "equal players would give a table at least this uneven"))
        self.assertEqual(verify_ratings.sentence(None), "")


class Told(unittest.TestCase):
    """What others say is compared, all of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_script(self, played, *files):
        (self.folder / "rounds.json").write_text(json.dumps(played))
        with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as ended:
            verify_ratings.main(str(self.folder / "rounds.json"), *map(str, files))
        return ended.exception.code, out.getvalue()

    def standings(self, rows):
        path = self.folder / "standings.csv"
        with open(path, "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    @staticmethod
    def rows_of(played):
        table, _ = verify_ratings.figures(played)
        rows = [{"rank": 1, "player_id": player, "rating": f"{own[0]:.7f}", "rating_error": "" if own[1] is None else f"{own[1]:.7f}",
                 "p_first": "" if own[2] is None else f"{own[2]:.4f}"} for player, own in table.items()]
        return [*rows, {"rank": 9, "player_id": "P99", "rating": "", "rating_error": "", "p_first": ""}]

    def test_each_cell_of_each_row(self):
        played = league([("P01", "P02", "P01"), ("P01", "P03", None), ("P02", "P03", "P03")])
        right, table = self.rows_of(played), verify_ratings.figures(played)[0]
        self.assertEqual(self.run_script(played, self.standings(right))[0], 0)
        self.assertEqual(self.run_script(played, self.standings(right[:-1]))[0], 0, "who played nothing may be left out")
        changed = [right[1:], right[:1] + right, [{**row, "player_id": "P98"} for row in right]]
        changed += [[{**right[0], key: cell}, *right[1:]] for key in ("rating", "rating_error", "p_first")
                    for cell in ("", "nan", "NaN", "inf", "-inf", "1_500", "1e9", "\u0661", "x", " " + right[0][key])]
        changed += [[{**right[0], "rating": f"{float(right[0]['rating']) + 1e-4:.7f}"}, *right[1:]],
                    [*right[:-1], {**right[-1], "rating": "1500.0000000"}], [*right[:-1], {**right[-1], "p_first": "nan"}],
                    [{key: row[key] for key in row if key != "p_first"} for row in right]]
        for rows in changed:
            self.assertTrue(verify_ratings.differences(table, self.standings(rows)), rows)
        self.assertIn("DIFFERS", str(self.run_script(played, self.standings(changed[-1]))[0]))

    def test_what_is_said_of_luck(self):
        played = league([("P01", "P02", "P01"), ("P01", "P03", "P01"), ("P02", "P03", "P03")])
        luck = verify_ratings.figures(played)[1]
        said = verify_ratings.sentence(luck)
        page = self.folder / "index.html"
        other = verify_ratings.sentence(0 if luck > 0.1 else 0.9)
        for text, differs in ((f"<p>{said}</p>", False), (f'{{"luck":{luck:.4f},"sentence":"{said}"}}', False), (f'{{"luck": {luck}}}', False),
                              (f"<p>{other}</p>", True), (f"{said} {other}", True), ('{"luck":null}', True), ('{"luck":NaN}', True),
                              (f'{{"luck":{1 - luck:.4f}}}', True), ("nothing", True)):
            page.write_text(text)
            self.assertEqual("DIFFERS" in str(self.run_script(played, page)[0]), differs, text)
        page.write_text("nothing")
        self.assertEqual(self.run_script(league([("P01", "P02", None)]), page)[0], 0, "nobody won, so there is nothing to say")
        page.write_text(said)
        self.assertIn("DIFFERS", str(self.run_script(league([("P01", "P02", None)]), page)[0]))

    def test_a_large_league_has_ratings_only(self):
        chance = random.Random(3)
        ids = [f"P{number:04}" for number in range(1, verify_ratings.MOST_WITH_ERRORS + 2)]
        pairs = [(player, ids[(at + step) % len(ids)]) for at, player in enumerate(ids) for step in (1, 2, 3)]
        played = league((a, b, chance.choice((a, b, None))) for a, b in pairs)
        rows = self.rows_of(played)
        code, out = self.run_script(played, self.standings(rows))
        self.assertEqual(code, 0)
        self.assertNotIn("±", out)
        self.assertNotIn("with None", out)
        rows[0]["rating_error"] = "1.0000000"
        self.assertIn("DIFFERS", str(self.run_script(played, self.standings(rows))[0]))


if __name__ == "__main__":
    unittest.main()
