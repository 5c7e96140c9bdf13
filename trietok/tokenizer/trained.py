"""The tokenizers of what trietok trains: byte-pair encodings, the Chinese recipe's vocabulary, and
WordPiece.

In: a tokenizer.json whose model is BPE; the vocab.txt that `trietok train bpe --recipe chinese`
writes; or a `Vocabulary` of `train_wordpiece`. Out: `PreTrainedTokenizerFast`, which gives exactly
what tokenizers 0.22.2 gives for that file behind transformers 4.57.6's class of that name, but for
the departures in `docs/hf_compatibility.md`; `ChineseBpeTokenizer`; `save_tokenizer`, which writes
the files of a `BertTokenizer`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from trietok.errors import FileFormatError, NotSupportedError, VocabularyError, told_as
from trietok.files.formats import (
    BPE_VOCAB_FILE,
    GENERIC_FAST,
    MERGES_FILE,
    RECORD,
    TOKENIZER_FILE,
    VOCAB_FILE,
    write_text,
    write_vocab_lines,
)
from trietok.files.json_place import NO_NORMALIZER
from trietok.files.tokenizer_json_content import BpeDecoder, TokenizerJson
from trietok.inputs.post_processors import bare_pieces
from trietok.inputs.template import RowPiece
from trietok.later import Any, NoReturn
from trietok.text.basic_tokenizer import RustWordSplitter
from trietok.text.bpe import BpeTokenizer
from trietok.text.changes import is_replaced
from trietok.text.stages import BpeStages, Stages
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.bert_fast import RustProfile
from trietok.tokenizer.hooks import TEXT_HOOKS, HookEncoder
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.tokenizer.token_table import Token, TokenTable
from trietok.training.bpe import require_utf8
from trietok.training.chinese import UNKNOWN_TOKEN, Segmenter

_OF_BERT = (
    "do_lower_case",
    "tokenize_chinese_chars",
    "strip_accents",
    "do_basic_tokenize",
    "never_split",
)
_ROLES = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class PreTrainedTokenizerFast(RustProfile):
    """A byte-pair encoding, from a tokenizer.json.

    It is called, extended and saved as `BertTokenizerFast` is. There are no roles but those that
    are given, or that tokenizer_config.json names, and no special tokens around texts but those of
    the file.

    Args:
        tokenizer_file: the tokenizer.json. `AutoTokenizer.from_pretrained` finds it in a directory.
        tokenizer_object: a `tokenizers.Tokenizer` instead.
        **kwargs: roles, such as `pad_token="<pad>"`, and what every tokenizer takes; see
            `PreTrainedTokenizer`.

    Raises:
        FileError: the file is missing or cannot be read.
        FileFormatError: it is damaged, or has a component that trietok does not have.
        VocabularyError: tokens and ids contradict each other.

    >>> import tempfile
    >>> from trietok import AutoTokenizer, train_bpe
    >>> folder = tempfile.mkdtemp()
    >>> _ = train_bpe(["low lower lowest"], vocab_size=10, unk_token="<unk>").save(
    ...     folder, do_lower_case=True
    ... )
    >>> tokenizer = AutoTokenizer.from_pretrained(folder)
    >>> tokenizer.tokenize("Lower?"), tokenizer("low").input_ids
    (['low', 'e', 'r', '<unk>'], [9])
    """

    vocab_files_names = {"tokenizer_file": TOKENIZER_FILE}
    slow_tokenizer_class: Any = None
    _stage_names = ("basic_tokenizer", "bpe_tokenizer")
    _overriding = ()
    _is_bpe = True
    bpe_tokenizer: BpeTokenizer

    def __init__(
        self,
        tokenizer_file: str | os.PathLike[str] | None = None,
        tokenizer_object: Any = None,
        **kwargs: Any,
    ) -> None:
        for name in _OF_BERT:  # of a tokenizer_config.json; the tokenizer.json alone decides
            kwargs.pop(name, None)
        if tokenizer_object is not None:
            kwargs["tokenizer_object"] = tokenizer_object
        super().__init__(None, tokenizer_file, **{**dict.fromkeys(_ROLES), **kwargs})
        for name in (*_OF_BERT, *(role for role in _ROLES if self.init_kwargs.get(role) is None)):
            self.init_kwargs.pop(name, None)

    # ---- its parts -------------------------------------------------------------------------------

    @property
    def _read(self) -> TokenizerJson:
        assert self._file is not None  # while the tokenizer is made
        return self._file

    def _read_first(
        self, vocab_file: str | os.PathLike[str], unk_token: Token, kwargs: dict[str, Any]
    ) -> Vocabulary:
        if self._read.bpe is None:
            raise FileFormatError(
                f"{os.fspath(vocab_file)}: the model is WordPiece; BertTokenizerFast loads it",
                path=vocab_file,
            )
        if "cache_limit" in kwargs:
            self.cache_limit = kwargs.pop("cache_limit")
        self._first_vocabulary = self.read_vocabulary(vocab_file, kwargs.get(RECORD), None)
        return self._first_vocabulary

    def _new_basic_tokenizer(self, **options: Any) -> RustWordSplitter:
        file = self._read
        said = file.normalizer or NO_NORMALIZER
        switches = (said.lowercase, said.handle_chinese_chars, said.strip_accents, said.clean_text)
        self._asked = {}
        return RustWordSplitter(
            *switches, composes_at_last=file.composes, splits_punctuation=file.splits_punctuation
        )

    def _new_wordpiece_tokenizer(self, vocabulary: Vocabulary, unk_token: str) -> BpeTokenizer:
        assert self._read.bpe is not None  # `_read_first` has checked it
        return BpeTokenizer(self._read.bpe._replace(vocab=vocabulary.token_to_id))

    def _stages_of(self, table: TokenTable, live: bool) -> Stages | None:
        basic, bpe = self._basic(), self.bpe_tokenizer
        if not live:
            basic, bpe = basic.snapshot(), bpe.snapshot()
        of_table = table.entries, table.added, table.special_tokens
        return BpeStages(basic, bpe, *of_table, unknown_id=None)  # type: ignore[arg-type]

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        return [
            token
            for word in self.basic_tokenizer.tokenize(text)
            for token in self.bpe_tokenizer.pieces_of(word)
        ]

    def stage_settings(self) -> dict[str, Any]:
        """What decides the ids besides the vocabulary."""
        parts = self.bpe_tokenizer.parts
        return {
            "bpe.merges": [list(pair) for pair in parts.merges],
            "bpe.unk_token": parts.unk_token,
            "bpe.continuing_subword_prefix": parts.continuing_subword_prefix,
            "bpe.end_of_word_suffix": parts.end_of_word_suffix,
            "composes_at_last": self.basic_tokenizer.composes_at_last,
        }

    # ---- what a byte-pair encoding does not have -------------------------------------------------

    def _set_vocabulary(self, tokens: Any) -> NoReturn:
        raise NotSupportedError(
            "the vocabulary of a byte-pair encoding goes with its merges and stays as it is;"
            " add_tokens adds tokens beside it",
            name="vocab",
        )

    def check_wordpiece(self, piece: str) -> NoReturn:
        self._set_vocabulary([piece])

    def train_new_from_iterator(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not for byte-pair encodings.

        Raises:
            NotSupportedError: always; `trietok.train_bpe` trains one.
        """
        raise NotSupportedError(
            "trietok.train_bpe trains byte-pair encodings", name="train_new_from_iterator"
        )

    @property
    def can_save_slow_tokenizer(self) -> bool:
        """Whether the files of a slow profile can be saved: there is none."""
        return False

    def class_to_save(self) -> dict[str, Any]:
        return {"tokenizer_class": GENERIC_FAST}

    # ---- files and texts -------------------------------------------------------------------------

    def save_vocabulary(
        self,
        save_directory: str | os.PathLike[str],
        filename_prefix: str | None = None,
        *,
        include_added: bool = False,
    ) -> tuple[str, ...]:
        """Write vocab.json and merges.txt, as `Bpe.save` does; all that loading needs is in
        tokenizer.json.

        Raises:
            FileError: a file cannot be written.
        """
        from trietok.training.bpe import merges_text, vocab_text  # not needed to encode

        prefix = f"{filename_prefix}-" if filename_prefix else ""
        paths = [
            os.path.join(save_directory, prefix + name) for name in (BPE_VOCAB_FILE, MERGES_FILE)
        ]
        parts = self.bpe_tokenizer.parts
        for path, text in zip(
            paths, (vocab_text(parts.vocab), merges_text(parts.merges)), strict=True
        ):
            write_text(path, text)
        return tuple(paths)

    def _decoded(self, tokens: list[str]) -> str:
        if not isinstance(self.decoder, BpeDecoder):
            return super()._decoded(tokens)
        suffix, last = self.decoder.suffix, len(tokens) - 1
        return "".join(
            token.replace(suffix, " " if place != last else "")
            for place, token in enumerate(tokens)
        )


_BERT_UNKNOWN = "[UNK]"


class _ChineseEncoder(HookEncoder):
    """Makes the ids of a text without a str for each token, where no method is a user's."""

    def __init__(self, tokenizer: Any, table: TokenTable, *how: Any) -> None:
        super().__init__(tokenizer, table, *how)
        self._segmenter: Segmenter = tokenizer._segmenter
        ids, added = tokenizer._vocabulary.token_to_id, table.added.encoder
        has_ids = self._segmenter.unknown in ids and all(
            ids.get(token, added[token]) == added[token] for token in added
        )
        self._goes_by_tokens = self._as_text or not has_ids

    def ids(self, text: str) -> list[int]:
        if (
            self._goes_by_tokens
            or not isinstance(text, str)
            or is_replaced(self._tokenizer, TEXT_HOOKS)
        ):
            return super().ids(text)
        cleaned, segmented, added = (
            self._segmenter.cleaned,
            self._segmenter.ids_anywhere,
            self._table.added,
        )
        ids: list[int] = []
        for piece, is_token in added.pieces(text):
            ids += [added.encoder[piece]] if is_token else segmented(cleaned(piece))
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
    _hook_encoder_class = _ChineseEncoder

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
        write_vocab_lines(path, [token or "" for token in self._vocabulary.tokens])
        return (path,)


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
    with tempfile.TemporaryDirectory() as folder, told_as(folder, ""):
        path = Path(folder, VOCAB_FILE)
        write_vocab_lines(path, tokens)
        tokenizer = BertTokenizer(path, **options)
        tokenizer.save_pretrained(output)
    return BertTokenizer.from_pretrained(output)
