"""The added tokens of a tokenizer as the Rust tokenizers look for them.

In: a text. Out: where added tokens stand in it. Tokens that are not `normalized` (special ones) are looked for in the
raw text, the others in the normalized text of what is between, by their own normalized form. In either list the longest
of the leftmost counts, before it is asked whether it may stand; whitespace that `lstrip` and `rstrip` take belongs to
the token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from trietok.text.added_token import AddedToken
from trietok.text.added_tokens import AddedTokens
from trietok.text.rust_basic_tokenizer import RustBasicTokenizer
from trietok.text.rust_characters import boundaries, is_in


class Part(NamedTuple):
    """A stretch of a text; `content` is that of the added token it is, None for what is between.

    Parts are in order and none is empty. They may overlap, where a token of whitespace was eaten by another.
    """

    start: int
    end: int
    content: str | None


@cache
def _whitespace() -> str:
    """What `lstrip` and `rstrip` eat."""
    bounds = boundaries("split_space")
    return "".join(chr(code) for i in range(0, len(bounds), 2) for code in range(bounds[i], bounds[i + 1]))


@cache
def _run_of_whitespace() -> re.Pattern[str]:
    return re.compile(f"[{_whitespace()}]*")


class _Patterns:
    """Texts to look for, and the content of the token that each stands for; of equal patterns the first counts."""

    def __init__(self) -> None:
        self.tokens = AddedTokens()
        self.contents: dict[str, str] = {}
        self._of_special: set[str] = set()  # they are listed before the others

    def add(self, patterns: Iterable[tuple[str, AddedToken]]) -> None:
        new: dict[int, AddedToken] = {}
        for pattern, token in patterns:
            if not pattern:  # nothing is left of it: it stands nowhere
                continue
            if pattern not in self.contents:
                new[len(self.contents)] = AddedToken(pattern)
                self.contents[pattern] = token.content
            elif token.special and pattern not in self._of_special:
                self.contents[pattern] = token.content
            if token.special:
                self._of_special.add(pattern)
        if new:
            self.tokens.update(new)


class RustAddedTokens(AddedTokens):
    """The added tokens of one tokenizer by id, and where they stand in texts.

    Args:
        decoder: id → token, in the order of adding.
        basic: what normalizes. The patterns of normalized tokens are those of its options when a token was added last,
            as in Rust.

    >>> tokens = RustAddedTokens({5: AddedToken("<A>", normalized=False), 6: AddedToken("New")})
    >>> [part.content for part in tokens.raw_parts("x<A> <a>")], [part.content for part in tokens.raw_parts("New")]
    ([None, '<A>', None], [None])
    >>> tokens.normalized_parts("a new one")[1]
    Part(start=2, end=5, content='New')
    """

    def __init__(
        self, decoder: Mapping[int, AddedToken] | None = None, basic: RustBasicTokenizer | None = None
    ) -> None:
        self.basic = RustBasicTokenizer() if basic is None else basic
        self._first_special: dict[str, AddedToken] = {}  # as each was when it was first special
        self._others: dict[str, list[AddedToken]] = {}  # every adding
        self._make_patterns()
        super().__init__(decoder)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "basic": self.basic}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["decoder"], state["basic"])  # type: ignore[misc]
        self.max_id = state["max_id"]

    # ---- changing them ----------------------------------------------------------------------------------------------

    def update(self, tokens: Mapping[int, AddedToken]) -> None:
        self.set_listed(tokens, tokens.values())

    def set_listed(self, tokens: Mapping[int, AddedToken], listed: Iterable[AddedToken]) -> None:
        """Set the tokens of these ids, and look for `listed` from now on, which may hold a content twice."""
        replaced = {i: self.decoder[i] for i in tokens if i in self.decoder}
        moved = [before.content for i, before in replaced.items() if before.content != tokens[i].content]
        super().update(tokens)
        for content in moved:
            self._forget(content)
        if moved:
            self._make_patterns()
        self._list_tokens(listed)

    def _list_tokens(self, tokens: Iterable[AddedToken]) -> None:
        """Look for these from now on too. What is looked for is never taken back, only `remove` does that."""
        tokens = list(tokens)
        if not tokens:
            return
        for token in tokens:
            if token.special:
                self._first_special.setdefault(token.content, token)
        others = [token for token in tokens if token.content not in self._first_special]
        for token in others:
            self._others.setdefault(token.content, []).append(token)
        if self._made_with != self.basic.version:
            self._make_patterns()
            return
        special = [self._first_special[token.content] for token in tokens if token.content in self._first_special]
        self._list(special + others)

    def remove(self, token_ids: Iterable[int]) -> None:
        token_ids = list(token_ids)
        for token_id in token_ids:
            self._forget(self.decoder[token_id].content)
        super().remove(token_ids)
        self._make_patterns()

    def _forget(self, content: str) -> None:
        self._first_special.pop(content, None)
        self._others.pop(content, None)

    def _make_patterns(self) -> None:
        self.raw, self.normalized = _Patterns(), _Patterns()
        self._made_with = self.basic.version
        self._list([*self._first_special.values(), *(token for several in self._others.values() for token in several)])

    def _list(self, tokens: Iterable[AddedToken]) -> None:
        tokens = list(tokens)
        normalized = self.basic.normalized
        self.raw.add((token.content, token) for token in tokens if not token.normalized)
        self.normalized.add((normalized(token.content), token) for token in tokens if token.normalized)

    def reorder(self, token_ids: Iterable[int]) -> None:
        token_ids = list(token_ids)
        super().reorder(token_ids)
        for content in (self.decoder[token_id].content for token_id in token_ids if token_id in self.decoder):
            if content in self._first_special:
                self._first_special[content] = self._first_special.pop(content)
            if content in self._others:
                self._others[content] = self._others.pop(content)
        if token_ids:
            self._make_patterns()

    def order_that_counts(self) -> list[int] | None:
        """The ids in the order of adding, where the order of the ids would make other tokens stand in texts.

        That is so where two tokens are alike once they are normalized, and the first has the higher id.

        >>> RustAddedTokens({7: AddedToken("World"), 5: AddedToken("world")}).order_that_counts()
        [7, 5]
        """
        if len(self.raw.contents) + len(self.normalized.contents) == len(self.decoder):
            return None  # each token has a pattern, so no two are alike
        as_added, by_id = (RustAddedTokens(dict(order), self.basic) for order in (self.decoder, self.by_id))
        if as_added.normalized.contents == by_id.normalized.contents:
            return None
        return list(self.decoder)

    # ---- looking for them -------------------------------------------------------------------------------------------

    @property
    def contents_special(self) -> Collection[str]:
        """The contents of the tokens that are special, or once were."""
        return self._first_special.keys()

    def raw_parts(self, text: str, skip: Collection[str] = ()) -> list[Part]:
        """Cut a raw text at the tokens that are not normalized; `skip` is the contents that count for nothing."""
        return self._parts(self.raw, text, skip)

    def normalized_parts(self, text: str, skip: Collection[str] = ()) -> list[Part]:
        """Cut a normalized text at the tokens that are normalized."""
        return self._parts(self.normalized, text, skip)

    def _parts(self, patterns: _Patterns, text: str, skip: Collection[str]) -> list[Part]:
        parts: list[Part] = []
        position = 0
        # All matches are found before any takes its whitespace.
        for start, end in patterns.tokens.find(text) if patterns.contents else ():
            content = patterns.contents[text[start:end]]
            if content in skip:
                continue
            token = self.decoder[self.encoder[content]]  # its flags are those it has now
            if token.single_word and (_is_word(text, start - 1) or _is_word(text, end)):
                continue
            if token.lstrip:
                start = position + len(text[position:start].rstrip(_whitespace()))
            if token.rstrip:
                end = _run_of_whitespace().match(text, end).end()  # type: ignore[union-attr]
            if start >= end:  # whitespace that another token has eaten; the Rust library stops here
                continue
            if start > position:
                parts.append(Part(position, start, None))
            parts.append(Part(start, end, content))
            position = end
        if position < len(text):
            parts.append(Part(position, len(text), None))
        return parts


def _is_word(text: str, position: int) -> bool:
    return 0 <= position < len(text) and is_in("word", text[position])
