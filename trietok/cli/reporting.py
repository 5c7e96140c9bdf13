"""From what goes wrong to one line on standard error and an exit code.

In: the exceptions and log records that come up while a command runs. Out: `trietok: error: ...` and 1; nothing and 130
for Ctrl-C; nothing and 143 for SIGTERM; nothing and 141 when the reader of a pipe has gone. A shell gives these codes
to other programs then.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import click

import trietok
from trietok.cli.interrupts import INTERRUPTED, TERMINATED, Terminated
from trietok.cli.output import prepare_output, visible

_READER_GONE = 141


@contextlib.contextmanager
def reporting(exit_code: int = 1) -> Iterator[None]:
    """Run the body of a command; end it with the exit code that its exception means.

    Args:
        exit_code: of an error; another one where 1 is an answer, as with diff(1).
    """
    logger, handler = logging.getLogger("trietok"), _OnStandardError()
    logger.addHandler(handler)
    try:
        prepare_output()
        yield
    except KeyboardInterrupt as interrupt:
        code = TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED
        raise click.exceptions.Exit(code) from None
    except BrokenPipeError:
        _end_output()
        raise click.exceptions.Exit(_READER_GONE) from None
    except trietok.TrietokError as error:
        _fail(str(error), exit_code)
    except OSError as error:
        reason = error.strerror or str(error)
        _fail(reason if error.filename is None else f"{error.filename}: {reason}", exit_code)
    finally:
        logger.removeHandler(handler)


def warn(message: str) -> None:
    """Say something on standard error and go on."""
    _say("warning", message)


def say_error(message: str) -> None:
    """Say on standard error what went wrong and go on: a command that does several things does the others."""
    _end_output()
    _say("error", message)


def _fail(message: str, exit_code: int) -> NoReturn:
    say_error(message)
    raise click.exceptions.Exit(exit_code) from None


def _say(kind: str, message: str) -> None:
    print(f"trietok: {kind}: {visible(message)}", file=sys.stderr, flush=True)


def _end_output() -> None:
    """Write what can still be written. Where nothing can, the interpreter must not try again, leaving, and complain."""
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
