"""Directories that `trietok train bpe` fills: which they are, and errors about loading them as a WordPiece vocabulary.

In: a path. Out: what made its files; or a sentence that says what the path holds and what reads it.
"""

from __future__ import annotations

import os
from typing import Literal

from trietok.errors import TrietokError
from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE, read_json_object
from trietok.files.settings import RECIPE_CLASS
from trietok.text.vocab_txt import read_vocab_lines

BPE_VOCAB_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
RECIPE_LOG_FILE = "train.log"  # of the Chinese recipe, beside its vocab.txt
BPE_SPLITTING = ("WhitespaceSplit", "BertPreTokenizer")  # what makes words in a tokenizer.json of `Bpe.save`
_FILES = (VOCAB_FILE, BPE_VOCAB_FILE, MERGES_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE, RECIPE_LOG_FILE)


def trained_kind(path: str) -> Literal["bpe", "recipe"] | None:
    """Whether a directory, or a file in one, was made by `trietok train bpe`, with the Chinese recipe or without."""
    directory, files = _files_at(path)
    if TOKENIZER_FILE in files and VOCAB_FILE not in files:
        return "bpe" if _is_of_bpe_save(os.path.join(directory, TOKENIZER_FILE)) else None
    return "recipe" if _is_of_recipe(directory, files) else None


def _files_at(path: str) -> tuple[str, set[str]]:
    """A directory and its files; none where the path is another file."""
    directory, file = (path, "") if os.path.isdir(path) else os.path.split(path)
    files = {name for name in _FILES if os.path.isfile(os.path.join(directory, name))}
    return directory, files if files >= {file} - {""} else set()


def other_kind(path: str) -> str | None:
    """A sentence: what a path without a WordPiece vocabulary holds, and what reads it; None if that is unknown.

    Args:
        path: a directory, or a file in one.
    """
    directory, files = _files_at(path)
    if {BPE_VOCAB_FILE, MERGES_FILE} <= files and VOCAB_FILE not in files:
        return _bpe(directory, files)
    return _recipe(directory) if _is_of_recipe(directory, files) else None


def _bpe(directory: str, files: set[str]) -> str:
    what = f"{directory or '.'} holds a byte-pair encoding ({BPE_VOCAB_FILE} and {MERGES_FILE})"
    if TOKENIZER_FILE in files and _is_of_bpe_save(os.path.join(directory, TOKENIZER_FILE)):
        return (
            f"{what}, made by `trietok train bpe` or Bpe.save, and no WordPiece vocabulary; trietok.AutoTokenizer "
            f"loads it, and transformers' AutoTokenizer too; tokenizers' Tokenizer.from_file loads its {TOKENIZER_FILE}"
        )
    return f"{what}, and no WordPiece vocabulary; transformers' AutoTokenizer loads such directories"


def has_other_model(directory: str) -> bool:
    """Whether a directory has a tokenizer.json of another model than WordPiece, or one that cannot be read."""
    path = os.path.join(directory, TOKENIZER_FILE)
    return os.path.isfile(path) and _type_in(path, "model") != "WordPiece"


def _is_of_bpe_save(path: str) -> bool:
    return _type_in(path, "model") == "BPE" and _type_in(path, "pre_tokenizer") in BPE_SPLITTING


def _type_in(path: str, part: str) -> str | None:
    """The type of a part of a tokenizer.json; None where it has none that can be read."""
    try:
        found = read_json_object(path).get(part)
    except (TrietokError, ValueError, RecursionError):
        return None
    return str(found.get("type")) if isinstance(found, dict) else None


def _is_of_recipe(directory: str, files: set[str]) -> bool:
    if VOCAB_FILE not in files:
        return False
    try:
        if TOKENIZER_CONFIG_FILE in files:  # saved by the class that loads it
            config = read_json_object(os.path.join(directory, TOKENIZER_CONFIG_FILE))
            return config.get("tokenizer_class") == RECIPE_CLASS
        if RECIPE_LOG_FILE not in files or TOKENIZER_FILE in files:
            return False
        return "[UNK]" not in read_vocab_lines(os.path.join(directory, VOCAB_FILE))
    except (TrietokError, ValueError, RecursionError):
        return False


def _recipe(directory: str) -> str:
    return (
        f"{directory or '.'} holds a byte-pair encoding of Chinese sentences ({VOCAB_FILE}), "
        "made by `trietok train bpe --recipe chinese`, and no WordPiece vocabulary; trietok.AutoTokenizer loads it"
    )
