"""The arguments and options that commands share, as decorators of click; and the lines that they
lead to.

What a command alone has stands at the command, made of `flag`, `number`, `file` and their like.
click's help does not list arguments: the docstring of a command says what they are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial, wraps
from itertools import chain
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

import trietok
from trietok.cli.output import reporting, say_choice
from trietok.disk import NEW
from trietok.files.formats import TOKENIZER_CONFIG_FILE
from trietok.files.model_files import BUILT_IN_NAMES
from trietok.files.stores import expanded, is_url
from trietok.files.texts import STANDARD_INPUT as STANDARD_INPUT
from trietok.inputs.settings import Profile
from trietok.tokenizer.auto import Choice, choose

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

DEFAULT_MODEL = "trietok-en"
POSITIVE = click.IntRange(min=1)
NOT_NEGATIVE = click.IntRange(min=0)
# The shell completes names of files; whether there is such a file is said by who opens it, as
# everywhere in trietok.
PATH = click.Path(readable=False)


class _OutputPath(click.Path):
    """A path to write to, on this machine."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if is_url(str(value)):
            self.fail(
                f"{value} is a URL; write to a path on this machine, and copy it there.",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


OUTPUT = _OutputPath(readable=False)


class _ModelName(click.Path):
    """A tokenizer: a built-in name, which the shell completes as it does paths, or whatever else
    loading takes.
    """

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [CompletionItem(name) for name in BUILT_IN_NAMES if name.startswith(incomplete)]
        return names + super().shell_complete(ctx, param, incomplete)


class _Names(click.types.StringParamType):
    """Names between commas, of those in `known` if there are some, which the shell completes."""

    name = "names"

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = [name.strip() for name in value.split(",") if name.strip()]
        for name in names:
            if self._known and name not in self._known:
                self.fail(f"{name!r} is none of {', '.join(self._known)}.", param, ctx)
        return names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{name}")
            for name in self._known
            if name.startswith(begun)
        ]


# Options by what they take.

flag = partial(click.option, is_flag=True)


def choice(
    *spellings: str,
    known: Sequence[str],
    help: str,
    **settings: Any,
) -> Decorator:
    """An option of one of some values, which the help shows for it."""
    return click.option(*spellings, type=click.Choice(known), help=f"{help}.", **settings)


number = partial(click.option, type=POSITIVE, metavar="N")
name = partial(click.option, metavar="NAME")
text = partial(click.option, metavar="TEXT")
file = partial(click.option, type=PATH, metavar="FILE")
some_files = partial(file, multiple=True)
MODEL = _ModelName(readable=False)
tokenizer = partial(click.option, type=MODEL, metavar="MODEL")


def names(*spellings: str, known: Sequence[str] = (), help: str) -> Decorator:
    """An option of names between commas, a list with each once; None where it is not given."""

    def joined(
        ctx: click.Context, parameter: click.Parameter, given: Sequence[list[str]] | None
    ) -> list[str] | None:
        return list(dict.fromkeys(chain.from_iterable(given))) if given else None

    return click.option(
        *spellings, type=_Names(known), multiple=True, callback=joined, metavar="NAMES", help=help
    )


class Command(click.Command):
    """A command whose help lists the options of a section by themselves."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def command(
    group: click.Group | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of click, or of a group, whose body runs in `reporting`."""

    def decorate(body: Callable[..., Any]) -> click.Command:
        made: click.Command = (group or click).command(cls=Command, **settings)(reporting()(body))
        return made

    return decorate


def together(*options: Decorator) -> Decorator:
    """Options that commands share, as one decorator."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def section(title: str, *options: Decorator) -> Decorator:
    """Options that the help of a command lists under a title of their own."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        there = len(getattr(command, "__click_params__", ()))
        made = together(*options)(command)
        for each in made.__click_params__[there:]:  # type: ignore[attr-defined]
            each.section = title
        return made

    return decorate


NEW_DIRECTORY = "The directory to write."
# One of these is in each directory that trietok writes.
_WRITTEN = {"vocab.txt", "tokenizer.json", "tokenizer_config.json", "merges.txt"}
_WRITTEN |= {".trietok-encode", "part-00000.parquet"}


def writes(
    help: str,
    *,
    metavar: str = "DIR",
    required: bool = True,
    **settings: Any,
) -> Decorator:
    """The options `--output`, a DIR or a FILE, and `--force`: the command gets `output`, if it may
    be written.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_output(*args: Any, output: str | None, force: bool, **rest: Any) -> Any:
            read = [
                *map(rest.get, ("model", "terms", "new_tokenizer", "like", "test")),
                *(rest.get("files") or ()),
            ]
            with contextlib.ExitStack() as places:
                if output is not None:
                    places.enter_context(place_to_write(output, metavar == "FILE", force, read))
                if rest.get("page"):
                    places.enter_context(place_to_write(rest["page"], True, force, read, "--page"))
                return command(*args, output=output, **rest)

        option = click.option(
            "--output", "-o", type=OUTPUT, metavar=metavar, required=required, help=help, **settings
        )
        return together(option, flag("--force", help="Replace what is at --output."))(with_output)

    return decorate


_TAKEN = "is there already; name another place with {}, or replace it with --force"


@contextlib.contextmanager
def place_to_write(
    path: str,
    is_file: bool,
    force: bool,
    read: Iterable[str | None] = (),
    option: str = "-o",
) -> Iterator[None]:
    """Where the body writes a file or a directory; what is there already is an error, or with
    `force` is replaced.

    A directory that the body does not come to write, and what the command reads (`read`), are left
    as they were.
    """
    place = above = os.path.realpath(path)
    # A killed command may have left hidden files, and new ones that replaced none: the next save
    # removes them.
    names = os.listdir(place) if os.path.isdir(place) else []
    left = NEW if TOKENIZER_CONFIG_FILE + NEW in names else "\0"
    shown = (
        name
        for name in names
        if name in _WRITTEN or not (name.startswith(".") or name.endswith(left))
    )
    there = [name for name in shown if os.path.exists(os.path.join(place, name))]
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    sources = [
        each for each in expanded(filter(None, read if force else ())) if os.path.exists(each)
    ]
    if above != place:
        _check_folder(path, above, place, is_file)
    else:
        what = _in_the_way(place, is_file, force, there, sources)
        if what:
            raise trietok.FileError(f"{path} {what.format(option)}", path=path)
    if os.path.isdir(above) and not os.access(above, os.W_OK | os.X_OK):
        named = "it" if above == place else above
        raise trietok.FileError(f"cannot write to {path!r}: {named} is not writable", path=path)
    with _set_aside(place) if there else contextlib.nullcontext():
        yield


def _check_folder(path: str, above: str, place: str, is_file: bool) -> None:
    """Raise where a new file or directory has no folder; `above` is the nearest that is there."""
    if is_file and above != os.path.dirname(place):
        raise trietok.FileError(
            f"there is no folder {os.path.dirname(path)} to write to; make it", path=path
        )
    if not os.path.isdir(above):
        raise trietok.FileError(f"cannot write to {path!r}: {above} is not a directory", path=path)


def _in_the_way(
    place: str, is_file: bool, may_replace: bool, there: Collection[str], sources: Iterable[str]
) -> str:
    """Why what is at a place may not be replaced, with `{}` for the option; empty where it may.

    `there` are the names in a directory, `sources` what the command reads.
    """
    if is_file and os.path.isdir(place):
        return "is a directory; name a file with {}"
    if not may_replace and (there or not os.path.isdir(place)):
        return _TAKEN
    if any(
        os.path.samefile(place, each) or os.path.realpath(each).startswith(place + os.sep)
        for each in sources
    ):
        return "is what the command reads; name another place with {}"
    if there and _WRITTEN.isdisjoint(there):
        return (
            "holds no tokenizer and no ids, so that --force does not replace it; name another"
            " place with {}"
        )
    return ""


@contextlib.contextmanager
def _set_aside(place: str) -> Iterator[None]:
    """A directory under another name, until the body has written one in its place; else it comes
    back.
    """
    aside = os.path.join(os.path.dirname(place), f".{os.path.basename(place)}.{os.getpid()}.before")
    os.rename(place, aside)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it is empty: the body has failed
            os.rmdir(place)
        if os.path.isdir(place):
            shutil.rmtree(aside)
        else:
            os.rename(aside, place)


def _ask_nobody(ctx: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    if is_set:  # read when huggingface_hub is imported, in processes that a command starts, too
        os.environ["HF_HUB_OFFLINE"] = "1"


def _page_of(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is not None:
        if os.path.lexists(path):
            raise click.UsageError(f"{path} is there already; name another place with --page.", ctx)
        ctx.meta["trietok.page"] = path


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[f"trietok.{parameter.name}"] = value


# `tokenizer_of` reads what these are told.
profile = together(
    choice(
        "--profile",
        known=["slow", "fast"],
        expose_value=False,
        callback=_keep,
        help="Give the ids of transformers' classes of this kind (by default, of AutoTokenizer's)",
    ),
    flag(
        "--verbose",
        "-v",
        expose_value=False,
        callback=_keep,
        help="Always say which profile is used, and why.",
    ),
    flag(
        "--quiet",
        "-q",
        expose_value=False,
        callback=_keep,
        help="Do not say which profile is used, and why.",
    ),
)
A_MODEL = "The tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub."
model = together(tokenizer("--model", "-m", default=DEFAULT_MODEL, help=A_MODEL), profile)
# For commands that change, check or record a tokenizer: none silently takes a built-in one.
required_model = tokenizer("--model", "-m", required=True, help=A_MODEL)
required_model_and_profile = together(required_model, profile)
model_directory = tokenizer(
    "--model", "-m", required=True, help="The model: a directory with its weights and tokenizer."
)
column = name(
    "--column",
    default="text",
    help="The field or column that holds the text; meta.text is a field within.",
)
no_special_tokens = flag(
    "--no-special-tokens", help="Leave out special tokens such as [CLS] and [SEP]."
)
max_length = number("--max-length", help="Truncate to N tokens, special ones included.")
json_lines = flag("--json", "as_json", help="Write JSON, one object a line.")
workers = number("--workers", help="Use N cores; by default, all.")
most = partial(number, "--most", "-n")
dry_run = flag("--dry-run", help="Show what would be done, and write nothing.")
_page = partial(file, "--page", type=OUTPUT, help="Also write the report as a page for a browser.")
page = _page(expose_value=False, callback=_page_of)  # of what `write_result` writes
page_with_output = _page()  # for `writes`, which sees whether it may be written
offline = flag(
    "--offline",
    expose_value=False,
    callback=_ask_nobody,
    help="Do not connect to the hub: use its cache, or fail.",
)
# what a command ends with that answers about a tokenizer
json_offline = together(json_lines, offline)
# What `encode`, `tokenize` and `explain` work on.
text_files = some_files(
    "--file", "-f", "files", help="Read this file, - for standard input. May be repeated."
)
texts_and_model = together(
    click.argument("texts", nargs=-1, metavar="[TEXT]..."), text_files, model
)


def _or_standard_input(
    ctx: click.Context, parameter: click.Parameter, files: tuple[str, ...]
) -> tuple[str, ...]:
    if files or ctx.resilient_parsing:
        return files
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("Give FILES, or text through a pipe; - reads what you type.", ctx)
    return (STANDARD_INPUT,)


# The texts of commands about many: files and globs. Those that can do without texts take
# `files_if_any`.
files_if_any = click.argument("files", nargs=-1, type=PATH)
files = click.argument("files", nargs=-1, type=PATH, callback=_or_standard_input)
_on_error = partial(
    choice,
    "--on-error",
    default="fail",
    help="What to do with a text that cannot be read, or with its bytes that are not UTF-8",
)
on_error, fail_or_skip = (
    _on_error(known=["fail", "skip", "replace"]),
    _on_error(known=["fail", "skip"]),
)
max_words = partial(
    number, "--max-words", help="Hold at most N different words in memory; drop the rarest."
)


class EncodingOptions(NamedTuple):
    """How `encode` and `explain` are to encode: a second text, whether special tokens are left out,
    how many tokens.
    """

    pair: str | None
    no_special_tokens: bool
    max_length: int | None

    @property
    def settings(self) -> dict[str, Any]:
        """What a tokenizer is to be told."""
        settings: dict[str, Any] = {
            "add_special_tokens": not self.no_special_tokens,
            "verbose": False,
        }
        return (
            settings
            if self.max_length is None
            else {**settings, "truncation": True, "max_length": self.max_length}
        )

    def check_arguments(self, texts: Sequence[str], files: Sequence[str]) -> None:
        """A usage error for a second text unless there is one text, given as an argument."""
        if self.pair is not None and (len(texts) != 1 or texts[0] == STANDARD_INPUT or files):
            raise click.UsageError("--pair goes with exactly one text, given as an argument.")

    def check_length(self, tokenizer: Any) -> None:
        """A usage error for a length that the special tokens alone take up, before anything is read
        or written.
        """
        if self.max_length is None or self.no_special_tokens:
            return
        around = tokenizer.num_special_tokens_to_add(self.pair is not None)
        if self.max_length <= around:
            raise click.UsageError(
                f"--max-length {self.max_length} has no room for a token beside the {around}"
                " special ones; raise it, or leave them out with --no-special-tokens."
            )


def encoding(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--pair`, `--no-special-tokens` and `--max-length`; the command gets `how`, an
    `EncodingOptions`.
    """

    @wraps(command)
    def with_encoding(
        *args: Any, pair: str | None, no_special_tokens: bool, max_length: int | None, **rest: Any
    ) -> Any:
        return command(*args, how=EncodingOptions(pair, no_special_tokens, max_length), **rest)

    pair = text("--pair", help="Encode the text and TEXT as a pair.")
    return together(pair, no_special_tokens, max_length)(with_encoding)


class FileOpener(NamedTuple):
    """Opens files, globs and standard input, as `--column` and `--on-error` say."""

    column: str
    on_error: str

    def __call__(self, files: Sequence[str]) -> trietok.TextFiles:
        standard_input = None if sys.stdin is None else sys.stdin.buffer
        return trietok.TextFiles(files, **self._asdict(), standard_input=standard_input)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--column` and `--on-error`; the command gets `read`, a `FileOpener`."""

    @wraps(command)
    def with_reader(*args: Any, column: str, on_error: str, **rest: Any) -> Any:
        return command(*args, read=FileOpener(column, on_error), **rest)

    return together(column, on_error)(with_reader)


# Where the command's input comes from: arguments, files, standard input; and the ids in a text.


def choice_of(name: str, like: Profile | None = None, why: str = "") -> Choice:
    """What a name is read with: in the profile that `--profile` names, or in `like`, for which
    `why` is the reason.

    Else by `choose`. It is said which and why.
    """
    asked = click.get_current_context().meta.get("trietok.profile")
    choice = choose(name, asked or like)
    if like is not None and not asked:
        choice = choice._replace(why=why)
    say_choice(choice)
    return choice


def tokenizer_of(name: str, like: Profile | None = None, why: str = "") -> Any:
    """The tokenizer that `choice_of` chooses."""
    return choice_of(name, like, why).load()
