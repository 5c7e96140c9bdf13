"""A contrast for a terminal and as HTML: stretches that are alike in a line, those that differ beside each other.

In: a `Contrast`. Out: styled lines, as of an explanation; or a fragment of HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from trietok.explaining.shown import place
from trietok.explaining.text_view import Line
from trietok.explaining.values import Token
from trietok.showing.cells import cut_to, padded, wrapped
from trietok.showing.characters import visible
from trietok.showing.html import escaped, fragment, heading, note

if TYPE_CHECKING:
    from trietok.explaining.contrast import Contrast, Part
    from trietok.explaining.explanation import Explanation

_MOST_PARTS = 400
_MOST_TOKENS = 40  # of a stretch that is alike


def lines_of(contrast: Contrast, columns: int) -> Iterator[Line]:
    """The contrast, line by line, for a terminal of so many columns."""
    columns = max(columns, 20)
    for mark, style, side in (("left ", "left", contrast.left), ("right", "right", contrast.right)):
        yield [(f"{mark}  ", style), (cut_to(_name(side), columns - 7), "head")]
    yield []
    yield [(contrast.summary, "same" if contrast.same_ids else "unknown")]
    for line in contrast.notes:
        for text in wrapped(line, columns - 2):
            yield [("  ", ""), (text, "stage")]
    yield []
    for part in _shown(contrast):
        yield from _part(part, columns, is_pair=len(contrast.left.texts) > 1)
    if len(contrast.parts) > _MOST_PARTS:
        yield [(f"… and {len(contrast.parts) - _MOST_PARTS:,} more stretches", "dim")]


def _shown(contrast: Contrast) -> Iterator[Part]:
    return islice(iter(contrast.parts), _MOST_PARTS)


def _name(side: Explanation) -> str:
    return f"{side.tokenizer} ({side.profile})" + (f" · {visible(side.name)}" if side.name else "")


def _part(part: Part, columns: int, is_pair: bool) -> Iterator[Line]:
    where = ("AB"[part.text] + " " if is_pair else "") + place(part.start, part.end)
    if not part.differs:
        yield [
            ("= ", "dim"),
            (padded(where, 9) + " ", "place"),
            (cut_to(_alike(part.left), max(columns - 12, 8)), "dim"),
        ]
        return
    yield [
        ("≠ ", "unknown"),
        (padded(where, 9) + " ", "place"),
        (cut_to(visible(part.source), max(columns - 12, 8)), "stage"),
    ]
    for style, tokens in (("left", part.left), ("right", part.right)):
        for number, line in enumerate(wrapped(_tokens(tokens), columns - 12)):
            yield [(padded(f"    {style}" if number == 0 else "", 12), style), (line, style)]
    for line in wrapped(part.why, columns - 12):
        yield [(" " * 12, ""), (line, "")]


def _tokens(tokens: Sequence[Token]) -> str:
    if not tokens:
        return "(no token)"
    return " ".join(visible(each.token) for each in tokens[:_MOST_TOKENS]) + (
        " …" if len(tokens) > _MOST_TOKENS else ""
    )


def _alike(tokens: Sequence[Token]) -> str:
    """The tokens of a stretch that is alike; of a long one its ends."""
    if len(tokens) <= _MOST_TOKENS:
        return _tokens(tokens)
    ends = " ".join(visible(each.token) for each in tokens[-3:])
    return f"{_tokens(tokens[:3])} … {ends}  ({len(tokens):,} tokens)"


def html_of(contrast: Contrast) -> str:
    """The contrast as a fragment of HTML."""
    parts = [heading("Side by side", aside=contrast.summary)]
    parts += [note(line) for line in contrast.notes]
    sides = (escaped(_name(side)).replace(" · ", "<br>", 1) for side in (contrast.left, contrast.right))
    names = "".join(f'<th class="tt-name">{side}</th>' for side in sides)
    rows = "".join(_row(part) for part in _shown(contrast))
    heads = f"<thead><tr><th></th><th>text</th>{names}</tr></thead>"
    parts.append(f'<div class="tt-wrap"><table>{heads}<tbody>{rows}</tbody></table></div>')
    if len(contrast.parts) > _MOST_PARTS:
        parts.append(note(f"… and {len(contrast.parts) - _MOST_PARTS:,} more stretches"))
    return fragment(*parts, label="Two explanations side by side")


def _row(part: Part) -> str:
    where = f'<td class="tt-idle tt-place">{place(part.start, part.end)}</td>'
    if not part.differs:
        return f'<tr class="tt-idle">{where}<td colspan="3">{_mono(_alike(part.left))}</td></tr>'
    cells = "".join(f"<td>{_mono(_tokens(tokens))}</td>" for tokens in (part.left, part.right))
    why = f'<tr class="tt-differs"><td></td><td colspan="3">{escaped(part.why)}</td></tr>'
    return f'<tr class="tt-differs">{where}<td><b>{escaped(part.source)}</b></td>{cells}</tr>{why}'


def _mono(text: str) -> str:
    return f'<span class="tt-mono">{escaped(text)}</span>'
