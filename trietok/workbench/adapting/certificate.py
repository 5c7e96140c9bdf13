"""What `trim` proves: how many texts have the same tokens afterwards, as attributes, as JSON and as text.

In: the tokenizer before and after, the map of ids, texts. Out: a `Certificate`, made by encoding each text with both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, NamedTuple

from trietok.workbench.comparing.compare import compare
from trietok.files.read_again import checked
from trietok.showing.lists import number_of
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.pretrained import PreTrainedTokenizer

_BATCH = 256  # texts encoded at a time
_NO_ID = -1  # in place of an id that is gone


class TextCounts(NamedTuple):
    """Some texts, encoded with a tokenizer before and after, without [CLS], [SEP] and the like.

    Attributes:
        texts: how many there are.
        tokens: how many tokens they have before.
        differing: how many of the texts have other ids afterwards than the map of ids says.
        tokens_changed: how many tokens of before are not among those of the same text afterwards.
        unknown_before, unknown_after: how many tokens are the unknown token.
    """

    texts: int
    tokens: int
    differing: int
    tokens_changed: int
    unknown_before: int
    unknown_after: int

    def __str__(self) -> str:
        read = f"{number_of(self.texts, 'text')}, {number_of(self.tokens, 'token')}"
        if not self.differing:
            return f"{read}: 0 texts differ"
        return (
            f"{read}: {number_of(self.differing, 'text')} differ{'s' if self.differing == 1 else ''} in "
            f"{number_of(self.tokens_changed, 'token')}; unknown tokens: {self.unknown_before:,} before, "
            f"{self.unknown_after:,} after"
        )


@dataclass(frozen=True)
class Certificate:
    """What was trimmed, and the proof that the texts have the same tokens. `str` makes it readable.

    Attributes:
        before, after: the fingerprints.
        tokens_before, tokens_after: how many different tokens there are: `len(tokenizer)`.
        rows_before, rows_after: how many rows a model needs: `max_id + 1`.
        texts: the texts that were trimmed to.
        held_back: the texts of `check_texts`; None without them.
        proof: what became of the ids, in one sentence; see `Comparison.proof`.
    """

    before: str
    after: str
    tokens_before: int
    tokens_after: int
    rows_before: int
    rows_after: int
    texts: TextCounts
    held_back: TextCounts | None
    proof: str

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        held_back = None if self.held_back is None else self.held_back._asdict()
        return {**asdict(self), "texts": self.texts._asdict(), "held_back": held_back}

    def lines(self) -> list[str]:
        """What it says, without the proof."""
        share = self.tokens_after / self.tokens_before
        lines = [f"{self.tokens_before:,} tokens become {self.tokens_after:,} ({share:.1%})", str(self.texts)]
        return lines if self.held_back is None else [*lines, f"held back: {self.held_back}"]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), self.proof])


def certify(
    before: BertTokenizer,
    after: BertTokenizer,
    new_ids: Mapping[int, int],
    texts: Iterable[str],
    held_back: Iterable[str] | None,
) -> Certificate:
    """Encode all texts with both tokenizers and say how many differ once ids are mapped.

    Cost: O(tokens of both), and encoding each text twice.
    """
    comparison = compare(before, after, ())
    return Certificate(
        *comparison.fingerprints,
        tokens_before=len(before),
        tokens_after=len(after),
        rows_before=before.max_id + 1,
        rows_after=after.max_id + 1,
        texts=_counted(before, after, new_ids, texts),
        held_back=None if held_back is None else _counted(before, after, new_ids, checked(held_back)),
        proof=comparison.proof,
    )


class _NewIds(dict[int, int]):
    """Old id → new id, where a piece without an id, which the slow profile may give, stays one."""

    def __missing__(self, token_id: int | None) -> int | None:
        return None if token_id is None else _NO_ID


def _counted(
    before: BertTokenizer, after: BertTokenizer, new_ids: Mapping[int, int], texts: Iterable[str]
) -> TextCounts:
    new_id_of = _NewIds(new_ids).__getitem__
    unknown: list[Any] = [unknown_id_of(tokenizer) for tokenizer in (before, after)]
    number = tokens = differing = changed = unknown_before = unknown_after = 0
    for batch in batches(texts):
        number += len(batch)
        for old, new in zip(ids_of(before, batch), ids_of(after, batch), strict=True):
            tokens += len(old)
            unknown_before += old.count(unknown[0])
            unknown_after += new.count(unknown[1])
            expected = list(map(new_id_of, old))
            if expected != new:
                differing += 1
                changed += (Counter(expected) - Counter(new)).total()
    return TextCounts(number, tokens, differing, changed, unknown_before, unknown_after)


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts, some at a time."""
    texts = iter(texts)
    while batch := list(islice(texts, _BATCH)):
        yield batch


def ids_of(tokenizer: PreTrainedTokenizer, texts: list[str]) -> list[list[int]]:
    """The ids of texts, without special tokens around."""
    return tokenizer.text_encoder.rows(texts).lists([], [])


def unknown_id_of(tokenizer: BertTokenizer) -> int | None:
    """The id that unknown words get."""
    unknown = tokenizer.wordpiece_tokenizer.unk_token
    token_id = tokenizer.get_vocab().get(unknown)
    return tokenizer.unk_token_id if token_id is None else token_id
