"""What a damaged directory may do: load consistently, or raise a short `TrietokError`.

In: a directory. Out: what is wrong with how it was loaded, in words; nothing if all is well.
"""

from __future__ import annotations

import logging
import pathlib
from collections.abc import Iterator
from typing import Any

import trietok

LONGEST_MESSAGE = 1_000
TEXTS = [
    "",
    "the unable [MASK] a!",
    "new york <ent> [SUBJ] [UNK] zzz 世界",
    "[PAD] [CLS] \0 x [SEP]",
]


def faults(folder: pathlib.Path) -> Iterator[str]:
    """Everything that is wrong with how a directory is loaded and checked; nothing goes to the
    log.
    """
    logger = logging.getLogger("trietok")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield from list(_faults(folder))
    finally:
        logger.setLevel(level)


def _faults(folder: pathlib.Path) -> Iterator[str]:
    loaded = {}
    for kind in (trietok.BertTokenizer, trietok.BertTokenizerFast):
        try:
            loaded[kind.__name__] = kind.from_pretrained(folder)
        except trietok.TrietokError as error:
            if len(str(error).replace(str(folder), "")) > LONGEST_MESSAGE:
                yield f"{kind.__name__}: a message of {len(str(error)):,} characters"
        except Exception as error:
            yield f"{kind.__name__}: {type(error).__name__}: {error!s:.200}"
    try:
        report = trietok.check(folder)
    except Exception as error:
        yield f"check: {type(error).__name__}: {error!s:.200}"
    else:
        if report.ok and "BertTokenizer" not in loaded:
            yield "check finds no error, and BertTokenizer does not load"
        for finding in report.findings:
            if len(finding.message) > LONGEST_MESSAGE:
                yield f"check: a message of {len(finding.message):,} characters"
    for name, tokenizer in loaded.items():
        for fault in inconsistencies(tokenizer):
            yield f"{name}: {fault}"


def inconsistencies(tokenizer: Any) -> Iterator[str]:
    """Where the tokens and ids of a tokenizer contradict each other, or a call raises what it
    should not.
    """
    try:
        vocabulary = tokenizer.get_vocab()
        # Of a token on two lines the later one encodes, and the earlier id is nobody's.
        tokens = list(vocabulary)
        ids, back = (
            tokenizer.convert_tokens_to_ids(tokens),
            tokenizer.convert_ids_to_tokens(list(vocabulary.values())),
        )
        for token, token_id, found in zip(tokens, ids, back, strict=True):
            if token_id != vocabulary[token]:
                yield f"{token!r:.60} has the id {vocabulary[token]}, and {token_id} by itself"
            if found != token:
                yield f"the id {vocabulary[token]} of {token!r:.60} is that of {found!r:.60}"
        for text in TEXTS:
            ids = tokenizer.encode(text)
            if not all(
                type(token_id) is int and 0 <= token_id <= tokenizer.max_id for token_id in ids
            ):
                yield f"{text!r} gives {ids!r:.100}"
            tokenizer.decode(ids)
            tokenizer(
                text,
                text,
                return_offsets_mapping=True,
                padding=True,
                truncation=True,
                max_length=12,
            )
    except trietok.TrietokError as error:
        if len(str(error)) > LONGEST_MESSAGE:
            yield f"a message of {len(str(error)):,} characters"
        if isinstance(error, (trietok.TokenIdError, trietok.VocabularyError)):
            yield f"a call raises {type(error).__name__}: {error!s:.200}"
    except Exception as error:
        yield f"a call raises {type(error).__name__}: {error!s:.200}"
