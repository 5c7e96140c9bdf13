"""`apply_rows`: a model's directory with the rows that a plan says, written without PyTorch.

In: a plan and a directory as transformers saves it. Out: a new directory, with all its files or not
there at all.

The .safetensors files are read and written here rather than by the package safetensors: its numpy
interface has no bfloat16, and it wants all tensors of a file in memory before the first is written.
Here the memory holds one tensor, and blocks of the new one. The package opens each file that was
written, so that two programs agree on what it holds.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from trietok.disk import ANY_SIZE, open_regular
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    TokenizerClassError,
    VocabularyError,
    as_file_error,
    errors_naming,
)
from trietok.files.formats import CONFIG_FILE, write_json
from trietok.files.json_files import read_json_object
from trietok.files.new_directory import new_directory
from trietok.files.safetensors import ELEMENT_BYTES, Header, header_bytes, size_of
from trietok.files.save import save_files_of
from trietok.tokenizer.auto import AutoTokenizer
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.bert_fast import BertTokenizerFast
from trietok.workbench.adapting.checkpoint import (
    GENERATION_CONFIG_FILE,
    INDEX_FILE,
    Checkpoint,
    checked_model,
)
from trietok.workbench.adapting.row_blocks import ChangedTensor, RowBlocks, import_package
from trietok.workbench.adapting.row_plan import AppliedRows, RowPlan
from trietok.workbench.adapting.token_tensors import moved_ids

if TYPE_CHECKING:
    from trietok.workbench.adapting.distil import FittedRows

logger = logging.getLogger("trietok")

OnStep = Callable[[int, int], None]
_COPY_BYTES = 1 << 22


def apply_rows(
    plan: RowPlan,
    model: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
    tokenizer: Any = None,
    progress: OnStep | None = None,
) -> AppliedRows:
    """Write a model's directory anew, with the rows of its tokens as a plan says; the old one stays
    as it is.

    The input embeddings, the heads that predict tokens and their biases get the rows of the plan,
    in whatever file and type they are; every other tensor is copied byte for byte, and so is every
    row that is kept. config.json and generation_config.json get the new `vocab_size` and ids. Other
    files are copied, except the old tokenizer and weights in other formats. A plan that
    `replaces_vocabulary` is carried out too, with a warning.

    Args:
        plan: where the rows come from, as `plan_rows` tells.
        model: a directory with config.json and model.safetensors, or its shards and their index.
        output: the directory to write, which does not exist or is empty. It gets all its files in
            one step.
        also: names of tensors, or patterns such as `"*.token_scores"`, whose first axis has a row
            for each token and which trietok does not know.
        leave: names or patterns of tensors that are left as they are.
        multiple_of: what the number of rows is to be a multiple of, see `RowPlan.for_model`.
        tokenizer: the tokenizer after the change, which is saved into the new directory.
        progress: called with the bytes written so far and those to write, again and again.

    Raises:
        MissingDependencyError: numpy or safetensors is not installed.
        FileError: a file is missing, cannot be read or cannot be written, or `output` is not free.
        FileFormatError: a file of the model is damaged, or two contradict each other.
        InputError: the plan is for another tokenizer than the one in the directory, or leads to
            another than the one given; the model has fewer rows than the plan needs; a tensor of
            which nothing is known has as many rows as there are tokens; or a new row would be made
            of rows that are not finite.

    Cost: reading and writing the model once; memory for its largest tensor with token rows, and
    some blocks.
    """
    if not isinstance(plan, RowPlan):
        raise InputTypeError(f"apply_rows takes a RowPlan, not {type(plan).__name__}", value=plan)
    checkpoint, axes = checked_model(model, output, also, leave)
    check_tokenizers(plan, checkpoint, tokenizer)
    return write_rows(
        plan,
        checkpoint,
        axes,
        output,
        multiple_of=multiple_of,
        tokenizer=tokenizer,
        progress=progress,
    )


def write_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    axes: dict[str, int],
    out_dir: str | os.PathLike[str],
    *,
    multiple_of: int,
    tokenizer: Any,
    progress: OnStep | None,
    fitted: FittedRows | None = None,
) -> AppliedRows:
    """`apply_rows` for a model as `checked_model` gave it, and a plan made from the tokenizer in
    its directory.

    Rows that were fitted take the place of what the plan makes, in the input embeddings and in what
    is tied to them.
    """
    if plan.replaces_vocabulary:
        logger.warning(
            "%s is written with the rows of another vocabulary: %s", os.fspath(out_dir), plan
        )
    for_model = plan.for_model(checkpoint.rows, multiple_of)
    ids = moved_ids(checkpoint.config, for_model, where=CONFIG_FILE, tokenizer=tokenizer)
    blocks = RowBlocks(for_model)
    if fitted is not None:
        blocks.put(fitted.rows, fitted.values, checkpoint.fitted_tensors())
    writer = _Writer(checkpoint, blocks, axes, progress)
    copied, left_out = checkpoint.other_files()
    with new_directory(out_dir) as staging:
        writer.write(staging)
        write_json(
            staging / CONFIG_FILE, {**checkpoint.config, **ids, "vocab_size": for_model.rows_after}
        )
        if checkpoint.has_generation_config:
            values = read_json_object(checkpoint.directory / GENERATION_CONFIG_FILE)
            moved = moved_ids(
                values, for_model, where=GENERATION_CONFIG_FILE, tokenizer=tokenizer, is_model=False
            )
            write_json(staging / GENERATION_CONFIG_FILE, {**values, **moved})
        for name in copied:
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            with _open(checkpoint.directory / name) as old, open(staging / name, "wb") as new:
                shutil.copyfileobj(old, new, _COPY_BYTES)
        if tokenizer is not None:
            tokenizer.save_pretrained(staging)
    rows = for_model.rows_before, for_model.rows_after
    ids = {"vocab_size": for_model.rows_after, **ids}
    return AppliedRows(
        plan,
        *rows,
        writer.changed,
        ids,
        os.fspath(out_dir),
        tuple(copied),
        tuple(left_out),
        tokenizer is not None,
    )


# ---- before anything is written ------------------------------------------------------------------


def check_tokenizers(plan: RowPlan, checkpoint: Checkpoint, tokenizer: Any) -> None:
    """Raise where the plan is not between the tokenizer of the directory and the one given."""
    if not isinstance(tokenizer, (PreTrainedTokenizer, type(None))):
        raise InputTypeError(
            f"apply_rows saves a tokenizer, not {type(tokenizer).__name__}", value=tokenizer
        )
    if tokenizer is not None and tokenizer.fingerprint() != plan.after:
        raise InputError(
            f"the plan leads to the tokenizer {plan.after}, and the one given is"
            f" {tokenizer.fingerprint()}; make the plan with the tokenizer that is to be saved"
        )
    if tokenizer is not None:
        check_saving(tokenizer)
    if not checkpoint.has_tokenizer:
        return
    # Of each class that the tokenizer may have been loaded as, up to the one that the plan is for.
    loads: tuple[Callable[[Path], Any], ...] = (
        *(partial(AutoTokenizer.from_pretrained, use_fast=use_fast) for use_fast in (False, True)),
        *(BertTokenizer.from_pretrained, BertTokenizerFast.from_pretrained),
    )
    found: list[str] = []
    errors: list[Exception] = []
    for load in loads:
        try:
            found.append(load(checkpoint.directory).fingerprint())
        except (FileError, FileFormatError, TokenizerClassError, InputError) as error:
            errors.append(error)
        if plan.before in found:
            return
    if not found:
        raise errors[0]
    raise InputError(
        f"the plan is for the tokenizer {plan.before}, and {checkpoint.directory} holds {found[0]};"
        " make the plan with the tokenizer of that directory"
    )


def check_saving(tokenizer: PreTrainedTokenizer) -> None:
    """Raise what saving it would raise in the end, or loading it, before rows are fitted for hours;
    it is tried.
    """
    with tempfile.TemporaryDirectory() as folder, errors_naming("", instead_of=folder):
        save_files_of(tokenizer, folder)
        loaded = type(tokenizer).from_pretrained(folder)
    if loaded.fingerprint() != tokenizer.fingerprint():
        raise VocabularyError(
            "the tokenizer would give other ids when it is saved and loaded:"
            f" {loaded.fingerprint()}"
        )


# ---- writing -------------------------------------------------------------------------------------


class _Writer:
    """Writes the .safetensors files of a model, and their index."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        blocks: RowBlocks,
        axes: dict[str, int],
        progress: OnStep | None,
    ) -> None:
        self._checkpoint, self._blocks = checkpoint, blocks
        self._axes, self._progress = axes, progress
        self.changed: list[ChangedTensor] = []
        self._done = 0
        self._total = sum(
            size_of(tensor.dtype, self._new_shape(name, tensor.shape))
            for header in checkpoint.shards.values()
            for name, tensor in header.tensors.items()
        )

    def write(self, folder: Path) -> None:
        for name, header in self._checkpoint.shards.items():
            self._write_file(self._checkpoint.directory / name, folder / name, header)
        index = self._checkpoint.shard_index
        if index is not None:  # with the new sizes; what else it says stays
            said = index.get("metadata")
            metadata = {**(said if isinstance(said, dict) else {}), "total_size": self._total}
            if type(metadata.get("total_parameters")) is int:
                more = (math.prod(each.after) - math.prod(each.before) for each in self.changed)
                metadata["total_parameters"] += sum(more)
            write_json(folder / INDEX_FILE, {**index, "metadata": metadata})

    def _new_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        axis = self._axes.get(name)
        return shape if axis is None else (*shape[:axis], self._blocks.rows, *shape[axis + 1 :])

    def _write_file(self, source: Path, target: Path, header: Header) -> None:
        # Larger elements first: whatever the numbers of rows are, each tensor begins at a multiple
        # of its element.
        tensors = [*header.tensors.items()]
        tensors.sort(key=lambda item: (-ELEMENT_BYTES[item[1].dtype], item[1].start))
        new = {name: (each.dtype, self._new_shape(name, each.shape)) for name, each in tensors}
        with _open(source) as old, open(target, "wb") as file:
            file.write(header_bytes(new, header.metadata))
            for name, tensor in tensors:
                start, end = header.length + tensor.start, header.length + tensor.end
                blocks: Iterable[Any]
                if name in self._axes:
                    dtype, shape = new[name]
                    changed = ChangedTensor(name, tensor.shape, shape, dtype, source.name)
                    self.changed.append(changed)
                    raw = _read_bytes(old, start, end, source)
                    blocks = self._blocks.blocks(name, dtype, tensor.shape, self._axes[name], raw)
                else:
                    places = (
                        (at, min(at + _COPY_BYTES, end)) for at in range(start, end, _COPY_BYTES)
                    )
                    blocks = (_read_bytes(old, *place, source) for place in places)
                for block in blocks:
                    self._done += file.write(block)
                    if self._progress is not None:
                        self._progress(self._done, self._total)
        _check_written(target, new)


def _open(path: Path) -> BinaryIO:
    with as_file_error(f"cannot read {path}", path):
        return open_regular(path, ANY_SIZE)


def _read_bytes(file: BinaryIO, start: int, end: int, path: Path) -> bytes:
    with as_file_error(f"cannot read {path}", path):
        file.seek(start)
        raw = file.read(end - start)
    if len(raw) < end - start:
        raise FileFormatError(
            f"{path} has become shorter while it was read; copy it again", path=path
        )
    return raw


def _check_written(path: Path, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """Have the package safetensors open what was written: it checks the layout, and reads no
    tensor.
    """
    safetensors = import_package("safetensors")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise FileError(f"{path} is not as it was written: {error}", path=path) from None
    if found != {name: shape for name, (_, shape) in tensors.items()}:
        raise FileError(f"{path} is not as it was written: other tensors are there", path=path)
