"""`adapt`: a model and its tokenizer made ready for some terms or texts, from what to add to the
finished directory.

In: a model's directory, and terms to add or texts to find words in. Out: a new directory with a
token and a row for each, and the proof that every other token has kept its id and its row; or, for
a look, only the report.
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.files.formats import has_tokenizer_json
from trietok.files.new_directory import new_directory
from trietok.inputs.settings import Profile
from trietok.showing.characters import alternatives, first_few, number_of
from trietok.tokenizer.auto import AutoTokenizer, choose
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.training.word_counts import WordCounts
from trietok.workbench.adapting.adapted import Adapted, NewToken
from trietok.workbench.adapting.add_terms import (
    WAYS,
    AddedTerms,
    add_terms,
    checked_terms,
    ids_of_texts,
    other_words,
    remove_terms,
    require_same_tokens,
    way_to_add,
)
from trietok.workbench.adapting.apply_rows import OnStep, check_saving, write_rows
from trietok.workbench.adapting.checkpoint import checked_model
from trietok.workbench.adapting.distil import distil_rows
from trietok.workbench.adapting.encoder import checked_parts
from trietok.workbench.adapting.row_initialization import (
    Initializer,
    check_initialization,
    ids_of_pieces,
    plan_rows,
)
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.adapting.tokens_of_texts import TokensOfTexts, tokens_of
from trietok.workbench.checking.check import check_and_load
from trietok.workbench.comparing.compare import compare
from trietok.workbench.read_again import checked, read_again
from trietok.workbench.suggesting.suggest import suggest_tokens
from trietok.workbench.suggesting.suggestions import Suggestions


def adapt(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None,
    texts: Iterable[str] = (),
    *,
    terms: Iterable[str] | None = None,
    remove: Iterable[str] = (),
    most: int = 500,
    min_frequency: int = 3,
    way: str = "auto",
    phrases: int = 0,
    initialization: str | Initializer = "length",
    initialization_seconds: float | None = None,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
    leave_out: Iterable[str] = (),
    profile: Profile | None = None,
    progress: OnStep | None = None,
    fitting: OnStep | None = None,
) -> Adapted:
    """Write a model anew with some terms, or the words of texts that are most worth it, as tokens
    with a row for each.

    These steps are done one after the other, and each can be done by itself: `suggest_tokens`,
    `add_terms`, `plan_rows`, `apply_rows`; at last the new directory is checked and loaded, and its
    tokenizer compared with the old. Only then does it get its name: a failure leaves nothing.

    Args:
        model: a directory with a model (config.json and .safetensors files) and its tokenizer.
        output: the directory to write, which does not exist or is empty. None writes nothing: the
            result tells what would be added, and what not.
        texts: what to find words in, for which they are read twice, an iterator from a temporary
            file; with `terms`, what to count their tokens in, if anything.
        terms: what to add; see `add_terms`. None finds words in the texts, if there are any, or
            adds nothing where some are to be removed.
        remove: tokens, or terms as people write them, to take out first, whose rows go. Later ids
            close up.
        most, min_frequency, phrases, leave_out: of the words that are found; see `suggest_tokens`.
            With phrases, all are added tokens.
        way: see `add_terms`. Words that are found are never `"added"`, which match inside other
            words too.
        initialization: what the rows of new tokens are made of; see `plan_rows`. `"distil"` fits
            them with PyTorch, so that the model embeds each token alone as it has embedded its
            pieces.
        initialization_seconds: with `"distil"`, how long fitting may take; rows for which there is
            no time are as with `"length"`. None is as long as needed.
        also, leave, multiple_of, progress: see `apply_rows`.
        fitting: called with the number of rows that are fitted and of those to fit.
        profile: that of the tokenizer; by default that of the class that `AutoTokenizer` takes.
            Where it is `"fast"`, the new directory has a tokenizer.json.

    Raises:
        InputError: there is nothing to add; an option is none; or what `apply_rows` raises.
        InputTypeError: the texts, the terms, or those to remove, are one string.
        FileError, FileFormatError: a file of the model cannot be read, or `output` cannot be
            written.
        VocabularyError: what was written does not hold what it should. Nothing is left of it.

    Cost: reading the texts twice, or once with `terms`, and the model once.
    """
    if terms is None and not _is_given(texts) and _is_given(remove):
        terms = ()
    _check_words(way, terms, leave_out, (most, min_frequency, phrases))
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputTypeError(f"texts is a list of texts, not {type(texts).__name__}", value=texts)
    also, leave = ([names] if isinstance(names, str) else list(names) for names in (also, leave))
    # before all of the texts are read
    checkpoint, _ = checked_model(model, output, also, leave)
    before, slow = _tokenizers(model, profile)
    fits = isinstance(initialization, str) and initialization == "distil"
    _check_seconds(fits, initialization_seconds)
    planned = "length" if fits else initialization
    check_initialization(before, planned)
    if fits:
        checked_parts(checkpoint)
    base = copy.deepcopy(before)
    removed = remove_terms(base, remove)
    if terms is None:
        words = {"min_frequency": min_frequency, "phrases": phrases, "leave_out": [*leave_out]}
        with read_again(texts) as read:
            found = _with_words((before, base, slow), read, way, most, words)
    else:
        found = _with_given((before, base), terms, checked(texts), way)
    if not (found.done.added or removed) and output is not None:
        raise InputError(f"there is nothing to add: {_why_nothing(found)}")
    plan = plan_rows(before, found.after, initialization=planned)
    adapted = Adapted(
        suggestions=found.suggestions,
        terms=found.done,
        new=_new_tokens(found.done, before, found.given),
        plan=plan,
        applied=None,
        comparison=compare(before, found.after, ()),
        before=found.counts[0],
        after=found.counts[1],
        out="",
        unreached=found.unreached,
        left="fitting of rows" if fits else "",
        other_words=other_words(before, found.after, found.done, found.changed),
        removed=removed,
        removed_entries=_entries_of(removed, before),
    )
    if output is None:
        return adapted
    fitted = None
    with new_directory(output) as staging:
        # once more: the texts may have taken hours
        checkpoint, axes = checked_model(checkpoint.directory, staging, also, leave)
        if fits:
            fitted = distil_rows(
                plan,
                checkpoint,
                before,
                found.after,
                seconds=initialization_seconds,
                progress=fitting,
            )
        applied = write_rows(
            plan,
            checkpoint,
            axes,
            staging,
            multiple_of=multiple_of,
            tokenizer=found.after,
            progress=progress,
            fitted=fitted,
        )
        _verify(before, plan, found.done, staging)
    out = os.fspath(output)
    return replace(adapted, applied=replace(applied, out=out), out=out, fitted=fitted, left="")


# ---- what is asked for ---------------------------------------------------------------------------


def _check_words(way: str, terms: Any, leave_out: Any, how: tuple[int, int, int]) -> None:
    """Raise where it is not clear which words are to be added."""
    if not isinstance(way, str) or way not in WAYS:
        raise InputError(f"way is {way!r:.60}; it is {alternatives(WAYS)}")
    if isinstance(leave_out, str):
        raise InputTypeError("leave_out is a list of words, not one", value=leave_out)
    if terms is None and way == "added":
        raise InputError(
            "words that are found are not 'added' as tokens that match inside other words too,"
            " which costs tokens; say 'single-word'"
        )
    if terms is not None and (leave_out or how != (500, 3, 0)):
        raise InputError(
            "most, min_frequency, phrases and leave_out are about words that are found; terms are"
            " given"
        )


def _check_seconds(fits: bool, seconds: float | None) -> None:
    """Raise where the seconds are none, or rows are not fitted."""
    if seconds is not None and not (fits and seconds > 0):
        raise InputError(
            f"initialization_seconds (--initialization-seconds) is {seconds!r:.40}; it is above 0,"
            " and goes with initialization='distil' (--initialization distil)"
        )


def _is_given(texts: Iterable[str]) -> bool:
    """Whether there are texts; an iterator is read later."""
    return not (isinstance(texts, Sequence) and not texts)


# ---- what is added -------------------------------------------------------------------------------


class _Found(NamedTuple):
    """The tokenizer with new tokens, and what came of each word and term."""

    after: BertTokenizer
    done: AddedTerms
    counts: Sequence[TokensOfTexts]  # before and after
    given: Counter[int]
    changed: Iterable[tuple[str, int]]  # words that may be split differently, and how often
    suggestions: Suggestions | None = None
    unreached: list[str] = []


def _with_words(
    tokenizers: tuple[BertTokenizer, BertTokenizer, BertTokenizer],
    read: Iterable[str],
    way: str,
    most: int,
    how: dict[str, Any],
) -> _Found:
    """The words of texts added that are most worth it: to the second of the tokenizers, as the
    third finds them.
    """
    before, base, slow = tokenizers
    suggestions = _suggested(slow, read, way, most, **how)
    way = way_to_add(suggestions, way)
    after, done = _with_terms([each.word for each in suggestions.suggestions], base, way)
    *counts, given = tokens_of((before, after), read)
    unreached = [word for word, token_id in done.added.items() if token_id not in given]
    # the slow profile told the words: the fast one may compose or delete other characters
    if unreached:
        after, done = _with_terms([word for word in done.added if word not in unreached], base, way)
        *counts, given = tokens_of((before, after), read)
    changed = ((each.text, each.frequency) for each in suggestions.changed)
    return _Found(after, done, counts, given, changed, suggestions, unreached)


def _with_given(
    tokenizers: tuple[BertTokenizer, BertTokenizer],
    terms: Iterable[str],
    read: Iterable[str],
    way: str,
) -> _Found:
    """Terms added, to the second of the tokenizers."""
    before, base = tokenizers
    after, done = _with_terms(checked_terms(terms), base, way)
    words = WordCounts()
    *counts, given = tokens_of((before, after), read, words)
    return _Found(after, done, counts, given, words.items())


def _why_nothing(found: _Found) -> str:
    """Why nothing is added."""
    if found.done.refused:
        return f"{found.done.refused[0].term!r:.60}: {found.done.refused[0].reason}"
    if found.done.known:
        return f"known already: {first_few(found.done.known)}"
    if found.unreached:
        return "the model's tokenizer gives none of the words on the texts"
    return "there is no term"


def _tokenizers(
    model_dir: str | os.PathLike[str], profile: Profile | None
) -> tuple[BertTokenizer, BertTokenizer]:
    """The tokenizer of the model, and the one of the slow profile, which tells the words of
    texts.
    """
    before = require_wordpiece(choose(os.fspath(model_dir), profile).load(), "adapt")
    slow = AutoTokenizer.from_pretrained(model_dir, use_fast=False)
    slow = require_wordpiece(slow, "adapt")
    require_same_tokens(before, slow, model_dir)
    return before, slow


def _suggested(
    tokenizer: BertTokenizer, texts: Iterable[str], way: str, most: int, **options: Any
) -> Suggestions:
    slots = len(tokenizer.unused_slots())
    if way == "unused" and not slots:
        raise InputError(
            "the vocabulary has no free slot [unusedN]; add the words in another way, with new rows"
        )
    if way == "unused" and type(most) is int:
        most = min(most, slots)
    way = "single-word" if way == "unused" else way
    suggestions = suggest_tokens(tokenizer, texts, most=most, way=way, **options)
    if not suggestions.suggestions:
        raise InputError(
            f"none of the words of the {number_of(suggestions.texts, 'text')} is worth a token:"
            f" those that occur {options['min_frequency']} times or more are tokens already; give"
            " more text, or a lower min_frequency"
        )
    return suggestions


def _with_terms(
    terms: Iterable[str], before: BertTokenizer, way: str
) -> tuple[BertTokenizer, AddedTerms]:
    after = copy.deepcopy(before)
    after.config_rows = None  # that of the model as it is
    done = add_terms(after, terms, way)
    check_saving(after)
    return after, done


def _new_tokens(done: AddedTerms, before: BertTokenizer, given: Counter[int]) -> list[NewToken]:
    entries, new = frozenset(done.entries), []
    for token, ids in zip(done.added, ids_of_pieces(before, list(done.added)), strict=True):
        times, pieces = given[done.added[token]], before.convert_ids_to_tokens(ids)
        new.append(NewToken(token, token in entries, pieces, times, (len(ids) - 1) * times))
    return new


def _entries_of(tokens: Iterable[str], tokenizer: BertTokenizer) -> list[str]:
    """Those that are entries of the vocabulary, and no added tokens."""
    added = set(map(str, tokenizer.added_tokens_decoder.values()))
    return [token for token in tokens if token not in added]


# ---- what is written -----------------------------------------------------------------------------


def _verify(
    before: BertTokenizer, plan: RowPlan, terms: AddedTerms, directory: os.PathLike[str]
) -> None:
    """Raise where a new directory has faults, or its tokenizer is not the one that was planned."""
    report, loaded = check_and_load(directory, with_fast=has_tokenizer_json(directory))
    if loaded is None or not report.ok:
        why = report.errors[0].message if report.errors else "it is not a WordPiece tokenizer"
        raise VocabularyError(
            f"what was written has faults, and is taken away again: {why}; if"
            " `leave` (--leave) names a tensor with rows for tokens, it must not"
        )
    # The check has loaded what was written; again only where a user's class is registered for it.
    written = loaded.fast if before.profile == "fast" else loaded.slow
    if type(written) is not type(before):
        written = choose(os.fspath(directory), before.profile).load()
    written = require_wordpiece(written, "adapt")
    if written.fingerprint() != plan.after:
        raise VocabularyError(
            f"the tokenizer that was written gives other ids: {written.fingerprint()}"
        )
    prefix = before.wordpiece_tokenizer.continuing_subword_prefix
    for token, token_id in terms.added.items():  # what continues a word stands in no text by itself
        if ids_of_texts(written, [token]) != [[token_id]] and not (
            prefix and token.startswith(prefix)
        ):
            raise VocabularyError(
                f"the new token {token!r:.60} is not the id {token_id}", token=token
            )
