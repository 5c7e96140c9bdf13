"""Normalizers and pre-tokenizers of a WordPiece tokenizer.json that are not BERT's: what is
loaded. `data/invalid_tokenizer_json` has what is refused.
"""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import trietok
from trietok import InputError

BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
SPLIT = {"type": "BertPreTokenizer"}


def replace(text, content):
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


TUTORIAL = {
    "type": "Sequence",
    "normalizers": [{"type": name} for name in ("NFD", "Lowercase", "StripAccents")],
}
DIGITS = {
    "type": "Sequence",
    "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}],
}
PIECES = [
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[PAD]",
    "[MASK]",
    *"0123456789abcxyz.",
    "cab",
    "##b",
    "ﬁ",
    "fi",
    "##c",
]


@pytest.fixture
def load(tmp_path):
    """Writes a tokenizer.json with these components, and loads it."""

    def made(normalizer, pre_tokenizer=SPLIT, **more):
        roles = PIECES[:5]
        flags = {
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        content = {
            "version": "1.0",
            "added_tokens": [
                {"id": number, "content": token, **flags} for number, token in enumerate(roles)
            ],
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer,
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {token: number for number, token in enumerate(PIECES)},
            },
            **more,
        }
        (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
        return trietok.BertTokenizerFast.from_pretrained(tmp_path)

    return made


def test_steps_are_taken_in_their_order(load):
    tokenizer = load(TUTORIAL, DIGITS)
    assert tokenizer.tokenize("Cáb 10.2") == ["cab", "1", "0", ".", "2"]
    found = tokenizer("Cáb 10.2", return_offsets_mapping=True)
    assert found.offset_mapping == [(0, 3), (4, 5), (5, 6), (6, 7), (7, 8)]
    stages = [stage.name for stage in tokenizer.explain("Cáb 10.2").texts[0].stages]
    assert stages == ["added-tokens", "accents", "lower-case", "accents", "words", "wordpiece"]


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "text", "tokens"),
    [
        ({"type": "NFKC"}, SPLIT, "ﬁ", ["fi"]),
        ({"type": "NFC"}, SPLIT, "ﬁ", ["ﬁ"]),
        ({"type": "Replace", "pattern": {"String": "x"}, "content": "ca"}, SPLIT, "xb", ["cab"]),
        (
            {"type": "Replace", "pattern": {"Regex": "x+|y"}, "content": "a"},
            SPLIT,
            "xx xy",
            ["a", "[UNK]"],
        ),
        (
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Punctuation"},
            " a.",
            ["a", "."],
        ),
        (None, {"type": "WhitespaceSplit"}, "a. a", ["[UNK]", "a"]),
        (None, {"type": "CharDelimiterSplit", "delimiter": "-"}, "a-b", ["a", "b"]),
        (
            None,
            {
                "type": "Split",
                "pattern": {"String": "b"},
                "behavior": "MergedWithPrevious",
                "invert": False,
            },
            "cabc",
            ["cab", "c"],
        ),
        (None, {"type": "Digits", "individual_digits": False}, "a12", ["a", "[UNK]"]),
    ],
)
def test_each_component_gives_the_tokens_of_tokenizers(
    load, normalizer, pre_tokenizer, text, tokens
):
    assert load(normalizer, pre_tokenizer).tokenize(text) == tokens


def test_steps_that_do_not_match_what_others_write_may_be_many(load):
    emoji = [chr(0x1F600 + number) for number in range(60)]
    steps = [replace(char, f" smile {number} ") for number, char in enumerate(emoji)]
    tokenizer = load({"type": "Sequence", "normalizers": [*steps, replace("a", "aa")]}, SPLIT)
    assert len(tokenizer.basic_tokenizer.tokenize("".join(emoji))) == 120


def test_a_sequence_of_one_is_what_is_in_it(load):
    alone = load(BERT)
    sequence = load(
        {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [BERT]}]},
        {"type": "Sequence", "pretokenizers": [SPLIT]},
    )
    texts = ["Cab ab", "世x.", "x\u200by"] * 200
    assert sequence(texts).input_ids == alone(texts).input_ids
    assert sequence.fingerprint() == alone.fingerprint()


def test_arguments_override_a_normalizer_that_is_berts_alone(load, tmp_path):
    load(BERT)
    assert trietok.BertTokenizerFast.from_pretrained(tmp_path, do_lower_case=False).tokenize(
        "CAB"
    ) == ["[UNK]"]
    load({"type": "Sequence", "normalizers": [BERT]})
    assert trietok.BertTokenizerFast.from_pretrained(tmp_path, do_lower_case=False).tokenize(
        "CAB"
    ) == ["cab"]


def test_copies_and_saved_tokenizers_keep_the_components(load, tmp_path):
    tokenizer = load(TUTORIAL, DIGITS)
    tokenizer.add_tokens(["x y"])
    tokenizer.save_pretrained(tmp_path / "saved")
    saved = trietok.BertTokenizerFast.from_pretrained(tmp_path / "saved")
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer)), saved):
        assert other("Cáb X Y 12").input_ids == tokenizer("Cáb X Y 12").input_ids
        assert other.fingerprint() == tokenizer.fingerprint()
    content = json.loads((tmp_path / "saved" / "tokenizer.json").read_text(encoding="utf-8"))
    assert (content["normalizer"], content["pre_tokenizer"]) == (TUTORIAL, DIGITS)


def test_other_components_have_another_fingerprint(load):
    assert load(TUTORIAL, DIGITS).fingerprint() != load(TUTORIAL).fingerprint()


def test_a_save_without_tokenizer_json_is_refused(load, tmp_path):
    tokenizer = load(TUTORIAL, DIGITS)
    with pytest.raises(InputError):
        tokenizer.save_pretrained(tmp_path / "slow", legacy_format=True)
    assert not (tmp_path / "slow").exists()


def test_a_check_names_the_stages_and_no_more(load, tmp_path):
    load(TUTORIAL, DIGITS)
    report = trietok.check(tmp_path)
    (note,) = [finding for finding in report.notes if finding.code == "other-stages"]
    assert note.message == "texts go through NFD, Lowercase, StripAccents and Whitespace, Digits"
    assert not report.errors
    assert "unreachable" not in str(report)


def test_a_sequence_of_one_post_processor_is_that_processor(load):
    special = {
        token: {"id": token, "ids": [place], "tokens": [token]}
        for place, token in ((1, "[CLS]"), (2, "[SEP]"))
    }
    single = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    template = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": special,
    }
    tokenizer = load(BERT, post_processor={"type": "Sequence", "processors": [template]})
    assert tokenizer("a").input_ids == [1, PIECES.index("a")]
