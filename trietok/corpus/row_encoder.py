"""Texts to rows of ids under the options of a call: the fast way where there is one, else a call.

In: a tokenizer, the options of a call, and texts or pairs of texts. Out: `Rows`, the same either way. Options that make
a row depend on other texts of the batch are refused, because an engine cuts batches as it likes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from trietok.corpus.fast_rows import FastRows, Overflow, Rows
from trietok.corpus.sent_encoders import Parcel, Sender, received, sent
from trietok.errors import InputError, OptionError

IDS, OFFSETS, LENGTH = "input_ids", "offset_mapping", "length"
SMALL_COLUMNS = ("token_type_ids", "attention_mask", "special_tokens_mask")
SAMPLES = "overflow_to_sample_mapping"  # a Rust tokenizer gives a row for each window of a text
OVERFLOWING, TRUNCATED = "overflowing_tokens", "num_truncated_tokens"  # a slow one gives what it cut off
COLUMNS = (IDS, OFFSETS, *SMALL_COLUMNS, SAMPLES, OVERFLOWING, TRUNCATED)

_REFUSED = {
    "text": "texts come from the column",
    "text_pair": "texts come from columns",
    "text_target": "texts come from columns",
    "text_pair_target": "texts come from columns",
    "return_tensors": "the ids come as Arrow columns",
}


class RowEncoder:
    """Encodes texts to rows, each text as a call with these options does.

    Its pickle holds the tokenizer without what that remembers. A process that gets it again and again, as a worker does
    for each task, reads the tokenizer once; one that was forked after it was pickled has it already.

    Args:
        tokenizer: encodes the texts. It should not be changed any more.
        options: keywords of its call.
        has_pairs: whether each text comes with a second one.
        sender: keeps the tokenizer's pickle.

    Attributes:
        names: the columns that the options give, in the order of a call's result.
        gives_windows: whether a text may have several rows.
        sender: keeps the tokenizer's pickle.

    Raises:
        OptionError: an option does not fit, or nothing understands it.
        NotSupportedError, InputError: from the tokenizer's call.
    """

    def __init__(
        self, tokenizer: Any, options: dict[str, Any], has_pairs: bool = False, sender: Sender | None = None
    ) -> None:
        for name, reason in _REFUSED.items():
            if options.get(name):
                raise OptionError(f"{name} has no place here: {reason}; leave it out", name=name)
        if options.get("padding") not in (None, False, "do_not_pad", "max_length"):
            raise OptionError(
                f"padding={options['padding']!r} depends on the texts around a text, and batches are cut as the engine "
                "likes; pad when training batches are made, or give padding='max_length'",
                name="padding",
            )
        self._tokenizer = tokenizer
        self._given = options, has_pairs
        self.sender = Sender(tokenizer) if sender is None else sender
        self._with_length = bool(options.get("return_length"))
        self._words = bool(options.get("is_split_into_words"))
        self._options = {name: value for name, value in options.items() if name not in ("return_length", *_REFUSED)}
        # Encoding one text shows whether the options are valid, and which columns they give.
        text: Any = [["a"]] if self._words else ["a"]
        probe = self._tokenizer(*([text, text] if has_pairs else [text]), **{**self._options, "verbose": False})
        for name in probe:
            if name not in COLUMNS:
                raise OptionError(f"the tokenizer returns {name!r}, which has no column here", name=name)
        if IDS not in probe:
            raise InputError(f"the tokenizer returns no {IDS}, only {', '.join(probe)}")
        self.names = (*probe, *([LENGTH] if self._with_length else []))
        self.gives_windows = SAMPLES in self.names
        # A slow tokenizer's call for one text, and not for a batch, leaves a text without ids as it is.
        self._leaves_empty = getattr(tokenizer, "profile", None) == "slow" and not options.get(
            "add_special_tokens", True
        )
        self._leaves_empty = self._leaves_empty and options.get("padding") == "max_length"
        by_call = has_pairs or self._words or options.get("padding") == "max_length"
        by_call = by_call or options.get("return_offsets_mapping") or options.get("return_overflowing_tokens")
        self._fast = None if by_call else FastRows(tokenizer, self._options)

    def encode(self, texts: list[Any], pairs: list[Any] | None = None) -> Rows:
        """The rows of some texts, or pairs of texts.

        >>> import trietok
        >>> encoder = RowEncoder(trietok.BertTokenizer.from_pretrained("trietok-en"), {})
        >>> rows = encoder.encode(["the people", "the"])
        >>> rows.lengths.tolist(), len(rows.ids), rows.columns["attention_mask"]
        ([4, 3], 28, b'\\x01\\x01\\x01\\x01\\x01\\x01\\x01')
        """
        rows = self._fast.encode(texts) if self._fast is not None else None
        return self.encode_by_call(texts, pairs) if rows is None else rows

    def make_kernel(self) -> bool:
        """Whether the compiled kernel encodes the texts; then it is made now, if it was not before.

        Several threads can use it at once: they share what it remembers, and it gives up the GIL while it works.
        """
        return self._fast is not None and self._fast.make_kernel()

    def encode_column(self, column: Any) -> Rows | None:
        """The rows of the texts of an Arrow array of `large_string`, without its nulls, by the compiled kernel.

        None where the texts are needed as strs: there is no kernel, or not yet, or a text is not UTF-8.
        """
        return None if self._fast is None else self._fast.encode_column(column)

    def cut_characters(self) -> tuple[int, int] | None:
        """Where a long text may be cut; see `FastRows.cut_characters`. None where it is encoded whole."""
        return None if self._fast is None else self._fast.cut_characters()

    def encode_pieces(self, pieces: Iterable[bytes]) -> Iterator[Rows]:
        """The row of one text that comes in pieces, part by part, without its length: that of a call for the text.

        >>> import trietok
        >>> encoder = RowEncoder(trietok.BertTokenizer.from_pretrained("trietok-en"), {})
        >>> array("i", b"".join(part.ids for part in encoder.encode_pieces([b"the ", b"people"]))).tolist()
        [2, 134, 289, 3]
        """
        assert self._fast is not None  # `cut_characters` has said so
        return self._fast.long_row(pieces)

    def encode_by_call(self, texts: list[Any], pairs: list[Any] | None = None) -> Rows:
        """The same rows by the tokenizer's call, which works for every tokenizer."""
        encoding: Any = dict.fromkeys(self.names, ())
        if texts:
            given = [texts] if pairs is None else [texts, pairs]
            encoding = self._tokenizer(*given, **self._options)
            if self._leaves_empty:
                bare = self._tokenizer(*given, **{**self._options, "padding": False})
                encoding = {
                    name: [b if not ids else a for ids, a, b in zip(bare[IDS], encoding[name], bare[name], strict=True)]
                    for name in bare
                }
        offsets = overflow = None
        if OFFSETS in self.names:
            offsets = array("i", chain.from_iterable(chain.from_iterable(encoding[OFFSETS]))).tobytes()
        if OVERFLOWING in self.names:
            overflow = Overflow(*_run(encoding[OVERFLOWING]), array("i", encoding[TRUNCATED]))
        return Rows(
            *_run(encoding[IDS]),
            {
                name: array("b", chain.from_iterable(encoding[name])).tobytes()
                for name in self.names
                if name in SMALL_COLUMNS
            },
            offsets,
            array("i", encoding[SAMPLES]) if self.gives_windows else None,
            overflow,
        )

    def __reduce__(self) -> Any:
        return _restored, (sent(self, self.sender, *self._given), *self._given)


def _run(rows: Any) -> tuple[array[int], bytes]:
    """The lengths of rows of ids, and the ids one behind the other."""
    return array("i", map(len, rows)), array("i", chain.from_iterable(rows)).tobytes()


def _restored(parcel: Parcel, options: dict[str, Any], has_pairs: bool) -> RowEncoder:
    def make(tokenizer: Any, sender: Sender) -> RowEncoder:
        return RowEncoder(tokenizer, options, has_pairs, sender)

    return received(parcel, (options, has_pairs), make)
