"""HuggingFace's methods that a user may replace, and the encoder that calls them then.

In: a tokenizer of a class whose methods are a user's own. Out: tokens, ids and spans of its texts,
by those methods, in the order in which transformers calls them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trietok.errors import NotSupportedError
from trietok.inputs.options import (
    reject_unknown,
)
from trietok.text.aligned import UNWATCHED, Span, Watch
from trietok.text.cache import CacheInfo
from trietok.text.changes import Changeable, is_replaced
from trietok.text.pipeline import Located, Pipeline, Settings, require_text
from trietok.text.vocabulary import Vocabulary
from trietok.text.words import STEPS
from trietok.tokenizer.token_table import SPECIAL_HOOKS, TokenTable

# HuggingFace's methods that a user may replace; `HookEncoder` and `OfOneState` call them then. From
# a text to its ids:
TEXT_HOOKS = (
    *"""tokenize prepare_for_tokenization _tokenize convert_tokens_to_ids
    _convert_token_to_id_with_added_voc _convert_token_to_id do_lower_case vocab""".split(),
    *SPECIAL_HOOKS,
)


CALL_HOOKS = ("encode_plus", "batch_encode_plus")


# From ids to texts:
DECODE_HOOKS = (
    *"""decode _decode convert_ids_to_tokens _convert_id_to_token convert_tokens_to_string
    clean_up_tokenization convert_tokens_to_ids all_special_ids vocab ids_to_tokens""".split(),
    *SPECIAL_HOOKS,
)


# From ids to what a call returns:
INPUT_HOOKS = tuple(
    """prepare_for_model pad _pad truncate_sequences num_special_tokens_to_add
    build_inputs_with_special_tokens create_token_type_ids_from_sequences get_special_tokens_mask
    pad_token_type_id convert_tokens_to_ids""".split()
)


PAD_HOOKS = ("_pad", "pad_token", "pad_token_id", "pad_token_type_id", "convert_tokens_to_ids")


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


class HookEncoder(Pipeline):
    """Encodes texts by the methods of a tokenizer, in the order in which transformers calls
    them.
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
        self._as_text = as_text
        self._options = dict(options or {})

    def _table_now(self) -> TokenTable:
        """The tokens: those of the moment, unless the user's `prepare_for_tokenization` may have
        added some.
        """
        prepares = is_replaced(self._tokenizer, ("prepare_for_tokenization",))
        table: TokenTable = self._tokenizer._table if prepares else self._table
        return table

    def with_options(
        self, options: Mapping[str, Any], is_split_into_words: bool, known: Sequence[str]
    ) -> HookEncoder:
        """The encoder for a call with other keywords; an error looks among the known ones for what
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
        return (
            HookEncoder(self._tokenizer, self._table, self._stages, self._as_text, options)
            if options
            else self
        )

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of tokens, by `convert_tokens_to_ids`."""
        tokenizer = self._tokenizer
        if is_replaced(tokenizer, ("convert_tokens_to_ids",)):
            return tokenizer.convert_tokens_to_ids(tokens)  # type: ignore[no-any-return]
        return tokenizer._ids_of(self._table_now(), tokens)  # type: ignore[no-any-return]

    def ids_in_python(self, text: str) -> list[int]:
        """The ids of `text`, by `tokenize` and `convert_tokens_to_ids`."""
        if self._tokenizer.profile == "fast":
            stages, text = self._prepared_stages(text)
            return stages.ids(text)
        return self.ids_of_tokens(self._tokens_by_methods(text))

    def _tokens_by_methods(self, text: str) -> list[str]:
        is_own = is_replaced(self._tokenizer, ("tokenize",))
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
        as_text = options.pop("split_special_tokens", self._as_text)
        text, unknown = self._tokenizer.prepare_for_tokenization(text, **options)
        reject_unknown(unknown)
        stages = StagesByMethods(self._tokenizer, self._table_now()) if by_methods else self._stages
        assert stages is not None  # called only if there are some
        return stages.as_text() if as_text else stages, text

    # ---- where tokens came from ------------------------------------------------------------------

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

    def chunks(self, text: str) -> list[str]:
        return [text]

    def cut_characters(self) -> None:
        return None

    def as_text(self) -> Pipeline:
        raise NotImplementedError  # `_prepared_stages` decides it

    def info(self, limit: int) -> CacheInfo:
        return CacheInfo(0, 0, 0, limit, 0)

    def forget(self) -> None:
        """There is nothing to forget."""

    def stages_for(self, text: str) -> tuple[Pipeline, str]:
        """The stages that give the tokens of `text`, and the text that they are given."""
        self.locate(text)
        stages, prepared = self._prepared_stages(text)
        return (
            (stages, prepared)
            if self._tokenizer.profile == "fast"
            else (self._stages or stages, text)
        )


class StagesByMethods(Pipeline):
    """The stages of a class of the slow profile whose `_tokenize` makes tokens of what lies between
    added tokens.
    """

    def __init__(self, tokenizer: Any, table: TokenTable) -> None:
        lowers, special = (
            bool(getattr(tokenizer, "do_lower_case", False)),
            tokenizer._special_in(table),
        )
        nothing = table.vocabulary or Vocabulary(["[UNK]"])
        settings = Settings(lowers=lowers)
        super().__init__(None, NO_STAGE, nothing, table.added, special, settings, live=True)
        self._tokenizer = tokenizer

    def words_of(self, part: str) -> list[str]:
        return [part]

    def pieces_of(self, word: str) -> list[str]:
        tokens: list[str] = self._tokenizer._tokenize(word)
        return tokens


class _NoStage(Changeable):
    """Used in place of a basic or WordPiece tokenizer that does not exist or cannot be watched."""

    never_split: frozenset[str] = frozenset()


NO_STAGE: Any = _NoStage()
