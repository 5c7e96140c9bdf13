"""BERT's stages: trietok's basic tokenizer and transformers', and what a subclass overrides in it,
make the same ids; so do the subword tokenizers.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.bert import tokenization_bert as theirs_of_bert

import trietok
from tests.conftest import examples
from tests.parity.comparing import assert_same
from tests.parity.programs import tokenizers
from tests.strategies import BOOL, NEVER_SPLIT, OPTIONAL_BOOL, some_of, texts

# What an override makes of the argument, and of the original's result.
OVERRIDES = {
    "_clean_text": (lambda text: text.replace("a", "\t"), lambda text: text.replace("b", "\u00a0")),
    "_tokenize_chinese_chars": (lambda text: text, lambda text: text.replace("b", " b ")),
    "_is_chinese_char": (lambda cp: cp, lambda is_chinese: not is_chinese),
    "_run_strip_accents": (lambda text: text[:5], lambda text: f"{text} {text[::-1]}"),
    "_run_split_on_punc": (lambda text: text, lambda words: words[::-1]),
}
OPTIONS = some_of(
    do_lower_case=BOOL,
    tokenize_chinese_chars=BOOL,
    strip_accents=OPTIONAL_BOOL,
    do_split_on_punc=BOOL,
    never_split=([], ["Hello", "a.b", "unaffable"], ["世", "É"]),
)


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
    options=OPTIONS,
    text=texts(),
)
def test_overridden_steps_give_the_same_ids(
    names: frozenset[str], vocabulary: str, options: Any, text: str
) -> None:
    theirs, ours = tokenizers("BertTokenizer", vocabulary)
    theirs.basic_tokenizer = overriding(theirs_of_bert.BasicTokenizer, names)(**options)
    ours.basic_tokenizer = overriding(trietok.BasicTokenizer, names)(**options)
    assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text))
    assert_same(lambda: theirs.encode(text), lambda: ours.encode(text))
    assert_same(lambda: dict(theirs([text, "a b"])), lambda: dict(ours([text, "a b"])))


@pytest.mark.parametrize("name", OVERRIDES)
@given(text=texts())
def test_each_step_alone_gives_the_same(name: str, text: str) -> None:
    theirs = getattr(theirs_of_bert.BasicTokenizer(never_split=["a.b"]), name)
    ours = getattr(trietok.BasicTokenizer(never_split=["a.b"]), name)
    for value in map(ord, text) if name == "_is_chinese_char" else [text]:
        assert ours(value) == theirs(value)


@examples(40)
@given(OPTIONS, st.lists(st.sampled_from(NEVER_SPLIT), max_size=3), texts(["a!b", "Ph.D."]))
def test_the_basic_and_the_wordpiece_tokenizer_give_the_same(
    options: dict[str, Any], never_split: list[str], text: str
) -> None:
    options |= {"never_split": never_split}
    want = theirs_of_bert.BasicTokenizer(**options).tokenize(text, never_split=["a!b"])
    assert trietok.BasicTokenizer(**options).tokenize(text, never_split=["a!b"]) == want
    vocab = tokenizers("BertTokenizer", "odd")[0].vocab
    for longest in (100, 5):
        want = theirs_of_bert.WordpieceTokenizer(vocab, "[UNK]", longest).tokenize(text)
        assert trietok.WordpieceTokenizer(vocab, "[UNK]", longest).tokenize(text) == want
