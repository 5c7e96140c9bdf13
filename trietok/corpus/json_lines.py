"""Lines of JSON: their texts, and the values to keep with them.

In: a block of whole lines of a file. Out: an Arrow array of texts, or a list where a line has none,
with a `BadRow` in its place; and a table of what is kept, with a row for each line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from trietok.corpus.row_encoder import one_text
from trietok.errors import FileFormatError, MissingDependencyError, imported
from trietok.files.tables import import_pyarrow, texts_of
from trietok.files.text_rows import BadRow, TextOrBad, object_of_json, text_in_object

_HALF = re.compile("[\ud800-\udfff]")
_MOST_NESTED = 49  # brackets of a value to keep: a Parquet file with more cannot be opened
_DIGITS = 320  # Python reads numbers of twice as many, whatever limit is set
_DIGIT = re.compile(rb"[0-9]")


def rows_of_json(
    block: bytes, lines: Any, name: str, column: str, keep: tuple[str, ...]
) -> tuple[Any, Any]:
    """The rows of lines of JSON, and values to keep: by msgspec, or what that leaves by `json`.

    The lines are those of the block, as an Arrow array, of which nobody has looked if it is UTF-8.
    """
    number = len(lines)
    keys = keep if "." in column else tuple(key for key in keep if key != column)
    rows: list[Any] = [None] * number
    values: list[list[Any]] = [[None] * number for _ in keys]
    others: Iterable[int] = range(number)
    reader = _reader(column, keys)
    if reader is not None and not _may_have_long_number(block):
        with contextlib.suppress(RecursionError):
            rows, values, others = reader.read(block, lines)
    texts = texts_of(lines) if others else []
    for place in others:
        line = texts[place]
        found: Any = object_of_json(line, column) if isinstance(line, str) else line
        rows[place] = _text_to_keep(found, column, keep)
        # what is kept of rows without a text goes with them
        for key, of_key in zip(keys, values, strict=True):
            of_key[place] = found.get(key) if isinstance(rows[place], str) else None
    kept = dict(zip(keys, values, strict=True))
    if len(keys) < len(keep):
        kept[column] = [text if isinstance(text, str) else None for text in rows]
    if not others:  # the kernel reads an array as it is
        rows = import_pyarrow().array(rows, "large_string")
    return rows, table_of(kept, name)


def _may_have_long_number(block: bytes) -> bool:
    starts = (match.start() * _DIGITS for match in _DIGIT.finditer(block[::_DIGITS]))
    return any(block[at : at + _DIGITS].isdigit() for at in starts)


class _JsonReader:
    """Finds texts and values to keep in lines of JSON, by msgspec, which passes over the rest.

    It leaves lines out that `json` takes, such as with NaN. Others it takes where what it passes
    over is not UTF-8, or is a number of too many digits.
    """

    def __init__(self, msgspec: Any, column: str, keep: tuple[str, ...]) -> None:
        first, *inner = column.split(".")
        kind, nothing = str, ""
        for name in reversed(inner):
            kind = msgspec.defstruct("Inner", [("text", kind)], rename={"text": name}, gc=False)
            nothing = kind(nothing)
        names = {"text": first, **{f"kept{place}": key for place, key in enumerate(keep)}}
        if inner:  # a field whose own name has the points goes first
            names["whole"] = column
        none = {"whole": msgspec.UNSET}
        fields = [("text", kind), *((name, Any, none.get(name)) for name in [*names][1:])]
        line = msgspec.defstruct("Line", fields, rename=names, gc=False)
        self._decoder = msgspec.json.Decoder(line)
        self._nothing = line(nothing)  # stands for a line that is left out
        self._text = attrgetter(".".join(["text"] * (1 + len(inner))))
        self._kept = [attrgetter(f"kept{place}") for place in range(len(keep))]
        self._whole, self._unset = attrgetter("whole") if inner else None, msgspec.UNSET
        ours = (UnicodeDecodeError, RecursionError)
        self._errors = (msgspec.MsgspecError, import_pyarrow().ArrowInvalid, *ours)

    def read(self, block: bytes, lines: Any) -> tuple[list[Any], list[list[Any]], list[int]]:
        """The texts of lines, the values to keep by key, and the places of lines left out."""
        objects, others = self._objects(block, lines)
        if self._whole is not None:
            whole = enumerate(map(self._whole, objects))
            others += [place for place, one in whole if one is not self._unset]
        values = [list(map(value_of, objects)) for value_of in self._kept]
        for of_key in values:
            if not {dict, list}.isdisjoint(map(type, of_key)):
                others += [place for place, value in enumerate(of_key) if not _can_be_kept(value)]
        return list(map(self._text, objects)), values, others

    def _objects(self, block: bytes, lines: Any) -> tuple[list[Any], list[int]]:
        compute, number = import_pyarrow("pyarrow.compute"), len(lines)
        # Asked of Arrow, which does not hold the GIL. In an object no closing brace is before an
        # opening one: each line is one, or several.
        ends = compute.starts_with(lines, "{"), compute.ends_with(lines, "}")
        if all(compute.all(are_so).as_py() for are_so in ends):
            with contextlib.suppress(*self._errors):
                one_text(block).validate(full=True)  # whether it is UTF-8
                if len(objects := self._decoder.decode_lines(block)) == number:
                    return objects, []
        objects, others = [self._nothing] * number, []
        for place, line in enumerate(block.split(b"\n", number)[:number]):
            try:
                objects[place] = self._decoder.decode(line.decode())
            except self._errors:
                others.append(place)
        return objects, others


@lru_cache(maxsize=8)
def _reader(column: str, keep: tuple[str, ...]) -> _JsonReader | None:
    """The reader of lines; None without msgspec, or for keys it cannot have, as one twice."""
    try:
        return _JsonReader(imported("msgspec", "corpus"), column, keep)
    except (MissingDependencyError, ValueError):
        return None


def _text_to_keep(values: dict[str, Any] | BadRow, column: str, keep: tuple[str, ...]) -> TextOrBad:
    text = text_in_object(values, column)
    if text is None:
        return BadRow(f"{column!r} is null, not a text")
    if isinstance(text, BadRow) or isinstance(values, BadRow):
        return text
    why = f"half of a surrogate pair, or more than {_MOST_NESTED} brackets within one another"
    bad = (key for key in keep if not _can_be_kept(values.get(key)))
    return next((BadRow(f"{key!r} cannot be kept: it has {why}") for key in bad), text)


def _can_be_kept(value: Any, nested: int = _MOST_NESTED) -> bool:
    if isinstance(value, str):
        return not _HALF.search(value)
    if not isinstance(value, (dict, list)):
        return True
    inner = chain(value, value.values()) if isinstance(value, dict) else value
    return nested > 0 and all(_can_be_kept(one, nested - 1) for one in inner)


def table_of(kept: dict[str, list[Any]], name: str) -> Any:
    """A table of values to keep, of whatever types they have; None where there are none."""
    pa = import_pyarrow()
    columns = {}
    for key, values in kept.items():
        try:
            column = pa.array(values)
        except (pa.ArrowException, OverflowError) as error:
            raise FileFormatError(f"{name}: {key!r} cannot be kept: {error}", path=name) from error
        # No column of a Parquet file holds objects without keys.
        is_empty = pa.types.is_struct(column.type) and not column.type.num_fields
        columns[key] = pa.nulls(len(values)) if is_empty else column
    return pa.table(columns) if columns else None
