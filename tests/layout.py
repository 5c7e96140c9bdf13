"""The house at a glance: `python tests/layout.py` prints the packages, their imports and what runs
against the rows.

In: a checkout. Out: for each package its modules, lines and the packages it imports; the layers of
the import graph (how many modules the longest chain of imports holds); imports that run against
`ROWS`; cycles.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent

# From the top layer to the bottom: a package imports from the rows below its own, never from its
# own row.
ROWS: tuple[tuple[str, ...], ...] = (
    ("cli", "clients"),
    ("workbench.trim",),
    ("workbench.adapting", "workbench.locking"),
    (
        "workbench.checking",
        "workbench.comparing",
        "workbench.suggesting",
    ),
    ("workbench.engines", "workbench.read_again", "workbench.sentence_modules", "corpus"),
    ("google_bert", "tokenizer_json"),
    ("tokenizer",),
    ("explaining", "training"),
    ("files",),
    ("inputs",),
    ("text",),
    ("disk", "showing", "worker_pool"),
    ("cores", "errors", "forks", "typing_compat"),
)
# The wings: what is done with a tokenizer. The rest is the core, which stands in for transformers
# and imports no wing.
WINGS = ("cli", "clients", "workbench", "corpus")
# What `tests/test_layout.py` holds the house to: modules that can be read in one sitting, and short
# ways between them.
MOST_LINES_OF_A_MODULE, LONGEST_CHAIN = 600, 29  # imports for types alone count, too


# Public names of two modules, each with the reason why both may have it; every other name of a
# class, function, type or constant has one meaning, whoever imports it from where.
SHARED_NAMES = {
    **dict.fromkeys(
        (
            "adapt",
            "check",
            "encode_files",
            "explain",
            "lock",
            "trim",
            "verify",
        ),
        "a command is called as the function that does its work",
    ),
    **dict.fromkeys(
        ("BasicTokenizer", "WordpieceTokenizer", "load_vocab"),
        "Google calls it so, and so does transformers",
    ),
    "main": "what `python -m` calls",
    "logger": "logging's word for the one of this library",
}


def package_of(name: str) -> str:
    """The package that a module belongs to: the first part of its name, of the workbench the first
    two.
    """
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "workbench" else 1])


def modules_of(root: Path) -> dict[str, Path]:
    """The modules of the package by their dotted names below it; a package itself is named as its
    folder.
    """
    found = {}
    for path in sorted((root / "trietok").rglob("*.py")):
        parts = path.relative_to(root / "trietok").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name not in ("", "__main__"):
            found[name] = path
    return found


def imports_of(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules that a file imports: at its top, in the bodies of functions, and for types
    alone.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "trietok":
            base = ".".join((node.module or "").split(".")[1:])
            for alias in node.names:
                below = f"{base}.{alias.name}".lstrip(".")
                found.add(below if below in modules else base)
    return found & modules.keys()


def graph_of(root: Path) -> dict[str, set[str]]:
    """Which modules each module imports."""
    modules = modules_of(root)
    return {name: imports_of(path, modules) - {name} for name, path in modules.items()}


def against_rows(graph: dict[str, set[str]]) -> list[str]:
    """The imports that run upwards or to a neighbour."""
    row = {package: number for number, packages in enumerate(ROWS) for package in packages}
    wrong = []
    for name, imported in sorted(graph.items()):
        package = package_of(name)
        for other in sorted(imported):
            there = package_of(other)
            if there != package and row.get(there, -1) <= row.get(package, len(ROWS)):
                wrong.append(f"{name} imports {other}")
    return wrong


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import one another (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    """The longest chain of imports, from the top; modules of a cycle count as one layer."""
    group_of = {name: group[0] for group in cycles(graph) for name in group}
    merged: dict[str, set[str]] = defaultdict(set)
    for name, imported in graph.items():
        here = group_of.get(name, name)
        merged[here] |= {group_of.get(other, other) for other in imported} - {here}
    chains: dict[str, list[str]] = {}

    def chain(name: str) -> list[str]:
        if name not in chains:
            chains[name] = [
                name,
                *max((chain(other) for other in sorted(merged[name])), key=len, default=[]),
            ]
        return chains[name]

    return max((chain(name) for name in sorted(merged)), key=len)


def lines_of(root: Path) -> dict[str, int]:
    """The lines of each module; the package's own `__init__.py` is the module of no name."""
    paths = {"": root / "trietok" / "__init__.py", **modules_of(root)}
    return {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in paths.items()
    }


def public_names_of(path: Path) -> set[str]:
    """The public classes, functions, types and constants that a module defines at its top."""
    found: set[str] = set()
    nodes = list(ast.parse(path.read_text(encoding="utf-8")).body)
    for node in nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                parts = (part for target in targets for part in ast.walk(target))
                found |= {part.id for part in parts if isinstance(part, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.If() | ast.Try():
                nodes += [*node.body, *node.orelse]
    return {name for name in found if not name.startswith("_")}


def names_of_several(root: Path) -> dict[str, list[str]]:
    """The public names that more than one module defines, with these modules; another name for what
    is imported (`former = now`) counts, too.
    """
    modules: dict[str, list[str]] = defaultdict(list)
    for module, path in modules_of(root).items():
        for name in public_names_of(path):
            modules[name].append(module)
    return {name: where for name, where in sorted(modules.items()) if len(where) > 1}


def longer_modules(lines: dict[str, int]) -> set[str]:
    """The modules with more lines than one is to have."""
    return {name for name, number in lines.items() if number > MOST_LINES_OF_A_MODULE}


def main(root: Path = ROOT) -> int:
    graph, lines = graph_of(root), lines_of(root)
    packages: dict[str, list[str]] = defaultdict(list)
    for name in graph:
        packages[package_of(name)].append(name)
    order = {package: number for number, row in enumerate(ROWS) for package in row}
    print(f"{'package':24}{'modules':>8}{'lines':>7}  imports")
    for package, names in sorted(
        packages.items(), key=lambda item: (order.get(item[0], -1), item[0])
    ):
        imported = sorted(
            {package_of(other) for name in names for other in graph[name]} - {package}
        )
        print(
            f"{package:24}{len(names):8}{sum(lines[name] for name in names):7} "
            f" {', '.join(imported)}"
        )
    of_packages: dict[str, set[str]] = defaultdict(set)
    for name, imported in graph.items():
        of_packages[package_of(name)] |= {package_of(other) for other in imported} - {
            package_of(name)
        }
    deepest, layers = longest_chain(graph), longest_chain(of_packages)
    wrong, loops = (
        against_rows(graph),
        cycles(graph),
    )
    of_the_core = sum(number for name, number in lines.items() if name.split(".")[0] not in WINGS)
    print(
        f"{len(graph)} modules, {sum(lines.values())} lines, {of_the_core} of them outside the"
        f" wings {', '.join(WINGS)}"
    )
    print(f"longer than {MOST_LINES_OF_A_MODULE} lines: {', '.join(sorted(longer_modules(lines)))}")
    print(f"{len(layers)} layers of packages: {' > '.join(layers)}")
    print(
        f"{len(deepest)} modules in the longest chain (of {LONGEST_CHAIN}): {' > '.join(deepest)}"
    )
    several = {
        name: where for name, where in names_of_several(root).items() if name not in SHARED_NAMES
    }
    print(
        f"{len(several)} names of several modules",
        *(f"{name}: {', '.join(where)}" for name, where in several.items()),
        sep="\n  ",
    )
    print(f"{len(wrong)} imports against the rows", *wrong, sep="\n  ")
    print(f"{len(loops)} cycles", *map(", ".join, loops), sep="\n  ")
    return 1 if wrong or loops or several else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
