"""Google's original BERT tokenizer, under its own names.

In: str or bytes. Out: tokens and ids as `tokenization.py` of google-research/bert gives them. What
differs from transformers' `BertTokenizer`: bytes are taken as UTF-8 and bad ones ignored; each
vocabulary line is stripped on both sides; a word may have 200 characters, not 100; only control and
format characters (Cc, Cf) are deleted, where transformers deletes unassigned, private and surrogate
ones too; nothing is composed to NFC; there are no added tokens, so [CLS] in a text is split like
any other; and a token outside the vocabulary is an error, not an unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from trietok.disk import read_vocab_lines
from trietok.errors import InputTypeError, UnknownTokenError
from trietok.text import wordpiece, words
from trietok.text.normalizers import Step
from trietok.text.unicode import TranslationTable, is_control_google
from trietok.text.words import cleaning_step, cleaning_table

MAX_INPUT_CHARS_PER_WORD = 200

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
_CLEANING = cleaning_table(is_control_google, tokenize_chinese_chars=True)
_STEPS: tuple[Step, ...] = (cleaning_step(_CLEANING, tokenize_chinese_chars=True),)
_ONLY_CLEANING = cleaning_table(is_control_google, tokenize_chinese_chars=False)


def convert_to_unicode(text: str | bytes) -> str:
    """`text` as a str: bytes are UTF-8, and those that are not are left out.

    >>> convert_to_unicode(b"caf\\xc3\\xa9 \\xff!")
    'café !'

    Raises:
        InputTypeError: it is neither.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    raise InputTypeError(
        f"a text is str or bytes, not {type(text).__name__}: {text!r:.60}", value=text
    )


def load_vocab(vocab_file: str | os.PathLike[str]) -> dict[str, int]:
    """Read a vocab.txt: token → number of its line from 0, each line stripped on both sides.

    Raises:
        FileError, FileFormatError, VocabularyError: the file is missing, not UTF-8, or empty.
    """
    return {line.strip(): token_id for token_id, line in enumerate(read_vocab_lines(vocab_file))}


def convert_by_vocab(vocab: Mapping[_Item, _Value], items: Iterable[_Item]) -> list[_Value]:
    """Look every item up: tokens in a vocabulary, or ids in an inverted one.

    >>> convert_by_vocab({"un": 0, "##able": 1}, ["un", "##able"])
    [0, 1]

    Raises:
        UnknownTokenError: an item is not there. It is a `KeyError`.
    """
    values: list[_Value] = []
    for item in items:
        if item not in vocab:
            raise UnknownTokenError(
                f"{item!r} is not in the vocabulary of {len(vocab)} entries", item=item
            )
        values.append(vocab[item])
    return values


def convert_tokens_to_ids(vocab: Mapping[str, int], tokens: Iterable[str]) -> list[int]:
    """`convert_by_vocab` for tokens."""
    return convert_by_vocab(vocab, tokens)


def convert_ids_to_tokens(inv_vocab: Mapping[int, str], ids: Iterable[int]) -> list[str]:
    """`convert_by_vocab` for ids."""
    return convert_by_vocab(inv_vocab, ids)


class BasicTokenizer(words.BasicTokenizer):
    """Google's basic tokenizer: clean, Chinese characters apart, lower-case and strip accents,
    split punctuation.

    >>> BasicTokenizer().tokenize(b"H\\xc3\\xa9llo, w\\xc3\\xb6rld")
    ['hello', ',', 'world']
    """

    composes = False
    _tells_never_split = False

    def __init__(self, do_lower_case: bool = True) -> None:
        super().__init__(do_lower_case)

    @property
    def cleaning_table(self) -> TranslationTable:
        return _CLEANING

    @property
    def steps(self) -> tuple[Step, ...]:
        return _STEPS

    def tokenize(self, text: str | bytes, never_split: Any = None) -> list[str]:
        return super().tokenize(convert_to_unicode(text), never_split)

    def _clean_text(self, text: str) -> str:
        return text.translate(_ONLY_CLEANING)


class WordpieceTokenizer(wordpiece.WordpieceTokenizer):
    """Google's WordPiece: words of up to 200 characters.

    >>> WordpieceTokenizer({"un": 0, "##aff": 1, "##able": 2}).tokenize("unaffable")
    ['un', '##aff', '##able']
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = MAX_INPUT_CHARS_PER_WORD,
    ) -> None:
        super().__init__(vocab, unk_token, max_input_chars_per_word)

    def tokenize(self, text: str | bytes) -> list[str]:
        return super().tokenize(convert_to_unicode(text))


class FullTokenizer:
    """Both stages: a text to tokens, tokens to ids and back.

    Args:
        vocab_file: the vocab.txt.
        do_lower_case: lower-case the text and strip accents.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[UNK]\\nun \\n##aff\\n##able\\n")
    >>> tokenizer = FullTokenizer(path)
    >>> tokenizer.tokenize("Unaffable")
    ['un', '##aff', '##able']
    >>> tokenizer.convert_tokens_to_ids(["un", "##able"]), tokenizer.convert_ids_to_tokens([0, 2])
    ([1, 3], ['[UNK]', '##aff'])

    Raises:
        FileError, FileFormatError, VocabularyError: the file is missing, not UTF-8, or empty.
    """

    def __init__(self, vocab_file: str | os.PathLike[str], do_lower_case: bool = True) -> None:
        self.vocab = load_vocab(vocab_file)
        self.inv_vocab = {token_id: token for token, token_id in self.vocab.items()}
        self.basic_tokenizer = BasicTokenizer(do_lower_case)
        self.wordpiece_tokenizer = WordpieceTokenizer(self.vocab)

    def tokenize(self, text: str | bytes) -> list[str]:
        """Split a text into pieces; a word that the vocabulary cannot cover becomes [UNK]."""
        return self.wordpiece_tokenizer.tokenize(" ".join(self.basic_tokenizer.tokenize(text)))

    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens.

        Raises:
            UnknownTokenError: a token is not in the vocabulary.
        """
        return convert_by_vocab(self.vocab, tokens)

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids.

        Raises:
            UnknownTokenError: an id has no token.
        """
        return convert_by_vocab(self.inv_vocab, ids)
