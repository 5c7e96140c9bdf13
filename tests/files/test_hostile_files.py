"""Files made to hang, flood or crash a reader: each is refused at once with a short error, or read
in linear time.
"""

from __future__ import annotations

import json
import os
import pathlib

import pytest

import trietok
from tests.files.mutants import ENTRIES

LARGEST_VOCAB, MOST_LINES, LONGEST_LINE = 1 << 27, 2_000_000, 100_000  # as SECURITY.md has them

VOCAB = "".join(entry + "\n" for entry in ENTRIES).encode()
KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
LONGEST_MESSAGE = 1_000


def directory(folder: pathlib.Path, **files: object) -> pathlib.Path:
    """A directory with a sound vocab.txt and these files; `__` stands for the point in a name."""
    folder.mkdir(exist_ok=True)
    for name, content in {"vocab__txt": VOCAB, **files}.items():
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


KEYS = "".join(f'"k{number}": {number + 100}, ' for number in range(2_000))
LONG = "a b " * 300_000
REFUSED = {  # what is beyond a limit: the file, its content, a part of the message
    "lines": ("vocab__txt", VOCAB + b"\n" * MOST_LINES, "lines"),
    "a line": ("vocab__txt", VOCAB + b"a" * (LONGEST_LINE + 1), "most an entry may have"),
    "marks": ("vocab__txt", VOCAB + "\u0301".encode() * LONGEST_LINE, "most an entry may have"),
    "NULs": ("vocab__txt", bytes(2_000_000), "most an entry may have"),
    "a key twice": ("added_tokens__json", f'{{{KEYS}"k7": 1}}'.encode(), "'k7' stands twice"),
    "values": ("tokenizer_config__json", b'{"x": [' + b"0," * 8_200_000 + b"0]}", "values"),
    "lists": ("tokenizer_config__json", b'{"x": [' + b"[]," * 1_200_000 + b"0]}", "lists and obj"),
    "an added token": ("added_tokens__json", {"a" * 10_000_000: 99}, "more than the 100,000"),
    "a role": ("tokenizer_config__json", {"cls_token": LONG}, "more than the 100,000"),
    "an unknown token": ("tokenizer_config__json", {"unk_token": LONG}, "unknown token"),
    "a class": ("tokenizer_config__json", {"tokenizer_class": LONG}, "saved as a"),
    "a setting": ("tokenizer_config__json", {"padding_side": LONG}, "padding_side"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_beyond_a_limit_is_refused_with_a_short_error(tmp_path, name):
    file, content, reason = REFUSED[name]
    folder = directory(tmp_path, **{file: content})
    with pytest.raises(trietok.TrietokError) as caught:
        trietok.BertTokenizer.from_pretrained(folder)
    assert reason in str(caught.value)
    report = trietok.check(folder)
    assert not report.ok
    messages = [str(caught.value), *(finding.message for finding in report.findings)]
    assert max(map(len, messages)) < LONGEST_MESSAGE


def test_a_vocabulary_of_too_many_bytes_is_not_read(tmp_path):
    path = tmp_path / "vocab.txt"
    for size in (1 << 30, LARGEST_VOCAB + 1):
        with open(path, "wb") as file:
            file.truncate(size)  # takes no room on the disk
        with pytest.raises(trietok.FileFormatError):
            trietok.load_vocab(path)
        assert [finding.code for finding in trietok.check(path).findings] == ["does-not-load"]


def test_the_longest_line_and_the_longest_token_are_allowed(tmp_path):
    line, token = "a" * LONGEST_LINE, "b" * 100_000
    folder = directory(
        tmp_path, vocab__txt=VOCAB + f"{line}\r\nx\r\n".encode(), added_tokens__json={token: 100}
    )
    for kind in KINDS:
        tokenizer = kind.from_pretrained(folder)
        assert tokenizer.convert_tokens_to_ids([line, "x", token]) == [
            len(ENTRIES),
            len(ENTRIES) + 1,
            100,
        ]
    assert tokenizer.tokenize("a" + token + "a") == ["a", token, "a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX: pipes with names")
def test_a_pipe_under_the_name_of_a_file_is_not_waited_for(tmp_path):
    folder = directory(tmp_path)
    expected = trietok.BertTokenizer.from_pretrained(folder).get_vocab()
    for name in (
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "config.json",
    ):
        os.mkfifo(folder / name)
    assert trietok.BertTokenizer.from_pretrained(folder).get_vocab() == expected
    (folder / "vocab.txt").unlink()
    os.mkfifo(folder / "vocab.txt")
    with pytest.raises(trietok.FileError):
        trietok.BertTokenizer.from_pretrained(folder)
    with pytest.raises(trietok.FileError):
        trietok.load_vocab(folder / "vocab.txt")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_is_refused_before_anything_is_written(tmp_path, kind, bad):
    tokenizer = kind.from_pretrained("trietok-en")
    for save in (
        lambda: tokenizer.save_pretrained(f"{tmp_path}/{bad}"),
        lambda: tokenizer.save_pretrained(tmp_path, filename_prefix=bad),
        lambda: tokenizer.save_vocabulary(str(tmp_path), filename_prefix=bad),
    ):
        with pytest.raises(trietok.FileError):
            save()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(trietok.TrietokError):
        kind.from_pretrained(f"{tmp_path}/{bad}")


@pytest.mark.parametrize("kind", KINDS)
def test_an_added_token_on_a_blank_line_is_the_only_token_of_its_id(tmp_path, kind):
    folder = directory(
        tmp_path,
        vocab__txt=VOCAB.replace(b"[PAD]", b""),
        tokenizer_config__json={
            "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True}}
        },
    )
    tokenizer = kind.from_pretrained(folder)
    assert tokenizer.convert_ids_to_tokens(0) == "[PAD]"
    assert "" not in tokenizer.get_vocab()
    # Rust would number the token otherwise
    tokenizer.save_pretrained(tmp_path / "again", legacy_format=True)
    assert kind.from_pretrained(tmp_path / "again").get_vocab() == tokenizer.get_vocab()


def test_a_check_lists_a_bounded_number_of_findings(tmp_path):
    report = trietok.check(directory(tmp_path, vocab__txt=VOCAB + b"a\na\n" + b"\n" * 100_090))
    blank = [finding for finding in report.findings if finding.code == "blank-line"]
    assert len(blank) == 1_001
    assert any("there are more" in finding.message for finding in blank)
    assert "duplicate-line" in {finding.code for finding in report.findings}
