"""The fast path of the Rust profile: `ChunkEncoder` with the Rust tokenizers' tables and their rules of added tokens.

In: a text. Out: its ids, without special tokens around. What is remembered, and how, is `ChunkEncoder`'s. Where an
added token holds whitespace, chunks say nothing; then whole stretches between added tokens go through the stages, and
what is remembered is their words.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from trietok.text.added_tokens import AddedTokens
from trietok.text.chunk_encoder import CHINESE_PUNCTUATION, ChunkEncoder, character_runs
from trietok.text.locating_encoder import LocatingEncoder
from trietok.text.memory import STOP, Ids
from trietok.text.rust_added_tokens import RustAddedTokens
from trietok.text.rust_basic_tokenizer import RustBasicTokenizer
from trietok.text.rust_characters import character_class


@cache
def _chinese() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return character_runs(character_class("chinese") + CHINESE_PUNCTUATION)


class RustChunkEncoder(LocatingEncoder):
    """Encodes texts for one state of a tokenizer of the Rust profile. The arguments are those of `LocatingEncoder`."""

    _basic: RustBasicTokenizer
    _added: RustAddedTokens

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        if self._added.normalized.contents or not self._added.is_plain:
            self._tokens_of_ids = None  # an added token shows the text that it took

    def _may_be_words(self, added: AddedTokens) -> bool:
        assert isinstance(added, RustAddedTokens)
        return bool(added.raw.tokens.words or added.normalized.tokens.words)

    def _ids_of_outer_chunk(self, chunk: str) -> Ids:
        """Asked where an added token holds whitespace: then chunks say nothing."""
        self._require_now()
        return STOP

    def _ids_of_spaced(self, text: str) -> list[int]:
        return self.ids_around(text)

    def _has_chunked_spans(self, text: str) -> bool:
        added = self._added
        if added.spaced:
            return False
        if added.is_plain:
            return True
        # A token that takes whitespace along reaches over chunks.
        return not (added.normalized.contents or added.raw.tokens.stands_in(text))

    def inherit(self, earlier: ChunkEncoder, touched: frozenset[str]) -> None:
        """Take over the words; of chunks an added token may stand in too many."""
        self._words = earlier._words
        self._words.work_out = self._ids_of_word

    def ids_around(self, text: str, skip: Collection[str] = ()) -> list[int]:
        """The ids of the added tokens in a text, and of the words between; `skip` as in `RustAddedTokens`."""
        added, normalized = self._added, self._basic.normalized
        ids: list[int] = []
        for start, end, content in added.raw_parts(text, skip):
            if content is not None:
                ids.append(added.encoder[content])
                continue
            stretch = normalized(text[start:end])
            if not added.normalized.contents:
                ids += self._ids_of_stretch(stretch)
                continue
            for first, last, content in added.normalized_parts(stretch, skip):
                if content is not None:
                    ids.append(added.encoder[content])
                else:
                    ids += self._ids_of_stretch(stretch[first:last])
        return ids

    def _ids_of_stretch(self, normalized: str) -> list[int]:
        return [token_id for word in self._basic.words(normalized) for token_id in self._words[word]]

    def _lowered(self, chunk: str) -> str:
        return chunk.lower() if self._lower and chunk.isascii() else chunk

    def _ids_by_stages(self, chunk: str, lowered: str) -> Ids:
        return tuple(self.ids_around(chunk)) if self._stands_in(chunk, lowered) else self._ids_of_text(lowered)

    def _stands_in(self, text: str, lowered: str) -> bool:
        added = self._added
        stands_in = added.raw.tokens.stands_in
        if stands_in(text) or (lowered != text and stands_in(lowered)):
            return True
        return bool(added.normalized.contents) and added.normalized.tokens.stands_in(self._basic.normalized(text))

    def _ids_of_more(self, text: str) -> Ids:
        if self._chinese_apart:
            chinese, others = _chinese()
            if chinese.search(text):
                return self._ids_of_chinese(others.split(text))
        return self._ids_of_words(text)

    def _ids_of_word(self, word: str) -> Ids:
        token_id = self._vocab.get(word)
        if token_id is not None and len(word) <= self._longest_word:
            return (token_id,)
        return tuple(map(self._vocab.__getitem__, self._wordpiece.pieces_of(word)))
