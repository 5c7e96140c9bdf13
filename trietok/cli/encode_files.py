"""The command `trietok encode-files`."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

from trietok.batches.encode_files import encode_files as encode
from trietok.batches.encoding_run import EncodedFiles
from trietok.batches.on_engines import ENGINES
from trietok.cli import options
from trietok.cli.interrupts import stop_said
from trietok.cli.options import EncodingOptions, tokenizer_of
from trietok.cli.output import on_one_line, warn
from trietok.cli.progress import amount, said_regularly, shown_bars
from trietok.cli.results import write_result
from trietok.showing.characters import number_of

_COLUMNS = ("attention_mask", "token_type_ids", "special_tokens_mask")


@options.command()
@click.argument("files", nargs=-1, required=True, type=options.PATH)
@options.model
@click.option(
    "--output",
    "-o",
    type=options.PATH,
    metavar="DIR",
    required=True,
    help="The directory, or the URL of one, to write to.",
)
@options.flag(
    "--force", help="Replace files that were made with other options, or before an input changed."
)
@options.column
@options.workers
@options.max_length
@options.flag("--truncation", help="Truncate to the longest text that the model takes.")
@options.no_special_tokens
@options.names("--keep-columns", help="Also write these columns or fields, separated by commas.")
@options.names(
    "--include",
    known=_COLUMNS,
    help=f"Also write these, separated by commas: {', '.join(_COLUMNS)}.",
)
@options.fail_or_skip
@options.choice("--engine", known=ENGINES, help="Read, encode and write on this engine")
@options.name("--address", help="The address of the engine; by default it is started here.")
@options.json_lines
@options.offline
def encode_files(
    files: tuple[str, ...],
    output: str,
    model: str,
    max_length: int | None,
    truncation: bool,
    no_special_tokens: bool,
    keep_columns: list[str] | None,
    include: list[str] | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Encode files of texts into Parquet files of ids.

    FILES are .txt (one text a line), .jsonl, .csv, .tsv or .parquet files, their URLs, or quoted
    globs. All but .parquet may be compressed with gzip or zstd.

    Each file becomes one Parquet file in the output directory; small files share one, and large
    ones become several. Run the command again to continue after an error: complete files stay.

    \b
    Examples:
      trietok encode-files 'corpus/*.parquet' -o ids --max-length 512
      trietok encode-files texts.jsonl -o ids --keep-columns id --truncation
      trietok encode-files 's3://bucket/*.jsonl' -o s3://bucket/ids --workers 8
      trietok encode-files 'corpus/*.parquet' -o ids --engine ray
    """
    if options.STANDARD_INPUT in files:
        raise click.UsageError("FILES cannot be standard input; write it to a file first.")
    if settings["address"] is not None and settings["engine"] is None:
        raise click.UsageError("--address needs --engine.")
    call_options: dict[str, Any] = {f"return_{name}": True for name in include or ()}
    if truncation or max_length is not None:
        call_options |= {"truncation": True, "max_length": max_length}
    if no_special_tokens:
        call_options["add_special_tokens"] = False

    left = f"complete files stay in {on_one_line(output)}; run again to continue"
    if settings["engine"] is not None:
        left = f"remove {on_one_line(output)} before the next run"
    with stop_said(lambda: left):
        tokenizer = tokenizer_of(model)
        EncodingOptions(None, no_special_tokens, max_length).check_length(tokenizer)
        with _shown_progress() as progress:
            result = encode(
                files,
                output,
                tokenizer,
                keep_columns=keep_columns or (),
                progress=progress,
                **settings,
                **call_options,
            )
        values = dataclasses.asdict(result)
        is_limited = truncation and max_length is None
        write_result(values, as_json, lambda: _summary(output, result, is_limited))
        limit = result.limit
        if limit is not None and result.longest > limit.tokens:
            warn(
                f"the longest row has {result.longest:,} tokens, and the model takes"
                f" {limit.tokens:,} ({limit.where}); --truncation truncates"
            )


def _summary(output: str, result: EncodedFiles, is_limited: bool) -> Iterator[str]:
    counts = [number_of(result.rows, "row")]
    if result.tokens:
        counts.append(number_of(result.tokens, "token"))
    if result.encoded_bytes:
        counts.append(f"{result.encoded_bytes / result.seconds / 1e6:.1f} MB/s")
    is_complete = 0 < len(result.paths) == result.kept
    beginning = f"nothing to do, {output} is complete" if is_complete else f"written to {output}"
    yield f"{beginning}: {', '.join(counts)}"
    if is_limited and result.limit is not None:
        yield f"texts truncated to {result.limit.tokens:,} tokens ({result.limit.where})"
    if result.kept and not is_complete:
        yield f"{number_of(result.kept, 'file')} of earlier runs kept"
    if result.replaced:
        yield f"{number_of(result.replaced, 'file')} of earlier runs replaced"
    if result.skipped:
        yield f"{number_of(result.skipped, 'row')} skipped, listed in:"
        yield from (f"  {path}" for path in result.skipped_lists)


@contextlib.contextmanager
def _shown_progress() -> Iterator[Callable[[EncodedFiles], None]]:
    """Show the state of a run: a bar on a terminal, else a line from time to time."""
    start, line = time.monotonic(), "encoding: the first files"

    def show(state: EncodedFiles) -> None:
        nonlocal line
        rate = amount(state.encoded_bytes / max(time.monotonic() - start, 1e-9), "bytes")
        done = amount(state.done_bytes, "bytes", state.input_bytes)
        line = f"encoding: {done}, {number_of(state.rows, 'row')}, {rate}/s"
        if bars is not None:
            bars.show("encoding", state.done_bytes, state.input_bytes, "bytes", f"{rate}/s")

    with shown_bars(transient=True) as bars, contextlib.ExitStack() as stack:
        if bars is None:
            stack.enter_context(said_regularly(lambda: line))
        else:
            bars.show("encoding", 0, None, "bytes", rate="starting")
        yield show
