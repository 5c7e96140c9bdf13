"""Load a model of BERT's family into PyTorch, with what its modules.json says comes after it.

transformers gets sizes that are those of the weights, and the few settings of config.json listed
here. Other keys may name code or files, or ask for memory that no weight needs. What comes after it
is as in sentence-transformers 5.7, which is not used: it imports what modules.json names.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from trietok.errors import FileFormatError, InputError
from trietok.files.formats import CONFIG_FILE
from trietok.showing.characters import alternatives
from trietok.workbench import sentence_modules as modules
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.row_blocks import import_package

_TYPES = ("bert", "distilbert", "electra", "mpnet", "roberta")
_WORDS = "embeddings.word_embeddings.weight"
_SIZES = {  # tensor → the settings that its dimensions are
    _WORDS: ("vocab_size", "embedding_size"),
    "embeddings.position_embeddings.weight": ("max_position_embeddings",),
    "embeddings.token_type_embeddings.weight": ("type_vocab_size",),
    "encoder.layer.0.output.dense.weight": ("hidden_size", "intermediate_size"),
    "encoder.relative_attention_bias.weight": ("relative_attention_num_buckets",),
    "transformer.layer.0.ffn.lin2.weight": ("dim", "hidden_dim"),  # DistilBERT
}
_LAYER, _MOST_LAYERS = re.compile(r"(?:encoder|transformer)\.layer\.([0-9]{1,4})\."), 200
# The settings that are taken from config.json, each with what it may be.
_SETTINGS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("num_attention_heads", "n_heads"), lambda value: type(value) is int),
    **dict.fromkeys(("hidden_act", "activation"), lambda value: isinstance(value, str)),
    "layer_norm_eps": lambda value: type(value) in (int, float) and 0 < value < 1,
    "position_embedding_type": lambda value: value == "absolute",
    "pad_token_id": lambda value: value is None or type(value) is int,
    "is_decoder": lambda value: value is False,  # a decoder's tokens see only those before them
    "quantization_config": lambda value: value is None,
}
_MODULES = (("Transformer",), ("Pooling",), ("Dense", "Normalize"))  # in this order
_ACTIVATIONS = (
    "ELU GELU Identity LeakyReLU Mish ReLU ReLU6 SELU SiLU Sigmoid Softplus Softsign Tanh".split()
)
_INSTEAD = "initialize new rows with 'length', which runs no model"
_Step = Callable[[Any, Any], Any]


def require(is_right: bool, otherwise: str) -> None:
    """Raise an `InputError` where trietok does not run a model."""
    if not is_right:
        raise InputError(f"{otherwise}; correct the model, or {_INSTEAD}")


def checked_parts(checkpoint: Checkpoint) -> tuple[Any, list[_Step]]:
    """Return PyTorch and what comes after a model, unless it shows that it cannot be run."""
    encoder_settings(checkpoint)
    steps = steps_of(checkpoint.directory)
    import_package("transformers", _INSTEAD)
    return import_package("torch", _INSTEAD), steps


def load_encoder(checkpoint: Checkpoint) -> Any:
    """Return the model of a directory in float32, without a head; it is not trained."""
    where, start, settings = checkpoint.directory, _start(checkpoint), encoder_settings(checkpoint)
    torch, transformers = import_package("torch"), import_package("transformers")
    config = transformers.AutoConfig.for_model(checkpoint.config["model_type"], **settings)
    with torch.device("meta"):  # takes no memory
        skeleton = transformers.AutoModel.from_config(config)
    prefix = f"{skeleton.base_model_prefix}."
    require(start in ("", prefix), f"{where} has tensors named {start!r:.60} instead of {prefix!r}")
    found, weights = dict[str, Any](), {}
    for file in checkpoint.shards:
        found |= import_package("safetensors.torch").load_file(where / file)
    for name, parameter in skeleton.state_dict().items():
        # what TensorFlow calls the parts of a LayerNorm
        former = name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")
        weight: Any = found.get(start + name, found.get(start + former))
        shape = tuple(parameter.shape)
        if weight is None and name.startswith("pooler."):  # embeddings do not need it
            weight = torch.zeros(shape)
        # in place of a missing weight, transformers would put random numbers, however many
        is_right = weight is not None and weight.is_floating_point() and weight.shape == shape
        require(is_right, f"{where} has no {start}{name} of the shape {shape}; its model needs it")
        weights[name] = weight.float()
    logging = import_package("transformers.utils.logging")
    with contextlib.ExitStack() as stack:
        if logging.is_progress_bar_enabled():
            stack.callback(logging.enable_progress_bar)
            logging.disable_progress_bar()
        # Without a path, transformers reads no file: neither other weights nor code nor adapters.
        model = type(skeleton).from_pretrained(None, config=config, state_dict=weights)
    return model.eval().requires_grad_(False)


def encoder_settings(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the settings with which transformers builds a model: sizes, and those listed here."""
    config, where = checkpoint.config, checkpoint.directory
    kind, file = config.get("model_type"), where / CONFIG_FILE
    told = f"{file} has the model_type {kind!r:.80}, and trietok runs {alternatives(_TYPES)}"
    require(kind in _TYPES, told)
    shapes, start = checkpoint.shapes, _start(checkpoint)
    matches = (_LAYER.match(name, len(start)) for name in shapes if name.startswith(start))
    layers = {int(match[1]) for match in matches if match is not None}
    is_whole = layers == set(range(len(layers))) and len(layers) <= _MOST_LAYERS
    require(is_whole, f"{where} has weights of {len(layers)} layers: some are missing, or too many")
    sizes = dict.fromkeys(("num_hidden_layers", "n_layers"), len(layers))
    for tensor, names in _SIZES.items():  # what is missing here, `load_encoder` misses, too
        shape = shapes.get(start + tensor, (1, 1))
        require(len(shape) == 2 and all(shape), f"{where} has no matrix {start}{tensor}")
        sizes |= zip(names if start + tensor in shapes else (), shape, strict=False)
    for name in config.keys() & sizes.keys():
        told = f"{file} has {name} {config[name]!r:.40}, and the weights have {sizes[name]}"
        require(config[name] == sizes[name], told)
    for name in config.keys() & _SETTINGS.keys():
        is_right = _SETTINGS[name](config[name])
        require(is_right, f"{file} has {name} {config[name]!r:.40}, which is not supported")
    known = config.keys() & (sizes.keys() | _SETTINGS.keys())
    return {name: sizes.get(name, config[name]) for name in known}


def _start(checkpoint: Checkpoint) -> str:
    """Return how the names of the encoder's tensors start, such as `bert.`."""
    starts = [name.removesuffix(_WORDS) for name in checkpoint.shapes if name.endswith(_WORDS)]
    require(len(starts) == 1, f"{checkpoint.directory} has {len(starts)} tensors {_WORDS}, not one")
    return starts[0]


def steps_of(directory: Path) -> list[_Step]:
    """Return what a directory computes from the last hidden states (texts, tokens, numbers) of its
    model, and the mask of tokens (texts, tokens), in which padding comes last; without a
    modules.json, the mean. What trietok does not know is refused.
    """
    require(not (directory / "adapter_config.json").exists(), f"{directory} is an adapter alone")
    path = directory / modules.MODULES_FILE
    if not path.is_file():
        return [partial(_pooled, ("mean",))]
    found, faults = modules.read_modules(directory)
    for number, module in enumerate(found):
        known = _MODULES[min(number, 2)]
        told = f"{path} names a module of the type {module.type!r:.80}, not {alternatives(known)}"
        require(module.kind in known, told)
    if faults:
        raise FileFormatError(f"{directory / faults[0].file}: {faults[0].problem}", path=path)
    require(len(found) > 1 and not found[0].folder, f"{path} has no Pooling after its own model")
    modes = modules.modes_of(found[1].settings)
    for mode in modes:
        require(str(mode) in modules.POOLINGS, f"{path} leads to the unknown pooling {mode!r:.80}")
    return [partial(_pooled, modes), *(_step(directory, each) for each in found[2:])]


def _step(directory: Path, module: modules.Module) -> _Step:
    if module.kind == "Normalize":
        return lambda values, mask: import_package("torch").nn.functional.normalize(values, dim=1)
    config, name = module.settings, f"{module.folder}/{modules.WEIGHTS_FILE}"
    for side in ("module_input_name", "module_output_name"):
        said = config.get(side) or modules.TEXT
        require(said == modules.TEXT, f"{directory / name} is of a module with {side} {said!r:.80}")
    function = str(config.get("activation_function", "torch.nn.Tanh"))
    activation = function.rpartition(".")[2] if function.startswith("torch.nn.") else ""
    require(activation in _ACTIVATIONS, f"{directory / name} has the activation {function!r:.80}")
    is_own = (directory / name).is_file() and modules.is_inside(directory, name)
    require(is_own, f"{directory} holds no {name}, and trietok reads no other weights")
    load = cache(lambda path: import_package("safetensors.torch").load_file(path))
    return partial(_dense, directory / name, activation, load=load)


def _pooled(modes: Sequence[str], states: Any, mask: Any) -> Any:
    weights = mask[:, :, None].to(states.dtype)
    count = weights.sum(1).clamp(min=1e-9)
    pooled: Mapping[str, Callable[[], Any]] = {
        "cls": lambda: states[:, 0],
        "max": lambda: states.masked_fill(weights == 0, -float("inf")).max(1).values,
        "mean": lambda: (states * weights).sum(1) / count,
        "mean_sqrt_len_tokens": lambda: (states * weights).sum(1) / count.sqrt(),
        "weightedmean": lambda: _pooled(["mean"], states, mask * mask.cumsum(1)),
        "lasttoken": lambda: states[list(range(len(states))), mask.sum(1) - 1],
    }
    return import_package("torch").cat([pooled[mode]() for mode in modes], dim=-1)


def _dense(weights: Path, activation: str, values: Any, mask: Any, *, load: Any) -> Any:
    torch, tensors = import_package("torch"), load(weights)
    values = values @ tensors["linear.weight"].float().T + tensors.get("linear.bias", 0)
    return getattr(torch.nn, activation)()(values)
