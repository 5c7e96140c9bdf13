"""Unicode's normal forms, with the original span of each character.

In: an `AlignedText`. Out: the text in NFD, NFC or NFKC. A character that is decomposed gives its span to each of its
parts; a composed one has the span from the first of its parts to the last. Where marks are put in order, spans are
widened so that starts and ends never decrease.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

from trietok.text.alignment import AlignedText
from trietok.text.characters import normalize


def decomposed(aligned: AlignedText, form: Literal["NFD", "NFKD"] = "NFD") -> AlignedText:
    """NFD, or NFKD: marks in order, each with its span."""
    if normalize(form, aligned.text) == aligned.text:
        return aligned
    parts = aligned.each_kind(lambda char: normalize(form, char))
    classes = list(map(unicodedata.combining, parts.text))
    order: list[int] = []
    run: list[int] = []
    for place, combining_class in enumerate(classes):
        if combining_class:
            run.append(place)
            continue
        order += sorted(run, key=classes.__getitem__)
        order.append(place)
        run = []
    order += sorted(run, key=classes.__getitem__)
    return AlignedText(
        "".join([parts.text[place] for place in order]),
        [parts.starts[place] for place in order],
        [parts.ends[place] for place in order],
    ).forwards()


def composed(aligned: AlignedText, form: Literal["NFC", "NFKC"] = "NFC") -> AlignedText:
    """NFC, or NFKC: a character composes with the last starter before it, unless one of its class or higher is between.

    >>> whole = composed(AlignedText.of("ﾃﾞ①"), "NFKC")
    >>> whole.text, whole.span(0, 1), whole.span(1, 2)
    ('デ1', (0, 2), (2, 3))
    """
    text = aligned.text
    if not any(map(unicodedata.combining, text)):
        whole = normalize(form, text)
        if whole == text:
            return aligned
        each = {char: normalize(form, char) for char in set(text)}
        if not any(map(unicodedata.combining, whole)) and "".join(map(each.__getitem__, text)) == whole:
            return aligned.each(each.__getitem__)  # no character composes with another
    aligned = decomposed(aligned, "NFKD" if form == "NFKC" else "NFD")
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    first: int | None = None  # where the group begins
    last_class = 0
    for char, start, end, combining_class in zip(*aligned, map(unicodedata.combining, aligned.text), strict=True):
        if first is not None and (len(chars) == first + 1 or last_class < combining_class):
            joined = normalize("NFC", chars[first] + char)
            if len(joined) == 1:
                chars[first] = joined
                starts[first], ends[first] = min(starts[first], start), max(ends[first], end)
                continue
        if not combining_class:
            first = len(chars)
        chars.append(char)
        starts.append(start)
        ends.append(end)
        last_class = combining_class
    return AlignedText("".join(chars), starts, ends).forwards()
