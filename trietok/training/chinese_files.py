"""The files that the Chinese recipe writes: the vocabulary as text, the log, and a test file segmented by both rules.

In: a `ChineseBpe`, its log, sentences to segment. Out: vocab.txt, train.log, and with sentences result.txt and
result_left_to_right.txt.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from trietok.files.atomic import save_files
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    write_text,
    write_vocab_lines,
)
from trietok.files.new_directory import save_into
from trietok.files.other_kinds import RECIPE_LOG_FILE
from trietok.training.bpe_files import require_utf8
from trietok.training.chinese import ChineseBpe
from trietok.training.segmentation import Segmenter

LOG_FILE = RECIPE_LOG_FILE
RESULT_FILE = "result.txt"
LEFT_TO_RIGHT_FILE = "result_left_to_right.txt"


def save_chinese_bpe(
    bpe: ChineseBpe,
    directory: str | os.PathLike[str],
    *,
    log: Iterable[str] = (),
    sentences: Iterable[str] | None = None,
) -> list[Path]:
    """Write the files, all of them or none.

    Args:
        bpe: what was trained.
        directory: where to; made if need be.
        log: the lines that training logged.
        sentences: to segment; a line of the result files is a sentence, its tokens with spaces between them. Spaces
            and control characters of the sentence are left out. Their results are held in memory, and nothing is
            written before the last. None: no result files.

    Returns:
        The files' paths.

    Raises:
        FileError: something cannot be written; the old files are as they were.
        VocabularyError: a token holds a line break or half of a surrogate pair.
    """
    require_utf8(bpe.tokens)
    texts = {LOG_FILE: "".join(line + "\n" for line in log)}
    if sentences is not None:
        texts |= _results(Segmenter(bpe.tokens), sentences)

    def write(folder: Path) -> None:
        write_vocab_lines(folder / VOCAB_FILE, bpe.tokens)
        for name, text in texts.items():
            write_text(folder / name, text)

    # Result files that are not written anew were made with another vocabulary; the others are of another tokenizer.
    others = (TOKENIZER_FILE, TOKENIZER_CONFIG_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE)
    return save_into(directory, lambda folder: save_files(folder, write, [RESULT_FILE, LEFT_TO_RIGHT_FILE, *others]))


def _results(segmenter: Segmenter, sentences: Iterable[str]) -> dict[str, str]:
    """File name → its content."""
    rules = {RESULT_FILE: segmenter.longest_anywhere, LEFT_TO_RIGHT_FILE: segmenter.left_to_right}
    lines: dict[str, list[str]] = {name: [] for name in rules}
    for sentence in sentences:
        text = segmenter.cleaned(sentence)
        for name, rule in rules.items():
            lines[name].append(" ".join(rule(text)) + "\n")
    return {name: "".join(of_file) for name, of_file in lines.items()}
