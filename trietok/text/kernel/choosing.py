"""Which kernel is at work, and how a pipeline uses the compiled one.

The plain way is the reference: the compiled kernel asks the pipeline what becomes of a character,
and hands over to it what cannot be told of each character by itself.

The environment variable `TRIETOK_KERNEL=0` switches the compiled kernel off, and
`TRIETOK_PARALLELISM=0` the threads among which it shares large batches.
"""

from __future__ import annotations

import array
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

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
    _IS_THERE = False
else:
    _IS_THERE = getattr(_kernel, "INTERFACE", None) == 13  # else it was made of other sources

# Code points. To make a kernel takes as long as to work out some 10,000 in plain Python; who has
# worked out some hundreds will most likely have more. A text of a batch counts as so many more than
# it has: batches of the same few short texts are to have a kernel after some ten calls.
TEXT_BEFORE_KERNEL = 1_000
TEXT_AT_ONCE_BEFORE_KERNEL = 20_000
CODE_POINTS_OF_A_TEXT = 20

DELETED_FOLD = chr(255)  # of ASCII that is not there where terms are looked for
END_OF_WORD = chr(sys.maxunicode)  # of a word whose pairs are merged
WORDS_AT_ONCE = 10_000
Name = Callable[[int, int], int]  # of the token that two tokens become
LEAST_LIMIT = 1 << 18  # bytes; a smaller memory is left to Python
MOST_LIMIT = (1 << 32) - 1
LONGEST_WORD = 1 << 40


class _Choice(NamedTuple):
    is_compiled: bool
    text_before_kernel: int = TEXT_BEFORE_KERNEL


_choice = _Choice(_IS_THERE and os.environ.get("TRIETOK_KERNEL") != "0")


def kernel_at_work() -> str:
    """`"compiled"` where texts are encoded by the C kernel, `"plain"` where by Python alone.

    >>> kernel_at_work() in ("compiled", "plain")
    True
    """
    return "compiled" if _choice.is_compiled else "plain"


def choose_kernel(name: str, *, text_before_kernel: int = TEXT_BEFORE_KERNEL) -> bool:
    """Choose the kernel of the encoders that are made from now on.

    Args:
        name: `"compiled"` or `"plain"`.
        text_before_kernel: how many code points an encoder works out in plain Python before it
            makes a compiled kernel.

    Returns:
        Whether that one is at work now: the compiled one may not be there.
    """
    global _choice
    _choice = _Choice(_IS_THERE and name == "compiled", text_before_kernel)
    return kernel_at_work() == name


@contextmanager
def using_kernel(name: str, *, text_before_kernel: int = TEXT_BEFORE_KERNEL) -> Iterator[bool]:
    """`choose_kernel` for a block of code; what was chosen before is chosen again after it."""
    global _choice
    before = _choice
    try:
        yield choose_kernel(name, text_before_kernel=text_before_kernel)
    finally:
        _choice = before


def kernels_alive() -> int:
    """How many encoders of this process have a compiled kernel now."""
    return _kernel.count_kernels() if _IS_THERE else 0


def merge_pairs(
    words: list[str], counts: list[int], tokens: int, most: int, least: int, name: Name
) -> None:
    """Merge the pairs of neighbours in words by the compiled kernel, as `trietok.training.merging`
    says it.
    """
    buffer = bytearray()
    for first in range(0, len(words), WORDS_AT_ONCE):
        some = END_OF_WORD.join([*words[first : first + WORDS_AT_ONCE], ""])
        buffer += some.encode("utf-32-le", "surrogatepass")
    words.clear()  # which takes less memory
    _kernel.merge_pairs(buffer, array.array("q", counts), tokens, most, least, name)


def cutter_anywhere(
    entries: dict[str, int], unknown: int
) -> Callable[[str], list[int] | None] | None:
    """A function that cuts a text as `Segmenter.ids_anywhere` does; None where there is no kernel
    for these entries.

    For a text that the kernel cannot read it returns None.
    """
    try:
        return (
            vocabulary_of(entries, "\n", unknown, 0).ids_anywhere if _choice.is_compiled else None
        )
    except (OverflowError, ValueError):
        return None


def text_before_kernel() -> int:
    """How many code points an encoder works out before it makes a kernel."""
    return _choice.text_before_kernel


# What `TRIETOK_PARALLELISM`, and without it `TOKENIZERS_PARALLELISM`, holds for no threads beside
# the one that calls.
_OFF = ("", "0", "f", "false", "n", "no", "off")


def threads_allowed(forks: int = 0) -> int:
    """How many threads may encode a large batch, the one that calls included.

    In a process that was forked (as often as `forks` says) or that multiprocessing has started, it
    is one, unless a variable asks for more: there are others beside it, each of which does its
    part.
    """
    wanted = os.environ.get("TRIETOK_PARALLELISM", os.environ.get("TOKENIZERS_PARALLELISM"))
    process = sys.modules.get("multiprocessing.process")
    is_child = forks or (process and process.parent_process())
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
        _choice.is_compiled
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
        classifier.blocks(_choice.text_before_kernel <= 0).ask,
        classifier.stay_apart,
        classifier.compose,
        pipeline.ids_in_python,
        pipeline.ids_in_python,
        lambda chunk: _steps(pipeline, chunk),
        lambda char: terms.fold(char).encode(),
        terms.settle,
        bytes(ord(terms.fold(chr(code)) or DELETED_FOLD) for code in range(0x80)),
        classifier.alone(),
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


def _steps(pipeline: Pipeline, chunk: str) -> tuple[int, ...]:
    """Return `steps_of` a chunk."""
    ids = pipeline.ids(chunk)
    if len(ids) == 1 and chunk.isascii() and chunk.isalnum():  # most often
        return 1, len(chunk)
    spans = _spans_of_entries(pipeline, chunk, ids)
    return steps_of(pipeline.spans_in_python(chunk) if spans is None else spans, len(chunk))


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
        unknown = pipeline.to_id(wordpiece.unk_token)
        entries: Any = wordpiece.vocab  # a dict
        both = [] if pipeline.is_fast else entries.keys() & added.encoder.flat().keys()
        changes = {content: pipeline.to_id(content) for content in both}
        return vocabulary_of(
            entries,
            wordpiece.continuing_subword_prefix,
            unknown,
            wordpiece.max_input_chars_per_word,
            changes,
        )
    except (LookupError, OverflowError, TypeError, ValueError):
        return None  # an entry or an id is no text or number of use


def vocabulary_of(
    entries: dict[str, int],
    prefix: str,
    unknown: int,
    longest_word: int,
    changes: dict[str, int] | None = None,
) -> _kernel.Vocabulary:
    """Entries with their ids for a kernel.

    Args:
        entries: the ids by entry; those that no text gives do not matter.
        prefix: what entries begin with that continue a word.
        unknown: the id of what no entries make up.
        longest_word: how many code points a word may have that is cut.
        changes: other ids for some of the entries.

    Raises:
        OverflowError, TypeError, ValueError: an entry or an id is no text or number that the kernel
            can use.
    """
    return _kernel.Vocabulary(
        entries, changes or {}, prefix, unknown, min(longest_word, LONGEST_WORD), os.urandom(16)
    )
