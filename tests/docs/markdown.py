"""Reads the project's Markdown pages: code blocks, headings and their anchors, links, and lines of prose."""

import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROTOCOL = SOURCE / "docs" / "protocol.md"
CLAUSE = re.compile(r"^\*\*(\d+(?:\.\d+)+)\*\* (.*)$")


def pages():
    """Every page for people: the README, the other pages of the root, and docs/."""
    return sorted([*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("*.md"), *(SOURCE / "examples").rglob("*.md")])


@dataclass
class Block:
    """A fenced code block: its language ("" for none), the number of its first line and its text."""
    language: str
    line: int
    text: str


def split(text):
    """The page's code blocks, and its other lines as (number, line)."""
    blocks, prose, block = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence and block is None:
            block = Block(fence.group(1), number + 1, "")
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
        else:
            prose.append((number, line))
    assert block is None, "a code block is not closed"
    return blocks, prose


def anchors(text):
    """What links can name after the `#`: headings in the form that GitHub gives them."""
    found = set()
    for _, line in split(text)[1]:
        heading = re.match(r"#+ (.*)", line)
        if heading:
            words = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.add(name if name not in found else f"{name}-1")
    return found


def links(text):
    """The targets of the page's links, as (line number, target)."""
    return [(number, target) for number, line in split(text)[1]
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line))]


def clauses(text):
    """The numbered clauses of docs/protocol.md: a list of (number, whole text), in order, with line ends as spaces."""
    found = []
    open_clause = False
    for _, line in split(text)[1]:
        start = CLAUSE.match(line)
        if start:
            found.append([start.group(1), start.group(2)])
            open_clause = True
        elif not line.strip():
            open_clause = False
        elif open_clause:
            found[-1][1] += " " + line.strip()
    return [(number, words) for number, words in found]
