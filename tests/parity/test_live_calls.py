"""trietok and transformers side by side: texts to tokens and ids, and what follows.

`test_live_calls_at_random` compares calls.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples

from .conftest import (
    LONG,
    WORDS,
    assert_same,
    different,
    directory_of,
    texts,
    tokenizers,
    trie_is_wrong,
)

VOCABULARY = st.sampled_from(["uncased", "cased", "odd", "without roles"])
OPTIONAL_BOOL = st.sampled_from([None, None, True, False])
BOOL = st.booleans()


# ---- texts to tokens and ids ---------------------------------------------------------------------

CONSTRUCTOR_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": BOOL,
        "do_basic_tokenize": BOOL,
        "never_split": st.lists(
            st.sampled_from(
                [
                    *WORDS,
                    "Ph.D.",
                    "c++",
                    "HELLO",
                    "É",
                    "e\u0301",
                    "ΟΔΟΣ",
                    "[cls]",
                    "[X]",
                    "İ",
                    LONG[2],
                    "a!b",
                ]
            ),
            max_size=4,
        ),
        "tokenize_chinese_chars": BOOL,
        "strip_accents": OPTIONAL_BOOL,
        "split_special_tokens": BOOL,
        "unk_token": st.sampled_from(["[UNK]", "a", "ab"]),
    },
)


@examples(70)
@given(VOCABULARY, CONSTRUCTOR_OPTIONS, texts(["Ph.D.", "c++", "a!b", "[X]", "ΟΔΟΣ", "HELLO"]))
def test_a_text_becomes_the_same_tokens_and_ids(
    vocabulary: str, options: dict[str, Any], text: str
) -> None:
    theirs, ours = tokenizers(vocabulary, **options)
    if assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text)):
        tokens = theirs.tokenize(text)
        assert_same(
            lambda: theirs.convert_tokens_to_ids(tokens), lambda: ours.convert_tokens_to_ids(tokens)
        )
    assert_same(lambda: theirs.encode(text), lambda: ours.encode(text))
    for option in (True, False):
        assert_same(
            lambda option=option: theirs.encode(text, split_special_tokens=option),
            lambda option=option: ours.encode(text, split_special_tokens=option),
        )


@functools.cache
def built_in() -> tuple[Any, Any]:
    return tokenizers("built-in")


@examples(40)
@given(
    texts(
        [
            "unbelievable",
            "Wikipedia",
            "naïve café",
            "O'Neill's",
            "3.14159",
            "2024-01-01",
            "http://a.b/c?d=e",
        ]
    )
)
def test_the_built_in_vocabulary_gives_the_same_ids(text: str) -> None:
    theirs, ours = built_in()
    assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text))
    assert_same(lambda: theirs(text), lambda: ours(text))


@examples(40)
@given(
    BOOL,
    OPTIONAL_BOOL,
    BOOL,
    BOOL,
    st.lists(st.sampled_from(WORDS), max_size=3),
    texts(["a!b", "Ph.D."]),
)
def test_the_basic_and_the_wordpiece_tokenizer_are_the_same(
    lower: bool,
    strip: bool | None,
    chinese: bool,
    punctuation: bool,
    never_split: list[str],
    text: str,
) -> None:
    from transformers.models.bert import tokenization_bert as theirs

    options = {
        "do_lower_case": lower,
        "never_split": never_split,
        "tokenize_chinese_chars": chinese,
        "strip_accents": strip,
        "do_split_on_punc": punctuation,
    }
    want = theirs.BasicTokenizer(**options).tokenize(text, never_split=["a!b"])
    assert trietok.BasicTokenizer(**options).tokenize(text, never_split=["a!b"]) == want
    vocab = tokenizers("odd")[0].vocab
    for longest in (100, 5):
        want = theirs.WordpieceTokenizer(vocab, "[UNK]", longest).tokenize(text)
        assert trietok.WordpieceTokenizer(vocab, "[UNK]", longest).tokenize(text) == want


# ---- ids to rows ---------------------------------------------------------------------------------

SOME_IDS = st.lists(st.integers(0, 30), max_size=7)


@examples(60)
@given(
    st.sampled_from(["right", "left"]),
    SOME_IDS,
    st.one_of(st.none(), SOME_IDS),
    st.integers(-1, 16),
    st.sampled_from(["longest_first", "only_first", "only_second", "no such strategy"]),
    st.integers(0, 5),
)
def test_truncate_sequences_returns_the_same(
    side: str, ids: list[int], pair_ids: list[int] | None, count: int, strategy: str, stride: int
) -> None:
    theirs, ours = tokenizers("uncased", truncation_side=side)
    if count <= 0 and strategy == "no such strategy":
        return  # transformers does not look at the strategy when there is nothing to do
    arguments = (ids, pair_ids, count, strategy, stride)
    assert_same(
        lambda: theirs.truncate_sequences(*arguments), lambda: ours.truncate_sequences(*arguments)
    )


@examples(40)
@given(
    SOME_IDS,
    st.one_of(st.none(), SOME_IDS),
    BOOL,
    st.sampled_from([None, "cls_token", "sep_token", "mask_token"]),
)
def test_the_template_is_the_same(
    ids: list[int], pair_ids: list[int] | None, done: bool, without: str | None
) -> None:
    theirs, ours = tokenizers("uncased")
    if without:
        setattr(theirs, without, None)
        setattr(ours, without, None)
    for name in (
        "build_inputs_with_special_tokens",
        "create_token_type_ids_from_sequences",
        "get_special_tokens_mask",
    ):
        assert_same(
            lambda name=name: getattr(theirs, name)(ids, pair_ids),
            lambda name=name: getattr(ours, name)(ids, pair_ids),
        )
    assert_same(
        lambda: theirs.get_special_tokens_mask(ids, pair_ids, already_has_special_tokens=done),
        lambda: ours.get_special_tokens_mask(ids, pair_ids, already_has_special_tokens=done),
    )
    for pair in (True, False):
        assert theirs.num_special_tokens_to_add(pair=pair) == ours.num_special_tokens_to_add(
            pair=pair
        )
    theirs.model_max_length = ours.model_max_length = 77
    assert theirs.max_len_single_sentence == ours.max_len_single_sentence
    assert theirs.max_len_sentences_pair == ours.max_len_sentences_pair


# ---- pad -----------------------------------------------------------------------------------------

PADDING = st.sampled_from(
    [False, False, True, "longest", "max_length", "do_not_pad", "no such padding"]
)
TRUNCATION = st.sampled_from(
    [
        None,
        None,
        True,
        False,
        "longest_first",
        "only_first",
        "only_second",
        "do_not_truncate",
        "no such truncation",
    ]
)
MAX_LENGTH = st.sampled_from([None, None, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 40])
SIDE = st.sampled_from(["right", "left"])
TOKENIZER_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "model_max_length": st.sampled_from([4, 6, 8, 16, int(1e30)]),
        "padding_side": SIDE,
        "truncation_side": SIDE,
        "model_input_names": st.sampled_from([["input_ids"], ["input_ids", "attention_mask"]]),
    },
)


def some_of(options: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Keywords: each is given or left out."""
    return st.fixed_dictionaries({}, optional=options)


@functools.cache
def made_once(module: Any, kind: str) -> Any:
    """A tokenizer of one of the two libraries, whose settings a test sets anew each time."""
    return getattr(module, kind)(str(directory_of("uncased") / "vocab.txt"))


ROW = st.integers(0, 6).flatmap(
    lambda length: st.fixed_dictionaries(
        {"input_ids": st.lists(st.integers(0, 30), min_size=length, max_size=length)},
        optional={
            key: st.lists(st.integers(0, 1), min_size=length, max_size=length)
            for key in ("token_type_ids", "attention_mask", "special_tokens_mask", "labels")
        },
    )
)


@examples(100)
@given(
    st.sampled_from(["BertTokenizer", "BertTokenizerFast"]),
    TOKENIZER_OPTIONS,
    ROW,
    st.sampled_from(["longest", "max_length", "do_not_pad"]),
    some_of(
        {
            "max_length": st.integers(0, 12),
            "pad_to_multiple_of": st.sampled_from([None, 1, 2, 4]),
            "padding_side": st.sampled_from([None, "left", "right", "no such side"]),
            "return_attention_mask": OPTIONAL_BOOL,
        }
    ),
)
def test__pad_returns_the_same(
    kind: str, settings: Any, row: Any, strategy: str, options: dict[str, Any]
) -> None:
    theirs, ours = (made_once(module, kind) for module in (transformers, trietok))
    if strategy == "max_length":
        options.setdefault("max_length", 7)
    for tokenizer in (theirs, ours):
        for name in ("padding_side", "model_input_names"):
            setattr(tokenizer, name, settings.get(name, getattr(type(tokenizer), name)))
    before = copy.deepcopy(row)
    assert_same(
        lambda: theirs._pad(copy.deepcopy(row), padding_strategy=strategy, **options),
        lambda: ours._pad(row, padding_strategy=strategy, **options),
    )
    assert row == before


@examples(100)
@given(
    st.sampled_from(["BertTokenizer", "BertTokenizerFast"]),
    st.sampled_from([8, int(1e30)]),
    some_of(
        {
            "padding": PADDING,
            "truncation": TRUNCATION,
            "max_length": MAX_LENGTH,
            "pad_to_multiple_of": st.sampled_from([None, 1, 2, 4]),
            "verbose": BOOL,
            "stride": st.integers(0, 2),
        }
    ),
)
def test_the_strategies_are_the_same(kind: str, length: int, options: dict[str, Any]) -> None:
    theirs, ours = (made_once(module, kind) for module in (transformers, trietok))
    theirs.model_max_length = ours.model_max_length = length
    assert_same(
        lambda: [str(part) for part in theirs._get_padding_truncation_strategies(**options)],
        lambda: [str(part) for part in ours._get_padding_truncation_strategies(**options)],
    )


# ---- ids to tokens to text -----------------------------------------------------------------------


DECODE_OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "skip_special_tokens": BOOL,
        "clean_up_tokenization_spaces": OPTIONAL_BOOL,
        "spaces_between_special_tokens": BOOL,
    },
)


@examples(40)
@given(st.lists(st.one_of(st.sampled_from(WORDS), texts(max_size=2)), max_size=6))
def test_tokens_become_the_same_text(tokens: list[str]) -> None:
    theirs, ours = tokenizers("uncased")
    assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
    assert ours.convert_tokens_to_ids("".join(tokens)) == theirs.convert_tokens_to_ids(
        "".join(tokens)
    )
    text = " ".join(tokens)
    assert ours.clean_up_tokenization(text) == theirs.clean_up_tokenization(text)


@examples(40)
@given(texts(), DECODE_OPTIONS)
def test_a_round_trip_gives_the_same_text(text: str, options: dict[str, Any]) -> None:
    theirs, ours = built_in()
    if trie_is_wrong(theirs, text):
        return
    want = theirs.decode(theirs.encode(text), **options)
    assert different(want, ours.decode(ours.encode(text), **options)) is None


# ---- cases that the search found -----------------------------------------------------------------


@pytest.mark.parametrize("batch", [["", "a b c"], ["a b", "", "c"]])
def test_an_empty_row_of_a_ragged_numpy_batch_has_the_same_dtype(batch: list[str]) -> None:
    theirs, ours = tokenizers("uncased")
    options = {"add_special_tokens": False, "return_tensors": "np"}
    want, got = theirs(batch, **options)["input_ids"], ours(batch, **options)["input_ids"]
    assert [row.dtype for row in got] == [row.dtype for row in want]
