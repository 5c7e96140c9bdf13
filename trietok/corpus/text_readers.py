"""The texts of a stretch, batch by batch, and what is no text among them.

In: a `Stretch`. Out: batches of rows, each of them a str or a `BadRow`. Lines end at U+000A only, and nothing
but that is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.long_texts import LONG, LONGEST_JSON, LongText
from trietok.corpus.shard_plan import Stretch, end_of_line
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


Cut = Callable[[], tuple[int, int] | None]


def read_texts(stretch: Stretch, column: str, cut_characters: Cut = lambda: None) -> Iterator[TextBatch | LongText]:
    """All rows of a stretch.

    Args:
        stretch: of a file.
        column: where the texts are in it.
        cut_characters: asked where a line is very long; see `RowEncoder.cut_characters`.

    Raises:
        FileError, FileFormatError: the file cannot be read.
    """
    if stretch.file.kind == "parquet":
        return _of_parquet(stretch, column)
    if stretch.file.kind == "jsonl":
        return _of_lines(stretch, lambda line: _of_json(line, column), cut_characters)
    return _of_lines(stretch, None, cut_characters)


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


def _of_lines(
    stretch: Stretch, convert: Callable[[str], Text] | None, cut_characters: Cut
) -> Iterator[TextBatch | LongText]:
    try:
        with open(stretch.path, "rb") as file:
            start = stretch.start
            while start < stretch.end:
                end = _end_of_lines(file, start, stretch.end)
                is_long = end - start > LONG
                alone = cut_characters() if is_long and convert is None else None
                if alone is not None:
                    file.seek(end - 1)
                    yield LongText(stretch.path, start, end - (file.read(1) == b"\n"), alone, end - start)
                elif convert is not None and end - start > LONGEST_JSON:
                    bad = BadRow(f"a line of {end - start:,} bytes; JSON of more than {LONGEST_JSON:,} is not read")
                    yield TextBatch([bad], end - start)
                else:
                    yield _batch_of(_read(file, start, end, stretch), convert)
                start = end
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read {stretch.file.name}: {error.strerror}", path=stretch.file.name) from error


def _end_of_lines(file: BinaryIO, start: int, end: int) -> int:
    """The end of the lines that a block from `start` on holds whole; if it holds none, of the line it begins."""
    file.seek(start)
    block = file.read(min(end - start, _BLOCK))
    if start + len(block) >= end:
        return end
    return start + block.rfind(b"\n") + 1 if b"\n" in block else end_of_line(file, start + len(block), end)


def _read(file: BinaryIO, start: int, end: int, stretch: Stretch) -> bytes:
    file.seek(start)
    block = file.read(end - start)
    if len(block) < end - start:
        name = stretch.file.name
        raise ChangedFileError(f"{name} has become shorter while it was read", path=name)
    return block


def _batch_of(block: bytes, convert: Callable[[str], Text] | None) -> TextBatch:
    lines = lines_of(block)
    if convert is not None:
        lines = [convert(text) if isinstance(text, str) else text for text in texts_of(lines)]
    return TextBatch(lines, len(block))


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
