"""The fast family, and tokenizer.json in it, beside transformers: what each loads, gives, saves and
loads again.
"""

from __future__ import annotations

import copy
import functools
import json
import pickle
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.parity.conftest import (
    RUST_ERRORS,
    assert_same_encodings,
    plain,
    short_texts,
    texts,
    valid,
)
from tests.parity.test_family_live import SPECIAL_TEXTS, vocab_file
from trietok.tokenizer.fast_relatives import FAST_CLASSES

NAMES = [kind.__name__ for kind in FAST_CLASSES]


def their_class(name: str) -> Any:
    if name.startswith("RetriBert"):
        from transformers.models.deprecated.retribert import tokenization_retribert_fast as module

        return getattr(module, name)
    return getattr(transformers, name)


@functools.cache
def both(name: str, padding_side: str = "right") -> tuple[Any, Any]:
    path = vocab_file(name.removesuffix("Fast"))
    options = {"padding_side": padding_side, "model_max_length": 40}
    return their_class(name)(path, **options), getattr(trietok, name)(path, **options)


CALL = st.fixed_dictionaries(
    {"return_offsets_mapping": st.just(True)},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "max_length"]),
        "truncation": st.sampled_from([False, True, "only_first"]),
        "max_length": st.sampled_from([8, 12, 16]),
        "stride": st.sampled_from([0, 1]),
        "return_special_tokens_mask": st.booleans(),
        "return_token_type_ids": st.sampled_from([None, True, False]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_overflowing_tokens": st.booleans(),
    },
)


def outcome(call: Any) -> Any:
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ not in RUST_ERRORS and not isinstance(error, ValueError):
            raise
        return None


@examples(70)
@given(
    st.sampled_from(NAMES),
    texts(SPECIAL_TEXTS).filter(valid),
    st.none() | short_texts().filter(valid),
    CALL,
    st.booleans(),
)
def test_calls(name, text, pair, chosen, left):
    theirs, ours = both(name, "left" if left else "right")
    if "DPRReader" in name:
        theirs, ours = (functools.partial(kind.encode_plus) for kind in (theirs, ours))
    want = outcome(lambda: theirs(text, pair, **chosen))
    got = outcome(lambda: ours(text, pair, **chosen))
    assert (got is None) == (want is None)
    if want is not None:
        assert list(got) == list(want)
        assert plain(dict(got)) == plain(dict(want))
        for their, our in zip(want.encodings, got.encodings, strict=True):
            assert_same_encodings(their, our)


@pytest.mark.parametrize("name", NAMES)
def test_the_class(name):
    theirs, ours = both(name)
    assert ours.slow_tokenizer_class.__name__ == theirs.slow_tokenizer_class.__name__
    for attribute in (
        "model_input_names",
        "special_tokens_map",
        "all_special_ids",
        "clean_up_tokenization_spaces",
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    for attribute in ("vocab_size", "is_fast", "padding_side", "do_lower_case"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert len(ours) == len(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    flags = ("lstrip", "rstrip", "single_word", "normalized", "special")
    shown = [
        {
            i: (str(t), [getattr(t, flag) for flag in flags])
            for i, t in kind.added_tokens_decoder.items()
        }
        for kind in (theirs, ours)
    ]
    assert shown[0] == shown[1]
    if name == "SplinterTokenizerFast":  # transformers does not set its question_token
        return
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)
    ids = [*range(len(ours)), *range(len(ours) - 1, 0, -3)]
    for skip in (False, True):
        assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(
            ids, skip_special_tokens=skip
        )
    one, two = ids[5:8], ids[9:11]
    assert ours.build_inputs_with_special_tokens(
        one, two
    ) == theirs.build_inputs_with_special_tokens(one, two)


# ---- files ---------------------------------------------------------------------------------------

SENTENCES = [
    "Hello World, the [MASK] people!",
    "un[new]affable  New York x",
    "世界 É e\u0301",
    "<mask> <m> hello",
    "",
]


def assert_same_results(theirs: Any, ours: Any) -> None:
    for text in SENTENCES:
        want, got = (
            kind.encode_plus(text, "a b", return_offsets_mapping=True) for kind in (theirs, ours)
        )
        assert dict(got) == dict(want), text
        assert got.tokens() == want.tokens()
        assert ours.decode(got.input_ids) == theirs.decode(want.input_ids)
        assert ours.decode(got.input_ids, skip_special_tokens=True) == theirs.decode(
            want.input_ids, skip_special_tokens=True
        )


def add_tokens(tokenizer: Any, kind: Any) -> None:
    tokenizer.add_tokens(
        ["[new]", kind.AddedToken("New York", lstrip=True), kind.AddedToken("É", normalized=False)]
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<m>"]})


@pytest.mark.parametrize("only", [None, "tokenizer.json", "vocab.txt"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_what_trietok_saves(name, lower, only, tmp_path):
    path = vocab_file(name.removesuffix("Fast"))
    ours = getattr(trietok, name)(path, do_lower_case=lower)
    add_tokens(ours, trietok)
    ours.save_pretrained(tmp_path)
    rust = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in SENTENCES:
        assert rust.encode(text).ids == ours.encode(text)
        assert (
            rust.encode(text).offsets
            == ours.encode_plus(text, return_offsets_mapping=True).offset_mapping
        )
    _leave(tmp_path, only)
    if name != "SplinterTokenizerFast":  # transformers' cannot load what it saves itself
        assert_same_results(their_class(name).from_pretrained(tmp_path), ours)
    again = getattr(trietok, name).from_pretrained(tmp_path)
    assert_same_results(ours, again)
    assert again.special_tokens_map == ours.special_tokens_map
    assert trietok.AutoTokenizer.from_pretrained(tmp_path).__class__.__name__ == name


def _leave(directory: Path, only: str | None) -> None:
    for file in ("tokenizer.json", "vocab.txt"):
        if only not in (None, file):
            (directory / file).unlink()


@pytest.mark.parametrize("only", [None, "tokenizer.json", "vocab.txt"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_what_transformers_saves(name, lower, only, tmp_path):
    theirs = their_class(name)(vocab_file(name.removesuffix("Fast")), do_lower_case=lower)
    add_tokens(theirs, transformers)
    theirs.save_pretrained(tmp_path)
    _leave(tmp_path, only)
    ours = getattr(trietok, name).from_pretrained(tmp_path)
    if name != "SplinterTokenizerFast":
        assert_same_results(their_class(name).from_pretrained(tmp_path), ours)
    assert_same_results(theirs, ours)
    slow = getattr(trietok, name.removesuffix("Fast")).from_pretrained(tmp_path)
    assert slow.vocab == ours.vocab
    assert not slow.is_fast


@functools.cache
def _saved() -> tempfile.TemporaryDirectory[str]:
    directory = tempfile.TemporaryDirectory(prefix="trietok-fast-")
    transformers.BertTokenizerFast(vocab_file("ElectraTokenizer")).save_pretrained(directory.name)
    return directory


@pytest.mark.parametrize("file_lower", [True, False])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"do_lower_case": False},
        {"strip_accents": False},
        {"tokenize_chinese_chars": False},
        {"do_lower_case": False, "strip_accents": True},
    ],
)
def test_arguments_override_the_normalizer(file_lower, arguments, tmp_path):
    shutil.copytree(_saved().name, tmp_path, dirs_exist_ok=True)
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    file["normalizer"]["lowercase"] = file_lower
    added = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": True,
        "special": False,
    }
    file["added_tokens"].append({"id": len(file["model"]["vocab"]), "content": "New York", **added})
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    (tmp_path / "tokenizer_config.json").write_text("{}")
    theirs = transformers.BertTokenizerFast.from_pretrained(tmp_path, **arguments)
    ours = trietok.BertTokenizerFast.from_pretrained(tmp_path, **arguments)
    for text in [*SENTENCES, "New York new york NEW YORK", "Éa 世界 İ"]:
        assert ours.tokenize(text) == theirs.tokenize(text)
        assert ours.encode(text) == theirs.encode(text)


@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
def test_roberta_processing(trim, prefix, tmp_path):
    shutil.copytree(_saved().name, tmp_path, dirs_exist_ok=True)
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    ids = {token: file["model"]["vocab"][token] for token in ("[CLS]", "[SEP]")}
    flags = {"trim_offsets": trim, "add_prefix_space": prefix}
    file["post_processor"] = {
        "type": "RobertaProcessing",
        "sep": ["[SEP]", ids["[SEP]"]],
        "cls": ["[CLS]", ids["[CLS]"]],
    }
    file["post_processor"] |= flags
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    theirs = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    ours = trietok.BertTokenizerFast.from_pretrained(tmp_path)
    for tokenizer, kind in ((theirs, transformers), (ours, trietok)):
        tokenizer.add_tokens([kind.AddedToken("<m>", lstrip=True, rstrip=True), "Ġ", "Ġx"])
    for text in ["a <m> b", " <m>", "  <m>  x", "Ġ Ġx", "Ġx", "a", "x  Ġ"]:
        for pair in (None, "b  <m> c"):
            want, got = (
                kind.encode_plus(text, pair, return_offsets_mapping=True) for kind in (theirs, ours)
            )
            assert dict(got) == dict(want), (text, pair)
            assert [*map(got.token_to_chars, range(9))] == [*map(want.token_to_chars, range(9))]
            assert ours(text, pair, return_offsets_mapping=True) == got


TRUNCATIONS = st.none() | st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["Right", "Left"]),
        "max_length": st.integers(8, 128),
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": st.integers(0, 2),
    }
)
PADDINGS = st.none() | st.fixed_dictionaries(
    {
        "strategy": (
            st.just("BatchLongest")
            | st.builds(lambda length: {"Fixed": length}, st.integers(1, 128))
        ),
        "direction": st.sampled_from(["Right", "Left"]),
        "pad_to_multiple_of": st.sampled_from([None, 8]),
        "pad_id": st.just(0),
        "pad_type_id": st.sampled_from([0, 1]),
        "pad_token": st.just("[PAD]"),
    }
)


@examples(15)
@given(
    st.sampled_from(["BertTokenizerFast", "MPNetTokenizerFast"]),
    TRUNCATIONS,
    PADDINGS,
    st.booleans(),
)
def test_a_file_keeps_its_truncation_and_its_padding(name, truncation, padding, adds):
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory, "model")
        their_class(name)(vocab_file(name.removesuffix("Fast"))).save_pretrained(model)
        whole = json.loads((model / "tokenizer.json").read_text())
        (model / "tokenizer.json").write_text(
            json.dumps({**whole, "truncation": truncation, "padding": padding})
        )
        texts = {}
        for library in (transformers, trietok):
            tokenizer = library.AutoTokenizer.from_pretrained(model)
            if adds:
                tokenizer.add_tokens(["<new>"])
            if library is trietok:  # in transformers a call sets both anew
                tokenizer(["hello", "the hello"], padding=True, truncation=True, max_length=5)
                tokenizer = pickle.loads(pickle.dumps(copy.deepcopy(tokenizer)))
            tokenizer.save_pretrained(Path(directory, library.__name__))
            texts[library] = Path(directory, library.__name__, "tokenizer.json").read_text()
        assert texts[trietok] == texts[transformers]
        assert json.loads(texts[trietok])["truncation"] == truncation
        assert json.loads(texts[trietok])["padding"] == padding
