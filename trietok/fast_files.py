"""tokenizer.json of a tokenizer of the Rust profile: what it is made of, and what is written of it.

In: a path, or a tokenizer. Out: a `TokenizerJson`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.added_token import AddedToken
from trietok.tokenizer_json import read_tokenizer_json
from trietok.tokenizer_parts import TokenizerJson
from trietok.vocab_files import Path_


def read(path: Path_) -> TokenizerJson:
    """What a tokenizer.json says."""
    return read_tokenizer_json(path)


def added_tokens_of(file: TokenizerJson, decoder: Mapping[int, Any]) -> dict[int, AddedToken]:
    """The added tokens of the file, then those of tokenizer_config.json, which come before them where both have one."""
    tokens = dict(file.added_tokens)
    tokens.update((token_id, AddedToken.of(token)) for token_id, token in sorted(decoder.items()))
    return tokens
