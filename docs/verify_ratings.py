"""What the results of a league say of its players, computed anew (docs/table.md): their ratings with standard errors, the
probability that each is the strongest, and how much luck explains. With a standings.csv, whether it says the same:
verify_ratings.py leagues/ID/rounds.json [standings.csv]"""
import csv
import hashlib
import json
import math
import sys

SCALE, PRIOR, DRAW_PRIOR, SAMPLES = 400 / math.log(10), (400 / math.log(10) / 350) ** 2, 1 / 4, 10_000


def counted(league):
    """(A, B, winner or None) of all matches that were played and count, in order."""
    return [(match["player_A_id"], match["player_B_id"], match["winner_player_id"])
            for one in league["rounds"] for match in one["matches"] if match.get("result") in ("WIN", "DRAW")]


def split_mix(seed):
    while True:
        seed = z = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def bits(what, league):
    return split_mix(int.from_bytes(hashlib.sha256(f"{what} {league['league_id']}".encode()).digest()[:8], "big"))


def normals(numbers):
    uniform = ((number >> 11) * 2.0**-53 for number in numbers)
    for first in uniform:
        radius, angle = math.sqrt(-2 * math.log(1 - first)), 2 * math.pi * next(uniform)
        yield from (radius * math.cos(angle), radius * math.sin(angle))


def cholesky(a):
    rows = []
    for i, row in enumerate(a):
        own = []
        for j in range(i + 1):
            rest = row[j] - sum(map(float.__mul__, own, rows[j] if j < i else own))
            own.append(math.sqrt(rest) if j == i else rest / rows[j][j])
        rows.append(own)
    return rows


def backwards(rows, right):
    """Solves L^T x = right."""
    x = list(right)
    for i in range(len(x) - 1, -1, -1):
        x[i] /= rows[i][i]
        for k in range(i):
            x[k] -= rows[i][k] * x[i]
    return x


def forwards(rows, right):
    x = []
    for row, value in zip(rows, right):
        x.append((value - sum(map(float.__mul__, row, x))) / row[-1])
    return x


def most_probable(players, matches):
    """Strengths, and the lower triangle of their precision with the draw parameter last, at the maximum of the posterior."""
    n, x = len(players), [0.0] * (len(players) + 1)
    for _ in range(100):
        slope = [-PRIOR * value for value in x[:n]] + [-DRAW_PRIOR * x[n]]
        precision = [[0.0] * i + [PRIOR] for i in range(n)] + [[0.0] * n + [DRAW_PRIOR]]
        for one, two, winner in matches:
            a, b = sorted((players[one], players[two]))
            half = math.exp((x[a] - x[b]) / 2)
            draw = math.exp(x[n])
            p_draw = draw / (half + 1 / half + draw)
            mean = (half - 1 / half) / (half + 1 / half + draw) / 2
            score = 0 if winner is None else 0.5 if players[winner] == a else -0.5
            curve, mixed = (1 - p_draw) / 4 - mean * mean, -p_draw * mean
            for i, value in ((a, score - mean), (b, mean - score), (n, (winner is None) - p_draw)):
                slope[i] += value
            for i, j, value in ((a, a, curve), (b, b, curve), (b, a, -curve), (n, a, mixed), (n, b, -mixed), (n, n, p_draw * (1 - p_draw))):
                precision[i][j] += value
        rows = cholesky(precision)
        step = backwards(rows, forwards(rows, slope))
        x = [value + change for value, change in zip(x, step)]
        if max(map(abs, step)) < 1e-11:
            break
    return x[:n], precision


def figures(league):
    """By player: rating, error and probability of being the strongest; and the probability that it is all luck."""
    matches = counted(league)
    ids = sorted({player for match in matches for player in match[:2]}, key=lambda player: (len(player), player))
    players = {player: i for i, player in enumerate(ids)}
    strengths, precision = most_probable(players, matches)
    draws = precision.pop()
    rows = cholesky([[value - draws[i] * draws[j] / draws[-1] for j, value in enumerate(row)] for i, row in enumerate(precision)])
    columns = zip(*(forwards(rows, [float(k == i) for k in range(len(ids))]) for i in range(len(ids))))
    inverse = [list(column) for column in columns]
    errors = [math.sqrt(sum(row[i] ** 2 for row in inverse) - 1 / PRIOR / len(ids)) for i in range(len(ids))]
    first, stream = [0] * len(ids), normals(bits("p_first", league))
    for _ in range(SAMPLES):
        sample = [own + by for own, by in zip(strengths, backwards(rows, [next(stream) for _ in ids]))]
        first[sample.index(max(sample))] += 1
    table = {player: (1500 + SCALE * strengths[i], SCALE * errors[i], first[i] / SAMPLES) for player, i in players.items()}
    return table, luck(league, [(players[a], players[b], winner and players[winner]) for a, b, winner in matches], len(ids))


def luck(league, matches, n):
    def uneven(wins):
        balance = [0] * n
        for winner, loser in wins:
            balance[winner] += 1
            balance[loser] -= 1
        return sum(own * own for own in balance)

    won = [(winner, a + b - winner) for a, b, winner in matches if winner is not None]
    if not won or len(matches) > 5000:
        return None  # there is a formula for larger leagues
    seen, stream, as_uneven = uneven(won), bits("luck", league), 0
    for _ in range(SAMPLES):
        left, dealt, wins = len(matches), len(won), []
        for a, b, _ in matches:
            number = next(stream)
            if (number >> 32) * left < dealt << 32:
                dealt -= 1
                wins.append((a, b) if number & 1 else (b, a))
            left -= 1
        as_uneven += uneven(wins) >= seen
    return as_uneven / SAMPLES


def main(rounds, standings=None):
    with open(rounds, encoding="utf-8") as file:
        table, by_luck = figures(json.load(file))
    for player, (rating, error, first) in table.items():
        print(f"{player} {rating:.6f} ± {error:.6f}, the strongest with {first:.4f}")
    print(f"equal players would be as uneven with {by_luck}")
    with open(standings or rounds, encoding="utf-8-sig") as file:
        told = [row for row in csv.DictReader(file) if row["rating"]] if standings else []
    same = all(max(abs(float(row[key]) - own) / most for key, own, most in
                   zip(("rating", "rating_error", "p_first"), table[row["player_id"]], (2e-6, 2e-6, 5e-4))) <= 1 for row in told)
    sys.exit(not same and f"{standings} DIFFERS")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) in (2, 3) else sys.exit(__doc__)
