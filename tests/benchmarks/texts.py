"""The texts that are measured: what the repository holds."""

from __future__ import annotations

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent.parent


def lines() -> list[str]:
    """Every different line of the pages in docs/ and of the texts in tests/parity/golden/, in one order.

    Those that are no UTF-8 are left out: not every tokenizer takes them.
    """
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [line for page in pages for line in page.read_text(encoding="utf-8").split("\n")]
    for golden in sorted((ROOT / "tests" / "parity" / "golden").glob("*.jsonl")):
        found += [
            json.loads(line)["text"] for line in golden.read_text(encoding="ascii").splitlines()
        ]
    return [
        line for line in dict.fromkeys(found) if line and not re.search("[\ud800-\udfff]", line)
    ]
