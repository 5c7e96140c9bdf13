"""`BertTokenizer`: basic tokenization and WordPiece on a vocab.txt, behind transformers' interface.

In: a vocab.txt and transformers' parameters. Out: exactly the ids of transformers 4.57.6, but for
the departures in `docs/hf_compatibility.md`. `add_wordpieces` adds entries to the vocabulary, and
`assign_unused` renames unused slots; no existing id changes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import repeat, zip_longest
from typing import TYPE_CHECKING, Any

from trietok.errors import (
    FileError,
    InputError,
    InputTypeError,
    SpecialTokenError,
    TokenIdError,
    TrietokError,
    VocabularyError,
    brief,
)
from trietok.files.formats import RECORD, VOCAB_FILE, lengths_in_tokenizer_json, write_vocab_lines
from trietok.inputs.template import BERT, Piece, Template, input_ids
from trietok.text.added_tokens import AddedToken
from trietok.text.alignment import Ids
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.changes import is_replaced
from trietok.text.memory import CacheInfo, NotOne
from trietok.text.stages import Stages, require_text
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX, WordpieceTokenizer
from trietok.tokenizer import token_table as editing
from trietok.tokenizer.moment import ROLE_HOOKS, frozen
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.tokenizer.token_table import SPECIAL_HOOKS, Token, TokenTable

if TYPE_CHECKING:
    from trietok.files.tokenizer_json import Padding as FilePadding
    from trietok.files.tokenizer_json import Truncation as FileTruncation
    from trietok.tokenizer.unknown_words import UnknownWords


_UNUSED_SLOT = r"(?i)[\[<]unused(?:-id)?[_-]?\d+[\]>]"


def is_unused_slot(entry: str) -> bool:
    """Whether a line of a vocabulary is an unused slot, such as `[unused7]`."""
    return re.fullmatch(_UNUSED_SLOT, entry) is not None


def filling(token_id: int) -> str:
    """The line of vocab.txt for an id without a token; no text gives it."""
    return f"[unused-id-{token_id}]"


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
        setattr(
            self, self._stage_names[1], self._new_wordpiece_tokenizer(vocabulary, str(unk_token))
        )
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

    def _stages_of(self, table: TokenTable, live: bool) -> Stages | None:
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
        unknown = str(table.roles["unk_token"])
        return Stages(
            basic,
            wordpiece,
            table.entries,
            table.added,
            table.special_tokens,
            unknown_id=table.entries.get(unknown),
            lowers=bool(getattr(self, "do_lower_case", False)),
            whole=() if basic is None else basic.never_split,
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

    def _take_lengths_of(self, path: str, members: Mapping[str, Any]) -> None:
        """Keep what a tokenizer.json beside the vocabulary says of truncation and padding, for the
        files of a save.
        """
        # the slow profile takes nothing else of it that could be wrong
        with contextlib.suppress(TrietokError):
            found = lengths_in_tokenizer_json(path, members)
            if found:
                # a third of the time to load
                from trietok.files.tokenizer_json import (
                    truncation_and_padding_of,
                )

                self.truncation_in_file, self.padding_in_file = truncation_and_padding_of(
                    found, path
                )

    def _input_pieces(self, table: TokenTable) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """The pieces of a row of one text, and of two, in a call."""
        return self._template_pieces(table)

    def _template_pieces(self, table: TokenTable) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
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
            # few directories have no vocab.txt
            from trietok.files.tokenizer_json import (
                read_tokenizer_json,
            )

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

    def _restore(self, record: Mapping[str, Any]) -> None:
        super()._restore(record)
        self._changes.table = self._table.replace(assigned=dict(record.get("assigned_unused", {})))

    def record(self) -> dict[str, Any]:
        record, table = super().record(), self._table
        if self.vocabulary.holes:
            record["vocab_holes"] = self.vocabulary.holes
        if table.assigned:
            record["assigned_unused"] = dict(table.assigned)
        return record

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
        with self._changes.changing():
            self._set_vocabulary(tokens)

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
        is_own = is_replaced(self, ("added_tokens_encoder",))
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
        return self.profile == "slow" and is_replaced(self, ("get_vocab", "added_tokens_encoder"))

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        if is_replaced(self, _ID_HOOKS):
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
        if type(ids) in (list, tuple) and not is_replaced(self, _TOKEN_HOOKS):
            if list(map(type, ids)).count(int) == len(ids):  # type: ignore[arg-type]  # it has a length
                try:
                    kept = (
                        [token_id for token_id in ids if token_id not in left_out]
                        if left_out
                        else ids
                    )
                    return [*map(table.known_tokens.__getitem__, kept)]
                # an unknown token: its id is that of `unk_token`, or there is an error
                except NotOne:
                    pass
        return super()._tokens_of(table, ids, left_out)

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
        table = self._table
        tokens: list[Any] = list(self.vocabulary.tokens)
        if include_added:
            tokens += [None] * (table.max_id + 1 - len(tokens))
        for token_id in [*self.vocabulary.holes, *range(len(self.vocabulary.tokens), len(tokens))]:
            tokens[token_id] = _filled(table, token_id, include_added)
        with brief:
            write_vocab_lines(path, tokens)
        return (path,)

    # ---- changing the vocabulary -----------------------------------------------------------------

    def _set_vocabulary(self, tokens: Iterable[str | None]) -> None:
        """Replace the vocabulary."""
        vocabulary = Vocabulary(tokens)
        # The table's own vocabularies, by which `_snapshot_of_wordpiece` knows one that the user
        # has given the stage.
        self._derived["entries"] = self._changes.committed.entries, vocabulary.token_to_id
        self._changes.table = self._table.replace(vocabulary=vocabulary)
        stage = getattr(self, self._stage_names[1])
        self._changes.at_commit(lambda: setattr(stage, "vocab", vocabulary.token_to_id))

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
        with self._changes.changing():
            if slot in self._table.assigned:
                raise SpecialTokenError(
                    f"the slot {slot!r} is taken by {self._table.assigned[slot]!r}; choose another"
                )
            slot_id = self.vocab.get(slot)
            if slot_id is None or not is_unused_slot(slot):
                free = self.unused_slots()[:3]
                has = (
                    f"unused slots are {', '.join(free)}, ..."
                    if free
                    else "this vocabulary has none"
                )
                raise SpecialTokenError(f"{slot!r} is not an unused slot of the vocabulary; {has}")
            if slot in self._table.added.encoder:
                raise SpecialTokenError(
                    f"the slot {slot!r} is an added token itself; remove_tokens frees it"
                )
            token = AddedToken.of(token, special=special)
            lowers = self.profile == "slow" and getattr(self, "do_lower_case", False)
            if token.normalized and not token.special and lowers:
                token = token.replace(content=token.content.lower())
            content = token.content
            known_id = self._table.known_id(content)
            if known_id is not None:
                raise VocabularyError(
                    f"the token {content!r} has the id {known_id} already; it cannot have"
                    f" {slot_id}, that of {slot!r}",
                    token=content,
                    expected_id=slot_id,
                    found_id=known_id,
                )
            if "\n" in content or "\r" in content:
                raise VocabularyError(
                    f"the token {content!r} holds a line break, which {VOCAB_FILE} cannot keep"
                )
            tokens = list(self.vocabulary.tokens)
            tokens[slot_id] = content
            self._set_vocabulary(tokens)
            self._changes.table = self._table.replace(
                assigned={**self._table.assigned, slot: content}
            )
            self._add_tokens([token])
        return slot_id

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
            if is_unused_slot(entry) and entry not in table.added.encoder
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
        slots = {token: slot for slot, token in self._table.assigned.items()}
        free = {self.vocab[content]: slots[content] for content in contents if content in slots}
        if free:  # an assigned slot is unused again
            self._set_vocabulary(
                free.get(i, token) for i, token in enumerate(self.vocabulary.tokens)
            )
            assigned = {
                slot: token
                for slot, token in self._table.assigned.items()
                if slot not in free.values()
            }
            self._changes.table = self._table.replace(assigned=assigned)

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
        if isinstance(pieces, str):
            raise InputTypeError(
                f"add_wordpieces takes a list of pieces, not one string: {pieces!r}", value=pieces
            )
        with self._changes.changing():
            new = [piece for piece in dict.fromkeys(pieces) if piece not in self.vocab]
            for piece in new:
                if not isinstance(piece, str):
                    raise InputTypeError(
                        f"a piece is a string, not {type(piece).__name__}: {piece!r}", value=piece
                    )
                self.check_wordpiece(piece)
            if not new:
                return 0
            first_id = self.max_id + 1
            self._require_rows(first_id + len(new))
            lines, was = self.lines_before_new()[0], self.vocabulary.tokens
            # Once such an added token is removed, its id is a free slot: no text gives that either.
            pairs = enumerate(zip_longest(was, lines))
            slots = {
                filling(i): line for i, (old, line) in pairs if old is None and line is not None
            }
            self._set_vocabulary([*lines, *new])
            self._changes.table = self._table.replace(assigned={**self._table.assigned, **slots})
        return len(new)

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
        table, in_the_way = self._table, None
        lines = [
            *self.vocabulary.tokens,
            *repeat(None, self.max_id + 1 - len(self.vocabulary.tokens)),
        ]
        for token_id, token in table.added.decoder.flat().items():
            content = token.content
            if lines[token_id] is not None:
                continue
            is_once = content not in table.entries and table.added.encoder[content] == token_id
            is_free = (
                filling(token_id) not in table.entries and filling(token_id) not in table.assigned
            )
            if (
                is_once
                and is_free
                and set("\r\n").isdisjoint(content)
                and self._never_matched(content)
            ):
                lines[token_id] = content
            else:
                in_the_way = in_the_way or token
        return lines, in_the_way

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
        with self._changes.changing():
            new_ids = editing.closed_up(self._table, token_ids)
            table = self._table
            tokens = table.vocabulary.tokens if table.vocabulary is not None else []
            lines: list[str | None] = [None] * len(new_ids)
            for old, new in new_ids.items():
                lines[new] = tokens[old] if old < len(tokens) else None
            while lines and lines[-1] is None:  # an added token behind the vocabulary
                lines.pop()
            decoder = {
                new_ids[token_id]: token for token_id, token in table.added.decoder.flat().items()
            }
            self._set_vocabulary(lines)
            self._changes.table = self._table.replace(added=table.added.renumbered(decoder))
            self._renumbered(new_ids)
        return new_ids

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

    def pieces(self, text: str) -> tuple[str, list[tuple[str, bool]]]:
        """The text as it is after lower-casing, and its pieces, each with whether it is an added
        token.

        >>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.pieces("The [SEP] end")
        ('the [SEP] end', [('the ', False), ('[SEP]', True), (' end', False)])
        """
        state = frozen(self)
        table: TokenTable = state._table
        lowered = (
            table.added.lower_between(text, table.special_tokens)
            if getattr(state, "do_lower_case", False)
            else text
        )
        if state.split_special_tokens:
            return lowered, [(lowered, False)] if lowered else []
        return lowered, table.added.pieces(lowered)

    def find_unknown(self, texts: Iterable[str], *, positions: int = 3) -> UnknownWords:
        """What words of `texts` become the unknown token, how often, where, and why.

        >>> found = BertTokenizer.from_pretrained("trietok-en").find_unknown(["Say ☃", "☃ again"])
        >>> found.words[0].word, found.words[0].count, found.words[0].positions
        ('☃', 2, ((0, 4, 5), (1, 0, 1)))
        """
        from trietok.tokenizer.unknown_words import find_unknown  # not needed to encode

        return find_unknown(self, texts, positions=positions)

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

    def _write_slow_tokenizer_json(
        self, path: str | os.PathLike[str], there: str | os.PathLike[str] | None = None
    ) -> bool:
        """Write the tokenizer.json; with `there`, that file as `write_anew` changes it."""
        # not needed to encode
        from trietok.files.tokenizer_json_writer import (
            write_anew,
            write_slow,
        )

        if there is not None:
            return write_anew(path, self, there)
        write_slow(path, self)
        return False

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


# Methods from a token to its id and back, which a subclass, an instance or a patch may replace.
_ID_HOOKS = ("_convert_token_to_id", "_convert_token_to_id_with_added_voc", "vocab")
_TEMPLATE_HOOKS = ("template", "convert_tokens_to_ids", *_ID_HOOKS, *ROLE_HOOKS)
_TOKEN_HOOKS = ("_convert_id_to_token", "_token_of", "vocab", "ids_to_tokens", "max_id")


def _filled(table: TokenTable, token_id: int, include_added: bool) -> str:
    """The line of vocab.txt for an id without a vocabulary entry."""
    added = table.added.decoder.get(token_id)
    if added is None or (not include_added and set("\r\n") & set(added.content)):
        return filling(token_id)
    return added.content


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
            f"{what} takes a BertTokenizer, not a {type(tokenizer).__name__}: this one is a"
            " byte-pair encoding, whose vocabulary goes with its merges and stays as it is; tokens"
            " can be added beside it, by add_tokens or `trietok add --way added`",
            value=tokenizer,
        )
    return tokenizer
