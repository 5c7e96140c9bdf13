"""tokenizer.json, the one file of tokenizers' Rust tokenizer that holds a whole tokenizer: reading and writing it.

In: a path, an object of the package tokenizers, or a tokenizer of either profile. Out: a `TokenizerJson`, or the file
as tokenizers 0.22.2 itself would save it. A file is read only if trietok supports all of it exactly, and written only
if it can hold all of the tokenizer; else the error names what it is, and its place in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from trietok.disk import MOST_ENTRIES, Path_
from trietok.errors import FileFormatError, InputTypeError, NotSupportedError, VocabularyError
from trietok.files import formats
from trietok.files.formats import BPE_SPLITTING, VOCAB_FILE, JsonPlace, Reader, is_id, json_text, write_text
from trietok.inputs import post_processors
from trietok.inputs.post_processors import (
    BertProcessing,
    PostProcessor,
    RobertaProcessing,
    TemplateProcessing,
    TemplateToken,
)
from trietok.inputs.template import Piece
from trietok.text.added_tokens import LONGEST_TOKEN, AddedToken, order_counts
from trietok.text.basic_tokenizer import RustBasicTokenizer
from trietok.text.bpe import BpeParts

# ---- what a file says, as plain values ------------------------------------------------------------------------------


@dataclass(frozen=True)
class BertNormalizer:
    """What happens to a text before it is cut into words; `NO_NORMALIZER` leaves it as it is.

    Attributes:
        clean_text: whether control characters are deleted and every whitespace becomes a space.
        handle_chinese_chars: whether Chinese characters get spaces around.
        strip_accents: whether accents are deleted; None means that they are if `lowercase` is true.
        lowercase: whether letters become lower case.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents


NO_NORMALIZER = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)


@dataclass(frozen=True)
class WordPieceDecoder:
    """How tokens become text: `prefix` is taken off, and with `cleanup` the spaces before punctuation."""

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class BpeDecoder:
    """How the tokens of a byte-pair encoding become text: `suffix` becomes a space, but at the end."""

    suffix: str = "</w>"


@dataclass(frozen=True)
class Truncation:
    """What the Rust tokenizer does to a sequence that is too long, if a call does not say otherwise.

    Attributes:
        direction: "Right" or "Left": the end that is cut off.
        max_length: in tokens, special tokens included.
        strategy: "LongestFirst", "OnlyFirst" or "OnlySecond".
        stride: how many tokens the next piece repeats.
    """

    direction: str = "Right"
    max_length: int = 512
    strategy: str = "LongestFirst"
    stride: int = 0


@dataclass(frozen=True)
class Padding:
    """How the Rust tokenizer fills up sequences, if a call does not say otherwise.

    Attributes:
        strategy: "BatchLongest", or the length in tokens to fill up to.
        direction: "Right" or "Left": the end that is filled.
        pad_to_multiple_of: the length becomes a multiple of it; None or 0 for any length.
        pad_id: the id to fill with.
        pad_type_id: its token type id.
        pad_token: its token.
    """

    strategy: str | int = "BatchLongest"
    direction: str = "Right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"

    def with_id_of(self, vocabulary: Mapping[str, int]) -> Padding:
        """The same with the id that its token has: ids may have moved since it was read."""
        return replace(self, pad_id=vocabulary.get(self.pad_token, self.pad_id))


@dataclass(frozen=True)
class TokenizerJson:
    """Everything a tokenizer.json says.

    Attributes:
        vocabulary: token → id, as the file has it.
        unk_token: the token for a word that the vocabulary cannot cover.
        continuing_subword_prefix: what marks an entry that continues a word.
        max_input_chars_per_word: longest word, in code points, that is tried.
        normalizer: None leaves a text as it is.
        post_processor: None adds no special tokens.
        decoder: None joins tokens with spaces.
        added_tokens: id → token, in the order of the file.
        truncation: None where the file sets none.
        padding: None where the file sets none.
        bpe: the model, where that is a byte-pair encoding and not WordPiece. Then `unk_token`,
            `continuing_subword_prefix` and `max_input_chars_per_word` say nothing.
        composes: whether the normalizer ends with NFC; of a byte-pair encoding only.
        splits_punctuation: whether the pre-tokenizer is BertPreTokenizer; else WhitespaceSplit, of a byte-pair
            encoding without a normalizer only.

    >>> value = TokenizerJson({"[UNK]": 0, "un": 1, "##able": 2}, normalizer=NO_NORMALIZER)
    >>> value.normalizer.lowercase, [piece.type_id for piece in value.pieces(pair=True)]
    (False, [0, 1])
    """

    vocabulary: Mapping[str, int]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    normalizer: BertNormalizer | None = field(default_factory=BertNormalizer)
    post_processor: PostProcessor | None = None
    decoder: WordPieceDecoder | BpeDecoder | None = field(default_factory=WordPieceDecoder)
    added_tokens: Mapping[int, AddedToken] = field(default_factory=dict)
    truncation: Truncation | None = None
    padding: Padding | None = None
    bpe: BpeParts | None = None
    composes: bool = False
    splits_punctuation: bool = True

    def pieces(self, pair: bool = False) -> tuple[Piece, ...]:
        """The template for one text or, with `pair`, two: texts and special tokens in order, with type ids."""
        return post_processors.bare_pieces(pair) if self.post_processor is None else self.post_processor.pieces(pair)


# ---- tokens and ids --------------------------------------------------------------------------------------------------


def check_ids(value: TokenizerJson, path: Path_) -> None:
    """Whether tokens and ids agree, and the Rust tokenizer would give every added token the id it has here."""
    vocabulary = value.vocabulary
    if value.bpe is None and value.unk_token not in vocabulary:
        problem = f"model.unk_token is {value.unk_token!r:.60}, which is not in model.vocab; add it"
        raise _ids_error(path, problem, value.unk_token)
    of_vocabulary = set(vocabulary.values()) if value.added_tokens else set()
    numbers = rust_ids(vocabulary, [token.content for token in value.added_tokens.values()])
    for place, ((token_id, token), number) in enumerate(zip(value.added_tokens.items(), numbers, strict=True)):
        if number == token_id and (token_id not in of_vocabulary or token.content in vocabulary):
            continue
        where = f"added_tokens[{place}] ({token.content!r:.60}) has the id {token_id}"
        if number != token_id:
            why = (
                f"tokens that are not in model.vocab are numbered in their order from {len(vocabulary)}, the number of "
                "its entries, whatever ids they have (ids without a token are not counted)"
            )
            if token.content in vocabulary:
                why = "that is its id in model.vocab"
            problem = f"{where}, and the Rust tokenizer would give it {number}: {why}"
            raise _ids_error(path, problem, token.content, number, token_id)
        other = next(entry for entry, entry_id in vocabulary.items() if entry_id == token_id)
        problem = (
            f"{where}, which is that of {other!r:.60} in model.vocab; the Rust tokenizer numbers it so because "
            "model.vocab leaves ids without a token; give every id a token"
        )
        raise _ids_error(path, problem, token.content, None, token_id)
    added = {token.content: token_id for token_id, token in value.added_tokens.items()}
    for where, special, token_id in value.post_processor.special_ids() if value.post_processor else ():
        known_id = added.get(special, vocabulary.get(special))
        problem = f"post_processor.{where} gives {special!r:.60} the id {token_id}"
        if known_id is not None and known_id != token_id:
            problem += f"; everywhere else it has {known_id}"
            raise _ids_error(path, problem, special, known_id, token_id)
        if known_id is None and token_id not in value.added_tokens and token_id not in vocabulary.values():
            raise _ids_error(path, f"{problem}, which no token has", special, None, token_id)


def rust_ids(vocabulary: Mapping[str, int], contents: Iterable[str]) -> Iterator[int]:
    """The ids that tokenizers 0.22.2 gives to the added tokens of a file when it loads them.

    A token of the vocabulary keeps its id. The others are numbered in their order from the number of the vocabulary's
    entries on, whether or not a number is an entry's id already.

    >>> list(rust_ids({"[UNK]": 0, "a": 1, "b": 5}, ["<x>", "b", "<y>"]))
    [3, 5, 4]
    """
    next_id = len(vocabulary)
    for content in contents:
        yield vocabulary.get(content, next_id)
        next_id += content not in vocabulary


def _ids_error(
    path: Path_, problem: str, token: str, expected_id: int | None = None, found_id: int | None = None
) -> VocabularyError:
    where = f"{os.fspath(path)}: {problem}"
    return VocabularyError(where, path=path, token=token, expected_id=expected_id, found_id=found_id)


# ---- reading and writing ---------------------------------------------------------------------------------------------


VERSION = "1.0"
MOST_HOLES = 100_000  # ids without a token: a model keeps some free, a damaged file names an id far beyond
HIGHEST_LENGTH = 2**64 - 1  # the highest number Rust can read as a length

MARKS = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
OFF = ("dropout", "fuse_unk", "byte_fallback", "ignore_merges")  # what the model of a byte-pair encoding could do too
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_GIVE_ANOTHER = "give one of them another id"


def read_tokenizer_json(path: Path_, *, bpe: bool = False) -> TokenizerJson:
    """Read a tokenizer.json. With `bpe` its model may be a byte-pair encoding; else it has to be WordPiece.

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
    return tokenizer_json_from_object(formats.read_json_object(path), path, bpe=bpe)


def truncation_and_padding_of(found: dict[str, Any], path: Path_) -> tuple[Truncation | None, Padding | None]:
    """What a tokenizer.json says of truncation and padding, if it holds `found`."""
    places = {key: JsonPlace(value, key, path) for key, value in found.items()}
    truncation, padding = places.get("truncation"), places.get("padding")
    return truncation and _truncation(truncation), padding and _padding(padding)


def write_tokenizer_json(path: Path_, value: TokenizerJson, *, pretty: bool = True) -> None:
    """Write a tokenizer.json, byte for byte as the Rust tokenizer would save it. It is written whole or not at all.

    `pretty` is over many lines, as `Tokenizer.save` and transformers write it; else it is one line.

    Raises:
        FileError: the file cannot be written.
        FileFormatError: a value is one that `read_tokenizer_json` would refuse.
        VocabularyError: the file could not keep the ids: the Rust tokenizer would give an added token another one.
    """
    write_text(path, tokenizer_json_text(value, pretty=pretty, path=path))


def tokenizer_json_text(value: TokenizerJson, *, pretty: bool = True, path: Path_ = "tokenizer.json") -> str:
    """The text of a tokenizer.json, as `Tokenizer.to_str(pretty)` has it."""
    whole = tokenizer_json_object(value)
    # A tokenizer whose tokens were removed may have ids that such a file cannot keep. It is refused here, before
    # anything is written: the Rust tokenizer would load the file and give other ids without a word.
    tokenizer_json_from_object(whole, path, bpe=True)
    if not pretty:
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    written = formats.added_tokens_written(dict(_in_saved_order(value)), as_object=False)
    return json_text({**whole, "added_tokens": written})


def tokenizer_json_object(value: TokenizerJson) -> dict[str, Any]:
    """The JSON object of a tokenizer.json, with its keys in the order in which the Rust tokenizer writes them."""
    padding = None if value.padding is None else asdict(value.padding)
    if padding is not None and padding["strategy"] != "BatchLongest":
        padding["strategy"] = {"Fixed": padding["strategy"]}
    normalizer = _component("BertNormalizer", value.normalizer)
    if value.composes:
        normalizer = {"type": "Sequence", "normalizers": [normalizer, {"type": "NFC"}]}
    return {
        "version": VERSION,
        "truncation": None if value.truncation is None else asdict(value.truncation),
        "padding": padding,
        "added_tokens": [{"id": token_id, **token.__getstate__()} for token_id, token in _in_saved_order(value)],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": BPE_SPLITTING[value.splits_punctuation]},
        "post_processor": None if value.post_processor is None else value.post_processor.to_json(),
        "decoder": _component("BPEDecoder" if isinstance(value.decoder, BpeDecoder) else "WordPiece", value.decoder),
        "model": _model_object(value),
    }


def _model_object(value: TokenizerJson) -> dict[str, Any]:
    if value.bpe is None:
        own = {name: getattr(value, name) for name in _WORDPIECE}
        return {"type": "WordPiece", **own, "vocab": by_id(value.vocabulary)}
    return {
        "type": "BPE",
        "dropout": None,
        **{name: getattr(value.bpe, name) for name in MARKS},
        **dict.fromkeys(OFF[1:], False),
        "vocab": by_id(value.bpe.vocab),
        "merges": [list(pair) for pair in value.bpe.merges],
    }


def by_id(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """A vocabulary in the order of its ids, as files have it."""
    return dict(sorted(vocabulary.items(), key=lambda entry: entry[1]))


def _in_saved_order(value: TokenizerJson) -> list[tuple[int, AddedToken]]:
    """The added tokens by id, as the Rust tokenizer writes them, or in the order of adding if the order matters."""
    tokens, ids = value.added_tokens, list(value.added_tokens)
    if ids == sorted(ids):
        return list(tokens.items())
    said = value.normalizer or NO_NORMALIZER
    basic = RustBasicTokenizer(said.lowercase, said.handle_chinese_chars, said.strip_accents, said.clean_text)
    return list(tokens.items()) if order_counts(tokens, basic) else sorted(tokens.items())


def _component(kind: str, value: BertNormalizer | WordPieceDecoder | BpeDecoder | None) -> dict[str, Any] | None:
    return None if value is None else {"type": kind, **asdict(value)}


def tokenizer_json_from_object(value: Any, path: Path_, *, bpe: bool = False) -> TokenizerJson:
    """`read_tokenizer_json` from the parsed JSON object; `path` is what errors call the file."""
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

    def read(part: str, reader: Reader, missing: Any = None) -> Any:
        return reader(parts[part]) if part in parts else missing

    post_processor = read("post_processor", _post_processor)
    normalizer, composes = read("normalizer", lambda place: _normalizing(place, is_bpe), (None, False))
    splits_punctuation = splitting.value["type"] == BPE_SPLITTING[1]
    if normalizer is not None and not splits_punctuation:
        raise splitting.error(f"is {BPE_SPLITTING[0]} after a normalizer, which trietok does not do")
    vocabulary = _vocabulary(model.member("vocab"))
    own: dict[str, Any] = {"bpe": _bpe(model, vocabulary)} if is_bpe else {}
    if not is_bpe:
        own = {name: of_member(model.member(name)) for name, of_member in _WORDPIECE.items()}
    result = TokenizerJson(
        vocabulary=vocabulary,
        normalizer=normalizer,
        post_processor=post_processor,
        decoder=read("decoder", lambda place: _decoder(place, is_bpe)),
        added_tokens=read("added_tokens", _added_tokens, {}),
        truncation=read("truncation", _truncation),
        padding=read("padding", _padding),
        composes=composes,
        splits_punctuation=splits_punctuation,
        **own,
    )
    check_ids(result, path)
    return result


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


def _length(place: JsonPlace) -> int:
    return place.number(HIGHEST_LENGTH)


def _side(place: JsonPlace) -> str:
    return place.choice("Right", "Left")


def _or_null(read: Reader) -> Reader:
    return lambda place: None if place.value is None else read(place)


def _list_of(read: Reader) -> Reader:
    return lambda place: tuple(map(read, place.items()))


def _model(place: JsonPlace, bpe: bool) -> JsonPlace:
    if isinstance(place.value, dict) and "type" not in place.value:  # as in old files, where the keys tell the type
        kind = "BPE" if "merges" in place.value else "Unigram" if "unk_id" in place.value else "WordPiece"
        place = place._replace(value={"type": kind, **place.value})
    place = _kind(place, "WordPiece", *(["BPE"] if bpe else []))
    return place if place.value["type"] == "BPE" else place.object((*_WORDPIECE, "vocab"), ("type",))


def _bpe(model: JsonPlace, vocab: dict[str, int]) -> BpeParts:
    """The model of a byte-pair encoding, if it has no option that trietok does not have."""
    model.object(("vocab", "merges"), ("type", *MARKS, *OFF))
    for name in OFF:
        if model.value.get(name):
            raise model.member(name).error(f"is {model.value[name]!r:.60}, which trietok does not do")
    marks = (None if model.value.get(name) is None else model.member(name).text() for name in MARKS)
    parts = BpeParts(vocab, [_merge(item) for item in model.member("merges").items()], *marks)
    try:
        parts.ranks()
    except VocabularyError as error:
        raise FileFormatError(f"{model.file}: {model.path}: {error}", path=model.file) from None
    return parts


def _merge(place: JsonPlace) -> tuple[str, str]:
    value = place.value
    if isinstance(value, str):  # as tokenizers wrote it before 0.20
        value = value.split(" ")
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(token, str) and token for token in value)):
        raise place.wrong("a list of two tokens")
    return value[0], value[1]


def _vocabulary(place: JsonPlace) -> dict[str, int]:
    value = place.value
    if not isinstance(value, dict):
        raise place.wrong("an object token → id")
    if not value:
        told = f"{os.fspath(place.file)}: {place.path} is empty; a vocabulary needs at least one token"
        raise VocabularyError(told, path=place.file)
    ids = value.values()
    if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) > formats.HIGHEST_ID:
        for token in value:
            place.member(token).number()
    holes = max(ids) + 1 - len(value)
    if holes > MOST_HOLES:
        raise VocabularyError(
            f"{os.fspath(place.file)}: {place.path} leaves {holes:,} ids up to {max(ids):,} without a token, more than "
            f"the {MOST_HOLES:,} that may be; each would be a line of a vocab.txt",
            path=place.file,
        )
    owners: dict[int, str] = {}
    for token, token_id in value.items() if len(set(ids)) < len(value) else ():
        if owners.setdefault(token_id, token) != token:
            both = f"{owners[token_id]!r:.60} and {token!r:.60}; {_GIVE_ANOTHER}"
            raise _ids_error(place.file, f"{place.path} gives the id {token_id} to both {both}", token, None, token_id)
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
    entries = place.value if isinstance(place.value, list) else []
    made = AddedToken.all_of_states(entries, others=1)  # many at once; where one is wrong, an error has to name it
    ids = [entry.get("id") for entry in entries] if made else []
    if made and all(map(is_id, ids)) and len(set(ids)) == len({token.content for token in made}) == len(made):
        return dict(zip(ids, made, strict=True))
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
            raise entry.member("content").error(f"is {content!r:.60}, which stands in the list twice")
        contents.add(content)
        tokens[token_id] = AddedToken(content, **{flag: entry.member(flag).flag() for flag in _FLAGS})
    return tokens


def _normalizing(place: JsonPlace, bpe: bool) -> tuple[BertNormalizer, bool]:
    """The normalizer, and whether NFC comes after it, as it may for a byte-pair encoding."""
    composes = bpe and isinstance(place.value, dict) and place.value.get("type") == "Sequence"
    if composes:
        steps = place.object(("type", "normalizers")).member("normalizers").items()
        if len(steps) != 2:
            raise place.error("is a sequence of other steps than BertNormalizer and NFC, which trietok does not do")
        _kind(steps[1], "NFC").object(("type",))
        place = steps[0]
    optional = {"strip_accents": _or_null(JsonPlace.flag)}
    return BertNormalizer(**_kind(place, "BertNormalizer").members(_NORMALIZER, optional)), composes


def _decoder(place: JsonPlace, bpe: bool) -> WordPieceDecoder | BpeDecoder:
    if bpe and _kind(place, "WordPiece", "BPEDecoder").value["type"] == "BPEDecoder":
        return BpeDecoder(**place.members({**_TYPE, "suffix": JsonPlace.text}))
    members = {**_TYPE, "prefix": JsonPlace.text, "cleanup": JsonPlace.flag}
    return WordPieceDecoder(**_kind(place, "WordPiece").members(members))


def _truncation(place: JsonPlace) -> Truncation:
    return Truncation(**place.members(_TRUNCATION, {"direction": _side}))


def _padding(place: JsonPlace) -> Padding:
    return Padding(**place.members(_PADDING, {"pad_to_multiple_of": _or_null(JsonPlace.number)}))


def _fill_to(place: JsonPlace) -> str | int:
    if place.value == "BatchLongest":
        return "BatchLongest"
    if not isinstance(place.value, dict) or place.value.keys() != {"Fixed"}:
        raise place.wrong('"BatchLongest" or {"Fixed": length}')
    return place.member("Fixed").number()


def _post_processor(place: JsonPlace) -> PostProcessor:
    kind = _kind(place, "TemplateProcessing", "BertProcessing", "RobertaProcessing").value["type"]
    if kind == "BertProcessing":
        return BertProcessing(**place.members(_BERT, _TYPE))
    if kind == "RobertaProcessing":
        return RobertaProcessing(**place.members(_ROBERTA, _TYPE))
    value = place.object(("single", "pair", "special_tokens"), ("type",))
    listed = value.member("special_tokens")
    if not isinstance(listed.value, dict):
        raise listed.wrong("an object name → special token")
    tokens = {key: _template_token(listed.member(key)) for key in listed.value}
    single = _template(value.member("single"), "A", tokens)
    return TemplateProcessing(single, _template(value.member("pair"), "AB", tokens), tokens)


def _template(
    place: JsonPlace, sequences: str, tokens: Mapping[str, TemplateToken]
) -> tuple[post_processors.TemplatePiece, ...]:
    """Texts and special tokens in their order; each text stands there once, and each special token is a listed one."""
    pieces = tuple(_template_piece(item, tokens) for item in place.items())
    used = sorted(name for name, _, is_sequence in pieces if is_sequence)
    if used != list(sequences):
        raise place.error(
            f"has the texts {', '.join(used) or 'none'}; a template that trietok can fill has "
            f"{' and '.join(sequences)} once each"
        )
    return pieces


def _template_piece(place: JsonPlace, tokens: Mapping[str, TemplateToken]) -> post_processors.TemplatePiece:
    if not isinstance(place.value, dict) or place.value.keys() not in ({"Sequence"}, {"SpecialToken"}):
        raise place.wrong('an object {"Sequence": ...} or {"SpecialToken": ...}')
    kind = next(iter(place.value))
    value = place.member(kind).object(("id", "type_id"))
    type_id = value.member("type_id").number()
    if kind == "Sequence":
        return post_processors.TemplatePiece(value.member("id").choice("A", "B"), type_id, is_sequence=True)
    name = value.member("id")
    if name.text() not in tokens:
        raise name.error(f"is {name.value!r:.60}, which post_processor.special_tokens does not list; add it there")
    return post_processors.TemplatePiece(name.value, type_id)


def _template_token(place: JsonPlace) -> TemplateToken:
    of = place.members({"id": JsonPlace.text, "ids": _list_of(JsonPlace.number), "tokens": _list_of(JsonPlace.text)})
    if len(of["ids"]) != len(of["tokens"]):
        raise place.error(f"has {len(of['ids'])} ids and {len(of['tokens'])} tokens; there should be as many of both")
    return TemplateToken(of["id"], of["ids"], of["tokens"])


def _token_and_id(place: JsonPlace) -> tuple[str, int]:
    if not isinstance(place.value, list) or len(place.value) != 2:
        raise place.wrong("a list of a token and its id")
    token, token_id = place.items()
    return token.text(), token_id.number()


# How each member of an object is read; errors list the keys in this order. No type is read: `_kind` has looked at it.
_TYPE: dict[str, Reader] = {"type": JsonPlace.text}
_WORDPIECE: dict[str, Reader] = {
    "unk_token": JsonPlace.text,
    "continuing_subword_prefix": JsonPlace.text,
    "max_input_chars_per_word": _length,
}
_NORMALIZER = _TYPE | dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), JsonPlace.flag)
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

# ---- from other objects ----------------------------------------------------------------------------------------------


def tokenizer_json_of_object(value: Any, *, bpe: bool = False) -> TokenizerJson:
    """What a `tokenizers.Tokenizer` would save to its tokenizer.json."""
    if isinstance(value, TokenizerJson):
        return value
    if not callable(getattr(value, "to_str", None)):
        raise InputTypeError(
            f"tokenizer_object is a tokenizers.Tokenizer, not {type(value).__name__}; a path goes to tokenizer_file",
            value=value,
        )
    return tokenizer_json_from_object(json.loads(value.to_str()), "tokenizer_object", bpe=bpe)


# ---- writing the file of a tokenizer ---------------------------------------------------------------------------------


def write_slow(path: Path_, tokenizer: Any) -> None:
    """Write a tokenizer.json that has the vocabulary, the options, the template and the added tokens of a slow one.

    Raises:
        NotSupportedError: the tokenizer has options or added tokens that the file cannot hold; the message names each.
        VocabularyError: as `write_rust`.
    """
    problems = unsayable(tokenizer)
    if problems:
        raise _not_sayable(tokenizer, problems, ". Save it without tokenizer_json=True")
    _write(path, tokenizer_json_of(tokenizer), tokenizer, "; or save it without tokenizer_json=True")


def write_anew(path: Path_, tokenizer: Any, there: Path_) -> bool:
    """Write the tokenizer.json of a directory into which a slow tokenizer is saved, unless it gives the ids already.

    The file stays as it is where it has the tokens, the added tokens with their flags, the settings and the template of
    the tokenizer. Else it gets them, and keeps its truncation, its padding and its decoder. True is returned where it
    had to change in more than tokens: in settings or the template.
    """
    kept, problems = read_tokenizer_json(there), list(_unsayable_options(tokenizer))
    if not problems:
        with_tokens, anew = _brought_up_to(tokenizer, kept)
        if anew == kept:
            return False
        problems = list(_unsayable_tokens(tokenizer, kept.added_tokens.values()))
    if problems:
        raise _not_sayable(tokenizer, problems)
    _write(path, anew, tokenizer)
    return anew != with_tokens


def _brought_up_to(tokenizer: Any, kept: TokenizerJson) -> tuple[TokenizerJson, TokenizerJson]:
    """A file with the tokens of a tokenizer, and with its settings too; what is the same in other words stays."""
    wanted, known = tokenizer_json_of(tokenizer), tokenizer.get_vocab()
    theirs = {**kept.vocabulary, **{token.content: token_id for token_id, token in kept.added_tokens.items()}}
    new_ids = {token_id: known[token] for token, token_id in theirs.items() if token in known}
    with_tokens = replace(
        kept,
        vocabulary=wanted.vocabulary,
        added_tokens=wanted.added_tokens,
        post_processor=kept.post_processor and kept.post_processor.renumbered(new_ids),
        padding=kept.padding and kept.padding.with_id_of(known),
    )
    said, wished = (normalizer or NO_NORMALIZER for normalizer in (kept.normalizer, wanted.normalizer))
    same_texts = replace(said, strip_accents=said.strips) == replace(wished, strip_accents=wished.strips)
    same_rows = _around(tokenizer, with_tokens) == _around(tokenizer, wanted)
    return with_tokens, replace(
        with_tokens,
        **{name: getattr(wanted, name) for name in _WORDPIECE},
        decoder=replace(kept.decoder, prefix="##") if isinstance(kept.decoder, WordPieceDecoder) else kept.decoder,
        normalizer=kept.normalizer if same_texts else wanted.normalizer,
        post_processor=with_tokens.post_processor if same_rows else wanted.post_processor,
    )


def _around(tokenizer: Any, value: TokenizerJson) -> list[Any]:
    """The special tokens and the texts in the order of a row, with the token type ids where rows have them."""
    typed = "token_type_ids" in tokenizer.model_input_names
    pieces = [*value.pieces(), *value.pieces(pair=True)]
    return [(piece.sequence, piece.token, piece.token_id, piece.type_id * typed) for piece in pieces]


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """What the file of a tokenizer says now, with truncation and padding as they were read.

    Where the profiles differ on any text, the reader of a slow tokenizer's file gives the fast profile's ids.
    """
    basic, bpe = tokenizer.basic_tokenizer, getattr(tokenizer, "bpe_tokenizer", None)
    added, rust = tokenizer.added_tokens_decoder, tokenizer.profile == "fast"
    splits_punctuation = bpe is None or basic.do_split_on_punc
    normalizer = BertNormalizer(
        clean_text=bool(getattr(basic, "clean_text", True)),
        handle_chinese_chars=bool(basic.tokenize_chinese_chars),
        strip_accents=basic.strip_accents,
        lowercase=bool(basic.do_lower_case),
    )
    made = post_processors.template_processing_of
    around = tokenizer.post_processor if rust else made(tokenizer, tokenizer.template)
    model: dict[str, Any] = {"bpe": bpe and bpe.parts}
    if bpe is None:
        model = {name: getattr(tokenizer.wordpiece_tokenizer, name) for name in _WORDPIECE}
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        normalizer=normalizer if splits_punctuation else None,
        post_processor=around,
        decoder=tokenizer.decoder if rust else WordPieceDecoder(),
        added_tokens={token_id: added[token_id] for token_id in (tokenizer.order_in_file() if rust else added)},
        truncation=tokenizer.truncation_in_file,
        padding=tokenizer.padding_in_file and tokenizer.padding_in_file.with_id_of(tokenizer.get_vocab()),
        composes=rust and basic.composes_at_last,
        splits_punctuation=splits_punctuation,
        **model,
    )


def _not_sayable(tokenizer: Any, problems: list[str], advice: str = "") -> NotSupportedError:
    return NotSupportedError(
        f"a tokenizer.json cannot say what this {type(tokenizer).__name__} is: {'; '.join(problems)}{advice}",
        name="tokenizer_json",
    )


def unsayable(tokenizer: Any) -> list[str]:
    """The options and tokens of the tokenizer that the file cannot hold, in words."""
    return [*_unsayable_options(tokenizer), *_unsayable_tokens(tokenizer, ())]


def _unsayable_options(tokenizer: Any) -> Iterator[str]:
    if not tokenizer.do_basic_tokenize:
        yield "do_basic_tokenize=False (the file always splits words at punctuation)"
        return
    basic = tokenizer.basic_tokenizer
    if not tokenizer.is_plain:
        yield "stages of its own (a subclass or a patch has replaced a method)"
    if basic.never_split:
        yield f"never_split ({', '.join(map(repr, sorted(basic.never_split)))})"
    if not basic.do_split_on_punc:
        yield "do_split_on_punc=False"
    if tokenizer.split_special_tokens:
        yield "split_special_tokens=True"
    for role in ("cls_token", "sep_token"):
        if getattr(tokenizer, role) is None:
            yield f"{role} None (the template needs it)"


def _unsayable_tokens(tokenizer: Any, there: Collection[AddedToken]) -> Iterator[str]:
    """The added tokens that a tokenizer loaded from the file would find in other texts, without those of `there`."""
    if not tokenizer.do_basic_tokenize:
        return
    basic = tokenizer.basic_tokenizer
    lower = bool(basic.do_lower_case)
    rust = RustBasicTokenizer(lower, False, basic.strip_accents)
    roles = {token for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    for token in tokenizer.added_tokens_decoder.values():
        content = token.content
        if token in there:
            continue
        if token.normalized and rust.normalized(content) != content:
            yield f"the added token {content!r}, which readers of the file would find in {rust.normalized(content)!r}"
        elif lower and token.special and not token.normalized and content not in roles:
            if content == content.lower() != content.upper():
                yield (
                    f"the special token {content!r}, which here is found in {content.upper()!r} too (it can be said of "
                    "one added with normalized=True)"
                )


def added_tokens_of(file: TokenizerJson, decoder: Mapping[int, Any], path: Path_) -> dict[int, AddedToken]:
    """The added tokens of a tokenizer.json, then those of tokenizer_config.json, whose flags override the former.

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
            other = f"{there.content!r:.60} the id {token_id}" if known_id == token_id else f"it the id {known_id}"
            here = f"{formats.TOKENIZER_CONFIG_FILE} gives {token.content!r:.60} the id {token_id}"
            problem = f"{here}, and {os.fspath(path)} gives {other}; correct the file that is wrong"
            raise _ids_error(path, problem, token.content, known_id, token_id)
        tokens[token_id] = token
    return tokens


def write_rust(path: Path_, tokenizer: Any) -> None:
    """Write the tokenizer.json of a tokenizer of the fast profile.

    Raises:
        VocabularyError: such a file cannot keep its ids: the vocabulary has holes or a token on two lines, and there
            are tokens behind it; the message says what to do.
    """
    advice = (
        "; or save it with save_pretrained(DIR, legacy_format=True), --profile slow in a command: slow classes and "
        f"trietok's fast ones read these ids from a {VOCAB_FILE}; transformers' fast ones number the added tokens anew"
    )
    _write(path, tokenizer_json_of(tokenizer), tokenizer, advice)


def _write(path: Path_, value: TokenizerJson, tokenizer: Any, advice: str = "") -> None:
    """Write it, with an error that says where the ids have a gap, how to close it, and what else to do."""
    try:
        write_tokenizer_json(path, value)
    except VocabularyError as error:
        told = f"{error}. {_gap(tokenizer)}{advice}"
        known = {name: getattr(error, name) for name in ("path", "line_number", "token", "expected_id", "found_id")}
        raise VocabularyError(told, **known) from None


def _gap(tokenizer: Any) -> str:
    """The first id that the vocabulary or the added tokens skip, and the way to have none skipped."""
    repair = "load what `trietok check -m DIR --fix -o OUT{}` makes of the directory that holds it, in which {}"
    lines: dict[str, int] = {}
    for line, token in enumerate(tokenizer.vocabulary.tokens, start=1):
        if token is None:
            return f"Line {line} of the vocabulary has no token: {repair.format(' --renumber', 'ids may move')}"
        if lines.setdefault(token, line) != line:
            alike = f"both {token!r:.60}" if token else "blank"
            return f"Lines {lines[token]} and {line} of the vocabulary are {alike}: {repair.format('', 'no id moves')}"
    ids = set(tokenizer.get_vocab().values())
    missing = next((i for i in range(len(ids)) if i not in ids), None)
    if missing is None:
        return "Correct what is named"
    return f"No token has the id {missing}: remove_tokens([], compact=True) moves those behind it up, and says which"
