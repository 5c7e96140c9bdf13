"""The code of pages about other libraries, but for the lines of the table, which other tests run."""

from __future__ import annotations

import re
from typing import Any

import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import TEXTS
from tests.integrations.page import PAGE
from trietok.clients import to_rust, to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def blocks_of(name: str) -> list[str]:
    page = (PAGE.parent / name).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_the_code_about_clients_gives_embeddings(directory):
    imports, example = blocks_of("clients.md")
    space = {
        "trietok": trietok,
        "SentenceTransformer": needs("sentence_transformers").SentenceTransformer,
        "directory": str(directory),
    }
    exec(imports, space)
    assert (space["to_rust"], space["to_transformers"]) == (to_rust, to_transformers)
    exec(example, space)
    assert space["model"].encode(TEXTS).any()


def test_the_code_about_embeddings_gives_the_vectors_of_the_model_without_it(directory):
    library = needs("sentence_transformers")
    lines, measured = blocks_of("guides/embeddings.md")
    names: dict[str, Any] = {"texts": TEXTS}
    exec(re.sub(r'name = ".*', f"name = {str(directory)!r}", lines), names)
    assert names["model"].tokenizer.profile in ("slow", "fast")  # it is trietok's
    model = library.SentenceTransformer(str(directory), device="cpu")
    expected = model.encode(["The people of New York", "after COVID-19"])
    assert (names["vectors"] == expected).all()
    exec(measured, names)
