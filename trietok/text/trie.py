"""The trie that cuts a text at known words, leftmost-longest, in linear time; and searches for sets
of words that grow.

In: words, then a text. Out: the spans where words stand, or the text cut at them. Also here:
`Layers`, a mapping that grows.

An example: the words ab and abcd, and the text abcx. The walk through the trie follows a, b and c,
and x leaves the trie. The characters abc alone decide what follows: ab is a word of the text, and
c, which begins no word, is skipped. The node of abc stores this once, as its *failure link*, and
the walk goes on at x from the root.

A `TrieNode` is a dict from a character to the next node, with the key `""` where a word ends; that
is the nested-dict form transformers shows as `Trie.data`. The failure link of a node holds two
things: the leftmost-longest words of the node's path (its *failure pops*), and the node that the
rest of the path leads to from the root (the link's target). So no character is read twice. The idea
is that of Aho and Corasick (1975) with the pops of LinMaxMatch (Song et al. 2021,
arXiv:2012.15524), extended from "pop a token" to "pop a token or skip a character".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

END = ""  # the key that marks the end of a word: no character equals it
_Span = tuple[int, int]
_Link = tuple["TrieNode", tuple[_Span, ...]]


class TrieNode(dict[str, Any]):
    """One node: its children by character, its place in the trie, and its failure link once
    computed.

    Attributes:
        parent, char: the node above and the character that leads here; None and "" at the root.
        depth: code points from the root.
        link: where a walk that fails here goes on, once the trie's owner has computed it; None
            before.
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
        # Parents make the structure cyclic, and links would become wrong: owners pickle their words
        # instead.
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

    Adding a word of n code points costs O(n). Splitting costs O(text + failure links not yet
    computed); each link is computed once, when a text first needs it. Unlike transformers' trie,
    which goes on with matches that have already failed, the split is leftmost-longest on every
    text: see `docs/hf_compatibility.md`.
    """

    def __init__(self, *args: Iterable[str]) -> None:
        self.data: TrieNode = TrieNode()
        self._tokens: dict[str, None] = {}  # a set that keeps the order of adding
        self._starts: tuple[int, re.Pattern[str]] | None = None  # and its generation
        # A link holds the generation it was computed in, and every change of the words begins
        # another generation. So a change need not touch existing links, and a link that another
        # thread computes meanwhile is never used.
        self._generation = 0
        self.update(*args)

    def add(self, word: str) -> None:
        """Add one word. An empty one is ignored, and adding a word again changes nothing, as in
        transformers.

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
        new = [
            word
            for words in args
            for word in dict.fromkeys(words)
            if word and word not in self._tokens
        ]
        for word in new:
            if not isinstance(word, str):
                raise TypeError(f"a trie holds strings, not {type(word).__name__}: {word!r}")
        if not new:
            return
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
        """Cut `text` before and after every word found in it, leftmost-longest; the pieces join to
        the text.

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
        """Where words occur in `text`: half-open spans of code points, leftmost-longest, in order,
        disjoint.

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
            # At the root nothing is pending: let the regular expression find the next character
            # that begins a word.
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
                # The pops cover the front of the path that began at `start`; the rest of it is the
                # target's path.
                target, pops = self._link(node)
                for first_place, last_place in pops:
                    yield start + first_place, start + last_place
                node, start = target, start + node.depth - target.depth

    def _link(self, node: TrieNode) -> _Link:
        """The failure link of `node`: the node that its path's rest leads to, and its pops."""
        generation = self._generation
        link: tuple[int, _Link] | None = node.link
        if link is not None and link[0] == generation:
            return link[1]
        # parents first, so that nothing recurses along the path
        for step in node.path_to(self.data):
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
        # Begin at the target of the parent's link; follow links until a node has a child for this
        # node's character.
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
        """Whether a walk that fails at `node` takes the word there: always, for the longest."""
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


# ---- immutable mappings and sets of words that are extended one by one ---------------------------

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

RATIO = 8  # a layer has at least so many times as many items as the next, smaller layer


class Layers(Mapping[_Key, _Value]):
    """A read-only mapping; the cost of `with_items` depends on the number of new items, not of all.

    Each layer is at least `RATIO` times as big as the next, so there are few layers, and an item is
    copied O(log n) times while n others are added.

    Args:
        items: the items to begin with; the mapping is used without a copy and must not be changed
            afterwards.

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
        """These items and more; one that is there takes the new value and keeps its place."""
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
        """All items as one dict in the order of adding, made once. It must not be changed."""
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

    def with_last(self, keys: Iterable[_Key]) -> dict[_Key, _Value]:
        """The items, with those of some keys moved to the end in this order."""
        items = dict(self.flat())
        for key in keys:
            if key in items:
                items[key] = items.pop(key)
        return items

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
