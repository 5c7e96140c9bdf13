"""A directory of sentence-transformers: what comes after its model is known, and nothing that it
names is run.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.cli.commands import error
from tests.vocabulary.models import bert, numbers, save_model, write_tensors
from trietok import BertTokenizer, FileFormatError, InputError, TrietokError, adapt
from trietok.workbench.adapting.encoder import steps_of

WORDS = ["the", "co", "##v", "##id", "sick", "doctor"]
ROWS = 5 + len(WORDS)
FIRST = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
EVIL = """
import pathlib
pathlib.Path({place!r}).write_text("run")
import torch
class Transformer(torch.nn.Module):
    def __init__(self, *arguments, **options):
        super().__init__()
    load = classmethod(lambda cls, *arguments, **options: cls())
Pooling = Transformer
"""


@pytest.fixture
def directory(vocab_file, tmp_path):
    return save_model(
        tmp_path / "model", bert(ROWS), ROWS, tokenizer=BertTokenizer(str(vocab_file(*WORDS)))
    )


def with_modules(directory, *modules):
    """The directory with a modules.json."""
    (directory / "modules.json").write_text(json.dumps(modules))
    return directory


def part(directory, name, kind="sentence_transformers.models.Pooling", config=None, tensors=None):
    """A folder of a module, and what modules.json says of it."""
    (directory / name).mkdir(exist_ok=True)
    (directory / name / "config.json").write_text(json.dumps(config or {}))
    if tensors is not None:
        write_tensors(directory / name / "model.safetensors", tensors)
    return {"idx": 1, "name": name, "path": name, "type": kind}


def dense(directory, tensors=None, **config):
    """A layer that makes two numbers of four."""
    held = (
        {"linear.weight": numbers(2, 4), "linear.bias": numbers(2)} if tensors is None else tensors
    )
    values = {"in_features": 4, "out_features": 2, "bias": True, **config}
    return part(
        directory, "2_Dense", "sentence_transformers.base.modules.dense.Dense", values, held
    )


def pooling_of_two(directory):
    return part(directory, "1_Pooling", config={"pooling_mode": ["max", "mean"]})


@pytest.mark.parametrize(
    "kind", ["evil.Transformer", "evil.Pooling", "evil", "sentence_transformers.models.Router"]
)
def test_no_code_of_a_directory_runs(directory, tmp_path, kind):
    """Neither by its modules nor by what a known module names, in any of the commands that run a
    model.
    """
    place = tmp_path / "place"
    for folder in (directory, tmp_path / "1_Pooling", directory / "1_Pooling"):
        folder.mkdir(exist_ok=True)
        (folder / "evil.py").write_text(EVIL.format(place=str(place)))
    (directory / "router_config.json").write_text(
        json.dumps({"types": {"query_0": "evil.Transformer"}, "structure": {"query": ["query_0"]}})
    )
    first = {**FIRST, "type": kind} if kind.endswith("r") else FIRST
    with_modules(directory, first, part(directory, "1_Pooling", kind))
    (tmp_path / "terms.txt").write_text("covid\n")
    after = BertTokenizer.from_pretrained(directory)
    after.add_tokens("covid")
    after.save_pretrained(tmp_path / "after")
    new = ("--new-tokenizer", str(tmp_path / "after"), "--profile", "slow")
    terms = ("--terms", str(tmp_path / "terms.txt"), "-o", str(tmp_path / "out"))
    for command in (
        ("adapt", "-m", str(directory), *terms, "--initialization", "distil"),
        ("rows", "-m", str(directory), *new, *terms[2:], "--initialization", "distil"),
        ("rows", "-m", str(directory), *new, "--dry-run", "--initialization", "distil"),
    ):
        assert f"names a module of the type '{kind}'" in error(*command)
    assert not place.exists()
    assert not (tmp_path / "out").exists()


def test_what_is_refused(directory, tmp_path):
    pooling = part(directory, "1_Pooling")

    def refused(*modules, kind=InputError, first=FIRST):
        with_modules(directory, first, *modules)
        with pytest.raises(kind):
            list(steps_of(directory))

    refused()
    refused(pooling, first={**FIRST, "path": "1_Pooling"})
    refused(FIRST, pooling)
    for path in ("../other", "/", None, "a\0b", "absent/../..", 3):
        refused({**pooling, "path": path}, kind=FileFormatError)
    normalize = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
    refused(pooling, pooling, normalize)
    refused(part(directory, "1_Pooling", config={"pooling_mode": ["mean", "evil"]}))
    refused(pooling_of_two(directory), dense(directory), kind=FileFormatError)
    off = part(directory, "1_Pooling", config={"pooling_mode_mean_tokens": False})
    refused(off, kind=FileFormatError)
    pooling = part(directory, "1_Pooling")
    for name in ("evil.Activation", "torch.nn.Evil", "torch.hub.load", 3, None):
        refused(pooling, dense(directory, activation_function=name))
    for side in ("input", "output"):
        refused(pooling, dense(directory, **{f"module_{side}_name": "token_embeddings"}))
    for options in ({"in_features": 5}, {"bias": False}, {"tensors": {}}):
        refused(pooling, dense(directory, **options), kind=FileFormatError)
    module = dense(directory)
    weights = directory / "2_Dense" / "model.safetensors"
    (directory / "2_Dense" / "pytorch_model.bin").write_bytes(b"no weights")
    os.replace(weights, tmp_path / "outside")
    refused(pooling, module)
    weights.symlink_to(tmp_path / "outside")
    refused(pooling, module)
    weights.unlink()
    weights.write_bytes(b"12345678")
    refused(pooling, module, kind=FileFormatError)
    (directory / "1_Pooling" / "config.json").unlink()
    refused(pooling, kind=TrietokError)
    for modules in ({}, ["evil"]):
        (directory / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(FileFormatError):
            list(steps_of(directory))


def test_an_adapter_of_another_model_is_refused(directory):
    (directory / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(InputError):
        adapt(directory, None, terms=["covid"], initialization="distil")
