"""`ChineseBpeTokenizer`: the vocabulary of the Chinese recipe as a tokenizer.

In: the vocab.txt that `trietok train bpe --recipe chinese` writes. Out: ids; the longest token anywhere in a text comes
first, then what is left and right of it, as in the recipe's result.txt.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.errors import FileFormatError
from trietok.files.formats import VOCAB_FILE, write_vocab_lines
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.tokenizer.token_table import Token
from trietok.training.chinese import UNKNOWN
from trietok.training.segmentation import Segmenter

_BERT_UNKNOWN = "[UNK]"


class ChineseBpeTokenizer(PreTrainedTokenizer):
    """Cuts Chinese by the vocabulary of the recipe, the longest token first.

    Whitespace and control characters of a text are left out. A character that no token covers is the unknown token.
    There are no roles but that one and those that are given, and no special tokens around texts. It has no offsets.

    Args:
        vocab_file: the vocab.txt, one token a line.
        unk_token: the unknown token. None: `<unk>`, as the recipe writes it, or `[UNK]` where the file has that.
        **kwargs: other roles, such as `pad_token="[PAD]"`, whose tokens are added if the file does not hold them; and
            what `PreTrainedTokenizer` takes.

    Raises:
        FileError: the file is missing or cannot be read.
        FileFormatError: it is a tokenizer.json.
        VocabularyError: it is empty.

    >>> import tempfile
    >>> from trietok import AutoTokenizer, train_chinese_bpe
    >>> from trietok.training import save_chinese_bpe
    >>> folder = tempfile.mkdtemp()
    >>> _ = save_chinese_bpe(train_chinese_bpe(["处处闻啼鸟", "处处风雨声", "夜来风雨声"]), folder)
    >>> tokenizer = AutoTokenizer.from_pretrained(folder, pad_token="[PAD]")
    >>> tokenizer.tokenize("处 处 风雨声大"), tokenizer("处处大").input_ids, tokenizer.pad_token_id
    (['处处', '风雨声', '<unk>'], [1, 0], 8)
    >>> tokenizer.decode([1, 2])
    '处处风雨声'
    """

    vocab_files_names = {"vocab_file": VOCAB_FILE}

    def __init__(self, vocab_file: str | os.PathLike[str], unk_token: Token | None = None, **kwargs: Any) -> None:
        if os.fspath(vocab_file).endswith(".json"):
            raise FileFormatError(
                f"{os.fspath(vocab_file)} is no {VOCAB_FILE}, of which a {type(self).__name__} is made; AutoTokenizer "
                "finds the class of a directory",
                path=vocab_file,
            )
        self._vocabulary = Vocabulary.from_file(vocab_file)
        if unk_token is None:
            has_other = UNKNOWN not in self._vocabulary and _BERT_UNKNOWN in self._vocabulary
            unk_token = _BERT_UNKNOWN if has_other else UNKNOWN
        self._segmenter = Segmenter(self._vocabulary.token_to_id, str(unk_token))
        kwargs.setdefault("clean_up_tokenization_spaces", False)
        super().__init__(unk_token=unk_token, **kwargs)

    @property
    def vocab_size(self) -> int:
        return len(self._vocabulary)

    def get_vocab(self) -> dict[str, int]:
        return {**self._vocabulary.token_to_id, **self.added_tokens_encoder}

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return self._segmenter.longest_anywhere(self._segmenter.cleaned(text))

    def _convert_token_to_id(self, token: str) -> int | None:
        ids = self._vocabulary.token_to_id
        return ids.get(token, ids.get(str(self.unk_token)))

    def _convert_id_to_token(self, index: int) -> str:
        return self._vocabulary.ids_to_tokens.get(index, str(self.unk_token))

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The tokens without spaces between."""
        return "".join(tokens)

    def save_vocabulary(self, save_directory: str | os.PathLike[str], filename_prefix: str | None = None) -> tuple[str]:
        """Write vocab.txt.

        Raises:
            FileError: the file cannot be written.
        """
        path = os.path.join(save_directory, f"{filename_prefix}-{VOCAB_FILE}" if filename_prefix else VOCAB_FILE)
        write_vocab_lines(path, [token or "" for token in self._vocabulary.tokens])
        return (path,)
