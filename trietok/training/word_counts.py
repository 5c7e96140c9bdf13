"""How often each word occurs: one pass over the texts, on several processes if asked.

In: texts, and a function from a text to words. Out: `WordCounts`. Memory holds a few batches of
texts and the different words; above a limit on these the rarest are dropped.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import BrokenExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.cores import cores
from trietok.errors import (
    InputError,
    InputTypeError,
    TrietokError,
    one_column,
)
from trietok.showing.characters import number_of
from trietok.text.unicode import CHINESE_CLASS
from trietok.text.words import BasicTokenizer
from trietok.worker_pool import worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

COUNTING_WORDS = "counting words"
COUNTING_PAIRS = "counting pairs"
MERGING = "merging"


class Progress(NamedTuple):
    """A phase, and how much of it is done.

    Attributes:
        phase: "counting words", "counting pairs" or "merging".
        done: how much is done, in units.
        total: how much there is; None where that is not known, as with a generator of texts.
        unit: what is counted: "bytes" or "texts", "words", "tokens".
    """

    phase: str
    done: int
    total: int | None
    unit: str


OnProgress = Callable[[Progress], None]


MAX_WORDS = 5_000_000  # different words held, at about 130 bytes each
_CHUNKS_AT_ONCE = (
    1_000  # of text between spaces, in which few characters stop the fast ways through ASCII
)
# characters; the batches, and so what is pruned, are the same on any number of processes
_BATCH = 1 << 20

_CHINESE = f"[{CHINESE_CLASS}]"
_AROUND_CHINESE = f"{_CHINESE}|[^{CHINESE_CLASS} ]+"
_compiled = cache(re.compile)
ToWords = Callable[[str], Iterable[str]]

logger = logging.getLogger("trietok")


class WordCounts(dict[str, int]):
    """Words and how often each occurs.

    Attributes:
        texts: how many texts were read.
        pruned_below: 0 if every word is here with its whole count. Otherwise rare words were
            dropped to keep within the limit: every word that occurs more than `pruned_below` times
            is here, and its count is at most that much too low.
        pruned_occurrences: the sum of the counts that were dropped.
    """

    texts: int = 0
    pruned_below: int = 0
    pruned_occurrences: int = 0

    @property
    def total(self) -> int:
        """How many words were counted, those that repeat included and those that were dropped left
        out.
        """
        return sum(self.values())

    def add(self, counted: Mapping[str, int]) -> None:
        """Add other counts to these."""
        get = self.get
        for word, count in counted.items():
            self[word] = get(word, 0) + count

    def merge(self, part: WordCounts) -> None:
        """Add the counts of other texts, and what is known of words that were dropped there."""
        self.texts += part.texts
        self.pruned_below += part.pruned_below
        self.pruned_occurrences += part.pruned_occurrences
        self.add(part)

    def prune(self, max_words: int) -> dict[str, int]:
        """Drop the rarest words where there are more than `max_words`, until three quarters of that
        are left, or fewer.

        All words of the lowest count go, then those of the next: no choice among equals, so no
        order decides.

        >>> counts = WordCounts({"a": 1, "b": 1, "c": 2, "d": 5})
        >>> counts.prune(3), counts, counts.pruned_below, counts.pruned_occurrences
        ({'a': 1, 'b': 1}, {'c': 2, 'd': 5}, 1, 2)

        Returns:
            The words that were dropped, with their counts.
        """
        if len(self) <= max_words:
            return {}
        left, highest = len(self), 0
        for count, number in sorted(Counter(self.values()).items()):
            if left <= max_words * 3 // 4:
                break
            left -= number
            highest = count
        dropped = {word: count for word, count in self.items() if count <= highest}
        for word in dropped:
            del self[word]
        self.pruned_below += highest
        self.pruned_occurrences += sum(dropped.values())
        return dropped


def count_words(
    texts: Iterable[str],
    *,
    words: ToWords | None = None,
    do_lower_case: bool = True,
    workers: int | None = 1,
    max_words: int = MAX_WORDS,
    progress: OnProgress | None = None,
) -> WordCounts:
    """Count the words of texts.

    Args:
        texts: strings from anywhere; `TextFiles` reads them from files. One batch is held at a
            time, or two a process: texts up to the one that makes a million characters.
        words: makes words of a text, such as the `basic_tokenizer.tokenize` of a tokenizer, or
            `str.split`. None: a `BasicTokenizer`.
        do_lower_case: of that `BasicTokenizer`.
        workers: how many processes count, None for one per core; with more than one, `words` has to
            be picklable and a script needs the usual `if __name__ == "__main__":`. The counts are
            the same for any number.
        max_words: the most different words to hold. When there are more after a batch, all words
            that occur once so far are dropped, then those that occur twice, and so on, until at
            most three quarters of the limit are left.
        progress: called with a `Progress` after every batch.

    >>> count_words(["low lower", "Lower!"])
    {'low': 1, 'lower': 2, '!': 1}

    Raises:
        InputError: there is no text, no word in the texts, an option is out of range, or the
            processes cannot be started.
        InputTypeError: `texts` is one string, a path or no iterable, or a text is no str.
        TrietokError: a process has died.
    """
    texts = require_texts(texts, "texts", "text")
    require_whole("workers", workers, 1, or_none=True)
    require_whole("max_words", max_words, 1)
    count = _Count(words, do_lower_case)
    counts = WordCounts()
    for batch, counted in _counted(_batches(texts), count, workers or cores()):
        counts.texts += batch
        counts.add(counted)
        counts.prune(max_words)
        if progress is not None:
            progress(_progress(texts, counts))
    if not counts.texts:
        raise InputError("there is no text to train on; the files or the iterator are empty")
    if not counts and counts.pruned_below:
        raise InputError(
            f"no word occurs often enough to be one of {max_words:,}; raise max_words (--max-words)"
        )
    if not counts:
        raise InputError(
            f"there is no word in the {number_of(counts.texts, 'text')}: only whitespace or control"
            " characters"
        )
    if counts.pruned_below:
        logger.warning(
            "more than %s different words: those that occurred no more than %s times were dropped"
            " on the way; raise max_words (--max-words) to keep them",
            f"{max_words:,}",
            f"{counts.pruned_below:,}",
        )
    return counts


def as_word_counts(texts: Iterable[str] | Mapping[str, int], **options: Any) -> WordCounts:
    """The counts of texts, by `count_words` with these options; a mapping of counts is returned as
    `WordCounts`.
    """
    if not isinstance(texts, Mapping):
        return count_words(texts, **options)
    if isinstance(texts, WordCounts):
        return texts
    for word, count in texts.items():
        if not isinstance(word, str) or not word or type(count) is not int or count < 1:
            raise InputError(
                f"word counts map words to whole numbers from 1, not {word!r:.60} to {count!r:.60}"
            )
    if not texts:
        raise InputError("there is no word to train on; the counts are empty")
    return WordCounts(texts)


def require_texts(texts: Any, name: str, one: str) -> Any:
    """Return texts, those of an Arrow column as a list, and raise for a value that is no iterable
    of texts; a str is refused too, as an iterable of characters.
    """
    texts = one_column(texts, name)
    if isinstance(texts, (str, bytes, os.PathLike)) or not hasattr(type(texts), "__iter__"):
        raise InputTypeError(
            f"{name} is an iterable of str, not one {type(texts).__name__}: pass [{one}], or"
            " TextFiles(path) for a file",
            value=texts,
        )
    return texts


def require_whole(name: str, value: object, least: int, or_none: bool = False) -> None:
    """Raise for an option that is no whole number, or too low a one."""
    if (type(value) is not int or value < least) and not (or_none and value is None):
        raise InputError(f"{name} is a whole number from {least}, not {value!r}")


class _Count:
    """Counts the words of a batch; can be sent to another process."""

    def __init__(self, words: ToWords | None, do_lower_case: bool) -> None:
        self._words = words or BasicTokenizer(do_lower_case=do_lower_case).tokenize

    def __call__(self, batch: list[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        if not _is_basic(self._words):
            for text in batch:
                counts.update(self._words(text))
            return counts
        cuts_at_chinese = self._words.__self__.tokenize_chinese_chars  # type: ignore[attr-defined]
        chunks: Counter[str] = Counter()
        for text in batch:
            if cuts_at_chinese and not text.isascii() and _compiled(_CHINESE).search(text):
                chunks.update(_compiled(_AROUND_CHINESE).findall(text))
            else:
                chunks.update(text.split(" "))
        # Chunks that occur equally often are split into words together.
        chunks_of: dict[int, list[str]] = {}
        for chunk, count in chunks.items():
            chunks_of.setdefault(count, []).append(chunk)
        for count, alike in chunks_of.items():
            for start in range(0, len(alike), _CHUNKS_AT_ONCE):
                words = self._words(" ".join(alike[start : start + _CHUNKS_AT_ONCE]))
                if count == 1:
                    counts.update(words)
                    continue
                for word, number in Counter(words).items():
                    counts[word] += count * number
        return counts


def _is_basic(words: ToWords) -> bool:
    """Whether these are the words of a `BasicTokenizer`, in which no word depends on text beyond a
    space.

    Then each different chunk between spaces is split into words once, and its occurrences are
    counted. Where Chinese characters are set apart, they are chunks too.
    """
    owner = getattr(words, "__self__", None)
    return type(owner) is BasicTokenizer and words == owner.tokenize and not owner.never_split


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if not isinstance(text, str):
            raise InputTypeError(
                f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
            )
        batch.append(text)
        size += len(text) + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _counted(
    batches: Iterable[list[str]], count: _Count, workers: int
) -> Iterator[tuple[int, Counter[str]]]:
    """For each batch, in order: how many texts it has, and its words counted."""
    if workers == 1:
        for batch in batches:
            yield len(batch), count(batch)
        return

    try:
        with worker_pool(workers, _begin_process, count) as submit:
            waiting: deque[tuple[int, Future[Counter[str]]]] = deque()
            for batch in batches:
                # no more batches at once, or the whole text would be held
                if len(waiting) == 2 * workers:
                    size, future = waiting.popleft()
                    yield size, future.result()
                waiting.append((len(batch), submit(_count_in_process, batch)))
            for size, future in waiting:
                yield size, future.result()
    except BrokenExecutor:
        raise TrietokError(
            "a process that counts words has died, perhaps because memory ran out; try fewer"
            " processes (--workers)"
        ) from None


_counts_here: list[_Count] = []  # in a process that counts: its counter, which has a cache


def _begin_process(count: _Count, stop: object) -> None:
    _counts_here[:] = [count]


def _count_in_process(batch: list[str]) -> Counter[str]:
    return _counts_here[0](batch)


def _progress(texts: Iterable[str], counts: WordCounts) -> Progress:
    read = getattr(texts, "bytes_read", None)
    if read is not None:
        return Progress(COUNTING_WORDS, read, getattr(texts, "total_bytes", None), "bytes")
    return Progress(
        COUNTING_WORDS, counts.texts, len(texts) if isinstance(texts, Sized) else None, "texts"
    )
