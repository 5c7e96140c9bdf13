"""The pages of the documentation: each public name and each error has its place, and links lead to
files.

Nothing here needs what builds the site.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import trietok
from trietok import errors

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)|(?:src|srcset)=\"([^\"]*)\"")
MOST_PAGES, MOST_WORDS = 26, 37_500
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


def test_what_a_docstring_says_to_see_is_in_the_reference_too():
    known = {name.rpartition(".")[2] for name in on_pages()}
    seen = []
    for name in on_pages():
        module, _, attribute = f"trietok.{name}".rpartition(".")
        shown = getattr(importlib.import_module(module), attribute)
        if isinstance(shown, type) or callable(shown):
            seen += [
                (name, each) for each in re.findall(r"\bsee\s+`([A-Z]\w+)", shown.__doc__ or "")
            ]
    assert ("BertTokenizer", "PreTrainedTokenizer") in seen
    assert [(name, each) for name, each in seen if each not in known] == []


def test_names_of_the_reference_are_links_in_docstrings():
    linked = reference.with_references
    assert (
        linked("A `Lock`, see `lock`.", of="verify")
        == "A [`Lock`][trietok.Lock], see [`lock`][trietok.lock]."
    )
    assert linked("A `Lock`; `lock` is a path.", of="Lock") == "A `Lock`; `lock` is a path."
    assert linked("```pycon\n>>> # `Lock`\n```") == "```pycon\n>>> # `Lock`\n```"
    assert linked("see `docs/saving.md`") == "see [Loading and saving](../saving.md)"


def test_the_page_of_commands_keeps_the_lines_of_examples():
    text = module_of_site("commands").commands_text()
    examples = re.findall(r"^```text\nExamples:\n((?:  trietok .*\n)+)```$", text, re.MULTILINE)
    assert len(examples) == text.count("Examples:") > 15


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


def test_each_line_of_the_drawing_of_the_layers_begins_with_a_package():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    drawing = re.search(r"\n\n((?:    .*\n)+)\nA call enters", page)
    assert drawing is not None
    modules = {
        path.stem for path in (ROOT / "trietok").iterdir() if path.is_dir() or path.suffix == ".py"
    }
    assert [
        line for line in drawing[1].splitlines() if line.split()[0].rstrip("/") not in modules
    ] == []
    packages = {path.parent.name for path in (ROOT / "trietok").glob("*/__init__.py")}
    assert packages <= {word.rstrip("/") for word in drawing[1].split() if word.endswith("/")}
    benches = {path.parent.name for path in (ROOT / "trietok" / "workbench").glob("*/__init__.py")}
    assert benches <= set(drawing[1].split())


def test_there_are_few_pages_and_few_words():
    """The pages of the reference are made of docstrings, and the changelog grows with each
    release.
    """
    pages = [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        *(page for page in PAGES if page.stem != "changelog"),
    ]
    assert len(pages) <= MOST_PAGES
    texts = (
        re.sub("<!-- figures.*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.S)
        for page in pages
    )
    # tables that a program writes are not read as words
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


def cells(page: str, start: str) -> dict[str, str]:
    """The other cells of the row of a table that starts with this cell, by the heads of their
    columns.
    """
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    (place,) = (number for number, line in enumerate(lines) if line.startswith(f"| {start} |"))
    head = (
        max(number for number, line in enumerate(lines[:place]) if line.startswith("| --- |")) - 1
    )
    names, row = (
        [cell.strip(" *") for cell in lines[number].split("|")[2:-1]] for number in (head, place)
    )
    return dict(zip(names, row, strict=True))


def test_figures_of_the_chart_are_those_of_the_tables():
    chart = json.loads((DOCS / "pictures" / "benchmarks.json").read_text(encoding="utf-8"))
    columns = {"trietok": "trietok, fast", "transformers": "transformers, fast"}
    assert len(chart["measures"]) > 2
    for measure in chart["measures"]:
        table = cells("docs/benchmarks.md", measure["row"])
        assert list(measure["figures"])[::2] == list(columns)
        for name, figure in measure["figures"].items():
            new_text = table[columns.get(name, name)].partition(" / ")[0]
            assert float(new_text.replace(",", "")) == figure


def test_what_only_doctest_needs_is_not_shown():
    shown = module_of_site("pages").shown
    blocks = [
        block
        for page in PAGES
        for block in re.findall(
            r"^```py.*?^```$", shown(page.read_text(encoding="utf-8")), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(blocks) > 100
    assert [block for block in blocks if re.search(r"# doctest:|<BLANKLINE>|\n\n```$", block)] == []
