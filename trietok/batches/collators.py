"""`DataCollatorWithPadding` and `DataCollatorForLanguageModeling`: examples to a batch, padded, or
masked too.

In: a list of encoded texts, as a data loader hands them over. Out: one `BatchEncoding` of tensors
of shape (batch, sequence), with `labels`. The parameters are those of transformers 4.57.6; the
masks are not the same.

Packed rows, which hold several texts, have `document_ids`: the number of the text of each token. A
batch of such rows has what attention to each text alone needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from numbers import Real
from typing import TYPE_CHECKING, Any

from trietok.batches.masking import (
    IGNORED_LABEL,
    MASKINGS,
    Masking,
    Shares,
    drawn_key,
    mask_ids,
    random_source,
    seeded_key,
    word_numbers,
)
from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    OptionError,
    SpecialTokenError,
    imported,
    kind_of,
    whole_number,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding, check_multiple, no_pad_token, pad_values, padded_length
from trietok.inputs.tensors import Tensors, TensorType, to_python, to_tensor
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.base import PreTrainedTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trietok.batches.masking import FlagArray, IdArray


def _kind_of_tensors(*wanted: Tensors) -> TensorType:
    """The first that is said; else, as in transformers, torch's if it is installed; or numpy's."""
    said = next(filter(None, wanted), None)
    return TensorType(said or ("np" if find_spec("torch") is None else "pt"))


def _list_of_examples(features: object) -> list[object]:
    """What a collator is called with, as a list; one encoding is refused, and an empty list."""
    if (
        hasattr(features, "keys")
        or not hasattr(features, "__iter__")
        or isinstance(features, (str, bytes))
    ):
        told = "a collator takes a list of examples, such as [dataset[i] for i in range(8)], not"
        raise InputTypeError(f"{told} {kind_of(features)}", value=features)
    examples = list(features)
    if not examples:
        raise InputError("a batch has at least one example; this list is empty")
    return examples


_IDS = "input_ids"
_DOCUMENTS, _POSITIONS = "document_ids", "position_ids"


def _padded(
    tokenizer: PreTrainedTokenizer, examples: list[Any], kind: TensorType, **how: Any
) -> BatchEncoding:
    """A batch of dicts; of packed ones with `position_ids` and `document_ids`, 0 at padding, and
    with `cu_seqlens` and `max_seqlen`: where each text begins without padding, how long one is.
    """
    if not (isinstance(examples[0], Mapping) and _DOCUMENTS in examples[0]):
        return tokenizer.pad(examples, return_tensors=kind, **how)
    numpy: Any = imported("numpy", "numpy")
    packed = {
        name: [to_python(example[name]) for example in examples]
        for name in (_POSITIONS, _DOCUMENTS)
    }
    rest = [{name: example[name] for name in example if name not in packed} for example in examples]
    batch = tokenizer.pad(rest, return_tensors=kind, **how)
    length = len(batch[_IDS][0])
    for name, rows in packed.items():
        places = numpy.zeros((len(rows), length), dtype=numpy.int64)
        for place, row in zip(places, rows, strict=True):
            place[length - len(row) if tokenizer.padding_side == "left" else 0 :][: len(row)] = row
        batch[name] = _as_kind(places, kind)
    positions = numpy.concatenate(packed[_POSITIONS])
    starts = numpy.append(numpy.flatnonzero(positions == 0), len(positions)).astype(numpy.int32)
    batch["cu_seqlens"] = _as_kind(starts, kind)
    batch["max_seqlen"] = int(numpy.diff(starts).max(initial=0))
    return batch


def _as_kind(array: NDArray[Any], kind: TensorType) -> Any:
    return array if kind is TensorType.NUMPY else imported("torch", "torch").from_numpy(array)


class _Collator:
    """A keyword that a collator lacks is an error of ours, where its dataclass has a plain one."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        known = [one.name for one in fields(cls) if one.init]  # type: ignore[arg-type]
        for name in options:
            if name not in known:
                told = f"{cls.__name__} has no option {name!r}; it has {', '.join(known)}"
                raise OptionError(told, name=name)
        return super().__new__(cls)


@dataclass
class DataCollatorWithPadding(_Collator):
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
        self.return_tensors = _kind_of_tensors(self.return_tensors).value

    def __call__(self, features: object) -> BatchEncoding:
        """One batch.

        Args:
            features: a list of dicts or `BatchEncoding`s, one a text.

        Returns:
            Every value as a tensor; `input_ids` and what goes with them of shape (batch, sequence),
            int64.

        Raises:
            InputError: the list is empty, or the examples do not fit together.
            SpecialTokenError: the tokenizer has no padding token.
        """
        how = {
            name: getattr(self, name) for name in ("padding", "max_length", "pad_to_multiple_of")
        }
        kind = TensorType(self.return_tensors)
        batch = _padded(self.tokenizer, _list_of_examples(features), kind, **how)
        for name in ("label", "label_ids"):
            if name in batch:
                batch["labels"] = batch.pop(name)
        return batch


_CHINESE_REF = "chinese_ref"
_SHARES = ("mask_replace_prob", "random_replace_prob")
_LEFT_OUT = (_CHINESE_REF, "offset_mapping")  # no use to a model, and no tensor if lengths differ


@dataclass
class DataCollatorForLanguageModeling(_Collator):
    """Makes a batch for masked language modelling, or with `mlm=False` for causal.

    Of the tokens that may be chosen, `mlm_probability` are; the label of a chosen token is its id,
    every other label is -100. Of the chosen, `mask_replace_prob` become the mask token,
    `random_replace_prob` a token drawn from the whole vocabulary, and the rest stay. Special tokens
    and padding are never chosen.

    Args:
        tokenizer: says what to pad with, which tokens are special, and what the mask token is.
        mlm: False for labels that are the ids themselves, -100 at padding.
        whole_word_mask: choose whole words: the pieces that continue a word (`##able`) are chosen
            with it.
        mlm_probability: the share of tokens to choose, from 0 to 1.
        mask_replace_prob, random_replace_prob: shares of the chosen, from 0 to 1, and no more than
            1 together.
        pad_to_multiple_of: round the length of the batch up to a multiple, in tokens.
        tf_experimental_compile: in its place for transformers' sake; only False is possible.
        return_tensors: `"np"` or `"pt"`; None for `"pt"` where torch is installed, else `"np"`. The
            numbers are the same.
        seed: a whole number for masks that can be had again, in any process; None to draw them from
            the global random state, as transformers does.
        masking: `"each"` chooses each token, or word, by itself, as BERT and transformers do;
            `"exact"` as many of each text as the share says, as RoBERTa does; `"spans"` as many, in
            spans of up to ten tokens or words, as SpanBERT does: their lengths are geometric, and
            all tokens of a span become the same.

    Raises:
        InputError: a probability or another argument cannot be.
        SpecialTokenError: `mlm` without a mask token.

    **The seed.** With a seed, the masks follow from it, the epoch (`set_epoch`) and the ids of the
    batch alone: in whichever process, among any number of workers, and after a training that was
    broken off. Where batches come back as they were, unshuffled, call `set_epoch(epoch)` before
    each epoch, or the masks come back too; workers that live on from epoch to epoch
    (`persistent_workers=True`) do not hear of it.

    With `seed=None` each call draws from PyTorch's global generator, or from numpy's where the
    tensors are numpy's. So `transformers.set_seed(42)`, which `Trainer` calls itself, makes a run
    repeatable, with other masks each epoch, as long as the number of workers is the same.

    **Whole words.** Each word is chosen with `mlm_probability`, however long it is, and its tokens
    are replaced each for itself, as BERT does it. A Chinese character is a word; where an example
    has `chinese_ref`, the positions at which a word goes on, as transformers'
    `DataCollatorForWholeWordMask` takes it, they go with the character before.

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
    masking: Masking = field(default="each", kw_only=True)
    epoch: int = field(default=0, init=False)
    _known_ids: tuple[Any, int, int, IdArray] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.tf_experimental_compile:
            name, how = "tf_experimental_compile", "use return_tensors='np' and convert"
            told = f"{name} is for TensorFlow, which is left out; {how}"
            raise NotSupportedError(told, name=name)
        if self.mlm and self.tokenizer.mask_token is None:
            raise SpecialTokenError(
                "masked language modelling needs a mask token, and the tokenizer has none; set one"
                " with tokenizer.add_special_tokens({'mask_token': '[MASK]'}), or pass mlm=False"
                " for causal modelling",
                role="mask_token",
            )
        if self.mlm:
            self.mlm_probability = _probability("mlm_probability", self.mlm_probability)
        for name in _SHARES:
            setattr(self, name, _probability(name, getattr(self, name)))
        if self.mask_replace_prob + self.random_replace_prob > 1:
            shares = (f"{name}={getattr(self, name)}" for name in _SHARES)
            told = f"{' and '.join(shares)} are more than 1 together"
            raise InputError(f"{told}; they are shares of the same tokens")
        if self.whole_word_mask:
            if not self.mlm:
                raise InputError("whole_word_mask=True masks, so it needs mlm=True")
            if not any(
                token.startswith(self._continuing_prefix) for token in self.tokenizer.get_vocab()
            ):
                raise InputError(
                    "whole_word_mask=True needs a WordPiece vocabulary, and no token of"
                    f" {type(self.tokenizer).__name__} begins with {self._continuing_prefix!r};"
                    " leave it out"
                )
        if self.masking not in MASKINGS:
            raise InputError(f"masking is {self.masking!r}; select one of {list(MASKINGS)}")
        check_multiple(self.pad_to_multiple_of)
        if self.seed is not None:
            self.seed = whole_number("seed", self.seed)
        self.return_tensors = _kind_of_tensors(self.return_tensors).value

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch it is, from 0, so that batches that come back get other masks."""
        self.epoch = whole_number("epoch", epoch)

    def __call__(self, features: object, return_tensors: Tensors = None) -> BatchEncoding:
        """One batch.

        Args:
            features: a list of dicts or `BatchEncoding`s, one a text, or of lists, arrays or
                tensors of ids. Where they have a `special_tokens_mask` it is heeded, else the
                tokenizer says which ids are special.
            return_tensors: `"np"` or `"pt"` for this batch.

        Returns:
            What the examples hold, as tensors of shape (batch, sequence), and `labels`; int64.

        Raises:
            InputError: the list is empty, or the examples do not fit together.
            SpecialTokenError: there is something to pad, and no padding token.
        """
        numpy: Any = imported("numpy", "numpy")  # masks are drawn in it, for torch tensors too
        kind = _kind_of_tensors(return_tensors, self.return_tensors)
        examples = _list_of_examples(features)
        batch = self._padded(examples, kind)
        special = batch.pop("special_tokens_mask", None)
        ids = numpy.asarray(batch[_IDS])
        if ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise InputError(
                f"each example is one sequence of ids; these make {ids.dtype} of shape {ids.shape}"
            )
        if self.mlm:
            is_maskable = self._maskable(ids, special, batch.get("attention_mask"))
            is_continuation = self._continuations(ids, examples) if self.whole_word_mask else None
            is_torch, seed = kind is TensorType.PYTORCH, self.seed
            key = drawn_key(is_torch) if seed is None else seeded_key(seed, self.epoch)
            # or the collator would not have been made
            assert self.tokenizer.mask_token_id is not None
            seen, labels = mask_ids(
                ids,
                is_maskable,
                word_numbers(is_maskable, is_continuation),
                Shares(self.mlm_probability, self.mask_replace_prob, self.random_replace_prob),
                random_source(key, ids[is_maskable].astype("<i8").tobytes()),
                self.tokenizer.mask_token_id,
                self._random_ids(),
                self.masking,
            )
            batch[_IDS] = to_tensor(seen, kind)
        else:
            labels = ids.copy()
            if self.tokenizer.pad_token_id is not None:
                labels[labels == self.tokenizer.pad_token_id] = IGNORED_LABEL
        batch["labels"] = to_tensor(labels, kind)
        return batch

    def torch_call(self, examples: object) -> BatchEncoding:
        """A batch of PyTorch tensors."""
        return self(examples, return_tensors="pt")

    def numpy_call(self, examples: object) -> BatchEncoding:
        """A batch of numpy arrays."""
        return self(examples, return_tensors="np")

    # ---- padding ---------------------------------------------------------------------------------

    def _padded(self, examples: list[Any], kind: TensorType) -> BatchEncoding:
        if isinstance(examples[0], Mapping):
            for number, example in enumerate(examples):
                if not isinstance(example, Mapping):
                    raise InputTypeError(
                        f"item {number} is no dict, as item 0 is: {kind_of(example)}", value=example
                    )
            examples = [{key: one[key] for key in one if key not in _LEFT_OUT} for one in examples]
            how: dict[str, Any] = {"pad_to_multiple_of": self.pad_to_multiple_of}
            return _padded(self.tokenizer, examples, kind, **how)
        rows = list(map(to_python, examples))
        for number, (row, example) in enumerate(zip(rows, examples, strict=True)):
            if not isinstance(row, list) or not all(isinstance(token_id, int) for token_id in row):
                told = f"item {number} is neither a dict nor a list of ids: {kind_of(example)}"
                raise InputTypeError(f"{told}; encode texts first", value=example)
        length = padded_length(max(map(len, rows)), self.pad_to_multiple_of)
        pad_token_id = self.tokenizer.pad_token_id
        if pad_token_id is None and any(len(row) < length for row in rows):
            raise no_pad_token("the examples have to be padded")
        how = {"fillers": {_IDS: pad_token_id}, "side": self.tokenizer.padding_side}
        padded = [pad_values({_IDS: row}, length, main_input=_IDS, **how)[_IDS] for row in rows]
        return BatchEncoding({_IDS: padded}, tensor_type=kind)

    # ---- masking ---------------------------------------------------------------------------------

    def _maskable(self, ids: IdArray, special: Any, attention: Any) -> FlagArray:
        """Where a token may be chosen: it is neither special nor padding."""
        if special is None:
            mask_of = self.tokenizer.get_special_tokens_mask
            special = [mask_of(row, already_has_special_tokens=True) for row in ids.tolist()]
        is_maskable: FlagArray = _like(ids, "special_tokens_mask", special) == 0
        if attention is not None:
            is_maskable &= _like(ids, "attention_mask", attention) != 0
        if self.tokenizer.pad_token_id is not None:
            is_maskable &= ids != self.tokenizer.pad_token_id
        return is_maskable

    @property
    def _continuing_prefix(self) -> str:
        wordpiece = getattr(self.tokenizer, "wordpiece_tokenizer", None)
        return getattr(wordpiece, "continuing_subword_prefix", BERT_PREFIX)

    def _continuations(self, ids: IdArray, examples: list[Any]) -> FlagArray:
        """Where a token goes on with the word before it."""
        import numpy

        different, numbers = numpy.unique(ids, return_inverse=True)
        tokens = self.tokenizer.convert_ids_to_tokens(different.tolist())
        prefix = self._continuing_prefix
        is_piece = numpy.array([token.startswith(prefix) for token in tokens], dtype=bool)
        goes_on: FlagArray = is_piece[numbers].reshape(ids.shape)
        for number, (row, example) in enumerate(zip(goes_on, examples, strict=True)):
            if isinstance(example, Mapping) and _CHINESE_REF in example:
                length = len(example[_IDS])
                start = len(row) - length if self.tokenizer.padding_side == "left" else 0
                for position in to_python(example[_CHINESE_REF]):
                    if not 0 <= position < length:
                        told = f"{_CHINESE_REF} of item {number} holds {position}"
                        raise InputError(f"{told}; the item has {length} ids")
                    row[start + position] = True
        return goes_on

    def _random_ids(self) -> int | IdArray:
        """What random tokens are drawn from: all ids; their number, where none is left out."""
        import numpy

        size = len(self.tokenizer)
        highest = getattr(self.tokenizer, "max_id", size - 1)
        if highest == size - 1:
            return size
        if self._known_ids is None or self._known_ids[:3] != (self.tokenizer, size, highest):
            ids = numpy.array(sorted(set(self.tokenizer.get_vocab().values())), dtype=numpy.int64)
            self._known_ids = (self.tokenizer, size, highest, ids)
        return self._known_ids[3]


class DataCollatorForWholeWordMask(DataCollatorForLanguageModeling):
    """`DataCollatorForLanguageModeling(whole_word_mask=True)`, under transformers' other name.

    Args:
        *args, **kwargs: as there; `mlm` and `whole_word_mask` are True whatever is passed.
    """

    def __post_init__(self) -> None:
        self.mlm = self.whole_word_mask = True
        super().__post_init__()


def _probability(name: str, value: Any) -> float:
    if not isinstance(value, Real):
        raise InputTypeError(f"{name} is {value!r}; it is a number from 0 to 1", value=value)
    share = float(value)
    if not 0 <= share <= 1:  # so that nan is refused too
        raise InputError(f"{name} is {value!r}; it is a number from 0 to 1")
    return share


def _like(ids: IdArray, name: str, mask: Any) -> NDArray[Any]:
    import numpy

    array: NDArray[Any] = numpy.asarray(mask)
    if array.shape != ids.shape:
        raise InputError(
            f"{name} has the shape {array.shape} and input_ids {ids.shape}; each id has one"
        )
    return array
