"""`import trietok` is light; its public names, its version and its files are what pyproject.toml,
the type stubs and the pages say.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

import trietok
from trietok.errors import EXTRAS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings():
    tomllib = pytest.importorskip("tomllib", reason="needs tomllib: Python has it from 3.11 on")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


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


def test_version_is_the_same_in_package_citation_and_changelog():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [trietok.__version__]
    assert re.findall(r"^## (\d\S*)", changelog, re.MULTILINE)[0] == trietok.__version__


def test_addresses_of_the_project_lead_to_its_files(settings):
    urls = settings["project"]["urls"]
    address = urls["Homepage"]
    assert f"repository-code: {address}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for url in urls.values():
        assert url.startswith(address)
        path = re.sub(r"^/(?:tree|blob)/main/|^/issues$", "", url.removeprefix(address))
        assert (ROOT / path).exists(), url


def test_files_of_the_source_distribution_are_there(settings):
    named = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_errors_name_the_packages_of_each_extra(settings):
    extras = settings["project"]["optional-dependencies"]

    def packages(extra: str) -> list[str]:
        found = []
        for line in extras[extra]:
            included = re.fullmatch(r"trietok\[(.+)\]", line)
            if included:
                found += [name for other in included[1].split(",") for name in packages(other)]
            else:
                found.append(re.match(r"[\w.-]+(?:\[[\w,]+\])?", line)[0])
        return found

    for extra, names in EXTRAS.items():
        assert packages(extra) == names.split()
    assert extras.keys() - EXTRAS.keys() == {"test", "dev", "docs"}
