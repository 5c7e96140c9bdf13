"""Normalizers and pre-tokenizers of a WordPiece tokenizer.json that are not BERT's, compared with
tokenizers. `data/invalid_tokenizer_json` has what is refused.
"""

from __future__ import annotations

import copy
import json
import pickle

import pytest
import tokenizers

import trietok
from trietok import BertTokenizerFast, InputError

BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
SPLIT = {"type": "BertPreTokenizer"}
TUTORIAL = {
    "type": "Sequence",
    "normalizers": [{"type": name} for name in ("NFD", "Lowercase", "StripAccents")],
}
DIGITS = {
    "type": "Sequence",
    "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}],
}
ROLES = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
PIECES = [*ROLES, *"0123456789abcxyz.", "cab", "##b", "ﬁ", "fi", "##c"]
GOLDEN = "trietok-1:c8c1a1940375ea1edc4affe618397458106a26bfc5d1ce19d6ab18c508557b84"
TEXTS = ["Cáb 10.2", "ﬁ cabc", "xb xx xy", " a. a", "a-b a12", "Cab ab", "世x.", "x\u200by", ""]


def replace(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


@pytest.fixture
def load(tmp_path):
    """Writes a tokenizer.json with these components, and loads it."""

    def made(normalizer, pre_tokenizer=SPLIT, **more):
        flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized"], False)
        content = {
            "version": "1.0",
            "added_tokens": [
                {"id": number, "content": token, **flags, "special": True}
                for number, token in enumerate(ROLES)
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
        return BertTokenizerFast.from_pretrained(tmp_path)

    return made


def behaves(name: str) -> dict:
    return {"type": "Split", "pattern": {"String": "b"}, "behavior": name, "invert": False}


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (TUTORIAL, DIGITS),
        *[({"type": name}, SPLIT) for name in ("NFC", "NFD", "NFKC", "NFKD", "StripAccents")],
        (replace({"String": "x"}, "ca"), SPLIT),
        (replace({"Regex": "x+|y"}, "a"), SPLIT),
        ({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Punctuation"}),
        (None, {"type": "WhitespaceSplit"}),
        (None, {"type": "CharDelimiterSplit", "delimiter": "-"}),
        *[
            (None, behaves(name))
            for name in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext")
        ],
        (None, {"type": "Digits", "individual_digits": False}),
        (
            {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [BERT]}]},
            {"type": "Sequence", "pretokenizers": [SPLIT]},
        ),
    ],
)
def test_each_component_gives_the_tokens_and_offsets_of_tokenizers(
    load, tmp_path, normalizer, pre_tokenizer
):
    ours = load(normalizer, pre_tokenizer)
    rust = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in TEXTS:
        found, expected = ours(text, return_offsets_mapping=True), rust.encode(text)
        assert found.tokens() == expected.tokens, text
        assert found.offset_mapping == expected.offsets, text


def test_an_explanation_shows_each_step_in_its_order(load):
    stages = [stage.name for stage in load(TUTORIAL, DIGITS).explain("Cáb").texts[0].stages]
    assert stages == ["added-tokens", "accents", "lower-case", "accents", "words", "wordpiece"]


def test_steps_that_do_not_match_what_others_write_may_be_many(load):
    emoji = [chr(0x1F600 + number) for number in range(60)]
    steps = [replace({"String": c}, f" smile {number} ") for number, c in enumerate(emoji)]
    steps.append(replace({"String": "a"}, "aa"))
    tokenizer = load({"type": "Sequence", "normalizers": steps}, SPLIT)
    assert len(tokenizer.basic_tokenizer.tokenize("".join(emoji))) == 120


def test_arguments_override_a_normalizer_that_is_berts_alone(load, tmp_path):
    load(BERT)
    cased = BertTokenizerFast.from_pretrained(tmp_path, do_lower_case=False)
    assert cased.tokenize("CAB") == ["[UNK]"]
    load({"type": "Sequence", "normalizers": [BERT]})
    kept = BertTokenizerFast.from_pretrained(tmp_path, do_lower_case=False)
    assert kept.tokenize("CAB") == ["cab"]


def test_a_fingerprint_is_that_of_the_first_version_with_components(load):
    assert load(TUTORIAL, DIGITS).fingerprint() == GOLDEN


def test_copies_and_saved_tokenizers_keep_the_components(load, tmp_path):
    tokenizer = load(TUTORIAL, DIGITS)
    tokenizer.add_tokens(["x y"])
    tokenizer.save_pretrained(tmp_path / "saved")
    saved = BertTokenizerFast.from_pretrained(tmp_path / "saved")
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer)), saved):
        assert other("Cáb X Y 12").input_ids == tokenizer("Cáb X Y 12").input_ids
        assert other.fingerprint() == tokenizer.fingerprint()
    content = json.loads((tmp_path / "saved" / "tokenizer.json").read_text(encoding="utf-8"))
    assert (content["normalizer"], content["pre_tokenizer"]) == (TUTORIAL, DIGITS)
    assert load(TUTORIAL).fingerprint() != tokenizer.fingerprint()


def test_a_save_without_tokenizer_json_is_refused(load, tmp_path):
    with pytest.raises(InputError):
        load(TUTORIAL, DIGITS).save_pretrained(tmp_path / "slow", legacy_format=True)
    assert not (tmp_path / "slow").exists()


def test_a_check_of_other_stages_finds_no_error(load, tmp_path):
    load(TUTORIAL, DIGITS)
    assert not trietok.check(tmp_path).errors


def test_a_sequence_of_one_post_processor_is_that_processor(load, tmp_path):
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
