"""`trietok explain`: why a text has its ids: what each stage did to it, and why each token is one."""
# ruff: noqa: UP045

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any, Optional

import typer

import trietok
from trietok.cli.inputs import check_pair, lines_of, tokenizer_of
from trietok.cli.options import DEFAULT_MODEL, MaxLength, Model, NoSpecialTokens, Pair, TextFiles, Texts
from trietok.cli.output import json_line, on_terminal, write_line, writing
from trietok.cli.reporting import reporting
from trietok.cli.training_options import Column

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

AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object a text, with everything.")]
Html = Annotated[
    Optional[str],
    typer.Option("--html", metavar="FILE", help="Write a page for a browser to FILE.", show_default=False),
]
Against = Annotated[
    Optional[str],
    typer.Option(
        "--against",
        metavar="MODEL",
        help="Show another tokenizer beside it, and where they part; slow or fast is the same model in that profile.",
        show_default=False,
    ),
]
Fast = Annotated[bool, typer.Option("--fast", help="Explain the fast profile, that of the Rust tokenizers.")]


def explain(
    ctx: typer.Context,
    texts: Texts = None,
    file: TextFiles = None,
    model: Model = DEFAULT_MODEL,
    pair: Pair = None,
    no_special_tokens: NoSpecialTokens = False,
    max_length: MaxLength = None,
    fast: Fast = False,
    against: Against = None,
    html: Html = None,
    column: Column = "text",
    as_json: AsJson = False,
) -> None:
    """Show what each stage does to a text, and why each token is one."""
    with reporting():
        check_pair(ctx, pair, texts, file)
        if html is not None and as_json:
            ctx.fail("Give --html or --json, not both.")
        lines = lines_of(ctx, texts, file, "texts", column)
        tokenizers = [tokenizer_of(model, fast=fast)]
        if against is not None:
            tokenizers.append(_other(against, model))
        options: dict[str, Any] = {"add_special_tokens": not no_special_tokens, "verbose": False}
        if max_length is not None:
            options.update(max_length=max_length, truncation=True)
        explained = (_explained(tokenizers, line.text, pair, options) for line in lines)
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


def _explained(tokenizers: list[Any], text: str, pair: str | None, options: dict[str, Any]) -> Any:
    first, *others = (tokenizer.explain(text, pair, **options) for tokenizer in tokenizers)
    return first.against(others[0]) if others else first


def _write_page(path: str, explained: Iterable[Any]) -> None:
    from trietok.files.whole import replacing  # only where a file is written

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

    from trietok.explaining import contrast_views, text_view

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    has_colours = console.color_system is not None and not console.no_color
    if isinstance(explained, trietok.Explanation):
        lines = text_view.lines_of(explained, console.width, bars=not has_colours)
    else:
        lines = contrast_views.lines_of(explained, console.width)
    with writing():
        if not is_first:
            console.print()
        for line in lines:
            shown = Text.assemble(*((text, _STYLES[style]) for text, style in line))
            console.print(shown, no_wrap=True, overflow="ignore", crop=False)
