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
from trietok.tokenizer.special_tokens import LEFT_OUT

from .conftest import directory_of

KINDS = ("BertTokenizer", "BertTokenizerFast")
TEXT = "a ab, [MASK] c!"
CUT = {"truncation": True, "max_length": 8}


def save(tokenizer: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        tokenizer.save_pretrained(directory)


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
# What transformers asks while it loads or adds, and trietok does not, with the reason.
NOT_ASKED = {
    "all_special_tokens": "loading and adding go by the roles themselves",
    "all_special_tokens_extended": "loading and adding go by the roles themselves",
    "special_tokens_map_extended": "loading and adding go by the roles themselves",
    "vocab_size": "transformers asks for it before it warns of ids behind the vocabulary",
    "added_tokens_encoder": "what was loaded is known",
    "added_tokens_decoder": "what was loaded is known",
    "add_tokens": (
        "the tokens of roles are added by `_add_tokens`, as in the slow class of transformers"
    ),
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


def overridable(kind: Any) -> list[str]:
    """The names of the methods and properties that a subclass may override."""
    names = []
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        is_method = inspect.isfunction(value) or isinstance(
            value, (property, classmethod, staticmethod)
        )
        if is_method and (not name.startswith("__") or name in ("__call__", "__len__")):
            names.append(name)
    return names


def noting(kind: Any, name: str, noted: list[str]) -> Any:
    """A subclass that notes where its method of this name is called."""
    value = inspect.getattr_static(kind, name)

    def of(function: Any) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            noted.append(name)
            return function(*args, **kwargs)

        return method

    if isinstance(value, property):
        own: Any = property(of(value.fget), value.fset)
    elif isinstance(value, (classmethod, staticmethod)):
        own = type(value)(of(value.__func__))
    else:
        own = of(value)
    return type(kind.__name__, (kind,), {name: own})


def actions_that_call(kind: Any, name: str) -> set[str]:
    """The actions in which a tokenizer of this kind calls its method of this name."""
    noted: list[str] = []
    own = noting(kind, name, noted)
    tokenizer = own.from_pretrained(str(directory_of("uncased")))
    called = {"load"} if noted and name != "from_pretrained" else set()
    for action, act in ACTIONS.items():
        tokenizer.verbose = False  # a new state: nothing that was worked out before is used again
        noted.clear()
        try:
            act(tokenizer)
        except AssertionError:  # `prepare_for_model` of transformers' fast class has no mask
            assert not isinstance(tokenizer, trietok.PreTrainedTokenizer)
        if noted:
            called.add(action)
    return called


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in KINDS for name in overridable(getattr(transformers, kind))],
)
def test_what_is_overridden_is_called_as_there_or_refused(kind: str, name: str) -> None:
    theirs, ours = getattr(transformers, kind), getattr(trietok, kind)
    if name in LEFT_OUT:
        with pytest.raises(
            trietok.NotSupportedError, match=f"defines {name}, which trietok never calls; "
        ):
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


@pytest.mark.parametrize("name", NOT_ASKED)
def test_what_is_not_asked_is_asked_there(name: str) -> None:
    """The list of exceptions holds no name that it does not need."""
    for kind in KINDS:
        theirs, ours = getattr(transformers, kind), getattr(trietok, kind)
        if WHILE_LOADING_OR_ADDING & (
            actions_that_call(theirs, name) - actions_that_call(ours, name)
        ):
            return
    pytest.fail(f"{name} is asked for here too")


ENDLESS: dict[str, Callable[[Any, Any], Any]] = {
    "convert_ids_to_tokens": lambda t, ids: [t.decode([i]) for i in ids],
    "_convert_id_to_token": lambda t, index: t.decode([index]),
    "convert_tokens_to_string": lambda t, tokens: t.decode(t.convert_tokens_to_ids(tokens)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_fast_overrides_that_decode_come_to_an_end(name: str) -> None:
    """transformers' fast class decodes in Rust, which calls no method of a subclass."""
    results = []
    for library in (transformers, trietok):
        own = type("Own", (library.BertTokenizerFast,), {name: ENDLESS[name]})
        tokenizer = own.from_pretrained(str(directory_of("uncased")))
        ids = tokenizer(TEXT).input_ids
        results.append((tokenizer.decode(ids), tokenizer.batch_decode([ids], True)))
        if name == "convert_ids_to_tokens":
            results[-1] += tuple(tokenizer.convert_ids_to_tokens(ids))
    assert results[0] == results[1]


def test_a_template_may_tokenize() -> None:
    """A slow subclass that tokenizes a prompt for its template tokenizes and encodes as there."""

    def with_prompt(self: Any, ids: list[int], pair: list[int] | None = None) -> list[int]:
        prompt = self.convert_tokens_to_ids(self.tokenize("b"))
        return [self.cls_token_id, *prompt, *ids, self.sep_token_id, *(pair or [])]

    results = []
    for library in (transformers, trietok):
        methods = {"build_inputs_with_special_tokens": with_prompt}
        own = type("Own", (library.BertTokenizer,), methods)
        tokenizer = own.from_pretrained(str(directory_of("uncased")))
        results.append((tokenizer.tokenize(TEXT), tokenizer.encode(TEXT)))
    assert results[0] == results[1]


def more_special(tokens: Any) -> Any:
    return [*tokens, "Hello"]


def more_roles(roles: Any) -> Any:
    return {**roles, "additional_special_tokens": ["Hello"]}


# What an override makes of the original's result; and the actions whose results it changes.
EFFECTS: dict[str, Callable[[Any], Any]] = {
    "all_special_tokens": more_special,
    "all_special_tokens_extended": more_special,
    "special_tokens_map_extended": more_roles,
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
    "decode": lambda t: t.decode([2, 5, 8, 12, 3], skip_special_tokens=True),
    "roles": lambda t: (t.cls_token_id, t.pad_token_id, t.all_special_ids, t.all_special_tokens),
    "add": lambda t: (t.add_tokens(["zz"]), t.encode("zz")),
    "save": lambda t: files_of(t),
}


def files_of(tokenizer: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as directory:
        tokenizer.save_pretrained(directory)
        return sorted(os.listdir(directory))


def results(kind: Any, name: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """What the actions give with one method overridden."""
    value = inspect.getattr_static(kind, name)
    if isinstance(value, property):
        own: Any = property(lambda self: change(value.fget(self)))
    else:

        def own(*args: Any, **kwargs: Any) -> Any:
            return change(value(*args, **kwargs))

    tokenizer = type(kind.__name__, (kind,), {name: own}).from_pretrained(
        str(directory_of("uncased"))
    )
    given = {}
    for action, act in SHOWN.items():
        try:
            result = act(tokenizer)
        except AssertionError:  # `prepare_for_model` of transformers' fast class has no mask
            result = "an error"
        given[action] = dict(result) if hasattr(result, "keys") else result
    return given


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_overridden_has_the_effect_that_it_has_there(kind: str, name: str) -> None:
    theirs, ours = getattr(transformers, kind), getattr(trietok, kind)
    if not hasattr(theirs, name):
        return
    wanted, found = (results(library, name, EFFECTS[name]) for library in (theirs, ours))
    # Departures of their own: the mask of the fast class, and the ids of tokens that are new.
    for action in (
        "prepare",
        "add special",
        *(["roles"] if name in ("get_vocab", "added_tokens_encoder") else []),
    ):
        del wanted[action], found[action]
    assert found == wanted


def test_nothing_is_refused_that_transformers_does_not_have() -> None:
    there = {name for kind in KINDS for name in dir(getattr(transformers, kind))}
    assert LEFT_OUT.keys() <= there
