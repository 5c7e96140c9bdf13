"""What a check finds, and how it is shown.

In: findings. Out: a `CheckReport`, which is read as attributes, as JSON or as text.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from trietok.workbench.checking.advice import ADVICE
from trietok.errors import shortened

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

# What all findings of a code have in common: printed once above them, where there are several.
TITLES = {
    "duplicate-line": "a token stands on several lines",
    "blank-line": "blank lines are ids of their own",
    "carriage-return": "lines end in a carriage return",
    "lone-carriage-return": "a carriage return by itself ends a line",
    "tab": "lines hold a tab",
    "edge-space": "whitespace before or after a token belongs to it",
    "line-break-character": "lines hold a character at which other programs break lines",
    "control-character": "lines hold a control character",
    "not-utf8": "bytes are not UTF-8",
    "special-missing": "a special token is in no file and is added on loading",
    "shared-role": "one token plays several roles",
    "role-contradiction": "two files disagree about a special token",
    "role-null": "a role that calls use is null",
    "role-exchanged": "a role has the token of another",
    "role-ordinary": "a role has an ordinary word as its token",
    "special-unmarked": "a special token is not marked as one",
    "word-marked-special": "a word is marked as a special token",
    "added-cuts-words": "an added token is part of many words",
    "option-misspelt": "options that change nothing",
    "never-split-unknown": "words that are never split are no entries",
    "tokenizer-json-differs": "tokenizer.json gives other ids than vocab.txt",
    "tokenizer-json-added": "tokenizer.json and tokenizer_config.json disagree about added tokens",
    "tokenizer-json-setting": "tokenizer.json does other things to a text than slow tokenizers",
    "model-token-id": "config.json has the id of another token",
    "added-shadows": "an added token keeps an entry from being given, or is one",
    "letter-missing": "letters or signs are no entries, so words with them are unknown",
    "mixed-scripts": "entries mix letters of several scripts",
    "invisible-character": "entries hold a character that nobody sees",
    "damaged-entry": "entries look damaged",
    "slot-replaced": "entries stand in the place of unused slots",
    "weights-shape": "sizes of the weights are not those of config.json",
    "weights-index": "an index names shards or tensors that are not there",
    "record-false": "trietok's record in tokenizer_config.json contradicts the files",
    "weights-unreadable": "files of weights cannot be read",
    "save-abandoned": "a save was cut short",
    "save-cut-short": "a save was cut short, and its folder is needed",
    "id-hole": "ids without a token",
    "id-clash": "an added token has the id of another token",
    "added-id-differs": "an added token stands in the vocabulary under another id",
    "added-content-twice": "an added token has several ids",
    "added-id-twice": "two added tokens have one id",
    "added-tokens-contradiction": "two files disagree about an added token",
    "id-past-model": "ids for which the model has no embedding row",
    "wrong-shape": "a file holds something else than it should",
    "duplicate-key": "a key stands twice in an object; the last one counts",
    "unreachable-case": "no text can give these, because they have capitals and the tokenizer lower-cases",
    "unreachable-accent": "no text can give these, because they have accents and the tokenizer strips them",
    "unreachable-form": "no text can give these, because the tokenizer writes their characters in another form",
    "unreachable-punctuation": "no text can give these, because each punctuation character becomes a word of its own",
    "unreachable-chinese": "no text can give these, because each Chinese character becomes a word of its own",
    "unreachable-deleted": "no text can give these, because cleaning deletes one of their characters",
    "unreachable-space": "no text can give these, because words are split at whitespace",
    "unreachable-length": "no text can give these, because longer words than the tokenizer takes are unknown",
    "unreachable-prefix": "no text can give this, because nothing follows the prefix of continuing pieces",
}

_USUAL = ("unreachable-chinese", "unreachable-punctuation")
_SINGLY = 5  # so many findings of one code are shown one by one
_EXAMPLES = 6  # of entries that no text gives
_REPAIRS = 3  # so many different ones are shown for one code


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing a check has found.

    Attributes:
        severity: `"error"`: the tokenizer does not load, or ids contradict each other; `"warning"`: it loads, and
            something in it is probably not meant; `"note"`: worth knowing.
        code: which rule found it; the codes are listed in `docs/checking.md` and do not change.
        message: what was found and what it means, in one line.
        file: the name of the file in the directory.
        line_number: from 1; in a vocab.txt it is the id plus one.
        token, token_id: the token it is about, and its id.
        other_token, other_id: what it clashes with; for a range of ids, the last one.
        role: the role of a special token, such as `pad_token`.
        lines: all line numbers, where there are several.

    What a rule does not know is None.

    >>> finding = Finding("warning", "cased-vocabulary", "...", file="tokenizer_config.json")
    >>> finding.repair
    'in tokenizer_config.json: "do_lower_case": false'
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    line_number: int | None = None
    token: str | None = None
    token_id: int | None = None
    other_token: str | None = None
    other_id: int | None = None
    role: str | None = None
    lines: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))

    def to_dict(self) -> dict[str, Any]:
        """The attributes that are not None; all of it can be written as JSON.

        >>> Finding("note", "no-final-newline", "...", file="vocab.txt").to_dict()
        {'severity': 'note', 'code': 'no-final-newline', 'message': '...', 'file': 'vocab.txt',
         'consequence': 'a token that is appended becomes part of the last one',
         'repair': 'trietok check DIR --fix -o OUT'}
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values |= {"consequence": self.consequence, "repair": self.repair}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

    @property
    def consequence(self) -> str:
        """What follows from it."""
        return self._filled(ADVICE[self.code].consequence)

    @property
    def repair(self) -> str:
        """The edit or the command that repairs it. DIR is the directory that was checked, OUT a new one."""
        return self._filled(ADVICE[self.code].repair)

    def _filled(self, sentence: str) -> str:
        values = {name: shortened(value) if isinstance(value, str) else value for name, value in vars(self).items()}
        return sentence.format_map(values)

    @property
    def place(self) -> str:
        """Where it is, as far as that is known: `"vocab.txt, line 3"`, or nothing."""
        if self.file is None:
            return ""
        return self.file if self.line_number is None else f"{self.file}, line {self.line_number}"


class CheckReport:
    """All that a check has found, the most severe first.

    Attributes:
        path: what was checked, as it was given.
        findings: every `Finding`.
    """

    def __init__(self, path: str, findings: Iterable[Finding]) -> None:
        self.path = path
        self.findings: list[Finding] = sorted(findings, key=_order)

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return self._of("error")

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return self._of("warning")

    @property
    def notes(self) -> list[Finding]:
        """The findings that are notes."""
        return self._of("note")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def _of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == severity]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON: every finding is in it, and is counted in `counts` by its code."""
        return {
            "path": self.path,
            "ok": self.ok,
            "healthy": self.is_healthy,
            **{f"{severity}s": self.count(severity) for severity in SEVERITIES},
            "counts": dict(Counter(finding.code for finding in self.findings)),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    @property
    def is_healthy(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return not any(self.count(severity) for severity in SEVERITIES[:2])

    def count(self, severity: Severity) -> int:
        """How many findings of a severity there are; all notes of one code count as one."""
        found = self._of(severity)
        return len({finding.code for finding in found} if severity == "note" else found)

    @property
    def summary(self) -> str:
        """How many findings of each severity there are, all notes of one code being one; and whether all is well.

        >>> CheckReport("a", [Finding("note", "auto-map", "...")]).summary
        'healthy: no errors, no warnings, 1 note'
        """
        counts = ", ".join(counted(self.count(severity), severity) for severity in SEVERITIES)
        return f"healthy: {counts}" if self.is_healthy else counts

    def groups(self, every: bool = False) -> Iterator[tuple[str, str, list[str]]]:
        """The findings as they are shown: severity, code, and lines of text; unless `every`, many are summed up."""
        by_code: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            by_code.setdefault((finding.severity, finding.code), []).append(finding)
        for (severity, code), findings in by_code.items():
            yield severity, code, [*_shown(code, findings, every), *_advised(findings)]

    def text(self, every: bool = False) -> str:
        """The report as lines of text: `str(report)`, or with each finding by itself."""
        lines = [f"{self.path}: {self.summary}"]
        for severity, code, shown in self.groups(every):
            lines += [f"{severity}: {code}", *(f"  {line}" for line in shown)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from trietok.showing.html import fragment, heading, note, table  # only where somebody looks

        rows = [(severity, code, "\n".join(lines)) for severity, code, lines in self.groups()]
        parts = [heading("Check", aside=self.path), note(self.summary, "good" if self.ok else "bad")]
        return fragment(*parts, *([table(("", "code", "finding"), rows)] if rows else []), label="Check of a tokenizer")

    def __repr__(self) -> str:
        return f"<CheckReport of {self.path!r}: {self.summary}>"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `"no errors"`, `"1 error"`, `"1,021 errors"`."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"


def _entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def _order(finding: Finding) -> tuple[int, str, int, int]:
    line = finding.line_number or 0
    return SEVERITIES.index(finding.severity), finding.code, line, finding.token_id or 0


def _advised(findings: list[Finding]) -> Iterator[str]:
    """What follows from findings of one code, and what repairs them; of many a few."""
    if _are_folded(findings):
        return
    for word, sentences in (
        ("so", [finding.consequence for finding in findings]),
        ("do", [finding.repair for finding in findings]),
    ):
        yield from (f"{word}: {sentence}" for sentence in list(dict.fromkeys(sentences))[:_REPAIRS])


def _are_folded(findings: list[Finding]) -> bool:
    """Whether they are of a kind that published vocabularies have hundreds of, or too many to be shown."""
    first = findings[0]
    return first.severity == "note" and (
        first.code in _USUAL or (first.code.startswith("unreachable-") and len(findings) > _SINGLY)
    )


def _shown(code: str, findings: list[Finding], every: bool) -> Iterator[str]:
    if _are_folded(findings) and not every:
        examples = " ".join(f"{finding.token!r}" for finding in findings[:_EXAMPLES])
        more = " ..." if len(findings) > _EXAMPLES else ""
        yield f"{_entries(len(findings))}: {TITLES[code]}, such as {examples}{more}"
        return
    several = len(findings) > _SINGLY and not every
    if several:
        yield f"{counted(len(findings), 'finding')}: {TITLES.get(code, code)}"
    for finding in findings[: _SINGLY - 2 if several else None]:
        yield f"{finding.place}: {finding.message}" if finding.place else finding.message
    if several:
        yield f"... and {len(findings) - _SINGLY + 2:,} more"
