"""A method that is replaced counts from the next call on, as in transformers, and no longer when
that is undone.

Users replace methods in notebooks and tests, mostly after they have called the tokenizer: on its
class, on a subclass of their own, on the tokenizer itself, or on the classes of its stages. Each
replacement is done to transformers' class and to trietok's at the same time, and the results are
held side by side before, during and after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

import trietok
from trietok import InputError, NotSupportedError

transformers = pytest.importorskip("transformers")

SLOW, FAST = "BertTokenizer", "BertTokenizerFast"
TEXT = "a ab c, [MASK] zz"
PAIR = "b abc"
CUT = {"truncation": "only_first", "max_length": 9, "padding": "max_length"}

CALLS: dict[str, Callable[[Any], Any]] = {
    "tokenize": lambda t: t.tokenize(TEXT),
    "encode": lambda t: t.encode(TEXT),
    "encode, without special tokens": lambda t: t.encode(TEXT, add_special_tokens=False),
    "encode a pair": lambda t: t.encode(TEXT, PAIR),
    "a call": lambda t: t(TEXT),
    "a call with a mask": lambda t: t(TEXT, return_special_tokens_mask=True),
    "a call, padded": lambda t: t(PAIR, **CUT),
    "a call, cut": lambda t: t(f"{TEXT} {TEXT}", **CUT),
    "a call with a pair": lambda t: t(TEXT, PAIR, return_special_tokens_mask=True),
    "a call with words": lambda t: t(TEXT.split(), is_split_into_words=True),
    "a batch": lambda t: t([TEXT, PAIR]),
    "a batch, padded": lambda t: t([TEXT, PAIR], padding=True, return_special_tokens_mask=True),
    "a batch of pairs": lambda t: t([(TEXT, PAIR), (PAIR, TEXT)], padding=True),
    "encode_plus": lambda t: t.encode_plus(TEXT),
    "batch_encode_plus": lambda t: t.batch_encode_plus([TEXT, PAIR]),
    "ids of tokens": lambda t: t.convert_tokens_to_ids(["a", "zz", "[SEP]"]),
    "decode": lambda t: t.decode([2, 5, 9, 7, 3]),
}


def results(tokenizer: Any) -> dict[str, Any]:
    """What every call gives; an error counts as a result."""
    given: dict[str, Any] = {}
    for name, call in CALLS.items():
        try:
            result = call(tokenizer)
        except Exception:
            result = "an error"
        given[name] = dict(result) if hasattr(result, "keys") else result
    return given


def backwards(encoding: Any) -> Any:
    encoding["input_ids"] = encoding["input_ids"][::-1]
    return encoding


def marked(encoding: Any) -> Any:
    encoding["marked"] = [1] * len(encoding["input_ids"])
    return encoding


# Method → what a replacement makes of the original's result.
OF_ALL: dict[str, Callable[[Any], Any]] = {
    "tokenize": lambda tokens: tokens[:1],
    "convert_tokens_to_ids": lambda ids: (
        [7 if i == 5 else i for i in ids] if isinstance(ids, list) else ids
    ),
    "build_inputs_with_special_tokens": lambda ids: [*ids, 4],
    "create_token_type_ids_from_sequences": lambda types: [1 - t for t in types],
    "get_special_tokens_mask": lambda mask: [1 - m for m in mask],
    "num_special_tokens_to_add": lambda count: count + 1,
    "truncate_sequences": lambda kept: (kept[0][:1], *kept[1:]),
    "pad": marked,
    "prepare_for_model": backwards,
    "encode_plus": backwards,
    "batch_encode_plus": backwards,
}
OF_THE_SLOW_CLASS: dict[str, Callable[[Any], Any]] = {
    "_tokenize": lambda tokens: tokens[::-1],
    "prepare_for_tokenization": lambda text_and_options: (
        f"b {text_and_options[0]}",
        text_and_options[1],
    ),
    "_convert_token_to_id": lambda token_id: 7 if token_id == 5 else token_id,
    "_convert_id_to_token": lambda token: token.upper(),
    "convert_tokens_to_string": lambda text: text.upper(),
}
REPLACED = OF_ALL | OF_THE_SLOW_CLASS
PLACES = ("class", "subclass", "tokenizer", "base class")
STAGES = ("BasicTokenizer", "WordpieceTokenizer")


def changed(original: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A replacement for a method, of a class or of one object."""

    def replacement(*args: Any, **kwargs: Any) -> Any:
        return change(original(*args, **kwargs))

    return replacement


def replacing(owner: Any, method: str, change: Callable[[Any], Any]) -> Any:
    """The method of a class or an object replaced, for as long as a block lasts."""
    return mock.patch.object(owner, method, changed(getattr(owner, method), change))


def owner_in(tokenizer: Any, place: str) -> Any:
    """Where a method is replaced."""
    if place == "base class":
        return (
            trietok if isinstance(tokenizer, trietok.PreTrainedTokenizer) else transformers
        ).PreTrainedTokenizer
    return tokenizer if place == "tokenizer" else type(tokenizer)


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of one of the two libraries, of a class of that name or a
    subclass of it.
    """
    path = str(vocab_file("a", "b", "c", "##b", "##c", ",", "ab", "zz"))

    def of(library: Any, kind: str = SLOW, place: str = "class") -> Any:
        cls = getattr(library, kind)
        return (type("Mine", (cls,), {}) if place == "subclass" else cls)(path)

    return of


@pytest.fixture
def both(make):
    """trietok's slow tokenizer and transformers', and what they give, both of them, before anything
    is replaced.
    """
    ours, theirs = make(trietok), make(transformers)
    before = results(ours)
    assert before == results(theirs)
    return ours, theirs, before


# ---- methods of the tokenizer --------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", REPLACED)
def test_a_replaced_method_counts_at_once(make, method, place):
    ours, theirs = make(trietok, SLOW, place), make(transformers, SLOW, place)
    before = results(ours)
    assert before == results(theirs)
    change = REPLACED[method]
    with (
        replacing(owner_in(ours, place), method, change),
        replacing(owner_in(theirs, place), method, change),
    ):
        assert results(ours) == results(theirs)
    assert results(ours) == before


@pytest.mark.parametrize("place", PLACES[:3])
@pytest.mark.parametrize("method", OF_ALL)
def test_a_replaced_method_of_the_fast_class_counts_where_it_does_in_transformers(
    make, method, place
):
    ours, theirs = make(trietok, FAST, place), make(transformers, FAST, place)
    before = results(ours)
    assert before == results(theirs)
    change = REPLACED[method]
    with (
        replacing(owner_in(ours, place), method, change),
        replacing(owner_in(theirs, place), method, change),
    ):
        assert results(ours) == results(theirs)
    assert results(ours) == before


def test_a_method_that_is_assigned_and_deleted_again(both):
    ours, theirs, before = both
    for tokenizer in (ours, theirs):
        tokenizer._tokenize = lambda text, **options: ["a", "b"]
    assert results(ours) == results(theirs) != before
    del ours._tokenize
    assert results(ours) == before


def test_a_second_replacement_takes_the_place_of_the_first(make):
    ours, theirs = make(trietok, SLOW, "subclass"), make(transformers, SLOW, "subclass")
    for tokens in (["a", "b"], ["c"], ["zz", "ab", "c"]):
        for tokenizer in (ours, theirs):
            type(tokenizer)._tokenize = lambda self, text, tokens=tokens, **options: list(tokens)
        assert results(ours) == results(theirs)


# ---- offsets -------------------------------------------------------------------------------------


def with_offsets(tokenizer: Any) -> Any:
    """Ids and offsets of one call; None where the tokenizer says that it cannot tell the
    offsets.
    """
    try:
        encoding = tokenizer(f"{TEXT} {PAIR}", return_offsets_mapping=True)
    except (NotSupportedError, InputError):
        return None
    return encoding.input_ids, encoding.offset_mapping


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", REPLACED)
def test_offsets_are_of_the_ids_they_stand_beside(make, method, place):
    """transformers' slow class has no offsets. Here they fit the ids, or it is said that there are
    none.
    """
    tokenizer = make(trietok, SLOW, place)
    before = with_offsets(tokenizer)
    with replacing(owner_in(tokenizer, place), method, REPLACED[method]):
        ids = tokenizer(f"{TEXT} {PAIR}").input_ids
        during = with_offsets(tokenizer)
        if during is not None:
            assert during[0] == ids
            assert len(during[1]) == len(ids)
    assert with_offsets(tokenizer) == before


# ---- the stages of words -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SLOW, FAST])
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_whose_class_is_patched(make, stage, kind):
    """In the fast class of transformers the stages are Rust's, so a patch of Python's changes
    nothing.
    """
    ours, theirs = make(trietok, kind), make(transformers, kind)
    before = results(ours)
    assert before == results(theirs)
    their_stage = getattr(transformers.models.bert.tokenization_bert, stage)
    change = REPLACED["_tokenize"]
    with (
        replacing(getattr(trietok, stage), "tokenize", change),
        replacing(their_stage, "tokenize", change),
    ):
        assert results(ours) == results(theirs)
        assert (results(ours) == before) == (kind == FAST)
    assert results(ours) == before


@pytest.mark.parametrize("stage", ["basic_tokenizer", "wordpiece_tokenizer"])
def test_a_stage_object_that_is_patched(both, stage):
    ours, theirs, before = both
    change = REPLACED["_tokenize"]
    with (
        replacing(getattr(ours, stage), "tokenize", change),
        replacing(getattr(theirs, stage), "tokenize", change),
    ):
        assert results(ours) == results(theirs) != before
    assert results(ours) == before


class Letters:
    """A stage of a user's own: every letter for itself."""

    never_split = ()
    do_lower_case = True

    def tokenize(self, text: str, never_split: Any = None) -> list[str]:
        return [char for char in text if char in "abc"]


@pytest.mark.parametrize("stage", ["basic_tokenizer", "wordpiece_tokenizer"])
def test_a_stage_object_that_is_put_in_place_of_another(both, stage):
    ours, theirs, before = both
    own = getattr(ours, stage)
    for tokenizer in (ours, theirs):
        setattr(tokenizer, stage, Letters())
    assert results(ours) == results(theirs) != before
    setattr(ours, stage, own)
    assert results(ours) == before


@pytest.mark.parametrize("stage", STAGES)
def test_offsets_after_a_stage_is_patched(make, stage):
    tokenizer = make(trietok)
    before = with_offsets(tokenizer)
    with replacing(getattr(trietok, stage), "tokenize", REPLACED["_tokenize"]):
        ids = tokenizer(f"{TEXT} {PAIR}").input_ids
        assert with_offsets(tokenizer) is None
    assert with_offsets(tokenizer) == before
    assert ids != before[0]
