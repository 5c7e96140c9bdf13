"""What types promise equals what runs: keywords, values, columns, and the names that `dir`
shows.
"""

from __future__ import annotations

import inspect
from importlib.resources import files
from typing import Any, get_args, get_type_hints

import pytest

from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    PaddingStrategy,
    TensorType,
    TruncationStrategy,
)
from trietok.inputs import options as types
from trietok.inputs.batch_encoding import Column
from trietok.inputs.options import CallOptions, Padding, Side, Truncation
from trietok.inputs.profiles import RUST, SLOW
from trietok.inputs.tensors import Tensors

TEXT = {"split_special_tokens"}
BOTH = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])


def keys(kind: Any) -> set[str]:
    return set(kind.__required_keys__ | kind.__optional_keys__)


def values(union: Any) -> set[str]:
    return {value for part in get_args(union) for value in get_args(part) if isinstance(value, str)}


def test_the_package_is_typed():
    assert files("trietok").joinpath("py.typed").is_file()


def test_the_keywords_are_those_of_a_call():
    assert keys(types.CallKeywords) == {*CallOptions._fields, *TEXT}
    assert keys(types.TextKeywords) == TEXT
    named = inspect.signature(BertTokenizer.encode).parameters.keys()
    assert keys(types.EncodeKeywords) == {*CallOptions._fields, *TEXT} - named
    named = inspect.signature(BertTokenizerFast.tokenize).parameters.keys()
    assert keys(types.TokenizeKeywords) == {*CallOptions._fields, *TEXT} - named
    assert not any(
        kind.__required_keys__
        for kind in vars(types).values()
        if hasattr(kind, "__required_keys__")
    )


def test_the_values_are_those_that_are_taken():
    assert values(Padding) == {member.value for member in PaddingStrategy}
    assert values(Truncation) == {member.value for member in TruncationStrategy}
    assert values(Tensors) == {member.value for member in TensorType}
    assert set(get_args(Side)) == {"left", "right"}


def test_the_columns_are_those_that_calls_return():
    returned = {*RUST.columns, *SLOW.columns, *RUST.columns_of_batch, *SLOW.columns_of_batch}
    assert set(get_args(Column)) == {*returned, "labels"}


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
