"""Adding tokens to a tokenizer and taking them out again; what that makes of its size.

In: tokens, or their names. Out: the number of new ones, or a map of ids. A mistake changes nothing; a change is seen by
other threads whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trietok.added_token import AddedToken
from trietok.added_tokens import AddedTokens
from trietok.base import PreTrainedTokenizerBase
from trietok.bulk import bulk
from trietok.change_guard import Derived
from trietok.errors import InputError, InputTypeError, SpecialTokenError, UnknownTokenError, VocabularyError
from trietok.padding import padded_length
from trietok.special_tokens import ADDITIONAL, Token
from trietok.trie import Trie
from trietok.vocab_files import RECORD


class AddedTokensMixin(PreTrainedTokenizerBase):
    """The added tokens of a tokenizer. Not used by itself: `PreTrainedTokenizer` inherits it.

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        max_embedding_rows: how many rows the model's embeddings have, where that is fixed: adding a token whose id
            would have none is then an error.
        **kwargs: see `PreTrainedTokenizerBase`.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._added = self._new_added_tokens()
        self._sizes = Derived()
        self._specials: tuple[object, frozenset[str]] | None = None
        self._apart: tuple[object, frozenset[str]] | None = None
        self.config_rows: int | None = None  # what a config.json beside the files says, once loaded
        self.max_embedding_rows: int | None = kwargs.pop("max_embedding_rows", None)
        decoder = kwargs.pop("added_tokens_decoder", {})
        record = kwargs.pop(RECORD, None) or {}
        super().__init__(**kwargs)
        self._load_added_tokens({token_id: _as_added(token_id, token) for token_id, token in decoder.items()})
        self._restore(record)
        # A role's token that no file and no vocabulary brought is added now; one that was is marked as special.
        self._add_role_tokens()

    def _new_added_tokens(self) -> AddedTokens:
        """What keeps the added tokens; none yet."""
        return AddedTokens()

    def _load_added_tokens(self, decoder: Mapping[int, AddedToken]) -> None:
        """Take in the added tokens that were saved."""
        self._added.update(decoder)

    def _add_role_tokens(self) -> None:
        self._add_tokens(self.all_special_tokens_extended, special_tokens=True)

    def _restore(self, record: Mapping[str, Any]) -> None:
        """Take back what `record` wrote."""
        self._added.reorder(record.get("added_order", ()))
        self._added.max_id = max(self._added.max_id, record.get("max_id", -1))

    def record(self) -> dict[str, Any]:
        """What has to be saved beside transformers' settings, so that a reloaded tokenizer is the same one."""
        record: dict[str, Any] = {}
        if self._added.max_id > max(self._added.decoder, default=-1):
            record["max_id"] = self._added.max_id
        # The files keep tokens by id, and what is kept from lower-casing goes by the order of adding.
        ordinary = [token_id for token_id, token in self._added.decoder.items() if not token.special]
        if getattr(self, "do_lower_case", False) and ordinary != sorted(ordinary):
            record["added_order"] = ordinary
        return record

    # ---- added tokens -----------------------------------------------------------------------------------------------

    @property
    def added_tokens_encoder(self) -> Mapping[str, int]:
        """The added tokens: content → id, in the order of their ids; read-only."""
        return self._added.ids_by_content

    @property
    def added_tokens_decoder(self) -> Mapping[int, AddedToken]:
        """The added tokens: id → `AddedToken`, in the order of their ids; read-only."""
        return self._added.by_id

    @added_tokens_decoder.setter
    def added_tokens_decoder(self, value: Mapping[int, Token]) -> None:
        tokens = {token_id: _as_added(token_id, token) for token_id, token in value.items()}
        with self._guard.changing():
            self._added.forget_changes()  # ids of contents may change, of pieces too
            self._added.update(tokens)
            self._sizes.begin_another_state()

    def get_added_vocab(self) -> dict[str, int]:
        """The added tokens: content → id, in the order of adding."""
        return dict(self._added.encoder)

    @property
    def tokens_trie(self) -> Trie:
        """The trie that splits texts at the added tokens."""
        return self._added.trie

    @property
    def _added_tokens_encoder(self) -> dict[str, int]:
        return self._added.encoder

    @property
    def _added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self._added.decoder

    @property
    def max_id(self) -> int:
        """The highest id that any token has or, if it was removed, had; the next new token gets the one after.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.max_id, tokenizer.add_tokens(["covid-19"]), tokenizer.max_id
        (7999, 1, 8000)
        """
        return max(self._added.max_id, *self.get_vocab().values(), -1)

    def embedding_rows(self, multiple_of: int = 8) -> int:
        """How many embedding rows a model needs for every id, rounded up to a multiple.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = tokenizer.add_tokens(["covid-19"])
        >>> tokenizer.embedding_rows(), tokenizer.embedding_rows(multiple_of=1), tokenizer.embedding_rows(64)
        (8008, 8001, 8064)

        Raises:
            InputError: `multiple_of` is below 1.
        """
        if type(multiple_of) is not int or multiple_of < 1:
            raise InputError(f"multiple_of is {multiple_of!r}; it is a whole number from 1")
        return padded_length(self.max_id + 1, multiple_of)

    def _require_rows(self, rows: int) -> None:
        """Raise where new tokens need more embedding rows than the model has; log it where only its config says so."""
        if self.config_rows is not None and rows > self.config_rows:
            self.warn_once(
                "more-rows-than-the-config",
                f"the new tokens need {rows} embedding rows, and the model's config.json says it has "
                f"{self.config_rows}; give it more (embedding_rows() says how many)",
            )
        if self.max_embedding_rows is not None and rows > self.max_embedding_rows:
            raise VocabularyError(
                f"the new tokens would need {rows} embedding rows, and the model has {self.max_embedding_rows}; give "
                "the model more rows and raise max_embedding_rows, or use assign_unused",
                expected_id=self.max_embedding_rows - 1,
                found_id=rows - 1,
            )

    def __len__(self) -> int:
        return self._sizes.get("len", self._total_size)

    @property
    def total_vocab_size(self) -> int:
        """The number of different tokens with the added ones: `len(tokenizer)`."""
        return len(self)

    def _total_size(self) -> int:
        return len(self.get_vocab())

    def _known_ids(self) -> Mapping[str, int]:
        """The ids of all tokens without the added ones, or with them: what adding a token looks it up in."""
        return self.get_vocab()

    def known_tokens(self, tokens: Token | Sequence[Token], special_tokens: bool = False) -> list[str]:
        """Those of the tokens that `add_tokens` would give no new id; nothing is added.

        They have an id already, or an earlier token of the list is the same: where the tokenizer lower-cases, after
        that.

        Args:
            tokens, special_tokens: what `add_tokens` would be given.

        Raises:
            InputTypeError, InputError: a token is neither a string nor an `AddedToken`, or is empty.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> terms = ["covid-19", "People", "COVID-19", "mrna"]
        >>> tokenizer.known_tokens(terms)
        ['People', 'COVID-19']
        >>> tokenizer.add_tokens(terms)
        2
        """
        given = tokens if isinstance(tokens, (list, tuple)) else [tokens]
        return self._guard.read(self._known_among, given, special_tokens)

    def _known_among(self, tokens: Sequence[Token], special_tokens: bool) -> list[str]:
        known = set(self.get_vocab())
        found: list[str] = []
        for given in tokens:
            token = AddedToken.of(given)
            content = self._content_to_add(token, special_tokens, isinstance(given, str))
            if content in known:
                found.append(token.content)
            known.add(content)
        return found

    def _content_to_add(self, token: AddedToken, special_tokens: bool, is_plain: bool) -> str:
        """What a token becomes where it is added; `is_plain` is whether it was given as a string."""
        content = token.content
        if special_tokens or token.special or not token.normalized or not getattr(self, "do_lower_case", False):
            return content
        is_kept = is_plain and (content in self._added.encoder or content in self._special_set())
        return content if is_kept else content.lower()

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._guard.changing(), bulk():
            to_set, additional, new = self._plan_adding(new_tokens, special_tokens)
            if to_set:
                self._added.update(to_set)
            size = self._sizes.there("len")
            self._sizes.begin_another_state(len=None if size is None else size + new)
            if additional:
                self._special_tokens_map[ADDITIONAL] = [*self._special_tokens_map[ADDITIONAL], *additional]
                self._derived_roles.begin_another_state()
        return new

    def _plan_adding(
        self, new_tokens: Sequence[Token], special_tokens: bool
    ) -> tuple[dict[int, AddedToken], list[AddedToken], int]:
        """What adding tokens comes to: which token to set at which id, which of them to list as special, how many are
        new. Nothing is changed, so a mistake in the list leaves all as it was."""
        lower = bool(getattr(self, "do_lower_case", False))
        roles = self._special_set()
        newly_special: set[str] = set()
        known = self._known_ids()
        next_id = self.max_id + 1
        to_set: dict[int, AddedToken] = {}
        ids: dict[str, int] = {}  # of the contents of this call
        additional: list[AddedToken] = []
        first_new = next_id
        there = self._added.encoder
        for given in new_tokens:
            if isinstance(given, str):
                if given in there or given in ids:
                    continue  # a plain string says nothing about flags, so it leaves them
                special = special_tokens or given in roles or given in newly_special
                token = AddedToken(given.lower() if lower and not special else given, special=special)
            else:
                token = AddedToken.of(given)
                special = special_tokens or token.special
                if special and not token.special:
                    token = token.replace(special=True)
                elif lower and token.normalized and not special:
                    token = token.replace(content=token.content.lower())
            content = token.content
            self._check_addable(content)
            token_id = ids.get(content)
            if token_id is None:
                token_id = there.get(content, known.get(content))
                if token_id is None:
                    token_id = next_id
                    next_id += 1
                ids[content] = token_id
            if self._added.decoder.get(token_id) != token or token_id in to_set:
                to_set[token_id] = token
            if special and content not in roles and content not in newly_special:
                newly_special.add(content)
                additional.append(token)
        self._require_rows(next_id if next_id > first_new else 0)
        return to_set, additional, next_id - first_new

    def _check_addable(self, content: str) -> None:
        """What a subclass raises for where a token cannot be added."""

    def remove_tokens(self, tokens: Token | Iterable[Token], compact: bool = False) -> dict[int, int]:
        """Take added tokens out. The text they stood for is tokenized like any other again.

        Args:
            tokens: one token or several, as strings or `AddedToken`.
            compact: give the ids of removed tokens behind the vocabulary to the added tokens that follow, so that the
                ids have no holes there. By default no id changes, and none is given again.

        Returns:
            Every id that is left: old id → new id. Embedding rows have to follow it.

        Raises:
            UnknownTokenError: a token is not there. Nothing is removed.
            SpecialTokenError: a token plays a role, such as [CLS]. Nothing is removed.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_tokens(["covid-19", "long-covid"])
        2
        >>> new_ids = tokenizer.remove_tokens(["covid-19"], compact=True)
        >>> new_ids[8001], 8000 in new_ids, tokenizer.convert_tokens_to_ids("long-covid")
        (8000, False, 8000)
        """
        given = [tokens] if isinstance(tokens, (str, AddedToken)) else tokens
        if isinstance(given, bytes) or not isinstance(given, Iterable):
            raise InputTypeError(f"remove_tokens takes tokens, not {tokens!r:.60}", value=tokens)
        contents = dict.fromkeys(str(token) for token in given)
        with self._guard.changing():
            roles = {token: role for role, token in self.special_tokens_map.items() if isinstance(token, str)}
            for content in contents:
                self._check_removable(content, roles)
            before = set(self.get_vocab().values())
            to_remove = {self._added.encoder[content] for content in contents}
            self._added.remove(to_remove)
            self._sizes.begin_another_state()
            additional = self._special_tokens_map[ADDITIONAL]
            self._special_tokens_map[ADDITIONAL] = [token for token in additional if str(token) not in contents]
            self._derived_roles.begin_another_state()
            self._removed(contents)
            left = before & set(self.get_vocab().values())
            return self._close_holes(left) if compact else {token_id: token_id for token_id in sorted(left)}

    def _check_removable(self, content: str, roles: Mapping[str, str]) -> None:
        if content not in self._added.encoder:
            there = "it is a vocabulary entry" if content in self.get_vocab() else "nothing of that name is there"
            raise UnknownTokenError(f"{content!r} is no added token: {there}", item=content)
        if content in roles:
            raise SpecialTokenError(
                f"{content!r} is the {roles[content]}, so it cannot be removed; give that role to another token first",
                role=roles[content],
            )

    def _removed(self, contents: Iterable[str]) -> None:
        """What a subclass does when added tokens are gone."""

    def _close_holes(self, left: set[int]) -> dict[int, int]:
        """Number the added tokens behind the vocabulary without holes; return old id → new id for all that are left."""
        added = self._added
        own = left - added.decoder.keys() | {i for token, i in self._known_ids().items() if token not in added.encoder}
        first = max(own, default=-1) + 1
        behind = [token_id for token_id in sorted(added.decoder) if token_id >= first]
        new_ids = dict(zip(behind, range(first, first + len(behind)), strict=True))
        order = [new_ids.get(token_id, token_id) for token_id in added.decoder]
        moved = {new_ids[token_id]: added.decoder[token_id] for token_id in behind}
        added.forget_changes()  # ids change, not only which tokens there are
        added.remove(behind)
        added.max_id = max(added.decoder, default=-1)
        added.update(moved)
        added.reorder(order)
        return {token_id: new_ids.get(token_id, token_id) for token_id in sorted(left)}


def _as_added(token_id: Any, token: Any) -> AddedToken:
    if type(token_id) is not int or token_id < 0:
        raise InputTypeError(f"added_tokens_decoder: an id is a whole number from 0, not {token_id!r}", value=token_id)
    return AddedToken.of(token)
