"""`check` and `fix`: what is planted is found and nothing else; what is reported is true; a repair moves no id."""

from __future__ import annotations

import json
import os
import pathlib
import random
import sys
import unicodedata

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import trietok
from trietok import BertTokenizer, check, fix
from trietok.checking.reach import Reach
from trietok.checking.report import TITLES
from trietok.text.basic_tokenizer import BasicTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
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
    return {"added_tokens_decoder": {name.removeprefix("id"): token(content) for name, content in ids.items()}}


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
    "duplicate": (vocab("un", "x", "un"), {("duplicate-line", 6, "un")}),
    "two duplicates": (vocab("un", "the"), {("duplicate-line", 6, "un"), ("duplicate-line", 8, "the")}),
    "blank": (vocab("", "x"), {("blank-line", 9, "")}),
    "blanks": (vocab("", ""), {("blank-line", 9, ""), ("blank-line", 10, "")}),
    "declared hole": ({**vocab("", "x"), CONFIG: {"trietok": {"vocab_holes": [8]}}}, {("id-hole", None, None)}),
    "byte-order mark": (
        {"vocab.txt": "\ufeff" + lines(*BASE)},
        {("byte-order-mark", 1, "\ufeff[PAD]"), ("special-missing", None, "[PAD]")},
    ),
    "windows": ({"vocab.txt": lines(*BASE).replace("\n", "\r\n")}, {("carriage-return", 1, None)}),
    "old macintosh": (
        {"vocab.txt": lines(*BASE).replace("able\n", "able\r")},
        {("lone-carriage-return", 7, None)},
    ),
    "tab": (vocab("a\tb", "c"), {("tab", 9, "a\tb")}),
    "counts": (vocab("x\t12", "y\t7"), {("tab", 9, "x\t12"), ("tab", 10, "y\t7")}),
    "space after": (vocab("x "), {("edge-space", 9, "x ")}),
    "space before": (vocab("\u3000x"), {("edge-space", 9, "\u3000x")}),
    "next line": (vocab("a\x85b"), {("line-break-character", 9, "a\x85b")}),
    "line separator": (vocab("\u2028"), {("line-break-character", 9, "\u2028")}),
    "paragraph separator": (vocab("##\u2029"), {("line-break-character", 9, "##\u2029")}),
    "form feed": (vocab("a\x0cb"), {("line-break-character", 9, "a\x0cb")}),
    "control": (vocab("a\x07b"), {("control-character", 9, "a\x07b")}),
    "nul": (vocab("\0"), {("control-character", 9, "\0")}),
    "tab and space": (vocab("a\tb "), {("tab", 9, "a\tb "), ("edge-space", 9, "a\tb ")}),
    "not utf-8": ({"vocab.txt": lines(*BASE).encode() + b"x\nna\xefve\n"}, {("not-utf8", 10, None)}),
    "empty": ({"vocab.txt": ""}, {("empty-vocabulary", None, None)}),
    "no vocabulary": ({CONFIG: {}}, {("missing-vocabulary", None, None)}),
    "no final newline": ({"vocab.txt": lines(*BASE)[:-1]}, {("no-final-newline", 8, "the")}),
    "no unknown token": ({"vocab.txt": lines("[PAD]", *BASE[2:])}, {("unk-missing", None, "[UNK]")}),
    "unknown token null": ({**vocab(), CONFIG: {"unk_token": None}}, {("unk-missing", None, None)}),
    "no mask": (
        {"vocab.txt": lines(*SPECIAL[:4], "un")},
        {("special-missing", None, "[MASK]")},
    ),
    "additional missing": (
        {**vocab(), CONFIG: {"additional_special_tokens": ["[A]", "un"]}},
        {("special-missing", None, "[A]")},
    ),
    "one token, two roles": (
        {**vocab(), CONFIG: {"cls_token": "[SEP]"}},
        {("shared-role", None, "[SEP]"), ("unreachable-punctuation", 3, "[CLS]")},  # [CLS] is nothing special now
    ),
    "roles disagree": (
        {**vocab("<p>"), CONFIG: {"pad_token": "[PAD]"}, MAP: {"pad_token": "<p>"}},
        {("role-contradiction", None, "<p>"), ("unreachable-punctuation", 1, "[PAD]")},
    ),
    "roles disagree with the default": (
        {**vocab("<p>"), CONFIG: decoder(), MAP: {"pad_token": "<p>"}},
        {("role-contradiction", None, "<p>"), ("unreachable-punctuation", 9, "<p>")},
    ),
    "lists disagree": (
        {**vocab(), CONFIG: {"additional_special_tokens": ["un"]}, MAP: {"additional_special_tokens": ["the"]}},
        {("role-contradiction", None, None)},
    ),
    "hole": ({**vocab(), CONFIG: decoder(id10="[NEW]")}, {("id-hole", None, None)}),
    "far hole": ({**vocab(), CONFIG: decoder(id999999="[NEW]")}, {("id-hole", None, None)}),
    "id too large": ({**vocab(), CONFIG: decoder(id9999999999="[NEW]")}, {("wrong-shape", None, None)}),
    "added on a blank line": ({**vocab("", "x"), CONFIG: decoder(id8="[NEW]")}, set()),
    "id taken": ({**vocab(), CONFIG: decoder(id7="[NEW]")}, {("id-clash", None, "[NEW]")}),
    "slot taken": ({**vocab("[unused1]"), CONFIG: decoder(id8="[NEW]")}, {("id-clash", None, "[NEW]")}),
    "two ids": (
        {**vocab(), CONFIG: decoder(id8="[NEW]", id9="[NEW]")},
        {("added-content-twice", None, "[NEW]")},
    ),
    "one id": ({**vocab(), ADDED: {"[A]": 8, "[B]": 8}}, {("added-id-twice", None, "[B]")}),
    "one key": (
        {**vocab(), CONFIG: '{"do_lower_case": false, "do_lower_case": true}'},
        {("duplicate-key", None, None)},
    ),
    "added files disagree": (
        {**vocab(), CONFIG: decoder(id8="[A]"), ADDED: {"[A]": 9}},
        {("added-tokens-contradiction", None, "[A]")},
    ),
    "added file has more": (
        {**vocab(), CONFIG: decoder(id8="[A]"), ADDED: {"[A]": 8, "[B]": 9}},
        {("added-tokens-contradiction", None, "[B]")},
    ),
    "added and a line": ({**vocab(), CONFIG: decoder(id8="the")}, {("added-id-differs", None, "the")}),
    "added and two lines": (
        {**vocab("the"), CONFIG: decoder(id7="the")},
        {("duplicate-line", 8, "the")},
    ),
    "fast tokenizer's added tokens": (
        {**vocab(), "tokenizer.json": {"added_tokens": [{"id": 6, **token("[NEW]")}]}},
        {("id-clash", None, "[NEW]")},
    ),
    "past the model": (
        {**vocab(), "config.json": {"vocab_size": 7}},
        {("id-past-model", None, "the")},
    ),
    "added past the model": (
        {**vocab(), ADDED: {"[NEW]": 8}, "config.json": {"vocab_size": 8}},
        {("id-past-model", None, "[NEW]")},
    ),
    "larger model": ({**vocab(), "config.json": {"vocab_size": 64}}, {("model-larger", None, None)}),
    "no json": ({**vocab(), CONFIG: '{"a": 1,\n oops}'}, {("not-json", 2, None)}),
    "json not utf-8": ({**vocab(), MAP: b'{"pad_token":\n "\xff"}'}, {("not-utf8", 2, None)}),
    "endless number": ({**vocab(), "config.json": '{"vocab_size": ' + "9" * 5000 + "}"}, {("not-json", None, None)}),
    "nested": ({**vocab(), ADDED: "[" * 100_000}, {("not-json", None, None)}),
    "a list": ({**vocab(), CONFIG: []}, {("wrong-shape", None, None)}),
    "decoder a list": ({**vocab(), CONFIG: {"added_tokens_decoder": []}}, {("wrong-shape", None, None)}),
    "no content": ({**vocab(), CONFIG: {"added_tokens_decoder": {"8": {}}}}, {("wrong-shape", None, None)}),
    "no id": ({**vocab(), ADDED: {"[NEW]": -1}}, {("wrong-shape", None, None)}),
    "setting a string": ({**vocab(), CONFIG: {"do_lower_case": "false"}}, {("wrong-shape", None, None)}),
    "never_split a string": ({**vocab(), CONFIG: {"never_split": "the"}}, {("wrong-shape", None, None)}),
    "role a number": ({**vocab(), CONFIG: {"pad_token": 0}}, {("wrong-shape", None, None)}),
    "vocab_size a string": ({**vocab(), "config.json": {"vocab_size": "8"}}, {("wrong-shape", None, None)}),
    "fast tokenizer without the list": ({**vocab(), "tokenizer.json": {}}, {("wrong-shape", None, None)}),
    "side": ({**vocab(), CONFIG: {"padding_side": "top"}}, {("wrong-shape", None, None)}),
    "slot of nothing": (
        {**vocab(), CONFIG: {"trietok": {"assigned_unused": {"[unused1]": "[A]"}}}},
        {("does-not-load", None, None)},
    ),
    "a relative's class": (
        {**vocab(), CONFIG: {"tokenizer_class": "ElectraTokenizerFast"}},
        set(),
    ),
    "another class": ({**vocab(), CONFIG: {"tokenizer_class": "GPT2Tokenizer"}}, {("unknown-class", None, None)}),
    "code": ({**vocab(), CONFIG: {"auto_map": {"AutoTokenizer": ["a.B", None]}}}, {("auto-map", None, None)}),
    "upper case": (vocab("The", "##X"), {("unreachable-case", 9, "The"), ("unreachable-case", 10, "##X")}),
    "upper case is fine": ({**vocab("The", "##X"), **CASED}, set()),
    "accent": (vocab("né"), {("unreachable-accent", 9, "né")}),
    "accent is fine": ({**vocab("né"), CONFIG: {"strip_accents": False}}, set()),
    "decomposed": ({**vocab("ne\u0301"), **CASED}, {("unreachable-form", 9, "ne\u0301")}),
    "hangul": (vocab("한", unicodedata.normalize("NFD", "한")), {("unreachable-form", 9, "한")}),
    "punctuation": (
        vocab("a.b", "##,", ".", "...", "<a>"),
        {("unreachable-punctuation", n, t) for n, t in ((9, "a.b"), (10, "##,"), (12, "..."), (13, "<a>"))},
    ),
    "punctuation never split": (
        {**vocab("a.b", "c.d"), CONFIG: {"never_split": ["a.b", "a.B"]}},
        {("unreachable-punctuation", 10, "c.d")},
    ),
    "chinese": (
        vocab("中", "##中", "中国"),
        {("unreachable-chinese", 10, "##中"), ("unreachable-chinese", 11, "中国")},
    ),
    "chinese is fine": ({**vocab("中", "##中"), CONFIG: {"tokenize_chinese_chars": False}}, set()),
    "deleted": (
        vocab("a\u200bb", "\ue000"),
        {("unreachable-deleted", 9, "a\u200bb"), ("unreachable-deleted", 10, "\ue000")},
    ),
    "space inside": (vocab("a b"), {("unreachable-space", 9, "a b")}),
    "too long": (
        vocab(LONG[:100], "##" + LONG[:99], LONG, "##" + LONG[:100]),
        {("unreachable-length", 11, LONG), ("unreachable-length", 12, "##" + LONG[:100])},
    ),
    "prefix alone": (vocab("##"), {("unreachable-prefix", 9, "##")}),
    "whitespace only": (
        {**vocab("##", "A.b", "né", "a b"), CONFIG: {"do_basic_tokenize": False}},
        {("unreachable-space", 12, "a b")},
    ),
    "unused slots are no finding": (vocab("[unused1]", "[unused99]", "<unused0>"), set()),
    "several at once": (
        {**vocab("un", "x ", "Zoo", ""), "config.json": {"vocab_size": 11}},
        {
            ("duplicate-line", 6, "un"),
            ("edge-space", 10, "x "),
            ("unreachable-case", 11, "Zoo"),
            ("blank-line", 12, ""),
            ("id-past-model", None, ""),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "planted"), BROKEN.values(), ids=BROKEN)
def test_what_is_planted_is_found_and_nothing_else(tmp_path, files, planted):
    report = check(make(tmp_path / "model", files))
    assert found(report) == planted
    assert len(report.findings) == len(planted)
    if report.ok:
        BertTokenizer.from_pretrained(tmp_path / "model")
    json.dumps(report.to_dict())
    assert report.summary in str(report)


def test_every_code_is_planted_and_on_the_page():
    planted = {code for _, planted in BROKEN.values() for code, _, _ in planted}
    page = (pathlib.Path(__file__).parents[2] / "docs" / "checking.md").read_text(encoding="utf-8")
    assert planted >= TITLES.keys()
    for code in planted | {"unreadable-file"}:
        assert f"`{code}`" in page


def test_nothing_raises_whatever_the_path(tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("", "nowhere/at all", "a\0b", "x" * 5000, tmp_path / "none"):
        assert [finding.code for finding in check(path).findings] == ["unreadable-file"]
    assert [finding.code for finding in check(tmp_path / "empty").findings] == ["missing-vocabulary"]


KEYS = [
    *("do_lower_case", "never_split", "unk_token", "pad_token", "additional_special_tokens", "extra_special_tokens"),
    *(
        "added_tokens_decoder",
        "trietok",
        "tokenizer_class",
        "vocab_size",
        "added_tokens",
        "7",
        "9",
        "content",
        "auto_map",
    ),
    *("vocab_holes", "max_id", "assigned_unused", "init_inputs", "model_max_length", "id", "special", "__type"),
]
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 12), st.floats(allow_nan=False), st.sampled_from(["un", "", "9"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)),
)


@settings(max_examples=int(os.environ.get("TRIETOK_EXAMPLES", "200")), deadline=None)
@given(
    config=values,
    others=st.dictionaries(st.sampled_from([MAP, ADDED, "config.json", "tokenizer.json"]), values, max_size=2),
    end=st.text(max_size=5),
)
def test_nothing_raises_whatever_the_files(tmp_path_factory, config, others, end):
    folder = make(tmp_path_factory.mktemp("v"), {"vocab.txt": lines(*BASE) + end, CONFIG: json.dumps(config)})
    make(folder, {name: json.dumps(value) for name, value in others.items()})
    report = check(folder)
    assert str(report)
    json.dumps(report.to_dict())
    try:
        BertTokenizer.from_pretrained(folder)
    except Exception:
        assert not report.ok
    try:
        assert fix(folder, folder / "out").after.summary
    except trietok.TrietokError:
        assert not report.ok
        assert not (folder / "out").exists()


def test_a_single_file_and_a_built_in_name(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(lines(*BASE, "Un"))
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')  # a file alone is alone
    assert found(check(path)) == {("unreachable-case", 9, "Un")}
    assert check(path).findings[0].file == "words.txt"
    assert check("trietok-en").ok


def test_values_of_a_finding(tmp_path):
    report = check(make(tmp_path, {**vocab("un", "un"), CONFIG: decoder(id7="[NEW]")}))
    clash, duplicate = report.findings
    assert (clash.severity, clash.token_id, clash.other_token, clash.file) == ("error", 7, "the", CONFIG)
    assert (duplicate.severity, duplicate.token_id, duplicate.lines) == ("warning", 9, (6, 9, 10))
    assert (report.ok, report.errors, report.warnings, report.notes) == (False, [clash], [duplicate], [])
    assert report.to_dict()["findings"][1]["lines"] == [6, 9, 10]


def test_the_id_that_a_duplicate_is_said_to_have_is_the_one_it_has(tmp_path):
    for name, files in (("plain", vocab("the")), ("added", {**vocab("the"), CONFIG: decoder(id7="the")})):
        folder = make(tmp_path / name, files)
        (duplicate,) = check(folder).findings
        assert BertTokenizer.from_pretrained(folder)("the", add_special_tokens=False).input_ids == [duplicate.token_id]


def test_checking_logs_nothing(tmp_path, caplog):
    check(make(tmp_path, {**vocab(), CONFIG: {"tokenizer_class": "GPT2Tokenizer", "pad_tokn": "x"}}))
    assert not caplog.records


# ---- unreachable tokens ---------------------------------------------------------------------------------------------

OPTIONS = [
    {},
    {"do_lower_case": False},
    {"strip_accents": False},
    {"do_lower_case": False, "strip_accents": True},
    {"tokenize_chinese_chars": False},
    {"do_basic_tokenize": False},
    {"never_split": ["C++", "né.", "##b", "中国"]},
    {"never_split": ["ab"], "do_lower_case": False},
]
# Chosen for what normalization does with them beside each other.
LETTERS = [
    *("a", "b", "A", "Σ", "σ", "ς", "é", "e", "E", "\u0301", "\u0307", "i", "I", "İ", "ǰ", "j", "J", "\u030c"),
    *("#", "##", ".", "+", "中", "国", "\uf900", "한", "\u1112", "\u1161", "\u11ab", "\u302e", "\u1b44", "\u034f"),
    *("\u200b", "\ue000", "ß", "ẞ", "Å", "\u212b", "\u0338", "<", "0", "\u093c", "\u0928", "[", "]", "\ufe00"),
]
words = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=4).map("".join)
entries = st.one_of(words, words.map("##".__add__))


@settings(max_examples=int(os.environ.get("TRIETOK_EXAMPLES", "300")), deadline=None)
@given(
    pieces=st.lists(entries, min_size=1, max_size=12),
    options=st.sampled_from(OPTIONS),
    parts=st.lists(st.tuples(st.integers(0, 99), st.sampled_from(["", " ", "\u034f", "0", "\0", "x"])), max_size=12),
    special=st.lists(words, max_size=2),
)
def test_no_text_gives_what_is_reported(tmp_path_factory, pieces, options, parts, special):
    folder = make(tmp_path_factory.mktemp("v"), {"vocab.txt": lines(*SPECIAL, *pieces)})
    config = {**options, "additional_special_tokens": special}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    report = check(folder)
    reported = {finding.token for finding in report.findings if finding.code.startswith("unreachable")}
    tokenizer = BertTokenizer.from_pretrained(folder)
    material = [*pieces, *(piece.removeprefix("##") for piece in pieces), *special, *LETTERS]
    text = "".join(material[number % len(material)] + between for number, between in parts)
    for variant in (text, text.upper(), unicodedata.normalize("NFD", text)):
        for calls in ({}, {"split_special_tokens": True}, {"allowed_special": (), "disallowed_special": ()}):
            assert not reported & set(tokenizer.tokenize(variant, **calls))


@pytest.mark.parametrize("options", [o for o in OPTIONS if "never_split" not in o], ids=str)
def test_every_character_that_comes_out_is_reachable(small, options):
    """The proof in check_reach.py rests on this: what the tokenizer writes, it leaves as it is."""
    tokenizer = small(**options)
    reach = Reach(tokenizer)
    text = " ".join(map(chr, range(sys.maxunicode + 1)))
    written = tokenizer.basic_tokenizer.tokenize(text) if tokenizer.do_basic_tokenize else text.split()
    for word in set(written):
        assert reach.is_reachable(word), word
        for char in word:
            assert reach.is_reachable(char), (word, char)


def test_a_digit_combines_with_nothing():
    for code_point in range(sys.maxunicode + 1):
        pair = "0" + chr(code_point)
        assert unicodedata.normalize("NFC", pair) == "0" + unicodedata.normalize("NFC", pair[1])


def test_marks_that_stripping_lets_meet(small):
    """Two marks in an order that normalization would change, and a third between them that is stripped."""
    piece = "a\u302e\u1b44"
    tokenizer = small(piece)
    assert tokenizer.tokenize("a\u302e\u034f\u1b44") == [piece]
    assert BasicTokenizer().tokenize(piece) != [piece]
    assert Reach(tokenizer).is_reachable(piece)


# ---- fix ------------------------------------------------------------------------------------------------------------


def ids_of(folder: pathlib.Path, text: str) -> list[int]:
    return BertTokenizer.from_pretrained(folder)(text).input_ids


@settings(
    max_examples=int(os.environ.get("TRIETOK_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(
    pieces=st.lists(st.one_of(st.sampled_from(["a", "b", "##a", "##b", "ab", "", "[PAD]", "[unused7]"]), entries)),
    options=st.sampled_from(OPTIONS),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    holes=st.lists(st.integers(5, 12), unique=True, max_size=3),
    added=st.dictionaries(words, st.integers(5, 40), max_size=3),
    special=st.lists(st.sampled_from(SPECIAL), unique=True),
    seed=st.integers(0, 2**30),
)
def test_a_fix_keeps_every_id_of_every_text(
    tmp_path_factory, pieces, options, ends, holes, added, special, seed
):  # fmt: skip
    rows = ["[UNK]", *special, *pieces]
    folder = tmp_path_factory.mktemp("v")
    make(folder, {"vocab.txt": ends.join([*rows, ""]), ADDED: added})
    (folder / CONFIG).write_text(json.dumps({**options, "trietok": {"vocab_holes": holes}}), encoding="utf-8")
    assume(check(folder).ok)  # not where an added token has the id of a line
    result = fix(folder, folder / "out")
    old, new = BertTokenizer.from_pretrained(folder), BertTokenizer.from_pretrained(folder / "out")
    random.seed(seed)
    material = [*rows, *LETTERS, *added, " ", *SPECIAL]
    for _ in range(10):
        text = "".join(random.choices(material, k=10))
        assert old(text).input_ids == new(text).input_ids
        assert old(text, disallowed_special=()).input_ids == new(text, disallowed_special=()).input_ids
    assert old.get_added_vocab() == new.get_added_vocab()
    assert old.all_special_ids == new.all_special_ids
    assert old.max_id == new.max_id
    left = {finding.code for finding in result.after.findings}
    assert not left & {"carriage-return", "lone-carriage-return", "special-missing", "no-final-newline"}
    if options.get("do_basic_tokenize", True):
        assert not left & {"duplicate-line", "blank-line"}


def test_fix_renumbering(tmp_path):
    files = {
        **vocab("un", "", "x ", "x", "the"),
        CONFIG: {**decoder(id20="[NEW]", id12="the"), "trietok": {"max_id": 40}},
        "config.json": {"vocab_size": 41, "model_type": "bert"},
    }
    folder = make(tmp_path / "model", files)
    result = fix(folder, tmp_path / "out", renumber=True)
    assert (tmp_path / "out" / "vocab.txt").read_text() == lines(*SPECIAL, "##able", "un", "x", "the")
    assert result.id_map == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6, 11: 7, 12: 8, 20: 9}
    written = json.loads((tmp_path / "out" / "id_map.json").read_text())
    assert {int(old): new for old, new in written.items()} == result.id_map
    assert json.loads((tmp_path / "out" / "config.json").read_text())["vocab_size"] == 10
    assert not result.after.findings
    old, new = BertTokenizer.from_pretrained(folder), BertTokenizer.from_pretrained(tmp_path / "out")
    text = "the unable [NEW] x"
    assert [result.id_map[i] for i in old(text).input_ids] == new(text).input_ids
    assert new.max_id == 9


def test_fix_renumbering_what_does_not_load(tmp_path):
    """Ids that contradict each other keep a tokenizer from loading; renumbered, each token has one."""
    files = {**vocab(), ADDED: {"[A]": 7, "[B]": 7, "un": 9, "[C]": 9, "[D]": 30}, MAP: {"pad_token": "[D]"}}
    folder = make(tmp_path / "model", files)
    with pytest.raises(trietok.FileFormatError, match="without moving an id"):
        fix(folder, tmp_path / "out")
    result = fix(folder, tmp_path / "out", renumber=True)
    new = BertTokenizer.from_pretrained(tmp_path / "out")
    assert new.convert_tokens_to_ids(["un", "the", "[A]", "[B]", "[C]", "[D]"]) == [5, 7, 8, 9, 10, 11]
    assert new.pad_token == "[D]"
    # transformers encodes "un" with 9, the id it has as an added token; "[C]" shares that row and has none of its own.
    assert result.id_map == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 6, 7: 7, 9: 5, 30: 11}
    assert result.after.ok


def test_fix_repairs_tokens_where_no_other_has_the_form(tmp_path):
    folder = make(
        tmp_path / "model", {"vocab.txt": "\ufeff" + lines(*BASE[:4], "un", "x ", "un ", " y", " y", "##z\u2028")}
    )
    assert found(check(folder)) >= {("byte-order-mark", 1, "\ufeff[PAD]"), ("edge-space", 7, "un ")}
    result = fix(folder, tmp_path / "out")
    assert (tmp_path / "out" / "vocab.txt").read_text() == lines(*BASE[:4], "un", "x", "un ", "y", " y", "##z")
    old, new = BertTokenizer.from_pretrained(folder), BertTokenizer.from_pretrained(tmp_path / "out")
    assert (old.pad_token_id, new.pad_token_id) == (10, 0)
    assert old.mask_token_id == new.mask_token_id == 11  # not one less, now that [PAD] is not added any more
    assert {finding.code for finding in result.after.findings} == {"edge-space", "id-hole"}


def test_fix_repairs_what_keeps_a_tokenizer_from_loading(tmp_path):
    folder = make(tmp_path / "model", {"vocab.txt": "\ufeff" + lines("[UNK]", *SPECIAL[2:], "[PAD]", "un")})
    assert not check(folder).ok
    assert not fix(folder, tmp_path / "out").after.findings


@pytest.mark.parametrize("name", [name for name, (files, _) in BROKEN.items() if "vocab.txt" in files])
def test_fix_of_every_broken_directory(tmp_path, name):
    """It gives a directory that loads and is no worse, or says why not; what was there is untouched."""
    files, planted = BROKEN[name]
    folder = make(tmp_path / "model", files)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for renumber in (False, True):
        out = tmp_path / f"out{renumber}"
        try:
            result = fix(folder, out, renumber=renumber)
        except trietok.TrietokError as error:
            refused = str(error)
        else:
            refused = ""
        if refused:
            assert not check(folder).ok
            assert refused.startswith(f"cannot repair {folder}")
            assert not out.exists()
            continue
        BertTokenizer.from_pretrained(out)
        codes = {finding.code for finding in result.after.findings}
        assert codes <= {code for code, _, _ in planted} | {"unreachable-punctuation"}
        if renumber:
            assert not codes & {"duplicate-line", "blank-line", "id-hole", "id-clash", "added-id-differs"}
        json.dumps(result.to_dict())
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_fix_writes_into_no_directory_that_holds_something(tmp_path):
    folder = make(tmp_path / "model", vocab())
    for out in (folder, folder / "vocab.txt", tmp_path):
        with pytest.raises(trietok.FileError, match="is there already"):
            fix(folder, out)
    (tmp_path / "empty").mkdir()
    assert fix(folder, tmp_path / "empty").after.ok


# ---- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def cli():
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    from tests.cli import test_cli

    return test_cli


def test_the_command(cli, tmp_path):
    folder = str(make(tmp_path / "good", vocab("un", "a\x1b[2Jb")))
    result = cli.run("check", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "'un' stands on lines 6 and 9" in result.stdout
    assert "\x1b" not in result.stdout
    bad = str(make(tmp_path / "bad", {**vocab(), CONFIG: decoder(id7="[NEW]")}))
    assert cli.run("check", bad).exit_code == 1
    for arguments in (["check"], ["check", folder, "--renumber"], ["check", folder, "--frobnicate"]):
        assert cli.run(*arguments).exit_code == 2


def test_the_command_as_json(cli, tmp_path):
    folder = str(make(tmp_path / "model", vocab("un", "\u2028")))
    (line,) = cli.out("check", folder, "--json")
    assert json.loads(line) == check(folder).to_dict()
    (line,) = cli.out("check", folder, "--json", "--fix", str(tmp_path / "out"), "--renumber")
    assert json.loads(line)["id_map"]["9"] == 8


def test_the_command_fixing(cli, tmp_path):
    folder = str(make(tmp_path / "model", vocab("un")))
    written = cli.out("check", folder, "--fix", str(tmp_path / "out"))
    assert written[1] == "  line 6: 'un' is '[unused5]', a free slot; 'un' keeps its id 8"
    assert cli.error("check", folder, "--fix", str(tmp_path / "out")).endswith("does not exist or is empty")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal as Unix has them")
def test_the_command_on_a_terminal(cli, tmp_path):
    folder = str(make(tmp_path / "model", vocab("un", "a\x1b[2Jb", "[PAD].")))
    shown = cli.on_terminal("check", folder)
    assert "\x1b[2J" not in shown
    assert "\x1b[" in shown
    plain = cli.COLOURS.sub("", shown)
    assert "warning  duplicate-line" in plain
    assert "[PAD]." in plain


# ---- published models -----------------------------------------------------------------------------------------------

PUBLISHED = {  # the codes that are found, beside those of unreachable tokens; how many tokens are unreachable
    "bert-base-uncased": (set(), 337),
    "bert-base-cased": (set(), 199),
    "bert-base-chinese": ({("line-break-character", 344), ("line-break-character", 13503)}, 7444),
    "bert-base-multilingual-cased": (set(), 6928),
    "bert-base-multilingual-uncased": ({("line-break-character", 1280), ("line-break-character", 97159)}, 8509),
    "kcbert-base": (set(), 0),
}


@pytest.mark.parity
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name, tmp_path):
    models = os.environ.get("TRIETOK_MODELS")
    if not models:
        pytest.skip("TRIETOK_MODELS names no directory")
    report = check(pathlib.Path(models) / name)
    others, count = PUBLISHED[name]
    notes = [finding for finding in report.findings if finding.code.startswith("unreachable-")]
    assert report.ok
    assert {(f.code, f.line_number) for f in report.findings if f not in notes} == others
    assert len(notes) == count
    from transformers import BertTokenizer as Original

    original = Original.from_pretrained(pathlib.Path(models) / name)
    reported = {finding.token for finding in notes}
    for token in sorted(reported):
        rest = token.removeprefix("##")
        for text in (token, rest, "a" + rest, "0" + rest, rest + "a", "中" + rest, rest.upper(), rest + rest):
            assert not reported & set(original.tokenize(text)), text


def test_a_line_that_trietok_filled_is_no_clash(small, tmp_path):
    tokenizer = small("a")
    tokenizer.add_tokens(["a\nb", "<x>"])
    tokenizer.remove_tokens(["<x>"])
    tokenizer.add_wordpieces(["zo"])
    tokenizer.save_pretrained(tmp_path / "saved")
    assert check(tmp_path / "saved").errors == []
