"""What functions report, in one form: read with `str` or in a notebook, written as JSON, asked
whether all is well.

In: the attributes of a report. Out: plain values, a line of JSON, HTML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from trietok.showing import html
from trietok.showing.characters import aligned

# Allowed in JSON as they are, yet some readers end a line at them, and lone surrogates have no
# UTF-8.
_ESCAPED_IN_LINES = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def json_line(values: Any, **options: Any) -> str:
    """`values` as one line of JSON in any reader: what could break the line, or is no UTF-8, is
    escaped.
    """
    text = json.dumps(values, **{"ensure_ascii": False, **options})
    return _ESCAPED_IN_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain_values(value: Any) -> Any:
    """A value as JSON has it: reports and named tuples are dicts, other sequences lists, and keys
    are str.

    >>> plain_values({1: ("a", [2, ("b",)])})
    {'1': ['a', [2, ['b']]]}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain_values(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return plain_values(value._asdict())
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str)
    return list(map(plain_values, value)) if is_sequence else value


class Table(NamedTuple):
    """Rows under a head; `right` are the numbers of the columns that hold numbers, `mono` of those
    that hold tokens.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    mono: Sequence[int] = ()


class Report:
    """What every report has. `str` makes it readable, and a notebook shows it as HTML."""

    _ANSWERS: ClassVar[tuple[str, ...]] = ()  # the properties that JSON has before the attributes

    @property
    def ok(self) -> bool:
        """Whether nothing was found for which the command ends with exit code 1."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {name: plain_values(getattr(self, name)) for name in (*self._ANSWERS, *vars(self))}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as a line of JSON, as `--json` writes it; the options are those of
        `json.dumps`.
        """
        return json_line(self.to_dict(), **options)

    def to_html(self) -> str:
        """What a notebook shows: one fragment of HTML, which needs no script and nothing from
        elsewhere.
        """
        name = type(self).__name__
        return html.fragment(html.heading(name), *self._html(html), label=name)

    def _html(self, html: Any) -> Iterator[str]:
        """The parts as HTML, made with the functions of `trietok.showing.html`."""
        look = "good" if self.ok else "bad"
        for part in self._parts():
            yield (
                html.note(part, look)
                if isinstance(part, str)
                else html.table(*part[:2], right=part[2], mono=part[3])
            )
            look = ""

    def _parts(self) -> Iterable[str | Table]:
        """Its lines and tables, the first of which says whether all is well."""
        raise NotImplementedError

    def __str__(self) -> str:
        parts = (
            [part] if isinstance(part, str) else aligned([part[0], *part[1]], part[2])
            for part in self._parts()
        )
        return "\n".join(chain.from_iterable(parts))

    def _repr_html_(self) -> str:
        return self.to_html()
