"""config.json and the weights of the model against the tokenizer."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from typing import Any

from trietok.workbench.checking.report import Finding
from trietok.workbench.checking.rules.facts import Facts, shortest_useful, special_places
from trietok.workbench.checking.rules.ids import highest_id, is_padded, rows_needed
from trietok.workbench.checking.rules.options import case_told_by
from trietok.errors import TrietokError
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE, check_depth, read_json_text
from trietok.files.safetensors import SafetensorsError, tensor_shapes
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.tokenizer.auto import class_of_model_type

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
_MODULES_FILE = "modules.json"  # of sentence-transformers, as the next
_SENTENCE_FILE = "sentence_bert_config.json"
_WITHOUT_FILES = ("Normalize", "Dropout")  # modules that keep nothing, so that a download may lack their folder

# Types of models whose tokenizers are of other kinds than WordPiece.
_OTHER_KINDS = frozenset(
    "albert bart bigbird_pegasus big_bird bloom camembert clip codegen deberta deberta-v2 falcon gemma gpt2 gpt_neo "
    "gpt_neox gptj led llama longformer m2m_100 marian mbart mistral modernbert mt5 opt pegasus phi qwen2 qwen3 "
    "roberta t5 whisper xglm xlm xlm-roberta xlnet".split()
)


def token_ids(facts: Facts) -> Iterator[Finding]:
    """`pad_token_id` and the like against the tokens of the roles."""
    generation = yield from _json_of(facts, _GENERATION_FILE, "model-token-id")
    for role, token in facts.roles.items():
        for file, config in (
            (CONFIG_FILE, facts.files.model_config),
            (TOKENIZER_CONFIG_FILE, facts.files.config),
            (_GENERATION_FILE, generation if isinstance(generation, dict) else {}),
        ):
            said, token_id = config.get(f"{role}_id"), facts.id_of(token)
            if said is None or isinstance(said, list) or token_id is None or (type(said) is int and said == token_id):
                continue
            other = facts.by_line.get(said) if type(said) is int else None
            other = next((each.content for each_id, each, _ in facts.added if each_id == said), other)
            whose = "which no token has" if other is None else f"that of {other!r}"
            message = f"{role}_id is {said!r:.60}, {whose}; the {role} is {token!r}, id {token_id}"
            known: dict[str, Any] = {"token": token, "token_id": token_id, "role": role}
            known["other_id"] = said if type(said) is int else None
            yield Finding("warning", "model-token-id", message, file=file, **known)


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
    elif isinstance(longest, (int, float)) and facts.slow is not None:
        message = f"model_max_length is {longest}"
        if longest < shortest_useful(facts):
            message += f", and the special tokens around a pair are {special_places(facts)}: hardly a word is left"
            yield Finding("warning", "short-length", message, file=TOKENIZER_CONFIG_FILE)
        elif type(positions) is int and longest < positions:
            message += f", and the model takes {positions} (max_position_embeddings)"
            yield Finding("note", "short-length", message, file=TOKENIZER_CONFIG_FILE)
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
    held: dict[str, set[str]] = {}
    for name in names:
        try:
            shapes = tensor_shapes(path / name)
        except SafetensorsError as error:
            yield Finding("error", "weights-unreadable", str(error), file=name)
            continue
        except OSError as error:
            yield Finding("error", "weights-unreadable", f"cannot read it: {error.strerror}", file=name)
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


def _other_sizes(facts: Facts, name: str, tensor: str, shape: tuple[int, ...]) -> Iterator[Finding]:
    """The other sizes of BERT's embeddings against config.json."""
    for end, key in _SIZES.items():
        if not tensor.endswith(end) or len(shape) != 2:
            continue
        for size, named in zip(shape, (key, "hidden_size"), strict=True):
            said = facts.files.model_config.get(named) if named else None
            if type(said) is int and said != size:
                message = f"{tensor} is {shape[0]} x {shape[1]}, and {named} is {said} in {CONFIG_FILE}"
                yield Finding("error", "weights-shape", message, file=name)


def _index(facts: Facts, name: str, held: dict[str, set[str]]) -> Iterator[Finding]:
    """The shards that an index names, and the tensors that it says are in each."""
    index = yield from _json_of(facts, name, "weights-index")
    if index is None:
        return
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(shard, str) for shard in places.values()):
        yield Finding("warning", "weights-index", "it has no object weight_map of tensors and files", file=name)
        return
    there = set(os.listdir(facts.files.path))
    shards = sorted(set(places.values()))
    # Without any shard the weights were left out, and beside a file with all of them the index is not read.
    is_read = _INDEXES[name] not in there and not there.isdisjoint(shards)
    for shard in shards:
        lacking = [
            tensor for tensor, place in places.items() if place == shard and tensor not in held.get(shard, places)
        ]
        if shard not in there:
            message = f"it names {shard!r:.100}, which is not there"
        elif lacking:
            message = f"it says that {lacking[0]!r:.100} is in {shard!r:.100}, which does not have it"
        else:
            continue
        yield Finding("error" if is_read else "warning", "weights-index", message, file=name)


def sentence_model(facts: Facts) -> Iterator[Finding]:
    """What sentence-transformers keeps beside the tokenizer."""
    settings = yield from _json_of(facts, _SENTENCE_FILE, "sentence-module")
    settings = settings if isinstance(settings, dict) else {}
    longest, positions = settings.get("max_seq_length"), facts.files.model_config.get("max_position_embeddings")
    if longest is not None and (type(longest) is not int or longest < shortest_useful(facts)):
        message = f"max_seq_length is {longest!r:.60}, which is no number that leaves something of a text"
        yield Finding("warning", "short-length", message, file=_SENTENCE_FILE)
    elif type(positions) is int and longest is not None and longest > positions:
        message = f"max_seq_length is {longest}, and max_position_embeddings is {positions}"
        yield Finding("warning", "model-too-short", message, file=_SENTENCE_FILE)
    told = case_told_by(facts)
    if settings.get("do_lower_case") is True and told.lowers is False:
        message = f"{told.said}, and do_lower_case is true: sentence-transformers lower-cases texts first"
        yield Finding("warning", "cased-vocabulary", message, file=_SENTENCE_FILE)
    yield from _modules(facts)


def _modules(facts: Facts) -> Iterator[Finding]:
    modules = yield from _json_of(facts, _MODULES_FILE, "sentence-module")
    for module in modules if isinstance(modules, list) else ():
        path, kind = (module.get("path"), module.get("type")) if isinstance(module, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(kind, str):
            yield Finding("warning", "sentence-module", "a module has no path and type", file=_MODULES_FILE)
        elif path and not kind.endswith(_WITHOUT_FILES):
            folder = facts.files.path / path
            if path in (".", "..") or os.path.basename(path) != path or not os.path.isdir(folder):
                message = f"it names the folder {path!r:.100} for {kind!r:.100}, and there is no such folder"
                yield Finding("warning", "sentence-module", message, file=_MODULES_FILE)
            elif kind.endswith("Pooling"):
                yield from _pooling(facts, f"{path}/{CONFIG_FILE}")


def _pooling(facts: Facts, name: str) -> Iterator[Finding]:
    settings = yield from _json_of(facts, name, "sentence-module")
    if not isinstance(settings, dict):
        if settings is None and not os.path.exists(facts.files.path / name):
            yield Finding("warning", "sentence-module", "there is no such file, and pooling needs it", file=name)
        return
    said, size = settings.get("word_embedding_dimension"), facts.files.model_config.get("hidden_size")
    if type(said) is int and type(size) is int and said != size:
        message = f"word_embedding_dimension is {said}, and hidden_size is {size} in {CONFIG_FILE}"
        yield Finding("warning", "sentence-module", message, file=name)
    modes = [value for key, value in settings.items() if key.startswith("pooling_mode")]
    if modes and not any(modes):
        yield Finding("warning", "sentence-module", "every pooling_mode is false, so no vector comes out", file=name)


def _json_of(facts: Facts, name: str, code: str) -> Generator[Finding, None, Any]:
    """The value of a JSON file of the directory; None where it is not there or cannot be read, which is a finding."""
    path = facts.files.path / name
    if not os.path.isfile(path):
        return None
    try:
        value = json.loads(read_json_text(path))
        check_depth(value)
    except (TrietokError, ValueError, RecursionError) as error:
        message = str(error).replace(str(path), name) or "it is nested too deeply"
        yield Finding("warning", code, f"it cannot be read: {message}", file=name)
        return None
    return value
