"""Masked-language-model masking: which tokens of a batch are to be guessed, and what the model sees in their place.

In: ids of shape (batch, sequence), where a token may be chosen, and random numbers. Out: masked ids and labels. The
scheme is that of BERT (Devlin et al. 2018, https://arxiv.org/abs/1810.04805, A.1). Everything is drawn in numpy, from
a generator of its own, whose key comes from a seed; without one, from the global random state.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Ids = NDArray[numpy.int64]
    Flags = NDArray[numpy.bool_]
    Source = numpy.random.Philox

IGNORED_LABEL = -100  # what the losses of PyTorch and transformers leave out
SCHEME = b"trietok-mlm-1"  # another name where the same seed gives other masks


class Shares(NamedTuple):
    """Of the tokens, how many are chosen; of the chosen, how many become the mask token, and how many a random one."""

    chosen: float
    masked: float
    random: float


def random_source(key: bytes, content: bytes) -> Source:
    """A source of random numbers that only its key and the content of the batch decide.

    Philox (Salmon et al. 2011) takes any key of 128 bits, so a hash can be one. Only its raw numbers are used, which
    numpy promises to keep; what numpy makes of them may change from version to version.
    """
    import numpy

    digest = hashlib.blake2b(key + b":" + content, digest_size=16, person=SCHEME).digest()
    return numpy.random.Philox(key=int.from_bytes(digest, "little"))


def seeded_key(seed: int, epoch: int) -> bytes:
    """The key of a seed and an epoch."""
    return b"%d:%d" % (seed, epoch)


def drawn_key(from_torch: bool) -> bytes:
    """A key drawn from PyTorch's global random state, or from numpy's.

    transformers' collators draw from the same: `transformers.set_seed` sets it, `Trainer` stores it in a checkpoint,
    and a `DataLoader` gives each of its workers another.
    """
    if from_torch:
        import torch

        drawn: bytes = torch.empty(2, dtype=torch.int64, device="cpu").random_().numpy().tobytes()
        return b"torch:" + drawn
    import numpy

    return b"numpy:" + numpy.random.bytes(16)


def word_numbers(is_maskable: Flags, is_continuation: Flags | None) -> NDArray[numpy.int64]:
    """For each token that may be chosen, row by row, the number of its word from 0.

    Args:
        is_maskable: where a token may be chosen, of shape (batch, sequence).
        is_continuation: where a token goes on with the word before it, of the same shape; None for nowhere. One that
            follows a token that may not be chosen, or begins its row, begins a word.
    """
    import numpy

    if is_continuation is None:
        return numpy.arange(numpy.count_nonzero(is_maskable))
    begins = numpy.ones_like(is_maskable)
    begins[:, 1:] = ~(is_continuation[:, 1:] & is_maskable[:, :-1])
    return numpy.cumsum(begins[is_maskable]) - 1


def mask_ids(
    ids: Ids,
    is_maskable: Flags,
    words: NDArray[numpy.int64],
    shares: Shares,
    source: Source,
    mask_token_id: int,
    random_ids: int | Ids,
) -> tuple[Ids, Ids]:
    """Choose words, and put something else in the place of their tokens.

    A word is chosen by one number, so all its tokens are; what becomes of each of them is drawn for itself.

    Args:
        ids: of shape (batch, sequence); not changed.
        is_maskable, words: see `word_numbers`.
        mask_token_id: what takes the place of the share `masked`.
        random_ids: what the share `random` is drawn from: an array, or a number for the ids below it.

    Returns:
        The ids as the model sees them, and the labels: the id where a token is chosen, -100 elsewhere.
    """
    import numpy

    is_chosen = _uniform(source, int(words[-1]) + 1 if len(words) else 0) < shares.chosen
    places = numpy.flatnonzero(is_maskable)[is_chosen[words]]
    labels = numpy.full_like(ids, IGNORED_LABEL)
    labels.flat[places] = ids.flat[places]
    fate = _uniform(source, len(places))
    is_masked = fate < shares.masked
    is_random = ~is_masked & (fate < shares.masked + shares.random)
    seen = ids.copy()
    seen.flat[places[is_masked]] = mask_token_id
    count = random_ids if isinstance(random_ids, int) else len(random_ids)
    drawn = _raw(source, int(numpy.count_nonzero(is_random))) % numpy.uint64(count)  # 64 bits: no id is favoured
    seen.flat[places[is_random]] = drawn if isinstance(random_ids, int) else random_ids[drawn.astype(numpy.int64)]
    return seen, labels


def _raw(source: Source, count: int) -> NDArray[numpy.uint64]:
    import numpy

    return numpy.asarray(source.random_raw(count), dtype=numpy.uint64)


def _uniform(source: Source, count: int) -> NDArray[numpy.float64]:
    """Numbers from 0 to below 1, of the 53 bits a float holds."""
    import numpy

    numbers: NDArray[numpy.float64] = (_raw(source, count) >> numpy.uint64(11)) / float(1 << 53)
    return numbers
