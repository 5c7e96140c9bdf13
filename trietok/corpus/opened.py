"""A corpus of ids to be read: the directory that `encode_files` has filled.

In: the directory. Out: its rows by number, a dataset for torch, one for Arrow. Shards are opened when a row of theirs
is asked for. Flat ones are mapped into memory, not read; of those in Parquet the row groups used last are kept.
"""

from __future__ import annotations

import json
import mmap
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, overload

from trietok.errors import FileError, FileFormatError, MissingDependencyError
from trietok.files.text_rows import import_pyarrow

_MANIFEST = "manifest.json"
_HEADERS = {"npy": 128, "bin": 0}  # bytes
_OPEN_SHARDS, _ROW_GROUPS = 64, 4


def open_corpus(directory: str | os.PathLike[str]) -> Corpus:
    """A corpus that `encode_files` has finished.

    Args:
        directory: as it was given to `encode_files`.

    Raises:
        FileError: there is no finished corpus, or a file of it is missing.
        FileFormatError: a file of it has another size than the manifest says.

    >>> import pathlib, tempfile, trietok
    >>> from trietok.corpus import open_corpus
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("The people\\nof the United States\\n")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> _ = trietok.encode_files(folder / "a.txt", folder / "ids", tokenizer, workers=1)
    >>> corpus = open_corpus(folder / "ids")
    >>> len(corpus), corpus[0], corpus[-1]
    (2, [2, 134, 289, 3], [2, 142, 134, 509, 444, 3])
    """
    return Corpus(directory)


class Corpus(Sequence[list[int]]):
    """The rows of a corpus, in the order of its files. It pickles as the name of its directory.

    Args:
        directory: of a finished corpus; see `open_corpus`.

    Attributes:
        manifest: what is in `manifest.json`.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self.manifest = _manifest_in(self._directory)
        self._shards = [shard for shard in self.manifest["shards"] if shard["rows"]]
        self._ends = list(accumulate(shard["rows"] for shard in self._shards))
        self._opened = lru_cache(_OPEN_SHARDS)(self._open)

    def __reduce__(self) -> tuple[Any, ...]:
        return open_corpus, (str(self._directory.absolute()),)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, number: int) -> list[int]: ...
    @overload
    def __getitem__(self, number: slice) -> list[list[int]]: ...
    def __getitem__(self, number: int | slice) -> list[int] | list[list[int]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        return self.ids(number).tolist()

    def __iter__(self) -> Iterator[list[int]]:
        return map(self.__getitem__, range(len(self)))

    def ids(self, number: int) -> memoryview[int]:
        """The ids of a row, int32, where they are.

        Raises:
            IndexError: there is no such row.
        """
        shard, row = self._place(number)
        return self._opened(shard).ids(row)

    def file_of(self, number: int) -> str:
        """The name of the file that a row is from.

        Raises:
            IndexError: there is no such row.
        """
        name: str = self._shards[self._place(number)[0]]["input"]
        return name

    def _place(self, number: int) -> tuple[int, int]:
        """The shard of a row, and its number there."""
        at = number + len(self) if number < 0 else number
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {number}; the corpus has {len(self):,}")
        shard = bisect_right(self._ends, at)
        return shard, at - (self._ends[shard - 1] if shard else 0)

    def _open(self, number: int) -> _Shard:
        paths = [self._directory / file["name"] for file in self._shards[number]["files"]]
        file_format = self.manifest["options"]["file_format"]
        return _Parquet(paths[0]) if file_format == "parquet" else _Flat(paths[0], paths[1], _HEADERS[file_format])

    def torch_dataset(self) -> Any:
        """A `torch.utils.data.Dataset`: each row as `{"input_ids": tensor}`, int64, for a collator that pads.

        Raises:
            MissingDependencyError: torch is not installed.
        """
        try:
            from torch.utils.data import Dataset
        except ImportError as error:
            raise MissingDependencyError(
                f"torch is needed for this and cannot be imported ({error}): pip install torch", extra="torch"
            ) from error
        corpus = self

        class Rows(Dataset):  # type: ignore[type-arg]
            def __len__(self) -> int:
                return len(corpus)

            def __getitem__(self, number: int) -> dict[str, Any]:
                return _tensors(corpus, number)

            def __reduce__(self) -> tuple[Any, ...]:
                return Corpus.torch_dataset, (corpus,)

        return Rows()

    def arrow_dataset(self) -> Any:
        """A `pyarrow.dataset.Dataset` with the column `input_ids`, in the order of the rows.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        pyarrow, dataset = import_pyarrow(), import_pyarrow("pyarrow.dataset")
        if self.manifest["options"]["file_format"] == "parquet":
            schema = pyarrow.schema([("input_ids", pyarrow.list_(pyarrow.int32()))])
            return dataset.dataset([str(path) for path in self._paths()], schema=schema, format="parquet")
        schema = pyarrow.schema([("input_ids", pyarrow.large_list(pyarrow.int32()))])
        arrays = [self._open(number).array() for number in range(len(self._shards))]
        batches = [pyarrow.record_batch([array], schema=schema) for array in arrays]
        return dataset.dataset(pyarrow.Table.from_batches(batches, schema))

    def _paths(self) -> Iterator[Path]:
        for shard in self._shards:
            yield self._directory / shard["files"][0]["name"]


def _tensors(corpus: Corpus, number: int) -> dict[str, Any]:
    import torch

    ids = corpus.ids(number)
    return {"input_ids": torch.frombuffer(bytearray(ids), dtype=torch.int32).long() if ids else torch.zeros(0).long()}


class _Shard(Protocol):
    def ids(self, row: int) -> memoryview[int]: ...

    def array(self) -> Any: ...


class _Flat:
    """A run of ids, and where each row starts in it."""

    def __init__(self, path: Path, index: Path, header: int) -> None:
        self._ids = _mapped(path, header).cast("i")
        self._starts = _mapped(index, header).cast("q")

    def ids(self, row: int) -> memoryview[int]:
        return self._ids[self._starts[row] : self._starts[row + 1]]

    def array(self) -> Any:
        pa = import_pyarrow()
        values = pa.Array.from_buffers(pa.int32(), len(self._ids), [None, pa.py_buffer(self._ids)])
        kind, rows = pa.large_list(pa.int32()), len(self._starts) - 1
        return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(self._starts)], children=[values])


def _mapped(path: Path, header: int) -> memoryview[int]:
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[header:]


class _Parquet:
    """A Parquet file, of which the row groups used last are held."""

    def __init__(self, path: Path) -> None:
        self._file = import_pyarrow("pyarrow.parquet").ParquetFile(path)
        metadata = self._file.metadata
        self._ends = list(accumulate(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)))
        self._group = lru_cache(_ROW_GROUPS)(self._read)

    def _read(self, group: int) -> Any:
        return self._file.read_row_group(group, columns=["input_ids"]).column(0).combine_chunks()

    def ids(self, row: int) -> memoryview[int]:
        group = bisect_right(self._ends, row)
        lists = self._group(group)
        lists = lists.chunk(0) if hasattr(lists, "num_chunks") else lists
        values = lists[row - (self._ends[group - 1] if group else 0)].values
        data = values.buffers()[1]
        if data is None:
            return memoryview(b"").cast("i")
        return memoryview(data).cast("B").cast("i")[values.offset : values.offset + len(values)]

    def array(self) -> Any:
        return self._file.read(columns=["input_ids"]).column(0)


def _manifest_in(directory: Path) -> dict[str, Any]:
    path = directory / _MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        files = [file for shard in manifest["shards"] for file in shard["files"]]
        sizes = [(directory / file["name"], file["bytes"]) for file in files]
    except OSError as error:
        raise FileError(
            f"{directory} holds no finished corpus: cannot read {path.name}: {error.strerror}; encode-files makes one",
            path=path,
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is damaged, or of something else: {error!r}", path=path) from error
    for file, size in sizes:
        try:
            is_whole = file.stat().st_size == size
        except OSError as error:
            raise FileError(
                f"cannot read {file}: {error.strerror}; encode-files --resume makes it", path=file
            ) from error
        if not is_whole:
            raise FileFormatError(
                f"{file} is not of the size that the manifest says; encode-files --resume makes it again", path=file
            )
    return manifest
