"""Rules about a model: config.json, its weights and what sentence-transformers keeps, against the
tokenizer.

In: `Facts`. Out: findings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from trietok.disk import entries_in
from trietok.errors import TrietokError
from trietok.files.doubts import is_padded, near_names
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE
from trietok.files.json_files import check_depth, read_json_text
from trietok.files.kinds import family_of_name, tokenizer_folders
from trietok.files.safetensors import SafetensorsError, read_header
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.tokenizer.auto import class_of_model_type
from trietok.workbench.checking.facts import AUTO_MAP, CASED_VOCABULARY, Facts, rule
from trietok.workbench.checking.files import CHECKED_FILES, NOT_THAT_FILE, WRONG_SHAPE, is_foreign
from trietok.workbench.checking.report import NOTE, WARNING, Code, Finding, Severity, declare
from trietok.workbench.sentence_modules import (
    MODULES_FILE,
    SENTENCES_FILE,
    prompt_faults,
    read_modules,
)

_WORD_EMBEDDINGS = "word_embeddings.weight"  # how the name ends in every model of the family
_SUFFIX = ".safetensors"
_INDEXES = {  # an index of shards → the one file that is taken before it
    "model.safetensors.index.json": "model.safetensors",
    "pytorch_model.bin.index.json": "pytorch_model.bin",
}
_SIZES = {  # of BERT: the end of a tensor's name → what config.json calls its rows
    "embeddings.position_embeddings.weight": "max_position_embeddings",
    "embeddings.token_type_embeddings.weight": "type_vocab_size",
    "embeddings.word_embeddings.weight": None,
}
_GENERATION_FILE = "generation_config.json"

NAME_NOT_READ = declare(
    "name-not-read",
    so="what it says is not read, so ids may be others",
    do="rename {file}, or remove it if it is an old copy",
)
# Other files that are looked into, of the directory and of its folders, by their endings.
_ENDINGS = (
    ".json",
    ".txt",
    ".jinja",
    ".model",
    ".bin",
    ".safetensors",
    ".onnx",
    ".h5",
    ".msgpack",
    ".pt",
    ".ot",
)


@rule(NAME_NOT_READ, NOT_THAT_FILE)
def names_and_contents(facts: Facts) -> Iterator[Finding]:
    """Files that are not read for their names, and other files than those of the tokenizer that are
    no such files.
    """
    directory, known = str(facts.files.path), {finding.file for finding in facts.files.findings}
    for name, meant in near_names(directory, (*CHECKED_FILES, MODULES_FILE, SENTENCES_FILE)):
        yield Finding(
            "warning", NAME_NOT_READ, f"it is not read, since its name is not {meant}", file=name
        )
    with_tokenizer, folders = (
        tokenizer_folders(directory),
        ["", *(each.name for each in entries_in(directory))],
    )
    for folder in (
        each for each in folders if not each.startswith(".") and os.path.isdir(directory)
    ):
        for entry in entries_in(os.path.join(directory, folder)):
            name, shown = entry.name, f"{folder}/{entry.name}".lstrip("/")
            # Other rules read these.
            is_read = (name in CHECKED_FILES and folder in ("", *with_tokenizer)) or (
                folder == "" and name.endswith(_SUFFIX)
            )
            if name.endswith(_ENDINGS) and not is_read and shown not in known and _is_file(entry):
                is_foreign(facts.files, Path(entry), shown, "warning")


ID_PAST_MODEL = declare(
    "id-past-model",
    "ids for which the model has no embedding row",
    so="the model raises an index error when the id comes",
    do="model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
)


def _is_file(entry: os.DirEntry[str]) -> bool:
    # A link that leads nowhere was to be a file.
    return os.path.isfile(entry) or not os.path.exists(entry)


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
    generation = yield from _json_of(facts, _GENERATION_FILE, MODEL_TOKEN_ID)
    generation = generation if isinstance(generation, dict) else {}
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
SHORT_LENGTH = declare(
    "short-length",
    so="truncation cuts texts shorter than the model needs",
    do="{file}: the length that the model was trained with, such as its max_position_embeddings",
)


@rule(MODEL_TOO_SHORT, MODEL_TYPES, SHORT_LENGTH)
def lengths_and_types(facts: Facts) -> Iterator[Finding]:
    """How many positions and token types the model has, against what the tokenizer gives."""
    config = facts.files.model_config
    positions, longest = (
        config.get("max_position_embeddings"),
        facts.files.config.get("model_max_length"),
    )
    if (
        type(positions) is int
        and isinstance(longest, (int, float))
        and positions < longest < VERY_LARGE_INTEGER
    ):
        message = (
            f"max_position_embeddings is {positions}, and model_max_length is {int(longest)} in "
        )
        yield Finding("warning", MODEL_TOO_SHORT, message + TOKENIZER_CONFIG_FILE, file=CONFIG_FILE)
    elif isinstance(longest, (int, float)) and facts.slow is not None:
        message = f"model_max_length is {longest}"
        if longest < facts.shortest_useful:
            message += (
                f", and the special tokens around a pair are {facts.special_places}: hardly a word"
                " is left"
            )
            yield Finding("warning", SHORT_LENGTH, message, file=TOKENIZER_CONFIG_FILE)
        elif type(positions) is int and longest < positions:
            message += f", and the model takes {positions} (max_position_embeddings)"
            yield Finding("note", SHORT_LENGTH, message, file=TOKENIZER_CONFIG_FILE)
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


WEIGHTS_UNREADABLE = declare(
    "weights-unreadable",
    "files of weights cannot be read",
    so="the model does not load",
    do="copy or download {file} again",
)
WEIGHTS_INDEX = declare(
    "weights-index",
    "an index names shards or tensors that are not there",
    so="a model that is loaded by the index does not load",
    do="copy or download what {file} names, or the index again",
)
WEIGHTS_SHAPE = declare(
    "weights-shape",
    "sizes of the weights are not those of config.json",
    so="the model does not load: the shapes differ",
    do="put the model's own config.json or weights there",
)
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


@rule(
    WEIGHTS_UNREADABLE,
    WEIGHTS_INDEX,
    WEIGHTS_SHAPE,
    WEIGHTS_TOO_FEW_ROWS,
    WEIGHTS_VOCAB_SIZE,
    WEIGHTS_TOO_MANY_ROWS,
    needs="vocabulary",
)
def embedding_rows(facts: Facts) -> Iterator[Finding]:
    """The rows of the embeddings in .safetensors files against the ids."""
    path = facts.files.path
    if not os.path.isdir(path):
        return
    with os.scandir(path) as entries:
        names = sorted(
            entry.name for entry in entries if entry.name.endswith(_SUFFIX) and _is_file(entry)
        )
    held: dict[str, set[str]] = {}
    for name in names:
        try:
            shapes = {key: tensor.shape for key, tensor in read_header(path / name).tensors.items()}
        except (SafetensorsError, OSError) as error:
            message = (
                f"cannot read it: {error.strerror}" if isinstance(error, OSError) else str(error)
            )
            yield Finding("error", WEIGHTS_UNREADABLE, message, file=name)
            continue
        held[name] = set(shapes)
        for tensor, shape in shapes.items():
            if tensor.endswith(_WORD_EMBEDDINGS) and len(shape) == 2:
                yield from _rows(facts, name, tensor, shape[0])
            if facts.files.model_config.get("model_type") == "bert":
                yield from _other_sizes(facts, name, tensor, shape)
    for name in _INDEXES:
        yield from _index(facts, name, held)


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


def _other_sizes(facts: Facts, name: str, tensor: str, shape: tuple[int, ...]) -> Iterator[Finding]:
    """The other sizes of BERT's embeddings against config.json."""
    for end, key in _SIZES.items():
        if not tensor.endswith(end) or len(shape) != 2:
            continue
        for size, named in zip(shape, (key, "hidden_size"), strict=True):
            said = facts.files.model_config.get(named) if named else None
            if type(said) is int and said != size:
                message = (
                    f"{tensor} is {shape[0]} x {shape[1]}, and {named} is {said} in {CONFIG_FILE}"
                )
                yield Finding("error", WEIGHTS_SHAPE, message, file=name)


def _index(facts: Facts, name: str, held: dict[str, set[str]]) -> Iterator[Finding]:
    """The shards that an index names, and the tensors that it says are in each."""
    index = yield from _json_of(facts, name, WEIGHTS_INDEX)
    if index is None:
        return
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(shard, str) for shard in places.values()):
        yield Finding(
            "warning", WEIGHTS_INDEX, "it has no object weight_map of tensors and files", file=name
        )
        return
    there = set(os.listdir(facts.files.path))
    shards = sorted(set(places.values()))
    # Without any shard the weights were left out, and beside a file with all of them the index is
    # not read.
    is_read = _INDEXES[name] not in there and not there.isdisjoint(shards)
    severity: Severity = "error" if is_read else "warning"
    for shard in shards:
        of_shard = [tensor for tensor, place in places.items() if place == shard]
        lacking = [tensor for tensor in of_shard if tensor not in held.get(shard, places)]
        if shard not in there:
            yield Finding(
                severity, WEIGHTS_INDEX, f"it names {shard!r:.100}, which is not there", name
            )
        elif lacking:
            message = (
                f"it says that {lacking[0]!r:.100} is in {shard!r:.100}, which does not have it"
            )
            yield Finding(severity, WEIGHTS_INDEX, message, name)


SENTENCE_MODULE = declare(
    "sentence-module",
    so="sentence-transformers does not load the model, or makes wrong vectors of it",
    do="put the model's own {file} and folders there",
)


@rule(SENTENCE_MODULE, AUTO_MAP, SHORT_LENGTH, CASED_VOCABULARY, MODEL_TOO_SHORT)
def sentence_model(facts: Facts) -> Iterator[Finding]:
    """What sentence-transformers keeps beside the tokenizer, and in the folders of its modules."""
    modules, faults = read_modules(facts.files.path)
    known = {finding.file for finding in facts.files.findings if finding.code == NOT_THAT_FILE}
    for fault in (
        each for each in (*faults, *prompt_faults(facts.files.path)) if each.file not in known
    ):
        yield Finding("warning", SENTENCE_MODULE, fault.problem, file=fault.file)
    for module in modules:
        if module.kind == "" and isinstance(module.type, str):
            yield Finding(
                NOTE,
                AUTO_MAP,
                f"the type {module.type!r:.80} names code; it is never run",
                MODULES_FILE,
            )
    settings = yield from _json_of(facts, SENTENCES_FILE, SENTENCE_MODULE)
    settings = settings if isinstance(settings, dict) else {}
    longest, positions = (
        settings.get("max_seq_length"),
        facts.files.model_config.get("max_position_embeddings"),
    )
    if longest is not None and (type(longest) is not int or longest < facts.shortest_useful):
        message = (
            f"max_seq_length is {longest!r:.60}, which is no number that leaves something of a text"
        )
        yield Finding("warning", SHORT_LENGTH, message, file=SENTENCES_FILE)
    elif type(positions) is int and longest is not None and longest > positions:
        message = f"max_seq_length is {longest}, and max_position_embeddings is {positions}"
        yield Finding("warning", MODEL_TOO_SHORT, message, file=SENTENCES_FILE)
    if settings.get("do_lower_case") is True and facts.case[0] is False:
        message = (
            f"{facts.case[1]}, and do_lower_case is true: sentence-transformers lower-cases texts"
            " first"
        )
        yield Finding("warning", CASED_VOCABULARY, message, file=SENTENCES_FILE)


def _json_of(facts: Facts, name: str, code: Code) -> Generator[Finding, None, Any]:
    """The value of a JSON file of the directory; None where it is not there or cannot be read,
    which is a finding.
    """
    path = facts.files.path / name
    known = (finding.file for finding in facts.files.findings if finding.code == NOT_THAT_FILE)
    if not os.path.isfile(path) or name in known:
        return None
    try:
        value = json.loads(read_json_text(path))
        check_depth(value)
    except (TrietokError, ValueError, RecursionError) as error:
        message = str(error).replace(str(path), name) or "it is nested too deeply"
        yield Finding("warning", code, f"it cannot be read: {message}", file=name)
        return None
    return value
