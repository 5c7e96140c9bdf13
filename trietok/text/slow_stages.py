"""The slow profile: what transformers' slow `BertTokenizer` does with a text, stage by stage.

In: a text. Out: its tokens, ids and spans. The spans are trietok's own, since the slow tokenizer has none. If a stage
turns one character into several, each gets its span. Characters composed into one (NFC) get the span from the first to
the last. The spans of deleted characters and of whitespace go to no character. Where accents are reordered, spans are
widened so that starts and ends never decrease.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import AlignedText, places
from trietok.text.basic_tokenizer import MARKS, PUNCTUATION, BasicTokenizer
from trietok.text.characters import lower_each
from trietok.text.normal_forms import composed, decomposed
from trietok.text.stages import Part, Stages, Word, require_text
from trietok.text.watch import Rejected, StageName, Watch
from trietok.text.wordpiece import WordpieceTokenizer

NO_TOKENS = AddedTokens()


class SlowStages(Stages):
    """The stages of a tokenizer of the slow profile at one moment.

    Args:
        basic, wordpiece, vocab, added, special: see `Stages`.
        unknown_id: the id of the unknown token, for pieces that have none.
        ids: content → id of the added tokens that pieces may be; those of `added` unless given.
        lowers: whether texts are lower-cased, except for the tokens that are matched as they are written.
        written: the added tokens that are matched as they are written; `added` unless given.
        never_split: words that basic tokenization leaves as they are.
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
        ids: Mapping[str, int] | None = None,
        written: AddedTokens | None = None,
        never_split: Collection[str] | None = None,
        whole: Collection[str] | None = None,
    ) -> None:
        super().__init__(basic, wordpiece, vocab, added, special)
        self.unknown_id = unknown_id
        self._ids = added.encoder if ids is None else ids
        self.lowers = lowers
        self._written = added if written is None else written
        self.never_split = frozenset(special) if never_split is None else never_split
        self._whole: Collection[str] = (() if basic is None else basic.never_split) if whole is None else whole

    def as_text(self) -> SlowStages:
        return SlowStages(
            self.basic,
            self.wordpiece,
            self.vocab,
            NO_TOKENS,
            self.special,
            unknown_id=self.unknown_id,
            ids=self._ids,
            lowers=self.lowers,
            written=self._written,
            whole=self._whole,
        )

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> SlowStages:
        return SlowStages(
            self.basic,
            self.wordpiece.without(special),
            self.vocab,
            self.added.without(special - allowed),
            tuple(token for token in self.special if token in allowed),
            unknown_id=self.unknown_id,
            ids=self._ids,
            lowers=self.lowers,
            never_split=(),
            whole=(),
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

    def parts(self, text: str, watch: Watch | None = None) -> Iterator[Part]:
        whole = AlignedText.of(text)
        aligned = _lowered_between(whole, self.lowered(text))
        if watch is not None:
            watch.changed("lower-case-around-tokens", whole, aligned)
        rejected: list[Rejected] | None = None if watch is None else []
        places = self.added.places(aligned.text, rejected)
        if watch is not None:
            watch.cut("added-tokens", aligned, rejected or ())
        for start, end, is_token in places:
            if watch is not None:
                part = aligned.cut(start, end)
                watch.part("added-tokens", part, part.text if is_token else None)
            yield aligned, start, end, self.to_id(aligned.text[start:end]) if is_token else None

    def words(self, part: AlignedText, watch: Watch | None = None) -> Iterator[Word]:
        for word, start, end in self.places_of_words(part, watch):
            text = word.text[start:end]
            yield word, start, end, [text] if text in self._whole else self.wordpiece.pieces_of(text)

    def places_of_words(self, part: AlignedText, watch: Watch | None) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of a part, as the basic tokenizer makes them: each by its place in a text."""
        basic = self.basic
        if basic is None:
            for _, start, end in places(part.text, part.text.split()):
                if watch is not None:
                    watch.split(part, start, end, False)
                yield part, start, end
            return
        never_split = {*self.never_split, *basic.never_split}
        cleaned = _cleaned(part, basic, watch)
        for text, start, end in places(cleaned.text, cleaned.text.split()):
            word = cleaned.cut(start, end)
            is_kept = text in never_split
            if watch is not None:
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


def _cleaned(part: AlignedText, basic: BasicTokenizer, watch: Watch | None) -> AlignedText:
    is_clean = part.text.isascii() and part.text.isprintable()
    cleaned = part if is_clean else part.translated(basic.cleaning_table)
    if watch is not None:
        watch.changed("clean", part, cleaned)
    whole = composed(cleaned) if basic.composes and not is_clean else cleaned
    if watch is not None:
        watch.changed("compose", cleaned, whole)
    return whole


def _normalized(word: AlignedText, basic: BasicTokenizer, watch: Watch | None, is_kept: bool) -> AlignedText:
    lowered = word
    if not is_kept and word.text.isascii():
        lowered = word.written_as(basic.normalize(word.text))
    elif not is_kept and basic.do_lower_case:
        lowered = word.lowered()
    if watch is not None:
        watch.changed("lower-case", word, lowered)
    strips = not (is_kept or lowered.text.isascii()) and _strips_accents(basic)
    stripped = decomposed(lowered).translated(MARKS) if strips else lowered
    if watch is not None:
        watch.changed("accents", lowered, stripped)
    return stripped


def _strips_accents(basic: BasicTokenizer) -> bool:
    return bool(basic.do_lower_case if basic.strip_accents is None else basic.strip_accents)
