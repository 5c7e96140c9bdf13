"""What a check finds, and how it is shown.

In: findings. Out: a `CheckReport`, which is read as attributes, as JSON or as text.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any, Literal, NamedTuple, NewType

from trietok.errors import shortened
from trietok.showing.report import Report

# of a finding; only `declare` makes one, so that no code is without its words
Code = NewType("Code", str)

NOTHING_LOADS = "nothing loads"
BY_FIX = "trietok check -m DIR --fix -o OUT"
RENUMBER = f"{BY_FIX} --renumber, which writes old id -> new id to id_map.json"
NEW_JSON = (
    "remove tokenizer.json, then BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR) writes"
    " it anew"
)


class Words(NamedTuple):
    """What all findings of a code have in common: a title for many of them, what follows, and what
    repairs it.
    """

    title: str
    consequence: str
    repair: str


WORDS: dict[str, Words] = {}


def declare(code: str, title: str = "", *, so: str, do: str) -> Code:
    """Make a code, with its words.

    Args:
        code: as it stands in reports and in `docs/checking.md`; it does not change.
        title: what is printed once above several findings, without it the code.
        so: what follows from a finding.
        do: the edit or the command that repairs it. In both, `{file}`, `{token}` and the other
            attributes of a `Finding` stand for its values; DIR is the directory that was checked,
            OUT a new one.
    """
    WORDS[code] = Words(title or code, so, do)
    return Code(code)


Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
WARNING: Severity = "warning"
NOTE: Severity = "note"

_SINGLY = 5  # so many findings of one code are shown one by one
_REPAIRS = 3  # so many different ones are shown for one code


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing a check has found.

    Attributes:
        severity: `"error"`: the tokenizer does not load, or ids contradict each other; `"warning"`:
            it loads, and something in it is probably not meant; `"note"`: worth knowing.
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
    code: Code
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

        >>> Finding("warning", "blank-line", "...", file="vocab.txt").to_dict()
        {'severity': 'warning', 'code': 'blank-line', 'message': '...', 'file': 'vocab.txt',
         'consequence': 'an id for an empty token, which no text gives',
         'repair': 'trietok check -m DIR --fix -o OUT'}
        """
        values = {**vars(self), "lines": self.lines and list(self.lines)}
        values |= {"consequence": self.consequence, "repair": self.repair}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def consequence(self) -> str:
        """What follows from it."""
        return self._filled(WORDS[self.code].consequence)

    @property
    def repair(self) -> str:
        """The edit or the command that repairs it. DIR is the directory that was checked, OUT a new
        one.
        """
        return self._filled(WORDS[self.code].repair)

    def _filled(self, sentence: str) -> str:
        values = {
            name: shortened(value) if isinstance(value, str) else value
            for name, value in vars(self).items()
        }
        return sentence.format_map(values)

    @property
    def place(self) -> str:
        """Where it is, as far as that is known: `"vocab.txt, line 3"`, or nothing."""
        if self.file is None:
            return ""
        return self.file if self.line_number is None else f"{self.file}, line {self.line_number}"


class CheckReport(Report):
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
        """The report as plain values, for JSON: every finding is in it, and is counted in `counts`
        by its code.
        """
        return {
            "path": self.path,
            "ok": self.ok,
            "healthy": self.is_healthy,
            **{f"{severity}s": self.count(severity) for severity in SEVERITIES},
            "counts": dict(Counter(finding.code for finding in self.findings)),
            "findings": [
                {**each.to_dict(), "repair": self._named(each.repair)} for each in self.findings
            ],
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
        """How many findings of each severity there are, all notes of one code being one; and
        whether all is well.

        >>> CheckReport("a", [Finding("note", "id-hole", "...")]).summary
        'healthy: no errors, no warnings, 1 note'
        """
        counts = ", ".join(counted(self.count(severity), severity) for severity in SEVERITIES)
        return f"healthy: {counts}" if self.is_healthy else counts

    def groups(self, every: bool = False) -> Iterator[tuple[str, str, list[str]]]:
        """The findings as they are shown: severity, code, and lines of text; unless `every`, many
        are summed up.
        """
        by_code: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            by_code.setdefault((finding.severity, finding.code), []).append(finding)
        for (severity, code), findings in by_code.items():
            yield (
                severity,
                code,
                [*_shown_findings(code, findings, every), *map(self._named, _advised(findings))],
            )

    def _named(self, advice: str) -> str:
        """Advice with the names of the directory that was checked, and of a new one beside it."""
        old, new = self.path, (self.path.rstrip("./\\") or "tokenizer") + "-fixed"
        named = {
            "(DIR)": f"({old!r})",
            " DIR": f" {quote(old)}",
            "(OUT)": f"({new!r})",
            " OUT": f" {quote(new)}",
        }
        # not in names and tokens
        return re.sub(r"\((?:DIR|OUT)\)| (?:DIR|OUT)\b", lambda word: named[word[0]], advice)

    def text(self, every: bool = False) -> str:
        """The report as lines of text: `str(report)`, or with each finding by itself."""
        lines = [f"{self.path}: {self.summary}"]
        for severity, code, shown in self.groups(every):
            lines += [f"{severity}: {code}", *(f"  {line}" for line in shown)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _html(self, html: Any) -> Iterator[str]:
        yield html.note(f"{self.path}: {self.summary}", "good" if self.ok else "bad")
        if self.findings:
            rows = ((severity, code, "\n".join(lines)) for severity, code, lines in self.groups())
            yield html.table(("", "code", "finding"), rows)

    def __repr__(self) -> str:
        return f"<CheckReport of {self.path!r}: {self.summary}>"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `"no errors"`, `"1 error"`, `"1,021 errors"`."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"


def _order(finding: Finding) -> tuple[int, str, int, int]:
    line = finding.line_number or 0
    return SEVERITIES.index(finding.severity), finding.code, line, finding.token_id or 0


def _advised(findings: list[Finding]) -> Iterator[str]:
    """What follows from findings of one code, and what repairs them; of many a few."""
    for word, attribute in (("so", "consequence"), ("do", "repair")):
        sentences = dict.fromkeys(getattr(finding, attribute) for finding in findings)
        yield from (f"{word}: {sentence}" for sentence in list(sentences)[:_REPAIRS])


def _shown_findings(code: str, findings: list[Finding], every: bool) -> Iterator[str]:
    several = len(findings) > _SINGLY and not every
    if several:
        yield f"{counted(len(findings), 'finding')}: {WORDS[code].title}"
    for finding in findings[: _SINGLY - 2 if several else None]:
        yield f"{finding.place}: {finding.message}" if finding.place else finding.message
    if several:
        yield f"... and {len(findings) - _SINGLY + 2:,} more"


# More than the entries of most vocabularies; a file that is made to flood a report has millions of
# faults.
MOST_OF_ONE_CODE = 100_000


class Findings(list[Finding]):
    """A list that keeps at most `MOST_OF_ONE_CODE` findings of each code, and counts the others.

    >>> findings = Findings()
    >>> findings.extend([Finding("warning", "blank-line", "...")] * 2)
    >>> len(findings), findings.has_room("blank-line"), list(findings.left_out())
    (2, True, [])
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[Code] = Counter()

    def append(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        self._counts[finding.code] += 1
        if self._counts[finding.code] <= MOST_OF_ONE_CODE:
            super().append(finding)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Keep or count each of them; one after the other, so that those left out take no
        memory.
        """
        for finding in findings:
            self.append(finding)

    def has_room(self, code: Code) -> bool:
        """Whether one more finding of a code would be kept; if not, it is counted, and need not be
        made.
        """
        if self._counts[code] < MOST_OF_ONE_CODE:
            return True
        self._counts[code] += 1
        return False

    def left_out(self) -> Iterator[Finding]:
        """For each code of which some were only counted: one finding that says how many."""
        for code, count in self._counts.items():
            if count > MOST_OF_ONE_CODE:
                first = next(finding for finding in self if finding.code == code)
                message = (
                    f"and {count - MOST_OF_ONE_CODE:,} more of this kind, which are not listed"
                )
                yield Finding(first.severity, code, message, first.file)
