"""What transformers' `BertJapaneseTokenizer` does with a text, stage by stage.

In: a text. Out: its tokens, ids and spans. Around words it does what the slow profile does: lower-casing around the
tokens that are matched as they are written, and the cut at added tokens. The words are those of the basic tokenizer or
of an analyzer, and the subwords those of WordPiece, or characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from trietok.text.alignment import AlignedText, Span, places
from trietok.text.character_tokenizer import CharacterTokenizer
from trietok.text.morphemes import MorphemeTokenizer
from trietok.text.slow_stages import SlowStages
from trietok.text.stages import Part, Stages, Word, require_text
from trietok.text.watch import StageName, Watch

Subword = Literal["wordpiece", "character", "none"]


class JapaneseStages(Stages):
    """The stages of a Japanese tokenizer at one moment.

    Args:
        around: the stages of the slow profile. Its basic tokenizer makes the words where there is no `analyzer`; if it
            has none, a part between added tokens is one word. Its WordPiece makes the subwords where there are no
            `characters`.
        analyzer: makes the words.
        characters: makes the subwords.
        splits: whether words are split into subwords at all.
        refused: tokens that no word may be, of the stages for a text that must not forge them.
    """

    by_chunks = False

    def __init__(
        self,
        around: SlowStages,
        analyzer: MorphemeTokenizer | None,
        characters: CharacterTokenizer | None,
        splits: bool = True,
        refused: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(around.basic, around.wordpiece, around.vocab, around.added, around.special)
        self._around = around
        self._analyzer = analyzer
        self._characters = characters
        self._splits = splits
        self._refused = refused
        self.punctuation = around.punctuation

    def as_text(self) -> JapaneseStages:
        return JapaneseStages(self._around.as_text(), self._analyzer, self._characters, self._splits, self._refused)

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> JapaneseStages:
        characters = None if self._characters is None else self._characters.without(special)
        around = self._around.untrusted(special, allowed)
        return JapaneseStages(around, self._analyzer, characters, self._splits, special)

    def to_id(self, piece: str) -> int:
        return self._around.to_id(piece)

    @property
    def order(self) -> tuple[StageName, ...]:
        around = self._around.order
        first = around[: around.index("added-tokens") + 1]
        if self._analyzer is not None:
            stages: list[tuple[StageName, object]] = [("compatibility", self._analyzer.normalize_text), ("words", True)]
            stages += [("lower-case", self._analyzer.do_lower_case)]
            first = (*first, *(name for name, is_on in stages if is_on))
        elif self.basic is not None:
            first = around[:-1]
        if not self._splits:
            return first
        return (*first, "wordpiece" if self._characters is None else "characters")

    # ---- tokens -----------------------------------------------------------------------------------------------------

    def tokens(self, text: str) -> list[str]:
        require_text(text)
        tokens: list[str] = []
        for piece, is_token in self.added.pieces(self._around.lowered(text)):
            if is_token:
                tokens.append(piece)
            else:
                tokens += self._tokens_between(piece)
        return tokens

    def _tokens_between(self, text: str) -> list[str]:
        """The tokens of a text without added tokens."""
        if self._analyzer is not None:
            words = self._analyzer.tokenize(text, self._around.never_split)
        elif self.basic is not None:
            words = self.basic.tokenize(text, self._around.never_split)
        else:
            words = [text]
        if not self._splits:
            return [self.wordpiece.unk_token if word in self._refused else word for word in words]
        tokenize = self.wordpiece.tokenize if self._characters is None else self._characters.tokenize
        return [token for word in words for token in tokenize(word)]

    def ids(self, text: str) -> list[int]:
        return list(map(self.to_id, self.tokens(text)))

    # ---- spans ------------------------------------------------------------------------------------------------------

    def parts(self, text: str, watch: Watch | None = None) -> Iterator[Part]:
        return self._around.parts(text, watch)

    def words(self, part: AlignedText, watch: Watch | None = None) -> Iterator[Word]:
        for word in self._located_words(part, watch):
            text = word.text
            if not self._splits:
                yield word, 0, len(text), [self.wordpiece.unk_token if text in self._refused else text]
            elif self._characters is not None:
                chars = self._characters.locate(word)
                yield chars, 0, len(chars.text), self._characters.tokenize(text)
            else:
                for piece, start, end in places(text, text.split()):
                    yield word, start, end, self.wordpiece.pieces_of(piece)

    def _located_words(self, part: AlignedText, watch: Watch | None) -> Iterator[AlignedText]:
        if self._analyzer is not None:
            yield from self._analyzer.locate(part, self._around.never_split, watch)
        elif self.basic is not None:
            for text, start, end in self._around.places_of_words(part, watch):
                yield text.cut(start, end)
        else:
            yield part

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        if self._splits and self._characters is not None:
            return [word.span(place, place + 1) for place in range(start, end)]
        return super().spans_of(word, start, end, pieces)
