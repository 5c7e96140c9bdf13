"""The arguments and options that commands share, as decorators of click; and the lines that they lead to.

What a command alone has stands at the command, made of `flag`, `number`, `file` and their like. click's help does not
list arguments: the docstring of a command says what they are.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import trietok
from trietok.cli.output import reporting, say_choice, warn
from trietok.files.elsewhere import is_elsewhere
from trietok.files.texts import TextReader, expanded, has_text_suffix
from trietok.inputs.profiles import Profile
from trietok.text.changes import cached_property
from trietok.tokenizer.auto import Choice, choose

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

DEFAULT_MODEL = "trietok-en"
STANDARD_INPUT = "-"
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


class Ways(_Choice):
    """A choice that also takes a former name of one of its values, which the help does not list."""

    def __init__(self, ways: Sequence[str], former: dict[str, str]) -> None:
        super().__init__(ways)
        self._former = former

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(self._former.get(value, value), param, ctx)


# Options by what they take.

flag = partial(click.option, is_flag=True)
number = partial(click.option, type=POSITIVE, metavar="N")
name = partial(click.option, metavar="NAME")
text = partial(click.option, metavar="TEXT")
file = partial(click.option, type=PATH, metavar="FILE")
some_files = partial(file, multiple=True)
tokenizer = partial(click.option, type=PATH, metavar="NAME_OR_DIR")
json_flag = partial(flag, "--json", "as_json")
force = partial(flag, "--force")  # without it, a command refuses what is probably a mistake
output_directory = partial(click.option, "--output", "-o", type=OUTPUT, metavar="DIR")


def command(exit_code: int = 1, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of click whose body runs in `reporting`; `exit_code` is that of an error."""

    def decorate(body: Callable[..., Any]) -> click.Command:
        made: click.Command = click.command(**settings)(reporting(exit_code)(body))
        return made

    return decorate


def together(*options: Decorator) -> Decorator:
    """Options that commands share, as one decorator."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class _Second(click.Argument):
    """A directory to write to, given without `--output` as `cp` takes it; the usage line shows one way only."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


NEW_DIRECTORY = "The directory to write, new or empty."


def output(help: str = NEW_DIRECTORY, *, required: bool = False, also: str = "") -> Decorator:
    """The option `--output`, `-o`: a directory, as `output`.

    Args:
        help: what the help says of it, apart from that it is required.
        required: whether a call without it is refused.
        also: an option that is not listed and means the same; by default a second argument does.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one_output(*args: Any, output: str | None, second: str | None, **rest: Any) -> Any:
            if output is not None and second is not None:
                raise click.UsageError(f"Two places to write to, {second!r} and {output!r}; give one, by --output.")
            if required and output is second is None:
                raise click.UsageError("Missing option '--output' / '-o'.")
            return command(*args, output=second if output is None else output, **rest)

        listed = output_directory(help=f"{help}  [required]" if required else help)  # as click shows it
        if also:
            return listed(click.option(also, "second", type=OUTPUT, hidden=True)(with_one_output))
        return listed(click.argument("second", cls=_Second, type=OUTPUT, required=False)(with_one_output))

    return decorate


def _ask_nobody(ctx: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    if is_set:  # read when huggingface_hub is imported, in processes that a command starts, too
        os.environ["HF_HUB_OFFLINE"] = "1"


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[f"trietok.{parameter.name}"] = value


def _former(ctx: click.Context, parameter: click.Parameter, is_fast: bool | None) -> None:
    if is_fast is not None:
        ctx.meta.setdefault("trietok.profile", "fast" if is_fast else "slow")
        warn("--{0} is now --profile {0}; the next version does not take it".format(ctx.meta["trietok.profile"]))


# `tokenizer_of` reads what these are told.
profile = together(
    click.option(
        "--profile",
        type=click.Choice(["slow", "fast"]),
        expose_value=False,
        callback=_keep,
        help="Give the ids of transformers' slow classes or of its fast ones; by default, as AutoTokenizer does.",
    ),
    flag("--quiet", "-q", expose_value=False, callback=_keep, help="Do not say which profile is used, and why."),
)
former_profile = click.option(
    "--fast/--slow", "former", default=None, hidden=True, expose_value=False, callback=_former
)
model = together(
    tokenizer(
        "--model",
        "-m",
        default=DEFAULT_MODEL,
        help="The tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub.",
    ),
    profile,
)
column = name("--column", default="text", help="The field of .jsonl and .parquet files that holds the text.")
no_special_tokens = flag("--no-special-tokens", help="Leave out special tokens such as [CLS] and [SEP].")
max_length = number("--max-length", help="Truncate to N tokens, special ones included.")
json_lines = json_flag(help="Write one JSON object per line.")
offline = flag(
    "--offline", expose_value=False, callback=_ask_nobody, help="Do not connect to the hub: use its cache, or fail."
)
# What `encode`, `tokenize` and `explain` work on.
texts_and_model = together(
    click.argument("texts", nargs=-1, metavar="[TEXT]..."),
    some_files(
        "--file", "-f", "files", help="Read texts from a .txt (one a line), .jsonl or .parquet file. May be repeated."
    ),
    model,
)
files = click.argument("files", nargs=-1, required=True, type=PATH)
new_directory = output_directory(required=True, help=NEW_DIRECTORY)
max_words = partial(number, "--max-words", help="Hold at most N different words in memory; drop the rarest.")


class Encoding(NamedTuple):
    """How `encode` and `explain` are to encode: a second text, whether special tokens are left out, how many tokens."""

    pair: str | None
    no_special_tokens: bool
    max_length: int | None

    @property
    def settings(self) -> dict[str, Any]:
        """What a tokenizer is to be told."""
        settings: dict[str, Any] = {"add_special_tokens": not self.no_special_tokens, "verbose": False}
        return settings if self.max_length is None else {**settings, "truncation": True, "max_length": self.max_length}

    def check_arguments(self, texts: Sequence[str], files: Sequence[str]) -> None:
        """A usage error for a second text unless there is one text, given as an argument."""
        if self.pair is not None and (len(texts) != 1 or texts[0] == STANDARD_INPUT or files):
            raise click.UsageError("--pair goes with exactly one text, given as an argument.")

    def check_length(self, tokenizer: Any) -> None:
        """A usage error for a length that the special tokens alone take up, before anything is read or written."""
        if self.max_length is None or self.no_special_tokens:
            return
        around = tokenizer.num_special_tokens_to_add(self.pair is not None)
        if self.max_length <= around:
            raise click.UsageError(
                f"--max-length {self.max_length} has no room for a token beside the {around} special ones; raise it, "
                "or leave them out with --no-special-tokens."
            )


def encoding(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--pair`, `--no-special-tokens` and `--max-length`; the command gets `how`, an `Encoding`."""

    @wraps(command)
    def with_encoding(
        *args: Any, pair: str | None, no_special_tokens: bool, max_length: int | None, **rest: Any
    ) -> Any:
        return command(*args, how=Encoding(pair, no_special_tokens, max_length), **rest)

    pair = text("--pair", help="Encode the text and TEXT as a pair.")
    return together(pair, no_special_tokens, max_length)(with_encoding)


Reader = Callable[[Sequence[str]], "trietok.TextFiles"]


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--column` and `--errors`; the command gets `read`, which opens files, globs and standard input."""

    @wraps(command)
    def with_reader(*args: Any, column: str, errors: str, **rest: Any) -> Any:
        standard_input = None if sys.stdin is None else sys.stdin.buffer
        read = partial(trietok.TextFiles, column=column, errors=errors, standard_input=standard_input)
        return command(*args, read=read, **rest)

    errors = click.option(
        "--errors",
        type=click.Choice(["strict", "replace"]),
        default="strict",
        help="Refuse bytes that are not UTF-8, or replace them with U+FFFD.",
    )
    return together(column, errors)(with_reader)


# Where the command's input comes from: arguments, files, standard input; and the ids in a text. A file is never held as
# a whole. Lines end at U+000A only, and nothing but that is taken off.


def choice_of(name: str, like: Profile | None = None, why: str = "") -> Choice:
    """What a name is read with: in the profile that `--profile` names, or that of something else, or by `choose`.

    It is said which and why; `why` is the reason to give for `like`.
    """
    asked = click.get_current_context().meta.get("trietok.profile")
    choice = choose(name, asked or like)
    choice = choice if asked or like is None else choice._replace(why=why)
    say_choice(choice)
    return choice


def tokenizer_of(name: str, like: Profile | None = None, why: str = "") -> Any:
    """The tokenizer that `choice_of` chooses."""
    return choice_of(name, like, why).load()


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


def lines_of(arguments: Sequence[str], files: Sequence[str], what: str, column: str | None = None) -> Lines:
    """The lines to work on: the arguments, or those of the files, or those of standard input.

    Args:
        arguments, files: what the user gave.
        what: what the command wants, in the plural, for its usage errors.
        column: where the texts are in .jsonl and .parquet files; None to read these as lines, too.
    """
    if arguments and files:
        raise click.UsageError(f"Give {what} as arguments or with --file, not both.")
    if files:
        return Lines(files=files, column=column)
    if arguments:
        if what == "texts":
            _say_file_names(arguments)
        return Lines(arguments)
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(f"Give {what} as arguments, with --file FILE or through a pipe; - reads what you type.")
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
