"""Verifying: the tokenizer as it was, changed in every way, and other libraries on the same
model.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys

import pytest
import tokenizers

import trietok
from tests.conftest import needs
from tests.vocabulary.engines import write_flash, write_package
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    ElectraTokenizer,
    InputError,
    InputTypeError,
    Lock,
    MissingDependencyError,
)

WORDS = ("hello", "world", "hel", "##lo", "東", "cafe", "a", "##b", "Hello", "café")  # ids from 5
TEXTS = ["hello world", "Hello café", "東hello", "a\u0378b"]


@pytest.fixture
def model(vocab_file):
    """A directory with a vocab.txt, and its lock beside it."""
    directory = vocab_file(*WORDS).parent
    (directory / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    trietok.lock(BertTokenizer.from_pretrained(directory), TEXTS).save(directory / "lock.json")
    return directory


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A directory from which the processes import first."""
    directory = tmp_path / "packages"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    return directory


def verified(model, **options) -> trietok.Verified:
    return trietok.verify(BertTokenizer.from_pretrained(model, **options), model / "lock.json")


def test_the_proof_is_one_line(model):
    found = verified(model)
    assert (found.ok, found.differing, found.changed, found.changed_special) == (True, 0, {}, {})
    assert "\n" not in str(found)
    assert BertTokenizer.from_pretrained(model).fingerprint() in str(found)


def change_json(model, change):
    path = model / "tokenizer.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def why(found: trietok.Verified, number: int) -> str:
    return next(each.why for each in found.changed_texts if each.number == number)


@pytest.mark.parametrize(
    ("options", "number", "words"),
    [
        ({"do_lower_case": False}, 2, "“hello”, trietok “Hello”"),
        ({"strip_accents": False}, 2, "“cafe”, trietok “café”"),
        ({"tokenize_chinese_chars": False}, 3, "U+6771"),
    ],
)
def test_each_setting_is_found_and_named(model, options, number, words):
    found = verified(model, **options)
    ((setting, value),) = options.items()
    assert (found.differing, found.changed[setting]) == (1, (True, value))
    assert words in why(found, number)


def test_the_report_shows_the_first_token_that_differs(model):
    found = verified(model, do_lower_case=False)
    lines = str(found).split("\n")
    assert "text 2: 'Hello café'" in lines
    assert "    the lock: hello [5] cafe [10] [SEP] [3]" in lines
    assert "    trietok: Hello [13] café [14] [SEP] [3]" in lines
    assert "  do_lower_case: true -> false" in lines


def test_a_vocabulary_that_has_changed(model, vocab_file):
    vocab_file("hello", "mars", *WORDS[2:])
    found = verified(model)
    assert "“world”, which is no token here now" in why(found, 1)
    assert found.changed_texts[0][6:9] == (2, 6, 11)  # the token and its place
    vocab_file("world", "hello", *WORDS[2:])
    assert "“hello” has the id 5 in the lock and 6 now" in why(verified(model), 1)
    vocab_file(*WORDS, "##o", "hell")
    found = verified(model)
    assert (found.differing, found.ok, found.changed["tokens"]) == (0, False, (15, 17))


def test_added_tokens_that_have_come(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.add_tokens(["hello w"])
    found = trietok.verify(tokenizer, Lock.load(model / "lock.json"))
    assert (found.changed["added_tokens"], found.changed["max_id"]) == ((5, 6), (14, 15))
    assert "“hello w” is found now" in why(found, 1)


def test_special_tokens_that_have_other_ids(model, vocab_file):
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
    assert special["additional_special_tokens[0]"] == (None, ("<y>", 15))


def test_another_class_and_the_other_profile(model):
    lock = Lock.load(model / "lock.json")
    found = trietok.verify(ElectraTokenizer.from_pretrained(model), lock)
    assert (found.differing, found.ok) == (0, False)
    assert found.changed["class"] == ("BertTokenizer", "ElectraTokenizer")
    found = trietok.verify(BertTokenizerFast.from_pretrained(model), lock)
    assert (found.changed["profile"], found.differing) == (("slow", "fast"), 1)
    assert "the lock deletes U+0378" in why(found, 4)


def test_a_guess_is_never_told_as_what_the_lock_had(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.wordpiece_tokenizer.max_input_chars_per_word = 4
    found = trietok.verify(tokenizer, model / "lock.json")
    assert found.changed["max_input_chars_per_word"] == (100, 4)
    assert "the lock had max_input_chars_per_word=100" in why(found, 1)
    # The other profile would give the lock's tokens, but the lock says that it had this one.
    lock = trietok.lock(BertTokenizer.from_pretrained(model), ["a\u0378b"])
    other = trietok.lock(BertTokenizerFast.from_pretrained(model), ["a\u0378b"])
    lock = dataclasses.replace(lock, texts=other.texts)
    found = trietok.verify(BertTokenizer.from_pretrained(model), lock)
    assert (found.differing, why(found, 1)) == (1, "the reason is not known")


def test_a_composed_and_a_decomposed_word_are_told_apart_by_their_code_points(vocab_file):
    path = vocab_file("манман", "\u0441", "##\u0438\u0304", "##\u04e3")
    composing, other = (
        kind(path, do_lower_case=False) for kind in (BertTokenizer, BertTokenizerFast)
    )
    found = trietok.verify(other, trietok.lock(composing, ["\u0441\u0438\u0304"]))
    assert "(U+04E3)" in why(found, 1)
    assert "(U+0438 U+0304)" in why(found, 1)


def test_the_reason_that_only_the_tokenizer_json_shows(model):
    BertTokenizer.from_pretrained(model).save_pretrained(model, tokenizer_json=True)
    change_json(model, lambda values: values["model"].update(max_input_chars_per_word=4))
    found = trietok.verify("tokenizers", model / "lock.json", model=model)
    assert "too long for tokenizers" in why(found, 1)


def test_everything_is_in_the_dict(model):
    values = json.loads(json.dumps(verified(model, do_lower_case=False).to_dict()))
    assert (values["ok"], values["differing"], values["changed"]["do_lower_case"]) == (
        False,
        1,
        [True, False],
    )
    assert values["changed_texts"][0]["locked_ids"] == [2, 5, 10, 3]


def test_any_object_that_encodes(model):
    class Other:
        def __init__(self, ids):
            self.ids = ids

        def encode(self, text):
            return Other(self.ids.get(text) or BertTokenizer.from_pretrained(model).encode(text))

    assert trietok.verify(Other({}), model / "lock.json").ok
    found = trietok.verify(Other({"hello world": [2, 5]}), model / "lock.json")
    assert [each[:4] for each in found.changed_texts] == [(1, "hello world", [2, 5, 6, 3], [2, 5])]
    BertTokenizerFast.from_pretrained(model).save_pretrained(model)
    rust = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    found = trietok.verify(rust, trietok.lock(BertTokenizerFast.from_pretrained(model), TEXTS))
    assert (found.ok, found.version) == (True, tokenizers.__version__)
    with pytest.raises(InputTypeError):
        trietok.verify(3, model / "lock.json")


def test_the_roles_of_an_object_that_has_roles(model):
    class Other:
        special_tokens_map = {
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "unk_token": "[UNK]",
            "pad_token": "[PAD]",
        }

        def __init__(self, mask):
            self.tokenizer = BertTokenizer.from_pretrained(model)
            self.special_tokens_map = {**self.special_tokens_map, "mask_token": mask}

        def __getattr__(self, name):
            return getattr(self.tokenizer, name)

    found = trietok.verify(Other("[MASK]"), model / "lock.json")
    assert found.ok
    found = trietok.verify(Other("hello"), model / "lock.json")
    assert (found.ok, found.changed_special) == (
        False,
        {"mask_token": (("[MASK]", 4), ("hello", 5))},
    )


@pytest.mark.parametrize("given", ["no", None, 3, [1.5], ["a"]])
def test_an_object_whose_encode_gives_no_ids(model, given):
    class Other:
        def encode(self, text):
            return given

    with pytest.raises(InputTypeError):
        trietok.verify(Other(), model / "lock.json")


# ---- other libraries -----------------------------------------------------------------------------


def test_a_library_in_a_process_of_its_own(packages, model):
    write_flash(packages)
    found = trietok.verify("flash-tokenizer", model / "lock.json")
    assert found.ok
    assert found.versions["flash-tokenizer"][1] == "9.9"
    assert "flash_tokenizer" not in sys.modules


def test_the_reason_for_what_a_library_does(packages, model):
    code = """
        def answer(text, ids):
            import trietok
            return trietok.BertTokenizerFast(VOCAB).encode(text)
    """
    write_flash(packages, code.replace("VOCAB", repr(str(model / "vocab.txt"))))
    found = trietok.verify("flash-tokenizer", model / "lock.json")
    assert (found.differing, found.ok) == (1, False)
    assert "flash-tokenizer does as trietok with the fast profile" in why(found, 4)


def test_libraries_that_cannot_be_asked(packages, model):
    write_package(
        packages, "flash_tokenizer", "raise ModuleNotFoundError('no', name='flash_tokenizer')"
    )
    with pytest.raises(MissingDependencyError, match="pip install flash-tokenizer"):
        trietok.verify("flash-tokenizer", model / "lock.json")
    shutil.rmtree(packages / "flash_tokenizer")
    write_flash(packages, "def answer(text, ids): return 1 / 0 if text == 'Hello café' else ids")
    with pytest.raises(InputError, match="text 2"):
        trietok.verify("flash-tokenizer", model / "lock.json")
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        trietok.verify("tokenizers", model / "lock.json")
    with pytest.raises(InputError, match="transformers-slow"):
        trietok.verify("rust", model / "lock.json")


@pytest.mark.engines
def test_a_planted_change_is_caught_in_transformers(model, vocab_file):
    vocab_file("hello", "mars", *WORDS[2:])
    found = trietok.verify("transformers", model / "lock.json")
    assert [each.number for each in found.changed_texts] == [1]
    assert found.changed_texts[0].tokens == ["[CLS]", "hello", "[UNK]", "[SEP]"]
    assert "“world”, which is no token here now" in why(found, 1)


def test_a_planted_normalizer_is_caught_in_tokenizers(model):
    tokenizer = BertTokenizerFast.from_pretrained(model)
    tokenizer.save_pretrained(model)
    trietok.lock(tokenizer, TEXTS).save(model / "lock.json")
    assert trietok.verify("tokenizers", model / "lock.json", model=model).ok
    change_json(model, lambda values: values["normalizer"].update(strip_accents=False))
    found = trietok.verify("tokenizers", model / "lock.json", model=model)
    assert "tokenizers does as trietok with strip_accents=False" in why(found, 2)


def test_a_tokenizer_json_that_cuts_and_pads_texts(model):
    BertTokenizerFast.from_pretrained(model).save_pretrained(model)
    lock = trietok.lock(BertTokenizerFast.from_pretrained(model), ["hello", "hello world hello"])
    rule = {"direction": "Right", "strategy": "LongestFirst", "stride": 0}
    for longest, is_ok, truncated in ((4, False, 1), (5, True, 0)):
        cut = {**rule, "max_length": longest}
        change_json(model, lambda values, cut=cut: values.update(truncation=cut))
        found = trietok.verify("tokenizers", lock, model=model)
        assert (found.ok, found.truncates_to, found.truncated) == (is_ok, longest, truncated)
    padding = {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    change_json(model, lambda values: values.update(truncation=None, padding=padding))
    padded = trietok.verify("tokenizers", lock, model=model)
    assert (padded.ok, padded.pads, padded.truncates_to) == (True, True, None)


@pytest.mark.engines
@pytest.mark.parametrize("engine", ["transformers", "transformers-fast"])
def test_a_role_that_another_token_plays_in_transformers(model, engine):
    lock = trietok.lock(BertTokenizerFast.from_pretrained(model), ["hello world"])
    assert trietok.verify(engine, lock, model=model).ok
    (model / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "mask_token": "hello"}'
    )
    found = trietok.verify(engine, lock, model=model)
    assert found.changed_special["mask_token"] == (("[MASK]", 4), ("hello", 5))


@pytest.mark.engines
@pytest.mark.parametrize(
    ("engine", "profile"),
    [
        ("transformers", BertTokenizerFast),
        ("transformers-slow", BertTokenizer),
        ("transformers-fast", BertTokenizerFast),
        ("tokenizers", BertTokenizerFast),
        ("flash-tokenizer", BertTokenizer),
    ],
)
def test_the_libraries_themselves(tmp_path, engine, profile):
    if engine == "flash-tokenizer":
        needs("flash_tokenizer")
    model = str(tmp_path / "model")
    profile.from_pretrained("trietok-en").save_pretrained(model)
    lock = trietok.lock(profile.from_pretrained(model))
    assert lock.versions["trietok"] == trietok.__version__
    found = trietok.verify(engine, lock)
    assert found.ok or engine == "flash-tokenizer", str(found)
    assert found.version
