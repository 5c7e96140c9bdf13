"""The help of each command has examples that the command accepts."""

from __future__ import annotations

import shlex

import pytest

from tests.cli.commands import out
from trietok.cli.app import COMMANDS, app

BELOW = [("train", "wordpiece"), ("train", "bpe")]


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
