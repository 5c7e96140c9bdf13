"""A basic tokenizer whose steps a subclass overrides: trietok's and transformers' make the same ids
of it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.bert import tokenization_bert as theirs_of_bert

import trietok

from .conftest import assert_same, texts, tokenizers

# What an override makes of the argument, and of the original's result.
OVERRIDES = {
    "_clean_text": (lambda text: text.replace("a", "\t"), lambda text: text.replace("b", "\u00a0")),
    "_tokenize_chinese_chars": (lambda text: text, lambda text: text.replace("b", " b ")),
    "_is_chinese_char": (lambda cp: cp, lambda is_chinese: not is_chinese),
    "_run_strip_accents": (lambda text: text[:5], lambda text: f"{text} {text[::-1]}"),
    "_run_split_on_punc": (lambda text: text, lambda words: words[::-1]),
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"do_lower_case": False, "strip_accents": True},
    {"tokenize_chinese_chars": False, "never_split": ["Hello", "a.b", "unaffable"]},
    {"do_split_on_punc": False, "strip_accents": False},
]


def overriding(base: Any, names: frozenset[str]) -> Any:
    """A subclass that overrides these steps, and calls those of the base."""

    def of(name: str) -> Any:
        first, last = OVERRIDES[name]

        def step(self: Any, value: Any, *rest: Any) -> Any:
            return last(getattr(base, name)(self, first(value), *rest))

        return step

    return type("Own", (base,), {name: of(name) for name in names})


@given(
    names=st.frozensets(st.sampled_from(sorted(OVERRIDES)), min_size=1),
    vocabulary=st.sampled_from(["uncased", "cased"]),
    options=st.sampled_from(OPTIONS),
    text=texts(),
)
def test_overridden_steps_give_the_same_ids(
    names: frozenset[str], vocabulary: str, options: Any, text: str
) -> None:
    theirs, ours = tokenizers(vocabulary)
    theirs.basic_tokenizer = overriding(theirs_of_bert.BasicTokenizer, names)(**options)
    ours.basic_tokenizer = overriding(trietok.BasicTokenizer, names)(**options)
    assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text))
    assert_same(lambda: theirs.encode(text), lambda: ours.encode(text))
    assert_same(lambda: dict(theirs([text, "a b"])), lambda: dict(ours([text, "a b"])))


@pytest.mark.parametrize("name", OVERRIDES)
@given(text=texts())
def test_each_step_alone_gives_the_same(name: str, text: str) -> None:
    theirs, ours = (
        theirs_of_bert.BasicTokenizer(never_split=["a.b"]),
        trietok.BasicTokenizer(never_split=["a.b"]),
    )
    if name == "_is_chinese_char":
        assert all(
            ours._is_chinese_char(ord(char)) == theirs._is_chinese_char(ord(char)) for char in text
        )
    else:
        assert getattr(ours, name)(text) == getattr(theirs, name)(text)
