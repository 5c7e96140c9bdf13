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
SUB_PACKAGES = ("corpus",)  # those whose modules stand in the list; `cli` uses the public interface only


def module_order() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^    ((?:corpus/)?\w+)\.py ", text, re.MULTILINE)


def imported_by(path: pathlib.Path) -> set[str]:
    """The modules of the package that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "trietok":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trietok."):
            parts = node.module.split(".")
            names.add("/".join(parts[1:3]) if parts[1] in SUB_PACKAGES else parts[1])
    return names


def modules() -> list[str]:
    """The modules of the package and of the sub-packages that are in the list: `trie`, `corpus/masking`."""
    paths = [*PACKAGE.glob("*.py"), *(path for name in SUB_PACKAGES for path in (PACKAGE / name).glob("*.py"))]
    return sorted(
        path.relative_to(PACKAGE).with_suffix("").as_posix() for path in paths if not path.stem.startswith("__")
    )


MODULES = modules()


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
    unwanted = {"numpy", "torch", "transformers", "huggingface_hub", "typer", "rich", "regex", "pygtrie"}
    assert not unwanted & set(loaded.split())
