"""Was a draw fair? verify_draw.py draw_commitment draw_proof MATCH CHOICE_OF_A CHOICE_OF_B NUMBER, as the messages have them."""
import hashlib
import hmac
import itertools
import sys

commitment, proof, match, choice_a, choice_b, number = sys.argv[1:]
seed = bytes.fromhex(proof)
if hashlib.sha256(seed + match.encode()).hexdigest() != commitment:
    sys.exit("NOT FAIR: this is not the seed that was promised")
texts = (f"{match}|{choice_a}|{choice_b}|{counter}".encode() for counter in itertools.count())
drawn = next(byte % 10 + 1 for text in texts for byte in hmac.digest(seed, text, hashlib.sha256) if byte < 250)
sys.exit(f"NOT FAIR: seed and choices give {drawn}" if drawn != int(number) else print("fair"))
