"""Tokens that no text gives."""

from __future__ import annotations

import functools
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.directories import (
    CONFIG,
    LETTERS,
    OPTIONS,
    SPECIAL,
    entries,
    lines,
    make,
    words,
)
from tests.conftest import examples
from trietok import BertTokenizer, check
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.workbench.checking.reach import Reach


@examples(100)
@given(
    pieces=st.lists(entries, min_size=1, max_size=12),
    options=st.sampled_from(OPTIONS),
    parts=st.lists(
        st.tuples(st.integers(0, 99), st.sampled_from(["", " ", "\u034f", "0", "\0", "x"])),
        max_size=12,
    ),
    special=st.lists(words, max_size=2),
)
def test_no_text_gives_what_is_reported(tmp_path_factory, pieces, options, parts, special):
    folder = make(tmp_path_factory.mktemp("v"), {"vocab.txt": lines(*SPECIAL, *pieces)})
    config = {**options, "additional_special_tokens": special}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    report = check(folder)
    reported = {
        finding.token for finding in report.findings if finding.code.startswith("unreachable")
    }
    tokenizer = BertTokenizer.from_pretrained(folder)
    material = [*pieces, *(piece.removeprefix("##") for piece in pieces), *special, *LETTERS]
    text = "".join(material[number % len(material)] + between for number, between in parts)
    for variant in (text, text.upper(), unicodedata.normalize("NFD", text)):
        for calls in ({}, {"split_special_tokens": True}):
            assert not reported & set(tokenizer.tokenize(variant, **calls))


# ideographs and syllables
MANY_ALIKE = [
    (0x3400, 0xA000),
    (0xAC00, 0xD7A4),
    (0x17000, 0x18D00),
    (0x20000, 0x33480),
]


@functools.cache
def characters() -> str:
    """Every character of Unicode, but of the many that are alike every thirteenth, and with spaces
    between them.
    """
    codes = [
        c
        for c in range(sys.maxunicode + 1)
        if c % 13 == 0 or not any(a <= c < b for a, b in MANY_ALIKE)
    ]
    assigned = [chr(code) for code in codes if unicodedata.category(chr(code)) not in ("Cn", "Co")]
    # and one each of the unassigned and the private code points
    return " ".join([*assigned, "\u0378", "\ue000"])


@pytest.mark.parametrize("options", [o for o in OPTIONS if "never_split" not in o], ids=str)
def test_every_character_that_comes_out_is_reachable(small, options):
    """The proof in trietok/workbench/checking/reach.py rests on this: what the tokenizer writes, it
    leaves as it is.
    """
    tokenizer = small(**options)
    reach = Reach(tokenizer)
    text = characters()
    written = (
        tokenizer.basic_tokenizer.tokenize(text) if tokenizer.do_basic_tokenize else text.split()
    )
    for word in {*written, *"".join(written)}:  # and every character of every word
        assert reach.is_reachable(word), word


def test_a_digit_combines_with_nothing():
    for code_point in range(sys.maxunicode + 1):
        pair = "0" + chr(code_point)
        assert unicodedata.normalize("NFC", pair) == "0" + unicodedata.normalize("NFC", pair[1])


def test_marks_that_stripping_lets_meet(small):
    """Two marks in an order that normalization would change, and a third between them that is
    stripped.
    """
    piece = "a\u302e\u1b44"
    tokenizer = small(piece)
    assert tokenizer.tokenize("a\u302e\u034f\u1b44") == [piece]
    assert BasicTokenizer().tokenize(piece) != [piece]
    assert Reach(tokenizer).is_reachable(piece)
