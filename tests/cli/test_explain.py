"""`trietok explain`: on a terminal, into a pipe, as JSON, as a page, beside another tokenizer."""

from __future__ import annotations

import json
import pathlib

from tests.cli.commands import COLOURS, error, on_terminal, out, posix, usage_error

TEXT = "hellolo hellx naïve\u200d"


@posix
def test_a_terminal_gets_colours_and_none_without_colour(tiny):
    coloured = on_terminal("explain", "-m", tiny, TEXT)
    plain = on_terminal("explain", "-m", tiny, TEXT, NO_COLOR="1", TERM="dumb")
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert "│" not in coloured
    assert "hello│lo hellx" in plain  # bars where there are no colours
    for shown in (COLOURS.sub("", coloured), plain):
        assert "U+200D ZERO WIDTH JOINER: control character (format)" in shown
        assert "The word “hellx” is unknown" in shown


@posix
def test_nothing_of_a_text_reaches_a_terminal_as_it_is(tiny):
    shown = COLOURS.sub("", on_terminal("explain", "-m", tiny, "a\x1b[2J \u202e[bold] \x07"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "⟨ESC⟩" in shown
    assert "[bold]" in shown


def test_json_is_one_object_a_text(tiny):
    lines = out("explain", "-m", tiny, "--json", "hello", "東")
    assert [json.loads(line)["input_ids"] for line in lines] == [[2, 5, 3], [2, 9, 3]]
    pair = json.loads(out("explain", "-m", tiny, "--json", "hello", "--pair", "東")[0])
    assert [text["text"] for text in pair["texts"]] == ["hello", "東"]


def test_texts_from_a_pipe(tiny):
    lines = out("explain", "-m", tiny, stdin="hello\nhellx\n")
    assert lines.count("Tokens  3") == 2


def test_a_page_for_a_browser(tiny, tmp_path: pathlib.Path):
    page = tmp_path / "page.html"
    said = [f"written to {page}: 1 text"]
    assert out("explain", "-m", tiny, "-o", str(page), "<script>x</script> hello") == said
    assert (
        out("explain", "-m", tiny, "-o", str(page), "<script>x</script> hello", "--force") == said
    )
    assert "is there already" in error("explain", "-m", tiny, "-o", str(page), "a")
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "<script" not in html
    assert "there is no folder" in error(
        "explain", "-m", tiny, "-o", str(tmp_path / "no" / "page.html"), "a"
    )
    assert "not both" in usage_error("explain", "-o", f"{page}.html", "--json", "a")


def test_against_a_vocabulary_and_a_profile(tiny):
    lines = out("explain", "-m", tiny, "hello hel\u0378", "--profile", "slow", "--against", "fast")
    assert (
        "            cleaned: the left deletes U+0378 <reserved-0378>, the right does not" in lines
    )
    values = json.loads(out("explain", "-m", tiny, "hello", "--against", "slow", "--json")[0])
    assert (values["left"]["profile"], values["right"]["profile"]) == ("fast", "slow")
    assert values["same_ids"] is True
    values = json.loads(out("explain", "-m", tiny, "hello", "--against", "trietok-en", "--json")[0])
    assert (values["left"]["profile"], values["right"]["profile"], values["same_ids"]) == (
        "fast",
        "fast",
        False,
    )


def test_what_a_call_refuses_is_one_line(tiny):
    assert "--max-length" in usage_error("explain", "-m", tiny, "--max-length", "1", "hello")
    assert "--pair" in usage_error("explain", "a", "b", "--pair", "c")
