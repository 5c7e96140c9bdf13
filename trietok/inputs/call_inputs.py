"""What a call was given: telling a text from a pair, words or a batch, and what no call takes.

In: the arguments of a call. Out: which form they have, or an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.errors import InputError, InputTypeError, OptionError

# Keywords that transformers has dropped, and what is written for them since.
_REPLACED = {
    "is_pretokenized": "is_split_into_words=...",
    "pad_to_max_length": "padding='max_length'",
    "return_lengths": "return_length=...",
    "truncation_strategy": "truncation=...",
}


def reject_unknown(options: Mapping[str, Any]) -> None:
    """Raise for keywords that nothing understands."""
    reject_replaced(options)
    for name in options:
        raise OptionError(
            f"unknown keyword {name!r}; neither the call nor this tokenizer's prepare_for_tokenization takes it",
            name=name,
        )


def reject_replaced(options: Mapping[str, Any]) -> None:
    """Raise for keywords that transformers has dropped, with what to write instead."""
    for name in options:
        if name in _REPLACED:
            raise OptionError(
                f"transformers has dropped the keyword {name!r}; write {_REPLACED[name]} instead", name=name
            )


def empty_batch() -> InputError:
    """The error for a batch without items."""
    return InputError("the batch is empty; give it at least one text")


def is_text_input(value: Any) -> bool:
    """Whether a value looks like a text, words, or a batch of either, by its first items, as transformers looks."""
    if isinstance(value, (list, tuple)) and value:
        first = value[0]
        return isinstance(first, str) or (isinstance(first, (list, tuple)) and (not first or isinstance(first[0], str)))
    return isinstance(value, (str, list, tuple))


def pair_of(item: Any, is_split_into_words: bool, where: str) -> tuple[Any, Any]:
    """The two inputs of an item, which messages call `where`; the second None where the item is a single input."""
    if not isinstance(item, (list, tuple)):
        return item, None
    if is_split_into_words and (not item or not isinstance(item[0], (list, tuple))):
        return item, None
    if len(item) != 2:
        raise InputTypeError(
            f"{where} is a {type(item).__name__} of {len(item)}: a pair has two; pass is_split_into_words=True if it "
            "is words",
            value=item,
        )
    return item[0], item[1]
