"""docs/verify_draw.py: known draws, computed with openssl and sha256sum alone, and ten thousand draws of another hand."""

import hashlib
import random
import subprocess
import sys
import unittest

import support_path
import verify_draw

SEED = "6f1a6687f7f9522559d10d0b34654d66b3af0c55aecf27d9bce3519b71c123f1"
PROMISE = "276a9d8224de3c6fe85b507fd5e54c81c1553157460d2f400c8dac6e88ca5837"
NONCE_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
NONCE_B = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
# printf 'R1M1|even|odd|0' | openssl dgst -sha256 -mac HMAC -macopt hexkey:SEED; its first byte is 0x50, that is 80, so 1.
KNOWN = [
    (SEED, PROMISE, "R1M1", "even", "odd", 1),
    (SEED, PROMISE, "R1M1", "even", "odd", 6, NONCE_A, NONCE_B),  # 0x7d
    (SEED, PROMISE, "R1M1", "even", "odd", 6, NONCE_A, "-"),  # 0x7d of another digest
    (SEED, PROMISE, "R1M1", "even", "odd", 6, "-", NONCE_B),  # 0xeb
    (SEED, PROMISE, "R1M1", "odd", "odd", 7, NONCE_A, NONCE_B),  # 0x74
    # 0xff does not count, so that no number is likelier; the next byte is 0x9f.
    ("bb3eaf0c5444d193b3d9c59e0e2dc8f32ac23469f05a7ad6eeb1251c732c6064",
     "7cfb031f61953da6b7397e7d84fe8d58f7872b0af5788e6cbbdd785fd1d36c86", "R9M9", "odd", "even", 10),
]
# Chi-squared with 9 degrees of freedom: an honest draw is above it once in a thousand times.
CRITICAL = 27.88


def drawn(seed, match, choices, nonces):
    """The draw of docs/protocol.md once more, with HMAC made of its definition."""
    counter = 0
    while True:
        text = "|".join((match,) + choices + nonces + (str(counter),)).encode()
        pads = [bytes(byte ^ pad for byte in seed.ljust(64, b"\0")) for pad in (0x36, 0x5C)]
        digest = hashlib.sha256(pads[1] + hashlib.sha256(pads[0] + text).digest()).digest()
        good = [byte for byte in digest if byte <= 249]
        if good:
            return good[0] % 10 + 1
        counter += 1


class VerifyDraw(unittest.TestCase):
    @staticmethod
    def run_script(*arguments):
        script = support_path.SOURCE / "docs" / "verify_draw.py"
        return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=20)

    def test_known_draws(self):
        for seed, promise, match, a, b, number, *nonces in KNOWN:
            self.assertEqual(verify_draw.verdict(promise, seed, match, a, b, str(number), *nonces), "fair")
            self.assertIn(f"give {number}", verify_draw.verdict(promise, seed, match, a, b, str(number % 10 + 1), *nonces))

    def test_another_seed_than_the_promised_one(self):
        self.assertIn("promised", verify_draw.verdict(PROMISE, "01" * 32, "R1M1", "even", "odd", "1"))
        self.assertIn("promised", verify_draw.verdict(PROMISE, SEED, "R1M2", "even", "odd", "1"))

    def test_the_script_says_so_by_its_exit_code(self):
        good = self.run_script(PROMISE, SEED, "R1M1", "odd", "odd", 7, NONCE_A, NONCE_B)
        self.assertEqual((good.returncode, good.stdout), (0, "fair\n"))
        self.assertEqual(self.run_script(PROMISE, SEED, "R1M1", "odd", "odd", 8, NONCE_A, NONCE_B).returncode, 1)
        self.assertIn("DRAW_PROOF", self.run_script(PROMISE, SEED).stderr)

    def test_a_choice_commitment_by_hand(self):
        # printf '%s' "PROMISE|R1M1|P01|even|NONCE_A" | sha256sum
        text = f"{PROMISE}|R1M1|P01|even|{NONCE_A}"
        made = subprocess.run(["sha256sum"], input=text.encode(), capture_output=True, check=True, timeout=20).stdout.split()[0]
        self.assertEqual(made.decode(), "e5c9b8dd3717c74a8ca93765cc62deca83baf0ce5d1cd07583a8ccf0739ce3a6")

    def test_ten_thousand_draws_are_uniform_and_all_verify(self):
        chance = random.Random(20)
        counts = {1: [0] * 10, 2: [0] * 10}
        for n in range(10_000):
            seed, match = chance.randbytes(32), f"R{n % 29 + 1}M{n % 15 + 1}"
            choices = tuple(chance.choice(("even", "odd")) for _ in "AB")
            nonces = tuple(chance.choice(("", chance.randbytes(32).hex())) for _ in "AB") if n % 2 else ()
            number = drawn(seed, match, choices, nonces)
            promise = hashlib.sha256(seed + match.encode()).hexdigest()
            self.assertEqual("fair", verify_draw.verdict(promise, seed.hex(), match, *choices, str(number), *nonces))
            counts[2 if nonces else 1][number - 1] += 1
        for version, numbers in counts.items():
            expected = sum(numbers) / 10
            statistic = sum((count - expected) ** 2 / expected for count in numbers)
            self.assertLess(statistic, CRITICAL, f"draw version {version}: {numbers}")


if __name__ == "__main__":
    unittest.main()
