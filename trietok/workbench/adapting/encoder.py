"""Load a model of BERT's family into PyTorch with its weights and the settings that it needs.

transformers builds it from sizes that are those of the weights, and from the few settings of
config.json that are listed here. No other key reaches transformers: some name code or files, and a
size that no weight has would take any amount of memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trietok.errors import FileFormatError, InputError
from trietok.files.formats import CONFIG_FILE
from trietok.showing.characters import alternatives
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.sentence_model import INSTEAD

_WORDS = "embeddings.word_embeddings.weight"
_Sizes = Mapping[str, tuple[str, int]]  # setting → tensor, and which of its dimensions it is
_BERT: _Sizes = {
    "vocab_size": (_WORDS, 0),
    "max_position_embeddings": ("embeddings.position_embeddings.weight", 0),
    "type_vocab_size": ("embeddings.token_type_embeddings.weight", 0),
    "hidden_size": ("encoder.layer.0.output.dense.weight", 0),
    "intermediate_size": ("encoder.layer.0.output.dense.weight", 1),
}
_SIZES: Mapping[str, _Sizes] = {
    "bert": _BERT,
    "roberta": _BERT,
    "electra": {**_BERT, "embedding_size": (_WORDS, 1)},
    "mpnet": {
        **{name: place for name, place in _BERT.items() if name != "type_vocab_size"},
        "relative_attention_num_buckets": ("encoder.relative_attention_bias.weight", 0),
    },
    "distilbert": {
        "vocab_size": (_WORDS, 0),
        "max_position_embeddings": ("embeddings.position_embeddings.weight", 0),
        "dim": ("transformer.layer.0.ffn.lin2.weight", 0),
        "hidden_dim": ("transformer.layer.0.ffn.lin2.weight", 1),
    },
}
_LAYER = re.compile(r"(?:encoder|transformer)\.layer\.([0-9]{1,4})\.")
_MOST_LAYERS = 200
_POSITIONS = ("absolute", "relative_key", "relative_key_query")
# The settings that are taken from config.json, each with what it may be.
_SETTINGS: Mapping[str, Callable[[Any], bool]] = {
    "num_attention_heads": lambda value: type(value) is int and value > 0,
    "hidden_act": lambda value: isinstance(value, str),
    "layer_norm_eps": lambda value: type(value) in (int, float) and 0 < value < 1,
    "position_embedding_type": lambda value: value in _POSITIONS,
    "pad_token_id": lambda value: value is None or type(value) is int,
    "tie_word_embeddings": lambda value: type(value) is bool,
    "is_decoder": lambda value: value is False,  # a decoder's tokens see only those before them
}
_OF_DISTILBERT = {"num_attention_heads": "n_heads", "hidden_act": "activation"}
# What a file may lack: embeddings do not need it.
_OF_HEADS = re.compile(r"(?:^|\.)(?:pooler|cls|lm_head|generator_\w+|vocab_\w+|position_ids)\b")


def load_encoder(checkpoint: Checkpoint, *, with_head: bool = False) -> Any:
    """Return a model of transformers in float32.

    Args:
        checkpoint: the model's directory.
        with_head: load the head of a masked language model, too. What the files lack of a head gets
            random numbers.

    Raises:
        InputError: the model is of a type that is not known, or config.json has a size that the
            weights do not have, or a setting that is not supported.
        FileFormatError: a weight is missing or has another shape.
        MissingDependencyError: PyTorch, transformers or safetensors is not installed.
    """
    settings = encoder_settings(checkpoint)
    torch, transformers = import_package("torch"), import_package("transformers")
    config = transformers.AutoConfig.for_model(checkpoint.config["model_type"], **settings)
    auto = transformers.AutoModelForMaskedLM if with_head else transformers.AutoModel
    with torch.device("meta"):  # takes no memory
        skeleton = auto.from_config(config)
    _require_weights(checkpoint, skeleton)
    load_file = import_package("safetensors.torch").load_file
    weights: dict[str, Any] = {}
    for name in checkpoint.shards:
        weights |= load_file(checkpoint.directory / name)
    weights = {name: each.float() for name, each in weights.items() if each.is_floating_point()}
    # Without a path, transformers reads no file: neither other weights nor code nor adapters.
    return type(skeleton).from_pretrained(None, config=config, state_dict=weights).float()


def encoder_settings(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the settings with which transformers builds the model: sizes, and those listed here.

    Raises:
        InputError, FileFormatError: see `load_encoder`.
    """
    config, file = checkpoint.config, checkpoint.directory / CONFIG_FILE
    model_type = config.get("model_type")
    sizes = _SIZES.get(model_type) if isinstance(model_type, str) else None
    if sizes is None:
        raise InputError(
            f"{file} has the model_type {model_type!r:.80}, and trietok runs"
            f" {alternatives(_SIZES)}; {INSTEAD}"
        )
    if config.get("quantization_config") is not None:
        raise InputError(
            f"{file} has a quantization_config, and quantized models are not supported; {INSTEAD}"
        )
    settings = _sizes_of_weights(checkpoint, sizes)
    for name, value in settings.items():
        if name in config and config[name] != value:
            raise InputError(
                f"{file} says that {name} is {config[name]!r:.40}, and the weights have {value};"
                f" correct it, or {INSTEAD}"
            )
    for setting, fits in _SETTINGS.items():
        name = _OF_DISTILBERT.get(setting, setting) if model_type == "distilbert" else setting
        if name not in config:
            continue
        if not fits(config[name]):
            raise InputError(
                f"{file} has {name} {config[name]!r:.40}, which is not supported; correct it, or"
                f" {INSTEAD}"
            )
        settings[name] = config[name]
    return settings


def _sizes_of_weights(checkpoint: Checkpoint, sizes: _Sizes) -> dict[str, int]:
    """Return the sizes of a model by the shapes of its tensors."""
    shapes, where, start = checkpoint.shapes, checkpoint.directory, _start(checkpoint)
    found: dict[str, int] = {}
    for setting, (tensor, dimension) in sizes.items():
        shape = shapes.get(start + tensor, ())
        if len(shape) != 2 or not all(shape):
            raise FileFormatError(
                f"{where} has no matrix {start}{tensor}, which its model_type needs; copy all files"
                f" of the model, or {INSTEAD}",
                path=where,
            )
        found[setting] = shape[dimension]
    matches = (_LAYER.match(name, len(start)) for name in shapes if name.startswith(start))
    layers = {int(match[1]) for match in matches if match is not None}
    if layers != set(range(len(layers))) or len(layers) > _MOST_LAYERS:
        raise InputError(
            f"{where} has weights of {len(layers)} layers, of which some are missing or above"
            f" {_MOST_LAYERS}; {INSTEAD}"
        )
    found["n_layers" if "dim" in sizes else "num_hidden_layers"] = len(layers)
    return found


def _start(checkpoint: Checkpoint) -> str:
    """Return how the names of the encoder's tensors start, such as `bert.`."""
    starts = [name.removesuffix(_WORDS) for name in checkpoint.shapes if name.endswith(_WORDS)]
    if len(starts) != 1:
        raise InputError(
            f"{checkpoint.directory} has {len(starts)} tensors {_WORDS}, and should have one;"
            f" {INSTEAD}"
        )
    return starts[0]


def _require_weights(checkpoint: Checkpoint, skeleton: Any) -> None:
    """Raise a FileFormatError where a weight of a model is not in the files, or not in its shape:
    transformers would put random numbers in its place, however many.
    """
    start, prefix = _start(checkpoint), f"{skeleton.base_model_prefix}."
    where = checkpoint.directory
    if start not in ("", prefix):
        raise FileFormatError(
            f"{where} has tensors named {start!r:.80}, and its model_type needs {prefix!r}; correct"
            f" the model_type, or {INSTEAD}",
            path=where,
        )
    there = {
        name.removeprefix(start)
        .replace("LayerNorm.gamma", "LayerNorm.weight")
        .replace("LayerNorm.beta", "LayerNorm.bias"): tensor.shape
        for header in checkpoint.shards.values()
        for name, tensor in header.tensors.items()
        if "F" in tensor.dtype  # a floating-point number; others are not loaded
    }
    for name, parameter in skeleton.state_dict().items():
        shape = there.get(name.removeprefix(prefix))
        if shape is None and _OF_HEADS.search(name):
            continue
        if shape != tuple(parameter.shape):
            found = "no weight" if shape is None else f"a weight of the shape {shape} as"
            raise FileFormatError(
                f"{where} has {found} {name}, and its model_type needs the shape"
                f" {tuple(parameter.shape)}; copy all files of the model, or {INSTEAD}",
                path=where,
            )
