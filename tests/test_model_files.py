"""Finding a tokenizer's files: directories, files, built-in names, and a hub on 127.0.0.1.

huggingface_hub reads its settings when it is imported, so every load from the hub runs in a process of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hub_server import Hub
from trietok import BertTokenizer, FileError
from trietok.model_files import _may_be_a_hub_name, locate

VOCAB = "".join(f"{token}\n" for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "Hello", "world"))
CONFIG = json.dumps({"do_lower_case": False, "tokenizer_class": "BertTokenizer"})
MODEL = {"vocab.txt": VOCAB, "tokenizer_config.json": CONFIG}
CASED, UNCASED = [2, 6, 7, 3], [2, 5, 7, 3]  # "Hello world" with and without the tokenizer_config.json
WANTED = ["vocab.txt", "added_tokens.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json"]

needs_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason="huggingface_hub is not installed"
)

# Loads what the arguments say, one after the other. Pauses between attempts are noted and not made.
CHILD = """
import json, sys, time
slept = []
time.sleep = slept.append
from trietok import BertTokenizer
results = []
for name, options in json.loads(sys.argv[1]):
    del slept[:]
    try:
        tokenizer = BertTokenizer.from_pretrained(name, **options)
        result = {"ids": tokenizer("Hello world").input_ids}
    except Exception as error:
        result = {"error": [cls.__name__ for cls in type(error).__mro__], "message": str(error)}
    results.append({**result, "slept": sum(slept)})
print("RESULTS" + json.dumps(results))
"""


class Loader:
    """Loads models in a fresh process, from one hub and with one cache."""

    def __init__(self, hub: Hub, home: Path) -> None:
        self.hub, self.home = hub, home

    def __call__(self, *loads: tuple[str, dict], prologue: str = "", cwd: Path | None = None, **environment: str):
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("HF_", "HUGGING", "TRANSFORMERS_")) and not key.lower().endswith("_proxy")
        }
        env["PYTHONPATH"] = str(Path(__file__).parents[1])
        env |= {"HF_ENDPOINT": self.hub.url, "HF_HOME": str(self.home), "HF_HUB_ETAG_TIMEOUT": "3"}
        env |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", **environment}
        cwd = cwd or self.home
        cwd.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", prologue + CHILD, json.dumps(loads)],
            capture_output=True, text=True, env=env, cwd=cwd, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.rpartition("RESULTS")[2])


@pytest.fixture
def hub():
    with Hub() as hub:
        yield hub


@pytest.fixture
def load(hub, tmp_path):
    return Loader(hub, tmp_path / "home")


def failed(result: dict, *words: str) -> str:
    """Check that a load failed with one sentence that has these words."""
    assert "ids" not in result, result
    assert result["error"][0] == "FileError", result
    assert "\n" not in result["message"]
    for word in words:
        assert word in result["message"]
    return result["message"]


# ---- the hub ---------------------------------------------------------------------------------------------------------


@needs_hub
def test_a_model_is_fetched_once_and_then_comes_from_the_cache(hub, load):
    commit = hub.add("org/model", MODEL)
    assert [result.get("ids") for result in load(("org/model", {}))] == [CASED]
    # Every wanted file is asked for once, the ones that are there are fetched, and all are of the first one's commit.
    log = hub.take_log()
    assert [path for method, _, _, path in log if method == "HEAD"] == WANTED
    assert [path for method, _, _, path in log if method == "GET"] == ["vocab.txt", "tokenizer_config.json"]
    assert {revision for _, _, revision, path in log if path != "vocab.txt"} == {commit}

    # Again: one question whether the branch has moved. By its commit: none. Forced: everything that is there.
    again, by_commit = load(("org/model", {}), ("org/model", {"revision": commit}))
    assert again["ids"] == by_commit["ids"] == CASED
    assert hub.take_log() == [("HEAD", "org/model", "main", "vocab.txt")]
    assert load(("org/model", {"force_download": True}))[0]["ids"] == CASED
    assert [path for method, _, _, path in hub.take_log() if method == "GET"] == ["vocab.txt", "tokenizer_config.json"]

    # A hub that fails, answers nonsense or is gone does not matter now, nor does the offline mode.
    for failure in (500, 503, "not a hub"):
        hub.fail["*"] = failure
        result = load(("org/model", {}))[0]
        assert (result.get("ids"), result["slept"]) == (CASED, 0) or failure in (500, 503)
        assert result["ids"] == CASED
    hub.take_log()
    only_cache = ("org/model", {"local_files_only": True})
    assert [result["ids"] for result in load(("org/model", {}), HF_HUB_OFFLINE="1")] == [CASED]
    assert [result["ids"] for result in load(only_cache)] == [CASED]
    assert hub.take_log() == []
    hub.__exit__()
    gone = load(("org/model", {}), only_cache, ("org/model", {"revision": commit}))
    assert [result["ids"] for result in gone] == [CASED] * 3
    assert [result["slept"] for result in gone] == [0] * 3
    failed(load(("org/model", {"force_download": True}))[0], "org/model", "cannot be reached")
