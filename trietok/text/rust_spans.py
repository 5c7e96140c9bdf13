"""The Rust profile with spans: what its stages make of a text, and where each token came from.

In: a text and the stages. Out: `Located`. The spans are those of the Rust tokenizers: what a character becomes has its
span, what is deleted gives its span to nobody, and where decomposition puts characters in another order the spans stay.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from typing import NamedTuple

from trietok.text import rust_characters
from trietok.text.alignment import AlignedText, Located, piece_spans, places
from trietok.text.rust_added_tokens import RustAddedTokens
from trietok.text.rust_basic_tokenizer import LOWER, MARKS, RustBasicTokenizer
from trietok.text.rust_characters import is_in
from trietok.text.wordpiece import WordpieceTokenizer


class RustStages(NamedTuple):
    """What a text goes through; `vocab` is the vocabulary without the added tokens."""

    basic: RustBasicTokenizer
    wordpiece: WordpieceTokenizer
    vocab: Mapping[str, int]
    added: RustAddedTokens


def locate(text: str, stages: RustStages, skip: Collection[str] = ()) -> Located:
    """The tokens of `text`.

    Args:
        text: any string.
        stages: what it goes through.
        skip: contents of added tokens that count for nothing.
    """
    located = Located.empty()
    whole = AlignedText.of(text)
    for start, end, content in stages.added.raw_parts(text, skip):
        stretch = whole.cut(start, end)
        if content is not None:
            _add_token(located, stretch, stages.added.encoder[content])
            continue
        stretch = normalized(stretch, stages.basic)
        for first, last, content in stages.added.normalized_parts(stretch.text, skip):
            if content is not None:
                _add_token(located, stretch.cut(first, last), stages.added.encoder[content])
            else:
                _add_words(located, stretch.cut(first, last), stages)
    return located


def _add_token(located: Located, part: AlignedText, token_id: int) -> None:
    """An added token is shown as the text that it took, whitespace included."""
    located.add(token_id, part.text, part.span(0, len(part.text)), located.next_word())


def _add_words(located: Located, part: AlignedText, stages: RustStages) -> None:
    prefix = stages.wordpiece.continuing_subword_prefix
    for word, start, end in places(part.text, stages.basic.words(part.text)):
        pieces = stages.wordpiece.pieces_of(word)
        number = located.next_word()
        for piece, span in zip(pieces, piece_spans(part, start, end, pieces, prefix), strict=True):
            located.add(stages.vocab[piece], piece, span, number)


def normalized(aligned: AlignedText, basic: RustBasicTokenizer) -> AlignedText:
    """`RustBasicTokenizer.normalized` with spans."""
    if aligned.text.isascii() and (aligned.text.isprintable() or not basic.clean_text):
        return aligned.written_as(basic.normalized(aligned.text))
    if basic.clean_text or basic.tokenize_chinese_chars:
        aligned = aligned.translated(basic.rust_cleaning_table)
    if basic.strips_accents:
        aligned = decomposed(aligned).translated(MARKS)
    return aligned.translated(LOWER) if basic.do_lower_case else aligned


def decomposed(aligned: AlignedText) -> AlignedText:
    """NFD. The characters are put in order, the spans are not: they are dealt out from the left.

    A character that stands for the first of a decomposition, or for an undecomposed one, takes the next span that is
    left; one that stands for a later part of a decomposition takes the span dealt last.
    """
    if rust_characters.nfd(aligned.text) == aligned.text:
        return aligned
    ordered: list[tuple[str, bool]] = []  # the character, and whether it takes the next span
    run: list[tuple[str, bool]] = []
    for char in aligned.text:
        for number, part in enumerate(unicodedata.normalize("NFD", char) if is_in("decomposed", char) else char):
            if is_in("nonstarters", part):
                run.append((part, number == 0))
                continue
            if run:
                ordered += sorted(run, key=_combining_class)
                run = []
            ordered.append((part, number == 0))
    ordered += sorted(run, key=_combining_class)
    dealt = -1
    starts, ends = [], []
    for _, takes_next in ordered:
        dealt += takes_next
        starts.append(aligned.starts[max(dealt, 0)])
        ends.append(aligned.ends[max(dealt, 0)])
    return AlignedText("".join([char for char, _ in ordered]), starts, ends)


def trim_offsets(located: Located, add_prefix_space: bool) -> None:
    """Take the whitespace, and the `Ġ`, at either end of a token's text off its span, as RobertaProcessing does.

    With `add_prefix_space` a single one at the beginning of a text stays.
    """
    for number, (token, (start, end)) in enumerate(zip(located.tokens, located.spans, strict=True)):
        leading = _run_of_blanks(token)
        if leading == 1 and add_prefix_space and (number == 0 or start == 0):
            leading = 0
        trailing = _run_of_blanks(token[::-1])
        start = min(start + leading, end)
        located.spans[number] = start, max(end - trailing, start) if end >= trailing else end


def _run_of_blanks(text: str) -> int:
    return next((i for i, char in enumerate(text) if not (char == "Ġ" or is_in("split_space", char))), len(text))


def _combining_class(part: tuple[str, bool]) -> int:
    return unicodedata.combining(part[0])
