"""Writing to standard output: lines that any reader can take, and that leave a terminal as it is.

In: lines, or values as JSON. Out: lines on standard output, each written out before the next text
is read.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NamedTuple, NoReturn

import click

import trietok
from trietok.cli.interrupts import exit_code
from trietok.showing.report import json_line as json_line

# On a terminal these turn the direction of what stands around them, beyond the text they are in.
_TURNS_DIRECTION = frozenset(
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


class _Closed(io.TextIOBase):
    """Standard output where there is none: whoever writes to it is told."""

    def write(self, text: str) -> int:
        raise trietok.FileError("cannot write: standard output is closed", path="standard output")


def open_streams() -> None:
    """Put something in the place of closed standard streams, which click takes for the other one or
    passes over.
    """
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process lasts


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()


def prepare_output() -> None:
    """Make standard output take any text, and pass on every line at once."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(
            encoding=encoding, errors="backslashreplace", newline="\n", line_buffering=True
        )


def write_line(line: str) -> None:
    """Write one line to standard output."""
    with writing():
        print(line)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Name standard output in what goes wrong while it is written to: a FileError, unless nobody
    reads any more.
    """
    try:
        yield
    except (BrokenPipeError, trietok.FileError):
        raise
    except OSError as error:
        raise trietok.FileError(
            f"cannot write to standard output: {error.strerror}", path="standard output"
        ) from error


def on_one_line(text: str) -> str:
    r"""A text for one line of a terminal: what would move the cursor, break the line or turn the
    text is escaped.

    >>> print(on_one_line("a\tb\x1b[2J\u2028"))
    a\tb\x1b[2J\u2028
    """
    if text.isascii() and text.isprintable():
        return text
    escaped = {
        char for char in {*text} if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
    } | _TURNS_DIRECTION
    return "".join(repr(char)[1:-1] if char in escaped else char for char in text)


# the text, and the half-open span in it; None for a special token
TokenPlace = tuple[int, int, int] | None


class Result(NamedTuple):
    """A text, or a pair, and what it was turned into; tokens and ids may be empty where nobody will
    see them.
    """

    text: str
    tokens: list[str]
    ids: list[int]
    text_pair: str | None = None
    token_type_ids: list[int] | None = None
    places: list[TokenPlace] | None = None

    def to_json(self, **more: str) -> str:
        r"""One line of JSON.

        >>> print(Result("東\u2028", ["[UNK]"], [1]).to_json())
        {"text": "東\u2028", "tokens": ["[UNK]"], "input_ids": [1]}
        """
        values: dict[str, Any] = {"text": self.text, "tokens": self.tokens, "input_ids": self.ids}
        if self.text_pair is not None:
            values = {
                "text": self.text,
                "text_pair": self.text_pair,
                **values,
                "token_type_ids": self.token_type_ids,
            }
        return json_line({**values, **more})


# What the command says where it is called wrongly: in one form, with the names that may have been
# meant.


class Utf8(click.types.StringParamType):
    """A text of the command line, refused as a file would be that has bytes that are not UTF-8.

    Python makes half surrogate pairs of such bytes, and tokenizers drop those.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            # UTF-8 that the locale C takes for bytes of unknown meaning
            with contextlib.suppress(UnicodeError):
                return os.fsencode(text).decode("utf-8")
            offset, code = len(text[: error.start].encode("utf-8")), ord(text[error.start])
            what = f"byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"U+{code:04X}"
            shown = text.encode(
                "utf-8", "surrogateescape" if 0xDC80 <= code <= 0xDCFF else "backslashreplace"
            )
            said = f"{shown.decode('utf-8', 'backslashreplace'):.60}"
            say_error(f"{said}: {what} at offset {offset} is not UTF-8; convert the input to UTF-8")
            raise click.exceptions.Exit(TROUBLE) from None
        return text


def near(typed: str, names: Iterable[str]) -> list[str]:
    """The names that may have been meant: those that begin so, or else the most alike. Hyphens in
    front do not count.

    >>> (
    ...     near("--no", ["--no-special-tokens", "--json"]),
    ...     near("encdoe", ["encode", "lock"]),
    ...     near("--x", ["--max"]),
    ... )
    (['--no-special-tokens'], ['encode'], [])
    """
    words = {name.lstrip("-"): name for name in names}
    word = typed.lstrip("-")
    begun = (
        [name for known, name in words.items() if known.startswith(word)] if len(word) > 1 else []
    )
    return begun or [words[known] for known in get_close_matches(word, words, cutoff=0.65)]


def no_such(
    kind: str, typed: str, names: Iterable[str], ctx: click.Context | None
) -> click.UsageError:
    """The error for an option or a command that is not there.

    >>> no_such("option", "--modle", ["--model", "--json"], None).message
    "No such option '--modle'. Did you mean '--model'?"
    """
    meant = " or ".join(map(repr, near(typed, names)))
    return click.UsageError(
        f"No such {kind} {typed!r}.{f' Did you mean {meant}?' if meant else ''}", ctx
    )


def no_such_option(typed: str, ctx: click.Context) -> click.UsageError:
    """The error for an option that the command does not have."""
    options = [
        name
        for each in ctx.command.get_params(ctx)
        if isinstance(each, click.Option)
        for name in each.opts
    ]
    return no_such("option", typed, [name for name in options if name.startswith("--")], ctx)


@contextlib.contextmanager
def usage_errors(ctx: click.Context, typed: Sequence[str]) -> Iterator[None]:
    """Give click's errors one form: names that may have been meant, and the command, which is not
    in all of them.
    """
    try:
        yield
    except click.UsageError as error:
        told = error
        if isinstance(error, click.NoSuchOption) and error.ctx is not None:
            told = no_such_option(error.option_name, error.ctx)
        if told.ctx is None:
            told.ctx = _called(ctx, typed)
        if "--json" in takewhile(lambda word: word != "--", typed):
            prepare_output()
            _write_error(told.format_message(), told)
        raise told from None


def _called(ctx: click.Context, typed: Sequence[str]) -> click.Context:
    """The context of the command, or the command of a command, whose name was typed."""
    for word in typed:
        command = (
            ctx.command.get_command(ctx, word) if isinstance(ctx.command, click.Group) else None
        )
        if command is None:
            break
        ctx = click.Context(command, parent=ctx, info_name=word)
    return ctx


# From what goes wrong to one line on standard error and an exit code.
#
# `trietok: error: ...` and 2; nothing and 130 for Ctrl-C, 143 for SIGTERM, 141 when the reader of a
# pipe has gone. A shell gives these codes to other programs then. 1 is an answer, as with diff(1):
# something was found.


FOUND, TROUBLE, _READER_GONE = 1, 2, 141


@contextlib.contextmanager
def reporting() -> Iterator[None]:
    """Run the body of a command; end it with the exit code that its exception means."""
    logger, handler = logging.getLogger("trietok"), _OnStandardError()
    logger.addHandler(handler)
    try:
        prepare_output()
        yield
    except KeyboardInterrupt as interrupt:
        _write_if_json(str(interrupt) or "stopped", interrupt)
        raise click.exceptions.Exit(exit_code(interrupt)) from None
    except BrokenPipeError:
        _end_output()
        raise click.exceptions.Exit(_READER_GONE) from None
    except trietok.TrietokError as error:
        _fail(str(error), error)
    except OSError as error:
        reason = error.strerror or str(error)
        _fail(reason if error.filename is None else f"{error.filename}: {reason}", error)
    finally:
        logger.removeHandler(handler)


def warn(message: str) -> None:
    """Say something on standard error and go on."""
    _say("warning", message)


def say_choice(choice: Any) -> None:
    """Say on standard error which profile a tokenizer is read with, and why; what is said already
    is not said again.

    Without --verbose it is left out where nobody can be mistaken: a built-in vocabulary, or what
    --profile asked for.
    """
    meta = click.get_current_context().meta
    said = meta.setdefault("trietok.said", [])
    is_wanted = "trietok.verbose" in meta or not choice.is_plain
    if str(choice) not in said and "trietok.quiet" not in meta and is_wanted:
        _say("profile", str(choice) if not said else f"{choice} ({choice.name})")
    said.append(str(choice))


def said_of_profile() -> dict[str, str]:
    """What a command's JSON says of the profile that its tokenizer is read with."""
    said = click.get_current_context().meta.get("trietok.said")
    return (
        dict(zip(("profile", "profile_why"), said[0].split(", ", 1), strict=True)) if said else {}
    )


def say_error(message: str) -> None:
    """Say on standard error what went wrong and go on: a command that does several things does the
    others.
    """
    _end_output()
    _say("error", message)


def _fail(message: str, error: OSError | trietok.TrietokError) -> NoReturn:
    say_error(message)
    _write_if_json(message, error)
    raise click.exceptions.Exit(TROUBLE) from None


def _write_if_json(message: str, error: BaseException) -> None:
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.params.get("as_json"):
        _write_error(message, error)


def _write_error(message: str, error: BaseException) -> None:
    """Write an error where a program looks for JSON, too, with what else the error knows."""
    where = {
        name: getattr(error, name, None) for name in ("path", "line_number", "token", "token_id")
    }
    known = {name: value for name, value in where.items() if isinstance(value, (str, int))}
    classes = (each.__name__ for each in type(error).__mro__)
    kind = next(name for name in classes if not name.startswith("_"))
    with contextlib.suppress(OSError, trietok.FileError):  # nobody reads it
        print(
            json_line({"ok": False, "error": message, "kind": kind, **known}),
            flush=True,
        )


def _say(kind: str, message: str) -> None:
    line = (  # at once: the lines of the programs of a pipeline do not mix
        f"trietok: {kind}: {on_one_line(message)}\n"
    )
    print(line, end="", file=sys.stderr, flush=True)


def _end_output() -> None:
    """Write what can still be written. Where nothing can, the interpreter must not try again,
    leaving, and complain.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


class _OnStandardError(logging.Handler):
    """The library's log, in the form of the command's own messages."""

    def emit(self, record: logging.LogRecord) -> None:
        _say(record.levelname.lower(), record.getMessage())
