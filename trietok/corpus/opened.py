"""A corpus of ids to be read: the directory that `encode_files` has filled.

In: the directory. Out: its rows by number, or in an order for training, where each is from, a
dataset for torch, one for Arrow. Shards are opened when a row of theirs is asked for: flat files
are mapped into memory, not read; of Parquet files the row groups used last are held, within a
number of bytes. Where a row is from is not stored for it: the manifest says how many texts of which
file a shard has, in their order, and the rows that were skipped are listed.
"""

from __future__ import annotations

import operator
import os
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any, NamedTuple, overload

from trietok.collector import bulk
from trietok.corpus.manifest import FORMATS_READ, REJECTS, read_manifest, rejected_rows, with_parts
from trietok.corpus.row_encoder import IDS
from trietok.corpus.run_directory import MANIFEST
from trietok.corpus.shard_files import joined
from trietok.corpus.shard_readers import FlatReader, Held, MdsReader, ParquetReader
from trietok.corpus.torch_rows import torch_dataset
from trietok.corpus.training_order import Order, mixed
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    as_file_error,
    told_as,
    whole_number,
)
from trietok.files.stores import Place, is_elsewhere, local_path, open_bytes, status
from trietok.files.tables import import_pyarrow
from trietok.text.changes import cached_property

_OPEN_SHARDS = 64


class RowSource(NamedTuple):
    """A row of a file."""

    file: str  # its name, as the manifest has it
    row: int  # counted from 1; for lines, the number of the line


def open_corpus(directory: str | os.PathLike[str]) -> Corpus:
    """A corpus that `encode_files` has finished.

    Args:
        directory: as it was given to `encode_files`; also a place in a store, such as
            `s3://bucket/ids`.

    Raises:
        FileError: there is no finished corpus, or a file of it is missing.
        FileFormatError: it was made by another version of trietok, or a file of it has another size
            than the manifest says, or the manifest is damaged.

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
        column_names: what a row has: `input_ids`, masks and type ids if they were asked for, and
            what was kept.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        here = local_path(os.fspath(directory))
        self._directory = os.fspath(directory).rstrip("/") if here is None else str(Path(here))
        self.manifest = _manifest_of(self._directory)
        options = self.manifest["options"]
        self._lists = (IDS, *options.get("columns", ()))
        self.column_names: tuple[str, ...] = (*self._lists, *options.get("keep", ()))
        self._numbers = [
            number for number, shard in enumerate(self.manifest["shards"]) if shard["rows"]
        ]
        rows = (self.manifest["shards"][number]["rows"] for number in self._numbers)
        self.shard_starts: list[int] = list(accumulate(rows, initial=0))  # and the end of the last
        self._held = Held()
        self._open = _opener(self._directory, self.manifest, self._numbers, self._lists, self._held)
        self.opened: Callable[[int], Any] = lru_cache(_OPEN_SHARDS)(self._open)

    def __reduce__(self) -> tuple[Any, ...]:
        directory = self._directory
        return open_corpus, (directory if is_elsewhere(directory) else os.path.abspath(directory),)

    def __len__(self) -> int:
        return self.shard_starts[-1]

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
        ids: memoryview[int] = self.opened(shard).run(IDS, row)
        return ids

    def row(self, number: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """A row with other columns, too: lists of numbers, and the values that were kept.

        Args:
            number: of the row.
            columns: their names; None for all.

        Raises:
            IndexError: there is no such row.
            InputError: there is no such column.
        """
        return self.columns(number, self._checked_names(columns), memoryview.tolist)

    def columns(
        self, number: int, names: Sequence[str], made_of: Callable[[memoryview[int]], Any]
    ) -> dict[str, Any]:
        """The columns of a row by name: what is made of a run of numbers, and what was kept."""
        shard, row = self._place(number)
        opened, lists = self.opened(shard), self._lists
        return {
            name: made_of(opened.run(name, row)) if name in lists else opened.kept(name, row)
            for name in names
        }

    def source(self, number: int) -> RowSource:
        """The file and the row of it, from 1, that a row's text is from; skipped rows count.

        Raises:
            IndexError: there is no such row.
            InputError: the corpus is packed.
        """
        place, row = self._place(number)
        if self.manifest["options"]["pack"] is not None:
            told = "a row of packed ids has parts of several texts"
            raise InputError(f"{told}; encode without pack to know its source")
        row += self.shard_starts[place]
        found = bisect_right(self._sources, row, key=operator.itemgetter(1))
        source, texts, before = self._sources[found]
        text = row - (texts - source["texts"])
        if source["rejected"]:
            text += bisect_right(self._kept_before[found], text)
        return RowSource(source["name"], before + text + 1)

    @cached_property
    def _sources(self) -> list[tuple[dict[str, Any], int, int]]:
        """The files, and parts of files, that shards have rows of, in their order.

        With each, how many texts there are until its end, and how many rows of its file come before
        it.
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
        """For each skipped row, source by source, how many before it were not skipped."""
        path = f"{self._directory}/{REJECTS}"
        with as_file_error(f"cannot read {path}", path), open_bytes(path) as file:
            lines = file.read().splitlines()
        try:
            rows = rejected_rows(lines)
        except ValueError as error:
            told = f"{path} is damaged: {error}; --resume makes it again"
            raise FileFormatError(told, path=path) from error
        if len(rows) != sum(source["rejected"] for source, _, _ in self._sources):
            told = f"{path} does not list the rows that the manifest counts"
            raise FileFormatError(f"{told}; --resume makes it again", path=path)
        left = (row["row"] - 1 for row in rows)
        return [
            [at - before - number for number, at in enumerate(islice(left, source["rejected"]))]
            for source, _, before in self._sources
        ]

    def _place(self, number: int) -> tuple[int, int]:
        """The shard of a row, and its number there."""
        try:
            number = operator.index(number)
        except TypeError:
            told = f"a row is named by its number, not by {number!r:.60}"
            raise InputTypeError(told, value=number) from None
        at = number + len(self) if number < 0 else number
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {number}; the corpus has {len(self):,}")
        shard = bisect_right(self.shard_starts, at) - 1
        return shard, at - self.shard_starts[shard]

    def _checked_names(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        if isinstance(columns, str):
            raise InputTypeError(
                f"columns is {columns!r}; it is a list of names: [{columns!r}]", value=columns
            )
        for name in columns or ():
            if name not in self.column_names:
                there = ", ".join(map(repr, self.column_names))
                raise InputError(f"the corpus has no column {name!r}; it has {there}")
        return self.column_names if columns is None else tuple(columns)

    def shuffled(self, seed: int, epoch: int = 0, part: int = 0, parts: int = 1) -> Iterator[int]:
        """The numbers of the rows, or of a part of them, each once, in an order for training.

        Rows are mixed that lie close enough to be read at once. The shards come in random order, 16
        at a time; of these, their row groups; and the rows of as many row groups as have 32 MB. So
        each row group is read once; one in which a part ends, twice. `npy` and `bin` have the same
        order, with stretches of 128 kB as row groups.

        Args:
            seed, epoch: the order depends on both, on the part, and on the corpus.
            part, parts: which of how many parts, from 0. All have as many rows, or one more.

        Raises:
            InputError: there is no such part; an InputTypeError: the seed or the epoch is no whole
                number.

        >>> import pathlib, tempfile, trietok
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("The\\nPeople\\nof\\nthe\\nUnited\\nStates\\n")
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = trietok.encode_files(folder / "a.txt", folder / "ids", tokenizer, workers=1)
        >>> corpus = trietok.corpus.open_corpus(folder / "ids")
        >>> sorted(corpus.shuffled(1)), len(list(corpus.shuffled(1, part=0, parts=2)))
        ([0, 1, 2, 3, 4, 5], 3)
        """
        if not 0 <= part < parts:
            raise InputError(f"there is no part {part} of {parts}; parts are counted from 0")
        seed, epoch = whole_number("seed", seed), whole_number("epoch", epoch)
        first, last = (len(self) * one // parts for one in (part, part + 1))
        return chain.from_iterable(mixed(self, f"{seed} {epoch}", f"{part} {parts}", first, last))

    def torch_dataset(
        self,
        columns: Sequence[str] | None = None,
        *,
        seed: int | None = None,
        rank: int = 0,
        ranks: int = 1,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        pack: int | None = None,
    ) -> Any:
        """A `torch.utils.data.Dataset` of dicts, for a collator that pads.

        Ids, masks and type ids are tensors, int64; what was kept is as it was.

        With a seed it is an `IterableDataset`, which gives the rows in an order for training; see
        `shuffled`. The order depends on the seed, the epoch and `ranks`, not on how many processes
        a `DataLoader` has. `set_epoch(epoch)` gives another order, before a loop begins, in
        processes that are kept alive too. `state_dict()` says how far the loop is, and after
        `load_state_dict(state)` it goes on from there; torchdata's `StatefulDataLoader` calls both.
        `padding()` is the share of padding in the batches of the epoch.

        All ranks have as many rows, batches or packed rows, so each makes as many steps, as many as
        `len(loader)` says: where they cannot be divided, some come in two ranks. Each process of a
        loader makes batches of its own; without `batch_size` the first of them makes all.

        Args:
            columns: the keys of the dicts; None for all columns.
            seed: of the order; None for a dataset that has its rows by number.
            rank, ranks: with a seed, the part of this process where several train together, each
                with a loader of its own. Leave them out where accelerate or `Trainer` distribute
                batches.
            batch_size: with a seed, that of the `DataLoader`; 1 where that has None.
            max_tokens: with a seed, give lists of rows of about the same length, which make batches
                of so many tokens at most, padding too:
                `DataLoader(dataset, batch_size=None, collate_fn=collator)`.
            pack: with a seed, join rows, whole, to rows of so many ids at most, with
                `position_ids`, which begin anew with each text, and `document_ids`, its number from
                1.

        Raises:
            InputError: there is no such column, or no such rank, or a row is longer than
                `max_tokens` or `pack`.
            MissingDependencyError: torch is not installed.
        """
        names = self._checked_names(columns)
        if not 0 <= rank < ranks:
            raise InputError(f"there is no rank {rank} of {ranks}; ranks are counted from 0")
        sizes = {"batch_size": batch_size, "max_tokens": max_tokens, "pack": pack}
        for name, size in sizes.items():
            if size is not None and whole_number(name, size) < 1:
                raise InputError(f"{name} is {size}; it is a whole number from 1")
        if seed is None:
            if ranks > 1 or any(sizes.values()):
                told = f"rank, ranks, {', '.join(sizes)} divide the rows of an order"
                raise InputError(f"{told}, so they need a seed")
            return torch_dataset(self, names)
        if max_tokens is not None and (pack is not None or batch_size is not None):
            raise InputError("max_tokens makes the batches: give it without batch_size and pack")
        if pack is not None:
            names = self._lists if columns is None else names
            kept = [name for name in names if name not in self._lists]
            if kept or IDS not in names:
                wrong = ", ".join(kept) or "columns"
                raise InputError(f"pack joins {IDS} with masks and type ids; leave out {wrong}")
        longest = self.manifest["options"]["pack"] or self.manifest["totals"]["longest_text"]
        most = pack if max_tokens is None else max_tokens
        if most is not None and longest > most:
            told = f"the longest row has {longest:,} ids, more than {most:,}, and no text is cut"
            how = f"give more, or encode with truncation=True, max_length={most}"
            raise InputError(f"{told}; {how}")
        order = Order(whole_number("seed", seed), rank, ranks, batch_size, max_tokens, pack)
        return torch_dataset(self, names, order)

    def arrow_dataset(self) -> Any:
        """A `pyarrow.dataset.Dataset` with all columns, in the order of the rows.

        Raises:
            FileFormatError: a column that was kept has types in different files that do not go
                together.
            MissingDependencyError: pyarrow is not installed.
        """
        pa, dataset = import_pyarrow(), import_pyarrow("pyarrow.dataset")
        files, schemas, tables = [], [], []
        # Each shard is closed before the next is opened: there may be more than a process can have
        # open.
        for shard in map(self._open, range(len(self._numbers))):
            if isinstance(shard, ParquetReader):
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
            told = f"the shards have columns of different types: {error}"
            raise FileFormatError(told, path="") from error
        store = None
        if is_elsewhere(self._directory):
            store, files = Place(self._directory).paths(os.path.basename(file) for file in files)
        pages = dataset.ParquetFileFormat(page_checksum_verification=True)
        return dataset.dataset(files, schema=schema, filesystem=store, format=pages)


def _opener(
    directory: str, manifest: dict[str, Any], numbers: list[int], lists: Sequence[str], held: Held
) -> Callable[[int], FlatReader | ParquetReader]:
    """What opens one of the shards that hold rows.

    It is no method of a corpus: in a circle of references that would keep its files open.
    """
    shards, file_format = manifest["shards"], manifest["options"]["file_format"]

    def opened(number: int) -> FlatReader | ParquetReader:
        paths = [f"{directory}/{file['name']}" for file in shards[numbers[number]]["files"]]
        if file_format == "parquet":
            return ParquetReader(paths[0], held)
        if file_format == "mds":
            return MdsReader(paths[0], lists)
        suffix = ".bin" if file_format == "megatron" else f".{file_format}"
        return FlatReader(paths, suffix, lists, held)

    return opened


def _manifest_of(directory: str) -> dict[str, Any]:
    """The manifest of a corpus whose files are all there."""
    sizes, is_remote = {}, is_elsewhere(directory)
    try:
        if is_remote:
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
            told = f"{directory} holds no finished corpus: it has no {MANIFEST}"
            path = f"{directory}/{MANIFEST}"
            raise FileError(f"{told}; encode-files makes one", path=path) from error
        raise
    for entry in chain.from_iterable([shard["files"] for shard in manifest["shards"]]):
        file = f"{directory}/{entry['name']}"
        try:
            size = sizes.get(entry["name"])
            if size is None:  # a list may be older than what is there
                size = status(file).size if is_remote else os.stat(file).st_size
        except OSError as error:
            told = f"cannot read {file}: {error.strerror}; encode-files --resume makes it"
            raise FileError(told, path=file) from error
        if size != entry["bytes"]:
            told = f"{file} is not of the size that the manifest says"
            raise FileFormatError(f"{told}; encode-files --resume makes it again", path=file)
    return manifest


def _manifest_in(directory: str, read: Callable[[str], bytes]) -> dict[str, Any]:
    path = Path(directory, MANIFEST)
    manifest = read_manifest(path)
    if manifest.get("format") not in FORMATS_READ:
        told = f"{path} is of the format {manifest.get('format')}, and what this version of trietok"
        told += f" reads is {' and '.join(FORMATS_READ)}; encode the texts once more"
        raise FileFormatError(told, path=path)
    with bulk():  # there may be very many shards
        return with_parts(manifest, path, read)
