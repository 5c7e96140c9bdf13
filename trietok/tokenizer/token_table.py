"""The tokens of a tokenizer, and how one table replaces another.

A `TokenTable` holds vocabulary, added tokens and roles, and never changes, so a reader never sees a
half-made change. `CurrentTable` holds the table that a tokenizer has now: a change makes another
one under a lock, and swaps it in when all its steps are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any

from trietok.files.formats import ADDITIONAL
from trietok.inputs.post_processors import bare_pieces
from trietok.locks import ForkSafeLock
from trietok.text.added_search import AddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.cache import cached_property
from trietok.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from trietok.inputs.template import RowPiece

Token = str | AddedToken

# What a class may override to say which tokens are special; each but the first follows from the one
# before it.
SPECIAL_HOOKS = ("special_tokens_map_extended", "all_special_tokens_extended", "all_special_tokens")


class TokenTable:
    """Vocabulary, added tokens and roles; it never changes."""

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

    @cached_property
    def standing_alone(self) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but tokens of roles that are in
        the vocabulary.
        """
        size, listed = len(self.entries), map(str, self.roles[ADDITIONAL])
        additional = {token for token in listed if (self.known_id(token) or 0) >= size}
        return frozenset(self.added.encoder.flat().keys() - self.special_set | additional)

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
    """The current table of a tokenizer, and the draft of a change in progress.

    Attributes:
        committed: the current table, which calls use.
    """

    def __init__(self, table: TokenTable) -> None:
        self.committed = table
        self._draft = table
        self._changer: int | None = None  # the thread that is changing it
        self._at_commit: list[Callable[[], None]] = []
        self._lock = ForkSafeLock(self._forget_draft)

    @property
    def table(self) -> TokenTable:
        """The draft, for the thread that is changing it; for all other threads the current
        table.
        """
        is_draft = self._changer is not None and self._changer == get_ident()
        return self._draft if is_draft else self.committed

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
            if self._changer is not None:  # a block within a change that this thread is making
                yield
                return
            self._draft = self.committed
            self._changer = get_ident()
            before = self.committed
            try:
                yield
                self.committed = self._draft
                for step in self._at_commit:
                    step()
            except BaseException:
                self.committed = before
                raise
            finally:
                self._forget_draft()

    def at_commit(self, step: Callable[[], None]) -> None:
        """Have a step done when the draft has become the current table; not if it is discarded."""
        with self.changing():
            self._at_commit.append(step)

    def _forget_draft(self) -> None:
        self._at_commit.clear()
        self._changer = None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """A context for reading more than the table: changes wait until it ends."""
        with self._lock:
            yield

    def __reduce__(self) -> Any:
        return CurrentTable, (self.committed,)
