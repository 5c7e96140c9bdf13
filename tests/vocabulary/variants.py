"""Directories of one tokenizer, each with one setting changed, and what of it transformers 5's own
classes drop, which `tests/parity/test_transformers5.py` compares with transformers 5 itself.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

import trietok
from tests.strategies import directory_of
from tests.vocabulary.faults import edit

_SAVED: dict[str, str] = {}  # the files of the directory without a change, which is made once
ENTRIES = 2000  # of `trietok-en` that the directories have


class Variant(NamedTuple):
    """One directory: paths in the JSON of its two files with the values there, and what
    transformers 5 leaves out.

    `agrees` is false where tokenizer_config.json says other than tokenizer.json: then `tokenizers`,
    which reads the one, gives other ids than trietok, which goes by both.
    """

    dropped: str = ""
    json: dict[str, Any] = {}
    config: dict[str, Any] = {}
    agrees: bool = True


def _bert(**changed: Any) -> dict[str, Any]:
    switches = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    return {"type": "BertNormalizer", **switches, **changed}


def _normalizers(*steps: str | dict[str, Any]) -> dict[str, Any]:
    listed = [{"type": step} if isinstance(step, str) else step for step in steps]
    return {"normalizer": {"type": "Sequence", "normalizers": listed}}


def _added(**flags: bool) -> dict[str, Any]:
    none = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    return {"content": "covid-19", **none, "normalized": True, **flags}


def _in_json(**flags: bool) -> dict[str, Any]:
    return {"added_tokens/5": {"id": ENTRIES, **_added(**flags)}}


def _in_config(**flags: bool) -> dict[str, Any]:
    return {f"added_tokens_decoder/{ENTRIES}": _added(**flags)}


_SPLIT, _DIGITS = {"type": "BertPreTokenizer"}, {"type": "Digits", "individual_digits": True}
_DIGITS_TOO = {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [_SPLIT, _DIGITS]}}
_ROLES = {"sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
_ROBERTA = {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False, **_ROLES}
_NO_CLS = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
_CUT = {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
_FILL = {"strategy": {"Fixed": 20}, "direction": "Right", "pad_to_multiple_of": None}

VARIANTS = {
    "no change": Variant(),
    # what is left out
    "template without [CLS]": Variant("post_processor", {"post_processor/single": _NO_CLS}),
    "types of a pair": Variant("post_processor", {"post_processor/pair/3/Sequence/type_id": 0}),
    "no template": Variant("post_processor", {"post_processor": None}),
    "RobertaProcessing": Variant("post_processor", {"post_processor": _ROBERTA}),
    "digits": Variant("pre_tokenizer (BertPreTokenizer, Digits)", _DIGITS_TOO),
    "Whitespace": Variant("pre_tokenizer (Whitespace)", {"pre_tokenizer": {"type": "Whitespace"}}),
    "shorter words": Variant(
        "model.max_input_chars_per_word (5)", {"model/max_input_chars_per_word": 5}
    ),
    "another prefix": Variant(
        "model.continuing_subword_prefix ('@@'), decoder",
        {"model/continuing_subword_prefix": "@@", "decoder/prefix": "@@"},
    ),
    "another unknown token": Variant("model.unk_token ('[MASK]')", {"model/unk_token": "[MASK]"}),
    "control characters kept": Variant(
        "normalizer.clean_text (false)", {"normalizer/clean_text": False}
    ),
    "no normalizer": Variant("normalizer (null)", {"normalizer": None}),
    "NFKC first": Variant("normalizer (NFKC, BertNormalizer)", _normalizers("NFKC", _bert())),
    "the course's normalizers": Variant(
        "normalizer (NFD, Lowercase, StripAccents)",
        _normalizers("NFD", "Lowercase", "StripAccents"),
    ),
    "a cased Sequence": Variant(
        "normalizer (BertNormalizer)", _normalizers(_bert(lowercase=False))
    ),
    "no decoder": Variant("decoder", {"decoder": None}),
    "spaces kept": Variant(
        "decoder", {"decoder/cleanup": False}, {"clean_up_tokenization_spaces": False}
    ),
    "added in tokenizer.json alone": Variant("added_tokens ('covid-19')", _in_json()),
    "special in tokenizer.json alone": Variant(
        "added_tokens (special of 'covid-19')", _in_json(special=True), _in_config()
    ),
    "digits, for ELECTRA": Variant(
        "pre_tokenizer (BertPreTokenizer, Digits)",
        _DIGITS_TOO,
        {"tokenizer_class": "ElectraTokenizer"},
    ),
    # what is used
    "digits, for ConvBERT": Variant(
        json=_DIGITS_TOO, config={"tokenizer_class": "ConvBertTokenizer"}
    ),
    "digits, for any class": Variant(
        json=_DIGITS_TOO, config={"tokenizer_class": "PreTrainedTokenizerFast"}
    ),
    "BertProcessing": Variant(json={"post_processor": {"type": "BertProcessing", **_ROLES}}),
    "a Sequence of one pre-tokenizer": Variant(
        json={"pre_tokenizer": {"type": "Sequence", "pretokenizers": [_SPLIT]}}
    ),
    "a Sequence of one normalizer": Variant(json=_normalizers(_bert())),
    "truncation": Variant(json={"truncation": _CUT}, agrees=False),
    "padding": Variant(
        json={"padding": {**_FILL, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}},
        agrees=False,
    ),
    "spaces kept by the decoder": Variant(json={"decoder/cleanup": False}),
    "cased": Variant(json={"normalizer/lowercase": False}, config={"do_lower_case": False}),
    "cased by tokenizer.json": Variant(json={"normalizer/lowercase": False}, agrees=False),
    "accents kept": Variant(
        json={"normalizer/strip_accents": False}, config={"strip_accents": False}
    ),
    "Chinese words": Variant(
        json={"normalizer/handle_chinese_chars": False}, config={"tokenize_chinese_chars": False}
    ),
    "special tokens split": Variant(config={"split_special_tokens": True}, agrees=False),
    "never_split": Variant(config={"never_split": ["Mrna", "Ph.D."]}),
    "do_basic_tokenize": Variant(config={"do_basic_tokenize": False}),
    "model_max_length": Variant(config={"model_max_length": 6}),
    "added": Variant(json=_in_json(), config=_in_config()),
    "added, whole words": Variant(
        json=_in_json(single_word=True), config=_in_config(single_word=True)
    ),
    "added, as it is written": Variant(
        json=_in_json(normalized=False), config=_in_config(normalized=False)
    ),
    "added, with the space before": Variant(
        json=_in_json(lstrip=True), config=_in_config(lstrip=True)
    ),
    "added in tokenizer_config.json alone": Variant(config=_in_config(), agrees=False),
}


def write_variant(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Write the directory of a variant: what `BertTokenizerFast` saves, with the change."""
    folder.mkdir(parents=True)
    if not _SAVED:
        lines = (directory_of("trietok-en") / "vocab.txt").read_text(encoding="utf-8").split("\n")
        (folder / "vocab.txt").write_text(
            "\n".join(lines[:ENTRIES]), encoding="utf-8", newline="\n"
        )
        trietok.BertTokenizerFast(folder / "vocab.txt").save_pretrained(folder)
        _SAVED.update({path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()})
    for file, text in _SAVED.items():
        (folder / file).write_text(text, encoding="utf-8", newline="\n")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}), encoding="utf-8")
    edit(folder / "tokenizer.json", VARIANTS[name].json)
    edit(folder / "tokenizer_config.json", VARIANTS[name].config)
    return folder
