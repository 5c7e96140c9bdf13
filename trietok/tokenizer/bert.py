"""`BertTokenizer`: basic tokenization and WordPiece on a vocab.txt, behind transformers' interface.

In: a vocab.txt and transformers' parameters. Out: exactly the ids of transformers 4.57.6, but for
the departures in `docs/hf_compatibility.md`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trietok.errors import (
    FileError,
    InputError,
    InputTypeError,
    TrietokError,
    VocabularyError,
)
from trietok.files.formats import RECORD, VOCAB_FILE
from trietok.files.json_files import read_json_object
from trietok.files.tokenizer_json import read_tokenizer_json, truncation_and_padding_of
from trietok.files.tokenizer_json_writer import slow_text, updated_text
from trietok.inputs.template import BERT, RowPiece, Template, input_ids
from trietok.text.added_search import SlowAddedTokens
from trietok.text.aligned import Ids
from trietok.text.cache import CacheInfo
from trietok.text.changes import is_replaced
from trietok.text.pipeline import Pipeline, Settings
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX, WordpieceTokenizer
from trietok.text.words import BasicTokenizer
from trietok.tokenizer.hooks import ROLE_HOOKS
from trietok.tokenizer.moment import frozen
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.tokenizer.token_table import SPECIAL_HOOKS, Token, TokenTable
from trietok.tokenizer.wordpiece_vocabulary import ID_HOOKS, WordpieceVocabulary, filling

if TYPE_CHECKING:
    from trietok.files.tokenizer_json_content import JsonPadding as FilePadding
    from trietok.files.tokenizer_json_content import JsonTruncation as FileTruncation

logger = logging.getLogger("trietok")


def given(arguments: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    """What `locals()` holds in a constructor that hands its arguments on, as keywords; `kwargs`
    override the others.
    """
    named = {
        name: value
        for name, value in arguments.items()
        if name not in ("self", "__class__", "kwargs", *left_out)
    }
    return {**named, **arguments["kwargs"]}


class BertTokenizer(WordpieceVocabulary, PreTrainedTokenizer):
    """BERT's tokenizer, with the parameters of transformers' `BertTokenizer`.

    Args:
        vocab_file: the vocab.txt, one token a line.
        do_lower_case: lower-case the text.
        do_basic_tokenize: split into words before WordPiece; else only at whitespace.
        never_split: words that are left as they are.
        unk_token, sep_token, pad_token, cls_token, mask_token: the tokens of the roles.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        cache_limit: the most bytes that the caches may take, 0 for no cache. It is not saved.
        **kwargs: `model_max_length`, `padding_side` and the others that every tokenizer takes; see
            `PreTrainedTokenizer`.

    Raises:
        FileError: the vocabulary file is missing or cannot be read.
        FileFormatError: it is not UTF-8.
        VocabularyError: it is empty, or lacks the unknown token.

    >>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
    >>> tokenizer("The people").input_ids == tokenizer.convert_tokens_to_ids(
    ...     ["[CLS]", "the", "people", "[SEP]"]
    ... )
    True
    """

    vocab_files_names = {"vocab_file": VOCAB_FILE}
    # What the tokenizer.json beside which it was loaded tells the Rust tokenizer to do; no call
    # heeds it.
    truncation_in_file: FileTruncation | None = None
    padding_in_file: FilePadding | None = None
    wordpiece_tokenizer: WordpieceTokenizer
    _has_stages = True

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        vocabulary = self._read_first(vocab_file, unk_token, kwargs)
        never_split = None if never_split is None else list(never_split)
        self.do_basic_tokenize = do_basic_tokenize
        if do_basic_tokenize:
            self.basic_tokenizer = self._new_basic_tokenizer(
                do_lower_case=do_lower_case,
                never_split=never_split,
                tokenize_chinese_chars=tokenize_chinese_chars,
                strip_accents=strip_accents,
            )
        self.wordpiece_tokenizer = self._new_wordpiece_tokenizer(vocabulary, str(unk_token))
        super().__init__(**given(locals(), "vocab_file", "vocabulary"))

    def _read_first(
        self, vocab_file: str | os.PathLike[str], unk_token: Token, kwargs: dict[str, Any]
    ) -> Vocabulary:
        """What is done before all else: take `cache_limit`, and read the vocabulary."""
        if "cache_limit" in kwargs:
            self.cache_limit = kwargs.pop("cache_limit")
        added = kwargs.get("added_tokens_decoder")
        self._first_vocabulary = self.read_vocabulary(vocab_file, kwargs.get(RECORD), added)
        _require_unknown(self._first_vocabulary, str(unk_token), vocab_file, added or {})
        return self._first_vocabulary

    def _new_basic_tokenizer(self, **options: Any) -> BasicTokenizer:
        return BasicTokenizer(**options)

    def _new_wordpiece_tokenizer(self, vocabulary: Vocabulary, unk_token: str) -> Any:
        return WordpieceTokenizer(vocabulary.token_to_id, unk_token=unk_token)

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "cache_limit" and (type(value) is not int or value < 0):
                raise InputError(f"cache_limit is a whole number of bytes from 0, not {value!r}")
            super().__setattr__(name, value)

    def _pipeline_of(self, table: TokenTable, *, live: bool, **how: Any) -> Pipeline | None:
        basic, wordpiece = (
            self.__dict__.get("basic_tokenizer"),
            self.__dict__.get("wordpiece_tokenizer"),
        )
        if wordpiece is None:
            return None
        if not getattr(self, "do_basic_tokenize", True):
            basic = None
        if not live:
            basic = None if basic is None else basic.snapshot()
            wordpiece = self._snapshot_of_wordpiece(wordpiece, table)
        elif not isinstance(basic, (BasicTokenizer, type(None))) or not isinstance(
            wordpiece, WordpieceTokenizer
        ):
            return None
        assert table.vocabulary is not None
        settings = Settings(
            unknown_id=table.entries.get(str(table.roles["unk_token"])),
            lowers=bool(getattr(self, "do_lower_case", False)),
            whole=frozenset() if basic is None else frozenset(basic.never_split),
        )
        return Pipeline(
            basic,
            wordpiece,
            table.vocabulary,
            table.added,
            table.special_tokens,
            settings,
            live=live,
            **how,
        )

    def _snapshot_of_wordpiece(self, wordpiece: Any, table: TokenTable) -> Any:
        """WordPiece with the vocabulary of `table`; another thread may have replaced the
        vocabulary, or be about to.
        """
        snapshot = wordpiece.snapshot()
        if any(
            snapshot.vocab is entries for entries in (self.vocab, *self._derived.get("entries", ()))
        ):
            snapshot.vocab = table.entries
        return snapshot

    def _take_lengths_of(self, path: str, content: Mapping[str, Any] | None) -> None:
        """Keep what a tokenizer.json beside the vocabulary says of truncation and padding, for the
        files of a save; `content` is its object, if it was read before.
        """
        try:
            content = read_json_object(path) if content is None else content
            self.truncation_in_file, self.padding_in_file = truncation_and_padding_of(content, path)
        except TrietokError as error:  # a slow tokenizer needs nothing else of this file
            logger.warning("%s; a save will not have its truncation and padding", error)

    def _input_pieces(self, table: TokenTable) -> tuple[tuple[RowPiece, ...], tuple[RowPiece, ...]]:
        """The pieces of a row of one text, and of two, in a call."""
        return self._template_pieces(table)

    def _template_pieces(
        self, table: TokenTable
    ) -> tuple[tuple[RowPiece, ...], tuple[RowPiece, ...]]:
        """The pieces of `template` for one text, and for two."""

        def token_of(role: str) -> str | None:
            token = table.roles[role] if role in table.roles else getattr(self, role)
            return None if token is None else str(token)

        parts = (*self.template.single, *self.template.pair)
        roles = dict.fromkeys(f"{part.name}_token" for part in parts if part.kind == "role")
        tokens = {role: token_of(role) for role in roles}
        named = (
            *filter(None, tokens.values()),
            *(part.name for part in parts if part.kind not in ("role", "sequence")),
        )
        ids = {token: self._ids_of_roles(table, token) for token in dict.fromkeys(named)}
        pieces = self.template.pieces
        return pieces(False, tokens.get, ids.get), pieces(True, tokens.get, ids.get)

    @staticmethod
    def read_vocabulary(
        vocab_file: str | os.PathLike[str],
        record: Mapping[str, Any] | None,
        added: Mapping[int, Token] | None,
    ) -> Vocabulary:
        """The vocabulary of a file; a line that was written to fill an id without an entry becomes
        a hole again.

        So does a blank line whose id an added token has: else the empty token and the added one
        would have one id.
        """
        if not isinstance(vocab_file, (str, os.PathLike)):
            raise InputTypeError(f"vocab_file is a path, not {vocab_file!r:.60}", value=vocab_file)
        if not os.path.isfile(vocab_file):
            what = "is a directory" if os.path.isdir(vocab_file) else "is not there"
            raise FileError(
                f"the vocabulary file {os.fspath(vocab_file)} {what}; from_pretrained takes a"
                " directory or a name",
                path=vocab_file,
            )
        if os.fspath(vocab_file).endswith(".json"):
            return Vocabulary.from_mapping(read_tokenizer_json(vocab_file).vocabulary)
        vocabulary = Vocabulary.from_file(vocab_file)
        holes = set((record or {}).get("vocab_holes", ()))
        lines = vocabulary.tokens
        holes.update(
            token_id for token_id in added or () if token_id < len(lines) and lines[token_id] == ""
        )
        if not holes:
            return vocabulary
        fillings = {token_id: {"", filling(token_id)} for token_id in holes}
        for token_id, token in (added or {}).items():
            if token_id in holes:
                fillings[token_id].add(str(token))
        return Vocabulary(
            None if line in fillings.get(token_id, ()) else line
            for token_id, line in enumerate(lines)
        )

    # ---- the caches ------------------------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """What the tokenizer has cached of the texts it has encoded.

        Nothing is cached where texts go through a stage that a user has replaced.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = tokenizer.encode("the people and the world")
        >>> tokenizer.cache_info().chunks, tokenizer.cache_info().limit
        (4, 64000000)
        """
        return self._now().encoder.info(self.cache_limit)

    def cache_clear(self) -> None:
        """Clear the caches; no result depends on them."""
        self._now().encoder.forget()

    # ---- looking at texts ------------------------------------------------------------------------

    def pieces(self, text: str) -> tuple[str, list[tuple[str, bool]]]:
        """The text as it is after lower-casing, and its pieces, each with whether it is an added
        token.

        >>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.pieces("The [SEP] end")
        ('the [SEP] end', [('the ', False), ('[SEP]', True), (' end', False)])
        """
        state = frozen(self)
        table: TokenTable = state._table
        lowered = text
        if isinstance(table.added, SlowAddedTokens) and getattr(state, "do_lower_case", False):
            lowered = table.added.lower_between(text, table.special_tokens)
        if state.split_special_tokens:
            return lowered, [(lowered, False)] if lowered else []
        parts = table.added.parts(lowered)
        return lowered, [(lowered[start:end], content is not None) for start, end, content in parts]

    # ---- text to tokens to text ------------------------------------------------------------------

    @property
    def do_lower_case(self) -> bool:
        """Whether texts are lower-cased; without basic tokenization there is no such attribute, as
        in transformers.
        """
        return self.basic_tokenizer.do_lower_case

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        if not self.do_basic_tokenize:
            return self.wordpiece_tokenizer.tokenize(text)
        special = (
            self._special_in(self._table)
            if is_replaced(self, SPECIAL_HOOKS)
            else self._table.special_set
        )
        words = self.basic_tokenizer.tokenize(text, None if split_special_tokens else special)
        never_split = self.basic_tokenizer.never_split
        return [
            piece
            for word in words
            for piece in (
                [word] if word in never_split else self.wordpiece_tokenizer.tokenize(word)
            )
        ]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text: pieces that continue a word without a space.

        >>> BertTokenizer.from_pretrained("trietok-en").convert_tokens_to_string(
        ...     ["un", "##afford", "##able", "!"]
        ... )
        'unaffordable !'
        """
        wordpiece = getattr(self, "wordpiece_tokenizer", None)  # subwords of Japanese may be others
        prefix = getattr(wordpiece, "continuing_subword_prefix", BERT_PREFIX)
        text = " ".join(tokens)
        return (text.replace(f" {prefix}", "") if prefix else text).strip()

    def _slow_tokenizer_json(self, path: str | os.PathLike[str]) -> str:
        return slow_text(self, path)

    def _updated_tokenizer_json(self, path: str | os.PathLike[str]) -> tuple[str | None, bool]:
        return updated_text(self, path)

    # ---- the template ----------------------------------------------------------------------------

    @property
    def template(self) -> Template:
        """Which special tokens go around one sequence and around two, with their token type ids."""
        return BERT

    def build_inputs_with_special_tokens(
        self, token_ids_0: Ids, token_ids_1: Ids | None = None
    ) -> Ids:
        """One sequence or a pair with the special tokens of `template`: [CLS] A [SEP], or [CLS] A
        [SEP] B [SEP].
        """
        state, pair = frozen(self, ROLE_HOOKS), token_ids_1 is not None
        if is_replaced(self, _TEMPLATE_HOOKS):
            ids: Ids = state.template.input_ids(state, token_ids_0, token_ids_1)
            return ids
        pieces = state._derived.get("pieces")
        if pieces is None:
            pieces = state._derived["pieces"] = state._template_pieces(state._table)
        return input_ids(pieces[pair], token_ids_0, token_ids_1)

    def get_special_tokens_mask(
        self,
        token_ids_0: Ids,
        token_ids_1: Ids | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 where `template` puts a special token, 0 for the ids between.

        With `already_has_special_tokens`, `token_ids_0` is looked through for ids of special
        tokens.
        """
        if already_has_special_tokens:
            return super().get_special_tokens_mask(
                token_ids_0, token_ids_1, already_has_special_tokens=True
            )
        return self.template.special_tokens_mask(token_ids_0, token_ids_1)


_TEMPLATE_HOOKS = ("template", "convert_tokens_to_ids", *ID_HOOKS, *ROLE_HOOKS)


def _require_unknown(
    vocabulary: Vocabulary, unknown: str, vocab_file: Any, added: Mapping[int, Token]
) -> None:
    """Raise a VocabularyError if neither the vocabulary nor an added token is the unknown token."""
    if unknown in vocabulary or unknown in map(str, added.values()):
        return
    lines = (
        (number, line)
        for number, line in enumerate(vocabulary.tokens, start=1)
        if line and unknown in line
    )
    number, line = next(lines, (0, ""))
    hint = f" (line {number} is {line!r:.60}, and should be the token alone)" if number else ""
    hint = (
        hint.replace("and should be the token alone", "it has a byte-order mark")
        if line[:1] == "\ufeff"
        else hint
    )
    raise VocabularyError(
        f"{os.fspath(vocab_file)} does not hold the unknown token {unknown!r}{hint}; add it as a"
        " line, or name the token that plays its part with unk_token=...",
        path=vocab_file,
        token=unknown,
    )


def require_wordpiece(tokenizer: object, what: str) -> BertTokenizer:
    """The tokenizer, if it is a `BertTokenizer` or a relative that cuts words by WordPiece.

    >>> from trietok import BertTokenizer
    >>> require_wordpiece(BertTokenizer.from_pretrained("trietok-en"), "this").vocab_size
    8000
    """
    if not isinstance(tokenizer, BertTokenizer):
        raise InputTypeError(
            f"{what} takes a BertTokenizer, not {type(tokenizer).__name__}", value=tokenizer
        )
    if not hasattr(tokenizer, "wordpiece_tokenizer"):
        raise InputTypeError(
            f"{what} takes a BertTokenizer, not this {type(tokenizer).__name__}, which does not"
            " split words by WordPiece; add tokens with add_tokens or `trietok add --way added`",
            value=tokenizer,
        )
    return tokenizer
