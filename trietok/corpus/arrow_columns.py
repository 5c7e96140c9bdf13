"""Rows of ids as Arrow columns of lists; and whether a column holds texts.

In: `Rows`. Out: arrays, made from buffers, so that no token becomes a Python object.
"""

from __future__ import annotations

from array import array
from typing import Any

from trietok.corpus.fast_rows import ID_BYTES, Rows
from trietok.corpus.row_encoder import IDS, LENGTH, OFFSETS, OVERFLOWING, SAMPLES, TRUNCATED
from trietok.errors import InputError, InputTypeError
from trietok.files.text_rows import import_pyarrow

MOST_IDS = 2**31 - 1  # the highest offset of a list array


def check_text_type(kind: Any, column: str, words: bool = False) -> None:
    """Raise for a column whose type is not text (or lists of words).

    Raises:
        InputTypeError: it is not.
    """
    types = import_pyarrow().types
    if types.is_null(kind):
        return
    inner = kind.value_type if types.is_dictionary(kind) else kind
    if words:
        if types.is_list(inner) or types.is_large_list(inner) or types.is_fixed_size_list(inner):
            inner = inner.value_type
        else:
            raise InputTypeError(f"column {column!r} holds {kind}; is_split_into_words wants lists of strings")
    if not (types.is_string(inner) or types.is_large_string(inner) or _is_string_view(inner)):
        raise InputTypeError(f"column {column!r} holds {kind}, not text; cast it to string first", value=str(kind))


def _is_string_view(kind: Any) -> bool:
    return str(kind) == "string_view"


def column_types(names: tuple[str, ...]) -> dict[str, Any]:
    """The Arrow type of each column that an encoding gives, whatever the batch holds."""
    pa = import_pyarrow()
    types = {
        **dict.fromkeys((IDS, OVERFLOWING), pa.list_(pa.int32())),
        **dict.fromkeys((LENGTH, SAMPLES, TRUNCATED), pa.int32()),
        OFFSETS: pa.list_(pa.list_(pa.int32(), 2)),
    }
    return {name: types.get(name, pa.list_(pa.int8())) for name in names}


def arrow_columns(rows: Rows, names: tuple[str, ...], present: list[bool] | None = None) -> dict[str, Any]:
    """Rows as Arrow arrays.

    Args:
        rows: the encodings of the texts there are.
        names: the columns to make.
        present: for each row of the result whether it has a text; None for all. Others become null in every column.

    Raises:
        InputError: more ids than one array can hold.

    >>> columns = arrow_columns(Rows(array("i", [2, 1]), b"\\1\\0\\0\\0" * 3, {}), ("input_ids",), [True, False, True])
    >>> columns["input_ids"].to_pylist()
    [[1, 1], None, [1]]
    """
    pa = import_pyarrow()
    validity, nulls = None, 0
    if present is not None and not all(present):
        nulls = present.count(False)
        validity = pa.array(present, pa.bool_()).buffers()[1]

    def spread(values: array[int]) -> array[int]:
        """The values of the rows there are, and 0 for the others."""
        following = iter(values)
        return array("i", [next(following) if there else 0 for there in present or ()]) if nulls else values

    def flat(kind: Any, values: Any, number: int, validity: Any = None, nulls: int = 0) -> Any:
        return pa.Array.from_buffers(kind, number, [validity, pa.py_buffer(values)], nulls)

    def starts_of(lengths: array[int]) -> Any:
        if sum(lengths) > MOST_IDS:
            raise InputError(
                f"a batch with {sum(lengths):,} ids is too large for an Arrow array of lists; give smaller batches"
            )
        steps = flat(pa.int32(), array("i", [0]) + lengths, 1 + len(lengths))
        return import_pyarrow("pyarrow.compute").cumulative_sum(steps).buffers()[1]

    lengths = spread(rows.lengths)
    total = len(rows.ids) // ID_BYTES
    starts = starts_of(lengths)

    def lists(kind: Any, values: Any, starts: Any = starts) -> Any:
        return pa.Array.from_buffers(kind, len(lengths), [validity, starts], nulls, 0, [values])

    made = {}
    for name, kind in column_types(names).items():
        if name == IDS:
            made[name] = lists(kind, flat(pa.int32(), rows.ids, total))
        elif name == OFFSETS:
            pairs = flat(pa.int32(), rows.offsets or b"", 2 * total)
            spans = pa.Array.from_buffers(kind.value_type, total, [None], 0, 0, [pairs])
            made[name] = lists(kind, spans)
        elif name == OVERFLOWING and rows.overflow is not None:
            cut_off = flat(pa.int32(), rows.overflow.ids, len(rows.overflow.ids) // ID_BYTES)
            made[name] = lists(kind, cut_off, starts_of(spread(rows.overflow.lengths)))
        elif name == TRUNCATED and rows.overflow is not None:
            made[name] = flat(kind, spread(rows.overflow.truncated), len(lengths), validity, nulls)
        elif name == SAMPLES and rows.samples is not None:
            made[name] = flat(kind, spread(rows.samples), len(lengths), validity, nulls)
        elif name == LENGTH:
            made[name] = flat(kind, lengths, len(lengths), validity, nulls)
        else:
            made[name] = lists(kind, flat(pa.int8(), rows.columns[name], total))
    return made
