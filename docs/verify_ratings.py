"""What the results of a league say of its players, computed anew (docs/table.md): their ratings with standard errors, the
probability that each is the strongest, and how much luck explains. With files, whether they say the same: a standings.csv,
and texts with what the league says of luck (a site's index.html or snapshot.js, the output of `league status`):
verify_ratings.py leagues/ID/rounds.json [standings.csv] [index.html]"""
import collections
import csv
import hashlib
import json
import math
import re
import sys

SCALE, PRIOR, DRAW_PRIOR, SAMPLES = 400 / math.log(10), (400 / math.log(10) / 350) ** 2, 1 / 4, 10_000
MOST_WITH_ERRORS, MOST_SAMPLED = 2000, 5000  # players, matches


def counted(league):
    """(A, B, winner or None) of all matches that were played and count, in order."""
    matches = []
    for match in (match for one in league["rounds"] for match in one["matches"] if match.get("result") in ("WIN", "DRAW")):
        pair, winner = (match["player_A_id"], match["player_B_id"]), match["winner_player_id"]
        if (winner in pair) != (match["result"] == "WIN") or (winner is not None and winner not in pair):
            sys.exit(f"{match.get('match_id')}: {winner} cannot be the winner of a {match['result']}")
        matches.append((*pair, winner))
    return matches


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
    """Strengths, and what makes up their precision with the draw parameter last, at the maximum of the posterior."""
    n, x = len(players), [0.0] * (len(players) + 1)
    for _ in range(100):
        slope, terms = [-PRIOR * value for value in x[:n]] + [-DRAW_PRIOR * x[n]], []
        for one, two, winner in matches:
            a, b = sorted((players[one], players[two]))
            half = math.exp((x[a] - x[b]) / 2)
            draw = math.exp(x[n])
            p_draw = draw / (half + 1 / half + draw)
            mean = (half - 1 / half) / (half + 1 / half + draw) / 2
            score = 0 if winner is None else 0.5 if players[winner] == a else -0.5
            for i, value in ((a, score - mean), (b, mean - score), (n, (winner is None) - p_draw)):
                slope[i] += value
            terms.append((a, b, (1 - p_draw) / 4 - mean * mean, -p_draw * mean, p_draw * (1 - p_draw)))
        step = solved(terms, slope)
        x = [value + change for value, change in zip(x, step)]
        if max(map(abs, step)) < 1e-11:
            break
    return x[:n], terms


def priors(n):
    return [PRIOR] * n + [DRAW_PRIOR]


def solved(terms, right):
    """Solves precision x = right by conjugate gradients, which need no matrix."""
    n = len(right) - 1
    diagonal = priors(n)
    for a, b, curve, _, of_draw in terms:
        for i, value in ((a, curve), (b, curve), (n, of_draw)):
            diagonal[i] += value
    x, rest = [0.0] * (n + 1), list(right)
    way = [one / own for one, own in zip(rest, diagonal)]
    size = most = sum(map(float.__mul__, rest, way))
    for _ in range(10 * n + 100):
        if size <= most * 1e-28:
            break
        image = list(map(float.__mul__, priors(n), way))
        for a, b, curve, mixed, of_draw in terms:
            apart = way[a] - way[b]
            value = curve * apart + mixed * way[n]
            image[a] += value
            image[b] -= value
            image[n] += mixed * apart + of_draw * way[n]
        length = size / sum(map(float.__mul__, way, image))
        x = [one + length * by for one, by in zip(x, way)]
        rest = [one - length * by for one, by in zip(rest, image)]
        scaled = [one / own for one, own in zip(rest, diagonal)]
        before, size = size, sum(map(float.__mul__, rest, scaled))
        way = [one + size / before * by for one, by in zip(scaled, way)]
    return x


def precision_of(terms, n):
    """Its lower triangle."""
    precision = [[0.0] * i + [prior] for i, prior in enumerate(priors(n))]
    for a, b, curve, mixed, of_draw in terms:
        for i, j, value in ((a, a, curve), (b, b, curve), (b, a, -curve), (n, a, mixed), (n, b, -mixed), (n, n, of_draw)):
            precision[i][j] += value
    return precision


def figures(league):
    """By player: rating, error and probability of being the strongest; and the probability that it is all luck."""
    matches = counted(league)
    ids = sorted({player for match in matches for player in match[:2]}, key=lambda player: (len(player), player))
    if not ids:
        return {}, None
    players = {player: i for i, player in enumerate(ids)}
    strengths, terms = most_probable(players, matches)
    of_large = [None] * len(ids)
    errors, first = (of_large, of_large) if len(ids) > MOST_WITH_ERRORS else spread_of(league, strengths, precision_of(terms, len(ids)))
    table = {player: (1500 + SCALE * strengths[i], errors[i], first[i]) for player, i in players.items()}
    return table, luck(league, [(players[a], players[b], None if winner is None else players[winner]) for a, b, winner in matches], len(ids))


def spread_of(league, strengths, precision):
    """The errors of the ratings, and how probable each player is the strongest."""
    count, draws = len(strengths), precision.pop()
    rows = cholesky([[value - draws[i] * draws[j] / draws[-1] for j, value in enumerate(row)] for i, row in enumerate(precision)])
    columns = zip(*(forwards(rows, [float(k == i) for k in range(count)]) for i in range(count)))
    inverse = [list(column) for column in columns]
    errors = [SCALE * math.sqrt(sum(row[i] ** 2 for row in inverse) - 1 / PRIOR / count) for i in range(count)]
    first, stream = [0] * count, normals(bits("p_first", league))
    for _ in range(SAMPLES):
        sample = [own + by for own, by in zip(strengths, backwards(rows, [next(stream) for _ in strengths]))]
        first[sample.index(max(sample))] += 1
    return errors, [one / SAMPLES for one in first]


def luck(league, matches, n):
    def uneven(wins):
        balance = [0] * n
        for winner, loser in wins:
            balance[winner] += 1
            balance[loser] -= 1
        return sum(own * own for own in balance)

    won = [(winner, a + b - winner) for a, b, winner in matches if winner is not None]
    if not won:
        return None
    seen, stream, as_uneven = uneven(won), bits("luck", league), 0
    if len(matches) > MOST_SAMPLED:
        return luck_by_formula(matches, len(won), seen)
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


def luck_by_formula(matches, won, seen):
    def pairs(counts):
        return sum(own * (own - 1) / 2 for own in counts.values())

    both = pairs(collections.Counter(frozenset(match[:2]) for match in matches))
    one = pairs(collections.Counter(player for match in matches for player in match[:2])) - 2 * both
    mean = 2 * won
    variance = (4 * one + 16 * both) * won * (won - 1) / (len(matches) * (len(matches) - 1))
    if variance <= 0:
        return 1.0
    q = variance / (9 * mean**2)
    return math.erfc(((seen / mean) ** (1 / 3) - 1 + q) / math.sqrt(2 * q)) / 2


def sentence(by_luck):
    """What the league says of it."""
    if by_luck is None:
        return ""
    often = "in fewer than 1 of 1,000 leagues"
    if by_luck >= 0.001:
        parts, shown = (100, "100") if by_luck >= 0.01 else (1000, "1,000")
        often = f"in {math.floor(by_luck * parts + 0.5)} of {shown} leagues"
    if by_luck > 0.995:
        often = "in nearly every league"
    verdict = "may be luck" if by_luck >= 0.05 else "is hardly luck"
    return f"This table {verdict}: equal players would give a table at least this uneven {often}."


def is_told(cell, own, most):
    """Whether a cell says `own`, or nothing where there is nothing to say."""
    if own is None or not re.fullmatch(r"-?\d{1,9}(\.\d{1,25})?(e[-+]?\d{1,3})?", cell or "", re.ASCII):
        return own is None and cell == ""
    return abs(float(cell) - own) <= most


def differences(table, standings):
    """What is wrong with a standings.csv, as sentences."""
    with open(standings, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    told = collections.Counter(row.get("player_id") for row in rows)
    said = [f"{player} has {told[player]} rows" for player in table if told[player] != 1]
    for row in rows:
        own = table.get(row.get("player_id"), (None, None, None))
        said += [f"{row.get('player_id')} has {key} {row.get(key)!r} instead of {value}" for key, value, most in
                 zip(("rating", "rating_error", "p_first"), own, (2e-6, 2e-6, 5e-4)) if not is_told(row.get(key), value, most)]
    return said


def other_luck(by_luck, path):
    """The same of a text with what the league says of luck: a site's index.html or snapshot.js, what `league status` prints."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    said = re.findall(r"This table [^.:]*: equal players [^.]*\.", text)
    numbers = re.findall(r'"luck":\s*([^\s,}]+)', text)
    if not said and not numbers and by_luck is not None:
        return ["it does not say how much is luck"]
    return ([f"it says {one!r} instead of {sentence(by_luck)!r}" for one in said if one != sentence(by_luck)]
            + [f"it says luck {one} instead of {by_luck}" for one in numbers
               if not is_told("" if one == "null" else one, by_luck, 6e-5)])


def main(rounds, *files):
    with open(rounds, encoding="utf-8") as file:
        table, by_luck = figures(json.load(file))
    for player, (rating, error, first) in table.items():
        print(f"{player} {rating:.6f}" + ("" if error is None else f" ± {error:.6f}, the strongest with {first:.4f}"))
    print(f"equal players would be as uneven with {by_luck}", sentence(by_luck), sep="\n")
    said = [f"{path} DIFFERS: {one}" for path in files
            for one in (differences(table, path) if path.lower().endswith(".csv") else other_luck(by_luck, path))]
    sys.exit("\n".join(said) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else sys.exit(__doc__)
