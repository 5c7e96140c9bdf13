"""Convert Parquet files of token ids to MosaicML's MDS format.

    pip install pyarrow mosaicml-streaming
    python docs/examples/parquet_to_mds.py IDS_DIR MDS_DIR [--columns input_ids label]

List columns become numpy arrays of the same type. Integers, floats and strings stay what they are.
Rows keep their order: file by file, sorted by name. Read the result with
`streaming.StreamingDataset`.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def mds_encoding(field: pa.Field) -> str:
    """Return the MDS name of a column's type."""
    types, kind = pa.types, field.type
    if types.is_list(kind) and types.is_integer(kind.value_type):
        return f"ndarray:{kind.value_type}"
    if types.is_integer(kind):
        return "int"
    if types.is_floating(kind):
        return "float64"
    if types.is_string(kind) or types.is_large_string(kind):
        return "str"
    raise SystemExit(f"column {field.name!r} has type {kind}; exclude it with --columns")


def is_storable(column: pa.Array) -> bool:
    """Return whether MDS can store the column: it has neither nulls nor empty lists."""
    has_empty = pa.types.is_list(column.type) and pc.any(pc.equal(pc.list_value_length(column), 0))
    return not column.null_count and not (has_empty and has_empty.as_py())


def value_of(scalar: pa.Scalar) -> Any:
    """Return a numpy array for a list, and a Python object for any other value."""
    return scalar.values.to_numpy() if isinstance(scalar, pa.ListScalar) else scalar.as_py()


def convert(paths: list[pathlib.Path], output: str, columns: list[str] | None = None) -> int:
    """Write the rows of Parquet files to the directory `output`, and return their number."""
    schema = pq.read_schema(paths[0])
    encodings = {name: mds_encoding(schema.field(name)) for name in columns or schema.names}
    from streaming import MDSWriter  # a late import, so that --help works without the package

    # Not a `with` statement: it would write the index of an incomplete output after an error.
    writer = MDSWriter(out=output, columns=encodings)
    count = 0
    for path in paths:
        for batch in pq.ParquetFile(path).iter_batches(columns=list(encodings)):
            for name in encodings:
                if not is_storable(batch[name]):
                    raise SystemExit(
                        f"{path}: column {name!r} has a null or an empty list, which MDS cannot"
                        " store; filter these rows"
                    )
            for row in zip(*(batch[name] for name in encodings), strict=True):
                writer.write(dict(zip(encodings, map(value_of, row), strict=True)))
            count += len(batch)
    writer.finish()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description="Convert Parquet files of token ids to MDS.")
    parser.add_argument("ids", type=pathlib.Path, help="directory of Parquet files")
    parser.add_argument("output", help="new or empty directory")
    parser.add_argument("--columns", nargs="+", help="columns to convert; by default all")
    options = parser.parse_args()
    paths = sorted(options.ids.glob("*.parquet"))
    if not paths:
        raise SystemExit(f"no Parquet files in {options.ids}")
    print(f"{convert(paths, options.output, options.columns)} rows in {options.output}")


if __name__ == "__main__":
    main()
