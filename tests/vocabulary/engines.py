"""Fake packages of other tokenizers, so that the tests need none of them."""

from __future__ import annotations

import pathlib
import textwrap

# In place of the C++ tokenizer. It gives trietok's ids, but for what `answer` says of a text.
FLASH = """
__version__ = "9.9"

class Encoding:
    def __init__(self, ids):
        self.input_ids = [ids]

class BertTokenizerFlash:
    def __init__(self, vocab_file, /, do_lower_case=True, tokenize_chinese_chars=True):
        import trietok
        self.tokenizer = trietok.BertTokenizer(
            vocab_file, do_lower_case=do_lower_case, tokenize_chinese_chars=tokenize_chinese_chars
        )

    def __call__(self, text, max_length, padding):
        return Encoding(answer(text, self.tokenizer.encode(text)))

"""
SAME = "def answer(text, ids): return ids"


def write_package(directory: pathlib.Path, name: str, code: str) -> None:
    """Write a package of one file."""
    package = directory / name
    package.mkdir()
    (package / "__init__.py").write_text(textwrap.dedent(code), encoding="utf-8")


def write_flash(directory: pathlib.Path, answer: str = SAME) -> None:
    """Write a `flash_tokenizer`; `answer` defines the function of that name, from a text and
    trietok's ids to ids.
    """
    write_package(directory, "flash_tokenizer", FLASH + textwrap.dedent(answer))
