"""What the pages name is there: tests, files, public names, errors; and each departure from
transformers has its test. Nothing here needs what builds the site.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import trietok

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ROOT_FILES = "README.md SECURITY.md CONTRIBUTING.md noxfile.py pyproject.toml .ci/run".split()
TEST = re.compile(r"\btests/[\w/]*(?:\.\w+)?(?:::\w+)?")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)|(?:src|srcset|href)=\"([^\"]*)\"")
CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def links_of(text: str) -> list[str]:
    """Where a page's links and pictures lead, without those in code."""
    found = LINK.findall(CODE.sub("", text))
    return [link for pair in found if (link := (pair[0] or pair[1]).partition(" ")[0])]


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / name for name in ROOT_FILES)], ids=lambda page: page.name
)
def test_tests_that_a_page_names_are_there(page):
    if not page.exists():
        pytest.skip("needs .ci: which an installed source does not have")
    for named in TEST.findall(page.read_text(encoding="utf-8")):
        name, _, test = named.partition("::")
        path = ROOT / name
        assert path.exists(), named
        assert not test or f"def {test}(" in path.read_text(encoding="utf-8"), named


def test_each_departure_from_transformers_has_its_number_and_its_test():
    page = (DOCS / "hf_compatibility.md").read_text(encoding="utf-8")
    items = re.split(r"^(?=\d+\. )", page, flags=re.MULTILINE)[1:]
    assert len(items) > 40
    assert [int(item.partition(".")[0]) for item in items] == [*range(1, len(items) + 1)]
    assert [item.split("\n")[0] for item in items if not TEST.search(item)] == []


def test_the_table_of_findings_is_that_of_the_rules():
    written = runpy.run_path(str(DOCS / "site" / "findings.py"))["page"]()
    assert (DOCS / "checking.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_in_the_navigation_and_its_links_lead_to_files(page):
    navigation = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert f": {page.relative_to(DOCS).as_posix()}\n" in navigation
    links = links_of(page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_links_of_the_readme_work_on_a_package_index():
    with_absolute_links = runpy.run_path(str(ROOT / "hatch_build.py"))["with_absolute_links"]
    for written, read in (
        ("[a page](docs/saving.md#files)", "[a page](REPO/blob/main/docs/saving.md#files)"),
        ("![a picture](docs/a.png)", "![a picture](REPO/raw/main/docs/a.png)"),
        ("[![it](a.png)](docs/b.md)", "[![it](REPO/raw/main/a.png)](REPO/blob/main/docs/b.md)"),
        (
            "[there](https://host/x.md), [below](#more)",
            "[there](https://host/x.md), [below](#more)",
        ),
        ('<source srcset="docs/a.png">', '<source srcset="REPO/raw/main/docs/a.png">'),
    ):
        assert with_absolute_links(written, "REPO") == read
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    links = links_of(with_absolute_links(page, "https://host"))
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    for link in links_of(page):
        assert link.startswith("https://") or (ROOT / link).exists(), link


def public_names() -> set[str]:
    """The names of `trietok.__all__`, and of the modules right below trietok that have one."""
    names = {*trietok.__all__}
    for found in pkgutil.iter_modules(trietok.__path__):
        if not found.name.startswith("_"):
            module = importlib.import_module(f"trietok.{found.name}")
            names |= {f"{found.name}.{name}" for name in getattr(module, "__all__", ())}
    return names - {f"training.{name}" for name in trietok.__all__}


def test_each_public_name_is_on_one_page_of_the_reference():
    reference = runpy.run_path(str(DOCS / "site" / "reference.py"))
    names = [name for page in reference["PAGES"].values() for name in page.names]
    assert len(names) == len({*names})
    assert sorted(public_names() - {*names}) == []
    for name in names:
        module, _, attribute = f"trietok.{name}".rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    for name, page in reference["PAGES"].items():
        text = f"{reference['page_text'](name)}\n"
        for each in page.names:
            assert f"::: trietok.{each}\n" in text or f"## `{each}`" in text, each


def test_each_error_has_its_bases_its_cause_and_what_to_do_on_the_page():
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    names = {name for name in trietok.__all__ if name.endswith("Error")}
    assert {*parts} == names - {"TrietokError"}
    for name, text in parts.items():
        assert "*Cause.*" in text
        assert "*What to do.*" in text
        row = re.search(rf"^\| \[`{name}`\]\(#{name.lower()}\) \| (.*?) \|", page, re.MULTILINE)
        assert row is not None
        bases = [
            base for base in getattr(trietok, name).__bases__ if base is not trietok.TrietokError
        ]
        assert re.findall(r"\w+", row[1]) == [base.__name__ for base in bases]


def test_the_help_of_the_package_names_pages_that_are_there():
    pages = re.findall(r"docs/[\w/]+\.md", trietok.__doc__)
    assert len(pages) >= 8
    assert [page for page in pages if not (ROOT / page).is_file()] == []
