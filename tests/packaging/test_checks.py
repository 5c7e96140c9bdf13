"""The sessions of noxfile.py are what `.ci/run`, the workflows and the pages say, and each of them
is run.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PLACES = [ROOT / ".ci" / "run", ROOT / "docs" / "contributing.md", *WORKFLOWS]


def noxfile() -> ast.Module:
    return ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))


def sessions() -> set[str]:
    """The names of the functions that are sessions."""
    functions = [node for node in noxfile().body if isinstance(node, ast.FunctionDef)]
    return {
        each.name
        for each in functions
        if any("session" in ast.unparse(mark) for mark in each.decorator_list)
    }


def pythons() -> list[str]:
    """The versions on which the default tests run."""
    values = {
        ast.unparse(node.targets[0]): node.value
        for node in noxfile().body
        if isinstance(node, ast.Assign)
    }
    return list(ast.literal_eval(values["PYTHONS"]))


def named_in(text: str) -> set[str]:
    """The sessions of the `nox -s` commands of a text, without versions and parameters."""
    text = re.sub(r"\$\{\{.*?\}\}", "", text)  # a workflow's expressions
    commands = re.findall(r"\bnox(?: --[\w-]+)* -s ([^\n`|&]+)", text)
    # of a workflow's matrix
    commands += re.findall(r"^ +session: \[(.*)\]", text.replace(",", ""), re.MULTILINE)
    words = [
        word for command in commands for word in command.split(" -- ")[0].split("#")[0].split()
    ]
    return {re.match(r"\"?([a-z_]+)", word)[1] for word in words if re.match(r"\"?[a-z_]+", word)}


def test_the_sessions_that_are_named_are_there():
    named = {place.name: named_in(place.read_text(encoding="utf-8")) for place in PLACES}
    assert {name for names in named.values() for name in names} > {
        "tests",
        "clients",
        "installed",
        "workflows",
    }
    assert {name: names - sessions() for name, names in named.items() if names - sessions()} == {}


def test_every_session_is_run():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    lists = re.findall(r"sessions\+?=\(([^)]+)\)", run)
    called = {name for names in lists for name in re.findall(r"(?<!\S)\w+", names)}
    assert called - sessions() == set()
    workflows = "\n".join(file.read_text(encoding="utf-8") for file in WORKFLOWS)
    assert sessions() - called - named_in(workflows) == set()


def test_the_versions_of_python_are_the_same_everywhere():
    yaml = pytest.importorskip("yaml")
    checks = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    )
    assert checks["jobs"]["tests"]["strategy"]["matrix"]["python"] == pythons()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project) == pythons()
    assert re.findall(r'requires-python = ">=(3\.\d+)"', project) == pythons()[:1]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_can_write_nothing_unless_it_says_so(file):
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
