"""`BatchEncoding`: a dict of lists or tensors, with transformers' methods (`word_ids`,
`char_to_token`, ...).

In: `input_ids`, `token_type_ids`, `attention_mask`, ... of one text or a batch. Out: the same, as
lists or tensors.
"""

from __future__ import annotations

import logging
import sys
from collections import UserDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from trietok.errors import InputError
from trietok.inputs.tensors import Tensors, TensorType, to_tensor
from trietok.typing_compat import Self

if TYPE_CHECKING:
    from typing import Protocol

    from trietok.inputs.encoding import Encoding

    class Maker(Protocol):
        """Computes the details of a result."""

        @property
        def is_fast(self) -> bool: ...
        def encodings(self, given: Any, input_ids: Any) -> Any: ...


logger = logging.getLogger("trietok")


class CharSpan(NamedTuple):
    """A half-open span of code points in a text."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """A half-open span of tokens in an encoding."""

    start: int
    end: int


# The keys of what calls return.
Column = Literal[
    "input_ids",
    "token_type_ids",
    "attention_mask",
    "special_tokens_mask",
    "offset_mapping",
    "length",
    "overflow_to_sample_mapping",
    "overflowing_tokens",
    "num_truncated_tokens",
    "labels",
]


class BatchEncoding(UserDict[str, Any]):
    """The result of a call: its values by key and by attribute, as in transformers.

    Args:
        data: key → list or tensor, for one text or a batch.
        encoding: per-text details (offsets and words), if the caller has them.
        tensor_type: `"np"` or `"pt"` to convert every value at once.
        prepend_batch_axis: give tensors a batch axis of one.
        n_sequences: 1 for single texts, 2 for pairs, None where not known.
        details: an object that computes `encoding` when it is first needed, and the argument it
            gets then.

    >>> encoding = BatchEncoding({"input_ids": [[2, 7, 3], [2, 3, 0]]})
    >>> encoding.input_ids[0], encoding["input_ids"][1], encoding[:1]
    ([2, 7, 3], [2, 3, 0], {'input_ids': [[2, 7, 3]]})
    """

    # the attributes of `__getattr__`: a list or tensor for one text or a batch, as the call says
    if TYPE_CHECKING:
        input_ids: Any
        token_type_ids: Any
        attention_mask: Any
        special_tokens_mask: Any
        offset_mapping: Any
        length: Any
        overflow_to_sample_mapping: Any
        overflowing_tokens: Any
        num_truncated_tokens: Any
        labels: Any

    # What no call has set: quicker to read of the class than to set.
    _encodings: Any = None
    _n_sequences: int | None = None

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        encoding: Encoding | Sequence[Encoding] | None = None,
        tensor_type: Tensors = None,
        prepend_batch_axis: bool = False,
        n_sequences: int | None = None,
        *,
        details: tuple[Maker, Any] | None = None,
    ) -> None:
        # faster than UserDict.__init__
        self.data: dict[str, Any] = {} if data is None else dict(data)
        given: Any = (
            encoding if encoding is None or isinstance(encoding, (list, tuple)) else [encoding]
        )
        self._encodings = given
        self._later = details
        self._n_sequences = given[0].n_sequences if n_sequences is None and given else n_sequences
        if tensor_type is not None:
            self.convert_to_tensors(tensor_type, prepend_batch_axis)

    @classmethod
    def of_lists(cls, data: dict[str, Any], details: tuple[Maker, Any]) -> BatchEncoding:
        """A result whose values stay lists, made in less time; it keeps `data` itself."""
        encoding = object.__new__(cls)
        encoding.data = data
        encoding._later = details
        return encoding

    @property
    def n_sequences(self) -> int | None:
        """1 for single texts, 2 for pairs, None where not known."""
        if self._n_sequences is None and self.is_fast:
            self._n_sequences = self._details("n_sequences").n_sequences
        return self._n_sequences

    @property
    def is_fast(self) -> bool:
        """Whether it has details, in `encodings`, as results of transformers' Rust tokenizers
        do.
        """
        return self._encodings is not None if self._later is None else self._later[0].is_fast

    @property
    def encodings(self) -> list[Encoding] | None:
        """The per-text details, or None if the tokenizer is of the slow profile."""
        return self._worked_out() if self.is_fast else None

    def _repr_html_(self) -> str:
        """The tokens of each row, coloured, over the texts that they are of: how a notebook shows
        the result.
        """
        from trietok.showing.html import html_of  # it reads a style sheet, for notebooks only

        given = None if self._later is None else self._later[1]
        return html_of(self.data, self._encodings, self._later and self._later[0], given)

    def work_out_by(self, maker: Maker, given: Any = None) -> None:
        """Let `maker` compute the details from `given` when they are first needed."""
        self._later = maker, given

    def _worked_out(self) -> Any:
        if self._encodings is None and self._later is not None:
            maker, given = self._later
            self._encodings = maker.encodings(given, self.data.get("input_ids"))
        return self._encodings

    @overload
    def __getitem__(self, item: Column) -> Any: ...
    @overload
    def __getitem__(self, item: str) -> Any: ...
    @overload
    def __getitem__(self, item: int) -> Encoding: ...
    @overload
    def __getitem__(self, item: slice) -> Any: ...
    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, str):
            return self.data[item]
        if self.is_fast:
            return self._worked_out()[item]
        if isinstance(item, slice):
            return {key: value[item] for key, value in self.data.items()}
        raise KeyError(
            f"invalid key {item!r}: use a string such as 'input_ids', or a slice for a part of the"
            " batch; one text's details by number are kept by fast tokenizers only"
        )

    if not TYPE_CHECKING:  # a type checker shall know a misspelt name

        def __getattr__(self, name: str) -> Any:
            data = self.__dict__.get("data", {})
            if name in data:
                return data[name]
            kind = type(self).__name__
            raise AttributeError(
                f"{kind} has no attribute and no key {name!r}; its keys are {list(data)}"
            )

    def __getstate__(self) -> dict[str, Any]:
        # The pickle holds the details, not the object that computes them, which would bring the
        # tokenizer with it.
        return {"data": self.data, "encodings": self.encodings, "n_sequences": self._n_sequences}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.data = state["data"]
        self._encodings = state["encodings"]
        self._n_sequences = state.get("n_sequences")
        self._later = None

    def convert_to_tensors(
        self, tensor_type: Tensors = None, prepend_batch_axis: bool = False
    ) -> Self:
        """Turn every value into a tensor, in place.

        Args:
            tensor_type: `"np"`, `"pt"`, or None to change nothing.
            prepend_batch_axis: add a first axis of length one.

        Raises:
            InputError: the type is unknown, or rows have different lengths.
            MissingDependencyError: numpy or torch is not installed.
        """
        if tensor_type is None:
            return self
        tensor_type = TensorType(tensor_type)
        for key, value in self.data.items():
            try:
                self.data[key] = to_tensor([value] if prepend_batch_axis else value, tensor_type)
            except (ValueError, TypeError, RuntimeError) as error:
                hint = "; ask for return_tensors=None"
                # no option makes the rows of that one equally long
                if key != "overflowing_tokens":
                    hint = (
                        " or its nesting is too deep; activate padding and truncation with"
                        " padding=True, truncation=True"
                    )
                what = (
                    f"unable to create a tensor of {key!r}: its rows have different lengths{hint}"
                )
                raise InputError(what) from error
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> Self:
        """Move every PyTorch tensor to a device, in place.

        Args:
            device: a str such as `"cuda:0"`, a number or a `torch.device`. For anything else, such
                as a dtype, a warning is logged and nothing changes: ids in float16 would be wrong.
            non_blocking: copy without waiting, where possible.
        """
        torch = sys.modules.get("torch")  # nobody has a tensor without it
        if not isinstance(device, (str, int) if torch is None else (str, int, torch.device)):
            logger.warning("to(%s) was ignored: a BatchEncoding moves to devices only", device)
            return self
        self.data = {
            key: (
                value.to(device=device, non_blocking=non_blocking)
                if callable(getattr(value, "to", None))
                else value
            )
            for key, value in self.data.items()
        }
        return self

    # ---- offsets and words: computed when they are first needed ----------------------------------

    def _details(self, method: str, index: int = 0) -> Encoding:
        encodings: list[Encoding] | None = self._worked_out()
        if not encodings:
            raise InputError(f"{method}() is not available: this was not made from texts")
        return encodings[index]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The tokens of one text."""
        return self._details("tokens", batch_index).tokens

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each token 0 or 1, the text of the pair it comes from; None for special tokens."""
        return self._details("sequence_ids", batch_index).sequence_ids

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each token the number of its word; None for special tokens."""
        return self._details("word_ids", batch_index).word_ids

    def words(self, batch_index: int = 0) -> list[int | None]:
        """The old name of `word_ids`."""
        return self.word_ids(batch_index)

    def _located(self, method: str, batch_or_index: int, index: int | None) -> tuple[Encoding, int]:
        if index is None:
            batch_or_index, index = 0, batch_or_index
        encodings = self._encodings  # most often worked out already
        return (
            encodings[batch_or_index] if encodings else self._details(method, batch_or_index)
        ), index

    def token_to_sequence(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """The text of the pair, 0 or 1, that a token comes from."""
        details, index = self._located("token_to_sequence", batch_or_token_index, token_index)
        return details.token_to_sequence(index)

    def token_to_word(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """The number of the word that a token is part of."""
        details, index = self._located("token_to_word", batch_or_token_index, token_index)
        return details.token_to_word(index)

    def word_to_tokens(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> TokenSpan | None:
        """The tokens that a word became."""
        details, index = self._located("word_to_tokens", batch_or_word_index, word_index)
        span = details.word_to_tokens(index, sequence_index)
        return None if span is None else TokenSpan(*span)

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> CharSpan | None:
        """The code points of the text that a token stands for."""
        details, index = self._located("token_to_chars", batch_or_token_index, token_index)
        span = details.token_to_chars(index)
        return None if span is None else CharSpan(*span)

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The token that holds a code point of the text."""
        details: Encoding
        if char_index is None and self._encodings:  # as most often: one text, asked before
            details, index = self._encodings[0], batch_or_char_index
        else:
            details, index = self._located("char_to_token", batch_or_char_index, char_index)
        return details.char_to_token(index, sequence_index)

    def word_to_chars(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> CharSpan | None:
        """The code points of the text that a word stands for; None for a word that became no
        token.
        """
        details, index = self._located("word_to_chars", batch_or_word_index, word_index)
        span = details.word_to_chars(index, sequence_index)
        return None if span is None else CharSpan(*span)

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The number of the word that holds a code point of the text."""
        details, index = self._located("char_to_word", batch_or_char_index, char_index)
        return details.char_to_word(index, sequence_index)
