"""What types promise equals what runs: keywords and values."""

from __future__ import annotations

from importlib.resources import files
from typing import get_type_hints

import pytest

from trietok import BertTokenizer, BertTokenizerFast

BOTH = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])


def test_the_package_is_typed():
    assert files("trietok").joinpath("py.typed").is_file()


@BOTH
@pytest.mark.parametrize(
    "name",
    [
        *("__call__", "encode", "encode_plus", "batch_encode_plus", "tokenize", "decode", "pad"),
        *("count", "encode_flat"),
    ],
)
def test_annotations_can_be_evaluated(kind, name):
    """Programs that make forms or tools of functions do so: pydantic, FastAPI, LangChain."""
    assert "return" in get_type_hints(getattr(kind, name))
    assert "return" in get_type_hints(kind.from_pretrained)
