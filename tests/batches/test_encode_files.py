"""`encode_files`: the rows of calls, whatever the files are and however they are divided."""

from __future__ import annotations

import json
import os
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches.text_files import (
    TEXTS,
    contents,
    ids_in,
    ids_of,
    packed,
    rows_of,
    skipped_in,
    write,
)
from tests.cli.commands import posix
from tests.conftest import assert_share, examples
from tests.strategies import BOOL, short_texts, some_of, texts
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    OptionError,
    TextFiles,
    encode_files,
)
from trietok.batches import parquet_parts, units

MASKS = ["token_type_ids", "attention_mask", "special_tokens_mask"]


@pytest.fixture
def sizes(monkeypatch):
    """A function that sets from which sizes files are split, share outputs and have parts."""

    def set_sizes(piece=10**9, small=10**9, file=10**9, group=10**9):
        monkeypatch.setattr(units, "_PIECE_BYTES", piece)
        monkeypatch.setattr(units, "_SMALL_BYTES", small)
        monkeypatch.setattr(parquet_parts, "_FILE_BYTES", file)
        monkeypatch.setattr(parquet_parts, "_GROUP_BYTES", group)

    return set_sizes


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
    files = []
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)):
        # the first row keeps a file from looking like a packed one, or one of UTF-16
        rows = ["people", *draw(st.lists(st.one_of(text, text, st.just(BAD)), max_size=8))]
        if kind.lower().startswith("txt"):
            rows = [row if row is BAD else row.replace("\n", " ") for row in rows]
        files.append((kind, rows))
    return files


def unit_of(name):
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
def test_any_files_have_the_rows_of_calls(tmp_path_factory, kernel, kind, sizes):
    """Texts in order, each once, with other columns; rows without text are listed or fail."""
    tokenizer, tally = kind.from_pretrained("trietok-en"), Counter()
    drawn_sizes = st.fixed_dictionaries(
        {
            "piece": st.sampled_from([20, 60, 10**6]),
            "small": st.sampled_from([0, 60, 10**6]),
            "file": st.sampled_from([500, 10**6]),
            "group": st.sampled_from([1, 300, 10**6]),
        }
    )

    @examples(60)
    @given(st.data(), folders(), CALLS, drawn_sizes)
    def compare(data, drawn, call_options, drawn_size):
        folder = tmp_path_factory.mktemp("any")
        files = [written(data.draw, folder, at, *each) for at, each in enumerate(drawn)]
        # a line may have 100 kB, which would make thousands of outputs
        total = sum(path.stat().st_size for path in files)
        sizes(**{**drawn_size, "piece": max(drawn_size["piece"], total // 20)})
        bad = [
            (path.name, number)
            for path, (_, rows) in zip(files, drawn, strict=True)
            for number, row in enumerate(rows, 1)
            if row is BAD
        ]
        has_ids = not any("txt" in path.name.lower() for path in files)
        options = {"workers": 1, **call_options, "keep_columns": ["id"] if has_ids else []}
        if bad:
            with pytest.raises(FileFormatError) as caught:
                encode_files(files, folder / "failed", tokenizer, **options)
            firsts = {name: f"/{name}, {unit_of(name)} {row}: " for name, row in reversed(bad)}
            assert any(first in str(caught.value) for first in firsts.values())
        result = encode_files(files, folder / "out", tokenizer, on_error="skip", **options)
        expected = [row for _, rows in drawn for row in rows if row is not BAD]
        calls = [tokenizer(text, **call_options) for text in expected]
        places = [at for _, rows in drawn for at, row in enumerate(rows) if row is not BAD]
        wanted = [
            {
                **({"id": str(place)} if has_ids else {}),
                "input_ids": call.input_ids,
                **{name: call[name] for name in MASKS if call_options.get(f"return_{name}")},
            }
            for place, call in zip(places, calls, strict=True)
        ]
        rows = rows_of(result)
        if not drawn_size["small"]:  # else small files come after others
            assert rows == wanted
        assert sorted(map(by_name, rows)) == sorted(map(by_name, wanted))
        assert sorted(skipped_in(result)) == sorted(bad)
        assert (result.rows, result.skipped) == (len(expected), len(bad))
        assert result.tokens == sum(len(call.input_ids) for call in calls)
        assert list(TextFiles(files, on_error="skip")) == expected
        again = encode_files(files, folder / "out", tokenizer, on_error="skip", **options)
        assert again.kept == len(result.paths) == len(again.paths)
        assert (again.rows, again.tokens) == (result.rows, result.tokens)
        tally.update(each for each, _ in drawn)
        tally["divided"] += len(result.paths) > len(files)
        tally["shared"] += len(result.paths) < len(files)
        tally.update(runs=1, files=len(files), rows=len(expected), bad=len(bad), ids=has_ids)

    compare()
    assert_share(tally["divided"], tally["runs"], 0.1)
    assert_share(tally["shared"], tally["runs"], 0.1)
    for kind in KINDS:
        assert_share(tally[kind], tally["files"], 0.01, kind)
    assert_share(tally["bad"], tally["rows"] + tally["bad"], 0.03)
    assert_share(tally["ids"], tally["runs"], 0.1)


def by_name(row):
    return str(sorted(row.items()))


# ---- inputs and outputs --------------------------------------------------------------------------


def names_of(paths):
    return [os.path.basename(path) for path in paths]


def test_globs_urls_and_lists_name_each_file_once(english, tmp_path, sizes):
    sizes(small=0)
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
            ([files[5], str(files[5]), tmp_path / "05*"], [contents[5]]),
        ]
    ):
        result = encode_files(given_files, tmp_path / "out" / str(number), english, workers=1)
        assert ids_in(result) == ids_of(english, expected)


def test_outputs_are_named_after_their_inputs(english, tmp_path, sizes):
    sizes(piece=2000, small=30)
    for name, rows in {
        "2025/a.txt": ["people"] * 9,
        "2026/a.txt": ["people"] * 900,
        "2026/b.jsonl.gz": ["the people of the united states"] * 900,
        "2026/s1.txt": ["a"],
        "2026/s2.txt": ["a"],
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, rows)
    result = encode_files(tmp_path / "*" / "*", tmp_path / "out", english, workers=1)
    assert names_of(result.paths) == [
        "2025-a.txt.parquet",
        "2026-a.txt-from-000000000000.parquet",
        "2026-a.txt-from-000000001575.parquet",
        "2026-a.txt-from-000000003150.parquet",
        "2026-a.txt-from-000000004725.parquet",
        "2026-b.jsonl.gz.parquet",
        "2026-s1.txt-and-1-more.parquet",
    ]


def test_no_output_has_a_name_that_readers_of_directories_ignore(english, tmp_path):
    for folder, name in ((".cache", "_a.txt"), ("b", "a.txt"), ("b", "__.txt")):
        (tmp_path / folder).mkdir(exist_ok=True)
        write(tmp_path / folder / name, ["people"])
    for number, path in enumerate([".cache/_a.txt", "b/__.txt"]):
        result = encode_files(tmp_path / path, tmp_path / f"out {number}", english)
        assert not names_of(result.paths)[0].startswith(("_", "."))
    result = encode_files(
        [tmp_path / ".cache/_a.txt", tmp_path / "b/a.txt"], tmp_path / "c", english
    )
    assert names_of(result.paths) == ["a.txt-and-1-more.parquet"]


def test_outputs_are_not_read_as_inputs(english, tmp_path):
    write(tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"text": null}\n{"text": "the"}\n')
    for pattern in ("*.parquet", "*.jsonl"):
        files = [path for path in tmp_path.glob(pattern) if not path.name.startswith("_")]
        encode_files(files, tmp_path / pattern[2:], english, on_error="skip")
        inputs = tmp_path / "**" / pattern
        with pytest.raises(InputError, match="in the output directory"):
            encode_files(inputs, tmp_path / pattern[2:], english, on_error="skip")


@posix
def test_links_and_urls_are_other_names_of_one_file(english, tmp_path):
    write(tmp_path / "a.txt", ["the people"])
    (tmp_path / "b.txt").symlink_to("a.txt")
    files = [tmp_path / "a.txt", tmp_path / "b.txt", f"file://{tmp_path}/a.txt"]
    result = encode_files(files, tmp_path / "out", english)
    assert ids_in(result) == ids_of(english, ["the people"])
    (tmp_path / "a.jsonl").symlink_to("a.txt")
    with pytest.raises(InputError, match="another kind of file"):
        encode_files(tmp_path / "a.jsonl", tmp_path / "out", english)


@posix
def test_names_may_have_any_bytes(english, tmp_path):
    name = os.fsdecode(b"caf\xe9 \xf0\x9f\x98\x80")
    write(tmp_path / f"{name}.txt", ["people"])
    write(tmp_path / "b.parquet", ["the"]).rename(tmp_path / f"{name}.parquet")
    write(tmp_path / ("é" * 124 + ".txt"), ["of"])
    for kept in (0, 1):
        result = encode_files(tmp_path / "*.*", tmp_path / name, english, workers=1)
        assert (result.rows, result.kept) == (3, kept)


def test_two_processes_write_what_one_writes(tmp_path, sizes):
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.csv", "e.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number}, é 東京" for row in range(200)])
    with open(tmp_path / "a.txt", "ab") as file:
        file.write(b"\xff\nend\n")
    sizes(piece=2000, small=0)
    tokenizer, states = Loud.from_pretrained("trietok-en"), []
    options = {"on_error": "skip", "return_attention_mask": True, "progress": states.append}
    for workers in (1, 2):
        out = tmp_path / f"out {workers}"
        result = encode_files(tmp_path / "*.*", out, tokenizer, workers=workers, **options)
        assert skipped_in(result) == [("a.txt", 201)]
        assert result.rows == 1001
    assert contents(tmp_path / "out 1") == contents(tmp_path / "out 2")
    assert [len(state.paths) for state in states] == [*range(1, len(states) // 2 + 1)] * 2
    assert states[-1].done_bytes == states[-1].input_bytes


class Loud(BertTokenizer):
    """A tokenizer with a stage of its own, which only plain Python runs."""

    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text.replace("?", " a "), **kwargs)


def test_the_last_line_of_a_file_is_not_joined_with_the_next_file(english, tmp_path):
    ends = [b"one\ntwo", b"", b"\n", b"three\r", b"four\r\n\xe2\x80\xa8", b"caf\xc3\xa9"]
    for number, raw in enumerate(ends):
        (tmp_path / f"{number}.txt").write_bytes(raw)
    (tmp_path / "6.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "five"}')
    (tmp_path / "7.jsonl").write_bytes(b'{"text": "six"}')
    result = encode_files(tmp_path / "*.*", tmp_path / "out", english, workers=1)
    texts = ["one", "two", "", "three\r", "four\r", "\u2028", "café", "five", "six"]
    assert ids_in(result) == ids_of(english, texts)


def test_files_without_rows_give_files_with_all_columns(english, tmp_path, sizes):
    sizes(small=0)
    for number, raw in enumerate([b"text,n", b"text,n\n", b"text,n\r\n", b"\ntext,n\n\n"]):
        (tmp_path / f"{number}.csv").write_bytes(raw)
    (tmp_path / "a.jsonl").write_bytes(b"\n \n")
    pq.write_table(
        pa.table({"text": pa.array([], "string"), "n": pa.array([], "int64")}),
        tmp_path / "b.parquet",
    )
    options = {"workers": 1, "keep_columns": ["n"], "return_attention_mask": True}
    result = encode_files([tmp_path / "*.*"], tmp_path / "out", english, **options)
    assert (result.rows, len(result.paths)) == (0, 6)
    for path in result.paths:
        assert pq.read_schema(path).names == ["n", "input_ids", "attention_mask"]
    assert str(pq.read_schema(result.paths[-1]).field("n").type) == "int64"
    (tmp_path / "c.txt").write_bytes(b"")
    assert encode_files(tmp_path / "c.txt", tmp_path / "none", english).rows == 0


def test_several_frames_and_members_are_one_file(english, tmp_path):
    for name in ("a.txt.zst", "b.txt.gz"):
        path = tmp_path / name
        path.write_bytes(packed(path, b"one\ntw") + packed(path, b"o\n"))
    result = encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert ids_in(result) == ids_of(english, ["one", "two"] * 2)


def test_a_compressed_file_with_the_name_of_a_text_file_is_read_once(english, tmp_path, sizes):
    sizes(piece=100)
    texts = [f"people {number * 7919:x}" for number in range(100)]
    (tmp_path / "a.txt").write_bytes(packed(tmp_path / "a.txt.gz", "\n".join(texts).encode()))
    result = encode_files(tmp_path / "a.txt", tmp_path / "out", english, workers=1)
    assert ids_in(result) == ids_of(english, texts)


def test_the_other_columns_of_a_call_are_written(tmp_path):
    fast = BertTokenizerFast.from_pretrained("trietok-en")
    options = {"truncation": True, "max_length": 6, "stride": 1, "return_overflowing_tokens": True}
    options |= {"return_offsets_mapping": True, "return_length": True}
    path = write(tmp_path / "a.txt", ["the people of the united states", "the"])
    result = encode_files(path, tmp_path / "out", fast, **options)
    expected = fast(["the people of the united states", "the"], **options)
    rows = rows_of(result)
    assert [row["input_ids"] for row in rows] == expected.input_ids
    assert [list(map(tuple, row["offset_mapping"])) for row in rows] == expected.offset_mapping
    assert [row["length"] for row in rows] == list(map(len, expected.input_ids))


# ---- the model's limit ---------------------------------------------------------------------------


def test_texts_are_truncated_to_the_limit_of_the_sentence_model(english, tmp_path):
    english.save_pretrained(tmp_path / "model")
    path = write(tmp_path / "a.txt", ["the people " * 20])
    for limit, config in ((30, None), (7, {"max_seq_length": 7}), (30, {"max_seq_length": None})):
        if config is not None:
            (tmp_path / "model" / "sentence_bert_config.json").write_text(json.dumps(config))
        tokenizer = BertTokenizer.from_pretrained(tmp_path / "model", model_max_length=30)
        result = encode_files(path, tmp_path / f"{limit} {config}", tokenizer, truncation=True)
        assert (result.longest, result.limit.tokens) == (limit, limit)
        where = "sentence_bert_config.json" if limit == 7 else "model_max_length"
        assert where in result.limit.where
    result = encode_files(path, tmp_path / "longer", tokenizer, truncation=True, max_length=9)
    assert result.longest == 9
    assert encode_files(path, tmp_path / "whole", tokenizer).longest == 42


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
        result = encode_files(path, out, english, workers=1, column=column, keep_columns=["id"])
        assert ids_in(result) == ids_of(english, texts)
        assert list(TextFiles(path, column=column)) == texts


def test_rows_without_the_object_of_a_column_are_skipped(english, tmp_path):
    values = [{"text": "people"}, 5, None, {}, {"a": 1}]
    lines = [json.dumps({"meta": value}) for value in values] + ["{}"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    pq.write_table(
        pa.table({"meta": [{"text": "people"}, None], "n": [{"a": 1}, {"a": 2}]}),
        tmp_path / "b.parquet",
    )
    options = {"column": "meta.text", "on_error": "skip", "workers": 1}
    result = encode_files(tmp_path / "*.*", tmp_path / "out", english, **options)
    assert ids_in(result) == ids_of(english, ["people"] * 2)
    assert skipped_in(result) == [*(("a.jsonl", row) for row in range(2, 7)), ("b.parquet", 2)]
    for column in ("meta.id", "meta.text.a", "nothing.text", "n.a"):
        with pytest.raises(FileFormatError):
            list(TextFiles(tmp_path / "b.parquet", column=column))


def lines_of(path, values):
    path.write_text("".join(json.dumps({"text": "a", "n": value}) + "\n" for value in values))
    return path


@pytest.mark.parametrize("group", [1, 10**6])
@pytest.mark.parametrize(
    "values",
    [
        [None] * 100 + [*range(100)] + [number / 2 for number in range(100)] + [3, None],
        [{"name": "x", "at": [1]}, {"name": "y", "at": []}, None],
        ["\U0001f600", "", None],
        [{}, {}],
    ],
    ids=["numbers", "objects", "texts", "without keys"],
)
def test_kept_values_of_json_keep_their_values(
    english, tmp_path, sizes, values, group, monkeypatch
):
    """Their types may change from one block of lines to the next."""
    sizes(group=group)
    monkeypatch.setattr("trietok.files.text_rows._BLOCK", 300)
    path = lines_of(tmp_path / "a.jsonl", values)
    result = encode_files(path, tmp_path / "out", english, keep_columns=["n", "text", "n"])
    rows = rows_of(result)
    assert [row["n"] for row in rows] == [None if value == {} else value for value in values]
    assert list(rows[0]) == ["n", "text", "input_ids"]


def test_a_new_file_begins_where_values_have_no_common_type(english, tmp_path, sizes, monkeypatch):
    sizes(group=1)
    monkeypatch.setattr("trietok.files.text_rows._BLOCK", 5)
    path = lines_of(tmp_path / "a.jsonl", [1, "a", "b", 1, 0.5, 2**53 + 1])
    result = encode_files(path, tmp_path / "out", english, keep_columns=["n"])
    assert [row["n"] for row in rows_of(result)] == [1, "a", "b", 1, 0.5, 2**53 + 1]


@pytest.mark.parametrize("values", [["\ud800"], [1, "a"], [2**70], [{"b": [{}]}]], ids=str)
def test_values_that_no_column_can_hold_are_errors(english, tmp_path, values):
    path = lines_of(tmp_path / "a.jsonl", values)
    with pytest.raises(FileFormatError, match=r"a\.jsonl.*('n'|kept column)"):
        encode_files(path, tmp_path / "out", english, keep_columns=["n"])
    (tmp_path / "b.txt").write_text("people\n")
    with pytest.raises(InputError, match="no columns"):
        encode_files(tmp_path / "b.txt", tmp_path / "none", english, keep_columns=["n"])


# ---- files that cannot be read -------------------------------------------------------------------


def parquet(**columns):
    content = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), content, compression="none", use_dictionary=False)
    return content.getvalue().to_pybytes()


MANY = b"".join(b"%040x\n" % (number * 7**40 % 2**160) for number in range(20_000))
UTF_16 = "text\nlow\n".encode("utf-16")
TABLE = parquet(text=[f"people {number} of the" for number in range(300)])
GZIP, ZSTD = "a.gz", "a.zst"
DAMAGED = {
    "cut off.txt.gz": (GZIP, MANY, slice(-100)),
    "cut off.jsonl.gz": (GZIP, b'{"text": "people"}\n' * 90, slice(-9)),
    "cut off.csv.gz": (GZIP, b"text\n" + b"people\n" * 90, slice(-9)),
    "cut off.txt.zst": (ZSTD, MANY, slice(-100)),
    "no gzip.txt.gz": b"plain",
    "empty.txt.gz": b"",
    "no zstd.txt.zst": b"plain",
    "empty.jsonl.zst": b"",
    "utf-16.txt": UTF_16,
    "long utf-16.txt": "low\n".encode("utf-16") * 10**5,
    "utf-16.jsonl": UTF_16,
    "utf-16.csv": UTF_16,
    "no parquet.parquet": b"plain",
    "cut off.parquet": TABLE[:-20],
    "damaged pages.parquet": TABLE[:4] + bytes(196) + TABLE[200:],
    "no column.parquet": parquet(body=["a"], n=[1]),
    "numbers.parquet": parquet(text=[1, 2]),
    "no column.csv": b"id,name\n1,a\n",
    "semicolons.csv": b"id;text\n1;a\n",
    "commas.tsv": b"id,text\n1,a\n",
    "column twice.csv": b"text,text\n1,a\n",
    "empty.csv": b"",
    "empty lines.csv": b"\n\n",
    "long row.csv": b"text\n" + b"people\n" * 40_000 + b"a" * (17 << 20) + b"\n",
    "quote.csv": b'text\none\n"two\nlines"\n"three\nfour',
    "quote of two columns.csv": b'text,id\none,1\n"two,2\nthree,3\n',
    "quote in the other.csv": b'text,id\none,1\ntwo,"2\nthree,3\n',
    "quote in the header.csv": b'\ntext,"id\none,1\n',
    "quote at the end.csv": b'text\none\n"',
}
LINES = {  # where a quote is that is not closed
    "quote.csv": 5,
    "quote of two columns.csv": 3,
    "quote in the other.csv": 3,
    "quote in the header.csv": 2,
    "quote at the end.csv": 3,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_fails_also_where_rows_are_skipped(english, tmp_path, name):
    content, path = DAMAGED[name], tmp_path / name
    if isinstance(content, tuple):
        kind, raw, kept = content
        content = packed(path.with_name(kind), raw)[kept]
    path.write_bytes(content)
    write(tmp_path / "fine.txt", ["people"])
    files = [tmp_path / "fine.txt", path]
    for read in (
        lambda: encode_files(files, tmp_path / "out", english, workers=1),
        lambda: encode_files(files, tmp_path / "out", english, workers=1, on_error="skip"),
        lambda: list(TextFiles(path)),
    ):
        with pytest.raises((FileError, FileFormatError)) as caught:
            read()
        assert name in str(caught.value)
        assert name not in LINES or f"{name}, line {LINES[name]}: " in str(caught.value)
    write(path, ["of the", "states"])  # repaired
    result = encode_files(files, tmp_path / "out", english, workers=1)
    assert ids_in(result) == ids_of(english, ["people", "of the", "states"])


def test_a_flipped_bit_of_a_table_with_page_checksums_is_found(english, tmp_path):
    texts = [f"people {number} of the" for number in range(300)]
    path, options = tmp_path / "a.parquet", {"compression": "none", "use_dictionary": False}
    pq.write_table(pa.table({"text": texts}), path, write_page_checksum=True, **options)
    path.write_bytes(path.read_bytes().replace(b"people 150", b"qeople 150"))
    with pytest.raises(FileError):
        encode_files(path, tmp_path / "ids", english, workers=1)
    with pytest.raises(FileError):
        list(TextFiles(path))


def test_the_first_bad_row_is_named_wherever_its_file_is_split(english, tmp_path, sizes):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    for size in (7, 40, 10**6):
        sizes(piece=size, small=0)
        path, out, options = tmp_path / "a.txt", tmp_path / f"out {size}", {"workers": 1}
        with pytest.raises(FileFormatError, match=r"a\.txt, line 61: byte 0xff.*--on-error skip"):
            encode_files(path, out, english, **options)
        result = encode_files(path, out, english, on_error="skip", **options)
        assert skipped_in(result) == [("a.txt", row) for row in (61, 81, 100)]
        assert ids_in(result) == ids_of(english, ["fine"] * 97)


def test_rows_as_wide_as_no_header_keep_the_numbers_of_others(english, tmp_path):
    """Row 41 is an empty line, which is no row; the rows are more than are read at once."""
    wrong = {0: "x", 1: "a,b,c", 40: '7,"a\nb",c', 41: "", 150: "b", 299: "1,2,3,4"}
    texts = [f"people {number}" for number in range(300)]
    lines = [wrong.get(number, f"{number},{text}") for number, text in enumerate(texts)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,text", *lines, *["p"] * 1060]))
    expected = [text for number, text in enumerate(texts) if number not in wrong]
    with pytest.raises(FileFormatError, match=r"a\.csv, row 1: "):
        list(TextFiles(path))
    assert list(TextFiles(path, on_error="skip")) == expected
    options = {"workers": 1, "on_error": "skip", "keep_columns": ["id"]}
    result = encode_files(path, tmp_path / "out", english, **options)
    assert ids_in(result) == ids_of(english, expected)
    rows = [number + (number < 41) for number in sorted({*wrong} - {41})]
    assert skipped_in(result) == [("a.csv", row) for row in [*rows, *range(300, 1360)]]
    assert [rows_of(result)[number]["id"] for number in (0, 38, -1)] == ["2", "42", "298"]


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_a_field_that_no_object_has_is_an_error(english, tmp_path, on_error, sizes):
    sizes(piece=50, small=0)
    rows = [{"text": "a", "meta": {"id": number % 3 or None}} for number in range(9)]
    rows[4]["late"] = 1
    (tmp_path / "a.jsonl").write_text("[]\n" + "".join(json.dumps(row) + "\n" for row in rows))
    path, options = tmp_path / "a.jsonl", {"on_error": on_error, "workers": 1}
    for wrong in ({"column": "txt"}, {"keep_columns": ["meta.ID"]}, {"keep_columns": ["labels"]}):
        with pytest.raises(FileFormatError):
            encode_files(path, tmp_path / "out", english, **options, **wrong)
    if on_error == "skip":
        kept = {"keep_columns": ["meta.id"]}
        result = encode_files(path, tmp_path / "fine", english, **options, **kept)
        assert [row["meta.id"] for row in rows_of(result)] == [None, 1, 2] * 3


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_an_input_that_may_not_be_read_is_named(english, tmp_path, monkeypatch, name):
    path, open_file = write(tmp_path / name), open

    def refuse(file, *arguments, **options):
        if file == str(path):
            raise PermissionError(13, "Permission denied", file)
        return open_file(file, *arguments, **options)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(FileError, match=f"cannot read .*{name}: Permission denied"):
        encode_files(path, tmp_path / "out", english)


def test_half_of_a_surrogate_pair_is_no_text(english, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "\\ud83d\\ude00"}\n{"text": "a \\ud83d"}\n{"text": "é"}\n')
    with pytest.raises(FileFormatError, match=r"a\.jsonl, line 2: .*ud83d"):
        encode_files(path, tmp_path / "out", english)
    result = encode_files(path, tmp_path / "out", english, on_error="skip")
    assert ids_in(result) == ids_of(english, ["\U0001f600", "é"])
    assert skipped_in(result) == [("a.jsonl", 2)]


@pytest.mark.faults
def test_lines_too_long_to_be_held_are_rows_without_text(english, tmp_path):
    long = b"x" * ((64 << 20) + 1)
    (tmp_path / "a.txt").write_bytes(b"the\n" + long + b"\npeople\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "of"}\n{"text": "' + long + b'"}\n')
    options = {"workers": 1, "on_error": "skip"}
    result = encode_files(tmp_path / "*.*", tmp_path / "out", english, **options)
    assert sorted(ids_in(result)) == sorted(ids_of(english, ["the", "people", "of"]))
    assert sorted(skipped_in(result)) == [("a.txt", 2), ("b.jsonl", 2)]


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "on_error"),
        ({"workers": 0}, "workers"),
        ({"workers": True}, "workers"),
        ({"engine": "dask"}, "'ray', 'spark'"),
        ({"engine": "ray", "on_error": "skip"}, "on_error"),
        ({"on_errors": 1}, "did you mean 'on_error'"),
        ({"max_lenght": 1}, "did you mean 'max_length'"),
        ({"keep_columns": "id"}, "keep_columns"),
        ({"keep_columns": ["labels"]}, "labels"),
        ({"keep_columns": ["input_ids"]}, "input_ids"),
        ({"column": "body"}, "'id', 'text'"),
        ({"column": "id"}, "'id'"),
        ({"padding": True}, "padding"),
        ({"pair_column": "id"}, "pairs"),
        ({"engine": "spark", "workers": 2}, "workers"),
    ],
    ids=str,
)
def test_wrong_options_are_named_and_write_nothing(english, tmp_path, options, message):
    with pytest.raises((InputError, OptionError, FileFormatError)) as caught:
        encode_files(write(tmp_path / "a.parquet"), tmp_path / "out", english, **options)
    assert message in str(caught.value)
    assert not list(tmp_path.glob("out/**/*"))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("none.txt", FileError),
        ("*.parquet", FileError),
        ("folder", (FileError, InputError)),
        ([], InputError),
        ("pipe.txt", InputError),
        ("link.txt", FileError),
        ("a.pdf", InputError),
        ("a.xlsx", InputError),
        ("a.parquet.gz", InputError),
        ("a", InputError),
    ],
    ids=str,
)
def test_paths_that_are_no_files_of_texts_are_refused(english, tmp_path, name, error):
    for each in ("a.txt", "a.pdf", "a.xlsx", "a.parquet.gz", "a"):
        (tmp_path / each).write_text("people\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    names = [name] if isinstance(name, str) else name
    with pytest.raises(error) as caught:
        encode_files([tmp_path / each for each in names], tmp_path / "out", english, workers=1)
    assert all(each in str(caught.value) for each in names)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a.txt", "a.txt/ids", "other", "nul\0"])
def test_an_output_that_is_no_directory_of_ids_is_refused(english, tmp_path, name):
    write(tmp_path / "a.txt")
    (tmp_path / "other").mkdir()
    write(tmp_path / "other" / "b.parquet")
    before = contents(tmp_path)
    with pytest.raises((InputError, FileError)):
        encode_files(tmp_path / "a.txt", tmp_path / name, english, workers=1)
    assert contents(tmp_path) == before


def test_an_empty_output_is_not_the_root_directory(english, tmp_path):
    with pytest.raises(InputError, match="output is empty"):
        encode_files(write(tmp_path / "a.txt"), "", english)


def test_a_tokenizer_that_is_not_loaded_is_refused(tmp_path):
    for tokenizer in ("trietok-en", BertTokenizer):
        with pytest.raises(InputTypeError):
            encode_files([write(tmp_path / "a.txt")], tmp_path / "out", tokenizer)
