"""A byte-pair encoding over Chinese sentences: no words, no `##`, and sub-words without occurrences
are dropped.

In: sentences. Out: a `ChineseBpe`: the sub-words that make up the sentences after the last merge,
and the punctuation.

The recipe. Whitespace, control characters, U+FFFD and punctuation are removed from every sentence,
and so are rare characters where `limit_alphabet` says so. What stands between them is a chain of
characters. No pair reaches across what was removed, so every sub-word stands in the text as it is.
Only the spaces of a sentence that is spelled out, each character by itself, end no chain. The most
frequent pair of neighbours becomes one sub-word, everywhere, from left to right; then the next. The
vocabulary is the sub-words that occur in the sentences at that moment: a merge takes its
occurrences from its two parts, and a part without occurrences is dropped. In 天天 both parts are
the same character, which loses two occurrences a merge. No merge makes a sub-word of more bytes
than a line of a vocab.txt may have. It ends when the vocabulary has its size, after `num_merges`,
or when the best pair occurs once. Then punctuation is put back as single tokens.

A pair's count is the number of places where it occurs, so 天天天 holds 天天 twice, though one merge
uses both up. Of equally frequent pairs the one whose left part sorts first by code point is merged,
then by its right part. So the order of the sentences does not matter.

The obvious way counts all pairs again for every merge. Here each different chain is held once, with
its count; `Pairs` knows in which chains each pair occurs, and a merge touches only these.
"""

from __future__ import annotations

import logging
import os
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import chain, islice
from operator import add, neg
from pathlib import Path
from typing import NamedTuple

from trietok.errors import InputError, InputTypeError
from trietok.files.directory import save_together
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CHAT_TEMPLATE_FILE,
    LEFT_TO_RIGHT_FILE,
    RECIPE_CLASS,
    RECIPE_LOG_FILE,
    RESULT_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    vocab_lines_text,
)
from trietok.text.unicode import (
    REPLACEMENT_CHARACTER,
    TranslationTable,
    is_control,
    is_punctuation,
    is_whitespace,
)
from trietok.training.bpe import require_utf8
from trietok.training.merging import alphabet, characters_of, require_room
from trietok.training.pairs import MostFrequent, Pairs, Sizes
from trietok.training.word_counts import (
    COUNTING_WORDS,
    MERGING,
    OnProgress,
    Progress,
    require_texts,
    require_whole,
)

UNKNOWN_TOKEN = "<unk>"
VOCAB_SIZE = 10_000
MERGES_PER_LOG_LINE = 10
_SENTENCES_PER_REPORT = 500

logger = logging.getLogger("trietok")


class ChineseMerge(NamedTuple):
    """Two neighbours that became one, and in how many places."""

    left: str
    right: str
    occurrences: int


class ChineseBpe(NamedTuple):
    """The result of the recipe.

    Attributes:
        counts: sub-word → how often it occurs in the sentences after the last merge; the most
            frequent first, of equal ones by code point.
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
        return [UNKNOWN_TOKEN, *self.counts, *self.punctuation]


def train_chinese_bpe(
    texts: Iterable[str],
    *,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    limit_alphabet: int | None = None,
    progress: OnProgress | None = None,
    log: Callable[[str], None] = logger.info,
) -> ChineseBpe:
    """Train the recipe's vocabulary; the module says how.

    Args:
        texts: strings of characters, or of characters with spaces between them all. Each different
            chain is held in memory.
        vocab_size: the number of sub-words to stop at. `<unk>` and punctuation come on top. None:
            10,000, or no limit where there is `num_merges`.
        num_merges: the most merges.
        limit_alphabet: the most characters to start from, the most frequent ones; of equally
            frequent ones those with the lower code points. Others are removed, and so unknown.
        progress: called with a `Progress` every now and then.
        log: called with a line after every ten merges, and after the last.

    >>> bpe = train_chinese_bpe(["天天,下雨", "天 天 雪 。", "雨 雪"], vocab_size=5, log=print)
    1 merges, vocabulary 4, best pair '天天' (2)
    >>> bpe.tokens
    ['<unk>', '天天', '雨', '雪', '下', ',', '。']

    天 itself is gone: every 天 became part of 天天, and no other pair occurs twice.

    Raises:
        InputError: there is no sentence, nothing in them but punctuation, or an option is out of
            range.
        InputTypeError: `texts` is one string, a path or no iterable, or a sentence is no str.
        VocabularyError: the texts have more different characters than `vocab_size`. No merge has
            been made.
    """
    report = progress or (lambda progress: None)
    require_whole("vocab_size", vocab_size, 1, or_none=True)
    require_whole("num_merges", num_merges, 0, or_none=True)
    require_whole("limit_alphabet", limit_alphabet, 1, or_none=True)
    if vocab_size is None and num_merges is None:
        vocab_size = VOCAB_SIZE
    texts = require_texts(texts, "texts", "sentence")
    read = _Sentences(texts, report)
    chains = read.chains
    characters: Mapping[str, int] = characters_of(chains)
    if limit_alphabet is not None and len(characters) > limit_alphabet:
        kept = set(alphabet(characters, limit_alphabet, ()))
        chains = _between(chains, characters.keys() - kept)
        characters = {char: count for char, count in characters.items() if char in kept}
    if vocab_size is not None:
        require_room(vocab_size, len(characters), "different characters of the texts")
    merging = _ChineseMerging(chains, characters)
    del chains, read.chains
    merges = merging.run(vocab_size, num_merges, report, log)
    return ChineseBpe(merging.subwords(), read.punctuation(), merges, read.number)


# ---- sentences to chains -------------------------------------------------------------------------


def _ends_chain(char: str) -> bool:
    return char == "\n" or is_control(char) or char == REPLACEMENT_CHARACTER or is_punctuation(char)


# Turns whitespace into a space, and a line feed and all else that ends a chain into a line feed.
_ENDS = TranslationTable(
    lambda char: (
        " "
        if char != "\n" and (is_whitespace(char) or char.isspace())
        else "\n"
        if _ends_chain(char)
        else char
    )
)


def chains_of(sentence: str) -> list[str]:
    """What training sees of a sentence: the characters between what it removes.

    >>> chains_of("天天,下雨 雪。"), chains_of("天 天 , 下 雨")
    (['天天', '下雨', '雪'], ['天天', '下雨'])
    """
    text = sentence.translate(_ENDS)
    chains = text.split()
    # spelled out: a space ends nothing
    if " " in text and len(chains) > 1 and max(map(len, chains)) == 1:
        return text.replace(" ", "").split()
    return chains


class _Sentences:
    """Reads sentences: how many there are, their different chains with counts, and their
    characters.
    """

    def __init__(self, sentences: Iterable[str], report: OnProgress) -> None:
        self.chains: Counter[str] = Counter()
        self.number = 0
        self._characters: set[str] = set()
        source = iter(sentences)
        while some := list(islice(source, _SENTENCES_PER_REPORT)):
            for sentence in some:
                if not isinstance(sentence, str):
                    raise InputTypeError(
                        f"a sentence is a str, not {type(sentence).__name__}: {sentence!r:.60}",
                        value=sentence,
                    )
            self._add(some)
            self.number += len(some)
            total, done = (
                getattr(sentences, "total_bytes", None),
                getattr(sentences, "bytes_read", None),
            )
            report(
                Progress(
                    COUNTING_WORDS,
                    *((self.number, None, "texts") if done is None else (done, total, "bytes")),
                )
            )
        del self.chains[""]
        if not self.number:
            raise InputError(
                "there is no sentence to train on; the files or the iterator are empty"
            )
        if not self.chains:
            raise InputError(
                f"there is nothing but punctuation and whitespace in the {self.number:,} sentences"
            )

    def _add(self, sentences: list[str]) -> None:
        text = "\n".join(sentences)
        self._characters.update(text)
        ended = text.translate(_ENDS)
        if " " in ended:  # a sentence may be spelled out
            self.chains.update(chain.from_iterable(map(chains_of, sentences)))
        else:
            self.chains.update(ended.split("\n"))

    def punctuation(self) -> list[str]:
        """The punctuation of the sentences, by code point."""
        return sorted(
            char for char in self._characters if is_punctuation(char) and _ENDS[ord(char)] == "\n"
        )


def _between(chains: Mapping[str, int], characters: Iterable[str]) -> Counter[str]:
    """The chains, ended at these characters too."""
    ends = dict.fromkeys(map(ord, characters), "\n")
    shorter: Counter[str] = Counter()
    for longer, count in chains.items():
        for part in longer.translate(ends).split():
            shorter[part] += count
    return shorter


# ---- merges --------------------------------------------------------------------------------------


class _ChineseMerging:
    """The chains, their pairs, and the sub-words that they consist of."""

    def __init__(self, chains: Mapping[str, int], characters: Mapping[str, int]) -> None:
        self.names = sorted(characters)  # of sub-words, by id
        self.ids = {name: number for number, name in enumerate(self.names)}
        self.sizes = Sizes(self.names)
        self.occurrences = [characters[name] for name in self.names]  # by id
        to_symbols = {ord(name): chr(number) for name, number in self.ids.items()}
        longer = [chain for chain in chains if len(chain) > 1]
        self.pairs = Pairs(
            [chain.translate(to_symbols) for chain in longer], [chains[chain] for chain in longer]
        )

    def subwords(self) -> dict[str, int]:
        """Sub-word → how often it occurs; the most frequent first, of equal ones by code point."""
        found = (
            (name, count) for name, count in zip(self.names, self.occurrences, strict=True) if count
        )
        return dict(sorted(found, key=lambda entry: (-entry[1], entry[0])))

    def run(
        self,
        vocab_size: int | None,
        num_merges: int | None,
        report: OnProgress,
        log: Callable[[str], None],
    ) -> list[ChineseMerge]:
        """Make the merges."""
        pair_counts = self.pairs.counts
        where = self.pairs.count(report, least=2)
        waiting: MostFrequent[tuple[str, str, str]] = MostFrequent()
        for pair in where:
            waiting.push(pair_counts[pair], self._entry(pair))
        size = len(self.names)
        merges: list[ChineseMerge] = []
        line = ""
        most = sys.maxsize if num_merges is None else num_merges
        while (vocab_size is None or size < vocab_size) and len(merges) < most:
            best = waiting.best(pair_counts, 2, of=2, keeps=2)
            if best is None:
                break
            count, (left_name, right_name, pair) = best
            merged = self._id(left_name + right_name)
            made, new = self.pairs.merge(
                pair, chr(merged), where.pop(pair), self.sizes.limit(merged)
            )
            pair_counts[pair] = 0
            for come_up, in_chains in new.items():
                where[come_up] = where[come_up] + in_chains if come_up in where else in_chains
                if pair_counts[come_up] > 1:
                    waiting.push(pair_counts[come_up], self._entry(come_up))
            size += self._moved(ord(pair[0]), ord(pair[1]), merged, made)
            merges.append(ChineseMerge(left_name, right_name, count))
            line = (
                f"{len(merges)} merges, vocabulary {size}, best pair {left_name + right_name!r}"
                f" ({count})"
            )
            if not len(merges) % MERGES_PER_LOG_LINE:
                log(line)
                report(Progress(MERGING, size, vocab_size, "tokens"))
        if len(merges) % MERGES_PER_LOG_LINE:
            log(line)
        report(Progress(MERGING, size, size, "tokens"))
        return merges

    def _entry(self, pair: str) -> tuple[str, str, str]:
        return self.names[ord(pair[0])], self.names[ord(pair[1])], pair

    def _id(self, name: str) -> int:
        if name not in self.ids:
            self.ids[name] = len(self.names)
            self.names.append(name)
            self.occurrences.append(0)
            self.sizes.add(name)
        return self.ids[name]

    def _moved(self, left: int, right: int, merged: int, made: int) -> int:
        """Count a merge made in so many places; return how much the number of sub-words that occur
        has grown.
        """
        counts = self.occurrences
        symbols = {left, right, merged}
        was = sum(counts[symbol] > 0 for symbol in symbols)
        counts[merged] += made
        counts[left] -= made
        counts[right] -= made
        return sum(counts[symbol] > 0 for symbol in symbols) - was


# ---- cutting sentences by a vocabulary, without merges -------------------------------------------


_CONTROLS = TranslationTable(lambda char: "" if is_control(char) else char)
_REMEMBERED = 50_000  # segments
_LONGEST_KEY = 32  # characters


class Segmenter:
    """Cuts sentences by a vocabulary.

    Args:
        vocabulary: the tokens, or their ids by token.
        unknown: stands for a character that no token covers.

    >>> segmenter = Segmenter(["天", "下", "雨", "天下", "下雨天"])
    >>> segmenter.longest_anywhere("天下雨天晴"), segmenter.left_to_right("天下雨天晴")
    (['天', '下雨天', '<unk>'], ['天下', '雨', '天', '<unk>'])
    >>> segmenter.ids_anywhere("天下雨天晴")
    [0, 4, 5]

    Raises:
        InputError: the vocabulary is empty.
    """

    def __init__(
        self, vocabulary: Iterable[str] | Mapping[str, int], unknown: str = UNKNOWN_TOKEN
    ) -> None:
        if not isinstance(vocabulary, Mapping):
            vocabulary = {token: number for number, token in enumerate(dict.fromkeys(vocabulary))}
        self.vocabulary = frozenset(vocabulary) - {"", unknown}
        self.unknown = unknown
        if not self.vocabulary:
            raise InputError("there is no token to segment with; the vocabulary is empty")
        self._lengths = sorted({len(token) for token in self.vocabulary}, reverse=True)
        self._ids = {unknown: max(vocabulary.values()) + 1, **vocabulary}

    def __reduce__(self) -> tuple[type[Segmenter], tuple[dict[str, int], str]]:
        return type(self), (self._ids, self.unknown)

    @staticmethod
    def cleaned(sentence: str) -> str:
        """A sentence without whitespace and control characters."""
        text = "".join(sentence.split())
        return text if text.isprintable() else text.translate(_CONTROLS)

    def longest_anywhere(self, sentence: str) -> list[str]:
        """The longest token anywhere in the sentence first, the leftmost of several; then left and
        right of it.

        No token stands across two neighbours that are in no token side by side. So the sentence is
        cut there first, and what becomes of each segment is remembered, as most are short and come
        again.
        """
        joined = map(self._joined.__contains__, map(add, sentence, sentence[1:]))
        ends = [end for end, is_joined in enumerate(joined, start=1) if not is_joined]
        segments = [*map(sentence.__getitem__, map(slice, [0, *ends], [*ends, len(sentence)]))]
        are_short = max(map(len, segments)) <= _LONGEST_KEY
        return [
            *chain.from_iterable(map(self._remembered if are_short else self._longest_in, segments))
        ]

    def ids_anywhere(self, sentence: str) -> list[int]:
        """The ids of `longest_anywhere`; where the vocabulary gives none, the places in it, and
        behind it `unknown`.
        """
        return [*map(self._ids.__getitem__, self.longest_anywhere(sentence))]

    @cached_property
    def _joined(self) -> set[str]:
        return {pair for token in self.vocabulary for pair in map(add, token, token[1:])}

    @cached_property
    def _remembered(self) -> Callable[[str], list[str]]:
        return lru_cache(_REMEMBERED)(self._longest_in)

    def _longest_in(self, sentence: str) -> list[str]:
        """`longest_anywhere`, of all the text at once.

        The text to the left of the longest token contains no token as long, and the text to its
        right none longer. So the result is the same as taking, for each length from the longest on,
        from left to right, every token whose characters are all still free. O(n × number of
        lengths) for n characters.
        """
        vocabulary = self.vocabulary
        cut = [0] * len(sentence)  # start → length of the token that starts there
        free = bytearray(b"\x01" * len(sentence))
        for length in self._lengths[bisect_left(self._lengths, -len(sentence), key=neg) :]:
            whole = b"\x01" * length
            start = free.find(whole)
            while start >= 0:
                if sentence[start : start + length] in vocabulary:
                    cut[start] = length
                    free[start : start + length] = bytes(length)
                    start += length - 1
                start = free.find(whole, start + 1)
        return self._pieces(sentence, cut)

    def left_to_right(self, sentence: str) -> list[str]:
        """The longest token that the sentence begins with, then the longest that the rest begins
        with, and so on.
        """
        vocabulary, lengths = self.vocabulary, self._lengths
        cut = [0] * len(sentence)
        start = 0
        while start < len(sentence):
            for length in lengths:
                if sentence[start : start + length] in vocabulary and start + length <= len(
                    sentence
                ):
                    cut[start] = length
                    break
            start += cut[start] or 1
        return self._pieces(sentence, cut)

    def _pieces(self, sentence: str, cut: list[int]) -> list[str]:
        pieces = []
        start = 0
        while start < len(sentence):
            length = cut[start]
            pieces.append(sentence[start : start + length] if length else self.unknown)
            start += length or 1
        return pieces


# ---- the files -----------------------------------------------------------------------------------


def save_chinese_bpe(
    bpe: ChineseBpe,
    output: str | os.PathLike[str],
    *,
    log: Iterable[str] = (),
    texts: Iterable[str] | None = None,
) -> list[Path]:
    """Write the files, all of them or none.

    Args:
        bpe: what was trained.
        output: where to; made if need be.
        log: the lines that training logged.
        texts: to segment; a line of the result files is a sentence, its tokens with spaces between
            them. Spaces and control characters of the sentence are left out. Their results are held
            in memory, and nothing is written before the last. None: no result files.

    Returns:
        The files' paths.

    Raises:
        FileError: something cannot be written; the old files are as they were.
        VocabularyError: a token holds a line break or half of a surrogate pair.
    """
    require_utf8(bpe.tokens)
    files = {RECIPE_LOG_FILE: "".join(line + "\n" for line in log)}
    if texts is not None:
        segmenter = Segmenter(bpe.tokens)
        rules = {
            RESULT_FILE: segmenter.longest_anywhere,
            LEFT_TO_RIGHT_FILE: segmenter.left_to_right,
        }
        lines: dict[str, list[str]] = {name: [] for name in rules}
        for sentence in map(segmenter.cleaned, texts):
            for name, rule in rules.items():
                lines[name].append(" ".join(rule(sentence)) + "\n")
        files |= {name: "".join(of_file) for name, of_file in lines.items()}

    contents = {VOCAB_FILE: vocab_lines_text(bpe.tokens), **files}
    # Result files that are not written again were made with another vocabulary, and the others are
    # of another tokenizer.
    others = (
        *(RESULT_FILE, LEFT_TO_RIGHT_FILE),
        *(TOKENIZER_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, CHAT_TEMPLATE_FILE),
    )
    return save_together(
        output,
        {**dict.fromkeys(others), **{name: text.encode() for name, text in contents.items()}},
        {"tokenizer_class": RECIPE_CLASS},
    )
