"""`DataCollatorWithPadding`: examples of several lengths to one batch.

In: a list of encoded texts, as a data loader hands them over. Out: one `BatchEncoding` of tensors of shape
(batch, sequence). As transformers 4.57.6 does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from trietok.errors import InputError, InputTypeError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import kind_of
from trietok.inputs.options import Padding
from trietok.inputs.tensors import Tensors, TensorType
from trietok.tokenizer.pretrained import PreTrainedTokenizer


def tensors_at_hand() -> str:
    """`"pt"`, transformers' default, where torch is installed; else `"np"`. Nothing is imported."""
    return "np" if find_spec("torch") is None else "pt"


def list_of_examples(features: object) -> list[object]:
    """What a collator is called with, as a list.

    Raises:
        InputTypeError: it is one encoding, or no list at all.
        InputError: it is empty.
    """
    if hasattr(features, "keys") or not hasattr(features, "__iter__") or isinstance(features, (str, bytes)):
        raise InputTypeError(
            f"a collator takes a list of examples, such as [dataset[i] for i in range(8)], not {kind_of(features)}",
            value=features,
        )
    examples = list(features)
    if not examples:
        raise InputError("a batch has at least one example; this list is empty")
    return examples


def check_multiple(pad_to_multiple_of: int | None) -> None:
    """Raise an InputError unless it is None or a whole number from 1."""
    if pad_to_multiple_of is None:
        return
    if not isinstance(pad_to_multiple_of, int):
        raise InputTypeError(
            f"pad_to_multiple_of is {pad_to_multiple_of!r}; it is a whole number or None", value=pad_to_multiple_of
        )
    if pad_to_multiple_of < 1:
        raise InputError(f"pad_to_multiple_of is {pad_to_multiple_of}; it is a whole number from 1")


@dataclass
class DataCollatorWithPadding:
    """Pads the examples of a batch to one length, with transformers' parameters.

    Args:
        tokenizer: says what to pad with and on which side.
        padding: True or `"longest"` for the longest of the batch; `"max_length"`; False for none.
        max_length: for `"max_length"`, in tokens; None for the tokenizer's `model_max_length`.
        pad_to_multiple_of: round the length up to a multiple, in tokens.
        return_tensors: `"np"` or `"pt"`; None for `"pt"` where torch is installed, else `"np"`.

    Raises:
        InputError: an argument cannot be.

    A `label` or `label_ids` of the examples becomes `labels`, the name under which models take it.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> collator = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=4, return_tensors="np")
    >>> batch = collator([{"input_ids": [2, 134, 289, 3], "label": 1}, {"input_ids": [2, 3], "label": 0}])
    >>> batch.input_ids.tolist(), batch.attention_mask.tolist(), batch.labels.tolist()
    ([[2, 134, 289, 3], [2, 3, 0, 0]], [[1, 1, 1, 1], [1, 1, 0, 0]], [1, 0])
    """

    tokenizer: PreTrainedTokenizer
    padding: Padding = True
    max_length: int | None = None
    pad_to_multiple_of: int | None = None
    return_tensors: Tensors = None

    def __post_init__(self) -> None:
        check_multiple(self.pad_to_multiple_of)
        self.return_tensors = TensorType(self.return_tensors or tensors_at_hand()).value

    def __call__(self, features: object) -> BatchEncoding:
        """One batch.

        Args:
            features: a list of dicts or `BatchEncoding`s, one a text.

        Returns:
            Every value as a tensor; `input_ids` and what goes with them of shape (batch, sequence), int64.

        Raises:
            InputError: the list is empty, or the examples do not fit together.
            SpecialTokenError: the tokenizer has no padding token.
            MissingDependencyError: numpy or torch is not installed.
        """
        batch = self.tokenizer.pad(
            list_of_examples(features),
            padding=self.padding,
            max_length=self.max_length,
            pad_to_multiple_of=self.pad_to_multiple_of,
            return_tensors=self.return_tensors,
        )
        for name in ("label", "label_ids"):
            if name in batch:
                batch["labels"] = batch.pop(name)
        return batch
