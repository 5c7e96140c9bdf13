"""`BertTokenizer`: basic tokenization and WordPiece on a vocab.txt, behind transformers' interface.

In: a vocab.txt and transformers' parameters. Out: exactly the ids of transformers 4.57.6, but for
the departures in `docs/hf_compatibility.md`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trietok.errors import (
    FileError,
    InputError,
    InputTypeError,
    TokenIdError,
    TrietokError,
    VocabularyError,
)
from trietok.files.formats import RECORD, VOCAB_FILE, write_vocab_lines
from trietok.files.json_files import read_json_object
from trietok.files.tokenizer_json import read_tokenizer_json, truncation_and_padding_of
from trietok.files.tokenizer_json_writer import slow_text, updated_text
from trietok.inputs.template import BERT, RowPiece, Template, input_ids
from trietok.text.added_search import SlowAddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.aligned import Ids
from trietok.text.cache import CacheInfo
from trietok.text.pipeline import Pipeline, Settings, require_text
from trietok.text.unicode import lower_each
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX, WordpieceTokenizer
from trietok.text.words import BasicTokenizer
from trietok.tokenizer import vocabulary_edits as editing
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.hooked import ROLE_HOOKS
from trietok.tokenizer.token_table import SPECIAL_HOOKS, Token, TokenTable

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


# Methods from a token to its id and back, which a subclass, an instance or a patch may replace.
ID_HOOKS = ("_convert_token_to_id", "_convert_token_to_id_with_added_voc", "vocab")


TOKEN_HOOKS = ("_convert_id_to_token", "_token_of", "vocab", "ids_to_tokens", "max_id")


def known_tokens_of(
    table: TokenTable, ids: Any, left_out: Collection[int] = ()
) -> list[str] | None:
    """The tokens of a list of ids; None where not all are ints that have one."""
    if list(map(type, ids)).count(int) != len(ids):
        return None
    kept = [token_id for token_id in ids if token_id not in left_out] if left_out else ids
    try:
        return [*map(table.known_tokens.__getitem__, kept)]
    except KeyError:  # an unknown token: its id is that of `unk_token`, or there is an error
        return None


class BertTokenizer(PreTrainedTokenizer):
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
    basic_tokenizer: BasicTokenizer
    wordpiece_tokenizer: WordpieceTokenizer
    do_basic_tokenize: bool
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
            whole=frozenset((basic and basic.never_split) or ()),
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
        """WordPiece with the vocabulary of `table`, unless the user has given it another one."""
        snapshot = wordpiece.snapshot()
        own = self.vocab, *self.__dict__.get("_own_entries", ())
        if any(snapshot.vocab is entries for entries in own):
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
        fillings = {token_id: {"", editing.filling(token_id)} for token_id in holes}
        for token_id, token in (added or {}).items():
            if token_id in holes:
                fillings[token_id].add(str(token))
        return Vocabulary(
            None if line in fillings.get(token_id, ()) else line
            for token_id, line in enumerate(lines)
        )

    # ---- looking things up -----------------------------------------------------------------------

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary without the added tokens."""
        vocabulary = self._table.vocabulary
        assert vocabulary is not None  # it began with one
        return vocabulary

    @property
    def vocab(self) -> dict[str, int]:
        """The vocabulary without the added tokens: token → id; read-only. A subclass may set it to
        another dict.
        """
        return self.vocabulary.token_to_id

    @vocab.setter
    def vocab(self, token_to_id: Mapping[str, int]) -> None:
        tokens = Vocabulary.from_mapping(token_to_id).tokens
        with self._tokens.changing():
            editing.set_vocabulary(self, tokens)

    @property
    def ids_to_tokens(self) -> dict[int, str]:
        """`vocab` the other way round; read-only."""
        return self.vocabulary.ids_to_tokens

    @property
    def vocab_size(self) -> int:
        vocabulary = self._table.vocabulary
        assert vocabulary is not None  # it began with one
        return len(vocabulary.token_to_id)

    @property
    def max_id(self) -> int:
        return self._table.max_id

    def __len__(self) -> int:
        return len(self.get_vocab()) if self._has_own_vocabulary() else self._table.size

    def get_vocab(self) -> dict[str, int]:
        table = self._table
        is_own = self.overrides("added_tokens_encoder")
        return {
            **table.entries,
            **(self.added_tokens_encoder if is_own else table.added.ids_by_content),
        }

    def _known_ids(self) -> Mapping[str, int]:
        return self.get_vocab() if self._has_own_vocabulary() else self.vocab

    def _has_own_vocabulary(self) -> bool:
        """Whether a user's class says what the vocabulary is; the fast classes of transformers do
        not ask it.
        """
        return self.profile == "slow" and self.overrides("get_vocab", "added_tokens_encoder")

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        if self.overrides(*ID_HOOKS):
            return super()._ids_of(table, tokens)
        added, entries = table.added.encoder.get, table.entries.get
        ids = []
        for token in tokens:
            token_id = added(token)
            if token_id is None and token is not None:
                token_id = entries(token)
                if token_id is None:
                    require_text(token)
                    token_id = self._unknown_id(table)
            ids.append(token_id)
        return ids

    def _unknown_id(self, table: TokenTable) -> int | None:
        """The id for a token that the tokenizer does not have."""
        return table.entries.get(str(table.roles["unk_token"]))

    def _convert_token_to_id(self, token: str) -> int | None:
        table = self._table
        token_id = table.entries.get(token)
        return self._unknown_id(table) if token_id is None else token_id

    def _tokens_of(
        self, table: TokenTable, ids: Iterable[Any], left_out: Collection[int]
    ) -> list[str]:
        known = None
        if type(ids) in (list, tuple) and not self.overrides(*TOKEN_HOOKS):
            known = known_tokens_of(table, ids, left_out)
        return super()._tokens_of(table, ids, left_out) if known is None else known

    def _convert_id_to_token(self, index: int) -> str:
        table, vocabulary = self._table, self.vocabulary
        if not 0 <= index <= table.max_id:
            shown = index if abs(index) < 10**20 else f"of {index.bit_length()} bits"
            raise TokenIdError(
                f"id {shown} is outside the vocabulary, whose ids run from 0 to {table.max_id};"
                " remove ids that a loss ignores (-100) before decoding",
                token_id=index,
                max_id=table.max_id,
            )
        token = vocabulary.tokens[index] if index <= vocabulary.max_id else None
        # For a token on two lines the earlier id gives the unknown token, as in transformers: no
        # text gives that id.
        known = token is not None and vocabulary.token_to_id[token] == index
        return token if known and token is not None else str(self.unk_token)

    # ---- saving it -------------------------------------------------------------------------------

    def _restore(self, record: Mapping[str, Any]) -> None:
        super()._restore(record)
        self._tokens.table = self._table.replace(assigned=dict(record.get("assigned_unused", {})))

    def record(self) -> dict[str, Any]:
        record, table = super().record(), self._table
        if self.vocabulary.holes:
            record["vocab_holes"] = self.vocabulary.holes
        if table.assigned:
            record["assigned_unused"] = dict(table.assigned)
        return record

    def save_vocabulary(
        self,
        save_directory: str | os.PathLike[str],
        filename_prefix: str | None = None,
        *,
        include_added: bool = False,
    ) -> tuple[str, ...]:
        """Write vocab.txt, every token on the line of its id.

        The line of an added token's id holds that token, and the line of an id without a token
        holds a filling that no text gives. So the file has a line for each id and no line twice,
        which other programs rely on.

        Args:
            save_directory: a directory, or the path of the file.
            filename_prefix: put before the file's name, with a hyphen.
            include_added: write the added tokens too, each on the line of its id.

        Returns:
            The path written, as a tuple of one.

        Raises:
            FileError: the file cannot be written.
            VocabularyError: a token holds a line break. Nothing is written.
        """
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        directory, name = os.fspath(save_directory), VOCAB_FILE
        if not os.path.isdir(directory):
            directory, name = os.path.split(directory)
        path = os.path.join(directory, prefix + name)
        write_vocab_lines(path, self._lines_of_file(include_added))
        return (path,)

    def _lines_of_file(self, include_added: bool = False) -> list[str]:
        """Return the lines of vocab.txt."""
        table = self._table
        tokens: list[Any] = list(self.vocabulary.tokens)
        if include_added:
            tokens += [None] * (table.max_id + 1 - len(tokens))
        for token_id in [*self.vocabulary.holes, *range(len(self.vocabulary.tokens), len(tokens))]:
            tokens[token_id] = editing.filled(table, token_id, include_added)
        return tokens

    # ---- changing the vocabulary -----------------------------------------------------------------

    def assign_unused(self, slot: str, token: Token, *, special: bool = True) -> int:
        """Give an unused slot of the vocabulary, such as `[unused1]`, to a token that is matched
        whole.

        The slot's id becomes the token's; the vocabulary keeps its size, so the model needs no new
        embedding row.

        Args:
            slot: the token that the slot has now, such as `[unused1]`.
            token: a string, or an `AddedToken` with flags of its own.
            special: for a string, whether the token is special. One that is not is lower-cased
                where the tokenizer lower-cases, as in `add_tokens`.

        Returns:
            The id.

        Raises:
            SpecialTokenError: the slot has been assigned already, or is no unused slot.
            VocabularyError: the token has an id already.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> size = len(tokenizer)
        >>> tokenizer.assign_unused("[unused1]", "[SUBJ]")
        6
        >>> tokenizer.tokenize("[SUBJ] speaks"), len(tokenizer) == size
        (['[SUBJ]', 'speaks'], True)
        """
        return editing.assign_unused(self, slot, token, special)

    def unused_slots(self) -> list[str]:
        """The unused slots that no token has yet, by id; see `assign_unused`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.unused_slots()[:3]
        ['[unused0]', '[unused1]', '[unused2]']
        """
        table = self._table
        free = [
            entry
            for entry in table.entries
            if editing.is_unused_slot(entry) and entry not in table.added.encoder
        ]
        return sorted(free, key=table.entries.__getitem__)

    def _check_addable(self, content: str) -> None:
        if content in self._table.assigned:
            raise VocabularyError(
                f"{content!r} is the slot assigned to {self._table.assigned[content]!r}, and is it"
                " again when that goes; choose another name",
                token=content,
            )

    def _removed(self, contents: Iterable[str]) -> None:
        editing.free_slots(self, contents)

    def add_wordpieces(self, pieces: Iterable[str]) -> int:
        """Add entries to the WordPiece vocabulary, for use inside words: `zo` begins one, `##ology`
        continues it.

        New ids follow the highest existing id, and the pieces are saved in vocab.txt; added tokens
        before them become entries too, as `lines_before_new` says. Use `add_tokens` for tokens that
        are to be matched whole wherever they occur.

        Args:
            pieces: the entries. Those the vocabulary holds already are left as they are.

        Returns:
            The number of new entries.

        Raises:
            InputError: no text can ever give a piece: it is empty, holds whitespace or punctuation
                among letters, or is not as the tokenizer normalizes words. Nothing is added.
            VocabularyError: a piece is an added token, which has an id of its own.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_wordpieces(["zo", "##ology"])
        2
        >>> tokenizer.tokenize("zoology")
        ['zo', '##ology']
        """
        return editing.add_wordpieces(self, pieces)

    def lines_before_new(self) -> tuple[list[str | None], AddedToken | None]:
        """The lines that a vocabulary has before new entries, one for each id so far, and what is
        in their way.

        The Rust tokenizer numbers added tokens from the number of entries on, unless they are
        entries themselves. So those before a new entry become entries too, where no text gives them
        as that: "new york" holds a space. In the way is the first that some text would give: as an
        entry, "covid" would begin longer words.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_tokens(["new york", "covid"])
        2
        >>> lines, in_the_way = tokenizer.lines_before_new()
        >>> lines[-2:], str(in_the_way)
        (['new york', None], 'covid')
        """
        return editing.lines_before_new(self)

    def keep_only(self, token_ids: Iterable[int]) -> dict[int, int]:
        """Drop all tokens but those of some ids, and close up the ids that are left, in their
        order.

        `trietok.trim` finds out which ids some texts need.

        Args:
            token_ids: the ids to keep; every added token has to be among them (`remove_tokens`
                takes those out).

        Returns:
            Old id → new id for every id that is kept. Embedding rows have to be moved accordingly.

        Raises:
            TokenIdError: an id is negative or above `max_id`, or no token has it. Nothing is
                dropped.
            VocabularyError: an added token, or the unknown token, would go. Nothing is dropped.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> kept = [*tokenizer.all_special_ids, *tokenizer.encode("the people")]
        >>> new_ids = tokenizer.keep_only(kept)
        >>> tokenizer.tokenize("the people say"), new_ids
        (['the', 'people', '[UNK]'], {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 134: 5, 289: 6})
        """
        return editing.keep_only(self, token_ids)

    def check_wordpiece(self, piece: str) -> None:
        """Raise where a piece cannot be added; see `add_wordpieces`."""
        self._check_addable(piece)
        added_id = self._table.added.encoder.get(piece)
        if added_id is not None:
            raise VocabularyError(
                f"{piece!r} is an added token with the id {added_id}; remove_tokens takes it out",
                token=piece,
                found_id=added_id,
            )
        reason = self._never_matched(piece)
        if reason:
            raise InputError(f"no text can give the piece {piece!r}: {reason}")

    def _never_matched(self, piece: str) -> str | None:
        """The reason why no text can give an entry, or None if a text may."""
        prefix = self.wordpiece_tokenizer.continuing_subword_prefix
        word = piece.removeprefix(prefix)
        if word.split() != [word]:
            return "it is empty or holds whitespace"
        if len(word) > self.wordpiece_tokenizer.max_input_chars_per_word:
            return (
                f"a word has at most {self.wordpiece_tokenizer.max_input_chars_per_word} characters"
            )
        words = self.basic_tokenizer.tokenize(word) if self.do_basic_tokenize else [word]
        return None if words == [word] else f"the tokenizer makes {' '.join(words)!r} of it"

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
        return self._now().pipeline.info(self.cache_limit)

    def cache_clear(self) -> None:
        """Clear the caches; no result depends on them."""
        self._now().pipeline.forget()

    # ---- looking at texts ------------------------------------------------------------------------

    def pieces(self, text: str) -> tuple[str, list[tuple[str, bool]]]:
        """The text as it is after lower-casing, and its pieces, each with whether it is an added
        token.

        >>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.pieces("The [SEP] end")
        ('the [SEP] end', [('the ', False), ('[SEP]', True), (' end', False)])
        """
        table, lowers = self._table, getattr(self, "do_lower_case", False)
        added = table.added
        if lowers and isinstance(added, SlowAddedTokens):
            text, lowers = added.lower_between(text, table.special_tokens), False
        if self.split_special_tokens:
            added = added.as_text()
        pieces = [
            (text[start:end], content is not None) for start, end, content in added.parts(text)
        ]
        if lowers:
            pieces = [
                (part if is_token else lower_each(part), is_token) for part, is_token in pieces
            ]
            text = "".join([part for part, _ in pieces])
        return text, pieces

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
            if self.overrides(*SPECIAL_HOOKS)
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
        if self.overrides(*_TEMPLATE_HOOKS):
            return self.template.input_ids(self, token_ids_0, token_ids_1)
        pieces = self._template_pieces(self._table)[token_ids_1 is not None]
        return input_ids(pieces, token_ids_0, token_ids_1)

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
