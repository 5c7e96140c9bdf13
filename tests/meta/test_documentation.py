"""What the documentation says of the tests is true: every file and every test that it names is
there.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOT_FILES = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "noxfile.py",
    "pyproject.toml",
    ".ci/run",
)
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in ROOT_FILES)]
NAMED = re.compile(r"\btests/[\w/]*(?:\.\w+)?(?:::\w+)?")


def missing(page: Path) -> list[str]:
    """The paths and tests that a page names and that are not there."""
    found = []
    for named in NAMED.findall(page.read_text(encoding="utf-8")):
        name, _, test = named.partition("::")
        path = ROOT / name
        if not path.exists() or (test and f"\ndef {test}(" not in path.read_text(encoding="utf-8")):
            found.append(named)
    return found


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.exists()], ids=lambda page: page.name
)
def test_every_test_that_a_page_names_is_there(page):
    assert missing(page) == []


def test_every_departure_from_transformers_has_its_number_and_names_a_test():
    page = (ROOT / "docs" / "hf_compatibility.md").read_text(encoding="utf-8")
    items = re.split(r"^(?=\d+\. )", page, flags=re.MULTILINE)[1:]
    assert len(items) > 40
    numbers = [int(item.partition(".")[0]) for item in items]
    assert numbers == [*range(1, len(items) + 1)]
    assert [item.split("\n")[0] for item in items if not NAMED.search(item)] == []
