"""Text to ids, tokens and spans, with the tokens and options of one moment, by the stages alone.

In: a text. Out: its ids, without special tokens around; or its tokens, or their spans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from trietok.text.alignment import Span
from trietok.text.kernel.choosing import (
    threads_allowed,
)
from trietok.text.kernel.plain import ListRows
from trietok.text.memory import CacheInfo
from trietok.text.stages import Located

if TYPE_CHECKING:
    from trietok.text.kernel._kernel import Kernel
    from trietok.text.kernel.plain import Form, Rows
    from trietok.text.stages import Stages


class TextEncoder:
    """Encodes texts by the stages, without a cache; `ChunkEncoder` has one. Apart from the cache,
    neither ever changes.

    Args:
        stages: what a text goes through.
    """

    remembers = False
    kernel: Kernel | None = None  # does what `ids` does, sooner; see `trietok.text.kernel.choosing`

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self._text_variant: TextEncoder | None = None

    def ids(self, text: str) -> list[int]:
        """The ids of `text`."""
        return self.stages.ids(text)

    def ids_between(self, front: list[int], text: str, back: list[int]) -> list[int]:
        """The ids of `text`, between those of two lists."""
        return [*front, *self.ids(text), *back]

    def rows(
        self, texts: list[str], threads: Callable[[int], int] | None = threads_allowed
    ) -> Rows:
        """The ids of each text; `threads` says how many threads may encode, None is for one."""
        return ListRows(map(self.ids, texts))

    def columns(
        self,
        texts: tuple[Any, ...],
        form: Form,
        threads: Callable[[int], int] | None = threads_allowed,
    ) -> dict[str, Any] | Rows | None:
        """The columns of a call for several texts, or pairs of texts one behind the other.

        Returns:
            The columns by name; their rows, cut and not padded, where one has more ids than a row
            may have, or arrays are wanted and they have several widths, or a pair has to be cut;
            None where there are no texts or something else than str.
        """
        if set(map(type, texts)) != {str}:
            return None

        return ListRows(map(self.ids, texts)).columns_or_rows(form)

    def count(self, text: str) -> int:
        """How many ids `text` has."""
        return len(self.ids(text))

    def counts(self, texts: list[str], around: int = 0) -> list[int]:
        """How many ids each of `texts` has, and `around` more."""
        return [self.count(text) + around for text in texts]

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of a text that is given as tokens."""
        return list(map(self.stages.to_id, tokens))

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`."""
        return self.stages.tokens(text)

    def locate(self, text: str) -> Located:
        """The tokens of `text` with their ids, spans and words."""
        return self.stages.locate(text)

    def ids_of_words(self, words: Sequence[str]) -> list[int]:
        """The ids of words, each of which is a text of its own."""
        return [*chain.from_iterable(map(self.ids, words))]

    def locate_words(self, words: Sequence[str]) -> Located:
        """The tokens of words, each a text of its own; every token has its word's number."""
        all_words = Located.empty()
        for number, word in enumerate(words):
            ids, tokens, spans, _ = self.locate(word)
            all_words.ids.extend(ids)
            all_words.tokens.extend(tokens)
            all_words.spans.extend(spans)
            all_words.words.extend([number] * len(ids))
        return all_words

    def spans(self, text: str, count: int = -1) -> list[Span]:
        """The span of each token of `text`: half-open, in code points.

        Args:
            text: the text.
            count: how many tokens it has, where that is known.
        """
        return self.stages.spans(text)

    def words(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        """The words between added tokens: each as WordPiece has it, its pieces, its span."""
        return self.stages.words_between(text)

    def chunks(self, text: str) -> list[str]:
        """What lies between spaces of `text`, where each chunk has the words by itself that it has
        in the text.

        Where that does not hold, the whole text is the only chunk.
        """
        return [text]

    def cut_characters(self) -> tuple[int, int] | None:
        """Where a text may be cut, beside spaces, so that its ids are those of the parts in a row.

        Returns:
            The first and the last of the characters between any two of which it may be cut, (1, 0)
            for none; or None, where it may not be cut at spaces either.
        """
        return None

    def as_text(self) -> TextEncoder:
        """The encoder of texts in which special tokens are text: `split_special_tokens`."""
        if self._text_variant is None:
            self._text_variant = TextEncoder(self.stages.as_text())
        return self._text_variant

    def info(self, limit: int) -> CacheInfo:
        """What is cached now; `limit` is the most bytes it may take."""
        return CacheInfo(0, 0, 0, limit, 0)

    def forget(self) -> None:
        """Clear the caches."""
