"""`Adapted`: what `adapt` did to a model and its tokenizer, or would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.showing.characters import first_few, number_of, visible
from trietok.showing.report import Report, Table, plain_values
from trietok.workbench.adapting.add_terms import AddedTerms, OtherWord, said_of
from trietok.workbench.adapting.row_plan import AppliedRows, RowPlan
from trietok.workbench.adapting.tokens_of_texts import TokensOfTexts
from trietok.workbench.comparing.compare import Comparison
from trietok.workbench.suggesting.suggestions import Suggestions, unknown_become

if TYPE_CHECKING:
    from trietok.workbench.adapting.distil import FittedRows


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


_MOVED = "encode what was encoded before anew, and lock the new ids"
_HEAD = ("token", "as", "now", "frequency", "tokens saved")


def _two_bars(values: Iterable[tuple[float, str]]) -> list[tuple[str, float, str]]:
    """Return one bar for before and one for now."""
    pairs = zip(("before", "now"), values, strict=True)
    return [(name, max(share, 0), number) for name, (share, number) in pairs]


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
        fitted: the rows that were fitted; None with another initialization than `"distil"`.
        unreached: words that were not added, because the model's tokenizer gives them on no text:
            the slow profile found them, and the fast one writes them otherwise.
        left: what a dry run leaves to the run that writes, such as fitting rows; empty where there
            is nothing.
        other_words: words of the texts that were not added, and have other tokens now, the most
            frequent first.
        removed: tokens that were taken out.
        removed_entries: those of them that were entries of the vocabulary, no added tokens.
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
    left: str = ""
    other_words: Sequence[OtherWord] = ()
    removed: Sequence[str] = ()
    removed_entries: Sequence[str] = ()

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
            "suggestions terms new before after unreached fitted proof other_words"
            " removed removed_entries"
        )
        return {**rows, **{name: plain_values(getattr(self, name)) for name in parts.split()}}

    def _html(self, html: Any) -> Iterator[str]:
        yield from super()._html(html)
        tokens = self.before.tokens, self.after.tokens
        if self.after.texts:
            shares = ((count / max(*tokens, 1), f"{count:,}") for count in tokens)
            yield html.bars("tokens of the texts", _two_bars(shares))
        if self.fitted is not None and self.fitted.rows:
            cosines = (
                (each, f"{each:.3f}")
                for each in (self.fitted.cosine_before, self.fitted.cosine_after)
            )
            told = "cosine of new tokens to their pieces, before and after fitting"
            yield html.bars(told, _two_bars(cosines))

    def _parts(self) -> Iterator[str | Table]:
        if self.applied is None and self.new:
            columns = len(_HEAD) if self.after.texts else 3
            rows = [each.cells()[:columns] for each in self.new]
            yield Table(_HEAD[:columns], rows, right=(3, 4), mono=(2,))
        yield from self._of_terms()
        yield from self._of_texts()
        if self.fitted is not None:
            yield from str(self.fitted).split("\n")
        yield from self._of_model()
        yield from (*self.comparison.slots_said, self.proof)

    def _of_terms(self) -> Iterator[str]:
        """What was added and what was taken out."""
        terms = self.terms
        if self.suggestions is None:
            # "0 terms added" is no news where none was to be
            if not self.removed or any((terms.added, terms.known, terms.refused)):
                yield from str(terms).split("\n")
        else:
            yield f"{number_of(len(self.new), 'word')} added: {first_few(list(self.terms.added))}"
            yield from self.terms.said_of_instead
        if self.removed:
            yield f"{number_of(len(self.removed), 'token')} removed: {first_few([*self.removed])}"
            if self.plan.moved and self.removed_entries:
                count = len(self.removed_entries)
                told = f"{count:,} of them {'is an entry' if count == 1 else 'are entries'}"
                learned = "of the vocabulary, which the model may have learned"
                yield f"warning: {told} {learned}: {first_few([*self.removed_entries])}"
            if self.plan.moved:
                yield f"{number_of(self.plan.moved, 'id')} moved: {_MOVED}"
        if self.unreached:
            yield (
                f"{number_of(len(self.unreached), 'word')} not added, because the model's tokenizer"
                f" gives none of them on the texts: {first_few(self.unreached)}"
            )

    def _of_texts(self) -> Iterator[str]:
        """What became of the texts."""
        if self.after.texts:
            if absent := [each.token for each in self.new if not each.frequency]:
                yield f"{len(absent):,} of them in none of the texts: {first_few(absent)}"
            unknown = unknown_become(self.before.unknown, self.after.unknown)
            yield f"{self.before.becomes(self.after)}, {unknown}"
        if self.other_words:
            yield said_of(self.other_words)

    def _of_model(self) -> Iterator[str]:
        """What was written, or is not."""
        if self.applied is None:
            left = f"; the run that writes does the {self.left}, too" if self.left else ""
            yield f"nothing is written{left}"
            return
        before, after = self.applied.rows_before, self.applied.rows_after
        yield f"the model had {before:,} rows and has {after:,}"
        if self.applied.left_out:
            yield f"not carried over: {', '.join(self.applied.left_out)}"
        train = "; train it on your texts before you use the new tokens"
        yield f"written to {self.out}{train if self.new else ''}"
