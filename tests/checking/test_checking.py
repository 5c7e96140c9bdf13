"""`check`: what is planted is found and nothing else, whatever the files are."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.checking.directories import ADDED, BASE, BROKEN, CONFIG, MAP, decoder, found, lines, make, vocab
from tests.conftest import examples
from trietok import BertTokenizer, check, fix
from trietok.checking.report import TITLES


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


@examples(80)
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
