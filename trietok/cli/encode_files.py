"""`trietok encode-files`: a corpus of files to files of ids, on all cores, to be resumed."""
# ruff: noqa: UP045

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from trietok.cli.inputs import tokenizer_of
from trietok.cli.options import DEFAULT_MODEL, MaxLength, Model, NoSpecialTokens
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import amount, shown_bars
from trietok.cli.reporting import reporting, warn
from trietok.showing.lists import number_of

if TYPE_CHECKING:
    from trietok.corpus.encode_files import Progress

_MEGABYTE = 1_000_000
_MOST_NAMED = 20  # files


def _finite(size: float) -> float:
    if not math.isfinite(size):
        raise typer.BadParameter(f"{size} is no size; give a number of megabytes")
    return size


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help=".parquet, .jsonl, .txt, the latter two also as .gz or .zst; globs between quotes.",
        show_default=False,
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="The directory to fill.", show_default=False)
]
Column = Annotated[str, typer.Option("--column", metavar="NAME", help="The column of Parquet, or key of JSON.")]
Workers = Annotated[
    Optional[int],
    typer.Option("--workers", min=1, metavar="N", help="Shards at once; without it, one a core.", show_default=False),
]
Format = Annotated[str, typer.Option("--format", metavar="NAME", help="parquet, npy or bin.")]
Pack = Annotated[
    Optional[int],
    typer.Option("--pack", min=1, metavar="N", help="Join the texts, and cut them every N ids.", show_default=False),
]
DropLast = Annotated[
    bool, typer.Option("--drop-last", help="With --pack: leave out a shard's last block where it is shorter.")
]
Truncation = Annotated[bool, typer.Option("--truncation", help="Truncate to what the model takes.")]
OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="WHAT",
        help="fail, or skip: set aside rows without text and files that cannot be read.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the run that the directory holds: encode what it lacks of FILEs.")
]
Verify = Annotated[
    bool, typer.Option("--verify", help="With --resume: find damaged shards and changed files by their checksums.")
]
ShardSize = Annotated[
    float,
    typer.Option(
        "--shard-size",
        min=0.000001,
        metavar="MB",
        help="Text in a shard, in 10^6 bytes, about.",
        callback=_finite,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write the totals as one JSON object.")]


def encode_files(
    ctx: typer.Context,
    files: Files,
    output: Output,
    model: Model = DEFAULT_MODEL,
    column: Column = "text",
    workers: Workers = None,
    file_format: Format = "parquet",
    pack: Pack = None,
    drop_last: DropLast = False,
    max_length: MaxLength = None,
    truncation: Truncation = False,
    no_special_tokens: NoSpecialTokens = False,
    on_error: OnError = "fail",
    resume: Resume = False,
    verify: Verify = False,
    shard_size: ShardSize = 16,
    as_json: AsJson = False,
) -> None:
    """Turn the texts of files into files of ids.

    Shards come into place whole, with a manifest at the end. What is interrupted goes on with --resume, and its result
    is the same, byte for byte, however many workers there are.
    """
    if verify and not resume:
        ctx.fail("--verify goes with --resume.")
    with reporting(), _stop_said(output, resume):
        from trietok.corpus.encode_files import encode_files as encode  # long to import, and Ctrl-C may come meanwhile

        tokenizer = tokenizer_of(model)
        options: dict[str, Any] = {}
        if truncation or max_length is not None:
            options = {"truncation": True, "max_length": max_length}
        if no_special_tokens:
            options["add_special_tokens"] = False
        kept = 0

        def noted(state: Progress) -> None:
            nonlocal kept
            kept = state.kept
            if shown is not None:
                shown(state)

        with _progress() as shown:
            manifest = encode(
                files,
                output,
                tokenizer,
                column=column,
                workers=workers,
                file_format=file_format,
                pack=pack,
                drop_last=drop_last,
                on_error=on_error,
                resume=resume,
                verify=verify,
                shard_bytes=max(int(shard_size * _MEGABYTE), 1),
                progress=noted,
                **options,
            )
        totals = manifest["totals"]
        if as_json:
            numbers = {"shards": len(manifest["shards"]), **totals, "set_aside": manifest["set_aside"]}
            write_line(json_line({"output": output, **numbers}))
        else:
            for line in _summary(output, manifest, kept if resume else None):
                write_line(visible(line))
        limit = tokenizer.model_max_length
        if not options.get("truncation") and pack is None and totals["longest_text"] > limit:
            warn(
                f"the longest text has {totals['longest_text']:,} tokens, more than the {limit:,} the model takes; "
                "--truncation truncates"
            )


@contextlib.contextmanager
def _stop_said(output: str, resume: bool) -> Iterator[None]:
    """Where Ctrl-C stops the run, say what is there and how to go on."""
    before = _names_in(output)
    try:
        yield
    except KeyboardInterrupt:
        if resume or _names_in(output) != before:
            left = f"finished shards stay in {visible(output)}, and --resume goes on with the rest"
        else:
            left = "nothing was written"
        print(f"trietok: stopped; {left}", file=sys.stderr, flush=True)
        raise


def _names_in(directory: str) -> set[str]:
    try:
        return set(os.listdir(directory))
    except (OSError, ValueError):  # it is not there, or no directory can have that name
        return set()


def _summary(output: str, manifest: dict[str, Any], kept: int | None) -> Iterator[str]:
    """What was made; `kept` shards were there before, None where that was not to be expected."""
    totals = manifest["totals"]
    texts, tokens, rows = (number_of(totals[f"{one}s"], one) for one in ("text", "token", "row"))
    yield f"{output}: {texts}, {tokens}, {rows} in {number_of(len(manifest['shards']), 'shard')}"
    if kept is not None:
        yield f"there already: {number_of(kept, 'shard')}"
    if totals["dropped_tokens"]:
        yield f"left out at the ends of shards: {number_of(totals['dropped_tokens'], 'token')}"
    if totals["rejected"]:
        yield f"kept aside: {number_of(totals['rejected'], 'row')} without text, listed in rejects.jsonl"
    missing = manifest["set_aside"]
    if missing:
        yield f"missing: {number_of(len(missing), 'file')} that cannot be read; repaired, --resume encodes them"
    for file in missing[:_MOST_NAMED]:
        yield f"  {file['reason']}"
    if len(missing) > _MOST_NAMED:
        yield f"  ... and {len(missing) - _MOST_NAMED:,} more, listed in manifest.json under set_aside"


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Progress], None] | None]:
    """What to pass as `progress`."""
    with shown_bars(transient=True) as bars:
        if bars is None:
            yield None
            return
        began = time.monotonic()
        bars.show("encoding", 0, None, "bytes", rate="starting")

        def show(state: Progress) -> None:
            seconds = max(time.monotonic() - began, 1e-9)
            # The rate is that of texts, which take more room than compressed files.
            rate = f"{amount(state.text_bytes / seconds, 'bytes')}/s  {amount(state.tokens / seconds, 'tokens')}/s"
            bars.show("encoding", state.done_bytes, state.all_bytes, "bytes", rate)

        yield show
