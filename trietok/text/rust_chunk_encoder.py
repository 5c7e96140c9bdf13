"""The fast path of the fast profile: `ChunkEncoder` with the Rust tokenizers' tables and their rules of added tokens.

In: a text. Out: its ids, without special tokens around. The caches are those of `ChunkEncoder`. If an added token
contains whitespace, ids cannot be cached per chunk; each stretch between added tokens goes through the stages, and the
ids of its words are cached.
"""

from __future__ import annotations

import re
from functools import cache

from trietok.text.chunk_encoder import CHINESE_PUNCTUATION, ChunkEncoder, runs_without
from trietok.text.kernel.chosen import Classifier, RustClassifier
from trietok.text.memory import STOP, IdTuple
from trietok.text.rust_added_tokens import RustAddedTokens
from trietok.text.rust_basic_tokenizer import RustBasicTokenizer
from trietok.text.rust_characters import character_class
from trietok.text.rust_stages import RustStages
from trietok.text.stages import Stages


@cache
def _not_chinese() -> re.Pattern[str]:
    return runs_without(character_class("chinese") + CHINESE_PUNCTUATION)


class RustChunkEncoder(ChunkEncoder):
    """Encodes texts by stages of the fast profile. The arguments are those of `ChunkEncoder`."""

    _basic: RustBasicTokenizer
    _added: RustAddedTokens
    stages: RustStages

    @staticmethod
    def can_remember(stages: Stages) -> bool:
        return stages.wordpiece.vocab is stages.vocab

    def _tells_unknown(self) -> bool:
        # An added token that is normalized, or takes whitespace along, shows the text that it took.
        return self._added.is_plain and not self._added.normalized.contents and super()._tells_unknown()

    def _ascii_word_keys(self) -> frozenset[str]:
        return self._added.raw.search.ascii_word_keys | self._added.normalized.search.ascii_word_keys

    def _can_hand_over(self) -> bool:
        return not self._has_spaces  # such a token may stand in a text that has no spaces before it is normalized

    def _classifier(self) -> Classifier:
        patterns = [*self._added.raw.contents, *self._added.normalized.contents]
        return RustClassifier(self._basic, patterns, self._added.is_plain)

    def _ids_of_outer_chunk(self, chunk: str) -> IdTuple:
        """Called only if an added token contains whitespace: ids cannot be cached per chunk then."""
        return STOP

    def ids_around_tokens(self, text: str) -> list[int]:
        return self.ids_around(text)

    def _has_chunked_spans(self, text: str) -> bool:
        added = self._added
        if self._has_spaces or self.stages.trims_offsets:
            return False
        if added.is_plain:
            return True
        # A token with `lstrip` or `rstrip` takes whitespace beyond its chunk.
        return not (added.normalized.contents or added.raw.search.stands_in(text))

    def ids_around(self, text: str) -> list[int]:
        """The ids of the added tokens in a text, and of the words between."""
        added, normalized = self._added, self._basic.normalized
        ids: list[int] = []
        for start, end, content in added.raw_parts(text):
            if content is not None:
                ids.append(added.encoder[content])
                continue
            stretch = normalized(text[start:end])
            if not added.normalized.contents:
                ids += self._ids_of_stretch(stretch)
                continue
            for first, last, content in added.normalized_parts(stretch):
                if content is not None:
                    ids.append(added.encoder[content])
                else:
                    ids += self._ids_of_stretch(stretch[first:last])
        return ids

    def _ids_of_stretch(self, normalized: str) -> list[int]:
        return [token_id for word in self._basic.words(normalized) for token_id in self._words[word]]

    def _lowered(self, chunk: str) -> str:
        return chunk.lower() if self._lower and chunk.isascii() else chunk

    def _ids_by_stages(self, chunk: str, lowered: str) -> IdTuple:
        return tuple(self.ids_around(chunk)) if self._stands_in(chunk, lowered) else self._ids_of_text(lowered)

    def _stands_in(self, text: str, lowered: str) -> bool:
        added = self._added
        stands_in = added.raw.search.stands_in
        if stands_in(text) or (lowered != text and stands_in(lowered)):
            return True
        return bool(added.normalized.contents) and added.normalized.search.stands_in(self._basic.normalized(text))

    def _ids_of_more(self, text: str) -> IdTuple:
        if self._chinese_apart:
            runs = _not_chinese().split(text)
            if runs[1:2] != [text]:
                return self._ids_of_chinese(runs)
        return self._ids_of_words(text)
