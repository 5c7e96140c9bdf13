"""Text to ids, tokens and spans, with the tokens and options of one moment and with a cache per chunk.

In: a text. Out: its ids, without special tokens around; or its tokens, or their spans.

In BERT everything after the split at whitespace stays within a chunk (Chinese spacing, NFC, lower-casing, accents,
punctuation, WordPiece), and so does the split at added tokens when none of them holds whitespace. So the ids of a text
are those of its chunks in a row, and `chunk → ids` can be cached: a text whose chunks are all cached costs one
`str.split` and one dict lookup per chunk. A chunk that is not cached goes through the stages, and its words have a
cache of their own. Only words of ASCII and Chinese characters have a way around the stages.

Chunks are cut at spaces only. Other whitespace stays in its chunk, and so do the characters that `str.split` takes for
whitespace and BERT deletes ("a\\x0bb" is one word): when a chunk is encoded for the first time, it is checked for such
characters. An added token such as "new york" extends over several chunks: if a chunk ends with the first word of such a
token, `ids` leaves the fast path and searches the whole text for added tokens; if it finds one, it splits there first.

Spans are cached in the same way, relative to the start of the chunk, as differences between successive boundaries; one
running sum over the differences gives the spans of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate, chain
from operator import sub
from typing import TYPE_CHECKING

from trietok.text.alignment import Located, Span
from trietok.text.characters import lower_each
from trietok.text.kernel.chosen import (
    TEXT_AT_ONCE_BEFORE_KERNEL,
    Classifier,
    SlowClassifier,
    kernel_at_work,
    new_kernel,
    new_vocabulary,
    one_at_a_time,
    text_before_kernel,
    threads_allowed,
)
from trietok.text.kernel.plain import ListRows
from trietok.text.memory import STOP, CacheInfo, Characters, IdTuple, MayBeSpaced, Memory, NotOne, Tokens
from trietok.text.trie import Prefilter
from trietok.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from trietok.text.kernel._kernel import Kernel
    from trietok.text.kernel._kernel import Vocabulary as KernelVocabulary
    from trietok.text.kernel.plain import Rows
    from trietok.text.stages import Stages

# str.split splits at these, BERT deletes them.
_DELETED_WHITESPACE = "[\x0b\x0c\x1c-\x1f\x85]"
# Words and punctuation of printable ASCII: every sign is punctuation.
ASCII_WORDS = r"[A-Za-z0-9]+|[^A-Za-z0-9]"
# The Chinese path of texts: without it plain Python takes five times as long for Chinese. These characters are words in
# both profiles, each by itself, and no stage changes them; rarer ones go the way of all words.
_CHINESE = "\u4e00-\u9fef"
# Punctuation between them; it composes with no mark.
CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
# Runs without Chinese; and without this punctuation too, at which a text is cut unless it holds strange characters:
# BERT finds no special word in `、[\u0301CLS]\u0301、`, whose accents go after it has looked, and would in a part.
_NOT_CHINESE = f"([^{_CHINESE}]+)", f"([^{_CHINESE}{CHINESE_PUNCTUATION}]+)"
_STRANGE_TO_CHINESE = f"[^ -~{_CHINESE}{CHINESE_PUNCTUATION}]"
# Each is compiled where a text first needs it, and kept: all of them would be a tenth of the time to import this.
_compiled = cache(re.compile)
MOST_VARIANTS = 16


class TextEncoder:
    """Encodes texts by the stages, without a cache; `ChunkEncoder` has one. Apart from the cache, neither ever changes.

    Args:
        stages: what a text goes through.
    """

    remembers = False
    kernel: Kernel | None = None  # does what `ids` does, sooner; see `trietok.text.kernel.chosen`

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self._variants: dict[object, TextEncoder] = {}

    def ids(self, text: str) -> list[int]:
        """The ids of `text`."""
        return self.stages.ids(text)

    def ids_between(self, front: list[int], text: str, back: list[int]) -> list[int]:
        """The ids of `text`, between those of two lists."""
        return [*front, *self.ids(text), *back]

    def rows(self, texts: list[str], threads: Callable[[int], int] | None = threads_allowed) -> Rows:
        """The ids of each of `texts`; `threads` says how many threads the kernel may use, None stands for one."""
        return ListRows(map(self.ids, texts))

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of a text that is given as tokens."""
        return list(map(self.stages.to_id, tokens))

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`."""
        return self.stages.tokens(text)

    def locate(self, text: str) -> Located:
        """The tokens of `text` with their ids, spans and words."""
        return self.stages.locate(text)

    def spans(self, text: str, count: int = -1) -> list[Span]:
        """The span of each token of `text`: half-open, in code points.

        Args:
            text: the text.
            count: how many tokens it has, where that is known.
        """
        return self.stages.spans(text)

    def words(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        """The words of `text`, without its added tokens: each as WordPiece is given it, its pieces, and its span."""
        return self.stages.words_between(text)

    def chunks(self, text: str) -> list[str]:
        """What lies between spaces of `text`, where each chunk has the words by itself that it has in the text.

        Where that does not hold, the whole text is the only chunk.
        """
        return [text]

    def cut_characters(self) -> tuple[int, int] | None:
        """Where a text may be cut, beside spaces, so that its ids are those of the parts in a row.

        Returns:
            The first and the last of the characters between any two of which it may be cut, (1, 0) for none; or None,
            where it may not be cut at spaces either.
        """
        return None

    def as_text(self) -> TextEncoder:
        """The encoder of texts in which special tokens are text, as transformers' `split_special_tokens` has it."""
        return self._variant(None)

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> TextEncoder:
        """The encoder of texts that can give, of the tokens of `special`, only those of `allowed`."""
        return self._variant((special, allowed))

    def _variant(self, key: tuple[frozenset[str], frozenset[str]] | None) -> TextEncoder:
        variant = self._variants.get(key)
        if variant is None:
            if len(self._variants) >= MOST_VARIANTS:
                self._variants.clear()
            stages = self.stages.as_text() if key is None else self.stages.untrusted(*key)
            variant = self._variants[key] = TextEncoder(stages)
        return variant

    def info(self, limit: int) -> CacheInfo:
        """What is cached now; `limit` is the most bytes it may take."""
        return CacheInfo(0, 0, 0, limit, 0)

    def forget(self) -> None:
        """Clear the caches."""


class WordMemory(Memory):
    """A cache word → ids. It depends on the vocabulary and WordPiece only, so encoders can share it."""

    __slots__ = (
        *("_also_added", "_longest", "_unknown", "_unknown_ids", "_vocab", "_wordpiece"),
        *("kernel_vocabulary", "stages"),
    )

    def __init__(self, stages: Stages, limit: int) -> None:
        super().__init__(self._ids_of_word, limit)
        self.stages = stages
        self._vocab = stages.vocab
        self._wordpiece = stages.wordpiece
        self._longest = stages.wordpiece.max_input_chars_per_word if stages.wordpiece.vocab is stages.vocab else -1
        # The entries that are added tokens too, perhaps with another id; tokens added later beside them are none.
        self._also_added = frozenset(stages.vocab.keys() & stages.added.encoder.flat().keys())
        self._unknown = stages.wordpiece.unk_token
        self._unknown_ids: IdTuple | None = None
        self.kernel_vocabulary: KernelVocabulary | None = None  # what the kernels of these encoders share

    def _ids_of_word(self, word: str) -> IdTuple:
        token_id = self._vocab.get(word)
        if token_id is not None and len(word) <= self._longest and word not in self._also_added:
            return (token_id,)
        if self.kernel_vocabulary is not None:
            ids = self.kernel_vocabulary.ids(word)
            if ids is not None:
                return tuple(ids)
        pieces = self._wordpiece.pieces_of(word)
        if len(pieces) == 1 and pieces[0] is self._unknown:  # the commonest of those that are added tokens too
            if self._unknown_ids is None:
                self._unknown_ids = (self.stages.to_id(self._unknown),)
            return self._unknown_ids
        if self._also_added.isdisjoint(pieces):
            try:
                return tuple(map(self._vocab.__getitem__, pieces))
            except KeyError:  # of a WordPiece stage with entries of its own
                pass
        return tuple(map(self.stages.to_id, pieces))


class ChunkEncoder(TextEncoder):
    """Encodes texts chunk by chunk.

    Args:
        stages: what a text goes through; see `can_remember`.
        vocabulary: the vocabulary without the added tokens.
        limit: how many bytes the caches may take.
        words_are_of: everything that the ids of words depend on.
        earlier: an encoder whose cache of words is taken over if its `words_are_of` is equal.
    """

    remembers = True
    _classifier_of: Callable[..., Classifier] = SlowClassifier

    def __init__(
        self,
        stages: Stages,
        vocabulary: Vocabulary,
        limit: int,
        words_are_of: object = None,
        earlier: ChunkEncoder | None = None,
    ) -> None:
        super().__init__(stages)
        basic, wordpiece = stages.basic, stages.wordpiece
        assert basic is not None  # `can_remember` has checked it
        self.limit = limit
        self.words_are_of = words_are_of
        self._words: WordMemory = WordMemory(stages, limit // 4) if earlier is None else earlier._words
        self._basic = basic
        self._wordpiece = wordpiece
        self._vocab: Mapping[str, int] = stages.vocab
        self._vocabulary = vocabulary
        self._added = stages.added
        self._special = frozenset(stages.special)
        self._lowers = stages.lowers
        self._lowers_words = stages.lowers or basic.do_lower_case
        self._split_punctuation = basic.do_split_on_punc
        self._chinese_apart = basic.tokenize_chinese_chars
        self._has_spaces = self._added.search.has_spaces or self._added.search.has_odd_spaces
        keys = frozenset[str]().union(*[search.ascii_word_keys for search in self._added.searches])
        if self._lowers_words:
            keys |= frozenset(map(str.upper, keys))
        # Finds in a chunk of ASCII letters and digits what an added token in it must hold; None if none can be in it.
        self._find_word_key = Prefilter(keys=keys).any_in if keys else None
        # A quarter is for `_outer`, or else for spans.
        self._chunks = Memory(self._ids_of_early_chunk, limit // 2)
        self._text_before_kernel = text_before_kernel()
        self._chunks.times_full = 0 if earlier is None else earlier._chunks.times_full
        self._characters = Characters(self._words.work_out, remembers=limit > 0)
        # The cache that the chunks of a text are looked up in; where an added token has spaces, it is one in which a
        # chunk that ends with such a token's first word is `STOP`.
        self._outer = Memory(self._ids_of_outer_chunk, limit // 4) if self._has_spaces else self._chunks
        self.chunk_ids = self._outer.__getitem__
        self.work_out_chunk = self._ids_of_outer_chunk if self._has_spaces else self._ids_of_chunk  # without the cache
        # Filled when spans are asked for. Either `_steps` or `_outer` has a share of the limit, never both.
        self._steps = Memory(self._steps_of_chunk, 0 if self._has_spaces else limit // 4)
        self.chunk_steps = self._steps.__getitem__
        self._tokens = Tokens(self._only_token_of)
        self._tells_tokens = self._tells_unknown()
        if earlier is not None and self._chunks_become_the_same_in(earlier):
            self._share_kernel(earlier)
        elif self._text_before_kernel <= 0:
            self.make_kernel()

    @staticmethod
    def can_remember(stages: Stages) -> bool:
        """Whether the ids of a text are those of its chunks in a row, so that they can be cached by chunk."""
        added, basic = stages.added, stages.basic
        return (
            stages.by_chunks
            and basic is not None
            and not basic.never_split
            and stages.wordpiece.vocab is stages.vocab  # else it may be a dict that a user changes
            and not added.search.has_odd_spaces
            and all(token in added.encoder for token in stages.special)
        )

    def _tells_unknown(self) -> bool:
        unknown = self._wordpiece.unk_token
        unknown_id = self._id_of(unknown)
        return unknown_id is not None and self._only_token_of(unknown_id) == unknown

    def _id_of(self, token: str) -> int | None:
        """The id of a token, added ones included, or None; `Stages.to_id` is asked for pieces only."""
        added_id = self._added.encoder.get(token)
        return self._vocab.get(token) if added_id is None else added_id

    def _is_ascii_word(self, chunk: str) -> bool:
        """Whether a chunk is made of ASCII letters and digits, and surely holds no added token: most chunks."""
        if not (chunk.isascii() and chunk.isalnum()):
            return False
        return self._find_word_key is None or not self._find_word_key(chunk)

    def _only_token_of(self, token_id: int) -> str | None:
        """The token of an id; None where two tokens have that id."""
        lines = self._vocabulary.tokens
        line = lines[token_id] if 0 <= token_id < len(lines) else None
        added = self._added.decoder.get(token_id)
        token = line if added is None else added.content
        if token is None or (line is not None and line != token):
            return None
        return token if self._id_of(token) == token_id else None

    def ids(self, text: str) -> list[int]:
        if len(text) >= TEXT_AT_ONCE_BEFORE_KERNEL:
            self.expect((text,))
        if self.kernel is not None:
            return self.kernel.ids(text)
        return self._plain_ids(text)

    def ids_between(self, front: list[int], text: str, back: list[int]) -> list[int]:
        if len(text) >= TEXT_AT_ONCE_BEFORE_KERNEL:
            self.expect((text,))
        if self.kernel is not None:
            return self.kernel.ids(text, front, back)
        return [*front, *self._plain_ids(text), *back]

    def rows(self, texts: list[str], threads: Callable[[int], int] | None = threads_allowed) -> Rows:
        self.expect(texts)
        return super().rows(texts) if self.kernel is None else self.kernel.rows(texts, threads)

    def _plain_ids(self, text: str) -> list[int]:
        try:
            return [*chain.from_iterable(map(self.chunk_ids, text.split(" ")))]
        except MayBeSpaced:
            return self._ids_of_spaced(text)

    def _ids_of_spaced(self, text: str) -> list[int]:
        """The ids of a text in which an added token with spaces may stand."""
        return self._ids_around(text) if self._stands_in(text) else self._ids_of_chunks(text.split(" "))

    def tokens(self, text: str) -> list[str]:
        if self._tells_tokens:
            try:
                return [*map(self._tokens.__getitem__, self.ids(text))]
            except NotOne:
                pass
        return self.stages.tokens(text)

    def spans(self, text: str, count: int = -1) -> list[Span]:
        if not self._has_chunked_spans(text):
            return self.stages.spans(text)
        spans = None if self.kernel is None else self.kernel.spans(text)
        if spans is None:
            bounds = accumulate(chain.from_iterable(map(self.chunk_steps, text.split(" "))), initial=-1)
            next(bounds)
            spans = list(zip(bounds, bounds, strict=True))
        return spans if len(spans) == count else [span for span in spans if span[0] != span[1]]

    def chunks(self, text: str) -> list[str]:
        return text.split(" ") if self._has_chunked_spans(text) else [text]

    def cut_characters(self) -> tuple[int, int] | None:
        return None if self._has_spaces else self._classifier().alone()

    def _has_chunked_spans(self, text: str) -> bool:
        """Whether the spans of a text are those of its chunks in a row."""
        return not self._has_spaces

    # ---- the caches -------------------------------------------------------------------------------------------------

    def info(self, limit: int) -> CacheInfo:
        memories = {id(memory): memory for memory in (self._chunks, self._words, self._outer, self._steps)}.values()
        kernel: dict[str, int] = {} if self.kernel is None else self.kernel.info()
        return CacheInfo(
            chunks=len(self._chunks) + kernel.get("chunks", 0),
            words=len(self._words) + kernel.get("words", 0),
            bytes=sum(memory.bytes for memory in memories) + kernel.get("bytes", 0),
            limit=limit,
            times_full=sum(memory.times_full for memory in memories) + kernel.get("times_full", 0),
        )

    def forget(self) -> None:
        for memory in (self._outer, self._chunks, self._words, self._steps):
            memory.forget()
        self._characters.clear()
        if self.kernel is not None:
            self.kernel.forget()

    # ---- the kernel -------------------------------------------------------------------------------------------------

    @property
    def may_have_kernel(self) -> bool:
        """Whether texts go through a compiled kernel, or will do so once there have been enough of them."""
        if self.kernel is not None:
            return True
        return kernel_at_work() == "compiled" and self._awaits_kernel() and self._can_hand_over()

    def _awaits_kernel(self) -> bool:
        return self._chunks.work_out == self._ids_of_early_chunk

    def expect(self, texts: Iterable[str]) -> None:
        """Make ready for texts that are to be encoded now: make a kernel if they are long enough."""
        if self._awaits_kernel() and sum(map(len, texts)) >= TEXT_AT_ONCE_BEFORE_KERNEL:
            self.make_kernel()

    def make_kernel(self) -> None:
        """Make the kernel now, if there is to be one. Threads that ask for it meanwhile wait for it."""
        with one_at_a_time:
            if self._awaits_kernel():
                try:
                    self._make_kernel()
                finally:
                    self._chunks.work_out = self._ids_of_chunk

    def _ids_of_early_chunk(self, chunk: str) -> IdTuple:
        """`_ids_of_chunk` as long as there is no kernel."""
        if self._text_before_kernel > 0:
            self._text_before_kernel -= len(chunk) + 1
            if self._text_before_kernel <= 0:
                self.make_kernel()
        return self._ids_of_chunk(chunk)

    def _chunks_become_the_same_in(self, earlier: ChunkEncoder) -> bool:
        """Whether what is remembered of chunks is right here too; words become the same in both."""
        return earlier.kernel is not None and earlier._added is self._added and earlier._special == self._special

    def _share_kernel(self, earlier: ChunkEncoder) -> None:
        """Go on with an earlier encoder's kernel, and with the memory of chunks that the kernel hands over to."""
        self.kernel = earlier.kernel
        self._text_before_kernel = 0
        self._chunks, self._outer = earlier._chunks, earlier._outer
        self.chunk_ids = self._outer.__getitem__

    def _make_kernel(self) -> None:
        if not self._can_hand_over():
            return
        words = self._words
        if words.kernel_vocabulary is None:
            words.kernel_vocabulary = new_vocabulary(self.stages)
        if words.kernel_vocabulary is None:
            return
        share = 3 * self._chunks.limit // 4
        self.kernel = new_kernel(
            words.kernel_vocabulary,
            self._classifier(),
            self._ids_unless_spaced if self._has_spaces else self._ids_of_chunk,
            self._plain_ids,
            self._steps_of_chunk,
            share + self._steps.limit,
        )
        if self.kernel is not None:
            self._chunks.limit -= share
            self._chunks.forget()
            self._steps.limit = 0
            self._steps.forget()

    def _can_hand_over(self) -> bool:
        """Whether it can be told of a chunk that an added token reaches beyond it."""
        return not self._added.search.has_odd_spaces

    def _ids_unless_spaced(self, chunk: str) -> IdTuple | None:
        """The ids of a chunk; None where an added token with spaces may begin at its end."""
        return None if self._may_go_on(chunk) else self._chunks[chunk]

    def _classifier(self) -> Classifier:
        return self._classifier_of(self._basic, self._added.searches, self._added.is_plain)

    # ---- filling the caches -----------------------------------------------------------------------------------------

    def _ids_of_outer_chunk(self, chunk: str) -> IdTuple:
        return STOP if self._may_go_on(chunk) else self._chunks[chunk]

    def _may_go_on(self, chunk: str) -> bool:
        """Whether an added token may begin at the end of a chunk and go on in the next."""
        may_begin = self._added.search.may_begin_at_the_end_of
        return may_begin(chunk) or (self._lowers and may_begin(lower_each(chunk)))

    def _ids_of_chunk(self, chunk: str) -> IdTuple:
        if self._is_ascii_word(chunk):
            return self._words.work_out(chunk.lower() if self._lowers_words else chunk)
        if not chunk.isprintable() and not _compiled(_DELETED_WHITESPACE).search(chunk):
            parts = chunk.split()
            if len(parts) > 1:
                return tuple(self._ids_of_chunks(parts))
        if self._stands_in(chunk):
            return tuple(self._ids_around(chunk))
        # What the stages make of a text without added tokens may well look like one: "cafe", made of "café", is
        # encoded as a word even if "cafe" is an added token. Words therefore have a cache of their own.
        return self._ids_of_text(lower_each(chunk) if self._lowers else chunk)

    def _ids_of_chunks(self, chunks: Iterable[str]) -> list[int]:
        return [*chain.from_iterable(map(self._chunks.__getitem__, chunks))]

    def _stands_in(self, text: str) -> bool:
        """Whether an added token may occur in a text."""
        return self._added.search.stands_in(text) or (self._lowers and self._added.search.stands_in(lower_each(text)))

    def _ids_around(self, text: str) -> list[int]:
        """The ids of the added tokens in a text, and of the words between."""
        ids: list[int] = []
        if self._lowers:
            text = self._added.lower_between(text, self.stages.special)
        for piece, is_token in self._added.pieces(text):
            if is_token:
                ids.append(self._added.encoder[piece])
            elif self._added.is_plain and not (self._lowers and lower_each(piece) != piece):
                ids += self._ids_of_chunks(piece.split(" "))
            else:  # it may hold what looks like a token and is none there
                ids += self._ids_of_words(piece)
        return ids

    def _ids_of_text(self, text: str) -> IdTuple:
        """The ids of a text without spaces and added tokens, lower-cased as the stages do it around added tokens."""
        if text.isascii():
            if self._split_punctuation and text.isprintable():
                words = _compiled(ASCII_WORDS).findall(self._basic.normalize(text))
                return tuple(chain.from_iterable(map(self._words.__getitem__, words)))
        elif self._chinese_apart:
            cuts_at_signs = self._split_punctuation and not _compiled(_STRANGE_TO_CHINESE).search(text)
            runs = _compiled(_NOT_CHINESE[cuts_at_signs]).split(text)
            if runs[1:2] != [text]:
                return self._ids_of_chinese(runs)
        return self._ids_of_words(text)

    def _ids_of_chinese(self, runs: list[str]) -> IdTuple:
        """The ids of runs of Chinese characters and signs, each a word, and of others, in turn."""
        ids: list[int] = []
        for number, run in enumerate(runs):
            if number % 2:
                ids += self._chunks[run]
            else:
                try:
                    ids += [*map(self._characters.__getitem__, run)]
                except NotOne:
                    ids += chain.from_iterable(map(self._words.__getitem__, run))
        return tuple(ids)

    def _ids_of_words(self, text: str) -> IdTuple:
        words = self._basic.tokenize(text, never_split=self._special)
        if words == [text]:
            return self._words.work_out(text)
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    def _steps_of_chunk(self, chunk: str) -> IdTuple:
        """The starts and ends of a chunk's tokens, in turn, each as the difference to the one before.

        The first difference is to the end of the chunk before, one space to the left. If characters follow the last
        token of the chunk, the differences end with an empty span at the end of the chunk.
        """
        if len(self._chunks.get(chunk, ())) == 1 and self._is_ascii_word(chunk):
            return (1, len(chunk))  # most chunks: a word that is one token
        bounds = self._bounds_of_ascii(chunk)
        if bounds is None:
            bounds = [-1, *chain.from_iterable(self.stages.spans(chunk))]
        if bounds[-1] != len(chunk):
            bounds += len(chunk), len(chunk)
        return tuple(map(sub, bounds[1:], bounds))

    def _bounds_of_ascii(self, chunk: str) -> list[int] | None:
        """The starts and ends of the tokens of printable ASCII; None where an added token may occur in it."""
        if not (self._split_punctuation and chunk.isascii() and chunk.isprintable()):
            return None
        if not self._is_ascii_word(chunk) and self._stands_in(chunk):
            return None
        vocab, longest = self._vocab, self._wordpiece.max_input_chars_per_word
        bounds, end, marked = [-1], 0, len(self._wordpiece.continuing_subword_prefix)
        lowered = chunk.lower() if self._lowers_words else chunk
        for word in (lowered,) if lowered.isalnum() else _compiled(ASCII_WORDS).findall(lowered):
            start, end = end, end + len(word)
            bounds.append(start)
            if word not in vocab or len(word) > longest:
                pieces = self._wordpiece.pieces_of(word)
                start += len(pieces[0])
                for piece in pieces[1:]:
                    bounds += start, start
                    start += len(piece) - marked
            bounds.append(end)
        return bounds
