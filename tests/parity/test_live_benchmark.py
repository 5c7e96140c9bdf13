"""The contenders of `trietok bench` that are installed: each loads, is measured and gives the ids
it should.
"""

from __future__ import annotations

import dataclasses
import importlib.util

import pytest

pytest.importorskip("transformers")

from trietok.benchmarking import CONTENDERS, measure, validate

from .conftest import ENGLISH, directory_of

pytestmark = pytest.mark.parity  # each contender loads in a process of its own: half a minute

TEXTS = [*ENGLISH, "世界 Unaffable, WORLD!", "[CLS] hello[MASK]x", ""]
INSTALLED = [
    name
    for name in CONTENDERS
    if importlib.util.find_spec(name.replace("-fast", "").replace("-", "_"))
]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A directory with all files, tokenizer.json too."""
    import transformers

    directory = tmp_path_factory.mktemp("model")
    transformers.BertTokenizerFast(str(directory_of("uncased") / "vocab.txt")).save_pretrained(
        directory
    )
    return str(directory)


def test_they_are_measured(model):
    # those take seconds to load
    quick = [name for name in INSTALLED if not name.startswith("transformers")]
    results = measure(TEXTS, model, engines=quick, rounds=1, passes=2).results
    assert [(result.contender, result.problem, len(result.rounds)) for result in results] == [
        (name, "", 1) for name in quick
    ]
    assert all(result.version for result in results)


def answers(agreement) -> tuple[object, ...]:
    """Why it cannot be compared, how many lines were, how many differ, and some of those."""
    return tuple(getattr(agreement, field.name) for field in dataclasses.fields(agreement)[2:])


def test_ids(model):
    agreements = {
        agreement.contender: agreement for agreement in validate(TEXTS, model, engines=INSTALLED)
    }
    for name in ("transformers", "transformers-fast", "tokenizers"):
        assert answers(agreements[name]) == ("", len(TEXTS), 0, [])


def test_a_vocabulary_file_alone():
    model = directory_of("uncased") / "vocab.txt"
    agreements = validate(TEXTS, model, engines=["transformers", "transformers-fast"])
    assert [answers(agreement) for agreement in agreements] == [("", len(TEXTS), 0, [])] * 2
