"""Search for a set of words, leftmost-longest and in linear time; Hugging Face's `Trie`.

An example: the words ab and abcd, and the text abcx. The walk through the trie follows a, b and c,
and x leaves the trie. The characters abc alone decide what follows: ab is a word of the text, and
c, which begins no word, is skipped. The node of abc keeps this as its *failure link*, and the walk
goes on at x from the root. A link has two parts: the words that the path of the node contains (its
*pops*), and the node that the rest of the path leads to. So no character is read twice. The idea is
that of Aho and Corasick (1975) with the pops of LinMaxMatch (Song et al. 2021, arXiv:2012.15524),
extended from "pop a token" to "pop a token or skip a character".

The words are kept as a sorted list. A node stands for the range of words that begin with its path,
and is created when a text first enters it. So a hundred thousand words take the memory of a list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import accumulate, compress, count
from operator import add, itemgetter
from typing import Any, TypeVar

from trietok.text.cache import LONGEST_KEY, Cache

Span = tuple[int, int]
Link = tuple["Node", tuple[Span, ...]]
# Where a word may begin; the end of one that begins there, or 0; and the node that the text leads
# to up to a place, or None if no longer word begins there.
Start = tuple[int, int, "Node | None", int]

LAST = "\U0010ffff"
FAR = 64  # code points; only behind so many a walk through the trie goes by failure links
MISSES = 4  # so many characters a word are remembered that lead nowhere from a node
MOST_BEGUN = 8  # code points
STARTS_LIMIT = 16_000_000  # bytes a trie may take to remember where words begin in chunks


class Node(dict[str, "Node | None"]):
    """One node of a trie: the range of the sorted words that begin with its path.

    `node[char]` is the next node, or None if no word goes on with that character.

    Attributes:
        words: all words of the trie, sorted.
        low, high: the words `words[low:high]` begin with the path.
        parent, char: the node above and the character that leads here; None and "" at the root.
        depth: the code points of the path.
        is_word: whether the path is a word.
        link: the failure link, once the owner of the trie has computed it.
    """

    __slots__ = ("char", "depth", "high", "is_word", "link", "low", "parent", "words")

    def __init__(
        self, words: list[str], low: int, high: int, parent: Node | None = None, char: str = ""
    ) -> None:
        self.words, self.low, self.high = words, low, high
        self.parent, self.char = parent, char
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.is_word = low < high and len(words[low]) == self.depth > 0
        self.link: Any = None

    def __missing__(self, char: str) -> Node | None:
        child, depth = None, self.depth
        words, low, high = self.words, self.low, self.high
        if high - low > 1:
            low = bisect_left(words, words[low][:depth] + char, low, high)
        if low < high and words[low][depth : depth + 1] == char:
            if high - low > 1 and char < LAST:
                behind = words[low][:depth] + chr(ord(char) + 1)
                high = bisect_left(words, behind, low, high)
            child = Node(words, low, high, self, char)
        # Of the characters that lead nowhere not all are remembered: a text may have any.
        if child is not None or char.isascii() or len(self) < MISSES * (self.high - self.low):
            return self.setdefault(char, child)  # another thread may have made the same
        return child

    def unlinked_path(self) -> list[Node]:
        """Return this node and those above it that have no link yet, the topmost first."""
        path = [self]
        while (above := path[-1].parent) is not None and above.link is None:
            path.append(above)
        path.reverse()
        return path


class Root(Node):
    """The root of a trie whose words are sorted when a text needs them: those that begin with one
    character at a time.

    >>> root = Root(["b", "abc", "ab"])
    >>> root["a"]["b"].is_word, root["b"].is_word, root["c"]
    (True, True, None)
    """

    __slots__ = ("by_first",)

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__([], 0, 0)
        self.by_first: dict[str, list[str]] = defaultdict(list)
        for word in words:
            self.by_first[word[0]].append(word)

    def __missing__(self, char: str) -> Node | None:
        words = sorted(self.by_first[char]) if char in self.by_first else []
        child = Node(words, 0, len(words), self, char) if words else None
        if child is not None or char < "\U00010000":
            return self.setdefault(char, child)
        return child


class WordTrie:
    """A set of words that never changes, to be found in texts.

    Texts are read in chunks between spaces. The trie remembers of each chunk where in it a word may
    begin, so a chunk in which none does costs one lookup in a dict.

    Args:
        words: the words; none is empty.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(words)
        self._root = Node(self.words, 0, len(self.words))
        firsts = "".join(sorted({word[0] for word in self.words}))
        self._first = re.compile(f"[{re.escape(firsts)}]")
        behind = {word[1:2] for word in self.words if word[0] == " "}
        space = " " if "" in behind else f" (?=[{re.escape(''.join(behind))}])"
        self._spaces = re.compile(space) if behind else None
        # a word can only begin where the text goes on as one does
        self._size_begun = min(MOST_BEGUN, *map(len, self.words))
        self._begun = {word[: self._size_begun] for word in self.words}
        # what each word with a space has before it: all that is left of the chunk there
        self._heads = {word.partition(" ")[0] for word in self.words if " " in word}
        # the first two characters of each other word
        self._pairs = {word[:2] for word in self.words if " " not in word}
        self.starts_in = Cache(self._starts_in_chunk, STARTS_LIMIT, size_of=_size_of_starts)
        self.longest = max(map(len, self.words))
        self.for_kernel: Any = None  # what `trietok.text.kernel.terms` keeps with the words

    def may_stand_in(self, text: str) -> bool:
        """Return whether a word may occur in a text; False is certain."""
        return self._first.search(text) is not None

    def has_prefix_of(self, text: str) -> bool:
        """Return whether a text begins with a word."""
        node = self._root
        for char in text:
            child = node[char]
            if child is None or child.is_word:
                return child is not None
            node = child
        return False

    def find(self, text: str, starts: list[Start], position: int = 0) -> Iterator[Span]:
        """Yield where words occur in a text from a position on: leftmost-longest, disjoint.

        `starts` are those that the method of that name returns.
        """
        for number in range(bisect_left(starts, (position,)), len(starts)):
            start, end, node, reached = starts[number]
            if start < position:
                continue
            most = min(start + FAR, len(text))
            while node is not None and reached < most:
                node = node[text[reached]]
                reached += 1
                if node is not None and node.is_word:
                    end = reached
            if node is not None and reached < len(text):
                position = yield from self._find_far(text, start, node, reached)
            elif end:
                yield start, end
                position = end

    def _find_far(
        self, text: str, start: int, node: Node, position: int
    ) -> Generator[Span, None, int]:
        """Yield the words from a start on, behind which the trie goes on for long: by links, so
        that no character is read twice. Return the place up to which the text is read.
        """
        while node is not self._root:
            child = node[text[position]] if position < len(text) else None
            if child is not None:
                node, position = child, position + 1
                continue
            # The pops cover the front of the path that begins at `start`; the rest of it is the
            # path of the target.
            target, pops = node.link or self._link(node)
            for first, last in pops:
                yield start + first, start + last
            start += node.depth - target.depth
            node = target
        return position

    def starts(self, text: str) -> list[Start]:
        """Return the places in a text where a word may begin, in order."""
        if not self.may_stand_in(text):
            return []
        chunks = text.split(" ")
        found = [*map(self.starts_in.__getitem__, chunks)]
        places = map(add, accumulate(map(len, chunks), initial=0), count())
        found_at = compress(zip(places, found), found)  # noqa: B905  # there is one place more
        begun, size = self._begun, self._size_begun
        starts = [
            (place + start, end and place + end, node, place + reached)
            for place, in_chunk in found_at
            for start, end, node, reached in in_chunk
            if text[place + start : place + start + size] in begun
        ]
        if self._spaces is not None:  # words begin with a space, too
            spaces = map(re.Match.start, self._spaces.finditer(text))
            starts += [(at, 0, self._root, at) for at in spaces if text[at : at + size] in begun]
            starts.sort(key=itemgetter(0))
        return starts

    def _starts_in_chunk(self, chunk: str) -> tuple[Start, ...]:
        """Return the places in a chunk where a word begins, if a space follows the chunk."""
        root, length = self._root, len(chunk)
        starts: list[Start] = []
        if length > LONGEST_KEY:  # to look into all of it could take quadratic time
            firsts = map(re.Match.start, self._first.finditer(chunk))
            starts = [(start, 0, root, start) for start in firsts]
        for start in self._begins_in(chunk) if length <= LONGEST_KEY else ():
            node = root[chunk[start]]
            if node is None:
                continue
            position = start + 1
            end = position if node.is_word else 0
            while position < length and (child := node[chunk[position]]) is not None:
                node, position = child, position + 1
                if node.is_word:
                    end = position
            behind = node[" "] if position == length else None
            if behind is None:
                if end:
                    starts.append((start, end, None, position))
            elif end or behind.is_word:
                starts.append((start, end, node, position))
            else:
                starts.append((start, 0, behind, length + 1))
        return tuple(starts)

    def _begins_in(self, chunk: str) -> Iterable[int]:
        """Return all places in a chunk where a word may begin, in order, and perhaps others."""
        heads, pairs, places = self._heads, self._pairs, range(len(chunk))
        if not pairs:
            return [at for at in places if chunk[at:] in heads]
        return [
            at
            for at in places
            if chunk[at : at + 2] in pairs or chunk[at] in pairs or chunk[at:] in heads
        ]

    def _link(self, node: Node) -> Link:
        for step in node.unlinked_path():  # parents first, without recursion
            if step.parent is not None:
                step.link = self._new_link(step, step.parent)
        link: Link = node.link
        return link

    def _new_link(self, node: Node, above: Node) -> Link:
        if node.is_word:
            return self._root, ((0, node.depth),)
        # Begin where the parent's link leads, and follow links to a node that has the character.
        rest, pops = (self._root, ()) if above is self._root else above.link
        while True:
            child = rest[node.char]
            if child is not None and child.depth < node.depth:
                return child, pops
            if rest is self._root:
                return rest, pops  # the character begins no word: it stays text
            start = above.depth - rest.depth
            rest, more = rest.link or self._link(rest)
            pops += tuple((start + first, start + last) for first, last in more)


# ---- sets and mappings that grow -----------------------------------------------------------------

RATIO = 8  # a layer has at least so many times as many items as the next, smaller one
VERY_LONG = 256  # code points; a set with a longer word is one trie


def _size_of_starts(starts: tuple[Start, ...]) -> int:
    return 20 * len(starts)


class WordSearch:
    """A set of words, to be found in texts. It never changes; `with_words` makes another one.

    It consists of a few tries, each much smaller than the one before, and a bigger set shares the
    big ones. So one word more costs little, whatever the number of words.

    >>> search = WordSearch(["ab", "abcd"])
    >>> search.find("abcx abcd"), search.with_words(["cx"]).find("abcx")
    ([(0, 2), (5, 9)], [(0, 2), (2, 4)])
    """

    __slots__ = ("tries",)

    def __init__(self, words: Iterable[str] = ()) -> None:
        words = dict.fromkeys(filter(None, words))
        self.tries: tuple[WordTrie, ...] = (WordTrie(words),) if words else ()

    def with_words(self, words: Iterable[str]) -> WordSearch:
        """Return the search for these words and more, none of which is there."""
        new = [*dict.fromkeys(filter(None, words))]
        if not new:
            return self
        tries = [*self.tries]
        # Where the matches of two tries overlap, one of them reads up to its longest word again.
        is_far = max(*map(len, new), 0, *[trie.longest for trie in tries]) > VERY_LONG
        while tries and (is_far or len(tries[-1].words) < RATIO * len(new)):
            new += tries.pop().words
        grown = WordSearch()
        grown.tries = (*tries, WordTrie(new))
        return grown

    def __reduce__(self) -> Any:
        return WordSearch, ([word for trie in self.tries for word in trie.words],)

    def may_stand_in(self, text: str) -> bool:
        """Return whether a word may occur in a text; False is certain."""
        if len(self.tries) == 1:  # as most often: `any` takes three times as long
            return self.tries[0].may_stand_in(text)
        return any(trie.may_stand_in(text) for trie in self.tries)

    def has_prefix_of(self, text: str) -> bool:
        """Return whether a text begins with a word.

        >>> WordSearch(["ab"]).has_prefix_of("abc"), WordSearch(["abc"]).has_prefix_of("ab")
        (True, False)
        """
        return any(trie.has_prefix_of(text) for trie in self.tries)

    def forget(self) -> None:
        """Drop what is cached of texts."""
        for trie in self.tries:
            trie.starts_in.forget()

    def find(self, text: str) -> list[Span]:
        """Return where words occur: half-open spans of code points, in order, disjoint."""
        tries = [(trie, starts) for trie in self.tries if (starts := trie.starts(text))]
        if len(tries) == 1:
            trie, starts = tries[0]
            return [*trie.find(text, starts)]
        return [*_merged(tries, text)] if tries else []


def _merged(tries: list[tuple[WordTrie, list[Start]]], text: str) -> Iterator[Span]:
    """Yield the leftmost-longest of the next matches of several tries, again and again."""
    scans = [trie.find(text, starts) for trie, starts in tries]
    heads = [next(scan, None) for scan in scans]
    position = 0
    while True:
        for number, head in enumerate(heads):
            while head is not None and head[0] < position:
                # What the trie found begins within the match taken: it looks again behind that.
                trie, starts = tries[number]
                scans[number] = trie.find(text, starts, position)
                head = heads[number] = next(scans[number], None)
        best = min(filter(None, heads), key=lambda span: (span[0], -span[1]), default=None)
        if best is None:
            return
        yield best
        position = best[1]


def without_hidden(words: Iterable[str]) -> list[str]:
    """Return the words but those that begin with a word earlier in the list.

    If several words begin at one place of a text and the first of the list counts, these never do;
    and of the others the longest is the first.

    >>> without_hidden(["ab", "abc", "b", "bc", "bcd"]), without_hidden(["abc", "ab"])
    (['ab', 'b'], ['abc', 'ab'])
    """
    words = [*dict.fromkeys(words)]
    ranks = {word: rank for rank, word in enumerate(words)}
    hidden: set[str] = set()
    prefixes: list[tuple[str, int]] = []  # of the word before, each with the lowest rank so far
    for word in sorted(ranks):
        while prefixes and not word.startswith(prefixes[-1][0]):
            prefixes.pop()
        lowest = prefixes[-1][1] if prefixes else ranks[word]
        if lowest < ranks[word]:
            hidden.add(word)
        prefixes.append((word, min(lowest, ranks[word])))
    return [word for word in words if word not in hidden]


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Layers(Mapping[_Key, _Value]):
    """A read-only mapping; the cost of `with_items` depends on the number of new items only.

    Args:
        items: the items to begin with; the dict is used without a copy and must not be changed.

    >>> before = Layers({"a": 1, "b": 2})
    >>> after = before.with_items({"c": 3, "a": 4})
    >>> dict(before), dict(after)
    ({'a': 1, 'b': 2}, {'a': 4, 'b': 2, 'c': 3})
    """

    __slots__ = ("_flat", "_layers", "_length")

    def __init__(self, items: dict[_Key, _Value]) -> None:
        self._layers: tuple[dict[_Key, _Value], ...] = (items,)
        self._length = len(items)
        self._flat: dict[_Key, _Value] | None = items

    def with_items(self, items: Mapping[_Key, _Value]) -> Layers[_Key, _Value]:
        """Return these items and more; one that is there keeps its place."""
        if not items:
            return self
        known: set[_Key] = set()
        for layer in self._layers:
            known |= layer.keys() & items.keys()
        layers = [*self._layers, dict(items)]
        while len(layers) > 1 and len(layers[-2]) < RATIO * len(layers[-1]):
            top = layers.pop()
            layers[-1] = {**layers[-1], **top}
        grown: Layers[_Key, _Value] = Layers({})
        grown._layers = tuple(layers)
        grown._length = self._length + len(items) - len(known)
        grown._flat = layers[0] if len(layers) == 1 else None
        return grown

    def flat(self) -> dict[_Key, _Value]:
        """Return all items as one dict in the order of adding, made once; do not change it."""
        flat = self._flat
        if flat is None:
            flat = dict(self._layers[0])
            for layer in self._layers[1:]:
                flat.update(layer)
            self._flat = flat
        return flat

    def __getitem__(self, key: _Key) -> _Value:
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        raise KeyError(key)

    def get(self, key: _Key, default: _Value | None = None) -> _Value | None:  # type: ignore[override]
        """Return the value of a key, or `default`."""
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        return default

    def __contains__(self, key: object) -> bool:
        return any(key in layer for layer in self._layers)

    def lacks(self, keys: Iterable[_Key]) -> bool:
        """Return whether none of the keys is there."""
        return all(layer.keys().isdisjoint(keys) for layer in self._layers)

    def __iter__(self) -> Iterator[_Key]:
        return iter(self.flat())

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.flat()!r})"

    def __reduce__(self) -> tuple[type[Layers[_Key, _Value]], tuple[dict[_Key, _Value]]]:
        return type(self), (self.flat(),)


# ---- as Hugging Face has it ----------------------------------------------------------------------

END = ""  # the key that marks the end of a word in `Trie.data`


class Trie:
    """A set of words that splits texts, with the methods of transformers' `Trie`.

    Args:
        *args: at most one iterable of words.

    >>> trie = Trie()
    >>> trie.split("[CLS] This is a extra_id_100")
    ['[CLS] This is a extra_id_100']
    >>> trie.update(["[CLS]", "extra_id_1", "extra_id_100"])
    >>> trie.split("[CLS] This is a extra_id_100")
    ['[CLS]', ' This is a ', 'extra_id_100']

    A word of n code points is added in O(n), and a text is split in O(text). Unlike transformers'
    trie, which goes on with matches that have already failed, the split is leftmost-longest on
    every text: see `docs/hf_compatibility.md`.
    """

    def __init__(self, *args: Iterable[str]) -> None:
        self._tokens: dict[str, None] = {}  # a set that keeps the order of adding
        self._search: WordSearch | None = WordSearch()
        self.update(*args)

    @property
    def data(self) -> dict[str, Any]:
        """The words as nested dicts from a character to what follows; `""` marks an end.

        >>> Trie(["ab", "a"]).data
        {'a': {'b': {'': 1}, '': 1}}
        """
        data: dict[str, Any] = {}
        for word in self._tokens:
            node = data
            for char in word:
                node = node.setdefault(char, {})
            node[END] = 1
        return data

    def add(self, word: str) -> None:
        """Add one word. An empty one is ignored, and a word that is there changes nothing."""
        self.update((word,))

    def update(self, *args: Iterable[str]) -> None:
        """Add every word of the iterable.

        Raises:
            TypeError: more than one iterable is given, or something in it is not a string.
        """
        if len(args) > 1:
            raise TypeError(f"Trie.update takes one iterable of words, {len(args)} given")
        new = [word for words in args for word in words if word and word not in self._tokens]
        for word in new:
            if not isinstance(word, str):
                raise TypeError(f"a trie holds strings, not {type(word).__name__}: {word!r}")
        if self._search is not None:
            self._search = self._search.with_words(new)
        self._tokens.update(dict.fromkeys(new))

    def discard(self, word: str) -> None:
        """Take one word out; one that is not there changes nothing.

        >>> trie = Trie(["ab", "abcd"])
        >>> trie.discard("abcd")
        >>> trie.data
        {'a': {'b': {'': 1}}}
        """
        if word in self._tokens:
            del self._tokens[word]
            self._search = None

    def __contains__(self, word: object) -> bool:
        return word in self._tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._tokens)!r})"

    def __reduce__(self) -> Any:
        return type(self), (list(self._tokens),)

    def split(self, text: str) -> list[str]:
        """Cut a text before and after every word in it, leftmost-longest.

        >>> Trie(["abcd", "bc", "b"]).split("abcx bcd")
        ['a', 'bc', 'x ', 'bc', 'd']

        Returns:
            The pieces in order, none of them empty; `[]` for an empty text.
        """
        return self.cut_text(text, [offset for span in self.find(text) for offset in span])

    def cut_text(self, text: str, offsets: list[int]) -> list[str]:
        """Cut a text at ascending offsets (code points); empty pieces are left out.

        >>> Trie().cut_text("abcd", [0, 1, 3])
        ['a', 'bc', 'd']
        """
        pieces: list[str] = []
        start = 0
        for end in (*offsets, len(text)):
            if end > start:
                pieces.append(text[start:end])
                start = end
        return pieces

    def find(self, text: str) -> list[Span]:
        """Return where words occur: half-open spans of code points, leftmost-longest, disjoint.

        >>> Trie(["ab", "abcd"]).find("abcx abcd")
        [(0, 2), (5, 9)]
        """
        search = self._search
        if search is None:
            search = self._search = WordSearch(self._tokens)
        return search.find(text)
