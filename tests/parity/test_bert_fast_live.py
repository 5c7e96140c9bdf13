"""`BertTokenizerFast` and transformers' class of that name side by side: tokens, spans, added
tokens; and the ranges of characters of the Rust library.

TRIETOK_MODELS and TRIETOK_CORPORA name directories with a folder for each model and a text file for
each corpus, for the tests marked `parity`.
"""

from __future__ import annotations

import functools
import random
import re
import unicodedata
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples, often
from tests.parity import derive_rust_ranges as derived
from tests.parity.conftest import NASTY, directory_named, directory_of, texts, valid
from trietok.text import characters

MODELS = [
    "bert-base-uncased",
    "bert-base-cased",
    "bert-base-multilingual-cased",
    "bert-base-chinese",
]


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
    rust, options = theirs.backend_tokenizer, {"add_special_tokens": False}
    for source in (text, text, re.split("[,a]", text)):  # worked out, remembered, as words
        split = source is not text
        want = rust.encode(source, is_pretokenized=split, **options)
        assert ours.encode(source, is_split_into_words=split, **options) == want.ids, source
        got = ours(source, is_split_into_words=split, return_offsets_mapping=True, **options)
        found = (got.input_ids, got.tokens(), got.offset_mapping, got.word_ids())
        assert found == (want.ids, want.tokens, want.offsets, want.word_ids), source
    assert ours.tokenize(text) == rust.encode(text, **options).tokens, text


# ---- texts ---------------------------------------------------------------------------------------


@examples(90)
@given(st.sampled_from(["uncased", "cased", "built-in"]), normalizers(), texts().filter(valid))
def test_texts(vocabulary, chosen, text):
    assert_same_tokens(*remembered(vocabulary, *chosen), text)


# What decomposition reorders, and what it would if Rust knew a newer Unicode.
MARKS = [
    *"\u0301\u0323\u0334\u0345\u0344\u0f71\u0f73\u0f81\u302a\u302e\u302f\u3099\u1dfa\u08d4\u0898",
    *"\u1734\u1b44\U0001d165\U0001d16d\U00011938\U00011935\U00011930\U0001e944\u05b0\u05bf",
    *("ǖ", "ṩ", "각", "ᄀ", "\u1161", "a"),
]


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
    stride = often(499, nightly=11)
    for code in range(random.randrange(stride), 0x110000, stride):
        if not 0xD800 <= code <= 0xDFFF:
            for text in (f"ab{chr(code)}c", f"世{chr(code)}、x {chr(code)}"):
                assert_same_tokens(theirs, ours, text)


# ---- added tokens --------------------------------------------------------------------------------

CONTENTS = [
    *(
        "a",
        "ab",
        " b",
        "b ",
        "New York",
        "世",
        "世界",
        "É",
        "e\u0301",
        "x",
        "  ",
        "\n",
        "##b",
        "[cls]",
    ),
    *(
        "[CLS]",
        "abc",
        "bc",
        "İ",
        "ab c",
        "\t",
        *"! Σ 한 <a> <a İ!".split(),
        "\u00a0",
        "[MASK]",
    ),
]


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


# ---- published models, real text -----------------------------------------------------------------


@pytest.mark.parity
@pytest.mark.parametrize("model", MODELS)
def test_corpora(model):
    directory = directory_named("TRIETOK_MODELS") / model
    theirs = transformers.BertTokenizerFast.from_pretrained(directory)
    ours = trietok.BertTokenizerFast.from_pretrained(directory)
    for file in sorted(directory_named("TRIETOK_CORPORA").glob("*.txt")):
        lines = file.read_bytes().decode().split("\n")
        for line in random.sample(lines, min(400, len(lines))):
            assert_same_tokens(theirs, ours, line)


@pytest.mark.parity
def test_the_file_of_ranges_is_what_is_derived(monkeypatch):
    """For a part of all characters; `python tests/parity/derive_rust_ranges.py --check` asks for
    all of them.
    """
    seed = random.randrange(10**6)
    sample = random.Random(seed).sample(derived.CHARACTERS, 100_000)
    # with the parts of each
    chars = sorted({" ", *sample, *unicodedata.normalize("NFD", "".join(sample))})
    monkeypatch.setattr(derived, "CHARACTERS", chars)
    for name, its_chars in derived.classes().items():
        assert its_chars == {char for char in chars if characters.is_in(name, char)}, (seed, name)
    upper = {
        char: characters.lower_case()[ord(char)]
        for char in chars
        if ord(char) in characters.lower_case()
    }
    assert {char: low for char, low in upper.items() if char != "\u0130"} == derived.lower_case(), (
        seed
    )
