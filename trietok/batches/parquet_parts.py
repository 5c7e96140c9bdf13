"""Write tables of ids to Parquet files, each of about 256 MB, that say what they were made from."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trietok.batches.tokenize_batch import IDS, LENGTH, OFFSETS, SAMPLES
from trietok.disk import flush_file, naming
from trietok.errors import FileFormatError
from trietok.files.tables import import_pyarrow

RECORD_KEY = b"trietok.encode_files"
_FILE_BYTES = 256_000_000
_GROUP_BYTES = 32_000_000  # of a row group, in memory


class PartWriter:
    """Writes the tables of one unit of work to one file, or to several if they are large.

    A file also ends where a kept column gets a type that the file cannot hold: the values of JSON
    objects have whatever types occur.

    Args:
        folder: where the files are written.
        record: what the metadata of each file say, as JSON.
    """

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        self._folder, self._record = folder, record
        self._writer: Any = None
        self._file: Any = None
        self._tables: list[Any] = []  # of the next row group
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
        self._tables.append(import_pyarrow().Table.from_batches([batch]))
        self._bytes += batch.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._write_group()

    def close(self, skipped: int) -> None:
        """Write what is left, and wait until the last file is on the disk."""
        self._write_group()
        self._end_file(is_last=True, skipped=skipped)

    def _write_group(self) -> None:
        pyarrow, compute = import_pyarrow(), import_pyarrow("pyarrow.compute")
        table = self._unified(
            pyarrow.concat_tables, self._tables or [self._writer.schema.empty_table()]
        )
        self._tables, self._bytes = [], 0
        if self._writer is not None:
            schemas = [self._writer.schema, table.schema]
            is_full = self._file.tell() >= _FILE_BYTES
            if is_full or self._unified(pyarrow.unify_schemas, schemas) != self._writer.schema:
                self._end_file(is_last=False, skipped=0)
        if self._writer is None:
            self._begin_file(table.schema)
        lengths = compute.list_value_length(table.column(IDS))
        self._counts["tokens"] += compute.sum(lengths, min_count=0).as_py()
        longest = compute.max(lengths).as_py() or 0
        self._counts["longest"] = max(self._counts["longest"], longest)
        with naming(self.paths[-1]):
            self._writer.write_table(table.cast(self._writer.schema), max(len(table), 1))

    def _unified(self, unify: Any, values: list[Any]) -> Any:
        with self._naming_source():
            return unify(values, promote_options="permissive")

    @contextlib.contextmanager
    def _naming_source(self) -> Iterator[None]:
        try:
            yield
        except import_pyarrow().ArrowException as error:
            path = self._record["sources"][0][0]
            message = f"{path}: the values of a kept column do not fit Parquet: {error}"
            raise FileFormatError(message, path=path) from error

    def _begin_file(self, schema: Any) -> None:
        parquet = import_pyarrow("pyarrow.parquet")
        path = self._folder / f"{len(self.paths):05d}.parquet"
        self.paths.append(path)
        ids = {*self._record["columns"]} - {OFFSETS, LENGTH, SAMPLES}
        kept = [name for name in schema.names if name not in self._record["columns"]]
        self._file = open(path, "wb")  # noqa: SIM115 - closed by _end_file
        with self._naming_source():
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
