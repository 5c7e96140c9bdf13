"""What happens to one tokenizer costs another nothing: it forgets nothing, and looks at nothing
anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

import trietok

KINDS = ("BertTokenizer", "BertTokenizerFast")
SOURCES = os.path.dirname(trietok.__file__)
TEXTS = ["a ab, c", "b abc abc", "a ab, c café"]

# What may happen elsewhere in the process between two texts.
ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda other: None,
    "an attribute is set": lambda other: setattr(other, "verbose", True),
    "a setting is set": lambda other: setattr(other, "padding_side", "left"),
    "a role is set": lambda other: setattr(other, "cls_token", "a"),
    "a token comes": lambda other: other.add_tokens([f"<{len(other)}>"]),
    "a token goes": lambda other: other.add_tokens(["<x>"]) and other.remove_tokens(["<x>"]),
    "a stage is set": lambda other: setattr(other.basic_tokenizer, "do_lower_case", False),
    "a stage is made": lambda other: trietok.BasicTokenizer(never_split=["a"]),
    "a tokenizer is made": lambda other: type(other)(other.path),
    "a text is encoded": lambda other: other.encode("c c zz"),
}
CALLS: dict[str, Callable[[Any, str], Any]] = {
    "encode": lambda t, text: t.encode(text),
    "tokenize": lambda t, text: t.tokenize(text),
    "a call": lambda t, text: t(text).input_ids,
    "a batch": lambda t, text: t([text, "b"], padding=True).input_ids,
    "a call with offsets": lambda t, text: t(text, return_offsets_mapping=True).offset_mapping,
}


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name."""
    path = vocab_file("a", "b", "c", "##b", "##c", ",", "ab", "cafe")

    def of(kind: str) -> Any:
        tokenizer = getattr(trietok, kind)(path)
        tokenizer.path = path
        return tokenizer

    return of


def calls_made(action: Callable[[], Any]) -> int:
    """How many of trietok's functions are called."""
    count = 0

    def count_one(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(SOURCES)

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.usefixtures("plain_kernel")
@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_forgotten(make, kind, elsewhere):
    tokenizer, other = make(kind), make(kind)
    ids = [[call(tokenizer, text) for call in CALLS.values()] for text in TEXTS]
    remembered = tokenizer.cache_info()
    assert remembered.chunks >= 6
    for number, text in enumerate(TEXTS * 3):
        ELSEWHERE[elsewhere](other)
        assert [call(tokenizer, text) for call in CALLS.values()] == ids[number % 3]
        assert tokenizer.cache_info() == remembered


@pytest.mark.parametrize(
    "setting", ["verbose", "padding_side", "model_max_length", "clean_up_tokenization_spaces"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_decides_no_id_makes_nothing_forgotten(make, kind, setting):
    tokenizer = make(kind)
    for text in TEXTS:
        tokenizer.encode(text)
    remembered = tokenizer.cache_info()
    for value in {"padding_side": ["left", "right"], "model_max_length": [64, 512]}.get(
        setting, [True, False]
    ):
        setattr(tokenizer, setting, value)
        assert tokenizer.cache_info() == remembered


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_looked_at_anew(make, kind, name, elsewhere):
    """A text that is remembered costs as many calls of functions as it does when nothing has
    happened.
    """
    tokenizer, other, call = make(kind), make(kind), CALLS[name]
    for text in TEXTS:
        call(tokenizer, text)
    other.encode("c c zz")
    for text in TEXTS:
        call(tokenizer, text)
        undisturbed = calls_made(lambda text=text: call(tokenizer, text))
        ELSEWHERE[elsewhere](other)
        assert calls_made(lambda text=text: call(tokenizer, text)) == undisturbed
