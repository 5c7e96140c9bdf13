"""Every command that reads texts reads what `trietok encode-files` reads, and says the same of
it.
"""

from __future__ import annotations

import gzip

import pytest
import zstandard

from tests.batches.shards import ids_of, rows_in, write
from tests.cli.commands import error, out, process

TEXTS = ["the people 東", "of the ☃ United States", "the people of the people", "in order, snow ☃☃"]
NAMES = ["a.jsonl", "a.parquet", "a.txt.gz", "a.jsonl.zst"]
COMMANDS = {
    "suggest": lambda path: ["suggest", path, "--min-frequency", "1"],
    "tokenize": lambda path: ["tokenize", "--file", path],
    "encode": lambda path: ["encode", "--file", path],
    "diff": lambda path: ["diff", "trietok-en", "trietok-en", path],
}


def said(command, path):
    return [line.replace(str(path), "FILE") for line in out(*COMMANDS[command](str(path)))]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_texts_are_the_same_in_whatever_file(tmp_path, command):
    expected = said(command, write(tmp_path / "plain.txt", TEXTS))
    assert len(expected) > 1
    for name in NAMES:
        assert said(command, write(tmp_path / name, TEXTS)) == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_packed_files_are_known_by_their_first_bytes(tmp_path, command):
    raw = "".join(f"{text}\n" for text in TEXTS).encode()
    expected = said(command, write(tmp_path / "plain.txt", TEXTS))
    for name, packed in (
        ("a.txt", zstandard.compress(raw)),
        ("a.txt.zst", gzip.compress(raw)),
        ("a", gzip.compress(raw)),
    ):
        (tmp_path / name).write_bytes(packed)
        assert said(command, tmp_path / name) == expected


def test_encode_files_knows_them_too(english, tmp_path):
    raw = "".join(f"{text}\n" for text in TEXTS).encode()
    (tmp_path / "a.txt").write_bytes(zstandard.compress(raw))
    (tmp_path / "b.txt.gz").write_bytes(zstandard.compress(raw))
    command = ["encode-files", str(tmp_path / "*.*"), "-o", str(tmp_path / "ids"), "--workers", "1"]
    out(*command)
    assert rows_in(tmp_path / "ids") == ids_of(english, TEXTS) * 2


def test_packed_standard_input():
    child = process("tokenize", "-q", "-f", "-")
    written, _ = child.communicate(gzip.compress(b"the people\n"))
    assert (child.returncode, written) == (0, b"the people\n")


def test_another_column_and_globs(tmp_path):
    write(tmp_path / "a.jsonl", ["the ☃"], column="body")
    write(tmp_path / "b.parquet", ["☃ people"], column="body")
    lines = out("suggest", str(tmp_path / "*"), "--column", "body")
    assert lines[-1].split() == ["☃", "2"]
    assert "'text'" in error("suggest", str(tmp_path / "a.jsonl"))
    assert "'text'" in error("tokenize", "--file", str(tmp_path / "b.parquet"))


def test_ids_and_words_are_read_as_lines(tmp_path):
    (tmp_path / "ids.jsonl").write_text('{"input_ids": [2, 134, 3]}\n')
    assert out("decode", "--file", str(tmp_path / "ids.jsonl"), "--no-special-tokens") == ["the"]
