"""`Row`: where special tokens, texts and padding stand in one row; it computes each column on request.

In: the pieces of a template, which tokens of each text are kept (windows), and how much padding there is. Out: a column
of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trietok.inputs.encoding import Encoding
from trietok.inputs.pieces import Piece
from trietok.inputs.truncation import Windows
from trietok.text.alignment import Located


@dataclass(frozen=True)
class Row:
    """The parts of a row, from which its columns are computed.

    Attributes:
        sample: which item of the call it comes from.
        pieces: texts and special tokens in order.
        windows: which tokens of each text.
        missing: how many padding tokens.
        pad_left: whether they come first.
    """

    sample: int
    pieces: tuple[Piece, ...]
    windows: Windows
    missing: int = 0
    pad_left: bool = False

    def __len__(self) -> int:
        """The number of tokens without padding."""
        return sum(
            1 if piece.sequence is None else self.windows[piece.sequence][1] - self.windows[piece.sequence][0]
            for piece in self.pieces
        )

    def padded(self, width: int, pad_left: bool) -> Row:
        """The same row with padding, if it is shorter than `width`."""
        return Row(self.sample, self.pieces, self.windows, max(width - len(self), 0), pad_left)

    def left_out_of(self, rows: Sequence[Row]) -> list[Row]:
        """Of the rows of an item, whose first holds what is kept, those with what this one leaves out.

        Of a pair a row that is not the first has one text as it is there, or none; what it leaves out is of that text.
        """
        kept = rows[0].windows
        if self.windows == kept:
            return list(rows[1:])
        same = [number for number, window in enumerate(self.windows) if window == kept[number]]
        if len(self.windows) == 1 or len(same) != 1:
            return []
        cut, other = same[0], 1 - same[0]
        return [row for row in rows if row.windows[other] == self.windows[other] and row.windows[cut] != kept[cut]]

    def column(self, values: Sequence[Sequence[Any]], special: Callable[[Piece], Any], padding: Any) -> list[Any]:
        """A column.

        Args:
            values: the values of the tokens of each text.
            special: gives the value of a special token.
            padding: the value of a padding token.
        """
        column: list[Any] = []
        for piece in self.pieces:
            if piece.sequence is None:
                column.append(special(piece))
            else:
                start, end = self.windows[piece.sequence]
                column += values[piece.sequence][start:end]
        return self._padded(column, padding)

    def filled(self, value: Callable[[Piece], int | None], padding: int) -> list[int]:
        """A column in which all tokens of a piece have one value; a piece whose value is None has no place in it."""
        column: list[int] = []
        for piece in self.pieces:
            number = value(piece)
            if number is None:
                continue
            if piece.sequence is None:
                column.append(number)
            else:
                start, end = self.windows[piece.sequence]
                column += [number] * (end - start)
        return self._padded(column, padding)

    def _padded(self, column: list[Any], padding: Any) -> list[Any]:
        if not self.missing:
            return column
        filling = [padding] * self.missing
        return filling + column if self.pad_left else column + filling

    def ids(self, values: Sequence[Sequence[int]], pad_id: int | None) -> list[int]:
        """The ids."""
        return self.column(values, lambda piece: piece.token_id, pad_id)

    def type_ids(self, pad_type_id: int) -> list[int]:
        """The token type ids."""
        return self.filled(_type_id, pad_type_id)

    def attention_mask(self) -> list[int]:
        """1 for each token, 0 for padding."""
        return self._padded([1] * len(self), 0)

    def special_tokens_mask(self) -> list[int]:
        """1 for each special token and for padding, 0 for each token of a text."""
        return self.filled(_is_special, 1)

    def offsets(self, values: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
        """The spans in the texts."""
        return self.column(values, _no_span, (0, 0))

    def encoding(self, texts: Sequence[Located], pad_id: int | None, pad_token: str | None, pad_type: int) -> Encoding:
        """The row as an `Encoding`, with all columns."""
        ranges: dict[int, tuple[int, int]] = {}
        position = self.missing if self.pad_left else 0
        for piece in self.pieces:
            size = 1
            if piece.sequence is not None:
                start, end = self.windows[piece.sequence]
                size = end - start
                ranges[piece.sequence] = (position, position + size)
            position += size
        return Encoding(
            ids=self.ids([text.ids for text in texts], pad_id),
            type_ids=self.type_ids(pad_type),
            tokens=self.column([text.tokens for text in texts], lambda piece: piece.token, pad_token),
            offsets=self.offsets([text.spans for text in texts]),
            word_ids=self.column([text.words for text in texts], lambda piece: None, None),
            special_tokens_mask=self.special_tokens_mask(),
            attention_mask=self.attention_mask(),
            ranges=dict(sorted(ranges.items())),
        )


def _type_id(piece: Piece) -> int | None:
    return piece.type_id if piece.has_type_id else None


def _is_special(piece: Piece) -> int | None:
    return int(piece.sequence is None) if piece.is_in_mask else None


def _no_span(piece: Piece) -> tuple[int, int]:
    return (0, 0)
