"""Collect the added tokens of a directory's files, and compare their ids with the vocabulary.

Ids that contradict each other are reported with the file, the token and both ids.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any

from trietok.errors import (
    FileFormatError,
    TrietokError,
    VocabularyError,
)
from trietok.files import formats
from trietok.files.findings import Finding, Report, first_of
from trietok.files.formats import ADDITIONAL, TOKENIZER_CONFIG_FILE, is_id
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import Vocabulary


class AddedIds:
    """Collects the added tokens of one tokenizer from its files: one token an id, one id a token.

    Attributes:
        decoder: id → token; if several files hold an id, the token read last is used.
        sources: id → the file it was read from.
        ids: content → id.
        tokenizer_json: the object of the tokenizer.json that was read for them, if one was.
    """

    def __init__(self) -> None:
        self.decoder: dict[int, AddedToken] = {}
        self.sources: dict[int, str] = {}
        self.ids: dict[str, int] = {}
        self.tokenizer_json: dict[str, Any] | None = None
        self._without_id: dict[str, str] = {}

    def add(self, token_id: int, token: AddedToken, source: str) -> VocabularyError | None:
        """Add a token. Return an error if it shares its id with another one, or has two ids."""
        content = token.content
        there = self.decoder.setdefault(token_id, token)
        known_id = self.ids.setdefault(content, token_id)
        if there.content != content:
            if known_id == token_id:  # no source of its id tells where it stood first
                self._without_id[content] = source
            problem = (
                f"the id {token_id} belongs to both {there.content!r} ({self.sources[token_id]})"
                f" and {content!r} ({source}); give one of them another id"
            )
            return _clash(problem, source, content, token_id)
        if known_id != token_id:
            self.sources.setdefault(token_id, source)
            first = self._without_id.get(content) or self.sources[known_id]
            problem = (
                f"the added token {content!r} has two ids, {known_id} ({first}) and {token_id}"
                f" ({source}); keep one of them"
            )
            return _clash(problem, source, content, token_id, known_id)
        self.decoder[token_id] = token
        self.sources[token_id] = source
        return None


def clashes_with_vocabulary(
    ids: AddedIds, vocabulary: Vocabulary, path: str | os.PathLike[str]
) -> Iterator[VocabularyError]:
    """Yield an error for each added token with the id of another token of the vocabulary, and for
    each token of the vocabulary that is added with another id.

    A blank line is free for an added token. A token on two lines may be added with either id.
    """
    entries, max_id = vocabulary.token_to_id, vocabulary.max_id
    for token_id, token in ids.decoder.items():
        content = token.content
        if token_id > max_id and content not in entries:
            continue  # most of many
        line = vocabulary.tokens[token_id] if token_id <= max_id else None
        if line == content:
            continue
        source, own_id = ids.sources[token_id], entries.get(content)
        if line:
            problem = (
                f"the id {token_id} of the added token {content!r} is that of {line!r} in"
                f" {_place(path, token_id)}; give the added token an id of its own"
            )
            yield _clash(problem, source, content, token_id)
        elif own_id is not None:
            problem = (
                f"the added token {content!r} has two ids: {token_id}, and {own_id} in"
                f" {_place(path, own_id)}; keep one of them"
            )
            yield _clash(problem, source, content, token_id, own_id)


def _place(path: str | os.PathLike[str], token_id: int) -> str:
    name = os.fspath(path)
    return name if name.endswith(".json") else f"line {token_id + 1} of {name}"


def _clash(
    message: str, source: str, token: str, found: int, expected: int | None = None
) -> VocabularyError:
    return VocabularyError(
        f"{source}: {message}", path=source, token=token, expected_id=expected, found_id=found
    )


def _entries_of(
    name: str, value: Any, special: Collection[Any] = ()
) -> Iterator[tuple[Any, Any, str]]:
    """Yield the added tokens of a file: id and token, both unchecked, and the place in the file.

    Args:
        name: tokenizer_config.json, whose `added_tokens_decoder` is id → token; added_tokens.json,
            which is content → id; tokenizer.json, whose `added_tokens` is a list of tokens with
            their ids.
        value: what the file holds.
        special: the contents that added_tokens.json, which has no flags, makes special tokens.
    """
    if name == TOKENIZER_CONFIG_FILE:
        for key, token in value.items():
            yield key, token, f"added_tokens_decoder[{key!r:.60}]"
    elif name == formats.ADDED_TOKENS_FILE:
        for content, key in value.items():
            flags = {"special": content in special, "normalized": content not in special}
            yield key, {"content": content, **flags}, f"{content!r:.60}"
    else:
        for number, entry in enumerate(value):
            token = entry.copy()
            yield (
                token.pop("id", None),
                token,
                f"added_tokens[{number}] ({entry.get('content')!r:.60})",
            )


def take_tokens(
    ids: AddedIds,
    name: str,
    value: Any,
    source: str,
    report: Report,
    special: Collection[str] = (),
) -> None:
    """Add the tokens that a file holds; report each that is not one, or that clashes with another.

    Args:
        ids: takes the tokens.
        name: the name of the file, which tells its form; see `_entries_of`.
        value: what the file holds.
        source: the path of the file.
        report: gets the errors.
        special: the contents that added_tokens.json, which has no flags, makes special tokens.
    """
    for key, entry, place in _entries_of(name, value, special):
        where = f"{source}: {place}"
        try:
            token_id = _checked_id(key, where, source)
            clash = ids.add(token_id, _checked_added_token(entry, where, source), source)
        except FileFormatError as error:
            report(error)
            continue
        if clash is not None:
            report(clash)


def take_more_tokens(
    ids: AddedIds, tokens: dict[str, Any], source: str, special: Collection[str], report: Report
) -> None:
    """Add the tokens of an added_tokens.json which an `added_tokens_decoder` lacks."""
    known = ids.ids
    if set(map(type, tokens.values())) == {int} and tokens.items() <= known.items():
        return  # as transformers writes the two
    more = {
        token: key
        for token, key in tokens.items()
        if type(key) is not int or known.get(token) != key
    }
    ignored = [token for token in more if token not in known]
    take_tokens(ids, formats.ADDED_TOKENS_FILE, more, source, report, special)
    if ignored:
        message = (
            f"transformers ignores {first_of(ignored)}: added_tokens_decoder in"
            f" {TOKENIZER_CONFIG_FILE} counts, and lacks it"
        )
        file = formats.ADDED_TOKENS_FILE
        report(Finding("warning", "added-token-ignored", message, file, token=ignored[0]))


def take_map_of_roles(
    content: dict[str, Any],
    path: str,
    arguments: dict[str, Any],
    kwargs: dict[str, Any],
    report: Report,
) -> None:
    """Take the roles of special_tokens_map.json, which counts if there is no
    `added_tokens_decoder`, as before transformers 4.34.
    """
    # This file sets roles and nothing else.
    roles = {role: value for role, value in content.items() if is_role(role)}
    for role, error in formats.wrong_settings(dict(roles), path, object):
        report(error)
        del roles[role]
    for role, value in roles.items():
        if kwargs.get(role):
            continue
        if role == ADDITIONAL and isinstance(value, list):
            tokens = list(arguments.get(ADDITIONAL) or ())
            # Objects of flags in the config become tokens only later, so the same token may be
            # listed twice.
            for token in (_special_token(token, f"{path}: {role}", path) for token in value):
                if token not in tokens:
                    tokens.append(token)
            arguments[role] = tokens
        else:
            arguments[role] = _special_token(value, f"{path}: {role}", path)


def is_role(key: str) -> bool:
    return key.endswith(("_token", "_tokens"))


def contents_of_roles(cls: Any, arguments: dict[str, Any]) -> set[str]:
    """Return the tokens of a class's roles. An object of flags does not count, as in
    transformers.
    """
    contents: set[str] = set()
    for role in set(cls.SPECIAL_TOKENS_ATTRIBUTES) & arguments.keys():
        value = arguments[role]
        contents.update(
            map(
                str, value if isinstance(value, (list, tuple)) else () if value is None else [value]
            )
        )
    return contents


def _special_token(value: Any, where: str, path: str | os.PathLike[str]) -> Any:
    """Return a token of special_tokens_map.json; an object of flags becomes an `AddedToken`."""
    return (
        _checked_added_token({**value, "special": True}, where, path)
        if isinstance(value, dict)
        else value
    )


def token_objects(value: Any, where: str, path: str) -> Any:
    """Return the value of a role, with an `AddedToken` for each object of flags."""
    if isinstance(value, list):
        return [token_objects(item, where, path) for item in value]
    if isinstance(value, dict) and value.keys().isdisjoint(formats.TOKEN_KEYS):  # a user's roles
        return {
            role: token_objects(token, f"{where}.{role}", path) for role, token in value.items()
        }
    # its role makes it special, after `normalized` is settled
    if isinstance(value, dict) and "__type" in value:
        return _checked_added_token(value, where, path)
    return _special_token(value, where, path)


def _checked_added_token(value: Any, where: str, path: str | os.PathLike[str]) -> AddedToken:
    if isinstance(value, AddedToken):
        return value
    if isinstance(value, dict):
        flags = {key: flag for key, flag in value.items() if key not in ("content", "__type")}
        for flag, setting in flags.items():
            if setting is not True and setting is not False and setting is not None:
                raise FileFormatError(
                    f"{where}: {flag} is {setting!r:.60}; a flag is true or false", path=path
                )
        try:
            return AddedToken(value["content"], **flags)
        except KeyError:
            raise FileFormatError(f"{where} is not a token: it has no content", path=path) from None
        except (TypeError, TrietokError) as error:
            raise FileFormatError(f"{where} is not a token: {error}", path=path) from None
    raise FileFormatError(
        f"{where} should be an object with content and flags, not {type(value).__name__}", path=path
    )


def _checked_id(value: Any, where: str, path: str | os.PathLike[str]) -> int:
    number = (
        int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
        else value
    )
    if is_id(number):
        return int(number)
    what = f"is not an id; an id is a whole number from 0 to {formats.HIGHEST_ID}"
    raise FileFormatError(f"{where}: {value!r:.60} {what}", path=path)
