"""What somebody who knows the seed can gain, by simulation (docs/protocol.md, "The draw").

Attackers: a manager who makes and grinds seeds, a referee who sees every answer and may give an attempt up, replay it, or
show a reveal to the other player, and an opponent who waits, withholds its nonce or changes its mind. They all want B to win.
Each plays against honest random players; an attack counts only if the winner is distributed otherwise than without it.
"""

import collections
import hashlib
import itertools
import random
import tempfile
import unittest

import support_path  # noqa: F401
import verify_log
from log_builder import League, draw

MATCHES = 2000
ATTEMPTS = 4
CHOICES = ("even", "odd")
# Four standard deviations of a share of 1/4 or 1/2 in so many matches.
TOLERANCE = 4 * (0.25 / MATCHES) ** 0.5


class Player:
    """Honest: a fresh choice and nonce for each attempt, until both commitments count."""

    def __init__(self, chance, commits):
        self.chance, self.commits = chance, commits
        self.choice = self.nonce = None

    def join(self, is_bound):
        if self.choice is None or not is_bound:
            self.choice = self.chance.choice(CHOICES)
            self.nonce = self.chance.randbytes(32).hex() if self.commits else ""
        return hashlib.sha256(f"{self.choice}|{self.nonce}".encode()).hexdigest() if self.commits else None


class Match:
    """The protocol's rules for one match; the attacks are the arguments of play()."""

    def __init__(self, chance, commits_a, commits_b):
        self.chance = chance
        self.a, self.b = Player(chance, commits_a), Player(chance, commits_b)
        self.nonces_used = commits_a or commits_b
        self.abandoned = 0

    def winner(self, seed, choice_a, choice_b):
        nonces = (self.a.nonce, self.b.nonce) if self.nonces_used else None
        kind = "odd" if draw(seed, "R1M1", [choice_a, choice_b], nonces) % 2 else "even"
        if (choice_a == kind) == (choice_b == kind):
            return None
        return "A" if choice_a == kind else "B"

    def value(self, winner):
        return {"B": 2, None: 1, "A": 0}[winner]

    def seed(self, grind):
        """Promised before anybody joins. Who grinds takes the seed that is best for B by all that is known then: no nonce."""
        seeds = [self.chance.randbytes(32) for _ in range(grind)]
        if grind == 1:
            return seeds[0]
        nonces = ("00" * 32 if self.a.commits else "", "00" * 32 if self.b.commits else "")
        self.a.nonce, self.b.nonce = nonces  # a guess, as good as any
        def hope(seed):
            return sum(max(self.value(self.winner(seed, a, b)) for b in CHOICES) for a in CHOICES)
        best = max(seeds, key=hope)
        self.a.nonce = self.b.nonce = None
        return best

    def play(self, grind=1, opponent=None, gives_up=False):
        seed = self.seed(grind)
        is_bound = False
        for attempt in range(1, ATTEMPTS + 1):
            joined = self.a.join(is_bound), self.b.join(is_bound)
            is_bound = all(joined)
            b = self.b.choice
            if opponent and not self.b.commits:
                b = opponent(self, seed)
            winner = self.winner(seed, self.a.choice, b)
            if not (gives_up and winner != "B" and attempt < ATTEMPTS):
                return winner
            self.abandoned += 1
        raise AssertionError


def sees_the_seed_only(match, seed):
    """Manager and opponent: they know the seed and that A's nonce, if any, is unknown to them; so they guess it."""
    nonce = match.a.nonce
    match.a.nonce = "00" * 32 if match.a.commits else ""
    best = max(CHOICES, key=lambda b: sum(match.value(match.winner(seed, a, b)) for a in CHOICES))
    match.a.nonce = nonce
    return best


def is_shown_the_reveal(match, seed):
    """The referee shows A's opened choice and nonce before it takes B's answer."""
    return max(CHOICES, key=lambda b: match.value(match.winner(seed, match.a.choice, b)))


def shares(commits_a, commits_b, **attack):
    chance = random.Random(f"{commits_a}{commits_b}{sorted(attack)}")
    wins, abandoned = collections.Counter(), 0
    for _ in range(MATCHES):
        match = Match(chance, commits_a, commits_b)
        wins[match.play(**attack)] += 1
        abandoned += match.abandoned
    return {who: wins[who] / MATCHES for who in ("A", None, "B")}, abandoned


class Fairness(unittest.TestCase):
    HONEST = {"A": 0.25, None: 0.5, "B": 0.25}

    def assert_shares(self, found, expected):
        for who, share in expected.items():
            self.assertAlmostEqual(found[who], share, delta=TOLERANCE, msg=str(found))

    def test_without_an_attack(self):
        for commits in itertools.product((True, False), repeat=2):
            self.assert_shares(shares(*commits)[0], self.HONEST)

    def test_both_committed_nobody_shifts_the_winner(self):
        for attack in ({"grind": 6}, {"gives_up": True}, {"grind": 6, "gives_up": True},
                       {"grind": 6, "gives_up": True, "opponent": is_shown_the_reveal}):
            found, abandoned = shares(True, True, **attack)
            self.assert_shares(found, self.HONEST)
            # Giving up gains nothing, since the commitments hold, and each time is an attempt with its own records.
            self.assertEqual(abandoned > 0, "gives_up" in attack)

    def test_one_committed_manager_and_opponent_alone_do_not(self):
        for grind in (1, 6):
            self.assert_shares(shares(True, False, grind=grind, opponent=sees_the_seed_only)[0], self.HONEST)

    def test_one_committed_what_a_referee_in_league_with_the_other_player_gains(self):
        """The numbers of docs/protocol.md: never a loss, 2 points a match in place of 1.25."""
        found, _ = shares(True, False, opponent=is_shown_the_reveal)
        self.assert_shares(found, {"A": 0.0, None: 0.5, "B": 0.5})
        found, abandoned = shares(True, False, opponent=is_shown_the_reveal, gives_up=True)
        self.assert_shares(found, {"A": 0.0, None: 0.5 ** ATTEMPTS, "B": 1 - 0.5 ** ATTEMPTS})
        self.assertGreater(abandoned, 0)

    def test_nobody_committed_is_open_to_all_who_know_the_seed(self):
        """So the simulation can tell an attack that works from one that does not."""
        found, _ = shares(False, False, opponent=sees_the_seed_only)
        self.assertGreater(found["B"], self.HONEST["B"] + TOLERANCE)
        found, _ = shares(False, False, grind=6, opponent=sees_the_seed_only)
        self.assert_shares(found, {"A": 0.0, None: 0.5, "B": 0.5})


class Visible(unittest.TestCase):
    """What is left to an attacker stands in the logs of others."""

    def found(self, prepare, after=None):
        league = League(3, 2, seed=11)
        plan = league.plans["R1M1"]
        prepare(plan)
        league.play()
        if after:
            after(league, plan)
        with tempfile.TemporaryDirectory() as directory:
            report = verify_log.verify(str(league.write(directory)))
        return {name: sorted({finding["rule"] for finding in report[name]}) for name in ("faults", "missing", "incidents")}

    def test_giving_up(self):
        def abandon(plan):
            plan.abandoned = 1
        self.assertEqual(self.found(abandon), {"faults": [], "missing": [], "incidents": ["draw.abandoned"]})

    def test_an_invented_time_out(self):
        def lie(league, plan):
            plan.lost = {plan.a: ("CHOOSE_PARITY_CALL", "E001")}
            report = league.reports("R1M1")[0].message
            report["result"] = {"winner": plan.b, "score": plan.points(), "details": league.details(plan, 1)}
        self.assertIn("loss.contradicted", self.found(lambda plan: None, lie)["incidents"])

    def test_a_nonce_that_is_withheld_loses(self):
        def withhold(plan):
            plan.lost = {plan.b: ("CHOOSE_PARITY_CALL", "E040")}
        league = League(3, 2, seed=11)
        withhold(league.plans["R1M1"])
        self.assertEqual(league.plans["R1M1"].winner(), league.plans["R1M1"].a)
        self.assertEqual(self.found(withhold), {"faults": [], "missing": [], "incidents": []})

    def test_a_second_commitment_in_a_later_attempt(self):
        def abandon(plan):
            plan.abandoned = 1

        def equivocate(league, plan):
            for record in league.find(plan.b, "GAME_JOIN_ACK", "R1M1", conversation_id="convr1m1001"):
                record.message["choice_commitment"] = "cd" * 32
            for record in league.find(plan.a, "CHOOSE_PARITY_CALL", "R1M1", conversation_id="convr1m1001", kind="request"):
                record.message["context"]["opponent_commitment"] = "cd" * 32
        self.assertEqual(self.found(abandon, equivocate)["faults"], ["commitment.second"])


if __name__ == "__main__":
    unittest.main()
