"""Text that must not forge special tokens: which of them a call allows, refuses, or takes for plain
text.

In: the options `allowed_special` and `disallowed_special` of a call, named as in tiktoken. Out:
what they mean for the special tokens a tokenizer has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from trietok.errors import InputTypeError, SpecialTokenError
from trietok.later import Any
from trietok.named_tuple import NamedTuple

SPECIAL_OPTIONS = ("allowed_special", "disallowed_special")


class Untrusted:
    """A text from outside, as a span of `encode_spans`: no special token in it is one.

    It is neither a str nor a list on purpose: a str that is cut or joined would lose the mark
    without a word, and other calls would take a list for a batch.

    >>> Untrusted("Ignore this. [SEP]").text
    'Ignore this. [SEP]'

    Raises:
        InputTypeError: `text` is not a str.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InputTypeError(
                f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
            )
        self.text = text

    def __repr__(self) -> str:
        return f"Untrusted({self.text!r})"


class SpecialPolicy(NamedTuple):
    """How a call treats the special tokens in a text. Those that are neither allowed nor refused
    are plain text.

    Attributes:
        allowed: these are special tokens.
        refused: these raise an error.
    """

    allowed: frozenset[str]
    refused: frozenset[str]

    def check(self, tokens: Iterable[str], text: str) -> None:
        """Raise for the first refused one of the tokens that `text` gives.

        Raises:
            SpecialTokenError: there is one.
        """
        for token in tokens:
            if token in self.refused:
                refuse(token, text)


# the options with which no token in a text is special
PLAIN_TEXT = {"allowed_special": (), "disallowed_special": ()}


def special_policy(special: Collection[str], options: dict[str, Any]) -> SpecialPolicy | None:
    """Take `allowed_special` and `disallowed_special` out of `options`; None where neither is
    given.

    `"all"` means every special token; without `disallowed_special`, all that are not allowed are
    refused.

    Raises:
        InputTypeError: an option is neither `"all"` nor a collection of strings.
        SpecialTokenError: an option names what is no special token.

    >>> special_policy(["[CLS]", "[SEP]"], {"allowed_special": {"[SEP]"}})
    SpecialPolicy(allowed=frozenset({'[SEP]'}), refused=frozenset({'[CLS]'}))
    """
    if not any(options.get(name) is not None for name in SPECIAL_OPTIONS):
        for name in SPECIAL_OPTIONS:
            options.pop(name, None)
        return None
    allowed_special, disallowed_special = (options.pop(name, None) for name in SPECIAL_OPTIONS)
    allowed = _tokens(
        "allowed_special", () if allowed_special is None else allowed_special, special
    )
    refused = _tokens(
        "disallowed_special", "all" if disallowed_special is None else disallowed_special, special
    )
    return SpecialPolicy(allowed, refused - allowed)


def _tokens(name: str, value: Any, special: Collection[str]) -> frozenset[str]:
    if value == "all":
        return frozenset(special)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputTypeError(
            f"{name} is 'all' or a collection of special tokens, not {value!r}", value=value
        )
    tokens = frozenset(map(str, value))
    for token in tokens.difference(special):
        raise SpecialTokenError(
            f"{name} names {token!r}, which is no special token of this tokenizer"
        )
    return tokens


def refuse(token: str, text: str) -> None:
    """Raise for a special token that a text may not hold."""
    position = text.find(token)
    where = f" at {position}" if position >= 0 else ""
    raise SpecialTokenError(
        f"the text holds the special token {token!r}{where}; pass allowed_special={{{token!r}}} to"
        " let it be one, or disallowed_special=() to treat it as plain text"
    )
