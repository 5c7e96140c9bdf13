"""What a notebook shows of results and reports: fragments of HTML that are escaped and name what
they hold.
"""

from __future__ import annotations

from html.parser import HTMLParser
from operator import methodcaller

import pytest

import trietok

in_notebook = methodcaller("_repr_html_")  # as Jupyter calls it


class Balance(HTMLParser):
    """Whether tags are closed in order, and run or load nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.is_sound = True

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "hr"):
            self.opened.append(tag)
        unsafe = tag in ("script", "iframe", "img", "link", "object", "embed", "form", "a")
        if unsafe or any(name.startswith("on") or name in ("src", "href") for name, _ in attrs):
            self.is_sound = False

    def handle_endtag(self, tag):
        if not self.opened or self.opened.pop() != tag:
            self.is_sound = False


def sound(html: str) -> bool:
    """Whether a fragment is whole, and free of scripts and of what the texts held."""
    html.encode("utf-8")
    parser = Balance()
    parser.feed(html)
    parser.close()
    return parser.is_sound and not parser.opened and "<b>bold" not in html


HOSTILE = "<script>☃</script> <b>bold\ud800\0"


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<script>b</script></p>",
        "<div><p></div></p>",
        "<div>",
        "</div>",
        "<p onclick='x()'>a</p>",
        "<img src='x'>",
        "<p><b>bold</b></p>",
    ],
)
def test_html_that_is_not_sound_is_told(html):
    assert not sound(html)
    assert sound("<div title='&lt;script&gt;'><p>a<br>b</p></div>")


def test_a_result_shows_its_tokens_over_the_text(english):
    html = in_notebook(english([HOSTILE, "naïve"], padding=True))
    assert sound(html)
    assert "tt-unknown" in html
    assert "naïve"[1:3] in html
    assert "[PAD] × " in html


@pytest.mark.parametrize("tensors", [None, "np"])
def test_pairs_windows_and_arrays_are_shown_as_texts(tensors):
    fast = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    options = {
        "max_length": 6,
        "truncation": True,
        "return_overflowing_tokens": True,
        "padding": True,
        "return_tensors": tensors,
    }
    html = in_notebook(fast(["one two three four five six", "one"], **options))
    assert sound(html)
    assert html.count('class="tt-text"') == 3
    assert sound(in_notebook(fast(HOSTILE, HOSTILE)))


def test_a_big_batch_is_shown_in_part(english):
    html = in_notebook(english([*["a b"] * 11, "a " * 20, *["a"] * 5000], padding=True))
    assert sound(html)
    assert "The first 10 of 5,012 rows are shown." in html
    assert "too long" in in_notebook(english("a" * 200_000))


def test_results_without_texts_show_their_ids(english):
    assert sound(in_notebook(english.prepare_for_model([5, 6])))
    assert sound(in_notebook(english(["a", "☃"], is_split_into_words=True)))
    assert "input_ids (2)" in in_notebook(trietok.BatchEncoding({"input_ids": [1, 2]}))


def test_reports_are_tables(english, tmp_path):
    other = trietok.BertTokenizer.from_pretrained("trietok-en")
    other.add_tokens(["<b>bold"])
    for report in (
        trietok.suggest_tokens(english, ["covid covid covid <b>bold"] * 3),
        trietok.compare(english, other, [HOSTILE]),
        trietok.check(str(tmp_path)),
    ):
        assert sound(in_notebook(report))
        assert "<table" in in_notebook(report)


def test_the_repr_of_a_tokenizer_is_short():
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens([f"token{number}" for number in range(500)])
    assert "… 495 more" in repr(tokenizer)
    assert repr(tokenizer).count("AddedToken") == 10
