"""tokenizer.json of an object: a `tokenizers.Tokenizer`, or what trietok has read already.

In: the object. Out: a `TokenizerJson`.
"""

from __future__ import annotations

import json
from typing import Any

from trietok.errors import InputTypeError
from trietok.files.tokenizer_json.format import tokenizer_json_from_object
from trietok.files.tokenizer_json.parts import TokenizerJson

_NAME = "tokenizer_object"  # what errors call it


def tokenizer_json_of_object(value: Any, *, bpe: bool = False) -> TokenizerJson:
    """What a `tokenizers.Tokenizer` would save to its tokenizer.json.

    Raises:
        InputTypeError: it is no such object.
        FileFormatError: it has a component that trietok does not have.
        VocabularyError: tokens and ids contradict each other.
    """
    if isinstance(value, TokenizerJson):
        return value
    if not callable(getattr(value, "to_str", None)):
        raise InputTypeError(
            f"tokenizer_object is a tokenizers.Tokenizer, not {type(value).__name__}; a path goes to tokenizer_file",
            value=value,
        )
    return tokenizer_json_from_object(json.loads(value.to_str()), _NAME, bpe=bpe)
