"""`BertTokenizerFast`: the Rust profile by small named cases. `tests/parity/` compares it with the
library live.
"""

from __future__ import annotations

import copy
import json
import pickle
import random

import pytest

import trietok
from tests.conftest import often
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    NotSupportedError,
)

PAD, UNK, CLS, SEP, MASK, A, B, C = range(8)


@pytest.fixture
def fast(vocab_file):
    """A function that makes a `BertTokenizerFast` of the special tokens and these, with any
    options.
    """
    return lambda *tokens, **options: BertTokenizerFast(vocab_file(*tokens), **options)


@pytest.fixture
def abc(fast):
    return fast("a", "b", "c")


# ---- text to tokens ------------------------------------------------------------------------------


def test_a_call(abc):
    assert abc("A b", return_special_tokens_mask=True, return_offsets_mapping=True).data == {
        "input_ids": [CLS, A, B, SEP],
        "token_type_ids": [0] * 4,
        "attention_mask": [1] * 4,
        "special_tokens_mask": [1, 0, 0, 1],
        "offset_mapping": [(0, 0), (0, 1), (2, 3), (0, 0)],
    }
    assert (abc.num_special_tokens_to_add(), abc.num_special_tokens_to_add(pair=True)) == (2, 3)
    assert abc.is_fast
    assert abc("a").is_fast


@pytest.mark.parametrize(
    ("text", "cased", "want"),
    [
        ("e\u0301", True, ["e\u0301"]),  # nothing is composed
        ("é", True, ["é"]),
        ("É", False, ["e"]),
        ("a\x0bb", False, ["ab"]),
        ("a\u2028b", False, ["a", "b"]),
        ("a\u0378b", False, ["a\u0378b"]),  # unassigned: kept
        ("世界", False, ["世", "界"]),
        ("\U0002b820", False, ["\U0002b820"]),
        ("x\U0002b820", False, ["x\U0002b820"]),  # the Rust tokenizers leave it out of Chinese
        ("İ", False, ["i"]),
        ("ΟΔΟΣ", False, ["οδοσ"]),
        ("\u1fef", False, ["`"]),  # its decomposition is punctuation
    ],
)
def test_words(fast, text, cased, want):
    assert fast(*want, do_lower_case=not cased).tokenize(text) == want


def test_without_cleaning(fast):
    words = ["a", "b\x01c", "d\x1ce"]
    tokenizer = fast(*words)
    tokenizer.basic_tokenizer.clean_text = False
    assert tokenizer.tokenize("a\x0bb\x01c\nd\x1ce") == words


STRIDE = often(499, nightly=1)  # between the code points that are looked at


def test_ids_with_offsets_are_those_of_a_plain_call(fast):
    letters = "a b ##b ab 世 界 、 é e ##é x ##\u0378 ` . 一".split(" ")
    tokenizers = [
        fast(*letters, do_lower_case=lower, strip_accents=strip)
        for lower, strip in [(True, None), (False, None)]
    ]
    for code in range(random.randrange(STRIDE), 0x110000, STRIDE):
        char = chr(code)
        for text in (f"a{char}b", f"世{char}、a{char}", char):
            for tokenizer in tokenizers:
                ids = tokenizer(text, return_offsets_mapping=True).input_ids
                assert tokenizer.encode(text) == ids, (text, code)


def test_a_word_that_is_too_long(fast):
    tokenizer = fast("a", "##a")
    assert tokenizer.tokenize("a" * 100) == ["a", *["##a"] * 99]
    assert tokenizer.tokenize("a" * 101) == ["[UNK]"]


# ---- added tokens --------------------------------------------------------------------------------


def test_raw_tokens_come_first(fast):
    tokenizer = fast("a", "b", "new", "york")
    tokenizer.add_tokens(["New York", AddedToken("k a", normalized=False)])
    assert tokenizer.tokenize("new york a NEW YORK") == ["new", "[UNK]", "k a", "new york"]
    assert tokenizer("NEW  York b new york").input_ids[1:-1] == [7, 8, 6, 9]


def test_normalized_tokens_match_normalized_text(fast):
    tokenizer = fast("e", "x", "f")
    tokenizer.add_tokens(["É"])
    assert tokenizer.encode("e É xe", add_special_tokens=False) == [8, 8, 6, 8]
    assert tokenizer.convert_ids_to_tokens([8]) == ["É"]


def test_whitespace_belongs_to_the_token_that_takes_it(abc):
    abc.add_tokens([AddedToken("<m>", lstrip=True, rstrip=True)])
    encoding = abc("a  <m> \n b", return_offsets_mapping=True)
    assert encoding.offset_mapping[1:-1] == [(0, 1), (1, 9), (9, 10)]
    assert encoding.tokens()[2] == "  <m>   "
    assert encoding.word_ids()[1:-1] == [0, 1, 2]


def test_a_token_of_whitespace_that_another_has_eaten(abc):
    abc.add_tokens([AddedToken("<m>", rstrip=True), AddedToken("  ", lstrip=True)])
    # The Rust library stops with a panic here; a match of nothing counts for nothing.
    assert abc.encode("a<m>  b", add_special_tokens=False) == [A, 8, B]


def test_a_token_of_which_nothing_is_left_stands_nowhere(abc):
    abc.add_tokens(["\u0301"])
    assert abc.encode("a\u0301b", add_special_tokens=False) == [UNK]
    assert abc.decode([8]) == "\u0301"


def test_adding_again_changes_the_flags(abc):
    assert abc.add_tokens(["<m>", "<m>"]) == 1
    assert abc.add_tokens([AddedToken("<m>", lstrip=True)]) == 1
    assert abc.tokenize("a <m>") == ["a", " <m>"]
    assert abc.added_tokens_decoder[8].lstrip


def test_a_special_token_is_raw_unless_it_says_otherwise(abc):
    abc.add_tokens([AddedToken("<X>"), AddedToken("<Y>", normalized=True)], special_tokens=True)
    assert [abc.added_tokens_decoder[i].normalized for i in (8, 9)] == [False, True]
    assert abc.encode("<y>", add_special_tokens=False) == [9]


def test_removing(abc):
    abc.add_tokens(["<m>", "<n>"])
    abc.remove_tokens(["<m>"])
    assert abc.tokenize("<n>") == ["<n>"]
    assert abc.tokenize("<m>")[0] != "<m>"


# ---- rows ----------------------------------------------------------------------------------------


def test_what_does_not_fit_becomes_rows(abc):
    encoding = abc(
        ["a b c a b", "a"], truncation=True, max_length=5, stride=1, return_overflowing_tokens=True
    )
    assert encoding.input_ids == [[CLS, A, B, C, SEP], [CLS, C, A, B, SEP], [CLS, A, SEP]]
    assert encoding.overflow_to_sample_mapping == [0, 0, 1]
    assert encoding[0].overflowing == [encoding[1]]


def test_a_single_text_with_overflow_is_a_batch(abc):
    assert abc("a b", truncation=True, max_length=3, return_overflowing_tokens=True).input_ids == [
        [CLS, A, SEP],
        [CLS, B, SEP],
    ]


def test_words_are_texts_of_their_own(abc):
    encoding = abc(["a", "", "bc b"], ["c"], is_split_into_words=True, return_offsets_mapping=True)
    assert encoding.word_ids() == [None, 0, 2, 2, None, 0, None]
    assert encoding.offset_mapping[1:4] == [(0, 1), (0, 2), (3, 4)]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([],), {}),
        (("a b c",), {"truncation": "only_second", "max_length": 3}),
        (("a b c", "a b c"), {"truncation": "only_first", "max_length": 6}),
        (("a b c",), {"truncation": True, "max_length": 4, "stride": 2}),
        (("a b c",), {"truncation": True, "max_length": 1}),
        (("a", 3), {}),
    ],
)
def test_calls_that_cannot_be(abc, arguments, options):
    with pytest.raises(InputError):
        abc(*arguments, **options)


def test_two_strs_are_not_two_words(abc):
    """transformers' fast class takes a text and its pair for one text of two words."""
    with pytest.raises(InputError):
        abc("a", "b", is_split_into_words=True)


# ---- the object ----------------------------------------------------------------------------------


def test_no_backend(abc):
    with pytest.raises(NotSupportedError):
        abc.backend_tokenizer  # noqa: B018
    assert not hasattr(abc, "backend_tokenizer")


def test_half_of_a_surrogate_pair(abc):
    assert abc.encode("a \ud800 b") == [CLS, A, UNK, B, SEP]


def test_copies_are_alike(abc):
    abc.add_tokens(["É", AddedToken("<m>", special=True)])
    for other in (pickle.loads(pickle.dumps(abc)), copy.deepcopy(abc)):
        assert other.encode("E a<m>") == abc.encode("E a<m>")
        other.add_tokens(["bb"])
        assert abc.tokenize("bb") == ["[UNK]"]
        assert other.tokenize("bb") == ["bb"]


# ---- files ---------------------------------------------------------------------------------------


def test_a_directory_with_only_tokenizer_json(abc, tmp_path):
    abc.add_tokens(["New York"])
    abc.save_pretrained(tmp_path / "saved", legacy_format=False)
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    again = BertTokenizerFast.from_pretrained(tmp_path / "saved")
    assert again.encode("a new york") == abc.encode("a new york") == [CLS, A, 8, SEP]
    slow = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert slow.vocab == abc.vocab
    # the slow profile lower-cases the text, not the token
    assert slow.encode("a new york") != abc.encode("a new york")
    assert type(trietok.AutoTokenizer.from_pretrained(tmp_path / "saved")) is BertTokenizerFast


def test_legacy_format(abc, tmp_path):
    names = [path.rsplit("/", 1)[-1] for path in abc.save_pretrained(tmp_path / "both")]
    assert names == [
        "tokenizer_config.json",
        "special_tokens_map.json",
        "vocab.txt",
        "tokenizer.json",
    ]
    abc.save_pretrained(tmp_path / "both", legacy_format=True)
    assert not (tmp_path / "both" / "tokenizer.json").exists()


def test_the_files_template_stays(abc, tmp_path):
    abc.save_pretrained(tmp_path)
    again = BertTokenizerFast.from_pretrained(tmp_path, cls_token="a")
    assert again.cls_token_id == A
    assert again.encode("b") == [CLS, B, SEP]


@pytest.mark.parametrize("options", [{"legacy_format": True}, {"tokenizer_json": False}], ids=str)
def test_no_save_loses_the_files_template(abc, tmp_path, options):
    abc.save_pretrained(tmp_path / "model")
    again = BertTokenizerFast.from_pretrained(tmp_path / "model", cls_token="a")
    with pytest.raises(NotSupportedError):
        again.save_pretrained(tmp_path / "legacy", **options)
    assert not (tmp_path / "legacy").exists()
    again.save_pretrained(tmp_path / "whole")
    assert BertTokenizerFast.from_pretrained(tmp_path / "whole").encode("b") == [CLS, B, SEP]
    again.cls_token = "[CLS]"
    again.save_pretrained(tmp_path / "legacy", **options)
    assert BertTokenizerFast.from_pretrained(tmp_path / "legacy").encode("b") == [CLS, B, SEP]


def test_type_ids_of_the_template_count_as_well(abc, tmp_path):
    abc.save_pretrained(tmp_path / "model")
    file = json.loads((tmp_path / "model" / "tokenizer.json").read_text())
    file["post_processor"]["pair"][3]["Sequence"]["type_id"] = 0
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(file))
    again = BertTokenizerFast.from_pretrained(tmp_path / "model")
    with pytest.raises(NotSupportedError):
        again.save_pretrained(tmp_path / "legacy", legacy_format=True)


def test_no_calls_settings_are_saved(abc, tmp_path):
    abc("a", padding="max_length", max_length=6, truncation=True)
    abc.save_pretrained(tmp_path)
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    assert (file["padding"], file["truncation"]) == (None, None)


def test_a_text_is_prepared_as_a_subclass_says(fast):
    class Shouting(BertTokenizerFast):
        def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
            return text.replace("!", "a"), kwargs

    plain = fast("a", "b")
    plain.__class__ = Shouting
    assert plain("b !", add_special_tokens=False).input_ids == plain.convert_tokens_to_ids(
        ["b", "a"]
    )
    assert plain.tokenize("b !") == ["b", "a"]


# ---- added tokens: what a comparison with another build of them has found ------------------------


def test_a_token_that_only_the_added_ones_have_is_told_by_its_id(abc):
    abc.add_special_tokens({"additional_special_tokens": ["[SUBJ]"]})
    assert abc.tokenize("a [SUBJ] z") == ["a", "[SUBJ]", "[UNK]"]
    abc.wordpiece_tokenizer.unk_token = "nowhere"
    assert abc.tokenize("a") == ["a"]


def test_saving_lists_all_added_tokens_after_an_entry_of_the_vocabulary_is_added(abc, tmp_path):
    abc.add_tokens(["xyz"])
    abc.add_tokens(["b"])
    abc.save_pretrained(tmp_path)
    listed = json.loads((tmp_path / "tokenizer.json").read_text())["added_tokens"]
    assert {token["content"] for token in listed} == {
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "xyz",
        "b",
    }
    again = BertTokenizerFast.from_pretrained(tmp_path)
    assert again("a xyz b").input_ids == abc("a xyz b").input_ids
    assert again.all_special_ids == abc.all_special_ids


def test_tokens_that_are_set_are_normalized_as_the_tokenizer_is_now(fast):
    tokenizer = fast("a", "e", do_basic_tokenize=False)
    tokenizer.added_tokens_decoder = {20: "\u00e9"}
    assert tokenizer.encode("\u00e9 e") == [CLS, 20, 20, SEP]


def test_the_switch_for_punctuation_of_the_slow_classes_changes_nothing(abc):
    """It is no option of BERT's fast classes, and no file could keep it."""
    abc.basic_tokenizer.do_split_on_punc = False
    assert abc.encode("a,b") == abc.explain("a,b").input_ids == [CLS, A, UNK, B, SEP]
