"""The list of findings in docs/checking.md, made from `trietok/files/findings.py`.

`python docs/site/findings.py` writes it again.
"""

from __future__ import annotations

import re
from pathlib import Path

from trietok.files.findings import WORDS

PAGE = Path(__file__).parents[1] / "checking.md"
_HEADING = "## All findings\n"


def page() -> str:
    """Return the page with the list as it should be."""
    before, heading, _ = PAGE.read_text(encoding="utf-8").partition(_HEADING)
    items = [
        f"- `{code}`: {_named(words.consequence)}. *Repair:* {_named(words.repair)}."
        for code, words in sorted(WORDS.items())
    ]
    return "\n".join((f"{before}{heading}", *items, ""))


def _named(sentence: str) -> str:
    """Write what a finding fills in, such as `{file}`, as a word in capitals."""
    return re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), sentence)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
