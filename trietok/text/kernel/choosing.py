"""Which kernel is at work, and how a pipeline uses the compiled one.

The plain way is the reference: the compiled kernel asks the pipeline what becomes of a character,
and hands over to it what cannot be told of each character by itself.

The environment variable `TRIETOK_KERNEL` says when a tokenizer has a compiled kernel: `0` never,
`1` from its first text on; without it, once it pays. `TRIETOK_PARALLELISM=0` switches off the
threads among which the kernel shares large batches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from trietok.cores import cores
from trietok.locks import ForkSafeLock
from trietok.text.added_search import FastAddedTokens
from trietok.text.aligned import Span, steps_of
from trietok.text.kernel.characters import Classifier, RustClassifier, SlowClassifier
from trietok.text.kernel.terms import Terms

if TYPE_CHECKING:
    from trietok.text.pipeline import Pipeline

try:
    # A free-threaded Python before 3.15 finds the library by its name, and cannot load it: its
    # objects are laid out otherwise. What then happens is no ImportError, and need not be an error.
    # Neither need it be with Python 3.10, which is older than the stable ABI that the library was
    # made for.
    if sys.version_info < (3, 11) or "t" in getattr(sys, "abiflags", ""):
        raise ImportError
    from trietok.text.kernel import _kernel
except ImportError:  # not built, or not for this Python
    IS_THERE = False
else:
    IS_THERE = getattr(_kernel, "INTERFACE", None) == 14  # else it was made of other sources
    if IS_THERE and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_kernel.note_fork)

# Code points. To make a kernel takes as long as to work out some 10,000 in plain Python; who has
# worked out some hundreds will most likely have more. A text of a batch counts as so many more than
# it has: batches of the same few short texts are to have a kernel after some ten calls.
TEXT_BEFORE_KERNEL = 1_000
TEXT_AT_ONCE_BEFORE_KERNEL = 20_000
CODE_POINTS_OF_A_TEXT = 20

DELETED_FOLD = chr(255)  # of ASCII that is not there where terms are looked for
LEAST_LIMIT = 1 << 18  # bytes; a smaller memory is left to Python
MOST_LIMIT = (1 << 32) - 1
LONGEST_WORD = 1 << 40
_FIRST_PROCESS = os.getpid()


def kernel_at_work() -> str:
    """`"compiled"` where texts are encoded by the C kernel, `"plain"` where by Python alone.

    >>> kernel_at_work() in ("compiled", "plain")
    True
    """
    return "compiled" if IS_THERE and os.environ.get("TRIETOK_KERNEL") != "0" else "plain"


def text_before_kernel() -> int:
    """How many code points a pipeline works out before it makes a kernel."""
    return 0 if os.environ.get("TRIETOK_KERNEL") == "1" else TEXT_BEFORE_KERNEL


# What `TRIETOK_PARALLELISM`, and without it `TOKENIZERS_PARALLELISM`, holds for no threads beside
# the one that calls.
_OFF = ("", "0", "f", "false", "n", "no", "off")


def threads_allowed() -> int:
    """How many threads may encode a large batch, the one that calls included.

    In a process that was forked or that multiprocessing has started, it is one, unless a variable
    asks for more: there are others beside it, each of which does its part.
    """
    wanted = os.environ.get("TRIETOK_PARALLELISM", os.environ.get("TOKENIZERS_PARALLELISM"))
    process = sys.modules.get("multiprocessing.process")
    is_child = os.getpid() != _FIRST_PROCESS or (process and process.parent_process())
    if is_child if wanted is None else wanted.lower() in _OFF:
        return 1

    return min(int(wanted), cores()) if wanted and wanted.isdecimal() else cores()


# ---- the kernel of a pipeline --------------------------------------------------------------------

# Of two threads that want a kernel for the same pipeline, one waits for the other's.
one_at_a_time = ForkSafeLock()


def weight(texts: Collection[str]) -> int:
    """Return how much texts count of what is encoded before a kernel is made."""
    return sum(map(len, texts)) + CODE_POINTS_OF_A_TEXT * len(texts)


def share_of(limit: int) -> int:
    """Return how many of the bytes that a pipeline may remember its kernel gets."""
    return 5 * limit // 8


def can_encode(pipeline: Pipeline) -> bool:
    """Return whether there is a kernel for these stages."""
    added = pipeline.added.encoder
    return (
        kernel_at_work() == "compiled"
        and share_of(pipeline.limit) >= LEAST_LIMIT
        and pipeline.is_berts
        and (pipeline.is_fast or not (pipeline.basic and pipeline.basic.never_split))
        and all(token in added for token in pipeline.never_split)
    )


def has_spans(pipeline: Pipeline, text: str) -> bool:
    """Return whether the kernel has the spans of a text: no token takes whitespace beyond what
    lies between two spaces into its span.
    """
    added = pipeline.added
    if pipeline.settings.trims_offsets:
        return False
    if added.is_plain or not isinstance(added, FastAddedTokens):
        return True
    return not (added.normalized.contents or added.raw.search.find(text))


class Questions:
    """What a kernel asks.

    Args:
        pipeline: answers.
        terms: its added tokens.
        classifier: knows what becomes of characters.
    """

    def __init__(self, pipeline: Pipeline, terms: Terms, classifier: Classifier) -> None:
        self._pipeline, self._terms = pipeline, terms
        # What becomes of a code point, or of a block of them; see `CharacterBlocks`.
        self.classify = classifier.blocks(text_before_kernel() == 0).ask
        # Whether normalization leaves two characters, side by side, as they are.
        self.stay_apart = classifier.stay_apart
        # The composed form of a part of a chunk, or None. It has the same ids.
        self.compose = classifier.compose
        # The ids of a text, or a chunk.
        self.ids = pipeline.ids_in_python
        # What stands where the form of a term is, or a token of one word; see `Terms`.
        self.settle = terms.settle

    def steps(self, chunk: str) -> tuple[int, ...]:
        """The steps from the bounds of a chunk's tokens to the next; see `steps_of`."""
        ids = self._pipeline.ids(chunk)
        if len(ids) == 1 and chunk.isascii() and chunk.isalnum():  # most often
            return 1, len(chunk)
        spans = _spans_of_entries(self._pipeline, chunk, ids)
        if spans is None:
            spans = self._pipeline.spans_in_python(chunk)
        return steps_of(spans, len(chunk))

    def fold(self, char: str) -> bytes:
        """What a character looks like where terms are looked for, in UTF-8."""
        return self._terms.fold(char).encode()


def new_kernel(pipeline: Pipeline) -> _kernel.Kernel | None:
    """Return a kernel for a pipeline; None where there is none."""
    terms = Terms(pipeline)
    vocabulary = pipeline.kernel_vocabulary
    if vocabulary is None:
        vocabulary = pipeline.kernel_vocabulary = _new_vocabulary(pipeline)
    if terms.is_odd or vocabulary is None:
        return None
    classifier = _classifier_of(pipeline, terms)
    try:
        patterns = tuple([words.patterns for words in terms.words])
    except ValueError:  # some tokens are too long for it to look for
        patterns = None
    return _kernel.Kernel(
        vocabulary,
        patterns,
        tuple([forms.tree for forms in terms.forms]),
        Questions(pipeline, terms, classifier),
        bytes(ord(terms.fold(chr(code)) or DELETED_FOLD) for code in range(0x80)),
        min(share_of(pipeline.limit), MOST_LIMIT),
        os.urandom(16),
    )


def _classifier_of(pipeline: Pipeline, terms: Terms) -> Classifier:
    kind: Any = RustClassifier if pipeline.is_fast else SlowClassifier
    classifier: Classifier = kind(
        pipeline.basic,
        frozenset[str]().union(*[words.keys for words in terms.words]),
        frozenset[str]().union(*[words.characters for words in terms.words]),
        pipeline.added.is_plain,
    )
    return classifier


def _spans_of_entries(pipeline: Pipeline, chunk: str, ids: list[int]) -> list[Span] | None:
    """Return the spans of a chunk, by the lengths of the entries that have its ids. Return None
    where the lengths do not tell the spans.
    """
    words = pipeline.words_in_a_row(chunk) if pipeline.do_ids_say_tokens(chunk) else None
    if words is None:
        return None
    tokens: list[Any] = [*map(pipeline.vocabulary.tokens.__getitem__, ids)]
    if pipeline.wordpiece.unk_token in tokens:
        return None
    spans, end, lengths = [], 0, map(len, tokens)
    marked = len(pipeline.wordpiece.continuing_subword_prefix)
    for word in words:
        start, end = end, end + len(word)
        stop = start + next(lengths)
        spans.append((start, stop))
        while stop < end:
            start, stop = stop, stop + next(lengths) - marked
            spans.append((start, stop))
    return spans


def _new_vocabulary(pipeline: Pipeline) -> _kernel.Vocabulary | None:
    """Return the entries that words are cut into, for the kernels of all pipelines with these;
    None where the kernel cannot use them.
    """
    wordpiece, added = pipeline.wordpiece, pipeline.added
    try:
        entries: Any = wordpiece.vocab  # a dict
        both = [] if pipeline.is_fast else entries.keys() & added.encoder.flat().keys()
        return _kernel.Vocabulary(
            entries,
            {content: pipeline.to_id(content) for content in both},
            wordpiece.continuing_subword_prefix,
            pipeline.to_id(wordpiece.unk_token),
            min(wordpiece.max_input_chars_per_word, LONGEST_WORD),
            os.urandom(16),
        )
    except (LookupError, OverflowError, TypeError, ValueError):
        return None  # an entry or an id is no text or number of use
