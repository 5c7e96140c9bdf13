"""Where the rows of a corpus are from: the file and the row of each, also where rows were skipped.

In: the manifest and `rejects.jsonl`. Out: a `RowSource` for a row of a shard. Nothing is stored for a row: the shards
of a file follow one another, and the rows that were skipped are listed.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.run_directory import REJECTS, rejected_rows
from trietok.errors import FileError, FileFormatError, InputError
from trietok.text.changes import cached_property


class RowSource(NamedTuple):
    """A row of a file.

    Attributes:
        file: its name, as the manifest has it.
        row: counted from 1; for lines, the number of the line.
    """

    file: str
    row: int


class RowSources:
    """The sources of the rows of a corpus.

    Args:
        directory: of the corpus.
        manifest: what is in `manifest.json`.
    """

    def __init__(self, directory: Path, manifest: dict[str, Any]) -> None:
        self._rejects = directory / REJECTS
        self._shards = manifest["shards"]
        self._is_packed = manifest["options"]["pack"] is not None
        self._before: list[int] = []  # for each shard, the rows of its file that come before it
        shards = iter(self._shards)
        for entry in manifest["inputs"]:
            before = 0
            for _ in range(entry["shards"]):
                self._before.append(before)
                shard = next(shards)
                before += shard["texts"] + shard["rejected"]

    def of(self, shard: int, row: int) -> RowSource:
        """The source of a row, by the number of its shard and its place there, both from 0.

        Raises:
            InputError: the corpus is packed.
            FileError, FileFormatError: rows were skipped, and the list of them cannot be read.
        """
        if self._is_packed:
            raise InputError("a row of packed ids has parts of several texts; encode without pack to know its source")
        place = row
        if self._shards[shard]["rejected"]:
            place += bisect_right(self._kept_before[shard], row)
        return RowSource(self._shards[shard]["input"], self._before[shard] + place + 1)

    @cached_property
    def _kept_before(self) -> list[list[int]]:
        """For each row that was skipped, shard by shard, how many rows of the shard before it were not."""
        try:
            rows = rejected_rows(self._rejects.read_bytes().splitlines())
        except OSError as error:
            raise FileError(f"cannot read {self._rejects}: {error.strerror}", path=self._rejects) from error
        except ValueError as error:
            raise FileFormatError(
                f"{self._rejects} is damaged: {error}; --resume makes it again", path=self._rejects
            ) from error
        if len(rows) != sum(shard["rejected"] for shard in self._shards):
            raise FileFormatError(
                f"{self._rejects} does not list the rows that the manifest counts; --resume makes it again",
                path=self._rejects,
            )
        kept_before, start = [], 0
        for shard, before in zip(self._shards, self._before, strict=True):
            end = start + shard["rejected"]
            kept_before.append([row - before - 1 - number for number, row in enumerate(rows[start:end])])
            start = end
        return kept_before
