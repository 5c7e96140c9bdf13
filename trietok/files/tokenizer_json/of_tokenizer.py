"""tokenizer.json of a tokenizer of the Rust profile: what it is made of, and what is written of it.

In: a path, or a tokenizer. Out: a `TokenizerJson`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.files.formats import Path_
from trietok.files.tokenizer_json.format import write_tokenizer_json
from trietok.files.tokenizer_json.parts import BertNormalizer, TokenizerJson
from trietok.text.added_token import AddedToken


def added_tokens_of(file: TokenizerJson, decoder: Mapping[int, Any]) -> dict[int, AddedToken]:
    """The added tokens of the file, then those of tokenizer_config.json, which come before them where both have one."""
    tokens = dict(file.added_tokens)
    tokens.update((token_id, AddedToken.of(token)) for token_id, token in sorted(decoder.items()))
    return tokens


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """What a tokenizer.json says of a tokenizer of the Rust profile, as it is now. A call's settings stay out of it."""
    basic, wordpiece = tokenizer.basic_tokenizer, tokenizer.wordpiece_tokenizer
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        unk_token=wordpiece.unk_token,
        continuing_subword_prefix=wordpiece.continuing_subword_prefix,
        max_input_chars_per_word=wordpiece.max_input_chars_per_word,
        normalizer=BertNormalizer(
            clean_text=bool(basic.clean_text),
            handle_chinese_chars=bool(basic.tokenize_chinese_chars),
            strip_accents=basic.strip_accents,
            lowercase=bool(basic.do_lower_case),
        ),
        post_processor=tokenizer.post_processor,
        decoder=tokenizer.decoder,
        added_tokens=dict(tokenizer.added_tokens_decoder),
    )


def write(path: Path_, tokenizer: Any) -> None:
    """Write the tokenizer.json of a tokenizer of the Rust profile.

    Raises:
        VocabularyError: such a file cannot keep its ids: the vocabulary has holes or a token on two lines, and there
            are tokens behind it. `save_pretrained(..., legacy_format=True)` leaves the file out.
    """
    write_tokenizer_json(path, tokenizer_json_of(tokenizer))
