"""Each client of the page's table is run by a test here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trietok
from tests.clients.conftest import TEXTS
from tests.clients.page import PAGE, rows
from tests.conftest import needs
from trietok.clients import to_rust, to_transformers


@pytest.mark.clients
def test_every_line_of_the_table_is_run():
    tests = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")
    )
    assert sorted(rows()) == sorted(set(re.findall(r'\brun(?:_line)?\(\s*"([^"]+)"', tests)))
    assert len(rows()) > 20


@pytest.mark.clients
@pytest.mark.usefixtures("offline")
def test_the_other_code_of_the_page(directory):
    library = needs("sentence_transformers")
    imports, example = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    space = {
        "trietok": trietok,
        "SentenceTransformer": library.SentenceTransformer,
        "directory": str(directory),
    }
    exec(imports, space)
    assert (space["to_rust"], space["to_transformers"]) == (to_rust, to_transformers)
    exec(example, space)
    assert space["model"].encode(TEXTS).any()
