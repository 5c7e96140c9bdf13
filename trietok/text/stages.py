"""The stages that a text goes through, with the tokens and options of one moment and without a cache.

In: a text. Out: its tokens, their ids, and the span of each. `SlowStages`, here, and `RustStages` are the two profiles:
they define how a text is cut into added tokens and the parts between, and how a part is cut into words. The rest, from
words to pieces with their spans, is the same in both profiles.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from trietok.errors import InputTypeError
from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import (
    UNWATCHED,
    AlignedText,
    Located,
    RejectedMatch,
    Span,
    StageName,
    Watch,
    piece_spans,
    places,
)
from trietok.text.basic_tokenizer import MARKS, PUNCTUATION, BasicTokenizer
from trietok.text.characters import TranslationTable, lower_each, normalize
from trietok.text.wordpiece import WordpieceTokenizer

if TYPE_CHECKING:
    from typing_extensions import Self

# ---- Unicode's normal forms: where marks are put in order, spans are widened so that they never decrease -------------


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


Part = tuple[AlignedText, int, int, int | None]  # a text, the start and end of the part in it, an added token's id
Word = tuple[AlignedText, int, int, list[str]]  # a text, the start and end of the word in it, its pieces


class Stages(ABC):
    """The stages of a tokenizer at one moment. Nothing in it changes.

    Args:
        basic: cuts a text into words; None for a cut at whitespace only.
        wordpiece: cuts words into pieces.
        vocab: token → id, without the added tokens.
        added: the added tokens.
        special: the special tokens in the order of their roles.
    """

    basic: BasicTokenizer | None
    added: AddedTokens
    punctuation: TranslationTable  # sets punctuation apart
    lowers = False  # whether texts are lower-cased around added tokens
    by_chunks = True  # whether what lies between spaces has the same ids wherever it stands

    def __init__(
        self,
        basic: BasicTokenizer | None,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        added: AddedTokens,
        special: tuple[str, ...],
    ) -> None:
        self.basic = basic
        self.wordpiece = wordpiece
        self.vocab = vocab
        self.added = added
        self.special = special

    def _with(self, **changes: Any) -> Self:
        """A copy with other attributes."""
        other = copy(self)
        other.__dict__.update(changes)
        return other

    # ---- what a profile defines -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def order(self) -> tuple[StageName, ...]:
        """The stages that the options switch on, in the order in which a text goes through them."""

    @abstractmethod
    def as_text(self) -> Stages:
        """The stages for a text in which special tokens are text, as transformers' `split_special_tokens` has it."""

    @abstractmethod
    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> Stages:
        """The stages for a text that can give, of the tokens of `special`, only those of `allowed`."""

    @abstractmethod
    def parts(self, text: str, watch: Watch = UNWATCHED) -> Iterator[Part]:
        """The text cut into added tokens, each with its id, and the parts between, each with None.

        A part is given by its place: added tokens that take whitespace may overlap, and all their texts together may
        be much longer than the text. `watch` is told of each part.
        """

    @abstractmethod
    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        """The words of a part between added tokens."""

    @abstractmethod
    def to_id(self, piece: str) -> int:
        """The id of a piece."""

    # ---- the same in both profiles ----------------------------------------------------------------------------------

    def locate(self, text: str, watch: Watch = UNWATCHED) -> Located:
        """The tokens of a text with their ids, spans and words; `watch` is told what each stage does."""
        return self._located(text, watch)

    def _located(self, text: str, watch: Watch = UNWATCHED, shows_added: bool = True) -> Located:
        """`locate`; unless `shows_added`, what is shown of added tokens is left empty."""
        require_text(text)
        located = Located.empty()
        for part, first, last, token_id in self.parts(text, watch):
            if token_id is not None:
                shown = part.text[first:last] if shows_added else ""
                located.add(token_id, shown, part.span(first, last), located.next_word())
                continue
            for word, start, end, pieces in self.words(part.cut(first, last), watch):
                watch.word(word, start, end, pieces)
                number = located.next_word()
                for piece, span in zip(pieces, self.spans_of(word, start, end, pieces), strict=True):
                    located.add(self.to_id(piece), piece, span, number)
        return located

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        """The spans of the pieces of a word, which lies from `start` to `end` in a text."""
        return piece_spans(word, start, end, pieces, self.wordpiece.continuing_subword_prefix)

    def words_between(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        """The words of a text, without its added tokens: each as WordPiece is given it, its pieces, and its span."""
        for part, first, last, token_id in self.parts(text):
            if token_id is None:
                for word, start, end, pieces in self.words(part.cut(first, last)):
                    yield word.text[start:end], pieces, word.span(start, end)

    def specials_in(self, text: str) -> Iterator[str]:
        """The tokens of a text, except for the unknown tokens that stand for unknown words."""
        require_text(text)
        unknown = self.wordpiece.unk_token
        for part, first, last, token_id in self.parts(text):
            if token_id is not None:
                yield self.added.decoder[token_id].content
            else:
                words = self.words(part.cut(first, last))
                yield from (piece for *_, pieces in words for piece in pieces if piece != unknown)

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text."""
        return self.locate(text).tokens

    def ids(self, text: str) -> list[int]:
        """The ids of a text."""
        return self._located(text, shows_added=False).ids

    def spans(self, text: str) -> list[Span]:
        """The span of each token of a text."""
        return self._located(text, shows_added=False).spans


def require_text(text: object) -> None:
    """Raise an InputTypeError for a value that is no str."""
    if not isinstance(text, str):
        raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)


class SlowStages(Stages):
    """What transformers' slow `BertTokenizer` does with a text, stage by stage.

    The spans are trietok's own, since the slow tokenizer has none. If a stage turns one character into several, each
    gets its span. Characters composed into one (NFC) get the span from the first to the last. The spans of deleted
    characters and of whitespace go to no character.

    Args:
        basic, wordpiece, vocab, added, special: see `Stages`.
        unknown_id: the id of the unknown token, for pieces that have none.
        lowers: whether texts are lower-cased, except for the tokens that are matched as they are written.
        whole: words that are left as they are, each as one token.
    """

    punctuation = PUNCTUATION

    def __init__(
        self,
        basic: BasicTokenizer | None,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        added: AddedTokens,
        special: tuple[str, ...],
        *,
        unknown_id: int | None,
        lowers: bool,
        whole: Collection[str] | None = None,
    ) -> None:
        super().__init__(basic, wordpiece, vocab, added, special)
        self.unknown_id = unknown_id
        self._ids: Mapping[str, int] = added.encoder  # of the added tokens that pieces may be
        self.lowers = lowers
        self._written = added  # are matched as they are written
        self.never_split = frozenset(special)  # words that basic tokenization leaves as they are
        self._whole: Collection[str] = (() if basic is None else basic.never_split) if whole is None else whole

    def as_text(self) -> SlowStages:
        return self._with(added=AddedTokens())

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> SlowStages:
        added = self.added.without(special - allowed)
        left = tuple(token for token in self.special if token in allowed)
        wordpiece = self.wordpiece.without(special)
        return self._with(
            wordpiece=wordpiece, added=added, _written=added, special=left, never_split=frozenset(), _whole=()
        )

    def to_id(self, piece: str) -> int:
        token_id = self._ids.get(piece)
        if token_id is None:
            token_id = self.vocab.get(piece, self.unknown_id)
        return token_id  # type: ignore[return-value]  # None only where the unknown token has no id

    @property
    def order(self) -> tuple[StageName, ...]:
        basic = self.basic
        stages: list[tuple[StageName, object]] = [("lower-case-around-tokens", self.lowers), ("added-tokens", True)]
        if basic is not None:
            stages += [("clean", True), ("chinese", basic.tokenize_chinese_chars), ("compose", basic.composes)]
            stages += [("whitespace", True), ("lower-case", basic.do_lower_case), ("accents", _strips_accents(basic))]
            stages += [("punctuation", basic.do_split_on_punc)]
        else:
            stages += [("whitespace", True)]
        return (*(name for name, is_on in stages if is_on), "wordpiece")

    # ---- tokens and ids ---------------------------------------------------------------------------------------------

    def lowered(self, text: str) -> str:
        """The text, lower-cased except for the tokens that are matched as they are written."""
        return self._written.lower_between(text, self.special) if self.lowers else text

    def tokens(self, text: str) -> list[str]:
        require_text(text)
        tokens: list[str] = []
        for piece, is_token in self.added.pieces(self.lowered(text)):
            if is_token:
                tokens.append(piece)
            else:
                tokens += self._tokens_between(piece)
        return tokens

    def _tokens_between(self, text: str) -> list[str]:
        """The tokens of a text without added tokens."""
        tokenize = self.wordpiece.tokenize
        if self.basic is None:
            return tokenize(text)
        words = self.basic.tokenize(text, self.never_split)
        if not self._whole:
            return tokenize(" ".join(words))
        return [token for word in words for token in ([word] if word in self._whole else tokenize(word))]

    def ids(self, text: str) -> list[int]:
        return list(map(self.to_id, self.tokens(text)))

    # ---- spans ------------------------------------------------------------------------------------------------------

    def parts(self, text: str, watch: Watch = UNWATCHED) -> Iterator[Part]:
        whole = AlignedText.of(text)
        aligned = _lowered_between(whole, self.lowered(text))
        watch.changed("lower-case-around-tokens", whole, aligned)
        rejected: list[RejectedMatch] = []
        places = self.added.places(aligned.text, rejected)
        watch.cut("added-tokens", aligned, rejected)
        for start, end, is_token in places:
            part = aligned.cut(start, end)
            watch.part("added-tokens", part, part.text if is_token else None)
            yield aligned, start, end, self.to_id(aligned.text[start:end]) if is_token else None

    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        for word, start, end in self.places_of_words(part, watch):
            text = word.text[start:end]
            yield word, start, end, [text] if text in self._whole else self.wordpiece.pieces_of(text)

    def places_of_words(self, part: AlignedText, watch: Watch) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of a part, as the basic tokenizer makes them: each by its place in a text."""
        basic = self.basic
        if basic is None:
            for _, start, end in places(part.text, part.text.split()):
                watch.split(part, start, end, False)
                yield part, start, end
            return
        never_split = {*self.never_split, *basic.never_split}
        cleaned = _cleaned(part, basic, watch)
        for text, start, end in places(cleaned.text, cleaned.text.split()):
            word = cleaned.cut(start, end)
            is_kept = text in never_split
            watch.split(cleaned, start, end, is_kept)
            word = _normalized(word, basic, watch, is_kept)
            if word.text in never_split or not basic.do_split_on_punc:
                cut = word.text.split()
            else:
                cut = word.text.translate(PUNCTUATION).split()
            for _, first, last in places(word.text, cut):
                yield word, first, last


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


def _cleaned(part: AlignedText, basic: BasicTokenizer, watch: Watch) -> AlignedText:
    is_clean = part.text.isascii() and part.text.isprintable()
    cleaned = part if is_clean else part.translated(basic.cleaning_table)
    watch.changed("clean", part, cleaned)
    whole = composed(cleaned) if basic.composes and not is_clean else cleaned
    watch.changed("compose", cleaned, whole)
    return whole


def _normalized(word: AlignedText, basic: BasicTokenizer, watch: Watch, is_kept: bool) -> AlignedText:
    lowered = word
    if not is_kept and word.text.isascii():
        lowered = word.written_as(basic.normalize(word.text))
    elif not is_kept and basic.do_lower_case:
        lowered = word.lowered()
    watch.changed("lower-case", word, lowered)
    strips = not (is_kept or lowered.text.isascii()) and _strips_accents(basic)
    stripped = decomposed(lowered).translated(MARKS) if strips else lowered
    watch.changed("accents", lowered, stripped)
    return stripped


def _strips_accents(basic: BasicTokenizer) -> bool:
    return bool(basic.do_lower_case if basic.strip_accents is None else basic.strip_accents)
