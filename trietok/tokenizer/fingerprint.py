"""The fingerprint of a tokenizer: a hash of every setting and token that affects ids.

In: a tokenizer. Out: its `State`, which holds those settings and tokens as plain values, and the
SHA-256 of the state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from itertools import chain
from typing import Any, NamedTuple

from trietok.errors import InputTypeError
from trietok.text.added_tokens import AddedToken
from trietok.text.words import RustBasicTokenizer

FORMAT = "trietok-1"  # the number changes if the same tokenizer gets another fingerprint

# Settings that affect no id, or that are elsewhere in the fingerprint.
_NO_SETTINGS = frozenset(
    """
    name_or_path model_max_length max_len padding_side truncation_side model_input_names
    clean_up_tokenization_spaces chat_template verbose tokenizer_file special_tokens_map_file
    tokenizer_class processor_class auto_map added_tokens_decoder extra_special_tokens
    max_embedding_rows
    """.split()
)
# A class has the name that fingerprints first had for it.
_FORMER_NAMES = {"ComponentsTokenizer": "PipelineSplitter"}
_BASIC_SETTINGS = ("tokenize_chinese_chars", "do_split_on_punc", "composes")

TokenFlags = dict[str, bool]


class State(NamedTuple):
    """Every setting and token that affects a tokenizer's ids, as plain values.

    Attributes:
        kind: the name of the class, which determines the template.
        entries: id and token of the vocabulary's lines, in the order of the ids.
        added: id, content and flags of the added tokens, in the order of the ids.
        ids: token → the id that encodes it.
        kept: token → whether it is kept from lower-casing; empty where nothing is lower-cased.
    """

    kind: str
    entries: list[tuple[int, str]]
    added: list[tuple[int, str, TokenFlags]]
    ids: dict[str, int]
    roles: dict[str, Any]
    settings: dict[str, Any]
    kept: dict[str, bool]


def fingerprint(tokenizer: Any) -> str:
    """A hash of every setting and token that affects ids: tokenizers with equal fingerprints give
    equal ids.

    Args:
        tokenizer: a `BertTokenizer`, or any other `PreTrainedTokenizer`.

    Raises:
        InputTypeError: it is no such tokenizer.

    Cost: O(code points of the tokens): 20 ms for 30,000 entries, 0.8 s for 100,000 added tokens.
    """
    return digest(state_of(tokenizer))


def digest(state: State) -> str:
    """The fingerprint of a state."""
    ids_by_content: dict[str, list[int]] = {}
    for token_id, content, _ in state.added:
        ids_by_content.setdefault(content, []).append(token_id)
    plain = {
        "class": state.kind,
        "vocabulary": state.entries,
        "added_tokens": [
            [token_id, content, list(flags.values())] for token_id, content, flags in state.added
        ],
        "encode": {
            content: state.ids[content] for content, ids in ids_by_content.items() if len(ids) > 1
        },
        "roles": state.roles,
        "settings": state.settings,
        "not_kept": sorted(token for token, kept in state.kept.items() if not kept),
    }
    # A subclass may have any str as a token, even with lone surrogates: the two halves of a
    # surrogate pair must not be encoded as the character that the pair stands for.
    return (
        f"{FORMAT}:{hashlib.sha256(canonical(plain).encode('utf-8', 'surrogatepass')).hexdigest()}"
    )


def canonical(value: Any) -> str:
    """One JSON text for a value, whatever the order of its dicts; different values have different
    texts.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def state_of(tokenizer: Any) -> State:
    """Everything that decides the ids of a tokenizer, at one moment."""
    if not hasattr(tokenizer, "holding"):
        raise InputTypeError(
            f"this takes a tokenizer, not {type(tokenizer).__name__}", value=tokenizer
        )
    holder: Any = tokenizer
    with holder.holding():  # all of it is read from one state
        return _read_state(tokenizer)


def _read_state(tokenizer: Any) -> State:
    vocabulary = getattr(tokenizer, "vocabulary", None)
    base = tokenizer.get_vocab() if vocabulary is None else vocabulary.token_to_id
    if vocabulary is None:
        entries = sorted((token_id, token) for token, token_id in base.items())
    else:
        entries = [
            (token_id, token)
            for token_id, token in enumerate(vocabulary.tokens)
            if token is not None
        ]
    settings = _settings(tokenizer)
    added, special = tokenizer.added_tokens_decoder, frozenset(tokenizer.all_special_tokens)
    return State(
        kind=type(tokenizer).__name__,
        entries=entries,
        added=[
            (token_id, token.content, _flags(token, special)) for token_id, token in added.items()
        ],
        ids={**base, **tokenizer.get_added_vocab()},
        roles=dict(tokenizer.special_tokens_map),
        settings=settings,
        kept=_kept_from_lower_casing(tokenizer) if settings["do_lower_case"] else {},
    )


def _flags(token: AddedToken, special: Set[str]) -> TokenFlags:
    """The flags of a token; a token with a role is special whatever its own flag says, as it is
    after loading.
    """
    flags = {**token.__getstate__(), "special": token.special or token.content in special}
    del flags["content"]
    return flags


def _kept_from_lower_casing(tokenizer: Any) -> dict[str, bool]:
    """Token → whether a text can give it as it is written: not a token that begins with one earlier
    in the list.

    Where several begin at one character the first of the list wins. The order affects ids only in
    this way: of two remaining tokens of which one begins with the other, the longer comes first.
    """
    others = (token.content for token in tokenizer.added_tokens_in_order() if not token.special)
    rank: dict[str, int] = {}
    for content in chain(tokenizer.all_special_tokens, others):
        rank.setdefault(content, len(rank))
    return {
        content: all(rank.get(content[:end], place) >= place for end in range(1, len(content)))
        for content, place in rank.items()
    }


def _settings(tokenizer: Any) -> dict[str, Any]:
    """The settings that affect ids, with their current values."""
    settings = _settings_of_its_own(tokenizer)
    settings["do_lower_case"] = bool(getattr(tokenizer, "do_lower_case", False))
    settings["split_special_tokens"] = bool(tokenizer.split_special_tokens)
    if hasattr(tokenizer, "stage_settings"):  # of a class whose stages are not BERT's
        settings.update(tokenizer.stage_settings())
    wordpiece = getattr(tokenizer, "wordpiece_tokenizer", None)
    if wordpiece is not None:
        settings["wordpiece_tokenizer"] = type(wordpiece).__name__
        settings["wordpiece_tokenizer.unk_token"] = str(wordpiece.unk_token)
        settings["max_input_chars_per_word"] = wordpiece.max_input_chars_per_word
        settings["continuing_subword_prefix"] = wordpiece.continuing_subword_prefix
        vocab = getattr(tokenizer, "vocab", None)
        if vocab is not wordpiece.vocab and set(vocab or ()) != set(wordpiece.vocab):
            settings["wordpiece_tokenizer.vocab"] = sorted(wordpiece.vocab)
    basic: Any = (
        getattr(tokenizer, "basic_tokenizer", None)
        if getattr(tokenizer, "do_basic_tokenize", True)
        else None
    )
    if "do_word_tokenize" not in settings:
        settings["do_basic_tokenize"] = basic is not None
    if basic is not None:
        lower, strip = bool(basic.do_lower_case), basic.strip_accents
        components = getattr(basic, "components", None)
        kind = type(basic) if components is None or not components.is_berts else RustBasicTokenizer
        settings["basic_tokenizer"] = _FORMER_NAMES.get(kind.__name__, kind.__name__)
        if lower != settings["do_lower_case"]:  # the two can differ only in a user's subclass
            settings["basic_tokenizer.do_lower_case"] = lower
        settings["strip_accents"] = lower if strip is None else bool(strip)
        settings["never_split"] = sorted(basic.never_split)
        settings.update((name, bool(getattr(basic, name))) for name in _BASIC_SETTINGS)
        if components is not None and not components.is_berts:
            settings["components"] = as_from_json(components.said)
        # in the fast profile, where the template does not follow the roles
        if hasattr(basic, "clean_text"):
            settings["clean_text"] = bool(basic.clean_text)
            settings["template"] = [
                [list(piece[:4]) for piece in tokenizer.snapshot().pieces(pair)]
                for pair in (False, True)
            ]
    return settings


def _settings_of_its_own(tokenizer: Any) -> dict[str, Any]:
    """The arguments of a user's subclass, if JSON can represent them; trietok's own classes have
    none of these.
    """
    kind = type(tokenizer)
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return {}
    elsewhere = {*_NO_SETTINGS, *tokenizer.vocab_files_names, *tokenizer.SPECIAL_TOKENS_ATTRIBUTES}
    settings: dict[str, Any] = {}
    for name in tokenizer.init_kwargs.keys() - elsewhere:
        try:
            settings[name] = as_from_json(getattr(tokenizer, name, tokenizer.init_kwargs[name]))
        except TypeError:  # a value that JSON cannot represent, so no file keeps it
            continue
    return settings


def as_from_json(value: Any) -> Any:
    """A value as it comes back from JSON; a TypeError if JSON cannot represent it."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, AddedToken):
        return value.__getstate__()
    if isinstance(value, (list, tuple)):
        return list(map(as_from_json, value))
    if isinstance(value, (set, frozenset)):
        return sorted(map(as_from_json, value), key=canonical)
    if isinstance(value, Mapping):
        return {str(key): as_from_json(item) for key, item in value.items()}
    raise TypeError(type(value).__name__)
