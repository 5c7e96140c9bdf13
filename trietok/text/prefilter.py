"""Telling at a glance that none of many words stands in a text.

In: words, then a text. Out: False where none of them can be in it.

Every word has a *key character*: one of its own, the rarest in ordinary text, or one that is the key of another word
already. A text without any key character holds none of the words, and a compiled character class finds that out at the
speed of C. Words such as `<ent>` or `drug-4711` have keys that most texts lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# Characters by how often English texts have them, the most common first; any other is rarer than all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


class Prefilter:
    """One look that tells that none of some words is in a text.

    >>> keys = Prefilter(["<ent>", "drug-4711", "<sep>"])
    >>> keys.any_in("plain text"), keys.any_in("a < b")
    (False, True)
    """

    __slots__ = ("_keys", "_search")

    def __init__(self, words: Iterable[str] = (), keys: frozenset[str] = frozenset()) -> None:
        new = set(keys)
        lacks_key = new.isdisjoint
        for word in words:
            if word and lacks_key(word):
                new.add(min(word, key=_commonness))
        self._keys = frozenset(new)
        self._search: Callable[[str], object] | None = None

    @property
    def keys(self) -> frozenset[str]:
        """The key characters; every word but an empty one holds one of them."""
        return self._keys

    def with_words(self, words: Iterable[str]) -> Prefilter:
        """The same look for more words; an empty one has no key and is ignored."""
        return Prefilter(words, self._keys)

    def any_in(self, text: str) -> bool:
        """Whether one of the words may stand in `text`: False is certain, True is to be looked into."""
        if self._search is None:
            chars = "".join(map(re.escape, sorted(self._keys)))
            self._search = re.compile(f"[{chars}]" if chars else r"(?!)").search
        return self._search(text) is not None


def _commonness(char: str) -> int:
    """How common a character is in texts: 0 for digits, most signs and other scripts, more for letters."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position
