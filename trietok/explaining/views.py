"""The views of an explanation: lines for a terminal, and HTML.

In: an `Explanation`. Out: its views, whose parts are short enough to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from trietok.explaining.values import Change, ExplainedToken, touch
from trietok.showing.characters import (
    cut_to,
    described,
    filled_to,
    is_hidden,
    visible,
    width,
    wrapped,
)
from trietok.showing.html import (
    COLOURS,
)

if TYPE_CHECKING:
    from trietok.explaining.tokens import ExplainedText, RowTokens, Stage, TruncatedTexts


class Explained(Protocol):
    """What views show of an explanation."""

    @property
    def tokenizer(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def texts(self) -> tuple[ExplainedText, ...]: ...
    @property
    def rows(self) -> tuple[RowTokens, ...]: ...
    @property
    def tokens(self) -> RowTokens: ...
    @property
    def truncated(self) -> RowTokens: ...
    @property
    def template(self) -> tuple[str, ...]: ...
    @property
    def truncation(self) -> TruncatedTexts: ...
    @property
    def input_ids(self) -> list[Any]: ...
    @property
    def counts(self) -> dict[str, int]: ...


# ---- what every view shows: the first tokens; changes that belong together, as one ---------------

MOST_TOKENS_SHOWN = 2000  # tokens of a view
_MOST_REASONS = 60  # of a stage
_MOST_PLACES = 12  # of a reason
# stages whose changes are plain without names
_NAMELESS = (
    "lower-case",
    "lower-case-around-tokens",
    "chinese",
)
_LONGEST = 24  # characters that a line of changes joins
_MOST_LOOKED_AT = 20_000  # changes of a stage
_MOST_ADDED = 20  # added tokens that a stage found, and as many that it rejected
_MOST = 3  # names or entries that a sentence lists


class Segment(NamedTuple):
    """A stretch of the original text: what one token stands for, or what is between tokens."""

    text: str
    token: ExplainedToken | None = None  # None between tokens
    colour: int = 0  # the number of the token's colour


def segments(text: ExplainedText, tokens: Sequence[ExplainedToken]) -> list[Segment]:
    """The original text, cut into what its first tokens stand for and what is between them, up to
    the last of them.
    """
    found: list[Segment] = []
    position = 0
    for number, token in enumerate(tokens):
        if token.start > position:
            found.append(Segment(text.text[position : token.start]))
        start = max(token.start, position)  # the spans of two tokens may overlap
        found.append(Segment(text.text[start : token.end], token, number % COLOURS))
        position = max(position, token.end)
    if len(tokens) == len(text.tokens) and position < len(text.text):
        found.append(Segment(text.text[position : position + 10 * MOST_TOKENS_SHOWN]))
    return found


PlaceOfChange = tuple[
    int, int, str
]  # where something is in the original, and what became of it, to read


class ShownChange(NamedTuple):
    """What a stage did for one reason."""

    kind: str  # "deleted", "changed" or "inserted"; of added tokens "changed" or "rejected"
    why: str  # the reason, with the names of the characters; "" for added tokens that were found
    places: list[PlaceOfChange]  # the first places; those side by side are one
    more: int  # how many places there are beside these


def shown_changes(stage: Stage) -> tuple[list[ShownChange], int]:
    """What a stage did, by the reasons, and how many changes there are beside those."""
    runs: list[list[Change]] = []
    for change in stage.changes[:_MOST_LOOKED_AT]:
        last = runs[-1][-1] if runs else None
        is_next = last is not None and last.end == change.start and len(runs[-1]) < _LONGEST
        if last is not None and is_next and (last.kind, last.why) == (change.kind, change.why):
            runs[-1].append(change)
        else:
            runs.append([change])
    groups: dict[tuple[str, str], list[PlaceOfChange]] = {}
    left_out = max(len(stage.changes) - _MOST_LOOKED_AT, 0)
    for run in runs:
        before, after = (
            "".join(chars)
            for chars in zip(*((each.before, each.after) for each in run), strict=True)
        )
        names = list(dict.fromkeys(map(described, before)))
        why = run[0].why if run[0].stage in _NAMELESS else f"{first_names(names)}: {run[0].why}"
        key = run[0].kind, why
        if key not in groups and len(groups) == _MOST_REASONS:
            left_out += len(run)
            continue
        groups.setdefault(key, []).append(
            (run[0].start, run[-1].end, _became(run[0].kind, before, after))
        )
    shown = [
        ShownChange(kind, why, places[:_MOST_PLACES], max(len(places) - _MOST_PLACES, 0))
        for (kind, why), places in groups.items()
    ]
    found = [(each.start, each.end, visible(each.content)) for each in stage.found[:_MOST_ADDED]]
    shown += [ShownChange("changed", "", found, len(stage.found) - len(found))] if found else []
    for each in stage.rejected[:_MOST_ADDED]:
        why = f"single_word rejects it: {touch(each.touching)}"
        shown.append(
            ShownChange("rejected", why, [(each.start, each.end, visible(each.content))], 0)
        )
    return shown, left_out + max(len(stage.rejected) - _MOST_ADDED, 0)


def _became(kind: str, before: str, after: str) -> str:
    """What became of characters, to read.

    >>> _became("changed", "AB", "ab"), _became("deleted", "\\0", "")
    ('AB → ab', '⟨NUL⟩')
    """
    after = visible(after)
    if kind == "deleted":
        return visible(before)
    is_spaced = kind == "inserted" or after.isspace()
    return f"{visible(before)} → {after.replace(' ', '␣') if is_spaced else after}"


def first_names(names: Sequence[str]) -> str:
    """Some names; of many the first, and how many more there are."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def title_of(explanation: Explained, number: int) -> str:
    """What stands over the stages of a text."""
    return f"Stages of text {'AB'[number]}" if len(explanation.texts) > 1 else "Stages"


def in_runs(stages: Sequence[Stage]) -> Iterator[tuple[bool, list[tuple[int, Stage]]]]:
    """The stages with their numbers; those in a row that changed nothing, which share a line, are
    together.
    """
    for is_idle, run in groupby(enumerate(stages, start=1), lambda numbered: numbered[1].is_idle):
        yield is_idle, list(run)


def notes(explanation: Explained) -> Iterator[str]:
    """What there is to say of truncation and of rows."""
    cut = explanation.truncation
    removed = sum(cut.removed)
    if removed:
        of_texts = " and ".join(
            f"{count:,} of {len(text.tokens):,} tokens"
            + (f" of text {'AB'[number]}" if len(cut.removed) > 1 else "")
            for number, (count, text) in enumerate(zip(cut.removed, explanation.texts, strict=True))
            if count
        )
        yield f"{of_texts} removed on the {cut.side}: {cut.strategy}, max_length {cut.max_length:,}"
    if len(explanation.rows) > 1:
        sizes = ", ".join(str(len(row)) for row in explanation.rows[1:11]) + ", …" * (
            len(explanation.rows) > 11
        )
        stride = f", each repeating {cut.stride}" if cut.stride else ""
        more = len(explanation.rows) - 1
        yield (
            f"{more} more row{'s' if more > 1 else ''} of what did not fit ({sizes} tokens{stride})"
        )


# ---- an explanation for a terminal: lines of pieces, each with the name of a style, which the
# command gives a colour -

StyledText = tuple[str, str]  # a text, and the name of its style
StyledLine = list[StyledText]

_GLUE = (  # for a space at which no line is to be broken; `visible` leaves none in a text
    "\N{NO-BREAK SPACE}"
)
_NARROW = 64  # columns: a terminal with fewer has the stories below the tokens
_WIDEST_TOKEN, _WIDEST_SOURCE = 18, 16
_MOST_TEXT = 4000  # characters of the text at the top


def plain(lines: Iterable[StyledLine]) -> str:
    """The lines without styles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def explanation_lines(
    explanation: Explained, columns: int, *, bars: bool = True
) -> Iterator[StyledLine]:
    """The explanation, line by line, with `bars` between the tokens of the text where no colours
    tell them apart.
    """
    columns = max(columns, 20)
    named = f" · {visible(explanation.name)}" if explanation.name else ""
    yield [(cut_to(f"{explanation.tokenizer} ({explanation.profile}){named}", columns), "head")]
    for number, text in enumerate(explanation.texts):
        yield []
        label = f"{'AB'[number]}  " if len(explanation.texts) > 1 else ""
        yield from _coloured_text(
            label, segments(text, text.tokens[:MOST_TOKENS_SHOWN]), columns, bars
        )
    for number, text in enumerate(explanation.texts):
        yield []
        yield [(title_of(explanation, number), "title")]
        for is_idle, run in in_runs(text.stages):
            if is_idle:
                yield from _idle(run, columns)
            else:
                yield from (line for each, stage in run for line in _stage(each, stage, columns))
    yield from _lines_of_call(explanation, columns)
    left = MOST_TOKENS_SHOWN
    for head, tokens, what in (
        ("Tokens", explanation.tokens, " tokens"),
        ("Truncated", explanation.truncated, ""),
    ):
        shown = tokens[:left]
        if shown or what:
            yield []
            yield [(head, "title"), (f"  {len(tokens):,}", "dim")]
            yield from _tokens(explanation, shown, columns)
            if len(tokens) > len(shown):
                yield [(f"… the first {len(shown):,} of {len(tokens):,}{what} are shown", "dim")]
        left -= len(shown)


def _coloured_text(
    label: str, parts: Sequence[Segment], columns: int, bars: bool
) -> Iterator[StyledLine]:
    """The text, each token in its colour, broken into lines."""
    line: StyledLine = [(label, "dim")] if label else []
    used = width(label)
    left = _MOST_TEXT
    before: ExplainedToken | None = None
    if not any(part.text for part in parts):
        yield [*line, ("(empty text)", "dim")]
        return
    for part in parts:
        bar = bars and before is not None and part.token is not None and bool(part.text)
        before = part.token
        shown_text = [(char, _style(part.token, part.colour, char)) for char in part.text[:left]]
        for char, style in [("│", "dim")] * bar + shown_text:
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


def _style(token: ExplainedToken | None, colour: int, char: str = "") -> str:
    """The style of a token, or of a character between tokens."""
    if token is None:
        return "hidden" if is_hidden(char) else ""
    if token.is_truncated:
        return "truncated"
    return (
        token.kind if token.kind in ("unknown", "special", "padding", "added") else f"token{colour}"
    )


def hung(front: StyledLine, text: str, style: str, columns: int) -> Iterator[StyledLine]:
    """A text behind the front of a line, broken into lines that begin below where it begins."""
    used = sum(width(part) for part, _ in front)
    for line in wrapped(text, columns - used):
        yield [*front, (line, style)]
        front = [(" " * used, front[-1][1])]


def _idle(stages: Sequence[tuple[int, Stage]], columns: int) -> Iterator[StyledLine]:
    first, last = stages[0][0], stages[-1][0]
    numbers = f"{first:>3} " if first == last else f"  {first}-{last} "
    titles = "; ".join(stage.title for _, stage in stages)
    yield from hung([(numbers, "dim")], f"no change: {titles}", "dim", columns)


def _stage(number: int, stage: Stage, columns: int) -> Iterator[StyledLine]:
    yield [(f"{number:>3} ", "dim"), (cut_to(stage.title, columns - 4), "stage")]
    if stage.gave != stage.given:
        yield [("    ", ""), (cut_to(visible(stage.gave[: 2 * columns]), columns - 4), "gave")]
    changes, more = shown_changes(stage)
    for change in changes:
        if len(change.places) == 1 and change.why:
            start, end, text = change.places[0]
            front = [("      ", ""), (f"{start}-{end}", "place"), ("  ", "")]
            yield from _with_text(front, text, change.kind, change.why, columns)
            continue
        places = [f"{start}-{end} {text}".replace(" ", _GLUE) for start, end, text in change.places]
        first_names = ", ".join(places) + (f", … {change.more:,} more" if change.more else "")
        for line_number, line in enumerate(wrapped(first_names, columns - 8)):
            yield [
                ("      " if line_number == 0 else "        ", ""),
                (line.replace(_GLUE, " "), change.kind),
            ]
        if change.why:
            yield from hung([("        ", "")], change.why, "story", columns)
    if more:
        yield [(f"      … and {more:,} more", "dim")]


def _with_text(
    front: StyledLine, what: str, style: str, why: str, columns: int
) -> Iterator[StyledLine]:
    """A line of columns with a text that is broken below itself."""
    used = sum(width(text) for text, _ in front)
    what = cut_to(what, max(columns - used, 2))
    if columns - (used + width(what) + 2) < 24:  # the text goes below
        yield [*front, (what, style)]
        front = [(" " * used, "")]
    else:
        front = [*front, (what, style), ("  ", "")]
    yield from hung(front, why, "story", columns)


def _lines_of_call(explanation: Explained, columns: int) -> Iterator[StyledLine]:
    """The stages of the whole call: template and truncation."""
    yield []
    yield from hung(
        [("Template", "title"), ("  ", "")], " ".join(explanation.template), "gave", columns
    )
    for line in notes(explanation):
        for number, part in enumerate(wrapped(line, columns - 6)):
            yield [("    " if number == 0 else "      ", ""), (part, "stage")]


def _tokens(
    explanation: Explained, tokens: Sequence[ExplainedToken], columns: int
) -> Iterator[StyledLine]:
    """A table of tokens; where the terminal is narrow, each story is below its token."""
    is_pair = len(explanation.texts) > 1
    rows: list[tuple[list[str], ExplainedToken, str]] = []
    for token, count in token_runs(tokens):
        cells = [
            visible(token.token) + (f" × {count}" if count > 1 else ""),
            str(token.id),
            *([str(token.type_id)] if is_pair else []),
            "" if token.text is None else f"{token.start}-{token.end}",
            "" if token.source == token.token else visible(token.source),
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
        yield [(text, "dim") for text, _ in _cells(heads, widths, "dim")]
    for cells, token, style in rows:
        front = _cells(cells, widths, style)
        # they are under a heading of their own
        sentences = " ".join(token._replace(is_truncated=False).story)
        if columns < _NARROW:
            yield _fitting(front, columns)
            front = [("    ", "")]
        yield from hung(front, sentences, "story", columns)


def _cells(cells: list[str], widths: list[int], style: str) -> StyledLine:
    token, *others = map(cut_to, cells, widths)
    line = [(token, style), (" " * (widths[0] - width(token) + 2), "")]
    styles = ["id", *["dim"] * (len(others) - 3), "place", ""]
    columns = zip(others, widths[1:], styles, strict=True)
    return line + [
        (filled_to(cell, size, right=look == "id") + "  ", look) for cell, size, look in columns
    ]


def _fitting(line: StyledLine, columns: int) -> StyledLine:
    """The front of a line that fits."""
    fitting: StyledLine = []
    left = columns
    for text, style in line:
        if width(text) > left:
            fitting.append((cut_to(text.rstrip(), left), style))
            break
        fitting.append((text, style))
        left -= width(text)
    return fitting


def token_runs(tokens: Sequence[ExplainedToken]) -> Iterator[tuple[ExplainedToken, int]]:
    """The tokens, with padding counted."""
    for is_padding, run in groupby(tokens, lambda token: token.kind == "padding"):
        same = list(run)
        yield from [(same[-1], len(same))] if is_padding else [(token, 1) for token in same]


# ---- an explanation as one fragment of HTML without scripts; a click on a token opens its story
# beside it ------------
