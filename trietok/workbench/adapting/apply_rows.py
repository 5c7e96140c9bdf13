"""`apply_rows`: a model's directory with the rows that a plan says, written without PyTorch.

In: a plan and a directory as transformers saves it. Out: a new directory, with all its files or not
there at all.

The .safetensors files are read and written here rather than by the package safetensors: its numpy
interface has no bfloat16, and it wants all tensors of a file in memory before the first is written.
Here the memory holds one tensor, and blocks of the new one. The package opens each file that was
written, so that two programs agree on what it holds.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from trietok.disk import ANY_SIZE, open_regular
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    TokenizerClassError,
    VocabularyError,
    as_file_error,
)
from trietok.files.atomic import checked_new, new_directory
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    write_json,
)
from trietok.files.json_files import read_json_object
from trietok.files.model_files import BUILT_IN_NAMES
from trietok.files.safetensors import (
    ELEMENT_BYTES,
    Header,
    SafetensorsError,
    check_layout,
    header_bytes,
    read_header,
    size_of,
)
from trietok.files.save import save_files_of
from trietok.log import renamed, warning
from trietok.tokenizer.auto import AutoTokenizer
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.bert_fast import BertTokenizerFast
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.workbench.adapting.row_blocks import (
    AppliedRows,
    ChangedTensor,
    RowBlocks,
    import_package,
    moved_ids,
    token_axes,
    token_axis,
)
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.sentence_modules import SENTENCES_FILE, WEIGHTS_FILE, is_inside, read_modules

if TYPE_CHECKING:
    from trietok.workbench.adapting.distil import FittedRows

# ---- a model's directory as transformers saves it; of weights only the headers are read ----------

INDEX_FILE = "model.safetensors.index.json"
GENERATION_CONFIG_FILE = "generation_config.json"
TOKENIZER_FILES = frozenset(
    (VOCAB_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE)
)
# Files whose names end so hold weights, or what belongs to them while a model is trained.
_WEIGHTS = (
    *(
        ".safetensors",
        ".safetensors.index.json",
        ".bin",
        ".bin.index.json",
        ".h5",
        ".msgpack",
        ".onnx",
        ".onnx_data",
    ),
    *(".pt", ".pth", ".ckpt", ".tflite", ".ot", ".gguf", ".npz", ".pb", ".mlmodel"),
)
UNLIMITED = 1 << 30  # tokens: what a tokenizer of which nothing is known takes is more


class Checkpoint(NamedTuple):
    """What stands in a model's directory."""

    directory: Path
    config: dict[str, Any]  # config.json
    shards: dict[str, Header]  # file name → header, for each .safetensors file of the model
    shard_index: dict[str, Any] | None  # model.safetensors.index.json; None where there is one file
    rows: int  # how many rows for tokens the model has, by its configuration

    @property
    def places(self) -> dict[str, str]:
        """Tensor → file."""
        return {name: file for file, header in self.shards.items() for name in header.tensors}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Tensor → shape."""
        return {
            name: tensor.shape
            for header in self.shards.values()
            for name, tensor in header.tensors.items()
        }

    @property
    def has_tokenizer(self) -> bool:
        """Whether the directory holds a tokenizer, too."""
        return any((self.directory / name).is_file() for name in (VOCAB_FILE, TOKENIZER_FILE))

    @property
    def has_generation_config(self) -> bool:
        """Whether the directory holds one of its own: all that it says would be written anew."""
        name = GENERATION_CONFIG_FILE
        return (self.directory / name).is_file() and is_inside(self.directory, name)

    def most_tokens(self, tokenizer: PreTrainedTokenizer) -> int:
        """How many tokens the model takes at once, special ones included, by its files and its
        tokenizer.
        """
        # what its class counts positions from
        first = 2 if self.config.get("model_type") == "mpnet" else 0
        sentences = self.directory / SENTENCES_FILE
        said = [
            (self.config.get("max_position_embeddings"), first),
            (tokenizer.model_max_length, 0),
        ]
        said += (
            [(read_json_object(sentences).get("max_seq_length"), 0)] if sentences.is_file() else []
        )
        limits = [
            int(limit) - less
            for limit, less in said
            if isinstance(limit, (int, float)) and limit > less
        ]
        return min([UNLIMITED, *limits])

    def fitted_tensors(self) -> tuple[list[str], list[str], list[str]]:
        """What can be fitted: the tensor with the input embeddings and those of its shape that the
        configuration ties to it; rows of a head that are its own; and biases of a head.

        Raises:
            InputError: there is no such tensor, or more than one.
        """
        found = [name for name in self.shapes if name.endswith("word_embeddings.weight")]
        if len(found) != 1:
            raise InputError(
                f"{self.directory} has {len(found)} tensors word_embeddings.weight, and rows are"
                " fitted where there is one; start new rows with 'length'"
            )
        rows, width = self.shapes[found[0]]
        of = {
            name: shape
            for name, shape in self.shapes.items()
            if token_axis(name) == 0 and name not in found
        }
        heads, biases = (
            [name for name in of if of[name] == shape] for shape in ((rows, width), (rows,))
        )
        if self.config.get("tie_word_embeddings", True) is False:
            return found, heads, biases
        return found + heads, [], biases

    def other_files(self) -> tuple[list[str], list[str]]:
        """The files beside the model's and the tokenizer's own: those that stay true, and those
        that do not.

        What a symbolic link brings from outside the directory is of the latter: it may be any file
        of this machine. A link into the blobs of a hub's cache, of which the directory is a
        snapshot, stays inside.

        Weights stay true only in the folders of a sentence-transformers model, such as `2_Dense`;
        elsewhere they are weights of the same model, and what lies beside them in a folder speaks
        of it. Hidden files, and what is no regular file, are none of either.
        """
        own = {
            CONFIG_FILE,
            *self.shards,
            *TOKENIZER_FILES,
            *([INDEX_FILE] if self.shard_index else []),
        }
        own |= {GENERATION_CONFIG_FILE} if self.has_generation_config else set()
        modules = {
            (module.folder or "").split("/")[0] for module in read_modules(self.directory)[0]
        } - {""}
        others = sorted(name for name in _files(self.directory) if name not in own)
        weights = {
            name for name in others if name.endswith(_WEIGHTS) and name.split("/")[0] not in modules
        }
        folders = {os.path.dirname(name) for name in weights} - {""}
        lists: tuple[list[str], list[str]] = [], []
        for name in others:
            is_true = name not in weights and os.path.dirname(name) not in folders
            lists[0 if is_true and is_inside(self.directory, name) else 1].append(name)
        return lists


def read_checkpoint(directory: str | os.PathLike[str]) -> Checkpoint:
    """Read what a model's directory says of itself.

    A missing or unreadable file is a `FileError`; one that is damaged, or contradicts another, a
    `FileFormatError`.
    """
    path = Path(directory)
    wrong = None
    if not path.is_dir():
        absent = (
            "is a built-in vocabulary without a model"
            if str(path) in BUILT_IN_NAMES
            else "is not there"
        )
        wrong = "is no directory" if os.path.lexists(path) else absent
    elif not os.path.lexists(path / CONFIG_FILE):
        wrong = f"has no {CONFIG_FILE}"
    if wrong is not None:
        raise FileError(
            f"{path} {wrong}; give the directory of a model, with its config.json and weights",
            path=path,
        )
    config = read_json_object(path / CONFIG_FILE)
    rows = config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        said = f"vocab_size {rows!r:.40}" if "vocab_size" in config else "no vocab_size"
        raise FileFormatError(
            f"{path / CONFIG_FILE} has {said}; it says there how many rows for tokens the"
            " model has",
            path=path,
        )
    index, names = None, [WEIGHTS_FILE]
    if not (path / WEIGHTS_FILE).is_file() and os.path.lexists(path / INDEX_FILE):
        index = read_json_object(path / INDEX_FILE)
        names = _shard_names(index, path / INDEX_FILE)
    elif not os.path.lexists(path / WEIGHTS_FILE):
        raise _no_weights(path, config)
    shards = {name: _header(path / name, index is not None) for name in names}
    checkpoint = Checkpoint(path, config, shards, index, rows)
    if index is not None:
        _check_index(checkpoint, index)
    return checkpoint


def _header(path: Path, is_shard: bool) -> Header:
    try:
        with as_file_error(f"cannot read {path}", path):
            header = read_header(path)
        check_layout(header)
        return header
    except SafetensorsError as error:
        raise FileFormatError(f"{path}: {error}; copy it again", path=path) from None
    except FileError as error:
        if not is_shard or not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise FileError(
            f"{path} is missing, and {INDEX_FILE} names it; copy the model again", path=path
        ) from None


def _shard_names(index: dict[str, Any], path: Path) -> list[str]:
    weights = index.get("weight_map")
    if (
        not isinstance(weights, dict)
        or not weights
        or not all(isinstance(name, str) for name in weights.values())
    ):
        raise FileFormatError(f'{path} has no "weight_map" from tensors to files', path=path)
    names = sorted(set(weights.values()))
    for name in names:
        if os.path.basename(name) != name or not name.endswith(".safetensors") or "\0" in name:
            raise FileFormatError(
                f"{path} names {name!r:.80}, which is no .safetensors file beside it", path=path
            )
    return names


def _check_index(checkpoint: Checkpoint, index: dict[str, Any]) -> None:
    """Raise where the index and the files name different tensors."""
    path = checkpoint.directory / INDEX_FILE
    said, there = (
        index["weight_map"],
        [(name, file) for file, h in checkpoint.shards.items() for name in h.tensors],
    )
    if sorted(said.items()) == sorted(there):
        return
    for name, file in said.items():
        if name not in checkpoint.shards[file].tensors:
            raise FileFormatError(
                f"{path} says that {name!r} is in {file}, and it is not there", path=path
            )
    name, file = next(pair for pair in there if said.get(pair[0]) != pair[1])
    raise FileFormatError(f"{file} holds {name!r}, which {path} does not say", path=path)


def _no_weights(path: Path, config: dict[str, Any]) -> FileError:
    found = sorted(name for name in _files(path) if name.endswith(_WEIGHTS))
    if not found:
        return FileError(
            f"{path} holds no {WEIGHTS_FILE} and no {INDEX_FILE}: there are no weights", path=path
        )
    inner = next((name for name in found if name.endswith("/" + WEIGHTS_FILE)), None)
    if inner is not None:
        return FileError(
            f"{path} holds no {WEIGHTS_FILE}; there is {inner}: give the directory of that file",
            path=path,
        )
    architectures = config.get("architectures")
    name = architectures[0] if isinstance(architectures, list) and architectures else None
    # it will stand in a command
    name = name if isinstance(name, str) and name.isidentifier() else "AutoModel"
    return FileError(
        f"{path} holds its weights as {', '.join(found[:5])}, and trietok changes {WEIGHTS_FILE}"
        f' only; convert them: python -c "from transformers import {name} as M;'
        f" M.from_pretrained('{path}').save_pretrained('NEW_DIR')\", and copy the tokenizer's files"
        " to NEW_DIR",
        path=path,
    )


def _files(directory: Path) -> Iterator[str]:
    """The regular files below a directory, hidden ones left out, as paths relative to it with
    `/`.
    """
    for root, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(root, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(directory).as_posix()


# ---- the plan carried out ------------------------------------------------------------------------

OnStep = Callable[[int, int], None]
_COPY_BYTES = 1 << 22


@renamed(checkpoint_dir="model", out_dir="output")
def apply_rows(
    plan: RowPlan,
    model: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
    tokenizer: Any = None,
    onnx: bool = False,
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
        onnx: whether .onnx files get the rows, too, with the package onnx: those that hold all
            their weights, and of them one, the embeddings, with a row for each token. Others are
            left out, as all are otherwise.
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
    checkpoint, axes = checked_model(model, output, also, leave, onnx)
    check_tokenizers(plan, checkpoint, tokenizer)
    options: dict[str, Any] = {
        "multiple_of": multiple_of,
        "tokenizer": tokenizer,
        "progress": progress,
    }
    return write_rows(plan, checkpoint, axes, output, onnx=onnx, **options)


def write_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    axes: dict[str, int],
    out_dir: str | os.PathLike[str],
    *,
    multiple_of: int,
    tokenizer: Any,
    progress: OnStep | None,
    onnx: bool = False,
    fitted: FittedRows | None = None,
) -> AppliedRows:
    """`apply_rows` for a model as `checked_model` gave it, and a plan made from the tokenizer in
    its directory.

    Rows that were fitted take the place of what the plan makes, in the input embeddings and in what
    is tied to them.
    """
    if plan.replaces_vocabulary:
        warning("%s is written with the rows of another vocabulary: %s", os.fspath(out_dir), plan)
    for_model = plan.for_model(checkpoint.rows, multiple_of)
    ids = moved_ids(checkpoint.config, for_model, where=CONFIG_FILE, tokenizer=tokenizer)
    blocks = RowBlocks(for_model)
    if fitted is not None:
        tied, of_head, biases = checkpoint.fitted_tensors()
        for values, names in ((fitted.values, tied), (fitted.head, of_head), (fitted.bias, biases)):
            if values is not None:
                blocks.put(fitted.rows, values, names)
    writer = _Writer(checkpoint, blocks, axes, progress)
    copied, left_out = checkpoint.other_files()
    graphs = [
        name
        for name in left_out
        if name.endswith(".onnx") and is_inside(checkpoint.directory, name)
    ]
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
        written = [
            name for name in graphs if onnx and _write_graph(checkpoint, name, blocks, staging)
        ]
        if tokenizer is not None:
            tokenizer.save_pretrained(staging)
    rows = for_model.rows_before, for_model.rows_after
    ids = {"vocab_size": for_model.rows_after, **ids}
    files = (*copied, *written), tuple(name for name in left_out if name not in written)
    return AppliedRows(
        plan, *rows, writer.changed, ids, os.fspath(out_dir), *files, tokenizer is not None
    )


# ---- before anything is written ------------------------------------------------------------------


def checked_model(
    checkpoint_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str] | None,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    onnx: bool = False,
) -> tuple[Checkpoint, dict[str, int]]:
    """What a model's directory says of itself, and its tensors with rows for tokens; raises as
    `apply_rows` does.
    """
    import_package("safetensors")
    if onnx:
        import_package("onnx", "leave --onnx (onnx=True) out")
    checkpoint = read_checkpoint(checkpoint_dir)
    source, target = (
        Path(os.path.realpath(checkpoint.directory)),
        None if out_dir is None else checked_new(out_dir),
    )
    if out_dir is not None and target is not None and source in (target, *target.parents):
        where = (
            f"{'the directory of the model' if target == source else 'inside'}"
            f" {checkpoint.directory}"
        )
        raise FileError(
            f"{os.fspath(out_dir)} is {where}; give a directory elsewhere", path=out_dir
        )
    axes = token_axes(
        checkpoint.shapes, checkpoint.rows, also=also, leave=leave, places=checkpoint.places
    )
    return checkpoint, axes


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
    with tempfile.TemporaryDirectory() as folder:
        try:
            save_files_of(tokenizer, folder)
            loaded = type(tokenizer).from_pretrained(folder)
        except VocabularyError as error:
            error.args = (str(error).replace(f"{folder}{os.sep}", ""),)  # of which nothing is left
            raise
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
        self._checkpoint, self._blocks, self._axes, self._progress = (
            checkpoint,
            blocks,
            axes,
            progress,
        )
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
            metadata = index.get("metadata")
            metadata = {
                **(metadata if isinstance(metadata, dict) else {}),
                "total_size": self._total,
            }
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
        tensors = sorted(
            header.tensors.items(), key=lambda item: (-ELEMENT_BYTES[item[1].dtype], item[1].start)
        )
        new = {
            name: (tensor.dtype, self._new_shape(name, tensor.shape)) for name, tensor in tensors
        }
        with _open(source) as old, open(target, "wb") as file:
            file.write(header_bytes(new, header.metadata))
            for name, tensor in tensors:
                start, end = header.length + tensor.start, header.length + tensor.end
                blocks: Iterable[Any]
                if name in self._axes:
                    self.changed.append(
                        ChangedTensor(name, tensor.shape, new[name][1], tensor.dtype, source.name)
                    )
                    raw = _read_bytes(old, start, end, source)
                    blocks = self._blocks.blocks(
                        name, tensor.dtype, tensor.shape, self._axes[name], raw
                    )
                else:
                    places = range(start, end, _COPY_BYTES)
                    blocks = (
                        _read_bytes(old, place, min(place + _COPY_BYTES, end), source)
                        for place in places
                    )
                for block in blocks:
                    self._done += file.write(block)
                    if self._progress is not None:
                        self._progress(self._done, self._total)
        _check_written(target, new)


def _write_graph(checkpoint: Checkpoint, name: str, blocks: RowBlocks, folder: Path) -> bool:
    """Write an ONNX file with the new rows of its embeddings, if it is one in which nothing else
    has to change.
    """
    onnx = import_package("onnx")
    with _open(checkpoint.directory / name) as file:
        try:
            model = onnx.load_model_from_string(file.read())
        except Exception as error:  # of protobuf
            raise FileFormatError(
                f"{checkpoint.directory / name} is damaged; copy it again", path=name
            ) from error
    tensors = model.graph.initializer
    tables = [each for each in tensors if checkpoint.rows in each.dims]
    types = {onnx.TensorProto.FLOAT: "F32", onnx.TensorProto.FLOAT16: "F16"}
    embeddings = next(
        (key for key in checkpoint.shapes if key.endswith("word_embeddings.weight")), None
    )
    if (
        any(each.data_location == onnx.TensorProto.EXTERNAL for each in tensors)
        or [tuple(each.dims) for each in tables] != [checkpoint.shapes.get(embeddings or "")]
        or tables[0].data_type not in types
    ):
        return False
    table, (rows, width) = tables[0], tables[0].dims
    raw = onnx.numpy_helper.to_array(table).tobytes()
    made = blocks.blocks(str(embeddings), types[table.data_type], (rows, width), 0, raw)
    new = import_package("numpy").concatenate([*made], axis=1)[0]
    table.CopyFrom(onnx.numpy_helper.from_array(new, table.name))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / name)
    return True


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
