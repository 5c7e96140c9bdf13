"""Encode the texts of Arrow tables: one function that Ray, Spark, datasets and others can map."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache
from inspect import signature
from itertools import compress
from operator import itemgetter
from typing import Any

from trietok.errors import InputError, InputTypeError, NotSupportedError, OptionError, kind_of
from trietok.files.tables import import_pyarrow, is_text_type, texts_of
from trietok.files.text_rows import BadRow
from trietok.inputs.flat import FlatRows
from trietok.inputs.options import OF_CALLS, CallOptions
from trietok.inputs.tensors import MOST_IDS

IDS, OFFSETS, LENGTH = "input_ids", "offset_mapping", "length"
MASKS = ("token_type_ids", "attention_mask", "special_tokens_mask")
SAMPLES = "overflow_to_sample_mapping"

ROWS_AT_ONCE = 4096  # of a table: a call makes a Python object for each of their tokens
_REFUSED = {
    "text": "the texts are in a column",
    **dict.fromkeys(("text_pair", "text_target", "text_pair_target"), "texts are in columns"),
    "return_tensors": "the ids become Arrow columns",
}


class TokenizeBatch:
    """Add the ids of a column of texts, or of pairs of texts, to Arrow tables.

    Call it with a pyarrow RecordBatch or Table, or pass it to an engine that maps a function over
    them. All columns pass through. A null text is null in every new column, and so is a pair with a
    null. The columns and their types do not depend on the batch: `input_ids` list<int32>;
    `token_type_ids`, `attention_mask`, `special_tokens_mask` list<int8>; `offset_mapping`
    list<list<int32>>; `length` and `overflow_to_sample_mapping` int32.

    A row has the ids of a call with a list of one text, or of one pair: an empty second text counts
    as a pair.

    **Windows.** With a fast tokenizer, `return_overflowing_tokens=True`, `truncation` and `stride`,
    a text has as many rows as it has windows. The other columns are repeated in each, and
    `overflow_to_sample_mapping` is the number of its row in the batch.

    Its pickle has the tokenizer without caches. A process that unpickles it again, as a worker does
    for each task, reuses the tokenizer and its caches.

    Args:
        tokenizer: encodes the texts; do not change it afterwards.
        column: the column with the texts (lists of words with `is_split_into_words`).
        pair_column: the column with the second texts of pairs; by default there are no pairs.
        keep_columns: the columns that pass through; by default all.
        **call_options: options of the tokenizer's call. They decide which columns there are: by
            default `input_ids`, `token_type_ids` and `attention_mask`. Rows are padded only with
            `padding="max_length"`.

    Raises:
        OptionError: an option is unknown, or depends on the other texts of a batch.
        NotSupportedError: the tokenizer does not support an option.
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
        check_names("keep_columns", keep_columns)
        if isinstance(tokenizer, type) or not callable(tokenizer):
            raise InputTypeError(
                f"the tokenizer is {kind_of(tokenizer)}; pass one that is loaded, such as"
                " BertTokenizer.from_pretrained('trietok-en')",
                value=tokenizer,
            )
        self.column, self.pair_column = column, pair_column
        self.keep_columns = None if keep_columns is None else tuple(keep_columns)
        self.call_options = dict(call_options)
        self._tokenizer = tokenizer
        self._text_columns = [column] if pair_column is None else [column, pair_column]
        self._has_words = bool(call_options.get("is_split_into_words"))
        self._options = {
            name: value for name, value in call_options.items() if name not in _REFUSED
        }
        _check_options(call_options)
        with suggesting_options_of(TokenizeBatch):
            self.names = self._names_of_columns()
        # The kernel reads texts in Arrow's buffers if neither pairs, padding, spans nor windows are
        # wanted.
        is_plain = pair_column is None and {*self.names} <= {IDS, *MASKS, LENGTH}
        is_plain = is_plain and not self._has_words and call_options.get("padding") != "max_length"
        options = {**self._options, "return_length": False}  # which each row shows
        is_plain = is_plain and options.keys() <= {*CallOptions._fields}
        self._flat_options = CallOptions(**options) if is_plain else None

    def _names_of_columns(self) -> tuple[str, ...]:
        """Encode a short text, which also checks the options."""
        text: Any = [["a"]] if self._has_words else ["a"]
        texts = [text] * len(self._text_columns)
        names = list(self._tokenizer(*texts, **{**self._options, "verbose": False}))
        if self.call_options.get("return_overflowing_tokens") and SAMPLES not in names:
            raise NotSupportedError(
                "return_overflowing_tokens gives rows for windows only with a fast tokenizer; use"
                " BertTokenizerFast",
                name="return_overflowing_tokens",
            )
        for name in names:
            if name not in (IDS, OFFSETS, *MASKS, SAMPLES, LENGTH):
                raise OptionError(f"the tokenizer returns {name!r}, an unknown column", name=name)
        if IDS not in names:
            raise InputError(f"the tokenizer returns no {IDS}, only {', '.join(names)}")
        return tuple(sorted(names, key=LENGTH.__eq__))  # the length last

    @property
    def columns_read(self) -> list[str]:
        """The columns of a batch that are needed: those of the texts, and `keep_columns`."""
        return list(dict.fromkeys([*self._text_columns, *(self.keep_columns or ())]))

    # ---- schemas ---------------------------------------------------------------------------------

    def output_schema(self, schema: Any) -> Any:
        """Return the schema of the result for a schema of batches. Spark needs it in advance.

        Args:
            schema: a pyarrow.Schema that has the columns of texts.

        Raises:
            InputError: a column is missing, or has the name of a new one.
            InputTypeError: a column does not hold texts.
        """
        self._check(schema)
        pyarrow = import_pyarrow()
        if self.keep_columns is not None:
            fields = [schema.field(name) for name in self.keep_columns]
            schema = pyarrow.schema(fields, schema.metadata)
        for name in self.names:
            schema = schema.append(pyarrow.field(name, _type_of(name)))
        return schema

    def _check(self, schema: Any) -> None:
        names = schema.names
        for column in (*self._text_columns, *(self.keep_columns or ())):
            if names.count(column) != 1:
                problem = "occurs twice" if column in names else "is missing"
                columns = ", ".join(map(repr, names))
                raise InputError(f"column {column!r} {problem}; the batch has {columns}")
        kept = names if self.keep_columns is None else self.keep_columns
        for name in self.names:
            if name in kept:
                raise InputError(
                    f"the batch already has a column {name!r}; rename it or leave it out"
                )
        for column in self._text_columns:
            _check_text_type(schema.field(column).type, column, self._has_words)

    # ---- batches ---------------------------------------------------------------------------------

    def __call__(self, batch: Any) -> Any:
        """Return a batch with its ids.

        Args:
            batch: a pyarrow RecordBatch or Table.

        Returns:
            One of the same kind, in the same order. It has the same number of rows, except with
            windows.

        Raises:
            InputTypeError: the batch is something else, or a column does not hold texts.
            InputError: a column is missing or has the name of a new one, or a text is not UTF-8.
        """
        pyarrow = import_pyarrow()
        if isinstance(batch, pyarrow.RecordBatch):
            return self._tokenized(batch, self.output_schema(batch.schema), 0)
        if not isinstance(batch, pyarrow.Table):
            advice = "pass a pyarrow RecordBatch or Table"
            if isinstance(batch, Mapping):
                examples = "dataset.with_format('arrow').map(...), batch_format='pyarrow'"
                advice = f"ask the engine for Arrow batches: {examples}"
            raise InputTypeError(f"the batch is a {type(batch).__name__}; {advice}", value=batch)
        schema = self.output_schema(batch.schema)
        rows, parts = 0, []
        for part in batch.to_batches(ROWS_AT_ONCE):
            parts.append(self._tokenized(part, schema, rows))
            rows += len(part)
        return pyarrow.Table.from_batches(parts, schema)

    def _tokenized(self, batch: Any, schema: Any, first: int) -> Any:
        """Return a RecordBatch with its ids; it begins at row `first` of the table."""
        pyarrow = import_pyarrow()
        texts = [batch.column(name) for name in self._text_columns]
        is_present = _is_valid(texts)
        columns = self._flat_columns(texts, is_present, first)
        if columns is None:
            columns = self._columns_of_call(texts, is_present, first)
        kept = batch.columns
        if self.keep_columns is not None:
            kept = list(map(batch.column, self.keep_columns))
        samples = columns.get(SAMPLES)
        if samples is not None or not all(is_present):
            numbers = range(sum(is_present)) if samples is None else samples.to_pylist()
            sources, places = _rows_with_nulls(is_present, numbers)
            places = pyarrow.array(places, pyarrow.int32())
            columns = {name: column.take(places) for name, column in columns.items()}
            if samples is not None:
                of_table = [first + row if is_present[row] else None for row in sources]
                columns[SAMPLES] = pyarrow.array(of_table, pyarrow.int32())
                kept = _repeated(kept, pyarrow.array(sources, pyarrow.int32()))
        new = [columns[name] for name in self.names]
        return pyarrow.RecordBatch.from_arrays([*kept, *new], schema=schema)

    def _flat_columns(
        self, columns: list[Any], is_present: list[bool], first: int
    ) -> dict[str, Any] | None:
        """Return the columns of the texts, without rows for nulls, without a call.

        The kernel reads the texts in Arrow's buffers. Returns None if only a call is right.
        """
        if self._flat_options is None or not hasattr(self._tokenizer, "snapshot"):
            return None
        snapshot = self._tokenizer.snapshot()  # now: the tokenizer may have changed
        flat_call = snapshot.flat_call(self._flat_options)
        if flat_call is None:
            return None
        buffers = _buffers_of(columns[0].cast("large_string"))
        pipeline = snapshot.call_pipeline
        flat = pipeline.flat_of_buffers(*buffers, *flat_call.cut)
        if flat is None:  # there is no kernel, or a text is not UTF-8
            (texts,) = self._present_texts(columns, is_present, first)
            flat = pipeline.flat(texts, *flat_call.cut)
        return _arrow_columns(flat_call.rows(flat), self.names)

    def _columns_of_call(
        self, columns: list[Any], is_present: list[bool], first: int
    ) -> dict[str, Any]:
        """Return the columns of the texts, without rows for nulls, as a call encodes them."""
        pyarrow = import_pyarrow()
        texts = self._present_texts(columns, is_present, first)
        encoding: Mapping[str, Any] = dict.fromkeys(self.names, ())
        if texts[0]:
            encoding = self._tokenizer(*texts, **self._options)
        return {name: pyarrow.array(encoding[name], _type_of(name)) for name in self.names}

    def _present_texts(
        self, columns: list[Any], is_present: list[bool], first: int
    ) -> list[list[Any]]:
        """Return the texts of each column, without nulls; the first is in row `first`."""
        texts = list(map(texts_of, columns))
        for name, column in zip(self._text_columns, texts, strict=True):
            for row, text in enumerate(column, first):
                if isinstance(text, BadRow):
                    raise InputError(f"row {row} of column {name!r}: {text.reason}")
                if self._has_words and text is not None and None in text:
                    raise InputError(
                        f"row {row} of column {name!r}: word {text.index(None)} is null; remove"
                        " nulls from the lists of words"
                    )
        return [list(compress(column, is_present)) for column in texts]

    # ---- other processes -------------------------------------------------------------------------

    def __reduce__(self) -> Any:
        tokenizer = pickle.dumps(self._tokenizer, pickle.HIGHEST_PROTOCOL)
        columns = self.column, self.pair_column, self.keep_columns
        return _restored, (tokenizer, *columns, self.call_options)

    def __repr__(self) -> str:
        kept = self.keep_columns and list(self.keep_columns)
        options = {"keep_columns": kept, "pair_column": self.pair_column}
        shown = {name: value for name, value in options.items() if value is not None}
        more = "".join(
            f", {name}={value!r}" for name, value in {**shown, **self.call_options}.items()
        )
        return f"TokenizeBatch({type(self._tokenizer).__name__}, {self.column!r}{more})"


@lru_cache(maxsize=4)
def _unpickled(tokenizer: bytes) -> Any:
    return pickle.loads(tokenizer)


def _restored(
    tokenizer: bytes,
    column: str,
    pair_column: str | None,
    keep_columns: tuple[str, ...] | None,
    call_options: dict[str, Any],
) -> TokenizeBatch:
    return TokenizeBatch(
        _unpickled(tokenizer), column, pair_column, keep_columns=keep_columns, **call_options
    )


# ---- options -------------------------------------------------------------------------------------


def check_names(option: str, names: Any) -> None:
    """Raise an InputTypeError if a list of names is a single one."""
    if isinstance(names, str):
        raise InputTypeError(f"{option} is {names!r}; it is a list: [{names!r}]", value=names)


def _check_options(options: Mapping[str, Any]) -> None:
    for name, reason in _REFUSED.items():
        if options.get(name):
            raise OptionError(f"{name} is not supported here: {reason}; leave it out", name=name)
    if options.get("padding") not in (None, False, "do_not_pad", "max_length"):
        raise OptionError(
            f"padding={options['padding']!r} depends on the other texts of a batch, and engines"
            " choose the batches; pad with a collator, or pass padding='max_length'",
            name="padding",
        )


@contextmanager
def suggesting_options_of(function: Callable[..., Any]) -> Iterator[None]:
    """Suggest an option of a function for one that no call of a tokenizer takes.

    >>> from trietok import BertTokenizer, TokenizeBatch
    >>> TokenizeBatch(BertTokenizer.from_pretrained("trietok-en"), "text", keep_colums=["id"])
    Traceback (most recent call last):
        ...
    trietok.errors.OptionError: no such option: 'keep_colums'; did you mean 'keep_columns'?
    """
    try:
        yield
    except OptionError as error:
        known = () if error.name in OF_CALLS else signature(function).parameters
        similar = get_close_matches(error.name, known, n=1, cutoff=0.75)
        if not similar:
            raise
        message = f"no such option: {error.name!r}; did you mean {similar[0]!r}?"
        raise OptionError(message, name=error.name) from None


# ---- Arrow ---------------------------------------------------------------------------------------


def _type_of(name: str) -> Any:
    """Return the Arrow type of a new column."""
    pyarrow = import_pyarrow()
    if name == IDS:
        return pyarrow.list_(pyarrow.int32())
    if name == OFFSETS:
        return pyarrow.list_(pyarrow.list_(pyarrow.int32()))  # Spark has no lists of fixed size
    return pyarrow.list_(pyarrow.int8()) if name in MASKS else pyarrow.int32()


def _check_text_type(kind: Any, column: str, has_words: bool) -> None:
    types = import_pyarrow().types
    if types.is_null(kind):
        return
    texts = kind
    if has_words:
        lists = kind.value_type if types.is_dictionary(kind) else kind
        if not (
            types.is_list(lists) or types.is_large_list(lists) or types.is_fixed_size_list(lists)
        ):
            message = f"column {column!r} holds {kind}; is_split_into_words needs lists of strings"
            raise InputTypeError(message)
        texts = lists.value_type
    if not is_text_type(texts):
        raise InputTypeError(
            f"column {column!r} holds {kind}, not text; cast it to string", value=str(kind)
        )


def _is_valid(columns: list[Any]) -> list[bool]:
    """Return for each row whether all columns have a value."""
    is_dictionary = import_pyarrow().types.is_dictionary
    # pyarrow does not count nulls among the values of a dictionary.
    columns = [
        column.cast(column.type.value_type) if is_dictionary(column.type) else column
        for column in columns
    ]
    valid = [column.is_valid().to_pylist() for column in columns if column.null_count]
    return list(map(all, zip(*valid, strict=True))) if valid else [True] * len(columns[0])


def _rows_with_nulls(
    is_present: list[bool], samples: Sequence[int]
) -> tuple[list[int], list[int | None]]:
    """Return for each row of the result its row of the batch and its encoded row, None for a null.

    `samples` has the number of its text for each encoded row.

    >>> _rows_with_nulls([True, False, True], [0, 0, 1])
    ([0, 0, 1, 2], [0, 1, None, 2])
    """
    present = [row for row, is_valid in enumerate(is_present) if is_valid]
    encoded = [(present[sample], place) for place, sample in enumerate(samples)]
    nulls = [(row, None) for row, is_valid in enumerate(is_present) if not is_valid]
    rows = sorted([*encoded, *nulls], key=itemgetter(0))
    return [row for row, _ in rows], [place for _, place in rows]


def _repeated(columns: list[Any], rows: Any) -> list[Any]:
    try:
        return [column.take(rows) for column in columns]
    except import_pyarrow().ArrowException as error:
        raise InputError(
            f"a column cannot be repeated for each window ({error}); pass smaller batches, or"
            " choose columns with keep_columns"
        ) from error


def _buffers_of(texts: Any) -> tuple[Any, Any, int, int]:
    """Return the texts of an array of `large_string`, without its nulls, as the kernel reads them.

    These are their bytes, int64 offsets, the index of the first offset, and the number of texts.

    >>> data, offsets, *numbers = _buffers_of(
    ...     import_pyarrow().array(["a", None, "bc"], "large_string")
    ... )
    >>> bytes(data), memoryview(offsets).cast("q").tolist(), numbers
    (b'abc', [0, 1, 3], [0, 2])
    """
    if texts.null_count:
        texts = texts.drop_null()  # a null may have bytes
    if not len(texts):
        return b"", bytes(8), 0, 0
    _, offsets, data = texts.buffers()
    return data or b"", offsets, texts.offset, len(texts)


def _arrow_columns(rows: FlatRows, names: Sequence[str]) -> dict[str, Any]:
    """Return flat rows as Arrow arrays, without a Python object for a token."""
    pyarrow = import_pyarrow()
    lengths, ids, masks = rows
    count = len(ids) // 4
    if count > MOST_IDS:
        raise InputError(f"a batch with {count:,} ids is too large for Arrow; pass smaller batches")

    def numbers(kind: Any, content: Any, size: int) -> Any:
        return pyarrow.Array.from_buffers(kind, size, [None, pyarrow.py_buffer(content)])

    steps = numbers(pyarrow.int32(), array("i", [0]) + lengths, len(lengths) + 1)
    ends = import_pyarrow("pyarrow.compute").cumulative_sum(steps)
    columns = {LENGTH: numbers(pyarrow.int32(), lengths, len(lengths))}
    for name in names:
        if name != LENGTH:
            kind = _type_of(name)
            values = numbers(kind.value_type, ids if name == IDS else masks[name], count)
            columns[name] = pyarrow.ListArray.from_arrays(ends, values, type=kind)
    return columns
