"""What loading and `trietok check` report about the files of a tokenizer.

Loading passes each problem to a function. `raise_or_log` raises the first error and logs warnings;
`check` collects all of them.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from trietok.errors import (
    FileError,
    FileFormatError,
    InterruptedSaveError,
    SpecialTokenError,
    TrietokError,
    VocabularyError,
    shortened,
)

logger = logging.getLogger("trietok")

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
FILE_ERRORS = (FileError, FileFormatError, SpecialTokenError, VocabularyError)
_SAID: set[str] = set()  # the warnings that this process has logged


class Words(NamedTuple):
    """What all findings of one code have in common.

    Both sentences may have names of attributes of `Finding` in braces. DIR stands for the directory
    that was checked, OUT for a new one.
    """

    consequence: str
    repair: str


_FIX = "trietok check -m DIR --fix -o OUT"
_NEW_JSON = (
    "remove tokenizer.json, then BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR) writes"
    " it again"
)
_RESIZE = (
    "model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)"
)
_OTHER_MODEL = "put the model's own vocabulary and config.json into the directory"

WORDS = {
    # of errors that loading raises
    "does-not-load": Words(
        "programs that read {file} cannot load the tokenizer",
        "correct what the message names, or copy or download {file} again",
    ),
    "ids-contradict": Words(
        "two tokens share one id, or a token has two, so the tokenizer does not load",
        "change one of the ids to that of the token's own embedding row, or to a free id",
    ),
    "save-interrupted": Words(
        "trietok does not load it, and other programs may mix old and new files",
        "`trietok check -m DIR --fix` finishes the save",
    ),
    # of what loading logs
    "added-token-ignored": Words(
        "trietok reads the tokens, and transformers does not", "add them to added_tokens_decoder"
    ),
    "file-changed": Words(
        "the files may belong to two tokenizers",
        "load the tokenizer and save it again, or copy all files again, as the message says",
    ),
    "id-past-model": Words(
        "the model raises an index error when such an id comes",
        f"if the tokens are new, {_RESIZE}; else {_OTHER_MODEL}",
    ),
    "model-larger": Words(
        "some embedding rows have no token; the vocabulary may be another model's",
        f"nothing if the rows are padding; else {_OTHER_MODEL}",
    ),
    "model-token-id": Words(
        "the model masks, pads or ends at another token than the tokenizer",
        '{file}: "{role}_id": {token_id}',
    ),
    "name-not-read": Words(
        "what it says is not read, so ids may be others",
        "rename {file}, or remove it if it is an old copy",
    ),
    "other-vocabulary": Words(
        "most words of a text become the unknown token",
        "put the model's own vocab.txt there, one token a line",
    ),
    "role-exchanged": Words(
        "every sequence has a wrong id in the place of the {role}",
        'tokenizer_config.json: "{role}": the token of that name',
    ),
    "special-missing": Words(
        "the model has no embedding row for its id, or one that was not trained",
        'tokenizer_config.json: "{role}": the token that the model was trained with',
    ),
    "tokenizer-json-differs": Words(
        "BertTokenizerFast and BertTokenizer give different ids, and one is not the model's",
        "if vocab.txt is wrong, put the model's own there; if tokenizer.json is wrong,"
        f" {_NEW_JSON}",
    ),
    "tokenizer-json-setting": Words(
        "slow tokenizers, fast tokenizers and transformers 5 give different ids or texts",
        f"correct the file that is wrong; if it is tokenizer.json, {_NEW_JSON}",
    ),
    "tokenizer-json-version": Words(
        "`tokenizers` and other versions of transformers read another file",
        "keep the right one as tokenizer.json, and take fast_tokenizer_files out of {file}",
    ),
    "vocabulary-case": Words(
        "words with capitals are cut into wrong pieces or become the unknown token",
        'tokenizer_config.json: "do_lower_case": true or false, as the model was trained',
    ),
    # of what only a check asks: the lines of vocab.txt
    "blank-line": Words("the id belongs to an empty token, which no text has", _FIX),
    "byte-order-mark": Words("the token with the id 0 is in no text", _FIX),
    "carriage-return": Words(
        "programs that end lines only at LF read other tokens, or give them other ids", _FIX
    ),
    "duplicate-line": Words(
        "one line of a token counts; the embedding rows of the others are not used", _FIX
    ),
    "edge-space": Words("the whitespace belongs to the token, so no word equals it", _FIX),
    # its other files
    "id-hole": Words(
        "transformers gives the next new token the id len(tokenizer), which is taken",
        f"{_FIX} --renumber, which writes old id -> new id to id_map.json",
    ),
    "model-input-names": Words(
        "tokenizer.pad and collators raise, or calls lack an input of the model",
        'tokenizer_config.json: "model_input_names": ["input_ids", "token_type_ids", '
        '"attention_mask"], or take the key out',
    ),
    "model-length": Words(
        "truncation leaves texts that are too long for the model, which raises an index error",
        'tokenizer_config.json: "model_max_length": the number of max_position_embeddings',
    ),
    "model-type": Words(
        "the template or the inputs are not those of the model",
        "put the model's own config.json or tokenizer there",
    ),
    "model-types": Words(
        "the model raises an index error for pairs",
        'tokenizer_config.json: "model_input_names": ["input_ids", "attention_mask"]',
    ),
    "option-misspelt": Words(
        "the option has no effect", "tokenizer_config.json: rename the key"
    ),
    "record-false": Words(
        "new tokens may get ids that are taken",
        "BertTokenizer.from_pretrained(DIR).save_pretrained(DIR) writes it again",
    ),
    "role-contradiction": Words(
        "versions of transformers and other programs take one or the other",
        f"{_FIX}, which writes what counts into both",
    ),
    "role-null": Words(
        "slow tokenizers raise for each text, fast ones put the unknown token into its place",
        'tokenizer_config.json: "{role}": the token that the model was trained with',
    ),
    "save-abandoned": Words(
        "nothing: the old files count, and no program reads {file}",
        "nothing, or `trietok check -m DIR --fix`: it finishes the save if all new files are there,"
        " and else removes {file}",
    ),
    "tokenizer-json-added": Words(
        "only some programs find the token in texts, or skip it when they decode",
        f"correct the file that is wrong; if it is tokenizer.json, {_NEW_JSON}",
    ),
    "tokenizer-json-decoder": Words(
        "decoding leaves prefixes and spaces between the pieces of words", _NEW_JSON
    ),
    "tokenizer-json-length": Words(
        "`tokenizers`, and servers that use it, cut or pad every text this way; trietok and"
        " transformers do what each call asks for",
        'nothing if it is meant; else {file}: "truncation": null and "padding": null',
    ),
    "weights-rows": Words(
        "the model does not load, or raises an index error for ids without an embedding row",
        f"{_RESIZE}; or {_OTHER_MODEL}",
    ),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Finding:
    """One problem in the files of a tokenizer.

    Attributes:
        severity: `"error"`: the tokenizer does not load, or ids are certainly wrong; `"warning"`:
            something is probably a mistake; `"note"`: worth knowing.
        code: its kind; the codes are listed in `docs/checking.md` and do not change.
        message: what was found, in one line.
        file: the name of the file in the directory.
        line_number: from 1; in a vocab.txt it is the id plus one.
        token, token_id: the token it is about, and its id.
        other_id: another id that the token has or should have.
        role: the role of a special token, such as `pad_token`.
        lines: all line numbers, if there are several.

    What is not known is None.

    >>> finding = Finding("warning", "edge-space", "...", file="vocab.txt")
    >>> finding.repair
    'trietok check -m DIR --fix -o OUT'
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    line_number: int | None = None
    token: str | None = None
    token_id: int | None = None
    other_id: int | None = None
    role: str | None = None
    lines: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes that are not None, as values for JSON.

        >>> Finding("warning", "blank-line", "...", file="vocab.txt").to_dict()
        {'severity': 'warning', 'code': 'blank-line', 'message': '...', 'file': 'vocab.txt',
         'consequence': 'the id belongs to an empty token, which no text has',
         'repair': 'trietok check -m DIR --fix -o OUT'}
        """
        values = {**vars(self), "lines": self.lines and list(self.lines)}
        values |= {"consequence": self.consequence, "repair": self.repair}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def consequence(self) -> str:
        """What follows from it."""
        return WORDS[self.code].consequence.format_map(self._names())

    @property
    def repair(self) -> str:
        """The edit or the command that repairs it. DIR is the directory that was checked, OUT a new
        one.
        """
        return WORDS[self.code].repair.format_map(self._names())

    def _names(self) -> dict[str, Any]:
        return {**vars(self), "file": self.file or "the files"}

    @property
    def place(self) -> str:
        """Where it is, as far as that is known: `"vocab.txt, line 3"`, or nothing."""
        if self.file is None:
            return ""
        return self.file if self.line_number is None else f"{self.file}, line {self.line_number}"


Problem = TrietokError | Finding
Report = Callable[[Problem], None]


def first_of(tokens: Sequence[str]) -> str:
    """Return the first of some tokens, and how many more there are.

    >>> first_of(["a"]), first_of(["a", "b", "c"])
    ("'a'", "'a' and 2 more")
    """
    return f"{tokens[0]!r}" + (f" and {len(tokens) - 1} more" if tokens[1:] else "")


def raise_or_log(name: str) -> Report:
    """Return what loading does with a problem of `name`: raise an error, log others but notes."""

    def report(problem: Problem) -> None:
        if isinstance(problem, TrietokError):
            raise problem
        if problem.severity != "note":
            say_once(": ".join(filter(None, (name, problem.place, problem.message))))

    return report


def attempt(report: Report, function: Callable[..., Any], *arguments: Any, otherwise: Any) -> Any:
    """Return what a function returns. If it raises for a file, report that; return `otherwise`."""
    try:
        return function(*arguments)
    except FILE_ERRORS as error:
        report(error)
        return otherwise


def finding_of(error: Exception, directory: str) -> Finding:
    """Return an error of loading as a finding; the message has no path of the directory."""
    code = "does-not-load"
    if isinstance(error, InterruptedSaveError):
        code = "save-interrupted"
    elif isinstance(error, VocabularyError) and error.found_id is not None:
        code = "ids-contradict"
    path, line_number = getattr(error, "path", None), getattr(error, "line_number", None)
    file = os.path.basename(path) if path and os.fspath(path) != directory else None
    message = str(error).replace(os.path.join(directory, ""), "") or type(error).__name__
    if os.path.isdir(directory) and message.startswith(f"{directory} "):
        message = message.replace(directory, "the directory", 1)
    if file is not None:  # a report shows the place before the message
        start = rf"{re.escape(file)}(, line {line_number})?[:,]? "
        message = re.sub(start, "", message, count=1) if re.match(start, message) else message
    return Finding(
        "error",
        code,
        message,
        file,
        line_number,
        getattr(error, "token", None),
        getattr(error, "found_id", None),
        getattr(error, "expected_id", None),
    )


def say_once(message: str) -> None:
    """Log a warning about files; the same one is said once in a process."""
    if message not in _SAID:
        _SAID.add(message)
        logger.warning("%s", message)
