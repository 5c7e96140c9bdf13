"""A directory of sentence-transformers to which words were added: it loads there and in
transformers, as it was.
"""

from __future__ import annotations

import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import SAME_IN_BOTH

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def test_an_adapted_model_loads_with_the_same_ids_and_embeddings(directory, tmp_path):
    library = needs("sentence_transformers")
    import transformers

    whole, out = tmp_path / "whole", tmp_path / "out"
    library.SentenceTransformer(str(directory), device="cpu").save(str(whole))
    trietok.AutoTokenizer.from_pretrained(directory).save_pretrained(whole)
    texts = [*SAME_IN_BOTH, "zoology and microcephaly", "atrial fibrillation"]
    terms = ["zoology", "microcephaly", "atrial fibrillation"]
    adapted = trietok.adapt(
        whole, out, texts, terms=terms, way="single-word", initialization="distil"
    )
    assert adapted.fitted is not None
    assert len(adapted.fitted.rows) == len(terms)
    assert adapted.fitted.cosine_after > adapted.fitted.cosine_before
    old, new = (library.SentenceTransformer(str(each), device="cpu") for each in (whole, out))
    ours = trietok.AutoTokenizer.from_pretrained(out)
    theirs = transformers.AutoTokenizer.from_pretrained(out)
    expected = ours(texts)["input_ids"]
    assert theirs(texts)["input_ids"] == new.tokenizer(texts)["input_ids"] == expected
    before, after = (model.encode(texts) for model in (old, new))
    known = len(SAME_IN_BOTH)
    assert (before[:known] == after[:known]).all()
    assert (before[known:] != after[known:]).any()
    rows = transformers.AutoModel.from_pretrained(out).get_input_embeddings().num_embeddings
    assert rows == len(ours) == len(theirs)
