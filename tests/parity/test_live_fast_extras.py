"""The fast classes of trietok and transformers side by side: what a result leaves out, and
`tokenizer_object`.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
import transformers

import trietok

TOKENS = [
    *"[PAD] [UNK] [CLS] [SEP] [MASK] <s> </s> <pad> <mask>".split(),
    *"abcdefgh",
    "##b",
    "##c",
]
LONG, OTHER = "abc b c d efgh", "h g f e bc a"
KINDS = ["BertTokenizerFast", "MPNetTokenizerFast"]
ATTRIBUTES = (
    "ids",
    "type_ids",
    "tokens",
    "offsets",
    "word_ids",
    "special_tokens_mask",
    "attention_mask",
)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("fast") / "vocab.txt"
    path.write_text("\n".join(TOKENS), encoding="utf-8")
    return str(path)


def shown(encoding: Any) -> Any:
    """An encoding with those that it leaves out, and those that these leave out."""
    return [getattr(encoding, name) for name in ATTRIBUTES], [
        shown(each) for each in encoding.overflowing
    ]


@pytest.fixture(scope="module", params=KINDS)
def both(request, vocabulary):
    """transformers' tokenizer of a class and trietok's."""
    return [getattr(module, request.param)(vocabulary) for module in (transformers, trietok)]


@pytest.mark.parametrize(
    ("side", "padding"), [("right", False), ("left", True), ("right", "max_length")]
)
@pytest.mark.parametrize(
    ("texts", "truncation", "max_length", "stride"),
    [
        (([LONG, "a"],), True, 4, 0),
        (([LONG, OTHER],), True, 6, 2),
        (([LONG], [OTHER]), True, 9, 0),
        (([LONG, "a"], [OTHER, OTHER]), True, 9, 1),
        (([LONG], [OTHER]), "only_first", 13, 1),
        (([LONG], [OTHER]), "only_second", 13, 0),
        (([LONG], [OTHER]), True, 50, 0),
    ],
)
def test_a_result_tells_what_it_leaves_out(
    both, texts, truncation, max_length, stride, side, padding
):
    options = {
        "truncation": truncation,
        "max_length": max_length,
        "stride": stride,
        "padding": padding,
    }
    for tokenizer in both:
        tokenizer.truncation_side = side
    for returned in (False, True):
        theirs, ours = (
            tokenizer(*texts, **options, return_overflowing_tokens=returned).encodings
            for tokenizer in both
        )
        wanted = [shown(each) for each in theirs]
        assert [shown(each) for each in pickle.loads(pickle.dumps(ours))] == wanted
        assert [shown(each) for each in ours] == wanted


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"do_lower_case": False, "model_max_length": 7},
        {"pad_token": "a"},
        {"additional_special_tokens": ["<x>"]},
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_of_a_rust_object(vocabulary, tmp_path, kind, options):
    made = getattr(transformers, kind)(vocabulary)
    made.add_tokens(["<y>"])
    rust = made.backend_tokenizer
    theirs, ours = (
        getattr(module, kind)(tokenizer_object=rust, **options)
        for module in (transformers, trietok)
    )
    for text in (LONG, "A <x> <y>", ["a", OTHER]):
        assert ours(text).data == theirs(text).data
    assert ours.special_tokens_map == theirs.special_tokens_map
    ours.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    assert saved == json.loads(theirs.backend_tokenizer.to_str())
    rust.add_tokens(["<z>"])
    assert "<z>" not in ours.get_vocab()


@pytest.mark.parametrize("role", ["bos_token", "eos_token", "cls_token", "sep_token"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_around_ids_once_a_role_has_changed(vocabulary, kind, role):
    theirs, ours = (getattr(module, kind)(vocabulary) for module in (transformers, trietok))
    for tokenizer in (theirs, ours):
        setattr(tokenizer, role, "a")
    for pair in (None, [18, 19]):
        assert ours.build_inputs_with_special_tokens(
            [14], pair
        ) == theirs.build_inputs_with_special_tokens([14], pair)
        types = "create_token_type_ids_from_sequences"
        assert getattr(ours, types)([14], pair) == getattr(theirs, types)([14], pair)
        options = {"return_token_type_ids": True}
        assert dict(ours.prepare_for_model([14], pair, **options)) == dict(
            theirs.prepare_for_model([14], pair, **options)
        )
    assert ours(LONG, OTHER).data == theirs(LONG, OTHER).data
