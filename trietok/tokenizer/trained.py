"""The tokenizers of what trietok trains: the Chinese recipe's vocabulary, and WordPiece.

`ChineseBpeTokenizer` reads the vocab.txt that `trietok train bpe --recipe chinese` writes.
`save_tokenizer` writes a `Vocabulary` of `train_wordpiece` as the files of a `BertTokenizer`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from trietok.errors import FileFormatError, VocabularyError, errors_naming
from trietok.files.formats import VOCAB_FILE, write_vocab_lines
from trietok.inputs.post_processors import bare_pieces
from trietok.inputs.template import RowPiece
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.hooked import TEXT_HOOKS, HookedPipeline
from trietok.tokenizer.token_table import Token, TokenTable
from trietok.training.bpe import require_utf8
from trietok.training.chinese import UNKNOWN_TOKEN, Segmenter

_BERT_UNKNOWN = "[UNK]"


class _ChinesePipeline(HookedPipeline):
    """Makes the ids of a text without a str for each token, where no method is a user's."""

    def __init__(self, tokenizer: Any, table: TokenTable, *how: Any) -> None:
        super().__init__(tokenizer, table, *how)
        self._segmenter: Segmenter = tokenizer._segmenter
        ids, added = tokenizer._vocabulary.token_to_id, table.added.encoder
        has_ids = self._segmenter.unknown in ids and all(
            ids.get(token, added[token]) == added[token] for token in added
        )
        self._goes_by_tokens = self._splits_special or not has_ids

    def ids_in_python(self, text: str) -> list[int]:
        if (
            self._goes_by_tokens
            or not isinstance(text, str)
            or self._tokenizer.overrides(*TEXT_HOOKS)
        ):
            return super().ids_in_python(text)
        cleaned, segmented, added = (
            self._segmenter.cleaned,
            self._segmenter.ids_anywhere,
            self._table.added,
        )
        ids: list[int] = []
        for start, end, content in added.parts(text):
            if content is None:
                ids += segmented(cleaned(text[start:end]))
            else:
                ids.append(added.encoder[content])
        return ids


class ChineseBpeTokenizer(PreTrainedTokenizer):
    """Cuts Chinese by the vocabulary of the recipe, the longest token first.

    Whitespace and control characters of a text are left out. A character that no token covers is
    the unknown token. There are no roles but that one and those that are given, and no special
    tokens around texts. It has no offsets.

    Args:
        vocab_file: the vocab.txt, one token a line.
        unk_token: the unknown token. None: `<unk>`, as the recipe writes it, or `[UNK]` where the
            file has that.
        **kwargs: other roles, such as `pad_token="[PAD]"`, whose tokens are added if the file does
            not hold them; and what `PreTrainedTokenizer` takes.

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
    _hooked_pipeline_class = _ChinesePipeline

    def __init__(
        self, vocab_file: str | os.PathLike[str], unk_token: Token | None = None, **kwargs: Any
    ) -> None:
        if os.fspath(vocab_file).endswith(".json"):
            raise FileFormatError(
                f"{os.fspath(vocab_file)} is no {VOCAB_FILE}, of which a {type(self).__name__} is"
                " made; AutoTokenizer finds the class of a directory",
                path=vocab_file,
            )
        self._vocabulary = Vocabulary.from_file(vocab_file)
        if unk_token is None:
            has_other = UNKNOWN_TOKEN not in self._vocabulary and _BERT_UNKNOWN in self._vocabulary
            unk_token = _BERT_UNKNOWN if has_other else UNKNOWN_TOKEN
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

    def _input_pieces(self, table: TokenTable) -> tuple[tuple[RowPiece, ...], tuple[RowPiece, ...]]:
        return bare_pieces(False), bare_pieces(True)

    def _convert_token_to_id(self, token: str) -> int | None:
        ids = self._vocabulary.token_to_id
        return ids.get(token, ids.get(str(self.unk_token)))

    def _convert_id_to_token(self, index: int) -> str:
        return self._vocabulary.ids_to_tokens.get(index, str(self.unk_token))

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The tokens without spaces between."""
        return "".join(tokens)

    def save_vocabulary(
        self, save_directory: str | os.PathLike[str], filename_prefix: str | None = None
    ) -> tuple[str]:
        """Write vocab.txt.

        Raises:
            FileError: the file cannot be written.
        """
        path = os.path.join(
            save_directory, f"{filename_prefix}-{VOCAB_FILE}" if filename_prefix else VOCAB_FILE
        )
        write_vocab_lines(path, self._lines_of_file())
        return (path,)

    def _lines_of_file(self) -> list[str]:
        return [token or "" for token in self._vocabulary.tokens]


def save_tokenizer(
    vocabulary: Vocabulary, output: str | os.PathLike[str], **options: Any
) -> BertTokenizer:
    """Make a `BertTokenizer` of a vocabulary and save it to a directory, for trietok and
    transformers to load.

    Args:
        vocabulary: the tokens; continuing ones start with "##".
        output: the directory to write; made if need be. All files are written or none.
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
        VocabularyError: a token holds a line break or half of a surrogate pair, the unknown token
            is missing, or the vocabulary was trained with another prefix than "##".
    """
    prefix = getattr(vocabulary, "continuing_subword_prefix", BERT_PREFIX)
    if prefix != BERT_PREFIX:
        raise VocabularyError(
            f"the vocabulary was trained with continuing_subword_prefix={prefix!r}, but a BERT"
            f" tokenizer finds the rest of a word by {BERT_PREFIX!r} only, and most words would"
            f" become the unknown token; train it with {BERT_PREFIX!r}"
        )
    tokens = [token or "" for token in vocabulary.tokens]
    require_utf8(tokens)
    with tempfile.TemporaryDirectory() as folder, errors_naming("", instead_of=folder):
        path = Path(folder, VOCAB_FILE)
        write_vocab_lines(path, tokens)
        tokenizer = BertTokenizer(path, **options)
        tokenizer.save_pretrained(output)
    return BertTokenizer.from_pretrained(output)
