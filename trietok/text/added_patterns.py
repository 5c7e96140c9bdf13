"""What texts are searched for: the patterns of added tokens, and the tokens that are matched as
they are written.

In: tokens, more of them, then a text. Out: where they stand, or the text lower-cased between them.
Each grows by making another one, which shares its big parts with the one before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from trietok.text.added_tokens import AddedToken
from trietok.text.characters import lower_each
from trietok.text.trie import Layers
from trietok.text.word_search import Prefilter, WordSearch

if TYPE_CHECKING:
    from trietok.text.basic_tokenizer import RustBasicTokenizer


class Patterns:
    """Texts to search for, and the content of the token that each stands for; of equal patterns the
    first is used.

    Attributes:
        search: finds the patterns in a text.
        contents: pattern → content.
    """

    def __init__(self) -> None:
        self.search = WordSearch()
        self.contents: Layers[str, str] = Layers({})
        self._of_special: frozenset[str] = frozenset()  # they are listed before the others

    def with_tokens(self, patterns: Collection[tuple[str, AddedToken]]) -> Patterns:
        """These patterns and more."""
        there = self.contents.to_look_up(len(patterns))
        contents: dict[str, str] = {}
        special: set[str] = set()
        for pattern, token in patterns:
            if not pattern:  # normalizing left nothing of it, so it occurs nowhere
                continue
            if pattern not in there and pattern not in contents:
                contents[pattern] = token.content
            if token.special and pattern not in special and pattern not in self._of_special:
                contents[pattern] = token.content
                special.add(pattern)
        grown = Patterns()
        grown.search = self.search.with_words(
            [pattern for pattern in contents if pattern not in there]
        )
        grown.contents = self.contents.with_items(contents)
        grown._of_special = self._of_special | special if special else self._of_special
        return grown


class WrittenTokens:
    """The tokens that are matched as written, and so not lower-cased with the text."""

    def __init__(self, special_tokens: tuple[str, ...], tokens: Iterable[AddedToken]) -> None:
        self.special_tokens = special_tokens
        others = (token.content for token in tokens if not token.special)
        contents = tuple(
            dict.fromkeys(content for content in (*special_tokens, *others) if content)
        )
        self._search = WordSearch(contents, first_wins=True)
        # A text that contains no token which lower-casing would change is lower-cased as a whole.
        self._capitals = Prefilter(filter(_has_capitals, contents))

    def with_tokens(self, tokens: Iterable[AddedToken]) -> WrittenTokens:
        """The same with tokens that were not there before."""
        contents = [
            token.content
            for token in tokens
            if not token.special and token.content not in self.special_tokens
        ]
        grown: WrittenTokens = object.__new__(WrittenTokens)
        grown.special_tokens = self.special_tokens
        grown._search = self._search.with_words(contents)
        grown._capitals = Prefilter(filter(_has_capitals, contents), self._capitals.keys)
        return grown

    def lower_between(self, text: str, lowered: str) -> str:
        """`text`, lower-cased between the tokens; `lowered` is all of it lower-cased."""
        if not self._capitals.any_in(text):
            return lowered
        pieces: list[str] = []
        position = 0
        for start, end in self._search.find(text):
            if position < start:
                pieces.append(lower_each(text[position:start]))
            pieces.append(text[start:end])
            position = end
        return "".join((*pieces, lower_each(text[position:])))


def _has_capitals(content: str) -> bool:
    return lower_each(content) != content


def order_counts(decoder: Mapping[int, AddedToken], basic: RustBasicTokenizer) -> bool:
    """Whether texts would give other tokens if these were in the order of their ids."""
    forms = {
        token.content: basic.normalized(token.content)
        for token in decoder.values()
        if token.normalized
    }

    def found(tokens: Iterable[AddedToken]) -> dict[str, str]:
        contents: dict[str, str] = {}
        # Of tokens with the same normalized form a special one is found, and of several the first.
        for token in sorted(
            (token for token in tokens if token.normalized), key=lambda token: not token.special
        ):
            contents.setdefault(forms[token.content], token.content)
        return contents

    return found(decoder.values()) != found(token for _, token in sorted(decoder.items()))
