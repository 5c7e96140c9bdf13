"""Rules about tokenizer.json against vocab.txt and tokenizer_config.json.

The fast classes read the one and the slow classes the other, so they have to say the same. In:
`Facts`. Out: findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.files.formats import (
    ANY_KIND,
    GENERIC_FAST,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)
from trietok.files.json_place import BERT_NORMALIZER, BERT_PRE_TOKENIZER, NO_NORMALIZER
from trietok.files.tokenizer_json_content import TokenizerJson, WordPieceDecoder
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.inputs.post_processors import shown_template, template_processing_of
from trietok.text.wordpiece import BERT_LONGEST_WORD, BERT_PREFIX
from trietok.workbench.checking.facts import NAMES_IN_JSON, UNKNOWN, Facts, as_written, rule
from trietok.workbench.checking.report import NEW_JSON, Finding, declare

_SINGLY = 20  # so many tokens with other ids are findings of their own; more are another vocabulary
_FLAGS = ("special", "lstrip", "rstrip", "single_word")


TOKENIZER_JSON_DIFFERS = declare(
    "tokenizer-json-differs",
    "tokenizer.json gives other ids than vocab.txt",
    so=(
        "BertTokenizerFast and BertTokenizer give different ids for one text, and one of them is"
        " not the model's"
    ),
    do="put the model's own vocab.txt into its place if that is the wrong one; else " + NEW_JSON,
)


@rule(TOKENIZER_JSON_DIFFERS, needs="vocabulary json")
def vocabularies(facts: Facts) -> Iterator[Finding]:
    """The ids of tokenizer.json against those of vocab.txt and the added tokens."""
    json: TokenizerJson = facts.json
    if facts.files.is_json_alone:
        return
    theirs = {
        **json.vocabulary,
        **{token.content: token_id for token_id, token in json.added_tokens.items()},
    }
    ours = {
        token: token_id
        for token, token_id in facts.line_ids.items()
        if token and not facts.is_filled(token_id)
    }
    ours.update(facts.added_ids)
    tokens = [token for token in {**ours, **theirs} if ours.get(token) != theirs.get(token)]
    unknown_to_json = {token.content for _, token, name in facts.added if name != TOKENIZER_FILE}
    # What only tokenizer_config.json adds, the fast class adds too; that is a finding of
    # `added_tokens`.
    tokens = [
        token
        for token in tokens
        if token in theirs or token not in unknown_to_json or token in facts.line_ids
    ]
    if len(tokens) > _SINGLY:
        message = (
            f"{len(tokens)} of {len({**ours, **theirs})} tokens have other ids than in"
            f" {VOCAB_FILE}, or stand in "
        )
        message += f"one of the two only, {tokens[0]!r} the first: they are of different models"
        yield Finding(
            "error", TOKENIZER_JSON_DIFFERS, message, file=TOKENIZER_FILE, token=tokens[0]
        )
        return
    for token in tokens:
        token_id, other_id = theirs.get(token), ours.get(token)
        if token_id is None:
            message = f"{token!r}, id {other_id} in {VOCAB_FILE}, is not in {TOKENIZER_FILE}"
        elif other_id is None:
            message = (
                f"{token!r} has the id {token_id}, and is neither in {VOCAB_FILE} nor an added"
                " token there"
            )
        else:
            message = f"{token!r} has the id {token_id}, and {other_id} in the other files"
        known: dict[str, Any] = {"token": token, "token_id": token_id, "other_id": other_id}
        yield Finding("error", TOKENIZER_JSON_DIFFERS, message, TOKENIZER_FILE, **known)


TOKENIZER_JSON_ADDED = declare(
    "tokenizer-json-added",
    "tokenizer.json and tokenizer_config.json disagree about added tokens",
    so="only one of the two profiles finds the token in texts, or skips it in decoding",
    do="correct the file that is wrong; if it is tokenizer.json, " + NEW_JSON,
)


@rule(TOKENIZER_JSON_ADDED, needs="vocabulary json")
def added_tokens(facts: Facts) -> Iterator[Finding]:
    """Added tokens that only one of tokenizer.json and tokenizer_config.json has, or that they mark
    differently.
    """
    files = facts.files
    if not facts.decoder_counts:
        return
    config = {token.content: (token_id, token) for token_id, token in files.decoder}
    config.update(
        {
            token.content: (token_id, token)
            for token_id, token in files.added
            if token.content not in config
        }
    )
    own = {token.content: (token_id, token) for token_id, token in facts.json.added_tokens.items()}
    for content in {**own, **config}:
        token_id, token = own.get(content) or config[content]
        message = f"{content!r}, id {token_id}, is an added token in "
        if content not in config:
            message += (
                f"{TOKENIZER_FILE} and not in {TOKENIZER_CONFIG_FILE}, so slow tokenizers split it"
                " as any text"
            )
        elif content not in own:
            message += (
                f"{TOKENIZER_CONFIG_FILE} and not in {TOKENIZER_FILE}, so `tokenizers` split it as"
                " any text"
            )
        else:
            flags = [
                flag for flag in _FLAGS if getattr(token, flag) != getattr(config[content][1], flag)
            ]
            if not flags:
                continue
            said = ", ".join(f"{flag} {as_written(getattr(token, flag))}" for flag in flags)
            message = f"{content!r} has {said} here, and the opposite in {TOKENIZER_CONFIG_FILE}"
        yield Finding(
            "warning",
            TOKENIZER_JSON_ADDED,
            message,
            TOKENIZER_FILE,
            token=content,
            token_id=token_id,
        )


TOKENIZER_JSON_SETTING = declare(
    "tokenizer-json-setting",
    "tokenizer.json does other things to a text than slow tokenizers",
    so="the same text gets other ids from tokenizer.json than from vocab.txt",
    do=(
        "decide which file is right: if tokenizer_config.json is wrong, correct it; if"
        " tokenizer.json is wrong, delete it and write it anew with"
        " BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR)"
    ),
)


def _name(component: Any) -> str:
    """What a component of a file is, in words: those of a list in their order."""
    if component is None:
        return ""
    steps = component.get("normalizers", component.get("pretokenizers"))
    return component["type"] if steps is None else ", ".join(map(_name, steps))


@rule(TOKENIZER_JSON_SETTING, needs="vocabulary json")
def settings(facts: Facts) -> Iterator[Finding]:
    """What tokenizer.json does to a text against what tokenizer_config.json, and the slow classes,
    do.
    """
    for message in (
        *_normalizing(facts),
        *_word_pieces(facts, facts.json),
        *_padding(facts, facts.json),
    ):
        yield Finding("warning", TOKENIZER_JSON_SETTING, message, TOKENIZER_FILE)


class Contradiction(NamedTuple):
    """A setting of tokenizer_config.json that tokenizer.json contradicts: its name, and the value
    that one has.
    """

    setting: str
    value: bool | None
    message: str


def json_contradictions(facts: Facts) -> Iterator[Contradiction]:
    """The settings of the basic tokenizer for which the two files have different values."""
    said = facts.json.normalizer or NO_NORMALIZER
    for ours, theirs in NAMES_IN_JSON.items():
        wanted = bool(facts.setting(theirs))
        if getattr(said, ours) != wanted:
            message = (
                f"normalizer.{ours} is {as_written(not wanted)}, and {theirs} is"
                f" {_config_value(facts, theirs)}"
            )
            yield Contradiction(theirs, not wanted, message)
    strips = said.lowercase if said.strip_accents is None else said.strip_accents
    asked = facts.setting("strip_accents")
    if strips != (bool(facts.setting("do_lower_case")) if asked is None else asked):
        if said.strip_accents != asked:  # else it follows from lower-casing, which has a finding
            value = _config_value(facts, "strip_accents")
            message = (
                f"normalizer.strip_accents is {as_written(said.strip_accents)}, and strip_accents"
                f" is {value}"
            )
            yield Contradiction("strip_accents", said.strip_accents, message)


def _normalizing(facts: Facts) -> Iterator[str]:
    if facts.has_other_stages:
        if not facts.files.is_json_alone:
            yield (
                "its normalizer or its pre-tokenizer is not BERT's, which all readers of vocab.txt"
                " have"
            )
        return
    if not facts.basic:
        yield (
            "its words are split at punctuation, and do_basic_tokenize is false in"
            f" {TOKENIZER_CONFIG_FILE}"
        )
        return
    for each in json_contradictions(facts):
        yield each.message
    if not (facts.json.normalizer or NO_NORMALIZER).clean_text:
        yield "normalizer.clean_text is false, and slow tokenizers always delete control characters"
    words = facts.files.config.get("never_split") if facts.fast is not None else None
    split = [word for word in words or () if facts.fast.tokenize(word) != [word]]
    if split:
        yield (
            f"it cannot hold never_split, so fast classes split {split[0]!r}, which slow tokenizers"
            " keep whole"
        )


def _word_pieces(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    prefix, decoder = json.continuing_subword_prefix, json.decoder
    if prefix != BERT_PREFIX:
        pieces = sum(token.startswith(prefix) for token in json.vocabulary) if prefix else 0
        yield (
            f"model.continuing_subword_prefix is {prefix!r}, with which {pieces} entries begin;"
            f" slow tokenizers have {BERT_PREFIX!r}"
        )
    elif decoder is None:
        yield f"decoder is null: decoding leaves {prefix!r} and spaces between the pieces of words"
    elif isinstance(decoder, WordPieceDecoder) and decoder.prefix != prefix:
        yield (
            f"decoder.prefix is {decoder.prefix!r}, and the model's is {prefix!r}: decoding leaves"
            " it in the text"
        )
    if json.max_input_chars_per_word != BERT_LONGEST_WORD:
        yield (
            f"model.max_input_chars_per_word is {json.max_input_chars_per_word}: longer words are"
            f" unknown; slow tokenizers have {BERT_LONGEST_WORD}"
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


TOKENIZER_JSON_LENGTH = declare(
    "tokenizer-json-length",
    so=(
        "`tokenizers`, and servers that read the file with it, do so with every text; trietok and "
        "transformers do what each call asks for"
    ),
    do='nothing if it is meant; else {file}: "truncation": null and "padding": null',
)


@rule(TOKENIZER_JSON_LENGTH, needs="vocabulary json slow")
def lengths(facts: Facts) -> Iterator[Finding]:
    """Truncation and padding that the file keeps, which `tokenizers` applies to every text."""
    json: TokenizerJson = facts.json
    positions, longest = (
        facts.files.model_config.get("max_position_embeddings"),
        facts.slow.model_max_length,
    )

    def finding(message: str, odd: bool) -> Finding:
        return Finding(
            "warning" if odd else "note", TOKENIZER_JSON_LENGTH, message, file=TOKENIZER_FILE
        )

    for what, said, length in (
        ("truncation", json.truncation, json.truncation and json.truncation.max_length),
        ("padding", json.padding, json.padding and json.padding.strategy),
    ):
        if said is None:
            continue
        if not isinstance(length, int):
            yield finding("padding fills every batch up to its longest text", odd=False)
        elif type(positions) is int and length > positions:
            yield finding(
                f"{what} is to {length} tokens, and max_position_embeddings is {positions}",
                odd=True,
            )
        else:
            does = "every text is cut to" if what == "truncation" else "every text is filled up to"
            than = (
                f"; model_max_length is {longest}" if length != longest < VERY_LARGE_INTEGER else ""
            )
            yield finding(
                f"{what}: {does} {length} tokens{than}", odd=length < facts.shortest_useful
            )
        side = facts.files.config.get(f"{what}_side")
        side = side if isinstance(side, str) else "right"
        if said.direction.lower() != side:
            yield finding(
                f"{what}.direction is {said.direction!r}, and {what}_side is {side!r}", odd=True
            )
    if (
        json.truncation is not None
        and 0 < json.truncation.stride >= json.truncation.max_length - facts.special_places
    ):
        yield finding(
            f"truncation.stride is {json.truncation.stride}: too much for the length", odd=True
        )


TOKENIZER_JSON_TEMPLATE = declare(
    "tokenizer-json-template",
    so=(
        "fast tokenizers put other special tokens, or token type ids, around texts than the model"
        " was trained with"
    ),
    do=NEW_JSON,
)


@rule(TOKENIZER_JSON_TEMPLATE, needs="vocabulary json fast")
def template(facts: Facts) -> Iterator[Finding]:
    """The special tokens around texts against those of the class."""
    for what, ours, theirs in _other_templates(facts):
        message = f"the template for {what} is {ours}, and {type(facts.fast).__name__} has {theirs}"
        yield Finding("warning", TOKENIZER_JSON_TEMPLATE, message, file=TOKENIZER_FILE)


def _other_templates(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """For one text and for a pair: the template of the file and that of the class, where they
    differ.
    """
    if None in (facts.fast.cls_token, facts.fast.sep_token):
        return  # there is a finding about the role
    expected = template_processing_of(facts.fast, facts.fast.rust_template)
    with_types = "token_type_ids" in facts.fast.model_input_names
    for pair, what in ((False, "one text"), (True, "a pair")):
        ours, theirs = (
            shown_template(said.pieces(pair), with_types) for said in (facts.json, expected)
        )
        if ours != theirs:
            yield what, ours, theirs


TRANSFORMERS_5 = declare(
    "transformers-5-drops",
    "transformers 5 does not use all of tokenizer.json",
    so=(
        "there, ids or decoded texts are others than those of trietok, transformers 4 and the"
        " tokenizers package"
    ),
    do=(
        "nothing, if transformers 5 does not load it; else load it there with "
        "PreTrainedTokenizerFast.from_pretrained(DIR), as the page on transformers 5 says"
    ),
)


@rule(TRANSFORMERS_5, needs="vocabulary json fast")
def dropped_by_transformers_5(facts: Facts) -> Iterator[Finding]:
    """What the class of transformers 5 puts its own in place of."""
    name = facts.kind.__name__
    if (
        facts.files.config.get("tokenizer_class") in (GENERIC_FAST, *ANY_KIND)
        or name == "RetriBertTokenizer"
    ):
        return  # there is no such class there, and what stands in for it loads the file as it is
    dropped = ["post_processor"] if any(_other_templates(facts)) else []
    if name != "ConvBertTokenizer":  # which sets up nothing but the template
        dropped = [*_dropped_stages(facts, facts.json), *dropped, *_dropped_tokens(facts)]
    if dropped:
        message = f"{name} of transformers 5 does not use {', '.join(dropped)}"
        yield Finding("note", TRANSFORMERS_5, message, file=TOKENIZER_FILE)


def _dropped_stages(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    """Stages that are not those which the settings of tokenizer_config.json give."""
    said = json.normalizer or NO_NORMALIZER
    bert = (BERT_NORMALIZER if json.normalizer else "", BERT_PRE_TOKENIZER)
    steps, cuts = bert if json.components is None else map(_name, json.components)
    if steps != BERT_NORMALIZER or (not json.takes_arguments and any(json_contradictions(facts))):
        yield f"normalizer ({steps or 'null'})"
    elif not said.clean_text:
        yield "normalizer.clean_text (false)"
    if cuts != BERT_PRE_TOKENIZER:
        yield f"pre_tokenizer ({cuts})"
    for name, its_own in (
        ("max_input_chars_per_word", BERT_LONGEST_WORD),
        ("continuing_subword_prefix", BERT_PREFIX),
        ("unk_token", facts.roles.get(UNKNOWN, json.unk_token)),  # there is a finding about none
    ):
        if getattr(json, name) != its_own:
            yield f"model.{name} ({getattr(json, name)!r})"
    # which decoding then does in any case
    cleans = facts.files.config.get("clean_up_tokenization_spaces") is True
    if json.decoder not in (WordPieceDecoder(), WordPieceDecoder(cleanup=not cleans)):
        yield "decoder"


def _dropped_tokens(facts: Facts) -> Iterator[str]:
    """Added tokens that the added_tokens_decoder of tokenizer_config.json lacks, or has as ordinary
    ones.
    """
    if not facts.decoder_counts:
        return
    known = {token.content: token.special for _, token in facts.files.decoder}
    own = [
        token for token in facts.json.added_tokens.values() if token.content not in facts.special
    ]
    for what, tokens in (
        ("", [token.content for token in own if token.content not in known]),
        (
            "special of ",
            [token.content for token in own if token.special and known.get(token.content) is False],
        ),
    ):
        if tokens:
            more = f" and {len(tokens) - 1} more" if tokens[1:] else ""
            yield f"added_tokens ({what}{tokens[0]!r}{more})"


def _config_value(facts: Facts, name: str) -> str:
    value = as_written(facts.setting(name))
    where = f"in {TOKENIZER_CONFIG_FILE}" if name in facts.files.config else "by default"
    return f"{value} {where}"
