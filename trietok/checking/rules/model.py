"""config.json and the weights of the model against the tokenizer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from trietok.checking.report import Finding
from trietok.checking.rules.facts import Facts
from trietok.checking.rules.ids import highest_id, is_padded, rows_needed
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE
from trietok.files.safetensors import SafetensorsError, tensor_shapes
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.tokenizer.auto import class_of_model_type

_WORD_EMBEDDINGS = "word_embeddings.weight"  # how the name ends in every model of the family
_SUFFIX = ".safetensors"

# Types of models whose tokenizers are of other kinds than WordPiece.
_OTHER_KINDS = frozenset(
    "albert bart bigbird_pegasus big_bird bloom camembert clip codegen deberta deberta-v2 falcon gemma gpt2 gpt_neo "
    "gpt_neox gptj led llama longformer m2m_100 marian mbart mistral modernbert mt5 opt pegasus phi qwen2 qwen3 "
    "roberta t5 whisper xglm xlm xlm-roberta xlnet".split()
)


def token_ids(facts: Facts) -> Iterator[Finding]:
    """`pad_token_id` and the like against the tokens of the roles."""
    config = facts.files.model_config
    for role, token in facts.roles.items():
        said, token_id = config.get(f"{role}_id"), facts.id_of(token)
        if type(said) is not int or token_id is None or said == token_id:
            continue
        other = facts.by_line.get(said)
        other = next((each.content for each_id, each, _ in facts.added if each_id == said), other)
        whose = "which no token has" if other is None else f"that of {other!r}"
        message = f"{role}_id is {said}, {whose}; the {role} is {token!r}, id {token_id}"
        known: dict[str, Any] = {"token": token, "token_id": token_id, "other_id": said, "role": role}
        yield Finding("warning", "model-token-id", message, file=CONFIG_FILE, **known)


def sizes(facts: Facts) -> Iterator[Finding]:
    """Sizes that are no numbers: all that is compared with them is passed over."""
    for key in ("vocab_size", "type_vocab_size", "max_position_embeddings"):
        value = facts.files.model_config.get(key)
        if value is not None and (type(value) is not int or value < 1):
            yield Finding(
                "error", "wrong-shape", f"{key} should be a whole number from 1, not {value!r}", file=CONFIG_FILE
            )


def lengths_and_types(facts: Facts) -> Iterator[Finding]:
    """How many positions and token types the model has, against what the tokenizer gives."""
    config = facts.files.model_config
    positions, longest = config.get("max_position_embeddings"), facts.files.config.get("model_max_length")
    if type(positions) is int and isinstance(longest, (int, float)) and positions < longest < VERY_LARGE_INTEGER:
        message = f"max_position_embeddings is {positions}, and model_max_length is {int(longest)} in "
        yield Finding("warning", "model-too-short", message + TOKENIZER_CONFIG_FILE, file=CONFIG_FILE)
    types = config.get("type_vocab_size")
    if type(types) is not int or facts.slow is None or "token_type_ids" not in facts.slow.model_input_names:
        return
    highest = max(part[2] for part in facts.slow.template.pair)
    if types <= highest:
        message = f"type_vocab_size is {types}, and a pair has token type ids up to {highest}"
        yield Finding("warning", "model-types", message, file=CONFIG_FILE)


def model_type(facts: Facts) -> Iterator[Finding]:
    """A model whose tokenizer is another one than the class that tokenizer_config.json names."""
    named, kind = facts.files.config.get("tokenizer_class"), facts.files.model_config.get("model_type")
    if not isinstance(kind, str) or facts.files.model_config.get("tokenizer_class") is not None:
        return
    usual = class_of_model_type(kind)
    if kind in _OTHER_KINDS:
        message = f"model_type is {kind!r}, whose tokenizer has no WordPiece vocabulary"
    elif named is None or usual is None or _is_alike(usual, facts.kind):
        return
    else:
        message = f"model_type is {kind!r}, whose tokenizer is {usual.__name__}; {TOKENIZER_CONFIG_FILE} has {named!r}"
    yield Finding("warning", "model-type", message, file=CONFIG_FILE)


def _is_alike(first: Any, second: Any) -> bool:
    """Whether two classes put the same around texts, as those do that inherit `template`, and give the same inputs."""
    return bool(first.template == second.template and first.model_input_names == second.model_input_names)


def embedding_rows(facts: Facts) -> Iterator[Finding]:
    """The rows of the embeddings in .safetensors files against the ids."""
    path = facts.files.path
    if not os.path.isdir(path) or facts.files.tokens is None:
        return
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file())
    for name in names:
        try:
            shapes = tensor_shapes(path / name)
        except SafetensorsError as error:
            yield Finding("error", "weights-unreadable", str(error), file=name)
            continue
        except OSError as error:
            yield Finding("error", "weights-unreadable", f"cannot read it: {error.strerror}", file=name)
            continue
        for tensor, shape in shapes.items():
            if tensor.endswith(_WORD_EMBEDDINGS) and len(shape) == 2:
                yield from _rows(facts, name, tensor, shape[0])


def _rows(facts: Facts, name: str, tensor: str, rows: int) -> Iterator[Finding]:
    said = facts.files.model_config.get("vocab_size")
    highest, needed = highest_id(facts), rows_needed(facts)
    if rows <= highest:
        message = f"{tensor} has {rows} rows, and the highest id is {highest}"
        yield Finding("error", "weights-too-few-rows", message, file=name, token_id=rows, other_id=highest)
    elif rows > needed and rows != said and not is_padded(rows, needed):
        message = f"{tensor} has {rows} rows, and the tokenizer has {needed} ids: {rows - needed} rows are not used"
        yield Finding("warning", "weights-too-many-rows", message, file=name)
    if type(said) is int and said != rows:
        message = f"{tensor} has {rows} rows, and vocab_size is {said} in {CONFIG_FILE}"
        yield Finding("error", "weights-vocab-size", message, file=name)
