"""Roles and added tokens of the fast profile, as they are given and as files say them, by small
named cases.

`tests/parity/test_fast_loading_live.py` holds the same against transformers.
"""

from __future__ import annotations

import json
import logging

import pytest

import trietok
from trietok import AddedToken, BertTokenizerFast, FileError, NotSupportedError, VocabularyError

WORDS = ("a", "world", "<", ">", "e", "World")
A, WORLD, LESS, GREATER, E, CAPITAL_WORLD, ADDED = 5, 6, 7, 8, 9, 10, 11
CLS, SEP = 2, 3


@pytest.fixture
def fast(vocab_file):
    """A function that makes a `BertTokenizerFast` of a few words, with any options."""
    return lambda **options: BertTokenizerFast(vocab_file(*WORDS, name="words.txt"), **options)


def edit(path, **changes):
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole.update(changes)
    path.write_text(
        json.dumps({key: value for key, value in whole.items() if value != "gone"}),
        encoding="utf-8",
    )


def flagged(content, **flags):
    return {"content": content, **AddedToken(content, **flags).__getstate__()}


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


# ---- a role makes a token special ----------------------------------------------------------------


@pytest.mark.parametrize("role", [{"additional_special_tokens": ["<e>"]}, {"eos_token": "<e>"}])
@pytest.mark.parametrize("place", ["argument", "config", "map"])
def test_a_role_makes_a_saved_token_special(fast, tmp_path, role, place):
    tokenizer = fast()
    tokenizer.add_tokens(["<e>"])
    tokenizer.save_pretrained(tmp_path)
    if place == "config":
        edit(tmp_path / "tokenizer_config.json", **role)
    if place == "map":
        # else the map counts for nothing
        edit(tmp_path / "tokenizer_config.json", added_tokens_decoder="gone")
        edit(tmp_path / "special_tokens_map.json", **role)
    loaded = BertTokenizerFast.from_pretrained(tmp_path, **(role if place == "argument" else {}))
    assert loaded.added_tokens_decoder[ADDED].special
    assert loaded.decode([A, ADDED, A], skip_special_tokens=True) == "a a"


# ---- what is not normalized ----------------------------------------------------------------------


def test_a_token_that_becomes_special_is_not_normalized(fast):
    tokenizer = fast()
    token = AddedToken("<E>", lstrip=True)
    assert tokenizer.add_special_tokens({"mask_token": token}) == 1
    assert not tokenizer.added_tokens_decoder[ADDED].normalized
    assert ids(tokenizer, "<E><e>") == [ADDED, LESS, E, GREATER]
    assert tokenizer.add_special_tokens({"mask_token": token}) == 0


# ---- two files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["null in the file", "an argument of None", "from_slow"])
def test_a_tokenizer_json_that_is_left_aside(fast, tmp_path, way):
    fast().save_pretrained(tmp_path)
    edit(tmp_path / "tokenizer.json", post_processor=None)
    assert BertTokenizerFast.from_pretrained(tmp_path).encode("a") == [A]
    options = {
        "an argument of None": {"tokenizer_file": None},
        "from_slow": {"from_slow": True},
    }.get(way, {})
    if not options:
        edit(tmp_path / "tokenizer_config.json", tokenizer_file=None)
    loaded = BertTokenizerFast.from_pretrained(tmp_path, **options)
    assert loaded.encode("a") == [CLS, A, SEP]
    assert "from_slow" not in loaded.init_kwargs
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(FileError, match=r"has no vocab\.txt.* leaves tokenizer\.json aside"):
        BertTokenizerFast.from_pretrained(tmp_path, **options)


def test_flags_that_differ_in_the_two_files(fast, tmp_path, caplog):
    tokenizer = fast()
    tokenizer.add_tokens(["<E>"])
    tokenizer.save_pretrained(tmp_path)
    edit(
        tmp_path / "tokenizer_config.json",
        added_tokens_decoder={ADDED: flagged("<E>", normalized=False, lstrip=True)},
    )
    with caplog.at_level(logging.WARNING, logger="trietok"):
        loaded = BertTokenizerFast.from_pretrained(tmp_path)
    assert (
        "tokenizer.json and tokenizer_config.json give the added token '<E>' other flags"
        in caplog.text
    )
    assert loaded.added_tokens_decoder[ADDED].lstrip
    assert ids(loaded, "<E><e>") == [ADDED, ADDED]  # as each file says it


@pytest.mark.parametrize(("token_id", "content"), [(ADDED, "<F>"), (20, "<E>")])
def test_ids_that_differ_in_the_two_files(fast, tmp_path, token_id, content):
    tokenizer = fast()
    tokenizer.add_tokens(["<E>"])
    tokenizer.save_pretrained(tmp_path, legacy_format=False)
    edit(tmp_path / "tokenizer_config.json", added_tokens_decoder={token_id: flagged(content)})
    with pytest.raises(VocabularyError) as caught:
        BertTokenizerFast.from_pretrained(tmp_path)
    assert (caught.value.token, caught.value.expected_id) == (content, ADDED)
    assert caught.value.found_id == token_id


@pytest.mark.parametrize("legacy_format", [None, True, False])
@pytest.mark.parametrize(
    "tokens", [["World", "world"], ["world", "World"], ["Á", "World", "world"]]
)
def test_two_tokens_alike_when_normalized(fast, tmp_path, tokens, legacy_format):
    tokenizer = fast()
    tokenizer.add_tokens(tokens)
    before = [ids(tokenizer, text) for text in ("world", "World", "á Á")]
    tokenizer.save_pretrained(tmp_path, legacy_format=legacy_format)
    loaded = BertTokenizerFast.from_pretrained(tmp_path)
    assert [ids(loaded, text) for text in ("world", "World", "á Á")] == before
    loaded.save_pretrained(tmp_path / "again", legacy_format=legacy_format)
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_the_template_has_the_ids_of_its_tokens(fast, tmp_path):
    tokenizer = fast()
    tokenizer.add_tokens(["<E>"])
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    loaded = BertTokenizerFast.from_pretrained(tmp_path, eos_token="<e>", cls_token="<E>")
    assert loaded.convert_ids_to_tokens(loaded.encode("a")) == ["<E>", "a", "[SEP]"]


# ---- the unknown token ---------------------------------------------------------------------------


def test_an_added_unknown_token(fast, tmp_path):
    tokenizer = fast()
    tokenizer.add_special_tokens({"unk_token": "<unk>"})
    assert tokenizer.convert_tokens_to_ids("nope") == ADDED
    assert tokenizer.convert_tokens_to_ids(["nope", "a"]) == [ADDED, A]
    assert ids(tokenizer, "nope") == [1]  # as the model says
    tokenizer.save_pretrained(tmp_path)
    assert ids(BertTokenizerFast.from_pretrained(tmp_path), "nope") == [1]
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(VocabularyError):
        BertTokenizerFast.from_pretrained(tmp_path)
    with pytest.raises(VocabularyError):
        tokenizer.save_pretrained(tmp_path / "legacy", legacy_format=True)


# ---- settings of the slow profile ----------------------------------------------------------------


def test_lower_casing_is_not_switched_by_an_attribute(fast):
    tokenizer = fast()
    tokenizer.do_lower_case = True
    with pytest.raises(NotSupportedError):
        tokenizer.do_lower_case = False
    assert tokenizer.do_lower_case
    tokenizer.basic_tokenizer.do_lower_case = False
    assert not tokenizer.do_lower_case
    assert ids(tokenizer, "World") == [CAPITAL_WORLD]


@pytest.mark.parametrize("use_fast", [True, False])
def test_the_class_that_is_saved_serves_both(fast, tmp_path, use_fast):
    fast().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["tokenizer_class"] == "BertTokenizer"
    assert trietok.AutoTokenizer.from_pretrained(tmp_path, use_fast=use_fast).is_fast == use_fast
