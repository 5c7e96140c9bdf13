"""Choose the tokens of a batch to mask, and replace them.

Words are chosen each by itself, as in BERT (Devlin et al. 2018, https://arxiv.org/abs/1810.04805,
A.1), or an exact share of each text, as in RoBERTa (Liu et al. 2019,
https://arxiv.org/abs/1907.11692), or an exact share in spans of words, as in SpanBERT (Joshi et
al. 2020, https://arxiv.org/abs/1907.10529).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy
from numpy.random import Philox
from numpy.typing import NDArray

IdArray = NDArray[numpy.int64]
FlagArray = NDArray[numpy.bool_]

_SCHEME = b"trietok-mlm-1"  # to be renamed when a seed gives other masks
_SPAN_END, _LONGEST_SPAN = 0.2, 10  # of SpanBERT: the chance that a span ends after a word; words


def random_source(ids: NDArray[Any], seed: int | None, epoch: int, *, from_torch: bool) -> Philox:
    """Return the source of random numbers for a batch in which `ids` may be chosen.

    With a seed, only the seed, the epoch and the ids decide the numbers. Without one, the global
    random state of PyTorch or numpy decides too. transformers' collators draw from the same state:
    `transformers.set_seed` sets it, `Trainer` stores it in checkpoints, and a `DataLoader` gives
    each worker its own.

    Philox (Salmon et al. 2011) accepts any key of 128 bits, so a hash can be the key. numpy
    guarantees that its raw numbers stay the same in every version.
    """
    if seed is not None:
        key = b"%d:%d" % (seed, epoch)
    elif from_torch:
        import torch

        numbers: bytes = torch.empty(2, dtype=torch.int64, device="cpu").random_().numpy().tobytes()
        key = b"torch:" + numbers
    else:
        key = b"numpy:" + numpy.random.bytes(16)
    content = key + b":" + ids.astype("<i8").tobytes()
    digest = hashlib.blake2b(content, digest_size=16, person=_SCHEME).digest()
    return Philox(key=int.from_bytes(digest, "little"))


def _uniform(source: Philox, count: int) -> NDArray[numpy.float64]:
    """Return random numbers from 0 to below 1, of the 53 bits that a float holds."""
    numbers: NDArray[numpy.float64] = (source.random_raw(count) >> 11) / float(1 << 53)
    return numbers


def choose_tokens(
    is_maskable: FlagArray,
    is_continuation: FlagArray | None,
    share: float,
    masking: str,
    source: Philox,
) -> IdArray:
    """Choose a share of the tokens, in whole words.

    Args:
        is_maskable: where a token may be chosen, (batch, sequence).
        is_continuation: where a token continues the word before it; without it each token is a
            word.

    Returns:
        A number for each chosen token, -1 elsewhere, (batch, sequence). Tokens with the same number
        are replaced alike.
    """
    words = _word_numbers(is_maskable, is_continuation)
    if masking == "each":
        word_count = int(words[-1]) + 1 if len(words) else 0
        groups = numpy.where(_uniform(source, word_count) < share, 0, -1)[words]
    else:
        longest = _LONGEST_SPAN if masking == "spans" else 1
        groups = _spans_of_batch(words, is_maskable.sum(axis=1), share, source, longest)
    if masking != "spans":
        groups = numpy.where(groups < 0, -1, numpy.arange(len(groups)))
    result = numpy.full(is_maskable.shape, -1)
    result[is_maskable] = groups
    return result


def _word_numbers(is_maskable: FlagArray, is_continuation: FlagArray | None) -> IdArray:
    """Return, for each token that may be chosen, the number of its word in the batch.

    A word also begins at the start of a text, and after a token that may not be chosen.
    """
    if is_continuation is None:
        return numpy.arange(numpy.count_nonzero(is_maskable))
    is_start = numpy.ones_like(is_maskable)
    is_start[:, 1:] = ~(is_continuation[:, 1:] & is_maskable[:, :-1])
    return numpy.cumsum(is_start[is_maskable]) - 1


def _spans_of_batch(
    words: IdArray, lengths: IdArray, share: float, source: Philox, longest: int
) -> IdArray:
    """Return, for each token that may be chosen, the number of its chosen span, or -1."""
    spans = numpy.full(len(words), -1)
    ends = numpy.cumsum(lengths)
    for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True):
        if start < end:
            of_text = _spans_of_text(words[start:end] - words[start], share, source, longest)
            spans[start:end] = numpy.where(of_text < 0, -1, of_text + start)
    return spans


def _spans_of_text(words: IdArray, share: float, source: Philox, longest: int) -> IdArray:
    """Choose spans of up to `longest` words until the share of the tokens is reached.

    The last word may hold more tokens than are missing. It is chosen with the probability that
    keeps the expected number of chosen tokens at the share.
    """
    sizes = numpy.bincount(words)
    missing = share * len(words)
    order = numpy.argsort(_uniform(source, len(sizes)), kind="stable").tolist()
    spans = numpy.full(len(sizes), -1)
    number = 0
    for start in order if missing else ():
        if spans[start] >= 0:
            continue
        length = 1 if longest == 1 else _span_length(source, longest)
        for word in range(start, min(start + length, len(sizes))):
            if spans[word] >= 0:
                break
            if missing < sizes[word] and _uniform(source, 1)[0] * sizes[word] >= missing:
                return spans[words]
            spans[word] = number
            missing -= sizes[word]
            if missing <= 0:
                return spans[words]
        number += 1
    return spans[words]


def _span_length(source: Philox, longest: int) -> int:
    """Draw from the geometric distribution without the lengths above `longest`."""
    number = float(_uniform(source, 1)[0]) * (1 - (1 - _SPAN_END) ** longest)
    return 1 + int(numpy.log1p(-number) / numpy.log1p(-_SPAN_END))


def replace_tokens(
    ids: IdArray,
    groups: IdArray,
    source: Philox,
    mask_share: float,
    random_share: float,
    mask_token_id: int,
    replacement_ids: IdArray,
) -> IdArray:
    """Return the ids after replacing the tokens that `choose_tokens` chose."""
    is_chosen = groups >= 0
    tokens = ids[is_chosen]
    draws = _uniform(source, len(tokens))
    draws = draws[numpy.unique(groups[is_chosen], return_inverse=True)[1]]
    is_masked = draws < mask_share
    is_random = ~is_masked & (draws < mask_share + random_share)
    numbers = source.random_raw(int(is_random.sum())) % numpy.uint64(len(replacement_ids))
    tokens[is_masked] = mask_token_id
    tokens[is_random] = replacement_ids[numbers.astype(numpy.int64)]
    masked: IdArray = ids.copy()
    masked[is_chosen] = tokens
    return masked
