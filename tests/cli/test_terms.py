"""Lists of terms, in whatever file: each term as people write it, and a word about lines that may
be none.
"""

from __future__ import annotations

import json
import sys

import pytest

from tests.batches.shards import write
from tests.cli.commands import error, out, run
from trietok import AutoTokenizer

TERMS = ["Zoology", "myocardial  infarction", "c, d", " new \u00a0 york ", "people", ""]
TABLE = (
    'code,term\n0,Zoology\n1,myocardial  infarction\n2,"c, d"\n3, new \u00a0 york \n4,people\n5,\n'
)


def added(path, *options) -> dict[str, int]:
    (line,) = out(
        "add", "-m", "trietok-en", "--terms", str(path), "-o", f"{path}-out", "--json", *options
    )
    return json.loads(line)["added"]


def test_tables_lines_of_json_and_of_text_hold_the_same_terms(tmp_path):
    expected = {"zoology": 8000, "myocardial infarction": 8001, "c, d": 8002, "new york": 8003}
    assert added(write(tmp_path / "a.txt", TERMS)) == expected
    assert added(write(tmp_path / "b.txt.gz", TERMS)) == expected
    for name, text in (
        ("c.csv", TABLE),
        ("d.tsv", TABLE.replace('"c, d"', "c\u0001 d").replace(",", "\t")),
    ):
        (tmp_path / name).write_text(text.replace("\u0001", ","), encoding="utf-8")
        assert added(tmp_path / name, "--column", "term") == expected
    for name in ("e.jsonl", "f.parquet", "g.jsonl.gz"):
        assert added(write(tmp_path / name, TERMS, column="term"), "--column", "term") == expected
    terms, new = str(tmp_path / "c.csv"), str(tmp_path / "new")
    assert "'code', 'term'" in error("add", "-m", "trietok-en", "--terms", terms, "-o", new)
    tokenizer = AutoTokenizer.from_pretrained(f"{tmp_path / 'c.csv'}-out")
    assert tokenizer.tokenize("Myocardial infarction in new york") == [
        "myocardial infarction",
        "in",
        "new york",
    ]


def test_a_table_is_read_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.csv").write_text(TABLE, encoding="utf-8")
    assert len(added(tmp_path / "a.csv", "--column", "term")) == 4
    (tmp_path / "b.csv").write_bytes(b"text\nzoology\ncaf\xe9\n")
    assert f"{tmp_path / 'b.csv'}, row 2: byte 0xe9" in error(
        "add", "-m", "trietok-en", "--terms", str(tmp_path / "b.csv"), "-o", str(tmp_path / "new")
    )


DOUBTFUL = """# Diseases
##ology
"myocardial infarction",0
infarction\tI21
## Drugs
# Drugs
#
\u201cpericarditis\u201d
### Rest
it's "so" here
"
# Last
"""


@pytest.mark.parametrize("name", ["terms.txt", "terms", "-"])
def test_lines_that_may_be_no_terms_are_named_and_taken(tmp_path, name):
    path = tmp_path / name
    path.write_text(DOUBTFUL, encoding="utf-8")
    stdin = DOUBTFUL if name == "-" else None
    terms = name if stdin else str(path)
    result = run(
        "add", "-m", "trietok-en", "--terms", terms, "-o", str(tmp_path / "out"), stdin=stdin
    )
    where = "standard input" if stdin else path
    comments, quotes, tabs = result.stderr.splitlines()
    for line, number in ((comments, "5 lines"), (quotes, "2 lines"), (tabs, "1 line ")):
        assert line.startswith(f"trietok: warning: {where}: {number}")
    vocabulary = AutoTokenizer.from_pretrained(tmp_path / "out").get_vocab()
    assert {
        "# Diseases",
        "##ology",
        '"myocardial infarction",0',
        "infarction I21",
    } <= vocabulary.keys()


def test_words_to_keep_and_to_leave_out_are_read_alike(tmp_path):
    texts = write(tmp_path / "texts.txt", ["zoology and covid"] * 3)
    words = write(tmp_path / "words.jsonl", [" zoology ", "covid"])
    assert "nothing to suggest" in "\n".join(out("suggest", str(texts), "--leave-out", str(words)))
    kept = write(tmp_path / "kept.parquet", ["king ", "world"])
    out("trim", "-m", "trietok-en", "--keep", str(kept), str(texts), "-o", str(tmp_path / "small"))
    assert {"king", "world"} <= AutoTokenizer.from_pretrained(tmp_path / "small").get_vocab().keys()
