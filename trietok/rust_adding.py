"""How a tokenizer of the Rust profile takes in added tokens: those that were saved, those of the roles, new ones.

In: tokens. Out: their ids, what is looked for in texts from now on, and the number that the Rust library returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok import log
from trietok.added_token import AddedToken
from trietok.added_tokens_mixin import AddedTokensMixin
from trietok.bulk import bulk
from trietok.rust_added_tokens import RustAddedTokens
from trietok.special_tokens import Token

if TYPE_CHECKING:
    from trietok.tokenizer_parts import TokenizerJson


class RustAddingMixin(AddedTokensMixin):
    """The added tokens of the Rust profile. Not used by itself: `RustProfile` inherits it."""

    _added: RustAddedTokens
    _file: TokenizerJson | None  # while the tokenizer is made
    _saved_ids: Sequence[int]  # of the added tokens of tokenizer_config.json

    def _as_special(self, token: AddedToken) -> AddedToken:
        return token.as_special()

    def _load_added_tokens(self, decoder: Mapping[int, AddedToken]) -> None:
        """Take in the tokens of tokenizer.json, then those of tokenizer_config.json, as transformers does.

        Where they differ, the flags are the latter's, and both are looked for.
        """
        if self._file is not None:
            self._added.update(self._file.added_tokens)
        roles = self._special_set()
        there = self._added.decoder
        saved = {token_id: decoder[token_id] for token_id in self._saved_ids}
        marked = {i: token.as_special() if token.content in roles else token for i, token in saved.items()}
        for token_id, token in saved.items():
            if self._file is not None and there.get(token_id, token) != token:
                log.warning(
                    "tokenizer.json and tokenizer_config.json give the added token %r other flags (%r and %r): those "
                    "of tokenizer_config.json count, but texts are searched for both until the tokenizer is saved",
                    token.content,
                    there[token_id],
                    token,
                )
        new = {token_id: token for token_id, token in marked.items() if there.get(token_id) != token}
        if new:
            self._added.update(new)

    def record(self) -> dict[str, Any]:
        record = super().record()
        order = self._added.order_that_counts()
        if order is not None:
            record["added_order"] = order
        return record

    def _add_role_tokens(self) -> None:
        there, roles = self._added.encoder, self._special_set()
        tokens: list[Token] = [t for t in self._added.decoder.values() if t.content in roles and not t.special]
        # A plain string says nothing about flags, so it leaves those that a file has; an `AddedToken` replaces them.
        tokens += [t for t in self.all_special_tokens_extended if isinstance(t, AddedToken) or t not in there]
        self._add_tokens(tokens, special_tokens=True)

    def _content_to_add(self, token: AddedToken, special_tokens: bool, is_plain: bool) -> str:
        return token.content

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._guard.changing(), bulk():
            to_set, listed, new = self._plan_listing(new_tokens, special_tokens)
            if to_set:
                self._added.set_listed(to_set, listed)
            size = self._sizes.there("len")
            self._sizes.begin_another_state(len=None if size is None else size + new)
        return len(listed)

    def _plan_listing(
        self, new_tokens: Sequence[Token], special_tokens: bool
    ) -> tuple[dict[int, AddedToken], list[AddedToken], int]:
        """What adding comes to: the token of each id, all that is to be listed, and how many have a new id."""
        decoder, there, known_ids = self._added.decoder, self._added.encoder, self._known_ids()
        first_id = next_id = self.max_id + 1
        to_set: dict[int, AddedToken] = {}
        ids: dict[str, int] = {}
        listed: dict[AddedToken, None] = {}
        for given in new_tokens:
            token = AddedToken.of(given)
            if special_tokens:
                token = token.as_special()
            content = token.content
            self._check_addable(content)
            known_id = there.get(content)
            if token in listed or (known_id is not None and decoder[known_id] == token):
                continue
            token_id = ids.get(content, there.get(content, known_ids.get(content)))
            if token_id is None:
                token_id, next_id = next_id, next_id + 1
            ids[content] = token_id
            to_set.pop(token_id, None)
            to_set[token_id] = token
            listed[token] = None
        self._require_rows(next_id if next_id > first_id else 0)
        return to_set, list(listed), next_id - first_id
