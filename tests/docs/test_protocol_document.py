"""docs/protocol.md: an example of each of the 18 messages that its schema accepts and whose hashes are right, and clause
numbers that are unique, never reused, and known wherever they are cited."""

import hashlib
import hmac
import itertools
import json
import re
import unittest

try:
    import jsonschema
except ImportError as error:
    raise SystemExit("install python3-jsonschema: scripts/test does") from error

from markdown import PROTOCOL, SOURCE, clauses, pages, split

TEXT = PROTOCOL.read_text()
NUMBERS = SOURCE / "tests" / "docs" / "protocol_clauses.txt"


def validator(name):
    return jsonschema.Draft7Validator(json.loads((SOURCE / "schemas" / f"{name}.schema.json").read_text()))


def examples():
    """The page's JSON blocks, as (line, JSON-RPC frame)."""
    return [(block.line, json.loads(block.text)) for block in split(TEXT)[0] if block.language == "json"]


def message_of(frame):
    return frame.get("params", frame.get("result"))


def messages(message_type):
    return [message_of(frame) for _, frame in examples()
            if message_of(frame) and message_of(frame)["message_type"] == message_type]


def table():
    """The message table: {message type: method, or None for a reply}."""
    rows = re.findall(r"^\| \d+ \| ([A-Z_]+) \|[^|]*\|[^|]*\| (?:`(\w+)`|\(reply\)) \|", TEXT, re.MULTILINE)
    return {name: method or None for name, method in rows}


def digest(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


class Examples(unittest.TestCase):
    def test_each_message_has_a_whole_example(self):
        self.assertEqual(len(table()), 18)
        shown = {message_of(frame)["message_type"] for _, frame in examples() if message_of(frame)}
        self.assertEqual(sorted(shown), sorted(table()))

    def test_the_schemas_accept_each_example(self):
        for line, frame in examples():
            with self.subTest(line=line):
                validator("jsonrpc").validate(frame)
                if message_of(frame):
                    validator(message_of(frame)["message_type"].lower()).validate(message_of(frame))

    def test_requests_and_replies_are_framed_as_the_table_says(self):
        for line, frame in examples():
            if message_of(frame):
                with self.subTest(line=line):
                    method = table()[message_of(frame)["message_type"]]
                    # These are replies as well as calls.
                    is_both = method in ("notify_league_error", "notify_registration")
                    expected = None if "result" in frame else frame["method"]
                    self.assertIn(expected, (method, None) if is_both else (method,))

    def test_a_schema_refuses_an_example_without_one_of_its_fields(self):
        for line, frame in examples():
            message = message_of(frame)
            for name in (validator(message["message_type"].lower()).schema["required"] if message else []):
                with self.subTest(line=line, missing=name), self.assertRaises(jsonschema.ValidationError):
                    rest = {key: value for key, value in message.items() if key != name}
                    validator(message["message_type"].lower()).validate(rest)


class OneMatch(unittest.TestCase):
    """The examples are one match, so what follows from what can be computed again."""

    def setUp(self):
        self.over, = messages("GAME_OVER")
        self.seed = bytes.fromhex(self.over["draw_proof"])
        self.token = messages("LEAGUE_REGISTER_RESPONSE")[0]["auth_token"]
        self.choices = self.over["game_result"]["choices"]

    def test_the_seed_is_the_one_that_was_promised(self):
        promise = digest(self.seed + b"R1M1")
        for announcement in messages("ROUND_ANNOUNCEMENT"):
            self.assertEqual(announcement["matches"][0]["draw_commitment"], promise)
        self.assertEqual(messages("GAME_INVITATION")[0]["draw_commitment"], promise)
        self.assertEqual(messages("CHOOSE_PARITY_CALL")[0]["context"]["draw_commitment"], promise)

    def test_nonces_open_the_commitments(self):
        promise = messages("GAME_INVITATION")[0]["draw_commitment"]
        for player, nonce in self.over["choice_nonces"].items():
            text = "|".join([promise, "R1M1", player, self.choices[player], nonce])
            self.assertEqual(self.over["choice_commitments"][player], digest(text))
        self.assertEqual(messages("GAME_JOIN_ACK")[0]["choice_commitment"], self.over["choice_commitments"]["P01"])
        self.assertEqual(messages("CHOOSE_PARITY_CALL")[0]["context"]["opponent_commitment"],
                         self.over["choice_commitments"]["P02"])
        self.assertEqual(messages("CHOOSE_PARITY_RESPONSE")[0]["choice_nonce"], self.over["choice_nonces"]["P01"])

    def test_the_number_follows_from_seed_choices_and_nonces(self):
        nonces = self.over["choice_nonces"]
        parts = ["R1M1", self.choices["P01"], self.choices["P02"], nonces["P01"], nonces["P02"]]
        texts = ("|".join([*parts, str(counter)]).encode() for counter in itertools.count())
        number = next(byte % 10 + 1 for text in texts for byte in hmac.digest(self.seed, text, "sha256") if byte < 250)
        self.assertEqual(self.over["game_result"]["drawn_number"], number)
        parity = "odd" if number % 2 else "even"
        right, = [player for player, choice in self.choices.items() if choice == parity]
        report = messages("MATCH_RESULT_REPORT")[0]["result"]
        self.assertEqual((self.over["game_result"]["winner_player_id"], report["winner"]), (right, right))
        self.assertEqual(report["score"][right], 3)
        self.assertEqual(report["details"]["drawn_number"], number)

    def test_the_referee_shows_the_credential_of_the_match(self):
        credential = hmac.digest(self.token.encode(), b"R1M1#1", "sha256").hex()
        for name in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR"):
            self.assertEqual(messages(name)[0]["auth_token"], credential, name)
        assignment = messages("ROUND_ANNOUNCEMENT")[1]["matches"][0]
        self.assertEqual(assignment["player_A_credential"], credential)
        self.assertEqual(assignment["player_A_token_hash"], digest(self.token))


class Clauses(unittest.TestCase):
    def setUp(self):
        self.clauses = clauses(TEXT)
        self.numbers = [number for number, _ in self.clauses]

    def test_each_number_stands_once_and_in_its_section(self):
        self.assertGreater(len(self.numbers), 200)
        self.assertEqual(len(self.numbers), len(set(self.numbers)))
        section = ""
        for line in TEXT.splitlines():
            heading = re.match(r"## (\d+) ", line)
            section = heading.group(1) if heading else section
            number = re.match(r"\*\*(\d+)\.[\d.]+\*\* ", line)
            if number:
                self.assertEqual(number.group(1), section, line)

    def test_numbers_are_never_dropped_or_reused(self):
        """The file holds the number of every clause there ever was: append to it, remove nothing."""
        kept = NUMBERS.read_text().split()
        self.assertEqual(len(kept), len(set(kept)))
        self.assertEqual(sorted(self.numbers), sorted(kept))

    def test_a_clause_can_be_quoted_alone(self):
        for number, words in self.clauses:
            with self.subTest(clause=number):
                self.assertRegex(words, r"^[A-Z`]")
                self.assertRegex(words, r"[.]$")
                self.assertLess(len(words), 700)

    def test_numbers_that_are_cited_exist(self):
        known = set(self.numbers)
        for page in pages():
            text = "\n".join(line for _, line in split(page.read_text())[1])
            cited = re.findall(r"\bclauses? (\d+(?:\.\d+)+)", text)
            if page == PROTOCOL:
                cited += re.findall(r"[(](?:as in )?(\d+\.\d+(?:\.\d+)?)(?:, (\d+\.\d+))?[)]", text)
                cited += re.findall(r"\b(?:by|in|of) (\d+\.\d+(?:\.\d+)?)", text)
            for number in cited:
                for one in [number] if isinstance(number, str) else filter(None, number):
                    self.assertTrue(one in known, f"{page.name} cites clause {one}")


if __name__ == "__main__":
    unittest.main()
