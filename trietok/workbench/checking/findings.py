"""The findings of a check while they are collected: of one code at most so many that a report can be read.

In: findings. Out: the first of each code, and for each code with more of them one finding that says how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from trietok.workbench.checking.report import Finding

MOST_OF_ONE_CODE = 100_000  # more than the entries of most vocabularies; a file made to flood a report has millions


class Findings(list[Finding]):
    """A list that keeps at most `MOST_OF_ONE_CODE` findings of each code, and counts the others.

    >>> findings = Findings([Finding("warning", "blank-line", "...")])
    >>> findings.append(Finding("warning", "blank-line", "..."))
    >>> len(findings), findings.has_room("blank-line"), list(findings.left_out())
    (2, True, [])
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        super().__init__()
        self._counts: Counter[str] = Counter()
        self._first: dict[str, Finding] = {}
        self.extend(findings)

    def append(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        code = finding.code
        self._counts[code] += 1
        if self._counts[code] <= MOST_OF_ONE_CODE:
            self._first.setdefault(code, finding)
            super().append(finding)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Keep or count each of them; one after the other, so that those left out take no memory."""
        for finding in findings:
            self.append(finding)

    def has_room(self, code: str, more: int = 1) -> bool:
        """Whether one more finding of a code would be kept; if not, it is counted as `more`, and need not be made."""
        if self._counts[code] < MOST_OF_ONE_CODE:
            return True
        self._counts[code] += more
        return False

    def left_out(self) -> Iterator[Finding]:
        """For each code of which some were only counted: one finding that says how many."""
        for code, count in self._counts.items():
            if count > MOST_OF_ONE_CODE:
                first = self._first[code]
                known: dict[str, Any] = {"file": first.file}
                message = f"and {count - MOST_OF_ONE_CODE:,} more of this kind, which are not listed"
                yield Finding(first.severity, code, message, **known)
