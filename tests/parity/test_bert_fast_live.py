"""`BertTokenizerFast` and transformers' class of that name side by side: tokens, spans, calls with
every option.

TRIETOK_CODE_POINTS=all looks at every code point instead of one in five hundred or so.
TRIETOK_MODELS and TRIETOK_CORPORA name directories with a folder for each model and a text file for
each corpus, for the tests marked `parity`.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

transformers = pytest.importorskip("transformers")

import trietok  # noqa: E402
from tests.conftest import examples  # noqa: E402
from tests.parity.conftest import directory_of, texts  # noqa: E402
from tests.parity.test_naive_rust_oracle import (  # noqa: E402
    CONTENTS,
    MARKS,
    MODELS,
    NASTY,
    STRIDE,
    directory_named,
    valid,
)

COLUMNS = [
    "ids",
    "tokens",
    "offsets",
    "word_ids",
    "type_ids",
    "special_tokens_mask",
    "attention_mask",
    "sequence_ids",
]
RUST_ERRORS = (
    "Exception",
    "ValueError",
    "PanicException",
    "TypeError",
    "OverflowError",
    "IndexError",
)


def both(vocabulary: str, **options: Any) -> tuple[Any, Any]:
    file = str(directory_of(vocabulary) / "vocab.txt")
    return transformers.BertTokenizerFast(file, **options), trietok.BertTokenizerFast(
        file, **options
    )


@functools.cache
def remembered(
    vocabulary: str, lower: bool, chinese: bool, accents: bool | None
) -> tuple[Any, Any]:
    return both(
        vocabulary, do_lower_case=lower, tokenize_chinese_chars=chinese, strip_accents=accents
    )


def normalizers() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.booleans(), st.booleans(), st.sampled_from([None, True, False]))


def assert_same_tokens(theirs: Any, ours: Any, text: str) -> None:
    want = theirs.backend_tokenizer.encode(text, add_special_tokens=False)
    located = ours.text_encoder.locate(text)
    assert located == (want.ids, want.tokens, want.offsets, want.word_ids), text
    assert ours.text_encoder.ids(text) == want.ids, text
    assert ours.text_encoder.spans(text) == want.offsets, text
    assert ours.tokenize(text) == want.tokens, text


# ---- texts ---------------------------------------------------------------------------------------


@examples(90)
@given(st.sampled_from(["uncased", "cased", "built-in"]), normalizers(), texts().filter(valid))
def test_texts(vocabulary, chosen, text):
    assert_same_tokens(*remembered(vocabulary, *chosen), text)


@examples(90)
@given(
    normalizers(),
    st.lists(st.one_of(st.sampled_from(MARKS), st.sampled_from(NASTY)), max_size=9).map("".join),
)
def test_marks_in_disorder(chosen, text):
    if valid(text):
        assert_same_tokens(*remembered("cased", *chosen), text)


@pytest.mark.parametrize(
    ("vocabulary", "accents"), [("uncased", None), ("cased", None), ("cased", True)]
)
def test_code_points(vocabulary, accents):
    theirs, ours = remembered(vocabulary, vocabulary == "uncased", True, accents)
    first = random.Random(f"{vocabulary} {accents}").randrange(STRIDE)
    for code in range(first, 0x110000, STRIDE):
        if not 0xD800 <= code <= 0xDFFF:
            for text in (f"ab{chr(code)}c", f"世{chr(code)}、x {chr(code)}"):
                assert_same_tokens(theirs, ours, text)


# ---- added tokens --------------------------------------------------------------------------------


@st.composite
def added(draw: st.DrawFn) -> tuple[list[dict[str, Any]], bool]:
    flags = {name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "special")}
    flags["normalized"] = st.sampled_from([None, True, False])
    token = st.fixed_dictionaries({"content": st.sampled_from(CONTENTS), **flags})
    tokens = draw(st.lists(token, max_size=6))
    return [{k: v for k, v in token.items() if v is not None} for token in tokens], draw(
        st.booleans()
    )


@examples(60)
@given(
    normalizers(),
    st.lists(added(), max_size=3),
    st.booleans(),
    st.lists(texts(CONTENTS).filter(valid), max_size=4),
)
def test_added_tokens(chosen, calls, as_text, several):
    lower, chinese, accents = chosen
    theirs, ours = both(
        "cased", do_lower_case=lower, tokenize_chinese_chars=chinese, strip_accents=accents
    )
    for fields, special in calls:
        want = theirs.add_tokens(
            [transformers.AddedToken(**f) for f in fields], special_tokens=special
        )
        assert (
            ours.add_tokens([trietok.AddedToken(**f) for f in fields], special_tokens=special)
            == want
        )
    assert {i: str(t) for i, t in theirs.added_tokens_decoder.items()} == {
        i: str(t) for i, t in ours.added_tokens_decoder.items()
    }
    for token_id, token in theirs.added_tokens_decoder.items():
        for flag in ("single_word", "lstrip", "rstrip", "normalized", "special"):
            assert getattr(ours.added_tokens_decoder[token_id], flag) == getattr(token, flag), (
                token,
                flag,
            )
    assert len(ours) == len(theirs)
    for text in several:
        try:
            want = theirs(text, split_special_tokens=as_text, return_offsets_mapping=True)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            continue
        got = ours(text, split_special_tokens=as_text, return_offsets_mapping=True)
        assert dict(got) == dict(want)
        assert got.tokens() == want.tokens()
        assert ours.decode(got.input_ids) == theirs.decode(got.input_ids)
        assert ours.decode(got.input_ids, skip_special_tokens=True) == theirs.decode(
            got.input_ids, skip_special_tokens=True
        )


# ---- calls ---------------------------------------------------------------------------------------


def assert_same_encodings(want: Any, got: Any) -> None:
    for column in [*COLUMNS, "n_sequences"]:
        assert getattr(got, column) == getattr(want, column), column
    numbers = range(len(want.ids) + 2)
    for sequence in range(2 + (want.n_sequences == 2)):
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
            theirs, ours = getattr(want, name), getattr(got, name)
            assert [ours(i, sequence) for i in numbers] == [theirs(i, sequence) for i in numbers], (
                name,
                sequence,
            )
    for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
        assert [getattr(got, name)(i) for i in numbers] == [
            getattr(want, name)(i) for i in numbers
        ], name


def plain(value: Any) -> Any:
    """Arrays as lists, at any depth: rows of different lengths are an array of arrays."""
    value = getattr(value, "tolist", lambda: value)()
    return [*map(plain, value)] if isinstance(value, list) else value


# ---- published models, real text -----------------------------------------------------------------


@pytest.mark.parity
@pytest.mark.parametrize("model", MODELS)
def test_corpora(model):
    directory = directory_named("TRIETOK_MODELS") / model
    theirs = transformers.BertTokenizerFast.from_pretrained(directory)
    ours = trietok.BertTokenizerFast.from_pretrained(directory)
    for file in sorted(directory_named("TRIETOK_CORPORA").glob("*.txt")):
        lines = file.read_bytes().decode().split("\n")
        for line in random.Random(f"{model} {file.name}").sample(lines, min(400, len(lines))):
            assert_same_tokens(theirs, ours, line)
