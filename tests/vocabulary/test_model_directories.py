"""Directories of models: their folders, the modules of sentence-transformers, and files that are
other things.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket

import numpy as np
import pytest
import safetensors.numpy as safetensors

from tests.vocabulary.faults import FAULTS
from trietok import AutoTokenizer, BertTokenizerFast, TrietokError, check, fix

BASE = FAULTS / "base"
TYPE = "sentence_transformers.models."
TOKENIZER = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def tensors(**shapes: tuple[int, ...]) -> bytes:
    """A .safetensors file of zeros; `linear_weight` is linear.weight."""
    arrays = {name.replace("_", "."): np.zeros(shape, "f4") for name, shape in shapes.items()}
    return safetensors.save(arrays)


def module(number: int, kind: str, path: str | None = None) -> dict[str, object]:
    place = path if path is not None else f"{number}_{kind}"
    return {"idx": number, "name": str(number), "path": place, "type": TYPE + kind}


MODULES = [
    module(0, "Transformer", ""),
    module(1, "Pooling"),
    module(2, "Dense"),
    module(3, "Normalize"),
]
DENSE = {
    "in_features": 32,
    "out_features": 8,
    "bias": True,
    "activation_function": "torch.nn.modules.activation.Tanh",
}
SENTENCES = {
    "modules.json": MODULES,
    "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True},
    "2_Dense/config.json": DENSE,
    "2_Dense/model.safetensors": tensors(linear_weight=(8, 32), linear_bias=(8,)),
    "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": False},
    "config_sentence_transformers.json": {
        "prompts": {"query": "query: "},
        "default_prompt_name": None,
    },
}


def write(folder, files):
    """Put files into a directory: None takes one out, dicts and lists are written as JSON."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content) if isinstance(content, (dict, list)) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def sentence_model(tmp_path):
    """A function that makes a healthy directory of sentence-transformers, with changes."""

    def made(changes=None):
        folder = shutil.copytree(BASE, tmp_path / "model")
        config = json.loads((BASE / "config.json").read_text())
        write(folder, {"config.json": {**config, "hidden_size": 32}, **SENTENCES})
        return write(folder, changes or {})

    return made


def found(folder) -> list[tuple[str, str, str, str]]:
    report = check(folder)
    return [(f.severity, f.code, f.file or "", f.message) for f in report.errors + report.warnings]


def copied(folder: str, *names: str) -> dict[str, bytes]:
    return {f"{folder}/{name}": (BASE / name).read_bytes() for name in names or TOKENIZER}


# What is healthy, as it is published: what is added to the directory of sentence-transformers
# above.
HEALTHY = {
    "as it is": {},
    "with a copy for another runtime": {**copied("onnx"), "onnx/model.onnx": b"\x08\x07\x12", "onnx/config.json": {}},
    "former weights": {"2_Dense/model.safetensors": None, "2_Dense/pytorch_model.bin": b"\x80\x02}q\0."},
    "a folder of nothing": {"3_Normalize/.keep": ""},
    "pooled twice": {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
        "2_Dense/config.json": {**DENSE, "in_features": 64, "bias": False},
        "2_Dense/model.safetensors": tensors(linear_weight=(8, 64)),
    },
    "of tokens": {
        "modules.json": [MODULES[0], module(1, "Dense", "2_Dense"), module(2, "Pooling", "1_Pooling")],
        "2_Dense/config.json": {**DENSE, "module_input_name": "token_embeddings"},
        "1_Pooling/config.json": {"word_embedding_dimension": 8, "pooling_mode": "mean"},
    },
    "of a later version": {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": TYPE + "Pooling"},
        ]
    },
    "sparse": {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.sparse_encoder.models.MLMTransformer"},
            {"idx": 1, "name": "1", "path": "1_SpladePooling", "type": TYPE + "SpladePooling"},
        ],
        "1_SpladePooling/config.json": {"pooling_strategy": "max", "word_embedding_dimension": 161},
    },
    "a prompt": {"config_sentence_transformers.json": {"prompts": {"q": "q: "}, "default_prompt_name": "q"}},
    "no prompts": {"config_sentence_transformers.json": {"__version__": {"pytorch": "2.0"}}},
    "a module of one's own": {"modules.json": [*MODULES, {"idx": 4, "name": "4", "path": "", "type": "own.Module"}]},
    "of transformers 5": {
        "tokenizer_config.json": {"tokenizer_class": "TokenizersBackend", "model_max_length": 512}
    },
    "a tokenizer of another kind in a folder": {"clip/vocab.json": {"a": 0}, "clip/merges.txt": "#version: 0.2\n"},
    "copies": {"vocab.txt.bak": "x", "tokenizer.json.orig": "{", "README.md": "<html><title>x</title>"},
}  # fmt: skip


@pytest.mark.parametrize("what", HEALTHY)
def test_a_healthy_directory_has_no_finding(sentence_model, what, caplog):
    folder = sentence_model(HEALTHY[what])
    assert found(folder) == []
    AutoTokenizer.from_pretrained(folder)
    assert not caplog.records


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 4\n"
CONTENTS = {
    "pointer": POINTER,
    "page": b"<!doctype html>\n<html>",
    "gzip": gzip.compress(b"{}"),
    "error": b'{"error": "Invalid username or password."}',
}
READ = (*TOKENIZER, "config.json", "added_tokens.json")


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("name", READ)
def test_a_file_that_is_another_thing_is_named(sentence_model, name, what):
    folder = sentence_model({name: CONTENTS[what]})
    findings = [each[:3] for each in found(folder) if each[2] == name]
    # With an added_tokens_decoder, only other programs read special_tokens_map.json.
    severity = "warning" if name == "special_tokens_map.json" else "error"
    assert findings == [(severity, "does-not-load", name)]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX: links, sockets and pipes")
@pytest.mark.parametrize("kind", ["a link to itself", "a socket", "a pipe"])
@pytest.mark.parametrize("name", ["README.md", "onnx", "model.safetensors", "vocab.txt"])
def test_what_is_no_file_is_an_error_only_where_it_is_read(tmp_path, monkeypatch, kind, name):
    folder = shutil.copytree(BASE, tmp_path / "model")
    (folder / name).unlink(missing_ok=True)
    monkeypatch.chdir(folder)  # the name of a socket is short
    if kind == "a link to itself":
        os.symlink(name, name)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
    else:
        os.mkfifo(name)
    # A vocab.txt that is a pipe or a socket does not count, as in transformers.
    assert check(folder).ok == (name != "vocab.txt" or kind != "a link to itself")
    if name == "vocab.txt":
        with pytest.raises(TrietokError):
            fix(folder, tmp_path / "fixed")
    else:
        fix(folder, tmp_path / "fixed")
        assert check(tmp_path / "fixed").ok


NAMED = {
    "two vocabularies": ({"Vocab.txt": "[UNK]\n"}, "name-not-read", "Vocab.txt"),
    "a download beside nothing": (
        {"special_tokens_map (1).json": "{}", "special_tokens_map.json": None},
        "name-not-read",
        "special_tokens_map (1).json",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", NAMED)
def test_a_file_by_another_name_is_named(sentence_model, what):
    changes, code, file = NAMED[what]
    findings = found(sentence_model(changes))
    assert ("warning", code, file) in [each[:3] for each in findings]
    assert {severity for severity, *_ in findings} == {"warning"}


def test_a_vocabulary_by_another_name_alone_is_named(sentence_model):
    folder = sentence_model({"tokenizer.json": None})
    (folder / "vocab.txt").rename(folder / "Vocab.txt")
    ((severity, code, _, message),) = found(folder)
    assert (severity, code) == ("error", "does-not-load")
    assert "Vocab.txt" in message


@pytest.mark.parametrize("gone", ["", "vocab.txt", "tokenizer.json"])
def test_a_tokenizer_of_a_general_class_loads_and_has_no_error(sentence_model, gone):
    """`PreTrainedTokenizerFast` says that tokenizer.json is all there is; trietok's class reads a
    vocab.txt too.
    """
    config = json.loads((BASE / "tokenizer_config.json").read_text())
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    folder = sentence_model({"tokenizer_config.json": config, **({gone: None} if gone else {})})
    assert found(folder) == []
    assert type(AutoTokenizer.from_pretrained(folder)) is BertTokenizerFast
    write(folder, {"tokenizer.json": "{"})
    (folder / "vocab.txt").unlink(missing_ok=True)
    assert not check(folder).ok
    with pytest.raises(TrietokError):
        AutoTokenizer.from_pretrained(folder)
