"""Directories that `trietok train bpe` fills: what they hold, for errors about loading them as a WordPiece vocabulary.

In: a path that no tokenizer could be loaded from. Out: a sentence that says what the path holds and what reads it.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.errors import TrietokError
from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE, read_json_object
from trietok.text.vocab_txt import read_vocab_lines

BPE_VOCAB_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
RECIPE_LOG_FILE = "train.log"  # of the Chinese recipe, beside its vocab.txt
BPE_SPLITTING = ("WhitespaceSplit", "BertPreTokenizer")  # what makes words in a tokenizer.json of `Bpe.save`
_FILES = (VOCAB_FILE, BPE_VOCAB_FILE, MERGES_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE, RECIPE_LOG_FILE)


def other_kind(path: str) -> str | None:
    """A sentence: what a path without a WordPiece vocabulary holds, and what reads it; None if that is unknown.

    Args:
        path: a directory, or a file in one.
    """
    directory, file = (path, "") if os.path.isdir(path) else os.path.split(path)
    files = {name for name in _FILES if os.path.isfile(os.path.join(directory, name))}
    if not files >= {file} - {""}:
        return None
    if {BPE_VOCAB_FILE, MERGES_FILE} <= files and VOCAB_FILE not in files:
        return _bpe(directory, files)
    if {VOCAB_FILE, RECIPE_LOG_FILE} <= files and not files & {TOKENIZER_FILE, TOKENIZER_CONFIG_FILE}:
        return _recipe(directory)
    return None


def _bpe(directory: str, files: set[str]) -> str:
    what = f"{directory or '.'} holds a byte-pair encoding ({BPE_VOCAB_FILE} and {MERGES_FILE})"
    if TOKENIZER_FILE in files and _is_of_bpe_save(os.path.join(directory, TOKENIZER_FILE)):
        return (
            f"{what}, made by `trietok train bpe` or Bpe.save, and no WordPiece vocabulary; trietok.Bpe.from_directory "
            f"loads it, tokenizers' Tokenizer.from_file loads its {TOKENIZER_FILE}, and transformers' AutoTokenizer too"
        )
    return f"{what}, and no WordPiece vocabulary; transformers' AutoTokenizer loads such directories"


def _is_of_bpe_save(path: str) -> bool:
    try:
        content = read_json_object(path)
    except (TrietokError, ValueError, RecursionError):
        return False
    parts: list[Any] = [content.get("model"), content.get("pre_tokenizer")]
    model, splitting = (part if isinstance(part, dict) else {} for part in parts)
    return model.get("type") == "BPE" and splitting.get("type") in BPE_SPLITTING


def _recipe(directory: str) -> str | None:
    path = os.path.join(directory, VOCAB_FILE)
    try:
        if "[UNK]" in read_vocab_lines(path):
            return None
    except TrietokError:
        return None
    what = f"{directory or '.'} holds a byte-pair encoding of Chinese sentences ({VOCAB_FILE} and {RECIPE_LOG_FILE})"
    return (
        f"{what}, made by `trietok train bpe --recipe chinese`, and no WordPiece vocabulary; "
        f"trietok.training.Segmenter cuts sentences by trietok.load_vocab({path!r})"
    )
