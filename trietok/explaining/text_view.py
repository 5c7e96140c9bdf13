"""An explanation for a terminal: the text with its tokens, the stages, the tokens with their stories.

In: an `Explanation` and a number of columns. Out: lines of pieces, each with the name of a style; the command gives the
styles colours. Without colours, bars stand between the tokens of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trietok.explaining.shown import (
    COLOURS,
    MOST_SHOWN,
    Segment,
    became,
    first_tokens,
    notes,
    place,
    segments,
    shown_changes,
)
from trietok.explaining.values import Token
from trietok.showing.cells import cut_to, padded, width, wrapped
from trietok.showing.characters import is_hidden, visible

if TYPE_CHECKING:
    from trietok.explaining.explanation import Explanation, Stage

Styled = tuple[str, str]  # a text, and the name of its style
Line = list[Styled]

_GLUE = "\N{NO-BREAK SPACE}"  # `visible` leaves none in a text
_NARROW = 64  # columns: a terminal with fewer has the stories below the tokens
_WIDEST_TOKEN, _WIDEST_SOURCE = 18, 16
_MOST_TEXT = 4000  # characters of the text at the top
_MOST_FOUND, _MOST_REJECTED = 20, 20  # of a stage


def plain(lines: Iterable[Line]) -> str:
    """The lines without styles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def lines_of(explanation: Explanation, columns: int, *, bars: bool = True) -> Iterator[Line]:
    """The explanation, line by line.

    Args:
        explanation: what to show.
        columns: how wide the terminal is.
        bars: put bars between tokens of the text; colours make them unnecessary.
    """
    columns = max(columns, 20)
    named = f" · {visible(explanation.name)}" if explanation.name else ""
    yield [(cut_to(f"{explanation.tokenizer} ({explanation.profile}){named}", columns), "head")]
    shown = first_tokens(explanation.tokens)
    for number, text in enumerate(explanation.texts):
        yield []
        tokens = first_tokens(text.tokens)
        label = f"{'AB'[number]}  " if len(explanation.texts) > 1 else ""
        yield from _coloured_text(label, segments(text, tokens), columns, bars)
    for number, text in enumerate(explanation.texts):
        yield []
        of_text = f" of text {'AB'[number]}" if len(explanation.texts) > 1 else ""
        yield [(f"Stages{of_text}", "title")]
        yield from _stages(text.stages, columns)
    yield from _around(explanation, columns)
    yield []
    yield [("Tokens", "title"), (f"  {len(explanation.tokens):,}", "dim")]
    yield from _tokens(explanation, shown, columns)
    if len(explanation.tokens) > len(shown):
        yield [(f"… the first {MOST_SHOWN:,} of {len(explanation.tokens):,} tokens are shown", "dim")]
    gone = first_tokens(explanation.truncated, max(MOST_SHOWN - len(shown), 0))
    if gone:
        yield []
        yield [("Truncated", "title"), (f"  {len(explanation.truncated):,}", "dim")]
        yield from _tokens(explanation, gone, columns)
        if len(explanation.truncated) > len(gone):
            yield [(f"… the first {len(gone):,} of {len(explanation.truncated):,} are shown", "dim")]


# ---- the text -------------------------------------------------------------------------------------------------------


def _coloured_text(label: str, parts: Sequence[Segment], columns: int, bars: bool) -> Iterator[Line]:
    """The text, each token in its colour, broken into lines."""
    line: Line = [(label, "dim")] if label else []
    used = width(label)
    left = _MOST_TEXT
    before: Token | None = None
    if not any(part.text for part in parts):
        yield [*line, ("(empty text)", "dim")]
        return
    for part in parts:
        bar = bars and before is not None and part.token is not None and bool(part.text)
        before = part.token
        for char, style in [("│", "dim")] * bar + [(char, _style_of(part, char)) for char in part.text[:left]]:
            shown = visible(char) if is_hidden(char) else char
            if used + width(shown) > columns:
                yield line
                line, used = ([(" " * width(label), "")] if label else []), width(label)
            used += width(shown)
            if line and line[-1][1] == style:
                line[-1] = line[-1][0] + shown, style
            else:
                line.append((shown, style))
        left -= len(part.text)
        if left <= 0:
            line.append((" …", "dim"))
            break
    yield line


def _style_of(part: Segment, char: str) -> str:
    if part.token is None:
        return "hidden" if is_hidden(char) else ""
    return _style(part.token, part.colour)


def _style(token: Token, colour: int) -> str:
    if token.is_truncated:
        return "truncated"
    return token.kind if token.kind in ("unknown", "special", "padding", "added") else f"token{colour}"


# ---- the stages -----------------------------------------------------------------------------------------------------


def _stages(stages: Sequence[Stage], columns: int) -> Iterator[Line]:
    """What each stage did; stages that changed nothing share a line."""
    idle: list[tuple[int, Stage]] = []
    for number, stage in enumerate(stages, start=1):
        if stage.is_idle:
            idle.append((number, stage))
            continue
        yield from _idle(idle, columns)
        idle = []
        yield from _stage(number, stage, columns)
    yield from _idle(idle, columns)


def _idle(stages: Sequence[tuple[int, Stage]], columns: int) -> Iterator[Line]:
    if stages:
        first, last = stages[0][0], stages[-1][0]
        numbers = f"{first:>3} " if first == last else f"  {first}-{last} "
        titles = "; ".join(stage.title for _, stage in stages)
        for number, line in enumerate(wrapped(f"no change: {titles}", columns - len(numbers))):
            yield [(numbers if number == 0 else " " * len(numbers), "dim"), (line, "dim")]


def _stage(number: int, stage: Stage, columns: int) -> Iterator[Line]:
    yield [(f"{number:>3} ", "dim"), (cut_to(stage.title, columns - 4), "stage")]
    if stage.gave != stage.given:
        yield [("    ", ""), (cut_to(visible(stage.gave[: 2 * columns]), columns - 4), "gave")]
    changes, more = shown_changes(stage)
    for change in changes:
        if len(change.places) == 1:
            at = change.places[0]
            front = [("      ", ""), (place(at.start, at.end), "place"), ("  ", "")]
            yield from _with_text(front, became(change.kind, at), change.kind, change.why, columns)
            continue
        places = [_whole(f"{place(at.start, at.end)} {became(change.kind, at)}") for at in change.places]
        listed = ", ".join(places) + (f", … {change.more:,} more" if change.more else "")
        for line_number, line in enumerate(wrapped(listed, columns - 8)):
            yield [("      " if line_number == 0 else "        ", ""), (line.replace(_GLUE, " "), change.kind)]
        for line in wrapped(change.why, columns - 8):
            yield [("        ", ""), (line, "story")]
    if more:
        yield [(f"      … and {more:,} more", "dim")]
    if stage.found:
        found = [_whole(f"{place(each.start, each.end)} {visible(each.content)}") for each in stage.found[:_MOST_FOUND]]
        more_found = f", … {len(stage.found) - _MOST_FOUND:,} more" if len(stage.found) > _MOST_FOUND else ""
        for line in wrapped(", ".join(found) + more_found, columns - 6):
            yield [("      ", ""), (line.replace(_GLUE, " "), "changed")]
    for rejected in stage.rejected[:_MOST_REJECTED]:
        touching = " and ".join(f"“{visible(char)}”" for char in rejected.touching if char)
        why = f"single_word rejects it: {touching} touch{'' if all(rejected.touching) else 'es'} it"
        front = [("      ", ""), (place(rejected.start, rejected.end), "place"), ("  ", "")]
        yield from _with_text(front, visible(rejected.content), "changed", why, columns)
    if len(stage.rejected) > _MOST_REJECTED:
        yield [(f"      … and {len(stage.rejected) - _MOST_REJECTED:,} more", "dim")]


def _whole(text: str) -> str:
    """A text in which no line is broken at a space."""
    return text.replace(" ", _GLUE)


def _with_text(front: Line, what: str, style: str, why: str, columns: int) -> Iterator[Line]:
    """A line of columns with a text that is broken below itself."""
    used = sum(width(text) for text, _ in front)
    what = cut_to(what, max(columns - used, 2))
    indent = used + width(what) + 2
    if columns - indent < 24:  # the text goes below
        yield [*front, (what, style)]
        indent = used
        front = [(" " * used, "")]
    else:
        front = [*front, (what, style), ("  ", "")]
    for number, line in enumerate(wrapped(why, columns - indent)):
        yield [*(front if not number else [(" " * indent, "")]), (line, "story")]


def _around(explanation: Explanation, columns: int) -> Iterator[Line]:
    """The stages of the whole call: template and truncation."""
    yield []
    front: Line = [("Template", "title"), ("  ", "")]
    for part in wrapped(" ".join(explanation.template), columns - 10):
        yield [*front, (part, "gave")]
        front = [(" " * 10, "")]
    for line in notes(explanation):
        for number, part in enumerate(wrapped(line, columns - 6)):
            yield [("    " if number == 0 else "      ", ""), (part, "stage")]


# ---- the tokens -----------------------------------------------------------------------------------------------------


def _tokens(explanation: Explanation, tokens: Sequence[Token], columns: int) -> Iterator[Line]:
    """A table of tokens; where the terminal is narrow, each story is below its token."""
    is_pair = len(explanation.texts) > 1
    rows: list[tuple[list[str], Token, str]] = []
    for token, count in _runs(tokens):
        cells = [
            visible(token.token) + (f" × {count}" if count > 1 else ""),
            str(token.id),
            *([str(token.type_id)] if is_pair else []),
            "" if token.text is None else place(token.start, token.end),
            _source(token),
        ]
        rows.append((cells, token, _style(token, (token.position or 0) % COLOURS)))
    if not rows:
        return
    most = [_WIDEST_TOKEN, 12, *([4] if is_pair else []), 15, _WIDEST_SOURCE]
    if columns < _NARROW:
        most = [max(columns - 20, 8), 9, *([2] if is_pair else []), 9, max(columns // 4, 6)]
    widths = [
        min(max(map(width, column)), top)
        for column, top in zip(zip(*(row[0] for row in rows), strict=True), most, strict=True)
    ]
    if columns >= _NARROW:
        heads = ["token", "id", *(["type"] if is_pair else []), "place", "text"]
        widths = [max(size, len(head)) for size, head in zip(widths, heads, strict=True)]
        yield [(text, "dim") for text, _ in _cells(heads, widths, "dim", is_pair)]
    for cells, token, style in rows:
        front = _cells(cells, widths, style, is_pair)
        sentences = " ".join(token._replace(is_truncated=False).story)  # they are under a heading of their own
        used = sum(width(text) for text, _ in front)
        if columns < _NARROW:
            yield _fitting(front, columns)
            for line in wrapped(sentences, columns - 4):
                yield [("    ", ""), (line, "story")]
            continue
        for index, line in enumerate(wrapped(sentences, columns - used)):
            yield [*(front if not index else [(" " * used, "")]), (line, "story")]


def _cells(cells: list[str], widths: list[int], style: str, is_pair: bool) -> Line:
    token, token_id, *types, at, source = cells
    line: Line = [(cut_to(token, widths[0]), style)]
    line.append((" " * (widths[0] - width(line[0][0]) + 2), ""))
    line.append((padded(cut_to(token_id, widths[1]), widths[1], right=True) + "  ", "id"))
    if is_pair:
        line.append((padded(types[0], widths[2]) + "  ", "dim"))
    line.append((padded(cut_to(at, widths[-2]), widths[-2]) + "  ", "place"))
    line.append((padded(cut_to(source, widths[-1]), widths[-1]) + "  ", ""))
    return line


def _fitting(line: Line, columns: int) -> Line:
    """The front of a line that fits."""
    fitting: Line = []
    left = columns
    for text, style in line:
        if width(text) > left:
            fitting.append((cut_to(text.rstrip(), left), style))
            break
        fitting.append((text, style))
        left -= width(text)
    return fitting


def _source(token: Token) -> str:
    """What a token stands for, where that is not plain from the token itself."""
    return "" if token.source == token.token else visible(token.source)


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """The tokens, with padding counted."""
    padding: Token | None = None
    count = 0
    for token in tokens:
        if token.kind == "padding":
            padding, count = token, count + 1
            continue
        if padding is not None and count:
            yield padding, count
            count = 0
        yield token, 1
    if padding is not None and count:
        yield padding, count
