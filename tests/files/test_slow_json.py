"""A tokenizer.json beside the files of a slow tokenizer: what it says, and what it cannot say."""

from __future__ import annotations

import contextlib
import json
import logging
import pathlib
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL, assert_share, examples
from tests.files.models import CUT, FILLED
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    NotSupportedError,
)
from trietok.tokenizer_json import read_tokenizer_json


class Shouting(BertTokenizer):
    """A stage of its own."""

    def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
        return text.upper(), kwargs


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (BertTokenizer, {"do_basic_tokenize": False}, "do_basic_tokenize=False"),
        (BertTokenizer, {"never_split": ["x", "a-b"]}, r"never_split \('a-b', 'x'\)"),
        (BertTokenizer, {"split_special_tokens": True}, "split_special_tokens=True"),
        (BertTokenizer, {"cls_token": None}, "cls_token None"),
        (BertTokenizer, {"additional_special_tokens": ["<e>"]}, "'<e>', which here is found in"),
        (Shouting, {}, "Shouting"),
    ],
)
def test_a_tokenizer_json_is_refused_for_what_it_cannot_say(
    vocab_file, tmp_path, kind, options, message
):
    tokenizer = kind(vocab_file("a"), **options)
    with pytest.raises(NotSupportedError, match=message):
        tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)
    assert not (tmp_path / "saved" / "vocab.txt").exists()
    tokenizer.save_pretrained(tmp_path / "saved")


def test_a_special_token_that_is_normalized_can_be_said(small, tmp_path):
    tokenizer = small("a")
    tokenizer.add_special_tokens({"eos_token": AddedToken("<e>", normalized=True)})
    tokenizer.save_pretrained(tmp_path, tokenizer_json=True)
    read = BertTokenizerFast(tokenizer_file=tmp_path / "tokenizer.json")
    assert read.encode("<E><e>") == tokenizer.encode("<E><e>")


# ---- a tokenizer.json that is there already ------------------------------------------------------


@pytest.fixture
def model(small, tmp_path):
    """A directory with a tokenizer.json whose words are cut at 128 tokens, as published models have
    it.
    """
    small("hello", "world").save_pretrained(tmp_path / "model", tokenizer_json=True)
    edit(tmp_path / "model", truncation=CUT, padding={**FILLED, "pad_id": 0})
    return tmp_path / "model"


def edit(directory, **changes):
    path = directory / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def files_in(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def flags_of(tokenizer):
    """The flags of the added tokens; one that plays a role counts as special, as the fast classes
    load it.
    """
    roles = set(tokenizer.all_special_tokens)
    return {
        token_id: {**token.__getstate__(), "special": token.special or token.content in roles}
        for token_id, token in tokenizer.added_tokens_decoder.items()
    }


def assert_one_tokenizer(directory):
    """Every loader of the directory has the same tokens with the same ids, and lower-cases or
    not.
    """
    slow, fast, auto = (
        kind.from_pretrained(directory)
        for kind in (BertTokenizer, BertTokenizerFast, trietok.AutoTokenizer)
    )
    alone = BertTokenizerFast(
        tokenizer_file=directory / "tokenizer.json", do_lower_case=slow.do_lower_case
    )
    read = read_tokenizer_json(directory / "tokenizer.json")
    assert read.normalizer.lowercase == slow.do_lower_case
    assert (read.truncation.max_length, read.padding.strategy) == (128, 128)
    for each in (fast, auto, alone):
        assert each.get_vocab() == slow.get_vocab()
        assert flags_of(each) == flags_of(slow)
        for text in ("hello covid-19 <m> World", "HELLO"):
            assert each.encode(text) == slow.encode(text)


def test_a_slow_save_brings_the_tokenizer_json_of_its_directory_up_to_date(model, caplog):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.add_wordpieces(["wor"])
    tokenizer.add_tokens(["covid-19", AddedToken("<m>", rstrip=True)])
    caplog.clear()  # of what loading said of the profile
    with caplog.at_level(logging.WARNING, "trietok"):
        assert str(model / "tokenizer.json") not in tokenizer.save_pretrained(
            model, filename_prefix="other"
        )
        assert str(model / "tokenizer.json") in tokenizer.save_pretrained(model)
    assert not caplog.records  # who saves tokens wants them saved
    assert_one_tokenizer(model)


def test_a_tokenizer_json_that_agrees_stays_byte_for_byte(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.add_tokens(["covid-19"])
    tokenizer.save_pretrained(model)
    whole = json.loads((model / "tokenizer.json").read_text())
    whole["normalizer"]["strip_accents"] = True  # null in other words
    (model / "tokenizer.json").write_text(json.dumps({**whole, "decoder": None}))
    before = (model / "tokenizer.json").read_bytes()
    BertTokenizer.from_pretrained(model).save_pretrained(model)
    assert (model / "tokenizer.json").read_bytes() == before


def test_other_settings_are_written_with_one_warning(model, caplog):
    tokenizer = BertTokenizer.from_pretrained(model, do_lower_case=False)
    caplog.clear()  # of what loading said of the profile
    with caplog.at_level(logging.WARNING, "trietok"):
        tokenizer.save_pretrained(model)
        tokenizer.save_pretrained(model)
    path = model / "tokenizer.json"
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]
    assert_one_tokenizer(model)


@pytest.mark.parametrize(
    "stages",
    [
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}},
    ],
)
def test_stages_that_slow_tokenizers_do_not_have_are_written_again(model, stages):
    edit(model, **stages)
    BertTokenizer.from_pretrained(model).save_pretrained(model)
    assert_one_tokenizer(model)


def test_ids_that_move_move_in_the_template_and_the_padding_too(model, vocab_file):
    edit(model, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]})
    other = BertTokenizer(
        vocab_file(
            "hello", special=["[UNK]", "[SEP]", "[CLS]", "[MASK]", "[PAD]"], name="other.txt"
        )
    )
    other.save_pretrained(model)
    read = read_tokenizer_json(model / "tokenizer.json")
    assert (read.padding.pad_id, read.post_processor.cls, read.post_processor.sep) == (
        4,
        ("[CLS]", 2),
        ("[SEP]", 1),
    )
    assert_one_tokenizer(model)


def skip_an_id(tokenizer):
    tokenizer.add_tokens(["x", "y"])
    tokenizer.remove_tokens(["x"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tokenizer, model: tokenizer.add_tokens(["é"]), "the added token 'é', which readers of the file"),
        (lambda tokenizer, model: tokenizer.basic_tokenizer.never_split.add("x-y"), "never_split"),
        (lambda tokenizer, model: skip_an_id(tokenizer), r"No token has the id 7: remove_tokens\(\[\], compact=True\)"),
        (lambda tokenizer, model: edit(model, pre_tokenizer={"type": "Metaspace"}), "is of type 'Metaspace'"),
        (lambda tokenizer, model: (model / "tokenizer.json").write_text("{"), "not JSON"),
    ],
)  # fmt: skip
def test_a_tokenizer_json_that_cannot_be_brought_up_to_date_is_refused(model, change, message):
    tokenizer = BertTokenizer.from_pretrained(model)
    change(tokenizer, model)
    before = files_in(model)
    with pytest.raises(NotSupportedError, match=message) as refused:
        tokenizer.save_pretrained(model)
    assert files_in(model) == before
    assert str(refused.value).endswith(
        "Save into another directory, or with tokenizer_json=False, which removes the file"
    )
    tokenizer.save_pretrained(model, tokenizer_json=False)
    assert not (model / "tokenizer.json").exists()
    assert trietok.AutoTokenizer.from_pretrained(model).get_vocab() == tokenizer.get_vocab()


def test_an_added_token_that_the_file_has_already_is_no_reason_to_refuse(vocab_file, tmp_path):
    """In the file it stands as it is found there; the profiles differ on it by nature."""
    fast = BertTokenizerFast(vocab_file("hello"))
    fast.add_special_tokens({"additional_special_tokens": ["<e>"]})
    fast.save_pretrained(tmp_path / "model")
    slow = BertTokenizer.from_pretrained(tmp_path / "model")
    before = (tmp_path / "model" / "tokenizer.json").read_bytes()
    slow.save_pretrained(tmp_path / "model")
    assert (tmp_path / "model" / "tokenizer.json").read_bytes() == before
    slow.add_tokens(["covid-19"])
    slow.save_pretrained(tmp_path / "model")
    assert trietok.AutoTokenizer.from_pretrained(tmp_path / "model").get_vocab() == slow.get_vocab()


CONTENTS = st.sampled_from(["<e>", "covid-19", "wor", "É", "é", "hello", "New", "[X]"])
TOKENS = st.builds(
    lambda content, special, lstrip: AddedToken(content, special=special, lstrip=lstrip),
    CONTENTS,
    st.booleans(),
    st.booleans(),
)
CHANGES = st.lists(
    st.tuples(st.just("add_tokens"), st.lists(TOKENS, min_size=1, max_size=2))
    | st.tuples(st.just("remove_tokens"), st.lists(CONTENTS, min_size=1, max_size=1))
    | st.tuples(
        st.just("add_wordpieces"), st.lists(st.sampled_from(["lo", "##x"]), min_size=1, unique=True)
    )
    | st.tuples(
        st.just("add_special_tokens"),
        st.fixed_dictionaries({"additional_special_tokens": st.lists(TOKENS)}),
    )
    | st.tuples(st.just("add_special_tokens"), st.fixed_dictionaries({"pad_token": CONTENTS})),
    max_size=4,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": st.booleans(),
        "strip_accents": st.sampled_from([None, True, False]),
        "tokenize_chinese_chars": st.booleans(),
        "never_split": st.sampled_from([None, ["hello"]]),
        "cls_token": st.just("[MASK]"),
    },
)


def test_after_any_save_the_files_of_a_directory_are_of_one_tokenizer_or_as_before():
    """A fast save, and then a slow one into the same directory, each with changes of its own."""
    saved = []

    @examples(40)
    @given(SETTINGS, CHANGES, SETTINGS, CHANGES)
    def check(first, changes, settings, more):
        with tempfile.TemporaryDirectory() as folder:
            directory, words = pathlib.Path(folder, "model"), pathlib.Path(folder, "words.txt")
            tokens = (*SPECIAL, "hello", "e", "wor", "##ld")
            words.write_text("".join(f"{word}\n" for word in tokens), encoding="utf-8")
            fast = BertTokenizerFast.from_pretrained(words, **first)
            saved.append(saved_as_one_or_refused(fast, changes, directory))
            if saved[-1]:
                slow = BertTokenizer.from_pretrained(directory, **{**first, **settings})
                saved.append(saved_as_one_or_refused(slow, more, directory))

    check()
    assert_share(sum(saved), len(saved), 0.3)


def saved_as_one_or_refused(tokenizer, changes, directory) -> bool:
    """Change and save a tokenizer; whether it was saved, and then all files are of it."""
    for name, value in changes:
        with contextlib.suppress(trietok.TrietokError):
            getattr(tokenizer, name)(value)
    before = files_in(directory) if directory.exists() else {}
    try:
        tokenizer.save_pretrained(directory)
    except trietok.TrietokError:
        assert (files_in(directory) if directory.exists() else {}) == before
        return False
    slow, fast = (kind.from_pretrained(directory) for kind in (BertTokenizer, BertTokenizerFast))
    alone = read_tokenizer_json(directory / "tokenizer.json")
    assert slow.get_vocab() == fast.get_vocab() == tokenizer.get_vocab()
    added = {token.content: token_id for token_id, token in alone.added_tokens.items()}
    assert added == slow.added_tokens_encoder
    assert dict(alone.added_tokens) == dict(tokenizer.added_tokens_decoder)
    assert flags_of(slow) == flags_of(fast)  # a role makes a token special
    said, basic = alone.normalizer, slow.basic_tokenizer
    strips = said.lowercase if said.strip_accents is None else said.strip_accents
    wanted = basic.do_lower_case if basic.strip_accents is None else basic.strip_accents
    assert (said.lowercase, strips) == (basic.do_lower_case, wanted)
    assert said.handle_chinese_chars == basic.tokenize_chinese_chars
    ends = [piece.token_id for piece in alone.pieces() if piece.token]
    assert fast.encode("") == slow.encode("") == ends
    return True


def test_a_damaged_tokenizer_json_is_named_and_its_lengths_are_lost(tmp_path, vocab_file, caplog):
    fast = BertTokenizerFast(vocab_file("a", "b"))
    fast.save_pretrained(tmp_path / "model")
    path = tmp_path / "model" / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8") + "x", encoding="utf-8")
    tokenizer = BertTokenizer.from_pretrained(tmp_path / "model")
    assert tokenizer.encode("a b") == fast.encode("a b")
    assert str(path) in caplog.text
