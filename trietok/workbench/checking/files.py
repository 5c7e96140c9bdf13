"""The files of a tokenizer directory, read as far as they can be; what cannot be is a finding.

In: a path. Out: `CheckedFiles`. What a file says is read as loading reads it, by the functions of
`files/load.py`; where loading raises, a finding is added and reading goes on. No file is opened but
those of a tokenizer's names in the directory; paths that stand in a file are not followed.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trietok.disk import (
    ANY_SIZE,
    FOREIGN_HEAD,
    NEW,
    OR_GIVE,
    foreign,
    names_tokenizer,
    open_regular,
    read_vocab_bytes,
    reading_from,
)
from trietok.errors import (
    FileError,
    FileFormatError,
    InterruptedSaveError,
    TrietokError,
    VocabularyError,
)
from trietok.files.added_ids import checked_added_token, checked_id, entries_of, is_role
from trietok.files.directory import Contents, read_together, without_hashes
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    BPE_VOCAB_FILE,
    CHAT_TEMPLATE_FILE,
    CONFIG_FILE,
    MERGES_FILE,
    RECORD,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    wrong_settings,
)
from trietok.files.json_files import check_depth, doubled_keys, read_json_text
from trietok.files.kinds import other_kind, tokenizer_folders
from trietok.files.load import VERSIONED, fast_file_of, paths_in_files
from trietok.files.model_files import BUILT_IN_NAMES, built_in_directory
from trietok.files.tokenizer_json import tokenizer_json_from_object
from trietok.files.tokenizer_json_content import TokenizerJson
from trietok.showing.characters import first_few
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.bert import BertTokenizer
from trietok.workbench.checking.report import (
    NEW_JSON,
    NOTHING_LOADS,
    Code,
    Finding,
    Findings,
    Severity,
    declare,
)
from trietok.workbench.checking.vocabulary_lines import (
    BLANK_LINE,
    CARRIAGE_RETURNS,
    NOT_UTF8,
    SUSPECT,
    check_line,
    duplicates,
    line_ends,
    not_utf8,
)

# What is wrong with a file by itself.
MISSING_VOCABULARY = declare(
    "missing-vocabulary",
    so=NOTHING_LOADS,
    do="put the model's vocab.txt into the directory",
)
OTHER_KIND = declare(
    "other-kind",
    so="no WordPiece tokenizer loads it",
    do="load it with what the message names",
)
EMPTY_VOCABULARY = declare(
    "empty-vocabulary",
    so=NOTHING_LOADS,
    do="put the model's vocab.txt into its place, one token a line",
)
_NOWHERE = "a link that leads nowhere; copy or download the file again, with links followed (cp -L)"
UNREADABLE_FILE = declare(
    "unreadable-file",
    so=(
        "trietok loads nothing, or nothing of what the file says; transformers may pass it over and"
        " give other ids"
    ),
    do="put the file there again, or mend its permissions; if a limit is named, use a smaller file",
)
NOT_THAT_FILE = declare(
    "not-that-file",
    "files are something else than their names say",
    so="what reads {file} does not load, and what it should say is not checked",
    do="as the message says: get {file} again, convert it, or give what is wanted",
)
TOKENIZER_JSON_IDS = declare(
    "tokenizer-json-ids",
    so="a fast tokenizer does not load, or has wrong ids",
    do="correct the id, or " + NEW_JSON,
)
TOKENIZER_JSON_PART = declare(
    "tokenizer-json-part",
    so="BertTokenizerFast does not load; the tokenizers package may",
    do="if a vocab.txt has the same tokens: "
    + NEW_JSON
    + "; else load it with the tokenizers package",
)
TOKENIZER_JSON_VERSION = declare(
    "tokenizer-json-version",
    so=(
        "`tokenizers` and other versions of transformers read another file, which may give"
        " other ids"
    ),
    do=(
        "keep the right file as tokenizer.json, and take fast_tokenizer_files out of"
        " tokenizer_config.json"
    ),
)
NOT_JSON = declare(
    "not-json",
    so="what reads {file} does not load, and what it says is not checked",
    do=(
        "correct the file at the place named, or copy it again if it was cut off; a tokenizer.json"
        " beside a good vocab.txt may be removed"
    ),
)
WRONG_SHAPE = declare(
    "wrong-shape",
    "a file holds something else than it should",
    so="what reads {file} does not load, and what else it says is not checked",
    do="write a value of the kind that the message names",
)
DUPLICATE_KEY = declare(
    "duplicate-key",
    "a key stands twice in an object; the last one counts",
    so="readers disagree about which of the two counts",
    do="remove one of them",
)
SAVE_INTERRUPTED = declare(
    "save-interrupted",
    "a save was interrupted while it replaced files",
    so="trietok does not load it, and other programs may mix old and new files",
    do="`trietok check -m DIR --fix` finishes the save",
)
FILES_CHANGED = declare(
    "file-changed",
    "files are not as they were saved together",
    so="the files may belong to two tokenizers; loading warns",
    do="if you changed {file}, load the tokenizer and save it again; if not, copy all files again",
)


def _read_vocabulary(files: CheckedFiles, path: Path) -> None:
    """Check the bytes of a vocabulary file, and keep its lines as the tokenizer reads them;
    O(bytes).
    """
    findings, file = files.findings, path.name
    if is_foreign(files, path, file, "error"):
        return
    try:
        raw = read_vocab_bytes(path)
    except (FileError, FileFormatError) as error:
        message = str(error).replace(f"{path} ", "it ").replace(str(path), file)
        files.find(
            "error",
            UNREADABLE_FILE,
            message,
            file=file,
            line_number=getattr(error, "line_number", None),
        )
        return
    files.present.add(file)
    if not raw:
        files.find(
            "error",
            EMPTY_VOCABULARY,
            "the file is empty: it should hold one token a line",
            file=file,
        )
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        findings.extend(not_utf8(raw, file))
        return
    findings.extend(line_ends(text, file))
    lines = CARRIAGE_RETURNS.split(text)
    if lines[-1] == "":
        lines.pop()
    added = {token.content: token_id for token_id, token, _ in files.added_that_count()}
    free = files.holes.union(added.values())  # an added token may have the id of a blank line
    tokens = [
        None if line == "" and token_id in free else line for token_id, line in enumerate(lines)
    ]
    for token_id, line in enumerate(tokens):
        if line == "" and not findings.has_room(BLANK_LINE):
            continue
        if line == "" or (line and SUSPECT.search(line)):
            findings.extend(check_line(line, token_id, file))
    findings.extend(duplicates(tokens, added, file))
    if any(token is not None for token in tokens):
        files.tokens = tokens
    else:
        files.find("error", EMPTY_VOCABULARY, "every line is blank and declared a hole", file=file)


def is_foreign(files: CheckedFiles, path: Path, name: str, severity: Severity) -> bool:
    """Whether a file is something else than its name says, which is a finding; so is a link that
    leads nowhere.
    """
    try:
        with open_regular(path, ANY_SIZE) as file:
            what = foreign(file.read(FOREIGN_HEAD))
    except (OSError, FileError):  # whoever reads it says so
        what = None if os.path.exists(path) else _NOWHERE
    if what is not None:
        wanted = OR_GIVE if path == files.path and not names_tokenizer(name) else ""
        files.find(severity, NOT_THAT_FILE, f"it is {what}{wanted}", file=name)
    return what is not None


DECODER = "added_tokens_decoder"


@dataclass
class CheckedFiles:
    """What the files of a directory say: JSON objects, which are empty where there is none, and
    tokens with ids.
    """

    path: Path  # the directory, or the vocabulary file
    # what is wrong with the files by themselves
    findings: Findings = field(default_factory=Findings)
    tokens: list[str | None] | None = (
        None  # the lines, None for a declared hole; None where they cannot be read
    )
    present: set[str] = field(default_factory=set)  # the names of the files that could be read
    config: dict[str, Any] = field(default_factory=dict)
    special_map: dict[str, Any] = field(default_factory=dict)
    model_config: dict[str, Any] = field(default_factory=dict)
    decoder: list[tuple[int, AddedToken]] = field(default_factory=list)  # of tokenizer_config.json
    added: list[tuple[int, AddedToken]] = field(default_factory=list)  # of added_tokens.json
    fast: list[tuple[int, AddedToken]] = field(default_factory=list)  # of tokenizer.json
    fast_values: TokenizerJson | None = (
        None  # what that says; None where there is none or trietok cannot read it
    )
    is_json_alone: bool = (
        False  # whether the vocabulary is that of tokenizer.json: there is no vocab.txt
    )
    fast_file: str = (
        TOKENIZER_FILE  # the name of the file that is read in the place of tokenizer.json
    )

    def file(self, name: str) -> Path:
        """Where loading finds a file of the directory, if it is there."""
        return self.path / (self.fast_file if name == TOKENIZER_FILE else name)

    def find(self, severity: Any, code: Code, message: str, **known: Any) -> None:
        """Add a finding."""
        if self.findings.has_room(code):
            self.findings.append(Finding(severity, code, message, **known))

    @property
    def is_interrupted(self) -> bool:
        """Whether a save was interrupted while it replaced files."""
        return any(finding.code == SAVE_INTERRUPTED for finding in self.findings)

    @property
    def record(self) -> dict[str, Any]:
        """What trietok itself has noted in tokenizer_config.json."""
        record = self.config.get(RECORD)
        return record if isinstance(record, dict) else {}

    @property
    def holes(self) -> set[int]:
        """The ids declared to have no token."""
        holes = self.record.get("vocab_holes")
        return {hole for hole in holes if type(hole) is int} if isinstance(holes, list) else set()

    def added_that_count(self) -> list[tuple[int, AddedToken, str]]:
        """The added tokens as id, token, file, in the order of reading; what two files say alike
        stands once.

        Those of an added_tokens_decoder come first, and then only added_tokens.json is read.
        """
        kept: dict[tuple[int, str], tuple[AddedToken, str]] = {}
        fast = [] if DECODER in self.config else self.fast
        read = {
            TOKENIZER_CONFIG_FILE: self.decoder,
            ADDED_TOKENS_FILE: self.added,
            TOKENIZER_FILE: fast,
        }
        for name, pairs in read.items():
            for token_id, token in pairs:
                if name == TOKENIZER_FILE:  # it has the flags, which added_tokens.json lacks
                    kept.pop((token_id, token.content), None)
                kept.setdefault((token_id, token.content), (token, name))
        return [(token_id, token, name) for (token_id, _), (token, name) in kept.items()]


CHECKED_FILES = (
    VOCAB_FILE,
    TOKENIZER_CONFIG_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    ADDED_TOKENS_FILE,
    TOKENIZER_FILE,
    CONFIG_FILE,
)


def read_files(path: str | os.PathLike[str]) -> CheckedFiles:
    """Read a directory, a vocabulary file or a built-in vocabulary; nothing raises."""
    name = os.fspath(path)
    is_built_in = name in BUILT_IN_NAMES and not os.path.exists(name)
    files = CheckedFiles(built_in_directory(name) if is_built_in else Path(name))
    with contextlib.ExitStack() as stack:
        if name and os.path.isdir(files.path):
            contents = _read_together(files)
            if files.is_interrupted:
                return files
            if contents is not None:
                read = contents.files.items()
                stack.enter_context(
                    reading_from({os.fspath(files.path / name): content for name, content in read})
                )
        _read(files, name)
    return files


def _read(files: CheckedFiles, name: str) -> None:
    kind = other_kind(os.fspath(files.path)) if name else None
    if kind is not None:
        files.find("error", OTHER_KIND, kind)
    elif os.path.isfile(files.path):
        if files.path.name in CHECKED_FILES and files.path.name != VOCAB_FILE:
            told = f"it is one of a tokenizer's files; give its directory, {files.path.parent}"
            files.find("error", NOT_THAT_FILE, told, file=files.path.name)
        else:
            _read_vocabulary(files, files.path)
    elif name and os.path.isdir(files.path):
        _read_all(files)
    else:
        files.find("error", UNREADABLE_FILE, "there is neither a directory nor a file of that name")


def _read_together(files: CheckedFiles) -> Contents | None:
    """Read the files as loading does; None if they cannot be read so."""
    names = (*CHECKED_FILES, BPE_VOCAB_FILE, MERGES_FILE, CHAT_TEMPLATE_FILE)
    try:
        contents = read_together(files.path, names)
    except (InterruptedSaveError, FileError) as error:
        if error.path != os.fspath(files.path):  # it is tokenizer_config.json, which is found below
            return None
        message = "some files may be old and some new; the new ones are there, as NAME.new"
        if not isinstance(error, InterruptedSaveError):
            message = str(error)
        files.find("error", SAVE_INTERRUPTED, message, file=TOKENIZER_CONFIG_FILE + NEW)
        return None
    for name in contents.changed:
        message = f"{TOKENIZER_CONFIG_FILE} records another hash of it"
        if contents.files.get(name, b"") is None:
            message = f"it is missing, and {TOKENIZER_CONFIG_FILE} records its hash"
        files.find("warning", FILES_CHANGED, message, file=name)
    return contents


def _read_all(files: CheckedFiles) -> None:
    for name in CHECKED_FILES:
        path = files.file(name)
        if os.path.lexists(path) and not os.path.isfile(path):
            message = "it is no regular file but a directory or a pipe; loading passes it over"
            if os.path.islink(path):
                message = f"it is {_NOWHERE}"
            files.find("error", UNREADABLE_FILE, message, file=name)
    files.config = without_hashes(_read_object(files, TOKENIZER_CONFIG_FILE))
    _choose_fast_file(files)
    files.special_map = _read_object(files, SPECIAL_TOKENS_MAP_FILE)
    files.model_config = _read_object(files, CONFIG_FILE)
    _check_settings(files)
    decoder = files.config.get(DECODER, {})
    if isinstance(decoder, dict):
        files.decoder = _entries(files, TOKENIZER_CONFIG_FILE, decoder)
    else:
        _misshapen(files, TOKENIZER_CONFIG_FILE, f"{DECODER} should be an object id → token")
    special = {content_of(value) for value in (*files.config.values(), *files.special_map.values())}
    files.added = _entries(
        files, ADDED_TOKENS_FILE, _read_object(files, ADDED_TOKENS_FILE), special
    )
    _read_fast(files)
    vocabulary = files.file(VOCAB_FILE)
    if os.path.isfile(vocabulary):
        _read_vocabulary(files, vocabulary)
    elif files.fast_values is not None:
        files.is_json_alone = True
        files.tokens = list(Vocabulary.from_mapping(files.fast_values.vocabulary).tokens)
    elif not _about_fast(files):
        there = first_few(sorted(os.listdir(os.path.dirname(vocabulary))))
        message = (
            f"the directory has no {VOCAB_FILE} and no"
            f" {TOKENIZER_FILE}{f', only {there}' if there else ''}"
        )
        message += "".join(
            f"; {folder} has one" for folder in tokenizer_folders(str(files.path))[:1]
        )
        files.find("error", MISSING_VOCABULARY, message, file=VOCAB_FILE)


def _read_object(files: CheckedFiles, name: str) -> dict[str, Any]:
    """A JSON file that holds an object; empty where it is not there or is something else."""
    path = files.file(name)
    if not os.path.isfile(path) or is_foreign(files, path, name, "error"):
        return {}
    doubles: list[str] = []

    def noting_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            doubles.extend(doubled_keys(pairs))
        return value

    try:
        value = json.loads(read_json_text(path), object_pairs_hook=noting_doubles)
        if isinstance(value, dict) and not doubles:
            check_depth(value)
    except json.JSONDecodeError as error:
        files.find(
            "error",
            NOT_JSON,
            f"column {error.colno}: {error.msg}",
            file=name,
            line_number=error.lineno,
        )
    except FileError as error:
        files.find("error", UNREADABLE_FILE, str(error).replace(str(path), name), file=name)
    except FileFormatError as error:
        message = (
            str(error).replace(f"{path}, line {error.line_number}: ", "").replace(str(path), name)
        )
        code = NOT_UTF8 if "is not UTF-8" in message else NOT_JSON
        files.find("error", code, message, file=name, line_number=error.line_number)
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        files.find("error", NOT_JSON, "a number is too long or the nesting too deep", file=name)
    else:
        files.present.add(name)
        for key in doubles:
            files.find(
                "error", DUPLICATE_KEY, f"the key {key!r:.60} stands twice in one object", file=name
            )
        if isinstance(value, dict):
            return value
        _misshapen(files, name, f"it holds a JSON {type(value).__name__}, not an object {{...}}")
    return {}


def _choose_fast_file(files: CheckedFiles) -> None:
    """Which tokenizer.json is read, where tokenizer_config.json names several."""
    if VERSIONED not in files.config:
        return
    try:
        files.fast_file = fast_file_of(files.config[VERSIONED], TOKENIZER_CONFIG_FILE)
    except FileFormatError as error:
        _misshapen(
            files, TOKENIZER_CONFIG_FILE, str(error).removeprefix(f"{TOKENIZER_CONFIG_FILE}: ")
        )
    if files.fast_file != TOKENIZER_FILE:
        message = (
            f"{VERSIONED} has transformers 4.57.6 read {files.fast_file!r:.80} in the place of"
            f" {TOKENIZER_FILE}"
        )
        if not os.path.isfile(files.file(TOKENIZER_FILE)):
            message += ", and there is no such file: fast classes read the vocabulary alone"
        files.find("warning", TOKENIZER_JSON_VERSION, message, file=TOKENIZER_CONFIG_FILE)


def _read_fast(files: CheckedFiles) -> None:
    """tokenizer.json: all of it, and the added tokens that count if no added_tokens_decoder says
    otherwise.
    """
    value = _read_object(files, TOKENIZER_FILE)
    if TOKENIZER_FILE not in files.present or _about_fast(files):
        return
    if "added_tokens" in value or DECODER not in files.config:
        entries = value.get("added_tokens")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            _misshapen(files, TOKENIZER_FILE, "it has no list 'added_tokens' of objects")
            return
        files.fast = _entries(files, TOKENIZER_FILE, entries)
    if _about_fast(files):
        return
    try:
        files.fast_values = tokenizer_json_from_object(value, TOKENIZER_FILE)
    except TrietokError as error:
        code = TOKENIZER_JSON_IDS if isinstance(error, VocabularyError) else TOKENIZER_JSON_PART
        files.find(
            "error", code, str(error).removeprefix(f"{TOKENIZER_FILE}: "), file=TOKENIZER_FILE
        )


def _about_fast(files: CheckedFiles) -> bool:
    return any(
        finding.file == TOKENIZER_FILE and finding.severity == "error" for finding in files.findings
    )


def _entries(
    files: CheckedFiles, name: str, value: Any, special: Collection[Any] = ()
) -> list[tuple[int, AddedToken]]:
    """The added tokens of a file with their ids; those that are none are findings."""
    pairs: list[tuple[int, AddedToken]] = []
    for key, entry, _ in entries_of(name, value, special):
        content = entry.get("content") if isinstance(entry, dict) else None
        where = f"the added token {content!r:.60} ({key!r:.60})"
        try:
            pairs.append((checked_id(key, where, name), checked_added_token(entry, where, name)))
        except FileFormatError as error:
            _misshapen(files, name, str(error))
    return pairs


def content_of(value: Any) -> str | None:
    """The content of a token as a file has it: a string, or an object of the six fields; None for
    anything else.
    """
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) and value else None


def _check_settings(files: CheckedFiles) -> None:
    """The values that decide what a text becomes, each by itself, by the rule that loading has for
    all.
    """
    left_out = {*paths_in_files(BertTokenizer), "tokenizer_class", DECODER}
    for name, values in (
        (TOKENIZER_CONFIG_FILE, files.config),
        (SPECIAL_TOKENS_MAP_FILE, files.special_map),
    ):
        is_map = name == SPECIAL_TOKENS_MAP_FILE
        if is_map and DECODER in files.config:
            return  # it is not read then
        read = {
            key: value
            for key, value in values.items()
            if key not in left_out and (is_role(key) or not is_map)
        }
        if read.get("unk_token", "") is None:
            del read["unk_token"]  # there is a finding about the role
        for error in wrong_settings(read, name, object if is_map else BertTokenizer):
            _misshapen(files, name, str(error).removeprefix(f"{name}: "))


def _misshapen(files: CheckedFiles, name: str, message: str) -> None:
    files.find("error", WRONG_SHAPE, message, file=name)
