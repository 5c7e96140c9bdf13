"""A tokenizer whose ids come from a vocab.txt, and what can be done to that vocabulary without moving an id.

In: a `Vocabulary`. Out: ids and tokens; a vocab.txt. A vocabulary can grow by pieces (`add_wordpieces`), and its unused
slots can be given a meaning (`assign_unused`). Both keep every id there is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from trietok.errors import FileError, InputError, InputTypeError, SpecialTokenError, TokenIdError, VocabularyError
from trietok.files.formats import VOCAB_FILE, write_vocab_lines
from trietok.text.added_token import AddedToken
from trietok.text.read_only import ReadOnlyDict
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.tokenizer.special_tokens import Token

_UNUSED_SLOT = r"(?i)[\[<]unused(?:-id)?[_-]?\d+[\]>]"


def is_unused_slot(entry: str) -> bool:
    """Whether a line of a vocabulary is one of those kept free, such as `[unused7]`."""
    return re.fullmatch(_UNUSED_SLOT, entry) is not None


def filling(token_id: int) -> str:
    """The line of vocab.txt for an id that nothing has; no text gives it."""
    return f"[unused-id-{token_id}]"


class VocabularyTokenizer(PreTrainedTokenizer):
    """`PreTrainedTokenizer` on a vocab.txt. Not used by itself: `BertTokenizer` inherits it.

    Args:
        vocab_file: the vocab.txt, one token a line; or a tokenizer.json, of which the vocabulary counts.
        unk_token: the unknown token, which the file has to hold.
        **kwargs: see `PreTrainedTokenizerBase`.

    Raises:
        FileError, FileFormatError: the file is missing, cannot be read, or is not UTF-8.
        VocabularyError: it is empty, or lacks the unknown token.
    """

    vocab_files_names = {"vocab_file": VOCAB_FILE}

    def __init__(self, vocab_file: str | os.PathLike[str], unk_token: Token, **kwargs: Any) -> None:
        added = kwargs.get("added_tokens_decoder") or {}
        if str(unk_token) not in self.vocabulary and str(unk_token) not in map(str, added.values()):
            marked = "\ufeff" + str(unk_token) in self.vocabulary
            hint = " (line 1 has a byte-order mark before it; save the file without one)" if marked else ""
            raise VocabularyError(
                f"{os.fspath(vocab_file)} does not hold the unknown token {str(unk_token)!r}{hint}; add it as a "
                "line, or name the token that plays its part with unk_token=...",
                path=vocab_file,
                token=str(unk_token),
            )
        self._assigned: dict[str, str] = {}
        self._inverse: tuple[Vocabulary, ReadOnlyDict[int, str]] | None = None
        super().__init__(unk_token=unk_token, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_inverse": None}  # follows from the vocabulary

    @staticmethod
    def read_vocabulary(
        vocab_file: str | os.PathLike[str], record: Mapping[str, Any] | None, added: Mapping[int, Token] | None
    ) -> Vocabulary:
        """The vocabulary of a file; a line that was filled for an id without an entry is a hole again."""
        if not isinstance(vocab_file, (str, os.PathLike)):
            raise InputTypeError(f"vocab_file is a path, not {vocab_file!r:.60}", value=vocab_file)
        if not os.path.isfile(vocab_file):
            what = "is a directory" if os.path.isdir(vocab_file) else "is not there"
            raise FileError(
                f"the vocabulary file {os.fspath(vocab_file)} {what}; from_pretrained takes a directory or a name",
                path=vocab_file,
            )
        if os.fspath(vocab_file).endswith(".json"):
            from trietok.files.tokenizer_json.format import read_tokenizer_json  # few directories have no vocab.txt

            return Vocabulary.from_mapping(read_tokenizer_json(vocab_file).vocabulary)
        vocabulary = Vocabulary.from_file(vocab_file)
        holes = set((record or {}).get("vocab_holes", ()))
        if not holes:
            return vocabulary
        fillings = {token_id: {"", filling(token_id)} for token_id in holes}
        for token_id, token in (added or {}).items():
            if token_id in holes:
                fillings[token_id].add(str(token))
        lines = enumerate(vocabulary.tokens)
        return Vocabulary(None if line in fillings.get(token_id, ()) else line for token_id, line in lines)

    def _restore(self, record: Mapping[str, Any]) -> None:
        super()._restore(record)
        self._assigned = dict(record.get("assigned_unused", {}))

    def record(self) -> dict[str, Any]:
        record = super().record()
        if self.vocabulary.holes:
            record["vocab_holes"] = self.vocabulary.holes
        if self._assigned:
            record["assigned_unused"] = dict(self._assigned)
        return record

    # ---- looking things up ------------------------------------------------------------------------------------------

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary without the added tokens."""
        return self._vocabulary

    @property
    def vocab(self) -> dict[str, int]:
        """The vocabulary without the added tokens: token → id; read-only. A subclass may set it to another dict."""
        return self._vocabulary.token_to_id

    @vocab.setter
    def vocab(self, token_to_id: Mapping[str, int]) -> None:
        tokens = Vocabulary.from_mapping(token_to_id).tokens
        with self._guard.changing():
            self._set_vocabulary(tokens)

    @property
    def ids_to_tokens(self) -> dict[int, str]:
        """`vocab` the other way round; read-only."""
        if self._inverse is None or self._inverse[0] is not self._vocabulary:
            inverse = ReadOnlyDict({token_id: token for token, token_id in self.vocab.items()})
            self._inverse = self._vocabulary, inverse
        return self._inverse[1]

    @property
    def vocab_size(self) -> int:
        return len(self._vocabulary)

    @property
    def max_id(self) -> int:
        return max(self._vocabulary.max_id, self._added.max_id)

    def get_vocab(self) -> dict[str, int]:
        return self._guard.read(lambda: {**self.vocab, **self.added_tokens_encoder})

    def _known_ids(self) -> Mapping[str, int]:
        return self.vocab

    def _total_size(self) -> int:
        return len(self.vocab) + sum(token not in self.vocab for token in self._added.encoder)

    def _convert_token_to_id(self, token: str) -> int | None:
        token_id = self.vocab.get(token)
        return self.vocab.get(self.unk_token) if token_id is None else token_id

    def _convert_id_to_token(self, index: int) -> str:
        if not 0 <= index <= self.max_id:
            shown = index if abs(index) < 10**20 else f"of {index.bit_length()} bits"
            raise TokenIdError(
                f"id {shown} is outside the vocabulary, whose ids run from 0 to {self.max_id}; ids that a loss ignores "
                "(-100) have to go before decoding",
                token_id=index,
                max_id=self.max_id,
            )
        token = self._vocabulary.tokens[index] if index <= self._vocabulary.max_id else None
        # The earlier line of a token that stands twice reads as unknown, as in transformers: no text gives that id.
        known = token is not None and self.vocab[token] == index
        return token if known and token is not None else str(self.unk_token)

    def _tokens_of(self, ids: Iterable[Any], left_out: Collection[int]) -> list[str]:
        if type(ids) in (list, tuple) and set(map(type, ids)) == {int} and self._looks_ids_up():
            added, known = self._added.decoder, self.ids_to_tokens
            try:
                return [added[i].content if i in added else known[i] for i in ids if i not in left_out]
            except KeyError:  # one that gives the unknown token, or an error
                pass
        return super()._tokens_of(ids, left_out)

    def _looks_ids_up(self) -> bool:
        """Whether the token of an id is the one the vocabulary has: no subclass, instance or patch gives another."""
        kind = type(self)
        return self.__dict__.keys().isdisjoint(_STAGES_FROM_IDS) and all(
            getattr(kind, name) is stage for name, stage in _STAGES_FROM_IDS.items()
        )

    def save_vocabulary(
        self, save_directory: str | os.PathLike[str], filename_prefix: str | None = None, *, include_added: bool = False
    ) -> tuple[str, ...]:
        """Write vocab.txt, every token on the line of its id.

        The line of an id that is an added token's has that token, and the line of one that nothing has a filling that
        no text gives: so the file has a line for each id and none twice, which other programs count on.

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
        tokens = list(self._vocabulary.tokens)
        if include_added:
            tokens += [None] * (self.max_id + 1 - len(tokens))
        write_vocab_lines(path, [self._filled(i, include_added) if t is None else t for i, t in enumerate(tokens)])
        return (path,)

    def _filled(self, token_id: int, include_added: bool) -> str:
        """What stands on the line of an id that no entry has."""
        added = self._added.decoder.get(token_id)
        if added is None or (not include_added and set("\r\n") & set(added.content)):
            return filling(token_id)
        return added.content

    # ---- changing the vocabulary ------------------------------------------------------------------------------------

    def _set_vocabulary(self, tokens: Iterable[str | None]) -> None:
        """Put another vocabulary in place; a subclass renews what it made of the old one."""
        self._vocabulary = Vocabulary(tokens)
        self._size = None

    def assign_unused(self, slot: str, token: Token, *, special: bool = True) -> int:
        """Give an unused slot of the vocabulary, such as `[unused1]`, to a token that is matched whole.

        The slot's id becomes the token's; the vocabulary keeps its size, so the model needs no new embedding row.

        Args:
            slot: the slot's present token.
            token: a string, or an `AddedToken` with flags of its own.
            special: for a string, whether the token is special. One that is not is lower-cased where the tokenizer
                lower-cases, as in `add_tokens`.

        Returns:
            The id.

        Raises:
            SpecialTokenError: the slot is taken, or is no unused slot.
            VocabularyError: the token has an id already.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> size = len(tokenizer)
        >>> tokenizer.assign_unused("[unused1]", "[SUBJ]")
        6
        >>> tokenizer.tokenize("[SUBJ] speaks"), len(tokenizer) == size
        (['[SUBJ]', 'speaks'], True)
        """
        with self._guard.changing():
            if slot in self._assigned:
                raise SpecialTokenError(f"the slot {slot!r} is taken by {self._assigned[slot]!r}; choose another")
            slot_id = self.vocab.get(slot)
            if slot_id is None or not is_unused_slot(slot):
                free = [entry for entry in self.vocab if is_unused_slot(entry)][:3]
                has = f"unused are {', '.join(free)}, ..." if free else "this vocabulary has none"
                raise SpecialTokenError(f"{slot!r} is no unused slot of the vocabulary; {has}")
            if slot in self._added.encoder:
                raise SpecialTokenError(f"the slot {slot!r} is an added token itself; remove_tokens frees it")
            token = AddedToken.of(token, special=special)
            lowers = not self.is_fast and getattr(self, "do_lower_case", False)
            if token.normalized and not token.special and lowers:
                token = token.replace(content=token.content.lower())
            content = token.content
            known_id = self._added.encoder.get(content, self.vocab.get(content))
            if known_id is not None:
                raise VocabularyError(
                    f"the token {content!r} has the id {known_id} already; it cannot have {slot_id}, that of {slot!r}",
                    token=content,
                    expected_id=slot_id,
                    found_id=known_id,
                )
            if "\n" in content or "\r" in content:
                raise VocabularyError(f"the token {content!r} holds a line break, which {VOCAB_FILE} cannot keep")
            tokens = list(self._vocabulary.tokens)
            tokens[slot_id] = content
            self._set_vocabulary(tokens)
            self._assigned[slot] = content
            self._add_tokens([token])
        return slot_id

    def _check_addable(self, content: str) -> None:
        if content in self._assigned:
            raise VocabularyError(
                f"{content!r} is the slot assigned to {self._assigned[content]!r}, and is it again when that goes; "
                "choose another name",
                token=content,
            )

    def _removed(self, contents: Iterable[str]) -> None:
        slots = {token: slot for slot, token in self._assigned.items()}
        free = {self.vocab[content]: slots[content] for content in contents if content in slots}
        if free:  # an assigned slot is unused again
            self._set_vocabulary(free.get(i, token) for i, token in enumerate(self._vocabulary.tokens))
            for slot in free.values():
                del self._assigned[slot]

    def add_wordpieces(self, pieces: Iterable[str]) -> int:
        """Add entries to the WordPiece vocabulary, for use inside words: `zo` begins one, `##ology` continues it.

        New ids follow the highest there is, and the pieces are saved in vocab.txt. `add_tokens` is for what has to
        stand whole wherever it is found.

        Args:
            pieces: the entries. Those the vocabulary holds already are left as they are.

        Returns:
            The number of new entries.

        Raises:
            InputError: no text can ever give a piece: it is empty, holds whitespace or punctuation among letters, or
                is not as the tokenizer normalizes words. Nothing is added.
            VocabularyError: a piece is an added token, which has an id of its own.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_wordpieces(["zo", "##ology"])
        2
        >>> tokenizer.tokenize("zoology")
        ['zo', '##ology']
        """
        if isinstance(pieces, str):
            raise InputTypeError(f"add_wordpieces takes a list of pieces, not one string: {pieces!r}", value=pieces)
        with self._guard.changing():
            new = [piece for piece in dict.fromkeys(pieces) if piece not in self.vocab]
            for piece in new:
                if not isinstance(piece, str):
                    raise InputTypeError(f"a piece is a string, not {type(piece).__name__}: {piece!r}", value=piece)
                self._check_piece(piece)
            if not new:
                return 0
            first_id = self.max_id + 1
            self._require_rows(first_id + len(new))
            tokens = self._vocabulary.tokens
            gap: list[str | None] = [None] * (first_id - len(tokens))  # the ids of added tokens between
            self._set_vocabulary([*tokens, *gap, *new])
        return len(new)

    def _check_piece(self, piece: str) -> None:
        self._check_addable(piece)
        if piece in self._added.encoder:
            raise VocabularyError(
                f"{piece!r} is an added token with the id {self._added.encoder[piece]}; remove_tokens takes it out",
                token=piece,
                found_id=self._added.encoder[piece],
            )
        reason = self._never_matched(piece)
        if reason:
            raise InputError(f"no text can give the piece {piece!r}: {reason}")

    def _never_matched(self, piece: str) -> str | None:
        """Why no text gives an entry, or None where one may."""
        return None if piece.split() == [piece] else "it is empty or holds whitespace"


_STAGES_FROM_IDS = {
    name: getattr(VocabularyTokenizer, name)
    for name in ("_token_of", "_convert_id_to_token", "ids_to_tokens", "vocab", "max_id")
}
