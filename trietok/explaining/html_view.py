"""An explanation as a fragment of HTML: the text with its tokens in colours, the story of each, the stages.

In: an `Explanation`. Out: one self-contained fragment without scripts. The story of a token is shown below the text
where the token is pointed at or has the focus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from trietok.explaining.shown import COLOURS, MOST_SHOWN, became, first_tokens, notes, place, segments, shown_changes
from trietok.explaining.values import Token
from trietok.showing.html import escaped, fragment, gap, heading, note, token

if TYPE_CHECKING:
    from trietok.explaining.explanation import ExplainedText, Explanation, Stage

_MOST_GAVE = 2000  # characters of the text after a stage
_MOST_REJECTED = 20
_HINT = "Point at a token, or move to it with the Tab key, to read why it is one."


def html_of(explanation: Explanation) -> str:
    """The fragment."""
    profile = f"{explanation.profile} profile" + (f" · {explanation.name}" if explanation.name else "")
    return fragment(heading(explanation.tokenizer, aside=profile), *_parts(explanation), label="Explanation of tokens")


def _parts(explanation: Explanation) -> Iterator[str]:
    yield '<div class="tt-stage-area">'
    yield from _rows(explanation)
    yield f'<p class="tt-hint">{_HINT}</p></div>'
    for line in notes(explanation):
        yield note(line)
    if len(explanation.tokens) + len(explanation.truncated) > MOST_SHOWN:
        yield note(
            f"The first {MOST_SHOWN:,} of {len(explanation.tokens) + len(explanation.truncated):,} tokens are shown."
        )
    for number, text in enumerate(explanation.texts):
        of_text = f" of text {'AB'[number]}" if len(explanation.texts) > 1 else ""
        yield f"<h4>Stages{of_text}</h4>"
        yield stages_list(text.stages)


# ---- the tokens -----------------------------------------------------------------------------------------------------


def _rows(explanation: Explanation) -> Iterator[str]:
    """The row of ids: special tokens, and the texts with what is between their tokens."""
    left = MOST_SHOWN
    specials = iter(explanation.tokens.specials)
    padding = explanation.tokens.padding
    lines: list[list[str]] = [[]]
    if padding is not None and padding[2]:
        lines[-1].append(_padding(*padding))
    for name in explanation.template:
        if name not in ("A", "B"):
            lines[-1].append(_token(next(specials), 0))
            continue
        if name == "B":
            lines.append([])
        text = explanation.texts["AB".index(name)]
        tokens = first_tokens(text.tokens, left)
        left -= len(tokens)
        lines[-1] += _of_text(text, tokens)
    if padding is not None and not padding[2]:
        lines[-1].append(_padding(*padding))
    for line in lines:
        yield f'<div class="tt-text">{"".join(line)}</div>'


def _padding(pad: Token, count: int, is_left: bool) -> str:
    return token("", f"{pad.token} × {count}", pad.id, "tt-padding", _story(pad), name=f"{pad.token}, {count} times")


def _of_text(text: ExplainedText, tokens: Sequence[Token]) -> Iterator[str]:
    if not text.text:
        yield gap(" ")
    for part in segments(text, tokens):
        yield gap(part.text) if part.token is None else _token(part.token, part.colour, part.text)


def _token(each: Token, colour: int, source: str = "") -> str:
    look = f"tt-c{colour % COLOURS}"
    if each.kind in ("special", "unknown"):
        look = f"tt-{each.kind}"
    elif each.kind in ("added", "kept"):
        look += " tt-added"
    if each.is_truncated:
        look += " tt-cut"
    return token(source, each.token, each.id, look, _story(each), name=f"{each.token}, id {each.id}")


def _story(each: Token) -> str:
    where = "" if each.text is None else f"<em>{place(each.start, each.end)}</em>"
    types = f"<em>type {each.type_id}</em>" if each.type_id else ""
    sentences = "".join(f"<p>{escaped(sentence)}</p>" for sentence in each.story)
    return f"<b>{escaped(each.token)}</b><em>id {each.id}</em>{where}{types}{sentences}"


# ---- the stages -----------------------------------------------------------------------------------------------------


def stages_list(stages: Sequence[Stage]) -> str:
    """What each stage did, as a numbered list; stages that changed nothing share an item."""
    items: list[str] = []
    for is_idle, group in groupby(enumerate(stages, start=1), lambda numbered: numbered[1].is_idle):
        numbered = list(group)
        if is_idle:
            titles = "; ".join(stage.title for _, stage in numbered)
            first, last = numbered[0][0], numbered[-1][0]
            to = "" if first == last else f"to {last}, "
            items.append(f'<li class="tt-idle">{_number(first)}{to}no change: {escaped(titles)}</li>')
        else:
            items += [f"<li>{_number(number)}{_stage(stage)}</li>" for number, stage in numbered]
    return f"<ol>{''.join(items)}</ol>"


def _number(number: int) -> str:
    return f'<span class="tt-no">{number}</span>'


def _stage(stage: Stage) -> str:
    gave = stage.gave[:_MOST_GAVE] + ("…" if len(stage.gave) > _MOST_GAVE else "")
    shown = f'<span class="tt-gave tt-mono">{escaped(gave)}</span>' if stage.gave != stage.given else ""
    return f'<span class="tt-n">{escaped(stage.title)}</span>{shown}{"".join(_changes(stage))}'


def _changes(stage: Stage) -> Iterator[str]:
    changes, more = shown_changes(stage)
    for change in changes:
        chips = "".join(
            f'<span class="tt-ch tt-{change.kind}"><small>{place(at.start, at.end)}</small>'
            f"<span>{escaped(became(change.kind, at))}</span></span>"
            for at in change.places
        )
        left = f" and {change.more:,} more" if change.more else ""
        yield f'<span class="tt-why">{chips}{left} {escaped(change.why)}</span>'
    if more:
        yield f'<span class="tt-why">… and {more:,} more</span>'
    if stage.found:
        chips = "".join(
            f'<span class="tt-ch"><small>{place(each.start, each.end)}</small>'
            f"<span>{escaped(each.content)}</span></span>"
            for each in stage.found[:_MOST_REJECTED]
        )
        left = f" and {len(stage.found) - _MOST_REJECTED:,} more" if len(stage.found) > _MOST_REJECTED else ""
        yield f'<span class="tt-why">{chips}{left}</span>'
    for rejected in stage.rejected[:_MOST_REJECTED]:
        touching = " and ".join(f"“{char}”" for char in rejected.touching if char)
        why = f"single_word rejects it: {touching} touch{'' if all(rejected.touching) else 'es'} it"
        chip = f"<small>{place(rejected.start, rejected.end)}</small><span>{escaped(rejected.content)}</span>"
        yield f'<span class="tt-why"><span class="tt-ch tt-deleted">{chip}</span> {escaped(why)}</span>'
    if len(stage.rejected) > _MOST_REJECTED:
        yield f'<span class="tt-why">… and {len(stage.rejected) - _MOST_REJECTED:,} more</span>'
