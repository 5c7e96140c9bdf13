"""Texts to rows of ids under the options of a call.

In: a tokenizer, the options of a call, and texts or pairs of texts, as strs or in an Arrow array.
Out: `EncodedRows`, the same either way: int32 ids in one run of bytes, and the length of each row.
Options that make a row depend on other texts of the batch are refused, because an engine cuts
batches as it likes.

Texts in Arrow lie one behind the other as UTF-8, with offsets. The compiled kernel reads them as
they are: no Python object is made for a text, and whether the bytes are UTF-8 is left to who reads
them.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import signature
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from trietok.errors import InputError, InputTypeError, OptionError, kind_of
from trietok.files.tables import import_pyarrow
from trietok.inputs.flat import FlatCall
from trietok.inputs.options import OF_CALLS, CallOptions
from trietok.locks import ForkSafeLock
from trietok.text.kernel.choosing import TEXT_AT_ONCE_BEFORE_KERNEL, threads_allowed
from trietok.text.pipeline import Pipeline


def _buffer_of(texts: Any) -> tuple[Any, Any, int, int]:
    """The texts of an array of `large_string`, without its nulls, as the kernel reads them.

    Their bytes; int64 offsets of where each starts and the last one ends; the place of the first
    offset; their number.

    >>> data, offsets, *numbers = _buffer_of(
    ...     import_pyarrow().array(["a", None, "bc"], "large_string")
    ... )
    >>> bytes(data), memoryview(offsets).cast("q").tolist(), numbers
    (b'abc', [0, 1, 3], [0, 2])
    """
    if texts.null_count:
        texts = texts.drop_null()  # whatever bytes a null may have
    if not len(texts):
        return b"", bytes(8), 0, 0
    _, offsets, data = texts.buffers()
    return data or b"", offsets, texts.offset, len(texts)


def one_text(block: bytes) -> Any:
    """A block, without the line feed at its end, as an array with one string, not looked at."""
    pyarrow = import_pyarrow()
    bounds = struct.pack("qq", 0, len(block) - block.endswith(b"\n"))
    buffers = [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(block)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), 1, buffers)


def lines_of_block(block: bytes) -> Any:
    """The lines of a block, which may lack the line feed at its end, as an array of strings.

    >>> lines_of_block(b"a\\n\\nb\\r\\n").to_pylist()
    ['a', '', 'b\\r']
    """
    return import_pyarrow("pyarrow.compute").split_pattern(one_text(block), "\n").values


# ---- rows ----------------------------------------------------------------------------------------

ID_BYTES = 4  # of an id: int32
_MOST_RECEIVED = 4  # encoders that a process keeps for the functions it unpickles


class Overflow(NamedTuple):
    """What a slow tokenizer cut off."""

    lengths: array[int]  # for each text, how many ids were cut off, int32
    ids: bytes  # those of all texts, int32
    truncated: array[int]  # tokens beyond `max_length`, int32; below 0 where there was room left


class EncodedRows(NamedTuple):
    """The encodings of several texts, one behind the other."""

    lengths: array[int]  # how many ids each row has, int32
    ids: bytes | bytearray  # those of all rows, int32
    columns: dict[str, bytes]  # masks and type ids by name: a byte for each id
    # These are there if they are asked for: the span of each token in its text, two int32 for each
    # id; the number of each row's text, int32, where a text has several.
    offsets: bytes | None = None
    samples: array[int] | None = None
    overflow: Overflow | None = None


IDS, OFFSETS, LENGTH = "input_ids", "offset_mapping", "length"
SMALL_COLUMNS = ("token_type_ids", "attention_mask", "special_tokens_mask")
SAMPLES = "overflow_to_sample_mapping"  # a Rust tokenizer gives a row for each window of a text
OVERFLOWING, TRUNCATED = "overflowing_tokens", "num_truncated_tokens"  # what a slow one cut off
COLUMNS = (IDS, OFFSETS, *SMALL_COLUMNS, SAMPLES, OVERFLOWING, TRUNCATED)

_REFUSED = {
    "text": "texts come from the column",
    **dict.fromkeys(("text_pair", "text_target", "text_pair_target"), "texts come from columns"),
    "return_tensors": "the ids come as Arrow columns",
}


# What this process has sent, for those forked from it, which have the encoder already. A process
# itself reads its own pickle: what it sent and what it gets are two tokenizers.
_sent: WeakValueDictionary[bytes, RowEncoder] = WeakValueDictionary()
# The encoders that it has got last: a worker gets the same function for each of its tasks.
_received: dict[bytes, RowEncoder] = {}
_receiving = ForkSafeLock()


@contextmanager
def may_mean_options_of(function: Callable[..., Any]) -> Iterator[None]:
    """Name the option of a function that may be meant by one that no call of a tokenizer takes.

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
        near = get_close_matches(error.name, known, n=1, cutoff=0.75)
        if not near:
            raise
        told = f"no such option: {error.name!r}; did you mean {near[0]!r}?"
        raise OptionError(told, name=error.name) from None


class RowEncoder:
    """Encodes texts to rows, each text as a call with these options does.

    Where the options allow it, no call is made: the pipeline of the tokenizer gives the ids, and
    with the compiled kernel no int is made for a token.

    Its pickle, of which `TokenizeBatch` tells, is made anew only after the tokenizer has changed:
    `pickled` is the one that the tokenizer was read from, and its SHA-256.
    """

    names: tuple[str, ...]  # of the columns that the options give, in the order of a call's result
    gives_windows: bool  # whether a text may have several rows
    # says how many the kernel may use for a batch; None for the one that calls
    threads: Callable[[], int] | None
    sent_by: int | None  # the process that has pickled it

    def __init__(
        self,
        tokenizer: Any,
        options: dict[str, Any],
        has_pairs: bool = False,
        pickled: tuple[bytes, bytes] | None = None,
    ) -> None:
        self.threads = threads_allowed
        if isinstance(tokenizer, type) or not callable(tokenizer):
            told = f"the tokenizer is {kind_of(tokenizer)}; pass one that is loaded, such as"
            raise InputTypeError(
                f"{told} BertTokenizer.from_pretrained('trietok-en')", value=tokenizer
            )
        for name, reason in _REFUSED.items():
            if options.get(name):
                raise OptionError(f"{name} has no place here: {reason}; leave it out", name=name)
        if options.get("padding") not in (None, False, "do_not_pad", "max_length"):
            raise OptionError(
                f"padding={options['padding']!r} depends on the texts around a text, and batches"
                " are cut as the engine likes; pad when training batches are made, or give"
                " padding='max_length'",
                name="padding",
            )
        self._tokenizer = tokenizer
        self._given = options, has_pairs
        others = ("return_length", *_REFUSED)
        self._options = {name: value for name, value in options.items() if name not in others}
        # Encoding one text shows whether the options are valid, and which columns they give.
        words = options.get("is_split_into_words")
        is_padded = options.get("padding") == "max_length"
        text: Any = [["a"]] if words else ["a"]
        texts = [text, text] if has_pairs else [text]
        probe = tokenizer(*texts, **{**self._options, "verbose": False})
        for name in probe:
            if name not in COLUMNS:
                told = f"the tokenizer returns {name!r}, which has no column here"
                raise OptionError(told, name=name)
        if IDS not in probe:
            raise InputError(f"the tokenizer returns no {IDS}, only {', '.join(probe)}")
        self.names = (*probe, *([LENGTH] if options.get("return_length") else []))
        self.gives_windows = SAMPLES in self.names
        # A slow tokenizer's call for one text, not for a batch, leaves a text without ids as it is.
        is_slow = getattr(tokenizer, "profile", None) == "slow"
        self._leaves_empty = is_slow and is_padded and not options.get("add_special_tokens", True)
        more = map(options.get, ("return_offsets_mapping", "return_overflowing_tokens"))
        by_call = has_pairs or words or is_padded or any(more)
        has_plan = not by_call and self._options.keys() <= set(CallOptions._fields)
        self._call = CallOptions(**self._options) if has_plan else None
        self._pickled = pickled
        # of the tokenizer, when it was pickled
        self._state = None if pickled is None else self._state_now()
        self.sent_by = None

    # ---- without a call --------------------------------------------------------------------------

    def _now(self) -> tuple[Pipeline, FlatCall] | None:
        """The pipeline and what makes rows of its ids; None where only a call gives the right rows.

        It is asked each time: the tokenizer may have changed, or a user may have set a method of
        it, and its calls go through that one then.
        """
        if self._call is None or not hasattr(self._tokenizer, "snapshot"):
            return None
        snapshot = self._tokenizer.snapshot()
        flat_call = snapshot.flat_call(self._call)
        return None if flat_call is None else (snapshot.call_pipeline, flat_call)

    def make_kernel(self) -> bool:
        """Whether the compiled kernel encodes the texts; then it is made now, if it was not before.

        Several threads can use it at once: they share what it remembers, and it gives up the GIL
        while it works.
        """
        now = self._now()
        if now is None:
            return False
        now[0].make_kernel()
        return now[0].kernel is not None

    def encode(self, texts: list[Any], pairs: list[Any] | None = None) -> EncodedRows:
        """The rows of some texts, or pairs of texts.

        >>> import trietok
        >>> encoder = RowEncoder(trietok.BertTokenizer.from_pretrained("trietok-en"), {})
        >>> rows = encoder.encode(["the people", "the"])
        >>> rows.lengths.tolist(), len(rows.ids), rows.columns["attention_mask"]
        ([4, 3], 28, b'\\x01\\x01\\x01\\x01\\x01\\x01\\x01')
        """
        now = self._now()
        if now is None:
            return self.encode_by_call(texts, pairs)
        pipeline, flat_call = now
        flat = pipeline.flat(texts, *flat_call.cut, threads=self.threads)
        return EncodedRows(*flat_call.rows(flat))

    def encode_column(self, column: Any) -> EncodedRows | None:
        """The rows of an Arrow array of `large_string`, without nulls, by the compiled kernel.

        None where the texts are needed as strs: there is no kernel, or not yet, or a text is not
        UTF-8.
        """
        now = self._now()
        if now is None:
            return None
        pipeline, flat_call = now
        flat = self._by_kernel(pipeline, *_buffer_of(column), flat_call.cut)
        return None if flat is None else EncodedRows(*flat_call.rows(flat))

    def cut_characters(self) -> tuple[int, int] | None:
        """`Pipeline.cut_characters` for long texts; None where they are encoded whole."""
        now = self._now()
        return None if now is None else now[0].cut_characters()

    def encode_pieces(self, pieces: Iterable[bytes]) -> Iterator[EncodedRows]:
        """The row of a text that comes in pieces, part by part, and without its length.

        The pieces are UTF-8, cut where `cut_characters` says. No more of them are read than are
        kept.

        >>> import trietok
        >>> encoder = RowEncoder(trietok.BertTokenizer.from_pretrained("trietok-en"), {})
        >>> array(
        ...     "i", b"".join(part.ids for part in encoder.encode_pieces([b"the ", b"people"]))
        ... ).tolist()
        [2, 134, 289, 3]
        """
        now = self._now()
        assert now is not None  # `cut_characters` has said so
        pipeline, flat_call = now

        def ids_of(piece: bytes) -> bytes | bytearray:
            bounds = struct.pack("qq", 0, len(piece))
            flat = self._by_kernel(pipeline, piece, bounds, 0, 1, (-1, False, b"", b""))
            return (pipeline.flat([piece.decode("utf-8")]) if flat is None else flat)[1]

        for ids, columns in flat_call.parts_of_row(map(ids_of, pieces)):
            yield EncodedRows(array("i"), ids, columns)

    def _by_kernel(
        self,
        pipeline: Pipeline,
        data: Any,
        offsets: Any,
        first: int,
        count: int,
        cut: tuple[int, bool, bytes, bytes],
    ) -> tuple[bytearray, bytearray] | None:
        """What `Pipeline.flat` returns for texts between offsets; None without a kernel, or if the
        data is not valid UTF-8.
        """
        if not pipeline.may_have_kernel:
            return None
        if len(data) + count >= TEXT_AT_ONCE_BEFORE_KERNEL:
            pipeline.make_kernel()
        kernel = pipeline.kernel
        if kernel is None:
            return None
        return kernel.flat_between(data, offsets, first, count, self.threads, *cut)

    # ---- by a call -------------------------------------------------------------------------------

    def encode_by_call(self, texts: list[Any], pairs: list[Any] | None = None) -> EncodedRows:
        """The same rows by the tokenizer's call, which works for every tokenizer."""
        encoding: Any = dict.fromkeys(self.names, ())
        if texts:
            given = [texts] if pairs is None else [texts, pairs]
            encoding = self._tokenizer(*given, **self._options)
            if self._leaves_empty:
                bare = self._tokenizer(*given, **{**self._options, "padding": False})
                encoding = dict(encoding)
                for name in bare:
                    of_each = zip(bare[IDS], encoding[name], bare[name], strict=True)
                    encoding[name] = [padded if ids else empty for ids, padded, empty in of_each]
        offsets = overflow = None
        if OFFSETS in self.names:
            spans = chain.from_iterable(encoding[OFFSETS])
            offsets = array("i", chain.from_iterable(spans)).tobytes()
        if OVERFLOWING in self.names:
            overflow = Overflow(*_run(encoding[OVERFLOWING]), array("i", encoding[TRUNCATED]))
        columns = {
            name: array("b", chain.from_iterable(encoding[name])).tobytes()
            for name in self.names
            if name in SMALL_COLUMNS
        }
        samples = array("i", encoding[SAMPLES]) if self.gives_windows else None
        return EncodedRows(*_run(encoding[IDS]), columns, offsets, samples, overflow)

    # ---- on its way to other processes -----------------------------------------------------------

    def _state_now(self) -> Any:
        """Another object after each change of the tokenizer; None if they cannot be seen.

        They cannot where methods or stages are a user's own: such a tokenizer is pickled each time.
        """
        if not hasattr(self._tokenizer, "snapshot"):
            return None
        snapshot = self._tokenizer.snapshot()
        return None if snapshot.has_own_code else snapshot

    @property
    def is_as_sent(self) -> bool:
        """Whether the kept pickle is that of the tokenizer as it is now."""
        is_known = self._pickled is not None and self._state is not None
        return is_known and self._state is self._state_now()

    def __reduce__(self) -> Any:
        pickled = self._pickled
        if pickled is None or not self.is_as_sent:
            # before the pickle: of a tokenizer that changes meanwhile, none is kept
            self._state = self._state_now()
            content = pickle.dumps(self._tokenizer, pickle.HIGHEST_PROTOCOL)
            self._pickled = pickled = content, hashlib.sha256(content).digest()
        if self.is_as_sent:
            self.sent_by = os.getpid()
            _sent[_key(pickled[1], *self._given)] = self
        return _restored, (pickled, *self._given)


def _run(rows: Any) -> tuple[array[int], bytes]:
    """The lengths of rows of ids, and the ids one behind the other."""
    return array("i", map(len, rows)), array("i", chain.from_iterable(rows)).tobytes()


def _key(digest: bytes, options: dict[str, Any], has_pairs: bool) -> bytes:
    return digest + repr((sorted(options.items()), has_pairs)).encode()


def _restored(pickled: tuple[bytes, bytes], options: dict[str, Any], has_pairs: bool) -> RowEncoder:
    """The encoder of a pickle, the same one as long as it is among the last of this process."""
    key = _key(pickled[1], options, has_pairs)
    with _receiving:
        encoder = _received.pop(key, None)
        if encoder is None:
            # of the process from which this one was forked, or of this one
            encoder = _sent.get(key)
            if encoder is None or encoder.sent_by == os.getpid() or not encoder.is_as_sent:
                encoder = RowEncoder(pickle.loads(pickled[0]), options, has_pairs, pickled)
        _received[key] = encoder
        while len(_received) > _MOST_RECEIVED:
            del _received[next(iter(_received))]
    return encoder
