"""Turn lists of examples into batches, with the names and parameters of transformers 4.57.6.

`DataCollatorWithPadding` pads, `DataCollatorForLanguageModeling` also masks, and
`DataCollatorWithFlattening` concatenates without padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from importlib.util import find_spec
from itertools import accumulate, chain
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    SpecialTokenError,
    imported,
    kind_of,
    whole_number,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding, check_multiple, padded_length
from trietok.inputs.tensors import Tensors, TensorType, to_python, to_tensor
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.base import PreTrainedTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trietok.batches.masking import FlagArray, IdArray

Masking = Literal["each", "exact", "spans"]

IGNORED_LABEL = -100  # the losses of PyTorch and transformers ignore it
_IDS, _LABELS = "input_ids", "labels"
_CHINESE_REF = "chinese_ref"
_UNPADDED = (_CHINESE_REF, "offset_mapping")  # models do not take them, and `pad` cannot pad them


@dataclass
class DataCollatorWithPadding:
    """Pad the examples of a batch to one length.

    Args:
        tokenizer: defines the padding values and the side.
        padding: True or `"longest"` for the longest example of the batch, `"max_length"`, or False.
        max_length: number of tokens for `padding="max_length"`; by default `model_max_length`.
        pad_to_multiple_of: round the length up to a multiple, in tokens.
        return_tensors: `"np"` or `"pt"`; by default `"pt"` if torch is installed, else `"np"`.

    A `label` or `label_ids` of the examples becomes `labels`, the name that models take.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> collator = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=4, return_tensors="np")
    >>> batch = collator(
    ...     [{"input_ids": [2, 134, 289, 3], "label": 1}, {"input_ids": [2, 3], "label": 0}]
    ... )
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
        self.return_tensors = _tensor_type(self.return_tensors).value

    def __call__(self, features: object) -> BatchEncoding:
        """Return the tensors of a batch; `input_ids` and the masks are int64, (batch, sequence).

        Args:
            features: a list of dicts or `BatchEncoding`s, one for each text.

        Raises:
            InputError: the list is empty, or an example lacks a key of the first one.
            SpecialTokenError: the tokenizer has no padding token.
        """
        batch = self.tokenizer.pad(
            _check_dicts(_examples_of(features)),
            padding=self.padding,
            max_length=self.max_length,
            pad_to_multiple_of=self.pad_to_multiple_of,
            return_tensors=self.return_tensors,
        )
        for name in ("label", "label_ids"):
            if name in batch:
                batch[_LABELS] = batch.pop(name)
        return batch


@dataclass
class DataCollatorWithFlattening:
    """Concatenate the examples of a batch into one sequence without padding.

    The model has to keep the texts apart: by `position_ids`, which restart at 0 with each text, by
    `seq_idx`, or by the arguments of FlashAttention.

    Args:
        return_tensors: `"np"` or `"pt"`; by default `"pt"` if torch is installed, else `"np"`.
        return_position_ids: return the position of each token in its text as `position_ids`.
        separator_id: label of the first token of each text.
        return_flash_attn_kwargs: return the boundaries of the texts as `cu_seq_lens_q` and
            `cu_seq_lens_k`, and the length of the longest text as `max_length_q` and
            `max_length_k`.
        return_seq_idx: return the number of each token's text as `seq_idx`.

    >>> collator = DataCollatorWithFlattening("np", return_flash_attn_kwargs=True)
    >>> batch = collator([{"input_ids": [2, 134, 289, 3]}, {"input_ids": [2, 134, 3]}])
    >>> for name, value in batch.items():
    ...     print(name, value)
    input_ids [[  2 134 289   3   2 134   3]]
    labels [[-100  134  289    3 -100  134    3]]
    position_ids [[0 1 2 3 0 1 2]]
    cu_seq_lens_q [0 4 7]
    cu_seq_lens_k [0 4 7]
    max_length_q 4
    max_length_k 4
    """

    return_tensors: Tensors = None
    _: KW_ONLY
    return_position_ids: bool = True
    separator_id: int = IGNORED_LABEL
    return_flash_attn_kwargs: bool = False
    return_seq_idx: bool = False

    def __post_init__(self) -> None:
        self.return_tensors = _tensor_type(self.return_tensors).value

    def __call__(
        self, features: object, return_tensors: Tensors = None, separator_id: int | None = None
    ) -> BatchEncoding:
        """Return a batch.

        Args:
            features: a list of dicts or `BatchEncoding`s with `input_ids`, one for each text. If
                the first has `labels`, all need them; otherwise the labels are the ids. Other keys
                are ignored.
            return_tensors, separator_id: replace the collator's for this batch.

        Returns:
            `input_ids`, `labels` and `position_ids` as int64, and `seq_idx` as int32, (1, tokens).
            The boundaries are int32, (texts + 1,), and the lengths are ints.

        Raises:
            InputError: the list is empty, or an example has no `input_ids` or unsuitable `labels`.
        """
        kind = _tensor_type(return_tensors, self.return_tensors)
        library = "torch" if kind is TensorType.PYTORCH else "numpy"
        package = imported(library, library)
        separator = self.separator_id if separator_id is None else separator_id
        separator = whole_number("separator_id", separator)
        examples = _check_dicts(_examples_of(features))
        texts = _column(examples, _IDS)
        labels = _column(examples, _LABELS) if _LABELS in examples[0] else texts
        lengths = list(map(len, texts))
        for number, (row, length) in enumerate(zip(labels, lengths, strict=True)):
            if len(row) != length:
                raise InputError(f"item {number} has {len(row)} labels for {length} input_ids")
        columns = {
            _IDS: list(chain(*texts)),
            _LABELS: list(chain(*([separator, *row[1:]] for row in labels if row))),
        }
        if self.return_position_ids:
            columns["position_ids"] = list(chain(*map(range, lengths)))
        batch = {
            name: package.asarray([column], dtype=package.int64) for name, column in columns.items()
        }
        if self.return_seq_idx:
            numbers = [number for number, length in enumerate(lengths) for _ in range(length)]
            batch["seq_idx"] = package.asarray([numbers], dtype=package.int32)
        if self.return_flash_attn_kwargs:
            for name in ("cu_seq_lens_q", "cu_seq_lens_k"):
                batch[name] = package.asarray([0, *accumulate(lengths)], dtype=package.int32)
            batch["max_length_q"] = batch["max_length_k"] = max(lengths)
        return BatchEncoding(batch)


@dataclass
class DataCollatorForLanguageModeling:
    """Pad and mask a batch for masked language modelling, or label it for causal modelling.

    A share of the tokens is chosen, never special tokens or padding. A chosen token becomes the
    mask token, or a random token of the vocabulary, or stays the same. Its label is its id; every
    other label is -100.

    Args:
        tokenizer: defines the padding, the special tokens and the mask token.
        mlm: if False, nothing is masked; the labels are the ids, and -100 at padding.
        whole_word_mask: choose whole words: tokens such as `##able` continue a word.
        mlm_probability: share of the tokens to choose, or probability of each whole word.
        mask_replace_prob: share of the chosen tokens that become the mask token.
        random_replace_prob: share of the chosen tokens that become a random token.
        pad_to_multiple_of: round the length of the batch up to a multiple, in tokens.
        tf_experimental_compile: must be False; trietok does not support TensorFlow.
        return_tensors: `"np"` or `"pt"`; by default `"pt"` if torch is installed, else `"np"`.
        seed: makes the masks repeatable. By default they come from the global random state.
        masking: `"each"` chooses each token or word by itself, as BERT and transformers do.
            `"exact"` chooses the exact share of each text, as RoBERTa does. `"spans"` does so in
            spans of up to ten tokens or words, as SpanBERT does: their lengths are geometric, and
            all tokens of a span are replaced alike.

    Raises:
        InputError: a share is not between 0 and 1, or another argument is wrong.
        SpecialTokenError: `mlm` without a mask token.

    **Seed.** With a seed, the masks depend only on the seed, the epoch and the ids of the batch.
    They are the same in any process, for any number of workers, and as arrays or tensors. If every
    epoch has the same batches, call `set_epoch(epoch)` before it starts. Workers that
    `persistent_workers=True` keeps do not see the new epoch.

    Without a seed, each call draws from PyTorch's global generator, or from numpy's for arrays.
    `Trainer` seeds both, so a run is repeatable with the same number of workers.

    **Chinese words.** A Chinese character is a word. If an example has `chinese_ref`, as for
    transformers' `DataCollatorForWholeWordMask`, the characters at these positions continue the
    word before them.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> collator = DataCollatorForLanguageModeling(
    ...     tokenizer, mlm_probability=0.4, return_tensors="np", seed=7
    ... )
    >>> batch = collator([tokenizer("the people of the united states"), tokenizer("the people")])
    >>> print(batch.input_ids)
    [[   2  134 4774    4  134  509    4    3]
     [   2    4  289    3    0    0    0    0]]
    >>> print(batch.labels)
    [[-100 -100  289  142 -100 -100  444 -100]
     [-100  134 -100 -100 -100 -100 -100 -100]]
    """

    tokenizer: PreTrainedTokenizer
    mlm: bool = True
    whole_word_mask: bool = False
    mlm_probability: float = 0.15
    mask_replace_prob: float = 0.8
    random_replace_prob: float = 0.1
    pad_to_multiple_of: int | None = None
    tf_experimental_compile: bool = False
    return_tensors: Tensors = None
    seed: int | None = None
    _: KW_ONLY
    masking: Masking = "each"
    epoch: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.tf_experimental_compile:
            name = "tf_experimental_compile"
            raise NotSupportedError(
                f"{name} needs TensorFlow, which trietok does not support; use"
                " return_tensors='np' and convert the arrays",
                name=name,
            )
        self._check_tokenizer()
        if self.mlm:
            self.mlm_probability = _share("mlm_probability", self.mlm_probability)
        masked = self.mask_replace_prob = _share("mask_replace_prob", self.mask_replace_prob)
        random = self.random_replace_prob = _share("random_replace_prob", self.random_replace_prob)
        if masked + random > 1:
            raise InputError(
                f"mask_replace_prob={masked} and random_replace_prob={random} are shares of the"
                " same tokens; their sum must be at most 1"
            )
        if self.masking not in get_args(Masking):
            raise InputError(
                f"unknown masking {self.masking!r}; choose one of {', '.join(get_args(Masking))}"
            )
        check_multiple(self.pad_to_multiple_of)
        if self.seed is not None:
            self.seed = whole_number("seed", self.seed)
        self.return_tensors = _tensor_type(self.return_tensors).value

    def _check_tokenizer(self) -> None:
        if self.mlm and self.tokenizer.mask_token is None:
            raise SpecialTokenError(
                "masked language modelling needs a mask token, and the tokenizer has none; set one"
                " with tokenizer.add_special_tokens({'mask_token': '[MASK]'}), or pass mlm=False"
                " for causal modelling",
                role="mask_token",
            )
        if not self.whole_word_mask:
            return
        if not self.mlm:
            raise InputError("whole_word_mask=True masks, so it needs mlm=True")
        prefix = self._continuing_prefix
        if not any(token.startswith(prefix) for token in self.tokenizer.get_vocab()):
            raise InputError(
                "whole_word_mask=True needs a WordPiece vocabulary, and no token of this"
                f" {type(self.tokenizer).__name__} starts with {prefix!r}"
            )

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch, so that the same batches get other masks."""
        self.epoch = whole_number("epoch", epoch)

    def __call__(self, features: object, return_tensors: Tensors = None) -> BatchEncoding:
        """Return the values of the examples and `labels` as int64 tensors, (batch, sequence).

        Args:
            features: a list of dicts or `BatchEncoding`s, one for each text, or of lists, arrays or
                tensors of ids. A `special_tokens_mask` decides which ids are special; otherwise the
                tokenizer does.
            return_tensors: replaces the collator's for this batch.

        Raises:
            InputError: the list is empty, or an example lacks a key of the first one.
            SpecialTokenError: an example has to be padded, and the tokenizer has no padding token.
        """
        numpy: Any = imported("numpy", "numpy")  # masks are drawn with it, also for PyTorch tensors
        kind = _tensor_type(return_tensors, self.return_tensors)
        examples = _examples_of(features)
        batch = self._padded(examples, kind)
        special_tokens_mask = batch.pop("special_tokens_mask", None)
        ids = numpy.asarray(batch[_IDS])
        if ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise InputError(
                f"each example needs one sequence of ids; these make {ids.dtype} of shape"
                f" {ids.shape}"
            )
        if self.mlm:
            is_maskable = self._is_maskable(ids, special_tokens_mask, batch.get("attention_mask"))
            is_continuation = self._is_continuation(ids, examples) if self.whole_word_mask else None
            masked, is_chosen = self._mask(ids, is_maskable, is_continuation, kind)
            batch[_IDS] = to_tensor(masked, kind)
            labels = numpy.where(is_chosen, ids, IGNORED_LABEL)
        else:
            labels = ids.copy()
            if self.tokenizer.pad_token_id is not None:
                labels[labels == self.tokenizer.pad_token_id] = IGNORED_LABEL
        batch[_LABELS] = to_tensor(labels, kind)
        return batch

    def torch_call(self, examples: object) -> BatchEncoding:
        """Return a batch of PyTorch tensors."""
        return self(examples, return_tensors="pt")

    def numpy_call(self, examples: object) -> BatchEncoding:
        """Return a batch of numpy arrays."""
        return self(examples, return_tensors="np")

    def _padded(self, examples: list[Any], kind: TensorType) -> BatchEncoding:
        multiple = self.pad_to_multiple_of
        if isinstance(examples[0], Mapping):
            rows = [
                {key: value for key, value in example.items() if key not in _UNPADDED}
                for example in _check_dicts(examples)
            ]
            return self.tokenizer.pad(rows, pad_to_multiple_of=multiple, return_tensors=kind)
        texts = [_check_ids(example, f"item {number}") for number, example in enumerate(examples)]
        length = padded_length(max(map(len, texts)), multiple)
        return self.tokenizer.pad(
            [{_IDS: ids} for ids in texts],
            padding=any(len(ids) < length for ids in texts),
            pad_to_multiple_of=multiple,
            return_attention_mask=False,
            return_tensors=kind,
        )

    def _is_maskable(self, ids: IdArray, special: Any, attention: Any) -> FlagArray:
        if special is None:
            mask_of = self.tokenizer.get_special_tokens_mask
            special = [mask_of(row, already_has_special_tokens=True) for row in ids.tolist()]
        is_maskable: FlagArray = _check_shape("special_tokens_mask", special, ids) == 0
        if attention is not None:
            is_maskable &= _check_shape("attention_mask", attention, ids) != 0
        if self.tokenizer.pad_token_id is not None:
            is_maskable &= ids != self.tokenizer.pad_token_id
        return is_maskable

    @property
    def _continuing_prefix(self) -> str:
        wordpiece = getattr(self.tokenizer, "wordpiece_tokenizer", None)
        return getattr(wordpiece, "continuing_subword_prefix", BERT_PREFIX)

    def _is_continuation(self, ids: IdArray, examples: list[Any]) -> FlagArray:
        import numpy

        distinct_ids, places = numpy.unique(ids, return_inverse=True)
        tokens = self.tokenizer.convert_ids_to_tokens(distinct_ids.tolist())
        prefix = self._continuing_prefix
        is_piece = numpy.array([token.startswith(prefix) for token in tokens], dtype=bool)
        is_continuation: FlagArray = is_piece[places].reshape(ids.shape)
        for number, (row, example) in enumerate(zip(is_continuation, examples, strict=True)):
            if not isinstance(example, Mapping) or _CHINESE_REF not in example:
                continue
            length = len(example[_IDS])
            start = len(row) - length if self.tokenizer.padding_side == "left" else 0
            for position in to_python(example[_CHINESE_REF]):
                if not 0 <= position < length:
                    raise InputError(
                        f"{_CHINESE_REF} of item {number} has the position {position}, and the item"
                        f" has {length} ids"
                    )
                row[start + position] = True
        return is_continuation

    def _mask(
        self,
        ids: IdArray,
        is_maskable: FlagArray,
        is_continuation: FlagArray | None,
        kind: TensorType,
    ) -> tuple[IdArray, FlagArray]:
        """Return the ids after masking, and which were chosen."""
        import numpy

        from trietok.batches.masking import choose_tokens, random_source, replace_tokens

        from_torch = kind is TensorType.PYTORCH
        source = random_source(ids[is_maskable], self.seed, self.epoch, from_torch=from_torch)
        groups = choose_tokens(
            is_maskable, is_continuation, self.mlm_probability, self.masking, source
        )
        shares = self.mask_replace_prob, self.random_replace_prob
        mask_token_id = self.tokenizer.mask_token_id
        assert mask_token_id is not None  # checked when the collator was created
        replacement_ids = numpy.arange(len(self.tokenizer))
        if self.tokenizer.max_id >= len(replacement_ids):  # some ids have no token
            replacement_ids = numpy.unique(list(self.tokenizer.get_vocab().values()))
        masked = replace_tokens(ids, groups, source, *shares, mask_token_id, replacement_ids)
        return masked, groups >= 0


class DataCollatorForWholeWordMask(DataCollatorForLanguageModeling):
    """Mask whole words: `DataCollatorForLanguageModeling` with `whole_word_mask=True`.

    Args:
        *args, **kwargs: as there, but `mlm` and `whole_word_mask` are always True.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> collator = DataCollatorForWholeWordMask(tokenizer, return_tensors="np", seed=29)
    >>> batch = collator([tokenizer("insure domestic tranquility,")])
    >>> tokenizer.convert_ids_to_tokens(batch.input_ids[0].tolist())
    ['[CLS]', 'insure', 'domestic', '[MASK]', '[MASK]', ',', '[SEP]']
    """

    def __post_init__(self) -> None:
        self.mlm = self.whole_word_mask = True
        super().__post_init__()


def _tensor_type(*choices: Tensors) -> TensorType:
    """Return the first choice that is not None; without one torch's tensors, if it is installed."""
    choice = next(filter(None, choices), None)
    return TensorType(choice or ("np" if find_spec("torch") is None else "pt"))


def _examples_of(features: object) -> list[Any]:
    is_encoding = hasattr(features, "keys")
    if is_encoding or not hasattr(features, "__iter__") or isinstance(features, (str, bytes)):
        raise InputTypeError(
            "a collator takes a list of examples, such as [dataset[i] for i in range(8)], not"
            f" {kind_of(features)}",
            value=features,
        )
    examples = list(features)
    if not examples:
        raise InputError("a batch needs at least one example; this list is empty")
    return examples


def _check_dicts(examples: list[Any]) -> list[Any]:
    for number, example in enumerate(examples):
        if not isinstance(example, Mapping):
            raise InputTypeError(
                f"item {number} must be a dict, not {kind_of(example)}", value=example
            )
        if example.get(_IDS, ()) is None:
            raise InputError(f"item {number} has null input_ids; filter rows without a text first")
    return examples


def _check_ids(value: object, name: str) -> list[int]:
    ids = to_python(value)
    if not isinstance(ids, list) or not all(isinstance(token_id, int) for token_id in ids):
        advice = "; encode texts first" if isinstance(value, str) else ""
        raise InputTypeError(
            f"{name} must be a list of ints, not {kind_of(value)}{advice}", value=value
        )
    return ids


def _column(examples: list[Any], name: str) -> list[list[int]]:
    """Return the ids under a key of each example."""
    for number, example in enumerate(examples):
        if name not in example:
            raise InputError(f"item {number} has no {name}, only {list(example)}")
    return [_check_ids(row[name], f"{name} of item {i}") for i, row in enumerate(examples)]


def _check_shape(name: str, mask: Any, ids: IdArray) -> NDArray[Any]:
    import numpy

    array: NDArray[Any] = numpy.asarray(mask)
    if array.shape != ids.shape:
        raise InputError(f"{name} has the shape {array.shape}, and input_ids {ids.shape}")
    return array


def _share(name: str, value: Any) -> float:
    if not isinstance(value, Real):
        raise InputTypeError(f"{name} must be a number from 0 to 1, not {value!r}", value=value)
    share = float(value)
    if not 0 <= share <= 1:  # also refuses nan
        raise InputError(f"{name} must be a number from 0 to 1, not {value!r}")
    return share
