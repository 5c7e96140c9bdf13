"""A corpus of ids to be read: the directory that `encode_files` has filled.

In: the directory. Out: its rows by number, or in an order for training, where each is from, a dataset for torch, one
for Arrow. Shards are opened when a row of theirs is asked for: flat files are mapped into memory, not read; of Parquet
files the row groups used last are held, within a number of bytes. Where a row is from is not stored for it: the
manifest says how many texts of which file a shard has, in their order, and the rows that were skipped are listed.
"""

from __future__ import annotations

import operator
import os
import random
import tempfile
import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple, overload

from trietok.corpus.row_encoder import COLUMNS, ID_BYTES, IDS
from trietok.corpus.run_directory import FORMATS_READ, MANIFEST, REJECTS, read_manifest, rejected_rows, with_parts
from trietok.corpus.shard_files import GROUP_BYTES, KEPT, NPY_HEADER, beside, joined
from trietok.corpus.shard_plan import check_rows, damage_told
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    as_file_error,
    imported,
    told_as,
    whole_number,
)
from trietok.files.elsewhere import Place, is_elsewhere, local_path, open_bytes, status
from trietok.files.texts import import_pyarrow, open_parquet
from trietok.text.changes import cached_property

_HELD_BYTES = 1 << 26  # of row groups of Parquet files, in a corpus
_MIXED_BYTES = _HELD_BYTES // 2  # of the rows that are mixed in an order for training: they are held meanwhile
_OPEN_SHARDS = 64
_MIXED_SHARDS = _OPEN_SHARDS // 4
_MADE_AGAIN = "; encode-files --resume --verify makes it again"


class RowSource(NamedTuple):
    """A row of a file."""

    file: str  # its name, as the manifest has it
    row: int  # counted from 1; for lines, the number of the line


class _Held:
    """The columns of row groups that were used last, within `_HELD_BYTES`."""

    def __init__(self) -> None:
        self._columns: dict[tuple[str, str, int], tuple[Any, int]] = {}  # with the bytes of each
        self._bytes = 0
        self._lock = threading.Lock()

    def column(self, path: str, name: str, group: int, read: Callable[[str, int], tuple[Any, int]]) -> Any:
        """A column of a row group; it is read where it is not held."""
        key = path, name, group
        with self._lock:
            if key in self._columns:
                self._columns[key] = found = self._columns.pop(key)
                return found[0]
        found = read(name, group)
        with self._lock:
            if key not in self._columns:  # nor has another thread read it meanwhile
                self._columns[key] = found
                self._bytes += found[1]
            while self._bytes > _HELD_BYTES and len(self._columns) > 1:
                self._bytes -= self._columns.pop(next(iter(self._columns)))[1]
        return found[0]


class _Flat:
    """A run of ids, and where each row starts in it; masks and type ids in runs that start in the same places."""

    def __init__(self, paths: Sequence[str], suffix: str, lists: Sequence[str], held: _Held) -> None:
        ids, index, *others = paths
        header = NPY_HEADER if suffix == ".npy" else 0
        self._starts = _mapped(index, header).cast("q")
        self._runs = {IDS: _mapped(ids, header).cast("i")}
        self._kept: _Parquet | None = None
        for path in others:
            name = path.removesuffix(suffix).rpartition(".")[2]
            if path.endswith(KEPT):
                self._kept = _Parquet(path, held)
            elif name in lists:
                self._runs[name] = _mapped(path, header).cast("b")

    def run(self, name: str, row: int) -> memoryview[int]:
        """The ids of a row, int32; or its mask or type ids, int8."""
        return self._runs[name][self._starts[row] : self._starts[row + 1]]

    def kept(self, name: str, row: int) -> Any:
        assert self._kept is not None
        return self._kept.kept(name, row)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Where runs of rows end that are as long as a row group, and the bytes of each."""
        rows = len(self._starts) - 1
        step = max(1, rows * GROUP_BYTES // max(self._runs[IDS].nbytes, 1))
        return ((min(start + step, rows), GROUP_BYTES) for start in range(0, rows, step))

    def table(self) -> Any:
        pa = import_pyarrow()
        columns = {}
        for name, run in self._runs.items():
            kind = pa.int32() if name == IDS else pa.int8()
            values = pa.Array.from_buffers(kind, len(run), [None, pa.py_buffer(run)])
            starts = [None, pa.py_buffer(self._starts)]
            columns[name] = pa.Array.from_buffers(pa.large_list(kind), len(self._starts) - 1, starts, children=[values])
        return pa.table(columns) if self._kept is None else beside(pa.table(columns), self._kept.table())


def _mapped(path: str, header: int) -> memoryview[int]:
    if is_elsewhere(path):
        with as_file_error(f"cannot read {path}", path), open_bytes(path) as remote:
            return memoryview(remote.read())[header:]
    if not os.path.getsize(path):
        return memoryview(b"")
    with import_pyarrow().memory_map(path) as file:  # unlike Python's own, it keeps no file open
        return memoryview(file.read_buffer())[header:]


def _read(file: Any, path: str, groups: Sequence[int], names: Sequence[str] | None = None) -> Any:
    """Columns of row groups of a Parquet file; an error where the damaged header of a page has cut them short."""
    compute = import_pyarrow("pyarrow.compute")
    with damage_told(path, _MADE_AGAIN):
        table = file.read_row_groups(groups, columns=names, use_threads=len(groups) > 1)
        metadata = [file.metadata.row_group(group) for group in groups]
        check_rows(len(table), sum(group.num_rows for group in metadata))
        chunks = [group.column(number) for group in metadata for number in range(group.num_columns)]
        for name, column in zip(table.column_names, table.columns, strict=True):
            items = [chunk.num_values for chunk in chunks if chunk.path_in_schema.startswith(f"{name}.list.")]
            if items and not import_pyarrow().types.is_nested(column.type.value_type):  # it is of lists of numbers
                lengths = compute.list_value_length(column).to_pylist()
                # A list without items counts as one, as in the file.
                read = sum(filter(None, lengths)) + lengths.count(0) + lengths.count(None)
                if read != sum(items):
                    raise OSError(f"its lists have {sum(items):,} items there, and {read:,} could be read")
    return table


class _Parquet:
    """A Parquet file, of which the row groups used last are held."""

    def __init__(self, path: str, held: _Held) -> None:
        self.path = path
        self._file = open_parquet(path)
        self._held = held
        metadata = self._file.metadata
        self.schema = self._file.schema_arrow.remove_metadata()
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self._ends = list(accumulate(group.num_rows for group in groups))
        self._sizes = [group.total_byte_size for group in groups]

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Where each row group ends, and how many bytes it has."""
        return zip(self._ends, self._sizes, strict=True)

    def _column(self, name: str, row: int) -> tuple[Any, int]:
        """A column of the row group that a row is in, and the number of the row there."""
        group = bisect_right(self._ends, row)
        column = self._held.column(self.path, name, group, self._read_group)
        return column, row - (self._ends[group - 1] if group else 0)

    def _read_group(self, name: str, group: int) -> tuple[Any, int]:
        """A column and its bytes; of lists of numbers, where each starts, and all numbers."""
        column = _read(self._file, self.path, [group], [name]).column(0).combine_chunks()
        column = column.chunk(0) if hasattr(column, "num_chunks") else column
        if name not in COLUMNS:
            return column, column.nbytes
        starts, numbers = _numbers(column.offsets, "i"), _numbers(column.values, "i" if name == IDS else "b")
        return (starts, numbers), starts.nbytes + numbers.nbytes

    def run(self, name: str, row: int) -> memoryview[int]:
        (starts, numbers), at = self._column(name, row)
        return numbers[starts[at] : starts[at + 1]]  # type: ignore[no-any-return]

    def kept(self, name: str, row: int) -> Any:
        column, at = self._column(name, row)
        return column[at].as_py()

    def table(self) -> Any:
        return _read(self._file, self.path, range(self._file.metadata.num_row_groups))


def _numbers(values: Any, kind: str) -> memoryview[int]:
    """The numbers of an Arrow array without nulls, where they are."""
    data: Any = memoryview(values.buffers()[1] or b"")
    numbers: memoryview[int] = data.cast("B").cast(kind)
    return numbers[values.offset : values.offset + len(values)]


def open_corpus(directory: str | os.PathLike[str]) -> Corpus:
    """A corpus that `encode_files` has finished.

    Args:
        directory: as it was given to `encode_files`; also a place in a store, such as `s3://bucket/ids`.

    Raises:
        FileError: there is no finished corpus, or a file of it is missing.
        FileFormatError: it was made by another version of trietok, or a file of it has another size than the manifest
            says, or the manifest is damaged.

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
        manifest: what is in `manifest.json`, with its `shards` and `inputs`; see `encode_files`.
        column_names: what a row has: `input_ids`, masks and type ids if they were asked for, and what was kept.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        here = local_path(os.fspath(directory))
        self._directory = os.fspath(directory).rstrip("/") if here is None else str(Path(here))
        self.manifest = _manifest_of(self._directory)
        options = self.manifest["options"]
        self._lists = (IDS, *options.get("columns", ()))
        self.column_names: tuple[str, ...] = (*self._lists, *options.get("keep", ()))
        self._numbers = [number for number, shard in enumerate(self.manifest["shards"]) if shard["rows"]]
        rows = (self.manifest["shards"][number]["rows"] for number in self._numbers)
        self._starts: list[int] = list(accumulate(rows, initial=0))  # and the end of the last
        # Not a method of this object: in a circle of references it would keep its files open.
        self._open = partial(_open, self._directory, self.manifest, self._lists, self._numbers, _Held())
        self._opened = lru_cache(_OPEN_SHARDS)(self._open)

    def __reduce__(self) -> tuple[Any, ...]:
        directory = self._directory
        return open_corpus, (directory if is_elsewhere(directory) else os.path.abspath(directory),)

    def __len__(self) -> int:
        return self._starts[-1]

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
        return self._opened(shard).run(IDS, row)

    def row(self, number: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """A row with other columns than its ids, too: lists of numbers, and the values that were kept.

        Args:
            number: of the row.
            columns: their names; None for all.

        Raises:
            IndexError: there is no such row.
            InputError: there is no such column.
        """
        return dict(self._columns(number, self._checked_names(columns), memoryview.tolist))

    def _columns(
        self, number: int, names: Sequence[str], made_of: Callable[[memoryview[int]], Any]
    ) -> Iterator[tuple[str, Any]]:
        """The columns of a row by name: what is made of a run of numbers, and what was kept."""
        shard, row = self._place(number)
        opened = self._opened(shard)
        for name in names:
            yield name, made_of(opened.run(name, row)) if name in self._lists else opened.kept(name, row)

    def source(self, number: int) -> RowSource:
        """The file and the row of it, counted from 1, that a row has its text from. Rows that were skipped count.

        Raises:
            IndexError: there is no such row.
            InputError: the corpus is packed.
        """
        place, row = self._place(number)
        if self.manifest["options"]["pack"] is not None:
            raise InputError("a row of packed ids has parts of several texts; encode without pack to know its source")
        row += self._starts[place]
        found = bisect_right(self._sources, row, key=operator.itemgetter(1))
        source, texts, before = self._sources[found]
        text = row - (texts - source["texts"])
        if source["rejected"]:
            text += bisect_right(self._kept_before[found], text)
        return RowSource(source["name"], before + text + 1)

    @cached_property
    def _sources(self) -> list[tuple[dict[str, Any], int, int]]:
        """What shards have rows of: files, and parts of files, in their order, which follow one another.

        With each, how many texts there are until its end, and how many rows of its file come before it.
        """
        found: list[tuple[dict[str, Any], int, int]] = []
        name, texts, rows = None, 0, 0
        for source in (source for shard in self.manifest["shards"] for source in shard["sources"]):
            rows, name = rows if source["name"] == name else 0, source["name"]
            texts += source["texts"]
            found.append((source, texts, rows))
            rows += source["texts"] + source["rejected"]
        return found

    @cached_property
    def _kept_before(self) -> list[list[int]]:
        """For each row that was skipped, source by source, how many rows of the source before it were not."""
        path = f"{self._directory}/{REJECTS}"
        with as_file_error(f"cannot read {path}", path), open_bytes(path) as file:
            lines = file.read().splitlines()
        try:
            rows = rejected_rows(lines)
        except ValueError as error:
            raise FileFormatError(f"{path} is damaged: {error}; --resume makes it again", path=path) from error
        if len(rows) != sum(source["rejected"] for source, _, _ in self._sources):
            told = f"{path} does not list the rows that the manifest counts; --resume makes it again"
            raise FileFormatError(told, path=path)
        left = iter(rows)
        return [
            [row["row"] - before - 1 - number for number, row in enumerate(islice(left, source["rejected"]))]
            for source, _, before in self._sources
        ]

    def _place(self, number: int) -> tuple[int, int]:
        """The shard of a row, and its number there."""
        try:
            number = operator.index(number)
        except TypeError:
            raise InputTypeError(f"a row is named by its number, not by {number!r:.60}", value=number) from None
        at = number + len(self) if number < 0 else number
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {number}; the corpus has {len(self):,}")
        shard = bisect_right(self._starts, at) - 1
        return shard, at - self._starts[shard]

    def _checked_names(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        if isinstance(columns, str):
            raise InputTypeError(f"columns is {columns!r}; it is a list of names: [{columns!r}]", value=columns)
        for name in columns or ():
            if name not in self.column_names:
                raise InputError(f"the corpus has no column {name!r}; it has {', '.join(map(repr, self.column_names))}")
        return self.column_names if columns is None else tuple(columns)

    def shuffled(self, seed: int, epoch: int = 0, part: int = 0, parts: int = 1) -> Iterator[int]:
        """The numbers of the rows, or of a part of them, each once, in an order for training.

        Rows are mixed that lie close enough to be read at once. The shards come in random order, 16 at a time; of
        these, their row groups; and the rows of as many row groups as have 32 MB. So each row group is read once; one
        in which a part ends, twice. `npy` and `bin` have the same order, with stretches of 128 kB as row groups.

        Args:
            seed, epoch: the order depends on both, on the part, and on the corpus.
            part, parts: which of how many parts, from 0. All have as many rows, or one more.

        Raises:
            InputError: there is no such part; an InputTypeError: the seed or the epoch is no whole number.

        >>> import pathlib, tempfile, trietok
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("The\\nPeople\\nof\\nthe\\nUnited\\nStates\\n")
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = trietok.encode_files(folder / "a.txt", folder / "ids", tokenizer, workers=1)
        >>> corpus = trietok.corpus.open_corpus(folder / "ids")
        >>> sorted(corpus.shuffled(1)), list(corpus.shuffled(1, part=0, parts=2))
        ([0, 1, 2, 3, 4, 5], [1, 2, 0])
        """
        if not 0 <= part < parts:
            raise InputError(f"there is no part {part} of {parts}; parts are counted from 0")
        seed, epoch = whole_number("seed", seed), whole_number("epoch", epoch)
        order = random.Random(f"{seed} {epoch}")
        shards = list(range(len(self._numbers)))
        order.shuffle(shards)
        first, last, passed = len(self) * part // parts, len(self) * (part + 1) // parts, 0
        pieces = []
        for shard in shards:
            before, after = self._starts[shard : shard + 2]
            start = before + max(first - passed, 0)
            passed += after - before
            end = after - max(passed - last, 0)
            if start < end:
                pieces.append((shard, before, start, end))
        order.seed(f"{seed} {epoch} {part} {parts}")
        for number in range(0, len(pieces), _MIXED_SHARDS):
            blocks = []
            for shard, before, start, end in pieces[number : number + _MIXED_SHARDS]:
                for stop, size in self._opened(shard).blocks():
                    if start < min(before + stop, end):
                        blocks.append((start, min(before + stop, end), size))
                        start = before + stop
            order.shuffle(blocks)
            rows, held = array("q"), 0
            for start, end, size in blocks:
                if rows and held + size > _MIXED_BYTES:
                    order.shuffle(rows)
                    yield from rows
                    rows, held = array("q"), 0
                rows.extend(range(start, end))
                held += size
            order.shuffle(rows)
            yield from rows

    def torch_dataset(
        self, columns: Sequence[str] | None = None, *, seed: int | None = None, rank: int = 0, ranks: int = 1
    ) -> Any:
        """A `torch.utils.data.Dataset` of dicts, for a collator that pads.

        Ids, masks and type ids are tensors, int64; what was kept is as it was.

        With a seed it is an `IterableDataset`, which gives the rows in an order for training; see `shuffled`. Each
        process of a `DataLoader` reads a part of its own, so that each row comes once. Its `set_epoch(epoch)` gives
        another order, before a loop begins, in processes that are kept alive too.

        Args:
            columns: the keys of the dicts; None for all columns.
            seed: of the order; None for a dataset that has its rows by number.
            rank, ranks: with a seed, the part of this process where several train together, each with a loader of its
                own. Leave them out where accelerate or `Trainer` distribute batches.

        Raises:
            InputError: there is no such column, or no such rank.
            MissingDependencyError: torch is not installed.
        """
        names = self._checked_names(columns)
        if not 0 <= rank < ranks:
            raise InputError(f"there is no rank {rank} of {ranks}; ranks are counted from 0")
        if seed is not None:
            return _torch_dataset(self, names, (whole_number("seed", seed), rank, ranks))
        if ranks > 1:
            raise InputError("rank and ranks divide the rows of an order, so they need a seed")
        return _torch_dataset(self, names)

    def arrow_dataset(self) -> Any:
        """A `pyarrow.dataset.Dataset` with all columns, in the order of the rows.

        Raises:
            FileFormatError: a column that was kept has types in different files that do not go together.
            MissingDependencyError: pyarrow is not installed.
        """
        pa, dataset = import_pyarrow(), import_pyarrow("pyarrow.dataset")
        files, schemas, tables = [], [], []
        # Each shard is closed before the next is opened: there may be more than a process can have open.
        for shard in map(self._open, range(len(self._numbers))):
            if isinstance(shard, _Parquet):
                files.append(shard.path)
                schemas.append(shard.schema)
            else:
                tables.append(shard.table())
        if not files:
            empty = {name: pa.nulls(0) for name in self.column_names}
            return dataset.dataset(joined(tables) if tables else pa.table(empty))
        try:
            schema = pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowException as error:
            raise FileFormatError(f"the shards have columns of different types: {error}", path="") from error
        store = None
        if is_elsewhere(self._directory):
            store, files = Place(self._directory).paths(os.path.basename(file) for file in files)
        pages = dataset.ParquetFileFormat(page_checksum_verification=True)
        return dataset.dataset(files, schema=schema, filesystem=store, format=pages)


def _torch_dataset(
    corpus: Corpus, names: Sequence[str], order: tuple[int, int, int] | None = None, epoch: Any = None
) -> Any:
    """Rows by number; or in the order of a seed, for a rank of several, in an epoch that processes share."""
    torch = imported("torch", "torch", "pip install torch")
    data: Any = imported("torch.utils.data", "torch")

    def tensor(run: memoryview[int]) -> Any:
        kind = torch.int32 if run.itemsize == ID_BYTES else torch.int8
        return torch.frombuffer(bytearray(run), dtype=kind).long() if run else torch.zeros(0).long()

    class Rows(data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return len(corpus)

        def __getitem__(self, number: int) -> dict[str, Any]:
            return dict(corpus._columns(number, names, tensor))

        def __reduce__(self) -> tuple[Any, ...]:
            return _torch_dataset, (corpus, names)

    if order is None:
        return Rows()
    seed, rank, ranks = order
    if epoch is None:
        epoch = torch.zeros(1).long()
        epoch.share_memory_()

    class ShuffledRows(data.IterableDataset):  # type: ignore[misc]
        def set_epoch(self, number: int) -> None:
            """Give the rows in the order of another epoch."""
            epoch.fill_(whole_number("epoch", number))

        def __len__(self) -> int:
            return len(corpus) * (rank + 1) // ranks - len(corpus) * rank // ranks

        def __iter__(self) -> Iterator[dict[str, Any]]:
            worker = data.get_worker_info()
            number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
            rows = corpus.shuffled(seed, int(epoch), rank * workers + number, ranks * workers)
            return (dict(corpus._columns(row, names, tensor)) for row in rows)

        def __reduce__(self) -> tuple[Any, ...]:
            return _torch_dataset, (corpus, names, order, epoch)

    return ShuffledRows()


def _open(
    directory: str, manifest: dict[str, Any], lists: tuple[str, ...], numbers: list[int], held: _Held, number: int
) -> _Flat | _Parquet:
    """One of the shards that hold rows."""
    paths = [f"{directory}/{file['name']}" for file in manifest["shards"][numbers[number]]["files"]]
    file_format = manifest["options"]["file_format"]
    return _Parquet(paths[0], held) if file_format == "parquet" else _Flat(paths, f".{file_format}", lists, held)


def _manifest_of(directory: str) -> dict[str, Any]:
    """The manifest of a corpus whose files are all there."""
    sizes: dict[str, int] = {}
    try:
        if is_elsewhere(directory):
            store = Place(directory)
            with tempfile.TemporaryDirectory() as copy, told_as(copy, directory):
                for name, raw in store.read([MANIFEST]).items():
                    Path(copy, name).write_bytes(raw)
                manifest = _manifest_in(copy, store.read_one)
            sizes = store.sizes()
        else:
            manifest = _manifest_in(directory, lambda name: Path(directory, name).read_bytes())
    except FileError as error:
        if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
            told = f"{directory} holds no finished corpus: it has no {MANIFEST}; encode-files makes one"
            raise FileError(told, path=f"{directory}/{MANIFEST}") from error
        raise
    for entry in (entry for shard in manifest["shards"] for entry in shard["files"]):
        file = f"{directory}/{entry['name']}"
        try:
            size = sizes.get(entry["name"])
            if size is None:  # a list may be older than what is there
                size = status(file).size if is_elsewhere(file) else os.path.getsize(file)
        except OSError as error:
            told = f"cannot read {file}: {error.strerror}; encode-files --resume makes it"
            raise FileError(told, path=file) from error
        if size != entry["bytes"]:
            told = f"{file} is not of the size that the manifest says; encode-files --resume makes it again"
            raise FileFormatError(told, path=file)
    return manifest


def _manifest_in(directory: str, read: Callable[[str], bytes]) -> dict[str, Any]:
    path = Path(directory, MANIFEST)
    manifest = read_manifest(path)
    if manifest.get("format") not in FORMATS_READ:
        raise FileFormatError(
            f"{path} is of the format {manifest.get('format')}, and what this version of trietok reads is "
            f"{' and '.join(FORMATS_READ)}; encode the texts once more",
            path=path,
        )
    return with_parts(manifest, path, read)
