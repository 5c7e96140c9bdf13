"""Verifying: the tokenizer as it was, changed in every way, and other libraries on the same
model.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys

import pytest

import trietok
from tests.locking.engines import write_flash, write_package
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
    fingerprint = BertTokenizer.from_pretrained(model).fingerprint()
    assert (found.ok, found.differing, found.changed, found.changed_special) == (True, 0, {}, {})
    assert (
        str(found)
        == f"trietok {trietok.__version__}: 4 texts, 16 ids and 5 special ids are as locked,"
        f" fingerprint {fingerprint}"
    )


def change_json(model, change):
    path = model / "tokenizer.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def why(found: trietok.Verified, number: int) -> str:
    return next(each.why for each in found.changed_texts if each.number == number)


def test_each_setting_is_found_and_named(model):
    found = verified(model, do_lower_case=False)
    assert (found.differing, found.changed["do_lower_case"]) == (1, (True, False))
    assert (
        why(found, 2) == "lower case: the lock looks up “hello”, trietok “Hello” (the lock had"
        " do_lower_case=True, strip_accents=True)"
    )
    found = verified(model, strip_accents=False)
    assert (
        why(found, 2)
        == "accents stripped (NFD): the lock looks up “cafe”, trietok “café” (the lock had"
        " strip_accents=True)"
    )
    found = verified(model, tokenize_chinese_chars=False)
    assert why(found, 3).startswith("Chinese characters set apart: the lock sets apart U+6771")


def test_the_report_shows_the_first_token_that_differs(model):
    found = verified(model, do_lower_case=False)
    lines = str(found).split("\n")
    assert lines[:6] == [
        f"trietok {trietok.__version__}: 1 of 4 texts has other ids than the lock",
        "text 2: 'Hello café'",
        "  from token 2, 0-5 in the text:",
        "    the lock: hello [5] cafe [10] [SEP] [3]",
        "    trietok: Hello [13] café [14] [SEP] [3]",
        f"  {why(found, 2)}",
    ]
    assert "special ids: all 5 as locked" in lines
    assert "  do_lower_case: true -> false" in lines
    assert f"  trietok: {trietok.__version__} | {trietok.__version__}" in lines


def test_a_vocabulary_that_has_changed(model, vocab_file):
    vocab_file("hello", "mars", *WORDS[2:])
    found = verified(model)
    assert why(found, 1) == "vocabulary: the lock has the token “world”, which is no token here now"
    assert found.changed_texts[0][6:9] == (2, 6, 11)  # the token and its place
    vocab_file("world", "hello", *WORDS[2:])
    assert (
        why(verified(model), 1)
        == "vocabulary: the text is cut into the same tokens, and “hello” has the id 5 in the lock"
        " and 6 now"
    )
    vocab_file(*WORDS, "##o", "hell")
    found = verified(model)
    assert (found.differing, found.ok, found.changed["tokens"]) == (0, False, (15, 17))
    assert (
        "the tokenizer is another one than the lock's, although the ids of 4 texts are as locked"
        in found.summary
    )


def test_added_tokens_that_have_come(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.add_tokens(["hello w"])
    found = trietok.verify(tokenizer, Lock.load(model / "lock.json"))
    assert (found.changed["added_tokens"], found.changed["max_id"]) == ((5, 6), (14, 15))
    assert (
        why(found, 1)
        == "added tokens cut out: “hello w” is found now, and was not there when the lock was"
        " written"
    )


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
    assert (found.differing, found.ok, found.changed["class"]) == (
        0,
        False,
        ("BertTokenizer", "ElectraTokenizer"),
    )
    found = trietok.verify(BertTokenizerFast.from_pretrained(model), lock)
    assert (found.changed["profile"], found.differing) == (("slow", "fast"), 1)
    assert (
        why(found, 4)
        == "cleaned: the lock deletes U+0378 <reserved-0378>, trietok does not (the lock had the"
        " slow profile)"
    )


def test_a_guess_is_never_told_as_what_the_lock_had(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.wordpiece_tokenizer.max_input_chars_per_word = 4
    found = trietok.verify(tokenizer, model / "lock.json")
    assert found.changed["max_input_chars_per_word"] == (100, 4)
    assert (
        why(found, 1)
        == "WordPiece: the word is too long for trietok (the lock had max_input_chars_per_word=100)"
    )
    tokenizer = BertTokenizer.from_pretrained(model)
    tokenizer.wordpiece_tokenizer.continuing_subword_prefix = "@@"
    lock = trietok.lock(BertTokenizer.from_pretrained(model), ["hellolo"])
    assert (
        why(trietok.verify(tokenizer, lock), 1)
        == 'the reason is not known; continuing_subword_prefix was "##" in the lock and is "@@" now'
    )
    # The other profile would give the lock's tokens, but the lock says that it had this one.
    lock = dataclasses.replace(
        lock, texts=(trietok.lock(BertTokenizerFast.from_pretrained(model), ["a\u0378b"])).texts
    )
    found = trietok.verify(BertTokenizer.from_pretrained(model), lock)
    assert (found.differing, why(found, 1)) == (1, "the reason is not known")


def test_a_composed_and_a_decomposed_word_are_told_apart_by_their_code_points(vocab_file):
    path = vocab_file("манман", "\u0441", "##\u0438\u0304", "##\u04e3")
    composing, other = (
        kind(path, do_lower_case=False) for kind in (BertTokenizer, BertTokenizerFast)
    )
    found = trietok.verify(other, trietok.lock(composing, ["\u0441\u0438\u0304"]))
    assert (
        why(found, 1)
        == "composed (NFC): the lock looks up “\u0441\u04e3” (U+04E3), trietok “\u0441\u0438\u0304”"
        " (U+0438 U+0304) (the lock had the slow profile)"
    )


def test_a_vowel_sign_is_an_accent_that_is_stripped(vocab_file):
    path = vocab_file("\u0924", "\u0924\u0947")
    found = trietok.verify(
        BertTokenizer(path, strip_accents=False),
        trietok.lock(BertTokenizer(path), ["\u0924\u0947"]),
    )
    assert why(found, 1).startswith(
        "accents stripped (NFD): the lock looks up “\u0924”, trietok “\u0924\u0947”"
    )


def test_the_reason_that_only_the_tokenizer_json_shows(model):
    pytest.importorskip("tokenizers")
    BertTokenizer.from_pretrained(model).save_pretrained(model, tokenizer_json=True)
    change_json(model, lambda values: values["model"].update(max_input_chars_per_word=4))
    found = trietok.verify("tokenizers", model / "lock.json", model=model)
    assert (
        why(found, 1)
        == "WordPiece: the word is too long for tokenizers (tokenizers does as trietok with the"
        " model's files in the fast profile)"
    )


def test_a_token_that_holds_the_words_of_a_reason_is_left_as_it_is(vocab_file):
    path = vocab_file("x", "##y")
    tokenizer = BertTokenizer(path)
    tokenizer.add_tokens(["the left hand"])
    slow = tokenizer.explain("the left hand")
    plain = BertTokenizer(path).explain("the left hand")
    assert [
        part.why for part in slow.against(plain, names=("one", "the other")).parts if part.differs
    ] == ["added tokens cut out: one finds the added token the left hand, the other does not"]


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

    assert (
        trietok.verify(Other({}), model / "lock.json").summary
        == "Other: 4 texts and 16 ids are as locked"
    )
    found = trietok.verify(Other({"hello world": [2, 5]}), model / "lock.json")
    assert [each[:4] for each in found.changed_texts] == [(1, "hello world", [2, 5, 6, 3], [2, 5])]
    tokenizers = pytest.importorskip("tokenizers")
    BertTokenizerFast.from_pretrained(model).save_pretrained(model)
    rust = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    found = trietok.verify(rust, trietok.lock(BertTokenizerFast.from_pretrained(model), TEXTS))
    assert str(found) == f"Tokenizer {tokenizers.__version__}: 4 texts and 15 ids are as locked"
    with pytest.raises(InputTypeError, match="verify takes a tokenizer or the name of an engine"):
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
    assert found.summary == "Other: 4 texts, 16 ids and 5 special ids are as locked"
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

    with pytest.raises(
        InputTypeError,
        match=r"encode gave .* for text 1; verify takes an object whose encode\(text\)",
    ):
        trietok.verify(Other(), model / "lock.json")


# ---- other libraries -----------------------------------------------------------------------------


def test_a_library_in_a_process_of_its_own(packages, model):
    write_flash(packages)
    found = trietok.verify("flash-tokenizer", model / "lock.json")
    assert str(found) == "flash-tokenizer 9.9: 4 texts, 16 ids and 5 special ids are as locked"
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
    assert (
        why(found, 4)
        == "cleaned: the lock deletes U+0378 <reserved-0378>, flash-tokenizer does not"
        " (flash-tokenizer does as trietok with the fast profile)"
    )


def test_a_library_that_does_what_nobody_does(packages, model):
    write_flash(
        packages, "def answer(text, ids): return [2, 7, 8, 3] if text == 'hello world' else ids"
    )
    found = trietok.verify("flash-tokenizer", model / "lock.json")
    assert why(found, 1) == "the reason is not known"


def test_libraries_that_cannot_be_asked(packages, model):
    write_package(
        packages, "flash_tokenizer", "raise ModuleNotFoundError('no', name='flash_tokenizer')"
    )
    with pytest.raises(
        MissingDependencyError,
        match=r"^flash-tokenizer is not installed: pip install flash-tokenizer$",
    ):
        trietok.verify("flash-tokenizer", model / "lock.json")
    shutil.rmtree(packages / "flash_tokenizer")
    write_flash(packages, "def answer(text, ids): return 1 / 0 if text == 'Hello café' else ids")
    with pytest.raises(
        InputError, match=r"flash-tokenizer 9.9: cannot encode text 2: ZeroDivisionError"
    ):
        trietok.verify("flash-tokenizer", model / "lock.json")
    with pytest.raises(InputError, match=r"tokenizers: the model has no tokenizer.json"):
        trietok.verify("tokenizers", model / "lock.json")
    pytest.importorskip("tokenizers")
    with pytest.raises(
        InputError, match=r"the model has no tokenizer.json: it is the file .*; name the dir.*: -m "
    ):
        trietok.verify("tokenizers", model / "lock.json", model=model / "vocab.txt")
    with pytest.raises(
        InputError, match="there is no engine 'rust'; there are transformers, transformers-slow"
    ):
        trietok.verify("rust", model / "lock.json")


@pytest.mark.engines
def test_a_planted_change_is_caught_in_transformers(model, vocab_file):
    pytest.importorskip("transformers")
    vocab_file("hello", "mars", *WORDS[2:])
    found = trietok.verify("transformers", model / "lock.json")
    assert [each.number for each in found.changed_texts] == [1]
    assert found.changed_texts[0].tokens == ["[CLS]", "hello", "[UNK]", "[SEP]"]
    assert why(found, 1) == "vocabulary: the lock has the token “world”, which is no token here now"


def test_a_planted_normalizer_is_caught_in_tokenizers(model):
    pytest.importorskip("tokenizers")
    tokenizer = BertTokenizerFast.from_pretrained(model)
    tokenizer.save_pretrained(model)
    trietok.lock(tokenizer, TEXTS).save(model / "lock.json")
    assert trietok.verify("tokenizers", model / "lock.json", model=model).ok
    change_json(model, lambda values: values["normalizer"].update(strip_accents=False))
    found = trietok.verify("tokenizers", model / "lock.json", model=model)
    assert (
        why(found, 2)
        == "accents stripped (NFD): the lock looks up “cafe”, tokenizers “café” (tokenizers does as"
        " trietok with strip_accents=False)"
    )


def test_a_tokenizer_json_that_cuts_and_pads_texts(model):
    pytest.importorskip("tokenizers")
    BertTokenizerFast.from_pretrained(model).save_pretrained(model)
    lock = trietok.lock(BertTokenizerFast.from_pretrained(model), ["hello", "hello world hello"])

    def found(longest):
        rule = {
            "direction": "Right",
            "max_length": longest,
            "strategy": "LongestFirst",
            "stride": 0,
        }
        change_json(model, lambda values: values.update(truncation=rule))
        return trietok.verify("tokenizers", lock, model=model)

    assert (found(4).ok, found(4).truncates_to, found(4).truncated) == (False, 4, 1)
    assert (
        str(found(4)).split("\n")[1]
        == "tokenizer.json cuts texts to 4 tokens, which the lock's ids do not show; 1 of the texts"
        " is longer"
    )
    assert found(4).summary.endswith("the ids of 2 texts are as locked, but 1 would be cut")
    assert (found(5).ok, found(5).truncated) == (True, 0)
    assert str(found(5)).endswith("do not show; 0 of the texts are longer")
    padding = {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None}
    change_json(
        model,
        lambda values: values.update(
            truncation=None,
            padding={**padding, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        ),
    )
    padded = trietok.verify("tokenizers", lock, model=model)
    assert (padded.ok, padded.pads, padded.truncates_to) == (True, True, None)
    assert str(padded).endswith("tokenizer.json pads texts, which the lock's ids do not show")


TRANSFORMERS = """
    import trietok
    __version__ = "9.9"

    class BertTokenizer:
        @classmethod
        def from_pretrained(cls, directory):
            tokenizer = trietok.BertTokenizer.from_pretrained(directory)
            tokenizer.mask_token = "hello"
            return tokenizer
"""


def test_a_role_that_another_token_plays_in_a_library(packages, model):
    write_package(packages, "transformers", TRANSFORMERS)
    found = trietok.verify("transformers", model / "lock.json")
    assert (found.ok, found.differing, found.changed_special) == (
        False,
        0,
        {"mask_token": (("[MASK]", 4), ("hello", 5))},
    )


@pytest.mark.engines
@pytest.mark.parametrize("engine", ["transformers", "transformers-fast"])
def test_a_role_that_another_token_plays_in_transformers(model, engine):
    pytest.importorskip("transformers")
    lock = trietok.lock(BertTokenizerFast.from_pretrained(model), ["hello world"])
    assert trietok.verify(engine, lock, model=model).ok
    (model / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "mask_token": "hello"}'
    )
    found = trietok.verify(engine, lock, model=model)
    assert found.changed_special["mask_token"] == (("[MASK]", 4), ("hello", 5))


@pytest.mark.engines
@pytest.mark.parametrize(
    ("engine", "package", "profile"),
    [
        ("transformers", "transformers", BertTokenizerFast),
        ("transformers-slow", "transformers", BertTokenizer),
        ("transformers-fast", "transformers", BertTokenizerFast),
        ("tokenizers", "tokenizers", BertTokenizerFast),
        ("flash-tokenizer", "flash_tokenizer", BertTokenizer),
    ],
)
def test_the_libraries_themselves(tmp_path, engine, package, profile):
    pytest.importorskip(package)
    model = str(tmp_path / "model")
    profile.from_pretrained("trietok-en").save_pretrained(model)
    lock = trietok.lock(profile.from_pretrained(model))
    assert lock.versions["trietok"] == trietok.__version__
    found = trietok.verify(engine, lock)
    assert found.ok or engine == "flash-tokenizer", str(found)
    assert found.version
