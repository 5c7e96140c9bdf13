"""The special and added tokens of a tokenizer: roles, adding, removing, numbering.

`SpecialTokensMixin` gives every role three attributes, as transformers does: `cls_token` reads and
sets the token, `cls_token_id` its id, and `special_tokens_map` shows them all. Other threads see a
change completely or not at all; a change that raises has no effect.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from trietok.errors import (
    InputError,
    NotSupportedError,
    OptionError,
    SpecialTokenError,
    VocabularyError,
)
from trietok.files.formats import ADDITIONAL
from trietok.inputs.options import padded_length
from trietok.text.added_search import AddedTokens, SlowAddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.trie import Trie
from trietok.text.watched import is_ours, note_change, overrides
from trietok.tokenizer import vocabulary_edits as editing
from trietok.tokenizer.roles import Roles, checked_role, role_of
from trietok.tokenizer.token_table import SPECIAL_HOOKS, CurrentTable, Token, TokenTable

EXTRA = "extra_special_tokens"  # transformers 5's name for a list of them
_MOST_NAMED = 10  # tokens in a message

_UPLOADS = (
    "trietok uploads nothing: override save_pretrained, and upload the directory with"
    " huggingface_hub"
)
_CHATS = (
    "render the template with transformers or jinja2, and tokenize the text with"
    " add_special_tokens=False"
)
_LOADS = "override from_pretrained, or __init__"
_ENCODES = "override encode_plus and batch_encode_plus, through which each call goes then"
_TARGETS = (
    "pass targets as text_target=..., and override build_inputs_with_special_tokens or __call__"
)
# Methods of transformers that trietok does not have, with what to do instead. No call of a
# tokenizer uses them, so a user's class may define them.
ABSENT = {
    "apply_chat_template": _CHATS,
    "encode_message_with_chat_template": _CHATS,
    "get_chat_template": "read the attribute chat_template instead",
    "decode_best_spans": (
        "use transformers' DPRReaderTokenizer for it, which takes the same input_ids"
    ),
}
# Methods that transformers has and trietok leaves out or never calls, with what to do, or override,
# instead.
LEFT_OUT = {
    "save_chat_templates": "save_pretrained writes them with the other files",
    "backend_tokenizer": (
        "there is no Rust here; trietok.clients.to_rust makes a tokenizers.Tokenizer"
    ),
    "push_to_hub": (
        "save with save_pretrained and upload the directory with huggingface_hub.upload_folder"
    ),
    "register_for_auto_class": (
        "trietok runs no code from model directories; import your class and use it"
    ),
    "as_target_tokenizer": "pass the target texts as text_target=... instead",
    "prepare_seq2seq_batch": "call the tokenizer with text and text_target=... instead",
    "_encode_plus": _ENCODES,
    "_batch_encode_plus": _ENCODES,
    "_convert_encoding": _ENCODES,
    "_call_one": "override __call__, or encode_plus and batch_encode_plus",
    "_batch_prepare_for_model": (
        "override batch_encode_plus, or prepare_for_model, which is called for each text"
    ),
    "_get_padding_truncation_strategies": (
        "override __call__ or encode_plus, and change padding and truncation there"
    ),
    "set_truncation_and_padding": (
        "override __call__ or encode_plus, and change padding and truncation there"
    ),
    "_eventual_warn_about_too_long_sequence": (
        "set model_max_length, or pass verbose=False for no warning"
    ),
    "_switch_to_input_mode": _TARGETS,
    "_switch_to_target_mode": _TARGETS,
    "_update_trie": "override _add_tokens",
    "_update_total_vocab_size": "override _add_tokens",
    "_save_pretrained": "override save_pretrained, or save_vocabulary",
    "_from_pretrained": _LOADS,
    "_patch_mistral_regex": _LOADS,
    "_eventually_correct_t5_max_length": f"{_LOADS}, and set model_max_length there",
    "_set_processor_class": "override save_pretrained, and write what a processor needs there",
    "convert_added_tokens": (
        "override from_pretrained or save_pretrained, and change the tokens there"
    ),
    "_create_repo": _UPLOADS,
    "_get_files_timestamps": _UPLOADS,
    "_upload_modified_files": _UPLOADS,
}


if TYPE_CHECKING:

    class Role:
        """The token of a role: read as a str or None; set to a str, an `AddedToken` or None."""

        def __get__(self, tokenizer: object, kind: type | None = None) -> str | None: ...
        def __set__(self, tokenizer: object, token: Token | None) -> None: ...

    class Additional:
        """The tokens of `additional_special_tokens`."""

        def __get__(self, tokenizer: object, kind: type | None = None) -> list[str]: ...
        def __set__(self, tokenizer: object, tokens: Sequence[Token] | None) -> None: ...


logger = logging.getLogger("trietok")


class SpecialTokensMixin:
    """The roles, as attributes with `_id` twins and setters, and the added tokens. Not used by
    itself: tokenizers inherit it.

    Args:
        verbose: log when a role without a token is read.
        **kwargs: a token for each role; keywords that name no role are ignored here.
    """

    SPECIAL_TOKENS_ATTRIBUTES: Sequence[str] = (
        *(
            "bos_token",
            "eos_token",
            "unk_token",
            "sep_token",
            "pad_token",
            "cls_token",
            "mask_token",
        ),
        ADDITIONAL,
    )

    if TYPE_CHECKING:  # the attributes of `__getattr__`, for type checkers and editors
        bos_token: Role = Role()
        eos_token: Role = Role()
        unk_token: Role = Role()
        sep_token: Role = Role()
        pad_token: Role = Role()
        cls_token: Role = Role()
        mask_token: Role = Role()
        additional_special_tokens: Additional = Additional()
        bos_token_id: int | None
        eos_token_id: int | None
        unk_token_id: int | None
        sep_token_id: int | None
        pad_token_id: int | None
        cls_token_id: int | None
        mask_token_id: int | None
        additional_special_tokens_ids: list[int]
        _tokens: CurrentTable
        max_embedding_rows: int | None
        config_rows: int | None
        profile: str

        # The class that inherits defines these.
        convert_tokens_to_ids: Callable[..., Any]
        convert_ids_to_tokens: Callable[..., Any]

        def _ids_of_roles(self, table: TokenTable, tokens: str | Sequence[str]) -> Any: ...
        def get_vocab(self) -> dict[str, int]: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for kind in cls.__mro__:
            if kind.__module__.partition(".")[0] in ("trietok", "transformers"):
                continue
            for name, method in vars(kind).items():
                if name in LEFT_OUT and not is_ours(getattr(method, "__func__", method)):
                    raise NotSupportedError(
                        f"{cls.__name__} defines {name}, which trietok never calls;"
                        f" {LEFT_OUT[name]}",
                        name=name,
                    )

    def __init__(self, verbose: bool = False, **kwargs: Any) -> None:
        self.SPECIAL_TOKENS_ATTRIBUTES = list(type(self).SPECIAL_TOKENS_ATTRIBUTES)
        self.verbose = verbose
        self._pad_token_type_id = 0
        roles: dict[str, Any] = {**dict.fromkeys(self.SPECIAL_TOKENS_ATTRIBUTES), ADDITIONAL: []}
        # A class with a vocabulary has read it before; the others look their tokens up themselves.
        vocabulary = self.__dict__.pop("_first_vocabulary", None)
        self.__dict__["_tokens"] = CurrentTable(
            TokenTable(vocabulary, self._no_added_tokens(), roles)
        )
        for role, value in kwargs.items():
            if role in roles and value is not None:
                value = checked_role(role, value)
                setattr(
                    self,
                    role,
                    list(map(self._marked, value)) if role == ADDITIONAL else self._marked(value),
                )

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        note_change(self)

    def overrides(self, *names: str) -> bool:
        """Whether one of these methods or properties is a user's own: overridden in the class, or
        set on the tokenizer.
        """
        return overrides(self, names)

    def _no_added_tokens(self) -> AddedTokens:
        """The added tokens of a tokenizer that has none yet."""
        return SlowAddedTokens()

    @property
    def _table(self) -> TokenTable:
        """Vocabulary, added tokens and roles as they are now."""
        return self._tokens.table

    def _marked(self, token: Token) -> Token:
        """The token of a role, marked as special, whatever its `AddedToken` says."""
        return self._as_special(token) if isinstance(token, AddedToken) else token

    def _as_special(self, token: AddedToken) -> AddedToken:
        """A token marked as special; its other flags stay."""
        return token.replace(special=True)

    # ---- a role's token and id -------------------------------------------------------------------

    if not TYPE_CHECKING:  # a type checker shall know a misspelt name
        # called only for names that are not found otherwise
        def __getattr__(self, name: str) -> Any:
            tokens = self.__dict__.get("_tokens")
            table = None if tokens is None else tokens.table
            role, is_id = role_of(name)
            if table is not None and role in table.roles:
                value = table.roles[role]
                if value is None:
                    if self.verbose and not is_id:
                        logger.error("Using %s, but it is not set yet.", role)
                    return None
                found = [str(token) for token in value] if role == ADDITIONAL else str(value)
                return self._ids_of_roles(table, found) if is_id else found
            instead = ABSENT.get(name) or LEFT_OUT.get(name)
            if instead is not None:
                raise NotSupportedError(f"trietok has no {name}; {instead}", name=name)
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            tokens = self.__dict__.get("_tokens")
            role, is_id = role_of(name)
            if tokens is None or role not in tokens.table.roles:
                object.__setattr__(self, name, value)
                note_change(self)
                return
            if is_id and value is not None:
                value = self.convert_ids_to_tokens(value)
            value = checked_role(role, value)
            with tokens.changing():
                tokens.table = tokens.table.replace(roles={**tokens.table.roles, role: value})

    # ---- all of them -----------------------------------------------------------------------------

    @property
    def _special_tokens_map(self) -> Roles:
        """Every role with its token as it was given, or None; what is written into it counts, as in
        transformers.
        """
        return Roles(self)

    @property
    def special_tokens_map(self) -> dict[str, str | list[str]]:
        """The role of every special token that is set: role → token, `additional_special_tokens` →
        list of tokens.
        """
        return {
            role: [str(token) for token in value] if isinstance(value, list) else str(value)
            for role, value in self.special_tokens_map_extended.items()
        }

    @property
    def special_tokens_map_extended(self) -> dict[str, Token | list[Token]]:
        """`special_tokens_map` with every token as it was given: a string or an `AddedToken`."""
        roles = self._table.roles
        return {
            role: list(value) if role == ADDITIONAL else value
            for role in self.SPECIAL_TOKENS_ATTRIBUTES
            if (value := roles.get(role))
        }

    @property
    def all_special_tokens_extended(self) -> list[Token]:
        """All special tokens in the order of the roles, as strings or `AddedToken` as they were
        given.

        A token with two roles is listed once; a token that a list names twice is listed twice, as
        in transformers.
        """
        if not self.overrides(*SPECIAL_HOOKS[:1]):
            return list(self._table.special_tokens_extended)
        tokens: list[Token] = []
        for value in self.special_tokens_map_extended.values():
            there = set(map(str, tokens))
            tokens += [
                token
                for token in (value if isinstance(value, list) else [value])
                if str(token) not in there
            ]
        return tokens

    @property
    def all_special_tokens(self) -> list[str]:
        """All special tokens in the order of the roles; see `all_special_tokens_extended`."""
        if self.overrides(*SPECIAL_HOOKS[:2]):
            return list(map(str, self.all_special_tokens_extended))
        return list(self._table.special_tokens)

    @property
    def pad_token_type_id(self) -> int:
        """The token type id of padding: 0."""
        return self._pad_token_type_id

    # ---- adding ----------------------------------------------------------------------------------

    def add_special_tokens(
        self,
        special_tokens_dict: Mapping[str, Token | Sequence[Token]],
        replace_additional_special_tokens: bool = True,
    ) -> int:
        """Give roles to tokens, and add to the vocabulary those that it does not hold.

        Args:
            special_tokens_dict: role → token; for `additional_special_tokens`, or
                `extra_special_tokens` as transformers 5 calls it, a list of tokens.
            replace_additional_special_tokens: whether that list replaces the existing one (tokens
                that are dropped are logged) or extends it.

        Returns:
            The number of tokens that are new to the vocabulary.

        Raises:
            SpecialTokenError: a key is no role, or its value is no token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_special_tokens({"additional_special_tokens": ["[SUBJ]", "[OBJ]"]})
        2
        >>> tokenizer.tokenize("[SUBJ] likes [OBJ]")
        ['[SUBJ]', 'like', '##s', '[OBJ]']
        """
        if special_tokens_dict and not isinstance(special_tokens_dict, Mapping):
            raise SpecialTokenError(
                f"add_special_tokens takes a dict role → token, not {special_tokens_dict!r:.60}"
            )
        checked: dict[str, list[AddedToken]] = {}
        # checks everything first: an error must change nothing
        for role, value in (special_tokens_dict or {}).items():
            role = ADDITIONAL if role == EXTRA and isinstance(value, (list, tuple)) else role
            if role not in self.SPECIAL_TOKENS_ATTRIBUTES:
                known = ", ".join(self.SPECIAL_TOKENS_ATTRIBUTES)
                raise SpecialTokenError(
                    f"{role!r} is no role of a special token; the roles are {known}", role=role
                )
            if value is None:
                raise SpecialTokenError(
                    f"the token for {role} is None; give a string or an AddedToken", role=role
                )
            value = checked_role(role, value)
            tokens = value if role == ADDITIONAL else [value]
            checked[role] = [AddedToken.of(token, special=True) for token in tokens]
        with self._tokens.changing():
            to_add: list[AddedToken] = []
            for role, given in checked.items():
                tokens = list(map(self._as_special, given))
                if role != ADDITIONAL:
                    setattr(self, role, tokens[0])
                    # one token for two roles is added once, as it was given first
                    if given[0] in to_add:
                        continue
                elif not replace_additional_special_tokens:
                    there = set(self.additional_special_tokens)
                    given = [token for token in given if str(token) not in there]
                    tokens = list(map(self._as_special, given))
                    self.additional_special_tokens = [*self._table.roles[ADDITIONAL], *tokens]
                elif tokens:
                    self._warn_of_dropping(tokens)
                    self.additional_special_tokens = tokens
                to_add += given
            return self.add_tokens(list(map(self._as_special, to_add)), special_tokens=True)

    def _warn_of_dropping(self, tokens: list[AddedToken]) -> None:
        kept = set(map(str, tokens))
        dropped = [old for old in self.additional_special_tokens if old not in kept]
        if dropped:
            is_one = len(dropped) == 1
            logger.warning(
                "%s %s; pass replace_additional_special_tokens=False to extend the list",
                ", ".join(map(repr, dropped)),
                (
                    "is no longer an additional special token (it is still an added token)"
                    if is_one
                    else "are no longer additional special tokens (they are still added tokens)"
                ),
            )

    def add_tokens(
        self, new_tokens: Token | Sequence[Token], special_tokens: bool = False, **flags: NoReturn
    ) -> int:
        """Add tokens that are matched whole, before the text is split into words.

        A token that the vocabulary holds keeps its id; a new one gets the highest existing id plus
        one. A token that is not special is lower-cased where the tokenizer lower-cases, unless its
        `normalized` is False.

        Args:
            new_tokens: one token or a list of tokens, as strings or `AddedToken`.
            special_tokens: make them special, so that decoding can skip them.

        Returns:
            The number of tokens that are new to the vocabulary. `known_tokens` names the others
            beforehand; they are also logged, at level INFO.

        Raises:
            InputTypeError, InputError: a token is neither a string nor an `AddedToken`, or is
                empty. Nothing is added.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_tokens(["covid-19", trietok.AddedToken("<ent>", lstrip=True)])
        2
        >>> tokenizer.tokenize("COVID-19 <ent>")
        ['covid-19', '<ent>']
        """
        for flag in flags:
            example = repr(new_tokens if isinstance(new_tokens, str) else "...")
            raise OptionError(
                f"add_tokens takes no flag {flag!r}; give it to each token: AddedToken({example},"
                f" {flag}=...)",
                name=flag,
            )
        if new_tokens is None or (isinstance(new_tokens, (list, tuple)) and not new_tokens):
            return 0
        if not isinstance(new_tokens, (list, tuple)):
            new_tokens = [new_tokens]  # type: ignore[list-item]
        known = (
            self.known_tokens(new_tokens, special_tokens)
            if logger.isEnabledFor(logging.INFO)
            else []
        )
        number = self._add_tokens(new_tokens, special_tokens=special_tokens)
        if known:
            named = ", ".join(map(repr, known[:_MOST_NAMED]))
            more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
            logger.info(
                "add_tokens: %s of %s tokens got no new id, for they have one or stand in the list"
                " before: %s%s",
                *(len(known), len(new_tokens), named, more),
            )
        return number

    def sanitize_special_tokens(self) -> int:
        """Add every special token the vocabulary lacks; kept because transformers 4 has it.

        The `AddedToken` of a role is marked as special from then on, as adding marks it in
        transformers.

        Returns:
            The number of tokens that are new to the vocabulary.
        """
        with self._tokens.changing():
            self._tokens.table = self._table.replace(roles=self._marked_roles())
            return self.add_tokens(self.all_special_tokens_extended, special_tokens=True)

    def _marked_roles(self) -> dict[str, Any]:
        """The roles, with every `AddedToken` among them marked as special."""

        def marked(token: Any) -> Any:
            return self._as_special(token) if isinstance(token, AddedToken) else token

        roles = self._table.roles.items()
        return {
            role: list(map(marked, value)) if isinstance(value, list) else marked(value)
            for role, value in roles
        }

    def _set_model_specific_special_tokens(self, special_tokens: Mapping[str, Token]) -> None:
        """Add more roles, such as `{"image_token": "<image>"}`."""
        if not special_tokens:
            return
        self.SPECIAL_TOKENS_ATTRIBUTES = list(
            dict.fromkeys([*self.SPECIAL_TOKENS_ATTRIBUTES, *special_tokens])
        )
        # all at once: the table is copied once, not once for each role
        with self._tokens.changing():
            values = {role: checked_role(role, token) for role, token in special_tokens.items()}
            self._tokens.table = self._table.replace(roles={**self._table.roles, **values})

    # ---- the added tokens ------------------------------------------------------------------------

    _plan_adding = staticmethod(editing.plan_adding)

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
        with self._tokens.changing():
            table = self._table
            self._tokens.table = table.replace(
                added=self._with_set(table.added, tokens, tokens.values())
            )

    def _with_set(
        self, added: AddedTokens, tokens: Mapping[int, AddedToken], listed: Iterable[AddedToken]
    ) -> AddedTokens:
        """The added tokens with others; in the fast profile texts are searched for those `listed`
        too.
        """
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
        """The highest id that any token has or, if it was removed, had; the next new token gets
        this id plus one.

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
        >>> (
        ...     tokenizer.embedding_rows(),
        ...     tokenizer.embedding_rows(multiple_of=1),
        ...     tokenizer.embedding_rows(64),
        ... )
        (8008, 8001, 8064)

        Raises:
            InputError: `multiple_of` is below 1.
        """
        if type(multiple_of) is not int or multiple_of < 1:
            raise InputError(f"multiple_of is {multiple_of!r}; it is a whole number from 1")
        return padded_length(self.max_id + 1, multiple_of)

    def _require_rows(self, rows: int) -> None:
        """Raise if new tokens need more embedding rows than the model has, as the caller says.

        What only the model's config.json says is logged for those who listen; saving warns of it,
        which is when it can be said what to do with which directories.
        """
        if self.config_rows is not None and rows > self.config_rows:
            logger.info(
                "the new tokens need %d embedding rows, and the model's config.json says it has %d",
                rows,
                self.config_rows,
            )
        if self.max_embedding_rows is not None and rows > self.max_embedding_rows:
            raise VocabularyError(
                f"the new tokens would need {rows:,} embedding rows, and the model has"
                f" {self.max_embedding_rows:,}; give the model more rows and raise"
                " max_embedding_rows, or use assign_unused",
                expected_id=self.max_embedding_rows - 1,
                found_id=rows - 1,
            )

    def __len__(self) -> int:
        """The number of different tokens with the added ones."""
        return len(self.get_vocab())

    @property
    def total_vocab_size(self) -> int:
        """The number of different tokens with the added ones: `len(tokenizer)`."""
        return len(self)

    def _known_ids(self) -> Mapping[str, int]:
        """Token → id, without the added tokens or with them: `add_tokens` looks tokens up in it."""
        return self.get_vocab()

    def known_tokens(
        self, tokens: Token | Sequence[Token], special_tokens: bool = False
    ) -> list[str]:
        """Those of the tokens that `add_tokens` would give no new id; nothing is added.

        Such a token has an id already, or equals an earlier token of the list, after lower-casing
        if the tokenizer lower-cases.

        Args:
            tokens, special_tokens: what `add_tokens` would be given.

        Raises:
            InputTypeError, InputError: a token is neither a string nor an `AddedToken`, or is
                empty.

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
        return editing.known_among(
            self._table, given, known, special_tokens=special_tokens, lowers=lowers
        )

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._tokens.changing():
            table, lowers = self._table, bool(getattr(self, "do_lower_case", False))
            check = self._check_addable if table.assigned else None
            asked = editing.Asked(
                new_tokens, special_tokens, lowers, self._known_ids(), self.max_id + 1, check
            )
            adding = self._plan_adding(table, asked)
            self._require_rows(adding.rows)
            roles, more = table.roles, adding.additional
            if more:
                roles = {**roles, ADDITIONAL: [*roles[ADDITIONAL], *more]}
            if more or adding.to_set:
                added = self._with_set(table.added, adding.to_set, adding.listed)
                self._tokens.table = table.with_tokens(added, adding.to_set, roles)
        return adding.told

    def _check_addable(self, content: str) -> None:
        """Raise if a token cannot be added; called if slots of the vocabulary have been assigned to
        tokens.
        """

    def remove_tokens(
        self, tokens: Token | Iterable[Token], compact: bool = False
    ) -> dict[int, int]:
        """Remove added tokens. Their text is tokenized like any other text again.

        Args:
            tokens: one token or several, as strings or `AddedToken`.
            compact: renumber the added tokens whose ids follow the vocabulary, so that no id is
                missing there. By default no id changes, and the ids of removed tokens are not used
                again.

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
        with self._tokens.changing():
            known = self.get_vocab()
            table = self._table
            contents = editing.contents_to_remove(tokens, table, known)
            before = set(known.values())
            additional = [token for token in table.roles[ADDITIONAL] if str(token) not in contents]
            self._tokens.table = table.replace(
                added=table.added.without(set(contents)),
                roles={**table.roles, ADDITIONAL: additional},
            )
            self._removed(contents)
            left = before & set(self.get_vocab().values())
            return (
                self._close_holes(left)
                if compact
                else {token_id: token_id for token_id in sorted(left)}
            )

    def _removed(self, contents: Iterable[str]) -> None:
        """Called after added tokens were removed; a subclass may override it."""

    def _close_holes(self, left: set[int]) -> dict[int, int]:
        """Number the added tokens behind the vocabulary without holes; return old id → new id for
        all that remain.
        """
        table = self._table
        added = table.added
        known = self._known_ids().items()
        own = left - added.decoder.keys() | {
            token_id for token, token_id in known if token not in added.encoder
        }
        decoder, new_ids = editing.without_holes(added.decoder.flat(), max(own, default=-1) + 1)
        self._tokens.table = table.replace(added=added.renumbered(decoder))
        all_ids = {token_id: new_ids.get(token_id, token_id) for token_id in sorted(left)}
        self._renumbered(all_ids)
        return all_ids

    def _renumbered(self, new_ids: Mapping[int, int]) -> None:
        """Called when ids have moved: old id → new id; a subclass may override it."""
