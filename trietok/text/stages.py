"""The stages that a text goes through, with the tokens and options of one moment and without a cache.

In: a text. Out: its tokens, their ids, and the span of each. `SlowStages` and `RustStages` are the two profiles: they
define how a text is cut into added tokens and the parts between, and how a part is cut into words. The rest, from words
to pieces with their spans, is the same in both profiles and is in this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from trietok.errors import InputTypeError
from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import AlignedText, Located, Span, piece_spans
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.characters import TranslationTable
from trietok.text.watch import StageName, Watch
from trietok.text.wordpiece import WordpieceTokenizer

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
    def parts(self, text: str, watch: Watch | None = None) -> Iterator[Part]:
        """The text cut into added tokens, each with its id, and the parts between, each with None.

        A part is given by its place: added tokens that take whitespace may overlap, and all their texts together may
        be much longer than the text. `watch` is told of each part.
        """

    @abstractmethod
    def words(self, part: AlignedText, watch: Watch | None = None) -> Iterator[Word]:
        """The words of a part between added tokens."""

    @abstractmethod
    def to_id(self, piece: str) -> int:
        """The id of a piece."""

    # ---- the same in both profiles ----------------------------------------------------------------------------------

    def locate(self, text: str, watch: Watch | None = None) -> Located:
        """The tokens of a text with their ids, spans and words; `watch` is told what each stage does."""
        return self._located(text, watch)

    def _located(self, text: str, watch: Watch | None = None, shows_added: bool = True) -> Located:
        """`locate`; unless `shows_added`, what is shown of added tokens is left empty."""
        require_text(text)
        located = Located.empty()
        for part, first, last, token_id in self.parts(text, watch):
            if token_id is not None:
                shown = part.text[first:last] if shows_added else ""
                located.add(token_id, shown, part.span(first, last), located.next_word())
                continue
            for word, start, end, pieces in self.words(part.cut(first, last), watch):
                if watch is not None:
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
