"""Rules about a model: config.json and the embedding rows of its weights, against the tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trietok.disk import entries_in
from trietok.errors import TrietokError
from trietok.files.doubts import is_padded, near_names
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE
from trietok.files.json_files import read_json_object
from trietok.files.kinds import family_of_name
from trietok.files.safetensors import SafetensorsError, read_header
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.tokenizer.auto import class_of_model_type
from trietok.workbench.checking.facts import Facts, rule
from trietok.workbench.checking.files import CHECKED_FILES, WRONG_SHAPE
from trietok.workbench.checking.report import NOTE, WARNING, Finding, declare

_WORD_EMBEDDINGS = "word_embeddings.weight"  # how the name ends in every model of the family
_SUFFIX = ".safetensors"
_GENERATION_FILE = "generation_config.json"

NAME_NOT_READ = declare(
    "name-not-read",
    so="what it says is not read, so ids may be others",
    do="rename {file}, or remove it if it is an old copy",
)


@rule(NAME_NOT_READ)
def names(facts: Facts) -> Iterator[Finding]:
    """Files that are not read for their names."""
    for name, meant in near_names(str(facts.files.path), CHECKED_FILES):
        yield Finding(
            "warning", NAME_NOT_READ, f"it is not read, since its name is not {meant}", file=name
        )


ID_PAST_MODEL = declare(
    "id-past-model",
    "ids for which the model has no embedding row",
    so="the model raises an index error when the id comes",
    do="model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
)


MODEL_LARGER = declare(
    "model-larger",
    so=(
        "rows that no id uses; if they were not padded, the vocabulary or config.json is another"
        " model's"
    ),
    do="nothing if the model was padded; else put the model's own vocabulary into the directory",
)


@rule(ID_PAST_MODEL, MODEL_LARGER, needs="vocabulary")
def past_the_model(facts: Facts) -> Iterator[Finding]:
    """Ids for which config.json gives the model no row, and rows that no id uses."""
    rows = facts.files.model_config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        return
    tokens = {token_id: token for token, token_id in facts.line_ids.items()} | facts.loaded_ids
    for token_id, token in sorted(pair for pair in tokens.items() if pair[0] >= rows):
        message = (
            f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1}"
            " (vocab_size)"
        )
        yield Finding("error", ID_PAST_MODEL, message, CONFIG_FILE, token=token, token_id=token_id)
    needed = facts.rows_needed
    if rows > needed:
        message = (
            f"vocab_size is {rows}, and ids end at {needed - 1}: {rows - needed} row(s) are not"
            " used"
        )
        padded = is_padded(rows, needed)
        message += "" if padded else ", which is not a number padded to a multiple of 8 to 1024"
        yield Finding(NOTE if padded else WARNING, MODEL_LARGER, message, CONFIG_FILE)


MODEL_TOKEN_ID = declare(
    "model-token-id",
    "config.json has the id of another token",
    so="the model masks, pads or ends at another token than the tokenizer",
    do='{file}: "{role}_id": {token_id}',
)


@rule(MODEL_TOKEN_ID, needs="vocabulary")
def token_ids(facts: Facts) -> Iterator[Finding]:
    """`pad_token_id` and the like against the tokens of the roles."""
    generation = _generation_config(facts)
    files = {CONFIG_FILE: facts.files.model_config, TOKENIZER_CONFIG_FILE: facts.files.config}
    for role, token in facts.roles.items():
        for file, config in {**files, _GENERATION_FILE: generation}.items():
            said, token_id = config.get(f"{role}_id"), facts.id_of(token)
            if (
                said is None
                or isinstance(said, list)
                or token_id is None
                or (type(said) is int and said == token_id)
            ):
                continue
            other = facts.by_line.get(said) if type(said) is int else None
            other = next(
                (each.content for each_id, each, _ in facts.added if each_id == said), other
            )
            whose = "which no token has" if other is None else f"that of {other!r}"
            message = f"{role}_id is {said!r:.60}, {whose}; the {role} is {token!r}, id {token_id}"
            known: dict[str, Any] = {"token": token, "token_id": token_id, "role": role}
            known["other_id"] = said if type(said) is int else None
            yield Finding("warning", MODEL_TOKEN_ID, message, file=file, **known)


@rule(WRONG_SHAPE)
def sizes(facts: Facts) -> Iterator[Finding]:
    """Sizes that are no numbers: all that is compared with them is passed over."""
    for key in ("vocab_size", "type_vocab_size", "max_position_embeddings"):
        value = facts.files.model_config.get(key)
        if value is not None and (type(value) is not int or value < 1):
            message = f"{key} should be a whole number from 1, not {value!r}"
            yield Finding("error", WRONG_SHAPE, message, CONFIG_FILE)


MODEL_TOO_SHORT = declare(
    "model-too-short",
    so="truncation leaves texts longer than the model can take, which raise an index error",
    do='in tokenizer_config.json: "model_max_length": the number of max_position_embeddings',
)
MODEL_TYPES = declare(
    "model-types",
    so="the model raises an index error for pairs",
    do=(
        'in tokenizer_config.json: "model_input_names": ["input_ids", "attention_mask"], if the'
        " model has no token types"
    ),
)


LENGTH_MISSING = declare(
    "length-missing",
    so="truncation=True cuts nothing, and the model raises an index error for longer texts",
    do='in tokenizer_config.json: "model_max_length": the number of max_position_embeddings',
)


@rule(MODEL_TOO_SHORT, MODEL_TYPES, LENGTH_MISSING)
def lengths_and_types(facts: Facts) -> Iterator[Finding]:
    """How many positions and token types the model has, against what the tokenizer gives."""
    config = facts.files.model_config
    positions = config.get("max_position_embeddings")
    longest = None if facts.slow is None else facts.slow.model_max_length
    if type(positions) is int and longest is not None and longest > positions:
        message = f"max_position_embeddings is {positions}, and model_max_length is"
        if longest < VERY_LARGE_INTEGER:
            message += f" {int(longest)} in {TOKENIZER_CONFIG_FILE}"
            yield Finding("warning", MODEL_TOO_SHORT, message, file=CONFIG_FILE)
        else:
            message += " not set, so no text is too long"
            yield Finding("warning", LENGTH_MISSING, message, file=CONFIG_FILE, token_id=positions)
    types = config.get("type_vocab_size")
    if (
        type(types) is not int
        or facts.slow is None
        or "token_type_ids" not in facts.slow.model_input_names
    ):
        return
    highest = max(part[2] for part in facts.slow.template.pair)
    if types <= highest:
        message = f"type_vocab_size is {types}, and a pair has token type ids up to {highest}"
        yield Finding("warning", MODEL_TYPES, message, file=CONFIG_FILE)


MODEL_TYPE = declare(
    "model-type",
    so="the template or the inputs are not those of the model",
    do="put the model's own config.json or tokenizer there",
)


@rule(MODEL_TYPE)
def model_type(facts: Facts) -> Iterator[Finding]:
    """A model whose tokenizer is another one than the class that tokenizer_config.json names."""
    named, kind = (
        facts.files.config.get("tokenizer_class"),
        facts.files.model_config.get("model_type"),
    )
    if not isinstance(kind, str) or facts.files.model_config.get("tokenizer_class") is not None:
        return
    usual = class_of_model_type(kind)
    family = family_of_name(kind)
    if family is not None:
        message = f"model_type is {kind!r}, whose tokenizer is {family.name}, and no WordPiece"
    elif named is None or usual is None:
        return
    elif (usual.template, usual.model_input_names) == (
        facts.kind.template,
        facts.kind.model_input_names,
    ):
        return  # both put the same around texts, and give the same inputs
    else:
        message = (
            f"model_type is {kind!r}, whose tokenizer is {usual.__name__}; {TOKENIZER_CONFIG_FILE}"
            f" has {named!r}"
        )
    yield Finding("warning", MODEL_TYPE, message, file=CONFIG_FILE)


WEIGHTS_TOO_FEW_ROWS = declare(
    "weights-too-few-rows",
    so="the model raises an index error when an id from {token_id} to {other_id} comes",
    do="model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
)
WEIGHTS_VOCAB_SIZE = declare(
    "weights-vocab-size",
    so="the model does not load: the shapes differ",
    do='config.json: "vocab_size": the number of rows',
)
WEIGHTS_TOO_MANY_ROWS = declare(
    "weights-too-many-rows",
    so="the vocabulary is a shorter one than the model was trained with",
    do="put the model's own vocabulary and added_tokens.json into the directory",
)


@rule(WEIGHTS_TOO_FEW_ROWS, WEIGHTS_VOCAB_SIZE, WEIGHTS_TOO_MANY_ROWS, needs="vocabulary")
def embedding_rows(facts: Facts) -> Iterator[Finding]:
    """The rows of the embeddings in .safetensors files against the ids."""
    for entry in entries_in(facts.files.path):
        if not entry.name.endswith(_SUFFIX) or not entry.is_file():
            continue
        try:
            tensors = read_header(Path(entry)).tensors
        except (SafetensorsError, OSError):  # whoever loads the model is told
            continue
        for tensor, known in tensors.items():
            if tensor.endswith(_WORD_EMBEDDINGS) and len(known.shape) == 2:
                yield from _rows(facts, entry.name, tensor, known.shape[0])


def _rows(facts: Facts, name: str, tensor: str, rows: int) -> Iterator[Finding]:
    said = facts.files.model_config.get("vocab_size")
    highest, needed = facts.highest_id, facts.rows_needed
    if rows <= highest:
        message = f"{tensor} has {rows} rows, and the highest id is {highest}"
        yield Finding(
            "error", WEIGHTS_TOO_FEW_ROWS, message, file=name, token_id=rows, other_id=highest
        )
    elif rows > needed and rows != said and not is_padded(rows, needed):
        message = (
            f"{tensor} has {rows} rows, and the tokenizer has {needed} ids: {rows - needed} rows"
            " are not used"
        )
        yield Finding("warning", WEIGHTS_TOO_MANY_ROWS, message, file=name)
    if type(said) is int and said != rows:
        message = f"{tensor} has {rows} rows, and vocab_size is {said} in {CONFIG_FILE}"
        yield Finding("error", WEIGHTS_VOCAB_SIZE, message, file=name)


def _generation_config(facts: Facts) -> dict[str, Any]:
    path = facts.files.path / _GENERATION_FILE
    try:
        return read_json_object(path) if path.is_file() else {}
    except TrietokError:  # whoever loads the model is told
        return {}
