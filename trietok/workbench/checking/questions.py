"""What `check` asks about a directory that loading does not ask.

A question is a function that yields findings about what was loaded.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from trietok.disk import NEW, entries_in, read_vocab_bytes
from trietok.errors import TrietokError
from trietok.files.doubts import as_json, is_padded, model_token_ids
from trietok.files.findings import Finding
from trietok.files.formats import (
    ADDITIONAL,
    ANY_KIND,
    CONFIG_FILE,
    GENERIC_FAST,
    RECORD,
    ROLES,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
)
from trietok.files.json_files import read_json_object
from trietok.files.json_place import NO_NORMALIZER
from trietok.files.kinds import family_of_name
from trietok.files.safetensors import SafetensorsError, read_header
from trietok.files.tokenizer_json_content import WORDPIECE, TokenizerJson
from trietok.files.tokenizer_json_writer import in_full, tokenizer_json_of
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.inputs.post_processors import shown_template
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.auto import class_of_model_type
from trietok.tokenizer.special_tokens import EXTRA

DECODER = "added_tokens_decoder"
# What tokenizer.json calls settings of tokenizer_config.json.
_NAMES_IN_JSON = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}
_FLAGS = ("special", "lstrip", "rstrip", "single_word")
_INPUTS = "input_ids token_type_ids attention_mask special_tokens_mask position_ids".split()
_GENERATION_FILE = "generation_config.json"
_WORD_EMBEDDINGS = "word_embeddings.weight"  # how the name ends in every model of the family


@dataclasses.dataclass(frozen=True)
class Loaded:
    """What was loaded from a directory or a file.

    Attributes:
        path: the directory or the file.
        vocabulary_file: the path of the vocab.txt.
        kind: the slow class that the files name.
        slow, fast: the two tokenizers; None if one does not load.
        config: the valid settings of tokenizer_config.json.
        special_map, model_config: special_tokens_map.json and config.json; empty if there is no
            such file.
        json: tokenizer.json; None if there is none, or trietok cannot read it.
        json_file: its path.
    """

    path: str
    vocabulary_file: str
    kind: Any
    slow: Any
    fast: Any
    config: dict[str, Any]
    special_map: dict[str, Any]
    model_config: dict[str, Any]
    json: TokenizerJson | None
    json_file: str

    @property
    def has_vocabulary_file(self) -> bool:
        """Whether there is a vocab.txt."""
        return os.path.isfile(self.vocabulary_file) and self.vocabulary_file != self.json_file

    @property
    def record(self) -> dict[str, Any]:
        """What trietok has noted in tokenizer_config.json."""
        return self.config.get(RECORD) or {}


# ---- the lines of vocab.txt ----------------------------------------------------------------------


def vocabulary_lines(loaded: Loaded) -> Iterator[Finding]:
    """Ask about lines that no text gives, and about lines that programs read differently."""
    file = os.path.basename(loaded.vocabulary_file)
    try:
        text = read_vocab_bytes(loaded.vocabulary_file).decode("utf-8")
    except (TrietokError, OSError, UnicodeDecodeError):
        return  # there is no such file, or loading has reported the error
    ends = re.findall(r"\r\n?|\n", text)
    returns = [number for number, end in enumerate(ends, start=1) if end != "\n"]
    if returns:
        message = "lines end in a carriage return"
        message += f", this one and {len(returns) - 1} more" if returns[1:] else ""
        yield Finding("warning", "carriage-return", message, file, returns[0])
    lines = re.split(r"\r\n?|\n", text)
    if lines[0].startswith("\ufeff"):
        message = f"the file begins with a byte-order mark, which belongs to {lines[0]!r}"
        yield Finding("error", "byte-order-mark", message, file, 1, lines[0], 0)
    free = set() if loaded.slow is None else {*loaded.slow.vocabulary.holes, *_added(loaded)}
    by_token: dict[str, list[int]] = {}
    for token_id, line in enumerate(lines[:-1] if lines[-1] == "" else lines):
        place: dict[str, Any] = {"line_number": token_id + 1, "token": line, "token_id": token_id}
        if line:
            by_token.setdefault(line, []).append(token_id + 1)
        elif token_id not in free:
            yield Finding("warning", "blank-line", "the line is blank", file, **place)
        word = line.removeprefix(BERT_PREFIX)  # some vocabularies have U+2028 as a token
        if word.strip() and (line != line.strip() or "\t" in line):
            message = f"the token {line!r} has whitespace"
            yield Finding("warning", "edge-space", message, file, **place)
    for token, numbers in by_token.items():
        if len(numbers) > 1:
            token_id = numbers[-1] - 1
            if loaded.slow is not None:
                token_id = loaded.slow.convert_tokens_to_ids(token)
            shown = " and ".join(map(str, numbers[:2])) + (", ..." if numbers[2:] else "")
            message = f"{token!r} is on the lines {shown}; its id is {token_id}"
            known: dict[str, Any] = {"token": token, "token_id": token_id, "lines": tuple(numbers)}
            yield Finding("warning", "duplicate-line", message, file, numbers[0], **known)


def _added(loaded: Loaded) -> Mapping[int, Any]:
    added: Mapping[int, Any] = loaded.slow.added_tokens_decoder
    return added


# ---- special tokens and ids ----------------------------------------------------------------------


def roles(loaded: Loaded) -> Iterator[Finding]:
    """Ask whether two files disagree about a role, and whether a role that every call needs is
    null.
    """
    for role in (*ROLES, ADDITIONAL):
        counts = _contents(loaded.slow.special_tokens_map.get(role))
        is_null = loaded.config.get(role, "") is None
        for file, values in (
            (TOKENIZER_CONFIG_FILE, loaded.config),
            (SPECIAL_TOKENS_MAP_FILE, loaded.special_map),
        ):
            tokens = _contents(values.get(role))
            if not tokens.issubset(counts) and not is_null:
                shown = " ".join(sorted(tokens))
                counting = repr(" ".join(sorted(counts))) if counts else "nothing"
                message = f"{role} is {shown!r} here, and {counting} counts"
                known: dict[str, Any] = {"token": shown, "role": role}
                yield Finding("warning", "role-contradiction", message, file, **known)
    for role in ("cls_token", "sep_token"):
        if getattr(loaded.slow, role) is None:
            message = f"{role} is null, and calls put it around each text"
            yield Finding("error", "role-null", message, TOKENIZER_CONFIG_FILE, role=role)


def _contents(value: Any) -> set[str]:
    """Return the tokens of a role, which is one or a list of strings or objects."""
    tokens = value if isinstance(value, list) else [value]
    contents = (token.get("content") if isinstance(token, dict) else token for token in tokens)
    return {str(token) for token in contents if token}


def ids_without_a_token(loaded: Loaded) -> Iterator[Finding]:
    """Ask for ids between those of tokens that no token has."""
    tokens = loaded.slow.vocabulary.tokens
    in_vocabulary = (token_id for token_id, token in enumerate(tokens) if token is not None)
    holes = set(loaded.record.get("vocab_holes") or ())
    renumbered: dict[int, str] = {}
    if loaded.fast is not None and loaded.json is None:
        behind, added = loaded.fast.vocab_size, loaded.fast.added_tokens_decoder.items()
        renumbered = {token_id: token.content for token_id, token in added if token_id > behind}
    for before, after in pairwise([-1, *sorted({*in_vocabulary, *_added(loaded)})]):
        first, last = before + 1, after - 1
        if first > last:
            continue
        message = f"id {first} has" if first == last else f"ids {first} to {last} have"
        is_declared = last - first < len(holes) and holes.issuperset(range(first, last + 1))
        message += f" no token{', as the files declare' if is_declared else ''}"
        if after in renumbered:
            message += (
                f"; the fast class of transformers gives {renumbered[after]!r} an id from {first},"
                f" since there is no {TOKENIZER_FILE}"
            )
        severity: Any = "note" if is_declared else "warning"
        yield Finding(severity, "id-hole", message, token_id=first, other_id=last)


# ---- tokenizer_config.json -----------------------------------------------------------------------


def options(loaded: Loaded) -> Iterator[Finding]:
    """Ask for keys without an effect that look like options, and for odd names of inputs."""
    # config.json has `pad_token_id` and others, which some files repeat.
    known = {DECODER, RECORD, "tokenizer_class", *(loaded.config.get(EXTRA) or ())}
    unknown = [
        key
        for key in loaded.config
        if key not in known and not key.endswith("_id") and not key.startswith("_")
    ]
    pairs = [(key, _NAMES_IN_JSON[key]) for key in unknown if key in _NAMES_IN_JSON]
    pairs += loaded.kind.misspellings([key for key in unknown if key not in _NAMES_IN_JSON])
    for key, meant in pairs:
        message = f"the option {key!r} changes nothing; {meant!r} is probably meant"
        yield Finding("warning", "option-misspelt", message, TOKENIZER_CONFIG_FILE)
    names = loaded.config.get("model_input_names")
    if names is None:
        return
    odd = [name for name in names[1:] if name not in _INPUTS]
    problems = [f"has {name!r:.60}, which calls do not return" for name in odd]
    if names[0] != "input_ids":
        problems.append(f"begins with {names[0]!r:.60}, not with 'input_ids'")
    for problem in problems:
        message = f"model_input_names {problem}"
        yield Finding("warning", "model-input-names", message, TOKENIZER_CONFIG_FILE)


def trietok_record(loaded: Loaded) -> Iterator[Finding]:
    """Ask whether trietok would write the record again that it reads."""
    tokenizers = [each for each in (loaded.slow, loaded.fast) if each is not None]
    for key, value in loaded.record.items():
        if value and value not in [each.record().get(key) for each in tokenizers]:
            message = f"{RECORD}.{key} is {value!r:.100}, which the other files contradict"
            yield Finding("warning", "record-false", message, TOKENIZER_CONFIG_FILE)


def abandoned_saves(loaded: Loaded) -> Iterator[Finding]:
    """Ask for the plan of a save that had replaced no file."""
    for path in sorted(Path(loaded.path).glob(f"*{TOKENIZER_CONFIG_FILE}{NEW}")):
        message = "a save was interrupted before it replaced a file"
        yield Finding("note", "save-abandoned", message, path.name)


# ---- tokenizer.json ------------------------------------------------------------------------------


def tokenizer_json(loaded: Loaded) -> Iterator[Finding]:
    """Ask what tokenizer.json does to a text that slow tokenizers and transformers 5 do not do."""
    if loaded.json is None:
        return
    # Of a file without a vocab.txt, transformers 4 uses all, but transformers 5 does not.
    is_alone = not loaded.has_vocabulary_file
    if is_alone and loaded.config.get("tokenizer_class") in (GENERIC_FAST, *ANY_KIND):
        return
    if not loaded.slow.do_basic_tokenize:
        message = f"do_basic_tokenize is false in {TOKENIZER_CONFIG_FILE}, and has no effect here"
        yield Finding("warning", "tokenizer-json-setting", message, TOKENIZER_FILE)
        return
    overridden = [name for name, _ in getattr(loaded.fast, "overridden", ())]
    for message in _differences(loaded.json, loaded.slow, overridden):
        severity: Any = "note" if is_alone else "warning"
        yield Finding(severity, "tokenizer-json-setting", message, TOKENIZER_FILE)
    words = loaded.config.get("never_split") if loaded.fast is not None else None
    split = [word for word in words or () if loaded.fast.tokenize(word) != [word]]
    if split:
        message = f"never_split has no effect here, so fast tokenizers split {split[0]!r}"
        yield Finding("warning", "tokenizer-json-setting", message, TOKENIZER_FILE)


def _differences(json: TokenizerJson, slow: Any, overridden: list[str]) -> Iterator[str]:
    """Yield what a tokenizer.json says otherwise than one of the slow tokenizer would."""
    wanted = tokenizer_json_of(slow)
    if json.components is None:
        said, others = json.normalizer or NO_NORMALIZER, wanted.normalizer or NO_NORMALIZER
        values = said._asdict()
        for name, value in others._asdict().items():
            is_same = values[name] == value or (
                name == "strip_accents"
                and in_full(said).strip_accents == in_full(others).strip_accents
            )
            if not is_same and _NAMES_IN_JSON.get(name, name) not in overridden:
                shown, other = as_json(values[name]), as_json(value)
                yield f"normalizer.{name} is {shown}, and {other} by the other files"
    else:
        stages = " and ".join(_stage(part) for part in json.components)
        yield f"it has the normalizer and the pre-tokenizer {stages}, which the other files lack"
    for name in WORDPIECE:
        value, other = getattr(json, name), getattr(wanted, name)
        if value != other:
            yield f"model.{name} is {value!r}, and {other!r} by the other files"
    if None not in (slow.cls_token, slow.sep_token):
        with_types = "token_type_ids" in slow.model_input_names
        for is_pair, what in ((False, "one text"), (True, "a pair")):
            template, other = (
                shown_template(each.pieces(is_pair), with_types) for each in (json, wanted)
            )
            if template != other:
                yield f"the template for {what} is {template}, and {other} by the other files"


def decoder(loaded: Loaded) -> Iterator[Finding]:
    """Ask whether tokenizer.json joins the pieces of words."""
    if loaded.json is None:
        return
    said, prefix = loaded.json.decoder, loaded.json.continuing_subword_prefix
    if said is None or said.prefix != prefix:
        message = "decoder is null" if said is None else f"decoder.prefix is {said.prefix!r}"
        message += f", and the model's prefix is {prefix!r}"
        yield Finding("warning", "tokenizer-json-decoder", message, TOKENIZER_FILE)


def _stage(component: Any) -> str:
    """Return what a normalizer or pre-tokenizer is, such as `NFC, Lowercase`."""
    if component is None:
        return "null"
    steps = component.get("normalizers", component.get("pretokenizers"))
    return str(component["type"]) if steps is None else ", ".join(map(_stage, steps))


def added_in_two_files(loaded: Loaded) -> Iterator[Finding]:
    """Ask for added tokens that tokenizer.json and the other files have with other flags, or not at
    all.
    """
    if loaded.json is None:
        return
    own = {token.content: (token_id, token) for token_id, token in loaded.json.added_tokens.items()}
    others = {token.content: (token_id, token) for token_id, token in _added(loaded).items()}
    for content in {**own, **others}:
        token_id, token = own.get(content) or others[content]
        known: dict[str, Any] = {"token": content, "token_id": token_id}
        if content not in others:
            message = f"the other files lack the added token {content!r}, id {token_id}"
            yield Finding("error", "tokenizer-json-differs", message, TOKENIZER_FILE, **known)
            continue
        if content not in own:
            message = f"it lacks the added token {content!r}, id {token_id}, of the other files"
        else:
            other = others[content][1]
            flags = [flag for flag in _FLAGS if getattr(token, flag) != getattr(other, flag)]
            if not flags:
                continue
            shown = ", ".join(f"{flag} {as_json(getattr(token, flag))}" for flag in flags)
            message = f"{content!r} has {shown} here, and not in the other files"
        yield Finding("warning", "tokenizer-json-added", message, TOKENIZER_FILE, **known)


def truncation_and_padding(loaded: Loaded) -> Iterator[Finding]:
    """Ask for truncation and padding, which `tokenizers` applies to every text."""
    json = loaded.json
    truncation, padding = (json.truncation, json.padding) if json else (None, None)
    longest = loaded.model_config.get("max_position_embeddings")

    def finding(message: str, is_odd: bool) -> Finding:
        severity: Any = "warning" if is_odd else "note"
        return Finding(severity, "tokenizer-json-length", message, TOKENIZER_FILE)

    for what, length in (
        ("truncation.max_length", truncation and truncation.max_length),
        ("padding.strategy", padding and padding.strategy),
    ):
        if length is not None:
            is_too_long = isinstance(length, int) and type(longest) is int and length > longest
            message = f"{what} is {length}"
            message += f", and max_position_embeddings {longest}" if is_too_long else ""
            yield finding(message, is_too_long)
    token = loaded.slow.pad_token
    if padding is not None and token is not None:
        known = loaded.slow.pad_token_id
        if (padding.pad_token, padding.pad_id) != (token, known):
            message = f"padding is with {padding.pad_token!r}, id {padding.pad_id}"
            yield finding(f"{message}; the pad_token is {token!r}, id {known}", True)


# ---- the model -----------------------------------------------------------------------------------


def model_configs(loaded: Loaded) -> Iterator[Finding]:
    """Ask whether the model has other ids, fewer positions or fewer token types, or is of another
    kind than the tokenizer.
    """
    path = os.path.join(loaded.path, _GENERATION_FILE)
    try:
        generation = read_json_object(path) if os.path.isfile(path) else {}
    except TrietokError:  # the model's file, which no tokenizer reads
        generation = {}
    yield from model_token_ids(loaded.slow, _GENERATION_FILE, generation)
    yield from model_token_ids(loaded.slow, TOKENIZER_CONFIG_FILE, loaded.config)
    config = loaded.model_config
    positions, longest = config.get("max_position_embeddings"), loaded.slow.model_max_length
    if type(positions) is int and longest > positions:
        is_set = longest < VERY_LARGE_INTEGER
        message = f"max_position_embeddings is {positions}, and model_max_length is "
        message += str(longest) if is_set else "not set, or sets no limit"
        yield Finding("warning", "model-length", message, CONFIG_FILE)
    types = config.get("type_vocab_size")
    highest = max(part[2] for part in loaded.slow.template.pair)
    if (
        type(types) is int
        and types <= highest
        and "token_type_ids" in loaded.slow.model_input_names
    ):
        message = f"type_vocab_size is {types}, and a pair has token type ids up to {highest}"
        yield Finding("warning", "model-types", message, CONFIG_FILE)
    kind = config.get("model_type")
    if isinstance(kind, str) and config.get("tokenizer_class") is None:
        yield from _about_model_type(loaded, kind)


def _about_model_type(loaded: Loaded, model_type: str) -> Iterator[Finding]:
    usual, family = class_of_model_type(model_type), family_of_name(model_type)
    if family is not None:
        message = f"model_type is {model_type!r}, whose tokenizer is {family.name}, not WordPiece"
        yield Finding("warning", "model-type", message, CONFIG_FILE)
    elif "tokenizer_class" in loaded.config and usual is not None:
        names = [
            (kind.template, kind.model_input_names) for kind in (usual, loaded.kind)
        ]  # the same for most relatives of BERT
        if names[0] != names[1]:
            message = (
                f"model_type is {model_type!r}, whose tokenizer is {usual.__name__};"
                f" {TOKENIZER_CONFIG_FILE} names {loaded.config['tokenizer_class']!r}"
            )
            yield Finding("warning", "model-type", message, CONFIG_FILE)


def embedding_rows(loaded: Loaded) -> Iterator[Finding]:
    """Ask whether the embeddings in .safetensors files have a row for each id."""
    if not os.path.isdir(loaded.path):
        return
    size, needed = loaded.model_config.get("vocab_size"), loaded.slow.max_id + 1
    for entry in entries_in(loaded.path):
        if not entry.name.endswith(".safetensors"):
            continue
        try:
            tensors = read_header(entry.path).tensors
        except (SafetensorsError, OSError):  # no tokenizer reads the file
            continue
        for name, tensor in tensors.items():
            if not name.endswith(_WORD_EMBEDDINGS) or len(tensor.shape) != 2:
                continue
            rows = tensor.shape[0]
            is_padded_size = rows in (needed, size) or is_padded(rows, needed)
            message = f"{name} has {rows} rows, and ids go up to {needed - 1}"
            is_other_size = type(size) is int and rows != size
            message += f"; vocab_size in {CONFIG_FILE} is {size}" if is_other_size else ""
            if rows < needed or is_other_size:
                yield Finding("error", "weights-rows", message, entry.name)
            elif not is_padded_size:
                yield Finding("warning", "weights-rows", message, entry.name)


# Those after the first need a slow tokenizer.
QUESTIONS: tuple[Callable[[Loaded], Iterator[Finding]], ...] = (
    vocabulary_lines,
    roles,
    ids_without_a_token,
    options,
    trietok_record,
    abandoned_saves,
    tokenizer_json,
    decoder,
    added_in_two_files,
    truncation_and_padding,
    model_configs,
    embedding_rows,
)
