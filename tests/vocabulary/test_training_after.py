"""The programs of the page on adapting that train a model with new rows run as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

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
def here(tmp_path):
    """A directory with a tiny model, and the same adapted."""
    torch.manual_seed(0)
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en", model_max_length=64)
    size = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }
    config = transformers.BertConfig(
        vocab_size=tokenizer.max_id + 1, max_position_embeddings=64, **size
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    adapt(tmp_path / "model", tmp_path / "adapted", terms=["covid", "Crohn's disease"])
    return tmp_path


@pytest.mark.parametrize("number", range(3), ids=["new rows", "peft", "all"])
def test_a_program_of_the_page(here, number):
    """It trains the new rows, and of the old ones none unless it trains all; what it saves is
    loaded again.
    """
    assert len(PROGRAMS) == 3
    if "peft" in PROGRAMS[number]:
        needs("peft")
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAMS[number]]
    done = subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
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
    assert tokenizer("Crohn's disease, covid", add_special_tokens=False).input_ids[::2] == [
        8001,
        8000,
    ]
    sentences = needs("sentence_transformers")
    loaded = sentences.SentenceTransformer(str(here / "trained"), device="cpu")
    ids = tokenizer("covid", return_tensors="pt")
    with torch.no_grad():
        wanted = trained.eval()(**ids).last_hidden_state[0].mean(0)
    assert torch.allclose(torch.tensor(loaded.encode("covid")), wanted, atol=1e-5)
