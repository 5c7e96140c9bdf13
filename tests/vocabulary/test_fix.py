"""`fix`: a directory that loads and gives the same ids."""

from __future__ import annotations

import json
import pathlib
import random

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
    MAP,
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


def ids_of(folder: pathlib.Path, text: str) -> list[int]:
    return BertTokenizer.from_pretrained(folder)(text).input_ids


@examples(15)
@given(
    pieces=st.lists(
        st.one_of(
            st.sampled_from(["a", "b", "##a", "##b", "ab", "", "[PAD]", "[unused7]"]), entries
        )
    ),
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
    (folder / CONFIG).write_text(
        json.dumps({**options, "trietok": {"vocab_holes": holes}}), encoding="utf-8"
    )
    assume(check(folder).ok)  # not where an added token has the id of a line
    result = fix(folder, folder / "out")
    old, new = BertTokenizer.from_pretrained(folder), BertTokenizer.from_pretrained(folder / "out")
    random.seed(seed)
    material = [*rows, *LETTERS, *added, " ", *SPECIAL]
    for _ in range(10):
        text = "".join(random.choices(material, k=10))
        assert old(text).input_ids == new(text).input_ids
        assert (
            old(text, split_special_tokens=True).input_ids
            == new(text, split_special_tokens=True).input_ids
        )
    assert old.get_added_vocab() == new.get_added_vocab()
    assert old.all_special_ids == new.all_special_ids
    assert old.max_id == new.max_id
    left = {finding.code for finding in result.after.findings}
    assert not left & {
        "carriage-return",
        "lone-carriage-return",
        "special-missing",
        "no-final-newline",
    }
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
    assert (tmp_path / "out" / "vocab.txt").read_text() == lines(
        *SPECIAL, "##able", "un", "x", "the"
    )
    assert result.id_map == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6, 11: 7, 12: 8, 20: 9}
    written = json.loads((tmp_path / "out" / "id_map.json").read_text())
    assert {int(old): new for old, new in written.items()} == result.id_map
    assert json.loads((tmp_path / "out" / "config.json").read_text())["vocab_size"] == 10
    assert not result.after.findings
    old, new = (
        BertTokenizer.from_pretrained(folder),
        BertTokenizer.from_pretrained(tmp_path / "out"),
    )
    text = "the unable [NEW] x"
    assert [result.id_map[i] for i in old(text).input_ids] == new(text).input_ids
    assert new.max_id == 9


def test_fix_renumbering_what_does_not_load(tmp_path):
    """Ids that contradict each other keep a tokenizer from loading; renumbered, each token has
    one.
    """
    files = {
        **vocab(),
        ADDED: {"[A]": 7, "[B]": 7, "un": 9, "[C]": 9, "[D]": 30},
        MAP: {"pad_token": "[D]"},
    }
    folder = make(tmp_path / "model", files)
    with pytest.raises(trietok.FileFormatError):
        fix(folder, tmp_path / "out")
    result = fix(folder, tmp_path / "out", renumber=True)
    new = BertTokenizer.from_pretrained(tmp_path / "out")
    assert new.convert_tokens_to_ids(["un", "the", "[A]", "[B]", "[C]", "[D]"]) == [
        5,
        7,
        8,
        9,
        10,
        11,
    ]
    assert new.pad_token == "[D]"
    # transformers encodes "un" with 9, the id it has as an added token; "[C]" shares that row and
    # has none of its own.
    assert result.id_map == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 6, 7: 7, 9: 5, 30: 11}
    assert result.after.ok


def test_fix_repairs_tokens_where_no_other_has_the_form(tmp_path):
    folder = make(
        tmp_path / "model",
        {"vocab.txt": "\ufeff" + lines(*BASE[:4], "un", "x ", "un ", " y", " y", "##z\u2028")},
    )
    assert found(check(folder)) >= {("byte-order-mark", 1, "\ufeff[PAD]"), ("edge-space", 7, "un ")}
    result = fix(folder, tmp_path / "out")
    assert (tmp_path / "out" / "vocab.txt").read_text() == lines(
        *BASE[:4], "un", "x", "un ", "y", " y", "##z"
    )
    old, new = (
        BertTokenizer.from_pretrained(folder),
        BertTokenizer.from_pretrained(tmp_path / "out"),
    )
    assert (old.pad_token_id, new.pad_token_id) == (10, 0)
    # not one less, now that [PAD] is not added any more
    assert old.mask_token_id == new.mask_token_id == 11
    assert {finding.code for finding in result.after.findings} == {"edge-space", "id-hole"}


@pytest.mark.parametrize("lowers", [True, False])
def test_where_tokenizer_json_is_right_the_configuration_is_corrected(tmp_path, lowers):
    """The vocabulary tells that it is: no text gives an entry with a capital where texts are
    lower-cased.
    """
    folder, out = tmp_path / "model", tmp_path / "out"
    words = [first + second for first in "abcdefghijkl" for second in "mnopqrstuvwx"]
    cased = [] if lowers else [word.title() for word in words]
    files = {"vocab.txt": lines(*BASE, *words, *cased)}
    BertTokenizer.from_pretrained(
        make(tmp_path / "plain", files), do_lower_case=lowers
    ).save_pretrained(folder, tokenizer_json=True)
    right = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**right, "do_lower_case": not lowers}))
    result = fix(folder, out)
    (change,) = result.changes
    assert "tokenizer_config.json: do_lower_case" in change
    assert (out / "tokenizer.json").read_bytes() == (folder / "tokenizer.json").read_bytes()
    assert not result.after.findings
    assert json.loads((out / CONFIG).read_text())["do_lower_case"] is lowers
    BertTokenizer.from_pretrained(folder, do_lower_case=lowers).save_pretrained(folder)
    wrong = json.loads((folder / "tokenizer.json").read_text())
    wrong["normalizer"]["lowercase"] = not lowers
    (folder / "tokenizer.json").write_text(json.dumps(wrong))
    (change,) = fix(folder, tmp_path / "other").changes
    assert "normalizer.lowercase" in change
    fast = trietok.AutoTokenizer.from_pretrained(tmp_path / "other")
    assert (fast.is_fast, fast.do_lower_case) == (True, lowers)


@pytest.mark.parametrize(("strips", "changes"), [(False, 2), (True, 1), (None, 1)])
def test_accents_are_stripped_as_before_where_the_case_is_corrected(tmp_path, strips, changes):
    """Where strip_accents is null it follows do_lower_case, which was wrong."""
    folder, out = tmp_path / "model", tmp_path / "out"
    words = [first + second for first in "abcdefghijkl" for second in "mnopqrstuvwx"]
    plain = make(tmp_path / "plain", {"vocab.txt": lines(*BASE, *words, "né", "ne")})
    BertTokenizer.from_pretrained(plain, do_lower_case=True, strip_accents=strips).save_pretrained(
        folder, tokenizer_json=True
    )
    right = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(
        json.dumps({**right, "do_lower_case": False, "strip_accents": None})
    )
    result = fix(folder, out)
    assert len(result.changes) == changes
    assert not result.after.errors
    tokenize = BertTokenizer.from_pretrained(out).tokenize
    assert tokenize("Né AM") == (["né", "am"] if strips is False else ["ne", "am"])


@pytest.mark.parametrize("renumber", [False, True])
def test_the_tokenizer_json_of_the_copy_gives_the_ids_of_the_copy(tmp_path, renumber):
    folder, out = tmp_path / "model", tmp_path / "out"
    make(tmp_path / "plain", {"vocab.txt": lines(*BASE, "un", "##able", "un")})
    BertTokenizer.from_pretrained(tmp_path / "plain").save_pretrained(folder, tokenizer_json=True)
    padding = {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    whole = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**whole, "padding": padding}))
    result = fix(folder, out, renumber=renumber)
    assert not result.after.errors
    slow, fast = (
        trietok.AutoTokenizer.from_pretrained(out, use_fast=is_fast) for is_fast in (False, True)
    )
    assert fast.get_vocab() == slow.get_vocab() != BertTokenizer.from_pretrained(folder).get_vocab()
    assert fast("unable").data == slow("unable").data
    assert json.loads((out / "tokenizer.json").read_text())["padding"] == padding


def test_a_tokenizer_json_that_cannot_say_what_is_repaired(tmp_path):
    folder, out = tmp_path / "model", tmp_path / "out"
    BertTokenizer.from_pretrained(make(tmp_path / "plain", vocab())).save_pretrained(
        folder, tokenizer_json=True
    )
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, "never_split": ["x-y"]}))
    with pytest.raises(trietok.FileFormatError):
        fix(folder, out)
    assert not out.exists()
    (folder / "tokenizer.json").unlink()
    assert fix(folder, out).after.ok


def test_where_nothing_tells_which_file_is_right_neither_is_thrown_away(tmp_path):
    BertTokenizer.from_pretrained(make(tmp_path / "plain", vocab())).save_pretrained(
        tmp_path / "model", tokenizer_json=True
    )
    config = tmp_path / "model" / CONFIG
    config.write_text(json.dumps({**json.loads(config.read_text()), "do_lower_case": False}))
    with pytest.raises(trietok.FileFormatError):
        fix(tmp_path / "model", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", [name for name, (files, _) in BROKEN.items() if "vocab.txt" in files]
)
def test_fix_of_every_broken_directory(tmp_path, name):
    """It gives a directory that loads and is no worse, or says why not; what was there is
    untouched.
    """
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
            assert not codes & {
                "duplicate-line",
                "blank-line",
                "id-hole",
                "id-clash",
                "added-id-differs",
            }
        json.dumps(result.to_dict())
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_fix_writes_into_no_directory_that_holds_something(tmp_path):
    folder = make(tmp_path / "model", vocab())
    for out in (folder, folder / "vocab.txt", tmp_path):
        with pytest.raises(trietok.FileError):
            fix(folder, out)
    (tmp_path / "empty").mkdir()
    assert fix(folder, tmp_path / "empty").after.ok


@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_chat_templates_go_with_the_copy(tmp_path, is_damaged, in_files):
    templates = {"default": "{{ messages }}", "short": "{{ messages[0"}
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=templates)
    tokenizer.save_pretrained(tmp_path / "model", save_jinja_files=in_files)
    if is_damaged:
        with open(tmp_path / "model" / "vocab.txt", "a", encoding="utf-8") as file:
            file.write("\nthe\n")
    fix(tmp_path / "model", tmp_path / "fixed")
    assert BertTokenizer.from_pretrained(tmp_path / "fixed").chat_template == templates
    config = json.loads((tmp_path / "fixed" / "tokenizer_config.json").read_text())
    assert ("chat_template" in config) == (not in_files)
