"""Fingerprints and comparisons."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest

from tests.cli.commands import ROOT
from tests.vocabulary.parts import WORDS, parts, reloaded
from trietok import (
    AddedToken,
    BertTokenizer,
    InputTypeError,
    PreTrainedTokenizer,
    compare,
    google_bert,
)

# Kept by users with what they have encoded. It may change only together with the built-in
# vocabulary, or with the number in front, of which the changelog says so.
GOLDEN = "trietok-1:3bbfc06f5f08c153b647fe0da7f8f4b56b2ead8424b0f9aef7786dabdbd86f9c"


def test_the_built_in_vocabulary_has_the_fingerprint_it_had(english):
    assert english.fingerprint() == GOLDEN


# ---- one difference at a time --------------------------------------------------------------------


class Other(BertTokenizer):
    pass


def set_stage(stage, name, value):
    return lambda new: setattr(getattr(new, stage), name, value)


ADDED = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), (None, False))
SETTINGS = [
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
]
# name: how the second of two equal tokenizers is made (words, options) and changed, what is found
DIFFERENCES = {
    "moved ids": (
        {"words": ("abc", "ab", *WORDS[2:])},
        {"moved": {"ab": (5, 6), "abc": (6, 5)}},
    ),
    "an added token": ({"change": lambda new: new.add_tokens(["<y>"])}, {"gained": {"<y>": 18}}),
    "a lost entry": ({"words": WORDS[:-1]}, {"lost": {"Q": 17}}),
    "a slot": (
        {"change": lambda new: new.assign_unused("[unused1]", "<y>")},
        {
            "gained": {"<y>": 12},
            "lost": {"[unused1]": 12},
            "roles": {"additional_special_tokens": (None, ["<y>"])},
        },
    ),
    "an entry that becomes an added token": (
        {"change": lambda new: new.add_tokens(["x"])},
        {"flags": {"x": {"added": (False, True), "normalized": (None, True), **ADDED}}},
    ),
    "a role": (
        {"change": lambda new: setattr(new, "bos_token", "[CLS]")},
        {"roles": {"bos_token": (None, "[CLS]")}},
    ),
    **{
        f"the option {options}": ({"options": options}, {"settings": changed})
        for options, changed in SETTINGS
    },
    "max_input_chars_per_word": (
        {"change": set_stage("wordpiece_tokenizer", "max_input_chars_per_word", 2)},
        {"settings": {"max_input_chars_per_word": (100, 2)}},
    ),
    "unk_token of a stage": (
        {"change": set_stage("wordpiece_tokenizer", "unk_token", "x")},
        {"settings": {"wordpiece_tokenizer.unk_token": ...}},
    ),
    "continuing_subword_prefix": (
        {"change": set_stage("wordpiece_tokenizer", "continuing_subword_prefix", "@@")},
        {"settings": {"continuing_subword_prefix": ("##", "@@")}},
    ),
    "a vocabulary of a stage": (
        {"change": set_stage("wordpiece_tokenizer", "vocab", {"x": 9})},
        {"settings": {"wordpiece_tokenizer.vocab": ...}},
    ),
    "do_split_on_punc": (
        {"change": set_stage("basic_tokenizer", "do_split_on_punc", False)},
        {"settings": {"do_split_on_punc": (True, False)}},
    ),
    "never_split of a stage": (
        {"change": set_stage("basic_tokenizer", "never_split", {"a.b"})},
        {"settings": {"never_split": ...}},
    ),
    "a class": ({"kind": Other}, {"settings": {"class": ("BertTokenizer", "Other")}}),
}  # fmt: skip


def check_different(old, new, found, texts=None):
    """The comparison of two tokenizers, which finds this and nothing else."""
    comparison = compare(old, new, texts)
    assert not comparison.same_ids
    assert comparison.fingerprints == (old.fingerprint(), new.fingerprint())
    assert len(set(comparison.fingerprints)) == 2
    differences = parts(comparison)
    if ... in found.get("settings", {}).values():
        assert differences.keys() == found.keys()
        assert comparison.settings.keys() == found["settings"].keys()
    else:
        assert differences == found
    json.dumps(comparison.to_dict())
    assert comparison.sections()
    return comparison


@pytest.mark.parametrize("name", DIFFERENCES)
def test_one_difference_is_found_and_no_other(vocab_file, name):
    made, found = DIFFERENCES[name]
    old = BertTokenizer(vocab_file(*WORDS))
    kind = made.get("kind", BertTokenizer)
    new = kind(vocab_file(*made.get("words", WORDS), name="new.txt"), **made.get("options", {}))
    made.get("change", id)(new)
    comparison = check_different(old, new, found)
    assert comparison.examples or "options" not in made  # the texts of the sample show options
    assert reloaded(old).fingerprint() == old.fingerprint()


@pytest.mark.parametrize("flag", ["single_word", "lstrip", "rstrip", "normalized", "special"])
def test_a_comparison_names_each_changed_flag_of_an_added_token(small, flag):
    old, new = small(*WORDS), small(*WORDS)
    old.add_tokens([AddedToken("<y>", normalized=False)])
    new.add_tokens([AddedToken("<y>", **{"normalized": False, flag: True})])
    new.additional_special_tokens = []
    comparison = check_different(old, new, {"flags": {"<y>": {flag: (False, True)}}})
    assert f"'<y>': {flag}=False -> {flag}=True" in str(comparison)


def test_an_added_token_that_becomes_an_entry(small):
    old, new = small("a"), small("a", "b")
    old.add_tokens(["b"])
    new.add_tokens(["b"])
    check_different(old, new, {"flags": {"b": {"vocabulary": (False, True)}}}, [])


def test_a_comparison_finds_another_order_of_tokens_that_decides_ids(small):
    # Where two begin at one character the first is kept from lower-casing, not the longest.
    old, new = small(*WORDS), small(*WORDS)
    for tokenizer, order in ((old, ["AB", "ABX"]), (new, ["ABX", "AB"])):
        tokenizer.added_tokens_decoder = {
            18 + len(token): AddedToken(token, normalized=False) for token in order
        }
    assert old.encode("ABX") != new.encode("ABX")
    check_different(old, new, {"flags": {"ABX": {"kept_from_lower_casing": (False, True)}}})
    old, new = small(*WORDS), small(*WORDS)
    for tokenizer in (old, new):
        tokenizer.add_tokens(["<y>", "<z>"], special_tokens=True)
    new.additional_special_tokens = ["<z>", "<y>"]
    roles = {"additional_special_tokens": (["<y>", "<z>"], ["<z>", "<y>"])}
    check_different(old, new, {"roles": roles})


def test_duplicates_and_holes(small, tmp_path):
    old, new = small("a", "b", "a"), small("b", "b", "a")
    check_different(old, new, {"duplicates": {"a": ([5, 7], [7]), "b": ([6], [5, 6])}})
    old.save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n\nb\na\n")
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "trietok": {"vocab_holes": [5]}}))
    holed = BertTokenizer.from_pretrained(tmp_path)
    found = {"duplicates": {"a": ([5, 7], [7])}, "holes": ([], [(5, 5)])}
    assert "5: hole" in str(check_different(old, holed, found))


# ---- no difference -------------------------------------------------------------------------------


def test_equal_tokenizers_have_no_differences(small):
    comparison = compare(small(*WORDS), small(*WORDS))
    assert comparison.same_ids
    assert (parts(comparison), comparison.sections()) == ({}, [])
    assert (comparison.differing, comparison.examples) == (0, [])
    assert comparison.texts > 30
    assert str(comparison).startswith("the ids are the same\n")


@pytest.mark.parametrize(
    "options",
    [
        {"padding_side": "left", "truncation_side": "left", "model_max_length": 7},
        {"clean_up_tokenization_spaces": False, "model_input_names": ["input_ids"]},
        {"strip_accents": True, "verbose": True, "a_keyword_that_nothing_knows": 1},
        {"name_or_path": "other", "chat_template": "x"},
    ],
    ids=str,
)
def test_what_decides_no_id_does_not_count(small, options):
    assert compare(small(*WORDS), small(*WORDS, **options)).same_ids


def test_a_token_added_and_removed_changes_only_the_sizes_of_a_comparison(small):
    old, new = small(*WORDS), small(*WORDS)
    new.add_tokens(["<y>"])
    new.remove_tokens(["<y>"])
    comparison = compare(old, new)
    assert comparison.same_ids
    assert comparison.sizes["max_id"] == (17, 18)
    assert [section.title for section in comparison.sections()] == ["sizes (1)"]


# ---- the fingerprint -----------------------------------------------------------------------------


def test_every_process_and_order_of_a_config_gives_one_fingerprint(tmp_path, small):
    extra = {"z_token": "<z>", "a_token": "<a>"}
    tokenizer = small(*WORDS, never_split=["x.", "y.", "z."], extra_special_tokens=extra)
    tokenizer.add_tokens(["<y>", AddedToken("東京", lstrip=True), "É"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<s>", "<t>"], "bos_token": "<b>"})
    tokenizer.save_pretrained(tmp_path / "saved")
    (tmp_path / "tokenizer.pickle").write_bytes(pickle.dumps(tokenizer))
    code = (
        "import pickle, sys, trietok\n"
        "print(trietok.BertTokenizer.from_pretrained(sys.argv[1]).fingerprint())\n"
        "print(pickle.load(open(sys.argv[2], 'rb')).fingerprint())"
    )
    for seed in ("0", "4711"):
        command = [sys.executable, "-c", code, tmp_path / "saved", tmp_path / "tokenizer.pickle"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        printed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        assert printed.decode().split() == [tokenizer.fingerprint()] * 2
    path = tmp_path / "saved" / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["added_tokens_decoder"] = dict(reversed(config["added_tokens_decoder"].items()))
    path.write_text(json.dumps(dict(reversed(config.items()))))
    again = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert again.fingerprint() == tokenizer.fingerprint()


def test_tokens_that_could_run_together_have_other_fingerprints(small):
    hard = [("b", "c"), ("bc",), ('b","c',), ('b"', "c"), ("b\\", "c"), ("b,c",), ("b\x00c",)]
    hard += [("b", "[8", "c"), ()]
    fingerprints = set()
    for tokens in hard:
        tokenizer = small("a")
        tokenizer.add_tokens(list(tokens))
        fingerprints.add(tokenizer.fingerprint())
    assert len(fingerprints) == len(hard)


class Letters(PreTrainedTokenizer):
    def __init__(self, letters="ab", options=None, **kwargs):
        self.letters = letters
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


def test_a_tokenizer_of_the_users_own_has_a_fingerprint():
    letters = Letters()
    assert compare(letters, Letters()).same_ids
    assert compare(letters, Letters(letters="abc")).settings == {"letters": ("ab", "abc")}
    changed = compare(letters, Letters(options={"x": (1, 2)})).settings
    assert changed == {"options": (None, {"x": [1, 2]})}
    assert compare(Letters(options={1, 2}), Letters(options=[1, 2])).same_ids
    # A token of one's own may be half of a surrogate pair; two halves are not the character.
    tokens = ("\ud83d\ude00", "😀", "\ud83d", "\ude00")
    assert len({Letters(letters=[token]).fingerprint() for token in tokens}) == 4


@pytest.mark.parametrize(
    "value", [None, "trietok-en", {"a": 0}, google_bert.WordpieceTokenizer({"[UNK]": 0})]
)
def test_what_is_no_tokenizer_has_no_fingerprint(value, english):
    with pytest.raises(InputTypeError):
        compare(english, value)


# ---- counts and texts ----------------------------------------------------------------------------


def test_the_proof_counts_the_ids_that_stay_move_come_and_go(small):
    old, new = small("a", "b", "c", "d"), small("b", "a", "c")  # after five special tokens
    new.add_tokens(["x", "y"])
    comparison = compare(old, new)
    assert comparison.id_counts == (6, 2, 1, 2)
    assert comparison.sizes == {"len": (9, 10), "max_id": (8, 9), "vocab_size": (9, 8)}
    assert comparison.proof.startswith("6 ids unchanged, 2 moved, 1 lost, 2 new")
    assert comparison.proof in str(comparison)
    values = comparison.to_dict()
    assert values["id_counts"] == {"unchanged": 6, "moved": 2, "lost": 1, "new": 2}
    assert values["unchanged"] == 6


def test_the_callers_texts_are_encoded_with_both(small):
    old, new = small("a"), small("a", "b")
    comparison = compare(old, new, iter(["a", "b", "a b", "c"]))
    assert (comparison.texts, comparison.differing) == (4, 2)
    assert [(each.text, each.old_tokens, each.new_ids) for each in comparison.examples] == [
        ("b", ["[CLS]", "[UNK]", "[SEP]"], [2, 6, 3]),
        ("a b", ["[CLS]", "a", "[UNK]", "[SEP]"], [2, 5, 6, 3]),
    ]
    moved = compare(small("ab", "c"), small("c", "ab"), ["ab c"])
    assert "[CLS]=2 ab=5 c=6 [SEP]=3" in str(moved)  # with ids where the tokens are the same
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
