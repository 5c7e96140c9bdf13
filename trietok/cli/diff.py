"""`trietok diff`: whether two tokenizers give the same ids, and what differs.

The exit codes are those of diff(1): 0 for the same ids, 1 for a difference, 2 for trouble.
"""

from __future__ import annotations

import click

import trietok
from trietok.cli import options
from trietok.cli.options import lines_of, tokenizer_of
from trietok.cli.output import json_line, on_terminal, reporting, visible, write_line, writing

_DIFFERENT, _TROUBLE = 1, 2
_OLD, _NEW = "red", "green"


@click.command()
@click.argument("a", type=options.PATH, metavar="OLD")
@click.argument("b", type=options.PATH, metavar="NEW")
@click.option(
    "--texts",
    "-t",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Compare on the texts of a .txt, .jsonl or .parquet file; - is standard input. May be repeated. Without it, "
    "use a built-in sample.",
)
@options.column
@options.json_lines
@options.offline
@click.pass_context
def diff(ctx: click.Context, a: str, b: str, texts: tuple[str, ...], column: str, as_json: bool) -> None:
    """Compare two tokenizers, and show what differs.

    OLD and NEW are directories, vocab.txt files, built-in names or names on the hub. The exit code is 0 if all ids are
    the same, 1 if any differ, and 2 for an error.

    \b
    Examples:
      trietok diff trietok-en trietok-multi
      trietok diff old-tokenizer new-tokenizer --texts texts.txt
    """
    with reporting(_TROUBLE):
        old, new = (tokenizer_of(name) for name in (a, b))
        given = (line.text for line in lines_of(ctx, (), texts, "texts", column)) if texts else None
        comparison = trietok.compare(old, new, given)
        if as_json:
            write_line(json_line(comparison.to_dict()))
        elif on_terminal():
            _write_tables(comparison)
        else:
            write_line(str(comparison))
    if not comparison.same_ids:
        raise click.exceptions.Exit(_DIFFERENT)


def _write_tables(comparison: trietok.Comparison) -> None:
    """For a terminal: a table for each kind of difference, what was in red, what is in green."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        console.print(Text(comparison.summary, style="bold green" if comparison.same_ids else "bold red"))
        heads = zip(("old", "new"), (_OLD, _NEW), comparison.names, comparison.fingerprints, strict=True)
        for side, style, name, line in heads:
            console.print(Text.assemble((f"{side} ", style), f"{visible(name)} ", (line, "dim")), soft_wrap=True)
        for section in comparison.sections():
            console.print()
            console.print(Text(section.title, style="bold"))
            table = Table.grid(padding=(0, 2))
            for what, old, new in section.rows:
                if section.stacked:
                    for mark, line, style in ((" ", what, ""), ("-", old, _OLD), ("+", new, _NEW)):
                        table.add_row(Text(f"  {mark} {line}", style=style))
                else:
                    table.add_row(Text(f"  {what}"), Text(old, style=_OLD), Text(new, style=_NEW))
            console.print(table)
            if section.left_out:
                console.print(Text(f"  ... and {section.left_out} more", style="dim"))
        if not comparison.differing:
            console.print(Text(f"{comparison.texts} texts encoded, all alike", style="dim"))
        console.print()
        console.print(Text(comparison.proof, style="bold"))
