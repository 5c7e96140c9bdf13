"""Special tokens, added tokens and ids: what a check finds in them.

In: what the files say. Out: findings. How the files are weighed against each other is `persistence`'s rule: where
tokenizer_config.json has an added_tokens_decoder, special_tokens_map.json, added_tokens.json and tokenizer.json are not
looked at; else the map's roles come before the config's, and later files before earlier ones.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from typing import Any

from trietok.checking.files import DECODER, CheckedFiles, content_of
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    VOCAB_FILE,
)
from trietok.files.settings import ADDITIONAL, ANY_KIND, WORDPIECE_FAMILY
from trietok.tokenizer.auto import class_or_bert
from trietok.tokenizer.bert import BertTokenizer, filling
from trietok.tokenizer.special_tokens import EXTRA

ROLES = tuple(role for role in BertTokenizer.SPECIAL_TOKENS_ATTRIBUTES if role != ADDITIONAL)
UNKNOWN = "unk_token"


def _defaults(kind: Any) -> dict[str, str]:
    """The tokens of the roles where no file says otherwise."""
    parameters = inspect.signature(kind.__init__).parameters
    return {name: parameter.default for name, parameter in parameters.items() if name in ROLES}


class TokenRules:
    """The rules, on what one directory's files say.

    Attributes:
        by_line: id → token of each line; `line_ids` the other way round, the last line of a duplicate.
        added: the added tokens that count, as (id, token, name of the file); `added_ids` has their ids.
        roles: role → token, as it is after loading.
        additional: special tokens of other roles, or of none.
    """

    def __init__(self, files: CheckedFiles) -> None:
        self.files = files
        tokens = files.tokens or []
        self.by_line = {token_id: token for token_id, token in enumerate(tokens) if token is not None}
        self.line_ids = {token: token_id for token_id, token in self.by_line.items()}
        self.vocabulary_file = files.path.name if os.path.isfile(files.path) else VOCAB_FILE
        self.decoder_counts = DECODER in files.config
        self.holes = files.holes
        self.added = files.added_that_count()
        self.added_ids = {token.content: token_id for token_id, token, _ in self.added}
        self.defaults = _defaults(class_or_bert(files.config, files.model_config))
        self.roles: dict[str, str] = {}
        self.additional: list[str] = []
        self._read_roles()

    def _read_roles(self) -> None:
        self.roles = dict(self.defaults)
        for values in (self.files.config, {} if self.decoder_counts else self.files.special_map):
            for role in ROLES:
                if role in values:
                    content = content_of(values[role])
                    if content is not None:
                        self.roles[role] = content
                    elif values[role] is None:
                        self.roles.pop(role, None)
            for key in (ADDITIONAL, EXTRA):
                entries = values.get(key)
                entries = list(entries.values()) if isinstance(entries, dict) else entries
                contents = map(content_of, entries if isinstance(entries, list) else ())
                self.additional += [token for token in contents if token and token not in self.additional]

    # ---- the rules --------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Everything that needs no loaded tokenizer."""
        self._check_class()
        self._check_maps()
        if self.files.tokens is None:
            return
        self._check_roles()
        self._check_added()

    def _check_class(self) -> None:
        files = self.files
        saved = files.config.get("tokenizer_class")
        known = str(saved).removesuffix("Fast").removesuffix("Legacy").removesuffix("Tokenizer") in WORDPIECE_FAMILY
        if saved is not None and not known and saved not in ANY_KIND:
            message = f"tokenizer_class is {saved!r:.80}, which trietok does not have"
            files.find("error", "unknown-class", message, file=TOKENIZER_CONFIG_FILE)
        for name, values in ((TOKENIZER_CONFIG_FILE, files.config), (CONFIG_FILE, files.model_config)):
            if "auto_map" in values:
                files.find("note", "auto-map", "auto_map names code to run; it is never run", file=name)

    def _check_maps(self) -> None:
        """special_tokens_map.json against what the config says, or what is the default where it may say nothing."""
        files = self.files
        says = f"{SPECIAL_TOKENS_MAP_FILE} has"
        for role in ROLES:
            ours = content_of(files.config.get(role, self.defaults.get(role) if self.decoder_counts else None))
            theirs = content_of(files.special_map.get(role))
            if ours is not None and theirs is not None and ours != theirs:
                counts = ours if self.decoder_counts else theirs
                message = f"{role} is {ours!r} in {TOKENIZER_CONFIG_FILE}, and {says} {theirs!r}; {counts!r} counts"
                self._contradiction(message, role, theirs, ours)
        lists = [values.get(ADDITIONAL) for values in (files.config, files.special_map)]
        contents = [{content_of(entry) or "" for entry in value} for value in lists if isinstance(value, list)]
        if len(contents) == 2 and contents[0] != contents[1]:
            differing = ", ".join(map(repr, sorted(contents[0] ^ contents[1])[:5]))
            message = f"{ADDITIONAL} differs from {TOKENIZER_CONFIG_FILE}: only one of them lists {differing}"
            self._contradiction(message, ADDITIONAL, None, None)

    def _contradiction(self, message: str, role: str, token: str | None, other: str | None) -> None:
        self.files.find(
            "warning",
            "role-contradiction",
            message,
            file=SPECIAL_TOKENS_MAP_FILE,
            role=role,
            token=token,
            other_token=other,
        )

    def _check_roles(self) -> None:
        files = self.files
        by_token: dict[str, list[str]] = {}
        for role, token in self.roles.items():
            by_token.setdefault(token, []).append(role)
        for token, roles in by_token.items():
            shared_by_default = len({self.defaults.get(role, role) for role in roles}) == 1  # as <s> is in MPNet
            if len(roles) > 1 and not shared_by_default:
                message = f"{token!r} is {' and '.join(roles)}: one id for all of them"
                files.find("warning", "shared-role", message, token=token, role=" ".join(roles))
        unknown = self.roles.get(UNKNOWN)
        if unknown not in self.line_ids and unknown not in self.added_ids:
            message = f"the unknown token {unknown!r} is neither in the vocabulary nor an added token; nothing loads"
            if unknown is None:
                message = "there is no unknown token: unk_token is null"
            files.find("error", "unk-missing", message, file=self.vocabulary_file, token=unknown, role=UNKNOWN)

    def missing(self) -> Iterator[tuple[str, str]]:
        """Role and token of each special token but the unknown one that no file holds."""
        pairs = [pair for pair in self.roles.items() if pair[0] != UNKNOWN]
        for role, token in [*pairs, *((ADDITIONAL, token) for token in self.additional)]:
            if token not in self.line_ids and token not in self.added_ids:
                yield role, token

    def _check_added(self) -> None:
        """Added tokens against each other, and each against the vocabulary."""
        by_id: dict[int, tuple[str, str]] = {}
        by_content: dict[str, tuple[int, str]] = {}
        for token_id, token, name in self.added:
            content = token.content
            other, other_file = by_id.setdefault(token_id, (content, name))
            other_id, its_file = by_content.setdefault(content, (token_id, name))
            known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
            if other != content:
                code = "added-id-twice" if other_file == name else "added-tokens-contradiction"
                message = f"{content!r} has the id {token_id}, and so has {other!r}{_in(other_file, name)}"
                self.files.find("error", code, message, other_token=other, **known)
            elif other_id != token_id:
                code = "added-content-twice" if its_file == name else "added-tokens-contradiction"
                message = f"{content!r} has the id {token_id}, and also {other_id}{_in(its_file, name)}"
                self.files.find("error", code, message, other_id=other_id, **known)
            elif self.decoder_counts and name == ADDED_TOKENS_FILE and self.by_line.get(token_id) != content:
                message = f"{content!r}, id {token_id}, is not in {DECODER}, so for transformers it does not exist"
                self.files.find("warning", "added-tokens-contradiction", message, **known)
            self._check_line_of(content, token_id, known)

    def _check_line_of(self, content: str, token_id: int, known: dict[str, Any]) -> None:
        line = self.by_line.get(token_id)
        if line == content or (token_id in self.holes and line == filling(token_id)):
            return
        if line is not None:
            message = f"the added token {content!r} has the id {token_id}, which is that of {line!r} on line "
            message += f"{token_id + 1} of the vocabulary"
            self.files.find("error", "id-clash", message, other_token=line, **known)
        own_id = self.line_ids.get(content)
        if own_id is not None:
            message = f"the added token {content!r} has the id {token_id}, and {own_id} in the vocabulary"
            self.files.find("error", "added-id-differs", message, other_id=own_id, **known)

    # ---- ids against each other and against the model --------------------------------------------------------------

    def check_ids(self, loaded: dict[int, str]) -> None:
        """Rules on all ids.

        Args:
            loaded: the added tokens by id, with those that are added on loading.
        """
        used = sorted({*self.by_line, *loaded})
        for before, after in zip([-1, *used], used, strict=False):
            if after > before + 1:
                self._hole(before + 1, after - 1)
        rows = self.files.model_config.get("vocab_size")
        if type(rows) is int and rows > 0:
            self._check_rows(rows, used[-1], loaded)

    def _hole(self, first: int, last: int) -> None:
        declared = last - first < len(self.holes) and self.holes.issuperset(range(first, last + 1))
        which = f"id {first} belongs" if first == last else f"ids {first} to {last} belong"
        message = f"{which} to no token" + (
            ", as tokenizer_config.json declares" if declared else "; transformers gives new tokens ids that are taken"
        )
        self.files.find("note" if declared else "warning", "id-hole", message, token_id=first, other_id=last)

    def _check_rows(self, rows: int, max_id: int, loaded: dict[int, str]) -> None:
        encoding = {token_id: token for token, token_id in self.line_ids.items()}
        past = sorted((token_id, token) for token_id, token in {**encoding, **loaded}.items() if token_id >= rows)
        for token_id, token in past:
            message = f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1} (vocab_size)"
            self.files.find("error", "id-past-model", message, file=CONFIG_FILE, token=token, token_id=token_id)
        if rows > max_id + 1:
            message = f"vocab_size is {rows}, and the highest id is {max_id}: {rows - max_id - 1} row(s) are not used"
            self.files.find("note", "model-larger", message, file=CONFIG_FILE)


def _in(file: str, here: str) -> str:
    return "" if file == here else f" in {file}"
