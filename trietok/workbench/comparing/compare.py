"""What differs between two tokenizers, as far as it decides ids.

In: two tokenizers, texts to try. Out: a `Comparison`, part by part, as attributes, as JSON, as text
and as HTML. It looks at what the fingerprint is made of, so where two fingerprints differ, a part
of the comparison does too.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import InputTypeError, SpecialTokenError, one_column
from trietok.showing.characters import number_of
from trietok.showing.report import Report
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.fingerprint import State, TokenFlags, canonical, digest, state_of
from trietok.tokenizer.vocabulary_edits import is_unused_slot

MOST_ENTRIES_SHOWN = 20  # entries of a list, in the readable form
_DIGITS = 8  # of a fingerprint, in a sentence
_MOST_TEXTS = 5  # texts there, which take three lines each
MOST_KEPT = 100  # differing texts in a report
_MOST_TRIED = 1000  # tokens that are tried in texts of their own
# In many scripts, with what tokenizers treat differently.
SENTENCES: list[str] = json.loads(
    Path(__file__).with_name("sentences.json").read_text(encoding="utf-8")
)

Pair = tuple[Any, Any]  # what the old tokenizer has, what the new one has


class TextDifference(NamedTuple):
    """A text that two tokenizers encode differently, special tokens included."""

    text: str
    old_ids: list[int]
    new_ids: list[int]
    old_tokens: list[str]
    new_tokens: list[str]


class IdCounts(NamedTuple):
    """How many tokens have which fate between two tokenizers. `str` says it in a line.

    Attributes:
        unchanged: those of both whose id is the same.
        moved: those of both whose id is another.
        lost: those of the old one that the new one has not.
        new: those of the new one that the old one has not.

    >>> print(IdCounts(unchanged=30522, moved=0, lost=0, new=496))
    30,522 ids unchanged, 0 moved, 0 lost, 496 new
    """

    unchanged: int
    moved: int
    lost: int
    new: int

    def __str__(self) -> str:
        ids = "id" if self.unchanged == 1 else "ids"
        return (
            f"{self.unchanged:,} {ids} unchanged, {self.moved:,} moved, {self.lost:,} lost,"
            f" {self.new:,} new"
        )


class Section(NamedTuple):
    """A part of a comparison to read: each row says what differs, what it was, what it is; either
    may be empty.
    """

    title: str
    rows: list[tuple[str, str, str]]
    stacked: bool = False  # the rows are long: better one line below the other than side by side
    left_out: int = 0  # how many more rows there are


@dataclass(frozen=True)
class Comparison(Report):
    """What differs between two tokenizers, the old one and the new one. `str` makes it readable.

    Attributes:
        names: where the two were loaded from.
        fingerprints: those of the two.
        sizes: `vocab_size`, `len` and `max_id` → the two numbers, equal or not.
        unchanged: how many tokens of both have the same id.
        moved: tokens of both whose id differs → old id, new id.
        gained, lost: tokens of one of the two → their id.
        flags: tokens of both → what differs → old, new. Beside the flags of `AddedToken`: `added`
            and `vocabulary`, whether it is an added token and whether it is an entry;
            `kept_from_lower_casing`, which the order of the tokens decides.
        roles: roles, `additional_special_tokens` among them → old, new.
        settings: settings of the stages, and the `class` → old, new. None where a setting does not
            apply.
        duplicates: tokens with several ids in one of the two → all old ids, all new ids.
        holes: ids that no token has, below the highest that one has, as ranges (first, last): those
            of the old one alone, those of the new one alone.
        texts: how many texts were encoded.
        differing: how many of them came out differently.
        examples: the first of those, at most 100.
        unidata_version: the Unicode version of this Python, which decides what unassigned
            characters are.
    """

    names: tuple[str, str]
    fingerprints: tuple[str, str]
    sizes: dict[str, tuple[int, int]]
    unchanged: int
    moved: dict[str, tuple[int, int]]
    gained: dict[str, int]
    lost: dict[str, int]
    flags: dict[str, dict[str, Pair]]
    roles: dict[str, Pair]
    settings: dict[str, Pair]
    duplicates: dict[str, tuple[list[int], list[int]]]
    holes: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    texts: int
    differing: int
    examples: list[TextDifference]
    unidata_version: str

    _ANSWERS = ("same_ids", "proof", "id_counts")

    @property
    def same_ids(self) -> bool:
        """Whether every text gets the same ids: the fingerprints are equal, and no text that was
        encoded differs.
        """
        return self.fingerprints[0] == self.fingerprints[1] and not self.differing

    ok = same_ids

    @property
    def id_counts(self) -> IdCounts:
        """How many ids stayed, moved, went and came."""
        return IdCounts(self.unchanged, len(self.moved), len(self.lost), len(self.gained))

    @property
    def renamed_slots(self) -> int:
        """How many unused slots were given a token: such a slot is lost, and the token that has its
        id is new.
        """
        new_ids = set(self.gained.values())
        return sum(
            is_unused_slot(token) and token_id in new_ids for token, token_id in self.lost.items()
        )

    @property
    def slots_said(self) -> list[str]:
        """The line that says how many slots were renamed, where some were; it goes before the
        proof.
        """
        number = self.renamed_slots
        return (
            [f"{number_of(number, '[unusedN] slot')} renamed, counted below as lost and new"]
            if number
            else []
        )

    @property
    def proof(self) -> str:
        """The sentence that every command ends with which changes a vocabulary: what became of the
        ids.

        Fingerprints are cut to their first digits; `fingerprints` has them whole.

        >>> import copy, trietok
        >>> old = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> new = copy.deepcopy(old)
        >>> _ = new.add_tokens(["covid-19"])
        >>> trietok.compare(old, new, []).proof
        '8,000 ids unchanged, 0 moved, 0 lost, 1 new; fingerprint
        trietok-1:3bbfc06f → trietok-1:22f7c142'
        """
        old, new = map(short_fingerprint, self.fingerprints)
        return f"{self.id_counts}; fingerprint {old} → {new}"

    @property
    def summary(self) -> str:
        """The answer in a few words."""
        return "the ids are the same" if self.same_ids else "the tokenizers differ"

    def sections(self, most: int = MOST_ENTRIES_SHOWN) -> list[Section]:
        """What differs, to read: the parts that hold anything, each with at most `most` rows.
        Tokens are quoted.
        """
        holes = [(_range(hole), "hole", "") for hole in self.holes[0]]
        holes += [(_range(hole), "", "hole") for hole in self.holes[1]]
        parts: dict[str, list[tuple[str, str, str]]] = {
            "sizes": [
                (name, *_two(pair)) for name, pair in self.sizes.items() if pair[0] != pair[1]
            ],
            "ids moved": [(repr(token), *_two(pair)) for token, pair in self.moved.items()],
            "tokens gained": [(repr(token), "", str(i)) for token, i in self.gained.items()],
            "tokens lost": [(repr(token), str(i), "") for token, i in self.lost.items()],
            "flags changed": [
                (repr(token), *_flag_texts(changes)) for token, changes in self.flags.items()
            ],
            "roles changed": [(role, *_two(pair)) for role, pair in self.roles.items()],
            "settings changed": [(name, *_two(pair)) for name, pair in self.settings.items()],
            "duplicates": [(repr(token), *_two(pair)) for token, pair in self.duplicates.items()],
            "holes": holes,
        }
        sections = [
            Section(f"{title} ({len(rows)})", rows[:most], left_out=max(len(rows) - most, 0))
            for title, rows in parts.items()
        ]
        examples = self.examples[: min(most, _MOST_TEXTS)]
        texts = [(_short(repr(example.text)), *_where_they_part(example)) for example in examples]
        title, left_out = f"({self.differing} of {self.texts})", self.differing - len(texts)
        sections.append(
            Section(
                f"texts that come out differently {title}", texts, stacked=True, left_out=left_out
            )
        )
        return [section for section in sections if section.rows]

    def _html(self, html: Any) -> Iterator[str]:
        yield html.note(self.summary, "good" if self.ok else "bad")
        sides = zip(("old", "new"), self.names, self.fingerprints, strict=True)
        yield html.table(("", "name", "fingerprint"), sides)
        for section in self.sections():
            yield html.title(section.title)
            yield html.table(("", "old", "new"), section.rows)
            if section.left_out:
                yield html.note(f"… and {section.left_out:,} more")
        if not self.differing:
            yield html.note(f"{self.texts:,} texts encoded, all alike")
        yield html.note(self.proof)

    def _parts(self) -> Iterator[str]:
        yield self.summary
        for side, name, line in zip(("old", "new"), self.names, self.fingerprints, strict=True):
            yield f"{side}: {line}" + (f" {name!r}" if name else "")
        for section in self.sections():
            yield f"{section.title}:"
            for what, old, new in section.rows:
                if section.stacked:
                    yield from (f"  {what}", f"    - {old}", f"    + {new}")
                else:
                    yield f"  {what}: {old} -> {new}" if old and new else f"  {what}: {old or new}"
            if section.left_out:
                yield f"  ... and {section.left_out} more"
        if not self.differing:
            yield f"texts: {self.texts} encoded, all alike"
        yield self.proof


def short_fingerprint(fingerprint: str) -> str:
    """A fingerprint with its first digits only."""
    name, _, digits = fingerprint.partition(":")
    return f"{name}:{digits[:_DIGITS]}"


def _where_they_part(example: TextDifference) -> tuple[str, str]:
    """The tokens of both around the first that differs; with their ids where the tokens are the
    same.
    """
    _, old_ids, new_ids, *tokens = example
    sides = [list(zip(*pair, strict=True)) for pair in zip(tokens, (old_ids, new_ids), strict=True)]
    parting = next(
        (i for i, pair in enumerate(zip(*sides, strict=False)) if pair[0] != pair[1]),
        min(map(len, sides)),
    )
    start = max(parting - 3, 0)
    same_tokens = example.old_tokens[start : start + 12] == example.new_tokens[start : start + 12]

    def shown(side: list[tuple[str, int]]) -> str:
        words = [
            f"{_word(token)}={i}" if same_tokens else _word(token)
            for token, i in side[start : start + 12]
        ]
        return " ".join(["..."] * (start > 0) + words + ["..."] * (len(side) > start + 12))

    return shown(sides[0]), shown(sides[1])


def _word(token: str) -> str:
    """A token among others in a line: quoted only where it would not be seen for what it is."""
    return token if repr(token)[1:-1] == token and token.split() == [token] else repr(token)


def _flag_texts(changes: dict[str, Pair]) -> tuple[str, str]:
    def of(side: int) -> str:
        if "added" in changes:
            return (
                ", ".join(name for name, pair in changes.items() if pair[side]) or "a plain entry"
            )
        return ", ".join(f"{name}={pair[side]}" for name, pair in changes.items())

    return of(0), of(1)


def _two(pair: Pair) -> tuple[str, str]:
    return _short(repr(pair[0])), _short(repr(pair[1]))


def _range(hole: tuple[int, int]) -> str:
    return str(hole[0]) if hole[0] == hole[1] else f"{hole[0]} to {hole[1]}"


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


# ---- comparing -----------------------------------------------------------------------------------


def compare(a: Any, b: Any, texts: Iterable[str] | None = None) -> Comparison:
    """Say what differs between two tokenizers, as far as it decides ids.

    Args:
        a: the old tokenizer.
        b: the new one.
        texts: what to encode with both; an iterator is read once. By default a small sample in
            several scripts, and texts made of the tokens that differ.

    Raises:
        InputTypeError: `a` or `b` is no tokenizer, or `texts` is one string.

    >>> import trietok
    >>> old, new = (trietok.BertTokenizer.from_pretrained("trietok-en") for _ in range(2))
    >>> new.add_tokens(["covid-19"])
    1
    >>> comparison = compare(old, new)
    >>> comparison.same_ids, comparison.gained, comparison.moved
    (False, {'covid-19': 8000}, {})
    >>> print(comparison.id_counts)
    8,000 ids unchanged, 0 moved, 0 lost, 1 new

    Cost: O(tokens), and encoding each text twice.
    """
    if isinstance(texts, (str, bytes)):
        raise InputTypeError("compare takes a list of texts, not one", value=texts)
    texts = None if texts is None else one_column(texts, "texts")
    old, new = state_of(a), state_of(b)
    by_id = sorted(old.ids.items(), key=itemgetter(1))
    moved = {t: (i, new.ids[t]) for t, i in by_id if new.ids.get(t, i) != i}
    gained = {
        token: i for token, i in sorted(new.ids.items(), key=itemgetter(1)) if token not in old.ids
    }
    lost = {token: i for token, i in by_id if token not in new.ids}
    flags = _changed_flags(old, new)
    if texts is None:
        texts = _sample(old, new, [*moved, *gained, *lost, *flags])
    number, differing, examples = _encode_both(a, b, texts)
    holes = _holes(old), _holes(new)
    return Comparison(
        names=(str(a.name_or_path), str(b.name_or_path)),
        fingerprints=(digest(old), digest(new)),
        sizes={
            "vocab_size": (a.vocab_size, b.vocab_size),
            "len": (len(a), len(b)),
            "max_id": (a.max_id, b.max_id),
        },
        unchanged=len(old.ids.items() & new.ids.items()),
        moved=moved,
        gained=gained,
        lost=lost,
        flags=flags,
        roles=_changed(old.roles, new.roles),
        settings=_changed_settings(old, new),
        duplicates=_changed_duplicates(old, new),
        holes=(sorted(holes[0] - holes[1]), sorted(holes[1] - holes[0])),
        texts=number,
        differing=differing,
        examples=examples,
        unidata_version=unicodedata.unidata_version,
    )


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Pair]:
    pairs = {name: (old.get(name), new.get(name)) for name in sorted({*old, *new})}
    return {name: pair for name, pair in pairs.items() if canonical(pair[0]) != canonical(pair[1])}


def _changed_settings(old: State, new: State) -> dict[str, Pair]:
    changed = _changed({"class": old.kind, **old.settings}, {"class": new.kind, **new.settings})
    if "do_basic_tokenize" in changed:  # all that is set for it says nothing more
        changed = {
            name: pair for name, pair in changed.items() if name == "class" or None not in pair
        }
    return changed


def _changed_flags(old: State, new: State) -> dict[str, dict[str, Pair]]:
    """What is otherwise about the tokens of both."""
    facts = _facts(old), _facts(new)
    changed: dict[str, dict[str, Pair]] = {}
    for token in facts[0].keys() | facts[1].keys():
        if token in old.ids and token in new.ids:
            pair = facts[0].get(token, _ENTRY), facts[1].get(token, _ENTRY)
            if pair[0] != pair[1]:
                changed[token] = _changed(*pair)
            elif token in old.kept and token in new.kept and old.kept[token] != new.kept[token]:
                changed[token] = {"kept_from_lower_casing": (old.kept[token], new.kept[token])}
    return {
        token: changed[token]
        for token, _ in sorted(old.ids.items(), key=itemgetter(1))
        if token in changed
    }


_ENTRY: TokenFlags = {"vocabulary": True, "added": False}


def _facts(state: State) -> dict[str, TokenFlags]:
    """What is to be said of the added tokens; of those that are no more than an entry, `_ENTRY`."""
    entries = {token for _, token in state.entries}
    return {c: {"vocabulary": c in entries, "added": True, **flags} for _, c, flags in state.added}


def _all_ids(state: State) -> dict[str, list[int]]:
    """Every token's ids in order, those included that no text gives; only the tokens that have
    several.
    """
    ids: dict[str, set[int]] = {}
    for token_id, token in chain(state.entries, ((i, content) for i, content, _ in state.added)):
        ids.setdefault(token, set()).add(token_id)
    return {token: sorted(several) for token, several in ids.items()}


def _changed_duplicates(old: State, new: State) -> dict[str, tuple[list[int], list[int]]]:
    ids = _all_ids(old), _all_ids(new)
    pairs = {
        token: (ids[0].get(token, []), ids[1].get(token, [])) for token in {**ids[0], **ids[1]}
    }
    return {
        token: pair
        for token, pair in pairs.items()
        if pair[0] != pair[1] and max(map(len, pair)) > 1
    }


def _holes(state: State) -> set[tuple[int, int]]:
    used = sorted({-1, *(i for i, _ in state.entries), *(i for i, _, _ in state.added)})
    return {(before + 1, after - 1) for before, after in pairwise(used) if after - before > 1}


# ---- texts ---------------------------------------------------------------------------------------


def _encode_both(a: Any, b: Any, texts: Iterable[str]) -> tuple[int, int, list[TextDifference]]:
    """How many texts there are, how many come out differently, and the first of those."""
    number = differing = 0
    examples: list[TextDifference] = []
    for text in texts:
        number += 1
        ids = _ids(a, text), _ids(b, text)
        if ids[0] != ids[1]:
            differing += 1
            if len(examples) < MOST_KEPT:
                tokens = [
                    [str(None if i is None else tokenizer.convert_ids_to_tokens(i)) for i in row]
                    for tokenizer, row in zip((a, b), ids, strict=True)
                ]
                examples.append(TextDifference(text, *ids, *tokens))
    return number, differing, examples


def _ids(tokenizer: Any, text: str) -> list[int]:
    """The ids of a text; None stands for a role of the template that has no token, which is an
    error in a call.
    """
    try:
        return list(tokenizer.encode(text, verbose=False))
    except SpecialTokenError:
        bare = tokenizer.encode(text, add_special_tokens=False, verbose=False)
        return list(tokenizer.build_inputs_with_special_tokens(bare))


def _sample(old: State, new: State, differing: list[str]) -> Iterator[str]:
    """Texts in which a difference is likely to show: sentences, the tokens that differ, what the
    settings speak of.
    """
    yield from SENTENCES
    prefix = str(new.settings.get("continuing_subword_prefix", BERT_PREFIX))
    for start in range(0, min(len(differing), _MOST_TRIED), 12):
        yield " ".join(token.removeprefix(prefix) for token in differing[start : start + 12])
    entries = [token.removeprefix(prefix) for _, token in old.entries]
    some = entries[:: len(entries) // 100 + 1]
    for start in range(0, len(some), 10):
        words = some[start : start + 10]
        yield " ".join(f"{word.upper()} {word[:1]}\u0301{word[1:]} {word}.{word}" for word in words)
    roles = [value for state in (old, new) for value in state.roles.values()]
    special = chain.from_iterable(value if isinstance(value, list) else [value] for value in roles)
    for token in islice(dict.fromkeys(chain(differing, special)), _MOST_TRIED):
        word = token.removeprefix(prefix)
        yield f"the {word} of"
        yield f"the a{word} of" if word != token else f"x{word}y, {word.upper()}{word.lower()}"
    unsplit = {word for state in (old, new) for word in state.settings.get("never_split", ())}
    yield from (f"the {word} of" for word in sorted(unsplit)[:_MOST_TRIED])
    longest = {state.settings.get("max_input_chars_per_word") for state in (old, new)}
    yield from (
        "a" * min(length + 1, 10_000)
        for length in longest
        if isinstance(length, int) and length > 0
    )
