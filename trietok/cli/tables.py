"""Tables of tokens and ids for a terminal.

In: a `Result`. Out: the text with a summary, then the tokens from left to right with the id below each, as many side
by side as the terminal is wide.

Everything is put together from `rich.text.Text`: a string would be searched for markup, and [CLS] would vanish.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.box import MINIMAL
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trietok.cli.output import visible

if TYPE_CHECKING:
    from trietok.cli.results import Result

_AROUND = 3  # the columns that a token's cell takes beside the token: a space at either side, and a line
_TEXT, _TOKEN, _CONTINUATION, _SPECIAL, _UNKNOWN, _ID, _LINE = "bold", "", "dim", "magenta", "bold red", "cyan", "dim"

Cell = tuple[Text, Text, int]  # a token, its id, and the columns they take


class TokenTables:
    """Writes a table for each result.

    Args:
        tokenizer: tells which tokens are special.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._special = frozenset(tokenizer.all_special_tokens)
        self._unknown = tokenizer.unk_token
        self._first = True

    def write(self, result: Result) -> None:
        """Write the table of one result, with an empty line before all but the first."""
        if not self._first:
            self._console.print()
        self._first = False
        for text in (result.text, result.text_pair):
            if text is not None:
                # A long text would fill the screen, and its tokens follow anyway.
                title = Text(visible(text), style=_TEXT) if text else Text("(empty text)", style=_LINE)
                self._console.print(title, no_wrap=True, overflow="ellipsis")
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
        for token, token_id in zip(result.tokens, result.ids, strict=True):
            shown = visible(token)
            width = min(max(cell_len(shown), len(str(token_id))), max(space - _AROUND, 1))
            if block and used + width + _AROUND > space:
                yield block
                block, used = [], 0
            used += width + _AROUND
            block.append((Text(shown, style=self._style(token)), Text(str(token_id), style=_ID), width))
        if block:
            yield block

    def _style(self, token: str) -> str:
        if token == self._unknown:
            return _UNKNOWN
        if token in self._special:
            return _SPECIAL
        return _CONTINUATION if token.startswith("##") else _TOKEN


def _table(block: list[Cell]) -> Table:
    table = Table(box=MINIMAL, show_header=False, show_edge=False, border_style=_LINE)
    for _, _, width in block:
        table.add_column(width=width, overflow="fold")
    table.add_row(*(token for token, _, _ in block))
    table.add_row(*(token_id for _, token_id, _ in block))
    return table
