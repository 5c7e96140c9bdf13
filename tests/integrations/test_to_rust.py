"""`to_rust`: the ids of the Rust tokenizer that is made, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import trietok
from trietok.clients import to_rust

TEXTS = [
    "the ĿL \u1d2c covid-19 people\u0378 x\u200by unaffable  <ent> PEOPLE",
    "",
    "日本語 and 한국어 [MASK]. [CLS]",
    "Ünïcödé É\u0301 İstanbul",
]


def made(kind: type[Any], **kwargs: Any) -> Any:
    tokenizer = kind.from_pretrained("trietok-multi", **kwargs)
    tokenizer.add_tokens(["covid-19", trietok.AddedToken("<ent>", lstrip=True, normalized=False)])
    return tokenizer


@pytest.mark.parametrize("options", [{}, {"do_lower_case": False}, {"split_special_tokens": True}])
def test_ids_and_spans_are_those_of_the_fast_profile(options: dict[str, Any]) -> None:
    tokenizer = made(trietok.BertTokenizerFast, **options)
    rust = to_rust(tokenizer)
    for text in TEXTS:
        encoding = rust.encode(text)
        ours = tokenizer(text, return_offsets_mapping=True)
        assert encoding.ids == ours.input_ids
        assert encoding.offsets == ours.offset_mapping
        assert encoding.type_ids == ours.token_type_ids
    assert rust.encode(*TEXTS[2:]).ids == tokenizer(*TEXTS[2:]).input_ids
    assert rust.get_vocab() == tokenizer.get_vocab()


def test_every_supported_version_gives_the_ids() -> None:
    tokenizer = made(trietok.BertTokenizerFast)
    rust = to_rust(tokenizer)
    for text in TEXTS:
        assert list(rust.encode(text).ids) == tokenizer.encode(text)
        assert list(rust.encode(text).type_ids) == tokenizer(text).token_type_ids


def test_a_slow_tokenizer_is_refused_unless_differences_are_allowed() -> None:
    tokenizer = made(trietok.BertTokenizer)
    with pytest.raises(trietok.NotSupportedError, match="allow_differences=True"):
        to_rust(tokenizer)
    rust = to_rust(tokenizer, allow_differences=True)
    assert rust.encode(TEXTS[2]).ids == tokenizer.encode(TEXTS[2])
    assert rust.encode(TEXTS[0]).ids != tokenizer.encode(TEXTS[0])


@pytest.mark.parametrize(
    "flags", [{}, {"normalized": False}, {"single_word": True, "normalized": False}]
)
def test_a_role_that_was_added_again_is_refused_until_it_is_loaded_again(
    tmp_path: Any, flags: dict[str, bool]
) -> None:
    tokenizer = made(trietok.BertTokenizerFast)
    tokenizer.add_tokens([trietok.AddedToken("[MASK]", **flags)])
    with pytest.raises(trietok.NotSupportedError):
        to_rust(tokenizer)
    to_rust(tokenizer, allow_differences=True)
    tokenizer.save_pretrained(tmp_path)
    loaded = trietok.BertTokenizerFast.from_pretrained(tmp_path)
    rust = to_rust(loaded)
    for text in (*TEXTS, "a[MASK]b [mask] [MASK]"):
        assert rust.encode(text).ids == loaded.encode(text)
        assert rust.decode(loaded.encode(text)) == loaded.decode(
            loaded.encode(text), skip_special_tokens=True
        )


def test_never_split_and_own_classes_and_other_values_are_refused() -> None:
    with pytest.raises(trietok.NotSupportedError):
        to_rust(made(trietok.BertTokenizer, never_split=["x"]), allow_differences=True)

    class Own(trietok.BertTokenizerFast):
        def prepare_for_tokenization(
            self, text: str, is_split_into_words: bool = False, **kwargs: Any
        ) -> tuple[str, dict[str, Any]]:
            return text.upper(), kwargs

    with pytest.raises(trietok.NotSupportedError):
        to_rust(made(Own))
    with pytest.raises(trietok.InputTypeError):
        to_rust("trietok-en")
