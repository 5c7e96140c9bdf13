"""What is known of a directory that is checked, and the list of the rules that look at it.

In: the files of one directory (`CheckedFiles`). Out: `Facts`; `RULES`, each of which yields
findings about them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

from trietok.files.doubts import case_of
from trietok.files.formats import (
    ADDITIONAL,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)
from trietok.text.changes import cached_property
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.auto import class_or_bert
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.special_tokens import EXTRA
from trietok.tokenizer.wordpiece_vocabulary import filling
from trietok.workbench.checking.files import DECODER, CheckedFiles, content_of
from trietok.workbench.checking.report import Code, Finding, Severity, declare

# What the rules ask about. How the files are weighed against each other is the rule of
# `files/load.py`: where tokenizer_config.json has an added_tokens_decoder, special_tokens_map.json,
# added_tokens.json and tokenizer.json are not looked at for roles and added tokens; else the map's
# roles come before the config's, and later files before earlier ones.

ROLES_OF_BERT = tuple(
    role for role in BertTokenizer.SPECIAL_TOKENS_ATTRIBUTES if role != ADDITIONAL
)
UNKNOWN = "unk_token"
# Settings that have another name in tokenizer.json than in tokenizer_config.json.
NAMES_IN_JSON = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}
_FEW = 8

CASED_VOCABULARY = declare(
    "cased-vocabulary",
    so="no text gives an entry with a capital, and names are cut into pieces or unknown",
    do='in tokenizer_config.json: "do_lower_case": false',
)


class Facts:
    """One directory as its files say it is, as far as they can be read."""

    def __init__(self, files: CheckedFiles) -> None:
        self.files = files
        self.json: Any = files.fast_values  # what tokenizer.json says; None where it cannot be read
        # the class that the files name, in its slow form
        self.kind = class_or_bert(files.config, files.model_config)
        self.vocabulary = files.tokens  # the lines; None where they cannot be read
        self.by_line = {
            token_id: token
            for token_id, token in enumerate(files.tokens or ())
            if token is not None
        }
        # the last of a duplicate
        self.line_ids = {token: token_id for token_id, token in self.by_line.items()}
        single = files.path.name if os.path.isfile(files.path) else VOCAB_FILE
        self.vocabulary_file = TOKENIZER_FILE if files.is_json_alone else single
        self.decoder_counts = DECODER in files.config  # its tokens, and not those of other files
        self.prefix: str = BERT_PREFIX if self.json is None else self.json.continuing_subword_prefix
        self.holes = files.holes  # the ids declared to have no token
        self.added = files.added_that_count()
        self.added_ids = {token.content: token_id for token_id, token, _ in self.added}
        parameters = inspect.signature(self.kind.__init__).parameters.items()
        # as the class has them
        self._settings = {name: parameter.default for name, parameter in parameters}
        self.defaults = {
            role: token for role, token in self._settings.items() if role in ROLES_OF_BERT
        }
        self.additional: list[str] = []  # special tokens of other roles, or of none
        self.slow: Any = None  # the tokenizer of each profile; None where it does not load
        self.fast: Any = None
        # as they are after loading, without those that a file sets to null
        self.roles = dict(self.defaults)
        for values in (self.files.config, {} if self.decoder_counts else self.files.special_map):
            for role in ROLES_OF_BERT:
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
                self.additional += [
                    token for token in contents if token and token not in self.additional
                ]
        self.special = {*self.roles.values(), *self.additional}
        # whether words are split as in BERT
        self.basic = None if self.setting("do_basic_tokenize") is False else True

    def setting(self, name: str) -> bool | None:
        """A setting that is true, false or null: tokenizer_config.json's, else the default of the
        class.
        """
        default = self._settings.get(name)
        value = self.files.config.get(name, default)
        # there is a finding about any other
        return value if value is None or isinstance(value, bool) else default

    def has(self, token: str | None) -> bool:
        """Whether the vocabulary or an added token is `token`."""
        return token in self.line_ids or token in self.added_ids

    def id_of(self, token: str) -> int | None:
        """The id that encodes a token, as the files say it."""
        return self.added_ids.get(token, self.line_ids.get(token))

    def role_finding(
        self, code: Code, message: str, role: str, severity: Severity = "warning", **known: Any
    ) -> Finding:
        """A finding about the token of a role, in the file that gives it."""
        in_map = not self.decoder_counts and role in self.files.special_map
        file = SPECIAL_TOKENS_MAP_FILE if in_map else TOKENIZER_CONFIG_FILE
        return Finding(
            severity, code, message, file, role=role, **{"token": self.roles[role], **known}
        )

    @cached_property
    def words(self) -> list[str]:
        """The entries that a text may give, without the prefix that continues a word: letters
        only.
        """
        words = [
            token.removeprefix(self.prefix) for token in self.line_ids if token not in self.special
        ]
        return [word for word in words if word.isalpha()]

    @cached_property
    def case(self) -> tuple[bool | None, str]:
        """Whether the entries are of lower-cased texts, None where they do not tell it; and what
        tells it, in words.
        """
        return case_of(self.words)

    def is_filled(self, token_id: int) -> bool:
        """Whether the line of an id holds nothing but what trietok writes for an id without a
        token.
        """
        return token_id in self.holes and self.by_line.get(token_id) in (filling(token_id), "")

    @property
    def has_other_stages(self) -> bool:
        """Whether tokenizer.json has other normalizers or pre-tokenizers than BERT."""
        pipeline = self.json and self.json.pipeline()
        return bool(pipeline) and not pipeline.is_berts

    @property
    def special_places(self) -> int:
        """How many special tokens stand around a pair."""
        return (
            3
            if self.slow is None
            else sum(part.kind != "sequence" for part in self.slow.template.pair)
        )

    @property
    def shortest_useful(self) -> int:
        """So many tokens that a few of a text are left beside the special tokens of a pair."""
        return self.special_places + _FEW

    @property
    def loaded_ids(self) -> dict[int, str]:
        """The added tokens by id, with those that are added on loading."""
        read = (
            self.slow.added_tokens_decoder.items()
            if self.slow is not None
            else (each[:2] for each in self.added)
        )
        return {token_id: token.content for token_id, token in read}

    @property
    def highest_id(self) -> int:
        """The highest id that a token has, -1 if there is none."""
        return max(max(self.by_line, default=-1), max(self.loaded_ids, default=-1))

    @property
    def rows_needed(self) -> int:
        """How many rows a model needs; ids of tokens that were removed stay reserved, and have
        theirs.
        """
        return 1 + max(self.highest_id, -1 if self.slow is None else self.slow.max_id)


Rule = Callable[[Facts], Iterator[Finding]]
# with the codes, and what each needs
RULES: list[tuple[frozenset[Code], tuple[str, ...], Rule]] = []


def rule(*codes: Code, needs: str = "") -> Callable[[Rule], Rule]:
    """Make a function a rule of every check, after those that stand before it in its module.

    Args:
        codes: of the findings that it yields, each with its words by `declare`.
        needs: the attributes of `Facts` without which there is nothing to look at, with spaces
            between them: the rule is passed over where one of them is None.

    Raises:
        TypeError: no code is named.
    """
    if not codes:
        raise TypeError(
            "a rule names the codes of its findings: @rule(ID_HOLE), where ID_HOLE = declare(...)"
        )

    def listed(function: Rule) -> Rule:
        RULES.append((frozenset(codes), tuple(needs.split()), function))
        return function

    return listed


def as_written(value: Any) -> str:
    """A setting as it stands in a file: `true`, `null`, or what it is."""
    return {None: "null", True: "true", False: "false"}.get(value, repr(value))
