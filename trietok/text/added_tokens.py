"""`AddedToken`: a token that is matched whole, with transformers' flags.

`trietok.text.added_search` finds it in texts.
"""

from __future__ import annotations

from typing import Any

from trietok.errors import InputError, InputTypeError

LONGEST_TOKEN = 100_000  # code points: far more than a token has that anything is trained with
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_COMPARED = ("content", *_FLAGS)


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

    As in transformers, `special` can be set. The other fields cannot; `replace` returns a changed
    copy. A tokenizer keeps its own copy, which cannot be changed at all.

    Raises:
        InputTypeError: `content` is not a string.
        InputError: `content` is empty, or holds half of a surrogate pair, which no file can keep;
            or it has more than 100,000 code points.
    """

    __slots__ = (
        *("_normalized", "content", "is_kept", "lstrip", "rstrip", "single_word", "special"),
    )

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    special: bool
    is_kept: bool  # by a tokenizer, so that nothing may be set
    _normalized: bool | None

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
        _set["content"](self, content)
        _set["single_word"](self, bool(single_word))
        _set["lstrip"](self, bool(lstrip))
        _set["rstrip"](self, bool(rstrip))
        _set["_normalized"](self, None if normalized is None else bool(normalized))
        _set["special"](self, bool(special))
        _set["is_kept"](self, False)

    @property
    def normalized(self) -> bool:
        """Whether texts are normalized before the token is looked for."""
        return not self.special if self._normalized is None else self._normalized

    @property
    def is_plain(self) -> bool:
        """Whether it has no `single_word`, `lstrip`, `rstrip`: it matches anywhere, as it is."""
        return not (self.single_word or self.lstrip or self.rstrip)

    @classmethod
    def of(cls, token: str | AddedToken, **flags: Any) -> AddedToken:
        """Return the token as a tokenizer keeps it; a string gets these flags.

        Any object with the six fields is accepted as one, such as an `AddedToken` of the tokenizers
        package.

        Raises:
            InputTypeError: it is neither a string nor such an object.
        """
        if isinstance(token, cls):
            if token.is_kept:
                return token
            kept = token._copy()
        elif isinstance(token, str):
            kept = cls(token, **flags)
        else:
            try:
                kept = cls(token.content, **{name: getattr(token, name) for name in _FLAGS})
            except AttributeError:
                raise InputTypeError(
                    f"a token is a string or an AddedToken, not {type(token).__name__}: {token!r}",
                    value=token,
                ) from None
        _set["is_kept"](kept, True)
        return kept

    def replace(self, **changes: Any) -> AddedToken:
        """Return a copy with some fields changed.

        >>> AddedToken("a").replace(lstrip=True).lstrip
        True
        """
        return AddedToken(**{**self.__getstate__(), **changes})

    def as_special(self) -> AddedToken:
        """Return the token marked as special, as the Rust tokenizers mark it: `normalized` becomes
        False, unless it was given.

        >>> (
        ...     AddedToken("a").as_special().normalized,
        ...     AddedToken("a", normalized=True).as_special().normalized,
        ... )
        (False, True)
        """
        return self.replace(special=True, normalized=self._normalized)

    def _copy(self) -> AddedToken:
        return self.replace(normalized=self._normalized)

    def __getstate__(self) -> dict[str, Any]:
        """Return the six fields, as in tokenizer_config.json."""
        return {name: getattr(self, name) for name in _COMPARED}

    def __reduce__(self) -> Any:
        return _added_token_from_state, (self.__getstate__(),)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "special":
            raise AttributeError(
                f"{name} of an AddedToken cannot be set; use token.replace({name}=...)"
            )
        if self.is_kept:
            raise AttributeError(
                "this AddedToken is that of a tokenizer; add it again: token.replace(special=...)"
            )
        _set["special"](self, bool(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and (
            self is other or all(getattr(self, name) == getattr(other, name) for name in _COMPARED)
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
_set = {name: AddedToken.__dict__[name].__set__ for name in AddedToken.__slots__}


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
