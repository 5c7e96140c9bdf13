"""trietok and transformers side by side: the names they offer, and what can be passed to each."""

from __future__ import annotations

import functools
import inspect
from enum import Enum
from typing import Any

import pytest
import transformers
from transformers import tokenization_utils_base
from transformers.models.bert import tokenization_bert

import trietok
from tests.parity.comparing import different, state_of
from tests.parity.programs import FAST, SLOW, their_class, tokenizers

# Left out with an error that says what to do instead.
LEFT_OUT = """
    apply_chat_template encode_message_with_chat_template get_chat_template save_chat_templates
    push_to_hub register_for_auto_class as_target_tokenizer prepare_seq2seq_batch
    """.split()
# Where the parameters differ, and why.
OTHER_PARAMETERS = {
    "add_tokens": "flags given to a whole list are caught, to say where they belong",
    "batch_encode_plus": (
        "split_special_tokens is None where not given, since a value is heeded here"
    ),
}
KINDS = ["tokenizer", "encoding", "basic", "wordpiece"]


@functools.cache
def instances(kind: str) -> tuple[Any, Any]:
    """transformers' object and trietok's."""
    match kind:
        case "tokenizer":
            return tokenizers("BertTokenizer")
        case "encoding":
            content = {"input_ids": [1]}
            return transformers.BatchEncoding(content), trietok.BatchEncoding(content)
        case "basic":
            return tokenization_bert.BasicTokenizer(), trietok.BasicTokenizer()
    vocab = {"a": 0}
    theirs = tokenization_bert.WordpieceTokenizer(vocab, "a")
    return theirs, trietok.WordpieceTokenizer(vocab, "a")


def public_names(value: Any, left_out: list[str] = LEFT_OUT) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_") and name not in left_out]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of every parameter."""
    return [
        (
            name,
            parameter.kind,
            parameter.default.value if isinstance(parameter.default, Enum) else parameter.default,
        )
        for name, parameter in inspect.signature(function).parameters.items()
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_name_is_there(kind: str) -> None:
    theirs, ours = instances(kind)
    names = public_names(theirs)
    assert [name for name in names if not hasattr(ours, name)] == []
    for name in names:
        assert callable(getattr(ours, name)) == callable(getattr(theirs, name)), name


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((k, n) for k in KINDS for n in [*public_names(instances(k)[0]), "__init__"]),
        *(("tokenizer", name) for name in ("__call__", "__len__", "__repr__")),
    ],
)
def test_every_method_takes_the_same(kind: str, name: str) -> None:
    theirs, ours = (getattr(each, name) for each in instances(kind))
    if not callable(theirs) or name in OTHER_PARAMETERS:
        return
    want, got = parameters(theirs), parameters(ours)
    # trietok may offer more by keyword, after all that transformers has.
    extra = [parameter for parameter in got if parameter not in want]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in extra), extra
    assert [parameter for parameter in got if parameter in want] == want


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_says_what_to_do_instead(name: str) -> None:
    theirs, ours = instances("tokenizer")
    assert hasattr(theirs, name)
    with pytest.raises(trietok.NotSupportedError, match=rf"{name}; \w+.*\w") as caught:
        getattr(ours, name)()
    assert isinstance(caught.value, (AttributeError, NotImplementedError))


@pytest.mark.parametrize("name", ["PaddingStrategy", "TruncationStrategy"])
def test_the_strategies_have_the_same_members(name: str) -> None:
    theirs = getattr(tokenization_utils_base, name)
    assert {m.name: m.value for m in getattr(trietok, name)} == {m.name: m.value for m in theirs}


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast", *SLOW, *FAST])
def test_each_class_has_the_same_defaults_and_state(kind: str) -> None:
    theirs, ours = their_class(kind), getattr(trietok, kind)
    if kind not in FAST and kind != "BertTokenizerFast":
        want, got = parameters(theirs.__init__), parameters(ours.__init__)
        assert [parameter for parameter in got if parameter in want] == want
    for name in ("model_input_names", "padding_side", "truncation_side"):
        assert getattr(ours, name) == getattr(theirs, name), name
    theirs, ours = tokenizers(kind)
    left_out = [*LEFT_OUT, "decode_best_spans", "backend_tokenizer", "add_prefix_space"]
    assert [name for name in public_names(theirs, left_out) if not hasattr(ours, name)] == []
    problem = different(state_of(theirs), state_of(ours))
    assert problem is None, problem
    for name in (
        "clean_up_tokenization_spaces",
        "model_max_length",
        "pad_token_type_id",
        "is_fast",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    if kind in SLOW:
        for tokenizer in (theirs, ours):
            tokenizer.add_tokens(["new", "hello"])
        assert list(ours.get_vocab().items()) == list(theirs.get_vocab().items())


@pytest.mark.parametrize(
    "token",
    [
        {"content": "a"},
        {"content": "a", "special": True},
        {"content": "a", "normalized": False, "lstrip": True},
    ],
)
def test_an_added_token_has_the_same_fields(token: dict[str, Any]) -> None:
    theirs, ours = transformers.AddedToken(**token), trietok.AddedToken(**token)
    assert ours.__getstate__() == theirs.__getstate__()
    assert str(ours) == str(theirs)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
def test_the_map_of_the_roles_is_read_and_written_alike(kind: str) -> None:
    """Programs write `_special_tokens_map`, which transformers documents nowhere."""
    results = []
    for library, tokenizer in zip((transformers, trietok), tokenizers(kind), strict=True):
        tokenizer.additional_special_tokens = ["a"]
        roles = getattr(tokenizer, "_special_tokens_map")  # noqa: B009
        states: list[Any] = [{role: str(token) for role, token in roles.items()}]
        states += [len(roles), "cls_token" in roles, list(roles)]
        roles["cls_token"] = "b"
        roles["bos_token"] = library.AddedToken("b", lstrip=True)
        roles["additional_special_tokens"].append("b")
        roles["additional_special_tokens"] += [library.AddedToken("[MASK]", special=True)]
        states += [tokenizer.cls_token_id, tokenizer.special_tokens_map]
        states += [tokenizer.all_special_tokens]
        roles["additional_special_tokens"].remove("a")
        roles["image_token"] = "a"
        states += [tokenizer.additional_special_tokens_ids]
        states += [tokenizer.image_token, tokenizer.image_token_id]
        del roles["image_token"]
        roles.update({"eos_token": "a", "cls_token": None})
        states += [roles.get("eos_token"), tokenizer.eos_token_id, tokenizer.cls_token]
        states += [roles.get("image_token")]
        states += [{role: str(token) for role, token in roles.items()}]
        assert not hasattr(tokenizer, "image_token")
        with pytest.raises(KeyError):
            roles["no such role"]
        results.append(states)
    assert results[0] == results[1]
