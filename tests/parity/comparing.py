"""How the live comparisons hold two outcomes side by side.

Each test gives the same input to trietok and to transformers, and compares what they return or
raise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

import trietok
from tests.strategies import FIELDS

try:
    import torch
except ImportError:  # in no extra: without it, what returns its tensors is not compared
    torch = None  # type: ignore[assignment]

TENSORS = ["np"] if torch is None else ["np", "pt"]

# ---- outcomes ------------------------------------------------------------------------------------


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a call returns, or the exception it raises."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def assert_same(theirs: Callable[[], Any], ours: Callable[[], Any]) -> bool:
    """Make both calls: both return equal values, or both raise alike.

    Returns:
        Whether they returned.
    """
    want, their_error = outcome(theirs)
    got, our_error = outcome(ours)
    if our_error is not None and _is_departure(our_error):
        return False
    if their_error is None and our_error is None:
        difference = different(want, got)
        assert difference is None, difference
        return True
    assert our_error is not None, f"transformers raises {their_error!r}; trietok returns {got!r}"
    assert their_error is not None, f"trietok raises {our_error!r}; transformers returns {want!r}"
    assert is_alike(their_error, our_error), (
        f"transformers raises {their_error!r}; trietok raises {our_error!r}"
    )
    return False


def _is_departure(error: Exception) -> bool:
    """Whether trietok raises on purpose where transformers does not."""
    # there, None stands among ids
    on_purpose = (
        "the special tokens alone are",
        "has no id; give the role a token",
    )
    return isinstance(error, trietok.TrietokError) and any(
        said in str(error) for said in on_purpose
    )


def unless_panic(call: Callable[[], Any]) -> Any:
    """What a call returns; None where the Rust library gives up, which is departure 46."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return None
        raise


def is_alike(theirs: Exception, ours: Exception) -> bool:
    """Whether code that catches transformers' exception catches trietok's."""
    if isinstance(theirs, (AssertionError, IndexError)):
        return isinstance(ours, trietok.TrietokError)
    built_in = next(cls for cls in type(theirs).__mro__ if cls.__module__ == "builtins")
    return isinstance(ours, built_in)


def different(want: Any, got: Any, where: str = "") -> str | None:
    """Where two results differ, in type, shape, order or value; None where they are the same."""
    shown = f"{where or 'result'}: transformers {want!r}, trietok {got!r}"
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        if list(want) != list(got):
            return f"{where} keys: transformers {list(want)}, trietok {list(got)}"
        return _first_difference((want[key], got[key], f"{where}[{key!r}]") for key in want)
    if is_added_token(want) and is_added_token(got):
        return None if fields(want) == fields(got) else shown
    if torch is not None and isinstance(want, torch.Tensor) and isinstance(got, torch.Tensor):
        return (
            None
            if want.dtype == got.dtype and want.shape == got.shape and torch.equal(want, got)
            else shown
        )
    if isinstance(want, numpy.ndarray) and isinstance(got, numpy.ndarray):
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"{shown} ({want.dtype}, {want.shape}; {got.dtype}, {got.shape})"
        if want.dtype != object:
            return None if numpy.array_equal(want, got) else shown
        rows = zip(want, got, strict=True)
        return _first_difference((a, b, f"{where}[{i}]") for i, (a, b) in enumerate(rows))
    if type(want) is not type(got):
        return shown
    if isinstance(want, (list, tuple)):
        if len(want) != len(got):
            return shown
        return _first_difference(
            (a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(want, got, strict=True))
        )
    return None if want == got else shown


def _first_difference(triples: Iterator[tuple[Any, Any, str]]) -> str | None:
    return next(filter(None, (different(*triple) for triple in triples)), None)


# ---- results of the fast classes ------------------------------------------------------------------

COLUMNS = """
    ids tokens offsets word_ids type_ids special_tokens_mask attention_mask sequence_ids
    """.split()


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
    for theirs, ours in zip(want.overflowing, got.overflowing, strict=True):
        assert_same_encodings(theirs, ours)


def plain(value: Any) -> Any:
    """Arrays as lists, at any depth: rows of different lengths are an array of arrays."""
    value = getattr(value, "tolist", lambda: value)()
    return [*map(plain, value)] if isinstance(value, list) else value


# ---- added tokens --------------------------------------------------------------------------------


def is_added_token(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "content") and hasattr(value, "lstrip")


def fields(token: Any) -> dict[str, Any]:
    """The six fields of either library's AddedToken."""
    return {name: getattr(token, name) for name in FIELDS}


def plain_fields(value: Any, **instead: Any) -> Any:
    """Added tokens of either library as their fields, some of them replaced, at any depth."""
    if isinstance(value, dict):
        return {key: plain_fields(item, **instead) for key, item in value.items()}
    if isinstance(value, (list, tuple)):  # Splinter's fast class has a tuple for a list
        return [plain_fields(item, **instead) for item in value]
    return {**fields(value), **instead} if is_added_token(value) else value


def _unmarked(value: Any) -> Any:
    """Role tokens without their `special` flag.

    In transformers that flag is whatever the caller's object said, until some later call changes
    that very object; in trietok a role's token is special. `added_tokens_decoder` is where the flag
    counts, and is compared with it.
    """
    return plain_fields(value, special=None)


def state_of(tokenizer: Any) -> dict[str, Any]:
    """Everything a tokenizer says about its vocabulary and its special tokens."""
    return {
        "get_vocab": dict(sorted(tokenizer.get_vocab().items())),
        "len": len(tokenizer),
        "vocab_size": tokenizer.vocab_size,
        "total_vocab_size": getattr(tokenizer, "total_vocab_size", len(tokenizer)),
        "added_tokens_decoder": dict(tokenizer.added_tokens_decoder),
        "added_tokens_encoder": dict(tokenizer.added_tokens_encoder),
        # Rust gives them by id, transformers' slow class and trietok in the order of adding
        "get_added_vocab": dict(sorted(tokenizer.get_added_vocab().items())),
        "special_tokens_map": tokenizer.special_tokens_map,
        "special_tokens_map_extended": _unmarked(tokenizer.special_tokens_map_extended),
        "all_special_tokens": tokenizer.all_special_tokens,
        "all_special_tokens_extended": _unmarked(tokenizer.all_special_tokens_extended),
        "all_special_ids": tokenizer.all_special_ids,
        "additional_special_tokens_ids": tokenizer.additional_special_tokens_ids,
        **{
            role: getattr(tokenizer, role)
            for role in ("bos_token", "cls_token", "pad_token", "additional_special_tokens")
        },
        **{
            role: getattr(tokenizer, role)
            for role in ("bos_token_id", "unk_token_id", "mask_token_id", "pad_token_id")
        },
    }


def trie_is_wrong(theirs: Any, text: str) -> bool:
    """Whether transformers' split at the added tokens is not leftmost-longest here, which trietok's
    is by design.
    """
    contents = sorted(theirs.added_tokens_encoder, key=len, reverse=True)
    if not contents:
        return False
    if getattr(theirs, "do_lower_case", False):
        kept = [*theirs.all_special_tokens]
        kept += [
            t.content
            for t in theirs.added_tokens_decoder.values()
            if not t.special and t.normalized
        ]
        pattern = "(" + "|".join(map(re.escape, kept)) + ")|(.+?)"
        text = re.sub(pattern, lambda match: match[1] or match[2].lower(), text)
    pieces = re.split("(" + "|".join(map(re.escape, contents)) + ")", text)
    return list(filter(None, pieces)) != list(filter(None, theirs.tokens_trie.split(text)))


def directory_named(variable: str) -> Path:
    """The directory that an environment variable names; without it, the test is skipped."""
    if variable not in os.environ:
        pytest.skip(f"needs {variable}")
    return Path(os.environ[variable])
