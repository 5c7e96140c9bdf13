"""What a `BatchEncoding` can be asked later: the details of its rows, worked out when first they are asked for.

In: what a call was given, and what it made of it. Out: an `Encoding` for each row. A call keeps the texts it was given
and nothing else, so that details cost only those who ask. Where the tokenizer has changed meanwhile so that the texts
have other ids now, asking is an error: spans of other tokens would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trietok.aligned_text import Located, Span
from trietok.encoding import Encoding
from trietok.errors import InputError
from trietok.rows import Row


class Later:
    """The details of a result, not worked out yet.

    Attributes:
        is_fast: whether the tokenizer is of the Rust profile.
    """

    is_fast = False

    def encodings(self) -> list[Encoding]:
        """An `Encoding` for each row."""
        raise NotImplementedError


class RowsLater(Later):
    """Of a call that made rows.

    Args:
        tokenizer: whose call it was.
        texts: for each item its text, or texts; each a str, or words.
        is_split_into_words: whether they are words.
        options: the call's, as far as they concern one text.

    Attributes:
        ids: for each item the ids of its texts.
        rows: the rows, as they were made.
    """

    def __init__(
        self, tokenizer: Any, texts: list[list[Any]], is_split_into_words: bool, options: dict[str, Any]
    ) -> None:
        self.is_fast = tokenizer.is_fast
        self.ids: list[list[list[int]]] = []
        self.rows: list[Row] = []
        self._tokenizer = tokenizer
        self._texts = texts
        self._words = is_split_into_words
        self._options = options
        self._padding = (tokenizer.pad_token_id, tokenizer.pad_token, tokenizer.pad_token_type_id)

    def located(self) -> list[list[Located]]:
        """For each item its texts' tokens."""
        samples = []
        for texts, ids in zip(self._texts, self.ids, strict=True):
            located = [locate_input(self._tokenizer, text, self._words, self._options) for text in texts]
            if [text.ids for text in located] != ids:
                raise changed()
            samples.append(located)
        return samples

    def spans(self) -> list[list[list[Span]]]:
        """For each item its texts' spans."""
        samples = []
        for texts, ids in zip(self._texts, self.ids, strict=True):
            spans = [self._tokenizer._input_spans(text, self._words, self._options) for text in texts]
            if [*map(len, spans)] != [*map(len, ids)]:
                raise changed()
            samples.append(spans)
        return samples

    def encodings(self) -> list[Encoding]:
        located = self.located()
        return _with_overflow(self.rows, [row.encoding(located[row.sample], *self._padding) for row in self.rows])


def _with_overflow(rows: Sequence[Row], encodings: list[Encoding]) -> list[Encoding]:
    """Give the first row of each item those that follow."""
    first: dict[int, Encoding] = {}
    for row, encoding in zip(rows, encodings, strict=True):
        if row.sample in first:
            first[row.sample].overflowing.append(encoding)
        else:
            first[row.sample] = encoding
    return encodings


def locate_input(tokenizer: Any, text: Any, is_split_into_words: bool, options: dict[str, Any]) -> Located:
    """The tokens of a text, or of words: each is a text of its own, and every token has its word's number."""
    if not is_split_into_words:
        located: Located = tokenizer._located(text, options)
        return located
    all_words = Located.empty()
    for number, word in enumerate(text):
        located = tokenizer._located(word, options)
        for token_id, token, span, _ in zip(*located, strict=True):
            all_words.add(token_id, token, span, number)
    return all_words


def changed() -> InputError:
    """The error for details of what the tokenizer would not give any more."""
    return InputError(
        "the tokenizer has changed since this was encoded, so its tokens are not those of the text any more; encode "
        "the text again"
    )
