"""tokenizer.json against vocab.txt and tokenizer_config.json.

Where both are there, the fast classes read the one and the slow classes the other, so they have to say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.workbench.checking.files import DECODER
from trietok.workbench.checking.report import Finding
from trietok.workbench.checking.rules.facts import UNKNOWN, Facts, shortest_useful, special_places
from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE
from trietok.files.tokenizer_json.parts import NO_NORMALIZER, TokenizerJson, WordPieceDecoder
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.inputs.pieces import Piece
from trietok.inputs.post_processors import template_processing_of
from trietok.text.added_token import AddedToken
from trietok.text.wordpiece import WordpieceTokenizer

_SINGLY = 20  # so many tokens with other ids are findings of their own; more are another vocabulary
_FLAGS = ("special", "lstrip", "rstrip", "single_word")
_SETTINGS = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}


def vocabularies(facts: Facts) -> Iterator[Finding]:
    """The ids of tokenizer.json against those of vocab.txt and the added tokens."""
    json = facts.files.fast_values
    if json is None or facts.files.is_json_alone or facts.files.tokens is None:
        return
    theirs = {**json.vocabulary, **{token.content: token_id for token_id, token in json.added_tokens.items()}}
    ours = {token: token_id for token, token_id in facts.line_ids.items() if token and not facts.is_filled(token_id)}
    ours.update(facts.added_ids)
    tokens = [token for token in {**ours, **theirs} if ours.get(token) != theirs.get(token)]
    unknown_to_json = {token.content for _, token, name in facts.added if name != TOKENIZER_FILE}
    # What only tokenizer_config.json adds, the fast class adds too; that is a finding of `added_tokens`.
    tokens = [token for token in tokens if token in theirs or token not in unknown_to_json or token in facts.line_ids]
    if len(tokens) > _SINGLY:
        message = f"{len(tokens)} of {len({**ours, **theirs})} tokens have other ids than in {VOCAB_FILE}, or stand in "
        message += f"one of the two only, {tokens[0]!r} the first: they are of different models"
        yield Finding("error", "tokenizer-json-differs", message, file=TOKENIZER_FILE, token=tokens[0])
        return
    for token in tokens:
        token_id, other_id = theirs.get(token), ours.get(token)
        if token_id is None:
            message = f"{token!r}, id {other_id} in {VOCAB_FILE}, is not in {TOKENIZER_FILE}"
        elif other_id is None:
            message = f"{token!r} has the id {token_id}, and is neither in {VOCAB_FILE} nor an added token there"
        else:
            message = f"{token!r} has the id {token_id}, and {other_id} in {VOCAB_FILE}"
        known: dict[str, Any] = {"token": token, "token_id": token_id, "other_id": other_id}
        yield Finding("error", "tokenizer-json-differs", message, file=TOKENIZER_FILE, **known)


def added_tokens(facts: Facts) -> Iterator[Finding]:
    """Added tokens that only one of tokenizer.json and tokenizer_config.json has, or that they mark differently."""
    json, files = facts.files.fast_values, facts.files
    if json is None or DECODER not in files.config:
        return
    config = {token.content: (token_id, token) for token_id, token in files.decoder}
    config.update({token.content: (token_id, token) for token_id, token in files.added if token.content not in config})
    own = {token.content: (token_id, token) for token_id, token in json.added_tokens.items()}
    for content in {**own, **config}:
        if content not in config:
            token_id, where, other = own[content][0], TOKENIZER_FILE, f"{TOKENIZER_CONFIG_FILE}, so slow tokenizers"
        elif content not in own:
            token_id, where, other = config[content][0], TOKENIZER_CONFIG_FILE, f"{TOKENIZER_FILE}, so `tokenizers`"
        else:
            yield from _other_flags(*own[content], config[content][1])
            continue
        message = f"{content!r}, id {token_id}, is an added token in {where} and not in {other}"
        message += " split it as any text"
        known: dict[str, Any] = {"token": content, "token_id": token_id}
        yield Finding("warning", "tokenizer-json-added", message, file=TOKENIZER_FILE, **known)


def _other_flags(token_id: int, ours: AddedToken, theirs: AddedToken) -> Iterator[Finding]:
    flags = [flag for flag in _FLAGS if getattr(ours, flag) != getattr(theirs, flag)]
    if flags:
        said = ", ".join(f"{flag} {str(getattr(ours, flag)).lower()}" for flag in flags)
        message = f"{ours.content!r} has {said} here, and the opposite in {TOKENIZER_CONFIG_FILE}"
        known: dict[str, Any] = {"token": ours.content, "token_id": token_id}
        yield Finding("warning", "tokenizer-json-added", message, file=TOKENIZER_FILE, **known)


def settings(facts: Facts) -> Iterator[Finding]:
    """What tokenizer.json does to a text against what tokenizer_config.json, and the slow classes, do."""
    json = facts.files.fast_values
    if json is None:
        return
    for message in (*_normalizing(facts, json), *_word_pieces(facts, json), *_padding(facts, json)):
        yield Finding("warning", "tokenizer-json-setting", message, file=TOKENIZER_FILE)


class Contradiction(NamedTuple):
    """A setting of tokenizer_config.json that tokenizer.json contradicts: its name, and the value that one has."""

    setting: str
    value: bool | None
    message: str


def contradictions(facts: Facts, json: TokenizerJson) -> Iterator[Contradiction]:
    """The settings of the basic tokenizer for which the two files have different values."""
    said = json.normalizer or NO_NORMALIZER
    for ours, theirs in _SETTINGS.items():
        wanted = bool(facts.setting(theirs))
        if getattr(said, ours) != wanted:
            message = f"normalizer.{ours} is {_json(not wanted)}, and {theirs} is {_config_value(facts, theirs)}"
            yield Contradiction(theirs, not wanted, message)
    strips = said.lowercase if said.strip_accents is None else said.strip_accents
    asked = facts.setting("strip_accents")
    if strips != (bool(facts.setting("do_lower_case")) if asked is None else asked):
        if said.strip_accents != asked:  # else it follows from lower-casing, which has a finding
            value = _config_value(facts, "strip_accents")
            message = f"normalizer.strip_accents is {_json(said.strip_accents)}, and strip_accents is {value}"
            yield Contradiction("strip_accents", said.strip_accents, message)


def _normalizing(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    said = json.normalizer or NO_NORMALIZER
    if facts.setting("do_basic_tokenize") is False:
        yield f"its words are split at punctuation, and do_basic_tokenize is false in {TOKENIZER_CONFIG_FILE}"
        return
    for each in contradictions(facts, json):
        yield each.message
    if not said.clean_text:
        yield "normalizer.clean_text is false, and slow tokenizers always delete control characters"
    words = facts.files.config.get("never_split") if facts.fast is not None else None
    split = [word for word in words or () if facts.fast.tokenize(word) != [word]]
    if split:
        yield f"it cannot hold never_split, so fast classes split {split[0]!r}, which slow tokenizers keep whole"


def _word_pieces(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    prefix, decoder = json.continuing_subword_prefix, json.decoder
    plain = WordpieceTokenizer({"": 0}, "")
    if prefix != plain.continuing_subword_prefix:
        pieces = sum(token.startswith(prefix) for token in json.vocabulary) if prefix else 0
        yield (
            f"model.continuing_subword_prefix is {prefix!r}, with which {pieces} entries begin; slow tokenizers have "
            f"{plain.continuing_subword_prefix!r}"
        )
    elif decoder is None:
        yield f"decoder is null: decoding leaves {prefix!r} and spaces between the pieces of words"
    elif isinstance(decoder, WordPieceDecoder) and decoder.prefix != prefix:
        yield f"decoder.prefix is {decoder.prefix!r}, and the model's is {prefix!r}: decoding leaves it in the text"
    if json.max_input_chars_per_word != plain.max_input_chars_per_word:
        yield (
            f"model.max_input_chars_per_word is {json.max_input_chars_per_word}: longer words are unknown; slow "
            f"tokenizers have {plain.max_input_chars_per_word}"
        )
    unknown = facts.roles.get(UNKNOWN)
    if unknown is not None and json.unk_token != unknown:
        yield f"model.unk_token is {json.unk_token!r}, and {UNKNOWN} is {unknown!r}"


def _padding(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    said, token = json.padding, facts.roles.get("pad_token")
    if said is None or token is None:
        return
    if said.pad_id != (token_id := facts.id_of(token)):
        yield f"padding.pad_id is {said.pad_id}, and the pad_token {token!r} has the id {token_id}"
    elif said.pad_token != token:
        yield f"padding.pad_token is {said.pad_token!r}, and the pad_token is {token!r}"
    if said.pad_type_id != (type_id := facts.files.config.get("pad_token_type_id", 0)):
        yield f"padding.pad_type_id is {said.pad_type_id}, and pad_token_type_id is {type_id}"


def lengths(facts: Facts) -> Iterator[Finding]:
    """Truncation and padding that the file keeps, which `tokenizers` applies to every text."""
    json, positions = facts.files.fast_values, facts.files.model_config.get("max_position_embeddings")
    if json is None or facts.slow is None:
        return
    longest = facts.slow.model_max_length

    def finding(message: str, odd: bool) -> Finding:
        return Finding("warning" if odd else "note", "tokenizer-json-length", message, file=TOKENIZER_FILE)

    for what, said, length in (
        ("truncation", json.truncation, json.truncation and json.truncation.max_length),
        ("padding", json.padding, json.padding and json.padding.strategy),
    ):
        if said is None:
            continue
        if not isinstance(length, int):
            yield finding("padding fills every batch up to its longest text", odd=False)
        elif type(positions) is int and length > positions:
            yield finding(f"{what} is to {length} tokens, and max_position_embeddings is {positions}", odd=True)
        else:
            does = "every text is cut to" if what == "truncation" else "every text is filled up to"
            than = f"; model_max_length is {longest}" if length != longest < VERY_LARGE_INTEGER else ""
            yield finding(f"{what}: {does} {length} tokens{than}", odd=length < shortest_useful(facts))
        side = facts.setting_of(f"{what}_side", "right")
        if said.direction.lower() != side:
            yield finding(f"{what}.direction is {said.direction!r}, and {what}_side is {side!r}", odd=True)
    if json.truncation is not None and 0 < json.truncation.stride >= json.truncation.max_length - special_places(facts):
        yield finding(f"truncation.stride is {json.truncation.stride}: too much for the length", odd=True)


def template(facts: Facts) -> Iterator[Finding]:
    """The special tokens around texts against those of the class."""
    json = facts.files.fast_values
    if json is None or facts.fast is None:
        return
    if None in (facts.fast.cls_token, facts.fast.sep_token):
        return  # there is a finding about the role
    expected = template_processing_of(facts.fast, facts.fast.rust_template)
    with_types = "token_type_ids" in facts.fast.model_input_names
    for pair, what in ((False, "one text"), (True, "a pair")):
        ours, theirs = (_shown(pieces, with_types) for pieces in (json.pieces(pair), expected.pieces(pair)))
        if ours != theirs:
            message = f"the template for {what} is {ours}, and {type(facts.fast).__name__} has {theirs}"
            yield Finding("warning", "tokenizer-json-template", message, file=TOKENIZER_FILE)


def _shown(pieces: tuple[Piece, ...], with_types: bool) -> str:
    names = [piece.token if piece.sequence is None else f"${'AB'[piece.sequence]}" for piece in pieces]
    types = [f":{piece.type_id}" if with_types and piece.type_id else "" for piece in pieces]
    return " ".join(f"{name}{kind}" for name, kind in zip(names, types, strict=True))


def _config_value(facts: Facts, name: str) -> str:
    value = _json(facts.setting(name))
    where = f"in {TOKENIZER_CONFIG_FILE}" if name in facts.files.config else "by default"
    return f"{value} {where}"


def _json(value: Any) -> str:
    return {None: "null", True: "true", False: "false"}.get(value, repr(value))
