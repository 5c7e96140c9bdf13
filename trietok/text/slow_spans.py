"""The slow profile with spans: what its stages make of a text, and where each token came from.

In: a text and the stages. Out: `Located`. A character that becomes several hands its span to each; several that become
one (NFC) have it from the first to the last; what is deleted, and whitespace, gives its span to nobody; where accents
are put in another order spans are widened until they never go back.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import AlignedText, Located, piece_spans, places
from trietok.text.basic_tokenizer import MARKS, PUNCTUATION, BasicTokenizer
from trietok.text.characters import lower_each, normalize


class SlowStages(NamedTuple):
    """What a text goes through.

    Attributes:
        basic: None where words are cut at whitespace only.
        pieces_of: a word to its pieces.
        prefix: what marks a piece that continues a word.
        lowered: the text lower-cased where no token is to be matched as it is written; as many characters or more.
        added: the added tokens; None where none counts.
        never_split: words that are left as they are, which become pieces all the same.
        whole: words that are left as they are and are tokens.
        to_id: the id of a token.
    """

    basic: BasicTokenizer | None
    pieces_of: Callable[[str], list[str]]
    prefix: str
    lowered: Callable[[str], str]
    added: AddedTokens | None
    never_split: Collection[str]
    whole: Collection[str]
    to_id: Callable[[str], int]


def locate(text: str, stages: SlowStages) -> Located:
    """The tokens of `text`."""
    located = Located.empty()
    aligned = _lowered_between(AlignedText.of(text), stages.lowered(text))
    cut = [(0, len(aligned.text), False)] if stages.added is None else stages.added.places(aligned.text)
    for start, end, is_token in cut:
        part = aligned.cut(start, end)
        if is_token:
            located.add(stages.to_id(part.text), part.text, part.span(0, len(part.text)), located.next_word())
        else:
            _add_words(located, part, stages)
    return located


def _lowered_between(aligned: AlignedText, lowered: str) -> AlignedText:
    """The text as it was lower-cased in parts: every character is as it was, or lower-cased."""
    if len(lowered) == len(aligned.text):
        return aligned.written_as(lowered)
    position = 0

    def change(char: str) -> str:
        nonlocal position
        small = lower_each(char)
        char = small if lowered.startswith(small, position) else char
        position += len(char)
        return char

    return aligned.each(change)


def _add_words(located: Located, part: AlignedText, stages: SlowStages) -> None:
    for word, start, end in _words(part, stages):
        text = word.text[start:end]
        pieces = [text] if text in stages.whole else stages.pieces_of(text)
        number = located.next_word()
        for piece, span in zip(pieces, piece_spans(word, start, end, pieces, stages.prefix), strict=True):
            located.add(stages.to_id(piece), piece, span, number)


def _words(part: AlignedText, stages: SlowStages) -> Iterator[tuple[AlignedText, int, int]]:
    """The words of a part: each within a text, and where it begins and ends there."""
    basic = stages.basic
    if basic is None:
        for _, start, end in places(part.text, part.text.split()):
            yield part, start, end
        return
    never_split = {*stages.never_split, *stages.whole}
    cleaned = part
    if not (part.text.isascii() and part.text.isprintable()):
        cleaned = part.translated(basic.cleaning_table)
        if basic.composes:
            cleaned = composed(cleaned)
    for text, start, end in places(cleaned.text, cleaned.text.split()):
        word = cleaned.cut(start, end)
        if text not in never_split:
            word = _normalized(word, basic)
        if word.text in never_split or not basic.do_split_on_punc:
            cut = word.text.split()
        else:
            cut = word.text.translate(PUNCTUATION).split()
        for _, first, last in places(word.text, cut):
            yield word, first, last


def _normalized(word: AlignedText, basic: BasicTokenizer) -> AlignedText:
    if word.text.isascii():
        return word.written_as(basic.normalize(word.text))
    if basic.do_lower_case:
        # How a capital sigma is written depends on its neighbours; how long each character is does not.
        lowered = word.each(lambda char: char.lower())
        word = lowered.written_as(word.text.lower())
    strip_accents = basic.do_lower_case if basic.strip_accents is None else basic.strip_accents
    return decomposed(word).translated(MARKS) if strip_accents else word


def decomposed(aligned: AlignedText) -> AlignedText:
    """NFD: accents in order, each with its span."""
    if normalize("NFD", aligned.text) == aligned.text:
        return aligned
    parts = aligned.each(lambda char: unicodedata.normalize("NFD", char))
    classes = [unicodedata.combining(char) for char in parts.text]
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


def composed(aligned: AlignedText) -> AlignedText:
    """NFC: a character joins the last one that begins a group, unless one of its class or higher lies between."""
    text = aligned.text
    if not any(map(unicodedata.combining, text)) and normalize("NFC", text) == text:
        return aligned
    aligned = decomposed(aligned)
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    first: int | None = None  # where the group begins
    last_class = 0
    for char, start, end in zip(*aligned, strict=True):
        combining_class = unicodedata.combining(char)
        if first is not None and (len(chars) == first + 1 or last_class < combining_class):
            joined = unicodedata.normalize("NFC", chars[first] + char)
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
