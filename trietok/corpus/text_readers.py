"""The texts of a stretch, batch by batch, and what is no text among them.

In: a `Stretch`. Out: batches of rows, each of them a str or a `BadRow`. Lines end at U+000A only, and nothing
but that is taken off.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.long_texts import LONG, LONGEST_JSON, LongText
from trietok.corpus.parquet_rows import read_batches, read_spool
from trietok.corpus.shard_plan import Stretch, end_of_line, unreadable_table
from trietok.corpus.text_buffers import large_strings, lines_of
from trietok.corpus.text_inputs import ChangedFileError
from trietok.errors import FileError, FileFormatError
from trietok.files.elsewhere import open_bytes
from trietok.files.text_rows import BadRow, Text, import_pyarrow, object_of_json, open_parquet, text_in_object, texts_of

_BLOCK = 1 << 20  # bytes
_HALF = re.compile("[\ud800-\udfff]")


class TextBatch(NamedTuple):
    """Rows that follow one another.

    Attributes:
        rows: an Arrow array of `large_string`, of which nobody has looked whether it is UTF-8; or a list of texts.
        text_bytes: of the texts in UTF-8; of whole lines where they come from lines.
        kept: a table with the columns to keep, a row for each row; None where there are none.
    """

    rows: Any
    text_bytes: int
    kept: Any = None

    @property
    def column(self) -> Any | None:
        """The rows as an Arrow array without nulls; None where they are no such array."""
        return None if isinstance(self.rows, list) or self.rows.null_count else self.rows

    def texts(self) -> list[Text]:
        """The rows, one by one."""
        texts = self.rows if isinstance(self.rows, list) else texts_of(self.rows)
        return [BadRow("null") if text is None else text for text in texts]


Cut = Callable[[], tuple[int, int] | None]


def read_texts(
    stretch: Stretch, column: str, cut_characters: Cut = lambda: None, keep: tuple[str, ...] = ()
) -> Iterator[TextBatch | LongText]:
    """All rows of a stretch.

    Args:
        stretch: of a file.
        column: where the texts are in it.
        keep: other columns, which are read beside the texts.
        cut_characters: asked where a line is very long; see `RowEncoder.cut_characters`.

    Raises:
        FileError, FileFormatError: the file cannot be read.
    """
    if stretch.file.kind == "parquet":
        return _of_parquet(stretch, column, keep)
    if stretch.file.kind == "jsonl":
        return _of_lines(stretch, JsonLines(stretch.file.name, column, keep), cut_characters)
    return _of_lines(stretch, None, cut_characters)


def first_row(stretch: Stretch) -> int:
    """How many rows of its file come before it; the lines are counted only when this is called."""
    if stretch.first_row is not None:
        return stretch.first_row
    with open_bytes(stretch.path) as file:
        left, rows = stretch.start, 0
        while left and (block := file.read(min(left, _BLOCK))):
            left -= len(block)
            rows += block.count(b"\n")
    return rows


# ---- lines ----------------------------------------------------------------------------------------------------------


def _of_lines(stretch: Stretch, json_lines: JsonLines | None, cut_characters: Cut) -> Iterator[TextBatch | LongText]:
    try:
        with open_bytes(stretch.path) as file:
            start = stretch.start
            while start < stretch.end:
                end = _end_of_lines(file, start, stretch.end)
                is_long = end - start > LONG
                alone = cut_characters() if is_long and json_lines is None else None
                if alone is not None:
                    file.seek(end - 1)
                    yield LongText(stretch.path, start, end - (file.read(1) == b"\n"), alone, end - start)
                elif json_lines is not None and end - start > LONGEST_JSON:
                    bad = BadRow(f"a line of {end - start:,} bytes; JSON of more than {LONGEST_JSON:,} is not read")
                    yield TextBatch([bad], end - start, json_lines.kept([{}]))
                else:
                    block = _read(file, start, end, stretch)
                    lines = lines_of(block)
                    yield TextBatch(lines, len(block)) if json_lines is None else json_lines.batch(lines, len(block))
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


class JsonLines:
    """What is in lines of JSON.

    Args:
        name: of the file.
        column: the key of the texts.
        keep: other keys, whose values are kept.
    """

    def __init__(self, name: str, column: str, keep: tuple[str, ...]) -> None:
        self._name = name
        self._column = column
        self._keep = keep

    def batch(self, lines: Any, size: int) -> TextBatch:
        """The rows of an array of lines."""
        objects = [object_of_json(line, self._column) if isinstance(line, str) else line for line in texts_of(lines)]
        texts = [self._text(values) for values in objects]
        if not self._keep:
            return TextBatch(texts, size)
        # What is kept of rows without a text goes with them.
        rows = zip(objects, texts, strict=True)
        return TextBatch(texts, size, self.kept([one if isinstance(text, str) else {} for one, text in rows]))

    def _text(self, values: dict[str, Any] | BadRow) -> Text:
        text = values if isinstance(values, BadRow) else text_in_object(values, self._column)
        if text is None:
            return BadRow(f"{self._column!r} is null, not a text")
        if isinstance(text, BadRow) or isinstance(values, BadRow):
            return text
        bad = next((key for key in self._keep if not _is_unicode(values.get(key))), None)
        return text if bad is None else BadRow(f"{bad!r} cannot be kept: it has half of a surrogate pair")

    def kept(self, objects: Sequence[Any]) -> Any:
        """A table of the values to keep, of whatever types they have; null where there is none.

        Raises:
            FileFormatError: no type holds all of them.
        """
        if not self._keep:
            return None
        pa = import_pyarrow()
        columns = {}
        for key in self._keep:
            try:
                columns[key] = _without_empty_objects(pa.array([one.get(key) for one in objects]))
            except (pa.ArrowException, OverflowError) as error:
                raise FileFormatError(f"{self._name}: {key!r} cannot be kept: {error}", path=self._name) from error
        return pa.table(columns)


def _without_empty_objects(values: Any) -> Any:
    """An array; without values where all are objects without keys, which no column of a Parquet file holds."""
    pa = import_pyarrow()
    is_empty = pa.types.is_struct(values.type) and not values.type.num_fields
    return pa.nulls(len(values)) if is_empty else values


def _is_unicode(value: Any) -> bool:
    """Whether all strings in a value of JSON can be written."""
    if isinstance(value, str):
        return not _HALF.search(value)
    if isinstance(value, dict):
        return all(_is_unicode(one) for pair in value.items() for one in pair)
    return all(map(_is_unicode, value)) if isinstance(value, list) else True


# ---- Parquet --------------------------------------------------------------------------------------------------------


def _of_parquet(stretch: Stretch, column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    pyarrow = import_pyarrow()
    compute = import_pyarrow("pyarrow.compute")
    try:
        is_spool = stretch.path != stretch.file.name
        with contextlib.nullcontext() if is_spool else open_parquet(stretch.path) as table:
            names = list(dict.fromkeys([column, *keep]))
            batches = read_spool(stretch.path) if is_spool else read_batches(table, stretch.row_groups, names)
            for batch in batches:
                texts = large_strings(batch.column(batch.schema.get_field_index(column)))
                size = 0 if texts.null_count == len(texts) else compute.sum(compute.binary_length(texts)).as_py()
                yield TextBatch(texts, size, pyarrow.Table.from_batches([batch]).select(keep) if keep else None)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, (FileError, FileFormatError)):
            raise
        raise unreadable_table(stretch.file.name, error) from error
