"""A tokenizer like another one, with a WordPiece vocabulary trained on new texts.

In: a tokenizer of the fast profile, texts, a size. Out: a tokenizer of its class, with its
normalization, template and special tokens. The steps are those of `train_new_from_iterator` in
transformers 4.57.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trietok.errors import InputTypeError, SpecialTokenError, kind_of
from trietok.files.formats import ADDITIONAL, RECORD
from trietok.files.tokenizer_json import tokenizer_json_from_object
from trietok.files.tokenizer_json_writer import tokenizer_json_object, tokenizer_json_of
from trietok.text.added_tokens import AddedToken
from trietok.tokenizer.token_table import Token
from trietok.training.word_counts import require_texts
from trietok.training.wordpiece import train_wordpiece

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
# Arguments that belong to the old vocabulary.
_OF_FILES = (
    "vocab_file",
    "tokenizer_file",
    "added_tokens_decoder",
    "from_slow",
    "max_embedding_rows",
    RECORD,
)


def train_new(
    tokenizer: Any,
    texts: Iterable[str | Iterable[str]],
    vocab_size: int,
    new_special_tokens: Iterable[Token] | None,
    special_tokens_map: Mapping[str, str] | None,
    options: Mapping[str, Any],
) -> Any:
    """See `RustProfile.train_new_from_iterator`."""
    texts = require_texts(texts, "text_iterator", "text")
    renamed = dict(special_tokens_map or {})
    new = [AddedToken.of(token, special=True) for token in new_special_tokens or ()]
    whole = tokenizer_json_object(tokenizer_json_of(tokenizer))
    special = [
        AddedToken(
            renamed.get(each["content"], each["content"]),
            **{flag: each[flag] for flag in _FLAGS},
            special=True,
        )
        for each in whole["added_tokens"]
        if each["special"]
    ]
    special = list({token.content: token for token in (*special, *new)}.values())
    model = whole["model"]
    model["unk_token"] = renamed.get(model["unk_token"], model["unk_token"])
    vocabulary = train_wordpiece(
        _each(texts),
        vocab_size=vocab_size,
        special_tokens=[token.content for token in special],
        words=tokenizer.basic_tokenizer.snapshot().tokenize,
        **{name: value for name, value in options.items() if name != "show_progress"},
    )
    model["vocab"] = dict(vocabulary.token_to_id)
    model["continuing_subword_prefix"] = vocabulary.continuing_subword_prefix
    ids = model["vocab"]
    whole["added_tokens"] = [
        {
            "id": ids[token.content],
            "content": token.content,
            **{flag: getattr(token, flag) for flag in _FLAGS},
            "special": True,
        }
        for token in special
    ]
    whole["added_tokens"].sort(key=lambda each: each["id"])
    _renumber(whole["post_processor"], renamed, ids)
    padding = whole["padding"]
    if padding is not None:
        padding["pad_token"] = renamed.get(padding["pad_token"], padding["pad_token"])
    file = tokenizer_json_from_object(whole, "the trained tokenizer")
    settings = {
        name: value for name, value in tokenizer.init_kwargs.items() if name not in _OF_FILES
    }
    for role, token in tokenizer.special_tokens_map_extended.items():
        if role != ADDITIONAL:
            settings[role] = _renamed(token, renamed)
    additional = [*tokenizer.additional_special_tokens, *new]
    if additional:
        settings[ADDITIONAL] = additional
    return type(tokenizer)(tokenizer_object=file, **settings)


def _each(texts: Iterable[str | Iterable[str]]) -> Iterator[str]:
    """The texts of an iterable of texts, or of batches of texts."""
    for item in texts:
        if isinstance(item, str):
            yield item
        elif isinstance(item, Iterable):
            yield from item
        else:
            raise InputTypeError(
                f"text_iterator gives texts or lists of texts, not {kind_of(item)}", value=item
            )


def _renamed(token: Token, renamed: Mapping[str, str]) -> Token:
    content = renamed.get(str(token), str(token))
    return content if isinstance(token, str) else token.replace(content=content, special=True)


def _renumber(
    post_processor: dict[str, Any] | None, renamed: Mapping[str, str], ids: Mapping[str, int]
) -> None:
    """Give the special tokens around texts their new names and ids."""

    def id_of(token: str) -> int:
        if token not in ids:
            raise SpecialTokenError(
                f"the token {token!r} stands around texts, and the new vocabulary does not have it;"
                " make it special before, with add_special_tokens"
            )
        return ids[token]

    if post_processor is None:
        return
    for entry in post_processor.get("special_tokens", {}).values():
        entry["tokens"] = [renamed.get(token, token) for token in entry["tokens"]]
        entry["ids"] = [id_of(token) for token in entry["tokens"]]
    for name in ("cls", "sep"):
        if name in post_processor:
            token = renamed.get(post_processor[name][0], post_processor[name][0])
            post_processor[name] = [token, id_of(token)]
