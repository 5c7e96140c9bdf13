"""Lines of JSON: their texts, and the values to keep with them.

A line without a text is a `BadRow`. The table of the values has a row for each line.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

from trietok.errors import FileFormatError
from trietok.files.tables import import_pyarrow, texts_of
from trietok.files.text_rows import BadRow, TextOrBad, object_of_json, text_in_object

_HALF = re.compile("[\ud800-\udfff]")
_MOST_NESTED = 49  # brackets of a value to keep: a Parquet file with more cannot be opened


def rows_of_json(
    lines: Any, name: str, column: str, keep: tuple[str, ...]
) -> tuple[list[TextOrBad], Any]:
    """The rows of lines of JSON, and a table of the values to keep; None if there are none.

    The lines are an Arrow array of strings, which may not be UTF-8.
    """
    objects: list[Any] = [
        object_of_json(line, column) if isinstance(line, str) else line for line in texts_of(lines)
    ]
    rows = [_text_to_keep(found, column, keep) for found in objects]
    # Values of a row without a text go with it, and decide no type.
    pairs = list(zip(objects, rows, strict=True))
    kept = {
        key: [values.get(key) if isinstance(text, str) else None for values, text in pairs]
        for key in keep
    }
    return rows, table_of(kept, name)


def _text_to_keep(values: dict[str, Any] | BadRow, column: str, keep: tuple[str, ...]) -> TextOrBad:
    text = text_in_object(values, column)
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
