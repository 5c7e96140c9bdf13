"""`check`: each fault that is planted is found and nothing else, `fix` mends it or says why not, and
what is saved has no fault.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import tempfile

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import assert_share, examples
from tests.vocabulary.directories import (
    ADDED,
    BASE,
    BROKEN,
    CONFIG,
    KINDS,
    MAP,
    OTHER_TOKENS,
    decoder,
    found,
    lines,
    make,
    vocab,
)
from tests.vocabulary.faults import FAULTS, NAMES, edit, fault_of, plant
from tests.vocabulary.test_model_directories import NAMED
from tests.vocabulary.variants import VARIANTS, write_variant
from trietok import BertTokenizer, check, fix
from trietok.files.findings import WORDS


def faults_of(report: trietok.CheckReport) -> list[trietok.Finding]:
    return report.errors + report.warnings


# ---- planted faults ------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["", "tokenizer.json", "vocab.txt"])
def test_the_directory_that_faults_are_planted_in_has_none(tmp_path, gone):
    folder = shutil.copytree(FAULTS / "base", tmp_path / "model", ignore=lambda *_: {gone})
    assert not faults_of(check(folder))


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_fault_is_found_and_nothing_else(name, tmp_path):
    fault = fault_of(name)
    assert fault["fix"] in ("mends", "refuses", "stays")  # which the tests below are given by
    folder = plant(name, tmp_path / "model")
    report = check(folder)
    findings = faults_of(report)
    for wanted in fault["findings"]:
        message = wanted.pop("message")
        alike = [
            each
            for each in findings
            if message in each.message
            and all(getattr(each, key) == value for key, value in wanted.items())
        ]
        assert alike, wanted
        findings.remove(alike[0])
        assert f"so: {alike[0].consequence}" in str(report)
        for part in re.split(r"\b(?:DIR|OUT)\b|\((?:DIR|OUT)\)", f"do: {alike[0].repair}"):
            assert part in str(report)  # which names the directory, and one next to it
    assert not findings
    assert not re.search(r"\b(?:DIR|OUT)\b", str(report))


OUTCOMES = {name: fault_of(name)["fix"] for name in NAMES}


@pytest.mark.parametrize("name", [name for name in NAMES if OUTCOMES[name] == "refuses"])
def test_fix_refuses_a_planted_fault_and_writes_nothing(name, tmp_path):
    with pytest.raises(trietok.FileFormatError):
        fix(plant(name, tmp_path / "model"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.faults if outcome == "stays" else ())
        for name, outcome in OUTCOMES.items()
        if outcome != "refuses"
    ],
)
def test_fix_mends_a_planted_fault_or_leaves_it_and_names_each_id_that_moves(name, tmp_path):
    folder = plant(name, tmp_path / "model")
    result = fix(folder, tmp_path / "out")
    left = {finding.code for finding in faults_of(result.after)}
    wanted = {finding["code"] for finding in fault_of(name)["findings"]}
    assert left <= (wanted if OUTCOMES[name] == "stays" else set())
    new_ids = BertTokenizer.from_pretrained(result.out).get_vocab()
    changes = "\n".join(result.changes)
    for token, token_id in BertTokenizer.from_pretrained(folder).get_vocab().items():
        new_id = new_ids.get(token)
        moved = f"{token!r} has the id {new_id} instead of {token_id}"
        assert new_id == token_id or (f"{token!r} is " if new_id is None else moved) in changes


@pytest.mark.parametrize(("files", "planted"), BROKEN.values(), ids=BROKEN)
def test_each_line_and_token_at_fault_is_named(tmp_path, files, planted):
    report = check(make(tmp_path / "model", files))
    assert found(report) == planted
    assert len(report.findings) == len(planted)
    if report.ok:
        BertTokenizer.from_pretrained(tmp_path / "model")
    json.dumps(report.to_dict())
    assert report.summary in str(report)


# "spaces kept" differs only in decoding.
@pytest.mark.parametrize(
    "name", [name for name in VARIANTS if VARIANTS[name].dropped and name != "spaces kept"]
)
def test_what_transformers_5_drops_is_found(name, tmp_path):
    """What it does drop is measured by tests/parity/test_transformers5.py, with the same
    directories.
    """
    codes = {finding.code for finding in check(write_variant(name, tmp_path / "model")).findings}
    assert any(code.startswith("tokenizer-json-") for code in codes)


# Codes of findings that other files plant: tests/files, and test_model_directories.py.
ELSEWHERE = {"save-abandoned"}


@pytest.mark.parametrize(
    ("saved_class", "severities"), [("BertTokenizer", {"note"}), ("PreTrainedTokenizerFast", set())]
)
def test_a_tokenizer_json_alone_may_say_more_than_slow_tokenizers_do(
    tmp_path, saved_class, severities
):
    folder = write_variant("shorter words", tmp_path / "model")
    (folder / "vocab.txt").unlink()
    edit(folder / CONFIG, {"tokenizer_class": saved_class})
    findings = check(folder).findings
    of_json = [finding for finding in findings if finding.code == "tokenizer-json-setting"]
    assert {finding.severity for finding in of_json} == severities


def test_each_finding_is_documented_and_planted():
    planted = {finding["code"] for name in NAMES for finding in fault_of(name)["findings"]}
    planted |= {code for _, findings in BROKEN.values() for code, _, _ in findings}
    planted |= {code for _, code, _ in NAMED.values()}
    assert WORDS.keys() == planted | ELSEWHERE


# ---- what a report holds -------------------------------------------------------------------------


def test_a_finding_has_its_severity_ids_file_and_lines(tmp_path):
    report = check(make(tmp_path, {**vocab("un", "un"), CONFIG: decoder(id7="[NEW]")}))
    clash, duplicate = report.findings
    assert (clash.severity, clash.token_id, clash.token) == ("error", 7, "[NEW]")
    assert clash.file == CONFIG
    assert (duplicate.severity, duplicate.token_id, duplicate.lines) == ("warning", 9, (6, 9, 10))
    assert not report.ok
    assert (report.errors, report.warnings, report.notes) == ([clash], [duplicate], [])
    assert report.to_dict()["findings"][1]["lines"] == [6, 9, 10]


@pytest.mark.parametrize("config", [{}, decoder(id7="the")])
def test_the_id_that_a_duplicate_is_said_to_have_is_the_one_it_has(tmp_path, config):
    folder = make(tmp_path, {**vocab("the"), CONFIG: config})
    (duplicate,) = check(folder).findings
    tokenizer = BertTokenizer.from_pretrained(folder)
    assert tokenizer("the", add_special_tokens=False).input_ids == [duplicate.token_id]


def test_a_vocabulary_file_is_checked_alone(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(lines(*BASE, "un"))
    (tmp_path / CONFIG).write_text("{")  # which is not its own
    assert found(check(path)) == {("duplicate-line", 6, "un")}
    assert check(path).findings[0].file == "words.txt"
    assert check("trietok-en").ok


def test_truncation_and_padding_in_tokenizer_json_are_notes_of_a_check(tmp_path):
    folder = shutil.copytree(FAULTS / "base", tmp_path / "model")
    values = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    cut = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    values |= {"truncation": cut, "padding": padding}
    (folder / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    report = check(folder)
    assert report.is_healthy
    assert [finding.code for finding in report.notes] == ["tokenizer-json-length"] * 2


# ---- any files -----------------------------------------------------------------------------------


def test_any_path_is_reported_and_never_raises(tmp_path):
    for path in ("", "nowhere/at all", "a\0b", "x" * 5000, tmp_path / "none"):
        assert [finding.code for finding in check(path).findings] == ["does-not-load"]
    assert [finding.code for finding in check(tmp_path).findings] == ["does-not-load"]


KEYS = (
    "do_lower_case never_split unk_token pad_token cls_token additional_special_tokens"
    " extra_special_tokens added_tokens_decoder trietok tokenizer_class vocab_size added_tokens 7 9"
    " content auto_map vocab_holes max_id assigned_unused added_order init_inputs"
    " model_input_names model_type pad_token_id type_vocab_size max_position_embeddings"
    " do_lowercase model_max_length id special __type"
).split()
PLAIN = st.sampled_from([None, True, False, -1, 0, 7, 12, 1e9, "un", "", "9"])
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
)
HEALTHY = {"do_lower_case": st.booleans(), "model_max_length": st.integers(1, 9)}
CONFIGS = st.one_of(VALUES, st.fixed_dictionaries({}, optional=HEALTHY))
FILES = st.sampled_from([MAP, ADDED, "config.json", "tokenizer.json", "model.safetensors"])
OTHERS = st.one_of(st.just({}), st.dictionaries(FILES, VALUES, max_size=2))


def test_any_json_is_checked_and_loads_where_the_report_is_ok():
    loaded, refused = 0, 0

    @examples(80)
    @given(
        config=CONFIGS,
        others=OTHERS,
        end=st.text(max_size=5),
        folder=st.builds(tempfile.TemporaryDirectory),
    )
    def check_files(config, others, end, folder):
        nonlocal loaded, refused
        with folder as place:
            path = pathlib.Path(place)
            files = {name: json.dumps(value) for name, value in {**others, CONFIG: config}.items()}
            make(path, {"vocab.txt": lines(*BASE) + end, **files})
            report = check(path)
            assert str(report)
            json.dumps(report.to_dict())
            try:
                BertTokenizer.from_pretrained(path)
                loaded += 1
            except trietok.TrietokError:
                refused += 1
                assert not report.ok
            try:
                assert fix(path, path / "out").after.summary
            except trietok.TrietokError:
                assert not report.ok
                assert not (path / "out").exists()

    check_files()
    for count in (loaded, refused):
        assert_share(count, loaded + refused, 0.2)


# ---- what is saved has no fault ------------------------------------------------------------------


@pytest.fixture
def vocabulary(tmp_path):
    text = (FAULTS / "base" / "vocab.txt").read_text(encoding="utf-8") + lines(*OTHER_TOKENS)
    path = tmp_path / "vocab.txt"
    path.write_text(text, encoding="utf-8")
    return path


def check_saved(folder: pathlib.Path, gone: str | None = None) -> None:
    for finding in check(folder).findings:
        if finding.code == "file-changed" and finding.file == gone:
            continue
        assert finding.severity == "note", finding


def added(tokenizer):
    left = trietok.AddedToken("<left>", lstrip=True, single_word=True)
    tokenizer.add_tokens(["<new>", "zoology", left])
    tokenizer.add_tokens(["<special>"], special_tokens=True)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<e1>", "the"]})
    roles = {"bos_token": tokenizer.cls_token, "eos_token": tokenizer.sep_token}
    tokenizer.add_special_tokens(roles)


def changed(tokenizer):
    tokenizer.add_tokens(["<a>", "<b>", "the"])
    tokenizer.remove_tokens(["<b>", "the"])
    tokenizer.assign_unused("[unused0]", "<slot>")
    tokenizer.assign_unused("[unused1]", "word")
    tokenizer.remove_tokens(["<slot>"])


def filled(tokenizer):
    """Added tokens that no line can hold, before entries: trietok fills their lines."""
    tokenizer.add_tokens(["a\nb", "<x>"])
    tokenizer.remove_tokens(["<x>"])
    pieces(tokenizer)


def pieces(tokenizer):
    tokenizer.add_wordpieces(["zo", "##ology"])


OFTEN = [f"{name}Tokenizer{fast}" for name in ("Bert", "MPNet") for fast in ("", "Fast")]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *((name, added) for name in KINDS),
        *((name, each) for name in OFTEN for each in (changed, pieces)),
        ("BertTokenizer", filled),
    ],
)
def test_what_trietok_saves_has_no_fault_with_either_file_alone(name, change, vocabulary, tmp_path):
    tokenizer = KINDS[name](vocabulary, model_max_length=512)
    change(tokenizer)
    folder = tmp_path / "saved"
    try:
        tokenizer.save_pretrained(folder, tokenizer_json=True)
    except trietok.NotSupportedError:  # lower-casing and special tokens of a slow tokenizer
        tokenizer.save_pretrained(folder)
        check_saved(folder)
        return
    check_saved(folder)
    for gone in ("vocab.txt", "tokenizer.json"):
        copy = shutil.copytree(folder, tmp_path / gone[:5], ignore=lambda *_, gone=gone: {gone})
        check_saved(copy, gone)


@pytest.mark.parity
@pytest.mark.parametrize(
    "options", [{}, {"strip_accents": False}, {"tokenize_chinese_chars": False}]
)
@pytest.mark.parametrize("name", KINDS)
def test_what_transformers_saves_has_no_fault(name, options, vocabulary, tmp_path):
    kind = getattr(transformers, name, None)
    if kind is None:
        pytest.skip(f"needs transformers 4: {name}")
    for legacy in (None, True, False) if name.endswith("Fast") else (None,):
        tokenizer = kind(str(vocabulary), model_max_length=512, **options)
        left = transformers.AddedToken("<left>", lstrip=True)
        tokenizer.add_tokens(["<new>", "zoology", left])
        tokenizer.add_tokens(["<special>"], special_tokens=True)
        tokenizer.add_special_tokens({"additional_special_tokens": ["<e1>", "the"]})
        tokenizer.save_pretrained(str(tmp_path / str(legacy)), legacy_format=legacy)
        check_saved(tmp_path / str(legacy))


PUBLISHED = (
    *("bert-base-uncased", "bert-base-cased", "bert-base-chinese", "bert-base-multilingual-cased"),
    *("bert-base-multilingual-uncased", "kcbert-base"),
)


@pytest.mark.parity
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_are_healthy(name, tmp_path):
    models = os.environ.get("TRIETOK_MODELS")
    if not models:
        pytest.skip("needs TRIETOK_MODELS")
    folder = pathlib.Path(models) / name
    assert not check(folder).findings
    for gone in ("vocab.txt", "tokenizer.json"):
        alone = shutil.copytree(folder, tmp_path / gone, ignore=lambda *_, gone=gone: {gone})
        assert check(alone).is_healthy
