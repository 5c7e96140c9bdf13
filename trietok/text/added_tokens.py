"""`AddedToken`: a token that is matched whole, with transformers' flags;
`trietok.text.added_search` finds it in texts.

In: a content and flags. Out: a value that never changes, and dicts of it for files.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError

LONGEST_TOKEN = 100_000  # code points: far more than a token has that anything is trained with


class _Flags(NamedTuple):
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool


class _ImpliedFlags(_Flags):
    """Flags whose `normalized` follows from `special`; they equal `_Flags` of the same values."""

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
    """A token outside the vocabulary's own matching, with the fields and defaults of transformers'
    `AddedToken`.

    Args:
        content: the text it stands for; not empty.
        single_word: match only where no letter, digit, mark or underscore touches it on either
            side.
        lstrip: the match includes the whitespace on its left.
        rstrip: the match includes the whitespace on its right.
        normalized: match the text as the tokenizer normalizes it (lower-cased, if it lower-cases),
            not as it was given. None means `not special`.
        special: skipped by `decode(skip_special_tokens=True)` and listed among the special tokens.

    >>> AddedToken("[SUBJ]", special=True)
    AddedToken("[SUBJ]", rstrip=False, lstrip=False, single_word=False, normalized=False,
    special=True)
    >>> AddedToken("a") == AddedToken("a", lstrip=True), str(AddedToken("a"))
    (False, 'a')

    It cannot be changed; `replace` gives a changed copy. A tokenizer keeps its own copy in any
    case.

    Raises:
        InputTypeError: `content` is not a string.
        InputError: `content` is empty, or holds half of a surrogate pair, which no file can keep;
            or it has more than 100,000 code points.
    """

    # A hundred thousand tokens have only a few combinations of flags: each combination is stored
    # once.
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
                f"an added token's content is a string, not {type(content).__name__}: {content!r}",
                value=content,
            )
        if not content:
            raise InputError("an added token's content is empty; give it at least one character")
        if len(content) > LONGEST_TOKEN:
            raise InputError(
                f"an added token's content has {len(content):,} code points, more than the"
                f" {LONGEST_TOKEN:,} that a token may have: {content!r:.60}"
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
        """Whether it has no `single_word`, `lstrip`, `rstrip`: it matches anywhere, as it is."""
        return not any(self.flags[:3])

    @staticmethod
    def are_plain(tokens: Iterable[AddedToken]) -> bool:
        """Whether all of some tokens are plain; see `is_plain`."""
        return not any(any(flags[:3]) for flags in {token.flags for token in tokens})

    @classmethod
    def of(cls, token: str | AddedToken, **flags: Any) -> AddedToken:
        """`token` itself if it is one, else a new one of that content with these flags.

        Any object with the six fields is accepted as one, such as an `AddedToken` of the tokenizers
        package.

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
                f"a token is a string or an AddedToken, not {type(token).__name__}: {token!r}",
                value=token,
            ) from None

    def replace(self, **changes: Any) -> AddedToken:
        """A copy with some fields changed.

        >>> AddedToken("a").replace(lstrip=True).lstrip
        True
        """
        return AddedToken(**{**self.__getstate__(), **changes})

    def as_special(self) -> AddedToken:
        """The token marked as special, as in the Rust tokenizers: `normalized` becomes False,
        unless it was given.

        >>> (
        ...     AddedToken("a").as_special().normalized,
        ...     AddedToken("a", normalized=True).as_special().normalized,
        ... )
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
        return (
            isinstance(other, AddedToken)
            and self.content == other.content
            and self.flags == other.flags
        )

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
            f"an added token's content holds half of a surrogate pair at {error.start}, which UTF-8"
            f" cannot keep: {content!r}"
        ) from None


def convert_added_tokens(obj: Any, save: bool = False, add_type_field: bool = True) -> Any:
    """Turn every `AddedToken` inside lists and dicts into a dict of its fields, or back.

    >>> convert_added_tokens([AddedToken("a")], save=True)[0]["__type"]
    'AddedToken'
    >>> convert_added_tokens({"x": {"__type": "AddedToken", "content": "a"}})["x"] == AddedToken(
    ...     "a"
    ... )
    True

    Args:
        obj: anything.
        save: from tokens to dicts; else from dicts with a `__type` of "AddedToken" to tokens.
        add_type_field: when saving, mark the dicts with `__type`; else leave `special` out, as
            special_tokens_map.json has it.
    """
    if isinstance(obj, dict):
        if obj.get("__type") == "AddedToken" and not save:
            return AddedToken(**{key: value for key, value in obj.items() if key != "__type"})
        return {
            key: convert_added_tokens(value, save, add_type_field) for key, value in obj.items()
        }
    if isinstance(obj, (list, tuple)):
        return [convert_added_tokens(item, save, add_type_field) for item in obj]
    if isinstance(obj, AddedToken) and save:
        state = obj.__getstate__()
        if add_type_field:
            return {**state, "__type": "AddedToken"}
        del state["special"]
        return state
    return obj
