"""The tokenizer that users subclass: settings, conversion, decoding, loading, saving."""

from __future__ import annotations

import copy
import difflib
import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from trietok.errors import InputError, InputTypeError, NotSupportedError, kind_of
from trietok.files.formats import ADDITIONAL, RECORD, Templates, named_templates
from trietok.files.load import load
from trietok.files.save import save
from trietok.inputs.options import (
    OF_DECODING,
    VERY_LARGE_INTEGER,
    CallKeywords,
    CallOptions,
    DecodeKeywords,
    Text,
    TokenIds,
    reject_unknown,
)
from trietok.inputs.settings import Profile
from trietok.inputs.tensors import to_python
from trietok.text.added_tokens import AddedToken, convert_added_tokens
from trietok.text.cache import CACHE_LIMIT
from trietok.text.decoding import clean_up_tokenization, join_tokens
from trietok.text.pipeline import Pipeline
from trietok.text.watched import state_of
from trietok.tokenizer import vocabulary_edits as editing
from trietok.tokenizer.calls import Calls
from trietok.tokenizer.fingerprint import fingerprint
from trietok.tokenizer.token_table import SPECIAL_HOOKS, TokenTable
from trietok.typing_compat import Self, Unpack

if TYPE_CHECKING:
    from trietok.explaining.explanation import Explanation

logger = logging.getLogger("trietok")

MOST_IN_REPR = 10  # added tokens
_SETTINGS = tuple(
    """name_or_path model_max_length max_len padding_side truncation_side model_input_names
    clean_up_tokenization_spaces split_special_tokens chat_template extra_special_tokens
    added_tokens_decoder max_embedding_rows cache_limit""".split()
)
# of which a copy would be as good
_UNCHANGEABLE = frozenset((str, int, float, bool, type(None), AddedToken))
_UNKNOWN_KEYWORDS = 100  # whose spelling is looked at; a file may hold any number


class PreTrainedTokenizer(Calls):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Every tokenizer takes the parameters below as keywords, when it is made and in
    `from_pretrained`.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token`
    and, to save, `save_vocabulary`; override `convert_tokens_to_string`,
    `build_inputs_with_special_tokens`, `prepare_for_tokenization` and the others where the model
    asks for it. Set what those need before calling `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        max_embedding_rows: how many rows the model's embeddings have, if that number is fixed:
            adding a token whose id would have no row is then an error.
        model_max_length: the longest sequence the model takes, in tokens; what truncation and
            `max_length` padding use when a call gives no `max_length`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_input_names: what a call returns by default, the main input first.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        split_special_tokens: treat special tokens in a text as ordinary text.
        chat_template: a chat template, or a dict name → template. trietok saves it with the
            tokenizer and does not render it.
        extra_special_tokens: more roles, as a dict role → token; a list of tokens, as in
            transformers 5, gives additional special tokens.
        name_or_path: where the tokenizer was loaded from.
        **kwargs: a token for each role (`pad_token`, ...), and anything else, which is kept and
            saved.

    Raises:
        InputError: a side is neither right nor left.
        AttributeError: a keyword has the name of a method.
    """

    vocab_files_names: dict[str, str] = {}
    profile: Profile = (
        "slow"  # whose ids it gives: those of transformers' Python tokenizers, or of its Rust ones
    )
    cache_limit: int = CACHE_LIMIT

    pretrained_vocab_files_map: dict[str, dict[str, str]] = {}
    slow_tokenizer_class: type[PreTrainedTokenizer] | None = None

    def __init__(self, **kwargs: Any) -> None:
        for key in kwargs:
            if callable(getattr(type(self), key, None)):
                kind = type(self).__name__
                raise NotSupportedError(
                    f"{key} conflicts with the method {key} in {kind}", name=key
                )
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
        self._tokens.table = table.replace(added=table.added.with_tokens(decoder))

    def _add_role_tokens(self) -> None:
        self._add_tokens(self.all_special_tokens_extended, special_tokens=True)

    def _restore(self, record: Mapping[str, Any]) -> None:
        """Restore what `record` has saved."""
        table = self._table
        added = table.added.reordered(record.get("added_order", ()))
        added = added.with_max_id(max(added.max_id, record.get("max_id", -1)))
        self._tokens.table = table.replace(added=added)

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
        state = {**state_of(self), "deprecation_warnings": {}}
        state.pop("_own_entries", None)
        return state

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
        return self._tokens.holding()

    # ---- the ids of special tokens ---------------------------------------------------------------

    def _special_in(self, table: TokenTable) -> tuple[str, ...]:
        """The special tokens, by one state where a user's class does not say which they are."""
        return (
            tuple(self.all_special_tokens)
            if self.overrides(*SPECIAL_HOOKS)
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

    # ---- tokens to ids and back ------------------------------------------------------------------

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...  # type: ignore[overload-overlap]

    @overload
    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]: ...

    @overload
    def convert_tokens_to_ids(self, tokens: None) -> None: ...

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the
        unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [
        ...     0,
        ...     tokenizer.unk_token_id,
        ... ]
        True
        """
        if tokens is None:
            return None
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        if not isinstance(tokens, Iterable):
            raise InputTypeError(
                f"tokens are a str or a list of str, not {kind_of(tokens)}", value=tokens
            )
        return self._ids_of(self._table, tokens)

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        """The ids of tokens, all from one state of the tokenizer if no method is overridden."""
        if self.overrides("_convert_token_to_id_with_added_voc"):
            return [self._convert_token_to_id_with_added_voc(token) for token in tokens]
        return [self._id_in(table, token) for token in tokens]

    def _ids_of_roles(self, table: TokenTable, tokens: str | Sequence[str]) -> Any:
        """The id of a token that has a role, or ids of several, by a `convert_tokens_to_ids` of the
        user's if any.
        """
        if self.overrides("convert_tokens_to_ids"):
            return self.convert_tokens_to_ids(tokens if isinstance(tokens, str) else list(tokens))
        return (
            self._ids_of(table, [tokens])[0]
            if isinstance(tokens, str)
            else self._ids_of(table, tokens)
        )

    def _convert_token_to_id_with_added_voc(self, token: str | None) -> int | None:
        return self._id_in(self._table, token)

    def _id_in(self, table: TokenTable, token: str | None) -> int | None:
        if token is None:
            return None
        added = table.added.encoder.get(token)
        return self._convert_token_to_id(token) if added is None else added

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_token_to_id(token)")

    @overload
    def convert_ids_to_tokens(self, ids: int, skip_special_tokens: bool = False) -> str: ...

    @overload
    def convert_ids_to_tokens(
        self, ids: Iterable[int], skip_special_tokens: bool = False
    ) -> list[str]: ...

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above `max_id`.
        """
        return self._converted(self._table, ids, skip_special_tokens)

    def _converted(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """`convert_ids_to_tokens` by one state."""
        if isinstance(ids, int):
            return self._token_of(ids)
        if type(ids) is not list and (
            isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable)
        ):
            raise InputTypeError(f"ids are an int or a list of ints, not {kind_of(ids)}", value=ids)
        special: Collection[int] = ()
        if skip_special_tokens:
            is_own = self.overrides("all_special_ids")
            special = set(self.all_special_ids if is_own else self._special_ids(table))
        return self._tokens_of(table, ids, special)

    def _tokens_of(
        self, table: TokenTable, ids: Iterable[Any], left_out: Collection[int]
    ) -> list[str]:
        """The tokens of ids, all from one state of the tokenizer."""
        return [
            self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in left_out
        ]

    def _token_of(self, token_id: int) -> str:
        added = self._table.added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    # ---- decoding --------------------------------------------------------------------------------

    def decode(
        self,
        token_ids: TokenIds,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> str:
        """Ids back to text.

        Args:
            token_ids: an id, a list of ids, or an array or tensor of shape (sequence,).
            skip_special_tokens: leave special tokens out.
            clean_up_tokenization_spaces: take out the spaces before punctuation; None for the
                tokenizer's own setting.
            **kwargs: `spaces_between_special_tokens`, True by default.

        Raises:
            TokenIdError: an id is negative or above `max_id`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.decode(tokenizer.encode("The people, united!"), skip_special_tokens=True)
        'the people, united!'
        """
        return self._decode(
            token_ids if type(token_ids) is int else to_python(token_ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

    def batch_decode(
        self,
        sequences: Iterable[TokenIds],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> list[str]:
        """`decode` for every sequence of a list, or every row of an array or tensor of shape
        (batch, sequence).
        """
        return [
            self.decode(sequence, skip_special_tokens, clean_up_tokenization_spaces, **kwargs)
            for sequence in sequences
        ]

    clean_up_tokenization = staticmethod(clean_up_tokenization)

    def _tokens_to_join(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """What `convert_ids_to_tokens` returns, by one state where it is not a user's own."""
        if self.overrides("convert_ids_to_tokens"):
            return self.convert_ids_to_tokens(ids, skip_special_tokens=skip_special_tokens)
        return self._converted(table, ids, skip_special_tokens)

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, with spaces."""
        return " ".join(tokens)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        spaces_between_special_tokens: bool = True,
        **kwargs: Any,
    ) -> str:
        if kwargs:
            kwargs.pop("use_source_tokenizer", None)
            reject_unknown(kwargs, OF_DECODING)
        text = self._joined(token_ids, skip_special_tokens, spaces_between_special_tokens)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = self.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _joined(self, token_ids: Any, skip_special_tokens: bool, spaces: bool) -> str:
        """The text of ids before it is cleaned up."""
        table = self._table
        tokens = self._tokens_to_join(table, token_ids, skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            special = frozenset(self._special_in(table))
            tokens = [token for token in tokens if token not in special]
        separator = " " if spaces else ""
        return join_tokens(
            tokens, self._standing_alone(table), self.convert_tokens_to_string, separator
        )

    def _standing_alone(self, table: TokenTable) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but tokens of roles that are in
        the vocabulary.
        """
        listed = list(map(str, table.roles[ADDITIONAL]))
        size, ids = self.vocab_size, self._ids_of(table, listed)
        additional = {token for token, i in zip(listed, ids, strict=True) if i >= size}
        special = set(self._special_in(table))
        return frozenset(table.added.encoder.flat().keys() - special | additional)

    # ---- calls -----------------------------------------------------------------------------------

    def explain(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        text_pair: Text | None = None,
        **options: Unpack[CallKeywords],
    ) -> Explanation:
        """Why a text, or a pair, has the ids that a call gives it: what each stage did, and why
        each token is one.

        Args:
            text, pair: a str each; with `is_split_into_words` a list of words each. `text_pair`, as
                a call has it, is another name of `pair`.
            **options: those of a call.

        Returns:
            An `Explanation`. Its `input_ids` are those of the call.

        Raises:
            InputTypeError: `text` is a batch, or a text is given as tokens.
            NotSupportedError: a class has stages of its own, so its ids cannot be explained.
            TrietokError: whatever a call raises for the text and the options.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> token = tokenizer.explain("unaffable").tokens[2]
        >>> token.token, token.match.entries
        ('##aff', ('##a', '##af', '##aff'))
        """
        if text_pair is not None:
            if pair is not None:
                raise InputError("pair and text_pair are the same; give one of them")
            pair = text_pair
        snapshot = self._now()
        input_ids = self(text, pair, **options)["input_ids"]
        words = bool(options.get("is_split_into_words"))
        for given in (text, pair):
            if isinstance(given, (list, tuple)) and (
                not words or isinstance(next(iter(given), ""), (list, tuple))
            ):
                raise InputTypeError(
                    f"explain takes one text, or two as a pair, not {kind_of(given)}; call it"
                    " for each text",
                    value=given,
                )
        # Explanations and their views take a tenth of the time to import all else.
        from trietok.explaining.explanation import ONLY_WORDPIECE, explain

        others: dict[str, Any] = {**options, "return_tensors": None}
        named = {name: others.pop(name) for name in CallOptions._fields if name in others}
        call = snapshot.call(CallOptions(**named))
        first, second = self._item(text, pair, words)
        vocabulary = snapshot.table.vocabulary
        if vocabulary is None:
            raise NotSupportedError(ONLY_WORDPIECE, name="explain")
        of = type(self).__name__, self.name_or_path, self.profile, vocabulary
        texts = (first,) if second is None else (first, second)
        return explain(*of, call, snapshot.stages_for(others, words), texts, input_ids)

    # ---- files -----------------------------------------------------------------------------------

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *init_inputs: Any,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Load a tokenizer from a directory, a vocabulary file, a built-in name or the hub.

        Args:
            pretrained_model_name_or_path: a directory as `save_pretrained` or transformers writes
                it; a vocab.txt; a built-in name such as `trietok-en`; or a name on the HuggingFace
                hub (needs the `hub` extra).
            cache_dir, force_download, local_files_only, token, revision: how to ask the hub; see
                `docs/saving.md`.
            trust_remote_code: accepted and ignored: no code of a model is ever run.
            **kwargs: `subfolder` names a folder below; all others go to the tokenizer and override
                what its files say.

        Raises:
            FileError: there is nothing of that name, or a file cannot be read; or it is a hub name,
                and huggingface_hub is not installed. It is an `OSError`.
            FileFormatError: a file does not hold what it should.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained(
        ...     "trietok-en", model_max_length=128
        ... ).model_max_length
        128
        """
        hub_options = {
            "cache_dir": cache_dir,
            "force_download": force_download,
            "local_files_only": local_files_only,
            "token": token,
            "revision": revision,
        }

        tokenizer: Self = load(cls, pretrained_model_name_or_path, init_inputs, hub_options, kwargs)
        return tokenizer

    def class_to_save(self) -> dict[str, Any]:
        """What tokenizer_config.json says of the class: the slow one, since `AutoTokenizer` finds
        either from it.
        """
        return {
            "tokenizer_class": (
                type(self).__name__.removesuffix("Fast" if self.profile == "fast" else "")
            )
        }

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        tokenizer_json: bool | None = None,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write the tokenizer's files to a directory, which is made if need be, as transformers
        writes them.

        Args:
            save_directory: where to.
            legacy_format: True for a vocab.txt, False for a tokenizer.json, None for both; the slow
                profile writes a tokenizer.json only where `tokenizer_json` asks for it, or one is
                there that gives other ids.
            filename_prefix: put before every file's name, with a hyphen.
            tokenizer_json: True to write a tokenizer.json in the slow profile too. A program that
                reads that file gets the ids of the fast profile, which equal those of the slow
                profile except for what `docs/profiles.md` lists. False to have none in the
                directory afterwards. By default, one that is there stays as it is if it has the
                tokens, settings and template of this tokenizer, and is written again if not.

        Returns:
            The paths of the files written.

        Raises:
            FileError: a file cannot be written.
            VocabularyError: a token cannot be kept in its file, the unknown token is None, or a
                role has a token that is not added. Nothing is written.
            NotSupportedError: the files, or a tokenizer.json that is to be written or is there,
                cannot hold all of the tokenizer: such as `continuing_subword_prefix` in the slow
                profile. Nothing is written.
        """
        return save(
            self,
            save_directory,
            legacy_format,
            filename_prefix,
            push_to_hub,
            tokenizer_json=tokenizer_json,
            **kwargs,
        )

    convert_added_tokens = staticmethod(convert_added_tokens)

    def __repr__(self) -> str:
        tokens = self.added_tokens_decoder
        added = "".join(
            f"\t{token_id}: {token!r},\n"
            for token_id, token in islice(tokens.items(), MOST_IN_REPR)
        )
        if len(tokens) > MOST_IN_REPR:
            added += f"\t… {len(tokens) - MOST_IN_REPR:,} more\n"
        return (
            f"{type(self).__name__}(name_or_path='{self.name_or_path}',"
            f" vocab_size={self.vocab_size}, model_max_length={self.model_max_length},"
            f" is_fast={self.is_fast}, padding_side='{self.padding_side}',"
            f" truncation_side='{self.truncation_side}', special_tokens={self.special_tokens_map},"
            f" clean_up_tokenization_spaces={self.clean_up_tokenization_spaces},"
            f" added_tokens_decoder={{\n{added}}}\n)"
        )

    # ---- text to tokens --------------------------------------------------------------------------

    def fingerprint(self) -> str:
        """A hash of every setting and token that affects ids: `trietok-1:` and 64 hexadecimal
        digits (SHA-256).

        Tokenizers with equal fingerprints give equal ids. It includes the vocabulary, the added
        tokens with their flags, the roles, and the settings of every stage; settings that affect no
        id, such as `model_max_length`, are left out. It is the same in every process and on every
        machine, and after saving and loading. Of a subclass it includes the name, not the code.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> before = tokenizer.fingerprint()
        >>> tokenizer.add_tokens(["covid-19"]), tokenizer.fingerprint() == before
        (1, False)
        """
        return fingerprint(self)


def _int_id(token_id: Any) -> int:
    try:
        whole = int(token_id)
        if isinstance(token_id, (str, bytes)) or whole != token_id:
            raise ValueError
        return whole
    except (TypeError, ValueError):
        hint = "; decode a batch with batch_decode" if isinstance(token_id, (list, tuple)) else ""
        raise InputTypeError(
            f"an id is a whole number, not {kind_of(token_id)}{hint}", value=token_id
        ) from None
