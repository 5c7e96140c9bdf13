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
# The settings that are taken from config.json, each with what it may be.
_SETTINGS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("num_attention_heads", "n_heads"), lambda value: type(value) is int),
    **dict.fromkeys(("hidden_act", "activation"), lambda value: isinstance(value, str)),
    "layer_norm_eps": lambda value: type(value) in (int, float),
    "position_embedding_type": lambda value: isinstance(value, str),
    "pad_token_id": lambda value: value is None or type(value) is int,
    "tie_word_embeddings": lambda value: type(value) is bool,
    "is_decoder": lambda value: value is False,  # a decoder's tokens see only those before them
}


def load_encoder(checkpoint: Checkpoint, *, with_head: bool = False) -> tuple[Any, list[str]]:
    """Return a model of transformers in float32, and the names of weights that no file has.

    Args:
        checkpoint: the model's directory.
        with_head: load the head of a masked language model, too.

    Raises:
        InputError: the model is of a kind that is not known, or config.json has other sizes than
            the weights, or a setting that cannot be.
        FileFormatError: the weights of such a model are not there.
        MissingDependencyError: PyTorch, transformers or safetensors is not installed.
    """
    settings = encoder_settings(checkpoint)
    torch, transformers = import_package("torch"), import_package("transformers")
    load_file = import_package("safetensors.torch").load_file
    weights: dict[str, Any] = {}
    for name in checkpoint.shards:
        weights |= load_file(checkpoint.directory / name)
    weights = {name: each.float() for name, each in weights.items() if each.is_floating_point()}
    config = transformers.AutoConfig.for_model(checkpoint.config["model_type"], **settings)
    auto = transformers.AutoModelForMaskedLM if with_head else transformers.AutoModel
    with torch.device("meta"):  # for its class alone
        kind = type(auto.from_config(config))
    # Without a path, transformers reads no file: neither other weights nor code nor adapters.
    model, loaded = kind.from_pretrained(
        None, config=config, state_dict=weights, output_loading_info=True
    )
    return model.float(), sorted(loaded["missing_keys"])


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
            f"{file} has model_type {model_type!r:.80}, and trietok runs {alternatives(_SIZES)};"
            f" {INSTEAD}"
        )
    if "quantization_config" in config:
        raise InputError(f"{file} has a quantization_config, and trietok runs none; {INSTEAD}")
    settings = _sizes_of_weights(checkpoint, sizes)
    for name, value in settings.items():
        if name in config and config[name] != value:
            raise InputError(
                f"{file} says that {name} is {config[name]!r:.40}, and the weights have {value};"
                f" {INSTEAD}"
            )
    for name in _SETTINGS.keys() & config.keys():
        if not _SETTINGS[name](config[name]):
            raise InputError(f"{file} has {name} {config[name]!r:.40}, which cannot be; {INSTEAD}")
        settings[name] = config[name]
    return settings


def _sizes_of_weights(checkpoint: Checkpoint, sizes: _Sizes) -> dict[str, int]:
    """Return the sizes of a model by the shapes of its tensors."""
    shapes, where = checkpoint.shapes, checkpoint.directory
    starts = [name.removesuffix(_WORDS) for name in shapes if name.endswith(_WORDS)]
    if len(starts) != 1:
        raise InputError(f"{where} has {len(starts)} tensors {_WORDS}, and should have one")
    found: dict[str, int] = {}
    for setting, (tensor, dimension) in sizes.items():
        shape = shapes.get(starts[0] + tensor, ())
        if len(shape) != 2:
            raise FileFormatError(
                f"{where} has no matrix {starts[0]}{tensor}, which its model_type needs; {INSTEAD}",
                path=where,
            )
        found[setting] = shape[dimension]
    matches = (_LAYER.match(name, len(starts[0])) for name in shapes if name.startswith(starts[0]))
    layers = {int(match[1]) for match in matches if match is not None}
    if layers != set(range(len(layers))) or len(layers) > _MOST_LAYERS:
        raise InputError(f"{where} has weights of {len(layers)} layers, numbered with gaps or more")
    found["n_layers" if "dim" in sizes else "num_hidden_layers"] = len(layers)
    return found
