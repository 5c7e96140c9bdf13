"""A fast test that rules out that any of many words occurs in a text.

In: words, then a text. Out: False if none of the words can be in it.

Every word has a *key character*, which is one of its characters: one already chosen for another word if it has one,
else its rarest in ordinary text. A text without any key character contains none of the words, and a compiled character
class finds that out at the speed of C. Words such as `<ent>` or `drug-4711` have key characters that most texts lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# Characters by how often English texts have them, the most common first; any other is rarer than all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


class Prefilter:
    """Tests whether any of some words may occur in a text.

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
        """The key characters; every word but an empty one has one of them."""
        return self._keys

    def with_words(self, words: Iterable[str]) -> Prefilter:
        """The same test for more words; an empty word is ignored."""
        return Prefilter(words, self._keys)

    def any_in(self, text: str) -> bool:
        """Whether one of the words may occur in `text`: False is certain, True needs a search."""
        if self._search is None:
            chars = "".join(map(re.escape, sorted(self._keys)))
            self._search = re.compile(f"[{chars}]" if chars else r"(?!)").search
        return self._search(text) is not None


def _commonness(char: str) -> int:
    """How common a character is in texts: 0 for digits, most signs and other scripts, more for letters."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position
