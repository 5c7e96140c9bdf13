"""The table of findings in docs/checking.md, made from the rules of `trietok check`.

`python docs/site/findings.py` writes it again.
"""

from __future__ import annotations

import re
from pathlib import Path

from trietok.workbench.checking import check
from trietok.workbench.checking.report import WORDS

PAGE = Path(__file__).parents[1] / "checking.md"
_HEADING = "## All findings\n"


def page() -> str:
    """Return the page with the table as it should be."""
    before, heading, _ = PAGE.read_text(encoding="utf-8").partition(_HEADING)
    assert check.check  # its import declares them
    rows = [
        f"| `{code}` | {_named(words.consequence)} | {_named(words.repair)} |"
        for code, words in sorted(WORDS.items())
    ]
    table = "\n".join(("| code | what follows | repair |", "| --- | --- | --- |", *rows))
    return f"{before}{heading}\n{table}\n"


def _named(sentence: str) -> str:
    """Write what a finding fills in, such as `{token!r}`, as a word in capitals."""
    return re.sub(r"\{(\w+)(?:!r)?\}", lambda name: name[1].upper(), sentence)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
