"""`fix`: a directory that loads and gives the same ids."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.vocabulary.directories import (
    ADDED,
    BASE,
    BROKEN,
    CONFIG,
    LETTERS,
    OPTIONS,
    SPECIAL,
    decoder,
    entries,
    found,
    lines,
    make,
    vocab,
    words,
)
from trietok import BertTokenizer, check, fix

# ---- any vocabulary ------------------------------------------------------------------------------

TOKENS = st.sampled_from(["a", "b", "##a", "##b", "ab", "", "[PAD]", "[unused7]"])


@examples(40)
@given(
    pieces=st.lists(st.one_of(TOKENS, entries)),
    options=st.sampled_from(OPTIONS),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    holes=st.lists(st.integers(5, 12), unique=True, max_size=3),
    added=st.dictionaries(words, st.integers(5, 40), max_size=3),
    special=st.lists(st.sampled_from(SPECIAL), unique=True),
    draws=st.randoms(use_true_random=False),
)
def test_a_fix_keeps_every_id_of_every_text(
    tmp_path_factory, pieces, options, ends, holes, added, special, draws
):  # fmt: skip
    rows = ["[UNK]", *special, *pieces]
    folder = tmp_path_factory.mktemp("v")
    make(folder, {"vocab.txt": ends.join([*rows, ""]), ADDED: added})
    make(folder, {CONFIG: {**options, "trietok": {"vocab_holes": holes}}})
    assume(check(folder).ok)  # not where an added token has the id of a line
    result = fix(folder, folder / "out")
    old, new = BertTokenizer.from_pretrained(folder), BertTokenizer.from_pretrained(folder / "out")
    material = [*rows, *LETTERS, *added, " ", *SPECIAL]
    for _ in range(10):
        text = "".join(draws.choices(material, k=10))
        for call in ({}, {"split_special_tokens": True}):
            assert old(text, **call).input_ids == new(text, **call).input_ids
    assert old.get_added_vocab() == new.get_added_vocab()
    assert old.all_special_ids == new.all_special_ids
    assert old.max_id == new.max_id
    mended = {"carriage-return"}
    if options.get("do_basic_tokenize", True):
        mended |= {"duplicate-line", "blank-line"}
    assert not mended & {finding.code for finding in result.after.findings}
    renumbered = fix(folder, folder / "renumbered", renumber=True)
    ids = BertTokenizer.from_pretrained(folder / "renumbered").get_vocab()
    assert len(set(renumbered.id_map.values())) == len(renumbered.id_map)  # as rows are copied
    for token, token_id in old.get_vocab().items():
        if token in ids and token_id in renumbered.id_map:
            assert ids[token] == renumbered.id_map[token_id]


REFUSED = {"does-not-load", "ids-contradict"}
OF_IDS = {"duplicate-line", "blank-line", "id-hole"}


def broken_with_and_without_renumbering() -> Iterator[Any]:
    """Parameters: names of `BROKEN`; renumbering that should change nothing is tried at night."""
    for name, (files, planted) in BROKEN.items():
        if "vocab.txt" in files:
            differ = OF_IDS & {code for code, _, _ in planted}
            yield pytest.param(name, False)
            yield pytest.param(name, True, marks=() if differ else pytest.mark.faults)


@pytest.mark.parametrize(("name", "renumber"), [*broken_with_and_without_renumbering()])
def test_a_broken_directory_is_mended_or_refused_and_stays_as_it_is(tmp_path, name, renumber):
    files, planted = BROKEN[name]
    folder, out = make(tmp_path / "model", files), tmp_path / "out"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    errors = {finding.code for finding in check(folder).errors}
    if errors & REFUSED:
        with pytest.raises(trietok.FileFormatError, match=re.escape(f"cannot repair {folder}")):
            fix(folder, out, renumber=renumber)
        assert not out.exists()
    else:
        result = fix(folder, out, renumber=renumber)
        BertTokenizer.from_pretrained(out)
        codes = {finding.code for finding in result.after.findings}
        assert codes <= {code for code, _, _ in planted}
        assert not (renumber and codes & OF_IDS)
        json.dumps(result.to_dict())
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- what is repaired ----------------------------------------------------------------------------


def test_renumbering_closes_the_gaps_and_maps_old_ids_to_new_ones(tmp_path):
    files = {
        **vocab("un", "", "x ", "x", "the"),
        CONFIG: {**decoder(id20="[NEW]", id12="the"), "trietok": {"max_id": 40}},
        "config.json": {"vocab_size": 41, "model_type": "bert"},
    }
    folder, out = make(tmp_path / "model", files), tmp_path / "out"
    result = fix(folder, out, renumber=True)
    assert (out / "vocab.txt").read_text() == lines(*SPECIAL, "##able", "un", "x ", "x", "the")
    new_ids = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6, 10: 7, 11: 8, 12: 9, 20: 10}
    assert result.id_map == new_ids
    written = json.loads((out / "id_map.json").read_text())
    assert {int(old): new for old, new in written.items()} == result.id_map
    assert json.loads((out / "config.json").read_text())["vocab_size"] == 11
    assert [finding.code for finding in result.after.findings] == ["edge-space"]
    old, new = (BertTokenizer.from_pretrained(each) for each in (folder, out))
    text = "the unable [NEW] x"
    assert [result.id_map[i] for i in old(text).input_ids] == new(text).input_ids
    assert new.max_id == 10


def test_whitespace_goes_where_no_other_token_has_the_form(tmp_path):
    vocabulary = "\ufeff" + lines(*BASE[:4], "un", "x ", "un ", " y", " y", "##z\u2028")
    folder, out = make(tmp_path / "model", {"vocab.txt": vocabulary}), tmp_path / "out"
    assert found(check(folder)) >= {("byte-order-mark", 1, "\ufeff[PAD]"), ("edge-space", 7, "un ")}
    result = fix(folder, out)
    repaired = lines(*BASE[:4], "un", "x", "un ", "y", " y", "##z")
    assert (out / "vocab.txt").read_text() == repaired
    old, new = (BertTokenizer.from_pretrained(each) for each in (folder, out))
    assert (old.pad_token_id, new.pad_token_id) == (10, 0)
    # not one less, now that [PAD] is not added any more
    assert old.mask_token_id == new.mask_token_id == 11
    assert {finding.code for finding in result.after.findings} == {"edge-space", "id-hole"}


@pytest.mark.parametrize("broken", ["\ufeff[PAD]", "[PAD] "])
@pytest.mark.parametrize("renumber", [False, True])
def test_a_line_that_keeps_the_files_from_loading_is_stripped(tmp_path, broken, renumber):
    """tokenizer_config.json has the id 0 for the token, as transformers writes it."""
    files = {"vocab.txt": lines(broken, *BASE[1:]), CONFIG: decoder(id0="[PAD]")}
    folder = make(tmp_path / "model", files)
    assert "ids-contradict" in {finding.code for finding in check(folder).errors}
    result = fix(folder, tmp_path / "out", renumber=renumber)
    assert result.after.ok
    assert result.changes == [f"line 1: {broken!r} is replaced by '[PAD]'"]
    assert BertTokenizer.from_pretrained(tmp_path / "out").pad_token_id == 0


def test_a_spare_line_for_which_the_model_has_no_row_goes(tmp_path):
    """A token was appended to vocab.txt which the vocabulary had already as an added token."""
    files = {**vocab("the"), CONFIG: decoder(id7="the"), "config.json": {"vocab_size": 8}}
    result = fix(make(tmp_path / "model", files), tmp_path / "out")
    assert result.changes == ["line 9: 'the' is dropped"]
    assert not result.after.findings
    assert (tmp_path / "out" / "vocab.txt").read_text() == lines(*BASE)


def test_the_tokenizer_json_that_counts_is_repaired_with_a_stripped_line(tmp_path):
    plain = BertTokenizer.from_pretrained(make(tmp_path / "plain", vocab()))
    plain.add_tokens(["<new>"])
    plain.save_pretrained(tmp_path / "plain", tokenizer_json=True)
    versioned = "tokenizer.4.0.0.json"
    folder = make(tmp_path / "model", {"vocab.txt": lines(*BASE[:1], "[UNK] ", *BASE[2:])})
    (tmp_path / "plain" / "tokenizer.json").rename(folder / versioned)
    make(folder, {CONFIG: {"fast_tokenizer_files": [versioned]}})
    result = fix(folder, tmp_path / "out")
    assert result.after.ok
    assert BertTokenizer.from_pretrained(tmp_path / "out").convert_tokens_to_ids("<new>") == 8


# ---- tokenizer.json ------------------------------------------------------------------------------


def saved(folder: pathlib.Path, *tokens: str, **options) -> pathlib.Path:
    """A directory with a tokenizer.json."""
    plain = make(folder.with_name("plain"), vocab(*tokens))
    tokenizer = BertTokenizer.from_pretrained(plain, **options)
    tokenizer.save_pretrained(folder, tokenizer_json=True)
    return folder


def edit(path: pathlib.Path, **values) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize("renumber", [False, True])
def test_the_tokenizer_json_of_the_copy_gives_the_ids_of_the_copy(tmp_path, renumber):
    folder, out = saved(tmp_path / "model", "un", "##able", "un"), tmp_path / "out"
    padding = {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    edit(folder / "tokenizer.json", padding=padding)
    result = fix(folder, out, renumber=renumber)
    assert not result.after.errors
    slow, fast = (
        trietok.AutoTokenizer.from_pretrained(out, use_fast=is_fast) for is_fast in (False, True)
    )
    assert fast.get_vocab() == slow.get_vocab() != BertTokenizer.from_pretrained(folder).get_vocab()
    assert fast("unable").data == slow("unable").data
    assert json.loads((out / "tokenizer.json").read_text())["padding"] == padding


@pytest.mark.parametrize("wrong", [{"never_split": ["x-y"]}, {"do_lower_case": False}])
def test_where_nothing_tells_which_file_is_right_neither_is_thrown_away(tmp_path, wrong):
    folder, out = saved(tmp_path / "model"), tmp_path / "out"
    edit(folder / CONFIG, **wrong)
    with pytest.raises(trietok.FileFormatError):
        fix(folder, out)
    assert not out.exists()
    (folder / "tokenizer.json").unlink()
    assert fix(folder, out).after.ok


# ---- the copy ------------------------------------------------------------------------------------


def test_the_copy_is_written_into_no_directory_that_holds_something(tmp_path):
    folder = make(tmp_path / "model", vocab())
    for out in (folder, folder / "vocab.txt", tmp_path):
        with pytest.raises(trietok.FileError):
            fix(folder, out)
    (tmp_path / "empty").mkdir()
    assert fix(folder, tmp_path / "empty").after.ok


def test_the_copy_has_config_json_and_the_chat_templates(tmp_path):
    others = {
        "config.json": '{"model_type": "bert"}',
        "chat_template.jinja": "{{ messages }}",
        "additional_chat_templates/tools.jinja": "{{ tools }}",
    }
    (tmp_path / "model" / "additional_chat_templates").mkdir(parents=True)
    folder = make(tmp_path / "model", {**vocab("un", "un"), **others})
    fix(folder, tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_text() for name in others} == others
