"""The house: packages import from the rows below them, without cycles, and nothing loads what it does not need."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module

import trietok
from tests import layout


def test_packages_import_from_the_rows_below():
    assert layout.against_rows(layout.graph_of(layout.ROOT)) == []


def test_no_module_imports_itself_by_a_detour():
    assert layout.cycles(layout.graph_of(layout.ROOT)) == []


def test_type_checkers_see_every_public_name_where_it_lives():
    stub = ast.parse((layout.ROOT / "trietok" / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(seen) == sorted(set(trietok.__all__) - {"__version__", "kernel"})
    for name, module in seen.items():
        assert getattr(import_module(module), name) is getattr(trietok, name), name


def test_every_package_says_what_it_is_for():
    for path in (layout.ROOT / "trietok").rglob("__init__.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path


def test_importing_loads_nothing_that_is_not_needed():
    code = "import sys, trietok; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=layout.ROOT, capture_output=True, text=True, check=True)
    unwanted = {
        "multiprocessing",
        "concurrent",
        "pyarrow",
        "gzip",
        "numpy",
        "torch",
        "transformers",
        "huggingface_hub",
        "click",
        "rich",
        "regex",
        "pygtrie",
    }
    assert not unwanted & set(done.stdout.split())


def test_loading_and_encoding_import_no_more_than_they_need():
    program = """
import sys
import trietok
assert trietok.BertTokenizer.from_pretrained("trietok-en").encode("The people")
print(*sorted(set(sys.modules)))
"""
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=layout.ROOT, check=True)
    loaded = set(done.stdout.split())
    assert "trietok.tokenizer.bert" in loaded
    unwanted = {"dataclasses", "inspect", "pathlib", "logging", "tempfile", "hashlib", "regex", "pygtrie", "numpy"}
    unwanted |= {f"trietok.{name}" for name in ("files.save", "checking", "comparing", "training", "inputs.details")}
    unwanted.add("trietok.text.characters")
    assert not loaded & unwanted
