"""`trietok docs`: the pages of the documentation, which a wheel holds too, as text."""

from __future__ import annotations

from pathlib import Path

import click

import trietok
from trietok.cli import options
from trietok.cli.app import PAGES
from trietok.cli.output import no_such, on_terminal, write_line


@options.command()
@click.argument("page", required=False)
@click.pass_context
def docs(ctx: click.Context, page: str | None) -> None:
    """Show a page of the documentation, by its name or by that of a command; without either, list the pages.

    \b
    Examples:
      trietok docs
      trietok docs get_started
      trietok docs encode-files
    """
    package = Path(trietok.__file__).parent
    folder = next(each for each in (package / "docs", package.parent / "docs") if each.is_dir())  # of a wheel, or here
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md"))}
    text = texts.get(PAGES.get(page or "", page or ""))
    if page and text is None:
        raise no_such("page", page, [*texts, *PAGES], ctx)
    if text is None:
        for name, each in texts.items():
            write_line(f"{name:21} {each.partition(chr(10))[0].removeprefix('# ')}")
    elif on_terminal():
        click.echo_via_pager(text)
    else:
        write_line(text.rstrip("\n"))
