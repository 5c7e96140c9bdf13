"""Characters to read: their code points and names, and forms in which none of them vanishes or does
harm.

In: characters. Out: text that is printable, without surrogates, controls, or what turns the
direction of writing; lines of it that fit a terminal; lists in a sentence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

# Unicode gives controls no names but these aliases, which unicodedata does not tell.
_CONTROLS = (
    "NULL|START OF HEADING|START OF TEXT|END OF TEXT|END OF"
    " TRANSMISSION|ENQUIRY|ACKNOWLEDGE|ALERT|BACKSPACE|CHARACTER TABULATION|LINE FEED|LINE"
    " TABULATION|FORM FEED|CARRIAGE RETURN|SHIFT OUT|SHIFT IN|DATA LINK ESCAPE|DEVICE CONTROL"
    " ONE|DEVICE CONTROL TWO|DEVICE CONTROL THREE|DEVICE CONTROL FOUR|NEGATIVE"
    " ACKNOWLEDGE|SYNCHRONOUS IDLE|END OF TRANSMISSION BLOCK|CANCEL|END OF"
    " MEDIUM|SUBSTITUTE|ESCAPE|INFORMATION SEPARATOR FOUR|INFORMATION SEPARATOR THREE|INFORMATION"
    " SEPARATOR TWO|INFORMATION SEPARATOR ONE"
).split("|")
_LABELS = {"Cc": "control", "Cs": "surrogate", "Co": "private-use", "Cn": "reserved"}
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")  # categories
_SHORT = (  # names by which Unicode, too, knows them
    "NUL TAB LF CR ESC DEL NBSP SHY ZWSP ZWNJ ZWJ LRM RLM WJ BOM"
)
_ABBREVIATIONS = {unicodedata.lookup(short): short for short in _SHORT.split()}
_DOTTED_CIRCLE = "\u25cc"


def code_point(char: str) -> str:
    """The code point as Unicode writes it.

    >>> code_point("\\u200d")
    'U+200D'
    """
    return f"U+{ord(char):04X}"


def name_of(char: str) -> str:
    """The Unicode name of a character; the alias of a control; the label of what has neither.

    >>> name_of("\\u200d"), name_of("\\t"), name_of("\\ud800")
    ('ZERO WIDTH JOINER', 'CHARACTER TABULATION', '<surrogate-D800>')
    """
    if char < "\x20":
        return _CONTROLS[ord(char)]
    if char == "\x7f":
        return "DELETE"
    return (
        unicodedata.name(char, "")
        or f"<{_LABELS.get(unicodedata.category(char), 'unnamed')}-{ord(char):04X}>"
    )


def described(char: str) -> str:
    """Code point and name.

    >>> described("é")
    'U+00E9 LATIN SMALL LETTER E WITH ACUTE'
    """
    return f"{code_point(char)} {name_of(char)}"


def is_hidden(char: str) -> bool:
    """Whether a character shows nothing of itself, or does more to its surroundings than to be
    seen.

    >>> [is_hidden(char) for char in ("a", " ", "\\u3000", "\\n", "\\u200d", "\\ud800")]
    [False, False, True, True, True, True]
    """
    return char != " " and unicodedata.category(char) in _HIDDEN


def visible(text: str) -> str:
    """A text in which nothing is hidden: hidden characters as abbreviations or code points in angle
    brackets.

    >>> visible("a\\u200db\\n\\x01"), visible("\\u0301")
    ('a⟨ZWJ⟩b⟨LF⟩⟨U+0001⟩', '◌́')
    """
    if text.isascii() and text.isprintable():
        return text
    if text and unicodedata.combining(text[0]):  # a mark would go onto what stands before the text
        text = _DOTTED_CIRCLE + text
    return "".join([f"⟨{short_name(char)}⟩" if is_hidden(char) else char for char in text])


def short_name(char: str) -> str:
    """The usual abbreviation of a hidden character, or its code point.

    >>> short_name("\\u200d"), short_name("\\u0378")
    ('ZWJ', 'U+0378')
    """
    return _ABBREVIATIONS.get(char) or code_point(char)


# ---- columns of a terminal: how many a printable text takes, and lines that fit ------------------


def width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> width("abc"), width("東京"), width("e\\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def filled_to(text: str, columns: int, *, right: bool = False) -> str:
    """A text with spaces behind it, or before it, up to a number of columns.

    >>> filled_to("東", 4), filled_to("7", 3, right=True)
    ('東  ', '  7')
    """
    spaces = " " * max(columns - width(text), 0)
    return spaces + text if right else text + spaces


def cut_to(text: str, columns: int) -> str:
    """A text that takes at most so many columns; an ellipsis stands for the rest.

    >>> cut_to("東京タワー", 6), cut_to("abc", 3)
    ('東京…', 'abc')
    """
    if width(text) <= columns:
        return text
    used, kept = 1, []  # one for the ellipsis
    for char in text:
        used += _width(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept) + "…"


def wrapped(text: str, columns: int) -> list[str]:
    """The lines of a text: broken at spaces where they can be, within a word where it is too long;
    at least one.

    >>> wrapped("one two three", 8), wrapped("東京タワー", 5)
    (['one two', 'three'], ['東京', 'タワ', 'ー'])
    """
    columns = max(columns, 2)
    lines, line, used = [], "", 0
    for word in text.split(" "):
        size = width(word)
        if line and used + 1 + size <= columns:
            line, used = f"{line} {word}", used + 1 + size
            continue
        if line:
            lines.append(line)
        while size > columns:
            taken = cut_to(word, columns + 1)[:-1] or word[0]
            lines.append(taken)
            word = word[len(taken) :]
            size = width(word)
        line, used = word, size
    return [*lines, line] if line or not lines else lines


# ---- lists in a sentence -------------------------------------------------------------------------


def first_few(names: Sequence[str], most: int = 10) -> str:
    """The first of some names, and how many more there are.

    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines; `right` are the numbers of the columns whose cells end below one
    another.

    >>> aligned([("word", "count", "now"), ("東京", "12", "東 京")], right=[1])
    ['word  count  now', '東京     12  東 京']
    """
    sizes = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = (enumerate(zip(row, sizes, strict=True)) for row in rows)
    return [
        "  ".join([filled_to(*cell, right=number in right) for number, cell in line]).rstrip()
        for line in lines
    ]


def number_of(count: int, what: str) -> str:
    """A number of things, to read.

    >>> number_of(1, "text"), number_of(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def alternatives(names: Iterable[str]) -> str:
    """Names to choose from.

    >>> alternatives(["a", "b", "c"])
    "'a', 'b' or 'c'"
    """
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last
