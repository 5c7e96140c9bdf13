"""Classifies the input of a call (text, pair, words, batch) and encodes it.

In: the arguments of a call. Out: which form they have; their ids, spans and tokens; or an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError, kind_of

if TYPE_CHECKING:
    from trietok.text.aligned import Span
    from trietok.text.pipeline import Located, Pipeline


def is_text_input(value: Any) -> bool:
    """Whether a value looks like a text, words, or a batch of either, by its first items, as
    transformers looks.
    """
    if isinstance(value, (list, tuple)) and value:
        first = value[0]
        return isinstance(first, str) or (
            isinstance(first, (list, tuple)) and (not first or isinstance(first[0], str))
        )
    return isinstance(value, (str, list, tuple))


def as_lists(value: Any) -> Any:
    """An array or column of texts, words or batches of words as a list; everything else as it is.

    It may be a numpy array, a pandas Series, a pyarrow array or a column of a dataset.

    >>> import collections
    >>> as_lists(collections.deque(["a", "b"])), as_lists(("a", "b")), as_lists(5)
    (['a', 'b'], ('a', 'b'), 5)
    """
    if isinstance(value, (str, bytes, Mapping)) or value is None:
        return value
    if not isinstance(value, (list, tuple)):
        for method in ("tolist", "to_pylist"):
            if hasattr(value, method):
                value = getattr(value, method)()
                break
        else:
            value = list(value) if isinstance(value, Sequence) else value
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (str, list, tuple)):
        items = [as_lists(item) for item in value]  # arrays of words
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def pair_of(item: Any, is_split_into_words: bool, where: str) -> tuple[Any, Any]:
    """Return the two inputs of an item; the second is None if the item is a single input.

    Raises:
        InputTypeError: a pair lacks a text. transformers' slow class encodes the first one alone
            then, so a missing value in a column of texts would change a row silently.
    """
    if not isinstance(item, (list, tuple)):
        return item, None
    if is_split_into_words and (not item or not isinstance(item[0], (list, tuple))):
        return item, None
    if len(item) != 2:
        raise InputTypeError(
            f"{where} is a {type(item).__name__} of {len(item)}: a pair has two; pass"
            " is_split_into_words=True if it is words",
            value=item,
        )
    if item[1] is None:
        raise InputTypeError(
            f'{where} is a pair whose second text is None; exclude it, or pass "" in its place',
            value=item,
        )
    return item[0], item[1]


def ids_of(encoder: Pipeline, value: Any, is_split_into_words: bool, where: str) -> list[int]:
    """The ids of one input of the slow profile, which messages call `where`: a text, words, tokens
    or ids.
    """
    if isinstance(value, str):
        return encoder.ids(value)
    if not isinstance(value, (list, tuple)) or not value:
        wanted = "a str, a list of tokens or a list of ids"
        if is_split_into_words:
            wanted = "a str or a list of at least one word"
        raise InputError(f"{where} is {kind_of(value)}; it should be {wanted}")
    kind = str if isinstance(value[0], str) else int
    for position, item in enumerate(value):
        if not isinstance(item, kind):
            raise InputError(
                f"{where}: position {position} holds {kind_of(item)} among {kind.__name__}s"
            )
    if kind is int:
        return list(value)
    return (
        encoder.ids_of_words(value) if is_split_into_words else encoder.ids_of_tokens(list(value))
    )


def ids_of_text(encoder: Pipeline, value: Any, is_split_into_words: bool, where: str) -> list[int]:
    """The ids of one input of the fast profile, which messages call `where`: a text, or words if
    asked for.
    """
    if not is_split_into_words and isinstance(value, str):
        return encoder.ids(value)
    if is_split_into_words and isinstance(value, (list, tuple)):
        for position, word in enumerate(value):
            if not isinstance(word, str):
                raise InputTypeError(
                    f"{where}: position {position} holds {kind_of(word)} among words", value=word
                )
        return encoder.ids_of_words(value)
    wanted = "a list of words" if is_split_into_words else "a str"
    raise InputTypeError(f"{where} is {kind_of(value)}; it should be {wanted}", value=value)


def has_spans(value: Any, is_split_into_words: bool) -> bool:
    """Whether an input is a text, or words; tokens and ids stand for no text."""
    return isinstance(value, str) or (
        is_split_into_words and not (value and isinstance(value[0], int))
    )


def spans_of(encoder: Pipeline, value: Any, count: int) -> list[Span]:
    """The spans of a text of `count` tokens, or of words; the spans of a word are relative to its
    beginning.
    """
    if isinstance(value, str):
        return encoder.spans(value, count)
    return encoder.locate_words(value).spans


def locate_input(encoder: Pipeline, value: Any) -> Located:
    """The tokens of a text, or of words: each is a text of its own, and every token has its word's
    number.
    """
    if isinstance(value, str):
        return encoder.locate(value)
    return encoder.locate_words(value)
