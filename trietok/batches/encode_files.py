"""Encode files of texts into Parquet files of ids, on the cores of one machine or on an engine."""

from __future__ import annotations

import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from trietok.batches.encoding_run import FORMAT, EncodedFiles, Job, Limit, Run
from trietok.batches.on_engines import encode_on_engine
from trietok.batches.output_directory import OutputDirectory
from trietok.batches.tokenize_batch import TokenizeBatch, check_names, suggesting_options_of
from trietok.batches.units import inputs_of
from trietok.cores import cores
from trietok.errors import FileError, InputError, OptionError
from trietok.files.formats import TOKENIZER_CONFIG_FILE
from trietok.files.json_files import read_json_object
from trietok.files.model_files import find_files
from trietok.files.stores import expanded
from trietok.files.texts import DEFAULT_COLUMN
from trietok.tokenizer.fingerprint import fingerprint

_SENTENCE_CONFIG_FILE = "sentence_bert_config.json"
_UNLIMITED = 10**9  # a model_max_length above it means none


def encode_files(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    tokenizer: Any,
    *,
    column: str = DEFAULT_COLUMN,
    keep_columns: Sequence[str] = (),
    workers: int | None = None,
    on_error: str = "fail",
    force: bool = False,
    engine: str | None = None,
    address: str | None = None,
    progress: Callable[[EncodedFiles], None] | None = None,
    **call_options: Any,
) -> EncodedFiles:
    """Encode the texts of files into Parquet files of ids.

    Each input becomes one Parquet file with the column `input_ids`, list<int32>. An output of more
    than about 256 MB is written in parts, an input of more than 128 MB is split, and inputs below
    1 MB share outputs. An output appears when it is complete. A later run skips complete outputs,
    so an interrupted run can be continued.

    Args:
        files: paths, globs or fsspec URLs, or one of them: `.txt` (a text a line), `.jsonl`,
            `.csv`, `.tsv`, also compressed as `.gz` or `.zst`, and `.parquet`.
        output: a directory, or a URL of a directory.
        tokenizer: encodes the texts.
        column: the column of the tables, or the field of the JSON objects, that holds the texts.
        keep_columns: columns or fields to write next to the ids.
        workers: number of processes; by default one a core. A script that uses several calls this
            under `if __name__ == "__main__":`.
        on_error: what to do with a row that holds no text: `"fail"`, or `"skip"` to leave it out
            and list it in `_NAME.skipped.jsonl`.
        force: replace outputs of these inputs that were made with other options, or before an
            input changed.
        engine: `"ray"` or `"spark"` to read, encode and write there, with the engine's own readers.
        address: the engine's address; by default it is started on this machine.
        progress: called after each output with the state of the run.
        **call_options: options of the tokenizer's call. `return_attention_mask=True` and the like
            add columns, see `TokenizeBatch`. With `truncation` and without `max_length`, texts are
            truncated to the model's limit: `max_seq_length` in its sentence_bert_config.json, or
            the tokenizer's `model_max_length`.

    Raises:
        FileError, FileFormatError: a file cannot be read or written, or a row holds no text;
            complete outputs stay.
        InputError: an option is wrong, or outputs do not fit the inputs and options.
        TrietokError: a worker process was killed, or the engine failed.

    >>> import pathlib, tempfile, trietok
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("The people\\nof the United States\\n")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> result = encode_files(folder / "a.txt", folder / "ids", tokenizer)
    >>> result.rows, result.tokens, [pathlib.Path(path).name for path in result.paths]
    (2, 10, ['a.txt.parquet'])
    """
    _check_options(on_error, workers, call_options)
    if engine is not None:
        _check_engine_options(on_error=on_error != "fail", force=force, workers=workers is not None)
    check_names("keep_columns", keep_columns)
    keep_columns = list(dict.fromkeys(keep_columns or ()))
    limit, options = _limited(tokenizer, call_options)
    with suggesting_options_of(encode_files):
        tokenize = TokenizeBatch(tokenizer, column, keep_columns=keep_columns, **options)
    names = list(expanded([files] if isinstance(files, (str, os.PathLike)) else files))
    if engine is not None:
        start = time.monotonic()
        rows = encode_on_engine(engine, address, names, os.fspath(output), tokenize)
        seconds = time.monotonic() - start
        return EncodedFiles((os.fspath(output),), rows, seconds=seconds, limit=limit)
    directory, inputs = OutputDirectory(output), inputs_of(names)
    directory.check_inputs(inputs)
    for source in inputs:
        if source.kind == "txt" and keep_columns:
            raise InputError(
                f"{source.name} has lines and no columns to keep (keep_columns, --keep-columns)"
            )
    job = Job(tokenize, on_error == "skip", _record_of(tokenizer, tokenize))
    with directory.opened():
        run = Run(job, directory, inputs, EncodedFiles(limit=limit), progress)
        run.keep_outputs(force)
        run.encode(workers or cores())
    return run.state


def _check_options(on_error: str, workers: int | None, call_options: dict[str, Any]) -> None:
    if on_error not in ("fail", "skip"):
        raise InputError(f"on_error is {on_error!r}; choose 'fail' or 'skip'")
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(f"workers is {workers!r}; it is a whole number from 1")
    if "pair_column" in call_options:
        message = "encode_files encodes single texts; use TokenizeBatch for pairs"
        raise OptionError(message, name="pair_column")


def _check_engine_options(**is_set: bool) -> None:
    for name, value in is_set.items():
        if value:
            raise InputError(f"an engine does not support {name}; leave it out")


def _limited(tokenizer: Any, call_options: dict[str, Any]) -> tuple[Limit | None, dict[str, Any]]:
    """Return the model's limit, and the options of the call, which truncates to it."""
    options = {
        **dict.fromkeys(("return_token_type_ids", "return_attention_mask"), False),
        **call_options,
        "verbose": False,
    }
    is_limited = options.get("truncation") and options.get("max_length") is None
    try:
        limit = model_limit(tokenizer)
    except FileError:  # the files are gone, or the hub does not respond
        if is_limited:
            raise
        limit = None
    if is_limited and limit is not None:
        options["max_length"] = limit.tokens
    return limit, options


def model_limit(tokenizer: Any) -> Limit | None:
    """Return how many tokens the model of a tokenizer takes; None if that is not stated.

    This is `max_seq_length` in the sentence_bert_config.json next to the tokenizer, which
    sentence-transformers writes, or the tokenizer's `model_max_length`.
    """
    name = getattr(tokenizer, "name_or_path", "")
    if name:
        paths = find_files(name, [TOKENIZER_CONFIG_FILE, _SENTENCE_CONFIG_FILE]).found
        path = paths.get(_SENTENCE_CONFIG_FILE)
        length = None if path is None else read_json_object(path).get("max_seq_length")
        if type(length) is int and length > 0:
            return Limit(length, f"max_seq_length in {_SENTENCE_CONFIG_FILE}")
    length = getattr(tokenizer, "model_max_length", None)
    if not isinstance(length, (int, float)) or length > _UNLIMITED:
        return None
    return Limit(int(length), "model_max_length of the tokenizer")


def _record_of(tokenizer: Any, tokenize: TokenizeBatch) -> dict[str, Any]:
    options = {name: _as_json(value) for name, value in tokenize.call_options.items()}
    options |= {"column": tokenize.column, "keep_columns": list(tokenize.keep_columns or ())}
    return {
        "format": FORMAT,
        "tokenizer": {
            "class": type(tokenizer).__name__,
            "fingerprint": fingerprint(tokenizer),
            "truncation_side": tokenizer.truncation_side,
            "Unicode version": unicodedata.unidata_version,
        },
        "options": options,
    }


def _as_json(value: Any) -> Any:
    is_json = value is None or isinstance(value, (str, int, float))
    return value if is_json and not isinstance(value, Enum) else str(value)
