"""`AddedToken`: a token that is matched whole; `AddedTokens`: those of a moment, and the split of a text at them.

In: a raw text. Out: its pieces, where a piece that is an added token is kept whole by every later stage.

The split is leftmost-longest over all added tokens. `lstrip` and `rstrip` remove the whitespace beside the token, and
`single_word` requires a Unicode word boundary on both sides. Whitespace is what `str.strip` removes; an adjacent added
token that consists of whitespace is removed too. Both are as in transformers' `PreTrainedTokenizer.tokenize`.

An `AddedTokens` never changes: adding and removing make another one, which shares its big parts with the one before.
The time for a text hardly depends on the number of added tokens, and adding one token costs time for that token only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Set
from functools import cache
from itertools import chain, repeat
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError
from trietok.named import NamedTuple
from trietok.text.alignment import RejectedMatch
from trietok.text.changes import ReadOnlyDict, cached_property
from trietok.text.characters import lower_each, touches_word
from trietok.text.trie import Layers, Prefilter, Trie, WordSearch

if TYPE_CHECKING:
    from typing_extensions import Self

    from trietok.text.basic_tokenizer import RustBasicTokenizer

LONGEST_TOKEN = 100_000  # code points: far more than a token has that anything is trained with


class _Flags(NamedTuple):
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool


class _ImpliedFlags(_Flags):
    """Flags whose `normalized` was not given but follows from `special`; they equal `_Flags` with the same values."""

    __slots__ = ()


_as_dict = cache(_Flags._asdict)
_flags_given: dict[tuple[bool | None, ...], _Flags] = {}


def _flags_of(given: tuple[bool | None, ...]) -> _Flags:
    """The flags for the five as they were given; the same object each time."""
    flags = _flags_given.get(given)
    if flags is None:
        single_word, lstrip, rstrip, normalized, special = given
        kind = _ImpliedFlags if normalized is None else _Flags
        normalized = not special if normalized is None else normalized
        flags = kind(*map(bool, (single_word, lstrip, rstrip, normalized, special)))
        flags = _flags_given.setdefault(given, flags)
    return flags


class AddedToken:
    """A token outside the vocabulary's own matching, with the fields and defaults of transformers' `AddedToken`.

    Args:
        content: the text it stands for; not empty.
        single_word: match only where no letter, digit, mark or underscore touches it on either side.
        lstrip: the match includes the whitespace on its left.
        rstrip: the match includes the whitespace on its right.
        normalized: match the text as the tokenizer normalizes it (lower-cased, if it lower-cases), not as it was given.
            None means `not special`.
        special: skipped by `decode(skip_special_tokens=True)` and listed among the special tokens.

    >>> AddedToken("[SUBJ]", special=True)
    AddedToken("[SUBJ]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True)
    >>> AddedToken("a") == AddedToken("a", lstrip=True), str(AddedToken("a"))
    (False, 'a')

    It cannot be changed; `replace` gives a changed copy. A tokenizer keeps its own copy in any case.

    Raises:
        InputTypeError: `content` is not a string.
        InputError: `content` is empty, or holds half of a surrogate pair, which no file can keep; or it has more than
            100,000 code points.
    """

    # A hundred thousand tokens have only a few combinations of flags: each combination is stored once.
    __slots__ = ("content", "flags")

    content: str
    flags: _Flags

    def __init__(
        self,
        content: str,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        if not isinstance(content, str):
            raise InputTypeError(
                f"an added token's content is a string, not {type(content).__name__}: {content!r}", value=content
            )
        if not content:
            raise InputError("an added token's content is empty; give it at least one character")
        if len(content) > LONGEST_TOKEN:
            raise InputError(
                f"an added token's content has {len(content):,} code points, more than the {LONGEST_TOKEN:,} that a "
                f"token may have: {content!r:.60}"
            )
        if not content.isascii():
            _refuse_surrogates(content)
        _set_content(self, content)
        given = (single_word, lstrip, rstrip, normalized, special)
        _set_flags(self, _flags_given.get(given) or _flags_of(given))

    single_word: bool = property(attrgetter("flags.single_word"))  # type: ignore[assignment]
    lstrip: bool = property(attrgetter("flags.lstrip"))  # type: ignore[assignment]
    rstrip: bool = property(attrgetter("flags.rstrip"))  # type: ignore[assignment]
    normalized: bool = property(attrgetter("flags.normalized"))  # type: ignore[assignment]
    special: bool = property(attrgetter("flags.special"))  # type: ignore[assignment]

    @property
    def is_plain(self) -> bool:
        """Whether it matches anywhere and includes no whitespace: no `single_word`, `lstrip`, `rstrip`."""
        return not any(self.flags[:3])

    @staticmethod
    def are_plain(tokens: Iterable[AddedToken]) -> bool:
        """Whether all of some tokens are plain; see `is_plain`."""
        return not any(any(flags[:3]) for flags in {token.flags for token in tokens})

    @classmethod
    def of(cls, token: str | AddedToken, **flags: Any) -> AddedToken:
        """`token` itself if it is one, else a new one of that content with these flags.

        Any object with the six fields is accepted as one, such as an `AddedToken` of the tokenizers package.

        Raises:
            InputTypeError: it is neither a string nor such an object.
        """
        if isinstance(token, cls):
            return token
        if isinstance(token, str):
            return cls(token, **flags)
        try:
            return cls(token.content, **{name: getattr(token, name) for name in _Flags._fields})
        except AttributeError:
            raise InputTypeError(
                f"a token is a string or an AddedToken, not {type(token).__name__}: {token!r}", value=token
            ) from None

    @classmethod
    def all_of(cls, contents: Collection[Any], special: bool = False, states: Any = None) -> list[AddedToken] | None:
        """Many tokens, sooner than one after the other; None where one of them cannot be made.

        Args:
            contents: what they stand for.
            special: whether they are special; they have no other flags.
            states: instead of `special`, a dict for each of them in which all flags stand, with others.
        """
        if set(map(type, contents)) != {str} or not all(contents) or max(map(len, contents)) > LONGEST_TOKEN:
            return None
        flags: Iterable[_Flags] = repeat(_flags_of((False, False, False, None, special)))
        try:
            _refuse_surrogates("".join(contents))
            if states is not None:
                given = list(map(itemgetter(*_Flags._fields), states))
                if set(map(type, chain.from_iterable(given))) != {bool}:
                    return None
                flags = map({five: _flags_of(five) for five in set(given)}.__getitem__, given)
        except (KeyError, InputError):
            return None
        tokens: list[AddedToken] = list(map(object.__new__, repeat(cls, len(contents))))
        deque(map(_set_content, tokens, contents), maxlen=0)
        deque(map(_set_flags, tokens, flags), maxlen=0)
        return tokens

    @classmethod
    def all_of_states(cls, states: list[Any], others: int = 0) -> list[AddedToken] | None:
        """The tokens of many dicts of the six fields and so many others; None where one is anything else."""
        if set(map(type, states)) != {dict} or set(map(len, states)) != {1 + len(_Flags._fields) + others}:
            return None
        return cls.all_of([state.get("content") for state in states], states=states)

    def replace(self, **changes: Any) -> AddedToken:
        """A copy with some fields changed.

        >>> AddedToken("a").replace(lstrip=True).lstrip
        True
        """
        return AddedToken(**{**self.__getstate__(), **changes})

    def as_special(self) -> AddedToken:
        """The token marked as special, as in the Rust tokenizers: `normalized` becomes False, unless it was given.

        >>> AddedToken("a").as_special().normalized, AddedToken("a", normalized=True).as_special().normalized
        (False, True)
        """
        implied = isinstance(self.flags, _ImpliedFlags)
        return self.replace(special=True, normalized=None if implied else self.normalized)

    def __getstate__(self) -> dict[str, Any]:
        """The six fields, as in tokenizer_config.json."""
        return {"content": self.content, **_as_dict(self.flags)}

    def __reduce__(self) -> Any:
        return _added_token_from_state, (self.__getstate__(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an AddedToken cannot be changed; use token.replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.content == other.content and self.flags == other.flags

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return (
            f'AddedToken("{self.content}", rstrip={self.rstrip}, lstrip={self.lstrip}, '
            f"single_word={self.single_word}, normalized={self.normalized}, special={self.special})"
        )


# The setters of the slots, which fill an instance although `__setattr__` refuses.
_set_content = AddedToken.__dict__["content"].__set__
_set_flags = AddedToken.__dict__["flags"].__set__


def _added_token_from_state(state: dict[str, Any]) -> AddedToken:
    return AddedToken(**state)


def _refuse_surrogates(content: str) -> None:
    try:
        content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"an added token's content holds half of a surrogate pair at {error.start}, which UTF-8 cannot keep: "
            f"{content!r}"
        ) from None


def convert_added_tokens(obj: Any, save: bool = False, add_type_field: bool = True) -> Any:
    """Turn every `AddedToken` inside lists and dicts into a dict of its fields, or back.

    >>> convert_added_tokens([AddedToken("a")], save=True)[0]["__type"]
    'AddedToken'
    >>> convert_added_tokens({"x": {"__type": "AddedToken", "content": "a"}})["x"] == AddedToken("a")
    True

    Args:
        obj: anything.
        save: from tokens to dicts; else from dicts with a `__type` of "AddedToken" to tokens.
        add_type_field: when saving, mark the dicts with `__type`; else leave `special` out, as special_tokens_map.json
            has it.
    """
    if isinstance(obj, dict):
        if obj.get("__type") == "AddedToken" and not save:
            return AddedToken(**{key: value for key, value in obj.items() if key != "__type"})
        return {key: convert_added_tokens(value, save, add_type_field) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return [convert_added_tokens(item, save, add_type_field) for item in obj]
    if isinstance(obj, AddedToken) and save:
        state = obj.__getstate__()
        if add_type_field:
            return {**state, "__type": "AddedToken"}
        del state["special"]
        return state
    return obj


class AddedTokens:
    """Added tokens by id, and the split of texts at them.

    Args:
        decoder: id → token, in the order of adding. Of two ids with one content the later one encodes.

    Attributes:
        decoder: id → token, in the order of adding.
        encoder: content → id.
        max_id: the highest id any token has had, -1 before the first: the id of a removed token is not given again.
        search: finds where tokens occur in a text, whether or not `single_word` allows them there.
        is_plain: whether no token has `single_word`, `lstrip` or `rstrip`, so that every match is a token as it is.
    """

    def __init__(self, decoder: Mapping[int, AddedToken] | None = None, max_id: int = -1) -> None:
        tokens = dict(decoder or {})
        self.decoder: Layers[int, AddedToken] = Layers(tokens)
        self.encoder: Layers[str, int] = Layers({token.content: token_id for token_id, token in tokens.items()})
        self.max_id = max(max_id, max(tokens, default=-1))
        self.is_plain = AddedToken.are_plain(tokens.values())
        self.search = WordSearch(self.encoder)

    # ---- changed copies ---------------------------------------------------------------------------------------------

    def with_tokens(self, tokens: Mapping[int, AddedToken]) -> Self:
        """These tokens and more; a token whose id is there already takes that one's place.

        Costs O(code points of what is new); if the content of an id changes, or a content gets another id, O(all).
        """
        if not tokens:
            return self
        there = self.decoder
        contents = {token.content: token_id for token_id, token in tokens.items()}
        are_new = there.lacks(tokens) and self.encoder.lacks(contents)
        replaced = not are_new and (
            any(there[token_id].content != tokens[token_id].content for token_id in there.flat().keys() & tokens.keys())
            or any(contents[content] not in there for content in self.encoder.flat().keys() & contents.keys())
        )
        if replaced or len(contents) != len(tokens):
            return self._made_of({**there.flat(), **tokens}, max(self.max_id, *tokens))
        grown = self._copy()
        grown.decoder = there.with_items(tokens)
        grown.encoder = self.encoder.with_items(contents)
        grown.max_id = max(self.max_id, *tokens)
        new = list(tokens.values()) if are_new else [tokens[token_id] for token_id in tokens if token_id not in there]
        grown.search = self.search.with_words([token.content for token in new])
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
        left = {token_id: token for token_id, token in self.decoder.flat().items() if token_id not in gone}
        return self._made_of(left, self.max_id)

    def without(self, contents: Set[str]) -> Self:
        """These tokens but those of some contents."""
        gone = [self.encoder[content] for content in contents if content in self.encoder]
        return self.without_ids(gone) if gone else self

    def with_max_id(self, max_id: int) -> Self:
        """The same tokens with another `max_id`."""
        other = self._copy()
        other.max_id = max_id
        return other

    def reordered(self, token_ids: Iterable[int]) -> Self:
        """The same tokens, with those of `token_ids` moved to the end in this order; unknown ids are ignored.

        `encoder` keeps its order: transformers lists the tokens of a loaded directory in that one.
        """
        last = [token_id for token_id in token_ids if token_id in self.decoder]
        decoder = dict(self.decoder.flat())
        for token_id in last:
            decoder[token_id] = decoder.pop(token_id)
        if not last:
            return self
        other = self._made_of(decoder, self.max_id)
        other.encoder = self.encoder
        return other

    def renumbered(self, decoder: dict[int, AddedToken]) -> Self:
        """The same tokens with other ids; `max_id` is the highest of them."""
        return self._made_of(decoder, max(decoder, default=-1))

    def _made_of(self, decoder: dict[int, AddedToken], max_id: int) -> Self:
        return type(self)(decoder, max_id)

    def _copy(self) -> Self:
        other = object.__new__(type(self))
        derived = {"by_id", "ids_by_content", "trie", "_written"}
        state = dict(self.__dict__)  # at one moment: other threads may be deriving values
        other.__dict__.update({name: value for name, value in state.items() if name not in derived})
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"decoder": self.decoder.flat(), "max_id": self.max_id}  # all else follows

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["decoder"], state["max_id"])  # type: ignore[misc]

    # ---- looking at them --------------------------------------------------------------------------------------------

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
        """A trie of all contents, to look at: texts are searched by `search`."""
        return Trie(self.encoder.flat())

    def token(self, content: str) -> AddedToken | None:
        """The token of a content, or None."""
        token_id = self.encoder.get(content)
        return None if token_id is None else self.decoder[token_id]

    @property
    def searches(self) -> list[WordSearch]:
        """What finds the tokens in texts, in each form in which a text is searched."""
        return [self.search]

    # ---- the split --------------------------------------------------------------------------------------------------

    def split(self, text: str) -> list[str]:
        """Cut `text` at the added tokens in it.

        >>> tokens = AddedTokens({5: AddedToken("<a>", rstrip=True), 6: AddedToken("ab", single_word=True)})
        >>> tokens.split("x<a>  y ab abc")
        ['x', '<a>', 'y ', 'ab', ' abc']

        Returns:
            The pieces in order, none empty. Joined, they are `text` without the whitespace that `lstrip` and `rstrip`
            removed.
        """
        return [piece for piece, _ in self.pieces(text)]

    def pieces(self, text: str) -> list[tuple[str, bool]]:
        """The pieces of `split`, each with whether it is a token. A match that `single_word` rejects is no token."""
        return [(text[start:end], is_token) for start, end, is_token in self.places(text)]

    def places(self, text: str, rejected: list[RejectedMatch] | None = None) -> list[tuple[int, int, bool]]:
        """The half-open span of each piece, in code points, and whether the piece is a token.

        Args:
            text: the text.
            rejected: gets the matches that `single_word` does not allow.
        """
        spans = self.search.find(text)
        if not self.is_plain:
            found = spans
            spans = [(start, end) for start, end in found if self._stands_alone(text, start, end)]
            if rejected is not None and len(spans) < len(found):
                allowed = set(spans)
                rejected += [(*span, text[slice(*span)]) for span in found if span not in allowed]
        marked: list[tuple[int, int, bool]] = []
        position = 0
        for start, end in spans:
            if start > position:
                marked.append((position, start, False))
            marked.append((start, end, True))
            position = end
        if position < len(text):
            marked.append((position, len(text), False))
        return marked if self.is_plain else self._stripped(text, marked)

    def _stands_alone(self, text: str, start: int, end: int) -> bool:
        """Whether a match is allowed: one with `single_word` is not where a word character touches it."""
        token = self.token(text[start:end])
        if token is None or not token.single_word:
            return True
        return not (touches_word(text, start - 1) or touches_word(text, end))

    def _stripped(self, text: str, marked: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
        """The pieces without the whitespace that `lstrip` and `rstrip` of their neighbours remove.

        If what is left of a piece is the content of a token, the piece becomes that token, as in transformers.
        """
        pieces = [text[start:end] for start, end, _ in marked]
        starts = [start for start, _, _ in marked]

        def is_token(i: int) -> bool:
            start, end, was_token = marked[i]
            if len(pieces[i]) == end - start:
                return was_token
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
        return [(starts[i], starts[i] + len(piece), is_token(i)) for i, piece in enumerate(pieces) if piece]

    def lower_between(self, text: str, special_tokens: tuple[str, ...]) -> str:
        """Lower-case `text` except for the tokens in it that must be matched as they are written.

        Those are the special tokens, then the other added tokens in the order of adding; where several begin at one
        character the first of that list wins, not the longest. This is as in transformers, whose pattern is an
        alternation in this order.

        >>> AddedTokens().lower_between("[CLS] Hello", ("[CLS]",))
        '[CLS] hello'
        """
        lowered = lower_each(text)
        if lowered == text:
            return text
        written = self.__dict__.get("_written")
        if written is None or written.special_tokens != special_tokens:
            written = self.__dict__["_written"] = WrittenTokens(special_tokens, self.decoder.flat().values())
        return written.lower_between(text, lowered)


class WrittenTokens:
    """The tokens that are matched as they are written, and therefore not lower-cased with the text."""

    def __init__(self, special_tokens: tuple[str, ...], tokens: Iterable[AddedToken]) -> None:
        self.special_tokens = special_tokens
        others = (token.content for token in tokens if not token.special)
        contents = tuple(dict.fromkeys(content for content in (*special_tokens, *others) if content))
        self._search = WordSearch(contents, first_wins=True)
        # A text that contains no token which lower-casing would change is lower-cased as a whole.
        self._capitals = Prefilter(filter(_has_capitals, contents))

    def with_tokens(self, tokens: Iterable[AddedToken]) -> WrittenTokens:
        """The same with tokens that were not there before."""
        contents = [token.content for token in tokens if not token.special and token.content not in self.special_tokens]
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
            pieces += lower_each(text[position:start]), text[start:end]
            position = end
        return "".join((*pieces, lower_each(text[position:])))


def _has_capitals(content: str) -> bool:
    return lower_each(content) != content


def order_counts(decoder: Mapping[int, AddedToken], basic: RustBasicTokenizer) -> bool:
    """Whether texts would give other tokens if these were in the order of their ids."""
    forms = {token.content: basic.normalized(token.content) for token in decoder.values() if token.normalized}

    def found(tokens: Iterable[AddedToken]) -> dict[str, str]:
        contents: dict[str, str] = {}
        # Of tokens with the same normalized form a special one is found, and of several the first.
        for token in sorted((token for token in tokens if token.normalized), key=lambda token: not token.special):
            contents.setdefault(forms[token.content], token.content)
        return contents

    return found(decoder.values()) != found(token for _, token in sorted(decoder.items()))
