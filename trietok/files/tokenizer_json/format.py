"""tokenizer.json ⇄ plain values: the one file of tokenizers' Rust tokenizer that holds a whole tokenizer.

In: a path, or a `TokenizerJson`. Out: a `TokenizerJson`, or the file as tokenizers 0.22.2 itself would save it. A file
is read only if trietok supports all of it exactly; else the error names the component and its place in the file.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from json.encoder import encode_basestring
from typing import Any

from trietok.errors import VocabularyError
from trietok.files.formats import read_json_object, top_level_members, write_text
from trietok.files.json_place import JsonPlace
from trietok.files.other_kinds import BPE_SPLITTING
from trietok.files.settings import HIGHEST_ID
from trietok.files.tokenizer_json.bpe import bpe_object, bpe_of
from trietok.files.tokenizer_json.ids import check_ids, ids_error
from trietok.files.tokenizer_json.parts import (
    BertNormalizer,
    BpeDecoder,
    Padding,
    TokenizerJson,
    Truncation,
    WordPieceDecoder,
)
from trietok.files.tokenizer_json.post_processors import READERS
from trietok.text.added_token import LONGEST_TOKEN, AddedToken
from trietok.text.vocab_txt import MOST_ENTRIES, Path_

VERSION = "1.0"
MOST_HOLES = 100_000  # ids without a token: a model keeps some free, a damaged file names an id far beyond
HIGHEST_LENGTH = 2**64 - 1  # the highest number Rust can read as a length

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def read_tokenizer_json(path: Path_, *, bpe: bool = False) -> TokenizerJson:
    """Read a tokenizer.json.

    Args:
        path: the file.
        bpe: whether its model may be a byte-pair encoding; else it has to be WordPiece.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tokenizer.json")
    >>> write_tokenizer_json(path, TokenizerJson({"[UNK]": 0, "un": 1}))
    >>> read_tokenizer_json(path).vocabulary
    {'[UNK]': 0, 'un': 1}

    Raises:
        FileError: the file is missing or unreadable.
        FileFormatError: it is not such a file, a value is not what it should be, or there is a component that trietok
            does not have; the message names it and its JSON path.
        VocabularyError: tokens and ids contradict each other, or the Rust tokenizer would give an added token another
            id than the file says.
    """
    return tokenizer_json_from_object(read_json_object(path), path, bpe=bpe)


def truncation_and_padding_of(path: Path_) -> tuple[Truncation | None, Padding | None]:
    """What a tokenizer.json says of truncation and padding, without parsing the vocabulary that follows it.

    Raises:
        FileError, FileFormatError: as `read_tokenizer_json`.
    """
    found: dict[str, Any] = {}
    for key, value in top_level_members(path):
        if key in ("truncation", "padding"):
            found[key] = None if value is None else JsonPlace(value, key, path)
        if key == "model" or len(found) == 2:  # every writer puts the two before the model
            break
    truncation, padding = found.get("truncation"), found.get("padding")
    return truncation and _truncation(truncation), padding and _padding(padding)


def write_tokenizer_json(path: Path_, value: TokenizerJson, *, pretty: bool = True) -> None:
    """Write a tokenizer.json, byte for byte as the Rust tokenizer would save it. It is written whole or not at all.

    Args:
        path: where to.
        value: what it says.
        pretty: over many lines, as `Tokenizer.save` and transformers write it; else in one.

    Raises:
        FileError: the file cannot be written.
        FileFormatError: a value is one that `read_tokenizer_json` would refuse.
        VocabularyError: the file could not keep the ids: the Rust tokenizer would give an added token another one.
    """
    write_text(path, tokenizer_json_text(value, pretty=pretty, path=path))


def tokenizer_json_text(value: TokenizerJson, *, pretty: bool = True, path: Path_ = "tokenizer.json") -> str:
    """The text of a tokenizer.json, as `Tokenizer.to_str(pretty)` has it.

    Args:
        value: what it says.
        pretty: over many lines, else in one.
        path: what errors call the file.

    Raises:
        FileFormatError, VocabularyError: as `write_tokenizer_json`.
    """
    whole = tokenizer_json_object(value)
    tokenizer_json_from_object(whole, path, bpe=True)  # it checks the values: every file written can be read
    if value.bpe is not None:
        return json.dumps(whole, ensure_ascii=False, **({"indent": 2} if pretty else {"separators": (",", ":")}))
    vocabulary, whole["model"]["vocab"] = whole["model"]["vocab"], {}
    indent, colon = (2, ": ") if pretty else (None, ":")
    before, _, after = json.dumps(whole, ensure_ascii=False, indent=indent, separators=(",", colon)).rpartition("{}")
    # With an indent, json writes 30,000 lines in Python, one call each; one join is ten times as fast.
    line, last_line = ("\n      ", "\n    ") if pretty else ("", "")
    entries = f",{line}".join([f"{encode_basestring(token)}{colon}{i}" for token, i in vocabulary.items()])
    return f"{before}{{{line}{entries}{last_line}}}{after}"


def tokenizer_json_object(value: TokenizerJson) -> dict[str, Any]:
    """The JSON object of a tokenizer.json, with its keys in the order in which the Rust tokenizer writes them."""
    padding = None if value.padding is None else asdict(value.padding)
    if padding is not None and padding["strategy"] != "BatchLongest":
        padding["strategy"] = {"Fixed": padding["strategy"]}
    return {
        "version": VERSION,
        "truncation": None if value.truncation is None else asdict(value.truncation),
        "padding": padding,
        "added_tokens": [
            {"id": token_id, "content": token.content, **{flag: getattr(token, flag) for flag in _FLAGS}}
            for token_id, token in _in_saved_order(value)
        ],
        "normalizer": _normalizer_object(value),
        "pre_tokenizer": {"type": BPE_SPLITTING[value.splits_punctuation]},
        "post_processor": None if value.post_processor is None else value.post_processor.to_json(),
        "decoder": _component("BPEDecoder" if isinstance(value.decoder, BpeDecoder) else "WordPiece", value.decoder),
        "model": _model_object(value) if value.bpe is None else bpe_object(value.bpe),
    }


def _model_object(value: TokenizerJson) -> dict[str, Any]:
    return {
        "type": "WordPiece",
        "unk_token": value.unk_token,
        "continuing_subword_prefix": value.continuing_subword_prefix,
        "max_input_chars_per_word": value.max_input_chars_per_word,
        "vocab": dict(sorted(value.vocabulary.items(), key=lambda entry: entry[1])),
    }


def _normalizer_object(value: TokenizerJson) -> dict[str, Any] | None:
    normalizer = _component("BertNormalizer", value.normalizer)
    return {"type": "Sequence", "normalizers": [normalizer, {"type": "NFC"}]} if value.composes else normalizer


def _in_saved_order(value: TokenizerJson) -> list[tuple[int, AddedToken]]:
    """The added tokens by id, as the Rust tokenizer writes them, or in the order of adding if the order matters."""
    by_id = sorted(value.added_tokens.items())
    if by_id == list(value.added_tokens.items()):
        return by_id
    from trietok.files.tokenizer_json.parts import NO_NORMALIZER
    from trietok.text.rust_added_tokens import order_counts  # few files need it
    from trietok.text.rust_basic_tokenizer import RustBasicTokenizer

    said = value.normalizer or NO_NORMALIZER
    basic = RustBasicTokenizer(said.lowercase, said.handle_chinese_chars, said.strip_accents, said.clean_text)
    return list(value.added_tokens.items()) if order_counts(value.added_tokens, basic) else by_id


def _component(kind: str, value: BertNormalizer | WordPieceDecoder | BpeDecoder | None) -> dict[str, Any] | None:
    return None if value is None else {"type": kind, **asdict(value)}


def tokenizer_json_from_object(value: Any, path: Path_, *, bpe: bool = False) -> TokenizerJson:
    """`read_tokenizer_json` from the parsed JSON object; `path` is what errors call the file.

    Raises:
        FileFormatError, VocabularyError: as `read_tokenizer_json`.
    """
    optional = "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder".split()
    whole = JsonPlace(value, "", path).object(("model",), optional)
    if whole.value.get("version", VERSION) != VERSION:
        raise whole.member("version").error(f"is {whole.value['version']!r:.60}; trietok reads version {VERSION!r}")
    parts = {key: whole.member(key) for key in whole.value if whole.value[key] is not None}
    if "model" not in parts:
        raise whole.member("model").wrong("an object: a tokenizer without a model gives no ids")
    if "pre_tokenizer" not in parts:
        raise JsonPlace(None, "pre_tokenizer", path).error(
            "is null or missing: whole texts would reach WordPiece uncut, which trietok does not do; it has "
            "BertPreTokenizer"
        )
    model = _model(parts["model"], bpe)
    is_bpe = model.value["type"] == "BPE"
    splitting = _kind(parts["pre_tokenizer"], *(reversed(BPE_SPLITTING) if is_bpe else BPE_SPLITTING[1:]))
    splitting.object(("type",))
    post_processor = None
    if "post_processor" in parts:
        place = _kind(parts["post_processor"], *READERS)
        post_processor = READERS[place.value["type"]](place)
    normalizer, composes = None, False
    if "normalizer" in parts:
        normalizer, composes = (
            _normalizing(parts["normalizer"]) if is_bpe else (_normalizer(parts["normalizer"]), False)
        )
    splits_punctuation = splitting.value["type"] == BPE_SPLITTING[1]
    if normalizer is not None and not splits_punctuation:
        raise splitting.error(f"is {BPE_SPLITTING[0]} after a normalizer, which trietok does not do")
    vocabulary = _vocabulary(model.member("vocab"))
    own: dict[str, Any] = {"bpe": bpe_of(model, vocabulary)} if is_bpe else _of_wordpiece(model)
    read = TokenizerJson(
        vocabulary=vocabulary,
        normalizer=normalizer,
        post_processor=post_processor,
        decoder=_decoder(parts["decoder"], is_bpe) if "decoder" in parts else None,
        added_tokens=_added_tokens(parts["added_tokens"]) if "added_tokens" in parts else {},
        truncation=_truncation(parts["truncation"]) if "truncation" in parts else None,
        padding=_padding(parts["padding"]) if "padding" in parts else None,
        composes=composes,
        splits_punctuation=splits_punctuation,
        **own,
    )
    check_ids(read, path)
    return read


def _kind(place: JsonPlace, *known: str) -> JsonPlace:
    """The object of a component, if it is of a type that trietok has."""
    kind = place.value.get("type") if isinstance(place.value, dict) else None
    if not isinstance(kind, str):
        raise place.wrong(f"an object with a type: {', '.join(known)}")
    if kind not in known:
        raise place.error(
            f"is of type {kind!r:.60}, a component that trietok does not have; it has {', '.join(known)}. The "
            "tokenizers package loads such a file"
        )
    return place


def _of_wordpiece(model: JsonPlace) -> dict[str, Any]:
    return {
        "unk_token": model.member("unk_token").text(),
        "continuing_subword_prefix": model.member("continuing_subword_prefix").text(),
        "max_input_chars_per_word": model.member("max_input_chars_per_word").number(HIGHEST_LENGTH),
    }


def _model(place: JsonPlace, bpe: bool) -> JsonPlace:
    if isinstance(place.value, dict) and "type" not in place.value:  # as in old files, where the keys tell the type
        kind = "BPE" if "merges" in place.value else "Unigram" if "unk_id" in place.value else "WordPiece"
        place = place._replace(value={"type": kind, **place.value})
    place = _kind(place, "WordPiece", *(["BPE"] if bpe else []))
    if place.value["type"] == "BPE":
        return place
    keys = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab")
    return place.object(keys, ("type",))


def _vocabulary(place: JsonPlace) -> dict[str, int]:
    value = place.value
    if not isinstance(value, dict):
        raise place.wrong("an object token → id")
    if not value:
        raise VocabularyError(
            f"{os.fspath(place.file)}: {place.path} is empty; a vocabulary needs at least one token", path=place.file
        )
    ids = value.values()
    if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) > HIGHEST_ID:
        for token in value:
            place.member(token).number()
    holes = max(ids) + 1 - len(value)
    if holes > MOST_HOLES:
        raise VocabularyError(
            f"{os.fspath(place.file)}: {place.path} leaves {holes:,} ids up to {max(ids):,} without a token, more than "
            f"the {MOST_HOLES:,} that may be; each would be a line of a vocab.txt",
            path=place.file,
        )
    if len(set(ids)) < len(value):
        owners: dict[int, str] = {}
        for token, token_id in value.items():
            if owners.setdefault(token_id, token) != token:
                raise ids_error(
                    place.file,
                    f"{place.path} gives the id {token_id} to both {owners[token_id]!r:.60} and {token!r:.60}; give "
                    "one of them another id",
                    token,
                    found_id=token_id,
                )
    longest = max(value, key=len)
    if len(longest) > LONGEST_TOKEN:
        raise place.error(f"has a token of {len(longest):,} code points; one may have at most {LONGEST_TOKEN:,}")
    if len(value) > MOST_ENTRIES:
        raise place.error(f"has {len(value):,} entries, more than the {MOST_ENTRIES:,} a vocabulary may have")
    try:
        "".join(value).encode("utf-8")
    except UnicodeEncodeError:
        for number, token in enumerate(value):
            JsonPlace(token, f"{place.path}, key {number}", place.file).text()
    return value


def _added_tokens(place: JsonPlace) -> dict[int, AddedToken]:
    tokens: dict[int, AddedToken] = {}
    contents: set[str] = set()
    for item in place.items():
        entry = item.object(("id", "content", *_FLAGS))
        token_id, content = entry.member("id").number(), entry.member("content").text()
        if not content:
            raise entry.member("content").wrong("at least one character")
        if token_id in tokens:
            raise ids_error(
                place.file,
                f"{item.path} gives {content!r:.60} the id {token_id}, which {tokens[token_id].content!r:.60} has; "
                "give one of them another id",
                content,
                found_id=token_id,
            )
        if content in contents:
            raise entry.member("content").error(f"is {content!r:.60}, which stands in the list twice")
        contents.add(content)
        tokens[token_id] = AddedToken(content, **{flag: entry.member(flag).flag() for flag in _FLAGS})
    return tokens


def _normalizer(place: JsonPlace) -> BertNormalizer:
    value = _kind(place, "BertNormalizer").object(
        ("type", "clean_text", "handle_chinese_chars", "lowercase"), ("strip_accents",)
    )
    strip_accents = None if value.value.get("strip_accents") is None else value.member("strip_accents").flag()
    clean, chinese, lower = (value.member(k).flag() for k in ("clean_text", "handle_chinese_chars", "lowercase"))
    return BertNormalizer(clean, chinese, strip_accents, lower)


def _normalizing(place: JsonPlace) -> tuple[BertNormalizer, bool]:
    """The normalizer of a byte-pair encoding, and whether NFC comes after it."""
    if not (isinstance(place.value, dict) and place.value.get("type") == "Sequence"):
        return _normalizer(place), False
    steps = list(place.object(("type", "normalizers")).member("normalizers").items())
    if len(steps) != 2:
        raise place.error("is a sequence of other steps than BertNormalizer and NFC, which trietok does not do")
    _kind(steps[1], "NFC").object(("type",))
    return _normalizer(steps[0]), True


def _decoder(place: JsonPlace, bpe: bool) -> WordPieceDecoder | BpeDecoder:
    if bpe and _kind(place, "WordPiece", "BPEDecoder").value["type"] == "BPEDecoder":
        return BpeDecoder(place.object(("type", "suffix")).member("suffix").text())
    value = _kind(place, "WordPiece").object(("type", "prefix", "cleanup"))
    return WordPieceDecoder(value.member("prefix").text(), value.member("cleanup").flag())


def _truncation(place: JsonPlace) -> Truncation:
    value = place.object(("max_length", "strategy", "stride"), ("direction",))
    return Truncation(
        direction=value.member("direction").choice("Right", "Left") if "direction" in value.value else "Right",
        max_length=value.member("max_length").number(HIGHEST_LENGTH),
        strategy=value.member("strategy").choice("LongestFirst", "OnlyFirst", "OnlySecond"),
        stride=value.member("stride").number(HIGHEST_LENGTH),
    )


def _padding(place: JsonPlace) -> Padding:
    value = place.object(("strategy", "direction", "pad_id", "pad_type_id", "pad_token"), ("pad_to_multiple_of",))
    strategy: str | int = "BatchLongest"
    if value.value["strategy"] != "BatchLongest":
        given = value.member("strategy")
        if not isinstance(given.value, dict) or given.value.keys() != {"Fixed"}:
            raise given.wrong('"BatchLongest" or {"Fixed": length}')
        strategy = given.member("Fixed").number()
    multiple = None
    if value.value.get("pad_to_multiple_of") is not None:
        multiple = value.member("pad_to_multiple_of").number()
    return Padding(
        strategy=strategy,
        direction=value.member("direction").choice("Right", "Left"),
        pad_to_multiple_of=multiple,
        pad_id=value.member("pad_id").number(),
        pad_type_id=value.member("pad_type_id").number(),
        pad_token=value.member("pad_token").text(),
    )
