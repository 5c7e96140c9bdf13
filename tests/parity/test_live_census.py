"""Every method and property of transformers' tokenizers that a subclass may override: trietok calls
it where transformers does and nowhere else, or refuses the class and says what to override instead.

A subclass of each library overrides one name with a method that notes that it was called, and calls
the original.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
import transformers

import trietok
from tests.strategies import directory_of

KINDS = ("BertTokenizer", "BertTokenizerFast")
TEXT = "a ab, [MASK] c!"
CUT = {"truncation": True, "max_length": 8}


def save(tokenizer: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as directory:
        tokenizer.save_pretrained(directory)
        return sorted(os.listdir(directory))


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "tokenize": lambda t: t.tokenize(TEXT),
    "encode": lambda t: t.encode(TEXT),
    "encode a pair": lambda t: t.encode(TEXT, "b c", **CUT),
    "call": lambda t: t(TEXT, return_special_tokens_mask=True),
    "call with a target": lambda t: t(TEXT, text_target="a"),
    "call with words": lambda t: t(TEXT.split(), is_split_into_words=True),
    "call with a batch": lambda t: t([TEXT, "b"], padding=True, **CUT),
    "prepare": lambda t: t.prepare_for_model(
        [5, 6], [7], truncation=True, max_length=5, padding="max_length"
    ),
    "pad": lambda t: t.pad({"input_ids": [[2, 5, 3], [2, 3]]}),
    "decode": lambda t: t.decode([2, 5, 8, 12, 3], skip_special_tokens=True),
    "decode a batch": lambda t: t.batch_decode([[2, 5, 8, 3]]),
    "tokens and ids": lambda t: (
        t.convert_tokens_to_ids(["a", "zz"]),
        t.convert_ids_to_tokens([5, 2], skip_special_tokens=True),
    ),
    "mask": lambda t: t.get_special_tokens_mask([2, 5, 3], already_has_special_tokens=True),
    "lengths": lambda t: (t.max_len_single_sentence, t.max_len_sentences_pair, len(t)),
    "save": save,
    "add": lambda t: t.add_tokens(["zz", "[Y]"]),
    "add special": lambda t: t.add_special_tokens(
        {"additional_special_tokens": ["<s>"], "pad_token": "[P]"}
    ),
}
# What trietok refuses to be overridden, since it would never call it.
REFUSED = {
    *("save_chat_templates", "backend_tokenizer", "push_to_hub", "register_for_auto_class"),
    *("as_target_tokenizer", "prepare_seq2seq_batch", "_encode_plus", "_batch_encode_plus"),
    *("_convert_encoding", "_call_one", "_batch_prepare_for_model", "_update_trie"),
    *("_get_padding_truncation_strategies", "set_truncation_and_padding", "_save_pretrained"),
    *("_eventual_warn_about_too_long_sequence", "_switch_to_input_mode", "_switch_to_target_mode"),
    *("_update_total_vocab_size", "_from_pretrained", "_patch_mistral_regex", "_create_repo"),
    *("_eventually_correct_t5_max_length", "_set_processor_class", "convert_added_tokens"),
    *("_get_files_timestamps", "_upload_modified_files"),
}
# What transformers asks for while it loads or adds, and trietok does not: departure 24. Loading and
# adding go by the roles and the tokens that were loaded, and the tokens of roles are added by
# `_add_tokens`. transformers asks for `vocab_size` before it warns of ids behind the vocabulary.
NOT_ASKED = {
    *("all_special_tokens", "all_special_tokens_extended", "special_tokens_map_extended"),
    *("vocab_size", "added_tokens_encoder", "added_tokens_decoder", "add_tokens"),
}
WHILE_LOADING_OR_ADDING = {"load", "add", "add special"}
# The actions in which trietok asks and transformers does not, with the reason. An override must not
# perform them for its own answer, since they would ask it again.
CALLS = {"encode", "encode a pair", "call", "call with a target", "call with words"}
ASKED_HERE: dict[str, dict[str, set[str]]] = {
    "BertTokenizer": {
        # What pads is read once for all calls, also for those that do not pad.
        "pad_token_type_id": {*CALLS, "pad", "prepare"},
        # Loading warns of roles whose tokens have another role's name.
        "special_tokens_map": {"load"},
        "convert_tokens_to_ids": {"load"},
        "_convert_token_to_id_with_added_voc": {"load", "tokenize"},
        "do_lower_case": {"prepare", "add special"},  # read with all other settings
        "vocab_size": {"decode", "decode a batch"},  # which added tokens are decoded by themselves
        "get_vocab": {"lengths", "save"},  # `len` counts it, and a save checks the unknown token
        "added_tokens_encoder": {"lengths"},
    },
    "BertTokenizerFast": {
        # The padding token and its id are read once for all calls.
        "convert_tokens_to_ids": {*CALLS, "load", "tokenize"},
        "_convert_token_to_id_with_added_voc": {*CALLS, "load", "tokenize"},
        "pad_token_type_id": {*CALLS, "pad", "prepare", "tokenize"},
        "special_tokens_map": {"load"},
        "get_vocab": {"save"},
        # The property holds the entries, which transformers keeps in Rust.
        "vocab": {*CALLS, "call with a batch", "prepare", "tokenize", "load", "save"}
        | {"add", "add special"},
    },
}


def overridable(kind: str) -> list[str]:
    """The names of the methods and properties that a subclass may override."""
    theirs, names = getattr(transformers, kind), []
    for name in dir(theirs):
        value = inspect.getattr_static(theirs, name)
        is_method = inspect.isfunction(value) or isinstance(
            value, (property, classmethod, staticmethod)
        )
        if is_method and (not name.startswith("__") or name in ("__call__", "__len__")):
            names.append(name)
    return names


def overriding(kind: Any, name: str, wrap: Callable[[Any], Any]) -> Any:
    """A subclass whose method or property of this name is the wrapped original."""
    value = inspect.getattr_static(kind, name)
    if isinstance(value, property):
        own: Any = property(wrap(value.fget), value.fset)
    elif isinstance(value, (classmethod, staticmethod)):
        own = type(value)(wrap(value.__func__))
    else:
        own = wrap(value)
    return type(kind.__name__, (kind,), {name: own})


def result_of(action: Callable[[Any], Any], tokenizer: Any) -> Any:
    """What an action gives; `prepare_for_model` of transformers' fast class has no mask."""
    try:
        result = action(tokenizer)
    except AssertionError:
        assert not isinstance(tokenizer, trietok.PreTrainedTokenizer)
        return "an error"
    return dict(result) if hasattr(result, "keys") else result


def actions_that_call(kind: Any, name: str) -> set[str]:
    """The actions in which a tokenizer of this kind calls its method of this name."""
    noted: list[str] = []

    def noting(function: Any) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            noted.append(name)
            return function(*args, **kwargs)

        return method

    tokenizer = overriding(kind, name, noting).from_pretrained(str(directory_of("uncased")))
    called = {"load"} if noted and name != "from_pretrained" else set()
    for action, act in ACTIONS.items():
        tokenizer.verbose = False  # a new state: nothing that was worked out before is used again
        noted.clear()
        result_of(act, tokenizer)
        if noted:
            called.add(action)
    return called


def test_what_is_refused_is_there_in_transformers() -> None:
    assert {name for kind in KINDS for name in overridable(kind)} >= REFUSED


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in KINDS for name in overridable(kind)]
)
def test_what_is_overridden_is_called_as_there_or_refused(kind: str, name: str) -> None:
    theirs, ours = getattr(transformers, kind), getattr(trietok, kind)
    if name in REFUSED:
        message = f"defines {name}, which trietok never calls; "
        with pytest.raises(trietok.NotSupportedError, match=message):
            type("Own", (ours,), {name: inspect.getattr_static(theirs, name)})
        return
    there = actions_that_call(theirs, name)
    # transformers' fast class has properties that are plain attributes here
    here = actions_that_call(ours, name) if hasattr(ours, name) else set()
    missing = there - here
    if name in NOT_ASKED:
        missing -= WHILE_LOADING_OR_ADDING
    assert not missing
    assert here - there == ASKED_HERE[kind].get(name, set())


@pytest.mark.parametrize("name", sorted(NOT_ASKED))
def test_what_is_not_asked_is_asked_there(name: str) -> None:
    asked = [
        actions_that_call(getattr(transformers, kind), name)
        - actions_that_call(getattr(trietok, kind), name)
        for kind in KINDS
    ]
    assert any(WHILE_LOADING_OR_ADDING & actions for actions in asked)


# ---- overrides that call the tokenizer, or change a result ---------------------------------------


def with_prompt(self: Any, ids: list[int], pair: list[int] | None = None) -> list[int]:
    prompt = self.convert_tokens_to_ids(self.tokenize("b"))
    return [self.cls_token_id, *prompt, *ids, self.sep_token_id, *(pair or [])]


# An override that decodes or tokenizes with the tokenizer that calls it.
CALLING_BACK: list[tuple[str, str, Callable[..., Any]]] = [
    ("BertTokenizer", "build_inputs_with_special_tokens", with_prompt),
    ("BertTokenizerFast", "convert_ids_to_tokens", lambda t, ids: [t.decode([i]) for i in ids]),
    ("BertTokenizerFast", "_convert_id_to_token", lambda t, index: t.decode([index])),
    (
        "BertTokenizerFast",
        "convert_tokens_to_string",
        lambda t, tokens: t.decode(t.convert_tokens_to_ids(tokens)),
    ),
]


@pytest.mark.parametrize(("kind", "name", "method"), CALLING_BACK)
def test_an_override_that_calls_the_tokenizer_comes_to_an_end_with_the_same_results(
    kind: str, name: str, method: Callable[..., Any]
) -> None:
    results = []
    for library in (transformers, trietok):
        own = type("Own", (getattr(library, kind),), {name: method})
        tokenizer = own.from_pretrained(str(directory_of("uncased")))
        ids = tokenizer(TEXT).input_ids
        results.append([ids, tokenizer.tokenize(TEXT), tokenizer.encode(TEXT)])
        results[-1] += [tokenizer.decode(ids), *tokenizer.batch_decode([ids], True)]
        if name == "convert_ids_to_tokens":
            results[-1] += tokenizer.convert_ids_to_tokens(ids)
    assert results[0] == results[1]


def more_special(tokens: Any) -> Any:
    return [*tokens, "Hello"]


# What an override makes of the original's result.
EFFECTS: dict[str, Callable[[Any], Any]] = {
    "all_special_tokens": more_special,
    "all_special_tokens_extended": more_special,
    "special_tokens_map_extended": lambda roles: {**roles, "additional_special_tokens": ["Hello"]},
    "all_special_ids": lambda ids: [*ids, 5],
    "convert_tokens_to_ids": lambda ids: (
        {2: 7, 0: 8}.get(ids, ids) if isinstance(ids, int) else ids
    ),
    "get_vocab": lambda vocabulary: {**vocabulary, "zz": 9},
    "added_tokens_encoder": lambda ids: {**ids, "zz": 9},
    "can_save_slow_tokenizer": lambda can: False,
}
SHOWN: dict[str, Callable[[Any], Any]] = {
    **ACTIONS,
    "tokenize": lambda t: t.tokenize("Hello, hello [MASK]"),
    "encode": lambda t: t.encode("Hello, hello [MASK]"),
    "roles": lambda t: (t.cls_token_id, t.pad_token_id, t.all_special_ids, t.all_special_tokens),
    "add": lambda t: (t.add_tokens(["zz"]), t.encode("zz")),
}
# Departures of their own: the mask of the fast class, and the ids of tokens that are new.
NOT_SHOWN = {"prepare", "add special"}


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_overridden_has_the_effect_that_it_has_there(kind: str, name: str) -> None:
    if name not in overridable(kind):
        assert (kind, name) == ("BertTokenizer", "can_save_slow_tokenizer")
        return
    results = []
    for library in (transformers, trietok):

        def changing(function: Any) -> Any:
            return lambda *args, **kwargs: EFFECTS[name](function(*args, **kwargs))

        own = overriding(getattr(library, kind), name, changing)
        tokenizer = own.from_pretrained(str(directory_of("uncased")))
        left_out = NOT_SHOWN | (
            {"roles"} if name in ("get_vocab", "added_tokens_encoder") else set()
        )
        given = {action: result_of(act, tokenizer) for action, act in SHOWN.items()}
        results.append({action: given[action] for action in given if action not in left_out})
    assert results[0] == results[1]
