"""The roles of special tokens as they are written and read: checked, and changed like a dict.

In: a value for a role. Out: the value to keep, or an error; a mapping of all roles whose changes
are changes of the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from trietok.errors import InputTypeError, SpecialTokenError
from trietok.files.formats import ADDITIONAL
from trietok.text.added_tokens import AddedToken
from trietok.tokenizer.token_table import Token


class Roles(MutableMapping[str, Any]):
    """The roles of a tokenizer: role → token, list of tokens, or None. A change of it, or of the
    list, is one of roles.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> roles = tokenizer._special_tokens_map
    >>> roles["bos_token"] = "[CLS]"
    >>> roles["additional_special_tokens"].append("[SUBJ]")
    >>> tokenizer.bos_token, tokenizer.additional_special_tokens
    ('[CLS]', ['[SUBJ]'])
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __getitem__(self, role: str) -> Any:
        value = self._tokenizer._table.roles[role]
        return RoleTokens(value, self) if role == ADDITIONAL else value

    def __setitem__(self, role: str, value: Any) -> None:
        self._set({**self._tokenizer._table.roles, role: checked_role(role, value)})

    def __delitem__(self, role: str) -> None:
        roles = dict(self._tokenizer._table.roles)
        del roles[role]
        self._set(roles)

    def _set(self, roles: dict[str, Any]) -> None:
        tokens = self._tokenizer._tokens
        with tokens.changing():
            tokens.table = tokens.table.replace(roles=roles)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokenizer._table.roles)

    def __len__(self) -> int:
        return len(self._tokenizer._table.roles)

    def __repr__(self) -> str:
        return repr(dict(self))


class RoleTokens(list[Any]):
    """The tokens of `additional_special_tokens`; a change of the list is one of the role."""

    def __init__(self, tokens: Iterable[Any], roles: Roles) -> None:
        super().__init__(tokens)
        self._roles = roles

    def __reduce__(self) -> Any:
        return list, (list(self),)


def _noted(name: str) -> Any:
    """A method of `list` that changes it, and then the role."""

    def change(self: RoleTokens, *args: Any, **kwargs: Any) -> Any:
        given = getattr(list, name)(self, *args, **kwargs)
        self._roles[ADDITIONAL] = list(self)
        return given

    return change


_CHANGES = (
    "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"
)
for _name in _CHANGES.split():
    setattr(RoleTokens, _name, _noted(_name))


def role_of(name: str) -> tuple[str, bool]:
    """The role that an attribute's name refers to, and whether it is the attribute of the id."""
    if name.endswith("_ids"):
        return name[:-4], True
    if name.endswith("_id"):
        return name[:-3], True
    return name, False


def checked_role(role: str, value: Any) -> Any:
    """The value to keep for a role: a string, an `AddedToken`, None, or a list of tokens for the
    additional ones.
    """
    if role == ADDITIONAL:
        if value is None:
            return []
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise SpecialTokenError(
                f"{ADDITIONAL} takes a list of strings or AddedToken, not {type(value).__name__}:"
                f" {value!r}",
                role=role,
            )
        return [_checked_token(role, token) for token in value]
    return None if value is None else _checked_token(role, value)


def _checked_token(role: str, token: Any) -> Token:
    if isinstance(token, str):
        return token
    try:
        return AddedToken.of(token)
    except InputTypeError:
        raise SpecialTokenError(
            f"a special token is a string or an AddedToken, but {role} was given"
            f" {type(token).__name__}: {token!r}",
            role=role,
        ) from None
