"""The modules of a directory of sentence-transformers, by its modules.json; no code that it names
is imported.

In: a directory. Out: each module with what its own config.json says, and what is wrong with them:
what is no module, a size that is not that of the module before, weights that are not there. Nothing
raises. sentence-transformers 5.7 is followed, and older layouts, which have the model in a folder
such as `0_Transformer`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import TrietokError
from trietok.files.formats import CONFIG_FILE
from trietok.files.json_files import read_json, read_json_object
from trietok.files.safetensors import SafetensorsError, read_header

WEIGHTS_FILE = "model.safetensors"
MODULES_FILE = "modules.json"
_FORMER_WEIGHTS_FILE = "pytorch_model.bin"
SENTENCE_TRANSFORMERS = "sentence_transformers"
TRANSFORMERS = ("Transformer", "MLMTransformer")
# Modules that begin with no text, by the last word of their type; those of others are not known.
_LATER = (
    "Pooling Dense Normalize Dropout LayerNorm CNN LSTM WeightedLayerPooling WordWeights"
    " SpladePooling CSRSparsity"
)
_WITH_CONFIG = ("Pooling", "Dense", "LayerNorm")
# which keep nothing, so that a download may lack their folder
_WITHOUT_FILES = (
    "Normalize",
    "Dropout",
)
# how a pooling is called now, and by what it was switched on; an embedding holds them in this order
POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
TOKENS, TEXT = "token_embeddings", "sentence_embedding"  # what a Dense may take and give


class Module(NamedTuple):
    """A module: the last word of its type if that is the library's, the type, its folder, what its
    config.json says.
    """

    kind: str
    type: Any
    # empty for the directory itself; None where it is no folder of the directory
    folder: str | None
    settings: dict[str, Any]


class Fault(NamedTuple):
    """What is wrong with a file of the directory, or a folder of it."""

    file: str
    problem: str


def read_modules(directory: Path) -> tuple[list[Module], list[Fault]]:
    """The modules in their order, as far as they can be read, and every fault; none of both without
    a modules.json.
    """
    if not os.path.lexists(directory / MODULES_FILE):
        return [], []
    faults: list[Fault] = []
    values = _read_json(directory, MODULES_FILE, faults)
    if not faults and (
        not isinstance(values, list) or not all(isinstance(value, dict) for value in values)
    ):
        faults.append(Fault(MODULES_FILE, "it holds no list of modules [{...}]"))
    modules = [] if faults else [_module(directory, value, faults) for value in values]
    if not faults and (not modules or modules[0].kind in _LATER.split()):
        faults.append(
            Fault(MODULES_FILE, "it begins with no Transformer, or another module that takes texts")
        )
    faults += _size_faults(directory, modules)
    return modules, faults


def is_inside(directory: Path, name: str) -> bool:
    """Whether a file of a directory is in it where links lead, or among the blobs of the cache it
    is a snapshot of.
    """
    root, file = (Path(os.path.realpath(path)) for path in (directory, directory / name))
    caches = [folder.parent / "blobs" for folder in root.parents if folder.name == "snapshots"]
    return any(place in file.parents for place in (root, *caches))


def modes_of(settings: dict[str, Any]) -> tuple[Any, ...]:
    """The poolings that the settings of a Pooling switch on."""
    modes = settings.get("pooling_mode") or [
        mode for mode, former in POOLINGS.items() if settings.get(former) is True
    ]
    said = any(key.startswith("pooling_mode") for key in settings)
    return tuple(modes if isinstance(modes, list) else [modes]) or (() if said else ("mean",))


def _read_json(directory: Path, name: str, faults: list[Fault]) -> Any:
    try:
        return (read_json if name == MODULES_FILE else read_json_object)(directory / name)
    except TrietokError as error:
        message = str(error).replace(f"{directory / name}", name)
        faults.append(Fault(name, f"it cannot be read: {message}"))
        return {}


def _module(directory: Path, value: dict[str, Any], faults: list[Fault]) -> Module:
    said, path = value.get("type"), value.get("path")
    library, *_, kind = said.split(".") if isinstance(said, str) and "." in said else ("", "")
    kind = kind if library == SENTENCE_TRANSFORMERS else ""
    is_place = (
        isinstance(path, str)
        and "\0" not in path
        and is_inside(directory, f"{path or '.'}/{CONFIG_FILE}")
    )
    folder: str | None = "" if path == "." else path if is_place else None
    if not isinstance(path, str) or not isinstance(said, str):
        faults.append(Fault(MODULES_FILE, "a module has no path and type"))
        return Module(kind, said, folder, {})
    if kind in _WITHOUT_FILES:
        return Module(kind, said, folder, {})
    if folder is None or not os.path.isdir(directory / folder):
        where = f"it names the folder {path!r:.100} for {said!r:.100}, and there is no such folder"
        faults.append(Fault(MODULES_FILE, where))
        return Module(kind, said, folder, {})
    name = f"{folder}/{CONFIG_FILE}".lstrip("/")
    if os.path.lexists(directory / name):
        return Module(kind, said, folder, _read_json(directory, name, faults))
    if kind in _WITH_CONFIG or kind in TRANSFORMERS:
        faults.append(Fault(name, f"there is no such file, and {kind.lower()} needs it"))
    return Module(kind, said, folder, {})


def _size_faults(directory: Path, modules: list[Module]) -> Iterator[Fault]:
    """Modules that take another number of values than the one before gives, or lack what they
    keep.
    """
    sizes: dict[str, int | None] = {TOKENS: None, TEXT: None}

    def fault(key: str, wanted: int | None) -> Iterator[Fault]:
        said = module.settings.get(key)
        if type(said) is int and wanted is not None and said != wanted:
            hidden = f"hidden_size is {wanted} in {CONFIG_FILE}"
            before = (
                hidden if wanted == hidden_size else f"what comes before it has {wanted} values"
            )
            yield Fault(name, f"{key} is {said}, and {before}")

    hidden_size = None
    for module in modules:
        name, settings = f"{module.folder}/{CONFIG_FILE}", module.settings
        if module.kind in TRANSFORMERS:
            said = [settings.get(key) for key in ("hidden_size", "dim", "d_model")]
            hidden_size = sizes[TOKENS] = next((size for size in said if type(size) is int), None)
        elif not settings or module.kind not in _WITH_CONFIG:
            sizes = sizes if module.kind in _WITHOUT_FILES else dict.fromkeys(sizes)
        elif module.kind == "Pooling":
            for key in ("word_embedding_dimension", "embedding_dimension"):
                yield from fault(key, sizes[TOKENS])
            modes = modes_of(settings)
            if not modes:
                yield Fault(name, "every pooling_mode is false, so no vector comes out")
            sizes[TEXT] = len(modes) * (sizes[TOKENS] or 0) or None
        elif module.kind == "LayerNorm":
            yield from fault("dimension", sizes[TEXT])
        else:
            source = settings.get("module_input_name") or TEXT
            yield from fault("in_features", sizes.get(source))
            out = settings.get("out_features")
            sizes[settings.get("module_output_name") or source] = out if type(out) is int else None
            yield from _weight_faults(directory, module)


def _weight_faults(directory: Path, module: Module) -> Iterator[Fault]:
    """What is wrong with the weights of a Dense."""
    place, settings = directory / str(module.folder), module.settings
    if not os.path.lexists(place / WEIGHTS_FILE):
        if not os.path.isfile(place / _FORMER_WEIGHTS_FILE):
            yield Fault(
                str(module.folder),
                f"it holds no {WEIGHTS_FILE}, and a Dense is nothing without weights",
            )
        return
    sizes = settings.get("out_features"), settings.get("in_features")
    wanted = {"linear.weight": sizes} | (
        {"linear.bias": sizes[:1]} if settings.get("bias", True) else {}
    )
    name = f"{module.folder}/{WEIGHTS_FILE}"
    try:
        found = {
            tensor: each.shape for tensor, each in read_header(place / WEIGHTS_FILE).tensors.items()
        }
    except (SafetensorsError, OSError) as error:
        yield Fault(name, f"{error}; copy it again")
        return
    if found != wanted:
        yield Fault(
            name,
            f"{WEIGHTS_FILE} holds {found!r:.200}, and {module.folder}/{CONFIG_FILE} says {wanted}",
        )
