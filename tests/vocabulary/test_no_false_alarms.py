"""What trietok and transformers save has no fault, whatever was added, removed or assigned
before.
"""

from __future__ import annotations

import pytest
import transformers

import trietok
from tests.vocabulary.faults import FAULTS
from trietok import check
from trietok.tokenizer.fast_relatives import FAST_CLASSES
from trietok.tokenizer.relatives import CLASSES

KINDS = {kind.__name__: kind for kind in (*CLASSES, *FAST_CLASSES)}
# the others have little of their own
OFTEN = (
    "BertTokenizer",
    "MPNetTokenizer",
    "SplinterTokenizer",
)
# The special tokens of relatives that have other names for them.
OTHER_TOKENS = ["<s>", "</s>", "<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "[QUESTION]"]


@pytest.fixture
def vocabulary(tmp_path):
    lines = (FAULTS / "base" / "vocab.txt").read_text(encoding="utf-8")
    path = tmp_path / "vocab.txt"
    path.write_text(lines + "".join(token + "\n" for token in OTHER_TOKENS), encoding="utf-8")
    return path


def faults_of(folder):
    findings = check(folder).findings
    return [
        str(each)
        for each in findings
        if each.severity != "note" or each.code == "transformers-5-drops"
    ]


def added(tokenizer):
    tokenizer.add_tokens(
        ["<new>", "zoology", trietok.AddedToken("<left>", lstrip=True, single_word=True)]
    )
    tokenizer.add_tokens(["<special>"], special_tokens=True)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<e1>", "the"]})
    tokenizer.add_special_tokens(
        {"bos_token": tokenizer.cls_token, "eos_token": tokenizer.sep_token}
    )


def changed(tokenizer):
    tokenizer.add_tokens(["<a>", "<b>", "the"])
    tokenizer.remove_tokens(["<b>", "the"])
    tokenizer.assign_unused("[unused0]", "<slot>")
    tokenizer.assign_unused("[unused1]", "word")
    tokenizer.remove_tokens(["<slot>"])


def pieces(tokenizer):
    tokenizer.add_wordpieces(["zo", "##ology"])


@pytest.mark.parametrize("name", KINDS)
def test_what_is_saved_has_no_fault(name, vocabulary, tmp_path):
    for edit in (added, changed, pieces) if name.removesuffix("Fast") in OFTEN else (added,):
        tokenizer = KINDS[name](vocabulary, model_max_length=512)
        edit(tokenizer)
        folder = tmp_path / edit.__name__
        try:
            tokenizer.save_pretrained(folder, tokenizer_json=True)
        except trietok.NotSupportedError:  # lower-casing and special tokens of a slow tokenizer
            tokenizer.save_pretrained(folder)
        assert not faults_of(folder)
        if (folder / "tokenizer.json").exists():
            (folder / "vocab.txt").rename(tmp_path / f"{edit.__name__}.txt")
            assert not faults_of(folder)
            (tmp_path / f"{edit.__name__}.txt").rename(folder / "vocab.txt")
            (folder / "tokenizer.json").unlink()
            assert not faults_of(folder)


@pytest.mark.parity
@pytest.mark.parametrize("name", KINDS)
def test_what_transformers_saves_has_no_fault(name, vocabulary, tmp_path):
    kind = getattr(transformers, name, None)
    if kind is None:
        pytest.skip(f"needs transformers 4: {name}")
    for options in (
        {},
        {"do_lower_case": True, "strip_accents": False},
        {"tokenize_chinese_chars": False},
    ):
        for legacy in (None, True, False) if name.endswith("Fast") else (None,):
            tokenizer = kind(str(vocabulary), model_max_length=512, **options)
            tokenizer.add_tokens(
                ["<new>", "zoology", transformers.AddedToken("<left>", lstrip=True)]
            )
            tokenizer.add_tokens(["<special>"], special_tokens=True)
            tokenizer.add_special_tokens({"additional_special_tokens": ["<e1>", "the"]})
            folder = tmp_path / f"{len(options)}{legacy}"
            tokenizer.save_pretrained(str(folder), legacy_format=legacy)
            assert not faults_of(folder)
