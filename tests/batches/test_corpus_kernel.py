"""Corpora by the compiled kernel: the same rows, errors and files as by plain Python, from Arrow's
own buffers.
"""

from __future__ import annotations

import json
import random
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches.shards import contents, rows_in
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    TokenizeBatch,
    encode_files,
)
from trietok.text.kernel.choosing import using_kernel

pytestmark = pytest.mark.kernel

KINDS = [
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.string()),
]
if hasattr(pa, "string_view"):
    KINDS.append(pa.string_view())
TEXTS = [
    "The people",
    None,
    "",
    "of the United States, and [SEP] more!",
    " ",
    "東京 café e\u0301",
    "a\nb\tc\r",
    None,
]
OPTIONS = [
    {},
    {
        "truncation": True,
        "max_length": 5,
        "return_special_tokens_mask": True,
        "return_length": True,
    },
    {"add_special_tokens": False},
]


def tokenizer_with(kernel, class_=BertTokenizer, **options):
    """A tokenizer with the compiled kernel from its first text on, or with none."""
    with using_kernel(kernel, text_before_kernel=0):
        tokenizer = class_.from_pretrained("trietok-en", **options)
        assert (tokenizer.text_encoder.kernel is not None) == (kernel == "compiled")
    return tokenizer


@pytest.fixture(scope="module", params=[BertTokenizer, BertTokenizerFast], ids=["slow", "fast"])
def both(request):
    """A tokenizer with the kernel, and one like it without."""
    return tokenizer_with("compiled", request.param), tokenizer_with("plain", request.param)


# ---- TokenizeBatch -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_arrays_of_every_kind(both, kind, options):
    compiled, plain = (TokenizeBatch(tokenizer, "text", **options) for tokenizer in both)
    batch = pa.RecordBatch.from_arrays([pa.array(TEXTS * 3).cast(kind)], ["text"])
    for part in (batch, batch.slice(1, 1), batch.slice(2, 9), batch.slice(3, 0)):
        done = compiled(part)
        done.validate(full=True)
        assert done.equals(plain(part))


@given(
    texts=st.lists(
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=8
    ),
    start=st.integers(0, 8),
    number=st.integers(0, 8),
    kind=st.sampled_from(KINDS),
    options=st.sampled_from(OPTIONS),
)
def test_any_part_of_any_array(both, texts, start, number, kind, options):
    part = pa.table({"text": pa.array(texts, pa.string()).cast(kind)}).slice(start, number)
    tables = [TokenizeBatch(tokenizer, "text", **options)(part) for tokenizer in both]
    tables[0].validate(full=True)
    assert tables[0].equals(tables[1])


def test_what_lies_under_a_null_is_not_looked_at(both):
    there = pa.array([True, False, True]).buffers()[1]
    _, offsets, data = pa.array([b"the", b"caf\xe9", b"people"]).buffers()
    column = pa.Array.from_buffers(pa.string(), 3, [there, offsets, data])
    done = TokenizeBatch(both[0], "text")(pa.table({"text": column}))
    done.validate(full=True)
    assert done.column("input_ids").to_pylist() == [[2, 134, 3], None, [2, 289, 3]]


def test_a_null_among_the_values_of_a_dictionary(both):
    column = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0], pa.int32()), pa.array(["the", None])
    )
    tables = [TokenizeBatch(tokenizer, "text")(pa.table({"text": column})) for tokenizer in both]
    assert tables[0].equals(tables[1])
    assert tables[0].column("input_ids").to_pylist() == [[2, 134, 3], None, None, [2, 134, 3]]


@pytest.mark.parametrize(
    "raw", [b"caf\xe9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe6\x9d"], ids=repr
)
def test_what_is_not_utf8_is_named_as_by_plain_python(both, raw):
    column = pa.array([b"fine", None, b"fine", raw, b"fine", b"\xff"], pa.binary()).view(
        pa.string()
    )
    said = []
    for tokenizer in both:
        with pytest.raises(InputError, match="row 2 of column 'text'") as caught:
            TokenizeBatch(tokenizer, "text")(pa.table({"text": column.slice(1)}))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_character_that_is_cut_between_two_texts_is_none(both):
    """Each of these is no UTF-8, though all of them together are."""
    column = pa.array(["é".encode()[:1], "é".encode()[1:]], pa.binary()).view(pa.string())
    with pytest.raises(InputError):
        TokenizeBatch(both[0], "text")(pa.table({"text": column}))


# ---- encode_files --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Lines, JSON, and Parquet; each has rows without text."""
    rng = random.Random(5)
    words = [
        "The",
        "people",
        "of",
        "covid-19",
        "東京",
        "café",
        "e\u0301",
        "[SEP]",
        "x\u0085y",
        "\ud7ff",
        "\u2028",
        "\x00",
        "",
    ]
    texts = [" ".join(rng.choices(words, k=rng.randrange(9))) for _ in range(600)]
    lines = [text.encode() for text in texts]
    lines[50] = lines[411] = b"caf\xe9"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    rows = [json.dumps({"text": text}) for text in texts]
    rows[7] = "{"
    (tmp_path / "b.jsonl").write_text("\n".join(rows) + "\n")
    for number, kind in enumerate((pa.string(), pa.dictionary(pa.int32(), pa.string()))):
        column = pa.array(
            [None if index % 90 == 1 else text for index, text in enumerate(texts)]
        ).cast(kind)
        pq.write_table(
            pa.table({"text": column}), tmp_path / f"c{number}.parquet", row_group_size=250
        )
    return [
        tmp_path / "a.txt",
        tmp_path / "b.jsonl",
        tmp_path / "c0.parquet",
        tmp_path / "c1.parquet",
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shard_bytes": 9000, "return_special_tokens_mask": True},
        {"truncation": True, "max_length": 6},
    ],
    ids=str,
)
def test_the_bytes_of_plain_python(both, files, tmp_path, options):
    options = {"on_error": "skip", "shard_bytes": 20_000, **options}
    for tokenizer, name, workers in (
        (both[0], "one", 1),
        (both[0], "two", 2),
        (both[1], "plain", 1),
    ):
        encode_files(files, tmp_path / name, tokenizer, workers=workers, **options)
    assert contents(tmp_path / "one") == contents(tmp_path / "plain")
    assert contents(tmp_path / "two") == contents(tmp_path / "plain")


@given(
    st.lists(
        st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=9
    ),
    st.booleans(),
)
def test_lines_of_any_bytes(both, tmp_path_factory, lines, has_end):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "a.txt").write_bytes(b"\n".join([b"people", *lines]) + b"\n" * has_end)
    for name, tokenizer in zip(("compiled", "plain"), both, strict=True):
        encode_files(folder / "a.txt", folder / name, tokenizer, workers=1, on_error="skip")
    assert contents(folder / "compiled") == contents(folder / "plain")


# ---- workers -------------------------------------------------------------------------------------


@pytest.fixture
def texts(tmp_path):
    """A file of some twenty shards of 2,000 bytes."""
    (tmp_path / "a.txt").write_text("".join(f"the people of {number}?\n" for number in range(2000)))
    return tmp_path / "a.txt"


class Loud(BertTokenizer):
    """A tokenizer with a stage of its own."""

    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text.replace("?", " a "), **kwargs)


@pytest.mark.parametrize("kind", ["plain", "stage"])
def test_workers_that_are_processes(texts, tmp_path, kind):
    with using_kernel("plain" if kind == "plain" else "compiled"):
        tokenizer = (Loud if kind == "stage" else BertTokenizer).from_pretrained("trietok-en")
        for workers in (1, 2):
            out = tmp_path / str(workers)
            encode_files(texts, out, tokenizer, workers=workers, shard_bytes=2000)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert rows_in(tmp_path / "1")[7] == tokenizer("the people of 7?").input_ids


def test_threads_that_are_interrupted_end_and_leave_what_is_finished(texts, tmp_path):
    tokenizer = tokenizer_with("compiled")
    running = threading.active_count()

    def progress(state):
        if state.shards == 3:
            raise KeyboardInterrupt

    options = {"workers": 2, "shard_bytes": 2000}
    with pytest.raises(KeyboardInterrupt):
        encode_files(texts, tmp_path / "out", tokenizer, progress=progress, **options)
    assert threading.active_count() == running
    encode_files(texts, tmp_path / "out", tokenizer, resume=True, **options)
    encode_files(texts, tmp_path / "unbroken", tokenizer, workers=1, shard_bytes=2000)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")
