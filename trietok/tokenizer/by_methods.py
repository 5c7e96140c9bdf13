"""Model inputs by a tokenizer's methods, where a user has replaced one of them.

In: the tokenizer at one moment, an encoder, texts or ids, and options. Out: a `BatchEncoding`, made
as transformers makes it: `prepare_for_model` for each item, and `pad` for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trietok.errors import NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import has_spans, ids_of
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import SLOW
from trietok.inputs.template import RowPiece, require_ids
from trietok.inputs.tensors import tensor_type_of, to_python, to_tensor
from trietok.inputs.truncation import TruncationStrategy, check_room
from trietok.text.aligned import Ids
from trietok.text.changes import is_replaced
from trietok.text.pipeline import Pipeline
from trietok.tokenizer.hooks import (
    INPUT_HOOKS,
    ROLE_HOOKS,
)

_METHODS = frozenset((*INPUT_HOOKS, *ROLE_HOOKS))


class OfOneState:
    """A tokenizer at one moment: methods that the user has replaced are the tokenizer's own, all
    else is as it was.
    """

    def __init__(self, tokenizer: Any, state: Any, plan: Callable[[CallOptions], Plan]) -> None:
        self._tokenizer = tokenizer
        self._state = state
        self.plan = plan

    def __getattr__(self, name: str) -> Any:
        names = ("pad", "_pad") if name == "pad" else (name,)
        is_own = name in _METHODS and is_replaced(self._tokenizer, names)
        return getattr(self._tokenizer if is_own else self._state, name)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self._tokenizer).__name__

    def row(
        self, ids: Ids, pair_ids: Ids | None, prepend_batch_axis: bool = False, **options: Any
    ) -> BatchEncoding:
        """What `prepare_for_model` returns."""
        if is_replaced(self._tokenizer, ("prepare_for_model",)):
            more = {"prepend_batch_axis": True} if prepend_batch_axis else {}
            row: BatchEncoding = self._tokenizer.prepare_for_model(ids, pair_ids, **options, **more)
            return row
        return self.prepare(ids, pair_ids, CallOptions(**options), prepend_batch_axis)

    def prepare(
        self,
        ids: Ids,
        pair_ids: Ids | None,
        options: CallOptions,
        prepend_batch_axis: bool,
    ) -> BatchEncoding:
        """What `prepare_for_model` returns, by the methods for truncation, template, masks and
        padding.
        """
        if options.return_offsets_mapping:
            raise NotSupportedError(
                "return_offsets_mapping is not available for this tokenizer",
                name="return_offsets_mapping",
            )
        options = options.of_ints()
        strategies = _strategies(self, options)
        max_length = strategies.max_length
        SLOW.check(options, strategies, pair_ids is not None)
        with_special = options.add_special_tokens
        added = self.num_special_tokens_to_add(pair=pair_ids is not None) if with_special else 0
        total = len(ids) + len(pair_ids or ()) + added
        overflow: Ids = []
        if (
            strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE
            and max_length is not None
        ):
            check_room(max_length, added)
            if max_length and total > max_length:
                ids, pair_ids, overflow = self.truncate_sequences(
                    ids, pair_ids, total - max_length, strategies.truncation, options.stride
                )
        values: dict[str, Any] = {}
        if options.return_overflowing_tokens:
            values["overflowing_tokens"] = overflow
            values["num_truncated_tokens"] = total - (max_length or 0)
        values.update(_with_template(self, ids, pair_ids, with_special))
        if not _wants(self, "token_type_ids", options.return_token_type_ids):
            del values["token_type_ids"]
        length = len(values["input_ids"])
        if options.return_special_tokens_mask:
            mask = self.get_special_tokens_mask(ids, pair_ids) if with_special else [0] * length
            values["special_tokens_mask"] = mask
        if options.verbose and max_length is None and length > self.model_max_length > 0:
            warn_of_length(self, length)
        with_mask = _wants(self, "attention_mask", options.return_attention_mask)
        if not length:  # nothing to pad, as in transformers
            values.update({"attention_mask": []} if with_mask else {})
        elif with_mask or strategies.padding is not PaddingStrategy.DO_NOT_PAD:
            padded = self.pad(
                values,
                padding=strategies.padding,
                max_length=max_length if strategies.padding is PaddingStrategy.MAX_LENGTH else None,
                pad_to_multiple_of=options.pad_to_multiple_of,
                padding_side=options.padding_side,
                return_attention_mask=with_mask,
                verbose=False,
            )
            values = dict(padded)
        if options.return_length:
            values["length"] = len(values["input_ids"])
        return BatchEncoding(
            values, tensor_type=options.return_tensors, prepend_batch_axis=prepend_batch_axis
        )

    def encode_item(
        self, encoder: Pipeline, text: Any, text_pair: Any, options: CallOptions
    ) -> BatchEncoding:
        """What `encode_plus` returns for one text or pair, by `prepare_for_model`."""
        _strategies(self, options.of_ints())  # raises for invalid options before the text is read
        words = options.is_split_into_words
        ids = ids_of(encoder, text, words, "the text")
        pair_ids = None if text_pair is None else ids_of(encoder, text_pair, words, "the pair")
        asked = options._replace(return_offsets_mapping=False)._asdict()
        del asked["is_split_into_words"]
        encoding = self.row(ids, pair_ids, True, **asked)
        texts = (text,) if text_pair is None else (text, text_pair)
        return _with_details(self, encoding, encoder, [texts], options, one=True)

    def encode_batch(self, encoder: Pipeline, items: Any, options: CallOptions) -> BatchEncoding:
        """What `batch_encode_plus` returns: `prepare_for_model` for each item, `pad` for all."""
        options = options.of_ints()
        strategies = _strategies(self, options)
        words = options.is_split_into_words
        rows: dict[str, list[Any]] = {}
        texts: list[tuple[Any, ...]] = []
        for index, (first, second) in enumerate(SLOW.batch_of(items, words)):
            where = f"item {index} of the batch"
            texts.append((first,) if second is None else (first, second))
            row = self.row(
                ids_of(encoder, first, words, where),
                None if second is None else ids_of(encoder, second, words, where),
                add_special_tokens=options.add_special_tokens,
                truncation=strategies.truncation,
                max_length=strategies.max_length,
                stride=options.stride,
                return_token_type_ids=options.return_token_type_ids,
                return_attention_mask=False,  # made for the whole batch by pad
                return_overflowing_tokens=options.return_overflowing_tokens,
                return_special_tokens_mask=options.return_special_tokens_mask,
                return_length=options.return_length,
                verbose=options.verbose,
            )
            for key, value in row.items():
                rows.setdefault(key, []).append(value)
        encoding = self.pad(
            rows,
            padding=strategies.padding,
            max_length=strategies.max_length,
            pad_to_multiple_of=options.pad_to_multiple_of,
            padding_side=options.padding_side,
            return_attention_mask=options.return_attention_mask,
            return_tensors=options.return_tensors,
            verbose=False,
        )
        return _with_details(self, encoding, encoder, texts, options, one=False)


def pieces_by_methods(tokenizer: Any, pair: bool) -> tuple[RowPiece, ...]:
    """The pieces of a row of one text or two, derived from what the template methods return."""
    texts = ([-1], [-2] if pair else None)  # placeholders for the ids of each text
    ids = tokenizer.build_inputs_with_special_tokens(*texts)
    # a subclass may give too few
    types = [
        *tokenizer.create_token_type_ids_from_sequences(*texts),
        *[0] * len(ids),
    ]
    pieces: list[RowPiece] = []
    for token_id, type_id in zip(ids, types, strict=False):
        if token_id is None:
            pieces.append(RowPiece(type_id, role="one of its roles"))
        elif token_id in (-1, -2):  # a user's own may be no number
            pieces.append(RowPiece(type_id, sequence=-1 - token_id))
        else:
            pieces.append(
                RowPiece(type_id, None, tokenizer.convert_ids_to_tokens(token_id), token_id)
            )
    return tuple(pieces)


def _strategies(tokenizer: OfOneState, options: CallOptions) -> Strategies:
    return resolve_strategies(
        tokenizer,
        *options[1:4],
        pad_to_multiple_of=options.pad_to_multiple_of,
        verbose=options.verbose,
    )


def _wants(tokenizer: OfOneState, name: str, asked: bool | None) -> bool:
    return name in tokenizer.model_input_names if asked is None else asked


def _with_template(
    tokenizer: OfOneState, ids: Ids, pair_ids: Ids | None, add_special_tokens: bool
) -> dict[str, Ids]:
    if add_special_tokens:
        return {
            "input_ids": _without_none(
                tokenizer, tokenizer.build_inputs_with_special_tokens(ids, pair_ids)
            ),
            "token_type_ids": tokenizer.create_token_type_ids_from_sequences(ids, pair_ids),
        }
    sequence = ids if pair_ids is None else ids + pair_ids
    return {"input_ids": sequence, "token_type_ids": [0] * len(sequence)}


def _without_none(tokenizer: OfOneState, ids: Ids) -> Ids:
    """`ids`; an error if one of them is None, which the template gives for a role without a
    token.
    """
    if None in ids:
        roles = [
            role for role in ("cls_token", "sep_token") if getattr(tokenizer, f"{role}_id") is None
        ]
        role = roles[0] if roles else None
        require_ids(
            [RowPiece(0, token=None if role is None else getattr(tokenizer, role), role=role)]
        )
    return ids


def _with_details(
    tokenizer: OfOneState,
    encoding: BatchEncoding,
    encoder: Pipeline,
    texts: list[tuple[Any, ...]],
    options: CallOptions,
    one: bool,
) -> BatchEncoding:
    """A result whose methods can tell where its tokens came from; with `offset_mapping` if the call
    asks for it.
    """
    if not isinstance(encoding, BatchEncoding):  # a subclass may return something else
        return encoding
    if not all(has_spans(text, options.is_split_into_words) for sample in texts for text in sample):
        if options.return_offsets_mapping:
            raise NotSupportedError(
                "tokens and ids stand for no text that could have offsets", name="offset_mapping"
            )
        return encoding
    plan = tokenizer.plan(options)
    encoding.work_out_by(plan, (encoder, texts, one))
    if options.return_offsets_mapping:
        details = plan.encodings((encoder, texts, one), encoding["input_ids"])
        _require_same_ids(tokenizer, details, encoding["input_ids"], one)
        offsets = [each.offsets for each in details]
        kind = tensor_type_of(encoding["input_ids"])
        encoding["offset_mapping"] = (
            to_tensor(offsets, kind) if kind else offsets[0] if one else offsets
        )
    return encoding


def _require_same_ids(tokenizer: OfOneState, details: list[Any], input_ids: Any, one: bool) -> None:
    """Raise where a method of the user's has made other ids than the details are of."""
    # twice: rows of different lengths are an array of arrays
    given = to_python(to_python(input_ids))
    rows = [given] if one and not (given and isinstance(given[0], list)) else given
    if [each.ids for each in details] != rows:
        raise NotSupportedError(
            f"{tokenizer.kind} has methods of its own that give other ids than its texts, so where"
            " its tokens came from cannot be told",
            name="return_offsets_mapping",
        )
