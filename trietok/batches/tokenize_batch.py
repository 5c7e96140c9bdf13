"""`TokenizeBatch`: the one function that every engine runs, from a table with texts to a table with
ids.

In: a pyarrow RecordBatch or Table. Out: the same with the columns of an encoding behind its own;
where a text has several rows, the values of its own row in each of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from trietok.batches.row_encoder import EncodedRows, RowEncoder, may_mean_options_of
from trietok.batches.shard_files import (
    arrow_columns,
    check_text_type,
    column_types,
    require_list_room,
)
from trietok.errors import InputError, InputTypeError
from trietok.files.tables import import_pyarrow, texts_of
from trietok.files.text_rows import BadRow

_SLICE = 4096  # rows whose texts are strs at one time


class TokenizeBatch:
    """Put the ids of a column of texts, or of pairs of texts, beside it.

    It is a function of a batch: call it with a pyarrow RecordBatch or Table, or pass it to an
    engine's map over those (see `docs/corpora.md`). All columns pass through, the texts too. A null
    text is null in every new column, and so is a pair with a null. The columns and their types do
    not depend on the batch: `input_ids` list<int32>; `token_type_ids`, `attention_mask`,
    `special_tokens_mask` list<int8>; `offset_mapping` list<fixed_size_list<int32>[2]>; `length`
    int32.

    **Overflow.** With `return_overflowing_tokens=True`, `truncation` and `stride`, the columns are
    those of the tokenizer's own call. In the fast classes a text has as many rows as it has
    windows: the other columns are repeated in each, and `overflow_to_sample_mapping`, int32, says
    from which row of the batch it is. In the slow classes a text has one row, with what was cut
    off: `overflowing_tokens`, list<int32>, and `num_truncated_tokens`, int32.

    Its pickle leaves out the tokenizer's caches, and is made once. A process that unpickles it
    again and again, as a worker does for each task, makes the tokenizer once, and keeps its caches.

    Args:
        tokenizer: encodes the texts; it must not be changed any more.
        column: the column that holds the texts (with `is_split_into_words`, lists of words).
        pair_column: the column that holds the second text of each pair; None for single texts.
        keep_columns: the columns that pass through; None for all.
        **call_options: those of the tokenizer's call. They decide which columns there are, as in a
            call: by default `input_ids`, `token_type_ids` and `attention_mask`, and what
            `return_special_tokens_mask`, `return_length`, `return_offsets_mapping` and
            `return_overflowing_tokens` ask for. Rows are not padded, but for
            `padding="max_length"`.

    Raises:
        OptionError: an option has no place here, or nothing understands it.
        NotSupportedError: the tokenizer does not have what an option asks for.
        MissingDependencyError: pyarrow is not installed.

    >>> import pyarrow, trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> tokenize = TokenizeBatch(tokenizer, "text", return_token_type_ids=False, return_length=True)
    >>> batch = pyarrow.RecordBatch.from_pydict({"id": [7, 8], "text": ["The people", None]})
    >>> tokenize(batch).to_pylist()
    [{'id': 7, 'text': 'The people', 'input_ids': [2, 134, 289, 3], 'attention_mask': [1, 1, 1, 1],
      'length': 4},
     {'id': 8, 'text': None, 'input_ids': None, 'attention_mask': None, 'length': None}]
    """

    def __init__(
        self,
        tokenizer: Any,
        column: str,
        pair_column: str | None = None,
        *,
        keep_columns: Sequence[str] | None = None,
        **call_options: Any,
    ) -> None:
        import_pyarrow()
        if isinstance(keep_columns, str):
            told = f"keep_columns is {keep_columns!r}; it is a list of columns: [{keep_columns!r}]"
            raise InputTypeError(told, value=keep_columns)
        self.column, self.pair_column = column, pair_column
        self._texts = [column] if pair_column is None else [column, pair_column]
        self.keep = None if keep_columns is None else tuple(keep_columns)
        self.call_options = dict(call_options)
        self._words = bool(call_options.get("is_split_into_words"))
        self._class_name = type(tokenizer).__name__
        with may_mean_options_of(TokenizeBatch):
            self._encoder = RowEncoder(tokenizer, self.call_options, pair_column is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it adds."""
        return self._encoder.names

    def output_schema(self, schema: Any) -> Any:
        """The schema of the result for a schema of batches; some engines need it beforehand.

        Args:
            schema: a pyarrow.Schema that has the column.

        Raises:
            InputError: a column is missing, or one of the new ones is there already.
            InputTypeError: a column of texts holds none.
        """
        self._check(schema)
        pa = import_pyarrow()
        if self.keep is not None:
            schema = pa.schema([schema.field(name) for name in self.keep], schema.metadata)
        for name, kind in column_types(self.names).items():
            schema = schema.append(pa.field(name, kind))
        return schema

    def __call__(self, batch: Any) -> Any:
        """The batch with its ids.

        Args:
            batch: a pyarrow RecordBatch or Table.

        Returns:
            One of the same kind, in the same order; as many rows, but for windows.

        Raises:
            InputTypeError: the batch is something else, or a column of texts holds none.
            InputError: a column is missing, one of the new ones is there already, or a text is not
                UTF-8.
        """
        pa = import_pyarrow()
        if isinstance(batch, pa.RecordBatch):
            return self._tokenized(batch, self.output_schema(batch.schema), 0)
        if not isinstance(batch, pa.Table):
            hint = "give it as a pyarrow RecordBatch or Table"
            if isinstance(batch, Mapping):
                how = "dataset.with_format('arrow').map(...), batch_format='pyarrow'"
                hint = f"ask the engine for Arrow batches: {how}"
            raise InputTypeError(f"the batch is a {type(batch).__name__}; {hint}", value=batch)
        schema = self.output_schema(batch.schema)
        done, parts = 0, []
        for part in batch.to_batches(_SLICE):
            parts.append(self._tokenized(part, schema, done))
            done += len(part)
        return pa.Table.from_batches(parts, schema)

    def _tokenized(self, batch: Any, schema: Any, first: int) -> Any:
        """A RecordBatch, which begins at row `first` of the whole, with its ids."""
        pa = import_pyarrow()
        made, sources = self._encoded([batch.column(name) for name in self._texts], first)
        kept = batch.columns if self.keep is None else [batch.column(name) for name in self.keep]
        if sources is not None:
            rows = pa.array(sources)
            try:
                kept = [column.take(rows) for column in kept]
            except pa.ArrowInvalid as error:
                raise InputError(
                    "the columns of a batch are too large when they are repeated for each window"
                    f" ({error}); give smaller batches, or say with keep_columns which columns to"
                    " keep"
                ) from error
        return pa.RecordBatch.from_arrays([*kept, *made], schema=schema)

    def _check(self, schema: Any) -> None:
        names = schema.names
        for column in (*self._texts, *(self.keep or ())):
            if names.count(column) != 1:
                told = f"column {column!r} {'is there twice' if column in names else 'is missing'}"
                raise InputError(f"{told}; the batch has {', '.join(map(repr, names))}")
        clash = [name for name in self.names if name in (names if self.keep is None else self.keep)]
        if clash:
            told = f"the batch has a column {clash[0]!r} already"
            raise InputError(f"{told}; rename it, or take it out before texts are encoded")
        for column in self._texts:
            check_text_type(schema.field(column).type, column, self._words)

    def _encoded(self, columns: list[Any], first: int) -> tuple[list[Any], list[int] | None]:
        """The new columns for arrays of texts, whose first row is row `first` of the whole.

        And the row of the batch that each of their rows is from; None where those are the same.
        """
        pa = import_pyarrow()
        made: list[Iterable[Any]] = []  # the new columns, slice by slice
        sources: list[int] = []
        number = 0
        for start in range(0, len(columns[0]) or 1, _SLICE):  # an empty batch has new columns too
            texts = [column.slice(start, _SLICE) for column in columns]
            there = _all_valid(texts)
            if not self._words:
                texts = [column.cast("large_string") for column in texts]
            rows = self._encoder.encode_column(texts[0])
            if rows is None:
                rows = self._encoded_one_by_one(texts, there, first + start)
            if rows.samples is not None:
                rows_of = _sources(there, rows.samples)
                sources += [start + source for source in rows_of]
                there = [there[source] for source in rows_of]
                of_whole = (first + start + row for row in compress(rows_of, there))
                rows = rows._replace(samples=array("i", of_whole))
            made.append(arrow_columns(rows, self.names, there).values())
            number += sum(rows.lengths)
        require_list_room(number)
        each = zip(*made, strict=True)
        joined = [one[0] if len(one) == 1 else pa.concat_arrays(one) for one in each]
        return joined, sources if len(sources) > len(columns[0]) else None

    def _encoded_one_by_one(self, columns: list[Any], there: list[bool], first: int) -> EncodedRows:
        """The rows by way of Python's objects, which tell what is wrong with a text."""
        lists = list(map(texts_of, columns))
        for name, texts in zip(self._texts, lists, strict=True):
            for row, text in enumerate(texts, first):
                if isinstance(text, BadRow):
                    raise InputError(f"row {row} of column {name!r}: {text.reason}")
                if self._words and text is not None and None in text:
                    told = f"row {row} of column {name!r}: word {text.index(None)} is null"
                    raise InputError(f"{told}; take nulls out of the lists of words")
        return self._encoder.encode(*(list(compress(texts, there)) for texts in lists))

    def __repr__(self) -> str:
        options = {"keep_columns": self.keep and list(self.keep), "pair_column": self.pair_column}
        given = {name: value for name, value in options.items() if value is not None}
        shown = {**given, **self.call_options}
        more = "".join(f", {name}={value!r}" for name, value in shown.items())
        return f"TokenizeBatch({self._class_name}, {self.column!r}{more})"


def _all_valid(columns: list[Any]) -> list[bool]:
    """For each row whether all columns have a value."""
    pa = import_pyarrow()
    # With its values in place: pyarrow does not count nulls among the values of a dictionary.
    is_coded = pa.types.is_dictionary
    columns = [one.cast(one.type.value_type) if is_coded(one.type) else one for one in columns]
    valid = [column.is_valid().to_pylist() for column in columns if column.null_count]
    return list(map(all, zip(*valid, strict=True))) if valid else [True] * len(columns[0])


def _sources(there: list[bool], samples: Sequence[int]) -> list[int]:
    """For each row of ids the row it is from; one without a text has one row too.

    >>> _sources([True, False, True], [0, 0, 1])
    [0, 0, 1, 2]
    """
    present = [row for row, is_there in enumerate(there) if is_there]
    absent = [row for row, is_there in enumerate(there) if not is_there]
    return sorted([*(present[sample] for sample in samples), *absent])
