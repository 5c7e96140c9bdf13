"""`trietok explain`: why a text has its ids: what each stage did to it, and why each token is one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import check_length, check_pair, lines_of, tokenizer_of
from trietok.cli.output import json_line, on_terminal, reporting, write_line, writing

_PROFILES = ("slow", "fast")
_WIDTH = 80  # where nobody looks on
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>trietok explain</title>'
    "<style>body{{margin:12px;background:#fff}}@media(prefers-color-scheme:dark){{body{{background:#0d0f12}}}}</style>"
    "</head><body>{}</body></html>\n"
)
# The colours of Okabe and Ito, lightened; the same as in HTML.
_STYLES = {
    "token0": "black on #8ecbf0",
    "token1": "black on #f5c860",
    "token2": "black on #86d3b8",
    "token3": "black on #dfb0d4",
    "unknown": "bold white on #a63f00",
    "added": "bold black on #e4e8ec",
    "kept": "bold black on #e4e8ec",
    "special": "magenta",
    "padding": "dim",
    "truncated": "dim strike",
    "hidden": "bold #d55e00",
    "head": "bold",
    "title": "bold underline",
    "stage": "bold",
    "gave": "",
    "place": "cyan",
    "id": "cyan",
    "deleted": "#d55e00",
    "changed": "bold",
    "inserted": "bold",
    "left": "#d98200",
    "right": "#2f9bd6",
    "same": "bold",
    "dim": "dim",
    "story": "",
    "": "",
}


@click.command()
@options.texts
@options.text_files
@options.model
@options.pair
@options.no_special_tokens
@options.max_length
@click.option("--fast", is_flag=True, help="Explain the fast profile (that of the Rust tokenizers).")
@click.option(
    "--against",
    type=options.PATH,
    metavar="NAME_OR_DIR",
    help="Show where another tokenizer differs; slow or fast is the same model in that profile.",
)
@click.option("--html", type=options.PATH, metavar="FILE", help="Write a page for a browser.")
@options.column
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object per text, with all details.")
@options.offline
@click.pass_context
def explain(
    ctx: click.Context,
    texts: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    pair: str | None,
    no_special_tokens: bool,
    max_length: int | None,
    fast: bool,
    against: str | None,
    html: str | None,
    column: str,
    as_json: bool,
) -> None:
    """Show what each stage does to a text, and the reason for each token.

    Each argument is one text; - reads texts from standard input, one a line.

    \b
    Examples:
      trietok explain "Mind the snow☃man"
      trietok explain "naïve" --against fast
      trietok explain --file texts.txt --html explained.html
    """
    with reporting():
        check_pair(ctx, pair, texts, files)
        if html is not None and as_json:
            ctx.fail("Give --html or --json, not both.")
        lines = lines_of(ctx, texts, files, "texts", column)
        tokenizers = [tokenizer_of(model, fast=fast)]
        if against is not None:
            tokenizers.append(_other(against, model))
        for tokenizer in () if no_special_tokens else tokenizers:
            check_length(tokenizer, max_length, is_pair=pair is not None)
        settings: dict[str, Any] = {"add_special_tokens": not no_special_tokens, "verbose": False}
        if max_length is not None:
            settings.update(max_length=max_length, truncation=True)
        explained = (_explained(tokenizers, line.text, pair, settings) for line in lines)
        if html is not None:
            _write_page(html, explained)
            return
        for number, each in enumerate(explained):
            if as_json:
                write_line(json_line(each.to_dict()))
            elif on_terminal():
                _show(each, is_first=number == 0)
            else:
                write_line(("\n" if number else "") + each.to_text(_WIDTH))


def _other(against: str, model: str) -> Any:
    """The tokenizer to show beside; the name of a profile is the same model in it, unless a directory has that name."""
    if against in _PROFILES and not os.path.exists(against):
        return tokenizer_of(model, fast=against == "fast")
    return tokenizer_of(against)


def _explained(tokenizers: list[Any], text: str, pair: str | None, settings: dict[str, Any]) -> Any:
    first, *others = (tokenizer.explain(text, pair, **settings) for tokenizer in tokenizers)
    return first.against(others[0]) if others else first


def _write_page(path: str, explained: Iterable[Any]) -> None:
    from trietok.disk import replacing  # only where a file is written

    page = _PAGE.format("".join(each.to_html() for each in explained))
    try:
        with replacing(path) as file:
            file.write(page.encode("utf-8"))
    except OSError as error:
        raise trietok.FileError(
            f"cannot write {str(path)!r}: {error.strerror or error}; choose another FILE", path=path
        ) from error


def _show(explained: Any, is_first: bool) -> None:
    """For a terminal."""
    from rich.console import Console  # only where somebody looks
    from rich.text import Text

    from trietok.explaining import views as contrast_views
    from trietok.explaining import views as text_view

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    has_colours = console.color_system is not None and not console.no_color
    if isinstance(explained, trietok.Explanation):
        lines = text_view.explanation_lines(explained, console.width, bars=not has_colours)
    else:
        lines = contrast_views.contrast_lines(explained, console.width)
    with writing():
        if not is_first:
            console.print()
        for line in lines:
            shown = Text.assemble(*((text, _STYLES[style]) for text, style in line))
            console.print(shown, no_wrap=True, overflow="ignore", crop=False)
