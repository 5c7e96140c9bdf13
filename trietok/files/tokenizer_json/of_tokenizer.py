"""tokenizer.json of a tokenizer of the fast profile: the added tokens that it gives, and writing it.

In: a path, or a tokenizer. Out: a `TokenizerJson`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from trietok.files.formats import TOKENIZER_CONFIG_FILE
from trietok.files.tokenizer_json.format import write_tokenizer_json
from trietok.files.tokenizer_json.ids import ids_error
from trietok.files.tokenizer_json.parts import BertNormalizer, TokenizerJson
from trietok.text.added_token import AddedToken
from trietok.text.vocab_txt import Path_


def added_tokens_of(file: TokenizerJson, decoder: Mapping[int, Any], path: Path_) -> dict[int, AddedToken]:
    """The added tokens of a tokenizer.json, then those of tokenizer_config.json, whose flags override the former.

    Raises:
        VocabularyError: the two give a token two ids, or an id two tokens.
    """
    tokens = dict(file.added_tokens)
    ids = {token.content: token_id for token_id, token in tokens.items()}
    for token_id, given in sorted(decoder.items()):
        token = AddedToken.of(given)
        there = tokens.get(token_id, token)
        known_id = ids.get(token.content, token_id)
        if there.content != token.content or known_id != token_id:
            other = f"{there.content!r:.60} the id {token_id}" if known_id == token_id else f"it the id {known_id}"
            raise ids_error(
                path,
                f"{TOKENIZER_CONFIG_FILE} gives {token.content!r:.60} the id {token_id}, and {os.fspath(path)} gives "
                f"{other}; correct the file that is wrong",
                token.content,
                expected_id=known_id,
                found_id=token_id,
            )
        tokens[token_id] = token
    return tokens


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """The current tokenizer.json of a tokenizer of the fast profile, without truncation and padding of calls."""
    basic, decoder = tokenizer.basic_tokenizer, tokenizer.added_tokens_decoder
    normalizer = BertNormalizer(
        clean_text=bool(basic.clean_text),
        handle_chinese_chars=bool(basic.tokenize_chinese_chars),
        strip_accents=basic.strip_accents,
        lowercase=bool(basic.do_lower_case),
    )
    bpe = getattr(tokenizer, "bpe_tokenizer", None)
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        normalizer=normalizer if bpe is None or basic.do_split_on_punc else None,
        post_processor=tokenizer.post_processor,
        decoder=tokenizer.decoder,
        added_tokens={token_id: decoder[token_id] for token_id in tokenizer.order_in_file()},
        composes=basic.composes_at_last,
        splits_punctuation=bpe is None or basic.do_split_on_punc,
        **(_of_wordpiece(tokenizer.wordpiece_tokenizer) if bpe is None else {"bpe": bpe.parts}),
    )


def _of_wordpiece(wordpiece: Any) -> dict[str, Any]:
    names = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
    return {name: getattr(wordpiece, name) for name in names}


def write(path: Path_, tokenizer: Any) -> None:
    """Write the tokenizer.json of a tokenizer of the fast profile.

    Raises:
        VocabularyError: such a file cannot keep its ids: the vocabulary has holes or a token on two lines, and there
            are tokens behind it. `save_pretrained(..., legacy_format=True)` leaves the file out.
    """
    write_tokenizer_json(path, tokenizer_json_of(tokenizer))
