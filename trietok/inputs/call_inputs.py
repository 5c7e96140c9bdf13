"""What a call was given: telling a text from a pair, words or a batch, and what no call takes.

In: the arguments of a call. Out: which form they have, or an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.errors import InputError, OptionError


def reject_unknown(options: Mapping[str, Any]) -> None:
    """Raise for keywords that nothing understands."""
    for name in options:
        raise OptionError(
            f"unknown keyword {name!r}; neither the call nor this tokenizer's prepare_for_tokenization takes it",
            name=name,
        )


def is_text_input(value: Any) -> bool:
    """Whether a value looks like a text, words, or a batch of either, by its first items, as transformers looks."""
    if isinstance(value, (list, tuple)) and value:
        first = value[0]
        return isinstance(first, str) or (isinstance(first, (list, tuple)) and (not first or isinstance(first[0], str)))
    return isinstance(value, (str, list, tuple))


def pair_of(item: Any, is_split_into_words: bool, index: int) -> tuple[Any, Any]:
    """The two inputs of an item of a batch; the second None where the item is a single input."""
    if not isinstance(item, (list, tuple)):
        return item, None
    if is_split_into_words and (not item or not isinstance(item[0], (list, tuple))):
        return item, None
    if len(item) != 2:
        raise InputError(
            f"item {index} of the batch is a list of {len(item)}: a pair has two; pass is_split_into_words=True if it "
            "is words"
        )
    return item[0], item[1]
