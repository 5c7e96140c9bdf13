"""`adapt`: a model and its tokenizer made ready for some texts, from which words to add to the finished directory.

In: a model's directory and texts. Out: a new directory with the words that help most, a row for each of them, and the
proof that every other token has kept its id and its row.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.files.atomic import new_directory
from trietok.files.formats import has_tokenizer_json
from trietok.inputs.profiles import Profile
from trietok.showing.characters import alternatives, first_few, number_of
from trietok.tokenizer.auto import AutoTokenizer, choose
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.workbench.adapting.add_terms import AddedTerms, add_terms, batches, ids_of, unknown_id_of
from trietok.workbench.adapting.apply_rows import Progress, checked_model, write_rows
from trietok.workbench.adapting.row_blocks import AppliedRows
from trietok.workbench.adapting.row_plan import Initializer, RowPlan, check_new, plan_rows
from trietok.workbench.checking.check import checked_facts
from trietok.workbench.comparing.compare import Comparison, compare
from trietok.workbench.read_again import read_again
from trietok.workbench.suggesting.suggest import Suggestions, suggest_tokens

# How words are added → how they are suggested, and how `add_terms` calls it.
_WAYS = {
    "wordpiece": ("wordpiece", "wordpiece"),
    "added": ("added", "single-word"),
    "single-word": ("added", "single-word"),
    "unused": ("added", "unused"),
}


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
        unreached: words that were not added, because the model's tokenizer gives them on no text: the slow profile
            found them, and the fast one writes them otherwise.
    """

    suggestions: Suggestions
    terms: AddedTerms
    plan: RowPlan
    applied: AppliedRows
    comparison: Comparison
    before: TokensOfTexts
    after: TokensOfTexts
    out: str
    unreached: list[str]

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
            "unreached": self.unreached,
            "proof": self.proof,
        }

    def lines(self) -> list[str]:
        """What was done, without the tensors and the proof."""
        words = list(self.terms.added)
        saved = (self.before.tokens - self.after.tokens) / self.before.tokens if self.before.tokens else 0
        lines = [f"{number_of(len(words), 'word')} added: {first_few(words)}"]
        if self.unreached:
            lines.append(
                f"{number_of(len(self.unreached), 'word')} not added, because the model's tokenizer gives none of them "
                f"on the texts: {first_few(self.unreached)}"
            )
        lines += [
            f"{number_of(self.after.texts, 'text')}: {self.before.tokens:,} tokens become {self.after.tokens:,} "
            f"({saved:.1%} fewer), {number_of(self.before.unknown, 'unknown token')} become {self.after.unknown:,}",
            f"the model had {self.applied.rows_before:,} rows and has {self.applied.rows_after:,}",
        ]
        if self.applied.left_out:
            lines.append(f"not carried over: {', '.join(self.applied.left_out)}")
        return [*lines, f"written to {self.out}; train it on your texts before you use the new tokens"]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.comparison.slots_said, self.proof])


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
    leave_out: Iterable[str] = (),
    profile: Profile | None = None,
    progress: Progress | None = None,
) -> Adapted:
    """Write a model anew with the words of some texts that are most worth a token, and a row for each of them.

    These steps are done one after the other, and each can be done by itself: `suggest_tokens`, `add_terms`,
    `plan_rows`, `apply_rows`; at last the new directory is checked and loaded, and its tokenizer compared with the old.
    Only then does it get its name: a failure leaves nothing.

    Args:
        model_dir: a directory with a model (config.json and .safetensors files) and its tokenizer.
        out_dir: the directory to write, which does not exist or is empty.
        texts: read twice; an iterator is kept in a temporary file for that.
        most, min_frequency, phrases, leave_out: see `suggest_tokens`; phrases are for `"added"` and `"unused"`.
        way: `"wordpiece"`, words become entries of the vocabulary; `"added"` or `"single-word"`, added tokens of
            single words; `"unused"`, such tokens in the free slots `[unusedN]`, so that the model needs no new row.
        new: what the rows of new tokens are made of; see `plan_rows`.
        also, leave, multiple_of, progress: see `apply_rows`.
        profile: `"slow"` or `"fast"`, which writes a tokenizer.json too; by default the one that `AutoTokenizer` takes.

    Raises:
        InputError: there is no word to add; an option is none; or what `apply_rows` raises.
        InputTypeError: the texts are one string.
        FileError, FileFormatError: a file of the model cannot be read, or `out_dir` cannot be written.
        VocabularyError: what was written does not hold what it should. Nothing is left of it.

    Cost: reading the texts twice, and the model once.
    """
    if not isinstance(way, str) or way not in _WAYS:
        raise InputError(f"way is {way!r:.60}; it is {alternatives(_WAYS)}")
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputTypeError(f"adapt takes a list of texts, not {type(texts).__name__}", value=texts)
    if isinstance(leave_out, str):
        raise InputTypeError("leave_out is a list of words, not one", value=leave_out)
    also, leave = ([names] if isinstance(names, str) else list(names) for names in (also, leave))
    leave_out = list(leave_out)
    checked_model(model_dir, out_dir, also, leave)  # before all of the texts are read
    before, slow = _tokenizers(model_dir, profile)
    check_new(before, new)
    with read_again(texts) as read:
        options: dict[str, Any] = {"min_frequency": min_frequency, "phrases": phrases, "leave_out": leave_out}
        suggestions = _suggested(slow, read, way, most, **options)
        after, terms, counts, unreached = _added([each.word for each in suggestions.suggestions], before, way, read)
        plan = plan_rows(before, after, new)
        with new_directory(out_dir) as staging:
            model = checked_model(model_dir, staging, also, leave)  # once more: the texts may have taken hours
            applied = write_rows(plan, *model, staging, multiple_of=multiple_of, tokenizer=after, progress=progress)
            comparison = compare(before, _verified(before, plan, terms, staging), ())
    out = os.fspath(out_dir)
    applied = applied._replace(out=out)
    return Adapted(suggestions, terms, plan, applied, comparison, counts[0], counts[1], out, unreached)


def _tokenizers(model_dir: str | os.PathLike[str], profile: Profile | None) -> tuple[BertTokenizer, BertTokenizer]:
    """The tokenizer of the model, and the one of the slow profile, which tells the words of texts."""
    slow: Any = AutoTokenizer.from_pretrained(model_dir, use_fast=False)
    before, slow = (
        require_wordpiece(choose(os.fspath(model_dir), profile).load(), "adapt"),
        require_wordpiece(slow, "adapt"),
    )
    require_same_tokens(before, slow, model_dir)
    return before, slow


def require_same_tokens(fast: BertTokenizer, slow: BertTokenizer, directory: str | os.PathLike[str]) -> None:
    """Raise `InputError` if the two profiles of a directory have other ids: one of its files is another model's."""
    if fast.get_vocab() != slow.get_vocab():
        raise InputError(
            f"the tokenizer.json of {os.fspath(directory)} and the files of its slow tokenizer (vocab.txt, "
            "tokenizer_config.json) hold different tokens; remove or correct what the model was not trained with "
            "(trietok check says what differs)"
        )


def _suggested(tokenizer: BertTokenizer, texts: Iterable[str], way: str, most: int, **options: Any) -> Suggestions:
    slots = len(tokenizer.unused_slots())
    if way == "unused" and not slots:
        raise InputError("the vocabulary has no free slot [unusedN]; add the words in another way, with new rows")
    if way == "unused" and type(most) is int:
        most = min(most, slots)
    suggestions = suggest_tokens(tokenizer, texts, max_suggestions=most, adding=_WAYS[way][0], **options)
    if not suggestions.suggestions:
        raise InputError(
            f"none of the words of the {number_of(suggestions.texts, 'text')} is worth a token: those that occur "
            f"{options['min_frequency']} times or more are tokens already; give more text, or a lower min_frequency"
        )
    return suggestions


def _added(
    words: list[str], before: BertTokenizer, way: str, texts: Iterable[str]
) -> tuple[BertTokenizer, AddedTerms, list[TokensOfTexts], list[str]]:
    """The tokenizer with the words that texts give, the tokens of the texts without them and with them, and the others.

    The slow profile has told the words. The fast one may compose or delete other characters, and never write one so.
    """
    after, terms = _with_words(words, before, way)
    counts, given = _tokens_of((before, after), texts)
    unreached = [word for word, token_id in terms.added.items() if token_id not in given]
    if unreached:
        reached = [word for word, token_id in terms.added.items() if token_id in given]
        after, terms = _with_words(reached, before, way)
        counts, _ = _tokens_of((before, after), texts)
    return after, terms, counts, unreached


def _with_words(words: list[str], before: BertTokenizer, way: str) -> tuple[BertTokenizer, AddedTerms]:
    after = copy.deepcopy(before)
    after.config_rows = None  # that of the model as it is
    terms = add_terms(after, words, _WAYS[way][1])
    if not terms.added:
        reason = terms.refused[0].reason if terms.refused else "the model's tokenizer gives none of them on the texts"
        raise InputError(f"none of the words can be added: {reason}")
    return after, terms


def _verified(before: BertTokenizer, plan: RowPlan, terms: AddedTerms, directory: os.PathLike[str]) -> BertTokenizer:
    """The tokenizer that a new directory gives, once everything about it has proved right."""
    report, facts = checked_facts(directory, with_fast=has_tokenizer_json(directory))
    if not report.ok:
        raise VocabularyError(
            f"what was written has faults, and is taken away again: {report.errors[0].message}; if `leave` (--leave) "
            "names a tensor with rows for tokens, it must not"
        )
    # The check has loaded what was written; again only where a user's class is registered for it.
    written = facts.fast if before.profile == "fast" else facts.slow
    if type(written) is not type(before):
        written = AutoTokenizer.from_pretrained(directory, use_fast=before.profile == "fast")
    written = require_wordpiece(written, "adapt")
    if written.fingerprint() != plan.after:
        raise VocabularyError(f"the tokenizer that was written gives other ids: {written.fingerprint()}")
    for token, token_id in terms.added.items():
        if ids_of(written, [token]) != [[token_id]]:
            raise VocabularyError(f"the new token {token!r:.60} is not the id {token_id}", token=token)
    return written


def _tokens_of(
    tokenizers: tuple[BertTokenizer, BertTokenizer], texts: Iterable[str]
) -> tuple[list[TokensOfTexts], set[int]]:
    """The tokens of texts with each of two tokenizers, and the ids that the second one gives."""
    unknown: list[Any] = list(map(unknown_id_of, tokenizers))
    counts = [[0, 0], [0, 0]]
    given: set[int] = set()
    number = 0
    for batch in batches(texts):
        number += len(batch)
        for tokenizer, unknown_id, count in zip(tokenizers, unknown, counts, strict=True):
            rows = ids_of(tokenizer, batch)
            count[0] += sum(map(len, rows))
            count[1] += sum(ids.count(unknown_id) for ids in rows)
        given.update(*rows)
    return [TokensOfTexts(number, *count) for count in counts], given
