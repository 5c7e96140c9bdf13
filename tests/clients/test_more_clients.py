"""Explanations and chunks by other libraries: what each makes is what it makes with transformers' tokenizer."""

from __future__ import annotations

import pytest

from tests.clients.conftest import LONG, SAME_IN_BOTH
from tests.clients.page import run_line

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def test_shap(tokenizer, theirs):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    ours, others = run_line("shap", shap=shap, tokenizer=tokenizer), shap.maskers.Text(theirs)
    for text in SAME_IN_BOTH:
        assert ours.token_segments(text)[1] == others.token_segments(text)[1]


def test_chonkie(tokenizer, theirs):
    library = pytest.importorskip("chonkie", reason="chonkie is not installed")
    ours = run_line("chonkie", TokenChunker=library.TokenChunker, tokenizer=tokenizer)
    others = library.TokenChunker(theirs, chunk_size=40, chunk_overlap=8)
    assert [each.token_count for each in ours(LONG)] == [each.token_count for each in others(LONG)]
    with pytest.raises(NotImplementedError):
        library.TokenChunker(tokenizer, chunk_size=40, chunk_overlap=8)(LONG)
