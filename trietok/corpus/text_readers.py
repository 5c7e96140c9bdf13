"""The texts of a stretch, batch by batch, and what is no text among them.

In: a `Stretch`. Out: batches of rows, each of them a str or a `BadRow`. Lines end at U+000A only, and nothing
but that is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from trietok.corpus.shard_plan import Stretch
from trietok.corpus.text_buffers import large_strings, lines_of
from trietok.corpus.text_inputs import ChangedFileError
from trietok.errors import FileError, FileFormatError
from trietok.files.text_rows import BadRow, Text, import_pyarrow, open_parquet, text_of_json, texts_of

_BLOCK = 1 << 20  # bytes
_BATCH_BYTES = 1 << 20  # of Parquet texts
_MOST_ROWS, _LEAST_ROWS = 8192, 16


class TextBatch(NamedTuple):
    """Rows that follow one another.

    Attributes:
        rows: an Arrow array of `large_string`, of which nobody has looked whether it is UTF-8; or a list of texts.
        text_bytes: of the texts in UTF-8; of whole lines where they come from lines.
    """

    rows: Any
    text_bytes: int

    @property
    def column(self) -> Any | None:
        """The rows as an Arrow array without nulls; None where they are no such array."""
        return None if isinstance(self.rows, list) or self.rows.null_count else self.rows

    def texts(self) -> list[Text]:
        """The rows, one by one."""
        texts = self.rows if isinstance(self.rows, list) else texts_of(self.rows)
        return [BadRow("null") if text is None else text for text in texts]


def read_texts(stretch: Stretch, column: str) -> Iterator[TextBatch]:
    """All rows of a stretch.

    Raises:
        FileError, FileFormatError: the file cannot be read.
    """
    if stretch.file.kind == "parquet":
        return _of_parquet(stretch, column)
    if stretch.file.kind == "jsonl":
        return _of_lines(stretch, lambda line: _of_json(line, column))
    return _of_lines(stretch, None)


def first_row(stretch: Stretch) -> int:
    """How many rows of its file come before it; the lines are counted only when this is called."""
    if stretch.first_row is not None:
        return stretch.first_row
    with open(stretch.path, "rb") as file:
        left, rows = stretch.start, 0
        while left and (block := file.read(min(left, _BLOCK))):
            left -= len(block)
            rows += block.count(b"\n")
    return rows


# ---- lines ----------------------------------------------------------------------------------------------------------


def _of_lines(stretch: Stretch, convert: Callable[[str], Text] | None) -> Iterator[TextBatch]:
    for block in _whole_lines(stretch):
        lines = lines_of(block)
        if convert is not None:
            lines = [convert(text) if isinstance(text, str) else text for text in texts_of(lines)]
        yield TextBatch(lines, len(block))


def _whole_lines(stretch: Stretch) -> Iterator[bytes]:
    """Blocks that end with a line, each of about the same size."""
    try:
        with open(stretch.path, "rb") as file:
            file.seek(stretch.start)
            left = stretch.end - stretch.start
            parts: list[bytes] = []
            while left:
                block = file.read(min(left, _BLOCK))
                if not block:
                    raise ChangedFileError(
                        f"{stretch.file.name} has become shorter while it was read; encode into a new directory",
                        path=stretch.file.name,
                    )
                left -= len(block)
                at = len(block) if not left else block.rfind(b"\n") + 1
                if at:
                    yield b"".join([*parts, block[:at]])
                    parts = [block[at:]]
                else:
                    parts.append(block)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read {stretch.file.name}: {error.strerror}", path=stretch.file.name) from error


def _of_json(line: str, column: str) -> Text:
    text = text_of_json(line, column)
    return BadRow(f"{column!r} is null, not text") if text is None else text


# ---- Parquet --------------------------------------------------------------------------------------------------------


def _of_parquet(stretch: Stretch, column: str) -> Iterator[TextBatch]:
    pyarrow = import_pyarrow()
    compute = import_pyarrow("pyarrow.compute")
    try:
        with open_parquet(stretch.path) as table:
            batches = table.iter_batches(
                _rows_of_batch(table, stretch, column), stretch.row_groups, columns=[column], use_threads=False
            )
            for batch in batches:
                texts = batch.column(batch.schema.get_field_index(column))
                texts = large_strings(texts)
                size = 0 if texts.null_count == len(texts) else compute.sum(compute.binary_length(texts)).as_py()
                yield TextBatch(texts, size)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, (FileError, FileFormatError)):
            raise
        reason = "; ".join(line.rstrip(".") for line in str(error).splitlines() if line.strip("."))
        raise FileFormatError(f"{stretch.file.name} cannot be read: {reason}", path=stretch.file.name) from error


def _rows_of_batch(table: Any, stretch: Stretch, column: str) -> int:
    """How many rows make a batch of about the same size, whatever the length of the texts."""
    rows = size = 0
    leaves = [table.schema.column(number).path for number in range(len(table.schema))]
    for group in stretch.row_groups:
        metadata = table.metadata.row_group(group)
        rows += metadata.num_rows
        size += metadata.column(leaves.index(column)).total_uncompressed_size
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BATCH_BYTES * rows // max(size, 1)))
