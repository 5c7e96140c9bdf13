"""What WordPiece and byte-pair training share: words spelled in characters, then the most frequent pair joined.

In: word counts and the options. Out: a `Spelling`, whose tokens have grown and whose words have become shorter, and the
merges in their order: the most frequent pair of neighbours is joined, everywhere, again and again.

`Pairs` keeps the counts of pairs up to date merge by merge, and `MostFrequent` hands out the best pair: a merge costs
what it changes, the words that hold the pair. No merge looks at all words again. An entry whose count has changed since
is put in again when it is taken out.

The order is that of `BpeTrainer` in tokenizers 0.22.2: the higher count first; of equal counts the lower id of the
left token, then of the right one. Three more of its rules matter only where two merges make the same
token, as in words that contain the prefix themselves ("#" + "###" and "##" + "##"):

- Each entry has its own words, noted when the pair came up; they are merged when that entry's turn comes.
- Merging a pair does not reset its count: if the pair occurs again later, the earlier occurrences are still included.
- A pair that is merged once more moves to the end of the merges.
"""

from __future__ import annotations

import heapq
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar

from trietok.disk import LONGEST_LINE
from trietok.errors import InputError, VocabularyError
from trietok.text.kernel import chosen
from trietok.text.trie import bulk
from trietok.training.word_counts import COUNTING_PAIRS, MERGING, OnProgress, Progress, as_word_counts, require_whole

# ---- pairs of neighbours in words ------------------------------------------------------------------------------------
#
# A word is a str with one character for each of its tokens, `chr(id)`: it takes little memory, and a merge in it is a
# `split` and a `join`. A merge is made in the words that hold the pair, from the left to the right of each. Each of
# these words is scanned as a whole, so a word of more than `LONG` tokens is kept as a `LongWord` instead, in which a
# merge touches only the places of the pair and their neighbours: all merges together take O(n) there for n tokens.

LONG = 1_000  # tokens
_WORDS_PER_REPORT = 20_000

Found = dict[str, list[int]]  # a token beside merged pairs → how often it stands there, then in which words


class Sizes:
    """How many bytes each token has, so that no merge makes one that the readers of vocabularies refuse."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._bytes: list[int] = []
        self._largest = 0
        for token in tokens:
            self.add(token)

    def add(self, token: str) -> None:
        """Note the next token."""
        self._bytes.append(bytes_of(token))
        self._largest = max(self._largest, self._bytes[-1])

    def limit(self, merged: int) -> Callable[[str], bool] | None:
        """Whether a token, as `chr(id)`, makes a too long one with a token that was merged; None if none can.

        A prefix that the right one of the two loses is counted, since which of them is the right one is not known.
        """
        sizes, room = self._bytes, LONGEST_LINE - self._bytes[merged]
        return None if self._largest <= room else lambda token: sizes[ord(token)] > room


def bytes_of(token: str) -> int:
    """How many bytes a token takes in a file."""
    return len(token) if token.isascii() else len(token.encode("utf-8", "surrogatepass"))


class Pairs:
    """The pairs of neighbours in words.

    Args:
        words: each with a character for each token; merges change them in place. Long ones are replaced by "".
        word_counts: how often each occurs.

    Attributes:
        counts: pair → how often it occurs, as a str of the characters of its two tokens.

    >>> pairs = Pairs(["abab", "ab"], [1, 5])
    >>> pairs.count(), pairs.counts
    ({'ba': [0], 'ab': [0, 1]}, {'ba': 1, 'ab': 7})
    >>> pairs.merge("ab", "c", [0, 1]), pairs.words, pairs.counts
    ((7, {'cc': [0], 'ca': [0]}), ['cc', 'c'], {'ba': 0, 'ab': 7, 'cc': 1, 'ca': 0})

    `ab` itself keeps its count, which the caller sets.
    """

    def __init__(self, words: list[str], word_counts: list[int]) -> None:
        self.words = words
        self.word_counts = word_counts
        self.counts: dict[str, int] = {}
        self._long: dict[int, LongWord] = {}

    def count(self, report: OnProgress = lambda progress: None, least: int = 1) -> dict[str, list[int]]:
        """Count all pairs; return in which words each occurs.

        Args:
            report: called with a `Progress` every now and then.
            least: rarer pairs are left out, of `counts` too. For a caller that merges none of them, and whose tokens
                at the start are none that merges make.
        """
        found: dict[str, int | list[int]] = {}  # pair → the word it occurs in; in a list where it occurs again
        get = found.get
        total = len(self.words)
        for position, word in enumerate(self.words):
            for pair in map(add, word, word[1:]):
                where = get(pair)
                if where is None:
                    found[pair] = position
                elif isinstance(where, int):
                    found[pair] = [where, position]
                else:
                    where.append(position)
            if len(word) > LONG:
                self._long[position] = LongWord(word)
                self.words[position] = ""
            if not position % _WORDS_PER_REPORT:
                report(Progress(COUNTING_PAIRS, position, total, "words"))
        report(Progress(COUNTING_PAIRS, total, total, "words"))
        in_words: dict[str, list[int]] = {}  # pair → the words it occurs in, each once
        count_of = self.word_counts.__getitem__
        while found:  # emptied on the way, which takes less memory
            pair, where = found.popitem()
            positions = [where] if isinstance(where, int) else where
            count = sum(map(count_of, positions))
            if count >= least:
                self.counts[pair] = count
                in_words[pair] = list(dict.fromkeys(positions))
        return in_words

    def merge(
        self, pair: str, merged: str, positions: list[int], is_too_long: Callable[[str], bool] | None = None
    ) -> tuple[int, dict[str, list[int]]]:
        """Merge a pair in these words, and bring the counts of all other pairs up to date.

        Args:
            pair: the two tokens.
            merged: the token that they become.
            positions: which words; no word twice.
            is_too_long: whether a token, and `merged` beside it, make no pair because they would make too long a token.

        Returns:
            In how many places the pair was merged; and the pairs that came about, each with the words that hold it.
        """
        before, after, made = self._merged(pair, merged, positions)
        left, right = pair[0], pair[1]
        counts = self.counts
        new: dict[str, list[int]] = {}
        # Where the pair repeats (abab), the token after the first is before the second: gains are booked before losses.
        lost: list[tuple[str, int]] = []
        for found, is_before in ((before, True), (after, False)):
            for token, where in found.items():
                count = where.pop(0)
                lost.append((token + left if is_before else right + token, count))
                if is_too_long is not None and is_too_long(token):
                    continue
                gained = token + merged if is_before else merged + token
                counts[gained] = counts.get(gained, 0) + count
                # Each word once: it is scanned as a whole for every time it is here.
                new[gained] = list(dict.fromkeys(new[gained] + where)) if gained in new else where
        for gone, count in lost:
            counts[gone] = counts.get(gone, 0) - count
        return made, new

    def _merged(self, pair: str, merged: str, positions: list[int]) -> tuple[Found, Found, int]:
        """Merge; return what stood before and after the merged pairs. Training spends its time in this loop."""
        words, word_counts = self.words, self.word_counts
        before: Found = {}
        after: Found = {}
        made = 0
        for position in positions:
            parts = words[position].split(pair)
            if len(parts) != 2:
                if len(parts) > 2 or position in self._long:
                    made += self._merge_often(position, pair, merged, parts, before, after)
                continue  # or else an earlier merge took it
            count = word_counts[position]
            made += count
            words[position] = merged.join(parts)
            head, tail = parts
            if head:
                where = before.get(head[-1])
                if where is None:
                    before[head[-1]] = [count, position]
                else:
                    where[0] += count
                    where.append(position)
            if tail:
                where = after.get(tail[0])
                if where is None:
                    after[tail[0]] = [count, position]
                else:
                    where[0] += count
                    where.append(position)
        return before, after, made

    def _merge_often(self, position: int, pair: str, merged: str, parts: list[str], before: Found, after: Found) -> int:
        """Merge in a word that holds the pair several times, or is long."""
        count = self.word_counts[position]
        word = self._long.get(position)
        if word is None:
            word = LongWord(self.words[position])
            self.words[position] = merged.join(parts)
        made = 0
        for front, behind in word.merge(pair, merged):
            made += count
            if front:
                _note(before, front, count, position)
            if behind:
                _note(after, behind, count, position)
        return made


def _note(found: Found, token: str, count: int, position: int) -> None:
    where = found.setdefault(token, [0])
    where[0] += count
    if where[-1] != position or len(where) == 1:
        where.append(position)


class LongWord:
    """A word whose tokens know their neighbours, and whose pairs know their places.

    >>> word = LongWord("ababa")
    >>> list(word.merge("ab", "c")), list(word.merge("cc", "d"))
    ([('', 'a'), ('c', 'a')], [('', 'a')])
    """

    def __init__(self, word: str) -> None:
        end = len(word)
        self._tokens = [*word, ""]  # "" where the right token of a pair was, and at the end
        self._before = array("l", range(-1, end))
        self._after = array("l", range(1, end + 2))
        self._places: dict[str, list[int]] = {}  # pair → where it stood when that was noted; some are over
        for place, pair in enumerate(map(add, word, word[1:])):
            self._places.setdefault(pair, []).append(place)

    def merge(self, pair: str, merged: str) -> Iterator[tuple[str, str]]:
        """Merge a pair wherever it is, from the left; yield for each place the tokens before and after it."""
        left, right = pair[0], pair[1]
        tokens, before, after, places = self._tokens, self._before, self._after, self._places
        for place in sorted(set(places.pop(pair, ()))):
            second = after[place]
            if tokens[place] != left or tokens[second] != right:
                continue
            tokens[place], tokens[second] = merged, ""
            after[place] = next_place = after[second]
            behind = tokens[next_place]
            before[next_place] = place
            front = tokens[before[place]] if before[place] >= 0 else ""
            if front:
                places.setdefault(front + merged, []).append(before[place])
            if behind:
                places.setdefault(merged + behind, []).append(place)
            yield front, behind


# ---- the most frequent first -----------------------------------------------------------------------------------------
#
# Training puts in far more pairs than it takes out, and most of them are rare. So the entries of one count lie in a
# list of their own, which becomes a heap when its turn comes. Putting an entry in costs O(1), taking one out O(log n)
# for the n entries of its count.

Entry = TypeVar("Entry", bound="tuple[Any, ...]")


class MostFrequent(Generic[Entry]):
    """Hands out entries, those with the highest count first.

    >>> entries = MostFrequent()
    >>> for count, name in ((1, "a"), (3, "c"), (3, "b")):
    ...     entries.push(count, (name,))
    >>> entries.pop(), entries.push(3, ("d",)), entries.push(7, ("e",)), [entries.pop() for _ in range(4)]
    ((3, ('b',)), None, None, [(7, ('e',)), (3, ('c',)), (3, ('d',)), (1, ('a',))])
    """

    def __init__(self) -> None:
        self._by_count: dict[int, list[Entry]] = {}
        self._counts: list[int] = []  # a heap, each negative: the counts of which there are entries
        self._heap = 0  # the count whose list is a heap

    def push(self, count: int, entry: Entry) -> None:
        """Put an entry in; a count is at least 1."""
        alike = self._by_count.get(count)
        if alike is None:
            self._by_count[count] = [entry]
            heapq.heappush(self._counts, -count)
        elif count == self._heap:
            heapq.heappush(alike, entry)
        else:
            alike.append(entry)

    def pop(self) -> tuple[int, Entry]:
        """Take the first entry out, with its count."""
        count = -self._counts[0]
        alike = self._by_count[count]
        if count != self._heap:
            heapq.heapify(alike)
            self._heap = count
        entry = heapq.heappop(alike)
        if not alike:
            del self._by_count[count]
            heapq.heappop(self._counts)
        return count, entry

    def best(self, counts: Mapping[str, int], least: int, of: int = 0, keeps: int = 1) -> tuple[int, Entry] | None:
        """Take out the first entry that has the count it was put in with; None where that is below `least`.

        Entries whose count has changed are put in again on the way, unless it is below `keeps`. The counts are those of
        the item number `of` of each entry.
        """
        while self._counts:
            noted, entry = self.pop()
            count = counts[entry[of]]
            if count == noted:
                return (count, entry) if count >= least else None
            if count >= keeps:
                self.push(count, entry)
        return None


# ---- the start: the alphabet, the first tokens, every word spelled in them -------------------------------------------

_LARGEST_CHARACTER = 4  # bytes


class Options(NamedTuple):
    """The options of `WordPieceTrainer` and `BpeTrainer` of HuggingFace's tokenizers, under the same names."""

    vocab_size: int
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: Iterable[str]
    special_tokens: Iterable[object]
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    max_token_length: int | None

    def check(self) -> None:
        """Raise for an option that is out of range, and a special token that is empty or too long to be loaded."""
        require_whole("vocab_size", self.vocab_size, 1)
        require_whole("min_frequency", self.min_frequency, 0)
        require_whole("limit_alphabet", self.limit_alphabet, 1, or_none=True)
        require_whole("max_token_length", self.max_token_length, 1, or_none=True)
        if isinstance(self.special_tokens, str):
            raise InputError(f"special_tokens is a list of tokens, not one string: {self.special_tokens!r}")
        if "" in map(str, self.special_tokens):
            raise InputError("a special token is empty; give it at least one character, or leave it out")
        marks = f"{self.continuing_subword_prefix or ''}{self.end_of_word_suffix or ''}"
        sizes = {"a special token": max(map(bytes_of, map(str, self.special_tokens)), default=0)}
        sizes["a character with continuing_subword_prefix or end_of_word_suffix"] = _LARGEST_CHARACTER + bytes_of(marks)
        for what, size in sizes.items():
            if size > LONGEST_LINE:
                raise InputError(
                    f"{what} has {size:,} bytes, and a token of a vocabulary may have {LONGEST_LINE:,}; make it shorter"
                )


class Spelling(NamedTuple):
    """The state before the first merge.

    Attributes:
        tokens: the special tokens, the alphabet, then its forms with a prefix or suffix; the ids are the positions.
        token_to_id: the inverse of `tokens`.
        words: each word as a str with a character for each of its tokens, `chr(id)`.
        counts: how often each of them occurs.
    """

    tokens: list[str]
    token_to_id: dict[str, int]
    words: list[str]
    counts: list[int]


def spell(word_counts: Mapping[str, int], options: Options) -> Spelling:
    """Give ids to special tokens and characters, and spell the words in them.

    The special tokens come first, in the order given; then the alphabet by code point; then the alphabet with
    a prefix or suffix, by code point too. A character that is not in the alphabet is left out of its words.
    """
    tokens: dict[str, None] = dict.fromkeys(str(token) for token in options.special_tokens)
    special = len(tokens)
    tokens.update(dict.fromkeys(alphabet(word_counts, options.limit_alphabet, options.initial_alphabet)))
    characters = len(tokens) - special
    known, marks = frozenset(tokens), (options.continuing_subword_prefix or "", options.end_of_word_suffix or "")
    tokens.update(dict.fromkeys(sorted(_forms(word_counts, known, *marks))))
    parts = f"{special:,} special tokens, {characters:,} characters"
    if forms := len(tokens) - special - characters:
        parts += f", {forms:,} of their forms with {' or '.join(map(repr, filter(None, marks)))}"
    require_room(options.vocab_size, len(tokens), f"tokens to start from ({parts})")
    token_to_id = {token: token_id for token_id, token in enumerate(tokens)}
    words = list(map(_speller(token_to_id, known, *marks), word_counts))
    return Spelling(list(tokens), token_to_id, words, list(word_counts.values()))


def characters_of(word_counts: Mapping[str, int]) -> Counter[str]:
    """The characters of words, and how often they occur."""
    words_of: dict[int, list[str]] = {}  # by their counts, of which there are few
    for word, count in word_counts.items():
        words_of.setdefault(count, []).append(word)
    counts: Counter[str] = Counter()
    for count, words in words_of.items():
        for char, number in Counter("".join(words)).items():
            counts[char] += count * number
    return counts


def alphabet(word_counts: Mapping[str, int], limit: int | None, initial: Iterable[str]) -> list[str]:
    """The characters to start from, by code point.

    Args:
        word_counts: the words that the characters are taken from.
        limit: keep so many, the most frequent; of equally frequent ones those with the lower code points.
        initial: strings whose first characters come before all others, whether they occur or not.

    >>> alphabet({"hug": 10, "pug": 5, "hi": 1}, 3, ["x"])
    ['g', 'u', 'x']
    """
    counts = characters_of(word_counts)
    first = {string[0] for string in initial if string}
    chars = sorted(counts.keys() | first, key=lambda char: (char not in first, -counts[char], char))
    return sorted(chars if limit is None else chars[:limit])


# The token of a character has the prefix, unless the character is the first of its word, and the suffix, if the last.


def _forms(words: Iterable[str], known: frozenset[str], prefix: str, suffix: str) -> set[str]:
    """The tokens of the known characters of words."""
    only, first, inner, last = set[str](), set[str](), set[str](), set[str]()
    for word in words:
        if len(word) < 2:
            only.add(word)
        else:
            first.add(word[0])
            last.add(word[-1])
            inner.update(word[1:-1])
    forms = first & known
    forms |= {char + suffix for char in only & known}
    forms |= {prefix + char for char in inner & known}
    return forms | {prefix + char + suffix for char in last & known}


def _speller(token_to_id: Mapping[str, int], known: frozenset[str], prefix: str, suffix: str) -> Callable[[str], str]:
    """A function from a word to its `chr(id)`s; characters that are not known are left out."""
    only, first, inner, last = (
        defaultdict(str, ((c, chr(token_to_id[form])) for c in known if (form := before + c + after) in token_to_id))
        for before, after in (("", suffix), ("", ""), (prefix, ""), (prefix, suffix))
    )
    of_inner = inner.__getitem__
    if not prefix and not suffix:
        return lambda word: "".join(map(of_inner, word))

    def spelled(word: str) -> str:
        if len(word) < 2:
            return only[word] if word else ""
        return f"{first[word[0]]}{''.join(map(of_inner, word[1:-1]))}{last[word[-1]]}"

    return spelled


def require_room(vocab_size: int, needed: int, what: str) -> None:
    """Raise where a vocabulary of this size does not hold what it has to begin with."""
    if needed > vocab_size:
        raise VocabularyError(
            f"a vocabulary of {vocab_size:,} has no room for the {needed:,} {what}; raise vocab_size (--vocab-size) to "
            f"{needed:,} at least, or keep fewer characters with limit_alphabet (--limit-alphabet)"
        )


# ---- the merges ------------------------------------------------------------------------------------------------------

_MERGES_PER_REPORT = 100
_MOST_COUNTED = 1 << 62  # by the compiled kernel
_MOST_IN_LONG = 100 * LONG  # tokens of long words: the kernel scans each word as a whole


def learnt(
    texts: Iterable[str] | Mapping[str, int], options: Options, on_progress: OnProgress | None, **counting: Any
) -> tuple[Spelling, list[tuple[str, str]]]:
    """What training makes of texts, or of words counted before; `counting` are the options of `count_words`.

    Pairs are merged until the vocabulary has its size, or none occurs `min_frequency` times: the tokens of the spelling
    grow, its words get shorter. O(n log n) for n pairs of neighbours.
    """
    options.check()
    spelling = spell(as_word_counts(texts, progress=on_progress, **counting), options)
    with bulk():
        return spelling, _Merging(spelling, options, on_progress or (lambda progress: None)).run()


class _Merging:
    def __init__(self, spelling: Spelling, options: Options, report: OnProgress) -> None:
        self.tokens, self.token_to_id, words, counts = spelling
        self.pairs = Pairs(words, counts)
        self.options = options
        self.report = report
        self.merges: dict[tuple[int, int], None] = {}
        self._bounds = options.vocab_size, max(options.min_frequency, 1)
        self._prefix = options.continuing_subword_prefix or ""

    def _fits_kernel(self) -> bool:
        """Whether the compiled kernel is at work and no limit of its own, or on the length of tokens, matters."""
        words, counts, options = self.pairs.words, self.pairs.word_counts, self.options
        marks = self._prefix + (options.end_of_word_suffix or "")
        longest = max(map(len, words), default=0)
        in_long = sum(len(word) for word in words if len(word) > LONG) if longest > LONG else 0
        return (
            chosen.kernel_at_work() == "compiled"
            and options.max_token_length is None
            and len(self.tokens) < sys.maxunicode
            and in_long <= _MOST_IN_LONG
            and 2 * longest * (_LARGEST_CHARACTER + bytes_of(marks)) <= LONGEST_LINE
            and max(counts, default=0) * longest * len(words) < _MOST_COUNTED
        )

    def run(self) -> list[tuple[str, str]]:
        """Make the merges; the result is the pairs in their order."""
        if self._fits_kernel():
            total = len(self.pairs.words)
            self.report(Progress(COUNTING_PAIRS, total, total, "words"))
            chosen.merge_pairs(self.pairs.words, self.pairs.word_counts, len(self.tokens), *self._bounds, self._merge)
        else:
            self._run_plain()
        self.report(Progress(MERGING, len(self.tokens), len(self.tokens), "tokens"))
        return [(self.tokens[left], self.tokens[right]) for left, right in self.merges]

    def _run_plain(self) -> None:
        pair_counts = self.pairs.counts
        where = self.pairs.count(self.report)
        waiting: MostFrequent[tuple[str, int, list[int]]] = MostFrequent()
        for pair, positions in where.items():
            waiting.push(pair_counts[pair], (pair, 0, positions))
        vocab_size, least = self._bounds
        lengths, sizes = [1] * len(self.tokens), Sizes(self.tokens)  # in characters, and in bytes
        serial = 0
        while len(self.tokens) < vocab_size and (best := waiting.best(pair_counts, least)):
            pair, _, positions = best[1]
            left, right = map(ord, pair)
            merged = self._merge(left, right)
            if merged == len(lengths):
                lengths.append(0)
                sizes.add(self.tokens[merged])
            lengths[merged] = lengths[left] + lengths[right]  # also of a special token that words make
            _, new = self.pairs.merge(pair, chr(merged), positions, self._limit(merged, lengths, sizes))
            for come_up, in_words in new.items():
                if pair_counts[come_up] > 0:
                    serial += 1  # of two entries of one pair the older comes first
                    waiting.push(pair_counts[come_up], (come_up, serial, in_words))

    def _merge(self, left: int, right: int) -> int:
        """Note a merge; return the token that the pair becomes, which another merge may have made before."""
        merges, tokens = self.merges, self.tokens
        merges.pop((left, right), None)  # a pair merged once more goes to the end
        merges[left, right] = None
        if not len(merges) % _MERGES_PER_REPORT:
            self.report(Progress(MERGING, len(tokens), self.options.vocab_size, "tokens"))
        token = tokens[left] + tokens[right].removeprefix(self._prefix)
        merged = self.token_to_id.setdefault(token, len(tokens))
        if merged == len(tokens):
            if merged >= sys.maxunicode:  # a word has a character for each of its tokens, the kernel one at its end
                told = f"training makes {merged:,} tokens at most; give a lower vocab_size (--vocab-size)"
                raise VocabularyError(told)
            tokens.append(token)
        return merged

    def _limit(self, merged: int, lengths: list[int], sizes: Sizes) -> Callable[[str], bool] | None:
        """Whether a token beside a merged one would make too long a token with it.

        As in tokenizers 0.22.2 `max_token_length` is one that a token stays below, and two characters are never too
        long.
        """
        longest, too_large = self.options.max_token_length, sizes.limit(merged)
        if longest is None:
            return too_large
        return lambda token: (
            lengths[ord(token)] + lengths[merged] >= longest or (too_large is not None and too_large(token))
        )
