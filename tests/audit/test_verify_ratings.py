"""docs/verify_ratings.py: a published tournament, what can be known by hand, and what a table says that is none of it."""

import math
import unittest

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


if __name__ == "__main__":
    unittest.main()
