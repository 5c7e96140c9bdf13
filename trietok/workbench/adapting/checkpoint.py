"""A model's directory as transformers saves it; of weights only the headers are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import FileError, FileFormatError, InputError, as_file_error
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)
from trietok.files.json_files import read_json_object
from trietok.files.model_files import BUILT_IN_NAMES
from trietok.files.new_directory import checked_new
from trietok.files.safetensors import Header, SafetensorsError, check_layout, read_header
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.adapting.token_tensors import token_axes, token_axis
from trietok.workbench.sentence_modules import WEIGHTS_FILE, is_inside, read_modules

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

    def fitted_tensors(self) -> list[str]:
        """What gets fitted rows: the tensor with the input embeddings, and those of its shape that
        the configuration ties to it.

        Raises:
            InputError: there is no such tensor, or more than one.
        """
        found = [name for name in self.shapes if name.endswith("word_embeddings.weight")]
        if len(found) != 1:
            raise InputError(
                f"{self.directory} has {len(found)} tensors word_embeddings.weight, and rows are"
                " fitted where there is one; initialize new rows with 'length'"
            )
        if self.config.get("tie_word_embeddings", True) is False:
            return found
        shape = self.shapes[found[0]]
        return [
            name for name, each in self.shapes.items() if each == shape and token_axis(name) == 0
        ]

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
        own = {CONFIG_FILE, *self.shards, *TOKENIZER_FILES}
        own |= {INDEX_FILE} if self.shard_index else set()
        own |= {GENERATION_CONFIG_FILE} if self.has_generation_config else set()
        folders_of_modules = (module.folder or "" for module in read_modules(self.directory)[0])
        modules = {folder.split("/")[0] for folder in folders_of_modules} - {""}
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
        wrong = "is no directory" if os.path.lexists(path) else "is not there"
        if wrong == "is not there" and str(path) in BUILT_IN_NAMES:
            wrong = "is a built-in vocabulary without a model"
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
    weights = weights if isinstance(weights, dict) else {}
    if not weights or not all(isinstance(name, str) for name in weights.values()):
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
    said = index["weight_map"]
    there = [(name, file) for file, h in checkpoint.shards.items() for name in h.tensors]
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


def checked_model(
    checkpoint_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str] | None,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
) -> tuple[Checkpoint, dict[str, int]]:
    """What a model's directory says of itself, and its tensors with rows for tokens; raises as
    `apply_rows` does.
    """
    import_package("safetensors")
    checkpoint = read_checkpoint(checkpoint_dir)
    if out_dir is not None:
        source, target = Path(os.path.realpath(checkpoint.directory)), checked_new(out_dir)
        if source in (target, *target.parents):
            where = "the directory of the model" if target == source else "inside"
            told = f"{os.fspath(out_dir)} is {where} {checkpoint.directory}"
            raise FileError(f"{told}; give a directory elsewhere", path=out_dir)
    of_tensors = checkpoint.shapes, checkpoint.rows
    axes = token_axes(*of_tensors, also=also, leave=leave, places=checkpoint.places)
    return checkpoint, axes
