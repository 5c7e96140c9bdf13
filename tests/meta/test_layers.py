"""Packages import each other in the order of their layers, and no module imports itself by a detour."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "trietok"
# From the top to the bottom: a package imports only from the lines below its own.
LAYERS = """
    cli clients
    workbench.trim
    workbench.adapting workbench.locking
    workbench.checking workbench.comparing workbench.suggesting
    workbench.engines workbench.read_again workbench.sentence_modules corpus
    google_bert tokenizer_json
    tokenizer
    explaining training
    files
    inputs
    text
    disk showing worker_pool
    cores errors forks typing_compat
"""
LAYER = {name: place for place, line in enumerate(LAYERS.split("\n")) for name in line.split()}


def package_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "workbench" else 1])


def imports() -> dict[str, set[str]]:
    """For each module those that it imports, also in functions and for types alone."""
    paths = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    paths = {name: path for name, path in paths.items() if name not in ("", "__main__")}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        found[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trietok"):
                base = node.module.removeprefix("trietok").lstrip(".")
                for alias in node.names:
                    below = f"{base}.{alias.name}".lstrip(".")
                    found[name].add(below if below in paths else base)
        found[name] &= paths.keys() - {name}
    return found


def test_packages_import_from_lower_layers():
    pairs = {(package_of(a), package_of(b)) for a, others in imports().items() for b in others}
    assert [(a, b) for a, b in sorted(pairs) if a != b and LAYER[a] >= LAYER[b]] == []


def test_no_module_imports_itself_by_a_detour():
    graphlib.TopologicalSorter(imports()).prepare()
