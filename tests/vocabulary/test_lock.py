"""Locks and their verification: the tokenizer as it was, changed in every way, and other libraries
on the same model.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
import unicodedata

import pytest
import tokenizers

import trietok
from tests.conftest import needs
from tests.vocabulary.engines import write_flash, write_package
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    ElectraTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    Lock,
    MissingDependencyError,
)

WORDS = ("hello", "world", "hel", "##lo", "東", "cafe", "a", "##b", "Hello", "café")  # ids from 5
SIZE = 5 + len(WORDS)
TEXTS = ["hello world", "Hello café", "東hello", "a\u0378b"]
ODD_TEXTS = ["Hello world", "", "hellolo <x> 東", "tab\tline\u2028nul\x00 \x85"]


@pytest.fixture
def model(vocab_file):
    """A directory with a vocab.txt, and its lock in it."""
    directory = vocab_file(*WORDS).parent
    (directory / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    trietok.lock(BertTokenizer.from_pretrained(directory), TEXTS).save(directory / "lock.json")
    return directory


@pytest.fixture
def tokenizer(small, tmp_path):
    """A tokenizer in a directory, with added tokens."""
    made = small(*WORDS)
    made.add_tokens(["<x>"])
    made.add_special_tokens({"additional_special_tokens": ["<y>", "<z>"]})
    made.save_pretrained(tmp_path / "model", tokenizer_json=False)
    return BertTokenizer.from_pretrained(str(tmp_path / "model"))


@pytest.fixture
def path(tokenizer, tmp_path):
    """The lock of that tokenizer."""
    trietok.lock(tokenizer, ODD_TEXTS).save(tmp_path / "lock.json")
    return tmp_path / "lock.json"


# ---- what is locked ------------------------------------------------------------------------------


def test_a_lock_holds_ids_tokens_roles_sizes_and_versions(tokenizer):
    lock = trietok.lock(tokenizer, iter(ODD_TEXTS))
    assert [(each.text, each.ids) for each in lock.texts] == [
        (text, tokenizer.encode(text)) for text in ODD_TEXTS
    ]
    assert lock.texts[2].tokens == ["[CLS]", "hello", "##lo", "<x>", "東", "[SEP]"]
    assert (lock.tokenizer_class, lock.profile) == ("BertTokenizer", "slow")
    assert lock.fingerprint == tokenizer.fingerprint()
    assert (lock.tokens, lock.max_id, lock.added_tokens) == (SIZE + 3, SIZE + 2, 8)
    assert [tuple(each) for each in lock.special_tokens] == [
        ("unk_token", "[UNK]", 1),
        ("sep_token", "[SEP]", 3),
        ("pad_token", "[PAD]", 0),
        ("cls_token", "[CLS]", 2),
        ("mask_token", "[MASK]", 4),
        ("additional_special_tokens", "<y>", SIZE + 1),
        ("additional_special_tokens", "<z>", SIZE + 2),
    ]
    assert lock.versions["unicode"] == unicodedata.unidata_version
    assert lock.settings["do_lower_case"] is True


def test_without_texts_the_sample_of_compare_is_locked(english):
    lock = trietok.lock(english)
    assert (len(lock.texts), lock.model) == (32, "trietok-en")
    assert trietok.verify(english, lock).ok


def test_the_same_input_is_the_same_file_and_reads_back(tokenizer, path):
    before = path.read_bytes()
    trietok.lock(tokenizer, ODD_TEXTS).save(path)
    assert path.read_bytes() == before
    loaded, fresh = Lock.load(path), trietok.lock(tokenizer, ODD_TEXTS)
    assert dataclasses.replace(loaded, model=tokenizer.name_or_path) == fresh
    loaded.save(path)
    assert path.read_bytes() == before


def test_a_text_is_a_line_so_that_a_change_of_one_is_a_change_of_one_line(tokenizer, path):
    before = path.read_text(encoding="utf-8").splitlines()
    assert len(before) == path.read_bytes().count(b"\n")  # nothing else breaks a line
    assert json.loads(path.read_text(encoding="utf-8"))["texts"][3]["text"] == ODD_TEXTS[3]
    assert '    {"text": "", "tokens": ["[CLS]", "[SEP]"], "ids": [2, 3]},' in before
    trietok.lock(tokenizer, [*ODD_TEXTS[:2], "other", ODD_TEXTS[3]]).save(path)
    after = path.read_text(encoding="utf-8").splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_what_cannot_be_locked_is_refused(tokenizer, tmp_path):
    for texts in ([], ["", ""], ["a", "b\ud83dc"]):
        with pytest.raises(InputError):
            trietok.lock(tokenizer, texts)
    for given, texts in ((tokenizer, "hello"), (tokenizer, ["a", 3]), ({}, ["a"]), (tokenizer, 5)):
        with pytest.raises(InputTypeError):
            trietok.lock(given, texts)
    lock = trietok.lock(tokenizer, ["a"])
    with pytest.raises(InputError):  # too large to be read
        dataclasses.replace(lock, texts=lock.texts * 200_001).save(tmp_path / "lock.json")
    assert not (tmp_path / "lock.json").exists()
    with pytest.raises(FileError):
        lock.save(tmp_path / "none" / "lock.json")


@pytest.mark.parametrize(
    ("place", "written"),
    [("a.json", "./model"), ("model/a.json", "."), ("x/y/a.json", "../../model")],
)
def test_the_model_is_found_relative_to_the_lock(tokenizer, tmp_path, monkeypatch, place, written):
    fast = BertTokenizerFast.from_pretrained(tmp_path / "model")
    fast.save_pretrained(tmp_path / "model")
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    trietok.lock(fast, TEXTS).save(tmp_path / place)
    assert json.loads((tmp_path / place).read_text(encoding="utf-8"))["model"] == written
    moved = tmp_path.rename(tmp_path.with_name(tmp_path.name + "-moved"))
    monkeypatch.chdir(moved)
    locks = [Lock.load(name) for name in (moved / place, place)]
    for lock in locks:
        assert trietok.verify("tokenizers", lock).ok
    os.rename(moved / "model", moved / "gone")
    for lock in locks:
        with pytest.raises(FileError):
            trietok.verify("tokenizers", lock)


def test_a_model_that_is_a_name_stays_one_and_one_that_is_gone_is_not_written_down(
    tokenizer, tmp_path
):
    lock = trietok.lock(tokenizer, TEXTS)
    names = {"trietok-en": "trietok-en", "a/b": "a/b", str(tmp_path / "no"): None, None: None}
    for given, written in names.items():
        dataclasses.replace(lock, model=given).save(tmp_path / "lock.json")
        assert Lock.load(tmp_path / "lock.json").model == written
    with pytest.raises(FileError):
        trietok.verify("tokenizers", tmp_path / "lock.json")


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
def test_a_lock_with_something_else_in_it_is_refused_with_the_place(path, changes, place):
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, **changes}), encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        Lock.load(path)
    assert place in str(caught.value).replace(str(path), "")


def test_half_a_lock_and_none_are_refused(path):
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(FileFormatError):
        Lock.load(path)
    path.unlink()
    with pytest.raises(FileError):
        Lock.load(path)


# ---- what has changed ----------------------------------------------------------------------------


def verified(model, kind=BertTokenizer, change=id, **options) -> trietok.Verified:
    tokenizer = kind.from_pretrained(model, **options)
    change(tokenizer)
    return trietok.verify(tokenizer, model / "lock.json")


def test_the_proof_of_no_change_is_one_line(model):
    found = verified(model)
    assert (found.ok, found.differing, found.changed, found.changed_special) == (True, 0, {}, {})
    assert "\n" not in str(found)
    assert BertTokenizer.from_pretrained(model).fingerprint() in str(found)


def set_stage(name, value):
    return lambda tokenizer: setattr(tokenizer.wordpiece_tokenizer, name, value)


# name: what loads the model now; what has changed, how many texts differ, the reason for one
CHANGES = {
    "do_lower_case": (
        {"do_lower_case": False},
        {"do_lower_case": (True, False)},
        1,
        (2, "“hello”, trietok “Hello”"),
    ),
    "strip_accents": (
        {"strip_accents": False},
        {"strip_accents": (True, False)},
        1,
        (2, "“cafe”, trietok “café”"),
    ),
    "tokenize_chinese_chars": (
        {"tokenize_chinese_chars": False},
        {"tokenize_chinese_chars": (True, False)},
        1,
        (3, "U+6771"),
    ),
    "longest word": (
        {"change": set_stage("max_input_chars_per_word", 4)},
        {"max_input_chars_per_word": (100, 4)},
        3,
        (1, "the lock had max_input_chars_per_word=100"),
    ),
    "another class": (
        {"kind": ElectraTokenizer},
        {"class": ("BertTokenizer", "ElectraTokenizer")},
        0,
        None,
    ),
    "the other profile": (
        {"kind": BertTokenizerFast},
        {"profile": ("slow", "fast")},
        1,
        (4, "the lock deletes U+0378"),
    ),
    "an added token": (
        {"change": lambda tokenizer: tokenizer.add_tokens(["hello w"])},
        {"added_tokens": (5, 6), "max_id": (SIZE - 1, SIZE)},
        1,
        (1, "“hello w” is found now"),
    ),
}


def why(found: trietok.Verified, number: int) -> str:
    return next(each.why for each in found.changed_texts if each.number == number)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_tokenizer_is_named_with_the_reason_for_a_text(model, name):
    options, changed, differing, reason = CHANGES[name]
    found = verified(model, **options)
    assert (found.ok, found.differing) == (False, differing)
    assert changed.items() <= found.changed.items()
    if reason:
        assert reason[1] in why(found, reason[0])


@pytest.mark.parametrize(
    ("words", "differing", "reason", "place"),
    [
        (("hello", "mars", *WORDS[2:]), 1, "“world”, which is no token here now", (2, 6, 11)),
        (
            ("world", "hello", *WORDS[2:]),
            3,
            "“hello” has the id 5 in the lock and 6 now",
            (1, 0, 5),
        ),
        ((*WORDS, "##o", "hell"), 0, None, None),
    ],
)
def test_a_change_of_the_vocabulary_is_named_with_the_first_token(
    model, vocab_file, words, differing, reason, place
):
    vocab_file(*words)
    found = verified(model)
    assert (found.differing, found.ok) == (differing, False)
    if reason:
        assert reason in why(found, 1)
        assert found.changed_texts[0][6:9] == place  # the token, and where it stands in the text
    else:
        assert found.changed["tokens"] == (SIZE, SIZE + 2)


def test_special_tokens_that_have_other_ids_are_named(model, vocab_file):
    vocab_file(*WORDS, special=["[PAD]", "[UNK]", "[SEP]", "[CLS]", "[MASK]"])
    found = verified(model)
    assert found.changed_special == {
        "sep_token": (("[SEP]", 3), ("[SEP]", 2)),
        "cls_token": (("[CLS]", 2), ("[CLS]", 3)),
    }
    assert "  cls_token: [CLS] [2] -> [CLS] [3]" in str(found).split("\n")
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<y>"]})
    special = trietok.verify(tokenizer, model / "lock.json").changed_special
    assert special["additional_special_tokens[0]"] == (None, ("<y>", SIZE))


def test_the_report_shows_the_first_token_that_differs_and_the_dict_holds_all(model):
    found = verified(model, do_lower_case=False)
    shown = str(found).split("\n")
    assert "text 2: 'Hello café'" in shown
    assert "    the lock: hello [5] cafe [10] [SEP] [3]" in shown
    assert "    trietok: Hello [13] café [14] [SEP] [3]" in shown
    assert "  do_lower_case: true -> false" in shown
    values = json.loads(json.dumps(found.to_dict()))
    assert (values["ok"], values["differing"]) == (False, 1)
    assert values["changed"]["do_lower_case"] == [True, False]
    assert values["changed_texts"][0]["locked_ids"] == [2, 5, 10, 3]


def test_a_composed_and_a_decomposed_word_are_told_apart_by_their_code_points(vocab_file):
    path = vocab_file("манман", "\u0441", "##\u0438\u0304", "##\u04e3")
    composing, other = (
        kind(path, do_lower_case=False) for kind in (BertTokenizer, BertTokenizerFast)
    )
    found = trietok.verify(other, trietok.lock(composing, ["\u0441\u0438\u0304"]))
    assert "(U+04E3)" in why(found, 1)
    assert "(U+0438 U+0304)" in why(found, 1)


# ---- other tokenizers ----------------------------------------------------------------------------


class Encodes:
    """An object that encodes, with other ids for some texts."""

    def __init__(self, model, ids=None):
        self.tokenizer, self.ids = BertTokenizer.from_pretrained(model), ids or {}

    def encode(self, text):
        return self.ids.get(text) or self.tokenizer.encode(text)


class HasRoles(Encodes):
    def __init__(self, model, mask):
        super().__init__(model)
        self.special_tokens_map = {**self.tokenizer.special_tokens_map, "mask_token": mask}
        self.convert_tokens_to_ids = self.tokenizer.convert_tokens_to_ids
        self.convert_ids_to_tokens = self.tokenizer.convert_ids_to_tokens


def test_any_object_that_encodes_is_verified(model):
    lock = model / "lock.json"
    assert trietok.verify(Encodes(model), lock).ok
    found = trietok.verify(Encodes(model, {"hello world": [2, 5]}), lock)
    assert [each[:4] for each in found.changed_texts] == [(1, "hello world", [2, 5, 6, 3], [2, 5])]
    assert trietok.verify(HasRoles(model, "[MASK]"), lock).ok
    found = trietok.verify(HasRoles(model, "hello"), lock)
    assert (found.ok, found.changed_special) == (
        False,
        {"mask_token": (("[MASK]", 4), ("hello", 5))},
    )
    fast = BertTokenizerFast.from_pretrained(model)
    fast.save_pretrained(model)
    rust = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    found = trietok.verify(rust, trietok.lock(fast, TEXTS))
    assert (found.ok, found.version) == (True, tokenizers.__version__)


@pytest.mark.parametrize("ids", ["no", 3, [1.5], ["a"]])
def test_an_object_that_gives_no_ids_is_refused(model, ids):
    for other in (Encodes(model, dict.fromkeys(TEXTS, ids)), 3):
        with pytest.raises(InputTypeError):
            trietok.verify(other, model / "lock.json")


def change_json(model, change):
    path = model / "tokenizer.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.parametrize(
    ("part", "values", "number", "reason"),
    [
        (
            "normalizer",
            {"strip_accents": False},
            2,
            "tokenizers does as trietok with strip_accents",
        ),
        ("model", {"max_input_chars_per_word": 4}, 1, "too long for tokenizers"),
    ],
)
def test_a_change_of_tokenizer_json_is_caught_by_tokenizers(model, part, values, number, reason):
    fast = BertTokenizerFast.from_pretrained(model)
    fast.save_pretrained(model)
    lock = trietok.lock(fast, TEXTS)
    assert trietok.verify("tokenizers", lock, model=model).ok
    change_json(model, lambda whole: whole[part].update(values))
    assert reason in why(trietok.verify("tokenizers", lock, model=model), number)


def test_texts_that_tokenizer_json_cuts_are_counted(model):
    fast = BertTokenizerFast.from_pretrained(model)
    fast.save_pretrained(model)
    lock = trietok.lock(fast, ["hello", "hello world hello"])
    cut = {"direction": "Right", "strategy": "LongestFirst", "stride": 0, "max_length": 4}
    change_json(model, lambda values: values.update(truncation=cut))
    found = trietok.verify("tokenizers", lock, model=model)
    assert (found.ok, found.truncates_to, found.truncated) == (False, 4, 1)


# ---- libraries in processes of their own ---------------------------------------------------------


def test_a_library_is_asked_in_a_process_of_its_own(model, tmp_path, monkeypatch):
    packages, lock = tmp_path / "packages", model / "lock.json"
    packages.mkdir()
    monkeypatch.syspath_prepend(str(packages))

    def verify(answer):
        shutil.rmtree(packages / "flash_tokenizer", ignore_errors=True)
        write_flash(packages, answer)
        return trietok.verify("flash-tokenizer", lock)

    found = verify("def answer(text, ids): return ids")
    assert found.ok
    assert found.versions["flash-tokenizer"][1] == "9.9"
    assert "flash_tokenizer" not in sys.modules
    fast = f"trietok.BertTokenizerFast({str(model / 'vocab.txt')!r}).encode(text)"
    found = verify(f"def answer(text, ids):\n    import trietok\n    return {fast}")
    assert (found.differing, found.ok) == (1, False)
    assert "flash-tokenizer does as trietok with the fast profile" in why(found, 4)
    with pytest.raises(InputError, match="text 2"):
        verify("def answer(text, ids): return 1 / 0 if text == 'Hello café' else ids")
    shutil.rmtree(packages / "flash_tokenizer")
    missing = "raise ModuleNotFoundError('no', name='flash_tokenizer')"
    write_package(packages, "flash_tokenizer", missing)
    with pytest.raises(MissingDependencyError, match="pip install flash-tokenizer"):
        trietok.verify("flash-tokenizer", lock)
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        trietok.verify("tokenizers", lock)
    with pytest.raises(InputError, match="transformers-slow"):
        trietok.verify("rust", lock)


ENGINES = {
    "transformers": BertTokenizerFast,
    "transformers-slow": BertTokenizer,
    "transformers-fast": BertTokenizerFast,
    "tokenizers": BertTokenizerFast,
    "flash-tokenizer": BertTokenizer,
}


@pytest.mark.engines
@pytest.mark.parametrize("engine", ENGINES)
def test_other_libraries_have_the_ids_of_a_lock_and_a_changed_text_is_found(tmp_path, engine):
    if engine == "flash-tokenizer":
        needs("flash_tokenizer")
    model = str(tmp_path / "model")
    ENGINES[engine].from_pretrained("trietok-en").save_pretrained(model)
    lock = trietok.lock(ENGINES[engine].from_pretrained(model))
    assert lock.versions["trietok"] == trietok.__version__
    found = trietok.verify(engine, lock)
    assert found.ok or engine == "flash-tokenizer", str(found)
    assert found.version
    first, second = lock.texts[:2]
    changed = type(first)(first.text, second.tokens, second.ids)
    found = trietok.verify(engine, dataclasses.replace(lock, texts=[changed, *lock.texts[1:]]))
    assert found.changed_texts[0].number == 1
