"""`check`: what is planted is found and nothing else, whatever the files are."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import random
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.vocabulary.directories import (
    ADDED,
    BASE,
    BROKEN,
    CONFIG,
    MAP,
    decoder,
    found,
    lines,
    make,
    vocab,
)
from tests.vocabulary.faults import FAULTS
from tests.vocabulary.variants import VARIANTS, write_variant
from trietok import BertTokenizer, check, fix


@pytest.mark.parametrize(("files", "planted"), BROKEN.values(), ids=BROKEN)
def test_what_is_planted_is_found_and_nothing_else(tmp_path, files, planted):
    report = check(make(tmp_path / "model", files))
    assert found(report) == planted
    assert len(report.findings) == len(planted)
    if report.ok:
        BertTokenizer.from_pretrained(tmp_path / "model")
    json.dumps(report.to_dict())
    assert report.summary in str(report)


def test_entries_of_another_prefix_are_reached_by_the_readers_of_tokenizer_json(tmp_path):
    tokenizer = trietok.BertTokenizerFast.from_pretrained(
        make(tmp_path / "model", vocab("@@able", "a,"))
    )
    tokenizer.wordpiece_tokenizer.continuing_subword_prefix = "@@"
    for legacy_format in (None, False):  # beside a vocab.txt, and alone
        files = tokenizer.save_pretrained(
            tmp_path / str(legacy_format), legacy_format=legacy_format
        )
        assert files
        findings = check(tmp_path / str(legacy_format)).findings
        unreachable = [
            finding.token for finding in findings if finding.code.startswith("unreachable")
        ]
        assert "@@able" not in unreachable
        assert "a," in unreachable


def test_nothing_raises_whatever_the_path(tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("", "nowhere/at all", "a\0b", "x" * 5000, tmp_path / "none"):
        assert [finding.code for finding in check(path).findings] == ["unreadable-file"]
    assert [finding.code for finding in check(tmp_path / "empty").findings] == [
        "missing-vocabulary"
    ]


KEYS = (
    "do_lower_case never_split unk_token pad_token cls_token additional_special_tokens"
    " extra_special_tokens added_tokens_decoder trietok tokenizer_class vocab_size added_tokens 7 9"
    " content auto_map vocab_holes max_id assigned_unused added_order init_inputs"
    " model_input_names model_type pad_token_id type_vocab_size max_position_embeddings"
    " do_lowercase model_max_length id special __type"
).split()
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1, 12),
        st.floats(allow_nan=False),
        st.sampled_from(["un", "", "9"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
)


@examples(80)
@given(
    config=values,
    others=st.dictionaries(
        st.sampled_from([MAP, ADDED, "config.json", "tokenizer.json", "model.safetensors"]),
        values,
        max_size=2,
    ),
    end=st.text(max_size=5),
)
def test_nothing_raises_whatever_the_files(tmp_path_factory, config, others, end):
    folder = make(
        tmp_path_factory.mktemp("v"), {"vocab.txt": lines(*BASE) + end, CONFIG: json.dumps(config)}
    )
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
    # a file alone is alone
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert found(check(path)) == {("unreachable-case", 9, "Un")}
    assert check(path).findings[0].file == "words.txt"
    assert check("trietok-en").ok


def test_values_of_a_finding(tmp_path):
    report = check(make(tmp_path, {**vocab("un", "un"), CONFIG: decoder(id7="[NEW]")}))
    clash, duplicate = report.findings
    assert (clash.severity, clash.token_id, clash.other_token, clash.file) == (
        "error",
        7,
        "the",
        CONFIG,
    )
    assert (duplicate.severity, duplicate.token_id, duplicate.lines) == ("warning", 9, (6, 9, 10))
    assert (report.ok, report.errors, report.warnings, report.notes) == (
        False,
        [clash],
        [duplicate],
        [],
    )
    assert report.to_dict()["findings"][1]["lines"] == [6, 9, 10]


def test_the_id_that_a_duplicate_is_said_to_have_is_the_one_it_has(tmp_path):
    for name, files in (
        ("plain", vocab("the")),
        ("added", {**vocab("the"), CONFIG: decoder(id7="the")}),
    ):
        folder = make(tmp_path / name, files)
        (duplicate,) = check(folder).findings
        assert BertTokenizer.from_pretrained(folder)("the", add_special_tokens=False).input_ids == [
            duplicate.token_id
        ]


# ---- built-in vocabularies with other options, and the counts ------------------------------------


@pytest.mark.parametrize("name", ["trietok-en", "trietok-multi", "trietok-zh"])
def test_a_built_in_vocabulary_is_healthy(name):
    assert check(name).is_healthy
    assert check(name).summary.startswith("healthy: ")


UNSUITED = [
    ("trietok-multi", {"do_lower_case": False, "strip_accents": True}, "accented-vocabulary"),
    ("trietok-en", {"do_lower_case": True, "strip_accents": False}, "unaccented-vocabulary"),
    ("trietok-zh", {"tokenize_chinese_chars": False}, "chinese-vocabulary"),
]


@pytest.mark.parametrize(("name", "options", "code"), UNSUITED)
def test_options_that_do_not_suit_the_vocabulary(tmp_path, name, options, code):
    folder = tmp_path / "model"
    BertTokenizer.from_pretrained(name).save_pretrained(folder)
    path = folder / CONFIG
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | options), encoding="utf-8"
    )
    assert [finding.code for finding in check(folder).warnings] == [code]


@pytest.mark.parametrize("name", VARIANTS)
def test_what_transformers_5_leaves_out_is_named(name, tmp_path):
    """What it does leave out is measured by tests/parity/test_transformers5.py, with the same
    directories.
    """
    report = check(write_variant(name, tmp_path / "model"))
    said = [finding.message for finding in report.notes if finding.code == "transformers-5-drops"]
    assert [message.partition(" does not use ")[2] for message in said] == [
        VARIANTS[name].dropped
    ] * len(said)
    assert bool(said) == bool(VARIANTS[name].dropped)


def test_words_of_several_chinese_characters(tmp_path):
    chinese = [chr(0x4E00 + n) for n in range(200)]
    words = [first + second for first, second in itertools.pairwise(chinese)]
    report = check(make(tmp_path, vocab(*chinese, *words)))
    assert [finding.code for finding in report.warnings] == ["chinese-vocabulary"]


def test_a_short_added_token_cuts_words(tmp_path):
    folder = tmp_path / "model"
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path / "plain")
    tokenizer.add_tokens(["er", trietok.AddedToken("ing", single_word=True)])
    tokenizer.save_pretrained(folder)
    (warning,) = check(folder).warnings
    assert (warning.code, warning.token, warning.file) == ("added-cuts-words", "er", CONFIG)
    assert "'ver'" in warning.message


def test_lengths_that_tokenizer_json_keeps_are_notes(tmp_path):
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


def test_many_notes_are_one_and_json_has_them_all(tmp_path):
    report = check(make(tmp_path, vocab(*(f"##{sign}" for sign in "!?.,;:-"))))
    values = report.to_dict()
    assert values["counts"] == {"unreachable-punctuation": 7}
    assert (values["notes"], len(values["findings"])) == (1, 7)
    assert "'##-'" not in str(report)
    assert "'##-'" in report.text(every=True)


# ---- published models ----------------------------------------------------------------------------

CHUVASH = "mixed-scripts"  # words of a language that people type with letters of two scripts
# the notes that are found, beside those of unreachable tokens; how many tokens are unreachable
PUBLISHED = {
    "bert-base-uncased": (set(), 337),
    "bert-base-cased": (set(), 199),
    "bert-base-chinese": ({("line-break-character", 344), ("line-break-character", 13503)}, 7444),
    "bert-base-multilingual-cased": (set(), 6928),
    "bert-base-multilingual-uncased": (
        {("line-break-character", 1280), ("line-break-character", 97159)},
        8509,
    ),
    "kcbert-base": (set(), 0),
}


@pytest.mark.parity
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name, tmp_path):
    models = os.environ.get("TRIETOK_MODELS")
    if not models:
        pytest.skip("needs TRIETOK_MODELS")
    folder = pathlib.Path(models) / name
    report = check(folder)
    others, count = PUBLISHED[name]
    notes = [finding for finding in report.findings if finding.code.startswith("unreachable-")]
    assert report.ok
    assert report.is_healthy
    assert report.summary.startswith("healthy: no errors, no warnings, ")
    assert {
        (f.code, f.line_number) for f in report.notes if f not in notes and f.code != CHUVASH
    } == others
    assert sum(finding.code == CHUVASH for finding in report.notes) < 100
    assert len(notes) == count
    for left_out in ("vocab.txt", "tokenizer.json"):  # the other one alone
        alone = check(
            shutil.copytree(folder, tmp_path / left_out, ignore=shutil.ignore_patterns(left_out))
        )
        assert alone.is_healthy
    from transformers import BertTokenizer as Original

    original = Original.from_pretrained(folder)
    reported = {finding.token for finding in notes}
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    for token in random.Random(seed).sample(sorted(reported), min(len(reported), 1_000)):
        rest = token.removeprefix("##")
        for text in (
            token,
            rest,
            "a" + rest,
            "0" + rest,
            rest + "a",
            "中" + rest,
            rest.upper(),
            rest + rest,
        ):
            assert not reported & set(original.tokenize(text)), text


def test_a_line_that_trietok_filled_is_no_clash(small, tmp_path):
    tokenizer = small("a")
    tokenizer.add_tokens(["a\nb", "<x>"])
    tokenizer.remove_tokens(["<x>"])
    tokenizer.add_wordpieces(["zo"])
    tokenizer.save_pretrained(tmp_path / "saved")
    assert check(tmp_path / "saved").errors == []
