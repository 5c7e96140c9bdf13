"""A byte-pair encoding over Chinese sentences: no words, no `##`, and sub-words without occurrences are dropped.

In: sentences. Out: a `ChineseBpe`: the sub-words that make up the sentences after the last merge, and the punctuation.

The recipe. Whitespace, control characters, U+FFFD and punctuation are removed from every sentence, which leaves a
sequence of characters. The most frequent pair of neighbours becomes one sub-word, everywhere, from left to right; then
the next. The vocabulary is the sub-words that occur in the sentences at that moment: a merge takes its occurrences from
its two parts, and a part without occurrences is dropped. In 天天 both parts are the same character, which loses two
occurrences a merge. It ends when the vocabulary has its size or the best pair occurs once. Then punctuation is put back
as single tokens.

A pair's count is the number of places where it occurs, so 天天天 holds 天天 twice, though one merge uses both up. Of
equally frequent pairs the one whose left part sorts first by code point is merged, then by its right part. So the order
of the sentences does not matter.

The obvious way counts all pairs again for every merge. Here the sentences are one chain of symbols; each pair knows its
places and its count, and a merge touches only these and their neighbours. Every merge makes the chain shorter, so all
merges together touch each character a few times.
"""

from __future__ import annotations

import heapq
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.text.bulk import bulk
from trietok.text.characters import REPLACEMENT_CHARACTER, is_control, is_punctuation, is_whitespace
from trietok.training.progress import COUNTING_PAIRS, COUNTING_WORDS, MERGING, OnProgress, Progress
from trietok.training.word_counts import require_texts

UNKNOWN = "<unk>"
VOCAB_SIZE = 10_000
MERGES_PER_LOG_LINE = 10
_SENTENCES_PER_REPORT = 500
_SHIFT = 32  # a pair of ids as one int, left << 32 | right
_RIGHT = (1 << _SHIFT) - 1
_END = 0  # the symbol between two sentences
_GONE = -1  # where the right part of a merged pair was

logger = logging.getLogger("trietok")


class ChineseMerge(NamedTuple):
    """Two neighbours that became one, and in how many places."""

    left: str
    right: str
    occurrences: int


class ChineseBpe(NamedTuple):
    """The result of the recipe.

    Attributes:
        counts: sub-word → how often it occurs in the sentences after the last merge; the most frequent first, of equal
            ones by code point.
        punctuation: the punctuation of the sentences, by code point.
        merges: in their order.
        sentences: how many were read.
    """

    counts: dict[str, int]
    punctuation: list[str]
    merges: list[ChineseMerge]
    sentences: int

    @property
    def tokens(self) -> list[str]:
        """`<unk>`, the sub-words, the punctuation."""
        return [UNKNOWN, *self.counts, *self.punctuation]


def train_chinese_bpe(
    sentences: Iterable[str],
    *,
    vocab_size: int = VOCAB_SIZE,
    on_progress: OnProgress | None = None,
    log: Callable[[str], None] = logger.info,
) -> ChineseBpe:
    """Train the recipe's vocabulary; the module says how.

    Args:
        sentences: strings of characters, with spaces between them or without. All are held in memory, at about 220
            bytes a character.
        vocab_size: the number of sub-words to stop at. `<unk>` and punctuation come on top.
        on_progress: called with a `Progress` every now and then.
        log: called with a line after every ten merges, and after the last.

    >>> bpe = train_chinese_bpe(["天天,下雨", "天 天 雪 。", "雨 雪"], vocab_size=5, log=print)
    1 merges, vocabulary 4, best pair '天天' (2)
    >>> bpe.tokens
    ['<unk>', '天天', '雨', '雪', '下', ',', '。']

    天 itself is gone: every 天 became part of 天天, and no other pair occurs twice.

    Raises:
        InputError: there is no sentence, or nothing in them but punctuation.
        InputTypeError: `sentences` is one string, a path or no iterable, or a sentence is no str.
        VocabularyError: the sentences have more different characters than `vocab_size`.
    """
    report = on_progress or (lambda progress: None)
    if type(vocab_size) is not int or vocab_size < 1:
        raise InputError(f"vocab_size is a whole number from 1, not {vocab_size!r}")
    require_texts(sentences, "sentences", "sentence")
    with bulk():
        chain = _Chain()
        number = 0
        for number, sentence in enumerate(sentences, start=1):
            if not isinstance(sentence, str):
                raise InputTypeError(
                    f"a sentence is a str, not {type(sentence).__name__}: {sentence!r:.60}", value=sentence
                )
            chain.add(sentence)
            if not number % _SENTENCES_PER_REPORT:
                total = getattr(sentences, "total_bytes", None)
                read = getattr(sentences, "bytes_read", None)
                report(Progress(COUNTING_WORDS, *((number, None, "texts") if read is None else (read, total, "bytes"))))
        if not number:
            raise InputError("there is no sentence to train on; the files or the iterator are empty")
        chain.check(number, vocab_size)
        merges = chain.merge(vocab_size, report, log)
        counts = dict(sorted(chain.counts().items(), key=lambda entry: (-entry[1], entry[0])))
    return ChineseBpe(counts, sorted(chain.punctuation), merges, number)


_LEFT_OUT, _PUNCTUATION, _OF_THE_SENTENCE = range(3)


class _CharacterClasses(dict[str, int]):
    """Character → one of the three below."""

    def __missing__(self, char: str) -> int:
        left_out = is_whitespace(char) or char.isspace() or is_control(char) or char == REPLACEMENT_CHARACTER
        kind = _LEFT_OUT if left_out else _PUNCTUATION if is_punctuation(char) else _OF_THE_SENTENCE
        self[char] = kind
        return kind


_CLASSES = _CharacterClasses()


def characters(sentence: str) -> tuple[list[str], list[str]]:
    """The characters that training sees of a sentence, and its punctuation.

    >>> characters("天 天, 下雨。")
    (['天', '天', '下', '雨'], [',', '。'])
    """
    classes = _CLASSES
    kept = [char for char in sentence if classes[char] == _OF_THE_SENTENCE]
    return kept, [char for char in sentence if classes[char] == _PUNCTUATION]


class _Chain:
    """All sentences as one chain of symbols, and the pairs of neighbours in it."""

    def __init__(self) -> None:
        self.names = [""]  # of symbols, by id; the first stands between sentences
        self.ids: dict[str, int] = {}
        self.symbols = [_END]  # by place
        self.before: list[int] = []  # place → the place of the left neighbour
        self.after: list[int] = []
        self.pair_counts: dict[int, int] = {}
        self.places: dict[int, list[int]] = {}  # pair → where it stood when that was noted; some are over
        self.symbol_counts: list[int] = []  # by id
        self.punctuation: set[str] = set()

    def add(self, sentence: str) -> None:
        kept, punctuation = characters(sentence)
        self.punctuation.update(punctuation)
        ids, symbols = self.ids, self.symbols
        for char in kept:
            if char not in ids:
                ids[char] = len(self.names)
                self.names.append(char)
            symbols.append(ids[char])
        symbols.append(_END)

    def check(self, sentences: int, vocab_size: int) -> None:
        if not self.ids:
            raise InputError(f"there is nothing but punctuation and whitespace in the {sentences:,} sentences")
        if len(self.ids) > vocab_size:
            raise VocabularyError(
                f"a vocabulary of {vocab_size:,} has no room for the {len(self.ids):,} different characters of the "
                f"sentences; raise vocab_size (--vocab-size) to {len(self.ids):,} at least"
            )

    def counts(self) -> dict[str, int]:
        """Sub-word → how often it occurs."""
        counted = Counter(self.symbols)
        return {self.names[symbol]: count for symbol, count in counted.items() if symbol not in (_END, _GONE)}

    def merge(self, vocab_size: int, report: OnProgress, log: Callable[[str], None]) -> list[ChineseMerge]:
        """Make the merges."""
        self._count_pairs(report)
        heap = [self._entry(pair) for pair in self.places]
        heapq.heapify(heap)
        size = self._size = len(self.ids)
        merges: list[ChineseMerge] = []
        line = ""
        while heap and size < vocab_size:
            negative, left_name, right_name, pair = heapq.heappop(heap)
            count = self.pair_counts[pair]
            if count != -negative:  # changed since it was put there
                if count > 1:
                    heapq.heappush(heap, self._entry(pair))
                continue
            if count < 2:
                break
            for changed in self._merge(pair, left_name + right_name):
                if self.pair_counts[changed] > 1:
                    heapq.heappush(heap, self._entry(changed))
            size = self._size
            merges.append(ChineseMerge(left_name, right_name, count))
            line = f"{len(merges)} merges, vocabulary {size}, best pair {left_name + right_name!r} ({count})"
            if not len(merges) % MERGES_PER_LOG_LINE:
                log(line)
                report(Progress(MERGING, size, vocab_size, "tokens"))
        if len(merges) % MERGES_PER_LOG_LINE:
            log(line)
        report(Progress(MERGING, size, size, "tokens"))
        return merges

    def _entry(self, pair: int) -> tuple[int, str, str, int]:
        return -self.pair_counts[pair], self.names[pair >> _SHIFT], self.names[pair & _RIGHT], pair

    def _count_pairs(self, report: OnProgress) -> None:
        symbols = self.symbols
        end = len(symbols)
        self.before, self.after = list(range(-1, end - 1)), list(range(1, end + 1))
        self.symbol_counts = [0] * len(self.names)
        for symbol in symbols:
            self.symbol_counts[symbol] += 1
        places = self.places
        for place in range(end - 1):
            left, right = symbols[place], symbols[place + 1]
            if left and right:  # neither is the end of a sentence
                pair = left << _SHIFT | right
                if pair in places:
                    places[pair].append(place)
                else:
                    places[pair] = [place]
        self.pair_counts = {pair: len(where) for pair, where in places.items()}
        report(Progress(COUNTING_PAIRS, end, end, "characters"))

    def _merge(self, pair: int, name: str) -> set[int]:
        """Merge a pair wherever it occurs; return the new pairs."""
        left, right = pair >> _SHIFT, pair & _RIGHT
        if name not in self.ids:
            self.ids[name] = len(self.names)
            self.names.append(name)
            self.symbol_counts.append(0)
        merged = self.ids[name]
        symbols, before, after = self.symbols, self.before, self.after
        pair_counts, places = self.pair_counts, self.places
        come_up: set[int] = set()
        made = 0
        for place in sorted(places.pop(pair)):  # from left to right, which matters where both parts are the same
            second = after[place]
            if symbols[place] != left or symbols[second] != right:
                continue
            made += 1
            symbols[place], symbols[second] = merged, _GONE
            behind = after[place] = after[second]
            before[behind] = place
            pair_counts[pair] -= 1
            front = before[place]
            if symbols[front]:
                pair_counts[symbols[front] << _SHIFT | left] -= 1
                self._new_pair(symbols[front] << _SHIFT | merged, front, come_up)
            if symbols[behind]:
                pair_counts[right << _SHIFT | symbols[behind]] -= 1
                self._new_pair(merged << _SHIFT | symbols[behind], place, come_up)
        counts = self.symbol_counts
        was = sum(counts[symbol] > 0 for symbol in {left, right, merged})
        counts[merged] += made
        counts[left] -= made
        counts[right] -= made
        self._size += sum(counts[symbol] > 0 for symbol in {left, right, merged}) - was
        return come_up

    def _new_pair(self, pair: int, place: int, come_up: set[int]) -> None:
        self.pair_counts[pair] = self.pair_counts.get(pair, 0) + 1
        self.places.setdefault(pair, []).append(place)
        come_up.add(pair)
