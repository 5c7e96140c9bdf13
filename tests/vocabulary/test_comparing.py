"""Fingerprints and comparisons."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

from tests.vocabulary.parts import WORDS, parts, reloaded
from trietok import (
    AddedToken,
    BertTokenizer,
    InputTypeError,
    PreTrainedTokenizer,
    compare,
    google_bert,
)
from trietok.workbench.comparing.compare import Comparison

ROOT = pathlib.Path(__file__).parents[2]

# Kept by users beside what they have encoded. It may change only together with the built-in
# vocabulary, or with the number in front: then trietok.tokenizer.fingerprint.FORMAT goes up, and
# the changelog says so.
GOLDEN = "trietok-1:3bbfc06f5f08c153b647fe0da7f8f4b56b2ead8424b0f9aef7786dabdbd86f9c"

# ---- one difference at a time --------------------------------------------------------------------


def test_the_built_in_vocabulary_has_the_fingerprint_it_had(english):
    assert english.fingerprint() == GOLDEN


def test_equal_tokenizers(small):
    a, b = small(*WORDS), small(*WORDS)
    comparison = compare(a, b)
    assert comparison.same_ids
    assert parts(comparison) == {}
    assert (comparison.differing, comparison.examples) == (0, [])
    assert comparison.texts > 30
    assert [section.title for section in comparison.sections()] == []
    assert str(comparison).startswith("the ids are the same\n")


def planted(vocab_file, change, *, options=None, words=WORDS) -> Comparison:
    """The comparison of a tokenizer with a changed one; the change goes for the words, the options
    or the tokenizer.
    """
    old = BertTokenizer(vocab_file(*WORDS))
    new = BertTokenizer(vocab_file(*words, name="new.txt"), **(options or {}))
    change(new)
    comparison = compare(old, new)
    assert not comparison.same_ids
    assert comparison.fingerprints[0] != comparison.fingerprints[1]
    assert reloaded(old).fingerprint() == comparison.fingerprints[0]
    json.dumps(comparison.to_dict())
    assert comparison.sections()
    return comparison


def nothing(tokenizer):
    pass


def test_how_many_ids_stay(small):
    # five special tokens are before them
    old, new = (
        small("a", "b", "c", "d"),
        small("b", "a", "c"),
    )
    new.add_tokens(["x", "y"])
    comparison = compare(old, new)
    assert comparison.id_counts == (6, 2, 1, 2)
    assert comparison.proof.startswith("6 ids unchanged, 2 moved, 1 lost, 2 new")
    assert comparison.proof in str(comparison)
    assert comparison.to_dict()["id_counts"] == {"unchanged": 6, "moved": 2, "lost": 1, "new": 2}
    assert comparison.to_dict()["unchanged"] == 6


def test_moved_ids(vocab_file):
    comparison = planted(vocab_file, nothing, words=("abc", "ab", *WORDS[2:]))
    assert parts(comparison) == {"moved": {"ab": (5, 6), "abc": (6, 5)}}
    assert comparison.examples[0].text == "ab abc"
    assert comparison.examples[0].old_tokens == comparison.examples[0].new_tokens
    assert "[CLS]=2 ab=5 abc=6 [SEP]=3" in str(comparison)


def test_gained_and_lost_tokens(vocab_file):
    gained = planted(vocab_file, lambda new: new.add_tokens(["<y>"]))
    assert parts(gained) == {"gained": {"<y>": 18}}
    assert gained.sizes == {"vocab_size": (18, 18), "len": (18, 19), "max_id": (17, 18)}
    lost = planted(vocab_file, nothing, words=WORDS[:-1])
    assert parts(lost) == {"lost": {"Q": 17}}
    replaced = planted(vocab_file, lambda new: new.assign_unused("[unused1]", "<y>"))
    assert parts(replaced) == {
        "gained": {"<y>": 12},
        "lost": {"[unused1]": 12},
        "roles": {"additional_special_tokens": (None, ["<y>"])},
    }


@pytest.mark.parametrize("flag", ["single_word", "lstrip", "rstrip", "normalized", "special"])
def test_flags(small, flag):
    old, new = small(*WORDS), small(*WORDS)
    old.add_tokens([AddedToken("<y>", normalized=False)])
    new.add_tokens([AddedToken("<y>", **{"normalized": False, flag: True})])
    new.additional_special_tokens = []
    comparison = compare(old, new)
    assert parts(comparison) == {"flags": {"<y>": {flag: (False, True)}}}
    assert comparison.fingerprints[0] != comparison.fingerprints[1]
    assert f"'<y>': {flag}=False -> {flag}=True" in str(comparison)


def test_an_entry_becomes_an_added_token(vocab_file):
    comparison = planted(vocab_file, lambda new: new.add_tokens(["x"]))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), (None, False))
    assert parts(comparison) == {
        "flags": {"x": {"added": (False, True), "normalized": (None, True), **flags}}
    }
    assert comparison.examples
    assert "'x': a plain entry -> added, normalized" in str(comparison)


def test_an_added_token_becomes_an_entry(small):
    old, new = small("a"), small("a", "b")
    old.add_tokens(["b"])
    new.add_tokens(["b"])
    assert parts(compare(old, new)) == {"flags": {"b": {"vocabulary": (False, True)}}}
    assert not compare(old, new, []).same_ids


def test_what_the_order_of_tokens_decides(small):
    # Where two begin at one character the first is kept from lower-casing, not the longest.
    old, new = small(*WORDS), small(*WORDS)
    for tokenizer, order in ((old, ["AB", "ABX"]), (new, ["ABX", "AB"])):
        tokenizer.added_tokens_decoder = {
            18 + len(token): AddedToken(token, normalized=False) for token in order
        }
    comparison = compare(old, new)
    assert old.encode("ABX") != new.encode("ABX")
    assert parts(comparison) == {"flags": {"ABX": {"kept_from_lower_casing": (False, True)}}}
    assert comparison.fingerprints[0] != comparison.fingerprints[1]


def test_roles(vocab_file):
    def give(new):
        new.bos_token = "[CLS]"

    assert parts(planted(vocab_file, give)) == {"roles": {"bos_token": (None, "[CLS]")}}


def test_the_order_of_additional_special_tokens(small):
    old, new = small(*WORDS), small(*WORDS)
    for tokenizer in (old, new):
        tokenizer.add_tokens(["<y>", "<z>"], special_tokens=True)
    new.additional_special_tokens = ["<z>", "<y>"]
    assert parts(compare(old, new)) == {
        "roles": {"additional_special_tokens": (["<y>", "<z>"], ["<z>", "<y>"])}
    }


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"strip_accents": False}, {"strip_accents": (True, False)}),
        ({"do_lower_case": False, "strip_accents": True}, {"do_lower_case": (True, False)}),
        (
            {"do_lower_case": False},
            {"do_lower_case": (True, False), "strip_accents": (True, False)},
        ),
        ({"tokenize_chinese_chars": False}, {"tokenize_chinese_chars": (True, False)}),
        ({"never_split": ["x.", "a.b"]}, {"never_split": ([], ["a.b", "x."])}),
        ({"split_special_tokens": True}, {"split_special_tokens": (False, True)}),
        (
            {"do_basic_tokenize": False},
            {"do_basic_tokenize": (True, False), "do_lower_case": (True, False)},
        ),
    ],
)
def test_settings(vocab_file, options, changed):
    comparison = planted(vocab_file, nothing, options=options)
    assert parts(comparison) == {"settings": changed}
    assert comparison.examples


@pytest.mark.parametrize(
    ("stage", "name", "value", "key"),
    [
        ("wordpiece_tokenizer", "max_input_chars_per_word", 2, "max_input_chars_per_word"),
        ("wordpiece_tokenizer", "unk_token", "x", "wordpiece_tokenizer.unk_token"),
        ("wordpiece_tokenizer", "continuing_subword_prefix", "@@", "continuing_subword_prefix"),
        ("wordpiece_tokenizer", "vocab", {"x": 9}, "wordpiece_tokenizer.vocab"),
        ("basic_tokenizer", "do_split_on_punc", False, "do_split_on_punc"),
        ("basic_tokenizer", "never_split", {"a.b"}, "never_split"),
    ],
)
def test_settings_of_the_stages(vocab_file, stage, name, value, key):
    comparison = planted(vocab_file, lambda new: setattr(getattr(new, stage), name, value))
    assert list(parts(comparison)) == ["settings"]
    assert list(comparison.settings) == [key]


def test_another_class(vocab_file):
    class Other(BertTokenizer):
        pass

    old, new = BertTokenizer(vocab_file(*WORDS)), Other(vocab_file(*WORDS))
    changed = compare(old, new).settings
    assert changed["class"] == ("BertTokenizer", "Other")
    assert not compare(old, new).same_ids


def test_duplicates_and_holes(small, tmp_path):
    old, new = small("a", "b", "a"), small("b", "b", "a")
    assert parts(compare(old, new)) == {"duplicates": {"a": ([5, 7], [7]), "b": ([6], [5, 6])}}
    (tmp_path / "holed").mkdir()
    old.save_pretrained(tmp_path / "holed")
    config = json.loads((tmp_path / "holed" / "tokenizer_config.json").read_text())
    (tmp_path / "holed" / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n\nb\na\n")
    (tmp_path / "holed" / "tokenizer_config.json").write_text(
        json.dumps({**config, "trietok": {"vocab_holes": [5]}})
    )
    holed = BertTokenizer.from_pretrained(tmp_path / "holed")
    assert parts(compare(old, holed)) == {
        "duplicates": {"a": ([5, 7], [7])},
        "holes": ([], [(5, 5)]),
    }
    assert "5: hole" in str(compare(old, holed))


def test_what_decides_no_id_does_not_count(small):
    old = small(*WORDS)
    sides = {"padding_side": "left", "truncation_side": "left", "model_max_length": 7}
    outputs = {"clean_up_tokenization_spaces": False, "model_input_names": ["input_ids"]}
    for options in (
        {**sides, "name_or_path": "other"},
        {**outputs, "chat_template": "x"},
        {"strip_accents": True, "verbose": True, "a_keyword_that_nothing_knows": 1},
    ):
        assert compare(old, small(*WORDS, **options)).same_ids


def test_a_token_that_came_and_went_counts_for_the_sizes_only(small):
    old, new = small(*WORDS), small(*WORDS)
    new.add_tokens(["<y>"])
    new.remove_tokens(["<y>"])
    comparison = compare(old, new)
    assert comparison.same_ids
    assert comparison.sizes["max_id"] == (17, 18)
    assert [section.title for section in comparison.sections()] == ["sizes (1)"]


# ---- the fingerprint -----------------------------------------------------------------------------


def test_every_process_gives_one_fingerprint(tmp_path, small):
    tokenizer = small(*WORDS, never_split=["x.", "y.", "z."])
    tokenizer.add_tokens(["<y>", AddedToken("東京", lstrip=True), "É"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<s>", "<t>"], "bos_token": "<b>"})
    tokenizer.save_pretrained(tmp_path / "saved")
    (tmp_path / "tokenizer.pickle").write_bytes(pickle.dumps(tokenizer))
    code = (
        "import pickle, sys, trietok\n"
        "print(trietok.BertTokenizer.from_pretrained(sys.argv[1]).fingerprint())\n"
        "print(pickle.load(open(sys.argv[2], 'rb')).fingerprint())"
    )
    printed = set()
    for seed in ("0", "1", "4711"):
        command = [sys.executable, "-c", code, tmp_path / "saved", tmp_path / "tokenizer.pickle"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        printed |= set(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout.split()
        )
    assert {line.decode() for line in printed} == {tokenizer.fingerprint()}


def test_the_order_of_a_config_does_not_count(tmp_path, small):
    tokenizer = small(*WORDS, extra_special_tokens={"z_token": "<z>", "a_token": "<a>"})
    tokenizer.add_tokens(["<y>", "<w>"])
    tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["added_tokens_decoder"] = dict(reversed(config["added_tokens_decoder"].items()))
    path.write_text(json.dumps(dict(reversed(config.items()))))
    assert BertTokenizer.from_pretrained(tmp_path).fingerprint() == tokenizer.fingerprint()


def test_tokens_that_could_run_together(small):
    def line(*tokens):
        tokenizer = small("a")
        tokenizer.add_tokens(list(tokens))
        return tokenizer.fingerprint()

    hard = [("b", "c"), ("bc",), ('b","c',), ('b"', "c"), ("b\\", "c"), ("b,c",), ("b\x00c",)]
    hard += [("b", "[8", "c"), ()]
    assert len({line(*tokens) for tokens in hard}) == len(hard)


class Letters(PreTrainedTokenizer):
    vocab_files_names = {"letters_file": "letters.json"}

    def __init__(self, letters_file=None, letters="ab", options=None, **kwargs):
        self.letters = (
            json.loads(pathlib.Path(letters_file).read_text()) if letters_file else letters
        )
        super().__init__(letters=letters, options=options, **{"unk_token": "<unk>", **kwargs})

    @property
    def vocab_size(self):
        return len(self.letters)

    def get_vocab(self):
        return {**{letter: i for i, letter in enumerate(self.letters)}, **self.added_tokens_encoder}

    def _tokenize(self, text, **kwargs):
        return list(text)

    def _convert_token_to_id(self, token):
        return self.get_vocab().get(token, 0)

    def _convert_id_to_token(self, index):
        return self.letters[index]

    def save_vocabulary(self, save_directory, filename_prefix=None):
        path = pathlib.Path(save_directory, "letters.json")
        path.write_text(json.dumps(self.letters))
        return (str(path),)


def test_a_tokenizer_of_the_users_own():
    letters = Letters()
    assert reloaded(letters).fingerprint() == letters.fingerprint()
    assert compare(letters, Letters()).same_ids
    assert compare(letters, Letters(letters="abc")).settings == {"letters": ("ab", "abc")}
    assert compare(letters, Letters(options={"x": (1, 2)})).settings == {
        "options": (None, {"x": [1, 2]})
    }
    assert compare(Letters(options={1, 2}), Letters(options=[1, 2])).same_ids
    # A token of one's own may be half of a surrogate pair; two halves are not the character.
    assert Letters(letters=["\ud83d\ude00"]).fingerprint() != Letters(letters=["😀"]).fingerprint()
    assert Letters(letters=["\ud83d"]).fingerprint() != Letters(letters=["\ude00"]).fingerprint()


@pytest.mark.parametrize(
    "value", [None, "trietok-en", {"a": 0}, google_bert.WordpieceTokenizer({"[UNK]": 0})]
)
def test_what_has_no_fingerprint(value, english):
    with pytest.raises(InputTypeError):
        compare(english, value)


# ---- texts ---------------------------------------------------------------------------------------


def test_the_callers_texts(small):
    old, new = small("a"), small("a", "b")
    comparison = compare(old, new, iter(["a", "b", "a b", "c"]))
    assert (comparison.texts, comparison.differing) == (4, 2)
    assert [(e.text, e.old_tokens, e.new_ids) for e in comparison.examples] == [
        ("b", ["[CLS]", "[UNK]", "[SEP]"], [2, 6, 3]),
        ("a b", ["[CLS]", "a", "[UNK]", "[SEP]"], [2, 5, 6, 3]),
    ]
    with pytest.raises(InputTypeError):
        compare(old, new, "one text")


def test_code_that_differs_shows_in_the_texts(small, monkeypatch):
    old, new = small("a", "b"), small("a", "b")
    monkeypatch.setattr(new, "build_inputs_with_special_tokens", lambda ids, pair=None: ids)
    comparison = compare(old, new, ["a"])
    assert comparison.fingerprints[0] == comparison.fingerprints[1]
    assert not comparison.same_ids


def test_long_lists_are_cut_to_read_and_complete_in_the_dict(small):
    old, new = small("a"), small("a")
    new.add_tokens([f"<{number}>" for number in range(300)])
    comparison = compare(old, new)
    assert len(comparison.to_dict()["gained"]) == 300
    assert len(comparison.examples) == 100 < comparison.differing
    assert len(str(comparison).split("\n")) < 200


def test_nothing_in_a_report_moves_the_cursor(small):
    old, new = small("a"), small("a")
    new.add_tokens(["\x1b[2J\u2028\u202e"])
    assert all(line.isprintable() for line in str(compare(old, new)).split("\n"))
