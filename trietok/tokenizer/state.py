"""The settings and tokens of a tokenizer, and the `Moment` that its calls use.

In: the keywords of a tokenizer, from a user or from files. Out: a tokenizer that knows its state:
the settings, the roles, and the table of tokens. What it does with them, its children say: calls,
ids alone, model inputs, conversions, and changes of the added tokens.
"""

from __future__ import annotations

import copy
import difflib
import logging
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from trietok.errors import (
    InputError,
    NotSupportedError,
)
from trietok.files.formats import RECORD, Templates, named_templates
from trietok.inputs.builder import InputBuilder
from trietok.inputs.options import VERY_LARGE_INTEGER, Side
from trietok.inputs.profiles import SLOW, Profile
from trietok.text.added_tokens import AddedToken
from trietok.text.cache import CACHE_LIMIT
from trietok.text.changes import is_replaced
from trietok.text.pipeline import Pipeline
from trietok.tokenizer import token_table as editing
from trietok.tokenizer.hooks import HookEncoder
from trietok.tokenizer.moment import NEVER, Derived, Moment
from trietok.tokenizer.special_tokens import SpecialTokensMixin
from trietok.tokenizer.token_table import SPECIAL_HOOKS, TokenTable
from trietok.typing_compat import Self

logger = logging.getLogger("trietok")

_SETTINGS = tuple(
    """name_or_path model_max_length max_len padding_side truncation_side model_input_names
    clean_up_tokenization_spaces split_special_tokens chat_template extra_special_tokens
    added_tokens_decoder max_embedding_rows cache_limit""".split()
)
# of which a copy would be as good
_UNCHANGEABLE = frozenset((str, int, float, bool, type(None), AddedToken))
_UNKNOWN_KEYWORDS = 100  # whose spelling is looked at; a file may hold any number


class TokenizerState(SpecialTokensMixin):
    """What a tokenizer is at one time. Not used by itself: `PreTrainedTokenizer` inherits it."""

    model_input_names: list[str] = ["input_ids", "token_type_ids", "attention_mask"]
    padding_side: Side = "right"
    truncation_side: Side = "right"
    vocab_files_names: dict[str, str] = {}
    _input_rules = SLOW
    profile: Profile = (
        "slow"  # whose ids it gives: those of transformers' Python tokenizers, or of its Rust ones
    )
    cache_limit: int = CACHE_LIMIT
    _hook_encoder_class: type[HookEncoder] = HookEncoder
    # what makes words, and what makes subwords
    _stage_names = (
        "basic_tokenizer",
        "wordpiece_tokenizer",
    )
    _has_stages = False  # whether `_tokenize` uses trietok's `Stages`

    def __init__(self, **kwargs: Any) -> None:
        for key in kwargs:
            if callable(getattr(type(self), key, None)):
                kind = type(self).__name__
                raise NotSupportedError(
                    f"{key} conflicts with the method {key} in {kind}", name=key
                )
        self.__dict__["_moment"] = NEVER
        self.__dict__["_derived"] = Derived()
        self.init_inputs: tuple[Any, ...] = ()
        self.config_rows: int | None = (
            None  # `vocab_size` of the config.json beside the files, once loaded
        )
        self.max_embedding_rows: int | None = kwargs.pop("max_embedding_rows", None)
        decoder = kwargs.pop("added_tokens_decoder", {})
        record = kwargs.pop(RECORD, None) or {}
        is_simple = _UNCHANGEABLE.issuperset(map(type, kwargs.values()))
        self.init_kwargs: dict[str, Any] = dict(kwargs) if is_simple else copy.deepcopy(kwargs)
        # the keys of the warnings that have been logged
        self.deprecation_warnings: dict[str, bool] = {}
        self.name_or_path: str = kwargs.pop("name_or_path", "")
        max_length = kwargs.pop("model_max_length", kwargs.pop("max_len", None))
        # files may say 512.0, and a slice takes no float
        if isinstance(max_length, float) and max_length.is_integer():
            max_length = int(max_length)
        self.model_max_length: int = VERY_LARGE_INTEGER if max_length is None else max_length
        for name in ("padding_side", "truncation_side"):
            side = kwargs.pop(name, getattr(self, name))
            if side not in ("right", "left"):
                raise InputError(f"{name} is 'right' or 'left', not {side!r}")
            setattr(self, name, side)
        self.model_input_names = kwargs.pop("model_input_names", self.model_input_names)
        self.clean_up_tokenization_spaces: bool = kwargs.pop("clean_up_tokenization_spaces", False)
        self.chat_template: Templates = named_templates(kwargs.pop("chat_template", None))
        self.split_special_tokens: bool = kwargs.pop("split_special_tokens", False)
        extra = kwargs.pop("extra_special_tokens", None) or {}
        if not isinstance(extra, Mapping):
            kwargs["additional_special_tokens"] = [
                *(kwargs.get("additional_special_tokens") or ()),
                *extra,
            ]
            self.init_kwargs.pop("extra_special_tokens")
            extra = {}
        self.extra_special_tokens: dict[str, Any] = dict(extra)
        super().__init__(**kwargs)
        self._set_model_specific_special_tokens(self.extra_special_tokens)
        # any keyword is kept and saved, as in transformers
        for keyword, meant in self.misspellings(kwargs):
            logger.warning("the keyword %r changes nothing; did you mean %r?", keyword, meant)
        self._load_added_tokens(editing.all_as_added(decoder))
        self._restore(record)
        # A role's token that neither a file nor the vocabulary holds is added now; any other is
        # marked as special.
        self._add_role_tokens()

    @classmethod
    def known_settings(cls) -> set[str]:
        """The names of the settings that the class and those it inherits take."""
        known = set(_SETTINGS)
        for kind in cls.__mro__:
            code = getattr(vars(kind).get("__init__"), "__code__", None)
            known.update(
                code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
            )
        return known

    @classmethod
    def misspellings(
        cls, keywords: Iterable[str], others: Iterable[str] = ()
    ) -> list[tuple[str, str]]:
        """The keywords that look like misspelt settings or roles, each with the one that may be
        meant.

        Only the first 100 unknown keywords are looked at. `others` are names of options that are
        known beside those.

        >>> import trietok
        >>> trietok.PreTrainedTokenizer.misspellings(["padding_sid", "paddingSide", "my_note"])
        [('padding_sid', 'padding_side'), ('paddingSide', 'padding_side')]
        """
        known = {*cls.known_settings(), *cls.SPECIAL_TOKENS_ATTRIBUTES, *others}
        unknown = [keyword for keyword in keywords if keyword not in known][:_UNKNOWN_KEYWORDS]
        if not unknown:
            return []

        squeezed = {name.replace("_", ""): name for name in sorted(known)}
        pairs = []
        for keyword in unknown:
            # such as doLowerCase
            same = squeezed.get(keyword.lower().replace("_", "").replace("-", ""))
            close = [same] if same else difflib.get_close_matches(keyword, known, n=1, cutoff=0.85)
            pairs += [(keyword, meant) for meant in close]
        return pairs

    def _now(self) -> Moment:
        """The tokenizer as it is now: one state, which a call uses from beginning to end."""
        moment: Moment = self._moment
        if (
            moment.version.mark is not moment.mark
            or moment.basic.never_split != moment.never_split_given
            or self.model_input_names != moment.names
        ):
            moment = self.__dict__["_moment"] = Moment(self, moment)
        return moment

    def _pinned(self) -> Self:
        """The tokenizer as it is now, for a method that makes several calls; see
        `Moment.pinned`.
        """
        pinned: Self = self._now().pinned(self)
        return pinned

    # ---- what each kind of tokenizer defines -----------------------------------------------------

    @property
    def is_fast(self) -> bool:
        """Whether results have details such as `word_ids`, as those of transformers' Rust
        tokenizers do.
        """
        return self._input_rules.is_fast

    @property
    def vocab_size(self) -> int:
        """The number of different tokens without the added ones; see `max_id` for embedding
        rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has no vocab_size")

    def get_vocab(self) -> dict[str, int]:
        """The whole vocabulary with the added tokens: token → id."""
        raise NotImplementedError(f"{type(self).__name__} has no get_vocab()")

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the vocabulary file; return its path."""
        raise NotImplementedError(
            f"{type(self).__name__} has no save_vocabulary(save_directory, filename_prefix); return"
            " () there if it has no file"
        )

    def _pipeline_of(self, table: TokenTable, *, live: bool, **how: Any) -> Pipeline | None:
        """What texts go through now; None for a class that defines `_tokenize` only.

        `live`: use the basic and WordPiece tokenizer themselves, since a user has replaced methods
        of theirs. `how` are keywords of `Pipeline`.
        """
        return None

    # ---- its state as it is saved ----------------------------------------------------------------

    def _load_added_tokens(self, decoder: Mapping[int, AddedToken]) -> None:
        """Add the tokens that were saved."""
        table = self._table
        self._changes.table = table.replace(added=table.added.with_tokens(decoder))

    def _add_role_tokens(self) -> None:
        self._add_tokens(self.all_special_tokens_extended, special_tokens=True)

    def _restore(self, record: Mapping[str, Any]) -> None:
        """Restore what `record` has saved."""
        table = self._table
        added = table.added.reordered(record.get("added_order", ()))
        added = added.with_max_id(max(added.max_id, record.get("max_id", -1)))
        self._changes.table = table.replace(added=added)

    def record(self) -> dict[str, Any]:
        """The values to save beside transformers' settings, so that a reloaded tokenizer gives the
        same ids.
        """
        record: dict[str, Any] = {}
        added = self._table.added
        if added.max_id > max(added.decoder, default=-1):
            record["max_id"] = added.max_id
        # The files list tokens by id, but the order of adding decides which tokens are kept from
        # lower-casing.
        ordinary = [
            token_id for token_id, token in added.decoder.flat().items() if not token.special
        ]
        if getattr(self, "do_lower_case", False) and ordinary != sorted(ordinary):
            record["added_order"] = ordinary
        return record

    def __getstate__(self) -> dict[str, Any]:
        # Not what it has warned of, either: datasets takes a tokenizer that is pickled otherwise
        # for another one.
        return {
            **self.__dict__,
            "_moment": NEVER,
            "_derived": Derived(),
            "deprecation_warnings": {},
        }

    # ---- its state as it is used -----------------------------------------------------------------

    def warn_once(self, key: str, message: str) -> None:
        """Log a warning, unless one with the same key has been logged."""
        if not self.deprecation_warnings.get(key):
            self.deprecation_warnings[key] = True
            logger.warning(message)

    def holding(self) -> AbstractContextManager[None]:
        """A context for reading several parts of the tokenizer: changes by other threads wait until
        it ends.
        """
        return self._changes.holding()

    @property
    def text_encoder(self) -> Pipeline:
        """The current encoder: texts to ids, tokens and spans, without special tokens around. It
        never changes.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.text_encoder.ids("the people"), tokenizer.text_encoder.spans("the people")
        ([134, 289], [(0, 3), (4, 10)])
        """
        return self._now().call_encoder

    @property
    def is_plain(self) -> bool:
        """Whether calls use only `text_encoder` and `input_builder`, since no method or stage is a
        user's.
        """
        moment = self._now()
        return moment.is_plain and not moment.has_foreign_stage and not moment.goes_by_methods

    @property
    def input_builder(self) -> InputBuilder:
        """The current builder: ids to model inputs. It never changes."""
        return self._now().builder

    # ---- the ids of special tokens ---------------------------------------------------------------

    def _special_in(self, table: TokenTable) -> tuple[str, ...]:
        """The special tokens, by one state where a user's class does not say which they are."""
        return (
            tuple(self.all_special_tokens)
            if is_replaced(self, SPECIAL_HOOKS)
            else table.special_tokens
        )

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`, in that order."""
        return self._special_ids(self._table)

    def _special_ids(self, table: TokenTable) -> list[Any]:
        """The ids of special tokens, by one state where the list of them is not a user's own."""
        ids: list[Any] = self._ids_of_roles(table, self._special_in(table))
        return ids
