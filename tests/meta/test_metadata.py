"""What the files at the root say of the project is the same in each of them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import trietok
from trietok.errors import EXTRAS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings():
    tomllib = pytest.importorskip("tomllib", reason="needs tomllib: Python has it from 3.11 on")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(settings):
    return settings["project"]


@pytest.fixture(scope="module")
def with_absolute_links():
    return runpy.run_path(str(ROOT / "hatch_build.py"))["with_absolute_links"]


def test_the_version_is_one():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [trietok.__version__]
    assert re.findall(r"^## (\d\S*)", changelog, re.MULTILINE)[0] == trietok.__version__


def test_the_address_is_one(project):
    address = project["urls"]["Homepage"]
    assert {url[: len(address)] for url in project["urls"].values()} == {address}
    assert f"repository-code: {address}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_paths_of_the_addresses_are_there(project):
    paths = [
        found[1]
        for url in project["urls"].values()
        if (found := re.search(r"/(?:tree|blob)/main/(.+)$", url))
    ]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_what_the_sdist_names_is_there(settings):
    named = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[a page](docs/saving.md#the-files)", "[a page](REPO/blob/main/docs/saving.md#the-files)"),
        (
            "![explain](docs/pictures/explained.png)",
            "![explain](REPO/raw/main/docs/pictures/explained.png)",
        ),
        (
            "[![explain](a.png)](docs/b.md)",
            "[![explain](REPO/raw/main/a.png)](REPO/blob/main/docs/b.md)",
        ),
        (
            "[there](https://host/x.md) and [below](#more)",
            "[there](https://host/x.md) and [below](#more)",
        ),
        ('<img src="docs/a.png">', '<img src="REPO/raw/main/docs/a.png">'),
        ('<source srcset="docs/a.png">', '<source srcset="REPO/raw/main/docs/a.png">'),
        # it looks like a link to Markdown as well
        (
            "tokens[0](text)",
            "tokens[0](REPO/blob/main/text)",
        ),
    ],
)
def test_links_of_the_readme(with_absolute_links, written, read):
    assert with_absolute_links(written, "REPO") == read


def test_no_link_of_the_readme_needs_the_files_beside_it(with_absolute_links):
    page = with_absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), "https://host")
    page = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r'\]\(([^)]+)\)|\b(?:src|srcset|href)="([^"]+)"', page)
    assert len(targets) > 30
    assert [
        target
        for pair in targets
        for target in pair
        if target and not target.startswith(("https://", "#"))
    ] == []


def test_errors_name_the_packages_of_each_extra(project):
    extras = project["optional-dependencies"]

    def packages(extra):
        for line in extras[extra]:
            name = re.match(r"[\w.-]+(?:\[[\w,]+\])?", line)[0]
            included = re.fullmatch(r"trietok\[(.+)\]", name)
            if included:
                for other in included[1].split(","):
                    yield from packages(other)
            else:
                yield name

    for_development = {"test", "dev", "docs"}
    assert {extra: [*packages(extra)] for extra in extras.keys() - for_development} == {
        extra: names.split() for extra, names in EXTRAS.items()
    }
