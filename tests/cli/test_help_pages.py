"""The help of each command has examples that the command accepts, and ends with the page that says
more.
"""

from __future__ import annotations

import shlex

import pytest

from tests.cli.commands import ROOT, out
from trietok.cli.app import COMMANDS, DOCUMENTATION, PAGES, app

BELOW = [("train", "wordpiece"), ("train", "bpe")]


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *BELOW], ids=" ".join)
def test_the_help_ends_with_a_page_that_speaks_of_the_command(command):
    page = PAGES[command[0]]
    for _ in range(2):  # once, however often the command is asked for
        help_text = " ".join(" ".join(out(*command, "--help")).split())
        assert help_text.endswith(f"Documentation: {DOCUMENTATION}/{page}.md")
        assert help_text.count("Documentation:") == 1
    (path,) = (ROOT / "docs").rglob(f"{page}.md")
    text = path.read_text(encoding="utf-8")
    assert f"trietok {' '.join(command)}" in text


def test_the_help_of_all_commands_names_the_pages():
    assert out("--help")[-1].strip() == f"Documentation: {DOCUMENTATION}"


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *BELOW], ids=" ".join)
def test_the_examples_of_the_help_are_calls_that_the_command_accepts(command):
    lines = out(*command, "--help")
    first = lines.index("  Examples:") + 1
    examples = [line.strip() for line in lines[first : lines.index("", first)]]
    assert examples
    for call in (call for example in examples for call in example.split(" | ")):
        program, *arguments = shlex.split(call)
        assert program == "trietok"
        context = app.make_context(program, arguments)
        # click 8.1
        protected = "_protected_args" if hasattr(context, "_protected_args") else "protected_args"
        while arguments := [*getattr(context, protected), *context.args]:
            name, below, rest = context.command.resolve_command(context, arguments)
            # it parses; a wrong call is an error
            context = below.make_context(name, rest, parent=context)
            if not hasattr(below, "commands"):
                break


def test_no_summary_of_a_command_is_cut_off():
    for command in ((), ("train",)):
        assert not [
            line
            for line in out(*command, "--help")
            if line.endswith("...") and not line.startswith("Usage:")
        ]
