"""The tokens of a tokenizer at one moment, and how one table replaces another.

In: a vocabulary, added tokens and roles. Out: a `TokenTable` of all three, which never changes, so
a reader never sees a half-made change. `CurrentTable` holds a tokenizer's current table; other
threads see a change only when all its steps are done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import (
    InputTypeError,
    SpecialTokenError,
    TokenIdError,
    UnknownTokenError,
    VocabularyError,
    one_column,
)
from trietok.inputs.post_processors import bare_pieces
from trietok.locks import ForkSafeLock
from trietok.text.added_search import AddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.changes import Version, cached_property
from trietok.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from trietok.inputs.template import RowPiece

Token = str | AddedToken

# What a class may override to say which tokens are special; each but the first follows from the one
# before it.
SPECIAL_HOOKS = ("special_tokens_map_extended", "all_special_tokens_extended", "all_special_tokens")


class TokenTable:
    """Vocabulary, added tokens and roles of one moment."""

    def __init__(
        self,
        vocabulary: Vocabulary | None,
        added: AddedTokens,
        roles: Mapping[str, Any],
        assigned: Mapping[str, str] | None = None,
        post_processor: Any = None,
    ) -> None:
        self.vocabulary = vocabulary  # None for a user's class that looks its tokens up itself
        self.added = added
        self.roles = (
            roles  # role → token, list of tokens (for `additional_special_tokens`), or None
        )
        # unused slot → the token that has its id now
        self.assigned: Mapping[str, str] = assigned or {}
        self.post_processor = (
            post_processor  # in the fast profile, what puts special tokens around texts
        )
        # replaced when an entry changes: while it is the same, cached ids of words hold
        self.pieces_mark = object()

    def replace(self, **changes: Any) -> TokenTable:
        """The table with other parts."""
        names = ("vocabulary", "added", "roles", "assigned", "post_processor")
        return TokenTable(**{**{name: getattr(self, name) for name in names}, **changes})

    def __reduce__(self) -> Any:
        return TokenTable, (
            self.vocabulary,
            self.added,
            self.roles,
            self.assigned,
            self.post_processor,
        )

    def with_tokens(
        self,
        added: AddedTokens,
        new: Mapping[int, AddedToken],
        roles: Mapping[str, Any] | None = None,
    ) -> TokenTable:
        """The table with other added tokens, which differ from these only in `new`, and with other
        roles.
        """
        table = self.replace(added=added, roles=self.roles if roles is None else roles)
        entries = {} if self.vocabulary is None else self.vocabulary.token_to_id
        if entries.keys().isdisjoint(map(attrgetter("content"), new.values())):
            table.pieces_mark = self.pieces_mark
            size = self.__dict__.get("size")
            if size is not None and self.added.decoder.lacks(new):
                table.__dict__["size"] = size + len(new)
        return table

    # ---- roles -----------------------------------------------------------------------------------

    @cached_property
    def special_tokens_extended(self) -> tuple[Token, ...]:
        """The tokens of the roles in their order, as they were given; see
        `all_special_tokens_extended`.
        """
        tokens: list[Token] = []
        seen: set[str] = set()
        for value in self.roles.values():
            several = value if isinstance(value, list) else [value] if value else []
            new = [token for token in several if str(token) not in seen]
            tokens += new
            seen.update(map(str, new))
        return tuple(tokens)

    @cached_property
    def special_tokens(self) -> tuple[str, ...]:
        """The tokens of the roles in their order."""
        return tuple(map(str, self.special_tokens_extended))

    @cached_property
    def special_set(self) -> frozenset[str]:
        """The tokens of the roles, to look up in."""
        return frozenset(self.special_tokens)

    # ---- tokens and ids, where there is a vocabulary ---------------------------------------------

    @property
    def entries(self) -> Mapping[str, int]:
        """The vocabulary without the added tokens: token → id."""
        assert self.vocabulary is not None  # called only for classes with a vocabulary
        return self.vocabulary.token_to_id

    @cached_property
    def size(self) -> int:
        """The number of different tokens with the added ones."""
        entries = self.entries
        return len(entries) + sum(token not in entries for token in self.added.encoder.flat())

    @property
    def max_id(self) -> int:
        """The highest id that any token has or, if it was removed, had."""
        assert self.vocabulary is not None
        return max(self.vocabulary.max_id, self.added.max_id)

    @cached_property
    def pieces_around(self) -> tuple[tuple[RowPiece, ...], tuple[RowPiece, ...]]:
        """In the fast profile, the pieces of a row of one text, and of two."""
        pieces = bare_pieces if self.post_processor is None else self.post_processor.pieces
        return pieces(False), pieces(True)

    @cached_property
    def known_tokens(self) -> _TokenOf:
        """The token of each id that was looked up; a KeyError for an id that has none."""
        assert self.vocabulary is not None
        return _TokenOf(self.added.decoder, self.vocabulary.ids_to_tokens)

    def known_id(self, token: str) -> int | None:
        """The id of a token, or None."""
        token_id = self.added.encoder.get(token)
        return self.entries.get(token) if token_id is None else token_id


class _TokenOf(dict[int, str]):
    """The token of each id that was looked up."""

    def __init__(self, added: Mapping[int, AddedToken], lines: Mapping[int, str]) -> None:
        super().__init__()
        self._added, self._lines = added, lines

    def __missing__(self, token_id: int) -> str:
        token = self._added.get(token_id)
        content = self[token_id] = self._lines[token_id] if token is None else token.content
        return content


class CurrentTable:
    """The current table, and the draft of a change in progress. A copy has the current table and no
    draft.

    `committed` is the current table, `changer` the thread that is changing it, or None. `version`
    is bumped when another table becomes current.
    """

    def __init__(self, table: TokenTable, version: Version) -> None:
        self.committed = table
        self._version = version
        self._lock = ForkSafeLock(self._after_fork)
        self.changer: int | None = None
        self._draft = table
        self._at_commit: list[Callable[[], None]] = []

    @property
    def table(self) -> TokenTable:
        """The draft, for the thread that is changing it; for all other threads the current
        table.
        """
        return (
            self._draft
            if self.changer is not None and self.changer == get_ident()
            else self.committed
        )

    @table.setter
    def table(self, table: TokenTable) -> None:
        with self.changing():
            self._draft = table

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A context for a change in several steps, made to a draft.

        The draft becomes the current table when the outermost block ends, and is discarded if an
        error leaves that block.
        """
        with self._lock:
            if self.changer is not None:  # a block within a change that this thread is making
                yield
                return
            self._draft = self.committed
            self.changer = get_ident()
            try:
                yield
                self.committed = self._draft
                self._settle()
            finally:
                self._at_commit.clear()
                self.changer = None

    def at_commit(self, step: Callable[[], None]) -> None:
        """Have a step done when the draft has become the current table; not if it is discarded."""
        with self.changing():
            self._at_commit.append(step)

    def _settle(self) -> None:
        for step in self._at_commit:
            step()
        self._version.bump()

    def _after_fork(self) -> None:
        """In a forked child, where the thread that changed or read is not: a draft is discarded,
        what was committed is settled.
        """
        if self.committed is self._draft:
            self._settle()
        self._at_commit.clear()
        self.changer = None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """A context for reading more than the table: changes wait until it ends."""
        with self._lock:
            yield

    def __reduce__(self) -> Any:
        return CurrentTable, (self.committed, self._version)


# What follows computes the ids of tokens that are added or removed. No function changes its
# arguments, so an error in a list of tokens leaves the tokenizer as it was.


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
