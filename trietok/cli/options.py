"""The arguments and options that commands share, as decorators of click, and the types of their values.

What a command alone has stands at the command. click's help does not list arguments: the docstring of a command says
what they are.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from trietok.files.elsewhere import is_elsewhere

DEFAULT_MODEL = "trietok-en"
POSITIVE = click.IntRange(min=1)
NOT_NEGATIVE = click.IntRange(min=0)
# The shell completes names of files; whether there is such a file is said by who opens it, as everywhere in trietok.
PATH = click.Path(readable=False)


# A class with a parameter to type checkers, and to click from version 8.2 on.
if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class _OutputPath(click.Path):
    """A path to write to, on this machine."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if is_elsewhere(str(value)):
            self.fail(f"{value} is not on this machine; write to a directory here, and copy it there.", param, ctx)
        return super().convert(value, param, ctx)


OUTPUT = _OutputPath(readable=False)
NEW_DIRECTORY = "The directory to write, new or empty."


class Ways(_Choice):
    """A choice that also takes a former name of one of its values, which the help does not list."""

    def __init__(self, ways: Sequence[str], former: dict[str, str]) -> None:
        super().__init__(ways)
        self._former = former

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(self._former.get(value, value), param, ctx)


class _Second(click.Argument):
    """A directory to write to, given without `--output` as `cp` takes it; the usage line shows one way only."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


def output(
    help: str = NEW_DIRECTORY, *, required: bool = False, also: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--output`, `-o`: a directory, as `output`.

    Args:
        help: what the help says of it, apart from that it is required.
        required: whether a call without it is refused.
        also: an option that is not listed and means the same; by default a second argument does.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_one_output(*args: Any, output: str | None, second: str | None, **rest: Any) -> Any:
            if output is not None and second is not None:
                raise click.UsageError(f"Two places to write to, {second!r} and {output!r}; give one, by --output.")
            if required and output is second is None:
                raise click.UsageError("Missing option '--output' / '-o'.")
            return command(*args, output=second if output is None else output, **rest)

        shown = f"{help}  [required]" if required else help  # as click shows it
        listed = click.option("--output", "-o", type=OUTPUT, metavar="DIR", help=shown)
        if also:
            unlisted = click.option(also, "second", type=OUTPUT, hidden=True)
        else:
            unlisted = click.argument("second", cls=_Second, type=OUTPUT, required=False)
        return listed(unlisted(with_one_output))

    return decorate


def _ask_nobody(ctx: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    if is_set:  # read when huggingface_hub is imported, in processes that a command starts, too
        os.environ["HF_HUB_OFFLINE"] = "1"


texts = click.argument("texts", nargs=-1, metavar="[TEXT]...")
ids = click.argument("ids", nargs=-1, metavar="[ID]...")
text_files = click.option(
    "--file",
    "-f",
    "files",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Read texts from a .txt (one a line), .jsonl or .parquet file. May be repeated.",
)
id_files = click.option(
    "--file",
    "-f",
    "files",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Read a file with the ids of one text on each line. May be repeated.",
)
model = click.option(
    "--model",
    "-m",
    type=PATH,
    default=DEFAULT_MODEL,
    metavar="NAME_OR_DIR",
    help="The tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub.",
)
column = click.option(
    "--column", default="text", metavar="NAME", help="The field of .jsonl and .parquet files that holds the text."
)


def force(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--force`, without which a command refuses what is probably a mistake."""
    return click.option("--force", is_flag=True, help=help)


pair = click.option("--pair", metavar="TEXT", help="Encode the text and TEXT as a pair.")
no_special_tokens = click.option(
    "--no-special-tokens", is_flag=True, help="Leave out special tokens such as [CLS] and [SEP]."
)
skip_special_tokens = click.option(
    "--skip-special-tokens", is_flag=True, help="Leave out special tokens such as [CLS] and [SEP]."
)
max_length = click.option(
    "--max-length", type=POSITIVE, metavar="N", help="Truncate to N tokens, special ones included."
)
json_lines = click.option("--json", "as_json", is_flag=True, help="Write one JSON object per line.")
offline = click.option(
    "--offline",
    is_flag=True,
    expose_value=False,
    callback=_ask_nobody,
    help="Do not connect to the hub: use its cache, or fail.",
)
