"""The fast path to spans: chunk between spaces → where its tokens begin and end, remembered.

In: a text. Out: the span of each of its tokens. What holds of ids holds of spans counted from a chunk's beginning. They
are kept as steps from each beginning and end to the next, so that those of a text are one running sum.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, chain
from operator import sub
from typing import Any

from trietok.text.alignment import Located, Span
from trietok.text.chunk_encoder import ASCII_WORDS, ChunkEncoder
from trietok.text.memory import CacheInfo, Ids, Memory


class LocatingEncoder(ChunkEncoder):
    """`ChunkEncoder` that also tells the spans of tokens.

    Args:
        locate: a text to its tokens with their spans, by the plain path.
        **parts: see `ChunkEncoder`.
    """

    def __init__(self, *, locate: Callable[[str], Located], **parts: Any) -> None:
        super().__init__(**parts)
        self._locate = locate
        # Filled where spans are asked for; the share of memory that is `_outer`'s where that is filled.
        self._steps = Memory(self._steps_of_chunk, 0 if self._added.spaced else self.limit // 4)
        self.chunk_steps = self._steps.__getitem__

    def spans(self, text: str, count: int = -1) -> list[Span]:
        """The span of each token of `text`: half-open, in code points.

        Args:
            text: the text.
            count: how many tokens it has, where that is known.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        spans: list[Span] | None = self._in_one_state(self._spans_of_whole, text)
        if spans is not None:
            return spans
        bounds = accumulate(chain.from_iterable(map(self.chunk_steps, text.split(" "))), initial=-1)
        next(bounds)
        spans = list(zip(bounds, bounds, strict=True))
        return spans if len(spans) == count else [span for span in spans if span[0] != span[1]]

    def _spans_of_whole(self, text: str) -> list[Span] | None:
        """The spans of a text for which those of its chunks do not do, or None."""
        return None if self._has_chunked_spans(text) else self._locate(text).spans

    def _has_chunked_spans(self, text: str) -> bool:
        """Whether the spans of a text are those of its chunks."""
        return not self._added.spaced

    def info(self) -> CacheInfo:
        """What is remembered now."""
        info = super().info()
        return info._replace(bytes=info.bytes + self._steps.bytes, times_full=info.times_full + self._steps.times_full)

    def forget(self) -> None:
        """Forget all that is remembered."""
        super().forget()
        self._steps.forget()

    # ---- what is worked out -----------------------------------------------------------------------------------------

    def _steps_of_chunk(self, chunk: str) -> Ids:
        """The beginnings and ends of a chunk's tokens, in turn, as steps.

        The first step is from the end of the last token before, which is the space before the chunk. Where a chunk goes
        on behind its last token, a span of no characters at its end stands for that.
        """
        if len(self._chunks.get(chunk, ())) == 1 and chunk.isascii() and chunk.isalnum() and not self._has_words:
            self._require_now()  # most are such: a word that is one token
            return (1, len(chunk))
        bounds = self._in_one_state(self._bounds_of_chunk, chunk)
        if bounds[-1] != len(chunk):
            bounds += len(chunk), len(chunk)
        return tuple(map(sub, bounds[1:], bounds))

    def _bounds_of_chunk(self, chunk: str) -> list[int]:
        bounds = self._bounds_of_ascii(chunk) if chunk.isascii() and chunk.isprintable() else None
        return [-1, *chain.from_iterable(self._locate(chunk).spans)] if bounds is None else bounds

    def _bounds_of_ascii(self, chunk: str) -> list[int] | None:
        """The beginnings and ends of the tokens of printable ASCII; None where an added token may stand in it."""
        if not self._split_punctuation:
            return None
        lowered = chunk.lower() if self._lower else chunk
        is_word = chunk.isalnum()
        if (self._has_words or not is_word) and self._stands_in(chunk, lowered):
            return None
        bounds = [-1]
        vocab, longest, prefix = self._vocab, self._longest_word, len(self._wordpiece.continuing_subword_prefix)
        end = 0
        for word in (lowered,) if is_word else ASCII_WORDS.findall(lowered):
            start, end = end, end + len(word)
            bounds.append(start)
            if not (word in vocab and len(word) <= longest):
                pieces = self._wordpiece.pieces_of(word)
                if len(pieces) > 1:
                    start += len(pieces[0])
                    for piece in pieces[1:]:
                        bounds += start, start
                        start += len(piece) - prefix
            bounds.append(end)
        return bounds
