"""What the command says where it is called wrongly: in one form, with the names that may have been meant.

In: click's usage errors, and what was typed. Out: the same errors, each with the command that it is about.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from trietok.cli.reporting import say_error


class Utf8(click.types.StringParamType):
    """A text of the command line, refused as a file would be that has bytes that are not UTF-8.

    Python makes half surrogate pairs of such bytes, and tokenizers drop those.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            offset, code = len(text[: error.start].encode("utf-8")), ord(text[error.start])
            what = f"byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"U+{code:04X}"
            say_error(f"{text!r:.60}: {what} at offset {offset} is not UTF-8; convert the input to UTF-8")
            raise click.exceptions.Exit(2) from None
        return text


def near(typed: str, names: Iterable[str]) -> list[str]:
    """The names that may have been meant: those that begin so, or else the most alike. Hyphens in front do not count.

    >>> near("--no", ["--no-special-tokens", "--json"]), near("encdoe", ["encode", "lock"]), near("--x", ["--max"])
    (['--no-special-tokens'], ['encode'], [])
    """
    from difflib import get_close_matches  # only where something is wrong

    words = {name.lstrip("-"): name for name in names}
    word = typed.lstrip("-")
    begun = [name for known, name in words.items() if known.startswith(word)] if len(word) > 1 else []
    return begun or [words[known] for known in get_close_matches(word, words, cutoff=0.65)]


def no_such(kind: str, typed: str, names: Iterable[str], ctx: click.Context | None) -> click.UsageError:
    """The error for an option or a command that is not there.

    >>> no_such("option", "--modle", ["--model", "--json"], None).message
    "No such option '--modle'. Did you mean '--model'?"
    """
    meant = " or ".join(map(repr, near(typed, names)))
    return click.UsageError(f"No such {kind} {typed!r}.{f' Did you mean {meant}?' if meant else ''}", ctx)


def no_such_option(typed: str, ctx: click.Context) -> click.UsageError:
    """The error for an option that the command does not have."""
    options = [name for each in ctx.command.get_params(ctx) if isinstance(each, click.Option) for name in each.opts]
    return no_such("option", typed, [name for name in options if name.startswith("--")], ctx)


@contextlib.contextmanager
def usage_errors(ctx: click.Context, typed: Sequence[str]) -> Iterator[None]:
    """Give click's errors one form: names that may have been meant, and the command, which is not in all of them.

    Args:
        ctx: the context of the whole command.
        typed: its arguments, which begin with the name of what it was to do.
    """
    try:
        yield
    except click.NoSuchOption as error:
        raise (error if error.ctx is None else no_such_option(error.option_name, error.ctx)) from None
    except click.UsageError as error:
        if error.ctx is None:
            error.ctx = _called(ctx, typed)
        raise


def _called(ctx: click.Context, typed: Sequence[str]) -> click.Context:
    """The context of the command, or the command of a command, whose name was typed."""
    for word in typed:
        command = ctx.command.get_command(ctx, word) if isinstance(ctx.command, click.Group) else None
        if command is None:
            break
        ctx = click.Context(command, parent=ctx, info_name=word)
    return ctx
