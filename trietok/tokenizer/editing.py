"""Computes the ids for tokens to be added or removed, without changing the tokenizer.

In: a table of tokens, and the tokens to add or remove. Out: plain values. No function here changes its arguments, so an
error in a list of tokens leaves the tokenizer unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from trietok.errors import InputTypeError, SpecialTokenError, TokenIdError, UnknownTokenError, VocabularyError
from trietok.text.added_token import AddedToken
from trietok.tokenizer.token_table import Token, TokenTable


class Adding(NamedTuple):
    """The result of `plan_adding` and `plan_listing`.

    Attributes:
        to_set: id → token.
        listed: in the slow profile the tokens that become additional special tokens; in the fast profile all tokens
            that texts are also searched for afterwards.
        new: how many ids are new.
        rows: how many embedding rows the new ids need, 0 if there are none.
    """

    to_set: dict[int, AddedToken]
    listed: list[AddedToken]
    new: int
    rows: int


def plan_adding(
    table: TokenTable,
    new_tokens: Sequence[Token],
    *,
    special_tokens: bool,
    lowers: bool,
    known_ids: Mapping[str, int],
    next_id: int,
    check: Callable[[str], None] | None,
) -> Adding:
    """Adding tokens in the slow profile.

    Args:
        table: the tokens there are.
        new_tokens: what to add.
        special_tokens: make them special.
        lowers: whether the tokenizer lower-cases; then a token that is matched in lower-cased text is lower-cased too.
        known_ids: the ids of the vocabulary's own tokens.
        next_id: the id of the first new token.
        check: raises for a content that cannot be added; None where all can.
    """
    roles, added = table.special_set, table.added
    newly_special: set[str] = set()
    to_set: dict[int, AddedToken] = {}
    ids: dict[str, int] = {}  # of the contents of this call
    additional: list[AddedToken] = []
    first_new = next_id
    there = added.encoder.flat() if len(new_tokens) > 1000 else added.encoder
    for given in new_tokens:
        if isinstance(given, str):
            if given in there or given in ids:
                continue  # a plain string has no flags, so those of the known token stay
            special = special_tokens or given in roles or given in newly_special
            token = AddedToken(given.lower() if lowers and not special else given, special=special)
        else:
            token = AddedToken.of(given)
            special = special_tokens or token.special
            if special and not token.special:
                token = token.replace(special=True)
            elif lowers and token.normalized and not special:
                token = token.replace(content=token.content.lower())
        content = token.content
        if check is not None:
            check(content)
        token_id = ids.get(content)
        if token_id is None:
            token_id = there.get(content)
            if token_id is None:
                token_id = known_ids.get(content)
            if token_id is None:
                token_id = next_id
                next_id += 1
            ids[content] = token_id
        if token_id in to_set or added.decoder.get(token_id) != token:
            to_set[token_id] = token
        if special and content not in roles and content not in newly_special:
            newly_special.add(content)
            additional.append(token)
    return Adding(to_set, additional, next_id - first_new, next_id if next_id > first_new else 0)


def known_among(
    table: TokenTable, tokens: Iterable[Token], known: Iterable[str], *, special_tokens: bool, lowers: bool
) -> list[str]:
    """Of some tokens, those to which adding gives no new id.

    Args:
        table: the tokens there are.
        tokens: what would be added.
        known: every token that has an id.
        special_tokens, lowers: see `plan_adding`.
    """
    seen = set(known)
    found: list[str] = []
    for given in tokens:
        token = AddedToken.of(given)
        content = token.content
        is_kept = isinstance(given, str) and (content in table.added.encoder or content in table.special_set)
        if lowers and token.normalized and not (special_tokens or token.special or is_kept):
            content = content.lower()
        if content in seen:
            found.append(token.content)
        seen.add(content)
    return found


def plan_listing(
    table: TokenTable,
    new_tokens: Sequence[Token],
    *,
    special_tokens: bool,
    known_ids: Mapping[str, int],
    next_id: int,
    check: Callable[[str], None] | None,
) -> Adding:
    """Adding tokens in the fast profile, where a known token with other flags is added too; see `plan_adding`."""
    decoder, there = table.added.decoder, table.added.encoder
    first_new = next_id
    to_set: dict[int, AddedToken] = {}
    ids: dict[str, int] = {}
    listed: dict[AddedToken, None] = {}
    for given in new_tokens:
        token = AddedToken.of(given)
        if special_tokens:
            token = token.as_special()
        content = token.content
        if check is not None:
            check(content)
        known_id = there.get(content)
        if token in listed or (known_id is not None and decoder[known_id] == token):
            continue
        token_id = ids.get(content, known_ids.get(content) if known_id is None else known_id)
        if token_id is None:
            token_id, next_id = next_id, next_id + 1
        ids[content] = token_id
        to_set.pop(token_id, None)
        to_set[token_id] = token
        listed[token] = None
    return Adding(to_set, list(listed), next_id - first_new, next_id if next_id > first_new else 0)


def contents_to_remove(tokens: Any, table: TokenTable, known: Mapping[str, int]) -> list[str]:
    """The contents of the added tokens that are to be removed.

    Args:
        tokens: one token or several, as strings or `AddedToken`.
        table: the tokens there are.
        known: every token's id.

    Raises:
        InputTypeError: an item of `tokens` is no token.
        UnknownTokenError: one of them is no added token.
        SpecialTokenError: one plays a role.
    """
    given = [tokens] if isinstance(tokens, (str, AddedToken)) else tokens
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputTypeError(f"remove_tokens takes tokens, not {tokens!r:.60}", value=tokens)
    contents = list(dict.fromkeys(str(token) for token in given))
    roles = {str(token): role for role, token in table.roles.items() if token and not isinstance(token, list)}
    for content in contents:
        if content not in table.added.encoder:
            if content in known:
                raise UnknownTokenError(f"{content!r} is a vocabulary entry, not an added token", item=content)
            raise UnknownTokenError(f"there is no added token {content!r}", item=content)
        if content in roles:
            raise SpecialTokenError(
                f"{content!r} is the {roles[content]}, so it cannot be removed; give that role to another token first",
                role=roles[content],
            )
    return contents


def without_holes(decoder: Mapping[int, AddedToken], first: int) -> tuple[dict[int, AddedToken], dict[int, int]]:
    """Added tokens whose ids from `first` on have no holes, in the order of adding; and old id → new id of these."""
    behind = [token_id for token_id in sorted(decoder) if token_id >= first]
    new_ids = dict(zip(behind, range(first, first + len(behind)), strict=True))
    return {new_ids.get(token_id, token_id): token for token_id, token in decoder.items()}, new_ids


def closed_up(table: TokenTable, kept: Iterable[int]) -> dict[int, int]:
    """Old id → new id for the ids that are kept, in their order and without holes.

    Args:
        table: the tokens there are.
        kept: the ids to keep.

    Raises:
        TokenIdError: no token has one of the ids.
        VocabularyError: an added token, or the unknown token, is not among them.
    """
    lines = [] if table.vocabulary is None else table.vocabulary.tokens
    decoder = table.added.decoder.flat()
    old_ids = sorted(set(kept))
    for token_id in old_ids:
        if token_id not in decoder and not (0 <= token_id < len(lines) and lines[token_id] is not None):
            raise TokenIdError(
                f"no token has the id {token_id}, so it cannot be kept; ids run from 0 to {table.max_id}",
                token_id=token_id,
                max_id=table.max_id,
            )
    new_ids = {old: new for new, old in enumerate(old_ids)}
    for token_id, token in decoder.items():
        if token_id not in new_ids:
            raise VocabularyError(
                f"the added token {token.content!r:.60} has the id {token_id}, which is not among those to keep; "
                "keep it, or take the token out with remove_tokens first",
                token=token.content,
                found_id=token_id,
            )
    unknown_id = table.entries.get(str(table.roles["unk_token"]))
    if unknown_id is not None and unknown_id not in new_ids:
        raise VocabularyError(
            f"the unknown token {table.roles['unk_token']!s:.60} has the id {unknown_id}, which is not among those to "
            "keep",
            found_id=unknown_id,
        )
    return new_ids


def all_as_added(decoder: Mapping[Any, Any]) -> dict[int, AddedToken]:
    """The items of an `added_tokens_decoder`, checked."""
    if set(map(type, decoder.values())) == {AddedToken} and set(map(type, decoder)) == {int} and min(decoder) >= 0:
        return dict(decoder)
    return {token_id: as_added(token_id, token) for token_id, token in decoder.items()}


def as_added(token_id: Any, token: Any) -> AddedToken:
    """An item of `added_tokens_decoder`, checked."""
    if type(token_id) is not int or token_id < 0:
        raise InputTypeError(f"added_tokens_decoder: an id is a whole number from 0, not {token_id!r}", value=token_id)
    return AddedToken.of(token)
