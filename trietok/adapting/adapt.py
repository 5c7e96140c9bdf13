"""`adapt`: a model and its tokenizer made ready for some texts, from which words to add to the finished directory.

In: a model's directory and texts. Out: a new directory with the words that help most, a row for each of them, and the
proof that every other token has kept its id and its row.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from trietok.adapting.add_terms import AddedTerms, add_terms
from trietok.adapting.applied import AppliedRows
from trietok.adapting.apply_rows import Progress, apply_rows
from trietok.adapting.certificate import batches, ids_of, unknown_id_of
from trietok.adapting.plan_rows import Initializer, plan_rows
from trietok.adapting.row_plan import RowPlan
from trietok.checking.check import check
from trietok.comparing.compare import Comparison, compare
from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.files.formats import TOKENIZER_FILE
from trietok.files.new_directory import checked_new, new_directory
from trietok.files.read_again import read_again
from trietok.suggesting.report import Suggestions
from trietok.suggesting.suggest import suggest_tokens
from trietok.tokenizer.auto import AutoTokenizer
from trietok.tokenizer.bert import BertTokenizer

# How words are added → how they are suggested, and how `add_terms` calls it.
_WAYS = {
    "wordpiece": ("wordpiece", "wordpiece"),
    "added": ("added", "single-word"),
    "unused": ("added", "unused"),
}
WAYS = tuple(_WAYS)
_MOST_SHOWN = 10


class TokensOfTexts(NamedTuple):
    """The tokens of some texts, without [CLS], [SEP] and the like: how many, and how many of them are unknown."""

    texts: int
    tokens: int
    unknown: int


class Adapted(NamedTuple):
    """What `adapt` did. `str` makes it readable.

    Attributes:
        suggestions: the words that were worth adding, and what each saves.
        terms: which of them were added, with their ids.
        plan: which row of the model each row of the new one is made of.
        applied: the tensors that were written.
        comparison: the tokenizer before, and the one that the new directory gives.
        before, after: the tokens of the texts, with each of them.
        out: the new directory.
    """

    suggestions: Suggestions
    terms: AddedTerms
    plan: RowPlan
    applied: AppliedRows
    comparison: Comparison
    before: TokensOfTexts
    after: TokensOfTexts
    out: str

    @property
    def proof(self) -> str:
        """What became of the ids, in one sentence; see `Comparison.proof`."""
        return self.comparison.proof

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; of the plan its numbers."""
        return {
            "out": self.out,
            "suggestions": self.suggestions.to_dict(),
            "terms": self.terms.to_dict(),
            "rows": self.applied.to_dict(),
            "before": self.before._asdict(),
            "after": self.after._asdict(),
            "proof": self.proof,
        }

    def lines(self) -> list[str]:
        """What was done, without the tensors and the proof."""
        words = list(self.terms.added)
        more = f" and {len(words) - _MOST_SHOWN:,} more" if len(words) > _MOST_SHOWN else ""
        saved = self.before.tokens - self.after.tokens
        lines = [
            f"{len(words):,} {'word' if len(words) == 1 else 'words'} added: {', '.join(words[:_MOST_SHOWN])}{more}",
            f"{self.after.texts:,} texts: {self.before.tokens:,} tokens become {self.after.tokens:,} "
            f"({saved / self.before.tokens if self.before.tokens else 0:.1%} fewer), {self.before.unknown:,} unknown "
            f"tokens become {self.after.unknown:,}",
            f"the model had {self.applied.rows_before:,} rows and has {self.applied.rows_after:,}",
        ]
        if self.applied.left_out:
            lines.append(f"not carried over: {', '.join(self.applied.left_out)}")
        return [*lines, f"written to {self.out}; train it on your texts before you use the new tokens"]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), self.proof])


def adapt(
    model_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    texts: Iterable[str],
    *,
    most: int = 500,
    min_frequency: int = 3,
    way: str = "wordpiece",
    phrases: int = 0,
    new: str | Initializer = "pieces",
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
    progress: Progress | None = None,
) -> Adapted:
    """Write a model anew with the words of some texts that are most worth a token, and a row for each of them.

    These steps are done one after the other, and each can be done by itself: `suggest_tokens`, `add_terms`,
    `plan_rows`, `apply_rows`; at last the new directory is checked and loaded, and its tokenizer compared with the old.
    Only then does it get its name: a failure leaves nothing.

    Args:
        model_dir: a directory with a model (config.json and .safetensors files) and its tokenizer. Where that has a
            tokenizer.json, the fast class is taken, and the new directory has a tokenizer.json too.
        out_dir: the directory to write, which does not exist or is empty.
        texts: read twice; an iterator is kept in a temporary file for that.
        most, min_frequency, phrases: see `suggest_tokens`; phrases are for `"added"` and `"unused"`.
        way: `"wordpiece"`, words become entries of the vocabulary; `"added"`, added tokens of single words;
            `"unused"`, such tokens in the free slots `[unusedN]`, so that the model needs no new row.
        new: what the rows of new tokens are made of; see `plan_rows`.
        also, leave, multiple_of, progress: see `apply_rows`.

    Raises:
        InputError: there is no word to add; an option is none; or what `apply_rows` raises.
        InputTypeError: the texts are one string.
        FileError, FileFormatError: a file of the model cannot be read, or `out_dir` cannot be written.
        VocabularyError: what was written does not hold what it should. Nothing is left of it.

    Cost: reading the texts twice, and the model once.
    """
    if way not in _WAYS:
        raise InputError(f"way is {way!r:.60}; it is {', '.join(map(repr, WAYS[:-1]))} or {WAYS[-1]!r}")
    if isinstance(texts, (str, bytes)):
        raise InputTypeError("adapt takes a list of texts, not one", value=texts)
    target = checked_new(out_dir)
    before, words_of = _tokenizers(model_dir)
    with read_again(texts) as read:
        suggestions = _suggested(words_of, read, way, most, min_frequency, phrases)
        after = copy.deepcopy(before)
        after.config_rows = None  # that of the model as it is
        terms = add_terms(after, [each.word for each in suggestions.suggestions], _WAYS[way][1])
        if not terms.added:
            raise InputError(f"none of the words can be added: {terms.refused[0].reason}")
        plan = plan_rows(before, after, new)
        with new_directory(target) as staging:
            applied = apply_rows(
                *(plan, model_dir, staging),
                also=also,
                leave=leave,
                multiple_of=multiple_of,
                tokenizer=after,
                progress=progress,
            )
            written = _verified(before, plan, terms, staging)
        comparison = compare(before, written, ())
        counts = _tokens_of((before, written), read)
    out = os.fspath(out_dir)
    return Adapted(suggestions, terms, plan, applied._replace(out=out), comparison, counts[0], counts[1], out)


def _tokenizers(model_dir: str | os.PathLike[str]) -> tuple[BertTokenizer, BertTokenizer]:
    """The tokenizer of the model, and the one of the slow profile, which tells the words of texts."""
    slow = AutoTokenizer.from_pretrained(model_dir, use_fast=False)
    fast = slow
    if os.path.isfile(os.path.join(model_dir, TOKENIZER_FILE)):
        fast = AutoTokenizer.from_pretrained(model_dir, use_fast=True)
    return _require_bert(fast), _require_bert(slow)


def _require_bert(tokenizer: object) -> BertTokenizer:
    if not isinstance(tokenizer, BertTokenizer):
        raise InputTypeError(f"adapt takes a BertTokenizer, not {type(tokenizer).__name__}", value=tokenizer)
    return tokenizer


def _suggested(
    tokenizer: BertTokenizer, texts: Iterable[str], way: str, most: int, min_frequency: int, phrases: int
) -> Suggestions:
    if way == "unused":
        slots = len(tokenizer.unused_slots())
        if not slots:
            raise InputError("the vocabulary has no free slot [unusedN]; add the words in another way, with new rows")
        most = min(most, slots)
    suggestions = suggest_tokens(
        tokenizer,
        texts,
        max_suggestions=most,
        min_frequency=min_frequency,
        adding=_WAYS[way][0],
        phrases=phrases,
    )
    if not suggestions.suggestions:
        raise InputError(
            f"none of the words of the {suggestions.texts:,} texts is worth a token: those that stand there "
            f"{min_frequency} times or more are tokens already; give more text, or a lower min_frequency"
        )
    return suggestions


def _verified(before: BertTokenizer, plan: RowPlan, terms: AddedTerms, directory: os.PathLike[str]) -> BertTokenizer:
    """The tokenizer that a new directory gives, once everything about it has proved right.

    Raises:
        VocabularyError: something is not as it was planned.
    """
    report = check(directory)
    if not report.ok:
        raise VocabularyError(f"what was written has faults: {report.errors[0].message}")
    written = _require_bert(AutoTokenizer.from_pretrained(directory, use_fast=before.is_fast))
    if written.fingerprint() != plan.after:
        raise VocabularyError(f"the tokenizer that was written gives other ids: {written.fingerprint()}")
    for token, token_id in terms.added.items():
        if ids_of(written, [token]) != [[token_id]]:
            raise VocabularyError(f"the new token {token!r:.60} is not the id {token_id}", token=token)
    return written


def _tokens_of(tokenizers: tuple[BertTokenizer, ...], texts: Iterable[str]) -> list[TokensOfTexts]:
    unknown = list(map(unknown_id_of, tokenizers))
    counts = [[0, 0] for _ in tokenizers]
    number = 0
    for batch in batches(texts):
        number += len(batch)
        for tokenizer, unknown_id, count in zip(tokenizers, unknown, counts, strict=True):
            for ids in ids_of(tokenizer, batch):
                count[0] += len(ids)
                count[1] += ids.count(unknown_id)  # type: ignore[arg-type]
    return [TokensOfTexts(number, *count) for count in counts]
