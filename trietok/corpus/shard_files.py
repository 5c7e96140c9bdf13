"""The files of a shard: rows of ids as Parquet, or as a flat run of ids with an index of where each row starts.

In: rows of ids as int32 bytes. Out: files under temporary names, complete and flushed to the disk when they are closed.
The same rows in the same portions give the same bytes.

| format  | ids                                 | index                                    |
| ------- | ----------------------------------- | ---------------------------------------- |
| parquet | `input_ids`, list<int32>            | none                                     |
| npy     | `.npy`, int32, one dimension        | `.index.npy`, int64, one more than rows  |
| bin     | `.bin`, int32, little-endian        | `.index.bin`, int64, one more than rows  |
"""

from __future__ import annotations

import os
from array import array
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from trietok.corpus.arrow_columns import arrow_columns, column_types
from trietok.corpus.fast_rows import ID_BYTES, Rows
from trietok.corpus.row_encoder import IDS
from trietok.files.text_rows import import_pyarrow

FORMATS = ("parquet", "npy", "bin")
_MOST_IDS = 1 << 25  # of a row of a Parquet file, whose writer takes 16 bytes for each id of it
_GROUP_IDS = 1 << 20  # ids of a Parquet row group, about
_NPY_HEADER = 128  # bytes


class ParquetShard:
    """A Parquet file that grows row group by row group.

    Args:
        folder, stem: where its files go, and how their names begin.
        fingerprint: the tokenizer's, which is noted in the file.
    """

    most_ids: int | None = _MOST_IDS  # of a row

    def __init__(self, folder: Path, stem: str, fingerprint: str) -> None:
        pyarrow = import_pyarrow()
        self.paths = {".parquet": folder / f"{stem}.parquet"}
        types = column_types((IDS,))
        self._schema = pyarrow.schema([pyarrow.field(IDS, types[IDS])], {"trietok.fingerprint": fingerprint})
        self._file = open(self.paths[".parquet"], "wb")  # noqa: SIM115 - closed by close
        self._writer = import_pyarrow("pyarrow.parquet").ParquetWriter(
            self._file, self._schema, compression="zstd", use_dictionary=False, write_statistics=False
        )
        self._forget()

    def _forget(self) -> None:
        self._lengths = array("i")
        self._ids = bytearray()
        self._ended = 0  # bytes of them that are of rows with a length

    def write(self, lengths: array[int], ids: bytes | bytearray) -> None:
        """Append rows; the ids of a row may come before its length, in parts."""
        self._lengths += lengths
        self._ids += ids
        if lengths:
            self._ended = len(self._ids)
            if self._ended >= _GROUP_IDS * ID_BYTES:
                self._write_group()

    def drop_open_row(self) -> None:
        """Forget the ids of the row that has no length yet."""
        del self._ids[self._ended :]

    def _write_group(self) -> None:
        columns = arrow_columns(Rows(self._lengths, self._ids, {}), (IDS,))
        batch = import_pyarrow().RecordBatch.from_arrays(list(columns.values()), schema=self._schema)
        self._forget()
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write what is left, and have all of it on the disk."""
        if self._lengths:
            self._write_group()
        self._writer.close()
        _flush(self._file)


class FlatShard:
    """Ids in a run, and an index beside them. Closed, `.npy` files have their headers.

    Args:
        folder, stem: where its files go, and how their names begin.
        suffix: `".npy"` or `".bin"`.
    """

    most_ids: int | None = None  # of a row: any number

    def __init__(self, folder: Path, stem: str, suffix: str) -> None:
        self.paths = {suffix: folder / f"{stem}{suffix}", f".index{suffix}": folder / f"{stem}.index{suffix}"}
        self._with_header = suffix == ".npy"
        self._ids, self._index = (path.open("wb") for path in self.paths.values())
        self._total = self._rows = 0
        if self._with_header:
            for file in (self._ids, self._index):
                file.write(bytes(_NPY_HEADER))
        self._index.write(array("q", [0]).tobytes())

    def write(self, lengths: array[int], ids: bytes | bytearray) -> None:
        """Append rows; the ids of a row may come before its length, in parts."""
        self._ids.write(ids)
        ends = array("q", accumulate(lengths, initial=self._total))
        self._index.write(ends[1:].tobytes())
        self._total, self._rows = ends[-1], self._rows + len(lengths)

    def close(self) -> None:
        """Have all of it on the disk."""
        for file, kind, number in ((self._ids, "<i4", self._total), (self._index, "<i8", self._rows + 1)):
            if self._with_header:
                file.seek(0)
                file.write(npy_header(kind, number))
            _flush(file)


def npy_header(kind: str, number: int) -> bytes:
    """The first 128 bytes of a `.npy` file that holds `number` values in one dimension (format version 1.0)."""
    says = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({number},), }}"
    magic = b"\x93NUMPY\x01\x00" + (_NPY_HEADER - 10).to_bytes(2, "little")
    return magic + says.ljust(_NPY_HEADER - 11).encode("ascii") + b"\n"


def open_shard(folder: Path, stem: str, file_format: str, fingerprint: str) -> Any:
    """The files of a shard, in one of the `FORMATS`, to be written."""
    if file_format == "parquet":
        return ParquetShard(folder, stem, fingerprint)
    return FlatShard(folder, stem, f".{file_format}")


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()
