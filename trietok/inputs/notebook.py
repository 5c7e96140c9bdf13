"""A result in a notebook: the tokens of each row, coloured, over the texts that they are of.

In: the columns of a `BatchEncoding`, and its texts. Out: a fragment of HTML that shows the first rows; the details of
the others are not computed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok.errors import NotSupportedError
from trietok.showing.html import fragment, gap, heading, note, token

if TYPE_CHECKING:
    from trietok.inputs.batch_encoding import Maker
    from trietok.inputs.encoding import Encoding

_MOST_ROWS, _MOST_TOKENS, _MOST_CHARACTERS = 10, 2000, 100_000
_COLOURS = 4


def html_of(columns: Mapping[str, Any], encodings: Sequence[Encoding] | None, maker: Maker | None, given: Any) -> str:
    """The fragment.

    Args:
        columns: the columns of the result.
        encodings: the details of its rows, where they have been computed.
        maker: computes those of some of the texts, for the rows that are shown.
        given: the encoder, the texts, and whether the call was for one item; None where they are not known.
    """
    shapes = ", ".join(f"{name} {_shape(value)}".strip() for name, value in columns.items())
    parts = [heading("BatchEncoding", aside=shapes)]
    samples, unknown = [], "[UNK]"
    if maker is not None and given is not None:
        encoder, texts, one = given
        samples = _first(texts)
        stages = getattr(encoder, "stages", None)
        unknown = unknown if stages is None else stages.wordpiece.unk_token
        if encodings is None and samples:
            with contextlib.suppress(NotSupportedError):  # nobody can tell where the tokens are from
                encodings = maker.encodings((encoder, samples, one), None)
    count = _rows_of(columns.get("input_ids"))
    shown = list(encodings or ())[:_MOST_ROWS]
    sample_of = columns.get("overflow_to_sample_mapping")
    widths = [len(row) for row in columns["input_ids"][: len(shown)]] if shown and count > 1 else []
    left = _MOST_TOKENS
    for number, row in enumerate(shown):
        place = number if sample_of is None else int(sample_of[number])
        sample = samples[place] if place < len(samples) else ()
        missing = widths[number] - len(row) if widths else 0
        texts_of_row = (sample,) if isinstance(sample, str) else sample
        tokens = list(_row(row, texts_of_row, unknown, left))
        if missing > 0:  # longer rows than those shown have made more padding
            is_left = "attention_mask" in columns and not columns["attention_mask"][number][0]
            filling = token("", f"padding × {missing}", "", "tt-padding", "", name=f"padding, {missing} times")
            tokens.insert(0 if is_left else len(tokens), filling)
        parts.append(f'<div class="tt-text">{"".join(tokens)}</div>')
        left -= len(row)
        if left <= 0:
            parts.append(note(f"The first {_MOST_TOKENS:,} tokens are shown."))
            break
    if count > len(shown) > 0:
        parts.append(note(f"The first {len(shown)} of {count:,} rows are shown."))
    elif given is not None and given[1] and not samples:
        parts.append(note("The text is too long to be shown token by token."))
    return fragment(*parts, label="BatchEncoding")


def _first(texts: Sequence[Any]) -> list[Any]:
    """The first texts, as many as can be looked at in a moment."""
    found: list[Any] = []
    left = _MOST_CHARACTERS
    for sample in texts[:_MOST_ROWS]:
        left -= sum(map(_length, (sample,) if isinstance(sample, str) else sample))
        if left < 0:
            break
        found.append(sample)
    return found


def _length(text: Any) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


def _rows_of(ids: Any) -> int:
    """How many rows a column of ids has."""
    shape = getattr(ids, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) > 1 else 1
    return len(ids) if isinstance(ids, list) and ids and not isinstance(ids[0], int) else 1


def _row(row: Encoding, texts: Sequence[Any], unknown: str, most: int) -> Iterator[str]:
    sequence_ids = row.sequence_ids
    position = 0
    text_before: int | None = None
    padding = row.attention_mask.count(0)
    for number in range(min(len(row), most)):
        piece, token_id, which = row.tokens[number], row.ids[number], sequence_ids[number]
        if not row.attention_mask[number]:
            if padding:
                yield token("", f"{piece} × {padding}", token_id, "tt-padding", "", name=f"{piece}, {padding} times")
            padding = 0
            continue
        if which is None:
            yield token("", str(piece), token_id, "tt-special", "", name=f"{piece}, id {token_id}")
            continue
        text = texts[which] if which < len(texts) else None
        start, end = row.offsets[number]
        if which != text_before:
            position, text_before = start if number else 0, which
        source = ""
        if isinstance(text, str):
            if start > position:
                yield gap(text[position:start])
            source, position = text[max(start, position) : end], max(position, end)
        elif text is not None:
            word = row.word_ids[number]
            source = text[word][start:end] if word is not None else ""
        look = "tt-unknown" if piece == unknown and source != unknown else f"tt-c{number % _COLOURS}"
        told = f"<b>{number}</b><em>id {token_id}</em><em>{start}-{end}</em><em>word {row.word_ids[number]}</em>"
        yield token(source, piece, token_id, look, told, name=f"{piece}, id {token_id}")


def _shape(value: Any) -> str:
    """The size of a column, as numpy writes shapes."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, list):
        shape = (len(value),)
        if value and isinstance(value[0], list):
            widths = {len(row) for row in value}
            shape = (len(value), widths.pop() if len(widths) == 1 else "…")
    return "" if shape is None else f"({', '.join(map(str, shape))})"
