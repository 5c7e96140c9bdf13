"""`adapt`: a model and its tokenizer made ready for some terms or texts, from what to add to the
finished directory.

In: a model's directory, and terms to add or texts to find words in. Out: a new directory with a
token and a row for each, and the proof that every other token has kept its id and its row; or, for
a look, only the report.
"""

from __future__ import annotations

import contextlib
import copy
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, starmap
from operator import ne
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.files.atomic import new_directory
from trietok.files.formats import has_tokenizer_json
from trietok.inputs.profiles import Profile
from trietok.log import renamed
from trietok.showing.characters import alternatives, first_few, number_of, visible
from trietok.showing.report import Report, Table, plain_values
from trietok.tokenizer.auto import AutoTokenizer, choose
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.training.word_counts import WordCounts
from trietok.workbench.adapting import heal as heal_
from trietok.workbench.adapting.add_terms import (
    WAYS,
    AddedTerms,
    OtherWord,
    add_terms,
    add_words_of,
    batches,
    ids_of_texts,
    other_words,
    remove_terms,
    said_of,
    unknown_id_of,
)
from trietok.workbench.adapting.apply_rows import (
    UNLIMITED,
    Checkpoint,
    OnStep,
    check_saving,
    checked_model,
    read_checkpoint,
    write_rows,
)
from trietok.workbench.adapting.row_blocks import AppliedRows
from trietok.workbench.adapting.row_plan import (
    FORMER_STARTS,
    Initializer,
    RowPlan,
    check_start,
    ids_of_pieces,
    plan_rows,
)
from trietok.workbench.checking.check import checked_facts
from trietok.workbench.comparing.compare import Comparison, compare
from trietok.workbench.read_again import read_again
from trietok.workbench.suggesting.suggest import suggest_tokens
from trietok.workbench.suggesting.suggestions import Suggestions, unknown_become

if TYPE_CHECKING:
    from trietok.workbench.adapting.distil import FittedRows, TextEmbedder
    from trietok.workbench.adapting.heal import Healed

_MOST_HELD, _MOST_EMBEDDED = 2000, 400  # texts
_SAME = 0.99  # of the neighbours: where fewer are found, the report warns


class TokensOfTexts(NamedTuple):
    """The tokens of some texts, without [CLS], [SEP] and the like: how many, and how many of them
    are unknown.
    """

    texts: int
    tokens: int
    unknown: int


class HeldBack(NamedTuple):
    """What the new tokens do to texts that no word was found in; with given terms, to a sample of
    all.

    Attributes:
        before, after: the tokens of the texts.
        most: how many tokens the model takes, special ones included.
        fit_before, fit_after: how many texts are no longer than that.
        changed: how many texts have other ids than before.
        embedded: how many of the texts both models have embedded; 0 where that was not measured.
        cosine: between the two embeddings of a text, the mean.
        neighbours: of the ten texts nearest to each, by an index of the old embeddings, the share
            that its new embedding finds in that index.
    """

    before: TokensOfTexts
    after: TokensOfTexts
    most: int
    fit_before: int
    fit_after: int
    changed: int
    embedded: int = 0
    cosine: float | None = None
    neighbours: float | None = None

    def lines(self, is_last: bool = True) -> Iterator[str]:
        """What it says, in sentences, without the tokens; unless it `is_last`, embeddings are
        measured later.
        """
        fit = f" fit into {self.most:,} tokens before, {self.fit_after:,} now"
        fit = (
            f"{self.fit_before:,} of {number_of(self.before.texts, 'text')}{fit}; "
            if self.most < UNLIMITED
            else ""
        )
        yield f"{fit}{self.changed:,} {'has' if self.changed == 1 else 'have'} other ids"
        if self.neighbours is not None:
            yield (
                f"embeddings of {number_of(self.embedded, 'text')}: cosine {self.cosine:.3f} to"
                f" those before; {self.neighbours:.1%} of the {heal_.NEAREST} nearest in an index"
                " made before are found"
            )
        if self.neighbours is None and self.changed:
            how_far = "; --measure (measure=True) says how far" if is_last else ""
            yield f"an index made before does not match the new model{how_far}"
        elif self.neighbours is not None and self.neighbours < _SAME:
            yield (
                "an index made before no longer matches: searches in it miss"
                f" {1 - self.neighbours:.1%} of what they found; embed its texts anew"
            )

    def pictures(self) -> Iterator[tuple[str, list[tuple[str, float, str]]]]:
        """The same in bars: what they are about, and of each its name, its length up to 1, and its
        number.
        """
        tokens = (self.before.tokens, self.after.tokens)
        yield (
            "tokens of these texts",
            [*_bars((each / max(*tokens, 1), f"{each:,}") for each in tokens)],
        )
        if self.most < UNLIMITED:
            fit = (
                (each / self.before.texts, f"{each:,}")
                for each in (self.fit_before, self.fit_after)
            )
            yield f"texts that fit into {self.most:,} tokens", [*_bars(fit)]
        if self.neighbours is not None and self.cosine is not None:
            found = ((1.0, "100.0%"), (self.neighbours, f"{self.neighbours:.1%}"))
            yield f"of the {heal_.NEAREST} nearest in an index made before, found", [*_bars(found)]
            yield (
                "cosine to the embeddings before",
                [*_bars(((1.0, "1.000"), (self.cosine, f"{self.cosine:.3f}")))],
            )


def _bars(values: Iterable[tuple[float, str]]) -> Iterator[tuple[str, float, str]]:
    """Two bars, that before and that now."""
    return (
        (name, max(share, 0), number)
        for name, (share, number) in zip(("before", "now"), values, strict=True)
    )


class NewToken(NamedTuple):
    """A token that was added, or would be.

    Attributes:
        token: the token, as the tokenizer writes it.
        is_entry: whether it is an entry of the vocabulary; else it is an added token.
        pieces: what the model has read in its place so far.
        frequency: how often it stands in the texts, words left out that only begin with it.
        tokens_saved: (pieces − 1) × frequency.
    """

    token: str
    is_entry: bool
    pieces: list[str]
    frequency: int
    tokens_saved: int

    def cells(self) -> tuple[str, ...]:
        """The token in the columns of a table."""
        kind, pieces = "entry" if self.is_entry else "added token", " ".join(self.pieces)
        return visible(self.token), kind, pieces, f"{self.frequency:,}", f"{self.tokens_saved:,}"


_HEAD = ("token", "as", "now", "frequency", "tokens saved")


@dataclass(frozen=True)
class Adapted(Report):
    """What `adapt` did, or would do. `str` makes it readable.

    Attributes:
        suggestions: the words that were worth adding, and what each saves; None where the terms
            were given.
        terms: which words or terms were added, with their ids, and which cannot be.
        new: each of those added, and what the model has read in its place so far.
        plan: which row of the model each row of the new one is made of.
        applied: the tensors that were written; None where nothing was.
        comparison: the tokenizer before, and the one that the new directory gives.
        before, after: the tokens of the texts, with each of them.
        out: the new directory; empty where nothing was written.
        fitted: the rows that were fitted; None with another start than `"distil"`.
        held_back: what became of texts that no word was found in; None where there are none.
        unreached: words that were not added, because the model's tokenizer gives them on no text:
            the slow profile found them, and the fast one writes them otherwise.
        left: what a dry run leaves to the run that writes, such as fitting rows; empty where there
            is nothing.
        other_words: words of the texts that were not added, and have other tokens now, the most
            frequent first.
        removed: tokens that were taken out.
        healed: what fitting rows in whole texts did; None where it was not asked for.
    """

    suggestions: Suggestions | None
    terms: AddedTerms
    new: list[NewToken]
    plan: RowPlan
    applied: AppliedRows | None
    comparison: Comparison
    before: TokensOfTexts
    after: TokensOfTexts
    out: str
    unreached: list[str]
    fitted: FittedRows | None = None
    held_back: HeldBack | None = None
    left: str = ""
    other_words: Sequence[OtherWord] = ()
    removed: Sequence[str] = ()
    healed: Healed | None = None

    @property
    def proof(self) -> str:
        """What became of the ids, in one sentence; see `Comparison.proof`."""
        return self.comparison.proof

    @property
    def ok(self) -> bool:
        """Whether no term is left out."""
        return self.terms.ok

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; of the plan its numbers."""
        rows = {"out": self.out or None, "rows": plain_values(self.applied)}
        parts = (
            "suggestions terms new before after unreached fitted held_back proof other_words"
            " removed healed"
        )
        return {**rows, **{name: plain_values(getattr(self, name)) for name in parts.split()}}

    def _html(self, html: Any) -> Iterator[str]:
        yield from super()._html(html)
        if self.held_back is not None:
            yield from starmap(html.bars, self.held_back.pictures())
        if self.fitted is not None and self.fitted.rows:
            cosines = ((each, f"{each:.3f}") for each in (self.fitted.start, self.fitted.cosine))
            yield html.bars(
                "cosine of new tokens to their pieces, before and after fitting", _bars(cosines)
            )

    def _parts(self) -> Iterator[str | Table]:
        if self.applied is None and self.new:
            columns = len(_HEAD) if self.after.texts else 3
            yield Table(
                _HEAD[:columns],
                [each.cells()[:columns] for each in self.new],
                right=(3, 4),
                mono=(2,),
            )
        if self.suggestions is None:
            yield from str(self.terms).split("\n")
        else:
            yield f"{number_of(len(self.new), 'word')} added: {first_few(list(self.terms.added))}"
            yield from self.terms.said_of_instead
        if self.removed:
            yield f"{number_of(len(self.removed), 'token')} removed: {first_few([*self.removed])}"
        if self.unreached:
            yield (
                f"{number_of(len(self.unreached), 'word')} not added, because the model's tokenizer"
                f" gives none of them on the texts: {first_few(self.unreached)}"
            )
        if self.after.texts:
            if absent := [each.token for each in self.new if not each.frequency]:
                yield f"{len(absent):,} of them in none of the texts: {first_few(absent)}"
            yield (
                f"{_said(self.before, self.after)},"
                f" {unknown_become(self.before.unknown, self.after.unknown)}"
            )
        if self.other_words:
            yield said_of(self.other_words)
        if self.held_back is not None:
            if self.suggestions is not None:
                yield f"held back: {_said(self.held_back.before, self.held_back.after)}"
            yield from self.held_back.lines(is_last=not self.left)
        if self.fitted is not None:
            yield from str(self.fitted).split("\n")
        if self.healed is not None:
            yield str(self.healed)
        if self.applied is None:
            left = f"; the run that writes does the {self.left}, too" if self.left else ""
            yield f"nothing is written{left}"
        else:
            yield (
                f"the model had {self.applied.rows_before:,} rows and has"
                f" {self.applied.rows_after:,}"
            )
            if self.applied.left_out:
                yield f"not carried over: {', '.join(self.applied.left_out)}"
            train = "; train it on your texts before you use the new tokens"
            yield f"written to {self.out}{train if self.new else ''}"
        yield from (*self.comparison.slots_said, self.proof)


@renamed(FORMER_STARTS, model_dir="model", out_dir="output", new="start")
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
    start: str | Initializer = "length",
    start_seconds: float | None = None,
    in_context: int = 0,
    heal: Iterable[str] = (),
    resume: bool = False,
    measure: bool = False,
    held_back: float = 0.1,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
    onnx: bool = False,
    leave_out: Iterable[str] = (),
    profile: Profile | None = None,
    progress: OnStep | None = None,
    fitting: OnStep | None = None,
    healing: OnStep | None = None,
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
        texts: what to find words in; with `terms`, what to count their tokens in, if anything. They
            are read twice; an iterator is kept in a temporary file for that.
        terms: what to add; see `add_terms`. None finds words in the texts.
        remove: tokens, or terms as people write them, to take out first, whose rows go. Later ids
            close up.
        most, min_frequency, phrases, leave_out: of the words that are found; see `suggest_tokens`.
            With phrases, all are added tokens.
        way: see `add_terms`. Words that are found are never `"added"`, which match inside other
            words too.
        start: what the rows of new tokens are made of; see `plan_rows`. `"distil"` fits them with
            PyTorch and the model's own class, so that the model embeds each token alone as it has
            embedded its pieces.
        start_seconds: with `"distil"`, how long fitting may take; rows for which there is no time
            are as with `"length"`. None is as long as needed.
        in_context: with `"distil"`, in how many texts each row is fitted besides the word alone. It
            takes longer.
        heal: with `"distil"`, texts in which the rows are then fitted as whole texts, so that the
            model gives each what it gave before; 2,000 of the texts that hold a new token, or two
            for each. It takes minutes for 500 words.
        resume: with `"distil"`, go on with the rows that a run kept that was stopped, in the file
            `output` and ".rows".
        measure: embed texts that were held back with both models, and say what became of their
            neighbours. It needs PyTorch; with `"distil"` it is always done where there are texts.
        held_back: the share of the texts that no words are found in, so that the report can say
            what the new tokens do to other texts. The same texts are held back each time.
        also, leave, multiple_of, onnx, progress: see `apply_rows`.
        fitting, healing: called with the number of rows that are fitted and of those to fit; of
            steps, and of the most.
        profile: that of the tokenizer; by default that of the class that `AutoTokenizer` takes.
            Where it is `"fast"`, the new directory has a tokenizer.json.

    Raises:
        InputError: there is nothing to add; an option is none; or what `apply_rows` raises.
        InputTypeError: the texts, or the terms, are one string.
        FileError, FileFormatError: a file of the model cannot be read, or `output` cannot be
            written.
        VocabularyError: what was written does not hold what it should. Nothing is left of it.

    Cost: reading the texts twice, and the model once.
    """
    if not isinstance(way, str) or way not in WAYS:
        raise InputError(f"way is {way!r:.60}; it is {alternatives(WAYS)}")
    for name, said in (("texts", texts), ("heal", heal)):
        if isinstance(said, (str, bytes)) or not isinstance(said, Iterable):
            raise InputTypeError(
                f"{name} is a list of texts, not {type(said).__name__}", value=said
            )
    if isinstance(leave_out, str):
        raise InputTypeError("leave_out is a list of words, not one", value=leave_out)
    if terms is None and way == "added":
        raise InputError(
            "words that are found are not 'added' as tokens that match inside other words too,"
            " which costs tokens; say 'single-word'"
        )
    if terms is not None and (leave_out or (most, min_frequency, phrases) != (500, 3, 0)):
        raise InputError(
            "most, min_frequency, phrases and leave_out are about words that are found; terms are"
            " given"
        )
    also, leave = ([names] if isinstance(names, str) else list(names) for names in (also, leave))
    leave_out = list(leave_out)
    # before all of the texts are read
    checkpoint, _ = checked_model(model, output, also, leave, onnx)
    if not 0 <= held_back < 1:
        raise InputError(f"held_back is {held_back!r:.40}; it is a share from 0 to less than 1")
    before, slow = _tokenizers(model, profile)
    fits = isinstance(start, str) and start == "distil"
    if start_seconds is not None and not (fits and start_seconds > 0):
        told = f"start_seconds (--start-seconds) is {start_seconds!r:.40}"
        raise InputError(f"{told}; it is above 0, and goes with start='distil' (--start distil)")
    if type(in_context) is not int or in_context < 0 or (in_context and not fits):
        told = f"in_context (--in-context) is {in_context!r:.40}"
        raise InputError(
            f"{told}; it is a number of texts, and goes with start='distil' (--start distil)"
        )
    heals = not (isinstance(heal, Sequence) and not heal)
    if (heals or resume) and not fits:
        raise InputError(
            f"{'heal' if heals else 'resume'} goes with start='distil' (--start distil)"
        )
    planned = "length" if fits else start
    check_start(before, planned)
    if fits or measure:
        from trietok.workbench.adapting import distil  # PyTorch: only where a model is run

        distil.packages(checkpoint)  # before all of the texts are read, too
    fitted = values = healed = suggestions = None
    words = WordCounts()
    base = copy.deepcopy(before)
    removed = remove_terms(base, remove)
    # before all of the texts are read, too
    asked_for = None if terms is None else _with_terms(terms, base, way)
    with read_again(texts) as read:
        held = _Held(read, held_back if asked_for is None else 1)
        if asked_for is None:
            options: dict[str, Any] = {
                "min_frequency": min_frequency,
                "phrases": phrases,
                "leave_out": leave_out,
            }
            suggestions = _suggested(slow, held, way, most, **options)
            way = way_to_add(suggestions, way)
            after, done = _with_terms([each.word for each in suggestions.suggestions], base, way)
        else:
            after, done = asked_for
            list(held)  # none is left: all may be in the sample
        *counts, given = _tokens_of((before, after), read, words if suggestions is None else None)
        unreached = [
            word for word, token_id in done.added.items() if suggestions and token_id not in given
        ]
        # the slow profile told the words: the fast one may compose or delete other characters
        if unreached:
            after, done = _with_terms(
                [word for word in done.added if word not in unreached], base, way
            )
            *counts, given = _tokens_of((before, after), read)
        if not (done.added or removed) and output is not None:
            raise InputError(f"there is nothing to add: {_why_nothing(done, unreached)}")
        plan, applied, written = plan_rows(before, after, start=planned), None, after
        of_held = _of_held((before, after), held.texts, checkpoint)
        if output is not None:
            with contextlib.ExitStack() as stack:
                if fits:
                    kept = heal_.FittedSoFar(
                        Path(f"{os.fspath(output)}.rows"),
                        checkpoint,
                        plan,
                        (in_context, heals),
                        resume,
                    )
                    stack.enter_context(kept.kept_if_stopped())
                staging = stack.enter_context(new_directory(output))
                # once more: the texts may have taken hours
                parts = checked_model(model, staging, also, leave)
                how: dict[str, Any] = {"multiple_of": multiple_of, "tokenizer": after, "onnx": onnx}
                if fits:
                    options = {
                        "seconds": start_seconds,
                        "progress": fitting,
                        "in_context": in_context,
                    }
                    options |= {"texts": read if suggestions is None else held, "kept": kept}
                    fitted = values = distil.distil_rows(plan, parts[0], before, after, **options)
                    if heals:
                        of_model = (plan, parts[0], before, after, fitted, heal, kept)
                        values, healed = heal_.heal_rows(*of_model, progress=healing)
                applied = write_rows(plan, *parts, staging, fitted=values, progress=progress, **how)
                written = _verified(before, plan, done, staging)
                if of_held is not None and (fits or measure):
                    pairs = (parts[0], before), (read_checkpoint(staging), after)
                    readers = [partial(distil.TextEmbedder, *pair) for pair in pairs]
                    of_held = _embedded(of_held, held.texts[:_MOST_EMBEDDED], readers)
            applied = replace(applied, out=os.fspath(output))
    new_tokens = _new_tokens(done, before, given)
    changed = (
        words.items()
        if suggestions is None
        else ((each.text, each.frequency) for each in suggestions.changed)
    )
    others = other_words(before, after, done, changed)
    comparison, out = compare(before, written, ()), applied.out if applied else ""
    parts_of_report = (applied, comparison, counts[0], counts[1], out, unreached, fitted, of_held)
    asked = (
        ("fitting of rows", fits),
        ("measuring of embeddings", of_held is not None and (fits or measure)),
    )
    left = " and ".join(what for what, is_asked in asked if is_asked and output is None)
    return Adapted(
        suggestions, done, new_tokens, plan, *parts_of_report, left, others, removed, healed
    )


class _Held:
    """Texts without a share of them, of which `texts` is a sample once they are read: the same each
    time.

    More of a large corpus would not fit into memory, and it may begin with texts of one kind.
    """

    def __init__(self, read: Iterable[str], share: float) -> None:
        self._read, self._share, self.texts = read, share, list[str]()

    def __iter__(self) -> Iterator[str]:
        self.texts, draw, number = [], random.Random(0), 0
        for text in self._read:
            if draw.random() >= self._share:
                yield text
                continue
            place, number = draw.randrange(number + 1), number + 1
            if len(self.texts) < _MOST_HELD:
                self.texts.append(text)
            elif place < _MOST_HELD:
                self.texts[place] = text


def _of_held(
    tokenizers: tuple[BertTokenizer, BertTokenizer], texts: list[str], checkpoint: Checkpoint
) -> HeldBack | None:
    """What two tokenizers make of texts that were held back, if there are some."""
    if not texts:
        return None
    before, after, _ = _tokens_of(tokenizers, texts)
    old, new = (ids_of_texts(tokenizer, texts) for tokenizer in tokenizers)
    most = checkpoint.most_tokens(tokenizers[0])
    room = most - tokenizers[0].num_special_tokens_to_add()
    fit = [sum(len(ids) <= room for ids in rows) for rows in (old, new)]
    return HeldBack(before, after, most, fit[0], fit[1], sum(map(ne, old, new)))


def _embedded(
    held: HeldBack, texts: list[str], readers: Iterable[Callable[[], TextEmbedder]]
) -> HeldBack:
    """The same, with what became of the embeddings of texts, from a model to the one written."""
    # the memory holds one model at a time
    old, new = (reader().embeddings(texts) for reader in readers)
    return held._replace(embedded=len(texts), **heal_.retrieval(old, new)._asdict())


def _said(before: TokensOfTexts, after: TokensOfTexts) -> str:
    saved = (before.tokens - after.tokens) / before.tokens if before.tokens else 0
    return (
        f"{number_of(after.texts, 'text')}: {before.tokens:,} tokens become {after.tokens:,}"
        f" ({saved:.1%} fewer)"
    )


def _why_nothing(done: AddedTerms, unreached: list[str]) -> str:
    """Why none of some terms is added."""
    if done.refused:
        return f"{done.refused[0].term!r:.60}: {done.refused[0].reason}"
    if done.known:
        return f"known already: {first_few(done.known)}"
    return (
        "the model's tokenizer gives none of the words on the texts"
        if unreached
        else "there is no term"
    )


def _tokenizers(
    model_dir: str | os.PathLike[str], profile: Profile | None
) -> tuple[BertTokenizer, BertTokenizer]:
    """The tokenizer of the model, and the one of the slow profile, which tells the words of
    texts.
    """
    own, other = (
        choose(os.fspath(model_dir), profile).load(),
        AutoTokenizer.from_pretrained(model_dir, use_fast=False),
    )
    before, slow = require_wordpiece(own, "adapt"), require_wordpiece(other, "adapt")
    require_same_tokens(before, slow, model_dir)
    return before, slow


def require_same_tokens(
    fast: BertTokenizer, slow: BertTokenizer, directory: str | os.PathLike[str]
) -> None:
    """Raise `InputError` if the two profiles of a directory have other ids: one of its files is
    another model's.
    """
    if fast.get_vocab() != slow.get_vocab():
        raise InputError(
            f"the tokenizer.json of {os.fspath(directory)} and the files of its slow tokenizer"
            " (vocab.txt, tokenizer_config.json) hold different tokens; remove or correct what the"
            " model was not trained with (trietok check says what differs)"
        )


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


def way_to_add(suggestions: Suggestions, asked: str) -> str:
    """The way in which `add_terms` adds words that were found: entries by `"auto"`, unless they
    were asked for.
    """
    return (
        asked
        if asked == "unused" or (asked, suggestions.adding) == ("auto", "wordpiece")
        else suggestions.adding
    )


def _with_terms(
    terms: Iterable[str], before: BertTokenizer, way: str
) -> tuple[BertTokenizer, AddedTerms]:
    after = copy.deepcopy(before)
    after.config_rows = None  # that of the model as it is
    done = add_terms(after, terms, way)
    check_saving(after)
    return after, done


def _new_tokens(done: AddedTerms, before: BertTokenizer, given: Counter[int]) -> list[NewToken]:
    entries = frozenset(done.entries)
    new = []
    for (token, token_id), ids in zip(
        done.added.items(), ids_of_pieces(before, list(done.added)), strict=True
    ):
        times = given[token_id]
        new.append(
            NewToken(
                token,
                token in entries,
                before.convert_ids_to_tokens(ids),
                times,
                (len(ids) - 1) * times,
            )
        )
    return new


def _verified(
    before: BertTokenizer, plan: RowPlan, terms: AddedTerms, directory: os.PathLike[str]
) -> BertTokenizer:
    """The tokenizer that a new directory gives, once everything about it has proved right."""
    report, facts = checked_facts(directory, with_fast=has_tokenizer_json(directory))
    if not report.ok:
        raise VocabularyError(
            f"what was written has faults, and is taken away again: {report.errors[0].message}; if"
            " `leave` (--leave) names a tensor with rows for tokens, it must not"
        )
    # The check has loaded what was written; again only where a user's class is registered for it.
    written = facts.fast if before.profile == "fast" else facts.slow
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
    return written


def _tokens_of(
    tokenizers: tuple[BertTokenizer, BertTokenizer],
    texts: Iterable[str],
    words: WordCounts | None = None,
) -> tuple[TokensOfTexts, TokensOfTexts, Counter[int]]:
    """The tokens of texts with each of two tokenizers, and how often the second one gives each id
    as a word's last.

    `words` gets the words of those texts that have other ids: they hold all that are split
    differently.
    """
    unknown: list[Any] = list(map(unknown_id_of, tokenizers))
    tokens, unknown_tokens = [0, 0], [0, 0]
    prefix = tokenizers[1].wordpiece_tokenizer.continuing_subword_prefix
    inner = {
        token_id
        for token, token_id in tokenizers[1].get_vocab().items()
        if prefix and token.startswith(prefix)
    }
    given: Counter[int] = Counter()
    number = 0
    for batch in batches(texts):
        number += len(batch)
        both = [ids_of_texts(tokenizer, batch) for tokenizer in tokenizers]
        for which, rows in enumerate(both):
            tokens[which] += sum(map(len, rows))
            unknown_tokens[which] += sum(ids.count(unknown[which]) for ids in rows)
        if words is not None:
            add_words_of(tokenizers[0], compress(batch, map(ne, *both)), words)
        given.update(
            each
            for ids in both[1]
            for each, after in zip(ids, [*ids[1:], None], strict=True)
            if after not in inner
        )
    before, after = (
        TokensOfTexts(number, *pair) for pair in zip(tokens, unknown_tokens, strict=True)
    )
    return before, after, given
