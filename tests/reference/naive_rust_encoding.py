"""What the Rust tokenizers make of tokens, said plainly: truncation, the template, padding, and
questions about it.

In: the tokens of one text or a pair, from `naive_rust_bert`. Out: an `Encoding` with its overflow.
The order: cut both texts down to what the special tokens leave, put the special tokens around, pad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.reference.naive_rust_bert import NaiveRustBert, Token

Text = str | Sequence[str]
Span = tuple[int, int]


@dataclass(frozen=True)
class Row:
    """One token of an encoding."""

    token_id: int
    token: str
    offsets: Span = (0, 0)
    word: int | None = None
    type_id: int = 0
    special: int = 1
    attention: int = 1


@dataclass
class Encoding:
    """Rows, the rows of each text of a pair, and the encodings of what did not fit."""

    rows: list[Row] = field(default_factory=list)
    ranges: dict[int, Span] = field(default_factory=dict)
    overflowing: list[Encoding] = field(default_factory=list)

    # ---- columns ---------------------------------------------------------------------------------

    @property
    def ids(self) -> list[int]:
        return [row.token_id for row in self.rows]

    @property
    def tokens(self) -> list[str]:
        return [row.token for row in self.rows]

    @property
    def offsets(self) -> list[Span]:
        return [row.offsets for row in self.rows]

    @property
    def word_ids(self) -> list[int | None]:
        return [row.word for row in self.rows]

    @property
    def type_ids(self) -> list[int]:
        return [row.type_id for row in self.rows]

    @property
    def special_tokens_mask(self) -> list[int]:
        return [row.special for row in self.rows]

    @property
    def attention_mask(self) -> list[int]:
        return [row.attention for row in self.rows]

    @property
    def sequence_ids(self) -> list[int | None]:
        if not self.ranges:
            return [0] * len(self.rows)
        return [self.token_to_sequence(i) for i in range(len(self.rows))]

    @property
    def n_sequences(self) -> int:
        return len(self.ranges) or 1

    # ---- questions -------------------------------------------------------------------------------

    def range_of(self, sequence: int) -> Span:
        """The rows of a text; all rows for a text that is not there."""
        return self.ranges.get(sequence, (0, len(self.rows)))

    def token_to_sequence(self, token: int) -> int | None:
        if not self.ranges:
            return 0 if token <= len(self.rows) else None
        return next((i for i, (start, end) in self.ranges.items() if start <= token < end), None)

    def token_to_chars(self, token: int) -> Span | None:
        """None behind the end and for tokens of no text: the special ones and the padding."""
        if token >= len(self.rows) or self.token_to_sequence(token) is None:
            return None
        return self.rows[token].offsets

    def token_to_word(self, token: int) -> int | None:
        if token >= len(self.rows) or self.token_to_sequence(token) is None:
            return None
        return self.rows[token].word

    def word_to_tokens(self, word: int, sequence: int = 0) -> Span | None:
        start, end = self.range_of(sequence)
        of_word = []
        for i in range(start, end):
            number = self.rows[i].word
            if number is not None and number > word:
                break
            if number == word:
                of_word.append(i)
        return (of_word[0], of_word[-1] + 1) if of_word else None

    def word_to_chars(self, word: int, sequence: int = 0) -> Span | None:
        tokens = self.word_to_tokens(word, sequence)
        return (
            None
            if tokens is None
            else (self.rows[tokens[0]].offsets[0], self.rows[tokens[1] - 1].offsets[1])
        )

    def char_to_token(self, position: int, sequence: int = 0) -> int | None:
        """The first token of that text whose span holds the character."""
        start, end = self.range_of(sequence)
        spans = ((i, self.rows[i].offsets) for i in range(start, end))
        return next((i for i, (first, last) in spans if first <= position < last), None)

    def char_to_word(self, position: int, sequence: int = 0) -> int | None:
        token = self.char_to_token(position, sequence)
        return None if token is None else self.token_to_word(token)


class CannotTruncate(Exception):
    """Rust raises here: the text that is to be cut is too short, or not there."""


def check_stride(max_length: int, stride: int) -> None:
    """Rust refuses these whatever the text is; it counts the special tokens of a single text, even
    without them.
    """
    if 0 <= max_length - 2 < stride:
        raise CannotTruncate("stride is not below the length")


# ---- steps ---------------------------------------------------------------------------------------


def of_tokens(tokens: Sequence[Token], sequence: int) -> Encoding:
    rows = [
        Row(token.token_id, token.token, token.span, token.word, sequence, 0) for token in tokens
    ]
    return Encoding(rows)


def windows(length: int, size: int, stride: int, side: str) -> list[Span]:
    """Stretches of `size` that cover `length`, each sharing `stride` with the one before.

    From the right side: the first begins at the beginning, the last is what is left. From the left:
    the first ends at the end, and they go backwards.
    """
    spans = []
    for step in range(0, length, size - stride):
        start, end = step, min(step + size, length)
        spans.append((start, end) if side == "right" else (length - end, length - start))
        if end == length:
            break
    return spans


def cut(encoding: Encoding, size: int, stride: int, side: str) -> Encoding:
    if size >= len(encoding.rows):
        return encoding
    if size == 0:
        return Encoding(overflowing=[encoding])
    if stride >= size:
        raise CannotTruncate("stride is not below the length")
    first, *rest = [
        Encoding(encoding.rows[a:b]) for a, b in windows(len(encoding.rows), size, stride, side)
    ]
    first.overflowing = rest
    return first


def truncate(
    first: Encoding, second: Encoding | None, max_length: int, strategy: str, stride: int, side: str
) -> tuple[Encoding, Encoding | None]:
    """Cut one text or both down to `max_length` rows in all, special tokens not counted."""
    lengths = len(first.rows), len(second.rows) if second else 0
    if max_length == 0:
        return cut(first, 0, stride, side), second and cut(second, 0, stride, side)
    if sum(lengths) <= max_length:
        return first, second
    if strategy == "longest_first":
        if second is None:
            return cut(first, max_length, stride, side), None
        sizes = shares(*lengths, max_length)
        return cut(first, sizes[0], stride, side), cut(second, sizes[1], stride, side)
    if strategy == "only_second" and second is None:
        raise CannotTruncate("there is no second text")
    left = max_length - (lengths[1] if strategy == "only_first" else lengths[0])
    if left <= 0:
        raise CannotTruncate("the other text alone is too long")
    if strategy == "only_first":
        return cut(first, left, stride, side), second
    assert second is not None
    return first, cut(second, left, stride, side)


def shares(first: int, second: int, max_length: int) -> Span:
    """How long each text of a pair may be: the shorter one is left whole while it takes no more
    than half.

    Where both are cut, the one that was longer has the odd row; of two equally long ones the second
    has it.
    """
    shorter, longer = sorted((first, second))
    longer = shorter if shorter > max_length else max(shorter, max_length - shorter)
    if shorter + longer > max_length:
        shorter, longer = max_length // 2, max_length - max_length // 2
    return (longer, shorter) if first > second else (shorter, longer)


def joined(first: Encoding, second: Encoding) -> Encoding:
    """One behind the other. The overflow is every combination but that of the two themselves.

    Those of the first's overflow come first, each with the second itself and then with its
    overflow; then the first itself with the second's overflow.
    """
    overflowing = [
        joined(replace(a, overflowing=[]), replace(b, overflowing=[]))
        for a in [*first.overflowing, first]
        for b in [second, *second.overflowing]
        if a is not first or b is not second
    ]
    shift = len(first.rows)
    moved = {i: (start + shift, end + shift) for i, (start, end) in second.ranges.items()}
    return Encoding(first.rows + second.rows, {**first.ranges, **moved}, overflowing)


def template(
    first: Encoding, second: Encoding | None, cls: Row, sep: Row, with_special: bool
) -> Encoding:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP] with type 1 from B on."""
    for i, encoding in enumerate([first, second]):
        for part in [encoding, *encoding.overflowing] if encoding else []:
            part.ranges = {i: (0, len(part.rows))}
    parts = [Encoding([cls]), first, Encoding([sep])]
    if second is not None:
        parts += [second, Encoding([replace(sep, type_id=1)])]
    result = Encoding()
    for part in parts:
        if with_special or part is first or part is second:
            result = joined(result, part)
    return result


def pad(encoding: Encoding, length: int, row: Row, side: str) -> None:
    """Fill up to a length, the overflow too."""
    for part in [encoding, *encoding.overflowing]:
        missing = [row] * (length - len(part.rows))
        part.rows = part.rows + missing if side == "right" else missing + part.rows
        if side == "left":
            part.ranges = {
                i: (a + len(missing), b + len(missing)) for i, (a, b) in part.ranges.items()
            }


# ---- all of it -----------------------------------------------------------------------------------


@dataclass
class NaiveRustEncoder:
    """A tokenizer with BERT's template."""

    bert: NaiveRustBert
    cls: str = "[CLS]"
    sep: str = "[SEP]"
    pad_token: str = "[PAD]"

    def row(self, token: str, **values: int) -> Row:
        return Row(self.bert.added.ids.get(token, self.bert.vocab.get(token, 0)), token, **values)

    def tokens_of(self, text: Text) -> list[Token]:
        return (
            self.bert.encode_text(text) if isinstance(text, str) else self.bert.encode_words(text)
        )

    def encode(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        strategy: str = "longest_first",
        stride: int = 0,
        side: str = "right",
    ) -> Encoding:
        first = of_tokens(self.tokens_of(text), 0)
        second = None if pair is None else of_tokens(self.tokens_of(pair), 1)
        if max_length is not None:
            left = max_length - (0 if not add_special_tokens else 2 if pair is None else 3)
            check_stride(max_length, stride)
            if left >= 0:  # below the number of special tokens nothing is cut
                first, second = truncate(first, second, left, strategy, stride, side)
        return template(first, second, self.row(self.cls), self.row(self.sep), add_special_tokens)

    def pad_batch(
        self,
        batch: Sequence[Encoding],
        *,
        length: int | None = None,
        multiple: int | None = None,
        side: str = "right",
    ) -> None:
        """Fill to the longest of the batch, or to a length; then up to a multiple."""
        target = (
            max((len(encoding.rows) for encoding in batch), default=0) if length is None else length
        )
        if multiple and target % multiple:
            target += multiple - target % multiple
        for encoding in batch:
            pad(encoding, target, self.row(self.pad_token, attention=0), side)

    def call(
        self, batch: Sequence[tuple[Text, Text | None]], **options: Any
    ) -> tuple[dict[str, list[Any]], list[Encoding]]:
        """What transformers' wrapper makes of a batch: columns in its order, and the encodings
        behind them.

        Args:
            batch: texts, each with its pair.
            **options: those of `encode`; `padding`, the arguments of `pad_batch` or None; and
                `overflow`, whether what did not fit becomes rows too.
        """
        padding, overflow = options.pop("padding", None), options.pop("overflow", False)
        encodings = [self.encode(text, pair, **options) for text, pair in batch]
        if padding is not None:
            self.pad_batch(encodings, **padding)
        rows = [[encoding, *(encoding.overflowing if overflow else [])] for encoding in encodings]
        flat = [encoding for group in rows for encoding in group]
        columns: dict[str, list[Any]] = {
            "input_ids": [encoding.ids for encoding in flat],
            "token_type_ids": [encoding.type_ids for encoding in flat],
            "attention_mask": [encoding.attention_mask for encoding in flat],
            "special_tokens_mask": [encoding.special_tokens_mask for encoding in flat],
            "offset_mapping": [encoding.offsets for encoding in flat],
            "length": [len(encoding.rows) for encoding in flat],
        }
        if overflow:
            columns["overflow_to_sample_mapping"] = [
                i for i, group in enumerate(rows) for _ in group
            ]
        return columns, flat
