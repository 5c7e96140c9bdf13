"""Encode files on Ray Data or Spark, with their readers and writers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from trietok.batches.output_directory import OutputDirectory
from trietok.batches.tokenize_batch import TokenizeBatch
from trietok.errors import InputError, TrietokError, imported
from trietok.files.stores import is_url, path_in
from trietok.files.tables import import_pyarrow, open_parquet
from trietok.files.text_rows import TABLES, kind_of

ENGINES = ("ray", "spark")
# Lines that name an error, in the traces of Python and Java that engines put into messages.
_ERROR = re.compile(r"^(?:: )?[\w.$]+(?:Error|Exception): (.*)$", re.MULTILINE)
_JAVA_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.*)$", re.MULTILINE)


class _EncodeTexts:
    """A `TokenizeBatch` that refuses nulls."""

    def __init__(self, tokenize: TokenizeBatch) -> None:
        self._tokenize = tokenize

    def __call__(self, batch: Any) -> Any:
        column = self._tokenize.column
        if column in batch.schema.names and batch.column(column).null_count:
            raise InputError(
                f"{column!r} is null or missing in a row; remove such rows, or choose another"
                " column"
            )
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
        InputError: the files are not of one kind, or the output is not empty.
        MissingDependencyError: the engine is not installed.
        TrietokError: the engine failed, for example because a text is null.
    """
    if engine not in ENGINES:
        raise InputError(f"engine is {engine!r}; choose one of {list(ENGINES)}")
    kinds = {kind_of(path_in(path))[0] for path in paths}
    if len(kinds) != 1 or None in kinds:
        names = ", ".join(sorted(map(str, kinds)))
        raise InputError(f"an engine reads files of one kind, and these are: {names}")
    directory = OutputDirectory(output)
    if directory.names():
        raise InputError(f"{output} is not empty; choose another directory")
    inputs = [path if is_url(path) else os.path.abspath(path) for path in paths]
    where = output if is_url(output) else os.path.abspath(output)
    encode = _encode_on_ray if engine == "ray" else _encode_on_spark
    try:
        encode(address, str(*kinds), inputs, where, tokenize)
    except TrietokError:
        raise
    except Exception as error:
        message = f"{engine} could not encode the files: {_reason_of(error)}"
        message += f". Remove {output} before the next run"
        raise TrietokError(message) from error
    rows = 0
    for name in directory.names():
        if name.endswith(".parquet"):
            with open_parquet(directory.path_of(name)) as table:
                rows += table.metadata.num_rows
    return rows


def _reason_of(error: Exception) -> str:
    """Return the first error and the last cause that the message of an engine names."""
    message = str(error)
    first = _ERROR.findall(message) or message.splitlines() or [type(error).__name__]
    reasons = [first[0], *_JAVA_CAUSE.findall(message)[-1:]]
    return "; ".join(reason.strip(" .;") for reason in reasons)


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
        return data.read_parquet(paths, file_extensions=None).select_columns(tokenize.columns_read)
    if kind == "txt":  # read_text also ends lines at U+2028 and the like
        lines = partial(_lines_of_files, column=column)
        files = data.read_binary_files(paths)
        return files.map_batches(lines, batch_format="pyarrow", batch_size=1)
    if kind == "jsonl":
        schema = pyarrow.schema([(column, pyarrow.string())])  # a date is a text, too
        options = json.ParseOptions(explicit_schema=schema)
        return data.read_json(paths, parse_options=options, file_extensions=None)
    columns = tokenize.columns_read
    strings = csv.ConvertOptions(
        column_types=dict.fromkeys(columns, pyarrow.string()),
        include_columns=columns,
        strings_can_be_null=False,
    )
    options = csv.ParseOptions(delimiter=TABLES[kind], newlines_in_values=True)
    return data.read_csv(paths, parse_options=options, convert_options=strings)


def _lines_of_files(files: Any, column: str) -> Any:
    """Return the lines of a table of files as a table of texts."""
    pyarrow = import_pyarrow()
    contents = [content for content in files.column("bytes").to_pylist() if content]
    lines = [content.decode().removesuffix("\n").split("\n") for content in contents]
    return pyarrow.table({column: pyarrow.array(chain(*lines), pyarrow.string())})


# ---- Spark ---------------------------------------------------------------------------------------


def _encode_on_spark(
    address: str | None, kind: str, paths: list[str], output: str, tokenize: TokenizeBatch
) -> None:
    imported("pyspark", "spark")
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    for path in paths:
        if path.rpartition("/")[2].startswith(("_", ".")):
            raise InputError(f"Spark ignores {path}: its name begins with _ or a point; rename it")
    if address is None or address.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_running = SparkSession.getActiveSession() is not None
    builder = SparkSession.builder.appName("trietok encode-files")
    spark = (builder if address is None else builder.master(address)).getOrCreate()
    encode = _EncodeTexts(tokenize)
    try:
        frame = _read_with_spark(spark.read, kind, paths, tokenize.column)
        frame = frame.select(*tokenize.columns_read)
        schema = from_arrow_schema(tokenize.output_schema(to_arrow_schema(frame.schema)))
        encoded = frame.mapInArrow(lambda batches: map(encode, batches), schema)
        encoded.write.parquet(output, mode="append")  # the directory may exist
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
    frame = reader.csv(
        paths,
        sep=TABLES[kind],
        header=True,
        mode="FAILFAST",
        multiLine=True,
        escape='"',
        enforceSchema=False,  # else Spark ignores the headers of all files but the first
    )
    return frame.na.fill("")  # Spark reads an empty value as a null
