"""`trietok explain`: why a text has its ids: what each stage did to it, and why each token is
one.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.lines import lines_asked_for
from trietok.cli.options import EncodingOptions, tokenizer_of
from trietok.cli.output import on_terminal, write_line
from trietok.cli.results import on_screen, print_json, write_page
from trietok.explaining.contrast import contrast_lines
from trietok.explaining.views import explanation_lines
from trietok.showing.characters import number_of
from trietok.tokenizer.auto import choose

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

_PROFILES = ("slow", "fast")
_WIDTH = 80  # where nobody looks on
# The colours of Okabe and Ito, lightened; the same as in HTML.
_STYLES = {
    "token0": "black on #8ecbf0",
    "token1": "black on #f5c860",
    "token2": "black on #86d3b8",
    "token3": "black on #dfb0d4",
    "unknown": "bold white on #a63f00",
    **dict.fromkeys(("added", "kept"), "bold black on #e4e8ec"),
    "special": "magenta",
    "padding": "dim",
    "truncated": "dim strike",
    "hidden": "bold #d55e00",
    "title": "bold underline",
    **dict.fromkeys(("head", "stage", "changed", "rejected", "inserted", "same"), "bold"),
    **dict.fromkeys(("place", "id"), "cyan"),
    "deleted": "#d55e00",
    "left": "#d98200",
    "right": "#2f9bd6",
    "dim": "dim",
    **dict.fromkeys(("gave", "story", ""), ""),
}


@options.command()
@options.texts_and_model
@options.encoding
@options.tokenizer(
    "--against",
    help="Show where another tokenizer differs; slow or fast is the same model in that profile.",
)
@options.writes(
    "Write a page for a browser or for paper, with all reasons.", metavar="FILE", required=False
)
@options.column
@options.json_offline
def explain(
    texts: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    how: EncodingOptions,
    against: str | None,
    output: str | None,
    column: str,
    as_json: bool,
) -> None:
    """Show what each stage does to a text, and the reason for each token.

    \b
    Examples:
      trietok explain "Mind the snow☃man"
      trietok explain "naïve" --against trietok-multi
      trietok explain -f texts.txt -o explained.html
    """
    how.check_arguments(texts, files)
    if output is not None and as_json:
        raise click.UsageError("Give --output or --json, not both.")
    lines = lines_asked_for(texts, files, "texts", column)
    tokenizers = [tokenizer_of(model)]
    if against is not None:
        tokenizers.append(_other(against, model))
    for tokenizer in tokenizers:
        how.check_length(tokenizer)
    explained = (_explained(tokenizers, line.text, how) for line in lines)
    if output is not None:
        pages = [each.to_html(**({} if against else {"reasons": True})) for each in explained]
        write_page(output, "explain", pages)
        write_line(f"written to {output}: {number_of(len(pages), 'text')}")
        return
    for number, each in enumerate(explained):
        if as_json:
            print_json(each)
        elif on_terminal():
            on_screen(partial(_draw, each, is_first=number == 0))
        else:
            write_line(("\n" if number else "") + each.to_text(_WIDTH))


def _other(against: str, model: str) -> Any:
    """The tokenizer to show beside; the name of a profile is the same model in it, unless a
    directory has that name.
    """
    if against in _PROFILES and not os.path.exists(against):
        return choose(model, "fast" if against == "fast" else "slow").load()
    return tokenizer_of(against)


def _explained(tokenizers: list[Any], text: str, how: EncodingOptions) -> Any:
    first, *others = (tokenizer.explain(text, how.pair, **how.settings) for tokenizer in tokenizers)
    return first.against(others[0]) if others else first


def _draw(explained: Any, screen: Screen, is_first: bool) -> None:
    console = screen.console
    if isinstance(explained, trietok.Explanation):
        has_colours = console.color_system is not None and not console.no_color
        lines = explanation_lines(explained, console.width, bars=not has_colours)
    else:
        lines = contrast_lines(explained, console.width)
    if not is_first:
        screen.line()
    for line in lines:
        screen.line(
            *((text, _STYLES[style]) for text, style in line),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )
