"""docs/audit.md names every rule that a verifier can report, and says which of them scripts/verify_log.py knows."""

import re
import unittest

from support_path import SOURCE
import verify_log

PAGE = (SOURCE / "docs" / "audit.md").read_text()
FILES = {"journal.sqlite"}  # looks like a rule and is none


def table(text):
    """The rules in the first column of each row, and those of rows that end with the mark 2."""
    rows = re.findall(r"^\| (`[^|]*`)(?: \(missing\))? \|.*?(\| 2 )?\|$", text, re.MULTILINE)
    names = [(re.findall(r"`([a-z_.]+)`", cell), bool(mark)) for cell, mark in rows]
    return {rule for rules, _ in names for rule in rules}, {rule for rules, mark in names if mark for rule in rules}


def rules_in(*paths):
    families = {rule.split(".")[0] for rule in DOCUMENTED if "." in rule}
    text = "".join(path.read_text() for path in paths)
    return {rule for rule in re.findall(r'"([a-z]+\.[a-z_]+)"', text) if rule.split(".")[0] in families} - FILES


RULES = PAGE[PAGE.index("### Rules"):PAGE.index("The order of events is determined by")]
DOCUMENTED, OF_BOTH = table(RULES)
PROGRAM = rules_in(SOURCE / "common" / "audit" / "log" / "chain_verifier.cpp",
                   *(path for folder in ("facts", "rules") for path in (SOURCE / "tools" / "audit" / folder).glob("*.cpp")
                     if not path.stem.endswith(("_test", "_testing", "table")))) | {"schema"}
SCRIPT = rules_in(SOURCE / "scripts" / "verify_log.py") - set(verify_log.UNCHECKED)


class Rules(unittest.TestCase):
    def test_the_page_names_the_rules_of_the_program(self):
        self.assertEqual(sorted(PROGRAM), sorted(DOCUMENTED))

    def test_the_page_marks_those_of_the_script(self):
        incidents = table(RULES[RULES.index("These are only"):])[0]
        self.assertEqual(sorted(SCRIPT - OF_BOTH - incidents), [], "not marked")
        self.assertEqual(sorted(OF_BOTH - SCRIPT), [], "marked, but the script does not know them")

    def test_what_the_script_does_not_check_it_says(self):
        unchecked = {rule for rule in DOCUMENTED - OF_BOTH - SCRIPT
                     if rule not in verify_log.UNCHECKED and f"{rule.split('.')[0]}.*" not in verify_log.UNCHECKED}
        self.assertEqual(sorted(unchecked), [])


class Context(unittest.TestCase):
    """The page is the whole format, so it names each key that a transport can leave in a record, and each transport."""

    def test_the_page_names_each_key(self):
        writer, = SOURCE.glob("common/**/context_text.cpp")
        keys = set(re.findall(r'\.(?:text|number|flag)\("([a-z_]+)"', writer.read_text()))
        self.assertGreater(len(keys), 15)
        part = PAGE[PAGE.index("### Context"):PAGE.index("## The chain")]
        documented = {key for row in re.findall(r"^\| (`[^|]*`) \|", part, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
        self.assertEqual(sorted(keys), sorted(documented))

    def test_the_page_names_each_transport(self):
        names, = SOURCE.glob("common/**/transport_context.h")
        row, = re.findall(r"^\| `transport` \|.*$", PAGE, re.MULTILINE)
        listed = re.search(r"/// (`unknown`.*)$", names.read_text(), re.MULTILINE).group(1)
        for name in re.findall(r"`(\w+)`", listed):
            self.assertIn(f"`{name}`", row)


if __name__ == "__main__":
    unittest.main()
