"""What a notebook shows of results and reports: fragments of HTML that are escaped and name what
they hold.
"""

from __future__ import annotations

import pytest

import trietok


def sound(html: str) -> bool:
    """Whether a fragment is whole, and free of scripts and of what the texts held."""
    opened = all(
        html.count(f"<{tag}") == html.count(f"</{tag}>")
        for tag in ("div", "span", "table", "tr", "p")
    )
    html.encode("utf-8")
    return opened and "<script" not in html and "<b>bold" not in html


HOSTILE = "<script>☃</script> <b>bold\ud800\0"


def test_a_result_shows_its_tokens_over_the_text(english):
    html = english([HOSTILE, "naïve"], padding=True)._repr_html_()
    assert sound(html)
    assert "tt-unknown" in html
    assert "naïve"[1:3] in html
    assert "[PAD] × " in html


@pytest.mark.parametrize("tensors", [None, "np"])
def test_pairs_rows_and_tensors(tensors):
    fast = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    options = {
        "max_length": 6,
        "truncation": True,
        "return_overflowing_tokens": True,
        "padding": True,
    }
    html = fast(
        ["one two three four five six", "one"], return_tensors=tensors, **options
    )._repr_html_()
    assert sound(html)
    assert html.count('class="tt-text"') == 3
    assert sound(fast(HOSTILE, HOSTILE)._repr_html_())


def test_a_big_batch_is_shown_in_part(english):
    html = english([*["a b"] * 11, "a " * 20, *["a"] * 5000], padding=True)._repr_html_()
    assert sound(html)
    assert "The first 10 of 5,012 rows are shown." in html
    assert "too long" in english("a" * 200_000)._repr_html_()


def test_results_without_texts(english):
    assert sound(english.prepare_for_model([5, 6])._repr_html_())
    assert sound(english(["a", "☃"], is_split_into_words=True)._repr_html_())
    assert "input_ids (2)" in trietok.BatchEncoding({"input_ids": [1, 2]})._repr_html_()


def test_reports_are_tables(english, tmp_path):
    other = trietok.BertTokenizer.from_pretrained("trietok-en")
    other.add_tokens(["<b>bold"])
    found = [
        trietok.suggest_tokens(english, ["covid covid covid <b>bold"] * 3),
        trietok.compare(english, other, [HOSTILE]),
        trietok.check(str(tmp_path)),
    ]
    for report in found:
        assert sound(report._repr_html_())
        assert "<table" in report._repr_html_()


def test_the_repr_of_a_tokenizer_is_short():
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens([f"token{number}" for number in range(500)])
    assert "… 495 more" in repr(tokenizer)
    assert repr(tokenizer).count("AddedToken") == 10
