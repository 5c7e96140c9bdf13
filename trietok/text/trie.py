"""The trie that cuts a text at known words, leftmost-longest, in linear time; and searches for sets of words that grow.

In: words, then a text. Out: the spans where words stand, or the text cut at them. Also here: `bulk`, which pauses the
garbage collector while many objects are made, `Layers`, a mapping that grows, and `Prefilter`, which rules words out.

An example: the words ab and abcd, and the text abcx. The walk through the trie follows a, b and c, and x leaves the
trie. The characters abc alone decide what follows: ab is a word of the text, and c, which begins no word, is skipped.
The node of abc stores this once, as its *failure link*, and the walk goes on at x from the root.

A `TrieNode` is a dict from a character to the next node, with the key `""` where a word ends; that is the nested-dict
form transformers shows as `Trie.data`. The failure link of a node holds two things: the leftmost-longest words of the
node's path (its *failure pops*), and the node that the rest of the path leads to from the root (the link's target). So
no character is read twice. The idea is that of Aho and Corasick (1975) with the pops of LinMaxMatch (Song et al. 2021,
arXiv:2012.15524), extended from "pop a token" to "pop a token or skip a character".
"""

from __future__ import annotations

import gc
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count, filterfalse
from typing import Any, TypeVar

from trietok.text.changes import cached_property

MANY = 20_000  # objects, from which on it pays to spare the collector walking through what was made
FROZEN_BY_PYTHON = 1_000  # objects, at most: 3.12 starts with some 400; who freezes a program freezes many thousands


class _Collector:
    """The garbage collector of this process: at rest while anybody is in `bulk`.

    Attributes:
        lock: who comes and who goes do so one after the other.
        inside: the thread of each context that is open.
        was_enabled: whether the collector was at work before the first of them.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal's handler may come while its own thread holds it
        self.inside: list[int] = []
        self.was_enabled = False

    def pause(self) -> None:
        with self.lock:
            if not self.inside:
                self.was_enabled = gc.isenabled()
            self.inside.append(threading.get_ident())
            gc.disable()

    def go_on(self) -> None:
        with self.lock:
            if threading.get_ident() in self.inside:  # an interrupt may have come before `pause` did anything
                self.inside.remove(threading.get_ident())
            if not self.inside and self.was_enabled:
                gc.enable()
                self.was_enabled = False

    def forget_other_threads(self) -> None:
        """In a forked process there is no thread but the one that forked."""
        self.lock = threading.RLock()
        self.inside = [thread for thread in self.inside if thread == threading.get_ident()]
        if not self.inside and self.was_enabled:
            gc.enable()


_COLLECTOR = _Collector()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_COLLECTOR.forget_other_threads)


@contextmanager
def bulk() -> Iterator[None]:
    """A context for code that makes many objects and no garbage in cycles: the code runs up to twice as fast.

    The collector is paused for the whole process. Of several contexts, nested or in several threads, the last one to
    end starts it again. If many objects were made, they count as old from then on: otherwise the collector would walk
    through all of them three times, soon after, to find that they are still in use.

    >>> import gc
    >>> with bulk():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    try:
        _COLLECTOR.pause()
        yield
        if _COLLECTOR.was_enabled and gc.get_count()[0] > MANY:
            _make_old()
    finally:
        _COLLECTOR.go_on()


def _make_old() -> None:
    """Put every object that the collector watches into its oldest generation."""
    # `freeze` takes them all out of the generations, `unfreeze` puts them into the oldest. A program that has frozen
    # objects itself, as before a fork, wants them to stay so. PyPy has neither function.
    if hasattr(gc, "freeze") and gc.get_freeze_count() <= FROZEN_BY_PYTHON:
        gc.freeze()
        gc.unfreeze()


END = ""  # the key that marks the end of a word: no character equals it
_Span = tuple[int, int]
_Link = tuple["TrieNode", tuple[_Span, ...]]


class TrieNode(dict[str, Any]):
    """One node: its children by character, its place in the trie, and its failure link once computed.

    Attributes:
        parent, char: the node above and the character that leads here; None and "" at the root.
        depth: code points from the root.
        link: where a walk that fails here goes on, once the trie's owner has computed it; None before.
    """

    __slots__ = ("char", "depth", "link", "parent")

    def __init__(self, parent: TrieNode | None = None, char: str = "") -> None:
        self.parent = parent
        self.char = char
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.link: Any = None

    def insert(self, word: str, value: object) -> None:
        """Put `word` below this node and mark its end with `value`.

        Raises:
            ValueError: `word` is empty: its end mark would make this node a word.
        """
        if not word:
            raise ValueError("an empty word has no place in a trie")
        node = self
        for char in word:
            child = node.get(char)
            if child is None:
                child = node[char] = TrieNode(node, char)
            node = child
        node[END] = value

    def discard(self, word: str) -> None:
        """Remove `word`, and the nodes that lead only to it."""
        node = self
        for char in word:
            child = node.get(char)
            if child is None:
                return
            node = child
        node.pop(END, None)
        while not node and node.parent is not None:
            above, char = node.parent, node.char
            del above[char]
            node = above

    def path_to(self, top: TrieNode) -> list[TrieNode]:
        """The nodes from just below `top` down to this one."""
        path: list[TrieNode] = []
        node = self
        while node is not top:
            path.append(node)
            assert node.parent is not None  # `top` is above this node
            node = node.parent
        path.reverse()
        return path

    def __reduce__(self) -> Any:
        # Parents make the structure cyclic, and links would become wrong: owners pickle their words instead.
        raise TypeError("TrieNode cannot be pickled; pickle the Trie")


class Trie:
    """A set of words that splits texts, with the methods of transformers' `Trie`.

    Args:
        *args: at most one iterable of words.

    Example, the worked case of transformers' documentation:

    >>> trie = Trie()
    >>> trie.split("[CLS] This is a extra_id_100")
    ['[CLS] This is a extra_id_100']
    >>> trie.update(["[CLS]", "extra_id_1", "extra_id_100"])
    >>> trie.split("[CLS] This is a extra_id_100")
    ['[CLS]', ' This is a ', 'extra_id_100']

    Adding a word of n code points costs O(n). Splitting costs O(text + failure links not yet computed); each link is
    computed once, when a text first needs it. Unlike transformers' trie, which goes on with matches that have already
    failed, the split is leftmost-longest on every text: see `docs/hf_compatibility.md`.
    """

    def __init__(self, *args: Iterable[str]) -> None:
        self.data: TrieNode = TrieNode()
        self._tokens: dict[str, None] = {}  # a set that keeps the order of adding
        self._starts: tuple[int, re.Pattern[str]] | None = None  # and its generation
        # A link holds the generation it was computed in, and every change of the words begins another generation. So a
        # change need not touch existing links, and a link that another thread computes meanwhile is never used.
        self._generation = 0
        self.update(*args)

    def add(self, word: str) -> None:
        """Add one word. An empty one is ignored, and adding a word again changes nothing, as in transformers.

        >>> trie = Trie()
        >>> trie.add("ab")
        >>> trie.add("a")
        >>> trie.data
        {'a': {'b': {'': 1}, '': 1}}
        """
        self.update((word,))

    def update(self, *args: Iterable[str]) -> None:
        """Add every word of the iterable.

        Raises:
            TypeError: more than one iterable is given, or something in it is not a string.
        """
        if len(args) > 1:
            raise TypeError(f"Trie.update takes one iterable of words, {len(args)} given")
        new = [word for words in args for word in dict.fromkeys(words) if word and word not in self._tokens]
        for word in new:
            if not isinstance(word, str):
                raise TypeError(f"a trie holds strings, not {type(word).__name__}: {word!r}")
        if not new:
            return
        with bulk():
            for word in new:
                self._tokens[word] = None
                self.data.insert(word, self._end_mark(word))
        self._changed()

    def discard(self, word: str) -> None:
        """Take one word out; one that is not there changes nothing. Costs O(its code points).

        >>> trie = Trie(["ab", "abcd"])
        >>> trie.discard("abcd")
        >>> trie.data
        {'a': {'b': {'': 1}}}
        """
        if word in self._tokens:
            del self._tokens[word]
            self.data.discard(word)
            self._changed()

    def __contains__(self, word: object) -> bool:
        return word in self._tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._tokens)!r})"

    def __reduce__(self) -> Any:
        return type(self), (list(self._tokens),)

    def split(self, text: str) -> list[str]:
        """Cut `text` before and after every word found in it, leftmost-longest; the pieces join to the text.

        >>> Trie(["abcd", "bc", "b"]).split("abcx bcd")
        ['a', 'bc', 'x ', 'bc', 'd']

        Returns:
            The pieces in order, none of them empty; `[]` for an empty text.
        """
        return self.cut_text(text, [offset for span in self.find(text) for offset in span])

    def cut_text(self, text: str, offsets: list[int]) -> list[str]:
        """Cut `text` at ascending offsets (code points); empty pieces are left out.

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

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where words occur in `text`: half-open spans of code points, leftmost-longest, in order, disjoint.

        >>> Trie(["ab", "abcd"]).find("abcx abcd")
        [(0, 2), (5, 9)]
        """
        return list(self.scan(text))

    def scan(self, text: str, position: int = 0) -> Iterator[tuple[int, int]]:
        """The spans of `find` one after the other, in the text from a position on."""
        root = self.data
        search = self._start_pattern().search
        length = len(text)
        while position < length:
            # At the root nothing is pending: let the regular expression find the next character that begins a word.
            first = search(text, position)
            if first is None:
                return
            start = first.start()
            position = start + 1
            node: TrieNode = root[first.group()]
            while node is not root:
                child = node.get(text[position]) if position < length else None
                if child is not None:
                    node = child
                    position += 1
                    continue
                # The pops cover the front of the path that began at `start`; the rest of it is the target's path.
                target, pops = self._link(node)
                for first_place, last_place in pops:
                    yield start + first_place, start + last_place
                node, start = target, start + node.depth - target.depth

    def _link(self, node: TrieNode) -> _Link:
        """The failure link of `node`: the node that the rest of its path leads to, and the spans of its pops."""
        generation = self._generation
        link: tuple[int, _Link] | None = node.link
        if link is not None and link[0] == generation:
            return link[1]
        for step in node.path_to(self.data):  # parents first, so that nothing recurses along the path
            if step.link is None or step.link[0] != generation:
                step.link = (generation, self._work_out_link(step))
        found: _Link = node.link[1]
        return found

    def _work_out_link(self, node: TrieNode) -> _Link:
        root = self.data
        if self._settles(node):
            return root, ((0, node.depth),)
        above = node.parent
        assert above is not None  # the root never fails
        # Begin at the target of the parent's link; follow links until a node has a child for this node's character.
        rest, pops = (root, ()) if above is root else self._link(above)
        while True:
            child = rest.get(node.char)
            if child is not None and child is not node:
                return child, pops
            if rest is root:
                return root, pops  # the character begins no word: it stays text
            start = above.depth - rest.depth
            rest, more = self._link(rest)
            pops = pops + tuple((start + first, start + last) for first, last in more)

    def _end_mark(self, word: str) -> int:
        """The value that marks the end of `word` in `data`."""
        return 1

    def _settles(self, node: TrieNode) -> bool:
        """Whether a walk that fails at `node` takes the word that ends there: always, when the longest is wanted."""
        return END in node

    def _start_pattern(self) -> re.Pattern[str]:
        generation = self._generation
        kept = self._starts
        if kept is None or kept[0] != generation:
            chars = "".join(map(re.escape, self.data))
            kept = self._starts = generation, re.compile(f"[{chars}]" if chars else r"(?!)")
        return kept[1]

    def _changed(self) -> None:
        self._generation += 1


# ---- immutable mappings and sets of words that are extended one by one -----------------------------------------------

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

RATIO = 8  # a layer has at least so many times as many items as the next, smaller layer


class Layers(Mapping[_Key, _Value]):
    """A read-only mapping; the cost of `with_items` depends on the number of new items, not of all.

    Each layer is at least `RATIO` times as big as the next, so there are few layers, and an item is copied O(log n)
    times while n others are added.

    Args:
        items: the items to begin with; the mapping is used without a copy and must not be changed afterwards.

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
        """These items and more; one whose key is there already takes the new value and keeps its place."""
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
        """All items as one dict, in the order in which they were added; made once. It must not be changed."""
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
        """The value of a key, or `default`."""
        if self._flat is not None:
            return self._flat.get(key, default)
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        return default

    def __contains__(self, key: object) -> bool:
        for layer in self._layers:  # noqa: SIM110 -- half the time of any()
            if key in layer:
                return True
        return False

    def to_look_up(self, count: int) -> Mapping[_Key, _Value]:
        """The same items, in the form that is the cheapest to look up so many keys in."""
        return self.flat() if RATIO * count > self._length else self

    def lacks(self, keys: Iterable[_Key]) -> bool:
        """Whether none of the keys is there."""
        return all(layer.keys().isdisjoint(keys) for layer in self._layers)

    def __iter__(self) -> Iterator[_Key]:
        return iter(self.flat())

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.flat()!r})"

    def __reduce__(self) -> tuple[type[Layers[_Key, _Value]], tuple[dict[_Key, _Value]]]:
        return type(self), (self.flat(),)


# A fast test that rules out that any of many words occurs in a text: every word has a *key character*, which is one
# of its characters: one already chosen for another word if it has one, else its rarest in ordinary text. A text
# without any key character contains none of the words, and a compiled character class finds that out at the speed of
# C. Words such as `<ent>` or `drug-4711` have key characters that most texts lack.


# Characters by how often English texts have them, the most common first; any other is rarer than all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


class Prefilter:
    """Tests whether any of some words may occur in a text; an empty word is ignored.

    Attributes:
        keys: the key characters; every word has one of them.

    >>> keys = Prefilter(["<ent>", "drug-4711", "<sep>"])
    >>> keys.any_in("plain text"), keys.any_in("a < b")
    (False, True)
    """

    __slots__ = ("_search", "keys")

    def __init__(self, words: Iterable[str] = (), keys: frozenset[str] = frozenset()) -> None:
        new = set(keys)
        for word in filter(new.isdisjoint, filter(None, words)):
            new.add(min(word, key=_commonness))
        self.keys = frozenset(new)
        self._search: Callable[[str], object] | None = None

    def any_in(self, text: str) -> bool:
        """Whether one of the words may occur in `text`: False is certain, True needs a search."""
        if self._search is None:
            chars = "".join(map(re.escape, sorted(self.keys)))
            self._search = re.compile(f"[{chars}]" if chars else r"(?!)").search
        return self._search(text) is not None


_ASCII = tuple(map(chr, range(0x80)))
_ASCII_ALPHANUMERICS = "[A-Za-z0-9]+"


def _is_ascii_word(word: str) -> bool:
    return word.isascii() and word.isalnum()


def _commonness(char: str) -> int:
    """How common a character is in texts: 0 for digits, most signs and other scripts, more for letters."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position


# A `WordSearch` consists of a few parts, each much smaller than the one before, as in `Layers`. `with_words` returns
# a new `WordSearch` that shares the big parts. A small part is searched by one compiled pattern, a big part by a
# trie, unless a prefilter finds at the speed of C that the text contains none of its words. A pattern begins anew at
# each character, so a long word that resembles the text costs its length there each time; long words therefore need a
# trie. To build one takes long: until much text has been searched, every stretch as long as some word is looked up.


Span = tuple[int, int]

FEW = 32  # words: a part of at most so many is searched by one pattern,
FEW_CHARS = 1024  # if they have at most so many code points: a pattern may compare all of them at each character
LOOKUPS_A_WORD = 32  # in a bigger part so many take less time than to build the trie, so that waits until then


class WordSearch:
    """Finds where the words of a set occur in texts.

    Args:
        words: none empty, none twice.
        first_wins: of the words that begin at one character, take the one that comes first in `words`; else the
            longest.

    >>> WordSearch(["ab", "abcd"]).find("abcx abcd"), WordSearch(["ab", "abcd"], first_wins=True).find("abcx abcd")
    ([(0, 2), (5, 9)], [(0, 2), (5, 7)])
    """

    __slots__ = ("_first_wins", "parts")

    def __init__(self, words: Iterable[str] = (), *, first_wins: bool = False) -> None:
        self._first_wins = first_wins
        part = Part(dict.fromkeys(words), first_wins)
        self.parts: tuple[Part, ...] = (part,) if part.words else ()

    def with_words(self, words: Iterable[str]) -> WordSearch:
        """The search for these words and more, which come last."""
        new = Part(dict.fromkeys(words), self._first_wins)
        if not new.words:
            return self
        parts = [*self.parts, new]
        while len(parts) > 1 and len(parts[-2].words) < RATIO * len(parts[-1].words):
            top = parts.pop()
            parts[-1] = Part({**parts[-1].words, **top.words}, self._first_wins)
        search = WordSearch(first_wins=self._first_wins)
        search.parts = tuple(parts)
        return search

    def find(self, text: str) -> list[Span]:
        """Where words occur: half-open spans of code points, in order, disjoint."""
        if not self.parts:
            return []
        if len(self.parts) == 1:
            return self.parts[0].find(text)
        found = [(part, spans) for part in self.parts if (spans := part.find(text))]
        if len(found) <= 1:
            return found[0][1] if found else []
        return list(self._merged(text, [part for part, _ in found]))

    def stands_in(self, text: str) -> bool:
        """Whether any word occurs in `text`."""
        for part in self.parts:  # noqa: SIM110 -- half the time of any()
            if part.stands_in(text):
                return True
        return False

    @property
    def ascii_word_keys(self) -> frozenset[str]:
        """Characters of which every word that is made of ASCII letters and digits holds one; empty if there is none."""
        return frozenset[str]().union(*[part.ascii_word_keys for part in self.parts])

    @property
    def has_spaces(self) -> bool:
        """Whether some word holds single spaces between words."""
        return any(part.heads for part in self.parts)

    @property
    def has_odd_spaces(self) -> bool:
        """Whether some word holds other whitespace."""
        return any(part.has_odd_spaces for part in self.parts)

    def may_begin_at_the_end_of(self, chunk: str) -> bool:
        """Whether a chunk ends with the part of some word before its first space."""
        return any(chunk[-length:] in heads for part in self.parts for length, heads in part.heads.items())

    def _merged(self, text: str, parts: list[Part]) -> Iterator[Span]:
        """The spans of several parts: takes the leftmost of the parts' next matches, and repeats.

        A part whose next match begins inside the match taken searches again from that match's end.
        """
        scans = [part.scan(text, 0) for part in parts]
        heads = [next(scan, None) for scan in scans]
        position = 0
        while True:
            best: Span | None = None
            for number, head in enumerate(heads):
                if head is not None and head[0] < position:
                    scans[number] = parts[number].scan(text, position)
                    head = heads[number] = next(scans[number], None)
                if head is not None and (best is None or self._comes_before(head, best)):
                    best = head
            if best is None:
                return
            yield best
            position = best[1]

    def _comes_before(self, span: Span, best: Span) -> bool:
        """Whether a later part's span is to be taken instead of that of an earlier one."""
        return span[0] < best[0] or (span[0] == best[0] and not self._first_wins and span[1] > best[1])


class Part:
    """Some words that are searched together.

    Attributes:
        words: in their order, as the keys of a dict.
        patterns: the same for a compiled kernel, once it has asked.
    """

    patterns: Any = None

    def __init__(self, words: dict[str, None], first_wins: bool) -> None:
        self.words = words
        self._first_wins = first_wins
        self._has_pattern = len(words) <= FEW and sum(map(len, words)) <= FEW_CHARS
        self._trie: Trie | None = None
        self._lookups_left = LOOKUPS_A_WORD * len(words)

    def find(self, text: str) -> list[Span]:
        """Where words occur in `text`."""
        if self._has_pattern:
            return [match.span() for match in self._pattern.finditer(text)]
        return list(self.scan(text, 0)) if self._prefilter.any_in(text) else []

    def scan(self, text: str, position: int) -> Iterator[Span]:
        """The spans in what follows a position, one after the other."""
        if self._has_pattern:
            return (match.span() for match in self._pattern.finditer(text, position))
        if self._trie is None:
            self._lookups_left -= len(self._lengths) * (len(text) - position)
            if self._lookups_left >= 0:
                return self._look_up(text, position)
            self._trie = _FirstAddedTrie(self.words) if self._first_wins else Trie(self.words)
        return self._trie.scan(text, position)

    def prepare(self) -> None:
        """Work out what a search needs, so that no text has to wait for it."""
        _ = self._prefilter, self._lengths, self.keys, self.characters

    def stands_in(self, text: str) -> bool:
        """Whether any word occurs in `text`."""
        return self._pattern.search(text) is not None if self._has_pattern else bool(self.find(text))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = self.words if self._first_wins else sorted(self.words, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, words)))

    @cached_property
    def _prefilter(self) -> Prefilter:
        return Prefilter(self.words)

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted(set(map(len, self.words)), reverse=True)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return dict(zip(self.words, count()))

    def _look_up(self, text: str, start: int) -> Iterator[Span]:
        """`scan` without the trie: looks up every stretch that is as long as some word."""
        words, lengths = self.words, self._lengths
        while start < len(text):
            found = [word for length in lengths if (word := text[start : start + length]) in words]
            if not found:
                start += 1
                continue
            word = min(found, key=self._ranks.__getitem__) if self._first_wins and len(found) > 1 else found[0]
            yield start, start + len(word)
            start += len(word)

    # ---- what the words are like, for an encoder that cuts texts at spaces first -------------------------------------

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters of all words."""
        joined = "".join(self.words)
        return frozenset(filter(joined.__contains__, _ASCII)) if joined.isascii() else frozenset(joined)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Characters of which every word holds one, and of a word with single spaces the part before the first too.

        Letters and digits of ASCII are keys only of words made of such; of others one of their other characters is.

        >>> sorted(WordSearch(["<ent>", "b2b", "new-york"]).parts[0].keys)
        ['-', '2', '<']
        """
        keys: set[str] = set()
        words = [*self.words, *chain.from_iterable(self.heads.values())]
        is_ascii_word = str.isalnum if all(map(str.isascii, self.characters)) else _is_ascii_word
        for word in filter(keys.isdisjoint, filterfalse(is_ascii_word, words)):
            keys.add(min(re.sub(_ASCII_ALPHANUMERICS, "", word), key=_commonness))
        for word in filter(keys.isdisjoint, words):
            keys.add(min(word, key=_commonness))
        return frozenset(keys)

    @cached_property
    def ascii_word_keys(self) -> frozenset[str]:
        """See `WordSearch.ascii_word_keys`."""
        has_ascii_words = any(map(_is_ascii_word, self.words))
        return frozenset(filter(_is_ascii_word, self._prefilter.keys if has_ascii_words else ()))

    @cached_property
    def has_odd_spaces(self) -> bool:
        """Whether some word contains whitespace other than single spaces between words."""
        return self._has_spaces and any(word.split() != word.split(" ") for word in self.words)

    @cached_property
    def heads(self) -> dict[int, set[str]]:
        """The part before the first space, of each word with spaces between words, by the length of that part."""
        heads: dict[int, set[str]] = {}
        for word in self.words if self._has_spaces else ():
            head, space, _ = word.partition(" ")
            if space and word.split() == word.split(" "):
                heads.setdefault(len(head), set()).add(head)
        return heads

    @cached_property
    def _has_spaces(self) -> bool:
        return any(map(str.isspace, self.characters))


class _FirstAddedTrie(Trie):
    """A trie in which, of the words that begin at one character, the one added first wins, not the longest."""

    def _end_mark(self, word: str) -> int:
        return len(self._tokens)  # the rank of the word, which has just been added

    def _settles(self, node: TrieNode) -> bool:
        rank = node.get(END)
        if rank is None:
            return False
        above = node.parent
        while above is not None:
            if above.get(END, rank) < rank:
                return False
            above = above.parent
        return True
