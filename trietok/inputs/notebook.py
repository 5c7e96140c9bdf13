"""A result in a notebook: the tokens of each row, coloured, over the texts that they are of.

In: a `BatchEncoding`. Out: a fragment of HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trietok.showing.html import fragment, gap, heading, note, token

if TYPE_CHECKING:
    from trietok.inputs.batch_encoding import BatchEncoding
    from trietok.inputs.encoding import Encoding

_MOST_ROWS, _MOST_TOKENS = 10, 2000
_COLOURS = 4


def html_of(result: BatchEncoding, rows: Sequence[Encoding] | None, samples: Sequence[Any], unknown: str) -> str:
    """The fragment.

    Args:
        result: the columns.
        rows: their details; None where there are none.
        samples: the texts that the rows are of, one or two each; none where they are not known.
        unknown: the unknown token.
    """
    columns = ", ".join(f"{name} {_shape(value)}".strip() for name, value in result.data.items())
    parts = [heading("BatchEncoding", aside=columns)]
    if not rows:
        return fragment(*parts, label="BatchEncoding")
    sample_of = result.data.get("overflow_to_sample_mapping")
    left = _MOST_TOKENS
    for number, row in enumerate(rows[:_MOST_ROWS]):
        place = number if sample_of is None or len(sample_of) != len(rows) else int(sample_of[number])
        texts = samples[place] if place < len(samples) else ()
        texts = (texts,) if isinstance(texts, str) else texts
        parts.append(f'<div class="tt-text">{"".join(_row(row, texts, unknown, left))}</div>')
        left = max(left - len(row), 0)
        if not left:
            break
    if len(rows) > _MOST_ROWS or not left:
        parts.append(
            note(f"The first {_MOST_ROWS} of {len(rows):,} rows are shown, and at most {_MOST_TOKENS:,} tokens.")
        )
    return fragment(*parts, label="BatchEncoding")


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
