"""The progress of a training, for a caller that shows it.

In: nothing. Out: `Progress`, which training passes to the caller's `on_progress` every now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

COUNTING_WORDS = "counting words"
COUNTING_PAIRS = "counting pairs"
MERGING = "merging"


class Progress(NamedTuple):
    """A phase, and how much of it is done.

    Attributes:
        phase: "counting words", "counting pairs" or "merging".
        done: how much is done, in units.
        total: how much there is; None where that is not known, as with a generator of texts.
        unit: what is counted: "bytes" or "texts", "words", "tokens".
    """

    phase: str
    done: int
    total: int | None
    unit: str


OnProgress = Callable[[Progress], None]
