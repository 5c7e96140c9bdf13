"""Corpora by the compiled kernel: the same rows, errors and files as by plain Python, from Arrow's
own buffers.
"""

from __future__ import annotations

import json
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.shards import contents, finished
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    InputError,
    TokenizeBatch,
    encode_files,
)
from trietok.corpus import encode_files as encoding
from trietok.corpus import encode_shard, tokenize_batch
from trietok.corpus.row_encoder import RowEncoder, lines_of_block
from trietok.files.tables import texts_of
from trietok.text.kernel.choosing import kernel_at_work, kernels_made, using_kernel

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.skipif(
    kernel_at_work() == "plain", reason="not built: python -m trietok.text.kernel.build"
)

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


@pytest.fixture
def no_strs(monkeypatch):
    """Texts may not become Python's."""

    def refused(*arguments):
        raise AssertionError("a str was made")

    monkeypatch.setattr(tokenize_batch, "texts_of", refused)
    monkeypatch.setattr(RowEncoder, "encode", refused)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_arrays_of_every_kind_are_read_where_they_are(both, no_strs, monkeypatch, kind, options):
    compiled, plain = both
    batch = pa.RecordBatch.from_arrays([pa.array(TEXTS * 3).cast(kind)], ["text"])
    tokenize = TokenizeBatch(compiled, "text", **options)
    found = [
        tokenize(part) for part in (batch, batch.slice(1, 1), batch.slice(2, 9), batch.slice(3, 0))
    ]
    monkeypatch.undo()
    for part, done in zip(
        (batch, batch.slice(1, 1), batch.slice(2, 9), batch.slice(3, 0)), found, strict=True
    ):
        done.validate(full=True)
        assert done.equals(TokenizeBatch(plain, "text", **options)(part))


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


def test_what_lies_under_a_null_is_not_looked_at(both, no_strs):
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
    with pytest.raises(InputError, match="row 0 of column 'text'"):
        TokenizeBatch(both[0], "text")(pa.table({"text": column}))


def test_a_kernel_is_made_in_time_for_a_long_column_and_once_by_many_threads():
    before = kernels_made()
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenize = TokenizeBatch(tokenizer, "text")
    tokenize(pa.table({"text": ["the people"] * 10}))
    assert (tokenizer.text_encoder.kernel, kernels_made()) == (None, before)
    batch = pa.table({"text": [f"people {number}" for number in range(4000)]})
    barrier, found = threading.Barrier(6), []

    def run():
        barrier.wait()
        found.append(tokenize(batch))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kernels_made() == before + 1
    assert tokenizer.text_encoder.kernel is not None
    assert all(table.equals(found[0]) for table in found)


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
def test_lines_of_any_bytes(both, lines, has_end):
    column = lines_of_block(b"\n".join(lines) + b"\n" * (has_end or not lines[-1]))
    assert column.cast(pa.large_binary()).to_pylist() == lines
    texts = texts_of(column)
    rows = RowEncoder(both[0], {}).encode_column(column)
    if all(isinstance(text, str) for text in texts):
        assert rows == RowEncoder(both[1], {}).encode(texts)
    else:
        assert rows is None


def test_lines_and_columns_do_not_become_strs(both, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("the people\n\nof the United States, 東京\n" * 50)
    pq.write_table(pa.table({"text": ["the people", "", "東京"] * 50}), tmp_path / "b.parquet")
    inputs = [tmp_path / "a.txt", tmp_path / "b.parquet"]
    encode_files(inputs, tmp_path / "plain", both[1], workers=1)
    monkeypatch.setattr(RowEncoder, "encode", None)
    encode_files(inputs, tmp_path / "compiled", both[0], workers=1)
    assert contents(tmp_path / "compiled") == contents(tmp_path / "plain")


# ---- threads -------------------------------------------------------------------------------------


@pytest.fixture
def texts(tmp_path):
    """A file of some twenty shards of 2,000 bytes."""
    (tmp_path / "a.txt").write_text("".join(f"the people of {number}\n" for number in range(2000)))
    return tmp_path / "a.txt"


def no_processes(*arguments):
    raise AssertionError("processes were started")


def test_workers_are_threads_where_the_kernel_is_at_work(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "run_in_pool", no_processes)
    encode, names = encode_shard.ShardEncoder.encode, set()

    def encode_and_note(self, shard):
        names.add(threading.current_thread().name)
        return encode(self, shard)

    monkeypatch.setattr(encode_shard.ShardEncoder, "encode", encode_and_note)
    encode_files(
        texts,
        tmp_path / "two",
        BertTokenizer.from_pretrained("trietok-en"),
        workers=2,
        shard_bytes=2000,
    )
    assert 1 <= len(names) <= 2
    assert threading.main_thread().name not in names
    with using_kernel("plain"):
        encode_files(
            texts,
            tmp_path / "one",
            BertTokenizer.from_pretrained("trietok-en"),
            workers=1,
            shard_bytes=2000,
        )
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


class Loud(BertTokenizer):
    """A tokenizer with a stage of its own."""

    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text.replace("?", " a "), **kwargs)


@pytest.mark.parametrize("what", ["plain", "spaces", "stage", "memory", "options"])
def test_workers_are_processes_where_it_is_not(texts, tmp_path, monkeypatch, what):
    monkeypatch.setattr(encoding, "run_in_pool", no_processes)
    options = {"cache_limit": 1000} if what == "memory" else {}
    with using_kernel("plain" if what == "plain" else "compiled"):
        tokenizer = (Loud if what == "stage" else BertTokenizer).from_pretrained(
            "trietok-en", **options
        )
        if what == "spaces":
            tokenizer.add_tokens([" new"])
        call_options = (
            {"padding": "max_length", "max_length": 9, "truncation": True}
            if what == "options"
            else {}
        )
        with pytest.raises(AssertionError, match="processes were started"):
            encode_files(
                texts, tmp_path / "out", tokenizer, workers=2, shard_bytes=2000, **call_options
            )


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_threads_that_are_interrupted_end_and_leave_what_is_finished(texts, tmp_path, error):
    tokenizer = tokenizer_with("compiled")
    running = threading.active_count()

    def progress(state):
        if state.shards == 3:
            raise error

    options = {"workers": 2, "shard_bytes": 2000}
    with pytest.raises(error):
        encode_files(texts, tmp_path / "out", tokenizer, progress=progress, **options)
    assert threading.active_count() == running
    assert 3 <= len(finished(tmp_path / "out")) < 20
    assert not [
        path
        for path in (tmp_path / "out").rglob("*")
        if path.name.startswith((".temporary-", "spool-"))
    ]
    encode_files(texts, tmp_path / "out", tokenizer, resume=True, **options)
    encode_files(texts, tmp_path / "unbroken", tokenizer, workers=1, shard_bytes=2000)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")


def test_threads_stop_between_batches(texts, tmp_path, monkeypatch):
    """A shard that is being encoded is abandoned with the run: not one of its batches is read after
    the next.
    """
    stopped, read = threading.Event(), []
    original = encode_shard.read_texts

    def read_endlessly(*arguments):
        while True:
            for batch in original(*arguments):
                read.append(stopped.is_set())
                yield batch

    def interrupt(pending, return_when):
        for _ in range(3000):  # of 10 ms
            if read:
                break
            time.sleep(0.01)
        stopped.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(encode_shard, "read_texts", read_endlessly)
    monkeypatch.setattr("concurrent.futures.wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        encode_files(
            texts, tmp_path / "out", tokenizer_with("compiled"), workers=2, shard_bytes=2000
        )
    assert not finished(tmp_path / "out")


def test_the_first_bad_row_is_named_whichever_thread_meets_it(tmp_path):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    with pytest.raises(
        FileError, match=r"a\.txt, row 61: byte 0xff at offset 0 of the text is not UTF-8"
    ):
        encode_files(
            [tmp_path / "a.txt"],
            tmp_path / "out",
            tokenizer_with("compiled"),
            workers=2,
            shard_bytes=40,
        )
