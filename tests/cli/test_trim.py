"""`trietok trim`: what it prints, what it saves, how it fails."""

from __future__ import annotations

import json
import os

import pytest

from tests.cli.commands import error, out, run, usage_error
from trietok import BertTokenizer, BertTokenizerFast, compare

SLOW = ("--profile", "slow")


@pytest.fixture
def text(tmp_path) -> str:
    path = tmp_path / "text.txt"
    path.write_text("Hello world\n東京\nhel\n", encoding="utf-8")
    return str(path)


def test_what_is_written_and_said(tiny, text, tmp_path):
    saved, held = str(tmp_path / "out"), tmp_path / "held.txt"
    held.write_text("hello\nhello hello-lo hellolo\n", encoding="utf-8")
    lines = out("trim", "-m", tiny, text, "-o", saved, "--check", str(held), *SLOW)
    before, after = BertTokenizer.from_pretrained(tiny), BertTokenizer.from_pretrained(saved)
    assert lines == [
        "12 tokens become 10 (83.3%)",
        "3 texts, 5 tokens: 0 texts differ",
        (
            "held back: 2 texts, 7 tokens: 1 text differs in 2 tokens; unknown tokens: 2 before, 3"
            " after: hellolo (1)"
        ),
        f"written to {saved}; the model needs 10 embedding rows; 16 as a multiple of 8",
        compare(before, after, []).proof,
    ]
    assert after.tokenize("Hello world 東京 hel hellos") == [
        "hello",
        "world",
        "東",
        "京",
        "hel",
        "[UNK]",
    ]


def test_options(tiny, text, tmp_path):
    keep = tmp_path / "keep.txt"
    keep.write_bytes("\ufeffタワー\r\n\r\n".encode())  # as an editor of Windows writes it

    def left(name: str, *options: str) -> set[str]:
        out("trim", "-m", tiny, text, "-o", str(tmp_path / name), *options)
        return set(BertTokenizer.from_pretrained(tmp_path / name).vocab) - {
            "[PAD]",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "[MASK]",
        }

    needed = {"hello", "world", "hel", "東", "京"}
    assert left("a") == needed
    assert left("b", "--keep", str(keep)) == {*needed, "タワー"}
    assert left("c", "--keep-prefix", "##") == {*needed, "##lo"}
    assert left("d", "--unused", "all", "--characters") == needed
    assert left("e", "--min-frequency", "2") == set()


def test_standard_input_json_and_the_fast_profile(tiny, text, tmp_path):
    with open(text, encoding="utf-8") as file:
        (line,) = out(
            "trim",
            "-m",
            tiny,
            "-",
            "-o",
            str(tmp_path / "out"),
            "--json",
            "--profile",
            "fast",
            stdin=file.read(),
        )
    values = json.loads(line)
    fast = BertTokenizerFast.from_pretrained(tmp_path / "out")
    assert (values["texts"]["differing"], values["held_back"], values["tokens_after"]) == (
        0,
        None,
        10,
    )
    assert values["after"] == fast.fingerprint()
    assert "tokenizer.json" in os.listdir(tmp_path / "out")


def test_a_model_in_the_directory(tiny, text, tmp_path):
    model = tmp_path / "model"
    BertTokenizer.from_pretrained(tiny).save_pretrained(model)
    (model / "pytorch_model.bin").write_bytes(b"")
    saved = str(tmp_path / "out")
    lines = out("trim", "-m", str(model), text, "-o", saved)
    assert (
        lines[-2] == f"{model} holds a model; update its rows with: "
        f"trietok rows -m {model} --new-tokenizer {saved} -o {saved}-model"
    )


def test_errors_save_nothing(tiny, text, tmp_path):
    new = str(tmp_path / "new")
    given = ("trim", "-m", tiny, "-o", new)
    assert "no.txt" in error(*given, "no.txt")
    error(*given, "-", stdin="")
    assert "is there already" in error("trim", "-m", tiny, text, "-o", os.path.dirname(tiny))
    assert "'Hello world', '東京'" in error(*given, text, "--keep", text)
    assert "'x'" in error(*given, text, "--keep-prefix", "x")
    error(*given, text, "--unused", "1")
    assert "byte 0xff" in error(*given, "-", stdin=b"a\n\xff\n")
    assert "--unused" in usage_error(*given, text, "--unused", "-1")
    error(*given)
    assert run("trim", "-m", tiny, text).exit_code == 2
    assert not (tmp_path / "new").exists()
