"""`TokenizeBatch` and `encode_files` on Ray Data, Spark and others: the rows of one machine.

`pytest -m engines`. A test skips an engine that is not installed. The recipes are those of
`docs/corpora.md`.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.text_files import rows_of, write
from tests.conftest import needs
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    TokenizeBatch,
    TrietokError,
    encode_files,
)

pytestmark = pytest.mark.engines

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "corpora.md"
QUESTION = "what of covid?"
BY_BATCH = ["overflow_to_sample_mapping"]  # it counts in the batch, and engines choose the batches
SINGLE = {"return_special_tokens_mask": True, "return_length": True}
WINDOWS = {
    "truncation": "only_second",
    "max_length": 20,
    "stride": 4,
    "return_overflowing_tokens": True,
    "return_offsets_mapping": True,
}


@pytest.fixture(scope="module")
def table():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").split("\n")
    texts = [*lines, "covid-19 and covid", "東京 é", "", None] * 20
    return pa.table(
        {
            "id": range(len(texts)),
            "text": pa.array(texts, pa.string()),
            "question": [QUESTION] * len(texts),
        }
    )


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    half = len(table) // 2
    pq.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=300)
    pq.write_table(table.slice(half), folder / "b.parquet", row_group_size=300)
    return folder


@pytest.fixture(scope="module", params=["texts", "windows"])
def tokenize(request):
    """A function of tables with one row for each text, and one with several for a long text."""
    kind = BertTokenizer if request.param == "texts" else BertTokenizerFast
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["covid-19"])
    if request.param == "texts":
        return TokenizeBatch(tokenizer, "text", truncation=True, max_length=12, **SINGLE)
    return TokenizeBatch(tokenizer, "question", "text", keep_columns=["id"], **WINDOWS)


@pytest.fixture
def expected(table, tokenize):
    result = tokenize(table)
    assert len(result) > len(table) + 100 or "question" in result.column_names
    return ordered(result)


def ordered(result):
    """The rows of a table, in an order that does not depend on the engine's."""
    names = [name for name in result.column_names if name not in BY_BATCH]
    return sorted(result.select(names).to_pylist(), key=lambda row: (row["id"], str(row)))


@pytest.fixture(scope="module")
def python_path():
    """The processes of engines import this checkout."""
    with pytest.MonkeyPatch.context() as patch:
        before = os.environ.get("PYTHONPATH")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [before])]))
        yield


@pytest.fixture(scope="module")
def ray(python_path):
    for_slow_machines = {
        "RAY_health_check_timeout_ms": "60000",
        "RAY_health_check_failure_threshold": "10",
        "RAY_worker_register_timeout_seconds": "600",
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    for name, value in for_slow_machines.items():
        os.environ.setdefault(name, value)
    ray = needs("ray")
    needs("ray.data")
    options = {"num_cpus": 2, "object_store_memory": 100_000_000, "include_dashboard": False}
    for attempt in range(5):  # Ray gives a machine 30 seconds; a busy one may need more
        try:
            ray.init(log_to_driver=False, **options)
            break
        except Exception:
            if attempt == 4:
                raise
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def skip_without_java():
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java: Spark runs on it")


@pytest.fixture(scope="module")
def spark(python_path):
    needs("pyspark")
    skip_without_java()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("trietok")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        .getOrCreate()
    )
    yield session
    session.stop()


# ---- tables --------------------------------------------------------------------------------------


def test_ray_data_returns_the_rows_of_one_machine(ray, files, tokenize, expected):
    dataset = ray.data.read_parquet(str(files))
    ids = dataset.map_batches(
        tokenize, batch_format="pyarrow", batch_size=128, zero_copy_batch=True
    )
    result = pa.concat_tables([ray.get(block) for block in ids.to_arrow_refs()])
    assert ordered(result) == expected
    assert result.schema.field("input_ids").type == pa.list_(pa.int32())


def test_spark_returns_the_rows_of_one_machine(spark, files, tokenize, expected):
    from pyspark.sql.pandas.types import from_arrow_schema

    frame = spark.read.parquet(str(files))
    schema = from_arrow_schema(tokenize.output_schema(pq.read_schema(files / "a.parquet")))
    ids = frame.mapInArrow(lambda batches: map(tokenize, batches), schema)
    rows = [row.asDict() for row in ids.collect()]
    assert ordered(pa.Table.from_pylist(rows)) == expected


@pytest.fixture(scope="module")
def datasets(python_path, tmp_path_factory):
    os.environ["HF_DATASETS_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"
    datasets = needs("datasets")
    datasets.disable_progress_bars()
    return datasets


def test_datasets_return_the_rows_of_one_machine(datasets, files, tokenize, expected):
    paths = [str(files / "a.parquet"), str(files / "b.parquet")]
    dataset = datasets.load_dataset("parquet", data_files=paths, split="train")
    result = dataset.with_format("arrow").map(tokenize, batched=True, batch_size=100, num_proc=2)
    assert ordered(result.with_format("arrow")[:]) == expected


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_datasets_reuse_the_cache_when_a_map_runs_again(datasets, files, kind):
    """As when a cell of a notebook runs again: the tokenizer is loaded again and has been used."""
    from datasets.fingerprint import Hasher

    cache_files, hashes = [], []
    for _ in range(3):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=16)
        tokenizer.add_tokens(["covid-19"])
        if cache_files:
            tokenizer("a text of so many words that a warning is logged, " * 9)
            tokenizer(["a", "covid-19"], padding=True)
        dataset = datasets.load_dataset(
            "parquet", data_files=str(files / "a.parquet"), split="train"
        )
        dataset = dataset.filter(lambda row: row["text"] is not None)
        results = [
            dataset.with_format("arrow").map(TokenizeBatch(tokenizer, "text"), batched=True),
            dataset.map(lambda batch, tokenizer=tokenizer: tokenizer(batch["text"]), batched=True),
            dataset.map(tokenizer, input_columns="text", batched=True),
        ]
        cache_files.append(
            [[file["filename"] for file in result.cache_files] for result in results]
        )
        hashes.append(Hasher.hash(tokenizer))
    assert cache_files[0] == cache_files[1] == cache_files[2]
    assert hashes[0] == hashes[1] == hashes[2]


def test_duckdb_streams_the_rows_of_one_machine(files, tokenize, expected):
    duckdb = needs("duckdb")
    batches = duckdb.sql(f"SELECT * FROM '{files}/*.parquet'").to_arrow_reader(300)
    schema = tokenize.output_schema(batches.schema)
    result = pa.Table.from_batches(map(tokenize, batches), schema)
    assert ordered(result) == expected
    assert duckdb.from_arrow(result).aggregate("count(*)").fetchall() == [(len(expected),)]


def test_polars_returns_the_rows_of_one_machine(files, tokenize, expected):
    polars = needs("polars")
    frame = polars.read_parquet(f"{files}/*.parquet")
    result = polars.from_arrow(tokenize(frame.to_arrow()))
    assert ordered(result.to_arrow()) == expected


def test_dask_returns_the_rows_of_one_machine(files, tokenize, expected):
    dask = needs("dask")
    tables = [pq.read_table(files / name) for name in ("a.parquet", "b.parquet")]
    tasks = [dask.delayed(tokenize)(table) for table in tables]
    results = dask.compute(*tasks, scheduler="processes", num_workers=2)
    assert ordered(pa.concat_tables(results)) == expected


# ---- the recipes of the page ---------------------------------------------------------------------

PACKAGES = {
    "Ray Data": "ray.data",
    "Spark": "pyspark",
    "HuggingFace datasets": "datasets",
    "DuckDB, Polars, Dask": "duckdb",
}


@pytest.mark.parametrize("engine", PACKAGES)
def test_a_recipe_of_the_page_writes_the_ids(engine, python_path, files, table, tmp_path):
    needs(PACKAGES[engine])
    if engine == "Spark":
        skip_without_java()
    text = PAGE.read_text(encoding="utf-8").partition("## Engines")[2].partition("\n## ")[0]
    recipes = re.findall(r"^### (.*?)\n.*?^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in recipes] == [*PACKAGES]
    (tmp_path / "corpus").symlink_to(files)
    (tmp_path / "recipe.py").write_text(dict(recipes)[engine], encoding="utf-8")
    env = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}
    env["PYSPARK_PYTHON"] = sys.executable
    process = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    result = pq.read_table(tmp_path / "ids").sort_by("id")
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    expected = TokenizeBatch(tokenizer, "text", truncation=True, max_length=512)(table)
    names = [name for name in expected.column_names if name in result.column_names]
    assert {"id", "input_ids", "attention_mask"} <= {*names}
    assert result.select(names).to_pylist() == expected.select(names).to_pylist()


# ---- files ---------------------------------------------------------------------------------------

LINES = [
    *("The people", "", "of the United States,\r", "12", "007", "1.50", "1e5", "inf", "-1"),
    *("2025-01-31", "2025-01-31T10:00:00Z", "10:00", "true", "null", "NULL", "None", "NA", "NaN"),
    *("-", "\\N", "#comment", "back\\slash", "\\", "'x'", 'a "quoted" text', '"', '""', "a,b"),
    *("tab\there", " in order ", " ", "東京 é", "\ufffe", "\U0001f600", "[SEP] x"),
    *("é\u2028b", "a\x0bb", "a\x0cb", "a\x1cb", "a\x85b", "a\rb", "{1}", "[1]", "x=1", ""),
]
QUOTED = ["two\nlines", "\n", "end\n", 'q"\n"', '","\n', "\n\n", "a\r\nb"]
KINDS = [
    *("txt", "txt.gz", "txt.zst", "jsonl", "ndjson", "jsonl.gz", "jsonl.zst"),
    *("csv", "tsv", "csv.gz", "tsv.zst", "parquet"),
]


@pytest.fixture(params=["ray", "spark"])
def engine(request):
    request.getfixturevalue(request.param)
    return request.param


def multiset(rows):
    """Rows without an order. Spark reads CRLF in a quoted value as a line feed."""
    return Counter(repr(sorted(row.items())).replace("\\r\\n", "\\n") for row in rows)


def rows_in(directory):
    tables = [pq.read_table(path) for path in directory.glob("*.parquet")]
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_writes_the_rows_of_one_machine(english, tmp_path, engine, kind):
    """With the other columns, and the columns of the call."""
    texts = LINES if "txt" in kind else [*LINES, *QUOTED]
    half = len(texts) // 2
    paths = [
        write(tmp_path / f"a.{kind}", texts[:half]),
        write(tmp_path / f"b.{kind}", texts[half:]),
    ]
    keep = [] if "txt" in kind else ["text", "id"]
    options = {"keep_columns": keep, "return_special_tokens_mask": True, "return_length": True}
    local = encode_files(paths, tmp_path / "local", english, workers=1, **options)
    output = tmp_path / "ids"
    result = encode_files(tmp_path / f"*.{kind}", output, english, engine=engine, **options)
    assert multiset(rows_in(output)) == multiset(rows_of(local))
    assert (result.rows, result.paths) == (len(texts), (str(output),))
    schema, expected = map(pq.read_schema, (next(output.glob("*.parquet")), local.paths[0]))
    assert [(field.name, field.type) for field in schema] == [
        (field.name, field.type) for field in expected
    ]


def test_an_engine_truncates_and_writes_windows_and_offsets(tmp_path, engine):
    fast = BertTokenizerFast.from_pretrained("trietok-en")
    path = write(tmp_path / "a.jsonl", [*LINES, "the people of the united states " * 9])
    options = {
        "truncation": True,
        "max_length": 12,
        "stride": 2,
        "return_overflowing_tokens": True,
        "return_offsets_mapping": True,
        "keep_columns": ["id"],
    }
    local = encode_files(path, tmp_path / "local", fast, workers=1, **options)
    encode_files(path, tmp_path / "ids", fast, engine=engine, **options)
    results = [rows_of(local), rows_in(tmp_path / "ids")]
    assert len(results[0]) > len(LINES) + 4
    for row in (row for rows in results for row in rows):
        del row["overflow_to_sample_mapping"]
    assert multiset(results[0]) == multiset(results[1])


def test_an_engine_reads_another_column(english, tmp_path, engine):
    texts = ["The people", "", "of"]
    for kind in ("txt", "jsonl", "csv", "parquet"):
        path = write(tmp_path / f"a.{kind}", texts, column="body")
        output = tmp_path / kind
        encode_files(path, output, english, column="body", engine=engine)
        expected = [{"input_ids": english(text).input_ids} for text in texts]
        assert multiset(rows_in(output)) == multiset(expected)


def test_values_of_other_columns_do_not_matter(english, tmp_path, engine):
    """A reader may guess a type by the first of many values."""
    rows = [*(f"{number},people" for number in range(100_000)), "x,people", ",people"]
    (tmp_path / "a.csv").write_text("\n".join(["n,text", *rows]) + "\n")
    result = encode_files(tmp_path / "a.csv", tmp_path / "ids", english, engine=engine)
    assert result.rows == len(rows)


WRONG = {
    "null.parquet": "'text' is null",
    "null.jsonl": "'text' is null",
    "missing.jsonl": "'text' is null or missing",
    "no column.parquet": "body|text",
    "no column.csv": "could not encode|'text'",
    "malformed.jsonl": "could not encode",
    "list.jsonl": "could not encode",
    "short.csv": "could not encode",
    "long.csv": "could not encode",
    "numbers.parquet": "'text' holds int64",
}
CONTENTS = {
    "null.jsonl": '{"text": "a"}\n{"text": null}\n',
    "missing.jsonl": '{"text": "a"}\n{"id": "b"}\n',
    "no column.csv": "id,body\n1,a\n",
    "malformed.jsonl": '{"text": "a"}\n{"text": \n',
    "list.jsonl": '{"text": "a"}\n[1]\n',
    "short.csv": "id,text\n1,a\n2\n",
    "long.csv": "id,text\n1,a\n1,a,b\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_rows_without_text_are_errors_on_an_engine(english, tmp_path, engine, name):
    """Ray leaves the files of other blocks. Spark leaves an empty directory, or none."""
    path, output = tmp_path / name, tmp_path / "ids"
    if name.endswith("parquet"):
        column = [1, 2] if "numbers" in name else ["a", None] if "null" in name else ["a"]
        pq.write_table(pa.table({"body" if "column" in name else "text": column}), path)
    else:
        path.write_text(CONTENTS[name])
    with pytest.raises(TrietokError, match=WRONG[name]) as caught:
        encode_files(path, output, english, engine=engine)
    assert "\n" not in str(caught.value)
    if engine == "ray":
        shutil.rmtree(output, ignore_errors=True)
    output.mkdir(exist_ok=True)
    encode_files(write(tmp_path / "a.txt"), output, english, engine=engine)


def test_an_engine_needs_an_empty_output_and_files_of_one_kind(english, tmp_path):
    """It checks both before it starts."""
    text, table = write(tmp_path / "a.txt"), write(tmp_path / "b.parquet")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").write_text("")
    for engine in ("ray", "spark"):
        with pytest.raises(InputError, match="not empty"):
            encode_files(text, tmp_path / "full", english, engine=engine)
        with pytest.raises(InputError, match=r"one kind.*parquet, txt"):
            encode_files([text, table], tmp_path / "ids", english, engine=engine)
    assert not (tmp_path / "ids").exists()


def test_readers_of_engines_differ_as_the_page_says(english, tmp_path, ray, spark):
    texts = {
        "invalid.txt": (b"the \xff\n", TrietokError, TrietokError),
        "invalid.jsonl": (b'{"text": "the \xff"}\n', TrietokError, TrietokError),
        "invalid.csv": (b"id,text\n1,the \xff\n", TrietokError, ["the \ufffd"]),
        "numbers.jsonl": (b'{"text": 5}\n{"text": "a"}\n', TrietokError, ["5", "a"]),
        "two.jsonl": (b'{"text": "a"}{"text": "b"}\n', ["a", "b"], ["a"]),
        "quote.csv": (b'id,text\n1,"the\n2,of\n', ["the\n2,of\n"], ["the\n2,of\n"]),
        "_hidden.txt": (b"the\n", ["the"], InputError),
    }
    for name, (raw, *results) in texts.items():
        (tmp_path / name).write_bytes(raw)
        for engine, result in zip(("ray", "spark"), results, strict=True):
            output = tmp_path / f"{engine} {name}"
            if isinstance(result, type):
                with pytest.raises(result):
                    encode_files(tmp_path / name, output, english, engine=engine)
            else:
                encode_files(tmp_path / name, output, english, engine=engine)
                expected = [{"input_ids": english(text).input_ids} for text in result]
                assert multiset(rows_in(output)) == multiset(expected), (engine, name)
    (tmp_path / "a.csv").write_text("id,text\n1,the\n")
    (tmp_path / "b.csv").write_text("text,id\nof,2\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(TrietokError, match="header"):
        encode_files(paths, tmp_path / "other order", english, engine="spark")
    assert encode_files(paths, tmp_path / "by name", english, engine="ray").rows == 2
    (tmp_path / "a.jsonl").write_text('{"text": "a", "at": "2025-01-31"}\n')
    for engine, kind in (("ray", "timestamp"), ("spark", "string")):
        output = tmp_path / f"dates {engine}"
        encode_files(tmp_path / "a.jsonl", output, english, engine=engine, keep_columns=["at"])
        schema = pq.read_schema(next(output.glob("*.parquet")))
        assert str(schema.field("at").type).startswith(kind)


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_the_command_starts_an_engine(english, python_path, tmp_path, engine):
    needs({"ray": "ray.data", "spark": "pyspark"}[engine])
    arguments = [write(tmp_path / "a.parquet"), "-o", tmp_path / "ids", "--engine", engine]
    if engine == "spark":
        skip_without_java()
        arguments += ["--address", "local[1]"]
    command = [sys.executable, "-m", "trietok", "encode-files", "-m", "trietok-en", "--json"]
    process = subprocess.run(
        [*command, *map(str, arguments)],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["rows"] == len(rows_in(tmp_path / "ids")) == 7
