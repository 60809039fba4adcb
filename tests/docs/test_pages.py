"""The pages for people: links lead somewhere, lines can be read in a terminal, nothing names the machine that they were
written on, and the README shows what is true."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from markdown import SOURCE, anchors, links, pages, split

PROSE_COLUMNS = 120
MOST_COLUMNS = 200  # of anything but tables
README = (SOURCE / "README.md").read_text()
EXAMPLES = ("schemas/league_paused.schema.json",)  # what somebody would make who follows CONTRIBUTING.md
NOT_INSTALLED = ("docs/decisions.md", "docs/measurements.md")  # for maintainers: see packaging/CMakeLists.txt


def named(page):
    return page.relative_to(SOURCE).as_posix()


class Pages(unittest.TestCase):
    def test_lines_are_not_too_long(self):
        for page in pages():
            blocks, prose = split(page.read_text())
            for number, line in prose:
                if line.startswith("|"):
                    continue
                can_be_broken = " " in line.strip()
                self.assertLessEqual(len(line), PROSE_COLUMNS if can_be_broken else MOST_COLUMNS,
                                     f"{named(page)}:{number}")
            for block in blocks:
                for number, line in enumerate(block.text.splitlines(), block.line):
                    self.assertLessEqual(len(line), MOST_COLUMNS, f"{named(page)}:{number}")

    def test_links_lead_somewhere(self):
        for page in pages():
            for number, target in links(page.read_text()):
                if "://" in target:
                    continue
                path, _, anchor = target.partition("#")
                place = f"{named(page)}:{number} links to {target}"
                file = (page.parent / path).resolve() if path else page
                self.assertTrue(file.exists(), place)
                if anchor:
                    self.assertIn(anchor, anchors(file.read_text()), place)

    def test_contributors_are_sent_to_files_that_exist(self):
        for path in set(re.findall(r"`([\w.-]+/[\w./-]*)`", (SOURCE / "CONTRIBUTING.md").read_text())):
            if path in EXAMPLES or path.startswith(("build", "runs/")):
                continue
            self.assertTrue((SOURCE / path).exists(), f"CONTRIBUTING.md names {path}")

    def test_every_page_can_be_reached_from_the_readme(self):
        reached, waiting = set(), [SOURCE / "README.md"]
        while waiting:
            page = waiting.pop()
            if page in reached:
                continue
            reached.add(page)
            for _, target in links(page.read_text()):
                file = (page.parent / target.partition("#")[0]).resolve()
                if file.suffix == ".md" and file.is_file():
                    waiting.append(file)
            waiting += [SOURCE / name for name in NOT_INSTALLED if f"`{name}`" in page.read_text()]
        self.assertEqual([named(page) for page in pages() if page not in reached], [])

    def test_installed_pages_do_not_link_to_those_that_are_not(self):
        for name in NOT_INSTALLED:
            self.assertIn(f"PATTERN {Path(name).name} EXCLUDE", (SOURCE / "packaging" / "CMakeLists.txt").read_text())
        hidden = {SOURCE / name for name in NOT_INSTALLED}
        for page in set(pages()) - hidden:
            for number, target in links(page.read_text()):
                self.assertNotIn((page.parent / target.partition("#")[0]).resolve(), hidden, f"{named(page)}:{number}")

    def test_nothing_names_the_machine_it_was_written_on(self):
        for page in pages():
            for path in (tempfile.gettempdir(), os.path.expanduser("~"), str(SOURCE)):
                self.assertNotIn(f"{path}/", page.read_text(), named(page))

    def test_a_page_says_in_its_beginning_what_it_is(self):
        for page in (SOURCE / "docs").glob("*.md"):
            title, empty, first, *_ = page.read_text().splitlines()
            self.assertRegex(title, "^# ", named(page))
            self.assertEqual(empty, "", named(page))
            self.assertRegex(first, "^[A-Z\"`]", named(page))


class Readme(unittest.TestCase):
    def test_the_draw_that_it_shows_is_fair(self):
        shown = re.search(r"^\$ python3 (docs/verify_draw\.py .*?)\n(\w+)\n```", README, re.MULTILINE | re.DOTALL)
        words = shlex.split(shown.group(1).replace("\\\n", ""))
        said = subprocess.run([sys.executable, *words], cwd=SOURCE, capture_output=True, text=True)
        self.assertEqual((said.stdout.strip(), said.returncode), (shown.group(2), 0), said.stderr)
        words[6] = str(int(words[6]) % 10 + 1)
        lied = subprocess.run([sys.executable, *words], cwd=SOURCE, capture_output=True, text=True)
        self.assertEqual(lied.returncode, 1)
        self.assertIn("NOT FAIR", lied.stderr)

    def test_what_even_odd_is_stands_in_its_first_paragraph(self):
        first = README.split("\n\n")[1].replace("\n", " ")
        self.assertRegex(first, '^Even/Odd is ')
        self.assertLessEqual(len(re.findall(r"[.](?: |$)", first)), 2)


if __name__ == "__main__":
    unittest.main()
