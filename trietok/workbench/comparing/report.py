"""What a comparison of two tokenizers says: as attributes, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.showing.lists import number_of
from trietok.tokenizer.bert import is_unused_slot
from trietok.tokenizer.fingerprint import as_json

MOST_SHOWN = 20  # entries of a list, in the readable form
_DIGITS = 8  # of a fingerprint, in a sentence
_MOST_TEXTS = 5  # texts there, which take three lines each

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
        return f"{self.unchanged:,} {ids} unchanged, {self.moved:,} moved, {self.lost:,} lost, {self.new:,} new"


class Section(NamedTuple):
    """A part of a comparison to read: each row says what differs, what it was, what it is; either may be empty.

    Attributes:
        stacked: the rows are long: better one line below the other than side by side.
        left_out: how many more rows there are.
    """

    title: str
    rows: list[tuple[str, str, str]]
    stacked: bool = False
    left_out: int = 0


class Comparison(NamedTuple):
    """What differs between two tokenizers, the old one and the new one. `str` makes it readable.

    Attributes:
        names: where the two were loaded from.
        fingerprints: those of the two.
        sizes: `vocab_size`, `len` and `max_id` → the two numbers, equal or not.
        unchanged: how many tokens of both have the same id.
        moved: tokens of both whose id differs → old id, new id.
        gained, lost: tokens of one of the two → their id.
        flags: tokens of both → what differs → old, new. Beside the flags of `AddedToken`: `added` and `vocabulary`,
            whether it is an added token and whether it is an entry; `kept_from_lower_casing`, which the order of the
            tokens decides.
        roles: roles, `additional_special_tokens` among them → old, new.
        settings: settings of the stages, and the `class` → old, new. None where a setting does not apply.
        duplicates: tokens with several ids in one of the two → all old ids, all new ids.
        holes: ids that no token has, below the highest that one has, as ranges (first, last): those of the old one
            alone, those of the new one alone.
        texts: how many texts were encoded.
        differing: how many of them came out differently.
        examples: the first of those, at most 100.
        unidata_version: the Unicode version of this Python, which decides what unassigned characters are.
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

    @property
    def same_ids(self) -> bool:
        """Whether every text gets the same ids: the fingerprints are equal, and no text that was encoded differs."""
        return self.fingerprints[0] == self.fingerprints[1] and not self.differing

    @property
    def id_counts(self) -> IdCounts:
        """How many ids stayed, moved, went and came."""
        return IdCounts(self.unchanged, len(self.moved), len(self.lost), len(self.gained))

    @property
    def renamed_slots(self) -> int:
        """How many unused slots were given a token: such a slot is lost, and the token that has its id is new."""
        new_ids = set(self.gained.values())
        return sum(is_unused_slot(token) and token_id in new_ids for token, token_id in self.lost.items())

    @property
    def slots_said(self) -> list[str]:
        """The line that says how many slots were renamed, where some were; it goes before the proof."""
        number = self.renamed_slots
        return [f"{number_of(number, '[unusedN] slot')} renamed, counted below as lost and new"] if number else []

    @property
    def proof(self) -> str:
        """The sentence that every command ends with which changes a vocabulary: what became of the ids.

        Fingerprints are cut to their first digits; `fingerprints` has them whole.

        >>> import copy, trietok
        >>> old = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> new = copy.deepcopy(old)
        >>> _ = new.add_tokens(["covid-19"])
        >>> trietok.compare(old, new, []).proof
        '8,000 ids unchanged, 0 moved, 0 lost, 1 new; fingerprint trietok-1:3bbfc06f → trietok-1:22f7c142'
        """
        old, new = map(short_fingerprint, self.fingerprints)
        return f"{self.id_counts}; fingerprint {old} → {new}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, complete; a pair is a list of two."""
        values = {**self._asdict(), "examples": [example._asdict() for example in self.examples]}
        answers = {"same_ids": self.same_ids, "proof": self.proof, "id_counts": self.id_counts._asdict()}
        return {**answers, **as_json(values)}

    @property
    def summary(self) -> str:
        """The answer in a few words."""
        return "the ids are the same" if self.same_ids else "the tokenizers differ"

    def sections(self, most: int = MOST_SHOWN) -> list[Section]:
        """What differs, to read: the parts that hold anything, each with at most `most` rows. Tokens are quoted."""
        sizes = {name: pair for name, pair in self.sizes.items() if pair[0] != pair[1]}
        roles = [(role, *_two(pair)) for role, pair in self.roles.items()]
        settings = [(name, *_two(pair)) for name, pair in self.settings.items()]
        holes = [(_range(hole), "hole", "") for hole in self.holes[0]]
        holes += [(_range(hole), "", "hole") for hole in self.holes[1]]
        sections = [
            _section("sizes", [(name, *_two(pair)) for name, pair in sizes.items()], most),
            _section("ids moved", [(repr(token), *_two(pair)) for token, pair in self.moved.items()], most),
            _section("tokens gained", [(repr(token), "", str(i)) for token, i in self.gained.items()], most),
            _section("tokens lost", [(repr(token), str(i), "") for token, i in self.lost.items()], most),
            _section("flags changed", [(repr(t), *_flag_texts(changes)) for t, changes in self.flags.items()], most),
            _section("roles changed", roles, most),
            _section("settings changed", settings, most),
            _section("duplicates", [(repr(token), *_two(pair)) for token, pair in self.duplicates.items()], most),
            _section("holes", holes, most),
            _text_section(self, most),
        ]
        return [section for section in sections if section.rows]

    def _repr_html_(self) -> str:
        from trietok.showing.html import fragment, heading, note, table, title  # only where somebody looks

        parts = [heading("Comparison"), note(self.summary, "good" if self.same_ids else "bad")]
        parts.append(
            table(("", "name", "fingerprint"), zip(("old", "new"), self.names, self.fingerprints, strict=True))
        )
        for section in self.sections():
            parts += title(section.title), table(("", "old", "new"), section.rows)
            parts += [note(f"… and {section.left_out:,} more")] if section.left_out else []
        if not self.differing:
            parts.append(note(f"{self.texts:,} texts encoded, all alike"))
        return fragment(*parts, note(self.proof), label="Comparison of two tokenizers")

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
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


def _section(title: str, rows: list[tuple[str, str, str]], most: int) -> Section:
    return Section(f"{title} ({len(rows)})", rows[:most], left_out=max(len(rows) - most, 0))


def _text_section(comparison: Comparison, most: int) -> Section:
    rows = [
        (_short(repr(example.text)), *_where_they_part(example))
        for example in comparison.examples[: min(most, _MOST_TEXTS)]
    ]
    title = f"texts that come out differently ({comparison.differing} of {comparison.texts})"
    return Section(title, rows, stacked=True, left_out=comparison.differing - len(rows))


def _where_they_part(example: TextDifference) -> tuple[str, str]:
    """The tokens of both around the first that differs; with their ids where the tokens are the same."""
    sides = [
        list(zip(tokens, ids, strict=True))
        for tokens, ids in ((example.old_tokens, example.old_ids), (example.new_tokens, example.new_ids))
    ]
    parting = next((i for i, pair in enumerate(zip(*sides, strict=False)) if pair[0] != pair[1]), min(map(len, sides)))
    start = max(parting - 3, 0)
    same_tokens = example.old_tokens[start : start + 12] == example.new_tokens[start : start + 12]

    def shown(side: list[tuple[str, int]]) -> str:
        words = [f"{_word(token)}={i}" if same_tokens else _word(token) for token, i in side[start : start + 12]]
        return " ".join(["..."] * (start > 0) + words + ["..."] * (len(side) > start + 12))

    return shown(sides[0]), shown(sides[1])


def _word(token: str) -> str:
    """A token among others in a line: quoted only where it would not be seen for what it is."""
    return token if repr(token)[1:-1] == token and token.split() == [token] else repr(token)


def _flag_texts(changes: dict[str, Pair]) -> tuple[str, str]:
    if "added" in changes:
        sides = [[name for name, pair in changes.items() if pair[side]] for side in (0, 1)]
        return tuple(", ".join(names) or "a plain entry" for names in sides)  # type: ignore[return-value]
    return tuple(", ".join(f"{name}={pair[side]}" for name, pair in changes.items()) for side in (0, 1))  # type: ignore[return-value]


def _two(pair: Pair) -> tuple[str, str]:
    return _short(repr(pair[0])), _short(repr(pair[1]))


def _range(hole: tuple[int, int]) -> str:
    return str(hole[0]) if hole[0] == hole[1] else f"{hole[0]} to {hole[1]}"


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
