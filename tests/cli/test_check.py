"""The command `check`."""

from __future__ import annotations

import json

from tests.cli.commands import COLOURS, error, on_terminal, out, posix, run
from tests.vocabulary.directories import CONFIG, decoder, make, vocab
from trietok import check


def test_the_command(tmp_path):
    folder = str(make(tmp_path / "good", vocab("un", "a\x1b[2Jb")))
    result = run("check", "-m", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "'un' stands on lines 6 and 9" in result.stdout
    assert "\x1b" not in result.stdout
    bad = str(make(tmp_path / "bad", {**vocab(), CONFIG: decoder(id7="[NEW]")}))
    assert run("check", "-m", bad).exit_code == 1
    for arguments in (
        ["check"],
        ["check", "-m", folder, "--renumber"],
        ["check", "-m", folder, "--frobnicate"],
    ):
        assert run(*arguments).exit_code == 2


def test_a_path_that_is_not_there_is_not_asked_for_on_a_hub(tmp_path):
    name = str(tmp_path / "nowhere")
    message = f"{name} is neither a directory nor a file"
    assert error("check", "-m", name).startswith(message)
    assert error("tokenize", "a", "-m", name).startswith(message)


def test_the_command_as_json(tmp_path):
    folder = str(make(tmp_path / "model", vocab("un", "\u2028")))
    (line,) = out("check", "-m", folder, "--json")
    assert json.loads(line) == check(folder).to_dict()
    (line,) = out(
        "check", "-m", folder, "--json", "--fix", "-o", str(tmp_path / "out"), "--renumber"
    )
    assert json.loads(line)["id_map"]["9"] == 8


def test_the_command_fixing(tmp_path):
    folder = str(make(tmp_path / "model", vocab("un")))
    written = out("check", "-m", folder, "--fix", "-o", str(tmp_path / "out"))
    assert written[1] == "  line 6: 'un' is '[unused5]', a free slot; 'un' keeps its id 8"
    assert error("check", "-m", folder, "--fix", "-o", str(tmp_path / "out")).endswith(
        "replace it with --force"
    )


@posix
def test_the_command_on_a_terminal(tmp_path):
    folder = str(make(tmp_path / "model", vocab("un", "a\x1b[2Jb", "[PAD].")))
    shown = on_terminal("check", "-m", folder)
    assert "\x1b[2J" not in shown
    assert "\x1b[" in shown
    plain = COLOURS.sub("", shown)
    assert "warning  duplicate-line" in plain
    assert "[PAD]." in plain
