"""The added tokens of a tokenizer: adding, removing and numbering them, and how many embedding rows
they need.

In: tokens, as strings or `AddedToken`. Out: another `TokenTable`. Other threads see a change
completely or not at all; a change that raises has no effect.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trietok.errors import (
    InputError,
    VocabularyError,
)
from trietok.files.formats import ADDITIONAL
from trietok.inputs.options import (
    padded_length,
)
from trietok.text.added_search import AddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.trie import Trie
from trietok.tokenizer import token_table as editing
from trietok.tokenizer.state import TokenizerState
from trietok.tokenizer.token_table import Token, TokenTable

logger = logging.getLogger("trietok")


class AddedTokensMixin(TokenizerState):
    """What a tokenizer says of its added tokens, and how they change."""

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
        with self._changes.changing():
            table = self._table
            self._changes.table = table.replace(
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
        with self._changes.changing():
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
                self._changes.table = table.with_tokens(added, adding.to_set, roles)
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
        with self._changes.changing():
            known = self.get_vocab()
            table = self._table
            contents = editing.contents_to_remove(tokens, table, known)
            before = set(known.values())
            additional = [token for token in table.roles[ADDITIONAL] if str(token) not in contents]
            self._changes.table = table.replace(
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
        self._changes.table = table.replace(added=added.renumbered(decoder))
        all_ids = {token_id: new_ids.get(token_id, token_id) for token_id in sorted(left)}
        self._renumbered(all_ids)
        return all_ids

    def _renumbered(self, new_ids: Mapping[int, int]) -> None:
        """Called when ids have moved: old id → new id; a subclass may override it."""
