"""Text to ids, tokens and spans, with the tokens and options of one moment and with a cache per
chunk.

In: a text. Out: its ids, without special tokens around; or its tokens, or their spans.

In BERT everything after the split at whitespace stays within a chunk (Chinese spacing, NFC,
lower-casing, accents, punctuation, WordPiece), and so does the split at added tokens when none of
them holds whitespace. So the ids of a text are those of its chunks in a row, and `chunk → ids` can
be cached: a text whose chunks are all cached costs one `str.split` and one dict lookup per chunk. A
chunk that is not cached goes through the stages, and its words have a cache of their own. Only
words of ASCII and Chinese characters have a way around the stages. Chunks that an added token such
as "new york" may reach across are one, a window (`trietok.text.terms`).

Chunks are cut at spaces only. Other whitespace stays in its chunk, and so do the characters that
`str.split` takes for whitespace and BERT deletes ("a\\x0bb" is one word): when a chunk is encoded
for the first time, it is checked for such characters.

Spans are cached in the same way, relative to the start of the chunk, as differences between
successive boundaries; one running sum over the differences gives the spans of the text.
"""

from __future__ import annotations

import array
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain, repeat
from operator import sub
from typing import TYPE_CHECKING, Any

from trietok.text.alignment import Span
from trietok.text.kernel.choosing import (
    CODE_POINTS_OF_A_TEXT,
    TEXT_AT_ONCE_BEFORE_KERNEL,
    Classifier,
    RustClassifier,
    SlowClassifier,
    kernel_at_work,
    new_kernel,
    new_vocabulary,
    one_at_a_time,
    text_before_kernel,
    threads_allowed,
)
from trietok.text.memory import CacheInfo, IdTuple, Known, Memory, NotOne
from trietok.text.stages import Located
from trietok.text.text_encoder import TextEncoder
from trietok.text.vocabulary import Vocabulary
from trietok.text.word_memory import WordMemory
from trietok.text.word_search import Prefilter

if TYPE_CHECKING:
    from trietok.text.kernel.plain import Form, Rows
    from trietok.text.stages import Stages

# What stands for the signs of printable ASCII where its words are cut: each is punctuation.
ASCII_SIGNS = {sign: f" {chr(sign)} " for sign in range(33, 127) if not chr(sign).isalnum()}
# The Chinese path of texts: without it plain Python takes five times as long for Chinese. These
# characters are words in both profiles, each by itself, and no stage changes them; rarer ones go
# the way of all words.
_CHINESE = "\u4e00-\u9fef"
# Punctuation between them; it composes with no mark.
CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
# Runs without Chinese; and without this punctuation too, at which a text is cut unless it holds
# strange characters: BERT finds no special word in `、[\u0301CLS]\u0301、`, whose accents go after
# it has looked, and would in a part.
_NOT_CHINESE = f"([^{_CHINESE}]+)", f"([^{_CHINESE}{CHINESE_PUNCTUATION}]+)"
_STRANGE_TO_CHINESE = f"[^ -~{_CHINESE}{CHINESE_PUNCTUATION}]"


# Each is compiled where a text first needs it, and kept: all of them would be a tenth of the time
# to import this.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class ChunkEncoder(TextEncoder):
    """Encodes texts chunk by chunk.

    Args:
        stages: what a text goes through; they `go_by_chunks`.
        vocabulary: the vocabulary without the added tokens.
        limit: how many bytes the caches may take.
        words_are_of: everything that the ids of words depend on.
        earlier: an encoder whose cache of words is taken over if its `words_are_of` is equal.
    """

    remembers = True

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
        assert basic is not None  # `go_by_chunks` has checked it
        self.limit = limit
        self.words_are_of = words_are_of
        self._words: WordMemory = (
            WordMemory(stages, limit // 4) if earlier is None else earlier._words
        )
        self._basic = basic
        self._wordpiece = wordpiece
        self._vocab: Mapping[str, int] = stages.vocab
        self._vocabulary = vocabulary
        self._added = stages.added
        self._special = frozenset(stages.special)
        self._lowers_words = stages.lowers or basic.do_lower_case
        self._chinese_apart = basic.tokenize_chinese_chars
        self._split_punctuation = basic.do_split_on_punc
        keys = frozenset[str]().union(*[search.ascii_word_keys for search in self._added.searches])
        if self._lowers_words:
            keys |= frozenset(map(str.upper, keys))
        # Finds in a chunk of ASCII letters and digits what an added token in it must hold; None if
        # none can be in it.
        self._find_word_key = Prefilter(keys=keys).any_in if keys else None
        # A quarter is for spans; where there are terms, half of that for those that chunks begin.
        self.terms = stages.terms(limit // 8)
        self._chunks = Memory(self._ids_of_early_chunk, limit // 2)
        self._text_before_kernel = text_before_kernel()
        self._chunks.times_full = 0 if earlier is None else earlier._chunks.times_full
        self.chunk_ids = self._chunks.__getitem__
        # Without the cache:
        self.work_out_chunk = self._ids_of_chunk if stages.is_berts else self._ids_by_stages
        self._characters = Known(self._only_id_of)
        self._steps = Memory(self._steps_of_chunk, limit // 4 if self.terms is None else limit // 8)
        self.chunk_steps = self._steps.__getitem__
        self._tokens = Known(self._only_token_of)
        self._begins_word = Known(self._word_begins_with)
        self._tells_tokens = self._tells_unknown()
        if earlier is not None and self._chunks_become_the_same_in(earlier):
            self._share_kernel(earlier)
        elif self._text_before_kernel <= 0:
            self.make_kernel()

    def _tells_unknown(self) -> bool:
        unknown = self._wordpiece.unk_token
        unknown_id = self._id_of(unknown)
        return unknown_id is not None and self._only_token_of(unknown_id) == unknown

    def _id_of(self, token: str) -> int | None:
        """The id of any token, or None; `Stages.to_id` is asked for pieces only."""
        added_id = self._added.encoder.get(token)
        return self._vocab.get(token) if added_id is None else added_id

    def _is_ascii_word(self, chunk: str) -> bool:
        """Whether a chunk is ASCII letters and digits, surely without an added token: most are."""
        if not (chunk.isascii() and chunk.isalnum()):
            return False
        return self._find_word_key is None or not self._find_word_key(chunk)

    def _only_token_of(self, token_id: int) -> str | None:
        """The token of an id; None where two tokens have that id."""
        lines = self._vocabulary.tokens
        line = lines[token_id] if 0 <= token_id < len(lines) else None
        added = self._added.decoder.get(token_id)
        token = line if added is None else added.content
        if (
            token is None
            or (line is not None and line != token)
            or not self._added.shows_itself(token)
        ):
            return None
        return token if self._id_of(token) == token_id else None

    def _word_begins_with(self, token_id: int) -> int | None:
        """1 for a token that begins a word, 0 for one that does not; None where nothing tells."""
        token, prefix = self._only_token_of(token_id), self._wordpiece.continuing_subword_prefix
        if token is None or not prefix or prefix[0].translate(self.stages.punctuation) == prefix[0]:
            return None
        goes_on = len(token) > len(prefix) and token.startswith(prefix)
        # A special token such as "##ing" stays whole where accents are taken off to make it, and
        # begins a word then.
        is_doubtful = token_id in self._added.decoder or any(
            word.startswith(prefix) for word in self._special
        )
        return None if goes_on and is_doubtful else int(not goes_on)

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

    def rows(
        self, texts: list[str], threads: Callable[[int], int] | None = threads_allowed
    ) -> Rows:
        self.expect(texts)
        return super().rows(texts) if self.kernel is None else self.kernel.rows(texts, threads)

    def columns(
        self,
        texts: tuple[Any, ...],
        form: Form,
        threads: Callable[[int], int] | None = threads_allowed,
    ) -> dict[str, Any] | Rows | None:
        if self.kernel is None:
            self.expect(tuple(text for text in texts if isinstance(text, str)))
        if self.kernel is None:
            return super().columns(texts, form)
        return self.kernel.columns(texts, form, threads)

    def count(self, text: str) -> int:
        if len(text) >= TEXT_AT_ONCE_BEFORE_KERNEL:
            self.expect((text,))
        if self.kernel is not None:
            return self.kernel.count(text)
        return sum(map(len, map(self.chunk_ids, self.cut(text))))

    def counts(self, texts: list[str], around: int = 0) -> list[int]:
        self.expect(texts)
        if self.kernel is None:
            return super().counts(texts, around)
        return array.array("i", self.rows(texts).int32_lengths(around)).tolist()

    def _plain_ids(self, text: str) -> list[int]:
        return [*chain.from_iterable(map(self.chunk_ids, self.cut(text)))]

    def cut(self, text: str) -> list[str]:
        """The chunks and windows of a text, whose ids in a row are those of the text."""
        if self.terms is None:
            return text.split(" ")
        return self.terms.cut(text) if self.stages.is_berts else [text]

    def tokens(self, text: str) -> list[str]:
        if self._tells_tokens:
            try:
                return [*map(self._tokens.__getitem__, self.ids(text))]
            except NotOne:
                pass
        return self.stages.tokens(text)

    def spans(self, text: str, count: int = -1) -> list[Span]:
        if not self.stages.have_chunked_spans(text):
            return self.stages.spans(text)
        spans = None if self.kernel is None else self.kernel.spans(text)
        if spans is None:
            steps = chain.from_iterable(map(self.chunk_steps, self.cut(text)))
            bounds = accumulate(steps, initial=-1)
            next(bounds)
            spans = list(zip(bounds, bounds, strict=True))
        return spans if len(spans) == count else [span for span in spans if span[0] != span[1]]

    def locate(self, text: str) -> Located:
        return self._located_by_chunks(text) or self.stages.locate(text)

    def ids_of_words(self, words: Sequence[str]) -> list[int]:
        # Between spaces each word has the ids that it has by itself.
        return super().ids_of_words(words) if self.terms else self.ids(" ".join(words))

    def locate_words(self, words: Sequence[str]) -> Located:
        located = None if self.terms else self._located_by_chunks(" ".join(words))
        if located is None:
            return super().locate_words(words)
        counts = map(len, self.rows([*words]).lists())
        numbers = [*chain.from_iterable(map(repeat, range(len(words)), counts))]
        begins = [0, *accumulate(len(word) + 1 for word in words)]
        firsts = map(begins.__getitem__, numbers)
        spans = [
            (start - first, end - first)
            for first, (start, end) in zip(firsts, located.spans, strict=True)
        ]
        return located._replace(spans=spans, words=numbers)

    def _located_by_chunks(self, text: str) -> Located | None:
        """What `locate` gives, where ids tell tokens and words, and chunks spans; else None."""
        if not (
            self._tells_tokens and self._split_punctuation and self.stages.have_chunked_spans(text)
        ):
            return None
        ids = self.ids(text)
        try:
            tokens = [*map(self._tokens.__getitem__, ids)]
            words = [*accumulate(map(self._begins_word.__getitem__, ids), initial=-1)]
        except NotOne:
            return None
        return Located(ids, tokens, self.spans(text, len(ids)), words[1:])

    def chunks(self, text: str) -> list[str]:
        return self.cut(text) if self.stages.have_chunked_spans(text) else [text]

    def cut_characters(self) -> tuple[int, int] | None:
        if self.terms:
            return None
        return self._classifier().alone() if self.stages.is_berts else (1, 0)

    # ---- the caches ------------------------------------------------------------------------------

    def info(self, limit: int) -> CacheInfo:
        memories = self._memories()
        kernel: dict[str, int] = {} if self.kernel is None else self.kernel.info()
        return CacheInfo(
            chunks=len(self._chunks) + kernel.get("chunks", 0),
            words=len(self._words) + kernel.get("words", 0),
            bytes=sum(memory.bytes for memory in memories) + kernel.get("bytes", 0),
            limit=limit,
            times_full=sum(memory.times_full for memory in memories) + kernel.get("times_full", 0),
        )

    def _memories(self) -> list[Memory]:
        begun = [] if self.terms is None else [self.terms.begun]
        return [self._chunks, self._words, self._steps, *begun]

    def forget(self) -> None:
        for memory in self._memories():
            memory.forget()
        self._characters.clear()
        if self.kernel is not None:
            self.kernel.forget()

    # ---- the kernel ------------------------------------------------------------------------------

    @property
    def may_have_kernel(self) -> bool:
        """Whether texts go through a compiled kernel, now or once there are enough of them."""
        if self.kernel is not None:
            return True
        return kernel_at_work() == "compiled" and self._awaits_kernel() and self._can_hand_over()

    def _awaits_kernel(self) -> bool:
        return self._chunks.work_out == self._ids_of_early_chunk

    def expect(self, texts: Collection[str]) -> None:
        """Make ready for texts that are to be encoded now: make a kernel if they, with those
        before, are long enough.

        Texts that are met again count, too: a kernel has their columns in a fraction of the time.
        """
        if self._awaits_kernel():
            self._text_before_kernel -= sum(map(len, texts)) + CODE_POINTS_OF_A_TEXT * len(texts)
            if self._text_before_kernel <= 0:
                self.make_kernel()

    def make_kernel(self) -> None:
        """Make the kernel now, if there is to be one. Other threads that ask wait for it."""
        with one_at_a_time.held():
            if self._awaits_kernel():
                try:
                    self._make_kernel()
                finally:
                    self._chunks.work_out = self.work_out_chunk

    def _ids_of_early_chunk(self, chunk: str) -> IdTuple:
        """`_ids_of_chunk` as long as there is no kernel."""
        if self._text_before_kernel > 0:
            self._text_before_kernel -= len(chunk) + 1
            if self._text_before_kernel <= 0:
                self.make_kernel()
        return self.work_out_chunk(chunk)

    def _chunks_become_the_same_in(self, earlier: ChunkEncoder) -> bool:
        """Whether what is remembered of chunks is right here too; words become the same in both."""
        return (
            earlier.kernel is not None
            and earlier._added is self._added
            and earlier._special == self._special
        )

    def _share_kernel(self, earlier: ChunkEncoder) -> None:
        """Go on with an earlier encoder's kernel, and with the chunks it has handed over."""
        self.kernel = earlier.kernel
        self._text_before_kernel = 0
        self._chunks = earlier._chunks
        self.chunk_ids = self._chunks.__getitem__

    def _make_kernel(self) -> None:
        if not self._can_hand_over():
            return
        words = self._words
        if words.kernel_vocabulary is None:
            words.kernel_vocabulary = new_vocabulary(self.stages)
        if words.kernel_vocabulary is None:
            return
        # what is left is for what it hands over: few chunks, and the words of those
        share = 3 * self._chunks.limit // 4
        self.kernel = new_kernel(
            words.kernel_vocabulary,
            self._classifier(),
            self._ids_of_chunk,
            self._plain_ids,
            self._steps_of_chunk,
            self.terms,
            self._settle,
            share + self._steps.limit,
        )
        if self.kernel is not None:
            self._chunks.limit -= share
            self._chunks.forget()
            self._steps.limit = 0
            self._steps.forget()

    def _can_hand_over(self) -> bool:
        """Whether a kernel knows these stages, and where an added token leaves its chunk."""
        return self.stages.is_berts and (self.terms is None or not self.terms.is_odd)

    def _settle(self, form: str) -> IdTuple:
        """The id of the term that a form stands for and its `single_word`; of a token of one word,
        as it is written, the id alone; nothing where more is to be looked at.
        """
        if " " not in form:
            (_, _, _, token_id), *others = self.stages.parts(form)
            if token_id is None or others or not self._added.decoder[token_id].is_plain:
                return ()
            return (token_id,)
        is_settled = self.terms is not None and form not in self.terms.unsettled
        content = self._added.term_of(form) if is_settled else None
        if content is None:
            return ()
        token_id = self._added.encoder[content]
        return token_id, self._added.decoder[token_id].single_word

    def _classifier(self) -> Classifier:
        # each takes its own basic tokenizer
        kind: Any = RustClassifier if self.stages.is_fast else SlowClassifier
        classifier: Classifier = kind(self._basic, self._added.searches, self._added.is_plain)
        return classifier

    # ---- filling the caches ----------------------------------------------------------------------

    def _ids_of_chunk(self, chunk: str) -> IdTuple:
        """What `stages.ids` gives, sooner for most chunks."""
        if self._is_ascii_word(chunk):
            return self._words.work_out(chunk.lower() if self._lowers_words else chunk)
        if " " not in chunk and not self._stands_in(chunk):
            if chunk.isascii():
                if self._split_punctuation and chunk.isprintable():
                    lowered = chunk.lower() if self._lowers_words else chunk
                    words = lowered.translate(ASCII_SIGNS).split()
                    return tuple(chain.from_iterable(map(self._words.__getitem__, words)))
            elif self._chinese_apart and self.kernel is None:  # which has done it
                cuts_at_signs = self._split_punctuation and not _compiled(
                    _STRANGE_TO_CHINESE
                ).search(chunk)
                runs = _compiled(_NOT_CHINESE[cuts_at_signs]).split(chunk)
                if runs[1:2] != [chunk]:
                    return self._ids_of_chinese(runs)
            # What the stages make of a text without added tokens may well look like one: "cafe",
            # made of "café", is encoded as a word even if "cafe" is an added token. Words therefore
            # have a cache of their own.
            words = self.stages.words_of(self.stages.bare(chunk))
            if words == [chunk]:
                return self._words.work_out(chunk)
            return tuple(chain.from_iterable(map(self._words.__getitem__, words)))
        return self._ids_by_stages(chunk)

    def _ids_by_stages(self, chunk: str) -> IdTuple:
        return tuple(self.stages.ids(chunk, self._words.__getitem__))

    def _stands_in(self, text: str) -> bool:
        """Whether an added token may occur in a text."""
        if not (text.isascii() and text.isprintable()):
            return self._added.stands_in(text, self.stages.bare)
        return self._added.stands_in(text, str.lower if self._lowers_words else str)

    def _only_id_of(self, char: str) -> int | None:
        """The id of a character that is a word; None where it has several."""
        ids = self._words.work_out(char)
        return ids[0] if len(ids) == 1 else None

    def _ids_of_chinese(self, runs: list[str]) -> IdTuple:
        """The ids of runs of Chinese characters and signs, each a word, and of others, in turn."""
        ids: list[int] = []
        for number, run in enumerate(runs):
            if number % 2:
                ids += self._chunks[run]
                continue
            try:
                ids += [*map(self._characters.__getitem__, run)]
            except NotOne:
                ids += chain.from_iterable(map(self._words.__getitem__, run))
        return tuple(ids)

    def _steps_of_chunk(self, chunk: str) -> IdTuple:
        """The starts and ends of a chunk's tokens, in turn, each as the difference to the one
        before.

        The first difference is to the end of the chunk before, one space to the left. If characters
        follow the last token of the chunk, the differences end with an empty span at the end of the
        chunk.
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
        """The bounds of the tokens of printable ASCII; None where an added token may occur."""
        if (
            not (self._split_punctuation and chunk.isascii() and chunk.isprintable())
            or " " in chunk
        ):
            return None
        if not self._is_ascii_word(chunk) and self._stands_in(chunk):
            return None
        vocab, longest = self._vocab, self._wordpiece.max_input_chars_per_word
        bounds, end, marked = [-1], 0, len(self._wordpiece.continuing_subword_prefix)
        lowered = chunk.lower() if self._lowers_words else chunk
        for word in (lowered,) if lowered.isalnum() else lowered.translate(ASCII_SIGNS).split():
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
