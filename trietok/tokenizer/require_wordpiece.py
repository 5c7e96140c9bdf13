"""`require_wordpiece`: for what works on WordPiece vocabularies only.

In: a tokenizer. Out: the same, or an error.
"""

from __future__ import annotations

from trietok.errors import InputTypeError
from trietok.tokenizer.bert import BertTokenizer


def require_wordpiece(tokenizer: object, what: str) -> BertTokenizer:
    """The tokenizer, if it is a `BertTokenizer` or a relative that cuts words by WordPiece.

    Args:
        tokenizer: any object.
        what: what needs it, for the error.

    Raises:
        InputTypeError: it is another object, or a byte-pair encoding.

    >>> from trietok import BertTokenizer
    >>> require_wordpiece(BertTokenizer.from_pretrained("trietok-en"), "this").vocab_size
    8000
    """
    if not isinstance(tokenizer, BertTokenizer):
        raise InputTypeError(f"{what} takes a BertTokenizer, not {type(tokenizer).__name__}", value=tokenizer)
    if not hasattr(tokenizer, "wordpiece_tokenizer"):
        raise InputTypeError(
            f"{what} takes a BertTokenizer, not a {type(tokenizer).__name__}: this one is a byte-pair encoding, whose "
            "vocabulary goes with its merges and stays as it is; tokens can be added beside it, by add_tokens or "
            "`trietok add --as added`",
            value=tokenizer,
        )
    return tokenizer
