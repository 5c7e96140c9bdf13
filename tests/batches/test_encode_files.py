"""`encode_files`: the rows of calls, whatever the files and the shards are."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches.shards import (
    TEXTS,
    contents,
    ids_of,
    packed,
    rejects_in,
    rows_in,
    table_in,
    write,
)
from tests.conftest import assert_share, examples, using_kernel
from tests.strategies import BOOL, short_texts, some_of, texts
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
    TextFiles,
    encode_files,
)

MASKS = ["token_type_ids", "attention_mask", "special_tokens_mask"]

# ---- any files -----------------------------------------------------------------------------------

KINDS = [
    *("txt", "txt.gz", "txt.zst", "TXT", "jsonl", "jsonl.gz", "ndjson", "jsonl.zst"),
    *("csv", "tsv", "csv.gz", "parquet", "dictionary.parquet", "large.parquet"),
]
BAD = object()  # a row without a text
BAD_JSON = [
    b'{"text": null}',
    b'{"text": 7}',
    b'{"text": ["a"]}',
    b'{"other": "a"}',
    b"[1]",
    b'{"text": "a"',
    b'{"text": "caf\xe9"}',
    b"[" * 100_000,
    b'{"text": "a"}{"text": "b"}',
    b'{"text": "a"}\r{"text": "b"}',
]
BAD_BYTES = [b"\xff", b"caf\xe9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe6\x9d"]
CALLS = some_of(
    add_special_tokens=BOOL,
    truncation=BOOL,
    max_length=(3, 5, 9),
    split_special_tokens=BOOL,
    return_token_type_ids=BOOL,
    return_attention_mask=BOOL,
    return_special_tokens_mask=BOOL,
).filter(
    lambda options: (
        options.get("add_special_tokens", True) or "return_token_type_ids" not in options
    )
)


@st.composite
def folders(draw):
    """Kinds of files, and the rows of each: a text, or what is none."""
    text = st.one_of(texts(max_size=5), short_texts(), st.sampled_from(TEXTS)).map(
        lambda text: text.encode("utf-8", "replace").decode()
    )
    found = []
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)):
        # the first row keeps a file from looking like a packed one, or one of UTF-16
        rows = ["people", *draw(st.lists(st.one_of(text, text, st.just(BAD)), max_size=8))]
        if kind.lower().startswith("txt"):
            rows = [row if row is BAD else row.replace("\n", " ") for row in rows]
        found.append((kind, rows))
    return found


def unit(name):
    return "row" if {"csv", "tsv", "parquet"} & set(name.split(".")) else "line"


def written(draw, folder, number, kind, rows):
    """A file in the folder, with other columns where it has columns."""
    path = folder / f"{number}.{kind}"
    bad = st.sampled_from(BAD_JSON if "json" in kind else BAD_BYTES)
    if "parquet" in kind:
        raw = pa.array(
            [draw(bad | st.none()) if row is BAD else row.encode() for row in rows], pa.binary()
        )
        column = raw.view(pa.string())
        if "dictionary" in kind or "large" in kind:  # where nothing but a null is no text
            column = pa.array([None if row is BAD else row for row in rows], pa.string())
            large = pa.large_string()
            column = column.dictionary_encode() if "dictionary" in kind else column.cast(large)
        names = list(map(str, range(len(rows))))
        more = pa.array([{"text": "no"}] * len(rows), pa.struct({"text": pa.string()}))
        table = pa.table({"more": more, "id": names, "text": column})
        pq.write_table(table, path, row_group_size=draw(st.integers(1, 9)))
        return path
    lines, between = [], b"\t" if "tsv" in kind else b","
    for at, row in enumerate(rows):
        if row is BAD:
            too_narrow_or_wide = st.sampled_from([b"a", between.join([b"a", b"b", b"c"])])
            wrong = bad.map(lambda raw: b"a" + between + raw)
            lines.append(draw(bad if "sv" not in kind else too_narrow_or_wide | wrong))
        elif "json" in kind:
            lines.append(json.dumps({"id": str(at), "text": row}).encode())
        elif "sv" in kind:
            quoted = '"' + row.replace('"', '""') + '"'
            lines.append(str(at).encode() + between + quoted.encode())
        else:
            lines.append(row.encode())
    if "sv" in kind:
        lines.insert(0, between.join([b"id", b"text"]))
        ends = draw(st.sampled_from([b"\n", b"\r\n"]))
        raw = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + ends.join(lines) + ends
    else:
        end = draw(st.sampled_from([b"", b"\n"])) if lines[-1] else b"\n"
        raw = b"\n".join(lines) + end
    path.write_bytes(packed(path, raw))
    return path


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_any_files_have_the_rows_of_calls(tmp_path_factory, kernel, kind):
    """Texts in order, each once, with other columns; rows without text are numbered and left
    out.
    """
    tokenizer, tally = kind.from_pretrained("trietok-en"), Counter()

    @examples(40)
    @given(st.data(), folders(), CALLS, st.sampled_from([20, 60, 10**6]))
    def compare(data, found, call_options, shard_bytes):
        folder = tmp_path_factory.mktemp("any")
        files = [written(data.draw, folder, at, *each) for at, each in enumerate(found)]
        texts = [row for _, rows in found for row in rows if row is not BAD]
        bad = [
            (path.name, number)
            for path, (_, rows) in zip(files, found, strict=True)
            for number, row in enumerate(rows, 1)
            if row is BAD
        ]
        has_ids = not any("txt" in path.name.lower() for path in files)
        # a line may have 100 kB, which would make thousands of shards
        shard_bytes = max(shard_bytes, sum(path.stat().st_size for path in files) // 20)
        options = {"shard_bytes": shard_bytes, "workers": 1, **call_options}
        options |= {"keep_columns": ["id"] if has_ids else []}
        if bad:
            with pytest.raises(FileError) as caught:
                encode_files(files, folder / "failed", tokenizer, **options)
            firsts = {name: f"/{name}, {unit(name)} {row}: " for name, row in reversed(bad)}
            assert any(first in str(caught.value) for first in firsts.values())
        out = folder / "out"
        manifest = encode_files(files, out, tokenizer, on_error="skip", **options)
        calls = [tokenizer(text, **call_options) for text in texts]
        rows = table_in(out)
        assert [row["input_ids"] for row in rows] == [call.input_ids for call in calls]
        for name in MASKS:
            if call_options.get(f"return_{name}"):
                assert [row[name] for row in rows] == [call[name] for call in calls]
            else:
                assert all(name not in row for row in rows)
        if has_ids:
            ids = [str(at) for _, rows in found for at, row in enumerate(rows) if row is not BAD]
            assert [row["id"] for row in rows] == ids
        assert rejects_in(out) == bad
        totals = manifest["totals"]
        assert (totals["rows"], totals["rejected"]) == (len(texts), len(bad))
        assert totals["tokens"] == sum(len(call.input_ids) for call in calls)
        read = TextFiles(files, on_error="skip")
        assert list(read) == texts
        tally.update(each for each, _ in found)
        tally["cut"] += len(manifest["shards"]) > len(files)
        tally.update(runs=1, files=len(files), rows=len(texts), bad=len(bad), ids=has_ids)

    compare()
    assert_share(tally["cut"], tally["runs"], 0.15)
    for kind in KINDS:
        assert_share(tally[kind], tally["files"], 0.01, kind)
    assert_share(tally["bad"], tally["rows"] + tally["bad"], 0.03)
    assert_share(tally["ids"], tally["runs"], 0.1)


def test_globs_urls_and_lists_give_files_in_order(english, tmp_path):
    contents = [f"people {number}" for number in range(12)]
    for number, text in enumerate(contents):
        kind = ("txt", "jsonl", "parquet", "txt.gz")[number % 4]
        write(tmp_path / f"{number:02}.{kind}", [text])
    files = sorted(tmp_path.glob("*.*"))
    for number, (given_files, expected) in enumerate(
        [
            (tmp_path / "*", contents),
            (str(tmp_path / "*"), contents),
            (f"file://{tmp_path}/*.*", contents),
            ([tmp_path / "0?.txt", tmp_path / "1*.parquet"], [*contents[:9:4], contents[10]]),
            (files[::-1], contents[::-1]),
            (files[5], [contents[5]]),
        ]
    ):
        out = tmp_path / "out" / str(number)
        manifest = encode_files(given_files, out, english, workers=1, shard_bytes=30)
        assert rows_in(out) == ids_of(english, expected)
        assert len(manifest["inputs"]) == len(expected)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_corpus_has_the_same_bytes_with_any_kernel_and_workers(tmp_path, workers):
    """Threads with the kernel, processes without."""
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.csv", "e.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number}, é 東京" for row in range(200)])
    with open(tmp_path / "a.txt", "ab") as file:
        file.write(b"\xff\nend\n")
    options = {"shard_bytes": 800, "on_error": "skip", "return_attention_mask": True}
    seen = []
    for name, count in (("compiled", workers), ("plain", 3 - workers)):
        with using_kernel(name):
            tokenizer = BertTokenizer.from_pretrained("trietok-en")
            encode_files(
                tmp_path / "*.*",
                tmp_path / name,
                tokenizer,
                workers=count,
                progress=seen.append,
                **options,
            )
    assert contents(tmp_path / "compiled") == contents(tmp_path / "plain")
    assert len(rows_in(tmp_path / "plain")) == 1001
    assert [state.shards for state in seen] == [*range(1, len(seen) // 2 + 1)] * 2
    assert seen[-1].all_bytes - len(seen) <= seen[-1].done_bytes <= seen[-1].all_bytes


def test_a_tokenizer_with_a_stage_of_its_own_encodes_on_two_processes(tmp_path):
    path = write(tmp_path / "a.txt", [f"the people of {number}?" for number in range(300)])
    tokenizer = Loud.from_pretrained("trietok-en")
    encode_files(path, tmp_path / "out", tokenizer, workers=2, shard_bytes=2000)
    assert rows_in(tmp_path / "out")[7] == tokenizer("the people of 7?").input_ids
    assert tokenizer("?").input_ids == tokenizer("a").input_ids


class Loud(BertTokenizer):
    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text.replace("?", " a "), **kwargs)


def test_the_output_names_its_tokenizer(english, tmp_path):
    manifest = encode_files(write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1)
    assert manifest["tokenizer"] == {"class": "BertTokenizer", "fingerprint": english.fingerprint()}
    assert (
        json.loads((tmp_path / "out" / "manifest.json").read_text())["totals"]
        == (manifest["totals"])
    )
    metadata = pq.read_schema(tmp_path / "out" / "part-00000.parquet").metadata
    assert metadata[b"trietok.fingerprint"].decode() == english.fingerprint()


def test_the_last_line_of_a_file_is_not_joined_with_the_next_file(english, tmp_path):
    ends = [b"one\ntwo", b"", b"\n", b"three\r", b"four\r\n\xe2\x80\xa8", b"caf\xc3\xa9"]
    for number, raw in enumerate(ends):
        (tmp_path / f"{number}.txt").write_bytes(raw)
    (tmp_path / "6.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "five"}')
    (tmp_path / "7.jsonl").write_bytes(b'{"text": "six"}')
    manifest = encode_files(tmp_path / "*.*", tmp_path / "out", english, workers=1)
    texts = ["one", "two", "", "three\r", "four\r", "\u2028", "café", "five", "six"]
    assert rows_in(tmp_path / "out") == ids_of(english, texts)
    assert manifest["totals"]["text_bytes"] == sum(map(len, ends)) + 34


def test_files_without_rows_give_none(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    for number, raw in enumerate([b"text", b"text\n", b"text\r\n", b"\ntext\n\n"]):
        (tmp_path / f"{number}.csv").write_bytes(raw)
    for name in ("a.txt.gz", "a.parquet"):
        write(tmp_path / name, [])
    manifest = encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert manifest["totals"]["rows"] == 0
    assert rows_in(tmp_path / "out") == []
    assert list(TextFiles(tmp_path / "*.csv")) == []


def test_several_frames_and_members_are_one_file(english, tmp_path):
    for name in ("a.txt.zst", "b.txt.gz"):
        path = tmp_path / name
        path.write_bytes(packed(path, b"one\ntw") + packed(path, b"o\n"))
    encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english, ["one", "two"] * 2)


def test_a_large_row_group_is_cut_between_rows(english, tmp_path):
    texts = ["people " * (number % 7) + str(number) for number in range(400)]
    rows = pa.table({"text": texts, "id": range(400), "more": [{"a": text} for text in texts]})
    with pq.ParquetWriter(tmp_path / "a.parquet", rows.schema) as writer:
        for start, end in ((0, 3), (3, 6), (6, 390), (390, 400)):
            writer.write_table(rows.slice(start, end - start))
    keep = {"keep_columns": ["more", "id"]}
    for number, shard_bytes in enumerate((500, 10**6)):
        out = tmp_path / str(number)
        encode_files(
            tmp_path / "a.parquet", out, english, workers=1, shard_bytes=shard_bytes, **keep
        )
        assert [(row["input_ids"], row["id"], row["more"]) for row in table_in(out)] == [
            (ids, at, {"a": text})
            for at, (ids, text) in enumerate(zip(ids_of(english, texts), texts, strict=True))
        ]
    assert len(list((tmp_path / "0").glob("part-*"))) > 8


MIXED = "Σσ ΑΣ e\u0301\u0338 中文語。 [SEP] New York covid-19\u3000𠀀\u00ad unaffable, "
LONG_LINES = {
    "mixed": ("compiled", BertTokenizer, "a.txt", MIXED * 130_000),
    "mixed, fast": ("compiled", BertTokenizerFast, "a.txt", MIXED[::-1] * 130_000),
    "without spaces": (
        "compiled",
        BertTokenizer,
        "a.txt.gz",
        "我們合眾國人民，為建立一個é" * 230_000,
    ),
    "without the kernel": ("plain", BertTokenizer, "a.txt.zst", "The people, " * 760_000),
}


@pytest.mark.kernel
@pytest.mark.parametrize(
    "case",
    [
        "mixed",
        *(pytest.param(case, marks=pytest.mark.faults) for case in [*LONG_LINES][1:]),
        pytest.param("without spaces", marks=pytest.mark.faults, id="added"),
    ],
)
def test_a_line_longer_than_a_piece_has_the_ids_of_a_call(tmp_path, request, case):
    """Lines of more than 8 MB are read in pieces. Wherever they are cut, something is near that
    a cut would change.
    """
    kernel, kind, name, line = LONG_LINES[case]
    assert len(line.encode()) > 9_000_000
    lines = ["the", line, "people"]
    path, wrong = tmp_path / name, line.encode()
    wrong = wrong[:-500_000] + b"\xff" + wrong[-500_000:]
    path.write_bytes(packed(path, b"\n".join([*map(str.encode, lines), wrong])))
    with using_kernel(kernel):
        tokenizer = kind.from_pretrained("trietok-zh" if "spaces" in case else "trietok-en")
        tokenizer.add_tokens(["covid-19", *["合眾"] * ("[added]" in request.node.name)])
        options = {"workers": 1, "on_error": "skip", "return_attention_mask": True}
        encode_files(path, tmp_path / "out", tokenizer, **options)
        assert rows_in(tmp_path / "out") == tokenizer(lines).input_ids
        assert rejects_in(tmp_path / "out") == [(name, 4)]
        for side in ("left", "right"):
            tokenizer.truncation_side = side
            cut = {"truncation": True, "max_length": 20}
            encode_files(path, tmp_path / side, tokenizer, **options, **cut)
            assert rows_in(tmp_path / side) == tokenizer(lines, **cut).input_ids


# ---- other columns -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_column_may_be_within_objects(english, tmp_path, kind):
    """A column of that very name, with a point in it, goes before."""
    path = tmp_path / f"a.{kind}"
    for first, column in (({}, "meta.at.text"), ({"meta.text": "first"}, "meta.text")):
        texts = [f"people {number}" for number in range(9)]
        rows = [
            {"id": "x", "meta": {"at": {"text": text}, "text": "no"}, **first} for text in texts
        ]
        texts = ["first"] * 9 if first else texts
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=30)
        else:
            lines = [json.dumps(row).replace("meta.text", "met\\u0061.text") for row in rows]
            path.write_text("\n".join(lines))
        out = tmp_path / f"out {bool(first)}"
        encode_files(path, out, english, workers=1, column=column, keep_columns=["id"])
        assert rows_in(out) == ids_of(english, texts)
        assert list(TextFiles(path, column=column)) == texts


def test_rows_without_the_object_of_a_column_are_skipped(english, tmp_path):
    values = [{"text": "people"}, 5, None, {}, {"a": 1}]
    lines = [json.dumps({"meta": value}) for value in values] + ["{}"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    pq.write_table(
        pa.table({"meta": [{"text": "people"}, None], "n": [{"a": 1}, {"a": 2}]}),
        tmp_path / "b.parquet",
    )
    out, options = tmp_path / "out", {"column": "meta.text", "on_error": "skip", "workers": 1}
    encode_files(tmp_path / "*.*", out, english, **options)
    assert rows_in(out) == ids_of(english, ["people"] * 2)
    assert rejects_in(out) == [*(("a.jsonl", row) for row in range(2, 7)), ("b.parquet", 2)]
    for column in ("meta.id", "meta.text.a", "nothing.text", "n.a"):
        with pytest.raises(FileFormatError):
            list(TextFiles(tmp_path / "b.parquet", column=column))


def lines_of(path, values):
    path.write_text("".join(json.dumps({"text": "a", "n": value}) + "\n" for value in values))
    return path


@pytest.mark.parametrize(
    "values",
    [
        [None] * 100 + [*range(100)] + [number / 2 for number in range(100)],
        [{"name": "x", "at": [1]}, {"name": "y", "at": []}, None],
        ["\U0001f600", "", None],
    ],
    ids=["numbers", "objects", "texts"],
)
def test_kept_values_of_json_keep_their_values(english, tmp_path, values):
    path = lines_of(tmp_path / "a.jsonl", values)
    encode_files(path, tmp_path / "out", english, workers=1, keep_columns=["n", "text", "n"])
    assert [row["n"] for row in table_in(tmp_path / "out")] == values
    assert list(table_in(tmp_path / "out")[0]) == ["input_ids", "n", "text"]


@pytest.mark.parametrize("value", ["\ud800", {"a": ["\udfff"]}, {"\ud800": 1}])
def test_half_a_surrogate_pair_is_a_row_that_cannot_be_kept(english, tmp_path, value):
    file = lines_of(tmp_path / "a.jsonl", [value])
    with pytest.raises(FileError, match="line 1"):
        encode_files(file, tmp_path / "out", english, keep_columns=["n"], workers=1)
    options = {"keep_columns": ["n"], "on_error": "skip", "workers": 1}
    encode_files(file, tmp_path / "rest", english, **options)
    assert rejects_in(tmp_path / "rest") == [("a.jsonl", 1)]


def test_values_that_no_column_can_hold_set_their_file_aside(english, tmp_path):
    lines_of(tmp_path / "fine.jsonl", [1])
    for name, values in (("mixed", [1, "a"]), ("big", [2**70]), ("empty", [{"b": {}}])):
        path = lines_of(tmp_path / f"{name}.jsonl", values)
        with pytest.raises(FileError):
            encode_files(path, tmp_path / name, english, workers=1, keep_columns=["n"])
    options = {"workers": 1, "keep_columns": ["n"], "on_error": "skip"}
    manifest = encode_files(tmp_path / "*.jsonl", tmp_path / "out", english, **options)
    assert (manifest["totals"]["rows"], len(manifest["set_aside"])) == (1, 3)


def test_shards_without_rows_have_the_columns_too(english, tmp_path):
    (tmp_path / "a.jsonl").write_text("[]\n")
    rows = [{"text": None, "n": "x"}, {"text": 3, "n": [2]}, {"text": "a", "n": 5}]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pq.write_table(
        pa.table({"text": pa.array([None], pa.string()), "n": [1]}), tmp_path / "b.parquet"
    )
    out, options = tmp_path / "out", {"keep_columns": ["n"], "on_error": "skip", "workers": 1}
    encode_files(tmp_path / "*.*", out, english, return_attention_mask=True, **options)
    (row,) = table_in(out)
    assert row == {"input_ids": english("a").input_ids, "attention_mask": [1, 1, 1], "n": 5}
    for path in out.glob("part-*"):
        assert pq.read_schema(path).names[-1] == "n"
