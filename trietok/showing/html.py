"""Fragments of HTML for notebooks and pages: escaped text, tables, coloured tokens, and the style
sheet of all of them.

In: texts and values; the columns of a `BatchEncoding` with its texts. Out: HTML that needs no
script and nothing from elsewhere, and is readable in light and dark. The colours of tokens are
those of Okabe and Ito, which people with any kind of colour vision can tell apart, and no colour is
the only sign of anything.
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trietok.errors import NotSupportedError
from trietok.showing.characters import described, is_hidden, short_name

# Every rule of the style sheet begins with the class of a fragment, so the page around it keeps its
# looks.
_SHEET = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
STYLE = f"<style>{_SHEET.replace(chr(10), '')}</style>"


def fragment(*parts: str, label: str) -> str:
    """A whole fragment: the style sheet and the parts, which are HTML already; a screen reader
    calls it `label`.
    """
    return (
        '<div class="tt" role="group"'
        f' aria-label="{html.escape(label)}">{STYLE}{"".join(parts)}</div>'
    )


def escaped(text: str) -> str:
    """A text as HTML, in which nothing is hidden: hidden characters are small labels with the name
    as a hint.

    >>> escaped("<b>"), escaped("\\ud800")
    ('&lt;b&gt;', '<span class="tt-x" title="U+D800 &lt;surrogate-D800&gt;">U+D800</span>')
    """
    if text.isascii() and text.isprintable():
        return html.escape(text)
    return "".join([_label(char) if is_hidden(char) else html.escape(char) for char in text])


def _label(char: str) -> str:
    return f'<span class="tt-x" title="{html.escape(described(char))}">{short_name(char)}</span>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    mono: Collection[int] = (),
) -> str:
    """A table of texts that are not escaped; `right` and `mono` as a `Table` of a report has
    them.
    """
    head = _cells("th", heads, right, ())
    body = "".join(f"<tr>{_cells('td', row, right, mono)}</tr>" for row in rows)
    return (
        "<div"
        f' class="tt-wrap"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def bars(name: str, rows: Iterable[tuple[str, float, str]]) -> str:
    """A picture: for each row what it is called, a bar as long as its share of 1 says, and its
    number as a text.
    """
    body = "".join(
        f'<tr><th>{escaped(label)}</th><td><svg viewBox="0 0 100 8" preserveAspectRatio="none"'
        ' aria-hidden="true"><rect class="tt-track" width="100" height="8"/><rect'
        f' width="{100 * share:.1f}" height="8"/></svg></td><td'
        f' class="tt-r">{escaped(number)}</td></tr>'
        for label, share, number in rows
    )
    return (
        f'{title(name)}<div class="tt-wrap"><table'
        f' class="tt-bars"><tbody>{body}</tbody></table></div>'
    )


def _cells(kind: str, texts: Sequence[str], right: Collection[int], mono: Collection[int]) -> str:
    cells = []
    for number, text in enumerate(texts):
        names = " ".join(
            name for name, columns in (("tt-r", right), ("tt-mono", mono)) if number in columns
        )
        look = f' class="{names}"' if names else ""
        cells += [f"<{kind}{look}>", "<br>".join(map(escaped, text.split("\n"))), f"</{kind}>"]
    return "".join(cells)


def heading(title: str, *, aside: str = "") -> str:
    """The line at the top of a fragment."""
    more = f" &nbsp;{escaped(aside)}" if aside else ""
    return f'<p class="tt-head"><b>{escaped(title)}</b>{more}</p>'


def title(text: str) -> str:
    """The title of a part."""
    return f"<h4>{escaped(text)}</h4>"


def note(text: str, kind: str = "") -> str:
    """A line of text below something; `kind` is `"good"` or `"bad"`."""
    return f'<p class="tt-note{f" tt-{kind}" if kind else ""}">{escaped(text)}</p>'


def coloured_token(source: str, piece: str, token_id: object, look: str, story: str) -> str:
    """One token over its source in the text, with its id, looking as a class of the style sheet
    says.

    A click on it opens its story, which is HTML; `""` for none.
    """
    below = escaped(piece) if source and piece != source else ""
    shown = (
        f'<span class="tt-s">{escaped(source or piece)}</span> <i class="tt-p">{below}</i>'
        f" <i>{token_id}</i>"
    )
    if not story:
        return f'<span class="tt-t {look}">{shown}</span> '
    summary = f'<summary class="tt-t {look}">{shown}</summary>'
    return f'<details class="tt-d">{summary}<div class="tt-story">{story}</div></details>'


def padding_tokens(piece: str, count: int, token_id: object = "", story: str = "") -> str:
    """Padding as one token, with how often it stands there."""
    return coloured_token("", f"{piece} × {count}", token_id, "tt-padding", story)


def gap(text: str) -> str:
    """What is between two tokens."""
    return f'<span class="tt-gap">{escaped(text)}</span>'


# ---- a result in a notebook ----------------------------------------------------------------------

_MOST_ROWS, _MOST_TOKENS, _MOST_CHARACTERS = 10, 2000, 100_000
COLOURS = 4  # tokens take turns with them


def html_of(
    columns: Mapping[str, Any], encodings: Sequence[Any] | None, maker: Any, given: Any
) -> str:
    """The tokens of the first rows over the texts that they are of; the details of other rows are
    not computed.

    `encodings` are those of `inputs.rows`. Those of the rows that are shown `maker`, a plan,
    computes where there are none, from what was `given`, if that is known: the encoder, the texts,
    and whether the call was for one item.
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
            # nobody can tell where the tokens are from
            with contextlib.suppress(NotSupportedError):
                encodings = maker.encodings((encoder, samples, one), None)
    count = _number_of_rows(columns.get("input_ids"))
    shown = list(encodings or ())[:_MOST_ROWS]
    sample_of = columns.get("overflow_to_sample_mapping")
    widths = [len(row) for row in columns["input_ids"][: len(shown)]] if shown and count > 1 else []
    left = _MOST_TOKENS
    for number, row in enumerate(shown):
        place = number if sample_of is None else int(sample_of[number])
        sample = samples[place] if place < len(samples) else ()
        missing = widths[number] - len(row) if widths else 0
        texts_of_row = (sample,) if isinstance(sample, str) else sample
        tokens = list(_row_of_tokens(row, texts_of_row, unknown, left))
        if missing > 0:  # longer rows than those shown have made more padding
            is_left = "attention_mask" in columns and not columns["attention_mask"][number][0]
            tokens.insert(0 if is_left else len(tokens), padding_tokens("padding", missing))
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
        given = (sample,) if isinstance(sample, str) else sample
        left -= sum(len(text) if isinstance(text, str) else sum(map(len, text)) for text in given)
        if left < 0:
            break
        found.append(sample)
    return found


def _number_of_rows(ids: Any) -> int:
    """How many rows a column of ids has."""
    shape = getattr(ids, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) > 1 else 1
    return len(ids) if isinstance(ids, list) and ids and not isinstance(ids[0], int) else 1


def _row_of_tokens(row: Any, texts: Sequence[Any], unknown: str, most: int) -> Iterator[str]:
    sequence_ids = row.sequence_ids
    position = 0
    text_before: int | None = None
    padding = row.attention_mask.count(0)
    for number in range(min(len(row), most)):
        piece, token_id, which = row.tokens[number], row.ids[number], sequence_ids[number]
        if not row.attention_mask[number]:
            if padding:
                yield padding_tokens(piece, padding, token_id)
            padding = 0
            continue
        if which is None:
            yield coloured_token("", str(piece), token_id, "tt-special", "")
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
        look = "tt-unknown" if piece == unknown and source != unknown else f"tt-c{number % COLOURS}"
        told = (
            f"<b>{number}</b> <em>id {token_id}</em> <em>{start}-{end}</em> <em>word"
            f" {row.word_ids[number]}</em>"
        )
        yield coloured_token(source, piece, token_id, look, told)


def _shape(value: Any) -> str:
    """The size of a column, as numpy writes shapes."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, list):
        shape = (len(value),)
        if value and isinstance(value[0], list):
            widths = {len(row) for row in value}
            shape = (len(value), widths.pop() if len(widths) == 1 else "…")
    return "" if shape is None else f"({', '.join(map(str, shape))})"
