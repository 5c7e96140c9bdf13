"""What `verify` has found: as attributes, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trietok.files.formats import json_line
from trietok.showing.characters import visible

_MOST_TEXTS = 3  # differing texts that are shown
_MOST_TOKENS = 8  # of a differing text, from the first differing one on
_MOST_CHARACTERS = 60  # of a text or setting
Change = tuple[Any, Any]  # what the lock has, what is there now


class ChangedText(NamedTuple):
    """A text whose ids are not the locked ones.

    Attributes:
        number: which of the lock's texts, from 1.
        text: the text.
        locked_ids, ids: those of the lock, and those found, special tokens included.
        locked_tokens, tokens: likewise.
        position: the first token that differs, from 0.
        start, end: where that token stands in the text, half-open, in code points; equal where it stands for nothing
            there.
        why: the stage that made the difference, and how; empty from the sixth text on.
    """

    number: int
    text: str
    locked_ids: list[int]
    ids: list[int]
    locked_tokens: list[str]
    tokens: list[str]
    position: int
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Verified:
    """Whether a tokenizer gives the ids of a lock. `str` says it: one line where it does, else what differs.

    Attributes:
        engine: who gave the ids: `"trietok"`, or the name or class of another tokenizer.
        version: its version.
        texts, ids: how many texts the lock has, and how many ids these have.
        differing: how many texts have other ids.
        changed_texts: the first of them, at most 100.
        special_ids: how many special tokens the lock has; 0 for an object of which nothing is known but its `encode`.
        changed_special: role → token and id in the lock, and now, where they differ; None where there is none now.
        changed: what else differs, such as `fingerprint`, `class` and the settings; another engine tells none of these.
        versions: name → the version in the lock and the one now; None where one of them is not known.
        truncates_to: the number of tokens to which tokenizer.json has the library `tokenizers` cut texts; None if to
            none. The ids of a lock are those of texts that are not cut.
        truncated: how many of the texts have more tokens.
        pads: whether tokenizer.json tells that library to pad texts.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> lock = trietok.lock(tokenizer, ["The people", "covid-19"])
    >>> tokenizer.add_tokens(["covid-19"])
    1
    >>> verified = trietok.verify(tokenizer, lock)
    >>> verified.ok, verified.differing, verified.changed["max_id"]
    (False, 1, (7999, 8000))
    >>> verified.changed_texts[0].why
    'added tokens cut out: “covid-19” is found now, and was not there when the lock was written'
    """

    engine: str
    version: str
    texts: int
    ids: int
    differing: int
    changed_texts: tuple[ChangedText, ...]
    special_ids: int
    changed_special: Mapping[str, Change]
    changed: Mapping[str, Change]
    versions: Mapping[str, Change]
    truncates_to: int | None = None
    truncated: int = 0
    pads: bool = False
    fingerprint: str = ""

    @property
    def ok(self) -> bool:
        """Whether texts and special tokens have their locked ids, no text is cut, and the fingerprint is the same."""
        return not (self.differing or self.changed_special or self.changed or self.truncated)

    @property
    def summary(self) -> str:
        """The answer in a line."""
        name = " ".join(filter(None, (self.engine, self.version)))
        texts = f"{self.texts:,} text{'' if self.texts == 1 else 's'}"
        if self.ok:
            special = f" and {self.special_ids} special id{'' if self.special_ids == 1 else 's'}"
            parts = f"{texts}, {self.ids:,} ids{special}" if self.special_ids else f"{texts} and {self.ids:,} ids"
            fingerprint = f", fingerprint {self.fingerprint}" if self.fingerprint else ""
            return f"{name}: {parts} are as locked{fingerprint}"
        if self.differing:
            have = "has" if self.differing == 1 else "have"
            return f"{name}: {self.differing:,} of {texts} {have} other ids than the lock"
        if self.changed_special:
            return f"{name}: special tokens have other ids than in the lock; the ids of {texts} are as locked"
        if not self.changed:
            return f"{name}: the ids of {texts} are as locked, but {self.truncated:,} would be cut"
        return f"{name}: the tokenizer is another one than the lock's, although the ids of {texts} are as locked"

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, complete; a change is a list of what the lock has and what is there now."""
        return {
            "engine": self.engine,
            "version": self.version,
            "ok": self.ok,
            "summary": self.summary,
            "texts": self.texts,
            "ids": self.ids,
            "differing": self.differing,
            "changed_texts": [each._asdict() for each in self.changed_texts],
            "special_ids": self.special_ids,
            "changed_special": {name: list(change) for name, change in self.changed_special.items()},
            "changed": {name: list(change) for name, change in self.changed.items()},
            "versions": {name: list(change) for name, change in self.versions.items()},
            "truncates_to": self.truncates_to,
            "truncated": self.truncated,
            "pads": self.pads,
            "fingerprint": self.fingerprint,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The report, line by line, the first of which is the summary."""
        yield self.summary
        if self.truncates_to is not None:
            length = f"{self.truncates_to:,} token{'' if self.truncates_to == 1 else 's'}"
            cut = f"{self.truncated:,} of the texts {'is' if self.truncated == 1 else 'are'} longer"
            yield f"tokenizer.json cuts texts to {length}, which the lock's ids do not show; {cut}"
        if self.pads:
            yield "tokenizer.json pads texts, which the lock's ids do not show"
        if self.ok:
            return
        for each in self.changed_texts[:_MOST_TEXTS]:
            yield from self._text(each)
        if self.differing > _MOST_TEXTS:
            left = self.differing - _MOST_TEXTS
            yield f"  ... and {left:,} more text{'' if left == 1 else 's'}"
        if self.changed_special:
            yield "special ids, in the lock -> now:"
            for role, (locked, now) in self.changed_special.items():
                yield f"  {role}: {_token(locked)} -> {_token(now)}"
        elif self.special_ids:
            yield f"special ids: all {self.special_ids} as locked"
        if self.fingerprint and "fingerprint" not in self.changed:
            yield "fingerprint: as locked"
        if self.changed:
            yield "the tokenizer, in the lock -> now:"
            for name, pair in self.changed.items():
                yield "  {}: {} -> {}".format(name, *map(_value, pair))
        yield "versions, in the lock | now:"
        for name, versions in self.versions.items():
            yield "  {}: {} | {}".format(name, *(version or "(none)" for version in versions))

    def _text(self, each: ChangedText) -> Iterator[str]:
        yield f"text {each.number}: {_cut(each.text)}"
        where = f", {each.start}-{each.end} in the text" if each.end > each.start else ""
        yield f"  from token {each.position + 1}{where}:"
        sides = (("the lock", each.locked_tokens, each.locked_ids), (self.engine, each.tokens, each.ids))
        for name, tokens, ids in sides:
            some = slice(each.position, each.position + _MOST_TOKENS)
            shown = " ".join(f"{visible(token)} [{i}]" for token, i in zip(tokens[some], ids[some], strict=True))
            more = " ..." if len(ids) > each.position + _MOST_TOKENS else ""
            yield f"    {name}: {shown or '(no token)'}{more}"
        if each.why:
            yield f"  {each.why}"


def _cut(text: str) -> str:
    shown = repr(text[: _MOST_CHARACTERS + 1])
    return shown if len(text) <= _MOST_CHARACTERS else f"{repr(text[:_MOST_CHARACTERS])[:-1]}...{shown[-1]}"


def _token(found: Any) -> str:
    return "(none)" if found is None else f"{visible(str(found[0]))} [{found[1]}]"


def _value(value: Any) -> str:
    shown = value if isinstance(value, str) else json_line(value)
    return shown if len(shown) <= 2 * _MOST_CHARACTERS else shown[: 2 * _MOST_CHARACTERS - 3] + "..."
