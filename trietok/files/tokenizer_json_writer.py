"""Write the tokenizer.json of a `TokenizerJson` or of a tokenizer, as tokenizers 0.22.2 saves it.

A file is written only if it can hold all of the tokenizer. Otherwise the error names what it cannot
hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from trietok.disk import Path_
from trietok.errors import NotSupportedError, VocabularyError
from trietok.files.formats import VOCAB_FILE, write_text
from trietok.files.json_place import (
    BERT_NORMALIZER,
    BERT_PRE_TOKENIZER,
    NO_NORMALIZER,
    BertNormalizer,
)
from trietok.files.tokenizer_json import (
    VERSION,
    read_tokenizer_json,
    tokenizer_json_from_object,
)
from trietok.files.tokenizer_json_content import (
    WORDPIECE,
    TokenizerJson,
    WordPieceDecoder,
    said_of_stages,
)
from trietok.inputs.post_processors import template_processing_of
from trietok.text.added_search import order_counts
from trietok.text.added_tokens import AddedToken
from trietok.text.words import RustBasicTokenizer

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
    write_text(path, tokenizer_json_text(value, path, pretty=pretty))


def tokenizer_json_text(value: TokenizerJson, path: Path_, *, pretty: bool = True) -> str:
    """Return the text of a tokenizer.json, as `Tokenizer.to_str(pretty)` has it; `path` is what
    errors call the file.
    """
    whole = tokenizer_json_object(value)
    # A tokenizer whose tokens were removed may have ids that such a file cannot keep. It is refused
    # here, before anything is written: the Rust tokenizer would load the file and give other ids
    # without a word.
    tokenizer_json_from_object(whole, path)
    if not pretty:
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(whole, indent=2, ensure_ascii=False)


def tokenizer_json_object(value: TokenizerJson) -> dict[str, Any]:
    """Return the JSON object of a tokenizer.json, with its keys in the order in which the Rust
    tokenizer writes them.
    """
    padding = None if value.padding is None else value.padding._asdict()
    if padding is not None and padding["strategy"] != "BatchLongest":
        padding["strategy"] = {"Fixed": padding["strategy"]}
    normalizer, pre_tokenizer = value.components or (None, {"type": BERT_PRE_TOKENIZER})
    if value.takes_arguments:  # which may have changed it since it was read
        normalizer = _component(BERT_NORMALIZER, value.normalizer)
    return {
        "version": VERSION,
        "truncation": None if value.truncation is None else value.truncation._asdict(),
        "padding": padding,
        "added_tokens": [
            {"id": token_id, **token.__getstate__()}
            for token_id, token in _in_saved_order(value).items()
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
    """Return a vocabulary in the order of its ids, as files have it."""
    return dict(sorted(vocabulary.items(), key=itemgetter(1)))


def _in_saved_order(value: TokenizerJson) -> Mapping[int, AddedToken]:
    """Return the added tokens by id, as the Rust tokenizer writes them, or in the order of adding
    if the order matters.
    """
    tokens = value.added_tokens
    sorted_tokens = dict(sorted(tokens.items()))
    if list(sorted_tokens) == list(tokens):
        return tokens
    basic = RustBasicTokenizer(*(value.normalizer or NO_NORMALIZER).switches)
    return tokens if order_counts(tokens, basic) else sorted_tokens


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
    _refuse(tokenizer, unsayable(tokenizer), ". Save it without tokenizer_json=True")
    value = tokenizer_json_of(tokenizer)
    return _text(value, tokenizer, path, "; or save it without tokenizer_json=True")


def fast_text(tokenizer: Any, path: Path_) -> str:
    """Return the tokenizer.json of a fast tokenizer. `path` is for errors.

    Raises:
        VocabularyError: such a file cannot keep its ids: the vocabulary has holes or a token on two
            lines, and there are tokens behind it; the message says what to do.
    """
    advice = (
        "; or save it with save_pretrained(DIR, legacy_format=True), --profile slow in a command:"
        f" slow classes and trietok's fast ones read these ids from a {VOCAB_FILE}; transformers'"
        " fast ones give the added tokens new ids"
    )
    return _text(tokenizer_json_of(tokenizer), tokenizer, path, advice)


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
    kept = read_tokenizer_json(path)
    _refuse(tokenizer, _unsayable_options(tokenizer))
    wanted = tokenizer_json_of(tokenizer)
    with_tokens = _with_tokens_of(tokenizer, kept, wanted)
    updated = _with_settings_of(tokenizer, with_tokens, wanted)
    if updated == kept:
        return None, False
    _refuse(tokenizer, _unsayable_tokens(tokenizer, kept.added_tokens.values()))
    return _text(updated, tokenizer, path), updated != with_tokens


def _with_tokens_of(tokenizer: Any, kept: TokenizerJson, wanted: TokenizerJson) -> TokenizerJson:
    """Return a file with the tokens and ids of a tokenizer; `wanted` is what the tokenizer says."""
    ids = tokenizer.get_vocab()
    old_ids = dict(kept.vocabulary)
    old_ids.update((token.content, token_id) for token_id, token in kept.added_tokens.items())
    new_ids = {token_id: ids[token] for token, token_id in old_ids.items() if token in ids}
    return kept._replace(
        vocabulary=wanted.vocabulary,
        added_tokens=wanted.added_tokens,
        post_processor=kept.post_processor and kept.post_processor.renumbered(new_ids),
        padding=kept.padding and kept.padding.with_id_of(ids),
    )


def _with_settings_of(tokenizer: Any, kept: TokenizerJson, wanted: TokenizerJson) -> TokenizerJson:
    """Return a file with the settings of a tokenizer; what the file says in other words stays."""
    prefix = wanted.continuing_subword_prefix
    pipeline = kept.pipeline()
    is_berts = kept.components is None or (pipeline is not None and pipeline.is_berts)
    same_texts = is_berts and in_full(kept.normalizer) == in_full(wanted.normalizer)
    same_rows = _around(tokenizer, kept) == _around(tokenizer, wanted)
    return kept._replace(
        **{name: getattr(wanted, name) for name in WORDPIECE},
        decoder=kept.decoder and kept.decoder._replace(prefix=prefix),
        normalizer=kept.normalizer if same_texts else wanted.normalizer,
        components=kept.components if same_texts else wanted.components,
        post_processor=kept.post_processor if same_rows else wanted.post_processor,
    )


def in_full(normalizer: BertNormalizer | None) -> BertNormalizer:
    """Return a normalizer that says whether accents are stripped."""
    normalizer = normalizer or NO_NORMALIZER
    if normalizer.strip_accents is None:
        return normalizer._replace(strip_accents=normalizer.lowercase)
    return normalizer


def _around(tokenizer: Any, value: TokenizerJson) -> list[Any]:
    """Return the special tokens and the texts in the order of a row, with the token type ids where
    rows have them.
    """
    pieces = [*value.pieces(), *value.pieces(pair=True)]
    if "token_type_ids" not in tokenizer.model_input_names:
        pieces = [piece._replace(type_id=0) for piece in pieces]
    return [(piece.sequence, piece.token, piece.token_id, piece.type_id) for piece in pieces]


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """Return what the file of a tokenizer says now, with truncation and padding as they were read.

    Where the profiles differ on any text, the reader of a slow tokenizer's file gives the fast
    profile's ids.
    """
    basic, wordpiece = tokenizer.basic_tokenizer, tokenizer.wordpiece_tokenizer
    normalizer, components = said_of_stages(
        BertNormalizer(
            clean_text=bool(getattr(basic, "clean_text", True)),
            handle_chinese_chars=bool(basic.tokenize_chinese_chars),
            strip_accents=basic.strip_accents,
            lowercase=bool(basic.do_lower_case),
        ),
        getattr(basic, "components", None),
    )
    added, padding = tokenizer.added_tokens_decoder, tokenizer.padding_in_file
    if tokenizer.profile == "fast":
        post_processor, decoder = tokenizer.post_processor, tokenizer.decoder
        added = {token_id: added[token_id] for token_id in tokenizer.order_in_file()}
    else:
        post_processor = template_processing_of(tokenizer, tokenizer.template)
        decoder = WordPieceDecoder(wordpiece.continuing_subword_prefix)
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        **{name: getattr(wordpiece, name) for name in WORDPIECE},
        normalizer=normalizer,
        components=components,
        post_processor=post_processor,
        decoder=decoder,
        added_tokens=dict(added),
        truncation=tokenizer.truncation_in_file,
        padding=padding and padding.with_id_of(tokenizer.get_vocab()),
    )


# ---- what the file cannot say --------------------------------------------------------------------


def _refuse(tokenizer: Any, problems: Iterable[str], advice: str = "") -> None:
    """Raise if there are problems."""
    told = "; ".join(problems)
    if told:
        raise NotSupportedError(
            f"a tokenizer.json cannot say what this {type(tokenizer).__name__} is: {told}{advice}",
            name="tokenizer_json",
        )


def unsayable(tokenizer: Any) -> list[str]:
    """Return the options and tokens of the tokenizer that the file cannot hold, in words."""
    problems = list(_unsayable_options(tokenizer))
    if tokenizer.do_basic_tokenize:
        problems += _unsayable_tokens(tokenizer, ())
    return problems


def _unsayable_options(tokenizer: Any) -> Iterator[str]:
    if not tokenizer.do_basic_tokenize:
        yield "do_basic_tokenize=False (the file always splits words at punctuation)"
        return
    basic = tokenizer.basic_tokenizer
    if tokenizer.snapshot().has_own_code:
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
    """Give the added tokens that a tokenizer loaded from the file would find in other texts,
    without those of `there`.
    """
    basic = tokenizer.basic_tokenizer
    lower = bool(basic.do_lower_case)
    rust = RustBasicTokenizer(lower, False, basic.strip_accents)
    roles = {token for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    for token in tokenizer.added_tokens_decoder.values():
        content = token.content
        if token in there:
            continue
        upper = content.upper()
        if token.normalized:
            found = rust.normalized(content)
            if found != content:
                told = f"the added token {content!r}, which readers of the file would find in"
                yield f"{told} {found!r}"
        elif lower and token.special and content not in roles:
            if content == content.lower() != upper:
                yield (
                    f"the special token {content!r}, which here is found in {upper!r} too"
                    " (it can be said of one added with normalized=True)"
                )


# ---- ids that the file cannot keep ---------------------------------------------------------------


def _text(value: TokenizerJson, tokenizer: Any, path: Path_, advice: str = "") -> str:
    """Return the text of a file; the error says where the ids of the tokenizer have a gap, how to
    close it, and what else to do.
    """
    try:
        return tokenizer_json_text(value, path)
    except VocabularyError as error:
        told = f"{error}. {_gap(tokenizer)}{advice}"
        raise VocabularyError(told, **vars(error)) from None


def _gap(tokenizer: Any) -> str:
    """Return where the vocabulary or the added tokens first skip an id, and how to have none
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
