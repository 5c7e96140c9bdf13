"""Tokens that no text gives."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.vocabulary.directories import (
    CONFIG,
    LETTERS,
    OPTIONS,
    SPECIAL,
    entries,
    lines,
    make,
    words,
)
from trietok import BertTokenizer, check


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


def test_marks_that_stripping_lets_meet(tmp_path):
    """Two marks in an order that normalization would change, and a third between them that is
    stripped.
    """
    piece = "a\u302e\u1b44"
    folder = make(tmp_path / "model", {"vocab.txt": lines(*SPECIAL, piece)})
    tokenizer = BertTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("a\u302e\u034f\u1b44") == [piece]
    assert not [each for each in check(folder).findings if each.code.startswith("unreachable")]
