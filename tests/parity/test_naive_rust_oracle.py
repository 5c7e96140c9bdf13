"""The plain Rust profile in tests/reference and the Rust tokenizers side by side: tokens, spans,
words, rows.

TRIETOK_CODE_POINTS=all looks at every code point instead of one in five hundred or so.
TRIETOK_MODELS and TRIETOK_CORPORA name directories with a folder for each model and a text file for
each corpus, for the tests marked `parity`.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import random
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from tests.conftest import examples  # noqa: E402
from tests.parity.conftest import NASTY, directory_of, texts  # noqa: E402
from tests.reference.naive_rust_bert import AddedToken, NaiveRustBert, RustPanics  # noqa: E402
from tests.reference.naive_rust_encoding import (  # noqa: E402
    CannotTruncate,
    Encoding,
    NaiveRustEncoder,
)
from trietok.text import characters  # noqa: E402

OPTIONS = {
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
MODELS = [
    "bert-base-uncased",
    "bert-base-cased",
    "bert-base-multilingual-cased",
    "bert-base-chinese",
]
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
STRIDE = 1 if os.environ.get("TRIETOK_CODE_POINTS") == "all" else 499


@functools.cache
def saved(directory: pathlib.Path) -> str:
    """The tokenizer.json of a directory; made by transformers where there is none."""
    file = directory / "tokenizer.json"
    if file.exists():
        return file.read_text(encoding="utf-8")
    return transformers.BertTokenizerFast(str(directory / "vocab.txt")).backend_tokenizer.to_str()


def made(directory: pathlib.Path, **options: Any) -> tuple[Any, NaiveRustEncoder]:
    """Rust's tokenizer and the plain one, with the same options of the normalizer."""
    rust = tokenizers.Tokenizer.from_str(saved(directory))
    state = json.loads(rust.to_str())
    options = {name: state["normalizer"][name] for name in OPTIONS} | options
    rust.normalizer = tokenizers.normalizers.BertNormalizer(**options)
    plain = NaiveRustBert(state["model"]["vocab"], **options)
    plain.add_tokens(
        [
            AddedToken(**{k: v for k, v in token.items() if k != "id"})
            for token in state["added_tokens"]
        ]
    )
    return rust, NaiveRustEncoder(plain)


@functools.cache
def remembered(vocabulary: str, *options: Any) -> tuple[Any, NaiveRustEncoder]:
    return made(directory_of(vocabulary), **dict(zip(OPTIONS, options, strict=True)))


def options() -> st.SearchStrategy[tuple[Any, ...]]:
    flag = st.booleans()
    return st.tuples(flag, flag, st.sampled_from([None, True, False]), flag)


def valid(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def assert_same_tokens(rust: Any, plain: NaiveRustEncoder, text: str) -> None:
    found = rust.encode(text, add_special_tokens=False)
    want = list(zip(found.ids, found.tokens, found.offsets, found.word_ids, strict=True))
    got = [
        (token.token_id, token.token, token.span, token.word)
        for token in plain.bert.encode_text(text)
    ]
    assert got == want, text


# ---- texts ---------------------------------------------------------------------------------------


@examples(90)
@given(st.sampled_from(["uncased", "cased", "built-in"]), options(), texts().filter(valid))
def test_texts(vocabulary, chosen, text):
    assert_same_tokens(*remembered(vocabulary, *chosen), text)


# What decomposition reorders, and what it would if Rust knew a newer Unicode.
MARKS = [
    *"\u0301\u0323\u0334\u0345\u0344\u0f71\u0f73\u0f81\u302a\u302e\u302f\u3099\u1dfa\u08d4\u0898\u1734\u1b44"
]
MARKS += [
    *"\U0001d165\U0001d16d\U00011938\U00011935\U00011930\U0001e944\u05b0\u05bf",
    "ǖ",
    "ṩ",
    "각",
    "ᄀ",
    "\u1161",
    "a",
]


@examples(150)
@given(
    options(),
    st.lists(st.one_of(st.sampled_from(MARKS), st.sampled_from(NASTY)), max_size=9).map("".join),
)
def test_marks_in_disorder(chosen, text):
    if valid(text):
        assert_same_tokens(*remembered("cased", *chosen), text)


@pytest.mark.parametrize("strip_accents", [True, False])
@pytest.mark.parametrize("vocabulary", ["uncased", "cased"])
def test_code_points(vocabulary, strip_accents):
    rust, plain = remembered(vocabulary, True, True, strip_accents, vocabulary == "uncased")
    first = random.Random(vocabulary).randrange(STRIDE)
    for code in range(first, 0x110000, STRIDE):
        if not 0xD800 <= code <= 0xDFFF:
            for text in (chr(code), chr(code) * 2, f"ab{chr(code)}c"):
                assert_same_tokens(rust, plain, text)


# ---- added tokens --------------------------------------------------------------------------------

CONTENTS = [
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
    "[CLS]",
]
CONTENTS += ["abc", "bc", "İ", "ab c", "\t", "!", "Σ", "한", "<a>", "<a", "İ!", "\u00a0", "[MASK]"]


@st.composite
def added(draw: st.DrawFn) -> tuple[list[dict[str, Any]], bool]:
    flags = {
        name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized", "special")
    }
    token = st.fixed_dictionaries({"content": st.sampled_from(CONTENTS), **flags})
    return draw(st.lists(token, max_size=6)), draw(st.booleans())


@examples(70)
@given(
    options(),
    st.lists(added(), max_size=3),
    st.booleans(),
    st.lists(texts(CONTENTS).filter(valid), max_size=4),
)
def test_added_tokens(chosen, calls, as_text, several):
    rust, plain = made(directory_of("cased"), **dict(zip(OPTIONS, chosen, strict=True)))
    rust.encode_special_tokens = plain.bert.encode_special_tokens = as_text
    for fields, special in calls:
        (rust.add_special_tokens if special else rust.add_tokens)(
            [tokenizers.AddedToken(**f) for f in fields]
        )
        plain.bert.add_tokens(
            [AddedToken(**f | ({"special": True} if special else {})) for f in fields]
        )
    for token_id, token in rust.get_added_tokens_decoder().items():
        assert plain.bert.added.by_id[token_id] == AddedToken(
            token.content,
            token.single_word,
            token.lstrip,
            token.rstrip,
            token.normalized,
            token.special,
        )
    for text in several:
        try:
            plain.bert.encode_text(text)
        except RustPanics:
            continue
        assert_same_tokens(rust, plain, text)


# ---- rows ----------------------------------------------------------------------------------------

WORDS = [
    "hello",
    "world",
    "unaffable",
    "世界",
    "[MASK]",
    ",",
    "the",
    "a",
    "İx",
    "e\u0301",
    "zzqj",
    "\u200b",
    "[SEP]",
    "",
]


def inputs() -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from(WORDS), max_size=9)


def assert_same_encodings(found: Any, plain: Encoding) -> None:
    for column in [*COLUMNS, "n_sequences"]:
        assert getattr(plain, column) == getattr(found, column), column
    numbers = range(len(plain.rows) + 2)
    for sequence in range(3):
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
            ask, want = getattr(plain, name), getattr(found, name)
            assert [ask(i, sequence) for i in numbers] == [want(i, sequence) for i in numbers], (
                name,
                sequence,
            )
    for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
        assert [getattr(plain, name)(i) for i in numbers] == [
            getattr(found, name)(i) for i in numbers
        ], name


@st.composite
def truncations(draw: st.DrawFn) -> dict[str, Any]:
    strategy = draw(st.sampled_from(["longest_first", "only_first", "only_second"]))
    side = draw(st.sampled_from(["left", "right"]))
    return {
        "max_length": draw(st.integers(0, 14)),
        "strategy": strategy,
        "stride": draw(st.integers(0, 3)),
        "side": side,
    }


@st.composite
def paddings(draw: st.DrawFn) -> dict[str, Any]:
    length, multiple = draw(st.sampled_from([None, 3, 9, 16])), draw(st.sampled_from([None, 4]))
    return {
        "length": length,
        "multiple": multiple,
        "side": draw(st.sampled_from(["left", "right"])),
    }


@examples(150)
@given(
    st.lists(st.tuples(inputs(), st.none() | inputs()), min_size=1, max_size=3),
    st.sampled_from(["words", " ", ""]),
    st.booleans(),
    st.none() | truncations(),
    st.none() | paddings(),
)
def test_encodings(batch, glue, with_special, truncation, padding):
    rust, plain = remembered("uncased", *OPTIONS.values())
    if glue != "words":
        batch = [
            (glue.join(text), None if pair is None else glue.join(pair)) for text, pair in batch
        ]
    rust.no_truncation()
    rust.no_padding()
    try:
        if truncation is not None:
            rust.enable_truncation(
                **{"direction" if k == "side" else k: v for k, v in truncation.items()}
            )
        if padding is not None:
            names = {"side": "direction", "multiple": "pad_to_multiple_of"}
            rust.enable_padding(**{names.get(k, k): v for k, v in padding.items()})
        given_texts = [text if pair is None else (text, pair) for text, pair in batch]
        found = rust.encode_batch(
            given_texts, is_pretokenized=glue == "words", add_special_tokens=with_special
        )
    except BaseException as error:
        if type(error).__name__ not in ("Exception", "ValueError", "PanicException"):
            raise
        found = None
    try:
        got = [
            plain.encode(text, pair, add_special_tokens=with_special, **truncation or {})
            for text, pair in batch
        ]
    except CannotTruncate:
        assert found is None
        return
    assert found is not None
    if padding is not None:
        plain.pad_batch(got, **padding)
    for want, encoding in zip(found, got, strict=True):
        assert_same_encodings(want, encoding)
        assert len(want.overflowing) == len(encoding.overflowing)
        for want_part, part in zip(want.overflowing, encoding.overflowing, strict=True):
            assert_same_encodings(want_part, part)


@functools.cache
def wrapped() -> Any:
    return transformers.BertTokenizerFast(str(directory_of("uncased") / "vocab.txt"))


@examples(60)
@given(
    st.lists(st.tuples(inputs().map(" ".join), inputs().map(" ".join)), min_size=1, max_size=3),
    st.booleans(),
    truncations(),
    st.none() | paddings(),
    st.booleans(),
)
def test_calls(batch, pairs, truncation, padding, overflow):
    hf, (_, plain) = wrapped(), remembered("uncased", *OPTIONS.values())
    hf.truncation_side = truncation["side"]
    if padding and padding["multiple"]:  # transformers asks for it
        truncation["max_length"] -= truncation["max_length"] % padding["multiple"]
    length = truncation["max_length"]
    padding = padding and padding | {"length": None if padding["length"] is None else length}
    try:
        columns, encodings = plain.call(
            [(text, pair if pairs else None) for text, pair in batch],
            padding=padding,
            overflow=overflow,
            **truncation,
        )
    except CannotTruncate:
        return
    asked = ("token_type_ids", "attention_mask", "special_tokens_mask", "offsets_mapping", "length")
    result = hf(
        [text for text, _ in batch],
        [pair for _, pair in batch] if pairs else None,
        truncation=truncation["strategy"],
        max_length=length,
        stride=truncation["stride"],
        padding=(
            False if padding is None else "longest" if padding["length"] is None else "max_length"
        ),
        pad_to_multiple_of=padding and padding["multiple"],
        padding_side=padding and padding["side"],
        return_overflowing_tokens=overflow,
        **{f"return_{name}": True for name in asked},
    )
    assert list(result) == list(columns)
    assert dict(result) == columns
    for want, encoding in zip(result.encodings, encodings, strict=True):
        assert_same_encodings(want, encoding)


# ---- published models, real text -----------------------------------------------------------------


def directory_named(variable: str) -> pathlib.Path:
    if variable not in os.environ:
        pytest.skip(f"{variable} names no directory")
    return pathlib.Path(os.environ[variable])


@pytest.mark.parity
@pytest.mark.parametrize("model", MODELS)
def test_corpora(model):
    rust, plain = made(directory_named("TRIETOK_MODELS") / model)
    for file in sorted(directory_named("TRIETOK_CORPORA").glob("*.txt")):
        lines = file.read_bytes().decode().split("\n")
        for line in random.Random(f"{model} {file.name}").sample(lines, min(400, len(lines))):
            assert_same_tokens(rust, plain, line)


@pytest.mark.parity
def test_the_file_of_ranges_is_what_is_derived(monkeypatch):
    """For a part of all characters; `python tests/parity/derive_rust_ranges.py --check` asks for
    all of them.
    """
    from tests.parity import derive_rust_ranges as derived

    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    sample = random.Random(seed).sample(derived.CHARACTERS, 100_000)
    # with the parts of each
    chars = sorted({" ", *sample, *unicodedata.normalize("NFD", "".join(sample))})
    monkeypatch.setattr(derived, "CHARACTERS", chars)
    for name, its_chars in derived.classes().items():
        assert its_chars == {char for char in chars if characters.is_in(name, char)}, name
    upper = {
        char: characters.lower_case()[ord(char)]
        for char in chars
        if ord(char) in characters.lower_case()
    }
    assert {char: low for char, low in upper.items() if char != "\u0130"} == derived.lower_case()
