"""Each client of the page's table is run by a test here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients.page import rows


@pytest.mark.clients
def test_every_line_of_the_table_is_run():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert sorted(rows()) == sorted(set(re.findall(r'\brun(?:_line)?\(\s*"([^"]+)"', tests)))
    assert len(rows()) > 20
