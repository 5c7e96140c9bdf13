"""What teachers hand out: the notebook runs, and the key of the worksheet has the tokens that
trietok gives.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import trietok

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PAGE = (GUIDES / "worksheet.html").read_text(encoding="utf-8")


def table(name: str) -> list[tuple[str, str]]:
    """The rows of the table with this class: texts with their tokens."""
    (rows,) = re.findall(rf'<table class="{name}">(.*?)</table>', PAGE, re.DOTALL)
    return [
        (unescape(text), unescape(tokens))
        for text, tokens in re.findall(r"<td>(.*?)</td><td>(.*?)</td>", rows)
    ]


def test_the_key_of_the_worksheet(small):
    (entries,) = re.findall(r'<p id="entries"><code>(.*?)</code>', PAGE)
    words = [entry for entry in entries.split() if entry != "[UNK]"]
    with_flag = small(*words)
    assert with_flag.tokenize("a table") == ["a", "table"]
    with_flag.add_tokens([trietok.AddedToken("able", single_word=True)])
    assert with_flag.tokenize("a table") == ["a", "table"]
    tokenizer = small(*words)
    for kind in ("", " added"):
        tokenizer.add_tokens(["able"] if kind else [])
        answers = table(f"answers{kind}")
        assert [(text, " ".join(tokenizer.tokenize(text))) for text, _ in answers] == answers
        assert table(f"questions{kind}") == [(text, "") for text, _ in answers] != []


def test_the_notebook_runs_and_shows_its_tokens():
    notebook = json.loads((GUIDES / "exercises.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], {cell["cell_type"] for cell in notebook["cells"]}) == (
        4,
        {"markdown", "code"},
    )
    names: dict[str, object] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # each reader runs it
            *lines, last = "".join(cell["source"]).rsplit("\n", 1)
            exec("".join(lines), names)
            shown.append(eval(last, names))
    assert shown[0] == ["the", "people", ",", "united", "!"]
    pictures = [each for each in shown if hasattr(each, "_repr_html_")]
    assert len(pictures) == 5
    assert all('class="tt"' in each._repr_html_() for each in pictures)
    assert isinstance(pictures[0], trietok.Explanation)
    assert shown[-1][1] == ["lo", "w", "est</w>"]
