"""The programs of docs/studies run: on a tiny random model, a tiny ontology and a few
docstrings.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import transformers

import trietok
from tests.conftest import needs
from tests.integrations.conftest import model_of

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
NEW = [
    "atrial fibrillation",
    "microcephaly",
    "nephrolithiasis",
    "osteosarcoma",
    "polydactyly",
    "scoliosis",
]

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(STUDIES)
    return importlib.import_module("new_rows")


@pytest.fixture(params=["BertModel"])
def plain(request: pytest.FixtureRequest, offline: None, tmp_path: Path) -> Path:
    """A random model of a class, whose tokenizer has no added tokens."""
    trietok.BertTokenizerFast.from_pretrained("trietok-en", model_max_length=64).save_pretrained(
        tmp_path / "plain"
    )
    model = model_of(request.param)
    model.resize_token_embeddings(8000)
    model.save_pretrained(tmp_path / "plain")
    return tmp_path / "plain"


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    """An ontology of 60 terms, each of two of the words."""
    terms = []
    for number in range(60):
        one, other = NEW[number % 6], NEW[(number + 1 + number // 6 % 5) % 6]
        terms.append(
            f"[Term]\nid: X:{number}\nname: {one} of kind {number}\n"
            f'def: "The people of kind {number} have {one} and at times {other}." []\n'
            f'synonym: "{other} with {number}" EXACT []'
        )
    terms.append(
        '[Term]\nname: gone\ndef: "This one is gone, and nothing reads it." []\nis_obsolete: true'
    )
    (tmp_path / "domain.obo").write_text("format-version: 1.2\n\n" + "\n\n".join(terms) + "\n")
    return tmp_path / "domain.obo"


def test_the_study_of_new_rows_compares_every_initialization(
    study: ModuleType, plain: Path, domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.study(plain, domain, 5, 20, 48, 2, list(study.INITIALIZATIONS))
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["lines"]
    assert {name: len(rows) for name, rows in found.items()} == {
        "original": 1, "resize": 2, "zeros": 1, "mean": 1, "length": 1, "distil": 1
    }  # fmt: skip
    for rows in found.values():
        assert list(rows[0]) == ["cosine", "neighbours", "re-embedded", "old index", "synonyms"]
        assert all(0 <= value <= 1.000001 for value in rows[0].values())
    assert found["original"][0]["cosine"] == pytest.approx(1)
    assert found["original"][0]["neighbours"] == 1
    assert found["original"][0]["re-embedded"] == found["original"][0]["old index"]
    assert found["distil"][0]["cosine"] > found["resize"][0]["cosine"]


def test_the_small_bert_program_makes_both_models(tmp_path: Path) -> None:
    """The program as it is called, with its two directories."""
    sentence_transformers = needs("sentence_transformers")
    (tmp_path / "texts.txt").write_text(
        "".join(
            f"Line {n} says what the people of the country say, and again, that it is {n}.\n"
            for n in range(99)
        )
        * 2
    )
    (tmp_path / "code").mkdir()
    rest = "The rest says more of it, and so on for a line or two, until it is long enough."
    (tmp_path / "code" / "one.py").write_text(
        f'def first():\n    """Say something of {NEW[1]}.\n\n    {rest}\n    """\n'
    )
    done = subprocess.run(
        [
            sys.executable, STUDIES / "small_bert.py", "small", "texts.txt", "code", "--minutes", "0.01",
            "--pair-minutes", "0.01", "--words", "300", "--layers", "1", "--width", "64",
        ],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(STUDIES.parents[1])}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "steps of masked tokens" in done.stdout
    assert (
        transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "small").config.vocab_size
        <= 300
    )
    model = sentence_transformers.SentenceTransformer(str(tmp_path / "small-st"), device="cpu")
    assert model.encode(["people say"]).shape == (1, 64)
