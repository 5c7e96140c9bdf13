"""HuggingFace's methods that a user may override, and calls that go through them.

A tokenizer of a class with methods of a user's own is called as transformers would call it:
`prepare_for_tokenization`, `tokenize`, `_tokenize`, `convert_tokens_to_ids`, then
`prepare_for_model` for each item, with the methods for truncation, template and masks, and `pad`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trietok.errors import NotSupportedError
from trietok.inputs.batch import (
    has_spans,
    ids_of,
    pairs_of,
    refuse_contradictions,
    refuse_offsets_of_ids,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    reject_unknown,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.template import RowPiece, require_ids
from trietok.inputs.tensors import tensor_type_of, to_python, to_tensor
from trietok.inputs.truncation import TruncationStrategy, check_room
from trietok.text.aligned import UNWATCHED, Ids, Span, Watch
from trietok.text.cache import CacheInfo
from trietok.text.pipeline import Located, Pipeline, Settings, require_text
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.text.words import STEPS
from trietok.tokenizer.token_table import SPECIAL_HOOKS, TokenTable

# From a text to its ids:
TEXT_HOOKS = (
    *"""tokenize prepare_for_tokenization _tokenize convert_tokens_to_ids
    _convert_token_to_id_with_added_voc _convert_token_to_id do_lower_case vocab""".split(),
    *SPECIAL_HOOKS,
)
CALL_HOOKS = ("encode_plus", "batch_encode_plus")
# From ids to what a call returns:
INPUT_HOOKS = tuple(
    """prepare_for_model pad _pad truncate_sequences num_special_tokens_to_add
    build_inputs_with_special_tokens create_token_type_ids_from_sequences get_special_tokens_mask
    pad_token_type_id convert_tokens_to_ids""".split()
)
# Roles that a user's class answers for itself:
ROLE_HOOKS = tuple(
    name
    for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    for name in (f"{role}_token", f"{role}_token_id")
)
# The methods of `basic_tokenizer` and `wordpiece_tokenizer`, and the methods that those call.
STAGE_HOOKS = (
    *"""tokenize clean cleaning_table steps word_steps compose normalize normalized words
    _split_on_punctuation pieces_of match_word""".split(),
    *STEPS,
)

_KNOWN = frozenset({"split_special_tokens", "is_split_into_words"})


# ---- texts ---------------------------------------------------------------------------------------


class HookedPipeline(Pipeline):
    """Encodes texts by the methods of a tokenizer, in the order in which transformers calls them.

    Args:
        tokenizer: has the methods.
        table: its tokens.
        stages: the pipeline of its own stages, by which spans are told; None if it has none.
        as_text: whether special tokens in a text are text.
        options: keywords of the call that concern its texts.
    """

    kernel = None
    may_have_kernel = False
    caches = False

    def __init__(
        self,
        tokenizer: Any,
        table: TokenTable,
        stages: Pipeline | None,
        as_text: bool,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self._stages = stages
        self._splits_special = as_text
        self._options = dict(options or {})

    def _table_now(self) -> TokenTable:
        """The tokens: those of the snapshot, unless the user's `prepare_for_tokenization` may have
        added some.
        """
        prepares = self._tokenizer.overrides("prepare_for_tokenization")
        table: TokenTable = self._tokenizer._table if prepares else self._table
        return table

    def with_options(
        self, options: Mapping[str, Any], is_split_into_words: bool, known: Sequence[str]
    ) -> HookedPipeline:
        """The pipeline for a call with other keywords; an error looks among the known ones for what
        may be meant.
        """
        others = {name: value for name, value in options.items() if name not in _KNOWN}
        if others:
            _, unknown = self._tokenizer.prepare_for_tokenization(
                "", **{"is_split_into_words": is_split_into_words, **others}
            )
            reject_unknown(unknown, known)
        if is_split_into_words:
            options = {**options, "is_split_into_words": True}
        if not options:
            return self
        how = self._tokenizer, self._table, self._stages, self._splits_special
        return HookedPipeline(*how, options)

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of tokens, by `convert_tokens_to_ids`."""
        tokenizer = self._tokenizer
        if tokenizer.overrides("convert_tokens_to_ids"):
            return tokenizer.convert_tokens_to_ids(tokens)  # type: ignore[no-any-return]
        return tokenizer._ids_of(self._table_now(), tokens)  # type: ignore[no-any-return]

    def ids_in_python(self, text: str) -> list[int]:
        """The ids of `text`, by `tokenize` and `convert_tokens_to_ids`."""
        if self._tokenizer.profile == "fast":
            stages, text = self._prepared_stages(text)
            return stages.ids(text)
        return self.ids_of_tokens(self._tokens_by_methods(text))

    def _tokens_by_methods(self, text: str) -> list[str]:
        is_own = self._tokenizer.overrides("tokenize")
        return self._tokenizer.tokenize(text, **self._options) if is_own else self.tokens(text)

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`: prepared, lower-cased, cut at the added tokens; `_tokenize` cuts
        the parts between.
        """
        require_text(text)
        stages, text = self._prepared_stages(text, self._tokenizer.profile == "slow")
        return stages.tokens(text)

    def _prepared_stages(self, text: str, by_methods: bool = False) -> tuple[Pipeline, str]:
        """The stages for these options, and the text as `prepare_for_tokenization` leaves it.

        Raises for keywords that nobody takes.
        """
        options = dict(self._options)
        as_text = options.pop("split_special_tokens", self._splits_special)
        text, unknown = self._tokenizer.prepare_for_tokenization(text, **options)
        reject_unknown(unknown)
        stages = self._stages
        if by_methods:
            stages = _TokenizeMethod(self._tokenizer, self._table_now())
        assert stages is not None  # called only if there are some
        return stages.as_text() if as_text else stages, text

    def locate(self, text: str, watch: Watch = UNWATCHED) -> Located:
        """The tokens of `text` with their spans, if the methods give the same tokens as the
        stages.
        """
        kind = type(self._tokenizer).__name__
        if self._stages is None:
            raise NotSupportedError(
                f"{kind} does not tell which characters its tokens stand for",
                name="return_offsets_mapping",
            )
        stages, prepared = self._prepared_stages(text)
        if self._tokenizer.profile == "fast":
            return stages.locate(prepared)
        located = stages.locate(text)
        if located.tokens != self._tokens_by_methods(text):
            raise NotSupportedError(
                f"{kind} has stages of its own, so where its tokens came from cannot be told",
                name="return_offsets_mapping",
            )
        return located

    def words_between(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        self.locate(text)  # refuses methods whose tokens are not those of the stages
        stages, prepared = self._prepared_stages(text)
        return stages.words_between(prepared)

    def spans(self, text: str, count: int = -1) -> list[Span]:
        return self.locate(text).spans

    def stages_for(self, text: str) -> tuple[Pipeline, str]:
        """The stages that give the tokens of `text`, and the text that they are given."""
        self.locate(text)
        stages, prepared = self._prepared_stages(text)
        if self._tokenizer.profile == "fast":
            return stages, prepared
        return self._stages or stages, text

    def chunks(self, text: str) -> list[str]:
        return [text]

    def as_text(self) -> Pipeline:
        raise NotImplementedError  # the keywords of the call say it, or the tokenizer

    def info(self, limit: int) -> CacheInfo:
        return CacheInfo(0, 0, 0, limit, 0)

    def forget(self) -> None:
        """There is nothing to forget."""


class _TokenizeMethod(Pipeline):
    """The pipeline of a class of the slow profile whose `_tokenize` makes tokens of what lies
    between added tokens.
    """

    def __init__(self, tokenizer: Any, table: TokenTable) -> None:
        lowers = bool(getattr(tokenizer, "do_lower_case", False))
        vocabulary = table.vocabulary or Vocabulary(["[UNK]"])
        super().__init__(
            None,
            WordpieceTokenizer(vocabulary.token_to_id, "[UNK]"),
            vocabulary,
            table.added,
            tokenizer._special_in(table),
            Settings(lowers=lowers),
            live=True,
        )
        self._tokenizer = tokenizer

    def words_of(self, part: str) -> list[str]:
        return [part]

    def pieces_of(self, word: str) -> list[str]:
        tokens: list[str] = self._tokenizer._tokenize(word)
        return tokens


# ---- model inputs --------------------------------------------------------------------------------


def pieces_by_methods(tokenizer: Any, pair: bool) -> tuple[RowPiece, ...]:
    """Return the pieces of a row of one text or two, derived from what the template methods
    return.
    """
    texts = ([-1], [-2] if pair else None)  # placeholders for the ids of each text
    ids = tokenizer.build_inputs_with_special_tokens(*texts)
    # a subclass may give too few
    types = [*tokenizer.create_token_type_ids_from_sequences(*texts), *[0] * len(ids)]
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


def prepare(
    tokenizer: Any,
    ids: Ids,
    pair_ids: Ids | None,
    options: CallOptions,
    prepend_batch_axis: bool,
) -> BatchEncoding:
    """Return what `prepare_for_model` returns, by the methods for truncation, template, masks and
    padding.
    """
    refuse_offsets_of_ids(options)
    options = options.of_ints()
    strategies = _strategies(tokenizer, options)
    max_length, with_special = strategies.max_length, options.add_special_tokens
    refuse_contradictions(options, strategies, pair_ids is not None)
    added = tokenizer.num_special_tokens_to_add(pair=pair_ids is not None) if with_special else 0
    total = len(ids) + len(pair_ids or ()) + added
    overflow: Ids = []
    if strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
        check_room(max_length, added)
        if max_length and total > max_length:
            ids, pair_ids, overflow = tokenizer.truncate_sequences(
                ids, pair_ids, total - max_length, strategies.truncation, options.stride
            )
    values: dict[str, Any] = {}
    if options.return_overflowing_tokens:
        values["overflowing_tokens"] = overflow
        values["num_truncated_tokens"] = total - (max_length or 0)
    values.update(_with_template(tokenizer, ids, pair_ids, with_special))
    if not _wants(tokenizer, "token_type_ids", options.return_token_type_ids):
        del values["token_type_ids"]
    length = len(values["input_ids"])
    if options.return_special_tokens_mask:
        mask = tokenizer.get_special_tokens_mask(ids, pair_ids) if with_special else [0] * length
        values["special_tokens_mask"] = mask
    if options.verbose and max_length is None and length > tokenizer.model_max_length > 0:
        warn_of_length(tokenizer, length)
    with_mask = _wants(tokenizer, "attention_mask", options.return_attention_mask)
    if not length:  # nothing to pad, as in transformers
        values.update({"attention_mask": []} if with_mask else {})
    elif with_mask or strategies.padding is not PaddingStrategy.DO_NOT_PAD:
        padded = tokenizer.pad(
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
    tokenizer: Any,
    snapshot: Any,
    pipeline: Pipeline,
    text: Any,
    text_pair: Any,
    options: CallOptions,
) -> BatchEncoding:
    """Return what `encode_plus` returns for one text or pair, by `prepare_for_model`."""
    _strategies(tokenizer, options.of_ints())  # raises for invalid options before the text is read
    words = options.is_split_into_words
    ids = ids_of(pipeline, text, words, "the text", takes_ids=True)
    pair_ids = None
    if text_pair is not None:
        pair_ids = ids_of(pipeline, text_pair, words, "the pair", takes_ids=True)
    asked = options._replace(return_offsets_mapping=False)._asdict()
    del asked["is_split_into_words"]
    encoding = tokenizer.prepare_for_model(ids, pair_ids, prepend_batch_axis=True, **asked)
    texts = (text,) if text_pair is None else (text, text_pair)
    return _with_details(tokenizer, snapshot, encoding, pipeline, [texts], options, one=True)


def encode_batch(
    tokenizer: Any, snapshot: Any, pipeline: Pipeline, items: Any, options: CallOptions
) -> BatchEncoding:
    """Return what `batch_encode_plus` returns: `prepare_for_model` for each item, `pad` for all."""
    options = options.of_ints()
    strategies = _strategies(tokenizer, options)
    words = options.is_split_into_words
    rows: dict[str, list[Any]] = {}
    texts: list[tuple[Any, ...]] = []
    for index, (first, second) in enumerate(pairs_of(items, words, takes_any=True)):
        where = f"item {index} of the batch"
        texts.append((first,) if second is None else (first, second))
        pair_ids = None
        if second is not None:
            pair_ids = ids_of(pipeline, second, words, where, takes_ids=True)
        row = tokenizer.prepare_for_model(
            ids_of(pipeline, first, words, where, takes_ids=True),
            pair_ids,
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
    encoding = tokenizer.pad(
        rows,
        padding=strategies.padding,
        max_length=strategies.max_length,
        pad_to_multiple_of=options.pad_to_multiple_of,
        padding_side=options.padding_side,
        return_attention_mask=options.return_attention_mask,
        return_tensors=options.return_tensors,
        verbose=False,
    )
    return _with_details(tokenizer, snapshot, encoding, pipeline, texts, options, one=False)


def _strategies(tokenizer: Any, options: CallOptions) -> Strategies:
    return resolve_strategies(
        tokenizer,
        *options[1:4],
        pad_to_multiple_of=options.pad_to_multiple_of,
        verbose=options.verbose,
    )


def _wants(tokenizer: Any, name: str, asked: bool | None) -> bool:
    return name in tokenizer.model_input_names if asked is None else asked


def _with_template(
    tokenizer: Any, ids: Ids, pair_ids: Ids | None, add_special_tokens: bool
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


def _without_none(tokenizer: Any, ids: Ids) -> Ids:
    """Return `ids`; raise if one of them is None, which the template gives for a role without a
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
    tokenizer: Any,
    snapshot: Any,
    encoding: BatchEncoding,
    pipeline: Pipeline,
    texts: list[tuple[Any, ...]],
    options: CallOptions,
    one: bool,
) -> BatchEncoding:
    """Return a result whose methods can tell where its tokens came from; with `offset_mapping` if
    the call asks for it.
    """
    if not isinstance(encoding, BatchEncoding):  # a subclass may return something else
        return encoding
    if not all(has_spans(text, options.is_split_into_words) for sample in texts for text in sample):
        if options.return_offsets_mapping:
            raise NotSupportedError(
                "tokens and ids stand for no text that could have offsets", name="offset_mapping"
            )
        return encoding
    call = snapshot.call(options)
    encoding.work_out_by(call, (pipeline, texts, one))
    if options.return_offsets_mapping:
        details = call.encodings((pipeline, texts, one), encoding["input_ids"])
        _require_same_ids(tokenizer, details, encoding["input_ids"], one)
        offsets = [each.offsets for each in details]
        kind = tensor_type_of(encoding["input_ids"])
        encoding["offset_mapping"] = (
            to_tensor(offsets, kind) if kind else offsets[0] if one else offsets
        )
    return encoding


def _require_same_ids(tokenizer: Any, details: list[Any], input_ids: Any, one: bool) -> None:
    """Raise where a method of the user's has made other ids than the details are of."""
    # twice: rows of different lengths are an array of arrays
    given = to_python(to_python(input_ids))
    rows = [given] if one and not (given and isinstance(given[0], list)) else given
    if [each.ids for each in details] != rows:
        raise NotSupportedError(
            f"{type(tokenizer).__name__} has methods of its own that give other ids than its texts,"
            " so where its tokens came from cannot be told",
            name="return_offsets_mapping",
        )
