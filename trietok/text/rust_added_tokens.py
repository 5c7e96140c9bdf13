"""The added tokens of a tokenizer, searched as in the Rust tokenizers.

In: a text. Out: where added tokens occur in it. Tokens that are not `normalized` (special ones) are searched in the raw
text. Tokens with `normalized` are searched, in normalized form, in the normalized text between those. Each search takes
the leftmost-longest match first and then checks whether it is allowed (`single_word`). Whitespace that `lstrip` and
`rstrip` take becomes part of the token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from trietok.text.added_tokens import AddedToken, AddedTokens, order_counts
from trietok.text.alignment import RejectedMatch
from trietok.text.basic_tokenizer import RustBasicTokenizer
from trietok.text.characters import boundaries, is_in
from trietok.text.trie import Layers, WordSearch

if TYPE_CHECKING:
    from typing_extensions import Self

_Value = TypeVar("_Value")


class Part(NamedTuple):
    """A stretch of a text: an added token with its `content`, or text between added tokens, with `content` None.

    Parts are in order and none is empty. They may overlap, if a token took another one that consists of whitespace.
    """

    start: int
    end: int
    content: str | None


@cache
def _whitespace() -> str:
    """The characters that `lstrip` and `rstrip` take."""
    bounds = boundaries("split_space")
    return "".join(chr(code) for i in range(0, len(bounds), 2) for code in range(bounds[i], bounds[i + 1]))


@cache
def _run_of_whitespace() -> re.Pattern[str]:
    return re.compile(f"[{_whitespace()}]*")


class Patterns:
    """Texts to search for, and the content of the token that each stands for; of equal patterns the first is used.

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
        grown.search = self.search.with_words([pattern for pattern in contents if pattern not in there])
        grown.contents = self.contents.with_items(contents)
        grown._of_special = self._of_special | special if special else self._of_special
        return grown


class RustAddedTokens(AddedTokens):
    """Added tokens by id, and where they occur in texts.

    Args:
        decoder: id → token, in the order of adding.
        basic: the tokenizer that normalizes; it is not changed. The patterns of normalized tokens follow the options
            that it had when a token was last added, as in Rust.

    >>> tokens = RustAddedTokens({5: AddedToken("<A>", normalized=False), 6: AddedToken("New")})
    >>> [part.content for part in tokens.raw_parts("x<A> <a>")], [part.content for part in tokens.raw_parts("New")]
    ([None, '<A>', None], [None])
    >>> tokens.normalized_parts("a new one")[1]
    Part(start=2, end=5, content='New')
    """

    def __init__(
        self, decoder: Mapping[int, AddedToken] | None = None, max_id: int = -1, basic: RustBasicTokenizer | None = None
    ) -> None:
        super().__init__(decoder, max_id)
        self.basic = RustBasicTokenizer() if basic is None else basic
        # Each special token as it was when it was first marked special; and the other tokens, once for each adding.
        self._first_special: Layers[str, AddedToken] = Layers({})
        self._others: Layers[str, tuple[AddedToken, ...]] = Layers({})
        self.raw = self.normalized = Patterns()
        self._look_for((decoder or {}).values())

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "basic": self.basic}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["decoder"], state["max_id"], state["basic"])  # type: ignore[misc]

    # ---- changed copies ---------------------------------------------------------------------------------------------

    def with_tokens(self, tokens: Mapping[int, AddedToken]) -> Self:
        return self.with_listed(tokens, tokens.values(), self.basic)

    def with_listed(
        self, tokens: Mapping[int, AddedToken], listed: Iterable[AddedToken], basic: RustBasicTokenizer
    ) -> Self:
        """The same with the tokens of these ids, and with `listed` searched for, which may hold a content twice.

        Args:
            tokens: id → token.
            listed: the tokens that are added, in the order of adding.
            basic: the tokenizer that normalizes now.
        """
        moved = [
            before.content
            for token_id, token in tokens.items()
            if (before := self.decoder.get(token_id)) is not None and before.content != token.content
        ]
        grown = super().with_tokens(tokens)
        if grown is self:
            grown = self._copy()
        if moved:
            grown._forget(moved)
        listed = list(listed)
        if moved or (listed and _options(basic) != _options(grown.basic)):
            grown.basic = basic
            grown._make_patterns()
        grown._look_for(listed)
        return grown

    def without_ids(self, token_ids: Iterable[int]) -> Self:
        token_ids = list(token_ids)
        left = super().without_ids(token_ids)
        left._forget([self.decoder[token_id].content for token_id in token_ids])
        left._make_patterns()
        return left

    def _made_of(self, decoder: dict[int, AddedToken], max_id: int) -> Self:
        other = self._copy()
        AddedTokens.__init__(other, decoder, max_id)  # a pattern stays until its token is removed
        return other

    # The methods below change the object; they are called only on a copy that is not yet in use.

    def _look_for(self, tokens: Iterable[AddedToken]) -> None:
        tokens = list(tokens)
        first_special: dict[str, AddedToken] = {}
        for token in tokens:
            if token.special and token.content not in self._first_special:
                first_special.setdefault(token.content, token)
        self._first_special = self._first_special.with_items(first_special)
        was_special = self._first_special.to_look_up(len(tokens))
        others = [token for token in tokens if token.content not in was_special]
        before = self._others.to_look_up(len(others))
        every: dict[str, tuple[AddedToken, ...]] = {}
        for token in others:
            every[token.content] = (*(every.get(token.content) or before.get(token.content, ())), token)
        self._others = self._others.with_items(every)
        special = [was_special[token.content] for token in tokens if token.content in was_special]
        self._list(special + others)

    def _forget(self, contents: Iterable[str]) -> None:
        gone = set(contents)
        special, others = self._first_special.flat(), self._others.flat()
        self._first_special = Layers({content: token for content, token in special.items() if content not in gone})
        self._others = Layers({content: tokens for content, tokens in others.items() if content not in gone})

    def _make_patterns(self) -> None:
        self.raw = self.normalized = Patterns()
        others = (token for several in self._others.flat().values() for token in several)
        self._list([*self._first_special.flat().values(), *others])

    def _list(self, tokens: list[AddedToken]) -> None:
        normalized = [token for token in tokens if token.normalized]
        forms = self.basic.normalized_each([token.content for token in normalized])
        self.raw = self.raw.with_tokens([(token.content, token) for token in tokens if not token.normalized])
        self.normalized = self.normalized.with_tokens(list(zip(forms, normalized, strict=True)))

    def reordered(self, token_ids: Iterable[int]) -> Self:
        token_ids = list(token_ids)
        other = super().reordered(token_ids)
        if other is self:
            return self
        contents = [self.decoder[token_id].content for token_id in token_ids if token_id in self.decoder]
        other._first_special = _behind(self._first_special, contents)
        other._others = _behind(self._others, contents)
        other._make_patterns()
        return other

    def order_that_counts(self) -> list[int] | None:
        """The ids in the order of adding, if texts would give other tokens in the order of the ids; else None.

        That is the case if two tokens have the same normalized form, and the one added first has the higher id.

        >>> RustAddedTokens({7: AddedToken("World"), 5: AddedToken("world")}).order_that_counts()
        [7, 5]
        """
        if len(self.raw.contents) + len(self.normalized.contents) == len(self.decoder):
            return None  # each token has a pattern, so no two have the same one
        return list(self.decoder) if order_counts(self.decoder, self.basic) else None

    def remembers(self, basic: RustBasicTokenizer) -> bool:
        """Whether texts are searched for what no file says: tokens as they were before they were added again.

        Args:
            basic: the tokenizer that normalizes, as a file says it.

        >>> token = AddedToken("a", special=True)
        >>> tokens = RustAddedTokens({5: token})
        >>> again = tokens.with_tokens({5: AddedToken("a", single_word=True)})
        >>> tokens.remembers(tokens.basic), again.remembers(tokens.basic)
        (False, True)
        """
        said = RustAddedTokens(self.decoder.flat(), self.max_id, basic)
        return any(
            dict(here.flat()) != dict(there.flat())
            for here, there in (
                (self.raw.contents, said.raw.contents),
                (self.normalized.contents, said.normalized.contents),
            )
        ) or set(self._first_special.flat()) != set(said._first_special.flat())

    # ---- searching for them -----------------------------------------------------------------------------------------

    @property
    def searches(self) -> list[WordSearch]:
        return [self.raw.search, self.normalized.search]

    @property
    def contents_special(self) -> Collection[str]:
        """The contents of the tokens that are special, or once were."""
        return self._first_special

    def raw_parts(
        self, text: str, skip: Collection[str] = (), rejected: list[RejectedMatch] | None = None
    ) -> list[Part]:
        """Cut a raw text at the tokens that are not normalized.

        Args:
            text: the text.
            skip: contents that are treated as text.
            rejected: gets the matches that `single_word` does not allow.
        """
        return self._parts(self.raw, text, skip, rejected)

    def normalized_parts(
        self, text: str, skip: Collection[str] = (), rejected: list[RejectedMatch] | None = None
    ) -> list[Part]:
        """Cut a normalized text at the tokens that are normalized; the arguments are those of `raw_parts`."""
        return self._parts(self.normalized, text, skip, rejected)

    def _parts(
        self, patterns: Patterns, text: str, skip: Collection[str], rejected: list[RejectedMatch] | None
    ) -> list[Part]:
        parts: list[Part] = []
        position = 0
        run_end = -1  # of the whitespace that was last looked at from `run_start` on, which many tokens may be part of
        run_start = 0
        # All matches are found before any takes its whitespace.
        for start, end in patterns.search.find(text):
            content = patterns.contents[text[start:end]]
            if content in skip:
                continue
            token = self.decoder[self.encoder[content]]  # with the flags that it has now
            if token.single_word and (_is_word(text, start - 1) or _is_word(text, end)):
                if rejected is not None:
                    rejected.append((start, end, content))
                continue
            if token.lstrip:
                start = position + len(text[position:start].rstrip(_whitespace()))
            if token.rstrip:
                if not run_start <= end <= run_end:
                    run_start, run_end = end, _run_of_whitespace().match(text, end).end()  # type: ignore[union-attr]
                end = run_end
            if start >= end:  # whitespace that another token has taken; the Rust library stops here
                continue
            if start > position:
                parts.append(Part(position, start, None))
            parts.append(Part(start, end, content))
            position = end
        if position < len(text):
            parts.append(Part(position, len(text), None))
        return parts


def _behind(layers: Layers[str, _Value], keys: Iterable[str]) -> Layers[str, _Value]:
    """The items with those of some keys last, in this order."""
    items = dict(layers.flat())
    for key in keys:
        if key in items:
            items[key] = items.pop(key)
    return Layers(items)


def _is_word(text: str, position: int) -> bool:
    return 0 <= position < len(text) and is_in("word", text[position])


def _options(basic: RustBasicTokenizer) -> tuple[object, ...]:
    return basic.do_lower_case, basic.tokenize_chinese_chars, basic.strip_accents, basic.clean_text
