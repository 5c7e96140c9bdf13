"""The vocabulary of a WordPiece tokenizer: looked up, saved, and changed.

In: entries, slots, ids. Out: tokens and ids of a `TokenTable`, or another one; a vocab.txt.
`add_wordpieces` adds entries to the vocabulary, and `assign_unused` renames unused slots; no
existing id changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import repeat, zip_longest
from typing import Any

from trietok.errors import (
    InputError,
    InputTypeError,
    SpecialTokenError,
    TokenIdError,
    VocabularyError,
    one_column,
)
from trietok.files.formats import VOCAB_FILE, write_vocab_lines
from trietok.text.added_tokens import AddedToken
from trietok.text.changes import is_replaced
from trietok.text.pipeline import require_text
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.text.words import BasicTokenizer
from trietok.tokenizer import token_table as editing
from trietok.tokenizer.added import AddedTokensMixin
from trietok.tokenizer.conversion import ConversionMixin
from trietok.tokenizer.token_table import Token, TokenTable

_UNUSED_SLOT = r"(?i)[\[<]unused(?:-id)?[_-]?\d+[\]>]"


def is_unused_slot(entry: str) -> bool:
    """Whether a line of a vocabulary is an unused slot, such as `[unused7]`."""
    return re.fullmatch(_UNUSED_SLOT, entry) is not None


def filling(token_id: int) -> str:
    """The line of vocab.txt for an id without a token; no text gives it."""
    return f"[unused-id-{token_id}]"


# Methods from a token to its id and back, which a subclass, an instance or a patch may replace.
ID_HOOKS = ("_convert_token_to_id", "_convert_token_to_id_with_added_voc", "vocab")


TOKEN_HOOKS = ("_convert_id_to_token", "_token_of", "vocab", "ids_to_tokens", "max_id")


def _filled(table: TokenTable, token_id: int, include_added: bool) -> str:
    """The line of vocab.txt for an id without a vocabulary entry."""
    added = table.added.decoder.get(token_id)
    if added is None or (not include_added and set("\r\n") & set(added.content)):
        return filling(token_id)
    return added.content


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


class WordpieceVocabulary(ConversionMixin, AddedTokensMixin):
    """A tokenizer whose tokens are those of a `Vocabulary`, and those that were added."""

    # set by the class that inherits
    basic_tokenizer: BasicTokenizer
    wordpiece_tokenizer: WordpieceTokenizer
    do_basic_tokenize: bool

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
        if is_replaced(self, ID_HOOKS):
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
        if type(ids) in (list, tuple) and not is_replaced(self, TOKEN_HOOKS):
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
        self._changes.table = self._table.replace(assigned=dict(record.get("assigned_unused", {})))

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
            tokens[token_id] = _filled(table, token_id, include_added)
        return tokens

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
        pieces = one_column(pieces, "pieces")
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
