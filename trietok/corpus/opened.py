"""A corpus of ids to be read: the directory that `encode_files` has filled.

In: the directory. Out: its rows by number, where each is from, a dataset for torch, one for Arrow. Shards are opened
when a row of theirs is asked for.
"""

from __future__ import annotations

import operator
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, overload

from trietok.corpus.opened_shards import OpenShard, arrow_dataset_of, open_shard
from trietok.corpus.row_encoder import IDS
from trietok.corpus.row_sources import RowSource, RowSources
from trietok.corpus.run_directory import MANIFEST, MANIFEST_FORMAT, check_manifest, read_manifest
from trietok.errors import FileError, FileFormatError, InputError, InputTypeError, MissingDependencyError

_OPEN_SHARDS = 64


def open_corpus(directory: str | os.PathLike[str]) -> Corpus:
    """A corpus that `encode_files` has finished.

    Args:
        directory: as it was given to `encode_files`.

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
        manifest: what is in `manifest.json`.
        column_names: what a row has: `input_ids`, masks and type ids if they were asked for, and what was kept.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self.manifest = _manifest_in(self._directory)
        options = self.manifest["options"]
        self._lists = (IDS, *options.get("columns", ()))
        self.column_names: tuple[str, ...] = (*self._lists, *options.get("keep", ()))
        self._numbers = [number for number, shard in enumerate(self.manifest["shards"]) if shard["rows"]]
        self._ends = list(accumulate(self.manifest["shards"][number]["rows"] for number in self._numbers))
        self._sources = RowSources(self._directory, self.manifest)
        paths = [
            [self._directory / file["name"] for file in self.manifest["shards"][number]["files"]]
            for number in self._numbers
        ]
        self._open = partial(_open, paths, options["file_format"], self._lists)
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
        names = self._checked_names(columns)
        shard, row = self._place(number)
        opened = self._opened(shard)
        return {
            name: opened.run(name, row).tolist() if name in self._lists else opened.kept(name, row) for name in names
        }

    def source(self, number: int) -> RowSource:
        """The file and the row of it, counted from 1, that a row has its text from. Rows that were skipped count.

        Raises:
            IndexError: there is no such row.
            InputError: the corpus is packed.
        """
        shard, row = self._place(number)
        return self._sources.of(self._numbers[shard], row)

    def _place(self, number: int) -> tuple[int, int]:
        """The shard of a row, and its number there."""
        try:
            number = operator.index(number)
        except TypeError:
            raise InputTypeError(f"a row is named by its number, not by {number!r:.60}", value=number) from None
        at = number + len(self) if number < 0 else number
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {number}; the corpus has {len(self):,}")
        shard = bisect_right(self._ends, at)
        return shard, at - (self._ends[shard - 1] if shard else 0)

    def _checked_names(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        if isinstance(columns, str):
            raise InputTypeError(f"columns is {columns!r}; it is a list of names: [{columns!r}]", value=columns)
        for name in columns or ():
            if name not in self.column_names:
                raise InputError(f"the corpus has no column {name!r}; it has {', '.join(map(repr, self.column_names))}")
        return self.column_names if columns is None else tuple(columns)

    def torch_dataset(self, columns: Sequence[str] | None = None) -> Any:
        """A `torch.utils.data.Dataset` of dicts, for a collator that pads.

        Ids, masks and type ids are tensors, int64; what was kept is as it was.

        Args:
            columns: the keys of the dicts; None for all columns.

        Raises:
            InputError: there is no such column.
            MissingDependencyError: torch is not installed.
        """
        corpus, names = self, self._checked_names(columns)
        try:
            import torch.utils.data
        except ImportError as error:
            raise MissingDependencyError(
                f"torch is needed for this and cannot be imported ({error}): pip install torch", extra="torch"
            ) from error

        dataset: Any = torch.utils.data.Dataset  # what type checkers know of it depends on whether torch is there

        class Rows(dataset):  # type: ignore[misc]
            def __len__(self) -> int:
                return len(corpus)

            def __getitem__(self, number: int) -> dict[str, Any]:
                return corpus._tensors(number, names)

            def __reduce__(self) -> tuple[Any, ...]:
                return Corpus.torch_dataset, (corpus, names)

        return Rows()

    def _tensors(self, number: int, names: Sequence[str]) -> dict[str, Any]:
        import torch

        shard, row = self._place(number)
        opened = self._opened(shard)
        values: dict[str, Any] = {}
        for name in names:
            if name not in self._lists:
                values[name] = opened.kept(name, row)
                continue
            run = opened.run(name, row)
            kind = torch.int32 if name == IDS else torch.int8
            values[name] = torch.frombuffer(bytearray(run), dtype=kind).long() if run else torch.zeros(0).long()
        return values

    def arrow_dataset(self) -> Any:
        """A `pyarrow.dataset.Dataset` with all columns, in the order of the rows.

        Raises:
            FileFormatError: a column that was kept has types in different files that do not go together.
            MissingDependencyError: pyarrow is not installed.
        """
        return arrow_dataset_of(map(self._open, range(len(self._numbers))), self.column_names)


def _open(paths: list[list[Path]], file_format: str, lists: tuple[str, ...], number: int) -> OpenShard:
    return open_shard(paths[number], file_format, lists)


def _manifest_in(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileError(
            f"{directory} holds no finished corpus: it has no {path.name}; encode-files makes one", path=path
        ) from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}", path=path) from error
    manifest = read_manifest(path)
    if manifest.get("format") != MANIFEST_FORMAT:
        raise FileFormatError(
            f"{path} is of the format {manifest.get('format')}, and what this version of trietok reads is "
            f"{MANIFEST_FORMAT}; encode the texts once more",
            path=path,
        )
    check_manifest(manifest, path)
    files = [file for shard in manifest["shards"] for file in shard["files"]]
    for file, size in [(directory / file["name"], file["bytes"]) for file in files]:
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
