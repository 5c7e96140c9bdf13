"""Which tokens of a batch are masked, and what stands in their place: drawn in numpy, from a
generator of its own.

In: ids, which of them may be chosen, and which make a word. Out: the ids as a model sees them, and
the labels. A word is chosen by itself, as in BERT (Devlin et al. 2018,
https://arxiv.org/abs/1810.04805, A.1); or of each row as many, as in RoBERTa (Liu et al. 2019,
https://arxiv.org/abs/1907.11692); or spans of words, as in SpanBERT (Joshi et al. 2020,
https://arxiv.org/abs/1907.10529).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    IdArray = NDArray[numpy.int64]
    FlagArray = NDArray[numpy.bool_]
    Source = numpy.random.Philox

Masking = Literal["each", "exact", "spans"]
MASKINGS = get_args(Masking)
_SPAN_ENDS, _LONGEST_SPAN = 0.2, 10  # SpanBERT's: of a geometric distribution, and words
IGNORED_LABEL = -100  # what the losses of PyTorch and transformers leave out
SCHEME = b"trietok-mlm-1"  # another name where the same seed gives other masks


class Shares(NamedTuple):
    """The share of tokens to choose; of these, of the mask token, and of random ones."""

    chosen: float
    masked: float
    random: float


class Draws:
    """Random numbers, one after the other, from a source that gives 64 bits at a time."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def raw(self, count: int) -> NDArray[numpy.uint64]:
        import numpy

        return numpy.asarray(self._source.random_raw(count), dtype=numpy.uint64)

    def uniform(self, count: int) -> NDArray[numpy.float64]:
        """Numbers from 0 to below 1, of the 53 bits a float holds."""
        numbers: NDArray[numpy.float64] = (self.raw(count) >> 11) / float(1 << 53)
        return numbers


def random_source(key: bytes, content: bytes) -> Source:
    """A source of random numbers that only its key and the content of the batch decide.

    Philox (Salmon et al. 2011) takes any key of 128 bits, so a hash can be one. numpy promises to
    keep its raw numbers.
    """
    import numpy

    digest = hashlib.blake2b(key + b":" + content, digest_size=16, person=SCHEME).digest()
    return numpy.random.Philox(key=int.from_bytes(digest, "little"))


def seeded_key(seed: int, epoch: int) -> bytes:
    return b"%d:%d" % (seed, epoch)


def drawn_key(from_torch: bool) -> bytes:
    """A key drawn from PyTorch's global random state, or from numpy's.

    transformers' collators draw from the same: `transformers.set_seed` sets it, `Trainer` stores it
    in a checkpoint, and a `DataLoader` gives each of its workers another.
    """
    if from_torch:
        import torch

        drawn: bytes = torch.empty(2, dtype=torch.int64, device="cpu").random_().numpy().tobytes()
        return b"torch:" + drawn
    import numpy

    return b"numpy:" + numpy.random.bytes(16)


def word_numbers(is_maskable: FlagArray, is_continuation: FlagArray | None) -> NDArray[numpy.int64]:
    """For each token that may be chosen, row by row, the number of its word from 0.

    `is_continuation` says where a token goes on with the word before it, None for nowhere. One that
    follows a token that may not be chosen, or begins its row, begins a word.
    """
    import numpy

    if is_continuation is None:
        return numpy.arange(numpy.count_nonzero(is_maskable))
    begins = numpy.ones_like(is_maskable)
    begins[:, 1:] = ~(is_continuation[:, 1:] & is_maskable[:, :-1])
    return numpy.cumsum(begins[is_maskable]) - 1


def mask_ids(
    ids: IdArray,
    is_maskable: FlagArray,
    words: NDArray[numpy.int64],
    shares: Shares,
    source: Source,
    mask_token_id: int,
    random_ids: int | IdArray,
    masking: Masking = "each",
) -> tuple[IdArray, IdArray]:
    """Choose words, and put something else in the place of their tokens.

    All tokens of a chosen word are chosen; what becomes of each of them is drawn for itself, in a
    span for all of it.

    Args:
        is_maskable, words: see `word_numbers`.
        random_ids: what the share `random` is drawn from: an array, or a number for the ids below
            it.

    Returns:
        The ids as the model sees them, and the labels: the id where a token is chosen, -100
        elsewhere.
    """
    import numpy

    draws = Draws(source)
    spans = numpy.full(len(words), -1)
    if masking == "each":
        is_chosen = (draws.uniform(int(words[-1]) + 1 if len(words) else 0) < shares.chosen)[words]
    else:
        ends = numpy.cumsum(numpy.count_nonzero(is_maskable, axis=1)).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            if start < end:
                of_words, in_spans = words[start:end] - words[start], masking == "spans"
                of_row = _chosen(of_words, shares.chosen, draws, in_spans=in_spans)
                spans[start:end] = numpy.where(of_row < 0, of_row, of_row + start)
        is_chosen = spans >= 0
    places = numpy.flatnonzero(is_maskable)[is_chosen]
    labels = numpy.full_like(ids, IGNORED_LABEL)
    labels.flat[places] = ids.flat[places]
    fate = draws.uniform(len(places))
    if masking == "spans":
        fate = fate[numpy.unique(spans[is_chosen], return_inverse=True)[1]]
    is_masked = fate < shares.masked
    is_random = ~is_masked & (fate < shares.masked + shares.random)
    seen = ids.copy()
    seen.flat[places[is_masked]] = mask_token_id
    count = random_ids if isinstance(random_ids, int) else len(random_ids)
    # 64 bits: no id is favoured
    drawn = draws.raw(int(numpy.count_nonzero(is_random))) % numpy.uint64(count)
    if not isinstance(random_ids, int):
        drawn = random_ids[drawn.astype(numpy.int64)]
    seen.flat[places[is_random]] = drawn
    return seen, labels


def _chosen(
    words: NDArray[numpy.int64], share: float, draws: Draws, *, in_spans: bool
) -> NDArray[numpy.int64]:
    """For each token of a row the number of the span that it is chosen in; -1 where it is not.

    As many tokens are chosen as the share says: the word that is partly too much is chosen as often
    as it is not.
    """
    import numpy

    sizes = numpy.bincount(words)
    wanted = share * len(words)
    order = numpy.argsort(draws.uniform(len(sizes)), kind="stable").tolist()
    span_of = numpy.full(len(sizes), -1)
    number, left = 0, wanted
    for start in order if wanted else ():
        if span_of[start] >= 0:
            continue
        length = 1
        if in_spans:  # geometric, and drawn again where it is too long
            step = float(draws.uniform(1)[0]) * (1 - (1 - _SPAN_ENDS) ** _LONGEST_SPAN)
            length = 1 + int(numpy.log1p(-step) / numpy.log1p(-_SPAN_ENDS))
        for word in range(start, min(start + length, len(sizes))):
            if span_of[word] >= 0:
                break
            if left < sizes[word] and draws.uniform(1)[0] * sizes[word] >= left:
                return span_of[words]
            span_of[word] = number
            left -= sizes[word]
            if left <= 0:
                return span_of[words]
        number += 1
    return span_of[words]
