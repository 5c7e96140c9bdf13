"""The page of the commands: usage, help and options of each, from click."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

_PAGE = re.compile(r"docs/([\w/\\]+)\.md")


def commands_text() -> str:
    """The Markdown of the page. It needs the extra `cli`."""
    from trietok.cli.app import app

    text = (
        "What `trietok COMMAND --help` says, of every command. What they print, with examples, is in"
        " [the command line](../command_line.md)."
    )
    parts = ["# Commands and options", text]
    for name, command in _commands(app, "trietok"):
        parts += _parts(name, command)
    return "\n\n".join(parts) + "\n"


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for each in command.list_commands(context):
            child = command.get_command(context, each)
            assert child is not None
            yield from _commands(child, f"{name} {each}")


def _parts(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=name, **command.context_settings)
    yield f"## {name}"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield from _paragraphs(command.help or "")
    if isinstance(command, click.Group):
        yield "\n".join(["| command | what it does |", "| --- | --- |", *_children(name, command, context)])
    rows = [_row(each, context) for each in command.get_params(context) if isinstance(each, click.Option)]
    if rows:
        yield "\n".join(["| option | meaning | default |", "| --- | --- | --- |", *filter(None, rows)])
    yield from (_PAGE.sub(_link, each) for each in _paragraphs(command.epilog or ""))


def _children(name: str, command: click.Group, context: click.Context) -> Iterator[str]:
    for each in command.list_commands(context):
        child = command.get_command(context, each)
        assert child is not None
        anchor = f"{name} {each}".replace(" ", "-")
        yield f"| [`{name} {each}`](#{anchor}) | {_escaped(child.get_short_help_str(200))} |"


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help, each as text of Markdown; one after click's mark for layout stays as it is."""
    for paragraph in text.expandtabs().replace("\r", "").strip().split("\n\n"):
        if paragraph.startswith("\b"):
            yield "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```"
        elif paragraph.strip():
            yield _escaped(" ".join(paragraph.split()))


def _link(named: re.Match[str]) -> str:
    return f"[{named[0]}](../{named[1].replace(chr(92), '')}.md)"


def _row(option: click.Option, context: click.Context) -> str:
    if option.hidden:
        return ""
    metavar = "" if option.is_flag or option.count else option.make_metavar(context)
    names = ", ".join(f"`{each} {metavar}`".replace(" `", "`") for each in [*option.opts, *option.secondary_opts])
    info = option.get_help_extra(context)
    default = info.get("default", "")
    notes = "required" if option.required else "may be repeated" if option.multiple else ""
    meaning = _escaped(" ".join((option.help or "").split()))
    shown = f"`{default}`" if default and not option.is_flag else ""
    return f"| {names.replace('|', chr(92) + '|')} | {meaning} | {', '.join(filter(None, [shown, notes]))} |"


def _escaped(text: str) -> str:
    """Text in which nothing is Markdown."""
    for character in "\\`*_[]<|#":
        text = text.replace(character, "&lt;" if character == "<" else f"\\{character}")
    return text
