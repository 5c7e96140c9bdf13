"""The report of a check, as attributes, as JSON and as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any

from trietok.files.findings import SEVERITIES, Finding, Severity
from trietok.showing.report import Report

_SINGLY = 5  # so many findings of one code are shown one by one
_SENTENCES = 3  # so many consequences, and repairs, are shown for one code


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
                [*_shown_findings(findings, every), *map(self._named, _advised(findings))],
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
        yield from (f"{word}: {sentence}" for sentence in list(sentences)[:_SENTENCES])


def _shown_findings(findings: list[Finding], every: bool) -> Iterator[str]:
    several = len(findings) > _SINGLY and not every
    if several:
        yield f"{counted(len(findings), 'finding')} of this kind"
    for finding in findings[: _SINGLY - 2 if several else None]:
        yield f"{finding.place}: {finding.message}" if finding.place else finding.message
    if several:
        yield f"... and {len(findings) - _SINGLY + 2:,} more"
