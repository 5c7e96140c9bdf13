"""The code of the page, but for the lines of its table, which other tests run."""

from __future__ import annotations

import re

import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import TEXTS
from tests.integrations.page import PAGE
from trietok.clients import to_rust, to_transformers


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
