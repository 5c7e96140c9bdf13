"""A model's directory as transformers saves it: its configuration, and what its .safetensors files hold.

In: a directory. Out: a `Checkpoint`. Of weights only the headers are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import FileError, FileFormatError
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    read_json_object,
    read_json_text,
)
from trietok.files.safetensors import Header, SafetensorsError, check_layout, read_header

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
GENERATION_CONFIG_FILE = "generation_config.json"
MODULES_FILE = "modules.json"  # of sentence-transformers
TOKENIZER_FILES = frozenset(
    (VOCAB_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE)
)
# Files whose names end so hold weights, or what belongs to them while a model is trained.
_WEIGHTS = (
    *(".safetensors", ".safetensors.index.json", ".bin", ".bin.index.json", ".h5", ".msgpack", ".onnx", ".onnx_data"),
    *(".pt", ".pth", ".ckpt", ".tflite", ".ot", ".gguf", ".npz", ".pb", ".mlmodel"),
)


class Checkpoint(NamedTuple):
    """What stands in a model's directory.

    Attributes:
        directory: the directory.
        config: config.json.
        shards: file name → header, for each .safetensors file of the model.
        shard_index: model.safetensors.index.json; None where there is one file.
        rows: how many rows for tokens the model has, by its configuration.
    """

    directory: Path
    config: dict[str, Any]
    shards: dict[str, Header]
    shard_index: dict[str, Any] | None
    rows: int

    @property
    def places(self) -> dict[str, str]:
        """Tensor → file."""
        return {name: file for file, header in self.shards.items() for name in header.tensors}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Tensor → shape."""
        return {name: tensor.shape for header in self.shards.values() for name, tensor in header.tensors.items()}

    @property
    def has_tokenizer(self) -> bool:
        """Whether the directory holds a tokenizer, too."""
        return any((self.directory / name).is_file() for name in (VOCAB_FILE, TOKENIZER_FILE))

    @property
    def has_generation_config(self) -> bool:
        """Whether the directory holds one of its own: all that it says would be written anew."""
        name = GENERATION_CONFIG_FILE
        return (self.directory / name).is_file() and _is_inside(self.directory, name)

    def other_files(self) -> tuple[list[str], list[str]]:
        """The files beside the model's and the tokenizer's own: those that stay true, and those that do not.

        What a symbolic link brings from outside the directory is of the latter: it may be any file of this machine. A
        link into the blobs of a hub's cache, of which the directory is a snapshot, stays inside.

        Weights stay true only in the folders of a sentence-transformers model, such as `2_Dense`; elsewhere they are
        weights of the same model, and what lies beside them in a folder speaks of it. Hidden files, and what is no
        regular file, are none of either.
        """
        own = {CONFIG_FILE, *self.shards} | TOKENIZER_FILES
        own |= {GENERATION_CONFIG_FILE} if self.has_generation_config else set()
        own |= set() if self.shard_index is None else {INDEX_FILE}
        modules = _module_folders(self.directory)
        others = sorted(name for name in _files(self.directory) if name not in own)
        weights = {name for name in others if name.endswith(_WEIGHTS) and name.split("/")[0] not in modules}
        folders = {os.path.dirname(name) for name in weights} - {""}
        left_out = [
            name
            for name in others
            if name in weights or os.path.dirname(name) in folders or not _is_inside(self.directory, name)
        ]
        return [name for name in others if name not in set(left_out)], left_out


def read_checkpoint(directory: str | os.PathLike[str]) -> Checkpoint:
    """Read what a model's directory says of itself.

    Raises:
        FileError: there is no such directory, or a file is missing or cannot be read.
        FileFormatError: a file is damaged, or two contradict each other.
    """
    path = Path(directory)
    wrong = None
    if not path.is_dir():
        wrong = "is no directory" if os.path.lexists(path) else "is not there"
    elif not os.path.lexists(path / CONFIG_FILE):
        wrong = f"has no {CONFIG_FILE}"
    if wrong is not None:
        raise FileError(f"{path} {wrong}; give the directory of a model, with its config.json and weights", path=path)
    config = read_json_object(path / CONFIG_FILE)
    rows = config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        said = f"vocab_size {rows!r:.40}" if "vocab_size" in config else "no vocab_size"
        raise FileFormatError(
            f"{path / CONFIG_FILE} has {said}; it says there how many rows for tokens the model has", path=path
        )
    index = None
    names = [WEIGHTS_FILE]
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
        header = read_header(path)
        check_layout(header)
        return header
    except SafetensorsError as error:
        raise FileFormatError(f"{path}: {error}; copy it again", path=path) from None
    except FileError:
        raise
    except OSError as error:
        if is_shard and isinstance(error, FileNotFoundError):
            raise FileError(f"{path} is missing, and {INDEX_FILE} names it; copy the model again", path=path) from None
        raise FileError(f"cannot read {path}: {error.strerror}", path=path) from error


def _shard_names(index: dict[str, Any], path: Path) -> list[str]:
    weights = index.get("weight_map")
    if not isinstance(weights, dict) or not weights or not all(isinstance(name, str) for name in weights.values()):
        raise FileFormatError(f'{path} has no "weight_map" from tensors to files', path=path)
    names = sorted(set(weights.values()))
    for name in names:
        if os.path.basename(name) != name or not name.endswith(".safetensors") or "\0" in name:
            raise FileFormatError(f"{path} names {name!r:.80}, which is no .safetensors file beside it", path=path)
    return names


def _check_index(checkpoint: Checkpoint, index: dict[str, Any]) -> None:
    """Raise where the index and the files name different tensors."""
    path = checkpoint.directory / INDEX_FILE
    said, there = index["weight_map"], [(name, file) for file, h in checkpoint.shards.items() for name in h.tensors]
    if sorted(said.items()) == sorted(there):
        return
    for name, file in said.items():
        if name not in checkpoint.shards[file].tensors:
            raise FileFormatError(f"{path} says that {name!r} is in {file}, and it is not there", path=path)
    name, file = next(pair for pair in there if said.get(pair[0]) != pair[1])
    raise FileFormatError(f"{file} holds {name!r}, which {path} does not say", path=path)


def _no_weights(path: Path, config: dict[str, Any]) -> FileError:
    found = sorted(name for name in _files(path) if name.endswith(_WEIGHTS))
    if not found:
        return FileError(f"{path} holds no {WEIGHTS_FILE} and no {INDEX_FILE}: there are no weights", path=path)
    if any(name.endswith("/" + WEIGHTS_FILE) for name in found):
        inner = next(name for name in found if name.endswith("/" + WEIGHTS_FILE))
        return FileError(
            f"{path} holds no {WEIGHTS_FILE}; there is {inner}: give the directory of that file", path=path
        )
    architectures = config.get("architectures")
    name = architectures[0] if isinstance(architectures, list) and architectures else None
    name = name if isinstance(name, str) and name.isidentifier() else "AutoModel"  # it will stand in a command
    return FileError(
        f"{path} holds its weights as {', '.join(found[:5])}, and trietok changes {WEIGHTS_FILE} only; convert them: "
        f"python -c \"from transformers import {name} as M; M.from_pretrained('{path}').save_pretrained('NEW_DIR')\", "
        "and copy the tokenizer's files to NEW_DIR",
        path=path,
    )


def _files(directory: Path) -> Iterator[str]:
    """The regular files below a directory, hidden ones left out, as paths relative to it with `/`."""
    for root, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(root, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(directory).as_posix()


def _is_inside(directory: Path, name: str) -> bool:
    """Whether a file of a directory is in it where links lead, or among the blobs of the cache it is a snapshot of."""
    root, file = (Path(os.path.realpath(path)) for path in (directory, directory / name))
    caches = [folder.parent / "blobs" for folder in root.parents if folder.name == "snapshots"]
    return any(place in file.parents for place in (root, *caches))


def _module_folders(directory: Path) -> set[str]:
    """The folders of a sentence-transformers model, whose weights are layers of their own."""
    import json

    try:
        modules = json.loads(read_json_text(directory / MODULES_FILE))
        return {module["path"].strip("/").split("/")[0] for module in modules} - {""}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # none, or none of theirs
        return set()
