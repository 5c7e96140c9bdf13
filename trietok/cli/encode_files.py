"""`trietok encode-files`: files of texts to Parquet files of ids, on all cores, to be resumed."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from trietok.cli import options
from trietok.cli.interrupts import stop_said
from trietok.cli.options import EncodingOptions, tokenizer_of
from trietok.cli.output import FOUND, on_one_line, warn
from trietok.cli.progress import amount, said_regularly, shown_bars
from trietok.cli.results import write_result
from trietok.batches.encode_files import encode_files as encode
from trietok.showing.characters import number_of

if TYPE_CHECKING:
    from trietok.batches.encode_files import RunProgress

_MEGABYTE = 1_000_000
_MOST_NAMED = 20  # files
_COLUMNS = ("attention_mask", "token_type_ids", "special_tokens_mask")


def _finite(ctx: click.Context, parameter: click.Parameter, size: float | None) -> float | None:
    if size is not None and not math.isfinite(size):
        raise click.BadParameter(f"{size} is no size; give a number of megabytes")
    return size


@options.command()
@click.argument("files", nargs=-1, required=True, type=options.PATH)
@options.model
@options.writes("The directory to write.")
@options.column
@options.workers
@options.max_length
@options.flag("--truncation", help="Truncate to the longest sequence that the model takes.")
@options.no_special_tokens
@options.names(
    "--keep-columns", help="Copy these columns or keys, separated by commas, to the rows of ids."
)
@options.names(
    "--include",
    known=_COLUMNS,
    help=f"Also write these, separated by commas: {', '.join(_COLUMNS)}.",
)
@options.fail_or_skip
@options.name(
    "--most-skipped",
    metavar="N|P%",
    help="With --on-error skip: fail where more than N rows, or P %, are left out.",
)
@options.flag(
    "--resume", help="Go on with the run at --output; shards of files that are not among FILES go."
)
@options.flag(
    "--verify", help="With --resume: find damaged shards and changed files by their checksums."
)
@options.number(
    "--shard-size",
    type=click.FloatRange(min=0.000001),
    metavar="MB",
    help=(
        "About how much text goes into a shard, in 10^6 bytes; by default 16, from 2 GB of text on"
        " 128."
    ),
    callback=_finite,
)
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
    resume: bool,
    shard_size: float | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Encode files of texts into Parquet files of ids.

    FILES are .txt (one text a line), .jsonl, .csv, .tsv or .parquet files, or quoted globs; all but
    .parquet may be compressed with gzip or zstd. They are listed first and read by the workers, so
    standard input is none of them.

    A shard appears only once it is complete; manifest.json is written last. --resume continues an
    interrupted run; the result is the same, byte for byte, whatever the number of workers.

    \b
    Examples:
      trietok encode-files 'corpus/*.parquet' -o ids --max-length 512
      trietok encode-files texts.jsonl -o ids --keep-columns id --resume
      trietok encode-files 's3://corpus/*.jsonl' -o ids
    """
    if how["verify"] and not resume:
        raise click.UsageError("--verify needs --resume.")
    if options.STANDARD_INPUT in files:
        raise click.UsageError(
            "Workers read FILES, so standard input is none of them; write it to a file first."
        )
    before = _names_in(output)

    def left() -> str:
        if resume or _names_in(output) != before:
            where = on_one_line(output)
            return f"finished shards stay in {where}, and --resume continues with the rest"
        return "nothing was written"

    with stop_said(left):
        tokenizer = tokenizer_of(model)
        settings: dict[str, Any] = {}
        if truncation or max_length is not None:
            settings = {"truncation": True, "max_length": max_length}
        if no_special_tokens:
            settings["add_special_tokens"] = False
        EncodingOptions(None, no_special_tokens, max_length).check_length(tokenizer)
        settings.update({f"return_{name}": True for name in include or ()})
        with _progress() as (noted, seen):
            manifest = encode(
                files,
                output,
                tokenizer,
                keep_columns=keep_columns or (),
                resume=resume,
                shard_bytes=None if shard_size is None else max(int(shard_size * _MEGABYTE), 1),
                progress=noted,
                **how,
                **settings,
            )
        totals = manifest["totals"]
        removed = dict(seen[-1].removed) if seen else {}
        values = {
            "output": output,
            "shards": _shards_in(manifest),
            **totals,
            "set_aside": manifest["set_aside"],
        }
        values |= {"removed": removed} if resume else {}
        kept = sum(state.kept for state in seen) if resume else None
        write_result(values, as_json, lambda: _summary(output, manifest, kept, removed))
        limit = tokenizer.model_max_length
        if not settings.get("truncation") and totals["longest_text"] > limit:
            warn(
                f"the longest text has {totals['longest_text']:,} tokens, more than the {limit:,}"
                " the model takes; --truncation truncates"
            )
        if manifest["set_aside"]:
            raise click.exceptions.Exit(FOUND)


def _names_in(directory: str) -> set[str]:
    try:
        return set(os.listdir(directory))
    except (OSError, ValueError):  # it is not there, or no directory can have that name
        return set()


def _shards_in(manifest: dict[str, Any]) -> int:
    """How many shards have rows."""
    return sum("file" in shard for shard in manifest["shards"])


def _summary(
    output: str, manifest: dict[str, Any], kept: int | None, removed: dict[str, int]
) -> Iterator[str]:
    """What was made; `kept` shards were there before, None where that was not to be expected;
    `removed` by file.
    """
    totals = manifest["totals"]
    texts, tokens = number_of(totals["rows"], "text"), number_of(totals["tokens"], "token")
    yield f"written to {output}: {texts}, {tokens} in {number_of(_shards_in(manifest), 'shard')}"
    if kept is not None:
        yield f"kept from earlier runs: {number_of(kept, 'shard')}"
    for name, number in itertools.islice(removed.items(), _MOST_NAMED):
        yield (
            f"removed: {number_of(number, 'shard')} of {name}, which is not among the files any"
            " more"
        )
    if len(removed) > _MOST_NAMED:
        yield (
            f"removed: the shards of {len(removed) - _MOST_NAMED:,} more files that are not among"
            " the files any more"
        )
    if totals["rejected"]:
        yield (
            f"kept aside: {number_of(totals['rejected'], 'row')} without text, listed in"
            " rejects.jsonl"
        )
    missing = manifest["set_aside"]
    if missing:
        yield (
            f"missing: {number_of(len(missing), 'file')} that cannot be read; repaired, --resume"
            " encodes them"
        )
    for file in missing[:_MOST_NAMED]:
        yield f"  {file['reason']}"
    if len(missing) > _MOST_NAMED:
        yield (
            f"  ... and {len(missing) - _MOST_NAMED:,} more, listed in manifest.json under"
            " set_aside"
        )


@contextlib.contextmanager
def _progress() -> Iterator[tuple[Callable[[RunProgress], None], list[RunProgress]]]:
    """What to call with each state, and a list of the last one: a bar on a terminal, else a line
    from time to time.
    """
    began, line = time.monotonic(), "encoding: reading the first files"
    seen: list[RunProgress] = []

    def note(state: RunProgress) -> None:
        nonlocal line
        seen[:] = [state]
        seconds = max(time.monotonic() - began, 1e-9)
        # The rate is that of texts, which take more room than compressed files.
        rate = (
            f"{amount(state.text_bytes / seconds, 'bytes')}/s "
            f" {amount(state.tokens / seconds, 'tokens')}/s"
        )
        done = amount(state.done_bytes, "bytes", state.all_bytes)
        line = f"encoding: {done}, {number_of(state.shards, 'shard')}, {rate}"
        if bars is not None:
            bars.show("encoding", state.done_bytes, state.all_bytes, "bytes", rate)

    with shown_bars(transient=True) as bars, contextlib.ExitStack() as stack:
        if bars is None:
            stack.enter_context(said_regularly(lambda: line))
        else:
            bars.show("encoding", 0, None, "bytes", rate="starting")
        yield note, seen
