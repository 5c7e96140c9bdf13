"""The stages that a text goes through, with the tokens and options of one moment and without a
cache.

In: a text. Out: its tokens, their ids, and the span of each. `Stages` is the one evaluator, of both
profiles: hooks use it, explanations watch it, and every faster way equals it. What it does is
written for a str and for an `AlignedText`: ids need no spans.

A text is cut into added tokens and parts between, a part into words, by the basic tokenizer, and a
word into pieces. Which profile it is, its parts say: the basic tokenizer, what characters mean,
which steps there are and how words are cut; the added tokens, how they are searched. In the slow
profile a text is lower-cased around tokens and cut at all of them, and the steps belong to the cut
into words. In the fast one a text is cut at the tokens that are not normalized, the parts between
go through the steps, and then these are cut at the others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from trietok.errors import InputTypeError, VocabularyError
from trietok.text.added_search import AddedPart, AddedTokens
from trietok.text.alignment import (
    UNWATCHED,
    AlignedText,
    AnyText,
    RejectedMatch,
    Span,
    StageName,
    Watch,
    piece_spans,
    places,
)
from trietok.text.basic_tokenizer import (
    PUNCTUATION,
    RUST_PUNCTUATION,
    BasicTokenizer,
    RustBasicTokenizer,
)
from trietok.text.characters import TranslationTable, is_in, lower_each, without_marks
from trietok.text.normalizers import run
from trietok.text.terms import Terms
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.typing_compat import Self

# a text, the start and end of the word in it, its pieces
Word = tuple[AlignedText, int, int, list[str]]
IdsOfWord = Callable[[str], Iterable[int]]


class Located(NamedTuple):
    """The tokens of a text; all lists have one item a token.

    Attributes:
        ids: their ids.
        tokens: what they are shown as.
        spans: what they stand for in the text: half-open, in code points.
        words: the number of the word or added token that each is part of, from 0.
    """

    ids: list[int]
    tokens: list[str]
    spans: list[Span]
    words: list[int]

    @classmethod
    def empty(cls) -> Located:
        """No tokens yet."""
        return cls([], [], [], [])

    def add(self, token_id: int, token: str, span: Span, word: int) -> None:
        """Take one more in."""
        self.ids.append(token_id)
        self.tokens.append(token)
        self.spans.append(span)
        self.words.append(word)

    def next_word(self) -> int:
        """The number that the next word gets."""
        return self.words[-1] + 1 if self.words else 0


class Stages:
    """The stages of a tokenizer at one moment. Nothing in it changes.

    The spans of the fast profile are those of the Rust tokenizers. Those of the slow one, which has
    none, are trietok's own: if a stage turns one character into several, each gets its span;
    characters composed into one (NFC) get the span from the first to the last. The spans of deleted
    characters and of whitespace go to no character.

    Args:
        basic: cuts a text into words; None for a cut at whitespace only.
        wordpiece: cuts words into pieces.
        vocab: token → id, without the added tokens.
        added: the added tokens.
        special: the special tokens in the order of their roles.
        unknown_id: the id of the unknown token, for pieces that have none.
        lowers: whether texts are lower-cased, except for the tokens that are matched as they are
            written.
        whole: words that are left as they are, each as one token.
        trims_offsets: whether whitespace at either end of a token's text is taken off its span.
        keeps_one_space: whether a single whitespace character at the beginning of a text stays in
            the span.
    """

    def __init__(
        self,
        basic: BasicTokenizer | None,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        added: AddedTokens,
        special: tuple[str, ...],
        *,
        unknown_id: int | None,
        lowers: bool = False,
        whole: Collection[str] = (),
        trims_offsets: bool = False,
        keeps_one_space: bool = False,
    ) -> None:
        self.basic = basic
        self.wordpiece = wordpiece
        self.vocab = vocab
        self.added = added
        self.special = special
        self.unknown_id = unknown_id
        self.lowers = lowers
        self.trims_offsets = trims_offsets
        self.keeps_one_space = keeps_one_space
        # whether the basic tokenizer cuts a text into words as BERT does
        self.is_berts = basic is not None and basic.is_berts
        self.is_fast = isinstance(basic, RustBasicTokenizer)
        # of the added tokens that pieces may be
        self._ids: Mapping[str, int] = {} if self.is_fast else added.encoder
        self._written = added  # are matched as they are written
        self._whole = whole
        # Words that basic tokenization leaves as they are.
        self.never_split: frozenset[str] = frozenset() if self.is_fast else frozenset(special)

    def as_text(self) -> Self:
        """The stages for a text in which special tokens are text: `split_special_tokens`."""
        other = copy.copy(self)
        other.added = self.added.as_text()
        return other

    @property
    def punctuation(self) -> TranslationTable:
        """What sets punctuation apart."""
        return RUST_PUNCTUATION if self.is_fast else PUNCTUATION

    @property
    def order(self) -> tuple[StageName, ...]:
        """The stages that the options switch on, in the order in which a text goes through them."""
        first: list[StageName] = ["lower-case-around-tokens", "added-tokens"]
        cuts: list[StageName] = ["whitespace"] if self.basic is None else [*self.basic.stages]
        if self.added.normalized.contents:
            cuts.insert(len(cuts) - 1, "normalized-added-tokens")
        return (*first[not self.lowers :], *cuts, "wordpiece")

    # ---- cutting ---------------------------------------------------------------------------------

    def parts(
        self, text: AnyText, watch: Watch = UNWATCHED
    ) -> Iterator[tuple[AnyText, int, int, int | None]]:
        """The text cut into added tokens, each with its id, and the parts between, each with None.

        A part is given by its place: added tokens that take whitespace may overlap, and all their
        texts together may be much longer than the text. `watch` is told of each part.
        """
        if self.lowers:
            text = self._lowered_around(text, watch)
        added, encoder = self.added, self.added.encoder
        for start, end, content in self._cut("added-tokens", text, added.parts, watch):
            if content is not None or not self.is_fast:
                yield text, start, end, None if content is None else encoder[content]
                continue
            stretch = self._normalized(text[start:end], watch)
            for first, last, content in self._cut(
                "normalized-added-tokens", stretch, added.normalized_parts, watch
            ):
                yield stretch, first, last, None if content is None else encoder[content]

    def _cut(
        self,
        stage: StageName,
        whole: AnyText,
        cut: Callable[[str, list[RejectedMatch]], list[AddedPart]],
        watch: Watch,
    ) -> Iterator[AddedPart]:
        """The parts of a text that `cut` finds; `watch` is told of them."""
        rejected: list[RejectedMatch] = []
        parts = cut(str(whole), rejected)
        if watch is UNWATCHED or isinstance(whole, str):
            yield from parts
            return
        watch.cut(stage, whole, rejected)
        for part in parts:
            start, end, content = part
            watch.part(stage, whole[start:end], content)
            yield part

    def _lowered_around(self, text: AnyText, watch: Watch) -> AnyText:
        """The text, lower-cased except for the tokens that are matched as they are written."""
        lowered = self._written.lower_between(str(text), self.special)
        if isinstance(text, str):
            return lowered
        after = _lowered_between(text, lowered)
        watch.changed("lower-case-around-tokens", text, after)
        return after

    def _normalized(self, text: AnyText, watch: Watch = UNWATCHED) -> AnyText:
        """What the fast profile makes of a text before it looks for normalized tokens."""
        return text if self.basic is None else run(self.basic.steps, text, watch)

    def bare(self, text: str) -> str:
        """A text without added tokens as it is where it is cut into words."""
        text = lower_each(text) if self.lowers else text
        return self._normalized(text) if self.is_fast else text

    def words_of(self, part: str) -> list[str]:
        """The words of a part between added tokens."""
        return part.split() if self.basic is None else self.basic.words_of(part, self.never_split)

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of a word."""
        return [word] if word in self._whole else self.wordpiece.pieces_of(word)

    def to_id(self, piece: str) -> int:
        """The id of a piece."""
        token_id = self._ids.get(piece)
        if token_id is None:
            token_id = self.vocab.get(piece, self.unknown_id)
            if token_id is None and self.is_fast:
                raise VocabularyError(
                    f"the wordpiece_tokenizer gives {piece!r}, which is no entry of the tokenizer's"
                    " and has no id: add it with add_wordpieces",
                    token=piece,
                )
        return token_id  # type: ignore[return-value]  # None only where the unknown token has no id

    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        """`words_of` with spans and pieces."""
        for word, start, end in self.places_of_words(part, watch):
            yield word, start, end, self.pieces_of(word.text[start:end])

    def places_of_words(
        self, part: AlignedText, watch: Watch
    ) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of a part, as the basic tokenizer makes them: each by its place in a text."""
        if self.basic is not None:
            yield from self.basic.places(part, {*self.never_split, *self.basic.never_split}, watch)
            return
        for _, start, end in places(part.text, part.text.split()):
            watch.split(part, start, end, False)
            yield part, start, end

    # ---- tokens, ids, spans ----------------------------------------------------------------------

    def ids(self, text: str, ids_of_word: IdsOfWord | None = None) -> list[int]:
        """The ids of a text; `ids_of_word` is another way to those of a word."""
        require_text(text)
        ids_of_word = ids_of_word or self._ids_of_word
        ids: list[int] = []
        for part, start, end, token_id in self.parts(text):
            if token_id is None:
                ids += chain.from_iterable(map(ids_of_word, self.words_of(part[start:end])))
            else:
                ids.append(token_id)
        return ids

    def _ids_of_word(self, word: str) -> Iterable[int]:
        return map(self.to_id, self.pieces_of(word))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text; an added token is shown as the text that it took."""
        require_text(text)
        tokens: list[str] = []
        for part, start, end, token_id in self.parts(text):
            tokens += (
                self._pieces_between(part[start:end]) if token_id is None else (part[start:end],)
            )
        return tokens

    def _pieces_between(self, part: str) -> Iterator[str]:
        return chain.from_iterable(map(self.pieces_of, self.words_of(part)))

    def locate(self, text: str, watch: Watch = UNWATCHED) -> Located:
        """The tokens with their ids, spans and words; `watch` is told what each stage does."""
        located = self._located(text, watch)
        if self.trims_offsets:
            trim_offsets(located, self.keeps_one_space)
        return located

    def _located(self, text: str, watch: Watch = UNWATCHED, shows_added: bool = True) -> Located:
        """`locate`; unless `shows_added`, what is shown of added tokens is left empty."""
        require_text(text)
        located = Located.empty()
        for part, first, last, token_id in self.parts(AlignedText.of(text), watch):
            if token_id is not None:
                shown = part.text[first:last] if shows_added else ""
                located.add(token_id, shown, part.span(first, last), located.next_word())
                continue
            for word, start, end, pieces in self.words(part[first:last], watch):
                watch.word(word, start, end, pieces)
                number = located.next_word()
                for piece, span in zip(
                    pieces, self.spans_of(word, start, end, pieces), strict=True
                ):
                    located.add(self.to_id(piece), piece, span, number)
        return located

    def spans(self, text: str) -> list[Span]:
        """The span of each token of a text."""
        return (
            self.locate(text).spans
            if self.trims_offsets
            else self._located(text, shows_added=False).spans
        )

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        """The spans of the pieces of a word, which lies from `start` to `end` in a text."""
        return piece_spans(word, start, end, pieces, self.wordpiece.continuing_subword_prefix)

    def words_between(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        """The words between added tokens: each as WordPiece has it, its pieces, its span."""
        for part, first, last, token_id in self.parts(AlignedText.of(text)):
            if token_id is None:
                for word, start, end, pieces in self.words(part[first:last]):
                    yield word.text[start:end], pieces, word.span(start, end)

    # ---- for an encoder that goes chunk by chunk -------------------------------------------------

    @property
    def go_by_chunks(self) -> bool:
        """Whether the ids of a text are those of its chunks in a row, to be cached by chunk."""
        basic, encoder = self.basic, self.added.encoder
        return (
            basic is not None
            and basic.is_local
            and (self.is_fast or not (basic.never_split or self.added.raw.search.has_odd_spaces))
            and self.wordpiece.vocab is self.vocab  # else it may be a dict that a user changes
            and all(token in encoder for token in self.never_split)
        )

    def have_chunked_spans(self, text: str) -> bool:
        """Whether the spans of a text are those of its chunks in a row."""
        return self.is_berts and not self.trims_offsets and self.added.stay_in_chunks(text)

    def fold(self, text: str) -> str:
        """A text as it looks where terms are looked for: each character as it is by itself."""
        text = self.bare(text)
        return without_marks(text) if self.is_fast else text  # steps may put marks in another order

    def terms(self, limit: int) -> Terms | None:
        """The added tokens of several words; None where there are none. `limit`: see `Terms`."""
        rests_on = (
            self.basic.normalizing_options
            if isinstance(self.basic, RustBasicTokenizer)
            else self.lowers
        )
        return Terms.if_any(self.added.searches_of_terms(self.fold), self.fold, rests_on, limit)


def require_text(text: object) -> None:
    """Raise an InputTypeError for a value that is no str."""
    if not isinstance(text, str):
        raise InputTypeError(
            f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
        )


def _lowered_between(aligned: AlignedText, lowered: str) -> AlignedText:
    """`aligned` with the characters of `lowered`, each of which is as it was, or lower-cased."""
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


def trim_offsets(located: Located, add_prefix_space: bool) -> None:
    """Take the whitespace, and the `Ġ`, at either end of a token's text off its span, as
    RobertaProcessing does.

    With `add_prefix_space` a single one at the beginning of a text stays in the span.
    """
    for number, (token, (start, end)) in enumerate(zip(located.tokens, located.spans, strict=True)):
        leading = _run_of_blanks(token)
        if leading == 1 and add_prefix_space and (number == 0 or start == 0):
            leading = 0
        trailing = _run_of_blanks(token[::-1])
        start = min(start + leading, end)
        located.spans[number] = start, max(end - trailing, start) if end >= trailing else end


def _run_of_blanks(text: str) -> int:
    return next(
        (i for i, char in enumerate(text) if not (char == "Ġ" or is_in("split_space", char))),
        len(text),
    )
