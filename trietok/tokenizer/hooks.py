"""Finds HuggingFace methods that a user has replaced; `HookEncoder` calls them for each text.

In: a tokenizer. Out: whether some of its methods are not trietok's own; an encoder that calls those methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trietok.errors import NotSupportedError, SpecialTokenError
from trietok.inputs.options import reject_unknown
from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import Located, Span
from trietok.text.chunk_encoder import TextEncoder
from trietok.text.stages import Stages, require_text
from trietok.text.untrusted import OPTIONS, SpecialPolicy, special_policy
from trietok.tokenizer.token_table import TokenTable

# From a text to its ids.
TEXT_HOOKS = (
    "tokenize",
    "prepare_for_tokenization",
    "_tokenize",
    "convert_tokens_to_ids",
    "_convert_token_to_id_with_added_voc",
    "_convert_token_to_id",
    "do_lower_case",
    "vocab",
)
CALL_HOOKS = ("encode_plus", "batch_encode_plus")
# From ids to texts.
DECODE_HOOKS = (
    "decode",
    "_decode",
    "convert_ids_to_tokens",
    "_convert_id_to_token",
    "convert_tokens_to_string",
    "clean_up_tokenization",
    "all_special_tokens",
    "vocab",
    "ids_to_tokens",
)
# From ids to what a call returns.
INPUT_HOOKS = (
    "prepare_for_model",
    "pad",
    "_pad",
    "truncate_sequences",
    "num_special_tokens_to_add",
    "build_inputs_with_special_tokens",
    "create_token_type_ids_from_sequences",
    "get_special_tokens_mask",
    "pad_token_type_id",
)
PAD_HOOKS = ("_pad", "pad_token", "pad_token_id", "pad_token_type_id")
# Roles that a user's class answers for itself.
ROLE_HOOKS = tuple(
    name
    for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    for name in (f"{role}_token", f"{role}_token_id")
)
# The methods of `basic_tokenizer` and `wordpiece_tokenizer`, and the methods that those call.
STAGE_HOOKS = (
    "tokenize",
    "clean",
    "cleaning_table",
    "rust_cleaning_table",
    "compose",
    "normalize",
    "normalized",
    "words",
    "_split_on_punctuation",
    "pieces_of",
    "match_word",
)


_KNOWN = frozenset({"split_special_tokens", "is_split_into_words", *OPTIONS})


def is_replaced(holder: Any, names: tuple[str, ...]) -> bool:
    """Whether one of these methods is not trietok's own: of a tokenizer, or of a stage of trietok's or a subclass."""
    return not holder.__dict__.keys().isdisjoint(names) or type(holder).has_foreign(names)


class HookEncoder(TextEncoder):
    """Encodes texts by the methods of a tokenizer, in the order in which transformers calls them.

    Args:
        tokenizer: the tokenizer whose methods are called.
        table: its tokens at one moment.
        stages: the stages that texts would go through if no method were replaced; None for a class without stages.
        as_text: whether special tokens are text, unless the options say otherwise.
        options: keywords of a call that concern its texts.
    """

    def __init__(
        self,
        tokenizer: Any,
        table: TokenTable,
        stages: Stages | None,
        as_text: bool,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self._stages = stages
        self._as_text = as_text
        self._options = dict(options or {})

    def _table_now(self) -> TokenTable:
        """The tokens: those of the moment, unless the user's `prepare_for_tokenization` may have added some."""
        prepares = is_replaced(self._tokenizer, ("prepare_for_tokenization",))
        table: TokenTable = self._tokenizer._table if prepares else self._table
        return table

    def with_options(self, options: Mapping[str, Any], is_split_into_words: bool, known: Sequence[str]) -> HookEncoder:
        """The encoder for a call with other keywords; an error looks among the known ones for what may be meant.

        Raises:
            OptionError: one of them is unknown.
        """
        others = {name: value for name, value in options.items() if name not in _KNOWN}
        if others:
            _, unknown = self._tokenizer.prepare_for_tokenization(
                "", **{"is_split_into_words": is_split_into_words, **others}
            )
            reject_unknown(unknown, known)
        if is_split_into_words:
            options = {**options, "is_split_into_words": True}
        return HookEncoder(self._tokenizer, self._table, self._stages, self._as_text, options) if options else self

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of tokens, by `convert_tokens_to_ids`."""
        is_own = is_replaced(self._tokenizer, ("convert_tokens_to_ids",))
        tokenizer = self._tokenizer
        ids: list[int] = (
            tokenizer.convert_tokens_to_ids(tokens) if is_own else tokenizer._ids_of(self._table_now(), tokens)
        )
        return ids

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, by `tokenize` and `convert_tokens_to_ids`."""
        if self._tokenizer.profile == "fast":
            stages, text = self._prepared_stages(text)
            return stages.ids(text)
        return self.ids_of_tokens(self._tokens_by_methods(text))

    def _tokens_by_methods(self, text: str) -> list[str]:
        is_own = is_replaced(self._tokenizer, ("tokenize",))
        return self._tokenizer.tokenize(text, **self._options) if is_own else self.tokens(text)

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`: prepared, lower-cased, cut at the added tokens; `_tokenize` cuts the parts between."""
        require_text(text)
        if self._tokenizer.profile == "fast":
            stages, text = self._prepared_stages(text)
            return stages.tokens(text)
        tokenizer, options = self._tokenizer, dict(self._options)
        as_text = options.pop("split_special_tokens", self._as_text)
        policy = special_policy(self._table.special_contents, options) if options else None
        text, unknown = tokenizer.prepare_for_tokenization(text, **options)
        reject_unknown(unknown)
        if policy is not None:
            return self._tokens_by_policy(text, policy)
        table = self._table_now()
        text = self._lowered(text, table.added, table.special_tokens)
        if as_text:
            return list(tokenizer._tokenize(text)) if text else []
        tokens: list[str] = []
        for piece, is_token in table.added.pieces(text):
            if is_token:
                tokens.append(piece)
            else:
                tokens += tokenizer._tokenize(piece)
        return tokens

    def _lowered(self, text: str, added: AddedTokens, special_tokens: tuple[str, ...]) -> str:
        """The text, lower-cased between the tokens where the tokenizer lower-cases."""
        lowers = getattr(self._tokenizer, "do_lower_case", False)
        return added.lower_between(text, special_tokens) if lowers else text

    def _tokens_by_policy(self, text: str, policy: SpecialPolicy) -> list[str]:
        table = self._table
        if policy.refused:
            policy.check(self._given_by(text), text)
        allowed = tuple(token for token in table.special_tokens if token in policy.allowed)
        added = table.added.without(table.special_contents - policy.allowed)
        text = self._lowered(text, added, allowed)
        tokens: list[str] = []
        for piece, is_token in added.pieces(text):
            if is_token:
                tokens.append(piece)
                continue
            for token in self._tokenizer._tokenize(piece):
                if token in table.special_contents and token != self._tokenizer.unk_token:
                    raise SpecialTokenError(
                        f"{type(self._tokenizer).__name__} cannot take {token!r} for plain text: its _tokenize gives "
                        "the special token"
                    )
                tokens.append(token)
        return tokens

    def _given_by(self, text: str) -> Iterator[str]:
        """The tokens that the text ordinarily gives and that no unknown word gave."""
        table = self._table
        for piece, is_token in table.added.pieces(self._lowered(text, table.added, table.special_tokens)):
            if is_token:
                yield piece
            else:
                unknown = self._tokenizer.unk_token
                yield from (token for token in self._tokenizer._tokenize(piece) if token != unknown)

    # ---- where tokens came from -------------------------------------------------------------------------------------

    def locate(self, text: str) -> Located:
        """The tokens of `text` with their spans, if the methods give the same tokens as the stages.

        Raises:
            NotSupportedError: they give other tokens.
        """
        kind = type(self._tokenizer).__name__
        if self._stages is None:
            raise NotSupportedError(
                f"{kind} does not tell which characters its tokens stand for", name="return_offsets_mapping"
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

    def words(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        self.locate(text)  # refuses methods whose tokens are not those of the stages
        stages, prepared = self._prepared_stages(text)
        return stages.words_between(prepared)

    def _prepared_stages(self, text: str) -> tuple[Stages, str]:
        """The stages for these options, and the text as `prepare_for_tokenization` leaves it."""
        assert self._stages is not None  # called only if there are some
        options = dict(self._options)
        as_text = options.pop("split_special_tokens", self._as_text)
        policy = special_policy(self._table.special_contents, options) if options else None
        text, unknown = self._tokenizer.prepare_for_tokenization(text, **options)
        reject_unknown(unknown)
        if policy is not None:
            if policy.refused:
                policy.check(self._stages.specials_in(text), text)
            return self._stages.untrusted(self._table.special_contents, policy.allowed), text
        return self._stages.as_text() if as_text else self._stages, text

    def spans(self, text: str, count: int = -1) -> list[Span]:
        return self.locate(text).spans

    def stages_for(self, text: str) -> tuple[Stages, str]:
        """The stages that give the tokens of `text`, and the text that they are given.

        Raises:
            NotSupportedError: no stages give them.
        """
        self.locate(text)
        stages, prepared = self._prepared_stages(text)
        return (stages, prepared) if self._tokenizer.profile == "fast" else (self._stages or stages, text)
