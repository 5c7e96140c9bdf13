"""The files of a tokenizer directory, read as far as they can be; what cannot be is a finding.

In: a path. Out: `CheckedFiles`. What a file says is read as loading reads it, by the functions of `files/load.py`;
where loading raises, a finding is added and reading goes on. No file is opened but those of a tokenizer's names in the
directory; paths that stand in a file are not followed.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trietok.disk import read_vocab_bytes
from trietok.errors import FileError, FileFormatError, TrietokError, VocabularyError
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    JOURNAL,
    RECORD,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    check_depth,
    doubled_keys,
    other_kind,
    read_json_text,
    wrong_settings,
)
from trietok.files.load import (
    BUILT_IN_NAMES,
    built_in_directory,
    checked_added_token,
    checked_id,
    current_files,
    entries_of,
    is_role,
    paths_in_files,
)
from trietok.files.tokenizer_json import TokenizerJson, tokenizer_json_from_object
from trietok.showing.characters import first_few
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import Vocabulary
from trietok.tokenizer.bert import BertTokenizer
from trietok.workbench.checking.report import Finding, Findings, Severity

BOM = "\ufeff"
LINE_BREAKERS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # str.splitlines and many editors end a line at these too

_CARRIAGE_RETURN = re.compile(r"\r\n?|\n")
# Lines that are worth a second look: most of a vocabulary is passed over by one search.
_SUSPECT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\A\s|\s\Z")


def _read_vocabulary(files: CheckedFiles, path: Path) -> None:
    """Check the bytes of a vocabulary file, and keep its lines as the tokenizer reads them; O(bytes)."""
    findings, file = files.findings, path.name
    try:
        raw = read_vocab_bytes(path)
    except (FileError, FileFormatError) as error:
        message = str(error).replace(f"{path} ", "it ").replace(str(path), file)
        files.find("error", "unreadable-file", message, file=file, line_number=getattr(error, "line_number", None))
        return
    files.present.add(file)
    if not raw:
        files.find("error", "empty-vocabulary", "the file is empty: it should hold one token a line", file=file)
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        findings.extend(_not_utf8(raw, file))
        return
    findings.extend(_line_ends(text, file))
    lines = _CARRIAGE_RETURN.split(text)
    if lines[-1] == "":
        lines.pop()
    else:
        message = "the last line has no line feed; a token appended to the file would become part of it"
        findings.append(Finding("note", "no-final-newline", message, file, len(lines), lines[-1], len(lines) - 1))
    added = {token.content: token_id for token_id, token, _ in files.added_that_count()}
    free = files.holes.union(added.values())  # an added token may have the id of a blank line
    tokens = [None if line == "" and token_id in free else line for token_id, line in enumerate(lines)]
    odd: set[int] = set()
    for token_id, line in enumerate(tokens):
        if line == "" and not findings.has_room("blank-line"):
            continue
        for finding in _check_line(line, token_id, file) if line == "" or (line and _SUSPECT.search(line)) else ():
            findings.append(finding)
            odd.add(token_id)
    findings.extend(_duplicates(tokens, added, file))
    if any(token is not None for token in tokens):
        files.tokens, files.odd = tokens, odd
    else:
        files.find("error", "empty-vocabulary", "every line is blank and declared a hole", file=file)


def _not_utf8(raw: bytes, file: str) -> Iterator[Finding]:
    start = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            offset = start + error.start
            message = f"byte 0x{line[error.start]:02x} at offset {offset} is not UTF-8; convert the file to UTF-8"
            yield Finding("error", "not-utf8", message, file, number)
        start += len(line) + 1


def _line_ends(text: str, file: str) -> Iterator[Finding]:
    if "\r" not in text:
        return
    ends = [match[0] for match in _CARRIAGE_RETURN.finditer(text)]
    windows, alone = ([n for n, end in enumerate(ends, start=1) if end == each] for each in ("\r\n", "\r"))
    if windows:
        message = f"{len(windows)} line(s) end in CR LF, the first is line {windows[0]}; "
        message += "some programs take the CR for part of the token"
        yield Finding("warning", "carriage-return", message, file, windows[0])
    for number in alone:
        message = "a CR by itself ends the line; programs that end lines only at LF count other ids from here on"
        yield Finding("warning", "lone-carriage-return", message, file, number, token_id=number - 1)


def _check_line(line: str | None, token_id: int, file: str) -> Iterator[Finding]:
    """What is odd about a line that is blank or holds something `_SUSPECT`; not whether it is there twice."""

    def warn(code: str, message: str, severity: Severity = "warning") -> Finding:
        return Finding(severity, code, message, file, token_id + 1, line, token_id)

    if line == "":
        yield warn("blank-line", f"the line is blank, which makes the empty token id {token_id}; no text gives it")
    if not line:
        return
    if token_id == 0 and line.startswith(BOM):
        message = f"the file begins with a byte-order mark, so id 0 is {line!r} and not {line[1:]!r}"
        yield Finding("error", "byte-order-mark", message, file, 1, line, 0)
        line = line[1:]
    if "\t" in line:
        yield warn("tab", f"{line!r} holds a tab")
    edges = {line[:1], line[-1:]} - {"\t", "", *LINE_BREAKERS}
    if any(char.isspace() for char in edges):
        yield warn("edge-space", f"{line!r} has whitespace before or after it, which belongs to the token")
    if breaking := [char for char in line if char in LINE_BREAKERS]:
        where = f"U+{ord(breaking[0]):04X}; programs that break lines there count other ids from here on"
        # BERT's Chinese vocabulary has the character itself as an entry; inside a word it is a slip.
        severity: Severity = "warning" if len(line.removeprefix("##")) > 1 else "note"
        yield warn("line-break-character", f"{line!r} holds {where}", severity)
    if any(unicodedata.category(char) == "Cc" and char not in "\t" + LINE_BREAKERS for char in line):
        yield warn("control-character", f"{line!r} holds a control character")


def _duplicates(tokens: list[str | None], added: Mapping[str, int], file: str) -> Iterator[Finding]:
    lines: dict[str, list[int]] = {}
    for number, token in enumerate(tokens, start=1):
        if token:
            lines.setdefault(token, []).append(number)
    for token, numbers in lines.items():
        if len(numbers) > 1:
            shown = ", ".join(map(str, numbers[:-1])) if len(numbers) < 8 else f"{numbers[0]}, {numbers[1]}, ..."
            encodes = added.get(token, numbers[-1] - 1)
            message = f"{token!r} stands on lines {shown} and {numbers[-1]}; {encodes} is the id that encodes"
            yield Finding("warning", "duplicate-line", message, file, numbers[0], token, encodes, lines=tuple(numbers))


DECODER = "added_tokens_decoder"


@dataclass
class CheckedFiles:
    """What the files of a directory say: JSON objects, which are empty where there is none, and tokens with ids."""

    path: Path  # the directory, or the vocabulary file
    findings: Findings = field(default_factory=Findings)  # what is wrong with the files by themselves
    tokens: list[str | None] | None = None  # the lines, None for a declared hole; None where they cannot be read
    odd: set[int] = field(default_factory=set)  # the ids of lines about which there is a finding
    present: set[str] = field(default_factory=set)  # the names of the files that could be read
    config: dict[str, Any] = field(default_factory=dict)
    special_map: dict[str, Any] = field(default_factory=dict)
    model_config: dict[str, Any] = field(default_factory=dict)
    decoder: list[tuple[int, AddedToken]] = field(default_factory=list)  # of tokenizer_config.json
    added: list[tuple[int, AddedToken]] = field(default_factory=list)  # of added_tokens.json
    fast: list[tuple[int, AddedToken]] = field(default_factory=list)  # of tokenizer.json
    fast_values: TokenizerJson | None = None  # what that says; None where there is none or trietok cannot read it
    is_json_alone: bool = False  # whether the vocabulary is that of tokenizer.json: there is no vocab.txt
    pending: dict[str, Path] | None = None  # where the files are, while a save that was cut short is unfinished

    def file(self, name: str) -> Path:
        """Where loading finds a file of the directory, if it is there."""
        if self.pending is None:
            return self.path / name
        return self.pending.get(name, self.path / f"{name}.gone")

    def find(self, severity: Any, code: str, message: str, **known: Any) -> None:
        """Add a finding."""
        if self.findings.has_room(code):
            self.findings.append(Finding(severity, code, message, **known))

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
        """The added tokens as id, token, file, in the order of reading; what two files say alike stands once.

        Those of an added_tokens_decoder come first, and then only added_tokens.json is read.
        """
        kept: dict[tuple[int, str], tuple[AddedToken, str]] = {}
        fast = [] if DECODER in self.config else self.fast
        read = {TOKENIZER_CONFIG_FILE: self.decoder, ADDED_TOKENS_FILE: self.added, TOKENIZER_FILE: fast}
        for name, pairs in read.items():
            for token_id, token in pairs:
                if name == TOKENIZER_FILE:  # it has the flags, which added_tokens.json lacks
                    kept.pop((token_id, token.content), None)
                kept.setdefault((token_id, token.content), (token, name))
        return [(token_id, token, name) for (token_id, _), (token, name) in kept.items()]


FILES = (VOCAB_FILE, TOKENIZER_CONFIG_FILE, SPECIAL_TOKENS_MAP_FILE, ADDED_TOKENS_FILE, TOKENIZER_FILE, CONFIG_FILE)


def read_files(path: str | os.PathLike[str]) -> CheckedFiles:
    """Read a directory, a vocabulary file or a built-in vocabulary; nothing raises."""
    name = os.fspath(path)
    is_built_in = name in BUILT_IN_NAMES and not os.path.exists(name)
    files = CheckedFiles(built_in_directory(name) if is_built_in else Path(name))
    kind = other_kind(os.fspath(files.path)) if name else None
    if kind is not None:
        files.find("error", "other-kind", kind)
    elif os.path.isfile(files.path):
        _read_vocabulary(files, files.path)
    elif name and os.path.isdir(files.path):
        _read_directory(files)
    else:
        files.find("error", "unreadable-file", "there is neither a directory nor a file of that name")
    return files


def _read_directory(files: CheckedFiles) -> None:
    if os.path.lexists(files.path / JOURNAL):  # whatever it is: loading looks at it too
        try:
            files.pending = {file: Path(path) for file, path in current_files(str(files.path), FILES).items()}
            message = "a save was cut short before it counted; loading takes the files from before it"
            files.find("note", "save-unfinished", message, file=JOURNAL)
        except (FileError, FileFormatError) as error:
            message = str(error).replace(f"{files.path}{os.sep}", "").replace(str(files.path), "the directory")
            files.find("error", "save-mixed", message, file=JOURNAL)
    for name in FILES:
        path = files.file(name)
        if os.path.lexists(path) and not os.path.isfile(path):
            message = "it is no regular file but a directory, a pipe, or a link that leads nowhere"
            files.find("error", "unreadable-file", f"{message}; loading passes it over", file=name)
    files.config = _read_object(files, TOKENIZER_CONFIG_FILE)
    files.special_map = _read_object(files, SPECIAL_TOKENS_MAP_FILE)
    files.model_config = _read_object(files, CONFIG_FILE)
    _check_settings(files)
    decoder = files.config.get(DECODER, {})
    if isinstance(decoder, dict):
        files.decoder = _entries(files, TOKENIZER_CONFIG_FILE, decoder)
    else:
        _misshapen(files, TOKENIZER_CONFIG_FILE, f"{DECODER} should be an object id → token")
    special = {content_of(value) for value in (*files.config.values(), *files.special_map.values())}
    files.added = _entries(files, ADDED_TOKENS_FILE, _read_object(files, ADDED_TOKENS_FILE), special)
    _read_fast(files)
    vocabulary = files.file(VOCAB_FILE)
    if os.path.isfile(vocabulary):
        _read_vocabulary(files, vocabulary)
    elif files.fast_values is not None:
        files.is_json_alone = True
        files.tokens = list(Vocabulary.from_mapping(files.fast_values.vocabulary).tokens)
    elif not _about_fast(files):
        there = first_few(sorted(os.listdir(os.path.dirname(vocabulary))))
        message = f"the directory has no {VOCAB_FILE} and no {TOKENIZER_FILE}{f', only {there}' if there else ''}"
        files.find("error", "missing-vocabulary", message, file=VOCAB_FILE)


def _read_object(files: CheckedFiles, name: str) -> dict[str, Any]:
    """A JSON file that holds an object; empty where it is not there or is something else."""
    path = files.file(name)
    if not os.path.isfile(path):
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
        files.find("error", "not-json", f"column {error.colno}: {error.msg}", file=name, line_number=error.lineno)
    except FileError as error:
        files.find("error", "unreadable-file", str(error).replace(str(path), name), file=name)
    except FileFormatError as error:
        message = str(error).replace(f"{path}, line {error.line_number}: ", "").replace(str(path), name)
        code = "not-utf8" if "is not UTF-8" in message else "not-json"
        files.find("error", code, message, file=name, line_number=error.line_number)
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        files.find("error", "not-json", "a number is too long or the nesting too deep", file=name)
    else:
        files.present.add(name)
        for key in doubles:
            files.find("error", "duplicate-key", f"the key {key!r:.60} stands twice in one object", file=name)
        if isinstance(value, dict):
            return value
        _misshapen(files, name, f"it holds a JSON {type(value).__name__}, not an object {{...}}")
    return {}


def _read_fast(files: CheckedFiles) -> None:
    """tokenizer.json: all of it, and the added tokens that count if no added_tokens_decoder says otherwise."""
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
        code = "tokenizer-json-ids" if isinstance(error, VocabularyError) else "tokenizer-json-part"
        files.find("error", code, str(error).removeprefix(f"{TOKENIZER_FILE}: "), file=TOKENIZER_FILE)


def _about_fast(files: CheckedFiles) -> bool:
    return any(finding.file == TOKENIZER_FILE for finding in files.findings)


def _entries(files: CheckedFiles, name: str, value: Any, special: Collection[Any] = ()) -> list[tuple[int, AddedToken]]:
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
    """The content of a token as a file has it: a string, or an object of the six fields; None for anything else."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) and value else None


def _check_settings(files: CheckedFiles) -> None:
    """The values that decide what a text becomes, each by itself, by the rule that loading has for all."""
    left_out = {*paths_in_files(BertTokenizer), "tokenizer_class", DECODER}
    for name, values in ((TOKENIZER_CONFIG_FILE, files.config), (SPECIAL_TOKENS_MAP_FILE, files.special_map)):
        is_map = name == SPECIAL_TOKENS_MAP_FILE
        if is_map and DECODER in files.config:
            return  # it is not read then
        read = {key: value for key, value in values.items() if key not in left_out and (is_role(key) or not is_map)}
        if read.get("unk_token", "") is None:
            del read["unk_token"]  # there is a finding about the role
        for error in wrong_settings(read, name, object if is_map else BertTokenizer):
            _misshapen(files, name, str(error).removeprefix(f"{name}: "))


def _misshapen(files: CheckedFiles, name: str, message: str) -> None:
    files.find("error", "wrong-shape", message, file=name)
