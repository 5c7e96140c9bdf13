"""The arguments and options that commands share, as decorators of click, and the types of their values.

What a command alone has stands at the command. click's help does not list arguments: the docstring of a command says
what they are.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import trietok
from trietok.cli.output import warn
from trietok.files.elsewhere import is_elsewhere
from trietok.files.texts import TextReader, expanded, has_text_suffix
from trietok.text.changes import cached_property
from trietok.tokenizer.auto import load_any

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


# The arguments and options of `trietok train`, as decorators; and the files they name.


files = click.argument("files", nargs=-1, required=True, type=PATH)
new_directory = click.option("--output", "-o", type=OUTPUT, required=True, metavar="DIR", help=NEW_DIRECTORY)
VOCAB_SIZE = 30000
vocab_size = click.option(
    "--vocab-size",
    type=POSITIVE,
    default=VOCAB_SIZE,
    metavar="N",
    help="Make at most N tokens, special tokens and single characters included.",
)
vocab_size_of_recipes = click.option(
    "--vocab-size",
    type=POSITIVE,
    metavar="N",
    help=f"Make at most N tokens; by default {VOCAB_SIZE}, or 10000 with --recipe.",
)
min_frequency = click.option(
    "--min-frequency", type=NOT_NEGATIVE, default=0, metavar="N", help="Merge only pairs that occur at least N times."
)
limit_alphabet = click.option(
    "--limit-alphabet", type=POSITIVE, metavar="N", help="Start from the N most frequent characters."
)
_INITIAL_ALPHABET: dict[str, Any] = {"default": "", "metavar": "CHARS", "show_default": False}
_INCLUDED = "Characters to include even if the texts lack them"
initial_alphabet = click.option("--initial-alphabet", help=f"{_INCLUDED}.", **_INITIAL_ALPHABET)
initial_alphabet_of_words = click.option(
    "--initial-alphabet",
    help=f"{_INCLUDED}, for the beginning of words: n, not ##n. For both, add a text that holds nn.",
    **_INITIAL_ALPHABET,
)
max_token_length = click.option(
    "--max-token-length", type=POSITIVE, metavar="N", help="Make no token of N characters or more."
)
special_tokens = click.option(
    "--special-token", "special_tokens", multiple=True, metavar="TOKEN", help="Add a special token. May be repeated."
)
errors = click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="Refuse bytes that are not UTF-8, or replace them with U+FFFD.",
)
processes = click.option("--processes", type=POSITIVE, default=1, metavar="N", help="Count words in N processes.")
as_json = click.option("--json", "as_json", is_flag=True, help="Write a summary as one JSON object.")


def text_files_of(files: Sequence[str], column: str, errors: str) -> trietok.TextFiles:
    """The texts of files, globs and standard input, as `trietok train` and `trietok suggest` read them."""
    standard_input = None if sys.stdin is None else sys.stdin.buffer
    return trietok.TextFiles(files, column=column, errors=errors, standard_input=standard_input)


# Where the command's input comes from: arguments, files, standard input; and the ids in a text.
#
# In: the arguments, or the bytes of files. Out: one `Line` after the other, each with the place it was read at. A file
# is never held as a whole. Lines end at U+000A only, and nothing but that is taken off.


STANDARD_INPUT = "-"
tokenizer_of = load_any

_MOST_DIGITS = 20  # numbers of more are a mistake, and would fill an error message
_ID = re.compile(f"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_NO_ID = 10**_MOST_DIGITS
_FORMS = "separate ids with spaces or commas, or write a JSON list, or input_ids in a JSON object"


class Line(NamedTuple):
    """A text and the place it comes from, such as `"texts.txt, line 3"`; no place for an argument.

    Attributes:
        file, number: the name of the file, and the number of the line or row in it, from 1.
    """

    text: str
    where: str = ""
    file: str = ""
    number: int = 0


class Lines:
    """The lines of arguments and files, one after the other; they can be read once.

    Args:
        arguments: a line each; `-` is standard input.
        files: their paths or globs, read behind the arguments; `-` is standard input. Packed ones are unpacked.
        column: where the texts are in .jsonl and .parquet files; None to read these as lines, too.

    Attributes:
        bytes_read: how many bytes of files have been read.

    Raises:
        FileError, FileFormatError: from the iterator, where a file cannot be read or is not UTF-8.
    """

    def __init__(self, arguments: Sequence[str] = (), files: Sequence[str] = (), column: str | None = None) -> None:
        self._reader = TextReader(column, counts_lines=True, repair="convert the input to UTF-8")
        self._files = [*(argument for argument in arguments if argument == STANDARD_INPUT), *files]
        paths = files if column is None else expanded(files)
        self._lines = chain(self._of_arguments(arguments), chain.from_iterable(map(self._of_file, paths)))

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[Line]:
        return self._lines

    @cached_property
    def total_bytes(self) -> int | None:
        """How many bytes the files have; None where that cannot be known, as with a pipe."""
        try:
            found = [os.stat(sys.stdin.fileno() if path == STANDARD_INPUT else path) for path in self._files]
        except (OSError, ValueError, AttributeError):  # no such file; or standard input is closed, or no file
            return None
        return sum(each.st_size for each in found) if all(stat.S_ISREG(each.st_mode) for each in found) else None

    def _of_arguments(self, arguments: Iterable[str]) -> Iterator[Line]:
        for argument in arguments:
            if argument == STANDARD_INPUT:
                yield from self._of_file(STANDARD_INPUT)
            else:
                yield Line(argument)

    def _of_file(self, path: str) -> Iterator[Line]:
        """The lines of one file, or of standard input for `-`."""
        if path != STANDARD_INPUT:
            unit = "row" if path.lower().endswith(".parquet") else "line"
            for text, number in self._reader.rows(path):
                yield Line(text, f"{path}, {unit} {number}", path, number)
        elif sys.stdin is not None:
            name = "standard input"
            for text, number in self._reader.rows_of_stream(sys.stdin.buffer, name):
                yield Line(text, f"{name}, line {number}", name, number)


def lines_of(
    ctx: click.Context, arguments: Sequence[str], files: Sequence[str], what: str, column: str | None = None
) -> Lines:
    """The lines to work on: the arguments, or those of the files, or those of standard input.

    Args:
        ctx: the command, for its usage errors.
        arguments, files: what the user gave.
        what: what the command wants, in the plural, for its usage errors.
        column: where the texts are in .jsonl and .parquet files; None to read these as lines, too.
    """
    if arguments and files:
        ctx.fail(f"Give {what} as arguments or with --file, not both.")
    if files:
        return Lines(files=files, column=column)
    if arguments:
        if what == "texts":
            _say_file_names(arguments)
        return Lines(arguments)
    if sys.stdin is None or sys.stdin.isatty():
        ctx.fail(f"Give {what} as arguments, with --file FILE or through a pipe; - reads what you type.")
    return Lines(files=[STANDARD_INPUT])


def _say_file_names(texts: Sequence[str]) -> None:
    """Warn of texts that are, or look like, the names of files of texts, which are not read."""
    files = [text for text in texts if has_text_suffix(text) and os.path.isfile(text)]
    if files:
        more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
        reading = f"--file {shlex.quote(files[0])}"
        warn(f"{files[0]!r}{more} is a file, and its name is taken as the text; {reading} reads the file")
        return
    names = [text for text in texts if has_text_suffix(text) and text.isprintable() and " " not in text]
    if names:
        warn(f"there is no file {names[0]!r}, and the name is taken as the text; --file reads files")


def check_pair(ctx: click.Context, pair: str | None, arguments: Sequence[str], files: Sequence[str]) -> None:
    """A usage error for a second text unless there is one text, given as an argument."""
    if pair is not None and (len(arguments) != 1 or arguments[0] == STANDARD_INPUT or files):
        ctx.fail("--pair goes with exactly one text, given as an argument.")


def check_length(tokenizer: Any, max_length: int | None, *, is_pair: bool = False) -> None:
    """A usage error for a length that the special tokens alone take up, before anything is read or written."""
    around = 0 if max_length is None else tokenizer.num_special_tokens_to_add(is_pair)
    if max_length is not None and max_length <= around:
        raise click.UsageError(
            f"--max-length {max_length} has no room for a token beside the {around} special ones; raise it, or leave "
            "them out with --no-special-tokens."
        )


def ids_in(text: str) -> list[int]:
    """The ids in a text: between spaces or commas, in a JSON list, or as `input_ids` in a JSON object.

    >>> ids_in("2 490, 3"), ids_in("[2, 490, 3]"), ids_in('{"text": "a", "input_ids": [2, 490, 3]}')
    ([2, 490, 3], [2, 490, 3], [2, 490, 3])

    Raises:
        InputError: the text is something else.
    """
    text = text.strip()
    if text.startswith(("{", "[")):
        return _ids_in_json(text)
    words = text.replace(",", " ").split()
    digits = "".join(words)
    if not (digits.isascii() and digits.isdigit() and len(max(words, key=len)) <= _MOST_DIGITS):
        for word in words:
            if not _ID.fullmatch(word):
                raise _not_an_id(word)
    return list(map(int, words))


def _ids_in_json(text: str) -> list[int]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise trietok.InputError(f"not JSON at character {error.pos + 1}: {error.msg}; {_FORMS}") from None
    except (ValueError, RecursionError):  # a number of too many digits, brackets nested too deeply
        raise trietok.InputError(f"this JSON holds no list of ids; {_FORMS}") from None
    if isinstance(value, dict):
        if "input_ids" not in value:
            raise trietok.InputError(f"the JSON object has no input_ids; {_FORMS}")
        value = value["input_ids"]
    if not isinstance(value, list):
        raise trietok.InputError(f"input_ids should be a list of ids, not {_short(value)}")
    for item in value:
        if type(item) is not int or abs(item) >= _NO_ID:
            raise _not_an_id(item)
    return value


def _not_an_id(value: Any) -> trietok.InputError:
    return trietok.InputError(f"{_short(value)} is not an id; {_FORMS}")


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
