"""The same function on Ray Data, Spark and HuggingFace datasets, each started here: the ids of one
machine, in order.

`pytest -m engines`; each engine is skipped where it is not installed. The recipes are those of
`docs/corpora.md`.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import needs
from trietok import BertTokenizer, BertTokenizerFast, TokenizeBatch

pytestmark = pytest.mark.engines

ROOT = pathlib.Path(__file__).parents[2]
LATE_IS_NOT_DEAD = {  # of Ray's machines
    "RAY_health_check_timeout_ms": "60000",
    "RAY_health_check_failure_threshold": "10",
    "RAY_worker_register_timeout_seconds": "600",
}
OPTIONS = {
    "truncation": True,
    "max_length": 12,
    "return_special_tokens_mask": True,
    "return_length": True,
}


@pytest.fixture(scope="module")
def tokenizer():
    made = BertTokenizer.from_pretrained("trietok-en")
    made.add_tokens(["covid-19"])
    return made


@pytest.fixture(scope="module")
def tokenize(tokenizer):
    return TokenizeBatch(tokenizer, "text", **OPTIONS)


@pytest.fixture(scope="module")
def table():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").split("\n")
    texts = [*lines, "covid-19 and covid", "東京 é", "", None] * 20
    return pa.table({"id": range(len(texts)), "text": pa.array(texts, pa.string())})


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    half = len(table) // 2
    pq.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=300)
    pq.write_table(table.slice(half), folder / "b.parquet", row_group_size=300)
    return folder


@pytest.fixture(scope="module")
def expected(table, tokenizer, tokenize):
    """What calls give, text by text, on this machine; and what the function gives is that."""
    rows = table.to_pylist()
    for row in rows:
        encoding = {} if row["text"] is None else {**tokenizer(row["text"], **OPTIONS)}
        row.update({name: encoding.get(name) for name in tokenize.names})
    assert tokenize(table).to_pylist() == rows
    return rows


BY_BATCH = ["overflow_to_sample_mapping"]  # it counts in the batch, which the engine cuts


@pytest.fixture(scope="module")
def windows():
    """A function that gives several rows for a long text, as for answering questions."""
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    options = {
        "truncation": "only_second",
        "max_length": 20,
        "stride": 4,
        "return_overflowing_tokens": True,
    }
    return TokenizeBatch(tokenizer, "question", "text", keep_columns=["id"], **options)


@pytest.fixture(scope="module")
def expected_windows(table, windows):
    made = windows(table.append_column("question", pa.array(["what of covid?"] * len(table))))
    assert len(made) > len(table) + 100
    return made.drop_columns(BY_BATCH)


@pytest.fixture(scope="module")
def python_path():
    """What the engines' own processes find this package by."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [before])])
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


# ---- Ray Data ------------------------------------------------------------------------------------


def patiently(start):
    """What a function starts of Ray, which gives a machine 30 seconds for that; a busy one may need
    more, and gets it.
    """
    for _ in range(4):
        try:
            return start()
        except Exception as error:
            print(f"once more, after {error!r}")
    return start()


@pytest.fixture(scope="module")
def ray(python_path, tmp_path_factory):
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    for name, value in LATE_IS_NOT_DEAD.items():
        os.environ.setdefault(name, value)
    ray = needs("ray")
    needs("ray.data")
    options = {"num_cpus": 2, "object_store_memory": 100_000_000}
    patiently(lambda: ray.init(include_dashboard=False, log_to_driver=False, **options))
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def test_ray_data(ray, files, tokenize, expected):
    dataset = ray.data.read_parquet(str(files))
    ids = dataset.map_batches(
        tokenize, batch_format="pyarrow", batch_size=128, zero_copy_batch=True
    )
    found = pa.concat_tables([ray.get(block) for block in ids.to_arrow_refs()])
    assert found.sort_by("id").to_pylist() == expected
    assert found.schema.field("input_ids").type == pa.list_(pa.int32())


def test_windows_on_ray_data(ray, files, windows, expected_windows):
    dataset = ray.data.read_parquet(str(files)).add_column(
        "question", lambda batch: ["what of covid?"] * len(batch)
    )
    made = dataset.map_batches(windows, batch_format="pyarrow", batch_size=100)
    found = pa.concat_tables([ray.get(block) for block in made.to_arrow_refs()]).drop_columns(
        BY_BATCH
    )
    assert sorted(found.to_pylist(), key=str) == sorted(expected_windows.to_pylist(), key=str)
    assert found.schema.types == expected_windows.schema.types


# ---- Spark ---------------------------------------------------------------------------------------


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


def test_spark(spark, files, tokenize, expected):
    from pyspark.sql.pandas.types import from_arrow_schema

    frame = spark.read.parquet(str(files))
    schema = from_arrow_schema(tokenize.output_schema(pq.read_schema(files / "a.parquet")))
    ids = frame.mapInArrow(lambda batches: map(tokenize, batches), schema)
    found = [row.asDict() for row in ids.orderBy("id").collect()]
    assert found == expected


def test_windows_on_spark(spark, files, windows, expected_windows):
    from pyspark.sql.functions import lit
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    frame = spark.read.parquet(str(files)).withColumn("question", lit("what of covid?"))
    schema = from_arrow_schema(windows.output_schema(to_arrow_schema(frame.schema)))
    made = frame.mapInArrow(lambda batches: map(windows, batches), schema).drop(*BY_BATCH)
    found = [row.asDict() for row in made.collect()]
    assert sorted(found, key=str) == sorted(expected_windows.to_pylist(), key=str)


# ---- HuggingFace datasets ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def datasets(python_path, tmp_path_factory):
    os.environ["HF_DATASETS_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"
    datasets = needs("datasets")
    datasets.disable_progress_bars()
    return datasets


@pytest.fixture(scope="module")
def encoded(datasets, files, tokenize):
    paths = [str(files / "a.parquet"), str(files / "b.parquet")]
    dataset = datasets.load_dataset("parquet", data_files=paths, split="train")
    return (
        dataset.with_format("arrow")
        .map(tokenize, batched=True, batch_size=100, num_proc=2)
        .with_format(None)
    )


def test_datasets(encoded, expected):
    assert encoded.num_rows == len(expected)
    assert list(encoded) == expected


def test_windows_on_datasets(datasets, table, windows, expected_windows):
    dataset = datasets.Dataset(
        table.append_column("question", pa.array(["what of covid?"] * len(table)))
    )
    made = dataset.with_format("arrow").map(windows, batched=True, batch_size=100, num_proc=2)
    assert made.with_format(None).remove_columns(BY_BATCH).to_list() == expected_windows.to_pylist()


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_map_that_is_run_again_is_found_in_the_cache(datasets, files, kind, caplog):
    """As where a cell of a notebook is run again: the tokenizer is loaded once more, and used in
    between.
    """
    from datasets.fingerprint import Hasher

    files_made, hashes = [], []
    for _ in range(3):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=16)
        tokenizer.add_tokens(["covid-19"])
        if files_made:
            tokenizer("a text of so many words that a warning is logged, " * 9)
            tokenizer(["a", "covid-19"], padding=True)
        dataset = datasets.load_dataset(
            "parquet", data_files=str(files / "a.parquet"), split="train"
        )
        dataset = dataset.filter(lambda row: row["text"] is not None)
        made = [
            dataset.with_format("arrow").map(TokenizeBatch(tokenizer, "text"), batched=True),
            dataset.map(lambda batch, tokenizer=tokenizer: tokenizer(batch["text"]), batched=True),
            dataset.map(tokenizer, input_columns="text", batched=True),
        ]
        files_made.append([[file["filename"] for file in each.cache_files] for each in made])
        hashes.append([Hasher.hash(tokenizer), *(each._fingerprint for each in made)])
    assert files_made[0] == files_made[1] == files_made[2]
    assert hashes[0] == hashes[1] == hashes[2]


# ---- the recipes of the page ---------------------------------------------------------------------

PAGE = ROOT / "docs" / "corpora.md"


def recipes() -> dict[str, str]:
    """The code of each engine's section."""
    text = PAGE.read_text(encoding="utf-8").partition("## Engines")[2].partition("\n## ")[0]
    found = re.findall(r"^### (.*?)\n.*?^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return dict(found)


PACKAGES = {
    "Ray Data": "ray",
    "Spark": "pyspark",
    "HuggingFace datasets": "datasets",
}


@pytest.mark.parametrize("engine", PACKAGES)
def test_a_recipe(engine, python_path, files, table, tmp_path):
    needs(PACKAGES[engine])
    if engine == "Spark":
        skip_without_java()
    (tmp_path / "corpus").symlink_to(files)
    (tmp_path / "recipe.py").write_text(recipes()[engine], encoding="utf-8")
    env = {
        **os.environ,
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "recipe.py"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = pq.read_table(tmp_path / "ids").sort_by("id")
    made = TokenizeBatch(
        BertTokenizer.from_pretrained("trietok-en"), "text", truncation=True, max_length=512
    )(table)
    assert found.select(made.column_names).to_pylist() == made.to_pylist()


def in_line(name: str) -> str:
    """The expression with this name that the page prints within its text."""
    (found,) = re.findall(rf"`([^`]*\b{name}\b[^`]*\(.*?)`", PAGE.read_text(encoding="utf-8"))
    return found


def test_dask_as_the_page_says(tokenize, table):
    dask = needs("dask")
    task = eval(in_line(r"dask\.delayed"), {"dask": dask, "tokenize": tokenize, "table": table})
    (made,) = dask.compute(task, scheduler="processes", num_workers=2)
    assert made == tokenize(table)


def test_polars_as_the_page_says(tokenize, table):
    polars = needs("polars")
    names = {"polars": polars, "tokenize": tokenize, "frame": polars.from_arrow(table)}
    made = eval(in_line(r"polars\.from_arrow"), names)
    assert made.to_dict(as_series=False) == tokenize(table).to_pydict()
