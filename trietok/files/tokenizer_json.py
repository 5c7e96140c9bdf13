"""tokenizer.json, the one file of tokenizers' Rust tokenizer that holds a whole tokenizer: what it
says.

In: a path, or an object of the package tokenizers. Out: a `TokenizerJson`. A file is read only if
trietok supports all of it exactly; else the error names what it is, and its place in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.disk import MOST_ENTRIES, Path_
from trietok.errors import InputTypeError, VocabularyError
from trietok.files import formats
from trietok.files.components import pipeline_of
from trietok.files.json_files import read_json_object
from trietok.files.json_place import (
    BERT_NORMALIZER,
    BERT_PRE_TOKENIZER,
    TYPE,
    BertNormalizer,
    JsonPlace,
    Reader,
    bert_normalizer,
    component_type,
)
from trietok.files.tokenizer_json_content import (
    _NOT_NORMALIZED,
    JsonPadding,
    JsonTruncation,
    TokenizerJson,
    WordPieceDecoder,
    _ids_error,
    check_ids,
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

if TYPE_CHECKING:
    from trietok.text.pipeline import Pipeline

# ---- reading -------------------------------------------------------------------------------------


VERSION = "1.0"
MOST_HOLES = (
    100_000  # ids without a token: a model keeps some free, a damaged file names an id far beyond
)
HIGHEST_LENGTH = 2**64 - 1  # the highest number Rust can read as a length

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_GIVE_ANOTHER = "give one of them another id"


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


def truncation_and_padding_of(
    found: dict[str, Any], path: Path_
) -> tuple[JsonTruncation | None, JsonPadding | None]:
    """What a tokenizer.json says of truncation and padding, if it holds `found`."""
    places = {key: JsonPlace(value, key, path) for key, value in found.items() if value is not None}
    truncation, padding = places.get("truncation"), places.get("padding")
    return truncation and _truncation(truncation), padding and _padding(padding)


def tokenizer_json_from_object(value: Any, path: Path_) -> TokenizerJson:
    """`read_tokenizer_json` from the parsed JSON object; `path` is what errors call the file."""
    stages = "added_tokens normalizer pre_tokenizer post_processor decoder".split()
    optional = ["version", "truncation", "padding", *stages]
    whole = JsonPlace(value, "", path).object(("model",), optional)
    if whole.value.get("version", VERSION) != VERSION:
        raise whole.member("version").error(
            f"is {whole.value['version']!r:.60}; trietok reads version {VERSION!r}"
        )
    parts = {key: whole.member(key) for key in whole.value if whole.value[key] is not None}
    if "model" not in parts:
        raise whole.member("model").wrong("an object: a tokenizer without a model gives no ids")
    if "pre_tokenizer" not in parts:
        raise JsonPlace(None, "pre_tokenizer", path).error(
            "is null or missing: whole texts would reach WordPiece uncut, which trietok does not"
            f" do; it has {BERT_PRE_TOKENIZER} and others"
        )
    model = _model(parts["model"])

    def read(part: str, reader: Reader, missing: Any = None) -> Any:
        return reader(parts[part]) if part in parts else missing

    post_processor = read("post_processor", _post_processor)
    normalizer, components = _stages(parts.get("normalizer"), parts["pre_tokenizer"])
    vocabulary = _vocabulary(model.member("vocab"))
    own = {name: of_member(model.member(name)) for name, of_member in WORDPIECE.items()}
    result = TokenizerJson(
        vocabulary=vocabulary,
        normalizer=normalizer,
        post_processor=post_processor,
        decoder=read("decoder", _decoder),
        added_tokens=read("added_tokens", _added_tokens, {}),
        truncation=read("truncation", _truncation),
        padding=read("padding", _padding),
        components=components,
        **own,
    )
    check_ids(result, path)
    return result


def _stages(
    normalizer: JsonPlace | None, splitting: JsonPlace
) -> tuple[BertNormalizer | None, Any]:
    """The normalizer of a file, and its components where they are not BERT's two."""
    said = None if normalizer is None else normalizer.value
    if normalizer is not None and isinstance(said, dict) and said.get("type") == BERT_NORMALIZER:
        if splitting.value == {"type": BERT_PRE_TOKENIZER}:
            return bert_normalizer(normalizer), None

    of_bert, pipeline = pipeline_of(normalizer, splitting)
    return (of_bert, None) if pipeline is None else said_by(pipeline, of_bert)


def said_by(pipeline: Pipeline, normalizer: BertNormalizer) -> tuple[BertNormalizer | None, Any]:
    """The normalizer and the components of a file with this pipeline."""
    return (None, None) if pipeline.said == _NOT_NORMALIZED else (normalizer, pipeline.said)


def _kind(place: JsonPlace, *known: str) -> JsonPlace:
    """The object of a component, if it is of a type that trietok has."""
    component_type(place, *known)
    return place


def _length(place: JsonPlace) -> int:
    return place.number(HIGHEST_LENGTH)


def _side(place: JsonPlace) -> str:
    return place.choice("Right", "Left")


def _or_null(read: Reader) -> Reader:
    return lambda place: None if place.value is None else read(place)


def _model(place: JsonPlace) -> JsonPlace:
    # as in old files, where the keys tell the type
    if isinstance(place.value, dict) and "type" not in place.value:
        kind = (
            "BPE"
            if "merges" in place.value
            else "Unigram"
            if "unk_id" in place.value
            else "WordPiece"
        )
        place = place._replace(value={"type": kind, **place.value})
    return _kind(place, "WordPiece").object((*WORDPIECE, "vocab"), ("type",))


def _vocabulary(place: JsonPlace) -> dict[str, int]:
    value = place.value
    if not isinstance(value, dict):
        raise place.wrong("an object token → id")
    if not value:
        told = (
            f"{os.fspath(place.file)}: {place.path} is empty; a vocabulary needs at least one token"
        )
        raise VocabularyError(told, path=place.file)
    _check_each(place, value)
    longest = max(map(len, value))
    if longest > LONGEST_TOKEN:
        raise place.error(
            f"has a token of {longest:,} code points; one may have at most {LONGEST_TOKEN:,}"
        )
    if len(value) > MOST_ENTRIES:
        raise place.error(
            f"has {len(value):,} entries, more than the {MOST_ENTRIES:,} a vocabulary may have"
        )
    try:
        "".join(value).encode("utf-8")
    except UnicodeEncodeError:
        for number, token in enumerate(value):
            JsonPlace(token, f"{place.path}, key {number}", place.file).text()
    return value


def _check_each(place: JsonPlace, value: dict[str, int]) -> None:
    """Raise for the first id that is none, or that is another token's, and for many ids without a
    token.
    """
    ids = value.values()
    if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) > formats.HIGHEST_ID:
        for token in value:
            place.member(token).number()
    holes = max(ids) + 1 - len(value)
    if holes > MOST_HOLES:
        raise VocabularyError(
            f"{os.fspath(place.file)}: {place.path} leaves {holes:,} ids up to {max(ids):,} without"
            f" a token, more than the {MOST_HOLES:,} that may be; each would be a line of a"
            " vocab.txt",
            path=place.file,
        )
    owners: dict[int, str] = {}
    for token, token_id in value.items() if len(set(ids)) < len(value) else ():
        if owners.setdefault(token_id, token) != token:
            both = f"{owners[token_id]!r:.60} and {token!r:.60}; {_GIVE_ANOTHER}"
            raise _ids_error(
                place.file,
                f"{place.path} gives the id {token_id} to both {both}",
                token,
                None,
                token_id,
            )


def _added_tokens(place: JsonPlace) -> dict[int, AddedToken]:
    tokens: dict[int, AddedToken] = {}
    contents: set[str] = set()
    for item in place.items():
        entry = item.object(("id", "content", *_FLAGS))
        token_id, content = entry.member("id").number(), entry.member("content").text()
        if not content:
            raise entry.member("content").wrong("at least one character")
        if token_id in tokens:
            other = f"which {tokens[token_id].content!r:.60} has; {_GIVE_ANOTHER}"
            problem = f"{item.path} gives {content!r:.60} the id {token_id}, {other}"
            raise _ids_error(place.file, problem, content, None, token_id)
        if content in contents:
            raise entry.member("content").error(
                f"is {content!r:.60}, which stands in the list twice"
            )
        contents.add(content)
        tokens[token_id] = AddedToken(
            content, **{flag: entry.member(flag).flag() for flag in _FLAGS}
        )
    return tokens


def _decoder(place: JsonPlace) -> WordPieceDecoder:
    members = {**TYPE, "prefix": JsonPlace.text, "cleanup": JsonPlace.flag}
    return WordPieceDecoder(**_kind(place, "WordPiece").members(members))


def _truncation(place: JsonPlace) -> JsonTruncation:
    return JsonTruncation(**place.members(_TRUNCATION, {"direction": _side}))


def _padding(place: JsonPlace) -> JsonPadding:
    return JsonPadding(
        **place.members(_PADDING, {"pad_to_multiple_of": _or_null(JsonPlace.number)})
    )


def _fill_to(place: JsonPlace) -> str | int:
    if place.value == "BatchLongest":
        return "BatchLongest"
    if not isinstance(place.value, dict) or place.value.keys() != {"Fixed"}:
        raise place.wrong('"BatchLongest" or {"Fixed": length}')
    return place.member("Fixed").number()


def _list_of(read: Reader) -> Reader:
    return lambda place: tuple(map(read, place.items()))


def _post_processor(place: JsonPlace) -> PostProcessor:
    known = ("TemplateProcessing", "BertProcessing", "RobertaProcessing")
    kind = component_type(place, *known, "Sequence")
    if kind == "Sequence":
        steps = place.object(("type", "processors")).member("processors").items()
        if len(steps) != 1:
            raise place.error(
                f"is of type 'Sequence' with {len(steps)} processors, and trietok has one alone"
            )
        return _post_processor(steps[0])
    if kind == "BertProcessing":
        return BertProcessing(**place.members(_BERT, TYPE))
    if kind == "RobertaProcessing":
        return RobertaProcessing(**place.members(_ROBERTA, TYPE))
    value = place.object(("single", "pair", "special_tokens"), ("type",))
    listed = value.member("special_tokens")
    if not isinstance(listed.value, dict):
        raise listed.wrong("an object name → special token")
    tokens = {key: _template_token(listed.member(key)) for key in listed.value}
    single = _template(value.member("single"), "A", tokens)
    return TemplateProcessing(single, _template(value.member("pair"), "AB", tokens), tokens)


def _template(
    place: JsonPlace, sequences: str, tokens: Mapping[str, TemplateToken]
) -> tuple[TemplatePiece, ...]:
    """Texts and special tokens in their order; each text stands there once, and each special token
    is a listed one.
    """
    pieces = tuple(_template_piece(item, tokens) for item in place.items())
    used = sorted(name for name, _, is_sequence in pieces if is_sequence)
    if used != list(sequences):
        raise place.error(
            f"has the texts {', '.join(used) or 'none'}; a template that trietok can fill has "
            f"{' and '.join(sequences)} once each"
        )
    return pieces


def _template_piece(place: JsonPlace, tokens: Mapping[str, TemplateToken]) -> TemplatePiece:
    if not isinstance(place.value, dict) or place.value.keys() not in (
        {"Sequence"},
        {"SpecialToken"},
    ):
        raise place.wrong('an object {"Sequence": ...} or {"SpecialToken": ...}')
    kind = next(iter(place.value))
    value = place.member(kind).object(("id", "type_id"))
    type_id = value.member("type_id").number()
    if kind == "Sequence":
        return TemplatePiece(value.member("id").choice("A", "B"), type_id, is_sequence=True)
    name = value.member("id")
    if name.text() not in tokens:
        raise name.error(
            f"is {name.value!r:.60}, which post_processor.special_tokens does not list; add it"
            " there"
        )
    return TemplatePiece(name.value, type_id)


def _template_token(place: JsonPlace) -> TemplateToken:
    of = place.members(
        {
            "id": JsonPlace.text,
            "ids": _list_of(JsonPlace.number),
            "tokens": _list_of(JsonPlace.text),
        }
    )
    if len(of["ids"]) != len(of["tokens"]):
        raise place.error(
            f"has {len(of['ids'])} ids and {len(of['tokens'])} tokens; there should be as many of"
            " both"
        )
    return TemplateToken(of["id"], of["ids"], of["tokens"])


def _token_and_id(place: JsonPlace) -> tuple[str, int]:
    if not isinstance(place.value, list) or len(place.value) != 2:
        raise place.wrong("a list of a token and its id")
    token, token_id = place.items()
    return token.text(), token_id.number()


# How each member of an object is read; errors list the keys in this order. No type is read: `_kind`
# has looked at it.
WORDPIECE: dict[str, Reader] = {
    "unk_token": JsonPlace.text,
    "continuing_subword_prefix": JsonPlace.text,
    "max_input_chars_per_word": _length,
}
_TRUNCATION: dict[str, Reader] = {
    "max_length": _length,
    "strategy": lambda place: place.choice("LongestFirst", "OnlyFirst", "OnlySecond"),
    "stride": _length,
}
_PADDING: dict[str, Reader] = {
    "strategy": _fill_to,
    "direction": _side,
    "pad_id": JsonPlace.number,
    "pad_type_id": JsonPlace.number,
    "pad_token": JsonPlace.text,
}
_BERT: dict[str, Reader] = {"sep": _token_and_id, "cls": _token_and_id}
_ROBERTA = _BERT | {"trim_offsets": JsonPlace.flag, "add_prefix_space": JsonPlace.flag}

# ---- from other objects --------------------------------------------------------------------------


class ReadFile(NamedTuple):
    """A tokenizer.json whose JSON has been read already."""

    path: str
    value: dict[str, Any]


def tokenizer_json_of_object(value: Any) -> TokenizerJson:
    """What a `tokenizers.Tokenizer` would save to its tokenizer.json, or a `ReadFile` holds."""
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
    """The added tokens of a tokenizer.json, then those of tokenizer_config.json, whose flags
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
        if there.content != token.content or known_id != token_id:
            other = (
                f"{there.content!r:.60} the id {token_id}"
                if known_id == token_id
                else f"it the id {known_id}"
            )
            here = f"{formats.TOKENIZER_CONFIG_FILE} gives {token.content!r:.60} the id {token_id}"
            problem = f"{here}, and {os.fspath(path)} gives {other}; correct the file that is wrong"
            raise _ids_error(path, problem, token.content, known_id, token_id)
        tokens[token_id] = token
    return tokens
