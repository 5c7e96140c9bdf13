"""What a terminal is shown: lines and tables in colour, and tables of tokens and ids.

In: strings with their styles; or a `Result`, of which the text comes first with a summary, then the
tokens from left to right, as many side by side as the terminal is wide. Below each is its id; its
place in the text and, of a pair, its token type id, where they are known; and below an unknown
token the word that it stands for.

Everything is put together from `rich.text.Text`: a string would be searched for markup, and [CLS]
would vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.box import MINIMAL
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trietok.cli.output import Result, on_one_line

# a line, or several below one another in a cell; and the style
StyledCell = tuple[str | Sequence[str], str]


class Screen:
    """Writes lines and tables to the terminal.

    >>> Screen().line(("[CLS] ", "bold"), ("a\\x1b", ""))
    [CLS] a\\x1b
    """

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, emoji=False)

    def line(self, *parts: StyledCell, **options: Any) -> None:
        """Write parts side by side; an empty line where there is none. `options` are those of
        rich's `print`.
        """
        self.console.print(*([_text(parts)] if parts else []), **options)

    def table(
        self, columns: Iterable[dict[str, Any]], rows: Iterable[Sequence[StyledCell]]
    ) -> None:
        """Write rows of cells; `columns` are the options of rich's columns."""
        table = Table.grid(padding=(0, 2))
        for column in columns:
            table.add_column(**column)
        for row in rows:
            table.add_row(*(_text([cell]) for cell in row))
        self.console.print(table)


def _text(parts: Sequence[StyledCell]) -> Text:
    shown = [
        (
            on_one_line(lines) if isinstance(lines, str) else "\n".join(map(on_one_line, lines)),
            style,
        )
        for lines, style in parts
    ]
    # The style of a text as a whole is that of the space around it too.
    return Text(shown[0][0], style=shown[0][1]) if len(shown) == 1 else Text.assemble(*shown)


_AROUND = (
    3  # the columns that a token's cell takes beside the token: a space at either side, and a line
)
_TEXT, _TOKEN, _CONTINUATION, _SPECIAL, _UNKNOWN, _ID, _LINE = (
    "bold",
    "",
    "dim",
    "magenta",
    "bold red",
    "cyan",
    "dim",
)

_WORD, _PLACE, _TYPE = "red", "dim", "dim"
_WIDEST_WORD = 24  # columns

# what is shown of a token from top to bottom, and the columns it takes
Cell = tuple[list[Text], int]


class TokenTables:
    """Writes a table for each result; the tokenizer tells which tokens are special."""

    def __init__(self, tokenizer: Any) -> None:
        self._screen = Screen()
        self._console = self._screen.console
        self._special = frozenset(tokenizer.all_special_tokens)
        self._unknown = tokenizer.unk_token
        stage = getattr(tokenizer, "wordpiece_tokenizer", None)
        self._prefix = getattr(stage, "continuing_subword_prefix", "")
        self._first = True

    def write(self, result: Result) -> None:
        """Write the table of one result, with an empty line before all but the first."""
        if not self._first:
            self._console.print()
        self._first = False
        for text in (result.text, result.text_pair):
            if text is not None:
                # A long text would fill the screen, and its tokens follow anyway.
                title = (text, _TEXT) if text else ("(empty text)", _LINE)
                self._screen.line(title, no_wrap=True, overflow="ellipsis")
        self._console.print(self._summary(result.tokens))
        for number, block in enumerate(self._blocks(result)):
            if number:
                self._console.print()
            self._console.print(_table(block))

    def _summary(self, tokens: list[str]) -> Text:
        unknown = tokens.count(self._unknown)
        special = sum(token in self._special for token in tokens) - unknown
        summary = Text(f"{len(tokens)} token{'' if len(tokens) == 1 else 's'}")
        if special:
            summary.append(f", {special} special", style=_SPECIAL)
        if unknown:
            summary.append(f", {unknown} unknown", style=_UNKNOWN)
        return summary

    def _blocks(self, result: Result) -> Iterator[list[Cell]]:
        """The tokens in portions that fit side by side."""
        space = self._console.width + 1  # no line follows the last cell
        block: list[Cell] = []
        used = 0
        for number in range(len(result.tokens)):
            lines = self._lines(result, number)
            width = min(max(cell_len(line.plain) for line in lines), max(space - _AROUND, 1))
            if block and used + width + _AROUND > space:
                yield block
                block, used = [], 0
            used += width + _AROUND
            block.append((lines, width))
        if block:
            yield block

    def _lines(self, result: Result, number: int) -> list[Text]:
        """What is shown of one token."""
        token = result.tokens[number]
        lines = [
            Text(on_one_line(token), style=self._style(token)),
            Text(str(result.ids[number]), style=_ID),
        ]
        word = ""
        if result.places is not None:
            place = result.places[number]
            if place is not None and token == self._unknown:
                text = result.text_pair if place[0] else result.text
                word = on_one_line((text or "")[place[1] : place[2]])
            lines.append(Text("" if place is None else f"{place[1]}-{place[2]}", style=_PLACE))
        if result.token_type_ids is not None:
            lines.append(Text(str(result.token_type_ids[number]), style=_TYPE))
        shown = Text("" if word == token else word, style=_WORD)
        shown.truncate(_WIDEST_WORD, overflow="ellipsis")
        return [*lines, shown]

    def _style(self, token: str) -> str:
        if token == self._unknown:
            return _UNKNOWN
        if token in self._special:
            return _SPECIAL
        return _CONTINUATION if self._prefix and token.startswith(self._prefix) else _TOKEN


def _table(block: list[Cell]) -> Table:
    table = Table(box=MINIMAL, show_header=False, show_edge=False, border_style=_LINE)
    for _, width in block:
        table.add_column(width=width, overflow="fold")
    for row in zip(*(lines for lines, _ in block), strict=True):
        # no places of special tokens, no words where none is unknown
        if any(line.plain for line in row):
            table.add_row(*row)
    return table
