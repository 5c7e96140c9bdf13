"""A list of terms in a model of transformers: what `trietok.adapt` writes is loaded, and gives the
ids and the embedding rows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import transformers

import trietok
from tests.conftest import needs

torch = needs("torch")

pytestmark = pytest.mark.parity

PAGE = Path(__file__).parents[2] / "docs" / "adapting.md"
TERMS = [
    *("Zoology", "Crohn's disease", "TNF-\u03b1", "COVID-19", "Ménière's disease", "C++"),
    *("糖尿病", "people"),
]
TEXTS = [
    "CROHN'S DISEASE, TNF-\u03b1/TNF and covid-19.",
    "(C++) of Meniere's disease; zoology, zoologists",
    "患糖尿病的 people",
]


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A BERT of two layers, as transformers saves it, in the working directory."""
    monkeypatch.chdir(tmp_path)
    config = transformers.BertConfig(
        vocab_size=8000,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    transformers.BertForMaskedLM(config).save_pretrained("model")
    trietok.BertTokenizerFast.from_pretrained("trietok-en").save_pretrained("model")


def test_an_adapted_model_has_an_id_and_the_mean_row_of_each_term(model):
    trietok.adapt("model", "adapted", terms=TERMS, initialization="mean")
    auto = transformers.AutoTokenizer
    before, after = (auto.from_pretrained(each) for each in ("model", "adapted"))
    old, new = (
        transformers.AutoModelForMaskedLM.from_pretrained(each) for each in ("model", "adapted")
    )
    rows = new.get_input_embeddings().weight
    assert torch.equal(rows[:8000], old.get_input_embeddings().weight)
    assert len(rows) == len(after) == 8000 + len(TERMS) - 1
    ours = trietok.AutoTokenizer.from_pretrained("adapted")
    for text in [*TERMS, *TEXTS]:
        assert after(text).input_ids == ours(text).input_ids, text
    compared = 0
    for term in TERMS[:-1]:
        (token_id,) = after(term, add_special_tokens=False).input_ids
        assert any(token_id in after(text).input_ids for text in TEXTS), term
        pieces = before(term, add_special_tokens=False).input_ids
        known = [piece for piece in pieces if piece != before.unk_token_id]
        if known:
            compared += 1
            assert torch.allclose(rows[token_id], rows[known].mean(0), atol=1e-6), term
    assert compared >= 5
    assert new(**after(TEXTS[0], return_tensors="pt")).logits.shape[-1] == len(rows)


def test_the_guides_code_for_transformers_runs(model):
    page = PAGE.read_text(encoding="utf-8")
    terms = re.search(r"^>>> terms = (\[.*\])$", page, re.MULTILINE)
    trietok.adapt("model", "adapted", terms=re.findall(r'"(.*?)"', terms[1]))
    (block,) = re.findall(
        r"^```python\n(from transformers.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    exec(block, {})
