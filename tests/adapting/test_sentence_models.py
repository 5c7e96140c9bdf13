"""A directory of sentence-transformers: what comes after its model is known, and nothing that it
names is run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.adapting.models import bert, numbers, save_model, write_tensors
from tests.cli.commands import environment, error
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


def steps_in(directory):
    """What comes after the model of a directory: functions by their names, and what they hold."""
    return [
        (getattr(each, "func", each).__name__, *getattr(each, "args", ()))
        for each in steps_of(directory)
    ]


def steps(directory, *modules):
    return steps_in(with_modules(directory, FIRST, *modules))


def test_what_comes_after_the_model(directory):
    assert steps_in(directory) == [("_pooled", ("mean",))]
    former = {
        "pooling_mode_mean_tokens": True,
        "pooling_mode_cls_token": True,
        "pooling_mode_max_tokens": False,
    }
    known = "torch.nn.modules.activation.GELU"
    of_eight = {"linear.weight": numbers(2, 8), "linear.bias": numbers(2)}
    found = steps(
        directory,
        part(directory, "1_Pooling", config={"word_embedding_dimension": 4, **former}),
        dense(directory, of_eight, activation_function=known, in_features=8),
        # its folder is empty
        {
            "path": "3_Normalize",
            "type": "sentence_transformers.models.Normalize",
        },
    )
    weights = directory / "2_Dense" / "model.safetensors"
    dense_of = ("_dense", weights, "GELU")
    assert found == [("_pooled", ("cls", "mean")), dense_of, ("<lambda>",)]
    for config, modes in (
        ({}, ("mean",)),
        ({"pooling_mode": "lasttoken", **former}, ("lasttoken",)),
        ({"pooling_mode": ["max", "weightedmean"]}, ("max", "weightedmean")),
    ):
        pooling = part(directory, "1_Pooling", config=config)
        assert steps(directory, pooling) == [("_pooled", modes)]


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


def test_it_is_refused_before_torch_is_imported(directory):
    with_modules(directory, {**FIRST, "type": "evil.Transformer"})
    code = (
        "import sys, trietok\n"
        "try: trietok.adapt(sys.argv[1], None, terms=['covid'], initialization='distil')\n"
        "except trietok.InputError: print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(directory)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_what_is_refused(directory, tmp_path):
    pooling = part(directory, "1_Pooling")

    def refused(said, *modules, kind=InputError, first=FIRST):
        with pytest.raises(kind, match=said):
            steps_in(with_modules(directory, first, *modules))

    refused("has no Pooling after its own model")
    refused("has no Pooling after its own model", pooling, first={**FIRST, "path": "1_Pooling"})
    refused("Transformer', not 'Pooling';", FIRST, pooling)
    for path in ("../other", "/", None, "a\0b", "absent/../..", 3):
        refused("no such folder|has no path", {**pooling, "path": path}, kind=FileFormatError)
    normalize = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
    refused("models.Pooling', not 'Dense' or 'Normalize';", pooling, pooling, normalize)
    refused(
        "pooling 'evil'", part(directory, "1_Pooling", config={"pooling_mode": ["mean", "evil"]})
    )
    pooling = part(directory, "1_Pooling")
    refused(
        "what comes before it has 8",
        pooling_of_two(directory),
        dense(directory),
        kind=FileFormatError,
    )
    off = part(directory, "1_Pooling", config={"pooling_mode_mean_tokens": False})
    refused("every pooling_mode is false", off, kind=FileFormatError)
    pooling = part(directory, "1_Pooling")
    for name in ("evil.Activation", "torch.nn.Evil", "torch.hub.load", 3, None):
        refused("has the activation ", pooling, dense(directory, activation_function=name))
    for side in ("input", "output"):
        named = {f"module_{side}_name": "token_embeddings"}
        refused(f"module_{side}_name 'token_embeddings'", pooling, dense(directory, **named))
    refused(
        "model.safetensors holds", pooling, dense(directory, in_features=5), kind=FileFormatError
    )
    refused("model.safetensors holds", pooling, dense(directory, bias=False), kind=FileFormatError)
    refused("model.safetensors holds", pooling, dense(directory, {}), kind=FileFormatError)
    module = dense(directory)
    weights = directory / "2_Dense" / "model.safetensors"
    (directory / "2_Dense" / "pytorch_model.bin").write_bytes(b"no weights")
    os.replace(weights, tmp_path / "outside")
    refused("holds no 2_Dense/model.safetensors", pooling, module)
    weights.symlink_to(tmp_path / "outside")
    refused("holds no 2_Dense/model.safetensors", pooling, module)
    weights.unlink()
    weights.write_bytes(b"12345678")
    refused("copy it again", pooling, module, kind=FileFormatError)
    (directory / "1_Pooling" / "config.json").unlink()
    with pytest.raises(TrietokError):
        steps(directory, pooling)
    for modules in ({}, ["evil"]):
        (directory / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(FileFormatError, match="no list of modules"):
            steps_in(directory)


def test_an_adapter_of_another_model_is_refused(directory):
    (directory / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(InputError, match="is an adapter alone"):
        adapt(directory, None, terms=["covid"], initialization="distil")
