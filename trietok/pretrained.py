"""The tokenizer that users subclass: added tokens around a `_tokenize` of their own. Wiring only.

In: a text. Out: tokens and ids. The order is transformers': prepare, lower-case outside the tokens that must match as
they are written, split at the added tokens, tokenize the pieces between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trietok.added_token import AddedToken
from trietok.added_tokens import AddedTokens
from trietok.base import PreTrainedTokenizerBase
from trietok.calls import reject_unknown
from trietok.change_guard import ChangeGuard
from trietok.decoding import join_tokens
from trietok.errors import InputTypeError
from trietok.model_inputs import kind_of
from trietok.special_tokens import ADDITIONAL, Token
from trietok.trie import Trie


class PreTrainedTokenizer(PreTrainedTokenizerBase):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token` and, to save,
    `save_vocabulary`; override `convert_tokens_to_string`, `build_inputs_with_special_tokens`,
    `prepare_for_tokenization` and the others where the model asks for it. Set what those need before calling
    `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        **kwargs: see `PreTrainedTokenizerBase`.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._guard = ChangeGuard()
        self._added = AddedTokens()
        self._size: int | None = None
        self._apart: tuple[object, frozenset[str]] | None = None
        decoder = kwargs.pop("added_tokens_decoder", {})
        super().__init__(**kwargs)
        self._added.update({token_id: _as_added(token_id, token) for token_id, token in decoder.items()})
        # A role's token that no file and no vocabulary brought is added now; one that was is marked as special.
        self._add_tokens(self.all_special_tokens_extended, special_tokens=True)

    @property
    def is_fast(self) -> bool:
        return False

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
            self._added.update(tokens)
            self._size = None

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
        """The highest id of all; a model needs at least `max_id + 1` embedding rows."""
        return max(self._added.max_id, *self.get_vocab().values(), -1)

    def __len__(self) -> int:
        if self._size is None:
            self._size = self._total_size()
        return self._size

    @property
    def total_vocab_size(self) -> int:
        """The number of different tokens with the added ones: `len(tokenizer)`."""
        return len(self)

    def _total_size(self) -> int:
        return len(self.get_vocab())

    def _known_ids(self) -> Mapping[str, int]:
        """The ids of all tokens without the added ones, or with them: what adding a token looks it up in."""
        return self.get_vocab()

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._guard.changing():
            to_set, additional, new = self._plan_adding(new_tokens, special_tokens)
            self._added.update(to_set)
            if self._size is not None:
                self._size += new
            if additional:
                self._special_tokens_map[ADDITIONAL] = [*self._special_tokens_map[ADDITIONAL], *additional]
                self._all_special_tokens = None
        return new

    def _plan_adding(
        self, new_tokens: Sequence[Token], special_tokens: bool
    ) -> tuple[dict[int, AddedToken], list[AddedToken], int]:
        """What adding tokens comes to: which token to set at which id, which of them to list as special, how many are
        new. Nothing is changed, so a mistake in the list leaves all as it was."""
        lower = bool(getattr(self, "do_lower_case", False))
        roles = set(self._special_tokens())
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
                special = special_tokens or given in roles
                token = AddedToken(given.lower() if lower and not special else given, special=special)
            else:
                token = AddedToken.of(given)
                special = special_tokens or token.special
                if special and not token.special:
                    token = token.replace(special=True)
                elif lower and token.normalized and not special:
                    token = token.replace(content=token.content.lower())
            content = token.content
            token_id = ids.get(content)
            if token_id is None:
                token_id = there.get(content, known.get(content))
                if token_id is None:
                    token_id = next_id
                    next_id += 1
                ids[content] = token_id
            to_set[token_id] = token
            if special and content not in roles:
                roles.add(content)
                additional.append(token)
        return to_set, additional, next_id - first_new

    # ---- text to tokens ---------------------------------------------------------------------------------------------

    def tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split one text into tokens, without special tokens around it.

        Args:
            text: the text.
            **kwargs: `split_special_tokens`, to take added tokens in the text as ordinary text; and what
                `prepare_for_tokenization` takes.

        Raises:
            InputTypeError: `text` is not a str.
            OptionError: a keyword that nothing understands.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").tokenize("The people, united!")
        ['the', 'people', ',', 'united', '!']
        """
        return self._guard.read(self._split_text, text, **kwargs)

    def _split_text(self, text: str, **kwargs: Any) -> list[str]:
        if not isinstance(text, str):
            raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
        split_special_tokens = kwargs.pop("split_special_tokens", self.split_special_tokens)
        text, unknown = self.prepare_for_tokenization(text, **kwargs)
        reject_unknown(unknown)
        if getattr(self, "do_lower_case", False):
            text = self._added.lower_between(text, self._special_tokens())
        if split_special_tokens:
            return self._tokenize(text) if text else []
        tokens: list[str] = []
        for piece in self._added.split(text):
            if piece in self._added.encoder:
                tokens.append(piece)
            else:
                tokens += self._tokenize(piece)
        return tokens

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")

    # ---- tokens to ids and back -------------------------------------------------------------------------------------

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [0, tokenizer.unk_token_id]
        True
        """
        if tokens is None:
            return None
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        return [self._convert_token_to_id_with_added_voc(token) for token in tokens]

    def _convert_token_to_id_with_added_voc(self, token: str | None) -> int | None:
        if token is None:
            return None
        added = self._added.encoder.get(token)
        return self._convert_token_to_id(token) if added is None else added

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_token_to_id(token)")

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above the highest there is.
        """
        if isinstance(ids, int):
            return self._token_of(ids)
        special = set(self.all_special_ids) if skip_special_tokens else ()
        return [self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in special]

    def _token_of(self, token_id: int) -> str:
        added = self._added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, with spaces."""
        return " ".join(tokens)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        spaces_between_special_tokens: bool = True,
        **kwargs: Any,
    ) -> str:
        kwargs.pop("use_source_tokenizer", None)
        reject_unknown(kwargs)
        tokens = self.convert_ids_to_tokens(token_ids, skip_special_tokens=skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            special = self._special_tokens()
            tokens = [token for token in tokens if token not in special]
        separator = " " if spaces_between_special_tokens else ""
        text = join_tokens(tokens, self._standing_alone(), self.convert_tokens_to_string, separator)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = self.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _standing_alone(self) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but the roles' that stand in the vocabulary."""
        special = self._special_tokens()
        made_of = (special, self._added.version)
        if self._apart is None or self._apart[0] != made_of:
            size = self.vocab_size
            additional = [t for t in self.additional_special_tokens if self.convert_tokens_to_ids(t) >= size]
            self._apart = made_of, frozenset(self._added.encoder.keys() - set(special) | set(additional))
        return self._apart[1]


def _as_added(token_id: Any, token: Any) -> AddedToken:
    if type(token_id) is not int or token_id < 0:
        raise InputTypeError(f"added_tokens_decoder: an id is a whole number from 0, not {token_id!r}", value=token_id)
    return AddedToken.of(token)


def _int_id(token_id: Any) -> int:
    try:
        return int(token_id)
    except (TypeError, ValueError):
        raise InputTypeError(f"an id is a whole number, not {kind_of(token_id)}", value=token_id) from None
