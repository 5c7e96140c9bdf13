"""`encode_files`: rows as calls give them, whatever the files, the shards and the workers; and what goes wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from array import array
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    OptionError,
    encode_files,
)
from trietok.corpus.shard_plan import plan_shards
from trietok.corpus.text_inputs import find_inputs
from trietok.corpus.text_readers import first_row, read_texts

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

TEXTS = ["The people", "", "of the United States,\r", " in order", "to form a more perfect Union", "東京 é", "[SEP] x"]


def write(path, texts=TEXTS, column="text"):
    """A file of texts, of the kind that its name says."""
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"id": range(len(texts)), column: texts}), path, row_group_size=2)
        return path
    if ".jsonl" in name or ".ndjson" in name:
        texts = [json.dumps({"id": number, column: text}) for number, text in enumerate(texts)]
    raw = "".join(text + "\n" for text in texts).encode()
    if name.endswith(".gz"):
        raw = gzip.compress(raw)
    elif name.endswith(".zst"):
        raw = zstandard.compress(raw)
    path.write_bytes(raw)
    return path


def rows_in(out):
    """The rows of all shards, in order, whatever their format."""
    manifest = json.loads((out / "manifest.json").read_text())
    rows = []
    for shard in manifest["shards"]:
        paths = [out / file["name"] for file in shard["files"]]
        if paths[0].suffix == ".parquet":
            rows += pq.read_table(paths[0]).column("input_ids").to_pylist()
            continue
        skip = 128 if paths[0].suffix == ".npy" else 0
        ids = array("i", paths[0].read_bytes()[skip:])
        index = array("q", paths[1].read_bytes()[skip:])
        rows += [ids[start:end].tolist() for start, end in pairwise(index)]
    return rows


def contents(out):
    """Every file below a directory, hidden ones too."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def ids_of(tokenizer, texts=TEXTS, **options):
    return [tokenizer(text, **options).input_ids for text in texts]


# ---- rows -----------------------------------------------------------------------------------------------------------

NAMES = ["a.txt", "a.txt.gz", "a.txt.zst", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.ndjson", "a.parquet", "A.TXT"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shard_bytes", [1, 40, 10**6])
def test_every_kind_of_file(english, tmp_path, name, shard_bytes):
    write(tmp_path / name)
    out = tmp_path / "out"
    manifest = encode_files([tmp_path / name], out, english, workers=1, shard_bytes=shard_bytes)
    assert rows_in(out) == ids_of(english)
    assert manifest == json.loads((out / "manifest.json").read_text())
    assert manifest["totals"]["texts"] == manifest["totals"]["rows"] == len(TEXTS)
    assert manifest["totals"]["tokens"] == sum(map(len, ids_of(english)))
    assert (len(manifest["shards"]) == 1) == (shard_bytes == 10**6)


def test_the_manifest_says_what_is_there(english, tmp_path):
    from trietok import fingerprint

    path = write(tmp_path / "a.txt")
    out = tmp_path / "out"
    manifest = encode_files([path], out, english, workers=1, shard_bytes=40, max_length=9, truncation=True)
    names = {"manifest.json"}
    for shard in manifest["shards"]:
        for file in shard["files"]:
            raw = (out / file["name"]).read_bytes()
            assert (len(raw), hashlib.sha256(raw).hexdigest()) == (file["bytes"], file["sha256"])
            names.add(file["name"])
    assert set(contents(out)) == names
    assert manifest["tokenizer"] == {"class": "BertTokenizer", "fingerprint": fingerprint(english)}
    assert manifest["options"]["call"] == {"max_length": "9", "truncation": "True"}
    status = path.stat()
    assert manifest["inputs"] == [{"name": str(path), "size": status.st_size, "mtime_ns": status.st_mtime_ns}]
    for shard in manifest["shards"]:
        assert shard["inputs"] == [str(path)]
    assert pq.read_schema(out / "part-00000.parquet").metadata[b"trietok.fingerprint"].decode() == fingerprint(english)


def test_small_files_share_shards_in_the_order_given(english, tmp_path):
    texts = [f"people {number}" for number in range(20)]
    for number, text in enumerate(texts):
        write(tmp_path / f"{number:02}.{('txt', 'jsonl', 'parquet', 'txt.gz')[number % 4]}", [text])
    manifest = encode_files([tmp_path / "*"], tmp_path / "out", english, workers=1)
    assert len(manifest["shards"]) == 1
    assert rows_in(tmp_path / "out") == ids_of(english, texts)
    backwards = sorted(tmp_path.glob("*.*"), reverse=True)
    encode_files(backwards, tmp_path / "back", english, workers=1, shard_bytes=30)
    assert rows_in(tmp_path / "back") == ids_of(english, texts)[::-1]


@pytest.mark.parametrize("file_format", ["npy", "bin"])
def test_flat_files(english, tmp_path, file_format):
    encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, workers=1, file_format=file_format)
    assert rows_in(tmp_path / "out") == ids_of(english)
    if file_format == "npy":
        numpy = pytest.importorskip("numpy")
        ids, index = (numpy.load(tmp_path / "out" / f"part-00000{kind}") for kind in (".npy", ".index.npy"))
        assert (ids.dtype, index.dtype) == (numpy.int32, numpy.int64)
        assert [ids[start:end].tolist() for start, end in pairwise(index)] == ids_of(english)


def test_options_of_the_call(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, options in enumerate(
        [{"add_special_tokens": False}, {"truncation": True, "max_length": 4}, {"split_special_tokens": True}]
    ):
        encode_files([path], tmp_path / str(number), english, workers=1, **options)
        assert rows_in(tmp_path / str(number)) == ids_of(english, **options)


def test_no_rows_at_all(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    write(tmp_path / "a.txt.gz", [])
    write(tmp_path / "a.parquet", [])
    manifest = encode_files([tmp_path / "a.*"], tmp_path / "out", english, workers=1)
    assert manifest["shards"] == []
    assert manifest["totals"]["rows"] == 0


def test_a_last_line_without_an_end_and_lines_that_end_in_something_else(english, tmp_path):
    (tmp_path / "a.txt").write_bytes("one\u2028two\x0bthree\r\n\nlast".encode())
    for shard_bytes in (1, 100):
        encode_files([tmp_path / "a.txt"], tmp_path / str(shard_bytes), english, workers=1, shard_bytes=shard_bytes)
        assert rows_in(tmp_path / str(shard_bytes)) == ids_of(english, ["one\u2028two\x0bthree\r", "", "last"])


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_parquet_kinds_of_text(english, tmp_path, kind):
    pq.write_table(pa.table({"text": pa.array(TEXTS).cast(kind)}), tmp_path / "a.parquet")
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english)


def test_a_column_beside_one_that_has_parts(english, tmp_path):
    table = pa.table({"more": [{"text": "no"}] * 3, "n": [1, 2, 3], "text": TEXTS[:3]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, shard_bytes=1)
    assert rows_in(tmp_path / "out") == ids_of(english, TEXTS[:3])


def test_long_texts_and_many_blocks(english, tmp_path):
    texts = ["people " * 200_000, "the", "of " * 500_000, *(f"x{number}" for number in range(30_000))]
    write(tmp_path / "a.txt", texts)
    manifest = encode_files([tmp_path / "a.txt"], tmp_path / "out", english, workers=1, file_format="bin", pack=10**9)
    assert manifest["totals"]["texts"] == len(texts)
    assert rows_in(tmp_path / "out")[0] == [token_id for row in english(texts).input_ids for token_id in row]


@settings(deadline=None, max_examples=40)
@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=12),
    shard_bytes=st.integers(1, 40),
    end=st.booleans(),
    packed=st.booleans(),
)
def test_however_lines_are_cut_they_come_once_and_in_order(tmp_path_factory, lines, shard_bytes, end, packed):
    folder = tmp_path_factory.mktemp("cut")
    raw = b"\n".join(lines) + (b"\n" if end and lines else b"")
    path = folder / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    expected = raw.split(b"\n")[: -1 if raw.endswith(b"\n") or not raw else None]
    found = []
    for shard in plan_shards(find_inputs([path]), "text", shard_bytes, (), lambda number: folder / str(number)):
        assert sum(stretch.text_bytes for stretch in shard.stretches[:-1]) <= shard_bytes
        for stretch in shard.stretches:
            assert first_row(stretch) == len(found)
            for batch in read_texts(stretch, "text"):
                found += batch.texts
            stretch.forget_spool()
    assert sorted(os.listdir(folder)) == [path.name]
    for line, text in zip(expected, found, strict=True):
        try:
            assert line.decode() == text
        except UnicodeDecodeError:
            assert "is not UTF-8" in text.reason


# ---- blocks ---------------------------------------------------------------------------------------------------------


def naive_blocks(shards, length, drop_last):
    rows = []
    for ids in shards:
        joined = [token_id for row in ids for token_id in row]
        cut = [joined[start : start + length] for start in range(0, len(joined), length)]
        rows += [block for block in cut if len(block) == length or not drop_last]
    return rows


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("pack", [1, 3, 8, 1000])
def test_packed(english, tmp_path, pack, drop_last):
    write(tmp_path / "a.txt")
    options = {"workers": 1, "shard_bytes": 40}
    plain = encode_files([tmp_path / "a.txt"], tmp_path / "plain", english, **options)
    rows = iter(rows_in(tmp_path / "plain"))
    shards = [[next(rows) for _ in range(shard["rows"])] for shard in plain["shards"]]
    out = tmp_path / "out"
    manifest = encode_files([tmp_path / "a.txt"], out, english, pack=pack, drop_last=drop_last, **options)
    assert rows_in(out) == naive_blocks(shards, pack, drop_last)
    totals = manifest["totals"]
    assert totals["texts"] == len(TEXTS)
    assert totals["tokens"] + totals["dropped_tokens"] == plain["totals"]["tokens"]
    assert (totals["dropped_tokens"] > 0) == (drop_last and pack > 1)


# ---- workers, and going on ------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, some hundred rows, and the options that cut them into some twenty shards."""
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(100)])
    return [tmp_path / "[abcd].*"], {"shard_bytes": 500, "workers": 1}


def test_two_workers_give_the_bytes_of_one(english, tmp_path, corpus):
    files, options = corpus
    seen = []
    encode_files(files, tmp_path / "one", english, progress=seen.append, **options)
    encode_files(files, tmp_path / "two", english, **{**options, "workers": 2})
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == len(seen) + 1 > 20
    assert [state.shards for state in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].all_bytes - len(seen) <= seen[-1].done_bytes <= seen[-1].all_bytes


class Stop(Exception):
    pass


def stop_after(number):
    def progress(state):
        if state.shards == number:
            raise Stop

    return progress


@pytest.mark.parametrize("number", [1, 7, 15])
def test_what_was_stopped_goes_on(english, tmp_path, corpus, number):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(number), **options)
    before = {path.name: path.stat().st_ino for path in out.glob("part-*")}
    assert len(before) == number
    (out / ".trietok-encode" / "temporary-1-part-00099.parquet").write_bytes(b"half")
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == contents(tmp_path / "unbroken")
    assert {name: (out / name).stat().st_ino for name in before} == before  # not made again
    encode_files(files, out, english, resume=True, **options)  # nothing is left to do
    assert contents(out) == contents(tmp_path / "unbroken")


@pytest.mark.parametrize("step", ["checksum", "os.fsync", "os.replace", "flush_directory"])
def test_an_interrupt_at_the_end_of_a_shard_leaves_nothing_half_done(english, tmp_path, monkeypatch, corpus, step):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(2), **options)

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"trietok.corpus.encode_shard.{step}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            encode_files(files, out, english, resume=True, **options)
    assert not list(out.rglob("temporary-*"))
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_resume_may_begin_a_run(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    encode_files(files, tmp_path / "out", english, resume=True, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")


def test_a_finished_shard_that_is_gone_is_made_again(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(5), **options)
    (out / "part-00002.parquet").unlink()
    (out / "part-00003.parquet").write_bytes(b"")
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_another_run_is_not_gone_on_with(english, tmp_path, corpus, vocab_file):
    files, options = corpus
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(3), **options)
    before = contents(out)
    for tokenizer, more, said in [
        (BertTokenizer(vocab_file("a")), {}, "differs in its tokenizer fingerprint: it was trietok-1:"),
        (english, {"pack": 8}, "differs in its options pack: it was None and is 8"),
        (english, {"shard_bytes": 501}, "options shard_bytes: it was 500 and is 501"),
        (english, {"add_special_tokens": False}, "options call: it was nothing and is add_special_tokens=False"),
        (english, {"file_format": "npy"}, "options file_format"),
    ]:
        with pytest.raises(InputError, match=said):
            encode_files(files, out, tokenizer, resume=True, **{**options, **more})
    with pytest.raises(InputError, match="holds a run already"):
        encode_files(files, out, english, **options)
    os.utime(tmp_path / "a.txt", ns=(0, 0))
    with pytest.raises(InputError, match=r"inputs: it was /.*a\.txt \(\d+ bytes, changed 20.* and is /.*, changed 19"):
        encode_files(files, out, english, resume=True, **options)
    os.utime(tmp_path / "a.txt", ns=(0, json.loads(before[".trietok-encode/plan.json"])["inputs"][0]["mtime_ns"]))
    with pytest.raises(InputError, match="it was 4 files and is 3 files"):
        encode_files([tmp_path / "[abc].*"], out, english, resume=True, **options)
    assert contents(out) == before


def test_a_run_that_has_finished_nothing_may_become_another(english, tmp_path, corpus):
    files, options = corpus
    write(tmp_path / "0.txt", ["fine", "fine"])
    (tmp_path / "0.txt").write_bytes(b"\xff\n")
    with pytest.raises(FileError, match=r"0.txt, row 1: byte 0xff"):
        encode_files([tmp_path / "0.txt", *files], tmp_path / "out", english, **options)
    encode_files(files, tmp_path / "out", english, pack=8, **options)
    encode_files(files, tmp_path / "other", english, pack=8, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "other")


def test_files_of_a_finished_run_that_are_gone_are_made_again(english, tmp_path, corpus):
    files, options = corpus
    write(tmp_path / "d.txt", ["the"] * 60)
    with (tmp_path / "d.txt").open("ab") as file:
        file.write(b"\xff\n")
    options = {**options, "on_error": "skip"}
    encode_files(files, tmp_path / "unbroken", english, **options)
    expected = contents(tmp_path / "unbroken")
    out = tmp_path / "out"
    for gone in (["part-00002.parquet"], ["part-00000.parquet", "rejects.jsonl"], ["rejects.jsonl"]):
        encode_files(files, out, english, resume=True, **options)
        for name in gone:
            (out / name).unlink()
        with pytest.raises(InputError, match="differs in its options pack"):
            encode_files(files, out, english, resume=True, pack=8, **options)
        encode_files(files, out, english, resume=True, **options)
        assert contents(out) == expected
    (out / "part-00001.parquet").write_bytes(b"short")
    (out / "part-00007.parquet").unlink()
    with pytest.raises(Stop):  # stopped while it is mended, and mended
        encode_files(files, out, english, resume=True, progress=stop_after(5), **options)
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == expected


def test_files_of_another_run_are_never_among_those_of_this_one(english, tmp_path, corpus):
    files, options = corpus
    out = tmp_path / "out"
    encode_files(files, out, english, **options)
    (out / "manifest.json").unlink()
    (out / ".trietok-encode").mkdir()
    before = contents(out)
    said = (
        r"not of this run: part-00000\.parquet, part-00001\.parquet, part-00002\.parquet and \d+ more; encode into "
        "another directory, or remove them"
    )
    for more in ({"shard_bytes": 10**6}, {"resume": True}, {"file_format": "npy", "resume": True}):
        with pytest.raises(InputError, match=said):
            encode_files(files, out, english, **{**options, **more})
    assert contents(out) == before


def test_a_file_of_another_run_that_comes_meanwhile(english, tmp_path, corpus):
    files, options = corpus
    out = tmp_path / "out"

    def another(state):
        (out / "part-00999.parquet").write_bytes(b"")

    with pytest.raises(InputError, match=r"not of this run: part-00999\.parquet; encode into"):
        encode_files(files, out, english, progress=another, **options)
    assert not (out / "manifest.json").exists()
    (out / "part-00999.parquet").unlink()
    encode_files(files, out, english, resume=True, **options)
    (out / "part-00999.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"not of this run: part-00999\.parquet"):
        encode_files(files, out, english, resume=True, **options)


def test_a_shard_whose_record_was_to_come_is_of_the_run(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(1), **options)
    (out / ".trietok-encode" / "00000.json").unlink()
    with pytest.raises(InputError, match=r"not of this run: part-00000\.parquet"):
        encode_files(files, out, english, pack=8, **options)
    encode_files(files, out, english, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_one_run_at_a_time(english, tmp_path, corpus):
    pytest.importorskip("fcntl")
    files, options = corpus

    def meanwhile(state):
        with pytest.raises(InputError, match="another run is at work"):
            encode_files(files, tmp_path / "out", english, resume=True, **options)
        raise Stop

    with pytest.raises(Stop):
        encode_files(files, tmp_path / "out", english, progress=meanwhile, **options)


def test_a_directory_of_something_else(english, tmp_path, corpus):
    files, options = corpus
    with pytest.raises(InputError, match=r"holds 'a\.txt', which is of no run; give an empty directory"):
        encode_files(files, tmp_path, english, resume=True, **options)
    with pytest.raises(FileError, match="cannot write to"):
        encode_files(files, tmp_path / "a.txt", english, **options)


def test_a_file_that_changes_meanwhile(english, tmp_path, corpus):
    files, options = corpus

    def change(state):
        if state.shards == 3:
            write(tmp_path / "a.txt", ["other"])

    with pytest.raises(FileError, match=r"a\.txt has changed while it was read; encode into a new") as caught:
        encode_files(files, tmp_path / "out", english, progress=change, **options)
    assert "--resume" not in str(caught.value)


def test_a_damaged_page_of_a_parquet_file(english, tmp_path):
    pq.write_table(pa.table({"text": [os.urandom(40).hex() for _ in range(2000)]}), tmp_path / "a.parquet")
    raw = bytearray((tmp_path / "a.parquet").read_bytes())
    raw[4:4000] = bytes(3996)
    (tmp_path / "a.parquet").write_bytes(raw)
    with pytest.raises(FileError, match=r"a\.parquet cannot be read: .*needs a new output directory") as caught:
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    assert "--resume" not in str(caught.value)
    assert ".." not in str(caught.value).replace(str(tmp_path), "")


# ---- rows without text ----------------------------------------------------------------------------------------------

BAD_LINES = [
    (b'{"text": "fine"}', None),
    (b'{"text": null}', "'text' is null, not text"),
    (b'{"text": 7}', "'text' is number, not text"),
    (b'{"text": ["a"]}', "'text' is list, not text"),
    (b'{"other": "a"}', "no 'text' in the object"),
    (b"[1]", "a JSON list, not an object"),
    (b"", "not JSON at character 1: Expecting value"),
    (b'{"text": "a"', "not JSON at character 13: Expecting ',' delimiter"),
    (b'{"text": "caf\xe9"}', "byte 0xe9 at offset 13 of the text is not UTF-8"),
    (b"[" * 100_000, "not JSON that can be read: maximum recursion depth exceeded"),
    (b'{"text": "fine too"}', None),
]


@pytest.mark.parametrize("shard_bytes", [1, 10**6])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_bad_lines_are_kept_aside(english, tmp_path, name, shard_bytes):
    raw = b"\n".join(line for line, _ in BAD_LINES)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    out = tmp_path / "out"
    options = {"workers": 1, "shard_bytes": shard_bytes}
    manifest = encode_files([tmp_path / name], out, english, on_error="skip", **options)
    assert rows_in(out) == ids_of(english, ["fine", "fine too"])
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    bad = [(number, reason) for number, (_, reason) in enumerate(BAD_LINES, start=1) if reason]
    assert [(row["file"], row["row"]) for row in rejects] == [(str(tmp_path / name), number) for number, _ in bad]
    for row, (_, reason) in zip(rejects, bad, strict=True):
        assert row["reason"].startswith(reason)
    assert manifest["totals"]["rejected"] == len(bad)
    with pytest.raises(
        FileError, match=r"row 2: 'text' is null, not text\. .*finished shards stay .*--on-error skip goes on"
    ):
        encode_files([tmp_path / name], tmp_path / "failed", english, **options)


@pytest.mark.parametrize("shard_bytes", [1, 10**6])
def test_bad_parquet_rows(english, tmp_path, shard_bytes):
    raw = pa.array([b"fine", None, b"fine", b"caf\xe9", b"fine"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": raw}), tmp_path / "a.parquet", row_group_size=2)
    out = tmp_path / "out"
    options = {"workers": 1, "shard_bytes": shard_bytes}
    encode_files([tmp_path / "a.parquet"], out, english, on_error="skip", **options)
    assert rows_in(out) == ids_of(english, ["fine"] * 3)
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [(row["row"], row["reason"]) for row in rejects] == [
        (2, "null"),
        (4, "byte 0xe9 at offset 3 of the text is not UTF-8"),
    ]
    with pytest.raises(FileError, match=r"a\.parquet, row 2: null\. 0 fin"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "failed", english, **options)


def test_the_first_bad_row_is_named_whoever_meets_it(english, tmp_path):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    for workers in (1, 2):
        with pytest.raises(FileError, match=r"a\.txt, row 61: byte 0xff at offset 0 of the text is not UTF-8"):
            encode_files([tmp_path / "a.txt"], tmp_path / str(workers), english, workers=workers, shard_bytes=40)


def test_after_a_bad_row_the_run_goes_on_with_such_rows_aside(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 20 + b"\xff\n" + b"fine\n" * 20)
    options = {"workers": 1, "shard_bytes": 25}
    encode_files([tmp_path / "a.txt"], tmp_path / "unbroken", english, on_error="skip", **options)
    with pytest.raises(FileError, match="row 21"):
        encode_files([tmp_path / "a.txt"], tmp_path / "out", english, **options)
    encode_files([tmp_path / "a.txt"], tmp_path / "out", english, on_error="skip", resume=True, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")
    assert "rejects.jsonl" in contents(tmp_path / "out")


# ---- files that cannot be read --------------------------------------------------------------------------------------


def test_files_that_are_not_what_they_say(english, tmp_path):
    def refused(name, raw, error, said):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(error, match=said):
            encode_files([tmp_path / name], tmp_path / f"out-{name}", english, workers=1)

    many = b"".join(os.urandom(40).hex().encode() + b"\n" for _ in range(20_000))
    refused("a.txt.gz", gzip.compress(many)[:-100], FileFormatError, r"a\.txt\.gz is cut off")
    refused("b.txt.gz", b"plain", FileFormatError, "no gzip file")
    refused("a.txt.zst", zstandard.compress(many)[:-100], FileFormatError, r"a\.txt\.zst is cut off")
    refused("b.txt.zst", b"plain", FileFormatError, "no zstd file")
    refused("a.parquet", b"plain", FileFormatError, r"a\.parquet is no Parquet file")
    refused("a.csv", b"plain", InputError, r"a\.csv is of no known kind; files end in \.parquet, \.jsonl or \.txt")
    refused("a.parquet.gz", b"plain", InputError, "of no known kind")
    refused("a", b"plain", InputError, "of no known kind")


def test_several_frames_and_members(english, tmp_path):
    (tmp_path / "a.txt.zst").write_bytes(zstandard.compress(b"one\ntw") + zstandard.compress(b"o\n"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\n"))
    encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english, ["one", "two"] * 2)


def test_columns_that_do_not_fit(english, tmp_path):
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet has no column 'text'; it has 'body', 'n'"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    with pytest.raises(InputError, match=r"a\.parquet: column 'n' holds int64, not text"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="n")
    assert not (tmp_path / "out").exists()
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="body")
    assert rows_in(tmp_path / "out") == ids_of(english, ["a"])


def test_one_path_is_one_file_and_none_is_an_error(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, given_files in enumerate([path, str(path), str(tmp_path / "*.txt")]):
        encode_files(given_files, tmp_path / str(number), english, workers=1)
        assert rows_in(tmp_path / str(number)) == ids_of(english)
    with pytest.raises(InputError, match="no files are given"):
        encode_files([], tmp_path / "out", english)
    assert not (tmp_path / "out").exists()


def test_files_that_are_not_there(english, tmp_path):
    write(tmp_path / "a.txt")
    for files, error, said in [
        ([tmp_path / "b.txt"], FileError, r"cannot read .*b\.txt: No such file"),
        ([tmp_path / "*.parquet"], FileError, r"no file matches .*\*\.parquet"),
        ([tmp_path], FileError, r"is a directory; give its files, such as .*\*\.parquet"),
        ([tmp_path / "a.txt", tmp_path / "*.txt"], InputError, r"a\.txt is given twice"),
    ]:
        with pytest.raises(error, match=said):
            encode_files(files, tmp_path / "out", english)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"file_format": "csv"}, InputError, r"file_format is 'csv'; select one of \['parquet', 'npy', 'bin'\]"),
        ({"on_error": "ignore"}, InputError, "on_error is 'ignore'"),
        ({"pack": 0}, InputError, "pack is 0; it is a whole number from 1"),
        ({"workers": 0}, InputError, "workers is 0"),
        *(
            ({"shard_bytes": size}, InputError, f"shard_bytes is {size!r}; it is a whole number from 1")
            for size in (0, 1.5, float("inf"), float("nan"), True, "9")
        ),
        ({"drop_last": True}, InputError, "drop_last goes with pack"),
        ({"return_special_tokens_mask": True}, OptionError, "leave out what asks for special_tokens_mask"),
        ({"colour": "red"}, OptionError, "unknown keyword"),
    ],
)
def test_options_that_do_not_fit(english, tmp_path, options, error, said):
    with pytest.raises(error, match=said):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, **options)


def test_zstandard_is_asked_for_where_it_is_needed(english, tmp_path, monkeypatch):
    write(tmp_path / "a.txt.zst")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'trietok\[corpus\]'"):
        encode_files([tmp_path / "a.txt.zst"], tmp_path / "out", english, workers=1)


def test_a_column_that_holds_no_text_is_a_type_error():
    from trietok.corpus.arrow_columns import check_text_type

    with pytest.raises(InputTypeError, match="cast it to string"):
        check_text_type(pa.binary(), "text")


def test_a_column_of_another_type_is_an_error_though_bad_rows_are_skipped(english, tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: column 'text' holds int64, not text"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, on_error="skip")


def test_the_size_of_a_parquet_shard_is_that_of_the_encoded_column(english, tmp_path):
    table = pa.table({"text": ["the people " * 50] * 400})
    for name, dictionary in (("once", True), ("plain", False)):
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100, use_dictionary=dictionary)
        manifest = encode_files(tmp_path / f"{name}.parquet", tmp_path / name, english, workers=1, shard_bytes=50_000)
        assert len(manifest["shards"]) == (1 if dictionary else 4)


@pytest.mark.parametrize("file_format", ["parquet", "npy", "bin"])
def test_a_full_disk_names_the_file(english, tmp_path, monkeypatch, file_format):
    from trietok.corpus import shard_files

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shard_files, "_flush", full)
    path = write(tmp_path / "a.txt")
    out = tmp_path / "out"
    options = {"workers": 1, "file_format": file_format}
    with pytest.raises(FileError, match=r"cannot write .*part-00000.*: No space left on device\. 0 .*--resume goes on"):
        encode_files(path, out, english, **options)
    monkeypatch.undo()
    encode_files(path, out, english, resume=True, **options)
    assert rows_in(out) == ids_of(english)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_full_disk_outside_of_a_shard(english, tmp_path, monkeypatch, name):
    from trietok.corpus import shard_plan
    from trietok.files import whole

    opened = []

    def full(path, mode="r", **options):
        if "w" in mode:
            opened.append(str(path))
        return open("/dev/full" if "w" in mode else path, mode, **options)

    monkeypatch.setattr(shard_plan if name.endswith("gz") else whole, "open", full, raising=False)
    with pytest.raises(FileError, match=r"cannot write .*: No space left on device\. Finished shards stay") as caught:
        encode_files(write(tmp_path / name), tmp_path / "out", english, workers=1)
    assert caught.value.path == opened[-1]
    assert opened[-1] in str(caught.value)
