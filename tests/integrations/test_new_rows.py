"""A directory of sentence-transformers whose new rows were fitted: it loads there and in
transformers, as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import SAME_IN_BOTH

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

TERMS = ["zoology", "microcephaly", "atrial fibrillation"]


@pytest.fixture
def sentences(directory: Path, tmp_path: Path) -> Path:
    library = needs("sentence_transformers")
    model = library.SentenceTransformer(str(directory), device="cpu")  # makes a pooling of its own
    model.save(str(tmp_path / "sentences"))
    trietok.AutoTokenizer.from_pretrained(directory).save_pretrained(tmp_path / "sentences")
    return tmp_path / "sentences"


def test_it_loads_with_the_same_ids_and_embeddings(sentences: Path, tmp_path: Path) -> None:
    import sentence_transformers
    import transformers

    texts: list[Any] = [*SAME_IN_BOTH, "zoology and microcephaly", "atrial fibrillation"]
    adapted = trietok.adapt(
        sentences,
        tmp_path / "adapted",
        texts,
        terms=TERMS,
        way="single-word",
        initialization="distil",
    )
    assert (tmp_path / "adapted" / "modules.json").is_file()
    assert adapted.fitted is not None
    assert len(adapted.fitted.rows) == len(TERMS)
    assert adapted.fitted.cosine_after > adapted.fitted.cosine_before
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


@pytest.mark.parametrize(
    "modes", [("mean",), ("cls", "max", "mean_sqrt_len_tokens"), ("weightedmean", "lasttoken")]
)
def test_what_comes_after_the_model_is_computed_as_there(
    directory: Path, tmp_path: Path, modes: tuple[str]
) -> None:
    """Each pooling, layers of numbers after it, and unit length: built by both of one directory."""
    library = needs("sentence_transformers")
    import sentence_transformers.sentence_transformer.modules as models

    from trietok.workbench.adapting.checkpoint import read_checkpoint
    from trietok.workbench.adapting.distil import Embedder

    core = models.Transformer(str(directory))
    size = core.get_embedding_dimension()
    pooling = models.Pooling(size, pooling_mode=modes)
    one = models.Dense(size * len(modes), 12)
    other = models.Dense(12, 5, bias=False, activation_function=None)
    model = library.SentenceTransformer(
        modules=[core, pooling, one, other, models.Normalize()], device="cpu"
    )
    model.save(str(tmp_path / "whole"))
    tokenizer = trietok.AutoTokenizer.from_pretrained(directory)
    tokenizer.save_pretrained(tmp_path / "whole")
    embedder = Embedder(read_checkpoint(tmp_path / "whole"), tokenizer)
    found = embedder.embedded(tokenizer(list(SAME_IN_BOTH))["input_ids"]).numpy()
    assert found.shape == (len(SAME_IN_BOTH), 5)
    assert np.allclose(found, model.encode(list(SAME_IN_BOTH)), atol=1e-5)
