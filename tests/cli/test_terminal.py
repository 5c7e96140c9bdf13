"""What commands write to a terminal, and what a page shows of it."""

from __future__ import annotations

import re

from tests.cli.commands import COLOURS, PAGE, on_terminal, out, posix, unframed

# ---- on a terminal -------------------------------------------------------------------------------


def cells(shown: str) -> list[list[str]]:
    """The rows of the tables on a terminal."""
    return [
        [cell.strip() for cell in line.split("│")]
        for line in COLOURS.sub("", shown).split("\n")
        if "│" in line
    ]


@posix
def test_a_terminal_gets_a_table_for_each_text(tiny):
    shown = COLOURS.sub(
        "", on_terminal("encode", "-m", tiny, "hello hel\x1b[2Jlo [bold]", "東京タワー", "")
    )
    assert [line.rstrip() for line in shown.split("\n")] == [
        r"hello hel\x1b[2Jlo [bold]",
        "9 tokens, 2 special, 5 unknown",
        " [CLS] │ hello │ hel │ [UNK] │ [UNK] │ [UNK] │ [UNK] │ [UNK] │ [SEP]",
        " 2     │ 5     │ 7   │ 1     │ 1     │ 1     │ 1     │ 1     │ 3",
        "       │ 0-5   │ 6-9 │ 10-11 │ 11-15 │ 16-17 │ 17-21 │ 21-22 │",
        "       │       │     │ [     │ 2Jlo  │ [     │ bold  │ ]     │",
        "",
        "東京タワー",
        "5 tokens, 2 special",
        " [CLS] │ 東  │ 京  │ タワー │ [SEP]",
        " 2     │ 9   │ 10  │ 11     │ 3",
        "       │ 0-1 │ 1-2 │ 2-5    │",
        "",
        "(empty text)",
        "2 tokens, 2 special",
        " [CLS] │ [SEP]",
        " 2     │ 3",
        "",
    ]


@posix
def test_colours(tiny):
    shown = on_terminal("encode", "-m", tiny, "hello hello hello[SEP]x hellolo")
    assert re.search(r"\x1b\[35m\[CLS\] *\x1b\[0m", shown)
    assert "\x1b[1;31m[UNK]\x1b[0m" in shown
    assert re.search(r"\x1b\[2m##lo *\x1b\[0m", shown)
    assert "\x1b" not in on_terminal("encode", "-m", tiny, "hello", NO_COLOR="1", TERM="dumb")


@posix
def test_long_texts_and_wide_characters_fit_the_terminal(tiny):
    from rich.cells import cell_len

    shown = on_terminal("tokenize", "-m", tiny, "東京タワー hello " * 30 + "x" * 101, columns=40)
    assert max(map(cell_len, COLOURS.sub("", shown).split("\n"))) <= 40
    tokens = [cell for row in cells(shown)[::2] for cell in row]
    assert tokens == ["東", "京", "タワー", "hello"] * 30 + ["[UNK]"]


@posix
def test_json_and_decoded_text_look_alike_on_a_terminal(tiny):
    assert (
        on_terminal("encode", "-m", tiny, "--json", "東")
        == f"{out('encode', '-m', tiny, '--json', '東')[0]}\n"
    )
    assert on_terminal("decode", "-m", tiny, "2", "9") == "[CLS] 東\n"


@posix
def test_a_terminal_that_could_be_typed_at_is_no_input():
    shown = unframed(COLOURS.sub("", on_terminal("encode")))
    assert "Give texts as arguments, by -f FILE or through a pipe; - reads what you type." in shown


# ---- the page in docs/ ---------------------------------------------------------------------------


@posix
def test_the_page_shows_the_table_of_a_terminal():
    table = re.search(
        r"^```text\n(Tokenizers .*?)^```$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    shown = COLOURS.sub("", on_terminal("encode", table[1].split("\n")[0]))
    assert [line.rstrip() for line in shown.split("\n")] == table[1].split("\n")
