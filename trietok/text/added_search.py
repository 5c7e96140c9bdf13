"""The added tokens of a moment, and where they stand in texts: the search for them, of both
profiles.

In: a text. Out: its parts; one that is an added token is kept whole by every later stage. Every
search is leftmost-longest, and takes a match first and then checks whether it is allowed.

In the slow profile all tokens are searched at once, as they are written. `lstrip` and `rstrip`
remove the whitespace beside the token, which is what `str.strip` removes, and an adjacent added
token that consists of it. `single_word` requires a Unicode word boundary on both sides. This is as
in transformers' `PreTrainedTokenizer.tokenize`.

In the fast one, which is that of the Rust tokenizers, tokens that are not `normalized` (special
ones) are searched in the raw text, and the others, in normalized form, in the normalized text
between those. Whitespace that `lstrip` and `rstrip` take becomes part of the token.

An `AddedTokens` never changes: adding and removing make another one, which shares its big parts
with the one before. The time for a text hardly depends on the number of added tokens, and adding
one token costs time for that token only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.text.added_patterns import Patterns, WrittenTokens, order_counts
from trietok.text.added_tokens import AddedToken
from trietok.text.alignment import RejectedMatch
from trietok.text.changes import ReadOnlyDict, cached_property
from trietok.text.characters import (
    characters_in,
    is_in,
    lower_each,
    touches_word,
    without_marks,
)
from trietok.text.trie import Layers, Trie
from trietok.text.word_search import WordSearch
from trietok.typing_compat import Self

if TYPE_CHECKING:
    from trietok.text.basic_tokenizer import RustBasicTokenizer
    from trietok.text.terms import Fold


class AddedPart(NamedTuple):
    """A stretch of a text: an added token with its `content`, or text between added tokens, with
    `content` None.

    Parts are in order and none is empty. In the fast profile they may overlap, if a token took
    another one that consists of whitespace.
    """

    start: int
    end: int
    content: str | None


@cache
def _run_of_whitespace() -> re.Pattern[str]:
    """Of the characters that `lstrip` and `rstrip` take."""
    return re.compile(f"[{characters_in('split_space')}]*")


class AddedTokens:
    """Added tokens by id, and the split of texts at them.

    Args:
        decoder: id → token, in the order of adding. Of two ids with one content the later one
            encodes.
        max_id: see the attribute.
        basic: in the fast profile, the tokenizer that normalizes; it is not changed. The patterns
            of normalized tokens follow the options that it had when a token was last added, as in
            Rust. None in the slow profile.

    Attributes:
        decoder: id → token, in the order of adding.
        encoder: content → id.
        max_id: the highest id any token has had, -1 before the first: the id of a removed token is
            not given again.
        is_plain: whether no token has `single_word`, `lstrip` or `rstrip`, so that every match is a
            token as it is.
        raw, normalized: what is searched in a text, and in the fast profile in a normalized one.

    >>> from trietok.text.basic_tokenizer import RustBasicTokenizer
    >>> several = {5: AddedToken("<A>", normalized=False), 6: AddedToken("New")}
    >>> tokens = AddedTokens(several, basic=RustBasicTokenizer())
    >>> (
    ...     [part.content for part in tokens.parts("x<A> <a>")],
    ...     [part.content for part in tokens.parts("New")],
    ... )
    ([None, '<A>', None], [None])
    >>> tokens.normalized_parts("a new one")[1]
    AddedPart(start=2, end=5, content='New')
    """

    def __init__(
        self,
        decoder: Mapping[int, AddedToken] | None = None,
        max_id: int = -1,
        basic: RustBasicTokenizer | None = None,
    ) -> None:
        self.basic = basic
        # Each special token as it was when it was first marked special; and the other tokens, once
        # for each adding.
        self._first_special: Layers[str, AddedToken] = Layers({})
        self._others: Layers[str, tuple[AddedToken, ...]] = Layers({})
        self._skipped: Collection[str] = ()  # contents that are treated as text
        self.raw = self.normalized = Patterns()
        self._set_ids(dict(decoder or {}), max_id)
        self._look_for(self.decoder.flat().values())

    def _set_ids(self, tokens: dict[int, AddedToken], max_id: int) -> None:
        self.decoder: Layers[int, AddedToken] = Layers(tokens)
        self.encoder: Layers[str, int] = Layers(
            {token.content: token_id for token_id, token in tokens.items()}
        )
        self.max_id = max(max_id, max(tokens, default=-1))
        self.is_plain = AddedToken.are_plain(tokens.values())

    # ---- changed copies --------------------------------------------------------------------------

    def with_tokens(
        self,
        tokens: Mapping[int, AddedToken],
        listed: Iterable[AddedToken] | None = None,
        basic: RustBasicTokenizer | None = None,
    ) -> Self:
        """These tokens and more; a token whose id is there already takes that one's place.

        Costs O(code points of what is new); if the content of an id changes, or a content gets
        another id, O(all).

        Args:
            tokens: id → token.
            listed: in the fast profile the tokens that are searched for, in the order of adding,
                which may hold a content twice; None for `tokens`.
            basic: there the tokenizer that normalizes now; None for the one before.
        """
        listed = list(tokens.values() if listed is None else listed)
        if not tokens and not (self.basic and listed):
            return self
        grown = self._with_ids(tokens)
        if self.basic is not None:
            basic = basic or self.basic
            there = self.decoder.to_look_up(len(tokens))
            moved = [
                there[i].content
                for i, token in tokens.items()
                if i in there and there[i].content != token.content
            ]
            if moved:
                grown._forget(moved)
            if moved or (listed and basic.normalizing_options != self.basic.normalizing_options):
                grown.basic = basic
                grown._make_patterns()
        grown._look_for(listed)
        return grown

    def _with_ids(self, tokens: Mapping[int, AddedToken]) -> Self:
        there = self.decoder
        contents = {token.content: token_id for token_id, token in tokens.items()}
        are_new = there.lacks(tokens) and self.encoder.lacks(contents)
        replaced = not are_new and (
            any(
                there[token_id].content != tokens[token_id].content
                for token_id in there.flat().keys() & tokens.keys()
            )
            or any(
                contents[content] not in there
                for content in self.encoder.flat().keys() & contents.keys()
            )
        )
        max_id = max(self.max_id, *tokens, -1)
        if replaced or len(contents) != len(tokens):
            return self._made_of({**there.flat(), **tokens}, max_id)
        grown = self._copy()
        grown.decoder = there.with_items(tokens)
        grown.encoder = self.encoder.with_items(contents)
        grown.max_id = max_id
        new = (
            list(tokens.values())
            if are_new
            else [tokens[token_id] for token_id in tokens if token_id not in there]
        )
        if len(new) == len(tokens):
            grown.is_plain = self.is_plain and AddedToken.are_plain(new)
            written = self.__dict__.get("_written")
            if written is not None:
                grown.__dict__["_written"] = written.with_tokens(new)
        else:  # the flags of some have changed
            grown.is_plain = AddedToken.are_plain(grown.decoder.flat().values())
        return grown

    def without_ids(self, token_ids: Iterable[int]) -> Self:
        """These tokens but those of some ids."""
        gone = set(token_ids)
        tokens = self.decoder.flat()
        left = self._made_of(
            {i: token for i, token in tokens.items() if i not in gone}, self.max_id
        )
        if self.basic is not None:
            left._forget([tokens[token_id].content for token_id in gone])
            left._make_patterns()
        return left

    def without(self, contents: Set[str]) -> Self:
        """These tokens but those of some contents."""
        gone = [self.encoder[content] for content in contents if content in self.encoder]
        return self.without_ids(gone) if gone else self

    def as_text(self) -> AddedTokens:
        """What is left of them where special tokens are text."""
        return AddedTokens() if self.basic is None else self._changed(_skipped=self._first_special)

    def with_max_id(self, max_id: int) -> Self:
        """The same tokens with another `max_id`."""
        return self._changed(max_id=max_id)

    def reordered(self, token_ids: Iterable[int]) -> Self:
        """The same tokens, with those of `token_ids` moved to the end in this order; unknown ids
        are ignored.

        `encoder` keeps its order: transformers lists the tokens of a loaded directory in that one.
        """
        last = [token_id for token_id in token_ids if token_id in self.decoder]
        if not last:
            return self
        contents = [self.decoder[token_id].content for token_id in last]
        other = self._made_of(self.decoder.with_last(last), self.max_id)
        other.encoder = self.encoder
        if self.basic is not None:
            other._first_special = Layers(self._first_special.with_last(contents))
            other._others = Layers(self._others.with_last(contents))
            other._make_patterns()
        return other

    def renumbered(self, decoder: dict[int, AddedToken]) -> Self:
        """The same tokens with other ids; `max_id` is the highest of them."""
        return self._made_of(decoder, max(decoder, default=-1))

    def _made_of(self, decoder: dict[int, AddedToken], max_id: int) -> Self:
        other = self._copy()
        other._set_ids(decoder, max_id)
        if self.basic is None:  # in the fast profile a pattern stays until its token is removed
            other.raw = Patterns().with_tokens(
                [(token.content, token) for token in decoder.values()]
            )
        return other

    def _changed(self, **changes: Any) -> Self:
        other = self._copy()
        other.__dict__.update(changes)
        return other

    def _copy(self) -> Self:
        other = object.__new__(type(self))
        derived = {"by_id", "ids_by_content", "trie", "_written"}
        state = dict(self.__dict__)  # at one moment: other threads may be deriving values
        other.__dict__.update({name: value for name, value in state.items() if name not in derived})
        return other

    def __getstate__(self) -> dict[str, Any]:
        # all else follows
        return {"decoder": self.decoder.flat(), "max_id": self.max_id, "basic": self.basic}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # The methods below change the object; they are called only on a copy that is not yet in use.

    def _look_for(self, tokens: Iterable[AddedToken]) -> None:
        tokens = list(tokens)
        if self.basic is None:
            self.raw = self.raw.with_tokens([(token.content, token) for token in tokens])
            return
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
            every[token.content] = (
                *(every.get(token.content) or before.get(token.content, ())),
                token,
            )
        self._others = self._others.with_items(every)
        self._list([*first_special.values(), *others])

    def _forget(self, contents: Iterable[str]) -> None:
        gone = set(contents)
        special, others = self._first_special.flat(), self._others.flat()
        self._first_special = Layers(
            {content: token for content, token in special.items() if content not in gone}
        )
        self._others = Layers(
            {content: tokens for content, tokens in others.items() if content not in gone}
        )

    def _make_patterns(self) -> None:
        self.raw = self.normalized = Patterns()
        others = (token for several in self._others.flat().values() for token in several)
        self._list([*self._first_special.flat().values(), *others])

    def _list(self, tokens: list[AddedToken]) -> None:
        assert self.basic is not None  # only the fast profile lists tokens
        normalized = [token for token in tokens if token.normalized]
        forms = self.basic.normalized_each([token.content for token in normalized])
        self.raw = self.raw.with_tokens(
            [(token.content, token) for token in tokens if not token.normalized]
        )
        self.normalized = self.normalized.with_tokens(list(zip(forms, normalized, strict=True)))

    def order_that_counts(self) -> list[int] | None:
        """The ids in the order of adding, if texts would give other tokens in the order of the ids;
        else None.

        That is the case if two tokens have the same normalized form, and the one added first has
        the higher id.

        >>> from trietok.text.basic_tokenizer import RustBasicTokenizer
        >>> several = {7: AddedToken("World"), 5: AddedToken("world")}
        >>> AddedTokens(several, basic=RustBasicTokenizer()).order_that_counts()
        [7, 5]
        """
        if self.basic is None or len(self.raw.contents) + len(self.normalized.contents) == len(
            self.decoder
        ):
            return None  # each token has a pattern, so no two have the same one
        return list(self.decoder) if order_counts(self.decoder, self.basic) else None

    def remembers(self, basic: RustBasicTokenizer) -> bool:
        """Whether texts are searched for what no file says: tokens as they were before they were
        added again.

        Args:
            basic: the tokenizer that normalizes, as a file says it.

        >>> token = AddedToken("a", special=True)
        >>> from trietok.text.basic_tokenizer import RustBasicTokenizer
        >>> tokens = AddedTokens({5: token}, basic=RustBasicTokenizer())
        >>> again = tokens.with_tokens({5: AddedToken("a", single_word=True)})
        >>> tokens.remembers(tokens.basic), again.remembers(tokens.basic)
        (False, True)
        """
        said = AddedTokens(self.decoder.flat(), self.max_id, basic)
        return any(
            dict(here.flat()) != dict(there.flat())
            for here, there in (
                (self.raw.contents, said.raw.contents),
                (self.normalized.contents, said.normalized.contents),
            )
        ) or set(self._first_special.flat()) != set(said._first_special.flat())

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
        """A trie of all contents, to look at: texts are searched by `raw` and `normalized`."""
        return Trie(self.encoder.flat())

    def token(self, content: str) -> AddedToken | None:
        """The token of a content, or None."""
        token_id = self.encoder.get(content)
        return None if token_id is None else self.decoder[token_id]

    @property
    def contents_special(self) -> Layers[str, AddedToken]:
        """In the fast profile, the contents of the tokens that are special, or once were."""
        return self._first_special

    @property
    def searches(self) -> list[WordSearch]:
        """What finds the tokens in texts, in each form in which a text is searched."""
        return [self.raw.search, self.normalized.search]

    def searches_of_terms(self, fold: Fold) -> list[tuple[WordSearch, Fold, bool]]:
        """The same as `Terms` takes it."""
        return [
            (self.raw.search, fold, self.basic is None),
            (self.normalized.search, without_marks, True),
        ]

    def term_of(self, form: str) -> str | None:
        """The content that stands wherever a form does, of the forms of which a text tells that."""
        return (self.raw if self.basic is None else self.normalized).contents.get(form)

    def stands_in(self, text: str, normalized: Callable[[str], str]) -> bool:
        """Whether a token may occur in a text; `normalized` makes what is cut into words."""
        if self.raw.search.stands_in(text):
            return True
        if self.basic is not None:
            return bool(self.normalized.contents) and self.normalized.search.stands_in(
                normalized(text)
            )
        lowered = normalized(text)
        return lowered != text and self.raw.search.stands_in(lowered)

    def stay_in_chunks(self, text: str) -> bool:
        """Whether no token takes whitespace beyond what lies between two spaces into its span."""
        if self.is_plain or self.basic is None:
            return True
        return not (self.normalized.contents or self.raw.search.stands_in(text))

    def shows_itself(self, content: str) -> bool:
        """Whether what may be an added token is shown as its content wherever it stands.

        In the fast profile one that is normalized, or takes whitespace, is shown as the text that
        it took.
        """
        token = self.token(content)
        if token is None or self.basic is None:
            return True
        listed = (*self._others.get(content, ()), self._first_special.get(content, token))  # type: ignore[misc]
        return not (token.lstrip or token.rstrip or any(each.normalized for each in listed))

    # ---- the split -------------------------------------------------------------------------------

    def split(self, text: str) -> list[str]:
        """Cut `text` at the added tokens in it.

        >>> tokens = AddedTokens(
        ...     {5: AddedToken("<a>", rstrip=True), 6: AddedToken("ab", single_word=True)}
        ... )
        >>> tokens.split("x<a>  y ab abc")
        ['x', '<a>', 'y ', 'ab', ' abc']

        Returns:
            The pieces in order, none empty. Joined, they are `text` without the whitespace that
            `lstrip` and `rstrip` removed.
        """
        return [piece for piece, _ in self.pieces(text)]

    def pieces(self, text: str) -> list[tuple[str, bool]]:
        """The pieces of `split`, each with whether it is a token; a match may be rejected."""
        return [(text[start:end], content is not None) for start, end, content in self.parts(text)]

    def parts(self, text: str, rejected: list[RejectedMatch] | None = None) -> list[AddedPart]:
        """The pieces of `split` by place; `rejected` gets matches that `single_word` forbids."""
        if self.basic is not None:
            return self._parts(self.raw, text, rejected)
        spans = self.raw.search.find(text)
        if not self.is_plain:
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

    def normalized_parts(
        self, text: str, rejected: list[RejectedMatch] | None = None
    ) -> list[AddedPart]:
        """In the fast profile, the parts of a normalized text."""
        return self._parts(self.normalized, text, rejected)

    def _parts(
        self, patterns: Patterns, text: str, rejected: list[RejectedMatch] | None
    ) -> list[AddedPart]:
        """As the Rust tokenizers cut."""
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

    def _stands_alone(self, text: str, start: int, end: int) -> bool:
        """Whether a match is allowed: with `single_word`, no word character may touch it."""
        token = self.token(text[start:end])
        if token is None or not token.single_word:
            return True
        return not (touches_word(text, start - 1) or touches_word(text, end))

    def _stripped(self, text: str, marked: list[AddedPart]) -> list[AddedPart]:
        """The pieces without the whitespace that `lstrip` and `rstrip` of their neighbours remove.

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
        """Lower-case `text` except for the tokens in it that must be matched as they are written.

        Those are the special tokens, then the other added tokens in the order of adding; where
        several begin at one character the first of that list wins, not the longest. This is as in
        transformers, whose pattern is an alternation in this order.

        >>> AddedTokens().lower_between("[CLS] Hello", ("[CLS]",))
        '[CLS] hello'
        """
        lowered = lower_each(text)
        if lowered == text:
            return text
        written = self.__dict__.get("_written")
        if written is None or written.special_tokens != special_tokens:
            written = self.__dict__["_written"] = WrittenTokens(
                special_tokens, self.decoder.flat().values()
            )
        return written.lower_between(text, lowered)


def _is_word(text: str, position: int) -> bool:
    return 0 <= position < len(text) and is_in("word", text[position])
