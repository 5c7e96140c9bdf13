"""What the rules of a check ask about: the files of one directory, read and weighed against each other.

In: `CheckedFiles`. Out: `Facts`. How the files are weighed is the rule of `files/load.py`: where tokenizer_config.json
has an added_tokens_decoder, special_tokens_map.json, added_tokens.json and tokenizer.json are not looked at for roles
and added tokens; else the map's roles come before the config's, and later files before earlier ones.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

from trietok.workbench.checking.files import DECODER, CheckedFiles, content_of
from trietok.workbench.checking.report import Finding
from trietok.files.formats import TOKENIZER_FILE, VOCAB_FILE
from trietok.files.settings import ADDITIONAL
from trietok.text.changes import cached_property
from trietok.tokenizer.auto import class_or_bert
from trietok.tokenizer.bert import BertTokenizer, filling
from trietok.tokenizer.special_tokens import EXTRA

ROLES = tuple(role for role in BertTokenizer.SPECIAL_TOKENS_ATTRIBUTES if role != ADDITIONAL)
UNKNOWN = "unk_token"
_FEW = 8

Rule = Callable[["Facts"], Iterator[Finding]]


class Facts:
    """One directory as its files say it is.

    Attributes:
        kind: the class that the files name, in its slow form.
        by_line: id → token of each entry of the vocabulary; `line_ids` the other way round, the last line of a
            duplicate.
        vocabulary_file: the name of the file that the entries were read from.
        decoder_counts: whether tokenizer_config.json has an added_tokens_decoder.
        holes: the ids declared to have no token.
        added: the added tokens that count, as (id, token, name of the file); `added_ids` has their ids.
        roles: role → token, as it is after loading; a role that a file sets to null is missing.
        additional: special tokens of other roles, or of none.
        slow, fast: the tokenizer of each profile; None where it does not load.
    """

    def __init__(self, files: CheckedFiles) -> None:
        self.files = files
        self.kind = class_or_bert(files.config, files.model_config)
        tokens = files.tokens or []
        self.by_line = {token_id: token for token_id, token in enumerate(tokens) if token is not None}
        self.line_ids = {token: token_id for token_id, token in self.by_line.items()}
        single = files.path.name if os.path.isfile(files.path) else VOCAB_FILE
        self.vocabulary_file = TOKENIZER_FILE if files.is_json_alone else single
        self.decoder_counts = DECODER in files.config
        self.holes = files.holes
        self.added = files.added_that_count()
        self.added_ids = {token.content: token_id for token_id, token, _ in self.added}
        parameters = inspect.signature(self.kind.__init__).parameters
        self.defaults = {name: parameter.default for name, parameter in parameters.items() if name in ROLES}
        self.roles: dict[str, str] = {}
        self.additional: list[str] = []
        self.slow: Any = None
        self.fast: Any = None
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

    def setting(self, name: str) -> bool | None:
        """A setting that is true, false or null: tokenizer_config.json's, else the default of the class."""
        parameter = inspect.signature(self.kind.__init__).parameters.get(name)
        default = None if parameter is None else parameter.default
        value = self.files.config.get(name, default)
        return value if value is None or isinstance(value, bool) else default  # there is a finding about any other

    def setting_of(self, name: str, default: str) -> str:
        """A setting that is a word."""
        value = self.files.config.get(name, default)
        return value if isinstance(value, str) else default

    def has(self, token: str | None) -> bool:
        """Whether the vocabulary or an added token is `token`."""
        return token in self.line_ids or token in self.added_ids

    def id_of(self, token: str) -> int | None:
        """The id that encodes a token, as the files say it."""
        return self.added_ids.get(token, self.line_ids.get(token))

    def line_number(self, token_id: int) -> int | None:
        """The line of an entry, where the vocabulary is a file of lines."""
        return None if self.files.is_json_alone else token_id + 1

    def missing_roles(self) -> Iterator[tuple[str, str]]:
        """Role and token of each special token but the unknown one that no file holds."""
        pairs = [pair for pair in self.roles.items() if pair[0] != UNKNOWN]
        for role, token in [*pairs, *((ADDITIONAL, token) for token in self.additional)]:
            if not self.has(token):
                yield role, token

    @cached_property
    def words(self) -> list[str]:
        """The entries that a text may give, without the prefix that continues a word: letters only."""
        special = {*self.roles.values(), *self.additional}
        return [
            word for token in self.line_ids if token not in special and (word := token.removeprefix("##")).isalpha()
        ]

    def is_filled(self, token_id: int) -> bool:
        """Whether the line of an id holds nothing but what trietok writes for an id without a token."""
        return token_id in self.holes and self.by_line.get(token_id) in (filling(token_id), "")


def shortest_useful(facts: Facts) -> int:
    """So many tokens that a few of a text are left beside the special tokens of a pair."""
    return special_places(facts) + _FEW


def special_places(facts: Facts) -> int:
    """How many special tokens stand around a pair."""
    return 3 if facts.slow is None else sum(part.kind != "sequence" for part in facts.slow.template.pair)
