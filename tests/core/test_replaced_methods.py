"""A method that a user replaces is called as in transformers: in a subclass, on one tokenizer, or on
a class before a tokenizer of it is made.

Each replacement is done to transformers' class and to trietok's at the same time, and the results
are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import transformers

import trietok
from trietok import InputError, NotSupportedError

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
    """The result of every call; of an error the built-in class, by which programs catch it."""
    given: dict[str, Any] = {}
    for name, call in CALLS.items():
        try:
            result = call(tokenizer)
        except Exception as error:
            result = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        given[name] = dict(result) if hasattr(result, "keys") else result
    return given


def backwards(encoding: Any) -> Any:
    encoding["input_ids"] = encoding["input_ids"][::-1]
    return encoding


def marked(encoding: Any) -> Any:
    encoding["marked"] = [1] * len(encoding["input_ids"])
    return encoding


# Method → what a replacement returns for the original's result.
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


@pytest.fixture
def path(vocab_file) -> str:
    return str(vocab_file("a", "b", "c", "##b", "##c", ",", "ab", "zz"))


def replaced_results(library: Any, path: str, kind: str, method: str, place: str) -> dict[str, Any]:
    """The results of a tokenizer with a replaced method."""
    cls, change = getattr(library, kind), REPLACED[method]
    if place == "subclass":
        own = type("Own", (cls,), {method: changed(getattr(cls, method), change)})
        return results(own(path))
    if place == "tokenizer":
        tokenizer = cls(path)
        with replacing(tokenizer, method, change):
            return results(tokenizer)
    with replacing(library.PreTrainedTokenizer if place == "base class" else cls, method, change):
        return results(cls(path))


@pytest.fixture
def both(path):
    """trietok's slow tokenizer and transformers', and the results of both before a replacement."""
    ours, theirs = trietok.BertTokenizer(path), transformers.BertTokenizer(path)
    before = results(ours)
    assert before == results(theirs)
    return ours, theirs, before


# ---- methods of the tokenizer --------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", REPLACED)
def test_a_replaced_method_is_called_as_in_transformers(path, method, place):
    ours, theirs = (
        replaced_results(library, path, SLOW, method, place) for library in (trietok, transformers)
    )
    assert ours == theirs
    assert results(trietok.BertTokenizer(path)) == results(transformers.BertTokenizer(path))


@pytest.mark.parametrize("place", PLACES[:3])
@pytest.mark.parametrize("method", OF_ALL)
def test_a_replaced_method_of_the_fast_class_is_called_where_transformers_calls_it(
    path, method, place
):
    ours, theirs = (
        replaced_results(library, path, FAST, method, place) for library in (trietok, transformers)
    )
    assert ours == theirs


def test_a_method_counts_from_its_assignment_until_it_is_deleted(both):
    ours, theirs, before = both
    for tokens in (["a", "b"], ["c"]):
        for tokenizer in (ours, theirs):
            tokenizer._tokenize = lambda text, tokens=tokens, **options: list(tokens)
        assert results(ours) == results(theirs) != before
    del ours._tokenize
    assert results(ours) == before


# ---- offsets -------------------------------------------------------------------------------------


def test_offsets_fit_the_ids_or_are_refused_where_a_method_is_replaced(path):
    """transformers' slow class has no offsets."""
    tokenizer, text, refused = trietok.BertTokenizer(path), f"{TEXT} {PAIR}", []
    before = dict(tokenizer(text, return_offsets_mapping=True))
    for method, change in REPLACED.items():
        with replacing(tokenizer, method, change):
            ids = tokenizer(text).input_ids
            try:
                encoding = tokenizer(text, return_offsets_mapping=True)
            except (NotSupportedError, InputError):
                refused.append(method)
            else:
                assert encoding.input_ids == ids, method
                assert len(encoding.offset_mapping) == len(ids), method
        assert dict(tokenizer(text, return_offsets_mapping=True)) == before, method
    assert "_tokenize" in refused
    assert len(refused) < len(REPLACED) / 2


# ---- the stages of words -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SLOW, FAST])
@pytest.mark.parametrize("stage", STAGES)
def test_a_patched_stage_class_counts_in_the_slow_class_only(path, stage, kind):
    """In the fast class of transformers the stages are Rust's, so a patch of Python's changes
    nothing.
    """
    before = results(getattr(trietok, kind)(path))
    change = REPLACED["_tokenize"]
    with (
        replacing(getattr(trietok, stage), "tokenize", change),
        replacing(getattr(transformers.models.bert.tokenization_bert, stage), "tokenize", change),
    ):
        ours = results(getattr(trietok, kind)(path))
        assert ours == results(getattr(transformers, kind)(path))
        assert (ours == before) == (kind == FAST)


@pytest.mark.parametrize("stage", ["basic_tokenizer", "wordpiece_tokenizer"])
def test_a_patched_stage_object_counts_until_it_is_restored(both, stage):
    ours, theirs, before = both
    change, text = REPLACED["_tokenize"], f"{TEXT} {PAIR}"
    with (
        replacing(getattr(ours, stage), "tokenize", change),
        replacing(getattr(theirs, stage), "tokenize", change),
    ):
        assert results(ours) == results(theirs) != before
        with pytest.raises((NotSupportedError, InputError)):
            ours(text, return_offsets_mapping=True)
    assert results(ours) == before


class Letters:
    """A user's own stage: every letter is a token."""

    never_split = ()
    do_lower_case = True

    def tokenize(self, text: str, never_split: Any = None) -> list[str]:
        return [char for char in text if char in "abc"]


@pytest.mark.parametrize("stage", ["basic_tokenizer", "wordpiece_tokenizer"])
def test_a_stage_object_in_place_of_another_counts_until_it_is_restored(both, stage):
    ours, theirs, before = both
    own = getattr(ours, stage)
    for tokenizer in (ours, theirs):
        setattr(tokenizer, stage, Letters())
    assert results(ours) == results(theirs) != before
    setattr(ours, stage, own)
    assert results(ours) == before
