"""`encode_files` on lines too long to be held: read in pieces, with the ids that a call gives."""

from __future__ import annotations

import gzip
import json
import random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches.shards import rows_in
from tests.conftest import examples
from trietok import BertTokenizer, BertTokenizerFast, FileError, encode_files
from trietok.corpus import shard_files, text_inputs
from trietok.text.kernel.choosing import using_kernel

ENGLISH = "The people, of the United States: in Order to form a more perfect Union! "
CHINESE = "我們合眾國人民，為建立一個更完善的聯邦。"
CASES = {
    "english": ENGLISH * 30,
    "chinese": CHINESE * 40,
    "mixed": (ENGLISH + CHINESE + "é" * 9) * 12,
}


@pytest.fixture
def short():
    """Lines count as long from 50 bytes on."""
    with mock.patch.multiple(text_inputs, LONG=50, _BLOCK=20):
        yield


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize(("name", "suffix"), [("trietok-en", ""), ("trietok-zh", ".gz")])
def test_a_long_line_has_the_ids_of_a_call(tmp_path, short, case, kind, name, suffix):
    text, tokenizer = CASES[case], kind.from_pretrained(name)
    path = tmp_path / f"a.txt{suffix}"
    raw = f"{text}\n{text}x".encode()
    path.write_bytes(gzip.compress(raw) if suffix else raw)
    expected = tokenizer([text, f"{text}x"]).input_ids
    manifest = encode_files(path, tmp_path / "out", tokenizer, workers=1)
    assert rows_in(tmp_path / "out") == expected
    assert manifest["totals"]["longest_text"] == len(expected[1])
    assert manifest["totals"]["text_bytes"] == len(raw)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("most", [3, 20, 100_000])
def test_truncation(tmp_path, short, side, most):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", truncation_side=side)
    (tmp_path / "a.txt").write_text(CASES["english"])
    options = {"truncation": True, "max_length": most}
    encode_files(tmp_path / "a.txt", tmp_path / "out", tokenizer, workers=1, **options)
    assert rows_in(tmp_path / "out") == [tokenizer(CASES["english"], **options).input_ids]


def test_a_tokenizer_whose_texts_cannot_be_cut_gets_them_whole(tmp_path, short):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens(["United States"])
    (tmp_path / "a.txt").write_text(CASES["english"])
    encode_files(tmp_path / "a.txt", tmp_path / "out", tokenizer, workers=1)
    assert rows_in(tmp_path / "out") == [tokenizer(CASES["english"]).input_ids]


def test_an_added_token_of_chinese_characters_is_not_cut(tmp_path, short):
    tokenizer = BertTokenizer.from_pretrained("trietok-zh")
    tokenizer.add_tokens(["眾國人"])
    (tmp_path / "a.txt").write_text(CASES["chinese"])
    encode_files(tmp_path / "a.txt", tmp_path / "out", tokenizer, workers=1)
    assert rows_in(tmp_path / "out") == [tokenizer(CASES["chinese"]).input_ids]
    assert len(tokenizer) - 1 in rows_in(tmp_path / "out")[0]


def test_without_the_kernel(tmp_path, short):
    with using_kernel("plain"):
        tokenizer = BertTokenizer.from_pretrained("trietok-en")
        (tmp_path / "a.txt").write_text(CASES["mixed"])
        encode_files(tmp_path / "a.txt", tmp_path / "out", tokenizer, workers=1)
    assert rows_in(tmp_path / "out") == [tokenizer(CASES["mixed"]).input_ids]


def test_long_lines_that_hold_no_text(english, tmp_path, short, monkeypatch):
    monkeypatch.setattr("trietok.files.text_rows.LONGEST_TEXT_LINE", 700)
    long = b"the people " * 60
    lines = [b"the", long, long + b"\xff" + long, b"x" * 1000, long, b"people"]
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    objects = [json.dumps({"text": "the people " * number}) for number in (1, 60, 100)]
    (tmp_path / "b.jsonl").write_text("\n".join(objects))
    files, out = [tmp_path / "a.txt", tmp_path / "b.jsonl"], tmp_path / "out"
    manifest = encode_files(files, out, english, workers=1, on_error="skip")
    expected = ["the", long.decode(), long.decode(), "people", "the people ", "the people " * 60]
    assert rows_in(out) == english(expected).input_ids
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [(row["file"][-5:], row["row"]) for row in rejects] == [
        ("a.txt", 3),
        ("a.txt", 4),
        ("jsonl", 3),
    ]
    assert manifest["totals"]["rejected"] == 3
    with pytest.raises(FileError, match=r"a\.txt, row 3: byte 0xff"):
        encode_files(files, tmp_path / "failed", english, workers=1)


def test_a_text_too_long_for_a_row_of_parquet(english, tmp_path, short, monkeypatch):
    monkeypatch.setattr(shard_files, "_MOST_IDS", 100)
    texts = ["the people " * 8, "the people " * 60, "the people " * 9, "the"]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    out = tmp_path / "out"
    encode_files(tmp_path / "a.txt", out, english, workers=1, on_error="skip")
    assert rows_in(out) == english([texts[0], *texts[2:]]).input_ids
    assert json.loads((out / "rejects.jsonl").read_text())["row"] == 2
    encode_files(
        tmp_path / "a.txt", tmp_path / "cut", english, workers=1, truncation=True, max_length=50
    )
    assert rows_in(tmp_path / "cut") == english(texts, truncation=True, max_length=50).input_ids


ALPHABET = "ab, .Σσé\u0301\u0338<中文語、가\u3000\t 𠀀[SEP]"


@examples(60)
@given(st.data())
def test_wherever_a_line_is_cut_its_ids_stay(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cut")
    rng = random.Random(data.draw(st.integers(0, 10**9)))
    text = "".join(rng.choice(ALPHABET) for _ in range(data.draw(st.integers(1, 400))))
    kind = data.draw(st.sampled_from([BertTokenizer, BertTokenizerFast]))
    tokenizer = kind.from_pretrained("trietok-zh")
    (folder / "a.txt").write_text(text)
    long = data.draw(st.integers(1, 60))
    with mock.patch.multiple(text_inputs, LONG=long, _BLOCK=20):
        encode_files(folder / "a.txt", folder / "out", tokenizer, workers=1)
    assert rows_in(folder / "out") == [tokenizer(text).input_ids]
