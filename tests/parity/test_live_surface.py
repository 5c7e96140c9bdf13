"""trietok and transformers side by side: the names they offer, and what can be passed to each."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any

import pytest
import transformers

import trietok

from .conftest import tokenizers

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


def instances(kind: str) -> tuple[Any, Any]:
    """transformers' object and trietok's."""
    if kind == "tokenizer":
        return tokenizers("uncased")
    if kind == "encoding":
        return transformers.BatchEncoding({"input_ids": [1]}), trietok.BatchEncoding(
            {"input_ids": [1]}
        )
    if kind == "basic":
        from transformers.models.bert.tokenization_bert import BasicTokenizer

        return BasicTokenizer(), trietok.BasicTokenizer()
    from transformers.models.bert.tokenization_bert import WordpieceTokenizer

    return WordpieceTokenizer({"a": 0}, "a"), trietok.WordpieceTokenizer({"a": 0}, "a")


KINDS = ["tokenizer", "encoding", "basic", "wordpiece"]


def public_names(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def names_with_kinds() -> list[tuple[str, str]]:
    return [
        (kind, name)
        for kind in KINDS
        for name in public_names(instances(kind)[0])
        if name not in LEFT_OUT
    ]


def methods_with_kinds() -> list[tuple[str, str]]:
    names = [*names_with_kinds(), *((kind, "__init__") for kind in KINDS)]
    return [
        (k, n)
        for k, n in names
        if callable(getattr(instances(k)[0], n)) and n not in OTHER_PARAMETERS
    ]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of every parameter."""
    return [
        (name, parameter.kind, _plain(parameter.default))
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def _plain(default: Any) -> Any:
    return default.value if isinstance(default, Enum) else default


@pytest.mark.parametrize(("kind", "name"), names_with_kinds())
def test_every_public_name_is_there(kind: str, name: str) -> None:
    theirs, ours = instances(kind)
    assert hasattr(ours, name)
    assert callable(getattr(ours, name)) == callable(getattr(theirs, name))


@pytest.mark.parametrize(("kind", "name"), methods_with_kinds())
def test_every_method_takes_the_same(kind: str, name: str) -> None:
    theirs, ours = instances(kind)
    want, got = parameters(getattr(theirs, name)), parameters(getattr(ours, name))
    # trietok may offer more by keyword, after all that transformers has.
    extra = [parameter for parameter in got if parameter not in want]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in extra), extra
    assert [parameter for parameter in got if parameter in want] == want


@pytest.mark.parametrize("name", ["__call__", "__len__", "__repr__"])
def test_the_special_methods_take_the_same(name: str) -> None:
    theirs, ours = instances("tokenizer")
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_says_what_to_do_instead(name: str) -> None:
    theirs, ours = instances("tokenizer")
    assert hasattr(theirs, name)
    with pytest.raises((AttributeError, NotImplementedError), match=rf"{name}; \w+.*\w") as caught:
        getattr(ours, name)()
    assert isinstance(caught.value, trietok.NotSupportedError)


@pytest.mark.parametrize("name", ["PaddingStrategy", "TruncationStrategy"])
def test_the_strategies_have_the_same_members(name: str) -> None:
    from transformers import tokenization_utils_base

    theirs = getattr(tokenization_utils_base, name)
    assert {m.name: m.value for m in getattr(trietok, name)} == {m.name: m.value for m in theirs}


@pytest.mark.parametrize(
    "name", ["vocab_files_names", "model_input_names", "padding_side", "truncation_side"]
)
def test_the_class_attributes_are_the_same(name: str) -> None:
    assert getattr(trietok.BertTokenizer, name) == getattr(transformers.BertTokenizer, name)


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
def test_the_map_of_the_roles_is_read_and_written_alike(kind: str, tmp_path: Any) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]), encoding="utf-8"
    )
    shown = []
    for module in (transformers, trietok):
        tokenizer = getattr(module, kind)(str(path), additional_special_tokens=["a"])
        roles = tokenizer._special_tokens_map
        states = [
            {role: str(token) for role, token in roles.items()},
            len(roles),
            "cls_token" in roles,
            list(roles),
        ]
        roles["cls_token"] = "b"
        roles["bos_token"] = module.AddedToken("b", lstrip=True)
        roles["additional_special_tokens"].append("b")
        roles["additional_special_tokens"] += [module.AddedToken("[MASK]", special=True)]
        states += [
            tokenizer.cls_token_id,
            tokenizer.special_tokens_map,
            tokenizer.all_special_tokens,
        ]
        roles["additional_special_tokens"].remove("a")
        roles["image_token"] = "a"
        states += [
            tokenizer.additional_special_tokens_ids,
            tokenizer.image_token,
            tokenizer.image_token_id,
        ]
        del roles["image_token"]
        roles.update({"eos_token": "a", "cls_token": None})
        states += [
            roles.get("eos_token"),
            tokenizer.eos_token_id,
            tokenizer.cls_token,
            roles.get("image_token"),
        ]
        states += [{role: str(token) for role, token in tokenizer._special_tokens_map.items()}]
        with pytest.raises(AttributeError):
            tokenizer.image_token  # noqa: B018
        with pytest.raises(KeyError):
            roles["no such role"]
        shown.append(states)
    assert shown[0] == shown[1]
