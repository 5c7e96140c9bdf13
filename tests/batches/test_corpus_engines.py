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
PAGE = ROOT / "docs" / "corpora.md"
QUESTION = "what of covid?"
BY_BATCH = ["overflow_to_sample_mapping"]  # it counts in the batch, which the engine cuts
SINGLE = {"return_special_tokens_mask": True, "return_length": True}
WINDOWS = {
    "truncation": "only_second",
    "max_length": 20,
    "stride": 4,
    "return_overflowing_tokens": True,
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
    """A function of a batch: with a row for each text, or several for a long one."""
    kind = BertTokenizer if request.param == "texts" else BertTokenizerFast
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["covid-19"])
    if request.param == "texts":
        return TokenizeBatch(tokenizer, "text", truncation=True, max_length=12, **SINGLE)
    return TokenizeBatch(tokenizer, "question", "text", keep_columns=["id"], **WINDOWS)


@pytest.fixture
def expected(table, tokenize):
    made = tokenize(table)
    assert len(made) > len(table) + 100 or "question" in made.column_names
    return ordered(made)


def ordered(made):
    """The rows of a table, in an order that does not depend on the engine's."""
    names = [name for name in made.column_names if name not in BY_BATCH]
    return sorted(made.select(names).to_pylist(), key=lambda row: (row["id"], str(row)))


@pytest.fixture(scope="module")
def python_path():
    """What the engines' own processes find this package by."""
    with pytest.MonkeyPatch.context() as patch:
        before = os.environ.get("PYTHONPATH")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [before])]))
        yield


@pytest.fixture(scope="module")
def ray(python_path):
    late_is_not_dead = {  # of Ray's machines
        "RAY_health_check_timeout_ms": "60000",
        "RAY_health_check_failure_threshold": "10",
        "RAY_worker_register_timeout_seconds": "600",
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    for name, value in late_is_not_dead.items():
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


def test_ray_data_gives_the_rows_of_one_machine(ray, files, tokenize, expected):
    dataset = ray.data.read_parquet(str(files))
    ids = dataset.map_batches(
        tokenize, batch_format="pyarrow", batch_size=128, zero_copy_batch=True
    )
    found = pa.concat_tables([ray.get(block) for block in ids.to_arrow_refs()])
    assert ordered(found) == expected
    assert found.schema.field("input_ids").type == pa.list_(pa.int32())


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


def test_spark_gives_the_rows_of_one_machine(spark, files, tokenize, expected):
    from pyspark.sql.pandas.types import from_arrow_schema

    frame = spark.read.parquet(str(files))
    schema = from_arrow_schema(tokenize.output_schema(pq.read_schema(files / "a.parquet")))
    ids = frame.mapInArrow(lambda batches: map(tokenize, batches), schema)
    assert ordered(pa.Table.from_pylist([row.asDict() for row in ids.collect()])) == expected


@pytest.fixture(scope="module")
def datasets(python_path, tmp_path_factory):
    os.environ["HF_DATASETS_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"
    datasets = needs("datasets")
    datasets.disable_progress_bars()
    return datasets


def test_datasets_give_the_rows_of_one_machine(datasets, files, tokenize, expected):
    paths = [str(files / "a.parquet"), str(files / "b.parquet")]
    dataset = datasets.load_dataset("parquet", data_files=paths, split="train")
    made = dataset.with_format("arrow").map(tokenize, batched=True, batch_size=100, num_proc=2)
    assert ordered(made.with_format("arrow")[:]) == expected


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_map_that_is_run_again_is_found_in_the_cache_of_datasets(datasets, files, kind):
    """As where a cell of a notebook is run again: the tokenizer is loaded once more, and used in
    between.
    """
    from datasets.fingerprint import Hasher

    made_files, hashes = [], []
    for _ in range(3):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=16)
        tokenizer.add_tokens(["covid-19"])
        if made_files:
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
        made_files.append([[file["filename"] for file in each.cache_files] for each in made])
        hashes.append(Hasher.hash(tokenizer))
    assert made_files[0] == made_files[1] == made_files[2]
    assert hashes[0] == hashes[1] == hashes[2]


# ---- the recipes of the page ---------------------------------------------------------------------

PACKAGES = {"Ray Data": "ray", "Spark": "pyspark", "HuggingFace datasets": "datasets"}


@pytest.mark.parametrize("engine", PACKAGES)
def test_the_recipe_of_the_page_gives_the_ids(engine, python_path, files, table, tmp_path):
    needs(PACKAGES[engine])
    if engine == "Spark":
        skip_without_java()
    text = PAGE.read_text(encoding="utf-8").partition("## Engines")[2].partition("\n## ")[0]
    recipes = re.findall(r"^### (.*?)\n.*?^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "corpus").symlink_to(files)
    (tmp_path / "recipe.py").write_text(dict(recipes)[engine], encoding="utf-8")
    env = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = pq.read_table(tmp_path / "ids").sort_by("id")
    made = TokenizeBatch(
        BertTokenizer.from_pretrained("trietok-en"), "text", truncation=True, max_length=512
    )(table)
    assert found.select(made.column_names).to_pylist() == made.to_pylist()
