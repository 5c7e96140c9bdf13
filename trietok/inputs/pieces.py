"""`Piece`: one text or one special token of a row. Every kind of template is converted to a tuple of pieces.

In: a template, and a tokenizer's ids. Out: the pieces of a row, in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from trietok.errors import SpecialTokenError


class Piece(NamedTuple):
    """One piece of a template, ready to use: a whole text, or one special token.

    Attributes:
        type_id: the token type id of all its tokens.
        sequence: 0 for the first text, 1 for the second; None for a special token.
        token: the special token; None for a text.
        token_id: its id; None for a text, and for a special token that the tokenizer does not have.
        has_type_id: whether the token type ids of a row have one for it. BERT's leave out a `[CLS]` that is not set.
        role: the role whose token it is; None for a text, and for a token that the template names by its content.
        is_in_mask: whether the special tokens mask has a place for it. Splinter's leaves out `[QUESTION] .`.
    """

    type_id: int
    sequence: int | None = None
    token: str | None = None
    token_id: int | None = None
    has_type_id: bool = True
    is_in_mask: bool = True
    role: str | None = None


def require_ids(pieces: Iterable[Piece]) -> None:
    """Raise where a special token of the template has no id.

    Raises:
        SpecialTokenError: its role has no token, or a token that the tokenizer does not have.
    """
    for piece in pieces:
        if piece.sequence is None and piece.token_id is None:
            what = f"{piece.role} is None" if piece.token is None else f"the token {piece.token!r} has no id"
            raise SpecialTokenError(
                f"the template puts a special token around the text that the tokenizer does not have: {what}; give the "
                "role a token, or pass add_special_tokens=False",
                role=piece.role,
            )
