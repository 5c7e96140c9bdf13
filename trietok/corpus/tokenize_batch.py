"""`TokenizeBatch`: the one function that every engine runs, from a table with texts to a table with ids.

In: a pyarrow RecordBatch or Table. Out: the same with the columns of an encoding behind its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import chain
from typing import Any

from trietok.corpus.arrow_columns import arrow_columns, check_text_type, column_types
from trietok.corpus.fast_rows import Rows
from trietok.corpus.row_encoder import RowEncoder
from trietok.corpus.text_buffers import large_strings
from trietok.errors import InputError, InputTypeError
from trietok.files.text_rows import BadRow, import_pyarrow, texts_of

_SLICE = 4096  # rows whose texts are strs at one time


class TokenizeBatch:
    """Put the ids of a column of texts beside it.

    It is a function of a batch: call it with a pyarrow RecordBatch or Table, or pass it to an engine's map over those
    (see `docs/corpora.md`). All columns pass through, the texts too. A null text is null in every new column. The
    columns and their types do not depend on the batch: `input_ids` list<int32>; `token_type_ids`, `attention_mask`,
    `special_tokens_mask` list<int8>; `offset_mapping` list<fixed_size_list<int32>[2]>; `length` int32.

    Its pickle leaves out the tokenizer's caches, and is made once. A process that unpickles it again and again, as a
    worker does for each task, makes the tokenizer once, and keeps its caches. One that was forked after it was pickled
    has the tokenizer and its caches already.

    Args:
        tokenizer: encodes the texts; it must not be changed any more.
        column: the column that holds the texts (with `is_split_into_words`, lists of words).
        **call_options: those of the tokenizer's call. They decide which columns there are, as in a call: by default
            `input_ids`, `token_type_ids` and `attention_mask`, and what `return_special_tokens_mask`, `return_length`
            and `return_offsets_mapping` ask for. Rows are not padded, but for `padding="max_length"`.

    Raises:
        OptionError: an option has no place here, or nothing understands it.
        NotSupportedError: the tokenizer does not have what an option asks for.
        MissingDependencyError: pyarrow is not installed.

    >>> import pyarrow, trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> tokenize = TokenizeBatch(tokenizer, "text", return_token_type_ids=False, return_length=True)
    >>> batch = pyarrow.RecordBatch.from_pydict({"id": [7, 8], "text": ["The people", None]})
    >>> tokenize(batch).to_pylist()
    [{'id': 7, 'text': 'The people', 'input_ids': [2, 134, 289, 3], 'attention_mask': [1, 1, 1, 1], 'length': 4},
     {'id': 8, 'text': None, 'input_ids': None, 'attention_mask': None, 'length': None}]
    """

    def __init__(self, tokenizer: Any, column: str, **call_options: Any) -> None:
        import_pyarrow()
        self.column = column
        self.call_options = dict(call_options)
        self._class_name = type(tokenizer).__name__
        self._encoder = RowEncoder(tokenizer, self.call_options)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it adds."""
        return self._encoder.names

    def output_schema(self, schema: Any) -> Any:
        """The schema of the result for batches with a given schema, which some engines need beforehand.

        Args:
            schema: a pyarrow.Schema that has the column.

        Raises:
            InputError: the column is missing, or one of the new ones is there already.
            InputTypeError: it holds no text.
        """
        self._check(schema)
        for name, kind in column_types(self.names).items():
            schema = schema.append(import_pyarrow().field(name, kind))
        return schema

    def __call__(self, batch: Any) -> Any:
        """The batch with its ids.

        Args:
            batch: a pyarrow RecordBatch or Table.

        Returns:
            One of the same kind, as many rows in the same order.

        Raises:
            InputTypeError: the batch is something else, or the column holds no text.
            InputError: the column is missing, one of the new ones is there already, or a text is not UTF-8.
        """
        pa = import_pyarrow()
        if isinstance(batch, pa.RecordBatch):
            self._check(batch.schema)
            columns = self._encoded(batch.column(self.column), 0)
            schema = self.output_schema(batch.schema)
            return pa.RecordBatch.from_arrays([*batch.columns, *columns.values()], schema=schema)
        if not isinstance(batch, pa.Table):
            raise _not_arrow(batch)
        self._check(batch.schema)
        chunks: dict[str, list[Any]] = {name: [] for name in self.names}
        done = 0
        for texts in batch.column(self.column).chunks:
            for start in range(0, len(texts), _SLICE):
                for name, column in self._encoded(texts.slice(start, _SLICE), done + start).items():
                    chunks[name].append(column)
            done += len(texts)
        for name, kind in column_types(self.names).items():
            batch = batch.append_column(pa.field(name, kind), pa.chunked_array(chunks[name], kind))
        return batch

    def _check(self, schema: Any) -> None:
        names = schema.names
        if names.count(self.column) != 1:
            there = "is there twice" if self.column in names else "is missing"
            raise InputError(f"column {self.column!r} {there}; the batch has {', '.join(map(repr, names))}")
        clash = [name for name in self.names if name in names]
        if clash:
            raise InputError(
                f"the batch has a column {clash[0]!r} already; rename it, or take it out before texts are encoded"
            )
        check_text_type(schema.field(self.column).type, self.column, self._words)

    def _encoded(self, column: Any, first: int) -> dict[str, Any]:
        """The new columns for an array of texts, whose first row is row `first` of the batch."""
        parts: list[Rows] = []
        present: list[bool] = []
        for start in range(0, len(column), _SLICE):
            texts = column.slice(start, _SLICE)
            if not self._words:
                texts = large_strings(texts)
            rows = self._encoder.encode_column(texts)
            if rows is None:
                rows = self._encoded_one_by_one(texts, first + start)
            parts.append(rows)
            present += texts.is_valid().to_pylist() if texts.null_count else [True] * len(texts)
        rows = parts[0] if len(parts) == 1 else _joined(parts, self._encoder)
        return arrow_columns(rows, self.names, present)

    def _encoded_one_by_one(self, column: Any, first: int) -> Rows:
        """The rows of an array of texts by way of Python's objects, which tell what is wrong with a text."""
        texts = texts_of(column)
        for row, text in enumerate(texts, first):
            if isinstance(text, BadRow):
                raise InputError(f"row {row} of column {self.column!r}: {text.reason}")
            if self._words and text is not None and None in text:
                raise InputError(
                    f"row {row} of column {self.column!r}: word {text.index(None)} is null; take nulls out of the "
                    "lists of words"
                )
        return self._encoder.encode([text for text in texts if text is not None])

    @property
    def _words(self) -> bool:
        return bool(self.call_options.get("is_split_into_words"))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.call_options.items())
        return f"TokenizeBatch({self._class_name}, {self.column!r}{options})"


def _joined(parts: list[Rows], encoder: RowEncoder) -> Rows:
    if not parts:
        return encoder.encode_by_call([])
    offsets = None if parts[0].offsets is None else b"".join(part.offsets or b"" for part in parts)
    return Rows(
        array("i", chain.from_iterable(part.lengths for part in parts)),
        b"".join(part.ids for part in parts),
        {name: b"".join(part.columns[name] for part in parts) for name in parts[0].columns},
        offsets,
    )


def _not_arrow(batch: Any) -> InputTypeError:
    hint = "give it as a pyarrow RecordBatch or Table"
    if isinstance(batch, Mapping):
        hint = "ask the engine for Arrow batches: dataset.with_format('arrow').map(...), batch_format='pyarrow'"
    return InputTypeError(f"the batch is a {type(batch).__name__}; {hint}", value=batch)
