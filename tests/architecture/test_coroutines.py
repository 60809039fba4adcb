"""No coroutine has a reference among its parameters: it would end before the task does. clang-tidy 16 has such a check, but
takes the parameters of functions within a coroutine for its own."""

import re
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# A function that returns a task, up to the brace of its body.
HEAD = re.compile(r"\bTask(?:<[^;{}()]*>)?\s+([\w:]+)\(([^{};]*?)\)\s*(?:const\s*)?(?:override\s*)?\{")


def body(text, begin):
    depth, end = 1, begin
    while depth and end < len(text):
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
    return text[begin:end]


def references(text):
    """Of the coroutines in `text`: the line and the name of each that has a reference parameter."""
    for head in HEAD.finditer(text):
        if "&" in head.group(2) and re.search(r"\bco_(await|return)\b", body(text, head.end())):
            yield text.count("\n", 0, head.start()) + 1, head.group(1)


class Coroutines(unittest.TestCase):
    def test_the_search_finds_them(self):
        self.assertEqual(list(references("Task<int> f(const A& a) {\n  co_return 1;\n}\n")), [(1, "f")])
        self.assertEqual(list(references("Task<int> f(const A* a) { co_return 1; }")), [])
        self.assertEqual(list(references("Task<int> f(const A& a) { return g(&a); }")), [], "no coroutine")

    def test_parameters_are_values(self):
        found, seen = [], 0
        for folder in ("bus", "common", "league_manager", "referee", "player", "tools"):
            for file in sorted((SOURCE / folder).rglob("*")):
                if file.suffix not in (".h", ".cpp") or "_test" in file.name:
                    continue
                text = file.read_text()
                seen += len(HEAD.findall(text))
                found += [f"{file.relative_to(SOURCE)}:{line}: {name}" for line, name in references(text)]
        self.assertGreater(seen, 50)
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
