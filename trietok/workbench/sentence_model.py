"""What a directory of sentence-transformers computes after the model itself, and no code that the
directory names.

In: a model's directory. Out: the layers that its modules.json says, each as numbers and words of
JSON (`layers_of`), and the same as functions of PyTorch tensors (`embedding_of`). The first needs
no PyTorch and refuses whatever it does not know: sentence-transformers imports the types that
modules.json names, and the directory is on its path for them. The formulas are those of
sentence-transformers 5.7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import FileFormatError, InputError, imported
from trietok.files.formats import CONFIG_FILE
from trietok.workbench.sentence_modules import (
    MODULES_FILE,
    POOLINGS,
    SENTENCE_TRANSFORMERS,
    TEXT,
    TOKENS,
    WEIGHTS_FILE,
    Module,
    is_inside,
    modes_of,
    read_modules,
)

INSTEAD = "start new rows with 'length', which needs no model in memory"
_KINDS = ("Transformer", "Pooling", "Dense", "Normalize")
_ACTIVATIONS = frozenset(
    "ELU GELU Identity LeakyReLU Mish ReLU ReLU6 SELU SiLU Sigmoid Softplus Softsign Tanh".split()
)


class Pooling(NamedTuple):
    """Makes one embedding of those of the tokens: several are put one after another."""

    modes: tuple[str, ...] = ("mean",)


class Dense(NamedTuple):
    """Multiplies what stands under one name by a matrix, and puts it under another."""

    weights: Path
    activation: str
    source: str
    target: str


class Normalize(NamedTuple):
    """Gives each embedding the length 1."""


Layer = Pooling | Dense | Normalize


def layers_of(directory: Path) -> list[Layer]:
    """What comes after a model, in order, by its directory; without a modules.json, the mean.

    Raises:
        InputError: the directory names what trietok does not run: another type of module, or the
            base of an adapter.
        FileFormatError: modules.json, or what it names, is damaged.
    """
    if (directory / "adapter_config.json").exists():
        raise InputError(
            f"{directory} is an adapter of another model; merge the two first, or {INSTEAD}"
        )
    path = directory / MODULES_FILE
    if not path.is_file():
        return [Pooling()]
    modules, faults = read_modules(directory)
    for module in modules:
        if module.kind not in _KINDS:
            known = ", ".join(_KINDS)
            raise InputError(
                f"{path} names a module of the type {module.type!r:.80}; trietok runs {known} of"
                f" {SENTENCE_TRANSFORMERS}, and no code that comes with a model; {INSTEAD}"
            )
        if module.folder is None and module.kind != "Normalize":
            raise InputError(
                f"{path} names a place for {module.kind} which is no folder of the directory;"
                f" {INSTEAD}"
            )
    kinds = [module.kind for module in modules]
    if modules and (kinds.count("Transformer") != 1 or kinds[0] != "Transformer"):
        raise InputError(f"{path} does not begin with its one Transformer, but {kinds}; {INSTEAD}")
    if modules and modules[0].folder:
        raise InputError(
            f"{path} has its Transformer in {modules[0].folder!r:.80}, not beside it; {INSTEAD}"
        )
    layers = [_layer(directory, module) for module in modules[1:]]
    for fault in faults:
        raise FileFormatError(f"{directory / fault.file}: {fault.problem}", path=path)
    if not any(isinstance(layer, Pooling) for layer in layers):
        raise InputError(f"{path} names no Pooling; {INSTEAD}")
    return layers


def _layer(directory: Path, module: Module) -> Layer:
    """A module after the Transformer as it is run; raises for what is not known."""
    config, file = module.settings, directory / str(module.folder) / CONFIG_FILE
    if module.kind == "Normalize":
        return Normalize()
    if module.kind == "Pooling":
        for mode in modes_of(config):
            if mode not in POOLINGS:
                raise InputError(
                    f"{file} has the pooling {mode!r:.80}, which is not known; {INSTEAD}"
                )
        return Pooling(modes_of(config))
    said = config.get("activation_function", "torch.nn.Tanh")
    activation = (
        said.rpartition(".")[2] if isinstance(said, str) and said.startswith("torch.nn.") else None
    )
    if activation not in _ACTIVATIONS:
        raise InputError(f"{file} has the activation_function {said!r:.80}, not known; {INSTEAD}")
    weights = file.parent / WEIGHTS_FILE
    if not weights.is_file() or not is_inside(directory, f"{module.folder}/{WEIGHTS_FILE}"):
        raise InputError(
            f"{file.parent} holds no {WEIGHTS_FILE}, and trietok reads no other weights; {INSTEAD}"
        )
    source = config.get("module_input_name") or TEXT
    target = config.get("module_output_name") or source
    for each in (source, target):
        if each not in (TOKENS, TEXT):
            raise InputError(f"{file} names {each!r:.80}, which no module has; {INSTEAD}")
    return Dense(weights, activation, source, target)


# ---- with PyTorch --------------------------------------------------------------------------------


def embedding_of(layers: Sequence[Layer]) -> Callable[[Any, Any], Any]:
    """A function from the last hidden states, and the mask of the tokens that are no padding, to
    embeddings of texts.

    The states have the shape (texts, tokens, numbers), the mask (texts, tokens), padding comes
    last, and the embeddings have the shape (texts, numbers).
    """
    functional = imported("torch.nn.functional", "model")
    matrices = {layer: _matrix(layer) for layer in layers if isinstance(layer, Dense)}

    def embedding(states: Any, mask: Any) -> Any:
        values = {TOKENS: states}
        for layer in layers:
            if isinstance(layer, Pooling):
                parts = [_pooled(mode, values[TOKENS], mask) for mode in layer.modes]
                values[TEXT] = imported("torch", "model").cat(parts, dim=-1)
            elif isinstance(layer, Dense):
                values[layer.target] = matrices[layer](values[layer.source])
            else:
                values[TEXT] = functional.normalize(values[TEXT], dim=1)
        return values[TEXT]

    return embedding


def _pooled(mode: str, states: Any, mask: Any) -> Any:
    weights = mask[:, :, None].to(states.dtype)
    if mode == "cls":
        return states[:, 0]
    if mode == "lasttoken":
        return states[list(range(len(states))), mask.sum(1) - 1]
    if mode == "max":
        return states.masked_fill(weights == 0, -float("inf")).max(1).values
    if mode == "weightedmean":
        weights = weights * mask.cumsum(1)[:, :, None]
    count = weights.sum(1).clamp(min=1e-9)
    return (states * weights).sum(1) / (count.sqrt() if mode == "mean_sqrt_len_tokens" else count)


def _matrix(layer: Dense) -> Callable[[Any], Any]:
    nn = imported("torch.nn", "model")
    tensors = imported("safetensors.torch", "model").load_file(layer.weights)
    weight, bias = tensors["linear.weight"].float(), tensors.get("linear.bias")
    activation = getattr(nn, layer.activation)()
    return lambda values: activation(
        nn.functional.linear(values, weight, None if bias is None else bias.float())
    )
