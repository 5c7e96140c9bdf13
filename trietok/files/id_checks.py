"""Whether a tokenizer's files agree about ids: one token an id, one id a token.

In: tokens and ids with the files they were read from. Out: nothing, or an error with both tokens, both ids, both files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from trietok.errors import VocabularyError
from trietok.text.added_token import AddedToken
from trietok.text.vocabulary import Vocabulary


class AddedIds:
    """Collects the added tokens of one tokenizer from its files.

    Attributes:
        decoder: id → token; if several files hold an id, the token read last is used.
        sources: id → the file it was read from.
    """

    def __init__(self) -> None:
        self.decoder: dict[int, AddedToken] = {}
        self.sources: dict[int, str] = {}
        self._ids: dict[str, int] = {}

    def id_of(self, content: str) -> int | None:
        """The id of the token with that content, or None."""
        return self._ids.get(content)

    def add_first(self, tokens: dict[int, AddedToken], source: str) -> bool:
        """Add the tokens of the first file if no two have the same content; return whether they were added."""
        ids = {token.content: token_id for token_id, token in tokens.items()}
        if self.decoder or len(ids) < len(tokens):
            return False
        self.decoder.update(tokens)
        self.sources.update(dict.fromkeys(tokens, source))
        self._ids.update(ids)
        return True

    def add(self, token_id: int, token: AddedToken, source: str) -> None:
        """Add a token.

        Raises:
            VocabularyError: the id has another token already, or the token another id.
        """
        there = self.decoder.get(token_id)
        if there is not None and there.content != token.content:
            raise _error(
                f"the id {token_id} belongs to both {there.content!r}{_in(self.sources[token_id])} and "
                f"{token.content!r}{_in(source)}; give one of them another id",
                source,
                token.content,
                found_id=token_id,
            )
        known_id = self._ids.setdefault(token.content, token_id)
        if known_id != token_id:
            raise _error(
                f"the added token {token.content!r} has two ids, {known_id}{_in(self.sources[known_id])} and "
                f"{token_id}{_in(source)}; keep one of them",
                source,
                token.content,
                expected_id=known_id,
                found_id=token_id,
            )
        self.decoder[token_id] = token
        self.sources[token_id] = source


def check_against_vocabulary(
    decoder: Mapping[int, AddedToken], sources: Mapping[int, str], vocabulary: Vocabulary, path: str | os.PathLike[str]
) -> None:
    """Compare the added tokens with the vocabulary file.

    A blank line is free for an added token. A token on two lines may be added under either of its ids.

    Raises:
        VocabularyError: an added token's id is another entry's line, or an entry is added under an id that is not its.
    """
    entries, max_id = vocabulary.token_to_id, vocabulary.max_id
    for token_id, token in decoder.items():
        if token_id > max_id and token.content not in entries:
            continue  # most of many
        line = vocabulary.tokens[token_id] if token_id <= max_id else None
        if line == token.content:
            continue
        source = sources.get(token_id)
        if line:
            raise _error(
                f"the id {token_id} of the added token {token.content!r}{_in(source)} is that of {line!r}, line "
                f"{token_id + 1} of {os.fspath(path)}; give the added token an id of its own",
                source,
                token.content,
                found_id=token_id,
            )
        own_id = entries.get(token.content)
        if own_id is not None:
            raise _error(
                f"the added token {token.content!r} has two ids: {token_id}{_in(source)} and {own_id}, line "
                f"{own_id + 1} of {os.fspath(path)}; keep one of them",
                source,
                token.content,
                expected_id=own_id,
                found_id=token_id,
            )


def _in(source: str | None) -> str:
    return "" if source is None else f" ({source})"


def _error(
    message: str, source: str | None, token: str, expected_id: int | None = None, found_id: int | None = None
) -> VocabularyError:
    where = "" if source is None else f"{source}: "
    return VocabularyError(where + message, path=source, token=token, expected_id=expected_id, found_id=found_id)
