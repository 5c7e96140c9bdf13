"""Directories of tokenizers, what is wrong with each, and letters and options to make others of."""

from __future__ import annotations

import json
import pathlib

from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL

# All classes of BERT's family, by name.
KINDS = {
    name: kind
    for name in sorted(trietok.__all__)
    if isinstance(kind := getattr(trietok, name), type)
    and issubclass(kind, trietok.BertTokenizer)
    and name != "BertJapaneseTokenizer"
}
# The special tokens of relatives that have other names for them.
OTHER_TOKENS = ["<s>", "</s>", "<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "[QUESTION]"]
BASE = [*SPECIAL, "un", "##able", "the"]  # ids 0 to 7
CONFIG = "tokenizer_config.json"
MAP = "special_tokens_map.json"
ADDED = "added_tokens.json"


def lines(*tokens: str) -> str:
    return "".join(token + "\n" for token in tokens)


def vocab(*more: str) -> dict[str, str]:
    return {"vocab.txt": lines(*BASE, *more)}


def token(content: str, special: bool = False) -> dict[str, object]:
    return {"content": content, "special": special}


def decoder(**ids: str) -> dict[str, object]:
    """An added_tokens_decoder from keywords such as id8="[NEW]"."""
    return {
        "added_tokens_decoder": {
            name.removeprefix("id"): token(content) for name, content in ids.items()
        }
    }


def make(folder: pathlib.Path, files: dict[str, object]) -> pathlib.Path:
    """Write a directory; dicts and lists as JSON, everything else as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode("utf-8")
        (folder / name).write_bytes(content)
    return folder


def found(report: trietok.CheckReport) -> set[tuple[str, int | None, str | None]]:
    return {(finding.code, finding.line_number, finding.token) for finding in report.findings}


CASED = {CONFIG: {"do_lower_case": False}}
LONG = "x" * 101

# name: files of the directory, what is planted as (code, line number, token)
BROKEN = {
    "nothing": (vocab(), set()),
    "two duplicates": (vocab("un", "the"), {("duplicate-line", 6, "un"), ("duplicate-line", 8, "the")}),
    "blanks": (vocab("", ""), {("blank-line", 9, ""), ("blank-line", 10, "")}),
    "declared hole": ({**vocab("", "x"), CONFIG: {"trietok": {"vocab_holes": [8]}}}, {("id-hole", None, None)}),
    "byte-order mark": (
        {"vocab.txt": "\ufeff" + lines(*BASE)},
        {("byte-order-mark", 1, "\ufeff[PAD]"), ("special-missing", None, "[PAD]")},
    ),
    "old macintosh": (
        {"vocab.txt": lines(*BASE).replace("able\n", "able\r")},
        {("carriage-return", 7, None)},
    ),
    "counts": (vocab("x\t12", "y\t7"), {("edge-space", 9, "x\t12"), ("edge-space", 10, "y\t7")}),
    "space after": (vocab("x "), {("edge-space", 9, "x ")}),
    "space before": (vocab("\u3000x"), {("edge-space", 9, "\u3000x")}),
    "tab and space": (vocab("a\tb "), {("edge-space", 9, "a\tb ")}),
    "not utf-8": ({"vocab.txt": lines(*BASE).encode() + b"x\nna\xefve\n"}, {("does-not-load", 10, None)}),
    "empty": ({"vocab.txt": ""}, {("does-not-load", None, None)}),
    "no vocabulary": ({CONFIG: {}}, {("does-not-load", None, None)}),
    "no unknown token": ({"vocab.txt": lines("[PAD]", *BASE[2:])}, {("does-not-load", None, "[UNK]")}),
    "unknown token null": ({**vocab(), CONFIG: {"unk_token": None}}, {("does-not-load", None, None)}),
    "additional missing": (
        {**vocab(), CONFIG: {"additional_special_tokens": ["[A]", "un"]}},
        {("special-missing", None, "[A]")},
    ),
    "roles disagree": (
        {**vocab("<p>"), CONFIG: {"pad_token": "[PAD]"}, MAP: {"pad_token": "<p>"}},
        {("role-contradiction", None, "[PAD]")},
    ),
    "roles disagree with the default": (
        {**vocab("<p>"), CONFIG: decoder(), MAP: {"pad_token": "<p>"}},
        {("role-contradiction", None, "<p>")},
    ),
    "lists disagree": (
        {**vocab(), CONFIG: decoder(), MAP: {"additional_special_tokens": ["the"]}},
        {("role-contradiction", None, "the")},
    ),
    "hole": ({**vocab(), CONFIG: decoder(id10="[NEW]")}, {("id-hole", None, None)}),
    "far hole": ({**vocab(), CONFIG: decoder(id999999="[NEW]")}, {("id-hole", None, None)}),
    "id too large": ({**vocab(), CONFIG: decoder(id9999999999="[NEW]")}, {("does-not-load", None, None)}),
    "added on a blank line": ({**vocab("", "x"), CONFIG: decoder(id8="[NEW]")}, set()),
    "slot taken": ({**vocab("[unused1]"), CONFIG: decoder(id8="[NEW]")}, {("ids-contradict", None, "[NEW]")}),
    "two ids": (
        {**vocab(), CONFIG: decoder(id8="[NEW]", id9="[NEW]")},
        {("ids-contradict", None, "[NEW]")},
    ),
    "one id": ({**vocab(), ADDED: {"[A]": 8, "[B]": 8}}, {("ids-contradict", None, "[B]")}),
    "one key": (
        {**vocab(), CONFIG: '{"do_lower_case": false, "do_lower_case": true}'},
        {("does-not-load", None, None)},
    ),
    "added files disagree": (
        {**vocab(), CONFIG: decoder(id8="[A]"), ADDED: {"[A]": 9}},
        {("ids-contradict", None, "[A]")},
    ),
    "added file has more": (
        {**vocab(), CONFIG: decoder(id8="[A]"), ADDED: {"[A]": 8, "[B]": 9}},
        {("added-token-ignored", None, "[B]")},
    ),
    "added and a line": ({**vocab(), CONFIG: decoder(id8="the")}, {("ids-contradict", None, "the")}),
    "added and two lines": (
        {**vocab("the"), CONFIG: decoder(id7="the")},
        {("duplicate-line", 8, "the")},
    ),
    "fast tokenizer's added tokens": (
        {**vocab(), "tokenizer.json": {"added_tokens": [{"id": 6, **token("[NEW]")}]}},
        {("ids-contradict", None, "[NEW]"), ("does-not-load", None, None)},
    ),
    "added past the model": (
        {**vocab(), ADDED: {"[NEW]": 8}, "config.json": {"vocab_size": 8}},
        {("id-past-model", None, "[NEW]")},
    ),
    "json not utf-8": ({**vocab(), MAP: b'{"pad_token":\n "\xff"}'}, {("does-not-load", 2, None)}),
    "endless number": ({**vocab(), ADDED: '{"a": ' + "9" * 5000 + "}"}, {("does-not-load", None, None)}),
    "nested": ({**vocab(), ADDED: "[" * 100_000}, {("does-not-load", None, None)}),
    "a list": ({**vocab(), CONFIG: []}, {("does-not-load", None, None)}),
    "decoder a list": ({**vocab(), CONFIG: {"added_tokens_decoder": []}}, {("does-not-load", None, None)}),
    "no content": ({**vocab(), CONFIG: {"added_tokens_decoder": {"8": {}}}}, {("does-not-load", None, None)}),
    "no id": ({**vocab(), ADDED: {"[NEW]": -1}}, {("does-not-load", None, None)}),
    "setting a string": ({**vocab(), CONFIG: {"do_lower_case": "false"}}, {("does-not-load", None, None)}),
    "never_split a string": ({**vocab(), CONFIG: {"never_split": "the"}}, {("does-not-load", None, None)}),
    "never_split a number": ({**vocab(), CONFIG: {"never_split": 5}}, {("does-not-load", None, None)}),
    "an option null": ({**vocab(), CONFIG: {"do_basic_tokenize": None}}, set()),
    "a role of one's own": (
        {**vocab("<boi>"), CONFIG: {"extra_special_tokens": {"boi_token": "<boi>"}, "boi_token": "<boi>"}},
        set(),
    ),
    "a class that is not there": ({**vocab(), "config.json": {"model_type": "own"}}, {("does-not-load", None, None)}),
    "role a number": ({**vocab(), CONFIG: {"pad_token": 0}}, {("does-not-load", None, None)}),
    "a fast tokenizer for a version": (
        {**vocab(), CONFIG: {"fast_tokenizer_files": ["tokenizer.4.0.0.json"]}},
        {("tokenizer-json-version", None, None)},
    ),
    "a fast tokenizer that is a list": ({**vocab(), "tokenizer.json": []}, {("does-not-load", None, None)}),
    "side": ({**vocab(), CONFIG: {"padding_side": "top"}}, {("does-not-load", None, None)}),
    "slot of nothing": (
        {**vocab(), CONFIG: {"trietok": {"assigned_unused": {"[unused1]": "[A]"}}}},
        {("does-not-load", None, None)},
    ),
    "a relative's class": (
        {**vocab(), CONFIG: {"tokenizer_class": "ElectraTokenizerFast"}},
        set(),
    ),
    "slots assigned": (
        {
            **vocab("[unused1]", "new", "[unused3]", "[unused4]"),
            CONFIG: {**decoder(id9="new"), "trietok": {"assigned_unused": {"[unused2]": "new"}}},
        },
        set(),
    ),
    "another kind": ({"vocab.json": {"a": 0}, "merges.txt": "#version: 0.2\n"}, {("does-not-load", None, None)}),
    "words with counts": (
        vocab(*(f"word{number} {number}" for number in range(40))),
        {("other-vocabulary", None, "word0 0")},
    ),
    "several at once": (
        {**vocab("un", "x ", "Zoo", ""), "config.json": {"vocab_size": 11}},
        {
            ("duplicate-line", 6, "un"),
            ("edge-space", 10, "x "),
            ("blank-line", 12, ""),
            ("id-past-model", None, ""),
        },
    ),
}  # fmt: skip


OPTIONS = [
    {},
    {"do_lower_case": False},
    {"strip_accents": False},
    {"do_lower_case": False, "strip_accents": True},
    {"tokenize_chinese_chars": False},
    {"do_basic_tokenize": False},
    {"do_basic_tokenize": None},
    {"never_split": ["C++", "né.", "##b", "中国"]},
    {"never_split": ["ab"], "do_lower_case": False},
]
# Chosen for what normalization does with them beside each other.
LETTERS = (
    "a b A Σ σ ς é e E \u0301 \u0307 i I İ ǰ j J \u030c # ## . + 中 国 \uf900 한 \u1112 \u1161 \u11ab"
    " \u302e \u1b44 \u034f \u200b \ue000 ß ẞ Å \u212b \u0338 < 0 \u093c \u0928 [ ] \ufe00"
).split()
words = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=4).map("".join)
entries = st.one_of(words, words.map("##".__add__))
