"""The fast path: a text's chunks between spaces to ids, each worked out once and remembered.

In: a text. Out: its ids, without special tokens around.

In BERT everything after the split at whitespace stays within a chunk (Chinese spacing, NFC, lower-casing, accents,
punctuation, WordPiece), and so does the split at added tokens when none of them holds whitespace. So the ids of a text
are those of its chunks in a row, and `chunk → ids` can be remembered: a text that has been met before in other order
costs its `str.split` and a lookup a chunk. What no memory holds goes through the stages, each in its cheapest form for
what the chunk is made of: ASCII letters, ASCII with signs, Chinese, anything else.

Chunks are cut at spaces only. Other whitespace stays in its chunk, and so do the characters that `str.split` takes for
whitespace and BERT deletes ("a\\x0bb" is one word): a chunk that holds some is told apart when it is worked out.

Tokenizers whose stages a subclass has replaced, and those with whitespace in an added token, do not come here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from trietok.added_tokens import AddedTokens
from trietok.basic_tokenizer import BasicTokenizer
from trietok.change_guard import ChangeGuard, clock
from trietok.char_classes import CHINESE_CLASS, lower_each
from trietok.wordpiece import WordpieceTokenizer

Ids = tuple[int, ...]

# str.split splits at these, BERT deletes them.
_DELETED_WHITESPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
# Words and punctuation of printable ASCII: every sign is punctuation.
_ASCII_WORDS = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
# Punctuation between Chinese characters that composes with no mark, so that it can be looked up by itself.
CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
LONGEST_REMEMBERED = 64  # code points; a longer chunk is rarely met again
MOST_TOUCHED = 64
MEMORY_LIMIT = 64_000_000  # bytes
ENTRY_BYTES = 190  # of an entry beside its characters and ids: a str, a tuple, and its share of a dict that grows


class CacheInfo(NamedTuple):
    """What a tokenizer remembers; see `BertTokenizer.cache_info`.

    Attributes:
        chunks: how many chunks of text, as they stand between spaces.
        words: how many words, as WordPiece gets them.
        bytes: what they take, estimated from above.
        limit: the bytes at which all is forgotten.
        times_full: how often that has happened.
    """

    chunks: int
    words: int
    bytes: int
    limit: int
    times_full: int


class Changed(Exception):
    """The tokenizer has changed since a text was begun, so its ids would be of two states."""


class _Memory(dict[str, Ids]):
    """A dict that works out what it lacks, and forgets all when it is full.

    Attributes:
        bytes: what it takes, estimated from above.
        times_full: how often it was full.
        earlier: what an earlier state remembered; to be asked by whoever works out, who can tell what still holds.
    """

    __slots__ = ("bytes", "earlier", "limit", "times_full", "work_out")

    def __init__(self, work_out: Callable[[str], Ids], limit: int) -> None:
        super().__init__()
        self.work_out = work_out
        self.limit = limit
        self.times_full = 0
        self.forget()

    def __missing__(self, text: str) -> Ids:
        ids = self.work_out(text)
        length = len(text)
        if length <= LONGEST_REMEMBERED:
            self.bytes += ENTRY_BYTES + 8 * len(ids) + (length if text.isascii() else 4 * length)
            if self.bytes > self.limit:
                self.times_full += 1
                self.forget()
            else:
                self[text] = ids
        return ids

    def forget(self) -> None:
        self.clear()
        self.earlier: dict[str, Ids] = {}
        self.bytes = 0


class _NotOne(LookupError):
    """A character that has no id, or several; an id that has two tokens."""


class _Characters(dict[str, int]):
    """The id of each Chinese character. There are fewer than 100,000 of them, so they need no bound."""

    __slots__ = ("work_out",)

    def __init__(self, work_out: Callable[[str], Ids]) -> None:
        super().__init__()
        self.work_out = work_out

    def __missing__(self, char: str) -> int:
        ids = self.work_out(char)
        if len(ids) != 1:
            raise _NotOne(char)
        self[char] = ids[0]
        return ids[0]


class _Tokens(dict[int, str]):
    """The token of each id that has come up."""

    __slots__ = ("to_token",)

    def __init__(self, to_token: Callable[[int], str | None]) -> None:
        super().__init__()
        self.to_token = to_token

    def __missing__(self, token_id: int) -> str:
        token = self.to_token(token_id)
        if token is None:
            raise _NotOne(token_id)
        self[token_id] = token
        return token


class ChunkEncoder:
    """Encodes texts chunk by chunk for one state of a tokenizer.

    Args:
        basic, wordpiece: its stages.
        vocab: its vocabulary without the added tokens.
        added: its added tokens; none of them holds whitespace.
        special: the special tokens in their order, which are kept whole as words too.
        tokenize: its tokens of one chunk, by the plain path; asked where an added token stands in a chunk.
        to_id: the id of a token.
        to_token: the token of an id, None where it belongs to two.
        guard: tells whether the tokenizer is changing.
        limit: how many bytes may be remembered.
    """

    def __init__(
        self,
        *,
        basic: BasicTokenizer,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        added: AddedTokens,
        special: tuple[str, ...],
        tokenize: Callable[[str], list[str]],
        to_id: Callable[[str], int],
        to_token: Callable[[int], str | None],
        guard: ChangeGuard,
        limit: int,
    ) -> None:
        self.epoch = clock.now  # of the latest look that found the state unchanged
        self._basic = basic
        self._wordpiece = wordpiece
        self._vocab = vocab
        self._added = added
        self._special_in_order = special
        self._special = frozenset(special)
        self._tokenize = tokenize
        self._to_id = to_id
        self._guard = guard
        self._lower = basic.do_lower_case
        self._split_punctuation = basic.do_split_on_punc
        self._chinese_apart = basic.tokenize_chinese_chars
        self._words = _Memory(self._ids_of_word, limit // 2)
        self._chunks = _Memory(self._ids_of_chunk, limit - limit // 2)
        self._characters = _Characters(self._ids_of_character)
        self.chunk_ids = self._chunks.__getitem__
        # What unknown words became is remembered by word, and no text shows it: a state with another id starts afresh.
        self.unknown_id = to_id(wordpiece.unk_token)
        self._tokens = _Tokens(to_token)
        tells_tokens = wordpiece.vocab is vocab and to_token(self.unknown_id) == wordpiece.unk_token
        self._tokens_of_ids = self._tokens.__getitem__ if tells_tokens else None
        self._touched: frozenset[str] = frozenset()  # added tokens changed since what `earlier` remembers

    def encode(self, text: str) -> list[int]:
        """The ids of `text`.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        return [*chain.from_iterable(map(self.chunk_ids, text.split(" ")))]

    def tokens(self, text: str) -> list[str] | None:
        """The tokens of `text`; None where ids do not tell them.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        if self._tokens_of_ids is None:
            return None
        ids = self.encode(text)
        try:
            return [*map(self._tokens_of_ids, ids)]
        except _NotOne:
            return None

    # ---- what is remembered -----------------------------------------------------------------------------------------

    def info(self) -> CacheInfo:
        """What is remembered now."""
        chunks, words = self._chunks, self._words
        return CacheInfo(
            chunks=len(chunks) + len(chunks.earlier),
            words=len(words),
            bytes=chunks.bytes + words.bytes,
            limit=chunks.limit + words.limit,
            times_full=chunks.times_full + words.times_full,
        )

    def forget(self) -> None:
        """Forget all that is remembered."""
        self._chunks.forget()
        self._words.forget()
        self._characters.clear()

    def inherit(self, earlier: ChunkEncoder, touched: frozenset[str]) -> None:
        """Take over what the encoder of an earlier state remembers.

        It costs no more than was newly remembered since that one inherited itself. What may be wrong now is told apart
        when it is met: the chunks in which a touched token stands.

        Args:
            earlier: an encoder of the same words and pieces.
            touched: the added tokens that have come, gone or changed since.
        """
        self._words = earlier._words
        self._words.work_out = self._ids_of_word
        self._chunks.times_full = earlier._chunks.times_full
        touched |= earlier._touched
        if len(touched) > MOST_TOUCHED:
            return
        self._touched = touched
        self._chunks.bytes = earlier._chunks.bytes
        self._chunks.earlier = earlier._chunks.earlier or earlier._chunks
        if earlier._chunks.earlier:
            for chunk, ids in list(earlier._chunks.items()):
                if not _any_in(touched, chunk, lower_each(chunk)):
                    self._chunks.earlier[chunk] = ids

    # ---- what is worked out -----------------------------------------------------------------------------------------

    def _ids_of_chunk(self, chunk: str) -> Ids:
        try:
            lowered = lower_each(chunk) if self._lower else chunk
            ids = self._ids_of_earlier(chunk, lowered) if self._chunks.earlier else None
            if ids is None:
                ids = self._ids_by_stages(chunk, lowered)
        except Exception:
            if self._is_of_now():
                raise
            raise Changed from None  # half of a change can break anything
        if self._is_of_now():
            return ids
        raise Changed

    def _is_of_now(self) -> bool:
        return clock.now == self.epoch and not self._guard.count & 1

    def _ids_of_earlier(self, chunk: str, lowered: str) -> Ids | None:
        ids = self._chunks.earlier.get(chunk)
        return None if ids is None or _any_in(self._touched, chunk, lowered) else ids

    def _ids_by_stages(self, chunk: str, lowered: str) -> Ids:
        if not chunk.isprintable() and not _DELETED_WHITESPACE.search(chunk):
            parts = chunk.split()
            if len(parts) > 1:
                return self._ids_of_chunks(parts)
        stands_in = self._added.stands_in
        if stands_in(chunk) or (lowered != chunk and stands_in(lowered)):
            ids = self._ids_around_tokens(chunk) if self._added.is_plain and chunk.isprintable() else None
            return tuple(map(self._to_id, self._tokenize(chunk))) if ids is None else ids
        return self._ids_of_text(lowered)

    def _ids_of_chunks(self, chunks: Iterable[str]) -> Ids:
        return tuple(chain.from_iterable(map(self.chunk_ids, chunks)))

    def _ids_around_tokens(self, chunk: str) -> Ids | None:
        """The ids of the added tokens in a chunk and of what is between; None where that is not all lower-cased.

        It is not where the end of a token that is kept as it is written is the beginning of another one's match.
        """
        if self._lower:
            chunk = self._added.lower_between(chunk, self._special_in_order)
        ids: list[int] = []
        for piece, is_token in self._added.pieces(chunk):
            if is_token:
                ids.append(self._added.encoder[piece])
            elif self._lower and lower_each(piece) != piece:
                return None
            else:
                ids += self.chunk_ids(piece)
        return tuple(ids)

    def _ids_of_text(self, text: str) -> Ids:
        """The ids of a text without spaces and added tokens, lower-cased where the tokenizer lower-cases.

        No part of such a text holds an added token either, so a part that no stage alters is a chunk like any other,
        and is remembered as one. What the stages make of a text may well hold one: "café" without its accent may be
        an added token, and is none. Such words are remembered by themselves.
        """
        if text.isascii():
            if text.isalnum() or (len(text) == 1 and text.isprintable()):
                return self._ids_of_word(text)
            if self._split_punctuation and text.isprintable():
                word = text[:-1]
                if word.isalnum():  # such as "end."
                    return self.chunk_ids(word) + self.chunk_ids(text[-1])
                return self._ids_of_chunks(_ASCII_WORDS.findall(text))
        elif self._chinese_apart:
            chinese, others = _chinese(self._split_punctuation)
            if chinese.search(text):
                return self._ids_of_chinese(others.split(text))
            if text.isalnum():  # no Chinese, no punctuation, nothing to delete: a word, however it is written
                composed = self._basic.compose(text)
                if composed not in self._special:
                    word = self._basic.normalize(composed)
                    return self._ids_of_word(word) if word == text else self._words[word]
        return self._ids_of_words(text)

    def _ids_of_words(self, text: str) -> Ids:
        words = self._basic.tokenize(text, never_split=self._special)
        if len(words) > 1 and "".join(words) == text:
            return self._ids_of_chunks(words)
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    def _ids_of_chinese(self, runs: list[str]) -> Ids:
        """The ids of runs of Chinese characters, each a word, and of others, in turn."""
        ids: list[int] = []
        chinese = True
        for run in runs:
            if chinese:
                try:
                    ids += [*map(self._characters.__getitem__, run)]
                except _NotOne:
                    for char in run:
                        ids += self._ids_of_character(char)
            else:
                ids += self.chunk_ids(run)
            chinese = not chinese
        return tuple(ids)

    def _ids_of_character(self, char: str) -> Ids:
        if char.isprintable() and not unicodedata.decomposition(char):  # assigned, and the same in every form
            return self._ids_of_word(char)
        return self._ids_of_words(char)

    def _ids_of_word(self, word: str) -> Ids:
        pieces = self._wordpiece.pieces_of(word)
        if self._added.encoder.keys().isdisjoint(pieces):
            try:
                return tuple(map(self._vocab.__getitem__, pieces))
            except KeyError:  # of a WordPiece stage with entries of its own
                pass
        return tuple(map(self._to_id, pieces))


def _any_in(contents: Iterable[str], chunk: str, lowered: str) -> bool:
    return any(content in chunk or content in lowered for content in contents)


@lru_cache(maxsize=2)
def _chinese(split_punctuation: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Chinese characters, and the punctuation between them where it is split off; and runs of all others."""
    chinese = CHINESE_CLASS + (CHINESE_PUNCTUATION if split_punctuation else "")
    return re.compile(f"[{chinese}]"), re.compile(f"([^{chinese}]+)")
