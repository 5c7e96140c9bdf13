"""The programs of the page on adapting that train a model with new rows run as they are printed."""

from __future__ import annotations

import re

import pytest
import transformers

from tests.cli.commands import ROOT
from tests.conftest import needs
from trietok import BertTokenizerFast, adapt

torch = needs("torch")

PAGE = (ROOT / "docs" / "adapting.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(import torch\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TABLE = "embeddings.word_embeddings.weight"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory, with a tiny model, and the same adapted."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en", model_max_length=64)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=8000, max_position_embeddings=64, intermediate_size=24, **size
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    adapt("model", "adapted", terms=["covid", "Crohn's disease"])
    return tmp_path


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(0, id="new rows"),
        pytest.param(1, id="peft", marks=pytest.mark.parity),
        pytest.param(2, id="all", marks=pytest.mark.parity),
    ],
)
def test_a_program_of_the_page_trains_new_rows_and_old_ones_only_with_the_model(here, number):
    assert len(PROGRAMS) == 3
    if "peft" in PROGRAMS[number]:
        needs("peft")
    exec(compile(PROGRAMS[number], "adapting.md", "exec"), {})
    start, trained = (
        transformers.AutoModel.from_pretrained(here / name) for name in ("adapted", "trained")
    )
    one, two = (dict(model.named_parameters()) for model in (start, trained))
    assert one.keys() == two.keys()
    changed = {name for name in one if not torch.equal(one[name], two[name])}
    assert TABLE in changed
    assert (changed == {TABLE}) == (number == 0)
    rows = (one[TABLE] != two[TABLE]).any(1).nonzero()[:, 0].tolist()
    assert {8000, 8001} <= set(rows)
    assert (rows == [8000, 8001]) == (number < 2)
    tokenizer = transformers.AutoTokenizer.from_pretrained(here / "trained")
    ids = tokenizer("Crohn's disease, covid", add_special_tokens=False).input_ids
    assert ids[::2] == [8001, 8000]
    if number:  # importing sentence_transformers takes seconds
        sentences = needs("sentence_transformers")
        loaded = sentences.SentenceTransformer(str(here / "trained"), device="cpu")
        with torch.no_grad():
            given = tokenizer("covid", return_tensors="pt")
            wanted = trained.eval()(**given).last_hidden_state[0].mean(0)
        assert torch.allclose(torch.tensor(loaded.encode("covid")), wanted, atol=1e-5)
