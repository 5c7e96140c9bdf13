"""The roles of special tokens: which token opens a sequence, separates two, pads, masks.

In: a token for a role. Out: the token, its id, and the lists of all special tokens and ids.

`SpecialTokensMixin` gives every role three attributes, as transformers does: `cls_token` reads and
sets the token, `cls_token_id` its id, and `special_tokens_map` shows them all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from trietok.errors import NotSupportedError, OptionError, SpecialTokenError
from trietok.files.formats import ADDITIONAL
from trietok.forks import under_way
from trietok.text.added_search import AddedTokens, SlowAddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.changes import ChangeableType, Version, is_ours, is_replaced
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


class SpecialTokensMixin(metaclass=ChangeableType):
    """The roles, as attributes with `_id` twins and setters. Not used by itself: tokenizers inherit
    it.

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
        _moment: Any
        _own_version: Version
        _derived: dict[str, Any]

        # The class that inherits defines these.
        convert_tokens_to_ids: Callable[..., Any]
        convert_ids_to_tokens: Callable[..., Any]

        def _ids_of_roles(self, table: TokenTable, tokens: str | Sequence[str]) -> Any: ...
        def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int: ...
        def known_tokens(self, tokens: Any, special_tokens: bool = False) -> list[str]: ...

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
        self._changes = CurrentTable(
            TokenTable(vocabulary, self._no_added_tokens(), roles), self._version
        )
        for role, value in kwargs.items():
            if role in roles and value is not None:
                value = checked_role(role, value)
                setattr(
                    self,
                    role,
                    list(map(self._marked, value)) if role == ADDITIONAL else self._marked(value),
                )

    def _no_added_tokens(self) -> AddedTokens:
        """The added tokens of a tokenizer that has none yet."""
        return SlowAddedTokens()

    @property
    def _table(self) -> TokenTable:
        """Vocabulary, added tokens and roles as they are now."""
        changes = self._changes
        # the former is read for each token
        return changes.committed if changes.changer is None else changes.table

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
            changes = self.__dict__.get("_changes")
            table = None if changes is None else changes.table
            role, is_id = role_of(name)
            if table is not None and role in table.roles:
                value = table.roles[role]
                if value is None:
                    if self.verbose and not is_id:
                        logger.error("Using %s, but it is not set yet.", role)
                    return None
                tokens = [str(token) for token in value] if role == ADDITIONAL else str(value)
                return self._ids_of_roles(table, tokens) if is_id else tokens
            instead = ABSENT.get(name) or LEFT_OUT.get(name)
            if instead is not None:
                raise NotSupportedError(f"trietok has no {name}; {instead}", name=name)
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __delattr__(self, name: str) -> None:
        with under_way(self._version.bump):
            object.__delattr__(self, name)
            self._version.bump()

    @property
    def _version(self) -> Version:
        """Its mark changes with each change of the tokenizer, or of its basic or WordPiece
        tokenizer.
        """
        version: Version | None = self.__dict__.get("_own_version")
        return self.__dict__.setdefault("_own_version", Version()) if version is None else version

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            changes = self.__dict__.get("_changes")
            role, is_id = role_of(name)
            if changes is None or role not in changes.table.roles:
                with under_way(self._version.bump):
                    object.__setattr__(self, name, value)
                    self._version.bump()
                return
            if is_id and value is not None:
                value = self.convert_ids_to_tokens(value)
            value = checked_role(role, value)
            with changes.changing():
                changes.table = changes.table.replace(roles={**changes.table.roles, role: value})

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
        if not is_replaced(self, SPECIAL_HOOKS[:1]):
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
        if is_replaced(self, SPECIAL_HOOKS[:2]):
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
        with self._changes.changing():
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
        with self._changes.changing():
            self._changes.table = self._table.replace(roles=self._marked_roles())
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
        with self._changes.changing():
            values = {role: checked_role(role, token) for role, token in special_tokens.items()}
            self._changes.table = self._table.replace(roles={**self._table.roles, **values})
