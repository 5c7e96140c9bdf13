"""The commands `encode` and `tokenize`: what they write."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import error, out, run, usage_error

# ---- encode --------------------------------------------------------------------------------------


def test_encode_writes_the_ids_of_each_text_on_a_line(english):
    texts = ["The people, united!", "[CLS] is a token", ""]
    assert out("encode", *texts) == [" ".join(map(str, english.encode(text))) for text in texts]


def test_encode_json():
    assert [json.loads(line) for line in out("encode", "--json", "Hello")] == [
        {
            "text": "Hello",
            "tokens": ["[CLS]", "hel", "##lo", "[SEP]"],
            "input_ids": [2, 456, 490, 3],
            "profile": "fast",
        }
    ]


def test_encode_options(tiny):
    assert out("encode", "--model", tiny, "hello world") == ["2 5 6 3"]
    assert out("encode", "-m", tiny, "--no-special-tokens", "hello world") == ["5 6"]
    assert out("encode", "-m", tiny, "--max-length", "3", "hello world") == ["2 5 3"]
    assert out("encode", "-m", tiny, "--max-length", "1", "--no-special-tokens", "hello world") == [
        "5"
    ]


def test_encode_pair(tiny):
    assert out("encode", "-m", tiny, "hello", "--pair", "world") == ["2 5 3 6 3"]
    assert json.loads(out("encode", "-m", tiny, "--json", "hello", "--pair", "world")[0]) == {
        "text": "hello",
        "text_pair": "world",
        "tokens": ["[CLS]", "hello", "[SEP]", "world", "[SEP]"],
        "input_ids": [2, 5, 3, 6, 3],
        "token_type_ids": [0, 0, 0, 1, 1],
        "profile": "fast",
    }


@pytest.mark.parametrize("arguments", [["a", "b"], [], ["-"], ["--file", "texts.txt"]])
def test_a_pair_needs_exactly_one_text(arguments):
    assert "exactly one text" in usage_error("encode", "--pair", "c", *arguments, stdin="a\n")


@pytest.mark.parametrize("length", ["0", "-1", "five"])
def test_max_length_is_a_whole_number_from_one(length):
    assert "--max-length" in usage_error("encode", "--max-length", length, "a")


def test_special_tokens_alone_may_be_too_many():
    assert "--max-length 1" in usage_error("encode", "--max-length", "1", "a")
    assert "--max-length 2" in usage_error("encode", "--max-length", "2", "a", "--pair", "b")


def test_a_text_too_long_for_the_model_is_warned_of_once(english):
    result = run("encode", stdin="a " * 600 + "\n" + "a " * 700 + "\n")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 2
    assert result.stderr.startswith("trietok: warning: standard input, line 1 has 602 tokens")
    assert result.stderr.count("\n") == 1


def test_the_log_of_the_library_is_shown_in_the_same_form(tiny, tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_cas": true}')
    result = run("encode", "-m", str(tmp_path), "hello")
    assert (result.exit_code, result.stdout) == (0, "2 5 3\n")
    assert result.stderr.startswith("trietok: warning: ")
    assert "'do_lower_cas'" in result.stderr


def test_the_class_is_the_one_that_the_directory_asks_for(vocab_file, tmp_path):
    vocab_file("a", special=["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "MPNetTokenizer"}')
    model = str(tmp_path)
    assert out("encode", "-m", model, "a") == ["0 5 2"]
    assert out("decode", "-m", model, "0", "5", "2") == ["<s> a </s>"]
    assert out("tokenize", "-m", model, "a") == ["a"]
    assert out("diff", model, model)[0] == "the ids are the same"
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    assert "'RobertaTokenizer'" in error("encode", "-m", model, "a")


# ---- tokenize ------------------------------------------------------------------------------------


def test_tokenize(tiny):
    assert out("tokenize", "-m", tiny, "Hello hello x", "東京タワー") == [
        "hello hello [UNK]",
        "東 京 タワー",
    ]
    assert out("tokenize", "-m", tiny, "--json", "hello 東") == [
        '{"text": "hello 東", "tokens": ["hello", "東"], "input_ids": [5, 9], "profile": "fast"}'
    ]


# ---- text that is awkward to write ---------------------------------------------------------------


def test_lone_surrogates_are_written_as_escapes(tiny, tmp_path):
    (tmp_path / "a.jsonl").write_text(r'{"text": "hello \ud800\ud800\\ud800"}')
    line = out("encode", "-m", tiny, "--json", "--file", str(tmp_path / "a.jsonl"))[0]
    assert r'"text": "hello \ud800\ud800\\ud800"' in line


@pytest.mark.parametrize("command", ["encode", "tokenize", "explain"])
def test_the_name_of_a_file_as_a_text_is_refused(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("texts.txt", "notes", "page.html"):
        (tmp_path / name).write_text("the people\n")
    for name in ("none.txt", "texts.txt", "page.html", "./notes"):
        assert f"'{name}'" in usage_error(command, "the", name)
    assert run(command, "notes", "Mind the gap.txt", "a\0.txt", "and/or").exit_code == 0
    assert run(command, "--", "none.txt", "texts.txt").exit_code == 0
