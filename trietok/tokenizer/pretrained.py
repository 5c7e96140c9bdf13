"""The tokenizer that users subclass: it handles added tokens; the subclass defines `_tokenize`.

In: a text. Out: tokens and ids. The order is transformers': prepare, lower-case outside the tokens that must match as
they are written, split at the added tokens, tokenize the pieces between. Other threads see a change of tokens
completely or not at all; a change that raises has no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, overload

from trietok import log
from trietok.errors import InputError, InputTypeError, TrietokError, VocabularyError, brief, shorten_traceback
from trietok.files.formats import RECORD
from trietok.files.settings import ADDITIONAL
from trietok.inputs.argument_types import TextKeywords, Unpack
from trietok.inputs.builder import InputBuilder
from trietok.inputs.call_inputs import kind_of
from trietok.inputs.options import OF_DECODING, OF_TEXTS, reject_unknown
from trietok.inputs.padding import padded_length
from trietok.text.added_token import AddedToken
from trietok.text.added_tokens import AddedTokens
from trietok.text.bulk import bulk
from trietok.text.chunk_encoder import ChunkEncoder, TextEncoder
from trietok.text.decoding import join_tokens
from trietok.text.memory import MEMORY_LIMIT
from trietok.text.stages import Stages, require_text
from trietok.text.trie import Trie
from trietok.tokenizer import editing
from trietok.tokenizer.base import PreTrainedTokenizerBase
from trietok.tokenizer.hooks import is_replaced
from trietok.tokenizer.moment import NEVER, Derived, frozen
from trietok.tokenizer.token_table import Token, TokenTable


class PreTrainedTokenizer(PreTrainedTokenizerBase):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Every tokenizer takes the parameters below as keywords, when it is made and in `from_pretrained`.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token` and, to save,
    `save_vocabulary`; override `convert_tokens_to_string`, `build_inputs_with_special_tokens`,
    `prepare_for_tokenization` and the others where the model asks for it. Set what those need before calling
    `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        max_embedding_rows: how many rows the model's embeddings have, if that number is fixed: adding a token whose id
            would have no row is then an error.
        model_max_length: the longest sequence the model takes, in tokens; what truncation and `max_length` padding
            use when a call gives no `max_length`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_input_names: what a call returns by default, the main input first.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        split_special_tokens: treat special tokens in a text as ordinary text.
        chat_template: a template for `apply_chat_template`, or a dict name → template.
        extra_special_tokens: more roles, as a dict role → token; a list of tokens, as in transformers 5, gives
            additional special tokens.
        name_or_path: where the tokenizer was loaded from.
        **kwargs: a token for each role (`pad_token`, ...), and anything else, which is kept and saved.

    Raises:
        InputError: a side is neither right nor left.
        AttributeError: a keyword has the name of a method.
    """

    cache_limit: int = MEMORY_LIMIT
    _encoder_class: type[ChunkEncoder] = ChunkEncoder
    _stage_names = ("basic_tokenizer", "wordpiece_tokenizer")  # what makes words, and what makes subwords
    _has_stages = False  # whether `_tokenize` uses trietok's `Stages`

    def __init__(self, **kwargs: Any) -> None:
        self.config_rows: int | None = None  # `vocab_size` of the config.json beside the files, once loaded
        self.max_embedding_rows: int | None = kwargs.pop("max_embedding_rows", None)
        decoder = kwargs.pop("added_tokens_decoder", {})
        record = kwargs.pop(RECORD, None) or {}
        super().__init__(**kwargs)
        self._load_added_tokens(editing.all_as_added(decoder))
        self._restore(record)
        # A role's token that neither a file nor the vocabulary holds is added now; any other is marked as special.
        self._add_role_tokens()

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
        """The values to save beside transformers' settings, so that a reloaded tokenizer gives the same ids."""
        record: dict[str, Any] = {}
        added = self._table.added
        if added.max_id > max(added.decoder, default=-1):
            record["max_id"] = added.max_id
        # The files list tokens by id, but the order of adding decides which tokens are kept from lower-casing.
        ordinary = [token_id for token_id, token in added.decoder.items() if not token.special]
        if getattr(self, "do_lower_case", False) and ordinary != sorted(ordinary):
            record["added_order"] = ordinary
        return record

    def __getstate__(self) -> dict[str, Any]:
        # Not what it has warned of, either: datasets takes a tokenizer that is pickled otherwise for another one.
        return {**self.__dict__, "_moment": NEVER, "_derived": Derived(), "deprecation_warnings": {}}

    def _stages_of(self, table: TokenTable, live: bool) -> Stages | None:
        """The stages that texts go through now; None for a class that defines `_tokenize` only.

        Args:
            table: the tokens.
            live: use the basic and WordPiece tokenizer themselves, since a user has replaced methods of theirs, and
                not snapshots of them.
        """
        return None

    # ---- added tokens -----------------------------------------------------------------------------------------------

    @property
    def added_tokens_encoder(self) -> Mapping[str, int]:
        """The added tokens: content → id, in the order of their ids; read-only."""
        return self._table.added.ids_by_content

    @property
    def added_tokens_decoder(self) -> Mapping[int, AddedToken]:
        """The added tokens: id → `AddedToken`, in the order of their ids; read-only."""
        return self._table.added.by_id

    @added_tokens_decoder.setter
    def added_tokens_decoder(self, value: Mapping[int, Token]) -> None:
        tokens = editing.all_as_added(value)
        with self._changes.changing():
            table = self._table
            self._changes.table = table.replace(added=self._with_set(table.added, tokens))

    def _with_set(self, added: AddedTokens, tokens: Mapping[int, AddedToken]) -> AddedTokens:
        """The added tokens with those that `added_tokens_decoder` is set to."""
        return added.with_tokens(tokens)

    def added_tokens_in_order(self) -> list[AddedToken]:
        """The added tokens in the order of adding, by which texts are kept from lower-casing."""
        return list(self._table.added.decoder.flat().values())

    def get_added_vocab(self) -> dict[str, int]:
        """The added tokens: content → id, in the order of adding."""
        return dict(self._table.added.encoder.flat())

    @property
    def tokens_trie(self) -> Trie:
        """The trie that splits texts at the added tokens."""
        return self._table.added.trie

    @property
    def _added_tokens_encoder(self) -> dict[str, int]:
        return self._table.added.encoder.flat()

    @property
    def _added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self._table.added.decoder.flat()

    @property
    def max_id(self) -> int:
        """The highest id that any token has or, if it was removed, had; the next new token gets this id plus one.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.max_id, tokenizer.add_tokens(["covid-19"]), tokenizer.max_id
        (7999, 1, 8000)
        """
        return max(self._table.added.max_id, *self.get_vocab().values(), -1)

    def embedding_rows(self, multiple_of: int = 8) -> int:
        """How many embedding rows a model needs for every id, rounded up to a multiple.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = tokenizer.add_tokens(["covid-19"])
        >>> tokenizer.embedding_rows(), tokenizer.embedding_rows(multiple_of=1), tokenizer.embedding_rows(64)
        (8008, 8001, 8064)

        Raises:
            InputError: `multiple_of` is below 1.
        """
        if type(multiple_of) is not int or multiple_of < 1:
            raise InputError(f"multiple_of is {multiple_of!r}; it is a whole number from 1")
        return padded_length(self.max_id + 1, multiple_of)

    def _require_rows(self, rows: int) -> None:
        """Raise if new tokens need more embedding rows than the model has, as the caller says.

        What only the model's config.json says is logged for those who listen; saving warns of it, which is when it can
        be said what to do with which directories.
        """
        if self.config_rows is not None and rows > self.config_rows and log.is_info_heard():
            log.info(
                "the new tokens need %d embedding rows, and the model's config.json says it has %d",
                rows,
                self.config_rows,
            )
        if self.max_embedding_rows is not None and rows > self.max_embedding_rows:
            raise VocabularyError(
                f"the new tokens would need {rows} embedding rows, and the model has {self.max_embedding_rows}; give "
                "the model more rows and raise max_embedding_rows, or use assign_unused",
                expected_id=self.max_embedding_rows - 1,
                found_id=rows - 1,
            )

    def __len__(self) -> int:
        table = self._table
        kept: tuple[TokenTable, int] | None = self._derived.get("size")
        if kept is None or kept[0] is not table:
            kept = self._derived["size"] = table, len(self.get_vocab())
        return kept[1]

    @property
    def total_vocab_size(self) -> int:
        """The number of different tokens with the added ones: `len(tokenizer)`."""
        return len(self)

    def _known_ids(self) -> Mapping[str, int]:
        """Token → id, without the added tokens or with them: `add_tokens` looks tokens up in it."""
        return self.get_vocab()

    def known_tokens(self, tokens: Token | Sequence[Token], special_tokens: bool = False) -> list[str]:
        """Those of the tokens that `add_tokens` would give no new id; nothing is added.

        Such a token has an id already, or equals an earlier token of the list, after lower-casing if the tokenizer
        lower-cases.

        Args:
            tokens, special_tokens: what `add_tokens` would be given.

        Raises:
            InputTypeError, InputError: a token is neither a string nor an `AddedToken`, or is empty.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> terms = ["covid-19", "People", "COVID-19", "mrna"]
        >>> tokenizer.known_tokens(terms)
        ['People', 'COVID-19']
        >>> tokenizer.add_tokens(terms)
        2
        """
        given: Sequence[Any] = tokens if isinstance(tokens, (list, tuple)) else [tokens]
        lowers = self.profile == "slow" and bool(getattr(self, "do_lower_case", False))
        known = self.get_vocab()
        return editing.known_among(self._table, given, known, special_tokens=special_tokens, lowers=lowers)

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._changes.changing(), bulk():
            table = self._table
            adding = editing.plan_adding(
                table,
                new_tokens,
                special_tokens=special_tokens,
                lowers=bool(getattr(self, "do_lower_case", False)),
                known_ids=self._known_ids(),
                next_id=self.max_id + 1,
                check=self._check_addable if table.assigned else None,
            )
            self._require_rows(adding.rows)
            roles = {**table.roles, ADDITIONAL: [*table.roles[ADDITIONAL], *adding.listed]} if adding.listed else None
            added = table.added.with_tokens(adding.to_set)
            self._changes.table = table.with_tokens(added, adding.to_set, roles)
        return adding.new

    def _check_addable(self, content: str) -> None:
        """Raise if a token cannot be added; called if slots of the vocabulary have been assigned to tokens."""

    def remove_tokens(self, tokens: Token | Iterable[Token], compact: bool = False) -> dict[int, int]:
        """Remove added tokens. Their text is tokenized like any other text again.

        Args:
            tokens: one token or several, as strings or `AddedToken`.
            compact: renumber the added tokens whose ids follow the vocabulary, so that no id is missing there. By
                default no id changes, and the ids of removed tokens are not used again.

        Returns:
            Every remaining id: old id → new id. Embedding rows have to be moved accordingly.

        Raises:
            UnknownTokenError: a token is no added token. Nothing is removed.
            SpecialTokenError: a token has a role, such as [CLS]. Nothing is removed.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_tokens(["covid-19", "long-covid"])
        2
        >>> new_ids = tokenizer.remove_tokens(["covid-19"], compact=True)
        >>> new_ids[8001], 8000 in new_ids, tokenizer.convert_tokens_to_ids("long-covid")
        (8000, False, 8000)
        """
        with brief, self._changes.changing():
            known = self.get_vocab()
            table = self._table
            contents = editing.contents_to_remove(tokens, table, known)
            before = set(known.values())
            additional = [token for token in table.roles[ADDITIONAL] if str(token) not in contents]
            self._changes.table = table.replace(
                added=table.added.without(set(contents)), roles={**table.roles, ADDITIONAL: additional}
            )
            self._removed(contents)
            left = before & set(self.get_vocab().values())
            return self._close_holes(left) if compact else {token_id: token_id for token_id in sorted(left)}

    def _removed(self, contents: Iterable[str]) -> None:
        """Called after added tokens were removed; a subclass may override it."""

    def _close_holes(self, left: set[int]) -> dict[int, int]:
        """Number the added tokens behind the vocabulary without holes; return old id → new id for all that remain."""
        table = self._table
        added = table.added
        known = self._known_ids().items()
        own = left - added.decoder.keys() | {token_id for token, token_id in known if token not in added.encoder}
        decoder, new_ids = editing.without_holes(added.decoder.flat(), max(own, default=-1) + 1)
        self._changes.table = table.replace(added=added.renumbered(decoder))
        return {token_id: new_ids.get(token_id, token_id) for token_id in sorted(left)}

    # ---- text to tokens ---------------------------------------------------------------------------------------------

    _of_tokenize: tuple[str, ...] = OF_TEXTS

    def tokenize(self, text: str, **kwargs: Unpack[TextKeywords]) -> list[str]:
        """Split one text into tokens, without special tokens around it.

        Args:
            text: the text.
            **kwargs: `split_special_tokens`, `allowed_special` and `disallowed_special`, as in a call; and what
                `prepare_for_tokenization` takes.

        Raises:
            InputTypeError: `text` is not a str.
            OptionError: a keyword is unknown.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").tokenize("The people, united!")
        ['the', 'people', ',', 'united', '!']
        """
        try:
            require_text(text)
            return self._now().encoder_for(kwargs, known=self._of_tokenize).tokens(text)
        except TrietokError as error:
            shorten_traceback(error)
            raise

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")

    @property
    def text_encoder(self) -> TextEncoder:
        """The current encoder: texts to ids, tokens and spans, without special tokens around. It never changes.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.text_encoder.ids("the people"), tokenizer.text_encoder.spans("the people")
        ([134, 289], [(0, 3), (4, 10)])
        """
        return self._now().call_encoder

    @property
    def is_plain(self) -> bool:
        """Whether calls use only `text_encoder` and `input_builder`, since no method or stage is a user's."""
        moment = self._now()
        return moment.is_plain and not moment.has_foreign_stage and not moment.goes_by_methods

    @property
    def input_builder(self) -> InputBuilder:
        """The current builder: ids to model inputs. It never changes."""
        return self._now().builder

    def fingerprint(self) -> str:
        """A hash of every setting and token that affects ids; equal in all processes, and after saving and loading.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> before = tokenizer.fingerprint()
        >>> tokenizer.add_tokens(["covid-19"]), tokenizer.fingerprint() == before
        (1, False)
        """
        from trietok.tokenizer.fingerprint import fingerprint  # hashing is not needed to encode

        return fingerprint(self)

    # ---- tokens to ids and back -------------------------------------------------------------------------------------

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]: ...
    @overload
    def convert_tokens_to_ids(self, tokens: None) -> None: ...
    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [0, tokenizer.unk_token_id]
        True
        """
        with brief:
            if tokens is None:
                return None
            if isinstance(tokens, str):
                return self._convert_token_to_id_with_added_voc(tokens)
            if not isinstance(tokens, Iterable):
                raise InputTypeError(f"tokens are a str or a list of str, not {kind_of(tokens)}", value=tokens)
            return self._ids_of(self._table, tokens)

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        """The ids of tokens, all from one state of the tokenizer if no method is overridden."""
        if is_replaced(self, ("_convert_token_to_id_with_added_voc",)):
            return [self._convert_token_to_id_with_added_voc(token) for token in tokens]
        return [self._id_in(table, token) for token in tokens]

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`, in that order."""
        return self._special_ids(self._table)

    def _special_ids(self, table: TokenTable) -> list[Any]:
        """The ids of special tokens, by one state where the list of them is not a user's own."""
        is_own = is_replaced(self, ("all_special_tokens",))
        return self._ids_of(table, self.all_special_tokens if is_own else table.special_tokens)

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
    def convert_ids_to_tokens(self, ids: Iterable[int], skip_special_tokens: bool = False) -> list[str]: ...
    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above `max_id`.
        """
        with brief:
            return self._converted(self._table, ids, skip_special_tokens)

    def _converted(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """`convert_ids_to_tokens` by one state."""
        if isinstance(ids, int):
            return self._token_of(ids)
        if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
            raise InputTypeError(f"ids are an int or a list of ints, not {kind_of(ids)}", value=ids)
        special = set(self._special_ids(table)) if skip_special_tokens else ()
        return self._tokens_of(table, ids, special)

    def _tokens_of(self, table: TokenTable, ids: Iterable[Any], left_out: Collection[int]) -> list[str]:
        """The tokens of ids, all from one state of the tokenizer."""
        return [self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in left_out]

    def _token_of(self, token_id: int) -> str:
        added = self._table.added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    def _tokens_to_join(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """What `convert_ids_to_tokens` returns, by one state where it is not a user's own."""
        if is_replaced(self, ("convert_ids_to_tokens",)):
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
        kwargs.pop("use_source_tokenizer", None)
        reject_unknown(kwargs, OF_DECODING)
        state = frozen(self)
        table = state._table
        tokens = self._tokens_to_join(table, token_ids, skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in table.special_set]
        separator = " " if spaces_between_special_tokens else ""
        text = join_tokens(tokens, state._standing_alone(table), self.convert_tokens_to_string, separator)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = state.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _standing_alone(self, table: TokenTable) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but tokens of roles that are in the vocabulary."""
        kept: tuple[TokenTable, frozenset[str]] | None = self._derived.get("alone")
        if kept is None or kept[0] is not table:
            size = self.vocab_size
            listed = list(map(str, table.roles[ADDITIONAL]))
            additional = {token for token, i in zip(listed, self._ids_of(table, listed), strict=True) if i >= size}
            alone = frozenset(table.added.encoder.flat().keys() - table.special_set | additional)
            kept = self._derived["alone"] = table, alone
        return kept[1]


def _int_id(token_id: Any) -> int:
    try:
        whole = int(token_id)
        if isinstance(token_id, (str, bytes)) or whole != token_id:
            raise ValueError
        return whole
    except (TypeError, ValueError):
        raise InputTypeError(f"an id is a whole number, not {kind_of(token_id)}", value=token_id) from None
