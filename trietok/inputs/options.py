"""`CallOptions`: all options of a call. `resolve_strategies`: `padding`, `truncation` and
`max_length` to `Strategies`.

In: the arguments as transformers takes them (True, False, a string, an enum, None). Out: a strategy
for padding and one for truncation, and the length that both use; values filled up to a length. The
rules are those of transformers' `_get_padding_truncation_strategies` and `_pad` (4.57.6). The types
of what a call takes stand at the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict

from trietok.errors import (
    ExplicitEnum,
    InputError,
    InputTypeError,
    OptionError,
    SpecialTokenError,
    kind_of,
)
from trietok.inputs.truncation import TruncationStrategy, check_side, padded

if TYPE_CHECKING:
    from trietok.inputs.tensors import Tensors

    class Tokenizer(Protocol):
        """The attributes of a tokenizer that `resolve_strategies` reads."""

        model_max_length: int

        @property
        def pad_token_id(self) -> int | None: ...

        def warn_once(self, key: str, message: str) -> None: ...


class PaddingStrategy(ExplicitEnum):
    """The values of `padding`; True means `longest`, False `do_not_pad`."""

    LONGEST = "longest"
    MAX_LENGTH = "max_length"
    DO_NOT_PAD = "do_not_pad"


def padded_length(length: int, multiple_of: int | None) -> int:
    """`length`, rounded up to a multiple.

    >>> padded_length(9, 8), padded_length(16, 8), padded_length(9, None)
    (16, 16, 9)
    """
    return length if multiple_of is None else -(-length // multiple_of) * multiple_of


def check_multiple(pad_to_multiple_of: int | None) -> None:
    """Raise where a length cannot be rounded up to such a multiple."""
    _check_whole("pad_to_multiple_of", pad_to_multiple_of)
    if pad_to_multiple_of is not None and pad_to_multiple_of < 1:
        raise InputError(f"pad_to_multiple_of is {pad_to_multiple_of}; it is a whole number from 1")


def no_pad_token(why: str) -> SpecialTokenError:
    """The error where a padding token is needed."""
    told = f"{why} and the tokenizer has no pad_token; set one with tokenizer.add_special_tokens"
    return SpecialTokenError(f"{told}({{'pad_token': '[PAD]'}})", role="pad_token")


def pad_values(
    values: dict[str, Any], length: int, *, main_input: str, fillers: dict[str, Any], side: str
) -> dict[str, Any]:
    """Fill the values of one text (`input_ids` and what goes with them) up to `length`; the dict is
    a new one.

    Args:
        values: key → list, all of the length of `values[main_input]`; keys without a filler stay as
            they are.
        length: the number of ids to reach; a text that has as many or more is left as it is.
        main_input: the key of the list whose length is compared with `length`, such as `input_ids`.
        fillers: key → what to fill with.
        side: `"right"` or `"left"`.
    """
    missing = length - len(values[main_input])
    if missing:
        check_side("padding_side", side)
    of_fillers = {
        key: padded(values[key], fillers[key], missing, side == "left")
        for key in fillers
        if key in values
    }
    return {**values, **of_fillers}


def check_first_id(first: Any, main: str) -> None:
    """Raise an InputError where the first value of a batch is no id."""
    if not isinstance(first, int):
        raise InputError(
            f"{main} holds {kind_of(first)}; it should hold ints, or be an array or tensor"
        )


# A model without a known limit has this one, as in transformers; more than LARGE_INTEGER means no
# limit.
VERY_LARGE_INTEGER = int(1e30)
LARGE_INTEGER = int(1e20)

Padding = bool | Literal["longest", "max_length", "do_not_pad"] | PaddingStrategy
Truncation = (
    bool
    | Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
    | TruncationStrategy
    | None
)
Side = Literal["right", "left"]


class CallOptions(NamedTuple):
    """The options of a call, in the order of its arguments and with their defaults."""

    add_special_tokens: bool = True
    padding: Padding = False
    truncation: Truncation = None
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: Side | None = None
    return_tensors: Tensors = None
    return_token_type_ids: bool | None = None
    return_attention_mask: bool | None = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> CallOptions:
        """The options among the arguments of a method."""
        return cls(*map(arguments.__getitem__, cls._fields))

    def of_ints(self) -> CallOptions:
        """The same with ints for the whole numbers of numpy and torch."""
        numbers = as_int(self.max_length), as_int(self.stride), as_int(self.pad_to_multiple_of)
        return self._replace(
            max_length=numbers[0], stride=numbers[1], pad_to_multiple_of=numbers[2]
        )


_LONGEST_NAME = 100  # characters of a keyword that are compared with the names of options
# Keywords that transformers has dropped, and the keywords that replace them.
_REPLACED = {
    "is_pretokenized": "is_split_into_words=...",
    "pad_to_max_length": "padding='max_length'",
    "return_lengths": "return_length=...",
    "truncation_strategy": "truncation=...",
}

# what decides how a text is split, in calls and in `tokenize`
OF_TEXTS = ("split_special_tokens",)
OF_CALLS = ("text", "text_pair", *CallOptions._fields, *OF_TEXTS)
OF_DECODING = (
    "skip_special_tokens",
    "clean_up_tokenization_spaces",
    "spaces_between_special_tokens",
)


def reject_unknown(options: Mapping[str, Any], known: Sequence[str] = OF_CALLS) -> None:
    """Raise an OptionError for unknown keywords, with the one of the known options that may be
    meant.
    """
    reject_replaced(options)
    for name in options:
        near = [] if name in known else get_close_matches(name[:_LONGEST_NAME], known, n=1)
        repair = (
            f"did you mean {near[0]!r}?"
            if near
            else "leave it out; neither the method nor a stage takes it"
        )
        raise OptionError(f"no such option: {name!r}; {repair}", name=name)


def reject_replaced(options: Mapping[str, Any]) -> None:
    """Raise an OptionError for keywords that transformers has dropped; it says what to write
    instead.
    """
    for name in options:
        if name in _REPLACED:
            raise OptionError(
                f"transformers has dropped the keyword {name!r}; write {_REPLACED[name]} instead",
                name=name,
            )


class Strategies(NamedTuple):
    """The two strategies and the length they use; the length is None where there is no limit."""

    padding: PaddingStrategy
    truncation: TruncationStrategy
    max_length: int | None

    @property
    def cuts(self) -> bool:
        """Whether texts are cut that are too long."""
        return (
            self.truncation is not TruncationStrategy.DO_NOT_TRUNCATE
            and self.max_length is not None
        )


def resolve_strategies(
    tokenizer: Tokenizer,
    padding: Padding = False,
    truncation: Truncation = None,
    max_length: int | None = None,
    pad_to_multiple_of: int | None = None,
    verbose: bool = True,
) -> Strategies:
    """Turn the arguments of a call into strategies.

    Raises:
        InputError: a value is unknown, `max_length` is negative, or does not fit
            `pad_to_multiple_of`.
        SpecialTokenError: padding is asked for and there is no padding token.
    """
    _check_length(max_length)
    check_multiple(pad_to_multiple_of)

    def warn(key: str, message: str) -> None:
        if verbose:
            tokenizer.warn_once(key, message)

    if max_length is not None and padding is False and truncation is None:
        warn(
            "Truncation-not-explicitly-activated",
            "max_length is given without truncation: truncating with 'longest_first'; pass"
            " truncation=True to say so",
        )
        truncation = TruncationStrategy.LONGEST_FIRST

    pad, cut = _strategies_of(padding, truncation)
    if max_length is not None and padding is True and cut is TruncationStrategy.DO_NOT_TRUNCATE:
        warn(
            "max_length-ignored",
            "max_length has no effect with padding=True and no truncation; pass"
            " padding='max_length' to pad up to it",
        )
    if max_length is None:
        if not tokenizer.model_max_length <= LARGE_INTEGER:
            pad, cut = _without_maximum(pad, cut, warn)
        if pad is PaddingStrategy.MAX_LENGTH or cut is not TruncationStrategy.DO_NOT_TRUNCATE:
            max_length = as_int(tokenizer.model_max_length)
            _check_length(max_length)

    strategies = Strategies(pad, cut, max_length)
    if pad is not PaddingStrategy.DO_NOT_PAD:
        if tokenizer.pad_token_id is None:
            raise no_pad_token("padding is asked for")
        if strategies.cuts and padded_length(max_length or 0, pad_to_multiple_of) != max_length:
            raise InputError(
                f"texts would be truncated to {max_length}, which is no multiple of "
                f"pad_to_multiple_of={pad_to_multiple_of}; choose a max_length that is"
            )
    return strategies


def _strategies_of(
    padding: Padding, truncation: Truncation
) -> tuple[PaddingStrategy, TruncationStrategy]:
    pad, cut = PaddingStrategy.DO_NOT_PAD, TruncationStrategy.DO_NOT_TRUNCATE
    if padding is not False:
        pad = PaddingStrategy.LONGEST if padding is True else PaddingStrategy(padding)
    if truncation is not False and truncation is not None:
        cut = (
            TruncationStrategy.LONGEST_FIRST
            if truncation is True
            else TruncationStrategy(truncation)
        )
    return pad, cut


def _without_maximum(
    pad: PaddingStrategy, cut: TruncationStrategy, warn: Callable[[str, str], None]
) -> tuple[PaddingStrategy, TruncationStrategy]:
    """What is left of the strategies where neither the call nor the model says a length."""
    if pad is PaddingStrategy.MAX_LENGTH:
        warn(
            "Asking-to-pad-to-max_length",
            "padding='max_length' without max_length, and the model has no maximum: nothing is"
            " padded",
        )
        pad = PaddingStrategy.DO_NOT_PAD
    if cut is not TruncationStrategy.DO_NOT_TRUNCATE:
        warn(
            "Asking-to-truncate-to-max_length",
            "truncation without max_length, and the model has no maximum: nothing is truncated",
        )
    return pad, TruncationStrategy.DO_NOT_TRUNCATE


def warn_of_length(tokenizer: Tokenizer, length: int) -> None:
    """Log, once for a tokenizer, that a text has more ids than the model takes."""
    tokenizer.warn_once(
        "sequence-length-is-longer-than-the-specified-maximum",
        f"a text has {length} tokens, more than the {tokenizer.model_max_length} the model takes;"
        " pass truncation=True",
    )


def as_int(value: Any) -> Any:
    """A whole number of numpy or torch as an int; everything else as it is."""
    try:
        return operator.index(value)
    except TypeError:
        return value


def _check_length(max_length: int | None) -> None:
    _check_whole("max_length", max_length)
    if max_length is not None and max_length < 0:
        raise InputError(f"max_length is {max_length}; a length is a whole number from 0")


def _check_whole(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, int):
        raise InputTypeError(f"{name} is {value!r}; it is a whole number or None", value=value)


# The types of what a call takes, for type checkers and editors: `Text` and its relatives, and the
# keywords of methods. A subclass whose `prepare_for_tokenization` takes keywords of its own says so
# in its `__call__`:
#
#     class Shouting(trietok.BertTokenizer):
#         if TYPE_CHECKING:
#             def __call__(self, *args: Any, shout: bool = False, **kwargs: Any) -> BatchEncoding:
#             ...


class Array(Protocol):
    """A numpy array, a tensor, a pandas Series: anything with a length that can be made a list."""

    def __len__(self) -> int: ...
    def tolist(self) -> Any: ...


# A text; several, or words; a batch of either, or of pairs; a batch of pairs of words. (A str is a
# sequence of str.)
Text = str | Sequence[str] | Sequence[Sequence[str]] | Sequence[Sequence[Sequence[str]]] | Array
TextOrIds = Text | Sequence[int]  # also the ids of a text, which the slow profile takes
TokenIds = int | Sequence[int] | Array


class TextKeywords(TypedDict, total=False):
    """The keywords that concern the special tokens in texts."""

    split_special_tokens: bool | None


class OwnKeywords(TypedDict):
    """Keywords that a class's `prepare_for_tokenization` takes; none by default."""


class ColumnKeywords(TypedDict, total=False):
    """Which columns a call returns, and what it logs."""

    pad_to_multiple_of: int | None
    return_token_type_ids: bool | None
    return_attention_mask: bool | None
    return_overflowing_tokens: bool
    return_special_tokens_mask: bool
    return_offsets_mapping: bool
    return_length: bool
    verbose: bool


class EncodeKeywords(TextKeywords, ColumnKeywords, total=False):
    """The keywords of `encode` beside its parameters."""

    is_split_into_words: bool


class _LengthKeywords(TypedDict, total=False):
    padding: Padding
    truncation: Truncation
    max_length: int | None
    stride: int
    padding_side: Side | None


class TensorKeywords(_LengthKeywords, EncodeKeywords, total=False):
    """The keywords of `encode` where it is to return a tensor."""

    add_special_tokens: bool


class ShapeKeywords(_LengthKeywords, total=False):
    """How a call cuts and pads."""

    return_tensors: Tensors


class TokenizeKeywords(ShapeKeywords, EncodeKeywords, total=False):
    """The keywords of the fast profile's `tokenize`."""


class CallKeywords(TokenizeKeywords, total=False):
    """All keywords of a call but its texts."""

    add_special_tokens: bool


class DecodeKeywords(TypedDict, total=False):
    """The keywords of `decode` beside its parameters."""

    spaces_between_special_tokens: bool
    use_source_tokenizer: bool
