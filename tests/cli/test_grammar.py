"""One grammar: an option has one meaning in all commands, a meaning has one option, and the page's
tables hold them.

The tables are in docs/command_line.md. One has a row for each option that many commands have: its
spellings, its meaning, the commands that have it. The other has a row for each command that has
options of its own, whose meaning the help of the command says, and with it the page of the site
that is made of the help.
"""

from __future__ import annotations

import re
from collections import defaultdict

import click
import pytest

from tests.cli.commands import PAGE, out, run
from trietok.cli.app import COMMANDS, app

# Options of which each command says in its own words what it writes, lists or asks: the meaning is
# that of the table.
OWN_WORDS = {
    "--model",
    "--output",
    "--most",
    "--with",
    "--min-frequency",
    "--vocab-size",
    "--terms",
}
OWN_WORDS |= {"--initial-alphabet", "--unused", "--way"}


def commands():
    """The commands by their names, those of `train` too."""
    context = click.Context(app)
    for name in COMMANDS:
        command = app.get_command(context, name)
        below = getattr(command, "commands", None)
        yield from (
            [(name, command)]
            if below is None
            else ((f"{name} {kind}", each) for kind, each in below.items())
        )


def long_name(option) -> str:
    return next(name for name in option.opts if name.startswith("--"))


def options():
    """Each option that the help lists: its name, the command, the option."""
    for name, command in commands():
        for each in command.params:
            if isinstance(each, click.Option) and not each.hidden:
                yield long_name(each), name, each


def rows_of(section: str) -> list[list[str]]:
    """The cells of the rows of a section's table, without its heading."""
    text = PAGE.read_text(encoding="utf-8").partition(f"### {section}\n")[2].partition("\n### ")[0]
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]


def table() -> dict[str, tuple[str, str, str]]:
    """The options that many commands have: the long name of each, then the cells of its row."""
    rows = rows_of("Options that many commands have")
    return {
        re.search(r"--[a-z-]+", spelt)[0]: (spelt, meaning, which) for spelt, meaning, which in rows
    }


def of_few() -> dict[str, list[str]]:
    """The other options, each with the commands in whose rows it stands."""
    found = defaultdict(list)
    for which, names in rows_of("Options that few commands have"):
        for name in re.findall(r"--[a-z-]+", names):
            found[name] += named(which)
    return dict(found)


def named(cell: str) -> set[str]:
    """The commands that a cell of the table names."""
    given = {
        name
        for name, _ in commands()
        for word in re.findall("`(.*?)`", cell)
        if f"{name} ".startswith(f"{word} ")
    }
    return {name for name, _ in commands()} - given if cell.startswith("all") else given


def test_the_tables_have_each_option_once_and_no_other():
    text = PAGE.read_text(encoding="utf-8")
    assert {*table(), *of_few()} == {name for name, _, _ in options()}
    assert table().keys().isdisjoint(of_few())
    assert len(re.findall(r"^\| `(?:-\w`, `)?--[a-z-]+.*\|.*\|.*\|$", text, re.MULTILINE)) == len(
        table()
    )


@pytest.mark.parametrize("name", sorted({name for name, _, _ in options()}))
def test_a_row_says_how_an_option_is_spelt_and_which_commands_have_it(name):
    if name not in table():
        assert sorted(of_few()[name]) == sorted(
            command for each, command, _ in options() if each == name
        )
        return
    spelt, _, which = table()[name]
    known = [(command, option) for each, command, option in options() if each == name]
    assert named(which) == {command for command, _ in known}
    for _, option in known:
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", spelt)) == set(option.opts)
        assert (" " in spelt.split("--")[1]) == (not option.is_flag)


def test_no_option_has_two_meanings():
    meanings = defaultdict(set)
    for name, command, option in options():
        help_text = None if name in OWN_WORDS else option.help
        default = None if name in OWN_WORDS | {"--min-frequency"} else repr(option.default)
        # it shows several beside each other
        is_many = option.multiple and (command, name) != (
            "play",
            "--model",
        )
        meanings[name].add(
            (is_many, option.is_flag, tuple(sorted(option.opts)), help_text, default)
        )
    several = {name: each for name, each in meanings.items() if len(each) > 1}
    assert set(several) <= {
        "--max-words",
        "--on-error",
        "--resume",
    }, several  # how many; encode-files replaces no bytes; of what


def test_no_meaning_has_two_options():
    by_meaning, by_help, by_short = defaultdict(set), defaultdict(set), defaultdict(set)
    for name, (_, meaning, _) in table().items():
        by_meaning[meaning].add(name)
    for name, _, option in options():
        by_help[option.help].add(name)
        for short in set(option.opts) - {name}:
            by_short[short].add(name)
    for each in (by_meaning, by_help, by_short):
        assert not {meaning: names for meaning, names in each.items() if len(names) > 1}


def test_commands_about_many_texts_read_them_alike():
    for name, command in commands():
        arguments = [each.name for each in command.params if isinstance(each, click.Argument)]
        has = {long_name(each) for each in command.params if isinstance(each, click.Option)}
        assert ("files" in arguments) == ("--on-error" in has), name
        assert ("--output" in has) == ("--force" in has), name
        assert ("--model" in has) or name in ("diff", "train wordpiece", "train bpe")
        assert (
            not {"files", "texts", "ids", "lock", "old", "new"}.isdisjoint(arguments)
            or not arguments
        )


def test_the_help_is_narrow_and_every_option_has_a_sentence():
    for name, command in commands():
        lines = out(*name.split(), "--help")
        assert not [
            line for line in lines if len(line) > 80 and not line.startswith("    trietok ")
        ], name
        for each in command.params:
            if isinstance(each, click.Option) and not each.hidden:
                assert re.match(r"[A-Z].*\.$", each.help), (name, each.opts)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trietok encode -m trietok-z", "plain,trietok-zh"),
        ("trietok verify --with tokenizers,flash", "plain,tokenizers,flash-tokenizer"),
    ],
)
def test_completion_offers_built_in_names_and_libraries(typed, completed, monkeypatch):
    monkeypatch.setenv("_TRIETOK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert completed in run().stdout.splitlines()
