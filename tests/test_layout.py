"""The house: a module imports only from modules above it in the list of docs/architecture.md, and stays small."""

from __future__ import annotations

import ast
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = ROOT / "trietok"


def module_order() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^    ((?:\w+/)?\w+)\.py ", text, re.MULTILINE)


def imported_by(path: pathlib.Path) -> set[str]:
    """The modules of the package that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "trietok":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trietok."):
            names |= named(node.module.split(".")[1:])
    return names


def named(parts: list[str]) -> set[str]:
    """The modules behind a dotted name: one module, or, for a sub-package, all of its modules."""
    if (PACKAGE / parts[0]).is_dir() and len(parts) == 1:
        return {f"{parts[0]}/{path.stem}" for path in (PACKAGE / parts[0]).glob("*.py") if path.stem != "__init__"}
    return {"/".join(parts)}


MODULES = sorted(
    path.relative_to(PACKAGE).with_suffix("").as_posix()
    for path in PACKAGE.rglob("*.py")
    if not path.stem.startswith("__") and path.parent.name != "cli"
)


def test_the_list_names_every_module():
    assert sorted(module_order()) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_up(module):
    order = module_order()
    below = set(order[order.index(module) :])
    assert not imported_by(PACKAGE / f"{module}.py") & below


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_files_stay_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 420


def test_importing_loads_nothing_that_is_not_needed():
    code = "import sys, trietok; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    unwanted = {
        "multiprocessing",
        "concurrent",
        "pyarrow",
        "gzip",
        "numpy",
        "torch",
        "transformers",
        "huggingface_hub",
        "typer",
        "rich",
        "regex",
        "pygtrie",
    }
    assert not unwanted & set(loaded.split())


def test_loading_and_encoding_import_no_more_than_they_need():
    program = """
import sys
import trietok
assert trietok.BertTokenizer.from_pretrained("trietok-en").encode("The people")
print(*sorted(set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = set(done.stdout.split())
    assert "trietok.tokenizer.bert" in loaded
    unwanted = {"dataclasses", "inspect", "pathlib", "logging", "tempfile", "hashlib", "regex", "pygtrie", "numpy"}
    unwanted |= {
        f"trietok.{name}" for name in ("saving", "checking", "comparing", "training", "rust_profile", "details")
    }
    assert loaded & unwanted <= {"pathlib"}  # which a built-in name needs
