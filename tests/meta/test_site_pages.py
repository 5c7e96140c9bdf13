"""The pages of the documentation: each public name and each error has its place, and links lead to
files.

Nothing here needs what builds the site.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import trietok
from trietok import errors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)|(?:src|srcset)=\"([^\"]*)\"")
CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def module_of_site(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = module_of_site("reference")


def public_names() -> set[str]:
    """The names of `trietok.__all__`, and those of the modules right below trietok that have an
    `__all__`.
    """
    names = set(trietok.__all__)
    for found in pkgutil.iter_modules(trietok.__path__):
        module = (
            importlib.import_module(f"trietok.{found.name}")
            if not found.name.startswith("_")
            else None
        )
        names |= {f"{found.name}.{name}" for name in getattr(module, "__all__", ())}
    return names


def on_pages() -> list[str]:
    return [name for page in reference.PAGES.values() for name in page.names]


def test_every_public_name_is_on_a_page_of_the_reference():
    named = set(on_pages())
    # trietok.training.Bpe is trietok.Bpe
    shown_elsewhere = {f"training.{name}" for name in trietok.__all__}
    assert {
        "training.Segmenter",
        "clients.to_rust",
        "BertTokenizer",
    } <= public_names()
    assert sorted(public_names() - named - shown_elsewhere) == []


def test_no_name_is_on_two_pages_and_each_is_there():
    names = on_pages()
    assert len(names) == len(set(names))
    for name in names:
        module, _, attribute = f"trietok.{name}".rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_each_page_of_the_reference_shows_its_names():
    for name, page in reference.PAGES.items():
        text = reference.page_text(name)
        assert all(
            f"::: trietok.{each}\n" in f"{text}\n" or f"## `{each}`" in text for each in page.names
        )
    listed = re.findall(r"^\| \[`trietok\.([\w.]+)`\]", reference.index_text(), re.MULTILINE)
    assert sorted(listed) == sorted(on_pages())


def test_every_error_has_its_cause_and_its_cure():
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    classes = {
        name: each
        for name, each in vars(errors).items()
        if isinstance(each, type) and name.endswith("Error")
    }
    assert set(parts) == set(classes) - {"TrietokError"}
    for name, text in parts.items():
        assert "*Cause.*" in text
        assert "*What to do.*" in text
        row = re.search(rf"^\| \[`{name}`\]\(#{name.lower()}\) \| (.*?) \|", page, re.MULTILINE)
        assert row is not None
        said = re.findall(r"\w+", row[1])
        assert said == [
            base.__name__ for base in classes[name].__bases__ if base is not errors.TrietokError
        ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_page_is_in_the_site_and_its_links_lead_to_files(page):
    nav = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert f": {page.relative_to(DOCS).as_posix()}\n" in nav
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    links = [(target or source).partition(" ")[0] for target, source in LINK.findall(text)]
    assert [
        each for each in links if each and "://" not in each and not (page.parent / each).exists()
    ] == []


def test_the_help_of_the_package_names_pages_that_are_there():
    pages = re.findall(r"docs/[\w/]+\.md", trietok.__doc__)
    assert len(pages) >= 8
    assert [page for page in pages if not (ROOT / page).is_file()] == []
