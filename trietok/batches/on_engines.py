"""Encode files on Ray Data or Spark, with their readers and writers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from trietok.batches.output_directory import OutputDirectory
from trietok.batches.tokenize_batch import TokenizeBatch
from trietok.errors import InputError, imported
from trietok.files.stores import is_url, path_in
from trietok.files.tables import import_pyarrow, open_parquet
from trietok.files.text_rows import TABLES, kind_of

ENGINES = ("ray", "spark")
# Spark takes this value of a .csv file for a null, and would take an empty text.
_SPARK_NULL = "\ufffe"


class _EncodeTexts:
    """A `TokenizeBatch` that refuses nulls."""

    def __init__(self, tokenize: TokenizeBatch) -> None:
        self._tokenize = tokenize

    def __call__(self, batch: Any) -> Any:
        column = self._tokenize.column
        if column in batch.schema.names and batch.column(column).null_count:
            raise InputError(f"{column!r} has a null or a row that is no text; remove such rows")
        return self._tokenize(batch)


def encode_on_engine(
    engine: str,
    address: str | None,
    paths: Sequence[str],
    output: str,
    tokenize: TokenizeBatch,
) -> int:
    """Encode files of one kind, and return the number of rows.

    Args:
        engine: `"ray"` or `"spark"`.
        address: where it runs; None starts it on this machine.
        paths: the files.
        output: a directory, or a URL of one, that does not exist or is empty.
        tokenize: encodes the batches.

    Raises:
        InputError: the files are not of one kind, the output is not empty, or a text is null.
        MissingDependencyError: the engine is not installed.
    """
    if engine not in ENGINES:
        raise InputError(f"engine is {engine!r}; choose one of {list(ENGINES)}")
    kinds = {kind_of(path_in(path))[0] for path in paths}
    if len(kinds) != 1 or None in kinds:
        found = ", ".join(sorted(map(str, kinds)))
        raise InputError(f"an engine reads files of one kind, and these are: {found}")
    directory = OutputDirectory(output)
    if directory.names():
        raise InputError(f"{output} is not empty; choose another directory")
    names = [path if is_url(path) else os.path.abspath(path) for path in paths]
    where = output if is_url(output) else os.path.abspath(output)
    encode = _encode_on_ray if engine == "ray" else _encode_on_spark
    encode(address, str(*kinds), names, where, tokenize)
    rows = 0
    for name in directory.names():
        if name.endswith(".parquet"):
            with open_parquet(directory.path_of(name)) as table:
                rows += table.metadata.num_rows
    return rows


def _columns(tokenize: TokenizeBatch) -> list[str]:
    return list(dict.fromkeys([tokenize.column, *(tokenize.keep_columns or ())]))


# ---- Ray Data ------------------------------------------------------------------------------------


def _encode_on_ray(
    address: str | None, kind: str, paths: list[str], output: str, tokenize: TokenizeBatch
) -> None:
    imported("ray.data", "ray")
    import ray

    is_running = ray.is_initialized()
    if not is_running:
        ray.init(address=address, log_to_driver=False)
    try:
        dataset = _read_with_ray(ray.data, kind, paths, tokenize)
        encoded = dataset.map_batches(
            _EncodeTexts(tokenize), batch_format="pyarrow", zero_copy_batch=True
        )
        encoded.write_parquet(output)
    finally:
        if not is_running:
            ray.shutdown()


def _read_with_ray(data: Any, kind: str, paths: list[str], tokenize: TokenizeBatch) -> Any:
    pyarrow, csv = import_pyarrow(), import_pyarrow("pyarrow.csv")
    json = import_pyarrow("pyarrow.json")
    column = tokenize.column
    if kind == "parquet":
        return data.read_parquet(paths, columns=_columns(tokenize))
    if kind == "txt":
        dataset = data.read_text(paths)
        return dataset if column == "text" else dataset.rename_columns({"text": column})
    if kind == "jsonl":
        schema = pyarrow.schema([(column, pyarrow.string())])  # a date is a text, too
        return data.read_json(paths, parse_options=json.ParseOptions(explicit_schema=schema))
    strings = dict.fromkeys(_columns(tokenize), pyarrow.string())
    return data.read_csv(
        paths,
        parse_options=csv.ParseOptions(delimiter=TABLES[kind], newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=strings, strings_can_be_null=False),
    )


# ---- Spark ---------------------------------------------------------------------------------------


def _encode_on_spark(
    address: str | None, kind: str, paths: list[str], output: str, tokenize: TokenizeBatch
) -> None:
    imported("pyspark", "spark")
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    if address is None or address.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_running = SparkSession.getActiveSession() is not None
    builder = SparkSession.builder.appName("trietok encode-files")
    spark = (builder if address is None else builder.master(address)).getOrCreate()
    encode = _EncodeTexts(tokenize)
    try:
        frame = _read_with_spark(spark.read, kind, paths, tokenize.column)
        frame = frame.select(*_columns(tokenize))
        schema = from_arrow_schema(tokenize.output_schema(to_arrow_schema(frame.schema)))
        encoded = frame.mapInArrow(lambda batches: map(encode, batches), schema)
        encoded.write.parquet(output)
    finally:
        if not is_running:
            spark.stop()


def _read_with_spark(reader: Any, kind: str, paths: list[str], column: str) -> Any:
    if kind == "parquet":
        return reader.parquet(*paths)
    if kind == "txt":
        return reader.text(paths, lineSep="\n").withColumnRenamed("value", column)
    if kind == "jsonl":
        return reader.json(paths, mode="FAILFAST", lineSep="\n")
    return reader.csv(
        paths,
        sep=TABLES[kind],
        header=True,
        mode="FAILFAST",
        multiLine=True,
        escape='"',
        nullValue=_SPARK_NULL,
    )
