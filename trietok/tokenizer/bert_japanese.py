"""`BertJapaneseTokenizer`: words by MeCab, subwords by WordPiece or characters.

In: a vocab.txt and the parameters of transformers' class of that name. Out: its ids; and the span
of each token in the original text, which transformers' class does not have.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError, NotSupportedError
from trietok.text.japanese import CharacterTokenizer, JapanesePipeline, MecabTokenizer
from trietok.text.pipeline import Pipeline, Settings
from trietok.text.unicode import normalize
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.text.words import BasicTokenizer
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.bert import BertTokenizer, given
from trietok.tokenizer.token_table import Token, TokenTable

AnalyzerOptions = Mapping[str, Any]


class BertJapaneseTokenizer(BertTokenizer):
    """The tokenizer of Japanese BERT models, with the parameters of transformers'
    `BertJapaneseTokenizer`.

    Args:
        vocab_file: the vocab.txt, one token a line.
        spm_file: the model of SentencePiece, which trietok does not have.
        do_lower_case: lower-case the text, and the words.
        do_word_tokenize: split into words; else a text is one word.
        do_subword_tokenize: split words into subwords; else each word is a token.
        word_tokenizer_type: `"basic"` or `"mecab"`.
        subword_tokenizer_type: `"wordpiece"` or `"character"`.
        never_split: words that are not lower-cased; with `"basic"` nor split at punctuation. They
            may still be split into subwords.
        unk_token, sep_token, pad_token, cls_token, mask_token: the tokens of the roles.
        mecab_kwargs: the options of the word tokenizer; see `MecabTokenizer`.
        sudachi_kwargs, jumanpp_kwargs: kept and saved, and not used: trietok does not have these
            word tokenizers.
        **kwargs: see `BertTokenizer`; `clean_up_tokenization_spaces` is False unless given.

    Raises:
        MissingDependencyError: the package of the word tokenizer, or its dictionary, is not
            installed.
        NotSupportedError: the words are those of Sudachi or Juman++, or the subwords those of
            SentencePiece.
        InputError: there is no word or subword tokenizer of that name. All else is as in
            `BertTokenizer`.

    >>> import pathlib, tempfile
    >>> vocab = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = vocab.write_text("[PAD]\\n[UNK]\\n[CLS]\\n[SEP]\\n[MASK]\\nデ\\nー\\nタ\\n", "utf-8")
    >>> tokenizer = BertJapaneseTokenizer(vocab, subword_tokenizer_type="character")
    >>> result = tokenizer("ﾃﾞｰﾀ", return_offsets_mapping=True)  # half-width, in four characters
    >>> tokenizer.convert_ids_to_tokens(result.input_ids)
    ['[CLS]', 'デ', 'ー', 'タ', '[SEP]']
    >>> result.offset_mapping
    [(0, 0), (0, 2), (2, 3), (3, 4), (0, 0)]
    """

    _stage_names = ("word_tokenizer", "subword_tokenizer")

    word_tokenizer: Any
    subword_tokenizer: Any

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        spm_file: str | os.PathLike[str] | None = None,
        do_lower_case: bool = False,
        do_word_tokenize: bool = True,
        do_subword_tokenize: bool = True,
        word_tokenizer_type: str = "basic",
        subword_tokenizer_type: str = "wordpiece",
        never_split: Iterable[str] | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        mecab_kwargs: AnalyzerOptions | None = None,
        sudachi_kwargs: AnalyzerOptions | None = None,
        jumanpp_kwargs: AnalyzerOptions | None = None,
        **kwargs: Any,
    ) -> None:
        kind = word_tokenizer_type if do_word_tokenize else "basic"
        _require_words(kind)
        _require_subwords(subword_tokenizer_type)
        vocabulary = self._read_first(vocab_file, unk_token, kwargs)
        self.do_word_tokenize = do_word_tokenize
        self.do_subword_tokenize = do_subword_tokenize
        self.word_tokenizer_type = word_tokenizer_type
        self.subword_tokenizer_type = subword_tokenizer_type
        self.lower_case = do_lower_case
        self.never_split = never_split = None if never_split is None else list(never_split)
        self.mecab_kwargs = copy.deepcopy(mecab_kwargs)
        self.sudachi_kwargs = copy.deepcopy(sudachi_kwargs)
        self.jumanpp_kwargs = copy.deepcopy(jumanpp_kwargs)
        if do_word_tokenize:
            self.word_tokenizer = self._new_word_tokenizer()
        subwords = (
            CharacterTokenizer if subword_tokenizer_type == "character" else WordpieceTokenizer
        )
        self.subword_tokenizer = subwords(vocabulary.token_to_id, unk_token=str(unk_token))
        # The parameters of BertTokenizer are not those of this class.
        PreTrainedTokenizer.__init__(
            self, **given(locals(), "vocab_file", "spm_file", "vocabulary", "kind", "subwords")
        )

    def _new_word_tokenizer(self) -> BasicTokenizer | MecabTokenizer:
        if self.word_tokenizer_type == "basic":
            return BasicTokenizer(self.lower_case, self.never_split, tokenize_chinese_chars=False)
        options = self.mecab_kwargs or {}
        if not isinstance(options, Mapping):
            raise InputTypeError(
                f"mecab_kwargs is a dict of options, not {options!r:.60}", value=options
            )
        try:
            return MecabTokenizer(
                do_lower_case=self.lower_case, never_split=self.never_split, **options
            )
        except TypeError as error:
            if "unexpected keyword" not in str(error):
                raise
            raise InputError(
                f"mecab_kwargs holds an option that the word tokenizer does not have: {error}"
            ) from None

    # ---- what other parts of trietok ask a BertTokenizer for -------------------------------------

    @property
    def do_lower_case(self) -> bool:
        """Whether texts are lower-cased."""
        return self.lower_case

    @property
    def do_basic_tokenize(self) -> bool:  # type: ignore[override]  # it follows
        """Another name of `do_word_tokenize`, which `BertTokenizer` has."""
        return self.do_word_tokenize

    if TYPE_CHECKING:
        basic_tokenizer: BasicTokenizer
        wordpiece_tokenizer: WordpieceTokenizer
    else:

        def __getattr__(self, name: str) -> Any:
            """`basic_tokenizer` and `wordpiece_tokenizer`, as `BertTokenizer` has them, if there
            are such stages.

            Raises:
                NotSupportedError: an analyzer makes the words; the subwords are not those of
                    WordPiece.
            """
            if name == "basic_tokenizer":
                word_tokenizer = self.__dict__.get("word_tokenizer")
                if isinstance(word_tokenizer, BasicTokenizer):
                    return word_tokenizer
                what = (
                    f"the words of this {type(self).__name__} are those of"
                    f" {type(word_tokenizer).__name__}"
                )
            elif name == "wordpiece_tokenizer":
                subword_tokenizer = self.__dict__.get("subword_tokenizer")
                if isinstance(subword_tokenizer, WordpieceTokenizer) and self.do_subword_tokenize:
                    return subword_tokenizer
                what = f"the subwords of this {type(self).__name__} are not those of WordPiece"
            else:
                return super().__getattr__(name)
            raise NotSupportedError(
                f"{what}: what needs BERT's {name} cannot be done with it", name=name
            )

    def stage_settings(self) -> dict[str, Any]:
        """The settings of the stages that ids depend on, for the fingerprint."""
        word, subword = self.__dict__.get("word_tokenizer"), self.subword_tokenizer
        settings: dict[str, Any] = {
            "do_word_tokenize": bool(self.do_word_tokenize),
            "do_subword_tokenize": bool(self.do_subword_tokenize),
            "subword_tokenizer": type(subword).__name__,
        }
        if isinstance(subword, CharacterTokenizer):
            settings["subword_tokenizer.normalize_text"] = bool(subword.normalize_text)
        if self.do_word_tokenize and isinstance(word, MecabTokenizer):
            options = {
                f"word_tokenizer.{name}": value for name, value in word.__getstate__().items()
            }
            # False in every fingerprint of MeCab's words; it was an option of other analyzers.
            options["word_tokenizer.trim_whitespace"] = False
            settings.update(options, word_tokenizer=type(word).__name__)
        return settings

    def _slow_tokenizer_json(self, path: str | os.PathLike[str]) -> str:
        raise _without_tokenizer_json(self)

    def _updated_tokenizer_json(self, path: str | os.PathLike[str]) -> tuple[str | None, bool]:
        raise _without_tokenizer_json(self)

    # ---- text to tokens --------------------------------------------------------------------------

    def _pipeline_of(self, table: TokenTable, *, live: bool, **how: Any) -> Pipeline | None:
        subword = self.__dict__.get("subword_tokenizer")
        word = self.__dict__.get("word_tokenizer") if self.do_word_tokenize else None
        if not isinstance(subword, (WordpieceTokenizer, CharacterTokenizer)):
            return None
        if not isinstance(word, (BasicTokenizer, MecabTokenizer, type(None))):
            return None
        if not live:
            word, subword = (
                None if word is None else word.snapshot(),
                self._snapshot_of_wordpiece(subword, table),
            )
        characters = subword if isinstance(subword, CharacterTokenizer) else None
        wordpiece = subword if isinstance(subword, WordpieceTokenizer) else None
        assert table.vocabulary is not None
        parts = (
            word if isinstance(word, BasicTokenizer) else None,
            wordpiece or WordpieceTokenizer(table.entries, subword.unk_token),
            table.vocabulary,
            table.added,
            table.special_tokens,
            # Words that are never split are still split into subwords: none is whole.
            Settings(
                unknown_id=table.entries.get(str(table.roles["unk_token"])),
                lowers=bool(self.lower_case),
            ),
        )
        if parts[0] is not None and wordpiece is not None and self.do_subword_tokenize:
            return Pipeline(*parts, live=live, **how)
        analyzer = word if isinstance(word, MecabTokenizer) else None
        splits = bool(self.do_subword_tokenize)
        return JapanesePipeline(
            *parts,
            analyzer=analyzer,
            characters=characters,
            splits=splits,
            live=live,
            **how,
        )

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        words = [text]
        if self.do_word_tokenize:
            words = self.word_tokenizer.tokenize(text, never_split=list(self._table.special_tokens))
        if not self.do_subword_tokenize:
            return words
        return [piece for word in words for piece in self.subword_tokenizer.tokenize(word)]

    def _never_matched(self, piece: str) -> str | None:
        if isinstance(self.subword_tokenizer, CharacterTokenizer):
            return None if len(piece) == 1 else "its subwords are characters"
        word_tokenizer = self.__dict__.get("word_tokenizer")
        if not isinstance(word_tokenizer, MecabTokenizer):
            return super()._never_matched(piece)
        # Which words an analyzer makes depends on the whole text.
        word = piece.removeprefix(self.subword_tokenizer.continuing_subword_prefix)
        if word.split() != [word]:
            return "it is empty or holds whitespace"
        normal = normalize("NFKC", word) if word_tokenizer.normalize_text else word
        normal = normal.lower() if self.lower_case else normal
        return None if normal == word else f"the tokenizer makes {normal!r} of it"


def _require_words(kind: str) -> None:
    """Raise for a kind of words that trietok does not have."""
    if kind in ("sudachi", "jumanpp"):
        raise NotSupportedError(
            f"word_tokenizer_type is {kind!r}, which trietok does not have; use 'mecab' or 'basic',"
            " or load it with transformers' BertJapaneseTokenizer",
            name=kind,
        )
    if kind not in ("basic", "mecab"):
        raise InputError(f"word_tokenizer_type is {kind!r:.60}; it is one of 'basic', 'mecab'")


def _require_subwords(kind: str) -> None:
    """Raise for a kind of subwords that trietok does not have."""
    if kind == "sentencepiece":
        raise NotSupportedError(
            "subword_tokenizer_type is 'sentencepiece', which trietok does not have: SentencePiece"
            " cuts by a model of its own (spiece.model), and not by a vocab.txt; transformers'"
            " BertJapaneseTokenizer reads it",
            name="sentencepiece",
        )
    if kind not in ("wordpiece", "character"):
        raise InputError(
            f"subword_tokenizer_type is {kind!r:.60}; it is 'wordpiece' or 'character'"
        )


def _without_tokenizer_json(tokenizer: Any) -> NotSupportedError:
    return NotSupportedError(
        f"a {type(tokenizer).__name__} has no tokenizer.json: no reader of that file makes its"
        " words; save it without",
        name="tokenizer_json",
    )
