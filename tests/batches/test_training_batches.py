"""The examples of docs/training_batches.md, part by part."""

from __future__ import annotations

import doctest
import pathlib

import pytest

from tests.conftest import needs

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "training_batches.md"
FIRST = ["Parquet to ids", "A batch, in numpy"]  # what the other parts go on from
PARTS = {
    "A batch, in numpy": (),
    "A batch, in torch": ("torch",),
    "From files of ids": (),
    "Repeatable masks": (),
    "Whole words": (),
}


def parts() -> dict[str, str]:
    """Heading → what stands below it, after as many empty lines as stand before it."""
    found: dict[str, list[str]] = {}
    heading = ""
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").split("\n")):
        if line.startswith("## "):
            heading = line[3:]
            found[heading] = [""] * number
        found.setdefault(heading, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def test_every_part_is_run():
    assert {name for name, text in parts().items() if ">>>" in text} == {*FIRST, *PARTS}


@pytest.mark.parametrize("name", PARTS)
def test_the_examples_of_each_part_print_what_the_page_shows(name):
    for package in PARTS[name]:
        needs(package)
    names: dict[str, object] = {}
    for part in dict.fromkeys([*FIRST, name]):
        test = doctest.DocTestParser().get_doctest(parts()[part], names, part, str(PAGE), 0)
        report: list[str] = []
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
            test, out=report.append, clear_globs=False
        )
        assert result.attempted
        assert not result.failed, "".join(report)
        names = test.globs
