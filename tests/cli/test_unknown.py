"""The command `unknown`: the words of files that a vocabulary lacks."""

from __future__ import annotations

import json

from tests.cli.commands import COLOURS, WHY, error, on_terminal, out, posix


def test_unknown_words_of_files(tiny, tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("hello\nhello Zoo, zoo\n", encoding="utf-8")
    second.write_text("zoo\n東\tx\n", encoding="utf-8")
    lines = out("unknown", "-m", tiny, str(first), str(second))
    assert lines == [
        "3 kinds of unknown words, 5 times in 3 of 4 texts (62.50% of 8 tokens)",
        f"3\tzoo\tunknown character z\t{first}:2:6-9 {first}:2:11-14 {second}:1:0-3",
        f"1\t,\tunknown character ,\t{first}:2:9-10",
        f"1\tx\tunknown character x\t{second}:2:2-3",
    ]
    assert out("unknown", "-m", tiny, "-n", "1", str(first), str(second)) == lines[:2]
    assert out("unknown", "-m", tiny, stdin="hello\n") == ["no unknown words in 1 text (1 token)"]


def test_unknown_words_as_json(tiny, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n\n京 x\n", encoding="utf-8")
    (line,) = out("unknown", "-m", tiny, "--json", str(path))
    assert json.loads(line) == {
        "ok": True,
        "profile": "fast",
        "profile_why": WHY,
        "texts": 3,
        "texts_with_unknown": 1,
        "tokens": 2,
        "occurrences": 1,
        "characters": {"x": 1},
        "words": [
            {
                "word": "x",
                "count": 1,
                "reason": "unknown-character",
                "blame": ["x"],
                "positions": [{"file": str(path), "line": 3, "start": 2, "end": 3}],
            }
        ],
    }


def test_unknown_words_of_a_file_that_is_not_there(tiny):
    assert (
        error("unknown", "-m", tiny, "no such file")
        == "cannot read no such file: No such file or directory"
    )


@posix
def test_unknown_words_on_a_terminal(tiny, tmp_path):
    (tmp_path / "a.txt").write_text("[b] 東\x1bx x\n", encoding="utf-8")
    shown = COLOURS.sub(
        "", on_terminal("unknown", "-m", tiny, "-n", "2", str(tmp_path / "a.txt"), columns=300)
    )
    lines = [line.rstrip() for line in shown.rstrip("\n").split("\n")]
    assert lines[0] == "4 kinds of unknown words, 5 times in 1 of 1 text (83.33% of 6 tokens)"
    assert lines[1].split() == ["count", "word", "why", "first", "at"]
    assert lines[2].split()[:5] == ["2", "x", "unknown", "character", "x"]
    assert lines[3].split()[:5] == ["1", "[", "unknown", "character", "["]
    assert lines[4:] == ["... and 2 more"]
