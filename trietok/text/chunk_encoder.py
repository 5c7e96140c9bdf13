"""The fast path: a text's chunks between spaces to ids, each worked out once and remembered.

In: a text. Out: its ids, without special tokens around.

In BERT everything after the split at whitespace stays within a chunk (Chinese spacing, NFC, lower-casing, accents,
punctuation, WordPiece), and so does the split at added tokens when none of them holds whitespace. So the ids of a text
are those of its chunks in a row, and `chunk → ids` can be remembered: a text that has been met before in other order
costs its `str.split` and a lookup a chunk. What no memory holds goes through the stages, each in its cheapest form for
what the chunk is made of: ASCII letters, ASCII with signs, Chinese, anything else.

Chunks are cut at spaces only. Other whitespace stays in its chunk, and so do the characters that `str.split` takes for
whitespace and BERT deletes ("a\\x0bb" is one word): a chunk that holds some is told apart when it is worked out. An
added token such as "new york" reaches over chunks: a chunk at whose end one may begin stops the quick reading of its
text, which is then cut at the added tokens first.

Tokenizers whose stages a subclass has replaced, and those with other whitespace in an added token, do not come here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

from trietok.text.added_tokens import AddedTokens
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.change_guard import ChangeGuard, clock
from trietok.text.characters import CHINESE_CLASS, lower_each
from trietok.text.memory import STOP, CacheInfo, Changed, Characters, Ids, MayBeSpaced, Memory, NotOne, Tokens
from trietok.text.wordpiece import WordpieceTokenizer

# str.split splits at these, BERT deletes them.
_DELETED_WHITESPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
# Words and punctuation of printable ASCII: every sign is punctuation.
ASCII_WORDS = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
# Punctuation between Chinese characters; it composes with no mark.
CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
MOST_TOUCHED = 64

_Result = TypeVar("_Result")


class ChunkEncoder:
    """Encodes texts chunk by chunk for one state of a tokenizer.

    Args:
        basic, wordpiece: its stages.
        vocab: its vocabulary without the added tokens.
        added: its added tokens; none of them holds whitespace but single spaces between words.
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
        self._longest_word = wordpiece.max_input_chars_per_word if wordpiece.vocab is vocab else -1
        self._added = added
        self._special_in_order = special
        self._special = frozenset(special)
        self._tokenize = tokenize
        self._to_id = to_id
        self._guard = guard
        self.limit = limit
        self._lower = basic.do_lower_case
        self._split_punctuation = basic.do_split_on_punc
        self._chinese_apart = basic.tokenize_chinese_chars
        self._words = Memory(self._ids_of_word, limit // 4)
        self._chunks = Memory(self._ids_of_chunk, limit // 2)  # a quarter is for `_outer`, or else for spans
        self._characters = Characters(self._ids_of_character, remembers=limit > 0)
        # What the chunks of a text are looked up in: that, but for those at whose end a token with spaces may begin.
        self._outer = Memory(self._ids_of_outer_chunk, limit // 4) if added.spaced else self._chunks
        self.chunk_ids = self._outer.__getitem__
        self.work_out_chunk = self._outer.work_out  # past what is remembered
        # What unknown words became is remembered by word, and no text shows it: a state with another id starts afresh.
        self.unknown_id = to_id(wordpiece.unk_token)
        self._tokens = Tokens(to_token)
        tells_tokens = wordpiece.vocab is vocab and to_token(self.unknown_id) == wordpiece.unk_token
        self._tokens_of_ids = self._tokens.__getitem__ if tells_tokens else None
        self._touched: frozenset[str] = frozenset()  # added tokens changed since what `earlier` remembers
        self._has_words = self._may_be_words(added)

    def _may_be_words(self, added: AddedTokens) -> bool:
        """Whether an added token may stand in a chunk of ASCII letters and digits."""
        return bool(added.words)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        try:
            return [*chain.from_iterable(map(self.chunk_ids, text.split(" ")))]
        except MayBeSpaced:
            return self.encode_around_tokens(text)

    def encode_around_tokens(self, text: str) -> list[int]:
        """The ids of a text in which an added token with spaces may stand; see `encode`."""
        return self._in_one_state(self._ids_of_spaced, text)

    def _ids_of_spaced(self, text: str) -> list[int]:
        if not self._stands_in(text, self._lowered(text)):
            return self._ids_of_chunks(text.split(" "))
        ids = self._ids_around_tokens(text) if self._added.is_plain else None
        return list(map(self._to_id, self._tokenize(text))) if ids is None else ids

    def tokens(self, text: str) -> list[str] | None:
        """The tokens of `text`; None where ids do not tell them.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        tokens_of_ids = self._tokens_of_ids
        if tokens_of_ids is None:
            return None
        ids = self.encode(text)
        try:
            return self._in_one_state(lambda: [*map(tokens_of_ids, ids)])
        except NotOne:
            return None

    # ---- what is remembered -----------------------------------------------------------------------------------------

    def info(self) -> CacheInfo:
        """What is remembered now."""
        chunks, words = self._chunks, self._words
        memories = {id(memory): memory for memory in (chunks, words, self._outer)}.values()
        return CacheInfo(
            chunks=len(chunks.keys() | chunks.earlier.keys()),
            words=len(words),
            bytes=sum(memory.bytes for memory in memories),
            limit=self.limit,
            times_full=sum(memory.times_full for memory in memories),
        )

    def forget(self) -> None:
        """Forget all that is remembered."""
        self._outer.forget()
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
        touched = earlier._touched.union(map(lower_each, touched) if self._lower else touched)
        if len(touched) > MOST_TOUCHED:
            return
        self._touched = touched
        self._chunks.bytes = earlier._chunks.bytes
        self._chunks.earlier = earlier._chunks.earlier or earlier._chunks
        if earlier._chunks.earlier:
            for chunk, ids in list(earlier._chunks.items()):
                if not _any_in(touched, lower_each(chunk) if self._lower else chunk):
                    self._chunks.earlier[chunk] = ids

    # ---- what is worked out -----------------------------------------------------------------------------------------

    def _ids_of_outer_chunk(self, chunk: str) -> Ids:
        ids = STOP if self._in_one_state(self._may_go_on, chunk) else self._chunks[chunk]
        self._require_now()
        return ids

    def _may_go_on(self, chunk: str) -> bool:
        """Whether an added token may begin at the end of a chunk and go on in the next."""
        may_begin = self._added.may_begin_at_the_end_of
        return may_begin(chunk) or (self._lower and may_begin(lower_each(chunk)))

    def _ids_of_chunk(self, chunk: str) -> Ids:
        try:  # as `_in_one_state`, in place: a call less for each chunk
            if chunk.isascii() and chunk.isalnum() and not (self._has_words or self._chunks.earlier):
                # Most are such, and no added token stands in them.
                ids = self._ids_of_word(chunk.lower() if self._lower else chunk)
            else:
                lowered = self._lowered(chunk)
                earlier = self._ids_of_earlier(chunk, lowered)
                ids = self._ids_by_stages(chunk, lowered) if earlier is None else earlier
        except Exception:
            self._require_now()
            raise
        self._require_now()
        return ids

    def _lowered(self, chunk: str) -> str:
        return lower_each(chunk) if self._lower else chunk

    def _require_now(self) -> None:
        """Raise `Changed` unless this is still the tokenizer's state, and no change is under way.

        It is what makes ids be of one state: whatever is worked out from the living tokenizer is used, remembered or
        raised only after it. What is remembered is of this state, so a hit needs no look.
        """
        if clock.now != self.epoch or self._guard.count & 1:
            raise Changed

    def _in_one_state(self, work_out: Callable[..., _Result], *args: Any) -> _Result:
        """`work_out(*args)`, if it is of this state; half of a change can break anything."""
        try:
            result = work_out(*args)
        except Exception:
            self._require_now()
            raise
        self._require_now()
        return result

    def _ids_of_earlier(self, chunk: str, lowered: str) -> Ids | None:
        ids = self._chunks.earlier.get(chunk)
        return None if ids is None or _any_in(self._touched, lowered) else ids

    def _ids_by_stages(self, chunk: str, lowered: str) -> Ids:
        if not chunk.isprintable() and not _DELETED_WHITESPACE.search(chunk):
            parts = chunk.split()
            if len(parts) > 1:
                return tuple(self._ids_of_chunks(parts))
        if self._stands_in(chunk, lowered):
            around = self._ids_around_tokens(chunk) if self._added.is_plain and chunk.isprintable() else None
            return tuple(map(self._to_id, self._tokenize(chunk)) if around is None else around)
        return self._ids_of_text(lowered)

    def _stands_in(self, text: str, lowered: str) -> bool:
        stands_in = self._added.stands_in
        return stands_in(text) or (lowered != text and stands_in(lowered))

    def _ids_of_chunks(self, chunks: Iterable[str]) -> list[int]:
        return [*chain.from_iterable(map(self._chunks.__getitem__, chunks))]

    def _ids_around_tokens(self, text: str) -> list[int] | None:
        """The ids of the added tokens in a text and of what is between; None where that is not all lower-cased.

        It is not where the end of a token that is kept as it is written is the beginning of another one's match.
        """
        if self._lower:
            text = self._added.lower_between(text, self._special_in_order)
        ids: list[int] = []
        for piece, is_token in self._added.pieces(text):
            if is_token:
                ids.append(self._added.encoder[piece])
            elif self._lower and lower_each(piece) != piece:
                return None
            else:
                ids += self._ids_of_chunks(piece.split(" "))
        return ids

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
                    return self._chunks[word] + self._chunks[text[-1]]
                return tuple(self._ids_of_chunks(ASCII_WORDS.findall(text)))
            return self._ids_of_words(text)
        return self._ids_of_more(text)

    def _ids_of_more(self, text: str) -> Ids:
        """`_ids_of_text` for a text that is not all ASCII."""
        if self._chinese_apart and text.isprintable():  # nothing is deleted, so no cut can hide what a word becomes
            composed = self._basic.compose(text)
            # What is punctuation is so in its composed form, and so are the words that are kept whole.
            chinese, others = _chinese(self._split_punctuation and composed == text)
            if chinese.search(text):
                return self._ids_of_chinese(others.split(text))
            if text.isalnum() and composed not in self._special:  # a word, however it is written
                word = self._basic.normalize(composed)
                return self._ids_of_word(word) if word == text else self._words[word]
        return self._ids_of_words(text)

    def _ids_of_words(self, text: str) -> Ids:
        words = self._basic.tokenize(text, never_split=self._special)
        if len(words) > 1 and "".join(words) == text:
            return tuple(self._ids_of_chunks(words))
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    def _ids_of_chinese(self, runs: list[str]) -> Ids:
        """The ids of runs of Chinese characters, each a word, and of others, in turn."""
        ids: list[int] = []
        chinese = True
        for run in runs:
            if chinese:
                try:
                    ids += [*map(self._characters.__getitem__, run)]
                except NotOne:
                    for char in run:
                        ids += self._ids_of_character(char)
            else:
                ids += self._chunks[run]
            chinese = not chinese
        return tuple(ids)

    def _ids_of_character(self, char: str) -> Ids:
        if char.isprintable() and not unicodedata.decomposition(char):  # assigned, and the same in every form
            return self._ids_of_word(char)
        return self._ids_of_words(char)

    def _ids_of_word(self, word: str) -> Ids:
        token_id = self._vocab.get(word)
        if token_id is not None and len(word) <= self._longest_word and word not in self._added.encoder:
            return (token_id,)
        pieces = self._wordpiece.pieces_of(word)
        if self._added.encoder.keys().isdisjoint(pieces):
            try:
                return tuple(map(self._vocab.__getitem__, pieces))
            except KeyError:  # of a WordPiece stage with entries of its own
                pass
        return tuple(map(self._to_id, pieces))


def _any_in(contents: Iterable[str], chunk: str) -> bool:
    return any(content in chunk for content in contents)


@lru_cache(maxsize=2)
def _chinese(split_punctuation: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Chinese characters, and the punctuation between them where it is split off; and runs of all others."""
    return character_runs(CHINESE_CLASS + (CHINESE_PUNCTUATION if split_punctuation else ""))


def character_runs(chars: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of one character of a class, and of the runs of all others."""
    return re.compile(f"[{chars}]"), re.compile(f"([^{chars}]+)")
