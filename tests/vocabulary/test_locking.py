"""Locks: what is written down, and the file."""

from __future__ import annotations

import dataclasses
import json
import os
import unicodedata

import pytest

import trietok
from trietok import BertTokenizer, FileError, FileFormatError, InputError, InputTypeError, Lock
from trietok.workbench.locking.lock import model_there

WORDS = ("hello", "world", "hel", "##lo", "東")  # ids from 5
TEXTS = ["Hello world", "", "hellolo <x> 東", "tab\tline\u2028nul\x00 \x85"]


@pytest.fixture
def tokenizer(small, tmp_path):
    """A tokenizer in a directory, with an added token."""
    made = small(*WORDS)
    made.add_tokens(["<x>"])
    made.add_special_tokens({"additional_special_tokens": ["<y>", "<z>"]})
    made.save_pretrained(tmp_path / "model")
    return BertTokenizer.from_pretrained(str(tmp_path / "model"))


def test_what_is_locked(tokenizer):
    lock = trietok.lock(tokenizer, iter(TEXTS))
    assert [(each.text, each.ids) for each in lock.texts] == [
        (text, tokenizer.encode(text)) for text in TEXTS
    ]
    assert lock.texts[2].tokens == ["[CLS]", "hello", "##lo", "<x>", "東", "[SEP]"]
    assert (lock.tokenizer_class, lock.profile, lock.fingerprint) == (
        "BertTokenizer",
        "slow",
        tokenizer.fingerprint(),
    )
    assert (lock.tokens, lock.max_id, lock.added_tokens) == (13, 12, 8)
    assert [tuple(each) for each in lock.special_tokens] == [
        ("unk_token", "[UNK]", 1),
        ("sep_token", "[SEP]", 3),
        ("pad_token", "[PAD]", 0),
        ("cls_token", "[CLS]", 2),
        ("mask_token", "[MASK]", 4),
        ("additional_special_tokens", "<y>", 11),
        ("additional_special_tokens", "<z>", 12),
    ]
    assert lock.versions["unicode"] == unicodedata.unidata_version
    assert lock.settings["do_lower_case"] is True


def test_the_same_input_is_the_same_file_and_reads_back(tokenizer, tmp_path):
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path in paths:
        trietok.lock(tokenizer, TEXTS).save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    loaded = Lock.load(paths[0])
    assert dataclasses.replace(loaded, model=tokenizer.name_or_path) == trietok.lock(
        tokenizer, TEXTS
    )
    loaded.save(paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_text_is_a_line_so_that_a_change_of_one_is_a_change_of_one_line(tokenizer, tmp_path):
    path = tmp_path / "lock.json"
    trietok.lock(tokenizer, TEXTS).save(path)
    before = path.read_text(encoding="utf-8").splitlines()
    assert len(before) == path.read_bytes().count(b"\n")  # nothing else breaks a line
    assert json.loads(path.read_text(encoding="utf-8"))["texts"][3]["text"] == TEXTS[3]
    assert '    {"text": "", "tokens": ["[CLS]", "[SEP]"], "ids": [2, 3]},' in before
    trietok.lock(tokenizer, [*TEXTS[:2], "other", TEXTS[3]]).save(path)
    after = path.read_text(encoding="utf-8").splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_without_texts_the_sample_of_compare_is_locked(english):
    lock = trietok.lock(english)
    assert (len(lock.texts), lock.model) == (32, "trietok-en")
    assert trietok.verify(english, lock).ok


@pytest.mark.parametrize(
    "texts",
    [[], ["", ""], ["a", "b\ud83dc"]],
)
def test_texts_that_cannot_be_locked(tokenizer, texts):
    with pytest.raises(InputError):
        trietok.lock(tokenizer, texts)


def test_what_is_no_text_and_what_is_no_tokenizer(tokenizer):
    for given, texts in ((tokenizer, "hello"), (tokenizer, ["a", 3]), ({}, ["a"]), (tokenizer, 5)):
        with pytest.raises(InputTypeError):
            trietok.lock(given, texts)


def test_a_lock_that_would_be_too_large_to_be_read_is_not_written(tokenizer, tmp_path):
    lock = trietok.lock(tokenizer, ["a"])
    with pytest.raises(InputError):
        dataclasses.replace(lock, texts=lock.texts * 200_001).save(tmp_path / "lock.json")
    assert not (tmp_path / "lock.json").exists()


# ---- the model's place ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lock", "written"),
    [("a.json", "./model"), ("model/a.json", "."), ("x/y/a.json", "../../model")],
)
def test_the_model_is_found_relative_to_the_file(tokenizer, tmp_path, monkeypatch, lock, written):
    path = tmp_path / lock
    path.parent.mkdir(parents=True, exist_ok=True)
    trietok.lock(tokenizer, TEXTS).save(path)
    assert json.loads(path.read_text(encoding="utf-8"))["model"] == written
    os.rename(tmp_path, moved := tmp_path.with_name(tmp_path.name + "-moved"))
    monkeypatch.chdir(moved)
    for name in (moved / lock, lock):
        found = model_there(Lock.load(name), None)
        assert os.path.samefile(found, moved / "model")
        assert found.startswith((".", "/"))  # so it cannot be taken for a name on the hub
    os.rename(moved / "model", moved / "gone")
    # else the lock is gone too
    loaded = [] if written == "." else [Lock.load(moved / lock), Lock.load(lock)]
    for each in loaded:
        with pytest.raises(FileError):
            model_there(each, None)
    os.rename(moved, tmp_path)


def test_a_model_that_is_a_name_stays_one_and_one_that_is_gone_is_not_written_down(
    tokenizer, tmp_path
):
    lock = trietok.lock(tokenizer, TEXTS)
    for given, written in (
        ("trietok-en", "trietok-en"),
        ("a/b", "a/b"),
        (str(tmp_path / "no"), None),
        (None, None),
    ):
        dataclasses.replace(lock, model=given).save(tmp_path / "lock.json")
        loaded = Lock.load(tmp_path / "lock.json")
        assert loaded.model == written
    with pytest.raises(FileError):
        model_there(loaded, None)


# ---- damaged locks -------------------------------------------------------------------------------


def locked(**changes):
    return {"texts": [{"text": "a", "tokens": ["a"], "ids": [5], **changes}]}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"format": "trietok-lock-2"}, "newer trietok"),
        ({"format": "x"}, "is no lock"),
        ({"format": 1}, "is no lock"),
        ({"texts": []}, "texts"),
        ({"texts": [3]}, "texts[0]"),
        *((locked(ids=ids), "texts[0]") for ids in ([], [True], [-1996], [10**23])),
        ({"special_tokens": [{"role": "cls_token", "token": "[CLS]", "id": -2}]}, "tokens[0]"),
        ({"special_tokens": [{"role": "cls_token"}]}, "special_tokens[0]"),
        ({"profile": "quick"}, "profile"),
        ({"class": None}, "class"),
        ({"max_id": "7"}, "max_id"),
        ({"model": 3}, "model"),
        ({"settings": []}, "settings"),
    ],
)
def test_a_lock_with_something_else_in_it(tokenizer, tmp_path, changes, place):
    path = tmp_path / "lock.json"
    trietok.lock(tokenizer, TEXTS).save(path)
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, **changes}), encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        Lock.load(path)
    assert place in str(caught.value).replace(str(path), "")


def test_half_a_lock_and_none(tokenizer, tmp_path):
    path = tmp_path / "lock.json"
    trietok.lock(tokenizer, TEXTS).save(path)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(FileFormatError):
        Lock.load(path)
    path.unlink()
    with pytest.raises(FileError):
        Lock.load(path)
    with pytest.raises(FileError):
        trietok.lock(tokenizer, TEXTS).save(tmp_path / "none" / "lock.json")
