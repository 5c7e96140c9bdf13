"""The lines of a vocab.txt: what a check finds in them.

In: the bytes of the file. Out: findings, and the lines as the tokenizer reads them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from trietok.workbench.checking.findings import Findings
from trietok.workbench.checking.report import Finding, Severity

BOM = "\ufeff"
LINE_BREAKERS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # str.splitlines and many editors end a line at these too

_CARRIAGE_RETURN = re.compile(r"\r\n?|\n")
# Lines that are worth a second look: most of a vocabulary is passed over by one search.
_SUSPECT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\A\s|\s\Z")


class Lines(NamedTuple):
    """A vocabulary file as it was read.

    Attributes:
        tokens: the lines, an id each; None for a blank line that is declared a hole. None where they cannot be read.
        odd: the ids of lines about which there is a finding.
    """

    tokens: list[str | None] | None
    odd: set[int]


def check_lines(raw: bytes, file: str, holes: Collection[int], added: Mapping[str, int], findings: Findings) -> Lines:
    """Check the bytes of a vocabulary file.

    Args:
        raw: the whole file.
        file: its name, for the findings.
        holes: the ids whose blank lines are declared holes.
        added: the added tokens of the directory, whose ids encode whatever the lines say.
        findings: where to add what is found.

    Cost: O(bytes).
    """
    if not raw:
        findings.append(
            Finding("error", "empty-vocabulary", "the file is empty: it should hold one token a line", file)
        )
        return Lines(None, set())
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        findings.extend(_not_utf8(raw, file))
        return Lines(None, set())
    findings.extend(_line_ends(text, file))
    lines = _CARRIAGE_RETURN.split(text)
    if lines[-1] == "":
        lines.pop()
    else:
        message = "the last line has no line feed; a token appended to the file would become part of it"
        findings.append(Finding("note", "no-final-newline", message, file, len(lines), lines[-1], len(lines) - 1))
    tokens = [None if line == "" and token_id in holes else line for token_id, line in enumerate(lines)]
    odd: set[int] = set()
    for token_id, line in enumerate(tokens):
        if line == "" and not findings.has_room("blank-line"):
            continue
        for finding in _check_line(line, token_id, file) if line == "" or (line and _SUSPECT.search(line)) else ():
            findings.append(finding)
            odd.add(token_id)
    findings.extend(_duplicates(tokens, added, file))
    if not any(token is not None for token in tokens):
        findings.append(Finding("error", "empty-vocabulary", "every line is blank and declared a hole", file))
        return Lines(None, set())
    return Lines(tokens, odd)


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
    windows: list[int] = []
    alone: list[int] = []
    for number, match in enumerate(_CARRIAGE_RETURN.finditer(text), start=1):
        if match[0] == "\r\n":
            windows.append(number)
        elif match[0] == "\r":
            alone.append(number)
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
        message = (
            f"{line!r} holds U+{ord(breaking[0]):04X}; programs that break lines there count other ids from here on"
        )
        # BERT's Chinese vocabulary has the character itself as an entry; inside a word it is a slip.
        yield warn("line-break-character", message, "warning" if len(line.removeprefix("##")) > 1 else "note")
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
