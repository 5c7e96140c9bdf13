"""An explanation as a fragment of HTML.

In: an explanation. Out: the row of ids, the story of each token, the stages, and the searches, to
be opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from trietok.explaining.values import ExplainedToken
from trietok.explaining.views import (
    MOST_TOKENS_SHOWN,
    Explained,
    in_runs,
    notes,
    segments,
    shown_changes,
    title_of,
    token_runs,
)
from trietok.showing.characters import visible
from trietok.showing.html import (
    coloured_token,
    escaped,
    gap,
    heading,
    note,
    padding_tokens,
    table,
    title,
)

if TYPE_CHECKING:
    from trietok.explaining.tokens import ExplainedText, Stage


_MOST_GAVE = 2000  # characters of the text after a stage


_MOST_SEARCHES = 60  # words


_MOST_TRIED = 8  # entries looked up in vain, of each piece


HINT = "Click a token to see why it is one."


def explanation_parts(explanation: Explained, reasons: bool) -> Iterator[str]:
    """The parts of the fragment; with `reasons`, those of all tokens are a table, and none is at
    its token.
    """
    named = f" · {explanation.name}" if explanation.name else ""
    counts = ", ".join(
        f"{n:,} {what.removesuffix('s' * (n == 1))}" for what, n in explanation.counts.items()
    )
    yield heading(explanation.tokenizer, aside=f"{explanation.profile} profile{named} · {counts}")
    yield from rows_html(explanation, "" if reasons else HINT)
    for line in notes(explanation):
        yield note(line)
    tokens, truncated = explanation.tokens, explanation.truncated
    count = len(tokens) + len(truncated)
    if count > MOST_TOKENS_SHOWN:
        yield note(f"The first {MOST_TOKENS_SHOWN:,} of {count:,} tokens are shown.")
    if reasons:
        listed = token_runs(
            [*tokens[:MOST_TOKENS_SHOWN], *truncated[: max(MOST_TOKENS_SHOWN - len(tokens), 0)]]
        )
        rows = [
            (
                visible(each.token) + (f" × {number}" if number > 1 else ""),
                str(each.id),
                "" if each.text is None else f"{each.start}-{each.end}",
                " ".join(each.story),
            )
            for each, number in listed
        ]
        yield title("Reasons") + table(["token", "id", "place", "why"], rows, right=[1], mono=[0])
    for number, text in enumerate(explanation.texts):
        yield title(title_of(explanation, number)) + _stages_html(text, reasons)


def rows_html(
    explanation: Explained, hint: str, marked: Collection[tuple[int | None, int | None]] = ()
) -> Iterator[str]:
    """The row of ids, with tokens marked by text and position; without a hint to read them they
    have no stories.
    """

    def shown(each: ExplainedToken, colour: int = 0, source: str = "") -> str:
        look = f"tt-c{colour}"
        if each.kind in ("special", "unknown"):
            look = f"tt-{each.kind}"
        elif each.kind in ("added", "kept"):
            look += " tt-added"
        look += " tt-cut" * each.is_truncated + " tt-differs" * (
            (each.text, each.position) in marked
        )
        return coloured_token(source, each.token, each.id, look, _story(each) if hint else "")

    left = MOST_TOKENS_SHOWN
    specials = iter(explanation.tokens.specials)
    lines: list[list[str]] = [[]]
    pad, count, is_left = explanation.tokens.padding or (None, 0, False)
    filling = (
        []
        if pad is None
        else [padding_tokens(pad.token, count, pad.id, _story(pad) if hint else "")]
    )
    if is_left:
        lines[-1] += filling
    for name in explanation.template:
        if name not in ("A", "B"):
            lines[-1].append(shown(next(specials)))
            continue
        if name == "B":
            lines.append([])
        text = explanation.texts["AB".index(name)]
        parts = segments(text, text.tokens[:left])
        left -= min(len(text.tokens), left)
        lines[-1] += [
            gap(part.text) if part.token is None else shown(part.token, part.colour, part.text)
            for part in parts
        ]
    if not is_left:
        lines[-1] += filling
    rows = "".join(f'<div class="tt-text">{"".join(line)}</div>' for line in lines)
    told = f'<p class="tt-hint">{hint}</p>' if hint else ""
    yield f'<div class="tt-stage-area">{rows}{told}</div>'


def _story(each: ExplainedToken) -> str:
    where = "" if each.text is None else f" <em>{each.start}-{each.end}</em>"
    types = f" <em>type {each.type_id}</em>" if each.type_id else ""
    sentences = "".join(f"<p>{escaped(sentence)}</p>" for sentence in each.story)
    return f"<b>{escaped(each.token)}</b> <em>id {each.id}</em>{where}{types}{sentences}"


def _stages_html(text: ExplainedText, open_all: bool) -> str:
    """What each stage did, as a numbered list, with what can be opened open where nobody can open
    it.
    """
    items: list[str] = []
    for is_idle, run in in_runs(text.stages):
        if is_idle:
            titles = "; ".join(stage.title for _, stage in run)
            first, last = run[0][0], run[-1][0]
            span, look = (f"{first}–{last}, ", " tt-span") if last > first else ("", "")
            items.append(
                f'<li class="tt-idle{look}" value="{first}">{span}no change: {escaped(titles)}</li>'
            )
        else:
            items += [f'<li value="{number}">{_stage_html(stage)}</li>' for number, stage in run]
    opened = [items[-1].removesuffix("</li>"), *_searches(text, open_all), "</li>"]
    return f"<ol>{''.join([*items[:-1], *opened])}</ol>"


def _stage_html(stage: Stage) -> str:
    gave = stage.gave[:_MOST_GAVE] + ("…" if len(stage.gave) > _MOST_GAVE else "")
    shown = (
        f' <span class="tt-gave tt-mono">{escaped(gave)}</span>'
        if stage.gave != stage.given
        else ""
    )
    return f'<b class="tt-n">{escaped(stage.title)}</b>{shown}{"".join(_changes_html(stage))}'


def _searches(text: ExplainedText, open_all: bool) -> Iterator[str]:
    """How WordPiece searched each word that is no entry: what it looked up, the longest first, and
    what it found.
    """
    if text.tokens.has_own_matcher:
        return
    tokens = [
        token for token in text.tokens[:MOST_TOKENS_SHOWN] if token.kind in ("wordpiece", "unknown")
    ]
    words = {
        token.word_text: token.unknown
        for token in tokens
        if token.unknown or token.token != token.word_text
    }
    for word, unknown in list(words.items())[:_MOST_SEARCHES]:
        if unknown and unknown.reason != "no-piece":
            continue
        searches = text.tokens.searched(word)
        pieces = [match.entries[-1] if match.entries else "" for _, match in searches]
        lines = []
        for piece, (covered, match) in zip(pieces, searches, strict=True):
            # of nothing but what marks a rest
            shortest = len(piece) or len(match.left) - (len(word) - covered)
            tried = [escaped(match.left[:end]) for end in range(len(match.left), shortest, -1)]
            if len(tried) > _MOST_TRIED:
                tried[_MOST_TRIED // 2 : 1 - _MOST_TRIED // 2] = ["…"]
            vain = f"no entry: {', '.join(f'<s>{each}</s>' for each in tried)}" if tried else ""
            end = f"found: <b>{escaped(piece)}</b>" if piece else "nothing is left to try"
            lines.append(f'<p class="tt-mono">{"; ".join(filter(None, [vain, end]))}</p>')
        shown = mono(f"{word} → {' '.join(pieces) if pieces[-1] else 'unknown'}")
        yield (
            f'<details class="tt-search"{" open" * open_all}><summary>{shown}</summary>'
            f"{''.join(lines)}</details>"
        )
    if len(words) > _MOST_SEARCHES:
        yield _why(f"… and {len(words) - _MOST_SEARCHES:,} more words")


def _changes_html(stage: Stage) -> Iterator[str]:
    changes, more = shown_changes(stage)
    for change in changes:
        places = (
            f"<small>{start}-{end}</small> <span>{escaped(text)}</span>"
            for start, end, text in change.places
        )
        chips = "".join(
            f' <span class="tt-ch tt-{change.kind}">{place}</span> ' for place in places
        )
        left = f" and {change.more:,} more" if change.more else ""
        yield _why(f"{chips}{left} {escaped(change.why)}")
    if more:
        yield _why(f"… and {more:,} more")


def _why(html: str) -> str:
    return f'<span class="tt-why">{html}</span>'


def mono(text: str) -> str:
    """A text as HTML, in letters of one width."""
    return f'<span class="tt-mono">{escaped(text)}</span>'
