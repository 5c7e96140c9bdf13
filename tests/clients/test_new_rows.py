"""A directory of sentence-transformers whose new rows were fitted: it loads there and in transformers, as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.clients.conftest import SAME_IN_BOTH

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

TERMS = ["zoology", "microcephaly", "atrial fibrillation"]


@pytest.fixture
def sentences(directory: Path, tmp_path: Path) -> Path:
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    model = library.SentenceTransformer(str(directory), device="cpu")  # makes a pooling of its own
    model.save(str(tmp_path / "sentences"))
    trietok.AutoTokenizer.from_pretrained(directory).save_pretrained(tmp_path / "sentences")
    return tmp_path / "sentences"


def test_it_loads_with_the_same_ids_and_embeddings(sentences: Path, tmp_path: Path) -> None:
    import sentence_transformers
    import transformers

    texts: list[Any] = [*SAME_IN_BOTH, "zoology and microcephaly", "atrial fibrillation"]
    adapted = trietok.adapt(sentences, tmp_path / "adapted", texts, terms=TERMS, way="single-word", start="distil")
    assert (tmp_path / "adapted" / "modules.json").is_file()
    assert adapted.fitted is not None
    assert len(adapted.fitted.rows) == len(TERMS)
    assert adapted.fitted.cosine > adapted.fitted.start
    old, new = (
        sentence_transformers.SentenceTransformer(str(each), device="cpu") for each in (sentences, tmp_path / "adapted")
    )
    ours = trietok.AutoTokenizer.from_pretrained(tmp_path / "adapted")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "adapted")
    assert theirs(texts)["input_ids"] == ours(texts)["input_ids"] == new.tokenizer(texts)["input_ids"]
    one, other = (model.encode(texts) for model in (old, new))
    assert (one[: len(SAME_IN_BOTH)] == other[: len(SAME_IN_BOTH)]).all()
    assert (one[len(SAME_IN_BOTH) :] != other[len(SAME_IN_BOTH) :]).any()
    lengths = transformers.AutoModel.from_pretrained(tmp_path / "adapted").get_input_embeddings().num_embeddings
    assert lengths == len(ours) == len(theirs)
    # The cosines of the report are those that sentence-transformers gives.
    held = adapted.held_back
    assert held is not None
    cosines = [(a @ b) / (a @ a) ** 0.5 / (b @ b) ** 0.5 for a, b in zip(one, other, strict=True)]
    assert held.cosine == pytest.approx(sum(cosines) / len(cosines), abs=1e-4)
