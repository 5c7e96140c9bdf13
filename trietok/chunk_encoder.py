"""The fast path: a text's whitespace chunks to ids, each worked out once and remembered.

In: a text. Out: its ids, without special tokens around.

In BERT everything after the split at whitespace stays within a chunk (Chinese spacing, NFC, lower-casing, accents,
punctuation, WordPiece), and so does the split at added tokens when none of them holds whitespace. So the ids of a text
are those of its chunks in a row, and `chunk → ids` can be remembered. Three things are left to the plain path: texts
with the characters that `str.split` takes for whitespace and BERT deletes, tokenizers whose stages a subclass has
replaced, and those with whitespace in an added token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain

from trietok.added_tokens import AddedTokens
from trietok.char_classes import lower_each

Ids = tuple[int, ...]

# str.split splits at these, BERT deletes them: "a\x0bb" is one word.
_DELETED_WHITESPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
# Words and punctuation of printable ASCII: every sign is punctuation.
_ASCII_WORDS = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
LONGEST_REMEMBERED = 64  # code points; a longer chunk is rarely met again
MOST_TOUCHED = 64
MOST_REMEMBERED = 200_000  # chunks, and as many words: some tens of megabytes


class _Remembered(dict[str, Ids]):
    """A dict that works out what it lacks, and forgets all when it is full."""

    def __init__(self, work_out: Callable[[str], Ids]) -> None:
        super().__init__()
        self.work_out = work_out

    def __missing__(self, text: str) -> Ids:
        ids = self.work_out(text)
        if len(text) <= LONGEST_REMEMBERED:
            if len(self) >= MOST_REMEMBERED:
                self.clear()
            self[text] = ids
        return ids


class ChunkEncoder:
    """Encodes texts chunk by chunk for one state of a tokenizer.

    Args:
        lower: whether the tokenizer lower-cases.
        split_punctuation: whether it splits at punctuation.
        added: its added tokens; none of them holds whitespace.
        tokenize: its tokens of one chunk, by the plain path; asked where an added token stands in a chunk.
        split_words: the words of a chunk without added tokens, lower-cased where the tokenizer lower-cases.
        split_pieces: the pieces of a word.
        to_id: the id of a piece.
    """

    def __init__(
        self,
        *,
        lower: bool,
        split_punctuation: bool,
        added: AddedTokens,
        tokenize: Callable[[str], list[str]],
        split_words: Callable[[str], list[str]],
        split_pieces: Callable[[str], list[str]],
        to_id: Callable[[str], int],
    ) -> None:
        self._lower = lower
        self._split_punctuation = split_punctuation
        self._added = added
        self._tokenize = tokenize
        self._split_words = split_words
        self._split_pieces = split_pieces
        self._to_id = to_id
        self._words = _Remembered(self._ids_of_word)
        self._chunks = _Remembered(self._ids_of_chunk)
        self.unknown_id: int | None = None  # of an unknown word, for the owner to compare states by
        # What an earlier state remembered, and the added tokens that have come, gone or changed since.
        self._inherited: dict[str, Ids] = {}
        self._touched: frozenset[str] = frozenset()

    def encode(self, text: str) -> list[int] | None:
        """The ids of `text`; None where the plain path has to be taken."""
        if not text.isprintable() and _DELETED_WHITESPACE.search(text):
            return None
        return list(chain.from_iterable(map(self._chunks.__getitem__, text.split())))

    def _ids_of_chunk(self, chunk: str) -> Ids:
        lowered = lower_each(chunk) if self._lower else chunk
        if self._inherited:
            ids = self._inherited.get(chunk)
            if ids is not None and not _any_in(self._touched, chunk, lowered):
                return ids
        stands_in = self._added.stands_in
        if stands_in(chunk) or (lowered != chunk and stands_in(lowered)):
            return tuple(map(self._to_id, self._tokenize(chunk)))
        plain = self._split_punctuation and lowered.isascii() and lowered.isprintable()
        words = _ASCII_WORDS.findall(lowered) if plain else self._split_words(lowered)
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    def _ids_of_word(self, word: str) -> Ids:
        return tuple(map(self._to_id, self._split_pieces(word)))

    def inherit(self, earlier: ChunkEncoder, touched: frozenset[str]) -> None:
        """Take over what the encoder of an earlier state remembers.

        It costs no more than was newly remembered since that one inherited itself. What may be wrong now is told apart
        when it is met: the chunks in which a touched token stands.

        Args:
            earlier: an encoder of the same words and pieces.
            touched: the added tokens that have come, gone or changed since.
        """
        self._words = earlier._words
        touched |= earlier._touched
        if len(touched) > MOST_TOUCHED:
            return
        if len(earlier._inherited) >= MOST_REMEMBERED:
            return
        self._touched = touched
        self._inherited = earlier._inherited or earlier._chunks
        if earlier._inherited:
            for chunk, ids in list(earlier._chunks.items()):
                if not _any_in(touched, chunk, lower_each(chunk)):
                    self._inherited[chunk] = ids


def _any_in(contents: Iterable[str], chunk: str, lowered: str) -> bool:
    return any(content in chunk or content in lowered for content in contents)
