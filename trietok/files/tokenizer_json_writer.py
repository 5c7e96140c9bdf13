"""Writing a tokenizer.json: the file of a `TokenizerJson`, and of a tokenizer of either profile.

In: plain values, or a tokenizer. Out: the file as tokenizers 0.22.2 itself would save it, written
whole or not at all. It is written only if it can hold all of the tokenizer; else the error names
what it cannot hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any

from trietok.disk import Path_
from trietok.errors import NotSupportedError, VocabularyError
from trietok.files.formats import VOCAB_FILE, write_text
from trietok.files.json_place import BERT_PRE_TOKENIZER, NO_NORMALIZER, BertNormalizer
from trietok.files.tokenizer_json import (
    VERSION,
    WORDPIECE,
    read_tokenizer_json,
    said_by,
    tokenizer_json_from_object,
)
from trietok.files.tokenizer_json_content import TokenizerJson, WordPieceDecoder
from trietok.inputs.post_processors import template_processing_of
from trietok.text.added_patterns import order_counts
from trietok.text.added_tokens import AddedToken
from trietok.text.basic_tokenizer import RustBasicTokenizer

# ---- of plain values -----------------------------------------------------------------------------


def write_tokenizer_json(path: Path_, value: TokenizerJson, *, pretty: bool = True) -> None:
    """Write a tokenizer.json, byte for byte as the Rust tokenizer would save it. It is written
    whole or not at all.

    `pretty` is over many lines, as `Tokenizer.save` and transformers write it; else it is one line.

    Raises:
        FileError: the file cannot be written.
        FileFormatError: a value is one that `read_tokenizer_json` would refuse.
        VocabularyError: the file could not keep the ids: the Rust tokenizer would give an added
            token another one.
    """
    write_text(path, tokenizer_json_text(value, pretty=pretty, path=path))


def tokenizer_json_text(
    value: TokenizerJson, *, pretty: bool = True, path: Path_ = "tokenizer.json"
) -> str:
    """The text of a tokenizer.json, as `Tokenizer.to_str(pretty)` has it."""
    whole = tokenizer_json_object(value)
    # A tokenizer whose tokens were removed may have ids that such a file cannot keep. It is refused
    # here, before anything is written: the Rust tokenizer would load the file and give other ids
    # without a word.
    tokenizer_json_from_object(whole, path)
    if not pretty:
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(whole, indent=2, ensure_ascii=False)


def tokenizer_json_object(value: TokenizerJson) -> dict[str, Any]:
    """The JSON object of a tokenizer.json, with its keys in the order in which the Rust tokenizer
    writes them.
    """
    padding = None if value.padding is None else value.padding._asdict()
    if padding is not None and padding["strategy"] != "BatchLongest":
        padding["strategy"] = {"Fixed": padding["strategy"]}
    normalizer = _component("BertNormalizer", value.normalizer)
    pre_tokenizer: Any = {"type": BERT_PRE_TOKENIZER}
    if value.components is not None:
        said, pre_tokenizer = value.components
        normalizer = normalizer if value.takes_arguments else said
    return {
        "version": VERSION,
        "truncation": None if value.truncation is None else value.truncation._asdict(),
        "padding": padding,
        "added_tokens": [
            {"id": token_id, **token.__getstate__()} for token_id, token in _in_saved_order(value)
        ],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None if value.post_processor is None else value.post_processor.to_json(),
        "decoder": _component("WordPiece", value.decoder),
        "model": {
            "type": "WordPiece",
            **{name: getattr(value, name) for name in WORDPIECE},
            "vocab": by_id(value.vocabulary),
        },
    }


def by_id(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """A vocabulary in the order of its ids, as files have it."""
    ids = list(vocabulary.values())
    return dict(vocabulary if ids == sorted(ids) else sorted(vocabulary.items(), key=itemgetter(1)))


def _in_saved_order(value: TokenizerJson) -> list[tuple[int, AddedToken]]:
    """The added tokens by id, as the Rust tokenizer writes them, or in the order of adding if the
    order matters.
    """
    tokens, ids = value.added_tokens, list(value.added_tokens)
    if ids == sorted(ids):
        return list(tokens.items())
    said = value.normalizer or NO_NORMALIZER
    basic = RustBasicTokenizer(
        said.lowercase, said.handle_chinese_chars, said.strip_accents, said.clean_text
    )
    return list(tokens.items()) if order_counts(tokens, basic) else sorted(tokens.items())


def _component(kind: str, value: BertNormalizer | WordPieceDecoder | None) -> dict[str, Any] | None:
    return None if value is None else {"type": kind, **value._asdict()}


# ---- of a tokenizer ------------------------------------------------------------------------------


def slow_text(tokenizer: Any, path: Path_) -> str:
    """Return a tokenizer.json with the vocabulary, the options, the template and the added tokens
    of a slow tokenizer. `path` is for errors.

    Raises:
        NotSupportedError: the tokenizer has options or added tokens that the file cannot hold; the
            message names each.
        VocabularyError: as `fast_text`.
    """
    problems = unsayable(tokenizer)
    if problems:
        raise _not_sayable(tokenizer, problems, ". Save it without tokenizer_json=True")
    value = tokenizer_json_of(tokenizer)
    return _text(value, tokenizer, path, "; or save it without tokenizer_json=True")


def updated_text(tokenizer: Any, path: Path_) -> tuple[str | None, bool]:
    """Return the tokenizer.json of a directory into which a slow tokenizer is saved.

    A file with the tokens, the added tokens with their flags, the settings and the template of the
    tokenizer stays as it is. Any other gets them, and keeps its truncation, padding and decoder.

    Args:
        tokenizer: the slow tokenizer.
        path: the tokenizer.json that is there.

    Returns:
        The text, None if the file stays as it is; and whether it had to change in settings or the
        template, not only in tokens.
    """
    kept, problems = read_tokenizer_json(path), list(_unsayable_options(tokenizer))
    if not problems:
        with_tokens, anew = _brought_up_to(tokenizer, kept)
        if anew == kept:
            return None, False
        problems = list(_unsayable_tokens(tokenizer, kept.added_tokens.values()))
    if problems:
        raise _not_sayable(tokenizer, problems)
    return _text(anew, tokenizer, path), anew != with_tokens


def _brought_up_to(tokenizer: Any, kept: TokenizerJson) -> tuple[TokenizerJson, TokenizerJson]:
    """A file with the tokens of a tokenizer, and with its settings too; what is the same in other
    words stays.
    """
    wanted, known = tokenizer_json_of(tokenizer), tokenizer.get_vocab()
    theirs = {
        **kept.vocabulary,
        **{token.content: token_id for token_id, token in kept.added_tokens.items()},
    }
    new_ids = {token_id: known[token] for token, token_id in theirs.items() if token in known}
    with_tokens = kept._replace(
        vocabulary=wanted.vocabulary,
        added_tokens=wanted.added_tokens,
        post_processor=kept.post_processor and kept.post_processor.renumbered(new_ids),
        padding=kept.padding and kept.padding.with_id_of(known),
    )
    said, wished = (
        normalizer or NO_NORMALIZER for normalizer in (kept.normalizer, wanted.normalizer)
    )
    prefix = wanted.continuing_subword_prefix
    same_texts = said._replace(strip_accents=said.strips) == wished._replace(
        strip_accents=wished.strips
    )
    same_rows = _around(tokenizer, with_tokens) == _around(tokenizer, wanted)
    return with_tokens, with_tokens._replace(
        **{name: getattr(wanted, name) for name in WORDPIECE},
        decoder=kept.decoder and kept.decoder._replace(prefix=prefix),
        normalizer=kept.normalizer if same_texts else wanted.normalizer,
        post_processor=with_tokens.post_processor if same_rows else wanted.post_processor,
    )


def _around(tokenizer: Any, value: TokenizerJson) -> list[Any]:
    """The special tokens and the texts in the order of a row, with the token type ids where rows
    have them.
    """
    typed = "token_type_ids" in tokenizer.model_input_names
    pieces = [*value.pieces(), *value.pieces(pair=True)]
    return [
        (piece.sequence, piece.token, piece.token_id, piece.type_id * typed) for piece in pieces
    ]


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """What the file of a tokenizer says now, with truncation and padding as they were read.

    Where the profiles differ on any text, the reader of a slow tokenizer's file gives the fast
    profile's ids.
    """
    basic = tokenizer.basic_tokenizer
    added, rust = tokenizer.added_tokens_decoder, tokenizer.profile == "fast"
    normalizer = BertNormalizer(
        clean_text=bool(getattr(basic, "clean_text", True)),
        handle_chinese_chars=bool(basic.tokenize_chinese_chars),
        strip_accents=basic.strip_accents,
        lowercase=bool(basic.do_lower_case),
    )
    said: BertNormalizer | None = normalizer
    components = None
    if getattr(basic, "pipeline", None) is not None:
        said, components = said_by(basic.pipeline, normalizer)
    made = template_processing_of
    around = tokenizer.post_processor if rust else made(tokenizer, tokenizer.template)
    model: dict[str, Any] = {
        name: getattr(tokenizer.wordpiece_tokenizer, name) for name in WORDPIECE
    }
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        normalizer=said,
        post_processor=around,
        decoder=tokenizer.decoder if rust else WordPieceDecoder(model["continuing_subword_prefix"]),
        added_tokens={
            token_id: added[token_id] for token_id in (tokenizer.order_in_file() if rust else added)
        },
        truncation=tokenizer.truncation_in_file,
        padding=tokenizer.padding_in_file
        and tokenizer.padding_in_file.with_id_of(tokenizer.get_vocab()),
        components=components,
        **model,
    )


def _not_sayable(tokenizer: Any, problems: list[str], advice: str = "") -> NotSupportedError:
    return NotSupportedError(
        f"a tokenizer.json cannot say what this {type(tokenizer).__name__} is:"
        f" {'; '.join(problems)}{advice}",
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
    """The added tokens that a tokenizer loaded from the file would find in other texts, without
    those of `there`.
    """
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
            yield (
                f"the added token {content!r}, which readers of the file would find in"
                f" {rust.normalized(content)!r}"
            )
        elif lower and token.special and not token.normalized and content not in roles:
            if content == content.lower() != content.upper():
                yield (
                    f"the special token {content!r}, which here is found in {content.upper()!r} too"
                    " (it can be said of one added with normalized=True)"
                )


def fast_text(tokenizer: Any, path: Path_) -> str:
    """Return the tokenizer.json of a fast tokenizer. `path` is for errors.

    Raises:
        VocabularyError: such a file cannot keep its ids: the vocabulary has holes or a token on two
            lines, and there are tokens behind it; the message says what to do.
    """
    advice = (
        "; or save it with save_pretrained(DIR, legacy_format=True), --profile slow in a command:"
        f" slow classes and trietok's fast ones read these ids from a {VOCAB_FILE}; transformers'"
        " fast ones number the added tokens anew"
    )
    return _text(tokenizer_json_of(tokenizer), tokenizer, path, advice)


def _text(value: TokenizerJson, tokenizer: Any, path: Path_, advice: str = "") -> str:
    """Return its text, with an error that says where the ids have a gap, how to close it, and what
    else to do.
    """
    try:
        return tokenizer_json_text(value, path=path)
    except VocabularyError as error:
        told = f"{error}. {_gap(tokenizer)}{advice}"
        known = {
            name: getattr(error, name)
            for name in ("path", "line_number", "token", "expected_id", "found_id")
        }
        raise VocabularyError(told, **known) from None


def _gap(tokenizer: Any) -> str:
    """The first id that the vocabulary or the added tokens skip, and the way to have none
    skipped.
    """
    repair = (
        "load what `trietok check -m DIR --fix -o OUT{}` makes of the directory that holds it, in"
        " which {}"
    )
    lines: dict[str, int] = {}
    for line, token in enumerate(tokenizer.vocabulary.tokens, start=1):
        if token is None:
            return (
                f"Line {line} of the vocabulary has no token:"
                f" {repair.format(' --renumber', 'ids may move')}"
            )
        if lines.setdefault(token, line) != line:
            alike = f"both {token!r:.60}" if token else "blank"
            return (
                f"Lines {lines[token]} and {line} of the vocabulary are {alike}:"
                f" {repair.format('', 'no id moves')}"
            )
    ids = set(tokenizer.get_vocab().values())
    missing = next((i for i in range(len(ids)) if i not in ids), None)
    if missing is None:
        return "Correct what is named"
    return (
        f"No token has the id {missing}: remove_tokens([], compact=True) moves those behind it up,"
        " and says which"
    )
