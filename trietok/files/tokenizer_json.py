"""Read a tokenizer.json, which holds a whole tokenizer of the package tokenizers.

A file is read only if trietok supports all of it exactly. Otherwise the error names the part and
its place in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from trietok.disk import MOST_ENTRIES, Path_
from trietok.errors import InputTypeError
from trietok.files.components import pipeline_of
from trietok.files.formats import HIGHEST_ID, TOKENIZER_CONFIG_FILE
from trietok.files.json_files import read_json_object
from trietok.files.json_place import BERT_PRE_TOKENIZER, JsonPlace, component_type
from trietok.files.tokenizer_json_content import (
    JsonPadding,
    JsonTruncation,
    TokenizerJson,
    WordPieceDecoder,
    check_ids,
    ids_error,
    said_of_stages,
)
from trietok.inputs.post_processors import (
    BertProcessing,
    PostProcessor,
    RobertaProcessing,
    TemplatePiece,
    TemplateProcessing,
    TemplateToken,
)
from trietok.text.added_tokens import LONGEST_TOKEN, AddedToken

VERSION = "1.0"
# Ids without a token: a model keeps some free, a damaged file names an id far beyond.
MOST_HOLES = 100_000
HIGHEST_LENGTH = 2**64 - 1  # the highest number Rust can read as a length
_STAGES = "added_tokens normalizer pre_tokenizer post_processor decoder".split()


def read_tokenizer_json(path: Path_) -> TokenizerJson:
    """Read a tokenizer.json, whose model has to be WordPiece.

    >>> import pathlib, tempfile
    >>> from trietok.tokenizer_json import write_tokenizer_json
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tokenizer.json")
    >>> write_tokenizer_json(path, TokenizerJson({"[UNK]": 0, "un": 1}))
    >>> read_tokenizer_json(path).vocabulary
    {'[UNK]': 0, 'un': 1}

    Raises:
        FileError: the file is missing or unreadable.
        FileFormatError: it is not such a file, a value is not what it should be, or there is a
            component that trietok does not have; the message names it and its JSON path.
        VocabularyError: tokens and ids contradict each other, or the Rust tokenizer would give an
            added token another id than the file says.
    """
    return tokenizer_json_from_object(read_json_object(path), path)


def tokenizer_json_from_object(value: Any, path: Path_) -> TokenizerJson:
    """Return what the JSON object of a file says, as `read_tokenizer_json` does; `path` is what
    errors call the file.
    """
    whole = JsonPlace(value, (), path).object(
        ["model"], ["version", "truncation", "padding", *_STAGES]
    )
    version = whole.value.get("version", VERSION)
    if version != VERSION:
        problem = f"is {version!r:.60}; trietok reads version {VERSION!r}"
        raise whole.member("version").error(problem)
    if whole.value["model"] is None:
        raise whole.member("model").wrong("an object: a tokenizer without a model gives no ids")
    pre_tokenizer = whole.member("pre_tokenizer")
    if pre_tokenizer.value is None:
        raise pre_tokenizer.error(
            "is null or missing: whole texts would reach WordPiece uncut, which trietok does not"
            f" do; it has {BERT_PRE_TOKENIZER} and others"
        )
    model = _model(whole.member("model"))
    vocabulary = model.pop("vocab")
    post_processor = whole.member("post_processor").if_set(_post_processor)
    normalizer, components = said_of_stages(*pipeline_of(whole.member("normalizer"), pre_tokenizer))
    result = TokenizerJson(
        vocabulary,
        **model,
        normalizer=normalizer,
        components=components,
        post_processor=post_processor,
        decoder=whole.member("decoder").if_set(_decoder),
        added_tokens=whole.member("added_tokens").if_set(_added_tokens) or {},
        truncation=whole.member("truncation").if_set(_truncation),
        padding=whole.member("padding").if_set(_padding),
    )
    check_ids(result, path)
    return result


def truncation_and_padding_of(
    content: Mapping[str, Any], path: Path_
) -> tuple[JsonTruncation | None, JsonPadding | None]:
    """Return what a tokenizer.json says of truncation and padding; `content` is its object."""
    whole = JsonPlace(content, (), path)
    return whole.member("truncation").if_set(_truncation), whole.member("padding").if_set(_padding)


# ---- model and added tokens ----------------------------------------------------------------------


def _model(place: JsonPlace) -> dict[str, Any]:
    """Return the vocabulary and the settings of a WordPiece model by their names."""
    value = place.value
    if isinstance(value, dict) and "type" not in value:  # an old file, where the keys tell the type
        kind = "BPE" if "merges" in value else "Unigram" if "unk_id" in value else "WordPiece"
        place = place._replace(value={"type": kind, **value})
    component_type(place, "WordPiece")
    return place.settings(
        unk_token=JsonPlace.text,
        continuing_subword_prefix=JsonPlace.text,
        max_input_chars_per_word=_length,
        vocab=_vocabulary,
    )


def _vocabulary(place: JsonPlace) -> dict[str, int]:
    vocabulary = place.value
    if not isinstance(vocabulary, dict):
        raise place.wrong("an object token → id")
    if not vocabulary:
        raise ids_error(place.file, f"{place.path} is empty; a vocabulary needs at least one token")
    _check_ids_of_entries(place)
    longest = max(map(len, vocabulary))
    if longest > LONGEST_TOKEN:
        raise place.error(
            f"has a token of {longest:,} code points; one may have at most {LONGEST_TOKEN:,}"
        )
    if len(vocabulary) > MOST_ENTRIES:
        raise place.error(
            f"has {len(vocabulary):,} entries, more than the {MOST_ENTRIES:,} a vocabulary may have"
        )
    try:
        "".join(vocabulary).encode("utf-8")
    except UnicodeEncodeError:
        for token in vocabulary:
            place._replace(value=token).text()
    return vocabulary


def _check_ids_of_entries(place: JsonPlace) -> None:
    """Raise for the first id that is none, or that is another token's, and for many ids without a
    token.
    """
    vocabulary = place.value
    ids = vocabulary.values()
    if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) > HIGHEST_ID:
        for token in vocabulary:
            place.member(token).number()
    holes = max(ids) + 1 - len(ids)
    if holes > MOST_HOLES:
        raise ids_error(
            place.file,
            f"{place.path} leaves {holes:,} ids up to {max(ids):,} without a token, more than the"
            f" {MOST_HOLES:,} that may be; each would be a line of a vocab.txt",
        )
    if len(set(ids)) == len(ids):
        return
    owners: dict[int, str] = {}
    for token, token_id in vocabulary.items():
        owner = owners.setdefault(token_id, token)
        if owner != token:
            problem = (
                f"{place.path} gives the id {token_id} to both {owner!r:.60} and {token!r:.60};"
                " give one of them another id"
            )
            raise ids_error(place.file, problem, token, found_id=token_id)


def _added_tokens(place: JsonPlace) -> dict[int, AddedToken]:
    tokens: dict[int, AddedToken] = {}
    contents: set[str] = set()
    flags = dict.fromkeys("single_word lstrip rstrip normalized special".split(), JsonPlace.flag)
    for item in place.items():
        said = item.members(id=JsonPlace.number, content=JsonPlace.text, **flags)
        token_id, content = said.pop("id"), said["content"]
        if not content:
            raise item.member("content").wrong("at least one character")
        if token_id in tokens:
            problem = (
                f"{item.path} gives {content!r:.60} the id {token_id}, which"
                f" {tokens[token_id].content!r:.60} has; give one of them another id"
            )
            raise ids_error(place.file, problem, content, found_id=token_id)
        if content in contents:
            raise item.member("content").error(
                f"is {content!r:.60}, which stands in the list twice"
            )
        contents.add(content)
        tokens[token_id] = AddedToken(**said)
    return tokens


# ---- post-processors -----------------------------------------------------------------------------


def _post_processor(place: JsonPlace) -> PostProcessor:
    known = ("TemplateProcessing", "BertProcessing", "RobertaProcessing", "Sequence")
    kind = component_type(place, *known)
    if kind == "Sequence":
        steps = place.object(("type", "processors")).member("processors").items()
        if len(steps) != 1:
            raise place.error(
                f"is of type 'Sequence' with {len(steps)} processors, and trietok has one alone"
            )
        return _post_processor(steps[0])
    if kind == "TemplateProcessing":
        return _template_processing(place)
    if kind == "BertProcessing":
        return BertProcessing(**place.settings(sep=_token_and_id, cls=_token_and_id))
    said = place.settings(
        sep=_token_and_id,
        cls=_token_and_id,
        trim_offsets=JsonPlace.flag,
        add_prefix_space=JsonPlace.flag,
    )
    return RobertaProcessing(**said)


def _token_and_id(place: JsonPlace) -> tuple[str, int]:
    if not isinstance(place.value, list) or len(place.value) != 2:
        raise place.wrong("a list of a token and its id")
    token, token_id = place.items()
    return token.text(), token_id.number()


def _template_processing(place: JsonPlace) -> TemplateProcessing:
    place.object(("type", "single", "pair", "special_tokens"))
    listed = place.member("special_tokens")
    if not isinstance(listed.value, dict):
        raise listed.wrong("an object name → special token")
    tokens = {key: _template_token(listed.member(key)) for key in listed.value}
    single = _template(place.member("single"), "A", tokens)
    return TemplateProcessing(single, _template(place.member("pair"), "AB", tokens), tokens)


def _template_token(place: JsonPlace) -> TemplateToken:
    said = place.members(id=JsonPlace.text, ids=JsonPlace.items, tokens=JsonPlace.items)
    ids = tuple(item.number() for item in said["ids"])
    tokens = tuple(item.text() for item in said["tokens"])
    if len(ids) != len(tokens):
        raise place.error(
            f"has {len(ids)} ids and {len(tokens)} tokens; there should be as many of both"
        )
    return TemplateToken(said["id"], ids, tokens)


def _template(
    place: JsonPlace, sequences: str, tokens: Mapping[str, TemplateToken]
) -> tuple[TemplatePiece, ...]:
    """Return texts and special tokens in their order; each text stands there once, and each special
    token is a listed one.
    """
    pieces = tuple(_template_piece(item, tokens) for item in place.items())
    used = sorted(piece.name for piece in pieces if piece.is_sequence)
    if used != list(sequences):
        raise place.error(
            f"has the texts {', '.join(used) or 'none'}; a template that trietok can fill has "
            f"{' and '.join(sequences)} once each"
        )
    return pieces


def _template_piece(place: JsonPlace, tokens: Mapping[str, TemplateToken]) -> TemplatePiece:
    value = place.value
    if not isinstance(value, dict) or value.keys() not in ({"Sequence"}, {"SpecialToken"}):
        raise place.wrong('an object {"Sequence": ...} or {"SpecialToken": ...}')
    (kind,) = value
    piece = place.member(kind).object(("id", "type_id"))
    name, type_id = piece.member("id"), piece.member("type_id").number()
    if kind == "Sequence":
        return TemplatePiece(name.choice("A", "B"), type_id, is_sequence=True)
    if name.text() not in tokens:
        raise name.error(
            f"is {name.value!r:.60}, which post_processor.special_tokens does not list; add it"
            " there"
        )
    return TemplatePiece(name.value, type_id)


# ---- decoder, truncation and padding -------------------------------------------------------------


def _decoder(place: JsonPlace) -> WordPieceDecoder:
    component_type(place, "WordPiece")
    return WordPieceDecoder(**place.settings(prefix=JsonPlace.text, cleanup=JsonPlace.flag))


def _truncation(place: JsonPlace) -> JsonTruncation:
    said = place.members(
        {"direction": _side},
        max_length=_length,
        strategy=lambda value: value.choice("LongestFirst", "OnlyFirst", "OnlySecond"),
        stride=_length,
    )
    return JsonTruncation(**said)


def _padding(place: JsonPlace) -> JsonPadding:
    said = place.members(
        {"pad_to_multiple_of": lambda value: value.if_set(JsonPlace.number)},
        strategy=_fill_to,
        direction=_side,
        pad_id=JsonPlace.number,
        pad_type_id=JsonPlace.number,
        pad_token=JsonPlace.text,
    )
    return JsonPadding(**said)


def _fill_to(place: JsonPlace) -> str | int:
    if place.value == "BatchLongest":
        return "BatchLongest"
    if not isinstance(place.value, dict) or place.value.keys() != {"Fixed"}:
        raise place.wrong('"BatchLongest" or {"Fixed": length}')
    return place.member("Fixed").number()


def _length(place: JsonPlace) -> int:
    return place.number(HIGHEST_LENGTH)


def _side(place: JsonPlace) -> str:
    return place.choice("Right", "Left")


# ---- from other objects --------------------------------------------------------------------------


class ReadFile(NamedTuple):
    """A tokenizer.json whose JSON has been read already."""

    path: str
    value: dict[str, Any]


def tokenizer_json_of_object(value: Any) -> TokenizerJson:
    """Return what a `tokenizers.Tokenizer` would save to its tokenizer.json, or a `ReadFile`
    holds.
    """
    if isinstance(value, TokenizerJson):
        return value
    if isinstance(value, ReadFile):
        return tokenizer_json_from_object(value.value, value.path)
    if not callable(getattr(value, "to_str", None)):
        raise InputTypeError(
            f"tokenizer_object is a {type(value).__name__} and should be a tokenizers.Tokenizer"
            " with to_str(), which tokenizers 1.0 does not have; pass a path as tokenizer_file",
            value=value,
        )
    return tokenizer_json_from_object(json.loads(value.to_str()), "tokenizer_object")


def added_tokens_of(
    file: TokenizerJson, decoder: Mapping[int, Any], path: Path_
) -> dict[int, AddedToken]:
    """Return the added tokens of a tokenizer.json, then those of tokenizer_config.json, whose flags
    override the former.

    They may not give a token two ids, or an id two tokens.
    """
    tokens = dict(file.added_tokens)
    if decoder == tokens:
        return tokens
    ids = {token.content: token_id for token_id, token in tokens.items()}
    for token_id, given in sorted(decoder.items()):
        token = AddedToken.of(given)
        there = tokens.get(token_id, token)
        known_id = ids.get(token.content, token_id)
        other = ""
        if known_id != token_id:
            other = f"it the id {known_id}"
        elif there.content != token.content:
            other = f"{there.content!r:.60} the id {token_id}"
        if other:
            problem = (
                f"{TOKENIZER_CONFIG_FILE} gives {token.content!r:.60} the id {token_id}, and"
                f" {os.fspath(path)} gives {other}; correct the file that is wrong"
            )
            raise ids_error(path, problem, token.content, known_id, token_id)
        tokens[token_id] = token
    return tokens
