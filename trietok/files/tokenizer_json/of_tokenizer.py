"""tokenizer.json of a tokenizer of the fast profile: the added tokens that it gives, and writing it.

In: a path, or a tokenizer. Out: a `TokenizerJson`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from trietok.errors import VocabularyError
from trietok.files.formats import TOKENIZER_CONFIG_FILE, VOCAB_FILE
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
    """The current tokenizer.json of a tokenizer of the fast profile, with truncation and padding as they were read."""
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
        truncation=tokenizer.truncation_in_file,
        padding=tokenizer.padding_in_file and tokenizer.padding_in_file.with_id_of(tokenizer.get_vocab()),
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
            are tokens behind it; the message says what to do.
    """
    advice = (
        "; or save it with save_pretrained(DIR, legacy_format=True), --slow in a command: slow classes and trietok's "
        f"fast ones read these ids from a {VOCAB_FILE}; transformers' fast ones number the added tokens anew"
    )
    write_value(path, tokenizer_json_of(tokenizer), tokenizer, advice)


def write_value(path: Path_, value: TokenizerJson, tokenizer: Any, advice: str = "") -> None:
    """`write_tokenizer_json`, with an error that says where the ids have a gap, how to close it, and what else to do.

    Raises:
        VocabularyError: as `write_tokenizer_json`.
    """
    try:
        write_tokenizer_json(path, value)
    except VocabularyError as error:
        raise VocabularyError(
            f"{error}. {_gap(tokenizer)}{advice}",
            path=error.path,
            line_number=error.line_number,
            token=error.token,
            expected_id=error.expected_id,
            found_id=error.found_id,
        ) from None


def _gap(tokenizer: Any) -> str:
    """The first id that the vocabulary or the added tokens skip, and the way to have none skipped."""
    repair = "load what `trietok check DIR --fix -o OUT{}` makes of the directory that holds it, in which {}"
    lines: dict[str, int] = {}
    for line, token in enumerate(tokenizer.vocabulary.tokens, start=1):
        if token is None:
            return f"Line {line} of the vocabulary has no token: {repair.format(' --renumber', 'ids may move')}"
        if lines.setdefault(token, line) != line:
            what = f"Lines {lines[token]} and {line} of the vocabulary are " + (
                f"both {token!r:.60}" if token else "blank"
            )
            return f"{what}: {repair.format('', 'no id moves')}"
    ids = set(tokenizer.get_vocab().values())
    missing = next((i for i in range(len(ids)) if i not in ids), None)
    if missing is None:
        return "Correct what is named"
    return f"No token has the id {missing}: remove_tokens([], compact=True) moves those behind it up, and says which"
