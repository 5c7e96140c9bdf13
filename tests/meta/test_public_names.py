"""`import trietok` is light, and its public names are the same to Python and to type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

import trietok

ROOT = Path(__file__).parents[2]


def test_type_checkers_see_every_public_name_where_it_lives():
    stub = ast.parse((ROOT / "trietok" / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted({*trietok.__all__} - {"__version__", "kernel"})
    for name, module in seen.items():
        assert getattr(import_module(module), name) is getattr(trietok, name), name


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
def test_encoding_imports_no_optional_package(kind):
    program = f"""
import sys, trietok
trietok.{kind}.from_pretrained("trietok-en").encode("The people")
print(*sys.modules)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    optional = "click huggingface_hub numpy pyarrow rich safetensors tokenizers torch transformers"
    assert not {*optional.split()} & {*done.stdout.split()}


@pytest.mark.parametrize("name", ["__call__", "encode", "tokenize", "decode", "pad", "count"])
def test_programs_can_ask_for_the_types_of_a_method(name):
    assert "return" in get_type_hints(getattr(trietok.BertTokenizerFast, name))
