"""Write tables of ids to Parquet files, each of about 256 MB, that say what they were made from."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from trietok.batches.tokenize_batch import IDS, LENGTH, OFFSETS, SAMPLES
from trietok.disk import flush_file, naming
from trietok.files.tables import import_pyarrow

RECORD_KEY = b"trietok.encode_files"
_FILE_BYTES = 256_000_000
_GROUP_BYTES = 32_000_000  # of a row group, in memory


class PartWriter:
    """Writes the tables of one unit of work to one file, or to several if they are large.

    A new file also begins if a kept column gets a type that the last file cannot hold: values of
    JSON objects may have several types.

    Args:
        folder: where the files are written.
        record: what the metadata of each file say, as JSON.

    Attributes:
        paths: the files.
    """

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        self._folder, self._record = folder, record
        self._writer: Any = None
        self._file: Any = None
        self._batches: list[Any] = []  # of the next row group
        self._schema: Any = None  # of the next row group
        self._bytes = 0
        self.paths: list[Path] = []
        self._counts = {"tokens": 0, "longest": 0}

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:  # after an error, which counts
            with contextlib.suppress(OSError):
                self._writer.close()
            self._file.close()

    def write(self, batch: Any) -> None:
        """Append a RecordBatch of ids."""
        schema = batch.schema
        if self._batches:
            schema = _unified(self._schema, schema)
            if schema is None or self._bytes >= _GROUP_BYTES:
                self._write_group()
                schema = batch.schema
        self._schema = schema
        self._batches.append(batch)
        self._bytes += batch.nbytes

    def close(self, skipped: int) -> None:
        """Write what is left, and wait until the last file is on the disk."""
        self._write_group()
        self._end_file(is_last=True, skipped=skipped)

    def _write_group(self) -> None:
        pyarrow, compute = import_pyarrow(), import_pyarrow("pyarrow.compute")
        tables = [pyarrow.Table.from_batches([batch]) for batch in self._batches]
        table = pyarrow.concat_tables(tables, promote_options="permissive")
        self._batches, self._bytes = [], 0
        if self._writer is not None:
            is_full = self._file.tell() >= _FILE_BYTES
            fitting = None if is_full else _cast(table, self._writer.schema)
            if fitting is None:
                self._end_file(is_last=False, skipped=0)
            else:
                table = fitting
        if self._writer is None:
            self._begin_file(table.schema)
        lengths = compute.list_value_length(table.column(IDS))
        self._counts["tokens"] += compute.sum(lengths, min_count=0).as_py()
        longest = compute.max(lengths).as_py() or 0
        self._counts["longest"] = max(self._counts["longest"], longest)
        with naming(self.paths[-1]):
            self._writer.write_table(table, max(len(table), 1))

    def _begin_file(self, schema: Any) -> None:
        parquet = import_pyarrow("pyarrow.parquet")
        path = self._folder / f"{len(self.paths):05d}.parquet"
        self.paths.append(path)
        ids = {*self._record["columns"]} - {OFFSETS, LENGTH, SAMPLES}
        kept = [name for name in schema.names if name not in self._record["columns"]]
        self._file = open(path, "wb")  # noqa: SIM115 - closed by _end_file
        self._writer = parquet.ParquetWriter(
            self._file,
            schema,
            # The differences of ids are half as long as ids, and written faster than zstd.
            column_encoding={f"{name}.list.element": "DELTA_BINARY_PACKED" for name in ids},
            use_dictionary=kept or False,
            compression="zstd" if kept else "none",
            write_statistics=False,
            write_page_checksum=True,
        )

    def _end_file(self, *, is_last: bool, skipped: int) -> None:
        place = {"part": len(self.paths) - 1, "is_last": is_last, "skipped": skipped}
        record = {**self._record, **place, **self._counts}
        self._counts = dict.fromkeys(self._counts, 0)
        with naming(self.paths[-1]):
            self._writer.add_key_value_metadata({RECORD_KEY: json.dumps(record)})
            self._writer.close()
            flush_file(self._file)
            self._file.close()
        self._writer = None


def _unified(schema: Any, other: Any) -> Any:
    """Return a schema that holds the rows of two; None if there is none."""
    pyarrow = import_pyarrow()
    if schema == other:
        return schema
    try:
        return pyarrow.unify_schemas([schema, other], promote_options="permissive")
    except pyarrow.ArrowException:
        return None


def _cast(table: Any, schema: Any) -> Any:
    """Return a table with the types of a schema; None if they do not hold all its values."""
    pyarrow = import_pyarrow()
    if _unified(schema, table.schema) != schema:
        return None
    try:
        return table.cast(schema)
    except pyarrow.ArrowException:
        return None
