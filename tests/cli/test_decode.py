"""The command `decode`: which ids it takes and what it writes."""

from __future__ import annotations

import pytest

from tests.cli.commands import error, out, run, usage_error


@pytest.mark.parametrize(
    "arguments",
    [
        ["2", "7", "8", "6", "3"],
        ["2 7,8", "6,3"],
        ["[2, 7, 8, 6, 3]"],
        ["[2,", "7,8,6,", "3]"],
        ["--", "2", "7 8 6 3"],
    ],
)
def test_decode_takes_one_sequence_as_arguments(tiny, arguments):
    assert out("decode", "-m", tiny, *arguments) == ["[CLS] hello world [SEP]"]


def test_decode_skips_special_tokens(tiny):
    assert out("decode", "-m", tiny, "--no-special-tokens", "2", "7", "8", "6", "3") == [
        "hello world"
    ]


def test_decode_json_has_all_tokens(tiny):
    assert out("decode", "-m", tiny, "--json", "--no-special-tokens", "2", "9", "3") == [
        '{"text": "東", "tokens": ["[CLS]", "東", "[SEP]"], "input_ids": [2, 9, 3], "profile":'
        ' "fast"}'
    ]


@pytest.mark.parametrize(
    "line",
    [
        "5 6",
        "5,6",
        " 5 , 6\t\r",
        "[5, 6]",
        '{"input_ids": [5, 6]}',
        '{"text": "?", "input_ids": [5, 6]} ',
    ],
)
def test_decode_reads_lines(tiny, tmp_path, line):
    assert out("decode", "-m", tiny, stdin=f"{line}\n\n{line}") == [
        "hello world",
        "",
        "hello world",
    ]
    path = tmp_path / "ids.txt"
    path.write_text(f"{line}\n", newline="")
    assert out("decode", "-m", tiny, "-f", str(path)) == ["hello world"]


def test_what_encode_writes_can_be_decoded():
    texts = ["the people, united!", "you don't say? no.", ""]
    for form in ([], ["--json"]):
        written = run("encode", *form, *texts).stdout
        assert out("decode", "--no-special-tokens", stdin=written) == texts


@pytest.mark.parametrize("arguments", [["-1"], ["5", "-1"], ["--", "-1"], ["-1,", "5"]])
def test_a_negative_id_is_an_error_of_the_ids(arguments):
    assert error("decode", *arguments).startswith(
        "id -1 is outside the vocabulary, whose ids run from 0 to 7999"
    )


def test_an_id_out_of_range_names_the_line(tiny):
    assert error("decode", "-m", tiny, "12").startswith("id 12 is outside")
    result = run("decode", "-m", tiny, stdin="5\n6 -100\n")
    assert (result.exit_code, result.stdout) == (2, "hello\n")
    assert result.stderr.startswith("trietok: error: standard input, line 2: id -100 is outside")


@pytest.mark.parametrize("option", ["--skip", "-x", "--jsonl", "-"])
def test_an_unknown_option_of_decode_is_refused(option):
    message = usage_error("decode", "5", option)
    assert option in message
    assert "not an id" not in message


NOT_IDS = [
    "x",
    "1.5",
    "1_000",
    "٣",
    "9" * 5000,
    "[1",
    "[1, 2.0]",
    "[true]",
    "[[1, 2]]",
    f"[{'9' * 5000}]",
    "[" * 100000,
    "{}",
    '{"input_ids": 5}',
]


@pytest.mark.parametrize("text", NOT_IDS, ids=lambda text: text[:20])
def test_what_is_not_ids_is_refused(text):
    message = error("decode", stdin=f"5\n{text}\n")
    assert message.startswith("standard input, line 2: ")
    assert len(message) < 250


def test_what_is_not_ids_among_the_arguments_is_a_usage_error():
    assert "'hello' is not an id" in usage_error("decode", "hello")
