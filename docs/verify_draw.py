"""Was a draw fair? All as the messages have it; the nonces only where draw_version is 2, with - for a player without one:
verify_draw.py DRAW_COMMITMENT DRAW_PROOF MATCH CHOICE_OF_A CHOICE_OF_B NUMBER [NONCE_OF_A NONCE_OF_B]"""
import hashlib
import hmac
import itertools
import sys


def verdict(commitment, proof, match, choice_a, choice_b, number, *nonces):
    seed = bytes.fromhex(proof)
    if hashlib.sha256(seed + match.encode()).hexdigest() != commitment:
        return "NOT FAIR: this is not the seed that was promised"
    parts = [match, choice_a, choice_b, *(nonce.strip("-") for nonce in nonces)]
    texts = ("|".join([*parts, str(counter)]).encode() for counter in itertools.count())
    drawn = next(byte % 10 + 1 for text in texts for byte in hmac.digest(seed, text, hashlib.sha256) if byte < 250)
    return "fair" if drawn == int(number) else f"NOT FAIR: the seed, the choices and the nonces give {drawn}"


if __name__ == "__main__":
    found = verdict(*sys.argv[1:]) if len(sys.argv) in (7, 9) else __doc__
    print(found) if found == "fair" else sys.exit(found)
