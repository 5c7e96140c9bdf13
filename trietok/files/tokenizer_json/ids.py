"""Whether the tokens and ids of a tokenizer.json agree, and are those the Rust tokenizer would give.

In: a `TokenizerJson`. Out: nothing, or an error with the token, both ids and the place in the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from trietok.errors import VocabularyError
from trietok.files.tokenizer_json.parts import TokenizerJson
from trietok.inputs.post_processors import PostProcessor
from trietok.text.vocab_txt import Path_


def check_ids(value: TokenizerJson, path: Path_) -> None:
    """Whether tokens and ids agree, and the Rust tokenizer would give every added token the id it has here.

    Raises:
        VocabularyError: they do not, or the unknown token is not in the vocabulary.
    """
    vocabulary = value.vocabulary
    if value.bpe is None and value.unk_token not in vocabulary:
        raise ids_error(
            path, f"model.unk_token is {value.unk_token!r:.60}, which is not in model.vocab; add it", value.unk_token
        )
    of_vocabulary = set(vocabulary.values()) if value.added_tokens else set()
    numbers = rust_ids(vocabulary, [token.content for token in value.added_tokens.values()])
    for place, ((token_id, token), number) in enumerate(zip(value.added_tokens.items(), numbers, strict=True)):
        where = f"added_tokens[{place}] ({token.content!r:.60})"
        if number != token_id:
            why = "that is its id in model.vocab"
            if token.content not in vocabulary:
                why = (
                    f"tokens that are not in model.vocab are numbered in their order from {len(vocabulary)}, the "
                    "number of its entries, whatever ids they have (ids without a token are not counted)"
                )
            raise ids_error(
                path,
                f"{where} has the id {token_id}, and the Rust tokenizer would give it {number}: {why}",
                token.content,
                expected_id=number,
                found_id=token_id,
            )
        if token_id in of_vocabulary and token.content not in vocabulary:
            other = next(entry for entry, entry_id in vocabulary.items() if entry_id == token_id)
            raise ids_error(
                path,
                f"{where} has the id {token_id}, which is that of {other!r:.60} in model.vocab; the Rust tokenizer "
                "numbers it so because model.vocab leaves ids without a token; give every id a token",
                token.content,
                found_id=token_id,
            )
    if value.post_processor is not None:
        _check_special_ids(value, value.post_processor, path)


def rust_ids(vocabulary: Mapping[str, int], contents: Iterable[str]) -> Iterator[int]:
    """The ids that tokenizers 0.22.2 gives to the added tokens of a file when it loads them.

    A token of the vocabulary keeps its id. The others are numbered in their order from the number of the vocabulary's
    entries on, whether or not a number is an entry's id already.

    >>> list(rust_ids({"[UNK]": 0, "a": 1, "b": 5}, ["<x>", "b", "<y>"]))
    [3, 5, 4]
    """
    next_id = len(vocabulary)
    for content in contents:
        own_id = vocabulary.get(content)
        if own_id is None:
            yield next_id
            next_id += 1
        else:
            yield own_id


def _check_special_ids(value: TokenizerJson, processor: PostProcessor, path: Path_) -> None:
    added = {token.content: token_id for token_id, token in value.added_tokens.items()}
    for where, token, token_id in processor.special_ids():
        known_id = added.get(token, value.vocabulary.get(token))
        if known_id is not None and known_id != token_id:
            raise ids_error(
                path,
                f"post_processor.{where} gives {token!r:.60} the id {token_id}; everywhere else it has {known_id}",
                token,
                expected_id=known_id,
                found_id=token_id,
            )
        if known_id is None and token_id not in value.added_tokens and token_id not in value.vocabulary.values():
            raise ids_error(
                path,
                f"post_processor.{where} gives {token!r:.60} the id {token_id}, which no token has",
                token,
                found_id=token_id,
            )


def ids_error(
    path: Path_, problem: str, token: str | None, *, expected_id: int | None = None, found_id: int | None = None
) -> VocabularyError:
    return VocabularyError(
        f"{os.fspath(path)}: {problem}", path=path, token=token, expected_id=expected_id, found_id=found_id
    )
