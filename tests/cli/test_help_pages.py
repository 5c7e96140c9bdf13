"""The help of each command ends with the page that says more."""

from __future__ import annotations

import pytest

from tests.cli.commands import ROOT, out
from trietok.cli.app import COMMANDS, page_of

BELOW = [("train", "wordpiece"), ("train", "bpe")]


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *BELOW], ids=" ".join)
def test_the_help_ends_with_a_page_that_speaks_of_the_command(command):
    page = page_of(command[0])
    for _ in range(2):  # once, however often the command is asked for
        help_text = out(*command, "--help")
        assert help_text[-1].strip() == f"Documentation: {page}"
        assert " ".join(help_text).count("Documentation:") == 1
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"trietok {' '.join(command)}" in text


def test_the_help_of_all_commands_names_its_page_and_the_first_one():
    assert out("--help")[-1].strip() == "Documentation: docs/command_line.md; docs/get_started.md for a first look"
    assert (ROOT / "docs" / "get_started.md").is_file()
