"""From a trained vocabulary to a tokenizer directory.

In: a `Vocabulary`, as `train_wordpiece` returns it. Out: a `BertTokenizer` and its files.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from trietok.errors import VocabularyError, told_as
from trietok.files.formats import VOCAB_FILE, write_vocab_lines
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.bert import BertTokenizer
from trietok.training.bpe_files import require_utf8

_PREFIX = "##"  # the only one that BERT's tokenizers know


def save_tokenizer(vocabulary: Vocabulary, directory: str | os.PathLike[str], **options: Any) -> BertTokenizer:
    """Make a `BertTokenizer` of a vocabulary and save it to a directory, for trietok and transformers to load.

    Args:
        vocabulary: the tokens; continuing ones start with "##".
        directory: where to; made if need be. All files are written or none.
        **options: of `BertTokenizer`, such as `do_lower_case`, which should be as in training.

    >>> import tempfile
    >>> from trietok.training import train_wordpiece
    >>> directory = tempfile.mkdtemp()
    >>> vocabulary = train_wordpiece(["low lower lowest"], vocab_size=22)
    >>> save_tokenizer(vocabulary, directory).tokenize("Lower!")
    ['lowe', '##r', '[UNK]']
    >>> BertTokenizer.from_pretrained(directory).tokenize("Lower!")
    ['lowe', '##r', '[UNK]']

    Raises:
        FileError: something cannot be written; the old files are as they were.
        VocabularyError: a token holds a line break or half of a surrogate pair, the unknown token is
            missing, or the vocabulary was trained with another prefix than "##".
    """
    prefix = getattr(vocabulary, "continuing_subword_prefix", _PREFIX)
    if prefix != _PREFIX:
        raise VocabularyError(
            f"the vocabulary was trained with continuing_subword_prefix={prefix!r}, but a BERT tokenizer finds the "
            f"rest of a word by {_PREFIX!r} only, and most words would become the unknown token; train it with "
            f"{_PREFIX!r}"
        )
    tokens = [token or "" for token in vocabulary.tokens]
    require_utf8(tokens)
    with tempfile.TemporaryDirectory() as folder, told_as(folder, ""):
        path = Path(folder, VOCAB_FILE)
        write_vocab_lines(path, tokens)
        tokenizer = BertTokenizer(path, **options)
        tokenizer.save_pretrained(directory)
    return BertTokenizer.from_pretrained(directory)
