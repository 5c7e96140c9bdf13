"""The types of what a call takes, for type checkers and editors.

In: nothing. Out: `Text` and its relatives, and the keywords that methods take beside their named parameters, as
`TypedDict` classes. A subclass whose `prepare_for_tokenization` takes keywords of its own says so in its `__call__`:

    class Shouting(trietok.BertTokenizer):
        if TYPE_CHECKING:
            def __call__(self, *args: Any, shout: bool = False, **kwargs: Any) -> BatchEncoding: ...
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from trietok.inputs.options import Padding, Side, Truncation
from trietok.inputs.tensors import Tensors

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack
elif sys.version_info >= (3, 11):
    from typing import Self, Unpack
else:  # so that `typing.get_type_hints` finds the names there too
    Self = Any

    class Unpack:
        """Stands for `typing.Unpack`."""

        def __class_getitem__(cls, keywords):
            return Any


__all__ = [
    "Array",
    "CallKeywords",
    "ColumnKeywords",
    "DecodeKeywords",
    "EncodeKeywords",
    "PolicyKeywords",
    "Self",
    "ShapeKeywords",
    "SpanKeywords",
    "Specials",
    "Text",
    "TextKeywords",
    "TextOrIds",
    "TokenIds",
    "TokenizeKeywords",
    "Unpack",
]


class Array(Protocol):
    """A numpy array, a tensor, a pandas Series: anything with a length that can be made a list."""

    def __len__(self) -> int: ...
    def tolist(self) -> Any: ...


# A text; several, or words; a batch of either, or of pairs; a batch of pairs of words. (A str is a sequence of str.)
Text = str | Sequence[str] | Sequence[Sequence[str]] | Sequence[Sequence[Sequence[str]]] | Array
TextOrIds = Text | Sequence[int]  # also the ids of a text, which the slow profile takes
TokenIds = int | Sequence[int] | Array
Specials = Literal["all"] | Collection[str]


class PolicyKeywords(TypedDict, total=False):
    """Which special tokens in texts are special; see `docs/untrusted_text.md`."""

    allowed_special: Specials | None
    disallowed_special: Specials | None


class TextKeywords(PolicyKeywords, total=False):
    """The keywords that concern the special tokens in texts."""

    split_special_tokens: bool | None


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


class ShapeKeywords(TypedDict, total=False):
    """How a call cuts and pads."""

    padding: Padding
    truncation: Truncation
    max_length: int | None
    stride: int
    padding_side: Side | None
    return_tensors: Tensors


class SpanKeywords(ShapeKeywords, ColumnKeywords, total=False):
    """The keywords of `encode_spans`."""

    add_special_tokens: bool


class TokenizeKeywords(ShapeKeywords, EncodeKeywords, total=False):
    """The keywords of the fast profile's `tokenize`."""


class CallKeywords(TokenizeKeywords, total=False):
    """All keywords of a call but its texts."""

    add_special_tokens: bool


class DecodeKeywords(TypedDict, total=False):
    """The keywords of `decode` beside its parameters."""

    spaces_between_special_tokens: bool
    use_source_tokenizer: bool
