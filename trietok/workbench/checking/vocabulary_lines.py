"""The lines of a vocabulary file, each checked by itself and against the others.

In: the bytes of a vocab.txt. Out: its lines as the tokenizer reads them; findings about the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trietok.workbench.checking.report import (
    BY_FIX,
    Code,
    Finding,
    declare,
)

NOT_UTF8 = declare(
    "not-utf8",
    "bytes are not UTF-8",
    so="nothing loads, and what {file} says is not checked",
    do="convert the file, for example: iconv -f latin1 -t utf-8 {file}",
)
BYTE_ORDER_MARK = declare(
    "byte-order-mark",
    so="the token of id 0 is in no text, and is missing where it is wanted",
    do=BY_FIX,
)
DUPLICATE_LINE = declare(
    "duplicate-line",
    "a token stands on several lines",
    so="the rows of the other lines are never used, and len(tokenizer) is smaller",
    do=BY_FIX,
)
BLANK_LINE = declare(
    "blank-line",
    "blank lines are ids of their own",
    so="an id for an empty token, which no text gives",
    do=BY_FIX,
)
CARRIAGE_RETURN = declare(
    "carriage-return",
    "lines end in a carriage return",
    so="programs that end lines only at LF take CR for part of each token",
    do=BY_FIX,
)
LONE_CARRIAGE_RETURN = declare(
    "lone-carriage-return",
    "a carriage return by itself ends a line",
    so="programs that end lines only at LF give all later tokens other ids",
    do=BY_FIX,
)
TAB = declare(
    "tab",
    "lines hold a tab",
    so="the tab belongs to the token, so no word equals it",
    do="take the tab and what follows off the line",
)
EDGE_SPACE = declare(
    "edge-space",
    "whitespace before or after a token belongs to it",
    so="no word of a text equals it",
    do=BY_FIX,
)
BOM = "\ufeff"


CARRIAGE_RETURNS = re.compile(r"\r\n?|\n")


# Lines that are worth a second look: most of a vocabulary is passed over by one search.
SUSPECT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\A\s|\s\Z")


def not_utf8(raw: bytes, file: str) -> Iterator[Finding]:
    start = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            offset = start + error.start
            message = (
                f"byte 0x{line[error.start]:02x} at offset {offset} is not UTF-8; convert the file"
                " to UTF-8"
            )
            yield Finding("error", NOT_UTF8, message, file, number)
        start += len(line) + 1


def line_ends(text: str, file: str) -> Iterator[Finding]:
    if "\r" not in text:
        return
    ends = [match[0] for match in CARRIAGE_RETURNS.finditer(text)]
    windows, alone = (
        [n for n, end in enumerate(ends, start=1) if end == each] for each in ("\r\n", "\r")
    )
    if windows:
        message = f"{len(windows)} line(s) end in CR LF, the first is line {windows[0]}; "
        message += "some programs take the CR for part of the token"
        yield Finding("warning", CARRIAGE_RETURN, message, file, windows[0])
    for number in alone:
        message = (
            "a CR by itself ends the line; programs that end lines only at LF count other ids from"
            " here on"
        )
        yield Finding("warning", LONE_CARRIAGE_RETURN, message, file, number, token_id=number - 1)


def check_line(line: str | None, token_id: int, file: str) -> Iterator[Finding]:
    """What is odd about a line that is blank or holds something `SUSPECT`; not whether it is there
    twice.
    """

    def warn(code: Code, message: str) -> Finding:
        return Finding("warning", code, message, file, token_id + 1, line, token_id)

    if line == "":
        yield warn(
            BLANK_LINE,
            f"the line is blank, which makes the empty token id {token_id}; no text gives it",
        )
    if not line:
        return
    if token_id == 0 and line.startswith(BOM):
        message = (
            f"the file begins with a byte-order mark, so id 0 is {line!r} and not {line[1:]!r}"
        )
        yield Finding("error", BYTE_ORDER_MARK, message, file, 1, line, 0)
        line = line[1:]
    if "\t" in line:
        yield warn(TAB, f"{line!r} holds a tab")
    if line.strip() != line and line.strip("\t") == line:
        yield warn(
            EDGE_SPACE, f"{line!r} has whitespace before or after it, which belongs to the token"
        )


def duplicates(tokens: list[str | None], added: Mapping[str, int], file: str) -> Iterator[Finding]:
    lines: dict[str, list[int]] = {}
    for number, token in enumerate(tokens, start=1):
        if token:
            lines.setdefault(token, []).append(number)
    for token, numbers in lines.items():
        if len(numbers) > 1:
            shown = (
                ", ".join(map(str, numbers[:-1]))
                if len(numbers) < 8
                else f"{numbers[0]}, {numbers[1]}, ..."
            )
            encodes = added.get(token, numbers[-1] - 1)
            message = (
                f"{token!r} stands on lines {shown} and {numbers[-1]}; {encodes} is the id that"
                " encodes"
            )
            yield Finding(
                "warning",
                DUPLICATE_LINE,
                message,
                file,
                numbers[0],
                token,
                encodes,
                lines=tuple(numbers),
            )
