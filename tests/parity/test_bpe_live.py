"""Trained byte-pair encodings behind `PreTrainedTokenizerFast`, beside tokenizers and transformers
on their files.
"""

from __future__ import annotations

import json
import os
import random
import unicodedata
from typing import Any

import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers
from transformers import AutoTokenizer as TheirAutoTokenizer

from trietok import AutoTokenizer, TokenizeBatch, encode_files, train_bpe
from trietok.clients import to_rust, to_transformers
from trietok.text import characters as rust_characters

EXAMPLES = int(os.environ.get("TRIETOK_EXAMPLES", "60"))
TEXTS = [
    "low lower lowest, newer newest! <pad>low <pad> lowest<mask>?",
    "Caf\u00e9 cafe\u0301 \u0130stanbul \u0391\u03a3 a\u0328\u0301 q\u0307\u0323 \ufb01",
    "\uac01 \u1100\u1161\u11a8 \uf900\u4e16\u754c\u3002 \u212b \u0958 \u09c7\u09be \u0f73 a\u0344",
    "x\u200by\u00ad \x0b\x1c a\x85b\u3000c ... --- don't",
]
CHARS = (
    "lowernst"
    " ,.<>#padmask\u00e9e\u0301\u0323\u0328\u0344\u4e16\uf900\u1100\u1161\u11a8\uac00\u09c7\u09be"
    "\t\x0b\u200b\u0130\u2603"
)
MARKS: tuple[dict[str, Any], ...] = (
    {"unk_token": "<unk>"},
    {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
    {"unk_token": "<unk>", "continuing_subword_prefix": "##"},
    {"unk_token": "<unk>", "special_tokens": ["<pad>", "<mask>"]},
    {},
)


@pytest.fixture(
    scope="module", params=[(marks, lower) for marks in MARKS for lower in (None, True, False)]
)
def both(request, tmp_path_factory):
    marks, lower = request.param
    directory = tmp_path_factory.mktemp("bpe")
    words = str.split if lower is None else None
    bpe = train_bpe(
        [*TEXTS, CHARS] * 3, vocab_size=150, words=words, do_lower_case=bool(lower), **marks
    )
    bpe.save(directory, do_lower_case=lower)
    return AutoTokenizer.from_pretrained(directory), Tokenizer.from_file(
        str(directory / "tokenizer.json")
    )


def same(ours, theirs, text: str) -> None:
    expected = theirs.encode(text)
    got = ours(text, return_offsets_mapping=True)
    assert got.input_ids == expected.ids
    assert ours.tokenize(text) == ours.convert_ids_to_tokens(expected.ids)
    # else tokenizers counts spans without the characters it leaves out
    if ours.bpe_tokenizer.unk_token is not None:
        assert [tuple(span) for span in got.offset_mapping] == expected.offsets
    assert ours.decode(expected.ids) == theirs.decode(expected.ids, skip_special_tokens=False)
    assert ours.decode(expected.ids, skip_special_tokens=True) == theirs.decode(expected.ids)


def test_texts(both):
    rng = random.Random(4)
    for text in TEXTS:
        same(*both, text)
    for _ in range(EXAMPLES):
        same(*both, "".join(rng.choices(CHARS, k=rng.randrange(30))))


def test_every_kind_of_character(both):
    step = 1 if EXAMPLES > 1000 else 4999
    for code in range(0, 0x30000, step):
        if unicodedata.category(chr(code)) not in ("Cs", "Cn"):
            same(*both, f"l{chr(code)}o")


def test_every_character_composes_as_in_rust():
    theirs = normalizers.NFC()
    for code in [*range(0xD800), *range(0xE000, 0x110000)]:
        char = chr(code)
        if (
            code % 499
            and EXAMPLES <= 1000
            and not (unicodedata.combining(char) or unicodedata.decomposition(char))
        ):
            continue
        text = f"e{char}\u0301 e\u0323{char}\u0302 {char * 2}\u0307"
        if rust_characters.nfc(text) != theirs.normalize_str(text):
            pytest.fail(f"U+{code:04X} composes otherwise")


@pytest.mark.parametrize("name", ["NFC", "NFD"])
def test_random_texts_compose_as_in_rust(name):
    theirs, ours = getattr(normalizers, name)(), getattr(rust_characters, name.lower())
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    # Marks before and after Unicode 9, the parts of a newer composed character, and what marks are
    # put on.
    chars = (
        "ea\u00e9\u03d2\u017f\u0301\u0307\u0323\u0344\u08d3\u1abf\u1dfa\u0c3c"
        "\U00010efd\U00011935\U00011930\U00011938"
    )
    for _ in range(EXAMPLES * 20):
        text = "".join(rng.choices(chars, k=rng.randrange(12)))
        assert ours(text) == theirs.normalize_str(text), f"seed {seed}: {text!a}"


def test_marks_that_are_newer_than_rusts_tables(both):
    for text in (
        "e\u08d3\u0301",
        "a\u0301\u08d3\u0323",
        "\U00011935\U00011930",
        "cafe\u0301\u1abf\u0323x",
    ):
        same(*both, text)


def test_what_others_are_given(both, tmp_path):
    ours, theirs = both
    rust, client = to_rust(ours), to_transformers(ours)
    client.save_pretrained(tmp_path)
    saved = TheirAutoTokenizer.from_pretrained(tmp_path)
    for text in TEXTS:
        ids = theirs.encode(text).ids
        assert rust.encode(text).ids == client(text).input_ids == saved(text).input_ids == ids
        if ours.bpe_tokenizer.unk_token is not None:
            assert client(text).word_ids() == theirs.encode(text).word_ids


def test_corpora(both, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ours, theirs = both
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    expected = [theirs.encode(text).ids for text in TEXTS]
    encode_files(path, tmp_path / "out", ours, workers=1)
    table = parquet.read_table(tmp_path / "out" / "part-00000.parquet")
    assert table.column("input_ids").to_pylist() == expected
    encoded = TokenizeBatch(ours, "text")(pyarrow.table({"text": TEXTS}))
    assert encoded.column("input_ids").to_pylist() == expected


def test_saved_with_more_tokens_transformers_reads_it(both, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(both[0].name_or_path)
    tokenizer.add_tokens(["covid-19", "New"])
    tokenizer.add_special_tokens({"sep_token": "<sep>"})
    tokenizer.save_pretrained(tmp_path)
    theirs, again = (
        TheirAutoTokenizer.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    assert type(theirs).__name__ == type(again).__name__ == "PreTrainedTokenizerFast"
    for text in (*TEXTS, "covid-19 New<sep> newest", "a covid-19."):
        assert theirs(text).input_ids == again(text).input_ids == tokenizer(text).input_ids
    assert theirs.special_tokens_map == again.special_tokens_map
    assert theirs.get_vocab() == again.get_vocab()


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(
    st.lists(st.text("abc<\u00e9", min_size=1, max_size=8), min_size=1, max_size=8),
    st.text("abc<\u00e9 ,d", max_size=30),
    st.sampled_from(MARKS[:3]),
    st.integers(14, 40),
)
def test_random_vocabularies(tmp_path_factory, words, text, marks, vocab_size):
    directory = tmp_path_factory.mktemp("random")
    train_bpe([" ".join(words)], vocab_size=vocab_size, **marks).save(
        directory, do_lower_case=False
    )
    same(
        AutoTokenizer.from_pretrained(directory),
        Tokenizer.from_file(str(directory / "tokenizer.json")),
        text,
    )
