"""A directory of sentence-transformers whose new rows were fitted: it loads there and in
transformers, as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trietok
from tests.clients.conftest import SAME_IN_BOTH

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

TERMS = ["zoology", "microcephaly", "atrial fibrillation"]


@pytest.fixture
def sentences(directory: Path, tmp_path: Path) -> Path:
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    model = library.SentenceTransformer(str(directory), device="cpu")  # makes a pooling of its own
    model.save(str(tmp_path / "sentences"))
    trietok.AutoTokenizer.from_pretrained(directory).save_pretrained(tmp_path / "sentences")
    return tmp_path / "sentences"


def test_it_loads_with_the_same_ids_and_embeddings(sentences: Path, tmp_path: Path) -> None:
    import sentence_transformers
    import transformers

    texts: list[Any] = [*SAME_IN_BOTH, "zoology and microcephaly", "atrial fibrillation"]
    adapted = trietok.adapt(
        sentences, tmp_path / "adapted", texts, terms=TERMS, way="single-word", start="distil"
    )
    assert (tmp_path / "adapted" / "modules.json").is_file()
    assert adapted.fitted is not None
    assert len(adapted.fitted.rows) == len(TERMS)
    assert adapted.fitted.cosine > adapted.fitted.start
    old, new = (
        sentence_transformers.SentenceTransformer(str(each), device="cpu")
        for each in (sentences, tmp_path / "adapted")
    )
    ours = trietok.AutoTokenizer.from_pretrained(tmp_path / "adapted")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "adapted")
    assert (
        theirs(texts)["input_ids"] == ours(texts)["input_ids"] == new.tokenizer(texts)["input_ids"]
    )
    one, other = (model.encode(texts) for model in (old, new))
    assert (one[: len(SAME_IN_BOTH)] == other[: len(SAME_IN_BOTH)]).all()
    assert (one[len(SAME_IN_BOTH) :] != other[len(SAME_IN_BOTH) :]).any()
    lengths = (
        transformers.AutoModel.from_pretrained(tmp_path / "adapted")
        .get_input_embeddings()
        .num_embeddings
    )
    assert lengths == len(ours) == len(theirs)
    # The cosines of the report are those that sentence-transformers gives.
    held = adapted.held_back
    assert held is not None
    cosines = [(a @ b) / (a @ a) ** 0.5 / (b @ b) ** 0.5 for a, b in zip(one, other, strict=True)]
    assert held.cosine == pytest.approx(sum(cosines) / len(cosines), abs=1e-4)


@pytest.mark.parametrize(
    "modes", [("mean",), ("cls", "max", "mean_sqrt_len_tokens"), ("weightedmean", "lasttoken")]
)
def test_what_comes_after_the_model_is_computed_as_there(
    directory: Path, tmp_path: Path, modes: tuple[str]
) -> None:
    """Each pooling, a layer of numbers before and one after it, and unit length: built by both of
    one directory.
    """
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    import sentence_transformers.sentence_transformer.modules as models

    from trietok.workbench.adapting.checkpoint import read_checkpoint
    from trietok.workbench.adapting.distil import TextEmbedder

    core = models.Transformer(str(directory))
    size = core.get_embedding_dimension()
    before = models.Dense(size, 12, module_input_name="token_embeddings")
    after = models.Dense(12 * len(modes), 5, bias=False, activation_function=None)
    pooling = models.Pooling(12, pooling_mode=modes)
    model = library.SentenceTransformer(
        modules=[core, before, pooling, after, models.Normalize()], device="cpu"
    )
    model.save(str(tmp_path / "whole"))
    tokenizer = trietok.AutoTokenizer.from_pretrained(directory)
    tokenizer.save_pretrained(tmp_path / "whole")
    found = TextEmbedder(read_checkpoint(tmp_path / "whole"), tokenizer).embeddings(
        list(SAME_IN_BOTH)
    )
    assert found.shape == (len(SAME_IN_BOTH), 5)
    assert np.allclose(found, model.encode(list(SAME_IN_BOTH)), atol=1e-5)
