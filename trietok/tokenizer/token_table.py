"""The tokens of a tokenizer at one moment, and how one table replaces another.

In: a vocabulary, added tokens and roles. Out: a `TokenTable` of all three, which never changes, so a reader never sees
a half-made change. `Changes` holds a tokenizer's current table; other threads see a change only when all its steps are
done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any

from trietok.text.added_token import AddedToken
from trietok.text.added_tokens import AddedTokens
from trietok.text.changes import Version, cached_property, under_way
from trietok.text.vocabulary import Vocabulary

Token = str | AddedToken


class TokenTable:
    """Vocabulary, added tokens and roles of one moment.

    Attributes:
        vocabulary: the vocabulary; None for a user's class that looks its tokens up itself.
        added: the added tokens.
        roles: role → token, list of tokens (for `additional_special_tokens`), or None.
        assigned: unused slot of the vocabulary → the token that has its id now.
        post_processor: in the fast profile, what puts special tokens around texts; it holds their ids.
        pieces_mark: an object that is replaced when a vocabulary entry changes; as long as it is the same, cached ids
            of words are valid.
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None,
        added: AddedTokens,
        roles: Mapping[str, Any],
        assigned: Mapping[str, str] | None = None,
        post_processor: Any = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.added = added
        self.roles = roles
        self.assigned: Mapping[str, str] = assigned or {}
        self.post_processor = post_processor
        self.pieces_mark = object()

    def replace(self, **changes: Any) -> TokenTable:
        """The table with other parts."""
        names = ("vocabulary", "added", "roles", "assigned", "post_processor")
        return TokenTable(**{**{name: getattr(self, name) for name in names}, **changes})

    def __reduce__(self) -> Any:
        return TokenTable, (self.vocabulary, self.added, self.roles, self.assigned, self.post_processor)

    def with_tokens(
        self, added: AddedTokens, new: Mapping[int, AddedToken], roles: Mapping[str, Any] | None = None
    ) -> TokenTable:
        """The table with other added tokens, which differ from these only in `new`, and with other roles."""
        table = self.replace(added=added, roles=self.roles if roles is None else roles)
        entries = () if self.vocabulary is None else self.vocabulary.token_to_id
        if all(token.content not in entries for token in new.values()):
            table.pieces_mark = self.pieces_mark
            size = self.__dict__.get("size")
            if size is not None and self.added.decoder.lacks(new):
                table.__dict__["size"] = size + len(new)
        return table

    # ---- roles ------------------------------------------------------------------------------------------------------

    @cached_property
    def special_tokens_extended(self) -> tuple[Token, ...]:
        """The tokens of the roles in their order, as they were given; see `all_special_tokens_extended`."""
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

    @cached_property
    def special_contents(self) -> frozenset[str]:
        """Every special token: those of the roles, and added ones that are marked."""
        marked = (token.content for token in self.added.decoder.flat().values() if token.special)
        return self.special_set.union(marked)

    # ---- tokens and ids, where there is a vocabulary -----------------------------------------------------------------

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

    def known_id(self, token: str) -> int | None:
        """The id of a token, or None."""
        token_id = self.added.encoder.get(token)
        return self.entries.get(token) if token_id is None else token_id


class Changes:
    """The current table, and the draft of a change in progress. A copy has the current table and no draft.

    Args:
        table: the table to begin with.
        version: is bumped when another table becomes current.

    Attributes:
        committed: the current table.
        changer: the thread that is changing it, or None.
    """

    def __init__(self, table: TokenTable, version: Version) -> None:
        self.committed = table
        self._version = version
        self._lock = RLock()
        self.changer: int | None = None
        self._draft = table
        self._at_commit: list[Callable[[], None]] = []

    @property
    def table(self) -> TokenTable:
        """The draft, for the thread that is changing it; for all other threads the current table."""
        return self._draft if self.changer is not None and self.changer == get_ident() else self.committed

    @table.setter
    def table(self, table: TokenTable) -> None:
        with self.changing():
            self._draft = table

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A context for a change in several steps, made to a draft.

        The draft becomes the current table when the outermost block ends, and is discarded if an error leaves that
        block.
        """
        with under_way(self._after_fork), self._lock:
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
        """In a forked child, where the thread that changed or read is not: a draft is discarded, what was committed is
        settled."""
        if self._lock._is_owned():  # type: ignore[attr-defined]  # by the thread that forked; the other waited for it
            return
        self._lock = RLock()
        if self.committed is self._draft:
            self._settle()
        self._at_commit.clear()
        self.changer = None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """A context for reading more than the table: changes wait until it ends."""
        with under_way(self._after_fork), self._lock:
            yield

    def __reduce__(self) -> Any:
        return Changes, (self.committed, self._version)
