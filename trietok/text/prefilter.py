"""Telling at a glance that none of many words stands in a text.

In: words, then a text. Out: False where none of them can be in it.

Every word has a *key character*: one of its own, the rarest in ordinary text, or one that is the key of another word
already. A text without any key character holds none of the words, and a compiled character class finds that out at the
speed of C. Words such as `<ent>` or `drug-4711` have keys that most texts lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Characters by how often English texts have them, the most common first; any other is rarer than all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


class KeyCharacters:
    """The key characters of a set of words.

    >>> keys = KeyCharacters(["<ent>", "drug-4711", "<sep>"])
    >>> keys.any_in("plain text"), keys.any_in("a < b")
    (False, True)
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._keys: set[str] = set()
        self._pattern: tuple[int, re.Pattern[str]] | None = None  # and of how many keys
        self.update(words)

    def update(self, words: Iterable[str]) -> None:
        """Take words in; an empty one has no key and is ignored."""
        lacks_key = self._keys.isdisjoint
        for word in words:
            if lacks_key(word) and word:
                self._keys.add(min(word, key=_commonness))

    def any_in(self, text: str) -> bool:
        """Whether one of the words may stand in `text`: False is certain, True is to be looked into."""
        count = len(self._keys)
        kept = self._pattern
        if kept is None or kept[0] != count:
            chars = "".join(map(re.escape, sorted(self._keys)))
            kept = self._pattern = count, re.compile(f"[{chars}]" if chars else r"(?!)")
        return kept[1].search(text) is not None


def _commonness(char: str) -> int:
    """How common a character is in texts: 0 for digits, most signs and other scripts, more for letters."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position
