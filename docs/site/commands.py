"""The page of the commands: usage, help and options of each, from click."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

_PAGE = re.compile(r"https://\S*/docs/((?:\w|\\_)+)\.md")
_DOCS = Path(__file__).parents[1]


def commands_text() -> str:
    """The Markdown of the page. It needs the extra `cli`."""
    from trietok.cli.app import app

    text = (
        "The `--help` text of every command. [The command line](../command_line.md) shows with"
        " examples what the commands print."
    )
    parts = ["# Commands and options", text]
    for context in _commands(click.Context(app, info_name="trietok", **app.context_settings)):
        parts += _parts(context)
    return "\n\n".join(parts) + "\n"


def _commands(context: click.Context) -> Iterator[click.Context]:
    """A command and those in it, each as the context that its help is made in."""
    yield context
    for name, command in _children(context):
        yield from _commands(click.Context(command, info_name=name, parent=context))


def _children(context: click.Context) -> Iterator[tuple[str, click.Command]]:
    group = context.command
    for name in group.list_commands(context) if isinstance(group, click.Group) else ():
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def _parts(context: click.Context) -> Iterator[str]:
    command, path = context.command, context.command_path
    yield f"## {path}"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield from _paragraphs(command.help or "")
    children = [
        f"| [`{path} {name}`](#{path.replace(' ', '-')}-{name}) |"
        f" {_escaped(child.get_short_help_str(200))} |"
        for name, child in _children(context)
    ]
    if children:
        yield _table("command | what it does", children)
    rows = [
        _row(each, context)
        for each in command.get_params(context)
        if isinstance(each, click.Option)
    ]
    yield _table("option | meaning", [row for row in rows if row])
    yield from (_PAGE.sub(_link, each) for each in _paragraphs(command.epilog or ""))


def _table(heading: str, rows: list[str]) -> str:
    lines = [f"| {heading} |", "| --- " * len(heading.split(" | ")) + "|", *rows]
    return '<div class="commands" markdown>\n\n' + "\n".join(lines) + "\n\n</div>"


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help, each as text of Markdown; one after click's mark for layout stays
    as it is.
    """
    for paragraph in inspect.cleandoc(text).replace("\r", "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```"
        elif paragraph.strip():
            yield _escaped(" ".join(paragraph.split()))


def _link(named: re.Match[str]) -> str:
    page = next(_DOCS.rglob(f"{named[1].replace(chr(92), '')}.md"), None)
    assert page is not None, named[0]
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"[{title}](../{page.relative_to(_DOCS).as_posix()})"


def _row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    if record is None:  # it is hidden
        return ""
    meaning = _escaped(" ".join((option.help or "").split()))
    default = option.get_help_extra(context).get("default")
    if option.required:
        meaning += " Required."
    elif default and not option.is_flag:
        meaning += f" Default: `{default}`."
    return f"| `{record[0].replace('|', chr(92) + '|')}` | {meaning} |"


def _escaped(text: str) -> str:
    """Text in which nothing is Markdown."""
    for character in "\\`*_[]<|#":
        text = text.replace(character, "&lt;" if character == "<" else f"\\{character}")
    return text
