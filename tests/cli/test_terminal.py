"""What commands write to a terminal, and what a page shows of it."""

from __future__ import annotations

from tests.cli.commands import COLOURS, on_terminal, posix, unframed


def cells(shown: str) -> list[list[str]]:
    """The rows of the tables on a terminal."""
    return [
        [cell.strip() for cell in line.split("│")]
        for line in COLOURS.sub("", shown).split("\n")
        if "│" in line
    ]


@posix
def test_a_terminal_gets_a_table_for_each_text(tiny):
    shown = on_terminal("encode", "-m", tiny, "hello hel\x1b[2Jlo [bold]", "東京タワー", "")
    assert "\x1b[2J" not in shown
    lines = [line.rstrip() for line in COLOURS.sub("", shown).split("\n")]
    assert r"hello hel\x1b[2Jlo [bold]" in lines
    for row in (
        ["[CLS]", "東", "京", "タワー", "[SEP]"],
        ["2", "9", "10", "11", "3"],
        ["[CLS]", "[SEP]"],
    ):
        assert row in cells(shown)
    assert "\x1b" not in on_terminal("encode", "-m", tiny, "hello", NO_COLOR="1", TERM="dumb")


@posix
def test_long_texts_and_wide_characters_fit_the_terminal(tiny):
    from rich.cells import cell_len

    shown = on_terminal("tokenize", "-m", tiny, "東京タワー hello " * 30 + "x" * 101, columns=40)
    assert max(map(cell_len, COLOURS.sub("", shown).split("\n"))) <= 40
    tokens = [cell for row in cells(shown)[::2] for cell in row]
    assert tokens == ["東", "京", "タワー", "hello"] * 30 + ["[UNK]"]


@posix
def test_a_terminal_that_could_be_typed_at_is_no_input():
    shown = unframed(COLOURS.sub("", on_terminal("encode")))
    assert "-f FILE" in shown
