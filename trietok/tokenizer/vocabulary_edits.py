"""Changes of a vocabulary and its added tokens, for which no existing id moves silently.

The first functions compute the ids of tokens that are added or removed, and change none of their
arguments: an error in a list of tokens leaves the tokenizer as it was. The others change the table
of a WordPiece tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import repeat, zip_longest
from typing import Any, NamedTuple

from trietok.errors import (
    InputTypeError,
    SpecialTokenError,
    TokenIdError,
    UnknownTokenError,
    VocabularyError,
    one_column,
)
from trietok.files.formats import VOCAB_FILE
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.token_table import Token, TokenTable


class Asked(NamedTuple):
    """What is to be added, and what `plan_adding` and `plan_listing` are to know."""

    new_tokens: Sequence[Any]  # strings and `AddedToken`
    special_tokens: bool
    lowers: bool  # whether tokens that are matched in lower-cased text are lower-cased too
    known_ids: Mapping[str, int]
    next_id: int
    # raises for a content that cannot be added; None where all can
    check: Callable[[str], None] | None


class Adding(NamedTuple):
    """The result of `plan_adding` and `plan_listing`."""

    to_set: dict[int, AddedToken]
    # in the slow profile the tokens that become additional special tokens
    additional: list[AddedToken]
    # in the fast profile all tokens that texts are also searched for afterwards
    listed: list[AddedToken]
    told: int  # what adding returns
    rows: int  # how many embedding rows the new ids need, 0 if there are none


def plan_adding(table: TokenTable, asked: Asked) -> Adding:
    """Adding tokens in the slow profile."""
    new_tokens, special_tokens, lowers, known_ids, next_id, check = asked
    roles, added = table.special_set, table.added
    to_set: dict[int, AddedToken] = {}
    ids: dict[str, int] = {}  # of the contents of this call
    newly_special: dict[str, AddedToken] = {}
    first_new = next_id
    there = added.encoder
    for given in new_tokens:
        if isinstance(given, str) and (given in there or given in ids):
            continue  # a plain string has no flags, so those of the known token stay
        token = _as_added(given, special_tokens, lowers, roles)
        special, content = token.special, token.content
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
        if token_id in to_set or token_id >= first_new or added.decoder.get(token_id) != token:
            to_set[token_id] = token
        if special and content not in roles:
            newly_special.setdefault(content, token)
    return Adding(
        to_set,
        list(newly_special.values()),
        [],
        next_id - first_new,
        next_id if next_id > first_new else 0,
    )


def _as_added(
    given: Token, special_tokens: bool, lowers: bool, roles: Collection[str]
) -> AddedToken:
    """The token as it is added: special where the call or its role says so, else lower-cased where
    texts are.
    """
    if isinstance(given, str):
        special = special_tokens or given in roles
        return AddedToken(given.lower() if lowers and not special else given, special=special)
    token = AddedToken.of(given)
    if special_tokens and not token.special:
        return token.replace(special=True)
    if lowers and token.normalized and not token.special:
        return token.replace(content=token.content.lower())
    return token


def known_among(
    table: TokenTable,
    tokens: Iterable[Token],
    known: Iterable[str],
    *,
    special_tokens: bool,
    lowers: bool,
) -> list[str]:
    """Of some tokens, those to which adding gives no new id."""
    seen = set(known)
    found: list[str] = []
    for given in tokens:
        token = AddedToken.of(given)
        content = token.content
        is_kept = isinstance(given, str) and (
            content in table.added.encoder or content in table.special_set
        )
        if lowers and token.normalized and not (special_tokens or token.special or is_kept):
            content = content.lower()
        if content in seen:
            found.append(token.content)
        seen.add(content)
    return found


def plan_listing(table: TokenTable, asked: Asked) -> Adding:
    """Adding tokens in the fast profile, where a known token with other flags is added too, and
    none is lower-cased.
    """
    new_tokens, special_tokens, _, known_ids, next_id, check = asked
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
        if (content in ids and token in listed) or (
            known_id is not None and decoder[known_id] == token
        ):
            continue
        token_id = ids.get(content, known_ids.get(content) if known_id is None else known_id)
        if token_id is None:
            token_id, next_id = next_id, next_id + 1
        ids[content] = token_id
        to_set.pop(token_id, None)
        to_set[token_id] = token
        listed[token] = None
    return Adding(to_set, [], list(listed), len(listed), next_id if next_id > first_new else 0)


def contents_to_remove(tokens: Any, table: TokenTable, known: Mapping[str, int]) -> list[str]:
    """The contents of the added tokens that are to be removed."""
    given = [tokens] if isinstance(tokens, (str, AddedToken)) else tokens
    given = one_column(given, "tokens")
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputTypeError(f"remove_tokens takes tokens, not {tokens!r:.60}", value=tokens)
    contents = list(dict.fromkeys(str(token) for token in given))
    roles = {
        str(token): role
        for role, token in table.roles.items()
        if token and not isinstance(token, list)
    }
    for content in contents:
        if content not in table.added.encoder:
            if content in known:
                raise UnknownTokenError(
                    f"{content!r} is a vocabulary entry, not an added token", item=content
                )
            raise UnknownTokenError(f"there is no added token {content!r}", item=content)
        if content in roles:
            raise SpecialTokenError(
                f"{content!r} is the {roles[content]}, so it cannot be removed; give that role to"
                " another token first",
                role=roles[content],
            )
    return contents


def without_holes(
    decoder: Mapping[int, AddedToken], first: int
) -> tuple[dict[int, AddedToken], dict[int, int]]:
    """Added tokens whose ids from `first` on have no holes, in the order of adding; and old id →
    new id of these.
    """
    behind = [token_id for token_id in sorted(decoder) if token_id >= first]
    new_ids = dict(zip(behind, range(first, first + len(behind)), strict=True))
    return {new_ids.get(token_id, token_id): token for token_id, token in decoder.items()}, new_ids


def closed_up(table: TokenTable, kept: Iterable[int]) -> dict[int, int]:
    """Old id → new id for the ids that are kept, in their order and without holes."""
    lines = [] if table.vocabulary is None else table.vocabulary.tokens
    decoder = table.added.decoder.flat()
    old_ids = sorted(set(kept))
    for token_id in old_ids:
        if token_id not in decoder and not (
            0 <= token_id < len(lines) and lines[token_id] is not None
        ):
            raise TokenIdError(
                f"no token has the id {token_id}, so it cannot be kept; ids run from 0 to"
                f" {table.max_id}",
                token_id=token_id,
                max_id=table.max_id,
            )
    new_ids = {old: new for new, old in enumerate(old_ids)}
    for token_id, token in decoder.items():
        if token_id not in new_ids:
            raise VocabularyError(
                f"the added token {token.content!r:.60} has the id {token_id}, which is not among"
                " those to keep; keep it, or take the token out with remove_tokens first",
                token=token.content,
                found_id=token_id,
            )
    unknown_id = table.entries.get(str(table.roles["unk_token"]))
    if unknown_id is not None and unknown_id not in new_ids:
        raise VocabularyError(
            f"the unknown token {table.roles['unk_token']!s:.60} has the id {unknown_id}, which is"
            " not among those to keep",
            found_id=unknown_id,
        )
    return new_ids


def all_as_added(decoder: Mapping[Any, Any]) -> dict[int, AddedToken]:
    """The items of an `added_tokens_decoder`, checked."""
    if (
        set(map(type, decoder.values())) == {AddedToken}
        and set(map(type, decoder)) == {int}
        and min(decoder) >= 0
    ):
        return dict(decoder)
    tokens = {}
    for token_id, token in decoder.items():
        if type(token_id) is not int or token_id < 0:
            raise InputTypeError(
                f"added_tokens_decoder: an id is a whole number from 0, not {token_id!r}",
                value=token_id,
            )
        tokens[token_id] = AddedToken.of(token)
    return tokens


# ---- of a WordPiece tokenizer --------------------------------------------------------------------

_UNUSED_SLOT = r"(?i)[\[<]unused(?:-id)?[_-]?\d+[\]>]"


def is_unused_slot(entry: str) -> bool:
    """Whether a line of a vocabulary is an unused slot, such as `[unused7]`."""
    return re.fullmatch(_UNUSED_SLOT, entry) is not None


def filling(token_id: int) -> str:
    """The line of vocab.txt for an id without a token; no text gives it."""
    return f"[unused-id-{token_id}]"


def filled(table: TokenTable, token_id: int, include_added: bool) -> str:
    """The line of vocab.txt for an id without a vocabulary entry."""
    added = table.added.decoder.get(token_id)
    if added is None or (not include_added and set("\r\n") & set(added.content)):
        return filling(token_id)
    return added.content


def set_vocabulary(tokenizer: Any, tokens: Iterable[str | None]) -> None:
    """Replace the vocabulary of a tokenizer."""
    vocabulary = Vocabulary(tokens)
    # The tokenizer's own entries, by which a snapshot knows those that the user has given a stage.
    own = tokenizer._tokens.committed.entries, vocabulary.token_to_id
    tokenizer.__dict__["_own_entries"] = own
    tokenizer._tokens.table = tokenizer._table.replace(vocabulary=vocabulary)
    stage = getattr(tokenizer, tokenizer._stage_names[1])
    tokenizer._tokens.at_commit(lambda: setattr(stage, "vocab", vocabulary.token_to_id))


def assign_unused(tokenizer: Any, slot: str, token: Token, special: bool) -> int:
    """See `BertTokenizer.assign_unused`."""
    with tokenizer._tokens.changing():
        if slot in tokenizer._table.assigned:
            raise SpecialTokenError(
                f"the slot {slot!r} is taken by {tokenizer._table.assigned[slot]!r}; choose another"
            )
        slot_id: int | None = tokenizer.vocab.get(slot)
        if slot_id is None or not is_unused_slot(slot):
            free = tokenizer.unused_slots()[:3]
            has = f"unused slots are {', '.join(free)}, ..." if free else "this vocabulary has none"
            raise SpecialTokenError(f"{slot!r} is not an unused slot of the vocabulary; {has}")
        if slot in tokenizer._table.added.encoder:
            raise SpecialTokenError(
                f"the slot {slot!r} is an added token itself; remove_tokens frees it"
            )
        token = AddedToken.of(token, special=special)
        lowers = tokenizer.profile == "slow" and getattr(tokenizer, "do_lower_case", False)
        if token.normalized and not token.special and lowers:
            token = token.replace(content=token.content.lower())
        content = token.content
        known_id = tokenizer._table.known_id(content)
        if known_id is not None:
            raise VocabularyError(
                f"the token {content!r} has the id {known_id} already; it cannot have"
                f" {slot_id}, that of {slot!r}",
                token=content,
                expected_id=slot_id,
                found_id=known_id,
            )
        if "\n" in content or "\r" in content:
            raise VocabularyError(
                f"the token {content!r} holds a line break, which {VOCAB_FILE} cannot keep"
            )
        tokens = list(tokenizer.vocabulary.tokens)
        tokens[slot_id] = content
        set_vocabulary(tokenizer, tokens)
        tokenizer._tokens.table = tokenizer._table.replace(
            assigned={**tokenizer._table.assigned, slot: content}
        )
        tokenizer._add_tokens([token])
    return slot_id


def free_slots(tokenizer: Any, contents: Iterable[str]) -> None:
    """Make the slots that removed tokens were assigned to unused again."""
    slots = {token: slot for slot, token in tokenizer._table.assigned.items()}
    free = {tokenizer.vocab[content]: slots[content] for content in contents if content in slots}
    if free:  # an assigned slot is unused again
        lines = enumerate(tokenizer.vocabulary.tokens)
        set_vocabulary(tokenizer, [free.get(i, token) for i, token in lines])
        assigned = {
            slot: token
            for slot, token in tokenizer._table.assigned.items()
            if slot not in free.values()
        }
        tokenizer._tokens.table = tokenizer._table.replace(assigned=assigned)


def add_wordpieces(tokenizer: Any, pieces: Iterable[str]) -> int:
    """See `BertTokenizer.add_wordpieces`."""
    if isinstance(pieces, str):
        raise InputTypeError(
            f"add_wordpieces takes a list of pieces, not one string: {pieces!r}", value=pieces
        )
    pieces = one_column(pieces, "pieces")
    with tokenizer._tokens.changing():
        new = [piece for piece in dict.fromkeys(pieces) if piece not in tokenizer.vocab]
        for piece in new:
            if not isinstance(piece, str):
                raise InputTypeError(
                    f"a piece is a string, not {type(piece).__name__}: {piece!r}", value=piece
                )
            tokenizer.check_wordpiece(piece)
        if not new:
            return 0
        first_id = tokenizer.max_id + 1
        tokenizer._require_rows(first_id + len(new))
        lines, was = lines_before_new(tokenizer)[0], tokenizer.vocabulary.tokens
        # Once such an added token is removed, its id is a free slot: no text gives that either.
        pairs = enumerate(zip_longest(was, lines))
        slots = {filling(i): line for i, (old, line) in pairs if old is None and line is not None}
        set_vocabulary(tokenizer, [*lines, *new])
        assigned = {**tokenizer._table.assigned, **slots}
        tokenizer._tokens.table = tokenizer._table.replace(assigned=assigned)
    return len(new)


def lines_before_new(tokenizer: Any) -> tuple[list[str | None], AddedToken | None]:
    """See `BertTokenizer.lines_before_new`."""
    table, in_the_way = tokenizer._table, None
    lines = [
        *tokenizer.vocabulary.tokens,
        *repeat(None, tokenizer.max_id + 1 - len(tokenizer.vocabulary.tokens)),
    ]
    for token_id, token in table.added.decoder.flat().items():
        content = token.content
        if lines[token_id] is not None:
            continue
        is_once = content not in table.entries and table.added.encoder[content] == token_id
        is_free = filling(token_id) not in table.entries and filling(token_id) not in table.assigned
        if (
            is_once
            and is_free
            and set("\r\n").isdisjoint(content)
            and tokenizer._never_matched(content)
        ):
            lines[token_id] = content
        else:
            in_the_way = in_the_way or token
    return lines, in_the_way


def keep_only(tokenizer: Any, token_ids: Iterable[int]) -> dict[int, int]:
    """See `BertTokenizer.keep_only`."""
    with tokenizer._tokens.changing():
        new_ids = closed_up(tokenizer._table, token_ids)
        table = tokenizer._table
        tokens = table.vocabulary.tokens if table.vocabulary is not None else []
        lines: list[str | None] = [None] * len(new_ids)
        for old, new in new_ids.items():
            lines[new] = tokens[old] if old < len(tokens) else None
        while lines and lines[-1] is None:  # an added token behind the vocabulary
            lines.pop()
        decoder = {
            new_ids[token_id]: token for token_id, token in table.added.decoder.flat().items()
        }
        set_vocabulary(tokenizer, lines)
        tokenizer._tokens.table = tokenizer._table.replace(added=table.added.renumbered(decoder))
        tokenizer._renumbered(new_ids)
    return new_ids
