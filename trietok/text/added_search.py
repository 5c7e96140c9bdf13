"""The added tokens of a tokenizer, and where they stand in texts, in both profiles.

Every search is leftmost-longest: it takes a match first and then checks whether it is allowed.

In the slow profile all tokens are searched at once, as they are written. `lstrip` and `rstrip`
remove the whitespace beside the token, which is what `str.strip` removes, and an adjacent added
token that consists of it. `single_word` requires a Unicode word boundary on both sides. This is as
in transformers' `PreTrainedTokenizer.tokenize`.

In the fast one, which is that of the Rust tokenizers, tokens that are not `normalized` (special
ones) are searched in the raw text, and the others, in normalized form, in the normalized text
between those. Whitespace that `lstrip` and `rstrip` take becomes part of the token.

An `AddedTokens` never changes: adding and removing return another one, which shares its big parts
with the one before. So adding one token costs time for that token only.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Mapping, Set
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.text.added_tokens import AddedToken
from trietok.text.aligned import RejectedMatch
from trietok.text.cache import cached_property
from trietok.text.trie import Layers, Trie, WordSearch, without_hidden
from trietok.text.unicode import characters_in, is_in, lower_each, touches_word
from trietok.text.vocabulary import ReadOnlyDict
from trietok.typing_compat import Self

if TYPE_CHECKING:
    from trietok.text.words import RustBasicTokenizer


class AddedPart(NamedTuple):
    """A stretch of a text: an added token with its `content`, or text between added tokens, with
    `content` None.

    Parts are in order and none is empty. In the fast profile they may overlap, if a token took
    another one that consists of whitespace.
    """

    start: int
    end: int
    content: str | None


class AddedTokens:
    """Added tokens by id. `SlowAddedTokens` and `FastAddedTokens` find them in texts.

    Args:
        decoder: id → token, in the order of adding. Of two ids with one content the later one
            encodes.
        max_id: see the attribute.

    Attributes:
        decoder: id → token, in the order of adding.
        encoder: content → id.
        max_id: the highest id any token has had, -1 before the first: the id of a removed token is
            not given again.
        is_plain: whether no token has `single_word`, `lstrip` or `rstrip`, so that every match is a
            token as it is.
    """

    def __init__(self, decoder: Mapping[int, AddedToken] | None = None, max_id: int = -1) -> None:
        self._set_ids(dict(decoder or {}), max_id)
        self._search_for_all()

    def _set_ids(self, tokens: dict[int, AddedToken], max_id: int) -> None:
        self.decoder: Layers[int, AddedToken] = Layers(tokens)
        self.encoder: Layers[str, int] = Layers(
            {token.content: token_id for token_id, token in tokens.items()}
        )
        self.max_id = max(max_id, max(tokens, default=-1))
        self.is_plain = _are_plain(tokens.values())

    # ---- changed copies --------------------------------------------------------------------------

    def with_tokens(self, tokens: Mapping[int, AddedToken]) -> Self:
        """Return these tokens and more; a token whose id is there takes the place of that one.

        Costs O(code points of what is new); if the content of an id changes, or a content gets
        another id, O(all).
        """
        raise NotImplementedError

    def _with_ids(self, tokens: Mapping[int, AddedToken]) -> tuple[Self, bool]:
        """Return a copy with other ids, and whether no content has lost its id."""
        there = self.decoder
        contents = {token.content: token_id for token_id, token in tokens.items()}
        is_new = there.lacks(tokens) and self.encoder.lacks(contents)
        max_id = max(self.max_id, *tokens)
        other = self._copy()
        if len(contents) == len(tokens) and (is_new or self._keep_contents(tokens)):
            other.decoder = there.with_items(tokens)
            other.encoder = self.encoder.with_items(contents)
            other.max_id = max_id
            if is_new:
                other.is_plain = self.is_plain and _are_plain(tokens.values())
            else:  # the flags of some have changed
                other.is_plain = _are_plain(other.decoder.flat().values())
            return other, True
        other._set_ids({**there.flat(), **tokens}, max_id)
        return other, False

    def _keep_contents(self, tokens: Mapping[int, AddedToken]) -> bool:
        """Return whether the tokens differ in flags only from those that have their ids."""
        decoder, encoder = self.decoder, self.encoder
        return all(
            (decoder[i].content == token.content if i in decoder else token.content not in encoder)
            for i, token in tokens.items()
        )

    def without_ids(self, token_ids: Iterable[int]) -> Self:
        """Return these tokens but those of some ids."""
        gone = set(token_ids)
        other = self._copy()
        other._set_ids(
            {i: token for i, token in self.decoder.flat().items() if i not in gone}, self.max_id
        )
        other._search_for_all()
        return other

    def without(self, contents: Set[str]) -> Self:
        """Return these tokens but those of some contents."""
        gone = [self.encoder[content] for content in contents if content in self.encoder]
        return self.without_ids(gone) if gone else self

    def as_text(self) -> AddedTokens:
        """Return what is left of them where special tokens are text."""
        raise NotImplementedError

    def with_max_id(self, max_id: int) -> Self:
        """Return the same tokens with another `max_id`."""
        other = self._copy()
        other.max_id = max_id
        return other

    def reordered(self, token_ids: Iterable[int]) -> Self:
        """Return the same tokens, with those of `token_ids` moved to the end in this order; unknown
        ids are ignored.

        `encoder` keeps its order: transformers lists the tokens of a loaded directory in that one.
        """
        tokens, encoder = dict(self.decoder.flat()), self.encoder
        last = {token_id: tokens.pop(token_id) for token_id in token_ids if token_id in tokens}
        if not last:
            return self
        other = self._copy()
        other._set_ids({**tokens, **last}, self.max_id)
        other.encoder = encoder
        other._reorder([token.content for token in last.values()])
        return other

    def _reorder(self, last: list[str]) -> None:
        """Search for tokens in another order, with some contents last."""
        self._search_for_all()

    def renumbered(self, decoder: dict[int, AddedToken]) -> Self:
        """Return the same tokens with other ids; `max_id` is the highest of them."""
        other = self._copy()
        other._set_ids(decoder, max(decoder, default=-1))
        return other

    def _copy(self) -> Self:
        other = object.__new__(type(self))
        derived = ("by_id", "ids_by_content", "trie")
        state = dict(self.__dict__)  # at one time: other threads may be deriving values
        other.__dict__.update({name: each for name, each in state.items() if name not in derived})
        return other

    def _search_for_all(self) -> None:
        """Search texts for the tokens, and for nothing else: of a copy that is not yet in use."""

    # ---- looking at them -------------------------------------------------------------------------

    @cached_property
    def by_id(self) -> Mapping[int, AddedToken]:
        """id → token in the order of the ids; read-only."""
        return ReadOnlyDict(sorted(self.decoder.flat().items()))

    @cached_property
    def ids_by_content(self) -> Mapping[str, int]:
        """content → id in the order of the ids; read-only."""
        return ReadOnlyDict({token.content: token_id for token_id, token in self.by_id.items()})

    @cached_property
    def trie(self) -> Trie:
        """A trie of all contents, to look at."""
        return Trie(self.encoder.flat())

    def token(self, content: str) -> AddedToken | None:
        """Return the token of a content, or None."""
        token_id = self.encoder.get(content)
        return None if token_id is None else self.decoder[token_id]

    def order_that_counts(self) -> list[int] | None:
        """Return the ids in the order of adding, if texts would give other tokens in the order of
        the ids; else None.
        """
        return None

    def remembers(self, basic: RustBasicTokenizer) -> bool:
        """Return whether texts are searched for what no file says; see `FastAddedTokens`."""
        return False

    # ---- the split -------------------------------------------------------------------------------

    def split(self, text: str) -> list[str]:
        """Cut a text at the added tokens in it.

        >>> tokens = SlowAddedTokens(
        ...     {5: AddedToken("<a>", rstrip=True), 6: AddedToken("ab", single_word=True)}
        ... )
        >>> tokens.split("x<a>  y ab abc")
        ['x', '<a>', 'y ', 'ab', ' abc']

        Returns:
            The pieces in order, none empty. Joined, they are `text` without the whitespace that
            `lstrip` and `rstrip` removed.
        """
        return [text[start:end] for start, end, _ in self.parts(text)]

    def parts(self, text: str, rejected: list[RejectedMatch] | None = None) -> list[AddedPart]:
        """Return the pieces of `split` by place; `rejected` gets matches that `single_word`
        forbids.
        """
        raise NotImplementedError

    def may_stand_in(self, text: str) -> bool:
        """Return whether a token may occur in a text as it is written; False is certain."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop what is cached of texts."""


def _are_plain(tokens: Iterable[AddedToken]) -> bool:
    return all(token.is_plain for token in tokens)


# ---- the slow profile ----------------------------------------------------------------------------


class SlowAddedTokens(AddedTokens):
    """Added tokens, as transformers' Python tokenizers find them.

    Attributes:
        search: finds the tokens in a text.
    """

    def __reduce__(self) -> Any:
        return SlowAddedTokens, (self.decoder.flat(), self.max_id)

    def as_text(self) -> AddedTokens:
        return SlowAddedTokens()

    def with_tokens(self, tokens: Mapping[int, AddedToken]) -> Self:
        if not tokens:
            return self
        other, is_grown = self._with_ids(tokens)
        if not is_grown:
            other._search_for_all()
            return other
        new = [token for token in tokens.values() if token.content not in self.encoder]
        other.search = self.search.with_words([token.content for token in new])
        if len(new) < len(tokens):
            other._kept_case = None  # flags have changed
        elif self._kept_case is not None:
            other._kept_case = self._kept_case.with_words(
                [token.content for token in new if not token.special]
            )
        return other

    def _search_for_all(self) -> None:
        self.search = WordSearch(self.encoder.flat())
        self._kept_case: KeptCase | None = None

    def may_stand_in(self, text: str) -> bool:
        return self.search.may_stand_in(text)

    def forget(self) -> None:
        self.search.forget()

    def parts(self, text: str, rejected: list[RejectedMatch] | None = None) -> list[AddedPart]:
        spans = self.search.find(text)
        if spans and not self.is_plain:
            found = spans
            spans = [(start, end) for start, end in found if self._stands_alone(text, start, end)]
            if rejected is not None and len(spans) < len(found):
                allowed = set(spans)
                rejected += [(*span, text[slice(*span)]) for span in found if span not in allowed]
        marked: list[AddedPart] = []
        position = 0
        for start, end in spans:
            if start > position:
                marked.append(AddedPart(position, start, None))
            marked.append(AddedPart(start, end, text[start:end]))
            position = end
        if position < len(text):
            marked.append(AddedPart(position, len(text), None))
        return marked if self.is_plain else self._stripped(text, marked)

    def _stands_alone(self, text: str, start: int, end: int) -> bool:
        """Return whether a match is allowed: with `single_word`, no word character touches it."""
        token = self.token(text[start:end])
        if token is None or not token.single_word:
            return True
        return not (touches_word(text, start - 1) or touches_word(text, end))

    def _stripped(self, text: str, marked: list[AddedPart]) -> list[AddedPart]:
        """Return the pieces without the whitespace that `lstrip` and `rstrip` of their neighbours
        remove.

        If what is left of a piece is the content of a token, the piece becomes that token, as in
        transformers.
        """
        pieces = [text[start:end] for start, end, _ in marked]
        starts = [start for start, _, _ in marked]

        def is_token(i: int) -> bool:
            start, end, content = marked[i]
            if len(pieces[i]) == end - start:
                return content is not None
            token = self.token(pieces[i])
            return token is not None and not token.single_word

        for i in range(len(pieces)):
            token = self.token(pieces[i])
            if token is None or not (token.lstrip or token.rstrip) or not is_token(i):
                continue
            if token.rstrip and i + 1 < len(pieces):
                left = pieces[i + 1].lstrip()
                starts[i + 1] += len(pieces[i + 1]) - len(left)
                pieces[i + 1] = left
            if token.lstrip and i > 0:
                pieces[i - 1] = pieces[i - 1].rstrip()
        return [
            AddedPart(starts[i], starts[i] + len(piece), piece if is_token(i) else None)
            for i, piece in enumerate(pieces)
            if piece
        ]

    def lower_between(self, text: str, special_tokens: tuple[str, ...]) -> str:
        """Lower-case a text except for the tokens in it that must be matched as they are written.

        Those are the special tokens, then the other added tokens in the order of adding. If several
        begin at one character the first of that list wins, not the longest. This is as in
        transformers, whose pattern is an alternation in this order.

        >>> SlowAddedTokens().lower_between("[CLS] Hello", ("[CLS]",))
        '[CLS] hello'
        """
        lowered = lower_each(text)
        if lowered == text:
            return text
        kept = self._kept_case
        if kept is None or kept.special_tokens != special_tokens:
            others = (token for token in self.decoder.flat().values() if not token.special)
            kept = self._kept_case = KeptCase(special_tokens, [each.content for each in others])
        return kept.lower_between(text, lowered)


class KeptCase:
    """The tokens that are matched as written, and so not lower-cased with the text.

    Args:
        special_tokens: the special tokens.
        others: the other tokens, which come after them.
    """

    def __init__(self, special_tokens: tuple[str, ...], others: Iterable[str] = ()) -> None:
        self.special_tokens = special_tokens
        self._words: tuple[str, ...] = ()
        self._capitals = WordSearch()
        # the first letters of words with capitals, and all letters of the others
        self._firsts: frozenset[str] = frozenset()
        self._letters: frozenset[str] = frozenset()
        self._add([*filter(None, special_tokens), *others])

    def with_words(self, words: list[str]) -> KeptCase:
        """Return the same with more tokens."""
        other = copy.copy(self)
        other._add([word for word in words if word not in self.special_tokens])
        search: WordSearch | None = other.__dict__.pop("_search", None)
        if search is not None and other._has_only_capitals == self._has_only_capitals:
            new = without_hidden(other._to_find(words))
            other._search = search.with_words([w for w in new if not search.has_prefix_of(w)])
        return other

    def _add(self, words: list[str]) -> None:
        capitals = [word for word in words if lower_each(word) != word]
        self._capitals = self._capitals.with_words(capitals)
        self._words += tuple(words)
        self._firsts |= {word[0] for word in capitals}
        self._letters |= set("".join(set(words).difference(capitals)))

    @property
    def _has_only_capitals(self) -> bool:
        """Whether only words with capitals need to be found: no other word hides one of them."""
        return self._firsts.isdisjoint(self._letters)

    def _to_find(self, words: Iterable[str]) -> Iterable[str]:
        if not self._has_only_capitals:
            return words
        return [word for word in words if lower_each(word) != word]

    @cached_property
    def _search(self) -> WordSearch:
        return WordSearch(without_hidden(self._to_find(self._words)))

    def lower_between(self, text: str, lowered: str) -> str:
        """Return a text, lower-cased between the tokens; `lowered` is all of it lower-cased."""
        if not self._capitals.find(text):
            return lowered
        pieces: list[str] = []
        position = 0
        for start, end in self._search.find(text):
            pieces += lower_each(text[position:start]), text[start:end]
            position = end
        return "".join((*pieces, lower_each(text[position:])))


# ---- the fast profile ----------------------------------------------------------------------------


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

    def __len__(self) -> int:
        return len(self.contents)

    def with_tokens(self, patterns: Collection[tuple[str, AddedToken]]) -> Patterns:
        """Return these patterns and more."""
        there = self.contents
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


@cache
def _run_of_whitespace() -> re.Pattern[str]:
    """Return the pattern of the characters that `lstrip` and `rstrip` take."""
    return re.compile(f"[{characters_in('split_space')}]*")


class FastAddedTokens(AddedTokens):
    """Added tokens, as the Rust tokenizers find them.

    A token that is added again with other flags is searched for as it is now and as it was, until
    it is removed.

    Args:
        decoder, max_id: see `AddedTokens`.
        basic: the tokenizer that normalizes; it is not changed. The patterns of normalized tokens
            follow the options that it had when a token was last added, as in Rust.

    Attributes:
        raw, normalized: what is searched in a text, and in a normalized one.
        once_special: the contents of the tokens that are special, or once were.

    >>> from trietok.text.words import RustBasicTokenizer
    >>> several = {5: AddedToken("<A>", normalized=False), 6: AddedToken("New")}
    >>> tokens = FastAddedTokens(several, basic=RustBasicTokenizer())
    >>> (
    ...     [part.content for part in tokens.parts("x<A> <a>")],
    ...     [part.content for part in tokens.parts("New")],
    ... )
    ([None, '<A>', None], [None])
    >>> tokens.normalized_parts("a new one")[1]
    AddedPart(start=2, end=5, content='New')
    """

    once_special: Layers[str, AddedToken]
    _others: Layers[str, tuple[AddedToken, ...]]

    def __init__(
        self,
        decoder: Mapping[int, AddedToken] | None = None,
        max_id: int = -1,
        *,
        basic: RustBasicTokenizer,
    ) -> None:
        self.basic = basic
        self._skipped: Collection[str] = ()  # contents that are treated as text
        super().__init__(decoder, max_id)

    def __reduce__(self) -> Any:
        return _fast_added_tokens, (self.decoder.flat(), self.max_id, self.basic)

    def as_text(self) -> AddedTokens:
        other = self._copy()
        other._skipped = self.once_special
        return other

    def with_tokens(
        self,
        tokens: Mapping[int, AddedToken],
        listed: Iterable[AddedToken] | None = None,
        basic: RustBasicTokenizer | None = None,
    ) -> Self:
        """Return these tokens and more; see `AddedTokens`.

        Args:
            tokens: id → token.
            listed: the tokens that are searched for, in the order of adding, which may hold a
                content twice; None for `tokens`.
            basic: the tokenizer that normalizes now; None for the one before.
        """
        listed = list(tokens.values() if listed is None else listed)
        if not (tokens or listed):
            return self
        other, _ = self._with_ids(tokens)
        basic = basic or self.basic
        moved = [
            self.decoder[i].content
            for i, token in tokens.items()
            if i in self.decoder and self.decoder[i].content != token.content
        ]
        if moved:
            other._forget(moved)
        if moved or (listed and basic.normalizing_options != self.basic.normalizing_options):
            other.basic = basic
            other._make_patterns()
        other._search_for(listed)
        return other

    def without_ids(self, token_ids: Iterable[int]) -> Self:
        gone = [self.decoder[token_id].content for token_id in token_ids]
        other = super().without_ids(token_ids)
        other._forget(gone)
        other._make_patterns()
        return other

    def _reorder(self, last: list[str]) -> None:
        self.once_special = Layers(_with_last(self.once_special.flat(), last))
        self._others = Layers(_with_last(self._others.flat(), last))
        self._make_patterns()

    def _search_for_all(self) -> None:
        if "raw" in self.__dict__:  # a pattern stays until its token is removed
            return
        # Each special token as it was when it was first marked special; and the other tokens, once
        # for each adding.
        self.once_special = Layers({})
        self._others = Layers({})
        self.raw = self.normalized = Patterns()
        self._search_for(self.decoder.flat().values())

    def _search_for(self, tokens: Collection[AddedToken]) -> None:
        special: dict[str, AddedToken] = {}
        for token in tokens:
            if token.special and token.content not in self.once_special:
                special.setdefault(token.content, token)
        self.once_special = self.once_special.with_items(special)
        others: dict[str, tuple[AddedToken, ...]] = {}
        for token in tokens:
            content = token.content
            if content not in self.once_special:
                before = others.get(content) or self._others.get(content, ())
                others[content] = (*before, token)  # type: ignore[misc]
        self._others = self._others.with_items(others)
        self._list([*special.values(), *(t for t in tokens if t.content in others)])

    def _forget(self, contents: Iterable[str]) -> None:
        gone = set(contents)
        special, others = self.once_special.flat().items(), self._others.flat().items()
        self.once_special = Layers({each: token for each, token in special if each not in gone})
        self._others = Layers({each: tokens for each, tokens in others if each not in gone})

    def _make_patterns(self) -> None:
        self.raw = self.normalized = Patterns()
        others = (token for several in self._others.flat().values() for token in several)
        self._list([*self.once_special.flat().values(), *others])

    def _list(self, tokens: list[AddedToken]) -> None:
        normalized = [token for token in tokens if token.normalized]
        forms = self.basic.normalized_each([token.content for token in normalized])
        self.raw = self.raw.with_tokens(
            [(token.content, token) for token in tokens if not token.normalized]
        )
        self.normalized = self.normalized.with_tokens(list(zip(forms, normalized, strict=True)))

    def order_that_counts(self) -> list[int] | None:
        """Return the ids in the order of adding, if texts would give other tokens in the order of
        the ids; else None.

        That is the case if two tokens have the same normalized form, and the one added first has
        the higher id.

        >>> from trietok.text.words import RustBasicTokenizer
        >>> several = {7: AddedToken("World"), 5: AddedToken("world")}
        >>> FastAddedTokens(several, basic=RustBasicTokenizer()).order_that_counts()
        [7, 5]
        """
        if len(self.raw.contents) + len(self.normalized.contents) == len(self.decoder):
            return None  # each token has a pattern, so no two have the same one
        return list(self.decoder) if order_counts(self.decoder, self.basic) else None

    def remembers(self, basic: RustBasicTokenizer) -> bool:
        """Return whether texts are searched for what no file says: tokens as they were before they
        were added again.

        Args:
            basic: the tokenizer that normalizes, as a file says it.

        >>> from trietok.text.words import RustBasicTokenizer
        >>> tokens = FastAddedTokens({5: AddedToken("a", special=True)}, basic=RustBasicTokenizer())
        >>> again = tokens.with_tokens({5: AddedToken("a", single_word=True)})
        >>> tokens.remembers(tokens.basic), again.remembers(tokens.basic)
        (False, True)
        """
        said = FastAddedTokens(self.decoder.flat(), self.max_id, basic=basic)
        return any(
            dict(here.flat()) != dict(there.flat())
            for here, there in (
                (self.raw.contents, said.raw.contents),
                (self.normalized.contents, said.normalized.contents),
            )
        ) or set(self.once_special.flat()) != set(said.once_special.flat())

    def may_stand_in(self, text: str) -> bool:
        return self.raw.search.may_stand_in(text)

    def forget(self) -> None:
        self.raw.search.forget()
        self.normalized.search.forget()

    def parts(self, text: str, rejected: list[RejectedMatch] | None = None) -> list[AddedPart]:
        return self._parts(self.raw, text, rejected)

    def normalized_parts(
        self, text: str, rejected: list[RejectedMatch] | None = None
    ) -> list[AddedPart]:
        """Return the parts of a normalized text."""
        return self._parts(self.normalized, text, rejected)

    def _parts(
        self, patterns: Patterns, text: str, rejected: list[RejectedMatch] | None
    ) -> list[AddedPart]:
        parts: list[AddedPart] = []
        tokens: dict[str, AddedToken] = {}  # those met, with the flags that they have now
        position = 0
        run_start, run_end = 0, -1  # of the whitespace last looked at, which many may be part of
        # All matches are found before any takes its whitespace.
        for start, end in patterns.search.find(text):
            token = tokens.get(pattern := text[start:end])
            if token is None:
                token = self.decoder[self.encoder[patterns.contents[pattern]]]
                tokens[pattern] = token
            if (content := token.content) in self._skipped:
                continue
            if token.single_word and (_is_word(text, start - 1) or _is_word(text, end)):
                if rejected is not None:
                    rejected.append((start, end, content))
                continue
            if token.lstrip:
                start = position + len(text[position:start].rstrip(characters_in("split_space")))
            if token.rstrip:
                if not run_start <= end <= run_end:
                    run_start, run_end = end, _run_of_whitespace().match(text, end).end()  # type: ignore[union-attr]
                end = run_end
            if start >= end:  # whitespace that another token has taken; the Rust library stops here
                continue
            if start > position:
                parts.append(AddedPart(position, start, None))
            parts.append(AddedPart(start, end, content))
            position = end
        if position < len(text):
            parts.append(AddedPart(position, len(text), None))
        return parts


def _fast_added_tokens(
    decoder: dict[int, AddedToken], max_id: int, basic: RustBasicTokenizer
) -> FastAddedTokens:
    return FastAddedTokens(decoder, max_id, basic=basic)


def _with_last(items: dict[str, Any], last: list[str]) -> dict[str, Any]:
    """Return the items, with those of some keys moved to the end in this order."""
    items = dict(items)
    for key in last:
        if key in items:
            items[key] = items.pop(key)
    return items


def _is_word(text: str, position: int) -> bool:
    return 0 <= position < len(text) and is_in("word", text[position])


def order_counts(decoder: Mapping[int, AddedToken], basic: RustBasicTokenizer) -> bool:
    """Return whether texts would give other tokens if these were in the order of their ids."""
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
