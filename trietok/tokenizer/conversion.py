"""Tokens to ids and back, and ids to text.

In: tokens or ids. Out: ids, tokens or text. Lists are converted by one state of the tokenizer,
unless a user has replaced the method for one token.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, overload

from trietok.errors import (
    InputTypeError,
    kind_of,
)
from trietok.files.formats import ADDITIONAL
from trietok.inputs.options import OF_DECODING, DecodeKeywords, TokenIds, reject_unknown
from trietok.inputs.tensors import to_python
from trietok.text.changes import is_replaced
from trietok.text.decoding import clean_up_tokenization, join_tokens
from trietok.tokenizer.hooks import DECODE_HOOKS
from trietok.tokenizer.moment import frozen
from trietok.tokenizer.state import TokenizerState
from trietok.tokenizer.token_table import SPECIAL_HOOKS, TokenTable
from trietok.typing_compat import Unpack


class ConversionMixin(TokenizerState):
    """How a tokenizer converts tokens and ids, and decodes."""

    # ---- tokens to ids and back ------------------------------------------------------------------

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...  # type: ignore[overload-overlap]

    @overload
    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]: ...

    @overload
    def convert_tokens_to_ids(self, tokens: None) -> None: ...

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the
        unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [
        ...     0,
        ...     tokenizer.unk_token_id,
        ... ]
        True
        """
        if tokens is None:
            return None
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        if not isinstance(tokens, Iterable):
            raise InputTypeError(
                f"tokens are a str or a list of str, not {kind_of(tokens)}", value=tokens
            )
        return self._ids_of(self._table, tokens)

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        """The ids of tokens, all from one state of the tokenizer if no method is overridden."""
        if is_replaced(self, ("_convert_token_to_id_with_added_voc",)):
            return [self._convert_token_to_id_with_added_voc(token) for token in tokens]
        return [self._id_in(table, token) for token in tokens]

    def _ids_of_roles(self, table: TokenTable, tokens: str | Sequence[str]) -> Any:
        """The id of a token that has a role, or ids of several, by a `convert_tokens_to_ids` of the
        user's if any.
        """
        if is_replaced(self, ("convert_tokens_to_ids",)):
            return self.convert_tokens_to_ids(tokens if isinstance(tokens, str) else list(tokens))
        return (
            self._ids_of(table, [tokens])[0]
            if isinstance(tokens, str)
            else self._ids_of(table, tokens)
        )

    def _convert_token_to_id_with_added_voc(self, token: str | None) -> int | None:
        return self._id_in(self._table, token)

    def _id_in(self, table: TokenTable, token: str | None) -> int | None:
        if token is None:
            return None
        added = table.added.encoder.get(token)
        return self._convert_token_to_id(token) if added is None else added

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_token_to_id(token)")

    @overload
    def convert_ids_to_tokens(self, ids: int, skip_special_tokens: bool = False) -> str: ...

    @overload
    def convert_ids_to_tokens(
        self, ids: Iterable[int], skip_special_tokens: bool = False
    ) -> list[str]: ...

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above `max_id`.
        """
        return self._converted(self._table, ids, skip_special_tokens)

    def _converted(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """`convert_ids_to_tokens` by one state."""
        if isinstance(ids, int):
            return self._token_of(ids)
        if type(ids) is not list and (
            isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable)
        ):
            raise InputTypeError(f"ids are an int or a list of ints, not {kind_of(ids)}", value=ids)
        special: Collection[int] = ()
        if skip_special_tokens:
            is_own = is_replaced(self, ("all_special_ids",))
            special = set(self.all_special_ids if is_own else self._special_ids(table))
        return self._tokens_of(table, ids, special)

    def _tokens_of(
        self, table: TokenTable, ids: Iterable[Any], left_out: Collection[int]
    ) -> list[str]:
        """The tokens of ids, all from one state of the tokenizer."""
        return [
            self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in left_out
        ]

    def _token_of(self, token_id: int) -> str:
        added = self._table.added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    # ---- decoding --------------------------------------------------------------------------------

    def decode(
        self,
        token_ids: TokenIds,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> str:
        """Ids back to text.

        Args:
            token_ids: an id, a list of ids, or an array or tensor of shape (sequence,).
            skip_special_tokens: leave special tokens out.
            clean_up_tokenization_spaces: take out the spaces before punctuation; None for the
                tokenizer's own setting.
            **kwargs: `spaces_between_special_tokens`, True by default.

        Raises:
            TokenIdError: an id is negative or above `max_id`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.decode(tokenizer.encode("The people, united!"), skip_special_tokens=True)
        'the people, united!'
        """
        return self._decode(
            token_ids if type(token_ids) is int else to_python(token_ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

    def batch_decode(
        self,
        sequences: Iterable[TokenIds],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> list[str]:
        """`decode` for every sequence of a list, or every row of an array or tensor of shape
        (batch, sequence).
        """
        tokenizer = frozen(self, DECODE_HOOKS)
        return [
            tokenizer.decode(sequence, skip_special_tokens, clean_up_tokenization_spaces, **kwargs)
            for sequence in sequences
        ]

    clean_up_tokenization = staticmethod(clean_up_tokenization)

    def _tokens_to_join(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """What `convert_ids_to_tokens` returns, by one state where it is not a user's own."""
        if is_replaced(self, ("convert_ids_to_tokens",)):
            return self.convert_ids_to_tokens(ids, skip_special_tokens=skip_special_tokens)
        return self._converted(table, ids, skip_special_tokens)

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
        if kwargs:
            kwargs.pop("use_source_tokenizer", None)
            reject_unknown(kwargs, OF_DECODING)
        state = frozen(self)
        text = self._joined(state, token_ids, skip_special_tokens, spaces_between_special_tokens)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = state.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _joined(self, state: Any, token_ids: Any, skip_special_tokens: bool, spaces: bool) -> str:
        """The text of ids before it is cleaned up; `state` is the tokenizer as it was when decoding
        began.
        """
        table: TokenTable = state._table
        tokens = self._tokens_to_join(table, token_ids, skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            special = frozenset(self._special_in(table))
            tokens = [token for token in tokens if token not in special]
        separator = " " if spaces else ""
        return join_tokens(
            tokens, state._standing_alone(table), self.convert_tokens_to_string, separator
        )

    def _standing_alone(self, table: TokenTable) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but tokens of roles that are in
        the vocabulary.
        """
        kept: tuple[TokenTable, frozenset[str]] | None = self._derived.get("alone")
        is_own = is_replaced(self, SPECIAL_HOOKS)
        if kept is None or kept[0] is not table or is_own:
            size = self.vocab_size
            listed = list(map(str, table.roles[ADDITIONAL]))
            additional = {
                token
                for token, i in zip(listed, self._ids_of(table, listed), strict=True)
                if i >= size
            }
            alone = frozenset(
                table.added.encoder.flat().keys() - set(self._special_in(table)) | additional
            )
            kept = self._derived["alone"] = table, alone
        return kept[1]


def _int_id(token_id: Any) -> int:
    try:
        whole = int(token_id)
        if isinstance(token_id, (str, bytes)) or whole != token_id:
            raise ValueError
        return whole
    except (TypeError, ValueError):
        raise InputTypeError(
            f"an id is a whole number, not {kind_of(token_id)}", value=token_id
        ) from None
