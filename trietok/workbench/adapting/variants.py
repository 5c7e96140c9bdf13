"""Near misses: other spellings of terms that occur in texts, and that are not matched.

In: terms, texts, and a tokenizer that has the terms. Out: a table of the spellings with how often
each occurs; a plan in which spellings start with the rows of their terms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from trietok.showing.characters import number_of, visible
from trietok.showing.report import Report, Table
from trietok.text.characters import word_runs
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.workbench.adapting.add_terms import (
    AddedTerms,
    RefusedTerm,
    add_terms,
    checked_terms,
    ids_of_texts,
    unknown_id_of,
)
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.read_again import checked

VARIANTS = ("list", "own", "same")  # what becomes of near misses
_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma"
    " tau upsilon phi chi psi omega"
).split()
_GREEK = dict(zip(map(ord, _LETTERS), _NAMES, strict=True))
_GREEK |= dict(zip(map(ord, _LETTERS.upper()), map(str.title, _NAMES), strict=True))
_GREEK |= {ord("ς"): "sigma", ord("µ"): "mu"}  # at the end of a word; the sign for 10⁻⁶
_DASHES = dict.fromkeys(map(ord, "-‐‑‒–—―−"), " ")
_QUOTES = str.maketrans("‘’‛′“”‟″", "''''\"\"\"\"")

# What spellings may differ in, besides the plural: the name of the difference, and what undoes it.
_FOLDS: dict[str, Callable[[str], str]] = {
    "capitals": str.casefold,
    "Greek": lambda text: text.translate(_GREEK),
    "space": lambda text: re.sub(r"\s+", " ", text),
    "dash": lambda text: text.translate(_DASHES),
    "quote": lambda text: text.translate(_QUOTES),
}
_HISSING = ("s", "x", "z", "ch", "sh", "o")  # what takes -es in the plural
_SPACED = (
    "a token with several spaces, or another than U+0020, would take texts off the compiled kernel;"
    " make one space of them in the texts"
)
_SHORTEST = 2  # code points of a word that may have a plural; `as` is none of `a`


@lru_cache(1 << 16)
def _folded(text: str, but: str = "") -> str:
    """A text that is the same for all spellings, or for those alike in one respect."""
    for name, fold in _FOLDS.items():
        text = text if name == but else fold(text)
    return text


def _plurals(word: str) -> list[str]:
    """The regular plurals of a folded word or phrase."""
    if len(next(reversed(word_runs().findall(word)), "")) < _SHORTEST:
        return []
    if word[-1] == "y" and word[-2] not in "aeiou":
        return [f"{word[:-1]}ies"]
    plurals = [f"{word}es"] if word.endswith(_HISSING) else []
    return plurals if plurals and word[-1] != "o" else [*plurals, f"{word}s"]


def _other_numbers(word: str) -> list[str]:
    """The plurals of a folded word or phrase, and what it is the plural of."""
    singulars = (word[:-1], word[:-2], f"{word[:-3]}y")
    return _plurals(word) + [each for each in singulars if word in _plurals(each)]


def spelling_differences(term: str, spelling: str) -> list[str]:
    """What a spelling of a term differs in.

    >>> spelling_differences("TNF-alpha blocker", "TNF\u2011α Blockers")
    ['plural', 'capitals', 'Greek', 'dash']
    """
    is_plural = _folded(term) != _folded(spelling)
    ending = "sSeEiIyY" if is_plural else ""  # all that a plural may add or take away
    return ["plural"] * is_plural + [
        name
        for name in _FOLDS
        if _folded(term, name).rstrip(ending) != _folded(spelling, name).rstrip(ending)
    ]


class Variant(NamedTuple):
    """A spelling of a term that occurs in texts without being matched.

    Attributes:
        term: the term, as in the list.
        spelling: how it is written in the texts; lower-cased where the tokenizer does so.
        frequency: how often.
        differs: in what: `plural`, `capitals`, `Greek`, `space`, `dash`, `quote`.
        tokens: the tokens that it has.
    """

    term: str
    spelling: str
    frequency: int
    differs: list[str]
    tokens: list[str]

    @property
    def is_term(self) -> bool:
        """Whether the spelling can be a term itself; one with a line break, say, cannot."""
        return " ".join(self.spelling.split()) == self.spelling


@dataclass(frozen=True)
class NearMisses(Report):
    """Spellings of terms that texts have and that are not matched. `str` makes it a table.

    Attributes:
        texts: how many texts there are.
        matched: how often terms occur in a spelling that is matched.
        variants: the other spellings, the most frequent first.
    """

    texts: int
    matched: int
    variants: Sequence[Variant]

    def _parts(self) -> list[str | Table]:
        missed = sum(each.frequency for each in self.variants)
        terms = number_of(len({each.term for each in self.variants}), "term")
        told = (
            f"{number_of(len(self.variants), 'other spelling')} of {terms} in"
            f" {number_of(self.texts, 'text')}: {number_of(missed, 'occurrence')} not matched,"
            f" {self.matched:,} matched"
        )
        rows = [
            (
                visible(each.term),
                visible(each.spelling),
                f"{each.frequency:,}",
                ", ".join(each.differs),
                " ".join(map(visible, each.tokens)),
            )
            for each in self.variants
        ]
        head = ("term", "spelling", "frequency", "differs in", "now")
        return [told, Table(head, rows, right=(2,), mono=(0, 1, 4))] if rows else [told]


class Spellings:
    """The spellings of some terms, counted in texts that something else reads.

    A spelling is made of the words of the term, or the plural of the last, and what stands between
    them; no letter, digit, mark or underscore touches it. Of spellings that overlap the first
    counts, and of those that begin together the longest. A term that begins or ends with another
    character has no other spelling.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms: dict[str, str] = {}  # a folded spelling → the first term that has it
        self._counts: Counter[tuple[str, str]] = Counter()  # of terms and spellings
        self._texts = 0
        sizes = set()
        for term in checked_terms(terms):
            spans = [found.span() for found in word_runs().finditer(term)]
            if spans and (spans[0][0], spans[-1][1]) == (0, len(term)):
                self._terms.setdefault(_folded(term), term)
                sizes.add(len(spans))
        for folded, term in list(self._terms.items()):
            for other in _other_numbers(folded):
                self._terms.setdefault(other, term)
        self._sizes = sorted(sizes, reverse=True)  # words

    def counted(self, texts: Iterable[str]) -> Iterator[str]:
        """The texts, as they come, each counted."""
        for text in checked(texts):
            self._count(text)
            yield text

    def _count(self, text: str) -> None:
        self._texts += 1
        spans = [found.span() for found in word_runs().finditer(text)]
        pieces: list[str] = []  # a word, what stands between it and the next, the next, ...
        for (start, end), (after, _) in pairwise([*spans, (len(text), 0)]):
            pieces += (_folded(text[start:end]), _folded(text[end:after]))
        at = 0
        while at < len(spans):
            for size in self._sizes:
                last = at + size - 1
                if last >= len(spans):
                    continue
                term = self._terms.get("".join(pieces[2 * at : 2 * last + 1]))
                if term is not None:
                    self._counts[term, text[spans[at][0] : spans[last][1]]] += 1
                    at = last
                    break
            at += 1

    def near_misses(self, tokenizer: BertTokenizer) -> NearMisses:
        """Those that a tokenizer with the terms does not match."""
        require_wordpiece(tokenizer, "near_misses")
        terms = rows_of(tokenizer, dict.fromkeys(self._terms.values()))
        lowers = bool(getattr(tokenizer, "do_lower_case", False))
        ids, matched, missed = set(terms.values()), 0, Counter[tuple[str, str]]()
        for (term, spelling), frequency in self._counts.items():
            if term not in terms:
                continue
            lower = spelling.lower()
            found, found_lower = ids_of_texts(tokenizer, [spelling, lower])
            if len(found) == 1 and found[0] in ids:
                matched += frequency
            else:
                missed[term, lower if lowers and found == found_lower else spelling] += frequency
        variants = []
        for (term, spelling), frequency in sorted(
            missed.items(), key=lambda item: (-item[1], item[0])
        ):
            is_lower = lowers and spelling == spelling.lower()
            differs = spelling_differences(term.lower() if is_lower else term, spelling)
            tokens = tokenizer.tokenize(spelling)
            variants.append(Variant(term, spelling, frequency, differs, tokens))
        return NearMisses(self._texts, matched, variants)


def near_misses(tokenizer: BertTokenizer, terms: Iterable[str], texts: Iterable[str]) -> NearMisses:
    """How often other spellings of terms occur in texts, and are not matched.

    These are the plural with -s, -es or -ies (or the singular), a hyphen, a dash or a space, curly
    or straight quotes, Greek letters or their names, and capitals where the tokenizer is cased.

    Args:
        tokenizer: has the terms; those that are no token of it are passed over.
        terms: see `add_terms`.
        texts: read once.

    Raises:
        InputTypeError: a term or a text is no str, or the tokenizer does not split words by
            WordPiece.

    >>> import trietok
    >>> from trietok.workbench.adapting.variants import near_misses
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> terms = ["beta-blocker"]
    >>> added = trietok.add_terms(tokenizer, terms)
    >>> texts = ["Beta-blockers and β-blockers", "a beta-blocker, no beta blocker"]
    >>> print(near_misses(tokenizer, terms, texts))
    3 other spellings of 1 term in 2 texts: 3 occurrences not matched, 1 matched
    term          spelling       frequency  differs in     now
    beta-blocker  beta blocker           1  dash           bet ##a block ##er
    beta-blocker  beta-blockers          1  plural         bet ##a - block ##ers
    beta-blocker  β-blockers             1  plural, Greek  [UNK] - block ##ers

    Cost: O(code points of the texts × different lengths of terms in words).
    """
    spellings = Spellings(terms)
    for _ in spellings.counted(texts):
        pass
    return spellings.near_misses(tokenizer)


def rows_of(tokenizer: BertTokenizer, terms: Iterable[str]) -> dict[str, int]:
    """The id of each term that is one token."""
    listed, unknown = list(terms), unknown_id_of(tokenizer)
    found = zip(listed, ids_of_texts(tokenizer, listed), strict=True)
    return {term: ids[0] for term, ids in found if len(ids) == 1 and ids[0] != unknown}


def add_spellings(
    tokenizer: BertTokenizer, missed: NearMisses, way: str = "auto", *, special: bool = False
) -> tuple[AddedTerms, dict[int, int]]:
    """Add the other spellings of terms to a tokenizer that has the terms.

    Args:
        missed: what `near_misses` found with the tokenizer.
        way, special: see `add_terms`.

    Returns:
        What was added, and the id of each new spelling → that of its term. Spellings that cannot be
        terms are refused, with their numbers in the table.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> added = trietok.add_terms(tokenizer, ["biomarker"])
    >>> missed = near_misses(tokenizer, ["biomarker"], ["many biomarkers"])
    >>> done, same = add_spellings(tokenizer, missed)
    >>> done.added, same
    ({'biomarkers': 8001}, {8001: 8000})
    """
    term_of = {each.spelling: each.term for each in missed.variants if each.is_term}
    rows = rows_of(tokenizer, term_of.values())
    done = add_terms(tokenizer, term_of, way, special=special)
    numbers = {each.spelling: number for number, each in enumerate(missed.variants, start=1)}
    listed = list(term_of)
    refused = [each._replace(number=numbers[listed[each.number - 1]]) for each in done.refused]
    spaced = (each.spelling for each in missed.variants if not each.is_term)
    refused += [RefusedTerm(numbers[each], each, _SPACED) for each in spaced]
    done = replace(done, refused=sorted(refused))
    new, ids = set(done.added.values()), rows_of(tokenizer, term_of)
    return done, {ids[each]: rows[term] for each, term in term_of.items() if ids.get(each) in new}


def with_same_rows(plan: RowPlan, same: Mapping[int, int]) -> RowPlan:
    """A plan in which new rows start as other rows of the changed model do.

    Args:
        plan: makes both rows, or keeps the other.
        same: a new row → the row of the changed model that it starts as.

    >>> plan = with_same_rows(RowPlan("A", "B", 2, 4, [0, 1, ~0, ~0], [((0, 1.0),)]), {3: 1})
    >>> plan.terms_of(3)
    ((1, 1.0),)
    """
    sources, sums = list(plan.sources), list(plan.sums)
    for row, other in same.items():
        sources[row] = sources[other]
        if sources[row] >= 0:  # a sum of one row: the row itself would count as kept twice
            sums.append(((sources[row], 1.0),))
            sources[row] = ~(len(sums) - 1)
    return replace(plan, sources=sources, sums=sums)
